/* Reads the finished output back through the store, as any reader would.
 * I1: nothing here comes from the writer's memory but the schema. */
#include <stdlib.h>

#include "base/pool.h"
#include "exec/rewrite.h"
#include "exec/rewrite_column.h"

#define TN_VERIFY_AHEAD (1u << 20)

typedef struct verify {
    tn_rewrite *r;
    const tn_parquet *parquet;
    uint64_t *hashes; /* per leaf */
    uint64_t *rows;   /* per row, where order does not count; NULL elsewhere */
} verify;

/* Hashes one chunk, in order into `hash`, or row by row from *row on. */
static int hash_chunk(tarn_cx *cx, verify *v, tn_file *file, size_t group, size_t leaf,
                      tn_leaf_hash *hash, int64_t *row)
{
    const tn_leaf *schema = &v->parquet->schema.leaves[leaf];
    const tn_leaf_read_options options = {.keep_dictionary = true};
    tn_source source = tn_source_file(file, TN_VERIFY_AHEAD);
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch = {0};
    int rc = TARN_OK;

    TN_TRY(tn_leaf_reader_open(cx, v->parquet, group, leaf, &source, &options, &reader));
    for (;;) {
        TN_TRY(tn_leaf_reader_next(cx, reader, INT32_MAX, &batch));
        if (batch.rows == 0)
            break;
        if (v->rows != NULL)
            TN_TRY(tn_sort_column_hash_rows(cx, schema, &batch, &hash->scratch, v->rows + *row));
        else
            TN_TRY(tn_leaf_hash_add(cx, hash, schema, &batch));
        *row += batch.rows;
    }
done:
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    return rc;
}

static int hash_leaf(tarn_cx *cx, size_t leaf, void *arg)
{
    verify *v = arg;
    tn_leaf_hash hash = {0};
    tn_file *file = NULL;
    int64_t row = 0;
    int rc = TARN_OK;

    TN_TRY(tn_store_open_file(cx, v->r->store, v->r->task->output, &file));
    TN_TRY(tn_leaf_hash_init(cx, &hash));
    for (size_t g = 0; g < v->parquet->footer.group_count; g++) {
        int64_t before = row, rows = v->parquet->footer.groups[g].rows;

        TN_TRY(hash_chunk(cx, v, file, g, leaf, &hash, &row));
        if (row - before != rows)
            TN_FAIL(TARN_E_CORRUPT, "%.*s: reads back with other rows than were written",
                    TN_STR_ARG(v->r->task->output));
    }
    v->hashes[leaf] = tn_leaf_hash_value(&hash);
done:
    tn_leaf_hash_clear(&hash);
    tn_store_close_file(file);
    return rc;
}

int tn_rewrite_verify(tarn_cx *cx, tn_rewrite *r, tn_result *result)
{
    tn_parquet parquet = {0};
    verify v = {.r = r, .parquet = &parquet};
    int64_t rows = 0;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, r->store, r->task->output, &parquet));
    for (size_t g = 0; g < parquet.footer.group_count; g++)
        rows += parquet.footer.groups[g].rows;
    if (rows != parquet.footer.rows || parquet.schema.leaf_count != r->schema.leaf_count)
        TN_FAIL(TARN_E_CORRUPT, "%.*s: reads back with other rows or columns than were written",
                TN_STR_ARG(r->task->output));
    result->rows_out = rows;
    if (!r->task->hash)
        goto done;
    v.hashes = tn_arena_array(cx, &r->arena, r->schema.leaf_count, sizeof *v.hashes);
    if (v.hashes == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (r->task->sort_count != 0) {
        v.rows = tn_calloc(cx, (size_t)rows, sizeof *v.rows);
        if (v.rows == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    TN_TRY(tn_parallel(cx, r->schema.leaf_count, hash_leaf, &v));
    result->hash_out = v.rows != NULL ? tn_sort_column_hash_fold(v.rows, (uint64_t)rows) : 0;
    for (size_t l = 0; v.rows == NULL && l < r->schema.leaf_count; l++)
        result->hash_out = tn_leaf_hash_fold(result->hash_out, l, v.hashes[l]);
done:
    free(v.rows);
    tn_parquet_close(&parquet);
    return rc;
}
