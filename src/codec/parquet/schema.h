/* The schema of a Parquet file as a tree with levels, and its leaves.
 * A "leaf" is a primitive column. Definition level d of an entry: how many optional or repeated
 * nodes on the leaf's path are present; repetition level r: which repeated node on the path repeats
 * (0: a new row). Immutable once built; shared freely between threads. */
#ifndef TN_PARQUET_SCHEMA_H
#define TN_PARQUET_SCHEMA_H

#include "codec/parquet/meta.h"

/* What a node means beyond its physical form, after the format's backward rules were applied. */
enum tn_shape {
    TN_SHAPE_LEAF,
    TN_SHAPE_STRUCT,
    TN_SHAPE_LIST, /* one element below; see tn_node.element */
    TN_SHAPE_MAP   /* key (and perhaps value) below */
};

typedef struct tn_node {
    const tn_element *element_meta; /* the SchemaElement */
    tn_str name;
    uint32_t index;        /* into nodes and elements: depth first */
    uint32_t parent;       /* index; the root's own for the root */
    uint32_t first_child;  /* index of the first child; children follow by next_sibling */
    uint32_t next_sibling; /* 0: none */
    uint32_t child_count;
    uint16_t depth;     /* 0 for the root */
    uint16_t def_level; /* when this node is present: optional and repeated nodes from the root to
                           here */
    uint16_t rep_level; /* repeated nodes from the root to here */
    uint32_t first_leaf, leaf_count;
    enum tn_shape shape;
    /* LIST: the repeated node, and the node that is one element (the same node in two-level forms
     * and for bare repeated fields). MAP: `repeated` is the key_value group, `key` and `value` its
     * children (value 0: none). */
    uint32_t repeated, element, key, value;
    /* A repeated field outside of any LIST or MAP: a required list (shape LIST) of itself, so
     * `repeated` and `element` are its own index. One such element is a leaf where the node has no
     * children, else a struct of them. The repeated node of a LIST or MAP is not bare: its shape is
     * that of one element (in three-level lists: STRUCT, of no meaning). */
    bool bare;
} tn_node;

typedef struct tn_leaf {
    const tn_node *node;
    uint32_t index;
    enum tn_physical physical;
    uint32_t type_length; /* TN_FIXED */
    uint16_t max_def, max_rep;
    tn_str *path; /* components below the root */
    uint16_t path_count;
    tn_str dotted; /* path joined by "." for messages */
} tn_leaf;

typedef struct tn_schema {
    tn_element *elements; /* one per node, same order */
    tn_node *nodes;
    size_t node_count;
    tn_leaf *leaves;
    size_t leaf_count;
} tn_schema;

/* Builds the tree; CORRUPT when the elements do not form one, LIMIT when too deep or too wide.
 * Elements are borrowed. */
int tn_schema_build(tarn_cx *cx, tn_element *elements, size_t count, tn_arena *arena,
                    tn_schema *out);
/* "message"-like text of the tree, one node a line, for `show`; appended. */
void tn_schema_print(tn_buf *out, const tn_schema *schema);
/* The leaf with these path components, or NULL. */
const tn_leaf *tn_schema_leaf(const tn_schema *schema, const tn_str *path, size_t count);
/* The top-level node of a name: exact, else case-insensitive if unique; NULL otherwise. */
const tn_node *tn_schema_column(const tn_schema *schema, tn_str name);

#endif
