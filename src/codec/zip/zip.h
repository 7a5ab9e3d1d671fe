/* Compression of whole blocks by the real libraries. */
#ifndef TN_ZIP_H
#define TN_ZIP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/context.h"

/* `codec` is Parquet's CompressionCodec number (NONE 0, SNAPPY 1, GZIP 2, BROTLI 4, LZ4 5, ZSTD 6,
 * LZ4_RAW 7; LZO 3 is UNSUPPORTED). Scratch of the libraries is kept in the state, one per thread;
 * zeroed is valid. */
typedef struct tn_zip {
    void *zstd_in, *zstd_out, *deflate_in, *deflate_out;
    int deflate_level;
} tn_zip;

void tn_zip_clear(tn_zip *zip);
/* The one of this context's thread, kept between pages and files; NULL with NOMEM in `cx`. */
tn_zip *tn_zip_of(tarn_cx *cx);
/* Exactly out_len bytes into `out`, or CORRUPT. GZIP may have several members; LZ4 (5) is Hadoop's
 * framing, else raw. */
int tn_zip_unpack(tarn_cx *cx, tn_zip *zip, int32_t codec, tn_str packed, void *out,
                  size_t out_len);
/* A raw deflate stream (RFC 1951) whose plain length is not known: appends, up to len_max bytes,
 * LIMIT beyond. CORRUPT where it is broken, or more bytes follow. */
int tn_zip_inflate(tarn_cx *cx, tn_zip *zip, tn_str packed, size_t len_max, tn_buf *out);
/* Appends. level 0: the codec's default here (zstd 3, gzip 6). */
int tn_zip_pack(tarn_cx *cx, tn_zip *zip, int32_t codec, int level, tn_str plain, tn_buf *out);

#endif
