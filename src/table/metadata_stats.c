/* Statistics of columns: partitions column_stats and partition_stats, and indexes on expressions.
 *
 * I1: a newer tombstone, and a newer record whose bounds are tight, replace what was there; else
 *     bounds widen and counts add up. Bounds of different kinds, or a bound that is missing where
 *     there are values, make the bound unknown: statistics may say too little, never too much. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "table/metadata_parts.h"

#define HASH_LEN 12 /* base64 of 8 bytes */

/* The wrapper's own record, by its short name; the value is its one field. */
static const tn_avro_value *unwrap(const tn_avro_value *wrapper)
{
    if (wrapper == NULL || wrapper->kind != TN_AVRO_RECORD || wrapper->as.many.count != 1 ||
        wrapper->as.many.items[0].kind == TN_AVRO_NULL)
        return NULL;
    return &wrapper->as.many.items[0];
}

static bool flag(const tn_avro_value *record, const char *name)
{
    const tn_avro_value *value = tn_avro_member(record, name);

    return value != NULL && value->kind == TN_AVRO_BOOLEAN && value->as.truth;
}

static const tn_avro_value *stats_of(const tn_avro_value *record)
{
    return tn_avro_member(record, "ColumnStatsMetadata");
}

/* ---- merging (I1) ---- */

/* Whether both are of one kind that has an order; *order is theirs. */
static bool compare(const tn_avro_value *a, const tn_avro_value *b, int *order)
{
    if ((a->kind == TN_AVRO_INT || a->kind == TN_AVRO_LONG) &&
        (b->kind == TN_AVRO_INT || b->kind == TN_AVRO_LONG)) {
        *order = (a->as.i > b->as.i) - (a->as.i < b->as.i);
        return true;
    }
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TN_AVRO_BOOLEAN:
        *order = (int)a->as.truth - (int)b->as.truth;
        return true;
    case TN_AVRO_FLOAT:
    case TN_AVRO_DOUBLE:
        *order = (a->as.d > b->as.d) - (a->as.d < b->as.d);
        return !isnan(a->as.d) && !isnan(b->as.d);
    case TN_AVRO_STRING:
        *order = tn_str_compare(a->as.text, b->as.text);
        return true;
    default: /* bytes are text or a decimal: which, is not known here */
        return false;
    }
}

/* The number of a record's field; it must be there. */
static size_t field_at(const tn_avro_value *record, const char *name)
{
    for (size_t i = 0; i < record->as.many.count; i++)
        if (tn_str_is(record->as.many.names[i], name))
            return i;
    return record->as.many.count;
}

static int64_t nulls_of(const tn_avro_value *stats)
{
    return tn_avro_i64(tn_avro_member(stats, "nullCount"), -1);
}

static int64_t values_of(const tn_avro_value *stats)
{
    return tn_avro_i64(tn_avro_member(stats, "valueCount"), -1);
}

/* No value but nulls, for certain. */
static bool only_nulls(const tn_avro_value *stats)
{
    return values_of(stats) >= 0 && nulls_of(stats) == values_of(stats);
}

/* The wider of two bounds into `into`, or null where it is not known. */
static void widen(tn_avro_value *into, const tn_avro_value *older, const tn_avro_value *newer,
                  const char *name, int sign)
{
    const tn_avro_value *a = tn_avro_member(older, name), *b = tn_avro_member(newer, name);
    size_t at = field_at(into, name);
    int order = 0;

    if (at == into->as.many.count)
        return;
    if (only_nulls(newer) && b == NULL)
        b = a;
    if (only_nulls(older) && a == NULL)
        a = b;
    if (a == NULL || b == NULL || unwrap(a) == NULL || unwrap(b) == NULL ||
        (a != b && (a->branch != b->branch || !compare(unwrap(a), unwrap(b), &order))))
        into->as.many.items[at] = (tn_avro_value){.kind = TN_AVRO_NULL};
    else
        into->as.many.items[at] = order * sign >= 0 ? *a : *b;
}

static void add_counts(tn_avro_value *into, const tn_avro_value *older, const tn_avro_value *newer,
                       const char *name)
{
    int64_t a = tn_avro_i64(tn_avro_member(older, name), -1);
    int64_t b = tn_avro_i64(tn_avro_member(newer, name), -1), sum;
    size_t at = field_at(into, name);

    if (at == into->as.many.count)
        return;
    into->as.many.items[at] = a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum)
                                  ? (tn_avro_value){.kind = TN_AVRO_NULL}
                                  : (tn_avro_value){.kind = TN_AVRO_LONG, .as.i = sum};
}

static int merge_two(tarn_cx *cx, const tn_avro_value *older, const tn_avro_value *newer,
                     tn_arena *arena, const tn_avro_value **out)
{
    size_t count = newer->as.many.count;
    tn_avro_value *made = tn_arena_take(cx, arena, sizeof *made);
    tn_avro_value *items = tn_arena_array(cx, arena, count, sizeof *items);

    if (made == NULL || items == NULL)
        return TARN_E_NOMEM;
    memcpy(items, newer->as.many.items, count * sizeof *items);
    *made = *newer;
    made->as.many.items = items;
    widen(made, older, newer, "minValue", -1);
    widen(made, older, newer, "maxValue", 1);
    add_counts(made, older, newer, "valueCount");
    add_counts(made, older, newer, "nullCount");
    add_counts(made, older, newer, "totalSize");
    add_counts(made, older, newer, "totalUncompressedSize");
    *out = made;
    return TARN_OK;
}

