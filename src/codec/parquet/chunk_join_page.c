/* Moves the pages of a part to the output.
 *
 * I1: a page that is moved as it is had its checksum held; one that is unpacked, too.
 * I2: new levels make a version 2 page, where they stand apart from the values: compressed values
 *     stay as they are.
 * I3: statistics of page headers are not taken over: the column index has them. */
#include "codec/parquet/chunk_join_state.h"

#include "codec/parquet/encode.h"

enum { WINDOW = 65536 };

/* ---- levels ---- */

static void map_levels(const tn_chunk_join *join, const uint16_t *from, uint16_t *to, size_t n)
{
    const uint16_t *map = join->part->def_map;

    for (size_t i = 0; i < n; i++)
        to[i] = map[from[i]];
}

int tn_join_take_levels(tarn_cx *cx, tn_chunk_join *join, size_t n, tn_leaf_batch *batch)
{
    tn_leaf_page *p = &join->slot;
    bool all = false;
    int rc = TARN_OK;

    if (p->max_rep != 0 || (int64_t)n > tn_leaf_page_left(p))
        n = (size_t)tn_leaf_page_left(p);
    if (p->max_rep == 0)
        TN_TRY(tn_leaf_page_all_present(cx, p, n, &all));
    batch->rows = batch->entries = batch->values.count = (int64_t)n;
    batch->all_present = true;
    if (all)
        goto done;
    TN_TRY(tn_leaf_page_fill(cx, p, n));
    batch->rep = tn_leaf_page_rep(p);
    batch->def = tn_leaf_page_def(p);
    batch->values.count = (int64_t)tn_leaf_page_present(p, n);
    batch->all_present = batch->values.count == batch->entries;
    p->at += n;
    if (batch->def == NULL || join->part->def_map == NULL)
        goto done;
    tn_buf_reset(&join->def);
    if (tn_buf_extend(&join->def, n * sizeof *batch->def) == NULL)
        TN_TRY(tn_buf_check(cx, &join->def));
    map_levels(join, batch->def, (uint16_t *)(void *)join->def.data, n);
    batch->def = (const uint16_t *)(const void *)join->def.data;
done:
    return rc;
}

int tn_join_gather(tarn_cx *cx, tn_chunk_join *join, const tn_leaf_batch *batch)
{
    tn_pending *to = &join->gathered;
    size_t n = (size_t)batch->entries, missing = 0;
    uint16_t *fill;
    int rc = TARN_OK;

    if (join->leaf->max_rep > 0)
        tn_buf_add(&to->rep, batch->rep, n * sizeof *batch->rep);
    if (join->leaf->max_def > 0 && (!batch->all_present || to->leveled)) {
        missing = batch->all_present ? n : to->leveled ? 0 : (size_t)to->entries;
        fill = (uint16_t *)(void *)tn_buf_extend(&to->def, missing * sizeof *fill);
        for (size_t i = 0; fill != NULL && i < missing; i++)
            fill[i] = join->leaf->max_def;
        if (!batch->all_present)
            tn_buf_add(&to->def, batch->def, n * sizeof *batch->def);
        to->leveled = true;
    }
    TN_TRY(tn_buf_check(cx, &to->rep));
    TN_TRY(tn_buf_check(cx, &to->def));
    to->entries += batch->entries;
    to->values += batch->values.count;
done:
    return rc;
}

/* `gathered` levels in their form of a version 2 page, into `levels`. */
static int encode_levels(tarn_cx *cx, tn_chunk_join *join, tn_page_header *header)
{
    const tn_pending *from = &join->gathered;
    const tn_chunk_writer *w = join->writer;
    tn_buf *out = &join->levels;
    size_t n = (size_t)from->entries;

    tn_buf_reset(out);
    if (join->leaf->max_rep > 0)
        tn_encode_hybrid(out, from->rep.data, 2, n, w->rep_width);
    header->rep_bytes = (int32_t)out->len;
    if (join->leaf->max_def > 0 && from->leveled)
        tn_encode_hybrid(out, from->def.data, 2, n, w->def_width);
    else if (join->leaf->max_def > 0)
        tn_encode_run(out, join->leaf->max_def, n, w->def_width);
    header->def_bytes = (int32_t)out->len - header->rep_bytes;
    if (out->len > TN_PARQUET_PAGE_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "levels of %zu bytes in a page", out->len);
    return tn_buf_check(cx, out);
}

