/* What must be there: files that the newest commits name, and what a query as of a time needs.
 *
 * I1: a file that one of the newest TN_SLICES_CHECKED_MAX commits names, and that belongs to the
 *     latest slice of its group, is there, or the load fails: rows do not vanish silently. More
 *     commits are not read: a table of thousands of instants is planned in milliseconds.
 * I2: a file is called gone only after it was looked for itself.
 * I3: a log that is shorter than its commit says is damaged: a torn end would be taken for what a
 *     writer that died has left, and its rows for ones that never were. It may be longer: others
 *     appended to it.
 * I4: what commits name and the metadata table does not list is the metadata table's damage: the
 *     caller lists directories instead. */
#include <assert.h>
#include <stdlib.h>

#include "table/slices_parts.h"

#define TN_SLICES_CHECKED_MAX 64 /* commits */

typedef struct checking {
    tn_store *store;
    tn_str root;
    const tn_hudi_config *config;
    const tn_timeline *timeline;
    const tn_slices_options *options;
    tn_slices_facts *facts;
    const tn_slices *slices;
    const tn_slices_walk *walk;
    tn_map based; /* groups whose newest base file was looked at: "<partition> NUL <file id>" */
    tn_arena arena;
} checking;

typedef struct group_name {
    tn_str partition, file_id;
} group_name;

static int by_slice(const void *key, const void *item)
{
    const group_name *group = key;
    const tn_base_file *base = &((const tn_slice *)item)->base;
    int order = tn_str_compare(group->partition, base->partition_path);

    return order != 0 ? order : tn_str_compare(group->file_id, base->file_id);
}

static const tn_slice *find_slice(const tn_slices *slices, tn_str partition, tn_str file_id)
{
    group_name group = {partition, file_id};

    return slices->slice_count == 0 ? NULL
                                    : bsearch(&group, slices->slices, slices->slice_count,
                                              sizeof *slices->slices, by_slice);
}

static bool is_walked(const tn_slices_walk *walk, tn_str partition, tn_str name)
{
    for (size_t i = 0; i < walk->count; i++) {
        const tn_slices_folder *folder = &walk->folders[i];

        if (!tn_str_equal(folder->path, partition))
            continue;
        for (size_t k = 0; k < folder->count; k++)
            if (tn_str_equal(folder->entries[k].name, name))
                return true;
    }
    return false;
}

/* A file that no slice has is gone, or there after all, in a slice where it was not expected. */
static int look_for(tarn_cx *cx, const checking *c, const tn_instant *instant,
                    const tn_write_stat *stat)
{
    tn_arena arena = {0};
    tn_str path;
    bool there;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &arena, c->root, stat->path, &path));
    TN_TRY(tn_store_exists(cx, c->store, path, &there));
    if (there && c->slices->listed && !is_walked(c->walk, stat->partition, tn_path_name(path)))
        TN_FAIL(TARN_E_CORRUPT, "instant %.*s: its file %.*s is there, and not listed",
                TN_STR_ARG(instant->time), TN_STR_ARG(stat->path));
    if (there && tn_str_listed(c->slices->partitions, c->slices->partition_count, stat->partition))
        goto done;
    if (there)
        TN_FAIL(TARN_E_CORRUPT,
                "instant %.*s: its file %.*s is there, but its partition has no "
                ".hoodie_partition_metadata, without which Hudi does not see it: put one there, "
                "as in the other partitions",
                TN_STR_ARG(instant->time), TN_STR_ARG(stat->path));
    rc = tn_slices_gone(cx, c->store, c->root, c->config, c->timeline, path);
    if (rc != TARN_E_CORRUPT)
        goto done;
    TN_FAIL(TARN_E_CORRUPT,
            "instant %.*s: its file %.*s is gone: restore it from a copy, or roll the instant "
            "back%s",
            TN_STR_ARG(instant->time), TN_STR_ARG(stat->path),
            c->options->as_of.len != 0
                ? "; where a cleaner took it away, read as of a later instant"
                : "");
done:
    tn_arena_clear(&arena);
    return rc;
}

static const tn_slice_log *find_log(const tn_slice *slice, tn_str name)
{
    for (size_t i = 0; i < slice->log_count; i++)
        if (tn_str_equal(slice->logs[i].name, name))
            return &slice->logs[i];
    return NULL;
}

int tn_slices_check_size(tarn_cx *cx, tn_str instant, tn_str path, uint64_t size_bytes,
                         uint64_t named_bytes)
{
    if (size_bytes >= named_bytes)
        return TARN_OK;
    return tn_fail(cx, TARN_E_CORRUPT,
                   "instant %.*s: its file %.*s is cut off, at %llu bytes of %llu: restore it from "
                   "a copy, or roll the instant back",
                   TN_STR_ARG(instant), TN_STR_ARG(path), (unsigned long long)size_bytes,
                   (unsigned long long)named_bytes);
}

static int check_log(tarn_cx *cx, const checking *c, const tn_instant *instant,
                     const tn_write_stat *stat, const tn_data_name *parts)
{
    const tn_slice *slice = find_slice(c->slices, stat->partition, parts->file_id);
    const tn_slice_log *log = slice != NULL ? find_log(slice, tn_path_name(stat->path)) : NULL;
    tn_str key = instant->completion;

    if (log != NULL)
        return tn_slices_check_size(cx, instant->time, stat->path, log->size_bytes, stat->bytes);
    /* Without a base file it is not known which logs were compacted. */
    if (slice == NULL || slice->base.name.len == 0)
        return TARN_OK;
    if (c->timeline->layout == 1 || key.len != parts->instant.len)
        key = parts->instant;
    if (tn_str_compare(key, slice->base.instant) < 0)
        return TARN_OK;
    return look_for(cx, c, instant, stat);
}

