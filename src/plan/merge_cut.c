/* Cuts rows in order into equal shares of bytes.
 * I1: every row is in exactly one share, in its order.
 * I2: a cut goes to the end of a row group (of a piece) where that is near, so that few are read
 *     twice, and whole chunks can be joined without decoding them.
 * I3: for that a file differs from an equal share by a twentieth at most, a row group by a quarter,
 *     or it is one of an input, up to twice as large, as it is; no row group has more rows than
 *     allowed. */
#include <assert.h>

#include "plan/merge_parts.h"

/* A cut may move by this part of a share to fall between two pieces. */
#define TN_CUT_FILE_PARTS  20
#define TN_CUT_GROUP_PARTS 4
/* A piece of up to so many row groups' bytes is one of its own; files are shared equally whatever
 * they are made of. */
#define TN_CUT_WHOLE_PARTS 2

typedef struct cutter {
    tn_arena *arena;
    const tn_merge_piece *in;
    size_t count;
    size_t at;    /* the piece at work */
    int64_t used; /* rows of it that are gone */
    uint64_t slack_parts;
    uint64_t whole_bytes; /* no piece up to this size is cut for its bytes; 0: any is */
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

/* Rows of the rest of a piece that a share takes: all, none, or, where no end is near, a part. */
static int64_t take(const cutter *c, const tn_merge_share *share, uint64_t bytes, int64_t rows_max,
                    bool last)
{
    const tn_merge_piece *piece = &c->in[c->at];
    int64_t left = piece->rows - c->used, rows = left, rows_room = rows_max - share->rows;
    uint64_t rest = part_of(piece, left), slack = bytes / c->slack_parts;
    uint64_t room = share->bytes < bytes ? bytes - share->bytes : 0;

    if (rest > room && !last) {
        uint64_t over = rest - room;
        bool whole = c->used == 0 && rest <= c->whole_bytes;

        /* The nearer end of the piece, if it is near enough. */
        if (share->piece_count != 0 && room <= over && room <= (whole ? bytes / 4 * 3 : slack))
            return 0;
        if (over > slack && !whole)
            rows = rows_within(piece, left, room);
    }
    if (rows > rows_room) {
        /* Rows are a hard limit: the cut can only move back, and leaves a smaller share. */
        if (share->piece_count != 0 && part_of(piece, rows_room) <= slack)
            return 0;
        rows = rows_room;
    }
    return rows;
}

/* Fills one share up to the limits; the last share takes all that is left. */
static int fill(tarn_cx *cx, cutter *c, uint64_t bytes, int64_t rows_max, bool last,
                tn_merge_share *share)
{
    share->pieces = tn_arena_array(cx, c->arena, c->count - c->at, sizeof *share->pieces);
    if (share->pieces == NULL)
        return TARN_E_NOMEM;
    share->piece_cap = c->count - c->at;
    while (c->at < c->count) {
        const tn_merge_piece *piece = &c->in[c->at];
        int64_t rows = take(c, share, bytes, rows_max, last);

        if (rows == 0 && piece->rows != c->used)
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
    c = (cutter){
        .arena = arena, .in = all, .count = n, .slack_parts = TN_CUT_FILE_PARTS, .whole_bytes = 0};
    for (size_t s = 0; s < count; s++) {
        uint64_t each = (total - gone) / (count - s);

        TN_TRY(fill(cx, &c, each, INT64_MAX, s + 1 == count, &shares[s]));
        gone += shares[s].bytes < total - gone ? shares[s].bytes : total - gone;
    }
    assert(c.at == n);
done:
    return rc;
}

static uint64_t parts_of(uint64_t whole, uint64_t part)
{
    return whole / part + (whole % part != 0);
}

/* How many row groups both limits ask for, at least one. */
static uint64_t groups_of(uint64_t bytes, uint64_t group_bytes, uint64_t rows, int64_t group_rows)
{
    uint64_t by_bytes = parts_of(bytes, group_bytes),
             by_rows = parts_of(rows, (uint64_t)group_rows);
    uint64_t groups = by_bytes > by_rows ? by_bytes : by_rows;

    return groups != 0 ? groups : 1;
}

/* Cuts into `groups` shares; into more where rows forbid that, into fewer where large pieces leave
 * less to share, unless they are to be `equal`. */
static int cut_groups(tarn_cx *cx, tn_arena *arena, const tn_merge_share *file,
                      uint64_t group_bytes, int64_t group_rows, uint64_t groups, bool equal,
                      tn_merge_share **shares, size_t *count)
{
    cutter c = {.arena = arena,
                .in = file->pieces,
                .count = file->piece_count,
                .slack_parts = TN_CUT_GROUP_PARTS,
                .whole_bytes = TN_CUT_WHOLE_PARTS * group_bytes};
    tn_merge_share *out = NULL;
    uint64_t bytes = file->bytes, rows = (uint64_t)file->rows;
    size_t n = 0, cap = 0;
    int rc = TARN_OK;

    while (c.at < c.count) {
        uint64_t left = groups > n ? groups - n : 1;
        uint64_t need = groups_of(bytes, group_bytes, rows, group_rows);

        left = need < left && !equal ? need : left;
        TN_TRY(tn_arena_grow(cx, arena, &out, n, &cap, sizeof *out));
        out[n] = (tn_merge_share){0};
        TN_TRY(fill(cx, &c, parts_of(bytes, left), group_rows, left == 1, &out[n]));
        bytes -= out[n].bytes < bytes ? out[n].bytes : bytes;
        rows -= (uint64_t)out[n++].rows;
    }
    *shares = out;
    *count = n;
done:
    return rc;
}

int tn_merge_cut_groups(tarn_cx *cx, tn_arena *arena, const tn_merge_share *file,
                        uint64_t group_bytes, int64_t group_rows, tn_merge_share **shares,
                        size_t *count)
{
    uint64_t rows = (uint64_t)file->rows;
    uint64_t groups = groups_of(file->bytes, group_bytes, rows, group_rows);
    size_t n;
    int rc = TARN_OK;

    TN_TRY(cut_groups(cx, arena, file, group_bytes, group_rows, groups, false, shares, &n));
    /* Cutting at ends alone took one more within the rows: then all of them share alike. */
    if (n > groups && groups == parts_of(rows, (uint64_t)group_rows))
        TN_TRY(cut_groups(cx, arena, file, group_bytes, group_rows, n, true, shares, &n));
    *count = n;
done:
    return rc;
}
