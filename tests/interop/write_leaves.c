/* Writes a Parquet file of random leaves and says what it wrote.
 *
 *     interop_write_leaves SEED FILE [name=value…]
 *
 * One JSON line per column on stdout: its name, the kind of its values, and all rows, where a value
 * is the hex of its PLAIN bytes (byte arrays without their length), null or a list. Options:
 * codec, v2, spark (only types it knows), page_rows, page_bytes, dictionary_bytes, no_dictionary,
 * crc, bloom, bound, rows, groups, encoding (a number, for the columns it suits), split, indices
 * (batches by dictionary). Shapes: r required, o optional, l optional list of optional, d list of
 * such lists, s a member of an optional struct. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "codec/parquet/file_write.h"

#define COLUMNS_MAX 200

typedef struct option {
    const char *name;
    int64_t value;
} option;

static option options[] = {{"codec", 6},
                           {"v2", 0},
                           {"page_rows", 0},
                           {"page_bytes", 0},
                           {"rows", 1000},
                           {"groups", 1},
                           {"dictionary_bytes", 0},
                           {"no_dictionary", 0},
                           {"crc", 1},
                           {"bloom", 1},
                           {"bound", 0},
                           {"encoding", -1},
                           {"split", 0},
                           {"indices", 0},
                           {"spark", 0}};

static int64_t opt(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, name) == 0)
            return options[i].value;
    abort();
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    return random_next(state) % n;
}

/* A kind of value: physical type and annotation. */
typedef struct kind {
    const char *name;
    enum tn_physical physical;
    uint32_t length;
    int32_t logical, unit, bits, precision, scale;
    bool is_signed, utc, interval;
} kind;

static const kind kinds[] = {
    {.name = "bool", .physical = TN_BOOLEAN},
    {.name = "i32", .physical = TN_INT32},
    {.name = "i64", .physical = TN_INT64},
    {.name = "f32", .physical = TN_FLOAT},
    {.name = "f64", .physical = TN_DOUBLE},
    {.name = "binary", .physical = TN_BYTE_ARRAY},
    {.name = "string", .physical = TN_BYTE_ARRAY, .logical = TN_LOGICAL_STRING},
    {.name = "fixed5", .physical = TN_FIXED, .length = 5},
    {.name = "uuid", .physical = TN_FIXED, .length = 16, .logical = TN_LOGICAL_UUID},
    {.name = "f16", .physical = TN_FIXED, .length = 2, .logical = TN_LOGICAL_FLOAT16},
    {.name = "i8",
     .physical = TN_INT32,
     .logical = TN_LOGICAL_INTEGER,
     .bits = 8,
     .is_signed = true},
    {.name = "u8", .physical = TN_INT32, .logical = TN_LOGICAL_INTEGER, .bits = 8},
    {.name = "u16", .physical = TN_INT32, .logical = TN_LOGICAL_INTEGER, .bits = 16},
    {.name = "u32", .physical = TN_INT32, .logical = TN_LOGICAL_INTEGER, .bits = 32},
    {.name = "u64", .physical = TN_INT64, .logical = TN_LOGICAL_INTEGER, .bits = 64},
    {.name = "date", .physical = TN_INT32, .logical = TN_LOGICAL_DATE},
    {.name = "time_ms", .physical = TN_INT32, .logical = TN_LOGICAL_TIME, .unit = TN_MILLIS},
    {.name = "ts_ms",
     .physical = TN_INT64,
     .logical = TN_LOGICAL_TIMESTAMP,
     .unit = TN_MILLIS,
     .utc = true},
    {.name = "ts_us", .physical = TN_INT64, .logical = TN_LOGICAL_TIMESTAMP, .unit = TN_MICROS},
    {.name = "ts_ns",
     .physical = TN_INT64,
     .logical = TN_LOGICAL_TIMESTAMP,
     .unit = TN_NANOS,
     .utc = true},
    {.name = "int96", .physical = TN_INT96},
    {.name = "dec9",
     .physical = TN_INT32,
     .logical = TN_LOGICAL_DECIMAL,
     .precision = 9,
     .scale = 2},
    {.name = "dec18",
     .physical = TN_INT64,
     .logical = TN_LOGICAL_DECIMAL,
     .precision = 18,
     .scale = 3},
    {.name = "decf",
     .physical = TN_FIXED,
     .length = 9,
     .logical = TN_LOGICAL_DECIMAL,
     .precision = 20,
     .scale = 2},
    {.name = "decb",
     .physical = TN_BYTE_ARRAY,
     .logical = TN_LOGICAL_DECIMAL,
     .precision = 20,
     .scale = 2},
};
static const char shapes[] = "rolds";

