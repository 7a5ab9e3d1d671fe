/* Rows of an input as rows of the table's files: fitted, with keys and paths, meta columns in
 * front.
 *
 * I1: the record key and the partition path are filled here, the other meta columns are nulls: they
 *     follow from the file that a row goes to.
 * I2: a row that lacks columns of the table never replaces a stored one, unless that was asked for:
 *     what it lacks would be lost. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch/gather.h"
#include "batch/ordering.h"
#include "batch/stream.h"
#include "op/hudi_op.h"
#include "table/hudi_stored.h"

#define META_COUNT 5
#define META_KEY   2
#define META_PATH  3

/* ---- binding */

static tn_str top_of(tn_str name)
{
    return (tn_str){name.ptr, tn_str_find(name, '.')};
}

/* The columns that a delete is made of. */
static int wanted_columns(tarn_cx *cx, tn_hudi_write *w, tn_hudi_fit_options *options)
{
    const tn_hudi_config *c = w->config;
    size_t count = 0;
    tn_str *names =
        tn_arena_array(cx, &w->arena, c->key_count + c->partition_count + 1, sizeof *names);

    if (names == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < c->key_count; i++)
        names[count++] = top_of(c->keys[i]);
    for (size_t i = 0; i < c->partition_count; i++)
        names[count++] = top_of(c->partitions[i]);
    options->wanted = names;
    options->wanted_count = count;
    return TARN_OK;
}

static bool is_global(const tn_hudi_write *w)
{
    return w->options.index == TN_INDEX_GLOBAL_SIMPLE || w->options.index == TN_INDEX_GLOBAL_BLOOM;
}

/* A delete has the columns that say which row and where; else it would silently find nothing. */
static int check_deletes(tarn_cx *cx, tn_hudi_write *w, const tn_hudi_fit_options *options)
{
    const tn_hudi_config *c = w->config;

    for (size_t i = 0; i < options->wanted_count; i++) {
        int64_t at = tn_unify_child(&w->fit.to, options->wanted[i]);

        if (i >= c->key_count && is_global(w))
            break;
        if (at < 0 || w->fit.source[at] < 0 || !tn_hudi_fit_seen(options->seen, options->wanted[i]))
            return tn_fail(cx, TARN_E_DATA,
                           "column \"%.*s\": the rows lack it, and %s of the table is made of it; "
                           "a delete needs the key%s",
                           TN_STR_ARG(options->wanted[i]),
                           i < c->key_count ? "the key" : "the partition path",
                           i < c->key_count ? ""
                                            : " and the partition columns, or a global index "
                                              "(--set hoodie.index.type=GLOBAL_SIMPLE)");
    }
    return TARN_OK;
}

/* Rows without any column of the key are a wrong input, told before the first row. Of several
 * columns some may be missing: Hudi's keys have a sign for a null. */
static int check_keys(tarn_cx *cx, const tn_hudi_write *w, const tn_hudi_fit_options *options)
{
    const tn_hudi_config *c = w->config;

    for (size_t i = 0; i < c->key_count; i++) {
        tn_str name = top_of(c->keys[i]);
        int64_t at = tn_unify_child(&w->fit.to, name);

        if (at < 0 || (w->fit.source[at] >= 0 && tn_hudi_fit_seen(options->seen, name)))
            return TARN_OK;
    }
    if (c->key_count == 0)
        return TARN_OK;
    return tn_fail(cx, TARN_E_DATA,
                   "column \"%.*s\": the rows lack it, and the key of the table is made of it",
                   TN_STR_ARG(top_of(c->keys[0])));
}

/* The column of a dotted name; NULL: there is none. */
static const struct ArrowSchema *column_at(const struct ArrowSchema *schema, tn_str name)
{
    for (;;) {
        tn_str level = top_of(name);
        int64_t at = tn_unify_child(schema, level);

        if (at < 0)
            return NULL;
        schema = schema->children[at];
        if (level.len == name.len)
            return schema;
        name = tn_str_from(name, level.len + 1);
    }
}

static bool is_fraction(const struct ArrowSchema *column)
{
    return strcmp(column->format, "f") == 0 || strcmp(column->format, "g") == 0;
}

/* Columns that keys and paths are spelled from do not become float or double: 1 would be "1.0" from
 * then on, the key of another row, and 1.1 as float has other digits than as double. */
