/* A Parquet file from Arrow batches.
 *
 * Rows go in portions: each leaf shreds its part and encodes it, in parallel; between portions the
 * sink looks whether the row group is full. The size of a portion follows the bytes that a row has
 * taken so far, so that wide rows do not overshoot the group and the memory.
 *
 * I1: all leaves hold the same rows between two portions: in a chunk writer, or (columns that
 *     follow a rule) as a number of rows. A leaf has the latter before the former.
 * I2: after a failure only close may follow; the file is then incomplete. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/budget.h"
#include "base/pool.h"
#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow_ipc.h"
#include "codec/parquet/sink_state.h"

#define GROUP_BYTES        (32ull << 20)
#define GROUP_ROWS         1048576
#define PORTION_ROWS_FIRST 4096
#define PORTION_ROWS_MAX   65536
#define PORTION_CELLS_MAX                                                                          \
    (1 << 20) /* rows times leaves: levels and views of a cell take 28 bytes */
#define PORTION_ROWS_MIN   64
#define PORTIONS_PER_GROUP 16
#define FOLLOWED_MAX       15 /* row groups; the next one tries anew how columns are best written */
#define OWED_SHARE         16 /* of the budget may be owed without further thought */

int tn_arrow_schema_serialize(tarn_cx *cx, const struct ArrowSchema *schema, tn_buf *out)
{
    tn_buf message = {0};
    int rc;

    rc = tn_arrow_ipc_write(cx, schema, &message);
    if (rc == TARN_OK) {
        tn_base64_encode(out, tn_buf_view(&message));
        rc = tn_buf_check(cx, out);
    }
    tn_buf_clear(&message);
    return rc;
}

/* The file's key-values, with ARROW:schema last where it is wanted and not given. */
static int key_values(tarn_cx *cx, tn_parquet_sink *sink, const tn_parquet_write_options *file,
                      tn_parquet_write_options *out, tn_buf *text)
{
    tn_key_value *pairs =
        tn_arena_array(cx, &sink->arena, file->key_value_count + 1, sizeof *pairs);
    size_t count = 0;
    int rc;

    if (pairs == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < file->key_value_count; i++)
        if (!sink->options.store_arrow_schema ||
            !tn_str_is(file->key_values[i].key, "ARROW:schema"))
            pairs[count++] = file->key_values[i];
    *out = *file;
    if (sink->options.store_arrow_schema) {
        const struct ArrowSchema *stored = sink->options.stored_schema;

        rc = tn_arrow_schema_serialize(cx, stored != NULL ? stored : &sink->arrow, text);
        if (rc != TARN_OK)
            return rc;
        pairs[count++] = (tn_key_value){TN_STR("ARROW:schema"), tn_buf_view(text), true};
    }
    out->key_values = pairs;
    out->key_value_count = count;
    return TARN_OK;
}

