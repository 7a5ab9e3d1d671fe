/* Rows of certain record keys, found in the key column alone. */
#ifndef TN_EXEC_READ_FIND_H
#define TN_EXEC_READ_FIND_H

#include "codec/parquet/arrow.h"

/* Narrows the rows that a scan is to read to those whose record key is one of `keys`. `ranges`:
 * rows to look among, ascending; NULL: all. *found false: the file has no such column as text, and
 * nothing is told. Else *out are the rows, ascending, in the arena; there may be none. Pages of
 * the column are looked through on all threads. */
int tn_read_find(tarn_cx *cx, const tn_parquet *file, bool skip_crc, const tn_str *keys,
                 size_t count, const tn_row_range *ranges, size_t range_count, tn_arena *arena,
                 bool *found, tn_row_range **out, size_t *out_count);

#endif
