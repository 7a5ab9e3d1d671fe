/* The partition "files": names of partitions, and of files in each.
 *
 * I1: of a file that several commits name the larger size counts; a file that is said to be gone
 *     takes its name out, and stays known as gone while nothing named it before
 *     (HoodieMetadataPayload.combineFileSystemMetadata). */
#include <assert.h>

#include "table/metadata_parts.h"

#define ALL_PARTITIONS TN_STR("__all_partitions__")

static tn_metadata_name name_of(tn_str name, const tn_avro_value *info)
{
    const tn_avro_value *deleted = tn_avro_member(info, "isDeleted");
    int64_t size = tn_avro_i64(tn_avro_member(info, "size"), 0);

    return (tn_metadata_name){.name = name,
                              .size_bytes = size > 0 ? (uint64_t)size : 0,
                              .deleted = deleted != NULL && deleted->kind == TN_AVRO_BOOLEAN &&
                                         deleted->as.truth};
}

/* One more version into names[*n], which `map` finds by name (I1). A name that is taken out leaves
 * its place with a NULL name. */
static int fold(tarn_cx *cx, const tn_avro_value *files, tn_map *map, tn_metadata_name *names,
                size_t *n)
{
    bool added;
    size_t *place;

    for (size_t i = 0; i < files->as.many.count; i++) {
        tn_metadata_name name = name_of(files->as.many.names[i], &files->as.many.items[i]), *old;

        place = tn_map_add(cx, map, name.name, &added);
        if (place == NULL)
            return TARN_E_NOMEM;
        if (added)
            *place = (*n)++;
        old = &names[*place];
        if (added || old->name.ptr == NULL || old->deleted) {
            *old = name;
        } else if (name.deleted) {
            old->name = (tn_str){NULL, 0};
        } else if (name.size_bytes > old->size_bytes) {
            old->size_bytes = name.size_bytes;
        }
    }
    return TARN_OK;
}

int tn_metadata_names(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                      tn_metadata_name **out, size_t *count)
{
    tn_metadata_name *names;
    tn_map map = {0};
    size_t all = 0, n = 0, kept = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < record->count; i++) {
        const tn_avro_value *files = tn_avro_member(&record->versions[i], "filesystemMetadata");

        if (files != NULL && files->kind == TN_AVRO_MAP)
            all += files->as.many.count;
    }
    names = tn_arena_array(cx, arena, all + 1, sizeof *names);
    if (names == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < record->count; i++) {
        const tn_avro_value *files = tn_avro_member(&record->versions[i], "filesystemMetadata");

        if (files != NULL && files->kind == TN_AVRO_MAP)
            TN_TRY(fold(cx, files, &map, names, &n));
    }
    for (size_t i = 0; i < n; i++)
        if (names[i].name.ptr != NULL)
            names[kept++] = names[i];
    *out = names;
    *count = kept;
done:
    tn_map_clear(&map);
    return rc;
}

static int get_names(tarn_cx *cx, tn_metadata *md, tn_str key, tn_arena *arena,
                     tn_metadata_name **names, size_t *count)
{
    tn_metadata_partition *part = tn_metadata_partition_find(md, "files");
    tn_metadata_record record = {0};
    int rc = TARN_OK;

    assert(part != NULL);
    TN_TRY(tn_metadata_record_one(cx, md, part, key, arena, &record));
    TN_TRY(tn_metadata_names(cx, &record, arena, names, count));
done:
    return rc;
}

int tn_metadata_partitions(tarn_cx *cx, tn_metadata *md, tn_arena *arena, tn_str **paths,
                           size_t *count)
{
    tn_metadata_name *names;
    tn_str *made;
    size_t all, n = 0;
    int rc = TARN_OK;

    TN_TRY(get_names(cx, md, ALL_PARTITIONS, arena, &names, &all));
    made = tn_arena_array(cx, arena, all + 1, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < all; i++)
        if (!names[i].deleted)
            made[n++] = tn_str_is(names[i].name, ".") ? TN_STR("") : names[i].name;
    tn_str_sort(made, n);
    *paths = made;
    *count = n;
done:
    return rc;
}

int tn_metadata_files(tarn_cx *cx, tn_metadata *md, tn_str partition, tn_arena *arena,
                      tn_metadata_file **files, size_t *count)
{
    tn_metadata_name *names;
    tn_metadata_file *made;
    size_t all, n = 0;
    int rc = TARN_OK;

    TN_TRY(get_names(cx, md, tn_metadata_key_partition(partition), arena, &names, &all));
    made = tn_arena_array(cx, arena, all + 1, sizeof *made);
    if (made == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < all; i++)
        if (!names[i].deleted)
            made[n++] = (tn_metadata_file){names[i].name, names[i].size_bytes};
    *files = made;
    *count = n;
done:
    return rc;
}
