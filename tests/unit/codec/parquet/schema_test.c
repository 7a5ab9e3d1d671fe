/* The schema tree: levels, leaves, and the shapes of LIST and MAP in all their forms. */
#include "unit/codec/parquet/synth.h"

#define ELEMENTS_MAX                     8

#define GROUP(name, rep, children, conv) synth_group(name, rep, children, conv)
#define LEAF(name, rep)                  synth_leaf(name, rep, TN_INT32)

typedef struct shape_case {
    const char *name;
    tn_element elements[ELEMENTS_MAX]; /* below the root, whose one child is the first */
    size_t count;
    enum tn_shape shape; /* of the first */
    uint32_t repeated, element, key, value;
    uint16_t max_def, max_rep; /* of the last leaf */
} shape_case;

static void build(tarn_cx *cx, tn_element *elements, size_t count, tn_arena *arena, tn_schema *out)
{
    assert_ok(cx, tn_schema_build(cx, elements, count, arena, out));
}

static void run_case(tarn_cx *cx, const shape_case *c)
{
    tn_element elements[ELEMENTS_MAX + 1];
    tn_arena arena = {0};
    tn_schema schema;
    const tn_node *node;

    elements[0] = GROUP("root", TN_REQUIRED, 1, TN_CONVERTED_NONE);
    memcpy(elements + 1, c->elements, c->count * sizeof *elements);
    build(cx, elements, c->count + 1, &arena, &schema);
    node = &schema.nodes[1];
    if (node->shape != c->shape || node->repeated != c->repeated || node->element != c->element ||
        node->key != c->key || node->value != c->value)
        fail_msg("%s: shape %d repeated %u element %u key %u value %u", c->name, node->shape,
                 node->repeated, node->element, node->key, node->value);
    assert_int_equal(schema.leaves[schema.leaf_count - 1].max_def, c->max_def);
    assert_int_equal(schema.leaves[schema.leaf_count - 1].max_rep, c->max_rep);
    tn_arena_clear(&arena);
}

