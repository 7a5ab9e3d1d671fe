/* The archived timeline as instants, and what one of them did.
 *
 * I1: an instant is given once, whatever the number of files it stands in: merging archive files
 *     writes the merged one before it removes the others.
 * I2: only completed instants are given; layout 1 archives the other states as well.
 * I3: names and order of files tell nothing: after an upgrade rows are not sorted, and the times in
 *     a file's name are those of its first and last row. */
#include "table/archive.h"

#include <assert.h>
#include <stdlib.h>

#include "table/archive_parts.h"

typedef struct gathering {
    tn_arena *arena;
    tn_instant *instants;
    size_t count, cap;
} gathering;

static int archive_directory(tarn_cx *cx, tn_str root, const tn_hudi_config *config,
                             tn_arena *arena, tn_str *out)
{
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, arena, root, TN_STR(".hoodie"), out));
    if (config->timeline_path.len != 0)
        TN_TRY(tn_path_join(cx, arena, *out, config->timeline_path, out));
    TN_TRY(tn_path_join(cx, arena, *out, config->history_path, out));
done:
    return rc;
}

static int each_row(tarn_cx *cx, tn_store *store, const tn_hudi_config *config, tn_str directory,
                    tn_str only, bool contents, tn_archive_visit *visit, void *arg)
{
    if (config->layout == 1)
        return tn_archive_logs_each(cx, store, directory, only, visit, arg);
    return tn_archive_history_each(cx, store, directory, only, contents, visit, arg);
}

/* ---- all instants ---- */

static int take_row(tarn_cx *cx, void *arg, const tn_archive_row *row)
{
    gathering *g = arg;
    tn_instant instant = {.time = row->time,
                          .completion = row->completion,
                          .word = row->action,
                          .state = TN_STATE_COMPLETED,
                          .name = row->file};
    int rc = TARN_OK;

    /* An action that is unknown here is no data commit. */
    if (!row->completed || row->time.len == 0 || !tn_instant_action(row->action, &instant.action))
        return TARN_OK;
    if (g->count >= TN_ARCHIVE_INSTANTS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %d archived instants", TN_STR_ARG(row->file),
                TN_ARCHIVE_INSTANTS_MAX);
    if (instant.completion.len == 0)
        instant.completion = instant.time;
    TN_TRY(tn_arena_keep(cx, g->arena, &instant.time));
    TN_TRY(tn_arena_keep(cx, g->arena, &instant.completion));
    TN_TRY(tn_arena_keep(cx, g->arena, &instant.word));
    if (g->count != 0 && tn_str_equal(g->instants[g->count - 1].name, instant.name))
        instant.name = g->instants[g->count - 1].name;
    else
        TN_TRY(tn_arena_keep(cx, g->arena, &instant.name));
    TN_TRY(tn_arena_grow(cx, g->arena, &g->instants, g->count, &g->cap, sizeof *g->instants));
    g->instants[g->count++] = instant;
done:
    return rc;
}

static int by_time(const void *a, const void *b)
{
    const tn_instant *x = a, *y = b;
    int order = tn_str_compare(x->time, y->time);

    if (order == 0)
        order = (int)x->action - (int)y->action;
    return order != 0 ? order : tn_str_compare(x->name, y->name);
}

/* I1. */
static void make_distinct(gathering *g)
{
    size_t kept = 0;

    if (g->count != 0)
        qsort(g->instants, g->count, sizeof *g->instants, by_time);
    for (size_t i = 0; i < g->count; i++)
        if (kept == 0 || g->instants[kept - 1].action != g->instants[i].action ||
            !tn_str_equal(g->instants[kept - 1].time, g->instants[i].time))
            g->instants[kept++] = g->instants[i];
    g->count = kept;
}

int tn_archive_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                    tn_arena *arena, tn_timeline *out)
{
    tn_timeline timeline = {.layout = config->layout, .utc = config->utc};
    gathering g = {.arena = arena};
    int rc = TARN_OK;

    assert(out != NULL);
    TN_TRY(archive_directory(cx, root, config, arena, &timeline.directory));
    TN_TRY(each_row(cx, store, config, timeline.directory, (tn_str){0}, false, take_row, &g));
    make_distinct(&g);
    timeline.instants = g.instants;
    timeline.count = g.count;
    *out = timeline;
done:
    return rc;
}

/* ---- one instant ---- */

