/* The chunk writer: takes rows and ready pages of one column chunk.
 *
 *   rows by dictionary --(first page shows it does not pay, or it passes its limit)--> plain rows
 *
 * Leaving the dictionary feeds the page under way through again as plain rows: at the first page
 * nothing is left of the dictionary, later it keeps what written pages use.
 *
 * I1: A page ends between rows, at page_rows or page_bytes, whichever comes first.
 * I2: Written pages are kept compressed; of values, only those of the page under way are held.
 * I3: Values of `dict` at or past dict_written are used by no written page. */
#include "codec/parquet/leaf_write.h"

#include <assert.h>
#include <stdlib.h>

#include "base/budget.h"
#include "codec/parquet/bloom.h"
#include "codec/parquet/encode.h"
#include "codec/parquet/leaf_write_state.h"

/* A dictionary index counts as this much of a page: pages by dictionary end by rows in flat
 * columns, and this bounds those of long lists. */
#define INDEX_BYTES 4

/* Where a batch has been read to, and a run of whole rows of it. */
typedef struct tn_span {
    int64_t entry, value, entries, values, rows;
} span;

static int check_encoding(tarn_cx *cx, const tn_leaf *leaf, int32_t encoding)
{
    enum tn_physical p = leaf->physical;
    bool right =
        encoding == TN_ENC_PLAIN || (encoding == TN_ENC_RLE && p == TN_BOOLEAN) ||
        (encoding == TN_ENC_DELTA_BINARY_PACKED && (p == TN_INT32 || p == TN_INT64)) ||
        ((encoding == TN_ENC_DELTA_LENGTH_BYTE_ARRAY || encoding == TN_ENC_DELTA_BYTE_ARRAY) &&
         p == TN_BYTE_ARRAY) ||
        (encoding == TN_ENC_BYTE_STREAM_SPLIT &&
         (p == TN_FLOAT || p == TN_DOUBLE || p == TN_INT32 || p == TN_INT64 || p == TN_FIXED));

    if (right)
        return TARN_OK;
    return tn_fail(cx, TARN_E_INVALID, "column %.*s: encoding %d does not suit %s; choose another",
                   TN_STR_ARG(leaf->dotted), encoding, tn_physical_name(p));
}

static void fill_options(tn_chunk_options *o)
{
    o->dictionary_bytes_max = o->dictionary_bytes_max != 0 ? o->dictionary_bytes_max : 1u << 20;
    o->page_bytes = o->page_bytes != 0 ? o->page_bytes : 1u << 20;
    o->page_rows = o->page_rows > 0 ? o->page_rows : 20000;
    o->bloom_fpp = o->bloom_fpp > 0 && o->bloom_fpp < 1 ? o->bloom_fpp : 0.01;
    o->bound_bytes_max = o->bound_bytes_max != 0 ? o->bound_bytes_max : 64;
}

int tn_chunk_writer_open(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                         tn_chunk_writer **out)
{
    tn_chunk_writer *w = tn_calloc(cx, 1, sizeof *w);
    int rc = TARN_OK;

    if (w == NULL)
        return TARN_E_NOMEM;
    w->leaf = leaf;
    w->options = *options;
    fill_options(&w->options);
    w->order = tn_bounds_order_of(leaf);
    w->text = tn_bounds_text(leaf);
    w->width = tn_leaf_width(leaf);
    w->def_width = tn_encode_width(leaf->max_def);
    w->rep_width = tn_encode_width(leaf->max_rep);
    w->dict.views = leaf->physical == TN_BYTE_ARRAY;
    w->dict.width = w->dict.views ? 0 : w->width;
    /* A dictionary of booleans or of nothing saves nothing. */
    w->dictionary = !options->no_dictionary && !options->force_encoding &&
                    leaf->physical != TN_BOOLEAN && w->width != 0;
    if (options->force_encoding) {
        TN_TRY(check_encoding(cx, leaf, options->encoding));
        w->encoding = options->encoding;
        w->encoding_chosen = true;
    }
    /* The format leaves bloom filters of booleans undefined. */
    w->options.bloom = options->bloom && leaf->physical != TN_BOOLEAN;
    *out = w;
    w = NULL;
done:
    tn_chunk_writer_close(w);
    return rc;
}

static void clear_pieces(tn_buf *pieces)
{
    tn_buf *piece = (tn_buf *)(void *)pieces->data;

    for (size_t i = 0; i < pieces->len / sizeof *piece; i++)
        tn_buf_clear(&piece[i]);
    tn_buf_clear(pieces);
}

