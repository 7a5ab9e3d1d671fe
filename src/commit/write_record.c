/* The record of a write: one line of JSON, one line with the checksum of the first. Files are
 * arrays, not objects: a run may replace a million.
 * I1: nothing in it is believed that leads out of the root or of the run's own staging: both follow
 *     from the place of the record, and what it names lies below them.
 * I2: it is put whole, so a damaged one means a damaged disk or a meddling hand: nothing is guessed
 *     from it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "commit/record.h"
#include "commit/write_run.h"

#define VERSION  1
#define NAME_END ".write.json"

bool tn_write_record_named(tn_str path)
{
    return tn_str_ends(path, TN_STR(NAME_END));
}

int tn_write_record_place(tarn_cx *cx, tn_arena *arena, tn_str root, tn_str work,
                          tn_write_record *record)
{
    tn_str changes, name;
    int rc;

    record->root = root;
    TN_TRY(tn_write_commit_staging(cx, arena, work, record->run_id, &record->staging));
    TN_TRY(tn_path_join(cx, arena, work, TN_STR("changes"), &changes));
    TN_TRY(tn_arena_print(cx, arena, &name, "%.*s" NAME_END, TN_STR_ARG(record->run_id)));
    TN_TRY(tn_path_join(cx, arena, changes, name, &record->record));
    for (size_t i = 0; i < record->step_count; i++) {
        tn_write_step *step = &record->steps[i];

        TN_TRY(tn_path_join(cx, arena, root, step->path, &step->directory));
        TN_TRY(tn_arena_print(cx, arena, &name, "s%05zu", i));
        TN_TRY(tn_path_join(cx, arena, record->staging, name, &step->staging));
    }
done:
    return rc;
}

static void write_entering(tn_json *json, const tn_write_record *record, const tn_write_step *step)
{
    tn_json_key(json, "entering");
    tn_json_array(json);
    for (size_t i = 0; i < step->entering_count; i++) {
        const tn_change_file *file = &step->entering[i];

        tn_json_array(json);
        tn_json_bytes(json, file->name);
        tn_json_bytes(json, tn_str_from(file->path, record->staging.len + 1));
        tn_json_i64(json, (int64_t)file->size_bytes);
        tn_json_i64(json, (int64_t)file->inode);
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static void write_leaving(tn_json *json, const tn_write_step *step)
{
    tn_json_key(json, "leaving");
    tn_json_array(json);
    for (size_t i = 0; i < step->leaving_count; i++) {
        const tn_change_file *file = &step->leaving[i];

        tn_json_array(json);
        tn_json_bytes(json, file->name);
        tn_json_i64(json, (int64_t)file->size_bytes);
        tn_json_i64(json, file->mtime_ns);
        tn_json_i64(json, (int64_t)file->inode);
        tn_json_i64(json, (file->side ? 1 : 0) | (file->link ? 2 : 0));
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static void write_kept(tn_json *json, const tn_write_step *step)
{
    tn_json_key(json, "kept");
    tn_json_array(json);
    for (size_t i = 0; i < step->kept_count; i++) {
        tn_json_array(json);
        tn_json_bytes(json, step->kept[i].name);
        tn_json_i64(json, (int64_t)step->kept[i].inode);
        tn_json_array_end(json);
    }
    tn_json_array_end(json);
}

static void write_line(const tn_write_record *record, tn_buf *out)
{
    tn_json json = tn_json_to(out);

    tn_json_object(&json);
    tn_json_put_text(&json, "kind", TN_STR("tarn.write"));
    tn_json_put_i64(&json, "version", VERSION);
    tn_json_put_i64(&json, "state", record->state);
    tn_json_put_bytes(&json, "run_id", record->run_id);
    tn_json_put_bytes(&json, "root", record->root);
    tn_json_put_i64(&json, "made_ms", record->made_ms);
    tn_json_key(&json, "steps");
    tn_json_array(&json);
    for (size_t i = 0; i < record->step_count; i++) {
        const tn_write_step *step = &record->steps[i];

        tn_json_object(&json);
        tn_json_put_i64(&json, "way", step->way);
        tn_json_put_bytes(&json, "path", step->path);
        tn_json_put_i64(&json, "old_inode", (int64_t)step->old_inode);
        tn_json_put_i64(&json, "new_inode", (int64_t)step->new_inode);
        tn_json_put_bool(&json, "made", step->made);
        tn_json_put_bool(&json, "emptied", step->emptied);
        write_entering(&json, record, step);
        write_leaving(&json, step);
        write_kept(&json, step);
        tn_json_object_end(&json);
    }
    tn_json_array_end(&json);
    tn_json_object_end(&json);
}

int tn_write_record_put(tarn_cx *cx, tn_store *store, const tn_write_record *record, bool absent)
{
    tn_buf text = {0};
    int rc;

    write_line(record, &text);
    TN_TRY(tn_buf_check(cx, &text));
    if (text.len >= TN_TASK_LINE_BYTES_MAX - 64)
        TN_FAIL(TARN_E_LIMIT,
                "%.*s: the record of what enters and leaves is larger than %u bytes; nothing was "
                "touched: write fewer partitions in one run",
                TN_STR_ARG(record->root), TN_TASK_LINE_BYTES_MAX);
    TN_TRY(tn_record_seal(cx, &text));
    if (absent)
        TN_TRY(tn_store_put_absent(cx, store, record->record, tn_buf_view(&text)));
    else
        TN_TRY(tn_store_put(cx, store, record->record, tn_buf_view(&text)));
done:
    tn_buf_clear(&text);
    return rc;
}

static bool is_plain(tn_str part)
{
    return part.len != 0 && !tn_str_is(part, ".") && !tn_str_is(part, "..") &&
           tn_str_find(part, '/') == part.len && tn_str_find(part, '\0') == part.len;
}

bool tn_write_record_goes_down(tn_str path)
{
    for (;;) {
        size_t end = tn_str_find(path, '/');

        if (!is_plain((tn_str){path.ptr, end}))
            return false;
        if (end == path.len)
            return true;
        path = tn_str_from(path, end + 1);
    }
}

static int malformed(tarn_cx *cx, const char *what)
{
    return tn_fail(cx, TARN_E_CORRUPT, "its %s are not as tarn writes them", what);
}

/* An array of `count` items: a byte string, perhaps a second one, then integers. */
static int read_item(tarn_cx *cx, tn_arena *arena, const json_t *item, tn_str *texts,
                     size_t text_count, int64_t *numbers, size_t number_count)
{
    int rc = TARN_OK;

    if (!json_is_array(item) || json_array_size(item) != text_count + number_count)
        return malformed(cx, "files");
    for (size_t i = 0; i < text_count; i++)
        TN_TRY(tn_json_bytes_of(cx, arena, json_array_get(item, i), &texts[i]));
    for (size_t i = 0; i < number_count; i++) {
        const json_t *value = json_array_get(item, text_count + i);

        if (!json_is_integer(value))
            TN_TRY(malformed(cx, "files"));
        numbers[i] = json_integer_value(value);
    }
done:
    return rc;
}

