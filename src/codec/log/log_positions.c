/* Row positions of a header, base64 of a 64-bit roaring bitmap in its portable form:
 *
 *   0  8  the buckets
 *   8     of each bucket: 4 bytes, the high half of its values; a 32-bit bitmap:
 *           4  cookie: 12346, then 4 bytes: the containers; or 12347 in the low 16 bits, and the
 *              containers less one in the high ones, then a bit for each: it holds runs
 *              of each container 2 bytes, bits 16 to 31 of its values; 2 bytes, its values less one
 *              without runs, or with 4 containers or more: of each 4 bytes, where it begins
 *              the containers: runs (2 bytes, their number; of each 2 bytes, the first value;
 *              2 bytes, how many follow it), or at most 4,096 values of 2 bytes, or 8,192 bytes of
 *              bits
 *
 * All of it little-endian.
 *
 *   0100000000000000 | 00000000 | 3a300000 01000000 | 0000 0300 | 10000000 | 0000 0100 0200 0700
 *
 * The reader is our own: the roaring library of Debian 12 believes the counts of a container, and
 * writes past the room made by them when they lie.
 *
 * I1: positions come out ascending, none twice, and below 2^63.
 * I2: a container gives exactly as many values as its count says; room is made for no more. */
#include "codec/log/log.h"

#include "base/base64.h"
#include "base/cursor.h"

#define COOKIE            12346u
#define COOKIE_RUNS       12347u
#define CONTAINERS_MAX    65536u
#define ARRAY_VALUES_MAX  4096u
#define BITS_BYTES        8192u
#define OFFSETS_FROM      4u /* containers, where there are runs */
#define DESCRIPTION_BYTES 4u

typedef struct reader {
    tarn_cx *cx;
    tn_str where;
    tn_arena *arena;
    tn_cursor in;
    uint64_t max;
    int64_t *values;
    size_t count, cap;
} reader;

static int damaged(reader *r, const char *text)
{
    return tn_fail(r->cx, TARN_E_CORRUPT, "%.*s: record positions, byte %zu: %s",
                   TN_STR_ARG(r->where), r->in.at, text);
}

static uint32_t take_u16(tn_cursor *in)
{
    const uint8_t *bytes = tn_cursor_bytes(in, 2);

    return bytes != NULL ? (uint32_t)(bytes[0] | bytes[1] << 8) : 0;
}

/* Room for what a bitmap says it holds, which the caller has held against `max`. */
static int make_room(reader *r, size_t more)
{
    int64_t *values;

    if (more <= r->cap - r->count)
        return TARN_OK;
    values = tn_arena_array(r->cx, r->arena, r->count + more, sizeof *values);
    if (values == NULL)
        return TARN_E_NOMEM;
    if (r->count > 0)
        memcpy(values, r->values, r->count * sizeof *values);
    r->values = values;
    r->cap = r->count + more;
    return TARN_OK;
}

/* Each returns false when the values are not `want` ones, ascending. */
static bool take_runs(reader *r, int64_t base, size_t want)
{
    uint32_t runs = take_u16(&r->in);
    int64_t before = -1;
    size_t end = r->count + want;

    for (uint32_t i = 0; i < runs; i++) {
        uint32_t first = take_u16(&r->in), more = take_u16(&r->in);

        if (r->in.failed || (int64_t)first <= before || first + more > 0xFFFF ||
            more >= end - r->count)
            return false;
        for (uint32_t v = 0; v <= more; v++)
            r->values[r->count++] = base + first + v;
        before = (int64_t)first + more;
    }
    return r->count == end;
}

static bool take_array(reader *r, int64_t base, size_t want)
{
    int64_t before = -1;

    for (size_t i = 0; i < want; i++) {
        uint32_t value = take_u16(&r->in);

        if (r->in.failed || (int64_t)value <= before)
            return false;
        r->values[r->count++] = base + value;
        before = value;
    }
    return true;
}

static bool take_bits(reader *r, int64_t base, size_t want)
{
    size_t end = r->count + want;

    for (size_t i = 0; i < BITS_BYTES / 8; i++) {
        uint64_t word = tn_cursor_u64le(&r->in);

        for (; word != 0; word &= word - 1) {
            if (r->count == end)
                return false;
            r->values[r->count++] = base + (int64_t)(i * 64) + __builtin_ctzll(word);
        }
    }
    return r->count == end;
}

