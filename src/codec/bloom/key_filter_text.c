/* The printed form of Hudi's bloom filter over record keys: base64 of (numbers big-endian)
 *
 *     head       int32 -1, int32 hashes, int8 hash type (1: Murmur, 0: Jenkins), int32 bits
 *     SIMPLE     head, then ceil(bits / 8) bytes; bit i is bit i % 8 of byte i / 8
 *     DYNAMIC    head, int32 keys a row, int32 keys in the last row, int32 rows,
 *                then for each row: head, bytes as above
 *
 * An old head is int32 hashes (positive), int32 bits; its hash is Jenkins'. An example in hex is in
 * docs/format/key-filter.md.
 *
 * I1: what is parsed prints as the same text, but for padding that was missing and for bits beyond
 *     the last, which are cleared. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/base64.h"
#include "base/cursor.h"
#include "codec/bloom/key_filter_parts.h"

#define TEXT_VERSION (-1)
#define HEAD_BYTES   13
#define HEAD_OLD     8

static void print_i32(tn_buf *out, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        tn_buf_u8(out, (uint8_t)(value >> shift));
}

static void print_head(const tn_key_filter *filter, tn_buf *out)
{
    if (!filter->old_form)
        print_i32(out, (uint32_t)TEXT_VERSION);
    print_i32(out, filter->hashes);
    if (!filter->old_form)
        tn_buf_u8(out, filter->hash_type);
    print_i32(out, filter->bits);
}

static void print_row(const tn_key_filter *filter, size_t row, tn_buf *out)
{
    size_t bytes = tn_key_filter_row_bytes(filter), at = out->len;
    uint8_t *to;

    print_head(filter, out);
    to = tn_buf_extend(out, bytes);
    if (to == NULL)
        return;
    memcpy(to, filter->rows[row], bytes);
    if (row + 1 < filter->count)
        return;
    for (size_t p = 0; p < filter->plane_count; p++)
        for (size_t i = 0; i < bytes; i++)
            to[i] |= ((const uint8_t *)filter->planes[p])[i];
    assert(out->len > at);
}

int tn_key_filter_print(tarn_cx *cx, const tn_key_filter *filter, tn_buf *out)
{
    tn_buf raw = {0};
    int rc = TARN_OK;

    if (filter->kind == TN_KEY_FILTER_DYNAMIC) {
        print_head(filter, &raw);
        print_i32(&raw, filter->row_keys);
        print_i32(&raw, filter->row_count);
        print_i32(&raw, (uint32_t)filter->count);
    }
    for (size_t i = 0; i < filter->count; i++)
        print_row(filter, i, &raw);
    TN_TRY(tn_buf_check(cx, &raw));
    tn_base64_encode(out, tn_buf_view(&raw));
    TN_TRY(tn_buf_check(cx, out));
done:
    tn_buf_clear(&raw);
    return rc;
}

uint64_t tn_key_filter_text_bytes(const tn_key_filter *filter)
{
    uint64_t head = filter->old_form ? HEAD_OLD : HEAD_BYTES;
    uint64_t raw = filter->count * (head + tn_key_filter_row_bytes(filter));

    if (filter->kind == TN_KEY_FILTER_DYNAMIC)
        raw += head + 12;
    return (raw + 2) / 3 * 4;
}

static uint32_t parse_u32(tn_cursor *in)
{
    return __builtin_bswap32(tn_cursor_u32le(in));
}

/* NULL, or what is wrong. */
static const char *parse_head(tn_cursor *in, tn_key_filter *filter)
{
    int32_t first = (int32_t)parse_u32(in);
    uint32_t bits;

    filter->old_form = first > 0;
    filter->hashes = (uint32_t)first;
    filter->hash_type = TN_KEY_FILTER_JENKINS;
    if (!filter->old_form) {
        filter->hashes = parse_u32(in);
        filter->hash_type = tn_cursor_u8(in);
    }
    bits = parse_u32(in);
    if (in->failed)
        return "it is cut short";
    if (first <= 0 && first != TEXT_VERSION)
        return "its version is not known";
    if (filter->hash_type > TN_KEY_FILTER_MURMUR)
        return "its kind of hash is not known";
    if (filter->hashes == 0 || filter->hashes > TN_KEY_FILTER_HASHES_MAX)
        return "its number of hashes makes no sense";
    if (bits == 0 || bits > INT32_MAX)
        return "its number of bits makes no sense";
    filter->bits = bits;
    return NULL;
}

