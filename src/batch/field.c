/* Arrow schemas that tarn builds.
 * I1: a schema built here owns format, name, metadata, children and dictionary; its release frees
 *     them all. */
#include "batch/field.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"

static void release_built(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        tn_field_release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary != NULL) {
        tn_field_release(schema->dictionary);
        free(schema->dictionary);
    }
    free(schema->children);
    free((void *)(uintptr_t)schema->format);
    free((void *)(uintptr_t)schema->name);
    free((void *)(uintptr_t)schema->metadata);
    schema->release = NULL;
}

static char *keep_text(tarn_cx *cx, tn_str text)
{
    char *copy = tn_alloc(cx, text.len + 1);

    if (copy != NULL) {
        if (text.len != 0)
            memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

int tn_field_init(tarn_cx *cx, struct ArrowSchema *out, const char *format, tn_str name,
                  bool nullable, size_t children)
{
    struct ArrowSchema schema = {.release = release_built};
    int rc = TARN_OK;

    schema.flags = nullable ? ARROW_FLAG_NULLABLE : 0;
    schema.format = keep_text(cx, tn_str_of(format));
    schema.name = keep_text(cx, name);
    schema.children = tn_calloc(cx, children, sizeof schema.children[0]);
    if (schema.format == NULL || schema.name == NULL || schema.children == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < children; i++) {
        schema.children[i] = tn_calloc(cx, 1, sizeof *schema.children[i]);
        if (schema.children[i] == NULL)
            TN_TRY(TARN_E_NOMEM);
        schema.n_children++;
    }
    *out = schema;
    return TARN_OK;
done:
    release_built(&schema);
    return rc;
}

int tn_field_make_dictionary(tarn_cx *cx, struct ArrowSchema *schema)
{
    assert(schema->dictionary == NULL);
    schema->dictionary = tn_calloc(cx, 1, sizeof *schema->dictionary);
    return schema->dictionary != NULL ? TARN_OK : TARN_E_NOMEM;
}

int tn_field_set_metadata(tarn_cx *cx, struct ArrowSchema *schema, const tn_buf *metadata)
{
    char *copy = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_buf_check(cx, metadata));
    if (metadata->len != 0) {
        copy = keep_text(cx, tn_buf_view(metadata));
        if (copy == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
    free((void *)(uintptr_t)schema->metadata);
    schema->metadata = copy;
done:
    return rc;
}

int tn_field_copy(tarn_cx *cx, const struct ArrowSchema *from, struct ArrowSchema *out)
{
    struct ArrowSchema schema = {0};
    tn_buf metadata = {0};
    tn_str key, value;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &schema, from->format, tn_str_of(from->name), false,
                         (size_t)from->n_children));
    schema.flags = from->flags;
    for (int32_t i = 0; tn_metadata_at(from->metadata, i, &key, &value); i++)
        tn_metadata_add(&metadata, key, value);
    TN_TRY(tn_field_set_metadata(cx, &schema, &metadata));
    for (int64_t i = 0; i < from->n_children; i++)
        TN_TRY(tn_field_copy(cx, from->children[i], schema.children[i]));
    if (from->dictionary != NULL) {
        TN_TRY(tn_field_make_dictionary(cx, &schema));
        TN_TRY(tn_field_copy(cx, from->dictionary, schema.dictionary));
    }
    tn_field_move(&schema, out);
done:
    tn_field_release(&schema);
    tn_buf_clear(&metadata);
    return rc;
}

void tn_field_release(struct ArrowSchema *schema)
{
    if (schema == NULL)
        return;
    if (schema->release != NULL)
        schema->release(schema);
    memset(schema, 0, sizeof *schema);
}

void tn_field_move(struct ArrowSchema *from, struct ArrowSchema *to)
{
    *to = *from;
    memset(from, 0, sizeof *from);
}

static void add_text(tn_buf *metadata, tn_str text)
{
    int32_t len = (int32_t)text.len;

    tn_buf_add(metadata, &len, sizeof len);
    tn_buf_str(metadata, text);
}

void tn_metadata_add(tn_buf *metadata, tn_str key, tn_str value)
{
    int32_t count = 0;

    if (metadata->len == 0)
        tn_buf_add(metadata, &count, sizeof count);
    add_text(metadata, key);
    add_text(metadata, value);
    if (metadata->failed)
        return;
    memcpy(&count, metadata->data, sizeof count);
    count++;
    memcpy(metadata->data, &count, sizeof count);
}

static const char *take_text(const char *at, tn_str *out)
{
    int32_t len;

    memcpy(&len, at, sizeof len);
    *out = (tn_str){at + sizeof len, len > 0 ? (size_t)len : 0};
    return out->ptr + out->len;
}

bool tn_metadata_at(const char *metadata, int32_t i, tn_str *key, tn_str *value)
{
    int32_t count;

    if (metadata == NULL)
        return false;
    memcpy(&count, metadata, sizeof count);
    if (i < 0 || i >= count)
        return false;
    metadata += sizeof count;
    for (int32_t at = 0; at <= i; at++) {
        metadata = take_text(metadata, key);
        metadata = take_text(metadata, value);
    }
    return true;
}

tn_str tn_metadata_get(const char *metadata, const char *key)
{
    tn_str found, value;

    for (int32_t i = 0; tn_metadata_at(metadata, i, &found, &value); i++)
        if (tn_str_is(found, key))
            return value;
    return (tn_str){NULL, 0};
}

#define HINTS_MAX 12

static bool is_meta(const char *name)
{
    return strncmp(name, "_hoodie_", 8) == 0;
}

void tn_field_print_hint(tn_buf *out, const struct ArrowSchema *columns, tn_str asked)
{
    tn_near near = {.typed = asked};
    int64_t n = 0;

    for (int64_t i = 0; i < columns->n_children; i++)
        tn_near_offer(&near, tn_str_of(columns->children[i]->name));
    if (near.best.len != 0)
        tn_buf_print(out, "did you mean \"%.*s\"? ", TN_STR_ARG(near.best));
    tn_buf_text(out, "there are: ");
    for (int meta = 0; meta < 2; meta++)
        for (int64_t i = 0; i < columns->n_children; i++)
            if (is_meta(columns->children[i]->name) == (meta == 1) && n++ < HINTS_MAX)
                tn_buf_print(out, "%s%s", n > 1 ? ", " : "", columns->children[i]->name);
    if (n > HINTS_MAX)
        tn_buf_print(out, ", … %lld more", (long long)(n - HINTS_MAX));
}
