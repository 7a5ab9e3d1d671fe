/* Thrift's compact protocol: a reader over bytes and writers onto a buffer.
 *
 * Reading is sticky: the first fault is remembered with its byte and all later reads give zeros;
 * tn_thrift_check reports it. A known field of another type than expected is skipped, as Thrift's
 * own generated readers do. Sizes of lists, sets, maps and strings meet the bytes left before use;
 * depth meets TN_THRIFT_DEPTH_MAX. */
#ifndef TN_PARQUET_THRIFT_H
#define TN_PARQUET_THRIFT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"

enum tn_thrift_type {
    TN_THRIFT_STOP = 0,
    TN_THRIFT_TRUE = 1, /* a boolean field carries its value here; an element of a list is a byte */
    TN_THRIFT_FALSE = 2,
    TN_THRIFT_I8 = 3,
    TN_THRIFT_I16 = 4,
    TN_THRIFT_I32 = 5,
    TN_THRIFT_I64 = 6,
    TN_THRIFT_DOUBLE = 7,
    TN_THRIFT_BINARY = 8,
    TN_THRIFT_LIST = 9,
    TN_THRIFT_SET = 10,
    TN_THRIFT_MAP = 11,
    TN_THRIFT_STRUCT = 12,
    TN_THRIFT_UUID = 13
};

typedef struct tn_thrift {
    tn_cursor c;
    tarn_cx *cx;
    tn_arena *arena;  /* of arrays */
    const char *why;  /* the first fault; NULL: none */
    size_t why_at;    /* its byte */
    bool short_input; /* the fault was the end of the bytes */
    bool no_memory;
    bool keep; /* strings are copied into the arena; else they point into the bytes read */
} tn_thrift;

typedef struct tn_thrift_field {
    int32_t id;
    uint8_t type;
} tn_thrift_field;

tn_thrift tn_thrift_over(tarn_cx *cx, tn_str bytes, tn_arena *arena);
/* OK, or CORRUPT "WHAT: byte N: why" (NOMEM where an array did not fit into memory). */
int tn_thrift_check(tarn_cx *cx, const tn_thrift *t, const char *what);
/* Records the first fault. */
void tn_thrift_fault(tn_thrift *t, const char *why);
static inline bool tn_thrift_failed(const tn_thrift *t)
{
    return t->why != NULL;
}

/* The next field of the current struct into *field (zeroed before the first call); false at its end
 * and after a fault. */
bool tn_thrift_next(tn_thrift *t, tn_thrift_field *field);
/* Passes over the value of a field just met. */
void tn_thrift_skip(tn_thrift *t, const tn_thrift_field *field);
/* A value of the field just met: true when it had the right type and was read, else it was passed
 * over and *out is unchanged. */
bool tn_thrift_take_bool(tn_thrift *t, const tn_thrift_field *field, bool *out);
bool tn_thrift_take_i8(tn_thrift *t, const tn_thrift_field *field, int32_t *out);
bool tn_thrift_take_i32(tn_thrift *t, const tn_thrift_field *field, int32_t *out); /* I16 too */
bool tn_thrift_take_i64(tn_thrift *t, const tn_thrift_field *field, int64_t *out);
bool tn_thrift_take_binary(tn_thrift *t, const tn_thrift_field *field, tn_str *out);
bool tn_thrift_take_struct(tn_thrift *t, const tn_thrift_field *field);
/* The number of elements, each of which takes at least `bytes_min` bytes; the caller reads them
 * all. */
bool tn_thrift_take_list(tn_thrift *t, const tn_thrift_field *field, uint8_t element,
                         size_t bytes_min, size_t *count);

/* Bare values: elements of lists. */
bool tn_thrift_bool(tn_thrift *t);
int32_t tn_thrift_i32(tn_thrift *t);
int64_t tn_thrift_i64(tn_thrift *t);
tn_str tn_thrift_binary(tn_thrift *t);
/* An array in the arena, zeroed; NULL with a fault when memory is short. */
void *tn_thrift_array(tn_thrift *t, size_t count, size_t size);

/* Fields of lists, into arrays of the arena; *out and *count are unchanged where the field is of
 * another type. */
void tn_thrift_take_bools(tn_thrift *t, const tn_thrift_field *field, bool **out, size_t *count);
void tn_thrift_take_i32s(tn_thrift *t, const tn_thrift_field *field, int32_t **out, size_t *count);
void tn_thrift_take_i64s(tn_thrift *t, const tn_thrift_field *field, int64_t **out, size_t *count);
void tn_thrift_take_binaries(tn_thrift *t, const tn_thrift_field *field, tn_str **out,
                             size_t *count);
/* Numbers that may not be negative: the fault `why` where they are. 0 for another type. */
int32_t tn_thrift_take_count(tn_thrift *t, const tn_thrift_field *field, const char *why);
int64_t tn_thrift_take_size(tn_thrift *t, const tn_thrift_field *field, const char *why);
/* The fault `why` unless `there`. */
void tn_thrift_need(tn_thrift *t, bool there, const char *why);

/* Writers. `last` is the struct's own, 0 at its start; field numbers ascend. */
void tn_thrift_put_field(tn_buf *out, int32_t *last, int32_t id, uint8_t type);
void tn_thrift_put_bool(tn_buf *out, int32_t *last, int32_t id, bool value);
void tn_thrift_put_i8(tn_buf *out, int32_t *last, int32_t id, int32_t value);
void tn_thrift_put_i16(tn_buf *out, int32_t *last, int32_t id, int32_t value);
void tn_thrift_put_i32(tn_buf *out, int32_t *last, int32_t id, int32_t value);
void tn_thrift_put_i64(tn_buf *out, int32_t *last, int32_t id, int64_t value);
void tn_thrift_put_binary(tn_buf *out, int32_t *last, int32_t id, tn_str value);
/* The list's header; its elements follow by the functions below, or as structs. */
void tn_thrift_put_list(tn_buf *out, int32_t *last, int32_t id, uint8_t element, size_t count);
/* A struct's field header; its fields follow, then tn_thrift_end. */
static inline void tn_thrift_put_struct(tn_buf *out, int32_t *last, int32_t id)
{
    tn_thrift_put_field(out, last, id, TN_THRIFT_STRUCT);
}
static inline void tn_thrift_end(tn_buf *out)
{
    tn_buf_u8(out, TN_THRIFT_STOP);
}
static inline void tn_thrift_add_i64(tn_buf *out, int64_t value)
{
    tn_buf_varint(out, tn_unzigzag(value));
}
static inline void tn_thrift_add_bool(tn_buf *out, bool value)
{
    tn_buf_u8(out, value ? TN_THRIFT_TRUE : TN_THRIFT_FALSE);
}
void tn_thrift_add_binary(tn_buf *out, tn_str value);

#endif
