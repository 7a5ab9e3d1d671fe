/* What is at the place that a write goes to.
 * I1: the newest data file that can be read tells the columns: it is what the last writer meant.
 * I2: a file is data by its ending, or by its first bytes: Hive's have no ending. A note that
 *     somebody keeps beside the data is none. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "batch/unify.h"
#include "exec/exec_read.h"
#include "op/write_op.h"

/* A directory full of unreadable files tells nothing: then so many are enough to know it. */
#define SCHEMA_TRIES_MAX 64

void tn_write_dir_clear(tn_write_dir *dir)
{
    tn_field_release(&dir->schema);
    tn_dir_clear(&dir->dir);
    *dir = (tn_write_dir){0};
}

typedef struct newest {
    const tn_dir_partition *partition;
    const tn_dir_file *file;
} newest;

/* Whether `a` counts as newer than `b`: by time, then by path, so that the choice is always one. */
static bool is_newer(const newest *a, const newest *b)
{
    int order;

    if (a->file->stat.mtime_ns != b->file->stat.mtime_ns)
        return a->file->stat.mtime_ns > b->file->stat.mtime_ns;
    order = tn_str_compare(a->partition->path, b->partition->path);
    return order != 0 ? order > 0 : tn_str_compare(a->file->name, b->file->name) > 0;
}

/* The newest file that is older than `below` (NULL: of all). */
static bool find_newest(const tn_dir *dir, const newest *below, newest *out)
{
    bool found = false;

    for (size_t p = 0; p < dir->partition_count; p++)
        for (size_t i = 0; i < dir->partitions[p].file_count; i++) {
            newest at = {&dir->partitions[p], &dir->partitions[p].files[i]};

            if ((below != NULL && !is_newer(below, &at)) || (found && !is_newer(&at, out)))
                continue;
            *out = at;
            found = true;
        }
    return found;
}

static bool names_directory(const tarn_write_options *options, const char *column)
{
    const char *one = column;
    struct ArrowSchema field = {.format = "n", .name = one}, *children[] = {&field};
    const struct ArrowSchema all = {
        .format = "+s", .name = "", .n_children = 1, .children = children};

    for (size_t i = 0; i < options->partition_by_count; i++)
        if (tn_unify_child(&all, tn_str_of(options->partition_by[i])) == 0)
            return true;
    return false;
}

/* The columns of a file but those that name directories. Any may be null in what is added: an input
 * need not have it. */
static int take_columns(tarn_cx *cx, const tarn_write_options *options,
                        const struct ArrowSchema *whole, tn_write_dir *out)
{
    size_t count = 0;
    int64_t n = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < whole->n_children; i++)
        count += !names_directory(options, whole->children[i]->name);
    TN_TRY(tn_field_init(cx, &out->schema, "+s", TN_STR(""), false, count));
    for (int64_t i = 0; i < whole->n_children; i++) {
        if (names_directory(options, whole->children[i]->name))
            continue;
        TN_TRY(tn_field_copy(cx, whole->children[i], out->schema.children[n]));
        out->schema.children[n++]->flags |= ARROW_FLAG_NULLABLE;
    }
    out->has_schema = true;
done:
    return rc;
}

static int read_columns(tarn_cx *cx, tn_store *store, const newest *file,
                        const tarn_write_options *options, tn_write_dir *out)
{
    struct ArrowSchema whole = {0};
    tn_arena arena = {0};
    tn_str path;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &arena, file->partition->directory, file->file->name, &path));
    TN_TRY(tn_exec_read_schema(cx, store, path, TN_INT96_MICROS | TN_INT96_UTC, &whole));
    TN_TRY(take_columns(cx, options, &whole, out));
done:
    tn_field_release(&whole);
    tn_arena_clear(&arena);
    return rc;
}

static int find_columns(tarn_cx *cx, tn_store *store, const tarn_write_options *options,
                        tn_write_dir *out)
{
    newest at, last;
    int rc = TARN_OK;

    for (int tries = 0; tries < SCHEMA_TRIES_MAX; tries++) {
        if (!find_newest(&out->dir, tries != 0 ? &last : NULL, &at))
            break;
        rc = read_columns(cx, store, &at, options, out);
        if (rc != TARN_E_CORRUPT && rc != TARN_E_UNSUPPORTED && rc != TARN_E_NOTFOUND)
            break;
        tn_cx_forget(cx);
        rc = TARN_OK;
        last = at;
    }
    return rc;
}

