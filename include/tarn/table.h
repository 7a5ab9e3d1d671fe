/* Hudi tables: made, written to, rolled back.
 *
 *     const char *inputs[] = {"changes.ndjson"}, *keys[] = {"order_id"}, *days[] = {"dt"},
 *                *ordering[] = {"ts"};
 *     tarn_table_write_options options = {
 *         .table = {.keys = keys, .key_count = 1, .partition_by = days, .partition_by_count = 1,
 *                   .ordering = ordering, .ordering_count = 1}};
 *     tarn_table_report *report = NULL;
 *     if (tarn_table_write(cx, "lake/orders", inputs, 1, &options, &report) == TARN_OK)
 *         printf("%lld inserted, %lld updated\n", (long long)report->inserted,
 *                (long long)report->updated);
 *     tarn_table_report_close(report);
 *
 * A write is one commit, seen whole or not at all; what a crash left is rolled back by the next
 * one. Thread rule: any thread, each with its own context; a writer is used by one at a time. */
#ifndef TARN_TABLE_H
#define TARN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "context.h"
#include "write.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tarn_operation {
    TARN_OP_UPSERT = 0,
    TARN_OP_INSERT,
    TARN_OP_BULK_INSERT,
    TARN_OP_DELETE,
    TARN_OP_INSERT_OVERWRITE,       /* the partitions that rows are for */
    TARN_OP_INSERT_OVERWRITE_TABLE, /* all of them */
    TARN_OP_DELETE_PARTITION
};

/* What a table is: what it is made with, and what an existing one is checked against. Zero and NULL
 * are "not given". */
typedef struct tarn_table_options {
    const char *const *keys; /* columns of the record key; "a.b" is a field of a struct */
    size_t key_count;
    const char *const *partition_by; /* columns; of a custom key generator "COL:simple" or
                                        "COL:timestamp" */
    size_t partition_by_count;
    const char *const *ordering; /* of rows of one key the one with the greatest value stays */
    size_t ordering_count;
    int version;        /* 6, 8 or 9; 0: 6 */
    const char *type;   /* "cow" */
    const char *keygen; /* "simple", "complex", "non_partition", "timestamp", "custom" or a class of
                           Hudi's; NULL: by keys and partitions, as Hudi decides */
    bool hive_style;    /* partition paths "dt=2024-05-12" */
    bool url_encode;    /* what paths cannot hold is escaped */
    bool no_meta_fields;
    const char *merge_mode; /* "commit_time", "event_time"; NULL: by whether there is an ordering */
    const char *payload;    /* a class that means one of them */
    const char *timezone;   /* of instants: "utc" (NULL) or "local" */
    const char *name;       /* NULL: the directory's */
    const char *database;
    const char *schema;     /* of tarn_table_create: columns, "id:bigint,at:timestamp" or "@FILE" */
    const char *const *set; /* "hoodie.…=…"; what is given above counts more */
    size_t set_count;
    const char *config; /* a properties file with such; `set` counts more */
    bool dry_run;       /* of tarn_table_create: check, make nothing */
} tarn_table_options;

typedef struct tarn_table_write_options {
    enum tarn_operation op;
    tarn_table_options table;
    /* delete_partition: the paths that go. insert_overwrite: the partitions that are replaced, with
     * or without rows; NULL: those that rows are for. */
    const char *const *partitions;
    size_t partition_count;
    bool exact_sizing;        /* --sizing hudi: buckets exactly as Hudi's upsert partitioner */
    uint64_t target_bytes;    /* hoodie.parquet.max.file.size; 0: 120 MiB */
    uint64_t group_bytes;     /* of row groups, compressed; 0: 8 MiB */
    const char *codec;        /* "zstd" (NULL), "snappy", "gzip", "brotli", "lz4", "none" */
    int level;                /* of the codec; 0: its default */
    const char *const *extra; /* "key=value": extra metadata of the commit */
    size_t extra_count;
    bool drop_metadata_table; /* disable the table's metadata table, as Hudi would, and go on */
    bool dry_run;             /* decide and report, make nothing, not even the table */

    /* Of tarn_table_write alone: what its inputs are; see tarn/write.h. */
    enum tarn_write_format format;
    const char *where;
    const char *const *columns;
    size_t column_count;
    const char *schema;
    char delimiter;
    bool no_header;
    const char *null_text;
    uint64_t sample_bytes;
    const char *reject;

    /* Called on the caller's thread; may be NULL. */
    void (*warn)(void *arg, const char *text);
    void (*on_progress)(void *arg, uint64_t rows);
    void *arg;
} tarn_table_write_options;