void tn_chunk_writer_close(tn_chunk_writer *w)
{
    if (w == NULL)
        return;
    if (w->reserved_bytes != 0) {
        tarn_cx cx = {.budget = w->budget};

        tn_budget_give(&cx, w->reserved_bytes);
    }
    clear_pieces(&w->pieces);
    tn_buf_clear(&w->page.def);
    tn_buf_clear(&w->page.rep);
    tn_buf_clear(&w->page.indices);
    tn_buf_clear(&w->page.plain);
    tn_dict_clear(&w->dict);
    tn_buf_clear(&w->remap);
    tn_buf_clear(&w->notes);
    tn_buf_clear(&w->bound_bytes);
    tn_buf_clear(&w->rep_histograms);
    tn_buf_clear(&w->def_histograms);
    tn_bounds_clear(&w->page_bounds);
    tn_bounds_clear(&w->bounds);
    tn_buf_clear(&w->hashes);
    tn_buf_clear(&w->body);
    tn_buf_clear(&w->packed);
    tn_buf_clear(&w->scratch);
    tn_buf_clear(&w->views);
    tn_buf_clear(&w->header);
    free(w);
}

static uint64_t held_bytes(const tn_chunk_writer *w)
{
    return w->bytes + w->dictionary_bytes + w->filter_bytes + tn_dict_bytes(&w->dict) +
           w->hashes.cap + w->page.def.cap + w->page.rep.cap + w->page.indices.cap +
           w->page.plain.cap + w->body.cap + w->packed.cap + w->scratch.cap + w->views.cap +
           w->page_bounds.min.cap + w->page_bounds.max.cap + w->bounds.min.cap + w->bounds.max.cap;
}

uint64_t tn_chunk_writer_owed(const tn_chunk_writer *w)
{
    uint64_t held = w != NULL ? held_bytes(w) : 0;

    return w != NULL && held > w->reserved_bytes ? held - w->reserved_bytes : 0;
}

int tn_chunk_writer_expect(tarn_cx *cx, tn_chunk_writer *w, uint64_t more)
{
    uint64_t wish = held_bytes(w) + more;
    int rc = TARN_OK;

    if (wish <= w->reserved_bytes)
        return TARN_OK;
    TN_TRY(tn_budget_take(cx, wish - w->reserved_bytes, "writing a column"));
    w->budget = cx->budget;
    w->reserved_bytes = wish;
done:
    return rc;
}

int tn_chunk_writer_settle(tarn_cx *cx, tn_chunk_writer *w)
{
    uint64_t held = held_bytes(w);
    int rc = TARN_OK;

    if (held > w->reserved_bytes)
        TN_TRY(tn_budget_take(cx, held - w->reserved_bytes, "writing a column"));
    else
        tn_budget_give(cx, w->reserved_bytes - held);
    w->budget = cx->budget;
    w->reserved_bytes = held;
done:
    return rc;
}

static uint64_t pending_bytes(const tn_chunk_writer *w)
{
    return w->dictionary ? (uint64_t)w->page.values * INDEX_BYTES : w->page.plain.len;
}

static size_t value_len(const tn_leaf_batch *batch, int64_t i)
{
    const tn_view *view = batch->indices != NULL ? batch->dictionary.data : batch->values.data;

    return 4 + (size_t)view[batch->indices != NULL ? batch->indices[i] : i].len;
}

/* Flat columns whose values all count the same: no walk over the entries is needed. */
static span span_flat(const tn_chunk_writer *w, const tn_leaf_batch *batch, const span *from,
                      size_t item)
{
    uint64_t have = pending_bytes(w);
    int64_t rows, left;
    span next = {.entry = from->entry + from->entries, .value = from->value + from->values};

    rows = batch->entries - next.entry;
    left = w->options.page_rows - w->page.rows;
    rows = rows < left ? rows : left;
    left = have >= w->options.page_bytes
               ? 1
               : (int64_t)((w->options.page_bytes - have + item - 1) / item);
    rows = rows < left ? rows : left;
    next.rows = next.entries = rows;
    if (batch->all_present) {
        next.values = rows;
    } else {
        const uint16_t *def = batch->def + next.entry;
        uint16_t max = w->leaf->max_def;

        for (int64_t i = 0; i < rows; i++)
            next.values += def[i] == max;
    }
    return next;
}

