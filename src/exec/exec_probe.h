/* Reads a file whole and keeps nothing: do its pages decode, do their checksums hold? */
#ifndef TN_EXEC_PROBE_H
#define TN_EXEC_PROBE_H

#include "io/store.h"

/* The status, with text, of the first thing that does not read. */
int tn_exec_probe(tarn_cx *cx, tn_store *store, tn_str path);

#endif
