/* Makes the directory that script/demo cures: events of some days, a small file per micro-batch of
 * five minutes, as a streaming job leaves them. Not installed; the same bytes on every machine.
 *
 *     make_events DIR [ROWS [DAYS]]
 *
 * I1: DIR/dt=YYYY-MM-DD/part-….parquet hold exactly ROWS rows, each event_id once.
 * I2: all files have one schema. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "io/store_memory.h"

#define BATCHES_PER_DAY 288
#define BATCH_SECONDS   300
#define FIRST_DAY       INT64_C(1714521600) /* 2024-05-01 */
#define DAYS_MAX        366
#define PATH_BYTES_MAX  4096
#define FILE_BYTES_MAX  (UINT64_C(1) << 30)

enum column {
    EVENT_ID,
    TS,
    USER_ID,
    EVENT_TYPE,
    COUNTRY,
    AMOUNT,
    URL,
    PROPERTIES,
    DEVICE,
    COLUMNS
};

static const struct {
    const char *name, *format;
    bool nullable;
} columns[COLUMNS] = {
    {"event_id", "l", false},   {"ts", "tsu:UTC", false},  {"user_id", "l", false},
    {"event_type", "u", false}, {"country", "u", true},    {"amount", "d:10,2", true},
    {"url", "u", true},         {"properties", "u", true}, {"device", "u", true},
};

static const char *const event_types[] = {"page_view",   "page_view", "page_view", "search",
                                          "add_to_cart", "checkout",  "purchase",  "login"};
static const char *const countries[] = {"DE", "FR", "US", "IN", "BR", "JP", "GB", NULL};
static const char *const pages[] = {"home", "product", "category", "search", "cart", "account"};
static const char *const devices[] = {"phone", "phone", "desktop", "tablet"};

struct random {
    uint64_t state;
};

static uint64_t draw(struct random *random, uint64_t below)
{
    uint64_t x;

    random->state += UINT64_C(0x9E3779B97F4A7C15);
    x = random->state;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (x ^ (x >> 31)) % below;
}

/* One column of a batch on its way. */
struct builder {
    tn_block bits, values, text;
    int64_t count, nulls;
};

static int put(tarn_cx *cx, tn_block *block, const void *bytes, size_t len)
{
    int rc = TARN_OK;

    TN_TRY(tn_block_reserve(cx, block, len));
    if (len != 0)
        memcpy(block->data + block->len, bytes, len);
    block->len += len;
done:
    return rc;
}

static int put_valid(tarn_cx *cx, struct builder *builder, bool valid)
{
    const uint8_t none = 0;
    int rc = TARN_OK;

    if (builder->count % 8 == 0)
        TN_TRY(put(cx, &builder->bits, &none, 1));
    if (valid)
        tn_bit_set(builder->bits.data, builder->count);
    else
        builder->nulls++;
    builder->count++;
done:
    return rc;
}

static int put_i64(tarn_cx *cx, struct builder *builder, int64_t value)
{
    int rc = TARN_OK;

    TN_TRY(put(cx, &builder->values, &value, sizeof value));
    TN_TRY(put_valid(cx, builder, true));
done:
    return rc;
}

/* Cents; a negative amount is null. */
static int put_amount(tarn_cx *cx, struct builder *builder, int64_t cents)
{
    const int64_t words[2] = {cents < 0 ? 0 : cents, 0};
    int rc = TARN_OK;

    TN_TRY(put(cx, &builder->values, words, sizeof words));
    TN_TRY(put_valid(cx, builder, cents >= 0));
done:
    return rc;
}

static int put_text(tarn_cx *cx, struct builder *builder, const char *text)
{
    int32_t end = 0;
    int rc = TARN_OK;

    if (builder->count == 0)
        TN_TRY(put(cx, &builder->values, &end, sizeof end));
    if (text != NULL)
        TN_TRY(put(cx, &builder->text, text, strlen(text)));
    end = (int32_t)builder->text.len;
    TN_TRY(put(cx, &builder->values, &end, sizeof end));
    TN_TRY(put_valid(cx, builder, text != NULL));
done:
    return rc;
}

