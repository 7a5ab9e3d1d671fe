/* Columns as people write them, as an Arrow schema.
 * I1: what is not understood is INVALID, with the position and what there is to choose from. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "batch/field.h"
#include "op/write_op.h"

#define SCHEMA_DEPTH_MAX  32
#define SCHEMA_BYTES_MAX  (1u << 20)
#define SCHEMA_FIELDS_MAX 10000

static const struct {
    const char *word, *format;
} words[] = {
    {"boolean", "b"},
    {"bool", "b"},
    {"tinyint", "c"},
    {"int8", "c"},
    {"smallint", "s"},
    {"int16", "s"},
    {"int", "i"},
    {"integer", "i"},
    {"int32", "i"},
    {"bigint", "l"},
    {"long", "l"},
    {"int64", "l"},
    {"uint8", "C"},
    {"uint16", "S"},
    {"uint32", "I"},
    {"uint64", "L"},
    {"float", "f"},
    {"real", "f"},
    {"float32", "f"},
    {"double", "g"},
    {"float64", "g"},
    {"string", "u"},
    {"varchar", "u"},
    {"text", "u"},
    {"binary", "z"},
    {"date", "tdD"},
    {"timestamp", "tsu:"},
    {"timestamp_ntz", "tsu:"},
    {"timestamptz", "tsu:UTC"},
    {"timestamp_ltz", "tsu:UTC"},
};

typedef struct parser {
    tarn_cx *cx;
    tn_str text;
    size_t at;
    unsigned depth;
} parser;

/* One field read, in a list that grows. */
typedef struct fields {
    struct ArrowSchema *items;
    size_t count, cap;
} fields;

static void fields_clear(fields *list)
{
    for (size_t i = 0; i < list->count; i++)
        tn_field_release(&list->items[i]);
    free(list->items);
    *list = (fields){0};
}

static int expected(parser *p, const char *what)
{
    tn_str rest = tn_str_from(p->text, p->at);

    rest.len = rest.len < 24 ? rest.len : 24;
    if (rest.len == 0)
        return tn_fail(p->cx, TARN_E_INVALID, "schema: it ends where %s should follow", what);
    return tn_fail(p->cx, TARN_E_INVALID, "schema: at byte %zu, \"%.*s\": expected %s", p->at + 1,
                   TN_STR_ARG(rest), what);
}

static char peek(const parser *p)
{
    return p->at < p->text.len ? p->text.ptr[p->at] : '\0';
}

/* Passes over blanks and comments; new lines only where `lines`. */
static void skip(parser *p, bool lines)
{
    for (; p->at < p->text.len; p->at++) {
        char c = p->text.ptr[p->at];

        if (c == '#') {
            p->at += tn_str_find(tn_str_from(p->text, p->at), '\n');
            if (!lines || p->at >= p->text.len)
                return;
        } else if (!(c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))) {
            return;
        }
    }
}

static bool take(parser *p, char c)
{
    skip(p, p->depth > 0);
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

static tn_str take_word(parser *p)
{
    size_t from = p->at;

    while (p->at < p->text.len &&
           (isalnum((unsigned char)p->text.ptr[p->at]) || p->text.ptr[p->at] == '_'))
        p->at++;
    return (tn_str){p->text.ptr + from, p->at - from};
}

static bool same_word(tn_str word, const char *lower)
{
    if (word.len != strlen(lower))
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (tolower((unsigned char)word.ptr[i]) != lower[i])
            return false;
    return true;
}

static int take_digits(parser *p, long max, long *out)
{
    long value = 0;

    skip(p, true);
    if (!isdigit((unsigned char)peek(p)))
        return expected(p, "a number");
    while (isdigit((unsigned char)peek(p))) {
        value = value * 10 + (p->text.ptr[p->at++] - '0');
        if (value > max)
            return tn_fail(p->cx, TARN_E_INVALID,
                           "schema: at byte %zu: a number beyond the most there can be, %ld", p->at,
                           max);
    }
    *out = value;
    return TARN_OK;
}

/* decimal, decimal(p), decimal(p,s) */
static int decimal_format(parser *p, char format[48])
{
    long precision = 10, scale = 0;
    int rc = TARN_OK;

    if (take(p, '(')) {
        TN_TRY(take_digits(p, 76, &precision));
        if (take(p, ','))
            TN_TRY(take_digits(p, 76, &scale));
        if (!take(p, ')'))
            TN_TRY(expected(p, "\")\" after the digits of a decimal"));
    }
    if (precision < 1 || scale > precision) {
        struct tarn_cx *cx = p->cx;

        TN_FAIL(TARN_E_INVALID,
                "schema: decimal(%ld,%ld): there are 1 to 76 digits, and no more of them after the "
                "point than in all",
                precision, scale);
    }
    snprintf(format, 48, precision > 38 ? "d:%ld,%ld,256" : "d:%ld,%ld", precision, scale);
done:
    return rc;
}

/* What may follow "timestamp": [us], [ns, UTC] */
static int timestamp_format(parser *p, char format[48])
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    static const char letters[] = "smun";
    int unit = -1, rc = TARN_OK;
    bool utc = false;
    tn_str word;

    if (!take(p, '['))
        return TARN_OK;
    skip(p, true);
    word = take_word(p);
    for (int i = 0; i < 4; i++)
        if (tn_str_is(word, units[i]))
            unit = i;
    if (unit < 0)
        TN_TRY(expected(p, "a unit: s, ms, us or ns"));
    if (take(p, ',')) {
        skip(p, true);
        utc = same_word(take_word(p), "utc");
        if (!utc)
            TN_TRY(expected(p, "\"UTC\": times are stored in it or without a zone"));
    }
    if (!take(p, ']'))
        TN_TRY(expected(p, "\"]\""));
    snprintf(format, 48, "ts%c:%s", letters[unit], utc ? "UTC" : "");
done:
    return rc;
}

