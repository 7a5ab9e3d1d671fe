/* A writer: rows that come a few at a time, one commit per flush.
 *
 *   open -> push… -> flush (by rows, bytes, age, or when asked) -> … -> close
 *
 * I1: rows that were pushed are in the table, or pending, or the writer is closed: a flush that
 *     fails gives them back. I2: the table is looked at in flushes alone. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/gather.h"
#include "batch/stream.h"
#include "batch/unify.h"
#include "op/hudi_writer.h"

#define ROWS_MAX  1000000
#define BYTES_MAX (64ull << 20)

struct tarn_writer {
    tn_arena arena;
    tn_store *store;
    bool own_store;
    tn_str root;
    tarn_writer_options options;
    struct ArrowSchema given, schema; /* of what is pushed; the same without dictionaries */
    struct ArrowArray *batches;
    size_t count, cap;
    uint64_t rows, bytes;
    int64_t first_ms; /* when the first of them came */
};

void tarn_writer_close(tarn_writer *writer)
{
    if (writer == NULL)
        return;
    for (size_t i = 0; i < writer->count; i++)
        tn_array_release(&writer->batches[i]);
    free(writer->batches);
    tn_field_release(&writer->given);
    tn_field_release(&writer->schema);
    if (writer->own_store)
        tn_store_close(writer->store);
    tn_arena_clear(&writer->arena);
    free(writer);
}

int tn_hudi_writer_open(tarn_cx *cx, tn_store *store, tn_str root, const struct ArrowSchema *schema,
                        const tarn_writer_options *options, tarn_writer **out)
{
    static const tarn_writer_options plain = {0};
    tarn_writer *writer = tn_calloc(cx, 1, sizeof *writer);
    bool had = false;
    int rc = TARN_OK;

    assert(schema != NULL && out != NULL);
    if (writer == NULL)
        return TARN_E_NOMEM;
    writer->store = store;
    writer->root = root;
    TN_TRY(tn_arena_keep(cx, &writer->arena, &writer->root));
    TN_TRY(tn_hudi_writer_options(cx, &writer->arena, options != NULL ? options : &plain,
                                  &writer->options));
    if (writer->options.rows_max == 0)
        writer->options.rows_max = ROWS_MAX;
    if (writer->options.bytes_max == 0)
        writer->options.bytes_max = BYTES_MAX;
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0)
        TN_FAIL(TARN_E_INVALID, "the rows have no columns: their schema is no struct");
    TN_TRY(tn_field_copy(cx, schema, &writer->given));
    TN_TRY(tn_gather_plain(cx, schema, &writer->schema, &had));
    *out = writer;
    writer = NULL;
done:
    tarn_writer_close(writer);
    return rc;
}

int tarn_writer_open(tarn_cx *cx, const char *path, const struct ArrowSchema *schema,
                     const tarn_writer_options *options, tarn_writer **out)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tarn_writer *writer = NULL;
    tn_str root;
    int rc = TARN_OK;

    assert(path != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_hudi_writer_open(cx, store, root, schema, options, &writer));
    writer->own_store = true;
    store = NULL;
    *out = writer;
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

/* ---- the pending rows as a stream, which lends them */

typedef struct lender {
    tarn_cx *cx;
    const tarn_writer *writer;
    size_t next;
    char error[TN_ERROR_TEXT_MAX];
} lender;

static int lend_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    lender *l = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(l->cx, &l->writer->schema, out) == TARN_OK
               ? 0
               : tn_stream_fail(l->cx, l->error);
}

static void lent_release(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        tn_array_release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free((void *)array->buffers);
    array->release = NULL;
}

