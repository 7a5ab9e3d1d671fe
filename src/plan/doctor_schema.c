/* Schema drift: which columns differ from those of most files, and where.
 * I1: order and nullability are no drift: every reader that goes by name bears them.
 * I2: a column that some files lack is told, but is nothing to cure: no merge can give a partition
 *     a column that none of its files has, and readers by name see null.
 * I3: types are judged as `merge --widen` would leave them: what it joins has that as its cure,
 *     what would still differ afterwards needs another writing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "plan/plan_doctor.h"

#define SCHEMAS_MAX     64 /* bits of a mask */
#define DIFFERENCES_MAX 256
#define TOLD_MAX        4

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
        return tn_arena_print(cx, arena, out, "%s[%s%s]", logical[meaning],
                              unit == TN_MILLIS   ? "ms"
                              : unit == TN_MICROS ? "us"
                                                  : "ns",
                              e->logical == 0 || e->adjusted_to_utc ? ", UTC" : "");
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

/* The schemas of one partition's files, bit by bit: of those that a merge would join, and of those
 * that stay. Partitions of the same two masks are one entry. */
typedef struct mixture {
    uint64_t joined, staying;
} mixture;

typedef struct mixtures {
    mixture *items;
    size_t count;
} mixtures;

static void add_mixture(mixtures *all, mixture one)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].joined == one.joined && all->items[i].staying == one.staying)
            return;
    all->items[all->count++] = one;
}

