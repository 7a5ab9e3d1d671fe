/* Write: rows of inputs into a plain directory, in one call.
 *
 *   settle -> snapshot -> inputs -> types -> plan -> lock, staging -> files -> commit -> merge
 *
 * I1: before the commit nothing but hidden staging is made, and it goes when anything fails.
 * I2: rejected records are durable before the rows that were not rejected are seen.
 * I3: a dry run writes nothing, not even a probe. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "batch/stream.h"
#include "op/merge_op.h"
#include "op/write_op.h"

int tn_write_next(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows, struct ArrowArray *out)
{
    struct ArrowArray batch = {0};
    int rc = TARN_OK;

    if (w->first.release != NULL)
        tn_array_move(&w->first, &batch);
    else
        TN_TRY(tn_stream_next(cx, rows, &batch));
    if (batch.release == NULL)
        goto done;
    if (w->foreign_rows)
        TN_TRY(tn_array_check(cx, &w->fit.from, &batch));
    TN_TRY(tn_write_fit_batch(cx, &w->fit, &batch));
    if (w->options->on_progress != NULL)
        w->options->on_progress(w->options->arg, (uint64_t)w->fit.rows);
    tn_array_move(&batch, out);
done:
    tn_array_release(&batch);
    return rc;
}

static int names_of(tarn_cx *cx, tn_arena *arena, const char *const *names, size_t count,
                    const tn_str **out)
{
    tn_str *made = tn_arena_array(cx, arena, count, sizeof *made);

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        made[i] = tn_str_of(names[i]);
    *out = made;
    return TARN_OK;
}

static int plan_options_of(tarn_cx *cx, tn_write *w)
{
    static const enum tn_write_mode modes[] = {TN_WRITE_APPEND, TN_WRITE_OVERWRITE,
                                               TN_WRITE_OVERWRITE_PARTITIONS};
    const tarn_write_options *o = w->options;
    tn_write_options *made = &w->plan_options;
    int rc = TARN_OK;

    if ((unsigned)o->mode > TARN_WRITE_OVERWRITE_PARTITIONS)
        TN_FAIL(TARN_E_INVALID, "op: %d is none", (int)o->mode);
    if (o->mode == TARN_WRITE_OVERWRITE_PARTITIONS && o->partition_by_count == 0)
        TN_FAIL(TARN_E_INVALID,
                "op overwrite-partitions: without partition columns there are no partitions; give "
                "--partition-by, or --op overwrite");
    if (o->target_bytes > INT64_MAX / 16 || o->group_bytes > INT64_MAX / 16)
        TN_FAIL(TARN_E_INVALID, "target: more bytes than a file can have");
    if (o->files_per_partition > UINT32_MAX)
        TN_FAIL(TARN_E_INVALID, "files per partition: %" PRIu64 " are too many",
                o->files_per_partition);
    TN_TRY(tn_arena_print(cx, &w->arena, &made->id, "%016" PRIx64, tn_cx_random(cx)));
    TN_TRY(
        names_of(cx, &w->arena, o->partition_by, o->partition_by_count, &made->partition_columns));
    TN_TRY(names_of(cx, &w->arena, o->distribute_by, o->distribute_by_count,
                    &made->distribute_columns));
    TN_TRY(
        tn_merge_codec_of(cx, o->codec != NULL ? o->codec : "zstd", o->level, false, &made->codec));
    made->level = o->level;
    made->mode = modes[o->mode];
    made->partition_column_count = o->partition_by_count;
    made->distribute_column_count = o->distribute_by_count;
    made->files_per_partition = (uint32_t)o->files_per_partition;
    made->target_bytes = o->target_bytes;
    made->group_bytes = o->group_bytes;
    made->partitions_max = o->partitions_max;
    made->files_max = o->files_max;
done:
    return rc;
}

static int note_recovery(tarn_cx *cx, tn_write *w, const tn_recovery *recovery)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < recovery->note_count; i++) {
        const tn_recovery_note *note = &recovery->notes[i];
        tn_str text;

        TN_TRY(tn_arena_print(cx, &w->arena, &text, "%.*s: %.*s",
                              TN_STR_ARG(note->path.len != 0 ? note->path : TN_STR(".")),
                              TN_STR_ARG(note->text)));
        TN_TRY(tn_write_log_note(cx, w->log, text));
    }
done:
    return rc;
}

/* What holds before any input is looked at. */
static int begin(tarn_cx *cx, tn_write *w)
{
    tn_recovery recovery = {0};
    int rc = TARN_OK;

    TN_TRY(tn_write_log_open(cx, w->root, w->options, &w->log));
    TN_TRY(plan_options_of(cx, w));
    if (!w->options->dry_run)
        TN_TRY(tn_merge_settle(cx, w->store, w->root, &w->arena, &recovery));
    TN_TRY(note_recovery(cx, w, &recovery));
    TN_TRY(tn_write_dir_load(cx, w->store, w->root, w->options, &w->dir));
done:
    tn_recovery_clear(&recovery);
    return rc;
}

