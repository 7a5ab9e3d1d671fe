/* Annotations that Arrow has no type for go through it from file to file. */
#include "unit/test.h"

#include "base/base64.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/arrow_field.h"
#include "io/store_memory.h"
#include "unit/batch/table.h"

typedef struct annotation_case {
    const char *name;
    tn_str raw;   /* the LogicalType union */
    int32_t want; /* what the file says */
} annotation_case;

static void write_file(tarn_cx *cx, tn_store *store, tn_str annotation, bool encoded)
{
    static const char *const values[] = {"p", "q", NULL};
    tn_parquet_sink_options options = {.store_arrow_schema = true};
    tn_buf metadata = {0}, text = {0};
    tn_parquet_sink *sink = NULL;
    tn_sink *file = NULL;
    test_table table = {0};

    table_init(cx, &table, 1, 3);
    table_text(cx, &table, 0, "g", "z", values, 4);
    if (encoded)
        tn_base64_encode(&text, annotation);
    else
        tn_buf_str(&text, annotation);
    tn_metadata_add(&metadata, TN_STR(TN_ARROW_ANNOTATION_KEY), tn_buf_view(&text));
    assert_ok(cx, tn_field_set_metadata(cx, table.schema.children[0], &metadata));
    assert_ok(cx, tn_store_create(cx, store, TN_STR("/x"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &table.schema, &options, &sink));
    assert_ok(cx, tn_parquet_sink_add(cx, sink, &table.array));
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    table_clear(&table);
    tn_buf_clear(&metadata);
    tn_buf_clear(&text);
}

static void check_case(const annotation_case *c, bool encoded)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowSchema schema = {0};
    tn_store *store = NULL;
    tn_parquet file = {0};
    const tn_element *element;
    tn_buf text = {0};

    assert_ok(cx, tn_store_memory_open(cx, &store));
    write_file(cx, store, c->raw, encoded);
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/x"), &file));
    element = file.schema.leaves[0].node->element_meta;
    if (element->logical != c->want)
        fail_msg("%s: annotation %d", c->name, element->logical);
    assert_ok(cx, tn_arrow_schema_of(cx, &file, NULL, 0, &schema));
    tn_base64_encode(&text, c->raw);
    if (c->want != TN_LOGICAL_NONE) {
        assert_true(tn_str_equal(element->logical_raw, c->raw));
        assert_false(file.footer.groups[0].columns[0].statistics.has_min_value);
        assert_true(
            tn_str_equal(tn_metadata_get(schema.children[0]->metadata, TN_ARROW_ANNOTATION_KEY),
                         tn_buf_view(&text)));
    } else {
        assert_null(tn_metadata_get(schema.children[0]->metadata, TN_ARROW_ANNOTATION_KEY).ptr);
    }
    tn_buf_clear(&text);
    tn_field_release(&schema);
    tn_parquet_close(&file);
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void test_annotation__geometry_goes_through_arrow(void **state)
{
    static const annotation_case cases[] = {
        {"geometry",
         {"\x0C\x22\x18\x03"
          "abc\0\0",
          9},
         TN_LOGICAL_GEOMETRY},
        {"geography", {"\x0C\x24\0\0", 4}, TN_LOGICAL_GEOGRAPHY},
        {"text, which bare bytes are not", {"\x1C\0\0", 3}, TN_LOGICAL_NONE},
        {"cut short", {"\x0C\x22\x18", 3}, TN_LOGICAL_NONE},
        {"more than one", {"\x0C\x22\0\0\0", 5}, TN_LOGICAL_NONE},
        {"nothing", {"\0", 1}, TN_LOGICAL_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], true);
    check_case(&(annotation_case){"no base64", TN_STR("?!"), TN_LOGICAL_NONE}, false);
}

typedef struct meaning_case {
    const char *format, *word; /* word: an extension's name where it begins with "arrow." */
    int32_t logical, converted;
} meaning_case;

static const char *key_of(const meaning_case *c)
{
    return c->word[0] == 'a' ? "ARROW:extension:name" : TN_ARROW_MEANING_KEY;
}

/* A file whose column is so annotated, without an ARROW:schema to tell it. */
static void write_meaning(tarn_cx *cx, tn_store *store, const meaning_case *c)
{
    tn_parquet_sink_options options = {0};
    tn_buf metadata = {0};
    tn_parquet_sink *sink = NULL;
    tn_sink *file = NULL;
    struct ArrowSchema schema = {0};

    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
    assert_ok(cx, tn_field_init(cx, schema.children[0], c->format, TN_STR("x"), true, 0));
    tn_metadata_add(&metadata, tn_str_of(key_of(c)), tn_str_of(c->word));
    assert_ok(cx, tn_field_set_metadata(cx, schema.children[0], &metadata));
    assert_ok(cx, tn_store_create(cx, store, TN_STR("/x"), &file));
    assert_ok(cx, tn_parquet_sink_open(cx, file, &schema, &options, &sink));
    assert_ok(cx, tn_parquet_sink_finish(cx, sink));
    assert_ok(cx, tn_store_finish(cx, file));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    tn_field_release(&schema);
    tn_buf_clear(&metadata);
}

static void check_meaning(const meaning_case *c, bool kept)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    struct ArrowSchema schema = {0};
    tn_store *store = NULL;
    tn_parquet file = {0};
    const tn_element *element;
    tn_str said;

    assert_ok(cx, tn_store_memory_open(cx, &store));
    write_meaning(cx, store, c);
    assert_ok(cx, tn_parquet_open(cx, store, TN_STR("/x"), &file));
    element = file.schema.leaves[0].node->element_meta;
    if (element->logical != c->logical || element->converted != c->converted)
        fail_msg("%s %s: %d, %d", c->format, c->word, element->logical, element->converted);
    assert_ok(cx, tn_arrow_schema_of(cx, &file, NULL, 0, &schema));
    said = tn_metadata_get(schema.children[0]->metadata, key_of(c));
    if (tn_str_is(said, c->word) != kept)
        fail_msg("%s %s: read back as \"%.*s\"", c->format, c->word, TN_STR_ARG(said));
    tn_field_release(&schema);
    tn_parquet_close(&file);
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void test_annotation__meanings_go_through_arrow(void **state)
{
    static const meaning_case kept[] = {
        {"w:16", "arrow.uuid", TN_LOGICAL_UUID, TN_CONVERTED_NONE},
        {"u", "arrow.json", TN_LOGICAL_JSON, TN_JSON},
        {"u", TN_ARROW_MEANING_ENUM, TN_LOGICAL_ENUM, TN_ENUM},
        {"z", TN_ARROW_MEANING_BSON, TN_LOGICAL_BSON, TN_BSON},
        {"w:12", TN_ARROW_MEANING_INTERVAL, TN_LOGICAL_NONE, TN_INTERVAL},
        {"ttm", TN_ARROW_MEANING_TIME_UTC, TN_LOGICAL_TIME, TN_TIME_MILLIS},
        {"ttu", TN_ARROW_MEANING_TIME_UTC, TN_LOGICAL_TIME, TN_TIME_MICROS},
        {"ttn", TN_ARROW_MEANING_TIME_UTC, TN_LOGICAL_TIME, TN_CONVERTED_NONE},
    };
    static const meaning_case foreign[] = {
        {"w:12", "arrow.uuid", TN_LOGICAL_NONE, TN_CONVERTED_NONE},
        {"z", TN_ARROW_MEANING_ENUM, TN_LOGICAL_NONE, TN_CONVERTED_NONE},
        {"u", TN_ARROW_MEANING_BSON, TN_LOGICAL_STRING, TN_UTF8},
        {"w:16", TN_ARROW_MEANING_INTERVAL, TN_LOGICAL_NONE, TN_CONVERTED_NONE},
        {"l", TN_ARROW_MEANING_TIME_UTC, TN_LOGICAL_NONE, TN_CONVERTED_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        check_meaning(&kept[i], true);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        check_meaning(&foreign[i], false);
}
