/* A run's side of the commit: begin, verify each partition's results, hand the change on, end.
 * I1: nothing is swapped whose result is missing, doubled, failed, of another plan, or does not add
 *     up to the rows and bytes that the plan and the staged file show.
 * I2: a partition's failure leaves that partition as it was and the others alone.
 * I3: a directory with a change that recovery could not settle is not touched. */
#include "commit/commit_dir.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "commit/work.h"

struct tn_dir_commit {
    tn_store *store;
    const tn_merge_plan *plan;
    tn_arena arena;
    tn_work work;
    tn_recovery recovery;
    tn_attrs root_times; /* as they were before the work directory was made in the root */
    bool root_times_known;
};

static bool lies_below(tn_str path, tn_str above)
{
    return path.len > above.len && tn_str_starts(path, above) && path.ptr[above.len] == '/';
}

/* The staging directories, durable before anything is swapped with them. */
static int make_stagings(tarn_cx *cx, tn_dir_commit *commit)
{
    const tn_merge_plan *plan = commit->plan;
    tn_str *stagings, last = {0};
    int rc;

    stagings = tn_arena_array(cx, &commit->arena, plan->partition_count, sizeof *stagings);
    if (stagings == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < plan->partition_count; i++)
        stagings[i] = plan->partitions[i].staging;
    TN_TRY(tn_work_put_run(cx, &commit->work, stagings, plan->partition_count));
    for (size_t i = 0; i < plan->partition_count; i++)
        TN_TRY(tn_store_make_dirs(cx, commit->store, stagings[i]));
    for (size_t i = 0; i < plan->partition_count; i++) {
        tn_str parent = tn_path_parent(stagings[i]);

        if (tn_str_equal(parent, last))
            continue;
        last = parent;
        TN_TRY(tn_store_sync_dir(cx, commit->store, parent));
        TN_TRY(tn_store_sync_dir(cx, commit->store, tn_path_parent(parent)));
    }
done:
    return rc;
}

static void note_root_times(tarn_cx *cx, tn_dir_commit *commit)
{
    const tn_merge_plan *plan = commit->plan;

    if (plan->options.times_now || !lies_below(plan->work, plan->root))
        return;
    if (tn_store_attrs_get(cx, commit->store, plan->root, &commit->arena, &commit->root_times) ==
        TARN_OK)
        commit->root_times_known = true;
    tn_cx_forget(cx);
    for (size_t i = 0; i < plan->partition_count; i++)
        if (plan->partitions[i].path.len == 0 && plan->partitions[i].mtime_ns != 0)
            commit->root_times.mtime_ns = plan->partitions[i].mtime_ns;
}

int tn_dir_commit_open(tarn_cx *cx, tn_store *store, const tn_merge_plan *plan, tn_dir_commit **out)
{
    tn_dir_commit *commit = tn_calloc(cx, 1, sizeof *commit);
    int rc;

    if (commit == NULL)
        return TARN_E_NOMEM;
    commit->store = store;
    commit->plan = plan;
    note_root_times(cx, commit);
    TN_TRY(tn_work_open(cx, store, &commit->arena, plan->root, plan->work, &commit->work));
    TN_TRY(tn_dir_recover_except(cx, store, plan->root, plan->id, &commit->recovery));
    TN_TRY(make_stagings(cx, commit));
    *out = commit;
    commit = NULL;
done:
    tn_dir_commit_close(commit);
    return rc;
}

static const tn_result *result_of(const tn_result *results, size_t count, uint32_t task,
                                  bool *doubled)
{
    const tn_result *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (results[i].number != task)
            continue;
        *doubled |= found != NULL;
        found = &results[i];
    }
    return found;
}