typedef struct column {
    const kind *kind;
    char shape, name[32];
    unsigned taste; /* of the values: 0 few, 1 any, 2 rising, 3 one, 4 few and then any */
    const tn_leaf *leaf;
    tn_buf def, rep, values, bytes; /* of the group under way; views are offsets until written */
    tn_buf json;
    int64_t entries, value_count;
    uint64_t last;
} column;

static void put_hex(tn_buf *out, const void *bytes, size_t n)
{
    tn_buf_u8(out, '"');
    for (size_t i = 0; i < n; i++)
        tn_buf_print(out, "%02x", ((const uint8_t *)bytes)[i]);
    tn_buf_u8(out, '"');
}

static uint64_t draw(column *c, uint64_t *seed, int64_t row)
{
    unsigned taste = c->taste == 4 ? (row < 300 ? 0 : 1) : c->taste;

    switch (taste) {
    case 0:
        return below(seed, 7) * 0x0101010101010101u;
    case 1:
        return random_next(seed);
    case 2:
        return c->last += below(seed, 5);
    default:
        return 42;
    }
}

/* Numbers outside the annotation's range would test the readers' checks, not the writer. */
static uint64_t clip(const kind *k, uint64_t v)
{
    if (k->logical == TN_LOGICAL_INTEGER && k->bits < 32)
        return k->is_signed ? (uint64_t)(int64_t)(int8_t)v : v & ((1u << k->bits) - 1);
    if (k->logical == TN_LOGICAL_DATE)
        return (uint64_t)((int64_t)(v % 100000) - 50000);
    if (k->logical == TN_LOGICAL_TIME)
        return v % 86400000;
    if (k->logical == TN_LOGICAL_TIMESTAMP) {
        int64_t at = (int64_t)(v % 4000000000000000ull) - 2000000000000000ll;

        return (uint64_t)(k->unit == TN_MILLIS ? at / 1000 : at);
    }
    if (k->logical == TN_LOGICAL_DECIMAL && k->precision == 9)
        return (uint64_t)((int64_t)(v % 1999999999) - 999999999);
    if (k->logical == TN_LOGICAL_DECIMAL && k->precision == 18)
        return (uint64_t)((int64_t)(v % 1999999999999999999ull) - 999999999999999999ll);
    return v;
}

static void put_view(column *c, const void *bytes, uint32_t len)
{
    tn_view view = {(const uint8_t *)(uintptr_t)c->bytes.len, len};

    tn_buf_add(&c->bytes, bytes, len);
    tn_buf_add(&c->values, &view, sizeof view);
    put_hex(&c->json, bytes, len);
}

static void put_string(column *c, uint64_t *seed, uint64_t v)
{
    static const char *const parts[] = {"a",
                                        "zz",
                                        "\xC3\xA9",
                                        "\xE2\x82\xAC",
                                        "\xF0\x9F\x98\x80",
                                        "~~~~~~~~~~",
                                        "\xF4\x8F\xBF\xBF"};
    char text[400] = "";
    size_t n = v % 5;

    (void)seed;
    if (v % 11 == 0)
        n = 25;
    for (size_t i = 0; i < n; i++)
        strcat(text, parts[(v >> (i % 20)) % 7]);
    snprintf(text + strlen(text), 30, "%u", (unsigned)(v % 100000));
    if (v % 13 == 0)
        text[0] = '\0';
    put_view(c, text, (uint32_t)strlen(text));
}

