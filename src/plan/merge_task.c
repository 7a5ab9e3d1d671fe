/* Turns a group and its cuts into tasks.
 * I1: the name of an output follows from what goes into it: the same plan gives the same names.
 * I2: no name is taken, hidden, or read by Spark as that of a bucket. */
#include <assert.h>
#include <inttypes.h>
#include <xxhash.h>

#include "plan/merge_parts.h"

enum { LOOSE, DENSE, DENSEST, STRENGTHS };

static const struct {
    int32_t codec, writes;
    int strength; /* of what it makes */
    const char *infix;
} codecs[] = {{TN_CODEC_NONE, TN_CODEC_NONE, LOOSE, ""},
              {TN_CODEC_SNAPPY, TN_CODEC_SNAPPY, LOOSE, ".snappy"},
              {TN_CODEC_LZ4, TN_CODEC_LZ4_RAW, LOOSE, ".lz4raw"},
              {TN_CODEC_LZ4_RAW, TN_CODEC_LZ4_RAW, LOOSE, ".lz4raw"},
              {TN_CODEC_GZIP, TN_CODEC_GZIP, DENSE, ".gz"},
              {TN_CODEC_ZSTD, TN_CODEC_ZSTD, DENSE, ".zstd"},
              {TN_CODEC_BROTLI, TN_CODEC_BROTLI, DENSEST, ".br"}};

#define CODEC_COUNT (sizeof codecs / sizeof codecs[0])

/* An output may outgrow its inputs by a fiftieth; what a denser codec made of so few bytes may be
 * packed less densely. */
#define WEAKER_SHARE 50

static size_t find_codec(int32_t codec)
{
    size_t c = 0;

    while (c < CODEC_COUNT && codecs[c].codec != codec)
        c++;
    return c;
}

/* The codec of most of a file's chunks is not known here: its densest counts. */
static size_t codec_of_file(const tn_dir_file *file)
{
    size_t c = CODEC_COUNT;

    while (c > 0 && !(file->codecs & 1u << codecs[c - 1].codec))
        c--;
    return c > 0 ? c - 1 : CODEC_COUNT;
}

/* That of most bytes of the inputs among the densest codecs that have more than a few of them: one
 * less dense would make more of the bytes than they were. Values stay without compression when no
 * input has any; the deprecated LZ4 becomes LZ4_RAW. */
static size_t choose_codec(const tn_merge_planning *p, const tn_merge_group *group)
{
    uint64_t bytes[CODEC_COUNT + 1] = {0}, strong[STRENGTHS] = {0}, all = 0;
    size_t best = 0;
    int strength = DENSEST;

    if (p->options->codec != TN_CODEC_KEEP && find_codec(p->options->codec) < CODEC_COUNT)
        return find_codec(p->options->codec);
    for (size_t f = 0; f < group->file_count; f++)
        bytes[codec_of_file(group->files[f])] += group->files[f]->stat.size_bytes;
    for (size_t c = 0; c < CODEC_COUNT; c++) {
        strong[codecs[c].strength] += bytes[c];
        all += bytes[c];
    }
    if (all == 0)
        return find_codec(TN_CODEC_ZSTD);
    for (uint64_t sum = strong[strength]; strength > LOOSE && sum <= all / WEAKER_SHARE;)
        sum += strong[--strength];
    for (size_t c = 0; c < CODEC_COUNT; c++)
        if (codecs[c].strength == strength && codecs[c].codec != TN_CODEC_NONE &&
            bytes[c] > (best == 0 ? 0 : bytes[best]))
            best = c;
    return best;
}

/* What is made of what, as a number: names and sizes of the inputs, not their times. */
static uint64_t identity(const tn_merge_planning *p, const tn_dir_partition *partition,
                         const tn_merge_group *group)
{
    uint64_t all = XXH3_64bits_withSeed(partition->path.ptr, partition->path.len, p->target);

    for (size_t f = 0; f < group->file_count; f++) {
        all = XXH3_64bits_withSeed(group->files[f]->name.ptr, group->files[f]->name.len, all);
        all = XXH3_64bits_withSeed(&group->files[f]->stat.size_bytes, 8, all);
    }
    return all;
}

