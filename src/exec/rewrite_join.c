/* One leaf of an output row group: joined from whole chunks where the plan allows and nothing in
 * the files stands against it, else encoded from values.
 * I1: no way cheaper than the task's intent for the leaf is taken.
 * I2: a chunk that is joined has been checked against the task like one that is decoded.
 * I3: hashes of inputs are taken from decoded values, never from what is copied: so that they can
 *     be compared with those of the output read back. */
#include "exec/rewrite_join.h"

#include <assert.h>
#include <inttypes.h>

#include "codec/parquet/bounds.h"
#include "codec/parquet/chunk_join.h"
#include "codec/parquet/writer.h"

_Static_assert((int)TN_WAY_COPY == (int)TN_JOIN_COPY &&
                   (int)TN_WAY_SEQUENCE == (int)TN_JOIN_SEQUENCE &&
                   (int)TN_WAY_REMAP == (int)TN_JOIN_REMAP &&
                   (int)TN_WAY_REPACK == (int)TN_JOIN_REPACK &&
                   (int)TN_WAY_ENCODE == (int)TN_JOIN_ENCODE &&
                   (int)TN_WAY_COUNT == (int)TN_JOIN_WAYS,
               "a task names the ways that the codec has");

#define TN_JOIN_AHEAD (1u << 20)

bool tn_rewrite_leaf_encodes(const tn_rewrite *r, size_t leaf)
{
    return r->task->intents[leaf].way == TN_WAY_ENCODE || r->task->sort_count != 0;
}

void tn_rewrite_leaf_init(tn_rewrite *r, size_t leaf)
{
    const tn_leaf *out = &r->schema.leaves[leaf];

    r->maps[leaf].out = out;
    r->filters[leaf].wanted = r->task->bloom_leaf != NULL && r->task->bloom_leaf[leaf] &&
                              out->physical != TN_BOOLEAN && !tn_rewrite_leaf_encodes(r, leaf);
}

bool tn_rewrite_leaf_is_open(const tn_rewrite *r, size_t leaf)
{
    return r->chunks[leaf] != NULL || r->joins[leaf] != NULL;
}

int tn_rewrite_leaf_open(tarn_cx *cx, tn_rewrite *r, size_t leaf)
{
    tn_chunk_options options = tn_rewrite_chunk_options(cx, r, leaf);

    if (tn_rewrite_leaf_encodes(r, leaf))
        return tn_chunk_writer_open(cx, &r->schema.leaves[leaf], &options, &r->chunks[leaf]);
    return tn_chunk_join_open(cx, &r->schema.leaves[leaf], &options,
                              (enum tn_join_way)r->task->intents[leaf].way, &r->joins[leaf]);
}

static bool has_encoding(const tn_chunk_meta *meta, int32_t encoding)
{
    for (size_t i = 0; i < meta->encoding_count; i++)
        if (meta->encodings[i] == encoding)
            return true;
    return false;
}

/* Why the segment's chunk cannot be joined as it is; NULL: it can. */
static const char *against(const tn_rewrite *r, size_t leaf, const tn_loaded *loaded,
                           const tn_segment *segment)
{
    const tn_leaf_source *source = &r->task->mappings[loaded->input->mapping][leaf];
    const tn_leaf *out = &r->schema.leaves[leaf], *in;
    const tn_row_group_meta *group = &loaded->parquet.footer.groups[segment->group];
    const tn_chunk_meta *meta;

    if (source->leaf < 0)
        return "the column is missing";
    if (source->cast != TN_CAST_NONE)
        return "values are cast";
    if (segment->first_row != 0 || segment->rows != group->rows)
        return "a row group is cut";
    in = &loaded->parquet.schema.leaves[source->leaf];
    if (tn_bounds_order_of(in) != tn_bounds_order_of(out))
        return "the column's annotation differs";
    meta = &group->columns[source->leaf];
    if (has_encoding(meta, TN_ENC_DELTA_BYTE_ARRAY) &&
        tn_writer_faulty_deltas(loaded->parquet.footer.created_by))
        return "delta pages of a writer that readers distrust";
    if (r->plain_bytes[leaf] && (has_encoding(meta, TN_ENC_DELTA_BYTE_ARRAY) ||
                                 has_encoding(meta, TN_ENC_DELTA_LENGTH_BYTE_ARRAY)))
        return "delta pages cannot be read into a dictionary type";
    return NULL;
}

