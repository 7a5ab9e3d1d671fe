/* The examples of docs/format/hudi-table.md and hudi-timeline.md, taken apart. */
#include "unit/hex.h"

#include "table/commit_metadata.h"
#include "table/commit_schema.h"
#include "table/hudi_config.h"

/* The text of the block that opens with "```MARK". */
static tn_buf text_of_page(const char *page, const char *mark)
{
    char path[4096], *start, *end;
    tn_buf text = {0}, out = {0};
    FILE *in;
    int c;

    snprintf(path, sizeof path, "%s/docs/format/%s", TARN_SOURCE_DIR, page);
    in = fopen(path, "rb");
    assert_non_null(in);
    while ((c = getc(in)) != EOF)
        tn_buf_u8(&text, (uint8_t)c);
    fclose(in);
    tn_buf_u8(&text, 0);
    snprintf(path, sizeof path, "```%s\n", mark);
    start = strstr((char *)text.data, path);
    assert_non_null(start);
    start += strlen(path);
    end = strstr(start, "```");
    assert_non_null(end);
    tn_buf_add(&out, start, (size_t)(end - start));
    tn_buf_clear(&text);
    return out;
}

static void test_hudi_page__properties(void **state)
{
    tn_buf text = text_of_page("hudi-table.md", "properties v9");
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hudi_config config;

    (void)state;
    assert_ok(cx, tn_hudi_config_parse(cx, tn_buf_view(&text), TN_STR("page"), &arena, &config));
    assert_true(tn_str_is(config.name, "orders") && config.version == 9 && config.hive_style);
    assert_int_equal(config.merge_mode, TN_MERGE_EVENT_TIME);
    assert_int_equal(config.keygen, TN_KEYGEN_SIMPLE);
    tn_buf_clear(&text);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hudi_page__commit(void **state)
{
    tn_buf json = text_of_page("hudi-timeline.md", "json commit");
    tn_buf hex = hex_of_page("hudi-timeline.md", "commit");
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_avro_schema schema = {0};
    tn_arena arena = {0};
    tn_commit_metadata m;
    tn_avro_value value;
    tn_buf avro = {0}, again = {0};
    tn_avro_file file = {0};
    size_t used;

    (void)state;
    assert_ok(cx, tn_commit_metadata_parse(cx, tn_buf_view(&json), TN_STR("page"), &arena, &m));
    assert_int_equal(m.stat_count, 1);
    assert_int_equal(m.stats[0].inserts, 2);
    assert_int_equal(m.stats[0].prev_instant.len, 0);
    /* The datum of the page is what a commit of the same contents is printed to. */
    assert_ok(cx, tn_commit_metadata_print(cx, &m, 2, &avro));
    assert_ok(cx, tn_avro_file_read(cx, tn_buf_view(&avro), TN_STR("printed"), &file));
    assert_ok(cx, tn_avro_encode(cx, file.schema.root, &file.records[0], &again));
    assert_int_equal(again.len, hex.len);
    assert_memory_equal(again.data, hex.data, hex.len);
    assert_ok(cx, tn_avro_schema_parse(cx, tn_str_of(tn_commit_schema_commit), "commit", &schema));
    assert_ok(cx, tn_avro_decode(cx, schema.root, tn_buf_view(&hex), &arena, &used, &value));
    assert_int_equal(used, hex.len);
    assert_true(tn_str_is(tn_avro_text(tn_avro_member(&value, "operationType")), "UPSERT"));
    tn_avro_schema_clear(&schema);
    tn_avro_file_clear(&file);
    tn_buf_clear(&json);
    tn_buf_clear(&hex);
    tn_buf_clear(&avro);
    tn_buf_clear(&again);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
