/* Patterns of times as Joda reads them.
 * I1: a number is parsed from as many digits as stand there, up to the most its field takes: the
 *     width of a year that is followed by another number, else 9; 2 of all other fields.
 * I2: what a text does not say is 1970-01-01T00:00; a text with months or days and no year is of
 * the year 2000, as in Joda. */
#include "batch/joda.h"

#include <string.h>

#include "batch/moment.h"

#define ITEMS_MAX   64
#define COUNT_MAX   30
#define MILLIS_DAY  86400000
#define YEAR_DIGITS 9

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The quoted text from `at` on, without its quotes; "''" is one quote, within text too. */
static int take_quoted(tarn_cx *cx, tn_arena *arena, tn_str pattern, size_t *at, tn_str *out)
{
    size_t from = *at + 1, n = 0, i = from;
    char *text = tn_arena_take(cx, arena, pattern.len + 1);
    int rc = TARN_OK;

    if (text == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (i < pattern.len && pattern.ptr[i] == '\'') {
        *out = TN_STR("'");
        *at = i + 1;
        goto done;
    }
    while (i < pattern.len &&
           (pattern.ptr[i] != '\'' || (i + 1 < pattern.len && pattern.ptr[i + 1] == '\''))) {
        i += pattern.ptr[i] == '\'';
        text[n++] = pattern.ptr[i++];
    }
    *at = i < pattern.len ? i + 1 : i;
    *out = (tn_str){text, n};
done:
    return rc;
}

static int take_item(tarn_cx *cx, tn_arena *arena, tn_str pattern, size_t *at, tn_joda_item *out)
{
    char c = pattern.ptr[*at];
    size_t from = *at;
    int rc = TARN_OK;

    *out = (tn_joda_item){0};
    if (c == '\'') {
        TN_TRY(take_quoted(cx, arena, pattern, at, &out->text));
        goto done;
    }
    if (!is_letter(c)) {
        while (*at < pattern.len && !is_letter(pattern.ptr[*at]) && pattern.ptr[*at] != '\'')
            ++*at;
        out->text = (tn_str){pattern.ptr + from, *at - from};
        goto done;
    }
    while (*at < pattern.len && pattern.ptr[*at] == c)
        ++*at;
    out->letter = c == 'Y' ? 'y' : c;
    out->count = (unsigned)(*at - from);
    if (strchr("yMdHmsSZ", out->letter) == NULL || *at - from > COUNT_MAX ||
        (c == 'M' && out->count > 2) || (c == 'Z' && out->count > 2))
        TN_FAIL(TARN_E_INVALID,
                "the pattern of times \"%.*s\": \"%.*s\" is not understood; tarn knows yyyy, yy, "
                "MM, dd, HH, mm, ss, SSS, Z, ZZ and quoted text",
                TN_STR_ARG(pattern), (int)out->count, pattern.ptr + from);
done:
    return rc;
}

static void set_digits(tn_joda *joda)
{
    for (size_t i = 0; i < joda->count; i++) {
        tn_joda_item *item = &joda->items[i];
        char next = i + 1 < joda->count ? joda->items[i + 1].letter : '\0';

        item->digits_max = item->letter == 'S' ? item->count : 2;
        if (item->letter != 'y')
            continue;
        joda->has_short_year |= item->count == 2;
        item->digits_max = next != '\0' && next != 'Z' ? item->count : YEAR_DIGITS;
    }
}

int tn_joda_compile(tarn_cx *cx, tn_arena *arena, tn_str pattern, tn_joda *out)
{
    tn_joda joda = {0};
    int rc = TARN_OK;

    if (pattern.len == 0)
        TN_FAIL(TARN_E_INVALID, "a pattern of times is empty; write one as yyyy/MM/dd");
    joda.items = tn_arena_array(cx, arena, ITEMS_MAX, sizeof *joda.items);
    if (joda.items == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t at = 0; at < pattern.len;) {
        if (joda.count == ITEMS_MAX)
            TN_FAIL(TARN_E_LIMIT, "the pattern of times \"%.*s\" has more than %d parts",
                    TN_STR_ARG(pattern), ITEMS_MAX);
        TN_TRY(take_item(cx, arena, pattern, &at, &joda.items[joda.count]));
        joda.count++;
    }
    set_digits(&joda);
    *out = joda;
done:
    return rc;
}

static void print_number(tn_buf *out, int64_t value, unsigned digits)
{
    tn_buf_print(out, "%s%0*lld", value < 0 ? "-" : "", (int)digits,
                 (long long)(value < 0 ? -value : value));
}

/* The fraction of a second in `count` digits: those beyond milliseconds are zeros. */
static void print_fraction(tn_buf *out, unsigned millis, unsigned count)
{
    char digits[4] = {(char)('0' + millis / 100), (char)('0' + millis / 10 % 10),
                      (char)('0' + millis % 10), 0};

    for (unsigned i = 0; i < count; i++)
        tn_buf_u8(out, (uint8_t)(i < 3 ? digits[i] : '0'));
}

static void print_offset(tn_buf *out, int32_t offset, bool colon)
{
    unsigned size = (unsigned)(offset < 0 ? -offset : offset);

    tn_buf_print(out, "%c%02u%s%02u", offset < 0 ? '-' : '+', size / 3600, colon ? ":" : "",
                 size / 60 % 60);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

void tn_joda_print(const tn_joda *joda, int64_t millis, const tn_zone *zone, tn_buf *out)
{
    tn_joda_print_at(joda, millis, tn_zone_offset(zone, floor_div(millis, 1000)), out);
}

void tn_joda_print_at(const tn_joda *joda, int64_t millis, int32_t offset, tn_buf *out)
{
    int64_t local = millis + (int64_t)offset * 1000, days = floor_div(local, MILLIS_DAY), year;
    unsigned of_day = (unsigned)(local - days * MILLIS_DAY), month, day;

    tn_days_civil(days, &year, &month, &day);
    for (size_t i = 0; i < joda->count; i++) {
        const tn_joda_item *item = &joda->items[i];

        switch (item->letter) {
        case 'y':
            if (item->count == 2)
                print_number(out, (year < 0 ? -year : year) % 100, 2);
            else
                print_number(out, year, item->count);
            break;
        case 'M':
            print_number(out, month, item->count);
            break;
        case 'd':
            print_number(out, day, item->count);
            break;
        case 'H':
            print_number(out, of_day / 3600000, item->count);
            break;
        case 'm':
            print_number(out, of_day / 60000 % 60, item->count);
            break;
        case 's':
            print_number(out, of_day / 1000 % 60, item->count);
            break;
        case 'S':
            print_fraction(out, of_day % 1000, item->count);
            break;
        case 'Z':
            print_offset(out, offset, item->count == 2);
            break;
        default:
            tn_buf_str(out, item->text);
            break;
        }
    }
}

/* The fields that a text gave; -1: not. */
typedef struct fields {
    int64_t year;
    bool has_year;
    int month, day, hour, minute, second, millis;
    tn_joda_moment *out;
} fields;

static bool take_number(tn_str *text, unsigned max, bool is_signed, int64_t *out)
{
    bool minus = is_signed && text->len > 1 && text->ptr[0] == '-';
    size_t at = minus || (is_signed && text->len > 1 && text->ptr[0] == '+'), n = 0;
    int64_t value = 0;

    for (; n < max && at < text->len && text->ptr[at] >= '0' && text->ptr[at] <= '9'; n++, at++)
        value = value * 10 + (text->ptr[at] - '0');
    *text = tn_str_from(*text, at);
    *out = minus ? -value : value;
    return n > 0;
}

static int take_fraction(tn_str *text, unsigned max)
{
    int millis = 0, weight = 100;
    unsigned n = 0;

    for (; n < max && n < text->len && text->ptr[n] >= '0' && text->ptr[n] <= '9'; n++) {
        millis += (text->ptr[n] - '0') * weight;
        weight /= 10;
    }
    *text = tn_str_from(*text, n);
    return millis;
}

static int take_two(tn_str *text)
{
    int value;

    if (text->len < 2 || text->ptr[0] < '0' || text->ptr[0] > '9' || text->ptr[1] < '0' ||
        text->ptr[1] > '9')
        return -1;
    value = (text->ptr[0] - '0') * 10 + (text->ptr[1] - '0');
    *text = tn_str_from(*text, 2);
    return value;
}

/* "Z", "+02", "+0200", "+02:00". */
static bool take_offset(tn_str *text, tn_joda_moment *out)
{
    int hours, minutes = 0;
    bool minus;

    out->has_offset = true;
    if (text->len > 0 && (text->ptr[0] | 32) == 'z') {
        *text = tn_str_from(*text, 1);
        return true;
    }
    if (text->len == 0 || (text->ptr[0] != '+' && text->ptr[0] != '-'))
        return false;
    minus = text->ptr[0] == '-';
    *text = tn_str_from(*text, 1);
    hours = take_two(text);
    if (text->len > 0 && text->ptr[0] == ':') {
        *text = tn_str_from(*text, 1);
        minutes = take_two(text);
    } else if (text->len > 0 && text->ptr[0] >= '0' && text->ptr[0] <= '9') {
        minutes = take_two(text);
    }
    out->offset = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

static bool take_text(tn_str *text, tn_str want)
{
    if (text->len < want.len)
        return false;
    for (size_t i = 0; i < want.len; i++) {
        char a = text->ptr[i], b = want.ptr[i];

        if (a != b && !(is_letter(a) && is_letter(b) && (a | 32) == (b | 32)))
            return false;
    }
    *text = tn_str_from(*text, want.len);
    return true;
}

static bool take_field(tn_str *text, const tn_joda_item *item, fields *f)
{
    int64_t value = 0;

    if (item->letter == '\0')
        return take_text(text, item->text);
    if (item->letter == 'Z')
        return take_offset(text, f->out);
    if (item->letter == 'S') {
        f->millis = take_fraction(text, item->digits_max);
        return true;
    }
    if (!take_number(text, item->digits_max, item->letter == 'y', &value))
        return false;
    switch (item->letter) {
    case 'y':
        f->year = value;
        f->has_year = true;
        return true;
    case 'M':
        f->month = (int)value;
        return value >= 1 && value <= 12;
    case 'd':
        f->day = (int)value;
        return value >= 1 && value <= 31;
    case 'H':
        f->hour = (int)value;
        return value <= 23;
    case 'm':
        f->minute = (int)value;
        return value <= 59;
    default:
        f->second = (int)value;
        return value <= 59;
    }
}

bool tn_joda_parse(const tn_joda *joda, tn_str text, tn_joda_moment *out)
{
    tn_joda_moment made = {0};
    fields f = {.year = 1970, .out = &made};
    unsigned month, day;
    int64_t days, year;

    for (size_t i = 0; i < joda->count; i++)
        if (!take_field(&text, &joda->items[i], &f))
            return false;
    if (text.len != 0)
        return false;
    if (!f.has_year && (f.month != 0 || f.day != 0))
        f.year = 2000;
    f.month = f.month != 0 ? f.month : 1;
    f.day = f.day != 0 ? f.day : 1;
    days = tn_days_of(f.year, (unsigned)f.month, (unsigned)f.day);
    tn_days_civil(days, &year, &month, &day);
    if (day != (unsigned)f.day || month != (unsigned)f.month)
        return false;
    made.local_ms =
        days * MILLIS_DAY + ((f.hour * 60 + f.minute) * 60 + (int64_t)f.second) * 1000 + f.millis;
    *out = made;
    return true;
}
