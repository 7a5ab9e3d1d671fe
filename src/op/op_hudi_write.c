/* Write: rows of inputs into a Hudi table, one commit in one call.
 *
 *   options -> table: checked, locked, failed writes rolled back -> input -> columns, keys
 *           -> [a missing table is made]
 *           -> rows: gathered -> deduplicated -> found by the index -> planned -> begun -> files
 *              or straight from the input, where nothing has to be known of them
 *           -> commit
 *
 * I1: before the commit nothing is visible, and what was made goes when anything fails.
 * I2: a missing table is made when the first rows have been seen to fit it; it goes again with the
 *     write that made it, when that one fails.
 * I3: a dry run changes nothing, and its plan is that of the real run. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/rows.h"
#include "batch/stream.h"
#include "op/hudi_op.h"
#include "table/hudi_stored.h"

static void clear(tarn_cx *cx, tn_hudi_write *w, bool failed)
{
    tn_incoming_close(cx, w->in);
    if (failed)
        tn_hudi_discard(cx, w->store, w->root, w->commit, &w->made_now);
    tn_hudi_commit_close(cx, w->commit);
    tn_array_release(&w->first);
    tn_record_key_close(w->key);
    tn_hudi_fit_clear(&w->fit);
    tn_field_release(&w->full);
    tn_field_release(&w->schema);
    tn_write_reject_close(cx, &w->reject, failed);
    tn_map_clear(&w->seen);
    tn_buf_clear(&w->avro);
    tn_buf_clear(&w->avro_full);
    free(w->ones);
    tn_hudi_log_close(w->log);
    tn_arena_clear(&w->arena);
}

/* Rows need not be gathered: they all go to one partition, in their order, whoever they are. */
static bool streams(const tn_hudi_write *w)
{
    bool plain = w->op == TARN_OP_BULK_INSERT || w->op == TARN_OP_INSERT_OVERWRITE ||
                 w->op == TARN_OP_INSERT_OVERWRITE_TABLE || w->op == TARN_OP_INSERT;

    if (w->op == TARN_OP_BULK_INSERT && w->options.sort > TN_SORT_NONE)
        return false;
    return plain && !w->merges && w->config->partition_count == 0 && !w->options.sizing.exact &&
           w->options.index != TN_INDEX_BUCKET && !w->given->dry_run;
}

/* The size of a row, where no file tells it. */
static int measure(tarn_cx *cx, tn_hudi_write *w)
{
    uint64_t bytes = 0;
    int rc = TARN_OK;

    if (!w->given->dry_run || w->first.release == NULL || w->first.length == 0)
        return TARN_OK;
    TN_TRY(tn_write_measure(cx, &w->full, &w->first, w->given->codec, &bytes));
    w->input_record_bytes = (double)bytes / (double)w->first.length;
done:
    return rc;
}

/* Whether there is anything to commit once the rows are planned. An overwrite of named partitions
 * empties them without rows; and a commit that carries metadata is one. */
static bool has_work(const tn_hudi_write *w)
{
    return w->plan.bucket_count != 0 || w->replaced_count != 0 || w->given->extra_count != 0;
}

static int write_stream(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    int rc = TARN_OK;

    w->stream_rows = true;
    TN_TRY(tn_hudi_files_plan(cx, w, true));
    TN_TRY(tn_hudi_files_replaced(cx, w));
    TN_TRY(tn_hudi_make_begin(cx, w));
    TN_TRY(tn_hudi_make_stream(cx, w, rows));
    TN_TRY(tn_hudi_make_commit(cx, w));
done:
    return rc;
}

static int write_gathered(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    int rc = TARN_OK;

    TN_TRY(tn_hudi_files_gather(cx, w, rows));
    TN_TRY(tn_hudi_files_tag(cx, w));
    for (size_t i = 0; i < w->summary.partition_count; i++)
        w->log->report.not_found += w->summary.lost_deletes[i];
    TN_TRY(tn_hudi_files_plan(cx, w, false));
    TN_TRY(tn_hudi_files_replaced(cx, w));
    if (w->given->dry_run) {
        TN_TRY(tn_hudi_files_foresee(cx, w));
        TN_TRY(tn_hudi_make_planned(cx, w));
    } else if (has_work(w)) {
        TN_TRY(tn_hudi_make_begin(cx, w));
        if (w->plan.bucket_count != 0)
            TN_TRY(tn_hudi_make_files(cx, w));
        TN_TRY(tn_hudi_make_commit(cx, w));
    }
done:
    return rc;
}

