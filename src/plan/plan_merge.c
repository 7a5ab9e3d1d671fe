/* Plans a merge: per partition, groups of fragments, counts of files, cuts, tasks.
 * I1: nothing is planned whose file count would not drop.
 * I2: the plan depends on names, sizes, rows, schemas and options; times matter only for "quiet"
 *     and "busy", and to know a file again.
 * I3: changes of stale side files alone come first; then partitions, worst first: by how many files
 * go, then by path. */
#include "plan/plan_merge.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/merge_parts.h"

#define TN_TARGET_BYTES    (128ull << 20)
#define TN_GROUP_BYTES     (32ull << 20)
#define TN_GROUP_ROWS      1048576
#define TN_NOTED_FILES_MAX 20 /* problems named one by one in a partition */

int tn_merge_note_add(tarn_cx *cx, tn_merge_planning *p, enum tn_merge_note_kind kind, tn_str path,
                      const char *format, ...)
{
    char text[TN_ERROR_TEXT_MAX];
    tn_str kept = {text, 0};
    va_list args;
    int n, rc = TARN_OK;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kept.len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    TN_TRY(tn_arena_keep(cx, p->arena, &kept));
    TN_TRY(tn_arena_grow(cx, p->arena, &p->plan->notes, p->plan->note_count, &p->note_cap,
                         sizeof *p->plan->notes));
    p->plan->notes[p->plan->note_count++] = (tn_merge_note){kind, path, kept};
done:
    return rc;
}

uint64_t tn_plan_merge_small(const tn_merge_options *options)
{
    uint64_t target = options->target_bytes != 0 ? options->target_bytes : TN_TARGET_BYTES;

    return options->small_bytes != 0 ? options->small_bytes : target / 4 * 3 + target % 4 * 3 / 4;
}

static const char *state_text(enum tn_file_state state)
{
    switch (state) {
    case TN_FILE_ENCRYPTED:
        return "encrypted";
    case TN_FILE_BUCKETED:
        return "Spark's bucketed";
    case TN_FILE_SYMLINK:
        return "linked (symbolic links)";
    default:
        return "";
    }
}

/* Files that no merge touches, by kind, and damaged ones by name. */
static int note_files(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition)
{
    size_t counts[TN_FILE_SYMLINK + 1] = {0}, firsts[TN_FILE_SYMLINK + 1] = {0}, unknown = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < partition->file_count; i++) {
        const tn_dir_file *file = &partition->files[i];

        if (counts[file->state]++ == 0)
            firsts[file->state] = i;
        if (file->state == TN_FILE_DAMAGED && counts[file->state] <= TN_NOTED_FILES_MAX)
            TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_PROBLEM, partition->path,
                                     "%.*s stays as it is: %.*s", TN_STR_ARG(file->name),
                                     TN_STR_ARG(file->problem)));
        unknown += file->state == TN_FILE_GOOD && (file->codecs & 1u << TN_CODEC_LZO) != 0;
    }
    if (counts[TN_FILE_DAMAGED] > TN_NOTED_FILES_MAX)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_PROBLEM, partition->path,
                                 "%zu more files cannot be read; tarn doctor names them",
                                 counts[TN_FILE_DAMAGED] - TN_NOTED_FILES_MAX));
    for (int state = TN_FILE_ENCRYPTED; state <= TN_FILE_SYMLINK; state++)
        if (counts[state] != 0)
            TN_TRY(tn_merge_note_add(
                cx, p, TN_NOTE_KEPT, partition->path, "%zu %s file%s stay%s as %s: %.*s%s",
                counts[state], state_text((enum tn_file_state)state), counts[state] == 1 ? "" : "s",
                counts[state] == 1 ? "s" : "", counts[state] == 1 ? "it is" : "they are",
                TN_STR_ARG(partition->files[firsts[state]].name), counts[state] == 1 ? "" : ", …"));
    if (unknown != 0)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_KEPT, partition->path,
                                 "%zu files compressed with LZO stay as they are", unknown));
done:
    return rc;
}

static int64_t newest_ms(const tn_dir_partition *partition)
{
    int64_t newest = partition->stat.mtime_ns;

    for (size_t i = 0; i < partition->file_count; i++)
        if (partition->files[i].stat.mtime_ns > newest)
            newest = partition->files[i].stat.mtime_ns;
    return newest / 1000000;
}

