/* The index of an HFile: where its data and meta blocks are.
 *
 * Root ("IDXROOT2"), as many entries as the trailer says, first of data, then, in a block of its
 * own, of meta blocks:
 *
 *   8  offset of the block
 *   4  its size, header and checksums included
 *   n  length of the key: Hadoop's VInt (Hudi 1.1.0 and 1.1.1: protobuf's varint; errata.md)
 *   .  the key: whole (2 length of the row, row, 10 more), or without the 10; of a meta block: its
 *      name
 *
 * Below it, where the trailer says two levels or more ("IDXINTE2", last "IDXLEAF2"): 4 a count n,
 * n + 1 times 4 where an entry begins, from the first on, then the entries: offset and size as
 * above, and the key up to the next entry. A root above others may end in 16 bytes on the key in
 * the middle.
 *
 *   00 00 00 00 00 00 00 00  00 00 00 c5  14  00 12 5f 5f 61 6c 6c …   offset 0, 197 bytes, a key
 *   of 20 bytes, whose row has 18: "__all_…"
 *
 * I1: counts are believed only as far as entries of the least size fit into the bytes.
 * I2: rows ascend over all data blocks, and so do the blocks' offsets: an index that jumps is
 *     damaged. (A key of a later block may be shorter than any in it: greater than all before.) */
#include <assert.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "codec/hfile/hfile_parts.h"

#define ENTRY_LEAST    13
#define MID_KEY_BYTES  16
#define KEY_TAIL_BYTES 10 /* family's length, timestamp, type */

typedef struct places {
    tn_hfile_place *at;
    size_t count, cap;
} places;

static int corrupt(tarn_cx *cx, const tn_hfile *file, uint64_t offset, const char *what)
{
    return tn_fail(cx, TARN_E_CORRUPT, "%.*s: index at byte %llu: %s: the HFile is damaged",
                   TN_STR_ARG(file->path), (unsigned long long)(file->base + offset), what);
}

bool tn_hfile_index_row(tn_str key, tn_str *row)
{
    size_t len;

    if (key.len < 2)
        return false;
    len = (size_t)(uint8_t)key.ptr[0] << 8 | (uint8_t)key.ptr[1];
    if (len > INT16_MAX || len > key.len - 2 ||
        (key.len != len + 2 && key.len < len + 2 + KEY_TAIL_BYTES))
        return false;
    *row = (tn_str){key.ptr + 2, len};
    return true;
}

static uint64_t read_vint(tn_cursor *in)
{
    int8_t first = (int8_t)tn_cursor_u8(in);
    int more = -112 - first;
    uint64_t value = 0;

    if (first >= 0)
        return (uint64_t)first;
    if (more < 1 || more > 4) {
        in->failed = true; /* negative, or of more than 32 bits: no length */
        return 0;
    }
    for (int i = 0; i < more; i++)
        value = value << 8 | tn_cursor_u8(in);
    return value;
}

static int add(tarn_cx *cx, tn_hfile *file, places *list, const tn_hfile_place *place)
{
    int rc = TARN_OK;

    if (list->count == TN_HFILE_BLOCKS_MAX)
        TN_FAIL(TARN_E_LIMIT, "%.*s: more than %u blocks in an HFile", TN_STR_ARG(file->path),
                TN_HFILE_BLOCKS_MAX);
    TN_TRY(tn_grow(cx, &list->at, list->count, &list->cap, sizeof *list->at));
    list->at[list->count] = *place;
    TN_TRY(tn_arena_keep(cx, &file->arena, &list->at[list->count].key));
    list->count++;
done:
    return rc;
}

/* Entries of a root, with lengths as VInt or as varint; *fits false: they are not such. Keys of
 * `named` blocks are bare names, others hold a row. */
static int read_root(tarn_cx *cx, tn_hfile *file, tn_str content, uint64_t count, bool varint,
                     bool named, bool *fits, places *out)
{
    tn_cursor in = tn_cursor_of(content.ptr, content.len);
    tn_str row;
    int rc = TARN_OK;

    out->count = 0;
    for (uint64_t i = 0; i < count && !in.failed; i++) {
        tn_hfile_place place = {.offset = tn_cursor_u64be(&in)};

        place.bytes = tn_cursor_u32be(&in);
        place.key = tn_cursor_take(&in, varint ? tn_cursor_varint(&in) : read_vint(&in));
        if (in.failed || (!named && !tn_hfile_index_row(place.key, &row)))
            break;
        TN_TRY(add(cx, file, out, &place));
    }
    *fits = !in.failed && out->count == count &&
            (tn_cursor_left(&in) == 0 ||
             (file->levels > 1 && !named && tn_cursor_left(&in) == MID_KEY_BYTES));
done:
    return rc;
}

