/* The inside of a read: what op_read.c plans and op_read_stream.c hands out. */
#ifndef TN_OP_READ_H
#define TN_OP_READ_H

#include "batch/predicate.h"
#include "exec/exec_read.h"
#include "op/read_columns.h"
#include "table/dir.h"
#include "tarn/read.h"

typedef struct tn_read_file {
    tn_str path;                 /* in the store */
    int64_t partition;           /* row of the partition values; -1: none */
    uint64_t bytes;              /* about, once decoded */
    int64_t rows;                /* -1: unknown */
    const tn_slice_parts *slice; /* of a Hudi table: logs to merge; NULL: the file alone. `path`
                                    empty: logs alone */
} tn_read_file;

/* Everything a read was planned to; owned by the stream. */
typedef struct tn_read {
    tarn_cx *cx;
    tn_arena arena;
    tn_store *store;
    tn_str root;
    tn_dir dir; /* empty for a single file */
    tn_read_file *files;
    size_t file_count;
    struct ArrowSchema partition_schema; /* released for a single file */
    struct ArrowArray partition_values;
    struct ArrowSchema all;
    tn_read_columns columns;
    tn_scan_task task;             /* of any file: path, partition and slice are filled in */
    const struct tn_reading *hudi; /* of a Hudi table; NULL: none (op/read_hudi.h) */
    bool skip_damaged, has_limit;
    uint64_t limit;
    void (*warn)(void *arg, const char *text);
    void *warn_arg;
    tarn_read_counts *counts;
} tn_read;

void tn_read_close(tn_read *read);
/* Says that a file is left out. */
void tn_read_warn(tn_read *read, tn_str path, const char *text);
/* op_read.c: tarn_read_open on a store, which is taken over, also on failure. */
int tn_read_open_in(tarn_cx *cx, tn_store *store, tn_str root, const tarn_read_options *options,
                    struct ArrowArrayStream *out);
/* What a Hudi table makes of a read: `files`, and what follows. */
typedef struct tn_read_hudi {
    struct ArrowSchema all;     /* meta columns, then the table's */
    const tn_predicate *where;  /* with the key asked for; NULL: every row */
    const char *const *columns; /* asked for, or those that are not meta columns */
    size_t column_count;
    bool stored_keys; /* rows have their record keys, and footers their range */
    tn_str key_field; /* whose text is the record key; empty: no single one's is */
} tn_read_hudi;
/* read_hudi.c: loads the table at read->root. `where` is that of the options, parsed; out->all is
 * the caller's. */
int tn_read_hudi_load(tarn_cx *cx, tn_read *read, const tarn_read_options *options,
                      const tn_predicate *where, tn_read_hudi *out);
/* After NOTFOUND of a file: CONFLICT, "read again", when a service took it away meanwhile. */
int tn_read_hudi_gone(tarn_cx *cx, const tn_read *read, tn_str path);
/* The record keys that the bound filter leaves, into read->task. */
int tn_read_hudi_keys(tarn_cx *cx, tn_read *read, const tn_read_hudi *hudi);
/* Adds what reading a file took. */
void tn_read_add_counts(tarn_read_counts *to, const tn_scan_counts *from);
/* The stream that owns `read` once this has succeeded. */
int tn_read_stream(tarn_cx *cx, tn_read *read, struct ArrowArrayStream *out);

#endif
