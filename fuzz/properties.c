/* Properties: any text is read; what is read, printed and read again is the same. */
#include <stdlib.h>
#include <string.h>

#include "codec/properties/properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static __attribute__((noinline)) void fail(void)
{
    abort();
}

static void check(tarn_cx *cx, const tn_properties *all, tn_arena *arena)
{
    tn_properties again = {0};
    tn_buf text = {0};

    tn_properties_print(&text, all, TN_STR("x\ny"), 0);
    if (tn_properties_parse(cx, tn_buf_view(&text), TN_STR("again"), arena, &again) != TARN_OK ||
        again.count != all->count)
        fail();
    for (size_t i = 0; i < all->count; i++)
        if (!tn_str_equal(all->items[i].key, again.items[i].key) ||
            !tn_str_equal(all->items[i].value, again.items[i].value))
            fail();
    tn_buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};
    tn_properties all = {0};

    if (cx == NULL)
        return 0;
    if (tn_properties_parse(cx, (tn_str){(const char *)data, size}, TN_STR("input"), &arena,
                            &all) == TARN_OK)
        check(cx, &all, &arena);
    else if (tarn_cx_error(cx)[0] == '\0')
        fail();
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}
