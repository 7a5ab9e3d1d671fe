/* What a sample of JSON records shows.
 *
 *   values seen of a key                 its type
 *   only null                            text (or null, for who joins samples of many inputs)
 *   true, false                          boolean
 *   numbers                              int64; double with a fraction, an exponent or "-0";
 *                                        integers beyond int64 as codec/text/text_read.h says
 *   numbers and "NaN", "Infinity", …     double: how tarn itself writes them
 *   texts, all of them dates or times    date, timestamp
 *   texts                                text
 *   objects                              struct of the keys of all of them; {} alone: text
 *   arrays                               list of the type of all their elements
 *   unlike values                        text: of texts what they say, of others their JSON, so
 * that a column of text reads the same whether it was inferred or asked for (DuckDB would keep the
 * quotes of texts, Spark does as tarn)
 *
 * I1: a record that is broken anywhere adds nothing. */
#include "codec/ndjson/ndjson_guess.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "codec/ndjson/ndjson_scan.h"

enum {
    SEEN_BOOL = 1,
    SEEN_NUMBER = 2,
    SEEN_TIME = 4, /* text that may be a date or time */
    SEEN_WORD = 8, /* "NaN", "Infinity", "-Infinity" */
    SEEN_TEXT = 16,
    SEEN_OBJECT = 32,
    SEEN_ARRAY = 64
};

typedef struct node {
    tn_str name;
    unsigned seen;
    tn_text_guess numbers, times;
    tn_map names; /* of the keys of objects, to their place in `fields` */
    struct node **fields;
    size_t count, cap;
    struct node *element;
} node;

struct tn_ndjson_guess {
    tn_arena arena;
    node root;
    size_t nodes;
    tn_buf text;
};

int tn_ndjson_guess_open(tarn_cx *cx, tn_ndjson_guess **out)
{
    tn_ndjson_guess *guess = tn_calloc(cx, 1, sizeof *guess);

    if (guess == NULL)
        return TARN_E_NOMEM;
    *out = guess;
    return TARN_OK;
}

static void node_clear(node *n)
{
    tn_map_clear(&n->names);
    for (size_t i = 0; i < n->count; i++)
        node_clear(n->fields[i]);
    if (n->element != NULL)
        node_clear(n->element);
}

void tn_ndjson_guess_close(tn_ndjson_guess *guess)
{
    if (guess == NULL)
        return;
    node_clear(&guess->root);
    tn_arena_clear(&guess->arena);
    tn_buf_clear(&guess->text);
    free(guess);
}

