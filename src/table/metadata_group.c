/* File groups of the metadata table: which there are, and what their latest slices are made of.
 *
 * I1: how many groups share keys by hash follows from the file ids that are there, sorted: it never
 *     changes after a partition was made.
 * I2: sources are in the order of writing: base file, then blocks of logs; what a rollback block
 *     takes back, and what a compacted block stands for, is left out.
 * I3: a log with a torn block, or without any, fails: Hudi passes over it, and files whose names
 *     were in it would vanish. The data can be read without this table, so nobody is kept from it.
 * I4: so does the partition "files" without the base file of the newest compaction: it holds the
 *     names of all older files.
 */
#include <assert.h>
#include <stdlib.h>

#include "table/metadata_parts.h"

#define GROUP_SUFFIX 7 /* "-0000-0" */

static int path_below(tarn_cx *cx, tn_metadata *md, const tn_metadata_partition *part, tn_str name,
                      tn_str *out)
{
    return tn_path_join(cx, &md->arena, part->directory, name, out);
}

/* ---- groups ---- */

typedef struct listing {
    tn_arena arena;
    tn_slices_file *files;
    size_t count, cap;
} listing;

static int list_files(tarn_cx *cx, tn_metadata *md, const tn_metadata_partition *part,
                      listing *list)
{
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_store_list(cx, md->store, part->directory, &list->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_slices_file file = {.name = entries[i].name,
                               .size_bytes = entries[i].stat.size_bytes,
                               .mtime_ns = entries[i].stat.mtime_ns};

        if (entries[i].stat.kind != TN_ENTRY_FILE ||
            !tn_data_name_parse(entries[i].name, &file.parts))
            continue;
        if (file.parts.log && md->timeline.layout == 2 &&
            !tn_timeline_shows(&md->timeline, file.parts.instant))
            continue;
        TN_TRY(tn_grow(cx, &list->files, list->count, &list->cap, sizeof *list->files));
        list->files[list->count++] = file;
    }
    if (list->count != 0)
        qsort(list->files, list->count, sizeof *list->files, tn_slices_file_order);
done:
    return rc;
}

/* `files`: of one group. */
static int make_group(tarn_cx *cx, tn_metadata *md, const tn_metadata_partition *part,
                      tn_slices_tries *tries, tn_slices_file *files, size_t count,
                      tn_metadata_group *out)
{
    tn_slices_rule rule = {.timeline = &md->timeline, .v6_slices = TN_V6_SLICES_INSTANT};
    const tn_slices_group *pending =
        tn_slices_facts_find(&md->facts, part->name, files[0].parts.file_id);
    tn_slices_made made = {0};
    int rc = TARN_OK;

    out->file_id = files[0].parts.file_id;
    TN_TRY(tn_arena_keep(cx, &md->arena, &out->file_id));
    TN_TRY(tn_slices_tries_drop(cx, md->store, &md->timeline, tries, files, &count));
    TN_TRY(tn_slices_group_make(cx, &rule, files, count, pending, &made));
    if (made.base != NULL) {
        TN_TRY(path_below(cx, md, part, made.base->name, &out->base_path));
        out->base_bytes = made.base->size_bytes;
    }
    out->logs = tn_arena_array(cx, &md->arena, count, sizeof *out->logs);
    if (out->logs == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        if (files[i].parts.log && tn_slices_made_has(&rule, &made, &files[i]))
            TN_TRY(path_below(cx, md, part, files[i].name, &out->logs[out->log_count++]));
done:
    return rc;
}

/* I1: those with the same id but for the number. */
static int make_sets(tarn_cx *cx, tn_metadata *md, tn_metadata_partition *part)
{
    size_t cap = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < part->group_count; i++) {
        tn_str prefix = part->groups[i].file_id;

        prefix.len -= prefix.len > GROUP_SUFFIX ? GROUP_SUFFIX : 0;
        if (part->set_count == 0 || !tn_str_equal(part->sets[part->set_count - 1].prefix, prefix)) {
            TN_TRY(tn_arena_grow(cx, &md->arena, &part->sets, part->set_count, &cap,
                                 sizeof *part->sets));
            part->sets[part->set_count++] = (tn_metadata_set){.prefix = prefix, .first = i};
        }
        part->groups[i].set = part->set_count - 1;
        part->sets[part->set_count - 1].count++;
    }
done:
    return rc;
}

static int by_id(const void *a, const void *b)
{
    return tn_str_compare(((const tn_metadata_group *)a)->file_id,
                          ((const tn_metadata_group *)b)->file_id);
}

/* The newest compaction, or where there is none the instant that made the table. */
static const tn_instant *maker(const tn_timeline *timeline)
{
    const tn_instant *first = NULL;

    for (size_t i = timeline->count; i-- != 0;) {
        const tn_instant *instant = &timeline->instants[i];

        if (!tn_instant_writes_data(instant) || instant->state != TN_STATE_COMPLETED)
            continue;
        if (instant->action == TN_ACTION_COMMIT)
            return instant;
        first = instant;
    }
    return first;
}

