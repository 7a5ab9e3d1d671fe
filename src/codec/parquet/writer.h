/* Which program and version wrote a file: "parquet-mr version 1.8.2 (build …)". For the workarounds
 * of writers' known faults; each place that asks names the fault. */
#ifndef TN_PARQUET_WRITER_H
#define TN_PARQUET_WRITER_H

#include "base/str.h"

typedef struct tn_writer {
    tn_str program; /* "parquet-mr"; the whole text where it does not follow the form */
    bool has_version;
    uint32_t major, minor, patch;
    bool prerelease; /* "-SNAPSHOT", "-rc1" and the like */
} tn_writer;

tn_writer tn_writer_of(tn_str created_by);
/* True for `program` in a version below the one given; a pre-release of that version is below it. A
 * file without a version is not. */
bool tn_writer_before(const tn_writer *writer, const char *program, uint32_t major, uint32_t minor,
                      uint32_t patch);
/* True for parquet-mr before 1.8.0, whose DELTA_BYTE_ARRAY pages may lean on the page before
 * (PARQUET-246). Readers know them by the writer's name, so they cannot stand under another's. */
bool tn_writer_faulty_deltas(tn_str created_by);

#endif
