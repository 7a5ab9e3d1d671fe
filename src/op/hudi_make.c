/* The files of a write and its commit.
 *
 * I1: the instant is begun when everything that can be known to be wrong is known.
 * I2: rejected records are durable before the rows that were not rejected are seen.
 * I3: counts of the report come from what was written, never from what was planned.
 * I4: where no row changed anything there is no commit, whether that was known before or not. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "op/hudi_op.h"
#include "op/merge_op.h"

#define FILTER_FPP      1e-9
#define FILTER_KEYS_MAX 100000

/* ---- what an overwrite or a deletion takes away */

static bool is_given(const tn_hudi_write *w, tn_str path)
{
    for (size_t i = 0; i < w->given->partition_count; i++)
        if (tn_str_is(path, w->given->partitions[i]))
            return true;
    return false;
}

static bool has_rows(const tn_hudi_write *w, uint32_t number)
{
    return number < w->summary.partition_count && w->summary.inserts[number] != 0;
}

static bool goes(const tn_hudi_write *w, const tn_base_file *base)
{
    switch (w->op) {
    case TARN_OP_INSERT_OVERWRITE_TABLE:
        return true;
    case TARN_OP_DELETE_PARTITION:
        return is_given(w, base->partition_path);
    case TARN_OP_INSERT_OVERWRITE:
        return w->given->partition_count != 0 ? is_given(w, base->partition_path)
                                              : w->stream_rows || has_rows(w, base->partition);
    default:
        return false;
    }
}

/* A static overwrite replaces what was named, and adds nothing elsewhere. */
static int check_rows_given(tarn_cx *cx, const tn_hudi_write *w)
{
    int rc = TARN_OK;

    if (w->op != TARN_OP_INSERT_OVERWRITE || w->given->partition_count == 0)
        return TARN_OK;
    for (size_t i = 0; i < w->summary.partition_count; i++) {
        tn_str path = tn_record_key_path(w->key, i);

        if (w->summary.inserts[i] != 0 && !is_given(w, path))
            TN_FAIL(TARN_E_INVALID,
                    "rows for partition \"%.*s\", which --partitions does not name; nothing was "
                    "written",
                    TN_STR_ARG(path));
    }
done:
    return rc;
}

static int pending_group(tarn_cx *cx, const tn_hudi_write *w, const tn_base_file *base)
{
    return tn_fail(cx, TARN_E_CONFLICT,
                   "%.*s: partition \"%.*s\" has a pending compaction or clustering (file group "
                   "%.*s); let that end, or roll it back",
                   TN_STR_ARG(w->root), TN_STR_ARG(base->partition_path),
                   TN_STR_ARG(base->file_id));
}

