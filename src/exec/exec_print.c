/* Rows of a stream as bytes.
 * I1: rows are cut into runs, formatted in parallel, and written in order. */
#include "exec/exec_print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/pool.h"
#include "batch/field.h"
#include "batch/stream.h"
#include "codec/csv/csv_write.h"
#include "codec/ndjson/ndjson_write.h"
#include "codec/parquet/arrow.h"

#define RUN_ROWS 4096
#define RUNS_MAX 64

typedef struct printer {
    enum tn_print_format format;
    tn_ndjson_writer *ndjson;
    tn_csv_writer *csv;
    const struct ArrowArray *batch;
    int64_t run_rows, at; /* rows of a run; the first row of this round */
    tn_buf runs[RUNS_MAX];
} printer;

static int format_run(tarn_cx *cx, size_t i, void *arg)
{
    printer *p = arg;
    int64_t first = p->at + (int64_t)i * p->run_rows, rows = p->batch->length - first;

    rows = rows < p->run_rows ? rows : p->run_rows;
    tn_buf_reset(&p->runs[i]);
    if (p->format == TN_PRINT_CSV)
        return tn_csv_writer_rows(cx, p->csv, p->batch, first, rows, &p->runs[i]);
    return tn_ndjson_writer_rows(cx, p->ndjson, p->batch, first, rows, &p->runs[i]);
}

static int print_batch(tarn_cx *cx, printer *p, tn_print_write write, void *arg, bool *stop)
{
    int rc = TARN_OK;

    for (p->at = 0; p->at < p->batch->length && !*stop;) {
        int64_t left = p->batch->length - p->at;
        int64_t runs = (left + p->run_rows - 1) / p->run_rows;

        runs = runs < RUNS_MAX ? runs : RUNS_MAX;
        TN_TRY(tn_parallel(cx, (size_t)runs, format_run, p));
        for (int64_t i = 0; i < runs && !*stop; i++)
            TN_TRY(write(cx, arg, p->runs[i].data, p->runs[i].len, stop));
        p->at += runs * p->run_rows;
    }
done:
    return rc;
}

static int print_start(tarn_cx *cx, printer *p, const struct ArrowSchema *schema,
                       tn_print_write write, void *arg, bool *stop)
{
    tn_buf header = {0};
    int rc = TARN_OK;

    if (p->format == TN_PRINT_CSV) {
        TN_TRY(tn_csv_writer_open(cx, schema, &p->csv));
        TN_TRY(tn_csv_writer_header(cx, p->csv, &header));
        TN_TRY(write(cx, arg, header.data, header.len, stop));
    } else {
        TN_TRY(tn_ndjson_writer_open(cx, schema, &p->ndjson));
    }
    /* Wide rows make shorter runs, so that what waits to be written stays small. */
    p->run_rows = RUN_ROWS / (1 + schema->n_children / 16) + 1;
done:
    tn_buf_clear(&header);
    return rc;
}

int tn_exec_print(tarn_cx *cx, struct ArrowArrayStream *rows, enum tn_print_format format,
                  tn_print_write write, void *arg, uint64_t *row_count)
{
    printer p = {.format = format};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    uint64_t count = 0;
    bool stop = false;
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(tn_stream_status(cx, rows, rows->get_schema(rows, &schema)));
    TN_TRY(print_start(cx, &p, &schema, write, arg, &stop));
    while (!stop) {
        TN_TRY(tn_stream_status(cx, rows, rows->get_next(rows, &batch)));
        if (batch.release == NULL)
            break;
        p.batch = &batch;
        TN_TRY(print_batch(cx, &p, write, arg, &stop));
        count += (uint64_t)batch.length;
        tn_array_release(&batch);
    }
    if (row_count != NULL)
        *row_count = count;
done:
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_csv_writer_close(p.csv);
    tn_ndjson_writer_close(p.ndjson);
    for (size_t i = 0; i < RUNS_MAX; i++)
        tn_buf_clear(&p.runs[i]);
    return rc;
}

int tn_exec_print_row(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                      int64_t row, tn_buf *out)
{
    tn_ndjson_writer *writer = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_ndjson_writer_open(cx, schema, &writer));
    TN_TRY(tn_ndjson_writer_rows(cx, writer, batch, row, 1, out));
    if (out->len != 0 && out->data[out->len - 1] == '\n')
        out->len--;
done:
    tn_ndjson_writer_close(writer);
    return rc;
}

static int codec_of(tarn_cx *cx, tn_str name, int32_t *out)
{
    static const struct {
        const char *name;
        enum tn_codec codec;
    } names[] = {{"zstd", TN_CODEC_ZSTD},   {"snappy", TN_CODEC_SNAPPY},   {"gzip", TN_CODEC_GZIP},
                 {"lz4", TN_CODEC_LZ4_RAW}, {"lz4_raw", TN_CODEC_LZ4_RAW}, {"none", TN_CODEC_NONE}};

    *out = TN_CODEC_ZSTD;
    if (name.len == 0)
        return TARN_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tn_str_is(name, names[i].name)) {
            *out = names[i].codec;
            return TARN_OK;
        }
    return tn_fail(cx, TARN_E_INVALID, "codec \"%.*s\": there are zstd, snappy, gzip, lz4 and none",
                   TN_STR_ARG(name));
}

int tn_exec_print_parquet(tarn_cx *cx, struct ArrowArrayStream *rows, tn_sink *sink, tn_str codec,
                          uint64_t *row_count)
{
    tn_parquet_sink_options options = {.store_arrow_schema = true};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_parquet_sink *parquet = NULL;
    uint64_t count = 0;
    int rc = TARN_OK;

    tn_cx_forget(cx);
    TN_TRY(codec_of(cx, codec, &options.chunk.codec));
    TN_TRY(tn_stream_status(cx, rows, rows->get_schema(rows, &schema)));
    TN_TRY(tn_parquet_sink_open(cx, sink, &schema, &options, &parquet));
    for (;;) {
        TN_TRY(tn_stream_status(cx, rows, rows->get_next(rows, &batch)));
        if (batch.release == NULL)
            break;
        TN_TRY(tn_parquet_sink_add(cx, parquet, &batch));
        count += (uint64_t)batch.length;
        tn_array_release(&batch);
    }
    TN_TRY(tn_parquet_sink_finish(cx, parquet));
    if (row_count != NULL)
        *row_count = count;
done:
    tn_parquet_sink_close(parquet);
    tn_array_release(&batch);
    tn_field_release(&schema);
    return rc;
}