static int check_spelled(tarn_cx *cx, const tn_hudi_write *w)
{
    const tn_hudi_config *c = w->config;

    for (size_t i = 0; w->schema_known && i < c->key_count + c->partition_count; i++) {
        bool key = i < c->key_count;
        tn_str name = key ? c->keys[i] : c->partitions[i - c->key_count];
        const struct ArrowSchema *was = column_at(&w->schema, name);
        const struct ArrowSchema *is = column_at(&w->fit.to, name);

        if (was != NULL && is != NULL && is_fraction(is) && strcmp(was->format, is->format) != 0)
            return tn_fail(cx, TARN_E_UNSUPPORTED,
                           "column \"%.*s\": %s of the table is made of it, and would be another "
                           "text for the same number if it became %s as in the input; nothing was "
                           "written: cast it in the input",
                           TN_STR_ARG(name), key ? "the record key" : "the partition path",
                           is->format[0] == 'f' ? "float" : "double");
    }
    return TARN_OK;
}

static int bind_fit(tarn_cx *cx, tn_hudi_write *w, const struct ArrowSchema *schema)
{
    tn_hudi_fit_options options = {.table = w->schema_known ? &w->schema : NULL,
                                   .table_name = w->config->name,
                                   .seen = w->seen.count != 0 ? &w->seen : NULL,
                                   .deletes = w->all_deletes && w->schema_known};
    int rc = TARN_OK;

    if (options.deletes)
        TN_TRY(wanted_columns(cx, w, &options));
    TN_TRY(tn_hudi_fit_open(cx, schema, &options, &w->fit));
    if (options.deletes)
        TN_TRY(check_deletes(cx, w, &options));
    else if (w->schema_known)
        TN_TRY(check_keys(cx, w, &options));
    TN_TRY(check_spelled(cx, w));
done:
    return rc;
}

/* Which way keys of one field are spelled is asked of the table, never guessed. */
static int bind_key(tarn_cx *cx, tn_hudi_write *w)
{
    const tn_hudi_config *c = w->config;
    tn_record_key_options *options = &w->key_options;
    int rc = TARN_OK;

    tn_hudi_config_keys(c, options);
    if (c->keygen == TN_KEYGEN_COMPLEX && c->key_count == 1) {
        if (c->version < 9)
            TN_TRY(tn_hudi_open_slices(cx, w));
        TN_TRY(tn_hudi_keys_named(cx, w->store, c, &w->slices, w->options.named_keys == 0,
                                  &options->single_named));
    }
    options->consistent_times = w->options.consistent_times == 1;
    if (w->options.delete_field.len != 0) {
        options->delete_field = w->options.delete_field;
        options->delete_marker = w->options.delete_marker;
    }
    if (w->all_deletes)
        options->delete_field = (tn_str){0};
    TN_TRY(tn_record_key_open(cx, options, &w->fit.to, &w->key));
done:
    return rc;
}

/* A key of one field may be its bare text; generators differ in that, and the rows will tell. */
static void bind_key_field(tn_hudi_write *w)
{
    int64_t at = w->config->key_count == 1 ? tn_unify_child(&w->fit.to, w->config->keys[0]) : -1;

    w->key_field = at >= 0 ? (uint32_t)(META_COUNT + at) : 0;
}

static int bind_ordering(tarn_cx *cx, tn_hudi_write *w)
{
    const tn_hudi_config *c = w->config;
    int rc = TARN_OK;

    w->ordering = tn_arena_array(cx, &w->arena, c->ordering_count + 1, sizeof *w->ordering);
    if (w->ordering == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < c->ordering_count && !w->all_deletes; i++) {
        int64_t at = tn_unify_child(&w->fit.to, c->ordering[i]);

        if (at >= 0)
            w->ordering[w->ordering_count++] = (uint32_t)(META_COUNT + at);
        else if (w->merges || !w->exists)
            TN_FAIL(TARN_E_INVALID,
                    "column \"%.*s\": the table orders rows of one key by it, and neither the "
                    "table nor the input has it at the top",
                    TN_STR_ARG(c->ordering[i]));
    }
done:
    return rc;
}

/* A table of which no row could be ordered is not made. */
static int check_ordering(tarn_cx *cx, const tn_hudi_write *w)
{
    tn_ordering *ordering = NULL;
    int rc = TARN_OK;

    if (w->ordering_count == 0 || (w->exists && !w->merges))
        return TARN_OK;
    TN_TRY(tn_ordering_open(cx, &w->full, w->ordering, w->ordering_count, &ordering));
done:
    tn_ordering_close(ordering);
    return rc;
}