/* Texts live as long as the report. Paths are bytes below the root; "" is the root. */
typedef struct tarn_table_partition {
    const char *path;
    size_t path_len;
    int64_t inserted, updated, deleted; /* of a dry run: as those of the report */
    uint64_t files, bytes;              /* written; of a dry run 0 */
    uint64_t replaced;                  /* file groups that an overwrite or a deletion took away */
} tarn_table_partition;

/* Where rows go, as planned. */
typedef struct tarn_table_bucket {
    size_t partition; /* index into the report's partitions */
    const char *file_id;
    const char *base; /* name of the file that is rewritten; NULL: a new file group */
    uint64_t base_bytes;
    int64_t updates, inserts;
    uint64_t target_bytes; /* takes inserts until it is about so large; 0: all it is given */
    const char *why;
} tarn_table_bucket;

typedef struct tarn_table_report {
    const char *root;
    size_t root_len;
    enum tarn_operation op;
    int table_version;
    bool dry_run;
    bool table_made;        /* the table was not there before; of a dry run: would be made */
    const char *instant;    /* of the commit; NULL: there was nothing to commit */
    const char *completion; /* when it was completed; NULL as above */
    int64_t rows;           /* read from the input */
    int64_t inserted, updated, deleted;
    int64_t unchanged;  /* lost against the stored row, whose ordering value is greater */
    bool foreseen;      /* of a dry run: updated, deleted and unchanged are what a run would report;
                           else `updated` is all rows that meet a stored one */
    int64_t duplicates; /* lost against another row of the input */
    int64_t not_found;  /* deletes of keys that the table does not have */
    int64_t moved;      /* rows that came to another partition (global index) */
    uint64_t rejected;  /* records left out */
    const char *reject; /* the file that they are in; NULL: there is none */
    uint64_t files, bytes;   /* written */
    uint64_t replaced;       /* file groups replaced */
    uint64_t groups;         /* row groups of the files that were rewritten */
    uint64_t groups_carried; /* those that were carried over as they are */
    uint64_t bytes_carried;
    double record_bytes; /* that sizes were planned with */
    const char *record_bytes_why;
    const tarn_table_partition *partitions; /* written to, by path */
    size_t partition_count;
    const tarn_table_bucket *buckets;
    size_t bucket_count;
    const char *const *notes;
    size_t note_count;
    int64_t ms;
} tarn_table_report;

/* An empty copy-on-write table. EXISTS when there is one; UNSUPPORTED when the path is, holds or
 * lies in a table of another kind, and for options that tarn does not know; INVALID for
 * contradictions; CONFLICT when another process makes it. *report is the caller's, to
 * tarn_table_report_close. */
TARN_API int tarn_table_create(tarn_cx *cx, const char *path, const tarn_table_options *options,
                               void (*warn)(void *arg, const char *text), void *arg,
                               tarn_table_report **report);

/* Writes the rows of inputs (see tarn_write), or of a stream, which is read to its end and stays
 * the caller's to release. A missing table is made when keys are given. Statuses: INVALID for bad
 * options, DATA for rows that do not fit, NOTFOUND for an input or a table that is not there,
 * UNSUPPORTED for types that cannot be made one and tables that tarn must not write to, CONFLICT
 * when another writer holds the table (try again), CORRUPT for what is damaged in it, LIMIT,
 * CANCELLED. Whatever fails, readers see the table as it was. *report is the caller's. */
TARN_API int tarn_table_write(tarn_cx *cx, const char *path, const char *const *inputs,
                              size_t input_count, const tarn_table_write_options *options,
                              tarn_table_report **report);
TARN_API int tarn_table_write_rows(tarn_cx *cx, const char *path, struct ArrowArrayStream *rows,
                                   const tarn_table_write_options *options,
                                   tarn_table_report **report);
TARN_API void tarn_table_report_close(tarn_table_report *report);
/* "upsert" and so on; NULL for what is none. */
TARN_API const char *tarn_operation_word(enum tarn_operation op);

/* Whether there is a Hudi table at `path` itself. */
TARN_API int tarn_table_exists(tarn_cx *cx, const char *path, bool *out);

