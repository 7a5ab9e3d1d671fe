/* Opens a read: finds the files, prunes partitions, unifies schemas, binds columns and condition.
 *   list -> partition values -> prune partitions -> footers -> one schema -> needed, result
 * I1: a partition that its values rule out has no footer opened.
 * I2: the result's schema depends on all files left, never on which is read first. */
#include "op/read_cdc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "batch/predicate.h"
#include "batch/unify.h"
#include "plan/plan_scan.h"

typedef struct opening {
    tn_read *read;
    const tarn_read_options *options;
    const tn_predicate *where; /* NULL: every row */
    struct ArrowSchema all;    /* every column there is */
    bool int96_utc;
    bool is_hudi;
    tn_read_hudi hudi;
} opening;

void tn_read_close(tn_read *read)
{
    if (read == NULL)
        return;
    tn_field_release(&read->all);
    tn_read_columns_clear(&read->columns);
    tn_field_release(&read->partition_schema);
    tn_array_release(&read->partition_values);
    tn_dir_clear(&read->dir);
    tn_store_close(read->store);
    tn_arena_clear(&read->arena);
    free(read);
}

void tn_read_warn(tn_read *read, tn_str path, const char *text)
{
    char line[TN_ERROR_TEXT_MAX];
    bool named = strncmp(text, path.ptr, path.len < strlen(text) ? path.len : strlen(text)) == 0;

    read->counts->files_skipped++;
    if (read->warn == NULL)
        return;
    if (named)
        snprintf(line, sizeof line, "left out: %s", text);
    else
        snprintf(line, sizeof line, "left out: %.*s: %s", TN_STR_ARG(path), text);
    read->warn(read->warn_arg, line);
}

/* Drops the partitions that the condition cannot be true for. */
static int prune_partitions(tarn_cx *cx, opening *o)
{
    tn_read *read = o->read;
    size_t count = read->dir.partition_count;
    struct ArrowArray kept_values = {0};
    tn_filter filter;
    uint8_t *keep = NULL;
    int64_t *rows = NULL, kept;
    int rc = TARN_OK;

    read->counts->partitions = read->counts->partitions_read = count;
    if (o->where == NULL || count == 0 || read->partition_schema.n_children == 0)
        return TARN_OK;
    TN_TRY(tn_predicate_bind_partial(cx, o->where, &read->partition_schema, &read->arena, &filter));
    keep = tn_alloc(cx, count);
    rows = tn_alloc(cx, count * sizeof *rows);
    if (keep == NULL || rows == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++)
        rows[i] = (int64_t)i;
    TN_TRY(tn_filter_eval(cx, &filter, &read->partition_values, keep, &kept));
    if (kept == 0) {
        /* One is kept for its schema; the condition drops its rows. */
        keep[0] = 1;
        read->counts->partitions_read = 0;
    } else {
        read->counts->partitions_read = (uint64_t)kept;
    }
    tn_plan_scan_drop(&read->dir, keep, rows);
    TN_TRY(tn_rows_take(cx, &read->partition_schema, &read->partition_values, rows,
                        (int64_t)read->dir.partition_count, &kept_values));
    tn_array_release(&read->partition_values);
    tn_array_move(&kept_values, &read->partition_values);
done:
    tn_array_release(&kept_values);
    free(keep);
    free(rows);
    return rc;
}

static bool is_readable(const tn_dir_file *file)
{
    return file->state == TN_FILE_GOOD || file->state == TN_FILE_BUCKETED ||
           file->state == TN_FILE_SYMLINK;
}

