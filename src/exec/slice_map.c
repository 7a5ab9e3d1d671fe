/* Merging among logs (BufferedRecordMergerFactory of Hudi 1.2.0, deltaMerge).
 *
 *   by commit time   what comes later wins
 *   by event time    what is not smaller wins; a delete by commit time wins, and loses to any row
 *                    that comes after it; of two classes of values the later one wins
 *   field by field   the same decides which version is on top; those under it fill the fields that
 *                    its writer left out, or that hold what stands for "as before"
 *
 * I1: the key of an entry with a row lies in the row's batch where keys are stored columns, else in
 *     `texts`; so batches may go when no entry points to them.
 * I2: keep[row] of every row that an entry or a link points to is not 0; of all others it is.
 * I3: at most half of the slots are in use. */
#include "exec/slice_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/gather.h"

#define SLOTS_MIN    1024
#define SHRINK_SHARE 2 /* a batch shrinks when less than one row in so many is needed */
#define AHEAD        8 /* slots are fetched for so many rows at once */

static void batch_clear(tn_slice_batch *batch)
{
    tn_array_release(&batch->rows);
    free(batch->keep);
    *batch = (tn_slice_batch){0};
}

void tn_slice_map_clear(tn_slice_map *map)
{
    for (size_t i = 0; i < map->batch_count; i++)
        batch_clear(&map->batches[i]);
    free(map->batches);
    free(map->entries);
    free(map->slots);
    free(map->links);
    free(map->deletes);
    free(map->steps);
    tn_arena_clear(&map->texts);
    tn_slice_orders_clear(&map->orders);
    tn_slice_orders_clear(&map->delete_orders);
    *map = (tn_slice_map){.columns = map->columns, .fills = map->fills, .pick = map->pick};
}

uint64_t tn_slice_map_bytes(const tn_slice_map *map)
{
    return map->batch_bytes + map->text_bytes + map->cap * sizeof *map->entries +
           map->slot_count * sizeof *map->slots + map->link_cap * sizeof *map->links;
}

/* ---- slots */

static size_t probe(const tn_slice_map *map, tn_str key, uint32_t hash)
{
    size_t at = hash & (map->slot_count - 1);

    while (map->slots[at].entry != 0) {
        if (map->slots[at].hash == hash) {
            const tn_slice_entry *entry = &map->entries[map->slots[at].entry - 1];

            if (entry->key_len == key.len &&
                (key.len == 0 || memcmp(entry->key, key.ptr, key.len) == 0))
                break;
        }
        at = (at + 1) & (map->slot_count - 1);
    }
    return at;
}

tn_slice_entry *tn_slice_map_find(const tn_slice_map *map, tn_str key, uint32_t hash)
{
    size_t at;

    if (map->count == 0)
        return NULL;
    at = probe(map, key, hash);
    return map->slots[at].entry != 0 ? &map->entries[map->slots[at].entry - 1] : NULL;
}

/* I3 for `more` entries. */
static int reserve(tarn_cx *cx, tn_slice_map *map, size_t more)
{
    size_t wanted = SLOTS_MIN;
    tn_slice_slot *slots;

    while (wanted / 2 < map->count + more)
        wanted *= 2;
    if (map->count + more >= UINT32_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "more than 4 billion record keys in the logs of a slice");
    if (wanted <= map->slot_count)
        return TARN_OK;
    slots = tn_calloc(cx, wanted, sizeof *slots);
    if (slots == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < map->count; i++) {
        size_t at = map->entries[i].hash & (wanted - 1);

        while (slots[at].entry != 0)
            at = (at + 1) & (wanted - 1);
        slots[at] = (tn_slice_slot){map->entries[i].hash, (uint32_t)i + 1};
    }
    free(map->slots);
    map->slots = slots;
    map->slot_count = wanted;
    return TARN_OK;
}

