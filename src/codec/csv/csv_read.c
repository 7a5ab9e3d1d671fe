/* Reads CSV.
 *     feed -> window -> (scan) table of fields -> (a column each, in parallel) columns -> batch
 * I1: a batch has at most batch_rows rows and, but for one piece of text, BATCH_BYTES bytes.
 * I2: what is read depends on the bytes of the feed alone, not on how it cuts them.
 * I3: a bad record leaves nothing in the columns; records are reported in their order, each once.
 * I4: memory above what the builders hold of a batch is charged to the budget. */
#include "codec/csv/csv_read.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "codec/csv/csv_columns.h"
#include "codec/csv/csv_scan.h"
#include "codec/csv/csv_window.h"
#include "codec/text/text_lines.h"

#define WINDOW_BYTES (4u << 20)  /* read ahead */
#define PIECE_BYTES  (1u << 20)  /* of text scanned at once */
#define PIECE_FIELDS (64u << 10) /* of records scanned at once, but at least one record */
#define PIECE_ROWS   4096
#define SAMPLE_BYTES (4u << 20)
#define BATCH_BYTES  (32u << 20)
#define BATCH_ROWS   65536
#define GOOD_RECORD  UINT32_MAX

struct tn_csv_read {
    tn_text_read_options options;
    tn_csv_window window;
    tn_csv_columns columns;
    tn_csv_table table;
    uint64_t line;       /* of the first byte of the window */
    tn_text_lines lines; /* of the rows of the batch */
    bool cut;            /* the feed holds a sample: the last record may be cut off */
    tn_lease fields, starts, texts, fates;
    /* The rows of the table that are being converted; NULL: all. */
    const uint32_t *picked;
    size_t picked_count;
    uint64_t charged; /* for the batch under construction */
    struct tn_budget *budget;
};

/* ---- pieces of text */

/* Of a byte of the window. */
static uint64_t line_of(const tn_csv_read *reader, size_t at)
{
    return reader->line + tn_csv_lines(tn_csv_window_text(&reader->window), at);
}

static int fail_open_quote(tarn_cx *cx, const tn_csv_read *reader, size_t at)
{
    return tn_fail(cx, TARN_E_DATA,
                   "%.*s: line %llu: a quote begins here and is never closed; close it, or double "
                   "it where it is part of a text",
                   TN_STR_ARG(reader->columns.source),
                   (unsigned long long)line_of(reader, at + reader->table.quote_start));
}

/* Scans `*size` bytes of the window from `at` on, more where they hold no whole record; all is
 * scanned when *size is what is there and nothing comes after. */
static int scan_piece(tarn_cx *cx, tn_csv_read *reader, size_t at, size_t *size)
{
    tn_csv_window *window = &reader->window;
    const uint8_t *text;
    bool ended, last;
    int rc = TARN_OK;

    for (;; *size *= 2) {
        size_t there;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_csv_window_fill(cx, window, at + *size));
        there = tn_csv_window_size(window) - at;
        text = tn_csv_window_text(window) + at;
        ended = window->ended && there <= *size;
        /* A sample that holds no more than was asked for ends where the input does. */
        last = ended && !(reader->cut && window->taken >= reader->options.sample_bytes);
        rc = tn_csv_scan(cx, reader->options.delimiter, text, there < *size ? there : *size, last,
                         &reader->table);
        if (rc != TARN_OK)
            return tn_fail_within(cx, rc, "%.*s: line %llu", TN_STR_ARG(reader->columns.source),
                                  (unsigned long long)line_of(reader, at));
        if (reader->table.consumed != 0 || there == 0 || (ended && reader->cut))
            return TARN_OK;
        if (last && reader->table.quote_open)
            return fail_open_quote(cx, reader, at);
        assert(!last);
        if (*size >= TN_TEXT_RECORD_BYTES_MAX)
            TN_FAIL(TARN_E_LIMIT,
                    "%.*s: line %llu: a record begins here that is longer than %u MiB; is a quote "
                    "never closed?",
                    TN_STR_ARG(reader->columns.source), (unsigned long long)line_of(reader, at),
                    TN_TEXT_RECORD_BYTES_MAX >> 20);
    }
