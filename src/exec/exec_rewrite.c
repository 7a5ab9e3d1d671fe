/* Rewrites row ranges of many Parquet files into one, leaf by leaf, without building rows.
 * Each column chunk of an output row group is a unit of its own: the leaves are worked on in
 * parallel, so that one output uses every job.
 * I1: the output appears under its staged name only; an earlier try under that name is replaced.
 * I2: rows keep the order of the task's segments; every leaf gets exactly the segments' rows.
 * I3: the result's counts are read back from the finished file, never remembered. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/pool.h"
#include "codec/parquet/arrow.h"
#include "exec/exec.h"
#include "exec/rewrite.h"
#include "exec/rewrite_join.h"

#define TN_PAGE_BYTES       (1ull << 20)
#define TN_DICTIONARY_BYTES (1ull << 20)
#define TN_SHARE_BYTES_MIN  4096

/* Every column of a row group is open at once, with a page and a dictionary under construction that
 * nothing is charged for yet (a dictionary's table takes four times its values). So their limits
 * follow from the budget and the number of columns alone: outputs do not depend on timing. */
static uint64_t share_of(tarn_cx *cx, size_t leaves, uint64_t parts, uint64_t usual)
{
    uint64_t bytes = tn_budget_bytes(cx) / parts / (leaves != 0 ? leaves : 1);

    return bytes > usual ? usual : bytes < TN_SHARE_BYTES_MIN ? TN_SHARE_BYTES_MIN : bytes;
}

tn_chunk_options tn_rewrite_chunk_options(tarn_cx *cx, const tn_rewrite *r, size_t leaf)
{
    const tn_task_rewrite *task = r->task;

    return (tn_chunk_options){
        .codec = task->codec,
        .level = task->level,
        .crc = task->crc,
        .dictionary_bytes_max = share_of(cx, task->leaf_count, 16, TN_DICTIONARY_BYTES),
        .page_bytes = share_of(cx, task->leaf_count, 8, TN_PAGE_BYTES),
        .plain_bytes = r->plain_bytes[leaf],
        .bloom =
            tn_rewrite_leaf_encodes(r, leaf) && task->bloom_leaf != NULL && task->bloom_leaf[leaf],
    };
}

int tn_rewrite_row_group(tarn_cx *cx, tn_rewrite *r, int64_t rows, const tn_sorting_column *sorting,
                         size_t sorting_count)
{
    int rc;

    for (size_t l = 0; r->task->sort_count != 0 && l < r->schema.leaf_count; l++)
        r->counts[l].bytes[TN_JOIN_ENCODE] += (uint64_t)r->encoded[l].meta.compressed_bytes;
    rc = tn_parquet_writer_row_group(cx, r->writer, r->encoded, rows, sorting, sorting_count);

    for (size_t l = 0; l < r->schema.leaf_count; l++)
        tn_encoded_chunk_clear(&r->encoded[l]);
    r->row_groups += rc == TARN_OK;
    return rc;
}

static int open_schema(tarn_cx *cx, tn_rewrite *r)
{
    const tn_task_rewrite *task = r->task;
    tn_footer footer;
    int rc = TARN_OK;

    TN_TRY(tn_footer_decode(cx, task->schema, &r->arena, &footer));
    TN_TRY(tn_schema_build(cx, footer.elements, footer.element_count, &r->arena, &r->schema));
    if (r->schema.leaf_count != task->leaf_count)
        TN_FAIL(TARN_E_CORRUPT, "task: %zu leaves are mapped, the schema has %zu", task->leaf_count,
                r->schema.leaf_count);
    r->maps = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->maps);
    r->chunks = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->chunks);
    r->joins = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->joins);
    r->counts = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->counts);
    r->filters = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->filters);
    r->encoded = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->encoded);
    r->plain_bytes = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->plain_bytes);
    if (r->maps == NULL || r->chunks == NULL || r->joins == NULL || r->counts == NULL ||
        r->filters == NULL || r->encoded == NULL || r->plain_bytes == NULL)
        return TARN_E_NOMEM;
    r->ready = true;
    for (size_t i = 0; i < task->key_count; i++)
        if (tn_str_is(task->key_names[i], "ARROW:schema"))
            TN_TRY(tn_arrow_dictionary_leaves(cx, task->key_values[i], &r->schema, r->plain_bytes));
    for (size_t l = 0; l < task->leaf_count; l++)
        tn_rewrite_leaf_init(r, l);
    if (task->hash && task->sort_count == 0) {
        r->hashes = tn_arena_array(cx, &r->arena, task->leaf_count, sizeof *r->hashes);
        if (r->hashes == NULL)
            return TARN_E_NOMEM;
        for (size_t l = 0; l < task->leaf_count; l++)
            TN_TRY(tn_leaf_hash_init(cx, &r->hashes[l]));
    }
