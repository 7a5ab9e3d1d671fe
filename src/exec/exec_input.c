/* Text files as streams of rows.
 *
 *   file or descriptor ─> unpacked ─> first bytes looked at ─> reader of the format ─> batches
 *
 * I1: a name's ending decides the format; its bytes are asked only where it says nothing, as with
 *     standard input. What the bytes are packed with is always asked of the bytes.
 * I2: after a failure the stream gives no more batches. */
#include "exec/exec_input.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "batch/array.h"
#include "batch/field.h"
#include "batch/stream.h"
#include "codec/csv/csv_read.h"
#include "codec/ndjson/ndjson_read.h"
#include "codec/zip/zip_feed.h"

#define LOOK_BYTES         4096
#define SAMPLE_BYTES_USUAL (4u << 20)

struct tn_exec_input {
    tn_feed *feed;
    enum tn_input_format format;
    bool tabs;
};

typedef struct stream {
    tarn_cx *cx;
    tn_exec_input *input;
    tn_text_read_options options;
    tn_csv_read *csv;
    tn_ndjson_read *ndjson;
    int failed; /* errno; 0: not */
    char error[TN_ERROR_TEXT_MAX];
} stream;

static bool ends_in(tn_str name, const char *ending)
{
    size_t len = strlen(ending);

    if (name.len <= len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = name.ptr[name.len - len + i];

        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != ending[i])
            return false;
    }
    return true;
}

/* Without the ending of a packing. */
static tn_str unpacked_name(tn_str path)
{
    static const char *const endings[] = {".gz", ".gzip", ".zst", ".zstd"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_in(path, endings[i]))
            return (tn_str){path.ptr, path.len - strlen(endings[i])};
    return path;
}

enum tn_input_format tn_exec_input_ending(tn_str path)
{
    static const struct {
        const char *ending;
        enum tn_input_format format;
    } table[] = {{".parquet", TN_INPUT_PARQUET}, {".pq", TN_INPUT_PARQUET},
                 {".csv", TN_INPUT_CSV},         {".tsv", TN_INPUT_CSV},
                 {".ndjson", TN_INPUT_NDJSON},   {".jsonl", TN_INPUT_NDJSON},
                 {".json", TN_INPUT_NDJSON}};
    tn_str name = unpacked_name(path);

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (ends_in(name, table[i].ending))
            return table[i].format;
    return TN_INPUT_AUTO;
}

/* True for a first line of printable text with a comma in it. */
static bool looks_like_csv(tn_str first)
{
    bool comma = false;

    for (size_t i = 0; i < first.len && first.ptr[i] != '\n' && first.ptr[i] != '\r'; i++) {
        if ((uint8_t)first.ptr[i] < 0x20 && first.ptr[i] != '\t')
            return false;
        comma = comma || first.ptr[i] == ',';
    }
    return comma;
}

static int format_of_bytes(tarn_cx *cx, tn_str name, tn_str first, enum tn_input_format *out)
{
    tn_str text = tn_str_starts(first, TN_STR("\xEF\xBB\xBF")) ? tn_str_from(first, 3) : first;

    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t' || text.ptr[0] == '\r' ||
                            text.ptr[0] == '\n'))
        text = tn_str_from(text, 1);
    if (tn_str_starts(first, TN_STR("PAR1")) || tn_str_starts(first, TN_STR("PARE")))
        *out = TN_INPUT_PARQUET;
    else if (text.len == 0 || text.ptr[0] == '{' || text.ptr[0] == '[')
        *out = TN_INPUT_NDJSON; /* nothing at all is no rows in any format */
    else if (looks_like_csv(text))
        *out = TN_INPUT_CSV;
    else
        return tn_fail(cx, TARN_E_INVALID,
                       "%.*s: neither its name nor its first bytes tell what it holds; say it with "
                       "--format parquet, csv or ndjson",
                       TN_STR_ARG(name));
    return TARN_OK;
}

/* The bytes, unpacked. */
static int open_feed(tarn_cx *cx, tn_store *store, tn_str path, tn_feed **out)
{
    tn_feed *packed = NULL;
    int rc = TARN_OK;

    if (path.ptr == NULL)
        TN_TRY(tn_feed_open_fd(cx, STDIN_FILENO, TN_STR("standard input"), &packed));
    else
        TN_TRY(tn_feed_open_file(cx, store, path, &packed));
    TN_TRY(tn_zip_feed_open(cx, packed, out));
    packed = NULL;
done:
    tn_feed_close(packed);
    return rc;
}

/* Looks at the first bytes, which *feed gives again. */
static int look(tarn_cx *cx, tn_feed **feed, enum tn_input_format *out)
{
    tn_feed *ahead;
    tn_str first;
    int rc = TARN_OK;

    TN_TRY(tn_feed_open_peek(cx, *feed, LOOK_BYTES, &ahead, &first));
    *feed = ahead;
    TN_TRY(format_of_bytes(cx, ahead->name, first, out));
done:
    return rc;
}

int tn_exec_input_format(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format *out)
{
    tn_feed *feed = NULL;
    int rc = TARN_OK;

    *out = tn_exec_input_ending(path);
    if (*out != TN_INPUT_AUTO)
        return TARN_OK;
    TN_TRY(open_feed(cx, store, path, &feed));
    TN_TRY(look(cx, &feed, out));
done:
    tn_feed_close(feed);
    return rc;
}

void tn_exec_input_close(tn_exec_input *input)
{
    if (input == NULL)
        return;
    tn_feed_close(input->feed);
    free(input);
}

