/* The schema tree: built from the flat list of elements, with levels, leaves and shapes.
 *
 * I1: nodes stand in the order of the elements, parents before children; node 0 is the root.
 * I2: depth is at most TN_PARQUET_DEPTH_MAX and leaves at most TN_PARQUET_LEAVES_MAX, so levels fit
 *     16 bits.
 * I3: a group below the root has at least one child; a leaf has none.
 *
 * Shapes follow the backward-compatibility rules of the format (LogicalTypes.md). A group annotated
 * LIST with one repeated child R is a list; one element is
 *   1. R itself, when R is not a group;
 *   2. R itself, when R has several fields;
 *   3. R itself, when R's only field is repeated;
 *   4. R itself, when R is named "array" or NAME_tuple, where NAME is the annotated group's name;
 *   5. else R's only field.
 * A group annotated MAP (or MAP_KEY_VALUE, outside of a map) with one repeated group of one or two
 * fields, the first of them not repeated, is a map. Every other annotated group is the struct it
 * physically is. */
#include "codec/parquet/schema.h"

typedef struct builder {
    tarn_cx *cx;
    tn_arena *arena;
    tn_schema schema;
    size_t count; /* of elements */
    size_t used;  /* nodes made so far */
    size_t name_bytes;
} builder;

static bool annotated(const tn_element *element, int32_t logical, int32_t converted)
{
    return element->logical == logical ||
           (element->logical == TN_LOGICAL_NONE && element->converted == converted);
}

static int check_leaf(tarn_cx *cx, const tn_element *element, size_t index)
{
    if (element->physical > TN_FIXED)
        return tn_fail(cx, TARN_E_CORRUPT, "schema element %zu (%.*s): physical type %d is unknown",
                       index, TN_STR_ARG(element->name), (int)element->physical);
    if (element->physical == TN_FIXED &&
        (element->type_length <= 0 || element->type_length > (int32_t)TN_PARQUET_PAGE_BYTES_MAX))
        return tn_fail(cx, TARN_E_CORRUPT, "schema element %zu (%.*s): length %d of a fixed type",
                       index, TN_STR_ARG(element->name), element->type_length);
    if (element->children != 0)
        return tn_fail(cx, TARN_E_CORRUPT, "schema element %zu (%.*s): a leaf with %d children",
                       index, TN_STR_ARG(element->name), element->children);
    return TARN_OK;
}

static int check_element(tarn_cx *cx, const tn_element *element, size_t index, unsigned depth)
{
    if (depth > TN_PARQUET_DEPTH_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "schema element %zu (%.*s): nested deeper than %d levels",
                       index, TN_STR_ARG(element->name), TN_PARQUET_DEPTH_MAX);
    if (element->repetition == 3)
        return tn_fail(cx, TARN_E_UNSUPPORTED,
                       "schema element %zu (%.*s): repetition VECTOR is not read by tarn", index,
                       TN_STR_ARG(element->name));
    if (element->repetition > TN_REPEATED)
        return tn_fail(cx, TARN_E_CORRUPT, "schema element %zu (%.*s): repetition %d is unknown",
                       index, TN_STR_ARG(element->name), (int)element->repetition);
    if (!element->group)
        return check_leaf(cx, element, index);
    if (element->children == 0 && index != 0)
        return tn_fail(cx, TARN_E_CORRUPT, "schema element %zu (%.*s): neither type nor children",
                       index, TN_STR_ARG(element->name));
    return TARN_OK;
}