static void put_decimal(column *c, uint64_t v, size_t width)
{
    int64_t number = (int64_t)(v % 1999999999999999999ull) - 999999999999999999ll;
    uint8_t bytes[16];

    for (size_t i = 0; i < width; i++)
        bytes[width - 1 - i] = (uint8_t)(i < 8        ? (uint64_t)number >> (8 * i)
                                         : number < 0 ? 0xFF
                                                      : 0);
    if (c->kind->physical == TN_BYTE_ARRAY) {
        put_view(c, bytes, (uint32_t)width);
        return;
    }
    tn_buf_add(&c->values, bytes, width);
    put_hex(&c->json, bytes, width);
}

static void put_fixed(column *c, const void *bytes, size_t n)
{
    tn_buf_add(&c->values, bytes, n);
    put_hex(&c->json, bytes, n);
}

static void put_real(column *c, uint64_t v)
{
    static const double odd[] = {0.0, -0.0, 1.5, -2.25};
    double d = v % 9 == 0 ? (double)NAN : v % 9 < 3 ? odd[v / 9 % 4] : (double)(int64_t)v / 3e9;
    float f = (float)d;

    if (c->kind->physical == TN_DOUBLE)
        put_fixed(c, &d, 8);
    else
        put_fixed(c, &f, 4);
}

static void put_value(column *c, uint64_t *seed, int64_t row)
{
    uint64_t v = clip(c->kind, draw(c, seed, row)), wide[2] = {v, v * 3};
    uint8_t flag = v & 1;
    uint32_t int96[3] = {(uint32_t)(v % 1000000 * 1000), 0, (uint32_t)(2440588 + v % 1000)};

    c->value_count++;
    switch (c->kind->physical) {
    case TN_BOOLEAN:
        put_fixed(c, &flag, 1);
        return;
    case TN_INT32:
        put_fixed(c, &v, 4);
        return;
    case TN_INT64:
        put_fixed(c, &v, 8);
        return;
    case TN_INT96:
        put_fixed(c, int96, 12);
        return;
    case TN_FLOAT:
    case TN_DOUBLE:
        put_real(c, v);
        return;
    case TN_BYTE_ARRAY:
        if (c->kind->logical == TN_LOGICAL_STRING)
            put_string(c, seed, v);
        else if (c->kind->logical == TN_LOGICAL_DECIMAL)
            put_decimal(c, v, 8 + v % 2);
        else
            put_view(c, wide, (uint32_t)(v % 17));
        return;
    case TN_FIXED:
        if (c->kind->logical == TN_LOGICAL_DECIMAL)
            put_decimal(c, v, 9);
        else
            put_fixed(c, wide, c->kind->length);
        return;
    }
}

static void put_level(column *c, unsigned rep, unsigned def)
{
    uint16_t r = (uint16_t)rep, d = (uint16_t)def;

    tn_buf_add(&c->rep, &r, 2);
    tn_buf_add(&c->def, &d, 2);
    c->entries++;
}

/* An optional leaf below `def`; `nulls` false where the column has none at all for a while. */
static void put_leaf(column *c, uint64_t *seed, int64_t row, unsigned rep, unsigned def)
{
    if (row > 100 && below(seed, 5) == 0) {
        put_level(c, rep, def);
        tn_buf_text(&c->json, "null");
        return;
    }
    put_level(c, rep, def + 1);
    put_value(c, seed, row);
}

static void put_list(column *c, uint64_t *seed, int64_t row, unsigned rep, unsigned def,
                     unsigned depth)
{
    uint64_t n = below(seed, 4);
    unsigned level = c->leaf->max_rep - depth + 1;

    if (below(seed, 6) == 0) {
        put_level(c, rep, def);
        tn_buf_text(&c->json, "null");
        return;
    }
    tn_buf_u8(&c->json, '[');
    if (n == 0)
        put_level(c, rep, def + 1);
    for (uint64_t i = 0; i < n; i++) {
        if (i != 0)
            tn_buf_u8(&c->json, ',');
        if (depth > 1)
            put_list(c, seed, row, i == 0 ? rep : level, def + 2, depth - 1);
        else
            put_leaf(c, seed, row, i == 0 ? rep : level, def + 2);
    }
    tn_buf_u8(&c->json, ']');
}

