/* Entries of an HFile in their order. A data block's content is entries behind each other:
 *
 *   4  length of the key, K
 *   4  length of the value, V
 *   2  length of the row, R (at most 32,767)
 *   R  row: Hudi's key
 *   .  family (1 byte, its length: 0), 8 timestamp, 1 type: 4, a put; all in all K bytes
 *   V  value
 *   1  a number of HBase's transactions, always 0, where the file info says so
 *
 *   00 00 00 1e  00 00 00 1a  00 12 "__all_partitions__"  00  7f ff ff ff ff ff ff ff  04  …26…  00
 *
 * I1: entries end where the content ends, never before it (Hudi's own readers of 0.15 to 1.2 stop
 *     short of the last ones of some files; errata.md).
 * I2: a seek unpacks one block, two where the key may also end the block before the one that the
 *     index says it begins: the same key may stand there many times. */
#include <assert.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "codec/hfile/hfile_parts.h"

#define TYPE_PUT 4

typedef struct entry {
    tn_str key, value;
    size_t bytes;
} entry;

struct tn_hfile_cursor {
    tn_hfile *file;
    tn_hfile_block block;
    size_t place; /* of the block at hand; place_count: none */
    size_t at;    /* in its content */
    tn_str last;  /* the key before `at` in this block; ptr NULL: none, or not known */
    bool loaded;
};

int tn_hfile_cursor_open(tarn_cx *cx, tn_hfile *file, tn_hfile_cursor **out)
{
    tn_hfile_cursor *cursor = tn_calloc(cx, 1, sizeof *cursor);

    if (cursor == NULL)
        return TARN_E_NOMEM;
    cursor->file = file;
    *out = cursor;
    return TARN_OK;
}

void tn_hfile_cursor_close(tn_hfile_cursor *cursor)
{
    if (cursor == NULL)
        return;
    tn_hfile_block_clear(&cursor->block);
    free(cursor);
}

static int corrupt(tarn_cx *cx, const tn_hfile_cursor *cursor, const char *what)
{
    const tn_hfile *file = cursor->file;

    return tn_fail(cx, TARN_E_CORRUPT,
                   "%.*s: data block at byte %llu, byte %zu in it: %s: the HFile is damaged",
                   TN_STR_ARG(file->path),
                   (unsigned long long)(file->base + file->places[cursor->place].offset),
                   cursor->at, what);
}

static int load_block(tarn_cx *cx, tn_hfile_cursor *cursor, size_t place)
{
    tn_hfile *file = cursor->file;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    cursor->loaded = false;
    cursor->place = place;
    cursor->at = 0;
    cursor->last = (tn_str){NULL, 0};
    TN_TRY(tn_hfile_block_read(cx, file, file->places[place].offset, file->load_at,
                               file->places[place].bytes, "DATABLK*", &cursor->block));
    cursor->loaded = true;
done:
    return rc;
}

/* The number behind a value: Hadoop's VLong. */
static void skip_vlong(tn_cursor *in)
{
    int8_t first = (int8_t)tn_cursor_u8(in);

    if (first < -112)
        (void)tn_cursor_take(in, (size_t)(first < -120 ? -120 - first : -112 - first));
}

static int read_entry(tarn_cx *cx, const tn_hfile_cursor *cursor, entry *out)
{
    tn_str left = tn_str_from(cursor->block.content, cursor->at);
    tn_cursor in = tn_cursor_of(left.ptr, left.len);
    uint32_t key_bytes = tn_cursor_u32be(&in);
    uint32_t value_bytes = tn_cursor_u32be(&in);
    tn_str key = tn_cursor_take(&in, key_bytes);

    out->value = tn_cursor_take(&in, value_bytes);
    if (cursor->file->has_mvcc)
        skip_vlong(&in);
    if (in.failed)
        return corrupt(cx, cursor, "an entry reaches beyond the block");
    if (!tn_hfile_index_row(key, &out->key) || key.len < out->key.len + 12)
        return corrupt(cx, cursor, "a key without a row");
    if ((uint8_t)key.ptr[key.len - 1] != TYPE_PUT)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "%.*s: an entry that HBase takes for a deletion: Hudi writes none",
                       TN_STR_ARG(cursor->file->path));
    out->bytes = in.at;
    return TARN_OK;
}

int tn_hfile_cursor_next(tarn_cx *cx, tn_hfile_cursor *cursor, bool *more, tn_str *key,
                         tn_str *value)
{
    tn_hfile *file = cursor->file;
    entry e;
    int rc = TARN_OK;

    *more = false;
    while (cursor->place < file->place_count) {
        if (!cursor->loaded)
            TN_TRY(load_block(cx, cursor, cursor->place));
        if (cursor->at < cursor->block.content.len) {
            TN_TRY(read_entry(cx, cursor, &e));
            cursor->at += e.bytes;
            cursor->last = e.key;
            *key = e.key;
            *value = e.value;
            *more = true;
            break;
        }
        cursor->place++;
        cursor->loaded = false;
        cursor->at = 0;
        cursor->last = (tn_str){NULL, 0};
    }
done:
    return rc;
}

/* The last block whose index key is smaller than `key`, or the first. */
static size_t find_place(const tn_hfile *file, tn_str key)
{
    size_t low = 0, high = file->place_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tn_str_compare(file->places[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? low - 1 : 0;
}

int tn_hfile_cursor_seek(tarn_cx *cx, tn_hfile_cursor *cursor, tn_str key)
{
    tn_hfile *file = cursor->file;
    size_t place = find_place(file, key);
    entry e;
    int rc = TARN_OK;

    if (file->place_count == 0)
        goto done;
    if (!cursor->loaded || cursor->place != place)
        TN_TRY(load_block(cx, cursor, place));
    /* From here on where all before is smaller; else from the block's begin. */
    if (cursor->last.ptr == NULL || tn_str_compare(cursor->last, key) >= 0) {
        cursor->at = 0;
        cursor->last = (tn_str){NULL, 0};
    }
    while (cursor->at < cursor->block.content.len) {
        TN_TRY(read_entry(cx, cursor, &e));
        if (tn_str_compare(e.key, key) >= 0)
            break;
        cursor->at += e.bytes;
        cursor->last = e.key;
    }
done:
    return rc;
}

int tn_hfile_cursor_seek_last(tarn_cx *cx, tn_hfile_cursor *cursor)
{
    size_t count = cursor->file->place_count;

    return count != 0 ? load_block(cx, cursor, count - 1) : TARN_OK;
}
