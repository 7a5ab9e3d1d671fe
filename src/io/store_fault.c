/* Injected failures.
 * I1: after a crash no call reaches the store within. */
#include "io/store_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>

#include "io/store_error.h"
#include "io/store_wrap.h"

typedef struct fault_store {
    tn_store_wrap wrap;
    tn_fault_plan plan;
    _Atomic uint64_t calls, written_bytes;
    atomic_bool dead, late;
} fault_store;

static int dead(tarn_cx *cx, const fault_store *fault)
{
    return tn_fail(cx, TARN_E_IO, "injected crash at store call %" PRIu64, fault->plan.crash_at);
}

static int fail(tarn_cx *cx, const fault_store *fault, tn_str path)
{
    return tn_fail(cx, fault->plan.status != 0 ? fault->plan.status : TARN_E_IO,
                   "%.*s: injected failure of store call %" PRIu64, TN_STR_ARG(path),
                   fault->plan.fail_at);
}

static int fault_before(tarn_cx *cx, tn_store_wrap *wrap, enum tn_store_call call, tn_str path,
                        uint64_t bytes)
{
    fault_store *fault = (fault_store *)wrap;
    uint64_t number;

    if (atomic_load(&fault->dead))
        return dead(cx, fault);
    number = atomic_fetch_add(&fault->calls, 1) + 1;
    if (fault->plan.hook != NULL)
        fault->plan.hook(fault->plan.hook_arg, number);
    if (number == fault->plan.crash_at) {
        atomic_store(&fault->dead, true);
        if (!fault->plan.crash_after)
            return dead(cx, fault);
    }
    if (number == fault->plan.fail_at && !fault->plan.fail_late)
        return fail(cx, fault, path);
    if (number == fault->plan.fail_at)
        atomic_store(&fault->late, true);
    if (call != TN_CALL_WRITE && call != TN_CALL_PUT && call != TN_CALL_PUT_ABSENT)
        return TARN_OK;
    if (fault->plan.full_after_bytes != 0 &&
        atomic_fetch_add(&fault->written_bytes, bytes) + bytes > fault->plan.full_after_bytes)
        return tn_store_error(cx, ENOSPC, "write to it", path);
    return TARN_OK;
}

static int fault_after(tarn_cx *cx, tn_store_wrap *wrap, enum tn_store_call call, tn_str path,
                       uint64_t bytes)
{
    fault_store *fault = (fault_store *)wrap;

    (void)call;
    (void)bytes;
    if (atomic_exchange(&fault->late, false))
        return fail(cx, fault, path);
    return atomic_load(&fault->dead) ? dead(cx, fault) : TARN_OK;
}

int tn_store_fault_open(tarn_cx *cx, tn_store *inner, const tn_fault_plan *plan, tn_store **out)
{
    fault_store *fault = tn_calloc(cx, 1, sizeof *fault);

    if (fault == NULL)
        return TARN_E_NOMEM;
    tn_store_wrap_init(&fault->wrap, inner);
    fault->wrap.before = fault_before;
    fault->wrap.after = fault_after;
    fault->plan = *plan;
    *out = &fault->wrap.base;
    return TARN_OK;
}

uint64_t tn_store_fault_calls(const tn_store *store)
{
    return atomic_load(&((const fault_store *)store)->calls);
}
