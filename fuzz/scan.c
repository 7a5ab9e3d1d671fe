/* Any bytes as a whole file, read as Arrow batches: each ends in a status or is an array that
 * tn_array_check accepts. */
#include <stdlib.h>

#include "batch/array.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"

enum { ROWS_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan_file(tarn_cx *cx, const tn_parquet *file, int64_t batch_rows)
{
    tn_parquet_scan_options options = {.skip_crc = true, .batch_rows = batch_rows};
    struct ArrowSchema schema = {0};
    tn_parquet_scan *scan = NULL;
    int64_t rows = 0, first;
    int rc;

    rc = tn_parquet_scan_open(cx, file, &options, &scan);
    if (rc == TARN_OK)
        rc = tn_parquet_scan_schema(cx, scan, &schema);
    while (rc == TARN_OK && rows < ROWS_MAX) {
        struct ArrowArray batch = {0};

        rc = tn_parquet_scan_next(cx, scan, &batch, &first);
        if (rc != TARN_OK || batch.length == 0) {
            tn_array_release(&batch);
            break;
        }
        if (tn_array_check(cx, &schema, &batch) != TARN_OK)
            abort();
        rows += batch.length;
        tn_array_release(&batch);
    }
    tn_field_release(&schema);
    tn_parquet_scan_close(scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .memory_bytes = 64 << 20});
    tn_parquet file = {0};

    if (cx != NULL && tn_parquet_open_memory(cx, data, size, TN_STR("fuzz"), &file) == TARN_OK) {
        scan_file(cx, &file, 7);
        scan_file(cx, &file, 1000);
    }
    tn_parquet_close(&file);
    tarn_cx_close(cx);
    return 0;
}
