/* Any one file that is no Parquet: Avro, JSON of a timeline, properties; and what a path is. */
#include <assert.h>
#include <stdlib.h>

#include "codec/avro/avro_file.h"
#include "codec/properties/properties.h"
#include "io/store.h"
#include "tarn/inspect.h"

#define TN_INSPECT_BYTES_MAX (256u << 20)

typedef struct inspection {
    tarn_inspect_text face; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_buf bytes;
} inspection;

static const char *keep(tarn_cx *cx, tn_arena *arena, tn_str text)
{
    return tn_arena_keep(cx, arena, &text) == TARN_OK ? text.ptr : NULL;
}

static int kind_of_dir(tarn_cx *cx, tn_store *store, tn_str place, tn_arena *arena,
                       enum tarn_inspect_kind *out)
{
    tn_str hoodie;
    bool there;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, arena, place, TN_STR(".hoodie"), &hoodie));
    TN_TRY(tn_store_exists(cx, store, hoodie, &there));
    *out = there ? TARN_INSPECT_HUDI : TARN_INSPECT_DIR;
done:
    return rc;
}

#define HFILE_TRAILER_BYTES 4096

/* An HFile begins with a block, of whatever kind; one whose first block is damaged has its trailer.
 */
static int is_hfile(tarn_cx *cx, tn_file *file, uint64_t size, const uint8_t *head, bool *out)
{
    static const char magics[][9] = {"DATABLK*", "DATABLKE", "METABLKc", "IDXROOT2",
                                     "IDXLEAF2", "IDXINTE2", "FILEINF2", "BLMFBLK2"};
    uint8_t tail[8];
    int rc = TARN_OK;

    *out = false;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0] && !*out; i++)
        *out = memcmp(head, magics[i], 8) == 0;
    if (*out || size < HFILE_TRAILER_BYTES)
        return TARN_OK;
    TN_TRY(tn_store_read(cx, file, size - HFILE_TRAILER_BYTES, tail, sizeof tail));
    *out = memcmp(tail, "TRABLK\"$", 8) == 0;
done:
    return rc;
}

static int kind_of_file(tarn_cx *cx, tn_store *store, tn_str place, uint64_t size,
                        enum tarn_inspect_kind *out)
{
    tn_str name = tn_path_name(place);
    tn_file *file = NULL;
    uint8_t head[8] = {0};
    bool hfile;
    int rc = TARN_OK;

    *out = TARN_INSPECT_PARQUET;
    if (tn_str_ends(name, TN_STR(".properties")) ||
        tn_str_ends(name, TN_STR(".properties.backup")) ||
        tn_str_is(name, ".hoodie_partition_metadata")) {
        *out = TARN_INSPECT_PROPERTIES;
        goto done;
    }
    if (size == 0) {
        *out = TARN_INSPECT_EMPTY;
        goto done;
    }
    TN_TRY(tn_store_open_file(cx, store, place, &file));
    TN_TRY(tn_store_read(cx, file, 0, head, size < sizeof head ? (size_t)size : sizeof head));
    TN_TRY(is_hfile(cx, file, size, head, &hfile));
    if (memcmp(head, "Obj\x01", 4) == 0)
        *out = TARN_INSPECT_AVRO;
    else if (memcmp(head, "#HUDI#", 6) == 0)
        *out = TARN_INSPECT_LOG;
    else if (head[0] == '{')
        *out = TARN_INSPECT_JSON;
    else if (hfile && memcmp(head, "PAR1", 4) != 0)
        *out = TARN_INSPECT_HFILE;
done:
    tn_store_close_file(file);
    return rc;
}

int tarn_inspect_kind_of(tarn_cx *cx, const char *path, enum tarn_inspect_kind *out)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str place;
    tn_stat stat;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &place));
    TN_TRY(tn_store_stat(cx, store, place, &stat));
    TN_TRY(stat.kind == TN_ENTRY_DIR ? kind_of_dir(cx, store, place, &arena, out)
                                     : kind_of_file(cx, store, place, stat.size_bytes, out));
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

