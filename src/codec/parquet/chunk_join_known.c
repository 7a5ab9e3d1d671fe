/* What is known of pages that nobody decodes: bounds, nulls, NaNs, sizes, histograms.
 *
 * I1: a bound is believed only of a writer whose order is known (order.h), when both are there, are
 *     values of the type, are no NaN and stand in order. Else there is none.
 * I2: bounds of a chunk hold for each of its pages; bounds of a dictionary for each page under it.
 * I3: what is known of one page only is stated only for that page. */
#include "codec/parquet/chunk_join_state.h"

#include "codec/parquet/order.h"

static bool believable(const tn_chunk_join *join, tn_str min, tn_str max)
{
    const tn_leaf *from = join->from;
    enum tn_bounds_order order = join->writer->order;
    tn_filter_value low, high;

    if (from->physical == TN_FIXED &&
        (min.len != from->type_length || max.len != from->type_length))
        return false;
    if (!tn_order_decode(from, min, &low) || !tn_order_decode(from, max, &high))
        return false;
    if (tn_bounds_real(order) && (tn_bounds_nan(order, min.ptr) || tn_bounds_nan(order, max.ptr)))
        return false;
    return tn_bounds_compare(order, min, max) <= 0;
}

/* The bounds that statistics hold, of a chunk or of a page. */
static tn_join_bounds bounds_of(const tn_chunk_join *join, const tn_statistics *s)
{
    tn_join_bounds out = {0};
    const tn_parquet *file = join->part->file;

    if (join->writer->order == TN_BOUNDS_NONE ||
        tn_bounds_order_of(join->from) != join->writer->order)
        return out;
    if (s->has_min_value && s->has_max_value && tn_order_trusted(file, join->from))
        out = (tn_join_bounds){.has = true,
                               .exact = s->has_min_exact && s->min_exact && s->has_max_exact &&
                                        s->max_exact,
                               .min = s->min_value,
                               .max = s->max_value};
    else if (!s->has_min_value && !s->has_max_value && s->has_min && s->has_max &&
             tn_order_trusted_old(file, join->from))
        out = (tn_join_bounds){.has = true, .min = s->min, .max = s->max};
    if (out.has && !believable(join, out.min, out.max))
        out.has = false;
    return out;
}

void tn_join_bounds_of_chunk(tn_chunk_join *join)
{
    tn_order_range range;

    join->bounds = (tn_join_bounds){0};
    if (!join->meta->has_statistics)
        return;
    tn_order_chunk(join->part->file, join->part->group, join->from, &range);
    if (!range.contradict)
        join->bounds = bounds_of(join, &join->meta->statistics);
}

/* A zero may be of either sign: the format lets -0.0 equal 0.0. */
static void widen_zero(const tn_chunk_join *join, tn_join_bounds *bounds)
{
    static const char zeros[8], low32[4] = {0, 0, 0, (char)0x80}, low16[2] = {0, (char)0x80},
                                low64[8] = {0, 0, 0, 0, 0, 0, 0, (char)0x80};
    enum tn_bounds_order order = join->writer->order;
    size_t width = bounds->min.len;
    tn_str zero = {zeros, width}, low = {width == 8 ? low64 : width == 4 ? low32 : low16, width};

    if (!tn_bounds_real(order))
        return;
    if (tn_bounds_compare(order, bounds->min, zero) == 0)
        bounds->min = low;
    if (tn_bounds_compare(order, bounds->max, zero) == 0)
        bounds->max = zero;
}

static void set_bounds(const tn_chunk_join *join, tn_join_bounds bounds, tn_ready_page *out)
{
    if (!bounds.has || out->null_page)
        return;
    widen_zero(join, &bounds);
    out->has_bounds = true;
    out->bounds_exact = bounds.exact;
    out->min = bounds.min;
    out->max = bounds.max;
}

/* Of the values of the dictionary, once it is loaded. */
static int dictionary_bounds(tarn_cx *cx, tn_chunk_join *join, tn_join_bounds *out)
{
    tn_bounds *bounds = &join->dictionary_bounds;
    int rc = TARN_OK;

    *out = (tn_join_bounds){0};
    if (join->values.data == NULL || join->writer->order == TN_BOUNDS_NONE)
        goto done;
    if (!join->dictionary_bounded) {
        tn_bounds_of(join->from, join->writer->order, join->values, bounds);
        TN_TRY(tn_buf_check(cx, &bounds->min));
        TN_TRY(tn_buf_check(cx, &bounds->max));
        join->dictionary_bounded = true;
    }
    *out = (tn_join_bounds){
        .has = bounds->any, .min = tn_buf_view(&bounds->min), .max = tn_buf_view(&bounds->max)};
done:
    return rc;
}