static int make_node(tarn_cx *cx, tn_ndjson_guess *guess, tn_str name, node **out)
{
    node *made;
    int rc = TARN_OK;

    if (++guess->nodes > TN_PARQUET_LEAVES_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "key \"%.*s\": more than %d keys in the sample; are keys data here? "
                "Name the columns with --schema",
                TN_STR_ARG(name), TN_PARQUET_LEAVES_MAX);
    made = tn_arena_take(cx, &guess->arena, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    made->name = name;
    TN_TRY(tn_arena_keep(cx, &guess->arena, &made->name));
    *out = made;
done:
    return rc;
}

static int find_field(tarn_cx *cx, tn_ndjson_guess *guess, node *parent, tn_str name, node **out)
{
    size_t *place = tn_map_find(&parent->names, name);
    node *made;
    bool added;
    int rc = TARN_OK;

    if (place != NULL) {
        *out = parent->fields[*place];
        return TARN_OK;
    }
    TN_TRY(tn_arena_grow(cx, &guess->arena, &parent->fields, parent->count, &parent->cap,
                         sizeof(node *)));
    TN_TRY(make_node(cx, guess, name, &made));
    place = tn_map_add(cx, &parent->names, made->name, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = parent->count;
    parent->fields[parent->count++] = made;
    *out = made;
done:
    return rc;
}

static int add_value(tarn_cx *cx, tn_ndjson_guess *guess, node *n, tn_ndjson_scan *scan);

static int add_object(tarn_cx *cx, tn_ndjson_guess *guess, node *n, tn_ndjson_scan *scan)
{
    bool more = tn_ndjson_scan_first(scan, '}'), escaped;
    int rc = TARN_OK;

    n->seen |= SEEN_OBJECT;
    while (more) {
        node *field;
        tn_str key;

        if (!tn_ndjson_scan_key(scan, &key, &escaped))
            break;
        if (escaped) {
            tn_buf_reset(&guess->text);
            tn_ndjson_scan_unescape(key, &guess->text);
            TN_TRY(tn_buf_check(cx, &guess->text));
            key = tn_buf_view(&guess->text);
        }
        TN_TRY(find_field(cx, guess, n, key, &field));
        TN_TRY(add_value(cx, guess, field, scan));
        if (!tn_ndjson_scan_next(scan, '}', &more))
            break;
    }
done:
    return rc;
}

static int add_array(tarn_cx *cx, tn_ndjson_guess *guess, node *n, tn_ndjson_scan *scan)
{
    bool more = tn_ndjson_scan_first(scan, ']');
    int rc = TARN_OK;

    n->seen |= SEEN_ARRAY;
    if (n->element == NULL)
        TN_TRY(make_node(cx, guess, TN_STR("item"), &n->element));
    while (more) {
        TN_TRY(add_value(cx, guess, n->element, scan));
        if (!tn_ndjson_scan_next(scan, ']', &more))
            break;
    }
done:
    return rc;
}

static void add_text(node *n, tn_str text, bool escaped)
{
    bool time =
        !escaped && text.len >= 8 && text.len <= 48 &&
        (text.ptr[0] == '-' || text.ptr[0] == '+' || (text.ptr[0] >= '0' && text.ptr[0] <= '9'));

    if (tn_str_is(text, "NaN") || tn_str_is(text, "Infinity") || tn_str_is(text, "-Infinity")) {
        n->seen |= SEEN_WORD;
        tn_text_guess_add(&n->numbers, text);
    } else if (time && (n->seen & SEEN_TEXT) == 0) {
        n->seen |= SEEN_TIME;
        tn_text_guess_add(&n->times, text);
    } else {
        n->seen |= SEEN_TEXT;
    }
}

static int add_value(tarn_cx *cx, tn_ndjson_guess *guess, node *n, tn_ndjson_scan *scan)
{
    uint8_t c = tn_ndjson_scan_peek(scan);
    bool escaped;
    tn_str text;

    switch (c) {
    case '{':
        return add_object(cx, guess, n, scan);
    case '[':
        return add_array(cx, guess, n, scan);
    case '"':
        if (tn_ndjson_scan_string(scan, &text, &escaped))
            add_text(n, text, escaped);
        break;
    case 't':
    case 'f':
        n->seen |= SEEN_BOOL;
        tn_ndjson_scan_word(scan);
        break;
    case 'n':
        tn_ndjson_scan_word(scan);
        break;
    default:
        n->seen |= SEEN_NUMBER;
        if (tn_ndjson_scan_number(scan, &text))
            tn_text_guess_add(&n->numbers, text);
    }
    return TARN_OK;
}

int tn_ndjson_guess_add(tarn_cx *cx, tn_ndjson_guess *guess, tn_str record)
{
    tn_ndjson_scan scan = tn_ndjson_scan_over(record), start;
    tn_str whole;

    tn_ndjson_scan_space(&scan);
    start = scan;
    if (tn_ndjson_scan_peek(&scan) != '{' || !tn_ndjson_scan_value(&scan, 0, &whole))
        return TARN_OK;
    tn_ndjson_scan_space(&scan);
    return scan.at == scan.end ? add_object(cx, guess, &guess->root, &start) : TARN_OK;
}

/* The format of a scalar; a nested one says only which. */
static const char *format_of(const node *n, bool nulls)
{
    const char *format;

    switch (n->seen) {
    case 0:
        return nulls ? "n" : "u";
    case SEEN_BOOL:
        return "b";
    case SEEN_NUMBER:
    case SEEN_NUMBER | SEEN_WORD:
        return nulls && tn_text_guess_small(&n->numbers) ? "i" : tn_text_guess_format(&n->numbers);
    case SEEN_TIME:
        format = tn_text_guess_format(&n->times);
        return format[0] == 't' ? format : "u";
    case SEEN_OBJECT:
        return n->count != 0 ? "+s" : "u";
    case SEEN_ARRAY:
        return "+l";
    default:
        return "u";
    }
}

static int make_field(tarn_cx *cx, const node *n, bool nulls, struct ArrowSchema *out)
{
    const char *format = format_of(n, nulls);
    bool group = strcmp(format, "+s") == 0, list = strcmp(format, "+l") == 0;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, format, n->name, true, group ? n->count : list ? 1 : 0));
    for (size_t i = 0; group && i < n->count; i++)
        TN_TRY(make_field(cx, n->fields[i], nulls, out->children[i]));
    if (list)
        TN_TRY(make_field(cx, n->element, nulls, out->children[0]));
done:
    return rc;
}

int tn_ndjson_guess_schema(tarn_cx *cx, const tn_ndjson_guess *guess, bool nulls,
                           struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, guess->root.count));
    for (size_t i = 0; i < guess->root.count; i++)
        TN_TRY(make_field(cx, guess->root.fields[i], nulls, made.children[i]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}
