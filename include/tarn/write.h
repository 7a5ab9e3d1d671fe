/* Writing rows into a plain directory of Parquet files, partitioned as Hive does it
 * ("dt=2024-05-12/city=Ulm/part-00000-….parquet").
 *
 *     const char *inputs[] = {"new/monday.csv.gz"}, *columns[] = {"dt", "city"};
 *     tarn_write_options options = {.partition_by = columns, .partition_by_count = 2};
 *     tarn_write_report *report = NULL;
 *     if (tarn_write(cx, "lake/events", inputs, 1, &options, &report) == TARN_OK)
 *         printf("%lld rows\n", (long long)report->rows);
 *     tarn_write_report_close(report);
 *
 * A run is seen whole or not at all. Thread rule: any thread, each with its own context. */
#ifndef TARN_WRITE_H
#define TARN_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "context.h"
#include "op.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tarn_write_mode {
    TARN_WRITE_APPEND = 0,          /* files are added */
    TARN_WRITE_OVERWRITE,           /* the rows replace all that is there */
    TARN_WRITE_OVERWRITE_PARTITIONS /* they replace the partitions that they have rows for */
};

enum tarn_write_format {
    TARN_WRITE_ANY = 0, /* by the ending of each input, else by its first bytes */
    TARN_WRITE_PARQUET,
    TARN_WRITE_CSV,
    TARN_WRITE_NDJSON
};

typedef struct tarn_write_options {
    enum tarn_write_mode mode;
    const char *const *partition_by; /* columns, a level of the path each; NULL: no partitions */
    size_t partition_by_count;
    uint64_t files_per_partition;     /* 0: by size alone */
    const char *const *distribute_by; /* with it: equal values share a file, as Hive hashes them */
    size_t distribute_by_count;
    uint64_t target_bytes;   /* of a file; 0: 128 MiB */
    const char *codec;       /* "zstd" (NULL), "snappy", "gzip", "brotli", "lz4", "none" */
    int level;               /* of the codec; 0: its default */
    uint64_t group_bytes;    /* of row groups, compressed; 0: 32 MiB */
    uint64_t files_max;      /* files that may be made; 0: 100,000 */
    uint64_t partitions_max; /* partitions that may be written to; 0: 1,000 */
    bool no_merge;           /* leave the fragments of the partitions appended to as they are */
    bool dry_run;            /* read and count, make nothing */

    /* Of tarn_write alone: what its inputs are. */
    enum tarn_write_format format;
    const char *where;          /* a condition, see `tarn read --help`; NULL: every row */
    const char *const *columns; /* only these; "a.b" is a field of a struct; NULL: all */
    size_t column_count;
    /* Columns of text inputs, "id:bigint,at:timestamp", or "@FILE" that holds such text; NULL:
     * those of the directory, or else what a sample shows. */
    const char *schema;
    char delimiter; /* of CSV; 0: a comma */
    bool no_header; /* CSV without one: columns are those of `schema` in order, or column0 … */
    const char *null_text; /* means null in CSV where it is not quoted; NULL: the empty text */
    uint64_t sample_bytes; /* that types are inferred from; 0: 4 MiB */
    /* NDJSON file for records that do not fit their columns. It must not exist, appears whole, and
     * only when there are such records. NULL: the first one is an error. */
    const char *reject;

    /* Called on the caller's thread; may be NULL. */
    void (*warn)(void *arg, const char *text);
    void (*on_progress)(void *arg, uint64_t rows);
    void *arg;
} tarn_write_options;

/* Texts and paths live as long as the report. Paths are bytes below the root; "" is the root. */
typedef struct tarn_write_partition {
    const char *path;
    size_t path_len;
    int64_t rows;
    uint64_t files, bytes; /* written; estimates in a dry run */
} tarn_write_partition;

typedef struct tarn_write_report {
    const char *root;
    size_t root_len;
    enum tarn_write_mode mode;
    bool dry_run;
    bool root_made;                         /* the directory was not there before */
    const tarn_write_partition *partitions; /* written to, by path */
    size_t partition_count;
    int64_t rows;
    uint64_t files, bytes;         /* written */
    uint64_t old_files, old_bytes; /* replaced; of a dry run: that would be */
    uint64_t partitions_removed;   /* had files before an overwrite, have none now */
    uint64_t rejected;             /* records left out */
    const char *reject;            /* the file that they are in; NULL: there is none */
    uint64_t spilled_bytes;        /* of rows that memory did not hold meanwhile */
    /* The merge of what was appended to; NULL: there was nothing to merge, or it failed, which is a
     * note. */
    const tarn_merge_report *merged;
    const char *const *notes;
    size_t note_count;
    bool pending; /* all is decided, but something (a note says what) keeps it from being brought to
                     its end: the next run goes on */
    int64_t ms;
} tarn_write_report;

/* Writes the rows of inputs: Parquet files and directories of them, CSV, NDJSON (.gz and .zst,
 * too), globs, "-" for standard input. Columns are matched with those of the directory by name and
 * cast where no value changes. Statuses: INVALID for bad options, DATA for rows that do not fit,
 * NOTFOUND for an input that is not there, UNSUPPORTED for types that cannot be made one and for
 * tables of another kind, LIMIT before files_max or partitions_max is passed, CONFLICT when another
 * run holds the directory, CANCELLED. Whatever fails, the directory is as it was. `options` may be
 * NULL. *report is the caller's, to tarn_write_report_close. */
TARN_API int tarn_write(tarn_cx *cx, const char *dir, const char *const *inputs, size_t input_count,
                        const tarn_write_options *options, tarn_write_report **report);
/* Writes the rows of a stream, which is read to its end and stays the caller's to release. */
TARN_API int tarn_write_rows(tarn_cx *cx, const char *dir, struct ArrowArrayStream *rows,
                             const tarn_write_options *options, tarn_write_report **report);
TARN_API void tarn_write_report_close(tarn_write_report *report);

#ifdef __cplusplus
}
#endif
#endif
