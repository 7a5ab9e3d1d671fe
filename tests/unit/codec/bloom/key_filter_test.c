#include "codec/bloom/key_filter.h"

#include "base/base64.h"
#include "base/pool.h"
#include "codec/bloom/murmur.h"
#include "unit/alloc.h"
#include "unit/hex.h"

typedef struct key_list {
    tn_buf data, offsets;
    int64_t count;
} key_list;

static void list_add(key_list *list, const char *key, size_t len)
{
    if (list->count == 0)
        tn_buf_u32le(&list->offsets, 0);
    tn_buf_add(&list->data, key, len);
    tn_buf_u32le(&list->offsets, (uint32_t)list->data.len);
    list->count++;
}

static void list_clear(key_list *list)
{
    tn_buf_clear(&list->data);
    tn_buf_clear(&list->offsets);
}

/* Keys of lengths from 1 to beyond what is hashed in lanes. */
static key_list list_make(int64_t count)
{
    key_list list = {0};

    for (int64_t i = 0; i < count; i++) {
        char key[200];
        int len = snprintf(key, sizeof key, "%lld-%0*d", (long long)i, (int)(1 + i * i % 150), 7);

        list_add(&list, key, i % 3 == 0 ? 36 < len ? 36 : (size_t)len : (size_t)len);
    }
    return list;
}

static int add(tarn_cx *cx, tn_key_filter *filter, const key_list *list, int64_t from,
               int64_t count)
{
    return tn_key_filter_add(cx, filter, (const char *)list->data.data,
                             (const int32_t *)(const void *)list->offsets.data + from, count);
}

static tn_str key_at(const key_list *list, int64_t i)
{
    const int32_t *offsets = (const int32_t *)(const void *)list->offsets.data;

    return (tn_str){(const char *)list->data.data + offsets[i],
                    (size_t)(offsets[i + 1] - offsets[i])};
}

/* The rows of a filter as Hudi's code would fill them, one key after the other. */
typedef struct model {
    uint32_t bits, hashes, row_keys, current, turn, rows;
    uint64_t keys_max;
    bool dynamic, bounded;
    uint8_t *row[64];
} model;

static void model_set(model *m, size_t row, tn_str key)
{
    int32_t hash = 0;

    for (uint32_t i = 0; i < m->hashes; i++) {
        uint32_t bit;

        hash = tn_murmur((const uint8_t *)key.ptr, key.len, hash);
        bit = tn_murmur_bit(hash, m->bits);
        m->row[row][bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
}

static void model_add(model *m, tn_str key)
{
    size_t row = m->rows - 1;

    if (m->dynamic && m->bounded) {
        row = m->turn++ % m->rows;
    } else if (m->dynamic && m->current >= m->row_keys) {
        if ((uint64_t)m->rows * m->row_keys < m->keys_max) {
            m->row[m->rows++] = calloc(1, m->bits / 8 + 1);
            m->current = 0;
            row = m->rows - 1;
        } else {
            m->bounded = true;
            row = 0;
        }
    }
    model_set(m, row, key);
    m->current++;
}

static void model_head(const model *m, tn_buf *out)
{
    tn_buf_u32le(out, 0xFFFFFFFF);
    tn_buf_u32le(out, __builtin_bswap32(m->hashes));
    tn_buf_u8(out, 1);
    tn_buf_u32le(out, __builtin_bswap32(m->bits));
}

static void model_print(const model *m, tn_buf *out)
{
    tn_buf raw = {0};

    if (m->dynamic) {
        model_head(m, &raw);
        tn_buf_u32le(&raw, __builtin_bswap32(m->row_keys));
        tn_buf_u32le(&raw, __builtin_bswap32(m->current));
        tn_buf_u32le(&raw, __builtin_bswap32(m->rows));
    }
    for (uint32_t i = 0; i < m->rows; i++) {
        model_head(m, &raw);
        tn_buf_add(&raw, m->row[i], (m->bits + 7) / 8);
    }
    tn_base64_encode(out, tn_buf_view(&raw));
    tn_buf_clear(&raw);
}

typedef struct fill_case {
    enum tn_key_filter_kind kind;
    uint32_t keys, bits, hashes;
    double fpp;
    uint64_t keys_max;
    int64_t added, piece;
} fill_case;

/* The bits and hashes are those that Hudi's formulas give. */
static const fill_case fills[] = {
    {TN_KEY_FILTER_SIMPLE, 16, 691, 30, 1e-9, 0, 10, 3},
    {TN_KEY_FILTER_SIMPLE, 3000, 129399, 30, 1e-9, 0, 3000, 3000},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 99, 7},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 100, 100},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 101, 101},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 300, 300},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 301, 301},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 317, 5},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 250, 2000, 2000},
    {TN_KEY_FILTER_DYNAMIC, 100, 959, 7, 0.01, 50, 1000, 333},
    {TN_KEY_FILTER_DYNAMIC, 60000, 2587966, 30, 1e-9, 100000, 1000, 1000},
};

