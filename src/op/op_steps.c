/* The three steps of a merge apart, as text: for shells, and for engines that run the middle. */
#include <assert.h>
#include <stdlib.h>

#include "exec/exec.h"
#include "op/merge_op.h"
#include "tarn/commit.h"
#include "tarn/task.h"

void tarn_text_clear(tarn_text *text)
{
    free(text->bytes);
    *text = (tarn_text){0};
}

/* Hands the bytes of a buffer to the caller. */
static int give(tarn_cx *cx, tn_buf *buf, tarn_text *out)
{
    tn_buf_u8(buf, '\0');
    if (tn_buf_check(cx, buf) != TARN_OK)
        return TARN_E_NOMEM;
    *out = (tarn_text){(char *)buf->data, buf->len - 1};
    *buf = (tn_buf){0};
    return TARN_OK;
}

int tarn_merge_plan(tarn_cx *cx, const char *path, const tarn_merge_options *options,
                    tarn_text *plan)
{
    static const tarn_merge_options plain = {0};
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_merge_options plan_options;
    tn_dir_options dir_options;
    tn_dir dir = {0};
    tn_merge_plan made;
    tn_buf text = {0};
    tn_str root;
    int rc = TARN_OK;

    assert(plan != NULL);
    if (options == NULL)
        options = &plain;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_merge_options_of(cx, options, &arena, &plan_options));
    TN_TRY(tn_merge_dir_options(cx, options, &plan_options, &arena, &dir_options));
    TN_TRY(tn_dir_load(cx, store, root, &dir_options, &dir));
    TN_TRY(tn_plan_merge(cx, &dir, &plan_options, &arena, &made));
    TN_TRY(tn_merge_plan_write(cx, &made, &text));
    TN_TRY(give(cx, &text, plan));
done:
    tn_buf_clear(&text);
    tn_dir_clear(&dir);
    tn_arena_clear(&arena);
    tn_store_close(store);
    return rc;
}

int tarn_merge_plan_tasks(tarn_cx *cx, const char *line, size_t len, size_t *tasks)
{
    assert(tasks != NULL);
    return tn_merge_plan_count(cx, (tn_str){line, len}, tasks);
}

int tarn_exec(tarn_cx *cx, const char *line, size_t len, tarn_text *result, int *task_status)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_task task;
    tn_result made;
    tn_buf text = {0};
    int rc = TARN_OK;

    assert(result != NULL);
    TN_TRY(tn_task_parse(cx, (tn_str){line, len}, &arena, &task));
    TN_TRY(tn_store_local_open(cx, &store));
    TN_TRY(tn_exec_task(cx, store, &task, NULL, NULL, &arena, &made));
    TN_TRY(tn_result_write(cx, &made, &text));
    TN_TRY(give(cx, &text, result));
    if (task_status != NULL)
        *task_status = made.status;
done:
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    tn_store_close(store);
    return rc;
}

static int parse_results(tarn_cx *cx, tn_str text, tn_arena *arena, tn_result **results,
                         size_t *count)
{
    size_t lines = 1, n = 0;
    tn_result *out;
    int rc = TARN_OK;

    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    out = tn_arena_array(cx, arena, lines, sizeof *out);
    if (out == NULL)
        return TARN_E_NOMEM;
    while (text.len != 0) {
        size_t end = tn_str_find(text, '\n');

        if (end != 0)
            TN_TRY(tn_result_parse(cx, (tn_str){text.ptr, end}, arena, &out[n++]));
        text = tn_str_from(text, end + 1);
    }
    *results = out;
    *count = n;
done:
    return rc;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const tn_result *)a)->number, y = ((const tn_result *)b)->number;

    return x < y ? -1 : x > y;
}

/* The results of a partition's tasks, which follow each other. */
static void find_results(const tn_merge_partition *partition, tn_result *results, size_t count,
                         size_t *from, size_t *n)
{
    uint32_t first = partition->output_count != 0 ? partition->outputs[0].task : 0;
    uint32_t last = first + (uint32_t)partition->output_count;

    *from = 0;
    while (*from < count && results[*from].number < first)
        (*from)++;
    *n = 0;
    while (*from + *n < count && results[*from + *n].number < last)
        (*n)++;
}

int tarn_commit(tarn_cx *cx, const char *plan, size_t plan_len, const char *results,
                size_t results_len, const tarn_merge_options *options, tarn_merge_report **report)
{
    static const tarn_merge_options plain = {0};
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_merge_plan made;
    tn_dir_commit *commit = NULL;
    tn_merge_log *log = NULL;
    tn_recovery recovery = {0};
    tn_result *all;
    size_t count;
    int64_t started_ms = tn_cx_now_ms(cx);
    int rc = TARN_OK;

    assert(report != NULL);
    if (options == NULL)
        options = &plain;
    TN_TRY(tn_merge_plan_parse(cx, (tn_str){plan, plan_len}, &arena, &made));
    TN_TRY(parse_results(cx, (tn_str){results, results_len}, &arena, &all, &count));
    qsort(all, count, sizeof *all, by_number);
    TN_TRY(tn_store_local_open(cx, &store));
    TN_TRY(tn_merge_log_open(cx, &made, &log));
    if (made.partition_count != 0)
        TN_TRY(tn_dir_commit_open(cx, store, &made, &commit));
    for (size_t i = 0; i < made.partition_count; i++) {
        size_t from, n;

        find_results(&made.partitions[i], all, count, &from, &n);
        TN_TRY(tn_merge_commit(cx, commit, &made, i, all + from, n, options, log));
        if (options->on_progress != NULL)
            options->on_progress(options->progress_arg, i + 1, made.partition_count);
    }
    if (commit != NULL) {
        TN_TRY(tn_dir_commit_finish(cx, commit));
        tn_dir_commit_recovery(commit, &recovery);
        TN_TRY(tn_merge_log_recovery(cx, log, &recovery));
    }
    TN_TRY(tn_merge_log_end(cx, log, &made, false, started_ms));
    *report = &log->report;
    log = NULL;
done:
    tn_recovery_clear(&recovery);
    tn_dir_commit_close(commit);
    if (log != NULL)
        tarn_merge_report_close(&log->report);
    tn_arena_clear(&arena);
    tn_store_close(store);
    return rc;
}
