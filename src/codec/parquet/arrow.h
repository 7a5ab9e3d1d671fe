/* Between Parquet's leaves and Arrow's columns: schema mapping, assembly of nested arrays from
 * levels, shredding back.
 *
 * Reading: every logical and converted type has an Arrow type; INT96 becomes timestamp[ns] without
 * zone where the value fits, and is an error naming row and column where it does not; unknown
 * annotations read as their physical type. `ARROW:schema` in the footer is honoured where it fits
 * the Parquet schema (zones, large types, dictionary, duration). */
#ifndef TN_PARQUET_ARROW_H
#define TN_PARQUET_ARROW_H

#include "codec/parquet/chunk_join.h"
#include "codec/parquet/chunk_made.h"
#include "codec/parquet/file.h"
#include "codec/parquet/file_carry.h"
#include "codec/parquet/file_write.h"
#include "codec/parquet/leaf.h"
#include "tarn/batch.h"

/* The Arrow schema (a struct) of the chosen top-level columns (indices of the root's children, in
 * the order wanted; NULL: all). *out is the caller's to release. */
int tn_arrow_schema_of(tarn_cx *cx, const tn_parquet *file, const uint32_t *columns,
                       size_t column_count, struct ArrowSchema *out);

/* Rows of one file as Arrow. */
typedef struct tn_parquet_scan_options {
    const uint32_t *columns; /* top-level columns; NULL: all */
    size_t column_count;
    const uint32_t *groups; /* row groups, ascending; NULL: all */
    size_t group_count;
    /* Rows wanted, ascending, without overlap; NULL: all of the chosen groups. A group that no
     * range names gives no rows. */
    const struct tn_row_range *ranges;
    size_t range_count;
    bool skip_crc;
    bool int96_micros;  /* INT96 as timestamp[us], which holds years that timestamp[ns] cannot */
    bool int96_utc;     /* INT96 as adjusted to UTC, as Spark means it */
    int64_t batch_rows; /* 0: 65,536; batches of wide rows hold fewer, so that they stay near 32 MiB
                         */
} tn_parquet_scan_options;

typedef struct tn_row_range {
    uint32_t group;
    int64_t first, rows;
} tn_row_range;

typedef struct tn_parquet_scan tn_parquet_scan;
/* The file is borrowed. Columns of a batch are decoded in parallel on cx's pool. */
int tn_parquet_scan_open(tarn_cx *cx, const tn_parquet *file,
                         const tn_parquet_scan_options *options, tn_parquet_scan **out);
/* The schema of its batches. *out is the caller's to release. */
int tn_parquet_scan_schema(tarn_cx *cx, const tn_parquet_scan *scan, struct ArrowSchema *out);
/* The next batch as a struct array (length 0 at the end), and the position in the file of its first
 * row; rows of a batch are consecutive. *out is the caller's to release. */
int tn_parquet_scan_next(tarn_cx *cx, tn_parquet_scan *scan, struct ArrowArray *out,
                         int64_t *first_row);
void tn_parquet_scan_close(tn_parquet_scan *scan);

/* The Parquet schema for an Arrow struct schema: three-level lists, field ids from metadata
 * "PARQUET:field_id", the widest safe annotation. Elements live in the arena. */
int tn_parquet_schema_of(tarn_cx *cx, const struct ArrowSchema *schema, tn_arena *arena,
                         tn_schema *out);
/* The value of "ARROW:schema": base64 of the IPC message of `schema`, as Arrow's own writers store
 * it. */
int tn_arrow_schema_serialize(tarn_cx *cx, const struct ArrowSchema *schema, tn_buf *out);
/* Which leaves lie in columns that `stored`, the value of an "ARROW:schema", calls dictionaries:
 * sets those of leaves[leaf_count], leaves the others. pyarrow reads such columns as dictionaries
 * and then refuses delta pages: write them with `plain_bytes`. A value that does not parse names
 * none. */
int tn_arrow_dictionary_leaves(tarn_cx *cx, tn_str stored, const tn_schema *schema, bool *leaves);

/* A whole file from Arrow batches: shreds, encodes columns in parallel, cuts row groups at bytes or
 * rows. `file` is borrowed until close, and neither finished nor closed here; schema, options and
 * batches are borrowed for the call. INVALID or UNSUPPORTED naming field or row for what Parquet
 * cannot hold, LIMIT for too large rows; after a failure only close may follow. One thread. */