/* The entry of a key, made when missing; *made says so. */
static int entry_of(tarn_cx *cx, tn_slice_map *map, tn_str key, uint32_t hash, bool *made,
                    tn_slice_entry **out)
{
    size_t at = probe(map, key, hash);
    int rc = TARN_OK;

    *made = map->slots[at].entry == 0;
    if (*made) {
        if (key.len > UINT32_MAX)
            TN_FAIL(TARN_E_LIMIT, "a record key of more than 4 GiB");
        TN_TRY(tn_grow(cx, &map->entries, map->count, &map->cap, sizeof *map->entries));
        map->entries[map->count] = (tn_slice_entry){.key = key.ptr,
                                                    .key_len = (uint32_t)key.len,
                                                    .hash = hash,
                                                    .batch = TN_SLICE_NO_BATCH,
                                                    .more = TN_SLICE_NO_LINK};
        map->slots[at] = (tn_slice_slot){hash, (uint32_t)++map->count};
    }
    *out = &map->entries[map->slots[at].entry - 1];
done:
    return rc;
}

/* ---- texts */

static int keep_text(tarn_cx *cx, tn_slice_map *map, tn_str *text)
{
    map->text_bytes += text->len + 16;
    return tn_arena_keep(cx, &map->texts, text);
}

/* The order at a place of `orders`, as an entry holds it. */
static int keep_order(tarn_cx *cx, tn_slice_map *map, const tn_slice_orders *orders, size_t at,
                      uint64_t *out)
{
    size_t first, len;
    uint32_t *room;

    if (!map->columns->by_order) {
        *out = 0;
        return TARN_OK;
    }
    if (tn_ordering_is_u64(map->columns->ordering)) {
        *out = orders->numbers[at];
        return TARN_OK;
    }
    first = at > 0 ? orders->ends[at - 1] : 0;
    len = orders->ends[at] - first;
    room = tn_arena_take(cx, &map->texts, sizeof *room + len);
    if (room == NULL)
        return TARN_E_NOMEM;
    *room = (uint32_t)len;
    memcpy(room + 1, orders->texts.data + first, len);
    map->text_bytes += len + 20;
    *out = (uint64_t)(uintptr_t)room;
    return TARN_OK;
}

static int compare_order(const tn_slice_map *map, uint64_t held, const tn_slice_orders *orders,
                         size_t at)
{
    const uint32_t *text;
    size_t first;

    if (tn_ordering_is_u64(map->columns->ordering))
        return held < orders->numbers[at] ? -1 : held > orders->numbers[at];
    text = (const uint32_t *)(uintptr_t)held;
    first = at > 0 ? orders->ends[at - 1] : 0;
    return tn_str_compare(
        (tn_str){(const char *)(text + 1), *text},
        (tn_str){(const char *)orders->texts.data + first, orders->ends[at] - first});
}

/* ---- who wins */

bool tn_slice_map_beats(const tn_slice_map *map, const tn_slice_entry *entry,
                        const tn_slice_orders *base, size_t at)
{
    if (!map->columns->by_order || entry->standing != TN_STANDS_BY_VALUE)
        return true;
    return compare_order(map, entry->order, base, at) >= 0;
}

/* Whether a row or a delete that comes later replaces what there is. */
static bool replaces(const tn_slice_map *map, const tn_slice_entry *entry, bool block,
                     uint8_t standing, const tn_slice_orders *orders, size_t at)
{
    bool held_always = (entry->flags & TN_SLICE_DELETE) != 0 && entry->standing == TN_STANDS_ALWAYS;

    if (!map->columns->by_order)
        return true;
    if (block && held_always)
        return false;
    if (held_always || standing != TN_STANDS_BY_VALUE || entry->standing != TN_STANDS_BY_VALUE)
        return true;
    return compare_order(map, entry->order, orders, at) <= 0;
}

/* ---- rows held */

static void release_row(tn_slice_map *map, uint32_t batch, uint32_t row)
{
    map->batches[batch].keep[row] = TN_KEEP_NOT;
}

static void drop_link(tn_slice_map *map, tn_slice_link *link)
{
    release_row(map, link->batch, link->row);
    link->batch = TN_SLICE_NO_BATCH;
}

