/* HFiles version 3 (HBase's format as Hudi writes and reads it; docs/format/hfile.md): sorted keys
 * and values. Written by HBase or by Hudi's native writer; both index forms are understood. */
#ifndef TN_CODEC_HFILE_H
#define TN_CODEC_HFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "io/store.h"

/* One thread at a time; also its cursors, which read through it. */
typedef struct tn_hfile tn_hfile;

/* The bytes [offset, offset + bytes) of a file: a whole one, or the content of a log block.
 * Trailer, indexes and file info are read and checked. UNSUPPORTED by name for codecs but gzip and
 * none, encrypted files, other versions; CORRUPT naming path and byte. The store is borrowed. */
int tn_hfile_open(tarn_cx *cx, tn_store *store, tn_str path, uint64_t offset, uint64_t bytes,
                  tn_hfile **out);
/* The same over memory, which must outlive it. */
int tn_hfile_open_memory(tarn_cx *cx, tn_str bytes, tn_str path, tn_hfile **out);
void tn_hfile_close(tn_hfile *file);
uint64_t tn_hfile_count(const tn_hfile *file);
/* What people want to know of a file. */
typedef struct tn_hfile_traits {
    const char *codec; /* "gzip", "none" */
    uint64_t blocks, meta_blocks, levels;
    unsigned minor; /* version: 3 of HBase's writer, 0 of Hudi's */
} tn_hfile_traits;
tn_hfile_traits tn_hfile_traits_of(const tn_hfile *file);
/* The pairs of the file info. */
typedef struct tn_hfile_pair {
    tn_str key, value;
} tn_hfile_pair;
size_t tn_hfile_info_count(const tn_hfile *file);
tn_hfile_pair tn_hfile_info_at(const tn_hfile *file, size_t i);
/* A value of the file info ("schema"); {NULL, 0}: none. */
tn_str tn_hfile_info(const tn_hfile *file, const char *key);
/* The content of a meta block ("bloomFilter") into `out`; *present false: none. */
int tn_hfile_meta(tarn_cx *cx, tn_hfile *file, const char *name, bool *present, tn_buf *out);

/* One place in the file; key and value are valid until the cursor moves. One thread. */
typedef struct tn_hfile_cursor tn_hfile_cursor;
int tn_hfile_cursor_open(tarn_cx *cx, tn_hfile *file, tn_hfile_cursor **out);
void tn_hfile_cursor_close(tn_hfile_cursor *cursor);
/* Before the first key that is not smaller; keys ascend by bytes. Seeks may go either way. */
int tn_hfile_cursor_seek(tarn_cx *cx, tn_hfile_cursor *cursor, tn_str key);
/* Before the first entry of the last block. */
int tn_hfile_cursor_seek_last(tarn_cx *cx, tn_hfile_cursor *cursor);
/* The next entry; *more false behind the last. */
int tn_hfile_cursor_next(tarn_cx *cx, tn_hfile_cursor *cursor, bool *more, tn_str *key,
                         tn_str *value);

#endif