/* Of an age that a clock running ahead makes negative. */
static int64_t seconds(int64_t age_ms)
{
    return (age_ms < 0 ? -age_ms : age_ms) / 1000;
}

static const char *when(int64_t age_ms)
{
    return age_ms < 0 ? "in the future (a wrong clock?)" : "ago";
}

/* Why a partition with work to do is not worked on now; *skip says so. */
static int look_around(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                       bool *skip)
{
    int64_t quiet = p->options->now_ms - newest_ms(partition);
    int rc = TARN_OK;

    *skip = true;
    if (partition->symlinked)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_KEPT, partition->path,
                                 "reached through a symbolic link: read, never merged; merge the "
                                 "directory it leads to"));
    else if (partition->busy.len != 0)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_SKIPPED, partition->path,
                                 "%.*s was touched %" PRId64
                                 " s %s: a writer may be at work; merge again when it is "
                                 "done, or remove what it left",
                                 TN_STR_ARG(partition->busy), seconds(partition->busy_age_ms),
                                 when(partition->busy_age_ms)));
    else if (p->options->quiet_ms > 0 && quiet < p->options->quiet_ms)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_SKIPPED, partition->path,
                                 "changed %" PRId64 " s %s, within --quiet-for; merge again later",
                                 seconds(quiet), when(quiet)));
    else
        *skip = false;
done:
    return rc;
}

static int note_apart(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                      const tn_merge_group *groups, size_t count)
{
    int rc = TARN_OK;

    for (size_t g = 1; g < count; g++)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_APART, partition->path,
                                 "%zu file%s from %.*s on stay%s apart: %.*s", groups[g].file_count,
                                 groups[g].file_count == 1 ? "" : "s",
                                 TN_STR_ARG(groups[g].files[0]->name),
                                 groups[g].file_count == 1 ? "s" : "", TN_STR_ARG(groups[g].why)));
done:
    return rc;
}

static bool describes(const tn_dir_other *other)
{
    return other->stat.kind == TN_ENTRY_FILE &&
           (tn_str_is(other->name, "_metadata") || tn_str_is(other->name, "_common_metadata"));
}

/* Side files that describe what will be gone. */
static int add_stale(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                     tn_merge_partition *out)
{
    int rc = TARN_OK;

    out->stale = tn_arena_array(cx, p->arena, out->input_count + 2, sizeof *out->stale);
    if (out->stale == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < partition->other_count; i++) {
        const tn_dir_other *other = &partition->others[i];

        if (other->stat.kind == TN_ENTRY_FILE &&
            (tn_str_is(other->name, "_metadata") || tn_str_is(other->name, "_common_metadata")))
            out->stale[out->stale_count++] = other->name;
    }
    for (size_t i = 0, f = 0; i < out->input_count; i++) {
        /* Inputs come in groups, each in name order: look on from the last one, else anew. */
        size_t from = f;

        while (!tn_str_equal(partition->files[f].name, out->inputs[i].path)) {
            f = f + 1 < partition->file_count ? f + 1 : 0;
            assert(f != from);
        }
        if (partition->files[f].has_crc_file)
            TN_TRY(tn_arena_print(cx, p->arena, &out->stale[out->stale_count++], ".%.*s.crc",
                                  TN_STR_ARG(out->inputs[i].path)));
    }
done:
    return rc;
}

/* In a sticky directory the files of others can neither be renamed nor removed: better to learn
 * that before the swap than to be left with an old directory that cannot be emptied. */
#define MODE_STICKY 01000

static void choose_swap(const tn_merge_planning *p, const tn_dir_partition *partition,
                        tn_merge_partition *out)
{
    bool root = partition->path.len == 0;

    out->swap = TN_SWAP_EXCHANGE;
    if (!p->dir->exchange || partition->has_subdirs || partition->mount_point ||
        partition->parent_unwritable || (root && p->dir->work_inside) ||
        (partition->stat.mode & MODE_STICKY) != 0 || partition->stat.mount != p->dir->mount)
        out->swap = TN_SWAP_JOURNAL;
}

static bool lies_below(tn_str path, tn_str above)
{
    return above.len == 0 ||
           (path.len > above.len && tn_str_starts(path, above) && path.ptr[above.len] == '/');
}