done:
    return rc;
}

static void advance(tn_csv_read *reader)
{
    reader->window.at += reader->table.consumed;
    reader->line += reader->table.lines;
}

/* ---- opening */

static int check_options(tarn_cx *cx, tn_text_read_options *options)
{
    if (options->delimiter == '\0')
        options->delimiter = ',';
    if (options->delimiter == '"' || options->delimiter == '\n' || options->delimiter == '\r' ||
        (options->delimiter & 0x80) != 0)
        return tn_fail(cx, TARN_E_INVALID,
                       "the delimiter of a CSV file is one ASCII character, neither a quote nor a "
                       "line end");
    if (options->batch_rows <= 0)
        options->batch_rows = BATCH_ROWS;
    if (options->sample_bytes == 0)
        options->sample_bytes = SAMPLE_BYTES;
    if (options->sample_bytes > TN_TEXT_RECORD_BYTES_MAX)
        options->sample_bytes = TN_TEXT_RECORD_BYTES_MAX;
    return TARN_OK;
}

static int skip_mark(tarn_cx *cx, tn_csv_read *reader)
{
    static const uint8_t utf8[] = {0xEF, 0xBB, 0xBF};
    tn_csv_window *window = &reader->window;
    const uint8_t *text;
    int rc = TARN_OK;

    TN_TRY(tn_csv_window_fill(cx, window, WINDOW_BYTES));
    text = tn_csv_window_text(window);
    if (window->len >= 3 && memcmp(text, utf8, 3) == 0)
        window->at = 3;
    if (window->len >= 2 &&
        ((text[0] == 0xFF && text[1] == 0xFE) || (text[0] == 0xFE && text[1] == 0xFF)))
        TN_FAIL(TARN_E_DATA, "%.*s: is UTF-16; convert it to UTF-8, with iconv for example",
                TN_STR_ARG(reader->columns.source));
done:
    return rc;
}

static int make_room(tarn_cx *cx, tn_csv_read *reader, size_t fields, size_t rows)
{
    tn_csv_table *table = &reader->table;
    int rc = TARN_OK;

    TN_TRY(tn_lease_grow(cx, &reader->fields, fields * sizeof *table->fields, 0,
                         "the fields of a CSV file"));
    TN_TRY(tn_lease_grow(cx, &reader->starts, rows * sizeof *table->starts, 0,
                         "the records of a CSV file"));
    table->fields = (tn_csv_field *)(void *)reader->fields.data;
    table->starts = (uint32_t *)(void *)reader->starts.data;
    table->fields_max = fields;
    table->rows_max = rows;
done:
    return rc;
}

/* The first record: the header, or what tells the number of fields. */
static int read_first(tarn_cx *cx, tn_csv_read *reader)
{
    tn_csv_columns *columns = &reader->columns;
    tn_csv_table *table = &reader->table;
    size_t size = PIECE_BYTES;
    const uint8_t *text;
    uint64_t line;
    int rc = TARN_OK;

    TN_TRY(make_room(cx, reader, TN_TEXT_COLUMNS_MAX, 1));
    do
        TN_TRY(scan_piece(cx, reader, 0, &size));
    while (table->record_fields == 0 && table->consumed != 0 &&
           (advance(reader), tn_csv_window_size(&reader->window) != 0));
    if (table->record_fields == 0 && reader->options.schema == NULL)
        TN_FAIL(TARN_E_DATA, "%.*s: is empty: %s; give the columns with --schema",
                TN_STR_ARG(columns->source),
                reader->options.no_header ? "nothing tells its columns" : "it has no header");
    text = tn_csv_window_text(&reader->window);
    line = line_of(reader, table->rows != 0 ? table->starts[0] : 0);
    if (table->odd.len != 0 && !reader->options.no_header)
        TN_FAIL(TARN_E_DATA,
                "%.*s: line %llu: a name of the header goes on after its closing quote",
                TN_STR_ARG(columns->source), (unsigned long long)line);
    TN_TRY(tn_csv_columns_name(cx, columns, &reader->options, text, table, line));
    if (!reader->options.no_header)
        advance(reader);
done:
    return rc;
}

