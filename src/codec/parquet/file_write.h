/* Writes a Parquet file: row groups of encoded chunks, then indexes, bloom filters and footer. One
 * thread. */
#ifndef TN_PARQUET_FILE_WRITE_H
#define TN_PARQUET_FILE_WRITE_H

#include "codec/parquet/leaf_write.h"
#include "io/store.h"

typedef struct tn_parquet_writer tn_parquet_writer;

typedef struct tn_parquet_write_options {
    const tn_key_value *key_values; /* of the footer; copied */
    size_t key_value_count;
    tn_str created_by; /* empty: tarn's own ("tarn version 0.1.0 (build …)") */
    bool no_index;     /* leave column and offset indexes out */
} tn_parquet_write_options;

/* The schema and the sink are borrowed until close. The sink is neither finished nor closed here.
 */
int tn_parquet_writer_open(tarn_cx *cx, tn_sink *sink, const tn_schema *schema,
                           const tn_parquet_write_options *options, tn_parquet_writer **out);
void tn_parquet_writer_close(tn_parquet_writer *writer);
/* One chunk per leaf, in order, each of `rows` rows. The chunks' bytes are written and dropped;
 * their indexes are kept. A group of 0 rows is left out. `sorting` may be NULL. */
int tn_parquet_writer_row_group(tarn_cx *cx, tn_parquet_writer *writer, tn_encoded_chunk *chunks,
                                int64_t rows, const tn_sorting_column *sorting,
                                size_t sorting_count);
/* Appends the row groups of `from`, a writer of the same schema that is not finished: their bytes
 * are read from `file`, which is what `from` has written, and stay as they are. `from` has no row
 * groups then; its sink is the caller's to throw away. */
int tn_parquet_writer_append(tarn_cx *cx, tn_parquet_writer *writer, tn_parquet_writer *from,
                             tn_file *file);
/* One more key-value of the footer, copied; behind those of the options. */
int tn_parquet_writer_key_value(tarn_cx *cx, tn_parquet_writer *writer, tn_str key, tn_str value);
/* Indexes, bloom filters, footer, magic. */
int tn_parquet_writer_finish(tarn_cx *cx, tn_parquet_writer *writer);
uint64_t tn_parquet_writer_bytes(const tn_parquet_writer *writer);

#endif
