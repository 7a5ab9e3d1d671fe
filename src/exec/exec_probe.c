/* Reads a file whole and keeps nothing. */
#include "exec/exec_probe.h"

#include "batch/array.h"
#include "codec/parquet/arrow.h"

int tn_exec_probe(tarn_cx *cx, tn_store *store, tn_str path)
{
    /* INT96 in microseconds, which every value fits: its range is no damage. */
    static const tn_parquet_scan_options options = {.int96_micros = true};
    tn_parquet file = {0};
    tn_parquet_scan *scan = NULL;
    struct ArrowArray batch = {0};
    int64_t rows = 1, first;
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, store, path, &file));
    TN_TRY(tn_parquet_scan_open(cx, &file, &options, &scan));
    while (rows > 0) {
        TN_TRY(tn_parquet_scan_next(cx, scan, &batch, &first));
        rows = batch.length;
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    return rc;
}
