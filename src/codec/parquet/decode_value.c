/* Chooses the decoder by encoding and physical type.
 *
 * I1: a pair of encoding and type that the format does not have is refused before a byte is read.
 * I2: the memory of a read is n values wide, n being bounded by the caller, and strings that grow
 *     beyond the page are bounded by tn_decode_value_fit or by the budget. */
#include "codec/parquet/decode_value.h"

#include <inttypes.h>
#include <string.h>

#include "codec/parquet/decode_split.h"

void tn_decode_value_begin(tn_value_decoder *d, const tn_leaf *leaf, int32_t encoding,
                           const uint8_t *bytes, size_t len, size_t base,
                           const tn_values *dictionary)
{
    d->physical = leaf->physical;
    d->width = tn_leaf_width(leaf);
    d->encoding = encoding == TN_ENC_PLAIN_DICTIONARY ? TN_ENC_RLE_DICTIONARY : encoding;
    d->dictionary = dictionary;
    d->bytes = bytes;
    d->len = len;
    d->base = base;
    d->opened = false;
    d->passed = 0;
}

void tn_decode_value_clear(tn_value_decoder *d)
{
    tn_decode_delta_bytes_clear(&d->strings);
    tn_lease_clear(&d->room);
    *d = (tn_value_decoder){0};
}

bool tn_decode_value_is_indices(const tn_value_decoder *d)
{
    return d->encoding == TN_ENC_RLE_DICTIONARY;
}

void tn_decode_value_skip(tn_value_decoder *d, uint64_t n)
{
    d->passed += n;
}

static bool fits_type(int32_t encoding, enum tn_physical type)
{
    bool fixed = type == TN_INT32 || type == TN_INT64 || type == TN_FLOAT || type == TN_DOUBLE ||
                 type == TN_FIXED;

    switch (encoding) {
    case TN_ENC_PLAIN:
    case TN_ENC_RLE_DICTIONARY:
        return true;
    case TN_ENC_RLE:
        return type == TN_BOOLEAN;
    case TN_ENC_DELTA_BINARY_PACKED:
        return type == TN_INT32 || type == TN_INT64;
    case TN_ENC_DELTA_LENGTH_BYTE_ARRAY:
        return type == TN_BYTE_ARRAY;
    case TN_ENC_DELTA_BYTE_ARRAY:
        return type == TN_BYTE_ARRAY || type == TN_FIXED;
    case TN_ENC_BYTE_STREAM_SPLIT:
        return fixed;
    default:
        return false;
    }
}

/* Booleans as RLE have their length before the runs, in both page versions. */
static int open_booleans(tarn_cx *cx, tn_value_decoder *d)
{
    uint32_t len;

    if (d->len < 4)
        return tn_fail(cx, TARN_E_CORRUPT, "byte %zu: the length of the runs is missing", d->base);
    memcpy(&len, d->bytes, 4);
    if (len > d->len - 4)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: runs of %" PRIu32 " bytes, but only %zu are left", d->base, len,
                       d->len - 4);
    tn_decode_rle_init(&d->rle, d->bytes + 4, len, d->base + 4, 1);
    return TARN_OK;
}

static int open_split(tarn_cx *cx, tn_value_decoder *d)
{
    if (d->width == 0 || d->len % d->width != 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: %zu bytes are not a whole number of values of %zu bytes", d->base,
                       d->len, d->width);
    d->split_count = d->len / d->width;
    d->split_at = 0;
    return TARN_OK;
}

static int open_values(tarn_cx *cx, tn_value_decoder *d)
{
    bool fixed = d->physical != TN_BOOLEAN && d->physical != TN_BYTE_ARRAY;

    switch (d->encoding) {
    case TN_ENC_PLAIN:
        tn_decode_plain_init(&d->plain, d->bytes, d->len, d->base, fixed ? d->width : 0);
        return TARN_OK;
    case TN_ENC_RLE_DICTIONARY:
        if (d->dictionary == NULL)
            return tn_fail(cx, TARN_E_CORRUPT,
                           "byte %zu: dictionary indices, but the chunk has no dictionary",
                           d->base);
        return tn_decode_dictionary_init(cx, &d->rle, d->bytes, d->len, d->base);
    case TN_ENC_RLE:
        return open_booleans(cx, d);
    case TN_ENC_DELTA_BINARY_PACKED:
        return tn_decode_delta_init(cx, &d->delta, d->bytes, d->len, d->base);
    case TN_ENC_DELTA_LENGTH_BYTE_ARRAY:
        return tn_decode_delta_length_init(cx, &d->lengths, d->bytes, d->len, d->base);
    case TN_ENC_DELTA_BYTE_ARRAY:
        return tn_decode_delta_bytes_init(cx, &d->strings, d->bytes, d->len, d->base);
    default:
        return open_split(cx, d);
    }
}

