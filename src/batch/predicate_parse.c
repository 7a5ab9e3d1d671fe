/* Parses the text of a predicate (grammar: predicate.h).
 * I1: recursion is counted and bounded by TN_PREDICATE_DEPTH_MAX; chains of AND and OR do not nest.
 * I2: every failure names the byte (from 1) and what was expected there. */
#include "batch/predicate_tree.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/map.h"

enum token {
    T_END,
    T_NAME, /* bare or backticked; `text` is the name */
    T_WORD, /* double quotes */
    T_TEXT, /* single quotes */
    T_HEX,
    T_NUMBER,
    T_SYMBOL /* `symbol` */
};

typedef struct parser {
    tarn_cx *cx;
    tn_arena *arena;
    tn_str input;
    size_t at; /* after the current token */
    /* the current token */
    enum token token;
    size_t start;
    tn_str text;
    bool quoted; /* a backticked name is never a keyword */
    char symbol[3];
    unsigned depth;
} parser;

static int expected(parser *p, const char *what)
{
    size_t left = p->input.len - p->start;

    if (p->token == T_END)
        return tn_fail(p->cx, TARN_E_INVALID, "predicate: byte %zu: it ends where %s is expected",
                       p->start + 1, what);
    /* The date of `dt = 2024-05-01` reads as a number and a second one. */
    if (p->start > 0 && isdigit((unsigned char)p->input.ptr[p->start - 1]) && left > 1 &&
        p->input.ptr[p->start] == '-' && isdigit((unsigned char)p->input.ptr[p->start + 1]))
        return tn_fail(
            p->cx, TARN_E_INVALID,
            "predicate: byte %zu: %s is expected before \"%.*s\"; a date or time goes in "
            "quotes: '2024-05-12'",
            p->start + 1, what, (int)(left > 20 ? 20 : left), p->input.ptr + p->start);
    return tn_fail(p->cx, TARN_E_INVALID, "predicate: byte %zu: %s is expected before \"%.*s\"",
                   p->start + 1, what, (int)(left > 20 ? 20 : left), p->input.ptr + p->start);
}

static bool name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* A quoted run with its quote doubled inside; `at` is after the opening quote. */
static int lex_quoted(parser *p, char quote)
{
    const char *s = p->input.ptr;
    size_t n = 0, end = p->at;
    char *into;

    while (end < p->input.len &&
           (s[end] != quote || (end + 1 < p->input.len && s[end + 1] == quote)))
        end += s[end] == quote ? 2 : 1;
    if (end >= p->input.len)
        return tn_fail(p->cx, TARN_E_INVALID,
                       "predicate: byte %zu: the quote %c opened here is not closed", p->start + 1,
                       quote);
    into = tn_arena_take(p->cx, p->arena, end - p->at + 1);
    if (into == NULL)
        return TARN_E_NOMEM;
    for (size_t at = p->at; at < end; at += s[at] == quote ? 2 : 1)
        into[n++] = s[at];
    p->at = end + 1;
    p->text = (tn_str){into, n};
    return TARN_OK;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *hit = c != '\0' ? strchr(digits, tolower((unsigned char)c)) : NULL;

    return hit != NULL ? (int)(hit - digits) : -1;
}

static int lex_hex(parser *p)
{
    char *bytes;
    int rc = lex_quoted(p, '\'');

    if (rc != TARN_OK)
        return rc;
    bytes = (char *)p->text.ptr; /* just made by lex_quoted */
    for (size_t i = 0; i + 1 < p->text.len || i < p->text.len; i += 2) {
        int high = hex_digit(bytes[i]), low = i + 1 < p->text.len ? hex_digit(bytes[i + 1]) : -1;

        if (high < 0 || low < 0)
            return tn_fail(p->cx, TARN_E_INVALID,
                           "predicate: byte %zu: X'…' takes pairs of hexadecimal digits",
                           p->start + 1);
        bytes[i / 2] = (char)(high << 4 | low);
    }
    p->text.len /= 2;
    p->token = T_HEX;
    return TARN_OK;
}

