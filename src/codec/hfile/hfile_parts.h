/* The inside of an HFile reader, shared by its files. */
#ifndef TN_CODEC_HFILE_PARTS_H
#define TN_CODEC_HFILE_PARTS_H

#include "codec/hfile/hfile.h"

enum tn_hfile_codec { TN_HFILE_GZIP = 1, TN_HFILE_NONE = 2 };

/* A place of the index: where a block is, and the key or name that it begins with. */
typedef struct tn_hfile_place {
    uint64_t offset; /* in the HFile */
    uint32_t bytes;  /* header and checksum included */
    tn_str key;      /* of data: the row alone; for index blocks still whole */
} tn_hfile_place;

struct tn_hfile {
    tn_str path;
    tn_file *file;       /* NULL: `held` is all of it */
    uint64_t base, size; /* the HFile's place in its file */
    tn_buf tail;         /* what was read at opening, from byte held_at on */
    tn_str held;         /* the same, or the caller's memory */
    uint64_t held_at;
    tn_arena arena;
    /* of the trailer */
    uint64_t info_at, load_at, trailer_at, entries;
    uint64_t index_count, meta_count, levels;
    int64_t codec;
    unsigned minor;
    bool has_mvcc; /* a number of HBase's transactions follows each value */
    tn_hfile_pair *info;
    size_t info_count;
    tn_hfile_place *places; /* of the data blocks, ascending */
    size_t place_count;
    tn_hfile_place *metas;
    size_t meta_places;
};

/* Bytes of a block, and what they were unpacked from. */
typedef struct tn_hfile_block {
    tn_buf packed, plain;
    tn_str content; /* valid until the next read into it, or until the file is closed */
    uint64_t next;  /* where the block behind it begins */
} tn_hfile_block;

/* ---- blocks (hfile_block.c) */

/* The block at `offset`, whose magic must be `magic` (8 characters); it must end by `end`. `bytes`:
 * how long the index says it is, so that it is read at once; 0: not known. */
int tn_hfile_block_read(tarn_cx *cx, tn_hfile *file, uint64_t offset, uint64_t end, uint32_t bytes,
                        const char *magic, tn_hfile_block *into);
void tn_hfile_block_clear(tn_hfile_block *block);
/* `len` bytes at `offset`, in place where they are held, else in `into`. */
int tn_hfile_block_bytes(tarn_cx *cx, tn_hfile *file, uint64_t offset, size_t len, tn_buf *into,
                         tn_str *out);

/* ---- the index (hfile_index.c) */

/* Loads the places of data and meta blocks; then `info_at` is where the file info must be. */
int tn_hfile_index_load(tarn_cx *cx, tn_hfile *file);
/* The row of a key as blocks and indexes have it: len16, row, and what may follow. False: it is
 * none. */
bool tn_hfile_index_row(tn_str key, tn_str *row);

#endif
