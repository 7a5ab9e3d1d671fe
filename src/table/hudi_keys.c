/* How single-field complex keys are spelled, learned from the keys that are there.
 *
 * I1: from version 9 on the version says it. Below, releases differ (0.14.1 to 1.0.2 write "value",
 *     others "field:value"), and the least and greatest key of each file, which its footer has,
 *     tell: keys between two that begin with "field:" begin with it, too.
 * I2: a table that has both forms is refused: a key would be written beside itself. */
#include "table/hudi_keys.h"

#include <assert.h>
#include <stdlib.h>

#include "base/pool.h"
#include "codec/parquet/file.h"

enum spelling { SPELLING_NONE = 0, SPELLING_NAMED = 1, SPELLING_PLAIN = 2, SPELLING_BOTH = 3 };

typedef struct look {
    tn_store *store;
    const tn_slices *slices;
    tn_str prefix;        /* "field:" */
    unsigned char *found; /* per slice: enum spelling */
} look;

static enum spelling spelling_of(const look *l, tn_str key)
{
    if (key.len == 0)
        return SPELLING_NONE;
    return tn_str_starts(key, l->prefix) ? SPELLING_NAMED : SPELLING_PLAIN;
}

static int look_at(tarn_cx *cx, size_t i, void *arg)
{
    const look *l = arg;
    const tn_base_file *base = &l->slices->slices[i].base;
    tn_parquet parquet = {0};
    int rc = TARN_OK;

    if (base->name.len == 0)
        goto done;
    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_parquet_open(cx, l->store, base->path, &parquet));
    l->found[i] =
        (unsigned char)(spelling_of(l, tn_parquet_key_value(&parquet, "hoodie_min_record_key")) |
                        spelling_of(l, tn_parquet_key_value(&parquet, "hoodie_max_record_key")));
done:
    tn_parquet_close(&parquet);
    return rc;
}

int tn_hudi_keys_named(tarn_cx *cx, tn_store *store, const tn_hudi_config *config,
                       const tn_slices *slices, bool fallback, bool *out)
{
    look l = {.store = store, .slices = slices};
    tn_arena arena = {0};
    unsigned all = SPELLING_NONE;
    int rc = TARN_OK;

    assert(out != NULL);
    if (config->keygen != TN_KEYGEN_COMPLEX || config->key_count != 1) {
        *out = false;
        return TARN_OK;
    }
    if (config->version >= 9) {
        *out = true;
        return TARN_OK;
    }
    TN_TRY(tn_arena_print(cx, &arena, &l.prefix, "%.*s:", TN_STR_ARG(config->keys[0])));
    l.found = tn_calloc(cx, slices->slice_count, 1);
    if (l.found == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_parallel(cx, slices->slice_count, look_at, &l));
    for (size_t i = 0; i < slices->slice_count; i++)
        all |= l.found[i];
    if (all == SPELLING_BOTH)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "table %.*s: some of its record keys read \"%.*svalue\" and some \"value\", as "
                "releases of Hudi differ in it: rows would be written beside themselves; rewrite "
                "the table with one release first",
                TN_STR_ARG(config->name), TN_STR_ARG(l.prefix));
    *out = all == SPELLING_NONE ? fallback : all == SPELLING_NAMED;
done:
    free(l.found);
    tn_arena_clear(&arena);
    return rc;
}