/* Rows of unknown columns into a table of which no columns are known: there are none. */
static int look(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    struct ArrowSchema schema = {0};
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(tn_stream_status(cx, rows, rows->get_schema(rows, &schema)));
    if (schema.format == NULL || strcmp(schema.format, "+s") != 0)
        TN_FAIL(TARN_E_INVALID, "the stream of rows has no columns: its schema is no struct");
    if (schema.n_children == 0 && !w->exists) {
        w->ended = true;
        goto done;
    }
    TN_TRY(tn_hudi_rows_bind(cx, w, &schema));
    TN_TRY(tn_hudi_rows_ahead(cx, w, rows));
done:
    tn_field_release(&schema);
    return rc;
}

/* A column of which the sample has nothing but nulls is text, whatever comes later: a table that is
 * ordered by it would stay one that is ordered by text. */
static int check_ordering_seen(tarn_cx *cx, const tn_hudi_write *w)
{
    int rc = TARN_OK;

    if (w->exists || !w->text || w->first.release == NULL || w->first.length == 0)
        return TARN_OK;
    for (size_t i = 0; i < w->ordering_count; i++) {
        const struct ArrowSchema *column = w->full.children[w->ordering[i]];
        const struct ArrowArray *values = w->first.children[w->ordering[i]];
        int64_t at = 0;

        if (strcmp(column->format, "u") != 0 ||
            (w->given_columns != NULL &&
             tn_unify_child(w->given_columns, tn_str_of(column->name)) >= 0))
            continue;
        while (at < values->length && tn_rows_is_null(values, values->offset + at))
            at++;
        if (at == values->length)
            TN_FAIL(TARN_E_INVALID,
                    "column \"%s\": the table is to be ordered by it, and the first rows have "
                    "nothing but nulls in it, so that its type is not known; give it with "
                    "--schema (%s:bigint)",
                    column->name, column->name);
    }
done:
    return rc;
}

/* An input that failed before its first row must not empty a table. */
static int refuse_emptying(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = TARN_OK;

    TN_TRY(tn_hudi_open_slices(cx, w));
    if (w->slices.slice_count != 0)
        TN_FAIL(
            TARN_E_DATA,
            "%.*s: the input has no rows, and op insert_overwrite_table would leave none of %zu "
            "file groups; nothing was touched: --op delete_partition takes partitions away, if "
            "that is meant",
            TN_STR_ARG(w->root), w->slices.slice_count);
done:
    return rc;
}

/* Why nothing is written, where that may not be what was meant. */
static int note_nothing(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = TARN_OK;

    if (w->reject.count != 0)
        TN_TRY(tn_hudi_log_note(cx, w->log, TN_STR("every record of the input was rejected")));
    if (!w->exists)
        TN_TRY(tn_hudi_log_note(cx, w->log,
                                TN_STR("there is no table, and without rows none is made")));
done:
    return rc;
}

static int write_rows(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    bool nothing;
    int rc = TARN_OK;

    TN_TRY(look(cx, w, rows));
    TN_TRY(check_ordering_seen(cx, w));
    if (w->ended && w->exists && w->op == TARN_OP_INSERT_OVERWRITE_TABLE)
        TN_TRY(refuse_emptying(cx, w));
    /* Without rows no table is made, and nothing changes but by an overwrite that says what. */
    nothing = w->ended && w->given->extra_count == 0 &&
              !(w->op == TARN_OP_INSERT_OVERWRITE && w->given->partition_count != 0);
    if (nothing || (w->ended && !w->exists)) {
        w->log->report.table_made = false;
        TN_TRY(tn_write_reject_publish(cx, &w->reject));
        TN_TRY(note_nothing(cx, w));
        goto done;
    }
    TN_TRY(measure(cx, w));
    TN_TRY(tn_hudi_open_new(cx, w));
    if (streams(w) && !w->ended)
        TN_TRY(write_stream(cx, w, rows));
    else
        TN_TRY(write_gathered(cx, w, rows));
done:
    return rc;
}

