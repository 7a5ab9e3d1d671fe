/* Cuts a feed into records.
 *
 *   {"a":1}\n{"a":2}\n            lines; "\r\n" as well, a last line without its end too
 *   [{"a":1}, {"a":2}]            where the first byte is a bracket: its elements, on any lines
 *
 *   BEFORE ─[─> FIRST ─element─> NEXT ─,─> ELEMENT ─element─> NEXT ─]─> AFTER
 *                 └──────────────────]───────────────────────────────────┘
 *
 * I1: a record is given whole, wherever chunks end; most are given where they lie in the chunk.
 * I2: only quotes and brackets are looked at: what a record holds is checked by who parses it. */
#include "codec/ndjson/ndjson_record.h"

#include <assert.h>
#include <inttypes.h>

#include "base/budget.h"

#define START_BYTES_MAX                                                                            \
    (1u << 20) /* of blanks before the first byte that tells lines from array                      \
                */

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_blank(const uint8_t *at, size_t len)
{
    while (len > 0 && is_space(*at)) {
        at++;
        len--;
    }
    return len == 0;
}

static int gather(tarn_cx *cx, tn_ndjson_records *r)
{
    const uint8_t *bytes;
    size_t len;
    int rc = TARN_OK;

    TN_TRY(tn_feed_next(cx, r->feed, &bytes, &len));
    r->ended = len == 0;
    tn_buf_add(&r->held, bytes, len);
    TN_TRY(tn_buf_check(cx, &r->held));
done:
    return rc;
}

/* Past a byte order mark. */
static tn_str content(const tn_ndjson_records *r)
{
    tn_str all = tn_buf_view(&r->held);

    return tn_str_starts(all, TN_STR("\xEF\xBB\xBF")) ? tn_str_from(all, 3) : all;
}

int tn_ndjson_records_hold(tarn_cx *cx, tn_ndjson_records *r, size_t bytes)
{
    tn_str all;
    int rc = TARN_OK;

    assert(!r->started && r->feed != NULL);
    bytes = bytes < 3 ? 3 : bytes;
    while (!r->ended && r->held.len < bytes)
        TN_TRY(gather(cx, r));
    all = content(r);
    while (!r->ended && all.len < START_BYTES_MAX && is_blank((const uint8_t *)all.ptr, all.len)) {
        TN_TRY(gather(cx, r));
        all = content(r);
    }
    r->at = (const uint8_t *)all.ptr;
    r->left = all.len;
    r->array = false;
    for (size_t i = 0; i < all.len && !r->array && is_space((uint8_t)all.ptr[i]); i++)
        r->array = i + 1 < all.len && all.ptr[i + 1] == '[';
    r->array = r->array || tn_str_starts(all, TN_STR("["));
done:
    return rc;
}

void tn_ndjson_records_peek(const tn_ndjson_records *r, tn_ndjson_records *out)
{
    assert(!r->started);
    *out = *r;
    out->feed = NULL;
    out->held = (tn_buf){0};
    out->carry = (tn_buf){0};
}

/* The next chunk; `left` stays 0 at the end. */
static int refill(tarn_cx *cx, tn_ndjson_records *r)
{
    int rc = TARN_OK;

    assert(r->left == 0);
    if (r->ended || r->feed == NULL)
        return TARN_OK;
    TN_TRY(tn_feed_next(cx, r->feed, &r->at, &r->left));
    r->ended = r->left == 0;
done:
    return rc;
}

/* A record is held whole, and once more in the columns. */
uint64_t tn_ndjson_record_max(const tarn_cx *cx)
{
    uint64_t share = tn_budget_bytes(cx) / 4;

    return share < TN_TEXT_RECORD_BYTES_MAX ? share : TN_TEXT_RECORD_BYTES_MAX;
}