static void drop_links(tn_slice_map *map, tn_slice_entry *entry)
{
    for (uint32_t i = entry->more; i != TN_SLICE_NO_LINK; i = map->links[i].next)
        drop_link(map, &map->links[i]);
    entry->more = TN_SLICE_NO_LINK;
}

void tn_slice_map_drop(tn_slice_map *map, tn_slice_entry *entry)
{
    drop_links(map, entry);
    if (entry->batch != TN_SLICE_NO_BATCH)
        release_row(map, entry->batch, entry->row);
    entry->batch = TN_SLICE_NO_BATCH;
}

static int add_link(tarn_cx *cx, tn_slice_map *map, tn_slice_link link, uint32_t *out)
{
    int rc = TARN_OK;

    if (map->link_count == TN_SLICE_NO_LINK)
        TN_FAIL(TARN_E_LIMIT, "more than 4 billion partial updates in the logs of a slice");
    TN_TRY(tn_grow(cx, &map->links, map->link_count, &map->link_cap, sizeof *map->links));
    map->links[map->link_count] = link;
    map->batches[link.batch].keep[link.row] = TN_KEEP_PART;
    *out = (uint32_t)map->link_count++;
done:
    return rc;
}

/* Marks the fields that a version has; true: there are new ones among them. */
static bool covers_more(const tn_slice_map *map, uint32_t batch, uint8_t *seen)
{
    int64_t n = map->columns->work.n_children;
    const uint8_t *has = map->batches[batch].has;
    bool more = false;

    for (int64_t i = 0; i < n; i++)
        if (!seen[i] && (has == NULL || has[i])) {
            seen[i] = 1;
            more = true;
        }
    return more;
}

/* Of what fills gaps, versions all of whose fields are above them go. Where values decide (the
 * rules of version 9), all of them stay. */
static int prune_links(tarn_cx *cx, tn_slice_map *map, tn_slice_entry *entry)
{
    uint32_t *at = &entry->more;
    uint8_t *seen;

    if (map->columns->rules->partial != TN_PARTIAL_NONE)
        return TARN_OK;
    seen = tn_calloc(cx, (size_t)map->columns->work.n_children, 1);
    if (seen == NULL)
        return TARN_E_NOMEM;
    (void)covers_more(map, entry->batch, seen);
    while (*at != TN_SLICE_NO_LINK) {
        tn_slice_link *link = &map->links[*at];

        if (covers_more(map, link->batch, seen)) {
            at = &link->next;
        } else {
            drop_link(map, link);
            *at = link->next;
        }
    }
    free(seen);
    return TARN_OK;
}

/* The version on top goes under the one that comes. */
static int push_under(tarn_cx *cx, tn_slice_map *map, tn_slice_entry *entry)
{
    uint32_t link;
    int rc = TARN_OK;

    TN_TRY(add_link(cx, map, (tn_slice_link){entry->batch, entry->row, entry->more}, &link));
    entry->more = link;
done:
    return rc;
}

/* A version that comes too late for the top goes under all others. */
static int append_under(tarn_cx *cx, tn_slice_map *map, tn_slice_entry *entry, uint32_t batch,
                        uint32_t row)
{
    uint32_t link, *at = &entry->more;
    int rc = TARN_OK;

    TN_TRY(add_link(cx, map, (tn_slice_link){batch, row, TN_SLICE_NO_LINK}, &link));
    at = &entry->more;
    while (*at != TN_SLICE_NO_LINK)
        at = &map->links[*at].next;
    *at = link;
    TN_TRY(prune_links(cx, map, entry));
done:
    return rc;
}

/* ---- adding rows */

/* The one of the sets that is `has`. */
static int set_of(tarn_cx *cx, tn_slice_map *map, const uint8_t *has, const uint8_t **out)
{
    size_t n = (size_t)map->columns->work.n_children;
    uint8_t *set;
    int rc = TARN_OK;

    *out = NULL;
    for (size_t i = 0; has != NULL && i < map->set_count && *out == NULL; i++)
        if (memcmp(map->sets[i], has, n) == 0)
            *out = map->sets[i];
    if (has == NULL || *out != NULL)
        return TARN_OK;
    TN_TRY(tn_arena_grow(cx, &map->texts, &map->sets, map->set_count, &map->set_cap,
                         sizeof *map->sets));
    set = tn_arena_take(cx, &map->texts, n + 1);
    if (set == NULL)
        TN_TRY(TARN_E_NOMEM);
    memcpy(set, has, n);
    *out = map->sets[map->set_count++] = set;
done:
    return rc;
}

