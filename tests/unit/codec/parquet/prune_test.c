/* Pruning: row groups by statistics and bloom filters, pages by indexes; never a row too much. */
#include "unit/codec/parquet/synth.h"

#include "batch/field.h"
#include "batch/predicate.h"
#include "codec/parquet/bloom.h"
#include "codec/parquet/prune.h"

/* The filter that `text` says of the file's columns. */
static void bind(tarn_cx *cx, const tn_parquet *file, const char *text, tn_arena *arena,
                 tn_filter *out)
{
    const tn_predicate *predicate;
    struct ArrowSchema schema;

    assert_ok(cx, tn_arrow_schema_of(cx, file, NULL, 0, &schema));
    assert_ok(cx, tn_predicate_parse(cx, tn_str_of(text), arena, &predicate));
    assert_ok(cx, tn_predicate_bind(cx, predicate, &schema, arena, out));
    tn_field_release(&schema);
}

/* "0,2" for groups, "0:5-9 2:0-3" for ranges. */
static void run(tarn_cx *cx, const tn_parquet *file, const char *text, char *into, size_t room)
{
    tn_arena arena = {0};
    tn_filter filter;
    tn_prune prune;
    size_t n = 0;

    bind(cx, file, text, &arena, &filter);
    assert_ok(cx, tn_prune_file(cx, file, &filter, NULL, &arena, &prune));
    into[0] = '\0';
    for (size_t i = 0; i < prune.range_count; i++)
        n += (size_t)snprintf(into + n, room - n, "%s%u:%lld-%lld", i == 0 ? "" : " ",
                              prune.ranges[i].group, (long long)prune.ranges[i].first,
                              (long long)(prune.ranges[i].first + prune.ranges[i].rows - 1));
    tn_arena_clear(&arena);
}

static void expect(tarn_cx *cx, const tn_parquet *file, const char *text, const char *want)
{
    char got[400];

    run(cx, file, text, got, sizeof got);
    if (strcmp(got, want) != 0)
        fail_msg("%s: \"%s\", want \"%s\"", text, got, want);
}

typedef struct bounds {
    const void *min, *max;
    size_t width;
    int64_t nulls, nans; /* -1: absent */
} bounds;

static void set_statistics(tn_chunk_meta *chunk, const bounds *b)
{
    chunk->has_statistics = true;
    chunk->statistics = (tn_statistics){.has_min_value = b->min != NULL,
                                        .min_value = {b->min, b->min != NULL ? b->width : 0},
                                        .has_max_value = b->max != NULL,
                                        .max_value = {b->max, b->max != NULL ? b->width : 0},
                                        .has_null_count = b->nulls >= 0,
                                        .null_count = b->nulls,
                                        .has_nan_count = b->nans >= 0,
                                        .nan_count = b->nans};
}

