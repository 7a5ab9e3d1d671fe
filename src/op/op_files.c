/* The files of a table as a value: latest slices, or all that is there.
 *
 * I1: of all files each one is listed once, with what it is to a reader of the instant asked for.
 * I2: a visible file of a group that has no slice belongs to a replaced group. */
#include <assert.h>
#include <stdlib.h>

#include "op/hudi_view.h"
#include "table/dir.h"
#include "table/metadata.h"
#include "task/data_name.h"

#define TN_SMALL_DEFAULT_BYTES 104857600ull /* hoodie.parquet.small.file.limit */

typedef struct state {
    tarn_files face; /* first: the public pointer is this one */
    tn_hudi_view view;
    const tarn_files_options *options;
    tn_str as_of; /* empty: now */
    tn_slices slices;
    tarn_table_file *files;
    size_t cap;
    tn_slice *older; /* base files beside the slices, for their footers */
    size_t *older_at;
    size_t older_count, older_cap, older_at_cap;
} state;

static int add_file(tarn_cx *cx, state *self, const tarn_table_file *file)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, &self->view.arena, &self->files, self->face.file_count, &self->cap,
                         sizeof *self->files));
    self->files[self->face.file_count++] = *file;
done:
    return rc;
}

static const char *action_of(tarn_cx *cx, state *self, tn_str time)
{
    const tn_instant *instant = tn_timeline_find_data(&self->view.timeline, time);

    return instant != NULL ? tn_hudi_view_text(cx, &self->view, instant->word) : NULL;
}

/* ---- latest slices */

static int add_slice(tarn_cx *cx, state *self, const tn_slice *slice)
{
    const tn_base_file *base = &slice->base;
    /* A slice of logs alone began with the first of them. */
    tn_str instant =
        base->name.len != 0 || slice->log_count == 0 ? base->instant : slice->logs[0].instant;
    tarn_table_file file = {.bytes = base->size_bytes,
                            .rows = base->name.len != 0 ? base->rows : -1,
                            .logs = slice->log_count,
                            .pending = slice->pending};
    int rc = TARN_OK;

    file.small = base->name.len != 0 && base->size_bytes < self->face.small_bytes;
    for (size_t i = 0; i < slice->log_count; i++)
        file.log_bytes += slice->logs[i].size_bytes;
    file.partition = tn_hudi_view_text(cx, &self->view, base->partition_path);
    file.file_id = tn_hudi_view_text(cx, &self->view, base->file_id);
    if (file.partition == NULL || file.file_id == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_hudi_view_keep(cx, &self->view, instant, &file.instant));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, base->name, &file.name));
    file.action = action_of(cx, self, instant);
    TN_TRY(add_file(cx, self, &file));
done:
    return rc;
}

static int list_slices(tarn_cx *cx, state *self)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < self->slices.slice_count; i++)
        TN_TRY(add_slice(cx, self, &self->slices.slices[i]));
    self->face.older = self->slices.older;
    self->face.uncommitted = self->slices.invisible;
done:
    return rc;
}

/* ---- all files */

