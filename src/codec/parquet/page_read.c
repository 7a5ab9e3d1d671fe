/* Reads pages.
 *
 * I1: sizes of a header are at least 0, the body lies within the chunk, and the plain size is one
 *     that the codec can make of so few bytes, before memory is taken for it.
 * I2: a body is given only after its checksum held (when there is one and it is wanted).
 * I3: every failure names file, column, row group, page and byte. */
#include "codec/parquet/page_read.h"

#include <assert.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <string.h>

#include "codec/zip/zip.h"

enum { HEADER_BYTES_FIRST = 256 };

int tn_page_fail(tarn_cx *cx, int status, const tn_page_reader *reader, int64_t number, uint64_t at)
{
    const tn_leaf *leaf = &reader->file->schema.leaves[reader->leaf];

    if (status == TARN_OK || status == TARN_E_CANCELLED)
        return status;
    if (number < 0)
        return tn_fail_within(cx, status, "%.*s: column %.*s: row group %zu: page at byte %" PRIu64,
                              TN_STR_ARG(reader->file->path), TN_STR_ARG(leaf->dotted),
                              reader->group, at);
    return tn_fail_within(
        cx, status, "%.*s: column %.*s: row group %zu: page %" PRId64 " at byte %" PRIu64,
        TN_STR_ARG(reader->file->path), TN_STR_ARG(leaf->dotted), reader->group, number, at);
}

static int fail_here(tarn_cx *cx, int status, const tn_page_reader *r)
{
    return tn_page_fail(cx, status, r, r->number, r->at);
}

int tn_page_reader_init(tarn_cx *cx, tn_page_reader *reader, const tn_parquet *file, size_t group,
                        size_t leaf, tn_source *source, bool skip_crc)
{
    uint64_t offset, bytes;
    int rc = TARN_OK;

    assert(group < file->footer.group_count && leaf < file->schema.leaf_count);
    TN_TRY(tn_parquet_chunk_span(cx, file, group, leaf, &offset, &bytes));
    *reader = (tn_page_reader){.file = file,
                               .group = group,
                               .leaf = leaf,
                               .meta = &file->footer.groups[group].columns[leaf],
                               .source = source,
                               .skip_crc = skip_crc,
                               .from = offset,
                               .end = offset + bytes,
                               .at = offset};
done:
    return rc;
}

void tn_page_reader_clear(tn_page_reader *reader)
{
    tn_arena_clear(&reader->arena);
    *reader = (tn_page_reader){0};
}

/* Counts and sizes that do not depend on the body. */
static int check_header(tarn_cx *cx, const tn_page_reader *r)
{
    const tn_page_header *h = &r->header;
    uint64_t left = r->end - r->at - h->header_bytes;

    if (h->compressed_bytes < 0 || h->uncompressed_bytes < 0)
        return tn_fail(cx, TARN_E_CORRUPT, "a body of %" PRId32 " bytes, %" PRId32 " unpacked",
                       h->compressed_bytes, h->uncompressed_bytes);
    if ((uint64_t)h->compressed_bytes > left)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "a body of %" PRId32 " bytes, but the chunk ends after %" PRIu64,
                       h->compressed_bytes, left);
    if (h->uncompressed_bytes > (int64_t)TN_PARQUET_PAGE_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "a page of %" PRId32 " bytes; the limit is %u",
                       h->uncompressed_bytes, TN_PARQUET_PAGE_BYTES_MAX);
    if (h->type == TN_PAGE_INDEX || h->type < 0 || h->type > TN_PAGE_DATA_V2)
        return TARN_OK;
    if (h->values < 0)
        return tn_fail(cx, TARN_E_CORRUPT, "%" PRId32 " values", h->values);
    if (h->type == TN_PAGE_DATA_V2 &&
        (h->def_bytes < 0 || h->rep_bytes < 0 ||
         (int64_t)h->def_bytes + h->rep_bytes > h->compressed_bytes ||
         (int64_t)h->def_bytes + h->rep_bytes > h->uncompressed_bytes))
        return tn_fail(cx, TARN_E_CORRUPT,
                       "levels of %" PRId32 " and %" PRId32 " bytes in a page of %" PRId32,
                       h->rep_bytes, h->def_bytes, h->compressed_bytes);
    return TARN_OK;
}

