/* The content of a DELETE block:
 *
 *   0  4  version of the content: 3
 *   4  4  length of the rest
 *   8     one raw Avro datum: HoodieDeleteRecordList, an array of {recordKey: [null, string],
 *         partitionPath: [null, string], orderingVal: [null, 12 wrappers]}
 *
 * A wrapper is a record of one field, so its datum is the value alone.
 *
 *   00 00 00 03 | 00 00 00 0f | 02 | 02 0e "TXN-002" | 02 00 | 04 00 | 00
 *
 * I1: after the datum nothing is left. */
#include "codec/log/log.h"

#include <assert.h>

#include "base/cursor.h"

#define RECORD_BYTES_MIN 3 /* three unions, all null */

typedef struct reader {
    tarn_cx *cx;
    tn_str where;
    tn_arena *arena;
    tn_cursor in;
    size_t cap;
} reader;

static int damaged(reader *r, const char *text)
{
    return tn_fail(r->cx, TARN_E_CORRUPT, "%.*s: delete block, byte %zu: %s", TN_STR_ARG(r->where),
                   r->in.at, text);
}

static int64_t take_long(reader *r)
{
    return tn_zigzag(tn_cursor_varint(&r->in));
}

static tn_str take_bytes(reader *r)
{
    int64_t len = take_long(r);

    if (len < 0 || (uint64_t)len > tn_cursor_left(&r->in))
        r->in.failed = true;
    return r->in.failed ? (tn_str){0} : tn_cursor_take(&r->in, (size_t)len);
}

/* A union of null and a string; null is the empty text without a place. */
static int take_text(reader *r, tn_str *out)
{
    int64_t branch = take_long(r);

    *out = (tn_str){0};
    if (branch != 0 && branch != 1)
        return damaged(r, "a text that is neither null nor a string");
    if (branch == 1)
        *out = take_bytes(r);
    return r->in.failed ? damaged(r, "a text beyond the end of the block") : TARN_OK;
}

/* How many items follow in an array: 0 at its end. `least` bytes each, all in what is left. */
static int take_count(reader *r, size_t least, size_t *out)
{
    int64_t count = take_long(r), bytes;

    if (count < 0) {
        bytes = take_long(r);
        if (bytes < 0 || (uint64_t)bytes > tn_cursor_left(&r->in))
            return damaged(r, "a part of an array beyond the end of the block");
        count = count == INT64_MIN ? INT64_MAX : -count;
    }
    if (r->in.failed || (uint64_t)count > tn_cursor_left(&r->in) / least)
        return damaged(r, "an array with more items than bytes");
    *out = (size_t)count;
    return TARN_OK;
}

static bool take_scalar(reader *r, tn_log_order *out)
{
    uint32_t word;
    uint64_t wide;
    float number;

    switch (out->kind) {
    case TN_LOG_ORDER_NULL:
        return true;
    case TN_LOG_ORDER_BOOLEAN:
        out->i = tn_cursor_u8(&r->in);
        return out->i <= 1;
    case TN_LOG_ORDER_INT:
    case TN_LOG_ORDER_DATE:
    case TN_LOG_ORDER_LOCAL_DATE:
        out->i = take_long(r);
        return out->i >= INT32_MIN && out->i <= INT32_MAX;
    case TN_LOG_ORDER_LONG:
    case TN_LOG_ORDER_TIME:
    case TN_LOG_ORDER_TIMESTAMP:
        out->i = take_long(r);
        return true;
    case TN_LOG_ORDER_FLOAT:
        word = tn_cursor_u32le(&r->in);
        memcpy(&number, &word, 4);
        out->d = number;
        return true;
    case TN_LOG_ORDER_DOUBLE:
        wide = tn_cursor_u64le(&r->in);
        memcpy(&out->d, &wide, 8);
        return true;
    case TN_LOG_ORDER_BYTES:
    case TN_LOG_ORDER_STRING:
    case TN_LOG_ORDER_DECIMAL:
        out->bytes = take_bytes(r);
        return true;
    case TN_LOG_ORDER_LIST:
        break;
    }
    return false;
}

static int take_order(reader *r, bool nested, tn_log_order *out);

static int take_list(reader *r, tn_log_order *out)
{
    tn_log_order *items = NULL;
    size_t count = 0, cap = 0, more;
    int64_t branch = take_long(r);
    int rc = TARN_OK;

    if (branch != 0 && branch != 1)
        TN_TRY(damaged(r, "a list of ordering values that is neither null nor an array"));
    for (more = branch == 1; more > 0;) {
        TN_TRY(take_count(r, 1, &more));
        if (more > TN_LOG_ORDER_ITEMS_MAX - count)
            TN_TRY(damaged(r, "more than 1,000 ordering values"));
        for (size_t i = 0; i < more; i++) {
            TN_TRY(tn_arena_grow(r->cx, r->arena, &items, count, &cap, sizeof *items));
            TN_TRY(take_order(r, true, &items[count]));
            count++;
        }
    }
    out->items = items;
    out->item_count = count;
done:
    return rc;
}

