/* Counts what a store is asked for. I1: only calls that succeeded are counted. */
#include "io/store_trace.h"

#include <stdatomic.h>

#include "io/store_wrap.h"

#define CALLS (TN_CALL_FREE_BYTES + 1)

typedef struct trace_store {
    tn_store_wrap wrap;
    _Atomic uint64_t calls[CALLS], bytes[CALLS];
} trace_store;

static int trace_after(tarn_cx *cx, tn_store_wrap *wrap, enum tn_store_call call, tn_str path,
                       uint64_t bytes)
{
    trace_store *trace = (trace_store *)wrap;

    (void)cx;
    (void)path;
    atomic_fetch_add_explicit(&trace->calls[call], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&trace->bytes[call], bytes, memory_order_relaxed);
    return TARN_OK;
}

int tn_store_trace_open(tarn_cx *cx, tn_store *inner, tn_store **out)
{
    trace_store *trace = tn_calloc(cx, 1, sizeof *trace);

    if (trace == NULL)
        return TARN_E_NOMEM;
    tn_store_wrap_init(&trace->wrap, inner);
    trace->wrap.after = trace_after;
    *out = &trace->wrap.base;
    return TARN_OK;
}

void tn_store_trace_counts(const tn_store *store, tn_trace_counts *out)
{
    const trace_store *trace = (const trace_store *)store;

    *out = (tn_trace_counts){
        .stats = trace->calls[TN_CALL_STAT],
        .opens = trace->calls[TN_CALL_OPEN],
        .reads = trace->calls[TN_CALL_READ],
        .read_bytes = trace->bytes[TN_CALL_READ],
        .creates = trace->calls[TN_CALL_CREATE],
        .writes = trace->calls[TN_CALL_WRITE],
        .written_bytes = trace->bytes[TN_CALL_WRITE] + trace->bytes[TN_CALL_PUT] +
                         trace->bytes[TN_CALL_PUT_ABSENT],
        .puts = trace->calls[TN_CALL_PUT] + trace->calls[TN_CALL_PUT_ABSENT],
        .lists = trace->calls[TN_CALL_LIST_OPEN],
        .removes = trace->calls[TN_CALL_REMOVE] + trace->calls[TN_CALL_REMOVE_DIR],
        .renames = trace->calls[TN_CALL_RENAME],
        .exchanges = trace->calls[TN_CALL_EXCHANGE],
        .links = trace->calls[TN_CALL_LINK],
        .syncs = trace->calls[TN_CALL_SYNC_DIR] + trace->calls[TN_CALL_SYNC_ALL] +
                 trace->calls[TN_CALL_FINISH],
    };
}
