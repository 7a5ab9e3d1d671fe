/* Orders of bounds: which leaves have one, whose bounds are believed, what their bytes say. */
#include "unit/codec/parquet/synth.h"

#include "unit/hex.h"

#include <math.h>

#include "codec/parquet/order.h"
#include "codec/parquet/writer.h"

static tn_element element_of(enum tn_physical physical, int32_t logical, int32_t converted)
{
    tn_element e = synth_leaf("v", TN_OPTIONAL, physical);

    e.logical = logical;
    e.converted = converted;
    e.is_signed = true;
    e.type_length = physical == TN_FIXED ? 2 : 0;
    return e;
}

static void test_order__domains(void **state)
{
    static const struct {
        enum tn_physical physical;
        int32_t logical, converted;
        enum tn_domain want;
    } cases[] = {
        {TN_BOOLEAN, 0, -1, TN_DOMAIN_UNSIGNED},
        {TN_INT32, 0, -1, TN_DOMAIN_SIGNED},
        {TN_INT32, 0, TN_UINT_8, TN_DOMAIN_UNSIGNED},
        {TN_INT64, 0, TN_UINT_64, TN_DOMAIN_UNSIGNED},
        {TN_INT32, 0, TN_INT_8, TN_DOMAIN_SIGNED},
        {TN_INT32, 0, TN_DATE, TN_DOMAIN_SIGNED},
        {TN_INT32, TN_LOGICAL_INTEGER, -1, TN_DOMAIN_SIGNED},
        {TN_INT64, TN_LOGICAL_TIMESTAMP, -1, TN_DOMAIN_SIGNED},
        {TN_INT64, 0, TN_TIMESTAMP_MICROS, TN_DOMAIN_SIGNED},
        {TN_INT32, 0, TN_DECIMAL, TN_DOMAIN_DECIMAL},
        {TN_FIXED, TN_LOGICAL_DECIMAL, -1, TN_DOMAIN_DECIMAL},
        {TN_BYTE_ARRAY, 0, TN_DECIMAL, TN_DOMAIN_DECIMAL},
        {TN_INT96, 0, -1, TN_DOMAIN_NONE},
        {TN_FLOAT, 0, -1, TN_DOMAIN_FLOAT},
        {TN_DOUBLE, 0, -1, TN_DOMAIN_FLOAT},
        {TN_FIXED, TN_LOGICAL_FLOAT16, -1, TN_DOMAIN_FLOAT},
        {TN_BYTE_ARRAY, TN_LOGICAL_FLOAT16, -1, TN_DOMAIN_NONE},
        {TN_BYTE_ARRAY, 0, -1, TN_DOMAIN_BYTES},
        {TN_BYTE_ARRAY, 0, TN_UTF8, TN_DOMAIN_BYTES},
        {TN_BYTE_ARRAY, TN_LOGICAL_JSON, -1, TN_DOMAIN_BYTES},
        {TN_FIXED, TN_LOGICAL_UUID, -1, TN_DOMAIN_BYTES},
        {TN_FIXED, 0, TN_INTERVAL, TN_DOMAIN_NONE},
        {TN_BYTE_ARRAY, TN_LOGICAL_GEOMETRY, -1, TN_DOMAIN_NONE},
        {TN_BYTE_ARRAY, 77, -1, TN_DOMAIN_NONE},
        {TN_INT32, 77, -1, TN_DOMAIN_NONE},
        {TN_INT32, 0, 44, TN_DOMAIN_NONE},
        {TN_INT32, TN_LOGICAL_UNKNOWN, -1, TN_DOMAIN_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_element e = element_of(cases[i].physical, cases[i].logical, cases[i].converted);
        tn_node node = {.element_meta = &e};
        tn_leaf leaf = {
            .node = &node, .physical = e.physical, .type_length = (uint32_t)e.type_length};

        if (tn_order_domain(&leaf) != cases[i].want)
            fail_msg("case %zu: domain %d", i, tn_order_domain(&leaf));
    }
}

/* Units, scales and kinds must agree before bounds and literals are compared. */
static void test_order__matches(void **state)
{
    tn_element ms = element_of(TN_INT64, TN_LOGICAL_TIMESTAMP, -1);
    tn_element day = element_of(TN_INT32, 0, TN_DATE);
    tn_element decimal = element_of(TN_INT32, 0, TN_DECIMAL);
    tn_element number = element_of(TN_INT32, 0, -1);
    struct {
        const tn_element *element;
        tn_type type;
        bool want;
    } cases[] = {
        {&ms, {.kind = TN_TYPE_TIMESTAMP, .unit_digits = 3}, true},
        {&ms, {.kind = TN_TYPE_TIMESTAMP, .unit_digits = 6}, false},
        {&ms, {.kind = TN_TYPE_INT64}, false},
        {&day, {.kind = TN_TYPE_DATE32}, true},
        {&day, {.kind = TN_TYPE_DATE64}, false}, /* milliseconds in memory, days in the file */
        {&decimal, {.kind = TN_TYPE_DECIMAL, .scale = 2}, true},
        {&decimal, {.kind = TN_TYPE_DECIMAL, .scale = 3}, false},
        {&number, {.kind = TN_TYPE_INT64}, true}, /* widened */
        {&number, {.kind = TN_TYPE_DOUBLE}, false},
        {&number, {.kind = TN_TYPE_UINT32}, false},
    };

    (void)state;
    ms.unit = TN_MILLIS;
    decimal.scale = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_node node = {.element_meta = cases[i].element};
        tn_leaf leaf = {.node = &node, .physical = cases[i].element->physical};

        if (tn_order_matches(&leaf, &cases[i].type) != cases[i].want)
            fail_msg("case %zu", i);
    }
}

