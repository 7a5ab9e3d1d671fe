/* Pages of one chunk: the pending rows become header and compressed body.
 *
 * Data page v1, all compressed:   [4: length][rep levels] [4: length][def levels] values
 * Data page v2:                   rep levels, def levels (neither compressed nor prefixed), values
 *                                 compressed, or plain where compression does not shrink them
 * Values by dictionary:           [1: index width] indices (hybrid)
 *
 * I1: A page holds whole rows.
 * I2: Levels are left out where their greatest is 0. */
#include "codec/parquet/encode.h"
#include "codec/parquet/leaf_write_state.h"

#include <libdeflate.h>
#include <stdlib.h>

enum {
    QUICK_LEVEL = 1,             /* of zstd */
    JUDGED_BYTES_MIN = 16 << 10, /* of values; fewer say little of the pages to come */
    QUICK_COST_PART = 64         /* the quick level may cost such a part of a page */
};

/* One kind of level, with its length before it in v1; *bytes_out is what v2's header states. */
static int put_levels(tarn_cx *cx, tn_chunk_writer *w, const tn_buf *levels, uint16_t max,
                      unsigned width, int32_t *bytes_out)
{
    tn_buf *out = &w->body;
    size_t at = out->len;
    uint32_t len;
    int rc = TARN_OK;

    *bytes_out = 0;
    if (max == 0)
        goto done;
    if (!w->options.page_v2)
        tn_buf_u32le(out, 0);
    if (levels != NULL)
        tn_encode_hybrid(out, levels->data, 2, (size_t)w->page.entries, width);
    else
        tn_encode_run(out, max, (size_t)w->page.entries, width);
    TN_TRY(tn_buf_check(cx, out));
    *bytes_out = (int32_t)(out->len - at);
    if (!w->options.page_v2) {
        len = (uint32_t)(out->len - at - 4);
        memcpy(out->data + at, &len, 4);
    }
done:
    return rc;
}

int tn_write_values(tarn_cx *cx, tn_chunk_writer *w, tn_values *out)
{
    const uint8_t *at = w->page.plain.data;
    tn_view *view;
    int rc = TARN_OK;

    if (w->leaf->physical != TN_BYTE_ARRAY) {
        *out = (tn_values){w->page.plain.data, w->page.values};
        goto done;
    }
    tn_buf_reset(&w->views);
    view = (tn_view *)(void *)tn_buf_extend(&w->views, (size_t)w->page.values * sizeof *view);
    TN_TRY(tn_buf_check(cx, &w->views));
    for (int64_t i = 0; i < w->page.values; i++) {
        memcpy(&view[i].len, at, 4);
        view[i].ptr = at + 4;
        at += 4 + (size_t)view[i].len;
    }
    *out = (tn_values){w->views.data, w->page.values};
done:
    return rc;
}

/* The distinct values that the pending indices use, in order of first use, into `scratch` or
 * `views`. Work follows the page, not the dictionary, which may be much longer. */
static int used_values(tarn_cx *cx, tn_chunk_writer *w, tn_values *out)
{
    const uint32_t *indices = (const uint32_t *)(const void *)w->page.indices.data;
    size_t width = w->dict.views ? sizeof(tn_view) : w->dict.width;
    size_t most = (size_t)w->page.values < w->dict.count ? (size_t)w->page.values : w->dict.count;
    tn_buf *to = w->dict.views ? &w->views : &w->scratch;
    uint8_t *used, *at;
    int rc = TARN_OK;

    tn_buf_reset(&w->body);
    used = tn_buf_extend(&w->body, w->dict.count);
    TN_TRY(tn_buf_check(cx, &w->body));
    memset(used, 0, w->dict.count);
    tn_buf_reset(to);
    at = tn_buf_extend(to, most * width);
    TN_TRY(tn_buf_check(cx, to));
    for (int64_t i = 0; i < w->page.values; i++) {
        uint32_t index = indices[i];

        if (used[index])
            continue;
        used[index] = 1;
        if (w->dict.views) {
            tn_view view = tn_dict_view(&w->dict, index);

            memcpy(at, &view, sizeof view);
        } else if (width == 8) {
            memcpy(at, w->dict.plain.data + (size_t)index * 8, 8);
        } else {
            memcpy(at, w->dict.plain.data + index * width, width);
        }
        at += width;
    }
    to->len = (size_t)(at - to->data);
    *out = (tn_values){to->data, (int64_t)(to->len / width)};
done:
    return rc;
}

