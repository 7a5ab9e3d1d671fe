/* The parts of a writer, and one on a given store. */
#ifndef TN_OP_HUDI_WRITER_H
#define TN_OP_HUDI_WRITER_H

#include "op/hudi_write.h"

/* tarn_writer_open on a store, which stays the caller's. */
int tn_hudi_writer_open(tarn_cx *cx, tn_store *store, tn_str root, const struct ArrowSchema *schema,
                        const tarn_writer_options *options, tarn_writer **out);
/* hudi_writer_options.c: checked and copied into the arena. */
int tn_hudi_writer_options(tarn_cx *cx, tn_arena *arena, const tarn_writer_options *from,
                           tarn_writer_options *out);

#endif
