/* Reads NDJSON straight into builders: a record is parsed once, from its bytes.
 *
 *   feed ─> records ─> parser ─> builders of the columns ─> batch
 *             │          └─ bad: the builders go back to the row's start, reject or INVALID
 *             └─ the first sample_bytes, looked at twice: once for the types
 *
 * I1: a batch holds the records that came in its time, in order, but bad ones.
 * I2: what the sample shows depends on its bytes alone, never on how the feed cuts them. */
#include "codec/ndjson/ndjson_read.h"

#include <assert.h>
#include <stdlib.h>

#include "batch/unify.h"
#include "codec/ndjson/ndjson_guess.h"
#include "codec/ndjson/ndjson_parse.h"
#include "codec/ndjson/ndjson_record.h"

#define SAMPLE_BYTES_USUAL (4u << 20)
#define BATCH_ROWS_USUAL   65536
/* Measured as a batch is built, every so many rows. */
#define BATCH_BYTES_MAX  (32u << 20)
#define BATCH_CHECK_ROWS 256

struct tn_ndjson_read {
    tn_feed *feed;
    const tn_text_read_options *options;
    struct ArrowSchema schema;
    tn_build *build;
    tn_ndjson_records records;
    tn_ndjson_parser parser;
    uint64_t sampled; /* records that types were made of */
};

typedef tn_ndjson_read reader;

/* What is to be done with a record that the parser found bad. */
static int meet_bad(tarn_cx *cx, reader *r, tn_str record)
{
    const tn_ndjson_parser *p = &r->parser;
    tn_text_bad told = {
        .source = r->feed->name, .line = p->line, .record = record, .reason = p->why};
    tn_buf path = {0};
    int rc = TARN_OK;

    tn_ndjson_parser_path(p, (tn_str){0}, &path);
    TN_TRY(tn_buf_check(cx, &path));
    told.column = tn_buf_view(&path);
    told.inferred_rows = p->inferred ? r->sampled : 0;
    TN_TRY(tn_text_bad_report(cx, r->options, &told));
done:
    tn_buf_clear(&path);
    return rc;
}

static int read_record(tarn_cx *cx, reader *r, tn_str record, uint64_t line, int64_t *rows)
{
    int rc = tn_ndjson_parser_record(cx, &r->parser, record, line);

    if (rc == TARN_OK)
        ++*rows;
    if (rc != TARN_E_INVALID)
        return rc;
    TN_TRY(tn_build_truncate(cx, r->build, *rows));
    TN_TRY(meet_bad(cx, r, record));
done:
    return rc;
}

int tn_ndjson_read_next(tarn_cx *cx, tn_ndjson_read *r, struct ArrowArray *out)
{
    int64_t rows_max = r->options->batch_rows > 0 ? r->options->batch_rows : BATCH_ROWS_USUAL;
    int64_t rows = 0;
    uint64_t line;
    tn_str record;
    int rc = TARN_OK;

    while (rows < rows_max) {
        if (rows % BATCH_CHECK_ROWS == 0 && tn_build_bytes(r->build) > BATCH_BYTES_MAX)
            break;
        TN_TRY(tn_ndjson_records_next(cx, &r->records, &record, &line));
        if (record.ptr == NULL)
            break;
        TN_TRY(read_record(cx, r, record, line, &rows));
    }
    assert(tn_build_rows(r->build) == rows);
    TN_TRY(tn_build_finish(cx, r->build, out));
done:
    return rc;
}

/* The columns that were given, then those of the sample that are not among them. */
static int join_sample(tarn_cx *cx, reader *r, const struct ArrowSchema *sample)
{
    const struct ArrowSchema *given = r->options->schema;
    int64_t n = given->n_children, added = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < sample->n_children; i++)
        added += tn_unify_child(given, tn_str_of(sample->children[i]->name)) < 0;
    TN_TRY(tn_field_init(cx, &r->schema, "+s", TN_STR(""), false, (size_t)(n + added)));
    for (int64_t i = 0; i < n; i++)
        TN_TRY(tn_field_copy(cx, given->children[i], r->schema.children[i]));
    for (int64_t i = 0; i < sample->n_children; i++)
        if (tn_unify_child(given, tn_str_of(sample->children[i]->name)) < 0)
            TN_TRY(tn_field_copy(cx, sample->children[i], r->schema.children[n++]));
