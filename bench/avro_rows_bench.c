/* avro_rows_bench [RECORDS [ROUNDS]]: Avro records of ten mixed nullable columns into Arrow, one
 * thread; and the same where two of the columns are wanted. Prints the best time of each:
 * "what<TAB>milliseconds<TAB>records". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cursor.h"
#include "batch/array.h"
#include "batch/field.h"
#include "codec/avro/avro_arrow.h"
#include "codec/avro/avro_rows.h"

#define BATCH_ROWS 32768

static const char schema_text[] =
    "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
    "{\"name\":\"commit\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"key\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"id\",\"type\":[\"null\",\"long\"]},"
    "{\"name\":\"n\",\"type\":[\"null\",\"int\"]},"
    "{\"name\":\"price\",\"type\":[\"null\",\"double\"]},"
    "{\"name\":\"rate\",\"type\":[\"null\",\"float\"]},"
    "{\"name\":\"flag\",\"type\":[\"null\",\"boolean\"]},"
    "{\"name\":\"day\",\"type\":[\"null\",{\"type\":\"int\",\"logicalType\":\"date\"}]},"
    "{\"name\":\"at\",\"type\":[\"null\",{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}]}"
    ","
    "{\"name\":\"sum\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"fixed\",\"size\":6,"
    "\"logicalType\":\"decimal\",\"precision\":14,\"scale\":2}]}]}";

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void put_text(tn_buf *out, const char *text)
{
    tn_buf_varint(out, 2);
    tn_buf_varint(out, tn_unzigzag((int64_t)strlen(text)));
    tn_buf_text(out, text);
}

static void put_long(tn_buf *out, int64_t value)
{
    tn_buf_varint(out, 2);
    tn_buf_varint(out, tn_unzigzag(value));
}

/* Every tenth price is null. */
static void put_record(tn_buf *out, uint32_t i)
{
    double price = i * 0.25;
    float rate = (float)i;
    char key[32];

    snprintf(key, sizeof key, "TXN-%08u", (unsigned)i);
    put_text(out, "20250118044614549");
    put_text(out, key);
    put_long(out, 1000000007LL * i);
    put_long(out, (int64_t)(i % 1000) - 500);
    tn_buf_varint(out, i % 10 == 0 ? 0 : 2);
    if (i % 10 != 0)
        tn_buf_add(out, &price, sizeof price);
    tn_buf_varint(out, 2);
    tn_buf_add(out, &rate, sizeof rate);
    tn_buf_varint(out, 2);
    tn_buf_u8(out, i % 2);
    put_long(out, 20000 + i % 365);
    put_long(out, 1700000000000000LL + i);
    tn_buf_varint(out, 2);
    for (int shift = 40; shift >= 0; shift -= 8)
        tn_buf_u8(out, (uint8_t)((uint64_t)i * 977 >> shift));
}

static int read_all(tarn_cx *cx, const tn_avro_type *type, const struct ArrowSchema *columns,
                    const tn_buf *data, const size_t *ends, size_t count)
{
    struct ArrowArray array = {0};
    tn_avro_rows *rows = NULL;
    size_t start = 0;
    int rc = TARN_OK;

    TN_TRY(tn_avro_rows_open(cx, type, columns, TN_STR("bench"), &rows));
    for (size_t i = 0; i < count; start = ends[i++]) {
        TN_TRY(tn_avro_rows_add(cx, rows,
                                (tn_str){(const char *)data->data + start, ends[i] - start}));
        if (tn_avro_rows_count(rows) == BATCH_ROWS || i + 1 == count) {
            TN_TRY(tn_avro_rows_take(cx, rows, &array));
            tn_array_release(&array);
        }
    }
done:
    tn_avro_rows_close(rows);
    return rc;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)atol(argv[1]) : 1000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    size_t *ends = calloc(count + 1, sizeof *ends);
    struct ArrowSchema columns[2] = {0};
    static const char *const names[] = {"ten columns", "two columns of ten"};
    tn_avro_schema schema = {0};
    tn_buf data = {0};
    int rc = TARN_OK;

    if (cx == NULL || ends == NULL)
        return 2;
    TN_TRY(tn_avro_schema_parse(cx, tn_str_of(schema_text), "bench", &schema));
    TN_TRY(tn_avro_arrow_of(cx, schema.root, &columns[0]));
    TN_TRY(tn_field_init(cx, &columns[1], "+s", TN_STR(""), false, 2));
    TN_TRY(tn_field_copy(cx, columns[0].children[1], columns[1].children[0]));
    TN_TRY(tn_field_copy(cx, columns[0].children[8], columns[1].children[1]));
    for (size_t i = 0; i < count; i++) {
        put_record(&data, (uint32_t)i);
        ends[i] = data.len;
    }
    TN_TRY(tn_buf_check(cx, &data));
    for (int c = 0; c < 2; c++) {
        double best = 1e18;

        for (int i = 0; i < rounds; i++) {
            double start = now_ms(), took;

            TN_TRY(read_all(cx, schema.root, &columns[c], &data, ends, count));
            took = now_ms() - start;
            best = took < best ? took : best;
        }
        printf("%s\t%.1f\t%zu\n", names[c], best, count);
    }
done:
    if (rc != TARN_OK)
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tn_field_release(&columns[0]);
    tn_field_release(&columns[1]);
    tn_avro_schema_clear(&schema);
    tn_buf_clear(&data);
    free(ends);
    tarn_cx_close(cx);
    return rc == TARN_OK ? 0 : 1;
}