typedef struct leaf_sink {
    tn_rewrite *r;
    size_t leaf;
    const char *why;
    bool look;      /* values are only looked at: they are joined already */
    bool no_hash;   /* they have been hashed */
    bool no_filter; /* the filter has them */
} leaf_sink;

static int take_batch(tarn_cx *cx, void *arg, const tn_leaf_batch *batch)
{
    leaf_sink *sink = arg;
    tn_rewrite *r = sink->r;
    const tn_leaf *leaf = &r->schema.leaves[sink->leaf];
    int rc = TARN_OK;

    if (r->hashes != NULL && !sink->no_hash)
        TN_TRY(tn_leaf_hash_add(cx, &r->hashes[sink->leaf], leaf, batch));
    if (!sink->no_filter)
        TN_TRY(tn_rewrite_filter_batch(cx, &r->filters[sink->leaf], leaf, batch));
    if (sink->look)
        goto done;
    if (r->joins[sink->leaf] != NULL)
        TN_TRY(tn_chunk_join_add_batch(cx, r->joins[sink->leaf], batch, sink->why));
    else
        TN_TRY(tn_chunk_writer_add(cx, r->chunks[sink->leaf], batch));
done:
    return rc;
}

static int join_chunk(tarn_cx *cx, tn_rewrite *r, size_t leaf, const tn_loaded *loaded,
                      const tn_segment *segment)
{
    const tn_leaf_source *from = &r->task->mappings[loaded->input->mapping][leaf];
    tn_join_part part = {.file = &loaded->parquet,
                         .group = segment->group,
                         .leaf = (size_t)from->leaf,
                         .def_map = from->def_map};
    tn_source source = {0};
    tn_file *file = NULL;
    int rc = TARN_OK;

    if (loaded->stream) {
        TN_TRY(tn_store_open_file(cx, r->store, loaded->input->file.path, &file));
        source = tn_source_file(file, TN_JOIN_AHEAD);
    } else {
        source = tn_loaded_source(loaded, part.leaf);
    }
    part.source = &source;
    TN_TRY(tn_chunk_join_add(cx, r->joins[leaf], &part));
done:
    tn_source_clear(&source);
    tn_store_close_file(file);
    return rc;
}

int tn_rewrite_leaf_segment(tarn_cx *cx, tn_rewrite *r, size_t leaf, const tn_loaded *loaded,
                            const tn_segment *segment)
{
    const tn_leaf_source *source = &r->task->mappings[loaded->input->mapping][leaf];
    leaf_sink sink = {.r = r, .leaf = leaf};
    bool filter_looks = false;
    int rc = TARN_OK;

    TN_TRY(tn_leaf_map_check(cx, &r->maps[leaf], source, loaded, segment));
    if (r->joins[leaf] != NULL) {
        sink.why = against(r, leaf, loaded, segment);
        sink.look = sink.why == NULL;
        if (sink.look) {
            TN_TRY(join_chunk(cx, r, leaf, loaded, segment));
            TN_TRY(tn_rewrite_filter_chunk(cx, &r->filters[leaf], &loaded->parquet, segment->group,
                                           (size_t)source->leaf, &filter_looks));
            sink.no_filter = !filter_looks;
        }
    } else {
        r->counts[leaf].chunks[TN_JOIN_ENCODE]++;
    }
    if (!sink.look || r->hashes != NULL || filter_looks)
        TN_TRY(tn_leaf_map_segment(cx, r->store, &r->maps[leaf], source, loaded, segment,
                                   take_batch, &sink));
done:
    return rc;
}

int tn_rewrite_leaf_look(tarn_cx *cx, tn_rewrite *r, size_t leaf, const tn_loaded *loaded,
                         const tn_segment *segment)
{
    leaf_sink sink = {.r = r, .leaf = leaf, .look = true, .no_hash = true};

    return tn_leaf_map_segment(cx, r->store, &r->maps[leaf],
                               &r->task->mappings[loaded->input->mapping][leaf], loaded, segment,
                               take_batch, &sink);
}

