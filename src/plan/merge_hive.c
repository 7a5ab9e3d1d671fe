/* Sizing by Hive's rule: which directories are merged, and which rows go into which file.
 * I1: a directory is merged when Hive would (plan/hive_rule.h), and the number of files drops.
 * I2: the files of a group become what Hive's merge job makes: one for each combined split, with
 *     maximum and minima alike, of its files on one host. A row group goes with the byte in its
 *     middle, as parquet-java has it; rows keep their order.
 * I3: a file of the target or more that would become a file by itself stays as it is.
 * I4: a second run finds nothing to do: what a merge wrote for such a target, and files of the
 *     target or more, are no reason to merge (Hive has no such memory, and may go on for ever). */
#include <assert.h>
#include <inttypes.h>

#include "plan/merge_parts.h"
#include "plan/plan_split.h"

/* ---- the decision */

/* Levels of a path that are partitions: "dt=1/hour=2/x" has two. */
static size_t levels_of(tn_str path)
{
    size_t levels = 0;

    while (path.len != 0) {
        size_t end = tn_str_find(path, '/'), equals = tn_str_find((tn_str){path.ptr, end}, '=');

        if (equals == 0 || equals == end)
            break;
        levels++;
        path = tn_str_from(path, end + 1);
    }
    return levels;
}

/* The leaf of a directory: its levels that are partitions. */
static tn_str leaf_of(tn_str path)
{
    size_t levels = levels_of(path), end = 0;

    for (size_t i = 0; i < levels; i++)
        end += tn_str_find(tn_str_from(path, end), '/') + (i + 1 < levels);
    return (tn_str){path.ptr, end};
}

static void count(const tn_dir_partition *partition, uint64_t *files, uint64_t *bytes)
{
    *files = partition->hidden_files;
    *bytes = partition->hidden_bytes;
    for (size_t i = 0; i < partition->file_count; i++) {
        *files += 1;
        *bytes += partition->files[i].stat.size_bytes;
    }
    for (size_t i = 0; i < partition->other_count; i++)
        if (partition->others[i].stat.kind == TN_ENTRY_FILE) {
            *files += 1;
            *bytes += partition->others[i].stat.size_bytes;
        }
}

int tn_merge_hive_decide(tarn_cx *cx, tn_merge_planning *p)
{
    const tn_hive_rule *rule = &p->options->hive_rule;
    size_t partitions = p->dir->partition_count;
    size_t *leaf = tn_arena_array(cx, p->arena, partitions, sizeof *leaf);
    tn_hive_leaves leaves = {0};
    bool *merges = tn_arena_array(cx, p->arena, partitions, sizeof *merges);
    int rc = TARN_OK;

    TN_TRY(leaf != NULL && merges != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < partitions; i++) {
        const tn_dir_partition *partition = &p->dir->partitions[i];
        uint64_t files, bytes;

        count(partition, &files, &bytes);
        TN_TRY(tn_hive_leaf_add(cx, p->arena, &leaves, leaf_of(partition->path), files, bytes,
                                &leaf[i]));
        leaves.leaves[leaf[i]].unlisted |= partition->problem.len != 0 || partition->hidden_unknown;
    }
    (void)tn_hive_rule_decide(rule, &leaves);
    for (size_t i = 0; i < partitions; i++)
        merges[i] = leaves.leaves[leaf[i]].merge;
    p->hive_merges = merges;
done:
    tn_hive_leaves_clear(&leaves);
    return rc;
}

/* ---- the cuts */

/* The byte that says which split a row group goes with. */
static int64_t middle(const tn_dir_file *file, uint32_t group)
{
    const tn_dir_group *g = &file->groups[group];
    int64_t size = (int64_t)file->stat.size_bytes, at = g->first_byte,
            half = g->compressed_bytes / 2;

    if (at < 0 || at >= size || half < 0 || half >= size - at)
        return at < 0 || at >= size ? size - 1 : at;
    return at + half;
}

static tn_merge_piece piece_of(const tn_dir_file *file, uint32_t number, uint32_t group)
{
    tn_merge_piece piece = {.file = number, .group = group, .rows = file->groups[group].rows};

    piece.bytes = (uint64_t)((unsigned __int128)file->stat.size_bytes * (uint64_t)piece.rows /
                             (uint64_t)(file->rows > 0 ? file->rows : 1));
    return piece;
}

