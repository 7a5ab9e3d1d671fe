/* Text files as streams of rows: CSV and NDJSON, packed by gzip or zstd or not, of a store or of
 * standard input. */
#ifndef TN_EXEC_INPUT_H
#define TN_EXEC_INPUT_H

#include "codec/text/text_read.h"
#include "io/store.h"
#include "tarn/batch.h"

enum tn_input_format {
    TN_INPUT_AUTO = 0, /* by ending (.parquet .csv .tsv .ndjson .jsonl .json, then .gz .zst), else
                          by the first bytes */
    TN_INPUT_PARQUET,
    TN_INPUT_CSV,
    TN_INPUT_NDJSON
};

/* What a file is: by its name, else by its first bytes (unpacked). INVALID: neither says. */
int tn_exec_input_format(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format *out);
/* Opens one text file; `path` {NULL, 0} is standard input. `options` are borrowed until *out, the
 * caller's, is released. */
int tn_exec_input_open(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format format,
                       const tn_text_read_options *options, struct ArrowArrayStream *out);

#endif
