/* Keys of stored rows, for tables whose files have no meta columns: made from the columns that they
 * are made of, as those of incoming rows are. */
#include <stdlib.h>

#include "batch/widen.h"
#include "op/hudi_op.h"

static int keys_of_batch(tarn_cx *cx, void *arg, const tn_base_file *file,
                         const struct ArrowSchema *schema, struct ArrowArray *batch,
                         int64_t first_row, const char **data, const int32_t **offsets)
{
    tn_hudi_keys_of *keys_of = arg;
    tn_record_keys keys;
    int rc = tn_widen_cast(cx, schema, &keys_of->schema, batch);

    if (rc == TARN_OK)
        rc = tn_record_key_batch(cx, keys_of->key, batch, first_row, &keys);
    if (rc != TARN_OK)
        return tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(file->path));
    *data = keys.data;
    *offsets = keys.offsets;
    return TARN_OK;
}

/* The columns at the top that keys are made of, each once. */
static int choose_columns(tarn_cx *cx, const tn_hudi_write *w, int64_t *children, size_t *count)
{
    const tn_hudi_config *c = w->config;
    int rc = TARN_OK;

    for (size_t i = 0; i < c->key_count; i++) {
        tn_str top = {c->keys[i].ptr, tn_str_find(c->keys[i], '.')};
        int64_t at = tn_unify_child(&w->fit.to, top);
        bool known = false;

        if (at < 0)
            TN_FAIL(TARN_E_INVALID, "column \"%.*s\": the key is made of it, and there is none",
                    TN_STR_ARG(top));
        for (size_t k = 0; k < *count; k++)
            known = known || children[k] == at;
        if (!known)
            children[(*count)++] = at;
    }
done:
    return rc;
}

int tn_hudi_keys_of_open(tarn_cx *cx, tn_hudi_write *w, tn_hudi_keys_of *out,
                         tn_tag_options *options)
{
    tn_record_key_options key;
    int64_t *children = tn_arena_array(cx, &w->arena, w->config->key_count + 1, sizeof *children);
    const char **names = tn_arena_array(cx, &w->arena, w->config->key_count + 1, sizeof *names);
    size_t count = 0;
    int rc = TARN_OK;

    if (children == NULL || names == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(choose_columns(cx, w, children, &count));
    TN_TRY(tn_field_init(cx, &out->schema, "+s", TN_STR(""), false, count));
    for (size_t i = 0; i < count; i++) {
        TN_TRY(tn_field_copy(cx, w->fit.to.children[children[i]], out->schema.children[i]));
        names[i] = w->fit.to.children[children[i]]->name;
    }
    tn_hudi_config_keys(w->config, &key);
    key.kind = w->key_options.single_named ? TN_KEYGEN_COMPLEX : TN_KEYGEN_NON_PARTITION;
    key.partitions = NULL;
    key.partition_count = 0;
    key.partition_is_time = NULL;
    key.single_named = w->key_options.single_named;
    key.consistent_times = w->key_options.consistent_times;
    key.delete_field = key.delete_marker = (tn_str){0};
    out->options = key;
    TN_TRY(tn_record_key_open(cx, &out->options, &out->schema, &out->key));
    options->keys_of = keys_of_batch;
    options->keys_arg = out;
    options->key_columns = names;
    options->key_column_count = count;
done:
    return rc;
}

void tn_hudi_keys_of_close(tn_hudi_keys_of *keys_of)
{
    tn_record_key_close(keys_of->key);
    tn_field_release(&keys_of->schema);
    *keys_of = (tn_hudi_keys_of){0};
}