/* Any column: rows are added until the page is full. */
static span span_walk(const tn_chunk_writer *w, const tn_leaf_batch *batch, const span *from)
{
    span next = {.entry = from->entry + from->entries, .value = from->value + from->values};
    bool views = w->leaf->physical == TN_BYTE_ARRAY && !w->dictionary;
    size_t item = w->dictionary ? INDEX_BYTES : w->width;
    uint64_t bytes = pending_bytes(w);

    for (int64_t at = next.entry; at < batch->entries; at++) {
        if (batch->rep == NULL || batch->rep[at] == 0) {
            if (w->page.rows + next.rows > 0 && (w->page.rows + next.rows >= w->options.page_rows ||
                                                 bytes >= w->options.page_bytes))
                break;
            next.rows++;
        }
        next.entries++;
        if (batch->all_present || batch->def[at] == w->leaf->max_def) {
            bytes += views ? value_len(batch, next.value + next.values) : item;
            next.values++;
        }
    }
    return next;
}

static span span_next(const tn_chunk_writer *w, const tn_leaf_batch *batch, const span *from)
{
    if (w->leaf->max_rep == 0 && (w->dictionary || w->leaf->physical != TN_BYTE_ARRAY) &&
        w->width != 0)
        return span_flat(w, batch, from, w->dictionary ? INDEX_BYTES : w->width);
    return span_walk(w, batch, from);
}

static int add_levels(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch, const span *at)
{
    tn_pending *page = &w->page;
    size_t n = (size_t)at->entries;
    int rc = TARN_OK;

    if (w->leaf->max_rep > 0)
        tn_buf_add(&page->rep, batch->rep + at->entry, n * 2);
    if (w->leaf->max_def > 0 && (!batch->all_present || page->leveled)) {
        size_t missing = batch->all_present ? n : page->leveled ? 0 : (size_t)page->entries;
        uint16_t *fill = (uint16_t *)(void *)tn_buf_extend(&page->def, missing * 2);

        for (size_t i = 0; fill != NULL && i < missing; i++)
            fill[i] = w->leaf->max_def;
        if (!batch->all_present)
            tn_buf_add(&page->def, batch->def + at->entry, n * 2);
        page->leveled = true;
    }
    TN_TRY(tn_buf_check(cx, &page->rep));
    TN_TRY(tn_buf_check(cx, &page->def));
    page->rows += at->rows;
    page->entries += at->entries;
    page->values += at->values;
done:
    return rc;
}

/* A table from the incoming dictionary to ours, filled as values are met. */
static int prepare_remap(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch)
{
    size_t bytes = (size_t)batch->dictionary.count * sizeof(uint32_t);

    if (w->remap_id == batch->dictionary_id && batch->dictionary_id != 0 && w->remap.len == bytes)
        return TARN_OK;
    tn_buf_reset(&w->remap);
    if (tn_buf_extend(&w->remap, bytes) == NULL)
        return tn_buf_check(cx, &w->remap);
    memset(w->remap.data, 0xFF, bytes);
    w->remap_id = batch->dictionary_id;
    return TARN_OK;
}

/* Indices into the incoming dictionary as far as the table knows them all: a value that is new, or
 * an index past the dictionary, leaves them to the slow way. */
static bool remap_known(const uint32_t *table, uint32_t count, const uint32_t *from, size_t n,
                        uint32_t *into)
{
    uint32_t most = 0, missing = 0;

    for (size_t i = 0; i < n; i++)
        most = from[i] > most ? from[i] : most;
    if (most >= count)
        return n == 0;
    for (size_t i = 0; i < n; i++) {
        into[i] = table[from[i]];
        missing |= into[i] == UINT32_MAX;
    }
    return !missing;
}