/* ---- delete_partition, which has no rows */

static int check_partitions(tarn_cx *cx, const tn_hudi_write *w)
{
    int rc = TARN_OK;

    if (w->given->partition_count == 0)
        TN_FAIL(TARN_E_INVALID, "op delete_partition: name the paths that go with --partitions");
    for (size_t i = 0; i < w->given->partition_count; i++) {
        tn_str path = tn_str_of(w->given->partitions[i]);
        bool found = false;

        for (size_t p = 0; p < w->slices.partition_count && !found; p++)
            found = tn_str_equal(w->slices.partitions[p], path);
        if (!found)
            TN_FAIL(TARN_E_NOTFOUND,
                    "%.*s: there is no partition \"%.*s\"; nothing was deleted (paths are given as "
                    "in `tarn files`)",
                    TN_STR_ARG(w->root), TN_STR_ARG(path));
    }
done:
    return rc;
}

static int delete_partitions(tarn_cx *cx, tn_hudi_write *w)
{
    int rc = TARN_OK;

    TN_TRY(tn_hudi_open_slices(cx, w));
    TN_TRY(check_partitions(cx, w));
    TN_TRY(tn_hudi_files_replaced(cx, w));
    if (w->given->dry_run || !has_work(w))
        goto done;
    if (w->schema_known)
        TN_TRY(tn_hudi_stored_avro(cx, &w->schema, w->config->name, false, &w->avro));
    TN_TRY(tn_buf_check(cx, &w->avro));
    TN_TRY(tn_hudi_make_begin(cx, w));
    TN_TRY(tn_hudi_make_commit(cx, w));
done:
    return rc;
}

/* ---- the call */

/* What is done stays done: a text that memory does not hold any more is left out. */
static void finish(tarn_cx *cx, tn_hudi_write *w)
{
    tarn_table_report *report = &w->log->report;

    report->rejected = w->reject.count;
    if (w->reject.published &&
        tn_hudi_log_text(cx, w->log, w->reject.path, &report->reject) != TARN_OK)
        tn_cx_forget(cx);
    if (w->completion.len != 0 &&
        tn_hudi_log_text(cx, w->log, w->completion, &report->completion) != TARN_OK)
        tn_cx_forget(cx);
    report->ms = tn_cx_now_ms(cx) - w->started_ms;
}

/* The name of a column, and of fields of structs after those of what they lie in ("s.x"); "s."
 * tells that a struct was seen at all. */