int tn_hudi_files_replaced(tarn_cx *cx, tn_hudi_write *w)
{
    size_t count = w->slices.slice_count;
    tn_str *ids = tn_arena_array(cx, &w->arena, count + 1, sizeof *ids);
    tn_replaced *made = tn_arena_array(cx, &w->arena, count + 1, sizeof *made);
    tarn_table_partition *line;
    int rc = TARN_OK;

    if (ids == NULL || made == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(check_rows_given(cx, w));
    w->replaced = made;
    for (size_t i = 0; i < count; i++) {
        const tn_base_file *base = &w->slices.slices[i].base;
        tn_replaced *last = w->replaced_count != 0 ? &made[w->replaced_count - 1] : NULL;

        if (!goes(w, base))
            continue;
        if (w->slices.slices[i].pending)
            TN_TRY(pending_group(cx, w, base));
        if (last == NULL || !tn_str_equal(last->partition, base->partition_path)) {
            last = &made[w->replaced_count++];
            *last = (tn_replaced){.partition = base->partition_path, .file_ids = ids};
        }
        last->file_ids[last->file_id_count++] = base->file_id;
        ids++;
        TN_TRY(tn_hudi_log_partition(cx, w->log, base->partition_path, &line));
        line->replaced++;
        w->log->report.replaced++;
    }
done:
    return rc;
}

/* ---- begin */

static bool replaces(const tn_hudi_write *w)
{
    return w->op >= TARN_OP_INSERT_OVERWRITE;
}

/* What was planned: per partition its inserts, per file its updates. */
static int profile(tarn_cx *cx, tn_hudi_write *w, tn_write_stat **out, size_t *count)
{
    tn_write_stat *stats = tn_arena_array(
        cx, &w->arena, w->plan.partition_count + w->plan.bucket_count + 1, sizeof *stats);
    size_t n = 0;

    if (stats == NULL)
        return TARN_E_NOMEM;
    for (size_t p = 0; p < w->plan.partition_count; p++) {
        const tn_upsert_partition *part = &w->plan.partitions[p];

        stats[n++] = (tn_write_stat){.partition = part->path,
                                     .inserts = part->inserts > 0 ? part->inserts : 0};
        for (size_t b = part->first_bucket; b < part->first_bucket + part->bucket_count; b++) {
            const tn_bucket *bucket = &w->plan.buckets[b];

            if (bucket->updates != 0)
                stats[n++] = (tn_write_stat){.partition = part->path,
                                             .file_id = bucket->base->file_id,
                                             .prev_instant = bucket->base->instant,
                                             .updates = bucket->updates};
        }
    }
    *out = stats;
    *count = n;
    return TARN_OK;
}

int tn_hudi_make_codec(tarn_cx *cx, tn_hudi_write *w)
{
    tn_str codec = w->options.codec;
    const char *name = w->given->codec;
    int rc = TARN_OK;

    if (name == NULL && codec.len != 0) {
        char *text;

        TN_TRY(tn_arena_keep(cx, &w->arena, &codec));
        text = tn_arena_take(cx, &w->arena, codec.len + 1);
        if (text == NULL)
            TN_TRY(TARN_E_NOMEM);
        for (size_t i = 0; i < codec.len; i++)
            text[i] = (char)(codec.ptr[i] >= 'A' && codec.ptr[i] <= 'Z' ? codec.ptr[i] + 32
                                                                        : codec.ptr[i]);
        name = strcmp(text, "uncompressed") == 0 ? "none" : text;
    }
    TN_TRY(
        tn_merge_codec_of(cx, name != NULL ? name : "zstd", w->given->level, false, &w->job.codec));
    w->job.level = w->given->level;
done:
    return rc;
}

/* The rows of an open group count with what they take before they are compressed: a group is a
 * small part of its file, so that the file is cut where it should be. */
static uint64_t group_bytes_of(const tn_hudi_options *o)
{
    uint64_t most = o->sizing.max_file_bytes / 8;

    if (o->group_bytes != 0)
        return o->group_bytes;
    return TN_BASE_GROUP_BYTES < most ? TN_BASE_GROUP_BYTES : most + (most == 0);
}

static void make_job(tn_hudi_write *w)
{
    const tn_hudi_options *o = &w->options;
    tn_base_job *job = &w->job;

    job->store = w->store;
    job->root = w->root;
    job->instant = w->instant;
    job->schema = &w->full;
    job->avro_schema = tn_buf_view(&w->avro_full);
    job->meta_fields = w->config->meta_fields;
    job->filter_kind =
        o->filter_kind >= 0 ? (enum tn_key_filter_kind)(o->filter_kind + 1) : TN_KEY_FILTER_DYNAMIC;
    job->filter_fpp = o->filter_fpp > 0 ? o->filter_fpp : FILTER_FPP;
    job->filter_keys_max = o->filter_keys_max != 0 ? o->filter_keys_max : FILTER_KEYS_MAX;
    job->filter_keys = o->filter_keys;
    job->group_bytes = group_bytes_of(o);
    job->key_field = w->key_field;
    job->merge_mode = w->all_deletes ? TN_MERGE_COMMIT_TIME : w->config->merge_mode;
    job->ordering = w->ordering;
    job->ordering_count = w->ordering_count;
    job->mark = tn_hudi_commit_mark;
    job->mark_arg = w->commit;
}

int tn_hudi_make_begin(tarn_cx *cx, tn_hudi_write *w)
{
    tn_write_stat *stats;
    size_t count;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_hudi_commit_begin(cx, w->commit, replaces(w) ? TN_ACTION_REPLACE : TN_ACTION_COMMIT,
                                (enum tn_operation)w->op, &w->instant));
    make_job(w);
    TN_TRY(profile(cx, w, &stats, &count));
    TN_TRY(tn_hudi_commit_inflight(cx, w->commit, stats, count));
done:
    return rc;
}

