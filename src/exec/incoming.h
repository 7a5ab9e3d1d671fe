/* The rows of one write on their way from the input to their files: kept in memory, else in one
 * spill file; deduplicated, found in the table, brought into order.
 *
 *   open -> add… -> [dedup] -> [tag] -> place -> readers -> close
 *
 * I1: memory follows the context's budget, not the number of rows: keys that do not fit are handled
 *     in rounds, rows are sorted in runs.
 *
 * I2: which row wins, and the order in every stream, depend on the input's order alone, never on
 *     threads, batch sizes or memory.
 *
 * One thread calls, but for readers: several may read, each its own stream with its own context. */
#ifndef TN_EXEC_INCOMING_H
#define TN_EXEC_INCOMING_H

#include "batch/ordering.h"
#include "io/store.h"
#include "tarn/batch.h"
#include "task/upsert.h"

typedef struct tn_incoming tn_incoming;

typedef struct tn_incoming_options {
    tn_str staging;           /* directory for a spill file; made when needed, removed at close */
    uint32_t key_column;      /* child of the schema: the record key, utf8 without nulls */
    bool global;              /* a key is the same row whatever its partition */
    const uint32_t *ordering; /* children: ordering columns; none: arrival alone decides */
    size_t ordering_count;
} tn_incoming_options;

/* The schema (a struct, no dictionaries) is copied. */
int tn_incoming_open(tarn_cx *cx, tn_store *store, const struct ArrowSchema *schema,
                     const tn_incoming_options *options, tn_incoming **out);
void tn_incoming_close(tarn_cx *cx, tn_incoming *in);
/* Takes the batch over, also on failure. Per row: the number of its partition, and whether it is a
 * delete (NULL: none is). */
int tn_incoming_add(tarn_cx *cx, tn_incoming *in, struct ArrowArray *batch,
                    const uint32_t *partitions, const uint8_t *deletes);
int64_t tn_incoming_rows(const tn_incoming *in);
/* Bytes of rows that memory did not hold. */
uint64_t tn_incoming_spilled_bytes(const tn_incoming *in);
/* Of rows of one key (and partition) the one with the greatest ordering value stays, of equal ones
 * the last; by arrival alone with `by_arrival`. *dropped others. */
int tn_incoming_dedup(tarn_cx *cx, tn_incoming *in, bool by_arrival, int64_t *dropped);

/* Finds rows in the table: reads the key columns of candidate files, and nothing else. */
typedef struct tn_tag_options {
    const tn_base_file *const *files; /* latest base files of the partitions that rows are for;
                                         global: all of the table's */
    size_t file_count;
    bool use_filters; /* bloom index: key ranges and filters of footers rule files out first. What
                         they say is always confirmed by the key column */
    bool ranges;      /* hoodie.bloom.index.prune.by.ranges */
    /* Tables without meta columns: keys are made from these columns of the files. NULL: the column
     * _hoodie_record_key. `schema` is the file's, in the order of key_columns, whose types may be
     * those of an older table; the batch may be changed. */
    int (*keys_of)(tarn_cx *cx, void *arg, const tn_base_file *file,
                   const struct ArrowSchema *schema, struct ArrowArray *batch, int64_t first_row,
                   const char **data, const int32_t **offsets);
    void *keys_arg;
    const char *const *key_columns;
    size_t key_column_count;
    bool duplicates_all; /* a key that is several times in the table: every one is found; else the
                            first */
} tn_tag_options;
typedef struct tn_tag_counts {
    uint64_t files, files_ruled_out; /* by ranges and filters of footers */
    uint64_t bytes_read;             /* footers and pages of key columns */
    int64_t keys_read;
    int64_t found; /* rows with a place */
} tn_tag_counts;
/* Once. `options` and what they point to: `files` themselves are borrowed until close, all else for
 * the call. keys_of is called by one thread at a time. */
int tn_incoming_tag(tarn_cx *cx, tn_incoming *in, const tn_tag_options *options,
                    tn_tag_counts *counts);

/* What was found, for the plan. */
typedef struct tn_incoming_summary {
    /* per partition number below partition_count: */
    int64_t *inserts;      /* rows without a place that are no deletes */
    int64_t *lost_deletes; /* deletes without a place: dropped */
    size_t partition_count;
    int64_t *updates; /* per file of the tag's files: rows with a place in it, deletes included */
    size_t file_count;
} tn_incoming_summary;
int tn_incoming_summarise(tarn_cx *cx, tn_incoming *in, tn_arena *arena, tn_incoming_summary *out);

/* A row found in another partition than its own (global index): tag gives it the place where it was
 * found. With `move` its stored row is deleted there and the row is an insert of its own partition
 * unless its ordering value is smaller than the stored one's (event time); without, it becomes an
 * update in the old partition. To be called between tag and summarise. */
int tn_incoming_settle_global(tarn_cx *cx, tn_incoming *in, bool move, bool event_time,
                              int64_t *moved);

/* What merging the rows with the stored ones will come to, without doing it: per file of the tag's,
 * exact where rows were deduplicated. For this the ordering columns of the stored rows are read
 * where `event_time`. *known false, and nothing counted, where rows were put aside. To be called
 * between summarise and place. */
typedef struct tn_incoming_outcome {
    int64_t *updated, *deleted, *unchanged;
} tn_incoming_outcome;
int tn_incoming_foresee(tarn_cx *cx, tn_incoming *in, bool event_time, tn_arena *arena,
                        tn_incoming_outcome *out, bool *known);

/* Streams by the plan (task/upsert.h), which is borrowed until close: partitions and files are
 * matched by number and pointer. INVALID when it has no stream for a row. */
typedef struct tn_place_options {
    const tn_upsert_plan *plan;
    bool sort; /* inserts of a stream in order of their keys (bulk_insert), else of arrival */
    /* Of a bucket index: fields of the record key, and those that are hashed. */
    const tn_str *index_keys, *index_fields;
    size_t index_key_count, index_field_count;
} tn_place_options;
int tn_incoming_place(tarn_cx *cx, tn_incoming *in, const tn_place_options *options);
/* Rows of a stream. */
int64_t tn_incoming_stream_rows(const tn_incoming *in, size_t stream);

typedef struct tn_incoming_reader tn_incoming_reader;
/* A batch in the order of the stream. positions[i] >= 0: the row of the old file that it changes,
 * or deletes where deletes[i] is 1; -1: an insert, which come last and never share a batch with
 * others. Several rows may have one position, in order of arrival. Valid until the next call;
 * `rows` has offset 0, its children may have others, and are not to be moved out. */
typedef struct tn_incoming_batch {
    struct ArrowArray rows;
    const int64_t *positions;
    const uint8_t *deletes; /* NULL: none */
} tn_incoming_batch;
int tn_incoming_reader_open(tarn_cx *cx, tn_incoming *in, size_t stream, tn_incoming_reader **out);
/* At most rows_max rows (0: as it suits); length 0 at the end. */
int tn_incoming_reader_next(tarn_cx *cx, tn_incoming_reader *reader, int64_t rows_max,
                            const tn_incoming_batch **out);
void tn_incoming_reader_close(tarn_cx *cx, tn_incoming_reader *reader);

#endif
