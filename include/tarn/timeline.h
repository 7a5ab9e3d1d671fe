/* What an operator wants to know of a Hudi table: its timeline, one instant, its files, its
 * columns, and all of it on one screen. Nothing here changes anything.
 *
 *     tarn_timeline *timeline = NULL;
 *     if (tarn_timeline_open(cx, "lake/orders", NULL, &timeline) == TARN_OK)
 *         for (size_t i = 0; i < timeline->instant_count; i++)
 *             printf("%s %s %s\n", timeline->instants[i].time, timeline->instants[i].action,
 *                    timeline->instants[i].state);
 *     tarn_timeline_close(timeline);
 *
 * A path that is no Hudi table: NOTFOUND, or as said at the function. Damaged properties: CORRUPT.
 * What a value points to lives until it is closed; a `close` takes NULL. Texts that are not known
 * are NULL. Thread rule: any thread, each with its own context; values are read by any number. */
#ifndef TARN_TIMELINE_H
#define TARN_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "doctor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a completed commit says of itself, added up. */
typedef struct tarn_commit_counts {
    const char *operation; /* "UPSERT" */
    uint64_t partitions;
    uint64_t files_added, files_updated; /* new file groups; rewritten or appended ones */
    uint64_t groups_replaced;
    int64_t rows; /* written: of a rewritten file all its rows */
    int64_t inserted, updated, deleted, errors;
    uint64_t bytes;
} tarn_commit_counts;

typedef struct tarn_instant {
    const char *time;       /* requested */
    const char *completion; /* NULL: not completed. Below table version 8 the file's age tells */
    const char *action;     /* "commit", "replacecommit", "clean", "rollback", … */
    const char *state;      /* "REQUESTED", "INFLIGHT", "COMPLETED" */
    const char *file;       /* of that state, below the timeline's directory */
    uint64_t bytes;         /* of that file */
    const tarn_commit_counts *counts; /* NULL: no completed commit, or not asked for */
    const char *problem;              /* why it cannot be read, and the way out */
    bool archived; /* it left the active timeline; `file` is that of the archive it stands in */
} tarn_instant;

/* ---- the timeline */

typedef struct tarn_timeline_options {
    bool counts;                /* read each completed commit; else no file is opened */
    bool pending;               /* only those that are not completed */
    const char *const *actions; /* only these; NULL: all */
    size_t action_count;
    uint64_t limit; /* only so many of the newest; 0: all */
    bool descending;
    bool archived; /* with the completed ones that were archived, which have no counts here */
} tarn_timeline_options;

typedef struct tarn_timeline {
    const char *path, *directory; /* of the table; of its timeline */
    const char *name, *type;      /* "orders"; "COPY_ON_WRITE", "MERGE_ON_READ" */
    int table_version;
    bool utc; /* zone of the instants; else that of who wrote them */
    const tarn_instant *instants;
    size_t instant_count;
    uint64_t active, pending;   /* of the whole active timeline */
    const char *const *strange; /* names there that are no instants' files */
    size_t strange_count;
    uint64_t archived; /* how many there are, where they were asked for */
} tarn_timeline;

/* `options` may be NULL. INVALID for an action that does not exist. */
TARN_API int tarn_timeline_open(tarn_cx *cx, const char *path, const tarn_timeline_options *options,
                                tarn_timeline **out);
TARN_API void tarn_timeline_close(tarn_timeline *timeline);

/* ---- one instant */

typedef struct tarn_instant_file {
    const char *name, *state;
    uint64_t bytes;
    const char *contents; /* as JSON text; NULL: it is empty */
} tarn_instant_file;

typedef struct tarn_instant_stat {
    const char *partition, *file_id, *path; /* path NULL: of a profile, before files were made */
    const char *previous; /* base instant of the slice before; NULL: a new group */
    int64_t rows, inserted, updated, deleted, errors;
    uint64_t bytes;
} tarn_instant_stat;

typedef struct tarn_instant_replaced {
    const char *partition, *file_id;
} tarn_instant_replaced;

typedef struct tarn_instant_extra {
    const char *key, *value;
} tarn_instant_extra;