/* Files of the group as they are split: on one host, a block each. */
static int split(tarn_cx *cx, const tn_merge_planning *p, const tn_merge_group *group,
                 tarn_split_plan *out)
{
    static const tn_str here[] = {{"localhost", 9}};
    tn_split_size size = {true, (int64_t)p->target};
    tn_split_input input = {.api = TARN_SPLIT_HIVE_SHIM,
                            .config = {size, size, size, size, 0, false},
                            .file_count = group->file_count,
                            .scheme = TN_STR("")};
    tn_split_block *blocks = tn_arena_array(cx, p->arena, group->file_count, sizeof *blocks);
    int rc = TARN_OK;

    input.files = tn_arena_array(cx, p->arena, group->file_count, sizeof *input.files);
    TN_TRY(blocks != NULL && input.files != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t f = 0; f < group->file_count; f++) {
        int64_t len = (int64_t)group->files[f]->stat.size_bytes;

        blocks[f] = (tn_split_block){.len = len, .hosts = here, .host_count = 1};
        input.files[f] = (tn_split_file){.path = group->files[f]->name,
                                         .len = len,
                                         .splittable = true,
                                         .blocks = &blocks[f],
                                         .block_count = 1};
    }
    TN_TRY(tn_plan_split(cx, &input, p->arena, out));
done:
    return rc;
}

/* The row groups of a file, handed out in order. */
typedef struct reader {
    const tn_merge_group *group;
    size_t file;
    uint32_t at; /* row group of it */
} reader;

/* Row groups that go with a chunk, up to the one whose middle lies behind it. */
static void take_chunk(reader *r, const tarn_split_chunk *chunk, tn_merge_share *share)
{
    const tn_dir_file *file = r->group->files[r->file];

    /* Names of a directory are different; chunks come in the order of files. */
    while (file->name.ptr != chunk->path) {
        file = r->group->files[++r->file];
        assert(r->file < r->group->file_count);
        r->at = 0;
    }
    for (; r->at < file->group_count && middle(file, r->at) < chunk->offset + chunk->len; r->at++) {
        tn_merge_piece piece = piece_of(file, (uint32_t)r->file, r->at);

        if (piece.rows == 0)
            continue;
        assert(share->piece_count < share->piece_cap);
        share->pieces[share->piece_count++] = piece;
        share->bytes += piece.bytes;
        share->rows += piece.rows;
    }
}

static size_t groups_of(const tarn_split_part *part, const reader *from)
{
    size_t file = from->file, groups = 0;
    const char *last = NULL;

    for (size_t i = 0; i < part->chunk_count; i++) {
        if (part->chunks[i].path == last)
            continue;
        last = part->chunks[i].path;
        while (from->group->files[file]->name.ptr != last)
            file++;
        groups += from->group->files[file]->group_count;
    }
    return groups;
}

static int take_split(tarn_cx *cx, const tn_merge_planning *p, reader *r,
                      const tarn_split_part *part, tn_merge_share *share)
{
    share->piece_cap = groups_of(part, r);
    share->pieces = tn_arena_array(cx, p->arena, share->piece_cap, sizeof *share->pieces);
    if (share->pieces == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < part->chunk_count; i++)
        take_chunk(r, &part->chunks[i], share);
    return TARN_OK;
}

/* ---- what stays */

/* The file that a share is all of, if it is as large as files are to be; NULL: none. */
static const tn_dir_file *whole_file(const tn_merge_planning *p, const tn_merge_group *group,
                                     const tn_merge_share *share)
{
    const tn_dir_file *file = group->files[share->pieces[0].file];

    if (share->pieces[0].file != share->pieces[share->piece_count - 1].file ||
        share->rows != file->rows || file->stat.size_bytes < p->target)
        return NULL;
    return file;
}