/* Of a task that failed: as the task did, so that the report can tell them apart. */
static int check_done(tarn_cx *cx, const tn_merge_plan *plan, const tn_merge_output *output,
                      const tn_result *result, bool doubled)
{
    if (result == NULL)
        return tn_fail(cx, TARN_E_CANCELLED, "task %" PRIu32 " has no result: it was not run",
                       output->task);
    if (doubled)
        return tn_fail(cx, TARN_E_INVALID, "task %" PRIu32 " has two results; give one of each",
                       output->task);
    if (!tn_str_equal(result->plan_id, plan->id))
        return tn_fail(cx, TARN_E_INVALID,
                       "the result of task %" PRIu32 " belongs to plan %.*s, not %.*s",
                       output->task, TN_STR_ARG(result->plan_id), TN_STR_ARG(plan->id));
    if (result->status != TARN_OK)
        return tn_fail(cx, result->status, "%.*s", TN_STR_ARG(result->text));
    return TARN_OK;
}

/* I1, one output. */
static int check_result(tarn_cx *cx, tn_store *store, const tn_merge_plan *plan,
                        const tn_merge_output *output, const tn_result *result)
{
    tn_str name = output->name;
    tn_stat stat;
    int rc;

    if (!tn_str_equal(result->output, output->staged))
        TN_FAIL(TARN_E_INVALID, "%.*s: the result names %.*s, the plan %.*s", TN_STR_ARG(name),
                TN_STR_ARG(result->output), TN_STR_ARG(output->staged));
    if (result->rows_out != output->rows || result->rows_in != output->rows)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: %" PRId64 " rows read and %" PRId64 " written where the inputs have %" PRId64
                "; nothing was swapped",
                TN_STR_ARG(name), result->rows_in, result->rows_out, output->rows);
    if (plan->options.verify_content && (!result->hashed || result->hash_in != result->hash_out))
        TN_FAIL(TARN_E_CORRUPT, "%.*s: %s; nothing was swapped", TN_STR_ARG(name),
                result->hashed ? "the content differs from that of the inputs"
                               : "the content was not compared, though asked for");
    TN_TRY(tn_store_stat(cx, store, output->staged, &stat));
    if (stat.kind != TN_ENTRY_FILE || stat.link || stat.size_bytes != result->output_bytes)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: %" PRIu64 " bytes where its writer reported %" PRIu64
                "; nothing was swapped",
                TN_STR_ARG(output->staged), stat.size_bytes, result->output_bytes);
done:
    return rc;
}

static int verify(tarn_cx *cx, tn_store *store, const tn_merge_plan *plan,
                  const tn_merge_partition *partition, const tn_result *results, size_t count,
                  tn_partition_report *report)
{
    int64_t rows = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < partition->output_count; i++) {
        const tn_merge_output *output = &partition->outputs[i];
        bool doubled = false;
        const tn_result *result = result_of(results, count, output->task, &doubled);

        TN_TRY(check_done(cx, plan, output, result, doubled));
        TN_TRY(check_result(cx, store, plan, output, result));
        rows += result->rows_out;
        report->bytes_after += result->output_bytes;
    }
    if (rows != partition->rows)
        TN_FAIL(TARN_E_CORRUPT,
                "the outputs have %" PRId64 " rows, the inputs %" PRId64 "; nothing was swapped",
                rows, partition->rows);
done:
    return rc;
}

/* A merged file looks like its newest input. An ordinary user cannot give files away, so a wrong
 * owner is borne; a wrong mode is not. */
static int dress(tarn_cx *cx, tn_store *store, tn_arena *arena, const tn_merge_partition *partition,
                 const tn_merge_output *output, bool times_now)
{
    unsigned what = TN_ATTRS_EXTENDED | TN_ATTRS_MODE | (times_now ? 0 : TN_ATTRS_TIMES);
    tn_attrs attrs;
    tn_str newest;
    int rc;

    if (output->newest_input >= partition->input_count)
        TN_FAIL(TARN_E_INVALID, "%.*s: the plan names input %" PRIu32 " of %zu",
                TN_STR_ARG(output->name), output->newest_input, partition->input_count);
    TN_TRY(tn_path_join(cx, arena, partition->directory,
                        partition->inputs[output->newest_input].path, &newest));
    rc = tn_store_attrs_get(cx, store, newest, arena, &attrs);
    if (rc == TARN_E_NOTFOUND)
        TN_FAIL(TARN_E_CONFLICT, "%.*s vanished since the plan; nothing was touched: run again",
                TN_STR_ARG(newest));
    TN_TRY(rc);
    if (tn_store_attrs_set(cx, store, output->staged, &attrs, TN_ATTRS_OWNER) != TARN_OK)
        tn_cx_forget(cx);
    TN_TRY(tn_store_attrs_set(cx, store, output->staged, &attrs, what));
done:
    return rc;
}