typedef struct tarn_instant_detail {
    const char *path; /* of the table */
    tarn_instant instant;
    const tarn_instant_file *files; /* by state */
    size_t file_count;
    const tarn_instant_stat *stats; /* of a completed commit */
    size_t stat_count;
    const tarn_instant_replaced *replaced;
    size_t replaced_count;
    const tarn_instant_extra *extra;
    size_t extra_count;
} tarn_instant_detail;

/* The instant of that requested time (a prefix of it will do where it is the only one); `action`
 * chooses where several share it, and may be NULL: the first, a savepoint last. One that is not on
 * the active timeline is looked for in the archive; its contents are told, not its files. NOTFOUND
 * with what is near. CORRUPT for an empty or damaged file of a completed instant, naming file,
 * instant and the way out. */
TARN_API int tarn_instant_open(tarn_cx *cx, const char *path, const char *time, const char *action,
                               tarn_instant_detail **out);
TARN_API void tarn_instant_close(tarn_instant_detail *detail);

/* ---- files */

enum tarn_file_note {
    TARN_FILE_CURRENT,     /* of the latest slice of its group */
    TARN_FILE_OLDER,       /* of an earlier slice: a cleaner will take it away */
    TARN_FILE_REPLACED,    /* its group was replaced */
    TARN_FILE_UNCOMMITTED, /* its instant is not completed: readers do not see it */
    TARN_FILE_LATER        /* of an instant after the one asked for */
};

typedef struct tarn_table_file {
    const char *partition, *file_id, *instant; /* file_id NULL: a plain directory */
    const char *name;                          /* NULL: a slice of logs alone */
    bool log;                                  /* `name` is a log: of listings of every file */
    uint64_t bytes;
    int64_t rows;             /* -1: unknown; of the base file, whatever logs say */
    uint64_t logs, log_bytes; /* of the slice */
    enum tarn_file_note note;
    bool small, pending; /* below small_bytes; its group is being compacted or clustered */
    const char *action;  /* of its instant on the active timeline; NULL: it is archived */
} tarn_table_file;

typedef struct tarn_files_options {
    const char *const *partitions; /* only these; NULL: all */
    size_t partition_count;
    const char *group;    /* only this file id, with its history */
    bool all;             /* every file, not only those of the latest slices */
    const char *as_of;    /* slices as they were then, as of tarn_read_options */
    bool no_rows;         /* leave footers closed */
    uint64_t small_bytes; /* 0: 100 MiB, the default of hoodie.parquet.small.file.limit */
    bool check;           /* compare the metadata table with the directories of the whole table */
} tarn_files_options;

/* Where the metadata table of a Hudi table and its directories differ, which they never should. */
enum tarn_files_fault {
    TARN_FILES_MISSING = 1, /* listed, and not there */
    TARN_FILES_UNLISTED,    /* there, of a completed instant, and not listed: not seen by readers */
    TARN_FILES_SIZE         /* of another size than listed */
};
typedef struct tarn_files_difference {
    enum tarn_files_fault fault;
    const char *partition, *name;
    uint64_t listed_bytes, stored_bytes;
} tarn_files_difference;

typedef struct tarn_files {
    const char *path;
    bool hudi, mor;               /* hudi false: a plain directory */
    const tarn_table_file *files; /* by partition, file id, instant */
    size_t file_count;
    uint64_t partitions, groups; /* that the files listed are in */
    uint64_t bytes, small;       /* of the current ones, logs apart */
    uint64_t logs, log_bytes;    /* of the current slices */
    int64_t rows;                /* of the current ones, as far as known */
    uint64_t older, uncommitted; /* not listed, but there: with `all` they are listed */
    uint64_t small_bytes;
    bool listed;         /* names come from the metadata table, else from the directories */
    const char *warning; /* NULL: none */
    const tarn_files_difference *differences; /* with `check` */
    size_t difference_count;
    bool checked; /* false: there is no metadata table that could be compared */
} tarn_files;

/* `options` may be NULL. A plain directory of Parquet files is listed as well. CORRUPT when a
 * commit names a file that is gone. */
TARN_API int tarn_files_open(tarn_cx *cx, const char *path, const tarn_files_options *options,
                             tarn_files **out);
