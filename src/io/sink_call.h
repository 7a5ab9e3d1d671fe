/* A sink that hands its bytes to a function, for formats that are written to where no store is (a
 * pipe, another program's memory). It has nothing to finish. */
#ifndef TN_IO_SINK_CALL_H
#define TN_IO_SINK_CALL_H

#include "io/store.h"

typedef int (*tn_sink_call)(tarn_cx *cx, void *arg, const void *bytes, size_t len);

int tn_sink_call_open(tarn_cx *cx, tn_sink_call call, void *arg, tn_sink **out);
void tn_sink_call_close(tn_sink *sink);

#endif
