/* One HFile as a value. */
#include <assert.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "codec/avro/avro_schema.h"
#include "codec/hfile/hfile.h"
#include "io/store.h"
#include "tarn/inspect.h"

#define FILTER_BLOCK "bloomFilter"
#define SCHEMA_KEY   "schema"

typedef struct inspection {
    tarn_inspect_hfile face; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_hfile *file;
} inspection;

static int keep(tarn_cx *cx, inspection *self, tn_str text, const char **out)
{
    int rc = tn_arena_keep(cx, &self->arena, &text);

    if (rc == TARN_OK)
        *out = text.ptr;
    return rc;
}

static bool is_number(tn_str key)
{
    static const char *const numbers[] = {"KEY_VALUE_VERSION", "MAX_MEMSTORE_TS_KEY",
                                          "hfile.AVG_KEY_LEN", "hfile.AVG_VALUE_LEN",
                                          "hfile.CREATE_TIME_TS"};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (tn_str_is(key, numbers[i]))
            return true;
    return false;
}

/* Numbers as numbers, text as text, all else in hexadecimal. The last key is a key with its length
 * in front: its row is shown as last_key. */
static int print_value(tarn_cx *cx, inspection *self, const tn_hfile_pair *pair,
                       tarn_inspect_key *out)
{
    tn_cursor in = tn_cursor_of(pair->value.ptr, pair->value.len);
    tn_buf text = {0};
    int rc = TARN_OK;

    if (is_number(pair->key) && pair->value.len == 4)
        tn_buf_print(&text, "%d", (int)(int32_t)tn_cursor_u32be(&in));
    else if (is_number(pair->key) && pair->value.len == 8)
        tn_buf_print(&text, "%lld", (long long)(int64_t)tn_cursor_u64be(&in));
    else if (tn_str_utf8(pair->value) && tn_str_find(pair->value, '\0') == pair->value.len)
        tn_buf_str(&text, pair->value);
    else
        for (size_t i = 0; i < pair->value.len; i++)
            tn_buf_print(&text, "%02x", (uint8_t)pair->value.ptr[i]);
    TN_TRY(tn_buf_check(cx, &text));
    out->value_bytes = text.len;
    TN_TRY(keep(cx, self, pair->key, &out->key));
    TN_TRY(keep(cx, self, tn_buf_view(&text), &out->value));
done:
    tn_buf_clear(&text);
    return rc;
}

static int fill_info(tarn_cx *cx, inspection *self)
{
    size_t count = tn_hfile_info_count(self->file);
    tarn_inspect_key *keys = tn_arena_array(cx, &self->arena, count + 1, sizeof *keys);
    int rc = TARN_OK;

    if (keys == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        tn_hfile_pair pair = tn_hfile_info_at(self->file, i);

        if (tn_str_is(pair.key, SCHEMA_KEY))
            continue;
        TN_TRY(print_value(cx, self, &pair, &keys[self->face.key_count]));
        self->face.key_count++;
    }
    self->face.keys = keys;
done:
    return rc;
}

/* The record's name where the schema can be parsed. */
static int fill_schema(tarn_cx *cx, inspection *self)
{
    tn_str text = tn_hfile_info(self->file, SCHEMA_KEY);
    tn_avro_schema schema = {0};
    int rc = TARN_OK;

    if (text.ptr == NULL)
        return TARN_OK;
    rc = tn_avro_schema_parse(cx, text, "schema", &schema);
    if (rc == TARN_OK) {
        TN_TRY(keep(cx, self, text, &self->face.schema));
        TN_TRY(keep(cx, self, schema.root->full, &self->face.record));
    } else if (rc != TARN_E_NOMEM) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    tn_avro_schema_clear(&schema);
    return rc;
}

static int keep_key(tarn_cx *cx, inspection *self, tn_str key, tarn_inspect_key *out)
{
    out->key = "";
    out->value_bytes = key.len;
    return keep(cx, self, key, &out->value);
}

/* First key by a cursor; the last out of the last block. */
static int fill_ends(tarn_cx *cx, inspection *self)
{
    tn_hfile_cursor *cursor = NULL;
    tn_str key, value;
    bool more;
    int rc = TARN_OK;

    TN_TRY(tn_hfile_cursor_open(cx, self->file, &cursor));
    TN_TRY(tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
    if (!more)
        goto done;
    TN_TRY(keep_key(cx, self, key, &self->face.first_key));
    TN_TRY(tn_hfile_cursor_seek_last(cx, cursor));
    for (;;) {
        TN_TRY(tn_hfile_cursor_next(cx, cursor, &more, &key, &value));
        if (!more)
            break;
        TN_TRY(keep_key(cx, self, key, &self->face.last_key));
    }
done:
    tn_hfile_cursor_close(cursor);
    return rc;
}

static int fill(tarn_cx *cx, inspection *self, tn_str place, uint64_t size)
{
    tn_hfile_traits traits = tn_hfile_traits_of(self->file);
    tn_buf filter = {0};
    bool present;
    int rc = TARN_OK;

    self->face.file_bytes = size;
    self->face.entries = tn_hfile_count(self->file);
    self->face.blocks = traits.blocks;
    self->face.meta_blocks = traits.meta_blocks;
    self->face.levels = traits.levels;
    self->face.codec = traits.codec;
    self->face.writer = traits.minor == 0 ? "Hudi" : "HBase";
    TN_TRY(keep(cx, self, place, &self->face.path));
    TN_TRY(fill_info(cx, self));
    TN_TRY(fill_schema(cx, self));
    TN_TRY(fill_ends(cx, self));
    TN_TRY(tn_hfile_meta(cx, self->file, FILTER_BLOCK, &present, &filter));
    self->face.filter_bytes = present ? filter.len : 0;
done:
    tn_buf_clear(&filter);
    return rc;
}

int tarn_inspect_hfile_open(tarn_cx *cx, const char *path, tarn_inspect_hfile **out)
{
    inspection *self = tn_calloc(cx, 1, sizeof *self);
    tn_str place;
    tn_stat stat;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &self->arena, &self->store, &place));
    TN_TRY(tn_store_stat(cx, self->store, place, &stat));
    TN_TRY(tn_hfile_open(cx, self->store, place, 0, stat.size_bytes, &self->file));
    TN_TRY(fill(cx, self, place, stat.size_bytes));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_inspect_hfile_close(&self->face);
    return rc;
}

void tarn_inspect_hfile_close(tarn_inspect_hfile *hfile)
{
    inspection *self = (inspection *)hfile;

    if (self == NULL)
        return;
    tn_hfile_close(self->file);
    tn_store_close(self->store);
    tn_arena_clear(&self->arena);
    free(self);
}