static int load_root(tarn_cx *cx, tn_hfile *file, uint64_t at, uint64_t count, bool named,
                     tn_hfile_block *block, places *out)
{
    bool fits;
    int rc = TARN_OK;

    TN_TRY(tn_hfile_block_read(cx, file, at, file->trailer_at, 0, "IDXROOT2", block));
    if (count > block->content.len / ENTRY_LEAST)
        TN_TRY(corrupt(cx, file, at, "the trailer counts more blocks than it has"));
    TN_TRY(read_root(cx, file, block->content, count, false, named, &fits, out));
    if (!fits)
        TN_TRY(read_root(cx, file, block->content, count, true, named, &fits, out));
    if (!fits)
        TN_TRY(corrupt(cx, file, at, "its entries do not add up"));
done:
    return rc;
}

/* The entries of one block below the root, added to `out`. */
static int read_below(tarn_cx *cx, tn_hfile *file, uint64_t at, tn_str content, places *out)
{
    tn_cursor in = tn_cursor_of(content.ptr, content.len), starts;
    uint64_t count = tn_cursor_u32be(&in);
    uint32_t from, to;
    tn_str bytes;
    int rc = TARN_OK;

    if (in.failed || count > tn_cursor_left(&in) / (4 + ENTRY_LEAST))
        return corrupt(cx, file, at, "it counts more entries than it has");
    starts = in;
    (void)tn_cursor_take(&in, (size_t)(count + 1) * 4);
    bytes = tn_cursor_take(&in, tn_cursor_left(&in));
    from = tn_cursor_u32be(&starts);
    for (uint64_t i = 0; i < count; i++, from = to) {
        tn_hfile_place place;
        tn_cursor entry;

        to = tn_cursor_u32be(&starts);
        if (starts.failed || in.failed || to < from || to > bytes.len)
            TN_TRY(corrupt(cx, file, at, "an entry lies outside of it"));
        entry = tn_cursor_of(bytes.ptr + from, to - from);
        place.offset = tn_cursor_u64be(&entry);
        place.bytes = tn_cursor_u32be(&entry);
        place.key = tn_cursor_take(&entry, tn_cursor_left(&entry));
        if (entry.failed)
            TN_TRY(corrupt(cx, file, at, "an entry is too short"));
        TN_TRY(add(cx, file, out, &place));
    }
done:
    return rc;
}

/* Replaces index blocks by what they hold. */
static int load_level(tarn_cx *cx, tn_hfile *file, const char *magic, tn_hfile_block *block,
                      places *level)
{
    places below = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < level->count; i++) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(tn_hfile_block_read(cx, file, level->at[i].offset, file->trailer_at,
                                   level->at[i].bytes, magic, block));
        TN_TRY(read_below(cx, file, level->at[i].offset, block->content, &below));
    }
    free(level->at);
    *level = below;
    below = (places){0};
done:
    free(below.at);
    return rc;
}

/* Keys become rows (I2). */
static int check_places(tarn_cx *cx, tn_hfile *file, places *list)
{
    for (size_t i = 0; i < list->count; i++) {
        tn_hfile_place *place = &list->at[i];

        if (!tn_hfile_index_row(place->key, &place->key))
            return corrupt(cx, file, file->load_at, "a key without a row");
        if (place->offset > file->trailer_at ||
            (i != 0 &&
             (place->offset <= place[-1].offset || tn_str_compare(place->key, place[-1].key) < 0)))
            return corrupt(cx, file, file->load_at, "its blocks are not in order");
    }
    return TARN_OK;
}

static int keep(tarn_cx *cx, tn_hfile *file, const places *list, tn_hfile_place **out,
                size_t *count)
{
    tn_hfile_place *kept = tn_arena_array(cx, &file->arena, list->count + 1, sizeof *kept);

    if (kept == NULL)
        return TARN_E_NOMEM;
    if (list->count != 0)
        memcpy(kept, list->at, list->count * sizeof *kept);
    *out = kept;
    *count = list->count;
    return TARN_OK;
}

int tn_hfile_index_load(tarn_cx *cx, tn_hfile *file)
{
    tn_hfile_block block = {0};
    places data = {0}, meta = {0};
    uint64_t meta_at;
    int rc = TARN_OK;

    assert(file->places == NULL);
    TN_TRY(load_root(cx, file, file->load_at, file->index_count, false, &block, &data));
    meta_at = block.next;
    TN_TRY(load_root(cx, file, meta_at, file->meta_count, true, &block, &meta));
    for (uint64_t level = 2; level <= file->levels && data.count != 0; level++)
        TN_TRY(
            load_level(cx, file, level == file->levels ? "IDXLEAF2" : "IDXINTE2", &block, &data));
    TN_TRY(check_places(cx, file, &data));
    TN_TRY(keep(cx, file, &data, &file->places, &file->place_count));
    TN_TRY(keep(cx, file, &meta, &file->metas, &file->meta_places));
done:
    free(data.at);
    free(meta.at);
    tn_hfile_block_clear(&block);
    return rc;
}
