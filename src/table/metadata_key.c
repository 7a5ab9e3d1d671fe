/* How keys of the metadata table are spelled, and which file group a key is in
 * (HoodieTableMetadataUtil, SecondaryIndexKeyUtils).
 *
 * I1: hashes are Java's: of UTF-16 units, wrapping at 32 bits, remainders cut towards zero. */
#include <xxhash.h>

#include "base/base64.h"
#include "table/metadata_parts.h"

#define HASH_SEED 0xFFFFFFFFDABADABAu /* the int 0xdabadaba, as a long */

/* The code point at *at, which moves behind it; broken bytes stand for themselves. */
static uint32_t next_point(tn_str text, size_t *at)
{
    const uint8_t *bytes = (const uint8_t *)text.ptr + *at;
    size_t left = text.len - *at;
    uint32_t first = bytes[0];
    size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t point = more == 0 ? first : first & (0x3Fu >> more);

    if (more >= left)
        more = 0;
    for (size_t i = 1; i <= more; i++)
        point = point << 6 | (bytes[i] & 0x3F);
    *at += more + 1;
    return point;
}

static int32_t java_hash(tn_str text)
{
    uint32_t hash = 0;

    for (size_t at = 0; at < text.len;) {
        uint32_t point = next_point(text, &at);

        if (point < 0x10000) {
            hash = 31 * hash + point;
        } else {
            hash = 31 * hash + (0xD7C0 + (point >> 10));
            hash = 31 * hash + (0xDC00 | (point & 0x3FF));
        }
    }
    return (int32_t)hash;
}

size_t tn_metadata_key_group(tn_str key, size_t count)
{
    int64_t hash = java_hash(key);
    int64_t rest;

    if (count < 2)
        return 0;
    /* Math.abs leaves the smallest int as it is; the remainder then is negative. */
    if (hash < 0 && hash != INT32_MIN)
        hash = -hash;
    rest = hash % (int64_t)count;
    return (size_t)(rest < 0 ? -rest : rest);
}

void tn_metadata_key_hash(tn_buf *out, tn_str text)
{
    uint64_t hash = XXH64(text.ptr != NULL ? text.ptr : "", text.len, HASH_SEED);
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(hash >> (56 - 8 * i));
    tn_base64_encode(out, (tn_str){bytes, sizeof bytes});
}

tn_str tn_metadata_key_partition(tn_str partition)
{
    return partition.len != 0 ? partition : TN_STR(".");
}

void tn_metadata_key_secondary(tn_buf *out, tn_str value)
{
    if (value.ptr == NULL)
        tn_buf_u8(out, 0); /* null is a NUL that is not escaped */
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];

        if (c == '\\' || c == '$' || c == '\0')
            tn_buf_u8(out, '\\');
        tn_buf_u8(out, (uint8_t)c);
    }
    tn_buf_u8(out, '$');
}

int tn_metadata_key_record(tarn_cx *cx, tn_str key, tn_arena *arena, bool *found, tn_str *out)
{
    size_t at = 0, len = 0;
    char *text;

    *found = false;
    while (at < key.len && key.ptr[at] != '$')
        at += key.ptr[at] == '\\' ? 2 : 1;
    if (at >= key.len)
        return TARN_OK;
    key = tn_str_from(key, at + 1);
    text = tn_arena_take(cx, arena, key.len + 1);
    if (text == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '\\' && i + 1 < key.len)
            i++;
        text[len++] = key.ptr[i];
    }
    *found = true;
    *out = (tn_str){text, len};
    return TARN_OK;
}