/* Groups of 10 rows: [1, 5]; [6, 9] with nulls; all null; unknown; a single 7. */
static void test_prune__integers(void **state)
{
    static const int32_t values[] = {1, 5, 6, 9, 7};
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"v = 3", "0:0-9 3:0-9"},
        {"v = 6", "1:0-9 3:0-9"},
        {"v = 100", "3:0-9"},
        {"v <> 7", "0:0-9 1:0-9 3:0-9"},
        {"v < 6", "0:0-9 3:0-9"},
        {"v <= 6", "0:0-9 1:0-9 3:0-9"},
        {"v > 5", "1:0-9 3:0-9 4:0-9"},
        {"v >= 9", "1:0-9 3:0-9"},
        {"v IN (2, 100)", "0:0-9 3:0-9"},
        {"v NOT IN (7, 8)", "0:0-9 1:0-9 3:0-9"},
        {"v NOT IN (7, NULL)", ""},
        {"v IS NULL", "1:0-9 2:0-9 3:0-9"},
        {"v IS NOT NULL", "0:0-9 1:0-9 3:0-9 4:0-9"},
        {"v = 3 AND v = 7", "3:0-9"},
        {"v = 3 OR v = 7", "0:0-9 1:0-9 3:0-9 4:0-9"},
        {"NOT (v = 3 OR v > 6)", "0:0-9 1:0-9 3:0-9"},
        {"v BETWEEN 5 AND 6", "0:0-9 1:0-9 3:0-9"},
        {"v < 1.5", "0:0-9 3:0-9"},
        {"v = 1.5", ""},
        {"v > 99999999999", "3:0-9"},
        {"FALSE", ""},
        {"TRUE", "0:0-9 1:0-9 2:0-9 3:0-9 4:0-9"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;
    synth_file s;

    (void)state;
    synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT32), 5, 10);
    set_statistics(&s.chunks[0], &(bounds){&values[0], &values[1], 4, 0, -1});
    set_statistics(&s.chunks[1], &(bounds){&values[2], &values[3], 4, 2, -1});
    set_statistics(&s.chunks[2], &(bounds){NULL, NULL, 0, 10, -1});
    set_statistics(&s.chunks[4], &(bounds){&values[4], &values[4], 4, 0, -1});
    synth_open(cx, &s, &file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cx, &file, cases[i].text, cases[i].want);
    tn_parquet_close(&file);
    tn_buf_clear(&s.bytes);
    tarn_cx_close(cx);
}

/* R094: [1, 1] with a NaN perhaps; NaN only, without bounds; [-0.0, -0.0]; [+0.0, +0.0]; the last
 * three surely without NaN where it says so. */
static void test_prune__floats(void **state)
{
    static const double values[] = {1.0, -0.0, 0.0};
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"v > 0", "0:0-9 1:0-9"},
        {"v >= 0", "0:0-9 1:0-9 2:0-9 3:0-9"},
        {"v = 0", "1:0-9 2:0-9 3:0-9"},
        {"v = -0.0", "1:0-9 2:0-9 3:0-9"},
        {"v < 0", "1:0-9"},
        {"v > 5", "0:0-9 1:0-9"},
        {"v <> 0", "0:0-9 1:0-9"},
        {"v = 1", "0:0-9 1:0-9"},
        {"v < 1", "1:0-9 2:0-9 3:0-9"},
        {"v IS NOT NULL", "0:0-9 1:0-9 2:0-9 3:0-9"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;
    synth_file s;

    (void)state;
    synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_DOUBLE), 4, 10);
    set_statistics(&s.chunks[0], &(bounds){&values[0], &values[0], 8, 0, -1});
    set_statistics(&s.chunks[1], &(bounds){NULL, NULL, 0, 0, 10});
    set_statistics(&s.chunks[2], &(bounds){&values[1], &values[1], 8, 0, 0});
    set_statistics(&s.chunks[3], &(bounds){&values[2], &values[2], 8, 0, 0});
    synth_open(cx, &s, &file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cx, &file, cases[i].text, cases[i].want);
    tn_parquet_close(&file);
    tn_buf_clear(&s.bytes);
    tarn_cx_close(cx);
}

static void test_prune__text(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"v = 'maus'", "0:0-9 2:0-9"},      {"v LIKE 'ma%'", "0:0-9 2:0-9"},
        {"v LIKE 'zz%'", "1:0-9 2:0-9"},    {"v LIKE '%x'", "0:0-9 1:0-9 2:0-9"},
        {"v LIKE 'b%'", "0:0-9 2:0-9"},     {"v NOT LIKE 'a%'", "0:0-9 1:0-9 2:0-9"},
        {"v >= '\xC3\xA4'", "1:0-9 2:0-9"}, {"v < 'a'", "2:0-9"},
        {"v = 'zebra'", "1:0-9 2:0-9"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_element leaf = synth_leaf("v", TN_OPTIONAL, TN_BYTE_ARRAY);
    tn_parquet file;
    synth_file s;

    (void)state;
    leaf.converted = TN_UTF8;
    synth_init(&s, leaf, 3, 10);
    set_statistics(&s.chunks[0], &(bounds){"a", "n", 1, 0, -1});
    set_statistics(&s.chunks[1], &(bounds){"zaaaa", "\xC3\xA4 zzz", 5, 0, -1});
    /* R181: the deprecated bounds of text say nothing, not even when they cross. */
    s.chunks[2].has_statistics = true;
    s.chunks[2].statistics = (tn_statistics){.has_min = true,
                                             .min = TN_STR("\xC3\xA4nderung"),
                                             .has_max = true,
                                             .max = TN_STR("zahlung")};
    synth_open(cx, &s, &file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cx, &file, cases[i].text, cases[i].want);
    tn_parquet_close(&file);
    tn_buf_clear(&s.bytes);
    tarn_cx_close(cx);
}

