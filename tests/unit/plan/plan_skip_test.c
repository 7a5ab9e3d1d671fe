/* Slices ruled out by statistics: each type and both forms of the index, and at random, where no
 * row that a filter is true for may be in a slice that is dropped. */
#include "plan/plan_skip.h"

#include <math.h>

#include "batch/field.h"
#include "batch/predicate.h"
#include "unit/test.h"

typedef struct world {
    tarn_cx *cx;
    tn_arena arena;
    struct ArrowSchema schema;
} world;

static const struct {
    const char *name, *format;
} columns[] = {{"i", "i"},         {"l", "l"},    {"f", "f"},       {"g", "g"},
               {"s", "u"},         {"b", "b"},    {"d", "d:12,2"},  {"day", "tdD"},
               {"t", "tsu:UTC"},   {"n", "tsu:"}, {"m", "tsm:UTC"}, {"z", "z"},
               {"_hoodie_x", "u"}, {"h", "ttm"}};

static void open(world *w)
{
    size_t count = sizeof columns / sizeof columns[0];

    *w = (world){.cx = tarn_cx_open(NULL)};
    assert_ok(w->cx, tn_field_init(w->cx, &w->schema, "+s", TN_STR(""), false, count));
    for (size_t i = 0; i < count; i++)
        assert_ok(w->cx, tn_field_init(w->cx, w->schema.children[i], columns[i].format,
                                       tn_str_of(columns[i].name), true, 0));
}

static void shut(world *w)
{
    tn_field_release(&w->schema);
    tn_arena_clear(&w->arena);
    tarn_cx_close(w->cx);
}

static void bind(world *w, const char *text, tn_filter *out)
{
    const tn_predicate *predicate;

    assert_ok(w->cx, tn_predicate_parse(w->cx, tn_str_of(text), &w->arena, &predicate));
    assert_ok(w->cx, tn_predicate_bind(w->cx, predicate, &w->schema, &w->arena, out));
}

#define INT(v)                                                                                     \
    {                                                                                              \
        .kind = TN_AVRO_INT, .as.i = (v)                                                           \
    }
#define LONG(v)                                                                                    \
    {                                                                                              \
        .kind = TN_AVRO_LONG, .as.i = (v)                                                          \
    }
#define FLOAT(v)                                                                                   \
    {                                                                                              \
        .kind = TN_AVRO_FLOAT, .as.d = (v)                                                         \
    }
#define DOUBLE(v)                                                                                  \
    {                                                                                              \
        .kind = TN_AVRO_DOUBLE, .as.d = (v)                                                        \
    }
#define BOOL(v)                                                                                    \
    {                                                                                              \
        .kind = TN_AVRO_BOOLEAN, .as.truth = (v)                                                   \
    }
#define TEXT(v)                                                                                    \
    {                                                                                              \
        .kind = TN_AVRO_STRING, .as.text = {(v), sizeof(v) - 1 }                                   \
    }
#define BYTES(v)                                                                                   \
    {                                                                                              \
        .kind = TN_AVRO_BYTES, .as.text = {(v), sizeof(v) - 1 }                                    \
    }
#define NONE                                                                                       \
    {                                                                                              \
        .kind = TN_AVRO_NULL                                                                       \
    }

