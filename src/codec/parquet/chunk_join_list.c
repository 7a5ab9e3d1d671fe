/* Lists the pages of a part before any of it is moved.
 *
 * I1: a part is refused before anything of it went to the output when its headers contradict the
 *     footer: more or fewer values, a second dictionary, rows of a nested column that do not add
 *     up.
 * I2: pages of nested columns are moved only if all of them begin with a row. */
#include "codec/parquet/chunk_join_state.h"

#include <inttypes.h>

#include "codec/parquet/order.h"
#include "codec/parquet/writer.h"

enum {
    WINDOW = 2048,
    /* Levels that must be held whole, of a page or for new ones. */
    LEVELS_MAX = 4 << 20
};

int tn_join_fail(tarn_cx *cx, int status, const tn_chunk_join *join, const tn_join_page *page)
{
    return tn_page_fail(cx, status, &join->pages, page->number, page->at);
}

static bool coded(int32_t encoding)
{
    return encoding == TN_ENC_RLE_DICTIONARY || encoding == TN_ENC_PLAIN_DICTIONARY;
}

/* ---- headers ---- */

/* Statistics of the header outlive the reader's arena only where they may be believed. */
static int keep_statistics(tarn_cx *cx, tn_chunk_join *join, tn_statistics *s)
{
    int rc = TARN_OK;

    if (!tn_order_trusted(join->part->file, join->from))
        s->has_min_value = s->has_max_value = false;
    if (s->has_min_value || s->has_max_value || !tn_order_trusted_old(join->part->file, join->from))
        s->has_min = s->has_max = false;
    if (s->has_min_value)
        TN_TRY(tn_arena_keep(cx, &join->arena, &s->min_value));
    if (s->has_max_value)
        TN_TRY(tn_arena_keep(cx, &join->arena, &s->max_value));
    if (s->has_min)
        TN_TRY(tn_arena_keep(cx, &join->arena, &s->min));
    if (s->has_max)
        TN_TRY(tn_arena_keep(cx, &join->arena, &s->max));
done:
    return rc;
}

static int add_data(tarn_cx *cx, tn_chunk_join *join, int64_t left)
{
    const tn_page_header *h = &join->pages.header;
    size_t used = join->page_count * sizeof(tn_join_page);
    tn_join_page *page;
    int rc = TARN_OK;

    if (h->values > left)
        TN_FAIL(TARN_E_CORRUPT, "%" PRId32 " values, but the chunk has %" PRId64 " left", h->values,
                left);
    if (used + sizeof *page > join->list.cap)
        TN_TRY(tn_lease_grow(cx, &join->list, used * 2 + 8 * sizeof *page, used,
                             "the pages of a column"));
    page = tn_join_page_at(join, join->page_count);
    *page = (tn_join_page){.header = *h,
                           .at = join->pages.at,
                           .number = join->pages.number,
                           .rows = h->values,
                           .nulls = join->from->max_def == 0 ? 0 : -1,
                           .coded = coded(h->encoding)};
    if (h->has_statistics)
        TN_TRY(keep_statistics(cx, join, &page->header.statistics));
    join->page_count++;
    join->coded_count += page->coded;
done:
    return rc;
}

static int add_dictionary(tarn_cx *cx, tn_chunk_join *join, const char **why)
{
    if (join->has_dictionary)
        return tn_fail(cx, TARN_E_CORRUPT, "a second dictionary");
    if (join->page_count != 0)
        *why = "a dictionary behind data pages";
    join->has_dictionary = true;
    join->dictionary_page = (tn_join_page){
        .header = join->pages.header, .at = join->pages.at, .number = join->pages.number};
    join->dictionary_page.header.has_statistics = false;
    return TARN_OK;
}

static int fail_short(tarn_cx *cx, const tn_chunk_join *join, int64_t met)
{
    return tn_page_fail(cx,
                        tn_fail(cx, TARN_E_CORRUPT,
                                "the chunk ends, but only %" PRId64 " of its %" PRId64
                                " values were met",
                                met, join->entries),
                        &join->pages, join->pages.number, join->pages.at);
}

