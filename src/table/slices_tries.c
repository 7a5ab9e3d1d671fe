/* Base files of one instant and one file group: tasks that were tried twice, and whose spare file
 * was not removed.
 *
 * I1: the file that the commit names counts; where it cannot be asked, the one whose token is the
 *     greatest. */
#include <assert.h>

#include "table/slices_parts.h"

void tn_slices_tries_clear(tn_slices_tries *tries)
{
    tn_arena_clear(&tries->arena);
    *tries = (tn_slices_tries){0};
}

/* The commit of an instant; false: it is not on the active timeline. */
static int ask_commit(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str time,
                      tn_slices_tries *tries, bool *known)
{
    const tn_instant *instant;
    int rc = TARN_OK;

    *known = tries->instant.len != 0 && tn_str_equal(tries->instant, time);
    if (*known)
        return TARN_OK;
    instant = tn_timeline_find_commit(timeline, time);
    if (instant == NULL)
        return TARN_OK;
    tn_slices_tries_clear(tries);
    TN_TRY(tn_timeline_commit(cx, store, timeline, instant, &tries->arena, &tries->commit));
    tries->instant = instant->time;
    *known = true;
done:
    return rc;
}

static bool is_named(const tn_slices_tries *tries, tn_str name)
{
    for (size_t i = 0; i < tries->commit.stat_count; i++)
        if (tn_str_equal(tn_path_name(tries->commit.stats[i].path), name))
            return true;
    return false;
}

int tn_slices_tries_drop(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                         tn_slices_tries *tries, tn_slices_file *files, size_t *count)
{
    size_t n = 0;
    bool known;
    int rc = TARN_OK;

    for (size_t i = 0; i < *count; i++) {
        tn_slices_file file = files[i];

        if (n != 0 && !file.parts.log &&
            tn_str_equal(files[n - 1].parts.instant, file.parts.instant)) {
            TN_TRY(ask_commit(cx, store, timeline, file.parts.instant, tries, &known));
            if (!known || !is_named(tries, files[n - 1].name))
                files[n - 1] = file;
            continue;
        }
        files[n++] = file;
    }
    assert(n <= *count);
    *count = n;
done:
    return rc;
}
