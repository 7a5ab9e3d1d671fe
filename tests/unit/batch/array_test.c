/* Bits against the plain way; release; what tn_array_check refuses. */
#include "unit/test.h"

#include "batch/array.h"
#include "batch/field.h"

static void fill_random(uint8_t *bytes, size_t count, unsigned *seed, unsigned mask)
{
    for (size_t i = 0; i < count; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)((*seed >> 16) & mask);
    }
}

static void test_array__bits_as_the_plain_way(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        uint8_t from[40], to[40], want[40], bytes[208];
        int64_t at, start, count, ones = 0;

        fill_random(from, sizeof from, &seed, 255);
        fill_random(to, sizeof to, &seed, 255);
        fill_random(bytes, sizeof bytes, &seed, 1);
        at = (seed >> 8) % 60;
        start = (seed >> 14) % 60;
        count = (seed >> 20) % 200;
        /* Bits before `at` stay; those beyond in the last byte are cleared. */
        for (int way = 0; way < 3; way++) {
            memcpy(want, to, sizeof to);
            for (int64_t i = 0; i < count; i++) {
                bool bit = way == 0 ? tn_bit(from, start + i) : way == 1 ? bytes[i] : turn % 2 == 0;

                want[(at + i) >> 3] &= (uint8_t) ~(1u << ((at + i) & 7));
                if (bit)
                    tn_bit_set(want, at + i);
            }
            for (int64_t i = at + count; count != 0 && (i & 7) != 0; i++)
                want[i >> 3] &= (uint8_t) ~(1u << (i & 7));
            if (way == 0)
                tn_bits_copy(to, at, from, start, count);
            else if (way == 1)
                tn_bits_pack(to, at, bytes, count);
            else
                tn_bits_fill(to, at, count, turn % 2 == 0);
            assert_memory_equal(to, want, sizeof to);
        }
        for (int64_t i = 0; i < count; i++)
            ones += tn_bit(from, at + i);
        assert_int_equal(tn_bits_count(from, at, count), ones);
    }
    assert_int_equal(tn_bits_count(NULL, 3, 9), 9);
}

/* An array whose buffers belong to the test. */
typedef struct loose {
    struct ArrowArray array, child;
    const void *buffers[4];
    struct ArrowArray *children[1];
} loose;

static void release_nothing(struct ArrowArray *array)
{
    array->release = NULL;
}

/* So that a pointer into an empty block may be formed. */
static void test_array__an_empty_block_has_a_place(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_block block = {0};

    (void)state;
    assert_ok(cx, tn_block_reserve(cx, &block, 0));
    assert_non_null(block.data);
    assert_int_equal(block.len, 0);
    tn_block_clear(&block);
    tarn_cx_close(cx);
}

