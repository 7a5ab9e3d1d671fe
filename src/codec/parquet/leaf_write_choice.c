/* Which encoding a column gets.
 *
 * Only encodings that every peer reads in data page v1 are chosen: PLAIN, RLE_DICTIONARY, RLE for
 * booleans, and the three delta encodings (Spark 3.5's vectorized reader reads all of these).
 * BYTE_STREAM_SPLIT is not chosen unless the caller allows it: that reader refuses it. Decimals in
 * byte arrays stay PLAIN: DuckDB reads the delta encodings of text and blobs only.
 *
 * The dictionary is judged once, on the first page, where it can still be dropped without trace.
 *   - When that page is the whole chunk: kept if it has at most half as many entries as there are
 *     values, and dictionary and indices together are smaller than the plain values.
 *   - When more may follow: likewise for integers, which plain or delta pages serve about as well.
 *     For others the number of distinct values is guessed from the repeats seen so far, as if
 *     values were drawn evenly; kept if all of them fit the dictionary's limit and an index is at
 *     most half as large as a value. (50,000 user names in a long chunk: four of five values of the
 *     first 20,000 are new, and yet the dictionary halves the column.)
 *   - Integers: not kept when delta takes less than half as much: sorted or clustered numbers
 *     (timestamps, ids) with some repeats shrink to a few bits.
 *
 * The encoding of plain pages is then judged by trial on a sample of the first plain page: each
 * candidate is encoded and compressed with the chunk's own codec, since an encoding that wins
 * before compression often loses after it. Another encoding than PLAIN must save a twentieth, and
 * DELTA_BYTE_ARRAY, whose every value the reader pieces together, an eighth more. A chunk keeps its
 * choice: what the first rows show holds for the rest in nearly every real table, and a wrong guess
 * costs bytes, never correctness.
 *
 * So does the next chunk of the column, if it is told of the choice (tn_chunk_writer_follow). A
 * dictionary that did not pay is given up again as soon as a few values are nearly all distinct;
 * where they are not, it is judged as usual. */
#include "codec/parquet/encode.h"
#include "codec/parquet/leaf_write_state.h"

#include <math.h>

#define SAMPLE_VALUES_MAX 4096
#define SAMPLE_BYTES_MAX  (256u << 10)
#define DOUBTED_VALUES    1024 /* of a dictionary that did not pay before */

int tn_choice_encode(tarn_cx *cx, tn_buf *out, const tn_leaf *leaf, int32_t encoding,
                     tn_values values)
{
    size_t n = (size_t)values.count;
    size_t at;
    uint32_t len;

    switch (encoding) {
    case TN_ENC_PLAIN:
        tn_encode_plain(out, leaf, values);
        break;
    case TN_ENC_RLE: /* booleans, with their length before them */
        at = out->len;
        tn_buf_u32le(out, 0);
        tn_encode_hybrid(out, values.data, 1, n, 1);
        if (!out->failed) {
            len = (uint32_t)(out->len - at - 4);
            memcpy(out->data + at, &len, 4);
        }
        break;
    case TN_ENC_DELTA_BINARY_PACKED:
        if (leaf->physical == TN_INT32)
            tn_encode_delta32(out, values.data, n);
        else
            tn_encode_delta64(out, values.data, n);
        break;
    case TN_ENC_DELTA_LENGTH_BYTE_ARRAY:
        tn_encode_delta_length(out, values.data, n);
        break;
    case TN_ENC_DELTA_BYTE_ARRAY:
        tn_encode_delta_bytes(out, values.data, n);
        break;
    case TN_ENC_BYTE_STREAM_SPLIT:
        tn_encode_split(out, values.data, n, tn_leaf_width(leaf));
        break;
    }
    return tn_buf_check(cx, out);
}

/* How many values there are if `count` even draws showed `distinct` of them: the K for which
 * K (1 - exp(-count / K)) is `distinct`. */
static double guess_distinct(double distinct, double count)
{
    double low = distinct, high = 1e12;

    for (int i = 0; i < 100 && high - low > 1; i++) {
        double middle = (low + high) / 2;

        if (middle * -expm1(-count / middle) < distinct)
            low = middle;
        else
            high = middle;
    }
    return high;
}

bool tn_choice_outgrows(const tn_chunk_writer *w, int64_t values)
{
    double entry = (double)w->dict.plain.len / w->dict.count;
    double distinct = guess_distinct(w->dict.count, (double)values);
    unsigned width = distinct < UINT32_MAX ? tn_encode_width((uint32_t)distinct) : 32;

    return distinct * entry > (double)w->options.dictionary_bytes_max || width * 2 > entry * 8;
}

static uint64_t plain_bytes(const tn_chunk_writer *w)
{
    const uint32_t *indices = (const uint32_t *)(const void *)w->page.indices.data;
    uint64_t total = 0;

    if (!w->dict.views)
        return (uint64_t)w->page.values * w->dict.width;
    for (int64_t i = 0; i < w->page.values; i++)
        total += 4 + (uint64_t)tn_dict_view(&w->dict, indices[i]).len;
    return total;
}

/* The pending values by delta. */
static int delta_bytes(tarn_cx *cx, tn_chunk_writer *w, uint64_t *out)
{
    const uint32_t *indices = (const uint32_t *)(const void *)w->page.indices.data;
    size_t width = w->dict.width;
    tn_buf delta = {0};
    int rc = TARN_OK;

    tn_buf_reset(&w->scratch);
    for (int64_t i = 0; i < w->page.values; i++)
        tn_buf_add(&w->scratch, w->dict.plain.data + indices[i] * width, width);
    TN_TRY(tn_buf_check(cx, &w->scratch));
    TN_TRY(tn_choice_encode(cx, &delta, w->leaf, TN_ENC_DELTA_BINARY_PACKED,
                            (tn_values){w->scratch.data, w->page.values}));
    *out = delta.len;
done:
    tn_buf_clear(&delta);
    return rc;
}