typedef struct trust_case {
    const char *name;
    enum tn_physical physical;
    int32_t converted;
    const char *created_by;
    int32_t order; /* 0: no column_orders */
    bool want_new, want_old;
} trust_case;

static void test_order__trust(void **state)
{
    static const trust_case cases[] = {
        {"plain", TN_INT32, -1, "x version 1.0.0", 1, true, true},
        {"no orders", TN_INT32, -1, "x version 1.0.0", 0, false, true},
        {"unknown order", TN_INT32, -1, "x version 1.0.0", 9, false, true},
        {"IEEE order of an integer", TN_INT32, -1, "x version 1.0.0", 2, false, true},
        {"IEEE order", TN_DOUBLE, -1, "x version 1.0.0", 2, true, true},
        {"unsigned", TN_INT32, TN_UINT_32, "x version 1.0.0", 1, true, false},
        {"text", TN_BYTE_ARRAY, TN_UTF8, "x version 1.0.0", 1, true, false},
        {"text by old parquet-mr", TN_BYTE_ARRAY, TN_UTF8, "parquet-mr version 1.7.0", 0, false,
         false},
        {"boolean", TN_BOOLEAN, -1, "x version 1.0.0", 1, true, true},
        {"INT96", TN_INT96, -1, "x version 1.0.0", 1, false, false},
        {"INT96 in its own order", TN_INT96, -1, "x version 1.0.0", 3, false, false},
        {"decimal", TN_BYTE_ARRAY, TN_DECIMAL, "parquet-mr version 1.13.0", 1, true, false},
        {"decimal by parquet-cpp", TN_BYTE_ARRAY, TN_DECIMAL, "parquet-cpp version 1.5.1-SNAPSHOT",
         1, false, false},
        {"decimal by Arrow 3", TN_FIXED, TN_DECIMAL, "parquet-cpp-arrow version 3.0.0", 1, false,
         false},
        {"decimal by Arrow 4", TN_FIXED, TN_DECIMAL, "parquet-cpp-arrow version 4.0.0", 1, true,
         false},
        {"decimal in an integer by Arrow 3", TN_INT32, TN_DECIMAL,
         "parquet-cpp-arrow version 3.0.0", 1, true, true},
        {"decimal by Polars", TN_FIXED, TN_DECIMAL, "Polars", 1, false, false},
        {"integer by Polars", TN_INT64, -1, "Polars", 1, true, true},
        {"decimal by ClickHouse", TN_FIXED, TN_DECIMAL, "ClickHouse v24.1", 1, false, false},
        {"decimal by hyparquet", TN_INT32, TN_DECIMAL, "hyparquet", 1, false, false},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_parquet file;
        synth_file s;

        synth_init(&s, element_of(cases[i].physical, 0, cases[i].converted), 1, 3);
        s.footer.created_by = tn_str_of(cases[i].created_by);
        s.orders[0] = cases[i].order;
        s.footer.column_order_count = cases[i].order != 0;
        synth_open(cx, &s, &file);
        if (tn_order_trusted(&file, &file.schema.leaves[0]) != cases[i].want_new ||
            tn_order_trusted_old(&file, &file.schema.leaves[0]) != cases[i].want_old)
            fail_msg("%s", cases[i].name);
        tn_parquet_close(&file);
        tn_buf_clear(&s.bytes);
    }
    tarn_cx_close(cx);
}

