/* A predicate bound to the types of its columns: what is evaluated on batches, and what row groups
 * and pages are pruned by.
 *
 * Negations have been pushed down to the leaves (SQL's three-valued logic allows that), so a pruner
 * asks of each leaf only "may this be true for some row?" and joins the answers by AND and OR.
 *
 * Order of values, the same for evaluation and pruning:
 *   - integers, dates, times, timestamps, decimals: exact; a literal between two values of the
 *     column's type has become the neighbouring comparison (n < 1.5 is n <= 1).
 *   - float and double: as DuckDB and Spark order them: NaN equals NaN and is greater than all
 *     else; -0.0 equals 0.0. (Parquet statistics know nothing of NaN: a pruner may trust `max`
 *     against >, >=, <>, or a NaN literal only when it knows that there are none.)
 *   - text and binary: by unsigned bytes, shorter first on a tie. */
#ifndef TN_BATCH_FILTER_H
#define TN_BATCH_FILTER_H

#include "base/arena.h"
#include "batch/type.h"

/* In what form values of a column are compared. */
enum tn_domain {
    TN_DOMAIN_NONE,     /* nested, interval, null: only IS [NOT] NULL */
    TN_DOMAIN_SIGNED,   /* signed integers, dates (days or ms), times, timestamps, durations, in the
                           column's own unit: .i */
    TN_DOMAIN_UNSIGNED, /* unsigned integers; booleans as 0 and 1: .u */
    TN_DOMAIN_FLOAT,    /* half, float, double: .d */
    TN_DOMAIN_DECIMAL,  /* unscaled value at the column's scale, 256 bits: .decimal */
    TN_DOMAIN_BYTES     /* text, binary, fixed binary: .bytes */
};

typedef struct tn_int256 {
    uint64_t limb[4]; /* two's complement, lowest first */
} tn_int256;

typedef union tn_filter_value {
    int64_t i;
    uint64_t u;
    double d;
    tn_int256 decimal;
    tn_str bytes;
} tn_filter_value;

enum tn_compare {
    TN_EQ,
    TN_NE,
    TN_LT,
    TN_LE,
    TN_GT,
    TN_GE,
    TN_ALWAYS, /* true for every value that is not null */
    TN_NEVER   /* false for every value that is not null */
};

typedef struct tn_filter_column {
    tn_str *path; /* names from the top-level column down through structs */
    size_t path_count;
    uint32_t *index; /* child index at each level of the bound schema */
    tn_str dotted;   /* for messages */
    tn_type type;
    enum tn_domain domain;
} tn_filter_column;

enum tn_filter_kind {
    TN_FILTER_CONST, /* `truth` for every row */
    TN_FILTER_AND,
    TN_FILTER_OR,
    TN_FILTER_COMPARE, /* column `op` values[0] */
    TN_FILTER_IN,      /* column is one of `values` (ascending, distinct); negated: none of them */
    TN_FILTER_LIKE,    /* column matches the pattern values[0].bytes: % any run, _ one character */
    TN_FILTER_IS_NULL
};

/* Truth values: AND is the smaller, OR the larger. */
enum tn_truth { TN_FALSE = 0, TN_UNKNOWN = 1, TN_TRUE = 2 };

typedef struct tn_filter_node {
    enum tn_filter_kind kind;
    bool negated; /* IN, LIKE, IS_NULL */
    enum tn_truth truth;
    struct tn_filter_node **children;
    size_t child_count;
    uint32_t column; /* index into tn_filter.columns */
    enum tn_compare op;
    tn_filter_value *values;
    size_t value_count;
    bool with_null; /* IN: the list held NULL, so a miss is unknown */
    tn_str prefix;  /* LIKE: every match starts with these bytes */
} tn_filter_node;

typedef struct tn_filter {
    tn_filter_node *root;
    tn_filter_column *columns; /* each column once */
    size_t column_count;
} tn_filter;

/* -1, 0 or 1 in the order above. */
int tn_filter_compare(enum tn_domain domain, const tn_filter_value *a, const tn_filter_value *b);
/* Truth of one non-null value under COMPARE, IN or LIKE. */
bool tn_filter_holds(const tn_filter_node *node, enum tn_domain domain,
                     const tn_filter_value *value);
int tn_int256_compare(const tn_int256 *a, const tn_int256 *b);
tn_int256 tn_int256_of(int64_t value);
/* From `len` (1 to 32) two's complement bytes, big-endian. */
tn_int256 tn_int256_be(const uint8_t *bytes, size_t len);
/* The same, little-endian. */
tn_int256 tn_int256_le(const uint8_t *bytes, size_t len);

/* keep[i] = 1 where the filter is true for row i of the struct array `batch`, else 0; *kept counts
 * them. `batch` has the schema the filter was bound to. */
int tn_filter_eval(tarn_cx *cx, const tn_filter *filter, const struct ArrowArray *batch,
                   uint8_t *keep, int64_t *kept);

#endif