/* The Hudi tables at and below a directory, by path. */
typedef struct tarn_tables {
    const char *const *paths;
    size_t count;
    bool cut; /* there were too many directories to look at all of them */
} tarn_tables;
TARN_API int tarn_tables_open(tarn_cx *cx, const char *path, tarn_tables **out);
TARN_API void tarn_tables_close(tarn_tables *tables);

/* A rollback.
 *
 *     tarn_rollback_report *report = NULL;
 *     if (tarn_table_rollback(cx, "lake/orders", "20240512103000123", NULL, &report) == TARN_OK)
 *         printf("%llu files deleted\n", (unsigned long long)report->files_deleted);
 *     tarn_rollback_report_close(report); */
typedef struct tarn_rollback_options {
    bool drop_metadata_table;
    bool dry_run; /* say what the instant is and which files would go, change nothing */
    void (*warn)(void *arg, const char *text);
    void *arg;
} tarn_rollback_options;

typedef struct tarn_rollback_report {
    const char *root;
    size_t root_len;
    const char *instant, *action; /* that was rolled back */
    const char *rollback;         /* the instant of the rollback; NULL in a dry run */
    bool was_completed, dry_run;
    uint64_t files_deleted;
    const char *const *files; /* of a dry run: below the root, those that would be deleted */
    size_t file_count;
} tarn_rollback_report;

/* Rolls back a commit that was not completed, or the latest one that was. `instant`: all of it, or
 * at least its day, where it is the only one that begins so. NOTFOUND when there is no such
 * instant; INVALID, by name, when there are several, or later ones or a savepoint stand on it;
 * CONFLICT when another writer holds the table. *report is the caller's. */
TARN_API int tarn_table_rollback(tarn_cx *cx, const char *path, const char *instant,
                                 const tarn_rollback_options *options,
                                 tarn_rollback_report **report);
TARN_API void tarn_rollback_report_close(tarn_rollback_report *report);

/* Rows that come a few at a time, committed in batches.
 *
 *     tarn_writer_options options = {.write = {.table = …}, .rows_max = 100000, .age_ms = 60000};
 *     tarn_writer *writer = NULL;
 *     tarn_writer_open(cx, "lake/orders", &schema, &options, &writer);
 *     while (next_batch(&batch))
 *         tarn_writer_push(cx, writer, &batch);
 *     tarn_writer_flush(cx, writer, NULL);
 *     tarn_writer_close(writer);
 *
 * Between flushes rows are in memory alone, and the table is held by nobody. */
typedef struct tarn_writer tarn_writer;

typedef struct tarn_writer_options {
    tarn_table_write_options write; /* without what is of inputs; no dry run */
    uint64_t rows_max;              /* a flush when so many are gathered; 0: 1,000,000 */
    uint64_t bytes_max;             /* or so many bytes in memory; 0: 64 MiB */
    int64_t age_ms;                 /* or the first of them is so old; 0: however old */
    /* Called after each flush, by whatever it was caused, in the thread of the call; NULL: not. */
    void (*on_flush)(void *arg, const tarn_table_report *report);
    void *flush_arg;
} tarn_writer_options;

/* The schema (a struct, dictionaries allowed) is copied, and so are the options with all they point
 * to. Looks at no table. INVALID for options that contradict each other. */
TARN_API int tarn_writer_open(tarn_cx *cx, const char *path, const struct ArrowSchema *schema,
                              const tarn_writer_options *options, tarn_writer **out);
/* Takes the batch over, also on failure, and flushes when a bound is met. After a failed flush the
 * rows are kept: flush again, or close. INVALID for a batch that is not of the schema: it alone is
 * dropped. */
TARN_API int tarn_writer_push(tarn_cx *cx, tarn_writer *writer, struct ArrowArray *batch);
/* Flushes when the rows are old enough; to be called now and then where batches may stay out. */
TARN_API int tarn_writer_poll(tarn_cx *cx, tarn_writer *writer);
/* One commit of what was gathered; without rows none is made and *report is NULL. `report` may be
 * NULL; *report is the caller's. */
TARN_API int tarn_writer_flush(tarn_cx *cx, tarn_writer *writer, tarn_table_report **report);
/* Rows gathered since the last flush; close drops them. */
TARN_API uint64_t tarn_writer_pending(const tarn_writer *writer);
TARN_API void tarn_writer_close(tarn_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
