/* Unpacks a feed while it is read: gzip and zstd, known by their first bytes. */
#ifndef TN_ZIP_FEED_H
#define TN_ZIP_FEED_H

#include "io/feed.h"

/* The bytes of `packed` as they are, or unpacked where they begin as gzip or zstd. Several gzip
 * members and zstd frames follow each other as one. `packed` belongs to *out, and stays the
 * caller's on failure. Bytes of another known packing (bzip2, xz, lz4, snappy, zip) are UNSUPPORTED
 * by name. Reading: CORRUPT names the input and its byte where the packed bytes are cut off or
 * broken; LIMIT where a zstd window is larger than TN_ZSTD_WINDOW_LOG_MAX says or than the memory
 * budget has room for. However much comes out, memory stays the same. */
int tn_zip_feed_open(tarn_cx *cx, tn_feed *packed, tn_feed **out);

#endif
