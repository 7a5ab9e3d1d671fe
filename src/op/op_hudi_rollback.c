/* Rollback: one instant of a Hudi table undone. */
#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "op/hudi_op.h"
#include "table/commit_metadata.h"
#include "task/data_name.h"

typedef struct rolled {
    tarn_rollback_report report; /* first: the public handle points here */
    tn_arena arena;
    const char **files;
    size_t file_cap;
} rolled;

void tarn_rollback_report_close(tarn_rollback_report *report)
{
    rolled *log = (rolled *)report;

    if (log == NULL)
        return;
    tn_arena_clear(&log->arena);
    free(log);
}

static int keep(tarn_cx *cx, rolled *log, tn_str text, const char **out)
{
    int rc = tn_arena_keep(cx, &log->arena, &text);

    if (rc == TARN_OK)
        *out = text.ptr;
    return rc;
}

/* So many digits of an instant stand for it, where it is the only one: a day at least. */
#define PREFIX_MIN 8

/* The write whose instant the time is, or the only one whose instant begins with it. */
static int find_write(tarn_cx *cx, tn_str root, const tn_timeline *timeline, tn_str time,
                      const tn_instant **out)
{
    const tn_instant *found = NULL, *last = NULL;
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (!tn_instant_writes_data(instant))
            continue;
        last = instant;
        if (tn_str_equal(instant->time, time)) {
            *out = instant;
            return TARN_OK;
        }
        if (tn_str_starts(instant->time, time)) {
            count++;
            found = instant;
        }
    }
    if (count > 1)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: %zu writes have instants that begin with %.*s, the latest is %.*s; "
                "give all of its digits",
                TN_STR_ARG(root), count, TN_STR_ARG(time), TN_STR_ARG(found->time));
    if (count == 1 && time.len < PREFIX_MIN)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: %.*s is too short for an instant; give at least its day, as in %.*s",
                TN_STR_ARG(root), TN_STR_ARG(time), TN_STR_ARG(found->time));
    if (count == 0 && last == NULL)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: there is no write with the instant %.*s: the timeline has none",
                TN_STR_ARG(root), TN_STR_ARG(time));
    if (count == 0)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: there is no write with the instant %.*s; the latest is %.*s",
                TN_STR_ARG(root), TN_STR_ARG(time), TN_STR_ARG(last->time));
    *out = found;
done:
    return rc;
}

/* ---- what would go */

/* Adds a data file of the instant, where it is there. `path` is below the root. */
static int add_file(tarn_cx *cx, tn_store *store, tn_str root, tn_str path, rolled *log)
{
    tn_str whole;
    bool there;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &log->arena, root, path, &whole));
    TN_TRY(tn_store_exists(cx, store, whole, &there));
    if (!there)
        goto done;
    TN_TRY(tn_arena_grow(cx, &log->arena, &log->files, log->report.file_count, &log->file_cap,
                         sizeof *log->files));
    TN_TRY(keep(cx, log, path, &log->files[log->report.file_count]));
    log->report.file_count++;
done:
    return rc;
}

static bool is_of(tn_str name, tn_str instant)
{
    tn_data_name parsed;

    return tn_data_name_parse(name, &parsed) && tn_str_equal(parsed.instant, instant);
}

/* Those that a completed instant says it wrote. */
static int foresee_completed(tarn_cx *cx, tn_store *store, tn_str root, const tn_timeline *timeline,
                             const tn_instant *instant, rolled *log)
{
    tn_commit_metadata commit;
    int rc = TARN_OK;

    TN_TRY(tn_timeline_commit(cx, store, timeline, instant, &log->arena, &commit));
    for (size_t i = 0; i < commit.stat_count; i++) {
        tn_str path = tn_path_name(commit.stats[i].path);

        if (!is_of(path, instant->time))
            continue;
        if (commit.stats[i].partition.len != 0)
            TN_TRY(tn_path_join(cx, &log->arena, commit.stats[i].partition, path, &path));
        TN_TRY(add_file(cx, store, root, path, log));
    }
done:
    return rc;
}

/* Those of one that was not completed lie in whatever partition it came to. `below` is below the
 * root. */
