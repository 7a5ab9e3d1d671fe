/* One schema out of those of many inputs: firm ones of Parquet, loose ones of text samples. */
#ifndef TN_OP_INPUT_JOIN_H
#define TN_OP_INPUT_JOIN_H

#include "batch/field.h"

/* Zeroed before; cleared after a failure too. */
typedef struct tn_input_joined {
    struct ArrowSchema firm;  /* given, and of Parquet */
    struct ArrowSchema loose; /* of samples: "n" where there was no value yet, "i" where int32
                                 would do for an int64 */
    tn_buf name;              /* of the first input with a firm schema */
    int64_t given;            /* columns that were asked for */
    bool has_text;
    /* What samples show goes into the columns asked for: fields of their structs that they lack are
     * added, and integers become wider, or double, where the sample has such numbers. */
    bool deep;
} tn_input_joined;

void tn_input_joined_clear(tn_input_joined *joined);
/* The schema that was asked for, before any other. */
int tn_input_join_given(tarn_cx *cx, tn_input_joined *joined, const struct ArrowSchema *schema);
/* UNSUPPORTED as tn_unify_fields says. */
int tn_input_join_firm(tarn_cx *cx, tn_input_joined *joined, const struct ArrowSchema *schema,
                       tn_str name);
/* Never fails on types: what has none in common is text. */
int tn_input_join_sample(tarn_cx *cx, tn_input_joined *joined, const struct ArrowSchema *schema);
/* All columns: the firm ones first, then those that samples alone showed. What only Parquet says to
 * be never null may be null where text is read too. *out is the caller's. */
int tn_input_joined_all(tarn_cx *cx, const tn_input_joined *joined, struct ArrowSchema *out);

#endif