static int fail_long(tarn_cx *cx, const tn_ndjson_records *r, uint64_t line)
{
    return tn_fail(cx, TARN_E_LIMIT,
                   "%.*s: line %" PRIu64 ": a record of more than %" PRIu64
                   " MiB; one object a line is read, or one array of objects; --memory allows "
                   "longer ones up to %u MiB",
                   TN_STR_ARG(r->feed != NULL ? r->feed->name : TN_STR("")), line + 1,
                   tn_ndjson_record_max(cx) >> 20, TN_TEXT_RECORD_BYTES_MAX >> 20);
}

static int carry_on(tarn_cx *cx, tn_ndjson_records *r, const uint8_t *from, size_t len,
                    uint64_t line)
{
    if (r->carry.len + len > tn_ndjson_record_max(cx))
        return fail_long(cx, r, line);
    tn_buf_add(&r->carry, from, len);
    return tn_buf_check(cx, &r->carry);
}

/* A record that ends before `end`: where it lies, or what has been carried and the rest. */
static int take(tarn_cx *cx, tn_ndjson_records *r, const uint8_t *from, const uint8_t *end,
                uint64_t line, tn_str *record)
{
    int rc = TARN_OK;

    if (r->carry.len != 0) {
        TN_TRY(carry_on(cx, r, from, (size_t)(end - from), line));
        *record = tn_buf_view(&r->carry);
    } else {
        *record = (tn_str){(const char *)from, (size_t)(end - from)};
    }
done:
    return rc;
}

static void advance(tn_ndjson_records *r, size_t n)
{
    r->at += n;
    r->left -= n;
}

static int next_line(tarn_cx *cx, tn_ndjson_records *r, tn_str *record)
{
    int rc = TARN_OK;

    for (;;) {
        const uint8_t *start = r->at, *end;

        if (r->left == 0) {
            TN_TRY(refill(cx, r));
            if (r->left != 0)
                continue;
            /* A look ahead does not know whether the last line is whole. */
            if (r->ended && r->carry.len != 0)
                *record = tn_buf_view(&r->carry);
            break;
        }
        end = memchr(start, '\n', r->left);
        if (end != NULL) {
            TN_TRY(take(cx, r, start, end, r->line, record));
            advance(r, (size_t)(end - start) + 1);
            break;
        }
        TN_TRY(carry_on(cx, r, start, r->left, r->line));
        advance(r, r->left);
    }
done:
    return rc;
}

static int fail_array(tarn_cx *cx, const tn_ndjson_records *r, int status, const char *why)
{
    return tn_fail(cx, status, "%.*s: line %" PRIu64 ": %s",
                   TN_STR_ARG(r->feed != NULL ? r->feed->name : TN_STR("")), r->line + 1, why);
}

/* A byte between elements; an element begins where it is none of the array's own. */
static int step_between(tarn_cx *cx, tn_ndjson_records *r, uint8_t c)
{
    bool begins = c != ',' && c != ']';

    if (is_space(c)) {
        r->line += c == '\n';
    } else if (r->place == TN_NDJSON_BEFORE) {
        assert(c == '[');
        r->place = TN_NDJSON_FIRST;
    } else if (r->place == TN_NDJSON_AFTER) {
        return fail_array(cx, r, TARN_E_DATA,
                          "bytes follow the array; an input is one array of objects, or one object "
                          "a line");
    } else if (c == ']' && r->place != TN_NDJSON_ELEMENT) {
        r->place = TN_NDJSON_AFTER;
    } else if (c == ',' && r->place == TN_NDJSON_NEXT) {
        r->place = TN_NDJSON_ELEMENT;
    } else if (begins && r->place != TN_NDJSON_NEXT) {
        r->inside = true;
        r->quoted = r->escape = false;
        r->depth = 0;
        r->element_line = r->line;
        return TARN_OK;
    } else {
        return fail_array(cx, r, TARN_E_DATA,
                          r->place == TN_NDJSON_NEXT
                              ? "expected \",\" or \"]\" between the objects of the array"
                              : "expected an object of the array");
    }
    advance(r, 1);
    return TARN_OK;
}

