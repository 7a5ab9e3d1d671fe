/* CSV in: what csv_write writes comes back, however it is cut; and no memory, no matter when, loses
 * anything. */
#include "codec/csv/csv_read.h"

#include "codec/csv/csv_write.h"
#include "codec/ndjson/ndjson_write.h"
#include "unit/alloc.h"
#include "unit/batch/table.h"

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* ---- random tables */

enum { COLUMNS = 25, ROWS = 40 };

static const char *const formats[COLUMNS] = {
    "b",   "c",   "C",   "s",   "S",    "i",       "I",     "l",      "L",
    "e",   "f",   "g",   "u",   "z",    "w:3",     "d:7,2", "d:38,9", "d:60,12,256",
    "tdD", "tdm", "ttm", "ttn", "tss:", "tsm:UTC", "tDu"};

static size_t width_of(const char *format)
{
    switch (format[0]) {
    case 'b':
        return 0;
    case 'c':
    case 'C':
        return 1;
    case 's':
    case 'S':
    case 'e':
        return 2;
    case 'i':
    case 'I':
    case 'f':
        return 4;
    case 'w':
        return 3;
    case 'd':
        return strstr(format, "256") != NULL ? 32 : 16;
    default:
        return strcmp(format, "tdD") == 0 || strcmp(format, "ttm") == 0 ? 4 : 8;
    }
}

/* Within what the type means: times are of a day, decimals of their precision, halves and floats no
 * NaN with a payload. */
static void random_value(const char *format, uint64_t *seed, uint8_t *out)
{
    size_t width = width_of(format);
    int64_t word = (int64_t)(next(seed) >> (next(seed) & 63));

    memset(out, 0, width);
    if (next(seed) % 2 == 0)
        word = -word;
    if (format[0] == 'd') {
        word %= 9999999;
        memset(out, word < 0 ? 0xFF : 0, width);
    } else if (format[0] == 't' && format[1] == 't') {
        word = (int64_t)(next(seed) % 86400000);
    } else if (format[0] == 'e' && (word & 0x7C00) == 0x7C00) {
        word = 0x3C00;
    } else if (strcmp(format, "tss:") == 0) {
        word %= 1000000000000; /* years of at most seven digits */
    } else if (strcmp(format, "tdD") == 0) {
        word %= 1000000000;
    } else if (strcmp(format, "tdm") == 0 || format[0] == 't') {
        word %= 1000000000000000;
    }
    if (format[0] == 'f' || format[0] == 'g') {
        double value = (double)word / 1000;
        float single = (float)value;

        memcpy(out, format[0] == 'f' ? (void *)&single : (void *)&value, width);
        return;
    }
    memcpy(out, &word, width < 8 ? width : 8);
}

static void random_text(uint64_t *seed, bool utf8, char *out)
{
    static const char *const parts[] = {"",  "a",  ",",  "\"", "\n",       "\r",        "\r\n",
                                        " ", "\t", "NA", "7",  "\xC3\xBC", "long text", "\"\""};
    size_t n = next(seed) % 6;

    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        strcat(out, parts[next(seed) % (sizeof parts / sizeof parts[0])]);
    if (!utf8 && n > 2)
        strcat(out, "\xFF\x01");
}

static void random_column(tarn_cx *cx, test_table *t, int64_t c, uint64_t *seed)
{
    const char *format = formats[c];
    char name[30], texts[ROWS][64];
    const char *values[ROWS];
    uint8_t fixed[ROWS * 32];
    uint64_t nulls = next(seed) % 3 == 0 ? 0 : next(seed) & next(seed);
    size_t width = width_of(format);

    snprintf(name, sizeof name, "%lld \"%s\"", (long long)c, format);
    nulls &= (1ull << t->array.length) - 1;
    if (format[0] == 'b') {
        table_bool(cx, t, c, name, next(seed), nulls);
    } else if (strchr("uz", format[0]) != NULL) {
        for (int64_t i = 0; i < t->array.length; i++) {
            random_text(seed, format[0] == 'u', texts[i]);
            values[i] = texts[i];
        }
        table_text(cx, t, c, name, format, values, nulls);
    } else {
        for (int64_t i = 0; i < t->array.length; i++)
            random_value(format, seed, fixed + (size_t)i * width);
        table_fixed(cx, t, c, name, format, fixed, width, nulls);
    }
}

static void print_rows(tarn_cx *cx, const struct ArrowSchema *schema,
                       const struct ArrowArray *batch, tn_buf *out)
{
    tn_ndjson_writer *writer = NULL;

    assert_ok(cx, tn_ndjson_writer_open(cx, schema, &writer));
    assert_ok(cx, tn_ndjson_writer_rows(cx, writer, batch, 0, batch->length, out));
    tn_ndjson_writer_close(writer);
}

