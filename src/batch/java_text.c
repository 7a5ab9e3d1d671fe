/* Numbers and moments as Java's toString prints them.
 * I1: of numbers that one digit tells apart (the smallest there are) Java prints two.
 * I2: java.sql.Timestamp counts days by the Julian calendar before 1582-10-15. */
#include "batch/java_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "batch/digits.h"
#include "batch/moment.h"
#include "batch/number.h"

#define MILLIS_OF_DAY   86400000
#define GREGORIAN_START (-141427) /* 1582-10-15 */

static size_t put(char *out, const char *text)
{
    size_t len = strlen(text);

    memcpy(out, text, len);
    return len;
}

/* The digits of "12.5", "1e300", "1.5e-7", without a sign; the value is 0.d1d2d3... * 10^point. */
static size_t take_digits(const char *text, size_t len, char *digits, int *point)
{
    size_t n = 0, at = 0;
    int exponent = 0, whole = 0;
    bool minus = false, seen_point = false;

    for (; at < len && text[at] != 'e'; at++) {
        if (text[at] == '.') {
            seen_point = true;
            continue;
        }
        whole += !seen_point;
        digits[n++] = text[at];
    }
    if (at < len) {
        minus = text[++at] == '-';
        for (at += minus || text[at] == '+'; at < len; at++)
            exponent = exponent * 10 + (text[at] - '0');
    }
    *point = whole + (minus ? -exponent : exponent);
    for (at = 0; at + 1 < n && digits[at] == '0'; at++)
        --*point;
    memmove(digits, digits + at, n - at);
    n -= at;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* Plain digits for 1e-3 <= |value| < 1e7, else one digit before the point and an exponent; one
 * digit after the point at least. `two` is the number in two digits, for the smallest ones (I1). */
static size_t spell(const char *text, size_t len, const char *two, char *out)
{
    char digits[40];
    size_t n = 0, count;
    int point;

    if (text[0] == '-') {
        out[n++] = '-';
        text++;
        len--;
    }
    count = take_digits(text, len, digits, &point);
    if (two != NULL && count == 1)
        count = take_digits(two, strlen(two), digits, &point);
    if (count == 1 && digits[0] == '0')
        return n + put(out + n, "0.0");
    if (point > -3 && point <= 0) {
        n += put(out + n, "0.");
        for (int i = point; i < 0; i++)
            out[n++] = '0';
        memcpy(out + n, digits, count);
        return n + count;
    }
    if (point > 0 && point <= 7) {
        for (int i = 0; i < point; i++)
            out[n++] = (size_t)i < count ? digits[i] : '0';
        out[n++] = '.';
        if (count <= (size_t)point)
            out[n++] = '0';
        for (size_t i = (size_t)point; i < count; i++)
            out[n++] = digits[i];
        return n;
    }
    out[n++] = digits[0];
    out[n++] = '.';
    if (count == 1)
        out[n++] = '0';
    memcpy(out + n, digits + 1, count - 1);
    n += count - 1;
    out[n++] = 'E';
    return n + tn_digits_i64(out + n, point - 1);
}

static size_t special(double value, char *out)
{
    return put(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

/* Two digits of a number below the smallest normal one, without its sign; NULL for others. The
 * point is that of the process's locale, so it is put in by hand. */
static const char *two_digits(double value, double smallest, char *out, size_t size)
{
    if (value == 0 || fabs(value) >= smallest)
        return NULL;
    snprintf(out, size, "%.1e", fabs(value));
    out[1] = '.';
    return out;
}

size_t tn_java_text_double(double value, char *out)
{
    char text[32], two[32];

    if (!isfinite(value))
        return special(value, out);
    return spell(text, tn_digits_double(text, value), two_digits(value, DBL_MIN, two, sizeof two),
                 out);
}

size_t tn_java_text_float(float value, char *out)
{
    char text[32], two[32];

    if (!isfinite(value))
        return special((double)value, out);
    return spell(text, tn_digits_float(text, value),
                 two_digits((double)value, (double)FLT_MIN, two, sizeof two), out);
}

size_t tn_java_text_decimal(const tn_int256 *value, int32_t scale, char *out)
{
    char text[96];
    const char *digits = text;
    size_t len, n = 0;
    int64_t adjusted;

    len = tn_number_write(value, 0, text);
    if (text[0] == '-') {
        digits++;
        len--;
    }
    adjusted = (int64_t)len - 1 - scale;
    if (scale >= 0 && adjusted >= -6)
        return tn_number_write(value, scale, out);
    if (digits != text)
        out[n++] = '-';
    out[n++] = digits[0];
    if (len > 1) {
        out[n++] = '.';
        memcpy(out + n, digits + 1, len - 1);
        n += len - 1;
    }
    if (adjusted == 0)
        return n;
    out[n++] = 'E';
    if (adjusted > 0)
        out[n++] = '+';
    return n + tn_digits_i64(out + n, adjusted);
}

size_t tn_java_text_date(int64_t days, char *out)
{
    return tn_moment_write_date(days, out);
}

/* Civil date of a day in the Julian calendar: days since 1970-01-01 of the Gregorian one. */
static void julian_civil(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    /* Day 0 of this count is the Julian 0000-03-01; a cycle has four years. */
    int64_t at = days + 719470;
    int64_t cycle = at >= 0 ? at / 1461 : (at - 1460) / 1461;
    int64_t in_cycle = at - cycle * 1461;
    int64_t in_year = in_cycle - in_cycle / 1460 * 1460;
    int64_t y = in_cycle == 1460 ? 3 : in_year / 365;
    int64_t yearday = in_cycle == 1460 ? 365 : in_year % 365;
    int64_t m = (5 * yearday + 2) / 153;

    *day = (unsigned)(yearday - (153 * m + 2) / 5 + 1);
    *month = (unsigned)(m < 10 ? m + 3 : m - 9);
    *year = cycle * 4 + y + (m >= 10);
}

size_t tn_java_text_timestamp(int64_t millis, char *out)
{
    int64_t days = millis / MILLIS_OF_DAY - (millis % MILLIS_OF_DAY < 0), year;
    int64_t of_day = millis - days * MILLIS_OF_DAY;
    unsigned month, day;
    int len;

    if (days < GREGORIAN_START)
        julian_civil(days, &year, &month, &day);
    else
        tn_days_civil(days, &year, &month, &day);
    if (year <= 0)
        year = 1 - year;
    len = sprintf(out, "%04lld-%02u-%02u %02d:%02d:%02d.%03d", (long long)year, month, day,
                  (int)(of_day / 3600000), (int)(of_day / 60000 % 60), (int)(of_day / 1000 % 60),
                  (int)(of_day % 1000));
    while (out[len - 1] == '0' && out[len - 2] != '.')
        len--;
    return (size_t)len;
}