static void test_array__check_refuses_what_leads_outside(void **state)
{
    static const int32_t back[] = {0, 2, 1}, beyond[] = {0, 1, 9}, negative[] = {-1, 0, 1};
    static const int32_t views[] = {13, 0, 1, 0, 13, 0, 0, 60};
    static const int64_t sizes[] = {64};
    static const int8_t indices[] = {0, 3};
    static const uint8_t data[64] = {0};
    static const struct {
        const char *name, *format;
        int64_t length, offset, null_count, n_buffers, child_length;
        const void *buffers[4];
        const char *want;
    } cases[] = {
        {"backwards", "u", 2, 0, 0, 3, 0, {NULL, back, data}, "backwards"},
        {"negative", "u", 2, 0, 0, 3, 0, {NULL, negative, data}, "negative"},
        {"no text", "u", 2, 0, 0, 3, 0, {NULL, beyond, NULL}, "no values"},
        {"beyond child", "+l", 2, 0, 0, 2, 8, {NULL, beyond}, "past the end"},
        {"no offsets", "z", 2, 0, 0, 3, 0, {NULL, NULL, data}, "no offsets"},
        {"view buffer", "vu", 1, 0, 0, 4, 0, {NULL, views, data, sizes}, "view outside"},
        {"view end", "vu", 1, 1, 0, 4, 0, {NULL, views, data, sizes}, "view outside"},
        {"negative length", "i", -1, 0, 0, 2, 0, {NULL, data}, "length"},
        {"overflow", "i", INT64_MAX, 1, 0, 2, 0, {NULL, data}, "length"},
        {"few buffers", "i", 1, 0, 0, 1, 0, {NULL, data}, "too few buffers"},
        {"no values", "i", 1, 0, 0, 2, 0, {NULL, NULL}, "no values"},
        {"no bitmap", "i", 1, 0, 1, 2, 0, {NULL, data}, "no validity"},
        {"fixed list", "+w:3", 3, 0, 0, 1, 8, {NULL}, "longer than its values"},
        {"struct", "+s", 9, 0, 0, 1, 8, {NULL}, "longer than a child"},
        {"index", "c", 2, 0, 0, 2, 0, {NULL, indices}, "outside its dictionary"},
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool nested = cases[i].format[0] == '+', dictionary = strcmp(cases[i].name, "index") == 0;
        const void *child_buffers[2] = {NULL, data};
        struct ArrowSchema schema = {0};
        loose l = {0};

        memcpy(l.buffers, cases[i].buffers, sizeof l.buffers);
        l.child = (struct ArrowArray){.length = dictionary ? 3 : cases[i].child_length,
                                      .n_buffers = 2,
                                      .buffers = child_buffers,
                                      .release = release_nothing};
        l.children[0] = &l.child;
        l.array = (struct ArrowArray){.length = cases[i].length,
                                      .offset = cases[i].offset,
                                      .null_count = cases[i].null_count,
                                      .n_buffers = cases[i].n_buffers,
                                      .buffers = l.buffers,
                                      .n_children = nested,
                                      .children = l.children,
                                      .dictionary = dictionary ? &l.child : NULL,
                                      .release = release_nothing};
        assert_ok(cx, tn_field_init(cx, &schema, cases[i].format, TN_STR("col"), true, nested));
        if (nested)
            assert_ok(cx, tn_field_init(cx, schema.children[0], "c", TN_STR("x"), true, 0));
        if (dictionary) {
            assert_ok(cx, tn_field_make_dictionary(cx, &schema));
            assert_ok(cx, tn_field_init(cx, schema.dictionary, "c", TN_STR(""), true, 0));
        }
        assert_fails(cx, TARN_E_INVALID, cases[i].want, tn_array_check(cx, &schema, &l.array));
        assert_non_null(strstr(tarn_cx_error(cx), "\"col\""));
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}

static void test_array__check_refuses_run_ends_by_name(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowArray array = {.release = release_nothing};
    struct ArrowSchema schema = {0};

    (void)state;
    assert_ok(cx, tn_field_init(cx, &schema, "+r", TN_STR("col"), true, 0));
    assert_fails(cx, TARN_E_UNSUPPORTED, "run_end_encoded", tn_array_check(cx, &schema, &array));
    tn_field_release(&schema);
    tarn_cx_close(cx);
}

static void test_array__metadata_round(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowSchema schema = {0}, copy = {0};
    tn_buf metadata = {0};

    (void)state;
    tn_metadata_add(&metadata, TN_STR("a"), TN_STR("1"));
    tn_metadata_add(&metadata, TN_STR(""), TN_STR(""));
    assert_ok(cx, tn_field_init(cx, &schema, "tsu:UTC", TN_STR("t"), false, 0));
    assert_ok(cx, tn_field_set_metadata(cx, &schema, &metadata));
    assert_ok(cx, tn_field_copy(cx, &schema, &copy));
    assert_true(tn_str_is(tn_metadata_get(copy.metadata, "a"), "1"));
    assert_null(tn_metadata_get(copy.metadata, "b").ptr);
    assert_string_equal(copy.format, "tsu:UTC");
    assert_false(tn_field_nullable(&copy));
    tn_buf_clear(&metadata);
    tn_field_release(&schema);
    tn_field_release(&copy);
    tarn_cx_close(cx);
}