static int read_sample(tarn_cx *cx, tn_csv_read *reader)
{
    size_t at = 0, size, end = reader->options.sample_bytes;
    int rc = TARN_OK;

    TN_TRY(tn_csv_window_fill(cx, &reader->window, end));
    /* One record at least, however long. */
    while (at < end || reader->columns.sample_rows == 0) {
        size_t there = tn_csv_window_size(&reader->window) - at;

        size = at < end && end - at < PIECE_BYTES ? end - at : PIECE_BYTES;
        if (there == 0 && reader->window.ended)
            break;
        TN_TRY(scan_piece(cx, reader, at, &size));
        if (reader->table.consumed == 0)
            break;
        tn_csv_columns_sample(&reader->columns, &reader->options,
                              tn_csv_window_text(&reader->window) + at, &reader->table);
        at += reader->table.consumed;
    }
done:
    return rc;
}

static tn_csv_read *make(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options)
{
    tn_csv_read *reader = tn_calloc(cx, 1, sizeof *reader);

    if (reader != NULL) {
        reader->options = *options;
        reader->window.feed = feed;
        reader->columns.source = feed->name;
        reader->line = 1;
    }
    return reader;
}

/* Up to where the columns are known. */
static int begin(tarn_cx *cx, tn_csv_read *reader)
{
    size_t fields, rows;
    int rc = TARN_OK;

    TN_TRY(check_options(cx, &reader->options));
    TN_TRY(skip_mark(cx, reader));
    TN_TRY(read_first(cx, reader));
    fields = reader->columns.field_count;
    rows = fields > PIECE_FIELDS / PIECE_ROWS ? PIECE_FIELDS / fields + 1 : PIECE_ROWS;
    reader->table.columns = fields;
    TN_TRY(make_room(cx, reader, fields * rows, rows));
    if (reader->columns.guesses != NULL)
        TN_TRY(read_sample(cx, reader));
    TN_TRY(tn_csv_columns_settle(cx, &reader->columns, &reader->options));
done:
    return rc;
}

int tn_csv_read_open(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                     tn_csv_read **out)
{
    tn_csv_read *reader = make(cx, feed, options);
    size_t rows;
    int rc = TARN_OK;

    if (reader == NULL)
        return TARN_E_NOMEM;
    TN_TRY(begin(cx, reader));
    rows = reader->table.rows_max;
    TN_TRY(tn_lease_grow(cx, &reader->texts, reader->columns.count * rows * sizeof(tn_str), 0,
                         "the fields of a CSV file"));
    TN_TRY(tn_lease_grow(cx, &reader->fates, 2 * rows * sizeof(uint32_t), 0,
                         "the records of a CSV file"));
    *out = reader;
    reader = NULL;
done:
    tn_csv_read_close(reader);
    return rc;
}

int tn_csv_read_sample(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                       struct ArrowSchema *out, uint64_t *rows)
{
    tn_csv_read *reader = make(cx, feed, options);
    int rc = TARN_OK;

    if (reader == NULL)
        return TARN_E_NOMEM;
    reader->cut = true;
    reader->columns.keep_nulls = true;
    TN_TRY(begin(cx, reader));
    TN_TRY(tn_csv_read_schema(cx, reader, out));
    if (rows != NULL)
        *rows = reader->columns.sample_rows;
done:
    tn_csv_read_close(reader);
    return rc;
}

/* ---- columns */