static void forget_gathered(tn_chunk_join *join)
{
    tn_pending *to = &join->gathered;

    to->rows = to->entries = to->values = 0;
    to->leveled = false;
    tn_buf_reset(&to->def);
    tn_buf_reset(&to->rep);
}

/* All levels of the page that stands in `slot`. */
static int gather_page(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page)
{
    int rc = TARN_OK;

    while (tn_leaf_page_left(&join->slot) != 0) {
        tn_leaf_batch batch = {0};

        TN_TRY(tn_join_fail(cx, tn_join_take_levels(cx, join, WINDOW, &batch), join, page));
        TN_TRY(tn_join_gather(cx, join, &batch));
    }
    join->gathered.rows += page->rows;
done:
    return rc;
}

/* ---- whole pages ---- */

static void set_header(const tn_join_page *page, tn_page_header *out)
{
    *out = page->header;
    out->has_statistics = false;
    out->statistics = (tn_statistics){0};
    out->def_encoding = out->rep_encoding = TN_ENC_RLE;
    if (page->coded)
        out->encoding = TN_ENC_RLE_DICTIONARY;
    if (out->type == TN_PAGE_DATA_V2) {
        out->rows = (int32_t)page->rows;
        out->nulls = (int32_t)page->nulls;
    }
}

bool tn_join_same_levels(const tn_chunk_join *join)
{
    return join->part->def_map == NULL && join->from->max_def == join->leaf->max_def;
}

static bool packed(const tn_chunk_join *join, const tn_page_header *h)
{
    return join->meta->codec != TN_CODEC_NONE && (h->type != TN_PAGE_DATA_V2 || h->compressed);
}

/* Whether the compressed bytes may stand under the output's codec. */
bool tn_join_same_codec(const tn_chunk_join *join, const tn_page_header *h)
{
    return join->meta->codec == join->writer->options.codec ||
           (h->type == TN_PAGE_DATA_V2 && !packed(join, h));
}

static uint32_t used_by(const tn_chunk_join *join, const tn_join_page *page)
{
    return page->coded ? (uint32_t)join->values.count : 0;
}

/* Adds a page whose header states all but its checksum. */
static int add_page(tarn_cx *cx, tn_chunk_join *join, tn_ready_page *ready, uint32_t used)
{
    if (!ready->header.has_crc && join->writer->options.crc) {
        ready->header.has_crc = true;
        ready->header.crc = tn_write_checksum(ready->levels, ready->body);
    }
    if (used != 0)
        return tn_chunk_writer_add_indexed(cx, join->writer, ready, used);
    return tn_chunk_writer_add_page(cx, join->writer, ready);
}

/* As it is in the file. */
static int copy_whole(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page,
                      tn_ready_page *ready)
{
    int rc = TARN_OK;

    TN_TRY(tn_page_reader_raw(cx, &join->pages, &ready->body));
    TN_TRY(add_page(cx, join, ready, used_by(join, page)));
done:
    return rc;
}

/* Unpacked, and packed again by the output's codec. */
static int copy_repacked(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page,
                         tn_ready_page *ready)
{
    tn_page *plain = &join->slot.page;
    tn_str all;
    size_t levels = 0;
    int rc = TARN_OK;

    TN_TRY(tn_page_reader_body(cx, &join->pages, plain));
    if (page->header.type == TN_PAGE_DATA_V2)
        levels = (size_t)page->header.rep_bytes + (size_t)page->header.def_bytes;
    all = (tn_str){(const char *)plain->body, plain->len};
    ready->levels = (tn_str){all.ptr, levels};
    ready->body = tn_str_from(all, levels);
    TN_TRY(tn_chunk_writer_add_loose(cx, join->writer, ready, used_by(join, page)));
done:
    return rc;
}

/* Stands `slot` at the levels of a page whose body is *raw in the file: those of a version 2 page,
 * or none at all. */
