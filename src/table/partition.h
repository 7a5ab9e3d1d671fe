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
/* The text with its "%XX" taken back, in the arena; a "%" not followed by two hex digits stands for
 * itself. */
int tn_partition_decode(tarn_cx *cx, tn_arena *arena, tn_str text, tn_str *out);
/* Types in the order tried; a type holds for a column when every value that is not null
 * round-trips, that is, printing the typed value gives the very text back:
 *   INT64      "0", "-7", "42"; not "007", "+1", "-0"
 *   DOUBLE     the shortest digits that read back equal, perhaps with ".0": "1", "1.0", "2.5"; not
 *              "1.50", "1e5", "NaN"
 *   DATE       "2024-05-12", a day of the calendar, years 0001 to 9999
 *   TIMESTAMP  "2024-05-12 10:03:08", perhaps with 1 to 6 digits of a fraction not ending in 0; no
 *              zone mark: "…Z" stays text
 *   BOOL       "true", "false"
 * Anything else, and a column without values, is TEXT. The answer depends on the set of values
 * alone. */
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
