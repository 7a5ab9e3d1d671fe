/* What the bounds of a file say: which order a column's minimum and maximum follow, whether they
 * may be believed, and their values in the form that filters compare (batch/filter.h). */
#ifndef TN_PARQUET_ORDER_H
#define TN_PARQUET_ORDER_H

#include "batch/filter_range.h"
#include "codec/parquet/file.h"

/* The form in which values of a leaf are compared; TN_DOMAIN_NONE where the format defines no order
 * (INT96, INTERVAL, GEOMETRY, GEOGRAPHY, VARIANT, annotations tarn does not know). */
enum tn_domain tn_order_domain(const tn_leaf *leaf);
/* Whether a filter's column of this type holds the leaf's values as they are: the same domain, unit
 * and scale, so that its literals and the leaf's bounds may be compared. */
bool tn_order_matches(const tn_leaf *leaf, const tn_type *type);
/* A plain-encoded value (byte arrays without length) of the leaf; false when the bytes are not one.
 * *out points into them. */
bool tn_order_decode(const tn_leaf *leaf, tn_str plain, tn_filter_value *out);

/* Whether the file's min_value and max_value of the leaf, and those of its column index, follow the
 * leaf's order: it says so in column_orders, and its writer is not known to err. */
bool tn_order_trusted(const tn_parquet *file, const tn_leaf *leaf);
/* The same for the deprecated min and max. */
bool tn_order_trusted_old(const tn_parquet *file, const tn_leaf *leaf);

/* What is known of a run of values: of a chunk or a page. A bound need not be a value of the run.
 */
typedef tn_filter_range tn_order_range;

/* Of a chunk, by its statistics. */
void tn_order_chunk(const tn_parquet *file, size_t group, const tn_leaf *leaf, tn_order_range *out);
/* Of a page of a leaf with max_rep 0, by the column index; `rows` are the page's. */
void tn_order_page(const tn_parquet *file, const tn_leaf *leaf, const tn_column_index *index,
                   size_t page, int64_t rows, tn_order_range *out);

#endif