static int list_headers(tarn_cx *cx, tn_chunk_join *join, const char **why)
{
    const tn_page_header *h = &join->pages.header;
    int64_t met = 0;
    bool ended;
    int rc = TARN_OK;

    while (met < join->entries) {
        TN_TRY(tn_page_reader_header(cx, &join->pages, &ended));
        if (ended)
            return fail_short(cx, join, met);
        if (h->type == TN_PAGE_DICTIONARY)
            rc = add_dictionary(cx, join, why);
        else if ((h->type == TN_PAGE_DATA || h->type == TN_PAGE_DATA_V2) && h->values != 0)
            rc = add_data(cx, join, join->entries - met);
        if (rc != TARN_OK)
            return tn_page_fail(cx, rc, &join->pages, join->pages.number, join->pages.at);
        if (h->type == TN_PAGE_DATA || h->type == TN_PAGE_DATA_V2)
            met += h->values;
        tn_page_reader_pass(&join->pages);
    }
done:
    return rc;
}

/* ---- levels ---- */

static void tally(const uint16_t *levels, size_t n, uint16_t max, int64_t *histogram)
{
    size_t ones = 0;

    if (max > 1) {
        for (size_t i = 0; i < n; i++)
            histogram[levels[i]]++;
        return;
    }
    for (size_t i = 0; i < n; i++)
        ones += levels[i];
    histogram[0] += (int64_t)(n - ones);
    histogram[1] += (int64_t)ones;
}

/* Counts n levels into a histogram, and looks at the first. */
static int tally_levels(tarn_cx *cx, tn_level_decoder *decoder, int64_t n, uint16_t max,
                        int64_t *histogram, uint16_t *first)
{
    uint16_t window[WINDOW];
    bool all;
    int rc = TARN_OK;

    *first = max;
    TN_TRY(tn_decode_level_all_max(cx, decoder, (uint64_t)n, &all));
    if (all) {
        histogram[max] += n;
        n = 0;
    }
    for (int64_t at = 0; at < n;) {
        size_t some = n - at < WINDOW ? (size_t)(n - at) : WINDOW;

        TN_TRY(tn_decode_level_read(cx, decoder, window, some));
        if (at == 0)
            *first = window[0];
        tally(window, some, max, histogram);
        at += (int64_t)some;
    }
done:
    return rc;
}

/* Both kinds of levels of page i, whose decoders stand at their beginning. */
static int count_page(tarn_cx *cx, tn_chunk_join *join, size_t i, tn_level_decoder *rep,
                      tn_level_decoder *def, const char **why)
{
    tn_join_page *page = tn_join_page_at(join, i);
    const tn_leaf *from = join->from;
    int64_t n = page->header.values, *histogram = tn_join_histogram(join, i);
    uint16_t first = 0;
    int rc = TARN_OK;

    if (from->max_rep > 0) {
        TN_TRY(tally_levels(cx, rep, n, from->max_rep, histogram, &first));
        if (first != 0)
            *why = "a page that begins inside a row";
        page->rows = histogram[0];
    }
    histogram += from->max_rep + 1;
    if (from->max_def > 0)
        TN_TRY(tally_levels(cx, def, n, from->max_def, histogram, &first));
    else
        histogram[0] = n;
    page->nulls = n - histogram[from->max_def];
    page->counted = true;
done:
    return rc;
}

static int count_v2(tarn_cx *cx, tn_chunk_join *join, size_t i, const char **why)
{
    const tn_page_header *h = &tn_join_page_at(join, i)->header;
    tn_join_page *page = tn_join_page_at(join, i);
    size_t rep_bytes = (size_t)h->rep_bytes, def_bytes = (size_t)h->def_bytes;
    tn_level_decoder rep, def;
    const uint8_t *body;
    int rc = TARN_OK;

    TN_TRY(tn_source_view(cx, join->pages.source, page->at + h->header_bytes, rep_bytes + def_bytes,
                          &body));
    tn_decode_level_init_v2(&rep, join->from->max_rep, body, rep_bytes, 0);
    tn_decode_level_init_v2(&def, join->from->max_def, body + rep_bytes, def_bytes, rep_bytes);
    TN_TRY(count_page(cx, join, i, &rep, &def, why));
done:
    return tn_join_fail(cx, rc, join, page);
}

static int count_v1(tarn_cx *cx, tn_chunk_join *join, size_t i, const char **why)
{
    tn_join_page *page = tn_join_page_at(join, i);
    int rc = TARN_OK;

    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_leaf_page_open(cx, &join->pages, NULL, &join->slot));
    rc = tn_join_fail(cx, count_page(cx, join, i, &join->slot.rep, &join->slot.def, why), join,
                      page);
done:
    return rc;
}