static void put_row(column *c, uint64_t *seed, int64_t row)
{
    tn_buf_text(&c->json, row == 0 ? "" : ",");
    switch (c->shape) {
    case 'r':
        put_level(c, 0, 0);
        put_value(c, seed, row);
        return;
    case 'o':
        put_leaf(c, seed, row, 0, 0);
        return;
    case 'l':
        put_list(c, seed, row, 0, 0, 1);
        return;
    case 'd':
        put_list(c, seed, row, 0, 0, 2);
        return;
    default:
        if (below(seed, 4) == 0) {
            put_level(c, 0, 0);
            tn_buf_text(&c->json, "null");
        } else {
            put_leaf(c, seed, row, 0, 1);
        }
    }
}

/* ---- schema */

static tn_element group(const char *name, enum tn_repetition repetition, int32_t logical,
                        int32_t children)
{
    return (tn_element){.name = tn_str_of(name),
                        .group = true,
                        .repetition = repetition,
                        .children = children,
                        .converted = TN_CONVERTED_NONE,
                        .logical = logical};
}

static tn_element leaf_of(const char *name, const kind *k, enum tn_repetition repetition)
{
    return (tn_element){.name = tn_str_of(name),
                        .physical = k->physical,
                        .type_length = (int32_t)k->length,
                        .repetition = repetition,
                        .converted = TN_CONVERTED_NONE,
                        .logical = k->logical,
                        .unit = k->unit,
                        .bit_width = k->bits,
                        .is_signed = k->is_signed,
                        .adjusted_to_utc = k->utc,
                        .precision = k->precision,
                        .scale = k->scale};
}

static size_t put_elements(tn_element *e, const column *c)
{
    size_t n = 0;

    switch (c->shape) {
    case 'r':
        e[n++] = leaf_of(c->name, c->kind, TN_REQUIRED);
        break;
    case 'o':
        e[n++] = leaf_of(c->name, c->kind, TN_OPTIONAL);
        break;
    case 's':
        e[n++] = group(c->name, TN_OPTIONAL, 0, 1);
        e[n++] = leaf_of("member", c->kind, TN_OPTIONAL);
        break;
    default:
        e[n++] = group(c->name, TN_OPTIONAL, TN_LOGICAL_LIST, 1);
        e[n++] = group("list", TN_REPEATED, 0, 1);
        if (c->shape == 'd') {
            e[n++] = group("element", TN_OPTIONAL, TN_LOGICAL_LIST, 1);
            e[n++] = group("list", TN_REPEATED, 0, 1);
        }
        e[n++] = leaf_of("element", c->kind, TN_OPTIONAL);
    }
    return n;
}

/* ---- writing */

static tn_chunk_options chunk_options(const column *c)
{
    tn_chunk_options o = {.codec = (int32_t)opt("codec"),
                          .page_v2 = opt("v2") != 0,
                          .no_dictionary = opt("no_dictionary") != 0,
                          .dictionary_bytes_max = (uint64_t)opt("dictionary_bytes"),
                          .page_bytes = (uint64_t)opt("page_bytes"),
                          .page_rows = opt("page_rows"),
                          .crc = opt("crc") != 0,
                          .bloom = opt("bloom") != 0,
                          .byte_stream_split = opt("split") != 0,
                          .bound_bytes_max = (size_t)opt("bound")};
    enum tn_physical p = c->kind->physical;
    int64_t encoding = opt("encoding");

    if (encoding == TN_ENC_PLAIN || (encoding == TN_ENC_RLE && p == TN_BOOLEAN) ||
        (encoding == TN_ENC_DELTA_BINARY_PACKED && (p == TN_INT32 || p == TN_INT64)) ||
        ((encoding == 6 || encoding == 7) && p == TN_BYTE_ARRAY &&
         c->kind->logical != TN_LOGICAL_DECIMAL) ||
        (encoding == TN_ENC_BYTE_STREAM_SPLIT && p != TN_BYTE_ARRAY && p != TN_BOOLEAN &&
         p != TN_INT96)) {
        o.force_encoding = true;
        o.encoding = (int32_t)encoding;
    }
    return o;
}

