/* Any bytes as options, levels and values of one column: what the chunk writer makes of them is
 * read back equal, and its statistics, indexes and bloom filter are true of the values. */
#include <math.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "codec/parquet/bloom.h"
#include "codec/parquet/file_write.h"
#include "codec/parquet/leaf_read.h"
#include "codec/parquet/order.h"
#include "io/store_memory.h"

enum { BATCHES_MAX = 6 };

#define PATH TN_STR("/x")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A column flattened: levels, and for each value its length and bytes. */
typedef struct column {
    tn_buf rep, def, lengths, bytes;
    int64_t rows, entries, values;
} column;

typedef struct chunk_case {
    tarn_cx *cx;
    tn_cursor in;
    tn_arena arena;
    tn_element elements[2];
    tn_schema schema;
    const tn_leaf *leaf;
    tn_chunk_options options;
    tn_store *store;
    tn_parquet file;
    column want, got;
    tn_buf views, packed; /* of the batch at hand */
} chunk_case;

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void column_clear(column *c)
{
    tn_buf_clear(&c->rep);
    tn_buf_clear(&c->def);
    tn_buf_clear(&c->lengths);
    tn_buf_clear(&c->bytes);
}

static void add_value(column *c, const void *bytes, uint32_t len)
{
    must(tn_buf_reserve(&c->bytes, len + 1)); /* a place to point to, without bytes too */
    tn_buf_u32le(&c->lengths, len);
    tn_buf_add(&c->bytes, bytes, len);
    c->values++;
}

static void make_schema(chunk_case *c)
{
    static const enum tn_repetition repetitions[] = {TN_REQUIRED, TN_OPTIONAL, TN_REPEATED};
    static const int32_t codecs[] = {TN_CODEC_NONE, TN_CODEC_SNAPPY, TN_CODEC_GZIP, TN_CODEC_ZSTD,
                                     TN_CODEC_LZ4_RAW};
    static const int32_t logicals[] = {TN_LOGICAL_NONE,    TN_LOGICAL_STRING,  TN_LOGICAL_DECIMAL,
                                       TN_LOGICAL_INTEGER, TN_LOGICAL_FLOAT16, TN_LOGICAL_UUID};
    uint8_t type = tn_cursor_u8(&c->in), flags = tn_cursor_u8(&c->in), more = tn_cursor_u8(&c->in);

    c->elements[0] = (tn_element){
        .name = TN_STR("root"), .group = true, .children = 1, .converted = TN_CONVERTED_NONE};
    c->elements[1] = (tn_element){.name = TN_STR("c"),
                                  .physical = (enum tn_physical)(type % 8),
                                  .type_length = 1 + more % 19,
                                  .logical = logicals[tn_cursor_u8(&c->in) % 6],
                                  .bit_width = 32,
                                  .precision = 9,
                                  .converted = TN_CONVERTED_NONE,
                                  .repetition = repetitions[(type >> 3) % 3]};
    if (c->elements[1].logical == TN_LOGICAL_FLOAT16)
        c->elements[1].type_length = 2;
    c->options = (tn_chunk_options){.codec = codecs[(type >> 5) % 5],
                                    .page_v2 = flags & 1,
                                    .no_dictionary = flags & 2,
                                    .crc = flags & 4,
                                    .bloom = flags & 8,
                                    .plain_bytes = flags & 16,
                                    .byte_stream_split = flags & 32,
                                    .force_encoding = (flags & 192) == 192,
                                    .encoding = more >> 4,
                                    .dictionary_bytes_max = tn_cursor_u8(&c->in),
                                    .page_rows = tn_cursor_u8(&c->in),
                                    .page_bytes = 4u * tn_cursor_u8(&c->in),
                                    .bound_bytes_max = tn_cursor_u8(&c->in) % 12};
}

/* The next value: new bytes, or one like those before, so that dictionaries pay. */
static void make_value(chunk_case *c, uint8_t how)
{
    bool array = c->leaf->physical == TN_BYTE_ARRAY;
    uint32_t len = array ? how % 24u : (uint32_t)tn_leaf_width(c->leaf);
    uint8_t bytes[24] = {0};

    if (how & 128)
        memset(bytes, how & 3, len);
    else
        for (uint32_t i = 0; i < len; i++)
            bytes[i] = tn_cursor_u8(&c->in);
    if (c->leaf->physical == TN_BOOLEAN)
        bytes[0] &= 1;
    add_value(&c->want, bytes, len);
    tn_buf_add(&c->packed, bytes, len);
    if (array)
        tn_buf_add(&c->views, &(tn_view){NULL, len}, sizeof(tn_view));
}