/* Makes node `index` and all below it. Recursion is bounded by I2. */
static int add_node(builder *b, uint32_t parent, unsigned depth)
{
    tarn_cx *cx = b->cx;
    size_t index = b->used;
    tn_element *element;
    tn_node *node;
    uint32_t previous = 0;
    int rc = TARN_OK;

    if (index >= b->count)
        TN_FAIL(TARN_E_CORRUPT,
                "schema element %u (%.*s): more children than the %zu elements there are", parent,
                TN_STR_ARG(b->schema.elements[parent].name), b->count);
    element = &b->schema.elements[index];
    TN_TRY(check_element(cx, element, index, depth));
    node = &b->schema.nodes[b->used++];
    node->element_meta = element;
    node->name = element->name;
    node->index = (uint32_t)index;
    node->parent = parent;
    node->child_count = (uint32_t)element->children;
    node->depth = (uint16_t)depth;
    if (index != 0) {
        const tn_node *up = &b->schema.nodes[parent];

        node->def_level = (uint16_t)(up->def_level + (element->repetition != TN_REQUIRED));
        node->rep_level = (uint16_t)(up->rep_level + (element->repetition == TN_REPEATED));
    }
    node->first_leaf = (uint32_t)b->schema.leaf_count;
    if (!element->group)
        b->schema.leaf_count++;
    for (int32_t i = 0; i < element->children; i++) {
        uint32_t child = (uint32_t)b->used;

        TN_TRY(add_node(b, (uint32_t)index, depth + 1));
        if (i == 0)
            node->first_child = child;
        else
            b->schema.nodes[previous].next_sibling = child;
        previous = child;
    }
    node->leaf_count = (uint32_t)b->schema.leaf_count - node->first_leaf;
done:
    return rc;
}

/* True when the list's only field, the repeated group, stands for one element: rules 1 to 4. */
static bool is_element(const tn_schema *schema, const tn_node *list, const tn_node *repeated)
{
    size_t n = list->name.len;

    if (repeated->child_count != 1)
        return true;
    if (schema->nodes[repeated->first_child].element_meta->repetition == TN_REPEATED)
        return true;
    if (tn_str_is(repeated->name, "array"))
        return true;
    return repeated->name.len == n + 6 && tn_str_starts(repeated->name, list->name) &&
           tn_str_is(tn_str_from(repeated->name, n), "_tuple");
}

/* The only child, when it is repeated; else NULL. */
static tn_node *repeated_child(const tn_schema *schema, const tn_node *node)
{
    tn_node *child;

    if (node->child_count != 1)
        return NULL;
    child = &schema->nodes[node->first_child];
    return child->element_meta->repetition == TN_REPEATED ? child : NULL;
}

static bool shape_list(tn_schema *schema, tn_node *node)
{
    tn_node *repeated = repeated_child(schema, node);

    if (repeated == NULL)
        return false;
    node->shape = TN_SHAPE_LIST;
    node->repeated = repeated->index;
    node->element = is_element(schema, node, repeated) ? repeated->index : repeated->first_child;
    repeated->bare = false;
    return true;
}

static bool shape_map(tn_schema *schema, tn_node *node)
{
    tn_node *repeated = repeated_child(schema, node);
    const tn_node *key;

    if (repeated == NULL || (repeated->child_count != 1 && repeated->child_count != 2))
        return false;
    key = &schema->nodes[repeated->first_child];
    if (key->element_meta->repetition == TN_REPEATED)
        return false;
    node->shape = TN_SHAPE_MAP;
    node->repeated = repeated->index;
    node->key = key->index;
    node->value = key->next_sibling;
    repeated->bare = false;
    return true;
}

/* Parents come first, so whether a repeated node belongs to a LIST or MAP is known when it is met;
 * one that does is shaped by what it holds. */
static void shape_node(tn_schema *schema, tn_node *node)
{
    const tn_element *element = node->element_meta;
    const tn_node *parent = &schema->nodes[node->parent];
    bool inner = node->index != 0 && parent->repeated == node->index && parent != node;

    if (node->index != 0 && element->repetition == TN_REPEATED && !inner) {
        node->bare = true;
        node->shape = TN_SHAPE_LIST;
        node->repeated = node->element = node->index;
        return;
    }
    node->shape = element->group ? TN_SHAPE_STRUCT : TN_SHAPE_LEAF;
    if (!element->group || node->index == 0)
        return;
    /* The key_value group of a map, and the middle of a three-level list, are what they are. */
    if (inner && (parent->shape == TN_SHAPE_MAP || parent->element != node->index))
        return;
    if (annotated(element, TN_LOGICAL_LIST, TN_LIST))
        shape_list(schema, node);
    else if (annotated(element, TN_LOGICAL_MAP, TN_MAP) ||
             (element->logical == TN_LOGICAL_NONE && element->converted == TN_MAP_KEY_VALUE))
        shape_map(schema, node);
}

