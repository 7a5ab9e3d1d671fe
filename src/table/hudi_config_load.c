/* hoodie.properties from the store, and whether tarn may write to such a table.
 *
 * I1: while a writer changes the file there is a moment without it; its backup, written before and
 *     removed after, then tells. A reader that meets neither looks again, for about a second.
 * I2: a damaged file is not read past: the backup stands in, or the failure names the file. */
#include <time.h>

#include "table/hudi_config.h"

#define TN_HUDI_CONFIG_TRIES    5
#define TN_HUDI_CONFIG_PAUSE_MS 40 /* doubled each time */

/* One of the two files. *found false: it is not there. */
static int load_file(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *found,
                     tn_hudi_config *out)
{
    tn_buf bytes = {0};
    tn_str text;
    int rc;

    *found = true;
    rc = tn_store_get(cx, store, path, TN_HUDI_PROPERTIES_BYTES_MAX, &bytes);
    if (rc == TARN_E_NOTFOUND) {
        *found = false;
        tn_cx_forget(cx);
        rc = TARN_OK;
        goto done;
    }
    TN_TRY(rc);
    text = tn_buf_view(&bytes);
    TN_TRY(tn_arena_keep(cx, arena, &text));
    TN_TRY(tn_hudi_config_parse(cx, text, path, arena, out));
done:
    tn_buf_clear(&bytes);
    return rc;
}

/* The file, else its backup. Of two that are damaged the failure names the first. */
static int load_either(tarn_cx *cx, tn_store *store, tn_str path, tn_arena *arena, bool *found,
                       tn_hudi_config *out)
{
    tn_arena texts = {0};
    tn_str backup, first;
    bool backup_found = false;
    int rc, first_rc;

    rc = load_file(cx, store, path, arena, found, out);
    if ((rc == TARN_OK && *found) || (rc != TARN_OK && rc != TARN_E_CORRUPT))
        return rc;
    first_rc = rc;
    first = tn_str_of(rc != TARN_OK ? tarn_cx_error(cx) : "");
    TN_TRY(tn_arena_keep(cx, &texts, &first));
    TN_TRY(tn_arena_print(cx, &texts, &backup, "%.*s.backup", TN_STR_ARG(path)));
    rc = load_file(cx, store, backup, arena, &backup_found, out);
    if (first_rc == TARN_OK) {
        *found = backup_found;
    } else if ((rc == TARN_OK && !backup_found) || rc == TARN_E_CORRUPT) {
        rc = tn_fail(cx, first_rc, "%.*s%s", TN_STR_ARG(first),
                     rc == TARN_OK ? "" : " (its backup is damaged, too)");
        *found = true;
    }
done:
    tn_arena_clear(&texts);
    return rc;
}

static void pause_ms(long ms)
{
    struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&nap, NULL);
}

int tn_hudi_config_load(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                        tn_hudi_config *out)
{
    tn_arena paths = {0};
    tn_hudi_config config;
    tn_str folder, path;
    bool found = false, there;
    int rc = TARN_OK;

    TN_TRY(tn_path_join(cx, &paths, root, TN_STR(".hoodie"), &folder));
    TN_TRY(tn_path_join(cx, arena, folder, TN_STR("hoodie.properties"), &path));
    TN_TRY(tn_store_exists(cx, store, folder, &there));
    if (!there)
        TN_FAIL(TARN_E_NOTFOUND, "%.*s: no Hudi table: there is no directory .hoodie in it",
                TN_STR_ARG(root));
    for (int i = 0; i < TN_HUDI_CONFIG_TRIES; i++) {
        TN_TRY(tn_cx_check(cx));
        rc = load_either(cx, store, path, arena, &found, &config);
        if ((rc == TARN_OK && found) || (rc != TARN_OK && rc != TARN_E_CORRUPT))
            break;
        if (i + 1 < TN_HUDI_CONFIG_TRIES)
            pause_ms((long)TN_HUDI_CONFIG_PAUSE_MS << i);
    }
    TN_TRY(rc);
    if (!found)
        TN_FAIL(TARN_E_NOTFOUND,
                "%.*s: no Hudi table: neither hoodie.properties nor its backup is there; if there "
                "are data files and a timeline, restore the file from a copy",
                TN_STR_ARG(folder));
    *out = config;
done:
    tn_arena_clear(&paths);
    return rc;
}

static int refuse(tarn_cx *cx, const tn_hudi_config *config, const char *why)
{
    return tn_fail(cx, TARN_E_UNSUPPORTED, "table %.*s: %s; nothing was written",
                   TN_STR_ARG(config->name), why);
}

static int check_storage(tarn_cx *cx, const tn_hudi_config *config)
{
    if (config->version != 6 && config->version != 8 && config->version != 9)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "table %.*s: version %d is read, never written: let Hudi upgrade it to 6, 8 "
                       "or 9; nothing was written",
                       TN_STR_ARG(config->name), (int)config->version);
    if (config->mor)
        return refuse(cx, config,
                      "tarn does not write merge-on-read tables yet; write it with "
                      "Hudi, or use a copy-on-write table");
    if (!tn_str_is(config->base_format, "PARQUET") ||
        tn_str_is(tn_properties_get(&config->all, "hoodie.table.multiple.base.file.formats.enable"),
                  "true"))
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "table %.*s: base files of the format %.*s are not written, Parquet alone "
                       "is; nothing was written",
                       TN_STR_ARG(config->name), TN_STR_ARG(config->base_format));
    if (tn_properties_get(&config->all, "hoodie.bootstrap.base.path").len != 0)
        return refuse(cx, config,
                      "it is a bootstrapped table (hoodie.bootstrap.base.path), whose "
                      "files tarn does not understand");
    if (config->cdc)
        return refuse(cx, config,
                      "it keeps change data (hoodie.table.cdc.enabled), which tarn "
                      "does not write");
    if (config->drop_partition_columns)
        return refuse(cx, config,
                      "its files lack the partition columns "
                      "(hoodie.datasource.write.drop.partition.columns), which tarn "
                      "does not write");
    if (config->metafile_in_base_format)
        return refuse(cx, config,
                      "its partition metadata files are Parquet "
                      "(hoodie.partition.metafile.use.base.format), which tarn does "
                      "not write");
    return TARN_OK;
}

int tn_hudi_config_writable(tarn_cx *cx, const tn_hudi_config *config)
{
    int rc = TARN_OK;

    TN_TRY(check_storage(cx, config));
    if (!config->keygen_known)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "table %.*s: the key generator %.*s is not known to tarn: keys would be guessed; "
                "nothing was written",
                TN_STR_ARG(config->name), TN_STR_ARG(config->keygen_class));
    if (config->key_count == 0)
        rc = refuse(cx, config,
                    "it has no record key (hoodie.table.recordkey.fields): Hudi makes "
                    "the keys itself, which tarn does not");
    else if (config->partial)
        rc = refuse(cx, config,
                    "it merges rows field by field (a partial update mode or payload), "
                    "which tarn does not");
    else if (config->merge_mode == TN_MERGE_CUSTOM)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "table %.*s: rows are merged by a class of its own (%.*s), which tarn cannot run; "
                "nothing was written",
                TN_STR_ARG(config->name),
                TN_STR_ARG(config->payload.len != 0 ? config->payload
                                                    : TN_STR("hoodie.record.merge.mode=CUSTOM")));
done:
    return rc;
}
