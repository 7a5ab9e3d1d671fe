/* Reads files of change data (mode DATA_BEFORE_AFTER): blocks of records {op, ts_ms, before,
 * after}.
 *
 * I1: images have the columns of the table, whatever schema a block was written with.
 * I2: torn blocks are passed over, as in every log; blocks of other kinds have no place here. */
#include "exec/cdc_logged.h"

#include <stdlib.h>

#include "batch/field.h"
#include "codec/avro/avro_rows.h"
#include "codec/log/log.h"

enum { COLUMN_OP, COLUMN_BEFORE, COLUMN_AFTER, COLUMNS };

#define BATCH_ROWS 1024

struct tn_cdc_logged {
    tn_store *store;
    const tn_cdc_task *task;
    struct ArrowSchema columns; /* op, before, after */
    tn_cdc_image image;         /* of before and after */
    size_t file, block;         /* next ones */
    tn_log log;                 /* of file - 1, while it is open */
    tn_buf content;
    tn_buf where; /* of the block, for messages */
    tn_avro_schema schema;
    tn_avro_rows *rows; /* of the block at hand; NULL: none */
    tn_log_records records;
    struct ArrowArray batch;
    int64_t at; /* next row of the batch */
    tn_cdc_text texts[2];
};

static int make_columns(tarn_cx *cx, const struct ArrowSchema *columns, struct ArrowSchema *out)
{
    static const char *const names[] = {"op", "before", "after"};
    size_t count = (size_t)columns->n_children - TN_CDC_META_COLUMNS;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, "+s", TN_STR(""), false, COLUMNS));
    TN_TRY(tn_field_init(cx, out->children[0], "u", TN_STR("op"), true, 0));
    for (int c = COLUMN_BEFORE; c < COLUMNS; c++) {
        TN_TRY(tn_field_init(cx, out->children[c], "+s", tn_str_of(names[c]), true, count));
        for (size_t i = 0; i < count; i++)
            TN_TRY(tn_field_copy(cx, columns->children[TN_CDC_META_COLUMNS + i],
                                 out->children[c]->children[i]));
    }
done:
    return rc;
}

int tn_cdc_logged_open(tarn_cx *cx, tn_store *store, const tn_cdc_task *task, tn_cdc_logged **out)
{
    tn_cdc_logged *logged = tn_calloc(cx, 1, sizeof *logged);
    int rc = TARN_OK;

    if (logged == NULL)
        return TARN_E_NOMEM;
    logged->store = store;
    logged->task = task;
    TN_TRY(make_columns(cx, task->columns, &logged->columns));
    TN_TRY(tn_cdc_image_open(cx, logged->columns.children[COLUMN_AFTER], false, &logged->image));
    *out = logged;
    logged = NULL;
done:
    tn_cdc_logged_close(logged);
    return rc;
}

/* ---- blocks and batches */

static void end_block(tn_cdc_logged *l)
{
    tn_avro_rows_close(l->rows);
    l->rows = NULL;
    tn_avro_schema_clear(&l->schema);
    l->schema = (tn_avro_schema){0};
}

/* Whether records have both images. */
static bool has_images(const tn_avro_type *type)
{
    size_t found = 0;

    if (type->kind != TN_AVRO_RECORD)
        return false;
    for (size_t i = 0; i < type->field_count; i++)
        found +=
            tn_str_is(type->fields[i].name, "before") || tn_str_is(type->fields[i].name, "after");
    return found == 2;
}

static int begin_block(tarn_cx *cx, tn_cdc_logged *l, const tn_log_block *block)
{
    tn_str where;
    int rc = TARN_OK;

    tn_buf_reset(&l->where);
    tn_buf_str(&l->where, l->log.path);
    tn_buf_print(&l->where, ": block at byte %llu", (unsigned long long)block->offset);
    tn_buf_u8(&l->where, '\0');
    TN_TRY(tn_buf_check(cx, &l->where));
    where = (tn_str){(const char *)l->where.data, l->where.len - 1};
    if (block->kind != TN_LOG_CDC)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: it holds no change data", TN_STR_ARG(where));
    TN_TRY(tn_log_content(cx, &l->log, block, &l->content));
    TN_TRY(tn_log_records_open(cx, tn_buf_view(&l->content), where, &l->records));
    rc = tn_avro_schema_parse(cx, block->schema, where.ptr, &l->schema);
    if (rc == TARN_E_CORRUPT)
        rc = tn_fail_within(cx, TARN_E_CORRUPT, "its schema cannot be read");
    TN_TRY(rc);
    if (!has_images(l->schema.root))
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: its changes are without images, though the table logs both "
                "(hoodie.table.cdc.supplemental.logging.mode): was the mode changed?",
                TN_STR_ARG(where));
    TN_TRY(tn_avro_rows_open(cx, l->schema.root, &l->columns, where, &l->rows));
