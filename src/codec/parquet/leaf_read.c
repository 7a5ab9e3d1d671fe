/* Reads one column chunk as batches of whole rows.
 *
 * Two page slots: `now` is the page that rows are taken from; a nested column looks whether the
 * next page begins inside a row, and keeps that page ready in the other slot (`ahead`).
 *
 *   leaf_feed.h -> a page in a slot -> settle (now has entries, standing at a row)
 *     -> flat: cut by count;  nested: cut at repetition level 0, or join across pages
 *
 * I1: a batch holds whole rows; what it points to is not touched until the next call.
 * I2: between calls `now` is used up, or its window stands at the start of a row, or `drop_tail` is
 *     set: the entries up to the next row start belong to a row that was passed over.
 * I3: at the end of the chunk as many rows have been passed as the row group has, else CORRUPT.
 * I4: after a failure the reader gives nothing more. */
#include "codec/parquet/leaf_read.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/parquet/leaf_feed.h"
#include "codec/parquet/leaf_join.h"

enum {
    BATCH_ROWS_MAX = 1 << 20,
    WINDOW_ENTRIES = 4096,
    /* Values that grow beyond their page (shared prefixes, wide dictionary values) cut a batch
       here. */
    BATCH_BYTES_MAX = 16 << 20
};

struct tn_leaf_reader {
    tn_leaf_read_options options;
    const tn_leaf *leaf;
    int64_t group_rows;
    tn_leaf_feed feed;
    tn_leaf_page slot[2];
    unsigned now;
    bool ahead; /* the other slot holds the next page */
    bool drop_tail;
    bool failed;
    int64_t row; /* rows started and taken or passed */
    tn_lease values, indices;
    tn_leaf_join join;
};

static tn_leaf_page *page_now(tn_leaf_reader *r)
{
    return &r->slot[r->now];
}

/* For failures while decoding a page. */
static int fail_in(tarn_cx *cx, int status, const tn_leaf_reader *r, const tn_leaf_page *p)
{
    return tn_page_fail(cx, status, &r->feed.pages, p->page.number, p->page.at);
}

int tn_leaf_reader_open(tarn_cx *cx, const tn_parquet *file, size_t group, size_t leaf,
                        tn_source *source, const tn_leaf_read_options *options,
                        tn_leaf_reader **out)
{
    tn_leaf_reader *r = NULL;
    int rc = TARN_OK;

    r = tn_calloc(cx, 1, sizeof *r);
    if (r == NULL)
        return TARN_E_NOMEM;
    if (options != NULL)
        r->options = *options;
    r->leaf = &file->schema.leaves[leaf];
    r->group_rows = file->footer.groups[group].rows;
    TN_TRY(tn_leaf_feed_init(cx, &r->feed, file, group, leaf, source, &r->options));
    *out = r;
    r = NULL;
done:
    tn_leaf_reader_close(r);
    return rc;
}

void tn_leaf_reader_close(tn_leaf_reader *reader)
{
    if (reader == NULL)
        return;
    tn_leaf_page_clear(&reader->slot[0]);
    tn_leaf_page_clear(&reader->slot[1]);
    tn_lease_clear(&reader->values);
    tn_lease_clear(&reader->indices);
    tn_leaf_join_clear(&reader->join);
    tn_leaf_feed_clear(&reader->feed);
    free(reader);
}

/* ---- pages ---- */

static int fill(tarn_cx *cx, tn_leaf_reader *r, tn_leaf_page *p, size_t want)
{
    return fail_in(cx, tn_leaf_page_fill(cx, p, want), r, p);
}

/* Takes n entries of the window without giving them. */
static void pass_entries(tn_leaf_page *p, size_t n)
{
    tn_decode_value_skip(&p->values, tn_leaf_page_present(p, n));
    p->at += n;
}

/* How many entries at the front of the page continue the row before (repetition level above 0).
 * The window then reaches past them, or to the end of the page. */
static int count_tail(tarn_cx *cx, tn_leaf_reader *r, tn_leaf_page *p, size_t *count)
{
    size_t n = 0;
    int rc = TARN_OK;

    for (;;) {
        const uint16_t *rep;

        TN_TRY(fill(cx, r, p, n + 1));
        rep = tn_leaf_page_rep(p);
        while (n < p->len - p->at && rep[n] != 0)
            n++;
        if (n < p->len - p->at || p->undecoded == 0)
            break;
        TN_TRY(fill(cx, r, p, n + WINDOW_ENTRIES + n / 2));
    }
    *count = n;
done:
    return rc;
}

