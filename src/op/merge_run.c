/* Runs a plan on the threads of the context, a window of partitions at a time: the small tasks of a
 * window side by side, each large one with all threads to itself; then the window's commits.
 * I1: a partition is committed as soon as its window's tasks are done, in the order of the plan.
 * I2: nothing is started after the time limit; what was started is finished. */
#include <stdlib.h>
#include <time.h>

#include "base/pool.h"
#include "exec/exec.h"
#include "op/merge_op.h"

#define TN_WINDOW_BYTES     (64ull << 20)
#define TN_SMALL_TASK_BYTES (8ull << 20)

typedef struct run {
    tn_store *store;
    const tn_merge_plan *plan;
    const tarn_merge_options *options;
    tn_merge_log *log;
    tn_dir_commit *commit;
    int64_t started_ms;
    uint64_t bytes_total, bytes_done; /* of inputs merged */
    uint64_t bytes_read;              /* for it: a sorting merge reads more than once */
} run;

typedef struct window {
    run *r;
    const tn_task *tasks;
    size_t count;
    tn_result *results;
    tn_arena *arenas; /* one per task */
    size_t *small;    /* tasks to be done side by side */
} window;

static uint64_t task_bytes(const tn_task *task)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < task->rewrite.input_count; i++)
        bytes += task->rewrite.inputs[i].file.size_bytes;
    return bytes;
}

static int do_task(tarn_cx *cx, window *w, size_t task)
{
    return tn_exec_task(cx, w->r->store, &w->tasks[task], NULL, NULL, &w->arenas[task],
                        &w->results[task]);
}

static int do_small(tarn_cx *cx, size_t i, void *arg)
{
    window *w = arg;

    return do_task(cx, w, w->small[i]);
}

static int do_tasks(tarn_cx *cx, window *w)
{
    size_t small_count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < w->count; i++)
        if (task_bytes(&w->tasks[i]) <= TN_SMALL_TASK_BYTES)
            w->small[small_count++] = i;
    if (small_count >= tn_cx_jobs(cx))
        TN_TRY(tn_parallel(cx, small_count, do_small, w));
    else
        small_count = 0;
    for (size_t i = 0, s = 0; i < w->count; i++) {
        if (s < small_count && w->small[s] == i)
            s++;
        else
            TN_TRY(do_task(cx, w, i));
    }
done:
    return rc;
}

int tn_merge_commit(tarn_cx *cx, tn_dir_commit *commit, const tn_merge_plan *plan, size_t partition,
                    const tn_result *results, size_t result_count,
                    const tarn_merge_options *options, tn_merge_log *log)
{
    tn_partition_report told = {0};
    tn_arena arena = {0};
    int rc = TARN_OK;

    TN_TRY(tn_dir_commit_partition(cx, commit, partition, results, result_count, &arena, &told));
    TN_TRY(tn_merge_log_partition(cx, log, plan, partition, results, result_count, &told));
    if (told.outcome == TN_PARTITION_DONE && options->after != NULL &&
        plan->partitions[partition].input_count != 0)
        TN_TRY(
            tn_merge_after(cx, options->after, plan->root, plan->partitions[partition].path, log));
done:
    tn_arena_clear(&arena);
    return rc;
}

static bool time_is_up(tarn_cx *cx, const run *r)
{
    return r->options->time_limit_ms > 0 &&
           tn_cx_now_ms(cx) - r->started_ms >= r->options->time_limit_ms;
}

/* Waits until the bytes read so far are no more than the rate allows, or the time is up. */
static int throttle(tarn_cx *cx, const run *r)
{
    uint64_t rate = r->options->rate_bytes;
    int64_t due_ms;
    int rc = TARN_OK;

    if (rate == 0)
        return TARN_OK;
    due_ms = r->started_ms + (int64_t)((unsigned __int128)r->bytes_read * 1000 / rate);
    while (tn_cx_now_ms(cx) < due_ms && !time_is_up(cx, r)) {
        struct timespec nap = {0, 20000000};

        TN_TRY(tn_cx_check(cx));
        nanosleep(&nap, NULL);
    }
done:
    return rc;
}

