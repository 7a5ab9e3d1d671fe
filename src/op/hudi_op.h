/* The parts of a write into a Hudi table, shared by op/op_hudi_*.c and op/hudi_*.c. */
#ifndef TN_OP_HUDI_OP_H
#define TN_OP_HUDI_OP_H

#include "batch/unify.h"
#include "commit/commit_hudi.h"
#include "exec/exec_upsert.h"
#include "op/hudi_options.h"
#include "op/hudi_write.h"
#include "op/write_op.h"
#include "table/hudi_keys.h"

/* hudi_table.c: what options say of a table. */

/* Puts what is given as members before what is given under Hudi's names. */
int tn_hudi_table_given(tarn_cx *cx, tn_arena *arena, const tarn_table_options *given,
                        tn_hudi_options *options);
/* What tn_hudi_create is to make. INVALID naming what is missing or contradicts. */
int tn_hudi_table_new(tarn_cx *cx, tn_arena *arena, tn_str root, const tn_hudi_options *options,
                      tn_hudi_new *out);
/* The table that there would be, for who may not make it. */
int tn_hudi_table_imagine(tarn_cx *cx, tn_arena *arena, const tn_hudi_new *made,
                          tn_hudi_config *out);
/* How rows of a key merge. Below version 8 a copy-on-write table may not say it (Hudi 0.x keeps no
 * payload class for them): then the writer's options do, as with Hudi. */
enum tn_merge_mode tn_hudi_table_rule(const tn_hudi_options *options, const tn_hudi_config *config);
/* INVALID naming the first property that was given and that the table has otherwise. */
int tn_hudi_table_agree(tarn_cx *cx, tn_str root, const tn_hudi_options *options,
                        const tn_hudi_config *config);
/* UNSUPPORTED by name for a table that tarn does not write to; `merges`: or does not merge in. */
int tn_hudi_table_check(tarn_cx *cx, tn_str root, const tn_hudi_config *config, bool merges);

/* hudi_fit.c: rows of an input as rows of the table. */
typedef struct tn_hudi_fit {
    struct ArrowSchema from;  /* of the input */
    struct ArrowSchema plain; /* the same without dictionaries */
    struct ArrowSchema to;    /* the table's columns, without meta columns, once this is written */
    int64_t *source;          /* per column of `to`: child of `from`; -1: null */
    bool changed;             /* the table's columns change */
    tn_buf missing;           /* names of the table's columns that the rows lack, for people */
    bool partial;             /* there are such */
    int64_t rows;             /* so far */
} tn_hudi_fit;

typedef struct tn_hudi_fit_options {
    const struct ArrowSchema *table; /* NULL: not known */
    tn_str table_name;
    const tn_map *seen;   /* names that inputs had, in lower case; NULL: all that `from` has */
    bool deletes;         /* the rows stand for deletes: only these columns of them count */
    const tn_str *wanted; /* names at the top */
    size_t wanted_count;
} tn_hudi_fit_options;

int tn_hudi_fit_open(tarn_cx *cx, const struct ArrowSchema *from,
                     const tn_hudi_fit_options *options, tn_hudi_fit *out);
void tn_hudi_fit_clear(tn_hudi_fit *fit);
/* Whether `seen` has the name, in whatever case; longer ones than these count as seen. */
#define TN_HUDI_NAME_BYTES_MAX 1024
bool tn_hudi_fit_seen(const tn_map *seen, tn_str name);
void tn_hudi_lower(tn_str name, char *out);
/* Turns a batch of `from` into one of `to`, in place. DATA naming row and column where a value
 * does not fit. */
int tn_hudi_fit_batch(tarn_cx *cx, tn_hudi_fit *fit, struct ArrowArray *batch);

/* hudi_report.c: a report under construction. */
typedef struct tn_hudi_log {
    tarn_table_report report; /* first: the public handle points here */
    tn_arena arena;
    tarn_table_partition *partitions;
    size_t partition_cap;
    tn_map by_path; /* -> index */
    const char **notes;
    size_t note_cap;
} tn_hudi_log;

int tn_hudi_log_open(tarn_cx *cx, tn_str root, tn_hudi_log **out);
void tn_hudi_log_close(tn_hudi_log *log);
int tn_hudi_log_note(tarn_cx *cx, tn_hudi_log *log, tn_str text);
/* The partition's line, added when missing. */
int tn_hudi_log_partition(tarn_cx *cx, tn_hudi_log *log, tn_str path, tarn_table_partition **out);
int tn_hudi_log_text(tarn_cx *cx, tn_hudi_log *log, tn_str text, const char **out);
/* Partitions by path, where no bucket names them by number; the last that is done with it. */
void tn_hudi_log_sort(tn_hudi_log *log);