int tn_parquet_sink_open(tarn_cx *cx, tn_sink *file, const struct ArrowSchema *schema,
                         const tn_parquet_sink_options *options, tn_parquet_sink **out)
{
    tn_parquet_sink *sink = tn_calloc(cx, 1, sizeof *sink);
    tn_parquet_write_options write;
    tn_buf text = {0};
    int rc = TARN_OK;

    if (sink == NULL)
        return TARN_E_NOMEM;
    sink->options = *options;
    if (sink->options.group_bytes == 0)
        sink->options.group_bytes = GROUP_BYTES;
    if (sink->options.group_rows <= 0)
        sink->options.group_rows = GROUP_ROWS;
    TN_TRY(tn_field_copy(cx, schema, &sink->arrow));
    TN_TRY(tn_shred_plan(cx, &sink->arrow, &sink->arena, &sink->schema, &sink->paths));
    sink->leaves = tn_calloc(cx, sink->schema.leaf_count, sizeof sink->leaves[0]);
    if (sink->leaves == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(key_values(cx, sink, &options->file, &write, &text));
    TN_TRY(tn_parquet_writer_open(cx, file, &sink->schema, &write, &sink->writer));
    *out = sink;
    sink = NULL;
done:
    tn_buf_clear(&text);
    tn_parquet_sink_close(sink);
    return rc;
}

typedef struct portion {
    tn_parquet_sink *sink;
    const struct ArrowArray *batch;
    int64_t first, rows;
} portion;

/* The writer of the leaf, with the rows that follow a rule in it. */
static int open_leaf(tarn_cx *cx, tn_parquet_sink *sink, size_t i)
{
    tn_sink_leaf *leaf = &sink->leaves[i];
    const tn_shred_path *path = &sink->paths[i];
    tn_chunk_options options = sink->options.chunk;
    tn_made made = leaf->made;
    int rc = TARN_OK;

    if (leaf->writer != NULL)
        return TARN_OK;
    options.plain_bytes = options.plain_bytes || path->steps[path->count - 1].dictionary;
    TN_TRY(tn_chunk_writer_open(cx, &sink->schema.leaves[i], &options, &leaf->writer));
    if (leaf->followed != 0)
        tn_chunk_writer_follow(leaf->writer, &leaf->choice);
    if (leaf->ruled_rows != 0) {
        made.first -= leaf->ruled_rows;
        TN_TRY(
            tn_chunk_made_add(cx, leaf->writer, &sink->schema.leaves[i], &made, leaf->ruled_rows));
        leaf->ruled_rows = 0;
    }
done:
    return rc;
}

static int add_ruled(tarn_cx *cx, const portion *p, size_t i)
{
    tn_sink_leaf *leaf = &p->sink->leaves[i];
    int rc = TARN_OK;

    if (leaf->writer != NULL)
        TN_TRY(
            tn_chunk_made_add(cx, leaf->writer, &p->sink->schema.leaves[i], &leaf->made, p->rows));
    else
        leaf->ruled_rows += p->rows;
    leaf->made.first += p->rows;
done:
    return rc;
}

static int add_leaf(tarn_cx *cx, size_t i, void *arg)
{
    portion *p = arg;
    tn_sink_leaf *leaf = &p->sink->leaves[i];
    tn_leaf_batch batch;
    int rc = TARN_OK;

    if (leaf->ruled)
        return add_ruled(cx, p, i);
    if (p->sink->repeating && i == p->sink->repeat)
        return TARN_OK;
    TN_TRY(open_leaf(cx, p->sink, i));
    TN_TRY(tn_shred_leaf(cx, &leaf->shredder, &p->sink->schema.leaves[i], &p->sink->paths[i],
                         p->batch, p->first, p->rows, p->sink->rows, &batch));
    TN_TRY(tn_chunk_writer_add(cx, leaf->writer, &batch));
done:
    return rc;
}

static int finish_leaf(tarn_cx *cx, size_t i, void *arg)
{
    tn_parquet_sink *sink = arg;
    tn_sink_leaf *leaf = &sink->leaves[i];
    tn_made made = leaf->made;
    int rc;

    if (sink->repeating && i == sink->repeat)
        return TARN_OK;
    if (leaf->writer == NULL) {
        made.first -= leaf->ruled_rows;
        rc = tn_chunk_made(cx, &sink->schema.leaves[i], &sink->options.chunk, &made,
                           leaf->ruled_rows, &leaf->chunk);
        leaf->ruled_rows = 0;
        return rc;
    }
    rc = tn_chunk_writer_finish(cx, leaf->writer, &leaf->chunk);
    leaf->choice = tn_chunk_writer_choice(leaf->writer);
    leaf->followed = leaf->followed < FOLLOWED_MAX ? leaf->followed + 1 : 0;
    tn_chunk_writer_close(leaf->writer);
    leaf->writer = NULL;
    return rc;
}

/* Ends the row group and writes it out. */
static int flush_group(tarn_cx *cx, tn_parquet_sink *sink)
{
    tn_encoded_chunk *chunks = NULL;
    size_t count = sink->schema.leaf_count;
    int rc = TARN_OK;

    TN_TRY(tn_parallel(cx, count, finish_leaf, sink));
    chunks = tn_calloc(cx, count, sizeof *chunks);
    if (chunks == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        chunks[i] = sink->leaves[i].chunk;
        sink->leaves[i].chunk = (tn_encoded_chunk){0};
    }
    if (sink->repeating)
        TN_TRY(tn_sink_repeat_chunk(cx, sink, chunks));
    TN_TRY(tn_parquet_writer_row_group(cx, sink->writer, chunks, sink->group_rows, NULL, 0));
    sink->group_open = sink->repeating = false;
    sink->group_rows = 0;
done:
    for (size_t i = 0; chunks != NULL && i < count; i++)
        tn_encoded_chunk_clear(&chunks[i]);
    free(chunks);
    return rc;
}

static uint64_t group_bytes(const tn_parquet_sink *sink)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < sink->schema.leaf_count; i++) {
        const tn_sink_leaf *leaf =
            &sink->leaves[sink->repeating && i == sink->repeat ? sink->repeat_of : i];

        bytes += leaf->writer != NULL ? tn_chunk_writer_bytes(leaf->writer)
                                      : tn_chunk_made_bytes(&leaf->made, leaf->ruled_rows);
    }
    return bytes;
}