/* Makes `now` a page with entries that stands at the start of a row. */
static int settle(tarn_cx *cx, tn_leaf_reader *r, bool *ended)
{
    int rc = TARN_OK;

    *ended = false;
    while (tn_leaf_page_left(page_now(r)) == 0) {
        size_t tail = 0;

        if (r->ahead)
            r->now = 1 - r->now;
        else
            TN_TRY(tn_leaf_feed_load(cx, &r->feed, page_now(r), ended));
        r->ahead = false;
        if (*ended)
            break;
        if (r->leaf->max_rep == 0)
            continue;
        TN_TRY(count_tail(cx, r, page_now(r), &tail));
        if (tail != 0 && !r->drop_tail)
            return fail_in(cx,
                           tn_fail(cx, TARN_E_CORRUPT,
                                   "repetition levels begin inside a row, but there is no row "
                                   "before"),
                           r, page_now(r));
        pass_entries(page_now(r), tail);
        if (tn_leaf_page_left(page_now(r)) != 0)
            r->drop_tail = false;
    }
    if (*ended && r->row != r->group_rows)
        rc = tn_page_fail(cx,
                          tn_fail(cx, TARN_E_CORRUPT,
                                  "the pages hold %" PRId64 " rows, the row group %" PRId64, r->row,
                                  r->group_rows),
                          &r->feed.pages, r->feed.pages.number, r->feed.pages.at);
done:
    return rc;
}

/* Loads the page after `now`; *continues true when it begins inside a row. */
static int peek(tarn_cx *cx, tn_leaf_reader *r, bool *continues)
{
    tn_leaf_page *next = &r->slot[1 - r->now];
    bool ended = false;
    int rc = TARN_OK;

    *continues = false;
    if (!r->ahead) {
        TN_TRY(tn_leaf_feed_load(cx, &r->feed, next, &ended));
        r->ahead = !ended;
    }
    if (r->ahead) {
        TN_TRY(fill(cx, r, next, 1));
        *continues = tn_leaf_page_rep(next)[0] != 0;
    }
done:
    return rc;
}

/* ---- batches ---- */

/* Values of `present` entries that were taken. */
static int give_values(tarn_cx *cx, tn_leaf_reader *r, tn_leaf_page *p, size_t present,
                       tn_leaf_batch *out)
{
    int rc = TARN_OK;

    out->values.count = (int64_t)present;
    if (r->options.keep_dictionary && tn_decode_value_is_indices(&p->values) &&
        p->values.dictionary != NULL) {
        out->dictionary = r->feed.dictionary;
        out->dictionary_id = r->feed.dictionary_id;
        TN_TRY(tn_decode_value_indices(cx, &p->values, &r->indices, present, &out->indices));
    } else {
        TN_TRY(tn_decode_value_read(cx, &p->values, &r->values, present, &out->values.data));
    }
done:
    return rc;
}

/* How many of `present` values a batch may take; indices are never too wide. */
static int fit(tarn_cx *cx, tn_leaf_reader *r, tn_leaf_page *p, size_t present, size_t *fits)
{
    *fits = present;
    if (r->options.keep_dictionary && tn_decode_value_is_indices(&p->values))
        return TARN_OK;
    return tn_decode_value_fit(cx, &p->values, BATCH_BYTES_MAX, fits);
}

/* The count of entries before the present one after `fits` of them. */
static size_t cut_flat(const tn_leaf_page *p, size_t n, size_t fits)
{
    const uint16_t *def = tn_leaf_page_def(p);
    size_t present = 0, i;

    for (i = 0; i < n; i++) {
        if (def[i] == p->max_def && ++present > fits)
            break;
    }
    return i;
}

static int next_flat(tarn_cx *cx, tn_leaf_reader *r, size_t n, tn_leaf_batch *out)
{
    tn_leaf_page *p = page_now(r);
    size_t present, fits;
    bool all;
    int rc = TARN_OK;

    if ((int64_t)n > tn_leaf_page_left(p))
        n = (size_t)tn_leaf_page_left(p);
    TN_TRY(tn_leaf_page_all_present(cx, p, n, &all));
    if (all) {
        TN_TRY(fit(cx, r, p, n, &fits));
        if (fits < n)
            TN_TRY(tn_leaf_page_give_back(cx, p, n - fits));
        n = present = fits;
    } else {
        TN_TRY(tn_leaf_page_fill(cx, p, n));
        present = tn_leaf_page_present(p, n);
        TN_TRY(fit(cx, r, p, present, &fits));
        if (fits < present)
            n = cut_flat(p, n, fits);
        present = fits;
        out->def = tn_leaf_page_def(p);
        p->at += n;
    }
    out->rows = out->entries = (int64_t)n;
    out->all_present = present == n;
    TN_TRY(give_values(cx, r, p, present, out));
    r->row += (int64_t)n;
done:
    return fail_in(cx, rc, r, p);
}

