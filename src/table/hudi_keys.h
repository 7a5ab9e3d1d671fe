/* How the keys of a table are spelled where releases differ: single-field complex keys (HUDI-7001).
 */
#ifndef TN_TABLE_HUDI_KEYS_H
#define TN_TABLE_HUDI_KEYS_H

#include "table/hudi_slices.h"

/* Whether keys of a complex generator with one field read "field:value". By the table's version
 * where it says so (9), else by keys of its files; UNSUPPORTED where both forms are met. A table
 * without rows below version 9: `fallback`. */
int tn_hudi_keys_named(tarn_cx *cx, tn_store *store, const tn_hudi_config *config,
                       const tn_slices *slices, bool fallback, bool *out);

#endif