static int64_t portion_rows(const tn_parquet_sink *sink)
{
    size_t leaves = sink->schema.leaf_count != 0 ? sink->schema.leaf_count : 1;
    int64_t most = (int64_t)(PORTION_CELLS_MAX / leaves);
    uint64_t row_bytes, fit;

    most = most < PORTION_ROWS_MIN   ? PORTION_ROWS_MIN
           : most > PORTION_ROWS_MAX ? PORTION_ROWS_MAX
                                     : most;
    if (sink->group_rows == 0)
        return most < PORTION_ROWS_FIRST ? most : PORTION_ROWS_FIRST;
    row_bytes = group_bytes(sink) / (uint64_t)sink->group_rows;
    if (row_bytes == 0)
        return most;
    fit = sink->options.group_bytes / PORTIONS_PER_GROUP / row_bytes;
    return fit < 1 ? 1 : fit > (uint64_t)most ? most : (int64_t)fit;
}

/* The chunk writers charge the budget for what they hold when a page ends, and pages of many
 * columns end together. Where it would not take that, thrice, and a few more portions, the group
 * ends early: a small row group is better than a failure. What few columns owe is no matter. */
static bool budget_short(tarn_cx *cx, const tn_parquet_sink *sink, uint64_t portion_bytes)
{
    uint64_t wish = 4 * portion_bytes + (1u << 20), owed = 0;
    uint64_t free_bytes = tn_budget_bytes(cx) / OWED_SHARE;

    for (size_t i = 0; i < sink->schema.leaf_count; i++)
        owed += tn_chunk_writer_owed(sink->leaves[i].writer);
    wish += owed > free_bytes ? 3 * (owed - free_bytes) : 0;
    if (!tn_budget_try(cx, wish))
        return true;
    tn_budget_give(cx, wish);
    return false;
}

/* Before rows are added: whether a column repeats another in them. The first row where it does not
 * ends the row group, and that it is looked at. */
static int look_for_repeats(tarn_cx *cx, tn_parquet_sink *sink, const struct ArrowArray *batch,
                            int64_t first, int64_t rows)
{
    int rc = TARN_OK;

    if (!sink->may_repeat || (sink->group_open && !sink->repeating))
        return TARN_OK;
    sink->may_repeat = tn_sink_repeats(sink, batch, first, rows);
    if (sink->repeating && !sink->may_repeat)
        TN_TRY(flush_group(cx, sink));
    sink->repeating = sink->may_repeat;
done:
    return rc;
}

