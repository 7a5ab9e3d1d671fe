/* Input files of a write as one stream of rows.
 *
 *   paths ─> files ─> their schemas ─> one schema ─> needed, filter, result (op/read_columns.h)
 *                                                        │
 *   file after file: Parquet by tarn_read_open, ─────────┴─> cast ─> filter ─> project ─> batch
 *   text by exec/exec_input.h, with the types of the one schema
 *
 * I1: rows come in the order of the inputs, and within an input in its own.
 * I2: the schema depends on all inputs, never on which is read first: Parquet decides types, what
 *     text samples show is widened until it holds them all.
 * I3: a column of text keeps text: what a sample of another input shows never turns it into less.
 */
#include "op/input.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/predicate.h"
#include "batch/stream.h"
#include "batch/type.h"
#include "batch/unify.h"
#include "exec/read_rows.h"
#include "op/input_find.h"
#include "op/input_join.h"
#include "op/read_columns.h"
#include "tarn/read.h"

typedef struct input {
    tarn_cx *cx;
    tn_input_options options;
    tn_arena arena;
    tn_input_files files;
    tn_exec_input *standard; /* standard input, opened for its sample */
    const tn_predicate *where;
    tn_str *names; /* that the condition may mean */
    size_t name_count;
    struct ArrowSchema all;            /* every column there is */
    tn_text_read_options text_options; /* with what text inputs are read as */
    tn_read_columns columns;
    tn_scan_task task; /* its filter and projection */
    size_t next;       /* file */
    struct ArrowArrayStream open;
    bool text;              /* `open` is of text */
    struct ArrowSchema own; /* of `open` */
    tn_str name;            /* of `open` */
    int64_t given, fresh;   /* rows that `open` gave before its last batch, and with it */
    tn_buf kept;            /* of the last batch: a byte per row, not 0 where it was kept */
    int failed;             /* errno; 0: not */
    char error[TN_ERROR_TEXT_MAX];
} input;

static void input_free(input *in)
{
    if (in == NULL)
        return;
    if (in->open.release != NULL)
        in->open.release(&in->open);
    tn_field_release(&in->own);
    tn_exec_input_close(in->standard);
    tn_read_columns_clear(&in->columns);
    tn_buf_clear(&in->kept);
    tn_field_release(&in->all);
    tn_input_files_clear(&in->files);
    tn_arena_clear(&in->arena);
    free(in);
}

static tn_str name_of(const tn_input_file *file)
{
    return file->path.ptr != NULL ? file->path : TN_STR("standard input");
}

/* ---- schemas */

/* Parquet files and directories go through the reading of the public header, by their path. */
static int open_parquet(tarn_cx *cx, input *in, const tn_input_file *file,
                        const char *const *columns, size_t column_count, const char *where,
                        struct ArrowArrayStream *out)
{
    tarn_read_options options = {.columns = columns,
                                 .column_count = column_count,
                                 .where = where,
                                 .int96_micros = in->options.int96_micros,
                                 .int96_utc = in->options.int96_utc,
                                 .warn = in->options.text.warn,
                                 .arg = in->options.text.warn_arg};
    tn_str path = file->path;
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &in->arena, &path));
    TN_TRY(tarn_read_open(cx, path.ptr, &options, out));
done:
    return rc;
}

static int schema_of(tarn_cx *cx, struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    return stream->get_schema(stream, out) == 0 ? TARN_OK : tarn_cx_status(cx);
}

static int parquet_schema(tarn_cx *cx, input *in, const tn_input_file *file,
                          struct ArrowSchema *out)
{
    struct ArrowArrayStream stream = {0};
    int rc = TARN_OK;

    TN_TRY(open_parquet(cx, in, file, NULL, 0, NULL, &stream));
    rc = schema_of(cx, &stream, out);
done:
    if (stream.release != NULL)
        stream.release(&stream);
    return rc;
}

/* Standard input stays open, for it cannot be opened again. */
static int text_schema(tarn_cx *cx, input *in, const tn_input_file *file, struct ArrowSchema *out,
                       uint64_t *rows)
{
    tn_exec_input *opened = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_exec_input_begin(cx, file->store, file->path, file->format, &opened));
    TN_TRY(tn_exec_input_sample(cx, opened, &in->options.text, out, rows));
    if (file->path.ptr == NULL) {
        in->standard = opened;
        opened = NULL;
    }