static int simple_format(parser *p, tn_str word, size_t began, char format[48])
{
    long length;
    int rc = TARN_OK;

    if (same_word(word, "decimal") || same_word(word, "numeric"))
        return decimal_format(p, format);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!same_word(word, words[i].word))
            continue;
        strcpy(format, words[i].format);
        if (same_word(word, "timestamp"))
            return timestamp_format(p, format);
        /* The length of a varchar bounds nothing here. */
        if (same_word(word, "varchar") && take(p, '(')) {
            TN_TRY(take_digits(p, 2147483647, &length));
            if (!take(p, ')'))
                TN_TRY(expected(p, "\")\""));
        }
        return TARN_OK;
    }
    p->at = began;
    rc = expected(p, "a type: int, bigint, double, string, date, timestamp, timestamptz, "
                     "decimal(p,s), boolean, binary, array<…>, map<…,…> or struct<…>");
done:
    return rc;
}

static int parse_type(parser *p, tn_str name, struct ArrowSchema *out);
static int parse_fields(parser *p, char end, fields *list);

static int open_bracket(parser *p)
{
    if (!take(p, '<'))
        return expected(p, "\"<\"");
    if (++p->depth > SCHEMA_DEPTH_MAX)
        return tn_fail(p->cx, TARN_E_LIMIT, "schema: nested deeper than %d", SCHEMA_DEPTH_MAX);
    return TARN_OK;
}

static int close_bracket(parser *p)
{
    if (!take(p, '>'))
        return expected(p, "\">\"");
    p->depth--;
    return TARN_OK;
}

