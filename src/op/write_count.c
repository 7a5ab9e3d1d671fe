/* A dry run: rows are read and told apart, and counted.
 * I1: nothing is made, not even a spilled run: each batch is routed by itself. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "batch/array.h"
#include "batch/field.h"
#include "exec/exec_print.h"
#include "exec/exec_route.h"
#include "io/sink_call.h"
#include "op/write_op.h"

typedef struct tally {
    tn_str partition;
    uint32_t slot;
    int64_t rows;
    uint64_t bytes; /* in memory */
} tally;

typedef struct counting {
    tn_arena arena; /* of keys and paths */
    tn_map seen;    /* partition path, then the slot's bytes -> index into tallies */
    tally *tallies;
    size_t count, cap;
    uint64_t partitions;
    uint64_t sample_bytes, sample_file_bytes; /* of one batch: in memory, as a file */
} counting;

static int find_tally(tarn_cx *cx, counting *c, const tn_write *w, const tn_route_bucket *bucket,
                      tally **out)
{
    char *text = tn_arena_take(cx, &c->arena, bucket->partition.len + sizeof bucket->slot + 1);
    tn_str key = {text, bucket->partition.len + sizeof bucket->slot};
    tn_str path = {text, bucket->partition.len};
    size_t *place;
    bool added;
    int rc = TARN_OK;

    if (text == NULL)
        return TARN_E_NOMEM;
    if (path.len != 0)
        memcpy(text, bucket->partition.ptr, path.len);
    memcpy(text + path.len, &bucket->slot, sizeof bucket->slot);
    place = tn_map_add(cx, &c->seen, key, &added);
    if (place == NULL)
        return TARN_E_NOMEM;
    if (added) {
        TN_TRY(tn_write_spelled(cx, w, &path));
        TN_TRY(tn_grow(cx, &c->tallies, c->count, &c->cap, sizeof *c->tallies));
        *place = c->count;
        c->tallies[c->count++] = (tally){.partition = path, .slot = bucket->slot};
        if (c->count > w->plan.partitions_max * (1 + (uint64_t)w->plan.files_per_partition))
            TN_FAIL(
                TARN_E_LIMIT,
                "the rows belong to more than %llu partitions; choose coarser columns, or raise "
                "--max-partitions",
                (unsigned long long)w->plan.partitions_max);
    }
    *out = &c->tallies[*place];
done:
    return rc;
}

static int count_bytes(tarn_cx *cx, void *arg, const void *bytes, size_t len)
{
    (void)cx;
    (void)bytes;
    *(uint64_t *)arg += len;
    return TARN_OK;
}

/* A stream of one borrowed batch. */
typedef struct single {
    tarn_cx *cx;
    const struct ArrowSchema *schema;
    const struct ArrowArray *batch; /* NULL: given already */
} single;

static int single_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    single *s = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(s->cx, s->schema, out) == TARN_OK ? 0 : 12;
}

static void single_forget(struct ArrowArray *array)
{
    array->release = NULL;
}

static int single_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    single *s = self->private_data;

    memset(out, 0, sizeof *out);
    if (s->batch != NULL) {
        *out = *s->batch;
        out->release = single_forget;
    }
    s->batch = NULL;
    return 0;
}

static const char *single_error(struct ArrowArrayStream *self)
{
    (void)self;
    return NULL;
}

int tn_write_measure(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                     const char *codec, uint64_t *bytes)
{
    single one = {cx, schema, batch};
    struct ArrowArrayStream stream = {single_schema, single_next, single_error, NULL, &one};
    tn_sink *sink = NULL;
    int rc = TARN_OK;

    if (codec != NULL && strcmp(codec, "brotli") == 0)
        codec = NULL; /* it packs about as zstd does */
    TN_TRY(tn_sink_call_open(cx, count_bytes, bytes, &sink));
    TN_TRY(tn_exec_print_parquet(cx, &stream, sink, tn_str_of(codec), NULL));
done:
    tn_sink_call_close(sink);
    return rc;
}

