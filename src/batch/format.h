/* The format strings of the C data interface as values: every type Arrow has, views included, and
 * how its arrays are laid out. (batch/type.h is the smaller set that predicates and printing know.)
 */
#ifndef TN_BATCH_FORMAT_H
#define TN_BATCH_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/str.h"
#include "tarn/batch.h"

enum tn_format_kind {
    TN_FORMAT_NULL,
    TN_FORMAT_BOOL,
    TN_FORMAT_INT8,
    TN_FORMAT_UINT8,
    TN_FORMAT_INT16,
    TN_FORMAT_UINT16,
    TN_FORMAT_INT32,
    TN_FORMAT_UINT32,
    TN_FORMAT_INT64,
    TN_FORMAT_UINT64,
    TN_FORMAT_HALF,
    TN_FORMAT_FLOAT,
    TN_FORMAT_DOUBLE,
    TN_FORMAT_DECIMAL, /* bit_width 32, 64, 128 or 256 */
    TN_FORMAT_BINARY,
    TN_FORMAT_LARGE_BINARY,
    TN_FORMAT_BINARY_VIEW,
    TN_FORMAT_UTF8,
    TN_FORMAT_LARGE_UTF8,
    TN_FORMAT_UTF8_VIEW,
    TN_FORMAT_FIXED_BINARY, /* size */
    TN_FORMAT_DATE32,
    TN_FORMAT_DATE64,
    TN_FORMAT_TIME32,    /* unit s, m */
    TN_FORMAT_TIME64,    /* unit u, n */
    TN_FORMAT_TIMESTAMP, /* unit, zone */
    TN_FORMAT_DURATION,  /* unit */
    TN_FORMAT_MONTHS,
    TN_FORMAT_DAY_TIME,
    TN_FORMAT_MONTH_DAY_NANO,
    TN_FORMAT_LIST,
    TN_FORMAT_LARGE_LIST,
    TN_FORMAT_LIST_VIEW,
    TN_FORMAT_LARGE_LIST_VIEW,
    TN_FORMAT_FIXED_LIST, /* size */
    TN_FORMAT_STRUCT,
    TN_FORMAT_MAP,
    TN_FORMAT_UNION,
    TN_FORMAT_RUN_END
};

typedef struct tn_format {
    enum tn_format_kind kind;
    char unit; /* 's', 'm', 'u', 'n'; 0: none */
    int32_t precision, scale, bit_width;
    int32_t size;   /* FIXED_BINARY bytes, FIXED_LIST elements */
    tn_str zone;    /* borrowed from the format */
    uint32_t width; /* bytes of one value in buffer 1 where that is fixed and byte-sized, else 0 */
    uint32_t buffers; /* of an array (views: without the variadic ones) */
} tn_format;

/* INVALID for a format that is none. */
int tn_format_parse(tarn_cx *cx, const char *format, tn_format *out);
/* "large_utf8", for messages. */
const char *tn_format_name(enum tn_format_kind kind);

#endif
