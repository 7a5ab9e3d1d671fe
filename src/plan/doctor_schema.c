/* Schema drift: which columns differ from those of most files, and where.
 * I1: order and nullability are no drift: every reader that goes by name bears them. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "plan/plan_doctor.h"

#define SCHEMAS_MAX 64
#define TOLD_MAX    4

/* The leaves of a schema: dotted name to number, and a key of their type. */
typedef struct leaves {
    tn_map numbers;
    tn_str *names, *types;
    size_t count;
} leaves;

static int add_type(tarn_cx *cx, tn_arena *arena, const tn_element *e, tn_str *out)
{
    static const char *const physical[] = {"boolean", "int32",  "int64",  "int96",
                                           "float",   "double", "binary", "fixed"};
    static const char *const logical[] = {
        "",          "string", "map",     "list",    "enum", "decimal", "date", "time",
        "timestamp", "",       "integer", "unknown", "json", "bson",    "uuid", "float16"};
    /* The older annotations, as the newer ones that mean the same. */
    static const int8_t newer[] = {1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 8};
    int32_t meaning = e->logical;
    int32_t unit = e->unit;

    if (meaning == 0 && e->converted >= 0 && e->converted < 11) {
        meaning = newer[e->converted];
        unit = e->converted == TN_TIME_MILLIS || e->converted == TN_TIMESTAMP_MILLIS ? TN_MILLIS
                                                                                     : TN_MICROS;
    }
    if (meaning == TN_LOGICAL_DECIMAL)
        return tn_arena_print(cx, arena, out, "decimal(%d,%d)", (int)e->precision, (int)e->scale);
    if (meaning == TN_LOGICAL_TIME || meaning == TN_LOGICAL_TIMESTAMP)
        return tn_arena_print(cx, arena, out, "%s[%s]", logical[meaning],
                              unit == TN_MILLIS   ? "ms"
                              : unit == TN_MICROS ? "us"
                                                  : "ns");
    if (meaning == TN_LOGICAL_INTEGER)
        return tn_arena_print(cx, arena, out, "%sint%d", e->is_signed ? "" : "u",
                              (int)e->bit_width);
    if (meaning > 0 && meaning < 16)
        return tn_arena_print(cx, arena, out, "%s", logical[meaning]);
    return tn_arena_print(cx, arena, out, "%s", physical[e->physical & 7]);
}

static int add_leaf(tarn_cx *cx, tn_arena *arena, leaves *l, const tn_element *e, tn_str parent)
{
    bool added;
    size_t *number;
    int rc = TARN_OK;

    if (parent.len == 0)
        l->names[l->count] = e->name;
    else
        TN_TRY(tn_arena_print(cx, arena, &l->names[l->count], "%.*s.%.*s", TN_STR_ARG(parent),
                              TN_STR_ARG(e->name)));
    TN_TRY(add_type(cx, arena, e, &l->types[l->count]));
    number = tn_map_add(cx, &l->numbers, l->names[l->count], &added);
    if (number == NULL)
        return TARN_E_NOMEM;
    if (added)
        *number = l->count++;
done:
    return rc;
}

static int read_leaves(tarn_cx *cx, tn_arena *arena, const tn_dir_schema *schema, leaves *l)
{
    struct {
        tn_str name;
        int32_t left;
    } open[TN_PARQUET_DEPTH_MAX + 1];
    size_t depth = 0;
    int rc = TARN_OK;

    l->names = tn_arena_array(cx, arena, schema->element_count, sizeof(tn_str));
    l->types = tn_arena_array(cx, arena, schema->element_count, sizeof(tn_str));
    if (l->names == NULL || l->types == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 1; i < schema->element_count; i++) {
        const tn_element *e = &schema->elements[i];
        tn_str parent = depth > 0 ? open[depth - 1].name : (tn_str){0};

        if (!e->group) {
            TN_TRY(add_leaf(cx, arena, l, e, parent));
        } else if (depth < TN_PARQUET_DEPTH_MAX) {
            open[depth].name = e->name;
            if (parent.len != 0)
                TN_TRY(tn_arena_print(cx, arena, &open[depth].name, "%.*s.%.*s", TN_STR_ARG(parent),
                                      TN_STR_ARG(e->name)));
            open[depth++].left = e->children + 1;
        }
        while (depth > 0 && --open[depth - 1].left == 0)
            depth--;
    }
done:
    return rc;
}

