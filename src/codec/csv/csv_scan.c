/* Records and fields of CSV text (RFC 4180).
 *
 *     start of a field --"--> quoted --"--> closed --,--> start of a field
 *            |                  ^  |__""__|     |__LF__> start of a record
 *            |__else__> plain __,__> start of a field; __LF__> start of a record
 *
 * A quote within a plain field stands for itself; text behind a closing quote makes the record odd.
 * I1: only bytes that may end something are looked at one by one; they are found 64 at a time.
 * I2: a record is in the table whole or not at all; what is behind `consumed` was not counted. */
#include "codec/csv/csv_scan.h"

#include "base/marks.h"

/* Of odd records a table holds. */
#define ODD_BYTES_MAX (1u << 20)

/* A place is "len" when the text ended. */
typedef struct scanner {
    const uint8_t *text;
    size_t len, block;
    uint64_t mask, high;
    tn_marks marks;
    uint8_t delimiter;
    bool last;
    uint64_t lines;
    tn_csv_table *table;
} scanner;

static inline void load_block(scanner *s)
{
    size_t left = s->len - s->block;
    uint64_t high, inside = left >= TN_MARKS_BLOCK ? UINT64_MAX : (1ull << left) - 1;

    s->mask = tn_marks_find(&s->marks, s->text + s->block, &high) & inside;
    s->high |= high & inside;
}

/* The next byte that may end something. */
static inline size_t next_mark(scanner *s)
{
    size_t at;

    while (s->mask == 0) {
        if (s->len - s->block <= TN_MARKS_BLOCK)
            return s->len;
        s->block += TN_MARKS_BLOCK;
        load_block(s);
    }
    at = s->block + (size_t)__builtin_ctzll(s->mask);
    s->mask &= s->mask - 1;
    return at;
}

enum ending { END_FIELD, END_RECORD, END_TEXT };

/* What the byte at a mark means outside of quotes; *at moves behind it. A CR as the last byte may
 * be half a line end. */
static inline enum ending end_at(scanner *s, size_t *at)
{
    uint8_t c;

    if (*at == s->len)
        return s->last ? END_RECORD : END_TEXT;
    c = s->text[*at];
    if (c == s->delimiter) {
        ++*at;
        return END_FIELD;
    }
    if (c == '\r') {
        if (*at + 1 == s->len && !s->last)
            return END_TEXT;
        if (*at + 1 < s->len && s->text[*at + 1] == '\n')
            *at = next_mark(s);
    }
    ++*at;
    s->lines++;
    return END_RECORD;
}

/* The mark that ends a plain field that has been read up to here. */
static inline size_t find_end(scanner *s)
{
    size_t at;

    do
        at = next_mark(s);
    while (at < s->len && s->text[at] == '"');
    return at;
}

/* Behind an opening quote: the place of the closing one, or len. */
static size_t find_quote(scanner *s, uint32_t *flags)
{
    for (;;) {
        size_t at = next_mark(s);

        if (at == s->len)
            return at;
        if (s->text[at] == '\n' || s->text[at] == '\r') {
            s->lines += s->text[at] == '\n' || at + 1 == s->len || s->text[at + 1] != '\n';
            continue;
        }
        if (s->text[at] != '"')
            continue;
        if (at + 1 < s->len && s->text[at + 1] == '"') {
            next_mark(s);
            *flags |= TN_CSV_DOUBLED;
            continue;
        }
        /* The text may go on with the second of two quotes. */
        return at + 1 == s->len && !s->last ? s->len : at;
    }
}

typedef struct record {
    size_t fields;
    size_t broken;
    uint32_t flags;
} record;

/* One field from *at on, which moves behind what ended it. */
static inline enum ending scan_field(scanner *s, size_t *at, tn_csv_field *out, record *r)
{
    size_t start = *at, end;
    uint32_t flags = 0;

    if (start < s->len && s->text[start] == '"') {
        next_mark(s);
        flags = TN_CSV_QUOTED;
        end = find_quote(s, &flags);
        if (end == s->len) {
            s->table->quote_open = true;
            s->table->quote_start = start;
            return END_TEXT;
        }
        r->flags |= flags;
        *at = find_end(s);
        if (*at != end + 1 && r->broken == 0)
            r->broken = r->fields + 1;
        start++;
    } else {
        end = *at = find_end(s);
    }
    *out = (tn_csv_field){(uint32_t)start, (uint32_t)(end - start) | flags};
    return end_at(s, at);
}