static bool taken(const tn_dir_partition *partition, tn_str name)
{
    for (size_t i = 0; i < partition->file_count; i++)
        if (tn_str_equal(partition->files[i].name, name))
            return true;
    for (size_t i = 0; i < partition->other_count; i++)
        if (tn_str_equal(partition->others[i].name, name))
            return true;
    return false;
}

static int output_name(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                       uint64_t id, size_t number, const char *infix, tn_str *out)
{
    int rc = TARN_OK;

    do {
        TN_TRY(tn_arena_print(cx, p->arena, out, "part-%05zu-tarn-%016" PRIx64 "%s.parquet", number,
                              id, infix));
        id++;
    } while (taken(partition, *out));
done:
    return rc;
}

/* Spark's keys, ARROW:schema and the like for the output, and a mark for the next merge. */
static int add_keys(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                    const tn_merge_group *group, const tn_unified *unified, tn_task_rewrite *task)
{
    const tn_dir *dir = p->dir;
    const tn_dir_keys **sets = tn_arena_array(cx, p->arena, group->file_count, sizeof *sets);
    tn_str *writers = tn_arena_array(cx, p->arena, group->file_count, sizeof *writers);
    tn_unify_keys keys;
    size_t count = 0;
    tn_str target;
    int rc = TARN_OK;

    if (sets == NULL || writers == NULL)
        return TARN_E_NOMEM;
    for (size_t f = 0; f < group->file_count; f++) {
        const tn_dir_file *file = group->files[f];

        /* Files of one writer come in runs. */
        if (count != 0 && sets[count - 1] == &dir->key_sets[file->keys] &&
            tn_str_equal(writers[count - 1], file->created_by))
            continue;
        sets[count] = &dir->key_sets[file->keys];
        writers[count++] = file->created_by;
    }
    TN_TRY(tn_unify_footer_keys(cx, p->arena, sets, writers, count, unified, &keys));
    for (size_t i = 0; i < keys.note_count; i++)
        TN_TRY(tn_merge_note_add(cx, p, TN_NOTE_CHANGED, partition->path, "%.*s",
                                 TN_STR_ARG(keys.notes[i])));
    task->key_names = tn_arena_array(cx, p->arena, keys.count + 1, sizeof(tn_str));
    task->key_values = tn_arena_array(cx, p->arena, keys.count + 1, sizeof(tn_str));
    if (task->key_names == NULL || task->key_values == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < keys.count; i++) {
        task->key_names[i] = keys.values[i].key;
        if (keys.values[i].has_value)
            task->key_values[i] =
                keys.values[i].value.ptr != NULL ? keys.values[i].value : TN_STR("");
    }
    TN_TRY(tn_arena_print(cx, p->arena, &target, "%" PRIu64, p->target));
    task->key_names[keys.count] = TN_STR(TN_UNIFY_MERGE_KEY);
    task->key_values[keys.count] = target;
    task->key_count = keys.count + 1;
done:
    return rc;
}

/* A leaf gets a bloom filter when some input has one on the column that it is made of. */
static int add_bloom(tarn_cx *cx, tn_merge_planning *p, const tn_merge_group *group,
                     const tn_unified *unified, const uint32_t *mapping, tn_task_rewrite *task)
{
    for (size_t f = 0; f < group->file_count; f++) {
        const tn_dir_file *file = group->files[f];

        if (file->bloom_leaves == NULL)
            continue;
        if (task->bloom_leaf == NULL) {
            task->bloom_leaf =
                tn_arena_array(cx, p->arena, unified->leaf_count, sizeof *task->bloom_leaf);
            if (task->bloom_leaf == NULL)
                return TARN_E_NOMEM;
        }
        task->bloom_leaves_any = true;
        for (size_t l = 0; l < unified->leaf_count; l++) {
            int32_t leaf = unified->mappings[mapping[f]][l].leaf;

            if (leaf >= 0 && file->bloom_leaves[leaf / 8] & 1u << (leaf % 8))
                task->bloom_leaf[l] = true;
        }
    }
    return TARN_OK;
}

