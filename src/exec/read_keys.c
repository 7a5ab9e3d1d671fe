/* Key ranges and key filters of footers.
 * I1: a file is only ruled out by what is sure: keys whose order differs between UTF-8 bytes and
 *     Java's UTF-16 units are not compared with the range. */
#include "exec/read_keys.h"

#include "codec/bloom/key_filter.h"

/* Texts without characters from U+E000 on order the same either way. */
static bool plain_order(tn_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0xee)
            return false;
    return true;
}

static bool in_range(tn_str key, tn_str min, tn_str max)
{
    if (min.ptr == NULL || max.ptr == NULL || !plain_order(key) || !plain_order(min) ||
        !plain_order(max))
        return true;
    return tn_str_compare(key, min) >= 0 && tn_str_compare(key, max) <= 0;
}

/* NULL: the file has none, or one that cannot be used. */
static int open_filter(tarn_cx *cx, const tn_parquet *file, tn_key_filter **out)
{
    tn_str text = tn_parquet_key_value(file, "org.apache.hudi.bloomfilter");
    tn_str code = tn_parquet_key_value(file, "hoodie_bloom_filter_type_code");
    enum tn_key_filter_kind kind = TN_KEY_FILTER_SIMPLE;
    int rc;

    *out = NULL;
    if (text.ptr == NULL)
        text = tn_parquet_key_value(file, "com.uber.hoodie.bloomfilter");
    if (text.ptr == NULL ||
        (code.len != 0 && !tn_str_is(code, "DYNAMIC_V0") && !tn_str_is(code, "SIMPLE")))
        return TARN_OK;
    if (tn_str_is(code, "DYNAMIC_V0"))
        kind = TN_KEY_FILTER_DYNAMIC;
    rc = tn_key_filter_parse(cx, text, kind, file->path, out);
    if (rc == TARN_E_NOMEM || rc == TARN_OK)
        return rc;
    tn_cx_forget(cx);
    return TARN_OK;
}

int tn_read_keys_wanted(tarn_cx *cx, const tn_parquet *file, const tn_str *keys, size_t count,
                        bool *out)
{
    tn_str min = tn_parquet_key_value(file, "hoodie_min_record_key");
    tn_str max = tn_parquet_key_value(file, "hoodie_max_record_key");
    tn_key_filter *filter = NULL;
    bool wanted = false, within = false;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        within = within || in_range(keys[i], min, max);
    if (within)
        TN_TRY(open_filter(cx, file, &filter));
    for (size_t i = 0; i < count && within && !wanted; i++)
        wanted = in_range(keys[i], min, max) &&
                 (filter == NULL || keys[i].len == 0 || tn_key_filter_has(filter, keys[i]));
    *out = wanted;
done:
    tn_key_filter_close(filter);
    return rc;
}
