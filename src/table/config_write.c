/* Changing hoodie.properties (HoodieTableConfig.modify and recoverIfNeeded).
 *
 *   whole -> whole + backup -> new + backup -> new
 *
 * W1: at every moment the file is there, whole, old or new: it is replaced in one step. The backup
 *     is for writers that delete first, and for us when the new file does not read back.
 * W2: whoever finds a backup beside a whole file removes the backup; beside a missing or damaged
 *     one it takes the backup's place.
 * W3: the .crc side file of a name goes before a file of that name appears. */
#include "table/config_write.h"

#include <assert.h>
#include <time.h>

typedef struct place {
    tn_str path, backup; /* in the arena */
    tn_arena arena;
} place;

static int find_place(tarn_cx *cx, tn_str root, place *out)
{
    int rc;

    TN_TRY(tn_path_join(cx, &out->arena, root, TN_STR(".hoodie/hoodie.properties"), &out->path));
    TN_TRY(tn_arena_print(cx, &out->arena, &out->backup, "%.*s.backup", TN_STR_ARG(out->path)));
done:
    return rc;
}

int tn_hudi_config_drop_crc(tarn_cx *cx, tn_store *store, tn_str path)
{
    tn_arena arena = {0};
    tn_str directory = tn_path_parent(path), name = tn_path_name(path), crc;
    int rc;

    TN_TRY(tn_arena_print(cx, &arena, &crc, "%.*s/.%.*s.crc", TN_STR_ARG(directory),
                          TN_STR_ARG(name)));
    rc = tn_store_remove(cx, store, crc);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

/* Removes a file that may be missing, and its side file. */
static int drop(tarn_cx *cx, tn_store *store, tn_str path)
{
    int rc = tn_store_remove(cx, store, path);

    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
    TN_TRY(rc);
    TN_TRY(tn_hudi_config_drop_crc(cx, store, path));
done:
    return rc;
}

/* *whole: it is there and its checksum is right. `text` gets what is there. */
static int look(tarn_cx *cx, tn_store *store, tn_str path, bool *found, bool *whole, tn_buf *text)
{
    tn_arena arena = {0};
    tn_hudi_config config;
    int rc = tn_store_get(cx, store, path, TN_HUDI_PROPERTIES_BYTES_MAX, text);

    *found = rc == TARN_OK;
    *whole = false;
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    rc = tn_hudi_config_parse(cx, tn_buf_view(text), path, &arena, &config);
    /* A version that we do not know is no damage: it is left for the reader to refuse. */
    *whole = rc == TARN_OK || rc == TARN_E_UNSUPPORTED;
    if (rc == TARN_E_CORRUPT || rc == TARN_E_UNSUPPORTED) {
        tn_cx_forget(cx);
        rc = TARN_OK;
    }
done:
    tn_arena_clear(&arena);
    return rc;
}

static int settle(tarn_cx *cx, tn_store *store, const place *at)
{
    tn_buf text = {0}, spare = {0};
    bool found, whole, has_spare, spare_whole;
    int rc;

    TN_TRY(look(cx, store, at->backup, &has_spare, &spare_whole, &spare));
    if (!has_spare)
        goto done;
    TN_TRY(look(cx, store, at->path, &found, &whole, &text));
    if (!whole && spare_whole) {
        TN_TRY(tn_hudi_config_drop_crc(cx, store, at->path));
        TN_TRY(tn_store_put(cx, store, at->path, tn_buf_view(&spare)));
        whole = true;
    }
    if (whole)
        TN_TRY(drop(cx, store, at->backup));
done:
    tn_buf_clear(&text);
    tn_buf_clear(&spare);
    return rc;
}

int tn_hudi_config_settle(tarn_cx *cx, tn_store *store, tn_str root)
{
    place at = {0};
    int rc;

    TN_TRY(find_place(cx, root, &at));
    TN_TRY(settle(cx, store, &at));
done:
    tn_arena_clear(&at.arena);
    return rc;
}

int tn_hudi_config_print(tarn_cx *cx, const tn_properties *properties, const char *label,
                         tn_buf *out)
{
    int64_t now = tn_cx_now_ms(cx);
    time_t seconds = (time_t)(now / 1000);
    char comment[80], when[40] = "";
    struct tm utc;

    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(comment, sizeof comment, "%s %s.%03dZ", label, when, (int)(now % 1000));
    tn_properties_print(out, properties, tn_str_of(comment), now);
    return tn_buf_check(cx, out);
}

/* The new text stands there and reads back as what it is. */
static int check_written(tarn_cx *cx, tn_store *store, const place *at, tn_str want)
{
    tn_buf text = {0};
    int rc;

    TN_TRY(tn_store_get(cx, store, at->path, TN_HUDI_PROPERTIES_BYTES_MAX, &text));
    if (!tn_str_equal(tn_buf_view(&text), want))
        TN_FAIL(TARN_E_CONFLICT,
                "%.*s: another writer changed it at the same moment; look at it and run again",
                TN_STR_ARG(at->path));
done:
    tn_buf_clear(&text);
    return rc;
}

static int replace(tarn_cx *cx, tn_store *store, const place *at, tn_str text)
{
    tn_buf old = {0};
    bool found, whole;
    int rc;

    TN_TRY(look(cx, store, at->path, &found, &whole, &old));
    if (!whole)
        TN_FAIL(found ? TARN_E_CORRUPT : TARN_E_NOTFOUND,
                "%.*s: %s, and there is no backup of it; nothing was changed: restore it",
                TN_STR_ARG(at->path), found ? "is damaged" : "is missing");
    TN_TRY(tn_hudi_config_drop_crc(cx, store, at->backup));
    rc = tn_store_put_absent(cx, store, at->backup, tn_buf_view(&old));
    if (rc == TARN_E_EXISTS)
        TN_FAIL(TARN_E_CONFLICT, "%.*s: another writer changes the table's properties; run again",
                TN_STR_ARG(at->backup));
    TN_TRY(rc);
    TN_TRY(tn_hudi_config_drop_crc(cx, store, at->path));
    TN_TRY(tn_store_put(cx, store, at->path, text));
    TN_TRY(check_written(cx, store, at, text));
    TN_TRY(drop(cx, store, at->backup));
done:
    tn_buf_clear(&old);
    return rc;
}

int tn_hudi_config_update(tarn_cx *cx, tn_store *store, tn_str root,
                          const tn_properties *properties)
{
    tn_buf text = {0};
    tn_hudi_config config;
    place at = {0};
    int rc;

    assert(properties != NULL);
    TN_TRY(find_place(cx, root, &at));
    TN_TRY(tn_hudi_config_print(cx, properties, "Updated at", &text));
    /* Never in place of a whole file what would not be read. */
    TN_TRY(tn_hudi_config_parse(cx, tn_buf_view(&text), at.path, &at.arena, &config));
    TN_TRY(settle(cx, store, &at));
    TN_TRY(replace(cx, store, &at, tn_buf_view(&text)));
done:
    tn_arena_clear(&at.arena);
    tn_buf_clear(&text);
    return rc;
}

int tn_hudi_partition_print(tarn_cx *cx, tn_str instant, tn_str partition, tn_buf *out)
{
    char digits[24];
    size_t depth = partition.len != 0;
    tn_property items[] = {{TN_STR("commitTime"), instant}, {TN_STR("partitionDepth"), {0}}};

    for (size_t i = 0; i < partition.len; i++)
        depth += partition.ptr[i] == '/';
    snprintf(digits, sizeof digits, "%zu", depth);
    items[1].value = tn_str_of(digits);
    tn_properties_print(out, &(tn_properties){items, 2, 2}, TN_STR("partition metadata"),
                        tn_cx_now_ms(cx));
    return tn_buf_check(cx, out);
}
