/* Small trees of values that become Avro: shared by table/commit_*.c alone. The first allocation
 * that fails poisons the tree, as with a sticky buffer; tn_commit_tree_write tells. */
#ifndef TN_TABLE_COMMIT_TREE_H
#define TN_TABLE_COMMIT_TREE_H

#include "codec/avro/avro_file.h"

typedef struct tn_commit_tree {
    tarn_cx *cx;
    tn_arena arena;
    int status;
} tn_commit_tree;

/* A record, or a map, with room for `count` members; an array. Members are put in order. */
tn_avro_value tn_commit_tree_many(tn_commit_tree *tree, enum tn_avro_kind kind, size_t count);
/* Sets the next free item of `many`; `name` is borrowed, and NULL in an array. */
void tn_commit_tree_put(tn_avro_value *many, tn_str name, tn_avro_value value);

static inline tn_avro_value tn_commit_tree_null(void)
{
    return (tn_avro_value){.kind = TN_AVRO_NULL};
}
static inline tn_avro_value tn_commit_tree_long(int64_t value)
{
    return (tn_avro_value){.kind = TN_AVRO_LONG, .as.i = value};
}
static inline tn_avro_value tn_commit_tree_int(int64_t value)
{
    return (tn_avro_value){.kind = TN_AVRO_INT, .as.i = value};
}
static inline tn_avro_value tn_commit_tree_bool(bool value)
{
    return (tn_avro_value){.kind = TN_AVRO_BOOLEAN, .as.truth = value};
}
static inline tn_avro_value tn_commit_tree_text(tn_str value)
{
    return (tn_avro_value){.kind = TN_AVRO_STRING,
                           .as.text = value.ptr != NULL ? value : (tn_str){"", 0}};
}
/* Empty becomes null. */
static inline tn_avro_value tn_commit_tree_some(tn_str value)
{
    return value.len != 0 ? tn_commit_tree_text(value) : tn_commit_tree_null();
}

/* The object container file of `root`, a record of the schema `text`. Clears the tree. */
int tn_commit_tree_write(tn_commit_tree *tree, const char *text, const tn_avro_value *root,
                         tn_buf *out);

#endif
