/* Rows of several arrays of one type as one new array, and what rows take in memory.
 * Types may be nested; dictionaries are not taken: see tn_gather_plain. */
#ifndef TN_BATCH_GATHER_H
#define TN_BATCH_GATHER_H

#include "batch/rows.h"

/* Some rows of one array. Positions are absolute in its buffers: its offset is the caller's to add.
 */
typedef struct tn_gather_part {
    const struct ArrowArray *array;
    const int64_t *take; /* `count` positions; NULL: consecutive ones from `first` on */
    int64_t first, count;
} tn_gather_part;

/* The rows of all parts, in order. The columns of a struct are gathered on the pool of `cx`. LIMIT
 * when 32-bit offsets do not reach. */
int tn_gather(tarn_cx *cx, const struct ArrowSchema *schema, const tn_gather_part *parts,
              size_t part_count, struct ArrowArray *out);
/* About how many bytes the rows of the array take once gathered, its own structures included. */
uint64_t tn_gather_bytes(const struct ArrowSchema *schema, const struct ArrowArray *array);
/* The schema with the values' types in place of dictionaries; *had: there were some. *out is the
 * caller's. Arrays follow by tn_unify_cast. */
int tn_gather_plain(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowSchema *out,
                    bool *had);

/* Joins `count` whole arrays, which lie `stride` bytes apart, in the first of them. */
int tn_gather_join(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowArray *first,
                   size_t stride, size_t count);

#endif