static int put_indices(tarn_cx *cx, tn_chunk_writer *w)
{
    /* One entry could do with width 0, but not every reader takes it. */
    unsigned width = tn_encode_width(w->dict.count > 1 ? w->dict.count - 1 : 1);

    tn_buf_u8(&w->body, (uint8_t)width);
    tn_encode_hybrid(&w->body, w->page.indices.data, 4, (size_t)w->page.values, width);
    return tn_buf_check(cx, &w->body);
}

uint32_t tn_write_checksum(tn_str a, tn_str b)
{
    uint32_t crc = libdeflate_crc32(0, NULL, 0);

    if (a.len != 0)
        crc = libdeflate_crc32(crc, a.ptr, a.len);
    return b.len != 0 ? libdeflate_crc32(crc, b.ptr, b.len) : crc;
}

/* zstd, and nobody asked for a level. */
static bool level_is_free(const tn_chunk_writer *w)
{
    return w->options.codec == TN_CODEC_ZSTD && w->options.level == 0;
}

/* The level for the next page. Pages like one that hardly shrank (packed indices, measured numbers)
 * are tried by the quickest level of zstd; when one shrinks, the next gets the usual one again. */
static int level_of(const tn_chunk_writer *w)
{
    return level_is_free(w) && (w->dense || w->quick) ? QUICK_LEVEL : w->options.level;
}

/* The first page of normal size tells which level the chunk's pages get: the usual one takes up to
 * twice the time, and now and then its pages are even larger. A page of more bytes would need room
 * that is not reserved. */
static bool judges_level(const tn_chunk_writer *w, const tn_page_header *header, size_t bytes)
{
    return level_is_free(w) && !w->level_judged && !w->dense &&
           header->type != TN_PAGE_DICTIONARY && bytes >= JUDGED_BYTES_MIN &&
           bytes < TN_LARGE_COPY_BYTES;
}

/* `plain` into `packed`. */
static int pack(tarn_cx *cx, tn_chunk_writer *w, const tn_page_header *header, tn_str plain)
{
    tn_zip *zip = tn_zip_of(cx);
    tn_buf usual;
    int rc = TARN_OK;

    if (zip == NULL)
        return TARN_E_NOMEM;
    tn_buf_reset(&w->packed);
    TN_TRY(tn_zip_pack(cx, zip, w->options.codec, level_of(w), plain, &w->packed));
    TN_TRY(tn_buf_check(cx, &w->packed));
    if (!judges_level(w, header, plain.len))
        goto done;
    tn_buf_reset(&w->scratch);
    TN_TRY(tn_zip_pack(cx, zip, w->options.codec, QUICK_LEVEL, plain, &w->scratch));
    TN_TRY(tn_buf_check(cx, &w->scratch));
    w->level_judged = true;
    w->quick = w->scratch.len <= w->packed.len + w->packed.len / QUICK_COST_PART;
    if (w->quick) {
        usual = w->packed;
        w->packed = w->scratch;
        w->scratch = usual;
    }
done:
    return rc;
}