static int remap_indices(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch,
                         const span *at, uint32_t *into, size_t *done_out)
{
    const uint32_t *incoming = batch->indices + at->value;
    const uint8_t *values = batch->dictionary.data;
    uint32_t *table;
    size_t i, one;
    int rc = TARN_OK;

    TN_TRY(prepare_remap(cx, w, batch));
    table = (uint32_t *)(void *)w->remap.data;
    *done_out = (size_t)at->values;
    if (batch->dictionary.count <= UINT32_MAX &&
        remap_known(table, (uint32_t)batch->dictionary.count, incoming, *done_out, into))
        goto done;
    for (i = 0; i < (size_t)at->values; i++) {
        uint32_t from = incoming[i];

        if (from >= batch->dictionary.count)
            TN_FAIL(TARN_E_INVALID, "column %.*s: index %u is past the dictionary of %lld values",
                    TN_STR_ARG(w->leaf->dotted), from, (long long)batch->dictionary.count);
        if (table[from] == UINT32_MAX) {
            TN_TRY(tn_dict_add(cx, &w->dict, values + from * w->width, 1,
                               w->options.dictionary_bytes_max, &into[i], &one));
            if (one == 0)
                break;
            table[from] = into[i];
        }
        into[i] = table[from];
    }
    *done_out = i;
done:
    return rc;
}

/* *fits false: the dictionary has reached its limit; the page is as before. */
static int add_indices(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch, const span *at,
                       bool *fits)
{
    size_t before = w->page.indices.len, added;
    uint32_t *into;
    int rc = TARN_OK;

    *fits = true;
    if (at->values == 0) /* then there may be no array to point into */
        goto done;
    into = (uint32_t *)(void *)tn_buf_extend(&w->page.indices, (size_t)at->values * 4);
    TN_TRY(tn_buf_check(cx, &w->page.indices));
    if (batch->indices != NULL)
        TN_TRY(remap_indices(cx, w, batch, at, into, &added));
    else
        TN_TRY(tn_dict_add(cx, &w->dict,
                           (const uint8_t *)batch->values.data + (size_t)at->value * w->width,
                           (size_t)at->values, w->options.dictionary_bytes_max, into, &added));
    *fits = added == (size_t)at->values;
    if (!*fits)
        w->page.indices.len = before;
done:
    return rc;
}

static const void *value_at(const tn_chunk_writer *w, const tn_leaf_batch *batch, int64_t i)
{
    const uint8_t *values = batch->indices != NULL ? batch->dictionary.data : batch->values.data;

    return values + (size_t)(batch->indices != NULL ? batch->indices[i] : i) * w->width;
}

static void add_hashes(tn_chunk_writer *w, const tn_leaf_batch *batch, const span *at)
{
    for (int64_t i = at->value; i < at->value + at->values; i++) {
        const void *value = value_at(w, batch, i);
        const tn_view *view = value;
        uint64_t hash = w->leaf->physical == TN_BYTE_ARRAY ? tn_bloom_hash(view->ptr, view->len)
                                                           : tn_bloom_hash(value, w->width);

        tn_buf_add(&w->hashes, &hash, sizeof hash);
    }
}

#define GATHER(n)                                                                                  \
    case n:                                                                                        \
        for (size_t i = 0; i < count; i++)                                                         \
            memcpy(to + i * (n), values + (size_t)indices[i] * (n), n);                            \
        break

/* Values of a fixed width by index; sticky through the buffer. */
static void gather(tn_buf *out, const uint8_t *values, const uint32_t *indices, size_t count,
                   size_t width)
{
    uint8_t *to = tn_buf_extend(out, count * width);

    if (to == NULL)
        return;
    switch (width) {
        GATHER(4);
        GATHER(8);
        GATHER(12);
        GATHER(16);
    default:
        for (size_t i = 0; i < count; i++)
            memcpy(to + i * width, values + (size_t)indices[i] * width, width);
    }
}
#undef GATHER

static int add_plain(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch, const span *at)
{
    tn_buf *out = &w->page.plain;
    int rc = TARN_OK;

    if (batch->indices != NULL)
        for (int64_t i = at->value; i < at->value + at->values; i++)
            if (batch->indices[i] >= batch->dictionary.count)
                TN_FAIL(TARN_E_INVALID,
                        "column %.*s: index %u is past the dictionary of %lld values",
                        TN_STR_ARG(w->leaf->dotted), batch->indices[i],
                        (long long)batch->dictionary.count);
    if (w->leaf->physical == TN_BYTE_ARRAY) {
        for (int64_t i = at->value; i < at->value + at->values; i++) {
            const tn_view *view = value_at(w, batch, i);

            if (view->len >= TN_LARGE_COPY_BYTES)
                TN_TRY(tn_chunk_writer_expect(cx, w, 4 + (uint64_t)view->len));
            tn_buf_reserve(out, 4 + (size_t)view->len);
            tn_buf_add(out, &view->len, 4);
            tn_buf_add(out, view->ptr, view->len);
        }
    } else if (batch->indices != NULL) {
        gather(out, batch->dictionary.data, batch->indices + at->value, (size_t)at->values,
               w->width);
    } else if (at->values > 0) {
        tn_buf_add(out, value_at(w, batch, at->value), (size_t)at->values * w->width);
    }
    if (w->options.bloom && !w->ready)
        add_hashes(w, batch, at);
    TN_TRY(tn_buf_check(cx, out));
    TN_TRY(tn_buf_check(cx, &w->hashes));
done:
    return rc;
}

