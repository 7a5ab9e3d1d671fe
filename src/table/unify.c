/* Unifies schemas as trees. Each node of the output tree remembers which node of each input it is.
 * I1: a node of the output stands at the same depth as the input nodes it is made of, so the levels
 *     of an input map onto the output's one by one.
 * I2: where an input lacks a node, the node is optional (or repeated) in the output. */
#include "table/unify.h"

#include <assert.h>

#include "table/unify_leaf.h"

#define TN_ABSENT UINT32_MAX

typedef struct unode {
    tn_element element;
    struct unode *first, *last, *next;
    uint32_t *in; /* input -> index of its node, or TN_ABSENT */
    uint32_t children;
    uint16_t def, rep;
} unode;

typedef struct unify {
    tn_arena *arena;
    const tn_unify_options *options;
    tn_schema *schemas;
    size_t count; /* of inputs */
    unode *root;
    size_t node_count, leaf_count;
    tn_str why; /* set once it is known that it cannot be */
} unify;

static int refuse(tarn_cx *cx, unify *u, const tn_node *node, const char *why)
{
    if (u->why.len != 0)
        return TARN_OK;
    return tn_arena_print(cx, u->arena, &u->why, "column \"%.*s\": %s", TN_STR_ARG(node->name),
                          why);
}

static const tn_node *child_of(const tn_schema *schema, const tn_node *node, size_t nth)
{
    uint32_t at = node->child_count != 0 ? node->first_child : 0;

    for (; nth > 0 && at != 0; nth--)
        at = schema->nodes[at].next_sibling;
    return at != 0 ? &schema->nodes[at] : NULL;
}

static const tn_node *next_of(const tn_schema *schema, const tn_node *node)
{
    return node->next_sibling != 0 ? &schema->nodes[node->next_sibling] : NULL;
}

static int new_node(tarn_cx *cx, unify *u, unode *parent, const tn_element *element, unode **out)
{
    unode *node = tn_arena_take(cx, u->arena, sizeof *node);

    if (node == NULL ||
        (node->in = tn_arena_array(cx, u->arena, u->count, sizeof *node->in)) == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < u->count; i++)
        node->in[i] = TN_ABSENT;
    node->element = *element;
    u->node_count++;
    u->leaf_count += !element->group;
    if (parent != NULL) {
        if (parent->last != NULL)
            parent->last->next = node;
        else
            parent->first = node;
        parent->last = node;
        parent->children++;
    }
    *out = node;
    return TARN_OK;
}

