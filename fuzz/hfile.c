/* Any bytes as an HFile: what opens gives entries whose keys are found again by a seek, as long as
 * they ascend. The same bytes with the right sizes at their end would be needed to get far, so a
 * trailer that is too short is none. */
#include <stdlib.h>

#include "codec/hfile/hfile.h"

#define ENTRIES_MAX 3000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

/* The smallest entry that is not before `key` has that key. */
static void find_again(tarn_cx *cx, tn_hfile_cursor *other, tn_str key)
{
    tn_str found, value;
    bool more;

    if (tn_hfile_cursor_seek(cx, other, key) != TARN_OK ||
        tn_hfile_cursor_next(cx, other, &more, &found, &value) != TARN_OK)
        return;
    must(more && tn_str_equal(found, key));
}

static void walk(tarn_cx *cx, tn_hfile *file)
{
    tn_hfile_cursor *cursor = NULL, *other = NULL;
    tn_buf last = {0}, copy = {0};
    tn_str key, value;
    bool more = true, sorted = true;
    int rc = tn_hfile_cursor_open(cx, file, &cursor);

    must(rc == TARN_OK && tn_hfile_cursor_open(cx, file, &other) == TARN_OK);
    for (size_t i = 0; i < ENTRIES_MAX && more; i++) {
        rc = tn_hfile_cursor_next(cx, cursor, &more, &key, &value);
        if (rc != TARN_OK || !more)
            break;
        tn_buf_reset(&copy);
        tn_buf_str(&copy, value); /* each byte is there */
        sorted = sorted && (i == 0 || tn_str_compare(tn_buf_view(&last), key) <= 0);
        tn_buf_reset(&last);
        tn_buf_str(&last, key);
    }
    must(rc == TARN_OK || tarn_cx_error(cx)[0] != '\0');
    if (rc == TARN_OK && !more && sorted) {
        must(tn_hfile_cursor_seek(cx, cursor, TN_STR("")) == TARN_OK);
        for (size_t i = 0; i < 100; i++) {
            must(tn_hfile_cursor_next(cx, cursor, &more, &key, &value) == TARN_OK);
            if (!more)
                break;
            find_again(cx, other, key);
        }
    }
    tn_buf_clear(&last);
    tn_buf_clear(&copy);
    tn_hfile_cursor_close(cursor);
    tn_hfile_cursor_close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_hfile *file = NULL;
    tn_buf meta = {0};
    bool present;

    must(cx != NULL);
    if (tn_hfile_open_memory(cx, (tn_str){(const char *)data, size}, TN_STR("f"), &file) ==
        TARN_OK) {
        must(tn_hfile_info(file, "schema").len <= size * 1100);
        must(tn_hfile_meta(cx, file, "bloomFilter", &present, &meta) == TARN_OK ||
             tarn_cx_error(cx)[0] != '\0');
        walk(cx, file);
    } else {
        must(tarn_cx_error(cx)[0] != '\0');
    }
    tn_buf_clear(&meta);
    tn_hfile_close(file);
    tarn_cx_close(cx);
    return 0;
}