typedef struct bitmap {
    uint32_t containers;
    bool has_runs;
    const uint8_t *runs;  /* a bit for each container; NULL: none holds runs */
    const uint8_t *heads; /* of each its key and its count less one */
} bitmap;

static int take_heads(reader *r, bitmap *out)
{
    uint32_t cookie = tn_cursor_u32le(&r->in);
    int rc = TARN_OK;

    *out = (bitmap){.has_runs = (cookie & 0xFFFF) == COOKIE_RUNS};
    if (out->has_runs)
        out->containers = (cookie >> 16) + 1;
    else if (cookie == COOKIE)
        out->containers = tn_cursor_u32le(&r->in);
    else
        TN_TRY(damaged(r, "no roaring bitmap begins here"));
    if (r->in.failed || out->containers > CONTAINERS_MAX)
        TN_TRY(damaged(r, "a bitmap of more than 65,536 containers"));
    if (out->has_runs)
        out->runs = tn_cursor_bytes(&r->in, (out->containers + 7) / 8);
    out->heads = tn_cursor_bytes(&r->in, (size_t)out->containers * DESCRIPTION_BYTES);
    if (!out->has_runs || out->containers >= OFFSETS_FROM)
        (void)tn_cursor_bytes(&r->in, (size_t)out->containers * 4);
    if (r->in.failed)
        TN_TRY(damaged(r, "a bitmap that is cut off"));
done:
    return rc;
}

static int take_bitmap(reader *r, int64_t high)
{
    bitmap map;
    tn_cursor heads;
    uint64_t total = 0;
    int64_t before = -1;
    int rc = TARN_OK;

    TN_TRY(take_heads(r, &map));
    heads = tn_cursor_of(map.heads, (size_t)map.containers * DESCRIPTION_BYTES);
    for (uint32_t i = 0; i < map.containers; i++) {
        (void)take_u16(&heads);
        total += take_u16(&heads) + 1;
    }
    if (total > r->max - r->count)
        TN_TRY(tn_fail(r->cx, TARN_E_LIMIT, "%.*s: more than %llu record positions",
                       TN_STR_ARG(r->where), (unsigned long long)r->max));
    TN_TRY(make_room(r, (size_t)total));
    heads.at = 0;
    for (uint32_t i = 0; i < map.containers; i++) {
        uint32_t key = take_u16(&heads);
        size_t want = take_u16(&heads) + 1;
        int64_t base = high << 32 | (int64_t)key << 16;
        bool good = (int64_t)key > before;

        if (good && map.has_runs && (map.runs[i / 8] >> (i % 8) & 1) != 0)
            good = take_runs(r, base, want);
        else if (good)
            good = want <= ARRAY_VALUES_MAX ? take_array(r, base, want) : take_bits(r, base, want);
        if (!good || r->in.failed)
            TN_TRY(
                damaged(r, "a container whose values are not as many as it says, or not in order"));
        before = key;
    }
done:
    return rc;
}

static int take_buckets(reader *r)
{
    uint64_t buckets = tn_cursor_u64le(&r->in);
    int64_t before = -1;
    int rc = TARN_OK;

    for (uint64_t i = 0; i < buckets; i++) {
        uint32_t high = tn_cursor_u32le(&r->in);

        if (r->in.failed)
            TN_TRY(damaged(r, "a bitmap that is cut off"));
        if ((int64_t)high <= before || high > INT32_MAX)
            TN_TRY(damaged(r, "buckets that are not in order"));
        TN_TRY(take_bitmap(r, high));
        before = high;
    }
    if (!tn_cursor_ended(&r->in))
        TN_TRY(damaged(r, "the bitmap ends elsewhere"));
done:
    return rc;
}

int tn_log_positions_parse(tarn_cx *cx, tn_str text, tn_str where, uint64_t max, tn_arena *arena,
                           int64_t **positions, size_t *count)
{
    reader r = {.cx = cx, .where = where, .arena = arena, .max = max};
    tn_buf bytes = {0};
    int rc = TARN_OK;

    if (!tn_base64_decode(&bytes, text)) {
        TN_TRY(tn_buf_check(cx, &bytes));
        TN_TRY(damaged(&r, "no base64"));
    }
    r.in = tn_cursor_over(&bytes);
    TN_TRY(take_buckets(&r));
    *positions = r.values;
    *count = r.count;
done:
    tn_buf_clear(&bytes);
    return rc;
}
