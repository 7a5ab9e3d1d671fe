/* Wraps a store and injects failures. The wrapped store stays the caller's.
 * Calls are counted from 1 (close calls are not counted). */
#ifndef TN_IO_STORE_FAULT_H
#define TN_IO_STORE_FAULT_H

#include "io/store.h"

typedef struct tn_fault_plan {
    uint64_t fail_at; /* this call fails with `status`, once; 0: never */
    bool fail_late;   /* it takes effect all the same: its answer is lost */
    uint64_t
        crash_at; /* this call and all later ones fail with TARN_E_IO and reach nothing: the process
                     is "dead"; with crash_after the call itself still takes effect; 0: never */
    bool crash_after;
    int status;                /* default TARN_E_IO */
    uint64_t full_after_bytes; /* writes past this many bytes fail as a full disk does; 0: never */
    /* Called before each call of a living process, with its number: a rival at work in between. It
     * may use the wrapped store, not this one. */
    void (*hook)(void *arg, uint64_t call);
    void *hook_arg;
} tn_fault_plan;

int tn_store_fault_open(tarn_cx *cx, tn_store *inner, const tn_fault_plan *plan, tn_store **out);
uint64_t tn_store_fault_calls(const tn_store *store);

#endif
