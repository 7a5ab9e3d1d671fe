/* Old names of columns become today's, before anything is looked up by name: columns, statistics,
 * filters and the fields of log records then find each other as ever.
 *
 * I1: a column that is no more takes a name that begins with a byte that no column's does, so that
 *     one of today that has its old name is not taken for it.
 * I2: paths are those of the schema's own words: elements of lists are "element" in whatever form
 *     the file has them, keys and values of maps "key" and "value". */
#include "exec/read_names.h"

#include <assert.h>
#include <stdlib.h>

#define GONE "\x01" /* I1 */

static const tn_scan_rename *find(const tn_scan_version *version, tn_str path)
{
    size_t low = 0, high = version->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = tn_str_compare(version->renames[middle].path, path);

        if (order == 0)
            return &version->renames[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int new_name(tarn_cx *cx, tn_arena *arena, const tn_scan_rename *rename, tn_str old,
                    tn_str *out)
{
    if (rename->name.ptr == NULL)
        return tn_arena_print(cx, arena, out, GONE "%.*s", TN_STR_ARG(old));
    *out = rename->name;
    return tn_arena_keep(cx, arena, out);
}

static int join(tarn_cx *cx, tn_arena *arena, tn_str path, tn_str name, tn_str *out)
{
    return path.len == 0
               ? tn_arena_print(cx, arena, out, "%.*s", TN_STR_ARG(name))
               : tn_arena_print(cx, arena, out, "%.*s.%.*s", TN_STR_ARG(path), TN_STR_ARG(name));
}

/* ---- Parquet */

typedef struct walk {
    tarn_cx *cx;
    const tn_scan_version *version;
    tn_parquet *file;
} walk;

static int walk_node(walk *w, uint32_t index, tn_str path);

/* The name of a node, in all places that have it. */
static void set_name(walk *w, uint32_t index, tn_str name)
{
    tn_schema *schema = &w->file->schema;
    tn_node *node = &schema->nodes[index];

    node->name = name;
    schema->elements[index].name = name;
    for (uint32_t i = 0; i < node->leaf_count; i++) {
        tn_leaf *leaf = &schema->leaves[node->first_leaf + i];

        if (node->depth != 0 && node->depth <= leaf->path_count)
            leaf->path[node->depth - 1] = name;
    }
}

static int walk_children(walk *w, uint32_t index, tn_str path)
{
    tarn_cx *cx = w->cx;
    tn_arena *arena = &w->file->arena;
    const tn_node *nodes = w->file->schema.nodes;
    int rc = TARN_OK;

    if (nodes[index].child_count == 0)
        return TARN_OK;
    for (uint32_t i = nodes[index].first_child; i != 0; i = nodes[i].next_sibling) {
        const tn_scan_rename *rename;
        tn_str below, name;

        TN_TRY(join(cx, arena, path, nodes[i].name, &below));
        rename = find(w->version, below);
        TN_TRY(walk_node(w, i, below));
        if (rename == NULL)
            continue;
        TN_TRY(new_name(cx, arena, rename, nodes[i].name, &name));
        set_name(w, i, name);
    }
done:
    return rc;
}

/* I2. */
static int walk_part(walk *w, uint32_t index, tn_str path, const char *part)
{
    tn_str below;
    int rc = TARN_OK;

    TN_TRY(join(w->cx, &w->file->arena, path, tn_str_of(part), &below));
    TN_TRY(walk_node(w, index, below));
done:
    return rc;
}

/* What lies below a node; depths were bounded when the schema was built. */
static int walk_node(walk *w, uint32_t index, tn_str path)
{
    const tn_node *node = &w->file->schema.nodes[index];
    int rc = TARN_OK;

    if (node->shape == TN_SHAPE_LIST && !node->bare)
        return walk_part(w, node->element, path, "element");
    if (node->shape == TN_SHAPE_MAP) {
        TN_TRY(walk_part(w, node->key, path, "key"));
        if (node->value != 0)
            TN_TRY(walk_part(w, node->value, path, "value"));
        return TARN_OK;
    }
    TN_TRY(walk_children(w, index, path));
done:
    return rc;
}

int tn_read_names_parquet(tarn_cx *cx, const tn_scan_version *version, tn_parquet *file)
{
    walk w = {cx, version, file};

    assert(file != NULL);
    if (version == NULL || version->count == 0)
        return TARN_OK;
    return walk_children(&w, 0, TN_STR(""));
}

/* ---- Avro */

static int walk_type(tarn_cx *cx, const tn_scan_version *version, tn_avro_schema *schema,
                     const tn_avro_type *type, tn_str path);

static int walk_record(tarn_cx *cx, const tn_scan_version *version, tn_avro_schema *schema,
                       const tn_avro_type *type, tn_str path)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < type->field_count; i++) {
        const tn_scan_rename *rename;
        tn_str below;

        TN_TRY(join(cx, &schema->arena, path, type->fields[i].name, &below));
        TN_TRY(walk_type(cx, version, schema, type->fields[i].type, below));
        rename = find(version, below);
        if (rename == NULL)
            continue;
        TN_TRY(new_name(cx, &schema->arena, rename, type->fields[i].name, &type->fields[i].name));
        type->field_names[i] = type->fields[i].name;
    }
done:
    return rc;
}

/* Depths were bounded when the schema was parsed. A named type that is used twice has the names of
 * its first place; Hudi names each record of its own place. */
static int walk_type(tarn_cx *cx, const tn_scan_version *version, tn_avro_schema *schema,
                     const tn_avro_type *type, tn_str path)
{
    bool nullable;
    const tn_avro_type *plain = tn_avro_plain(type, &nullable);
    tn_str below;
    int rc = TARN_OK;

    if (plain->kind == TN_AVRO_RECORD)
        return walk_record(cx, version, schema, plain, path);
    if (plain->kind != TN_AVRO_ARRAY && plain->kind != TN_AVRO_MAP)
        return TARN_OK;
    TN_TRY(join(cx, &schema->arena, path,
                plain->kind == TN_AVRO_ARRAY ? TN_STR("element") : TN_STR("value"), &below));
    TN_TRY(walk_type(cx, version, schema, plain->branches[0], below));
done:
    return rc;
}

int tn_read_names_avro(tarn_cx *cx, const tn_scan_version *version, tn_avro_schema *schema)
{
    assert(schema != NULL);
    if (version == NULL || version->count == 0 || schema->root->kind != TN_AVRO_RECORD)
        return TARN_OK;
    return walk_record(cx, version, schema, schema->root, TN_STR(""));
}
