/* Every vector of tests/plan/vectors/hive-merge.json through the decision: Hive's own class made
 * them (README there). */
#include "base/json.h"
#include "plan/hive_rule.h"
#include "unit/test.h"

static int64_t setting(const json_t *config, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(config, key);

    return value != NULL ? json_integer_value(value) : otherwise;
}

/* The leaves of a listing, as the resolver's glob finds them. */
static void add_files(tarn_cx *cx, tn_arena *arena, const json_t *vector, size_t levels,
                      tn_hive_leaves *leaves)
{
    const char *dir = json_string_value(json_object_get(vector, "dir"));
    const json_t *file;
    size_t i, number;

    json_array_foreach(json_object_get(vector, "files"), i, file)
    {
        const char *path = json_string_value(json_object_get(file, "path"));
        tn_str leaf;

        assert_true(strncmp(path, dir, strlen(dir)) == 0);
        assert_null(json_object_get(file, "dir"));
        if (tn_hive_leaf_of(tn_str_of(path + strlen(dir) + 1), levels, &leaf))
            assert_ok(cx, tn_hive_leaf_add(
                              cx, arena, leaves, leaf, 1,
                              (uint64_t)json_integer_value(json_object_get(file, "len")), &number));
    }
}

static bool listed(const json_t *list, const char *dir, tn_str leaf)
{
    const json_t *value;
    size_t i;

    json_array_foreach(list, i, value)
    {
        char path[512];

        snprintf(path, sizeof path, "%s%s%.*s", dir, leaf.len != 0 ? "/" : "", TN_STR_ARG(leaf));
        if (strcmp(json_string_value(value), path) == 0)
            return true;
    }
    return false;
}

static void check_leaves(const char *id, const json_t *vector, const tn_hive_leaves *leaves)
{
    const json_t *expect = json_object_get(vector, "expect"),
                 *merged = json_object_get(expect, "merge_dirs"),
                 *moved = json_object_get(expect, "move_dirs"),
                 *targets = json_object_get(expect, "move_targets");
    const char *dir = json_string_value(json_object_get(vector, "dir"));
    size_t merges = 0, moves = 0;

    for (size_t i = 0; i < leaves->count; i++) {
        const tn_hive_leaf *leaf = &leaves->leaves[i];

        if (leaf->merge) {
            merges++;
            if (!listed(merged, dir, leaf->path))
                fail_msg("%s: %.*s would be merged", id, TN_STR_ARG(leaf->path));
        } else {
            moves++;
            if (moved != NULL &&
                (!listed(moved, dir, leaf->path) || !listed(targets, "/target", leaf->path)))
                fail_msg("%s: %.*s would be moved", id, TN_STR_ARG(leaf->path));
        }
    }
    assert_int_equal(merges, json_array_size(merged));
    if (moved != NULL)
        assert_int_equal(moves, json_array_size(moved));
}

static void run_vector(const json_t *vector)
{
    static const char *const actions[] = {"", "move", "merge", "merge-and-move"};
    static const char *const sizes[] = {"max_split_size", "min_split_size",
                                        "min_split_size_per_node", "min_split_size_per_rack"};
    const char *id = json_string_value(json_object_get(vector, "id"));
    const json_t *config = json_object_get(vector, "config"),
                 *expect = json_object_get(vector, "expect");
    tn_hive_rule rule = {setting(config, "avgsize", TN_HIVE_AVG_BYTES),
                         setting(config, "size_per_task", TN_HIVE_PER_TASK_BYTES)};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hive_leaves leaves = {0};
    enum tn_hive_action action;

    add_files(cx, &arena, vector,
              json_array_size(json_object_get(config, "dynamic_partition_columns")), &leaves);
    action = tn_hive_rule_decide(&rule, &leaves);
    if (strcmp(actions[action], json_string_value(json_object_get(expect, "action"))) != 0)
        fail_msg("%s: %s", id, actions[action]);
    for (size_t i = 0; action != TN_HIVE_MOVE && i < sizeof sizes / sizeof sizes[0]; i++)
        assert_int_equal(tn_hive_rule_target(&rule),
                         json_integer_value(json_object_get(expect, sizes[i])));
    check_leaves(id, vector, &leaves);
    tn_hive_leaves_clear(&leaves);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hive_rule__every_vector(void **state)
{
    json_error_t error;
    json_t *root = json_load_file(TARN_SOURCE_DIR "/tests/plan/vectors/hive-merge.json", 0, &error);
    const json_t *vector;
    size_t i;

    (void)state;
    assert_non_null(root);
    assert_int_equal(json_array_size(json_object_get(root, "vectors")), 30);
    json_array_foreach(json_object_get(root, "vectors"), i, vector) run_vector(vector);
    json_decref(root);
}

static void test_hive_rule__what_cannot_be_listed_is_not_merged(void **state)
{
    tn_hive_rule rule = {TN_HIVE_AVG_BYTES, TN_HIVE_PER_TASK_BYTES};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hive_leaves leaves = {0};
    size_t number;

    (void)state;
    assert_ok(cx, tn_hive_leaf_add(cx, &arena, &leaves, TN_STR("dt=1"), 2, 20, &number));
    assert_int_equal(tn_hive_rule_decide(&rule, &leaves), TN_HIVE_MERGE);
    leaves.leaves[number].unlisted = true;
    assert_int_equal(tn_hive_rule_decide(&rule, &leaves), TN_HIVE_MOVE);
    tn_hive_leaves_clear(&leaves);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