static int add_row(tarn_cx *cx, struct builder *builders, struct random *random, int64_t id,
                   int64_t ts_us)
{
    const char *type = event_types[draw(random, 8)];
    const bool sells = strcmp(type, "purchase") == 0 || strcmp(type, "checkout") == 0;
    /* a draw a statement: the order of evaluation of arguments is the compiler's */
    const char *page = pages[draw(random, 6)];
    const unsigned item = (unsigned)draw(random, 4000), referrer = (unsigned)draw(random, 50);
    const unsigned side = (unsigned)draw(random, 2), load_ms = 40 + (unsigned)draw(random, 900);
    const unsigned campaign = (unsigned)draw(random, 30);
    char url[128], properties[128];
    int rc = TARN_OK;

    snprintf(url, sizeof url, "https://shop.example/%s/%u?ref=%u", page, item, referrer);
    snprintf(properties, sizeof properties, "{\"ab\":\"%c\",\"load_ms\":%u,\"campaign\":\"c%02u\"}",
             "AB"[side], load_ms, campaign);
    TN_TRY(put_i64(cx, &builders[EVENT_ID], id));
    TN_TRY(put_i64(cx, &builders[TS], ts_us));
    TN_TRY(put_i64(cx, &builders[USER_ID], (int64_t)draw(random, 20000)));
    TN_TRY(put_text(cx, &builders[EVENT_TYPE], type));
    TN_TRY(put_text(cx, &builders[COUNTRY], countries[draw(random, 8)]));
    TN_TRY(put_amount(cx, &builders[AMOUNT], sells ? (int64_t)(99 + draw(random, 50000)) : -1));
    TN_TRY(put_text(cx, &builders[URL], url));
    TN_TRY(put_text(cx, &builders[PROPERTIES], draw(random, 10) == 0 ? NULL : properties));
    TN_TRY(put_text(cx, &builders[DEVICE], devices[draw(random, 4)]));
done:
    return rc;
}

static int take_column(tarn_cx *cx, struct builder *builder, bool text, struct ArrowArray *out)
{
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, out, builder->count, text ? 3 : 2, 0));
    out->null_count = builder->nulls;
    if (builder->nulls != 0)
        TN_TRY(tn_array_take_block(cx, out, 0, &builder->bits));
    TN_TRY(tn_array_take_block(cx, out, 1, &builder->values));
    if (text)
        TN_TRY(tn_array_take_block(cx, out, 2, &builder->text));
done:
    return rc;
}

static int make_schema(tarn_cx *cx, size_t count, struct ArrowSchema *out)
{
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, "+s", TN_STR(""), false, count));
    for (size_t c = 0; c < count; c++)
        TN_TRY(tn_field_init(cx, out->children[c], columns[c].format, tn_str_of(columns[c].name),
                             columns[c].nullable, 0));
done:
    return rc;
}

struct batch {
    int64_t first_id, rows, start_s;
};

static int make_rows(tarn_cx *cx, struct random *random, const struct batch *batch,
                     struct ArrowArray *out)
{
    const size_t count = COLUMNS;
    struct builder builders[COLUMNS] = {0};
    int rc = TARN_OK;

    for (int64_t i = 0; i < batch->rows; i++)
        TN_TRY(add_row(cx, builders, random, batch->first_id + i,
                       (batch->start_s * 1000000) + i * BATCH_SECONDS * 1000000 / batch->rows));
    TN_TRY(tn_array_init(cx, out, batch->rows, 1, count));
    for (size_t c = 0; c < count; c++)
        TN_TRY(take_column(cx, &builders[c], columns[c].format[0] == 'u', out->children[c]));
done:
    for (size_t c = 0; c < COLUMNS; c++) {
        tn_block_clear(&builders[c].bits);
        tn_block_clear(&builders[c].values);
        tn_block_clear(&builders[c].text);
    }
    return rc;
}

/* The file is written in memory and stored from there: a store on disk syncs each file, which is
 * right for data and too slow for thousands of files of a demonstration. */
