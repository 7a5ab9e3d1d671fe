/* Commits of a timeline, read in parallel.
 *
 * I1: they are taken in by time, so that the outcome does not depend on threads.
 * I2: an instant that was archived since the timeline was loaded is a conflict, never skipped. */
#include <assert.h>
#include <stdlib.h>

#include "base/pool.h"
#include "table/slices_parts.h"

typedef struct reading {
    tn_store *store;
    const tn_timeline *timeline;
    tn_slices_commits *commits;
} reading;

void tn_slices_commits_clear(tn_slices_commits *commits)
{
    for (size_t i = 0; commits->arenas != NULL && i < commits->count; i++)
        tn_arena_clear(&commits->arenas[i]);
    free(commits->instants);
    free(commits->arenas);
    free(commits->commits);
    *commits = (tn_slices_commits){0};
}

static int read_commit(tarn_cx *cx, size_t i, void *arg)
{
    const reading *r = arg;
    const tn_instant *instant = r->commits->instants[i];
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_timeline_commit(cx, r->store, r->timeline, instant, &r->commits->arenas[i],
                              &r->commits->commits[i]));
done:
    return rc;
}

int tn_slices_commits_read(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                           const tn_instant **instants, size_t count, tn_slices_commits *out)
{
    reading r = {store, timeline, out};
    int rc = TARN_OK;

    assert(out->count == 0);
    out->instants = instants;
    out->arenas = tn_calloc(cx, count + 1, sizeof *out->arenas);
    out->commits = tn_calloc(cx, count + 1, sizeof *out->commits);
    if (out->arenas == NULL || out->commits == NULL)
        TN_TRY(TARN_E_NOMEM);
    out->count = count;
    TN_TRY(tn_parallel(cx, count, read_commit, &r));
done:
    return rc;
}
