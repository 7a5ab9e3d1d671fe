/* Combined splits, as Hadoop's CombineFileInputFormat makes them of the chunks of many files:
 *
 *     chunks --> node stage --> rack stage --> overflow
 *
 * A stage takes chunks that are free, in its order, until they reach the maximum: that is a split.
 * What it cannot fill goes on to the next.
 * I1: a chunk is in one split; `free` says that it is in none yet, nor in the current one.
 * I2: a list of chunks is walked once: a chunk that was passed is never free again in that stage.
 * I3: names are walked in the order of Java's hash maps (base/java_map.h), of which there is one
 * for the nodes and one for the racks of a pool, and one for the hosts of each rack of all pools.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/java_map.h"
#include "plan/split_parts.h"

#define DEFAULT_RACK TN_STR("/default-rack")

/* A part of a file that is never divided. */
typedef struct piece {
    const tn_split_file *file;
    const tn_split_block *block; /* whose replicas it has; NULL: none */
    int64_t offset, len;
    bool free;
} piece;

/* A chunk on a list; 0 ends a list, so the first entry is not used. */
typedef struct entry {
    uint32_t chunk, next;
} entry;

typedef struct node_state {
    uint32_t head, tail;
    bool made; /* a split was made on it */
} node_state;

typedef struct rack_state {
    uint32_t head, tail;
    tn_java_map hosts;     /* of all pools so far */
    const char **location; /* its hosts as locations; NULL: not asked for in this pool */
    bool met;              /* in the overflow under work */
} rack_state;

typedef struct combine {
    tn_splitting *s;
    tn_arena arena; /* of what follows */
    int64_t max, min_node, min_rack;
    tn_java_names host_names, rack_names;
    node_state *nodes; /* by host */
    rack_state *racks; /* by rack */
    size_t node_cap, rack_cap;
    tn_map pairs; /* of rack and host that are known */
    /* of one pool */
    tn_java_map node_map, rack_map;
    piece *chunks;
    entry *entries;
    uint32_t *current, *overflow;
    size_t chunk_count, chunk_cap, entry_count, entry_cap;
    size_t current_count, current_cap, overflow_count, overflow_cap;
    size_t free_count;
    int64_t current_bytes;
    uint32_t *met; /* by host: number of the last union that has it */
    size_t met_cap;
    uint32_t met_number;
} combine;

static void combine_clear(combine *c)
{
    for (size_t i = 0; i < c->rack_names.count && i < c->rack_cap; i++)
        tn_java_map_clear(&c->racks[i].hosts);
    tn_java_map_clear(&c->node_map);
    tn_java_map_clear(&c->rack_map);
    tn_java_names_clear(&c->host_names);
    tn_java_names_clear(&c->rack_names);
    tn_map_clear(&c->pairs);
    tn_arena_clear(&c->arena);
}

/* ---- settings */

static int check_sizes(tarn_cx *cx, const combine *c)
{
    if (c->min_node != 0 && c->max != 0 && c->min_node > c->max)
        return tn_fail(cx, TARN_E_INVALID,
                       "Minimum split size pernode %" PRId64
                       " cannot be larger than maximum split size %" PRId64,
                       c->min_node, c->max);
    if (c->min_rack != 0 && c->max != 0 && c->min_rack > c->max)
        return tn_fail(cx, TARN_E_INVALID,
                       "Minimum split size per rack %" PRId64
                       " cannot be larger than maximum split size %" PRId64,
                       c->min_rack, c->max);
    if (c->min_rack != 0 && c->min_node > c->min_rack)
        return tn_fail(cx, TARN_E_INVALID,
                       "Minimum split size per node %" PRId64
                       " cannot be larger than minimum split size per rack %" PRId64,
                       c->min_node, c->min_rack);
    return TARN_OK;
}

static void take_sizes(combine *c, const tn_split_input *in)
{
    c->max = in->config.max.bytes;
    c->min_node = in->config.min_node.bytes;
    c->min_rack = in->config.min_rack.bytes;
    if (in->api != TARN_SPLIT_HIVE_SHIM)
        return;
    if (c->max == 0)
        c->max = in->config.min.bytes;
    if (c->min_node == 0)
        c->min_node = in->config.min.bytes;
    if (c->min_rack == 0)
        c->min_rack = in->config.min.bytes;
}

/* ---- chunks and their places */

