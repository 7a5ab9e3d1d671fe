/* The dispatch table of task kinds.
 * I1: what a task can do wrong ends in its result, so that one bad file does not stop the others.
 */
#include "exec/exec.h"

int tn_exec_task(tarn_cx *cx, tn_store *store, const tn_task *task,
                 struct ArrowArrayStream *rows_in, struct ArrowArrayStream *rows_out,
                 tn_arena *arena, tn_result *result)
{
    tn_result made = {.number = task->number, .plan_id = task->plan_id};
    int rc = TARN_OK;

    (void)rows_in;
    (void)rows_out;
    switch (task->kind) {
    case TN_TASK_REWRITE:
        made.output = task->rewrite.output;
        made.status = tn_exec_rewrite(cx, store, &task->rewrite, arena, &made);
        break;
    default:
        made.status = tn_fail(cx, TARN_E_UNSUPPORTED, "task %u: unknown kind %d", task->number,
                              (int)task->kind);
    }
    if (made.status != TARN_OK) {
        if (made.status == TARN_E_CANCELLED || made.status == TARN_E_NOMEM)
            return made.status;
        made.text = tn_str_of(tarn_cx_error(cx));
        TN_TRY(tn_arena_keep(cx, arena, &made.text));
        tn_cx_forget(cx);
    }
    *result = made;
done:
    return rc;
}