static int fill_leaving(tarn_cx *cx, tn_arena *arena, const tn_merge_partition *partition,
                        tn_change *change)
{
    size_t n = 0;

    change->leaving = tn_arena_array(cx, arena, partition->input_count + partition->stale_count,
                                     sizeof *change->leaving);
    if (change->leaving == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < partition->input_count; i++) {
        const tn_file_seen *input = &partition->inputs[i];

        change->leaving[n++] = (tn_change_file){.name = input->path,
                                                .size_bytes = input->size_bytes,
                                                .mtime_ns = input->mtime_ns,
                                                .inode = input->inode};
    }
    for (size_t i = 0; i < partition->stale_count; i++)
        change->leaving[n++] = (tn_change_file){.name = partition->stale[i], .side = true};
    change->leaving_count = n;
    return TARN_OK;
}

static int fill_entering(tarn_cx *cx, tn_store *store, tn_arena *arena,
                         const tn_merge_partition *partition, tn_change *change)
{
    int rc = TARN_OK;

    change->entering = tn_arena_array(cx, arena, partition->output_count, sizeof *change->entering);
    if (change->entering == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < partition->output_count; i++) {
        const tn_merge_output *output = &partition->outputs[i];
        tn_stat stat;

        TN_TRY(dress(cx, store, arena, partition, output, change->times_now));
        TN_TRY(tn_store_stat(cx, store, output->staged, &stat));
        change->entering[i] = (tn_change_file){.name = output->name,
                                               .path = output->staged,
                                               .size_bytes = stat.size_bytes,
                                               .mtime_ns = stat.mtime_ns,
                                               .inode = stat.inode};
    }
    change->entering_count = partition->output_count;
done:
    return rc;
}

/* In a hidden directory below the root a new directory would show its .parquet names before the
 * swap, and the old one after: readers that look into hidden directories would see rows twice. */
static enum tn_swap swap_of(const tn_merge_partition *partition)
{
    return partition->staging_inside ? TN_SWAP_JOURNAL : partition->swap;
}

static int fill_change(tarn_cx *cx, tn_dir_commit *commit, size_t number, tn_arena *arena,
                       tn_change *change)
{
    const tn_merge_plan *plan = commit->plan;
    const tn_merge_partition *partition = &plan->partitions[number];
    tn_str name;
    int rc;

    *change = (tn_change){
        .state = TN_CHANGE_BEGUN,
        .swap = swap_of(partition),
        .run_id = plan->id,
        .made_ms = plan->made_ms,
        .keep_until_ms =
            plan->options.keep_old_ms > 0 ? tn_cx_now_ms(cx) + plan->options.keep_old_ms : 0,
        .times_now = plan->options.times_now,
        .directory = partition->directory,
        .staging = partition->staging,
        .old_inode = partition->inode,
    };
    TN_TRY(tn_arena_print(cx, arena, &name, "%.*s-%zu.json", TN_STR_ARG(plan->id), number));
    TN_TRY(tn_path_join(cx, arena, commit->work.changes, name, &change->record));
    TN_TRY(fill_leaving(cx, arena, partition, change));
    TN_TRY(fill_entering(cx, commit->store, arena, partition, change));
done:
    return rc;
}