static int check_base(tarn_cx *cx, checking *c, const tn_instant *instant,
                      const tn_write_stat *stat, const tn_data_name *parts)
{
    const tn_slice *slice = find_slice(c->slices, stat->partition, parts->file_id);
    tn_str key, name = tn_path_name(stat->path);
    bool added;
    int order;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, &c->arena, &key, "%.*s/%.*s", TN_STR_ARG(stat->partition),
                          TN_STR_ARG(parts->file_id)));
    if (tn_map_add(cx, &c->based, key, &added) == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (!added)
        goto done;
    if (slice != NULL) {
        order = tn_str_compare(slice->base.instant, parts->instant);
        if (order > 0 || (order == 0 && tn_str_equal(slice->base.name, name)))
            goto done;
    }
    TN_TRY(look_for(cx, c, instant, stat));
done:
    return rc;
}

static int check_stat(tarn_cx *cx, checking *c, const tn_instant *instant,
                      const tn_write_stat *stat)
{
    const tn_slices_group *group;
    tn_data_name parts;

    if (stat->path.len == 0 || !tn_data_name_parse(tn_path_name(stat->path), &parts) || parts.cdc ||
        !tn_slices_walk_wants(c->options, stat->partition))
        return TARN_OK;
    group = tn_slices_facts_find(c->facts, stat->partition, parts.file_id);
    if (group != NULL && group->replaced.len != 0)
        return TARN_OK;
    return parts.log ? check_log(cx, c, instant, stat, &parts)
                     : check_base(cx, c, instant, stat, &parts);
}

/* The newest completed commits up to as_of, by time. */
static size_t choose(const checking *c, const tn_instant **out)
{
    const tn_timeline *timeline = c->timeline;
    size_t count = 0;

    for (size_t i = timeline->count; i-- != 0 && count < TN_SLICES_CHECKED_MAX;) {
        const tn_instant *instant = &timeline->instants[i];

        if (tn_instant_writes_data(instant) && instant->state == TN_STATE_COMPLETED &&
            (c->options->as_of.len == 0 || tn_str_compare(instant->time, c->options->as_of) <= 0))
            out[count++] = instant;
    }
    for (size_t i = 0; i < count / 2; i++) {
        const tn_instant *other = out[i];

        out[i] = out[count - 1 - i];
        out[count - 1 - i] = other;
    }
    return count;
}

int tn_slices_check(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                    const tn_timeline *timeline, const tn_slices_options *options,
                    tn_slices_facts *facts, const tn_slices_walk *walk, const tn_slices *slices)
{
    checking c = {store, root, config, timeline, options, facts, slices, walk, {0}, {0}};
    const tn_instant **instants = tn_calloc(cx, TN_SLICES_CHECKED_MAX, sizeof *instants);
    tn_slices_commits commits = {0};
    int rc = TARN_OK;

    if (instants == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_slices_commits_read(cx, store, timeline, instants, choose(&c, instants), &commits));
    for (size_t i = commits.count; i-- != 0;)
        for (size_t k = 0; k < commits.commits[i].stat_count; k++)
            TN_TRY(check_stat(cx, &c, commits.instants[i], &commits.commits[i].stats[k]));
done:
    tn_slices_commits_clear(&commits);
    tn_map_clear(&c.based);
    tn_arena_clear(&c.arena);
    return rc;
}

/* ---- as of a time ---- */

static const tn_instant *last_clean(const tn_timeline *timeline)
{
    for (size_t i = timeline->count; i-- != 0;)
        if (timeline->instants[i].action == TN_ACTION_CLEAN &&
            timeline->instants[i].state == TN_STATE_COMPLETED)
            return &timeline->instants[i];
    return NULL;
}

static tn_str first_commit(const tn_timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (tn_instant_writes_data(&timeline->instants[i]) &&
            timeline->instants[i].state == TN_STATE_COMPLETED)
            return timeline->instants[i].time;
    return (tn_str){NULL, 0};
}

int tn_slices_check_as_of(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str as_of)
{
    const tn_instant *clean = last_clean(timeline);
    tn_arena arena = {0};
    tn_avro_value value;
    tn_str kept = {NULL, 0};
    bool empty = true;
    int rc = TARN_OK;

    assert(as_of.len != 0);
    if (clean == NULL)
        return TARN_OK;
    if (clean->size_bytes != 0)
        TN_TRY(tn_timeline_value(cx, store, timeline, clean->name, &arena, &empty, &value));
    if (!empty)
        kept = tn_avro_text(tn_avro_member(&value, "earliestCommitToRetain"));
    if (kept.len != 0 && tn_str_compare(as_of, kept) < 0)
        TN_FAIL(TARN_E_INVALID,
                "as of %.*s: Cleaner cleaned up the timestamp of interest: clean %.*s kept what "
                "queries need from %.*s on; read as of that or later",
                TN_STR_ARG(as_of), TN_STR_ARG(clean->time), TN_STR_ARG(kept));
    /* A cleaner that counts file versions tells no instant. */
    kept = kept.len != 0 ? (tn_str){NULL, 0} : first_commit(timeline);
    if (kept.len != 0 && tn_str_compare(as_of, kept) < 0)
        TN_FAIL(TARN_E_INVALID,
                "as of %.*s: older than the active timeline, which begins with %.*s, of a table "
                "that is cleaned (%.*s): files of that time may be gone; read as of %.*s or later",
                TN_STR_ARG(as_of), TN_STR_ARG(kept), TN_STR_ARG(clean->time), TN_STR_ARG(kept));
done:
    tn_arena_clear(&arena);
    return rc;
}