/* The slice of a group; slices are sorted by partition and file id. */
static const tn_slice *slice_of(const tn_slices *slices, uint32_t partition, tn_str file_id)
{
    size_t low = 0, high = slices->slice_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const tn_base_file *base = &slices->slices[middle].base;
        int order = base->partition != partition ? (base->partition < partition ? -1 : 1)
                                                 : tn_str_compare(base->file_id, file_id);

        if (order == 0)
            return &slices->slices[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool has_log(const tn_slice *slice, tn_str name)
{
    for (size_t i = 0; i < slice->log_count; i++)
        if (tn_str_equal(slice->logs[i].name, name))
            return true;
    return false;
}

static enum tarn_file_note note_of(const state *self, const tn_slice *slice, tn_str name,
                                   const tn_data_name *parts)
{
    tn_str as_of = self->as_of;

    if (slice != NULL && (parts->log ? has_log(slice, name) : tn_str_equal(slice->base.name, name)))
        return TARN_FILE_CURRENT;
    if (as_of.len != 0 && tn_str_compare(parts->instant, as_of) > 0)
        return TARN_FILE_LATER;
    if (!tn_timeline_shows(&self->view.timeline, parts->instant))
        return TARN_FILE_UNCOMMITTED;
    return slice != NULL ? TARN_FILE_OLDER : TARN_FILE_REPLACED;
}

/* Notes a base file that is in no slice, so that its footer is read with the others. */
static int note_older(tarn_cx *cx, state *self, tn_str directory, const tn_entry *entry)
{
    tn_slice slice = {.base = {.rows = -1}};
    int rc = TARN_OK;

    slice.base.name = entry->name;
    slice.base.size_bytes = entry->stat.size_bytes;
    TN_TRY(tn_path_join(cx, &self->view.arena, directory, entry->name, &slice.base.path));
    TN_TRY(tn_arena_grow(cx, &self->view.arena, &self->older, self->older_count, &self->older_cap,
                         sizeof *self->older));
    TN_TRY(tn_arena_grow(cx, &self->view.arena, &self->older_at, self->older_count,
                         &self->older_at_cap, sizeof *self->older_at));
    self->older[self->older_count] = slice;
    self->older_at[self->older_count++] = self->face.file_count;
done:
    return rc;
}

static int add_entry(tarn_cx *cx, state *self, uint32_t partition, tn_str directory,
                     const tn_entry *entry)
{
    tarn_table_file file = {.bytes = entry->stat.size_bytes, .rows = -1};
    tn_data_name parts;
    const tn_slice *slice;
    int rc = TARN_OK;

    if (entry->stat.kind != TN_ENTRY_FILE || !tn_data_name_parse(entry->name, &parts) || parts.cdc)
        goto done;
    if (self->options->group != NULL && !tn_str_is(parts.file_id, self->options->group))
        goto done;
    slice = slice_of(&self->slices, partition, parts.file_id);
    file.log = parts.log;
    file.note = note_of(self, slice, entry->name, &parts);
    file.pending = slice != NULL && slice->pending && file.note == TARN_FILE_CURRENT;
    file.small = !parts.log && file.note == TARN_FILE_CURRENT &&
                 entry->stat.size_bytes < self->face.small_bytes;
    file.partition = tn_hudi_view_text(cx, &self->view, self->slices.partitions[partition]);
    file.file_id = tn_hudi_view_text(cx, &self->view, parts.file_id);
    if (file.partition == NULL || file.file_id == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_hudi_view_keep(cx, &self->view, parts.instant, &file.instant));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, entry->name, &file.name));
    file.action = action_of(cx, self, parts.instant);
    if (!parts.log && file.note == TARN_FILE_CURRENT)
        file.rows = slice->base.rows;
    else if (!parts.log && tn_str_is(parts.ending, "parquet"))
        TN_TRY(note_older(cx, self, directory, entry));
    TN_TRY(add_file(cx, self, &file));
done:
    return rc;
}

static int by_file(const void *a, const void *b)
{
    const tarn_table_file *x = a, *y = b;
    int order = strcmp(x->partition, y->partition);

    if (order == 0)
        order = strcmp(x->file_id, y->file_id);
    if (order == 0)
        order = strcmp(x->instant, y->instant);
    return order != 0 ? order : strcmp(x->name, y->name);
}

/* Rows of older files. A footer that cannot be read leaves its rows unknown: such a file may be
 * half written. */
static int read_older(tarn_cx *cx, state *self)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < self->older_count && !self->options->no_rows; i++) {
        tn_slices one = {.slices = &self->older[i], .slice_count = 1};

        TN_TRY(tn_cx_check(cx));
        rc = tn_slices_footers(cx, self->view.store, &one, &self->view.arena);
        if (rc == TARN_E_CORRUPT || rc == TARN_E_INVALID || rc == TARN_E_UNSUPPORTED ||
            rc == TARN_E_NOTFOUND) {
            tn_cx_forget(cx);
            rc = TARN_OK;
            continue;
        }
        TN_TRY(rc);
        self->files[self->older_at[i]].rows = self->older[i].base.rows;
    }
done:
    return rc;
}