static void write_csv(tarn_cx *cx, const test_table *t, tn_buf *out)
{
    tn_csv_writer *writer = NULL;

    assert_ok(cx, tn_csv_writer_open(cx, &t->schema, &writer));
    assert_ok(cx, tn_csv_writer_header(cx, writer, out));
    assert_ok(cx, tn_csv_writer_rows(cx, writer, &t->array, 0, t->array.length, out));
    tn_csv_writer_close(writer);
}

/* All rows as NDJSON, or a status with text. */
static int read_csv(tarn_cx *cx, tn_str csv, size_t step, const tn_text_read_options *options,
                    tn_buf *out)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_csv_read *reader = NULL;
    tn_ndjson_writer *writer = NULL;
    tn_feed *feed = NULL;
    int64_t rows;
    int rc = TARN_OK;

    TN_TRY(tn_feed_open_memory(cx, csv.ptr, csv.len, step, TN_STR("f.csv"), &feed));
    TN_TRY(tn_csv_read_open(cx, feed, options, &reader));
    TN_TRY(tn_csv_read_schema(cx, reader, &schema));
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    do {
        TN_TRY(tn_csv_read_next(cx, reader, &batch));
        rows = batch.length;
        TN_TRY(tn_array_check(cx, &schema, &batch));
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, rows, out));
        tn_array_release(&batch);
    } while (rows != 0);
done:
    tn_array_release(&batch);
    tn_ndjson_writer_close(writer);
    tn_field_release(&schema);
    tn_csv_read_close(reader);
    tn_feed_close(feed);
    return rc;
}

static void test_csv_read__what_was_written_comes_back(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int round = 0; round < 60; round++) {
        tarn_cx *cx = tarn_cx_open(NULL);
        test_table t = {0};
        tn_text_read_options options = {.schema = &t.schema,
                                        .batch_rows = 1 + (int64_t)(next(&seed) % 50)};
        tn_buf csv = {0}, want = {0}, got = {0};

        table_init(cx, &t, COLUMNS, (int64_t)(next(&seed) % ROWS));
        for (int64_t c = 0; c < COLUMNS; c++)
            random_column(cx, &t, c, &seed);
        write_csv(cx, &t, &csv);
        print_rows(cx, &t.schema, &t.array, &want);
        assert_ok(cx, read_csv(cx, tn_buf_view(&csv), next(&seed) % 100, &options, &got));
        tn_buf_u8(&want, 0);
        tn_buf_u8(&got, 0);
        assert_string_equal((char *)got.data, (char *)want.data);
        tn_buf_clear(&csv);
        tn_buf_clear(&want);
        tn_buf_clear(&got);
        table_clear(&t);
        tarn_cx_close(cx);
    }
}

/* One column: a null is an empty line. */
static void test_csv_read__one_column_comes_back(void **state)
{
    static const char *const values[] = {NULL, "", "x", NULL, "\n", ""};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf csv = {0}, want = {0}, got = {0};
    tn_text_read_options options = {0};
    test_table t = {0};

    (void)state;
    table_init(cx, &t, 1, 6);
    table_text(cx, &t, 0, "a", "u", values, 9);
    write_csv(cx, &t, &csv);
    print_rows(cx, &t.schema, &t.array, &want);
    assert_ok(cx, read_csv(cx, tn_buf_view(&csv), 2, &options, &got));
    tn_buf_u8(&want, 0);
    tn_buf_u8(&got, 0);
    assert_string_equal((char *)got.data, (char *)want.data);
    tn_buf_clear(&csv);
    tn_buf_clear(&want);
    tn_buf_clear(&got);
    table_clear(&t);
    tarn_cx_close(cx);
}

/* ---- cuts */

static const char tricky[] = "\xEF\xBB\xBF\"a \"\"b\"\"\",c\r\n\"1\r\n\",\"\"\"\"\r\n\r\n,\"\"\r"
                             "\"x,\"\"\ny\"\"\",\xC3\xBC\n5\"6\",7\n\n\"\",";

static void test_csv_read__cuts_change_nothing(void **state)
{
    static const char want[] = "{\"a \\\"b\\\"\":\"1\\r\\n\",\"c\":\"\\\"\"}\n"
                               "{\"a \\\"b\\\"\":null,\"c\":\"\"}\n"
                               "{\"a \\\"b\\\"\":\"x,\\\"\\ny\\\"\",\"c\":\"\xC3\xBC\"}\n"
                               "{\"a \\\"b\\\"\":\"5\\\"6\\\"\",\"c\":\"7\"}\n"
                               "{\"a \\\"b\\\"\":\"\",\"c\":null}\n";
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_text_read_options options = {0};
    tn_buf got = {0};

    (void)state;
    for (size_t step = 0; step < sizeof tricky; step++) {
        for (int64_t rows = 1; rows < 6; rows++) {
            tn_buf_reset(&got);
            options.batch_rows = rows;
            assert_ok(cx, read_csv(cx, (tn_str){tricky, sizeof tricky - 1}, step, &options, &got));
            tn_buf_u8(&got, 0);
            assert_string_equal((char *)got.data, want);
        }
    }
    tn_buf_clear(&got);
    tarn_cx_close(cx);
}