/* Bounds that cannot be believed drop nothing: no column orders, min above max, another unit. */
static void test_prune__distrust(void **state)
{
    static const int32_t values[] = {1, 5};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_parquet file;
    synth_file s;

    (void)state;
    synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT32), 2, 10);
    s.footer.column_order_count = 0;
    set_statistics(&s.chunks[0], &(bounds){&values[0], &values[1], 4, 0, -1});
    set_statistics(&s.chunks[1], &(bounds){&values[1], &values[0], 4, 0, -1});
    synth_open(cx, &s, &file);
    expect(cx, &file, "v = 100", "0:0-9 1:0-9");
    tn_parquet_close(&file);
    tn_buf_clear(&s.bytes);
    synth_init(&s, synth_leaf("v", TN_OPTIONAL, TN_INT32), 2, 10);
    set_statistics(&s.chunks[0], &(bounds){&values[0], &values[1], 4, 0, -1});
    set_statistics(&s.chunks[1], &(bounds){&values[1], &values[0], 4, 0, -1});
    synth_open(cx, &s, &file);
    expect(cx, &file, "v = 100", "1:0-9");
    expect(cx, &file, "v IS NULL", "1:0-9"); /* its null count is no better */
    tn_parquet_close(&file);
    tn_buf_clear(&s.bytes);
    tarn_cx_close(cx);
}

static void test_prune__bloom(void **state)
{
    static const char *const words[] = {"anna", "bert", "cleo"};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_element leaf = synth_leaf("v", TN_OPTIONAL, TN_BYTE_ARRAY);
    uint8_t blocks[64] = {0};
    tn_buf filter = {0};
    tn_parquet file;
    synth_file s;

    (void)state;
    leaf.converted = TN_UTF8;
    for (size_t i = 0; i < 3; i++)
        tn_bloom_insert(blocks, sizeof blocks, tn_bloom_hash(words[i], 4));
    tn_bloom_header_encode(&filter, sizeof blocks);
    tn_buf_add(&filter, blocks, sizeof blocks);
    for (int with_length = 0; with_length < 2; with_length++) {
        synth_init(&s, leaf, 2, 10);
        s.chunks[0].has_bloom = true;
        s.chunks[0].bloom_offset = synth_put(&s, filter.data, filter.len);
        s.chunks[0].bloom_bytes = with_length ? (int32_t)filter.len : 0;
        synth_open(cx, &s, &file);
        expect(cx, &file, "v = 'bert'", "0:0-9 1:0-9");
        expect(cx, &file, "v = 'dora'", "1:0-9");
        expect(cx, &file, "v IN ('dora', 'emil')", "1:0-9");
        expect(cx, &file, "v IN ('dora', 'cleo')", "0:0-9 1:0-9");
        expect(cx, &file, "v = 'dora' OR v IS NULL", "0:0-9 1:0-9");
        expect(cx, &file, "v = 'dora' AND v IS NULL", "1:0-9");
        expect(cx, &file, "v <> 'dora'", "0:0-9 1:0-9");
        expect(cx, &file, "v > 'dora'", "0:0-9 1:0-9");
        tn_parquet_close(&file);
        tn_buf_clear(&s.bytes);
    }
    tn_buf_clear(&filter);
    tarn_cx_close(cx);
}

