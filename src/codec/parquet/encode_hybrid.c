/* The RLE/bit-packed hybrid of levels, dictionary indices and booleans.
 *
 * A run is   varint(count << 1)       value in ceil(width / 8) bytes, little-endian
 *       or   varint(groups << 1 | 1)  groups * width bytes: eight values each, lowest bits first.
 * Example, width 3: the values 0 to 7 are 03 88 C6 FA; eight times 5 is 10 05.
 *
 * I1: A bit-packed run holds whole groups of eight; only the last may be padded (with zeros).
 * I2: Bit-packed runs are packed straight from the input, so nothing is patched afterwards. */
#include "codec/parquet/encode.h"

#include <assert.h>

/* Groups in one bit-packed run: some readers keep the run's length in 32 bits, and 63 groups fit
 * one header byte; a larger cap saves header bytes without troubling anyone. */
#define GROUPS_MAX 8191

static inline uint32_t item_at(const void *values, size_t item, size_t i)
{
    return item == 1   ? ((const uint8_t *)values)[i]
           : item == 2 ? ((const uint16_t *)values)[i]
                       : ((const uint32_t *)values)[i];
}

static inline __attribute__((always_inline)) void pack_group(uint8_t *to, const void *values,
                                                             size_t item, size_t at, unsigned width)
{
    uint64_t bits = 0;
    unsigned have = 0;

    for (size_t i = 0; i < 8; i++) {
        bits |= (uint64_t)item_at(values, item, at + i) << have;
        have += width;
        if (have >= 32) {
            memcpy(to, &bits, 4);
            to += 4;
            bits >>= 32;
            have -= 32;
        }
    }
    for (; have > 0; have -= 8, bits >>= 8)
        *to++ = (uint8_t)bits;
}

static inline __attribute__((always_inline)) void
pack_groups(uint8_t *to, const void *values, size_t item, size_t at, size_t groups, unsigned width)
{
    for (size_t i = 0; i < groups; i++)
        pack_group(to + i * width, values, item, at + i * 8, width);
}

/* A constant width lets the compiler unroll a group; the widths of levels and of small and middle
 * dictionaries are worth it. */
static inline __attribute__((always_inline)) void
pack_width(uint8_t *to, const void *values, size_t item, size_t at, size_t groups, unsigned width)
{
    switch (width) {
#define WIDTH(w)                                                                                   \
    case w:                                                                                        \
        pack_groups(to, values, item, at, groups, w);                                              \
        break;
        WIDTH(1)
        WIDTH(2)
        WIDTH(3)
        WIDTH(4)
        WIDTH(5)
        WIDTH(6)
        WIDTH(7)
        WIDTH(8)
        WIDTH(9)
        WIDTH(10)
        WIDTH(11)
        WIDTH(12)
        WIDTH(13)
        WIDTH(14)
        WIDTH(15)
        WIDTH(16)
#undef WIDTH
    default:
        pack_groups(to, values, item, at, groups, width);
    }
}

static void put_packed(tn_buf *out, const void *values, size_t item, size_t at, size_t groups,
                       unsigned width)
{
    while (groups > 0) {
        size_t n = groups < GROUPS_MAX ? groups : GROUPS_MAX;
        uint8_t *to;

        tn_buf_varint(out, n << 1 | 1);
        to = tn_buf_extend(out, n * width);
        if (to == NULL)
            return;
        if (item == 1)
            pack_width(to, values, 1, at, n, width);
        else if (item == 2)
            pack_width(to, values, 2, at, n, width);
        else
            pack_width(to, values, 4, at, n, width);
        at += n * 8;
        groups -= n;
    }
}

static void put_run(tn_buf *out, uint32_t value, size_t count, unsigned width)
{
    tn_buf_varint(out, (uint64_t)count << 1);
    for (unsigned have = 0; have < width; have += 8)
        tn_buf_u8(out, (uint8_t)(value >> have));
}

void tn_encode_run(tn_buf *out, uint32_t value, size_t count, unsigned width)
{
    /* Readers count a run in 31 bits. */
    while (count > 0) {
        size_t n = count < 0x40000000 ? count : 0x40000000;

        put_run(out, value, n, width);
        count -= n;
    }
}

static inline __attribute__((always_inline)) size_t run_length(const void *values, size_t item,
                                                               size_t at, size_t count)
{
    uint32_t first = item_at(values, item, at);
    size_t end = at + 1;

    while (end < count && item_at(values, item, end) == first)
        end++;
    return end - at;
}

/* The rest after the last whole group: one run if it is one, else a padded group. */
static void put_rest(tn_buf *out, const void *values, size_t item, size_t at, size_t count,
                     unsigned width)
{
    uint32_t group[8] = {0};

    if (run_length(values, item, at, count) == count - at) {
        put_run(out, item_at(values, item, at), count - at, width);
        return;
    }
    for (size_t i = at; i < count; i++)
        group[i - at] = item_at(values, item, i);
    put_packed(out, group, 4, 0, 1, width);
}

static inline __attribute__((always_inline)) void encode(tn_buf *out, const void *values,
                                                         size_t item, size_t count, unsigned width)
{
    /* A run between packed groups costs its own bytes and a second packed header: narrow values
     * need a longer run before that pays. */
    size_t run_min = width == 1 ? 32 : width <= 3 ? 16 : 8;
    size_t packed = 0, at = 0;

    while (count - at >= 8) {
        uint32_t first = item_at(values, item, at);

        if (first == item_at(values, item, at + 1) && first == item_at(values, item, at + 4) &&
            first == item_at(values, item, at + 7)) {
            size_t run = run_length(values, item, at, count);

            if (run >= run_min) {
                put_packed(out, values, item, packed, (at - packed) / 8, width);
                put_run(out, first, run, width);
                at += run;
                packed = at;
                continue;
            }
        }
        at += 8;
    }
    put_packed(out, values, item, packed, (at - packed) / 8, width);
    if (at < count)
        put_rest(out, values, item, at, count, width);
}

void tn_encode_hybrid(tn_buf *out, const void *values, size_t item, size_t count, unsigned width)
{
    assert(width <= 32);
    assert(item == 1 || item == 2 || item == 4);
    if (width == 0)
        tn_encode_run(out, 0, count, 0);
    else if (item == 1)
        encode(out, values, 1, count, width);
    else if (item == 2)
        encode(out, values, 2, count, width);
    else
        encode(out, values, 4, count, width);
}
