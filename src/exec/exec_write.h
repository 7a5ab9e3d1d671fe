/* Writes the rows of one bucket as the fewest well-sized Parquet files, under staged names. */
#ifndef TN_EXEC_WRITE_H
#define TN_EXEC_WRITE_H

#include "exec/exec_route.h"

/* What one call made; in the arena. */
typedef struct tn_write_files {
    tn_write_file *files;
    size_t count;
} tn_write_files;

/* `number` of the first file: names go on from there ("part-00003-…"); files in all never pass
 * plan->files_max: LIMIT before one more is made. Rolls over near plan->target_bytes by real bytes,
 * and never leaves a crumb: the last file may be up to a third larger instead. `rows` is read to
 * its end, not released. Runs on the pool of `cx`. */
int tn_exec_write(tarn_cx *cx, tn_store *store, const tn_write_plan *plan,
                  const tn_route_bucket *bucket, struct ArrowArrayStream *rows, uint64_t number,
                  tn_arena *arena, tn_write_files *out);

#endif
