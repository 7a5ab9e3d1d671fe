/* Numbers of buckets for rows.
 *
 * The values of a row's partition columns, one after the other, are its key; a map leads from keys
 * to partitions. Values that name the same directory (null and an empty text) are one partition,
 * found through a second map, by path. A batch is looked up in parallel while the maps stand still;
 * what is not found is added afterwards, row by row.
 *
 * I1: partitions and buckets are numbered in the order in which rows bring them, whatever the
 * number of threads. */
#include "exec/route_keys.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "batch/hive_hash.h"
#include "batch/unify.h"

#define CHUNK_ROWS 8192
#define NOT_FOUND  UINT32_MAX

static int find_columns(tarn_cx *cx, tn_route_keys *keys, const char *option,
                        const struct ArrowSchema *schema, const tn_str *names, size_t count,
                        tn_route_column **out)
{
    tn_route_column *columns = tn_arena_array(cx, &keys->arena, count, sizeof *columns);
    int rc = TARN_OK;

    if (columns == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        int64_t child = tn_unify_child(schema, names[i]);

        if (child < 0)
            TN_FAIL(TARN_E_INVALID,
                    "%s: the rows have no column \"%.*s\", or several whose names differ in case; "
                    "name one of theirs",
                    option, TN_STR_ARG(names[i]));
        columns[i].level = names[i];
        columns[i].child = (uint32_t)child;
    }
    *out = columns;
done:
    return rc;
}

int tn_route_keys_init(tarn_cx *cx, const tn_write_plan *plan, const struct ArrowSchema *schema,
                       tn_route_keys *out)
{
    tn_route_keys keys = {.plan = plan};
    int rc = TARN_OK;

    TN_TRY(find_columns(cx, &keys, "--partition-by", schema, plan->partition_columns,
                        plan->partition_column_count, &keys.partition_by));
    for (size_t i = 0; i < plan->partition_column_count; i++)
        TN_TRY(tn_key_type_of(cx, schema->children[keys.partition_by[i].child],
                              &keys.partition_by[i].text));
    TN_TRY(find_columns(cx, &keys, "--distribute-by", schema, plan->distribute_columns,
                        plan->distribute_column_count, &keys.distribute_by));
    for (size_t i = 0; i < plan->distribute_column_count; i++) {
        const struct ArrowSchema *column = schema->children[keys.distribute_by[i].child];

        TN_TRY(tn_hive_hash_check(cx, column));
        TN_TRY(tn_text_type_of(cx, column, &keys.distribute_by[i].text));
    }
    *out = keys;
    keys = (tn_route_keys){0};
done:
    tn_route_keys_clear(&keys);
    return rc;
}

void tn_route_keys_clear(tn_route_keys *keys)
{
    tn_map_clear(&keys->by_value);
    tn_map_clear(&keys->by_path);
    tn_buf_clear(&keys->partitions);
    tn_buf_clear(&keys->places);
    tn_arena_clear(&keys->arena);
}

bool tn_route_keys_has(const tn_route_keys *keys, int64_t i)
{
    for (size_t k = 0; k < keys->plan->partition_column_count; k++)
        if ((int64_t)keys->partition_by[k].child == i)
            return true;
    return false;
}

/* --- keys --- */

/* Appends the value, so that no two lists of values look alike. */
static void add_value(tn_buf *key, const tn_route_column *column, const struct ArrowArray *batch,
                      int64_t row)
{
    const struct ArrowArray *array = batch->children[column->child];
    const tn_type *type = &column->text.type;
    int64_t at = array->offset + row;
    bool null = type->kind == TN_TYPE_NULL || tn_rows_is_null(array, at);

    tn_buf_u8(key, null);
    if (null)
        return;
    if (tn_text_is_utf8(type->kind)) {
        tn_str text = tn_rows_bytes(type, array, at);

        tn_buf_u32le(key, (uint32_t)text.len);
        tn_buf_str(key, text);
    } else if (type->kind == TN_TYPE_BOOL) {
        tn_buf_u8(key, tn_bit(array->buffers[1], at));
    } else {
        tn_buf_add(key, (const uint8_t *)array->buffers[1] + (size_t)at * type->width, type->width);
    }
}

static void make_key(tn_buf *key, const tn_route_keys *keys, const struct ArrowArray *batch,
                     int64_t row)
{
    tn_buf_reset(key);
    for (size_t i = 0; i < keys->plan->partition_column_count; i++)
        add_value(key, &keys->partition_by[i], batch, batch->offset + row);
}

