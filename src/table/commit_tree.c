/* Trees of Avro values, made member by member. */
#include "table/commit_tree.h"

#include <assert.h>

tn_avro_value tn_commit_tree_many(tn_commit_tree *tree, enum tn_avro_kind kind, size_t count)
{
    tn_avro_value many = {.kind = kind};

    assert(kind == TN_AVRO_RECORD || kind == TN_AVRO_MAP || kind == TN_AVRO_ARRAY);
    if (count == 0 || tree->status != TARN_OK)
        return many;
    many.as.many.items = tn_arena_array(tree->cx, &tree->arena, count, sizeof *many.as.many.items);
    if (kind != TN_AVRO_ARRAY && many.as.many.items != NULL)
        many.as.many.names = tn_arena_array(tree->cx, &tree->arena, count, sizeof(tn_str));
    if (many.as.many.items == NULL || (kind != TN_AVRO_ARRAY && many.as.many.names == NULL)) {
        many.as.many.items = NULL;
        tree->status = TARN_E_NOMEM;
    }
    return many;
}

void tn_commit_tree_put(tn_avro_value *many, tn_str name, tn_avro_value value)
{
    size_t i = many->as.many.count;

    if (many->as.many.items == NULL)
        return;
    if (many->kind != TN_AVRO_ARRAY)
        ((tn_str *)many->as.many.names)[i] = name;
    many->as.many.items[i] = value;
    many->as.many.count++;
}

int tn_commit_tree_write(tn_commit_tree *tree, const char *text, const tn_avro_value *root,
                         tn_buf *out)
{
    tarn_cx *cx = tree->cx;
    tn_avro_schema schema = {0};
    int rc = TARN_OK;

    TN_TRY(tree->status);
    TN_TRY(tn_avro_schema_parse(cx, tn_str_of(text), "schema of an instant", &schema));
    TN_TRY(tn_avro_file_write(cx, tn_str_of(text), schema.root, root, out));
    TN_TRY(tn_buf_check(cx, out));
done:
    tn_avro_schema_clear(&schema);
    tn_arena_clear(&tree->arena);
    return rc;
}
