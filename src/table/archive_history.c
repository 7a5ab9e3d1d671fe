/* Archived timelines of layout 2 (LSMTimeline): Parquet files that a manifest lists.
 *
 *     _version_       the number of the newest manifest, as text; where it is missing or wrong, the
 *                     greatest one that is there counts
 *     manifest_<n>    {"files": [{"fileName": "…_0.parquet", "fileLen": 123}, …]}
 *     *.parquet       instantTime, completionTime, action, metadata, plan, version: an instant a
 * row
 *
 * I1: only files that the manifest lists are read; what else lies there is being made, or removed.
 * I2: manifests and files are removed after a compaction: where a listed file is gone, the newest
 *     manifest is looked for once more. */
#include <assert.h>
#include <stdlib.h>

#include "batch/array.h"
#include "codec/parquet/arrow.h"
#include "table/archive_parts.h"

#define TN_ARCHIVE_BATCH_ROWS 1024
#define TN_ARCHIVE_COLUMNS    5

/* In the order of struct tn_archive_row's texts. */
static const char *const column_names[TN_ARCHIVE_COLUMNS] = {"instantTime", "completionTime",
                                                             "action", "metadata", "plan"};

/* ---- manifests ---- */

static bool parse_number(tn_str text, uint64_t *out)
{
    uint64_t value = 0;

    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = value;
    return true;
}

int tn_archive_manifest_parse(tarn_cx *cx, tn_str text, tn_str path, tn_arena *arena,
                              tn_str **names, size_t *count)
{
    json_t *json = NULL, *files, *item;
    tn_str *made = NULL;
    tn_arena texts = {0};
    tn_str what;
    size_t i;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, &texts, &what, "%.*s", TN_STR_ARG(path)));
    TN_TRY(tn_json_parse(cx, text, what.ptr, &json));
    files = json_object_get(json, "files");
    if (!json_is_array(files) || json_array_size(files) > TN_ARCHIVE_FILES_MAX)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: not a manifest: there is no list of files in it",
                TN_STR_ARG(path));
    made = tn_arena_array(cx, arena, json_array_size(files), sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    json_array_foreach(files, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "fileName"));

        if (name == NULL || name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL)
            TN_FAIL(TARN_E_CORRUPT, "%.*s: file number %zu has no name that may be one",
                    TN_STR_ARG(path), i);
        made[i] = tn_str_of(name);
        TN_TRY(tn_arena_keep(cx, arena, &made[i]));
    }
    *names = made;
    *count = json_array_size(files);
done:
    json_decref(json);
    tn_arena_clear(&texts);
    return rc;
}

