/* Levels written by hand, assembled into arrays and shredded again: the Dremel paper's example, and
 * every way in which lists and structs can be null, empty or hold nulls. */
#include "unit/codec/parquet/arrow_fixture.h"

#include "codec/parquet/assemble.h"
#include "codec/parquet/shred.h"

#define LEAVES_MAX  6
#define ENTRIES_MAX 32

/* Entries of a leaf: "rep,def" or "rep,def=value", separated by spaces. */
typedef struct hand_leaf {
    uint16_t def[ENTRIES_MAX], rep[ENTRIES_MAX];
    int64_t ints[ENTRIES_MAX];
    int32_t shorts[ENTRIES_MAX];
    tn_view views[ENTRIES_MAX];
    tn_leaf_batch batch;
} hand_leaf;

typedef struct hand_case {
    const char *name;
    const tn_element *elements;
    size_t element_count;
    const char *levels[LEAVES_MAX];
    const char *want;  /* rows, a line each */
    bool other_levels; /* what tarn writes has other levels (two-level lists become three-level) */
} hand_case;

static void parse_levels(const tn_leaf *leaf, const char *text, hand_leaf *out)
{
    int64_t entries = 0, values = 0, rows = 0;
    bool all = true;

    while (*text != '\0') {
        int rep, def, used, len = 0;

        assert_int_equal(sscanf(text, "%d,%d%n", &rep, &def, &used), 2);
        text += used;
        out->rep[entries] = (uint16_t)rep;
        out->def[entries++] = (uint16_t)def;
        rows += rep == 0;
        all = all && def == leaf->max_def;
        if (*text == '=') {
            len = (int)strcspn(++text, " ");
            out->ints[values] = strtoll(text, NULL, 10);
            out->shorts[values] = (int32_t)out->ints[values];
            out->views[values++] = (tn_view){(const uint8_t *)text, (uint32_t)len};
        }
        text += len;
        text += *text == ' ';
    }
    out->batch = (tn_leaf_batch){.rows = rows,
                                 .entries = entries,
                                 .def = leaf->max_def != 0 ? out->def : NULL,
                                 .rep = leaf->max_rep != 0 ? out->rep : NULL,
                                 .all_present = all,
                                 .values = {leaf->physical == TN_INT64   ? (void *)out->ints
                                            : leaf->physical == TN_INT32 ? (void *)out->shorts
                                                                         : (void *)out->views,
                                            values}};
}

/* Appends the first `rows` rows, or what follows them. */
static void append_rows(tarn_cx *cx, tn_assembly *a, const tn_leaf_batch *batch, int64_t from,
                        int64_t to)
{
    tn_slice slice = {.batch = batch, .rows = to - from, .position = from};
    int64_t row = -1;

    for (int64_t i = 0; i < batch->entries; i++) {
        bool present = batch->def == NULL || batch->def[i] == a->leaf->max_def;

        row += batch->rep == NULL || batch->rep[i] == 0;
        slice.entry += row < from;
        slice.value += row < from && present;
        slice.entries += row >= from && row < to;
        slice.values += row >= from && row < to && present;
    }
    assert_ok(cx, tn_assembly_append(cx, a, &slice));
}

typedef struct hand {
    tarn_cx *cx;
    tn_arena arena;
    tn_parquet file;
    tn_arrow_field root;
    tn_column columns[LEAVES_MAX];
    tn_assembly leaves[LEAVES_MAX];
    hand_leaf levels[LEAVES_MAX];
    int64_t rows;
} hand;

static void open_case(hand *h, const hand_case *c)
{
    tn_element elements[24];
    tn_arrow_field_options options = {0};
    tn_element *kept;

    memcpy(elements, c->elements, c->element_count * sizeof elements[0]);
    kept = tn_arena_array(h->cx, &h->arena, c->element_count, sizeof *kept);
    memcpy(kept, elements, c->element_count * sizeof *kept);
    for (size_t i = 0; i < c->element_count; i++)
        kept[i].group = kept[i].children != 0;
    assert_ok(h->cx, tn_schema_build(h->cx, kept, c->element_count, &h->arena, &h->file.schema));
    assert_ok(h->cx, tn_arrow_field_build(h->cx, &h->file, &options, &h->arena, &h->root));
    for (size_t i = 0; i < h->root.child_count; i++) {
        const tn_node *node = h->root.children[i].node;

        assert_ok(h->cx, tn_column_build(h->cx, &h->root.children[i], &h->arena, &h->columns[i]));
        for (uint32_t j = node->first_leaf; j < node->first_leaf + node->leaf_count; j++) {
            const tn_leaf *leaf = &h->file.schema.leaves[j];

            assert_ok(h->cx, tn_assembly_init(h->cx, &h->file, leaf, &h->columns[i], &h->arena,
                                              &h->leaves[j]));
            parse_levels(leaf, c->levels[j], &h->levels[j]);
            h->rows = h->levels[j].batch.rows;
        }
    }
}

