/* Avro records into Arrow columns:
 *
 *   writer's schema ─┐ compile            datum ─┐ read                 take
 *   wanted columns ──┴────────> steps ───────────┴────> columns of the ─────> cast ─> rows
 *                                                       writer's types
 *
 * Values are kept as the writer has them and cast a column at a time when they are handed out, by
 * the same casts that base files take (batch/widen.h).
 *
 * I1: after every call each column of the root holds as many values as there are rows.
 * I2: no memory is allocated for a record: columns grow by a half at least.
 * I3: no count or length is believed before its items would fit into the bytes left; items that
 *     take no bytes are bounded for a datum (TN_AVRO_EMPTY_MAX) and between two takes
 *     (TN_AVRO_ITEMS_MAX). */
#include "codec/avro/avro_rows_parts.h"

#include <assert.h>
#include <stdlib.h>

#include "batch/widen.h"

#define ROWS_FIRST 64 /* room that the first record makes */

int tn_avro_rows_open(tarn_cx *cx, const tn_avro_type *writer, const struct ArrowSchema *columns,
                      tn_str where, tn_avro_rows **out)
{
    tn_avro_rows *rows = tn_calloc(cx, 1, sizeof *rows);
    int rc = TARN_OK;

    if (rows == NULL)
        return TARN_E_NOMEM;
    rows->where = where;
    TN_TRY(tn_arena_keep(cx, &rows->arena, &rows->where));
    TN_TRY(tn_field_copy(cx, columns, &rows->wanted));
    TN_TRY(tn_avro_rows_compile(cx, rows, writer));
    rows->same = tn_unify_same(&rows->natural, &rows->wanted);
    *out = rows;
    rows = NULL;
done:
    if (rc != TARN_OK && where.len != 0)
        tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(where));
    tn_avro_rows_close(rows);
    return rc;
}

void tn_avro_rows_close(tn_avro_rows *rows)
{
    if (rows == NULL)
        return;
    tn_avro_column_clear(&rows->top);
    tn_field_release(&rows->natural);
    tn_field_release(&rows->wanted);
    tn_arena_clear(&rows->arena);
    free(rows);
}

int tn_avro_rows_add(tarn_cx *cx, tn_avro_rows *rows, tn_str datum)
{
    int64_t before = rows->top.length, room = before == 0 ? rows->hint : before;
    uint64_t empty_before = rows->empty_all;
    int rc = TARN_OK;

    if (before == rows->top.room)
        TN_TRY(tn_avro_column_reserve(cx, &rows->top, room < ROWS_FIRST ? ROWS_FIRST : room));
    rows->cx = cx;
    rows->start = rows->at = (const uint8_t *)datum.ptr;
    rows->end = rows->at + datum.len;
    rows->empty = 0;
    TN_TRY(tn_avro_rows_read(rows));
    if (rows->at != rows->end)
        TN_FAIL(TARN_E_CORRUPT, "Avro: byte %zu: the record ends here, and %zu bytes are left",
                (size_t)(rows->at - rows->start), (size_t)(rows->end - rows->at));
done:
    if (rc != TARN_OK) {
        tn_avro_column_cut(&rows->top, before);
        rows->empty_all = empty_before;
        if (rows->where.len != 0)
            tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(rows->where));
    }
    return rc;
}

int64_t tn_avro_rows_count(const tn_avro_rows *rows)
{
    return rows->top.length;
}

uint64_t tn_avro_rows_bytes(const tn_avro_rows *rows)
{
    return tn_avro_column_bytes(&rows->top);
}

int tn_avro_rows_take(tarn_cx *cx, tn_avro_rows *rows, struct ArrowArray *out)
{
    struct ArrowArray array = {0};
    int rc = TARN_OK;

    rows->hint = rows->top.length;
    TN_TRY(tn_avro_column_take(cx, &rows->top, &rows->natural, &array));
    rows->empty_all = rows->idle = 0;
    if (!rows->same)
        TN_TRY(tn_widen_cast(cx, &rows->natural, &rows->wanted, &array));
    tn_array_move(&array, out);
done:
    if (rc != TARN_OK && rows->where.len != 0)
        tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(rows->where));
    tn_array_release(&array);
    return rc;
}