static int count_levels(tarn_cx *cx, tn_chunk_join *join, const char **why)
{
    const tn_leaf *from = join->from;
    size_t each = (from->max_rep + (size_t)1 + from->max_def + 1) * sizeof(int64_t);
    int64_t rows = 0;
    int rc = TARN_OK;

    if (from->max_rep == 0 && from->max_def == 0)
        goto done;
    TN_TRY(
        tn_lease_grow(cx, &join->histograms, join->page_count * each, 0, "the levels of a column"));
    if (join->page_count != 0)
        memset(join->histograms.data, 0, join->page_count * each);
    for (size_t i = 0; i < join->page_count; i++) {
        tn_join_page *page = tn_join_page_at(join, i);

        if (page->header.type == TN_PAGE_DATA_V2)
            TN_TRY(count_v2(cx, join, i, why));
        else if (from->max_rep > 0)
            TN_TRY(count_v1(cx, join, i, why));
        rows += page->rows;
    }
    if (from->max_rep > 0 && rows != join->part->file->footer.groups[join->part->group].rows)
        rc = tn_page_fail(cx,
                          tn_fail(cx, TARN_E_CORRUPT,
                                  "the pages hold %" PRId64 " rows, the row group %" PRId64, rows,
                                  join->part->file->footer.groups[join->part->group].rows),
                          &join->pages, join->pages.number, join->pages.at);
done:
    return rc;
}

/* The chunk's column index, when it was given, or its bytes are at hand: the source has the whole
 * file in memory. */
static bool index_at_hand(tarn_cx *cx, tn_chunk_join *join, tn_column_index *out)
{
    const tn_source *source = join->part->source;
    uint64_t offset = (uint64_t)join->meta->column_index_offset;
    uint64_t bytes = (uint64_t)join->meta->column_index_bytes, at = offset - source->memory_offset;
    tn_str view = {(const char *)source->memory + at, (size_t)bytes};

    if (join->part->column_index != NULL) {
        *out = *join->part->column_index;
        return out->pages == join->page_count;
    }
    if (source->memory == NULL || join->meta->column_index_offset <= 0 ||
        join->meta->column_index_bytes <= 0 || offset < source->memory_offset ||
        at > source->memory_bytes || bytes > source->memory_bytes - at)
        return false;
    if (tn_column_index_decode(cx, view, &join->arena, out) == TARN_OK)
        return out->pages == join->page_count;
    tn_cx_forget(cx);
    return false;
}

/* Null counts of an index that add up to the chunk's. */
static bool nulls_add_up(const tn_chunk_join *join, const tn_column_index *index)
{
    const tn_statistics *chunk = &join->meta->statistics;
    int64_t sum = 0;

    if (index->null_counts == NULL || !join->meta->has_statistics || !chunk->has_null_count)
        return false;
    for (size_t i = 0; i < index->pages; i++) {
        int64_t values = tn_join_page_at(join, i)->header.values, nulls = index->null_counts[i];

        if (nulls < 0 || nulls > values || index->null_pages[i] != (nulls == values))
            return false;
        sum += nulls;
    }
    return sum == chunk->null_count;
}

/* What an index knows of pages whose headers say nothing, as if these did: parquet-mr keeps it
 * there alone. An index that contradicts the chunk is passed over. */
static void use_index(tarn_cx *cx, tn_chunk_join *join)
{
    bool trusted = tn_order_trusted(join->part->file, join->from);
    tn_column_index index;

    if (join->page_count < 2 || tn_join_page_at(join, 0)->header.has_statistics ||
        !index_at_hand(cx, join, &index) || !nulls_add_up(join, &index))
        return;
    for (size_t i = 0; i < join->page_count; i++) {
        tn_join_page *page = tn_join_page_at(join, i);
        bool bounded = trusted && !index.null_pages[i];

        page->header.has_statistics = true;
        page->header.statistics = (tn_statistics){.has_null_count = true,
                                                  .null_count = index.null_counts[i],
                                                  .has_min_value = bounded,
                                                  .has_max_value = bounded,
                                                  .min_value = index.min[i],
                                                  .max_value = index.max[i]};
    }
    join->index = index;
    join->indexed = true;
}