int tn_write_pack(tarn_cx *cx, tn_chunk_writer *w, tn_page_header *header, size_t levels,
                  tn_buf *out, uint64_t *uncompressed)
{
    tn_str plain = tn_str_from(tn_buf_view(&w->body), levels), stored = plain;
    bool v2 = header->type == TN_PAGE_DATA_V2;
    int rc = TARN_OK;

    if (w->body.len > TN_PARQUET_PAGE_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "column %.*s: a page of %zu bytes exceeds the limit of %u; a row is too large to "
                "be written",
                TN_STR_ARG(w->leaf->dotted), w->body.len, TN_PARQUET_PAGE_BYTES_MAX);
    header->compressed = w->options.codec != TN_CODEC_NONE;
    if (header->compressed && !(v2 && plain.len == 0)) {
        TN_TRY(pack(cx, w, header, plain));
        stored = tn_buf_view(&w->packed);
        w->dense = stored.len > plain.len - plain.len / 16;
    }
    /* Only v2 has a flag for it. */
    if (v2 && stored.len >= plain.len) {
        stored = plain;
        header->compressed = false;
    }
    header->uncompressed_bytes = (int32_t)w->body.len;
    header->compressed_bytes = (int32_t)(levels + stored.len);
    if (w->options.crc) {
        header->has_crc = true;
        header->crc = tn_write_checksum((tn_str){(const char *)w->body.data, levels}, stored);
    }
    tn_buf_reset(&w->header);
    tn_page_header_encode(&w->header, header);
    TN_TRY(tn_buf_check(cx, &w->header));
    if (stored.len >= TN_LARGE_COPY_BYTES)
        TN_TRY(tn_chunk_writer_expect(cx, w, w->header.len + levels + stored.len));
    tn_buf_reserve(out, w->header.len + levels + stored.len);
    tn_buf_add(out, w->header.data, w->header.len);
    tn_buf_add(out, w->body.data, levels);
    tn_buf_str(out, stored);
    TN_TRY(tn_buf_check(cx, out));
    *uncompressed = w->header.len + w->body.len;
done:
    return rc;
}

static void count_levels(int64_t *histogram, const tn_buf *levels, int64_t entries)
{
    const uint16_t *level = (const uint16_t *)(const void *)levels->data;

    for (int64_t i = 0; i < entries; i++)
        histogram[level[i]]++;
}

int tn_write_note(tarn_cx *cx, tn_chunk_writer *w, tn_written_page note, const int64_t *rep,
                  const int64_t *def, tn_str min, tn_str max)
{
    size_t bound = w->options.bound_bytes_max;
    size_t rep_bytes = (w->leaf->max_rep + (size_t)1) * sizeof(int64_t);
    size_t def_bytes = (w->leaf->max_def + (size_t)1) * sizeof(int64_t);
    bool shorten = w->order == TN_BOUNDS_BYTES && w->leaf->physical == TN_BYTE_ARRAY, exact;
    int rc = TARN_OK;

    if (note.has_bounds) {
        note.min_at = w->bound_bytes.len;
        tn_bounds_lower(&w->bound_bytes, min, w->text, shorten ? bound : SIZE_MAX, &exact);
        note.min_len = w->bound_bytes.len - note.min_at;
        note.max_at = w->bound_bytes.len;
        /* A maximum that cannot be raised stands whole unless it is huge. */
        if (!tn_bounds_upper(&w->bound_bytes, max, w->text, shorten ? bound : SIZE_MAX, &exact)) {
            if (max.len <= 4096)
                tn_buf_str(&w->bound_bytes, max);
            else
                note.has_bounds = false;
        }
        note.max_len = w->bound_bytes.len - note.max_at;
    }
    w->index_unbounded |= !note.has_bounds && !note.null_page;
    if (w->leaf->max_rep > 0 && rep != NULL)
        tn_buf_add(&w->rep_histograms, rep, rep_bytes);
    if (w->leaf->max_def > 0 && def != NULL)
        tn_buf_add(&w->def_histograms, def, def_bytes);
    w->histograms_unknown |=
        (w->leaf->max_rep > 0 && rep == NULL) || (w->leaf->max_def > 0 && def == NULL);
    tn_buf_add(&w->notes, &note, sizeof note);
    w->rows += note.rows;
    w->entries += note.entries;
    w->bytes += (uint64_t)note.bytes;
    TN_TRY(tn_buf_check(cx, &w->bound_bytes));
    TN_TRY(tn_buf_check(cx, &w->rep_histograms));
    TN_TRY(tn_buf_check(cx, &w->def_histograms));
    TN_TRY(tn_buf_check(cx, &w->notes));
done:
    return rc;
}