static int list_all(tarn_cx *cx, state *self)
{
    int rc = TARN_OK;

    for (uint32_t p = 0; p < self->slices.partition_count; p++) {
        tn_str directory = self->view.root;
        tn_entry *entries;
        size_t count;

        TN_TRY(tn_cx_check(cx));
        if (self->slices.partitions[p].len != 0)
            TN_TRY(tn_path_join(cx, &self->view.arena, self->view.root, self->slices.partitions[p],
                                &directory));
        TN_TRY(tn_store_list(cx, self->view.store, directory, &self->view.arena, &entries, &count));
        for (size_t i = 0; i < count; i++)
            TN_TRY(add_entry(cx, self, p, directory, &entries[i]));
    }
    TN_TRY(read_older(cx, self));
    if (self->face.file_count != 0)
        qsort(self->files, self->face.file_count, sizeof *self->files, by_file);
    if (self->options->group != NULL && self->face.file_count == 0)
        TN_FAIL(TARN_E_NOTFOUND, "%.*s: no file group %s; `tarn files` lists them",
                TN_STR_ARG(self->view.root), self->options->group);
done:
    return rc;
}

static int check_partitions(tarn_cx *cx, const state *self)
{
    for (size_t i = 0; i < self->options->partition_count; i++) {
        size_t k = 0;

        while (k < self->slices.partition_count &&
               !tn_str_is(self->slices.partitions[k], self->options->partitions[i]))
            k++;
        if (k == self->slices.partition_count)
            return tn_fail(cx, TARN_E_NOTFOUND,
                           "%.*s: no partition %s: give its path below the table, as `tarn files` "
                           "shows it",
                           TN_STR_ARG(self->view.root), self->options->partitions[i]);
    }
    return TARN_OK;
}

static int fill_differences(tarn_cx *cx, state *self, const tn_metadata_difference *from,
                            size_t count)
{
    tarn_files_difference *made = tn_arena_array(cx, &self->view.arena, count + 1, sizeof *made);

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        made[i].fault = (enum tarn_files_fault)from[i].fault;
        made[i].listed_bytes = from[i].listed_bytes;
        made[i].stored_bytes = from[i].stored_bytes;
        made[i].partition = tn_hudi_view_text(cx, &self->view, from[i].partition);
        made[i].name = tn_hudi_view_text(cx, &self->view, from[i].name);
        if (made[i].partition == NULL || made[i].name == NULL)
            return TARN_E_NOMEM;
    }
    self->face.differences = made;
    self->face.difference_count = count;
    self->face.checked = true;
    return TARN_OK;
}

/* The metadata table against the directories. */
static int check_listing(tarn_cx *cx, state *self)
{
    tn_metadata_difference *differences;
    tn_metadata *metadata = NULL;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_open(cx, self->view.store, self->view.root, &self->view.config,
                            &self->view.timeline, &metadata));
    if (metadata == NULL)
        goto done;
    TN_TRY(tn_metadata_check(cx, metadata, &self->view.arena, &differences, &count));
    TN_TRY(fill_differences(cx, self, differences, count));
done:
    tn_metadata_close(metadata);
    return rc;
}

/* Those asked for; none: *out stays as it was, which means all. */
static int take_partitions(tarn_cx *cx, state *self, const tn_str **out, size_t *count)
{
    const tarn_files_options *options = self->options;
    tn_str *made;

    if (options->partition_count == 0)
        return TARN_OK;
    made = tn_arena_array(cx, &self->view.arena, options->partition_count, sizeof *made);
    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < options->partition_count; i++)
        made[i] = tn_str_of(options->partitions[i]);
    *out = made;
    *count = options->partition_count;
    return TARN_OK;
}

static int fill_hudi(tarn_cx *cx, state *self)
{
    const tarn_files_options *options = self->options;
    bool every = options->all || options->group != NULL;
    tn_slices_options chosen = {.footers = !options->no_rows,
                                .listing = every ? TN_SLICES_DIRECTORIES : TN_SLICES_METADATA};
    tn_str warning;
    int rc = TARN_OK;

    self->face.hudi = true;
    self->face.mor = self->view.config.mor;
    TN_TRY(tn_hudi_view_as_of(cx, &self->view, options->as_of, &self->as_of));
    chosen.as_of = self->as_of;
    TN_TRY(take_partitions(cx, self, &chosen.partitions, &chosen.partition_count));
    TN_TRY(tn_slices_load(cx, self->view.store, self->view.root, &self->view.config,
                          &self->view.timeline, &chosen, &self->view.arena, &self->slices));
    if (self->slices.slice_count == 0)
        TN_TRY(tn_timeline_reaches(cx, &self->view.timeline, self->view.root, self->as_of));
    TN_TRY(tn_slices_warning(cx, &self->slices, &self->view.arena, &warning));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, warning, &self->face.warning));
    self->face.listed = self->slices.listed;
    TN_TRY(check_partitions(cx, self));
    TN_TRY(every ? list_all(cx, self) : list_slices(cx, self));
    if (options->check)
        TN_TRY(check_listing(cx, self));
