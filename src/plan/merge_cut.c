/* Cuts rows in order into equal shares of bytes.
 * I1: every row is in exactly one share, in its order.
 * I2: a cut goes to the end of a file (of a piece) where that is near, so that few are read twice.
 */
#include <assert.h>

#include "plan/merge_parts.h"

/* A cut may move by this part of a share to fall between two pieces. */
#define TN_CUT_SLACK_PARTS 20

typedef struct cutter {
    tn_arena *arena;
    const tn_merge_piece *in;
    size_t count;
    size_t at;    /* the piece at work */
    int64_t used; /* rows of it that are gone */
} cutter;

static uint64_t part_of(const tn_merge_piece *piece, int64_t rows)
{
    return piece->rows != 0 ? (uint64_t)((unsigned __int128)piece->bytes * (uint64_t)rows /
                                         (uint64_t)piece->rows)
                            : 0;
}

/* Rows of the rest of a piece that fit `bytes`, at least one. */
static int64_t rows_within(const tn_merge_piece *piece, int64_t left, uint64_t bytes)
{
    int64_t rows;

    if (piece->bytes == 0)
        return left;
    rows = (int64_t)((unsigned __int128)(uint64_t)piece->rows * bytes / piece->bytes);
    if (rows < 1)
        rows = 1;
    return rows < left ? rows : left;
}

static void give(tn_merge_share *share, const tn_merge_piece *piece, int64_t first, int64_t rows)
{
    tn_merge_piece *out = &share->pieces[share->piece_count++];

    assert(share->piece_count <= share->piece_cap);
    *out = *piece;
    out->first_row += first;
    out->rows = rows;
    out->bytes = part_of(piece, rows);
    share->bytes += out->bytes;
    share->rows += rows;
}

/* Fills one share up to the limits; the last share takes all that is left. */
static int fill(tarn_cx *cx, cutter *c, uint64_t bytes, int64_t rows_max, bool last,
                tn_merge_share *share)
{
    uint64_t slack = bytes / TN_CUT_SLACK_PARTS;

    share->pieces = tn_arena_array(cx, c->arena, c->count - c->at, sizeof *share->pieces);
    if (share->pieces == NULL)
        return TARN_E_NOMEM;
    share->piece_cap = c->count - c->at;
    while (c->at < c->count) {
        const tn_merge_piece *piece = &c->in[c->at];
        int64_t left = piece->rows - c->used, rows = left;
        uint64_t rest = part_of(piece, left), room;

        if (!last) {
            room = share->bytes < bytes ? bytes - share->bytes : 0;
            if (room <= slack && share->piece_count != 0)
                break;
            if (rest > room + slack)
                rows = rows_within(piece, left, room);
        }
        if (rows > rows_max - share->rows)
            rows = rows_max - share->rows;
        if (rows == 0 && left != 0)
            break;
        give(share, piece, c->used, rows);
        c->used += rows;
        if (c->used < piece->rows) /* the cut falls here; a piece is in a share once */
            break;
        c->at++;
        c->used = 0;
    }
    return TARN_OK;
}

int tn_merge_cut_files(tarn_cx *cx, tn_arena *arena, const tn_merge_group *group, size_t count,
                       tn_merge_share *shares)
{
    size_t pieces = 0, n = 0;
    uint64_t total = 0, gone = 0;
    tn_merge_piece *all;
    cutter c;
    int rc = TARN_OK;

    assert(count > 0);
    for (size_t f = 0; f < group->file_count; f++)
        pieces += group->files[f]->group_count;
    all = tn_arena_array(cx, arena, pieces, sizeof *all);
    if (all == NULL)
        return TARN_E_NOMEM;
    for (size_t f = 0; f < group->file_count; f++) {
        const tn_dir_file *file = group->files[f];

        for (uint32_t g = 0; g < file->group_count; g++) {
            uint64_t rows = (uint64_t)file->groups[g].rows;

            if (rows == 0)
                continue;
            all[n] =
                (tn_merge_piece){.file = (uint32_t)f, .group = g, .rows = file->groups[g].rows};
            all[n].bytes = (uint64_t)((unsigned __int128)file->stat.size_bytes * rows /
                                      (uint64_t)(file->rows > 0 ? file->rows : 1));
            total += all[n++].bytes;
        }
    }
    c = (cutter){.arena = arena, .in = all, .count = n};
    for (size_t s = 0; s < count; s++) {
        uint64_t each = (total - gone) / (count - s);

        TN_TRY(fill(cx, &c, each, INT64_MAX, s + 1 == count, &shares[s]));
        gone += shares[s].bytes < total - gone ? shares[s].bytes : total - gone;
    }
    assert(c.at == n);
done:
    return rc;
}

int tn_merge_cut_groups(tarn_cx *cx, tn_arena *arena, const tn_merge_share *file,
                        uint64_t group_bytes, int64_t group_rows, tn_merge_share **shares,
                        size_t *count)
{
    cutter c = {.arena = arena, .in = file->pieces, .count = file->piece_count};
    uint64_t groups = (file->bytes + group_bytes - 1) / group_bytes, each;
    tn_merge_share *out = NULL;
    size_t n = 0, cap = 0;
    int rc = TARN_OK;

    if (groups < (uint64_t)((file->rows + group_rows - 1) / group_rows))
        groups = (uint64_t)((file->rows + group_rows - 1) / group_rows);
    each = groups != 0 ? (file->bytes + groups - 1) / groups : 0;
    while (c.at < c.count) {
        TN_TRY(tn_merge_grow(cx, arena, &out, n, &cap, sizeof *out));
        out[n] = (tn_merge_share){0};
        TN_TRY(fill(cx, &c, each, group_rows, n + 1 >= groups, &out[n]));
        n++;
    }
    *shares = out;
    *count = n;
done:
    return rc;
}