static int fill_avro(tarn_cx *cx, inspection *self, tn_str place)
{
    tn_avro_file file = {0};
    const char **records;
    tn_buf text = {0};
    tn_json json;
    int rc = TARN_OK;

    TN_TRY(tn_avro_file_read(cx, tn_buf_view(&self->bytes), place, &file));
    self->face.record = keep(cx, &self->arena, file.schema.root->full);
    tn_avro_print(&text, file.schema.root);
    TN_TRY(tn_buf_check(cx, &text));
    self->face.schema = keep(cx, &self->arena, tn_buf_view(&text));
    records = tn_arena_array(cx, &self->arena, file.record_count + 1, sizeof *records);
    if (self->face.record == NULL || self->face.schema == NULL || records == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < file.record_count; i++) {
        tn_buf_reset(&text);
        json = tn_json_to(&text);
        tn_avro_to_json(&json, &file.records[i]);
        TN_TRY(tn_buf_check(cx, &text));
        records[i] = keep(cx, &self->arena, tn_buf_view(&text));
        if (records[i] == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    self->face.records = records;
    self->face.record_count = file.record_count;
done:
    tn_buf_clear(&text);
    tn_avro_file_clear(&file);
    return rc;
}

static int fill_json(tarn_cx *cx, inspection *self, tn_str place)
{
    const char **records = tn_arena_array(cx, &self->arena, 1, sizeof *records);
    tn_buf text = {0};
    tn_json json = tn_json_to(&text);
    json_t *value = NULL;
    tn_str what = place;
    int rc = TARN_OK;

    if (records == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_arena_keep(cx, &self->arena, &what));
    TN_TRY(tn_json_parse(cx, tn_buf_view(&self->bytes), what.ptr, &value));
    tn_json_value(&json, value);
    TN_TRY(tn_buf_check(cx, &text));
    records[0] = keep(cx, &self->arena, tn_buf_view(&text));
    if (records[0] == NULL)
        TN_TRY(TARN_E_NOMEM);
    self->face.records = records;
    self->face.record_count = 1;
done:
    json_decref(value);
    tn_buf_clear(&text);
    return rc;
}

static int fill_properties(tarn_cx *cx, inspection *self, tn_str place)
{
    tn_properties all = {0};
    tarn_inspect_key *keys;
    int rc = TARN_OK;

    TN_TRY(tn_properties_parse(cx, tn_buf_view(&self->bytes), place, &self->arena, &all));
    keys = tn_arena_array(cx, &self->arena, all.count + 1, sizeof *keys);
    if (keys == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < all.count; i++) {
        keys[i].key = keep(cx, &self->arena, all.items[i].key);
        keys[i].value = keep(cx, &self->arena, all.items[i].value);
        keys[i].value_bytes = all.items[i].value.len;
        if (keys[i].key == NULL || keys[i].value == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    self->face.keys = keys;
    self->face.key_count = all.count;
done:
    return rc;
}

int tarn_inspect_text_open(tarn_cx *cx, const char *path, enum tarn_inspect_kind kind,
                           tarn_inspect_text **out)
{
    inspection *self = tn_calloc(cx, 1, sizeof *self);
    tn_str place;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &self->arena, &self->store, &place));
    TN_TRY(tn_store_get(cx, self->store, place, TN_INSPECT_BYTES_MAX, &self->bytes));
    self->face.path = keep(cx, &self->arena, place);
    if (self->face.path == NULL)
        TN_TRY(TARN_E_NOMEM);
    self->face.file_bytes = self->bytes.len;
    if (kind == TARN_INSPECT_AVRO)
        TN_TRY(fill_avro(cx, self, place));
    else if (kind == TARN_INSPECT_JSON)
        TN_TRY(fill_json(cx, self, place));
    else if (kind == TARN_INSPECT_PROPERTIES)
        TN_TRY(fill_properties(cx, self, place));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_inspect_text_close(&self->face);
    return rc;
}

void tarn_inspect_text_close(tarn_inspect_text *text)
{
    inspection *self = (inspection *)text;

    if (self == NULL)
        return;
    tn_buf_clear(&self->bytes);
    tn_store_close(self->store);
    tn_arena_clear(&self->arena);
    free(self);
}
