/* A table that changes while it is read.
 *
 * A reader sees the timeline first, then the files. A commit that comes in between is not seen,
 * which is well. A cleaner, a rollback or a restore that comes in between takes files away that the
 * timeline, as it was seen, says are there.
 *
 * I1: slices are given out only when no such service began between the look at the timeline and the
 *     end of the listing: else all is loaded again, TN_SLICES_LOADS_MAX times at most.
 * I2: what is gone at the time of opening is a conflict ("read again") when such a service began
 *     since, and damage when none did. */
#include <assert.h>

#include "table/hudi_slices.h"

#define TN_SLICES_LOADS_MAX 4

static bool takes_away(const tn_instant *instant)
{
    return instant->action == TN_ACTION_CLEAN || instant->action == TN_ACTION_ROLLBACK ||
           instant->action == TN_ACTION_RESTORE;
}

/* The first service of `after` that `before` does not have, or has in a lower state; NULL: none.
 * An instant that vanished was rolled back: its rollback is there. */
static const tn_instant *new_service(const tn_timeline *before, const tn_timeline *after)
{
    for (size_t i = 0; i < after->count; i++) {
        const tn_instant *now = &after->instants[i], *then;

        if (!takes_away(now))
            continue;
        then = tn_timeline_find(before, now->time, now->action);
        if (then == NULL || then->state != now->state)
            return now;
    }
    return NULL;
}

int tn_slices_snapshot(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                       const tn_slices_options *options, tn_arena *arena, tn_timeline *timeline,
                       tn_slices *out)
{
    tn_timeline seen, now;
    tn_slices slices;
    tn_arena names = {0};
    const tn_instant *service = NULL;
    int rc = TARN_OK;

    assert(timeline != NULL && out != NULL);
    for (int i = 0; i < TN_SLICES_LOADS_MAX; i++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_timeline_load(cx, store, root, config, arena, &seen));
        rc = tn_slices_load(cx, store, root, config, &seen, options, arena, &slices);
        if (rc == TARN_E_CONFLICT && i + 1 < TN_SLICES_LOADS_MAX) {
            tn_cx_forget(cx);
            continue;
        }
        TN_TRY(rc);
        tn_arena_clear(&names);
        TN_TRY(tn_timeline_load(cx, store, root, config, &names, &now));
        service = new_service(&seen, &now);
        if (service == NULL) {
            *timeline = seen;
            *out = slices;
            goto done;
        }
    }
    TN_FAIL(TARN_E_CONFLICT,
            "%.*s: services take files away faster than they are listed (the last is %.*s %.*s): "
            "read again",
            TN_STR_ARG(root), TN_STR_ARG(service->word), TN_STR_ARG(service->time));
done:
    tn_arena_clear(&names);
    return rc;
}

int tn_slices_gone(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                   const tn_timeline *timeline, tn_str path)
{
    const tn_instant *service;
    tn_arena arena = {0};
    tn_timeline now;
    int rc = TARN_OK;

    TN_TRY(tn_timeline_load(cx, store, root, config, &arena, &now));
    service = new_service(timeline, &now);
    if (service != NULL)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: the snapshot was cleaned while it was read (%.*s %.*s): read again",
                TN_STR_ARG(path), TN_STR_ARG(service->word), TN_STR_ARG(service->time));
    TN_FAIL(TARN_E_CORRUPT,
            "%.*s: the file is gone, and no service of the table took it away: restore it from a "
            "copy",
            TN_STR_ARG(path));
done:
    tn_arena_clear(&arena);
    return rc;
}