/* The texts of one column for the rows picked. */
static int gather(tarn_cx *cx, tn_csv_read *reader, tn_csv_column *column, tn_str *texts,
                  size_t count)
{
    const uint8_t *text = tn_csv_window_text(&reader->window);
    const tn_csv_table *table = &reader->table;
    tn_str null = reader->options.null;
    size_t room = 0;

    if (column->source == TN_CSV_NO_SOURCE) {
        memset(texts, 0, count * sizeof *texts);
        return TARN_OK;
    }
    tn_buf_reset(&column->doubled);
    for (size_t i = 0; table->doubled && i < count; i++) {
        size_t row = reader->picked != NULL ? reader->picked[i] : i;

        room += tn_csv_length(table->fields[row * table->columns + column->source]);
    }
    if (room != 0 && !tn_buf_reserve(&column->doubled, room))
        return tn_buf_check(cx, &column->doubled);
    for (size_t i = 0; i < count; i++) {
        size_t row = reader->picked != NULL ? reader->picked[i] : i;

        texts[i] = tn_csv_columns_text(column, null, text,
                                       table->fields[row * table->columns + column->source],
                                       &column->doubled);
    }
    return TARN_OK;
}

static int convert_column(tarn_cx *cx, size_t i, void *arg)
{
    tn_csv_read *reader = arg;
    tn_csv_column *column = &reader->columns.list[i];
    size_t count = reader->picked != NULL ? reader->picked_count : reader->table.rows;
    tn_str *texts = (tn_str *)(void *)reader->texts.data + i * reader->table.rows_max;
    int rc = TARN_OK;

    tn_buf_reset(&column->bad);
    TN_TRY(gather(cx, reader, column, texts, count));
    TN_TRY(tn_build_texts(cx, column->build, texts, count, reader->table.ascii, &column->bad));
done:
    return rc;
}

static int convert(tarn_cx *cx, tn_csv_read *reader)
{
    size_t count = reader->picked != NULL ? reader->picked_count : reader->table.rows;
    int rc = tn_parallel(cx, reader->columns.count, convert_column, reader);

    if (rc == TARN_OK)
        tn_build_rows_add(reader->columns.build, (int64_t)count);
    return rc;
}

/* ---- bad records */

typedef struct report {
    size_t at; /* a record begins here, ... */
    uint64_t line;
} report;

static void move_to(const tn_csv_read *reader, report *r, size_t start)
{
    r->line += tn_csv_lines(tn_csv_window_text(&reader->window) + r->at, start - r->at);
    r->at = start;
}

static tn_str record_of(const tn_csv_read *reader, size_t row)
{
    const tn_csv_table *table = &reader->table;
    tn_csv_field field = table->fields[(row + 1) * table->columns - 1];
    size_t start = table->starts[row];
    size_t end = field.start + tn_csv_length(field) + ((field.size & TN_CSV_QUOTED) != 0);

    return (tn_str){(const char *)tn_csv_window_text(&reader->window) + start, end - start};
}

static int report_odd(tarn_cx *cx, tn_csv_read *reader, report *r, const tn_csv_odd *odd)
{
    const tn_csv_columns *columns = &reader->columns;
    tn_text_bad bad = {.source = columns->source};
    char reason[128];

    move_to(reader, r, odd->start);
    bad.line = r->line;
    bad.record = (tn_str){(const char *)tn_csv_window_text(&reader->window) + odd->start,
                          odd->end - odd->start};
    bad.reason = reason;
    if (odd->fields != columns->field_count) {
        snprintf(reason, sizeof reason, "has %u field%s where %s has %zu", (unsigned)odd->fields,
                 odd->fields == 1 ? "" : "s", columns->counted_by, columns->field_count);
    } else {
        snprintf(reason, sizeof reason, "field %u goes on after its closing quote",
                 (unsigned)odd->broken);
    }
    return tn_text_bad_report(cx, &reader->options, &bad);
}

