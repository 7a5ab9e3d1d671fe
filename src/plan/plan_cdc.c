/* Decides where the changes of commits are to be had.
 *
 *   of each file that a commit wrote
 *     files of change data, with images            AS_IS
 *     a base file, all of whose rows are inserts    BASE_FILE_INSERT
 *     a base file without rows                      BASE_FILE_DELETE: all of the file before
 *     any other base file                           BASE_FILE_CHANGE: it and the file before
 *     logs                                          LOG_FILE: the slice with and without them
 *   of each file group that it replaced             REPLACE_COMMIT
 *
 * Hudi fails where a base file is neither and no change data was written; the two files say what
 * changed, so that any table can be asked.
 *
 * I1: commits that move rows without changing them (compaction, clustering) have no changes.
 * I2: all logs that a commit wrote into one file group are one change: a key is in it once. */
#include "plan/plan_cdc.h"

#include <assert.h>
#include <stdlib.h>

#include "task/data_name.h"

typedef struct planning {
    tarn_cx *cx;
    tn_arena *arena;
    bool images;
    tn_str instant;
    tn_cdc_change *changes;
    size_t count, cap;
} planning;

static bool moves_rows_only(const tn_commit_metadata *m)
{
    static const char *const names[] = {"COMPACT", "LOG_COMPACT",  "CLUSTER",
                                        "INDEX",   "ALTER_SCHEMA", "BUCKET_RESCALE"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tn_str_is(m->operation, names[i]))
            return true;
    return m->compacted;
}

static tn_str name_of(tn_str path)
{
    size_t at = path.len;

    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return tn_str_from(path, at);
}

static bool is_log(const tn_write_stat *stat)
{
    tn_data_name name;

    return tn_data_name_parse(name_of(stat->path), &name) && name.log;
}

static int add(planning *p, const tn_cdc_change *change)
{
    int rc = tn_arena_grow(p->cx, p->arena, &p->changes, p->count, &p->cap, sizeof *p->changes);

    if (rc == TARN_OK)
        p->changes[p->count++] = *change;
    return rc;
}

/* ---- base files ---- */

static int add_base(planning *p, const tn_write_stat *stat)
{
    tn_cdc_change change = {.kind = TN_CDC_BASE_FILE_CHANGE,
                            .instant = p->instant,
                            .partition = stat->partition,
                            .file_id = stat->file_id,
                            .logged = stat->cdc_file_count > 0,
                            .path = stat->path,
                            .prev_instant = stat->prev_instant};
    bool fresh = stat->prev_instant.len == 0 ||
                 (stat->updates == 0 && stat->deletes == 0 && stat->writes == stat->inserts);

    if (stat->cdc_file_count > 0 && p->images) {
        change.kind = TN_CDC_AS_IS;
        change.files = stat->cdc_files;
        change.file_count = stat->cdc_file_count;
    } else if (fresh) {
        change.kind = TN_CDC_BASE_FILE_INSERT;
    } else if (stat->writes == 0) {
        change.kind = TN_CDC_BASE_FILE_DELETE;
    }
    /* A file that nothing was written into may not be there. */
    if (change.kind == TN_CDC_BASE_FILE_INSERT && stat->writes == 0)
        return TARN_OK;
    return add(p, &change);
}

/* ---- logs ---- */

static bool has(const tn_str *names, size_t count, tn_str name)
{
    for (size_t i = 0; i < count; i++)
        if (tn_str_equal(names[i], name))
            return true;
    return false;
}

static bool same_group(const tn_write_stat *a, const tn_write_stat *b)
{
    return tn_str_equal(a->partition, b->partition) && tn_str_equal(a->file_id, b->file_id);
}

