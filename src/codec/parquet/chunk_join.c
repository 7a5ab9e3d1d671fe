/* Joins chunks. Owns what stands between input chunks and the chunk writer.
 *
 * I1: rows leave in the order in which their parts were added, and a part is added whole or the
 *     join is of no use any more.
 * I2: counts are added to the caller's at the end only. */
#include "codec/parquet/chunk_join.h"

#include <stdlib.h>

#include "codec/parquet/leaf_read.h"

enum { BATCH_ROWS = 65536 };

struct tn_chunk_join {
    const tn_leaf *leaf;
    enum tn_join_way cheapest;
    tn_chunk_writer *writer;
    tn_join_counts counts;
    bool in_batches; /* the rows added last came as batches */
    tn_buf def;      /* of the batch at hand, mapped */
};

int tn_chunk_join_open(tarn_cx *cx, const tn_leaf *leaf, const tn_chunk_options *options,
                       enum tn_join_way cheapest, tn_chunk_join **out)
{
    tn_chunk_join *join = tn_calloc(cx, 1, sizeof *join);
    int rc = TARN_OK;

    if (join == NULL)
        return TARN_E_NOMEM;
    join->leaf = leaf;
    join->cheapest = cheapest;
    TN_TRY(tn_chunk_writer_open(cx, leaf, options, &join->writer));
    *out = join;
    join = NULL;
done:
    tn_chunk_join_close(join);
    return rc;
}

void tn_chunk_join_close(tn_chunk_join *join)
{
    if (join == NULL)
        return;
    tn_chunk_writer_close(join->writer);
    tn_buf_clear(&join->def);
    free(join);
}

/* Which way was taken, and why: the first reason stays. */
static void count(tn_chunk_join *join, enum tn_join_way way, uint64_t bytes, const char *why)
{
    join->counts.chunks[way]++;
    join->counts.bytes[way] += bytes;
    if (join->counts.why[way] == NULL)
        join->counts.why[way] = why;
}

static int map_levels(tarn_cx *cx, tn_chunk_join *join, const uint16_t *map, tn_leaf_batch *batch)
{
    uint16_t *def;

    batch->all_present = batch->all_present || batch->def == NULL;
    if (map == NULL || batch->all_present)
        return TARN_OK;
    tn_buf_reset(&join->def);
    def = (uint16_t *)(void *)tn_buf_extend(&join->def, (size_t)batch->entries * sizeof *def);
    if (def == NULL)
        return tn_buf_check(cx, &join->def);
    for (int64_t i = 0; i < batch->entries; i++)
        def[i] = map[batch->def[i]];
    batch->def = def;
    return TARN_OK;
}

static int encode_part(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part)
{
    tn_leaf_read_options options = {.keep_dictionary = true};
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;
    int rc = TARN_OK;

    TN_TRY(tn_leaf_reader_open(cx, part->file, part->group, part->leaf, part->source, &options,
                               &reader));
    for (;;) {
        TN_TRY(tn_leaf_reader_next(cx, reader, BATCH_ROWS, &batch));
        if (batch.rows == 0)
            break;
        TN_TRY(map_levels(cx, join, part->def_map, &batch));
        TN_TRY(tn_chunk_writer_add(cx, join->writer, &batch));
    }
done:
    tn_leaf_reader_close(reader);
    return rc;
}

int tn_chunk_join_add(tarn_cx *cx, tn_chunk_join *join, const tn_join_part *part)
{
    const tn_leaf *leaf = &part->file->schema.leaves[part->leaf];
    const tn_chunk_meta *meta = &part->file->footer.groups[part->group].columns[part->leaf];
    int rc = TARN_OK;

    if (leaf->physical != join->leaf->physical || leaf->type_length != join->leaf->type_length ||
        leaf->max_rep != join->leaf->max_rep)
        TN_FAIL(TARN_E_INVALID,
                "%.*s: column %.*s: its chunks are of another type than the output's",
                TN_STR_ARG(part->file->path), TN_STR_ARG(leaf->dotted));
    TN_TRY(encode_part(cx, join, part));
    count(join, TN_JOIN_ENCODE, (uint64_t)meta->compressed_bytes, NULL);
    join->in_batches = false;
done:
    return rc;
}

int tn_chunk_join_add_batch(tarn_cx *cx, tn_chunk_join *join, const tn_leaf_batch *batch,
                            const char *why)
{
    uint64_t before = tn_chunk_writer_bytes(join->writer), after;
    int rc = TARN_OK;

    TN_TRY(tn_chunk_writer_add(cx, join->writer, batch));
    after = tn_chunk_writer_bytes(join->writer);
    /* Batches in a row count as one chunk. */
    if (!join->in_batches)
        count(join, TN_JOIN_ENCODE, 0, why);
    join->counts.bytes[TN_JOIN_ENCODE] += after > before ? after - before : 0;
    join->in_batches = true;
done:
    return rc;
}

int tn_chunk_join_finish(tarn_cx *cx, tn_chunk_join *join, tn_encoded_chunk *out,
                         tn_join_counts *counts)
{
    int rc = TARN_OK;

    TN_TRY(tn_chunk_writer_finish(cx, join->writer, out));
    for (int way = 0; way < TN_JOIN_WAYS; way++) {
        counts->chunks[way] += join->counts.chunks[way];
        counts->bytes[way] += join->counts.bytes[way];
        if (counts->why[way] == NULL)
            counts->why[way] = join->counts.why[way];
    }
done:
    return rc;
}