/* Views are set once the bytes do not move any more. */
static tn_values values_of(chunk_case *c, int64_t count)
{
    tn_view *view = (tn_view *)(void *)c->views.data;
    size_t at = 0;

    must(tn_buf_reserve(&c->packed, 1)); /* a place to point to, for values without bytes too */
    if (c->leaf->physical != TN_BYTE_ARRAY)
        return (tn_values){c->packed.data, count};
    for (int64_t i = 0; i < count; i++) {
        view[i].ptr = c->packed.data + at;
        at += view[i].len;
    }
    return (tn_values){view, count};
}

static int add_batch(chunk_case *c, tn_chunk_writer *writer)
{
    int64_t entries = 1 + tn_cursor_u8(&c->in) % 100;
    tn_leaf_batch batch = {.entries = entries, .all_present = true};
    size_t def_at = c->want.def.len, rep_at = c->want.rep.len;
    int64_t before = c->want.values;

    tn_buf_reset(&c->views);
    tn_buf_reset(&c->packed);
    for (int64_t i = 0; i < entries; i++) {
        uint8_t how = tn_cursor_u8(&c->in);
        uint16_t def = c->leaf->max_def != 0 && (how & 64) ? 0 : c->leaf->max_def;
        uint16_t rep = c->leaf->max_rep != 0 && i != 0 && (how & 32) ? 1 : 0;

        /* An entry that goes on with a list has a value, and so has the one it goes on from. */
        if (rep != 0 &&
            ((const uint16_t *)(const void *)c->want.def.data)[c->want.entries - 1] == 0)
            rep = 0;
        def = rep != 0 ? c->leaf->max_def : def;
        tn_buf_add(&c->want.def, &def, sizeof def);
        tn_buf_add(&c->want.rep, &rep, sizeof rep);
        c->want.entries++;
        batch.rows += rep == 0;
        batch.all_present &= def == c->leaf->max_def;
        if (def == c->leaf->max_def)
            make_value(c, how);
    }
    c->want.rows += batch.rows;
    if (c->leaf->max_def != 0 && !batch.all_present)
        batch.def = (const uint16_t *)(const void *)(c->want.def.data + def_at);
    if (c->leaf->max_rep != 0)
        batch.rep = (const uint16_t *)(const void *)(c->want.rep.data + rep_at);
    batch.values = values_of(c, c->want.values - before);
    return tn_chunk_writer_add(c->cx, writer, &batch);
}

static void write_file(chunk_case *c, tn_encoded_chunk *chunk)
{
    tn_parquet_writer *writer = NULL;
    tn_sink *sink = NULL;

    must(tn_store_create(c->cx, c->store, PATH, &sink) == TARN_OK);
    must(tn_parquet_writer_open(c->cx, sink, &c->schema, &(tn_parquet_write_options){0}, &writer) ==
         TARN_OK);
    must(tn_parquet_writer_row_group(c->cx, writer, chunk, c->want.rows, NULL, 0) == TARN_OK);
    must(tn_parquet_writer_finish(c->cx, writer) == TARN_OK);
    must(tn_store_finish(c->cx, sink) == TARN_OK);
    tn_parquet_writer_close(writer);
    tn_store_close_sink(sink);
    must(tn_parquet_open(c->cx, c->store, PATH, &c->file) == TARN_OK);
}

static void take_batch(chunk_case *c, const tn_leaf_batch *batch)
{
    const tn_values *values = batch->indices != NULL ? &batch->dictionary : &batch->values;
    size_t width = tn_leaf_width(c->leaf);

    for (int64_t i = 0; i < batch->entries; i++) {
        uint16_t def = batch->def != NULL ? batch->def[i] : c->leaf->max_def;
        uint16_t rep = batch->rep != NULL ? batch->rep[i] : 0;

        tn_buf_add(&c->got.def, &def, sizeof def);
        tn_buf_add(&c->got.rep, &rep, sizeof rep);
    }
    for (int64_t i = 0; i < batch->values.count; i++) {
        size_t at = batch->indices != NULL ? batch->indices[i] : (size_t)i;

        if (c->leaf->physical == TN_BYTE_ARRAY) {
            tn_view view = ((const tn_view *)values->data)[at];

            add_value(&c->got, view.ptr, view.len);
        } else {
            add_value(&c->got, (const uint8_t *)values->data + at * width, (uint32_t)width);
        }
    }
    c->got.rows += batch->rows;
    c->got.entries += batch->entries;
}

