/* Where the rows of a write go: gathered, found in the table's files, planned.
 *
 * I1: partitions are numbered as the record keys number them, in rows, files and plan alike.
 * I2: only partitions that rows are for are listed, unless the index is global or all of the table
 *     is replaced.
 * I3: a file group that a pending compaction or clustering is about to replace is neither changed
 *     nor topped up: what was written to it would be lost. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "op/hudi_op.h"

/* Footers read for the average size of a row, of the files that are in question. */
#define FOOTERS_MAX 256

static bool is_global(const tn_hudi_write *w)
{
    return w->options.index == TN_INDEX_GLOBAL_SIMPLE || w->options.index == TN_INDEX_GLOBAL_BLOOM;
}

/* ---- rows */

/* TMPDIR where it is a path of its own, else /tmp. */
static const char *temporary(void)
{
    const char *path = getenv("TMPDIR");

    return path != NULL && path[0] == '/' && path[1] != '\0' ? path : "/tmp";
}

static int staging_of(tarn_cx *cx, tn_hudi_write *w, tn_str *out)
{
    uint64_t id = tn_cx_random(cx);

    /* What memory does not hold goes elsewhere: nothing is made in the table. */
    if (w->given->dry_run)
        return tn_arena_print(cx, &w->arena, out, "%s/.tarn-rows-%016" PRIx64, temporary(), id);
    return tn_arena_print(cx, &w->arena, out, "%.*s/.hoodie/.aux/.tarn-rows-%016" PRIx64,
                          TN_STR_ARG(w->root), id);
}

/* Hudi's defaults (hoodie.combine.before.*). */
static bool wants_dedup(const tn_hudi_write *w)
{
    switch (w->op) {
    case TARN_OP_UPSERT:
        return w->options.combine_upsert != 0;
    case TARN_OP_DELETE:
        return w->options.combine_delete != 0;
    default:
        return w->options.combine_insert == 1;
    }
}

/* By arrival alone where the table's rule is the time of the commit; up to version 6 payloads that
 * mean it still compare ordering values here (preCombine). */
static bool dedup_by_arrival(const tn_hudi_write *w)
{
    return w->all_deletes ||
           (w->config->merge_mode == TN_MERGE_COMMIT_TIME && w->config->version >= 8);
}

int tn_hudi_files_gather(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    tn_incoming_options options = {.key_column = 2,
                                   .global = is_global(w),
                                   .ordering = w->ordering,
                                   .ordering_count = w->ordering_count};
    struct ArrowArray batch = {0};
    tn_record_keys keys = {0};
    int rc = TARN_OK;

    TN_TRY(staging_of(cx, w, &options.staging));
    TN_TRY(tn_incoming_open(cx, w->store, &w->full, &options, &w->in));
    for (;;) {
        TN_TRY(tn_hudi_rows_next(cx, w, rows, &batch, &keys));
        if (batch.release == NULL)
            break;
        TN_TRY(tn_incoming_add(cx, w->in, &batch, keys.partitions, keys.deletes));
    }
    if (wants_dedup(w))
        TN_TRY(tn_incoming_dedup(cx, w->in, dedup_by_arrival(w), &w->log->report.duplicates));
done:
    tn_array_release(&batch);
    return rc;
}

/* ---- files */

static int touched(tarn_cx *cx, tn_hudi_write *w, tn_slices_options *out)
{
    size_t count = tn_record_key_path_count(w->key);
    tn_str *paths = tn_arena_array(cx, &w->arena, count + 1, sizeof *paths);

    if (paths == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        paths[i] = tn_record_key_path(w->key, i);
    out->partitions = paths;
    out->partition_count = count;
    return TARN_OK;
}

/* I1, I2. */
static int load_slices(tarn_cx *cx, tn_hudi_write *w)
{
    tn_slices_options options = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < w->given->partition_count; i++) {
        uint32_t number;

        TN_TRY(tn_record_key_path_add(cx, w->key, tn_str_of(w->given->partitions[i]), &number));
    }
    if (is_global(w) || w->op == TARN_OP_INSERT_OVERWRITE_TABLE) {
        TN_TRY(tn_hudi_open_slices(cx, w));
    } else if (!w->slices_all && (w->exists || !w->given->dry_run)) {
        TN_TRY(touched(cx, w, &options));
        TN_TRY(tn_slices_load(cx, w->store, w->root, w->config, w->timeline, &options, &w->arena,
                              &w->slices));
    }
    for (size_t i = 0; i < w->slices.slice_count; i++) {
        tn_base_file *base = &w->slices.slices[i].base;

        TN_TRY(tn_record_key_path_add(cx, w->key, base->partition_path, &base->partition));
    }
done:
    return rc;
}