/* I4. A base file that is there is of that instant or of a later one. */
static int check_bases(tarn_cx *cx, const tn_metadata *md, const tn_metadata_partition *part)
{
    const tn_instant *instant = maker(&md->timeline);
    tn_commit_metadata commit;
    tn_arena arena = {0};
    int rc = TARN_OK;

    if (instant == NULL || !tn_str_is(part->name, "files"))
        return TARN_OK;
    TN_TRY(tn_timeline_commit(cx, md->store, &md->timeline, instant, &arena, &commit));
    for (size_t i = 0; i < commit.stat_count; i++) {
        const tn_write_stat *stat = &commit.stats[i];
        tn_data_name named, base;
        bool there = false;

        if (!tn_str_equal(stat->partition, part->name) ||
            !tn_data_name_parse(tn_path_name(stat->path), &named) || named.log)
            continue;
        for (size_t k = 0; k < part->group_count && !there; k++)
            there = tn_str_equal(part->groups[k].file_id, named.file_id) &&
                    tn_data_name_parse(tn_path_name(part->groups[k].base_path), &base) &&
                    tn_str_compare(base.instant, named.instant) >= 0;
        if (!there)
            TN_FAIL(TARN_E_CORRUPT, "%.*s: instant %.*s: its file %.*s is gone",
                    TN_STR_ARG(md->timeline.directory), TN_STR_ARG(instant->time),
                    TN_STR_ARG(stat->path));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_metadata_partition_load(tarn_cx *cx, tn_metadata *md, tn_metadata_partition *part)
{
    tn_slices_tries tries = {0};
    listing list = {0};
    size_t cap = 0;
    int rc = TARN_OK;

    if (part->loaded)
        return TARN_OK;
    TN_TRY(list_files(cx, md, part, &list));
    for (size_t first = 0, end; first < list.count; first = end) {
        for (end = first + 1; end < list.count && tn_str_equal(list.files[end].parts.file_id,
                                                               list.files[first].parts.file_id);)
            end++;
        TN_TRY(tn_arena_grow(cx, &md->arena, &part->groups, part->group_count, &cap,
                             sizeof *part->groups));
        TN_TRY(make_group(cx, md, part, &tries, list.files + first, end - first,
                          &part->groups[part->group_count]));
        part->group_count++;
    }
    if (part->group_count == 0)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: the partition is listed as usable, and has no files: let Hudi build the "
                "metadata table anew",
                TN_STR_ARG(part->directory));
    qsort(part->groups, part->group_count, sizeof *part->groups, by_id);
    TN_TRY(make_sets(cx, md, part));
    TN_TRY(check_bases(cx, md, part));
    part->loaded = true;
done:
    if (rc != TARN_OK)
        part->group_count = 0;
    tn_slices_tries_clear(&tries);
    free(list.files);
    tn_arena_clear(&list.arena);
    return rc;
}

/* ---- sources ---- */

static int add_source(tarn_cx *cx, tn_metadata_group *group, const tn_metadata_source *source)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &group->sources, group->source_count, &group->source_cap, sizeof *source));
    group->sources[group->source_count++] = *source;
done:
    return rc;
}

static void close_source(tn_metadata_source *source)
{
    tn_hfile_cursor_close(source->cursor);
    tn_hfile_close(source->file);
    tn_map_clear(&source->deleted);
}

/* An HFile, and where its schema is not in the file info, that of the block. */
static int open_hfile(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group, tn_str path,
                      uint64_t offset, uint64_t bytes, tn_str schema)
{
    tn_metadata_source source = {0};
    tn_str text = schema;
    int rc = TARN_OK;

    TN_TRY(tn_hfile_open(cx, md->store, path, offset, bytes, &source.file));
    if (text.len == 0)
        text = tn_hfile_info(source.file, "schema");
    if (tn_hfile_count(source.file) == 0)
        goto done;
    TN_TRY(tn_metadata_type(cx, md, text, path, &source.type));
    TN_TRY(tn_hfile_cursor_open(cx, source.file, &source.cursor));
    TN_TRY(add_source(cx, group, &source));
    source = (tn_metadata_source){0};
done:
    close_source(&source);
    return rc;
}

