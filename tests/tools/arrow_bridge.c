/* The Parquet scan and sink as a shared library for tests in Python: a file as an Arrow stream, and
 * an Arrow stream as a file. Errors go to a text that the caller owns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"

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