/* An array of its own over the buffers of another, which has no dictionary and outlives it. */
static int lend(tarn_cx *cx, const struct ArrowArray *from, struct ArrowArray *out)
{
    struct ArrowArray made = *from;
    int rc = TARN_OK;

    made.release = lent_release;
    made.private_data = NULL;
    made.n_children = 0;
    made.children = NULL;
    made.buffers = tn_calloc(cx, (size_t)from->n_buffers + 1, sizeof *made.buffers);
    if (made.buffers == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < from->n_buffers; i++)
        made.buffers[i] = from->buffers[i];
    made.children = tn_calloc(cx, (size_t)from->n_children + 1, sizeof *made.children);
    if (made.children == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < from->n_children; i++) {
        made.children[i] = tn_calloc(cx, 1, sizeof **made.children);
        if (made.children[i] == NULL)
            TN_TRY(TARN_E_NOMEM);
        made.n_children++;
        TN_TRY(lend(cx, from->children[i], made.children[i]));
    }
    *out = made;
    made.release = NULL;
done:
    if (made.release != NULL)
        lent_release(&made);
    return rc;
}

static int lend_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    lender *l = self->private_data;

    memset(out, 0, sizeof *out);
    if (l->next == l->writer->count)
        return 0;
    return lend(l->cx, &l->writer->batches[l->next++], out) == TARN_OK
               ? 0
               : tn_stream_fail(l->cx, l->error);
}

static const char *lend_error(struct ArrowArrayStream *self)
{
    lender *l = self->private_data;

    return l->error;
}

static void lend_end(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

/* ---- flushes */

static void forget_rows(tarn_writer *writer)
{
    for (size_t i = 0; i < writer->count; i++)
        tn_array_release(&writer->batches[i]);
    writer->count = 0;
    writer->rows = writer->bytes = 0;
}

int tarn_writer_flush(tarn_cx *cx, tarn_writer *writer, tarn_table_report **report)
{
    lender l = {.cx = cx, .writer = writer};
    struct ArrowArrayStream rows = {lend_schema, lend_next, lend_error, lend_end, &l};
    tarn_table_report *made = NULL;
    int rc = TARN_OK;

    if (report != NULL)
        *report = NULL;
    if (writer->count == 0)
        return TARN_OK;
    TN_TRY(tn_hudi_write_rows_into(cx, writer->store, writer->root, &rows, &writer->options.write,
                                   &made));
    forget_rows(writer);
    if (writer->options.on_flush != NULL)
        writer->options.on_flush(writer->options.flush_arg, made);
    if (report != NULL) {
        *report = made;
        made = NULL;
    }
done:
    tarn_table_report_close(made);
    return rc;
}

int tarn_writer_poll(tarn_cx *cx, tarn_writer *writer)
{
    const tarn_writer_options *o = &writer->options;
    bool old =
        o->age_ms > 0 && writer->count != 0 && tn_cx_now_ms(cx) - writer->first_ms >= o->age_ms;

    if (!old && writer->rows < o->rows_max && writer->bytes < o->bytes_max)
        return TARN_OK;
    return tarn_writer_flush(cx, writer, NULL);
}

int tarn_writer_push(tarn_cx *cx, tarn_writer *writer, struct ArrowArray *batch)
{
    int rc = TARN_OK;

    assert(batch != NULL);
    TN_TRY(tn_array_check(cx, &writer->given, batch));
    if (batch->length == 0)
        goto done;
    TN_TRY(tn_unify_cast(cx, &writer->given, &writer->schema, batch));
    TN_TRY(tn_grow(cx, &writer->batches, writer->count, &writer->cap, sizeof *writer->batches));
    if (writer->count == 0)
        writer->first_ms = tn_cx_now_ms(cx);
    writer->rows += (uint64_t)batch->length;
    writer->bytes += tn_gather_bytes(&writer->schema, batch);
    memset(&writer->batches[writer->count], 0, sizeof *writer->batches);
    tn_array_move(batch, &writer->batches[writer->count++]);
    rc = tarn_writer_poll(cx, writer);
done:
    tn_array_release(batch);
    return rc;
}

uint64_t tarn_writer_pending(const tarn_writer *writer)
{
    return writer->rows;
}
