/* The inside of avro_rows: what a writer's schema and the wanted columns are compiled to. */
#ifndef TN_CODEC_AVRO_ROWS_PARTS_H
#define TN_CODEC_AVRO_ROWS_PARTS_H

#include "batch/array.h"
#include "batch/field.h"
#include "codec/avro/avro_rows.h"

enum tn_avro_shape {
    TN_SHAPE_MISSING, /* the writer lacks it: a count alone, made when handed out */
    TN_SHAPE_BITS,    /* a byte each, packed when handed out */
    TN_SHAPE_FIXED,
    TN_SHAPE_BYTES,
    TN_SHAPE_LIST, /* and maps, whose children are keys and values */
    TN_SHAPE_STRUCT
};

/* A column under construction. Positions beyond `length` and below `room` may be written. */
typedef struct tn_avro_column {
    enum tn_avro_shape shape;
    bool map, nullable;
    uint32_t width; /* of FIXED; of MISSING about */
    int64_t length, room;
    tn_block valid; /* a byte each: 1 where there is a value */
    tn_block data;  /* values, or 32-bit offsets, one more than values */
    tn_block bytes; /* of BYTES */
    struct tn_avro_column *children;
    size_t child_count;
} tn_avro_column;

enum tn_avro_op {
    TN_OP_SKIP,       /* a datum of any type */
    TN_OP_SKIP_BYTES, /* `size` bytes */
    TN_OP_NULL,
    TN_OP_BOOLEAN,
    TN_OP_INT,
    TN_OP_LONG,
    TN_OP_FLOAT,
    TN_OP_DOUBLE,
    TN_OP_FLOAT_AS_DOUBLE, /* of a union with double */
    TN_OP_INT_AS_LONG,     /* of a union with long */
    TN_OP_BYTES,
    TN_OP_FIXED,
    TN_OP_FIXED_AS_BYTES,
    TN_OP_ENUM,
    TN_OP_DECIMAL,       /* bytes */
    TN_OP_DECIMAL_FIXED, /* `size` bytes */
    TN_OP_RECORD,
    TN_OP_ARRAY,
    TN_OP_MAP,
    TN_OP_UNION,  /* of several types: items are branches that fill the one column */
    TN_OP_MEMBERS /* the same, each branch a field of its own of the column, a struct */
};

#define TN_AVRO_NO_UNION (-1)
#define TN_AVRO_NO_NULL  2 /* a union of one type */

typedef struct tn_avro_step {
    enum tn_avro_op op;
    int null_branch; /* of a union with null or of one type: 0, 1, or one of the above */
    uint32_t size;
    tn_avro_column *to;
    const tn_avro_type *type; /* without the union around it */
    struct tn_avro_step *items;
    size_t item_count;
    tn_str name; /* for messages */
    const struct tn_avro_step *up;
} tn_avro_step;

struct tn_avro_rows {
    tarn_cx *cx; /* of the call under way */
    tn_arena arena;
    tn_str where;
    struct ArrowSchema natural; /* as the columns are decoded: the writer's types */
    struct ArrowSchema wanted;  /* a copy */
    bool same;                  /* no cast is needed */
    tn_avro_step root;
    tn_avro_column top; /* a struct */
    /* Of the datum under way. */
    const uint8_t *start, *at, *end;
    uint64_t empty, empty_all; /* items without bytes: of the datum, since the last take */
    uint64_t idle;             /* fields without bytes that were skipped, since the last take */
    int64_t hint;              /* rows of the last take */
};

/* Appends the names down to a step, "a.b.c". */
void tn_avro_step_print(tn_buf *out, const tn_avro_step *step);
/* Fills rows->root, rows->top and rows->natural; all in rows->arena. */
int tn_avro_rows_compile(tarn_cx *cx, tn_avro_rows *rows, const tn_avro_type *writer);
/* Reads the datum at rows->at into the columns. */
int tn_avro_rows_read(tn_avro_rows *rows);
/* Room for `more` values beyond those there are. */
int tn_avro_column_reserve(tarn_cx *cx, tn_avro_column *column, int64_t more);
/* Back to `length` values, at every depth. */
void tn_avro_column_cut(tn_avro_column *column, int64_t length);
void tn_avro_column_clear(tn_avro_column *column);
uint64_t tn_avro_column_bytes(const tn_avro_column *column);
/* What a column holds as an array of `natural`; it is empty then. */
int tn_avro_column_take(tarn_cx *cx, tn_avro_column *column, const struct ArrowSchema *natural,
                        struct ArrowArray *out);

#endif