static int add_tree(tarn_cx *cx, unify *u, unode *parent, size_t input, const tn_node *node,
                    unode **out)
{
    const tn_schema *schema = &u->schemas[input];
    unode *made;
    int rc = TARN_OK;

    TN_TRY(new_node(cx, u, parent, node->element_meta, &made));
    made->in[input] = node->index;
    for (const tn_node *child = child_of(schema, node, 0); child != NULL;
         child = next_of(schema, child))
        TN_TRY(add_tree(cx, u, made, input, child, NULL));
    if (out != NULL)
        *out = made;
done:
    return rc;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_without_case(tn_str a, tn_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    return true;
}

/* The child of `into` that `node` is: by exact name, else without case if unique on both sides. */
static unode *match_name(const tn_schema *schema, const tn_node *parent, const tn_node *node,
                         unode *into, unode *hint)
{
    unode *found = NULL;
    size_t here = 0, there = 0;

    if (hint != NULL && tn_str_equal(hint->element.name, node->name))
        return hint;
    for (unode *child = into->first; child != NULL; child = child->next) {
        if (tn_str_equal(child->element.name, node->name))
            return child;
        if (equal_without_case(child->element.name, node->name)) {
            found = child;
            here++;
        }
    }
    for (const tn_node *child = child_of(schema, parent, 0); found != NULL && child != NULL;
         child = next_of(schema, child)) {
        /* Somebody else's exact match is not to be taken. */
        if (tn_str_equal(child->name, found->element.name))
            return NULL;
        there += equal_without_case(child->name, node->name);
    }
    return here == 1 && there == 1 ? found : NULL;
}

/* Below annotated lists and maps of three levels, what nodes are follows from where they stand. */
static bool by_position(const tn_schema *schema, const tn_node *node)
{
    const tn_node *parent = &schema->nodes[node->parent];

    if (node->child_count == 1 && node->shape == TN_SHAPE_LIST)
        return node->repeated != node->element && node->repeated != node->index;
    if (node->child_count == 1 && node->shape == TN_SHAPE_MAP)
        return node->repeated != node->index;
    if (node->index == 0 || parent->child_count != 1)
        return false;
    return (parent->shape == TN_SHAPE_LIST && parent->repeated == node->index &&
            parent->element != node->index) ||
           (parent->shape == TN_SHAPE_MAP && parent->repeated == node->index);
}

static bool repeated(const tn_element *e)
{
    return e->repetition == TN_REPEATED;
}

static int merge(tarn_cx *cx, unify *u, unode *into, size_t input, const tn_node *node);

static int merge_children(tarn_cx *cx, unify *u, unode *into, size_t input, const tn_node *node)
{
    const tn_schema *schema = &u->schemas[input];
    bool positional = by_position(schema, node);
    unode *hint = into->first;
    int rc = TARN_OK;

    if (positional && into->children != node->child_count)
        return refuse(cx, u, node, "maps or lists of different form");
    for (const tn_node *child = child_of(schema, node, 0); child != NULL && u->why.len == 0;
         child = next_of(schema, child)) {
        unode *same = positional ? hint : match_name(schema, node, child, into, hint);

        if (same == NULL) {
            TN_TRY(add_tree(cx, u, into, input, child, &same));
            if (same->element.repetition == TN_REQUIRED)
                same->element.repetition = TN_OPTIONAL;
        } else if (same->in[input] != TN_ABSENT) {
            TN_TRY(refuse(cx, u, child, "there are two of this name"));
        } else {
            TN_TRY(merge(cx, u, same, input, child));
        }
        hint = same->next;
    }
    for (unode *child = into->first; child != NULL; child = child->next)
        if (child->in[input] == TN_ABSENT && child->element.repetition == TN_REQUIRED)
            child->element.repetition = TN_OPTIONAL;
done:
    return rc;
}

static bool groups_agree(const unify *u, const unode *into, size_t input, const tn_node *node)
{
    tn_meaning a = tn_unify_meaning(&into->element), b = tn_unify_meaning(node->element_meta);

    for (size_t i = 0; i < input; i++)
        if (into->in[i] != TN_ABSENT) {
            const tn_node *other = &u->schemas[i].nodes[into->in[i]];

            return other->shape == node->shape && a.kind == b.kind && tn_str_equal(a.raw, b.raw) &&
                   by_position(&u->schemas[i], other) == by_position(&u->schemas[input], node);
        }
    return false;
}

static int merge(tarn_cx *cx, unify *u, unode *into, size_t input, const tn_node *node)
{
    const tn_element *e = node->element_meta;
    const char *why = NULL;

    if (node->index != 0) {
        if (into->element.group != e->group)
            why = "a group in one file, a value in another";
        else if (repeated(&into->element) != repeated(e))
            why = "repeated in one file only";
        else if (into->element.has_field_id != e->has_field_id ||
                 (e->has_field_id && into->element.field_id != e->field_id))
            why = "field ids differ";
        else if (e->group && !groups_agree(u, into, input, node))
            why = "groups of different kind";
        else if (!e->group)
            why = tn_unify_leaf(&into->element, e, u->options);
        if (why != NULL)
            return refuse(cx, u, node, why);
        if (e->repetition == TN_OPTIONAL && into->element.repetition == TN_REQUIRED)
            into->element.repetition = TN_OPTIONAL;
    }
    into->in[input] = node->index;
    return e->group ? merge_children(cx, u, into, input, node) : TARN_OK;
}

/* A column added under an id that another one has is a renamed column, which names cannot match. */
static int check_ids(tarn_cx *cx, unify *u, const unode *node)
{
    int rc = TARN_OK;

    for (const unode *a = node->first; a != NULL && u->why.len == 0; a = a->next) {
        for (const unode *b = a->next; b != NULL && a->element.has_field_id; b = b->next) {
            bool together = false;

            if (!b->element.has_field_id || a->element.field_id != b->element.field_id)
                continue;
            for (size_t i = 0; i < u->count; i++)
                together |= a->in[i] != TN_ABSENT && b->in[i] != TN_ABSENT;
            if (!together)
                TN_TRY(tn_arena_print(
                    cx, u->arena, &u->why, "columns \"%.*s\" and \"%.*s\" share field id %d",
                    TN_STR_ARG(a->element.name), TN_STR_ARG(b->element.name), a->element.field_id));
        }
        TN_TRY(check_ids(cx, u, a));
    }
done:
    return rc;
}

/* Elements depth first, levels on the way. */
static void lay_out(const unify *u, unode *node, const unode *parent, tn_element *elements,
                    size_t *at)
{
    (void)u;
    node->element.children = (int32_t)node->children;
    if (parent != NULL) {
        node->def = parent->def + (node->element.repetition != TN_REQUIRED);
        node->rep = parent->rep + (node->element.repetition == TN_REPEATED);
    }
    elements[(*at)++] = node->element;
    for (unode *child = node->first; child != NULL; child = child->next)
        lay_out(u, child, node, elements, at);
}

typedef struct trail {
    const unode *nodes[TN_PARQUET_DEPTH_MAX + 2];
    size_t depth;
} trail;

/* Levels of input node -> levels of the output, along the trail down to place `deepest`. */
static int map_levels(tarn_cx *cx, const unify *u, const trail *way, size_t deepest, size_t input,
                      tn_leaf_source *out)
{
    const tn_node *nodes = u->schemas[input].nodes;
    uint16_t max = nodes[way->nodes[deepest]->in[input]].def_level;
    bool identity = true;

    out->def_map_count = max + 1u;
    out->def_map = tn_arena_array(cx, u->arena, out->def_map_count, sizeof *out->def_map);
    if (out->def_map == NULL)
        return TARN_E_NOMEM;
    for (uint16_t d = 0; d <= max; d++) {
        for (size_t i = 0; i <= deepest; i++)
            if (nodes[way->nodes[i]->in[input]].def_level <= d)
                out->def_map[d] = way->nodes[i]->def;
        identity &= out->def_map[d] == d;
    }
    if (identity) {
        out->def_map = NULL;
        out->def_map_count = 0;
    }
    return TARN_OK;
}

/* The leaf below `node` with the fewest levels: the cheapest to read for its levels alone. */
static int32_t donor_below(const tn_schema *schema, const tn_node *node)
{
    uint32_t best = node->first_leaf;

    for (uint32_t i = 1; i < node->leaf_count; i++)
        if (schema->leaves[node->first_leaf + i].max_rep < schema->leaves[best].max_rep)
            best = node->first_leaf + i;
    return node->leaf_count != 0 ? (int32_t)best : -1;
}

static int map_leaf(tarn_cx *cx, unify *u, const trail *way, size_t input, tn_leaf_source *out)
{
    const tn_schema *schema = &u->schemas[input];
    const unode *leaf = way->nodes[way->depth - 1];
    size_t deepest = way->depth - 1;
    const tn_node *node;

    *out = (tn_leaf_source){.leaf = -1, .donor = -1};
    while (way->nodes[deepest]->in[input] == TN_ABSENT)
        deepest--;
    node = &schema->nodes[way->nodes[deepest]->in[input]];
    if (deepest == way->depth - 1) {
        out->leaf = (int32_t)node->first_leaf;
        out->cast = tn_unify_leaf_cast(node->element_meta, &leaf->element);
        return map_levels(cx, u, way, deepest, input, out);
    }
    if (deepest == 0)
        return TARN_OK;
    out->donor = donor_below(schema, node);
    if (out->donor < 0)
        return refuse(cx, u, node, "a group without columns");
    out->donor_def = node->def_level;
    out->donor_rep = node->rep_level;
    return map_levels(cx, u, way, deepest, input, out);
}

static int map_tree(tarn_cx *cx, unify *u, const unode *node, trail *way, tn_unified *out,
                    size_t *leaf)
{
    int rc = TARN_OK;

    assert(way->depth < sizeof way->nodes / sizeof way->nodes[0]);
    way->nodes[way->depth++] = node;
    if (!node->element.group) {
        for (size_t i = 0; i < u->count; i++) {
            TN_TRY(map_leaf(cx, u, way, i, &out->mappings[i][*leaf]));
            out->same_shape &= out->mappings[i][*leaf].leaf == (int32_t)*leaf &&
                               out->mappings[i][*leaf].cast == TN_CAST_NONE;
        }
        (*leaf)++;
    }
    for (const unode *child = node->first; child != NULL; child = child->next)
        TN_TRY(map_tree(cx, u, child, way, out, leaf));
    way->depth--;
done:
    return rc;
}

static int publish(tarn_cx *cx, unify *u, tn_unified *out)
{
    tn_unified made = {.same_shape = true};
    tn_footer footer = {0};
    tn_buf bytes = {0};
    trail way = {0};
    size_t at = 0, leaf = 0;
    int rc = TARN_OK;

    made.elements = tn_arena_array(cx, u->arena, u->node_count, sizeof *made.elements);
    made.mappings = tn_arena_array(cx, u->arena, u->count, sizeof *made.mappings);
    if (made.elements == NULL || made.mappings == NULL)
        return TARN_E_NOMEM;
    made.element_count = u->node_count;
    made.leaf_count = u->leaf_count;
    made.mapping_count = u->count;
    for (size_t i = 0; i < u->count; i++) {
        made.mappings[i] = tn_arena_array(cx, u->arena, u->leaf_count, sizeof(tn_leaf_source));
        if (made.mappings[i] == NULL)
            return TARN_E_NOMEM;
    }
    lay_out(u, u->root, NULL, made.elements, &at);
    assert(at == u->node_count);
    TN_TRY(map_tree(cx, u, u->root, &way, &made, &leaf));
    for (size_t i = 0; i < u->count; i++)
        made.same_shape &= u->schemas[i].leaf_count == made.leaf_count;
    footer.elements = made.elements;
    footer.element_count = made.element_count;
    tn_footer_encode(&bytes, &footer);
    TN_TRY(tn_buf_check(cx, &bytes));
    made.bytes = tn_buf_view(&bytes);
    TN_TRY(tn_arena_keep(cx, u->arena, &made.bytes));
    if (u->why.len == 0)
        *out = made;
done:
    tn_buf_clear(&bytes);
    return rc;
}

int tn_unify(tarn_cx *cx, tn_arena *arena, const tn_dir_schema *const *inputs, size_t count,
             const tn_unify_options *options, tn_unified *out, tn_str *why)
{
    unify u = {.arena = arena, .options = options, .count = count};
    int rc = TARN_OK;

    assert(count > 0);
    assert(out != NULL);
    u.schemas = tn_arena_array(cx, arena, count, sizeof *u.schemas);
    if (u.schemas == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        TN_TRY(tn_schema_build(cx, inputs[i]->elements, inputs[i]->element_count, arena,
                               &u.schemas[i]));
    TN_TRY(add_tree(cx, &u, NULL, 0, &u.schemas[0].nodes[0], &u.root));
    for (size_t i = 1; i < count && u.why.len == 0; i++)
        TN_TRY(merge(cx, &u, u.root, i, &u.schemas[i].nodes[0]));
    if (u.why.len == 0 && count > 1)
        TN_TRY(check_ids(cx, &u, u.root));
    if (u.why.len == 0)
        TN_TRY(publish(cx, &u, out));
    *why = u.why;
done:
    return rc;
}
