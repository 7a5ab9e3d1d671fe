/* Hudi's bloom filter over record keys: what is added, and what it has. (Its printed form is in
 * key_filter_text.c.) A dynamic filter that fills up:
 *
 *     growing --[row full, rows * keys a row < keys_max: place_next adds a row]--> growing
 *     growing --[row full, else: place_next]--> bounded: keys go to the rows in turn
 *
 * I1: keys are added in the order given, repeated ones too: each counts, and decides on rows.
 * I2: bits at and beyond `bits` in the last word of a row are 0.
 * I3: the planes belong to the last row of a filter that is not bounded. A key of that row is in
 *     the row or in one of them; printing brings them together.
 * I4: a filter that was parsed never gets another row: what its most keys were is not in the text.
 */
#include "codec/bloom/key_filter.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "codec/bloom/key_filter_parts.h"
#include "codec/bloom/murmur.h"

#define PIECE_KEYS 8192
/* A piece of a thread of its own must be worth the bits that are joined for it later. */
#define PLANE_BITS_A_KEY 256

int tn_key_filter_row_add(tarn_cx *cx, tn_key_filter *filter)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &filter->rows, filter->count, &filter->cap, sizeof *filter->rows));
    filter->rows[filter->count] = tn_calloc(cx, tn_key_filter_row_words(filter), sizeof(uint32_t));
    if (filter->rows[filter->count] == NULL)
        TN_TRY(TARN_E_NOMEM);
    filter->count++;
done:
    return rc;
}

int tn_key_filter_open(tarn_cx *cx, enum tn_key_filter_kind kind, uint64_t keys, double fpp,
                       uint64_t keys_max, tn_key_filter **out)
{
    tn_key_filter *filter = NULL;
    double bits;
    int rc = TARN_OK;

    if (!(fpp > 0 && fpp < 1))
        TN_FAIL(TARN_E_INVALID,
                "a key filter has a rate of false hits between 0 and 1, not %g; set "
                "hoodie.index.bloom.fpp",
                fpp);
    keys = keys > TN_KEY_FILTER_KEYS_MIN ? keys : TN_KEY_FILTER_KEYS_MIN;
    bits = ceil((double)keys * (-log(fpp) / (log(2.0) * log(2.0))));
    if (keys > INT32_MAX || bits > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "a key filter for %llu keys at a rate of %g takes %.0f bits, and has at most %d; "
                "write smaller files, or raise hoodie.index.bloom.fpp",
                (unsigned long long)keys, fpp, bits, INT32_MAX);
    filter = tn_calloc(cx, 1, sizeof *filter);
    if (filter == NULL)
        TN_TRY(TARN_E_NOMEM);
    filter->kind = kind;
    filter->hash_type = TN_KEY_FILTER_MURMUR;
    filter->bits = (uint32_t)bits;
    filter->hashes = (uint32_t)ceil(log(2.0) * bits / (double)keys);
    filter->row_keys = (uint32_t)keys;
    filter->keys_max = keys_max;
    TN_TRY(tn_key_filter_row_add(cx, filter));
    *out = filter;
    filter = NULL;
done:
    tn_key_filter_close(filter);
    return rc;
}

void tn_key_filter_close(tn_key_filter *filter)
{
    if (filter == NULL)
        return;
    for (size_t i = 0; i < filter->count; i++)
        free(filter->rows[i]);
    for (size_t i = 0; i < filter->plane_count; i++)
        free(filter->planes[i]);
    free(filter->rows);
    free(filter->planes);
    free(filter);
}

/* Keys that wait for others of their length. */
typedef struct gathered {
    const tn_key_filter *filter;
    uint32_t *words;
    uint8_t count[TN_MURMUR_BYTES_MAX + 1];
    const uint8_t *keys[TN_MURMUR_BYTES_MAX + 1][TN_MURMUR_LANES];
} gathered;

static void set_one(const tn_key_filter *filter, uint32_t *words, const uint8_t *key, size_t len)
{
    int32_t hash = 0;

    for (uint32_t i = 0; i < filter->hashes; i++) {
        uint32_t bit;

        hash = tn_murmur(key, len, hash);
        bit = tn_murmur_bit(hash, filter->bits);
        words[bit / 32] |= 1u << (bit % 32);
    }
}

static void gathered_add(gathered *g, const uint8_t *key, size_t len)
{
    if (len > TN_MURMUR_BYTES_MAX) {
        set_one(g->filter, g->words, key, len);
        return;
    }
    g->keys[len][g->count[len]++] = key;
    if (g->count[len] < TN_MURMUR_LANES)
        return;
    tn_murmur_set(g->keys[len], len, g->filter->hashes, g->filter->bits, g->words);
    g->count[len] = 0;
}

