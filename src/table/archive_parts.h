/* What table/archive*.c share: rows of an archive, one by one. */
#ifndef TN_TABLE_ARCHIVE_PARTS_H
#define TN_TABLE_ARCHIVE_PARTS_H

#include "table/archive.h"

/* A row, valid during the call. */
typedef struct tn_archive_row {
    tn_str time, completion, action, file;
    bool completed;
    tn_str metadata, plan;       /* of layout 2: object container files; empty: none */
    const tn_avro_value *record; /* of layout 1: the whole entry */
} tn_archive_row;
typedef int tn_archive_visit(tarn_cx *cx, void *arg, const tn_archive_row *row);

/* Rows of the directory's files, in no order. `only`: of this file alone; empty: of all.
 * `contents`: with metadata and plans. */
int tn_archive_history_each(tarn_cx *cx, tn_store *store, tn_str directory, tn_str only,
                            bool contents, tn_archive_visit *visit, void *arg);
int tn_archive_logs_each(tarn_cx *cx, tn_store *store, tn_str directory, tn_str only,
                         tn_archive_visit *visit, void *arg);

/* The names of files of a manifest's text, in the arena. CORRUPT naming `path`. */
int tn_archive_manifest_parse(tarn_cx *cx, tn_str text, tn_str path, tn_arena *arena,
                              tn_str **names, size_t *count);

#endif