/* ---- files */

int tn_hudi_make_files(tarn_cx *cx, tn_hudi_write *w)
{
    const tn_hudi_config *c = w->config;
    tn_place_options place = {.plan = &w->plan,
                              .sort =
                                  w->op == TARN_OP_BULK_INSERT && w->options.sort > TN_SORT_NONE,
                              .index_keys = c->keys,
                              .index_key_count = c->key_count,
                              .index_fields = w->options.hash_fields.items,
                              .index_field_count = w->options.hash_fields.count};
    int rc = TARN_OK;

    if (place.index_field_count == 0) {
        place.index_fields = c->keys;
        place.index_field_count = c->key_count;
    }
    TN_TRY(tn_incoming_place(cx, w->in, &place));
    TN_TRY(tn_exec_upsert(cx, &w->job, &w->plan, w->in, &w->arena, &w->result));
done:
    return rc;
}

int tn_hudi_make_stream(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows)
{
    tn_hudi_rows_source source = {.cx = cx, .w = w, .rows = rows};
    struct ArrowArrayStream stream = {0};
    int rc = TARN_OK;

    tn_hudi_rows_stream(&source, &stream);
    TN_TRY(tn_exec_upsert_stream(cx, &w->job, &w->plan, &stream, &w->arena, &w->result));
done:
    return rc;
}

/* ---- commit */

static int extra_of(tarn_cx *cx, tn_hudi_write *w, tn_commit_metadata *out)
{
    const tarn_table_write_options *o = w->given;
    tn_property *extra = tn_arena_array(cx, &w->arena, o->extra_count + 1, sizeof *extra);
    int rc = TARN_OK;

    if (extra == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < o->extra_count; i++)
        TN_TRY(tn_hudi_options_pair(cx, o->extra[i], &extra[i]));
    extra[o->extra_count] = (tn_property){TN_STR("schema"), tn_buf_view(&w->avro)};
    out->extra = extra;
    out->extra_count = o->extra_count + 1;
done:
    return rc;
}

/* I3. */
static int log_done(tarn_cx *cx, tn_hudi_write *w)
{
    tarn_table_report *report = &w->log->report;
    tarn_table_partition *line;
    int rc = TARN_OK;

    for (size_t i = 0; i < w->result.stat_count; i++) {
        const tn_write_stat *stat = &w->result.stats[i];

        TN_TRY(tn_hudi_log_partition(cx, w->log, stat->partition, &line));
        line->inserted += stat->inserts;
        line->updated += stat->updates;
        line->deleted += stat->deletes;
        line->files++;
        line->bytes += stat->bytes;
        report->files++;
        report->bytes += stat->bytes;
    }
    report->inserted = w->result.inserted;
    report->updated = w->result.updated;
    report->deleted = w->result.deleted;
    report->unchanged = w->result.unchanged;
    report->groups = w->result.groups;
    report->groups_carried = w->result.groups_carried;
    report->bytes_carried = w->result.bytes_carried;
    tn_hudi_log_sort(w->log);
done:
    return rc;
}

