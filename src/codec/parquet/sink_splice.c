/* Row groups of other files with some rows changed.
 *
 *   leaf ── made ──> a chunk of its rule
 *        ── else ──> its chunk, in memory, spliced with what comes in (chunk_splice.c)
 *
 * I1: nothing is written before all chunks of the group are there.
 * I2: in memory are the chunks that are made, and as many of the source as there are threads. */
#include <assert.h>
#include <stdlib.h>

#include "base/pool.h"
#include "batch/array.h"
#include "codec/parquet/lease.h"
#include "codec/parquet/sink_state.h"

/* What one leaf of the group has become. */
typedef struct spliced {
    tn_encoded_chunk chunk;
    tn_join_counts counts;
} spliced;

typedef struct splice_job {
    tn_parquet_sink *sink;
    const tn_parquet_splice *splice;
    int64_t rows; /* of the group afterwards */
    spliced *out;
} splice_job;

/* The chunk of the source that a leaf is made of. */
typedef struct leaf_work {
    const splice_job *job;
    size_t leaf;
    tn_arena arena; /* of the indexes */
    tn_column_index column_index;
    tn_offset_index offset_index;
    tn_lease bytes;
} leaf_work;

static int give_rows(tarn_cx *cx, void *arg, int64_t first, int64_t rows, tn_leaf_batch *out)
{
    const leaf_work *work = arg;
    tn_parquet_sink *sink = work->job->sink;

    return tn_shred_leaf(cx, &sink->leaves[work->leaf].shredder, &sink->schema.leaves[work->leaf],
                         &sink->paths[work->leaf], work->job->splice->with, first, rows,
                         sink->rows + first, out);
}

/* Its indexes, where there are sound ones, and its bytes. */
static int load_leaf(tarn_cx *cx, leaf_work *work, tn_join_part *part, tn_source *source)
{
    const tn_parquet_splice *splice = work->job->splice;
    bool columns, offsets;
    uint64_t offset, len;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_column_index(cx, part->file, part->group, part->leaf, &work->arena, &columns,
                                   &work->column_index));
    TN_TRY(tn_parquet_offset_index(cx, part->file, part->group, part->leaf, &work->arena, &offsets,
                                   &work->offset_index));
    part->column_index = columns ? &work->column_index : NULL;
    part->offset_index = offsets ? &work->offset_index : NULL;
    TN_TRY(tn_parquet_chunk_span(cx, part->file, part->group, part->leaf, &offset, &len));
    TN_TRY(tn_lease_grow(cx, &work->bytes, (size_t)len, 0, "a column of a row group that changes"));
    TN_TRY(tn_store_read(cx, splice->bytes, offset, work->bytes.data, (size_t)len));
    *source = tn_source_memory(work->bytes.data, len, offset);
done:
    return rc;
}

static int splice_chunk(tarn_cx *cx, const splice_job *job, size_t i)
{
    const tn_parquet_splice *splice = job->splice;
    tn_parquet_sink *sink = job->sink;
    const tn_shred_path *path = &sink->paths[i];
    tn_chunk_options options = sink->options.chunk;
    leaf_work work = {.job = job, .leaf = i};
    tn_splice rows = {.rows = splice->rows, .count = splice->row_count, .give = give_rows};
    tn_source source = {0};
    tn_join_part part = {.file = splice->from,
                         .group = splice->group,
                         .leaf = (size_t)splice->leaves[i].from,
                         .source = &source};
    tn_chunk_join *join = NULL;
    int rc = TARN_OK;

    rows.arg = &work;
    options.plain_bytes = options.plain_bytes || path->steps[path->count - 1].dictionary;
    TN_TRY(load_leaf(cx, &work, &part, &source));
    TN_TRY(tn_chunk_join_open(cx, &sink->schema.leaves[i], &options, TN_JOIN_COPY, &join));
    TN_TRY(tn_chunk_join_splice(cx, join, &part, &rows));
    TN_TRY(tn_chunk_join_finish(cx, join, &job->out[i].chunk, &job->out[i].counts));
done:
    tn_chunk_join_close(join);
    tn_source_clear(&source);
    tn_lease_clear(&work.bytes);
    tn_arena_clear(&work.arena);
    return rc;
}

static int splice_leaf(tarn_cx *cx, size_t i, void *arg)
{
    const splice_job *job = arg;
    const tn_parquet_sink *sink = job->sink;

    if (job->splice->leaves[i].from < 0)
        return tn_chunk_made(cx, &sink->schema.leaves[i], &sink->options.chunk,
                             &job->splice->leaves[i].made, job->rows, &job->out[i].chunk);
    return splice_chunk(cx, job, i);
}

/* As tn_array_check, but for the columns that are made. */
static int check_rows(tarn_cx *cx, const tn_parquet_sink *sink, const tn_parquet_splice *splice)
{
    const tn_node *node = &sink->schema.nodes[sink->schema.nodes[0].first_child];
    const struct ArrowArray *with = splice->with;
    int rc = TARN_OK;

    if (with->n_children != sink->arrow.n_children || with->offset < 0 || with->length < 0)
        TN_FAIL(TARN_E_INVALID, "a batch of rows does not fit the schema of its file");
    for (int64_t i = 0; i < with->n_children; i++) {
        bool made = node->shape == TN_SHAPE_LEAF && splice->leaves[node->first_leaf].from < 0;

        if (!made) {
            TN_TRY(tn_array_check(cx, sink->arrow.children[i], with->children[i]));
            if (with->children[i]->length - with->offset < with->length)
                TN_FAIL(TARN_E_INVALID, "a batch of rows is longer than its column \"%s\"",
                        sink->arrow.children[i]->name);
        }
        node = &sink->schema.nodes[node->next_sibling];
    }
done:
    return rc;
}

static int64_t rows_after(const tn_parquet_splice *splice)
{
    int64_t rows = splice->from->footer.groups[splice->group].rows;

    for (size_t i = 0; i < splice->row_count; i++)
        rows -= splice->rows[i].with < 0;
    return rows;
}

int tn_parquet_sink_splice(tarn_cx *cx, tn_parquet_sink *sink, const tn_parquet_splice *splice,
                           uint64_t *copied_bytes)
{
    size_t n = sink->schema.leaf_count;
    splice_job job = {.sink = sink, .splice = splice, .rows = rows_after(splice)};
    tn_encoded_chunk *chunks = NULL;
    uint64_t copied = 0;
    int rc = TARN_OK;

    assert(!sink->group_open);
    *copied_bytes = 0;
    if (job.rows == 0)
        return TARN_OK;
    TN_TRY(check_rows(cx, sink, splice));
    job.out = tn_calloc(cx, n, sizeof *job.out);
    chunks = tn_calloc(cx, n, sizeof *chunks);
    if (job.out == NULL || chunks == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(tn_parallel(cx, n, splice_leaf, &job));
    for (size_t i = 0; i < n; i++) {
        chunks[i] = job.out[i].chunk;
        job.out[i].chunk = (tn_encoded_chunk){0};
        copied += job.out[i].counts.bytes[TN_JOIN_COPY];
    }
    TN_TRY(tn_parquet_writer_row_group(cx, sink->writer, chunks, job.rows, NULL, 0)); /* I1 */
    sink->rows += job.rows;
    *copied_bytes = copied;
done:
    for (size_t i = 0; i < n; i++) {
        if (job.out != NULL)
            tn_encoded_chunk_clear(&job.out[i].chunk);
        if (chunks != NULL)
            tn_encoded_chunk_clear(&chunks[i]);
    }
    free(job.out);
    free(chunks);
    return rc;
}
