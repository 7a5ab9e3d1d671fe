/* One value from text: what its type takes is printed and taken again as the same value, and what
 * is guessed from a text takes that text. byte 0: the type; then the text */
#include <stdlib.h>
#include <string.h>

#include "codec/csv/csv_write.h"
#include "codec/text/build.h"
#include "codec/text/text_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const formats[] = {
    "b",       "c",           "C",    "s",    "S",    "i",        "I",
    "l",       "L",           "e",    "f",    "g",    "u",        "U",
    "z",       "Z",           "w:3",  "w:16", "w:0",  "d:5,2,32", "d:18,9,64",
    "d:38,10", "d:76,-3,256", "tdD",  "tdm",  "tts",  "ttm",      "ttu",
    "ttn",     "tss:",        "tsm:", "tsu:", "tsn:", "tss:UTC",  "tsu:Asia/Tokyo",
    "tDs",     "tDm",         "tDu",  "tDn",  "n"};

static __attribute__((noinline)) void fail(void)
{
    abort();
}

/* Appends the text of a column of one value, taken from `text`; false where it does not fit. */
static bool take(tarn_cx *cx, const struct ArrowSchema *schema, tn_str text, tn_buf *out)
{
    struct ArrowArray array = {0};
    tn_csv_writer *writer = NULL;
    tn_build *build = NULL;
    const char *why = NULL;

    if (tn_build_open(cx, schema, &build) != TARN_OK ||
        tn_build_text(cx, tn_build_child(build, 0), text, &why) != TARN_OK)
        fail();
    if (why != NULL && (why[0] == '\0' || !tn_str_utf8(tn_str_of(why)) ||
                        tn_build_bytes(tn_build_child(build, 0)) > 8))
        fail();
    if (why == NULL) {
        tn_build_rows_add(build, 1);
        if (tn_build_finish(cx, build, &array) != TARN_OK ||
            tn_array_check(cx, tn_build_schema(build), &array) != TARN_OK ||
            tn_csv_writer_open(cx, tn_build_schema(build), &writer) != TARN_OK ||
            tn_csv_writer_rows(cx, writer, &array, 0, 1, out) != TARN_OK)
            fail();
    }
    tn_csv_writer_close(writer);
    tn_array_release(&array);
    tn_build_close(build);
    return why == NULL;
}

/* Without the quotes of CSV, where there are any: values of a fixed width never hold one. */
static tn_str unquoted(tn_str line)
{
    line.len -= line.len > 0;
    if (line.len >= 2 && line.ptr[0] == '"') {
        line.ptr++;
        line.len -= 2;
    }
    return line;
}

static void run(tarn_cx *cx, const char *format, tn_str text, bool guessed)
{
    bool bytes = format[0] == 'u' || format[0] == 'U';
    struct ArrowSchema schema = {0};
    tn_buf first = {0}, second = {0};

    if (tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1) != TARN_OK ||
        tn_field_init(cx, schema.children[0], format, TN_STR("v"), true, 0) != TARN_OK)
        abort();
    if (take(cx, &schema, text, &first)) {
        if (!bytes && !take(cx, &schema, unquoted(tn_buf_view(&first)), &second))
            fail();
        if (!bytes && !tn_str_equal(tn_buf_view(&first), tn_buf_view(&second)))
            fail();
    } else if (guessed && tn_str_utf8(text)) {
        fail();
    }
    tn_field_release(&schema);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tn_text_guess guess = {0};
    tarn_cx *cx;
    tn_str text;

    if (size == 0)
        return 0;
    cx = tarn_cx_open(NULL);
    if (cx == NULL)
        abort();
    text = (tn_str){(const char *)data + 1, size - 1};
    run(cx, formats[data[0] % (sizeof formats / sizeof formats[0])], text, false);
    if (text.len != 0) {
        tn_text_guess_add(&guess, text);
        run(cx, tn_text_guess_format(&guess), text, true);
    }
    tarn_cx_close(cx);
    return 0;
}
