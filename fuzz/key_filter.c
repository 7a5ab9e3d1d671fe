/* Any bytes as a key filter: what is read as one prints as what it was, has the keys that are added
 * to it, and says its own size.
 * byte 0: 1 is base64 as it is, 0 the bytes before base64; bit 1: dynamic */
#include <stdlib.h>

#include "base/base64.h"
#include "codec/bloom/key_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void add_keys(tarn_cx *cx, tn_key_filter *filter)
{
    static const char text[] = "0id:1,name:Alice\xc3\xa9";
    static const int32_t offsets[] = {0, 1, 16, 18};
    uint64_t room = tn_key_filter_room(filter, 0);

    for (int64_t i = 0; i < 3 && room > 0; i++, room--) {
        must(tn_key_filter_add(cx, filter, text, offsets + i, 1) == TARN_OK);
        must(tn_key_filter_has(filter,
                               (tn_str){text + offsets[i], (size_t)(offsets[i + 1] - offsets[i])}));
    }
}

static void run(tarn_cx *cx, tn_str text, enum tn_key_filter_kind kind)
{
    tn_key_filter *filter = NULL, *again = NULL;
    tn_buf first = {0}, second = {0};

    if (tn_key_filter_parse(cx, text, kind, TN_STR("f"), &filter) == TARN_OK) {
        must(tn_key_filter_print(cx, filter, &first) == TARN_OK);
        must(first.len == tn_key_filter_text_bytes(filter));
        must(tn_key_filter_parse(cx, tn_buf_view(&first), kind, TN_STR("f"), &again) == TARN_OK);
        must(tn_key_filter_print(cx, again, &second) == TARN_OK);
        must(tn_str_equal(tn_buf_view(&first), tn_buf_view(&second)));
        add_keys(cx, filter);
    } else {
        must(tarn_cx_error(cx)[0] != '\0');
    }
    tn_key_filter_close(filter);
    tn_key_filter_close(again);
    tn_buf_clear(&first);
    tn_buf_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx;
    tn_buf text = {0};

    if (size == 0)
        return 0;
    cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    must(cx != NULL);
    if (data[0] & 1)
        tn_buf_add(&text, data + 1, size - 1);
    else
        tn_base64_encode(&text, (tn_str){(const char *)data + 1, size - 1});
    run(cx, tn_buf_view(&text), data[0] & 2 ? TN_KEY_FILTER_DYNAMIC : TN_KEY_FILTER_SIMPLE);
    tn_buf_clear(&text);
    tarn_cx_close(cx);
    return 0;
}