done:
    tn_exec_input_close(opened);
    return rc;
}

static bool samples_text(const input *in)
{
    return in->options.text.schema == NULL || in->options.text.schema_open;
}

static int tell_schema(tarn_cx *cx, const input *in, const struct ArrowSchema *schema)
{
    return in->options.on_schema != NULL
               ? in->options.on_schema(cx, in->options.on_schema_arg, schema)
               : TARN_OK;
}

/* Nanoseconds that a sample shows become microseconds: values that have more are bad ones. */
static int coarsen(tarn_cx *cx, struct ArrowSchema *schema)
{
    int rc = TARN_OK;

    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *column = schema->children[i], made = {0};
        char format[64];

        TN_TRY(coarsen(cx, column));
        if (strncmp(column->format, "tsn:", 4) != 0 || strlen(column->format) >= sizeof format)
            continue;
        snprintf(format, sizeof format, "tsu:%s", column->format + 4);
        TN_TRY(tn_field_init(cx, &made, format, tn_str_of(column->name), tn_field_nullable(column),
                             0));
        tn_field_release(column);
        tn_field_move(&made, column);
    }
done:
    return rc;
}

/* Joins the schema of one file to what is known: firm types of Parquet, loose ones of samples. */
static int add_schema(tarn_cx *cx, input *in, size_t i, tn_input_joined *joined)
{
    tn_input_file *file = &in->files.items[i];
    struct ArrowSchema schema = {0};
    uint64_t rows;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (file->format == TN_INPUT_AUTO && file->path.ptr != NULL)
        TN_TRY(tn_exec_input_format(cx, file->store, file->path, &file->format));
    if (file->format == TN_INPUT_PARQUET && file->path.ptr != NULL) {
        TN_TRY(parquet_schema(cx, in, file, &schema));
        TN_TRY(tn_input_join_firm(cx, joined, &schema, name_of(file)));
        TN_TRY(tell_schema(cx, in, &schema));
    } else if (samples_text(in)) {
        TN_TRY(text_schema(cx, in, file, &schema, &rows));
        in->text_options.inferred_rows += rows;
        TN_TRY(tell_schema(cx, in, &schema));
        if (in->options.micros)
            TN_TRY(coarsen(cx, &schema));
        TN_TRY(tn_input_join_sample(cx, joined, &schema));
    } else {
        joined->has_text = true;
    }
done:
    tn_field_release(&schema);
    return rc;
}

/* A column of `given` (NULL: none) that a sample made wider stays so in the table: it is told. */
static void tell_widened(const input *in, const struct ArrowSchema *given)
{
    const tn_text_read_options *text = &in->options.text;

    for (int64_t i = 0; given != NULL && text->warn != NULL && i < given->n_children; i++) {
        const struct ArrowSchema *was = given->children[i], *is = in->all.children[i];
        tn_buf line = {0};

        /* Integers of 64 bits that become double are told by who writes them. */
        if (strcmp(was->format, is->format) == 0 || strcmp(was->format, "i") != 0)
            continue;
        tn_buf_print(&line, "column \"%s\": ", was->name);
        tn_type_print(&line, was);
        tn_buf_text(&line, " so far, ");
        tn_type_print(&line, is);
        tn_buf_text(&line, " from now on: the sample of the input has numbers that need it");
        tn_buf_u8(&line, '\0');
        if (!line.failed)
            text->warn(text->warn_arg, (const char *)line.data);
        tn_buf_clear(&line);
    }
}

static int join_schemas(tarn_cx *cx, input *in)
{
    tn_text_read_options *text = &in->text_options;
    tn_input_joined joined = {0};
    int rc = TARN_OK;

    *text = in->options.text;
    joined.deep = in->options.deep && text->schema_open;
    if (text->schema != NULL)
        TN_TRY(tn_input_join_given(cx, &joined, text->schema));
    for (size_t i = 0; i < in->files.count; i++)
        TN_TRY(add_schema(cx, in, i, &joined));
    TN_TRY(tn_input_joined_all(cx, &joined, &in->all));
    tell_widened(in, joined.deep ? text->schema : NULL);
    if (samples_text(in)) {
        text->schema = &in->all;
        text->schema_open = false;
        text->schema_inferred = true;
        text->schema_deep = joined.deep;
        text->schema_given = joined.firm.release != NULL ? (size_t)joined.firm.n_children : 0;
    }
done:
    tn_input_joined_clear(&joined);
    return rc;
}