/* How many files have each schema, and the first of them. */
typedef struct usage {
    uint64_t files;
    tn_str first; /* below the root */
} usage;

static int count_files(tarn_cx *cx, const tn_dir *dir, tn_arena *arena, usage *uses)
{
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++) {
        const tn_dir_partition *partition = &dir->partitions[p];

        for (size_t i = 0; i < partition->file_count; i++) {
            const tn_dir_file *file = &partition->files[i];

            if (!file->footer_seen || uses[file->schema].files++ > 0)
                continue;
            uses[file->schema].first = file->name;
            if (partition->path.len != 0)
                TN_TRY(tn_path_join(cx, arena, partition->path, file->name,
                                    &uses[file->schema].first));
        }
    }
done:
    return rc;
}

typedef struct telling {
    tn_buf text;
    size_t told, all;
    bool conflict;
} telling;

static void tell(telling *t, const usage *use, tn_str column, const char *how, tn_str type,
                 tn_str usual)
{
    t->all++;
    if (t->told >= TOLD_MAX)
        return;
    tn_buf_print(&t->text, "%s%.*s %s", t->told > 0 ? "; " : "", TN_STR_ARG(column), how);
    if (type.len != 0)
        tn_buf_print(&t->text, " %.*s, not %.*s,", TN_STR_ARG(type), TN_STR_ARG(usual));
    tn_buf_print(&t->text, " in %llu file%s (%.*s)", (unsigned long long)use->files,
                 use->files == 1 ? "" : "s", TN_STR_ARG(use->first));
    t->told++;
}

static bool widens(tn_str a, tn_str b)
{
    static const char *const pairs[][2] = {
        {"int32", "int64"}, {"int32", "double"}, {"float", "double"}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if ((tn_str_is(a, pairs[i][0]) && tn_str_is(b, pairs[i][1])) ||
            (tn_str_is(b, pairs[i][0]) && tn_str_is(a, pairs[i][1])))
            return true;
    return false;
}

static void compare(telling *t, const usage *use, const leaves *usual, const leaves *other)
{
    for (size_t i = 0; i < other->count; i++) {
        const size_t *at = tn_map_find(&usual->numbers, other->names[i]);

        if (at == NULL) {
            tell(t, use, other->names[i], "is extra", (tn_str){0}, (tn_str){0});
        } else if (!tn_str_equal(usual->types[*at], other->types[i])) {
            tell(t, use, other->names[i], "is", other->types[i], usual->types[*at]);
            t->conflict = t->conflict || !widens(usual->types[*at], other->types[i]);
        }
    }
    for (size_t i = 0; i < usual->count; i++)
        if (tn_map_find(&other->numbers, usual->names[i]) == NULL)
            tell(t, use, usual->names[i], "is missing", (tn_str){0}, (tn_str){0});
}

int tn_doctor_drift(tarn_cx *cx, const tn_dir *dir, tn_arena *arena, tn_str *evidence,
                    bool *conflict)
{
    usage *uses = tn_arena_array(cx, arena, dir->schema_count + 1, sizeof *uses);
    leaves usual = {0}, other = {0};
    telling t = {0};
    size_t most = 0;
    int rc = TARN_OK;

    *evidence = (tn_str){0};
    *conflict = false;
    if (uses == NULL)
        return TARN_E_NOMEM;
    if (dir->schema_count < 2)
        return TARN_OK;
    TN_TRY(count_files(cx, dir, arena, uses));
    for (size_t i = 1; i < dir->schema_count; i++)
        most = uses[i].files > uses[most].files ? i : most;
    TN_TRY(read_leaves(cx, arena, &dir->schemas[most], &usual));
    for (size_t i = 0; i < dir->schema_count && i < SCHEMAS_MAX; i++) {
        if (i == most)
            continue;
        tn_map_clear(&other.numbers);
        other = (leaves){0};
        TN_TRY(read_leaves(cx, arena, &dir->schemas[i], &other));
        compare(&t, &uses[i], &usual, &other);
    }
    if (t.all > t.told)
        tn_buf_print(&t.text, "; … %zu more", t.all - t.told);
    TN_TRY(tn_buf_check(cx, &t.text));
    if (t.all > 0) {
        *evidence = tn_buf_view(&t.text);
        TN_TRY(tn_arena_keep(cx, arena, evidence));
    }
    *conflict = t.conflict;
done:
    tn_map_clear(&usual.numbers);
    tn_map_clear(&other.numbers);
    tn_buf_clear(&t.text);
    return rc;
}