static int keys_of_positions(tarn_cx *cx, tn_slice_map *map, const int64_t *positions, size_t n)
{
    if (map->step_count < n + 1) {
        int32_t *steps = tn_realloc(cx, map->steps, n + 1, sizeof *steps);

        if (steps == NULL)
            return TARN_E_NOMEM;
        for (size_t i = 0; i <= n; i++)
            steps[i] = (int32_t)(i * sizeof *positions);
        map->steps = steps;
        map->step_count = n + 1;
    }
    map->keys = (tn_slice_keys){(const char *)positions, map->steps, false};
    return TARN_OK;
}

int tn_slice_map_batch(tarn_cx *cx, tn_slice_map *map, struct ArrowArray *rows, const uint8_t *has,
                       const int64_t *positions, const char *where)
{
    size_t n = (size_t)rows->length;
    tn_slice_batch *batch;
    int rc = TARN_OK;

    assert(rows->offset == 0 && rows->length < UINT32_MAX);
    if (map->batch_count == TN_SLICE_NO_BATCH)
        TN_FAIL(TARN_E_LIMIT, "more than 4 billion batches in the logs of a slice");
    TN_TRY(set_of(cx, map, has, &has));
    if (positions != NULL)
        TN_TRY(keys_of_positions(cx, map, positions, n));
    else
        TN_TRY(tn_slice_columns_keys(cx, map->columns, rows, where, &map->keys));
    TN_TRY(tn_grow(cx, &map->batches, map->batch_count, &map->batch_cap, sizeof *map->batches));
    batch = &map->batches[map->batch_count];
    *batch = (tn_slice_batch){.has = has, .keep = tn_calloc(cx, n, 1)};
    if (batch->keep == NULL)
        TN_TRY(TARN_E_NOMEM);
    map->batch_count++;
    tn_array_move(rows, &batch->rows);
    batch->bytes = tn_gather_bytes(&map->columns->work, &batch->rows) + n;
    map->batch_bytes += batch->bytes;
    if (map->deletes_cap < n) {
        uint8_t *room = tn_realloc(cx, map->deletes, n, 1);

        if (room == NULL)
            TN_TRY(TARN_E_NOMEM);
        map->deletes = room;
        map->deletes_cap = n;
    }
    TN_TRY(
        tn_slice_columns_deletes(cx, map->columns, &batch->rows, map->deletes, &map->any_deletes));
    if (map->columns->by_order)
        TN_TRY(tn_slice_columns_orders(cx, map->columns, &batch->rows, &map->orders));
    map->orders_absent = false;
    for (size_t i = 0; has != NULL && i < map->columns->order_count; i++)
        map->orders_absent |= !has[map->columns->order_paths[i].index[0]];
    TN_TRY(reserve(cx, map, n));
done:
    return rc;
}

static void set_row(tn_slice_map *map, tn_slice_entry *entry, uint32_t batch, uint32_t row,
                    uint8_t delete)
{
    map->batches[batch].keep[row] = delete ? TN_KEEP_NOT : TN_KEEP_ROW;
    entry->batch = delete ? TN_SLICE_NO_BATCH : batch;
    entry->row = row;
    entry->flags = delete ? TN_SLICE_DELETE : 0;
}

/* I1. */
static int set_key(tarn_cx *cx, tn_slice_map *map, tn_slice_entry *entry, tn_str key, bool made,
                   bool lasting)
{
    int rc = TARN_OK;

    if (lasting) {
        entry->key = key.ptr;
    } else if (made || map->keys.lasting) {
        TN_TRY(keep_text(cx, map, &key));
        entry->key = key.ptr;
    }
done:
    return rc;
}