int tn_rewrite_leaf_finish(tarn_cx *cx, tn_rewrite *r, size_t leaf, int64_t rows)
{
    tn_encoded_chunk *encoded = &r->encoded[leaf];
    int rc = TARN_OK;

    if (r->joins[leaf] != NULL) {
        TN_TRY(tn_chunk_join_finish(cx, r->joins[leaf], encoded, &r->counts[leaf]));
    } else {
        TN_TRY(tn_chunk_writer_finish(cx, r->chunks[leaf], encoded));
        r->counts[leaf].bytes[TN_JOIN_ENCODE] += (uint64_t)encoded->meta.compressed_bytes;
    }
    if (encoded->rows != rows)
        TN_FAIL(TARN_E_CORRUPT,
                "column \"%.*s\": %" PRId64 " rows where the row group has %" PRId64,
                TN_STR_ARG(r->schema.leaves[leaf].dotted), encoded->rows, rows);
    tn_rewrite_leaf_close(r, leaf);
    TN_TRY(tn_rewrite_filter_end(cx, &r->filters[leaf], encoded));
done:
    return rc;
}

void tn_rewrite_leaf_close(tn_rewrite *r, size_t leaf)
{
    tn_chunk_join_close(r->joins[leaf]);
    r->joins[leaf] = NULL;
    tn_chunk_writer_close(r->chunks[leaf]);
    r->chunks[leaf] = NULL;
}

/* Sorting decodes every chunk once or more often; it counts once. */
static uint64_t sorted_chunks(const tn_task_rewrite *task)
{
    uint64_t chunks = 0;

    for (size_t g = 0; task->sort_count != 0 && g < task->group_count; g++)
        for (size_t s = 0; s < task->groups[g].segment_count; s++)
            chunks += task->groups[g].segments[s].rows != 0;
    return chunks;
}

static int tell_lost_filters(tarn_cx *cx, const tn_rewrite *r, tn_arena *arena, tn_str *notes)
{
    int rc = TARN_OK;

    for (size_t l = 0; l < r->schema.leaf_count; l++)
        if (r->filters[l].lost != NULL)
            TN_TRY(tn_arena_print(cx, arena, notes, "%.*s%scolumn \"%.*s\": no bloom filter: %s",
                                  TN_STR_ARG(*notes), notes->len != 0 ? "\n" : "",
                                  TN_STR_ARG(r->schema.leaves[l].dotted), r->filters[l].lost));
done:
    return rc;
}

int tn_rewrite_leaves_told(tarn_cx *cx, const tn_rewrite *r, tn_arena *arena, tn_result *result)
{
    tn_leaf_done *done = tn_arena_array(cx, arena, r->schema.leaf_count, sizeof *done);
    int rc = TARN_OK;

    if (done == NULL)
        return TARN_E_NOMEM;
    for (size_t l = 0; l < r->schema.leaf_count; l++) {
        const tn_join_counts *counts = &r->counts[l];

        for (int way = 0; way < TN_WAY_COUNT; way++) {
            done[l].chunks[way] = counts->chunks[way];
            done[l].bytes[way] = counts->bytes[way];
            if (counts->why[way] != NULL)
                done[l].why[way] = tn_str_of(counts->why[way]);
        }
        done[l].chunks[TN_WAY_ENCODE] += sorted_chunks(r->task);
        if (done[l].chunks[TN_WAY_ENCODE] != 0 && done[l].why[TN_WAY_ENCODE].len == 0 &&
            tn_rewrite_leaf_encodes(r, l)) {
            done[l].why[TN_WAY_ENCODE] = r->task->intents[l].why;
            TN_TRY(tn_arena_keep(cx, arena, &done[l].why[TN_WAY_ENCODE]));
        }
    }
    result->leaves = done;
    result->leaf_count = r->schema.leaf_count;
    TN_TRY(tell_lost_filters(cx, r, arena, &result->notes));
done:
    return rc;
}