/* Passes over an empty line; false where there is none. A line end that may be cut is none. */
static bool skip_line(scanner *s, size_t *at)
{
    size_t mark;

    if (s->text[*at] != '\n' && s->text[*at] != '\r')
        return false;
    if (s->text[*at] == '\r' && *at + 1 == s->len && !s->last)
        return false;
    mark = next_mark(s);
    (void)end_at(s, &mark);
    *at = mark;
    return true;
}

/* `end`: behind the record and its line end. */
static int add_odd(tarn_cx *cx, const scanner *s, size_t start, size_t end, const record *r)
{
    tn_csv_table *table = s->table;
    tn_csv_odd odd = {.start = (uint32_t)start,
                      .row = (uint32_t)table->rows,
                      .fields = (uint32_t)r->fields,
                      .broken = (uint32_t)r->broken};

    if (end > start && s->text[end - 1] == '\n')
        end--;
    if (end > start && s->text[end - 1] == '\r')
        end--;
    odd.end = (uint32_t)end;
    tn_buf_add(&table->odd, &odd, sizeof odd);
    return tn_buf_check(cx, &table->odd);
}

/* One record from *at on. END_TEXT: it is not whole. */
static int scan_record(tarn_cx *cx, scanner *s, size_t *at, enum ending *ending)
{
    tn_csv_table *table = s->table;
    size_t room = table->columns != 0 ? table->columns : table->fields_max, start = *at;
    tn_csv_field *fields = table->fields + table->rows * table->columns, beyond;
    record r = {0};

    do {
        *ending = scan_field(s, at, r.fields < room ? &fields[r.fields] : &beyond, &r);
        r.fields++;
    } while (*ending == END_FIELD);
    if (*ending == END_TEXT)
        return TARN_OK;
    if (table->columns == 0 && r.fields > room)
        return tn_fail(cx, TARN_E_LIMIT, "a record has %zu fields; at most %zu are read", r.fields,
                       room);
    table->record_fields = r.fields;
    if (r.broken != 0 || (table->columns != 0 && r.fields != room))
        return add_odd(cx, s, start, *at, &r);
    table->doubled |= (r.flags & TN_CSV_DOUBLED) != 0;
    table->starts[table->rows++] = (uint32_t)start;
    return TARN_OK;
}

int tn_csv_scan(tarn_cx *cx, char delimiter, const uint8_t *text, size_t len, bool last,
                tn_csv_table *table)
{
    scanner s = {.text = text,
                 .len = len,
                 .marks = {{(uint8_t)delimiter, '"', '\n', '\r'}},
                 .delimiter = (uint8_t)delimiter,
                 .last = last,
                 .table = table};
    size_t rows_max = table->columns == 0 ? 1 : table->fields_max / table->columns, at = 0;
    enum ending ending;
    int rc = TARN_OK;

    table->rows = table->consumed = 0;
    table->lines = 0;
    table->doubled = table->quote_open = false;
    table->record_fields = 0;
    tn_buf_reset(&table->odd);
    rows_max = rows_max < table->rows_max ? rows_max : table->rows_max;
    if (len != 0)
        load_block(&s);
    while (at < len && table->rows < rows_max && table->odd.len < ODD_BYTES_MAX) {
        if (table->columns == 1 || !skip_line(&s, &at)) {
            TN_TRY(scan_record(cx, &s, &at, &ending));
            if (ending == END_TEXT)
                break;
            if (table->columns == 0)
                rows_max = table->rows; /* also where it is odd */
        }
        table->consumed = at;
        table->lines = s.lines;
    }
    table->ascii = s.high == 0;
done:
    return rc;
}

uint64_t tn_csv_lines(const uint8_t *text, size_t len)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n' || (text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n'));
    return lines;
}