static void close_case(hand *h)
{
    for (size_t i = 0; i < h->root.child_count; i++)
        tn_column_clear(&h->columns[i]);
    for (size_t i = 0; i < LEAVES_MAX; i++)
        tn_assembly_clear(&h->leaves[i]);
    tn_arena_clear(&h->arena);
}

static void take_rows(hand *h, int64_t rows, tn_buf *text, const struct ArrowSchema *schema,
                      struct ArrowArray *out)
{
    struct ArrowArray array = {0};

    assert_ok(h->cx, tn_array_init(h->cx, &array, rows, 1, h->root.child_count));
    for (size_t i = 0; i < h->root.child_count; i++)
        assert_ok(h->cx, tn_column_take(h->cx, &h->columns[i], rows, rows, array.children[i]));
    assert_ok(h->cx, tn_array_check(h->cx, schema, &array));
    fixture_lines(h->cx, text, schema, &array);
    tn_array_move(&array, out);
}

/* What the leaves were given comes out of the shredder again. */
static void shred_back(hand *h, const hand_case *c, const struct ArrowSchema *schema,
                       const struct ArrowArray *array)
{
    tn_schema parquet;
    tn_shred_path *paths;
    tn_shredder shredder = {0};

    assert_ok(h->cx, tn_shred_plan(h->cx, schema, &h->arena, &parquet, &paths));
    for (size_t i = 0; i < parquet.leaf_count; i++) {
        const tn_leaf_batch *want = &h->levels[i].batch;
        const tn_leaf *leaf = &parquet.leaves[i];
        tn_leaf_batch got;

        assert_ok(h->cx,
                  tn_shred_leaf(h->cx, &shredder, leaf, &paths[i], array, 0, h->rows, 0, &got));
        assert_int_equal(got.rows, want->rows);
        assert_int_equal(got.entries, want->entries);
        assert_int_equal(got.values.count, want->values.count);
        for (int64_t e = 0; e < got.entries; e++) {
            unsigned def = got.def != NULL ? got.def[e] : leaf->max_def;
            unsigned rep = got.rep != NULL ? got.rep[e] : 0;

            if (def != h->levels[i].def[e] || rep != h->levels[i].rep[e])
                fail_msg("%s: leaf %zu, entry %d: %u,%u, want %u,%u", c->name, i, (int)e, rep, def,
                         h->levels[i].rep[e], h->levels[i].def[e]);
        }
    }
    tn_shredder_clear(&shredder);
}

static void expect_text(const hand_case *c, const tn_buf *text)
{
    if (text->len != strlen(c->want) || memcmp(text->data, c->want, text->len) != 0)
        fail_msg("%s:\n%.*swant\n%s", c->name, (int)text->len, (const char *)text->data, c->want);
}

/* Whole, and cut at every row both when appending and when taking. */
static void run_case(tarn_cx *cx, const hand_case *c)
{
    for (int64_t cut = 0;; cut++) {
        hand h = {.cx = cx};
        struct ArrowSchema schema = {0};
        struct ArrowArray first = {0}, rest = {0};
        tn_buf text = {0};
        bool last;

        open_case(&h, c);
        last = cut == h.rows;
        assert_ok(cx, tn_arrow_field_export(cx, &h.root, &schema));
        for (size_t i = 0; i < h.file.schema.leaf_count; i++) {
            append_rows(cx, &h.leaves[i], &h.levels[i].batch, 0, cut);
            append_rows(cx, &h.leaves[i], &h.levels[i].batch, cut, h.rows);
        }
        take_rows(&h, cut, &text, &schema, &first);
        take_rows(&h, h.rows - cut, &text, &schema, &rest);
        expect_text(c, &text);
        if (last && !c->other_levels)
            shred_back(&h, c, &schema, &first);
        tn_array_release(&first);
        tn_array_release(&rest);
        tn_field_release(&schema);
        tn_buf_clear(&text);
        close_case(&h);
        if (last)
            break;
    }
}

#define GROUP(n, r, c, conv)                                                                       \
    {                                                                                              \
        .name = {n, sizeof n - 1}, .repetition = r, .children = c, .converted = conv               \
    }