static void test_schema__shapes(void **state)
{
    const enum tn_repetition req = TN_REQUIRED, opt = TN_OPTIONAL, rep = TN_REPEATED;
    const int32_t none = TN_CONVERTED_NONE;
    tarn_cx *cx = tarn_cx_open(NULL);
    const shape_case cases[] = {
        {"three levels",
         {GROUP("l", opt, 1, TN_LIST), GROUP("list", rep, 1, none), LEAF("element", opt)},
         3,
         TN_SHAPE_LIST,
         2,
         3,
         0,
         0,
         3,
         1},
        {"Hive's bag",
         {GROUP("l", opt, 1, TN_LIST), GROUP("bag", rep, 1, none), LEAF("array_element", opt)},
         3,
         TN_SHAPE_LIST,
         2,
         3,
         0,
         0,
         3,
         1},
        {"rule 1: a repeated leaf",
         {GROUP("l", opt, 1, TN_LIST), LEAF("element", rep)},
         2,
         TN_SHAPE_LIST,
         2,
         2,
         0,
         0,
         2,
         1},
        {"rule 2: a repeated group of two",
         {GROUP("l", opt, 1, TN_LIST), GROUP("element", rep, 2, none), LEAF("a", req),
          LEAF("b", req)},
         4,
         TN_SHAPE_LIST,
         2,
         2,
         0,
         0,
         2,
         1},
        {"rule 3: one field that repeats",
         {GROUP("l", opt, 1, TN_LIST), GROUP("list", rep, 1, TN_LIST), LEAF("x", rep)},
         3,
         TN_SHAPE_LIST,
         2,
         2,
         0,
         0,
         3,
         2},
        {"rule 4: array",
         {GROUP("l", opt, 1, TN_LIST), GROUP("array", rep, 1, none), LEAF("a", opt)},
         3,
         TN_SHAPE_LIST,
         2,
         2,
         0,
         0,
         3,
         1},
        {"rule 4: NAME_tuple",
         {GROUP("my", opt, 1, TN_LIST), GROUP("my_tuple", rep, 1, none), LEAF("a", opt)},
         3,
         TN_SHAPE_LIST,
         2,
         2,
         0,
         0,
         3,
         1},
        {"not rule 4: another's tuple",
         {GROUP("my", opt, 1, TN_LIST), GROUP("your_tuple", rep, 1, none), LEAF("a", opt)},
         3,
         TN_SHAPE_LIST,
         2,
         3,
         0,
         0,
         3,
         1},
        {"LIST over a field that does not repeat",
         {GROUP("l", opt, 1, TN_LIST), LEAF("a", opt)},
         2,
         TN_SHAPE_STRUCT,
         0,
         0,
         0,
         0,
         2,
         0},
        {"LIST of two fields",
         {GROUP("l", opt, 2, TN_LIST), LEAF("a", rep), LEAF("b", opt)},
         3,
         TN_SHAPE_STRUCT,
         0,
         0,
         0,
         0,
         2,
         0},
        {"bare repeated leaf", {LEAF("a", rep)}, 1, TN_SHAPE_LIST, 1, 1, 0, 0, 1, 1},
        {"bare repeated group",
         {GROUP("g", rep, 1, none), LEAF("a", opt)},
         2,
         TN_SHAPE_LIST,
         1,
         1,
         0,
         0,
         2,
         1},
        {"map",
         {GROUP("m", opt, 1, TN_MAP), GROUP("key_value", rep, 2, none), LEAF("key", req),
          LEAF("value", opt)},
         4,
         TN_SHAPE_MAP,
         2,
         0,
         3,
         4,
         3,
         1},
        {"map by MAP_KEY_VALUE outside",
         {GROUP("m", opt, 1, TN_MAP_KEY_VALUE), GROUP("map", rep, 2, none), LEAF("key", req),
          LEAF("value", opt)},
         4,
         TN_SHAPE_MAP,
         2,
         0,
         3,
         4,
         3,
         1},
        {"map with MAP_KEY_VALUE inside",
         {GROUP("m", opt, 1, TN_MAP), GROUP("map", rep, 2, TN_MAP_KEY_VALUE), LEAF("key", req),
          LEAF("value", req)},
         4,
         TN_SHAPE_MAP,
         2,
         0,
         3,
         4,
         2,
         1},
        {"map without value",
         {GROUP("m", opt, 1, TN_MAP), GROUP("key_value", rep, 1, none), LEAF("key", req)},
         3,
         TN_SHAPE_MAP,
         2,
         0,
         3,
         0,
         2,
         1},
        {"MAP of three fields",
         {GROUP("m", opt, 1, TN_MAP), GROUP("key_value", rep, 3, none), LEAF("a", req),
          LEAF("b", req), LEAF("c", req)},
         5,
         TN_SHAPE_STRUCT,
         0,
         0,
         0,
         0,
         2,
         1},
        {"MAP over what does not repeat",
         {GROUP("m", opt, 1, TN_MAP), GROUP("key_value", opt, 2, none), LEAF("a", req),
          LEAF("b", req)},
         4,
         TN_SHAPE_STRUCT,
         0,
         0,
         0,
         0,
         2,
         0},
        {"a leaf", {LEAF("a", req)}, 1, TN_SHAPE_LEAF, 0, 0, 0, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(cx, &cases[i]);
    tarn_cx_close(cx);
}

/* A repeated node inside of an ill-annotated group is bare; one that serves a list is not. */
static void test_schema__bare(void **state)
{
    tn_element bad[] = {GROUP("root", TN_REQUIRED, 2, -1),
                        GROUP("l", TN_OPTIONAL, 2, TN_LIST),
                        LEAF("a", TN_REPEATED),
                        LEAF("b", TN_OPTIONAL),
                        GROUP("k", TN_OPTIONAL, 1, TN_LIST),
                        LEAF("element", TN_REPEATED)};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_schema schema;

    (void)state;
    build(cx, bad, 6, &arena, &schema);
    assert_true(schema.nodes[2].bare);
    assert_int_equal(schema.nodes[2].shape, TN_SHAPE_LIST);
    assert_false(schema.nodes[5].bare);
    assert_int_equal(schema.nodes[5].shape, TN_SHAPE_LEAF);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_schema__refused(void **state)
{
    tn_element fixed = synth_leaf("f", TN_OPTIONAL, TN_FIXED);
    tn_element vector = synth_leaf("v", (enum tn_repetition)3, TN_INT32);
    tn_element strange = synth_leaf("x", TN_OPTIONAL, (enum tn_physical)9);
    tn_element with_children = synth_leaf("y", TN_OPTIONAL, TN_INT32);
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_schema schema;

    (void)state;
    with_children.children = 1;
    {
        struct {
            tn_element elements[4];
            size_t count;
            int status;
            const char *text;
        } cases[] = {
            {{LEAF("a", TN_REQUIRED)}, 0, TARN_E_CORRUPT, "without a root"},
            {{LEAF("a", TN_REQUIRED)}, 1, TARN_E_CORRUPT, "not a group"},
            {{GROUP("r", TN_REQUIRED, 2, -1), LEAF("a", TN_REQUIRED)},
             2,
             TARN_E_CORRUPT,
             "more children"},
            {{GROUP("r", TN_REQUIRED, 1, -1), LEAF("a", TN_REQUIRED), LEAF("b", TN_REQUIRED)},
             3,
             TARN_E_CORRUPT,
             "3 elements whose tree has 2"},
            {{GROUP("r", TN_REQUIRED, 1, -1), GROUP("g", TN_REQUIRED, 0, -1)},
             2,
             TARN_E_CORRUPT,
             "neither type nor children"},
            {{GROUP("r", TN_REQUIRED, 1, -1), fixed}, 2, TARN_E_CORRUPT, "(f): length 0"},
            {{GROUP("r", TN_REQUIRED, 1, -1), vector}, 2, TARN_E_UNSUPPORTED, "VECTOR"},
            {{GROUP("r", TN_REQUIRED, 1, -1), strange}, 2, TARN_E_CORRUPT, "physical type 9"},
            {{GROUP("r", TN_REQUIRED, 1, -1), with_children, LEAF("a", TN_REQUIRED)},
             3,
             TARN_E_CORRUPT,
             "a leaf with 1 children"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            assert_fails(cx, cases[i].status, cases[i].text,
                         tn_schema_build(cx, cases[i].elements, cases[i].count, &arena, &schema));
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_schema__depth_is_bounded(void **state)
{
    tn_element elements[TN_PARQUET_DEPTH_MAX + 2];
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_schema schema;

    (void)state;
    for (size_t i = 0; i < TN_PARQUET_DEPTH_MAX + 1; i++)
        elements[i] = GROUP("g", TN_OPTIONAL, 1, -1);
    elements[TN_PARQUET_DEPTH_MAX] = LEAF("a", TN_OPTIONAL);
    assert_ok(cx, tn_schema_build(cx, elements, TN_PARQUET_DEPTH_MAX + 1, &arena, &schema));
    assert_int_equal(schema.leaves[0].max_def, TN_PARQUET_DEPTH_MAX);
    elements[TN_PARQUET_DEPTH_MAX] = GROUP("g", TN_OPTIONAL, 1, -1);
    elements[TN_PARQUET_DEPTH_MAX + 1] = LEAF("a", TN_OPTIONAL);
    assert_fails(cx, TARN_E_LIMIT, "deeper than 64",
                 tn_schema_build(cx, elements, TN_PARQUET_DEPTH_MAX + 2, &arena, &schema));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_schema__print_and_find(void **state)
{
    tn_element elements[] = {GROUP("spark_schema", TN_REQUIRED, 3, -1), LEAF("Id", TN_REQUIRED),
                             GROUP("s", TN_OPTIONAL, 1, -1), synth_leaf("d", TN_OPTIONAL, TN_FIXED),
                             LEAF("ID", TN_OPTIONAL)};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_str path[] = {TN_STR("s"), TN_STR("d")};
    tn_arena arena = {0};
    tn_buf text = {0};
    tn_schema schema;

    (void)state;
    elements[3].type_length = 5;
    elements[3].converted = TN_DECIMAL;
    elements[3].precision = 10;
    elements[3].scale = 2;
    elements[4].has_field_id = true;
    elements[4].field_id = 7;
    build(cx, elements, 5, &arena, &schema);
    tn_schema_print(&text, &schema);
    tn_buf_u8(&text, '\0');
    assert_string_equal((char *)text.data,
                        "message spark_schema {\n"
                        "  required int32 Id;\n"
                        "  optional group s {\n"
                        "    optional fixed_len_byte_array(5) d (DECIMAL(10,2));\n"
                        "  }\n"
                        "  optional int32 ID = 7;\n"
                        "}\n");
    assert_true(tn_str_is(schema.leaves[1].dotted, "s.d"));
    assert_ptr_equal(tn_schema_leaf(&schema, path, 2), &schema.leaves[1]);
    assert_null(tn_schema_leaf(&schema, path, 1));
    assert_int_equal(tn_schema_column(&schema, TN_STR("ID"))->index, 4);
    assert_null(tn_schema_column(&schema, TN_STR("id"))); /* two candidates */
    assert_int_equal(tn_schema_column(&schema, TN_STR("S"))->index, 2);
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
