/* The record of a change: one line of JSON, one line with the checksum of the first.
 * I1: a record is put whole (the store replaces atomically), so a damaged one means a damaged disk
 *     or a meddling hand: nothing is guessed from it. */
#include <inttypes.h>

#include "base/json.h"
#include "base/limits.h"
#include "commit/change.h"
#include "commit/record.h"

#define VERSION 1

static void write_files(tn_json *json, const char *key, const tn_change_file *files, size_t count)
{
    tn_json_key(json, key);
    tn_json_array(json);
    for (size_t i = 0; i < count; i++) {
        tn_json_object(json);
        tn_json_put_bytes(json, "name", files[i].name);
        tn_json_put_bytes(json, "path", files[i].path);
        tn_json_put_i64(json, "size_bytes", (int64_t)files[i].size_bytes);
        tn_json_put_i64(json, "mtime_ns", files[i].mtime_ns);
        tn_json_put_i64(json, "inode", (int64_t)files[i].inode);
        tn_json_put_bool(json, "side", files[i].side);
        tn_json_object_end(json);
    }
    tn_json_array_end(json);
}

static void write_line(const tn_change *change, tn_buf *out)
{
    tn_json json = tn_json_to(out);

    tn_json_object(&json);
    tn_json_put_text(&json, "kind", TN_STR("tarn.change"));
    tn_json_put_i64(&json, "version", VERSION);
    tn_json_put_i64(&json, "state", change->state);
    tn_json_put_i64(&json, "swap", change->swap);
    tn_json_put_bytes(&json, "run_id", change->run_id);
    tn_json_put_i64(&json, "made_ms", change->made_ms);
    tn_json_put_i64(&json, "keep_until_ms", change->keep_until_ms);
    tn_json_put_bool(&json, "times_now", change->times_now);
    tn_json_put_bool(&json, "undo", change->undo);
    tn_json_put_bytes(&json, "directory", change->directory);
    tn_json_put_bytes(&json, "staging", change->staging);
    tn_json_put_i64(&json, "old_inode", (int64_t)change->old_inode);
    tn_json_put_i64(&json, "new_inode", (int64_t)change->new_inode);
    tn_json_put_i64(&json, "atime_ns", change->atime_ns);
    tn_json_put_i64(&json, "mtime_ns", change->mtime_ns);
    write_files(&json, "leaving", change->leaving, change->leaving_count);
    write_files(&json, "entering", change->entering, change->entering_count);
    write_files(&json, "kept", change->kept, change->kept_count);
    tn_json_object_end(&json);
}

int tn_change_record_put(tarn_cx *cx, tn_store *store, const tn_change *change, tn_str path)
{
    tn_buf text = {0};
    int rc;

    write_line(change, &text);
    TN_TRY(tn_record_seal(cx, &text));
    TN_TRY(tn_store_put(cx, store, path, tn_buf_view(&text)));
done:
    tn_buf_clear(&text);
    return rc;
}

static int read_u64(tarn_cx *cx, const json_t *object, const char *key, uint64_t *out)
{
    int64_t value;
    int rc;

    TN_TRY(tn_json_get_i64(cx, object, key, &value));
    *out = (uint64_t)value;
done:
    return rc;
}

static int read_files(tarn_cx *cx, tn_arena *arena, const json_t *object, const char *key,
                      tn_change_file **files, size_t *count)
{
    json_t *array;
    int rc;

    TN_TRY(tn_json_get_items(cx, arena, object, key, sizeof **files, &array, files, count));
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(array, i);
        tn_change_file *file = &(*files)[i];

        TN_TRY(tn_json_get_bytes(cx, arena, item, "name", &file->name));
        TN_TRY(tn_json_get_bytes(cx, arena, item, "path", &file->path));
        TN_TRY(read_u64(cx, item, "size_bytes", &file->size_bytes));
        TN_TRY(tn_json_get_i64(cx, item, "mtime_ns", &file->mtime_ns));
        TN_TRY(read_u64(cx, item, "inode", &file->inode));
        TN_TRY(tn_json_get_bool(cx, item, "side", &file->side));
    }
done:
    return rc;
}

static int read_line(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_change *out)
{
    int64_t version, state, swap;
    tn_str kind;
    int rc;

    TN_TRY(tn_json_get_text(cx, arena, object, "kind", &kind));
    TN_TRY(tn_json_get_i64(cx, object, "version", &version));
    if (!tn_str_is(kind, "tarn.change") || version != VERSION)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "written by another version of tarn (\"%.*s\" %" PRId64 "); "
                "use that version to end its run",
                TN_STR_ARG(kind), version);
    TN_TRY(tn_json_get_i64(cx, object, "state", &state));
    TN_TRY(tn_json_get_i64(cx, object, "swap", &swap));
    if ((state != TN_CHANGE_BEGUN && state != TN_CHANGE_DONE) ||
        (swap != TN_SWAP_EXCHANGE && swap != TN_SWAP_JOURNAL))
        TN_FAIL(TARN_E_CORRUPT, "state %" PRId64 ", swap %" PRId64 ": no such thing", state, swap);
    out->state = (enum tn_change_state)state;
    out->swap = (enum tn_swap)swap;
    TN_TRY(tn_json_get_bytes(cx, arena, object, "run_id", &out->run_id));
    TN_TRY(tn_json_get_i64(cx, object, "made_ms", &out->made_ms));
    TN_TRY(tn_json_get_i64(cx, object, "keep_until_ms", &out->keep_until_ms));
    TN_TRY(tn_json_get_bool(cx, object, "times_now", &out->times_now));
    TN_TRY(tn_json_get_bool(cx, object, "undo", &out->undo));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "directory", &out->directory));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "staging", &out->staging));
    TN_TRY(read_u64(cx, object, "old_inode", &out->old_inode));
    TN_TRY(read_u64(cx, object, "new_inode", &out->new_inode));
    TN_TRY(tn_json_get_i64(cx, object, "atime_ns", &out->atime_ns));
    TN_TRY(tn_json_get_i64(cx, object, "mtime_ns", &out->mtime_ns));
    TN_TRY(read_files(cx, arena, object, "leaving", &out->leaving, &out->leaving_count));
    TN_TRY(read_files(cx, arena, object, "entering", &out->entering, &out->entering_count));
    TN_TRY(read_files(cx, arena, object, "kept", &out->kept, &out->kept_count));
done:
    return rc;
}

int tn_change_record_load(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena,
                          tn_change *out)
{
    tn_buf text = {0};
    json_t *object = NULL;
    tn_change change = {0};
    tn_str line;
    int rc;

    TN_TRY(tn_store_get(cx, store, path, TN_TASK_LINE_BYTES_MAX, &text));
    if (!tn_record_unseal(tn_buf_view(&text), &line))
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: the record of a change is damaged; nothing was touched: compare "
                "the files beside it with the directory by hand, then remove it",
                TN_STR_ARG(path));
    TN_TRY(tn_json_parse(cx, line, "record of a change", &object));
    rc = read_line(cx, arena, object, &change);
    if (rc != TARN_OK)
        TN_TRY(tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(path)));
    change.record = path;
    TN_TRY(tn_arena_keep(cx, arena, &change.record));
    *out = change;
done:
    json_decref(object);
    tn_buf_clear(&text);
    return rc;
}