/* A row above what the entry holds; rows of which neither is a delete are joined. */
static int put_row(tarn_cx *cx, tn_slice_map *map, tn_slice_entry *entry, uint32_t batch,
                   uint32_t row, bool delete)
{
    bool joins = map->fills && !delete &&entry->batch != TN_SLICE_NO_BATCH;
    int rc = TARN_OK;

    if (joins)
        TN_TRY(push_under(cx, map, entry));
    else
        tn_slice_map_drop(map, entry);
    set_row(map, entry, batch, row, delete);
    if (joins)
        TN_TRY(prune_links(cx, map, entry));
done:
    return rc;
}

static int add_row(tarn_cx *cx, tn_slice_map *map, uint32_t batch, uint32_t row, tn_str key,
                   uint32_t hash)
{
    uint8_t delete = map->any_deletes ? map->deletes[row] : 0;
    uint8_t standing = delete == 2          ? TN_STANDS_ALWAYS
                       : map->orders_absent ? TN_STANDS_FOREIGN
                                            : TN_STANDS_BY_VALUE;
    tn_slice_entry *entry;
    bool made, keeps_order;
    int rc = TARN_OK;

    TN_TRY(entry_of(cx, map, key, hash, &made, &entry));
    if (!made && !replaces(map, entry, false, standing, &map->orders, row)) {
        if (map->fills && !delete &&entry->batch != TN_SLICE_NO_BATCH)
            TN_TRY(append_under(cx, map, entry, batch, row));
        goto done;
    }
    /* A row whose writer left the ordering column out has that of the row it changes. */
    keeps_order = !made && map->orders_absent && !delete &&entry->batch != TN_SLICE_NO_BATCH;
    TN_TRY(put_row(cx, map, entry, batch, row, delete != 0));
    TN_TRY(set_key(cx, map, entry, key, made, map->keys.lasting && !delete));
    if (!keeps_order) {
        entry->standing = standing;
        TN_TRY(keep_order(cx, map, &map->orders, row, &entry->order));
    }
done:
    return rc;
}

static tn_str key_at(const tn_slice_keys *keys, int64_t i)
{
    return (tn_str){keys->data + keys->offsets[i],
                    (size_t)(keys->offsets[i + 1] - keys->offsets[i])};
}

int tn_slice_map_rows(tarn_cx *cx, tn_slice_map *map, int64_t first, int64_t count)
{
    uint32_t batch = (uint32_t)map->batch_count - 1, hashes[AHEAD];
    int rc = TARN_OK;

    for (int64_t at = first; at < first + count; at += AHEAD) {
        int64_t n = first + count - at < AHEAD ? first + count - at : AHEAD;

        for (int64_t i = 0; i < n; i++) {
            hashes[i] = tn_slice_hash(key_at(&map->keys, at + i));
            __builtin_prefetch(&map->slots[hashes[i] & (map->slot_count - 1)]);
        }
        for (int64_t i = 0; i < n; i++)
            if (tn_slice_picks(&map->pick, key_at(&map->keys, at + i), hashes[i]))
                TN_TRY(add_row(cx, map, batch, (uint32_t)(at + i), key_at(&map->keys, at + i),
                               hashes[i]));
    }
    TN_TRY(tn_cx_check(cx));
done:
    return rc;
}

