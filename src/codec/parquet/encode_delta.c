/* DELTA_BINARY_PACKED.
 *
 * Header:  varint block size (128) · varint miniblocks (4) · varint count · zigzag first value.
 * Block:   zigzag least delta · one bit width per miniblock · miniblocks of 32 values, each the
 *          delta less the least one, lowest bits first.
 * Example: 1, 2, 3 is 80 01 04 03 02, then 02 (least delta 1), 00 00 00 00.
 *
 * I1: Deltas wrap around in the width of the type, so every value has one, and none needs more bits
 *     than the type has.
 * I2: In the last block a miniblock without values has width 0 and no bytes; one with some is
 *     padded with zeros to 32. */
#include "base/cursor.h"
#include "codec/parquet/encode.h"

#define BLOCK      128
#define MINIBLOCKS 4
#define MINI       (BLOCK / MINIBLOCKS)

static unsigned bits_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* MINI values of `width` bits: 4 * width bytes. */
static void pack(uint8_t *to, const uint64_t *values, unsigned width)
{
    uint64_t bits = 0;
    unsigned have = 0;

    for (size_t i = 0; i < MINI; i++) {
        bits |= values[i] << have;
        have += width;
        if (have >= 64) {
            memcpy(to, &bits, 8);
            to += 8;
            have -= 64;
            bits = have == 0 ? 0 : values[i] >> (width - have);
        }
    }
    if (have > 0)
        memcpy(to, &bits, have / 8);
}

/* `deltas` has `count` of them, sign-extended, and room for BLOCK. */
static void put_block(tn_buf *out, int64_t *deltas, size_t count, uint64_t mask)
{
    uint64_t rest[BLOCK] = {0};
    uint8_t widths[MINIBLOCKS] = {0};
    int64_t least = deltas[0];

    for (size_t i = 1; i < count; i++)
        least = deltas[i] < least ? deltas[i] : least;
    for (size_t m = 0; m < MINIBLOCKS && m * MINI < count; m++) {
        size_t end = (m + 1) * MINI < count ? (m + 1) * MINI : count;
        uint64_t all = 0;

        for (size_t i = m * MINI; i < end; i++) {
            rest[i] = ((uint64_t)deltas[i] - (uint64_t)least) & mask;
            all |= rest[i];
        }
        widths[m] = (uint8_t)bits_of(all);
    }
    tn_buf_varint(out, tn_unzigzag(least));
    tn_buf_add(out, widths, MINIBLOCKS);
    for (size_t m = 0; m < MINIBLOCKS; m++) {
        uint8_t *to = tn_buf_extend(out, (size_t)widths[m] * MINI / 8);

        if (to == NULL)
            return;
        if (widths[m] != 0)
            pack(to, rest + m * MINI, widths[m]);
    }
}

static void put_header(tn_buf *out, size_t count, int64_t first)
{
    tn_buf_varint(out, BLOCK);
    tn_buf_varint(out, MINIBLOCKS);
    tn_buf_varint(out, count);
    tn_buf_varint(out, tn_unzigzag(first));
}

void tn_encode_delta32(tn_buf *out, const int32_t *values, size_t count)
{
    int64_t deltas[BLOCK];

    put_header(out, count, count != 0 ? values[0] : 0);
    for (size_t at = 1; at < count; at += BLOCK) {
        size_t n = count - at < BLOCK ? count - at : BLOCK;

        for (size_t i = 0; i < n; i++)
            deltas[i] = (int32_t)((uint32_t)values[at + i] - (uint32_t)values[at + i - 1]);
        put_block(out, deltas, n, UINT32_MAX);
    }
}

void tn_encode_delta64(tn_buf *out, const int64_t *values, size_t count)
{
    int64_t deltas[BLOCK];

    put_header(out, count, count != 0 ? values[0] : 0);
    for (size_t at = 1; at < count; at += BLOCK) {
        size_t n = count - at < BLOCK ? count - at : BLOCK;

        for (size_t i = 0; i < n; i++)
            deltas[i] = (int64_t)((uint64_t)values[at + i] - (uint64_t)values[at + i - 1]);
        put_block(out, deltas, n, UINT64_MAX);
    }
}
