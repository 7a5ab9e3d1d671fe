/* When Hive merges small outputs, and how large it makes them: its ConditionalResolverMergeFiles as
 * a function of a listing. */
#ifndef TN_PLAN_HIVE_RULE_H
#define TN_PLAN_HIVE_RULE_H

#include "base/arena.h"
#include "base/map.h"

typedef struct tn_hive_rule {
    int64_t avg_bytes;      /* hive.merge.smallfiles.avgsize */
    int64_t per_task_bytes; /* hive.merge.size.per.task */
} tn_hive_rule;

#define TN_HIVE_AVG_BYTES      16000000
#define TN_HIVE_PER_TASK_BYTES 256000000

/* A directory that is decided about as a whole: a partition, or all of an unpartitioned table. */
typedef struct tn_hive_leaf {
    tn_str path; /* below the directory of the table; borrowed */
    uint64_t files, bytes;
    bool unlisted; /* not all of it could be listed: it is not merged */
    bool merge;
} tn_hive_leaf;

typedef struct tn_hive_leaves {
    tn_hive_leaf *leaves; /* as they were added */
    size_t count, cap;
    tn_map index;
} tn_hive_leaves;

void tn_hive_leaves_clear(tn_hive_leaves *leaves);
/* Which leaf a file belongs to, given its path below the table and how many levels are partitions;
 * false when it is not that deep, or a level is hidden. With no levels all is one leaf, "". */
bool tn_hive_leaf_of(tn_str file, size_t levels, tn_str *leaf);
/* Counts files of a leaf, which is added when it is new; its array lives in `arena`. */
int tn_hive_leaf_add(tarn_cx *cx, tn_arena *arena, tn_hive_leaves *leaves, tn_str path,
                     uint64_t files, uint64_t bytes, size_t *number);

enum tn_hive_action {
    TN_HIVE_MOVE = 1, /* nothing is merged */
    TN_HIVE_MERGE,    /* all of it */
    TN_HIVE_MERGE_AND_MOVE
};

bool tn_hive_rule_needs(const tn_hive_rule *rule, uint64_t files, uint64_t bytes);
/* Maximum and all minima of the splits of a merge: a split is a file. */
int64_t tn_hive_rule_target(const tn_hive_rule *rule);
/* Sets `merge` of every leaf. */
enum tn_hive_action tn_hive_rule_decide(const tn_hive_rule *rule, tn_hive_leaves *leaves);

#endif