/* Whether one file of such statistics may match. */
static void test_plan_skip__types(void **state)
{
    static const struct {
        const char *filter;
        tn_avro_value min, max;
        int64_t values, nulls;
        enum tn_metadata_wrapper wrapper;
        int32_t type;
        const char *info;
        bool keep;
    } cases[] = {
        /* whole numbers; int statistics of a column that is long by now */
        {"i = 4", INT(1), INT(3), 9, 0, TN_METADATA_INT, 3, "", false},
        {"i = 3", INT(1), INT(3), 9, 0, TN_METADATA_INT, 3, "", true},
        {"l > 3", INT(1), INT(3), 9, 0, TN_METADATA_INT, 3, "", false},
        {"l >= 3", INT(1), INT(3), 9, 0, TN_METADATA_INT, 0, "", true},
        {"l < 1", LONG(1), LONG(3), 9, 0, TN_METADATA_LONG, 4, "", false},
        {"l <> 3", LONG(3), LONG(3), 9, 0, TN_METADATA_LONG, 4, "", false},
        {"l <> 3", LONG(3), LONG(4), 9, 0, TN_METADATA_LONG, 4, "", true},
        {"l IN (0, 9)", LONG(3), LONG(4), 9, 0, TN_METADATA_LONG, 4, "", false},
        {"l = 9 OR i = 1", LONG(3), LONG(4), 9, 0, TN_METADATA_LONG, 4, "", true},
        /* another kind than the column has: not known */
        {"l = 9", TEXT("1"), TEXT("3"), 9, 0, TN_METADATA_STRING, 7, "", true},
        {"s = '9'", INT(1), INT(3), 9, 0, TN_METADATA_INT, 3, "", true},
        {"l = 9", LONG(1), LONG(3), 9, 0, TN_METADATA_LONG, 16, "", true},
        /* nulls */
        {"l IS NULL", LONG(1), LONG(3), 9, 0, TN_METADATA_LONG, 4, "", false},
        {"l IS NULL", LONG(1), LONG(3), 9, 1, TN_METADATA_LONG, 4, "", true},
        {"l IS NULL", LONG(1), LONG(3), 9, -1, TN_METADATA_LONG, 4, "", true},
        {"l IS NOT NULL", NONE, NONE, 9, 9, TN_METADATA_NOTHING, 1, "", false},
        {"l = 1", NONE, NONE, 9, 9, TN_METADATA_NOTHING, 1, "", false},
        {"l IS NULL", NONE, NONE, 9, 9, TN_METADATA_NOTHING, 1, "", true},
        {"l = 1", NONE, NONE, 9, 8, TN_METADATA_NOTHING, 0, "", true},
        {"l IS NULL OR l = 1", NONE, NONE, 0, 0, TN_METADATA_NOTHING, 1, "", false},
        {"l = 7", LONG(1), LONG(3), -1, -1, TN_METADATA_LONG, 4, "", true},
        {"l = 7", LONG(5), LONG(3), 9, 0, TN_METADATA_LONG, 4, "", true}, /* contradicts itself */
        /* text: by bytes; characters that Java orders otherwise */
        {"s = 'a'", TEXT("b"), TEXT("c"), 9, 0, TN_METADATA_STRING, 7, "", false},
        {"s > 'c'", TEXT("b"), TEXT("c"), 9, 0, TN_METADATA_STRING, 0, "", false},
        {"s LIKE 'd%'", TEXT("b"), TEXT("c"), 9, 0, TN_METADATA_STRING, 7, "", false},
        {"s = 'a'", TEXT("\xEF\xBF\xBD"), TEXT("\xF0\x9F\x98\x80"), 9, 0, TN_METADATA_STRING, 7, "",
         true},
        {"s = 'z'", TEXT("b"), TEXT("\xC3\xA9"), 9, 0, TN_METADATA_STRING, 7, "", true},
        {"z = X'00'", BYTES("b"), BYTES("c"), 9, 0, TN_METADATA_BYTES, 8, "", true},
        /* booleans */
        {"b", BOOL(false), BOOL(false), 9, 0, TN_METADATA_BOOLEAN, 2, "", false},
        {"b", BOOL(false), BOOL(true), 9, 0, TN_METADATA_BOOLEAN, 2, "", true},
        /* floating point: bounds are not believed, counts are */
        {"g = 5", DOUBLE(1), DOUBLE(3), 9, 0, TN_METADATA_DOUBLE, 6, "", true},
        {"g = 5", DOUBLE(0), DOUBLE(0), 9, 0, TN_METADATA_DOUBLE, 6, "", true},
        {"g < 0", DOUBLE(1), DOUBLE(NAN), 9, 0, TN_METADATA_DOUBLE, 6, "", true},
        {"f = 5", FLOAT(1), FLOAT(3), 9, 0, TN_METADATA_FLOAT, 5, "", true},
        {"g IS NULL", DOUBLE(0), DOUBLE(0), 9, 0, TN_METADATA_DOUBLE, 6, "", false},
        {"g = 5", NONE, NONE, 9, 9, TN_METADATA_NOTHING, 1, "", false},
        /* decimals: V2 at the scale told, V1 at 15 */
        {"d = 3.21", BYTES("\x7d\x19"), BYTES("\x7d\x19"), 9, 0, TN_METADATA_BYTES, 10, "15,2",
         false},
        {"d = 320.25", BYTES("\x7d\x19"), BYTES("\x7d\x19"), 9, 0, TN_METADATA_BYTES, 10, "15,2",
         true},
        {"d = 3202.5", BYTES("\x7d\x19"), BYTES("\x7d\x19"), 9, 0, TN_METADATA_BYTES, 10, "15,1",
         true},
        {"d = 320.25", BYTES("\x7d\x19"), BYTES("\x7d\x19"), 9, 0, TN_METADATA_BYTES, 10, "15,1",
         false},
        {"d = 3.20", BYTES("\x0c\x85"), BYTES("\x0c\x85"), 9, 0, TN_METADATA_BYTES, 10, "15,3",
         true}, /* 3.205: between two values, so both are in */
        {"d = 3.21", BYTES("\x0c\x85"), BYTES("\x0c\x85"), 9, 0, TN_METADATA_BYTES, 10, "15,3",
         true},
        {"d = -3.20", BYTES("\xf3\x7b"), BYTES("\xf3\x7b"), 9, 0, TN_METADATA_BYTES, 10, "15,3",
         true},
        {"d = -3.21", BYTES("\xf3\x7b"), BYTES("\xf3\x7b"), 9, 0, TN_METADATA_BYTES, 10, "15,3",
         true},
        {"d = -3.22", BYTES("\xf3\x7b"), BYTES("\xf3\x7b"), 9, 0, TN_METADATA_BYTES, 10, "15,3",
         false},
        {"d = 1", BYTES("\x03\x8d\x7e\xa4\xc6\x80\x00"), BYTES("\x03\x8d\x7e\xa4\xc6\x80\x00"), 9,
         0, TN_METADATA_DECIMAL, 0, "", true},
        {"d = 2", BYTES("\x03\x8d\x7e\xa4\xc6\x80\x00"), BYTES("\x03\x8d\x7e\xa4\xc6\x80\x00"), 9,
         0, TN_METADATA_DECIMAL, 0, "", false},
        {"d = 2", BYTES("\x01"), BYTES("\x01"), 9, 0, TN_METADATA_BYTES, 10, "x", true},
        /* dates; those of V1 may be a day off */
        {"day = DATE '1970-01-05'", INT(1), INT(3), 9, 0, TN_METADATA_INT, 12, "", false},
        {"day = DATE '1970-01-04'", INT(1), INT(3), 9, 0, TN_METADATA_INT, 12, "", true},
        {"day = DATE '1970-01-05'", INT(1), INT(3), 9, 0, TN_METADATA_DATE, 0, "", true},
        {"day = DATE '1970-01-06'", INT(1), INT(3), 9, 0, TN_METADATA_DATE, 0, "", false},
        {"day = DATE '1970-01-06'", INT(1), INT(3), 9, 0, TN_METADATA_INT, 0, "", true},
        /* times: units that differ, and those that are not told */
        {"t = TIMESTAMP '1970-01-01 00:00:04Z'", LONG(1000000), LONG(3000000), 9, 0,
         TN_METADATA_LONG, 16, "", false},
        {"t = TIMESTAMP '1970-01-01 00:00:02Z'", LONG(1000000), LONG(3000000), 9, 0,
         TN_METADATA_LONG, 16, "", true},
        {"t = TIMESTAMP '1970-01-01 00:00:02Z'", LONG(1000), LONG(3000), 9, 0, TN_METADATA_LONG, 15,
         "", true},
        {"t = TIMESTAMP '1970-01-01 00:00:04Z'", LONG(1000), LONG(3000), 9, 0, TN_METADATA_LONG, 15,
         "", false},
        {"m = TIMESTAMP '1970-01-01 00:00:00.003Z'", LONG(1500), LONG(2001), 9, 0, TN_METADATA_LONG,
         16, "", true},
        {"m = TIMESTAMP '1970-01-01 00:00:00.001Z'", LONG(1500), LONG(2001), 9, 0, TN_METADATA_LONG,
         16, "", true},
        {"m = TIMESTAMP '1970-01-01 00:00:00.004Z'", LONG(1500), LONG(2001), 9, 0, TN_METADATA_LONG,
         16, "", false},
        {"m = TIMESTAMP '1970-01-01 00:00:00.000Z'", LONG(1500), LONG(2001), 9, 0, TN_METADATA_LONG,
         0, "", true},
        {"t = TIMESTAMP '1970-01-01 00:00:04Z'", LONG(1000000), LONG(3000000), 9, 0,
         TN_METADATA_TIMESTAMP_MICROS, 0, "", false},
        {"n = TIMESTAMP '1970-01-01 00:00:04'", LONG(1000000), LONG(3000000), 9, 0,
         TN_METADATA_TIMESTAMP_MICROS, 0, "", true},
        {"n = TIMESTAMP '1970-01-01 00:00:04'", LONG(1000000), LONG(3000000), 9, 0,
         TN_METADATA_LONG, 19, "", false},
        /* meta columns are not asked */
        {"_hoodie_x = 'a'", TEXT("b"), TEXT("c"), 9, 0, TN_METADATA_STRING, 7, "", true},
    };
    world w;

    (void)state;
    open(&w);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_metadata_stats stats = {.file = TN_STR("f"),
                                   .partition_hash = TN_STR("h"),
                                   .values = cases[i].values,
                                   .nulls = cases[i].nulls,
                                   .wrapper = cases[i].wrapper,
                                   .type = cases[i].type,
                                   .type_info = tn_str_of(cases[i].info)};
        tn_slice slice = {.base = {.name = TN_STR("f")}};
        tn_slices slices = {.slices = &slice, .slice_count = 1};
        tn_str hash = TN_STR("h");
        tn_skip_column known[3] = {{0}};
        tn_filter filter;
        uint8_t keep = 1;
        size_t dropped;

        if (cases[i].min.kind != TN_AVRO_NULL) {
            stats.min = &cases[i].min;
            stats.max = &cases[i].max;
        }
        bind(&w, cases[i].filter, &filter);
        assert_true(filter.column_count <= 3);
        known[0] = (tn_skip_column){.usable = true, .stats = &stats, .count = 1};
        assert_ok(w.cx,
                  tn_plan_skip_slices(w.cx, &filter, known, &slices, &hash, true, &keep, &dropped));
        if (keep != cases[i].keep || dropped != (size_t)!keep)
            fail_msg("case %zu: %s: %s", i, cases[i].filter, keep ? "kept" : "dropped");
    }
    shut(&w);
}

