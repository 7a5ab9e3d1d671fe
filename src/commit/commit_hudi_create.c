/* A new table.
 *
 *   nothing or an empty directory -> .hoodie with its directories -> hoodie.properties
 *
 * C1: a directory without hoodie.properties is no table: that file comes last, whole.
 * C2: a creation that was cut off is gone on with; one that fails removes what it made.
 * C3: nothing is made in, above or below a table of another kind, or beside files. */
#include "commit/commit_hudi_parts.h"

#include <assert.h>

#include "table/dir.h"

typedef struct creation {
    tn_store *store;
    tn_str root, hoodie, properties;
    tn_arena arena;
    bool made_root, made_hoodie;
    tn_hudi_lock lock;
} creation;

/* What stands in the root already. *hoodie: a .hoodie that may be a creation cut off. */
static int look(tarn_cx *cx, creation *c, bool *root_found, bool *hoodie)
{
    tn_entry *entries;
    size_t count, others = 0;
    tn_str kind;
    int rc;

    *root_found = *hoodie = false;
    rc = tn_store_list(cx, c->store, c->root, &c->arena, &entries, &count);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        return TARN_OK;
    }
    TN_TRY(rc);
    *root_found = true;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].stat.kind == TN_ENTRY_DIR && tn_str_is(entries[i].name, ".hoodie"))
            *hoodie = true;
        else
            entries[others++] = entries[i];
    }
    kind = tn_dir_foreign_kind(c->root, entries, others);
    if (kind.len != 0)
        TN_TRY(tn_dir_refuse(cx, c->root, c->root, kind, false));
    for (size_t i = 0; i < others; i++)
        if (entries[i].name.ptr[0] != '.')
            TN_FAIL(TARN_E_INVALID,
                    "%.*s: it is not empty (it holds \"%.*s\"), so no table is made there; give a "
                    "new or an empty directory",
                    TN_STR_ARG(c->root), TN_STR_ARG(entries[i].name));
done:
    return rc;
}

static int refuse_table(tarn_cx *cx, creation *c)
{
    tn_str backup;
    bool there;
    int rc;

    TN_TRY(tn_store_exists(cx, c->store, c->properties, &there));
    if (!there) {
        TN_TRY(tn_arena_print(cx, &c->arena, &backup, "%.*s.backup", TN_STR_ARG(c->properties)));
        TN_TRY(tn_store_exists(cx, c->store, backup, &there));
    }
    if (there)
        TN_FAIL(TARN_E_EXISTS, "%.*s: is a Hudi table already; write to it, or give another path",
                TN_STR_ARG(c->root));
done:
    return rc;
}

/* Instants without properties: a table that lost them, no creation cut off. */
static int refuse_instants(tarn_cx *cx, creation *c)
{
    static const char *const folders[] = {"", "/timeline"};
    int rc = TARN_OK;

    for (int i = 0; i < 2; i++) {
        tn_entry *entries;
        size_t count;
        tn_str path;

        TN_TRY(tn_arena_print(cx, &c->arena, &path, "%.*s%s", TN_STR_ARG(c->hoodie), folders[i]));
        rc = tn_store_list(cx, c->store, path, &c->arena, &entries, &count);
        if (rc == TARN_E_NOTFOUND) {
            tn_cx_forget(cx);
            rc = TARN_OK;
            continue;
        }
        TN_TRY(rc);
        for (size_t k = 0; k < count; k++) {
            tn_instant instant;

            if (entries[k].stat.kind == TN_ENTRY_FILE &&
                tn_instant_parse(entries[k].name, i + 1, &instant))
                TN_FAIL(TARN_E_INVALID,
                        "%.*s: it has instants (\"%.*s\") but no hoodie.properties: a table that "
                        "lost it; restore that file",
                        TN_STR_ARG(c->hoodie), TN_STR_ARG(entries[k].name));
        }
    }
done:
    return rc;
}

static int make_root(tarn_cx *cx, creation *c, bool root_found, bool hoodie)
{
    int rc = TARN_OK;

    if (!root_found) {
        TN_TRY(tn_store_make_dirs(cx, c->store, tn_path_parent(c->root)));
        rc = tn_store_make_dir(cx, c->store, c->root);
        c->made_root = rc == TARN_OK;
        if (rc == TARN_E_EXISTS) {
            tn_cx_forget(cx);
            rc = TARN_OK;
        }
        TN_TRY(rc);
        TN_TRY(tn_store_sync_dir(cx, c->store, tn_path_parent(c->root)));
    }
    if (hoodie)
        goto done;
    rc = tn_store_make_dir(cx, c->store, c->hoodie);
    c->made_hoodie = rc == TARN_OK;
    if (rc == TARN_E_EXISTS) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    TN_TRY(rc);
    TN_TRY(tn_store_sync_dir(cx, c->store, c->root));
done:
    return rc;
}

