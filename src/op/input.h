/* Input files of a write as one stream of rows: Parquet files and directories of them, CSV and
 * NDJSON, packed by gzip or zstd or not, standard input, globs; filtered and projected. */
#ifndef TN_OP_INPUT_H
#define TN_OP_INPUT_H

#include "exec/exec_input.h"
#include "io/store.h"
#include "tarn/batch.h"

typedef struct tn_input_options {
    const char *const *paths; /* as typed: a file, a directory, a glob (* ? [] **), "-" for standard
                                 input; a name that exists is never taken for a glob */
    size_t path_count;
    enum tn_input_format format;
    tn_text_read_options text;  /* schema, rejects */
    const char *where;          /* as of `read`; NULL: every row */
    const char *const *columns; /* as of `read`; NULL: all */
    size_t column_count;
    bool int96_micros, int96_utc;
    /* Called for each input whose columns are looked at (Parquet, samples of text): its own, before
     * what the filter and the columns wanted leave of them. NULL: not. */
    int (*on_schema)(tarn_cx *cx, void *arg, const struct ArrowSchema *schema);
    void *on_schema_arg;
    bool deep;   /* with text.schema_open: also fields of structs that it lacks are read, and
                    integers become wider, or double, where samples have such numbers */
    bool micros; /* times that samples show have no finer unit than microseconds */
} tn_input_options;

/* Opens them and unifies their schemas (batch/unify.h): the stream's schema holds all columns, and
 * rows come in the order of the inputs as given (globs and directories sorted by path). Text inputs
 * without a schema: their samples are unified first. NOTFOUND: a path or glob with nothing behind
 * it. *out is the caller's to release, before cx is closed; options are borrowed until then. */
int tn_input_open(tarn_cx *cx, const tn_input_options *options, struct ArrowArrayStream *out);

/* Where a row of the last batch of such a stream came from. */
typedef struct tn_input_place {
    tn_str source;
    uint64_t line; /* of text */
    uint64_t row;  /* of Parquet, from 1, of those that the condition left; 0: it is text */
} tn_input_place;
void tn_input_origin(const struct ArrowArrayStream *rows, int64_t row, tn_input_place *out);

#endif