/* Bytes of byte array data without lengths. */
static int64_t unencoded_bytes(tn_chunk_writer *w)
{
    const uint32_t *indices = (const uint32_t *)(const void *)w->page.indices.data;
    uint32_t *len;
    int64_t total = 0;

    if (!w->dictionary)
        return (int64_t)w->page.plain.len - 4 * w->page.values;
    /* One look at each value of the dictionary, unless the page is shorter. */
    tn_buf_reset(&w->scratch);
    len = w->page.values > w->dict.count
              ? (uint32_t *)(void *)tn_buf_extend(&w->scratch, w->dict.count * sizeof *len)
              : NULL;
    for (uint32_t i = 0; len != NULL && i < w->dict.count; i++)
        len[i] = tn_dict_view(&w->dict, i).len;
    for (int64_t i = 0; i < w->page.values; i++)
        total += len != NULL ? len[indices[i]] : tn_dict_view(&w->dict, indices[i]).len;
    return total;
}

static int note_page(tarn_cx *cx, tn_chunk_writer *w, const tn_page_header *header, uint64_t bytes)
{
    size_t levels = w->leaf->max_rep + (size_t)1 + w->leaf->max_def + 1;
    int64_t *rep = tn_calloc(cx, levels, sizeof *rep), *def;
    tn_written_page note = {.bytes = (int64_t)bytes,
                            .rows = w->page.rows,
                            .entries = w->page.entries,
                            .nulls = w->page.entries - w->page.values,
                            .nans = w->page_bounds.nans,
                            .unencoded_bytes = -1,
                            .type = header->type,
                            .encoding = header->encoding,
                            .null_page = w->page.values == 0,
                            .has_bounds = w->page_bounds.any};
    int rc = TARN_OK;

    if (rep == NULL)
        return TARN_E_NOMEM;
    def = rep + w->leaf->max_rep + 1;
    if (w->leaf->physical == TN_BYTE_ARRAY)
        note.unencoded_bytes = unencoded_bytes(w);
    if (w->leaf->max_rep > 0)
        count_levels(rep, &w->page.rep, w->page.entries);
    if (w->page.leveled)
        count_levels(def, &w->page.def, w->page.entries);
    else
        def[w->leaf->max_def] = w->page.entries;
    if (w->page_bounds.any)
        tn_bounds_widen(&w->bounds, w->order, tn_buf_view(&w->page_bounds.min),
                        tn_buf_view(&w->page_bounds.max));
    TN_TRY(tn_buf_check(cx, &w->bounds.min));
    TN_TRY(tn_buf_check(cx, &w->bounds.max));
    TN_TRY(tn_write_note(cx, w, note, rep, def, tn_buf_view(&w->page_bounds.min),
                         tn_buf_view(&w->page_bounds.max)));
done:
    free(rep);
    return rc;
}

/* How many values are NaN: a dictionary has each but once. */
static int64_t nans_by_index(const tn_chunk_writer *w)
{
    const uint32_t *indices = (const uint32_t *)(const void *)w->page.indices.data;
    int64_t nans = 0;

    for (int64_t i = 0; i < w->page.values; i++)
        nans += tn_bounds_nan(w->order, w->dict.plain.data + indices[i] * w->width);
    return nans;
}

static uint64_t growth(const tn_buf *buf, uint64_t to)
{
    return to > buf->cap ? to - buf->cap : 0;
}

/* Reserves what a page of large values takes besides them: body, compressed body, and the bounds of
 * page and chunk, which hold whole values. */
static int expect_page(tarn_cx *cx, tn_chunk_writer *w, const tn_values *values)
{
    const tn_view *view = values->data;
    uint64_t plain = w->page.plain.len, largest = 0, more;

    if (w->dictionary || plain < TN_LARGE_COPY_BYTES)
        return TARN_OK;
    for (int64_t i = 0; w->leaf->physical == TN_BYTE_ARRAY && i < values->count; i++)
        largest = view[i].len > largest ? view[i].len : largest;
    more = growth(&w->body, plain + plain / 8);
    if (w->options.codec != TN_CODEC_NONE)
        more += growth(&w->packed, plain + plain / 6);
    if (w->order != TN_BOUNDS_NONE)
        more += growth(&w->page_bounds.min, largest) + growth(&w->page_bounds.max, largest) +
                growth(&w->bounds.min, largest) + growth(&w->bounds.max, largest);
    return tn_chunk_writer_expect(cx, w, more);
}