static int open_levels(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page, tn_str *raw)
{
    const tn_page_header *h = &page->header;
    tn_leaf_page *p = &join->slot;
    const uint8_t *body;
    size_t rep = 0, def = 0;
    int rc = TARN_OK;

    TN_TRY(tn_page_reader_raw(cx, &join->pages, raw));
    body = (const uint8_t *)raw->ptr;
    if (h->type == TN_PAGE_DATA_V2) {
        rep = (size_t)h->rep_bytes;
        def = (size_t)h->def_bytes;
    }
    p->max_rep = join->from->max_rep;
    p->max_def = join->from->max_def;
    p->at = p->len = 0;
    p->undecoded = h->values;
    tn_decode_level_init_v2(&p->rep, p->max_rep, body, rep, 0);
    tn_decode_level_init_v2(&p->def, p->max_def, body + rep, def, rep);
done:
    return rc;
}

/* Sizes of a page of compressed values behind levels. */
static int set_sizes(tarn_cx *cx, const tn_chunk_join *join, tn_ready_page *ready, size_t plain)
{
    uint64_t before = ready->levels.len + (uint64_t)plain;
    uint64_t after = ready->levels.len + (uint64_t)ready->body.len;

    if (before > TN_PARQUET_PAGE_BYTES_MAX || after > TN_PARQUET_PAGE_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "column %.*s: a page of %llu bytes; the limit is %u",
                       TN_STR_ARG(join->leaf->dotted), (unsigned long long)before,
                       TN_PARQUET_PAGE_BYTES_MAX);
    ready->header.uncompressed_bytes = (int32_t)before;
    ready->header.compressed_bytes = (int32_t)after;
    return TARN_OK;
}

/* The values of a page with levels of the output before them, as a version 2 page. */
static int copy_leveled(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page,
                        tn_ready_page *ready)
{
    const tn_page_header *h = &page->header;
    size_t apart = h->type == TN_PAGE_DATA_V2 ? (size_t)h->rep_bytes + (size_t)h->def_bytes : 0;
    bool whole =
        h->type == TN_PAGE_DATA_V2 || (join->from->max_def == 0 && join->from->max_rep == 0);
    tn_page_header *out = &ready->header;
    tn_str raw;
    int rc = TARN_OK;

    forget_gathered(join);
    if (whole && tn_join_same_codec(join, h)) {
        out->compressed = packed(join, h);
        TN_TRY(open_levels(cx, join, page, &raw));
        ready->body = tn_str_from(raw, apart);
    } else {
        whole = false;
        TN_TRY(tn_leaf_page_open(cx, &join->pages, NULL, &join->slot));
        ready->body = (tn_str){(const char *)join->slot.values.bytes, join->slot.values.len};
    }
    TN_TRY(gather_page(cx, join, page));
    out->type = TN_PAGE_DATA_V2;
    out->rows = (int32_t)page->rows;
    out->nulls = (int32_t)(join->gathered.entries - join->gathered.values);
    out->has_crc = false;
    TN_TRY(encode_levels(cx, join, out));
    ready->levels = tn_buf_view(&join->levels);
    if (!whole)
        return tn_chunk_writer_add_loose(cx, join->writer, ready, used_by(join, page));
    TN_TRY(set_sizes(cx, join, ready, (size_t)h->uncompressed_bytes - apart));
    TN_TRY(add_page(cx, join, ready, used_by(join, page)));
done:
    return rc;
}

/* An index beyond the part's dictionary may be one of the output's: a page that every reader of the
 * input refuses must not become one that is read. */
static int check_indices(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page)
{
    tn_leaf_page *p = &join->slot;
    const uint32_t *indices;
    int rc = TARN_OK;

    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_leaf_page_open(cx, &join->pages, &join->values, p));
    while (tn_leaf_page_left(p) != 0) {
        tn_leaf_batch batch = {0};

        TN_TRY(tn_join_fail(cx, tn_join_take_levels(cx, join, WINDOW, &batch), join, page));
        TN_TRY(tn_join_fail(cx,
                            tn_decode_value_indices(cx, &p->values, &join->indices,
                                                    (size_t)batch.values.count, &indices),
                            join, page));
    }
done:
    return rc;
}

int tn_join_copy(tarn_cx *cx, tn_chunk_join *join, size_t i)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    tn_ready_page ready = {0};
    int rc = TARN_OK;

    if (page->coded)
        TN_TRY(check_indices(cx, join, page));
    set_header(page, &ready.header);
    TN_TRY(tn_join_know(cx, join, i, &ready));
    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    if (!tn_join_same_levels(join))
        TN_TRY(copy_leveled(cx, join, page, &ready));
    else if (!tn_join_same_codec(join, &page->header))
        TN_TRY(copy_repacked(cx, join, page, &ready));
    else
        TN_TRY(copy_whole(cx, join, page, &ready));