/* Mapping of each file: the place of its schema among the group's. */
static int number_mappings(tarn_cx *cx, tn_merge_planning *p, const tn_merge_group *group,
                           uint32_t **out)
{
    uint32_t *mapping = tn_arena_array(cx, p->arena, group->file_count, sizeof *mapping);

    if (mapping == NULL)
        return TARN_E_NOMEM;
    for (size_t f = 0; f < group->file_count; f++)
        while (group->schemas[mapping[f]] != group->files[f]->schema)
            mapping[f]++;
    *out = mapping;
    return TARN_OK;
}

static int unify_group(tarn_cx *cx, tn_merge_planning *p, const tn_merge_group *group,
                       tn_unified *out)
{
    const tn_unify_options options = {.widen = p->options->widen};
    const tn_dir_schema **schemas =
        tn_arena_array(cx, p->arena, group->schema_count, sizeof *schemas);
    tn_str why;
    int rc = TARN_OK;

    if (schemas == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < group->schema_count; i++)
        schemas[i] = &p->dir->schemas[group->schemas[i]];
    TN_TRY(tn_unify(cx, p->arena, schemas, group->schema_count, &options, out, &why));
    assert(why.len == 0);
done:
    return rc;
}

/* The inputs that a share has rows of, and its row groups in terms of them. */
static int add_rows(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                    const tn_merge_group *group, const uint32_t *mapping,
                    const tn_merge_share *share, tn_task_rewrite *task)
{
    tn_merge_share *cuts = NULL;
    uint32_t last = UINT32_MAX;
    size_t cut_count = 0;
    int rc = TARN_OK;

    TN_TRY(
        tn_merge_cut_groups(cx, p->arena, share, p->group_bytes, p->group_rows, &cuts, &cut_count));
    task->inputs = tn_arena_array(cx, p->arena, share->piece_count, sizeof *task->inputs);
    task->groups = tn_arena_array(cx, p->arena, cut_count, sizeof *task->groups);
    if (task->inputs == NULL || task->groups == NULL)
        return TARN_E_NOMEM;
    task->group_count = cut_count;
    for (size_t g = 0; g < cut_count; g++) {
        tn_output_group *out = &task->groups[g];

        out->segments = tn_arena_array(cx, p->arena, cuts[g].piece_count, sizeof *out->segments);
        if (out->segments == NULL)
            return TARN_E_NOMEM;
        out->segment_count = cuts[g].piece_count;
        out->rows = cuts[g].rows;
        for (size_t i = 0; i < cuts[g].piece_count; i++) {
            const tn_merge_piece *piece = &cuts[g].pieces[i];
            const tn_dir_file *file = group->files[piece->file];

            if (piece->file != last) {
                tn_task_input *input = &task->inputs[task->input_count++];

                last = piece->file;
                *input = (tn_task_input){.mapping = mapping[last], .rows = file->rows};
                input->file = (tn_file_seen){.size_bytes = file->stat.size_bytes,
                                             .mtime_ns = file->stat.mtime_ns,
                                             .inode = file->stat.inode};
                TN_TRY(tn_path_join(cx, p->arena, partition->directory, file->name,
                                    &input->file.path));
            }
            out->segments[i] = (tn_segment){(uint32_t)task->input_count - 1, piece->group,
                                            piece->first_row, piece->rows};
        }
    }
done:
    return rc;
}

/* The newest of the files a share is made of; of all when it has no rows. */
static uint32_t newest_of(const tn_merge_group *group, const tn_merge_share *share)
{
    uint32_t newest = share->piece_count != 0 ? share->pieces[0].file : 0;

    for (size_t i = 0; i < share->piece_count; i++)
        if (group->files[share->pieces[i].file]->stat.mtime_ns >
            group->files[newest]->stat.mtime_ns)
            newest = share->pieces[i].file;
    for (uint32_t f = 0; share->piece_count == 0 && f < group->file_count; f++)
        if (group->files[f]->stat.mtime_ns > group->files[newest]->stat.mtime_ns)
            newest = f;
    return newest;
}

