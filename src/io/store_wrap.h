/* What wrappers of a store share: every call goes through `before` and `after`, then to the store
 * within. store_fault.c and store_trace.c are made of it. */
#ifndef TN_IO_STORE_WRAP_H
#define TN_IO_STORE_WRAP_H

#include "io/store.h"

enum tn_store_call {
    TN_CALL_STAT,
    TN_CALL_OPEN,
    TN_CALL_READ,
    TN_CALL_CREATE,
    TN_CALL_WRITE,
    TN_CALL_FINISH,
    TN_CALL_PUT,
    TN_CALL_PUT_ABSENT,
    TN_CALL_LIST_OPEN,
    TN_CALL_LIST_NEXT,
    TN_CALL_REMOVE,
    TN_CALL_MAKE_DIR,
    TN_CALL_REMOVE_DIR,
    TN_CALL_RENAME,
    TN_CALL_EXCHANGE,
    TN_CALL_LINK,
    TN_CALL_SYNC_DIR,
    TN_CALL_SYNC_ALL,
    TN_CALL_LOCK,
    TN_CALL_ATTRS_GET,
    TN_CALL_ATTRS_SET,
    TN_CALL_MAY_WRITE,
    TN_CALL_FREE_BYTES
};

typedef struct tn_store_wrap tn_store_wrap;

struct tn_store_wrap {
    tn_store base;
    tn_store *inner; /* the caller's */
    /* Before the inner call: a failure keeps it from happening. After it succeeded: a failure
     * hides that it did. `bytes`: of read, write and put. The path is empty for calls on a handle
     * (read, write, finish, list_next). Both may be NULL. */
    int (*before)(tarn_cx *cx, tn_store_wrap *wrap, enum tn_store_call call, tn_str path,
                  uint64_t bytes);
    int (*after)(tarn_cx *cx, tn_store_wrap *wrap, enum tn_store_call call, tn_str path,
                 uint64_t bytes);
};

/* Fills the base; `wrap` is freed by close. */
void tn_store_wrap_init(tn_store_wrap *wrap, tn_store *inner);

#endif
