/* One schema for files whose schemas differ harmlessly: matched by name at every depth, resolved
 * into what each leaf of the output is made of in each input. */
#ifndef TN_TABLE_UNIFY_H
#define TN_TABLE_UNIFY_H

#include "codec/parquet/calendar.h"
#include "codec/parquet/schema.h"
#include "table/dir.h"
#include "task/task.h"

typedef struct tn_unify_options {
    bool widen; /* int32 -> int64 or double, float -> double, narrower integers and decimals to
                   wider ones of the same scale */
} tn_unify_options;

typedef struct tn_unified {
    tn_element *elements;
    size_t element_count;
    tn_str bytes; /* Thrift bytes of a footer that holds nothing else */
    size_t leaf_count;
    tn_leaf_source **mappings; /* input -> one per output leaf */
    size_t mapping_count;      /* as many as inputs */
    bool same_shape; /* every input has the output's leaves, in its order and without a cast */
} tn_unified;

/* Unifies `inputs`, in whose order new columns are added. *why is empty on success; otherwise they
 * cannot be unified (no failure: TARN_OK), `why` says what stands against it, and `out` is
 * untouched. What `out` points to lives in `arena`.
 *
 * Rules: columns match by exact name, else without case if that is unique on both sides; columns
 * that are missing become null, so required ones become optional; required and optional give
 * optional; lists and maps of three levels match by position, whatever the inner names; decimals of
 * equal precision and scale match on any physical type; a column annotated as always null matches
 * any other; ENUM and STRING give STRING. Field ids must be equal. */
int tn_unify(tarn_cx *cx, tn_arena *arena, const tn_dir_schema *const *inputs, size_t count,
             const tn_unify_options *options, tn_unified *out, tn_str *why);

/* The calendars of a file with these footer keys. */
tn_calendars tn_unify_calendars(const tn_dir_keys *keys, tn_str created_by);
/* True when files with schemas that hold such columns may share one footer. */
bool tn_unify_calendars_agree(const tn_dir_schema *schema, const tn_calendars *a,
                              const tn_calendars *b);

/* A merged file says by this footer key for which target size it was made. */
#define TN_UNIFY_MERGE_KEY "tarn.merge"

/* Arrow's own types ("ARROW:schema" of the footer keys; {NULL, 0}: none) of two files: false where
 * a column's values would change their meaning under the other's type, as durations of another unit
 * do. */
tn_str tn_unify_arrow_of(const tn_dir_keys *keys);
int tn_unify_arrow_agrees(tarn_cx *cx, tn_str a, tn_str b, bool *agrees);
/* The Arrow types for `unified`, made of those of its inputs, column by column; empty where they
 * say different things, or one has none. */
int tn_unify_arrow(tarn_cx *cx, tn_arena *arena, const tn_str *inputs, size_t count,
                   const tn_unified *unified, tn_str *out);

/* Footer keys for a file made of inputs with these key sets and writers, in their order. Keys that
 * describe the schema are kept when all inputs have them equal and `unified` has their shape (equal
 * columns in equal order), Arrow's is made anew if it can be; others when equal, else the first
 * value. *notes: a sentence for each key that is
 * not carried over as all inputs had it. */
typedef struct tn_unify_keys {
    tn_key_value *values;
    size_t count;
    tn_str *notes;
    size_t note_count;
} tn_unify_keys;
int tn_unify_footer_keys(tarn_cx *cx, tn_arena *arena, const tn_dir_keys *const *inputs,
                         const tn_str *created_by, size_t count, const tn_unified *unified,
                         tn_unify_keys *out);

#endif
