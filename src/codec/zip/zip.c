/* Compression of whole blocks by the real libraries.
 *
 * LZ4 (5) in Hadoop's framing: blocks of [plain length, 4 bytes big-endian] and then pieces of
 * [packed length, 4 bytes big-endian][raw LZ4] until the plain length is reached. Example of one
 * byte "a" as literals only: 00 00 00 01  00 00 00 02  10 61.
 *
 * I1: nothing is written beyond out_len bytes; a result of another length is CORRUPT. */
#include "codec/zip/zip.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <libdeflate.h>
#include <limits.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>

enum { NONE = 0, SNAPPY = 1, GZIP = 2, LZO = 3, BROTLI = 4, LZ4 = 5, ZSTD = 6, LZ4_RAW = 7 };

#define ZSTD_LEVEL_DEFAULT   3
#define GZIP_LEVEL_DEFAULT   6
#define BROTLI_LEVEL_DEFAULT 4

void tn_zip_clear(tn_zip *zip)
{
    ZSTD_freeDCtx(zip->zstd_in);
    ZSTD_freeCCtx(zip->zstd_out);
    if (zip->deflate_in != NULL)
        libdeflate_free_decompressor(zip->deflate_in);
    if (zip->deflate_out != NULL)
        libdeflate_free_compressor(zip->deflate_out);
    *zip = (tn_zip){0};
}

static int fail_unpack(tarn_cx *cx, const char *codec, tn_str packed, size_t out_len)
{
    return tn_fail(cx, TARN_E_CORRUPT, "%zu bytes of %s do not unpack to %zu bytes", packed.len,
                   codec, out_len);
}

static int unpack_snappy(tarn_cx *cx, tn_str packed, void *out, size_t out_len)
{
    size_t length;

    if (snappy_uncompressed_length(packed.ptr, packed.len, &length) != SNAPPY_OK ||
        length != out_len || snappy_uncompress(packed.ptr, packed.len, out, &length) != SNAPPY_OK ||
        length != out_len)
        return fail_unpack(cx, "SNAPPY", packed, out_len);
    return TARN_OK;
}

static int unpack_zstd(tarn_cx *cx, tn_zip *zip, tn_str packed, void *out, size_t out_len)
{
    size_t length;

    if (zip->zstd_in == NULL)
        zip->zstd_in = ZSTD_createDCtx();
    if (zip->zstd_in == NULL)
        return tn_fail_memory(cx);
    length = ZSTD_decompressDCtx(zip->zstd_in, out, out_len, packed.ptr, packed.len);
    if (ZSTD_isError(length) || length != out_len)
        return fail_unpack(cx, "ZSTD", packed, out_len);
    return TARN_OK;
}

static bool is_gzip(const uint8_t *at, size_t len)
{
    return len >= 2 && at[0] == 0x1F && at[1] == 0x8B;
}

/* Some old writers stored zlib's wrapping under the name GZIP. */
static bool is_zlib(const uint8_t *at, size_t len)
{
    return len >= 2 && (at[0] & 0x0F) == 8 && (at[0] << 8 | at[1]) % 31 == 0;
}

static int unpack_gzip(tarn_cx *cx, tn_zip *zip, tn_str packed, uint8_t *out, size_t out_len)
{
    const uint8_t *in = (const uint8_t *)packed.ptr;
    size_t left = packed.len;
    size_t done = 0;
    bool wrapped = is_zlib(in, left) && !is_gzip(in, left);

    if (zip->deflate_in == NULL)
        zip->deflate_in = libdeflate_alloc_decompressor();
    if (zip->deflate_in == NULL)
        return tn_fail_memory(cx);
    /* Members follow each other; what follows a full output and is no member is padding. */
    while (left > 0 && (done == 0 || done < out_len || is_gzip(in, left))) {
        size_t used = 0;
        size_t made = 0;
        enum libdeflate_result result =
            wrapped ? libdeflate_zlib_decompress_ex(zip->deflate_in, in, left, out + done,
                                                    out_len - done, &used, &made)
                    : libdeflate_gzip_decompress_ex(zip->deflate_in, in, left, out + done,
                                                    out_len - done, &used, &made);

        if (result != LIBDEFLATE_SUCCESS || used == 0)
            return fail_unpack(cx, "GZIP", packed, out_len);
        in += used;
        left -= used;
        done += made;
        if (done == 0 && out_len == 0)
            break;
    }
    return done == out_len ? TARN_OK : fail_unpack(cx, "GZIP", packed, out_len);
}