/* Asks the column again, now for the reason. */
static int report_value(tarn_cx *cx, tn_csv_read *reader, report *r, size_t row, size_t which)
{
    tn_csv_columns *columns = &reader->columns;
    tn_csv_column *column = &columns->list[which];
    tn_text_bad bad = {.source = columns->source, .column_number = column->source + 1};
    uint32_t pick = (uint32_t)row;
    tn_str value;
    int rc = TARN_OK;

    move_to(reader, r, reader->table.starts[row]);
    reader->picked = &pick;
    rc = gather(cx, reader, column, &value, 1);
    reader->picked = NULL;
    TN_TRY(rc);
    bad.line = r->line;
    bad.column = tn_str_of(tn_build_schema(column->build)->name);
    bad.record = record_of(reader, row);
    if (column->inferred)
        bad.inferred_rows = columns->sample_rows;
    else if (!reader->options.schema_inferred || which >= reader->options.schema_given)
        bad.inferred_rows = reader->options.inferred_rows;
    if (value.ptr == NULL)
        TN_TRY(tn_build_null(cx, column->build, &bad.reason));
    else
        TN_TRY(tn_build_text(cx, column->build, value, &bad.reason));
    assert(bad.reason != NULL);
    TN_TRY(tn_text_bad_report(cx, &reader->options, &bad));
done:
    return rc;
}

/* The leftmost column that each row does not fit. */
static bool find_fates(tn_csv_read *reader, uint32_t *fates)
{
    const tn_csv_columns *columns = &reader->columns;
    bool any = false;

    for (size_t i = 0; i < columns->count; i++)
        any |= columns->list[i].bad.len != 0;
    if (!any)
        return false;
    memset(fates, 0xFF, reader->table.rows * sizeof *fates);
    for (size_t i = 0; i < columns->count; i++) {
        const tn_buf *bad = &columns->list[i].bad;

        for (size_t at = 0; at < bad->len; at += sizeof(uint32_t)) {
            uint32_t row;

            memcpy(&row, bad->data + at, sizeof row);
            if (fates[row] == GOOD_RECORD ||
                columns->list[i].source < columns->list[fates[row]].source)
                fates[row] = (uint32_t)i;
        }
    }
    return true;
}

static int report_all(tarn_cx *cx, tn_csv_read *reader, const uint32_t *fates)
{
    const tn_csv_odd *odd = (const tn_csv_odd *)(const void *)reader->table.odd.data;
    size_t odd_count = reader->table.odd.len / sizeof *odd, next = 0;
    report r = {0, reader->line};
    int rc = TARN_OK;

    for (size_t row = 0; row <= reader->table.rows; row++) {
        for (; next < odd_count && odd[next].row == row; next++)
            TN_TRY(report_odd(cx, reader, &r, &odd[next]));
        if (row < reader->table.rows && fates != NULL && fates[row] != GOOD_RECORD)
            TN_TRY(report_value(cx, reader, &r, row, fates[row]));
    }
done:
    return rc;
}

/* Whether the records of the table stand in a line each, with nothing between them. */
static bool in_lines(const tn_csv_read *reader)
{
    const tn_csv_table *table = &reader->table;
    uint8_t last = tn_csv_window_text(&reader->window)[table->consumed - 1];

    return table->odd.len == 0 && table->lines == table->rows && (last == '\n' || last == '\r');
}

/* Keeps the lines of the rows just converted: all, or those picked, which are the batch's from
 * `row` on. */
static void note_lines(tn_csv_read *reader, int64_t row, const uint32_t *picked, size_t count)
{
    report r = {0, reader->line};

    if (picked == NULL && in_lines(reader)) {
        tn_text_lines_add(&reader->lines, row, (int64_t)count, reader->line);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        move_to(reader, &r, reader->table.starts[picked != NULL ? picked[i] : i]);
        tn_text_lines_add(&reader->lines, row + (int64_t)i, 1, r.line);
    }
}