/* A file that cannot be read ends the opening, or is left out. */
static int meet_unreadable(tarn_cx *cx, opening *o, const tn_dir_partition *partition,
                           const tn_dir_file *file)
{
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &o->read->arena, partition->directory, file->name, &path));
    if (!o->options->skip_damaged) {
        bool named = tn_str_starts(file->problem, path);

        TN_FAIL(file->state == TN_FILE_ENCRYPTED ? TARN_E_UNSUPPORTED : TARN_E_CORRUPT,
                "%.*s%s%.*s; --skip-damaged reads on without such files",
                TN_STR_ARG(named ? TN_STR("") : path), named ? "" : ": ",
                TN_STR_ARG(file->problem));
    }
    {
        char text[TN_ERROR_TEXT_MAX];

        snprintf(text, sizeof text, "%.*s", TN_STR_ARG(file->problem));
        tn_read_warn(o->read, path, text);
    }
done:
    return rc;
}

static uint64_t decoded_bytes(const tn_dir_file *file)
{
    uint64_t bytes = file->stat.size_bytes;

    for (uint32_t g = 0; file->footer_seen && g < file->group_count; g++)
        if (file->groups[g].uncompressed_bytes > file->groups[g].compressed_bytes)
            bytes +=
                (uint64_t)(file->groups[g].uncompressed_bytes - file->groups[g].compressed_bytes);
    return bytes;
}

/* One kind of schema among the files: equal footers' schemas and equal "ARROW:schema" keys. */
typedef struct shapes {
    tn_map seen;
    tn_str *files; /* a file of each */
    size_t count, cap;
} shapes;

static tn_str arrow_key(const tn_dir *dir, const tn_dir_file *file)
{
    const tn_dir_keys *keys = file->keys < dir->key_set_count ? &dir->key_sets[file->keys] : NULL;

    for (size_t i = 0; keys != NULL && i < keys->count; i++)
        if (tn_str_is(keys->values[i].key, "ARROW:schema"))
            return keys->values[i].value;
    return (tn_str){0};
}

static int note_shape(tarn_cx *cx, opening *o, shapes *s, const tn_dir_file *file, tn_str path)
{
    tn_str arrow = arrow_key(&o->read->dir, file), key;
    bool added;
    int rc = TARN_OK;

    TN_TRY(tn_arena_print(cx, &o->read->arena, &key, "%u:%.*s", (unsigned)file->schema,
                          (int)arrow.len, arrow.ptr != NULL ? arrow.ptr : ""));
    if (tn_map_add(cx, &s->seen, key, &added) == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (!added)
        return TARN_OK;
    TN_TRY(tn_grow(cx, &s->files, s->count, &s->cap, sizeof *s->files));
    s->files[s->count++] = path;
done:
    return rc;
}

static int add_file(tarn_cx *cx, opening *o, shapes *s, size_t p, const tn_dir_file *file)
{
    tn_read *read = o->read;
    const tn_dir_partition *partition = &read->dir.partitions[p];
    tn_read_file *made = &read->files[read->file_count];
    int rc = TARN_OK;

    if (!is_readable(file))
        return file->state == TN_FILE_NOT_PARQUET ? TARN_OK
                                                  : meet_unreadable(cx, o, partition, file);
    TN_TRY(tn_path_join(cx, &read->arena, partition->directory, file->name, &made->path));
    made->partition = (int64_t)p;
    made->bytes = decoded_bytes(file);
    made->rows = file->footer_seen ? file->rows : -1;
    read->file_count++;
    TN_TRY(note_shape(cx, o, s, file, made->path));
done:
    return rc;
}

static int collect_files(tarn_cx *cx, opening *o, shapes *s)
{
    tn_read *read = o->read;
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t p = 0; p < read->dir.partition_count; p++)
        count += read->dir.partitions[p].file_count;
    read->files = tn_arena_array(cx, &read->arena, count + 1, sizeof *read->files);
    if (read->files == NULL)
        return TARN_E_NOMEM;
    for (size_t p = 0; p < read->dir.partition_count; p++) {
        const tn_dir_partition *partition = &read->dir.partitions[p];

        if (partition->problem.len != 0)
            TN_FAIL(TARN_E_IO, "%.*s", TN_STR_ARG(partition->problem));
        for (size_t i = 0; i < partition->file_count; i++)
            TN_TRY(add_file(cx, o, s, p, &partition->files[i]));
    }
    if (read->file_count == 0)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: no Parquet file in it; names that begin with _ or . are no data",
                TN_STR_ARG(read->root));
