/* The Parquet scan and sink as a shared library for tests in Python: a file as an Arrow stream, and
 * an Arrow stream as a file. Errors go to a text that the caller owns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "tarn/write.h"

#define EXPORT __attribute__((visibility("default")))

int bridge_read(const char *path, const tn_parquet_scan_options *options, unsigned jobs,
                uint64_t memory_bytes, struct ArrowArrayStream *out, char *text, size_t text_bytes);

typedef struct bridge {
    tarn_cx *cx;
    tn_arena arena;
    tn_store *store;
    tn_parquet file;
    tn_parquet_scan *scan;
} bridge;

static void bridge_close(bridge *b)
{
    tn_parquet_scan_close(b->scan);
    tn_parquet_close(&b->file);
    tn_store_close(b->store);
    tn_arena_clear(&b->arena);
    tarn_cx_close(b->cx);
    free(b);
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    bridge *b = stream->private_data;

    return tn_parquet_scan_schema(b->cx, b->scan, out);
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    bridge *b = stream->private_data;
    int64_t first;
    int rc = tn_parquet_scan_next(b->cx, b->scan, out, &first);

    if (rc == TARN_OK && out->length == 0)
        tn_array_release(out);
    return rc;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    bridge *b = stream->private_data;

    return tarn_cx_error(b->cx);
}

static void stream_release(struct ArrowArrayStream *stream)
{
    bridge_close(stream->private_data);
    stream->release = NULL;
}

EXPORT int bridge_read(const char *path, const tn_parquet_scan_options *options, unsigned jobs,
                       uint64_t memory_bytes, struct ArrowArrayStream *out, char *text,
                       size_t text_bytes)
{
    tarn_cx_options cx_options = {.jobs = jobs, .memory_bytes = memory_bytes};
    bridge *b = calloc(1, sizeof *b);
    tn_str place;
    int rc = TARN_OK;

    b->cx = tarn_cx_open(&cx_options);
    TN_TRY(tn_store_locate(b->cx, tn_str_of(path), &b->arena, &b->store, &place));
    TN_TRY(tn_parquet_open(b->cx, b->store, place, &b->file));
    TN_TRY(tn_parquet_scan_open(b->cx, &b->file, options, &b->scan));
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, b};
    return TARN_OK;
done:
    snprintf(text, text_bytes, "%s: %s", tarn_status_name(rc), tarn_cx_error(b->cx));
    bridge_close(b);
    return rc;
}

int bridge_write(const char *path, struct ArrowArrayStream *stream,
                 const tn_parquet_sink_options *options, unsigned jobs, char *text,
                 size_t text_bytes);

static int pump(tarn_cx *cx, struct ArrowArrayStream *stream, tn_parquet_sink *sink)
{
    int rc = TARN_OK;

    for (;;) {
        struct ArrowArray batch = {0};

        if (stream->get_next(stream, &batch) != 0)
            return tn_fail(cx, TARN_E_IO, "the stream ends in an error");
        if (batch.release == NULL)
            return TARN_OK;
        rc = tn_parquet_sink_add(cx, sink, &batch);
        tn_array_release(&batch);
        if (rc != TARN_OK)
            return rc;
    }
}

EXPORT int bridge_write(const char *path, struct ArrowArrayStream *stream,
                        const tn_parquet_sink_options *options, unsigned jobs, char *text,
                        size_t text_bytes)
{
    tarn_cx_options cx_options = {.jobs = jobs};
    tarn_cx *cx = tarn_cx_open(&cx_options);
    struct ArrowSchema schema = {0};
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_sink *file = NULL;
    tn_parquet_sink *sink = NULL;
    tn_str place;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &place));
    if (stream->get_schema(stream, &schema) != 0)
        TN_FAIL(TARN_E_INVALID, "the stream has no schema");
    TN_TRY(tn_store_create(cx, store, place, &file));
    TN_TRY(tn_parquet_sink_open(cx, file, &schema, options, &sink));
    TN_TRY(pump(cx, stream, sink));
    TN_TRY(tn_parquet_sink_finish(cx, sink));
    TN_TRY(tn_store_finish(cx, file));
done:
    if (rc != TARN_OK)
        snprintf(text, text_bytes, "%s: %s", tarn_status_name(rc), tarn_cx_error(cx));
    tn_parquet_sink_close(sink);
    tn_store_close_sink(file);
    tn_field_release(&schema);
    stream->release(stream);
    tn_store_close(store);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return rc;
}

int bridge_write_rows(const char *dir, struct ArrowArrayStream *stream,
                      const char *const *partition_by, size_t count, uint64_t memory_bytes,
                      int64_t *rows, char *text, size_t text_bytes);

EXPORT int bridge_write_rows(const char *dir, struct ArrowArrayStream *stream,
                             const char *const *partition_by, size_t count, uint64_t memory_bytes,
                             int64_t *rows, char *text, size_t text_bytes)
{
    tarn_cx_options cx_options = {.memory_bytes = memory_bytes};
    tarn_cx *cx = tarn_cx_open(&cx_options);
    tarn_write_options options = {.partition_by = partition_by, .partition_by_count = count};
    tarn_write_report *report = NULL;
    int rc = tarn_write_rows(cx, dir, stream, &options, &report);

    if (rc == TARN_OK)
        *rows = report->rows;
    else
        snprintf(text, text_bytes, "%s: %s", tarn_status_name(rc), tarn_cx_error(cx));
    tarn_write_report_close(report);
    stream->release(stream);
    tarn_cx_close(cx);
    return rc;
}