static int add_entry(tarn_cx *cx, combine *c, uint32_t *head, uint32_t *tail, uint32_t chunk)
{
    int rc = TARN_OK;

    if (c->entry_count >= TN_SPLIT_REPLICAS_MAX)
        TN_FAIL(TARN_E_LIMIT,
                "the chunks have more than %u replicas in all; plan fewer files at "
                "once, or give a larger --max-size",
                TN_SPLIT_REPLICAS_MAX);
    TN_TRY(tn_arena_grow(cx, &c->arena, &c->entries, c->entry_count, &c->entry_cap,
                         sizeof *c->entries));
    c->entries[c->entry_count] = (entry){chunk, 0};
    if (*head == 0)
        *head = (uint32_t)c->entry_count;
    else
        c->entries[*tail].next = (uint32_t)c->entry_count;
    *tail = (uint32_t)c->entry_count++;
done:
    return rc;
}

static int rack_of(tarn_cx *cx, combine *c, tn_str name, uint32_t *id)
{
    int rc = TARN_OK;

    TN_TRY(tn_java_names_add(cx, &c->rack_names, name, id));
    TN_TRY(tn_arena_grow(cx, &c->arena, &c->racks, *id, &c->rack_cap, sizeof *c->racks));
done:
    return rc;
}

static int node_of(tarn_cx *cx, combine *c, tn_str name, uint32_t *id)
{
    int rc = TARN_OK;

    TN_TRY(tn_java_names_add(cx, &c->host_names, name, id));
    TN_TRY(tn_arena_grow(cx, &c->arena, &c->nodes, *id, &c->node_cap, sizeof *c->nodes));
    TN_TRY(tn_arena_grow(cx, &c->arena, &c->met, *id, &c->met_cap, sizeof *c->met));
done:
    return rc;
}

static int add_to_rack(tarn_cx *cx, combine *c, uint32_t id, uint32_t chunk)
{
    int rc = TARN_OK;

    if (c->racks[id].head == 0)
        TN_TRY(tn_java_map_add(cx, &c->rack_map, &c->rack_names, id));
    TN_TRY(add_entry(cx, c, &c->racks[id].head, &c->racks[id].tail, chunk));
done:
    return rc;
}

static int add_to_node(tarn_cx *cx, combine *c, uint32_t id, uint32_t chunk)
{
    node_state *at = &c->nodes[id];
    int rc = TARN_OK;

    if (at->head == 0)
        TN_TRY(tn_java_map_add(cx, &c->node_map, &c->host_names, id));
    else if (c->entries[at->tail].chunk == chunk) /* two replicas on one host */
        goto done;
    TN_TRY(add_entry(cx, c, &at->head, &at->tail, chunk));
done:
    return rc;
}

/* Notes that the host stands in the rack. */
static int add_host(tarn_cx *cx, combine *c, uint32_t rack, uint32_t host)
{
    uint32_t pair[2] = {rack, host};
    tn_str key = {(const char *)pair, sizeof pair};
    bool added;
    int rc = TARN_OK;

    if (tn_map_find(&c->pairs, key) != NULL)
        return TARN_OK;
    TN_TRY(tn_arena_keep(cx, &c->arena, &key));
    if (tn_map_add(cx, &c->pairs, key, &added) == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_java_map_add(cx, &c->racks[rack].hosts, &c->host_names, host));
done:
    return rc;
}

/* Puts a chunk on the lists of its racks and hosts. */
static int enter(tarn_cx *cx, combine *c, const tn_split_block *block, uint32_t chunk)
{
    size_t hosts = block != NULL ? block->host_count : 0;
    uint32_t rack, host;
    int rc = TARN_OK;

    if (hosts == 0) {
        TN_TRY(rack_of(cx, c, DEFAULT_RACK, &rack));
        TN_TRY(add_to_rack(cx, c, rack, chunk));
    }
    for (size_t i = 0; i < hosts; i++) {
        tn_str name = block->racks != NULL ? block->racks[i] : DEFAULT_RACK;

        TN_TRY(rack_of(cx, c, name, &rack));
        TN_TRY(node_of(cx, c, block->hosts[i], &host));
        TN_TRY(add_to_rack(cx, c, rack, chunk));
        if (!tn_str_equal(name, DEFAULT_RACK))
            TN_TRY(add_host(cx, c, rack, host));
    }
    for (size_t i = 0; i < hosts; i++) {
        TN_TRY(node_of(cx, c, block->hosts[i], &host));
        TN_TRY(add_to_node(cx, c, host, chunk));
    }
done:
    return rc;
}