/* digits [. digits] [e [+-] digits], with the sign the caller saw */
static int lex_number(parser *p)
{
    const char *s = p->input.ptr;
    size_t at = p->start, len = p->input.len, digits = 0;

    if (s[at] == '-' || s[at] == '+')
        at++;
    for (; at < len && isdigit((unsigned char)s[at]); at++)
        digits++;
    if (at < len && s[at] == '.')
        for (at++; at < len && isdigit((unsigned char)s[at]); at++)
            digits++;
    if (digits > 0 && at < len && (s[at] == 'e' || s[at] == 'E')) {
        size_t mark = at++;

        if (at < len && (s[at] == '-' || s[at] == '+'))
            at++;
        if (at >= len || !isdigit((unsigned char)s[at]))
            at = mark;
        while (at < len && isdigit((unsigned char)s[at]))
            at++;
    }
    if (digits == 0 || (at < len && name_byte(s[at])))
        return tn_fail(p->cx, TARN_E_INVALID,
                       "predicate: byte %zu: \"%.*s\" is not a number; put text in single quotes "
                       "and unusual names in `backticks`",
                       p->start + 1, (int)(len - p->start > 20 ? 20 : len - p->start),
                       s + p->start);
    p->token = T_NUMBER;
    p->text = (tn_str){s + p->start, at - p->start};
    p->at = at;
    return TARN_OK;
}

static int lex_symbol(parser *p)
{
    static const char *const two[] = {"==", "<>", "!=", "<=", ">="};
    const char *s = p->input.ptr + p->start;
    size_t left = p->input.len - p->start;

    p->token = T_SYMBOL;
    memset(p->symbol, 0, sizeof p->symbol);
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        if (left >= 2 && memcmp(s, two[i], 2) == 0) {
            memcpy(p->symbol, s, 2);
            p->at = p->start + 2;
            return TARN_OK;
        }
    if (s[0] == '\0' || strchr("=<>(),.", s[0]) == NULL)
        return expected(p, "a column, a value or an operator");
    p->symbol[0] = s[0];
    p->at = p->start + 1;
    return TARN_OK;
}

/* Moves to the next token. */
static int next(parser *p)
{
    const char *s = p->input.ptr;
    char c;
    int rc;

    while (p->at < p->input.len && isspace((unsigned char)s[p->at]))
        p->at++;
    p->start = p->at;
    p->quoted = false;
    p->text = (tn_str){NULL, 0};
    p->symbol[0] = '\0';
    if (p->at >= p->input.len) {
        p->token = T_END;
        return TARN_OK;
    }
    c = s[p->at];
    if (c == '\'' || c == '"' || c == '`') {
        p->at++;
        p->token = c == '\'' ? T_TEXT : c == '"' ? T_WORD : T_NAME;
        p->quoted = c == '`';
        rc = lex_quoted(p, c);
        if (rc == TARN_OK && p->token == T_NAME && p->text.len == 0)
            rc = expected(p, "a name between the backticks");
        return rc;
    }
    if ((c == 'x' || c == 'X') && p->at + 1 < p->input.len && s[p->at + 1] == '\'') {
        p->at += 2;
        return lex_hex(p);
    }
    if (isdigit((unsigned char)c) || c == '-' || c == '+' ||
        (c == '.' && p->at + 1 < p->input.len && isdigit((unsigned char)s[p->at + 1])))
        return lex_number(p);
    if (!name_byte(c))
        return lex_symbol(p);
    while (p->at < p->input.len && name_byte(s[p->at]))
        p->at++;
    p->token = T_NAME;
    p->text = (tn_str){s + p->start, p->at - p->start};
    return TARN_OK;
}

