/* The diagnosis of a directory: facts, findings with evidence, cause and cure.
 *
 *     tarn_doctor_report *report;
 *     if (tarn_doctor(cx, "/data/events", NULL, &report) == TARN_OK) {
 *         for (size_t i = 0; i < report->finding_count; i++)
 *             puts(report->findings[i].cure);
 *         tarn_doctor_close(report);
 *     }
 *
 * Nothing is changed. What a report points to lives until it is closed. */
#ifndef TARN_DOCTOR_H
#define TARN_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TARN_DOCTOR_BUCKETS 8

enum tarn_severity {
    TARN_SEVERITY_ERROR = 1, /* rows cannot be read, or are read wrongly */
    TARN_SEVERITY_WARNING,   /* costs memory, time or money */
    TARN_SEVERITY_NOTE       /* worth to be known; nothing ails */
};

typedef struct tarn_finding {
    const char *kind; /* "small-files", "damaged-files", …: stable */
    enum tarn_severity severity;
    const char *evidence, *cause, *cure; /* cause and cure of a Hudi table's: NULL where the
                                            evidence says it all */
} tarn_finding;

typedef struct tarn_doctor_bucket {
    uint64_t below_bytes; /* sizes below it and not below the bucket before; 0: the rest */
    uint64_t files, bytes;
} tarn_doctor_bucket;

typedef struct tarn_doctor_partition {
    const char *path; /* below the root; "" is the root itself */
    uint64_t files, small_files, bytes, files_after;
} tarn_doctor_partition;

typedef struct tarn_doctor_codec {
    const char *name;
    uint64_t files; /* that have chunks of it */
} tarn_doctor_codec;

typedef struct tarn_doctor_report {
    const char *path;
    uint64_t files, bytes, partitions, directories;
    int64_t rows;
    uint64_t small_limit_bytes, small_files, small_bytes; /* what `merge` takes for fragments */
    tarn_doctor_bucket buckets[TARN_DOCTOR_BUCKETS];
    /* name node: blocks * replicas * replica_bytes; after: as a merge would leave it */
    uint64_t block_bytes, replicas, replica_bytes;
    uint64_t blocks, name_node_bytes;
    uint64_t map_tasks; /* one per block of each file */
    uint64_t files_after, blocks_after, name_node_bytes_after, map_tasks_after;
    const tarn_doctor_partition *worst; /* those with most fragments first, at most ten */
    size_t worst_count;
    uint64_t groups, group_bytes, group_rows; /* row groups: count, sums */
    uint64_t schemas;
    const char *schema_note; /* columns that some files lack; "" when there are none */
    uint64_t kept_undo;      /* partitions whose old files a merge keeps for --undo */
    const char *merging;     /* who merges the directory right now; "" when nobody does */
    const tarn_doctor_codec *codecs;
    size_t codec_count;
    uint64_t damaged, encrypted, bucketed, symlinks,
        indexed;               /* files; indexed: with page indexes */
    const char *const *others; /* names that are no data, at most twenty */
    size_t other_count;
    uint64_t others_total;
    uint64_t others_crc;          /* of them, checksum files of Hadoop; named last */
    bool deep;                    /* every page was read */
    const tarn_finding *findings; /* errors first */
    size_t finding_count;
} tarn_doctor_report;

typedef struct tarn_doctor_options {
    const char *const *partitions; /* only these and what is below; NULL: all */
    size_t partition_count;
    uint64_t target_bytes; /* as for merge; 0: 128 MiB */
    bool deep;             /* read every page and verify its checksum */
    void (*on_progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
} tarn_doctor_options;

/* `options` may be NULL. NOTFOUND, INVALID (no directory), UNSUPPORTED (a table of another kind).
 */
TARN_API int tarn_doctor(tarn_cx *cx, const char *path, const tarn_doctor_options *options,
                         tarn_doctor_report **report);
TARN_API void tarn_doctor_close(tarn_doctor_report *report);

/* Memory of a name node: every block of every file has `replicas` replicas, each of 150 bytes. */
TARN_API uint64_t tarn_doctor_blocks(uint64_t file_bytes);
TARN_API uint64_t tarn_doctor_name_node_bytes(uint64_t blocks);

#ifdef __cplusplus
}
#endif
#endif
