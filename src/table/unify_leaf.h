/* How two leaves of one column become one, shared by table/unify*.c alone. */
#ifndef TN_TABLE_UNIFY_LEAF_H
#define TN_TABLE_UNIFY_LEAF_H

#include "table/unify.h"

/* What an element's annotation means, whichever of the two forms it is written in. */
typedef struct tn_meaning {
    int32_t kind; /* enum tn_logical; TN_MEANS_INTERVAL; TN_LOGICAL_NONE */
    int32_t a, b; /* precision and scale; unit and UTC; width and sign */
    tn_str raw;   /* of members tarn does not interpret */
} tn_meaning;

#define TN_MEANS_INTERVAL 1000

tn_meaning tn_unify_meaning(const tn_element *element);
/* Makes `into` hold what `other` holds, too; NULL, or why that cannot be (`into` is then
 * untouched). Names and repetition are not looked at. */
const char *tn_unify_leaf(tn_element *into, const tn_element *other,
                          const tn_unify_options *options);
/* The cast from an input's leaf to the output's, which tn_unify_leaf made of it and others. */
enum tn_cast tn_unify_leaf_cast(const tn_element *in, const tn_element *out);

#endif