/* Every place of a long text that a block of the scanner or a piece may cut. */
static void test_csv_read__shifted_by_every_byte(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_text_read_options options = {0};
    tn_buf csv = {0}, got = {0}, want = {0};

    (void)state;
    for (size_t shift = 0; shift < 140; shift++) {
        tn_buf_reset(&csv);
        tn_buf_reset(&got);
        tn_buf_reset(&want);
        tn_buf_text(&csv, "a,b\r\n");
        tn_buf_text(&want, "{\"a\":\"");
        for (size_t i = 0; i < shift; i++) {
            tn_buf_u8(&csv, 'x');
            tn_buf_u8(&want, 'x');
        }
        tn_buf_text(&csv, "x,\"1\"\"\"\r\n\"p\r\nq\",\r\n\r\nz,\"\"\r\n");
        tn_buf_text(&want, "x\",\"b\":\"1\\\"\"}\n{\"a\":\"p\\r\\nq\",\"b\":null}\n"
                           "{\"a\":\"z\",\"b\":\"\"}\n");
        tn_buf_u8(&want, 0);
        assert_ok(cx, read_csv(cx, tn_buf_view(&csv), 0, &options, &got));
        tn_buf_u8(&got, 0);
        assert_string_equal((char *)got.data, (char *)want.data);
    }
    tn_buf_clear(&csv);
    tn_buf_clear(&got);
    tn_buf_clear(&want);
    tarn_cx_close(cx);
}

/* A record of several pieces, and one that is too long for the budget. */
static void test_csv_read__long_records(void **state)
{
    static const tarn_cx_options small = {.memory_bytes = 16u << 20, .jobs = 1};
    tarn_cx *cx = tarn_cx_open(&small);
    tn_text_read_options options = {0};
    tn_buf csv = {0}, got = {0};

    (void)state;
    tn_buf_text(&csv, "a,b\n1,\"");
    for (int i = 0; i < 300000; i++)
        tn_buf_text(&csv, "0123,\n\"\"9");
    tn_buf_text(&csv, "\"\n2,x\n");
    assert_ok(cx, read_csv(cx, tn_buf_view(&csv), 65536, &options, &got));
    assert_true(got.len > 300000 * 9);
    assert_non_null(strstr((char *)got.data + got.len - 20, "{\"a\":2,\"b\":\"x\"}\n"));
    csv.len -= 6;
    for (int i = 0; i < 900000; i++)
        tn_buf_text(&csv, "0123,\n\"\"9");
    tn_buf_reset(&got);
    assert_fails(cx, TARN_E_LIMIT, "--memory",
                 read_csv(cx, tn_buf_view(&csv), 65536, &options, &got));
    tn_buf_clear(&csv);
    tn_buf_clear(&got);
    tarn_cx_close(cx);
}

/* ---- memory that is short */

static int pass_over(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    (void)cx;
    (void)arg;
    (void)bad;
    return TARN_OK;
}

static void test_csv_read__every_allocation_may_fail(void **state)
{
    static const char csv[] = "a,b,c\n1,\"x\"\"y\",2024-05-12\n,,\n2,z,2024-05-13\nq\n3,\xE4,\n";
    tn_text_read_options options = {.reject = pass_over, .batch_rows = 2};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_buf want = {0}, got = {0};
    size_t total;

    (void)state;
    alloc_watch(0);
    assert_ok(cx, read_csv(cx, TN_STR(csv), 0, &options, &want));
    total = alloc_unwatch();
    for (size_t n = 1; n <= total; n++) {
        int rc;

        tn_buf_reset(&got);
        tn_cx_forget(cx);
        alloc_watch(n);
        rc = read_csv(cx, TN_STR(csv), 0, &options, &got);
        alloc_unwatch();
        if (rc == TARN_OK)
            assert_true(tn_str_equal(tn_buf_view(&got), tn_buf_view(&want)));
        else
            assert_true(tarn_cx_error(cx)[0] != '\0');
        got.failed = false;
    }
    assert_true(total > 20);
    tn_buf_clear(&want);
    tn_buf_clear(&got);
    tarn_cx_close(cx);
}