/* --- looking up --- */

typedef struct lookup {
    tn_route_keys *keys;
    const struct ArrowArray *batch;
    uint32_t *ids;   /* partitions */
    uint32_t *slots; /* NULL: none */
} lookup;

static void look_slots(const lookup *l, int64_t first, int64_t count)
{
    const tn_route_keys *keys = l->keys;
    uint32_t *hashes = l->slots + first;

    memset(hashes, 0, (size_t)count * sizeof *hashes);
    for (size_t i = 0; i < keys->plan->distribute_column_count; i++)
        tn_hive_hash_add(&keys->distribute_by[i].text.type,
                         l->batch->children[keys->distribute_by[i].child], l->batch->offset + first,
                         count, hashes);
    for (int64_t i = 0; i < count; i++)
        hashes[i] = tn_hive_hash_reducer(hashes[i], keys->plan->files_per_partition);
}

static int look_chunk(tarn_cx *cx, size_t chunk, void *arg)
{
    const lookup *l = arg;
    int64_t first = (int64_t)chunk * CHUNK_ROWS;
    int64_t end = first + CHUNK_ROWS < l->batch->length ? first + CHUNK_ROWS : l->batch->length;
    tn_buf key[2] = {{0}};
    int turn = 0;
    int rc = TARN_OK;

    for (int64_t row = first; row < end; row++) {
        const size_t *found;

        make_key(&key[turn], l->keys, l->batch, row);
        TN_TRY(tn_buf_check(cx, &key[turn]));
        /* Neighbours are often alike. */
        if (row > first && tn_str_equal(tn_buf_view(&key[turn]), tn_buf_view(&key[1 - turn]))) {
            l->ids[row] = l->ids[row - 1];
            continue;
        }
        found = tn_map_find(&l->keys->by_value, tn_buf_view(&key[turn]));
        l->ids[row] = found != NULL ? (uint32_t)*found : NOT_FOUND;
        turn = 1 - turn;
    }
    if (l->slots != NULL)
        look_slots(l, first, end - first);
done:
    tn_buf_clear(&key[0]);
    tn_buf_clear(&key[1]);
    return rc;
}

/* --- adding --- */

static int make_path(tarn_cx *cx, const tn_route_keys *keys, const struct ArrowArray *batch,
                     int64_t row, tn_buf *path)
{
    tn_buf text = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < keys->plan->partition_column_count; i++) {
        const tn_route_column *column = &keys->partition_by[i];
        const struct ArrowArray *array = batch->children[column->child];

        tn_buf_reset(&text);
        tn_key_text(&text, &column->text, array, array->offset + batch->offset + row);
        TN_TRY(tn_buf_check(cx, &text));
        TN_TRY(tn_key_level(cx, path, column->level, tn_buf_view(&text)));
    }
    if (path->len > TN_PATH_BYTES_MAX / 2)
        TN_FAIL(TARN_E_LIMIT, "the partition \"%.*s\" has a path of %zu bytes, and %d are possible",
                80, (const char *)path->data, path->len, TN_PATH_BYTES_MAX / 2);
done:
    tn_buf_clear(&text);
    return rc;
}

static int new_partition(tarn_cx *cx, tn_route_keys *keys, tn_str path, size_t *out)
{
    const tn_write_plan *plan = keys->plan;
    size_t count = keys->partitions.len / sizeof(tn_route_partition);
    size_t slots = plan->files_per_partition != 0 ? plan->files_per_partition : 1;
    tn_route_partition made = {.path = path};
    int rc = TARN_OK;

    if (count >= plan->partitions_max && plan->partition_column_count != 0)
        TN_FAIL(TARN_E_LIMIT,
                "the rows have more than %" PRIu64 " partitions (\"%.*s\" would be one more); "
                "partition by fewer or coarser columns, or allow more, as with --max-partitions "
                "%" PRIu64,
                plan->partitions_max, TN_STR_ARG(path), plan->partitions_max * 10);
    made.buckets = tn_arena_array(cx, &keys->arena, slots, sizeof made.buckets[0]);
    if (made.buckets == NULL)
        return TARN_E_NOMEM;
    tn_buf_add(&keys->partitions, &made, sizeof made);
    TN_TRY(tn_buf_check(cx, &keys->partitions));
    *out = count;
done:
    return rc;
}