static bool is_small(const tn_hudi_write *w, const tn_slice *slice)
{
    return w->options.sizing.small_file_bytes > 0 &&
           slice->base.size_bytes < (uint64_t)w->options.sizing.small_file_bytes;
}

/* The files that are asked for keys. An insert that does not allow duplicates merges within the
 * small files that may take it. */
static int choose_files(tarn_cx *cx, tn_hudi_write *w, size_t paths)
{
    bool small_alone = w->op == TARN_OP_INSERT;

    w->files = tn_arena_array(cx, &w->arena, w->slices.slice_count + 1, sizeof *w->files);
    if (w->files == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < w->slices.slice_count; i++) {
        const tn_slice *slice = &w->slices.slices[i];

        if (slice->base.name.len == 0 || (small_alone && (!is_small(w, slice) || slice->pending)))
            continue;
        if (is_global(w) || slice->base.partition < paths)
            w->files[w->file_count++] = &slice->base;
    }
    return TARN_OK;
}

static bool wants_tag(const tn_hudi_write *w)
{
    return w->op == TARN_OP_UPSERT || w->op == TARN_OP_DELETE ||
           (w->op == TARN_OP_INSERT && w->options.duplicate_inserts == 0);
}

static int settle_global(tarn_cx *cx, tn_hudi_write *w)
{
    int32_t moves = w->options.index == TN_INDEX_GLOBAL_BLOOM ? w->options.global_bloom_moves
                                                              : w->options.global_simple_moves;
    bool event_time = w->config->merge_mode == TN_MERGE_EVENT_TIME && w->ordering_count != 0;

    if (!is_global(w))
        return TARN_OK;
    /* A delete is where its row is. */
    return tn_incoming_settle_global(cx, w->in, moves != 0 && !w->all_deletes, event_time,
                                     &w->log->report.moved);
}

int tn_hudi_files_tag(tarn_cx *cx, tn_hudi_write *w)
{
    bool bloom = w->options.index == TN_INDEX_BLOOM || w->options.index == TN_INDEX_GLOBAL_BLOOM;
    tn_tag_options options = {
        .use_filters = bloom, .ranges = w->options.bloom_ranges != 0, .duplicates_all = true};
    tn_hudi_keys_of keys_of = {0};
    size_t paths = tn_record_key_path_count(w->key); /* of rows: those of files follow */
    tn_tag_counts counts;
    int rc = TARN_OK;

    if (w->options.buckets > UINT32_MAX)
        TN_FAIL(TARN_E_INVALID, "hoodie.bucket.index.num.buckets: too many");
    TN_TRY(load_slices(cx, w));
    TN_TRY(tn_hudi_index_check(cx, w));
    if (wants_tag(w)) {
        TN_TRY(choose_files(cx, w, paths));
        options.files = w->files;
        options.file_count = w->file_count;
        if (!w->config->meta_fields)
            TN_TRY(tn_hudi_keys_of_open(cx, w, &keys_of, &options));
        TN_TRY(tn_incoming_tag(cx, w->in, &options, &counts));
        TN_TRY(settle_global(cx, w));
    }
    TN_TRY(tn_incoming_summarise(cx, w->in, &w->arena, &w->summary));
done:
    tn_hudi_keys_of_close(&keys_of);
    return rc;
}

int tn_hudi_files_foresee(tarn_cx *cx, tn_hudi_write *w)
{
    bool event_time = w->config->merge_mode == TN_MERGE_EVENT_TIME && w->ordering_count != 0;
    int rc = TARN_OK;

    w->foreseen = !wants_tag(w);
    /* Of several rows of one key it depends on all of them. */
    if (w->foreseen || !wants_dedup(w))
        return TARN_OK;
    TN_TRY(tn_incoming_foresee(cx, w->in, event_time && !w->all_deletes, &w->arena, &w->outcome,
                               &w->foreseen));
done:
    return rc;
}

/* ---- the average size of a row */

