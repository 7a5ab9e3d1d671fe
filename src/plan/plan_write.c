/* A write into a plain directory: what is decided before a row is read.
 * I1: after a write that adds, every data file of the directory lies under the same columns, in the
 *     same order, as before. */
#include "plan/plan_write.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "batch/hive_hash.h"
#include "batch/key.h"
#include "batch/unify.h"

typedef struct planner {
    tarn_cx *cx;
    const tn_dir *dir;
    const tn_write_options *options;
    tn_arena *arena;
    tn_write_plan *plan;
} planner;

static bool same_folded(tn_str a, tn_str b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* The column of the rows that `name` means; *out stays as it is where the schema is not known. */
static int find_column(const planner *p, const char *option, tn_str name,
                       const struct ArrowSchema **column)
{
    const struct ArrowSchema *schema = p->options->schema;
    int64_t child;

    *column = NULL;
    if (schema == NULL)
        return TARN_OK;
    child = tn_unify_child(schema, name);
    if (child < 0)
        return tn_fail(p->cx, TARN_E_INVALID,
                       "%s: the rows have no column \"%.*s\", or several whose names differ in "
                       "case; name one of theirs",
                       option, TN_STR_ARG(name));
    *column = schema->children[child];
    return TARN_OK;
}

/* Names of columns, spelled as the schema spells them, each once. */
static int resolve(const planner *p, const char *option, const tn_str *names, size_t count,
                   int (*check)(tarn_cx *, const struct ArrowSchema *), tn_str **out)
{
    tarn_cx *cx = p->cx;
    int rc = TARN_OK;

    *out = tn_arena_array(cx, p->arena, count, sizeof **out);
    if (*out == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct ArrowSchema *column;
        tn_str *name = &(*out)[i];

        *name = names[i];
        if (name->len == 0)
            TN_FAIL(TARN_E_INVALID, "%s: the name of a column is empty", option);
        TN_TRY(find_column(p, option, *name, &column));
        if (column != NULL) {
            TN_TRY(check(cx, column));
            *name = tn_str_of(column->name);
        }
        TN_TRY(tn_arena_keep(cx, p->arena, name));
        for (size_t k = 0; k < i; k++)
            if (same_folded((*out)[k], *name))
                TN_FAIL(TARN_E_INVALID, "%s: the column \"%.*s\" is named twice", option,
                        TN_STR_ARG(*name));
    }
done:
    return rc;
}

static int check_key(tarn_cx *cx, const struct ArrowSchema *column)
{
    tn_text_type type;

    return tn_key_type_of(cx, column, &type);
}

static int resolve_columns(const planner *p)
{
    const tn_write_options *o = p->options;
    tn_write_plan *plan = p->plan;
    tarn_cx *cx = p->cx;
    int rc = TARN_OK;

    TN_TRY(resolve(p, "--partition-by", o->partition_columns, o->partition_column_count, check_key,
                   &plan->partition_columns));
    plan->partition_column_count = o->partition_column_count;
    if (plan->partition_column_count > TN_DIR_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "--partition-by: %zu columns, and directories may be %d deep",
                plan->partition_column_count, TN_DIR_DEPTH_MAX);
    for (size_t i = 0; i < plan->partition_column_count; i++)
        if (plan->partition_columns[i].ptr[0] == '.')
            TN_FAIL(
                TARN_E_INVALID,
                "--partition-by: readers pass over directories whose names begin with \".\", as "
                "those of column \"%.*s\" would; rename the column",
                TN_STR_ARG(plan->partition_columns[i]));
    if (o->schema != NULL && o->schema->n_children <= (int64_t)plan->partition_column_count)
        TN_FAIL(TARN_E_INVALID,
                "--partition-by: every column of the rows names directories, so files would have "
                "none; leave one out");
    TN_TRY(resolve(p, "--distribute-by", o->distribute_columns, o->distribute_column_count,
                   tn_hive_hash_check, &plan->distribute_columns));
    plan->distribute_column_count = o->distribute_column_count;
    plan->files_per_partition = o->files_per_partition;
    if ((o->files_per_partition != 0) != (o->distribute_column_count != 0))
        TN_FAIL(TARN_E_INVALID,
                "--files-per-partition and --distribute-by go together: the one says how many "
                "files a partition's rows are spread over, the other by which columns");
    if (o->files_per_partition > TN_WRITE_FILES_PER_PARTITION_MAX)
        TN_FAIL(TARN_E_INVALID, "--files-per-partition: %u, and at most %d are possible",
                o->files_per_partition, TN_WRITE_FILES_PER_PARTITION_MAX);
done:
    return rc;
}

/* The columns that the levels of a path below the root name. */
static int levels_of(const planner *p, tn_str path, tn_partition_value **levels, size_t *count)
{
    tarn_cx *cx = p->cx;
    size_t directories = path.len != 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < path.len; i++)
        directories += path.ptr[i] == '/';
    TN_TRY(tn_partition_parse(cx, p->arena, path, levels, count));
    if (*count != directories)
        TN_FAIL(
            TARN_E_INVALID,
            "%.*s: the directory \"%.*s\" below it holds data and is not named \"column=value\": "
            "what is added would lie in another layout; write to a new directory, or replace "
            "all with --op overwrite",
            TN_STR_ARG(p->dir->root), TN_STR_ARG(path));
done:
    return rc;
}

