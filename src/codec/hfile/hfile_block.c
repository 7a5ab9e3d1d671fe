/* One block of an HFile: a header of 33 bytes, the content, checksums. Numbers are big-endian.
 *
 *   0   8  magic: "DATABLK*", "IDXLEAF2", "IDXINTE2", "IDXROOT2", "METABLKc", "FILEINF2"
 *   8   4  size without this header: the packed content and the checksums
 *   12  4  size of the content unpacked
 *   16  8  offset of the previous block of its kind; not to be trusted (errata.md)
 *   24  1  checksums: 0 none (the bytes are there), 1 CRC-32, 2 CRC-32C
 *   25  4  bytes that one checksum is of
 *   29  4  size of header and packed content
 *
 *   44 41 54 41 42 4c 4b 2a  00 00 00 a4  00 00 00 ba  ff ff ff ff ff ff ff ff  00  00 00 40 00
 *   00 00 00 c1   a data block: 160 bytes of gzip and 4 of a checksum, 186 unpacked
 *
 * I1: sizes agree with each other, and with the place that the block may take, before anything is
 *     allocated; what is unpacked is not more than gzip can hold in so many bytes.
 * I2: checksums of types 1 and 2 are verified. */
#include "codec/hfile/hfile_parts.h"

#include <assert.h>
#include <libdeflate.h>

#include "base/crc32c.h"
#include "base/cursor.h"
#include "codec/zip/zip.h"

#define HEADER_BYTES   33
#define ZIP_GZIP       2    /* of codec/zip */
#define DEFLATE_FACTOR 1040 /* a byte of deflate holds fewer */

typedef struct header {
    uint32_t rest_bytes, plain_bytes, chunk_bytes, data_bytes;
    uint8_t checksum;
} header;

void tn_hfile_block_clear(tn_hfile_block *block)
{
    tn_buf_clear(&block->packed);
    tn_buf_clear(&block->plain);
    block->content = (tn_str){NULL, 0};
}

int tn_hfile_block_bytes(tarn_cx *cx, tn_hfile *file, uint64_t offset, size_t len, tn_buf *into,
                         tn_str *out)
{
    uint8_t *at;

    assert(offset <= file->size && len <= file->size - offset);
    if (offset >= file->held_at && offset - file->held_at <= file->held.len &&
        len <= file->held.len - (offset - file->held_at)) {
        *out = (tn_str){file->held.ptr + (offset - file->held_at), len};
        return TARN_OK;
    }
    assert(file->file != NULL);
    tn_buf_reset(into);
    at = tn_buf_extend(into, len);
    if (at == NULL)
        return tn_buf_check(cx, into);
    *out = tn_buf_view(into);
    return tn_store_read(cx, file->file, file->base + offset, at, len);
}

static int corrupt(tarn_cx *cx, const tn_hfile *file, uint64_t offset, const char *what)
{
    return tn_fail(cx, TARN_E_CORRUPT, "%.*s: byte %llu: %s: the HFile is damaged",
                   TN_STR_ARG(file->path), (unsigned long long)(file->base + offset), what);
}

static int parse_header(tarn_cx *cx, const tn_hfile *file, uint64_t offset, uint64_t left,
                        tn_str bytes, const char *magic, header *out)
{
    tn_cursor in = tn_cursor_of(bytes.ptr, bytes.len);
    uint64_t packed, sums;
    header h;

    if (memcmp(tn_cursor_bytes(&in, 8), magic, 8) != 0) {
        if (memcmp(bytes.ptr, "DATABLKE", 8) == 0)
            return tn_fail(cx, TARN_E_UNSUPPORTED,
                           "%.*s: byte %llu: a block with keys in HBase's data block encoding, "
                           "which is not read; Hudi writes none",
                           TN_STR_ARG(file->path), (unsigned long long)(file->base + offset));
        return corrupt(cx, file, offset, "no block of the kind that belongs there");
    }
    h.rest_bytes = tn_cursor_u32be(&in);
    h.plain_bytes = tn_cursor_u32be(&in);
    (void)tn_cursor_take(&in, 8);
    h.checksum = tn_cursor_u8(&in);
    h.chunk_bytes = tn_cursor_u32be(&in);
    h.data_bytes = tn_cursor_u32be(&in);
    if (h.data_bytes < HEADER_BYTES || h.rest_bytes < h.data_bytes - HEADER_BYTES ||
        h.rest_bytes > left - HEADER_BYTES)
        return corrupt(cx, file, offset, "the sizes of a block do not fit");
    packed = h.data_bytes - HEADER_BYTES;
    sums = h.chunk_bytes != 0 ? ((uint64_t)h.data_bytes + h.chunk_bytes - 1) / h.chunk_bytes : 0;
    if (h.checksum > 2)
        return corrupt(cx, file, offset, "checksums of an unknown type");
    if (h.checksum != 0 && (h.chunk_bytes == 0 || h.rest_bytes - packed != 4 * sums))
        return corrupt(cx, file, offset, "the checksums of a block do not fit its size");
    if (h.plain_bytes > TN_HFILE_BLOCK_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "%.*s: byte %llu: a block of %u bytes, more than %u",
                       TN_STR_ARG(file->path), (unsigned long long)(file->base + offset),
                       h.plain_bytes, TN_HFILE_BLOCK_BYTES_MAX);
    if (file->codec == TN_HFILE_NONE ? h.plain_bytes > packed
                                     : h.plain_bytes / DEFLATE_FACTOR > packed)
        return corrupt(cx, file, offset, "a block holds more than its bytes can");
    *out = h;
    return TARN_OK;
}