done:
    return rc;
}

/* ---- values of a dictionary in the order of rows ---- */

int tn_join_sequence(tarn_cx *cx, tn_chunk_join *join)
{
    const tn_join_page *page = &join->dictionary_page;
    tn_ready_page ready = {.header = {.type = TN_PAGE_DATA_V2,
                                      .values = (int32_t)join->gathered.entries,
                                      .nulls = (int32_t)join->nulls,
                                      .rows = (int32_t)join->gathered.rows,
                                      .encoding = TN_ENC_PLAIN,
                                      .def_encoding = TN_ENC_RLE,
                                      .rep_encoding = TN_ENC_RLE}};
    size_t plain = (size_t)page->header.uncompressed_bytes;
    int rc = TARN_OK;

    TN_TRY(encode_levels(cx, join, &ready.header));
    ready.levels = tn_buf_view(&join->levels);
    TN_TRY(tn_join_know_all(cx, join, plain, &ready));
    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    if (tn_join_same_codec(join, &page->header)) {
        ready.header.compressed = packed(join, &page->header);
        TN_TRY(tn_page_reader_raw(cx, &join->pages, &ready.body));
        TN_TRY(set_sizes(cx, join, &ready, plain));
        TN_TRY(add_page(cx, join, &ready, 0));
    } else {
        TN_TRY(tn_page_reader_body(cx, &join->pages, &join->dictionary));
        ready.body = (tn_str){(const char *)join->dictionary.body, join->dictionary.len};
        TN_TRY(tn_chunk_writer_add_loose(cx, join->writer, &ready, 0));
    }
done:
    return rc;
}

/* ---- rows ---- */

static int append_plain(tarn_cx *cx, tn_chunk_join *join, const tn_join_page *page, tn_str plain)
{
    const tn_pending *from = &join->gathered;
    tn_leaf_batch batch = {.rows = from->rows,
                           .entries = from->entries,
                           .def = (const uint16_t *)(const void *)from->def.data,
                           .rep = (const uint16_t *)(const void *)from->rep.data,
                           .all_present = !from->leveled,
                           .values = {NULL, from->values}};

    return tn_join_fail(cx, tn_chunk_writer_add_plain(cx, join->writer, &batch, plain), join, page);
}

int tn_join_append_dictionary(tarn_cx *cx, tn_chunk_join *join)
{
    const tn_join_page *page = &join->dictionary_page;
    int rc = TARN_OK;

    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_page_reader_body(cx, &join->pages, &join->dictionary));
    TN_TRY(append_plain(cx, join, page,
                        (tn_str){(const char *)join->dictionary.body, join->dictionary.len}));
done:
    return rc;
}

int tn_join_append(tarn_cx *cx, tn_chunk_join *join, size_t i)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    int rc = TARN_OK;

    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_leaf_page_open(cx, &join->pages, NULL, &join->slot));
    forget_gathered(join);
    TN_TRY(gather_page(cx, join, page));
    TN_TRY(append_plain(cx, join, page,
                        (tn_str){(const char *)join->slot.values.bytes, join->slot.values.len}));
done:
    return rc;
}

int tn_join_rows(tarn_cx *cx, tn_chunk_join *join, size_t i)
{
    const tn_join_page *page = tn_join_page_at(join, i);
    int rc = TARN_OK;

    tn_page_reader_stand(&join->pages, &page->header, page->at, page->number);
    TN_TRY(tn_leaf_page_open(cx, &join->pages, &join->values, &join->slot));
    while (tn_leaf_page_left(&join->slot) != 0) {
        tn_leaf_batch batch = {.dictionary = join->values, .dictionary_id = join->dictionary_id};

        TN_TRY(tn_join_fail(cx, tn_join_take_levels(cx, join, WINDOW, &batch), join, page));
        if (join->from->max_rep > 0)
            batch.rows = page->rows;
        TN_TRY(tn_join_fail(cx,
                            tn_decode_value_indices(cx, &join->slot.values, &join->indices,
                                                    (size_t)batch.values.count, &batch.indices),
                            join, page));
        TN_TRY(tn_chunk_writer_add(cx, join->writer, &batch));
    }
done:
    return rc;
}