static bool page_full(const tn_chunk_writer *w)
{
    return w->page.rows >= w->options.page_rows || pending_bytes(w) >= w->options.page_bytes;
}

static int add_batch(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch);

/* From dictionary to plain rows: the page under way is taken apart and added again. */
static int leave_dictionary(tarn_cx *cx, tn_chunk_writer *w)
{
    tn_pending page = w->page;
    tn_buf views = {0};
    tn_leaf_batch batch = {.rows = page.rows,
                           .entries = page.entries,
                           .def = (const uint16_t *)(const void *)page.def.data,
                           .rep = (const uint16_t *)(const void *)page.rep.data,
                           .all_present = !page.leveled,
                           .values = {NULL, page.values},
                           .indices = (const uint32_t *)(const void *)page.indices.data};
    int rc = TARN_OK;

    w->page = (tn_pending){0};
    w->dictionary = false;
    w->remap_id = 0;
    if (w->dict.views)
        for (uint32_t i = 0; i < w->dict.count; i++) {
            tn_view view = tn_dict_view(&w->dict, i);

            tn_buf_add(&views, &view, sizeof view);
        }
    TN_TRY(tn_buf_check(cx, &views));
    batch.dictionary = (tn_values){w->dict.views ? views.data : w->dict.plain.data, w->dict.count};
    if (w->leaf->max_rep == 0)
        batch.rep = NULL;
    TN_TRY(add_batch(cx, w, &batch));
    if (w->dict_written == 0)
        tn_dict_clear(&w->dict);
    else
        TN_TRY(tn_dict_truncate(cx, &w->dict, w->dict_written));
done:
    tn_buf_clear(&views);
    tn_buf_clear(&page.def);
    tn_buf_clear(&page.rep);
    tn_buf_clear(&page.indices);
    tn_buf_clear(&page.plain);
    return rc;
}

/* Writes the page under way, or, when it is the first and shows that the dictionary does not pay,
 * leaves the dictionary; the rows may then still be pending. */
static int flush(tarn_cx *cx, tn_chunk_writer *w)
{
    bool drop = false;
    int rc = TARN_OK;

    if (w->dictionary && !w->dict_kept && w->dict_written == 0 && w->page.values > 0)
        TN_TRY(tn_choice_drops_dictionary(cx, w, &drop));
    if (drop)
        TN_TRY(leave_dictionary(cx, w));
    else
        TN_TRY(tn_write_page(cx, w));
done:
    return rc;
}

static int add_batch(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch)
{
    span at = {0};
    bool fits;
    int rc = TARN_OK;

    while (at.entry + at.entries < batch->entries) {
        span next = span_next(w, batch, &at);

        if (w->dictionary) {
            TN_TRY(add_indices(cx, w, batch, &next, &fits));
            if (!fits) {
                TN_TRY(leave_dictionary(cx, w));
                continue;
            }
        } else {
            TN_TRY(add_plain(cx, w, batch, &next));
        }
        TN_TRY(add_levels(cx, w, batch, &next));
        at = next;
        if (w->dictionary && tn_choice_still_distinct(w))
            TN_TRY(leave_dictionary(cx, w));
        if (page_full(w))
            TN_TRY(flush(cx, w));
    }
done:
    return rc;
}

int tn_chunk_writer_add(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch)
{
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    if (w->leaf->max_rep > 0 && batch->entries > 0 && batch->rep[0] != 0)
        TN_FAIL(TARN_E_INVALID, "column %.*s: a batch begins inside a row",
                TN_STR_ARG(w->leaf->dotted));
    TN_TRY(add_batch(cx, w, batch));
done:
    return rc;
}

int tn_chunk_writer_flush(tarn_cx *cx, tn_chunk_writer *w)
{
    int rc = TARN_OK;

    /* Leaving the dictionary may take a second round. */
    while (w->page.entries > 0)
        TN_TRY(flush(cx, w));
done:
    return rc;
}