static int make_leaf(builder *b, const tn_node *node)
{
    tn_leaf *leaf = &b->schema.leaves[node->first_leaf];
    tarn_cx *cx = b->cx;
    const tn_node *at = node;
    size_t bytes = 0;
    char *text;

    leaf->node = node;
    leaf->index = node->first_leaf;
    leaf->physical = node->element_meta->physical;
    leaf->type_length =
        node->element_meta->physical == TN_FIXED ? (uint32_t)node->element_meta->type_length : 0;
    leaf->max_def = node->def_level;
    leaf->max_rep = node->rep_level;
    leaf->path_count = node->depth;
    leaf->path = tn_arena_array(cx, b->arena, leaf->path_count, sizeof *leaf->path);
    if (leaf->path == NULL)
        return TARN_E_NOMEM;
    for (uint16_t i = leaf->path_count; i-- > 0; at = &b->schema.nodes[at->parent]) {
        leaf->path[i] = at->name;
        bytes += at->name.len + 1;
    }
    /* A long name of a group stands once in the file but in the path of every leaf below. */
    b->name_bytes += bytes;
    if (b->name_bytes > TN_PARQUET_NAME_BYTES_MAX)
        return tn_fail(cx, TARN_E_LIMIT, "schema whose column paths take more than %u bytes",
                       TN_PARQUET_NAME_BYTES_MAX);
    text = tn_arena_take(cx, b->arena, bytes);
    if (text == NULL)
        return TARN_E_NOMEM;
    leaf->dotted = (tn_str){text, bytes - 1};
    for (uint16_t i = 0; i < leaf->path_count; i++) {
        if (i != 0)
            *text++ = '.';
        if (leaf->path[i].len != 0)
            memcpy(text, leaf->path[i].ptr, leaf->path[i].len);
        text += leaf->path[i].len;
    }
    return TARN_OK;
}

static int make_leaves(builder *b)
{
    tarn_cx *cx = b->cx;
    int rc = TARN_OK;

    if (b->schema.leaf_count > TN_PARQUET_LEAVES_MAX)
        TN_FAIL(TARN_E_LIMIT, "schema of %zu columns; tarn reads up to %d", b->schema.leaf_count,
                TN_PARQUET_LEAVES_MAX);
    b->schema.leaves = tn_arena_array(cx, b->arena, b->schema.leaf_count, sizeof *b->schema.leaves);
    if (b->schema.leaves == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < b->schema.node_count; i++) {
        if (!b->schema.nodes[i].element_meta->group)
            TN_TRY(make_leaf(b, &b->schema.nodes[i]));
    }
done:
    return rc;
}

int tn_schema_build(tarn_cx *cx, tn_element *elements, size_t count, tn_arena *arena,
                    tn_schema *out)
{
    builder b = {.cx = cx, .arena = arena, .count = count};
    int rc = TARN_OK;

    if (count == 0)
        TN_FAIL(TARN_E_CORRUPT, "schema without a root");
    if (!elements[0].group)
        TN_FAIL(TARN_E_CORRUPT, "schema whose root (%.*s) is not a group",
                TN_STR_ARG(elements[0].name));
    /* The root has no repetition; what some writers put there means nothing. */
    elements[0].repetition = TN_REQUIRED;
    b.schema.elements = elements;
    b.schema.nodes = tn_arena_array(cx, arena, count, sizeof *b.schema.nodes);
    if (b.schema.nodes == NULL)
        return TARN_E_NOMEM;
    TN_TRY(add_node(&b, 0, 0));
    if (b.used != count)
        TN_FAIL(TARN_E_CORRUPT, "schema of %zu elements whose tree has %zu", count, b.used);
    b.schema.node_count = count;
    TN_TRY(make_leaves(&b));
    for (size_t i = 0; i < count; i++)
        shape_node(&b.schema, &b.schema.nodes[i]);
    *out = b.schema;
done:
    return rc;
}

const tn_leaf *tn_schema_leaf(const tn_schema *schema, const tn_str *path, size_t count)
{
    const tn_node *node = &schema->nodes[0];

    for (size_t i = 0; i < count; i++) {
        uint32_t child = node->first_child;

        while (child != 0 && !tn_str_equal(schema->nodes[child].name, path[i]))
            child = schema->nodes[child].next_sibling;
        if (child == 0)
            return NULL;
        node = &schema->nodes[child];
    }
    return count != 0 && !node->element_meta->group ? &schema->leaves[node->first_leaf] : NULL;
}