/* Does the directory describe one that is planned below it, without being planned itself? */
static bool above_planned(const tn_merge_plan *plan, const tn_dir_partition *partition)
{
    bool below = false;

    for (size_t i = 0; i < plan->partition_count; i++) {
        if (tn_str_equal(plan->partitions[i].path, partition->path))
            return false;
        below |= lies_below(plan->partitions[i].path, partition->path);
    }
    return below;
}

/* Side files above the partitions go first, in changes of their own without inputs or outputs:
 * readers that trust them must not look for files that are gone. */
static int add_stale_above(tarn_cx *cx, tn_merge_planning *p)
{
    tn_merge_plan *plan = p->plan;
    tn_merge_partition *all;
    size_t n = 0;
    int rc = TARN_OK;

    all =
        tn_arena_array(cx, p->arena, p->dir->partition_count + plan->partition_count, sizeof *all);
    if (all == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < p->dir->partition_count; i++) {
        const tn_dir_partition *partition = &p->dir->partitions[i];
        size_t k = 0;

        while (k < partition->other_count && !describes(&partition->others[k]))
            k++;
        if (k == partition->other_count || partition->symlinked || !above_planned(plan, partition))
            continue;
        all[n] = (tn_merge_partition){.path = partition->path,
                                      .directory = partition->directory,
                                      .swap = TN_SWAP_JOURNAL,
                                      .mount = partition->stat.mount,
                                      .inode = partition->stat.inode,
                                      .mtime_ns = partition->stat.mtime_ns};
        TN_TRY(add_stale(cx, p, partition, &all[n++]));
    }
    if (n == 0)
        goto done;
    memcpy(all + n, plan->partitions, plan->partition_count * sizeof *all);
    plan->partitions = all;
    plan->partition_count += n;
done:
    return rc;
}

static int plan_partition(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition)
{
    tn_merge_partition out = {.path = partition->path, .directory = partition->directory};
    tn_merge_group *groups;
    size_t count, outputs = 0;
    bool skip;
    int rc = TARN_OK;

    if (partition->problem.len != 0)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_PROBLEM, partition->path, "cannot be listed: %.*s",
                                 TN_STR_ARG(partition->problem)));
    TN_TRY(note_files(cx, p, partition));
    TN_TRY(tn_merge_group_files(cx, p, partition, &groups, &count));
    if (p->options->hive)
        TN_TRY(tn_merge_hive_outputs(cx, p, partition, groups, count));
    else
        TN_TRY(tn_merge_count_outputs(cx, p, groups, count));
    for (size_t g = 0; g < count; g++)
        outputs += groups[g].outputs;
    TN_TRY(note_apart(cx, p, partition, groups, count));
    if (outputs == 0)
        goto done;
    TN_TRY(look_around(cx, p, partition, &skip));
    if (skip)
        goto done;
    out.mount = partition->stat.mount;
    out.inode = partition->stat.inode;
    out.mtime_ns = partition->stat.mtime_ns;
    choose_swap(p, partition, &out);
    for (size_t g = 0; g < count; g++)
        if (groups[g].outputs != 0)
            TN_TRY(tn_merge_add_tasks(cx, p, partition, &groups[g], &out));
    TN_TRY(add_stale(cx, p, partition, &out));
    TN_TRY(tn_arena_grow(cx, p->arena, &p->plan->partitions, p->plan->partition_count,
                         &p->partition_cap, sizeof out));
    p->plan->partitions[p->plan->partition_count++] = out;
done:
    return rc;
}

static int worst_first(const void *a, const void *b)
{
    const tn_merge_partition *x = a, *y = b;
    size_t gone_x = x->input_count - x->output_count, gone_y = y->input_count - y->output_count;

    if (gone_x != gone_y)
        return gone_x > gone_y ? -1 : 1;
    return tn_str_compare(x->path, y->path);
}

