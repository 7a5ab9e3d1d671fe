/* The active timeline: a directory's names, put together into instants.
 *
 * I1: only names, sizes and times are looked at when it is loaded; no file is opened.
 * I2: an instant has the highest state that a file of it has (HoodieDefaultTimeline); files of
 *     lower states stay until it is archived.
 * I3: a completed instant has a completion time: from its name, or from the file's modification
 *     time where the name has none.
 * I4: data files older than `start` are committed: instants are archived from the old end, and what
 *     failed is rolled back before that. Instants with a savepoint stay behind and do not count. */
#include "table/timeline.h"

#include <assert.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const tn_instant *x = a, *y = b;
    int order = tn_str_compare(x->time, y->time);

    if (order == 0)
        order = (int)x->action - (int)y->action;
    if (order == 0)
        order = (int)x->state - (int)y->state;
    /* Of two completed files of one instant the one that says when comes first. */
    if (order == 0)
        order = (int)x->legacy - (int)y->legacy;
    return order != 0 ? order : tn_str_compare(x->name, y->name);
}

/* "<something>.<36 characters of a UUID>": what Hudi writes before it renames. */
static bool half_written(tn_str name)
{
    static const size_t dashes[] = {8, 13, 18, 23};
    tn_str id;

    if (name.len < 38 || name.ptr[name.len - 37] != '.')
        return false;
    id = tn_str_from(name, name.len - 36);
    for (size_t i = 0; i < 4; i++)
        if (id.ptr[dashes[i]] != '-')
            return false;
    return true;
}

static bool is_strange(const tn_entry *entry)
{
    static const char *const known[] = {"hoodie.properties", "hoodie.properties.backup", "lock"};

    if (entry->stat.kind == TN_ENTRY_DIR || entry->name.ptr[0] == '.' ||
        half_written(entry->name) || tn_str_ends(entry->name, TN_STR(".crc")) ||
        tn_str_ends(entry->name, TN_STR(".tmp")))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (tn_str_is(entry->name, known[i]))
            return false;
    return true;
}

static int complete_time(tarn_cx *cx, const tn_timeline *timeline, tn_arena *arena,
                         tn_instant *instant)
{
    if (instant->state != TN_STATE_COMPLETED || instant->completion.len != 0)
        return TARN_OK;
    return tn_instant_of_ms(cx, arena, instant->mtime_ns / 1000000, timeline->utc,
                            &instant->completion);
}

/* One instant per file, in the order of by_time; the rest into `strange`. */
static int parse_names(tarn_cx *cx, const tn_entry *entries, size_t count, tn_arena *arena,
                       tn_timeline *timeline)
{
    size_t strange_cap = 0;
    int rc = TARN_OK;

    timeline->instants = tn_arena_array(cx, arena, count, sizeof *timeline->instants);
    if (timeline->instants == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        tn_instant *instant = &timeline->instants[timeline->count];

        if (entries[i].stat.kind != TN_ENTRY_DIR &&
            tn_instant_parse(entries[i].name, timeline->layout, instant)) {
            instant->size_bytes = entries[i].stat.size_bytes;
            instant->mtime_ns = entries[i].stat.mtime_ns;
            TN_TRY(complete_time(cx, timeline, arena, instant));
            timeline->count++;
        } else if (is_strange(&entries[i])) {
            TN_TRY(tn_arena_grow(cx, arena, &timeline->strange, timeline->strange_count,
                                 &strange_cap, sizeof *timeline->strange));
            timeline->strange[timeline->strange_count++] = entries[i].name;
        }
    }
    if (timeline->count != 0)
        qsort(timeline->instants, timeline->count, sizeof *timeline->instants, by_time);
done:
    return rc;
}

static void name_state(tn_instant *into, const tn_instant *file)
{
    if (file->state == TN_STATE_REQUESTED)
        into->requested_name = file->name;
    if (file->state == TN_STATE_INFLIGHT)
        into->inflight_name = file->name;
}

/* Files of one instant become one, in place: they stand together, the highest state last. */
static void merge_states(tn_timeline *timeline)
{
    size_t n = 0;

    for (size_t i = 0; i < timeline->count;) {
        tn_instant merged = timeline->instants[i];

        name_state(&merged, &timeline->instants[i]);
        for (i++; i < timeline->count; i++) {
            const tn_instant *file = &timeline->instants[i];
            tn_str requested = merged.requested_name, inflight = merged.inflight_name;

            if (!tn_str_equal(file->time, merged.time) || file->action != merged.action)
                break;
            if (file->state > merged.state) {
                merged = *file;
                merged.requested_name = requested;
                merged.inflight_name = inflight;
            }
            name_state(&merged, file);
        }
        timeline->instants[n++] = merged;
    }
    timeline->count = n;
}

static void find_start(tn_timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (tn_instant_writes_data(instant) &&
            tn_timeline_find(timeline, instant->time, TN_ACTION_SAVEPOINT) == NULL) {
            timeline->start = instant->time;
            return;
        }
    }
}

int tn_timeline_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                     tn_arena *arena, tn_timeline *out)
{
    tn_timeline timeline = {.layout = config->layout, .utc = config->utc};
    tn_entry *entries = NULL;
    size_t count = 0;
    int rc;

    assert(config->layout == 1 || config->layout == 2);
    TN_TRY(tn_path_join(cx, arena, root, TN_STR(".hoodie"), &timeline.directory));
    if (config->timeline_path.len != 0)
        TN_TRY(tn_path_join(cx, arena, timeline.directory, config->timeline_path,
                            &timeline.directory));
    /* A store without directories of their own has none before the first instant. */
    TN_TRY(tn_store_list_or_none(cx, store, timeline.directory, arena, &entries, &count));
    TN_TRY(parse_names(cx, entries, count, arena, &timeline));
    merge_states(&timeline);
    find_start(&timeline);
    *out = timeline;
done:
    return rc;
}