int tn_hudi_rows_bind(tarn_cx *cx, tn_hudi_write *w, const struct ArrowSchema *schema)
{
    int rc = TARN_OK;

    TN_TRY(bind_fit(cx, w, schema));
    TN_TRY(bind_key(cx, w));
    bind_key_field(w);
    TN_TRY(bind_ordering(cx, w));
    TN_TRY(tn_hudi_schema_meta(cx, &w->fit.to, &w->full));
    assert(w->full.n_children == w->fit.to.n_children + META_COUNT);
    TN_TRY(check_ordering(cx, w));
    TN_TRY(tn_hudi_stored_avro(cx, &w->fit.to, w->config->name, false, &w->avro));
    TN_TRY(tn_hudi_stored_avro(cx, &w->fit.to, w->config->name, true, &w->avro_full));
    TN_TRY(tn_buf_check(cx, &w->avro));
    TN_TRY(tn_buf_check(cx, &w->avro_full));
    tn_hudi_warn_columns(w);
done:
    return rc;
}

/* ---- rows */

static int make_keys(tarn_cx *cx, const tn_record_keys *keys, int64_t rows, struct ArrowArray *out)
{
    size_t bytes = (size_t)(keys->offsets[rows] - keys->offsets[0]);
    int32_t *offsets;
    char *data;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, rows, 3, 0));
    TN_TRY(tn_array_make_room(cx, out, 1, 4 * ((size_t)rows + 1), &offsets));
    TN_TRY(tn_array_make_room(cx, out, 2, bytes, &data));
    for (int64_t i = 0; i <= rows; i++)
        offsets[i] = keys->offsets[i] - keys->offsets[0];
    if (bytes != 0)
        memcpy(data, keys->data + keys->offsets[0], bytes);
done:
    return rc;
}

static int make_paths(tarn_cx *cx, const tn_hudi_write *w, const tn_record_keys *keys, int64_t rows,
                      struct ArrowArray *out)
{
    int64_t bytes = 0;
    int32_t *offsets;
    char *data;
    int rc = TARN_OK;

    for (int64_t i = 0; i < rows; i++)
        bytes += (int64_t)tn_record_key_path(w->key, keys->partitions[i]).len;
    if (bytes > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT, "the partition paths of one batch take more than 2 GiB; give smaller "
                              "batches");
    TN_TRY(tn_array_init(cx, out, rows, 3, 0));
    TN_TRY(tn_array_make_room(cx, out, 1, 4 * ((size_t)rows + 1), &offsets));
    TN_TRY(tn_array_make_room(cx, out, 2, (size_t)bytes, &data));
    offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        tn_str path = tn_record_key_path(w->key, keys->partitions[i]);

        if (path.len != 0)
            memcpy(data + offsets[i], path.ptr, path.len);
        offsets[i + 1] = offsets[i] + (int32_t)path.len;
    }
done:
    return rc;
}

/* Meta columns in front of those of `batch`, which are moved. */
static int add_meta(tarn_cx *cx, const tn_hudi_write *w, const tn_record_keys *keys,
                    struct ArrowArray *batch, struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    int64_t rows = batch->length;
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &made, rows, 1, (size_t)w->full.n_children));
    for (size_t i = 0; i < META_COUNT; i++)
        if (i != META_KEY && i != META_PATH)
            TN_TRY(tn_rows_nulls(cx, w->full.children[i], rows, made.children[i]));
    TN_TRY(make_keys(cx, keys, rows, made.children[META_KEY]));
    TN_TRY(make_paths(cx, w, keys, rows, made.children[META_PATH]));
    for (int64_t i = 0; i < batch->n_children; i++)
        tn_array_move(batch->children[i], made.children[META_COUNT + i]);
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

/* I2. */
static int check_whole(tarn_cx *cx, const tn_hudi_write *w, const tn_record_keys *keys,
                       int64_t first_row, int64_t rows)
{
    if (!w->fit.partial || w->op != TARN_OP_UPSERT || w->options.null_missing == 1 ||
        w->options.reconcile == 1)
        return TARN_OK;
    for (int64_t i = 0; i < rows; i++)
        if (keys->deletes == NULL || keys->deletes[i] == 0)
            return tn_fail(cx, TARN_E_DATA,
                           "row %" PRId64
                           " of the input: the rows lack columns of the table (%.*s), "
                           "and stored values would be lost; give them, or let them become null "
                           "with --set hoodie.write.set.null.for.missing.columns=true",
                           first_row + i + 1, TN_STR_ARG(tn_buf_view(&w->fit.missing)));
    return TARN_OK;
}

static int all_deleted(tarn_cx *cx, tn_hudi_write *w, int64_t rows, tn_record_keys *keys)
{
    if (rows > w->ones_count) {
        uint8_t *ones = tn_realloc(cx, w->ones, (size_t)rows, 1);

        if (ones == NULL)
            return TARN_E_NOMEM;
        memset(ones, 1, (size_t)rows);
        w->ones = ones;
        w->ones_count = rows;
    }
    keys->deletes = w->ones;
    return TARN_OK;
}

/* The next batch with rows that have keys and places; *batch stays released at the end. */
static int read_batch(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows,
                      struct ArrowArray *batch, tn_record_keys *keys, int64_t *first_row)
{
    int rc = TARN_OK;

