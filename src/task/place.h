/* Where a plan and its tasks may write, as seen from their words alone: they may come from
 * anywhere.
 */
#ifndef TN_TASK_PLACE_H
#define TN_TASK_PLACE_H

#include "task/merge_plan.h"

/* CORRUPT unless the task writes WORK/ID/ANY/ANY.new: WORK a work directory (".NAME.tarn"), ID the
 * plan's. */
int tn_task_place_check(tarn_cx *cx, const tn_task *task);
/* CORRUPT unless everything that the plan names lies where a plan of its root would put it, and the
 * names that enter and leave a partition are names in it. */
int tn_merge_place_check(tarn_cx *cx, const tn_merge_plan *plan);

#endif
