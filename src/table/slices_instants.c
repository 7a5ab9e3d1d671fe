/* Which blocks of logs count in a snapshot (BaseHoodieLogRecordReader).
 *
 * I1: below version 8 a block counts when its instant is completed, or older than the timeline; a
 *     log holds blocks of many commits, failed ones among them.
 * I2: from version 8 on a log is of one commit, and whether it counts was decided by its name. */
#include <assert.h>

#include "table/hudi_slices.h"

int tn_slices_instants(tarn_cx *cx, const tn_timeline *timeline, tn_str as_of, tn_arena *arena,
                       tn_slice_instants *out)
{
    tn_slice_instants made = {.until = as_of, .trusted = timeline->layout == 2};
    tn_str *times;

    assert(out != NULL);
    if (made.until.len == 0)
        made.until = tn_timeline_last_commit(timeline);
    if (made.trusted) {
        *out = made;
        return TARN_OK;
    }
    times = tn_arena_array(cx, arena, timeline->count, sizeof *times);
    if (times == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < timeline->count; i++) {
        const tn_instant *instant = &timeline->instants[i];

        if (tn_instant_writes_data(instant) && instant->state == TN_STATE_COMPLETED &&
            (made.count == 0 || !tn_str_equal(times[made.count - 1], instant->time)))
            times[made.count++] = instant->time;
    }
    made.instants = times;
    made.start = timeline->start;
    *out = made;
    return TARN_OK;
}