/* The lanes that stay empty repeat a key: its bits are the same. */
static void gathered_flush(gathered *g)
{
    for (size_t len = 1; len <= TN_MURMUR_BYTES_MAX; len++) {
        size_t count = g->count[len];

        if (count == 0)
            continue;
        if (count < TN_MURMUR_LANES / 8) {
            for (size_t i = 0; i < count; i++)
                set_one(g->filter, g->words, g->keys[len][i], len);
            continue;
        }
        for (size_t i = count; i < TN_MURMUR_LANES; i++)
            g->keys[len][i] = g->keys[len][0];
        tn_murmur_set(g->keys[len], len, g->filter->hashes, g->filter->bits, g->words);
    }
}

/* Keys first, first + step, ... below end. */
typedef struct run {
    const char *data;
    const int32_t *offsets;
    int64_t first, end, step;
} run;

static void set_keys(const tn_key_filter *filter, const run *keys, uint32_t *words)
{
    gathered g;

    g.filter = filter;
    g.words = words;
    memset(g.count, 0, sizeof g.count);
    for (int64_t i = keys->first; i < keys->end; i += keys->step)
        gathered_add(&g, (const uint8_t *)keys->data + keys->offsets[i],
                     (size_t)(keys->offsets[i + 1] - keys->offsets[i]));
    gathered_flush(&g);
}

typedef struct shares {
    const tn_key_filter *filter;
    run keys;
    size_t count;
} shares;

static int set_share(tarn_cx *cx, size_t i, void *arg)
{
    const shares *in = arg;
    const tn_key_filter *filter = in->filter;
    int64_t all = in->keys.end - in->keys.first;
    run part = in->keys;

    part.first = in->keys.first + all * (int64_t)i / (int64_t)in->count;
    part.end = in->keys.first + all * (int64_t)(i + 1) / (int64_t)in->count;
    set_keys(filter, &part, i == 0 ? filter->rows[filter->count - 1] : filter->planes[i - 1]);
    return tn_cx_check(cx);
}

/* Planes for `want` threads beside the caller; fewer when memory is short. */
static void planes_make(tarn_cx *cx, tn_key_filter *filter, size_t want)
{
    if (filter->planes == NULL)
        filter->planes = tn_calloc(cx, TN_JOBS_MAX, sizeof *filter->planes);
    while (filter->planes != NULL && filter->plane_count < want) {
        uint32_t *plane = tn_calloc(cx, tn_key_filter_row_words(filter), sizeof(uint32_t));

        if (plane == NULL)
            break;
        filter->planes[filter->plane_count++] = plane;
    }
    if (filter->planes == NULL || filter->plane_count < want)
        tn_cx_forget(cx);
}

/* Brings planes and last row together (I3). */
static void planes_join(tn_key_filter *filter)
{
    size_t words = tn_key_filter_row_words(filter);

    for (size_t p = 0; p < filter->plane_count; p++) {
        uint32_t *row = filter->rows[filter->count - 1];

        for (size_t i = 0; i < words; i++)
            row[i] |= filter->planes[p][i];
        free(filter->planes[p]);
    }
    filter->plane_count = 0;
}

static int add_to_last(tarn_cx *cx, tn_key_filter *filter, const run *keys)
{
    shares in = {filter, *keys, 1};
    int64_t count = keys->end - keys->first;
    size_t jobs = tn_cx_jobs(cx);

    if ((int64_t)jobs > count / PIECE_KEYS)
        jobs = (size_t)(count / PIECE_KEYS);
    if (jobs > TN_JOBS_MAX)
        jobs = TN_JOBS_MAX;
    if (jobs > 1 && (uint64_t)count * PLANE_BITS_A_KEY >= filter->bits * (uint64_t)jobs)
        planes_make(cx, filter, jobs - 1);
    in.count = jobs > filter->plane_count + 1 ? filter->plane_count + 1 : jobs > 0 ? jobs : 1;
    return tn_parallel(cx, in.count, set_share, &in);
}

static int set_row(tarn_cx *cx, size_t i, void *arg)
{
    const shares *in = arg;
    run keys = in->keys;

    keys.first += (int64_t)((i + in->filter->count - in->filter->turn) % in->filter->count);
    keys.step = (int64_t)in->filter->count;
    set_keys(in->filter, &keys, in->filter->rows[i]);
    return tn_cx_check(cx);
}