/* Takes the files that stay out of the group, and their shares. */
static int leave_whole(tarn_cx *cx, const tn_merge_planning *p, tn_merge_group *group)
{
    uint32_t *place = tn_arena_array(cx, p->arena, group->file_count, sizeof *place);
    bool *stays = tn_arena_array(cx, p->arena, group->file_count, sizeof *stays);
    size_t shares = 0, files = 0;

    if (place == NULL || stays == NULL)
        return TARN_E_NOMEM;
    for (size_t s = 0; s < group->outputs; s++) {
        if (whole_file(p, group, &group->shares[s]) != NULL)
            stays[group->shares[s].pieces[0].file] = true;
        else
            group->shares[shares++] = group->shares[s];
    }
    for (size_t f = 0; f < group->file_count; f++) {
        place[f] = (uint32_t)files;
        if (stays[f])
            group->bytes -= group->files[f]->stat.size_bytes;
        else
            group->files[files++] = group->files[f];
    }
    for (size_t s = 0; s < shares; s++)
        for (size_t i = 0; i < group->shares[s].piece_count; i++)
            group->shares[s].pieces[i].file = place[group->shares[s].pieces[i].file];
    group->outputs = shares;
    group->file_count = files;
    return TARN_OK;
}

static int size_group(tarn_cx *cx, const tn_merge_planning *p, tn_merge_group *group)
{
    tarn_split_plan plan;
    reader r = {.group = group};
    size_t n = 0;
    int rc = TARN_OK;

    group->outputs = 0;
    if (!group->fresh || group->file_count < 2)
        goto done;
    TN_TRY(split(cx, p, group, &plan));
    group->shares = tn_arena_array(cx, p->arena, plan.split_count + 1, sizeof *group->shares);
    TN_TRY(group->shares != NULL ? TARN_OK : TARN_E_NOMEM);
    for (size_t i = 0; i < plan.split_count; i++) {
        TN_TRY(take_split(cx, p, &r, &plan.splits[i], &group->shares[n]));
        if (group->shares[n].piece_count != 0)
            n++;
        else
            group->shares[n] = (tn_merge_share){0};
    }
    /* Files without rows become one without rows: their columns are not lost. */
    group->outputs = n != 0 ? n : 1;
    if (n != 0)
        TN_TRY(leave_whole(cx, p, group));
    if (group->outputs >= group->file_count)
        group->outputs = 0;
done:
    return rc;
}

/* ---- the report */

/* What Hive counts and tarn leaves alone. */
static int note_counted(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                        const tn_merge_group *groups, size_t group_count)
{
    uint64_t files, bytes, merged = 0, merged_bytes = 0;
    int rc = TARN_OK;

    count(partition, &files, &bytes);
    for (size_t g = 0; g < group_count; g++) {
        merged += groups[g].file_count;
        merged_bytes += groups[g].bytes;
    }
    if (files > merged)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_KEPT, partition->path,
                                 "Hive counts %" PRIu64 " file%s of %" PRIu64
                                 " bytes more, hidden or no Parquet that can be merged: they count "
                                 "for its average, and stay as they are",
                                 files - merged, files - merged == 1 ? "" : "s",
                                 bytes - merged_bytes));
done:
    return rc;
}

/* Hive would write these again, and perhaps the next time. */
static int note_idle(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                     size_t files, const tn_merge_group *groups, size_t group_count)
{
    size_t outputs = 0;
    int rc = TARN_OK;

    for (size_t g = 0; g < group_count; g++)
        outputs += groups[g].outputs;
    if (outputs == 0 && files > 1)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_KEPT, partition->path,
                                 "Hive would write its %zu files again: they stay as they are, "
                                 "since there would not be fewer, or a merge made them",
                                 files));
done:
    return rc;
}

int tn_merge_hive_outputs(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                          tn_merge_group *groups, size_t group_count)
{
    size_t files = 0;
    int rc = TARN_OK;

    for (size_t g = 0; g < group_count; g++) {
        groups[g].outputs = 0;
        files += groups[g].file_count;
    }
    if (!p->hive_merges[partition - p->dir->partitions] || files < 2)
        goto done;
    TN_TRY(note_counted(cx, p, partition, groups, group_count));
    for (size_t g = 0; g < group_count; g++)
        TN_TRY(size_group(cx, p, &groups[g]));
    TN_TRY(note_idle(cx, p, partition, files, groups, group_count));
done:
    return rc;
}
