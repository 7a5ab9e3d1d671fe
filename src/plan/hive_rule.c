/* Hive's decision to merge.
 * I1: everything in a leaf counts as a file, hidden names and markers, too.
 * I2: a leaf is merged when it has bytes, more than one file, and an average, cut to whole bytes,
 *     below the limit. A limit of 0 or less is never passed. */
#include "plan/hive_rule.h"

void tn_hive_leaves_clear(tn_hive_leaves *leaves)
{
    tn_map_clear(&leaves->index);
    *leaves = (tn_hive_leaves){0};
}

bool tn_hive_leaf_of(tn_str file, size_t levels, tn_str *leaf)
{
    size_t end = 0;

    for (size_t i = 0; i < levels; i++) {
        tn_str rest = tn_str_from(file, end + (i != 0));
        size_t len = tn_str_find(rest, '/');

        if (len == 0 || len == rest.len || rest.ptr[0] == '_' || rest.ptr[0] == '.')
            return false;
        end += len + (i != 0);
    }
    *leaf = (tn_str){file.ptr, end};
    return true;
}

int tn_hive_leaf_add(tarn_cx *cx, tn_arena *arena, tn_hive_leaves *leaves, tn_str path,
                     uint64_t files, uint64_t bytes, size_t *number)
{
    size_t *place;
    bool added;
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, arena, &leaves->leaves, leaves->count, &leaves->cap,
                         sizeof *leaves->leaves));
    place = tn_map_add(cx, &leaves->index, path, &added);
    if (place == NULL)
        return TARN_E_NOMEM;
    if (added) {
        leaves->leaves[leaves->count] = (tn_hive_leaf){.path = path};
        *place = leaves->count++;
    }
    *number = *place;
    leaves->leaves[*place].files += files;
    leaves->leaves[*place].bytes += bytes;
done:
    return rc;
}

bool tn_hive_rule_needs(const tn_hive_rule *rule, uint64_t files, uint64_t bytes)
{
    return bytes != 0 && files > 1 && rule->avg_bytes > 0 &&
           bytes / files < (uint64_t)rule->avg_bytes;
}

int64_t tn_hive_rule_target(const tn_hive_rule *rule)
{
    return rule->per_task_bytes > rule->avg_bytes ? rule->per_task_bytes : rule->avg_bytes;
}

enum tn_hive_action tn_hive_rule_decide(const tn_hive_rule *rule, tn_hive_leaves *leaves)
{
    size_t merged = 0;

    for (size_t i = 0; i < leaves->count; i++) {
        tn_hive_leaf *leaf = &leaves->leaves[i];

        leaf->merge = !leaf->unlisted && tn_hive_rule_needs(rule, leaf->files, leaf->bytes);
        merged += leaf->merge;
    }
    return merged == 0               ? TN_HIVE_MOVE
           : merged == leaves->count ? TN_HIVE_MERGE
                                     : TN_HIVE_MERGE_AND_MOVE;
}