static bool is_keyword(const parser *p, const char *word)
{
    size_t len = strlen(word);

    if (p->token != T_NAME || p->quoted || p->text.len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (toupper((unsigned char)p->text.ptr[i]) != word[i])
            return false;
    return true;
}

static bool is_symbol(const parser *p, const char *symbol)
{
    return p->token == T_SYMBOL && strcmp(p->symbol, symbol) == 0;
}

static int take_keyword(parser *p, const char *word)
{
    return is_keyword(p, word) ? next(p) : expected(p, word);
}

static bool is_reserved(const parser *p)
{
    static const char *const words[] = {"AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_keyword(p, words[i]))
            return true;
    return false;
}

/* Appends to an arena array that doubles at powers of two; `array` points to the pointer. */
static int append(parser *p, void *array, size_t size, size_t count, const void *item)
{
    void *items;

    memcpy(&items, array, sizeof items);
    if ((count & (count - 1)) == 0) {
        void *more = tn_arena_array(p->cx, p->arena, count == 0 ? 1 : count * 2, size);

        if (more == NULL)
            return TARN_E_NOMEM;
        if (count > 0)
            memcpy(more, items, count * size);
        items = more;
        memcpy(array, &items, sizeof items);
    }
    memcpy((char *)items + count * size, item, size);
    return TARN_OK;
}

static int parse_name(parser *p, tn_operand *out)
{
    tarn_cx *cx = p->cx;
    int rc = TARN_OK;

    out->kind = TN_OPERAND_NAME;
    for (;;) {
        tn_str part = p->text;

        if (p->token != T_NAME && !(p->token == T_WORD && out->part_count > 0))
            return expected(p, "a field name");
        if (out->part_count >= TN_PREDICATE_DEPTH_MAX)
            TN_FAIL(TARN_E_LIMIT, "predicate: byte %zu: a name of more than %d parts", p->start + 1,
                    TN_PREDICATE_DEPTH_MAX);
        TN_TRY(append(p, &out->parts, sizeof part, out->part_count, &part));
        out->part_count++;
        TN_TRY(next(p));
        if (!is_symbol(p, "."))
            break;
        TN_TRY(next(p));
    }
done:
    return rc;
}

/* DATE '…' and TIMESTAMP '…' are the text: the column's type says how it is read. */
static int parse_typed_text(parser *p, tn_operand *out, bool *found)
{
    parser saved = *p;
    int rc = next(p);

    if (rc != TARN_OK)
        return rc;
    *found = p->token == T_TEXT;
    if (!*found) {
        *p = saved;
        return TARN_OK;
    }
    out->kind = TN_OPERAND_TEXT;
    out->text = p->text;
    return next(p);
}

static int parse_operand(parser *p, tn_operand *out)
{
    bool found = false;
    int rc = TARN_OK;

    *out = (tn_operand){.at = p->start};
    if (is_reserved(p))
        return expected(p, "a column or a value");
    if (is_keyword(p, "DATE") || is_keyword(p, "TIMESTAMP") || is_keyword(p, "TIME")) {
        TN_TRY(parse_typed_text(p, out, &found));
        if (found)
            return TARN_OK;
    }
    switch (p->token) {
    case T_NAME:
        if (is_keyword(p, "NULL"))
            out->kind = TN_OPERAND_NULL;
        else if (is_keyword(p, "TRUE") || is_keyword(p, "FALSE"))
            out->kind = TN_OPERAND_BOOL;
        else
            return parse_name(p, out);
        out->boolean = is_keyword(p, "TRUE");
        break;
    case T_WORD:
        out->kind = TN_OPERAND_WORD;
        out->text = p->text;
        TN_TRY(append(p, &out->parts, sizeof p->text, 0, &p->text));
        out->part_count = 1;
        TN_TRY(next(p));
        if (!is_symbol(p, "."))
            return TARN_OK;
        TN_TRY(next(p));
        return parse_name(p, out);
    case T_TEXT:
        out->kind = TN_OPERAND_TEXT;
        break;
    case T_HEX:
        out->kind = TN_OPERAND_HEX;
        break;
    case T_NUMBER:
        out->kind = TN_OPERAND_NUMBER;
        break;
    default:
        return expected(p, "a column or a value");
    }
    out->text = p->text;
    rc = next(p);
done:
    return rc;
}

static int make(parser *p, enum tn_predicate_kind kind, size_t operands, tn_predicate **out)
{
    tn_predicate *node = tn_arena_take(p->cx, p->arena, sizeof *node);

    if (node == NULL)
        return TARN_E_NOMEM;
    node->kind = kind;
    if (operands > 0) {
        node->operands = tn_arena_array(p->cx, p->arena, operands, sizeof *node->operands);
        if (node->operands == NULL)
            return TARN_E_NOMEM;
        node->operand_count = operands;
    }
    *out = node;
    return TARN_OK;
}

static int join(parser *p, enum tn_predicate_kind kind, tn_predicate *a, tn_predicate *b,
                tn_predicate **out)
{
    tn_predicate *node;
    int rc = TARN_OK;

    TN_TRY(make(p, kind, 0, &node));
    TN_TRY(append(p, &node->children, sizeof a, 0, &a));
    node->child_count = 1;
    if (b != NULL) {
        TN_TRY(append(p, &node->children, sizeof b, 1, &b));
        node->child_count = 2;
    }
    *out = node;
done:
    return rc;
}

static bool symbol_op(const parser *p, enum tn_compare *op)
{
    static const struct {
        const char *symbol;
        enum tn_compare op;
    } ops[] = {{"=", TN_EQ}, {"==", TN_EQ}, {"<>", TN_NE}, {"!=", TN_NE},
               {"<", TN_LT}, {"<=", TN_LE}, {">", TN_GT},  {">=", TN_GE}};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (is_symbol(p, ops[i].symbol)) {
            *op = ops[i].op;
            return true;
        }
    return false;
}

static int parse_in(parser *p, const tn_operand *subject, tn_predicate **out)
{
    tn_predicate *node = NULL;
    tn_operand operand;
    int rc = TARN_OK;

    TN_TRY(make(p, TN_PREDICATE_IN, 0, &node));
    TN_TRY(append(p, &node->operands, sizeof operand, 0, subject));
    node->operand_count = 1;
    if (!is_symbol(p, "("))
        return expected(p, "\"(\"");
    do {
        TN_TRY(next(p));
        TN_TRY(parse_operand(p, &operand));
        TN_TRY(append(p, &node->operands, sizeof operand, node->operand_count, &operand));
        node->operand_count++;
    } while (is_symbol(p, ","));
    if (!is_symbol(p, ")"))
        return expected(p, "\",\" or \")\"");
    TN_TRY(next(p));
    *out = node;
done:
    return rc;
}

static int make_compare(parser *p, enum tn_compare op, const tn_operand *a, const tn_operand *b,
                        tn_predicate **out)
{
    tn_predicate *node;
    int rc = make(p, TN_PREDICATE_COMPARE, 2, &node);

    if (rc != TARN_OK)
        return rc;
    node->op = op;
    node->operands[0] = *a;
    node->operands[1] = *b;
    *out = node;
    return TARN_OK;
}

static int parse_between(parser *p, const tn_operand *subject, tn_predicate **out)
{
    tn_operand low, high;
    tn_predicate *a, *b;
    int rc = TARN_OK;

    TN_TRY(parse_operand(p, &low));
    TN_TRY(take_keyword(p, "AND"));
    TN_TRY(parse_operand(p, &high));
    TN_TRY(make_compare(p, TN_GE, subject, &low, &a));
    TN_TRY(make_compare(p, TN_LE, subject, &high, &b));
    TN_TRY(join(p, TN_PREDICATE_AND, a, b, out));
done:
    return rc;
}

static int parse_like(parser *p, const tn_operand *subject, tn_predicate **out)
{
    tn_predicate *node = NULL;
    int rc = TARN_OK;

    if (p->token != T_TEXT && p->token != T_WORD)
        return expected(p, "a pattern in single quotes");
    TN_TRY(make(p, TN_PREDICATE_LIKE, 2, &node));
    node->operands[0] = *subject;
    node->operands[1] = (tn_operand){.kind = TN_OPERAND_TEXT, .at = p->start, .text = p->text};
    TN_TRY(next(p));
    *out = node;
done:
    return rc;
}

static int parse_is(parser *p, const tn_operand *subject, tn_predicate **out)
{
    tn_predicate *node = NULL;
    bool negated;
    int rc = TARN_OK;

    TN_TRY(next(p));
    negated = is_keyword(p, "NOT");
    if (negated)
        TN_TRY(next(p));
    TN_TRY(take_keyword(p, "NULL"));
    TN_TRY(make(p, TN_PREDICATE_IS_NULL, 1, &node));
    node->operands[0] = *subject;
    if (negated)
        TN_TRY(join(p, TN_PREDICATE_NOT, node, NULL, &node));
    *out = node;
done:
    return rc;
}

/* IN, BETWEEN, LIKE after an optional NOT that has been taken. */
static int parse_tail(parser *p, const tn_operand *subject, bool negated, tn_predicate **out)
{
    tn_predicate *node = NULL;
    int rc = TARN_OK;

    if (is_keyword(p, "IN")) {
        TN_TRY(next(p));
        TN_TRY(parse_in(p, subject, &node));
    } else if (is_keyword(p, "BETWEEN")) {
        TN_TRY(next(p));
        TN_TRY(parse_between(p, subject, &node));
    } else if (is_keyword(p, "LIKE")) {
        TN_TRY(next(p));
        TN_TRY(parse_like(p, subject, &node));
    } else {
        return expected(p, "IN, BETWEEN or LIKE");
    }
    if (negated)
        TN_TRY(join(p, TN_PREDICATE_NOT, node, NULL, &node));
    *out = node;
done:
    return rc;
}

static int parse_test(parser *p, tn_predicate **out)
{
    tn_operand subject, other;
    enum tn_compare op;
    tn_predicate *node = NULL;
    int rc = TARN_OK;

    TN_TRY(parse_operand(p, &subject));
    if (symbol_op(p, &op)) {
        TN_TRY(next(p));
        TN_TRY(parse_operand(p, &other));
        return make_compare(p, op, &subject, &other, out);
    }
    if (is_keyword(p, "IS"))
        return parse_is(p, &subject, out);
    if (is_keyword(p, "NOT")) {
        TN_TRY(next(p));
        return parse_tail(p, &subject, true, out);
    }
    if (is_keyword(p, "IN") || is_keyword(p, "BETWEEN") || is_keyword(p, "LIKE"))
        return parse_tail(p, &subject, false, out);
    if (subject.kind != TN_OPERAND_NAME && subject.kind != TN_OPERAND_WORD &&
        subject.kind != TN_OPERAND_BOOL && subject.kind != TN_OPERAND_NULL)
        return expected(p, "a comparison (=, <>, <, <=, >, >=, IN, BETWEEN, LIKE, IS NULL)");
    TN_TRY(make(p, TN_PREDICATE_TEST, 1, &node));
    node->operands[0] = subject;
    *out = node;
done:
    return rc;
}

static int parse_or(parser *p, tn_predicate **out);

static int parse_not(parser *p, tn_predicate **out)
{
    tn_predicate *node = NULL;
    int rc = TARN_OK;
    tarn_cx *cx = p->cx;

    if (p->depth >= TN_PREDICATE_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "predicate: byte %zu: nested deeper than %d levels", p->start + 1,
                TN_PREDICATE_DEPTH_MAX);
    p->depth++;
    if (is_keyword(p, "NOT")) {
        TN_TRY(next(p));
        TN_TRY(parse_not(p, &node));
        TN_TRY(join(p, TN_PREDICATE_NOT, node, NULL, &node));
    } else if (is_symbol(p, "(")) {
        TN_TRY(next(p));
        TN_TRY(parse_or(p, &node));
        if (!is_symbol(p, ")"))
            return expected(p, "\")\", AND or OR");
        TN_TRY(next(p));
    } else {
        TN_TRY(parse_test(p, &node));
    }
    p->depth--;
    *out = node;
done:
    return rc;
}

/* A chain of one kind: `word` between items that `item` parses. */
static int parse_chain(parser *p, const char *word, enum tn_predicate_kind kind,
                       int (*item)(parser *, tn_predicate **), tn_predicate **out)
{
    tn_predicate *first = NULL, *chain = NULL, *more;
    int rc = TARN_OK;

    TN_TRY(item(p, &first));
    while (is_keyword(p, word)) {
        if (chain == NULL)
            TN_TRY(join(p, kind, first, NULL, &chain));
        TN_TRY(next(p));
        TN_TRY(item(p, &more));
        TN_TRY(append(p, &chain->children, sizeof more, chain->child_count, &more));
        chain->child_count++;
    }
    *out = chain != NULL ? chain : first;
done:
    return rc;
}

static int parse_and(parser *p, tn_predicate **out)
{
    return parse_chain(p, "AND", TN_PREDICATE_AND, parse_not, out);
}

static int parse_or(parser *p, tn_predicate **out)
{
    return parse_chain(p, "OR", TN_PREDICATE_OR, parse_and, out);
}

int tn_predicate_parse(tarn_cx *cx, tn_str text, tn_arena *arena, const tn_predicate **out)
{
    parser p = {.cx = cx, .arena = arena, .input = text};
    tn_predicate *tree = NULL;
    int rc = TARN_OK;

    assert(out != NULL);
    if (text.len > TN_PREDICATE_BYTES_MAX)
        TN_FAIL(TARN_E_LIMIT, "predicate: longer than %d bytes", TN_PREDICATE_BYTES_MAX);
    TN_TRY(tn_arena_keep(cx, arena, &p.input));
    TN_TRY(next(&p));
    if (p.token == T_END)
        TN_FAIL(TARN_E_INVALID, "predicate: it is empty; write one such as \"a = 1\"");
    TN_TRY(parse_or(&p, &tree));
    if (p.token != T_END)
        TN_TRY(expected(&p, "AND, OR or the end"));
    *out = tree;
done:
    return rc;
}

/* The names of a tree, each once. */
typedef struct name_set {
    tn_map seen;
    tn_str *names;
    size_t count;
} name_set;

static int add_names(parser *p, const tn_predicate *node, name_set *set)
{
    /* Only the first operand of IN and LIKE may be a column. */
    size_t operands = node->kind == TN_PREDICATE_COMPARE ? 2 : node->operand_count > 0 ? 1 : 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < node->child_count; i++)
        TN_TRY(add_names(p, node->children[i], set));
    for (size_t i = 0; i < operands; i++) {
        const tn_operand *operand = &node->operands[i];
        bool added;

        if (operand->part_count == 0)
            continue;
        if (tn_map_add(p->cx, &set->seen, operand->parts[0], &added) == NULL)
            return TARN_E_NOMEM;
        if (!added)
            continue;
        TN_TRY(append(p, &set->names, sizeof(tn_str), set->count, &operand->parts[0]));
        set->count++;
    }
done:
    return rc;
}

int tn_predicate_names(tarn_cx *cx, const tn_predicate *predicate, tn_arena *arena, tn_str **names,
                       size_t *count)
{
    parser p = {.cx = cx, .arena = arena};
    name_set set = {0};
    int rc = TARN_OK;

    TN_TRY(add_names(&p, predicate, &set));
    *names = set.names;
    *count = set.count;
done:
    tn_map_clear(&set.seen);
    return rc;
}