static int open_deletes(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group, const tn_log *log,
                        const tn_log_block *block)
{
    tn_metadata_source source = {0};
    tn_log_deletes deletes = {0};
    tn_buf bytes = {0};
    tn_str content;
    size_t *place;
    bool added;
    int rc = TARN_OK;

    TN_TRY(tn_log_content(cx, log, block, &bytes));
    content = tn_buf_view(&bytes);
    TN_TRY(tn_arena_keep(cx, &md->arena, &content));
    TN_TRY(tn_log_deletes_parse(cx, content, log->path, &md->arena, &deletes));
    if (deletes.count == 0)
        goto done;
    for (size_t i = 0; i < deletes.count; i++) {
        place = tn_map_add(cx, &source.deleted, deletes.keys[i], &added);
        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    source.deleted_keys = deletes.keys;
    source.deleted_count = deletes.count;
    TN_TRY(add_source(cx, group, &source));
    source = (tn_metadata_source){0};
done:
    close_source(&source);
    tn_buf_clear(&bytes);
    return rc;
}

/* Instants whose blocks are taken back, or stood for by a compacted block (I2). A commit that was
 * rolled back may be written again under its old name, so a rollback concerns what stands before
 * it. */
typedef struct gone_instant {
    tn_str instant;
    size_t before; /* number of the block that says so, over all logs; SIZE_MAX: wherever it is */
} gone_instant;

typedef struct gone {
    tn_arena arena;
    gone_instant *items;
    size_t count, cap, blocks;
} gone;

static int add_gone(tarn_cx *cx, gone *g, tn_str instant, size_t before)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &g->arena, &instant));
    TN_TRY(tn_arena_grow(cx, &g->arena, &g->items, g->count, &g->cap, sizeof *g->items));
    g->items[g->count++] = (gone_instant){instant, before};
done:
    return rc;
}

static bool is_gone(const gone *g, tn_str instant, size_t number)
{
    for (size_t i = 0; i < g->count; i++)
        if (number < g->items[i].before && tn_str_equal(g->items[i].instant, instant))
            return true;
    return false;
}

static int find_gone(tarn_cx *cx, const tn_metadata *md, const tn_log *log, gone *g)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < log->block_count; i++, g->blocks++) {
        const tn_log_block *block = &log->blocks[i];
        tn_str rest = block->compacted;

        if (block->kind == TN_LOG_COMMAND && block->rollback)
            TN_TRY(add_gone(cx, g, block->target, g->blocks));
        if (rest.len != 0 && !tn_metadata_counts(md, block->instant))
            continue;
        while (rest.len != 0) {
            size_t end = tn_str_find(rest, ',');

            TN_TRY(add_gone(cx, g, (tn_str){rest.ptr, end}, SIZE_MAX));
            rest = tn_str_from(rest, end + 1);
        }
    }
done:
    return rc;
}

static int open_block(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group, const tn_log *log,
                      const tn_log_block *block)
{
    switch (block->kind) {
    case TN_LOG_HFILE:
        return open_hfile(cx, md, group, log->path, block->content_offset, block->content_bytes,
                          block->schema);
    case TN_LOG_DELETE:
        return open_deletes(cx, md, group, log, block);
    case TN_LOG_COMMAND:
        return TARN_OK;
    default:
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s: byte %llu: a block of kind %d, where a metadata table has HFiles",
                       TN_STR_ARG(log->path), (unsigned long long)block->offset, (int)block->kind);
    }
}

static int check_log(tarn_cx *cx, const tn_log *log)
{
    if (log->block_count == 0)
        return tn_fail(cx, TARN_E_CORRUPT, "%.*s: the log is empty", TN_STR_ARG(log->path));
    for (size_t i = 0; i < log->block_count; i++)
        if (log->blocks[i].kind == TN_LOG_CORRUPT)
            return tn_fail(cx, TARN_E_CORRUPT, "%.*s: byte %llu: a torn block",
                           TN_STR_ARG(log->path), (unsigned long long)log->blocks[i].offset);
    return TARN_OK;
}

int tn_metadata_group_open(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group)
{
    tn_log *logs = NULL;
    size_t number = 0;
    gone g = {0};
    int rc = TARN_OK;

    if (group->opened)
        return TARN_OK;
    logs = tn_calloc(cx, group->log_count + 1, sizeof *logs);
    if (logs == NULL)
        return TARN_E_NOMEM;
    if (group->base_path.len != 0)
        TN_TRY(open_hfile(cx, md, group, group->base_path, 0, group->base_bytes, (tn_str){0}));
    for (size_t i = 0; i < group->log_count; i++) {
        TN_TRY(tn_log_open(cx, md->store, group->logs[i], &logs[i]));
        TN_TRY(check_log(cx, &logs[i]));
        TN_TRY(find_gone(cx, md, &logs[i], &g));
    }
    for (size_t i = 0; i < group->log_count; i++)
        for (size_t k = 0; k < logs[i].block_count; k++, number++) {
            const tn_log_block *block = &logs[i].blocks[k];

            if (!is_gone(&g, block->instant, number) && tn_metadata_counts(md, block->instant))
                TN_TRY(open_block(cx, md, group, &logs[i], block));
        }
    group->opened = true;
done:
    if (rc != TARN_OK)
        tn_metadata_group_close(group);
    for (size_t i = 0; i < group->log_count; i++)
        tn_log_close(&logs[i]);
    free(logs);
    tn_arena_clear(&g.arena);
    return rc;
}

void tn_metadata_group_close(tn_metadata_group *group)
{
    for (size_t i = 0; i < group->source_count; i++)
        close_source(&group->sources[i]);
    free(group->sources);
    group->sources = NULL;
    group->source_count = group->source_cap = 0;
    group->opened = false;
}
