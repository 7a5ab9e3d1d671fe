/* Wraps a store and counts calls and bytes by kind. The wrapped store stays the caller's.
 * Thread-safe. */
#ifndef TN_IO_STORE_TRACE_H
#define TN_IO_STORE_TRACE_H

#include "io/store.h"

typedef struct tn_trace_counts {
    uint64_t stats, opens, reads, read_bytes, creates, writes, written_bytes, puts, lists, removes,
        renames, exchanges, links, syncs;
} tn_trace_counts;

int tn_store_trace_open(tarn_cx *cx, tn_store *inner, tn_store **out);
void tn_store_trace_counts(const tn_store *store, tn_trace_counts *out);

#endif