typedef struct reading {
    const tn_instant *instant;
    tn_arena *arena;
    tn_archive_contents contents;
} reading;

static int print_value(tarn_cx *cx, tn_arena *arena, const tn_avro_value *value, tn_str *out)
{
    tn_buf text = {0};
    tn_json json = tn_json_to(&text);
    tn_str kept;
    int rc = TARN_OK;

    tn_avro_to_json(&json, value);
    TN_TRY(tn_buf_check(cx, &text));
    kept = tn_buf_view(&text);
    TN_TRY(tn_arena_keep(cx, arena, &kept));
    *out = kept;
done:
    tn_buf_clear(&text);
    return rc;
}

/* The text of an object container file. */
static int print_file(tarn_cx *cx, tn_arena *arena, tn_str bytes, tn_str name, tn_str *out)
{
    tn_avro_file file = {0};
    int rc = TARN_OK;

    TN_TRY(tn_avro_file_read(cx, bytes, name, &file));
    if (file.record_count != 0)
        TN_TRY(print_value(cx, arena, &file.records[0], out));
done:
    tn_avro_file_clear(&file);
    return rc;
}

static int read_files(tarn_cx *cx, reading *r, const tn_archive_row *row)
{
    int rc = TARN_OK;

    if (row->metadata.len != 0) {
        TN_TRY(print_file(cx, r->arena, row->metadata, row->file, &r->contents.metadata));
        r->contents.is_commit = tn_instant_writes_data(r->instant);
        if (r->contents.is_commit)
            TN_TRY(tn_commit_metadata_parse(cx, row->metadata, row->file, r->arena,
                                            &r->contents.commit));
    }
    if (row->plan.len != 0)
        TN_TRY(print_file(cx, r->arena, row->plan, row->file, &r->contents.plan));
done:
    return rc;
}

/* The first member that there is of several; NULL: none. */
static const tn_avro_value *any_member(const tn_avro_value *record, const char *const *names,
                                       size_t count)
{
    const tn_avro_value *found = NULL;

    for (size_t i = 0; i < count && found == NULL; i++)
        found = tn_avro_member(record, names[i]);
    return found;
}

static int read_entry(tarn_cx *cx, reading *r, const tn_archive_row *row)
{
    static const char *const done_names[] = {
        "hoodieReplaceCommitMetadata", "hoodieCommitMetadata",    "hoodieCleanMetadata",
        "hoodieRollbackMetadata",      "hoodieSavePointMetadata", "hoodieCompactionMetadata",
        "hoodieIndexCommitMetadata"};
    static const char *const plan_names[] = {"hoodieCompactionPlan", "hoodieCleanerPlan",
                                             "hoodieRequestedReplaceMetadata",
                                             "hoodieRollbackPlan"};
    const tn_avro_value *value =
        row->completed
            ? any_member(row->record, done_names, sizeof done_names / sizeof done_names[0])
            : any_member(row->record, plan_names, sizeof plan_names / sizeof plan_names[0]);
    int rc = TARN_OK;

    if (value == NULL)
        return TARN_OK;
    TN_TRY(print_value(cx, r->arena, value,
                       row->completed ? &r->contents.metadata : &r->contents.plan));
    if (row->completed && tn_instant_writes_data(r->instant)) {
        r->contents.is_commit = true;
        TN_TRY(tn_commit_metadata_take(cx, value, r->arena, &r->contents.commit));
    }
done:
    return rc;
}

static int read_row(tarn_cx *cx, void *arg, const tn_archive_row *row)
{
    reading *r = arg;
    enum tn_action action;

    if (!tn_str_equal(row->time, r->instant->time) || !tn_instant_action(row->action, &action) ||
        action != r->instant->action)
        return TARN_OK;
    return row->record != NULL ? read_entry(cx, r, row) : read_files(cx, r, row);
}

int tn_archive_read(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                    const tn_instant *instant, tn_arena *arena, tn_archive_contents *out)
{
    reading r = {.instant = instant, .arena = arena};
    tn_str directory, only = instant->name;
    int rc = TARN_OK;

    assert(out != NULL);
    /* Of layout 1 the states of an instant may stand in several files. */
    if (config->layout == 1)
        only = (tn_str){NULL, 0};
    TN_TRY(archive_directory(cx, root, config, arena, &directory));
    TN_TRY(each_row(cx, store, config, directory, only, true, read_row, &r));
    *out = r.contents;
done:
    return rc;
}
