/* Lookups in the record index and in secondary indexes, and one record for people.
 *
 * I1: a lookup opens only the file groups that its keys' hashes lead to.
 * I2: the record index's answer "not there" is one: keys that it does not find are nowhere in the
 *     table; so a partition that is not listed is refused, never taken for an empty one. */
#include <assert.h>
#include <stdlib.h>

#include "table/metadata_parts.h"

#define RECORD_INDEX "record_index"

/* ---- places ---- */

static int print_uuid(tarn_cx *cx, tn_arena *arena, uint64_t high, uint64_t low, int64_t number,
                      tn_str *out)
{
    int rc = tn_arena_print(cx, arena, out, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
                            (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFFF),
                            (unsigned)(low >> 48), (unsigned long long)(low & 0xFFFFFFFFFFFFu));

    if (rc == TARN_OK && number >= 0)
        rc = tn_arena_print(cx, arena, out, "%.*s-%lld", TN_STR_ARG(*out), (long long)number);
    return rc;
}

static int place_of(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                    tn_metadata_place *out)
{
    const tn_avro_value *info =
        tn_avro_member(&record->versions[record->count - 1], "recordIndexMetadata");
    int rc = TARN_OK;

    if (info == NULL)
        TN_FAIL(TARN_E_CORRUPT, "metadata table: record index: the record of key %.*s has no place",
                TN_STR_ARG(record->key));
    out->partition = tn_avro_text(tn_avro_member(info, "partitionName"));
    if (tn_str_is(out->partition, "."))
        out->partition.len = 0;
    out->instant_ms = tn_avro_i64(tn_avro_member(info, "instantTime"), 0);
    if (tn_avro_i64(tn_avro_member(info, "fileIdEncoding"), 0) == 1)
        out->file_id = tn_avro_text(tn_avro_member(info, "fileId"));
    else
        TN_TRY(print_uuid(cx, arena,
                          (uint64_t)tn_avro_i64(tn_avro_member(info, "fileIdHighBits"), 0),
                          (uint64_t)tn_avro_i64(tn_avro_member(info, "fileIdLowBits"), 0),
                          tn_avro_i64(tn_avro_member(info, "fileIndex"), -1), &out->file_id));
    out->found = true;
done:
    return rc;
}

/* ---- the record index ---- */

/* Keys by group of the set, then by text. */
typedef struct sought {
    tn_str key;
    size_t group, number;
} sought;

static int by_group(const void *a, const void *b)
{
    const sought *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return tn_str_compare(x->key, y->key);
}

/* A key that was found in an earlier set gets one more place. */
static int add_place(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                     tn_metadata_place *place)
{
    tn_metadata_place *more;
    int rc = TARN_OK;

    if (!place->found)
        return place_of(cx, record, arena, place);
    more = tn_arena_take(cx, arena, sizeof *more);
    if (more == NULL)
        return TARN_E_NOMEM;
    TN_TRY(place_of(cx, record, arena, more));
    more->next = place->next;
    place->next = more;
done:
    return rc;
}

typedef struct lookup {
    tn_metadata *md;
    tn_metadata_partition *part;
    const tn_str *keys;
    size_t count;
    sought *order;
    size_t *numbers;
    tn_metadata_record *records;
} lookup;

static int look_in_set(tarn_cx *cx, lookup *l, const tn_metadata_set *set, tn_arena *arena,
                       tn_metadata_place *places)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < l->count; i++)
        l->order[i] = (sought){l->keys[i], tn_metadata_key_group(l->keys[i], set->count), i};
    if (l->count != 0)
        qsort(l->order, l->count, sizeof *l->order, by_group);
    for (size_t i = 0; i < l->count; i++)
        l->numbers[i] = l->order[i].number;
    for (size_t first = 0, end; first < l->count; first = end) {
        for (end = first + 1; end < l->count && l->order[end].group == l->order[first].group;)
            end++;
        TN_TRY(tn_metadata_record_get(cx, l->md,
                                      &l->part->groups[set->first + l->order[first].group], l->keys,
                                      l->numbers + first, end - first, arena, l->records + first));
        for (size_t i = first; i < end; i++)
            if (l->records[i].count != 0)
                TN_TRY(add_place(cx, &l->records[i], arena, &places[l->numbers[i]]));
    }
