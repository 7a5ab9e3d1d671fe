/* The files of one bucket, cut by size as its rows come. */
#ifndef TN_EXEC_WRITE_BUCKET_H
#define TN_EXEC_WRITE_BUCKET_H

#include <stdatomic.h>

#include "codec/parquet/arrow.h"
#include "io/store.h"
#include "task/write.h"

/* What the buckets of one write share; borrowed by each. */
typedef struct tn_write_job {
    tn_store *store;
    const tn_write_plan *plan;
    const struct ArrowSchema *schema; /* of the rows */
    const struct ArrowSchema *stored; /* see tn_parquet_sink_options; NULL: the same */
    _Atomic uint64_t files;           /* in all, those of earlier calls included */
} tn_write_job;

typedef struct tn_write_part {
    tn_sink *sink;
    tn_parquet_sink *parquet;
    uint64_t number; /* of the file within its bucket; part of the staged name */
    int64_t rows;
    bool counted; /* among the job's files */
} tn_write_part;

/* A file that is done. */
typedef struct tn_write_made {
    uint64_t number, bytes;
    int64_t rows;
} tn_write_made;

typedef struct tn_write_bucket {
    tn_write_job *job;
    size_t index;               /* of the bucket; part of the staged name */
    tn_write_part before, open; /* the file before waits for what may be its rest */
    tn_buf made;                /* tn_write_made */
    uint64_t numbers;           /* given out */
    int64_t rows;               /* of all files, and their bytes: how much a row takes */
    uint64_t bytes;
} tn_write_bucket;

/* Zeroed but for job and index is valid. */
int tn_write_bucket_add(tarn_cx *cx, tn_write_bucket *bucket, const struct ArrowArray *batch);
int tn_write_bucket_end(tarn_cx *cx, tn_write_bucket *bucket);
/* What was staged stays, the open files apart. */
void tn_write_bucket_clear(tn_write_bucket *bucket);
/* The staged path of a file, in the arena. */
int tn_write_bucket_path(tarn_cx *cx, tn_arena *arena, const tn_write_plan *plan, size_t index,
                         uint64_t number, tn_str *out);

#endif