static void check_fill(tarn_cx *cx, const fill_case *c)
{
    key_list list = list_make(c->added);
    tn_buf got = {0}, want = {0};
    tn_key_filter *filter = NULL;
    model m = {.bits = c->bits,
               .hashes = c->hashes,
               .row_keys = c->keys,
               .rows = 1,
               .keys_max = c->keys_max,
               .dynamic = c->kind == TN_KEY_FILTER_DYNAMIC};

    m.row[0] = calloc(1, m.bits / 8 + 1);
    for (int64_t i = 0; i < c->added; i++)
        model_add(&m, key_at(&list, i));
    model_print(&m, &want);
    assert_ok(cx, tn_key_filter_open(cx, c->kind, c->keys, c->fpp, c->keys_max, &filter));
    for (int64_t i = 0; i < c->added; i += c->piece)
        assert_ok(cx, add(cx, filter, &list, i, c->added - i < c->piece ? c->added - i : c->piece));
    for (int64_t i = 0; i < c->added; i++)
        assert_true(tn_key_filter_has(filter, key_at(&list, i)));
    assert_ok(cx, tn_key_filter_print(cx, filter, &got));
    if (!tn_str_equal(tn_buf_view(&got), tn_buf_view(&want)))
        fail_msg("%u keys, %lld added: other text than one by one", c->keys, (long long)c->added);
    assert_int_equal(got.len, tn_key_filter_text_bytes(filter));
    tn_key_filter_close(filter);
    for (uint32_t i = 0; i < m.rows; i++)
        free(m.row[i]);
    tn_buf_clear(&got);
    tn_buf_clear(&want);
    list_clear(&list);
}

static void test_key_filter__fills_rows_as_hudi_does(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++)
        check_fill(cx, &fills[i]);
    tarn_cx_close(cx);
}

/* Pieces on threads give the same bytes, whatever was asked or added in between. */
static void test_key_filter__is_the_same_on_a_pool(void **state)
{
    static const int64_t cuts[] = {0, 5, 40000, 40001, 80000};
    tarn_cx *one = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_cx *four = tarn_cx_open(&(tarn_cx_options){.jobs = 4});
    tn_key_filter *a = NULL, *b = NULL;
    key_list list = list_make(80000);
    tn_buf want = {0}, got = {0};

    (void)state;
    for (int kind = TN_KEY_FILTER_SIMPLE; kind <= TN_KEY_FILTER_DYNAMIC; kind++) {
        tn_buf_reset(&want);
        tn_buf_reset(&got);
        assert_ok(one, tn_key_filter_open(one, kind, 30000, 1e-4, 50000, &a));
        assert_ok(four, tn_key_filter_open(four, kind, 30000, 1e-4, 50000, &b));
        assert_ok(one, add(one, a, &list, 0, list.count));
        for (size_t i = 0; i + 1 < sizeof cuts / sizeof cuts[0]; i++) {
            assert_ok(four, add(four, b, &list, cuts[i], cuts[i + 1] - cuts[i]));
            assert_true(tn_key_filter_has(b, key_at(&list, cuts[i + 1] - 1)));
        }
        assert_ok(one, tn_key_filter_print(one, a, &want));
        assert_ok(four, tn_key_filter_print(four, b, &got));
        assert_true(tn_str_equal(tn_buf_view(&want), tn_buf_view(&got)));
        tn_key_filter_close(a);
        tn_key_filter_close(b);
    }
    tn_buf_clear(&want);
    tn_buf_clear(&got);
    list_clear(&list);
    tarn_cx_close(one);
    tarn_cx_close(four);
}

static tn_key_filter *parse(tarn_cx *cx, const tn_buf *raw, enum tn_key_filter_kind kind)
{
    tn_key_filter *filter = NULL;
    tn_buf text = {0};

    tn_base64_encode(&text, tn_buf_view(raw));
    assert_ok(cx,
              tn_key_filter_parse(cx, tn_buf_view(&text), kind, TN_STR("p/x.parquet"), &filter));
    tn_buf_clear(&text);
    return filter;
}