/* A file of one group of 30 rows and four pages: [1, 9] rows 0-9, nulls 10-14, [10, 19] rows 15-24,
 * [5, 50] with 2 nulls rows 25-29. */
typedef struct paged {
    synth_file s;
    bool null_pages[4];
    tn_str min[4], max[4];
    int64_t null_counts[4];
    tn_page_location locations[4];
    tn_column_index index;
    tn_offset_index offsets;
} paged;

static const int32_t page_values[] = {1, 9, 10, 19, 5, 50};

static void paged_init(paged *p)
{
    static const int64_t first_rows[] = {0, 10, 15, 25};
    static const int8_t min_at[] = {0, -1, 2, 4};

    *p = (paged){.null_pages = {false, true, false, false}, .null_counts = {0, 5, 0, 2}};
    for (size_t i = 0; i < 4; i++) {
        if (min_at[i] >= 0) {
            p->min[i] = (tn_str){(const char *)&page_values[min_at[i]], 4};
            p->max[i] = (tn_str){(const char *)&page_values[min_at[i] + 1], 4};
        }
        p->locations[i] = (tn_page_location){4 + 2 * (int64_t)i, 2, first_rows[i]};
    }
    p->index = (tn_column_index){.pages = 4,
                                 .null_pages = p->null_pages,
                                 .min = p->min,
                                 .max = p->max,
                                 .null_counts = p->null_counts};
    p->offsets = (tn_offset_index){.pages = 4, .locations = p->locations};
    synth_init(&p->s, synth_leaf("v", TN_OPTIONAL, TN_INT32), 1, 30);
}

static void paged_expect(tarn_cx *cx, paged *p, const char *text, const char *want)
{
    tn_buf column = {0};
    tn_buf offsets = {0};
    tn_parquet file;

    tn_column_index_encode(&column, &p->index);
    tn_offset_index_encode(&offsets, &p->offsets);
    p->s.bytes.len = 14;
    p->s.chunks[0].column_index_offset = synth_put(&p->s, column.data, column.len);
    p->s.chunks[0].column_index_bytes = (int32_t)column.len;
    p->s.chunks[0].offset_index_offset = synth_put(&p->s, offsets.data, offsets.len);
    p->s.chunks[0].offset_index_bytes = (int32_t)offsets.len;
    synth_open(cx, &p->s, &file);
    expect(cx, &file, text, want);
    tn_parquet_close(&file);
    tn_buf_clear(&column);
    tn_buf_clear(&offsets);
}

