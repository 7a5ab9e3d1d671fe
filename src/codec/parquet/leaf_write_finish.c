/* The end of a chunk: dictionary page, metadata, statistics, indexes, bloom filter.
 *
 * I1: Offsets are relative to the chunk's first byte; the dictionary page, when there is one, is
 *     first.
 * I2: The column index is whole or missing: every page has bounds or holds nulls only.
 * I3: What is not known for every page (null counts, histograms, bounds) is not stated at all. */
#include "codec/parquet/leaf_write.h"

#include <stdlib.h>

#include "base/budget.h"
#include "codec/parquet/leaf_write_state.h"

static const tn_written_page *notes_of(const tn_chunk_writer *w)
{
    return (const tn_written_page *)(const void *)w->notes.data;
}

void tn_encoded_chunk_clear(tn_encoded_chunk *chunk)
{
    if (chunk->reserved_bytes != 0) {
        tarn_cx cx = {.budget = chunk->budget};

        tn_budget_give(&cx, chunk->reserved_bytes);
    }
    for (size_t i = 0; i < chunk->piece_count; i++)
        tn_buf_clear(&chunk->pieces[i]);
    free(chunk->pieces);
    tn_buf_clear(&chunk->bloom);
    tn_arena_clear(&chunk->arena);
    *chunk = (tn_encoded_chunk){0};
}

/* The dictionary page of rows added, put before all others. */
static int put_dictionary(tarn_cx *cx, tn_chunk_writer *w)
{
    tn_page_header header = {.type = TN_PAGE_DICTIONARY,
                             .values = (int32_t)w->dict.count,
                             .nulls = -1,
                             .rows = -1,
                             .encoding = TN_ENC_PLAIN};
    tn_buf piece = {0}, *pieces;
    int rc = TARN_OK;

    if (w->dict_written == 0)
        goto done;
    tn_buf_reset(&w->body);
    tn_buf_add(&w->body, w->dict.plain.data, w->dict.plain.len);
    TN_TRY(tn_buf_check(cx, &w->body));
    TN_TRY(tn_write_pack(cx, w, &header, 0, &piece, &w->dictionary_uncompressed_bytes));
    w->dictionary_stat = (tn_encoding_stat){TN_PAGE_DICTIONARY, TN_ENC_PLAIN, 1};
    w->dictionary_bytes = piece.len;
    tn_buf_add(&w->pieces, &piece, sizeof piece);
    TN_TRY(tn_buf_check(cx, &w->pieces));
    pieces = (tn_buf *)(void *)w->pieces.data;
    memmove(pieces + 1, pieces, w->pieces.len - sizeof piece);
    pieces[0] = piece;
    piece = (tn_buf){0};
done:
    tn_buf_clear(&piece);
    return rc;
}

static void count_encoding(tn_chunk_meta *meta, int32_t type, int32_t encoding)
{
    for (size_t i = 0; i < meta->encoding_stat_count; i++)
        if (meta->encoding_stats[i].page_type == type &&
            meta->encoding_stats[i].encoding == encoding) {
            meta->encoding_stats[i].count++;
            return;
        }
    meta->encoding_stats[meta->encoding_stat_count++] = (tn_encoding_stat){type, encoding, 1};
}

static void add_encoding(tn_chunk_meta *meta, int32_t encoding)
{
    for (size_t i = 0; i < meta->encoding_count; i++)
        if (meta->encodings[i] == encoding)
            return;
    meta->encodings[meta->encoding_count++] = encoding;
}

static int put_encodings(tarn_cx *cx, const tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_chunk_meta *meta = &out->meta;
    size_t pages = tn_write_page_count(w);
    int rc = TARN_OK;

    meta->encoding_stats = tn_arena_array(cx, &out->arena, pages + 1, sizeof(tn_encoding_stat));
    meta->encodings = tn_arena_array(cx, &out->arena, pages + 2, sizeof(int32_t));
    if (meta->encoding_stats == NULL || meta->encodings == NULL)
        return TARN_E_NOMEM;
    if (w->dictionary_bytes != 0)
        meta->encoding_stats[meta->encoding_stat_count++] = w->dictionary_stat;
    for (size_t i = 0; i < pages; i++)
        count_encoding(meta, notes_of(w)[i].type, notes_of(w)[i].encoding);
    for (size_t i = 0; i < meta->encoding_stat_count; i++)
        add_encoding(meta, meta->encoding_stats[i].encoding);
    if (w->leaf->max_def > 0 || w->leaf->max_rep > 0)
        add_encoding(meta, TN_ENC_RLE);
    return rc;
}

