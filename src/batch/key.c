/* Partition values as text and as levels of a path.
 * I1: what is escaped here is what Hive (FileUtils.escapePathName) and Spark escape; other bytes,
 *     those of UTF-8 above ASCII among them, stand for themselves.
 * I2: a level never holds "/", and is never "." or "..": it has a "=". */
#include "batch/key.h"

#include <string.h>

#include "batch/moment.h"

#define HIVE_NULL        "__HIVE_DEFAULT_PARTITION__"
#define HALF_COPIED      "._COPYING_"
#define SHOWN_BYTES      40
#define MILLIS_OF_DAY    86400000
#define MOMENT_TIME_MARK 'T'

int tn_key_type_of(tarn_cx *cx, const struct ArrowSchema *column, tn_text_type *out)
{
    tn_text_type made;
    tn_buf name = {0};
    int rc = TARN_OK;

    TN_TRY(tn_text_type_of(cx, column, &made));
    switch (made.type.kind) {
    case TN_TYPE_FIXED:
        if (made.uuid)
            break;
        /* fall through */
    case TN_TYPE_BINARY:
    case TN_TYPE_LARGE_BINARY:
    case TN_TYPE_DURATION:
    case TN_TYPE_INTERVAL_MONTHS:
    case TN_TYPE_INTERVAL_DAY_TIME:
    case TN_TYPE_INTERVAL_MONTH_DAY_NANO:
    case TN_TYPE_LIST:
    case TN_TYPE_LARGE_LIST:
    case TN_TYPE_FIXED_LIST:
    case TN_TYPE_STRUCT:
    case TN_TYPE_MAP:
        tn_type_print(&name, column);
        TN_FAIL(TARN_E_UNSUPPORTED,
                "column \"%s\" of type %.*s cannot name directories; partition by a column of "
                "text, numbers, dates or times",
                column->name, TN_STR_ARG(tn_buf_view(&name)));
    default:
        break;
    }
    *out = made;
done:
    tn_buf_clear(&name);
    return rc;
}

/* "2024-05-12T10:03:08.500Z" becomes "2024-05-12 10:03:08.5". */
static size_t plain_moment(char *text, size_t len, int digits)
{
    char *mark = memchr(text, MOMENT_TIME_MARK, len);

    if (mark != NULL)
        *mark = ' ';
    if (len > 0 && text[len - 1] == 'Z')
        len--;
    if (digits > 0) {
        while (text[len - 1] == '0')
            len--;
        if (text[len - 1] == '.')
            len--;
    }
    return len;
}

void tn_key_text(tn_buf *out, const tn_text_type *type, const struct ArrowArray *array, int64_t at)
{
    char text[TN_TEXT_BYTES_MAX];
    enum tn_text_form form;
    size_t len;

    if (type->type.kind == TN_TYPE_NULL || tn_rows_is_null(array, at))
        return;
    if (tn_text_is_utf8(type->type.kind)) {
        tn_buf_str(out, tn_rows_bytes(&type->type, array, at));
        return;
    }
    len = tn_text_write(type, array, at, text, &form);
    if (type->type.kind == TN_TYPE_TIMESTAMP)
        len = plain_moment(text, len, type->type.unit_digits);
    else if (type->type.kind == TN_TYPE_DATE64 &&
             ((const int64_t *)array->buffers[1])[at] % MILLIS_OF_DAY != 0)
        len = plain_moment(text, len, 3);
    tn_buf_add(out, text, len);
}

static bool is_escaped(unsigned char c)
{
    return c < ' ' || c == 0x7F || (c < 0x7F && strchr("\"#%'*/:=?\\{[]^", c) != NULL);
}

void tn_key_escape(tn_buf *out, tn_str text)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t from = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        char escape[3] = {'%', hex[c >> 4], hex[c & 15]};

        if (!is_escaped(c))
            continue;
        tn_buf_add(out, text.ptr + from, i - from);
        tn_buf_add(out, escape, sizeof escape);
        from = i + 1;
    }
    tn_buf_add(out, text.ptr != NULL ? text.ptr + from : "", text.len - from);
}

int tn_key_level(tarn_cx *cx, tn_buf *out, tn_str column, tn_str value)
{
    size_t start;
    int rc = TARN_OK;

    if (out->len != 0)
        tn_buf_u8(out, '/');
    start = out->len;
    tn_key_escape(out, column);
    tn_buf_u8(out, '=');
    if (value.len == 0)
        tn_buf_text(out, HIVE_NULL);
    else
        tn_key_escape(out, value);
    TN_TRY(tn_buf_check(cx, out));
    if (out->len - start > TN_KEY_LEVEL_BYTES_MAX)
        TN_FAIL(TARN_E_DATA,
                "column \"%.*s\": the value \"%.*s%s\" makes a directory name of %zu bytes, and "
                "names have at most %d; shorten it, or do not partition by this column",
                TN_STR_ARG(column), (int)(value.len > SHOWN_BYTES ? SHOWN_BYTES : value.len),
                value.ptr, value.len > SHOWN_BYTES ? "..." : "", out->len - start,
                TN_KEY_LEVEL_BYTES_MAX);
    if (tn_str_ends(value, TN_STR(HALF_COPIED)))
        TN_FAIL(TARN_E_DATA,
                "column \"%.*s\": readers pass over names that end in \"" HALF_COPIED
                "\", as that of the value \"%.*s\" would",
                TN_STR_ARG(column), TN_STR_ARG(value));
done:
    return rc;
}