/* Bounds of the page's values, and the encoding of plain ones. */
static int judge_values(tarn_cx *cx, tn_chunk_writer *w, tn_values *values)
{
    int rc = TARN_OK;

    *values = (tn_values){NULL, 0};
    if (w->page.values == 0) {
        w->page_bounds.any = false;
        w->page_bounds.nans = 0;
        goto done;
    }
    if (w->dictionary)
        TN_TRY(used_values(cx, w, values));
    else
        TN_TRY(tn_write_values(cx, w, values));
    TN_TRY(expect_page(cx, w, values));
    tn_bounds_of(w->leaf, w->order, *values, &w->page_bounds);
    TN_TRY(tn_buf_check(cx, &w->page_bounds.min));
    TN_TRY(tn_buf_check(cx, &w->page_bounds.max));
    if (w->dictionary && w->page_bounds.nans != 0)
        w->page_bounds.nans = nans_by_index(w);
    if (!w->dictionary && !w->encoding_chosen) {
        TN_TRY(tn_choice_of_encoding(cx, w, *values, &w->encoding));
        w->encoding_chosen = true;
    }
done:
    return rc;
}

static int put_values(tarn_cx *cx, tn_chunk_writer *w, int32_t encoding, tn_values values)
{
    if (encoding == TN_ENC_RLE_DICTIONARY)
        return put_indices(cx, w);
    if (encoding == TN_ENC_PLAIN && w->leaf->physical == TN_BYTE_ARRAY) {
        tn_buf_add(&w->body, w->page.plain.data, w->page.plain.len);
        return tn_buf_check(cx, &w->body);
    }
    return tn_choice_encode(cx, &w->body, w->leaf, encoding, values);
}

static void forget_page(tn_pending *page)
{
    page->rows = page->entries = page->values = 0;
    page->leveled = false;
    tn_buf_reset(&page->def);
    tn_buf_reset(&page->rep);
    tn_buf_reset(&page->indices);
    tn_buf_reset(&page->plain);
}

int tn_write_page(tarn_cx *cx, tn_chunk_writer *w)
{
    tn_page_header header = {.type = w->options.page_v2 ? TN_PAGE_DATA_V2 : TN_PAGE_DATA,
                             .values = (int32_t)w->page.entries,
                             .nulls = -1,
                             .rows = -1,
                             .encoding = TN_ENC_PLAIN,
                             .def_encoding = TN_ENC_RLE,
                             .rep_encoding = TN_ENC_RLE};
    tn_buf piece = {0};
    tn_values values;
    uint64_t uncompressed;
    size_t levels = 0;
    int rc = TARN_OK;

    if (w->page.entries > INT32_MAX)
        TN_FAIL(TARN_E_LIMIT, "column %.*s: a row has more than %d values; it cannot be written",
                TN_STR_ARG(w->leaf->dotted), INT32_MAX);
    TN_TRY(judge_values(cx, w, &values));
    if (w->page.values > 0)
        header.encoding = w->dictionary ? TN_ENC_RLE_DICTIONARY : w->encoding;
    tn_buf_reset(&w->body);
    TN_TRY(put_levels(cx, w, &w->page.rep, w->leaf->max_rep, w->rep_width, &header.rep_bytes));
    TN_TRY(put_levels(cx, w, w->page.leveled ? &w->page.def : NULL, w->leaf->max_def, w->def_width,
                      &header.def_bytes));
    if (w->options.page_v2) {
        levels = w->body.len;
        header.nulls = (int32_t)(w->page.entries - w->page.values);
        header.rows = (int32_t)w->page.rows;
    }
    if (w->page.values > 0)
        TN_TRY(put_values(cx, w, header.encoding, values));
    TN_TRY(tn_write_pack(cx, w, &header, levels, &piece, &uncompressed));
    TN_TRY(note_page(cx, w, &header, piece.len));
    w->uncompressed_bytes += uncompressed;
    tn_buf_add(&w->pieces, &piece, sizeof piece);
    TN_TRY(tn_buf_check(cx, &w->pieces));
    piece = (tn_buf){0};
    if (w->dictionary)
        w->dict_written = w->dict.count;
    forget_page(&w->page);
    TN_TRY(tn_chunk_writer_settle(cx, w));
done:
    tn_buf_clear(&piece);
    return rc;
}
