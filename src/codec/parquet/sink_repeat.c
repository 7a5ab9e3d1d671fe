/* A column that has the values of another, as Hudi's record keys have those of the key's field: its
 * chunks are copies of the other's, which are encoded and compressed once.
 *
 * I1: nothing is taken for granted: the values of each batch are compared. Where they differ the
 * row group ends (sink.c), and the column is one like all others from there on. */
#include <assert.h>
#include <string.h>

#include "codec/parquet/sink_state.h"

static bool is_plain_text(const tn_parquet_sink *sink, size_t column, const tn_node *node)
{
    const struct ArrowSchema *field = sink->arrow.children[column];

    return node != NULL && strcmp(field->format, "u") == 0 && field->dictionary == NULL &&
           sink->schema.leaves[node->first_leaf].max_rep == 0;
}

void tn_parquet_sink_repeat(tn_parquet_sink *sink, size_t column, size_t of)
{
    const tn_node *node = tn_sink_column(sink, column), *other = tn_sink_column(sink, of);

    assert(column < of && !sink->group_open);
    if (!is_plain_text(sink, column, node) || !is_plain_text(sink, of, other) ||
        sink->options.chunk.bloom || sink->leaves[node->first_leaf].ruled ||
        sink->leaves[other->first_leaf].ruled)
        return;
    sink->repeat = node->first_leaf;
    sink->repeat_of = other->first_leaf;
    sink->repeat_columns[0] = column;
    sink->repeat_columns[1] = of;
    sink->may_repeat =
        sink->schema.leaves[sink->repeat].max_def == sink->schema.leaves[sink->repeat_of].max_def;
}

bool tn_sink_repeats(const tn_parquet_sink *sink, const struct ArrowArray *batch, int64_t first,
                     int64_t rows)
{
    const struct ArrowArray *a = batch->children[sink->repeat_columns[0]];
    const struct ArrowArray *b = batch->children[sink->repeat_columns[1]];
    const int32_t *ends[2];
    size_t bytes;

    if (a->null_count != 0 || b->null_count != 0)
        return false;
    ends[0] = (const int32_t *)a->buffers[1] + a->offset + batch->offset + first;
    ends[1] = (const int32_t *)b->buffers[1] + b->offset + batch->offset + first;
    bytes = (size_t)(ends[0][rows] - ends[0][0]);
    for (int64_t i = 1; i <= rows; i++)
        if (ends[0][i] - ends[0][0] != ends[1][i] - ends[1][0])
            return false;
    return bytes == 0 || memcmp((const char *)a->buffers[2] + ends[0][0],
                                (const char *)b->buffers[2] + ends[1][0], bytes) == 0;
}

int tn_sink_repeat_chunk(tarn_cx *cx, const tn_parquet_sink *sink, tn_encoded_chunk *chunks)
{
    const tn_encoded_chunk *of = &chunks[sink->repeat_of];
    const tn_leaf *leaf = &sink->schema.leaves[sink->repeat];
    tn_encoded_chunk chunk = *of;
    size_t pages = of->offset_index.pages;
    int rc = TARN_OK;

    chunk.arena = (tn_arena){0};
    chunk.pieces = NULL;
    chunk.piece_count = 0;
    chunk.bloom = (tn_buf){0};
    chunk.reserved_bytes = 0;
    chunk.same = of;
    chunk.meta.path = tn_arena_array(cx, &chunk.arena, leaf->path_count, sizeof *chunk.meta.path);
    chunk.offset_index.locations =
        tn_arena_array(cx, &chunk.arena, pages, sizeof *chunk.offset_index.locations);
    if (chunk.meta.path == NULL || chunk.offset_index.locations == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (uint16_t i = 0; i < leaf->path_count; i++)
        chunk.meta.path[i] = leaf->path[i];
    memcpy(chunk.offset_index.locations, of->offset_index.locations,
           pages * sizeof *chunk.offset_index.locations);
    chunks[sink->repeat] = chunk;
    chunk = (tn_encoded_chunk){0};
done:
    tn_arena_clear(&chunk.arena);
    return rc;
}
