/* Schemas as text: "name" then "!" required, "?" optional, "*" repeated, then "@list" or "@map",
 * then ":type" or "{children}". A mapping as text: per leaf its source, or "-" and the donor with
 * its levels, then "#cast", then the level map in brackets. */
#include "table/unify.h"

#include "unit/test.h"

typedef struct spec {
    tarn_cx *cx;
    tn_arena arena;
    tn_element elements[64];
    size_t count;
    const char *at;
} spec;

static const struct {
    const char *name;
    tn_element element;
} types[] = {
    {"i32", {.physical = TN_INT32, .converted = -1}},
    {"i64", {.physical = TN_INT64, .converted = -1}},
    {"u32", {.physical = TN_INT32, .converted = TN_UINT_32}},
    {"i16", {.physical = TN_INT32, .converted = TN_INT_16}},
    {"f32", {.physical = TN_FLOAT, .converted = -1}},
    {"f64", {.physical = TN_DOUBLE, .converted = -1}},
    {"bin", {.physical = TN_BYTE_ARRAY, .converted = -1}},
    {"str", {.physical = TN_BYTE_ARRAY, .converted = -1, .logical = TN_LOGICAL_STRING}},
    {"utf8", {.physical = TN_BYTE_ARRAY, .converted = TN_UTF8}},
    {"enum", {.physical = TN_BYTE_ARRAY, .converted = TN_ENUM}},
    {"null", {.physical = TN_INT32, .converted = -1, .logical = TN_LOGICAL_UNKNOWN}},
    {"ms", {.physical = TN_INT64, .converted = TN_TIMESTAMP_MILLIS}},
    {"us", {.physical = TN_INT64, .converted = TN_TIMESTAMP_MICROS}},
    {"d9", {.physical = TN_INT32, .converted = TN_DECIMAL, .precision = 9, .scale = 2}},
    {"d9f4",
     {.physical = TN_FIXED, .type_length = 4, .converted = TN_DECIMAL, .precision = 9, .scale = 2}},
    {"d9f16",
     {.physical = TN_FIXED,
      .type_length = 16,
      .converted = TN_DECIMAL,
      .precision = 9,
      .scale = 2}},
    {"d12", {.physical = TN_INT64, .converted = TN_DECIMAL, .precision = 12, .scale = 2}},
    {"d9s3", {.physical = TN_INT32, .converted = TN_DECIMAL, .precision = 9, .scale = 3}},
};

static void parse_children(spec *s, size_t parent)
{
    while (*s->at != '\0' && *s->at != '}') {
        size_t start, index = s->count++;
        tn_element *e = &s->elements[index];

        while (*s->at == ' ')
            s->at++;
        start = strcspn(s->at, "!?*");
        *e = (tn_element){.converted = -1};
        e->name = (tn_str){s->at, start};
        s->at += start;
        e->repetition = *s->at == '!' ? TN_REQUIRED : *s->at == '?' ? TN_OPTIONAL : TN_REPEATED;
        s->at++;
        if (*s->at == '#') {
            e->has_field_id = true;
            e->field_id = (int32_t)strtol(s->at + 1, (char **)&s->at, 10);
        }
        if (strncmp(s->at, "@list", 5) == 0)
            e->converted = TN_LIST, s->at += 5;
        else if (strncmp(s->at, "@map", 4) == 0)
            e->converted = TN_MAP, s->at += 4;
        s->elements[parent].children++;
        if (*s->at == '{') {
            s->at++;
            e->group = true;
            parse_children(s, index);
            assert_int_equal(*s->at, '}');
            s->at++;
        } else {
            size_t len = strcspn(++s->at, " }"), t = 0;
            tn_element kept = *e;

            while (t < sizeof types / sizeof types[0] &&
                   !(strlen(types[t].name) == len && memcmp(types[t].name, s->at, len) == 0))
                t++;
            assert_true(t < sizeof types / sizeof types[0]);
            *e = types[t].element;
            e->name = kept.name;
            e->repetition = kept.repetition;
            e->has_field_id = kept.has_field_id;
            e->field_id = kept.field_id;
            s->at += len;
        }
        while (*s->at == ' ')
            s->at++;
    }
}

static void parse(spec *s, const char *text)
{
    s->at = text;
    s->count = 1;
    s->elements[0] = (tn_element){.name = TN_STR("schema"), .group = true, .converted = -1};
    parse_children(s, 0);
}