int tn_exec_input_begin(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format format,
                        tn_exec_input **out)
{
    tn_exec_input *input = tn_calloc(cx, 1, sizeof *input);
    int rc = TARN_OK;

    if (input == NULL)
        return TARN_E_NOMEM;
    input->format = format != TN_INPUT_AUTO ? format : tn_exec_input_ending(path);
    input->tabs = ends_in(unpacked_name(path), ".tsv");
    if (input->format != TN_INPUT_PARQUET) {
        TN_TRY(open_feed(cx, store, path, &input->feed));
        if (input->format == TN_INPUT_AUTO)
            TN_TRY(look(cx, &input->feed, &input->format));
    }
    if (input->format == TN_INPUT_PARQUET)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: Parquet is read from its end and cannot come so; give it as a file",
                TN_STR_ARG(path.ptr != NULL ? path : TN_STR("standard input")));
    *out = input;
    input = NULL;
done:
    tn_exec_input_close(input);
    return rc;
}

static tn_text_read_options options_for(const tn_exec_input *input,
                                        const tn_text_read_options *options)
{
    tn_text_read_options made = options != NULL ? *options : (tn_text_read_options){0};

    if (input->tabs && made.delimiter == 0)
        made.delimiter = '\t';
    return made;
}

/* What the first `bytes` show; *whole: they are all there are. */
static int sample(tarn_cx *cx, tn_exec_input *input, const tn_text_read_options *options,
                  size_t bytes, struct ArrowSchema *out, uint64_t *rows, bool *whole)
{
    tn_feed *ahead = NULL, *first_bytes = NULL;
    tn_str first;
    int rc = TARN_OK;

    TN_TRY(tn_feed_open_peek(cx, input->feed, bytes, &ahead, &first));
    input->feed = ahead;
    *whole = first.len < bytes;
    TN_TRY(tn_feed_open_memory(cx, first.ptr, first.len, 0, ahead->name, &first_bytes));
    if (input->format == TN_INPUT_CSV)
        TN_TRY(tn_csv_read_sample(cx, first_bytes, options, out, rows));
    else
        TN_TRY(tn_ndjson_read_sample(cx, first_bytes, options, out, rows));
done:
    tn_feed_close(first_bytes);
    return rc;
}

int tn_exec_input_sample(tarn_cx *cx, tn_exec_input *input, const tn_text_read_options *asked,
                         struct ArrowSchema *out, uint64_t *rows)
{
    tn_text_read_options options = options_for(input, asked);
    size_t bytes = options.sample_bytes != 0 ? options.sample_bytes : SAMPLE_BYTES_USUAL;
    struct ArrowSchema made = {0};
    bool whole;
    int rc = TARN_OK;

    options.schema = NULL;
    /* The first object may be longer than the sample: there are no columns before its end. */
    for (;; bytes *= 2) {
        TN_TRY(sample(cx, input, &options, bytes, &made, rows, &whole));
        if (input->format == TN_INPUT_CSV || whole || made.n_children != 0 ||
            bytes > TN_TEXT_RECORD_BYTES_MAX || bytes > tn_budget_bytes(cx) / 4)
            break;
        tn_field_release(&made);
    }
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    stream *s = self->private_data;
    int rc;

    memset(out, 0, sizeof *out);
    rc = s->csv != NULL ? tn_csv_read_schema(s->cx, s->csv, out)
                        : tn_ndjson_read_schema(s->cx, s->ndjson, out);
    return rc == TARN_OK ? 0 : tn_stream_fail(s->cx, s->error);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    stream *s = self->private_data;
    int rc;

    memset(out, 0, sizeof *out);
    if (s->failed != 0)
        return s->failed;
    rc = s->csv != NULL ? tn_csv_read_next(s->cx, s->csv, out)
                        : tn_ndjson_read_next(s->cx, s->ndjson, out);
    if (rc != TARN_OK)
        return s->failed = tn_stream_fail(s->cx, s->error);
    if (out->length == 0)
        tn_array_release(out);
    return 0;
}

uint64_t tn_exec_input_line(const struct ArrowArrayStream *rows, int64_t row)
{
    const stream *s = rows->private_data;

    assert(rows->get_next == stream_next);
    return s->csv != NULL ? tn_csv_read_line(s->csv, row) : tn_ndjson_read_line(s->ndjson, row);
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;

    return s->error;
}

static void stream_free(stream *s)
{
    tn_csv_read_close(s->csv);
    tn_ndjson_read_close(s->ndjson);
    free(s);
}

static void stream_release(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    tn_exec_input *input = s->input;

    stream_free(s);
    tn_exec_input_close(input);
    self->release = NULL;
}

int tn_exec_input_stream(tarn_cx *cx, tn_exec_input *input, const tn_text_read_options *options,
                         struct ArrowArrayStream *out)
{
    stream *s = tn_calloc(cx, 1, sizeof *s);
    int rc = TARN_OK;

    if (s == NULL)
        return TARN_E_NOMEM;
    s->cx = cx;
    s->input = input;
    s->options = options_for(input, options);
    if (input->format == TN_INPUT_CSV)
        TN_TRY(tn_csv_read_open(cx, input->feed, &s->options, &s->csv));
    else
        TN_TRY(tn_ndjson_read_open(cx, input->feed, &s->options, &s->ndjson));
    *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                     .get_next = stream_next,
                                     .get_last_error = stream_error,
                                     .release = stream_release,
                                     .private_data = s};
    s = NULL;
done:
    if (s != NULL)
        stream_free(s);
    return rc;
}

int tn_exec_input_open(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format format,
                       const tn_text_read_options *options, struct ArrowArrayStream *out)
{
    tn_exec_input *input = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_exec_input_begin(cx, store, path, format, &input));
    TN_TRY(tn_exec_input_stream(cx, input, options, out));
    input = NULL;
done:
    tn_exec_input_close(input);
    return rc;
}