/* The logs among the first `count` stats of the group of `first`, and what their slices had. */
static int add_logs(planning *p, const tn_write_stat *const *stats, size_t count)
{
    tn_cdc_change change = {.kind = TN_CDC_LOG_FILE,
                            .instant = p->instant,
                            .partition = stats[0]->partition,
                            .file_id = stats[0]->file_id,
                            .prev_instant = stats[0]->prev_instant};
    size_t most = 0, n = 0;
    tn_str *written, *before;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        most += stats[i]->log_file_count;
    written = tn_arena_array(p->cx, p->arena, count, sizeof *written);
    before = tn_arena_array(p->cx, p->arena, most + 1, sizeof *before);
    if (written == NULL || before == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        tn_str name = name_of(stats[i]->path);

        if (!has(written, change.file_count, name))
            written[change.file_count++] = name;
        if (stats[i]->base_file.len > 0)
            change.base_file = stats[i]->base_file;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < stats[i]->log_file_count; k++) {
            tn_str name = stats[i]->log_files[k];

            /* Files of change data are listed with the logs. */
            if (!tn_str_ends(name, TN_STR(".cdc")) && !has(written, change.file_count, name) &&
                !has(before, n, name))
                before[n++] = name;
        }
    change.files = written;
    change.logs = before;
    change.log_count = n;
    TN_TRY(add(p, &change));
done:
    return rc;
}

/* ---- commits ---- */

static int compare_stats(const void *a, const void *b)
{
    const tn_write_stat *x = *(const tn_write_stat *const *)a;
    const tn_write_stat *y = *(const tn_write_stat *const *)b;
    int order = tn_str_compare(x->partition, y->partition);

    if (order == 0)
        order = tn_str_compare(x->file_id, y->file_id);
    return order != 0 ? order : tn_str_compare(x->path, y->path);
}

static int add_stats(planning *p, const tn_commit_metadata *m)
{
    const tn_write_stat **stats = tn_alloc(p->cx, m->stat_count * sizeof *stats);
    size_t count = 0, end;
    int rc = TARN_OK;

    if (stats == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < m->stat_count; i++)
        if (m->stats[i].path.len > 0 || m->stats[i].cdc_file_count > 0 || m->stats[i].deletes > 0)
            stats[count++] = &m->stats[i];
    if (count > 0)
        qsort(stats, count, sizeof *stats, compare_stats);
    for (size_t i = 0; i < count; i = end) {
        end = i + 1;
        if (!is_log(stats[i])) {
            TN_TRY(add_base(p, stats[i]));
            continue;
        }
        while (end < count && same_group(stats[i], stats[end]) && is_log(stats[end]))
            end++;
        TN_TRY(add_logs(p, stats + i, end - i));
    }
done:
    free(stats);
    return rc;
}

static int compare_replaced(const void *a, const void *b)
{
    return tn_str_compare(((const tn_replaced *)a)->partition, ((const tn_replaced *)b)->partition);
}

static int add_replaced(planning *p, const tn_commit_metadata *m)
{
    tn_replaced *all = tn_alloc(p->cx, m->replaced_count * sizeof *all);
    tn_str *ids = NULL;
    int rc = TARN_OK;

    if (all == NULL)
        return TARN_E_NOMEM;
    if (m->replaced_count > 0) {
        memcpy(all, m->replaced, m->replaced_count * sizeof *all);
        qsort(all, m->replaced_count, sizeof *all, compare_replaced);
    }
    for (size_t i = 0; i < m->replaced_count; i++) {
        size_t n = all[i].file_id_count;

        free(ids);
        ids = tn_alloc(p->cx, n * sizeof *ids);
        if (ids == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (n == 0)
            continue;
        memcpy(ids, all[i].file_ids, n * sizeof *ids);
        tn_str_sort(ids, n);
        for (size_t k = 0; k < n; k++)
            TN_TRY(add(p, &(tn_cdc_change){.kind = TN_CDC_REPLACE_COMMIT,
                                           .instant = p->instant,
                                           .partition = all[i].partition,
                                           .file_id = ids[k]}));
    }
done:
    free(ids);
    free(all);
    return rc;
}

int tn_plan_cdc(tarn_cx *cx, const tn_cdc_commit *commits, size_t count, bool images,
                tn_arena *arena, tn_cdc_change **changes, size_t *change_count)
{
    planning p = {.cx = cx, .arena = arena, .images = images};
    int rc = TARN_OK;

    assert(changes != NULL && change_count != NULL);
    for (size_t i = 0; i < count; i++) {
        const tn_commit_metadata *m = commits[i].metadata;

        if (moves_rows_only(m))
            continue;
        p.instant = commits[i].instant;
        TN_TRY(add_replaced(&p, m));
        TN_TRY(add_stats(&p, m));
    }
    *changes = p.changes;
    *change_count = p.count;
done:
    return rc;
}
