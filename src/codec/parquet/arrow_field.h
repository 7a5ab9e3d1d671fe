/* A Parquet schema seen as Arrow fields: the tree that assembly walks. Each field knows which level
 * entries of its leaves begin a slot in it, and which of those are null.
 *
 * An entry (def, rep) of a leaf below begins a slot of a field when rep <= slot_rep and
 * def >= slot_def; the slot is null when def < valid_def. In a list or map, an entry with
 * rep <= item_rep and def >= item_def begins an item. */
#ifndef TN_PARQUET_ARROW_FIELD_H
#define TN_PARQUET_ARROW_FIELD_H

#include "base/arena.h"
#include "batch/format.h"
#include "codec/parquet/file.h"
#include "tarn/batch.h"

/* How physical values become Arrow values. */
enum tn_convert {
    TN_CONVERT_NONE,         /* not a leaf */
    TN_CONVERT_COPY,         /* the same bytes */
    TN_CONVERT_BOOL,         /* bytes to bits */
    TN_CONVERT_NARROW,       /* INT32 to 8 or 16 bits, checked */
    TN_CONVERT_INT96,        /* to timestamp[ns] or timestamp[us] */
    TN_CONVERT_DECIMAL_INT,  /* INT32, INT64 to 128 or 256 bits */
    TN_CONVERT_DECIMAL_BE,   /* big-endian FIXED */
    TN_CONVERT_DECIMAL_VIEW, /* big-endian BYTE_ARRAY */
    TN_CONVERT_BYTES,        /* to offsets and data */
    TN_CONVERT_NULL          /* no values */
};

/* Field metadata that carries GEOMETRY and GEOGRAPHY, which Arrow has no type for, from file to
 * file: base64 of the LogicalType union. */
#define TN_ARROW_ANNOTATION_KEY "PARQUET:logical_type"
/* The same for what Arrow reads as text, bytes or a time: one of the words below. */
#define TN_ARROW_MEANING_KEY      "PARQUET:meaning"
#define TN_ARROW_MEANING_ENUM     "ENUM"
#define TN_ARROW_MEANING_BSON     "BSON"
#define TN_ARROW_MEANING_INTERVAL "INTERVAL"
#define TN_ARROW_MEANING_TIME_UTC "TIME_UTC"

typedef struct tn_arrow_field {
    const tn_node *node;
    tn_str name;
    tn_str text; /* the format string, ended by NUL */
    tn_format format;
    bool nullable;
    bool key; /* of a map: a null is an error */
    bool keys_sorted;
    uint16_t slot_def, slot_rep, valid_def;
    uint16_t item_def, item_rep;
    uint32_t leaf; /* index in the schema: its own, or the first below it */
    enum tn_convert convert;
    struct tn_arrow_field *children; /* of a map: one struct of key and value */
    size_t child_count;
    tn_str metadata; /* in the C data interface's encoding; empty: none */
} tn_arrow_field;

typedef struct tn_arrow_field_options {
    const uint32_t *columns; /* indices of the root's children, in the order wanted; NULL: all */
    size_t column_count;
    bool int96_micros; /* INT96 as timestamp[us], which reaches further than [ns] */
    bool int96_utc;    /* INT96 as adjusted to UTC, as Spark means it */
} tn_arrow_field_options;

/* The tree of the chosen columns, below a struct; it lives in the arena. INVALID for a column that
 * is not there; UNSUPPORTED, naming the column, for one that has no Arrow type. */
int tn_arrow_field_build(tarn_cx *cx, const tn_parquet *file, const tn_arrow_field_options *options,
                         tn_arena *arena, tn_arrow_field *out);
/* The same as a schema of the C data interface; *out is the caller's to release. */
int tn_arrow_field_export(tarn_cx *cx, const tn_arrow_field *field, struct ArrowSchema *out);

/* What an element's annotations say, the newer logical type before the older converted one. */
typedef struct tn_meaning {
    int32_t logical; /* enum tn_logical; INTERVAL has no number there: see `interval` */
    bool interval;
    int32_t unit; /* enum tn_time_unit */
    bool adjusted_to_utc;
    int32_t bit_width;
    bool is_signed;
    int32_t precision, scale;
} tn_meaning;
tn_meaning tn_element_meaning(const tn_element *element);

#endif
