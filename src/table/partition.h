/* Partition values from Hive-style paths: "dt=2024-05-12/city=K%C3%B6ln". */
#ifndef TN_TABLE_PARTITION_H
#define TN_TABLE_PARTITION_H

#include "base/arena.h"
#include "base/str.h"

typedef struct tn_partition_value {
    tn_str name;  /* URL-decoded */
    tn_str value; /* URL-decoded; ptr NULL: null (__HIVE_DEFAULT_PARTITION__ or empty) */
} tn_partition_value;

/* Splits a relative path into its key=value levels; levels without "=" are passed over. A "%" not
 * followed by two hex digits stands for itself. */
int tn_partition_parse(tarn_cx *cx, tn_arena *arena, tn_str path, tn_partition_value **values,
                       size_t *count);
/* Types in the order tried; a type holds for a column when every value round-trips. */
enum tn_partition_type {
    TN_PART_INT64,
    TN_PART_DOUBLE,
    TN_PART_DATE,
    TN_PART_TIMESTAMP,
    TN_PART_BOOL,
    TN_PART_TEXT
};
enum tn_partition_type tn_partition_infer(const tn_str *values, size_t count);

#endif