/* In Hudi's order. */
static int make_folders(tarn_cx *cx, creation *c, bool second)
{
    static const char *const folders[] = {".schema",
                                          "timeline/history",
                                          "archived",
                                          ".temp",
                                          ".aux/.bootstrap/.partitions",
                                          ".aux/.bootstrap/.fileids"};
    int rc = TARN_OK;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        tn_str path;

        if (i == (second ? 2 : 1))
            continue;
        TN_TRY(tn_path_join(cx, &c->arena, c->hoodie, tn_str_of(folders[i]), &path));
        TN_TRY(tn_store_make_dirs(cx, c->store, path));
    }
    TN_TRY(tn_store_sync_dir(cx, c->store, c->hoodie));
done:
    return rc;
}

static int put_properties(tarn_cx *cx, creation *c, const tn_properties *properties)
{
    tn_hudi_config config;
    tn_buf text = {0};
    int rc;

    TN_TRY(tn_hudi_config_print(cx, properties, "Properties saved on", &text));
    /* No table is made that would not be opened. */
    TN_TRY(tn_hudi_config_parse(cx, tn_buf_view(&text), c->properties, &c->arena, &config));
    TN_TRY(tn_hudi_config_writable(cx, &config));
    TN_TRY(tn_hudi_config_drop_crc(cx, c->store, c->properties));
    rc = tn_store_put_absent(cx, c->store, c->properties, tn_buf_view(&text));
    if (rc == TARN_E_EXISTS)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: another process made a table there at the same moment",
                TN_STR_ARG(c->root));
done:
    tn_buf_clear(&text);
    return rc;
}

/* It is, or that cannot be told. */
static bool is_there(tarn_cx *cx, const creation *c)
{
    bool there = true;

    return tn_store_exists(cx, c->store, c->properties, &there) != TARN_OK || there;
}

static void end(tarn_cx *cx, creation *c, bool failed)
{
    atomic_bool never;
    tarn_cx child;

    tn_hudi_commit_shield(&child, cx, &never);
    /* Without the lock it may be another's by now, who made more in it. */
    if (failed && c->made_hoodie && c->lock.own == NULL)
        (void)tn_store_remove_dir(&child, c->store, c->hoodie);
    else if (failed && c->made_hoodie && !is_there(&child, c))
        (void)tn_store_remove_tree(&child, c->store, c->hoodie);
    if (failed && c->made_root && c->made_hoodie)
        (void)tn_store_remove_dir(&child, c->store, c->root);
    tn_hudi_lock_free(&child, &c->lock);
    tn_cx_child_clear(&child);
    tn_arena_clear(&c->arena);
}

int tn_hudi_create(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_new *options,
                   tn_hudi_made *made)
{
    creation c = {.store = store, .root = root};
    tn_properties properties;
    bool root_found, hoodie;
    int rc;

    assert(options != NULL);
    TN_TRY(tn_path_join(cx, &c.arena, root, TN_STR(".hoodie"), &c.hoodie));
    TN_TRY(tn_path_join(cx, &c.arena, c.hoodie, TN_STR("hoodie.properties"), &c.properties));
    TN_TRY(tn_hudi_config_new(cx, options, &c.arena, &properties));
    TN_TRY(tn_dir_check_parents(cx, store, root, false));
    /* A table has files, too: that it is one is what counts. */
    TN_TRY(refuse_table(cx, &c));
    TN_TRY(look(cx, &c, &root_found, &hoodie));
    TN_TRY(refuse_instants(cx, &c));
    TN_TRY(make_root(cx, &c, root_found, hoodie));
    TN_TRY(tn_hudi_lock_take(cx, store, root, 0, &c.arena, &c.lock));
    TN_TRY(refuse_table(cx, &c));
    TN_TRY(make_folders(cx, &c, options->version >= 8));
    TN_TRY(put_properties(cx, &c, &properties));
    if (made != NULL)
        *made = (tn_hudi_made){.root = c.made_root, .hoodie = c.made_hoodie};
done:
    end(cx, &c, rc != TARN_OK);
    return rc;
}