done:
    return rc;
}

int tn_metadata_locate(tarn_cx *cx, tn_metadata *md, const tn_str *keys, size_t count,
                       tn_arena *arena, tn_metadata_place *places)
{
    lookup l = {.md = md, .keys = keys, .count = count};
    int rc = TARN_OK;

    assert(keys != NULL && places != NULL);
    l.part = tn_metadata_partition_find(md, RECORD_INDEX);
    if (l.part == NULL)
        TN_FAIL(TARN_E_UNSUPPORTED, "%.*s: the table has no record index",
                TN_STR_ARG(md->data_root));
    TN_TRY(tn_metadata_partition_load(cx, md, l.part));
    l.order = tn_calloc(cx, count + 1, sizeof *l.order);
    l.numbers = tn_calloc(cx, count + 1, sizeof *l.numbers);
    l.records = tn_calloc(cx, count + 1, sizeof *l.records);
    if (l.order == NULL || l.numbers == NULL || l.records == NULL)
        TN_TRY(TARN_E_NOMEM);
    memset(places, 0, count * sizeof *places);
    for (size_t i = 0; i < l.part->set_count; i++)
        TN_TRY(look_in_set(cx, &l, &l.part->sets[i], arena, places));
done:
    free(l.order);
    free(l.numbers);
    free(l.records);
    return rc;
}

/* ---- secondary indexes ---- */

static const tn_metadata_index *index_over(const tn_metadata *md, tn_str column)
{
    for (size_t i = 0; i < md->index_count; i++) {
        const tn_metadata_index *index = &md->indexes[i];

        if (tn_str_is(index->type, "secondary_index") && index->field_count == 1 &&
            tn_str_equal(index->fields[0], column) && tn_metadata_has(md, index->name.ptr))
            return index;
    }
    return NULL;
}

static int take_keys(tarn_cx *cx, const tn_metadata_record *records, size_t count, tn_arena *arena,
                     tn_str **keys, size_t *n, size_t *cap)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        const tn_avro_value *info =
            tn_avro_member(&records[i].versions[records[i].count - 1], "SecondaryIndexMetadata");
        const tn_avro_value *deleted = tn_avro_member(info, "isDeleted");
        bool found;
        tn_str key;

        if (deleted != NULL && deleted->kind == TN_AVRO_BOOLEAN && deleted->as.truth)
            continue;
        TN_TRY(tn_metadata_key_record(cx, records[i].key, arena, &found, &key));
        if (!found)
            continue;
        TN_TRY(tn_arena_grow(cx, arena, keys, *n, cap, sizeof **keys));
        (*keys)[(*n)++] = key;
    }
done:
    return rc;
}

int tn_metadata_secondary(tarn_cx *cx, tn_metadata *md, tn_str column, tn_str value,
                          tn_arena *arena, bool *usable, tn_str **keys, size_t *count)
{
    const tn_metadata_index *index;
    tn_metadata_partition *part;
    tn_metadata_record *records;
    tn_buf prefix = {0};
    tn_str *made = NULL;
    size_t n = 0, cap = 0, found, first = 0, end;
    bool known;
    int rc = TARN_OK;

    *usable = false;
    TN_TRY(tn_metadata_indexes(cx, md, &known));
    index = known ? index_over(md, column) : NULL;
    if (index == NULL)
        goto done;
    part = tn_metadata_partition_find(md, index->name.ptr);
    TN_TRY(tn_metadata_partition_load(cx, md, part));
    tn_metadata_key_secondary(&prefix, value);
    TN_TRY(tn_buf_check(cx, &prefix));
    end = part->group_count;
    if (index->v2) {
        first = tn_metadata_key_group(tn_buf_view(&prefix), part->group_count);
        end = first + 1;
    }
    for (size_t i = first; i < end; i++) {
        TN_TRY(tn_metadata_record_scan(cx, md, &part->groups[i], tn_buf_view(&prefix), arena,
                                       &records, &found));
        TN_TRY(take_keys(cx, records, found, arena, &made, &n, &cap));
    }
    *keys = made;
    *count = n;
    *usable = true;
done:
    tn_buf_clear(&prefix);
    return rc;
}