/* Whether a file begins as Parquet does; one that cannot be read may be anything, and counts. */
static int is_data(tarn_cx *cx, tn_store *store, tn_str path, uint64_t size_bytes, bool *out)
{
    tn_file *file = NULL;
    char magic[4] = "";
    int rc;

    *out = tn_str_ends(path, TN_STR(".parquet"));
    if (*out || size_bytes < sizeof magic)
        return TARN_OK;
    rc = tn_store_open_file(cx, store, path, &file);
    if (rc == TARN_OK)
        rc = tn_store_read(cx, file, 0, magic, sizeof magic);
    tn_store_close_file(file);
    *out = rc != TARN_OK || memcmp(magic, "PAR1", 4) == 0 || memcmp(magic, "PARE", 4) == 0;
    if (rc == TARN_E_NOMEM || rc == TARN_E_CANCELLED)
        return rc;
    tn_cx_forget(cx);
    return TARN_OK;
}

typedef struct sifting {
    tn_store *store;
    tn_dir *dir;
} sifting;

static int sift(tarn_cx *cx, size_t i, void *arg)
{
    const sifting *s = arg;
    tn_dir_partition *partition = &s->dir->partitions[i];
    tn_arena arena = {0};
    size_t kept = 0;
    int rc = TARN_OK;

    for (size_t k = 0; k < partition->file_count; k++) {
        tn_dir_file *file = &partition->files[k];
        tn_str path;
        bool data;

        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_path_join(cx, &arena, partition->directory, file->name, &path));
        TN_TRY(is_data(cx, s->store, path, file->stat.size_bytes, &data));
        if (data)
            partition->files[kept++] = *file;
    }
    partition->file_count = kept;
done:
    tn_arena_clear(&arena);
    return rc;
}

int tn_write_dir_list(tarn_cx *cx, tn_store *store, tn_str root, bool probe, tn_dir *out)
{
    const tn_dir_options listing = {.no_footers = true, .for_write = true, .probe = probe};
    tn_dir dir = {0};
    sifting s = {store, &dir};
    int rc = TARN_OK;

    TN_TRY(tn_dir_load(cx, store, root, &listing, &dir));
    TN_TRY(tn_parallel(cx, dir.partition_count, sift, &s)); /* I2 */
    *out = dir;
    dir = (tn_dir){0};
done:
    tn_dir_clear(&dir);
    return rc;
}

int tn_write_dir_load(tarn_cx *cx, tn_store *store, tn_str root, const tarn_write_options *options,
                      tn_write_dir *out)
{
    tn_write_dir made = {0};
    tn_stat stat;
    int rc = TARN_OK;

    rc = tn_store_stat(cx, store, root, &stat);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        TN_TRY(tn_dir_check_parents(cx, store, root, false));
        if (tn_store_stat(cx, store, tn_path_parent(root), &stat) != TARN_OK)
            TN_FAIL(TARN_E_NOTFOUND,
                    "%.*s: the directory that it is to be made in is not there; make that first",
                    TN_STR_ARG(root));
        *out = made;
        return TARN_OK;
    }
    TN_TRY(rc);
    if (stat.kind != TN_ENTRY_DIR)
        TN_FAIL(TARN_E_INVALID, "%.*s: is no directory; name one, or a new name for it",
                TN_STR_ARG(root));
    made.found = true;
    TN_TRY(tn_write_dir_list(cx, store, root, !options->dry_run, &made.dir));
    for (size_t p = 0; p < made.dir.partition_count; p++) {
        const tn_dir_partition *partition = &made.dir.partitions[p];

        made.files += partition->file_count;
        for (size_t i = 0; i < partition->file_count; i++)
            made.bytes += partition->files[i].stat.size_bytes;
    }
    /* What replaces all need not fit what is replaced. */
    if (options->mode != TARN_WRITE_OVERWRITE)
        TN_TRY(find_columns(cx, store, options, &made));
    *out = made;
    made = (tn_write_dir){0};
done:
    tn_write_dir_clear(&made);
    return rc;
}

static bool same_file(const tn_dir_file *a, const tn_dir_file *b)
{
    return tn_str_equal(a->name, b->name) && a->stat.size_bytes == b->stat.size_bytes &&
           a->stat.mtime_ns == b->stat.mtime_ns && a->stat.inode == b->stat.inode;
}

/* The next partition with data files from `at` on; the count at the end. */
static size_t next_with_files(const tn_dir *dir, size_t at)
{
    while (at < dir->partition_count && dir->partitions[at].file_count == 0)
        at++;
    return at;
}

bool tn_write_dir_same(const tn_dir *a, const tn_dir *b)
{
    size_t i = next_with_files(a, 0), k = next_with_files(b, 0);

    while (i < a->partition_count && k < b->partition_count) {
        const tn_dir_partition *x = &a->partitions[i], *y = &b->partitions[k];

        if (!tn_str_equal(x->path, y->path) || x->file_count != y->file_count)
            return false;
        for (size_t n = 0; n < x->file_count; n++)
            if (!same_file(&x->files[n], &y->files[n]))
                return false;
        i = next_with_files(a, i + 1);
        k = next_with_files(b, k + 1);
    }
    return i >= a->partition_count && k >= b->partition_count;
}