/* I2 */
static int verify(tarn_cx *cx, const tn_hfile *file, uint64_t offset, tn_str block, const header *h)
{
    tn_cursor sums;

    if (h->checksum == 0)
        return TARN_OK;
    sums = tn_cursor_of(block.ptr + h->data_bytes, block.len - h->data_bytes);
    for (size_t at = 0; at < h->data_bytes;) {
        size_t len = h->data_bytes - at < h->chunk_bytes ? h->data_bytes - at : h->chunk_bytes;
        uint32_t sum = h->checksum == 1 ? libdeflate_crc32(0, block.ptr + at, len)
                                        : tn_crc32c(0, block.ptr + at, len);

        if (sum != tn_cursor_u32be(&sums))
            return corrupt(cx, file, offset, "a checksum of a block is wrong");
        at += len;
    }
    return TARN_OK;
}

static int unpack(tarn_cx *cx, const tn_hfile *file, uint64_t offset, tn_str packed,
                  size_t plain_bytes, tn_hfile_block *into)
{
    tn_zip *zip = tn_zip_of(cx);
    uint8_t *at;
    int rc = TARN_OK;

    if (zip == NULL)
        return TARN_E_NOMEM;
    tn_buf_reset(&into->plain);
    at = tn_buf_extend(&into->plain, plain_bytes);
    if (at == NULL)
        return tn_buf_check(cx, &into->plain);
    rc = tn_zip_unpack(cx, zip, ZIP_GZIP, packed, at, plain_bytes);
    if (rc != TARN_OK)
        return tn_fail_within(cx, rc, "%.*s: block at byte %llu", TN_STR_ARG(file->path),
                              (unsigned long long)(file->base + offset));
    into->content = tn_buf_view(&into->plain);
    return TARN_OK;
}

int tn_hfile_block_read(tarn_cx *cx, tn_hfile *file, uint64_t offset, uint64_t end, uint32_t bytes,
                        const char *magic, tn_hfile_block *into)
{
    size_t ahead = HEADER_BYTES, len;
    tn_str block;
    header h = {0};
    int rc = TARN_OK;

    assert(end <= file->size);
    if (offset > end || end - offset < HEADER_BYTES)
        return corrupt(cx, file, offset <= file->size ? offset : file->size,
                       "a block would begin where there is no room for one");
    if (bytes > HEADER_BYTES && bytes <= end - offset && bytes <= TN_HFILE_BLOCK_BYTES_MAX)
        ahead = bytes;
    TN_TRY(tn_hfile_block_bytes(cx, file, offset, ahead, &into->packed, &block));
    TN_TRY(parse_header(cx, file, offset, end - offset, block, magic, &h));
    len = HEADER_BYTES + (size_t)h.rest_bytes;
    if (len > ahead)
        TN_TRY(tn_hfile_block_bytes(cx, file, offset, len, &into->packed, &block));
    block.len = len;
    TN_TRY(verify(cx, file, offset, block, &h));
    into->next = offset + len;
    if (file->codec == TN_HFILE_NONE)
        into->content = (tn_str){block.ptr + HEADER_BYTES, h.plain_bytes};
    else
        TN_TRY(unpack(cx, file, offset,
                      (tn_str){block.ptr + HEADER_BYTES, h.data_bytes - HEADER_BYTES},
                      h.plain_bytes, into));
done:
    return rc;
}
