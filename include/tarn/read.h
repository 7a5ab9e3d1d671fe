/* Rows of a Parquet file, of a directory of them, or of a Hudi table, as Arrow batches, text or
 * Parquet.
 *
 *     struct ArrowArrayStream rows;
 *     tarn_read_options options = {.where = "dt >= '2024-01-01'"};
 *     if (tarn_read_open(cx, "lake/events", &options, &rows) == TARN_OK) {
 *         tarn_read_save(cx, &rows, "january.parquet", NULL, NULL);
 *         rows.release(&rows);
 *     }
 *
 * Rows come in the order of the partitions' paths, then of file names, then of rows, whatever the
 * number of threads. Partition columns ("dt=2024-05-12") follow those of the files and win over a
 * file's own column of the same name, as in Spark and DuckDB. */
#ifndef TARN_READ_H
#define TARN_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tarn_read_counts {
    uint64_t partitions, partitions_read; /* in all; left after pruning by their values */
    uint64_t slices, slices_read;  /* of a Hudi table's partitions read; left after the indexes of
                                      its metadata table */
    uint64_t files, files_skipped; /* opened; left out as damaged */
    uint64_t groups, groups_read;  /* row groups of the files opened; not pruned */
    uint64_t pages_dropped;        /* by page indexes */
    uint64_t rows_read, rows_out;  /* decoded; true for the condition */
} tarn_read_counts;

typedef struct tarn_read_options {
    const char *const *columns; /* in the order wanted; "a.b" is a field of a struct; NULL: all */
    size_t column_count;
    const char *where; /* a condition, see `tarn read --help`; NULL: every row */
    bool has_limit;
    uint64_t limit;              /* rows at most */
    const char *partition_types; /* "dt=date,hour=int"; NULL: by their values */
    bool skip_crc;               /* do not verify page checksums */
    bool int96_micros;           /* INT96 times in microseconds: for years far from today */
    bool int96_utc;              /* INT96 times are in UTC, as Spark means them */
    bool skip_damaged;           /* leave files out that cannot be read, with a warning */
    /* Called on the caller's thread; NULL: warnings are lost. */
    void (*warn)(void *arg, const char *text);
    void *arg;
    tarn_read_counts *counts; /* filled while reading; NULL: not wanted */
    /* Of Hudi tables. Times are instants ("20240512100000000") or times of the table's zone
     * ("2024-05-12", "2024-05-12 10:00:00", "2024-05-12T10:00:00.250Z"). */
    const char *as_of; /* the rows as they were then; NULL: now */
    const char *key;   /* only the row of this record key; NULL: all */
    bool meta;         /* the meta columns (_hoodie_commit_time, …), too, in front */
    /* "snapshot"; "read_optimized": of a merge-on-read table what is compacted; "incremental": rows
     * that commits after `since` and up to `until` wrote, as those left them; "cdc": what those
     * commits changed, as rows (op, ts_ms, before, after). NULL: incremental when a bound is given,
     * else snapshot. */
    const char *mode;
    /* Incremental: completion times of commits in tables of version 8 and later, requested times
     * before; of changes ("cdc") requested times in all. `since` itself is not in the range,
     * `until` is. NULL: from the first commit, up to now. */
    const char *since, *until;
    /* Rows are merged by commit time where the table's merger is a program that is not known. */
    bool ignore_merger;
    /* "completion" or NULL: which logs of a table of version 6 join which base file follows from
     * when their instants' files were modified, as for Hudi 1.x; "instant": from their names, as
     * for 0.x. */
    const char *v6_slices;
} tarn_read_options;

/* Opens the rows. *out is the caller's to release, before cx is closed; what `options` points to
 * must live as long, and `out` is to be used on the caller's thread alone. Its failures are also in
 * `cx`. NOTFOUND: nothing at the path, or no Parquet file; INVALID: columns, condition or types;
 * CORRUPT: a damaged file, by name; UNSUPPORTED: a table of another kind, an encrypted file, or
 * rows that only a program of the table's own can merge; CONFLICT: a service took files away while
 * they were listed (open again), or a range has a commit that is not completed; LIMIT: it does not
 * fit the memory of `cx`. */
TARN_API int tarn_read_open(tarn_cx *cx, const char *path, const tarn_read_options *options,
                            struct ArrowArrayStream *out);

enum tarn_row_format { TARN_ROWS_NDJSON, TARN_ROWS_CSV, TARN_ROWS_PARQUET };

/* Takes bytes in order; other than 0 ends the printing early, without a failure. */
typedef int (*tarn_read_write)(void *arg, const void *bytes, size_t len);
/* Writes all rows of a stream, which stays the caller's to release, in a format. */
TARN_API int tarn_read_print(tarn_cx *cx, struct ArrowArrayStream *rows,
                             enum tarn_row_format format, tarn_read_write write, void *arg);

typedef struct tarn_save_options {
    enum tarn_row_format format;
    const char *codec; /* of Parquet: "zstd", "snappy", "gzip", "lz4", "none"; NULL: zstd */
} tarn_save_options;

/* The format that the ending of a path tells (.parquet, .csv, .ndjson, .jsonl, .json); INVALID for
 * others. */
TARN_API int tarn_read_format(tarn_cx *cx, const char *path, enum tarn_row_format *out);
/* Writes all rows into a file, which appears under its name only when it is whole; one of that name
 * is replaced. `options` NULL: the format by the ending.
 * `row_count` may be NULL. */
TARN_API int tarn_read_save(tarn_cx *cx, struct ArrowArrayStream *rows, const char *path,
                            const tarn_save_options *options, uint64_t *row_count);

#ifdef __cplusplus
}
#endif
#endif
