/* Parses records into builders: the grammar of JSON, followed through the types of the columns.
 *
 *   {"id":7,"tags":["a","b"],"at":{"x":1.5}}
 *    field  list of text      struct
 *
 * I1: a record appends one value to every column, or is bad; then its reader drops what it
 * appended. I2: no key is lost silently. Where the columns were inferred, one that first appears
 * after the sample makes its record bad; where they were given, it is left out and reported once.
 * I3: a key that comes twice in an object makes its record bad: readers differ in which one wins.
 *     (Keys of a map are data, and stay as they come.)
 * I4: parsing goes no deeper than the schema, whose depth meets TN_JSON_DEPTH_MAX. */
#include "codec/ndjson/ndjson_parse.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "batch/format.h"
#include "batch/type.h"
#include "batch/unify.h"

/* Keys of other case, or left out, whose field is kept in mind. */
#define LOOSE_KEYS_MAX 1024
#define NO_FIELD       SIZE_MAX
#define BYTES_FOLLOW   "bytes follow the object, and a record is one"
/* Of a value, in a message. */
#define SHOWN_BYTES_MAX 60

/* A record that does not fit: TARN_E_INVALID with its reason in the reader, none in the context. */
__attribute__((format(printf, 2, 3))) static int bad(tn_ndjson_parser *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(p->why, sizeof p->why, format, args);
    va_end(args);
    /* A message is one line, whatever the value holds. */
    for (char *at = p->why; *at != '\0'; at++)
        *at = (uint8_t)*at < 0x20 || *at == 0x7F ? '?' : *at;
    return TARN_E_INVALID;
}

/* A value that its builder refused. */
static int bad_value(tn_ndjson_parser *p, const tn_ndjson_node *n, const char *why)
{
    p->inferred = n->strict;
    return bad(p, "%s", why);
}

/* A value of another kind than the column's; shown cut between characters. */
static int wants(tn_ndjson_parser *p, const tn_ndjson_node *n, tn_str value)
{
    const char *more = value.len > SHOWN_BYTES_MAX ? "…" : "";
    char type[128];
    tn_buf name = {0};

    while (value.len > SHOWN_BYTES_MAX ||
           (*more != '\0' && value.len > 0 && ((uint8_t)value.ptr[value.len] & 0xC0) == 0x80))
        value.len--;
    tn_type_print(&name, tn_build_schema(n->build));
    snprintf(type, sizeof type, "%.*s", (int)name.len, name.len != 0 ? (char *)name.data : "");
    tn_buf_clear(&name);
    p->inferred = n->strict;
    return bad(p, "%.*s%s stands where the column has %s", TN_STR_ARG(value), more, type);
}

static int parse_value(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n);

/* The text of a string just scanned. */
static int text_of(tarn_cx *cx, tn_str raw, bool escaped, tn_buf *buffer, tn_str *out)
{
    *out = raw;
    if (!escaped)
        return TARN_OK;
    tn_buf_reset(buffer);
    tn_ndjson_scan_unescape(raw, buffer);
    *out = tn_buf_view(buffer);
    return tn_buf_check(cx, buffer);
}