/* ---- slices of several files ---- */

static void test_plan_skip__logs(void **state)
{
    static const tn_avro_value one = LONG(1), five = LONG(5);
    tn_metadata_stats stats[] = {
        {.file = TN_STR("base"),
         .partition_hash = TN_STR("h"),
         .values = 3,
         .type = 4,
         .wrapper = TN_METADATA_LONG,
         .min = &one,
         .max = &one},
        {.file = TN_STR("log"),
         .partition_hash = TN_STR("h"),
         .values = 3,
         .type = 4,
         .wrapper = TN_METADATA_LONG,
         .min = &five,
         .max = &five},
        {.file = TN_STR("log2"),
         .partition_hash = TN_STR("elsewhere"),
         .values = 3,
         .type = 4,
         .wrapper = TN_METADATA_LONG,
         .min = &five,
         .max = &five},
    };
    tn_slice_log logs[] = {{.name = TN_STR("log")}, {.name = TN_STR("log2")}};
    tn_slice items[] = {
        {.base = {.name = TN_STR("base")}},
        {.base = {.name = TN_STR("base")}, .logs = logs, .log_count = 1},
        {.base = {.name = TN_STR("base")}, .logs = logs, .log_count = 2}, /* one is not known */
        {.logs = logs, .log_count = 1},
    };
    static const struct {
        const char *filter;
        bool logs;
        const char *keep;
    } cases[] = {
        {"l = 1", true, "1110"},
        {"l = 5", true, "0111"},
        {"l = 3", true, "0010"},
        {"l = 3", false, "0111"}, /* logs are not believed */
        /* a merged row may have a column of each file */
        {"l = 1 AND l = 5", true, "0110"},
    };
    tn_slices slices = {.slices = items, .slice_count = 4};
    tn_str hash = TN_STR("h");
    world w;

    (void)state;
    open(&w);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_skip_column known = {.usable = true, .stats = stats, .count = 3};
        uint8_t keep[4] = {1, 1, 1, 1};
        char told[5] = {0};
        tn_filter filter;
        size_t dropped;

        bind(&w, cases[i].filter, &filter);
        assert_ok(w.cx, tn_plan_skip_slices(w.cx, &filter, &known, &slices, &hash, cases[i].logs,
                                            keep, &dropped));
        for (size_t k = 0; k < 4; k++)
            told[k] = keep[k] ? '1' : '0';
        if (strcmp(told, cases[i].keep) != 0)
            fail_msg("%s: %s, not %s", cases[i].filter, told, cases[i].keep);
    }
    /* What is dropped already stays so; two records of one file are none. */
    {
        tn_metadata_stats twice[] = {stats[0], stats[0]};
        tn_skip_column known = {.usable = true, .stats = twice, .count = 2};
        uint8_t keep[4] = {1, 0, 1, 1};
        tn_filter filter;
        size_t dropped;

        bind(&w, "l = 3", &filter);
        assert_ok(w.cx,
                  tn_plan_skip_slices(w.cx, &filter, &known, &slices, &hash, true, keep, &dropped));
        assert_int_equal(dropped, 0);
        assert_int_equal(keep[0], 1);
        assert_int_equal(keep[1], 0);
    }
    shut(&w);
}

