/* Least and greatest values for statistics and column indexes: which order a leaf has, the bounds
 * of many values, and how long bounds are shortened safely. */
#ifndef TN_PARQUET_BOUNDS_H
#define TN_PARQUET_BOUNDS_H

#include "codec/parquet/leaf.h"

enum tn_bounds_order {
    TN_BOUNDS_NONE, /* undefined by the format: INT96, INTERVAL, geometry, unknown annotations */
    TN_BOUNDS_BOOL,
    TN_BOUNDS_I32,
    TN_BOUNDS_U32,
    TN_BOUNDS_I64,
    TN_BOUNDS_U64,
    TN_BOUNDS_F32,
    TN_BOUNDS_F64,
    TN_BOUNDS_F16,
    TN_BOUNDS_BYTES,  /* unsigned bytes, shorter first on a tie */
    TN_BOUNDS_DECIMAL /* big-endian two's complement of any length */
};

/* Bounds as the format stores them (PLAIN, byte arrays without their length). */
typedef struct tn_bounds {
    bool any;     /* false: there was no value, or only NaN */
    int64_t nans; /* values that are NaN; 0 for orders that have none */
    tn_buf min, max;
} tn_bounds;

/* The order of tn_order_domain, by physical type. */
enum tn_bounds_order tn_bounds_order_of(const tn_leaf *leaf);
/* Whether there are NaNs, which the bounds pass over and the file counts. */
bool tn_bounds_real(enum tn_bounds_order order);
/* Whether the value, packed as in tn_values, is NaN. */
bool tn_bounds_nan(enum tn_bounds_order order, const void *value);
/* Text by annotation: shortened at character boundaries. */
bool tn_bounds_text(const tn_leaf *leaf);
/* The deprecated fields min and max are right only where signed order is the order of the type. */
bool tn_bounds_signed(enum tn_bounds_order order);

void tn_bounds_clear(tn_bounds *bounds);
/* Replaces *out by the bounds of `values`. NaN is counted and passed over; a zero bound is -0.0
 * below and +0.0 above. Sticky through the buffers. */
void tn_bounds_of(const tn_leaf *leaf, enum tn_bounds_order order, tn_values values,
                  tn_bounds *out);
/* Widens *into so that it covers [min, max]. */
void tn_bounds_widen(tn_bounds *into, enum tn_bounds_order order, tn_str min, tn_str max);
int tn_bounds_compare(enum tn_bounds_order order, tn_str a, tn_str b);

/* Appends a lower bound of at most bytes_max bytes; *exact tells whether it is `min` itself. */
void tn_bounds_lower(tn_buf *out, tn_str min, bool text, size_t bytes_max, bool *exact);
/* Appends an upper bound of about bytes_max bytes (the increment of the last character may need one
 * more). False when there is none, as for bytes FF only. */
bool tn_bounds_upper(tn_buf *out, tn_str max, bool text, size_t bytes_max, bool *exact);

#endif
