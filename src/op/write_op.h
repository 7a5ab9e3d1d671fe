/* The parts of a write, shared by op/op_write.c and op/write_*.c. */
#ifndef TN_OP_WRITE_OP_H
#define TN_OP_WRITE_OP_H

#include "base/map.h"
#include "commit/commit_write.h"
#include "exec/exec_input.h"
#include "io/store.h"
#include "op/input.h"
#include "plan/plan_write.h"
#include "table/dir.h"
#include "tarn/batch.h"
#include "tarn/write.h"

/* write_schema.c: columns as people write them.
 *
 *   fields := field { ("," | new line) field }      field := name (":" | blank) type [ "not null" ]
 *   type   := word [ "(" digits [ "," digits ] ")" ] | timestamp "[" unit [ "," "UTC" ] "]"
 *           | (array | list) "<" type ">" | map "<" type "," type ">" | struct "<" fields ">"
 *
 * A name is bare, or in `backticks` or "quotes"; "#" begins a comment that ends with its line. */
int tn_write_schema_parse(tarn_cx *cx, tn_str text, struct ArrowSchema *out);
/* The text itself, or that of the file that "@FILE" names. */
int tn_write_schema_of(tarn_cx *cx, const char *option, struct ArrowSchema *out);

/* write_dir.c: the directory as it is. */
typedef struct tn_write_dir {
    tn_dir dir;
    bool found;      /* there is one */
    bool has_schema; /* it has a data file that can be read: the newest tells what follows */
    struct ArrowSchema schema; /* columns of its files, but for those that name directories */
    uint64_t files, bytes;     /* data files */
} tn_write_dir;

/* UNSUPPORTED for a table of another kind, also where `root` lies in one. */
int tn_write_dir_load(tarn_cx *cx, tn_store *store, tn_str root, const tarn_write_options *options,
                      tn_write_dir *out);
void tn_write_dir_clear(tn_write_dir *dir);
/* Its partitions and data files, without footers. */
int tn_write_dir_list(tarn_cx *cx, tn_store *store, tn_str root, bool probe, tn_dir *out);
/* Whether both snapshots show the same data files. */
bool tn_write_dir_same(const tn_dir *a, const tn_dir *b);

/* write_input.c: INVALID when an input lies in the directory, or the other way round: rows would
 * come twice, or be replaced while they are read. The directory itself may be its own input for an
 * overwrite; *itself says so. `options` NULL: it is a Hudi table, which never may. */
int tn_write_input_check(tarn_cx *cx, tn_str root, const char *const *inputs, size_t count,
                         const tarn_write_options *options, bool *itself);
/* Whether any of the inputs is, or may be, text. */
int tn_write_input_text(tarn_cx *cx, const tn_input_options *options, bool *text);

/* What inputs are read with. `there`: columns that rows go into; NULL: none yet. *given, when it is
 * filled, and *reject are the caller's. */
struct tn_write_reject;
int tn_write_input_options(tarn_cx *cx, const tarn_write_options *options,
                           const struct ArrowSchema *there, tn_str root, const char *const *inputs,
                           size_t count, struct ArrowSchema *given, struct tn_write_reject *reject,
                           tn_input_options *out);

/* write_fit.c: rows of an input as rows of the directory. */
typedef struct tn_write_fit {
    struct ArrowSchema from; /* of the input */
    struct ArrowSchema near; /* the same with narrowed columns */
    struct ArrowSchema to;   /* what is written: no dictionaries, columns of the directory first */
    bool *narrow;            /* per column of `from` */
    bool same;               /* nothing is to be done */
    int64_t rows;            /* so far */
} tn_write_fit;

/* `dir` NULL: it tells nothing. UNSUPPORTED naming a column and both types where they cannot be
 * made one. `from` is copied. */
int tn_write_fit_open(tarn_cx *cx, const struct ArrowSchema *from, const tn_write_dir *dir,
                      tn_str dir_name, tn_write_fit *out);
/* Turns a batch of `from` into one of `to`, in place. DATA naming row and column where a value
 * does not fit. */
int tn_write_fit_batch(tarn_cx *cx, tn_write_fit *fit, struct ArrowArray *batch);
void tn_write_fit_clear(tn_write_fit *fit);

