/* The words of plans and tasks that say where something is written or removed.
 * I1: nothing is written outside the work directories of a root, and nothing enters or leaves but
 *     the partitions below it. Links in a path are the file system's matter, not that of words. */
#include "task/place.h"

static const tn_str work_end = {".tarn", 5}, staged_end = {".new", 4}, data_end = {".parquet", 8};

/* Takes the last component off; empty when there is none. */
static tn_str cut_name(tn_str *path)
{
    size_t at = path->len;
    tn_str name;

    while (at > 0 && path->ptr[at - 1] != '/')
        at--;
    name = (tn_str){path->ptr + at, path->len - at};
    path->len = at > 0 ? at - 1 : 0;
    return name;
}

/* One component that is a name of its own. */
static bool is_name(tn_str name)
{
    return name.len != 0 && tn_str_find(name, '/') == name.len && !tn_str_is(name, ".") &&
           !tn_str_is(name, "..") && memchr(name.ptr, '\0', name.len) == NULL;
}

static bool is_id(tn_str id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!((id.ptr[i] >= '0' && id.ptr[i] <= '9') || (id.ptr[i] >= 'a' && id.ptr[i] <= 'z')))
            return false;
    return id.len != 0;
}

static bool is_work_name(tn_str name)
{
    return name.len >= work_end.len && name.ptr[0] == '.' && tn_str_ends(name, work_end);
}

/* Every component a name, below "/". */
static bool is_path(tn_str path)
{
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    while (path.len != 0)
        if (!is_name(cut_name(&path)))
            return false;
    return true;
}

int tn_task_place_check(tarn_cx *cx, const tn_task *task)
{
    tn_str rest = task->rewrite.output;
    tn_str name = cut_name(&rest), partition = cut_name(&rest), id = cut_name(&rest),
           work = cut_name(&rest);

    if (is_path(task->rewrite.output) && is_id(id) && tn_str_equal(id, task->plan_id) &&
        tn_str_ends(name, staged_end) && is_name(partition) && is_work_name(work))
        return TARN_OK;
    return tn_fail(
        cx, TARN_E_CORRUPT,
        "task %u: \"output\" %.*s is not in the staging of plan %.*s; make the plan anew",
        task->number, TN_STR_ARG(task->rewrite.output), TN_STR_ARG(task->plan_id));
}

static bool lies_at(tn_str path, tn_str parent, tn_str below)
{
    if (below.len == 0)
        return tn_str_equal(path, parent);
    if (tn_str_is(parent, "/"))
        parent.len = 0;
    return path.len == parent.len + 1 + below.len && tn_str_starts(path, parent) &&
           path.ptr[parent.len] == '/' && tn_str_ends(path, below);
}

/* ROOT/.tarn, or .NAME.tarn beside ROOT. */
static bool work_fits(const tn_merge_plan *plan)
{
    tn_str above = plan->work, beside = plan->root;
    tn_str name = cut_name(&above);

    cut_name(&beside);
    return is_path(plan->work) && is_work_name(name) &&
           (tn_str_equal(above, beside) || lies_at(plan->work, plan->root, work_end));
}

static bool staging_fits(const tn_merge_plan *plan, const tn_merge_partition *partition)
{
    tn_str rest = partition->staging;
    tn_str name = cut_name(&rest), id = cut_name(&rest);

    return is_name(name) && tn_str_equal(id, plan->id) &&
           (tn_str_equal(rest, plan->work) || lies_at(rest, partition->directory, work_end));
}

static int refuse(tarn_cx *cx, const tn_merge_partition *partition, const char *what, tn_str which)
{
    return tn_fail(cx, TARN_E_CORRUPT,
                   "plan: partition \"%.*s\": %s %.*s is not where a plan puts it; make it anew",
                   TN_STR_ARG(partition->path), what, TN_STR_ARG(which));
}

static int check_names(tarn_cx *cx, const tn_merge_partition *partition)
{
    for (size_t i = 0; i < partition->input_count; i++)
        if (!is_name(partition->inputs[i].path))
            return refuse(cx, partition, "the input", partition->inputs[i].path);
    for (size_t i = 0; i < partition->stale_count; i++)
        if (!is_name(partition->stale[i]))
            return refuse(cx, partition, "the side file", partition->stale[i]);
    for (size_t i = 0; i < partition->output_count; i++) {
        const tn_merge_output *output = &partition->outputs[i];
        tn_str above = output->staged;
        tn_str staged = cut_name(&above);

        if (!is_name(output->name) || output->name.ptr[0] == '.' || output->name.ptr[0] == '_' ||
            !tn_str_ends(output->name, data_end))
            return refuse(cx, partition, "the new file", output->name);
        if (!is_name(staged) || !tn_str_ends(staged, staged_end) ||
            !tn_str_equal(above, partition->staging))
            return refuse(cx, partition, "the staged file", output->staged);
    }
    return TARN_OK;
}

int tn_merge_place_check(tarn_cx *cx, const tn_merge_plan *plan)
{
    int rc = TARN_OK;

    if (!is_id(plan->id))
        TN_FAIL(TARN_E_CORRUPT, "plan: \"id\" is \"%.*s\"", TN_STR_ARG(plan->id));
    if (!tn_str_is(plan->root, "/") && !is_path(plan->root))
        TN_FAIL(TARN_E_CORRUPT, "plan: \"root\" is \"%.*s\"", TN_STR_ARG(plan->root));
    if (!work_fits(plan))
        TN_FAIL(TARN_E_CORRUPT, "plan: \"work\" %.*s is no work directory of %.*s; make it anew",
                TN_STR_ARG(plan->work), TN_STR_ARG(plan->root));
    for (size_t i = 0; i < plan->partition_count; i++) {
        const tn_merge_partition *partition = &plan->partitions[i];

        if (!lies_at(partition->directory, plan->root, partition->path) ||
            (!tn_str_is(partition->directory, "/") && !is_path(partition->directory)))
            TN_TRY(refuse(cx, partition, "its directory", partition->directory));
        if (!staging_fits(plan, partition))
            TN_TRY(refuse(cx, partition, "its staging", partition->staging));
        TN_TRY(check_names(cx, partition));
    }
done:
    return rc;
}
