/* The choice of blocks, as BaseHoodieLogRecordReader of Hudi 1.2.0 makes it:
 *
 *   forward    blocks gather under the instant that wrote them, instants in the order of their
 *              first block; a rollback takes away what its target has gathered so far
 *   backward   an instant that a log compaction merged gives way to the blocks of that compaction,
 *              which stand once, in the place of the latest instant that they replace
 *
 * I1: blocks of one instant follow each other, wherever they lie.
 * I2: a rollback hits only blocks before it; it counts whatever its own instant is.
 * I3: a compaction none of whose instants is there gives nothing: its blocks have no place.
 * I4: no file stays open: there may be more logs than a process may open.
 * I5: a log that is shorter than was planned fails: what it lost would look like a torn end, which
 *     counts for nothing. */
#include "exec/slice_blocks.h"

#include <assert.h>

#include "base/map.h"
#include "base/pool.h"

#define NONE SIZE_MAX

/* What one instant has gathered. */
typedef struct group {
    tn_str instant;
    size_t head, tail; /* of its blocks: places in `found` */
    bool gone;         /* rolled back */
    bool placed;
} group;

typedef struct found {
    tn_slice_block block;
    size_t next;
} found;

typedef struct choice {
    tarn_cx *cx;
    const tn_slice_instants *instants;
    tn_slice_blocks *out;
    tn_arena arena;
    found *founds;
    size_t found_count, found_cap;
    group *groups;
    size_t group_count, group_cap;
    tn_map by_instant; /* the group's place + 1; 0: none */
    tn_map replaced;   /* by the group, its place + 1 */
    size_t *order;     /* groups as they are placed, last first */
    size_t order_count;
} choice;

static bool counts(const tn_slice_instants *instants, tn_str instant)
{
    if (instants == NULL)
        return true;
    if (instants->until.len != 0 && tn_str_compare(instant, instants->until) > 0)
        return false;
    if (instants->trusted || tn_str_listed(instants->instants, instants->count, instant))
        return true;
    return !instants->exact && instants->start.len != 0 &&
           tn_str_compare(instant, instants->start) < 0;
}

static int fail_at(choice *c, int status, tn_slice_block at, const char *text)
{
    return tn_fail(c->cx, status, "%.*s: byte %llu: %s", TN_STR_ARG(at.log->path),
                   (unsigned long long)at.block->offset, text);
}

/* ---- forward */

static int gather(choice *c, tn_slice_block at)
{
    size_t *place = tn_map_add(c->cx, &c->by_instant, at.block->instant, &(bool){false});
    group *g;
    int rc = TARN_OK;

    if (place == NULL)
        return TARN_E_NOMEM;
    if (*place == 0) {
        TN_TRY(tn_arena_grow(c->cx, &c->arena, &c->groups, c->group_count, &c->group_cap,
                             sizeof *c->groups));
        c->groups[c->group_count++] =
            (group){.instant = at.block->instant, .head = NONE, .tail = NONE};
        *place = c->group_count;
    }
    g = &c->groups[*place - 1];
    TN_TRY(tn_arena_grow(c->cx, &c->arena, &c->founds, c->found_count, &c->found_cap,
                         sizeof *c->founds));
    c->founds[c->found_count] = (found){at, NONE};
    if (g->head == NONE)
        g->head = c->found_count;
    else
        c->founds[g->tail].next = c->found_count;
    g->tail = c->found_count++;
done:
    return rc;
}

static void roll_back(choice *c, tn_str target)
{
    size_t *place = tn_map_find(&c->by_instant, target);

    if (place == NULL || *place == 0)
        return;
    c->groups[*place - 1].gone = true;
    *place = 0;
}

static int look(choice *c, tn_slice_block at)
{
    switch (at.block->kind) {
    case TN_LOG_CORRUPT:
        return TARN_OK;
    case TN_LOG_COMMAND:
        if (!at.block->rollback)
            return fail_at(c, TARN_E_UNSUPPORTED, at,
                           "a command that is no rollback; tarn does not know others");
        roll_back(c, at.block->target);
        return TARN_OK;
    case TN_LOG_CDC:
        return fail_at(c, TARN_E_UNSUPPORTED, at, "a block of changes in a log of rows");
    default:
        break;
    }
    if (at.block->instant.len == 0)
        return fail_at(c, TARN_E_CORRUPT, at, "a block that does not say which instant wrote it");
    return counts(c->instants, at.block->instant) ? gather(c, at) : TARN_OK;
}

/* ---- backward */

/* The instants of a compaction lead to the last compaction that took its own blocks up. */
static int replace(choice *c, size_t g, tn_str instants)
{
    size_t *own = tn_map_find(&c->replaced, c->groups[g].instant);
    size_t by = own != NULL ? *own : g + 1;

    while (instants.len != 0) {
        size_t n = tn_str_find(instants, ',');
        size_t *place = tn_map_add(c->cx, &c->replaced, (tn_str){instants.ptr, n}, &(bool){false});

        if (place == NULL)
            return TARN_E_NOMEM;
        *place = by;
        instants = tn_str_from(instants, n + 1);
    }
    return TARN_OK;
}

static void place(choice *c, size_t g)
{
    if (c->groups[g].placed)
        return;
    c->groups[g].placed = true;
    c->order[c->order_count++] = g;
}