/* Goes over the bytes of an element; true where it has ended, at `at`. */
static bool step_inside(tn_ndjson_records *r)
{
    while (r->left != 0) {
        uint8_t c = *r->at;

        if (r->quoted) {
            r->quoted = r->escape || c != '"';
            r->escape = !r->escape && c == '\\';
        } else if (r->depth == 0 && (c == ',' || c == ']' || is_space(c))) {
            return true;
        } else {
            r->quoted = c == '"';
            r->depth += c == '{' || c == '[';
            r->depth -= r->depth != 0 && (c == '}' || c == ']');
        }
        r->line += c == '\n';
        advance(r, 1);
        if (r->depth == 0 && c == '}')
            return true;
    }
    return false;
}

static int next_element(tarn_cx *cx, tn_ndjson_records *r, tn_str *record)
{
    int rc = TARN_OK;

    for (;;) {
        const uint8_t *start = r->at;

        if (r->left == 0) {
            TN_TRY(refill(cx, r));
            if (r->left != 0)
                continue;
            if (r->ended && r->place != TN_NDJSON_AFTER)
                TN_TRY(fail_array(cx, r, TARN_E_CORRUPT,
                                  "the array is cut off: its closing bracket is missing"));
            break;
        }
        if (!r->inside) {
            TN_TRY(step_between(cx, r, *r->at));
        } else if (step_inside(r)) {
            r->inside = false;
            r->place = TN_NDJSON_NEXT;
            TN_TRY(take(cx, r, start, r->at, r->element_line, record));
            break;
        } else {
            TN_TRY(carry_on(cx, r, start, (size_t)(r->at - start), r->element_line));
        }
    }
done:
    return rc;
}

int tn_ndjson_records_next(tarn_cx *cx, tn_ndjson_records *r, tn_str *record, uint64_t *line)
{
    int rc = TARN_OK;

    r->started = true;
    for (;;) {
        *record = (tn_str){0};
        tn_buf_reset(&r->carry);
        if (r->array) {
            TN_TRY(next_element(cx, r, record));
            *line = r->element_line + 1;
            break;
        }
        TN_TRY(next_line(cx, r, record));
        r->line++;
        *line = r->line;
        if (record->ptr == NULL || !is_blank((const uint8_t *)record->ptr, record->len))
            break;
    }
done:
    return rc;
}

static uint64_t count_lines(const uint8_t *at, size_t len)
{
    const uint8_t *end = at + len;
    uint64_t lines = 0;

    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

int tn_ndjson_records_lines(tarn_cx *cx, tn_ndjson_records *r, size_t bytes, uint64_t line,
                            tn_buf *out)
{
    const uint8_t *end = NULL;
    size_t n, last, start = 0; /* of the last line */
    int rc = TARN_OK;

    assert(!r->array);
    r->started = true;
    while (end == NULL) {
        if (r->left == 0)
            TN_TRY(refill(cx, r));
        if (r->left == 0)
            break;
        n = out->len >= bytes ? 0 : bytes - out->len < r->left ? bytes - out->len : r->left;
        /* From where there is enough on, to the end of a line. */
        end = n < r->left ? memchr(r->at + n, '\n', r->left - n) : NULL;
        n = end != NULL ? (size_t)(end - r->at) + 1 : r->left;
        for (last = n - (end != NULL); last > 0 && r->at[last - 1] != '\n';)
            last--;
        start = last != 0 ? out->len + last : start;
        if (out->len + n - start > tn_ndjson_record_max(cx))
            return fail_long(cx, r, line + count_lines(out->data, start));
        tn_buf_add(out, r->at, n);
        TN_TRY(tn_buf_check(cx, out));
        advance(r, n);
    }
done:
    return rc;
}

void tn_ndjson_records_clear(tn_ndjson_records *r)
{
    tn_buf_clear(&r->held);
    tn_buf_clear(&r->carry);
}
