/* What the files of the base writer share: base_file.c makes the file, base_merge.c takes over and
 * changes the rows of the file before, base_splice.c those of row groups in which few change,
 * base_wins.c says which row wins, base_rows.c puts rows of both together. */
#ifndef TN_EXEC_BASE_STATE_H
#define TN_EXEC_BASE_STATE_H

#include "batch/ordering.h"
#include "codec/parquet/arrow.h"
#include "exec/base_keys.h"
#include "exec/read_calendar.h"

/* The meta columns, in the order that they have in every file. */
enum tn_base_meta {
    TN_META_COMMIT_TIME = 0,
    TN_META_SEQUENCE,
    TN_META_KEY,
    TN_META_PARTITION,
    TN_META_FILE,
    TN_META_COUNT
};

/* Changes of one row group, as long as they are few. */
typedef struct tn_base_few {
    struct ArrowArray rows; /* copies; released: none */
    tn_buf positions, deletes;
    int64_t first, end; /* rows of the file that are the row group's */
    size_t group;
    bool open; /* more may be added */
} tn_base_few;

/* The file before, and how far it has come. */
typedef struct tn_base_old {
    tn_parquet parquet;
    tn_file *bytes; /* NULL: there is none */
    /* per column of the job's schema: its place in a scan's batches; -1: made here, or missing */
    int64_t *places;
    uint32_t *columns; /* that a scan reads: of the file */
    size_t column_count;
    struct ArrowSchema scanned; /* of these */
    tn_read_calendar calendar;  /* its dates and times may be of an old one */
    tn_ordering *ordering;      /* event time alone */
    tn_carry_leaf *carry;       /* per leaf of the new file */
    tn_carry_leaf *splice;      /* the same where rows change */
    bool carried;               /* row groups may be carried over */
    bool spliced;               /* and pages of them */
    tn_base_few few;
    uint32_t group;         /* all before it are done */
    int64_t at;             /* rows of the file that are done */
    int64_t group_first;    /* its first row, counted in the file */
    tn_parquet_scan *scan;  /* of `group`; NULL: nothing of it was looked at */
    struct ArrowArray held; /* decoded rows: columns of the job's schema */
    int64_t held_first;
    struct ArrowArray waiting; /* rows for the last position: copies */
    tn_buf waiting_positions, waiting_deletes;
    tn_buf runs;                       /* tn_base_run */
    tn_buf held_order, incoming_order; /* uint64_t per row, where values fit that */
    tn_buf held_bytes, incoming_bytes; /* else of two rows to be compared */
    bool ended;
} tn_base_old;

struct tn_base_writer {
    tn_base_job *job;
    tn_base_place place;
    tn_arena arena;
    tn_str name, path, sequence; /* "<instant>_<number>_" */
    tn_sink *file;
    tn_parquet_sink *sink;
    tn_base_keys keys;
    tn_base_old old;
    tn_base_counts counts;
    int64_t next; /* sequence number */
    int64_t inserts, updates, deletes;
    uint64_t memory_bytes, encoded_bytes; /* of new rows */
    bool numbered;                        /* commit time and sequence number follow a rule now */
};

/* True for a column that is made here for every row. */
static inline bool tn_base_is_made(const tn_base_job *job, int64_t column)
{
    return column < TN_META_COUNT &&
           (!job->meta_fields || column == TN_META_PARTITION || column == TN_META_FILE);
}

/* What stands in such a column. */
tn_made tn_base_made_value(const tn_base_writer *w, size_t column);

/* Rows whose commit time and sequence number are the next ones of this commit. */
int tn_base_put_new(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows);
/* Rows that have theirs. */
int tn_base_put_kept(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows);

/* A run of rows of one side, in the order of the file: of `held`, or of what comes in. */
typedef struct tn_base_run {
    bool incoming;
    int64_t first, count; /* rows of the batch, its offset not counted */
} tn_base_run;

/* Puts runs of both sides together and into the file. Rows that come in get commit time and
 * sequence number. */
int tn_base_put_runs(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *held,
                     const struct ArrowArray *incoming, const tn_base_run *runs, size_t count);

/* Adds a run to a list of them. */
int tn_base_add_run(tarn_cx *cx, tn_buf *runs, bool incoming, int64_t first, int64_t count);
/* The rows of runs as one batch; rows that come in get commit time and sequence number. Columns
 * that are made are empty. */
int tn_base_mix_runs(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *held,
                     const struct ArrowArray *incoming, const tn_base_run *runs, size_t count,
                     struct ArrowArray *out);
/* Whether commit time and sequence number of what is put into the sink follow a rule. */
int tn_base_number_rows(tarn_cx *cx, tn_base_writer *w, bool by_rule);

/* Ordering values of the rows held, and of those that come in, where these are numbers. */
int tn_base_order_held(tarn_cx *cx, tn_base_old *old);
int tn_base_order_incoming(tarn_cx *cx, tn_base_old *old, const struct ArrowArray *rows);
/* The row that stays of rows [i, n), all for one stored row, in the order of their arrival; -1: the
 * stored one, which is row `stored` of those held. Both have been ordered. */
int64_t tn_base_winner(tn_base_writer *w, const struct ArrowArray *rows, const uint8_t *deletes,
                       int64_t i, int64_t n, int64_t stored);

int tn_base_old_open(tarn_cx *cx, tn_base_writer *w);
/* What can be carried over; the sink is open. */
int tn_base_old_plan(tarn_cx *cx, tn_base_writer *w);
void tn_base_old_close(tn_base_old *old);
int tn_base_old_change(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                       const int64_t *positions, const uint8_t *deletes);
/* Rows of the last position, which more may follow for, are changed now. */
int tn_base_old_flush(tarn_cx *cx, tn_base_writer *w);
/* Takes over the group at hand, or what is left of it. `joins`: rows will follow it. */
int tn_base_old_pass(tarn_cx *cx, tn_base_writer *w, bool joins);
/* Carries over the group at hand. */
int tn_base_old_carry(tarn_cx *cx, tn_base_writer *w);
/* Compressed bytes of the group at hand; of row groups as they should be; and whether so many are
 * less than three quarters of those. */
uint64_t tn_base_old_group_bytes(const tn_base_old *old);
uint64_t tn_base_old_group_limit(const tn_base_writer *w);
bool tn_base_old_small(const tn_base_writer *w, uint64_t bytes);
/* base_splice.c: the same as tn_base_old_change; few changes of a row group wait until all of them
 * are known. */
int tn_base_splice_change(tarn_cx *cx, tn_base_writer *w, const struct ArrowArray *rows,
                          const int64_t *positions, const uint8_t *deletes);
/* Those that wait. `joins`: rows will follow the file's last one. */
int tn_base_splice_end(tarn_cx *cx, tn_base_writer *w, bool joins);
void tn_base_few_clear(tn_base_few *few);
/* Takes over what is left of it. `more`: new rows follow. */
int tn_base_old_end(tarn_cx *cx, tn_base_writer *w, bool more);
/* Bytes that filter and range will take. */
uint64_t tn_base_old_filter_bytes(const tn_base_writer *w);
/* Filter and range: those of its footer where the new keys have room there, else made anew. */
int tn_base_old_keys(tarn_cx *cx, tn_base_writer *w);

#endif