int tn_hudi_make_commit(tarn_cx *cx, tn_hudi_write *w)
{
    tn_commit_metadata metadata = {.operation =
                                       tn_str_of(tn_operation_name((enum tn_operation)w->op)),
                                   .replace = replaces(w),
                                   .stats = w->result.stats,
                                   .stat_count = w->result.stat_count,
                                   .replaced = w->replaced,
                                   .replaced_count = w->replaced_count};
    int rc = TARN_OK;

    TN_TRY(extra_of(cx, w, &metadata));
    TN_TRY(log_done(cx, w));
    TN_TRY(tn_write_reject_publish(cx, &w->reject)); /* I2 */
    TN_TRY(tn_cx_check(cx));
    /* I4 */
    if (metadata.stat_count == 0 && metadata.replaced_count == 0 && w->given->extra_count == 0) {
        TN_TRY(tn_hudi_commit_withdraw(cx, w->commit));
        goto done;
    }
    TN_TRY(tn_hudi_log_text(cx, w->log, w->instant, &w->log->report.instant));
    TN_TRY(tn_hudi_commit_finish(cx, w->commit, &metadata, &w->completion));
done:
    return rc;
}

/* ---- a dry run */

/* The tagged file that a bucket rewrites; the number of files: none. Files and buckets of one
 * partition are in one order, so the search goes on from the last one. */
static size_t file_of(const tn_hudi_write *w, const tn_bucket *bucket, size_t *at)
{
    for (size_t n = 0; n < w->file_count; n++) {
        size_t i = (*at + n) % w->file_count;

        if (w->files[i] == bucket->base) {
            *at = i + 1;
            return i;
        }
    }
    return w->file_count;
}

/* What becomes of the rows that meet one file. */
static void foresee(const tn_hudi_write *w, size_t file, tarn_table_partition *line)
{
    tarn_table_report *report = &w->log->report;

    assert(file < w->file_count);
    line->updated += w->outcome.updated[file];
    line->deleted += w->outcome.deleted[file];
    report->updated += w->outcome.updated[file];
    report->deleted += w->outcome.deleted[file];
    report->unchanged += w->outcome.unchanged[file];
}

static int log_bucket(tarn_cx *cx, tn_hudi_write *w, const tn_bucket *bucket, size_t *at,
                      tarn_table_bucket *out)
{
    tarn_table_partition *line;
    tn_str path = w->plan.partitions[bucket->partition].path;
    int rc = TARN_OK;

    TN_TRY(tn_hudi_log_partition(cx, w->log, path, &line));
    line->inserted += bucket->inserts;
    if (!w->foreseen)
        *(w->all_deletes ? &line->deleted : &line->updated) += bucket->updates;
    else if (bucket->updates != 0)
        foresee(w, file_of(w, bucket, at), line);
    *out = (tarn_table_bucket){.partition = (size_t)(line - w->log->partitions),
                               .updates = bucket->updates,
                               .inserts = bucket->inserts,
                               .target_bytes = bucket->target_bytes};
    TN_TRY(tn_hudi_log_text(
        cx, w->log, bucket->base != NULL ? bucket->base->file_id : bucket->file_id, &out->file_id));
    TN_TRY(tn_hudi_log_text(cx, w->log, bucket->why, &out->why));
    if (bucket->base == NULL)
        goto done;
    TN_TRY(tn_hudi_log_text(cx, w->log, bucket->base->name, &out->base));
    out->base_bytes = bucket->base->size_bytes;
done:
    return rc;
}

int tn_hudi_make_planned(tarn_cx *cx, tn_hudi_write *w)
{
    tarn_table_report *report = &w->log->report;
    tarn_table_bucket *buckets =
        tn_arena_array(cx, &w->log->arena, w->plan.bucket_count + 1, sizeof *buckets);
    size_t at = 0;
    int rc = TARN_OK;

    if (buckets == NULL)
        TN_TRY(TARN_E_NOMEM);
    report->foreseen = w->foreseen;
    for (size_t i = 0; i < w->plan.bucket_count; i++)
        TN_TRY(log_bucket(cx, w, &w->plan.buckets[i], &at, &buckets[i]));
    report->buckets = buckets;
    report->bucket_count = w->plan.bucket_count;
    for (size_t p = 0; p < w->plan.partition_count; p++)
        report->inserted += w->plan.partitions[p].inserts;
    for (size_t i = 0; i < w->plan.bucket_count && !w->foreseen; i++)
        *(w->all_deletes ? &report->deleted : &report->updated) += w->plan.buckets[i].updates;
    tn_hudi_log_sort(w->log);
done:
    return rc;
}