/* A batch that refers to its values by a dictionary in which equal values stand apart. */
static int add_by_dictionary(tarn_cx *cx, tn_chunk_writer *w, tn_leaf_batch batch, uint64_t id)
{
    size_t n = (size_t)batch.values.count;
    uint32_t *indices = tn_calloc(cx, n + 1, sizeof *indices);
    int rc;

    if (indices == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        indices[i] = (uint32_t)i;
    batch.dictionary = batch.values;
    batch.values.data = NULL;
    batch.indices = indices;
    batch.dictionary_id = id;
    rc = tn_chunk_writer_add(cx, w, &batch);
    free(indices);
    return rc;
}

/* Gives the column's rows in batches of different lengths. */
static int add_rows(tarn_cx *cx, column *c, tn_chunk_writer *w, uint64_t *seed)
{
    const uint16_t *def = (const uint16_t *)(const void *)c->def.data,
                   *rep = (const uint16_t *)(const void *)c->rep.data;
    size_t width = tn_leaf_width(c->leaf);
    int64_t at = 0, value = 0;
    uint64_t id = 1;
    int rc = TARN_OK;

    for (int64_t i = 0; c->kind->physical == TN_BYTE_ARRAY && i < c->value_count; i++) {
        tn_view *view = (tn_view *)(void *)c->values.data + i;

        view->ptr = c->bytes.data + (uintptr_t)view->ptr;
    }
    while (at < c->entries) {
        int64_t want = 1 + (int64_t)below(seed, 400), rows = 0, end = at, values = 0;
        bool present = true;
        tn_leaf_batch batch;

        while (end < c->entries) {
            if (rep[end] == 0 && rows++ == want) {
                rows--;
                break;
            }
            values += def[end] == c->leaf->max_def;
            present &= def[end] == c->leaf->max_def;
            end++;
        }
        batch = (tn_leaf_batch){.rows = rows,
                                .entries = end - at,
                                .def = c->leaf->max_def > 0 ? def + at : NULL,
                                .rep = c->leaf->max_rep > 0 ? rep + at : NULL,
                                .all_present = present,
                                .values = {c->values.data + (size_t)value * width, values}};
        if (opt("indices") && values > 0)
            TN_TRY(add_by_dictionary(cx, w, batch, id++));
        else
            TN_TRY(tn_chunk_writer_add(cx, w, &batch));
        at = end;
        value += values;
    }
done:
    return rc;
}

static int write_group(tarn_cx *cx, tn_parquet_writer *file, column *columns, size_t n,
                       int64_t rows, uint64_t *seed)
{
    tn_encoded_chunk *chunks = tn_calloc(cx, n, sizeof *chunks);
    tn_chunk_writer *w = NULL;
    int rc = TARN_OK;

    if (chunks == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        tn_chunk_options o = chunk_options(&columns[i]);

        TN_TRY(tn_chunk_writer_open(cx, columns[i].leaf, &o, &w));
        TN_TRY(add_rows(cx, &columns[i], w, seed));
        TN_TRY(tn_chunk_writer_finish(cx, w, &chunks[i]));
        tn_chunk_writer_close(w);
        w = NULL;
    }
    TN_TRY(tn_parquet_writer_row_group(cx, file, chunks, rows, NULL, 0));
done:
    tn_chunk_writer_close(w);
    for (size_t i = 0; i < n; i++)
        tn_encoded_chunk_clear(&chunks[i]);
    free(chunks);
    return rc;
}

static void forget(column *c)
{
    tn_buf_reset(&c->def);
    tn_buf_reset(&c->rep);
    tn_buf_reset(&c->values);
    tn_buf_reset(&c->bytes);
    c->entries = c->value_count = 0;
}

static int write_file(tarn_cx *cx, uint64_t seed, const char *path, column *columns, size_t n,
                      const tn_schema *schema)
{
    int64_t groups = opt("groups"), rows = opt("rows"), row = 0;
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_sink *sink = NULL;
    tn_parquet_writer *file = NULL;
    tn_key_value note = {TN_STR("tarn.note"), TN_STR("a value"), true};
    tn_str where;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &where));
    TN_TRY(tn_store_create(cx, store, where, &sink));
    TN_TRY(tn_parquet_writer_open(
        cx, sink, schema, &(tn_parquet_write_options){.key_values = &note, .key_value_count = 1},
        &file));
    for (int64_t g = 0; g < groups; g++) {
        int64_t end = rows * (g + 1) / groups, first = row;

        for (size_t i = 0; i < n; i++) {
            forget(&columns[i]);
            for (row = first; row < end; row++)
                put_row(&columns[i], &seed, row);
        }
        TN_TRY(write_group(cx, file, columns, n, end - first, &seed));
        row = end;
    }
    TN_TRY(tn_parquet_writer_finish(cx, file));
    TN_TRY(tn_store_finish(cx, sink));
