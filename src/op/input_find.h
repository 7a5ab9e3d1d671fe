/* Inputs as typed, found: files, directories, globs, standard input. */
#ifndef TN_OP_INPUT_FIND_H
#define TN_OP_INPUT_FIND_H

#include "op/input.h"

typedef struct tn_input_file {
    tn_store *store;
    tn_str path;                 /* in the store; {NULL, 0}: standard input */
    enum tn_input_format format; /* AUTO: not known before it is opened */
    bool directory;              /* of Parquet files, partition columns included */
} tn_input_file;

typedef struct tn_input_files {
    tn_arena arena;
    tn_store **stores; /* one per path as typed; NULL: none */
    size_t store_count;
    tn_input_file *items;
    size_t count, cap;
} tn_input_files;

/* The files behind all paths, in order. Zeroed before; cleared after a failure too. */
int tn_input_find(tarn_cx *cx, const tn_input_options *options, tn_input_files *out);
void tn_input_files_clear(tn_input_files *files);
/* Whether a name matches one part of a glob: * ? [a-z] [!a-z]. */
bool tn_input_match(tn_str pattern, tn_str name);

#endif