/* The partition of a row whose key is not known yet. */
static int add_key(tarn_cx *cx, tn_route_keys *keys, const struct ArrowArray *batch, int64_t row,
                   tn_str key, uint32_t *out)
{
    tn_buf path = {0};
    tn_str kept;
    size_t *place, partition = 0;
    bool added;
    int rc = TARN_OK;

    place = tn_map_find(&keys->by_value, key);
    if (place != NULL) {
        *out = (uint32_t)*place;
        return TARN_OK;
    }
    TN_TRY(make_path(cx, keys, batch, row, &path));
    place = tn_map_find(&keys->by_path, tn_buf_view(&path));
    if (place != NULL) {
        partition = *place;
    } else {
        kept = path.len != 0 ? tn_buf_view(&path) : TN_STR("");
        TN_TRY(tn_arena_keep(cx, &keys->arena, &kept));
        TN_TRY(new_partition(cx, keys, kept, &partition));
        place = tn_map_add(cx, &keys->by_path, kept, &added);
        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
        *place = partition;
    }
    TN_TRY(tn_arena_keep(cx, &keys->arena, &key));
    place = tn_map_add(cx, &keys->by_value, key, &added);
    if (place == NULL)
        TN_TRY(TARN_E_NOMEM);
    *place = partition;
    *out = (uint32_t)partition;
done:
    tn_buf_clear(&path);
    return rc;
}

static int add_missing(tarn_cx *cx, const lookup *l)
{
    tn_buf key = {0};
    int rc = TARN_OK;

    for (int64_t row = 0; row < l->batch->length; row++) {
        if (l->ids[row] != NOT_FOUND)
            continue;
        make_key(&key, l->keys, l->batch, row);
        TN_TRY(tn_buf_check(cx, &key));
        TN_TRY(add_key(cx, l->keys, l->batch, row, tn_buf_view(&key), &l->ids[row]));
    }
done:
    tn_buf_clear(&key);
    return rc;
}

static int new_bucket(tarn_cx *cx, tn_route_keys *keys, uint32_t partition, uint32_t slot)
{
    tn_route_place place = {.partition = partition, .slot = slot};
    size_t count = tn_route_keys_count(keys);
    int rc = TARN_OK;

    /* Each makes a file at least. */
    if (count >= keys->plan->files_max)
        TN_FAIL(TARN_E_LIMIT,
                "more than %" PRIu64 " files would be created; partition by fewer or coarser "
                "columns, or allow more, as with --max-created-files %" PRIu64,
                keys->plan->files_max, keys->plan->files_max * 10);
    tn_buf_add(&keys->places, &place, sizeof place);
    TN_TRY(tn_buf_check(cx, &keys->places));
done:
    return rc;
}

/* From partitions (and slots) to buckets. */
static int to_buckets(tarn_cx *cx, const lookup *l)
{
    tn_route_keys *keys = l->keys;
    const tn_route_partition *partitions = (const void *)keys->partitions.data;
    tn_route_place *places = (tn_route_place *)(void *)keys->places.data;
    int rc = TARN_OK;

    for (int64_t row = 0; row < l->batch->length; row++) {
        uint32_t slot = l->slots != NULL ? l->slots[row] : 0;
        uint32_t *bucket = &partitions[l->ids[row]].buckets[slot];

        if (*bucket == 0) {
            TN_TRY(new_bucket(cx, keys, l->ids[row], slot));
            places = (tn_route_place *)(void *)keys->places.data;
            *bucket = (uint32_t)tn_route_keys_count(keys);
        }
        l->ids[row] = *bucket - 1;
        places[l->ids[row]].rows++;
    }
done:
    return rc;
}

int tn_route_keys_number(tarn_cx *cx, tn_route_keys *keys, const struct ArrowArray *batch,
                         uint32_t *ids)
{
    size_t chunks = ((size_t)batch->length + CHUNK_ROWS - 1) / CHUNK_ROWS;
    lookup l = {keys, batch, ids, NULL};
    int rc = TARN_OK;

    if (keys->plan->files_per_partition != 0) {
        l.slots = tn_alloc(cx, (size_t)batch->length * sizeof *l.slots);
        if (l.slots == NULL)
            return TARN_E_NOMEM;
    }
    TN_TRY(tn_parallel(cx, chunks, look_chunk, &l));
    TN_TRY(add_missing(cx, &l));
    TN_TRY(to_buckets(cx, &l));
done:
    free(l.slots);
    return rc;
}
