/* Avro schemas (Apache Avro 1.11 specification, "Schema Declaration") as Hudi tables use them:
 * parsed from JSON, printed as JSON. */
#ifndef TN_CODEC_AVRO_SCHEMA_H
#define TN_CODEC_AVRO_SCHEMA_H

#include "base/arena.h"
#include "base/json.h"

enum tn_avro_kind {
    TN_AVRO_NULL,
    TN_AVRO_BOOLEAN,
    TN_AVRO_INT,
    TN_AVRO_LONG,
    TN_AVRO_FLOAT,
    TN_AVRO_DOUBLE,
    TN_AVRO_BYTES,
    TN_AVRO_STRING,
    TN_AVRO_FIXED,
    TN_AVRO_ENUM,
    TN_AVRO_RECORD,
    TN_AVRO_ARRAY,
    TN_AVRO_MAP,
    TN_AVRO_UNION
};

enum tn_avro_logical {
    TN_AVRO_PLAIN = 0, /* none, or one that is not known: the base type counts */
    TN_AVRO_DATE,
    TN_AVRO_TIME_MILLIS,
    TN_AVRO_TIME_MICROS,
    TN_AVRO_TIMESTAMP_MILLIS,
    TN_AVRO_TIMESTAMP_MICROS,
    TN_AVRO_LOCAL_TIMESTAMP_MILLIS,
    TN_AVRO_LOCAL_TIMESTAMP_MICROS,
    TN_AVRO_DECIMAL,
    TN_AVRO_UUID
};

typedef struct tn_avro_type tn_avro_type;

typedef struct tn_avro_field {
    tn_str name;
    const tn_avro_type *type;
    const json_t *fallback; /* "default"; NULL: none. Lives as long as the schema */
    tn_str doc;             /* ptr NULL: none */
} tn_avro_field;

struct tn_avro_type {
    enum tn_avro_kind kind;
    enum tn_avro_logical logical;
    tn_str name, space; /* of named types: full name is space.name; space may be empty */
    tn_str full;        /* of named types */
    tn_str doc;         /* of named types; ptr NULL: none */
    int32_t precision, scale;
    uint32_t size;         /* of fixed */
    tn_avro_field *fields; /* of a record */
    tn_str *field_names;   /* theirs, in the same order */
    size_t field_count;
    const tn_avro_type **branches; /* of a union; of array and map the one item type */
    size_t branch_count;
    tn_str *symbols; /* of an enum */
    size_t symbol_count;
    /* Of the tree below it, itself included, with references followed: how many types, how many
     * levels, and the fewest bytes that a datum takes. They bound every walk. */
    size_t weight;
    uint32_t depth;
    uint64_t least_bytes;
};

typedef struct tn_avro_schema {
    tn_arena arena;
    const tn_avro_type *root;
    json_t *json; /* that it was parsed from, unknown properties included */
} tn_avro_schema;

/* CORRUPT naming `what` and the place in it; LIMIT beyond TN_AVRO_DEPTH_MAX or TN_AVRO_TYPES_MAX,
 * UNSUPPORTED for a type that holds itself. Lenient where Java is, or where old tables are wrong:
 * defaults are not checked, unknown properties and logical types are ignored. *out is the caller's
 * to clear. */
int tn_avro_schema_parse(tarn_cx *cx, tn_str text, const char *what, tn_avro_schema *out);
void tn_avro_schema_clear(tn_avro_schema *schema);
/* The one branch of a union with null that is not null, else the type itself; *nullable says so. */
const tn_avro_type *tn_avro_plain(const tn_avro_type *type, bool *nullable);
/* True when both describe the same data: unions without regard to order, no defaults, no docs;
 * names of nested records, fixed and namespaces do not matter. */
bool tn_avro_same(const tn_avro_type *a, const tn_avro_type *b);
/* JSON text without blanks, as Java prints it: named types appear whole once, then by name (without
 * the namespace where it is the one around). Nullable unions as ["null",T], as the type of a field
 * with "default":null; a field with another default keeps its order and default. Sticky. */
void tn_avro_print(tn_buf *out, const tn_avro_type *type);

#endif