static int mix_partition(tarn_cx *cx, const tn_dir_partition *partition,
                         const tn_merge_partition *merge, mixture *out)
{
    tn_map inputs = {0};
    bool added;
    int rc = TARN_OK;

    *out = (mixture){0};
    for (size_t i = 0; merge != NULL && i < merge->input_count; i++)
        if (tn_map_add(cx, &inputs, merge->inputs[i].path, &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < partition->file_count; i++) {
        const tn_dir_file *file = &partition->files[i];

        if (!file->footer_seen || file->schema >= SCHEMAS_MAX)
            continue;
        if (tn_map_find(&inputs, file->name) != NULL)
            out->joined |= 1ull << file->schema;
        else
            out->staying |= 1ull << file->schema;
    }
done:
    tn_map_clear(&inputs);
    return rc;
}

static int mix(tarn_cx *cx, const tn_dir *dir, const tn_merge_plan *merge, tn_arena *arena,
               mixtures *out)
{
    tn_map numbers = {0};
    bool added;
    int rc = TARN_OK;

    out->items = tn_arena_array(cx, arena, dir->partition_count + 1, sizeof *out->items);
    if (out->items == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < merge->partition_count; i++) {
        size_t *number = tn_map_add(cx, &numbers, merge->partitions[i].path, &added);

        if (number == NULL)
            TN_TRY(TARN_E_NOMEM);
        *number = i;
    }
    for (size_t p = 0; p < dir->partition_count; p++) {
        const size_t *at = tn_map_find(&numbers, dir->partitions[p].path);
        mixture one;

        TN_TRY(mix_partition(cx, &dir->partitions[p], at ? &merge->partitions[*at] : NULL, &one));
        add_mixture(out, one);
    }
done:
    tn_map_clear(&numbers);
    return rc;
}

static int rank_of(tn_str type, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (tn_str_is(type, names[i]))
            return i + 1;
    return 0;
}

static bool is_decimal(tn_str type, int *precision, int *scale)
{
    char text[48] = {0};

    memcpy(text, type.ptr, type.len < sizeof text - 1 ? type.len : sizeof text - 1);
    return sscanf(text, "decimal(%d,%d)", precision, scale) == 2;
}

/* The integer type of two that holds all values of the other; {0}: neither does, or one is none. */
static tn_str wider_integer(tn_str a, tn_str b)
{
    static const char *const is_signed[] = {"int8", "int16", "int32", "int64"};
    static const char *const is_unsigned[] = {"uint8", "uint16", "uint32", "uint64"};
    int sa = rank_of(a, is_signed, 4), sb = rank_of(b, is_signed, 4);
    int ua = rank_of(a, is_unsigned, 4), ub = rank_of(b, is_unsigned, 4);

    if ((sa != 0 && sb != 0) || (ua != 0 && ub != 0))
        return sa + ua > sb + ub ? a : b;
    if (sa > ub && ub != 0)
        return a;
    return sb > ua && ua != 0 ? b : (tn_str){0};
}

static tn_str wider_timestamp(tn_str a, tn_str b)
{
    static const char *const millis[] = {"timestamp[ms]", "timestamp[ms, UTC]"};
    static const char *const micros[] = {"timestamp[us]", "timestamp[us, UTC]"};
    int x = rank_of(a, millis, 2), y = rank_of(b, millis, 2);

    if (x != 0 && x == rank_of(b, micros, 2))
        return b;
    return y != 0 && y == rank_of(a, micros, 2) ? a : (tn_str){0};
}

/* The type that `merge --widen` gives two that differ; {0} when it leaves them apart. */
static tn_str wider(tn_str a, tn_str b)
{
    static const char *const reals[] = {"int8", "int16", "int32", "float", "double"};
    tn_str found;
    int p[2], s[2], x, y;

    if (tn_str_equal(a, b) || tn_str_is(b, "unknown"))
        return a;
    if (tn_str_is(a, "unknown"))
        return b;
    if (is_decimal(a, &p[0], &s[0]) && is_decimal(b, &p[1], &s[1]))
        return s[0] != s[1] ? (tn_str){0} : p[0] > p[1] ? a : b;
    found = wider_integer(a, b);
    if (found.len == 0)
        found = wider_timestamp(a, b);
    if (found.len != 0)
        return found;
    x = rank_of(a, reals, 5);
    y = rank_of(b, reals, 5);
    return x == 5 && y != 0 ? a : y == 5 && x != 0 ? b : (tn_str){0};
}

/* One way in which files differ from most. */
typedef struct difference {
    tn_str column, type, usual; /* type: of the column; "" where it is a matter of presence */
    bool extra;                 /* else missing */
    uint64_t files;
    tn_str first;
} difference;

typedef struct drift {
    const tn_dir *dir;
    usage *uses;
    leaves *schemas; /* as many as are compared */
    size_t schema_count, most;
    mixtures mixtures;
    difference *items;
    size_t count, left_out;
} drift;

static void add_difference(drift *d, difference one)
{
    for (size_t i = 0; i < d->count; i++) {
        difference *known = &d->items[i];

        if (tn_str_equal(known->column, one.column) && tn_str_equal(known->type, one.type) &&
            known->extra == one.extra) {
            known->files += one.files;
            return;
        }
    }
    if (d->count < DIFFERENCES_MAX)
        d->items[d->count++] = one;
    else
        d->left_out++;
}

static void compare(drift *d, size_t schema)
{
    const leaves *usual = &d->schemas[d->most], *other = &d->schemas[schema];
    difference one = {.files = d->uses[schema].files, .first = d->uses[schema].first};

    for (size_t i = 0; i < other->count; i++) {
        const size_t *at = tn_map_find(&usual->numbers, other->names[i]);

        one.column = other->names[i];
        one.extra = at == NULL;
        one.type = one.usual = (tn_str){0};
        if (at != NULL) {
            if (tn_str_equal(usual->types[*at], other->types[i]))
                continue;
            one.type = other->types[i];
            one.usual = usual->types[*at];
        }
        add_difference(d, one);
    }
    one.type = one.usual = (tn_str){0};
    one.extra = false;
    for (size_t i = 0; i < usual->count; i++) {
        one.column = usual->names[i];
        if (tn_map_find(&other->numbers, one.column) == NULL)
            add_difference(d, one);
    }
}

/* The one type that all schemas of a mask give a column: {0} with *apart when there is none, {0}
 * without when none has the column. */
static tn_str common_type(const drift *d, uint64_t mask, tn_str column, bool *apart)
{
    tn_str common = {0};

    *apart = false;
    for (size_t i = 0; i < d->schema_count; i++) {
        const size_t *at = mask >> i & 1 ? tn_map_find(&d->schemas[i].numbers, column) : NULL;

        if (at == NULL)
            continue;
        common =
            common.len == 0 ? d->schemas[i].types[*at] : wider(common, d->schemas[i].types[*at]);
        *apart = common.len == 0;
        if (*apart)
            break;
    }
    return common;
}

/* True when every file has one type for a column once the merge has joined what it joins. */
static bool merge_settles(const drift *d, tn_str column)
{
    tn_str all = {0};

    for (size_t m = 0; m < d->mixtures.count; m++) {
        bool apart;
        tn_str type = common_type(d, d->mixtures.items[m].joined, column, &apart);

        for (size_t i = 0; !apart && i <= d->schema_count; i++) {
            if (i < d->schema_count) {
                const size_t *at = d->mixtures.items[m].staying >> i & 1
                                       ? tn_map_find(&d->schemas[i].numbers, column)
                                       : NULL;

                if (at == NULL)
                    continue;
                apart = all.len != 0 && !tn_str_equal(all, d->schemas[i].types[*at]);
                all = d->schemas[i].types[*at];
            } else if (type.len != 0) {
                apart = all.len != 0 && !tn_str_equal(all, type);
                all = type;
            }
        }
        if (apart)
            return false;
    }
    return true;
}

typedef struct telling {
    tn_buf text;
    size_t told, all;
} telling;

static void tell(telling *t, const difference *one)
{
    if (t->all++ >= TOLD_MAX)
        return;
    tn_buf_print(&t->text, "%s%.*s is ", t->told++ > 0 ? "; " : "", TN_STR_ARG(one->column));
    if (one->type.len != 0)
        tn_buf_print(&t->text, "%.*s, not %.*s,", TN_STR_ARG(one->type), TN_STR_ARG(one->usual));
    else
        tn_buf_text(&t->text, one->extra ? "extra" : "missing");
    tn_buf_print(&t->text, " in %llu file%s (%.*s)", (unsigned long long)one->files,
                 one->files == 1 ? "" : "s", TN_STR_ARG(one->first));
}

static int keep(tarn_cx *cx, tn_arena *arena, telling *t, tn_str *out)
{
    int rc = TARN_OK;

    if (t->all > t->told)
        tn_buf_print(&t->text, "; … %zu more", t->all - t->told);
    TN_TRY(tn_buf_check(cx, &t->text));
    if (t->all > 0) {
        *out = tn_buf_view(&t->text);
        TN_TRY(tn_arena_keep(cx, arena, out));
    }
done:
    return rc;
}

/* The sentences on what was found. A column of which no file has values yet ("unknown") is told
 * with the columns that come and go. */
static int tell_all(tarn_cx *cx, const drift *d, tn_arena *arena, tn_doctor_drift *out)
{
    telling columns = {0}, widened = {0}, types = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < d->count; i++) {
        const difference *one = &d->items[i];

        if (one->type.len == 0 || tn_str_is(one->type, "unknown") ||
            tn_str_is(one->usual, "unknown"))
            tell(&columns, one);
        else
            tell(merge_settles(d, one->column) ? &widened : &types, one);
    }
    columns.all += d->left_out;
    TN_TRY(keep(cx, arena, &columns, &out->columns));
    TN_TRY(keep(cx, arena, &widened, &out->widened));
    TN_TRY(keep(cx, arena, &types, &out->types));
done:
    tn_buf_clear(&columns.text);
    tn_buf_clear(&widened.text);
    tn_buf_clear(&types.text);
    return rc;
}

