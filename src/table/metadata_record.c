/* Records of the metadata table by key: all versions that base file and logs have of them.
 *
 * I1: a deletion in a log forgets the versions before it.
 * I2: one key costs one block of each HFile of its group; keys of one call are sought in order. */
#include <assert.h>
#include <stdlib.h>

#include "table/metadata_parts.h"

/* A version as it was met; value.ptr NULL: a deletion. */
typedef struct version {
    tn_str key, value;
    const tn_avro_type *type;
    size_t number; /* in the order of writing */
} version;

typedef struct versions {
    version *items;
    size_t count, cap;
} versions;

static int add_version(tarn_cx *cx, versions *list, version item)
{
    int rc = TARN_OK;

    TN_TRY(tn_grow(cx, &list->items, list->count, &list->cap, sizeof item));
    item.number = list->count;
    list->items[list->count++] = item;
done:
    return rc;
}

/* The versions of one key, oldest first, as values. */
static int decode(tarn_cx *cx, const tn_metadata_group *group, const version *items, size_t count,
                  tn_arena *arena, tn_metadata_record *out)
{
    size_t first = 0, used;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++)
        if (items[i].value.ptr == NULL) /* I1 */
            first = i + 1;
    out->versions = tn_arena_array(cx, arena, count - first, sizeof *out->versions);
    if (out->versions == NULL)
        return TARN_E_NOMEM;
    for (size_t i = first; i < count; i++) {
        rc = tn_avro_decode(cx, items[i].type, items[i].value, arena, &used,
                            &out->versions[i - first]);
        if (rc == TARN_OK && used != items[i].value.len)
            rc = tn_fail(cx, TARN_E_CORRUPT, "more bytes than its schema says");
        if (rc != TARN_OK)
            TN_TRY(tn_fail_within(cx, rc, "metadata table: file group %.*s: record %.*s",
                                  TN_STR_ARG(group->file_id), TN_STR_ARG(items[i].key)));
    }
    out->count = count - first;
done:
    return rc;
}

/* ---- by key ---- */

/* Versions of one key in one source. HFiles may hold a key more than once; the last one counts. */
static int find_key(tarn_cx *cx, tn_metadata_source *source, tn_str key, tn_arena *arena,
                    versions *list)
{
    version item = {.key = key, .type = source->type};
    tn_str found, value;
    bool more;
    int rc = TARN_OK;

    if (source->file == NULL) {
        if (tn_map_find(&source->deleted, key) != NULL)
            TN_TRY(add_version(cx, list, item));
        goto done;
    }
    TN_TRY(tn_hfile_cursor_seek(cx, source->cursor, key));
    for (;;) {
        TN_TRY(tn_hfile_cursor_next(cx, source->cursor, &more, &found, &value));
        if (!more || !tn_str_equal(found, key))
            break;
        item.value = value.ptr != NULL ? value : TN_STR("");
        TN_TRY(tn_arena_keep(cx, arena, &item.value));
        TN_TRY(add_version(cx, list, item));
    }
done:
    return rc;
}

int tn_metadata_record_get(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group,
                           const tn_str *keys, const size_t *order, size_t count, tn_arena *arena,
                           tn_metadata_record *found)
{
    versions list = {0};
    int rc = TARN_OK;

    TN_TRY(tn_metadata_group_open(cx, md, group));
    for (size_t i = 0; i < count; i++) {
        tn_str key = keys[order[i]];

        list.count = 0;
        for (size_t s = 0; s < group->source_count; s++)
            TN_TRY(find_key(cx, &group->sources[s], key, arena, &list));
        found[i].key = key;
        TN_TRY(decode(cx, group, list.items, list.count, arena, &found[i]));
    }
done:
    free(list.items);
    return rc;
}

int tn_metadata_record_one(tarn_cx *cx, tn_metadata *md, tn_metadata_partition *part, tn_str key,
                           tn_arena *arena, tn_metadata_record *out)
{
    static const size_t first = 0;
    const tn_metadata_set *set;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_partition_load(cx, md, part));
    set = &part->sets[0];
    TN_TRY(tn_metadata_record_get(
        cx, md, &part->groups[set->first + tn_metadata_key_group(key, set->count)], &key, &first, 1,
        arena, out));
done:
    return rc;
}

/* ---- by prefix ---- */

static int scan_source(tarn_cx *cx, tn_metadata_source *source, tn_str prefix, tn_arena *arena,
                       versions *list)
{
    version item = {.type = source->type};
    bool more;
    int rc = TARN_OK;

    for (size_t i = 0; i < source->deleted_count; i++) {
        item.key = source->deleted_keys[i];
        if (tn_str_starts(item.key, prefix))
            TN_TRY(add_version(cx, list, item));
    }
    if (source->file == NULL)
        goto done;
    TN_TRY(tn_hfile_cursor_seek(cx, source->cursor, prefix));
    for (;;) {
        TN_TRY(tn_hfile_cursor_next(cx, source->cursor, &more, &item.key, &item.value));
        if (!more || !tn_str_starts(item.key, prefix))
            break;
        TN_TRY(tn_arena_keep(cx, arena, &item.key));
        TN_TRY(tn_arena_keep(cx, arena, &item.value));
        TN_TRY(add_version(cx, list, item));
    }
done:
    return rc;
}

static int by_key(const void *a, const void *b)
{
    const version *x = a, *y = b;
    int order = tn_str_compare(x->key, y->key);

    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

int tn_metadata_record_scan(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group, tn_str prefix,
                            tn_arena *arena, tn_metadata_record **out, size_t *count)
{
    tn_metadata_record *records;
    versions list = {0};
    size_t n = 0;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_group_open(cx, md, group));
    for (size_t s = 0; s < group->source_count; s++)
        TN_TRY(scan_source(cx, &group->sources[s], prefix, arena, &list));
    if (group->source_count > 1 && list.count != 0)
        qsort(list.items, list.count, sizeof *list.items, by_key);
    records = tn_arena_array(cx, arena, list.count + 1, sizeof *records);
    if (records == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t first = 0, end; first < list.count; first = end) {
        for (end = first + 1;
             end < list.count && tn_str_equal(list.items[end].key, list.items[first].key);)
            end++;
        TN_TRY(tn_cx_check(cx));
        records[n].key = list.items[first].key;
        TN_TRY(decode(cx, group, list.items + first, end - first, arena, &records[n]));
        n += records[n].count != 0;
    }
    *out = records;
    *count = n;
done:
    free(list.items);
    return rc;
}