/* Asks the schema without regard to case, and keeps the answer; NO_FIELD: there is none. */
static int find_loosely(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n, tn_str key,
                        size_t *out)
{
    int64_t child = tn_unify_child(tn_build_schema(n->build), key);
    size_t *place;
    bool added;
    int rc = TARN_OK;

    *out = child >= 0 ? (size_t)child : NO_FIELD;
    if (n->names.count >= n->count + LOOSE_KEYS_MAX)
        return TARN_OK;
    TN_TRY(tn_arena_keep(cx, &p->arena, &key));
    place = tn_map_add(cx, &n->names, key, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = *out;
done:
    return rc;
}

/* The field of a key; NULL: none. */
static int find_field(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n, tn_str key,
                      tn_ndjson_node **out)
{
    size_t *place, found = NO_FIELD;
    int rc = TARN_OK;

    if (n->guess < n->count && tn_str_equal(n->children[n->guess].name, key)) {
        *out = &n->children[n->guess++];
        return TARN_OK;
    }
    place = tn_map_find(&n->names, key);
    if (place != NULL)
        found = *place;
    else if (n->loose)
        TN_TRY(find_loosely(cx, p, n, key, &found));
    *out = found != NO_FIELD ? &n->children[found] : NULL;
    n->guess = found != NO_FIELD ? found + 1 : n->guess;
done:
    return rc;
}

void tn_ndjson_parser_path(const tn_ndjson_parser *p, tn_str last, tn_buf *out)
{
    for (size_t i = 0; i < p->depth; i++) {
        if (out->len != 0 && !tn_str_is(p->path[i], "[]"))
            tn_buf_u8(out, '.');
        tn_buf_str(out, p->path[i]);
    }
    if (last.ptr != NULL) {
        if (out->len != 0)
            tn_buf_u8(out, '.');
        tn_buf_str(out, last);
    }
}

/* Keeps a key that is left out, the first time. */
static int note_left_out(tarn_cx *cx, tn_ndjson_parser *p, tn_str key)
{
    tn_buf path = {0};
    tn_str kept;
    bool added;
    int rc = TARN_OK;

    if (p->options->warn == NULL || p->left_count == TN_NDJSON_LEFT_MAX)
        return TARN_OK;
    tn_ndjson_parser_path(p, key, &path);
    TN_TRY(tn_buf_check(cx, &path));
    kept = tn_buf_view(&path);
    if (tn_map_find(&p->seen_left, kept) != NULL)
        goto done;
    TN_TRY(tn_arena_keep(cx, &p->arena, &kept));
    if (tn_map_add(cx, &p->seen_left, kept, &added) == NULL)
        TN_TRY(TARN_E_NOMEM);
    p->left[p->left_count++] = (tn_ndjson_left){kept, p->line};
done:
    tn_buf_clear(&path);
    return rc;
}

/* A sample learns nothing of a record that is no JSON, so all its keys are unknown: what is told of
 * it is what is wrong with it. */
static int check_whole(tn_ndjson_parser *p)
{
    tn_ndjson_scan scan = tn_ndjson_scan_over(p->record);
    tn_str value;
    bool good = tn_ndjson_scan_value(&scan, 0, &value);

    if (good) {
        tn_ndjson_scan_space(&scan);
        good = scan.at == scan.end;
        scan.why = BYTES_FOLLOW;
    }
    if (good)
        return TARN_OK;
    p->scan = scan;
    p->depth = 0;
    return TARN_E_CORRUPT;
}

/* The value of a key that is no column. */
static int pass_over(tarn_cx *cx, tn_ndjson_parser *p, const tn_ndjson_node *n, tn_str key)
{
    tn_str value;
    int rc = TARN_OK;

    if (n->closed)
        p->path[p->depth++] = key;
    if (!tn_ndjson_scan_value(&p->scan, (int)p->depth, &value))
        return TARN_E_CORRUPT;
    if (n->closed) {
        TN_TRY(check_whole(p));
        return bad(p, "this key first appears after the sample that the columns were made of");
    }
    TN_TRY(note_left_out(cx, p, key));
done:
    return rc;
}

static int put_null(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    const char *why = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_build_null(cx, n->build, &why));
    if (why != NULL)
        return bad_value(p, n, why);
done:
    return rc;
}

static int put_nested(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n, int64_t count)
{
    const char *why = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_build_nested(cx, n->build, count, &why));
    if (why != NULL)
        return bad_value(p, n, why);
done:
    return rc;
}

/* Nulls for the fields that the object lacked. */
static int put_missing(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < n->count; i++) {
        const char *why = NULL;

        if (n->children[i].taken == n->turn)
            continue;
        TN_TRY(tn_build_null(cx, n->children[i].build, &why));
        if (why != NULL) {
            p->path[p->depth++] = n->children[i].name;
            return bad(p, "the key is missing, and %s", why);
        }
    }
done:
    return rc;
}