#define LEAF(n, r, p, conv)                                                                        \
    {                                                                                              \
        .name = {n, sizeof n - 1}, .repetition = r, .physical = p, .converted = conv               \
    }
#define NONE TN_CONVERTED_NONE

static const tn_element dremel[] = {
    GROUP("Document", TN_REQUIRED, 3, NONE),
    LEAF("DocId", TN_REQUIRED, TN_INT64, NONE),
    GROUP("Links", TN_OPTIONAL, 2, NONE),
    LEAF("Backward", TN_REPEATED, TN_INT64, NONE),
    LEAF("Forward", TN_REPEATED, TN_INT64, NONE),
    GROUP("Name", TN_REPEATED, 2, NONE),
    GROUP("Language", TN_REPEATED, 2, NONE),
    LEAF("Code", TN_REQUIRED, TN_BYTE_ARRAY, TN_UTF8),
    LEAF("Country", TN_OPTIONAL, TN_BYTE_ARRAY, TN_UTF8),
    LEAF("Url", TN_OPTIONAL, TN_BYTE_ARRAY, TN_UTF8),
};

static const tn_element list3[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),
    GROUP("a", TN_OPTIONAL, 1, TN_LIST),
    GROUP("list", TN_REPEATED, 1, NONE),
    LEAF("element", TN_OPTIONAL, TN_INT32, NONE),
};

static const tn_element list2[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),
    GROUP("a", TN_OPTIONAL, 1, TN_LIST),
    LEAF("array", TN_REPEATED, TN_INT32, NONE),
};

static const tn_element list_of_lists[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),    GROUP("a", TN_OPTIONAL, 1, TN_LIST),
    GROUP("list", TN_REPEATED, 1, NONE), GROUP("element", TN_OPTIONAL, 1, TN_LIST),
    GROUP("list", TN_REPEATED, 1, NONE), LEAF("element", TN_OPTIONAL, TN_INT32, NONE),
};

static const tn_element struct_in_struct[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),       GROUP("a", TN_OPTIONAL, 2, NONE),
    LEAF("x", TN_REQUIRED, TN_INT32, NONE), GROUP("b", TN_OPTIONAL, 1, NONE),
    LEAF("y", TN_OPTIONAL, TN_INT32, NONE),
};

static const tn_element map[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),           GROUP("a", TN_OPTIONAL, 1, TN_MAP),
    GROUP("key_value", TN_REPEATED, 2, NONE),   LEAF("key", TN_REQUIRED, TN_INT32, NONE),
    LEAF("value", TN_OPTIONAL, TN_INT32, NONE),
};

static const tn_element keys[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),
    GROUP("a", TN_OPTIONAL, 1, TN_MAP),
    GROUP("key_value", TN_REPEATED, 1, NONE),
    LEAF("key", TN_REQUIRED, TN_INT32, NONE),
};

static const tn_element list_in_struct[] = {
    GROUP("m", TN_REQUIRED, 1, NONE),
    GROUP("s", TN_OPTIONAL, 2, NONE),
    GROUP("l", TN_OPTIONAL, 1, TN_LIST),
    GROUP("list", TN_REPEATED, 1, NONE),
    LEAF("element", TN_REQUIRED, TN_INT32, NONE),
    LEAF("x", TN_OPTIONAL, TN_INT32, NONE),
};

#define CASE(n, e) .name = n, .elements = e, .element_count = sizeof e / sizeof e[0]