/* The examples of the page: parsed, asked, and made again from their keys. */
static void test_key_filter__page_is_true(void **state)
{
    static const char *const names[] = {"simple", "dynamic"};
    tarn_cx *cx = tarn_cx_open(NULL);
    key_list list = {0};

    (void)state;
    list_add(&list, "id:1,name:Alice", 15);
    list_add(&list, "\xc3\xa9", 2);
    for (int kind = TN_KEY_FILTER_SIMPLE; kind <= TN_KEY_FILTER_DYNAMIC; kind++) {
        tn_buf raw = hex_of_page("key-filter.md", names[kind - 1]), want = {0}, got = {0};
        tn_key_filter *page = parse(cx, &raw, kind), *made = NULL;

        tn_base64_encode(&want, tn_buf_view(&raw));
        assert_true(tn_key_filter_has(page, TN_STR("id:1,name:Alice")));
        assert_true(tn_key_filter_has(page, TN_STR("\xc3\xa9")));
        assert_false(tn_key_filter_has(page, TN_STR("id:2,name:Bob")));
        assert_ok(cx, tn_key_filter_print(cx, page, &got));
        assert_true(tn_str_equal(tn_buf_view(&want), tn_buf_view(&got)));
        tn_buf_reset(&got);
        assert_ok(cx, tn_key_filter_open(cx, kind, 2, 0.01, 100000, &made));
        assert_ok(cx, add(cx, made, &list, 0, 2));
        assert_ok(cx, tn_key_filter_print(cx, made, &got));
        assert_true(tn_str_equal(tn_buf_view(&want), tn_buf_view(&got)));
        tn_key_filter_close(page);
        tn_key_filter_close(made);
        tn_buf_clear(&raw);
        tn_buf_clear(&want);
        tn_buf_clear(&got);
    }
    list_clear(&list);
    tarn_cx_close(cx);
}

static void test_key_filter__parsed_ones_take_keys_while_there_is_room(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    key_list list = list_make(20);
    tn_buf text = {0};
    tn_key_filter *made = NULL, *read = NULL;

    (void)state;
    for (int kind = TN_KEY_FILTER_SIMPLE; kind <= TN_KEY_FILTER_DYNAMIC; kind++) {
        tn_buf_reset(&text);
        assert_ok(cx, tn_key_filter_open(cx, kind, 18, 0.001, 100000, &made));
        assert_int_equal(tn_key_filter_room(made, 0), 18);
        assert_ok(cx, add(cx, made, &list, 0, 10));
        assert_ok(cx, tn_key_filter_print(cx, made, &text));
        assert_ok(cx, tn_key_filter_parse(cx, tn_buf_view(&text), kind, TN_STR("f"), &read));
        assert_in_range(tn_key_filter_room(read, 10), 7, 8);
        assert_in_range(tn_key_filter_room(read, 17), 0, 1);
        assert_int_equal(tn_key_filter_room(read, 1000), 0);
        assert_ok(cx, add(cx, read, &list, 10, 7));
        assert_ok(cx, add(cx, made, &list, 10, 7));
        for (int64_t i = 0; i < 17; i++)
            assert_true(tn_key_filter_has(read, key_at(&list, i)));
        tn_buf_reset(&text);
        assert_ok(cx, tn_key_filter_print(cx, made, &text));
        {
            tn_buf got = {0};

            assert_ok(cx, tn_key_filter_print(cx, read, &got));
            assert_true(tn_str_equal(tn_buf_view(&got), tn_buf_view(&text)));
            tn_buf_clear(&got);
        }
        if (kind == TN_KEY_FILTER_DYNAMIC)
            assert_fails(cx, TARN_E_INVALID, "is full", add(cx, read, &list, 17, 3));
        tn_key_filter_close(made);
        tn_key_filter_close(read);
    }
    tn_buf_clear(&text);
    list_clear(&list);
    tarn_cx_close(cx);
}

static void test_key_filter__old_forms_have_every_key(void **state)
{
    static const char *const old[] = {"00000007 00000010 0000",
                                      "ffffffff 00000007 00 00000010 ffff"};
    tarn_cx *cx = tarn_cx_open(NULL);
    key_list list = list_make(1);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tn_buf raw = hex_of(old[i]), want = {0}, got = {0};
        tn_key_filter *filter = parse(cx, &raw, TN_KEY_FILTER_SIMPLE);

        assert_true(tn_key_filter_has(filter, TN_STR("any")));
        assert_int_equal(tn_key_filter_room(filter, 0), 0);
        assert_fails(cx, TARN_E_UNSUPPORTED, "old form", add(cx, filter, &list, 0, 1));
        tn_base64_encode(&want, tn_buf_view(&raw));
        assert_ok(cx, tn_key_filter_print(cx, filter, &got));
        assert_true(tn_str_equal(tn_buf_view(&want), tn_buf_view(&got)));
        assert_int_equal(got.len, tn_key_filter_text_bytes(filter));
        tn_key_filter_close(filter);
        tn_buf_clear(&raw);
        tn_buf_clear(&want);
        tn_buf_clear(&got);
    }
    list_clear(&list);
    tarn_cx_close(cx);
}