static int count_batch(tarn_cx *cx, counting *c, tn_write *w, struct ArrowArray *batch)
{
    const tn_route_bucket *buckets;
    bool first = c->sample_file_bytes == 0;
    tn_route *route = NULL;
    size_t count;
    int rc = TARN_OK;

    if (first)
        TN_TRY(tn_write_measure(cx, &w->fit.to, batch, w->options->codec, &c->sample_file_bytes));
    TN_TRY(tn_route_open(cx, w->store, &w->plan, &w->fit.to, &route));
    TN_TRY(tn_route_add(cx, route, batch));
    TN_TRY(tn_route_end(cx, route, &buckets, &count));
    for (size_t i = 0; i < count; i++) {
        tally *t = NULL;

        TN_TRY(find_tally(cx, c, w, &buckets[i], &t));
        t->rows += buckets[i].rows;
        t->bytes += buckets[i].bytes;
        c->sample_bytes += first ? buckets[i].bytes : 0;
    }
done:
    tn_route_close(route);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    int order = tn_str_compare(x->partition, y->partition);

    return order != 0 ? order : x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* As files are cut: less than a third of the target joins the file before. */
static uint64_t files_for(uint64_t bytes, uint64_t target)
{
    uint64_t whole = bytes / target;

    return whole + (whole == 0 || bytes % target >= target / 3);
}

static int log_tallies(tarn_cx *cx, counting *c, tn_write *w)
{
    double share =
        c->sample_bytes != 0 ? (double)c->sample_file_bytes / (double)c->sample_bytes : 1;
    tn_str note;
    int rc = TARN_OK;

    if (c->count != 0)
        qsort(c->tallies, c->count, sizeof *c->tallies, by_place);
    for (size_t i = 0; i < c->count; i++) {
        uint64_t bytes = (uint64_t)((double)c->tallies[i].bytes * share);

        TN_TRY(tn_write_log_add(cx, w->log, c->tallies[i].partition, c->tallies[i].rows,
                                files_for(bytes, w->plan.target_bytes), bytes));
    }
    if (w->log->report.partition_count > w->plan.partitions_max)
        TN_FAIL(TARN_E_LIMIT,
                "the rows belong to %zu partitions, more than the %llu allowed; choose coarser "
                "columns, or raise --max-partitions",
                w->log->report.partition_count, (unsigned long long)w->plan.partitions_max);
    if (w->log->report.files > w->plan.files_max) {
        TN_TRY(tn_arena_print(cx, &c->arena, &note,
                              "these are more files than the %llu allowed: raise "
                              "--max-created-files, or --target",
                              (unsigned long long)w->plan.files_max));
        TN_TRY(tn_write_log_note(cx, w->log, note));
    }
done:
    return rc;
}

/* What an overwrite would remove. */
static void count_old(tn_write *w)
{
    tarn_write_report *report = &w->log->report;
    size_t at = 0;

    if (w->options->mode == TARN_WRITE_APPEND)
        return;
    for (size_t p = 0; p < w->dir.dir.partition_count; p++) {
        const tn_dir_partition *partition = &w->dir.dir.partitions[p];
        int order = -1;

        while (at < report->partition_count &&
               (order = tn_str_compare(
                    (tn_str){report->partitions[at].path, report->partitions[at].path_len},
                    partition->path)) < 0)
            at++;
        if (partition->file_count == 0)
            continue;
        if (at == report->partition_count || order != 0) {
            if (w->options->mode == TARN_WRITE_OVERWRITE_PARTITIONS)
                continue;
            report->partitions_removed++;
        }
        report->old_files += partition->file_count;
        for (size_t i = 0; i < partition->file_count; i++)
            report->old_bytes += partition->files[i].stat.size_bytes;
    }
}

int tn_write_count(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows)
{
    struct ArrowArray batch = {0};
    counting c = {0};
    int rc = TARN_OK;

    for (;;) {
        TN_TRY(tn_write_next(cx, w, rows, &batch));
        if (batch.release == NULL)
            break;
        TN_TRY(count_batch(cx, &c, w, &batch));
        tn_array_release(&batch);
    }
    TN_TRY(log_tallies(cx, &c, w));
    count_old(w);
done:
    tn_array_release(&batch);
    tn_map_clear(&c.seen);
    free(c.tallies);
    tn_arena_clear(&c.arena);
    return rc;
}
