/* Physical values to Arrow values, densely.
 * I1: a value that does not fit its Arrow type is reported, never cut.
 *
 * INT96: nanoseconds of the day (8 bytes, signed: old writers stored negative ones before 1970),
 * then the Julian day (4 bytes); day 2440588 is 1970-01-01.
 * Decimals: two's complement; big-endian in FIXED and BYTE_ARRAY, any length; little-endian here.
 */
#include "codec/parquet/assemble.h"

#include <string.h>

#define JULIAN_EPOCH 2440588
#define DAY_MICROS   86400000000ll

/* The place of value i of a batch: through the dictionary where there is one. */
static inline int64_t place_of(const tn_leaf_batch *batch, int64_t i)
{
    return batch->indices != NULL ? (int64_t)batch->indices[i] : i;
}

static inline const uint8_t *base_of(const tn_leaf_batch *batch)
{
    return batch->indices != NULL ? batch->dictionary.data : batch->values.data;
}

#define GATHER(type)                                                                               \
    do {                                                                                           \
        const type *from = (const type *)(const void *)base;                                       \
        type *to = (type *)(void *)out;                                                            \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = from[indices[i]];                                                              \
    } while (0)

static void copy_values(const tn_leaf_batch *batch, int64_t first, int64_t count, size_t width,
                        uint8_t *out)
{
    const uint8_t *base = base_of(batch);
    const uint32_t *indices;

    if (batch->indices == NULL) {
        if (count != 0 && width != 0)
            memcpy(out, base + (size_t)first * width, (size_t)count * width);
        return;
    }
    indices = batch->indices + first;
    switch (width) {
    case 1:
        GATHER(uint8_t);
        return;
    case 4:
        GATHER(uint32_t);
        return;
    case 8:
        GATHER(uint64_t);
        return;
    default:
        for (int64_t i = 0; i < count; i++)
            memcpy(out + (size_t)i * width, base + (size_t)indices[i] * width, width);
    }
}

static void narrow_values(const tn_arrow_field *field, const tn_leaf_batch *batch, int64_t first,
                          int64_t count, uint8_t *out, int64_t *bad)
{
    const int32_t *base = (const int32_t *)(const void *)base_of(batch);
    bool is_signed = field->format.kind == TN_FORMAT_INT8 || field->format.kind == TN_FORMAT_INT16;
    int bits = (int)field->format.width * 8;
    int32_t low = is_signed ? -(1 << (bits - 1)) : 0;
    int32_t high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;

    for (int64_t i = 0; i < count; i++) {
        int32_t value = base[place_of(batch, first + i)];

        if ((value < low || value > high) && *bad < 0)
            *bad = i;
        if (bits == 8) {
            out[i] = (uint8_t)value;
        } else {
            uint16_t half = (uint16_t)value;

            memcpy(out + 2 * i, &half, 2);
        }
    }
}

static bool int96_value(const tn_int96 *value, bool micros, int64_t *out)
{
    int64_t nanos = (int64_t)((uint64_t)value->word[1] << 32 | value->word[0]);
    int64_t days = (int64_t)(int32_t)value->word[2] - JULIAN_EPOCH, result;
    int64_t day_units = micros ? DAY_MICROS : DAY_MICROS * 1000;
    /* Whole days inside the nanoseconds first, so that a negative rest does not overflow near the
     * lowest timestamp. */
    int64_t rest = nanos % (DAY_MICROS * 1000);

    days += nanos / (DAY_MICROS * 1000);
    if (rest < 0) {
        rest += DAY_MICROS * 1000;
        days--;
    }
    if (micros && rest % 1000 != 0)
        return false;
    if (days < 0) {
        days++;
        rest -= DAY_MICROS * 1000;
    }
    return !__builtin_mul_overflow(days, day_units, &result) &&
           !__builtin_add_overflow(result, micros ? rest / 1000 : rest, out);
}

static void int96_values(const tn_arrow_field *field, const tn_leaf_batch *batch, int64_t first,
                         int64_t count, uint8_t *out, int64_t *bad)
{
    const tn_int96 *base = (const tn_int96 *)(const void *)base_of(batch);

    for (int64_t i = 0; i < count; i++) {
        int64_t value = 0;

        if (!int96_value(&base[place_of(batch, first + i)], field->format.unit == 'u', &value) &&
            *bad < 0)
            *bad = i;
        memcpy(out + 8 * i, &value, 8);
    }
}