static int parse_row(tarn_cx *cx, tn_cursor *in, tn_key_filter *filter, tn_str path)
{
    const uint8_t *bytes = tn_cursor_bytes(in, tn_key_filter_row_bytes(filter));
    uint32_t *row;
    int rc = TARN_OK;

    if (bytes == NULL)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: the key filter in its footer is cut short",
                TN_STR_ARG(path));
    TN_TRY(tn_key_filter_row_add(cx, filter));
    row = filter->rows[filter->count - 1];
    memcpy(row, bytes, tn_key_filter_row_bytes(filter));
    if (filter->bits % 32 != 0)
        row[filter->bits / 32] &= (1u << (filter->bits % 32)) - 1;
done:
    return rc;
}

static int parse_rows(tarn_cx *cx, tn_cursor *in, tn_key_filter *filter, tn_str path)
{
    uint32_t rows;
    int rc = TARN_OK;

    filter->row_keys = parse_u32(in);
    filter->row_count = parse_u32(in);
    rows = parse_u32(in);
    if (in->failed || filter->row_keys > INT32_MAX || filter->row_count > INT32_MAX || rows == 0 ||
        rows > tn_cursor_left(in) / HEAD_OLD)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: the dynamic key filter in its footer has %u rows in %zu "
                "bytes",
                TN_STR_ARG(path), rows, in->len);
    for (uint32_t i = 0; i < rows; i++) {
        tn_key_filter row = {0};
        const char *wrong = parse_head(in, &row);

        if (wrong == NULL && (row.bits != filter->bits || row.hashes != filter->hashes ||
                              row.hash_type != filter->hash_type))
            wrong = "it is unlike the others";
        if (wrong != NULL)
            TN_FAIL(TARN_E_CORRUPT, "%.*s: row %u of the key filter in its footer: %s",
                    TN_STR_ARG(path), i, wrong);
        TN_TRY(parse_row(cx, in, filter, path));
    }
done:
    return rc;
}

int tn_key_filter_parse(tarn_cx *cx, tn_str text, enum tn_key_filter_kind kind, tn_str path,
                        tn_key_filter **out)
{
    tn_key_filter *filter = NULL;
    const char *wrong;
    tn_buf raw = {0};
    tn_cursor in;
    int rc = TARN_OK;

    if (text.len > TN_KEY_FILTER_TEXT_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "%.*s: the key filter in its footer has %zu bytes, and at most %u "
                "are read",
                TN_STR_ARG(path), text.len, TN_KEY_FILTER_TEXT_BYTES_MAX);
    if (!tn_base64_decode(&raw, text)) {
        TN_TRY(tn_buf_check(cx, &raw));
        TN_FAIL(TARN_E_CORRUPT, "%.*s: the key filter in its footer is no base64",
                TN_STR_ARG(path));
    }
    filter = tn_calloc(cx, 1, sizeof *filter);
    if (filter == NULL)
        TN_TRY(TARN_E_NOMEM);
    in = tn_cursor_over(&raw);
    filter->kind = kind;
    filter->parsed = true;
    wrong = parse_head(&in, filter);
    if (wrong != NULL)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: the key filter in its footer: %s", TN_STR_ARG(path), wrong);
    if (kind == TN_KEY_FILTER_DYNAMIC) {
        TN_TRY(parse_rows(cx, &in, filter, path));
    } else {
        filter->row_keys = (uint32_t)(log(2.0) * filter->bits / filter->hashes);
        TN_TRY(parse_row(cx, &in, filter, path));
    }
    if (!tn_cursor_ended(&in))
        TN_FAIL(TARN_E_CORRUPT, "%.*s: %zu bytes follow the key filter in its footer",
                TN_STR_ARG(path), tn_cursor_left(&in));
    *out = filter;
    filter = NULL;
done:
    tn_key_filter_close(filter);
    tn_buf_clear(&raw);
    return rc;
}
