/* Writes rows into a plain partitioned directory's staging: the fewest well-sized Parquet files of
 * each partition. */
#ifndef TN_EXEC_WRITE_H
#define TN_EXEC_WRITE_H

#include "exec/exec_route.h"

/* What one call made; in the arena. */
typedef struct tn_write_files {
    tn_write_file *files;
    size_t count;
} tn_write_files;

/* What a whole write took, for people. */
typedef struct tn_write_counts {
    int64_t rows;
    uint64_t partitions;
    uint64_t spilled_bytes; /* 0: all stayed in memory */
} tn_write_counts;

/* All rows of a stream, read to its end and not released: the middle of a write as one call.
 *   no partition columns   rows go straight into files; memory holds no more than a row group
 *   else                   rows are routed, then written bucket by bucket: large ones with their
 *                          columns in parallel, small ones several at once
 * Files are in the order of their partitions, and numbered so ("part-00003-<id>.parquet"). The
 * staging directory of the plan exists. After a failure nothing but staged files is left there.
 * `counts` may be NULL. Runs on the pool of `cx`. */
int tn_exec_write_rows(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                       struct ArrowArrayStream *rows, tn_arena *arena, tn_write_files *out,
                       tn_write_counts *counts);

/* The same for the rows of one bucket. `number` of the first file: names go on from there
 * ("part-00003-…"); files in all never pass plan->files_max: LIMIT before one more is made. Rolls
 * over near plan->target_bytes by real bytes, and never leaves a crumb: a file of less than a third
 * of the target is appended to the one before. `rows` is read to its end, not released. */
int tn_exec_write(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                  const tn_route_bucket *bucket, struct ArrowArrayStream *rows, uint64_t number,
                  tn_arena *arena, tn_write_files *out);

#endif
