/* Finding rows in the table: what the files incoming_tag*.c share. */
#ifndef TN_EXEC_INCOMING_TAG_H
#define TN_EXEC_INCOMING_TAG_H

#include "codec/parquet/file.h"
#include "exec/incoming_state.h"

#define TN_RECORD_KEY_COLUMN "_hoodie_record_key"

/* A key among few, sorted by partition (0 where keys are global), then text. */
typedef struct tn_few_key {
    uint32_t partition;
    tn_str key;
} tn_few_key;

typedef struct tn_few {
    tn_few_key *keys; /* NULL: there are too many to look at one by one */
    size_t count;
    bool beyond_bmp; /* some have characters that Hudi's key ranges order in another way */
    uint64_t charged;
} tn_few;

/* Rows of a row group. */
typedef struct tn_few_rows {
    int64_t first, rows;
} tn_few_rows;

/* A candidate file while it is looked at. */
typedef struct tn_candidate {
    const tn_base_file *base;
    size_t number; /* among the tag's files */
    tn_parquet file;
    bool open, ruled_out;
    size_t leaf;    /* of the key column */
    bool *groups;   /* that may hold a key */
    uint64_t bytes; /* of the footer */
} tn_candidate;

/* A row group, or a file, that is looked through. */
typedef struct tn_tag_job {
    uint32_t candidate, group;
    tn_buf extras; /* tn_extra: places that were not the least */
    int64_t keys;
    uint64_t bytes;
} tn_tag_job;

typedef struct tn_tag {
    tn_incoming *in;
    const tn_tag_options *options;
    tn_keys *keys; /* those of the round */
    tn_few few;
    tn_candidate *wave;
    size_t wave_count, wave_cap;
    tn_tag_job *jobs;
    size_t job_count;
    tn_tag_counts counts;
} tn_tag;

/* incoming_look.c */
/* The file's partition, as the few keys are sorted. */
uint32_t tn_look_partition(const tn_tag *t, const tn_candidate *candidate);
/* The key column of the row group of job `i`; `arg` is the tag. For any thread. */
int tn_look_group(tarn_cx *cx, size_t i, void *arg);
/* A file whose keys are made of other columns, on the calling thread: `keys_of` is called by one
 * thread, decoding is parallel. */
int tn_look_file(tarn_cx *cx, const tn_tag *t, const tn_candidate *c, tn_tag_job *j);

/* incoming_few.c: the keys of rows held, where they are few; an empty tn_few otherwise. */
int tn_few_init(tarn_cx *cx, const tn_incoming *in, tn_few *out);
void tn_few_clear(tarn_cx *cx, tn_few *few);
/* Keys of a partition from `min` to `max`: [*first, *end). */
void tn_few_range(const tn_few *few, uint32_t partition, tn_str min, tn_str max, size_t *first,
                  size_t *end);
/* Whether the file, by key range and filter in its footer, may hold one. */
int tn_few_file(tarn_cx *cx, const tn_few *few, uint32_t partition, const tn_candidate *candidate,
                bool ranges, bool *may);
/* The same for a row group, by its statistics. */
bool tn_few_group(const tn_few *few, uint32_t partition, const tn_candidate *candidate,
                  size_t group);
/* Rows of a group that may hold one, by its page index: ranges in the arena; `index` is for a
 * reader to skip by. *count 0 and *index without pages: the whole group. */
int tn_few_pages(tarn_cx *cx, const tn_few *few, uint32_t partition, const tn_candidate *candidate,
                 size_t group, tn_arena *arena, tn_offset_index *index, tn_few_rows **ranges,
                 size_t *count);
#endif