/* ---- at random ---- */

#define FILES 4
#define ROWS  5

typedef struct cell {
    bool null;
    int64_t l;
    double g;
    char s[3];
} cell;

/* The truth of a filter over l, g and s for one row. */
static enum tn_truth truth(const tn_filter *filter, const tn_filter_node *node, const cell *row)
{
    const tn_filter_column *column = &filter->columns[node->column];
    tn_filter_value value = {0};
    enum tn_truth all = node->kind == TN_FILTER_AND ? TN_TRUE : TN_FALSE, one;

    if (node->kind == TN_FILTER_CONST)
        return node->truth;
    if (node->kind == TN_FILTER_AND || node->kind == TN_FILTER_OR) {
        for (size_t i = 0; i < node->child_count; i++) {
            one = truth(filter, node->children[i], row);
            all = node->kind == TN_FILTER_AND ? (one < all ? one : all) : (one > all ? one : all);
        }
        return all;
    }
    if (node->kind == TN_FILTER_IS_NULL)
        return row->null != node->negated ? TN_TRUE : TN_FALSE;
    if (row->null)
        return TN_UNKNOWN;
    if (column->domain == TN_DOMAIN_SIGNED)
        value.i = row->l;
    else if (column->domain == TN_DOMAIN_FLOAT)
        value.d = row->g;
    else
        value.bytes = tn_str_of(row->s);
    return tn_filter_holds(node, column->domain, &value) ? TN_TRUE : TN_FALSE;
}