int tn_choice_drops_dictionary(tarn_cx *cx, tn_chunk_writer *w, bool *out)
{
    bool integer = w->leaf->physical == TN_INT32 || w->leaf->physical == TN_INT64;
    bool whole = w->page.rows < w->options.page_rows;
    uint64_t coded, delta;
    int rc = TARN_OK;

    if (!integer && !whole) {
        *out = tn_choice_outgrows(w, w->page.values);
        goto done;
    }
    *out = (int64_t)w->dict.count * 2 > w->page.values;
    if (*out)
        goto done;
    tn_buf_reset(&w->scratch);
    tn_encode_hybrid(&w->scratch, w->page.indices.data, 4, (size_t)w->page.values,
                     tn_encode_width(w->dict.count));
    TN_TRY(tn_buf_check(cx, &w->scratch));
    coded = w->dict.plain.len + w->scratch.len;
    *out = coded >= plain_bytes(w);
    if (*out || !integer)
        goto done;
    TN_TRY(delta_bytes(cx, w, &delta));
    *out = delta * 2 < coded;
done:
    return rc;
}

void tn_chunk_writer_follow(tn_chunk_writer *w, const tn_chunk_choice *choice)
{
    w->dict_doubted = w->dictionary && choice->distinct;
    if (choice->encoding_chosen && !w->encoding_chosen) {
        w->encoding_chosen = true;
        w->encoding = choice->encoding;
    }
    w->level_judged = choice->level_judged;
    w->quick = choice->quick;
}

tn_chunk_choice tn_chunk_writer_choice(const tn_chunk_writer *w)
{
    return (tn_chunk_choice){
        .distinct = !w->dictionary && w->dict_written == 0 && !w->ready_dictionary,
        .encoding_chosen = w->encoding_chosen,
        .encoding = w->encoding,
        .level_judged = w->level_judged,
        .quick = w->quick,
    };
}

bool tn_choice_still_distinct(const tn_chunk_writer *w)
{
    return w->dict_doubted && w->dict_written == 0 && w->page.values >= DOUBTED_VALUES &&
           (int64_t)w->dict.count * 8 >= w->page.values * 7;
}

/* Candidates besides PLAIN, PLAIN ending the list. */
static void candidates(const tn_chunk_writer *w, int32_t *list)
{
    switch (w->leaf->physical) {
    case TN_BOOLEAN:
        *list++ = TN_ENC_RLE;
        break;
    case TN_INT32:
    case TN_INT64:
        *list++ = TN_ENC_DELTA_BINARY_PACKED;
        break;
    case TN_FLOAT:
    case TN_DOUBLE:
        if (w->options.byte_stream_split)
            *list++ = TN_ENC_BYTE_STREAM_SPLIT;
        break;
    case TN_BYTE_ARRAY:
        if (w->options.plain_bytes || w->order == TN_BOUNDS_DECIMAL)
            break;
        *list++ = TN_ENC_DELTA_LENGTH_BYTE_ARRAY;
        *list++ = TN_ENC_DELTA_BYTE_ARRAY;
        break;
    case TN_INT96:
    case TN_FIXED:
        break;
    }
    *list = TN_ENC_PLAIN;
}

static tn_values sample_of(const tn_leaf *leaf, tn_values values)
{
    size_t bytes = 0;
    int64_t n = 0;

    while (n < values.count && n < SAMPLE_VALUES_MAX && bytes < SAMPLE_BYTES_MAX) {
        bytes += leaf->physical == TN_BYTE_ARRAY ? ((const tn_view *)values.data)[n].len
                                                 : tn_leaf_width(leaf);
        n++;
    }
    return (tn_values){values.data, n};
}

static int measure(tarn_cx *cx, tn_chunk_writer *w, int32_t encoding, tn_values sample,
                   size_t *bytes)
{
    tn_zip *zip = tn_zip_of(cx);
    int rc = TARN_OK;

    if (zip == NULL)
        return TARN_E_NOMEM;
    tn_buf_reset(&w->body);
    tn_buf_reset(&w->packed);
    TN_TRY(tn_choice_encode(cx, &w->body, w->leaf, encoding, sample));
    if (w->options.codec != TN_CODEC_NONE)
        TN_TRY(tn_zip_pack(cx, zip, w->options.codec, w->options.level, tn_buf_view(&w->body),
                           &w->packed));
    TN_TRY(tn_buf_check(cx, &w->packed));
    *bytes = w->options.codec == TN_CODEC_NONE ? w->body.len : w->packed.len;
done:
    return rc;
}

int tn_choice_of_encoding(tarn_cx *cx, tn_chunk_writer *w, tn_values values, int32_t *out)
{
    tn_values sample = sample_of(w->leaf, values);
    int32_t list[3] = {TN_ENC_PLAIN}, best = TN_ENC_PLAIN;
    size_t least, bytes;
    int rc = TARN_OK;

    candidates(w, list);
    if (list[0] != TN_ENC_PLAIN && sample.count > 0) {
        TN_TRY(measure(cx, w, TN_ENC_PLAIN, sample, &least));
        least -= least / 20;
        for (size_t i = 0; list[i] != TN_ENC_PLAIN; i++) {
            TN_TRY(measure(cx, w, list[i], sample, &bytes));
            if (list[i] == TN_ENC_DELTA_BYTE_ARRAY)
                bytes += bytes / 8;
            if (bytes < least) {
                least = bytes;
                best = list[i];
            }
        }
    }
    *out = best;
done:
    return rc;
}