static int write_file(tarn_cx *cx, tn_store *memory, const char *path,
                      const struct ArrowSchema *schema, const struct ArrowArray *rows)
{
    const tn_parquet_sink_options options = {.chunk = {.codec = TN_CODEC_SNAPPY}};
    const tn_str inner = TN_STR("/file");
    tn_parquet_sink *parquet = NULL;
    tn_sink *sink = NULL;
    tn_buf bytes = {0};
    FILE *file = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_store_create(cx, memory, inner, &sink));
    TN_TRY(tn_parquet_sink_open(cx, sink, schema, &options, &parquet));
    TN_TRY(tn_parquet_sink_add(cx, parquet, rows));
    TN_TRY(tn_parquet_sink_finish(cx, parquet));
    TN_TRY(tn_store_finish(cx, sink));
    TN_TRY(tn_store_get(cx, memory, inner, FILE_BYTES_MAX, &bytes));
    TN_TRY(tn_store_remove(cx, memory, inner));
    file = fopen(path, "wbx");
    if (file == NULL || fwrite(bytes.data, 1, bytes.len, file) != bytes.len || fflush(file) != 0)
        TN_FAIL(TARN_E_IO, "%s: %s", path, strerror(errno));
done:
    if (file != NULL)
        fclose(file);
    tn_buf_clear(&bytes);
    tn_parquet_sink_close(parquet);
    tn_store_close_sink(sink);
    return rc;
}

static int make_batch(tarn_cx *cx, tn_store *memory, struct random *random, const char *dir,
                      const struct batch *batch)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray rows = {0};
    const uint64_t high = draw(random, UINT64_MAX), low = draw(random, UINT64_MAX);
    char path[PATH_BYTES_MAX];
    int rc = TARN_OK;

    snprintf(path, sizeof path,
             "%s/part-00000-%08x-%04x-4%03x-8%03x-%012" PRIx64 ".c000.snappy.parquet", dir,
             (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFF),
             (unsigned)(low >> 52), low & UINT64_C(0xFFFFFFFFFFFF));
    TN_TRY(make_schema(cx, COLUMNS, &schema));
    TN_TRY(make_rows(cx, random, batch, &rows));
    TN_TRY(write_file(cx, memory, path, &schema, &rows));
done:
    tn_array_release(&rows);
    tn_field_release(&schema);
    return rc;
}

/* Rows before batch `i` of `count`, so that all of them add up to `rows`. */
static int64_t rows_before(int64_t rows, int64_t i, int64_t count)
{
    return rows * i / count;
}

static int make_dir(tarn_cx *cx, const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return tn_fail(cx, TARN_E_IO, "%s: %s", path, strerror(errno));
    return TARN_OK;
}

static int make_days(tarn_cx *cx, tn_store *memory, const char *root, int64_t rows, int64_t days)
{
    const int64_t batches = days * BATCHES_PER_DAY;
    struct random random = {42};
    char dir[PATH_BYTES_MAX / 2] = "", name[32];
    int rc = TARN_OK;

    if (strlen(root) + sizeof name > sizeof dir)
        TN_FAIL(TARN_E_INVALID, "%s: the path is too long", root);
    TN_TRY(make_dir(cx, root));
    for (int64_t i = 0; i < batches; i++) {
        struct batch batch = {.first_id = rows_before(rows, i, batches),
                              .start_s = FIRST_DAY + i * BATCH_SECONDS};

        batch.rows = rows_before(rows, i + 1, batches) - batch.first_id;
        if (i % BATCHES_PER_DAY == 0) {
            const time_t at = (time_t)batch.start_s;
            struct tm day;

            gmtime_r(&at, &day);
            strftime(name, sizeof name, "dt=%Y-%m-%d", &day);
            snprintf(dir, sizeof dir, "%s/%s", root, name);
            TN_TRY(make_dir(cx, dir));
        }
        if (batch.rows > 0)
            TN_TRY(make_batch(cx, memory, &random, dir, &batch));
    }
done:
    return rc;
}

int main(int argc, char **argv)
{
    const int64_t rows = argc > 2 ? atoll(argv[2]) : 130000;
    const int64_t days = argc > 3 ? atoll(argv[3]) : 8;
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_store *memory = NULL;
    int rc = TARN_OK;

    if (cx == NULL || argc < 2 || rows < 1 || days < 1 || days > DAYS_MAX) {
        fprintf(stderr, "usage: make_events DIR [ROWS [DAYS]]\n");
        tarn_cx_close(cx);
        return 2;
    }
    TN_TRY(tn_store_memory_open(cx, &memory));
    TN_TRY(make_days(cx, memory, argv[1], rows, days));
done:
    if (rc != TARN_OK)
        fprintf(stderr, "make_events: %s\n", tarn_cx_error(cx));
    tn_store_close(memory);
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}