/* The swap moves the time of the directory above; within the root it is put back. */
static int run_change(tarn_cx *cx, tn_dir_commit *commit, tn_arena *arena, tn_change *change)
{
    tn_str parent = tn_path_parent(change->directory);
    tn_attrs times;
    bool known = false;
    int rc;

    if (!change->times_now && lies_below(change->directory, commit->plan->root))
        known = tn_store_attrs_get(cx, commit->store, parent, arena, &times) == TARN_OK;
    tn_cx_forget(cx);
    TN_TRY(tn_work_sweep_new(cx, commit->store, arena, change->staging));
    TN_TRY(tn_change_run(cx, commit->store, arena, change, commit->work.undo));
    if (known && tn_store_attrs_set(cx, commit->store, parent, &times, TN_ATTRS_TIMES) != TARN_OK)
        tn_cx_forget(cx);
done:
    return rc;
}

void tn_dir_commit_recovery(tn_dir_commit *commit, tn_recovery *out)
{
    *out = commit->recovery;
    commit->recovery = (tn_recovery){0};
}

static enum tn_partition_outcome outcome_of(int status)
{
    return status == TARN_OK           ? TN_PARTITION_DONE
           : status == TARN_E_CONFLICT ? TN_PARTITION_CONFLICT
                                       : TN_PARTITION_FAILED;
}

int tn_dir_commit_partition(tarn_cx *cx, tn_dir_commit *commit, size_t partition,
                            const tn_result *results, size_t result_count, tn_arena *arena,
                            tn_partition_report *report)
{
    const tn_merge_partition *planned;
    const tn_recovery_note *waits;
    tn_partition_report told = {0};
    tn_change change = {0};
    int rc;

    assert(partition < commit->plan->partition_count);
    planned = &commit->plan->partitions[partition];
    told.files_before = planned->input_count;
    told.bytes_before = planned->bytes;
    told.files_after = planned->output_count;
    told.rows = planned->rows;
    TN_TRY(tn_cx_check(cx));
    waits = tn_recovery_open(&commit->recovery, planned->path);
    if (waits != NULL) { /* I3 */
        told.outcome = TN_PARTITION_SKIPPED;
        told.text = waits->text;
        TN_TRY(tn_arena_keep(cx, arena, &told.text));
        *report = told;
        goto done;
    }
    rc = verify(cx, commit->store, commit->plan, planned, results, result_count, &told);
    if (rc == TARN_E_CANCELLED) {
        told.outcome = TN_PARTITION_SKIPPED;
    } else {
        if (rc == TARN_OK)
            rc = fill_change(cx, commit, partition, arena, &change);
        if (rc == TARN_OK)
            rc = run_change(cx, commit, arena, &change);
        told.outcome = outcome_of(rc);
    }
    if (rc == TARN_E_NOMEM)
        goto done;
    told.newcomers = change.newcomers;
    told.text = change.note;
    if (rc != TARN_OK) {
        told.text = tn_str_of(tarn_cx_error(cx));
        TN_TRY(tn_arena_keep(cx, arena, &told.text));
        tn_cx_forget(cx);
    }
    *report = told;
    rc = TARN_OK;
done:
    return rc;
}

int tn_dir_commit_finish(tarn_cx *cx, tn_dir_commit *commit)
{
    const tn_merge_plan *plan = commit->plan;
    int rc;

    /* Under no id of its own: whatever this run left is a leftover now. */
    TN_TRY(tn_work_recover(cx, &commit->work, (tn_str){"", 0}, &commit->recovery));
    tn_work_finish(cx, &commit->work);
    if (commit->root_times_known &&
        tn_store_attrs_set(cx, commit->store, plan->root, &commit->root_times, TN_ATTRS_TIMES) !=
            TARN_OK)
        tn_cx_forget(cx);
done:
    return rc;
}

void tn_dir_commit_close(tn_dir_commit *commit)
{
    if (commit == NULL)
        return;
    tn_work_close(&commit->work);
    tn_recovery_clear(&commit->recovery);
    tn_arena_clear(&commit->arena);
    free(commit);
}