/* The greatest manifest number listed; *found false: none, or no directory. */
static int greatest_manifest(tarn_cx *cx, tn_store *store, tn_str directory, bool *found,
                             uint64_t *number)
{
    static const tn_str prefix = {"manifest_", 9};
    tn_entry *entries = NULL;
    tn_arena arena = {0};
    size_t count = 0;
    int rc;

    *found = false;
    TN_TRY(tn_store_list_or_none(cx, store, directory, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        uint64_t n;

        if (!tn_str_starts(entries[i].name, prefix) ||
            !parse_number(tn_str_from(entries[i].name, prefix.len), &n) || (*found && n <= *number))
            continue;
        *found = true;
        *number = n;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

/* What _version_ says; *found false: nothing that is a number. */
static int stated_manifest(tarn_cx *cx, tn_store *store, tn_str directory, bool *found,
                           uint64_t *number)
{
    tn_arena arena = {0};
    tn_buf bytes = {0};
    tn_str path, text;
    int rc;

    *found = false;
    TN_TRY(tn_path_join(cx, &arena, directory, TN_STR("_version_"), &path));
    rc = tn_store_get(cx, store, path, 4096, &bytes);
    if (rc == TARN_E_NOTFOUND || rc == TARN_E_LIMIT) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    text = tn_buf_view(&bytes);
    while (text.len != 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    *found = parse_number(text, number);
done:
    tn_buf_clear(&bytes);
    tn_arena_clear(&arena);
    return rc;
}

static int read_manifest(tarn_cx *cx, tn_store *store, tn_str directory, uint64_t number,
                         tn_arena *arena, tn_str **names, size_t *count)
{
    tn_buf bytes = {0};
    tn_str name, path;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, arena, &name, "manifest_%llu", (unsigned long long)number));
    TN_TRY(tn_path_join(cx, arena, directory, name, &path));
    TN_TRY(tn_store_get(cx, store, path, TN_ARCHIVE_MANIFEST_BYTES_MAX, &bytes));
    TN_TRY(tn_archive_manifest_parse(cx, tn_buf_view(&bytes), path, arena, names, count));
done:
    tn_buf_clear(&bytes);
    return rc;
}

/* The files of the newest manifest; none where there is no archive. */
static int list_files(tarn_cx *cx, tn_store *store, tn_str directory, tn_arena *arena,
                      tn_str **names, size_t *count)
{
    uint64_t number = 0;
    bool found;
    int rc = TARN_OK;

    *count = 0;
    TN_TRY(stated_manifest(cx, store, directory, &found, &number));
    if (found) {
        rc = read_manifest(cx, store, directory, number, arena, names, count);
        if (rc != TARN_E_NOTFOUND)
            goto done;
        tn_cx_forget(cx);
    }
    TN_TRY(greatest_manifest(cx, store, directory, &found, &number));
    if (found)
        TN_TRY(read_manifest(cx, store, directory, number, arena, names, count));
done:
    return rc;
}

/* ---- rows ---- */

typedef struct table {
    tn_parquet file;
    uint32_t columns[TN_ARCHIVE_COLUMNS]; /* of the file's, in its order */
    int place[TN_ARCHIVE_COLUMNS];        /* in a batch, of each name; -1: not there */
    size_t column_count;
} table;

static int refuse_column(tarn_cx *cx, const table *t, const char *name)
{
    return tn_fail(cx, TARN_E_CORRUPT,
                   "%.*s: not a file of an archived timeline: its column %s is missing, or no text",
                   TN_STR_ARG(t->file.path), name);
}

static int find_columns(tarn_cx *cx, table *t, bool contents)
{
    struct ArrowSchema schema = {0};
    size_t wanted = contents ? TN_ARCHIVE_COLUMNS : 3;
    int rc = TARN_OK;

    TN_TRY(tn_arrow_schema_of(cx, &t->file, NULL, 0, &schema));
    for (size_t k = 0; k < TN_ARCHIVE_COLUMNS; k++)
        t->place[k] = -1;
    for (int64_t i = 0; i < schema.n_children; i++)
        for (size_t k = 0; k < wanted; k++) {
            const struct ArrowSchema *column = schema.children[i];

            if (strcmp(column->name, column_names[k]) != 0 || t->place[k] >= 0)
                continue;
            if (strcmp(column->format, "u") != 0 && strcmp(column->format, "z") != 0)
                TN_TRY(refuse_column(cx, t, column_names[k]));
            t->place[k] = (int)t->column_count;
            t->columns[t->column_count++] = (uint32_t)i;
        }
    for (size_t k = 0; k < 3; k++)
        if (t->place[k] < 0)
            TN_TRY(refuse_column(cx, t, column_names[k]));
done:
    if (schema.release != NULL)
        schema.release(&schema);
    return rc;
}

static tn_str text_at(const table *t, const struct ArrowArray *batch, size_t column, int64_t row)
{
    const struct ArrowArray *array;
    const int32_t *offsets;

    if (t->place[column] < 0)
        return (tn_str){NULL, 0};
    array = batch->children[t->place[column]];
    row += batch->offset + array->offset;
    if (!tn_bit(array->buffers[0], row))
        return (tn_str){NULL, 0};
    offsets = array->buffers[1];
    return (tn_str){(const char *)array->buffers[2] + offsets[row],
                    (size_t)(offsets[row + 1] - offsets[row])};
}

static int visit_batch(tarn_cx *cx, const table *t, const struct ArrowArray *batch, tn_str name,
                       tn_archive_visit *visit, void *arg)
{
    int rc = TARN_OK;

    for (int64_t i = 0; i < batch->length; i++) {
        tn_archive_row row = {.file = name, .completed = true};

        row.time = text_at(t, batch, 0, i);
        row.completion = text_at(t, batch, 1, i);
        row.action = text_at(t, batch, 2, i);
        row.metadata = text_at(t, batch, 3, i);
        row.plan = text_at(t, batch, 4, i);
        TN_TRY(visit(cx, arg, &row));
    }
done:
    return rc;
}

static int visit_file(tarn_cx *cx, tn_store *store, tn_str directory, tn_str name, bool contents,
                      tn_archive_visit *visit, void *arg)
{
    tn_parquet_scan_options options = {.batch_rows = TN_ARCHIVE_BATCH_ROWS};
    tn_parquet_scan *scan = NULL;
    struct ArrowArray batch = {0};
    tn_arena arena = {0};
    table t = {0};
    tn_str path;
    int64_t first;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &arena, directory, name, &path));
    TN_TRY(tn_parquet_open(cx, store, path, &t.file));
    TN_TRY(find_columns(cx, &t, contents));
    options.columns = t.columns;
    options.column_count = t.column_count;
    TN_TRY(tn_parquet_scan_open(cx, &t.file, &options, &scan));
    for (;;) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        TN_TRY(visit_batch(cx, &t, &batch, name, visit, arg));
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&t.file);
    tn_arena_clear(&arena);
    return rc;
}

int tn_archive_history_each(tarn_cx *cx, tn_store *store, tn_str directory, tn_str only,
                            bool contents, tn_archive_visit *visit, void *arg)
{
    tn_arena arena = {0};
    tn_str *names = NULL;
    size_t count = 0;
    bool again = false;
    int rc = TARN_OK;

    assert(visit != NULL);
    TN_TRY(list_files(cx, store, directory, &arena, &names, &count));
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_cx_check(cx));
        if (only.len != 0 && !tn_str_equal(only, names[i]))
            continue;
        rc = visit_file(cx, store, directory, names[i], contents, visit, arg);
        /* Rows met twice are told apart by who gathers them. */
        if (rc == TARN_E_NOTFOUND && !again) {
            tn_cx_forget(cx);
            again = true;
            TN_TRY(list_files(cx, store, directory, &arena, &names, &count));
            only = (tn_str){NULL, 0};
            i = (size_t)-1;
            continue;
        }
        TN_TRY(rc);
    }
done:
    tn_arena_clear(&arena);
    return rc;
}
