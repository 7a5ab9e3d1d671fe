/* The inside of a read: what op_read.c plans and op_read_stream.c hands out. */
#ifndef TN_OP_READ_H
#define TN_OP_READ_H

#include "exec/exec_read.h"
#include "op/read_columns.h"
#include "table/dir.h"
#include "tarn/read.h"

typedef struct tn_read_file {
    tn_str path;       /* in the store */
    int64_t partition; /* row of the partition values; -1: none */
    uint64_t bytes;    /* about, once decoded */
    int64_t rows;      /* -1: unknown */
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
    tn_scan_task task; /* of any file: path and partition are filled in */
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
/* The stream that owns `read` once this has succeeded. */
int tn_read_stream(tarn_cx *cx, tn_read *read, struct ArrowArrayStream *out);

#endif
