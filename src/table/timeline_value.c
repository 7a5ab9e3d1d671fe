/* Any file of a timeline as a tree of values, for people.
 *
 * I1: the tree owns itself: it does not point into the file's bytes, nor into its schema. */
#include <assert.h>

#include "table/commit_schema.h"
#include "table/timeline.h"

/* Copies what `value` points to into the arena, at every depth. Its depth is bounded by the codec.
 */
static int keep_value(tarn_cx *cx, tn_arena *arena, const tn_avro_value *from, tn_avro_value *out)
{
    tn_avro_value value = *from;
    int rc = TARN_OK;

    if (value.kind == TN_AVRO_STRING || value.kind == TN_AVRO_BYTES || value.kind == TN_AVRO_FIXED)
        TN_TRY(tn_arena_keep(cx, arena, &value.as.text));
    if (value.kind == TN_AVRO_ARRAY || value.kind == TN_AVRO_MAP || value.kind == TN_AVRO_RECORD) {
        size_t count = value.as.many.count;
        tn_avro_value *items = tn_arena_array(cx, arena, count, sizeof *items);
        tn_str *names = NULL;

        if (value.as.many.names != NULL)
            names = tn_arena_array(cx, arena, count, sizeof *names);
        if (items == NULL || (value.as.many.names != NULL && names == NULL))
            TN_TRY(TARN_E_NOMEM);
        for (size_t i = 0; i < count; i++) {
            if (names != NULL) {
                names[i] = from->as.many.names[i];
                TN_TRY(tn_arena_keep(cx, arena, &names[i]));
            }
            TN_TRY(keep_value(cx, arena, &from->as.many.items[i], &items[i]));
        }
        value.as.many.items = items;
        value.as.many.names = names;
    }
    *out = value;
done:
    return rc;
}

static int value_of_avro(tarn_cx *cx, tn_str bytes, tn_str path, tn_arena *arena,
                         tn_avro_value *out)
{
    tn_avro_file file = {0};
    int rc = TARN_OK;

    TN_TRY(tn_avro_file_read(cx, bytes, path, &file));
    if (file.record_count != 1)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: it holds %zu records instead of one", TN_STR_ARG(path),
                file.record_count);
    TN_TRY(keep_value(cx, arena, &file.records[0], out));
done:
    tn_avro_file_clear(&file);
    return rc;
}

/* JSON stands for commits alone; a replacecommit's schema has all that any of them has. */
static int value_of_json(tarn_cx *cx, tn_str bytes, tn_str path, tn_arena *arena,
                         tn_avro_value *out)
{
    tn_avro_schema schema = {0};
    tn_arena texts = {0};
    tn_avro_value value;
    json_t *json = NULL;
    tn_str name;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, &texts, &name, "%.*s", TN_STR_ARG(path)));
    TN_TRY(tn_json_parse(cx, bytes, name.ptr, &json));
    TN_TRY(tn_avro_schema_parse(cx, tn_str_of(tn_commit_schema_replace), "schema of a commit",
                                &schema));
    TN_TRY(tn_avro_of_json(cx, schema.root, json, &texts, &value));
    TN_TRY(keep_value(cx, arena, &value, out));
done:
    json_decref(json);
    tn_avro_schema_clear(&schema);
    tn_arena_clear(&texts);
    return rc;
}

int tn_timeline_get(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str file_name,
                    tn_arena *arena, tn_str *path, tn_buf *bytes)
{
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, arena, timeline->directory, file_name, path));
    rc = tn_store_get(cx, store, *path, TN_HUDI_INSTANT_BYTES_MAX, bytes);
    if (rc == TARN_E_NOTFOUND)
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: the instant was archived, rolled back or completed while the table was "
                "looked at: try again",
                TN_STR_ARG(*path));
done:
    return rc;
}

int tn_timeline_value(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str file_name,
                      tn_arena *arena, bool *empty, tn_avro_value *out)
{
    tn_buf bytes = {0};
    tn_avro_value value = {.kind = TN_AVRO_NULL};
    tn_str path;
    int rc = TARN_OK;

    assert(file_name.len != 0);
    TN_TRY(tn_timeline_get(cx, store, timeline, file_name, arena, &path, &bytes));
    if (tn_str_starts(tn_buf_view(&bytes), (tn_str){"Obj\x01", 4}))
        TN_TRY(value_of_avro(cx, tn_buf_view(&bytes), path, arena, &value));
    else if (bytes.len != 0)
        TN_TRY(value_of_json(cx, tn_buf_view(&bytes), path, arena, &value));
    *empty = bytes.len == 0;
    *out = value;
done:
    tn_buf_clear(&bytes);
    return rc;
}