static int place_all(choice *c)
{
    int rc = TARN_OK;

    for (size_t g = c->group_count; g-- > 0;) {
        tn_str compacted;
        const size_t *by;

        if (c->groups[g].gone)
            continue;
        compacted = c->founds[c->groups[g].head].block.block->compacted;
        if (compacted.len != 0) {
            TN_TRY(replace(c, g, compacted));
            continue;
        }
        by = tn_map_find(&c->replaced, c->groups[g].instant);
        place(c, by != NULL ? *by - 1 : g);
    }
done:
    return rc;
}

static int write_down(choice *c)
{
    tn_slice_blocks *out = c->out;

    out->blocks = tn_arena_array(c->cx, &out->arena, c->found_count + 1, sizeof *out->blocks);
    if (out->blocks == NULL)
        return TARN_E_NOMEM;
    for (size_t i = c->order_count; i-- > 0;)
        for (size_t f = c->groups[c->order[i]].head; f != NONE; f = c->founds[f].next) {
            const tn_log_block *block = c->founds[f].block.block;

            out->blocks[out->count++] = c->founds[f].block;
            out->content_bytes += block->content_bytes;
            out->partial = out->partial || block->partial;
        }
    return TARN_OK;
}

int tn_slice_blocks_choose(tarn_cx *cx, const tn_slice_instants *instants, tn_slice_blocks *blocks)
{
    choice c = {.cx = cx, .instants = instants, .out = blocks};
    int rc = TARN_OK;

    assert(blocks->count == 0);
    for (size_t i = 0; i < blocks->log_count; i++)
        for (size_t k = 0; k < blocks->logs[i].block_count; k++)
            TN_TRY(look(&c, (tn_slice_block){&blocks->logs[i], &blocks->logs[i].blocks[k]}));
    c.order = tn_arena_array(cx, &c.arena, c.group_count + 1, sizeof *c.order);
    if (c.order == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(place_all(&c));
    TN_TRY(write_down(&c));
done:
    tn_map_clear(&c.by_instant);
    tn_map_clear(&c.replaced);
    tn_arena_clear(&c.arena);
    return rc;
}

/* ---- logs */

typedef struct opening {
    tn_store *store;
    const tn_slice_parts *parts;
    tn_slice_blocks *out;
} opening;

static int open_log(tarn_cx *cx, size_t i, void *arg)
{
    opening *o = arg;
    const tn_slice_log *planned = &o->parts->logs[i];
    tn_log *log = &o->out->logs[i];
    int rc = TARN_OK;

    TN_TRY(tn_log_open(cx, o->store, planned->path, log));
    if (log->file->stat.size_bytes < planned->size_bytes)
        TN_FAIL(TARN_E_CORRUPT,
                "%.*s: the log is cut off, at %llu bytes of %llu: restore it from a copy, or roll "
                "instant %.*s back",
                TN_STR_ARG(planned->path), (unsigned long long)log->file->stat.size_bytes,
                (unsigned long long)planned->size_bytes, TN_STR_ARG(planned->instant));
done:
    tn_store_close_file(log->file);
    log->file = NULL;
    return rc;
}

int tn_slice_blocks_open(tarn_cx *cx, tn_store *store, const tn_slice_parts *parts,
                         tn_slice_blocks *out)
{
    opening o = {store, parts, out};
    int rc = TARN_OK;

    out->logs = tn_arena_array(cx, &out->arena, parts->log_count + 1, sizeof *out->logs);
    if (out->logs == NULL)
        return TARN_E_NOMEM;
    out->log_count = parts->log_count;
    TN_TRY(tn_parallel(cx, parts->log_count, open_log, &o));
    TN_TRY(tn_slice_blocks_choose(cx, parts->instants, out));
done:
    return rc;
}

/* Hudi passes over torn blocks without a word. Mostly a writer that died has left them, and what it
 * wrote was written again; but a block that was damaged later looks the same. */
bool tn_slice_blocks_note(const tn_slice_blocks *blocks, char *text, size_t size)
{
    const tn_log *first = NULL;
    const tn_log_block *torn = NULL;
    size_t count = 0;

    for (size_t i = 0; i < blocks->log_count; i++)
        for (size_t k = 0; k < blocks->logs[i].block_count; k++)
            if (blocks->logs[i].blocks[k].kind == TN_LOG_CORRUPT && count++ == 0) {
                first = &blocks->logs[i];
                torn = &first->blocks[k];
            }
    if (count == 0)
        return false;
    snprintf(text, size,
             "%.*s: byte %llu: a torn block of %llu bytes is passed over, as Hudi does%s; if no "
             "writer failed there, the log is damaged: restore it from a copy (`tarn show` lists "
             "its blocks)",
             TN_STR_ARG(first->path), (unsigned long long)torn->offset,
             (unsigned long long)torn->bytes, count > 1 ? ", and others of its file group" : "");
    return true;
}

void tn_slice_blocks_close(tn_slice_blocks *blocks)
{
    for (size_t i = 0; i < blocks->log_count; i++)
        tn_log_close(&blocks->logs[i]);
    tn_arena_clear(&blocks->arena);
    *blocks = (tn_slice_blocks){0};
}
