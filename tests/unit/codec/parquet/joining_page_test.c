/* docs/format/parquet-joining.md: the chunks of every example are joined, and give the bytes that
 * the page shows. */
#include "unit/codec/parquet/joins.h"

#include <ctype.h>

enum { LINE = 4096 };

/* The bytes of a line after its colon; bars only part what belongs together. */
static void take_hex(const char *at, tn_buf *out)
{
    tn_buf_reset(out);
    while (*at != '\0') {
        char *end;

        if (isspace((unsigned char)*at) || *at == '|') {
            at++;
            continue;
        }
        tn_buf_u8(out, (uint8_t)strtoul(at, &end, 16));
        if (end == at)
            fail_msg("not hex: %s", at);
        at = end;
    }
}

typedef struct example {
    tarn_cx *cx;
    joins_schema schema;
    tn_chunk_join *join;
} example;

/* "leaf INT32" or "leaf BYTE_ARRAY": optional, in pages of four rows. */
static void begin(example *e, const char *line)
{
    tn_chunk_options options = {.page_rows = 4};
    bool text = strstr(line, "BYTE_ARRAY") != NULL;

    if (!text && strstr(line, "INT32") == NULL)
        fail_msg("a leaf of no known type: %s", line);
    joins_schema_open(e->cx, &e->schema, JOINS_OPTIONAL,
                      (tn_element){.physical = text ? TN_BYTE_ARRAY : TN_INT32});
    assert_ok(e->cx, tn_chunk_join_open(e->cx, e->schema.leaf, &options, TN_JOIN_COPY, &e->join));
}

/* "in ROWS NULLS: bytes": one chunk. */
static void add(example *e, const char *line)
{
    tn_buf chunk = {0}, all = {0};
    int rows, nulls;
    tn_chunk_meta meta = {.has_meta = true, .data_page_offset = 4, .has_statistics = true};
    tn_row_group_meta group = {.columns = &meta, .column_count = 1};
    tn_parquet file = {.path = TN_STR("example"),
                       .footer = {.groups = &group, .group_count = 1},
                       .schema = e->schema.schema};
    tn_source source;
    tn_join_part part = {.file = &file, .source = &source};

    assert_int_equal(sscanf(line, "in %d %d:", &rows, &nulls), 2);
    take_hex(strchr(line, ':') + 1, &chunk);
    tn_buf_text(&all, "PAR1");
    tn_buf_str(&all, tn_buf_view(&chunk));
    meta.physical = (int32_t)e->schema.leaf->physical;
    meta.values = group.rows = file.footer.rows = rows;
    meta.compressed_bytes = (int64_t)chunk.len;
    meta.statistics.has_null_count = true;
    meta.statistics.null_count = nulls;
    file.memory = all.data;
    file.size_bytes = file.footer_offset = all.len;
    source = tn_source_memory(all.data, all.len, 0);
    assert_ok(e->cx, tn_chunk_join_add(e->cx, e->join, &part));
    tn_buf_clear(&all);
    tn_buf_clear(&chunk);
}

/* "out WAY: bytes": the way of at least one chunk, and the chunk joined. */
static void finish(example *e, const char *line)
{
    static const char *const names[] = {"COPY", "SEQUENCE", "REMAP", "REPACK", "ENCODE"};
    tn_encoded_chunk chunk = {0};
    tn_join_counts counts = {0};
    tn_buf want = {0}, got = {0}, text = {0};
    char way[32];

    assert_int_equal(sscanf(line, "out %31[A-Z]:", way), 1);
    assert_ok(e->cx, tn_chunk_join_finish(e->cx, e->join, &chunk, &counts));
    tn_chunk_join_close(e->join);
    e->join = NULL;
    for (size_t i = 0; i < chunk.piece_count; i++)
        tn_buf_str(&got, tn_buf_view(&chunk.pieces[i]));
    take_hex(strchr(line, ':') + 1, &want);
    for (size_t i = 0; i < got.len; i++)
        tn_buf_print(&text, " %02X", got.data[i]);
    if (!joins_same_buf(&got, &want))
        fail_msg("%s: the join gives%.*s", line, (int)text.len, (const char *)text.data);
    for (int i = 0; i < TN_JOIN_WAYS; i++)
        if (strcmp(names[i], way) == 0)
            assert_true(counts.chunks[i] > 0);
    tn_buf_clear(&want);
    tn_buf_clear(&got);
    tn_buf_clear(&text);
    tn_encoded_chunk_clear(&chunk);
    joins_schema_close(&e->schema);
}

static void test_joining_page__every_example_is_as_the_page_says(void **state)
{
    FILE *in = fopen(TARN_SOURCE_DIR "/docs/format/parquet-joining.md", "r");
    example e = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1})};
    char line[LINE];
    int examples = 0;

    (void)state;
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        if (strncmp(line, "leaf ", 5) == 0) {
            begin(&e, line);
        } else if (strncmp(line, "in ", 3) == 0) {
            add(&e, line);
        } else if (strncmp(line, "out ", 4) == 0) {
            finish(&e, line);
            examples++;
        }
    }
    assert_int_equal(examples, 4);
    fclose(in);
    tarn_cx_close(e.cx);
}