static const struct bad_case {
    enum tn_key_filter_kind kind;
    const char *hex, *part;
} bad[] = {
    {TN_KEY_FILTER_SIMPLE, "", "cut short"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 01 000000", "cut short"},
    {TN_KEY_FILTER_SIMPLE, "fffffffe 00000007 01 00000010 0000", "version"},
    {TN_KEY_FILTER_SIMPLE, "00000000 00000007 01 00000010 0000", "version"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000000 01 00000010 0000", "number of hashes"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 7fffffff 01 00000010 0000", "number of hashes"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 02 00000010 0000", "kind of hash"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 01 00000000", "number of bits"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 01 80000000", "number of bits"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 01 7fffffff 00", "cut short"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 01 00000010 00", "cut short"},
    {TN_KEY_FILTER_SIMPLE, "ffffffff 00000007 01 00000010 000000", "1 bytes follow"},
    {TN_KEY_FILTER_DYNAMIC, "ffffffff 00000007 01 00000010 00000010 00000000", "rows"},
    {TN_KEY_FILTER_DYNAMIC, "ffffffff 00000007 01 00000010 00000010 00000000 00000000", "0 rows"},
    {TN_KEY_FILTER_DYNAMIC, "ffffffff 00000007 01 00000010 00000010 00000000 7fffffff", "rows"},
    {TN_KEY_FILTER_DYNAMIC,
     "ffffffff 00000007 01 00000010 00000010 00000000 00000001 ffffffff 00000007 01 00000011 0000",
     "row 0"},
    {TN_KEY_FILTER_DYNAMIC,
     "ffffffff 00000007 01 00000010 00000010 00000000 00000001 ffffffff 00000007 01 00000010 00",
     "cut short"},
};

static void test_key_filter__refuses_what_is_none(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_key_filter *filter = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tn_buf raw = hex_of(bad[i].hex), text = {0};

        tn_base64_encode(&text, tn_buf_view(&raw));
        assert_fails(cx, TARN_E_CORRUPT, bad[i].part,
                     tn_key_filter_parse(cx, tn_buf_view(&text), bad[i].kind, TN_STR("p/x.parquet"),
                                         &filter));
        assert_true(test_text_has(tarn_cx_error(cx), "p/x.parquet"));
        tn_buf_clear(&raw);
        tn_buf_clear(&text);
    }
    assert_fails(cx, TARN_E_CORRUPT, "no base64",
                 tn_key_filter_parse(cx, TN_STR("?"), TN_KEY_FILTER_SIMPLE, TN_STR("x"), &filter));
    assert_null(filter);
    tarn_cx_close(cx);
}

static void test_key_filter__refuses_absurd_sizes_and_empty_keys(void **state)
{
    static const int32_t offsets[] = {0, 1, 1};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_key_filter *filter = NULL;

    (void)state;
    assert_fails(cx, TARN_E_LIMIT, "smaller files",
                 tn_key_filter_open(cx, TN_KEY_FILTER_SIMPLE, 60000000, 1e-9, 0, &filter));
    assert_fails(cx, TARN_E_LIMIT, "smaller files",
                 tn_key_filter_open(cx, TN_KEY_FILTER_SIMPLE, UINT64_MAX, 0.5, 0, &filter));
    assert_fails(cx, TARN_E_INVALID, "between 0 and 1",
                 tn_key_filter_open(cx, TN_KEY_FILTER_SIMPLE, 10, 1.0, 0, &filter));
    assert_fails(cx, TARN_E_INVALID, "between 0 and 1",
                 tn_key_filter_open(cx, TN_KEY_FILTER_SIMPLE, 10, 0.0, 0, &filter));
    assert_null(filter);
    assert_ok(cx, tn_key_filter_open(cx, TN_KEY_FILTER_SIMPLE, 10, 0.1, 0, &filter));
    assert_fails(cx, TARN_E_INVALID, "key 1", tn_key_filter_add(cx, filter, "a", offsets, 2));
    tn_key_filter_close(filter);
    tarn_cx_close(cx);
}