/* A write under way. */
typedef struct tn_hudi_write {
    const tarn_table_write_options *given;
    enum tarn_operation op;
    tn_hudi_options options;
    tn_arena arena;
    tn_store *store; /* borrowed */
    tn_str root;
    bool foreign_rows; /* batches are a caller's, and are checked */
    int64_t started_ms;

    /* hudi_open.c: the table. */
    bool exists;               /* before the write */
    tn_hudi_new made;          /* what it is made with */
    tn_hudi_made made_now;     /* by this write */
    tn_hudi_config own_config; /* of one that does not exist, or is only looked at */
    tn_timeline own_timeline;
    tn_hudi_commit *commit; /* NULL in a dry run */
    const tn_hudi_config *config;
    const tn_timeline *timeline;
    bool schema_known;
    struct ArrowSchema schema; /* of the table, without meta columns; may be released */

    /* hudi_rows.c: its rows. */
    tn_map seen;                             /* names of columns that inputs have */
    bool text;                               /* some input is text */
    const struct ArrowSchema *given_columns; /* of text inputs, by --schema; NULL: none */
    tn_hudi_fit fit;
    struct ArrowSchema full; /* with meta columns */
    tn_buf avro, avro_full;
    tn_record_key_options key_options;
    tn_record_key *key;
    uint32_t *ordering; /* children of `full` */
    size_t ordering_count;
    uint32_t key_field; /* as tn_base_job has it */
    struct ArrowArray first; /* read before the table was made; released: none, or taken */
    tn_record_keys first_keys;
    bool ended;    /* the input has no more */
    uint8_t *ones; /* marks of deletes */
    int64_t ones_count;
    bool all_deletes;
    bool merges;      /* rows of one key meet */
    bool stream_rows; /* they are not gathered */
    int64_t bad_rows; /* read, and rejected since they have no key or no place */

    /* hudi_files.c: its files. */
    tn_slices slices;
    bool slices_all; /* of every partition */
    tn_incoming *in;
    const tn_base_file **files; /* tagged */
    size_t file_count;
    tn_incoming_summary summary;
    tn_incoming_outcome outcome; /* of a dry run, per tagged file */
    bool foreseen;
    double input_record_bytes; /* measured; 0: not */
    tn_upsert_plan plan;

    tn_str instant, completion;
    tn_base_job job;
    tn_upsert_made result;
    tn_replaced *replaced;
    size_t replaced_count;
    tn_write_reject reject;
    tn_hudi_log *log;
} tn_hudi_write;

void tn_hudi_write_warn(const tn_hudi_write *w, const char *text);

/* hudi_warn.c: once columns are bound; once partitions are planned. */
void tn_hudi_warn_columns(const tn_hudi_write *w);
void tn_hudi_warn_paths(const tn_hudi_write *w);

/* hudi_index.c: once file groups are known. INVALID where they are those of another index. */
int tn_hudi_index_check(tarn_cx *cx, const tn_hudi_write *w);

/* hudi_open.c */

/* Options, and the table as far as it is there: checked, held, failed writes rolled back. */
int tn_hudi_open(tarn_cx *cx, tn_hudi_write *w);
/* Makes and holds a missing table; nothing in a dry run. */
int tn_hudi_open_new(tarn_cx *cx, tn_hudi_write *w);
/* All file groups, once. */
int tn_hudi_open_slices(tarn_cx *cx, tn_hudi_write *w);

/* hudi_rows.c */

/* Binds to the columns of the input. */
int tn_hudi_rows_bind(tarn_cx *cx, tn_hudi_write *w, const struct ArrowSchema *schema);
/* The next rows with meta columns in front, keys and paths filled in; *out stays released at the
 * end. *keys is valid until the next call. */
int tn_hudi_rows_next(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows,
                      struct ArrowArray *out, tn_record_keys *keys);
/* Reads the first of them ahead: what is wrong with them is found before anything is made. */
int tn_hudi_rows_ahead(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows);
/* All of them as a stream, without deletes; the source is the caller's, zeroed but for the first
 * three. */
typedef struct tn_hudi_rows_source {
    tarn_cx *cx;
    tn_hudi_write *w;
    struct ArrowArrayStream *rows;
    int failed; /* errno; 0: not */
    char error[TN_ERROR_TEXT_MAX];
} tn_hudi_rows_source;
void tn_hudi_rows_stream(tn_hudi_rows_source *source, struct ArrowArrayStream *out);

/* hudi_bad.c: a batch of inputs that tn_record_key_batch failed for. Rows without a key or a place
 * are rejected, and it is made again of the others; DATA naming the first one's input and line
 * where nobody takes rejects. */
int tn_hudi_bad_rows(tarn_cx *cx, tn_hudi_write *w, const struct ArrowArrayStream *rows,
                     struct ArrowArray *batch, int64_t first_row, tn_record_keys *keys);

/* hudi_files.c */

/* Gathers the rows, finds their keys, and plans. */
int tn_hudi_files_gather(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows);
int tn_hudi_files_tag(tarn_cx *cx, tn_hudi_write *w);
/* Of a dry run: what merging will come to, once files are tagged. */
int tn_hudi_files_foresee(tarn_cx *cx, tn_hudi_write *w);
/* `stream`: rows are not known yet. */
int tn_hudi_files_plan(tarn_cx *cx, tn_hudi_write *w, bool stream);
/* File groups that the operation takes away, of all the rows' partitions, of those given, or all.
 */
int tn_hudi_files_replaced(tarn_cx *cx, tn_hudi_write *w);

/* hudi_keys_of.c: keys of stored rows, where files do not have them. */
typedef struct tn_hudi_keys_of {
    struct ArrowSchema schema;
    tn_record_key_options options;
    tn_record_key *key;
} tn_hudi_keys_of;
/* Fills what tagging needs of it. */
int tn_hudi_keys_of_open(tarn_cx *cx, tn_hudi_write *w, tn_hudi_keys_of *out,
                         tn_tag_options *options);
void tn_hudi_keys_of_close(tn_hudi_keys_of *keys_of);

/* hudi_make.c: files and commit. */
/* What pages are packed with, as options say; before anything else. */
int tn_hudi_make_codec(tarn_cx *cx, tn_hudi_write *w);
int tn_hudi_make_begin(tarn_cx *cx, tn_hudi_write *w);
int tn_hudi_make_files(tarn_cx *cx, tn_hudi_write *w);
int tn_hudi_make_stream(tarn_cx *cx, tn_hudi_write *w, struct ArrowArrayStream *rows);
int tn_hudi_make_commit(tarn_cx *cx, tn_hudi_write *w);
/* What was planned, into the log. */
int tn_hudi_make_planned(tarn_cx *cx, tn_hudi_write *w);

#endif
