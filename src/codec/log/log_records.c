/* Records of an AVRO or CDC block:
 *
 *   0  4  version of the content: 3; readers of Hudi look past it, and so does this one
 *   4  4  the records
 *   8     of each: an int32, its length; one raw Avro datum
 *
 *   00 00 00 03 | 00 00 00 01 | 00 00 00 02 | 02 54
 *
 * I1: after the last record nothing is left. */
#include "codec/log/log.h"

#include "base/cursor.h"

static int damaged(tarn_cx *cx, tn_str where, const char *text)
{
    return tn_fail(cx, TARN_E_CORRUPT, "%.*s: %s", TN_STR_ARG(where), text);
}

int tn_log_records_open(tarn_cx *cx, tn_str content, tn_str where, tn_log_records *out)
{
    tn_cursor in = tn_cursor_of(content.ptr, content.len);
    uint32_t count;

    (void)tn_cursor_u32be(&in);
    count = tn_cursor_u32be(&in);
    if (in.failed)
        return damaged(cx, where, "a block of records that is shorter than its count");
    if (count > tn_cursor_left(&in) / 4)
        return damaged(cx, where, "a block with more records than bytes");
    *out = (tn_log_records){.bytes = tn_str_from(content, 8), .count = count, .where = where};
    return TARN_OK;
}

int tn_log_records_next(tarn_cx *cx, tn_log_records *records, bool *more, tn_str *datum)
{
    tn_cursor in = tn_cursor_of(records->bytes.ptr, records->bytes.len);
    tn_str taken;

    if (records->done == records->count) {
        *more = false;
        return records->bytes.len == 0
                   ? TARN_OK
                   : damaged(cx, records->where, "a block with bytes behind its last record");
    }
    taken = tn_cursor_take(&in, tn_cursor_u32be(&in));
    if (in.failed)
        return damaged(cx, records->where, "a record that does not fit into its block");
    records->bytes = tn_str_from(records->bytes, in.at);
    records->done++;
    *more = true;
    *datum = taken;
    return TARN_OK;
}