/* -1 when a page's is unknown. */
static int64_t null_count(const tn_chunk_writer *w)
{
    int64_t nulls = 0;

    for (size_t i = 0; i < tn_write_page_count(w); i++) {
        if (notes_of(w)[i].nulls < 0)
            return -1;
        nulls += notes_of(w)[i].nulls;
    }
    return nulls;
}

/* -1 when a page's is unknown. */
static int64_t nan_count(const tn_chunk_writer *w)
{
    int64_t nans = 0;

    for (size_t i = 0; i < tn_write_page_count(w); i++) {
        if (notes_of(w)[i].nans < 0)
            return -1;
        nans += notes_of(w)[i].nans;
    }
    return nans;
}

/* Every page by the one dictionary, every entry of it used, and values that differ when their bytes
 * do. */
static bool distinct_known(const tn_chunk_writer *w)
{
    if (w->ready || w->dict_spare || tn_bounds_real(w->order) || w->dict_written == 0 ||
        w->dict_written != w->dict.count)
        return false;
    for (size_t i = 0; i < tn_write_page_count(w); i++)
        if (!notes_of(w)[i].null_page && notes_of(w)[i].encoding != TN_ENC_RLE_DICTIONARY)
            return false;
    return true;
}

static int keep(tarn_cx *cx, tn_encoded_chunk *out, tn_buf *bytes, tn_str *view)
{
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, bytes));
    *view = tn_buf_view(bytes);
    TN_TRY(tn_arena_keep(cx, &out->arena, view));
done:
    return rc;
}

static int put_bounds(tarn_cx *cx, tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_statistics *s = &out->meta.statistics;
    bool shorten = w->order == TN_BOUNDS_BYTES && w->leaf->physical == TN_BYTE_ARRAY;
    size_t bound = shorten ? w->options.bound_bytes_max : SIZE_MAX;
    int rc = TARN_OK;

    if (!w->bounds.any || w->bounds_unknown)
        goto done;
    tn_buf_reset(&w->scratch);
    tn_bounds_lower(&w->scratch, tn_buf_view(&w->bounds.min), w->text, bound, &s->min_exact);
    TN_TRY(keep(cx, out, &w->scratch, &s->min_value));
    s->has_min_value = true;
    tn_buf_reset(&w->scratch);
    s->has_max_value =
        tn_bounds_upper(&w->scratch, tn_buf_view(&w->bounds.max), w->text, bound, &s->max_exact);
    TN_TRY(keep(cx, out, &w->scratch, &s->max_value));
    s->has_min_exact = !(w->bounds_inexact && s->min_exact);
    s->has_max_exact = s->has_max_value && !(w->bounds_inexact && s->max_exact);
    if (tn_bounds_signed(w->order)) {
        s->has_min = s->has_max = true;
        s->min = s->min_value;
        s->max = s->max_value;
    }
done:
    return rc;
}

static int put_statistics(tarn_cx *cx, tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_statistics *s = &out->meta.statistics;
    int64_t nulls = null_count(w), nans = nan_count(w);
    int rc = TARN_OK;

    s->has_null_count = nulls >= 0;
    s->null_count = nulls >= 0 ? nulls : 0;
    if (distinct_known(w)) {
        s->has_distinct_count = true;
        s->distinct_count = w->dict.count;
    }
    s->has_nan_count = tn_bounds_real(w->order) && nans >= 0;
    s->nan_count = s->has_nan_count ? nans : 0;
    TN_TRY(put_bounds(cx, w, out));
    out->meta.has_statistics =
        s->has_null_count || s->has_nan_count || s->has_distinct_count || s->has_min_value;
done:
    return rc;
}

/* Sums of the pages' histograms. */
static int fold(tarn_cx *cx, tn_arena *arena, const tn_buf *pages, size_t levels, int64_t **out)
{
    const int64_t *from = (const int64_t *)(const void *)pages->data;
    int64_t *sum = tn_arena_array(cx, arena, levels, sizeof *sum);

    if (sum == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < pages->len / sizeof *from; i++)
        sum[i % levels] += from[i];
    *out = sum;
    return TARN_OK;
}

