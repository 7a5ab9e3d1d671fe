/* Where a record key goes: its bucket, and its place among the buckets of an upsert.
 * I1: a key is taken apart by its text alone, as Hudi does (KeyGenUtils.extractRecordKeysByFields),
 *     so a value that looks like ",field:" is cut there too. */
#include "base/java_map.h"
#include "base/md5.h"
#include "batch/record_key.h"

#define NULL_TEXT  TN_STR("__null__")
#define EMPTY_TEXT TN_STR("__empty__")

static bool is_among(tn_str field, const tn_str *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tn_str_equal(field, fields[i]))
            return true;
    return count == 0;
}

/* Where the value that starts after the colon at `colon` ends: at the last comma before the next
 * colon that has one, else at the end. */
static size_t value_end(tn_str key, size_t colon)
{
    size_t comma = 0;

    for (size_t i = colon + 1; i < key.len; i++) {
        if (key.ptr[i] == ',')
            comma = i;
        else if (key.ptr[i] == ':' && comma != 0)
            return comma;
    }
    return key.len;
}

static uint32_t hash_of(tn_str value)
{
    if (tn_str_equal(value, NULL_TEXT))
        return 0;
    return (uint32_t)tn_java_hash(tn_str_equal(value, EMPTY_TEXT) ? TN_STR("") : value);
}

uint32_t tn_record_key_bucket(tn_str key, const tn_str *keys, size_t key_count,
                              const tn_str *hash_fields, size_t hash_count, uint32_t buckets)
{
    uint32_t hash = 1;

    if (hash_count == 0) {
        hash_fields = keys;
        hash_count = key_count;
    }
    if (tn_str_find(key, ',') == key.len || tn_str_find(key, ':') == key.len) {
        hash = 31 + (uint32_t)tn_java_hash(key);
        return (hash & 0x7fffffff) % buckets;
    }
    for (size_t at = 0; at < key.len;) {
        tn_str rest = tn_str_from(key, at);
        size_t colon = at + tn_str_find(rest, ':'), end;

        if (colon >= key.len)
            break;
        end = value_end(key, colon);
        if (is_among((tn_str){key.ptr + at, colon - at}, hash_fields, hash_count))
            hash = 31 * hash + hash_of((tn_str){key.ptr + colon + 1, end - colon - 1});
        at = end + 1;
    }
    return (hash & 0x7fffffff) % buckets;
}

int64_t tn_record_key_md5(tn_str key)
{
    uint8_t digest[16];
    int64_t first;

    tn_md5(key, digest);
    memcpy(&first, digest, sizeof first);
    return first;
}
