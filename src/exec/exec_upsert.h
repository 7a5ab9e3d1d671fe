/* The middle of a write into a Hudi table: buckets in, base files out.
 *
 * U1: an old file's row groups without a changed row are carried over by column chunk; only the
 *     column of file names is made anew. Only touched groups are decoded.
 *
 * U2: inserts flow into small files until their real bytes reach the target, then into new files.
 */
#ifndef TN_EXEC_EXEC_UPSERT_H
#define TN_EXEC_EXEC_UPSERT_H

#include "exec/base_file.h"
#include "exec/incoming.h"

typedef struct tn_upsert_made {
    tn_write_stat *stats; /* in the order of the plan's buckets; those without a row make no file */
    size_t stat_count;
    int64_t inserted, updated, deleted;
    int64_t unchanged;               /* rows that lost against the stored one (event time) */
    uint64_t groups, groups_carried; /* row groups of the old files; carried over */
    uint64_t bytes_carried;
} tn_upsert_made;

/* All buckets of the plan; `in` is placed by it. `plan` and texts of the results live in their
 * arenas. */
int tn_exec_upsert(tarn_cx *cx, tn_base_job *job, const tn_upsert_plan *plan, tn_incoming *in,
                   tn_arena *arena, tn_upsert_made *out);
/* The same for one partition whose rows are all inserts and come straight from a stream, read to
 * its end and not released: no row is kept. The plan has that partition alone, with real sizing. */
int tn_exec_upsert_stream(tarn_cx *cx, tn_base_job *job, const tn_upsert_plan *plan,
                          struct ArrowArrayStream *rows, tn_arena *arena, tn_upsert_made *out);

#endif