static int put_sizes(tarn_cx *cx, const tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_size_statistics *s = &out->meta.size_statistics;
    int rc = TARN_OK;

    s->has_unencoded = w->leaf->physical == TN_BYTE_ARRAY;
    for (size_t i = 0; i < tn_write_page_count(w); i++) {
        s->has_unencoded &= notes_of(w)[i].unencoded_bytes >= 0;
        s->unencoded_bytes += notes_of(w)[i].unencoded_bytes;
    }
    s->unencoded_bytes = s->has_unencoded ? s->unencoded_bytes : 0;
    if (!w->histograms_unknown && w->leaf->max_rep > 0) {
        s->rep_count = w->leaf->max_rep + (size_t)1;
        TN_TRY(fold(cx, &out->arena, &w->rep_histograms, s->rep_count, &s->rep_histogram));
    }
    if (!w->histograms_unknown && w->leaf->max_def > 0) {
        s->def_count = w->leaf->max_def + (size_t)1;
        TN_TRY(fold(cx, &out->arena, &w->def_histograms, s->def_count, &s->def_histogram));
    }
    s->present = s->has_unencoded || s->rep_count > 0 || s->def_count > 0;
done:
    return rc;
}

static int32_t boundary_order(const tn_chunk_writer *w, const tn_column_index *index)
{
    bool ascending = true, descending = true;
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < index->pages; i++) {
        int min, max;

        if (index->null_pages[i])
            continue;
        if (last != SIZE_MAX) {
            min = tn_bounds_compare(w->order, index->min[last], index->min[i]);
            max = tn_bounds_compare(w->order, index->max[last], index->max[i]);
            ascending &= min <= 0 && max <= 0;
            descending &= min >= 0 && max >= 0;
        }
        last = i;
    }
    return ascending ? TN_ASCENDING : descending ? TN_DESCENDING : TN_UNORDERED;
}

static int copy_histograms(tarn_cx *cx, tn_arena *arena, const tn_buf *from, int64_t **out,
                           size_t *count)
{
    if (from->len == 0)
        return TARN_OK;
    *out = tn_arena_array(cx, arena, from->len / sizeof **out, sizeof **out);
    if (*out == NULL)
        return TARN_E_NOMEM;
    memcpy(*out, from->data, from->len);
    *count = from->len / sizeof **out;
    return TARN_OK;
}

static int put_column_index(tarn_cx *cx, const tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_column_index *index = &out->column_index;
    size_t n = tn_write_page_count(w);
    tn_str pool = tn_buf_view(&w->bound_bytes);
    bool nans = tn_bounds_real(w->order) && nan_count(w) >= 0;
    int rc = TARN_OK;

    if (w->index_unbounded || n == 0)
        goto done;
    TN_TRY(tn_arena_keep(cx, &out->arena, &pool));
    index->pages = n;
    index->null_pages = tn_arena_array(cx, &out->arena, n, sizeof *index->null_pages);
    index->min = tn_arena_array(cx, &out->arena, n, sizeof *index->min);
    index->max = tn_arena_array(cx, &out->arena, n, sizeof *index->max);
    if (null_count(w) >= 0)
        index->null_counts = tn_arena_array(cx, &out->arena, n, sizeof *index->null_counts);
    if (nans)
        index->nan_counts = tn_arena_array(cx, &out->arena, n, sizeof *index->nan_counts);
    if (index->null_pages == NULL || index->min == NULL || index->max == NULL ||
        (null_count(w) >= 0 && index->null_counts == NULL) || (nans && index->nan_counts == NULL))
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const tn_written_page *note = &notes_of(w)[i];

        index->null_pages[i] = note->null_page;
        index->min[i] = (tn_str){pool.ptr + note->min_at, note->min_len};
        index->max[i] = (tn_str){pool.ptr + note->max_at, note->max_len};
        if (index->null_counts != NULL)
            index->null_counts[i] = note->nulls;
        if (nans)
            index->nan_counts[i] = note->nans;
    }
    index->boundary_order = boundary_order(w, index);
    if (!w->histograms_unknown) {
        TN_TRY(copy_histograms(cx, &out->arena, &w->rep_histograms, &index->rep_histograms,
                               &index->rep_histogram_count));
        TN_TRY(copy_histograms(cx, &out->arena, &w->def_histograms, &index->def_histograms,
                               &index->def_histogram_count));
    }
    out->has_column_index = true;
done:
    return rc;
}