/* Nulls that nobody counted: the page's statistics know them, or the chunk's of an only page. */
static void know_nulls(tn_chunk_join *join)
{
    const tn_statistics *chunk = &join->meta->statistics;

    join->nulls = 0;
    for (size_t i = 0; i < join->page_count; i++) {
        tn_join_page *page = tn_join_page_at(join, i);
        const tn_statistics *s = &page->header.statistics;

        if (page->nulls < 0 && join->page_count == 1 && join->meta->has_statistics &&
            chunk->has_null_count && chunk->null_count <= join->entries)
            page->nulls = chunk->null_count;
        if (page->nulls < 0 && page->header.has_statistics && s->has_null_count &&
            s->null_count <= page->header.values)
            page->nulls = s->null_count;
        if (page->nulls < 0)
            join->nulls = -1;
        else if (join->nulls >= 0)
            join->nulls += page->nulls;
    }
    if (join->nulls < 0 && join->meta->has_statistics && chunk->has_null_count &&
        chunk->null_count <= join->entries)
        join->nulls = chunk->null_count;
}

/* ---- what speaks against moving pages ---- */

static bool suits(const tn_leaf *leaf, int32_t encoding)
{
    enum tn_physical p = leaf->physical;

    switch (encoding) {
    case TN_ENC_PLAIN:
        return true;
    case TN_ENC_RLE:
        return p == TN_BOOLEAN;
    case TN_ENC_PLAIN_DICTIONARY:
    case TN_ENC_RLE_DICTIONARY:
        return p != TN_BOOLEAN;
    case TN_ENC_DELTA_BINARY_PACKED:
        return p == TN_INT32 || p == TN_INT64;
    case TN_ENC_DELTA_LENGTH_BYTE_ARRAY:
        return p == TN_BYTE_ARRAY;
    case TN_ENC_DELTA_BYTE_ARRAY:
        return p == TN_BYTE_ARRAY || p == TN_FIXED;
    case TN_ENC_BYTE_STREAM_SPLIT:
        return p == TN_FLOAT || p == TN_DOUBLE || p == TN_INT32 || p == TN_INT64 || p == TN_FIXED;
    default:
        return false;
    }
}

static const char *objection(const tn_chunk_join *join, const tn_join_page *page)
{
    const tn_page_header *h = &page->header;
    bool delta =
        h->encoding == TN_ENC_DELTA_BYTE_ARRAY || h->encoding == TN_ENC_DELTA_LENGTH_BYTE_ARRAY;
    tn_writer writer;

    if (!suits(join->from, h->encoding))
        return "an encoding that does not suit the type";
    if (page->coded && !join->has_dictionary)
        return "indices without a dictionary";
    if (h->type == TN_PAGE_DATA_V2 && h->encoding == TN_ENC_PLAIN_DICTIONARY)
        return "an old name of the encoding in a new page";
    if (h->type == TN_PAGE_DATA && ((join->from->max_rep > 0 && h->rep_encoding != TN_ENC_RLE) ||
                                    (join->from->max_def > 0 && h->def_encoding != TN_ENC_RLE)))
        return "levels of an old kind";
    if (h->values > LEVELS_MAX && (join->from->max_rep > 0 || !tn_join_same_levels(join)))
        return "more levels than are held at once";
    if (delta && join->writer->options.plain_bytes)
        return "delta-encoded values, which the output must not have";
    /* parquet-mr before 1.8.0 let the first value of a page share a prefix with the last of the
     * page before; readers know by the footer's writer, which the output does not name. */
    writer = tn_writer_of(join->part->file->footer.created_by);
    if (h->encoding == TN_ENC_DELTA_BYTE_ARRAY && join->page_count > 1 &&
        (tn_writer_before(&writer, "parquet-mr", 1, 8, 0) ||
         (tn_str_is(writer.program, "parquet-mr") && !writer.has_version)))
        return "delta-encoded text of an old writer";
    return NULL;
}

int tn_join_list(tarn_cx *cx, tn_chunk_join *join, const char **why)
{
    const tn_leaf *from = join->from;
    int rc = TARN_OK;

    *why = NULL;
    if (from->physical == TN_FIXED && from->type_length == 0)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: column %.*s: values of 0 bytes",
                TN_STR_ARG(join->part->file->path), TN_STR_ARG(from->dotted));
    join->entries = join->meta->values;
    TN_TRY(tn_page_reader_init(cx, &join->pages, join->part->file, join->part->group,
                               join->part->leaf, join->part->source, false));
    TN_TRY(list_headers(cx, join, why));
    for (size_t i = 0; i < join->page_count && *why == NULL; i++)
        *why = objection(join, tn_join_page_at(join, i));
    if (*why != NULL)
        goto done;
    TN_TRY(count_levels(cx, join, why));
    use_index(cx, join);
    know_nulls(join);
done:
    return rc;
}