static int check_ready(tarn_cx *cx, const tn_chunk_writer *w, const tn_ready_page *page,
                       bool indexed)
{
    const tn_page_header *h = &page->header;
    bool data = h->type == TN_PAGE_DATA || h->type == TN_PAGE_DATA_V2;
    bool coded = h->encoding == TN_ENC_RLE_DICTIONARY || h->encoding == TN_ENC_PLAIN_DICTIONARY;
    const char *why = NULL;

    if (!data && h->type != TN_PAGE_DICTIONARY)
        why = "is neither a data nor a dictionary page";
    else if (h->compressed_bytes < 0 ||
             (size_t)h->compressed_bytes != page->levels.len + page->body.len)
        why = "states another size than its body has";
    else if (data && h->values != page->entries)
        why = "states another number of values";
    else if (data && coded && !w->ready_dictionary && !indexed)
        why = "needs a dictionary page, which was not given first";
    else if (!data && (w->ready || tn_write_page_count(w) > 0 || w->page.entries > 0))
        why = "is a dictionary page and not the first";
    if (why == NULL)
        return TARN_OK;
    return tn_fail(cx, TARN_E_INVALID, "column %.*s: a ready page %s", TN_STR_ARG(w->leaf->dotted),
                   why);
}

static int put_ready(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page, tn_buf *piece)
{
    size_t body = page->levels.len + page->body.len;
    int rc = TARN_OK;

    tn_buf_reset(&w->header);
    tn_page_header_encode(&w->header, &page->header);
    TN_TRY(tn_buf_check(cx, &w->header));
    if (body >= TN_LARGE_COPY_BYTES)
        TN_TRY(tn_chunk_writer_expect(cx, w, w->header.len + body));
    tn_buf_reserve(piece, w->header.len + body);
    tn_buf_add(piece, w->header.data, w->header.len);
    tn_buf_str(piece, page->levels);
    tn_buf_str(piece, page->body);
    TN_TRY(tn_buf_check(cx, piece));
done:
    return rc;
}

static int note_ready(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page, size_t bytes)
{
    tn_written_page note = {.bytes = (int64_t)bytes,
                            .rows = page->rows,
                            .entries = page->entries,
                            .nulls = page->nulls,
                            .nans = page->has_nans             ? page->nans
                                    : tn_bounds_real(w->order) ? -1
                                                               : 0,
                            .unencoded_bytes = page->unencoded_bytes,
                            .type = page->header.type,
                            .encoding = page->header.encoding,
                            .null_page = page->null_page,
                            .has_bounds =
                                page->has_bounds && !page->null_page && w->order != TN_BOUNDS_NONE};
    int rc = TARN_OK;

    /* Where nobody counted them, the header of a v2 page has, and a required leaf has none. */
    if (note.nulls < 0 && page->header.type == TN_PAGE_DATA_V2)
        note.nulls = page->header.nulls;
    if (w->leaf->max_def == 0)
        note.nulls = 0;
    w->bounds_unknown |= !note.has_bounds && !note.null_page;
    w->bounds_inexact |= note.has_bounds && !page->bounds_exact;
    if (note.has_bounds)
        tn_bounds_widen(&w->bounds, w->order, page->min, page->max);
    TN_TRY(tn_buf_check(cx, &w->bounds.min));
    TN_TRY(tn_buf_check(cx, &w->bounds.max));
    TN_TRY(
        tn_write_note(cx, w, note, page->rep_histogram, page->def_histogram, page->min, page->max));
done:
    return rc;
}

/* Keeps a page that was put together, and empties *piece. */
static int keep_ready(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page, tn_buf *piece,
                      uint64_t uncompressed)
{
    int rc = TARN_OK;

    if (page->header.type == TN_PAGE_DICTIONARY) {
        w->dictionary = false;
        w->ready_dictionary = true;
        w->dictionary_stat = (tn_encoding_stat){TN_PAGE_DICTIONARY, page->header.encoding, 1};
        w->dictionary_bytes = piece->len;
        w->dictionary_uncompressed_bytes = uncompressed;
    } else {
        TN_TRY(note_ready(cx, w, page, piece->len));
        w->uncompressed_bytes += uncompressed;
    }
    w->ready = true;
    tn_buf_add(&w->pieces, piece, sizeof *piece);
    TN_TRY(tn_buf_check(cx, &w->pieces));
    *piece = (tn_buf){0};
    TN_TRY(tn_chunk_writer_settle(cx, w));
done:
    return rc;
}