static void print_tree(tn_buf *out, const tn_element *elements, size_t *at, int32_t children)
{
    for (int32_t i = 0; i < children; i++) {
        const tn_element *e = &elements[(*at)++];

        if (i != 0)
            tn_buf_u8(out, ' ');
        tn_buf_str(out, e->name);
        tn_buf_u8(out, (uint8_t) "!?*"[e->repetition]);
        if (e->has_field_id)
            tn_buf_print(out, "#%d", e->field_id);
        if (e->group) {
            tn_buf_text(out, e->converted == TN_LIST  ? "@list"
                             : e->converted == TN_MAP ? "@map"
                                                      : "");
            tn_buf_u8(out, '{');
            print_tree(out, elements, at, e->children);
            tn_buf_u8(out, '}');
            continue;
        }
        tn_buf_u8(out, ':');
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
            if (types[t].element.physical == e->physical &&
                types[t].element.logical == e->logical &&
                types[t].element.converted == e->converted &&
                types[t].element.type_length == e->type_length &&
                types[t].element.precision == e->precision && types[t].element.scale == e->scale)
                tn_buf_text(out, types[t].name);
    }
}

static void print_mapping(tn_buf *out, const tn_leaf_source *source, size_t count)
{
    static const char *const casts[] = {"", "#i64", "#f64", "#f64", "#dec", "#null", "#u64", "#us"};

    for (size_t l = 0; l < count; l++) {
        if (l != 0)
            tn_buf_u8(out, ' ');
        if (source[l].leaf >= 0)
            tn_buf_print(out, "%d", source[l].leaf);
        else if (source[l].donor < 0)
            tn_buf_text(out, "-");
        else
            tn_buf_print(out, "-%d.%d.%d", source[l].donor, source[l].donor_def,
                         source[l].donor_rep);
        tn_buf_text(out, casts[source[l].cast]);
        if (source[l].def_map == NULL)
            continue;
        for (uint32_t i = 0; i < source[l].def_map_count; i++)
            tn_buf_print(out, "%c%u", i == 0 ? '[' : ' ', source[l].def_map[i]);
        tn_buf_u8(out, ']');
    }
}

