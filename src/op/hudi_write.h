/* A write into a Hudi table, on a given store. */
#ifndef TN_OP_HUDI_WRITE_H
#define TN_OP_HUDI_WRITE_H

#include "io/store.h"
#include "tarn/table.h"

/* tarn_table_write_rows on a store, which stays the caller's. */
int tn_hudi_write_rows_into(tarn_cx *cx, tn_store *store, tn_str root,
                            struct ArrowArrayStream *rows, const tarn_table_write_options *options,
                            tarn_table_report **report);
int tn_hudi_create_at(tarn_cx *cx, tn_store *store, tn_str root, const tarn_table_options *options,
                      void (*warn)(void *arg, const char *text), void *arg,
                      tarn_table_report **report);
int tn_hudi_rollback_at(tarn_cx *cx, tn_store *store, tn_str root, const char *instant,
                        const tarn_rollback_options *options, tarn_rollback_report **report);

#endif