static int add_ready(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page, uint32_t used)
{
    tn_buf piece = {0};
    size_t head;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(check_ready(cx, w, page, used != 0));
    assert(used == 0 || w->page.entries == 0);
    TN_TRY(tn_chunk_writer_flush(cx, w));
    assert(used <= w->dict.count);
    TN_TRY(put_ready(cx, w, page, &piece));
    head = piece.len - page->levels.len - page->body.len;
    TN_TRY(keep_ready(cx, w, page, &piece, head + (uint64_t)page->header.uncompressed_bytes));
    w->dict_written = used > w->dict_written ? used : w->dict_written;
done:
    tn_buf_clear(&piece);
    return rc;
}

int tn_chunk_writer_add_page(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page)
{
    return add_ready(cx, w, page, 0);
}

int tn_chunk_writer_add_indexed(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page,
                                uint32_t used)
{
    return add_ready(cx, w, page, used);
}

int tn_chunk_writer_add_loose(tarn_cx *cx, tn_chunk_writer *w, const tn_ready_page *page,
                              uint32_t used)
{
    tn_ready_page packed = *page;
    tn_buf piece = {0};
    uint64_t uncompressed;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    assert(used == 0 || w->page.entries == 0);
    TN_TRY(tn_chunk_writer_flush(cx, w));
    assert(used <= w->dict.count);
    tn_buf_reset(&w->body);
    tn_buf_str(&w->body, page->levels);
    tn_buf_str(&w->body, page->body);
    TN_TRY(tn_buf_check(cx, &w->body));
    packed.header.has_crc = false;
    TN_TRY(tn_write_pack(cx, w, &packed.header, page->levels.len, &piece, &uncompressed));
    TN_TRY(keep_ready(cx, w, &packed, &piece, uncompressed));
    w->dict_written = used > w->dict_written ? used : w->dict_written;
done:
    tn_buf_clear(&piece);
    return rc;
}

/* How many bytes `count` values take at the front of `plain`; false when there are fewer. Readers
 * pass over what follows, so that it need not be empty. */
static bool measure_plain(const tn_chunk_writer *w, tn_str plain, int64_t count, size_t *bytes)
{
    size_t at = 0;

    if (w->leaf->physical != TN_BYTE_ARRAY) {
        *bytes = (size_t)count * w->width;
        return plain.len / w->width >= (uint64_t)count;
    }
    for (int64_t i = 0; i < count; i++) {
        uint32_t len;

        if (plain.len - at < 4)
            return false;
        memcpy(&len, plain.ptr + at, 4);
        at += 4;
        if (plain.len - at < len)
            return false;
        at += len;
    }
    *bytes = at;
    return true;
}

int tn_chunk_writer_add_plain(tarn_cx *cx, tn_chunk_writer *w, const tn_leaf_batch *batch,
                              tn_str plain)
{
    span all = {.entries = batch->entries, .values = batch->values.count, .rows = batch->rows};
    size_t bytes;
    int rc = TARN_OK;

    assert(!w->dictionary && w->leaf->physical != TN_BOOLEAN && w->width != 0);
    if (!measure_plain(w, plain, all.values, &bytes))
        TN_FAIL(TARN_E_CORRUPT, "%zu bytes do not hold %lld plain values", plain.len,
                (long long)all.values);
    w->ready = true; /* values that nobody looked at are in no filter */
    tn_buf_add(&w->page.plain, plain.ptr, bytes);
    TN_TRY(tn_buf_check(cx, &w->page.plain));
    TN_TRY(add_levels(cx, w, batch, &all));
    if (page_full(w))
        TN_TRY(flush(cx, w));
done:
    return rc;
}

uint64_t tn_chunk_writer_bytes(const tn_chunk_writer *w)
{
    /* What is not compressed yet is taken to shrink as the pages before it did, or to a half. */
    double ratio = w->uncompressed_bytes != 0 ? (double)w->bytes / (double)w->uncompressed_bytes
                   : w->options.codec == TN_CODEC_NONE ? 1
                                                       : 0.5;
    uint64_t pending = w->dictionary ? (uint64_t)w->page.values * 2 : w->page.plain.len;

    return w->bytes + w->dictionary_bytes +
           (uint64_t)((double)(pending + w->dict.plain.len) * ratio);
}
