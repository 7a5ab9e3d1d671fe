/* Heartbeats: .hoodie/.heartbeat/<instant>, a file whose modification time is the last beat
 * (org.apache.hudi.client.heartbeat). Only writers under the lazy policy have one.
 * B1: a heartbeat of ours has BEAT_TEXT in it (Hudi's are empty, and it does not look). Whoever
 *     finds one under the table's lock knows that its writer is dead, whatever its age. */
#include "commit/commit_hudi_parts.h"

#define FOLDER         ".heartbeat"
#define BEAT_TEXT      "tarn\n"
#define INTERVAL_MS    60000
#define MISSES         2
#define BEAT_BYTES_MAX 4096

static int64_t interval_of(const tn_hudi_commit *commit)
{
    return commit->options.heartbeat_ms > 0 ? commit->options.heartbeat_ms : INTERVAL_MS;
}

int tn_hudi_heart_beat(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant)
{
    tn_arena arena = {0};
    tn_str path;
    int rc;

    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, FOLDER, instant, &path));
    TN_TRY(tn_hudi_commit_folder(cx, commit->store, commit->hoodie, TN_STR(FOLDER)));
    TN_TRY(tn_store_put(cx, commit->store, path, TN_STR(BEAT_TEXT)));
    commit->beat_ms = tn_cx_now_ms(cx);
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_heart_again(tarn_cx *cx, tn_hudi_commit *commit)
{
    int64_t since = tn_cx_now_ms(cx) - commit->beat_ms;

    if (!commit->options.lazy || commit->state != TN_HUDI_BEGUN ||
        (since >= 0 && since < interval_of(commit) / 2))
        return TARN_OK;
    return tn_hudi_heart_beat(cx, commit, commit->instant);
}

int tn_hudi_heart_look(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant, bool *found,
                       bool *alive, int64_t *age_ms)
{
    uint64_t misses =
        commit->options.heartbeat_misses != 0 ? commit->options.heartbeat_misses : MISSES;
    tn_arena arena = {0};
    tn_buf text = {0};
    tn_stat stat;
    tn_str path;
    int rc;

    *found = *alive = false;
    *age_ms = 0;
    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, FOLDER, instant, &path));
    rc = tn_store_stat(cx, commit->store, path, &stat);
    if (rc == TARN_OK)
        rc = tn_store_get(cx, commit->store, path, BEAT_BYTES_MAX, &text);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    *found = true;
    *age_ms = tn_cx_now_ms(cx) - stat.mtime_ns / 1000000;
    *alive = !tn_str_is(tn_buf_view(&text), BEAT_TEXT) &&
             *age_ms <= interval_of(commit) * (int64_t)(misses < 1000 ? misses : 1000);
done:
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    return rc;
}

int tn_hudi_heart_stop(tarn_cx *cx, tn_hudi_commit *commit, tn_str instant)
{
    tn_arena arena = {0};
    tn_str path;
    int rc;

    TN_TRY(tn_hudi_commit_path(cx, commit, &arena, FOLDER, instant, &path));
    rc = tn_store_remove(cx, commit->store, path);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    TN_TRY(rc);
    TN_TRY(tn_hudi_config_drop_crc(cx, commit->store, path));
done:
    tn_arena_clear(&arena);
    return rc;
}
