/* One Avro datum as a tree, for metadata: plans, commits, rollbacks. Rows take another way. Records
 * are read by the writer's schema and asked by name, as Hudi does. */
#ifndef TN_CODEC_AVRO_VALUE_H
#define TN_CODEC_AVRO_VALUE_H

#include "codec/avro/avro_schema.h"

typedef struct tn_avro_value {
    enum tn_avro_kind kind; /* never UNION: the branch taken */
    uint32_t branch;        /* its number, of a value decoded from a union */
    union {
        bool truth;
        int64_t i;   /* INT, LONG, ENUM (the symbol's index) */
        double d;    /* FLOAT, DOUBLE */
        tn_str text; /* STRING, BYTES, FIXED */
        struct {
            const tn_str *names; /* of fields of a record, keys of a map; NULL in an array */
            struct tn_avro_value *items;
            size_t count;
        } many;
    } as;
} tn_avro_value;

/* Decodes one datum; *used bytes of `bytes`. CORRUPT naming the field and the byte. The value lives
 * in the arena and points into `bytes`. Limits: depth, TN_AVRO_ITEMS_MAX. */
int tn_avro_decode(tarn_cx *cx, const tn_avro_type *type, tn_str bytes, tn_arena *arena,
                   size_t *used, tn_avro_value *out);
/* The same of one datum among others of a file: *values, 0 at first, counts what all of them made.
 * LIMIT beyond TN_AVRO_ITEMS_MAX. */
int tn_avro_decode_next(tarn_cx *cx, const tn_avro_type *type, tn_str bytes, tn_arena *arena,
                        uint64_t *values, size_t *used, tn_avro_value *out);
/* Encodes; a record's field that the value lacks takes its default, else null. INVALID naming the
 * field that does not fit the type. */
int tn_avro_encode(tarn_cx *cx, const tn_avro_type *type, const tn_avro_value *value, tn_buf *out);

/* Members of a record or map; NULL when missing or null (also of a NULL value). */
const tn_avro_value *tn_avro_member(const tn_avro_value *value, const char *name);
int64_t tn_avro_i64(const tn_avro_value *value, int64_t fallback);
tn_str tn_avro_text(const tn_avro_value *value); /* {NULL, 0} unless STRING or BYTES */
/* As JSON, for people and `show`: bytes as base64. Sticky. */
void tn_avro_to_json(tn_json *json, const tn_avro_value *value);
/* From JSON (a v6 commit), by a type; unknown members are left out. */
int tn_avro_of_json(tarn_cx *cx, const tn_avro_type *type, const json_t *json, tn_arena *arena,
                    tn_avro_value *out);

#endif
