/* Plans splits: checks the input, lets one of the four rules work, and hands over what they made.
 * I1: every byte of the input that a rule takes is in exactly one split.
 * I2: the result depends on nothing but the input: no clock, no addresses, no random bits.
 * I3: no sum of sizes passes 2^63 - 1: that is checked before anything is added up. */
#include "plan/plan_split.h"

#include <assert.h>
#include <inttypes.h>

#include "plan/split_parts.h"

int tn_split_room(tarn_cx *cx, const tn_split_file *file, size_t have, int64_t more)
{
    if (have <= TN_SPLIT_CHUNKS_MAX && more <= (int64_t)(TN_SPLIT_CHUNKS_MAX - have))
        return TARN_OK;
    return tn_fail(cx, TARN_E_LIMIT, "%.*s: more than %u chunks in all; give a larger --max-size",
                   TN_STR_ARG(file->path), TN_SPLIT_CHUNKS_MAX);
}

int tn_split_chunk_add(tarn_cx *cx, tn_splitting *s, const tn_split_file *file, int64_t offset,
                       int64_t len)
{
    int rc = TARN_OK;

    TN_TRY(tn_split_room(cx, file, s->chunk_count, 1));
    TN_TRY(
        tn_arena_grow(cx, s->arena, &s->chunks, s->chunk_count, &s->chunk_cap, sizeof *s->chunks));
    s->chunks[s->chunk_count++] = (tarn_split_chunk){file->path.ptr, offset, len};
done:
    return rc;
}

int tn_split_end(tarn_cx *cx, tn_splitting *s, const char *const *locations, size_t count)
{
    size_t first = 0;
    tarn_split_part part = {.locations = locations, .location_count = count};
    int rc = TARN_OK;

    if (s->split_count != 0)
        first = s->splits[s->split_count - 1].chunk_count;
    assert(s->chunk_count > first);
    TN_TRY(
        tn_arena_grow(cx, s->arena, &s->splits, s->split_count, &s->split_cap, sizeof *s->splits));
    for (size_t i = first; i < s->chunk_count; i++)
        part.len += s->chunks[i].len;
    part.chunk_count = s->chunk_count; /* the end, until all are known */
    s->splits[s->split_count++] = part;
done:
    return rc;
}

int tn_split_locations_new(tarn_cx *cx, tn_splitting *s, size_t count, const char ***out)
{
    const char **made;
    int rc = TARN_OK;

    if (count > TN_SPLIT_LOCATIONS_MAX - s->location_count)
        TN_FAIL(TARN_E_LIMIT,
                "the splits have more than %u locations in all; give a larger "
                "--max-size, or plan fewer files at once",
                TN_SPLIT_LOCATIONS_MAX);
    made = tn_arena_array(cx, s->arena, count, sizeof *made);
    if (made == NULL)
        return TARN_E_NOMEM;
    s->location_count += count;
    *out = made;
done:
    return rc;
}

static int check_blocks(tarn_cx *cx, const tn_split_file *file, int64_t *total)
{
    int64_t end = 0;

    for (size_t i = 0; i < file->block_count; i++) {
        const tn_split_block *block = &file->blocks[i];

        if (block->offset < 0 || block->len < 0 || block->offset > INT64_MAX - block->len)
            return tn_fail(cx, TARN_E_INVALID,
                           "%.*s: block %zu: offset %" PRId64 " and length %" PRId64
                           " are no part of a file",
                           TN_STR_ARG(file->path), i, block->offset, block->len);
        if (block->offset < end)
            return tn_fail(cx, TARN_E_INVALID,
                           "%.*s: block %zu begins at %" PRId64 ", before the end of the one "
                           "before it; give blocks in order, without overlaps",
                           TN_STR_ARG(file->path), i, block->offset);
        if (block->len > INT64_MAX - *total)
            return tn_fail(cx, TARN_E_INVALID,
                           "%.*s: the blocks up to here have more than 2^63 - 1 bytes in all",
                           TN_STR_ARG(file->path));
        end = block->offset + block->len;
        *total += block->len;
    }
    return TARN_OK;
}

static int check(tarn_cx *cx, const tn_split_input *in, tarn_split_plan *out)
{
    int64_t bytes = 0, in_blocks = 0;
    int rc = TARN_OK;

    if (in->pool_count != 0 && in->api != TARN_SPLIT_COMBINE && in->api != TARN_SPLIT_HIVE_SHIM)
        TN_FAIL(TARN_E_INVALID, "pools: only combine and hive-shim have them: elsewhere a split is "
                                "of one file; leave them out, or give --api combine");
    for (size_t i = 0; i < in->file_count; i++) {
        const tn_split_file *file = &in->files[i];

        if (file->len < 0 || file->block_size < 0 || file->len > INT64_MAX - bytes)
            TN_FAIL(TARN_E_INVALID,
                    "%.*s: a negative length or block size, or more than 2^63 - 1 "
                    "bytes up to here",
                    TN_STR_ARG(file->path));
        bytes += file->len;
        out->directories += file->dir;
        out->files += !file->dir;
        TN_TRY(check_blocks(cx, file, &in_blocks));
    }
    out->bytes = (uint64_t)bytes;
done:
    return rc;
}

/* Chunk counts so far are ends; the chunks are where they stay. */
static void settle(tn_splitting *s, tarn_split_plan *out)
{
    size_t first = 0;

    for (size_t i = 0; i < s->split_count; i++) {
        size_t end = s->splits[i].chunk_count;

        s->splits[i].chunks = &s->chunks[first];
        s->splits[i].chunk_count = end - first;
        first = end;
    }
    assert(first == s->chunk_count);
    out->splits = s->splits;
    out->split_count = s->split_count;
    out->chunk_count = s->chunk_count;
}

int tn_plan_split(tarn_cx *cx, const tn_split_input *input, tn_arena *arena, tarn_split_plan *out)
{
    tn_splitting s = {.in = input, .arena = arena};
    tarn_split_plan made = {.api = input->api};
    int rc = TARN_OK;

    assert(input->api >= TARN_SPLIT_COMBINE && input->api <= TARN_SPLIT_FILE_OLD);
    TN_TRY(check(cx, input, &made));
    switch (input->api) {
    case TARN_SPLIT_COMBINE:
    case TARN_SPLIT_HIVE_SHIM:
        TN_TRY(tn_split_combine(cx, &s));
        break;
    case TARN_SPLIT_FILE_NEW:
        TN_TRY(tn_split_file_new(cx, &s));
        break;
    case TARN_SPLIT_FILE_OLD:
        TN_TRY(tn_split_file_old(cx, &s));
        break;
    }
    settle(&s, &made);
    *out = made;
done:
    return rc;
}