/* Completed commits, newest first, as exact sizing looks at them. */
static int load_commits(tarn_cx *cx, tn_hudi_write *w, tn_commit_size **out, size_t *count)
{
    const tn_timeline *timeline = w->timeline;
    tn_commit_size *made = tn_arena_array(cx, &w->arena, timeline->count + 1, sizeof *made);
    size_t n = 0;
    int64_t looked_at = 0; /* as Hudi 1.x does, which passes over replacements */
    int rc = TARN_OK;

    if (made == NULL)
        return TARN_E_NOMEM;
    for (size_t i = timeline->count; i-- > 0;) {
        const tn_instant *instant = &timeline->instants[i];
        tn_commit_metadata metadata = {0};

        if (instant->state != TN_STATE_COMPLETED ||
            (instant->action != TN_ACTION_COMMIT && instant->action != TN_ACTION_REPLACE))
            continue;
        TN_TRY(tn_timeline_commit(cx, w->store, timeline, instant, &w->arena, &metadata));
        made[n++] = (tn_commit_size){.instant = instant->time,
                                     .replace = instant->action == TN_ACTION_REPLACE,
                                     .stats = metadata.stats,
                                     .stat_count = metadata.stat_count};
        looked_at += instant->action == TN_ACTION_COMMIT;
        if (w->config->version >= 8 && looked_at >= w->options.sizing.commits_max)
            break;
    }
    *out = made;
    *count = n;
done:
    return rc;
}

/* Footers of the files of touched partitions, so many as are worth it. */
static int load_footers(tarn_cx *cx, tn_hudi_write *w, const tn_base_file ***out, size_t *count)
{
    const tn_base_file **files =
        tn_arena_array(cx, &w->arena, w->slices.slice_count + 1, sizeof *files);
    tn_slices part = {0};
    size_t *from = tn_arena_array(cx, &w->arena, w->slices.slice_count + 1, sizeof *from);
    int rc = TARN_OK;

    part.slices = tn_arena_array(cx, &w->arena, w->slices.slice_count + 1, sizeof *part.slices);
    if (files == NULL || from == NULL || part.slices == NULL)
        TN_TRY(TARN_E_NOMEM);
    *count = 0;
    for (size_t i = 0; i < w->slices.slice_count && part.slice_count < FOOTERS_MAX; i++) {
        const tn_slice *slice = &w->slices.slices[i];

        if (slice->base.name.len == 0)
            continue;
        from[part.slice_count] = i;
        part.slices[part.slice_count++] = *slice;
    }
    if (part.slice_count != 0)
        TN_TRY(tn_slices_footers(cx, w->store, &part, &w->arena));
    for (size_t i = 0; i < part.slice_count; i++) {
        tn_base_file *base = &w->slices.slices[from[i]].base;

        base->rows = part.slices[i].base.rows;
        base->filter_bytes = part.slices[i].base.filter_bytes;
        files[(*count)++] = base;
    }
    *out = files;
done:
    return rc;
}

static int record_bytes(tarn_cx *cx, tn_hudi_write *w, tn_upsert_options *options)
{
    tn_commit_size *commits = NULL;
    const tn_base_file **files = NULL;
    size_t commit_count = 0, file_count = 0;
    int rc = TARN_OK;

    if (options->sizing.exact)
        TN_TRY(load_commits(cx, w, &commits, &commit_count));
    else
        TN_TRY(load_footers(cx, w, &files, &file_count));
    TN_TRY(tn_plan_record_bytes(cx, &options->sizing, w->config->version, commits, commit_count,
                                files, file_count, w->input_record_bytes, &w->arena,
                                &options->record_bytes, &options->record_bytes_why));
done:
    return rc;
}

/* ---- the plan */

static bool has_commit(const tn_timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        if (timeline->instants[i].state == TN_STATE_COMPLETED &&
            timeline->instants[i].action <= TN_ACTION_REPLACE)
            return true;
    return false;
}

/* What is known of one partition number. */
typedef struct incoming_part {
    const tn_base_file **files, **updated;
    int64_t *counts;
    size_t file_count, updated_count, file_cap, updated_cap, count_cap;
} incoming_part;

static int check_pending(tarn_cx *cx, const tn_hudi_write *w, const tn_slice *slice)
{
    return tn_fail(cx, TARN_E_CONFLICT,
                   "%.*s: file group %.*s of partition \"%.*s\" is in a pending compaction or "
                   "clustering, and this write changes it; let that end, or roll it back",
                   TN_STR_ARG(w->root), TN_STR_ARG(slice->base.file_id),
                   TN_STR_ARG(slice->base.partition_path));
}