done:
    return rc;
}

static unsigned int96_of(const opening *o)
{
    return (o->options->int96_micros ? TN_INT96_MICROS : 0) | (o->int96_utc ? TN_INT96_UTC : 0);
}

/* Finds the two files to name: the conflict is between the new one and some earlier one. */
static int name_conflict(tarn_cx *cx, opening *o, const shapes *s, size_t at,
                         const struct ArrowSchema *next)
{
    for (size_t i = 0; i < at; i++) {
        struct ArrowSchema earlier = {0}, both = {0};
        int rc = tn_exec_read_schema(cx, o->read->store, s->files[i], int96_of(o), &earlier);

        if (rc == TARN_OK)
            rc = tn_unify_fields(cx, &earlier, s->files[i], next, s->files[at], &both);
        tn_field_release(&earlier);
        tn_field_release(&both);
        if (rc != TARN_OK)
            return rc;
    }
    return TARN_E_UNSUPPORTED;
}

static int unify_shapes(tarn_cx *cx, opening *o, const shapes *s, struct ArrowSchema *out)
{
    struct ArrowSchema all = {0}, next = {0}, both = {0};
    int rc = TARN_OK;

    TN_TRY(tn_exec_read_schema(cx, o->read->store, s->files[0], int96_of(o), &all));
    for (size_t i = 1; i < s->count; i++) {
        TN_TRY(tn_exec_read_schema(cx, o->read->store, s->files[i], int96_of(o), &next));
        rc = tn_unify_fields(cx, &all, s->files[0], &next, s->files[i], &both);
        if (rc == TARN_E_UNSUPPORTED)
            rc = name_conflict(cx, o, s, i, &next);
        TN_TRY(rc);
        tn_field_release(&all);
        tn_field_release(&next);
        tn_field_move(&both, &all);
    }
    tn_field_move(&all, out);
done:
    tn_field_release(&all);
    tn_field_release(&next);
    tn_field_release(&both);
    return rc;
}

/* A directory that Spark wrote with its old default, and others went on with, has the same times as
 * INT96 and in UTC: then the old ones are meant so, too. */
static int unify_files(tarn_cx *cx, opening *o, const shapes *s, struct ArrowSchema *out)
{
    bool utc = o->int96_utc;
    int rc = unify_shapes(cx, o, s, out);

    if (rc != TARN_E_UNSUPPORTED || utc)
        return rc;
    o->int96_utc = true;
    if (unify_shapes(cx, o, s, out) == TARN_OK) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    o->int96_utc = false; /* it is something else, and to be told as it is */
    return unify_shapes(cx, o, s, out);
}

static bool is_partition_column(const tn_read *read, const char *name)
{
    for (int64_t i = 0; i < read->partition_schema.n_children; i++)
        if (strcmp(read->partition_schema.children[i]->name, name) == 0)
            return true;
    return false;
}

/* The files' columns but those that partition columns shadow, then the partition columns. */
static int add_partition_columns(tarn_cx *cx, opening *o, const struct ArrowSchema *files)
{
    const struct ArrowSchema *partitions = &o->read->partition_schema;
    size_t n = 0, own = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < files->n_children; i++)
        own += !is_partition_column(o->read, files->children[i]->name);
    TN_TRY(
        tn_field_init(cx, &o->all, "+s", TN_STR(""), false, own + (size_t)partitions->n_children));
    for (int64_t i = 0; i < files->n_children; i++)
        if (!is_partition_column(o->read, files->children[i]->name))
            TN_TRY(tn_field_copy(cx, files->children[i], o->all.children[n++]));
    for (int64_t i = 0; i < partitions->n_children; i++)
        TN_TRY(tn_field_copy(cx, partitions->children[i], o->all.children[n++]));
