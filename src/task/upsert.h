/* A write into a copy-on-write Hudi table as plain values: what is known of its files, what was
 * decided, what was made. Everything pointed to lives in the arena of who made it. */
#ifndef TN_TASK_UPSERT_H
#define TN_TASK_UPSERT_H

#include "task/task.h"

enum tn_operation { /* the order of enum tarn_operation in tarn/table.h */
                    TN_OP_UPSERT = 0,
                    TN_OP_INSERT,
                    TN_OP_BULK_INSERT,
                    TN_OP_DELETE,
                    TN_OP_INSERT_OVERWRITE,
                    TN_OP_INSERT_OVERWRITE_TABLE,
                    TN_OP_DELETE_PARTITION
};
/* "UPSERT" and so on, as Hudi stores it. */
const char *tn_operation_name(enum tn_operation operation);

enum tn_merge_mode { /* hoodie.record.merge.mode, and what payload classes mean */
                     TN_MERGE_COMMIT_TIME = 1,
                     TN_MERGE_EVENT_TIME,
                     TN_MERGE_CUSTOM /* not understood: nothing may be merged */
};

/* The base file of a file group's latest slice. */
typedef struct tn_base_file {
    uint32_t partition; /* number of its path, as the table's snapshot numbers them */
    tn_str partition_path;
    tn_str file_id, instant, token, name;
    tn_str path; /* in the store */
    uint64_t size_bytes;
    int64_t mtime_ns;
    uint64_t inode;
    /* From the footer; rows -1: it was not read. */
    int64_t rows;
    uint64_t filter_bytes; /* of the bloom filter's text in the footer */
} tn_base_file;

/* Where rows are to go. Rows travel in streams, numbered: stream b < bucket_count has the updates
 * of bucket b (positions of the old file, ascending) and, with exact sizing or a bucket index, the
 * inserts that tn_upsert_route sends to it after them; stream bucket_count + p, with real sizing,
 * has all inserts of partition p of the plan, in the order of their arrival (or of the sort): its
 * insert buckets take from it one after the other. */
typedef struct tn_bucket {
    uint32_t partition;       /* index into tn_upsert_plan.partitions */
    const tn_base_file *base; /* the file that is rewritten; NULL: a new file group */
    tn_str file_id;           /* of a new one */
    int64_t updates;          /* rows that change or delete rows of `base` */
    int64_t inserts;          /* planned; with real sizing an estimate */
    double until;             /* exact: cumulative weight, for routing by key */
    uint64_t target_bytes; /* real sizing: takes inserts until the file has about so many; of a new
                              one: then rolls over to the next file. 0: takes none, or (exact) all
                              it is given */
    tn_str why; /* for people: "31.2 MB, under the limit of 104.9 MB: room for 700000 rows" */
} tn_bucket;

typedef struct tn_upsert_partition {
    tn_str path;
    uint32_t number;                          /* as tn_record_key numbers it */
    int64_t inserts;                          /* -1: a stream of unknown length */
    size_t first_bucket, bucket_count;        /* its buckets are consecutive */
    size_t first_insert, insert_bucket_count; /* those among them that take inserts, in order:
                                                 indices into tn_upsert_plan.insert_buckets */
} tn_upsert_partition;

typedef struct tn_upsert_plan {
    bool exact;             /* --sizing hudi: tn_upsert_route says where an insert goes */
    uint32_t index_buckets; /* bucket index: it says so, too, and each partition that has inserts
                               has so many insert buckets; 0: other index */
    double record_bytes;    /* that the counts were made with */
    tn_str record_bytes_why;
    tn_upsert_partition *partitions;
    size_t partition_count;
    tn_bucket *buckets;
    size_t bucket_count;
    uint32_t *insert_buckets; /* indices into buckets */
} tn_upsert_plan;

/* What a commit's metadata says of one file (org.apache.hudi.common.model.HoodieWriteStat). */
typedef struct tn_write_stat {
    tn_str partition, file_id;
    tn_str path;         /* below the table's base path */
    tn_str prev_instant; /* base instant of the slice before; empty: a new group */
    int64_t writes, inserts, updates, deletes, errors;
    uint64_t bytes;
    /* Of the planned profile alone: counts without a path. */

    /* Read, never written: of a log, the slice that it belongs to (names; the log may be among
     * them), and the files of change data that came with a file (below the table's base path). */
    tn_str base_file;
    const tn_str *log_files, *cdc_files;
    size_t log_file_count, cdc_file_count;
} tn_write_stat;

#endif