static int foresee_pending(tarn_cx *cx, tn_store *store, tn_str root, tn_str below, tn_str instant,
                           int depth, rolled *log)
{
    tn_str directory = root;
    tn_entry *entries;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (depth > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d directories deep", TN_STR_ARG(root),
                TN_DIR_DEPTH_MAX);
    if (below.len != 0)
        TN_TRY(tn_path_join(cx, &log->arena, root, below, &directory));
    TN_TRY(tn_store_list(cx, store, directory, &log->arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_str path = entries[i].name;

        if (tn_str_is(path, ".hoodie"))
            continue;
        if (below.len != 0)
            TN_TRY(tn_path_join(cx, &log->arena, below, path, &path));
        if (entries[i].stat.kind == TN_ENTRY_DIR)
            TN_TRY(foresee_pending(cx, store, root, path, instant, depth + 1, log));
        else if (is_of(entries[i].name, instant))
            TN_TRY(add_file(cx, store, root, path, log));
    }
done:
    return rc;
}

static int foresee(tarn_cx *cx, tn_store *store, tn_str root, const tn_timeline *timeline,
                   const tn_instant *instant, rolled *log)
{
    int rc = TARN_OK;

    if (instant->state == TN_STATE_COMPLETED)
        TN_TRY(foresee_completed(cx, store, root, timeline, instant, log));
    else
        TN_TRY(foresee_pending(cx, store, root, (tn_str){0}, instant->time, 0, log));
    log->report.files = log->files;
done:
    return rc;
}

/* What is there under the time, without a lock; *time becomes all of the instant. */
static int look(tarn_cx *cx, tn_store *store, tn_str root, tn_str *time, rolled *log)
{
    const tn_instant *found = NULL;
    tn_hudi_config config;
    tn_timeline timeline;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_config_load(cx, store, root, &log->arena, &config));
    TN_TRY(tn_hudi_table_check(cx, root, &config, false));
    TN_TRY(tn_timeline_load(cx, store, root, &config, &log->arena, &timeline));
    TN_TRY(find_write(cx, root, &timeline, *time, &found));
    *time = found->time;
    TN_TRY(keep(cx, log, found->time, &log->report.instant));
    TN_TRY(keep(cx, log, found->word, &log->report.action));
    log->report.was_completed = found->state == TN_STATE_COMPLETED;
    if (log->report.dry_run)
        TN_TRY(foresee(cx, store, root, &timeline, found, log));
done:
    return rc;
}

static int undo(tarn_cx *cx, tn_store *store, tn_str root, tn_str time,
                const tarn_rollback_options *options, rolled *log)
{
    tn_hudi_commit_options commit = {.drop_metadata_table = options->drop_metadata_table,
                                     .warn = options->warn,
                                     .warn_arg = options->arg};
    tn_hudi_rolled out = {0};
    int rc = TARN_OK;

    TN_TRY(tn_hudi_rollback(cx, store, root, time, &commit, &log->arena, &out));
    log->report.files_deleted = out.files_deleted;
    log->report.was_completed = out.was_completed;
    TN_TRY(keep(cx, log, out.instant, &log->report.instant));
    TN_TRY(keep(cx, log, out.action, &log->report.action));
    TN_TRY(keep(cx, log, out.rollback, &log->report.rollback));
done:
    return rc;
}

int tn_hudi_rollback_at(tarn_cx *cx, tn_store *store, tn_str root, const char *instant,
                        const tarn_rollback_options *options, tarn_rollback_report **report)
{
    static const tarn_rollback_options plain = {0};
    rolled *log = tn_calloc(cx, 1, sizeof *log);
    tn_str time = tn_str_of(instant);
    int rc = TARN_OK;

    assert(report != NULL);
    if (log == NULL)
        return TARN_E_NOMEM;
    if (options == NULL)
        options = &plain;
    TN_TRY(keep(cx, log, root, &log->report.root));
    log->report.root_len = root.len;
    log->report.dry_run = options->dry_run;
    if (time.len == 0)
        TN_FAIL(TARN_E_INVALID, "%.*s: which instant is to be rolled back? (see `tarn timeline`)",
                TN_STR_ARG(root));
    TN_TRY(look(cx, store, root, &time, log));
    if (!options->dry_run)
        TN_TRY(undo(cx, store, root, time, options, log));
    *report = &log->report;
    log = NULL;
done:
    tarn_rollback_report_close(log != NULL ? &log->report : NULL);
    return rc;
}

int tarn_table_rollback(tarn_cx *cx, const char *path, const char *instant,
                        const tarn_rollback_options *options, tarn_rollback_report **report)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str root;
    int rc = TARN_OK;

    assert(path != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_hudi_rollback_at(cx, store, root, instant, options, report));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}