/* Files by partition number, and their updates. */
static int sort_files(tarn_cx *cx, tn_hudi_write *w, incoming_part *parts, size_t count)
{
    size_t tagged = 0; /* w->files are slices in the same order */
    int rc = TARN_OK;

    for (size_t i = 0; i < w->slices.slice_count; i++) {
        const tn_slice *slice = &w->slices.slices[i];
        const tn_base_file *file = &slice->base;
        incoming_part *part = &parts[file->partition];
        int64_t updates = 0;

        assert(file->partition < count);
        (void)count;
        if (tagged < w->file_count && w->files[tagged] == file)
            updates = tagged < w->summary.file_count ? w->summary.updates[tagged++] : 0;
        if (file->name.len == 0)
            continue;
        if (updates != 0 && slice->pending)
            TN_TRY(check_pending(cx, w, slice)); /* I3 */
        if (!slice->pending) {
            TN_TRY(tn_arena_grow(cx, &w->arena, &part->files, part->file_count, &part->file_cap,
                                 sizeof *part->files));
            part->files[part->file_count++] = file;
        }
        if (updates == 0)
            continue;
        TN_TRY(tn_arena_grow(cx, &w->arena, &part->updated, part->updated_count, &part->updated_cap,
                             sizeof *part->updated));
        TN_TRY(tn_arena_grow(cx, &w->arena, &part->counts, part->updated_count, &part->count_cap,
                             sizeof *part->counts));
        part->updated[part->updated_count] = file;
        part->counts[part->updated_count++] = updates;
    }
done:
    return rc;
}

static int by_path(const void *a, const void *b)
{
    const tn_upsert_in *x = a, *y = b;

    return tn_str_compare(x->path, y->path);
}

/* What each partition receives, by path. */
static int make_in(tarn_cx *cx, tn_hudi_write *w, bool stream, tn_upsert_in **out,
                   size_t *out_count)
{
    size_t count = tn_record_key_path_count(w->key);
    incoming_part *parts = tn_arena_array(cx, &w->arena, count + 1, sizeof *parts);
    tn_upsert_in *in = tn_arena_array(cx, &w->arena, count + 1, sizeof *in);
    size_t n = 0;
    int rc = TARN_OK;

    if (parts == NULL || in == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(sort_files(cx, w, parts, count));
    for (size_t i = 0; i < count; i++) {
        int64_t inserts = i < w->summary.partition_count ? w->summary.inserts[i] : 0;

        if (stream)
            inserts = -1;
        if (inserts == 0 && parts[i].updated_count == 0)
            continue;
        in[n++] = (tn_upsert_in){.path = tn_record_key_path(w->key, i),
                                 .number = (uint32_t)i,
                                 .inserts = inserts,
                                 .updated = parts[i].updated,
                                 .update_counts = parts[i].counts,
                                 .updated_count = parts[i].updated_count,
                                 .files = parts[i].files,
                                 .file_count = parts[i].file_count};
    }
    if (n != 0)
        qsort(in, n, sizeof *in, by_path);
    *out = in;
    *out_count = n;
done:
    return rc;
}

int tn_hudi_files_plan(tarn_cx *cx, tn_hudi_write *w, bool stream)
{
    tn_upsert_options options = {.operation = (enum tn_operation)w->op,
                                 .sizing = w->options.sizing,
                                 .has_commit = has_commit(w->timeline)};
    tn_upsert_in *in;
    size_t count;
    int rc = TARN_OK;

    if (w->options.index == TN_INDEX_BUCKET)
        options.index_buckets = (uint32_t)w->options.buckets;
    if (stream) {
        uint32_t number;

        TN_TRY(tn_record_key_path_add(cx, w->key, TN_STR(""), &number));
        TN_TRY(load_slices(cx, w));
        TN_TRY(tn_hudi_index_check(cx, w));
    }
    TN_TRY(make_in(cx, w, stream, &in, &count));
    TN_TRY(record_bytes(cx, w, &options));
    TN_TRY(tn_plan_upsert(cx, &options, in, count, &w->arena, &w->plan));
    tn_hudi_warn_paths(w);
    w->log->report.record_bytes = options.record_bytes;
    TN_TRY(
        tn_hudi_log_text(cx, w->log, options.record_bytes_why, &w->log->report.record_bytes_why));
done:
    return rc;
}