static int add_chunk(tarn_cx *cx, combine *c, const tn_split_file *file,
                     const tn_split_block *block, int64_t offset, int64_t len)
{
    int rc = TARN_OK;

    TN_TRY(tn_split_room(cx, file, c->chunk_count, 1));
    TN_TRY(
        tn_arena_grow(cx, &c->arena, &c->chunks, c->chunk_count, &c->chunk_cap, sizeof *c->chunks));
    c->chunks[c->chunk_count] = (piece){file, block, offset, len, true};
    TN_TRY(enter(cx, c, block, (uint32_t)c->chunk_count));
    c->chunk_count++;
    c->free_count++;
done:
    return rc;
}

/* How much of what is left of a block is the next chunk: two halves, rather than one full and one
 * that may be tiny. Twice a maximum beyond 2^62 wraps in Java: nothing is halved there. */
static int64_t next_length(int64_t max, int64_t left)
{
    if (max == 0)
        return left;
    if (left > max && max <= INT64_MAX / 2 && left < 2 * max)
        return left / 2;
    return left < max ? left : max;
}

static int cut_block(tarn_cx *cx, combine *c, const tn_split_file *file,
                     const tn_split_block *block)
{
    int64_t offset = block->offset, left = block->len;
    int rc = TARN_OK;

    /* Known before anything is made of it. */
    TN_TRY(tn_split_room(cx, file, c->chunk_count, c->max != 0 ? left / c->max : 1));
    do {
        int64_t len = next_length(c->max, left);

        TN_TRY(add_chunk(cx, c, file, block, offset, len));
        offset += len;
        left -= len;
    } while (left > 0);
done:
    return rc;
}

static int cut_file(tarn_cx *cx, combine *c, const tn_split_file *file, int64_t *total)
{
    int rc = TARN_OK;

    if (file->dir)
        return TARN_OK;
    if (!file->splittable || file->block_count == 0) {
        int64_t len = file->splittable ? 0 : file->len;

        TN_TRY(add_chunk(cx, c, file, file->block_count != 0 ? &file->blocks[0] : NULL, 0, len));
        *total += len;
        goto done;
    }
    for (size_t i = 0; i < file->block_count; i++) {
        TN_TRY(cut_block(cx, c, file, &file->blocks[i]));
        *total += file->blocks[i].len;
    }
done:
    return rc;
}

/* ---- the split under way */

static int take(tarn_cx *cx, combine *c, uint32_t chunk)
{
    int rc = TARN_OK;

    TN_TRY(tn_arena_grow(cx, &c->arena, &c->current, c->current_count, &c->current_cap,
                         sizeof *c->current));
    c->current[c->current_count++] = chunk;
    c->current_bytes += c->chunks[chunk].len;
    if (c->chunks[chunk].free)
        c->free_count--;
    c->chunks[chunk].free = false;
done:
    return rc;
}

static bool full(const combine *c)
{
    return c->max != 0 && c->current_bytes >= c->max;
}

static void forget(combine *c)
{
    c->current_count = 0;
    c->current_bytes = 0;
}

static int end_split(tarn_cx *cx, combine *c, const char **locations, size_t count)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < c->current_count; i++) {
        const piece *at = &c->chunks[c->current[i]];

        TN_TRY(tn_split_chunk_add(cx, c->s, at->file, at->offset, at->len));
    }
    TN_TRY(tn_split_end(cx, c->s, locations, count));
    forget(c);
done:
    return rc;
}

/* ---- nodes */

static int end_on_node(tarn_cx *cx, combine *c, uint32_t host, int64_t *left)
{
    const char **location;
    int rc = TARN_OK;

    TN_TRY(tn_split_locations_new(cx, c->s, 1, &location));
    location[0] = tn_java_names_text(&c->host_names, host).ptr;
    *left -= c->current_bytes;
    c->nodes[host].made = true;
    TN_TRY(end_split(cx, c, location, 1));
done:
    return rc;
}

/* One round of a node: a full split, or the last it can do. */
static int visit_node(tarn_cx *cx, combine *c, uint32_t host, int64_t *left, bool *ended)
{
    node_state *at = &c->nodes[host];
    int rc = TARN_OK;

    *ended = false;
    while (at->head != 0) {
        const entry *e = &c->entries[at->head];

        at->head = e->next;
        if (!c->chunks[e->chunk].free)
            continue;
        TN_TRY(take(cx, c, e->chunk));
        if (full(c)) {
            TN_TRY(end_on_node(cx, c, host, left));
            *ended = at->head == 0;
            goto done;
        }
    }
    *ended = true;
    if (c->current_count == 0)
        goto done;
    if (c->min_node != 0 && c->current_bytes >= c->min_node && !at->made) {
        TN_TRY(end_on_node(cx, c, host, left));
        goto done;
    }
    for (size_t i = 0; i < c->current_count; i++)
        c->chunks[c->current[i]].free = true;
    c->free_count += c->current_count;
    forget(c);
done:
    return rc;
}