static int bind(tarn_cx *cx, input *in)
{
    int rc = TARN_OK;

    if (in->options.where != NULL) {
        TN_TRY(tn_predicate_parse(cx, tn_str_of(in->options.where), &in->arena, &in->where));
        TN_TRY(tn_predicate_names(cx, in->where, &in->arena, &in->names, &in->name_count));
    }
    TN_TRY(tn_read_columns_bind(cx, &in->arena, &in->all, in->options.columns,
                                in->options.column_count, in->where, &in->columns));
    in->task = (tn_scan_task){.needed = &in->columns.needed,
                              .filter = in->columns.filtered ? &in->columns.filter : NULL,
                              .project = in->columns.project,
                              .project_count = in->columns.project_count,
                              .result = &in->columns.result};
done:
    return rc;
}

/* ---- rows */

/* The names of the needed columns that a Parquet input has; all of its own names. */
static int own_columns(tarn_cx *cx, input *in, const struct ArrowSchema *own, const char ***out,
                       size_t *count)
{
    const struct ArrowSchema *needed = &in->columns.needed;
    const char **names =
        tn_arena_array(cx, &in->arena, (size_t)needed->n_children + 1, sizeof *names);
    int rc = TARN_OK;

    *count = 0;
    if (names == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < needed->n_children; i++) {
        int64_t child = tn_unify_match(needed, i, own);
        tn_str name;

        if (child < 0)
            continue;
        name = tn_str_of(own->children[child]->name);
        TN_TRY(tn_arena_keep(cx, &in->arena, &name));
        names[(*count)++] = name.ptr;
    }
    *out = names;
done:
    return rc;
}

/* The condition can be left to the input when it has every column that the condition may mean:
 * elsewhere a word in double quotes would be text there and a column here. */
static bool can_filter(const input *in, const struct ArrowSchema *own)
{
    for (size_t i = 0; i < in->name_count; i++)
        if (tn_unify_child(own, in->names[i]) < 0)
            return false;
    return in->where != NULL;
}

static int open_parquet_rows(tarn_cx *cx, input *in, const tn_input_file *file)
{
    struct ArrowSchema own = {0};
    const char **columns;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(parquet_schema(cx, in, file, &own));
    TN_TRY(own_columns(cx, in, &own, &columns, &count));
    TN_TRY(open_parquet(cx, in, file, columns, count,
                        can_filter(in, &own) ? in->options.where : NULL, &in->open));
done:
    tn_field_release(&own);
    return rc;
}

static int open_text_rows(tarn_cx *cx, input *in, const tn_input_file *file)
{
    tn_exec_input *opened = in->standard;
    int rc = TARN_OK;

    if (file->path.ptr == NULL && opened != NULL)
        in->standard = NULL;
    else
        TN_TRY(tn_exec_input_begin(cx, file->store, file->path, file->format, &opened));
    TN_TRY(tn_exec_input_stream(cx, opened, &in->text_options, &in->open));
    opened = NULL;
done:
    tn_exec_input_close(opened);
    return rc;
}

static int open_next(tarn_cx *cx, input *in)
{
    const tn_input_file *file = &in->files.items[in->next++];
    int rc = TARN_OK;

    assert(in->open.release == NULL);
    in->text = file->format != TN_INPUT_PARQUET || file->path.ptr == NULL;
    in->name = name_of(file);
    in->given = in->fresh = 0;
    if (in->text)
        TN_TRY(open_text_rows(cx, in, file));
    else
        TN_TRY(open_parquet_rows(cx, in, file));
    TN_TRY(schema_of(cx, &in->open, &in->own));
done:
    return rc;
}

static void close_open(input *in)
{
    in->open.release(&in->open);
    tn_field_release(&in->own);
}

