/* Takes row groups of a file over into another: column chunks are copied, not decoded. */
#ifndef TN_PARQUET_FILE_CARRY_H
#define TN_PARQUET_FILE_CARRY_H

#include "codec/parquet/chunk_made.h"
#include "codec/parquet/file.h"
#include "codec/parquet/file_write.h"

/* Where a leaf's chunk comes from. */
typedef struct tn_carry_leaf {
    int64_t from; /* leaf of the source; -1: `made` */
    tn_made made;
} tn_carry_leaf;

/* For each leaf of `schema` the leaf of the file whose pages may stand for it, by name; columns
 * that the file lacks are null. *whole false: some column has another form there, or a column that
 * is missing must not be null, or the file is one whose pages mean something else under another
 * footer: then nothing of it may be carried. */
int tn_carry_plan(tarn_cx *cx, const tn_parquet *file, const tn_schema *schema, tn_arena *arena,
                  tn_carry_leaf **leaves, bool *whole);

/* Appends row group `group` of `from`, whose bytes `file` reads. `from` is borrowed until the
 * writer is closed. `options` are for the chunks that are made. Sorting columns are not stated. */
int tn_parquet_writer_carry(tarn_cx *cx, tn_parquet_writer *writer, const tn_parquet *from,
                            tn_file *file, size_t group, const tn_carry_leaf *leaves,
                            const tn_chunk_options *options);

#endif