static int put_offset_index(tarn_cx *cx, const tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_offset_index *index = &out->offset_index;
    size_t n = tn_write_page_count(w);
    int64_t offset = (int64_t)w->dictionary_bytes, row = 0;
    bool sized = out->meta.size_statistics.has_unencoded;

    index->pages = n;
    index->locations = tn_arena_array(cx, &out->arena, n + 1, sizeof *index->locations);
    if (index->locations == NULL)
        return TARN_E_NOMEM;
    if (sized) {
        index->unencoded_bytes =
            tn_arena_array(cx, &out->arena, n + 1, sizeof *index->unencoded_bytes);
        if (index->unencoded_bytes == NULL)
            return TARN_E_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const tn_written_page *note = &notes_of(w)[i];

        if (note->bytes > INT32_MAX)
            return tn_fail(cx, TARN_E_LIMIT, "column %.*s: a page exceeds 2 GiB",
                           TN_STR_ARG(w->leaf->dotted));
        index->locations[i] = (tn_page_location){offset, (int32_t)note->bytes, row};
        if (sized)
            index->unencoded_bytes[i] = note->unencoded_bytes;
        offset += note->bytes;
        row += note->rows;
    }
    return TARN_OK;
}

static int put_path(tarn_cx *cx, const tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_chunk_meta *meta = &out->meta;
    int rc = TARN_OK;

    meta->path = tn_arena_array(cx, &out->arena, w->leaf->path_count, sizeof *meta->path);
    if (meta->path == NULL)
        return TARN_E_NOMEM;
    for (uint16_t i = 0; i < w->leaf->path_count; i++) {
        meta->path[i] = w->leaf->path[i];
        TN_TRY(tn_arena_keep(cx, &out->arena, &meta->path[i]));
    }
    meta->path_count = w->leaf->path_count;
done:
    return rc;
}

static int put_meta(tarn_cx *cx, tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_chunk_meta *meta = &out->meta;
    int rc = TARN_OK;

    meta->has_meta = true;
    meta->physical = (int32_t)w->leaf->physical;
    meta->codec = w->options.codec;
    meta->values = w->entries;
    meta->uncompressed_bytes = (int64_t)(w->uncompressed_bytes + w->dictionary_uncompressed_bytes);
    meta->compressed_bytes = (int64_t)(w->bytes + w->dictionary_bytes);
    meta->data_page_offset = (int64_t)w->dictionary_bytes;
    meta->has_dictionary_page_offset = w->dictionary_bytes != 0;
    TN_TRY(put_path(cx, w, out));
    TN_TRY(put_encodings(cx, w, out));
    TN_TRY(put_statistics(cx, w, out));
    TN_TRY(put_sizes(cx, w, out));
    TN_TRY(put_column_index(cx, w, out));
    TN_TRY(put_offset_index(cx, w, out));
done:
    return rc;
}

/* Gives the pieces and the share of the reservation that stands for them. */
static int give_pieces(tarn_cx *cx, tn_chunk_writer *w, tn_encoded_chunk *out)
{
    uint64_t held;
    int rc = TARN_OK;

    out->bytes = w->bytes + w->dictionary_bytes;
    out->rows = w->rows;
    out->entries = w->entries;
    TN_TRY(tn_chunk_writer_settle(cx, w));
    out->pieces = (tn_buf *)(void *)w->pieces.data;
    out->piece_count = w->pieces.len / sizeof(tn_buf);
    w->pieces = (tn_buf){0};
    out->budget = w->budget;
    held = out->bytes + out->bloom.len;
    out->reserved_bytes = held < w->reserved_bytes ? held : w->reserved_bytes;
    w->reserved_bytes -= out->reserved_bytes;
    w->bytes = w->dictionary_bytes = w->filter_bytes = 0;
done:
    return rc;
}

int tn_chunk_writer_finish(tarn_cx *cx, tn_chunk_writer *w, tn_encoded_chunk *out)
{
    tn_encoded_chunk chunk = {0};
    int rc = TARN_OK;

    TN_TRY(tn_chunk_writer_flush(cx, w));
    TN_TRY(put_dictionary(cx, w));
    TN_TRY(put_meta(cx, w, &chunk));
    TN_TRY(tn_write_filter(cx, w, &chunk.bloom));
    TN_TRY(give_pieces(cx, w, &chunk));
    *out = chunk;
    chunk = (tn_encoded_chunk){0};
done:
    tn_encoded_chunk_clear(&chunk);
    return rc;
}
