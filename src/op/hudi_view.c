/* A Hudi table opened to be looked at: what the commands that show something share.
 *
 * I1: nothing is written, and nothing waits for a lock.
 * I2: a damaged instant does not keep the others from being shown. */
#include "op/hudi_view.h"

#include <assert.h>
#include <stdlib.h>

#include "plan/plan_query.h"

int tn_hudi_view_open(tarn_cx *cx, const char *path, bool *hudi, tn_hudi_view *view)
{
    tn_str hoodie;
    tn_stat stat;
    bool there;
    int rc = TARN_OK;

    assert(path != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &view->arena, &view->store, &view->root));
    TN_TRY(tn_store_stat(cx, view->store, view->root, &stat));
    if (hudi != NULL) {
        TN_TRY(tn_path_join(cx, &view->arena, view->root, TN_STR(".hoodie"), &hoodie));
        TN_TRY(tn_store_exists(cx, view->store, hoodie, &there));
        *hudi = there;
        if (!there)
            goto done;
    }
    TN_TRY(tn_hudi_config_load(cx, view->store, view->root, &view->arena, &view->config));
    TN_TRY(tn_timeline_load(cx, view->store, view->root, &view->config, &view->arena,
                            &view->timeline));
done:
    return rc;
}

void tn_hudi_view_clear(tn_hudi_view *view)
{
    tn_store_close(view->store);
    tn_arena_clear(&view->arena);
    *view = (tn_hudi_view){0};
}

const char *tn_hudi_view_text(tarn_cx *cx, tn_hudi_view *view, tn_str text)
{
    return tn_arena_keep(cx, &view->arena, &text) == TARN_OK ? text.ptr : NULL;
}

int tn_hudi_view_keep(tarn_cx *cx, tn_hudi_view *view, tn_str text, const char **out)
{
    if (text.len == 0) {
        *out = NULL;
        return TARN_OK;
    }
    *out = tn_hudi_view_text(cx, view, text);
    return *out != NULL ? TARN_OK : TARN_E_NOMEM;
}

int tn_hudi_view_check_time(tarn_cx *cx, const char *time)
{
    size_t n = strspn(time, "0123456789");

    if (n == 0 || time[n] != '\0')
        return tn_fail(cx, TARN_E_INVALID,
                       "%s: no instant: give its digits, as `tarn timeline` shows them", time);
    return TARN_OK;
}

int tn_hudi_view_as_of(tarn_cx *cx, tn_hudi_view *view, const char *typed, tn_str *out)
{
    int rc;

    *out = (tn_str){NULL, 0};
    if (typed == NULL)
        return TARN_OK;
    rc = tn_query_instant(cx, &view->config, &view->timeline, typed, &view->arena, out);
    return rc == TARN_E_INVALID ? tn_fail_within(cx, rc, "--as-of") : rc;
}

static const char *state_name(enum tn_state state)
{
    return state == TN_STATE_REQUESTED  ? "REQUESTED"
           : state == TN_STATE_INFLIGHT ? "INFLIGHT"
                                        : "COMPLETED";
}

static void add_stat(tarn_commit_counts *counts, const tn_write_stat *stat)
{
    if (stat->prev_instant.len == 0)
        counts->files_added++;
    else
        counts->files_updated++;
    counts->rows += stat->writes;
    counts->inserted += stat->inserts;
    counts->updated += stat->updates;
    counts->deleted += stat->deletes;
    counts->errors += stat->errors;
    counts->bytes += stat->bytes;
}

/* Stats of a partition are consecutive; replaced groups may be in partitions without stats. */
static void count_partitions(const tn_commit_metadata *commit, tarn_commit_counts *counts)
{
    for (size_t i = 0; i < commit->stat_count; i++)
        counts->partitions +=
            i == 0 || !tn_str_equal(commit->stats[i].partition, commit->stats[i - 1].partition);
    for (size_t i = 0; i < commit->replaced_count; i++) {
        bool seen = false;

        counts->groups_replaced += commit->replaced[i].file_id_count;
        for (size_t k = 0; k < commit->stat_count && !seen; k++)
            seen = tn_str_equal(commit->replaced[i].partition, commit->stats[k].partition);
        counts->partitions += !seen;
    }
}

static int fill_counts(tarn_cx *cx, tn_hudi_view *view, const tn_commit_metadata *commit,
                       tarn_instant *out)
{
    tarn_commit_counts *counts = tn_arena_take(cx, &view->arena, sizeof *counts);
    int rc = TARN_OK;

    if (counts == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_hudi_view_keep(cx, view, commit->operation, &counts->operation));
    for (size_t i = 0; i < commit->stat_count; i++)
        add_stat(counts, &commit->stats[i]);
    count_partitions(commit, counts);
    out->counts = counts;
done:
    return rc;
}

/* Reads the commit; a damaged one leaves its text in out->problem. */
static int read_commit(tarn_cx *cx, tn_hudi_view *view, const tn_instant *instant,
                       tarn_instant *out)
{
    tn_commit_metadata commit = {0};
    tn_arena arena = {0};
    int rc;

    rc = tn_timeline_commit(cx, view->store, &view->timeline, instant, &arena, &commit);
    if (rc == TARN_E_CORRUPT || rc == TARN_E_CONFLICT) {
        TN_TRY(tn_hudi_view_keep(cx, view, tn_str_of(tarn_cx_error(cx)), &out->problem));
        tn_cx_forget(cx);
        goto done;
    }
    TN_TRY(rc);
    TN_TRY(fill_counts(cx, view, &commit, out));
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_view_instant(tarn_cx *cx, tn_hudi_view *view, const tn_instant *instant, bool counts,
                         tarn_instant *out)
{
    tarn_instant made = {.state = state_name(instant->state), .bytes = instant->size_bytes};
    bool commit = tn_instant_writes_data(instant) && instant->state == TN_STATE_COMPLETED;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_view_keep(cx, view, instant->time, &made.time));
    TN_TRY(tn_hudi_view_keep(cx, view, instant->completion, &made.completion));
    TN_TRY(tn_hudi_view_keep(cx, view, instant->word, &made.action));
    TN_TRY(tn_hudi_view_keep(cx, view, instant->name, &made.file));
    /* An empty commit is seen without opening it, so it is told in any case. */
    if (commit && (counts || instant->size_bytes == 0))
        TN_TRY(read_commit(cx, view, instant, &made));
    *out = made;
done:
    return rc;
}

int tn_hudi_view_archived(tarn_cx *cx, tn_hudi_view *view, const tn_instant *instant,
                          const tn_archive_contents *contents, tarn_instant *out)
{
    tarn_instant made = {.state = state_name(instant->state), .archived = true};
    int rc = TARN_OK;

    TN_TRY(tn_hudi_view_keep(cx, view, instant->time, &made.time));
    TN_TRY(tn_hudi_view_keep(cx, view, instant->completion, &made.completion));
    TN_TRY(tn_hudi_view_keep(cx, view, instant->word, &made.action));
    TN_TRY(tn_hudi_view_keep(cx, view, instant->name, &made.file));
    if (contents != NULL && contents->is_commit)
        TN_TRY(fill_counts(cx, view, &contents->commit, &made));
    *out = made;
done:
    return rc;
}