static int open_page(tarn_cx *cx, tn_value_decoder *d)
{
    int rc = TARN_OK;

    if (!fits_type(d->encoding, d->physical)) {
        bool known =
            d->encoding >= 0 && d->encoding <= TN_ENC_BYTE_STREAM_SPLIT && d->encoding != 1;

        TN_FAIL(known ? TARN_E_CORRUPT : TARN_E_UNSUPPORTED,
                "%s values cannot be in encoding %" PRId32 " (%s)", tn_physical_name(d->physical),
                d->encoding, known ? tn_encoding_name(d->encoding) : "unknown to this version");
    }
    TN_TRY(open_values(cx, d));
    d->opened = true;
done:
    return rc;
}

/* Strings are rebuilt to be passed over: each may be the prefix of the next. */
static int pass_strings(tarn_cx *cx, tn_value_decoder *d, uint64_t n)
{
    int rc = TARN_OK;

    while (n != 0) {
        size_t some = n < 1024 ? (size_t)n : 1024;
        uint64_t bytes;

        TN_TRY(tn_decode_delta_bytes_plan(cx, &d->strings, &some, TN_LEASE_FREE_BYTES, &bytes));
        TN_TRY(tn_lease_grow(cx, &d->room, bytes, 0, "strings of a page"));
        TN_TRY(tn_decode_delta_bytes_read(cx, &d->strings, d->room.data, NULL, 0));
        n -= some;
    }
done:
    return rc;
}

static int pass_plain(tarn_cx *cx, tn_value_decoder *d, uint64_t n)
{
    const uint8_t *dropped;

    if (d->physical == TN_BOOLEAN)
        return tn_decode_plain_skip_booleans(cx, &d->plain, n);
    if (d->physical == TN_BYTE_ARRAY)
        return tn_decode_plain_skip_bytes(cx, &d->plain, n);
    return tn_decode_plain_fixed(cx, &d->plain, (size_t)n, &dropped);
}

static int check_split(tarn_cx *cx, const tn_value_decoder *d, uint64_t n)
{
    if (n > d->split_count - d->split_at)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "byte %zu: the streams hold %zu values, fewer than the page", d->base,
                       d->split_count);
    return TARN_OK;
}

static int pass_split(tarn_cx *cx, tn_value_decoder *d, uint64_t n)
{
    int rc = TARN_OK;

    TN_TRY(check_split(cx, d, n));
    d->split_at += (size_t)n;
done:
    return rc;
}

static int pass(tarn_cx *cx, tn_value_decoder *d, uint64_t n)
{
    switch (d->encoding) {
    case TN_ENC_PLAIN:
        return pass_plain(cx, d, n);
    case TN_ENC_RLE_DICTIONARY:
    case TN_ENC_RLE:
        return tn_decode_rle_skip(cx, &d->rle, n);
    case TN_ENC_DELTA_BINARY_PACKED:
        return tn_decode_delta_skip(cx, &d->delta, n);
    case TN_ENC_DELTA_LENGTH_BYTE_ARRAY:
        return tn_decode_delta_length_skip(cx, &d->lengths, n);
    case TN_ENC_DELTA_BYTE_ARRAY:
        return pass_strings(cx, d, n);
    default:
        return pass_split(cx, d, n);
    }
}

/* Opens the page and stands at the next value. */
static int stand(tarn_cx *cx, tn_value_decoder *d)
{
    uint64_t n = d->passed;
    int rc = TARN_OK;

    if (!d->opened)
        TN_TRY(open_page(cx, d));
    d->passed = 0;
    if (n != 0)
        TN_TRY(pass(cx, d, n));
done:
    return rc;
}

int tn_decode_value_fit(tarn_cx *cx, tn_value_decoder *d, uint64_t bytes_max, size_t *n)
{
    uint64_t bytes;
    int rc = TARN_OK;

    if (*n == 0)
        return TARN_OK;
    if (d->encoding == TN_ENC_DELTA_BYTE_ARRAY) {
        TN_TRY(stand(cx, d));
        TN_TRY(tn_decode_delta_bytes_plan(cx, &d->strings, n, bytes_max, &bytes));
    } else if (d->encoding == TN_ENC_RLE_DICTIONARY && *n > bytes_max / (d->width + 1)) {
        *n = (size_t)(bytes_max / (d->width + 1));
        *n = *n == 0 ? 1 : *n;
    }
done:
    return rc;
}