int tn_zip_inflate(tarn_cx *cx, tn_zip *zip, tn_str packed, size_t len_max, tn_buf *out)
{
    size_t start = out->len, room = packed.len < 64 ? 1024 : packed.len * 4;
    enum libdeflate_result result = LIBDEFLATE_INSUFFICIENT_SPACE;
    size_t used = 0, made = 0;
    uint8_t *at;

    if (zip->deflate_in == NULL)
        zip->deflate_in = libdeflate_alloc_decompressor();
    if (zip->deflate_in == NULL)
        return tn_fail_memory(cx);
    for (; result == LIBDEFLATE_INSUFFICIENT_SPACE; room *= 2) {
        room = room > len_max ? len_max : room;
        out->len = start;
        at = tn_buf_extend(out, room);
        if (at == NULL)
            return tn_buf_check(cx, out);
        result = libdeflate_deflate_decompress_ex(zip->deflate_in, packed.ptr, packed.len, at, room,
                                                  &used, &made);
        if (result == LIBDEFLATE_INSUFFICIENT_SPACE && room == len_max)
            break;
    }
    out->len = start;
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
        return tn_fail(cx, TARN_E_LIMIT, "%zu packed bytes hold more than %zu", packed.len,
                       len_max);
    if (result != LIBDEFLATE_SUCCESS || used != packed.len)
        return tn_fail(cx, TARN_E_CORRUPT, "%zu bytes are no deflate stream", packed.len);
    out->len = start + made;
    return TARN_OK;
}

static int unpack_brotli(tarn_cx *cx, tn_str packed, void *out, size_t out_len)
{
    size_t length = out_len;

    if (BrotliDecoderDecompress(packed.len, (const uint8_t *)packed.ptr, &length, out) !=
            BROTLI_DECODER_RESULT_SUCCESS ||
        length != out_len)
        return fail_unpack(cx, "BROTLI", packed, out_len);
    return TARN_OK;
}

static uint32_t read_u32be(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* True when the bytes are Hadoop's framing from end to end, and fill `out`. */
static bool unpack_hadoop(tn_str packed, char *out, size_t out_len)
{
    const uint8_t *at = (const uint8_t *)packed.ptr;
    size_t left = packed.len;
    size_t done = 0;

    while (left >= 4) {
        size_t block = read_u32be(at);

        at += 4;
        left -= 4;
        if (block > out_len - done)
            return false;
        while (block > 0) {
            size_t piece = left >= 4 ? read_u32be(at) : SIZE_MAX;
            int made;

            if (left < 4 || piece > left - 4)
                return false;
            made = LZ4_decompress_safe((const char *)at + 4, out + done, (int)piece, (int)block);
            if (made <= 0)
                return false;
            at += 4 + piece;
            left -= 4 + piece;
            done += (size_t)made;
            block -= (size_t)made;
        }
    }
    return left == 0 && done == out_len;
}

static int unpack_lz4(tarn_cx *cx, const char *name, tn_str packed, char *out, size_t out_len)
{
    int made = LZ4_decompress_safe(packed.ptr, out, (int)packed.len, (int)out_len);

    return made >= 0 && (size_t)made == out_len ? TARN_OK : fail_unpack(cx, name, packed, out_len);
}

static int unpack_none(tarn_cx *cx, tn_str packed, void *out, size_t out_len)
{
    if (packed.len != out_len)
        return fail_unpack(cx, "no compression", packed, out_len);
    memcpy(out, packed.ptr, out_len);
    return TARN_OK;
}

int tn_zip_unpack(tarn_cx *cx, tn_zip *zip, int32_t codec, tn_str packed, void *out, size_t out_len)
{
    char nothing[1];

    if (packed.len > INT_MAX || out_len > INT_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "%zu bytes that unpack to %zu; tarn unpacks up to %d",
                       packed.len, out_len, INT_MAX);
    /* Writers store nothing at all for nothing, whatever the codec. */
    if (packed.len == 0 && out_len == 0)
        return TARN_OK;
    if (out == NULL)
        out = nothing;
    if (packed.ptr == NULL)
        packed.ptr = nothing;
    switch (codec) {
    case NONE:
        return unpack_none(cx, packed, out, out_len);
    case SNAPPY:
        return unpack_snappy(cx, packed, out, out_len);
    case GZIP:
        return unpack_gzip(cx, zip, packed, out, out_len);
    case BROTLI:
        return unpack_brotli(cx, packed, out, out_len);
    case LZ4:
        return unpack_hadoop(packed, out, out_len) ? TARN_OK
                                                   : unpack_lz4(cx, "LZ4", packed, out, out_len);
    case ZSTD:
        return unpack_zstd(cx, zip, packed, out, out_len);
    case LZ4_RAW:
        return unpack_lz4(cx, "LZ4_RAW", packed, out, out_len);
    case LZO:
        return tn_fail(cx, TARN_E_UNSUPPORTED, "codec LZO is not read by tarn");
    default:
        return tn_fail(cx, TARN_E_UNSUPPORTED, "codec %d is unknown to tarn", codec);
    }
}

static size_t pack_zstd(tn_zip *zip, int level, tn_str plain, void *out, size_t room)
{
    size_t made;

    if (zip->zstd_out == NULL)
        zip->zstd_out = ZSTD_createCCtx();
    if (zip->zstd_out == NULL)
        return 0;
    made = ZSTD_compressCCtx(zip->zstd_out, out, room, plain.ptr, plain.len,
                             level != 0 ? level : ZSTD_LEVEL_DEFAULT);
    return ZSTD_isError(made) ? 0 : made;
}

/* The compressor of the level, kept until another level is wanted. */
static struct libdeflate_compressor *deflater(tn_zip *zip, int level)
{
    level = level != 0 ? level : GZIP_LEVEL_DEFAULT;
    level = level < 0 ? 1 : level > 12 ? 12 : level;
    if (zip->deflate_out != NULL && zip->deflate_level != level) {
        libdeflate_free_compressor(zip->deflate_out);
        zip->deflate_out = NULL;
    }
    if (zip->deflate_out == NULL)
        zip->deflate_out = libdeflate_alloc_compressor(level);
    zip->deflate_level = level;
    return zip->deflate_out;
}

static size_t pack_brotli(int level, tn_str plain, uint8_t *out, size_t room)
{
    int quality = level > 0 && level <= BROTLI_MAX_QUALITY ? level : BROTLI_LEVEL_DEFAULT;

    if (!BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, plain.len,
                               (const uint8_t *)plain.ptr, &room, out))
        return 0;
    return room;
}

