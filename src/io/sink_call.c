/* A sink over a function.
 * I1: only the writing side of the store interface is there; nothing else is ever called on it. */
#include "io/sink_call.h"

#include <stdlib.h>

typedef struct call_sink {
    tn_sink sink;
    tn_store store;
    tn_sink_call call;
    void *arg;
} call_sink;

static int call_write(tarn_cx *cx, tn_sink *sink, const void *bytes, size_t len)
{
    call_sink *self = (call_sink *)sink;

    return self->call(cx, self->arg, bytes, len);
}

static const tn_store_ops call_ops = {.name = "call", .write = call_write};

int tn_sink_call_open(tarn_cx *cx, tn_sink_call call, void *arg, tn_sink **out)
{
    call_sink *self = tn_calloc(cx, 1, sizeof *self);

    if (self == NULL)
        return TARN_E_NOMEM;
    self->store.ops = &call_ops;
    self->sink.store = &self->store;
    self->call = call;
    self->arg = arg;
    *out = &self->sink;
    return TARN_OK;
}

void tn_sink_call_close(tn_sink *sink)
{
    free(sink);
}