TARN_API void tarn_files_close(tarn_files *files);

/* ---- columns */

typedef struct tarn_table_column {
    const char *name, *type; /* Arrow types: "int64", "timestamp[us, UTC]" */
    bool nullable, meta, key, partition, ordering;
} tarn_table_column;

typedef struct tarn_columns {
    const char *path;
    bool hudi;
    bool known; /* false: a table without commits that was made without columns */
    const tarn_table_column *columns;
    size_t column_count;
    const char *avro; /* the Avro schema without meta columns, as the table has it; NULL: none */
} tarn_columns;

typedef struct tarn_columns_options {
    const char *as_of; /* as of tarn_read_options */
    bool meta;         /* with the meta columns */
} tarn_columns_options;

/* `options` may be NULL. A Parquet file or a plain directory has columns, too. */
TARN_API int tarn_columns_open(tarn_cx *cx, const char *path, const tarn_columns_options *options,
                               tarn_columns **out);
TARN_API void tarn_columns_close(tarn_columns *columns);

/* ---- one screen */

typedef struct tarn_overview_partition {
    const char *path;
    uint64_t groups, bytes, small, small_bytes; /* small_bytes: of the small ones */
    int64_t rows;
} tarn_overview_partition;

/* A slice with logs. */
typedef struct tarn_overview_slice {
    const char *partition, *file_id;
    const char *instant; /* of the base file; NULL: logs alone */
    uint64_t base_bytes, logs, log_bytes;
    bool pending; /* its group is in a pending compaction or clustering */
} tarn_overview_slice;

/* A planned service that is not completed. */
typedef struct tarn_overview_service {
    const char *time, *action, *state; /* action: "compaction", "logcompaction", "clustering" */
    uint64_t groups;                   /* file groups of its plan */
    const char *problem;               /* why the plan cannot be read; groups is 0 then */
} tarn_overview_service;

typedef struct tarn_overview {
    const char *path, *name, *database, *type;
    int table_version, timeline_layout;
    const char *keygen;
    const char *const *keys, *const *partition_fields, *const *ordering;
    size_t key_count, partition_field_count, ordering_count;
    const char *merge_mode; /* "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM" */
    const char *base_format;
    bool hive_style, url_encode, meta_fields, utc, metadata_table, cdc;
    const tarn_instant *last; /* the newest commits, with counts, the newest first */
    size_t last_count;
    uint64_t instants, pending;
    bool files_known; /* false: a finding says why; what follows is 0 then */
    const tarn_overview_partition *partitions; /* by path; of a diagnosis the worst first */
    size_t partition_count;
    uint64_t groups, bytes, small, older, uncommitted;
    uint64_t older_bytes, uncommitted_bytes;
    int64_t rows; /* of base files, whatever logs say */
    uint64_t small_bytes;
    /* Buckets that the numbers of all file groups tell of, at least; 0: the groups have none. */
    uint64_t buckets;
    /* Of merge-on-read tables. */
    uint64_t logs, log_bytes, log_groups; /* groups with logs */
    uint64_t log_only;                    /* those without a base file */
    uint64_t log_many, log_big; /* those with more than 5 logs; with more bytes of them (16 MiB and
                                   up) than of their base file */
    uint64_t log_due;           /* either */
    const tarn_overview_slice *heavy; /* some slices with the most logs, the heaviest first */
    size_t heavy_count;
    const tarn_overview_service *services; /* pending, by time */
    size_t service_count;
    const char *const *metadata_partitions; /* of the metadata table that may be read */
    size_t metadata_partition_count;
    const tarn_finding *findings; /* errors first */
    size_t finding_count;
} tarn_overview;

/* What cannot be read becomes a finding, where it is not the table's properties. Findings are those
 * that meet the eye. */
TARN_API int tarn_overview_open(tarn_cx *cx, const char *path, tarn_overview **out);
/* The same with all that is found when the table is looked at closely: small files, logs that
 * nobody compacts, a metadata table that differs from the directories. */
TARN_API int tarn_overview_diagnose(tarn_cx *cx, const char *path, tarn_overview **out);
TARN_API void tarn_overview_close(tarn_overview *overview);

#ifdef __cplusplus
}
#endif
#endif
