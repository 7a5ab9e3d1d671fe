/* Arrow types as values: what a format string of the C data interface says. */
#ifndef TN_BATCH_TYPE_H
#define TN_BATCH_TYPE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/context.h"
#include "base/str.h"
#include "tarn/batch.h"

enum tn_type_kind {
    TN_TYPE_NULL,
    TN_TYPE_BOOL,
    TN_TYPE_INT8,
    TN_TYPE_INT16,
    TN_TYPE_INT32,
    TN_TYPE_INT64,
    TN_TYPE_UINT8,
    TN_TYPE_UINT16,
    TN_TYPE_UINT32,
    TN_TYPE_UINT64,
    TN_TYPE_HALF,
    TN_TYPE_FLOAT,
    TN_TYPE_DOUBLE,
    TN_TYPE_UTF8,
    TN_TYPE_LARGE_UTF8,
    TN_TYPE_BINARY,
    TN_TYPE_LARGE_BINARY,
    TN_TYPE_FIXED,     /* `width` bytes each */
    TN_TYPE_DECIMAL,   /* `width` bytes each: 4, 8, 16 or 32, little-endian */
    TN_TYPE_DATE32,    /* days */
    TN_TYPE_DATE64,    /* milliseconds */
    TN_TYPE_TIME32,    /* `unit` */
    TN_TYPE_TIME64,    /* `unit` */
    TN_TYPE_TIMESTAMP, /* `unit`, `zone` */
    TN_TYPE_DURATION,  /* `unit` */
    TN_TYPE_INTERVAL_MONTHS,
    TN_TYPE_INTERVAL_DAY_TIME,
    TN_TYPE_INTERVAL_MONTH_DAY_NANO,
    TN_TYPE_LIST,
    TN_TYPE_LARGE_LIST,
    TN_TYPE_FIXED_LIST, /* `width` elements each */
    TN_TYPE_STRUCT,
    TN_TYPE_MAP
};

typedef struct tn_type {
    enum tn_type_kind kind;
    uint32_t width;           /* bytes of a fixed-width value, or elements of a FIXED_LIST */
    int32_t precision, scale; /* DECIMAL */
    int32_t unit_digits;      /* decimal digits below the second: 0, 3, 6, 9 */
    bool dictionary;          /* the array holds indices; kind and the rest are the dictionary's */
    enum tn_type_kind index;  /* of the indices of a dictionary: INT8 to UINT64 */
    tn_str zone;              /* TIMESTAMP; empty: not adjusted to UTC */
} tn_type;

/* UNSUPPORTED naming the format for views, unions and run-end encoding. Points into `schema`. */
int tn_type_of(tarn_cx *cx, const struct ArrowSchema *schema, tn_type *out);
/* The same kind, width, scale, unit and presence of a zone; dictionaries and children aside. */
bool tn_type_equal(const tn_type *a, const tn_type *b);
/* Whether values of the kind live in one buffer of fixed width (bool apart). */
bool tn_type_is_fixed(enum tn_type_kind kind);
/* "int64", "decimal(10,2)", "timestamp[us, UTC]", "list<int32>": appended, for people. */
void tn_type_print(tn_buf *out, const struct ArrowSchema *schema);

#endif