int tn_slice_map_deletes(tarn_cx *cx, tn_slice_map *map, const tn_log_deletes *deletes,
                         const int64_t *positions)
{
    const tn_slice_orders *orders = &map->delete_orders;
    int rc = TARN_OK;

    TN_TRY(reserve(cx, map, deletes->count));
    if (map->columns->by_order)
        TN_TRY(tn_slice_columns_delete_orders(cx, map->columns, deletes, &map->delete_orders));
    for (size_t i = 0; i < deletes->count; i++) {
        tn_str key = positions != NULL ? (tn_str){(const char *)&positions[i], sizeof positions[i]}
                                       : deletes->keys[i];
        uint32_t hash = tn_slice_hash(key);
        uint8_t standing = map->columns->by_order && !map->columns->rules->deletes_always
                               ? orders->standings[i]
                               : TN_STANDS_ALWAYS;
        tn_slice_entry *entry;
        bool made;

        if (!tn_slice_picks(&map->pick, key, hash))
            continue;
        TN_TRY(entry_of(cx, map, key, hash, &made, &entry));
        if (!made && !replaces(map, entry, true, standing, orders, i))
            continue;
        TN_TRY(keep_text(cx, map, &key));
        entry->key = key.ptr;
        tn_slice_map_drop(map, entry);
        entry->flags = TN_SLICE_DELETE;
        entry->standing = standing;
        TN_TRY(keep_order(cx, map, orders, i, &entry->order));
    }
    TN_TRY(tn_cx_check(cx));
done:
    return rc;
}

/* ---- shrinking */

/* The rows that are needed, as a new batch; places[row] is where each has gone. */
static int shrink_batch(tarn_cx *cx, tn_slice_map *map, tn_slice_batch *batch, int64_t live,
                        uint32_t *places)
{
    struct ArrowArray rows = {0};
    uint8_t *keep = tn_alloc(cx, (size_t)live);
    uint32_t n = 0;
    int rc = TARN_OK;

    if (keep == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_rows_filter(cx, &map->columns->work, &batch->rows, batch->keep, live, &rows));
    for (int64_t i = 0; i < batch->rows.length; i++) {
        places[i] = n;
        if (batch->keep[i] != TN_KEEP_NOT)
            keep[n++] = batch->keep[i];
    }
    map->batch_bytes -= batch->bytes;
    batch_clear(&(tn_slice_batch){.rows = batch->rows, .keep = batch->keep});
    batch->rows = rows;
    batch->keep = keep;
    batch->bytes = tn_gather_bytes(&map->columns->work, &batch->rows) + (uint64_t)live;
    map->batch_bytes += batch->bytes;
    return TARN_OK;
done:
    tn_array_release(&rows);
    free(keep);
    return rc;
}

/* Entries and links follow their rows. */
static void follow(tn_slice_map *map, uint32_t *const *places, size_t first)
{
    for (size_t i = 0; i < map->count; i++) {
        tn_slice_entry *entry = &map->entries[i];
        const struct ArrowArray *keys;

        if (entry->batch == TN_SLICE_NO_BATCH || entry->batch < first ||
            places[entry->batch - first] == NULL)
            continue;
        entry->row = places[entry->batch - first][entry->row];
        if (!map->keys.lasting)
            continue;
        keys = map->batches[entry->batch].rows.children[map->columns->key];
        entry->key = (const char *)keys->buffers[2] +
                     ((const int32_t *)keys->buffers[1])[keys->offset + entry->row];
    }
    for (size_t i = 0; i < map->link_count; i++) {
        tn_slice_link *link = &map->links[i];

        if (link->batch != TN_SLICE_NO_BATCH && link->batch >= first &&
            places[link->batch - first] != NULL)
            link->row = places[link->batch - first][link->row];
    }
}

int tn_slice_map_shrink(tarn_cx *cx, tn_slice_map *map, size_t first)
{
    size_t n = map->batch_count - first;
    uint32_t **places = tn_calloc(cx, n, sizeof *places);
    bool any = false;
    int rc = TARN_OK;

    if (places == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        tn_slice_batch *batch = &map->batches[first + i];
        int64_t live = 0;

        for (int64_t k = 0; k < batch->rows.length; k++)
            live += batch->keep[k] != TN_KEEP_NOT;
        if (live > batch->rows.length / SHRINK_SHARE || batch->rows.length == 0)
            continue;
        places[i] = tn_alloc(cx, (size_t)batch->rows.length * sizeof **places);
        if (places[i] == NULL)
            TN_TRY(TARN_E_NOMEM);
        TN_TRY(shrink_batch(cx, map, batch, live, places[i]));
        any = true;
    }
    if (any)
        follow(map, places, first);
done:
    for (size_t i = 0; i < n; i++)
        free(places[i]);
    free(places);
    return rc;
}