done:
    return rc;
}

static int load_directory(tarn_cx *cx, opening *o)
{
    static const tn_dir_options listing = {.no_footers = true, .for_write = true, .looks = true};
    const char *types = o->options->partition_types;
    struct ArrowSchema files = {0};
    tn_read *read = o->read;
    shapes s = {0};
    int rc = TARN_OK;

    TN_TRY(tn_dir_load(cx, read->store, read->root, &listing, &read->dir));
    TN_TRY(tn_plan_scan_partitions(cx, &read->dir, tn_str_of(types), &read->partition_schema,
                                   &read->partition_values));
    TN_TRY(prune_partitions(cx, o));
    TN_TRY(tn_dir_load_footers(cx, read->store, &read->dir));
    TN_TRY(collect_files(cx, o, &s));
    TN_TRY(unify_files(cx, o, &s, &files));
    TN_TRY(add_partition_columns(cx, o, &files));
done:
    tn_field_release(&files);
    tn_map_clear(&s.seen);
    free(s.files);
    return rc;
}

static int load_file(tarn_cx *cx, opening *o, const tn_stat *stat)
{
    tn_read *read = o->read;
    int rc = TARN_OK;

    if (o->options->partition_types != NULL)
        TN_FAIL(TARN_E_INVALID, "partition types are for directories; %.*s is a file",
                TN_STR_ARG(read->root));
    read->files = tn_arena_array(cx, &read->arena, 1, sizeof *read->files);
    if (read->files == NULL)
        TN_TRY(TARN_E_NOMEM);
    read->files[0] = (tn_read_file){
        .path = read->root, .partition = -1, .bytes = stat->size_bytes * 4, .rows = -1};
    read->file_count = 1;
    TN_TRY(tn_exec_read_schema(cx, read->store, read->root, int96_of(o), &o->all));
done:
    return rc;
}

static int bind_columns(tarn_cx *cx, opening *o)
{
    tn_read *read = o->read;
    tn_read_columns *columns = &read->columns;
    int rc = TARN_OK;

    TN_TRY(tn_read_columns_bind(
        cx, &read->arena, &o->all, o->is_hudi ? o->hudi.columns : o->options->columns,
        o->is_hudi ? o->hudi.column_count : o->options->column_count, o->where, columns));
    read->task.all = &read->all;
    read->task.needed = &columns->needed;
    read->task.result = &columns->result;
    read->task.filter = columns->filtered ? &columns->filter : NULL;
    read->task.project = columns->project;
    read->task.project_count = columns->project_count;
    if (o->is_hudi)
        TN_TRY(tn_read_hudi_keys(cx, read, &o->hudi));
done:
    return rc;
}

static int load_hudi(tarn_cx *cx, opening *o)
{
    tn_read *read = o->read;
    int rc = TARN_OK;

    if (o->options->partition_types != NULL)
        TN_FAIL(TARN_E_INVALID,
                "partition types are for plain directories; %.*s is a Hudi table, which knows "
                "its types",
                TN_STR_ARG(read->root));
    TN_TRY(tn_read_hudi_load(cx, read, o->options, o->where, &o->hudi));
    tn_field_move(&o->hudi.all, &o->all);
    o->where = o->hudi.where;
    o->is_hudi = true;
    /* Times of such a table are in UTC and microseconds, whatever Spark stored them as. */
    o->int96_utc = true;
    read->task.evolves = true;
done:
    return rc;
}

/* Options that mean something for Hudi tables alone. */
static int check_plain(tarn_cx *cx, const opening *o)
{
    const tarn_read_options *options = o->options;
    const char *given = options->as_of != NULL       ? "--as-of"
                        : options->since != NULL     ? "--since"
                        : options->until != NULL     ? "--until"
                        : options->key != NULL       ? "--key"
                        : options->mode != NULL      ? "--mode"
                        : options->v6_slices != NULL ? "--v6-slices"
                        : options->ignore_merger     ? "--ignore-merger"
                        : options->meta              ? "--meta"
                                                     : NULL;

    if (given == NULL)
        return TARN_OK;
    return tn_fail(cx, TARN_E_INVALID, "%s is for Hudi tables; %.*s is none", given,
                   TN_STR_ARG(o->read->root));
}

