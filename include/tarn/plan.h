/* Plans: what a merge of a plain directory would do, as text that other programs can carry around.
 *
 *     tarn_text plan = {0};
 *     if (tarn_merge_plan(cx, "/data/events", NULL, &plan) != TARN_OK) …
 *     fwrite(plan.bytes, 1, plan.len, file);
 *     tarn_text_clear(&plan);
 *
 * A plan is JSON lines: a header of kind "merge.plan", then a line of kind "merge.task" per task.
 * Thread rule: any thread, each with its own context. */
#ifndef TARN_PLAN_H
#define TARN_PLAN_H

#include <stddef.h>

#include "context.h"
#include "op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Text that the library made; the caller's, to tarn_text_clear. Zeroed is empty and valid. */
typedef struct tarn_text {
    char *bytes; /* ended by a NUL that is not counted */
    size_t len;
} tarn_text;

TARN_API void tarn_text_clear(tarn_text *text);

/* Plans a merge of `path` without touching anything. `options` may be NULL. NOTFOUND and INVALID
 * for a path that is no directory, UNSUPPORTED for a table of another kind. */
TARN_API int tarn_merge_plan(tarn_cx *cx, const char *path, const tarn_merge_options *options,
                             tarn_text *plan);

/* How many task lines follow the header line of a plan. CORRUPT or UNSUPPORTED when it is no such
 * line, is cut off, or comes from another version. */
TARN_API int tarn_merge_plan_tasks(tarn_cx *cx, const char *line, size_t len, size_t *tasks);

#ifdef __cplusplus
}
#endif
#endif