/* Branch 12 is the list of ordering values in a record, and the local date within such a list. */
static int take_order(reader *r, bool nested, tn_log_order *out)
{
    int64_t branch = take_long(r);
    int rc = TARN_OK;

    *out = (tn_log_order){0};
    if (r->in.failed || branch < 0 || branch > 12)
        TN_TRY(damaged(r, "an ordering value of a kind that Hudi does not have"));
    out->kind = branch < 12 ? (enum tn_log_order_kind)branch
                : nested    ? TN_LOG_ORDER_LOCAL_DATE
                            : TN_LOG_ORDER_LIST;
    if (out->kind == TN_LOG_ORDER_LIST)
        TN_TRY(take_list(r, out));
    else if (!take_scalar(r, out) || r->in.failed)
        TN_TRY(damaged(r, "an ordering value that is none"));
done:
    return rc;
}

/* Java writes all records as one part of the array: the first room is exact. */
static int make_room(reader *r, size_t more, tn_log_deletes *out)
{
    size_t cap = out->count + more > 2 * r->cap ? out->count + more : 2 * r->cap;
    tn_log_deletes room = {.count = out->count};

    if (out->count + more <= r->cap)
        return TARN_OK;
    room.keys = tn_arena_array(r->cx, r->arena, cap, sizeof *room.keys);
    room.partitions = tn_arena_array(r->cx, r->arena, cap, sizeof *room.partitions);
    room.orders = tn_arena_array(r->cx, r->arena, cap, sizeof *room.orders);
    if (room.keys == NULL || room.partitions == NULL || room.orders == NULL)
        return TARN_E_NOMEM;
    if (out->count > 0) {
        memcpy(room.keys, out->keys, out->count * sizeof *room.keys);
        memcpy(room.partitions, out->partitions, out->count * sizeof *room.partitions);
        memcpy(room.orders, out->orders, out->count * sizeof *room.orders);
    }
    r->cap = cap;
    *out = room;
    return TARN_OK;
}

static int take_records(reader *r, tn_log_deletes *out)
{
    size_t more;
    int rc = TARN_OK;

    do {
        TN_TRY(take_count(r, RECORD_BYTES_MIN, &more));
        if (more > TN_LOG_DELETES_MAX - out->count)
            TN_TRY(tn_fail(r->cx, TARN_E_LIMIT, "%.*s: more than %u deletes in one block",
                           TN_STR_ARG(r->where), TN_LOG_DELETES_MAX));
        TN_TRY(make_room(r, more, out));
        for (size_t i = 0; i < more; i++) {
            TN_TRY(take_text(r, &out->keys[out->count]));
            TN_TRY(take_text(r, &out->partitions[out->count]));
            TN_TRY(take_order(r, false, &out->orders[out->count]));
            out->count++;
        }
    } while (more > 0);
    if (!tn_cursor_ended(&r->in))
        TN_TRY(damaged(r, "bytes behind the last record"));
done:
    return rc;
}

int tn_log_deletes_parse(tarn_cx *cx, tn_str content, tn_str where, tn_arena *arena,
                         tn_log_deletes *out)
{
    reader r = {cx, where, arena, tn_cursor_of(content.ptr, content.len), 0};
    tn_log_deletes deletes = {0};
    uint32_t version = tn_cursor_u32be(&r.in), len = tn_cursor_u32be(&r.in);
    int rc = TARN_OK;

    assert(out != NULL);
    if (r.in.failed)
        TN_TRY(damaged(&r, "it is shorter than its own length"));
    if (version == 1 || version == 2)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: deletes in the form of version %u, Java's own serialization, of a Hudi "
                "before 0.14; compact the table with Hudi, then read it again",
                TN_STR_ARG(where), version);
    if (version != 3)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: deletes in the form of version %u; tarn reads version 3",
                TN_STR_ARG(where), version);
    if (len != tn_cursor_left(&r.in))
        TN_TRY(damaged(&r, "its length is not that of its datum"));
    TN_TRY(take_records(&r, &deletes));
    *out = deletes;
done:
    return rc;
}

bool tn_log_order_always(const tn_log_order *order)
{
    return order->kind == TN_LOG_ORDER_NULL || (order->kind == TN_LOG_ORDER_INT && order->i == 0);
}