/* Reports what is bad among the rows just converted, and builds them anew without it. */
static int settle_bad(tarn_cx *cx, tn_csv_read *reader)
{
    uint32_t *fates = (uint32_t *)(void *)reader->fates.data;
    uint32_t *good = fates + reader->table.rows_max;
    size_t count = 0, rows = reader->table.rows;
    bool values = find_fates(reader, fates);
    int64_t first = tn_build_rows(reader->columns.build) - (int64_t)rows;
    int rc = TARN_OK;

    if (values || reader->table.odd.len != 0)
        TN_TRY(report_all(cx, reader, values ? fates : NULL));
    if (!values) {
        note_lines(reader, first, NULL, rows);
        return TARN_OK;
    }
    for (size_t row = 0; row < rows; row++)
        if (fates[row] == GOOD_RECORD)
            good[count++] = (uint32_t)row;
    note_lines(reader, first, good, count);
    TN_TRY(tn_build_truncate(cx, reader->columns.build, first));
    reader->picked = good;
    reader->picked_count = count;
    rc = convert(cx, reader);
    reader->picked = NULL;
done:
    return rc;
}

/* ---- batches */

static void uncharge(tn_csv_read *reader)
{
    tarn_cx lender = {.budget = reader->budget};

    if (reader->charged != 0)
        tn_budget_give(&lender, reader->charged);
    reader->charged = 0;
}

static int charge(tarn_cx *cx, tn_csv_read *reader, uint64_t bytes)
{
    int rc = TARN_OK;

    if (bytes <= reader->charged)
        return TARN_OK;
    TN_TRY(tn_budget_take(cx, bytes - reader->charged, "the rows of a CSV file"));
    reader->budget = cx->budget;
    reader->charged = bytes;
done:
    return rc;
}

/* The next records into the columns; *ended: there are none. */
static int read_piece(tarn_cx *cx, tn_csv_read *reader, int64_t rows_left, bool *ended)
{
    size_t size = PIECE_BYTES, rows_max = reader->table.rows_max;
    int rc = TARN_OK;

    *ended = false;
    if ((uint64_t)rows_left < rows_max)
        reader->table.rows_max = (size_t)rows_left;
    rc = tn_csv_window_fill(cx, &reader->window, size);
    if (rc == TARN_OK)
        rc = scan_piece(cx, reader, 0, &size);
    reader->table.rows_max = rows_max;
    TN_TRY(rc);
    if (reader->table.consumed == 0) {
        *ended = true;
        return TARN_OK;
    }
    TN_TRY(convert(cx, reader));
    TN_TRY(settle_bad(cx, reader));
    advance(reader);
done:
    return rc;
}

int tn_csv_read_schema(tarn_cx *cx, const tn_csv_read *reader, struct ArrowSchema *out)
{
    return tn_field_copy(cx, tn_build_schema(reader->columns.build), out);
}

int tn_csv_read_next(tarn_cx *cx, tn_csv_read *reader, struct ArrowArray *out)
{
    tn_build *build = reader->columns.build;
    uint64_t bytes = 0;
    bool ended = false;
    int rc = TARN_OK;

    tn_text_lines_reset(&reader->lines);
    while (!ended && tn_build_rows(build) < reader->options.batch_rows && bytes < BATCH_BYTES) {
        TN_TRY(read_piece(cx, reader, reader->options.batch_rows - tn_build_rows(build), &ended));
        bytes = tn_build_bytes(build);
        TN_TRY(charge(cx, reader, bytes));
    }
    TN_TRY(tn_build_finish(cx, build, out));
done:
    uncharge(reader);
    return rc;
}

uint64_t tn_csv_read_line(const tn_csv_read *reader, int64_t row)
{
    return tn_text_lines_at(&reader->lines, row);
}

void tn_csv_read_close(tn_csv_read *reader)
{
    if (reader == NULL)
        return;
    uncharge(reader);
    tn_csv_window_clear(&reader->window);
    tn_csv_columns_clear(&reader->columns);
    tn_text_lines_clear(&reader->lines);
    tn_buf_clear(&reader->table.odd);
    tn_lease_clear(&reader->fields);
    tn_lease_clear(&reader->starts);
    tn_lease_clear(&reader->texts);
    tn_lease_clear(&reader->fates);
    free(reader);
}