static void clear(tarn_cx *cx, tn_write *w, bool failed)
{
    tn_write_commit_close(cx, w->commit);
    tn_array_release(&w->first);
    tn_write_reject_close(cx, &w->reject, failed);
    tn_write_fit_clear(&w->fit);
    tn_write_spell_clear(w);
    tn_write_dir_clear(&w->dir);
    tn_write_log_close(w->log);
    tn_arena_clear(&w->arena);
}

/* Columns and types of what is written, and where it goes. */
static int decide(tarn_cx *cx, tn_write *w, const struct ArrowSchema *schema)
{
    int rc = TARN_OK;

    TN_TRY(tn_write_fit_open(cx, schema, &w->dir, w->root, &w->fit));
    w->plan_options.schema = &w->fit.to;
    TN_TRY(tn_plan_write(cx, w->dir.found ? &w->dir.dir : NULL, w->root, &w->plan_options,
                         &w->arena, &w->plan));
    TN_TRY(tn_write_spell_open(cx, w));
    TN_TRY(tn_write_commit_staging(cx, &w->arena, w->plan.work, w->plan.id, &w->plan.staging));
    w->log->report.root_made = w->plan.root_missing;
done:
    return rc;
}

/* The schema of the rows, and the first of them: without any, columns are no matter. */
static int look(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows, struct ArrowSchema *schema)
{
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(tn_stream_status(cx, rows, rows->get_schema(rows, schema)));
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0)
        TN_FAIL(TARN_E_INVALID, "the stream of rows has no columns: its schema is no struct");
    TN_TRY(tn_stream_next(cx, rows, &w->first));
done:
    return rc;
}

/* The directory was read to be replaced: what came or went meanwhile was not read, or is not there
 * to be replaced. */
static int check_itself(tarn_cx *cx, tn_write *w)
{
    tn_dir now = {0};
    int rc = TARN_OK;

    TN_TRY(tn_write_dir_list(cx, w->store, w->root, false, &now));
    if (!tn_write_dir_same(&w->dir.dir, &now))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: its files changed while they were read, and nothing was written; try again",
                TN_STR_ARG(w->root));
done:
    tn_dir_clear(&now);
    return rc;
}

/* What the commit did becomes the report. */
static int log_done(tarn_cx *cx, tn_write *w, const tn_write_file *files, size_t count,
                    const tn_write_done *done)
{
    tarn_write_report *report = &w->log->report;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        TN_TRY(tn_write_log_add(cx, w->log, files[i].partition, files[i].rows, 1, files[i].bytes));
    report->old_files = done->old_files;
    report->old_bytes = done->old_bytes;
    report->partitions_removed = done->partitions_removed;
    report->pending = done->pending;
    if (done->pending)
        TN_TRY(tn_write_log_note(cx, w->log, done->problem));
    for (size_t i = 0; i < done->note_count; i++) {
        tn_str text, path = done->notes[i].path.len != 0 ? done->notes[i].path : TN_STR(".");

        TN_TRY(tn_arena_print(cx, &w->arena, &text, "%.*s: %.*s", TN_STR_ARG(path),
                              TN_STR_ARG(done->notes[i].text)));
        TN_TRY(tn_write_log_note(cx, w->log, text));
    }
done:
    return rc;
}

static int publish(tarn_cx *cx, tn_write *w, const tn_write_file *files, size_t count)
{
    tn_write_done done = {0};
    int rc = TARN_OK;

    assert(count != 0);
    if (w->itself)
        TN_TRY(check_itself(cx, w));
    TN_TRY(tn_write_reject_publish(cx, &w->reject)); /* I2 */
    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_write_commit_finish(cx, w->commit, files, count, &done));
    TN_TRY(log_done(cx, w, files, count, &done));
done:
    return rc;
}

static int no_rows(tarn_cx *cx, tn_write *w)
{
    int rc = TARN_OK;

    if (w->options->mode == TARN_WRITE_OVERWRITE && w->dir.files != 0)
        TN_FAIL(TARN_E_DATA,
                "%.*s: the input has no rows, and --op overwrite would leave no file of %" PRIu64
                "; nothing was touched: remove the directory yourself if that is meant",
                TN_STR_ARG(w->root), w->dir.files);
    TN_TRY(tn_write_reject_publish(cx, &w->reject));
done:
    return rc;
}

/* A new directory has the fewest files already; and files that were told apart by a hash are to
 * stay apart. */
