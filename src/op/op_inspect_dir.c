/* A directory as a value, for `show`. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/rows.h"
#include "table/dir.h"
#include "tarn/inspect.h"
#include "tarn/read.h"

typedef struct inspection {
    tarn_inspect_dir face; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_dir dir;
} inspection;

static const char *keep(tarn_cx *cx, tn_arena *arena, tn_str text)
{
    return tn_arena_keep(cx, arena, &text) == TARN_OK ? text.ptr : NULL;
}

int tarn_inspect_is_dir(tarn_cx *cx, const char *path, bool *out)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str place;
    tn_stat stat;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &place));
    TN_TRY(tn_store_stat(cx, store, place, &stat));
    *out = stat.kind == TN_ENTRY_DIR;
done:
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

static int fill_partitions(tarn_cx *cx, inspection *self)
{
    tarn_inspect_dir *face = &self->face;
    tarn_inspect_partition *made =
        tn_arena_array(cx, &self->arena, self->dir.partition_count + 1, sizeof *made);

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t p = 0; p < self->dir.partition_count; p++) {
        const tn_dir_partition *partition = &self->dir.partitions[p];
        tarn_inspect_partition *to = &made[face->partition_count];

        face->other += partition->other_count;
        if (partition->file_count == 0)
            continue;
        to->path = keep(cx, &self->arena, partition->path);
        if (to->path == NULL)
            return TARN_E_NOMEM;
        for (size_t i = 0; i < partition->file_count; i++) {
            const tn_dir_file *file = &partition->files[i];

            to->files++;
            to->bytes += file->stat.size_bytes;
            to->rows += file->footer_seen ? file->rows : 0;
            face->damaged += file->state == TN_FILE_DAMAGED || file->state == TN_FILE_ENCRYPTED;
        }
        face->files += to->files;
        face->bytes += to->bytes;
        face->rows += to->rows;
        face->partition_count++;
    }
    face->partitions = made;
    return TARN_OK;
}

/* Whether some path has a level "name=…"; escapes in names are rare and cost a mark alone. */
static bool is_partition_key(const tn_dir *dir, const char *name)
{
    tn_str key = tn_str_of(name);

    for (size_t p = 0; p < dir->partition_count; p++) {
        tn_str path = dir->partitions[p].path;

        while (path.len > 0) {
            size_t end = tn_str_find(path, '/');

            if (tn_str_find(path, '=') == key.len && tn_str_starts(path, key))
                return true;
            path = tn_str_from(path, end + 1);
        }
    }
    return false;
}

/* The common schema is what a read of the directory gives. */
static int fill_fields(tarn_cx *cx, inspection *self, const char *path)
{
    tarn_read_options options = {.skip_damaged = true};
    struct ArrowArrayStream rows = {0};
    struct ArrowSchema schema = {0};
    tarn_inspect_field *made;
    tn_buf text = {0};
    int rc = TARN_OK;

    if (tarn_read_open(cx, path, &options, &rows) != TARN_OK ||
        rows.get_schema(&rows, &schema) != 0) {
        self->face.schema_problem = keep(cx, &self->arena, tn_str_of(tarn_cx_error(cx)));
        tn_cx_forget(cx);
        goto done;
    }
    made = tn_arena_array(cx, &self->arena, (size_t)schema.n_children + 1, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < schema.n_children; i++) {
        tn_buf_reset(&text);
        tn_type_print(&text, schema.children[i]);
        made[i].name = keep(cx, &self->arena, tn_str_of(schema.children[i]->name));
        made[i].type = keep(cx, &self->arena, tn_buf_view(&text));
        made[i].partition = is_partition_key(&self->dir, schema.children[i]->name);
        if (made[i].name == NULL || made[i].type == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    self->face.fields = made;
    self->face.field_count = (size_t)schema.n_children;
done:
    tn_buf_clear(&text);
    tn_field_release(&schema);
    if (rows.release != NULL)
        rows.release(&rows);
    return rc;
}

int tarn_inspect_dir_open(tarn_cx *cx, const char *path, tarn_inspect_dir **out)
{
    static const tn_dir_options options = {.for_write = true, .looks = true};
    inspection *self = tn_calloc(cx, 1, sizeof *self);
    tn_str place;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &self->arena, &self->store, &place));
    TN_TRY(tn_dir_load(cx, self->store, place, &options, &self->dir));
    self->face.path = keep(cx, &self->arena, place);
    self->face.directories = self->dir.directories;
    self->face.schema_count = self->dir.schema_count;
    TN_TRY(fill_partitions(cx, self));
    if (self->face.files > self->face.damaged)
        TN_TRY(fill_fields(cx, self, path));
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_inspect_dir_close(&self->face);
    return rc;
}

void tarn_inspect_dir_close(tarn_inspect_dir *inspect)
{
    inspection *self = (inspection *)inspect;

    if (self == NULL)
        return;
    tn_dir_clear(&self->dir);
    tn_store_close(self->store);
    tn_arena_clear(&self->arena);
    free(self);
}