static void test_prune__pages(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"v = 3", "0:0-9"},
        {"v = 7", "0:0-9 0:25-29"},
        {"v = 12", "0:15-29"}, /* neighbours join */
        {"v IS NULL", "0:10-14 0:25-29"},
        {"v IS NOT NULL", "0:0-9 0:15-29"},
        {"v > 19", "0:25-29"},
        {"v < 3 OR v > 19", "0:0-9 0:25-29"},
        {"v < 10 AND v > 9", "0:25-29"},
        {"v = 3 AND v = 12", ""},
        {"v = 100", ""},
        {"v >= 1 OR v IS NULL", "0:0-29"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    paged p;

    (void)state;
    paged_init(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        paged_expect(cx, &p, cases[i].text, cases[i].want);
    tn_buf_clear(&p.s.bytes);
    tarn_cx_close(cx);
}

typedef void (*spoil)(paged *p);

/* R183: a page of values called a page of nulls. */
static void spoil_null_page(paged *p)
{
    p->null_pages[0] = true;
    p->min[0] = p->max[0] = (tn_str){NULL, 0};
}
static void spoil_null_page_counted(paged *p)
{
    p->null_counts[1] = 0;
}
static void spoil_null_count(paged *p)
{
    p->null_counts[1] = 3; /* of 5 rows of nulls */
}
static void spoil_all_nulls(paged *p)
{
    p->null_counts[0] = 10; /* and yet bounds */
}
static void spoil_bounds(paged *p)
{
    p->min[0] = (tn_str){(const char *)&page_values[5], 4};
}
static void spoil_first_row(paged *p)
{
    p->locations[0].first_row = 1;
}
static void spoil_rows(paged *p)
{
    p->locations[3].first_row = 30;
}
static void spoil_row_order(paged *p)
{
    p->locations[2].first_row = 10;
}
static void spoil_offsets(paged *p)
{
    p->locations[2].offset = 5;
}
static void spoil_place(paged *p)
{
    p->locations[3].bytes = 100;
}
static void spoil_pages(paged *p)
{
    p->offsets.pages = 3;
}
static void spoil_statistics(paged *p)
{
    set_statistics(&p->s.chunks[0], &(bounds){NULL, NULL, 0, 3, -1}); /* the index counts 7 */
}

static void test_prune__indexes_that_contradict(void **state)
{
    static const spoil cases[] = {spoil_null_page,  spoil_null_page_counted,
                                  spoil_null_count, spoil_all_nulls,
                                  spoil_bounds,     spoil_first_row,
                                  spoil_rows,       spoil_row_order,
                                  spoil_offsets,    spoil_place,
                                  spoil_pages,      spoil_statistics};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        paged p;

        paged_init(&p);
        cases[i](&p);
        paged_expect(cx, &p, "v = 3", "0:0-29");
        tn_buf_clear(&p.s.bytes);
    }
    tarn_cx_close(cx);
}

/* R185: what one group says about one column ends nothing for the groups behind it. */
static void test_prune__two_columns(void **state)
{
    static const int32_t values[] = {0, 9, 100, 109};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_element elements[3];
    tn_chunk_meta chunks[3][2];
    tn_row_group_meta groups[3];
    int32_t orders[] = {1, 1};
    tn_str a[] = {TN_STR("a")};
    tn_str b[] = {TN_STR("b")};
    tn_footer footer = {.version = 1, .rows = 30};
    tn_buf bytes = {0};
    tn_parquet file;

    (void)state;
    elements[0] = synth_group("root", TN_REQUIRED, 2, TN_CONVERTED_NONE);
    elements[1] = synth_leaf("a", TN_REQUIRED, TN_INT32);
    elements[2] = synth_leaf("b", TN_REQUIRED, TN_INT32);
    for (size_t g = 0; g < 3; g++) {
        groups[g] = (tn_row_group_meta){.columns = chunks[g], .column_count = 2, .rows = 10};
        for (size_t i = 0; i < 2; i++) {
            /* `a` has 0 to 9 in groups 1 and 2, `b` in groups 0 and 2; 100 to 109 elsewhere. */
            bool low = g == 2 || (g == 1) == (i == 0);

            chunks[g][i] = (tn_chunk_meta){.has_meta = true,
                                           .physical = TN_INT32,
                                           .path = i == 0 ? a : b,
                                           .path_count = 1,
                                           .values = 10,
                                           .compressed_bytes = 1,
                                           .data_page_offset = 4};
            set_statistics(&chunks[g][i],
                           &(bounds){&values[low ? 0 : 2], &values[low ? 1 : 3], 4, 0, -1});
        }
    }
    footer.elements = elements;
    footer.element_count = 3;
    footer.groups = groups;
    footer.group_count = 3;
    footer.column_orders = orders;
    footer.column_order_count = 2;
    tn_buf_text(&bytes, "PAR1x");
    synth_finish(&bytes, &footer);
    assert_ok(cx, tn_parquet_open_memory(cx, bytes.data, bytes.len, TN_STR("x"), &file));
    expect(cx, &file, "a = 5 AND b = 5", "2:0-9");
    expect(cx, &file, "a = 5 OR b = 105", "1:0-9 2:0-9");
    tn_parquet_close(&file);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}
