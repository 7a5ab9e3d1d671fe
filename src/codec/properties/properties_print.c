/* Properties as Java's store writes them; what each character becomes is in properties.c.
 *
 * I1: the text is ASCII: what is not becomes \uXXXX, in capitals. */
#include "codec/properties/properties.h"

#include "batch/moment.h"

/* The code point at `at`; what is not UTF-8 is U+FFFD, a byte. */
static uint32_t point_at(tn_str text, size_t *at)
{
    const uint8_t *p = (const uint8_t *)text.ptr + *at;
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    uint32_t point;

    if (n > 1 && (n > text.len - *at || !tn_str_utf8((tn_str){text.ptr + *at, n}))) {
        *at += 1;
        return 0xFFFD;
    }
    point = n == 1 ? p[0] : p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++)
        point = point << 6 | (p[i] & 0x3F);
    *at += n;
    return point;
}

static void add_unicode(tn_buf *out, uint32_t point)
{
    if (point >= 0x10000) {
        tn_buf_print(out, "\\u%04X", 0xD800 + ((point - 0x10000) >> 10));
        point = 0xDC00 + ((point - 0x10000) & 0x3FF);
    }
    tn_buf_print(out, "\\u%04X", point);
}

static void add_escaped(tn_buf *out, tn_str text, bool key)
{
    static const char from[] = "\t\n\r\f", to[] = "tnrf";
    const char *hit;

    for (size_t at = 0; at < text.len;) {
        bool first = at == 0;
        uint32_t point = point_at(text, &at);

        hit = point != 0 && point < 0x80 ? strchr(from, (int)point) : NULL;
        if (hit != NULL) {
            tn_buf_u8(out, '\\');
            tn_buf_u8(out, (uint8_t)to[hit - from]);
        } else if (point < 0x20 || point > 0x7E) {
            add_unicode(out, point);
        } else {
            if ((point == ' ' && (first || key)) || strchr("\\=:#!", (int)point) != NULL)
                tn_buf_u8(out, '\\');
            tn_buf_u8(out, (uint8_t)point);
        }
    }
}

/* A line feed in a comment begins another line of it. */
static void add_comment(tn_buf *out, tn_str text)
{
    tn_buf_u8(out, '#');
    for (size_t at = 0; at < text.len;) {
        uint32_t point = point_at(text, &at);

        if (point == '\n' || point == '\r')
            tn_buf_text(out, "\n#");
        else if (point > 0x7E)
            add_unicode(out, point);
        else
            tn_buf_u8(out, (uint8_t)point);
    }
    tn_buf_u8(out, '\n');
}

/* "Mon Nov 30 17:36:14 UTC 2026" */
static void add_date(tn_buf *out, int64_t ms)
{
    static const char weekdays[] = "ThuFriSatSunMonTueWed";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t seconds = ms / 1000 - (ms % 1000 < 0), days, year, second;
    unsigned month, day;

    days = seconds / 86400 - (seconds % 86400 < 0);
    second = seconds - days * 86400;
    tn_days_civil(days, &year, &month, &day);
    tn_buf_print(out, "#%.3s %.3s %02u %02d:%02d:%02d UTC %04lld\n",
                 weekdays + (days % 7 + 7) % 7 * 3, months + (month - 1) * 3, day,
                 (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60),
                 (long long)year);
}

void tn_properties_print(tn_buf *out, const tn_properties *properties, tn_str comment,
                         int64_t date_ms)
{
    if (comment.len != 0) {
        add_comment(out, comment);
        add_date(out, date_ms);
    }
    for (size_t i = 0; i < properties->count; i++) {
        add_escaped(out, properties->items[i].key, true);
        tn_buf_u8(out, '=');
        add_escaped(out, properties->items[i].value, false);
        tn_buf_u8(out, '\n');
    }
}
