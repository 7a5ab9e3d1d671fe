/* Any bytes as an Arrow schema, arrays and options: what the sink shreds and writes, the scan reads
 * and assembles to arrays of the same text. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "batch/array.h"
#include "batch/field.h"
#include "batch/format.h"
#include "codec/ndjson/ndjson_write.h"
#include "codec/parquet/arrow.h"
#include "io/store_memory.h"

enum { DEPTH_MAX = 4, COLUMNS_MAX = 3, BATCHES_MAX = 3, ROWS_MAX = 60, ITEMS_MAX = 2000 };

#define PATH TN_STR("/x")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct sink_case {
    tarn_cx *cx;
    tn_cursor in;
    struct ArrowSchema schema;
    tn_store *store;
    tn_parquet file;
    tn_buf want, got;
    int64_t rows;
} sink_case;

static void must(bool truth)
{
    if (!truth)
        abort();
}

static uint8_t next(sink_case *c)
{
    return tn_cursor_u8(&c->in);
}

static void make_field(sink_case *c, int depth, const char *name, struct ArrowSchema *out)
{
    static const char *const formats[] = {"i", "l",   "g",   "u",  "z",       "b",     "C",
                                          "n", "tdD", "w:3", "S",  "tsu:UTC", "d:9,2", "f",
                                          "U", "ttm", "+l",  "+L", "+s",      "+m",    "+w:2"};
    size_t leaves = 16, all = sizeof formats / sizeof formats[0];
    uint8_t kind = next(c), flags = next(c);
    const char *format = formats[kind % (depth == 0 ? leaves : all)];
    bool map = strcmp(format, "+m") == 0, group = strcmp(format, "+s") == 0;
    size_t children = format[0] != '+' ? 0 : group ? 1 + (flags >> 1) % 3 : 1;
    bool nullable = (flags & 1) != 0 || format[0] == 'n';

    must(tn_field_init(c->cx, out, format, tn_str_of(name), nullable, children) == TARN_OK);
    if (map) {
        struct ArrowSchema *entry = out->children[0];

        must(tn_field_init(c->cx, entry, "+s", TN_STR("entries"), false, 2) == TARN_OK);
        must(tn_field_init(c->cx, entry->children[0], "u", TN_STR("key"), false, 0) == TARN_OK);
        make_field(c, depth - 1, "value", entry->children[1]);
        return;
    }
    for (size_t i = 0; i < children; i++) {
        char child[32];

        snprintf(child, sizeof child, "f%zu", i);
        make_field(c, depth - 1, child, out->children[i]);
    }
}

/* A buffer of bytes of the input; zeros once it has ended. */
static uint8_t *make_buffer(sink_case *c, struct ArrowArray *array, size_t i, size_t bytes,
                            bool filled)
{
    tn_block block = {0};

    must(tn_block_reserve(c->cx, &block, bytes + 8) == TARN_OK);
    for (size_t k = 0; k < bytes; k++)
        block.data[k] = filled ? next(c) : 0;
    block.len = bytes;
    must(tn_array_take_block(c->cx, array, i, &block) == TARN_OK);
    return (uint8_t *)(uintptr_t)array->buffers[i];
}

/* Offsets of lists or bytes; gives where they end. */
static int64_t make_offsets(sink_case *c, struct ArrowArray *array, bool large, int64_t length)
{
    size_t width = large ? 8 : 4;
    uint8_t *to = make_buffer(c, array, 1, (size_t)(length + 1) * width, false);
    int64_t at = 0;

    for (int64_t i = 0; i <= length; i++) {
        memcpy(to + (size_t)i * width, &at, width);
        at += i < length && at < ITEMS_MAX ? next(c) % 5 : 0;
    }
    return at;
}

/* Values that every decimal(9, 2) and every time of day can hold. */
static void make_fixed(sink_case *c, const tn_format *format, struct ArrowArray *array,
                       int64_t length)
{
    uint8_t *to = make_buffer(c, array, 1, (size_t)length * format->width, true);

    for (int64_t i = 0; i < length; i++) {
        uint8_t *value = to + (size_t)i * format->width;

        if (format->kind == TN_FORMAT_DECIMAL)
            memset(value + 3, (value[2] & 128) != 0 ? 0xFF : 0, format->width - 3);
        if (format->kind == TN_FORMAT_TIME32)
            memset(value + 3, 0, 1);
    }
}

static void make_array(sink_case *c, const struct ArrowSchema *schema, int64_t length,
                       struct ArrowArray *out)
{
    tn_format format;
    int64_t items;