done:
    tn_parquet_writer_close(file);
    tn_store_close_sink(sink);
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

static bool foreign_to_spark(const kind *k)
{
    return k->logical == TN_LOGICAL_TIME ||
           (k->physical == TN_FIXED && k->logical != TN_LOGICAL_DECIMAL);
}

static size_t make_columns(column *columns, uint64_t *seed)
{
    size_t n = 0;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < sizeof shapes - 1; s++) {
            if (opt("spark") && foreign_to_spark(&kinds[k]))
                continue;
            /* Every kind flat; nested shapes by chance. */
            if (s >= 2 && below(seed, 3) != 0)
                continue;
            columns[n].kind = &kinds[k];
            columns[n].shape = shapes[s];
            columns[n].taste = (unsigned)below(seed, 5);
            snprintf(columns[n].name, sizeof columns[n].name, "%s_%c", kinds[k].name, shapes[s]);
            n++;
        }
    return n;
}

static int run(tarn_cx *cx, uint64_t seed, const char *path)
{
    column *columns = tn_calloc(cx, COLUMNS_MAX, sizeof *columns);
    tn_arena arena = {0};
    tn_element *elements = tn_arena_array(cx, &arena, COLUMNS_MAX * 5 + 1, sizeof *elements);
    tn_schema schema;
    size_t n = 0, count = 1;
    int rc = TARN_OK;

    if (columns == NULL || elements == NULL)
        TN_FAIL(TARN_E_NOMEM, "no memory");
    n = make_columns(columns, &seed);
    elements[0] = group("schema", TN_REQUIRED, 0, (int32_t)n);
    for (size_t i = 0; i < n; i++)
        count += put_elements(elements + count, &columns[i]);
    TN_TRY(tn_schema_build(cx, elements, count, &arena, &schema));
    for (size_t i = 0; i < n; i++)
        columns[i].leaf = &schema.leaves[i];
    TN_TRY(write_file(cx, seed, path, columns, n, &schema));
    for (size_t i = 0; i < n; i++)
        printf("{\"name\":\"%s\",\"kind\":\"%s\",\"shape\":\"%c\",\"rows\":[%.*s]}\n",
               columns[i].name, columns[i].kind->name, columns[i].shape, (int)columns[i].json.len,
               columns[i].json.data != NULL ? (const char *)columns[i].json.data : "");
done:
    for (size_t i = 0; columns != NULL && i < n; i++) {
        tn_buf_clear(&columns[i].def);
        tn_buf_clear(&columns[i].rep);
        tn_buf_clear(&columns[i].values);
        tn_buf_clear(&columns[i].bytes);
        tn_buf_clear(&columns[i].json);
    }
    free(columns);
    tn_arena_clear(&arena);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    int rc;

    if (argc < 3 || cx == NULL)
        return 2;
    for (int i = 3; i < argc; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            size_t len = strlen(options[k].name);

            if (strncmp(argv[i], options[k].name, len) == 0 && argv[i][len] == '=')
                options[k].value = strtoll(argv[i] + len + 1, NULL, 10);
        }
    rc = run(cx, strtoull(argv[1], NULL, 10), argv[2]);
    if (rc != TARN_OK)
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}