/* A batch of `needed` from one of the open input, whose columns it takes. */
static int make_needed(tarn_cx *cx, input *in, struct ArrowArray *batch, struct ArrowArray *out)
{
    const struct ArrowSchema *needed = &in->columns.needed;
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    assert(batch->offset == 0);
    TN_TRY(tn_array_init(cx, &made, batch->length, 1, (size_t)needed->n_children));
    for (int64_t i = 0; i < needed->n_children; i++) {
        int64_t child = tn_unify_match(needed, i, &in->own);

        if (child < 0) {
            TN_TRY(tn_rows_nulls(cx, needed->children[i], batch->length, made.children[i]));
            continue;
        }
        TN_TRY(tn_unify_cast(cx, in->own.children[child], needed->children[i],
                             batch->children[child]));
        tn_array_move(batch->children[child], made.children[i]);
    }
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

/* The next batch of the open input, refined; *ended at its end. */
static int next_of_open(tarn_cx *cx, input *in, struct ArrowArray *out, bool *ended)
{
    struct ArrowArray batch = {0}, needed = {0};
    int rc = TARN_OK;

    if (in->open.get_next(&in->open, &batch) != 0)
        return tarn_cx_status(cx);
    *ended = batch.release == NULL;
    if (*ended)
        return TARN_OK;
    in->given = in->fresh;
    in->fresh += batch.length;
    tn_buf_reset(&in->kept);
    rc = make_needed(cx, in, &batch, &needed);
    /* Casts know only columns, not files. */
    if (rc == TARN_E_UNSUPPORTED && strncmp(tarn_cx_error(cx), "column", 6) == 0)
        tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(in->name));
    TN_TRY(rc);
    if (needed.length > 0)
        TN_TRY(tn_read_rows_refine(cx, &in->task, &needed, out, &in->kept));
done:
    tn_array_release(&batch);
    tn_array_release(&needed);
    return rc;
}

static int next_batch(tarn_cx *cx, input *in, struct ArrowArray *out)
{
    int rc = TARN_OK;

    for (;;) {
        bool ended = false;

        TN_TRY(tn_cx_check(cx));
        if (in->open.release == NULL) {
            if (in->next == in->files.count)
                break;
            TN_TRY(open_next(cx, in));
        }
        TN_TRY(next_of_open(cx, in, out, &ended));
        if (ended)
            close_open(in);
        if (out->release != NULL)
            break;
    }
done:
    return rc;
}

/* ---- the stream */

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    input *in = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(in->cx, &in->columns.result, out) == TARN_OK
               ? 0
               : tn_stream_fail(in->cx, in->error);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    input *in = self->private_data;

    memset(out, 0, sizeof *out);
    if (in->failed == 0 && next_batch(in->cx, in, out) != TARN_OK)
        in->failed = tn_stream_fail(in->cx, in->error);
    return in->failed;
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    input *in = self->private_data;

    return in->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    input_free(self->private_data);
    self->release = NULL;
}

void tn_input_origin(const struct ArrowArrayStream *rows, int64_t row, tn_input_place *out)
{
    const input *in = rows->private_data;
    int64_t at = row;

    assert(rows->get_next == stream_next);
    *out = (tn_input_place){.source = in->name};
    if (in->kept.len != 0) {
        int64_t left = row + 1;

        for (at = 0; at < (int64_t)in->kept.len; at++)
            if (in->kept.data[at] != 0 && --left == 0)
                break;
    }
    if (in->open.release != NULL && in->text)
        out->line = tn_exec_input_line(&in->open, at);
    else
        out->row = (uint64_t)(in->given + at + 1);
}

int tn_input_open(tarn_cx *cx, const tn_input_options *options, struct ArrowArrayStream *out)
{
    input *in = tn_calloc(cx, 1, sizeof *in);
    int rc = TARN_OK;

    if (in == NULL)
        return TARN_E_NOMEM;
    in->cx = cx;
    in->options = *options;
    if (options->path_count == 0)
        TN_FAIL(TARN_E_INVALID, "no input; name files, directories or globs, or - for standard "
                                "input");
    TN_TRY(tn_input_find(cx, options, &in->files));
    TN_TRY(join_schemas(cx, in));
    TN_TRY(bind(cx, in));
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .get_last_error = stream_error,
                                     .release = stream_release,
                                     .private_data = in};
    in = NULL;
done:
    input_free(in);
    return rc;
}
