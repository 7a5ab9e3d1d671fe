/* Sort keys against the columns there are, before anything is rewritten. */
#include "plan/merge_parts.h"

/* The columns of the node at *at, which it is moved behind: is `rest` the dotted path of a leaf? */
static bool holds(const tn_dir_schema *schema, size_t *at, tn_str rest, int depth)
{
    const tn_element *node = &schema->elements[*at];
    bool found = false;

    (*at)++;
    for (int32_t i = 0; i < node->children && *at < schema->element_count; i++) {
        const tn_element *child = &schema->elements[*at];
        bool begins = tn_str_starts(rest, child->name);
        bool whole = begins && rest.len == child->name.len && !child->group;
        bool within = begins && rest.len > child->name.len && rest.ptr[child->name.len] == '.';
        tn_str below =
            within ? (tn_str){rest.ptr + child->name.len + 1, rest.len - child->name.len - 1}
                   : (tn_str){NULL, 0};

        if (depth >= TN_PARQUET_DEPTH_MAX)
            return false;
        found = holds(schema, at, below, depth + 1) || whole || found;
    }
    return found;
}

static bool partitioned_by(const tn_dir *dir, tn_str column)
{
    for (size_t i = 0; i < dir->partition_count; i++) {
        tn_str path = dir->partitions[i].path;

        for (size_t at = 0; at + column.len < path.len; at++)
            if ((at == 0 || path.ptr[at - 1] == '/') && path.ptr[at + column.len] == '=' &&
                tn_str_equal((tn_str){path.ptr + at, column.len}, column))
                return true;
    }
    return false;
}

int tn_merge_check_sort(tarn_cx *cx, const tn_dir *dir, const tn_merge_options *options)
{
    for (size_t k = 0; k < options->sort_count; k++) {
        tn_str column = options->sort[k].column;
        bool found = dir->schema_count == 0;

        for (size_t s = 0; s < dir->schema_count && !found; s++) {
            size_t at = 0;

            found = dir->schemas[s].element_count != 0 && holds(&dir->schemas[s], &at, column, 0);
        }
        if (!found)
            return tn_fail(cx, TARN_E_INVALID, "no file has a column \"%.*s\" to sort by; %s",
                           TN_STR_ARG(column),
                           partitioned_by(dir, column)
                               ? "it is in the paths, and the same for all rows of a directory: "
                                 "leave it out"
                               : "see tarn show for the columns");
    }
    return TARN_OK;
}
