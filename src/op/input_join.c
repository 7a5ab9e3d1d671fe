/* One schema out of those of many inputs.
 *
 *   samples   null + x: x   int64 + double: double   date + timestamp: timestamp
 *             microseconds + nanoseconds: nanoseconds, with a zone both or neither
 *             structs and lists: field by field, element by element   all else: text
 *
 * I1: joining samples gives what one sample of all their values would have given, but for integers
 *     that a double rounds; those end in an error where they are read.
 * I2: firm types win over loose ones of the same column. */
#include "op/input_join.h"

#include <stdlib.h>
#include <string.h>

#include "batch/unify.h"

void tn_input_joined_clear(tn_input_joined *joined)
{
    tn_field_release(&joined->firm);
    tn_field_release(&joined->loose);
    tn_buf_clear(&joined->name);
}

int tn_input_join_given(tarn_cx *cx, tn_input_joined *joined, const struct ArrowSchema *schema)
{
    int rc = TARN_OK;

    tn_buf_text(&joined->name, "the schema given, or that of the directory");
    TN_TRY(tn_buf_check(cx, &joined->name));
    TN_TRY(tn_field_copy(cx, schema, &joined->firm));
    joined->given = schema->n_children;
done:
    return rc;
}

int tn_input_join_firm(tarn_cx *cx, tn_input_joined *joined, const struct ArrowSchema *schema,
                       tn_str name)
{
    struct ArrowSchema both = {0};
    int rc = TARN_OK;

    if (joined->firm.release == NULL) {
        tn_buf_str(&joined->name, name);
        TN_TRY(tn_buf_check(cx, &joined->name));
        TN_TRY(tn_field_copy(cx, schema, &joined->firm));
        goto done;
    }
    if (tn_unify_same(&joined->firm, schema))
        goto done;
    TN_TRY(tn_unify_fields(cx, &joined->firm, tn_buf_view(&joined->name), schema, name, &both));
    tn_field_release(&joined->firm);
    tn_field_move(&both, &joined->firm);
done:
    tn_field_release(&both);
    return rc;
}

static bool is(const struct ArrowSchema *schema, const char *format)
{
    return strcmp(schema->format, format) == 0;
}

static bool starts(const struct ArrowSchema *schema, const char *format)
{
    return strncmp(schema->format, format, strlen(format)) == 0;
}

/* The format of both, where neither is nested or null and they differ. */
static const char *join_scalars(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    bool whole_a = is(a, "i") || is(a, "l"), whole_b = is(b, "i") || is(b, "l");

    if (whole_a && whole_b)
        return "l";
    if ((whole_a && is(b, "g")) || (is(a, "g") && whole_b))
        return "g";
    if (is(a, "tdD") && starts(b, "ts"))
        return b->format;
    if (is(b, "tdD") && starts(a, "ts"))
        return a->format;
    /* "tsu:UTC": the unit is its third character, the zone begins at the fifth. */
    if (starts(a, "ts") && starts(b, "ts") && strcmp(a->format + 3, b->format + 3) == 0)
        return a->format[2] == 'n' ? a->format : b->format;
    return "u";
}

static int join_field(tarn_cx *cx, const struct ArrowSchema *a, const struct ArrowSchema *b,
                      bool root, struct ArrowSchema *out);

/* Where field `i` of `b` is in `a`: at the root as inputs are matched, below as JSON keys are. */
static int64_t place_in(const struct ArrowSchema *b, int64_t i, const struct ArrowSchema *a,
                        bool root)
{
    if (root)
        return tn_unify_match(b, i, a);
    for (int64_t k = 0; k < a->n_children; k++)
        if (strcmp(a->children[k]->name, b->children[i]->name) == 0)
            return k;
    return -1;
}

static int join_structs(tarn_cx *cx, const struct ArrowSchema *a, const struct ArrowSchema *b,
                        bool root, struct ArrowSchema *out)
{
    int64_t *places = tn_calloc(cx, (size_t)b->n_children, sizeof *places);
    int64_t added = 0, n = a->n_children;
    int rc = TARN_OK;

    if (places == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < b->n_children; i++) {
        places[i] = place_in(b, i, a, root);
        added += places[i] < 0;
    }
    TN_TRY(tn_field_init(cx, out, "+s", tn_str_of(a->name), !root, (size_t)(n + added)));
    for (int64_t i = 0; i < b->n_children; i++)
        if (places[i] < 0)
            TN_TRY(tn_field_copy(cx, b->children[i], out->children[n++]));
        else
            TN_TRY(join_field(cx, a->children[places[i]], b->children[i], false,
                              out->children[places[i]]));
    for (int64_t i = 0; i < a->n_children; i++)
        if (out->children[i]->release == NULL)
            TN_TRY(tn_field_copy(cx, a->children[i], out->children[i]));
done:
    free(places);
    return rc;
}

