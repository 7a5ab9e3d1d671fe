/* Commits: the end of an operation. Nothing else changes what readers see.
 *
 *     tarn_merge_report *report = NULL;
 *     int rc = tarn_commit(cx, plan, plan_len, results, results_len, NULL, &report);
 *     tarn_merge_report_close(report);
 *
 * Thread rule: any thread, each with its own context; one commit per directory at a time, which a
 * lock sees to. */
#ifndef TARN_COMMIT_H
#define TARN_COMMIT_H

#include <stddef.h>

#include "context.h"
#include "op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Swaps in the partitions of a plan whose tasks all have a good result among the result lines.
 * Of `options` (may be NULL) only `after` and `on_progress` count. The report tells what became of
 * each partition; the status is TARN_OK also when some of them failed. CONFLICT when another run
 * holds the directory. */
TARN_API int tarn_commit(tarn_cx *cx, const char *plan, size_t plan_len, const char *results,
                         size_t results_len, const tarn_merge_options *options,
                         tarn_merge_report **report);

#ifdef __cplusplus
}
#endif
#endif
