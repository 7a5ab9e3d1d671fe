/* errno to status, in one place, with a reason and a way out. */
#ifndef TN_IO_STORE_ERROR_H
#define TN_IO_STORE_ERROR_H

#include "base/context.h"
#include "base/str.h"

/* "PATH: cannot VERB: reason; way out". Returns the status. */
int tn_store_error(tarn_cx *cx, int error, const char *verb, tn_str path);

#endif