done:
    return rc;
}

static int open_output(tarn_cx *cx, tn_rewrite *r)
{
    const tn_task_rewrite *task = r->task;
    tn_parquet_write_options options = {.created_by = task->created_by, .no_index = !task->index};
    tn_key_value *keys = tn_arena_array(cx, &r->arena, task->key_count, sizeof *keys);
    bool exists;
    int rc = TARN_OK;

    if (keys == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < task->key_count; i++)
        keys[i] = (tn_key_value){task->key_names[i], task->key_values[i],
                                 task->key_values[i].ptr != NULL};
    options.key_values = keys;
    options.key_value_count = task->key_count;
    if (tn_str_ends(task->output, TN_STR(".parquet")))
        TN_FAIL(TARN_E_CORRUPT, "task: the staged name %.*s would be taken for data",
                TN_STR_ARG(task->output));
    TN_TRY(tn_store_make_dirs(cx, r->store, tn_path_parent(task->output)));
    TN_TRY(tn_store_exists(cx, r->store, task->output, &exists));
    if (exists)
        TN_TRY(tn_store_remove(cx, r->store, task->output));
    TN_TRY(tn_store_create(cx, r->store, task->output, &r->sink));
    TN_TRY(tn_parquet_writer_open(cx, r->sink, &r->schema, &options, &r->writer));
done:
    return rc;
}

static void rewrite_clear(tarn_cx *cx, tn_rewrite *r)
{
    for (size_t l = 0; r->ready && l < r->task->leaf_count; l++) {
        tn_leaf_map_clear(&r->maps[l]);
        tn_rewrite_leaf_close(r, l);
        tn_rewrite_filter_clear(cx, &r->filters[l]);
        tn_encoded_chunk_clear(&r->encoded[l]);
    }
    for (size_t l = 0; r->hashes != NULL && l < r->task->leaf_count; l++)
        tn_leaf_hash_clear(&r->hashes[l]);
    tn_parquet_writer_close(r->writer);
    tn_store_close_sink(r->sink);
    tn_arena_clear(&r->arena);
}

static int rewrite_groups(tarn_cx *cx, tn_rewrite *r)
{
    int rc = TARN_OK;

    TN_TRY(tn_rewrite_groups(cx, r));
    for (size_t l = 0; r->hashes != NULL && l < r->task->leaf_count; l++)
        r->hash_in = tn_leaf_hash_fold(r->hash_in, l, tn_leaf_hash_value(&r->hashes[l]));
done:
    return rc;
}

int tn_exec_rewrite(tarn_cx *cx, tn_store *store, const tn_task_rewrite *task, tn_arena *arena,
                    tn_result *result)
{
    tn_rewrite r = {.store = store, .task = task};
    int rc = TARN_OK;

    assert(result != NULL);
    TN_TRY(open_schema(cx, &r));
    TN_TRY(open_output(cx, &r));
    TN_TRY(task->sort_count != 0 ? tn_rewrite_sorted(cx, &r) : rewrite_groups(cx, &r));
    TN_TRY(tn_parquet_writer_finish(cx, r.writer));
    tn_parquet_writer_close(r.writer);
    r.writer = NULL;
    TN_TRY(tn_store_finish(cx, r.sink));
    result->output_bytes = r.sink->written_bytes;
    tn_store_close_sink(r.sink);
    r.sink = NULL;
    result->rows_in = r.rows_in;
    result->read_bytes = r.read_bytes;
    result->row_groups = r.row_groups;
    result->hash_in = r.hash_in;
    result->hashed = task->hash;
    TN_TRY(tn_rewrite_verify(cx, &r, result));
    TN_TRY(tn_rewrite_leaves_told(cx, &r, arena, result));
done:
    rewrite_clear(cx, &r);
    return rc;
}