/* What find_rows found at the front of the window. */
typedef struct row_span {
    size_t entries;
    size_t rows;
    size_t last; /* entry where the last row starts */
    bool open;   /* the page ended: the next one may go on with the last row */
} row_span;

static int find_rows(tarn_cx *cx, tn_leaf_reader *r, tn_leaf_page *p, size_t rows_max,
                     row_span *out)
{
    row_span span = {.open = true};
    int rc = TARN_OK;

    for (;;) {
        size_t n = p->len - p->at;
        const uint16_t *rep = tn_leaf_page_rep(p);

        for (; span.entries < n; span.entries++) {
            if (rep[span.entries] != 0)
                continue;
            if (span.rows == rows_max) {
                span.open = false;
                break;
            }
            span.rows++;
            span.last = span.entries;
        }
        if (!span.open || p->undecoded == 0)
            break;
        TN_TRY(fill(cx, r, p, n + (n < WINDOW_ENTRIES ? WINDOW_ENTRIES : n)));
    }
    *out = span;
done:
    return rc;
}

/* Shortens a span to the rows whose values fit; one row at least stays. */
static void cut_rows(const tn_leaf_page *p, size_t fits, row_span *span)
{
    const uint16_t *rep = tn_leaf_page_rep(p), *def = tn_leaf_page_def(p);
    size_t present = 0, rows = 0;

    for (size_t i = 0; i < span->entries; i++) {
        if (rep[i] == 0 && rows++ != 0) {
            span->last = i; /* provisional: rows before this entry fit */
            span->rows = rows - 1;
        }
        present += def[i] == p->max_def;
        if (present > fits && rows > 1) {
            span->entries = span->last;
            return;
        }
    }
    span->rows = rows;
}

/* A row that begins in `now` and ends in a later page. */
static int join_row(tarn_cx *cx, tn_leaf_reader *r, tn_leaf_batch *out)
{
    size_t take = page_now(r)->len - page_now(r)->at;
    bool ended = false;
    int rc = TARN_OK;

    tn_leaf_join_reset(&r->join);
    for (;;) {
        tn_leaf_page *p = page_now(r);

        TN_TRY(fail_in(cx, tn_leaf_join_add(cx, &r->join, r->leaf, p, take), r, p));
        if (tn_leaf_page_left(p) != 0)
            break;
        if (r->ahead)
            r->now = 1 - r->now;
        else
            TN_TRY(tn_leaf_feed_load(cx, &r->feed, page_now(r), &ended));
        r->ahead = false;
        if (ended)
            break;
        TN_TRY(count_tail(cx, r, page_now(r), &take));
    }
    tn_leaf_join_batch(&r->join, out);
    r->row++;
done:
    return rc;
}

static int next_nested(tarn_cx *cx, tn_leaf_reader *r, size_t rows_max, tn_leaf_batch *out)
{
    tn_leaf_page *p = page_now(r);
    size_t present, fits;
    row_span span;
    bool continues = false;
    int rc = TARN_OK;

    TN_TRY(find_rows(cx, r, p, rows_max, &span));
    if (span.open)
        TN_TRY(peek(cx, r, &continues));
    if (continues && span.rows == 1)
        return join_row(cx, r, out);
    if (continues) {
        span.entries = span.last;
        span.rows--;
    }
    present = tn_leaf_page_present(p, span.entries);
    TN_TRY(fail_in(cx, fit(cx, r, p, present, &fits), r, p));
    if (fits < present) {
        cut_rows(p, fits, &span);
        present = tn_leaf_page_present(p, span.entries);
    }
    out->rows = (int64_t)span.rows;
    out->entries = (int64_t)span.entries;
    out->rep = tn_leaf_page_rep(p);
    out->def = tn_leaf_page_def(p);
    out->all_present = present == span.entries;
    p->at += span.entries;
    r->row += (int64_t)span.rows;
    TN_TRY(fail_in(cx, give_values(cx, r, p, present, out), r, p));
done:
    return rc;
}

static int check_alive(tarn_cx *cx, const tn_leaf_reader *r)
{
    if (r->failed)
        return tn_fail(cx, TARN_E_INVALID, "%.*s: column %.*s: read on after a failure",
                       TN_STR_ARG(r->feed.pages.file->path), TN_STR_ARG(r->leaf->dotted));
    return TARN_OK;
}