int tn_metadata_stats_merge(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                            bool *live, const tn_avro_value **out)
{
    const tn_avro_value *stats = NULL;
    int rc = TARN_OK;

    for (size_t i = 0; i < record->count; i++) {
        const tn_avro_value *next = stats_of(&record->versions[i]);

        if (next == NULL || next->kind != TN_AVRO_RECORD)
            continue;
        if (stats == NULL || flag(next, "isDeleted") || flag(stats, "isDeleted") ||
            flag(next, "isTightBound"))
            stats = next;
        else
            TN_TRY(merge_two(cx, stats, next, arena, &stats));
    }
    *live = stats != NULL && !flag(stats, "isDeleted");
    *out = stats;
done:
    return rc;
}

/* ---- one column ---- */

int tn_metadata_partition_hash(tarn_cx *cx, tn_str partition, tn_arena *arena, tn_str *out)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    tn_metadata_key_hash(&text, tn_metadata_key_partition(partition));
    TN_TRY(tn_buf_check(cx, &text));
    *out = tn_buf_view(&text);
    TN_TRY(tn_arena_keep(cx, arena, out));
done:
    tn_buf_clear(&text);
    return rc;
}

static void fill(const tn_metadata_record *record, const tn_avro_value *stats,
                 tn_metadata_stats *out)
{
    const tn_avro_value *type = tn_avro_member(stats, "valueType");
    const tn_avro_value *min = tn_avro_member(stats, "minValue");
    const tn_avro_value *max = tn_avro_member(stats, "maxValue");

    out->file = tn_avro_text(tn_avro_member(stats, "fileName"));
    if (record->key.len >= 2 * HASH_LEN)
        out->partition_hash = (tn_str){record->key.ptr + HASH_LEN, HASH_LEN};
    out->min = unwrap(min);
    out->max = unwrap(max);
    out->values = values_of(stats);
    out->nulls = nulls_of(stats);
    out->type = (int32_t)tn_avro_i64(tn_avro_member(type, "typeOrdinal"), 0);
    out->type_info = tn_avro_text(tn_avro_member(type, "additionalInfo"));
    out->tight = flag(stats, "isTightBound");
    if (min != NULL && max != NULL && min->branch == max->branch)
        out->wrapper = (enum tn_metadata_wrapper)min->branch;
    if (out->wrapper == TN_METADATA_NOTHING || out->wrapper >= TN_METADATA_ARRAY)
        out->min = out->max = NULL;
}

/* Whether an index's definition leaves the column out. Without definitions (version 6) entries
 * alone tell. */
static int covers(tarn_cx *cx, tn_metadata *md, tn_str column, bool *out)
{
    const tn_metadata_index *index = NULL;
    bool known;
    int rc = TARN_OK;

    *out = true;
    TN_TRY(tn_metadata_indexes(cx, md, &known));
    for (size_t i = 0; known && i < md->index_count; i++)
        if (tn_str_is(md->indexes[i].name, "column_stats"))
            index = &md->indexes[i];
    if (index == NULL || index->field_count == 0)
        goto done;
    *out = false;
    for (size_t i = 0; i < index->field_count && !*out; i++)
        *out = tn_str_equal(index->fields[i], column);
done:
    return rc;
}

typedef struct column_list {
    tn_metadata_stats *items;
    size_t count, cap;
} column_list;

static int take_group(tarn_cx *cx, tn_metadata *md, tn_metadata_group *group, tn_str prefix,
                      tn_arena *arena, column_list *list)
{
    tn_metadata_record *records;
    const tn_avro_value *stats;
    size_t count;
    bool live;
    int rc = TARN_OK;

    TN_TRY(tn_metadata_record_scan(cx, md, group, prefix, arena, &records, &count));
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_metadata_stats_merge(cx, &records[i], arena, &live, &stats));
        if (!live)
            continue;
        TN_TRY(
            tn_arena_grow(cx, arena, &list->items, list->count, &list->cap, sizeof *list->items));
        fill(&records[i], stats, &list->items[list->count++]);
    }
done:
    return rc;
}

int tn_metadata_column(tarn_cx *cx, tn_metadata *md, bool partitions, tn_str column,
                       tn_arena *arena, bool *usable, tn_metadata_stats **stats, size_t *count)
{
    tn_metadata_partition *part =
        tn_metadata_partition_find(md, partitions ? "partition_stats" : "column_stats");
    column_list list = {0};
    tn_buf prefix = {0};
    bool covered;
    int rc = TARN_OK;

    *usable = false;
    if (part == NULL)
        return TARN_OK;
    TN_TRY(covers(cx, md, column, &covered));
    if (!covered)
        goto done;
    TN_TRY(tn_metadata_partition_load(cx, md, part));
    tn_metadata_key_hash(&prefix, column);
    TN_TRY(tn_buf_check(cx, &prefix));
    for (size_t i = 0; i < part->group_count; i++)
        TN_TRY(take_group(cx, md, &part->groups[i], tn_buf_view(&prefix), arena, &list));
    *stats = list.items;
    *count = list.count;
    *usable = true;
done:
    tn_buf_clear(&prefix);
    return rc;
}