/* The output's histogram of definition levels, made of the input's. */
static int map_histogram(tarn_cx *cx, tn_chunk_join *join, const int64_t *from, const int64_t **out)
{
    size_t n = join->leaf->max_def + (size_t)1;
    int64_t *to;

    tn_buf_reset(&join->out_histogram);
    to = (int64_t *)(void *)tn_buf_extend(&join->out_histogram, n * sizeof *to);
    if (to == NULL)
        return tn_buf_check(cx, &join->out_histogram);
    memset(to, 0, n * sizeof *to);
    for (size_t i = 0; i <= join->from->max_def; i++)
        to[join->part->def_map != NULL ? join->part->def_map[i] : i] += from[i];
    *out = to;
    return TARN_OK;
}

static bool sums_to(const int64_t *histogram, size_t n, int64_t total)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        if (histogram[i] < 0 || __builtin_add_overflow(sum, histogram[i], &sum))
            return false;
    return sum == total;
}

/* Histograms: counted, or told by the two levels there are and the nulls, by the index, or by the
 * chunk's size statistics of an only page. */
static int know_histograms(tarn_cx *cx, tn_chunk_join *join, size_t i, tn_ready_page *out)
{
    const tn_size_statistics *s = &join->meta->size_statistics;
    const tn_join_page *page = tn_join_page_at(join, i);
    const tn_column_index *index = &join->index;
    const tn_leaf *from = join->from;
    int64_t few[2] = {page->nulls, page->header.values - page->nulls};
    const int64_t *def = NULL;
    int rc = TARN_OK;

    if (page->counted) {
        out->rep_histogram = tn_join_histogram(join, i);
        def = out->rep_histogram + from->max_rep + 1;
    } else if (from->max_def == 0) {
        few[0] = page->header.values;
        def = few;
    } else if (from->max_def == 1 && page->nulls >= 0) {
        def = few;
    } else if (join->indexed && index->def_histograms != NULL &&
               index->def_histogram_count == index->pages * (from->max_def + (size_t)1) &&
               sums_to(index->def_histograms + i * (from->max_def + (size_t)1),
                       from->max_def + (size_t)1, page->header.values)) {
        def = index->def_histograms + i * (from->max_def + (size_t)1);
    } else if (join->page_count == 1 && s->present && s->def_count == from->max_def + (size_t)1 &&
               sums_to(s->def_histogram, s->def_count, page->header.values)) {
        def = s->def_histogram;
    }
    if (def != NULL)
        TN_TRY(map_histogram(cx, join, def, &out->def_histogram));
done:
    return rc;
}

/* What the offset index that was given says of page i; -1: nothing. */
static int64_t unencoded_by_index(const tn_chunk_join *join, size_t i)
{
    const tn_offset_index *index = join->part->offset_index;

    if (index == NULL || index->unencoded_bytes == NULL || index->pages != join->page_count ||
        (uint64_t)index->locations[i].offset != tn_join_page_at(join, i)->at)
        return -1;
    return index->unencoded_bytes[i] >= 0 ? index->unencoded_bytes[i] : -1;
}

static int64_t unencoded(const tn_chunk_join *join, size_t i)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    const tn_size_statistics *s = &join->meta->size_statistics;
    const tn_page_header *h = &page->header;
    int64_t levels = -1, bytes;

    if (join->from->physical != TN_BYTE_ARRAY)
        return -1;
    if (h->type == TN_PAGE_DATA_V2)
        levels = (int64_t)h->def_bytes + h->rep_bytes;
    else if (join->from->max_def == 0 && join->from->max_rep == 0)
        levels = 0;
    if (h->encoding == TN_ENC_PLAIN && levels >= 0 && page->nulls >= 0) {
        bytes = h->uncompressed_bytes - levels - 4 * (h->values - page->nulls);
        return bytes >= 0 ? bytes : -1;
    }
    bytes = unencoded_by_index(join, i);
    if (bytes >= 0)
        return bytes;
    return join->page_count == 1 && s->present && s->has_unencoded && s->unencoded_bytes >= 0
               ? s->unencoded_bytes
               : -1;
}