static int read_entering(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_write_step *step)
{
    json_t *array;
    int rc;

    TN_TRY(tn_json_get_items(cx, arena, object, "entering", sizeof *step->entering, &array,
                             &step->entering, &step->entering_count));
    for (size_t i = 0; i < step->entering_count; i++) {
        tn_str texts[2];
        int64_t numbers[2];

        TN_TRY(read_item(cx, arena, json_array_get(array, i), texts, 2, numbers, 2));
        if (!tn_write_record_goes_down(texts[0]) || !tn_write_record_goes_down(texts[1]) ||
            (step->way != TN_WRITE_TREE && !is_plain(texts[0])))
            TN_TRY(malformed(cx, "names"));
        step->entering[i] = (tn_change_file){.name = texts[0],
                                             .path = texts[1],
                                             .size_bytes = (uint64_t)numbers[0],
                                             .inode = (uint64_t)numbers[1]};
    }
done:
    return rc;
}

static int read_leaving(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_write_step *step)
{
    json_t *array;
    int rc;

    TN_TRY(tn_json_get_items(cx, arena, object, "leaving", sizeof *step->leaving, &array,
                             &step->leaving, &step->leaving_count));
    for (size_t i = 0; i < step->leaving_count; i++) {
        tn_str name;
        int64_t numbers[4];

        TN_TRY(read_item(cx, arena, json_array_get(array, i), &name, 1, numbers, 4));
        if (!is_plain(name) || (numbers[3] & ~3) != 0)
            TN_TRY(malformed(cx, "names"));
        step->leaving[i] = (tn_change_file){.name = name,
                                            .size_bytes = (uint64_t)numbers[0],
                                            .mtime_ns = numbers[1],
                                            .inode = (uint64_t)numbers[2],
                                            .side = (numbers[3] & 1) != 0,
                                            .link = (numbers[3] & 2) != 0};
    }
done:
    return rc;
}

static int read_kept(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_write_step *step)
{
    json_t *array;
    int rc;

    TN_TRY(tn_json_get_items(cx, arena, object, "kept", sizeof *step->kept, &array, &step->kept,
                             &step->kept_count));
    for (size_t i = 0; i < step->kept_count; i++) {
        tn_str name;
        int64_t inode;

        TN_TRY(read_item(cx, arena, json_array_get(array, i), &name, 1, &inode, 1));
        if (!is_plain(name))
            TN_TRY(malformed(cx, "names"));
        step->kept[i] = (tn_change_file){.name = name, .inode = (uint64_t)inode};
    }
done:
    return rc;
}