size_t tn_timeline_from(const tn_timeline *timeline, tn_str time)
{
    size_t low = 0, high = timeline->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tn_str_compare(timeline->instants[middle].time, time) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int tn_timeline_reaches(tarn_cx *cx, const tn_timeline *timeline, tn_str root, tn_str as_of)
{
    const tn_instant *first = NULL;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count && first == NULL; i++)
        if (timeline->instants[i].state == TN_STATE_COMPLETED &&
            tn_instant_writes_data(&timeline->instants[i]))
            first = &timeline->instants[i];
    if (as_of.len == 0 || (first != NULL && tn_str_compare(first->time, as_of) <= 0))
        return TARN_OK;
    if (first == NULL)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: the table has no commit yet, so there is nothing as of %.*s",
                TN_STR_ARG(root), TN_STR_ARG(as_of));
    TN_FAIL(TARN_E_NOTFOUND,
            "%.*s: the table has no commit at or before %.*s; the first on its timeline is %.*s",
            TN_STR_ARG(root), TN_STR_ARG(as_of), TN_STR_ARG(first->time));
done:
    return rc;
}

const tn_instant *tn_timeline_find(const tn_timeline *timeline, tn_str time, enum tn_action action)
{
    for (size_t i = tn_timeline_from(timeline, time);
         i < timeline->count && tn_str_equal(timeline->instants[i].time, time); i++)
        if (timeline->instants[i].action == action)
            return &timeline->instants[i];
    return NULL;
}

const tn_instant *tn_timeline_find_data(const tn_timeline *timeline, tn_str time)
{
    for (size_t i = tn_timeline_from(timeline, time);
         i < timeline->count && tn_str_equal(timeline->instants[i].time, time); i++)
        if (tn_instant_writes_data(&timeline->instants[i]))
            return &timeline->instants[i];
    return NULL;
}

const tn_instant *tn_timeline_find_commit(const tn_timeline *timeline, tn_str time)
{
    for (size_t i = tn_timeline_from(timeline, time);
         i < timeline->count && tn_str_equal(timeline->instants[i].time, time); i++)
        if (tn_instant_writes_data(&timeline->instants[i]) &&
            timeline->instants[i].state == TN_STATE_COMPLETED)
            return &timeline->instants[i];
    return NULL;
}

bool tn_timeline_shows(const tn_timeline *timeline, tn_str time)
{
    for (size_t i = tn_timeline_from(timeline, time);
         i < timeline->count && tn_str_equal(timeline->instants[i].time, time); i++)
        if (tn_instant_writes_data(&timeline->instants[i]))
            return timeline->instants[i].state == TN_STATE_COMPLETED;
    return timeline->start.len != 0 && tn_str_compare(time, timeline->start) < 0;
}

tn_str tn_timeline_completion(const tn_timeline *timeline, tn_str time)
{
    tn_str found = {NULL, 0};

    for (size_t i = tn_timeline_from(timeline, time);
         i < timeline->count && tn_str_equal(timeline->instants[i].time, time); i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (instant->state != TN_STATE_COMPLETED)
            continue;
        if (tn_instant_writes_data(instant))
            return instant->completion;
        if (found.ptr == NULL)
            found = instant->completion;
    }
    return found;
}

tn_str tn_timeline_last_commit(const tn_timeline *timeline)
{
    for (size_t i = timeline->count; i-- != 0;)
        if (tn_instant_writes_data(&timeline->instants[i]) &&
            timeline->instants[i].state == TN_STATE_COMPLETED)
            return timeline->instants[i].time;
    return (tn_str){NULL, 0};
}

tn_str tn_timeline_latest(const tn_timeline *timeline)
{
    tn_str latest = {NULL, 0};

    for (size_t i = 0; i < timeline->count; i++) {
        if (tn_str_compare(timeline->instants[i].time, latest) > 0)
            latest = timeline->instants[i].time;
        if (tn_str_compare(timeline->instants[i].completion, latest) > 0)
            latest = timeline->instants[i].completion;
    }
    return latest;
}

/* Puts the instant and the way out behind the text of the failure just met. */
static int unreadable(tarn_cx *cx, int status, const tn_instant *instant)
{
    char text[TN_ERROR_TEXT_MAX / 2];

    if (status != TARN_E_CORRUPT)
        return status;
    snprintf(text, sizeof text, "%s", tarn_cx_error(cx));
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%s: instant %.*s cannot be read: restore its file from a copy, or roll the "
                   "instant back and write its rows again",
                   text, TN_STR_ARG(instant->time));
}

int tn_timeline_commit(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                       const tn_instant *instant, tn_arena *arena, tn_commit_metadata *out)
{
    tn_buf bytes = {0};
    tn_arena names = {0};
    tn_str path;
    int rc = TARN_OK;

    assert(tn_instant_writes_data(instant) && instant->state == TN_STATE_COMPLETED);
    TN_TRY(tn_timeline_get(cx, store, timeline, instant->name, &names, &path, &bytes));
    if (bytes.len == 0)
        TN_TRY(unreadable(cx,
                          tn_fail(cx, TARN_E_CORRUPT,
                                  "%.*s: the file of a completed instant is "
                                  "empty",
                                  TN_STR_ARG(path)),
                          instant));
    rc = tn_commit_metadata_parse(cx, tn_buf_view(&bytes), path, arena, out);
    if (rc != TARN_OK)
        TN_TRY(unreadable(cx, rc, instant));
done:
    tn_buf_clear(&bytes);
    tn_arena_clear(&names);
    return rc;
}
