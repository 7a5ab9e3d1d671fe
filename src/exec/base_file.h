/* Writes one base file of a Hudi table: meta columns, key filter, key range, the Avro schema in the
 * footer; row groups carried over from the file before by column chunk, rows taken from it and
 * changed, new rows behind. One thread; columns are encoded on the pool of `cx`. */
#ifndef TN_EXEC_BASE_FILE_H
#define TN_EXEC_BASE_FILE_H

#include "codec/bloom/key_filter.h"
#include "io/store.h"
#include "tarn/batch.h"
#include "task/upsert.h"

/* Of row groups, compressed, where nothing else is said. */
#define TN_BASE_GROUP_BYTES (8ull << 20)

/* What the files of one commit share; borrowed by each. */
typedef struct tn_base_job {
    tn_store *store;
    tn_str root; /* the table's base path in the store */
    tn_str instant;
    const struct ArrowSchema
        *schema;        /* of the rows: the five meta columns first, then the table's own;
                           a table without populated meta columns has them as nulls */
    tn_str avro_schema; /* of the same, for the footer */
    bool meta_fields;   /* false: meta columns are null, no filter, no key range */
    enum tn_key_filter_kind filter_kind;
    double filter_fpp;
    uint64_t filter_keys_max;
    uint64_t
        filter_keys; /* 0: sized for the keys of the file; else hoodie.index.bloom.num_entries */
    int32_t codec, level;
    uint64_t group_bytes; /* of row groups, compressed; 0: 8 MiB */
    int64_t group_rows;
    int64_t page_rows; /* 0: as chunk writers have it */
    tn_str created_by;
    enum tn_merge_mode merge_mode;
    uint32_t key_field; /* child of `schema`: the one whose texts are likely to be the record keys;
                           0: none */
    const uint32_t *ordering; /* children of `schema` */
    size_t ordering_count;
    /* Called before a data file is created; `merge`: it follows an older one of its group. Any
     * thread. */
    int (*mark)(tarn_cx *cx, void *arg, tn_str partition, tn_str name, bool merge);
    void *mark_arg;
    _Atomic uint32_t files; /* opened so far */
} tn_base_job;

/* What one file is to be. */
typedef struct tn_base_place {
    tn_str partition, file_id;
    const tn_base_file *before; /* the file that it replaces; NULL: none */
    uint32_t number;            /* of its write token and its sequence numbers */
    int64_t first;       /* sequence numbers begin with it: files of one number share them out */
    uint64_t keys_about; /* how many rows it may get; 0: unknown */
} tn_base_place;

/* What became of the rows of the file before. */
typedef struct tn_base_counts {
    int64_t unchanged;               /* changes and deletes that lost against the stored row */
    uint64_t groups, groups_carried; /* its row groups; carried over */
    uint64_t bytes_carried;
} tn_base_counts;

typedef struct tn_base_writer tn_base_writer;

/* A new file of group `file_id`, named "<file id>_<token>_<instant>.parquet", in the partition's
 * directory, which `mark` has made. Texts of `place` are copied; its `before` is borrowed. */
int tn_base_writer_open(tarn_cx *cx, tn_base_job *job, const tn_base_place *place,
                        tn_base_writer **out);
/* Without finish: the file is removed. */
void tn_base_writer_close(tarn_cx *cx, tn_base_writer *writer);
/* Rows that change rows of the file before, or delete them where deletes[i] is 1 (NULL: none):
 * positions (rows of that file) ascend strictly, over all calls, and all calls come before the
 * first _add. CORRUPT for a position that the file does not have. */
int tn_base_writer_change(tarn_cx *cx, tn_base_writer *writer, const struct ArrowArray *rows,
                          const int64_t *positions, const uint8_t *deletes);
/* New rows: columns of job->schema; the record key and partition path columns are filled, the other
 * meta columns are made here. */
int tn_base_writer_add(tarn_cx *cx, tn_base_writer *writer, const struct ArrowArray *rows);
/* How many of the new rows to add before it is asked again, so that the file ends near so many
 * bytes; 0: it has them. Takes over what is left of the file before. */
int tn_base_writer_fit(tarn_cx *cx, tn_base_writer *writer, uint64_t target_bytes,
                       const struct ArrowArray *rows, int64_t *fit);
/* About how many bytes the file has so far, filter and footer included. */
uint64_t tn_base_writer_bytes(const tn_base_writer *writer);
int64_t tn_base_writer_rows(const tn_base_writer *writer);
/* Of changed and new rows: the sequence number that the next file of the same number begins with.
 */
int64_t tn_base_writer_next(const tn_base_writer *writer);
/* After all rows: whether the file would have those of the one before, and nothing else. Then it
 * need not be: close without finish removes it. */
int tn_base_writer_same(tarn_cx *cx, tn_base_writer *writer, bool *out, tn_base_counts *counts);
/* Filter, footer, durable. Texts live in the arena. A file without rows is a file. `counts` may be
 * NULL. */
int tn_base_writer_finish(tarn_cx *cx, tn_base_writer *writer, tn_arena *arena, tn_write_stat *out,
                          tn_base_counts *counts);

#endif
