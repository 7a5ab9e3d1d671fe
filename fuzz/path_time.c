/* Any bytes as settings of a timestamp-based key generator and a value: what is printed by a
 * pattern of years to milliseconds is read back, by the same pattern, as the same path. byte 0:
 * type and whether patterns are equal; then lines: input, output, zone; then the value */
#include <stdlib.h>

#include "batch/path_time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static tn_str take_line(tn_str *rest)
{
    size_t end = tn_str_find(*rest, '\n');
    tn_str line = {rest->ptr, end};

    *rest = tn_str_from(*rest, end + 1);
    return line;
}

static void ask(tarn_cx *cx, const tn_path_time *time, tn_str value)
{
    tn_buf out = {0}, again = {0};
    int64_t number = 0;

    if (tn_path_time_takes_text(time)) {
        if (tn_path_time_text(time, value, &out)) {
            must(tn_path_time_text(time, value, &again));
            must(tn_str_equal(tn_buf_view(&out), tn_buf_view(&again)));
        } else {
            must(out.len == 0);
        }
    } else {
        memcpy(&number, value.ptr, value.len < sizeof number ? value.len : sizeof number);
        tn_path_time_number(time, number, &out);
    }
    tn_path_time_null(time, &again);
    must(tn_buf_check(cx, &out) == TARN_OK && tn_buf_check(cx, &again) == TARN_OK);
    tn_buf_clear(&out);
    tn_buf_clear(&again);
}

/* A number is printed in full, and that text means the same instant. */
static void round_trip(tarn_cx *cx, tn_str zone, tn_str value)
{
    tn_str full = TN_STR("yyyy-MM-dd'T'HH:mm:ss.SSSZ");
    tn_keygen_timebased options = {
        .type = TN_KEYGEN_EPOCH_MILLIS, .output_format = full, .output_zone = zone};
    tn_path_time *numbers = NULL, *texts = NULL;
    tn_buf out = {0}, again = {0};
    int64_t number = 0;

    memcpy(&number, value.ptr, value.len < sizeof number ? value.len : sizeof number);
    number %= 100000000000000; /* years of at most four digits */
    if (tn_path_time_open(cx, &options, TN_STR("UTC"), &numbers) == TARN_OK) {
        options.type = TN_KEYGEN_DATE_STRING;
        options.input_format = full;
        must(tn_path_time_open(cx, &options, TN_STR("UTC"), &texts) == TARN_OK);
        tn_path_time_number(numbers, number, &out);
        if (tn_path_time_text(texts, tn_buf_view(&out), &again))
            must(tn_str_equal(tn_buf_view(&out), tn_buf_view(&again)) || zone.len != 0);
    }
    tn_path_time_close(numbers);
    tn_path_time_close(texts);
    tn_buf_clear(&out);
    tn_buf_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tn_str rest = {(const char *)data + 1, size - 1};
    tn_keygen_timebased options = {0};
    tn_path_time *time = NULL;
    tarn_cx *cx;

    if (size == 0)
        return 0;
    cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    must(cx != NULL);
    options.type = (enum tn_keygen_time)(data[0] % 8);
    options.input_format = take_line(&rest);
    options.output_format = take_line(&rest);
    options.zone = take_line(&rest);
    if (tn_path_time_open(cx, &options, TN_STR("GMT-03:30"), &time) == TARN_OK)
        ask(cx, time, rest);
    else
        must(tarn_cx_error(cx)[0] != '\0');
    round_trip(cx, options.zone, rest);
    tn_path_time_close(time);
    tarn_cx_close(cx);
    return 0;
}
