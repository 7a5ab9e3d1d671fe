/* Splits of one file each, as the two plain FileInputFormats of Hadoop make them.
 * I1: the last split of a file may be up to 1.1 times as large as the others.
 * I2: the new API names the hosts of the block that a split begins in. The old one ranks, when a
 *     split lies in several blocks, racks by the bytes they have of it, then the hosts of each
 * rack. Where shares are equal, Hadoop's order is that of addresses; here it is that of the blocks.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/java_map.h"
#include "plan/split_parts.h"

#define SLOP         1.1
#define DEFAULT_RACK TN_STR("/default-rack")

typedef int (*hosts_of)(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t offset,
                        int64_t len, const char ***out, size_t *count);

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The block that holds the byte at `offset`. */
static int block_at(tarn_cx *cx, const tn_split_file *file, int64_t offset, size_t *out)
{
    size_t low = 0, high = file->block_count;
    const tn_split_block *last;

    if (file->block_count == 0)
        return tn_fail(cx, TARN_E_INVALID,
                       "%.*s: has %" PRId64 " bytes but no blocks; name them, or take another api",
                       TN_STR_ARG(file->path), file->len);
    /* The first block that ends after the byte: blocks are in order. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (file->blocks[middle].offset + file->blocks[middle].len > offset)
            high = middle;
        else
            low = middle + 1;
    }
    last = &file->blocks[file->block_count - 1];
    if (low == file->block_count || file->blocks[low].offset > offset)
        return tn_fail(cx, TARN_E_INVALID, "Offset %" PRId64 " is outside of file (0..%" PRId64 ")",
                       offset, last->offset + last->len - 1);
    *out = low;
    return TARN_OK;
}

static int hosts_of_block(tarn_cx *cx, tn_splitting *s, const tn_split_block *block,
                          const char ***out, size_t *count)
{
    int rc = TARN_OK;

    TN_TRY(tn_split_locations_new(cx, s, block->host_count, out));
    for (size_t i = 0; i < block->host_count; i++)
        (*out)[i] = block->hosts[i].ptr;
    *count = block->host_count;
done:
    return rc;
}

static int hosts_new(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t offset,
                     int64_t len, const char ***out, size_t *count)
{
    size_t block;
    int rc = TARN_OK;

    (void)len;
    TN_TRY(block_at(cx, file, offset, &block));
    TN_TRY(hosts_of_block(cx, s, &file->blocks[block], out, count));
done:
    return rc;
}

/* ---- the old API's ranking */

/* What a host or a rack has of a split. */
typedef struct share {
    uint32_t id, rack; /* of a host: its rack */
    size_t last_block; /* counted so far, plus 1 */
    int64_t bytes;
    tn_str host;
} share;

typedef struct ranking {
    tn_arena arena;
    tn_java_names rack_names, host_names; /* of hosts: with their racks */
    share *racks, *hosts;                 /* by id */
    size_t rack_cap, host_cap;
} ranking;

/* A block counts once for a rack, however many replicas it has there. */
static void add_bytes(share *to, size_t block, int64_t bytes)
{
    if (to->last_block == block + 1)
        return;
    to->last_block = block + 1;
    to->bytes += bytes;
}

static int rank_block(tarn_cx *cx, ranking *r, const tn_split_block *block, size_t number,
                      int64_t bytes)
{
    uint32_t rack, host;
    int rc = TARN_OK;

    for (size_t i = 0; i < block->host_count; i++) {
        tn_str name = block->racks != NULL ? block->racks[i] : DEFAULT_RACK, place;

        TN_TRY(tn_arena_print(cx, &r->arena, &place, "%.*s/%.*s", TN_STR_ARG(name),
                              TN_STR_ARG(block->hosts[i])));
        TN_TRY(tn_java_names_add(cx, &r->rack_names, name, &rack));
        TN_TRY(tn_arena_grow(cx, &r->arena, &r->racks, rack, &r->rack_cap, sizeof *r->racks));
        TN_TRY(tn_java_names_add(cx, &r->host_names, place, &host));
        TN_TRY(tn_arena_grow(cx, &r->arena, &r->hosts, host, &r->host_cap, sizeof *r->hosts));
        r->racks[rack].id = rack;
        r->hosts[host].id = host;
        r->hosts[host].rack = rack;
        r->hosts[host].host = block->hosts[i];
        add_bytes(&r->racks[rack], number, bytes);
        add_bytes(&r->hosts[host], number, bytes);
    }
done:
    return rc;
}

static int by_bytes(const void *a, const void *b)
{
    const share *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The name of a host without a port; the whole name where there is none. */
static int without_port(tarn_cx *cx, tn_arena *arena, tn_str host, const char **out)
{
    tn_str name = {host.ptr, tn_str_find(host, ':')};
    int rc = TARN_OK;

    if (name.len != host.len)
        TN_TRY(tn_arena_keep(cx, arena, &name));
    *out = name.ptr;
done:
    return rc;
}

/* The first `wanted` hosts, of the best rack first. */
static int pick(tarn_cx *cx, tn_splitting *s, ranking *r, size_t wanted, const char ***out,
                size_t *count)
{
    size_t racks = r->rack_names.count, hosts = r->host_names.count, n = 0;
    uint32_t *place = tn_arena_array(cx, &r->arena, racks, sizeof *place);
    int rc = TARN_OK;

    TN_TRY(place != NULL ? TARN_OK : TARN_E_NOMEM);
    TN_TRY(tn_split_locations_new(cx, s, wanted, out));
    if (racks != 0)
        qsort(r->racks, racks, sizeof *r->racks, by_bytes);
    for (size_t i = 0; i < racks; i++)
        place[r->racks[i].id] = (uint32_t)i;
    for (size_t i = 0; i < hosts; i++)
        r->hosts[i].rack = place[r->hosts[i].rack];
    if (hosts != 0)
        qsort(r->hosts, hosts, sizeof *r->hosts, by_bytes);
    for (size_t i = 0; i < racks && n < wanted; i++)
        for (size_t k = 0; k < hosts && n < wanted; k++)
            if (r->hosts[k].rack == i)
                TN_TRY(without_port(cx, s->arena, r->hosts[k].host, &(*out)[n++]));
    *count = n;
done:
    return rc;
}

static int rank(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, size_t first,
                int64_t in_first, int64_t len, const char ***out, size_t *count)
{
    ranking r = {0};
    size_t block = first;
    int64_t left = len - in_first;
    int rc = TARN_OK;

    TN_TRY(rank_block(cx, &r, &file->blocks[block], block, in_first));
    while (left > 0) {
        int64_t bytes;

        if (++block == file->block_count)
            TN_FAIL(TARN_E_INVALID,
                    "%.*s: its blocks end %" PRId64 " bytes before a split of it does; name them "
                    "all",
                    TN_STR_ARG(file->path), left);
        bytes = least(left, file->blocks[block].len);
        TN_TRY(rank_block(cx, &r, &file->blocks[block], block, bytes));
        left -= bytes;
    }
    TN_TRY(pick(cx, s, &r, file->blocks[block].host_count, out, count));
done:
    tn_java_names_clear(&r.rack_names);
    tn_java_names_clear(&r.host_names);
    tn_arena_clear(&r.arena);
    return rc;
}

static int hosts_old(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t offset,
                     int64_t len, const char ***out, size_t *count)
{
    const tn_split_block *block;
    size_t first;
    int64_t in_first;
    int rc = TARN_OK;

    TN_TRY(block_at(cx, file, offset, &first));
    block = &file->blocks[first];
    in_first = block->offset + block->len - offset;
    if (in_first >= len)
        TN_TRY(hosts_of_block(cx, s, block, out, count));
    else
        TN_TRY(rank(cx, s, file, first, in_first, len, out, count));
done:
    return rc;
}

/* ---- cutting */

static int add(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t offset, int64_t len,
               hosts_of hosts)
{
    const char **locations = NULL;
    size_t count = 0;
    int rc = TARN_OK;

    if (len != 0)
        TN_TRY(hosts(cx, s, file, offset, len, &locations, &count));
    TN_TRY(tn_split_chunk_add(cx, s, file, offset, len));
    TN_TRY(tn_split_end(cx, s, locations, count));
done:
    return rc;
}

static int cut(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t size,
               hosts_of hosts)
{
    int64_t left = file->len;
    int rc = TARN_OK;

    assert(size > 0);
    if (!file->splittable || left == 0) {
        TN_TRY(add(cx, s, file, 0, left, hosts));
        goto done;
    }
    TN_TRY(tn_split_room(cx, file, s->chunk_count, left / size));
    while ((double)left / (double)size > SLOP) {
        TN_TRY(add(cx, s, file, file->len - left, size, hosts));
        left -= size;
    }
    if (left != 0)
        TN_TRY(add(cx, s, file, file->len - left, left, hosts));
done:
    return rc;
}

int tn_split_file_new(tarn_cx *cx, tn_splitting *s)
{
    const tn_split_config *config = &s->in->config;
    int64_t low = most(1, config->min.bytes);
    int64_t high = config->max.given ? config->max.bytes : INT64_MAX;
    int rc = TARN_OK;

    for (size_t i = 0; i < s->in->file_count; i++) {
        const tn_split_file *file = &s->in->files[i];

        TN_TRY(tn_cx_check(cx));
        if (file->dir && config->ignore_subdirs)
            continue;
        TN_TRY(cut(cx, s, file, most(low, least(high, file->block_size)), hosts_new));
    }
done:
    return rc;
}

int tn_split_file_old(tarn_cx *cx, tn_splitting *s)
{
    const tn_split_config *config = &s->in->config;
    int64_t low = most(1, config->min.given ? config->min.bytes : 1), goal, total = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < s->in->file_count; i++) {
        const tn_split_file *file = &s->in->files[i];

        if (file->dir && !config->ignore_subdirs)
            TN_FAIL(TARN_E_INVALID, "Not a file: %.*s%.*s", TN_STR_ARG(s->in->scheme),
                    TN_STR_ARG(file->path));
        total += file->dir ? 0 : file->len;
    }
    goal = total / most(1, config->split_count);
    for (size_t i = 0; i < s->in->file_count; i++) {
        const tn_split_file *file = &s->in->files[i];

        TN_TRY(tn_cx_check(cx));
        if (!file->dir)
            TN_TRY(cut(cx, s, file, most(low, least(goal, file->block_size)), hosts_old));
    }
done:
    return rc;
}