static int parse_list(parser *p, tn_str name, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    tarn_cx *cx = p->cx;
    int rc = TARN_OK;

    TN_TRY(open_bracket(p));
    TN_TRY(tn_field_init(cx, &made, "+l", name, true, 1));
    TN_TRY(parse_type(p, TN_STR("element"), made.children[0]));
    TN_TRY(close_bracket(p));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

static int parse_map(parser *p, tn_str name, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    tarn_cx *cx = p->cx;
    int rc = TARN_OK;

    TN_TRY(open_bracket(p));
    TN_TRY(tn_field_init(cx, &made, "+m", name, true, 1));
    TN_TRY(tn_field_init(cx, made.children[0], "+s", TN_STR("key_value"), false, 2));
    TN_TRY(parse_type(p, TN_STR("key"), made.children[0]->children[0]));
    made.children[0]->children[0]->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    if (!take(p, ','))
        TN_TRY(expected(p, "\",\" between the types of keys and values"));
    TN_TRY(parse_type(p, TN_STR("value"), made.children[0]->children[1]));
    TN_TRY(close_bracket(p));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

/* A struct of the fields of a list, which are moved. */
static int make_struct(tarn_cx *cx, tn_str name, bool nullable, fields *list,
                       struct ArrowSchema *out)
{
    int rc = tn_field_init(cx, out, "+s", name, nullable, list->count);

    for (size_t i = 0; rc == TARN_OK && i < list->count; i++)
        tn_field_move(&list->items[i], out->children[i]);
    return rc;
}

static int parse_struct(parser *p, tn_str name, struct ArrowSchema *out)
{
    fields list = {0};
    tarn_cx *cx = p->cx;
    int rc = TARN_OK;

    TN_TRY(open_bracket(p));
    TN_TRY(parse_fields(p, '>', &list));
    TN_TRY(close_bracket(p));
    TN_TRY(make_struct(cx, name, true, &list, out));
done:
    fields_clear(&list);
    return rc;
}

static int parse_type(parser *p, tn_str name, struct ArrowSchema *out)
{
    char format[48] = "";
    size_t began;
    tn_str word;
    int rc;

    skip(p, p->depth > 0);
    began = p->at;
    word = take_word(p);
    if (same_word(word, "array") || same_word(word, "list"))
        return parse_list(p, name, out);
    if (same_word(word, "map"))
        return parse_map(p, name, out);
    if (same_word(word, "struct"))
        return parse_struct(p, name, out);
    rc = simple_format(p, word, began, format);
    return rc == TARN_OK ? tn_field_init(p->cx, out, format, name, true, 0) : rc;
}

static int parse_name(parser *p, tn_str *out)
{
    char quote = peek(p);
    size_t from = p->at, n;

    if (quote == '`' || quote == '"') {
        n = tn_str_find(tn_str_from(p->text, from + 1), quote);
        if (from + 1 + n >= p->text.len)
            return expected(p, "a name that its quote also ends");
        *out = (tn_str){p->text.ptr + from + 1, n};
        p->at = from + n + 2;
        return n != 0 ? TARN_OK : expected(p, "a name that is not empty");
    }
    while (p->at < p->text.len && strchr(" \t\r\n:,<>#", p->text.ptr[p->at]) == NULL)
        p->at++;
    *out = (tn_str){p->text.ptr + from, p->at - from};
    return out->len != 0 ? TARN_OK : expected(p, "a column as name:type");
}

/* "not null" or nothing. */
static int parse_not_null(parser *p, struct ArrowSchema *field)
{
    size_t before;

    skip(p, p->depth > 0);
    before = p->at;
    if (!same_word(take_word(p), "not")) {
        p->at = before;
        return TARN_OK;
    }
    skip(p, p->depth > 0);
    if (!same_word(take_word(p), "null"))
        return expected(p, "\"null\" after \"not\"");
    field->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    return TARN_OK;
}

static int add_field(parser *p, fields *list)
{
    tarn_cx *cx = p->cx;
    tn_str name;
    int rc = TARN_OK;

    if (list->count == SCHEMA_FIELDS_MAX)
        TN_FAIL(TARN_E_LIMIT, "schema: more than %d columns", SCHEMA_FIELDS_MAX);
    TN_TRY(tn_grow(cx, &list->items, list->count, &list->cap, sizeof *list->items));
    TN_TRY(parse_name(p, &name));
    for (size_t i = 0; i < list->count; i++)
        if (tn_str_equal(tn_str_of(list->items[i].name), name))
            TN_FAIL(TARN_E_INVALID, "schema: the column \"%.*s\" is there twice", TN_STR_ARG(name));
    (void)take(p, ':');
    list->items[list->count] = (struct ArrowSchema){0};
    TN_TRY(parse_type(p, name, &list->items[list->count]));
    list->count++;
    TN_TRY(parse_not_null(p, &list->items[list->count - 1]));
done:
    return rc;
}

static int parse_fields(parser *p, char end, fields *list)
{
    int rc = TARN_OK;

    for (;;) {
        bool comma;

        skip(p, true);
        TN_TRY(add_field(p, list));
        skip(p, end != '\0');
        comma = peek(p) == ',' || (end == '\0' && peek(p) == '\n');
        p->at += comma;
        skip(p, true);
        if (peek(p) == end && (p->at >= p->text.len || end != '\0'))
            return TARN_OK;
        if (!comma)
            TN_TRY(expected(p, "\",\" or the end"));
    }
done:
    return rc;
}

int tn_write_schema_parse(tarn_cx *cx, tn_str text, struct ArrowSchema *out)
{
    parser p = {.cx = cx, .text = text};
    struct ArrowSchema made = {0};
    fields list = {0};
    int rc = TARN_OK;

    if (text.len > SCHEMA_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "schema: a text of more than %u bytes", SCHEMA_BYTES_MAX);
    if (text.len != 0 && memchr(text.ptr, '\0', text.len) != NULL)
        TN_FAIL(TARN_E_INVALID, "schema: a text with a NUL byte in it");
    TN_TRY(parse_fields(&p, '\0', &list));
    TN_TRY(make_struct(cx, TN_STR(""), false, &list, &made));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    fields_clear(&list);
    return rc;
}

int tn_write_schema_of(tarn_cx *cx, const char *option, struct ArrowSchema *out)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_buf text = {0};
    tn_str path;
    int rc = TARN_OK;

    if (option[0] != '@') {
        rc = tn_write_schema_parse(cx, tn_str_of(option), out);
        goto done;
    }
    TN_TRY(tn_store_locate(cx, tn_str_of(option + 1), &arena, &store, &path));
    TN_TRY(tn_store_get(cx, store, path, SCHEMA_BYTES_MAX, &text));
    rc = tn_write_schema_parse(cx, tn_buf_view(&text), out);
    if (rc != TARN_OK)
        rc = tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(path));
done:
    tn_buf_clear(&text);
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}