/* One key and its value. TARN_E_CORRUPT: no JSON, see the scan. */
static int parse_field(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n, size_t *taken)
{
    bool escaped;
    tn_ndjson_node *field;
    tn_str key;
    int rc = TARN_OK;

    if (!tn_ndjson_scan_key(&p->scan, &key, &escaped))
        return TARN_E_CORRUPT;
    TN_TRY(text_of(cx, key, escaped, &p->key, &key));
    TN_TRY(find_field(cx, p, n, key, &field));
    if (field == NULL)
        return pass_over(cx, p, n, key);
    p->path[p->depth++] = field->name;
    if (field->taken == n->turn)
        return bad(p, "the key comes twice in one object");
    field->taken = n->turn;
    ++*taken;
    TN_TRY(parse_value(cx, p, field));
    p->depth--;
done:
    return rc;
}

static int parse_struct(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    bool more = tn_ndjson_scan_first(&p->scan, '}');
    size_t taken = 0;
    int rc = TARN_OK;

    n->turn++;
    n->guess = 0;
    while (more) {
        TN_TRY(parse_field(cx, p, n, &taken));
        if (!tn_ndjson_scan_next(&p->scan, '}', &more))
            return TARN_E_CORRUPT;
    }
    if (taken < n->count)
        TN_TRY(put_missing(cx, p, n));
    TN_TRY(put_nested(cx, p, n, 1));
done:
    return rc;
}

static int parse_list(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    bool more = tn_ndjson_scan_first(&p->scan, ']');
    int64_t count = 0;
    int rc = TARN_OK;

    p->path[p->depth++] = TN_STR("[]");
    for (; more; count++) {
        TN_TRY(parse_value(cx, p, &n->children[0]));
        if (!tn_ndjson_scan_next(&p->scan, ']', &more))
            return TARN_E_CORRUPT;
    }
    p->depth--;
    TN_TRY(put_nested(cx, p, n, count));
done:
    return rc;
}

static int parse_map(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    bool more = tn_ndjson_scan_first(&p->scan, '}'), escaped;
    int64_t count = 0;
    int rc = TARN_OK;

    p->path[p->depth++] = TN_STR("[]");
    for (; more; count++) {
        const char *why = NULL;
        tn_str raw, key;

        if (!tn_ndjson_scan_key(&p->scan, &raw, &escaped))
            return TARN_E_CORRUPT;
        TN_TRY(text_of(cx, raw, escaped, &p->key, &key));
        TN_TRY(tn_build_text(cx, n->children[0].build, key, &why));
        if (why != NULL)
            return bad(p, "%s", why);
        TN_TRY(parse_value(cx, p, &n->children[1]));
        if (!tn_ndjson_scan_next(&p->scan, '}', &more))
            return TARN_E_CORRUPT;
    }
    p->depth--;
    TN_TRY(put_nested(cx, p, n, count));
done:
    return rc;
}

static bool is_real_word(tn_str text)
{
    return tn_str_is(text, "NaN") || tn_str_is(text, "Infinity") || tn_str_is(text, "-Infinity");
}

/* A value by its text, or why it does not fit. */
static int put_text(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n, tn_str text)
{
    const char *why = NULL;
    int rc = tn_build_text(cx, n->build, text, &why);

    return rc == TARN_OK && why != NULL ? bad_value(p, n, why) : rc;
}

static int parse_string(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    bool escaped;
    tn_str text;
    int rc = TARN_OK;

    if (!tn_ndjson_scan_string(&p->scan, &text, &escaped))
        return TARN_E_CORRUPT;
    TN_TRY(text_of(cx, text, escaped, &p->text, &text));
    if (n->shape >= TN_NDJSON_STRUCT)
        return wants(p, n, text);
    /* Where numbers were seen, digits in quotes are another thing: they may have leading zeros. */
    if (n->strict && n->shape != TN_NDJSON_TEXT && n->shape != TN_NDJSON_QUOTED &&
        !(n->shape == TN_NDJSON_REAL && is_real_word(text)))
        return wants(p, n, text);
    rc = put_text(cx, p, n, text);
done:
    return rc;
}

/* A value that is neither text, null nor fits the column's nesting: in a column of text its JSON.
 */
static int put_json(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    tn_str text;

    if (!tn_ndjson_scan_value(&p->scan, (int)p->depth, &text))
        return TARN_E_CORRUPT;
    if (n->shape != TN_NDJSON_TEXT)
        return wants(p, n, text);
    return put_text(cx, p, n, text);
}