/* write_reject.c: records left out, as NDJSON beside their file until it is published. */
typedef struct tn_write_reject {
    tn_arena arena;
    tn_store *store; /* NULL: nowhere to put them */
    tn_str path, part;
    tn_sink *sink; /* opened with the first record */
    tn_buf line;
    uint64_t count;
    bool counts_alone; /* a dry run */
    bool made, published;
} tn_write_reject;

/* Finds the place of the file, which must not be there and not lie in `root`. */
int tn_write_reject_open(tarn_cx *cx, const char *file, tn_str root, bool counts_alone,
                         tn_write_reject *out);
/* A tn_text_reject; `arg` is a tn_write_reject. */
int tn_write_reject_add(tarn_cx *cx, void *arg, const tn_text_bad *bad);
/* The file under its name, whole and durable; nothing where no record was rejected. */
int tn_write_reject_publish(tarn_cx *cx, tn_write_reject *reject);
/* Also takes a published file away again, when the write that it belongs to has failed. */
void tn_write_reject_close(tarn_cx *cx, tn_write_reject *reject, bool failed);

/* write_report.c: a report under construction. */
typedef struct tn_write_log {
    tarn_write_report report; /* first: the public handle points here */
    tn_arena arena;
    tarn_write_partition *partitions;
    size_t partition_cap;
    const char **notes;
    size_t note_cap;
    tarn_merge_report *merged;
} tn_write_log;

int tn_write_log_open(tarn_cx *cx, tn_str root, const tarn_write_options *options,
                      tn_write_log **out);
void tn_write_log_close(tn_write_log *log);
int tn_write_log_note(tarn_cx *cx, tn_write_log *log, tn_str text);
/* Adds to the last partition when it is the same. */
int tn_write_log_add(tarn_cx *cx, tn_write_log *log, tn_str partition, int64_t rows, uint64_t files,
                     uint64_t bytes);

/* A write under way. */
typedef struct tn_write {
    const tarn_write_options *options;
    tn_arena arena;
    tn_store *store; /* borrowed */
    tn_str root;
    tn_write_dir dir;
    bool itself;       /* the directory is its own input */
    bool foreign_rows; /* batches are a caller's, and are checked */
    tn_write_options plan_options;
    tn_write_plan plan;
    tn_write_fit fit;
    tn_map places;       /* partition as Hive spells it -> the directory's partition that it is */
    tn_map places_again; /* the same -> a second one */
    struct ArrowArray first; /* read before the plan was made; released: none, or taken */
    tn_write_reject reject;
    tn_write_commit *commit;
    tn_write_log *log;
} tn_write;

/* op_write.c: tarn_write_rows on a store, which stays the caller's. */
int tn_write_rows_into(tarn_cx *cx, tn_store *store, tn_str root, struct ArrowArrayStream *rows,
                       const tarn_write_options *options, tarn_write_report **report);

/* The next batch, fitted; *out stays released at the end. */
int tn_write_next(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows, struct ArrowArray *out);

/* write_spell.c: the partitions that the directory has, whatever their spelling. */
int tn_write_spell_open(tarn_cx *cx, tn_write *w);
void tn_write_spell_clear(tn_write *w);
/* A partition's path, as Hive spells it, becomes that of the directory where it has one.
 * UNSUPPORTED where an overwrite would meet it in two directories. */
int tn_write_spelled(tarn_cx *cx, const tn_write *w, tn_str *path);

/* write_files.c: all rows as staged files; *files lives in w->arena. */
int tn_write_files_make(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows,
                        tn_write_file **files, size_t *count);
/* write_count.c: all rows counted into the log, as files that they would fill; makes nothing. */
int tn_write_count(tarn_cx *cx, tn_write *w, struct ArrowArrayStream *rows);
/* How large a batch is as a file, a measure for other rows: added to *bytes. */
int tn_write_measure(tarn_cx *cx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                     const char *codec, uint64_t *bytes);
/* write_merge.c: merges the partitions that the log has; whatever fails is a note. */
int tn_write_merge(tarn_cx *cx, tn_write *w);

#endif