static int by_nodes(tarn_cx *cx, combine *c, int64_t left)
{
    size_t count = c->node_map.count, kept;
    uint32_t *order = tn_arena_array(cx, &c->arena, count, sizeof *order);
    int rc = TARN_OK;

    if (order == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_java_map_walk(cx, &c->node_map, &c->host_names, order));
    do {
        TN_TRY(tn_cx_check(cx));
        kept = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t host = order[i];
            bool ended;

            TN_TRY(visit_node(cx, c, host, &left, &ended));
            if (!ended)
                order[kept++] = host;
        }
        count = kept;
    } while (count != 0 && left != 0);
done:
    return rc;
}

/* ---- racks */

/* The hosts of some racks, in the order that Java's set of them has. */
static int hosts_of(tarn_cx *cx, combine *c, const uint32_t *racks, size_t rack_count,
                    const char ***out, size_t *count)
{
    tn_java_map all = {0};
    uint32_t *order = NULL;
    const char **made;
    size_t room = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < rack_count; i++)
        room += c->racks[racks[i]].hosts.count;
    TN_TRY(tn_split_locations_new(cx, c->s, room, &made));
    order = tn_alloc(cx, room * sizeof *order);
    if (order == NULL)
        return TARN_E_NOMEM;
    c->met_number++;
    for (size_t i = 0; i < rack_count; i++) {
        const tn_java_map *hosts = &c->racks[racks[i]].hosts;

        TN_TRY(tn_java_map_walk(cx, hosts, &c->host_names, order));
        for (size_t k = 0; k < hosts->count; k++) {
            if (c->met[order[k]] == c->met_number)
                continue;
            c->met[order[k]] = c->met_number;
            TN_TRY(tn_java_map_add(cx, &all, &c->host_names, order[k]));
        }
    }
    TN_TRY(tn_java_map_walk(cx, &all, &c->host_names, order));
    for (size_t i = 0; i < all.count; i++)
        made[i] = tn_java_names_text(&c->host_names, order[i]).ptr;
    *out = made;
    *count = all.count;
done:
    free(order);
    tn_java_map_clear(&all);
    return rc;
}

/* Ends the split with all hosts of one rack, which are made locations once. */
static int end_on_rack(tarn_cx *cx, combine *c, uint32_t id)
{
    size_t count;
    int rc = TARN_OK;

    if (c->racks[id].location == NULL)
        TN_TRY(hosts_of(cx, c, &id, 1, &c->racks[id].location, &count));
    TN_TRY(end_split(cx, c, c->racks[id].location, c->racks[id].hosts.count));
done:
    return rc;
}

static int visit_rack(tarn_cx *cx, combine *c, uint32_t id)
{
    int rc = TARN_OK;

    while (c->racks[id].head != 0) {
        const entry *e = &c->entries[c->racks[id].head];

        c->racks[id].head = e->next;
        if (!c->chunks[e->chunk].free)
            continue;
        TN_TRY(take(cx, c, e->chunk));
        if (full(c)) {
            TN_TRY(end_on_rack(cx, c, id));
            goto done;
        }
    }
    if (c->current_count == 0)
        goto done;
    if (c->min_rack != 0 && c->current_bytes >= c->min_rack) {
        TN_TRY(end_on_rack(cx, c, id));
        goto done;
    }
    for (size_t i = 0; i < c->current_count; i++) {
        TN_TRY(tn_arena_grow(cx, &c->arena, &c->overflow, c->overflow_count, &c->overflow_cap,
                             sizeof *c->overflow));
        c->overflow[c->overflow_count++] = c->current[i];
    }
    forget(c);
done:
    return rc;
}

static int by_racks(tarn_cx *cx, combine *c)
{
    size_t count = c->rack_map.count, kept;
    uint32_t *order = tn_arena_array(cx, &c->arena, count, sizeof *order);
    int rc = TARN_OK;

    if (order == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_java_map_walk(cx, &c->rack_map, &c->rack_names, order));
    while (c->free_count != 0) {
        TN_TRY(tn_cx_check(cx));
        kept = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t id = order[i];

            TN_TRY(visit_rack(cx, c, id));
            if (c->racks[id].head != 0)
                order[kept++] = id;
        }
        count = kept;
        assert(count != 0 || c->free_count == 0); /* every chunk is on the list of some rack */
    }
done:
    return rc;
}

/* ---- overflow */