/* An integer that no double equals. */
static bool is_rounded(tn_str text)
{
    uint64_t value = 0;
    size_t at = text.ptr[0] == '-';

    if (text.len - at <= 15)
        return false;
    for (; at < text.len; at++) {
        unsigned digit = (unsigned)(uint8_t)text.ptr[at] - '0';

        if (digit > 9)
            return false; /* a fraction or an exponent: no integer by its looks */
        if (value > (UINT64_MAX - digit) / 10)
            return true;
        value = value * 10 + digit;
    }
    return value > 1ull << 63 || (uint64_t)(double)value != value;
}

static int parse_number(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    tn_str text;

    if (!tn_ndjson_scan_number(&p->scan, &text))
        return TARN_E_CORRUPT;
    if (n->shape >= TN_NDJSON_STRUCT || n->shape == TN_NDJSON_BOOL || n->shape == TN_NDJSON_QUOTED)
        return wants(p, n, text);
    if (n->strict && n->shape == TN_NDJSON_REAL && is_rounded(text))
        return bad_value(p, n, "an integer that a double would round");
    return put_text(cx, p, n, text);
}

static int parse_bool(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    const char *why = NULL;
    bool value = *p->scan.at == 't';
    int rc = TARN_OK;

    if (n->shape != TN_NDJSON_BOOL)
        return put_json(cx, p, n);
    if (!tn_ndjson_scan_word(&p->scan))
        return TARN_E_CORRUPT;
    TN_TRY(tn_build_bool(cx, n->build, value, &why));
    if (why != NULL)
        return bad_value(p, n, why);
done:
    return rc;
}

static int parse_value(tarn_cx *cx, tn_ndjson_parser *p, tn_ndjson_node *n)
{
    switch (tn_ndjson_scan_peek(&p->scan)) {
    case '"':
        return parse_string(cx, p, n);
    case '{':
        return n->shape == TN_NDJSON_STRUCT ? parse_struct(cx, p, n)
               : n->shape == TN_NDJSON_MAP  ? parse_map(cx, p, n)
                                            : put_json(cx, p, n);
    case '[':
        return n->shape == TN_NDJSON_LIST ? parse_list(cx, p, n) : put_json(cx, p, n);
    case 't':
    case 'f':
        return parse_bool(cx, p, n);
    case 'n':
        return tn_ndjson_scan_word(&p->scan) ? put_null(cx, p, n) : TARN_E_CORRUPT;
    default:
        return parse_number(cx, p, n);
    }
}

static int bad_json(tn_ndjson_parser *p, tn_str record)
{
    assert(p->scan.why != NULL);
    return bad(p, "byte %zu of the record: %s",
               (size_t)(p->scan.at - (const uint8_t *)record.ptr) + 1, p->scan.why);
}

int tn_ndjson_parser_record(tarn_cx *cx, tn_ndjson_parser *p, tn_str record, uint64_t line)
{
    int rc;

    p->line = line;
    p->depth = 0;
    p->inferred = false;
    p->record = record;
    p->scan = tn_ndjson_scan_over(record);
    tn_ndjson_scan_space(&p->scan);
    if (tn_ndjson_scan_peek(&p->scan) != '{')
        return bad(p, "a record is an object in braces, and this is none");
    rc = parse_struct(cx, p, &p->root);
    if (rc == TARN_OK) {
        tn_ndjson_scan_space(&p->scan);
        if (p->scan.at != p->scan.end) {
            p->scan.why = BYTES_FOLLOW;
            rc = TARN_E_CORRUPT;
        }
    }
    return rc == TARN_E_CORRUPT ? bad_json(p, record) : rc;
}

