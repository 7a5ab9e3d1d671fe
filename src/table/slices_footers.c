/* Rows of base files, and how much of a file its bloom filter is, from the footers. */
#include <assert.h>

#include "base/pool.h"
#include "codec/parquet/file.h"
#include "table/hudi_slices.h"

typedef struct footers {
    tn_store *store;
    tn_slices *slices;
} footers;

static int read_footer(tarn_cx *cx, size_t i, void *arg)
{
    const footers *f = arg;
    tn_base_file *base = &f->slices->slices[i].base;
    tn_parquet parquet = {0};
    tn_str filter;
    int rc = TARN_OK;

    if (base->name.len == 0)
        goto done;
    TN_TRY(tn_cx_check(cx));
    TN_TRY(tn_parquet_open(cx, f->store, base->path, &parquet));
    filter = tn_parquet_key_value(&parquet, "org.apache.hudi.bloomfilter");
    if (filter.ptr == NULL)
        filter = tn_parquet_key_value(&parquet, "com.uber.hoodie.bloomfilter");
    base->rows = parquet.footer.rows;
    base->filter_bytes = filter.len;
done:
    tn_parquet_close(&parquet);
    return rc;
}

int tn_slices_footers(tarn_cx *cx, tn_store *store, tn_slices *slices, tn_arena *arena)
{
    footers f = {store, slices};

    assert(arena != NULL);
    return tn_parallel(cx, slices->slice_count, read_footer, &f);
}