static void add_test(tarn_cx *cx, tn_buf *out)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    uint64_t r = tn_cx_random(cx);
    const char *op = ops[r / 7 % 6], *no = r / 64 % 2 ? "NOT " : "";

    switch (r % 6) {
    case 0:
        tn_buf_print(out, "l %s %d", op, (int)(r / 1000 % 12) - 1);
        break;
    case 1:
        tn_buf_print(out, "g %s %d.5", op, (int)(r / 1000 % 12) - 1);
        break;
    case 2:
        tn_buf_print(out, "s %s '%c'", op, (int)('a' + r / 1000 % 8));
        break;
    case 3:
        tn_buf_print(out, "l IS %sNULL", no);
        break;
    case 4:
        tn_buf_print(out, "l %sIN (%d, %d)", no, (int)(r / 1000 % 12), (int)(r / 100000 % 12));
        break;
    default:
        tn_buf_print(out, "s %sLIKE '%c%%'", no, (int)('a' + r / 1000 % 8));
    }
}

static cell make_cell(tarn_cx *cx, int base)
{
    uint64_t r = tn_cx_random(cx);
    cell made = {.null = r % 5 == 0, .l = base + (int)(r / 8 % 3)};

    made.g = r / 64 % 9 == 0 ? NAN : (double)(base + (int)(r / 512 % 3));
    made.s[0] = (char)('a' + (base + r / 4096 % 3) % 8);
    return made;
}

typedef struct bounds {
    tn_avro_value min, max;
    tn_metadata_stats stats;
} bounds;