static int shape_of(tarn_cx *cx, const struct ArrowSchema *schema, enum tn_ndjson_shape *out)
{
    tn_format format;
    int rc = TARN_OK;

    TN_TRY(tn_format_parse(cx, schema->format, &format));
    switch (format.kind) {
    case TN_FORMAT_STRUCT:
        *out = TN_NDJSON_STRUCT;
        break;
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
    case TN_FORMAT_FIXED_LIST:
        *out = TN_NDJSON_LIST;
        break;
    case TN_FORMAT_MAP:
        *out = TN_NDJSON_MAP;
        break;
    case TN_FORMAT_BOOL:
        *out = TN_NDJSON_BOOL;
        break;
    case TN_FORMAT_UTF8:
    case TN_FORMAT_LARGE_UTF8:
        *out = TN_NDJSON_TEXT;
        break;
    case TN_FORMAT_HALF:
    case TN_FORMAT_FLOAT:
    case TN_FORMAT_DOUBLE:
        *out = TN_NDJSON_REAL;
        break;
    case TN_FORMAT_DATE32:
    case TN_FORMAT_DATE64:
    case TN_FORMAT_TIME32:
    case TN_FORMAT_TIME64:
    case TN_FORMAT_TIMESTAMP:
    case TN_FORMAT_BINARY:
    case TN_FORMAT_LARGE_BINARY:
    case TN_FORMAT_FIXED_BINARY:
        *out = TN_NDJSON_QUOTED;
        break;
    default:
        *out = TN_NDJSON_SCALAR;
    }
done:
    return rc;
}

/* How many columns, from the first on, have a type that was asked for. */
static size_t given_columns(const tn_text_read_options *options)
{
    if (options->schema == NULL)
        return 0;
    return options->schema_inferred ? options->schema_given : (size_t)options->schema->n_children;
}

static int make_node(tarn_cx *cx, tn_ndjson_parser *p, tn_build *build, bool inferred, int depth,
                     tn_ndjson_node *out);

static int make_children(tarn_cx *cx, tn_ndjson_parser *p, int depth, tn_ndjson_node *n)
{
    int rc = TARN_OK;

    n->children = tn_arena_array(cx, &p->arena, n->count + 1, sizeof(tn_ndjson_node));
    if (n->children == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < n->count; i++) {
        tn_ndjson_node *child = &n->children[i];
        bool added, inferred = depth == 0 ? i >= given_columns(p->options) : n->strict;
        size_t *place;

        TN_TRY(make_node(cx, p, tn_build_child(n->build, i), inferred, depth + 1, child));
        if (n->shape != TN_NDJSON_STRUCT)
            continue;
        place = tn_map_add(cx, &n->names, child->name, &added);
        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added)
            TN_FAIL(TARN_E_INVALID, "the schema has two columns \"%.*s\"", TN_STR_ARG(child->name));
        *place = i;
    }
done:
    return rc;
}

static int make_node(tarn_cx *cx, tn_ndjson_parser *p, tn_build *build, bool inferred, int depth,
                     tn_ndjson_node *out)
{
    const struct ArrowSchema *schema = tn_build_schema(build);
    int rc = TARN_OK;

    if (depth > TN_JSON_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "column \"%s\": nested deeper than %d levels", schema->name,
                TN_JSON_DEPTH_MAX);
    out->build = build;
    out->name = tn_str_of(schema->name);
    out->strict = out->closed = inferred;
    out->loose = !inferred;
    out->closed |= p->options->schema_inferred && p->options->schema_deep && p->maps == 0;
    TN_TRY(shape_of(cx, schema, &out->shape));
    out->count = out->shape == TN_NDJSON_MAP ? 2 : (size_t)schema->n_children;
    p->maps += out->shape == TN_NDJSON_MAP;
    TN_TRY(make_children(cx, p, depth, out));
    p->maps -= out->shape == TN_NDJSON_MAP;
done:
    return rc;
}

static void node_clear(tn_ndjson_node *n)
{
    tn_map_clear(&n->names);
    for (size_t i = 0; n->children != NULL && i < n->count; i++)
        node_clear(&n->children[i]);
}

int tn_ndjson_parser_init(tarn_cx *cx, tn_ndjson_parser *p, tn_build *build,
                          const tn_text_read_options *options)
{
    int rc = TARN_OK;

    p->options = options;
    TN_TRY(make_node(cx, p, build, false, 0, &p->root));
    p->root.closed = options->schema == NULL || options->schema_open || options->schema_inferred;
    p->root.loose = options->schema != NULL;
done:
    return rc;
}

void tn_ndjson_parser_clear(tn_ndjson_parser *p)
{
    node_clear(&p->root);
    tn_map_clear(&p->seen_left);
    tn_buf_clear(&p->text);
    tn_buf_clear(&p->key);
    tn_arena_clear(&p->arena);
}
