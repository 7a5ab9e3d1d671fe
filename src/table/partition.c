/* Partition values in paths, and the types their texts allow.
 * I1: decoding never fails: what is no escape stands for itself.
 * I2: a type is only given when every value prints back to its own text. */
#include "table/partition.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TN_HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int tn_partition_decode(tarn_cx *cx, tn_arena *arena, tn_str text, tn_str *out)
{
    char *plain;
    size_t n = 0;

    if (tn_str_find(text, '%') == text.len) {
        *out = text;
        return TARN_OK;
    }
    plain = tn_arena_take(cx, arena, text.len + 1);
    if (plain == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%' && i + 2 < text.len && hex(text.ptr[i + 1]) >= 0 &&
            hex(text.ptr[i + 2]) >= 0) {
            plain[n++] = (char)(hex(text.ptr[i + 1]) * 16 + hex(text.ptr[i + 2]));
            i += 2;
        } else {
            plain[n++] = text.ptr[i];
        }
    }
    *out = (tn_str){plain, n};
    return TARN_OK;
}

static tn_str next_level(tn_str *path)
{
    size_t end = tn_str_find(*path, '/');
    tn_str level = {path->ptr, end};

    *path = tn_str_from(*path, end + 1);
    return level;
}

int tn_partition_parse(tarn_cx *cx, tn_arena *arena, tn_str path, tn_partition_value **values,
                       size_t *count)
{
    size_t levels = 1, n = 0;
    tn_partition_value *out;
    int rc = TARN_OK;

    for (size_t i = 0; i < path.len; i++)
        levels += path.ptr[i] == '/';
    out = tn_arena_array(cx, arena, levels, sizeof *out);
    if (out == NULL)
        return TARN_E_NOMEM;
    while (path.len != 0) {
        tn_str level = next_level(&path), text;
        size_t equals = tn_str_find(level, '=');

        if (equals == level.len || equals == 0)
            continue;
        TN_TRY(tn_partition_decode(cx, arena, (tn_str){level.ptr, equals}, &out[n].name));
        text = tn_str_from(level, equals + 1);
        if (text.len != 0 && !tn_str_is(text, TN_HIVE_NULL))
            TN_TRY(tn_partition_decode(cx, arena, text, &out[n].value));
        n++;
    }
    *values = out;
    *count = n;
done:
    return rc;
}

static bool is_int64(tn_str text)
{
    char plain[32], again[32];
    long long value;
    char *end;

    if (text.len == 0 || text.len > 20 || text.ptr[0] == ' ')
        return false;
    memcpy(plain, text.ptr, text.len);
    plain[text.len] = '\0';
    value = strtoll(plain, &end, 10);
    if (end != plain + text.len)
        return false;
    snprintf(again, sizeof again, "%lld", value);
    return strcmp(plain, again) == 0;
}

static bool is_double(tn_str text)
{
    char plain[40], again[40];
    double value;
    char *end;

    if (text.len == 0 || text.len >= sizeof plain - 2)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (strchr("0123456789.-+e", text.ptr[i]) == NULL || text.ptr[i] == '\0')
            return false;
    memcpy(plain, text.ptr, text.len);
    plain[text.len] = '\0';
    value = strtod(plain, &end);
    if (end != plain + text.len || !isfinite(value))
        return false;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(again, sizeof again, "%.*g", digits, value);
        if (strtod(again, NULL) == value)
            break;
    }
    if (strcmp(plain, again) == 0)
        return true;
    return strcmp(again, "-0") != 0 && strpbrk(again, ".e") == NULL &&
           tn_str_equal(text, tn_str_of(strcat(again, ".0")));
}

/* The number that `digits` digits at `at` give, or -1. */
static int number_at(tn_str text, size_t at, size_t digits)
{
    int value = 0;

    if (at + digits > text.len)
        return -1;
    for (size_t i = at; i < at + digits; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

static bool is_date(tn_str text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
    bool leap;

    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-' || year < 1 || month < 1 ||
        month > 12 || day < 1)
        return false;
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap);
}

static bool is_timestamp(tn_str text)
{
    int hour = number_at(text, 11, 2), minute = number_at(text, 14, 2),
        second = number_at(text, 17, 2);
    size_t fraction;

    if (text.len < 19 || !is_date((tn_str){text.ptr, 10}) || text.ptr[10] != ' ' ||
        text.ptr[13] != ':' || text.ptr[16] != ':' || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 59)
        return false;
    if (text.len == 19)
        return true;
    fraction = text.len - 20;
    return text.ptr[19] == '.' && fraction >= 1 && fraction <= 6 &&
           number_at(text, 20, fraction) >= 0 && text.ptr[text.len - 1] != '0';
}

static bool is_bool(tn_str text)
{
    return tn_str_is(text, "true") || tn_str_is(text, "false");
}

enum tn_partition_type tn_partition_infer(const tn_str *values, size_t count)
{
    static bool (*const holds[])(tn_str) = {is_int64, is_double, is_date, is_timestamp, is_bool};
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        known += values[i].ptr != NULL;
    if (known == 0)
        return TN_PART_TEXT;
    for (size_t type = 0; type < sizeof holds / sizeof holds[0]; type++) {
        bool all = true;

        for (size_t i = 0; i < count && all; i++)
            all = values[i].ptr == NULL || holds[type](values[i]);
        if (all)
            return (enum tn_partition_type)type;
    }
    return TN_PART_TEXT;
}