static bool wants_merge(const tn_write *w)
{
    return w->options->mode == TARN_WRITE_APPEND && !w->options->no_merge &&
           !w->plan.root_missing && w->plan.files_per_partition == 0 && !w->log->report.pending;
}

static int write_rows(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows)
{
    tn_recovery recovery = {0};
    tn_write_file *files;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_write_commit_open(cx, w->store, &w->plan, &w->commit));
    tn_write_commit_recovery(w->commit, &recovery);
    TN_TRY(note_recovery(cx, w, &recovery));
    TN_TRY(tn_write_files_make(cx, w, rows, &files, &count));
    TN_TRY(publish(cx, w, files, count));
    tn_write_commit_close(cx, w->commit);
    w->commit = NULL;
    if (wants_merge(w))
        TN_TRY(tn_write_merge(cx, w));
done:
    tn_recovery_clear(&recovery);
    return rc;
}

/* From the opened rows to the end. */
static int finish(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows, int64_t started_ms)
{
    tarn_write_report *report = &w->log->report;
    struct ArrowSchema schema = {0};
    int rc = TARN_OK;

    TN_TRY(look(cx, w, rows, &schema));
    if (w->first.release == NULL) {
        TN_TRY(no_rows(cx, w));
    } else {
        TN_TRY(decide(cx, w, &schema));
        if (w->options->dry_run)
            TN_TRY(tn_write_count(cx, w, rows));
        else
            TN_TRY(write_rows(cx, w, rows));
    }
    report->rejected = w->reject.count;
    if (w->reject.published) {
        tn_str path = w->reject.path;

        TN_TRY(tn_arena_keep(cx, &w->log->arena, &path));
        report->reject = path.ptr;
    }
    report->ms = tn_cx_now_ms(cx) - started_ms;
done:
    tn_field_release(&schema);
    return rc;
}

int tarn_write(tarn_cx *cx, const char *dir, const char *const *inputs, size_t input_count,
               const tarn_write_options *options, tarn_write_report **report)
{
    static const tarn_write_options plain = {0};
    tn_write w = {.options = options != NULL ? options : &plain};
    struct ArrowArrayStream rows = {0};
    struct ArrowSchema given = {0};
    tn_input_options input;
    int64_t started_ms = tn_cx_now_ms(cx);
    int rc = TARN_OK;

    assert(dir != NULL && report != NULL);
    if (input_count == 0)
        TN_FAIL(TARN_E_INVALID, "no input: name files, or \"-\" for standard input");
    TN_TRY(tn_store_locate(cx, tn_str_of(dir), &w.arena, &w.store, &w.root));
    TN_TRY(begin(cx, &w));
    TN_TRY(tn_write_input_check(cx, w.root, inputs, input_count, w.options, &w.itself));
    TN_TRY(tn_write_input_options(cx, w.options, w.dir.has_schema ? &w.dir.schema : NULL, w.root,
                                  inputs, input_count, &given, &w.reject, &input));
    TN_TRY(tn_input_open(cx, &input, &rows));
    TN_TRY(finish(cx, &w, &rows, started_ms));
    *report = &w.log->report;
    w.log = NULL;
done:
    if (rows.release != NULL)
        rows.release(&rows);
    tn_field_release(&given);
    clear(cx, &w, rc != TARN_OK);
    tn_store_close(w.store);
    return rc;
}

int tn_write_rows_into(tarn_cx *cx, tn_store *store, tn_str root, struct ArrowArrayStream *rows,
                       const tarn_write_options *options, tarn_write_report **report)
{
    static const tarn_write_options plain = {0};
    tn_write w = {.options = options != NULL ? options : &plain,
                  .store = store,
                  .root = root,
                  .foreign_rows = true};
    int64_t started_ms = tn_cx_now_ms(cx);
    int rc = TARN_OK;

    assert(rows != NULL && report != NULL);
    if (w.options->where != NULL || w.options->columns != NULL || w.options->schema != NULL ||
        w.options->reject != NULL)
        TN_FAIL(TARN_E_INVALID, "where, columns, schema and reject are of inputs; a stream of rows "
                                "is written as it is");
    TN_TRY(begin(cx, &w));
    TN_TRY(finish(cx, &w, rows, started_ms));
    *report = &w.log->report;
    w.log = NULL;
done:
    clear(cx, &w, rc != TARN_OK);
    return rc;
}

int tarn_write_rows(tarn_cx *cx, const char *dir, struct ArrowArrayStream *rows,
                    const tarn_write_options *options, tarn_write_report **report)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str root;
    int rc = TARN_OK;

    assert(dir != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(dir), &arena, &store, &root));
    TN_TRY(tn_write_rows_into(cx, store, root, rows, options, report));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}