static bool equal_folded(tn_str a, tn_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        unsigned char x = (unsigned char)a.ptr[i];
        unsigned char y = (unsigned char)b.ptr[i];

        x = x >= 'A' && x <= 'Z' ? (unsigned char)(x + 32) : x;
        y = y >= 'A' && y <= 'Z' ? (unsigned char)(y + 32) : y;
        if (x != y)
            return false;
    }
    return true;
}

const tn_node *tn_schema_column(const tn_schema *schema, tn_str name)
{
    const tn_node *folded = NULL;
    size_t hits = 0;

    for (uint32_t i = schema->nodes[0].first_child; i != 0; i = schema->nodes[i].next_sibling) {
        if (tn_str_equal(schema->nodes[i].name, name))
            return &schema->nodes[i];
        if (equal_folded(schema->nodes[i].name, name)) {
            folded = &schema->nodes[i];
            hits++;
        }
    }
    return hits == 1 ? folded : NULL;
}

/* "(DECIMAL(10,2))" after the name. */
static void print_annotation(tn_buf *out, const tn_element *e)
{
    static const char *const units[] = {"?", "MILLIS", "MICROS", "NANOS"};
    const char *unit = units[e->unit >= 0 && e->unit <= 3 ? e->unit : 0];
    const char *name = tn_logical_name(e->logical);

    if (e->logical == TN_LOGICAL_NONE && e->converted == TN_CONVERTED_NONE)
        return;
    if (e->logical == TN_LOGICAL_NONE && e->converted == TN_DECIMAL)
        tn_buf_print(out, " (DECIMAL(%d,%d))", e->precision, e->scale);
    else if (e->logical == TN_LOGICAL_NONE)
        tn_buf_print(out, " (%s)", tn_converted_name(e->converted));
    else if (e->logical == TN_LOGICAL_DECIMAL)
        tn_buf_print(out, " (DECIMAL(%d,%d))", e->precision, e->scale);
    else if (e->logical == TN_LOGICAL_TIME || e->logical == TN_LOGICAL_TIMESTAMP)
        tn_buf_print(out, " (%s(%s,%s))", name, unit, e->adjusted_to_utc ? "true" : "false");
    else if (e->logical == TN_LOGICAL_INTEGER)
        tn_buf_print(out, " (INTEGER(%d,%s))", e->bit_width, e->is_signed ? "true" : "false");
    else if (strcmp(name, "unknown") == 0)
        tn_buf_print(out, " (logical type %d)", e->logical);
    else
        tn_buf_print(out, " (%s)", name);
}

void tn_schema_print(tn_buf *out, const tn_schema *schema)
{
    static const char *const repetitions[] = {"required", "optional", "repeated"};
    static const char *const types[] = {"boolean", "int32",  "int64",  "int96",
                                        "float",   "double", "binary", "fixed_len_byte_array"};
    unsigned open = 0; /* groups whose brace is not closed yet */

    for (size_t i = 0; i < schema->node_count; i++) {
        const tn_node *node = &schema->nodes[i];
        const tn_element *e = node->element_meta;

        for (; i != 0 && open > node->depth; open--)
            tn_buf_print(out, "%*s}\n", (int)(open - 1) * 2, "");
        if (i == 0) {
            tn_buf_print(out, "message %.*s {\n", TN_STR_ARG(node->name));
            open = 1;
            continue;
        }
        tn_buf_print(out, "%*s%s ", node->depth * 2, "", repetitions[e->repetition]);
        tn_buf_text(out, e->group ? "group" : types[e->physical]);
        if (!e->group && e->physical == TN_FIXED)
            tn_buf_print(out, "(%d)", e->type_length);
        tn_buf_text(out, " ");
        tn_buf_str(out, node->name);
        print_annotation(out, e);
        if (e->has_field_id)
            tn_buf_print(out, " = %d", e->field_id);
        tn_buf_text(out, e->group ? " {\n" : ";\n");
        if (e->group)
            open++;
    }
    for (; open > 0; open--)
        tn_buf_print(out, "%*s}\n", (int)(open - 1) * 2, "");
}
