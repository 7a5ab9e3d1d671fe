/* Thrift and the structures: tables of bytes, and random metadata through encoder and decoder. */
#include "unit/hex.h"

#include "codec/parquet/meta.h"
#include "codec/parquet/thrift.h"

static void test_meta__thrift_faults(void **state)
{
    static const struct {
        const char *name, *hex, *text;
    } cases[] = {
        {"nothing", "", "byte 0: the bytes end inside a value"},
        {"cut field", "15", "byte 1: the bytes end"},
        {"cut string", "88 05 61", "the bytes end"},
        {"string longer than all", "88 ff ff ff ff 0f 61", "the bytes end"},
        {"list longer than all", "89 f5 ff ff ff ff 0f 00", "the bytes end"},
        {"map longer than all", "8b ff ff ff ff 0f 55 00", "the bytes end"},
        {"varint of more than 64 bits", "86 ff ff ff ff ff ff ff ff ff 7f 00", "64 bits"},
        {"unknown type", "8e 00", "not a Thrift field"},
        {"unknown type of elements", "89 1e 00 00", "not a Thrift type"},
        {"field number out of range", "05 ff ff ff ff 0f 00 00", "not a Thrift field"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_buf bytes = hex_of(cases[i].hex);
        tn_thrift t = tn_thrift_over(cx, tn_buf_view(&bytes), NULL);
        tn_thrift_field f = {0};

        while (tn_thrift_next(&t, &f))
            tn_thrift_skip(&t, &f);
        assert_fails(cx, TARN_E_CORRUPT, cases[i].text, tn_thrift_check(cx, &t, cases[i].name));
        tn_buf_clear(&bytes);
    }
    tarn_cx_close(cx);
}

static void test_meta__thrift_skips_every_type(void **state)
{
    /* Fields 1 to 13 of every type, then field 14, I32 21. */
    tn_buf bytes = hex_of("11 12 13 7f 14 01 15 03 16 05 17 0000000000000000 18 02 6162"
                          "19 21 01 02 1a 13 7f 1b 01 58 02 0161 1c 15 02 00"
                          "1d 00112233445566778899aabbccddeeff 15 2a 00");
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_thrift t = tn_thrift_over(cx, tn_buf_view(&bytes), NULL);
    tn_thrift_field f = {0};
    int32_t value = 0;
    int fields = 0;

    (void)state;
    while (tn_thrift_next(&t, &f)) {
        fields++;
        if (f.id == 14)
            tn_thrift_take_i32(&t, &f, &value);
        else
            tn_thrift_skip(&t, &f);
    }
    assert_ok(cx, tn_thrift_check(cx, &t, "all"));
    assert_int_equal(fields, 14);
    assert_int_equal(value, 21);
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_meta__thrift_depth(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf bytes = {0};
    tn_thrift_field f = {0};
    tn_thrift t;

    (void)state;
    for (int i = 0; i < 100000; i++)
        tn_buf_u8(&bytes, 0x1C);
    t = tn_thrift_over(cx, tn_buf_view(&bytes), NULL);
    while (tn_thrift_next(&t, &f))
        tn_thrift_skip(&t, &f);
    assert_fails(cx, TARN_E_CORRUPT, "deeper than 64", tn_thrift_check(cx, &t, "deep"));
    tn_buf_clear(&bytes);
    tarn_cx_close(cx);
}

static void test_meta__page_headers(void **state)
{
    static const struct {
        const char *name, *hex, *text; /* text NULL: decodes */
        bool short_input;
    } cases[] = {
        {"v1", "1500 1508 1508 2c 1502 1500 1506 1506 00 00", NULL, false},
        {"v2", "1506 1508 1508 5c 1502 1500 1502 1500 1500 1500 11 00 00", NULL, false},
        {"dictionary", "1504 1508 1508 4c 1502 1504 00 00", NULL, false},
        {"cut", "1500 1508 1508 2c 1502 15", "end inside", true},
        {"without its own header", "1500 1508 1508 00", "without the header of its type", false},
        {"of another type", "1500 1508 1508 4c 1502 1504 00 00", "without the header", false},
        {"negative size", "1500 1501 1508 00", "negative uncompressed size", false},
        {"negative levels", "1506 1508 1508 5c 1502 1500 1502 1500 1501 1500 11 00 00",
         "negative length of definition", false},
        {"v2 without a count", "1506 1508 1508 5c 1502 2502 1500 1500 1500 11 00 00", "version 2",
         false},
        {"without sizes", "1500 00", "without type or sizes", false},
        {"index page", "1502 1508 1508 3c 00 00", NULL, false},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_buf bytes = hex_of(cases[i].hex);
        tn_page_header header;
        bool short_input;
        size_t len = bytes.len;

        if (cases[i].text == NULL) {
            tn_buf_text(&bytes, "more");
            assert_ok(
                cx, tn_page_header_decode(cx, tn_buf_view(&bytes), &arena, &header, &short_input));
            assert_int_equal(header.header_bytes, len);
            assert_int_equal(header.compressed_bytes, 4);
        } else {
            assert_fails(
                cx, TARN_E_CORRUPT, cases[i].text,
                tn_page_header_decode(cx, tn_buf_view(&bytes), &arena, &header, &short_input));
        }
        assert_int_equal(short_input, cases[i].short_input);
        tn_buf_clear(&bytes);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

/* Random structures. */
typedef struct dice {
    tarn_cx *cx;
    tn_arena *arena;
    uint64_t state;
} dice;

static uint64_t roll(dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static bool maybe(dice *d)
{
    return roll(d) & 1;
}

static int64_t size(dice *d)
{
    return (int64_t)(roll(d) >> (1 + roll(d) % 62));
}

static tn_str text(dice *d)
{
    size_t len = roll(d) % 20;
    char *out = tn_arena_take(d->cx, d->arena, len + 1);

    for (size_t i = 0; i < len; i++)
        out[i] = (char)roll(d);
    return (tn_str){out, len};
}

static int64_t *sizes(dice *d, size_t count)
{
    int64_t *out = tn_arena_array(d->cx, d->arena, count + 1, sizeof *out);

    for (size_t i = 0; i < count; i++)
        out[i] = size(d);
    return out;
}

static void random_statistics(dice *d, tn_statistics *s)
{
    *s = (tn_statistics){.has_min = maybe(d),
                         .has_max = maybe(d),
                         .has_null_count = maybe(d),
                         .has_distinct_count = maybe(d),
                         .has_min_value = maybe(d),
                         .has_max_value = maybe(d),
                         .has_min_exact = maybe(d),
                         .has_max_exact = maybe(d),
                         .has_nan_count = maybe(d)};
    if (s->has_min)
        s->min = text(d);
    if (s->has_max)
        s->max = text(d);
    if (s->has_null_count)
        s->null_count = size(d);
    if (s->has_distinct_count)
        s->distinct_count = size(d);
    if (s->has_min_value)
        s->min_value = text(d);
    if (s->has_max_value)
        s->max_value = text(d);
    s->min_exact = s->has_min_exact && maybe(d);
    s->max_exact = s->has_max_exact && maybe(d);
    if (s->has_nan_count)
        s->nan_count = size(d);
}

static void random_element(dice *d, tn_element *e)
{
    static const int32_t logicals[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15};

    *e = (tn_element){.name = text(d), .group = maybe(d), .converted = (int32_t)(roll(d) % 23) - 1};
    e->logical = logicals[roll(d) % 15];
    e->repetition = (enum tn_repetition)(roll(d) % 3);
    if (e->group)
        e->children = (int32_t)(roll(d) % 5);
    else
        e->physical = (enum tn_physical)(roll(d) % 8);
    if (!e->group && e->physical == TN_FIXED)
        e->type_length = (int32_t)(roll(d) % 50);
    if (e->converted == TN_DECIMAL || e->logical == TN_LOGICAL_DECIMAL) {
        e->scale = (int32_t)(roll(d) % 20);
        e->precision = (int32_t)(roll(d) % 77);
    }
    if (e->logical == TN_LOGICAL_TIME || e->logical == TN_LOGICAL_TIMESTAMP) {
        e->adjusted_to_utc = maybe(d);
        e->unit = (int32_t)(1 + roll(d) % 3);
    }
    if (e->logical == TN_LOGICAL_INTEGER) {
        e->bit_width = 8 << roll(d) % 4;
        e->is_signed = maybe(d);
    }
    if ((e->has_field_id = maybe(d)))
        e->field_id = (int32_t)roll(d);
    if (roll(d) % 8 == 0) { /* GEOMETRY with a coordinate system */
        e->logical = TN_LOGICAL_GEOMETRY;
        e->logical_raw = TN_STR("\x0C\x22\x18\x03"
                                "crs"
                                "\x00\x00");
        e->converted = TN_CONVERTED_NONE;
        e->unit = e->bit_width = e->scale = e->precision = 0;
        e->adjusted_to_utc = e->is_signed = false;
    }
}

static void random_chunk(dice *d, tn_chunk_meta *c)
{
    *c = (tn_chunk_meta){.has_meta = true,
                         .file_offset = size(d),
                         .physical = (int32_t)(roll(d) % 8),
                         .codec = (int32_t)(roll(d) % 9),
                         .values = size(d),
                         .uncompressed_bytes = size(d),
                         .compressed_bytes = size(d),
                         .data_page_offset = size(d)};
    c->encoding_count = roll(d) % 20;
    c->encodings = tn_arena_array(d->cx, d->arena, 20, sizeof *c->encodings);
    for (size_t i = 0; i < c->encoding_count; i++)
        c->encodings[i] = (int32_t)(roll(d) % 10);
    c->path_count = 1 + roll(d) % 3;
    c->path = tn_arena_array(d->cx, d->arena, 3, sizeof *c->path);
    for (size_t i = 0; i < c->path_count; i++)
        c->path[i] = text(d);
    if ((c->has_dictionary_page_offset = maybe(d)))
        c->dictionary_page_offset = size(d);
    if ((c->has_index_page_offset = maybe(d)))
        c->index_page_offset = size(d);
    if ((c->has_statistics = maybe(d)))
        random_statistics(d, &c->statistics);
    if ((c->has_bloom = maybe(d)))
        c->bloom_bytes = (int32_t)(roll(d) % 1000);
    c->bloom_offset = c->has_bloom ? size(d) : 0;
    c->encoding_stat_count = roll(d) % 3;
    c->encoding_stats = tn_arena_array(d->cx, d->arena, 3, sizeof *c->encoding_stats);
    for (size_t i = 0; i < c->encoding_stat_count; i++)
        c->encoding_stats[i] = (tn_encoding_stat){(int32_t)(roll(d) % 4), 8, (int32_t)i};
    if ((c->size_statistics.present = maybe(d))) {
        c->size_statistics.rep_count = roll(d) % 3;
        c->size_statistics.rep_histogram = sizes(d, 3);
        c->size_statistics.has_unencoded = maybe(d);
        c->size_statistics.unencoded_bytes = c->size_statistics.has_unencoded ? size(d) : 0;
    }
    if (maybe(d))
        c->geospatial_raw = TN_STR("\x29\x15\x02\x00"); /* one type of geometry: point */
    c->column_index_offset = maybe(d) ? size(d) + 1 : 0;
    c->column_index_bytes = c->column_index_offset != 0 ? 77 : 0;
    c->offset_index_offset = maybe(d) ? size(d) + 1 : 0;
    c->offset_index_bytes = c->offset_index_offset != 0 ? 78 : 0;
}

static void random_footer(dice *d, tn_footer *f)
{
    *f = (tn_footer){.version = (int32_t)(roll(d) % 3), .rows = size(d), .created_by = text(d)};
    f->element_count = 1 + roll(d) % 20;
    f->elements = tn_arena_array(d->cx, d->arena, f->element_count, sizeof *f->elements);
    for (size_t i = 0; i < f->element_count; i++)
        random_element(d, &f->elements[i]);
    f->elements[0].repetition = TN_REQUIRED;
    f->group_count = roll(d) % 18;
    f->groups = tn_arena_array(d->cx, d->arena, 18, sizeof *f->groups);
    for (size_t g = 0; g < f->group_count; g++) {
        tn_row_group_meta *group = &f->groups[g];

        *group = (tn_row_group_meta){.column_count = roll(d) % 4,
                                     .total_bytes = size(d),
                                     .rows = size(d),
                                     .file_offset = size(d),
                                     .compressed_bytes = size(d),
                                     .ordinal = (int32_t)(roll(d) % 5) - 1,
                                     .sorting_count = roll(d) % 3};
        group->columns = tn_arena_array(d->cx, d->arena, 4, sizeof *group->columns);
        for (size_t i = 0; i < group->column_count; i++)
            random_chunk(d, &group->columns[i]);
        group->sorting = tn_arena_array(d->cx, d->arena, 3, sizeof *group->sorting);
        for (size_t i = 0; i < group->sorting_count; i++)
            group->sorting[i] = (tn_sorting_column){(int32_t)i, maybe(d), maybe(d)};
    }
    f->key_value_count = roll(d) % 3;
    f->key_values = tn_arena_array(d->cx, d->arena, 3, sizeof *f->key_values);
    for (size_t i = 0; i < f->key_value_count; i++) {
        bool has_value = maybe(d);

        f->key_values[i] = (tn_key_value){.key = text(d), .has_value = has_value};
        if (has_value)
            f->key_values[i].value = text(d);
    }
    f->column_order_count = roll(d) % 4;
    f->column_orders = tn_arena_array(d->cx, d->arena, 4, sizeof *f->column_orders);
    for (size_t i = 0; i < f->column_order_count; i++)
        f->column_orders[i] = (int32_t)(roll(d) % 4);
}

static void expect_element(const tn_element *a, const tn_element *b)
{
    assert_true(tn_str_equal(a->name, b->name));
    assert_int_equal(a->group, b->group);
    assert_int_equal(a->physical, b->physical);
    assert_int_equal(a->type_length, b->type_length);
    assert_int_equal(a->repetition, b->repetition);
    assert_int_equal(a->children, b->children);
    assert_int_equal(a->converted, b->converted);
    assert_int_equal(a->scale, b->scale);
    assert_int_equal(a->precision, b->precision);
    assert_int_equal(a->field_id, b->field_id);
    assert_int_equal(a->logical, b->logical);
    assert_int_equal(a->adjusted_to_utc, b->adjusted_to_utc);
    assert_int_equal(a->unit, b->unit);
    assert_int_equal(a->bit_width, b->bit_width);
    assert_int_equal(a->is_signed, b->is_signed);
    assert_true(tn_str_equal(a->logical_raw, b->logical_raw));
}

static void expect_chunk(const tn_chunk_meta *a, const tn_chunk_meta *b)
{
    const tn_statistics *s = &a->statistics;
    const tn_statistics *t = &b->statistics;

    assert_int_equal(a->file_offset, b->file_offset);
    assert_int_equal(a->codec, b->codec);
    assert_int_equal(a->values, b->values);
    assert_int_equal(a->uncompressed_bytes, b->uncompressed_bytes);
    assert_int_equal(a->compressed_bytes, b->compressed_bytes);
    assert_int_equal(a->data_page_offset, b->data_page_offset);
    assert_int_equal(a->dictionary_page_offset, b->dictionary_page_offset);
    assert_int_equal(a->index_page_offset, b->index_page_offset);
    assert_int_equal(a->bloom_offset, b->bloom_offset);
    assert_int_equal(a->has_statistics, b->has_statistics);
    assert_int_equal(s->has_min_value, t->has_min_value);
    assert_true(tn_str_equal(s->min_value, t->min_value));
    assert_true(tn_str_equal(s->max_value, t->max_value));
    assert_true(tn_str_equal(s->min, t->min));
    assert_true(tn_str_equal(s->max, t->max));
    assert_int_equal(s->null_count, t->null_count);
    assert_int_equal(s->distinct_count, t->distinct_count);
    assert_int_equal(s->nan_count, t->nan_count);
    assert_int_equal(s->min_exact, t->min_exact);
    assert_int_equal(s->max_exact, t->max_exact);
    assert_true(tn_str_equal(a->geospatial_raw, b->geospatial_raw));
    assert_int_equal(a->column_index_offset, b->column_index_offset);
    assert_int_equal(a->offset_index_bytes, b->offset_index_bytes);
}

static void test_meta__random_footers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        tarn_cx *cx = tarn_cx_open(NULL);
        tn_arena arena = {0};
        dice d = {cx, &arena, seed};
        tn_buf first = {0};
        tn_buf second = {0};
        tn_footer want, got;

        random_footer(&d, &want);
        tn_footer_encode(&first, &want);
        assert_ok(cx, tn_footer_decode(cx, tn_buf_view(&first), &arena, &got));
        tn_footer_encode(&second, &got);
        if (!tn_str_equal(tn_buf_view(&first), tn_buf_view(&second)))
            fail_msg("seed %llu: encodings differ", (unsigned long long)seed);
        assert_int_equal(want.rows, got.rows);
        assert_int_equal(want.element_count, got.element_count);
        for (size_t i = 0; i < want.element_count; i++)
            expect_element(&want.elements[i], &got.elements[i]);
        for (size_t g = 0; g < want.group_count; g++) {
            assert_int_equal(want.groups[g].ordinal, got.groups[g].ordinal);
            assert_int_equal(want.groups[g].rows, got.groups[g].rows);
            for (size_t i = 0; i < want.groups[g].column_count; i++)
                expect_chunk(&want.groups[g].columns[i], &got.groups[g].columns[i]);
        }
        assert_true(tn_str_equal(want.created_by, got.created_by));
        tn_buf_clear(&first);
        tn_buf_clear(&second);
        tn_arena_clear(&arena);
        tarn_cx_close(cx);
    }
}

static void test_meta__names(void **state)
{
    (void)state;
    assert_string_equal(tn_codec_name(TN_CODEC_LZ4_RAW), "LZ4_RAW");
    assert_string_equal(tn_codec_name(8), "unknown");
    assert_string_equal(tn_codec_name(-1), "unknown");
    assert_string_equal(tn_encoding_name(1), "unknown");
    assert_string_equal(tn_encoding_name(TN_ENC_BYTE_STREAM_SPLIT), "BYTE_STREAM_SPLIT");
    assert_string_equal(tn_physical_name(TN_FIXED), "FIXED_LEN_BYTE_ARRAY");
    assert_string_equal(tn_logical_name(TN_LOGICAL_GEOGRAPHY), "GEOGRAPHY");
    assert_string_equal(tn_logical_name(9), "unknown");
    assert_string_equal(tn_converted_name(TN_INTERVAL), "INTERVAL");
    assert_string_equal(tn_converted_name(TN_CONVERTED_NONE), "NONE");
}
