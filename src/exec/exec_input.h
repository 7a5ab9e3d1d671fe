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

/* What an ending says; AUTO: nothing. */
enum tn_input_format tn_exec_input_ending(tn_str path);
/* What a file is: by its name, else by its first bytes (unpacked). INVALID: neither says. */
int tn_exec_input_format(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format *out);
/* Opens one text file; `path` {NULL, 0} is standard input. A name that ends in .tsv has tabs where
 * options name no delimiter. `options` are borrowed until *out, the caller's, is released. */
int tn_exec_input_open(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format format,
                       const tn_text_read_options *options, struct ArrowArrayStream *out);

/* The same in two steps, for who must know the columns of many inputs before reading one. */
typedef struct tn_exec_input tn_exec_input;

/* *out holds the file open. INVALID: a format is neither named nor seen; UNSUPPORTED: Parquet. */
int tn_exec_input_begin(tarn_cx *cx, tn_store *store, tn_str path, enum tn_input_format format,
                        tn_exec_input **out);
/* The columns that its sample shows, those without a value of type null, those of integers that 32
 * bits hold int32; *out is the caller's.
 * *rows: how many it has. What was looked at is read again by the stream. */
int tn_exec_input_sample(tarn_cx *cx, tn_exec_input *input, const tn_text_read_options *options,
                         struct ArrowSchema *out, uint64_t *rows);
/* The rows. `input` belongs to *out; on failure it stays the caller's. */
int tn_exec_input_stream(tarn_cx *cx, tn_exec_input *input, const tn_text_read_options *options,
                         struct ArrowArrayStream *out);
/* Of a stream of these: the line that row `row` of its last batch begins in; 0: not known. */
uint64_t tn_exec_input_line(const struct ArrowArrayStream *rows, int64_t row);
void tn_exec_input_close(tn_exec_input *input);

#endif