static int note_column(tarn_cx *cx, tn_hudi_write *w, tn_str above,
                       const struct ArrowSchema *column)
{
    bool group = strcmp(column->format, "+s") == 0, added;
    size_t len = above.len + strlen(column->name);
    char *lower = tn_arena_take(cx, &w->arena, len + 2);
    int rc = TARN_OK;

    if (lower == NULL)
        return TARN_E_NOMEM;
    if (above.len != 0)
        memcpy(lower, above.ptr, above.len);
    tn_hudi_lower(tn_str_of(column->name), lower + above.len);
    if (tn_map_add(cx, &w->seen, (tn_str){lower, len}, &added) == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (!group)
        goto done;
    lower[len] = '.';
    if (tn_map_add(cx, &w->seen, (tn_str){lower, len + 1}, &added) == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < column->n_children; i++)
        TN_TRY(note_column(cx, w, (tn_str){lower, len + 1}, column->children[i]));
done:
    return rc;
}

static int note_columns(tarn_cx *cx, void *arg, const struct ArrowSchema *schema)
{
    int rc = TARN_OK;

    for (int64_t i = 0; i < schema->n_children && rc == TARN_OK; i++)
        rc = note_column(cx, arg, (tn_str){NULL, 0}, schema->children[i]);
    return rc;
}

static tarn_write_options input_part(const tn_hudi_write *w)
{
    const tarn_table_write_options *o = w->given;

    return (tarn_write_options){.dry_run = o->dry_run,
                                .format = o->format,
                                .where = o->where,
                                .columns = o->columns,
                                .column_count = o->column_count,
                                .schema = o->schema,
                                .delimiter = o->delimiter,
                                .no_header = o->no_header,
                                .null_text = o->null_text,
                                .sample_bytes = o->sample_bytes,
                                .reject = o->reject,
                                .warn = o->warn,
                                .arg = o->arg};
}

static int write_inputs(tarn_cx *cx, tn_hudi_write *w, const char *const *inputs, size_t count)
{
    tarn_write_options part = input_part(w);
    struct ArrowArrayStream rows = {0};
    struct ArrowSchema given = {0};
    tn_input_options input;
    bool itself;
    int rc = TARN_OK;

    TN_TRY(tn_write_input_check(cx, w->root, inputs, count, NULL, &itself));
    TN_TRY(tn_write_input_options(cx, &part, w->schema_known ? &w->schema : NULL, w->root, inputs,
                                  count, &given, &w->reject, &input));
    if (!w->exists)
        TN_TRY(tn_write_input_text(cx, &input, &w->text));
    w->given_columns = given.release != NULL ? &given : NULL;
    input.on_schema = note_columns;
    input.on_schema_arg = w;
    input.micros = true;
    input.deep = true;
    TN_TRY(tn_input_open(cx, &input, &rows));
    TN_TRY(write_rows(cx, w, &rows));
done:
    if (rows.release != NULL)
        rows.release(&rows);
    w->given_columns = NULL;
    tn_field_release(&given);
    return rc;
}

int tarn_table_write(tarn_cx *cx, const char *path, const char *const *inputs, size_t input_count,
                     const tarn_table_write_options *options, tarn_table_report **report)
{
    static const tarn_table_write_options plain = {0};
    tn_hudi_write w = {.given = options != NULL ? options : &plain, .started_ms = tn_cx_now_ms(cx)};
    int rc = TARN_OK;

    assert(path != NULL && report != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &w.arena, &w.store, &w.root));
    TN_TRY(tn_hudi_open(cx, &w));
    if (w.op == TARN_OP_DELETE_PARTITION) {
        if (input_count != 0)
            TN_FAIL(TARN_E_INVALID, "op delete_partition: it takes no input; name the paths that "
                                    "go with --partitions");
        TN_TRY(delete_partitions(cx, &w));
    } else {
        if (input_count == 0)
            TN_FAIL(TARN_E_INVALID, "no input: name files, or \"-\" for standard input");
        TN_TRY(write_inputs(cx, &w, inputs, input_count));
    }
    finish(cx, &w);
    *report = &w.log->report;
    w.log = NULL;
done:
    clear(cx, &w, rc != TARN_OK);
    tn_store_close(w.store);
    return rc;
}

int tn_hudi_write_rows_into(tarn_cx *cx, tn_store *store, tn_str root,
                            struct ArrowArrayStream *rows, const tarn_table_write_options *options,
                            tarn_table_report **report)
{
    static const tarn_table_write_options plain = {0};
    tn_hudi_write w = {.given = options != NULL ? options : &plain,
                       .store = store,
                       .root = root,
                       .foreign_rows = true,
                       .started_ms = tn_cx_now_ms(cx)};
    int rc = TARN_OK;

    assert(report != NULL);
    if (w.given->where != NULL || w.given->columns != NULL || w.given->schema != NULL ||
        w.given->reject != NULL)
        TN_FAIL(TARN_E_INVALID, "where, columns, schema and reject are of inputs; a stream of rows "
                                "is written as it is");
    TN_TRY(tn_hudi_open(cx, &w));
    if (w.op == TARN_OP_DELETE_PARTITION)
        TN_TRY(delete_partitions(cx, &w));
    else if (rows == NULL)
        TN_FAIL(TARN_E_INVALID, "no rows");
    else
        TN_TRY(write_rows(cx, &w, rows));
    finish(cx, &w);
    *report = &w.log->report;
    w.log = NULL;
done:
    clear(cx, &w, rc != TARN_OK);
    return rc;
}

int tarn_table_write_rows(tarn_cx *cx, const char *path, struct ArrowArrayStream *rows,
                          const tarn_table_write_options *options, tarn_table_report **report)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str root;
    int rc = TARN_OK;

    assert(path != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_hudi_write_rows_into(cx, store, root, rows, options, report));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

int tarn_table_exists(tarn_cx *cx, const char *path, bool *out)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str root, hidden;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_path_join(cx, &arena, root, TN_STR(".hoodie"), &hidden));
    TN_TRY(tn_store_exists(cx, store, hidden, out));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}