/* ---- one record, for people ---- */

/* A record's tree with one field replaced; the field must be there. */
static int with_field(tarn_cx *cx, const tn_avro_value *record, const char *name,
                      const tn_avro_value *value, tn_arena *arena, tn_avro_value *out)
{
    tn_avro_value *items = tn_arena_array(cx, arena, record->as.many.count, sizeof *items);

    if (items == NULL)
        return TARN_E_NOMEM;
    memcpy(items, record->as.many.items, record->as.many.count * sizeof *items);
    for (size_t i = 0; i < record->as.many.count; i++)
        if (tn_str_is(record->as.many.names[i], name))
            items[i] = *value;
    *out = *record;
    out->as.many.items = items;
    return TARN_OK;
}

static int names_value(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                       tn_avro_value *out)
{
    static const tn_str fields[] = {{"size", 4}, {"isDeleted", 9}};
    tn_metadata_name *names;
    size_t count;
    tn_avro_value *items, *parts;
    tn_str *keys;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_names(cx, record, arena, &names, &count));
    items = tn_arena_array(cx, arena, count + 1, sizeof *items);
    parts = tn_arena_array(cx, arena, 2 * count + 1, sizeof *parts);
    keys = tn_arena_array(cx, arena, count + 1, sizeof *keys);
    if (items == NULL || parts == NULL || keys == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        keys[i] = names[i].name;
        parts[2 * i] = (tn_avro_value){.kind = TN_AVRO_LONG, .as.i = (int64_t)names[i].size_bytes};
        parts[2 * i + 1] = (tn_avro_value){.kind = TN_AVRO_BOOLEAN, .as.truth = names[i].deleted};
        items[i] = (tn_avro_value){.kind = TN_AVRO_RECORD, .as.many = {fields, &parts[2 * i], 2}};
    }
    *out = (tn_avro_value){.kind = TN_AVRO_MAP, .as.many = {keys, items, count}};
done:
    return rc;
}

static int find_record(tarn_cx *cx, tn_metadata *md, tn_metadata_partition *part, tn_str key,
                       tn_arena *arena, tn_metadata_record *out)
{
    static const size_t first = 0;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_partition_load(cx, md, part));
    /* Wherever the key's hash leads, by whatever rule of the partition: all groups are asked. */
    for (size_t i = 0; i < part->group_count && out->count == 0; i++)
        TN_TRY(tn_metadata_record_get(cx, md, &part->groups[i], &key, &first, 1, arena, out));
done:
    return rc;
}

int tn_metadata_value(tarn_cx *cx, tn_metadata *md, const char *partition, tn_str key,
                      tn_arena *arena, bool *found, tn_avro_value *out)
{
    tn_metadata_partition *part = tn_metadata_partition_find(md, partition);
    tn_metadata_record record = {0};
    const tn_avro_value *last, *stats;
    tn_avro_value value, text = {.kind = TN_AVRO_STRING, .as.text = key};
    bool live = true;
    int rc = TARN_OK;

    *found = false;
    if (part == NULL)
        TN_FAIL(TARN_E_NOTFOUND, "%.*s: the metadata table has no partition %s",
                TN_STR_ARG(md->data_root), partition);
    TN_TRY(find_record(cx, md, part, key, arena, &record));
    if (record.count == 0)
        goto done;
    last = &record.versions[record.count - 1];
    if (tn_avro_member(last, "filesystemMetadata") != NULL) {
        TN_TRY(names_value(cx, &record, arena, &value));
        TN_TRY(with_field(cx, last, "filesystemMetadata", &value, arena, out));
    } else if (tn_avro_member(last, "ColumnStatsMetadata") != NULL) {
        TN_TRY(tn_metadata_stats_merge(cx, &record, arena, &live, &stats));
        TN_TRY(with_field(cx, last, "ColumnStatsMetadata", stats, arena, out));
    } else {
        *out = *last;
    }
    TN_TRY(with_field(cx, out, "key", &text, arena, out));
    *found = live;
done:
    return rc;
}
