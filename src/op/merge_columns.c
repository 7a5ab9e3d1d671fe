/* How columns were made, summed over the tasks of a merge.
 * I1: a column is known by its dotted name: one of the same name in other partitions is the same.
 */
#include "op/merge_op.h"

_Static_assert((int)TARN_WAY_COUNT == (int)TN_WAY_COUNT &&
                   (int)TARN_WAY_ENCODE == (int)TN_WAY_ENCODE,
               "the public ways are those of tasks");

static int keep_text(tarn_cx *cx, tn_merge_log *log, tn_str text, const char **out)
{
    int rc = TARN_OK;

    if (text.len == 0)
        text = TN_STR("");
    TN_TRY(tn_arena_keep(cx, &log->arena, &text));
    *out = text.ptr;
done:
    return rc;
}

/* The column of this name, made when it is new. */
static int column_of(tarn_cx *cx, tn_merge_log *log, const tn_leaf_intent *intent,
                     tarn_merge_column **out)
{
    tarn_merge_report *report = &log->report;
    tn_str name = intent->column.ptr != NULL ? intent->column : TN_STR("");
    size_t *place = tn_map_find(&log->columns, name);
    tarn_merge_column *made;
    bool added;
    int rc = TARN_OK;

    if (place != NULL) {
        *out = &report->columns[*place];
        return TARN_OK;
    }
    TN_TRY(tn_arena_grow(cx, &log->arena, &report->columns, report->column_count, &log->column_cap,
                         sizeof *report->columns));
    made = &report->columns[report->column_count];
    *made = (tarn_merge_column){.intended = (enum tarn_merge_way)intent->way, .name_len = name.len};
    TN_TRY(keep_text(cx, log, name, &made->name));
    TN_TRY(keep_text(cx, log, intent->why, &made->why));
    for (int way = 0; way < TARN_WAY_COUNT; way++)
        made->reasons[way] = "";
    place = tn_map_add(cx, &log->columns, (tn_str){made->name, name.len}, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = report->column_count++;
    *out = made;
done:
    return rc;
}

int tn_merge_log_intents(tarn_cx *cx, tn_merge_log *log, const tn_merge_plan *plan)
{
    const tn_leaf_intent *last = NULL;
    int rc = TARN_OK;

    for (size_t t = 0; t < plan->task_count; t++) {
        const tn_task_rewrite *task = &plan->tasks[t].rewrite;

        /* The outputs of a group share their intents. */
        if (task->intents == last)
            continue;
        last = task->intents;
        for (size_t l = 0; l < task->leaf_count; l++) {
            const tn_leaf_intent *intent = &task->intents[l];
            tarn_merge_column *column;

            TN_TRY(column_of(cx, log, intent, &column));
            if (intent->way < (int32_t)column->intended)
                column->intended = (enum tarn_merge_way)intent->way;
            if (column->why[0] == '\0' && intent->why.len != 0)
                TN_TRY(keep_text(cx, log, intent->why, &column->why));
        }
    }
done:
    return rc;
}

int tn_merge_log_done(tarn_cx *cx, tn_merge_log *log, const tn_task_rewrite *task,
                      const tn_result *result)
{
    int rc = TARN_OK;

    for (size_t l = 0; l < result->leaf_count && l < task->leaf_count; l++) {
        const tn_leaf_done *done = &result->leaves[l];
        tarn_merge_column *column;

        TN_TRY(column_of(cx, log, &task->intents[l], &column));
        for (int way = 0; way < TARN_WAY_COUNT; way++) {
            column->chunks[way] += done->chunks[way];
            column->bytes[way] += done->bytes[way];
            if (column->reasons[way][0] == '\0' && done->why[way].len != 0)
                TN_TRY(keep_text(cx, log, done->why[way], &column->reasons[way]));
        }
    }
done:
    return rc;
}
