/* Tasks: the middle of an operation, on any machine that sees the store, in any order, any number
 * of times.
 *
 *     tarn_text result = {0};
 *     if (tarn_exec(cx, line, line_len, &result, NULL) == TARN_OK) puts(result.bytes);
 *     tarn_text_clear(&result);
 *
 * Thread rule: any thread, each with its own context. */
#ifndef TARN_TASK_H
#define TARN_TASK_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does the task of one plan line and gives its result line (kind "merge.result", no newline). A
 * task that fails gives a result that says so (*task_status, which may be NULL, is then its
 * status), and TARN_OK; other statuses: the line is no task (CORRUPT, UNSUPPORTED), or nothing more
 * can be done (CANCELLED, NOMEM). */
TARN_API int tarn_exec(tarn_cx *cx, const char *line, size_t len, tarn_text *result,
                       int *task_status);

#ifdef __cplusplus
}
#endif
#endif
