/* Prints the key filter of keys on stdin, each a little-endian int32 length and its bytes:
 *     interop_key_filter SIMPLE|DYNAMIC_V0 KEYS RATE KEYS_MAX JOBS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/bloom/key_filter.h"

static void read_keys(tn_buf *data, tn_buf *offsets)
{
    int32_t len;

    tn_buf_u32le(offsets, 0);
    while (fread(&len, sizeof len, 1, stdin) == 1) {
        uint8_t *to = tn_buf_extend(data, (size_t)len);

        if (to == NULL || fread(to, 1, (size_t)len, stdin) != (size_t)len)
            exit(1);
        tn_buf_u32le(offsets, (uint32_t)data->len);
    }
}

static int print(tarn_cx *cx, char **argv, const tn_buf *data, const tn_buf *offsets, tn_buf *out)
{
    enum tn_key_filter_kind kind =
        strcmp(argv[1], "SIMPLE") == 0 ? TN_KEY_FILTER_SIMPLE : TN_KEY_FILTER_DYNAMIC;
    int64_t count = (int64_t)(offsets->len / 4) - 1;
    tn_key_filter *filter = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_key_filter_open(cx, kind, strtoull(argv[2], NULL, 10), strtod(argv[3], NULL),
                              strtoull(argv[4], NULL, 10), &filter));
    TN_TRY(tn_key_filter_add(cx, filter, (const char *)data->data,
                             (const int32_t *)(const void *)offsets->data, count));
    TN_TRY(tn_key_filter_print(cx, filter, out));
done:
    tn_key_filter_close(filter);
    return rc;
}

int main(int argc, char **argv)
{
    tn_buf data = {0}, offsets = {0}, out = {0};
    tarn_cx *cx;
    int rc;

    if (argc != 6)
        return 2;
    cx = tarn_cx_open(&(tarn_cx_options){.jobs = (unsigned)strtoul(argv[5], NULL, 10)});
    if (cx == NULL)
        return 1;
    read_keys(&data, &offsets);
    rc = print(cx, argv, &data, &offsets, &out);
    if (rc == TARN_OK)
        fwrite(out.data, 1, out.len, stdout);
    else
        fprintf(stderr, "%s\n", tarn_cx_error(cx));
    tn_buf_clear(&data);
    tn_buf_clear(&offsets);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
    return rc != TARN_OK;
}