static const hand_case cases[] = {
    {CASE("dremel", dremel),
     .levels = {"0,0=10 0,0=20", "0,1 0,2=10 1,2=30", "0,2=20 1,2=40 1,2=60 0,2=80",
                "0,2=en 2,2=de 1,1 1,2=gb 0,1", "0,3=us 2,2 1,1 1,3=uk 0,1",
                "0,2=A 1,2=B 1,1 0,2=C"},
     .want = "{x0a00000000000000,{[],[x1400000000000000,x2800000000000000,x3c00000000000000]},"
             "[{[{x656e,x7573},{x6465,null}],x41},{[],x42},{[{x6762,x756b}],null}]}\n"
             "{x1400000000000000,{[x0a00000000000000,x1e00000000000000],[x5000000000000000]},"
             "[{[],x43}]}\n"},
    {CASE("list", list3), .levels = {"0,0 0,1 0,2 0,3=1 0,3=2 1,2 1,3=3 0,2 1,2 0,0"},
     .want = "{null}\n{[]}\n{[null]}\n{[x01000000]}\n{[x02000000,null,x03000000]}\n{[null,null]}\n"
             "{null}\n"},
    {CASE("two-level list", list2), .levels = {"0,0 0,1 0,2=1 1,2=2 0,2=3"},
     .want = "{null}\n{[]}\n{[x01000000,x02000000]}\n{[x03000000]}\n", .other_levels = false},
    {CASE("list of lists", list_of_lists),
     .levels = {"0,0 0,1 0,2 0,3 0,4 0,5=1 2,5=2 1,2 1,3 1,5=3 2,4"},
     .want = "{null}\n{[]}\n{[null]}\n{[[]]}\n{[[null]]}\n"
             "{[[x01000000,x02000000],null,[],[x03000000,null]]}\n"},
    {CASE("struct in struct", struct_in_struct),
     .levels = {"0,0 0,1=1 0,1=2 0,1=3", "0,0 0,1 0,2 0,3=9"},
     .want = "{null}\n{{x01000000,null}}\n{{x02000000,{null}}}\n{{x03000000,{x09000000}}}\n"},
    {CASE("map", map), .levels = {"0,0 0,1 0,2=1 1,2=2 0,2=3", "0,0 0,1 0,3=7 1,2 0,3=8"},
     .want =
         "{null}\n{[]}\n{[{x01000000,x07000000},{x02000000,null}]}\n{[{x03000000,x08000000}]}\n"},
    {CASE("map without values", keys), .levels = {"0,0 0,1 0,2=1 1,2=2"},
     .want = "{null}\n{[]}\n{[x01000000,x02000000]}\n"},
    {CASE("list in struct", list_in_struct),
     .levels = {"0,0 0,1 0,2 0,3=1 1,3=2 0,1", "0,0 0,1 0,2=5 0,1 0,2=6"},
     .want = "{null}\n{{null,null}}\n{{[],x05000000}}\n{{[x01000000,x02000000],null}}\n"
             "{{null,x06000000}}\n"},
};

static void test_assemble__levels_by_hand(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_case(cx, &cases[i]);
    tarn_cx_close(cx);
}

static void test_assemble__leaves_that_disagree_are_corrupt(void **state)
{
    static const char *const values[] = {"0,0 0,1 0,3=7 0,3=8", "0,0 0,1 0,3=7 1,2 1,2 0,3=8"};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        hand_case c = {CASE("map", map), .levels = {"0,0 0,1 0,2=1 1,2=2 0,2=3", values[i]}};
        struct ArrowArray array = {0};
        hand h = {.cx = cx};

        open_case(&h, &c);
        for (size_t j = 0; j < 2; j++)
            append_rows(cx, &h.leaves[j], &h.levels[j].batch, 0, h.rows);
        assert_fails(cx, TARN_E_CORRUPT, "disagree",
                     tn_column_take(cx, &h.columns[0], h.rows, h.rows, &array));
        assert_null(array.release);
        close_case(&h);
    }
    tarn_cx_close(cx);
}

/* One required or optional leaf of so many values. */
static int append_one(tarn_cx *cx, const tn_element *leaf, bool micros, const void *values,
                      int64_t count, tn_buf *text)
{
    tn_element elements[] = {GROUP("m", TN_REQUIRED, 1, NONE), *leaf};
    tn_arrow_field_options options = {.int96_micros = micros};
    tn_parquet file = {.path = TN_STR("f.parquet")};
    tn_leaf_batch batch = {.rows = count, .entries = count, .values = {values, count}};
    tn_slice slice = {
        .batch = &batch, .entries = count, .values = count, .rows = count, .position = 100};
    struct ArrowSchema schema = {0};
    struct ArrowArray array = {0};
    tn_arena arena = {0};
    tn_arrow_field root;
    tn_column column = {0};
    tn_assembly a = {0};
    int rc;

    elements[0].group = true;
    assert_ok(cx, tn_schema_build(cx, elements, 2, &arena, &file.schema));
    assert_ok(cx, tn_arrow_field_build(cx, &file, &options, &arena, &root));
    assert_ok(cx, tn_column_build(cx, &root.children[0], &arena, &column));
    assert_ok(cx, tn_assembly_init(cx, &file, &file.schema.leaves[0], &column, &arena, &a));
    rc = tn_assembly_append(cx, &a, &slice);
    if (rc == TARN_OK) {
        assert_ok(cx, tn_column_take(cx, &column, count, count, &array));
        assert_ok(cx, tn_arrow_field_export(cx, &root.children[0], &schema));
        tn_buf_print(text, "%s ", schema.format);
        for (int64_t i = 0; i < count; i++) {
            fixture_print(cx, text, &schema, &array, i);
            tn_buf_text(text, " ");
        }
    }
    tn_array_release(&array);
    tn_field_release(&schema);
    tn_column_clear(&column);
    tn_assembly_clear(&a);
    tn_arena_clear(&arena);
    return rc;
}

