/* Avro object container files of one or more records (Avro specification, "Object Container
 * Files"). Hudi writes them without a codec; "null" and "deflate" are read. */
#ifndef TN_CODEC_AVRO_FILE_H
#define TN_CODEC_AVRO_FILE_H

#include "codec/avro/avro_value.h"

typedef struct tn_avro_file {
    tn_avro_schema schema; /* the writer's */
    tn_arena arena;
    tn_buf unpacked;
    tn_avro_value *records;
    size_t record_count;
} tn_avro_file;

/* `name` for messages; `bytes` must outlive *out. CORRUPT naming the byte. */
int tn_avro_file_read(tarn_cx *cx, tn_str bytes, tn_str name, tn_avro_file *out);
void tn_avro_file_clear(tn_avro_file *file);
/* A file of one record, as Hudi writes it: no codec key. The 16 sync bytes come from cx's random
 * numbers. `schema_text` is stored as given. */
int tn_avro_file_write(tarn_cx *cx, tn_str schema_text, const tn_avro_type *type,
                       const tn_avro_value *record, tn_buf *out);

#endif