static bool same(const tn_buf *a, const tn_buf *b)
{
    return tn_str_equal(tn_buf_view(a), tn_buf_view(b));
}

static void read_back(chunk_case *c, bool keep_dictionary)
{
    tn_leaf_read_options options = {.keep_dictionary = keep_dictionary};
    tn_leaf_reader *reader = NULL;
    tn_file *open = NULL;
    tn_leaf_batch batch;
    tn_source source;

    column_clear(&c->got);
    c->got = (column){0};
    must(tn_store_open_file(c->cx, c->store, PATH, &open) == TARN_OK);
    source = tn_source_file(open, 4096);
    must(tn_leaf_reader_open(c->cx, &c->file, 0, 0, &source, &options, &reader) == TARN_OK);
    do {
        must(tn_leaf_reader_next(c->cx, reader, keep_dictionary ? 7 : 1000, &batch) == TARN_OK);
        take_batch(c, &batch);
    } while (batch.rows != 0);
    must(c->got.rows == c->want.rows && c->got.entries == c->want.entries);
    must(same(&c->got.rep, &c->want.rep) && same(&c->got.def, &c->want.def));
    must(same(&c->got.lengths, &c->want.lengths) && same(&c->got.bytes, &c->want.bytes));
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    tn_store_close_file(open);
}

/* What a reader believes of the chunk holds for every value. */
static void check_values(chunk_case *c)
{
    enum tn_domain domain = tn_order_domain(c->leaf);
    const uint8_t *at = c->want.bytes.data;
    tn_arena arena = {0};
    tn_order_range range;
    tn_str blocks = {0};
    bool bloom = false;

    tn_order_chunk(&c->file, 0, c->leaf, &range);
    must(!range.contradict && range.entries == c->want.entries);
    must(range.has_nulls && range.nulls == c->want.entries - c->want.values);
    must(tn_parquet_bloom(c->cx, &c->file, 0, 0, &arena, &bloom, &blocks) == TARN_OK);
    for (int64_t i = 0; i < c->want.values; i++) {
        uint32_t len = ((const uint32_t *)(const void *)c->want.lengths.data)[i];
        tn_str plain = {(const char *)at, len};
        tn_filter_value value;

        must(!bloom || tn_bloom_query(blocks, tn_bloom_hash(at, len)));
        at += len;
        if (!tn_order_decode(c->leaf, plain, &value))
            continue;
        if (domain == TN_DOMAIN_FLOAT && isnan(value.d)) {
            must(!range.nan_free);
            continue;
        }
        must(!range.has_min || tn_filter_compare(domain, &range.min, &value) <= 0);
        must(!range.has_max || tn_filter_compare(domain, &value, &range.max) <= 0);
    }
    tn_arena_clear(&arena);
}

static void run(chunk_case *c)
{
    tn_chunk_writer *writer = NULL;
    tn_encoded_chunk chunk = {0};
    int rc;

    make_schema(c);
    if (tn_schema_build(c->cx, c->elements, 2, &c->arena, &c->schema) != TARN_OK)
        return;
    c->leaf = &c->schema.leaves[0];
    rc = tn_chunk_writer_open(c->cx, c->leaf, &c->options, &writer);
    /* An encoding that does not suit the type. */
    must(rc == TARN_OK || (rc == TARN_E_INVALID && c->options.force_encoding));
    if (rc != TARN_OK)
        return;
    for (int i = 0; i < BATCHES_MAX && tn_cursor_left(&c->in) != 0; i++)
        must(add_batch(c, writer) == TARN_OK);
    must(tn_chunk_writer_finish(c->cx, writer, &chunk) == TARN_OK);
    write_file(c, &chunk);
    if (c->want.rows != 0) { /* a group without rows is not written */
        read_back(c, false);
        read_back(c, true);
        check_values(c);
    }
    tn_encoded_chunk_clear(&chunk);
    tn_chunk_writer_close(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    chunk_case c = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20}),
                    .in = tn_cursor_of(data, size)};

    must(c.cx != NULL && tn_store_memory_open(c.cx, &c.store) == TARN_OK);
    run(&c);
    tn_parquet_close(&c.file);
    tn_store_close(c.store);
    column_clear(&c.want);
    column_clear(&c.got);
    tn_buf_clear(&c.views);
    tn_buf_clear(&c.packed);
    tn_arena_clear(&c.arena);
    tarn_cx_close(c.cx);
    return 0;
}