static int add_portion(tarn_cx *cx, tn_parquet_sink *sink, const struct ArrowArray *batch,
                       int64_t first, int64_t rows)
{
    portion p = {sink, batch, first, rows};
    uint64_t before, bytes;
    int rc = TARN_OK;

    TN_TRY(look_for_repeats(cx, sink, batch, first, rows));
    before = sink->group_open ? group_bytes(sink) : 0;
    TN_TRY(tn_parallel(cx, sink->schema.leaf_count, add_leaf, &p));
    sink->group_open = true;
    sink->rows += rows;
    sink->group_rows += rows;
    bytes = group_bytes(sink);
    if (bytes >= sink->options.group_bytes || sink->group_rows >= sink->options.group_rows ||
        budget_short(cx, sink, bytes > before ? bytes - before : 0))
        TN_TRY(flush_group(cx, sink));
done:
    return rc;
}

const tn_node *tn_sink_column(const tn_parquet_sink *sink, size_t column)
{
    const tn_node *root = &sink->schema.nodes[0], *node = &sink->schema.nodes[root->first_child];

    assert(column < root->child_count);
    for (size_t i = 0; i < column; i++)
        node = &sink->schema.nodes[node->next_sibling];
    return node->shape == TN_SHAPE_LEAF ? node : NULL;
}

int tn_parquet_sink_make(tarn_cx *cx, tn_parquet_sink *sink, size_t column, const tn_made *made)
{
    const tn_node *node = tn_sink_column(sink, column);
    tn_sink_leaf *leaf;
    int rc = TARN_OK;

    assert(node != NULL && !(sink->may_repeat && node->first_leaf == sink->repeat));
    leaf = &sink->leaves[node->first_leaf];
    if (leaf->ruled_rows != 0)
        TN_TRY(open_leaf(cx, sink, node->first_leaf));
    leaf->ruled = made != NULL;
    if (made != NULL) {
        tn_buf_reset(&leaf->text);
        tn_buf_str(&leaf->text, made->text);
        TN_TRY(tn_buf_check(cx, &leaf->text));
        leaf->made = *made;
        leaf->made.text = tn_buf_view(&leaf->text);
    }
    sink->ruled = false;
    for (size_t i = 0; i < sink->schema.leaf_count; i++)
        sink->ruled = sink->ruled || sink->leaves[i].ruled;
done:
    return rc;
}

int tn_parquet_sink_key_value(tarn_cx *cx, tn_parquet_sink *sink, tn_str key, tn_str value)
{
    return tn_parquet_writer_key_value(cx, sink->writer, key, value);
}

const tn_schema *tn_parquet_sink_schema(const tn_parquet_sink *sink)
{
    return &sink->schema;
}

void tn_parquet_sink_cut_at(tn_parquet_sink *sink, uint64_t group_bytes)
{
    sink->options.group_bytes = group_bytes;
}

int tn_parquet_sink_carry(tarn_cx *cx, tn_parquet_sink *sink, const tn_parquet *from,
                          tn_file *bytes, size_t group, const tn_carry_leaf *leaves)
{
    int rc = TARN_OK;

    assert(!sink->group_open);
    TN_TRY(tn_parquet_writer_carry(cx, sink->writer, from, bytes, group, leaves,
                                   &sink->options.chunk));
    sink->rows += from->footer.groups[group].rows;
done:
    return rc;
}

int64_t tn_parquet_sink_open_rows(const tn_parquet_sink *sink)
{
    return sink->group_rows;
}

int64_t tn_parquet_sink_rows(const tn_parquet_sink *sink)
{
    return sink->rows;
}