/* The most bytes `plain` can take. */
static size_t pack_bound(tn_zip *zip, int32_t codec, int level, size_t len)
{
    switch (codec) {
    case SNAPPY:
        return snappy_max_compressed_length(len);
    case GZIP:
        return libdeflate_gzip_compress_bound(deflater(zip, level), len);
    case BROTLI:
        return BrotliEncoderMaxCompressedSize(len);
    case ZSTD:
        return ZSTD_compressBound(len);
    case LZ4_RAW:
        return (size_t)LZ4_compressBound((int)len);
    default:
        return len;
    }
}

/* Bytes made; 0: failed. */
static size_t pack(tn_zip *zip, int32_t codec, int level, tn_str plain, void *out, size_t room)
{
    switch (codec) {
    case SNAPPY:
        return snappy_compress(plain.ptr, plain.len, out, &room) == SNAPPY_OK ? room : 0;
    case GZIP:
        if (deflater(zip, level) == NULL)
            return 0;
        return libdeflate_gzip_compress(zip->deflate_out, plain.ptr, plain.len, out, room);
    case BROTLI:
        return pack_brotli(level, plain, out, room);
    case ZSTD:
        return pack_zstd(zip, level, plain, out, room);
    default:
        return (size_t)LZ4_compress_default(plain.ptr, out, (int)plain.len, (int)room);
    }
}

int tn_zip_pack(tarn_cx *cx, tn_zip *zip, int32_t codec, int level, tn_str plain, tn_buf *out)
{
    size_t room, made;

    if (plain.len > LZ4_MAX_INPUT_SIZE)
        return tn_fail(cx, TARN_E_LIMIT, "%zu bytes in one block; tarn packs up to %d", plain.len,
                       LZ4_MAX_INPUT_SIZE);
    if (plain.ptr == NULL)
        plain.ptr = "";
    switch (codec) {
    case NONE:
        tn_buf_str(out, plain);
        return tn_buf_check(cx, out);
    case SNAPPY:
    case GZIP:
    case BROTLI:
    case ZSTD:
    case LZ4_RAW:
        break;
    case LZ4:
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "codec LZ4 is deprecated and not written by tarn; use LZ4_RAW");
    case LZO:
        return tn_fail(cx, TARN_E_UNSUPPORTED, "codec LZO is not written by tarn; use ZSTD");
    default:
        return tn_fail(cx, TARN_E_UNSUPPORTED, "codec %d is unknown to tarn; use ZSTD", codec);
    }
    room = pack_bound(zip, codec, level, plain.len);
    if (!tn_buf_reserve(out, room))
        return tn_buf_check(cx, out);
    made = pack(zip, codec, level, plain, out->data + out->len, room);
    if (made == 0)
        return tn_fail(cx, TARN_E_NOMEM, "packing %zu bytes failed for want of memory", plain.len);
    out->len += made;
    return TARN_OK;
}

static void clear_scratch(void *scratch)
{
    tn_zip_clear(scratch);
}

tn_zip *tn_zip_of(tarn_cx *cx)
{
    return tn_cx_scratch(cx, sizeof(tn_zip), clear_scratch);
}