static int read_step(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_write_step *step)
{
    int64_t way, old_inode, new_inode;
    int rc;

    TN_TRY(tn_json_get_i64(cx, object, "way", &way));
    if (way < TN_WRITE_TREE || way > TN_WRITE_RENAME)
        TN_FAIL(TARN_E_CORRUPT, "way %" PRId64 ": no such thing", way);
    step->way = (enum tn_write_way)way;
    TN_TRY(tn_json_get_bytes(cx, arena, object, "path", &step->path));
    if (step->path.len != 0 && !tn_write_record_goes_down(step->path))
        TN_TRY(malformed(cx, "names"));
    TN_TRY(tn_json_get_i64(cx, object, "old_inode", &old_inode));
    TN_TRY(tn_json_get_i64(cx, object, "new_inode", &new_inode));
    step->old_inode = (uint64_t)old_inode;
    step->new_inode = (uint64_t)new_inode;
    TN_TRY(tn_json_get_bool(cx, object, "made", &step->made));
    TN_TRY(tn_json_get_bool(cx, object, "emptied", &step->emptied));
    TN_TRY(read_entering(cx, arena, object, step));
    TN_TRY(read_leaving(cx, arena, object, step));
    TN_TRY(read_kept(cx, arena, object, step));
done:
    return rc;
}

static int read_line(tarn_cx *cx, tn_arena *arena, const json_t *object, tn_write_record *out)
{
    int64_t version, state;
    tn_str kind;
    json_t *steps;
    int rc;

    TN_TRY(tn_json_get_text(cx, arena, object, "kind", &kind));
    TN_TRY(tn_json_get_i64(cx, object, "version", &version));
    if (!tn_str_is(kind, "tarn.write") || version != VERSION)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "written by another version of tarn (\"%.*s\" %" PRId64 "); use that version to "
                "end its run",
                TN_STR_ARG(kind), version);
    TN_TRY(tn_json_get_i64(cx, object, "state", &state));
    if (state != TN_CHANGE_BEGUN && state != TN_CHANGE_DONE)
        TN_FAIL(TARN_E_CORRUPT, "state %" PRId64 ": no such thing", state);
    out->state = (enum tn_change_state)state;
    TN_TRY(tn_json_get_bytes(cx, arena, object, "run_id", &out->run_id));
    if (!is_plain(out->run_id))
        TN_TRY(malformed(cx, "names"));
    TN_TRY(tn_json_get_bytes(cx, arena, object, "root", &out->root));
    TN_TRY(tn_json_get_i64(cx, object, "made_ms", &out->made_ms));
    TN_TRY(tn_json_get_items(cx, arena, object, "steps", sizeof *out->steps, &steps, &out->steps,
                             &out->step_count));
    for (size_t i = 0; i < out->step_count; i++)
        TN_TRY(read_step(cx, arena, json_array_get(steps, i), &out->steps[i]));
done:
    return rc;
}

int tn_write_record_load(tarn_cx *cx, tn_store *store, tn_str path, tn_str root, tn_str work,
                         tn_arena *arena, tn_write_record *out)
{
    tn_buf text = {0};
    json_t *object = NULL;
    tn_write_record record = {0};
    tn_str line, recorded_root;
    int rc;

    TN_TRY(tn_store_get(cx, store, path, TN_TASK_LINE_BYTES_MAX, &text));
    if (!tn_record_unseal(tn_buf_view(&text), &line))
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: the record of a write is damaged; nothing was touched: compare the files "
                "beside it with the directory by hand, then remove it",
                TN_STR_ARG(path));
    TN_TRY(tn_json_parse(cx, line, "record of a write", &object));
    rc = read_line(cx, arena, object, &record);
    if (rc != TARN_OK)
        TN_TRY(tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(path)));
    recorded_root = record.root;
    TN_TRY(tn_write_record_place(cx, arena, root, work, &record));
    if (!tn_str_equal(recorded_root, root) || !tn_str_equal(record.record, path))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: the record of a write into %.*s, which is not %.*s: move the directory and "
                "its work directory back to where they were, run again, and move them then",
                TN_STR_ARG(path), TN_STR_ARG(recorded_root), TN_STR_ARG(root));
    for (size_t i = 0; i < record.step_count; i++)
        for (size_t k = 0; k < record.steps[i].entering_count; k++) {
            tn_change_file *file = &record.steps[i].entering[k];

            TN_TRY(tn_path_join(cx, arena, record.staging, file->path, &file->path));
        }
    *out = record;
done:
    json_decref(object);
    tn_buf_clear(&text);
    return rc;
}

int tn_write_note_add(tarn_cx *cx, tn_arena *arena, tn_write_notes *notes, tn_str path,
                      const char *format, ...)
{
    char text[1024];
    tn_write_note note = {.path = path};
    va_list args;
    int rc = TARN_OK;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    note.text = tn_str_of(text);
    TN_TRY(tn_arena_keep(cx, arena, &note.path));
    TN_TRY(tn_arena_keep(cx, arena, &note.text));
    TN_TRY(
        tn_arena_grow(cx, arena, &notes->items, notes->count, &notes->cap, sizeof *notes->items));
    notes->items[notes->count++] = note;
done:
    return rc;
}
