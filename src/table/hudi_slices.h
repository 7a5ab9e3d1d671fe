/* The file groups of a table: partitions, their latest slices, what replaced them (format/files.md
 * 2). */
#ifndef TN_TABLE_HUDI_SLICES_H
#define TN_TABLE_HUDI_SLICES_H

#include "table/timeline.h"
#include "task/slice.h"

typedef struct tn_slice {
    tn_base_file base;  /* name empty: a group of logs alone; of a read-optimized query: skip it */
    tn_slice_log *logs; /* of merge-on-read tables, in Hudi's order */
    size_t log_count;
    bool pending; /* its group is in a pending compaction or clustering */
} tn_slice;

typedef struct tn_slices {
    tn_str *partitions; /* paths below the base, sorted; "" where the table has none */
    size_t partition_count;
    tn_slice *slices; /* by partition, then file id */
    size_t slice_count;
    /* Of the latest ones alone: files that are not visible, for `files --all` and doctor. */
    uint64_t older, invisible;
    uint64_t older_bytes, invisible_bytes;
    /* Version 6: logs that modification times put into another slice than their names say, and the
     * first of them; tn_slices_warning makes a text of it. */
    uint64_t moved;
    tn_str moved_log, moved_to;
    /* Of `written_by`: one of those files is gone; the slices are those of the latest snapshot. */
    bool whole;
    bool listed;            /* files are those that the metadata table lists */
    tn_str listing_problem; /* why it could not be asked; empty: none. tn_slices_warning has it */
} tn_slices;

enum tn_slices_listing {
    TN_SLICES_DIRECTORIES = 0, /* files with their times and inodes, as writers want them */
    TN_SLICES_METADATA         /* the metadata table where there is one that can be read */
};

enum tn_v6_slices {
    TN_V6_SLICES_TIME = 0, /* as Hudi 1.2.0: by the modification time of the instant's file */
    TN_V6_SLICES_INSTANT   /* as Hudi 0.15: by the instant in the log's name */
};

typedef struct tn_slices_options {
    tn_str as_of;             /* instants up to it, by requested time; empty: all completed ones */
    const tn_str *partitions; /* only these; NULL: all that have a partition metadata file */
    size_t partition_count;
    bool footers; /* fill rows and filter_bytes of tn_base_file, in parallel */
    enum tn_v6_slices v6_slices;
    enum tn_slices_listing listing;
    /* Only files that the commits of these instants wrote (sorted requested times; an incremental
     * range); NULL: all files. */
    const tn_str *written_by;
    size_t written_by_count;
} tn_slices_options;

/* Lists in parallel. Replaced groups and files of instants that are not completed are left out.
 * What it points to lives in the arena. CORRUPT naming instant and file when one of the newest
 * commits names a file that is gone; CONFLICT when it went while the table was looked at: load the
 * timeline again. INVALID when `as_of` is a time whose files were cleaned. */
int tn_slices_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                   const tn_timeline *timeline, const tn_slices_options *options, tn_arena *arena,
                   tn_slices *out);
/* Loads timeline and slices that belong together: again, a few times, when a cleaner, a rollback or
 * a restore was at work meanwhile. `options` may be NULL. */
int tn_slices_snapshot(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                       const tn_slices_options *options, tn_arena *arena, tn_timeline *timeline,
                       tn_slices *out);
/* After NOTFOUND of a file of a slice: tells why. CONFLICT, "read again", when the timeline says
 * that a service took it away since it was loaded; else CORRUPT. */
int tn_slices_gone(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                   const tn_timeline *timeline, tn_str path);
/* What the user should know of moved logs, or of a metadata table that cannot be read; empty:
 * nothing. In the arena. */
int tn_slices_warning(tarn_cx *cx, const tn_slices *slices, tn_arena *arena, tn_str *out);

/* Which blocks of the logs count in a snapshot (log.md 5): of version 6 those whose instants are
 * completed, one by one; of later ones the files were chosen so. */
int tn_slices_instants(tarn_cx *cx, const tn_timeline *timeline, tn_str as_of, tn_arena *arena,
                       tn_slice_instants *out);

/* Reads the footers of one slice's base file, or of all. */
int tn_slices_footers(tarn_cx *cx, tn_store *store, tn_slices *slices, tn_arena *arena);

#endif