/* Keeps, worst first, what fits into bytes_max. */
static int apply_limit(tarn_cx *cx, tn_merge_planning *p)
{
    tn_merge_plan *plan = p->plan;
    uint64_t left = p->options->bytes_max;
    size_t kept = 0;
    int rc = TARN_OK;

    if (left == 0)
        return TARN_OK;
    for (size_t i = 0; i < plan->partition_count; i++) {
        if (plan->partitions[i].bytes <= left) {
            left -= plan->partitions[i].bytes;
            plan->partitions[kept++] = plan->partitions[i];
            continue;
        }
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_SKIPPED, plan->partitions[i].path,
                                 "its %" PRIu64 " bytes are more than --max-bytes leaves (%" PRIu64
                                 "); merge again to go on",
                                 plan->partitions[i].bytes, left));
    }
    plan->partition_count = kept;
done:
    return rc;
}

/* Tasks in the order of the partitions, numbered anew, and where each of them stages. */
static int place(tarn_cx *cx, tn_merge_planning *p)
{
    tn_merge_plan *plan = p->plan;
    tn_task *tasks = tn_arena_array(cx, p->arena, plan->task_count, sizeof *tasks);
    size_t n = 0;
    int rc = TARN_OK;

    if (tasks == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < plan->partition_count; i++) {
        tn_merge_partition *partition = &plan->partitions[i];
        bool other_mount = partition->mount != p->dir->mount;

        partition->staging_inside = p->dir->work_inside || other_mount;
        TN_TRY(tn_arena_print(cx, p->arena, &partition->staging, "%.*s%s/%.*s/p%05zu",
                              TN_STR_ARG(other_mount ? partition->directory : p->dir->work),
                              other_mount ? "/.tarn" : "", TN_STR_ARG(plan->id), i));
        for (size_t k = 0; k < partition->output_count; k++) {
            tn_merge_output *output = &partition->outputs[k];

            tasks[n] = plan->tasks[output->task];
            tasks[n].number = (uint32_t)n;
            output->task = (uint32_t)n;
            TN_TRY(tn_arena_print(cx, p->arena, &output->staged, "%.*s/%05zu.new",
                                  TN_STR_ARG(partition->staging), k));
            tasks[n++].rewrite.output = output->staged;
        }
    }
    plan->tasks = tasks;
    plan->task_count = n;
done:
    return rc;
}

static void count_seen(tn_merge_planning *p)
{
    for (size_t i = 0; i < p->dir->partition_count; i++) {
        const tn_dir_partition *partition = &p->dir->partitions[i];

        p->plan->partitions_seen += partition->file_count != 0;
        for (size_t f = 0; f < partition->file_count; f++) {
            p->plan->files_seen++;
            p->plan->bytes_seen += partition->files[f].stat.size_bytes;
        }
    }
}

int tn_plan_merge(tarn_cx *cx, const tn_dir *dir, const tn_merge_options *options, tn_arena *arena,
                  tn_merge_plan *out)
{
    tn_merge_plan plan = {
        .id = options->id, .root = dir->root, .work = dir->work, .made_ms = options->now_ms};
    tn_merge_planning p = {.dir = dir, .options = options, .arena = arena, .plan = &plan};
    int rc = TARN_OK;

    assert(options->id.len > 0);
    assert(out != NULL);
    TN_TRY(tn_merge_check_sort(cx, dir, options));
    p.target = options->target_bytes != 0 ? options->target_bytes : TN_TARGET_BYTES;
    if (options->hive)
        p.target = (uint64_t)tn_hive_rule_target(&options->hive_rule);
    p.small = tn_plan_merge_small(options);
    p.min_files = options->min_files != 0 ? options->min_files : 2;
    p.group_bytes = options->group_bytes != 0 ? options->group_bytes : TN_GROUP_BYTES;
    p.group_rows = options->group_rows != 0 ? options->group_rows : TN_GROUP_ROWS;
    plan.options =
        (tn_merge_options_wire){options->keep_old_ms, options->verify_content, options->times_now};
    count_seen(&p);
    if (options->hive)
        TN_TRY(tn_merge_hive_decide(cx, &p));
    for (size_t i = 0; i < dir->partition_count; i++)
        TN_TRY(plan_partition(cx, &p, &dir->partitions[i]));
    if (plan.partition_count != 0)
        qsort(plan.partitions, plan.partition_count, sizeof *plan.partitions, worst_first);
    TN_TRY(apply_limit(cx, &p));
    TN_TRY(add_stale_above(cx, &p));
    TN_TRY(place(cx, &p));
    *out = plan;
done:
    return rc;
}