static int read_strings(tarn_cx *cx, tn_value_decoder *d, uint8_t *out, size_t n)
{
    uint64_t bytes = d->strings.planned_bytes;
    bool fixed = d->physical == TN_FIXED;
    int rc = TARN_OK;

    /* The plan of a fit serves, unless fewer values are wanted after all. */
    if (d->strings.planned != n)
        TN_TRY(tn_decode_delta_bytes_plan(cx, &d->strings, &n, UINT64_MAX, &bytes));
    if (fixed) {
        if (bytes != (uint64_t)n * d->width)
            TN_FAIL(TARN_E_CORRUPT, "byte %zu: values that are not %zu bytes long", d->base,
                    d->width);
        TN_TRY(tn_decode_delta_bytes_read(cx, &d->strings, out, NULL, (uint32_t)d->width));
    } else {
        TN_TRY(tn_lease_grow(cx, &d->room, bytes, 0, "strings of a page"));
        TN_TRY(
            tn_decode_delta_bytes_read(cx, &d->strings, d->room.data, (tn_view *)(void *)out, 0));
    }
done:
    return rc;
}

static int read_split(tarn_cx *cx, tn_value_decoder *d, uint8_t *out, size_t n)
{
    int rc = TARN_OK;

    TN_TRY(check_split(cx, d, n));
    tn_decode_split(d->bytes, d->split_count, d->width, d->split_at, out, n);
    d->split_at += n;
done:
    return rc;
}

static int read_into(tarn_cx *cx, tn_value_decoder *d, uint8_t *out, size_t n)
{
    void *any = out;

    switch (d->encoding) {
    case TN_ENC_PLAIN:
        return d->physical == TN_BOOLEAN ? tn_decode_plain_booleans(cx, &d->plain, out, n)
                                         : tn_decode_plain_bytes(cx, &d->plain, any, n);
    case TN_ENC_RLE_DICTIONARY:
        return tn_decode_dictionary_values(cx, &d->rle, d->dictionary, d->width, out, n);
    case TN_ENC_RLE:
        return tn_decode_rle_u8(cx, &d->rle, out, n);
    case TN_ENC_DELTA_BINARY_PACKED:
        return d->physical == TN_INT32 ? tn_decode_delta_i32(cx, &d->delta, any, n)
                                       : tn_decode_delta_i64(cx, &d->delta, any, n);
    case TN_ENC_DELTA_LENGTH_BYTE_ARRAY:
        return tn_decode_delta_length_read(cx, &d->lengths, any, n);
    case TN_ENC_DELTA_BYTE_ARRAY:
        return read_strings(cx, d, out, n);
    default:
        return read_split(cx, d, out, n);
    }
}

/* Plain fixed values stand in the page; they are copied only where their alignment asks for it. */
static int read_fixed(tarn_cx *cx, tn_value_decoder *d, tn_lease *into, size_t n, const void **out)
{
    size_t align = d->physical == TN_FIXED ? 1 : d->width == 8 ? 8 : 4;
    const uint8_t *at;
    int rc = TARN_OK;

    TN_TRY(tn_decode_plain_fixed(cx, &d->plain, n, &at));
    if ((uintptr_t)at % align != 0) {
        TN_TRY(tn_lease_grow(cx, into, n * d->width, 0, "values of a batch"));
        memcpy(into->data, at, n * d->width);
        at = into->data;
    }
    *out = at;
done:
    return rc;
}

int tn_decode_value_read(tarn_cx *cx, tn_value_decoder *d, tn_lease *into, size_t n,
                         const void **out)
{
    int rc = TARN_OK;

    if (n != 0) {
        TN_TRY(stand(cx, d));
        if (d->encoding == TN_ENC_PLAIN && d->physical != TN_BOOLEAN &&
            d->physical != TN_BYTE_ARRAY)
            return read_fixed(cx, d, into, n, out);
    }
    TN_TRY(tn_lease_grow(cx, into, n * d->width, 0, "values of a batch"));
    if (n != 0)
        TN_TRY(read_into(cx, d, into->data, n));
    *out = into->data;
done:
    return rc;
}

int tn_decode_value_indices(tarn_cx *cx, tn_value_decoder *d, tn_lease *into, size_t n,
                            const uint32_t **out)
{
    uint32_t *indices;
    int rc = TARN_OK;

    TN_TRY(tn_lease_grow(cx, into, n * sizeof *indices, 0, "indices of a batch"));
    indices = (uint32_t *)(void *)into->data;
    if (n != 0) {
        TN_TRY(stand(cx, d));
        TN_TRY(tn_decode_dictionary_indices(cx, &d->rle, d->dictionary->count, indices, n));
    }
    *out = indices;
done:
    return rc;
}
