/* Rows of change data under construction, and rows of a table as the JSON that is in them. */
#ifndef TN_EXEC_CDC_OUT_H
#define TN_EXEC_CDC_OUT_H

#include "base/buf.h"
#include "codec/ndjson/ndjson_write.h"

/* ---- images */

#define TN_CDC_META_COLUMNS 5
#define TN_CDC_FILE_COLUMN  4 /* _hoodie_file_name: a row that moves is no other row */

enum { TN_CDC_META, TN_CDC_FILE, TN_CDC_REST, TN_CDC_PARTS };

/* A struct of columns, printed in parts: the meta columns but the last, that one, and the rest. */
typedef struct tn_cdc_image {
    struct ArrowSchema columns[TN_CDC_PARTS];
    size_t first[TN_CDC_PARTS + 1];
    tn_ndjson_writer *writers[TN_CDC_PARTS];
} tn_cdc_image;

/* A row as JSON, in the order of the columns; dates and times as the numbers that they are stored
 * as, like Hudi. Where a part ends: text.data[ends[TN_CDC_META]] is behind the meta columns. */
typedef struct tn_cdc_text {
    tn_buf text;
    size_t ends[TN_CDC_PARTS];
} tn_cdc_text;

/* `columns`: a struct schema that begins with the meta columns; or with none of them. */
int tn_cdc_image_open(tarn_cx *cx, const struct ArrowSchema *columns, bool meta, tn_cdc_image *out);
void tn_cdc_image_clear(tn_cdc_image *image);
/* Row `at`, without the offset; what *out held before is forgotten. */
int tn_cdc_image_print(tarn_cx *cx, const tn_cdc_image *image, const struct ArrowArray *batch,
                       int64_t at, tn_cdc_text *out);
/* Whether two rows are the same but for the file that they lie in. */
bool tn_cdc_text_equal(const tn_cdc_text *a, const tn_cdc_text *b);
void tn_cdc_text_clear(tn_cdc_text *text);

/* ---- rows */

typedef struct tn_cdc_out {
    tn_str instant;
    bool bare_before; /* images before are printed without meta columns */
    int64_t rows;
    tn_buf ops, images[2], offsets[2], valid[2]; /* before, after; valid: a byte a row */
} tn_cdc_out;

/* Adds a row; `before` or `after` NULL: none. */
int tn_cdc_out_add(tarn_cx *cx, tn_cdc_out *out, tn_str op, const tn_cdc_text *before,
                   const tn_cdc_text *after);
/* Whether it is time to hand out what there is. */
bool tn_cdc_out_full(const tn_cdc_out *out);
/* Hands out what was added, and begins anew. */
int tn_cdc_out_take(tarn_cx *cx, tn_cdc_out *out, struct ArrowArray *batch);
void tn_cdc_out_clear(tn_cdc_out *out);

#endif