static void test_order__writer_versions(void **state)
{
    static const struct {
        const char *text, *program;
        bool has_version;
        uint32_t major, minor, patch;
        bool prerelease;
    } cases[] = {
        {"parquet-mr version 1.8.2 (build c6522788)", "parquet-mr", true, 1, 8, 2, false},
        {"parquet-cpp version 1.5.1-SNAPSHOT", "parquet-cpp", true, 1, 5, 1, true},
        {"impala version 1.3.0-INTERNAL (build 8a)", "impala", true, 1, 3, 0, true},
        {"DuckDB version v1.2.0 (build x)", "DuckDB", false, 0, 0, 0, false},
        {"parquet-cpp-arrow version 26.0", "parquet-cpp-arrow", true, 26, 0, 0, false},
        {"HVR 5.3.0/9 (linux)", "HVR 5.3.0/9 (linux)", false, 0, 0, 0, false},
        {"", "", false, 0, 0, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_writer w = tn_writer_of(tn_str_of(cases[i].text));

        assert_true(tn_str_is(w.program, cases[i].program));
        assert_int_equal(w.has_version, cases[i].has_version);
        assert_int_equal(w.major, cases[i].major);
        assert_int_equal(w.minor, cases[i].minor);
        assert_int_equal(w.patch, cases[i].patch);
        assert_int_equal(w.prerelease, cases[i].prerelease);
    }
}

/* Statistics of one chunk of 3 entries, in hex; NULL: absent. */
typedef struct range_case {
    const char *name;
    enum tn_physical physical;
    int32_t converted;
    const char *min, *max;         /* min_value, max_value */
    const char *old_min, *old_max; /* the deprecated */
    int64_t nulls, nans;           /* -1: absent */
    const char *want;              /* "min max nulls flags" as print_range writes it */
} range_case;

static void print_range(enum tn_domain domain, const tn_order_range *r, char *into, size_t room)
{
    char bounds[2][64] = {"-", "-"};
    const tn_filter_value *values[] = {&r->min, &r->max};
    bool has[] = {r->has_min, r->has_max};

    for (size_t i = 0; i < 2; i++) {
        if (!has[i])
            continue;
        if (domain == TN_DOMAIN_FLOAT)
            snprintf(bounds[i], 64, "%g", values[i]->d);
        else if (domain == TN_DOMAIN_BYTES)
            snprintf(bounds[i], 64, "%.*s", TN_STR_ARG(values[i]->bytes));
        else /* the lowest limb of a decimal lies where an integer does */
            snprintf(bounds[i], 64, "%lld", (long long)values[i]->i);
    }
    snprintf(into, room, "%s %s %s%s%s%s", bounds[0], bounds[1],
             r->has_nulls ? (r->nulls == 0   ? "0"
                             : r->nulls == 3 ? "3"
                                             : "n")
                          : "?",
             r->nan_free ? "" : " nan", r->empty ? " empty" : "", r->contradict ? " wrong" : "");
}

static void test_order__chunk_ranges(void **state)
{
    static const range_case cases[] = {
        {"integers", TN_INT32, -1, "ffffffff", "05000000", NULL, NULL, 1, -1, "-1 5 n"},
        {"unsigned", TN_INT32, TN_UINT_32, "05000000", "ffffffff", NULL, NULL, -1, -1,
         "5 4294967295 ?"},
        {"unsigned the wrong way", TN_INT32, TN_UINT_32, "ffffffff", "05000000", NULL, NULL, 0, -1,
         "- - ? nan wrong"},
        {"old integers", TN_INT64, -1, NULL, NULL, "0100000000000000", "0200000000000000", 0, -1,
         "1 2 0"},
        {"old unsigned", TN_INT32, TN_UINT_32, NULL, NULL, "01000000", "02000000", 0, -1, "- - 0"},
        {"R181: old text", TN_BYTE_ARRAY, TN_UTF8, NULL, NULL, "c3a46e", "7a6168", 0, -1, "- - 0"},
        {"new beside old", TN_INT32, -1, "03000000", "04000000", "01000000", "09000000", 0, -1,
         "3 4 0"},
        {"wrong width", TN_INT32, -1, "0300", "04000000", NULL, NULL, 0, -1, "- 4 0"},
        {"min above max", TN_INT32, -1, "05000000", "04000000", NULL, NULL, 0, -1,
         "- - ? nan wrong"},
        {"text", TN_BYTE_ARRAY, TN_UTF8, "61", "7a7a", NULL, NULL, 0, -1, "a zz 0"},
        {"doubles, NaN not counted", TN_FLOAT, -1, "0000803f", "00000040", NULL, NULL, 0, -1,
         "1 2 0 nan"},
        {"doubles, no NaN", TN_FLOAT, -1, "0000803f", "00000040", NULL, NULL, 0, 0, "1 2 0"},
        {"doubles, some NaN", TN_FLOAT, -1, "0000803f", "00000040", NULL, NULL, 0, 1, "1 2 0 nan"},
        {"NaN as max", TN_FLOAT, -1, "0000803f", "0000c07f", NULL, NULL, 0, 0, "- - 0 nan"},
        {"zeros the wrong way round", TN_FLOAT, -1, "00000000", "00000080", NULL, NULL, 0, 0,
         "0 -0 0"},
        {"all null", TN_INT32, -1, NULL, NULL, NULL, NULL, 3, -1, "- - 3 empty"},
        {"all null, and bounds", TN_INT32, -1, "03000000", "04000000", NULL, NULL, 3, -1,
         "- - ? nan wrong"},
        {"more nulls than entries", TN_INT32, -1, NULL, NULL, NULL, NULL, 4, -1, "- - ? nan wrong"},
        {"decimal in bytes", TN_BYTE_ARRAY, TN_DECIMAL, "ff", "0100", NULL, NULL, 0, -1,
         "-1 256 0"},
        {"decimal compared as unsigned bytes", TN_BYTE_ARRAY, TN_DECIMAL, "01", "ff", NULL, NULL, 0,
         -1, "- - ? nan wrong"},
        {"boolean", TN_BOOLEAN, -1, "00", "01", NULL, NULL, 0, -1, "0 1 0"},
        {"boolean of 2", TN_BOOLEAN, -1, "00", "02", NULL, NULL, 0, -1, "0 - 0"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const range_case *c = &cases[i];
        const char *texts[] = {c->min, c->max, c->old_min, c->old_max};
        tn_buf bytes[4] = {{0}};
        tn_order_range range;
        tn_statistics *st;
        tn_parquet file;
        synth_file s;
        char got[200];

        for (size_t t = 0; t < 4; t++)
            bytes[t] = hex_of(texts[t] != NULL ? texts[t] : "");
        synth_init(&s, element_of(c->physical, 0, c->converted), 1, 3);
        s.chunks[0].has_statistics = true;
        st = &s.chunks[0].statistics;
        *st = (tn_statistics){.has_min_value = c->min != NULL,
                              .min_value = tn_buf_view(&bytes[0]),
                              .has_max_value = c->max != NULL,
                              .max_value = tn_buf_view(&bytes[1]),
                              .has_min = c->old_min != NULL,
                              .min = tn_buf_view(&bytes[2]),
                              .has_max = c->old_max != NULL,
                              .max = tn_buf_view(&bytes[3]),
                              .has_null_count = c->nulls >= 0,
                              .null_count = c->nulls,
                              .has_nan_count = c->nans >= 0,
                              .nan_count = c->nans};
        synth_open(cx, &s, &file);
        tn_order_chunk(&file, 0, &file.schema.leaves[0], &range);
        print_range(tn_order_domain(&file.schema.leaves[0]), &range, got, sizeof got);
        if (strcmp(got, c->want) != 0)
            fail_msg("%s: \"%s\", want \"%s\"", c->name, got, c->want);
        tn_parquet_close(&file);
        tn_buf_clear(&s.bytes);
        for (size_t t = 0; t < 4; t++)
            tn_buf_clear(&bytes[t]);
    }
    tarn_cx_close(cx);
}