static int join_field(tarn_cx *cx, const struct ArrowSchema *a, const struct ArrowSchema *b,
                      bool root, struct ArrowSchema *out)
{
    tn_str name = tn_str_of(a->name);
    int rc = TARN_OK;

    if (is(a, "+s") && is(b, "+s"))
        return join_structs(cx, a, b, root, out);
    if (is(a, "+l") && is(b, "+l")) {
        TN_TRY(tn_field_init(cx, out, "+l", name, true, 1));
        TN_TRY(join_field(cx, a->children[0], b->children[0], false, out->children[0]));
    } else if (is(b, "n") || (a->n_children == 0 && is(a, b->format))) {
        TN_TRY(tn_field_copy(cx, a, out));
    } else if (is(a, "n")) {
        TN_TRY(tn_field_copy(cx, b, out));
    } else {
        bool nested = a->n_children != 0 || b->n_children != 0;

        TN_TRY(tn_field_init(cx, out, nested ? "u" : join_scalars(a, b), name, true, 0));
    }
done:
    return rc;
}

int tn_input_join_sample(tarn_cx *cx, tn_input_joined *joined, const struct ArrowSchema *schema)
{
    struct ArrowSchema both = {0};
    int rc = TARN_OK;

    joined->has_text = true;
    if (joined->loose.release == NULL)
        return tn_field_copy(cx, schema, &joined->loose);
    TN_TRY(join_field(cx, &joined->loose, schema, true, &both));
    tn_field_release(&joined->loose);
    tn_field_move(&both, &joined->loose);
done:
    tn_field_release(&both);
    return rc;
}

/* A copy in which no type is null: a column without any value is text. Integers are of 64 bits. */
static int copy_settled(tarn_cx *cx, const struct ArrowSchema *from, struct ArrowSchema *out)
{
    const char *format = is(from, "n") ? "u" : is(from, "i") ? "l" : from->format;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, format, tn_str_of(from->name), true, (size_t)from->n_children));
    for (int64_t i = 0; i < from->n_children; i++)
        TN_TRY(copy_settled(cx, from->children[i], out->children[i]));
done:
    return rc;
}

/* The format of numbers that samples show in a column of numbers. */
static const char *widen(const struct ArrowSchema *firm, const struct ArrowSchema *loose)
{
    bool whole = is(firm, "i") || is(firm, "l");

    if (firm->dictionary == NULL && whole && is(loose, "g"))
        return "g";
    return firm->dictionary == NULL && is(firm, "i") && is(loose, "l") ? "l" : firm->format;
}

/* A column that was asked for, with what samples show of it besides. */
static int join_deep(tarn_cx *cx, const struct ArrowSchema *firm, const struct ArrowSchema *loose,
                     struct ArrowSchema *out)
{
    bool group = is(firm, "+s") && is(loose, "+s");
    bool list = (is(firm, "+l") || is(firm, "+L")) && is(loose, "+l");
    int64_t n = firm->n_children, added = 0;
    int rc = TARN_OK;

    if (!group && !list && widen(firm, loose) == firm->format)
        return tn_field_copy(cx, firm, out);
    for (int64_t i = 0; group && i < loose->n_children; i++)
        added += tn_unify_match(loose, i, firm) < 0;
    TN_TRY(tn_field_init(cx, out, widen(firm, loose), tn_str_of(firm->name),
                         tn_field_nullable(firm), (size_t)(n + added)));
    for (int64_t i = 0; i < firm->n_children; i++) {
        int64_t at = group ? tn_unify_match(firm, i, loose) : 0;

        TN_TRY(at >= 0 ? join_deep(cx, firm->children[i], loose->children[at], out->children[i])
                       : tn_field_copy(cx, firm->children[i], out->children[i]));
    }
    for (int64_t i = 0; group && i < loose->n_children; i++)
        if (tn_unify_match(loose, i, firm) < 0)
            TN_TRY(copy_settled(cx, loose->children[i], out->children[n++]));
done:
    return rc;
}

int tn_input_joined_all(tarn_cx *cx, const tn_input_joined *joined, struct ArrowSchema *out)
{
    const struct ArrowSchema *firm = &joined->firm, *loose = &joined->loose;
    struct ArrowSchema made = {0};
    int64_t n = 0, added = 0, firm_count = firm->release != NULL ? firm->n_children : 0;
    int64_t loose_count = loose->release != NULL ? loose->n_children : 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < loose_count; i++)
        added += firm_count == 0 || tn_unify_match(loose, i, firm) < 0;
    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, (size_t)(firm_count + added)));
    for (; n < firm_count; n++) {
        int64_t at = joined->deep && loose_count != 0 ? tn_unify_match(firm, n, loose) : -1;

        if (at >= 0)
            TN_TRY(join_deep(cx, firm->children[n], loose->children[at], made.children[n]));
        else
            TN_TRY(tn_field_copy(cx, firm->children[n], made.children[n]));
        if (joined->has_text && n >= joined->given)
            made.children[n]->flags |= ARROW_FLAG_NULLABLE;
    }
    for (int64_t i = 0; i < loose_count; i++)
        if (firm_count == 0 || tn_unify_match(loose, i, firm) < 0)
            TN_TRY(copy_settled(cx, loose->children[i], made.children[n++]));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}