/* Tasks and commits of partitions [from, to). */
static int do_window(tarn_cx *cx, run *r, size_t from, size_t to)
{
    window w = {.r = r};
    size_t first = SIZE_MAX, at = 0;
    int rc = TARN_OK;

    for (size_t i = from; i < to; i++) {
        const tn_merge_partition *partition = &r->plan->partitions[i];

        if (partition->output_count != 0 && first == SIZE_MAX)
            first = partition->outputs[0].task;
        w.count += partition->output_count;
    }
    w.tasks = first != SIZE_MAX ? r->plan->tasks + first : r->plan->tasks;
    w.results = tn_calloc(cx, w.count, sizeof *w.results);
    w.arenas = tn_calloc(cx, w.count, sizeof *w.arenas);
    w.small = tn_calloc(cx, w.count, sizeof *w.small);
    if (w.results == NULL || w.arenas == NULL || w.small == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(do_tasks(cx, &w));
    for (size_t i = from; i < to; i++) {
        const tn_merge_partition *partition = &r->plan->partitions[i];

        TN_TRY(tn_merge_commit(cx, r->commit, r->plan, i, w.results + at, partition->output_count,
                               r->options, r->log));
        for (size_t k = 0; k < partition->output_count; k++)
            r->bytes_read += w.results[at + k].read_bytes;
        at += partition->output_count;
        r->bytes_done += partition->bytes;
        if (r->options->on_progress != NULL)
            r->options->on_progress(r->options->progress_arg, r->bytes_done, r->bytes_total);
    }
done:
    for (size_t i = 0; w.arenas != NULL && i < w.count; i++)
        tn_arena_clear(&w.arenas[i]);
    free(w.results);
    free(w.arenas);
    free(w.small);
    return rc;
}

static size_t window_end(tarn_cx *cx, const run *r, size_t from)
{
    const tn_merge_plan *plan = r->plan;
    size_t to = from, tasks = 0, tasks_max = (size_t)tn_cx_jobs(cx) * 8;
    uint64_t bytes = 0;

    do {
        bytes += plan->partitions[to].bytes;
        tasks += plan->partitions[to].output_count;
        to++;
    } while (to < plan->partition_count && r->options->rate_bytes == 0 && tasks < tasks_max &&
             bytes + plan->partitions[to].bytes <= TN_WINDOW_BYTES);
    return to;
}

int tn_merge_run(tarn_cx *cx, tn_store *store, const tn_merge_plan *plan,
                 const tarn_merge_options *options, tn_merge_log *log)
{
    run r = {.store = store, .plan = plan, .options = options, .log = log};
    tn_recovery recovery = {0};
    int rc = TARN_OK;

    r.started_ms = tn_cx_now_ms(cx);
    for (size_t i = 0; i < plan->partition_count; i++)
        r.bytes_total += plan->partitions[i].bytes;
    TN_TRY(tn_dir_commit_open(cx, store, plan, &r.commit));
    for (size_t at = 0; at < plan->partition_count;) {
        size_t to = window_end(cx, &r, at);

        TN_TRY(throttle(cx, &r)); /* before work, so that nobody waits for nothing at the end */
        if (time_is_up(cx, &r)) {
            log->report.stopped = "the time limit was reached; run merge again to go on";
            for (; at < plan->partition_count; at++)
                TN_TRY(tn_merge_log_skip(cx, log, plan, at,
                                         "not started: the time limit was reached"));
            break;
        }
        TN_TRY(do_window(cx, &r, at, to));
        at = to;
    }
    TN_TRY(tn_dir_commit_finish(cx, r.commit));
    tn_dir_commit_recovery(r.commit, &recovery);
    TN_TRY(tn_merge_log_recovery(cx, log, &recovery));
done:
    tn_recovery_clear(&recovery);
    tn_dir_commit_close(r.commit);
    return rc;
}