static void decimal_ints(const tn_arrow_field *field, const tn_leaf *leaf,
                         const tn_leaf_batch *batch, int64_t first, int64_t count, uint8_t *out)
{
    const uint8_t *base = base_of(batch);
    size_t words = field->format.width / 8;

    for (int64_t i = 0; i < count; i++) {
        int64_t place = place_of(batch, first + i), word[4];

        word[0] = leaf->physical == TN_INT32 ? ((const int32_t *)(const void *)base)[place]
                                             : ((const int64_t *)(const void *)base)[place];
        for (size_t j = 1; j < words; j++)
            word[j] = word[0] >> 63;
        memcpy(out + (size_t)i * 8 * words, word, 8 * words);
    }
}

/* `len` big-endian bytes into `width` little-endian ones; false when it takes more. */
static bool decimal_value(const uint8_t *bytes, size_t len, uint8_t *out, size_t width)
{
    uint8_t fill = len != 0 && (bytes[0] & 0x80) != 0 ? 0xFF : 0;

    while (len > width) {
        if (*bytes != fill)
            return false;
        bytes++;
        len--;
        if (len == width && (*bytes & 0x80) != (fill & 0x80))
            return false;
    }
    for (size_t i = 0; i < len; i++)
        out[i] = bytes[len - 1 - i];
    memset(out + len, fill, width - len);
    return true;
}

/* The common case: at most 16 bytes into 16. */
static void decimal_short(const uint8_t *bytes, size_t len, uint8_t *out)
{
    uint64_t high = 0, low = 0;
    unsigned shift;

    if (len > 8) {
        memcpy((uint8_t *)&high + 16 - len, bytes, len - 8);
        memcpy(&low, bytes + len - 8, 8);
        low = __builtin_bswap64(low);
        shift = (unsigned)(16 - len) * 8;
        high = __builtin_bswap64(high);
        high = (uint64_t)((int64_t)(high << shift) >> shift);
    } else {
        memcpy((uint8_t *)&low + 8 - len, bytes, len);
        shift = (unsigned)(8 - len) * 8;
        low = __builtin_bswap64(low);
        low = len != 0 ? (uint64_t)((int64_t)(low << shift) >> shift) : 0;
        high = (uint64_t)((int64_t)low >> 63);
    }
    memcpy(out, &low, 8);
    memcpy(out + 8, &high, 8);
}

static void decimal_bytes(const tn_arrow_field *field, const tn_leaf *leaf,
                          const tn_leaf_batch *batch, int64_t first, int64_t count, uint8_t *out,
                          int64_t *bad)
{
    const uint8_t *base = base_of(batch);
    size_t width = field->format.width;

    for (int64_t i = 0; i < count; i++) {
        int64_t place = place_of(batch, first + i);
        const uint8_t *bytes = base + (size_t)place * leaf->type_length;
        size_t len = leaf->type_length;

        if (leaf->physical == TN_BYTE_ARRAY) {
            const tn_view *view = &((const tn_view *)(const void *)base)[place];

            bytes = view->ptr;
            len = view->len;
        }
        if (len <= 16 && width == 16)
            decimal_short(bytes, len, out + (size_t)i * 16);
        else if (!decimal_value(bytes, len, out + (size_t)i * width, width) && *bad < 0)
            *bad = i;
    }
}

void tn_convert_values(const tn_arrow_field *field, const tn_leaf *leaf, const tn_leaf_batch *batch,
                       int64_t first, int64_t count, uint8_t *out, int64_t *bad)
{
    *bad = -1;
    switch (field->convert) {
    case TN_CONVERT_COPY:
        copy_values(batch, first, count, field->format.width, out);
        break;
    case TN_CONVERT_BOOL:
        copy_values(batch, first, count, 1, out);
        break;
    case TN_CONVERT_NARROW:
        narrow_values(field, batch, first, count, out, bad);
        break;
    case TN_CONVERT_INT96:
        int96_values(field, batch, first, count, out, bad);
        break;
    case TN_CONVERT_DECIMAL_INT:
        decimal_ints(field, leaf, batch, first, count, out);
        break;
    case TN_CONVERT_DECIMAL_BE:
    case TN_CONVERT_DECIMAL_VIEW:
        decimal_bytes(field, leaf, batch, first, count, out, bad);
        break;
    case TN_CONVERT_NONE:
    case TN_CONVERT_BYTES:
    case TN_CONVERT_NULL:
        break;
    }
}