/* Rows in turn, the row of `turn` first. */
static int add_in_turn(tarn_cx *cx, tn_key_filter *filter, const run *keys)
{
    shares in = {filter, *keys, 0};
    int rc = TARN_OK;

    TN_TRY(tn_parallel(cx, filter->count, set_row, &in));
    filter->turn = (uint32_t)((filter->turn + (uint64_t)(keys->end - keys->first)) % filter->count);
done:
    return rc;
}

/* Where the next key goes, and how many after it go the same way. */
static int place_next(tarn_cx *cx, tn_key_filter *filter, int64_t left, int64_t *count)
{
    int rc = TARN_OK;

    *count = left;
    if (filter->kind == TN_KEY_FILTER_SIMPLE || filter->bounded)
        goto done;
    if (filter->row_count < filter->row_keys) {
        uint32_t room = filter->row_keys - filter->row_count;

        *count = left < room ? left : room;
        goto done;
    }
    if (filter->parsed)
        TN_FAIL(TARN_E_INVALID, "this key filter is full, and was read from a file: make a new one "
                                "of all keys of the file");
    planes_join(filter);
    if ((uint64_t)filter->count * filter->row_keys < filter->keys_max) {
        TN_TRY(tn_key_filter_row_add(cx, filter));
        filter->row_count = 0;
        *count = left < filter->row_keys ? left : filter->row_keys;
        goto done;
    }
    /* The key that finds all rows full goes to row 0, and so does the one after it. */
    filter->bounded = true;
    filter->turn = 0;
    *count = 1;
done:
    return rc;
}

static int check_keys(tarn_cx *cx, const tn_key_filter *filter, const int32_t *offsets,
                      int64_t count)
{
    int rc = TARN_OK;

    if (filter->hash_type != TN_KEY_FILTER_MURMUR)
        TN_FAIL(TARN_E_UNSUPPORTED, "this key filter is of an old form that is not written any "
                                    "more: make a new one of all keys of the file");
    for (int64_t i = 0; i < count; i++)
        if (offsets[i] == offsets[i + 1])
            TN_FAIL(TARN_E_INVALID,
                    "record key %lld of the rows written is empty; every row needs "
                    "a key",
                    (long long)i);
done:
    return rc;
}

int tn_key_filter_add(tarn_cx *cx, tn_key_filter *filter, const char *data, const int32_t *offsets,
                      int64_t count)
{
    int64_t at = 0, here;
    int rc = TARN_OK;

    TN_TRY(check_keys(cx, filter, offsets, count));
    while (at < count) {
        bool was_bounded = filter->bounded;
        run keys = {data, offsets, at, count, 1};

        TN_TRY(place_next(cx, filter, count - at, &here));
        keys.end = at + here;
        if (filter->bounded && was_bounded)
            TN_TRY(add_in_turn(cx, filter, &keys));
        else if (filter->bounded)
            set_keys(filter, &keys, filter->rows[0]);
        else
            TN_TRY(add_to_last(cx, filter, &keys));
        filter->row_count += (uint32_t)here;
        at += here;
    }
done:
    return rc;
}

static bool row_has(const tn_key_filter *filter, size_t row, tn_str key)
{
    bool last = row + 1 == filter->count;
    int32_t hash = 0;

    for (uint32_t i = 0; i < filter->hashes; i++) {
        uint32_t bit, word;

        hash = tn_murmur((const uint8_t *)key.ptr, key.len, hash);
        bit = tn_murmur_bit(hash, filter->bits);
        word = filter->rows[row][bit / 32];
        for (size_t p = 0; last && p < filter->plane_count; p++)
            word |= filter->planes[p][bit / 32];
        if ((word >> (bit % 32) & 1) == 0)
            return false;
    }
    return true;
}

bool tn_key_filter_has(const tn_key_filter *filter, tn_str key)
{
    if (filter->hash_type != TN_KEY_FILTER_MURMUR)
        return true;
    for (size_t i = 0; i < filter->count; i++)
        if (row_has(filter, i, key))
            return true;
    return false;
}

uint64_t tn_key_filter_room(const tn_key_filter *filter, uint64_t keys_in_file)
{
    uint64_t room = filter->row_keys, used = keys_in_file;

    if (filter->hash_type != TN_KEY_FILTER_MURMUR)
        return 0;
    if (filter->kind == TN_KEY_FILTER_DYNAMIC && (filter->count > 1 || used < filter->row_count))
        used = filter->row_count;
    return room > used ? room - used : 0;
}