static int fail_layout(const planner *p, const tn_dir_partition *partition,
                       const tn_partition_value *levels, size_t count)
{
    tn_buf names = {0};
    int rc;

    for (size_t i = 0; i < count; i++) {
        tn_buf_text(&names, i != 0 ? "," : "");
        tn_buf_str(&names, levels[i].name);
    }
    if (count == 0)
        rc = tn_fail(p->cx, TARN_E_INVALID,
                     "%.*s is not partitioned, its files lie in it: rows can be added to it "
                     "without --partition-by alone; write to a new directory, or replace all with "
                     "--op overwrite",
                     TN_STR_ARG(p->dir->root));
    else
        rc = tn_fail(p->cx, TARN_E_INVALID,
                     "%.*s is partitioned by %.*s (see \"%.*s\"), and rows can be added to it by "
                     "these columns alone: give --partition-by %.*s, write to a new directory, or "
                     "replace all with --op overwrite",
                     TN_STR_ARG(p->dir->root), TN_STR_ARG(tn_buf_view(&names)),
                     TN_STR_ARG(partition->path), TN_STR_ARG(tn_buf_view(&names)));
    tn_buf_clear(&names);
    return rc;
}

static bool same_layout(const tn_partition_value *levels, size_t count, const tn_str *columns,
                        size_t column_count)
{
    for (size_t i = 0; i < count && i < column_count; i++)
        if (!same_folded(levels[i].name, columns[i]))
            return false;
    return count == column_count;
}

/* I1; and the directory's own spelling of the columns. */
static int check_layout(const planner *p)
{
    tn_write_plan *plan = p->plan;
    tarn_cx *cx = p->cx;
    bool seen = false;
    int rc = TARN_OK;

    for (size_t i = 0; p->dir != NULL && i < p->dir->partition_count; i++) {
        const tn_dir_partition *partition = &p->dir->partitions[i];
        tn_partition_value *levels;
        size_t count;

        if (partition->file_count == 0)
            continue;
        TN_TRY(levels_of(p, partition->path, &levels, &count));
        if (!same_layout(levels, count, plan->partition_columns, plan->partition_column_count))
            TN_TRY(fail_layout(p, partition, levels, count));
        for (size_t k = 0; k < count; k++) {
            if (seen && !tn_str_equal(plan->partition_columns[k], levels[k].name))
                TN_FAIL(
                    TARN_E_INVALID,
                    "%.*s spells a partition column as \"%.*s\" and as \"%.*s\" (see \"%.*s\"); "
                    "rename the directories alike first",
                    TN_STR_ARG(p->dir->root), TN_STR_ARG(plan->partition_columns[k]),
                    TN_STR_ARG(levels[k].name), TN_STR_ARG(partition->path));
            plan->partition_columns[k] = levels[k].name;
        }
        seen = true;
    }
done:
    return rc;
}

static int set_place(const planner *p, tn_str root)
{
    tn_write_plan *plan = p->plan;
    tarn_cx *cx = p->cx;
    tn_str inside;
    int rc = TARN_OK;

    if (p->dir != NULL) {
        plan->root = p->dir->root;
        plan->work = p->dir->work;
        plan->work_inside = p->dir->work_inside;
    } else {
        plan->root = root;
        plan->root_missing = true;
        TN_TRY(tn_arena_keep(cx, p->arena, &plan->root));
        TN_TRY(tn_dir_work_names(cx, p->arena, plan->root, &plan->work, &inside));
    }
    TN_TRY(tn_arena_print(cx, p->arena, &plan->staging, "%.*s/%.*s/p00000", TN_STR_ARG(plan->work),
                          TN_STR_ARG(plan->id)));
done:
    return rc;
}

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value != 0 ? value : otherwise;
}

int tn_plan_write(tarn_cx *cx, const tn_dir *dir, tn_str root, const tn_write_options *options,
                  tn_arena *arena, tn_write_plan *out)
{
    tn_write_plan plan = {0};
    planner p = {cx, dir, options, arena, &plan};
    int rc = TARN_OK;

    assert(options->id.len != 0);
    assert(dir != NULL || root.len != 0);
    assert(options->mode >= TN_WRITE_APPEND && options->mode <= TN_WRITE_OVERWRITE_PARTITIONS);
    plan.id = options->id;
    plan.created_by = options->created_by;
    TN_TRY(tn_arena_keep(cx, arena, &plan.id));
    TN_TRY(tn_arena_keep(cx, arena, &plan.created_by));
    plan.mode = options->mode;
    plan.codec = options->codec;
    plan.level = options->level;
    plan.target_bytes = or_default(options->target_bytes, TN_WRITE_TARGET_BYTES);
    plan.group_bytes = or_default(options->group_bytes, TN_WRITE_GROUP_BYTES);
    if (plan.group_bytes > plan.target_bytes)
        plan.group_bytes = plan.target_bytes;
    plan.group_rows = options->group_rows > 0 ? options->group_rows : TN_WRITE_GROUP_ROWS;
    plan.partitions_max = or_default(options->partitions_max, TN_WRITE_PARTITIONS_MAX);
    plan.files_max = or_default(options->files_max, TN_WRITE_FILES_MAX);
    TN_TRY(set_place(&p, root));
    TN_TRY(resolve_columns(&p));
    if (plan.mode != TN_WRITE_OVERWRITE)
        TN_TRY(check_layout(&p));
    *out = plan;
done:
    return rc;
}
