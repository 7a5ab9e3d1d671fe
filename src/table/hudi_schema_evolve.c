/* What a table's columns become when rows with other columns are written
 * (AvroSchemaEvolutionUtils, AvroSchemaCompatibility).
 *
 * I1: a column of the table stays where it is, under its name; new ones follow, and may be null.
 * I2: types only widen, and only along int -> long -> float -> double -> string. Rows whose type is
 *     the narrower one are cast to the table's, text apart: numbers are never turned into text
 *     because the table has text.
 * I3: structs are matched by name at every depth, items of lists and values of maps alike. */
#include <assert.h>

#include "batch/field.h"
#include "batch/type.h"
#include "table/hudi_schema.h"

#define TN_EVOLVE_DEPTH_MAX 64

/* The place in the order of widening; 0: none. */
static int width_of(const tn_type *type)
{
    switch (type->kind) {
    case TN_TYPE_INT32:
        return 1;
    case TN_TYPE_INT64:
        return 2;
    case TN_TYPE_FLOAT:
        return 3;
    case TN_TYPE_DOUBLE:
        return 4;
    case TN_TYPE_UTF8:
        return 5;
    default:
        return 0;
    }
}

static bool is_number(const tn_type *type)
{
    return width_of(type) >= 1 && width_of(type) <= 4;
}

/* Values of `rows` are values of `table`, too: as they are, or with a cast that loses nothing. */
static bool holds(const tn_type *table, const tn_type *rows)
{
    if (tn_type_equal(table, rows))
        return true;
    if (is_number(table) && is_number(rows))
        return width_of(rows) <= width_of(table);
    if (table->kind == TN_TYPE_DECIMAL && rows->kind == TN_TYPE_DECIMAL)
        return table->scale == rows->scale && table->precision >= rows->precision;
    if (table->kind == TN_TYPE_TIMESTAMP && rows->kind == TN_TYPE_TIMESTAMP)
        return (table->zone.len != 0) == (rows->zone.len != 0) &&
               table->unit_digits >= rows->unit_digits;
    return rows->kind == TN_TYPE_NULL;
}

static int refuse(tarn_cx *cx, tn_str path, const struct ArrowSchema *table,
                  const struct ArrowSchema *rows)
{
    tn_buf have = {0}, get = {0};
    int rc = TARN_OK;

    tn_type_print(&have, table);
    tn_type_print(&get, rows);
    TN_TRY(tn_buf_check(cx, &have));
    TN_TRY(tn_buf_check(cx, &get));
    rc = tn_fail(cx, TARN_E_UNSUPPORTED,
                 "column %.*s: the table has %.*s, the rows have %.*s, and no value of the one is "
                 "sure to be one of the other: cast the rows",
                 TN_STR_ARG(path), TN_STR_ARG(tn_buf_view(&have)), TN_STR_ARG(tn_buf_view(&get)));
done:
    tn_buf_clear(&have);
    tn_buf_clear(&get);
    return rc;
}

static const struct ArrowSchema *child_named(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0)
            return schema->children[i];
    return NULL;
}

typedef struct evolving {
    tn_arena *arena; /* of paths */
    bool *changed;
    unsigned depth;
} evolving;

static int evolve_fields(tarn_cx *cx, const evolving *e, tn_str path,
                         const struct ArrowSchema *table, const struct ArrowSchema *rows,
                         struct ArrowSchema *out);

/* The same name and flags as `like`, `format` and room for children. */
static int start_field(tarn_cx *cx, const struct ArrowSchema *like, const char *format,
                       int64_t children, struct ArrowSchema *out)
{
    int rc = tn_field_init(cx, out, format, tn_str_of(like->name), tn_field_nullable(like),
                           (size_t)children);

    if (rc == TARN_OK)
        out->flags |= like->flags & ARROW_FLAG_MAP_KEYS_SORTED;
    return rc;
}

static int evolve_field(tarn_cx *cx, const evolving *above, tn_str path,
                        const struct ArrowSchema *table, const struct ArrowSchema *rows,
                        struct ArrowSchema *out)
{
    evolving e = *above;
    tn_type have, get;
    int rc = TARN_OK;