/* Ends a split with the hosts of all racks met; `racks` is Java's set of them, emptied. */
static int end_overflow(tarn_cx *cx, combine *c, tn_java_map *racks, uint32_t *order)
{
    const char **locations = NULL;
    size_t count = 0;
    int rc = TARN_OK;

    TN_TRY(tn_java_map_walk(cx, racks, &c->rack_names, order));
    if (racks->count == 1) {
        TN_TRY(end_on_rack(cx, c, order[0]));
    } else {
        TN_TRY(hosts_of(cx, c, order, racks->count, &locations, &count));
        TN_TRY(end_split(cx, c, locations, count));
    }
    for (size_t i = 0; i < racks->count; i++)
        c->racks[order[i]].met = false;
    tn_java_map_reset(racks);
done:
    return rc;
}

static int by_rest(tarn_cx *cx, combine *c)
{
    tn_java_map racks = {0};
    uint32_t *order = tn_arena_array(cx, &c->arena, c->rack_map.count, sizeof *order), id;
    int rc = TARN_OK;

    if (order == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < c->overflow_count; i++) {
        const tn_split_block *block = c->chunks[c->overflow[i]].block;

        TN_TRY(take(cx, c, c->overflow[i]));
        for (size_t k = 0; block != NULL && k < block->host_count; k++) {
            TN_TRY(rack_of(cx, c, block->racks != NULL ? block->racks[k] : DEFAULT_RACK, &id));
            if (c->racks[id].met)
                continue;
            c->racks[id].met = true;
            TN_TRY(tn_java_map_add(cx, &racks, &c->rack_names, id));
        }
        if (full(c))
            TN_TRY(end_overflow(cx, c, &racks, order));
    }
    if (c->current_count != 0)
        TN_TRY(end_overflow(cx, c, &racks, order));
done:
    tn_java_map_clear(&racks);
    return rc;
}

/* ---- pools */

/* Lists and maps of the pool before are gone; the hosts of racks stay. */
static void begin_pool(combine *c)
{
    for (size_t i = 0; i < c->node_map.count; i++)
        c->nodes[c->node_map.ids[i]] = (node_state){0};
    for (size_t i = 0; i < c->rack_map.count; i++) {
        rack_state *at = &c->racks[c->rack_map.ids[i]];

        at->head = at->tail = 0;
        at->location = NULL;
    }
    tn_java_map_clear(&c->node_map);
    tn_java_map_clear(&c->rack_map);
    c->chunk_count = c->overflow_count = c->free_count = 0;
    c->entry_count = 1;
    forget(c);
}

static bool in_pool(const tn_split_pool *pool, const tn_split_file *file)
{
    for (size_t i = 0; i < pool->prefix_count; i++)
        if (tn_str_starts(file->path, pool->prefixes[i]) ||
            (file->below != 0 &&
             tn_str_starts(tn_str_from(file->path, file->below), pool->prefixes[i])))
            return true;
    return false;
}

/* Makes the splits of the files that the pool takes; NULL takes all that are left. */
static int plan_pool(tarn_cx *cx, combine *c, const tn_split_pool *pool, bool *gone)
{
    const tn_split_input *in = c->s->in;
    int64_t total = 0;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    begin_pool(c);
    TN_TRY(tn_arena_grow(cx, &c->arena, &c->entries, 0, &c->entry_cap, sizeof *c->entries));
    for (size_t i = 0; i < in->file_count; i++) {
        if (gone[i] || (pool != NULL && !in_pool(pool, &in->files[i])))
            continue;
        gone[i] = true;
        TN_TRY(cut_file(cx, c, &in->files[i], &total));
    }
    TN_TRY(by_nodes(cx, c, total));
    TN_TRY(by_racks(cx, c));
    TN_TRY(by_rest(cx, c));
done:
    return rc;
}

int tn_split_combine(tarn_cx *cx, tn_splitting *s)
{
    const tn_split_input *in = s->in;
    combine c = {.s = s};
    bool *gone;
    int rc = TARN_OK;

    take_sizes(&c, in);
    TN_TRY(check_sizes(cx, &c));
    gone = tn_arena_array(cx, &c.arena, in->file_count, sizeof *gone);
    TN_TRY(gone != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < in->file_count; i++)
        gone[i] = in->api == TARN_SPLIT_HIVE_SHIM && (in->files[i].dir || in->files[i].len == 0);
    for (size_t i = 0; i < in->pool_count; i++)
        TN_TRY(plan_pool(cx, &c, &in->pools[i], gone));
    TN_TRY(plan_pool(cx, &c, NULL, gone));
done:
    combine_clear(&c);
    return rc;
}
