/* Whether a base file of a Hudi table can have rows of certain record keys. */
#ifndef TN_EXEC_READ_KEYS_H
#define TN_EXEC_READ_KEYS_H

#include "codec/parquet/file.h"

/* *out false: the footer's key range, or its key filter, rules out every one of the keys. What is
 * damaged in them rules out nothing: the rows themselves decide. */
int tn_read_keys_wanted(tarn_cx *cx, const tn_parquet *file, const tn_str *keys, size_t count,
                        bool *out);

#endif