    do {
        tn_array_release(batch);
        TN_TRY(tn_stream_next(cx, rows, batch));
        if (batch->release == NULL)
            break;
        if (w->foreign_rows)
            TN_TRY(tn_array_check(cx, &w->fit.from, batch));
        *first_row = w->fit.rows;
        TN_TRY(tn_hudi_fit_batch(cx, &w->fit, batch));
        rc = tn_record_key_batch(cx, w->key, batch, *first_row + 1, keys);
        if (rc == TARN_E_DATA && !w->foreign_rows)
            rc = tn_hudi_bad_rows(cx, w, rows, batch, *first_row, keys);
        TN_TRY(rc);
    } while (batch->length == 0);
done:
    return rc;
}

static int read_rows(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows,
                     struct ArrowArray *out, tn_record_keys *keys)
{
    struct ArrowArray batch = {0};
    int64_t first_row = 0;
    int rc = TARN_OK;

    TN_TRY(read_batch(cx, w, rows, &batch, keys, &first_row));
    if (batch.release == NULL)
        goto done;
    if (w->all_deletes)
        TN_TRY(all_deleted(cx, w, batch.length, keys));
    TN_TRY(check_whole(cx, w, keys, first_row, batch.length));
    TN_TRY(add_meta(cx, w, keys, &batch, out));
    w->log->report.rows = w->fit.rows - w->bad_rows;
    if (w->given->on_progress != NULL)
        w->given->on_progress(w->given->arg, (uint64_t)w->fit.rows);
done:
    tn_array_release(&batch);
    return rc;
}

int tn_hudi_rows_next(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows,
                      struct ArrowArray *out, tn_record_keys *keys)
{
    int rc = TARN_OK;

    if (w->first.release != NULL) {
        tn_array_move(&w->first, out);
        *keys = w->first_keys;
        return TARN_OK;
    }
    if (w->ended)
        return TARN_OK;
    TN_TRY(read_rows(cx, w, rows, out, keys));
    w->ended = out->release == NULL;
done:
    return rc;
}

int tn_hudi_rows_ahead(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    int rc = TARN_OK;

    assert(w->first.release == NULL && !w->ended);
    TN_TRY(read_rows(cx, w, rows, &w->first, &w->first_keys));
    w->ended = w->first.release == NULL;
done:
    return rc;
}

/* ---- as a stream */

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    tn_hudi_rows_source *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(s->cx, &s->w->full, out) == TARN_OK ? 0 : tn_stream_fail(s->cx, s->error);
}

/* Rows without deletes; *out stays released when none is left. */
static int keep_rows(tarn_cx *cx, tn_hudi_write *w, const tn_record_keys *keys,
                     struct ArrowArray *batch, struct ArrowArray *out)
{
    int64_t kept = 0;
    uint8_t *keep;
    int rc = TARN_OK;

    for (int64_t i = 0; keys->deletes != NULL && i < batch->length; i++)
        kept += keys->deletes[i] == 0;
    if (keys->deletes == NULL || kept == batch->length) {
        tn_array_move(batch, out);
        return TARN_OK;
    }
    w->log->report.not_found += batch->length - kept;
    if (kept == 0)
        return TARN_OK;
    keep = tn_alloc(cx, (size_t)batch->length);
    if (keep == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < batch->length; i++)
        keep[i] = keys->deletes[i] == 0;
    rc = tn_rows_filter(cx, &w->full, batch, keep, kept, out);
    free(keep);
    return rc;
}

static int next_kept(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows,
                     struct ArrowArray *out)
{
    struct ArrowArray batch = {0};
    tn_record_keys keys = {0};
    int rc = TARN_OK;

    do {
        tn_array_release(&batch);
        TN_TRY(tn_hudi_rows_next(cx, w, rows, &batch, &keys));
        if (batch.release != NULL)
            TN_TRY(keep_rows(cx, w, &keys, &batch, out));
    } while (out->release == NULL && !w->ended);
done:
    tn_array_release(&batch);
    return rc;
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    tn_hudi_rows_source *s = self->private_data;

    memset(out, 0, sizeof *out);
    if (s->failed == 0 && next_kept(s->cx, s->w, s->rows, out) != TARN_OK) {
        tn_array_release(out);
        s->failed = tn_stream_fail(s->cx, s->error);
    }
    return s->failed;
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    tn_hudi_rows_source *s = self->private_data;

    return s->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

void tn_hudi_rows_stream(tn_hudi_rows_source *source, struct ArrowArrayStream *out)
{
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .get_last_error = stream_error,
                                     .release = stream_release,
                                     .private_data = source};
}