/* As tn_array_check, but for the columns that follow a rule. */
static int check_batch(tarn_cx *cx, const tn_parquet_sink *sink, const struct ArrowArray *batch)
{
    const tn_node *node = &sink->schema.nodes[sink->schema.nodes[0].first_child];
    int rc = TARN_OK;

    if (!sink->ruled)
        return tn_array_check(cx, &sink->arrow, batch);
    if (batch->n_children != sink->arrow.n_children || batch->offset < 0 || batch->length < 0)
        TN_FAIL(TARN_E_INVALID, "a batch of rows does not fit the schema of its file");
    for (int64_t i = 0; i < batch->n_children; i++) {
        if (node->shape != TN_SHAPE_LEAF || !sink->leaves[node->first_leaf].ruled) {
            TN_TRY(tn_array_check(cx, sink->arrow.children[i], batch->children[i]));
            if (batch->children[i]->length - batch->offset < batch->length)
                TN_FAIL(TARN_E_INVALID, "a batch of rows is longer than its column \"%s\"",
                        sink->arrow.children[i]->name);
        }
        node = &sink->schema.nodes[node->next_sibling];
    }
done:
    return rc;
}

int tn_parquet_sink_add(tarn_cx *cx, tn_parquet_sink *sink, const struct ArrowArray *batch)
{
    int64_t rows;
    int rc = TARN_OK;

    TN_TRY(check_batch(cx, sink, batch));
    if (batch->null_count != 0 && batch->n_buffers > 0 && batch->buffers[0] != NULL &&
        tn_bits_count(batch->buffers[0], batch->offset, batch->length) != batch->length)
        TN_FAIL(TARN_E_INVALID, "a batch of rows holds rows that are null as a whole");
    for (int64_t at = 0; at < batch->length; at += rows) {
        TN_TRY(tn_cx_check(cx));
        rows = portion_rows(sink);
        if (rows > batch->length - at)
            rows = batch->length - at;
        if (rows > sink->options.group_rows - sink->group_rows)
            rows = sink->options.group_rows - sink->group_rows;
        TN_TRY(add_portion(cx, sink, batch, at, rows));
    }
done:
    return rc;
}

int tn_parquet_sink_finish(tarn_cx *cx, tn_parquet_sink *sink)
{
    int rc = TARN_OK;

    if (sink->group_open)
        TN_TRY(flush_group(cx, sink));
    TN_TRY(tn_parquet_writer_finish(cx, sink->writer));
done:
    return rc;
}

uint64_t tn_parquet_sink_open_bytes(const tn_parquet_sink *sink)
{
    return sink->group_open ? group_bytes(sink) : 0;
}

uint64_t tn_parquet_sink_bytes(const tn_parquet_sink *sink)
{
    return tn_parquet_writer_bytes(sink->writer) + tn_parquet_sink_open_bytes(sink);
}

int tn_parquet_sink_flush(tarn_cx *cx, tn_parquet_sink *sink)
{
    return sink->group_open ? flush_group(cx, sink) : TARN_OK;
}

int tn_parquet_sink_append(tarn_cx *cx, tn_parquet_sink *sink, tn_parquet_sink *from,
                           tn_file *bytes)
{
    assert(!sink->group_open && !from->group_open);
    sink->rows += from->rows;
    return tn_parquet_writer_append(cx, sink->writer, from->writer, bytes);
}

void tn_parquet_sink_close(tn_parquet_sink *sink)
{
    if (sink == NULL)
        return;
    for (size_t i = 0; sink->leaves != NULL && i < sink->schema.leaf_count; i++) {
        tn_chunk_writer_close(sink->leaves[i].writer);
        tn_encoded_chunk_clear(&sink->leaves[i].chunk);
        tn_shredder_clear(&sink->leaves[i].shredder);
        tn_buf_clear(&sink->leaves[i].text);
    }
    free(sink->leaves);
    tn_parquet_writer_close(sink->writer);
    tn_field_release(&sink->arrow);
    tn_arena_clear(&sink->arena);
    free(sink);
}
