/* The record key of a read: --key as a condition, and the keys that a condition leaves.
 *
 * I1: with --key the condition holds the key, too: pruning only saves work. */
#include <inttypes.h>

#include "op/read_hudi.h"

#define KEY_COLUMN    "_hoodie_record_key"
#define READ_KEYS_MAX 1000 /* that files are looked through for */

int tn_reading_spellings(tarn_cx *cx, const tn_reading *reading, tn_arena *arena, tn_str out[2],
                         size_t *count)
{
    const tn_hudi_config *config = &reading->config;
    tn_str key = tn_str_of(reading->options->key), prefix;
    int rc = TARN_OK;

    out[0] = key;
    *count = 1;
    if (config->keygen != TN_KEYGEN_COMPLEX || config->key_count != 1)
        return TARN_OK;
    TN_TRY(tn_arena_print(cx, arena, &prefix, "%.*s:", TN_STR_ARG(config->keys[0])));
    if (tn_str_starts(key, prefix))
        out[1] = tn_str_from(key, prefix.len);
    else
        TN_TRY(tn_arena_print(cx, arena, &out[1], "%.*s%.*s", TN_STR_ARG(prefix), TN_STR_ARG(key)));
    *count = 2;
done:
    return rc;
}

static int print_key(tarn_cx *cx, tn_arena *arena, const tn_filter_column *column,
                     const tn_filter_value *value, tn_str *out)
{
    if (column->domain == TN_DOMAIN_BYTES) {
        *out = value->bytes;
        return TARN_OK;
    }
    return tn_arena_print(cx, arena, out, "%" PRId64, value->i);
}

/* True when values of the column are record keys, as text. */
static bool is_key_column(const tn_filter_column *column, const tn_read_hudi *hudi)
{
    if (column->path_count != 1)
        return false;
    if (tn_str_is(column->path[0], KEY_COLUMN))
        return true;
    return hudi->key_field.len != 0 && tn_str_equal(column->path[0], hudi->key_field) &&
           (column->type.kind == TN_TYPE_UTF8 || column->type.kind == TN_TYPE_INT32 ||
            column->type.kind == TN_TYPE_INT64);
}

/* "key = …" or "key IN (…)", which the whole condition needs to be true; NULL: it has none. */
static const tn_filter_node *find_key_test(const tn_filter *filter, const tn_filter_node *node,
                                           const tn_read_hudi *hudi)
{
    const tn_filter_node *found = NULL;

    if (node->kind == TN_FILTER_AND)
        for (size_t i = 0; i < node->child_count && found == NULL; i++)
            found = find_key_test(filter, node->children[i], hudi);
    else if (((node->kind == TN_FILTER_COMPARE && node->op == TN_EQ) ||
              (node->kind == TN_FILTER_IN && !node->negated)) &&
             is_key_column(&filter->columns[node->column], hudi))
        found = node;
    return found;
}

int tn_read_hudi_keys(tarn_cx *cx, tn_read *read, const tn_read_hudi *hudi)
{
    const tn_filter *filter = read->task.filter;
    const tn_filter_node *test;
    size_t count;
    tn_str *keys;
    int rc = TARN_OK;

    if (filter == NULL || !hudi->stored_keys)
        return TARN_OK;
    test = find_key_test(filter, filter->root, hudi);
    if (test == NULL)
        return TARN_OK;
    count = test->kind == TN_FILTER_COMPARE ? 1 : test->value_count;
    if (count > READ_KEYS_MAX)
        return TARN_OK;
    keys = tn_arena_array(cx, &read->arena, count, sizeof *keys);
    if (keys == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        TN_TRY(print_key(cx, &read->arena, &filter->columns[test->column], &test->values[i],
                         &keys[i]));
    read->task.record_keys = keys;
    read->task.record_key_count = count;
done:
    return rc;
}