done:
    return rc;
}

/* ---- a plain directory */

static int add_plain(tarn_cx *cx, state *self, const tn_dir_partition *partition,
                     const tn_dir_file *from)
{
    tarn_table_file file = {.bytes = from->stat.size_bytes,
                            .rows = from->footer_seen ? from->rows : -1};
    int rc = TARN_OK;

    file.small = from->stat.size_bytes < self->face.small_bytes;
    file.partition = tn_hudi_view_text(cx, &self->view, partition->path);
    if (file.partition == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_hudi_view_keep(cx, &self->view, from->name, &file.name));
    TN_TRY(add_file(cx, self, &file));
done:
    return rc;
}

static int fill_plain(tarn_cx *cx, state *self)
{
    const tarn_files_options *options = self->options;
    tn_dir_options chosen = {.no_footers = options->no_rows, .for_write = true, .looks = true};
    tn_dir dir = {0};
    int rc = TARN_OK;

    if (options->group != NULL || options->as_of != NULL || options->check)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: a plain directory has no file groups, no instants and no metadata table; "
                "leave the option away",
                TN_STR_ARG(self->view.root));
    TN_TRY(take_partitions(cx, self, &chosen.partitions, &chosen.partition_count));
    TN_TRY(tn_dir_load(cx, self->view.store, self->view.root, &chosen, &dir));
    for (size_t p = 0; p < dir.partition_count; p++)
        for (size_t i = 0; i < dir.partitions[p].file_count; i++)
            TN_TRY(add_plain(cx, self, &dir.partitions[p], &dir.partitions[p].files[i]));
done:
    tn_dir_clear(&dir);
    return rc;
}

/* ---- */

/* Files stand by partition and group. */
static void add_up(state *self)
{
    const tarn_table_file *last = NULL;

    for (size_t i = 0; i < self->face.file_count; i++) {
        const tarn_table_file *file = &self->files[i];
        bool new_partition = last == NULL || strcmp(last->partition, file->partition) != 0;

        self->face.partitions += new_partition;
        self->face.groups += file->file_id == NULL || new_partition || last == NULL ||
                             strcmp(last->file_id, file->file_id) != 0;
        last = file;
        if (file->note != TARN_FILE_CURRENT)
            continue;
        self->face.logs += file->log ? 1 : file->logs;
        self->face.log_bytes += file->log ? file->bytes : file->log_bytes;
        if (file->log)
            continue;
        self->face.bytes += file->bytes;
        self->face.small += file->small;
        self->face.rows += file->rows > 0 ? file->rows : 0;
    }
    self->face.files = self->files;
}

int tarn_files_open(tarn_cx *cx, const char *path, const tarn_files_options *options,
                    tarn_files **out)
{
    static const tarn_files_options usual = {0};
    state *self = tn_calloc(cx, 1, sizeof *self);
    bool hudi = false;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (self == NULL)
        return TARN_E_NOMEM;
    self->options = options != NULL ? options : &usual;
    self->face.small_bytes =
        self->options->small_bytes != 0 ? self->options->small_bytes : TN_SMALL_DEFAULT_BYTES;
    TN_TRY(tn_hudi_view_open(cx, path, &hudi, &self->view));
    TN_TRY(tn_hudi_view_keep(cx, &self->view, self->view.root, &self->face.path));
    TN_TRY(hudi ? fill_hudi(cx, self) : fill_plain(cx, self));
    add_up(self);
    *out = &self->face;
    self = NULL;
done:
    if (self != NULL)
        tarn_files_close(&self->face);
    return rc;
}

void tarn_files_close(tarn_files *files)
{
    state *self = (state *)files;

    if (self == NULL)
        return;
    tn_hudi_view_clear(&self->view);
    free(self);
}