static void test_unify__schemas(void **state)
{
    static const struct {
        const char *a, *b;
        bool widen;
        const char *out; /* NULL: cannot be, and `map_a` is part of why */
        const char *map_a, *map_b;
    } cases[] = {
        {"a!:i32", "a!:i32", false, "a!:i32", "0", "0"},
        {"a!:i32 b?:str", "b?:str a!:i32", false, "a!:i32 b?:str", "0 1", "1 0"},
        {"a!:i32", "a?:i32", false, "a?:i32", "0[1]", "0"},
        {"a!:i32", "b!:str", false, "a?:i32 b?:str", "0[1] -", "- 0[1]"},
        {"a?:i32", "a?:i32 r*:i32", false, "a?:i32 r*:i32", "0 -", "0 1"},
        {"s?{x!:i32}", "s!{x?:i32}", false, "s?{x?:i32}", "0[0 2]", "0[1 2]"},
        {"s?{x?:i32 y?:str}", "s?{y?:str}", false, "s?{x?:i32 y?:str}", "0 1", "-0.1.0 0"},
        {"s!{x!:i32}", "s!{y!:i32}", false, "s!{x?:i32 y?:i32}", "0[1] -0.0.0", "-0.0.0 0[1]"},
        {"l?@list{list*{element?:i32}}", "l?@list{bag*{array_element?:i32}}", false,
         "l?@list{list*{element?:i32}}", "0", "0"},
        {"l?@list{list*{element!:i32}}", "l?@list{list*{element?:i32}}", false,
         "l?@list{list*{element?:i32}}", "0[0 1 3]", "0"},
        {"l?@list{list*{e?{a?:i32 b?:str}}}", "l?@list{list*{e?{b?:str}}}", false,
         "l?@list{list*{e?{a?:i32 b?:str}}}", "0 1", "-0.3.1 0"},
        {"m?@map{kv*{key!:str value?:i32}}", "m?@map{key_value*{k!:str v?:i32}}", false,
         "m?@map{kv*{key!:str value?:i32}}", "0 1", "0 1"},
        {"l?@list{array*{a!:i32}}", "l?@list{list*{element?{a!:i32}}}", false, NULL,
         "different kind", ""},
        {"a!:i32", "a!{b!:i32}", false, NULL, "a group in one file", ""},
        {"a!:i32", "a*:i32", false, NULL, "repeated in one file only", ""},
        {"a!:i32", "a!:str", false, NULL, "different types", ""},
        {"a!:i32", "a!:i64", false, NULL, "--widen", ""},
        {"a!:i32", "a!:i64", true, "a!:i64", "0#i64", "0"},
        {"a!:f64", "a?:i32", true, "a?:f64", "0[1]", "0#f64"},
        {"a!:f32", "a!:f64", true, "a!:f64", "0#f64", "0"},
        {"a!:f64", "a!:i64", true, NULL, "no widening", ""},
        {"a!:u32", "a!:i64", true, "a!:i64", "0#u64", "0"},
        {"a!:u32", "a!:i64", false, NULL, "--widen", ""},
        {"a!:u32", "a!:i32", true, NULL, "no widening", ""},
        {"a!:i16", "a!:i32", true, "a!:i32", "0", "0"},
        {"a!:ms", "a!:us", true, "a!:us", "0#us", "0"},
        {"a!:us", "a!:ms", true, "a!:us", "0", "0#us"},
        {"a!:ms", "a!:us", false, NULL, "--widen", ""},
        {"a!:utf8", "a!:str", false, "a!:utf8", "0", "0"},
        {"a!:enum", "a!:str", false, "a!:str", "0", "0"},
        {"a!:bin", "a!:str", false, NULL, "different types", ""},
        {"a?:null", "a?:str", false, "a?:str", "0#null", "0"},
        {"a?:str", "a?:null", false, "a?:str", "0", "0#null"},
        {"a!:d9", "a!:d9f16", false, "a!:d9f16", "0#dec", "0"},
        {"a!:d9f16", "a!:d9f4", false, "a!:d9f16", "0", "0#dec"},
        {"a!:d9", "a!:d12", false, NULL, "precision", ""},
        {"a!:d9", "a!:d12", true, "a!:d12", "0#dec", "0"},
        {"a!:d9", "a!:d9s3", true, NULL, "scale", ""},
        {"ID!:i32", "id!:i32", false, "ID!:i32", "0", "0"},
        {"id!:i32", "ID!:i32 id!:i32", false, "id!:i32 ID?:i32", "0 -", "1 0[1]"},
        {"a!:i32 a!:i32", "a!:i32 b!:i32 a!:i32", false, NULL, "two of this name", ""},
        {"a!#1:i32", "a!#1:i32", false, "a!#1:i32", "0", "0"},
        {"a!#1:i32", "a!#2:i32", false, NULL, "field ids differ", ""},
        {"a!#1:i32", "a!:i32", false, NULL, "field ids differ", ""},
        {"a!#1:i32", "b!#1:i32", false, NULL, "share field id", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        spec a = {0}, b = {0};
        tn_unify_options options = {.widen = cases[i].widen};
        tn_arena arena = {0};
        tn_unified out = {0};
        tn_buf text = {0};
        tn_str why;
        size_t at = 1;
        tarn_cx *cx = tarn_cx_open(NULL);

        parse(&a, cases[i].a);
        parse(&b, cases[i].b);
        {
            tn_dir_schema schemas[2] = {{.elements = a.elements, .element_count = a.count},
                                        {.elements = b.elements, .element_count = b.count}};
            const tn_dir_schema *inputs[2] = {&schemas[0], &schemas[1]};

            assert_ok(cx, tn_unify(cx, &arena, inputs, 2, &options, &out, &why));
        }
        if (cases[i].out == NULL) {
            if (why.len == 0 || strstr(why.ptr, cases[i].map_a) == NULL)
                fail_msg("%s | %s: unified, or why not: %.*s", cases[i].a, cases[i].b,
                         TN_STR_ARG(why));
        } else {
            if (why.len != 0)
                fail_msg("%s | %s: %.*s", cases[i].a, cases[i].b, TN_STR_ARG(why));
            print_tree(&text, out.elements, &at, out.elements[0].children);
            tn_buf_u8(&text, '\0');
            assert_string_equal((char *)text.data, cases[i].out);
            for (int k = 0; k < 2; k++) {
                tn_buf_reset(&text);
                print_mapping(&text, out.mappings[k], out.leaf_count);
                tn_buf_u8(&text, '\0');
                if (strcmp((char *)text.data, k == 0 ? cases[i].map_a : cases[i].map_b) != 0)
                    fail_msg("%s | %s: mapping %d is %s", cases[i].a, cases[i].b, k,
                             (char *)text.data);
            }
        }
        tn_buf_clear(&text);
        tn_arena_clear(&arena);
        tarn_cx_close(cx);
    }
}

static tn_dir_keys keys_of(tn_key_value *values, size_t count)
{
    return (tn_dir_keys){values, count};
}

static void test_unify__calendars(void **state)
{
    tn_key_value old[] = {{TN_STR("org.apache.spark.version"), TN_STR("2.4.4"), true}};
    tn_key_value new[] = {{TN_STR("org.apache.spark.version"), TN_STR("3.5.0"), true}};
    tn_key_value legacy[] = {{TN_STR("org.apache.spark.version"), TN_STR("3.5.0"), true},
                             {TN_STR("org.apache.spark.legacyDateTime"), TN_STR(""), true}};
    tn_dir_keys none = {0}, a = keys_of(old, 1), b = keys_of(new, 1), c = keys_of(legacy, 2);

    (void)state;
    assert_int_equal(tn_unify_calendars(&a, TN_STR("parquet-mr")).dates, TN_CALENDAR_HYBRID);
    assert_int_equal(tn_unify_calendars(&b, TN_STR("parquet-mr")).dates, TN_CALENDAR_PROLEPTIC);
    assert_int_equal(tn_unify_calendars(&c, TN_STR("parquet-mr")).dates, TN_CALENDAR_HYBRID);
    assert_int_equal(tn_unify_calendars(&c, TN_STR("parquet-mr")).int96, TN_CALENDAR_PROLEPTIC);
    assert_int_equal(tn_unify_calendars(&none, TN_STR("parquet-mr version 1")).dates,
                     TN_CALENDAR_UNKNOWN);
    assert_int_equal(tn_unify_calendars(&none, TN_STR("parquet-cpp-arrow version 9")).dates,
                     TN_CALENDAR_PROLEPTIC);
}

static void test_unify__footer_keys(void **state)
{
    tn_key_value one[] = {{TN_STR("k"), TN_STR("1"), true},
                          {TN_STR("ARROW:schema"), TN_STR("x"), true},
                          {TN_STR("org.apache.spark.version"), TN_STR("3.5.0"), true},
                          {TN_STR("org.apache.spark.legacyDateTime"), TN_STR(""), true},
                          {TN_STR("tarn.merge"), TN_STR("5"), true},
                          {TN_STR("original.created.by"), TN_STR("w0"), true}};
    tn_key_value two[] = {{TN_STR("k"), TN_STR("2"), true},
                          {TN_STR("ARROW:schema"), TN_STR("x"), true},
                          {TN_STR("org.apache.spark.version"), TN_STR("2.4.4"), true}};
    tn_dir_keys sets[2] = {keys_of(one, 6), keys_of(two, 3)};
    const tn_dir_keys *inputs[2] = {&sets[0], &sets[1]};
    const tn_str writers[2] = {TN_STR("tarn"), TN_STR("w2")};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_unified unified = {.same_shape = true};
    tn_unify_keys out;

    (void)state;
    assert_ok(cx, tn_unify_footer_keys(cx, &arena, inputs, writers, 2, &unified, &out));
    assert_int_equal(out.count, 5);
    assert_true(tn_str_is(out.values[0].value, "1"));
    assert_true(tn_str_is(out.values[1].key, "ARROW:schema"));
    assert_true(tn_str_is(out.values[2].value, "3.5.0"));
    assert_true(tn_str_is(out.values[3].key, "org.apache.spark.legacyDateTime"));
    assert_true(tn_str_is(out.values[4].value, "w0\nw2"));
    assert_int_equal(out.note_count, 1);
    unified.same_shape = false;
    assert_ok(cx, tn_unify_footer_keys(cx, &arena, inputs, writers, 2, &unified, &out));
    assert_int_equal(out.count, 4);
    assert_int_equal(out.note_count, 2);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
