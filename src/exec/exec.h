/* Does tasks. A task may be done on any machine with the store at hand, in any order, any number of
 * times: what it leaves is its named output, or spare files. */
#ifndef TN_EXEC_EXEC_H
#define TN_EXEC_EXEC_H

#include "io/store.h"
#include "task/task.h"
#include "tarn/batch.h"

/* Does one task. `rows_in` and `rows_out` are for kinds that take or give rows; NULL where the kind
 * has none. A task that fails is a result with status and text (they live in `arena`), and TARN_OK;
 * the return is other only when nothing more can be done (CANCELLED, NOMEM). Its leaves are worked
 * on by the pool of `cx`. */
int tn_exec_task(tarn_cx *cx, tn_store *store, const tn_task *task,
                 struct ArrowArrayStream *rows_in, struct ArrowArrayStream *rows_out,
                 tn_arena *arena, tn_result *result);

/* exec_rewrite.c */
int tn_exec_rewrite(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task, tn_arena *arena,
                    tn_result *result);

#endif