done:
    return rc;
}

/* Looks at what is held; *count: how many records lie whole in it. What is wrong with the input is
 * said when it is read. */
static int look(tarn_cx *cx, const tn_ndjson_records *records, tn_ndjson_guess *guess,
                uint64_t *count)
{
    tn_ndjson_records ahead;
    uint64_t line;
    tn_str record;
    int rc = TARN_OK;

    *count = 0;
    tn_ndjson_records_peek(records, &ahead);
    for (;; ++*count) {
        rc = tn_ndjson_records_next(cx, &ahead, &record, &line);
        if (rc == TARN_E_INVALID || rc == TARN_E_CORRUPT || rc == TARN_E_LIMIT) {
            tn_cx_forget(cx);
            rc = TARN_OK;
            break;
        }
        TN_TRY(rc);
        if (record.ptr == NULL)
            break;
        TN_TRY(tn_ndjson_guess_add(cx, guess, record));
    }
done:
    tn_ndjson_records_clear(&ahead);
    return rc;
}

static int sample(tarn_cx *cx, tn_ndjson_records *records, const tn_text_read_options *options,
                  bool nulls, struct ArrowSchema *out, uint64_t *count)
{
    size_t bytes = options->sample_bytes != 0 ? options->sample_bytes : SAMPLE_BYTES_USUAL;
    tn_ndjson_guess *guess = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_ndjson_guess_open(cx, &guess));
    for (;;) {
        TN_TRY(tn_ndjson_records_hold(cx, records, bytes));
        TN_TRY(look(cx, records, guess, count));
        if (*count != 0 || records->ended || records->held.len > tn_ndjson_record_max(cx))
            break;
        bytes = records->held.len * 2;
    }
    TN_TRY(tn_ndjson_guess_schema(cx, guess, nulls, out));
done:
    tn_ndjson_guess_close(guess);
    return rc;
}

int tn_ndjson_read_sample(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                          struct ArrowSchema *out)
{
    tn_ndjson_records records = {.feed = feed};
    uint64_t count;
    int rc = sample(cx, &records, options, true, out, &count);

    tn_ndjson_records_clear(&records);
    return rc;
}

static int make_schema(tarn_cx *cx, reader *r)
{
    struct ArrowSchema seen = {0};
    int rc = TARN_OK;

    if (r->options->schema != NULL && !r->options->schema_open) {
        TN_TRY(tn_ndjson_records_hold(cx, &r->records, 0));
        TN_TRY(tn_field_copy(cx, r->options->schema, &r->schema));
        goto done;
    }
    TN_TRY(sample(cx, &r->records, r->options, false, &seen, &r->sampled));
    if (r->options->schema != NULL)
        TN_TRY(join_sample(cx, r, &seen));
    else
        tn_field_move(&seen, &r->schema);
done:
    tn_field_release(&seen);
    return rc;
}

int tn_ndjson_read_open(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                        tn_ndjson_read **out)
{
    static const tn_text_read_options usual = {0};
    reader *r = tn_calloc(cx, 1, sizeof *r);
    int rc = TARN_OK;

    if (r == NULL)
        return TARN_E_NOMEM;
    r->feed = feed;
    r->options = options != NULL ? options : &usual;
    r->records.feed = feed;
    TN_TRY(make_schema(cx, r));
    TN_TRY(tn_build_open(cx, &r->schema, &r->build));
    TN_TRY(tn_ndjson_parser_init(cx, &r->parser, r->build, feed->name, r->options));
    *out = r;
    r = NULL;
done:
    tn_ndjson_read_close(r);
    return rc;
}

int tn_ndjson_read_schema(tarn_cx *cx, const tn_ndjson_read *r, struct ArrowSchema *out)
{
    return tn_field_copy(cx, &r->schema, out);
}

void tn_ndjson_read_close(tn_ndjson_read *r)
{
    if (r == NULL)
        return;
    tn_ndjson_parser_clear(&r->parser);
    tn_build_close(r->build);
    tn_ndjson_records_clear(&r->records);
    tn_field_release(&r->schema);
    free(r);
}