    if (++e.depth > TN_EVOLVE_DEPTH_MAX)
        TN_FAIL(TARN_E_LIMIT, "column %.*s: nested more than %d deep", TN_STR_ARG(path),
                TN_EVOLVE_DEPTH_MAX);
    TN_TRY(tn_type_of(cx, table, &have));
    TN_TRY(tn_type_of(cx, rows, &get));
    if (get.kind != TN_TYPE_NULL && have.kind == get.kind && table->n_children != 0) {
        TN_TRY(evolve_fields(cx, &e, path, table, rows, out));
    } else if (holds(&have, &get)) {
        TN_TRY(tn_field_copy(cx, table, out));
    } else if (is_number(&have) && width_of(&get) > width_of(&have)) {
        *e.changed = true;
        TN_TRY(start_field(cx, table, rows->format, 0, out));
    } else {
        TN_TRY(refuse(cx, path, table, rows));
    }
done:
    return rc;
}

static int missing_field(tarn_cx *cx, tn_str path, const struct ArrowSchema *table,
                         struct ArrowSchema *out)
{
    if (!tn_field_nullable(table))
        return tn_fail(cx, TARN_E_DATA,
                       "column %.*s: the rows lack it, and the table allows no nulls in it: put "
                       "it in",
                       TN_STR_ARG(path));
    return tn_field_copy(cx, table, out);
}

static int join_path(tarn_cx *cx, const evolving *e, tn_str path, const char *name, tn_str *out)
{
    return tn_arena_print(cx, e->arena, out, "%.*s%s%s", TN_STR_ARG(path), path.len != 0 ? "." : "",
                          name);
}

/* Children by name; those of lists and maps, which are not structs, by place. */
static int evolve_fields(tarn_cx *cx, const evolving *e, tn_str path,
                         const struct ArrowSchema *table, const struct ArrowSchema *rows,
                         struct ArrowSchema *out)
{
    bool named = strcmp(table->format, "+s") == 0;
    struct ArrowSchema made = {0};
    int64_t n = table->n_children, added = 0;
    tn_str below;
    int rc = TARN_OK;

    for (int64_t i = 0; named && i < rows->n_children; i++)
        added += child_named(table, rows->children[i]->name) == NULL;
    if (!named && rows->n_children != n)
        TN_TRY(refuse(cx, path, table, rows));
    TN_TRY(start_field(cx, table, table->format, n + added, &made));
    for (int64_t i = 0; i < n; i++) {
        const struct ArrowSchema *field = table->children[i];
        const struct ArrowSchema *source =
            named ? child_named(rows, field->name) : rows->children[i];

        TN_TRY(join_path(cx, e, path, field->name, &below));
        if (source == NULL)
            TN_TRY(missing_field(cx, below, field, made.children[i]));
        else
            TN_TRY(evolve_field(cx, e, below, field, source, made.children[i]));
        if (named && source != NULL && tn_field_nullable(source) && !tn_field_nullable(field)) {
            made.children[i]->flags |= ARROW_FLAG_NULLABLE;
            *e->changed = true;
        }
    }
    for (int64_t i = 0; added != 0 && i < rows->n_children; i++) {
        if (child_named(table, rows->children[i]->name) != NULL)
            continue;
        TN_TRY(tn_field_copy(cx, rows->children[i], made.children[n]));
        made.children[n++]->flags |= ARROW_FLAG_NULLABLE;
        *e->changed = true;
    }
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

int tn_hudi_schema_evolve(tarn_cx *cx, const struct ArrowSchema *table,
                          const struct ArrowSchema *rows, bool *changed, struct ArrowSchema *out)
{
    tn_arena arena = {0};
    bool differs = false;
    evolving e = {&arena, &differs, 0};
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    assert(changed != NULL && out != NULL);
    TN_TRY(evolve_fields(cx, &e, TN_STR(""), table, rows, &made));
    tn_field_move(&made, out);
    *changed = differs;
done:
    tn_field_release(&made);
    tn_arena_clear(&arena);
    return rc;
}
