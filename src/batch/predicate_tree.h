/* The parsed tree of a predicate, between predicate_parse.c and predicate_bind.c. */
#ifndef TN_BATCH_PREDICATE_TREE_H
#define TN_BATCH_PREDICATE_TREE_H

#include "batch/predicate.h"

enum tn_operand_kind {
    TN_OPERAND_NAME,   /* parts of a dotted name */
    TN_OPERAND_WORD,   /* "…": a column, or else text */
    TN_OPERAND_TEXT,   /* '…' */
    TN_OPERAND_HEX,    /* X'…', as bytes */
    TN_OPERAND_NUMBER, /* as written */
    TN_OPERAND_BOOL,
    TN_OPERAND_NULL
};

typedef struct tn_operand {
    enum tn_operand_kind kind;
    size_t at;     /* byte in the text, from 0 */
    tn_str *parts; /* NAME, WORD */
    size_t part_count;
    tn_str text; /* WORD, TEXT, HEX: the content; NUMBER: its digits */
    bool boolean;
} tn_operand;

enum tn_predicate_kind {
    TN_PREDICATE_AND,
    TN_PREDICATE_OR,
    TN_PREDICATE_NOT,
    TN_PREDICATE_TEST, /* operands[0] alone */
    TN_PREDICATE_COMPARE,
    TN_PREDICATE_IN, /* operands[0] among the rest */
    TN_PREDICATE_LIKE,
    TN_PREDICATE_IS_NULL
};

struct tn_predicate {
    enum tn_predicate_kind kind;
    enum tn_compare op;
    struct tn_predicate **children;
    size_t child_count;
    tn_operand *operands;
    size_t operand_count;
};

#endif