    must(tn_format_parse(c->cx, schema->format, &format) == TARN_OK);
    must(tn_array_init(c->cx, out, length, format.buffers, (size_t)schema->n_children) == TARN_OK);
    if (format.kind == TN_FORMAT_NULL) {
        out->null_count = length;
        return;
    }
    if (tn_field_nullable(schema) && next(c) % 4 != 0) {
        make_buffer(c, out, 0, (size_t)(length + 7) / 8, true);
        out->null_count = -1;
    }
    switch (format.kind) {
    case TN_FORMAT_BOOL:
        make_buffer(c, out, 1, (size_t)(length + 7) / 8, true);
        break;
    case TN_FORMAT_BINARY:
    case TN_FORMAT_UTF8:
    case TN_FORMAT_LARGE_UTF8:
        items = make_offsets(c, out, format.kind == TN_FORMAT_LARGE_UTF8, length);
        make_buffer(c, out, 2, (size_t)items, true);
        break;
    case TN_FORMAT_STRUCT:
        for (int64_t i = 0; i < schema->n_children; i++)
            make_array(c, schema->children[i], length, out->children[i]);
        break;
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
    case TN_FORMAT_MAP:
        items = make_offsets(c, out, format.kind == TN_FORMAT_LARGE_LIST, length);
        make_array(c, schema->children[0], items, out->children[0]);
        break;
    case TN_FORMAT_FIXED_LIST:
        make_array(c, schema->children[0], length * format.size, out->children[0]);
        break;
    default:
        make_fixed(c, &format, out, length);
    }
}

static void print_rows(sink_case *c, const struct ArrowSchema *schema,
                       const struct ArrowArray *batch, tn_buf *out)
{
    tn_ndjson_writer *text = NULL;

    must(tn_ndjson_writer_open(c->cx, schema, &text) == TARN_OK);
    must(tn_ndjson_writer_rows(c->cx, text, batch, 0, batch->length, out) == TARN_OK);
    tn_ndjson_writer_close(text);
}

static void write_file(sink_case *c)
{
    static const int32_t codecs[] = {TN_CODEC_NONE, TN_CODEC_SNAPPY, TN_CODEC_ZSTD};
    uint8_t flags = next(c);
    tn_parquet_sink_options options = {.store_arrow_schema = flags & 1,
                                       .group_rows = 1 + next(c) % 50,
                                       .chunk = {.codec = codecs[flags >> 5 & 1],
                                                 .page_v2 = flags & 2,
                                                 .no_dictionary = flags & 4,
                                                 .crc = flags & 8,
                                                 .byte_stream_split = flags & 16,
                                                 .page_rows = 1 + next(c) % 30}};
    tn_parquet_sink *sink = NULL;
    tn_sink *file = NULL;

    must(tn_store_create(c->cx, c->store, PATH, &file) == TARN_OK);
    must(tn_parquet_sink_open(c->cx, file, &c->schema, &options, &sink) == TARN_OK);
    for (int i = 0; i < BATCHES_MAX && tn_cursor_left(&c->in) != 0; i++) {
        struct ArrowArray batch = {0};

        make_array(c, &c->schema, next(c) % ROWS_MAX, &batch);
        must(tn_array_check(c->cx, &c->schema, &batch) == TARN_OK);
        must(tn_parquet_sink_add(c->cx, sink, &batch) == TARN_OK);
        print_rows(c, &c->schema, &batch, &c->want);
        c->rows += batch.length;
        tn_array_release(&batch);
    }
    must(tn_parquet_sink_finish(c->cx, sink) == TARN_OK);
    must(tn_store_finish(c->cx, file) == TARN_OK);
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
}

static void read_file(sink_case *c, int64_t batch_rows)
{
    tn_parquet_scan_options options = {.batch_rows = batch_rows};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_parquet_scan *scan = NULL;
    int64_t rows = 0, first;

    tn_buf_reset(&c->got);
    must(tn_parquet_scan_open(c->cx, &c->file, &options, &scan) == TARN_OK);
    must(tn_parquet_scan_schema(c->cx, scan, &schema) == TARN_OK);
    for (;;) {
        must(tn_parquet_scan_next(c->cx, scan, &batch, &first) == TARN_OK);
        if (batch.length == 0)
            break;
        must(tn_array_check(c->cx, &schema, &batch) == TARN_OK);
        print_rows(c, &schema, &batch, &c->got);
        rows += batch.length;
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    must(rows == c->rows);
    must(tn_str_equal(tn_buf_view(&c->want), tn_buf_view(&c->got)));
    tn_field_release(&schema);
    tn_parquet_scan_close(scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sink_case c = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20}),
                   .in = tn_cursor_of(data, size)};
    size_t columns = 1 + next(&c) % COLUMNS_MAX;

    must(c.cx != NULL && tn_store_memory_open(c.cx, &c.store) == TARN_OK);
    must(tn_field_init(c.cx, &c.schema, "+s", TN_STR(""), false, columns) == TARN_OK);
    for (size_t i = 0; i < columns; i++) {
        char name[32];

        snprintf(name, sizeof name, "c%zu", i);
        make_field(&c, DEPTH_MAX, name, c.schema.children[i]);
    }
    write_file(&c);
    must(tn_parquet_open(c.cx, c.store, PATH, &c.file) == TARN_OK);
    read_file(&c, 1000);
    read_file(&c, 3);
    tn_parquet_close(&c.file);
    tn_field_release(&c.schema);
    tn_store_close(c.store);
    tn_buf_clear(&c.want);
    tn_buf_clear(&c.got);
    tarn_cx_close(c.cx);
    return 0;
}