int tn_leaf_reader_next(tarn_cx *cx, tn_leaf_reader *reader, int64_t rows_max, tn_leaf_batch *out)
{
    tn_leaf_batch batch = {0};
    size_t n = rows_max < BATCH_ROWS_MAX ? (size_t)rows_max : BATCH_ROWS_MAX;
    bool ended;
    int rc = TARN_OK;

    assert(rows_max > 0);
    TN_TRY(check_alive(cx, reader));
    TN_TRY(settle(cx, reader, &ended));
    if (!ended && reader->leaf->max_rep == 0)
        TN_TRY(next_flat(cx, reader, n, &batch));
    else if (!ended)
        TN_TRY(next_nested(cx, reader, n, &batch));
    if (reader->row > reader->group_rows)
        rc = fail_in(cx,
                     tn_fail(cx, TARN_E_CORRUPT, "more rows than the %" PRId64 " of the row group",
                             reader->group_rows),
                     reader, page_now(reader));
    if (rc == TARN_OK)
        *out = batch;
done:
    reader->failed = reader->failed || rc != TARN_OK;
    return rc;
}

/* ---- passing over rows ---- */

/* Rows of the page whose header is at hand; -1 where the header does not tell. In a nested column
 * as many rows as values may be right, or may come from a writer that counted values for rows:
 * there the levels decide. */
static int64_t rows_by_header(const tn_leaf_reader *r)
{
    const tn_page_header *h = &r->feed.pages.header;

    if (r->leaf->max_rep == 0)
        return h->values;
    return h->type == TN_PAGE_DATA_V2 && h->rows < h->values ? h->rows : -1;
}

/* Passes over the next page by its header when all its rows are to be passed; *passed says so. */
static void pass_page(tn_leaf_reader *r, int64_t rows, bool *passed)
{
    int64_t in_page = rows_by_header(r);

    *passed = in_page >= 0 && in_page <= rows;
    if (!*passed)
        return;
    tn_leaf_feed_pass(&r->feed);
    r->row += in_page;
    r->drop_tail = r->leaf->max_rep != 0;
}

/* Passes over whole pages while `now` is used up. */
static int pass_pages(tarn_cx *cx, tn_leaf_reader *r, int64_t target)
{
    bool ended = false, passed = true;
    int rc = TARN_OK;

    while (passed && r->row < target && !r->ahead && tn_leaf_page_left(page_now(r)) == 0) {
        TN_TRY(tn_leaf_feed_header(cx, &r->feed, &ended));
        if (ended)
            break;
        if (tn_leaf_feed_jump(&r->feed, r->row, target, &r->row))
            r->drop_tail = false;
        TN_TRY(tn_leaf_feed_header(cx, &r->feed, &ended));
        if (ended)
            break;
        pass_page(r, target - r->row, &passed);
    }
done:
    return rc;
}

/* Passes over at most `rows` within `now`. */
static int pass_rows(tarn_cx *cx, tn_leaf_reader *r, int64_t rows)
{
    tn_leaf_page *p = page_now(r);
    size_t n = rows < WINDOW_ENTRIES ? (size_t)rows : WINDOW_ENTRIES;
    bool all;
    row_span span;
    int rc = TARN_OK;

    if (r->leaf->max_rep != 0) {
        TN_TRY(find_rows(cx, r, p, n, &span));
        pass_entries(p, span.entries);
        r->row += (int64_t)span.rows;
        r->drop_tail = span.open;
        goto done;
    }
    if (rows >= tn_leaf_page_left(p)) { /* the rest of the page is of no interest */
        r->row += tn_leaf_page_left(p);
        tn_leaf_page_drop(p);
        goto done;
    }
    TN_TRY(fail_in(cx, tn_leaf_page_all_present(cx, p, n, &all), r, p));
    if (all) {
        tn_decode_value_skip(&p->values, n);
    } else {
        TN_TRY(fill(cx, r, p, n));
        pass_entries(p, n);
    }
    r->row += (int64_t)n;
done:
    return rc;
}

int tn_leaf_reader_skip(tarn_cx *cx, tn_leaf_reader *reader, int64_t rows)
{
    int64_t target;
    bool ended;
    int rc = TARN_OK;

    assert(rows >= 0);
    TN_TRY(check_alive(cx, reader));
    if (rows > reader->group_rows - reader->row)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: column %.*s: passing over %" PRId64 " rows, %" PRId64 " left",
                TN_STR_ARG(reader->feed.pages.file->path), TN_STR_ARG(reader->leaf->dotted), rows,
                reader->group_rows - reader->row);
    target = reader->row + rows;
    while (reader->row < target) {
        TN_TRY(pass_pages(cx, reader, target));
        if (reader->row >= target)
            break;
        TN_TRY(settle(cx, reader, &ended));
        if (ended)
            break; /* settle has found the rows complete, so target was met */
        TN_TRY(pass_rows(cx, reader, target - reader->row));
    }
done:
    reader->failed = reader->failed || rc != TARN_OK;
    return rc;
}
