/* Names of data files.
 *
 *     base file   <file id>_<write token>_<instant>.<ending>
 *     log file    .<file id>_<instant>.log.<version>_<write token>[.cdc]
 *
 * I1: a file id is what stands before the first "_"; it need not look like a UUID.
 * I2: an instant is of digits alone. What has another form is no data file's name: names of
 *     external files ("…_hudiext"), half-written and side files are not taken for data.
 * I3: what tn_data_name_print makes, tn_data_name_parse takes apart into the same parts. */
#include "task/data_name.h"

#include <assert.h>
#include <inttypes.h>

static bool digits_only(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len != 0;
}

/* The index behind the last `c`; 0: there is none. */
static size_t behind_last(tn_str text, char c)
{
    size_t i = text.len;

    while (i != 0 && text.ptr[i - 1] != c)
        i--;
    return i;
}

static bool base_ending(tn_str ending)
{
    return tn_str_is(ending, "parquet") || tn_str_is(ending, "orc") || tn_str_is(ending, "hfile") ||
           tn_str_is(ending, "lance");
}

/* The instant ends at the first "." behind the last "_" of the name: a token has no "_", and an
 * ending neither. */
static bool parse_base(tn_str name, tn_data_name *out)
{
    size_t first = tn_str_find(name, '_'), last = behind_last(name, '_');
    tn_data_name parts = {0};
    tn_str rest;
    size_t dot;

    if (first == 0 || last < first + 2)
        return false;
    rest = tn_str_from(name, last);
    dot = tn_str_find(rest, '.');
    parts.file_id = (tn_str){name.ptr, first};
    parts.token = (tn_str){name.ptr + first + 1, last - first - 2};
    parts.instant = (tn_str){rest.ptr, dot};
    parts.ending = tn_str_from(rest, dot + 1);
    if (parts.token.len == 0 || !digits_only(parts.instant) || !base_ending(parts.ending))
        return false;
    *out = parts;
    return true;
}

static tn_str take_until(tn_str *text, char c)
{
    size_t end = tn_str_find(*text, c);
    tn_str part = {text->ptr, end};

    *text = tn_str_from(*text, end + 1);
    return part;
}

/* "<digits>-<digits>-<digits>". */
static bool is_token(tn_str text)
{
    for (int i = 0; i < 3; i++)
        if (!digits_only(take_until(&text, '-')))
            return false;
    return text.len == 0;
}

static bool parse_version(tn_str text, uint32_t *out)
{
    uint64_t value = 0;

    if (!digits_only(text) || text.len > 10)
        return false;
    for (size_t i = 0; i < text.len; i++)
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

static bool parse_log(tn_str name, tn_data_name *out)
{
    tn_data_name parts = {.log = true};
    tn_str rest = tn_str_from(name, 1), version;
    size_t line;
    bool tokened;

    line = tn_str_find(rest, '_');
    if (line == rest.len || line == 0 || tn_str_find(rest, '.') < line)
        return false;
    parts.file_id = take_until(&rest, '_');
    parts.instant = take_until(&rest, '.');
    parts.ending = take_until(&rest, '.');
    if (!digits_only(parts.instant) || !tn_str_is(parts.ending, "log"))
        return false;
    if (tn_str_ends(rest, TN_STR(".cdc"))) {
        parts.cdc = true;
        rest.len -= 4;
    }
    tokened = tn_str_find(rest, '_') < rest.len || parts.cdc;
    version = take_until(&rest, '_');
    if (!parse_version(version, &parts.version) || (tokened && !is_token(rest)))
        return false;
    parts.token = rest;
    *out = parts;
    return true;
}

bool tn_data_name_parse(tn_str name, tn_data_name *out)
{
    assert(out != NULL);
    /* A NUL, which no file system has, would cut a name that metadata spells. */
    if (name.len == 0 || memchr(name.ptr, '/', name.len) != NULL ||
        memchr(name.ptr, '\0', name.len) != NULL)
        return false;
    return name.ptr[0] == '.' ? parse_log(name, out) : parse_base(name, out);
}

int tn_data_name_order(const tn_data_name *a, const tn_data_name *b)
{
    int order = tn_str_compare(a->instant, b->instant);

    if (order == 0)
        order = (a->version > b->version) - (a->version < b->version);
    return order != 0 ? order : tn_str_compare(a->token, b->token);
}

int tn_data_name_print(tarn_cx *cx, tn_arena *arena, tn_str file_id, tn_str token, tn_str instant,
                       tn_str *out)
{
    assert(file_id.len != 0 && token.len != 0 && instant.len != 0);
    assert(tn_str_find(file_id, '_') == file_id.len);
    return tn_arena_print(cx, arena, out, "%.*s_%.*s_%.*s.parquet", TN_STR_ARG(file_id),
                          TN_STR_ARG(token), TN_STR_ARG(instant));
}

int tn_data_name_new_id(tarn_cx *cx, tn_arena *arena, tn_str *out)
{
    uint64_t high = tn_cx_random(cx), low = tn_cx_random(cx);

    /* A random UUID (RFC 4122: version 4, variant 1). */
    high = (high & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
    low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62;
    return tn_arena_print(
        cx, arena, out, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64 "-0",
        high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & UINT64_C(0xffffffffffff));
}

int tn_data_name_next_id(tarn_cx *cx, tn_arena *arena, tn_str file_id, uint32_t number, tn_str *out)
{
    size_t end = behind_last(file_id, '-');

    assert(end != 0);
    return tn_arena_print(cx, arena, out, "%.*s%" PRIu32, (int)end, file_id.ptr, number);
}

int tn_data_name_token(tarn_cx *cx, tn_arena *arena, uint32_t number, tn_str *out)
{
    return tn_arena_print(cx, arena, out, "%" PRIu32 "-0-%" PRIu64, number, (uint64_t)number + 1);
}