/* Headers are short, but statistics in them may not be: more is looked at until it suffices. */
static int decode_header(tarn_cx *cx, tn_page_reader *r)
{
    uint64_t left = r->end - r->at;
    size_t len = left < HEADER_BYTES_FIRST ? (size_t)left : HEADER_BYTES_FIRST;
    int rc = TARN_OK;

    for (;;) {
        const uint8_t *bytes;
        bool short_input = false;

        TN_TRY(tn_source_view(cx, r->source, r->at, len, &bytes));
        tn_arena_clear(&r->arena);
        rc = tn_page_header_decode(cx, (tn_str){(const char *)bytes, len}, &r->arena, &r->header,
                                   &short_input);
        if (rc == TARN_OK)
            break;
        if (!short_input || len == left || len == TN_PARQUET_PAGE_HEADER_BYTES_MAX)
            goto done;
        tn_cx_forget(cx);
        len = left / 8 < len ? (size_t)left : len * 8;
        if (len > TN_PARQUET_PAGE_HEADER_BYTES_MAX)
            len = TN_PARQUET_PAGE_HEADER_BYTES_MAX;
    }
    if (r->header.header_bytes == 0 || r->header.header_bytes > left)
        TN_FAIL(TARN_E_CORRUPT, "a page header of %zu bytes", r->header.header_bytes);
done:
    return rc;
}

int tn_page_reader_header(tarn_cx *cx, tn_page_reader *reader, bool *ended)
{
    int rc = TARN_OK;

    if (!reader->ready && reader->at < reader->end) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(decode_header(cx, reader));
        TN_TRY(check_header(cx, reader));
        reader->ready = true;
    }
    *ended = !reader->ready;
done:
    return fail_here(cx, rc, reader);
}

void tn_page_reader_pass(tn_page_reader *reader)
{
    assert(reader->ready);
    reader->at += reader->header.header_bytes + (uint64_t)reader->header.compressed_bytes;
    reader->number += reader->number >= 0;
    reader->ready = false;
}

bool tn_page_reader_jump(tn_page_reader *reader, uint64_t at)
{
    if (at < reader->from || at >= reader->end)
        return false;
    if (at != reader->at) {
        reader->at = at;
        reader->number = -1;
        reader->ready = false;
    }
    return true;
}

/* The most bytes that a codec can make of one: snappy copies 64 bytes by 3, lz4 255 by 1, deflate
 * 258 by two bits, a zstd block 128 KiB by 4. Brotli has no bound worth the name. */
static uint64_t plain_bytes_max(int32_t codec, uint64_t packed)
{
    switch (codec) {
    case TN_CODEC_SNAPPY:
        return packed * 32 + 64;
    case TN_CODEC_GZIP:
        return packed * 1040 + 64;
    case TN_CODEC_LZ4:
    case TN_CODEC_LZ4_RAW:
        return packed * 256 + 64;
    case TN_CODEC_ZSTD:
        return packed * 32768 + 131072;
    default:
        return UINT64_MAX;
    }
}

static int check_crc(tarn_cx *cx, const tn_page_reader *r, const uint8_t *body)
{
    uint32_t crc;

    if (r->skip_crc || !r->header.has_crc)
        return TARN_OK;
    crc = libdeflate_crc32(0, body, (size_t)r->header.compressed_bytes);
    if (crc != r->header.crc)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "the checksum of the page is %08" PRIx32 ", its header says %08" PRIx32
                       "; --no-crc reads it all the same",
                       crc, r->header.crc);
    return TARN_OK;
}

/* A body that is not compressed: in place when the source is memory, else copied, since a view of a
 * source ends with its next call. */
