/* Reads every column of a Parquet file into Arrow batches and drops them: scan_bench FILE. */
#include <stdio.h>
#include <stdlib.h>

#include "codec/parquet/arrow.h"
#include "io/store.h"

static int scan(tarn_cx *cx, const char *text, int64_t *rows)
{
    tn_arena arena = {0};
    tn_store *store = NULL;
    tn_str path;
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    struct ArrowArray batch = {0};
    int64_t first;
    int rc = TARN_OK;

    TN_TRY(tn_store_locate(cx, tn_str_of(text), &arena, &store, &path));
    TN_TRY(tn_parquet_open(cx, store, path, &file));
    TN_TRY(tn_parquet_scan_open(cx, &file, &(tn_parquet_scan_options){0}, &scan));
    for (;;) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        *rows += batch.length;
        if (batch.length == 0)
            break;
        batch.release(&batch);
    }
done:
    if (batch.release != NULL)
        batch.release(&batch);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    tn_store_close(store);
    tn_arena_clear(&arena);
    return rc;
}

int main(int argc, char **argv)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    int64_t rows = 0;
    int rc = cx != NULL && argc == 2 ? scan(cx, argv[1], &rows) : TARN_E_INVALID;

    printf("%lld rows\n", (long long)rows);
    if (rc != TARN_OK)
        fprintf(stderr, "scan_bench: %s\n", cx != NULL ? tarn_cx_error(cx) : "out of memory");
    tarn_cx_close(cx);
    return rc == TARN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