typedef struct tn_parquet_sink_options {
    tn_chunk_options chunk;
    tn_parquet_write_options file;
    uint64_t group_bytes; /* compressed; 0: 32 MiB */
    int64_t group_rows;   /* 0: 1,048,576 */
    bool store_arrow_schema;
    const struct ArrowSchema *stored_schema; /* what to store instead of the batches' own: one with
                                                dictionaries that these have as plain values */
} tn_parquet_sink_options;
typedef struct tn_parquet_sink tn_parquet_sink;
int tn_parquet_sink_open(tarn_cx *cx, tn_sink *file, const struct ArrowSchema *schema,
                         const tn_parquet_sink_options *options, tn_parquet_sink **out);
int tn_parquet_sink_add(tarn_cx *cx, tn_parquet_sink *sink, const struct ArrowArray *batch);
int tn_parquet_sink_finish(tarn_cx *cx, tn_parquet_sink *sink);
void tn_parquet_sink_close(tn_parquet_sink *sink);
/* About how many bytes the file has so far, the open row group as it will be when compressed; and
 * how many of them are that group's. */
uint64_t tn_parquet_sink_bytes(const tn_parquet_sink *sink);
uint64_t tn_parquet_sink_open_bytes(const tn_parquet_sink *sink);
/* Rows of the open row group, 0: none is open; and of all that were added. */
int64_t tn_parquet_sink_open_rows(const tn_parquet_sink *sink);
int64_t tn_parquet_sink_rows(const tn_parquet_sink *sink);
/* From the next row on the values of a flat top-level column follow a rule, and what batches have
 * there is not looked at; NULL: they are those of the batches again. A series goes on from row to
 * row. The text is copied. */
int tn_parquet_sink_make(tarn_cx *cx, tn_parquet_sink *sink, size_t column, const tn_made *made);
/* Before the first row: the flat text column `column` is likely to have the values of column `of`,
 * which stands behind it. Where it has, its chunks are copies of the other's. */
void tn_parquet_sink_repeat(tn_parquet_sink *sink, size_t column, size_t of);
/* One more key-value of the footer, copied. */
int tn_parquet_sink_key_value(tarn_cx *cx, tn_parquet_sink *sink, tn_str key, tn_str value);
/* The schema that it writes; lives as long as the sink. */
const tn_schema *tn_parquet_sink_schema(const tn_parquet_sink *sink);
/* Row groups that are ended from now on are cut at so many bytes. */
void tn_parquet_sink_cut_at(tn_parquet_sink *sink, uint64_t group_bytes);
/* Appends a row group of another file (file_carry.h), no group being open. */
int tn_parquet_sink_carry(tarn_cx *cx, tn_parquet_sink *sink, const tn_parquet *from,
                          tn_file *bytes, size_t group, const tn_carry_leaf *leaves);
/* A row group of another file in which a few rows change. */
typedef struct tn_parquet_splice {
    const tn_parquet *from;
    tn_file *bytes;
    size_t group;
    const tn_carry_leaf *leaves; /* of the sink's schema; a leaf that is made is so for all rows */
    const tn_splice_row *rows;   /* chunk_join.h */
    size_t row_count;
    /* The rows that come in: columns of the sink's schema; those that are made are not looked at.
     */
    const struct ArrowArray *with;
} tn_parquet_splice;
/* Appends it, no row group being open: pages without a change are copied (chunk_join.h), chunks in
 * parallel, each of which is in memory as a whole. `*copied_bytes` of them, compressed, were. A row
 * group without rows is none. */
int tn_parquet_sink_splice(tarn_cx *cx, tn_parquet_sink *sink, const tn_parquet_splice *splice,
                           uint64_t *copied_bytes);
/* Ends the row group that is open, if one is. */
int tn_parquet_sink_flush(tarn_cx *cx, tn_parquet_sink *sink);
/* Appends the row groups of another sink of the same schema, both flushed: the bytes are those of
 * `bytes`, the file that `from` has written, and are copied as they are. `from` has none then, and
 * is only to be closed. */
int tn_parquet_sink_append(tarn_cx *cx, tn_parquet_sink *sink, tn_parquet_sink *from,
                           tn_file *bytes);

#endif
