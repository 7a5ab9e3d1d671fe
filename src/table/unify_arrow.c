/* What Arrow's writers say of their columns beyond Parquet's types.
 * I1: a type goes to the merged file only when every input that has the column says the same.
 * I2: what is no schema message says nothing. */
#include "base/base64.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/arrow_ipc.h"
#include "table/unify.h"

tn_str tn_unify_arrow_of(const tn_dir_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        if (tn_str_is(keys->values[i].key, "ARROW:schema"))
            return keys->values[i].value;
    return (tn_str){0};
}

static void release(struct ArrowSchema *schema)
{
    if (schema->release != NULL)
        schema->release(schema);
    *schema = (struct ArrowSchema){0};
}

/* *out stays empty for what cannot be read. */
static int load(tarn_cx *cx, tn_str text, struct ArrowSchema *out)
{
    tn_buf message = {0};
    int rc = TARN_OK;

    *out = (struct ArrowSchema){0};
    if (text.len != 0 && tn_base64_decode(&message, text)) {
        rc = tn_arrow_ipc_read(cx, tn_buf_view(&message), out);
        if (rc != TARN_OK && rc != TARN_E_NOMEM) {
            tn_cx_forget(cx);
            *out = (struct ArrowSchema){0};
            rc = TARN_OK;
        }
    }
    tn_buf_clear(&message);
    return rc;
}

static const struct ArrowSchema *child_of(const struct ArrowSchema *schema, tn_str name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_equal(tn_str_of(schema->children[i]->name), name))
            return schema->children[i];
    return NULL;
}

static bool is_duration(const struct ArrowSchema *schema)
{
    return strncmp(schema->format, "tD", 2) == 0;
}

/* Are durations of `a` the same in `b`? Children match by name, those of lists by place. */
static bool durations_in(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    if (b == NULL)
        return true;
    if (is_duration(a) && strcmp(a->format, b->format) != 0)
        return false;
    for (int64_t i = 0; i < a->n_children; i++) {
        const struct ArrowSchema *same = child_of(b, tn_str_of(a->children[i]->name));

        if (same == NULL && a->n_children == 1 && b->n_children == 1)
            same = b->children[0];
        if (!durations_in(a->children[i], same))
            return false;
    }
    return true;
}

static bool has_duration(const struct ArrowSchema *schema)
{
    if (schema->format != NULL && is_duration(schema))
        return true;
    for (int64_t i = 0; i < schema->n_children; i++)
        if (has_duration(schema->children[i]))
            return true;
    return false;
}

int tn_unify_arrow_agrees(tarn_cx *cx, tn_str a, tn_str b, bool *agrees)
{
    struct ArrowSchema x = {0}, y = {0};
    int rc = TARN_OK;

    *agrees = true;
    if (tn_str_equal(a, b))
        return TARN_OK;
    TN_TRY(load(cx, a, &x));
    TN_TRY(load(cx, b, &y));
    if (x.format == NULL || y.format == NULL)
        *agrees = !has_duration(x.format == NULL ? &y : &x);
    else
        *agrees = durations_in(&x, &y) && durations_in(&y, &x);
done:
    release(&x);
    release(&y);
    return rc;
}

/* Equal but for nullability and the names inside lists and maps. */
static bool same_type(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    bool named = strcmp(a->format, "+s") == 0;

    if (strcmp(a->format, b->format) != 0 || a->n_children != b->n_children ||
        (a->dictionary == NULL) != (b->dictionary == NULL) ||
        (a->dictionary != NULL && !same_type(a->dictionary, b->dictionary)))
        return false;
    for (int64_t i = 0; i < a->n_children; i++)
        if (!same_type(a->children[i], b->children[i]) ||
            (named && strcmp(a->children[i]->name, b->children[i]->name) != 0))
            return false;
    return true;
}

/* The type of one column that all inputs which have it agree on; NULL: they do not. */
static const struct ArrowSchema *common(const struct ArrowSchema *inputs, size_t count, tn_str name)
{
    const struct ArrowSchema *found = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct ArrowSchema *child = child_of(&inputs[i], name);

        if (child == NULL)
            continue;
        if (found == NULL)
            found = child;
        else if (!same_type(found, child))
            return NULL;
    }
    return found;
}

static bool casts_nothing(const tn_unified *unified, size_t mappings)
{
    for (size_t m = 0; m < mappings; m++)
        for (size_t l = 0; l < unified->leaf_count; l++)
            if (unified->mappings[m][l].cast != TN_CAST_NONE)
                return false;
    return true;
}

/* Top-level elements of the output in order, each with the type that its inputs agree on. */
static int assemble(tarn_cx *cx, tn_arena *arena, const struct ArrowSchema *inputs, size_t count,
                    const tn_unified *unified, struct ArrowSchema *out)
{
    size_t n = (size_t)unified->elements[0].children, at = 1;
    struct ArrowSchema *fields = tn_arena_array(cx, arena, n, sizeof *fields);
    struct ArrowSchema **children = tn_arena_array(cx, arena, n, sizeof *children);

    if (fields == NULL || children == NULL)
        return TARN_E_NOMEM;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .children = children};
    for (size_t i = 0; i < n; i++) {
        const tn_element *element = &unified->elements[at];
        const struct ArrowSchema *type = common(inputs, count, element->name);
        size_t below = (size_t)element->children;

        if (type == NULL) {
            *out = (struct ArrowSchema){0};
            return TARN_OK;
        }
        fields[i] = *type;
        fields[i].flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
        if (element->repetition != TN_REQUIRED)
            fields[i].flags |= ARROW_FLAG_NULLABLE;
        children[i] = &fields[i];
        out->n_children++;
        for (at++; below > 0; below--, at++)
            below += (size_t)unified->elements[at].children;
    }
    return TARN_OK;
}

int tn_unify_arrow(tarn_cx *cx, tn_arena *arena, const tn_str *inputs, size_t count,
                   const tn_unified *unified, tn_str *out)
{
    struct ArrowSchema *schemas = tn_arena_array(cx, arena, count, sizeof *schemas), made;
    tn_buf text = {0};
    size_t loaded = 0, distinct = 0;
    int rc = TARN_OK;

    *out = (tn_str){0};
    if (schemas == NULL)
        return TARN_E_NOMEM;
    if (unified->elements == NULL || !casts_nothing(unified, unified->mapping_count))
        return TARN_OK;
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && tn_str_equal(inputs[i], inputs[i - 1]))
            continue;
        TN_TRY(load(cx, inputs[i], &schemas[loaded++]));
        distinct += schemas[loaded - 1].format != NULL;
    }
    if (distinct != loaded)
        goto done;
    TN_TRY(assemble(cx, arena, schemas, loaded, unified, &made));
    if (made.format == NULL)
        goto done;
    TN_TRY(tn_arrow_schema_serialize(cx, &made, &text));
    *out = tn_buf_view(&text);
    TN_TRY(tn_arena_keep(cx, arena, out));
done:
    for (size_t i = 0; i < loaded; i++)
        release(&schemas[i]);
    tn_buf_clear(&text);
    return rc;
}