/* Of all pages together. */
static void know_nans(const tn_chunk_join *join, tn_ready_page *out)
{
    const tn_statistics *s = &join->meta->statistics;

    out->has_nans = tn_bounds_real(join->writer->order) && join->meta->has_statistics &&
                    s->has_nan_count && s->nan_count <= out->entries;
    out->nans = out->has_nans ? s->nan_count : 0;
}

static bool within(const tn_chunk_join *join, const tn_join_bounds *inner,
                   const tn_join_bounds *outer)
{
    enum tn_bounds_order order = join->writer->order;

    return outer->has && tn_bounds_compare(order, inner->min, outer->min) >= 0 &&
           tn_bounds_compare(order, inner->max, outer->max) <= 0;
}

int tn_join_know(tarn_cx *cx, tn_chunk_join *join, size_t i, tn_ready_page *out)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    tn_join_bounds bounds = join->bounds, finer;
    int rc = TARN_OK;

    out->rows = page->rows;
    out->entries = page->header.values;
    out->nulls = page->nulls;
    out->null_page = page->nulls == page->header.values;
    if (join->page_count > 1 && page->header.has_statistics) {
        finer = bounds_of(join, &page->header.statistics);
        /* Within bounds that are values of the chunk, the least of the pages' is that value; where
         * that page may have changed, only such as are never shortened are values. */
        finer.exact |= finer.has && bounds.exact && within(join, &finer, &bounds) &&
                       (!join->splices || join->from->physical != TN_BYTE_ARRAY);
        bounds.exact = bounds.exact && !join->splices;
        bounds = finer.has ? finer : bounds;
    }
    if (!bounds.has && page->coded)
        TN_TRY(dictionary_bounds(cx, join, &bounds));
    set_bounds(join, bounds, out);
    if (join->page_count == 1) {
        know_nans(join, out);
    } else if (tn_bounds_real(join->writer->order) && join->indexed &&
               join->index.nan_counts != NULL && join->index.nan_counts[i] >= 0 &&
               join->index.nan_counts[i] <= out->entries) {
        out->has_nans = true;
        out->nans = join->index.nan_counts[i];
    }
    out->unencoded_bytes = unencoded(join, i);
    TN_TRY(know_histograms(cx, join, i, out));
done:
    return rc;
}

/* Histograms of `gathered`, whose levels are the output's. */
static int gathered_histograms(tarn_cx *cx, tn_chunk_join *join, tn_ready_page *out)
{
    const tn_pending *from = &join->gathered;
    const uint16_t *rep = (const uint16_t *)(const void *)from->rep.data;
    const uint16_t *def = (const uint16_t *)(const void *)from->def.data;
    size_t reps = join->leaf->max_rep + (size_t)1, defs = join->leaf->max_def + (size_t)1;
    int64_t *to;

    tn_buf_reset(&join->out_histogram);
    to = (int64_t *)(void *)tn_buf_extend(&join->out_histogram, (reps + defs) * sizeof *to);
    if (to == NULL)
        return tn_buf_check(cx, &join->out_histogram);
    memset(to, 0, (reps + defs) * sizeof *to);
    out->rep_histogram = to;
    out->def_histogram = to + reps;
    for (int64_t i = 0; reps > 1 && i < from->entries; i++)
        to[rep[i]]++;
    for (int64_t i = 0; from->leveled && i < from->entries; i++)
        to[reps + def[i]]++;
    if (!from->leveled)
        to[reps + defs - 1] = from->entries;
    return TARN_OK;
}

int tn_join_know_all(tarn_cx *cx, tn_chunk_join *join, size_t bytes, tn_ready_page *out)
{
    const tn_leaf *from = join->from;
    int rc = TARN_OK;

    out->rows = join->gathered.rows;
    out->entries = join->gathered.entries;
    out->nulls = out->entries - join->gathered.values;
    set_bounds(join, join->bounds, out);
    know_nans(join, out);
    out->unencoded_bytes =
        from->physical == TN_BYTE_ARRAY ? (int64_t)bytes - 4 * join->gathered.values : -1;
    TN_TRY(gathered_histograms(cx, join, out));
done:
    return rc;
}