static int open_place(tarn_cx *cx, opening *o)
{
    tn_read *read = o->read;
    tn_str marker;
    tn_stat stat;
    bool hudi = false;
    int rc = TARN_OK;

    TN_TRY(tn_store_stat(cx, read->store, read->root, &stat));
    if (stat.kind == TN_ENTRY_DIR) {
        TN_TRY(tn_path_join(cx, &read->arena, read->root, TN_STR(".hoodie"), &marker));
        TN_TRY(tn_store_exists(cx, read->store, marker, &hudi));
    }
    if (!hudi)
        TN_TRY(check_plain(cx, o));
    if (hudi) {
        TN_TRY(load_hudi(cx, o));
        read->task.partition_schema = &read->partition_schema;
        read->task.partition_values = &read->partition_values;
    } else if (stat.kind == TN_ENTRY_DIR) {
        TN_TRY(load_directory(cx, o));
        read->task.partition_schema = &read->partition_schema;
        read->task.partition_values = &read->partition_values;
    } else {
        TN_TRY(load_file(cx, o, &stat));
    }
done:
    return rc;
}

int tn_read_open_in(tarn_cx *cx, tn_store *store, tn_str root, const tarn_read_options *options,
                    struct ArrowArrayStream *out)
{
    static const tarn_read_options plain = {0};
    tn_read *read = tn_calloc(cx, 1, sizeof *read);
    opening o = {.read = read, .options = options != NULL ? options : &plain};
    int rc = TARN_OK;

    assert(out != NULL);
    o.int96_utc = o.options->int96_utc;
    if (read == NULL) {
        tn_store_close(store);
        return TARN_E_NOMEM;
    }
    read->cx = cx;
    read->store = store;
    read->root = root;
    TN_TRY(tn_arena_keep(cx, &read->arena, &read->root));
    read->skip_damaged = o.options->skip_damaged;
    read->has_limit = o.options->has_limit;
    read->limit = o.options->limit;
    read->warn = o.options->warn;
    read->warn_arg = o.options->arg;
    read->counts = o.options->counts;
    if (read->counts == NULL)
        read->counts = tn_arena_take(cx, &read->arena, sizeof *read->counts);
    if (read->counts == NULL)
        TN_TRY(TARN_E_NOMEM);
    *read->counts = (tarn_read_counts){0};
    if (o.options->where != NULL)
        TN_TRY(tn_predicate_parse(cx, tn_str_of(o.options->where), &read->arena, &o.where));
    TN_TRY(open_place(cx, &o));
    TN_TRY(bind_columns(cx, &o));
    tn_field_move(&o.all, &read->all);
    read->task.skip_crc = o.options->skip_crc;
    read->task.int96_micros = o.options->int96_micros || o.is_hudi;
    read->task.int96_utc = o.int96_utc;
    TN_TRY(o.is_hudi && tn_read_hudi_changes(read) ? tn_read_cdc_stream(cx, read, o.options, out)
                                                   : tn_read_stream(cx, read, out));
    read = NULL;
done:
    tn_field_release(&o.all);
    tn_field_release(&o.hudi.all);
    tn_read_close(read);
    return rc;
}

int tarn_read_open(tarn_cx *cx, const char *path, const tarn_read_options *options,
                   struct ArrowArrayStream *out)
{
    tn_arena arena = {0};
    tn_store *store;
    tn_str root;
    int rc = TARN_OK;

    assert(path != NULL);
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &arena, &store, &root));
    TN_TRY(tn_read_open_in(cx, store, root, options, out));
done:
    tn_arena_clear(&arena);
    return rc;
}
