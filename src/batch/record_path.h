/* Partition paths of rows, as Hudi's key generators spell them. */
#ifndef TN_BATCH_RECORD_PATH_H
#define TN_BATCH_RECORD_PATH_H

#include "batch/path_time.h"
#include "batch/record_field.h"

typedef struct tn_record_path {
    const tn_record_key_options *options;
    tn_record_field *fields;
    bool *is_time;
    size_t count;
    tn_path_time *time; /* NULL: none is */
} tn_record_path;

/* `zone` as tn_record_field's. The array of fields lives in `arena`. */
int tn_record_path_open(tarn_cx *cx, tn_arena *arena, const tn_record_key_options *options,
                        const struct ArrowSchema *schema, const tn_zone *zone, tn_record_path *out);
void tn_record_path_close(tn_record_path *path);
void tn_record_path_load(tn_record_path *path, const struct ArrowArray *batch);
/* Appends the path of a row. DATA for a value that has no place: a time that no pattern reads, a
 * path with empty levels or ".." in it. */
int tn_record_path_print(tarn_cx *cx, const tn_record_path *path, int64_t row, tn_buf *out);

#endif