done:
    return rc;
}

/* To the next block with change data; *more false behind the last file. */
static int next_block(tarn_cx *cx, tn_cdc_logged *l, bool *more)
{
    int rc = TARN_OK;

    *more = true;
    end_block(l);
    for (;;) {
        while (l->block < l->log.block_count) {
            const tn_log_block *block = &l->log.blocks[l->block++];

            if (block->kind != TN_LOG_CORRUPT)
                return begin_block(cx, l, block);
        }
        tn_log_close(&l->log);
        if (l->file == l->task->logged_count)
            break;
        l->block = 0;
        TN_TRY(tn_log_open(cx, l->store, l->task->logged[l->file], &l->log));
        l->file++;
    }
    *more = false;
done:
    return rc;
}

/* Fills the batch with records of the block at hand; none: the block is through. */
static int next_batch(tarn_cx *cx, tn_cdc_logged *l)
{
    bool more = true;
    tn_str datum;
    int rc = TARN_OK;

    tn_array_release(&l->batch);
    l->at = 0;
    TN_TRY(tn_cx_check(cx));
    while (tn_avro_rows_count(l->rows) < BATCH_ROWS) {
        TN_TRY(tn_log_records_next(cx, &l->records, &more, &datum));
        if (!more)
            break;
        rc = tn_avro_rows_add(cx, l->rows, datum);
        if (rc == TARN_E_LIMIT && tn_avro_rows_count(l->rows) > 0) {
            /* The columns are full: this record comes again. */
            l->records.bytes = (tn_str){datum.ptr - 4, l->records.bytes.len + datum.len + 4};
            l->records.done--;
            tn_cx_forget(cx);
            rc = TARN_OK;
            break;
        }
        TN_TRY(rc);
    }
    TN_TRY(tn_avro_rows_take(cx, l->rows, &l->batch));
done:
    return rc;
}

/* ---- rows */

static int add_row(tarn_cx *cx, tn_cdc_logged *l, tn_cdc_out *out)
{
    const struct ArrowArray *ops = l->batch.children[COLUMN_OP];
    const tn_type utf8 = {.kind = TN_TYPE_UTF8};
    const tn_cdc_text *images[2] = {NULL, NULL};
    int64_t at = l->at++;
    tn_str op = {NULL, 0};
    int rc = TARN_OK;

    if (!tn_rows_is_null(ops, ops->offset + at))
        op = tn_rows_bytes(&utf8, ops, ops->offset + at);
    for (int i = 0; i < 2; i++) {
        const struct ArrowArray *image = l->batch.children[COLUMN_BEFORE + i];

        if (tn_rows_is_null(image, image->offset + at))
            continue;
        TN_TRY(tn_cdc_image_print(cx, &l->image, image, at, &l->texts[i]));
        images[i] = &l->texts[i];
    }
    rc = tn_cdc_out_add(cx, out, op, images[0], images[1]);
    if (rc == TARN_E_CORRUPT)
        rc = tn_fail_within(cx, rc, "%s", (const char *)l->where.data);
done:
    return rc;
}

int tn_cdc_logged_next(tarn_cx *cx, tn_cdc_logged *logged, tn_cdc_out *out, bool *more)
{
    int rc = TARN_OK;

    *more = true;
    while (!tn_cdc_out_full(out)) {
        if (logged->batch.release != NULL && logged->at < logged->batch.length) {
            TN_TRY(add_row(cx, logged, out));
            continue;
        }
        if (logged->rows != NULL)
            TN_TRY(next_batch(cx, logged));
        if (logged->rows != NULL && logged->batch.length > 0)
            continue;
        TN_TRY(next_block(cx, logged, more));
        if (!*more)
            break;
    }
done:
    return rc;
}

uint64_t tn_cdc_logged_files(const tn_cdc_logged *logged)
{
    return logged->file;
}

void tn_cdc_logged_close(tn_cdc_logged *logged)
{
    if (logged == NULL)
        return;
    end_block(logged);
    tn_array_release(&logged->batch);
    tn_log_close(&logged->log);
    tn_buf_clear(&logged->content);
    tn_buf_clear(&logged->where);
    tn_cdc_image_clear(&logged->image);
    tn_field_release(&logged->columns);
    for (int i = 0; i < 2; i++)
        tn_cdc_text_clear(&logged->texts[i]);
    free(logged);
}