static int add_inputs(tarn_cx *cx, tn_merge_planning *p, const tn_merge_group *group,
                      tn_merge_partition *out)
{
    tn_file_seen *inputs =
        tn_arena_array(cx, p->arena, out->input_count + group->file_count, sizeof *inputs);

    if (inputs == NULL)
        return TARN_E_NOMEM;
    if (out->input_count != 0)
        memcpy(inputs, out->inputs, out->input_count * sizeof *inputs);
    for (size_t f = 0; f < group->file_count; f++) {
        const tn_dir_file *file = group->files[f];

        inputs[out->input_count + f] = (tn_file_seen){file->name, file->stat.size_bytes,
                                                      file->stat.mtime_ns, file->stat.inode};
        out->rows += file->rows;
        out->bytes += file->stat.size_bytes;
    }
    out->inputs = inputs;
    return TARN_OK;
}

static int add_task(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                    const tn_merge_group *group, const tn_task_rewrite *common,
                    const uint32_t *mapping, const tn_merge_share *share, tn_merge_output *output,
                    uint32_t first_input)
{
    tn_task task = {.kind = TN_TASK_REWRITE, .plan_id = p->plan->id, .rewrite = *common};
    int rc = TARN_OK;

    task.number = (uint32_t)p->plan->task_count;
    TN_TRY(add_rows(cx, p, partition, group, mapping, share, &task.rewrite));
    TN_TRY(tn_arena_grow(cx, p->arena, &p->plan->tasks, p->plan->task_count, &p->task_cap,
                         sizeof *p->plan->tasks));
    p->plan->tasks[p->plan->task_count++] = task;
    output->task = task.number;
    output->rows = share->rows;
    output->newest_input = first_input + newest_of(group, share);
done:
    return rc;
}

int tn_merge_add_tasks(tarn_cx *cx, tn_merge_planning *p, const tn_dir_partition *partition,
                       const tn_merge_group *group, tn_merge_partition *out)
{
    tn_merge_share *shares = tn_arena_array(cx, p->arena, group->outputs, sizeof *shares);
    tn_merge_output *outputs =
        tn_arena_array(cx, p->arena, out->output_count + group->outputs, sizeof *outputs);
    size_t codec = choose_codec(p, group);
    uint64_t id = identity(p, partition, group);
    uint32_t first_input = (uint32_t)out->input_count, *mapping;
    tn_unified unified = {0};
    tn_task_rewrite common = {
        .codec = codecs[codec].writes,
        .level = p->options->level,
        .created_by = p->options->created_by,
        .group_bytes = (int64_t)p->group_bytes,
        .group_rows = p->group_rows,
        .sort = (tn_sort_key *)p->options->sort,
        .sort_count = p->options->sort_count,
        .hash = p->options->verify_content,
        .crc = p->options->crc,
        .index = true,
    };
    int rc = TARN_OK;

    if (shares == NULL || outputs == NULL)
        return TARN_E_NOMEM;
    TN_TRY(number_mappings(cx, p, group, &mapping));
    TN_TRY(unify_group(cx, p, group, &unified));
    common.schema = unified.bytes;
    common.mappings = unified.mappings;
    common.mapping_count = group->schema_count;
    common.leaf_count = unified.leaf_count;
    TN_TRY(add_keys(cx, p, partition, group, &unified, &common));
    TN_TRY(add_bloom(cx, p, group, &unified, mapping, &common));
    TN_TRY(tn_merge_add_intents(cx, p, group, &unified, mapping, &common));
    if (group->shares != NULL)
        memcpy(shares, group->shares, group->outputs * sizeof *shares);
    else
        TN_TRY(tn_merge_cut_files(cx, p->arena, group, group->outputs, shares));
    if (out->output_count != 0)
        memcpy(outputs, out->outputs, out->output_count * sizeof *outputs);
    out->outputs = outputs;
    TN_TRY(add_inputs(cx, p, group, out));
    for (size_t s = 0; s < group->outputs; s++) {
        tn_merge_output *output = &outputs[out->output_count];

        if (s != 0 && shares[s].rows == 0)
            continue;
        TN_TRY(output_name(cx, p, partition, id, out->output_count, codecs[codec].infix,
                           &output->name));
        TN_TRY(
            add_task(cx, p, partition, group, &common, mapping, &shares[s], output, first_input));
        out->output_count++;
    }
    out->input_count += group->file_count;
done:
    return rc;
}