int tn_doctor_find_drift(tarn_cx *cx, const tn_dir *dir, const tn_merge_plan *merge,
                         tn_arena *arena, tn_doctor_drift *out)
{
    drift d = {.dir = dir};
    int rc = TARN_OK;

    *out = (tn_doctor_drift){0};
    if (dir->schema_count < 2)
        return TARN_OK;
    d.schema_count = dir->schema_count < SCHEMAS_MAX ? dir->schema_count : SCHEMAS_MAX;
    d.uses = tn_arena_array(cx, arena, dir->schema_count, sizeof *d.uses);
    d.schemas = tn_arena_array(cx, arena, d.schema_count, sizeof *d.schemas);
    d.items = tn_arena_array(cx, arena, DIFFERENCES_MAX, sizeof *d.items);
    if (d.uses == NULL || d.schemas == NULL || d.items == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(count_files(cx, dir, arena, d.uses));
    TN_TRY(mix(cx, dir, merge, arena, &d.mixtures));
    for (size_t i = 0; i < d.schema_count; i++) {
        d.most = d.uses[i].files > d.uses[d.most].files ? i : d.most;
        TN_TRY(read_leaves(cx, arena, &dir->schemas[i], &d.schemas[i]));
    }
    for (size_t i = 0; i < d.schema_count; i++)
        if (i != d.most && d.uses[i].files > 0)
            compare(&d, i);
    TN_TRY(tell_all(cx, &d, arena, out));
done:
    for (size_t i = 0; d.schemas != NULL && i < d.schema_count; i++)
        tn_map_clear(&d.schemas[i].numbers);
    return rc;
}