/* As Hudi does: of floating-point columns with a NaN both bounds are 0. */
static void make_stats(const cell *rows, int column, char *name, bounds *out)
{
    bool any = false;

    *out = (bounds){.stats = {.file = tn_str_of(name),
                              .partition_hash = TN_STR("h"),
                              .values = ROWS,
                              .wrapper = column == 0   ? TN_METADATA_LONG
                                         : column == 1 ? TN_METADATA_DOUBLE
                                                       : TN_METADATA_STRING,
                              .type = column == 0   ? 4
                                      : column == 1 ? 6
                                                    : 7}};
    for (int i = 0; i < ROWS; i++) {
        tn_avro_value value = {.kind = column == 0   ? TN_AVRO_LONG
                                       : column == 1 ? TN_AVRO_DOUBLE
                                                     : TN_AVRO_STRING};
        bool less, more;

        out->stats.nulls += rows[i].null;
        if (rows[i].null)
            continue;
        if (column == 0)
            value.as.i = rows[i].l;
        else if (column == 1)
            value.as.d = rows[i].g;
        else
            value.as.text = tn_str_of(rows[i].s);
        if (column == 1) {
            less = value.as.d < out->min.as.d || (isnan(out->min.as.d) && !isnan(value.as.d));
            more = value.as.d > out->max.as.d || isnan(value.as.d);
        } else if (column == 0) {
            less = value.as.i < out->min.as.i;
            more = value.as.i > out->max.as.i;
        } else {
            less = any && tn_str_compare(value.as.text, out->min.as.text) < 0;
            more = any && tn_str_compare(value.as.text, out->max.as.text) > 0;
        }
        if (!any || less)
            out->min = value;
        if (!any || more)
            out->max = value;
        any = true;
    }
    for (int i = 0; column == 1 && i < ROWS; i++)
        if (!rows[i].null && isnan(rows[i].g))
            out->min.as.d = out->max.as.d = 0;
    out->stats.min = any ? &out->min : NULL;
    out->stats.max = any ? &out->max : NULL;
}

static void test_plan_skip__at_random(void **state)
{
    static char names[FILES][2] = {"a", "b", "c", "d"};
    size_t dropped_all = 0, matched_all = 0;
    world w;

    (void)state;
    open(&w);
    for (int turn = 0; turn < 3000; turn++) {
        cell rows[FILES][ROWS];
        bounds made[3][FILES];
        tn_metadata_stats stats[3][FILES];
        tn_slice items[FILES] = {0};
        tn_slices slices = {.slices = items, .slice_count = FILES};
        tn_skip_column known[3] = {{0}};
        uint8_t keep[FILES];
        tn_str hash = TN_STR("h");
        tn_buf text = {0};
        tn_filter filter;
        size_t dropped;

        add_test(w.cx, &text);
        for (uint64_t n = tn_cx_random(w.cx) % 3; n > 0; n--) {
            tn_buf_text(&text, tn_cx_random(w.cx) % 2 ? " AND " : " OR ");
            if (tn_cx_random(w.cx) % 4 == 0)
                tn_buf_text(&text, "NOT ");
            add_test(w.cx, &text);
        }
        tn_buf_u8(&text, 0);
        bind(&w, (char *)text.data, &filter);
        for (int f = 0; f < FILES; f++) {
            for (int i = 0; i < ROWS; i++)
                rows[f][i] = make_cell(w.cx, 2 * f);
            items[f].base.name = tn_str_of(names[f]);
            keep[f] = 1;
            for (int c = 0; c < 3; c++) {
                make_stats(rows[f], c, names[f], &made[c][f]);
                stats[c][f] = made[c][f].stats;
            }
        }
        for (size_t c = 0; c < filter.column_count; c++) {
            enum tn_domain domain = filter.columns[c].domain;
            int from = domain == TN_DOMAIN_SIGNED ? 0 : domain == TN_DOMAIN_FLOAT ? 1 : 2;

            known[c] = (tn_skip_column){.usable = true, .stats = stats[from], .count = FILES};
        }
        assert_ok(w.cx,
                  tn_plan_skip_slices(w.cx, &filter, known, &slices, &hash, true, keep, &dropped));
        dropped_all += dropped;
        for (int f = 0; f < FILES; f++)
            for (int i = 0; i < ROWS; i++) {
                bool match = truth(&filter, filter.root, &rows[f][i]) == TN_TRUE;

                matched_all += match;
                if (match && keep[f] == 0)
                    fail_msg("turn %d: %s: a row of file %d is lost", turn, (char *)text.data, f);
            }
        tn_buf_clear(&text);
    }
    assert_true(dropped_all > 1000 && matched_all > 1000);
    shut(&w);
}