static int take_plain(tarn_cx *cx, const tn_page_reader *r, const uint8_t *body, tn_page *page)
{
    size_t len = (size_t)r->header.compressed_bytes;
    int rc = TARN_OK;

    if (r->header.compressed_bytes != r->header.uncompressed_bytes)
        TN_FAIL(TARN_E_CORRUPT, "%" PRId32 " bytes, not compressed, but %" PRId32 " unpacked",
                r->header.compressed_bytes, r->header.uncompressed_bytes);
    page->body = body;
    if (r->source->memory == NULL) {
        TN_TRY(tn_lease_grow(cx, &page->plain, len, 0, "a page"));
        if (len != 0)
            memcpy(page->plain.data, body, len);
        page->body = page->plain.data;
    }
    page->len = len;
done:
    return rc;
}

/* Levels of a version 2 page stand before the compressed part as they are. */
static int unpack(tarn_cx *cx, tn_page_reader *r, const uint8_t *body, tn_page *page)
{
    const tn_page_header *h = &r->header;
    size_t levels = h->type == TN_PAGE_DATA_V2 ? (size_t)h->def_bytes + (size_t)h->rep_bytes : 0;
    size_t len = (size_t)h->uncompressed_bytes, packed = (size_t)h->compressed_bytes - levels;
    tn_zip *zip = tn_zip_of(cx);
    int rc = TARN_OK;

    if (zip == NULL)
        return TARN_E_NOMEM;
    if (len - levels > plain_bytes_max(r->meta->codec, packed))
        TN_FAIL(TARN_E_CORRUPT, "%zu bytes of %s cannot unpack to %zu", packed,
                tn_codec_name(r->meta->codec), len - levels);
    TN_TRY(tn_lease_grow(cx, &page->plain, len, 0, "a page"));
    if (levels != 0)
        memcpy(page->plain.data, body, levels);
    if (packed != 0)
        TN_TRY(tn_zip_unpack(cx, zip, r->meta->codec, (tn_str){(const char *)body + levels, packed},
                             page->plain.data + levels, len - levels));
    else if (len != levels)
        TN_FAIL(TARN_E_CORRUPT, "no bytes that should unpack to %zu", len - levels);
    page->body = page->plain.data;
    page->len = len;
done:
    return rc;
}

/* The body in the file, with its checksum held. */
static int view_body(tarn_cx *cx, tn_page_reader *r, const uint8_t **out)
{
    int rc = TARN_OK;

    assert(r->ready);
    TN_TRY(tn_source_view(cx, r->source, r->at + r->header.header_bytes,
                          (size_t)r->header.compressed_bytes, out));
    TN_TRY(check_crc(cx, r, *out));
done:
    return rc;
}

int tn_page_reader_raw(tarn_cx *cx, tn_page_reader *reader, tn_str *body)
{
    const uint8_t *bytes;
    int rc = TARN_OK;

    TN_TRY(view_body(cx, reader, &bytes));
    *body = (tn_str){(const char *)bytes, (size_t)reader->header.compressed_bytes};
done:
    return fail_here(cx, rc, reader);
}

void tn_page_reader_stand(tn_page_reader *reader, const tn_page_header *header, uint64_t at,
                          int64_t number)
{
    assert(at >= reader->from && at < reader->end);
    reader->header = *header;
    reader->at = at;
    reader->number = number;
    reader->ready = true;
}

int tn_page_reader_body(tarn_cx *cx, tn_page_reader *reader, tn_page *page)
{
    const tn_page_header *h = &reader->header;
    const uint8_t *body;
    int rc = TARN_OK;

    page->len = 0;
    TN_TRY(view_body(cx, reader, &body));
    if (reader->meta->codec == TN_CODEC_NONE || (h->type == TN_PAGE_DATA_V2 && !h->compressed))
        TN_TRY(take_plain(cx, reader, body, page));
    else
        TN_TRY(unpack(cx, reader, body, page));
    page->header = *h;
    page->header.statistics = (tn_statistics){0};
    page->at = reader->at;
    page->number = reader->number;
    tn_page_reader_pass(reader);
done:
    return fail_here(cx, rc, reader);
}
