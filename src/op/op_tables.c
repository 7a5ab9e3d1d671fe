/* The Hudi tables below a directory.
 *
 * I1: a table ends the search: what lies in it is its own. Hidden names and links are not followed.
 * I2: so many directories are looked at, and no more: a plain directory may be large. */
#include <assert.h>
#include <stdlib.h>

#include "op/hudi_view.h"
#include "table/dir.h"
#include "tarn/table.h"

typedef struct search {
    tarn_tables face; /* first: the public pointer is this one */
    tn_arena arena;
    tn_store *store;
    tn_str *folders; /* to be looked at, the nearest first */
    size_t count, cap;
    const char **paths;
    size_t path_cap;
} search;

static int add_folder(tarn_cx *cx, search *s, tn_str path)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, &s->arena, &s->folders, s->count, &s->cap, sizeof *s->folders));
    s->folders[s->count++] = path;
done:
    return rc;
}

static int add_table(tarn_cx *cx, search *s, tn_str path)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, &s->arena, &path));
    TN_TRY(tn_arena_grow(cx, &s->arena, &s->paths, s->face.count, &s->path_cap, sizeof *s->paths));
    s->paths[s->face.count++] = path.ptr;
done:
    return rc;
}

static int look(tarn_cx *cx, search *s, tn_str folder)
{
    tn_arena arena = {0};
    tn_entry *entries = NULL;
    size_t count = 0;
    tn_str below;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_store_list(cx, s->store, folder, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++)
        if (entries[i].stat.kind == TN_ENTRY_DIR && tn_str_is(entries[i].name, ".hoodie")) {
            TN_TRY(add_table(cx, s, folder));
            goto done;
        }
    for (size_t i = 0; i < count; i++) {
        if (entries[i].stat.kind != TN_ENTRY_DIR || tn_dir_hidden_name(entries[i].name))
            continue;
        TN_TRY(tn_path_join(cx, &s->arena, folder, entries[i].name, &below));
        TN_TRY(add_folder(cx, s, below));
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int by_path(const void *a, const void *b)
{
    return tn_str_compare(tn_str_of(*(const char *const *)a), tn_str_of(*(const char *const *)b));
}

int tarn_tables_open(tarn_cx *cx, const char *path, tarn_tables **out)
{
    search *s = tn_calloc(cx, 1, sizeof *s);
    tn_str root;
    int rc = TARN_OK;

    assert(path != NULL && out != NULL);
    if (s == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_store_locate(cx, tn_str_of(path), &s->arena, &s->store, &root));
    TN_TRY(add_folder(cx, s, root));
    for (size_t i = 0; i < s->count && i < TN_TABLES_FOLDERS_MAX; i++)
        TN_TRY(look(cx, s, s->folders[i]));
    s->face.cut = s->count > TN_TABLES_FOLDERS_MAX;
    if (s->face.count != 0)
        qsort(s->paths, s->face.count, sizeof *s->paths, by_path);
    s->face.paths = s->paths;
    *out = &s->face;
    s = NULL;
done:
    tarn_tables_close(s != NULL ? &s->face : NULL);
    return rc;
}

void tarn_tables_close(tarn_tables *tables)
{
    search *s = (search *)tables;

    if (s == NULL)
        return;
    tn_store_close(s->store);
    tn_arena_clear(&s->arena);
    free(s);
}
