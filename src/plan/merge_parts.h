/* The steps of planning a merge, shared by plan/plan_merge.c and plan/merge_*.c alone. */
#ifndef TN_PLAN_MERGE_PARTS_H
#define TN_PLAN_MERGE_PARTS_H

#include "plan/plan_merge.h"
#include "table/unify.h"

/* Fragments of one directory that can become one schema, in name order. */
typedef struct tn_merge_group {
    const tn_dir_file **files;
    size_t file_count;
    uint64_t bytes;
    uint32_t *schemas; /* distinct, in order of appearance */
    size_t schema_count;
    const tn_dir_file **marks; /* one file for each distinct schema and calendar */
    size_t mark_count;
    bool fresh; /* some file is not from an earlier merge with such a target, or from another */
    tn_str why; /* what stood against the first group that did not take it; empty: the first */
    size_t outputs;
    struct tn_merge_share *shares; /* of the outputs; NULL: equal ones */
} tn_merge_group;

typedef struct tn_merge_planning {
    const tn_dir *dir;
    const tn_merge_options *options;
    uint64_t target, small, group_bytes;
    int64_t group_rows;
    size_t min_files;
    tn_arena *arena;
    tn_merge_plan *plan;
    size_t note_cap, task_cap, partition_cap;
    const bool *hive_merges; /* by partition; NULL: another rule */
} tn_merge_planning;

/* merge_group.c: sorts the candidates of a partition into groups. */
int tn_merge_group_files(tarn_cx *cx, const tn_merge_planning *p, const tn_dir_partition *partition,
                         tn_merge_group **groups, size_t *count);
/* merge_count.c: how many files each group becomes; 0: it stays as it is. */
int tn_merge_count_outputs(tarn_cx *cx, const tn_merge_planning *p, tn_merge_group *groups,
                           size_t count);

/* merge_hive.c: which partitions Hive would merge; then, for each, the outputs of its groups. */
int tn_merge_hive_decide(tarn_cx *cx, tn_merge_planning *p);
int tn_merge_hive_outputs(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                          tn_merge_group *groups, size_t count);

/* One run of rows of a file, with its share of the file's bytes. */
typedef struct tn_merge_piece {
    uint32_t file, group; /* index into the group's files; row group of the file */
    int64_t first_row, rows;
    uint64_t bytes;
} tn_merge_piece;

/* merge_cut.c: the rows of a group in order, cut into `count` equal shares. */
typedef struct tn_merge_share {
    tn_merge_piece *pieces;
    size_t piece_count, piece_cap;
    uint64_t bytes;
    int64_t rows;
} tn_merge_share;
int tn_merge_cut_files(tarn_cx *cx, tn_arena *arena, const tn_merge_group *group, size_t count,
                       tn_merge_share *shares);
/* The same for the row groups of one file: equal shares within both limits. */
int tn_merge_cut_groups(tarn_cx *cx, tn_arena *arena, const tn_merge_share *file,
                        uint64_t group_bytes, int64_t group_rows, tn_merge_share **shares,
                        size_t *count);

/* merge_task.c: the tasks of a group, and what they make of the partition. */
int tn_merge_add_tasks(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                       const tn_merge_group *group, tn_merge_partition *out);

/* merge_way.c: how each leaf of the group's outputs is to be made; `mapping` is each file's. */
int tn_merge_add_intents(tarn_cx *cx, tn_merge_planning *p, const tn_merge_group *group,
                         const tn_unified *unified, const uint32_t *mapping, tn_task_rewrite *task);

/* merge_sort.c: INVALID when no file has a column that is to be sorted by. */
int tn_merge_check_sort(tarn_cx *cx, const tn_dir *dir, const tn_merge_options *options);

/* plan_merge.c */
int tn_merge_note_add(tarn_cx *cx, tn_merge_planning *p, enum tn_merge_note_kind kind, tn_str path,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