static void expect_one(tarn_cx *cx, tn_element leaf, bool micros, const void *values, int64_t count,
                       const char *want)
{
    tn_buf text = {0};

    assert_ok(cx, append_one(cx, &leaf, micros, values, count, &text));
    tn_buf_u8(&text, 0);
    assert_string_equal((const char *)text.data, want);
    tn_buf_clear(&text);
}

static void test_assemble__int96_in_both_writers_forms(void **state)
{
    /* 1969-12-31T23:59:59.999999 as writers should say it, and as some did: a negative time of day.
     */
    static const tn_int96 times[] = {{{0x914EFC18u, 0x00004E94u, 2440587}},
                                     {{0xFFFFFC18u, 0xFFFFFFFFu, 2440588}}};
    static const tn_int96 far[] = {{{0, 0, 2440588}}, {{0, 0, 5373484}}}; /* 9999-12-31 */
    static const tn_element leaf = LEAF("t", TN_REQUIRED, TN_INT96, NONE);
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_buf text = {0};

    (void)state;
    expect_one(cx, leaf, false, times, 2, "tsn: x18fcffffffffffff x18fcffffffffffff ");
    expect_one(cx, leaf, true, times, 2, "tsu: xffffffffffffffff xffffffffffffffff ");
    assert_fails(cx, TARN_E_DATA, "f.parquet: column \"t\": the value in row 101",
                 append_one(cx, &leaf, false, far, 2, &text));
    expect_one(cx, leaf, true, far, 2, "tsu: x0000000000000000 x00009caef8438403 ");
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

static void test_assemble__integers_of_each_width(void **state)
{
    static const int32_t small[] = {200}, minus[] = {-5}, big[] = {256}, wide[] = {-1294967296};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_element bad = LEAF("n", TN_REQUIRED, TN_INT32, TN_UINT_8);
    tn_buf text = {0};

    (void)state;
    expect_one(cx, bad, false, small, 1, "C xc8 ");
    expect_one(cx, (tn_element)LEAF("n", TN_REQUIRED, TN_INT32, TN_INT_8), false, minus, 1,
               "c xfb ");
    expect_one(cx, (tn_element)LEAF("n", TN_REQUIRED, TN_INT32, TN_UINT_16), false, big, 1,
               "S x0001 ");
    expect_one(cx, (tn_element)LEAF("n", TN_REQUIRED, TN_INT32, TN_UINT_32), false, wide, 1,
               "I x005ed0b2 ");
    assert_fails(cx, TARN_E_DATA, "row 100", append_one(cx, &bad, false, big, 1, &text));
    assert_fails(cx, TARN_E_DATA, "row 100", append_one(cx, &bad, false, minus, 1, &text));
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}

static tn_element decimal(enum tn_physical physical, int32_t length, int32_t precision)
{
    tn_element element = LEAF("d", TN_REQUIRED, physical, TN_DECIMAL);

    element.type_length = length;
    element.precision = precision;
    element.scale = 2;
    return element;
}

static void test_assemble__decimals_of_each_physical_type(void **state)
{
    static const int32_t shorts[] = {-2};
    static const uint8_t fixed[] = {0xFF, 0xFE, 0x00, 0x02};
    static const uint8_t wide[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                   0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE};
    static const uint8_t over[] = {0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const tn_view views[] = {{fixed, 2}, {wide, 18}, {fixed, 0}};
    static const tn_view cut[] = {{over, 17}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_element bytes = decimal(TN_BYTE_ARRAY, 0, 20);
    tn_buf text = {0};

#define MINUS2 "xfeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff "
#define PLUS2  "x0200000000000000000000000000000000000000000000000000000000000000 "
#define ZERO   "x0000000000000000000000000000000000000000000000000000000000000000 "
    (void)state;
    expect_one(cx, decimal(TN_INT32, 0, 5), false, shorts, 1, "d:5,2 " MINUS2);
    expect_one(cx, decimal(TN_FIXED, 2, 4), false, fixed, 2, "d:4,2 " MINUS2 PLUS2);
    expect_one(cx, bytes, false, views, 3, "d:20,2 " MINUS2 MINUS2 ZERO);
    expect_one(cx, decimal(TN_FIXED, 18, 40), false, wide, 1, "d:40,2,256 " MINUS2);
    assert_fails(cx, TARN_E_DATA, "row 100", append_one(cx, &bytes, false, cut, 1, &text));
    tn_buf_clear(&text);
    tarn_cx_close(cx);
}
