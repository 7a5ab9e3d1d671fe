/* Partition columns from paths.
 * I1: a type depends on all partitions of the directory, never on the filter. */
#include "plan/plan_scan.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "plan/scan_values.h"

typedef struct keys {
    tn_arena arena;
    tn_map numbers;
    tn_scan_values *columns;
    size_t count, cap;
} keys;

static int add_column(tarn_cx *cx, keys *k, tn_str name, size_t partitions, size_t *out)
{
    bool added;
    size_t *number = tn_map_add(cx, &k->numbers, name, &added);

    if (number == NULL)
        return TARN_E_NOMEM;
    if (!added) {
        *out = *number;
        return TARN_OK;
    }
    if (tn_grow(cx, &k->columns, k->count, &k->cap, sizeof *k->columns) != TARN_OK)
        return TARN_E_NOMEM;
    *number = k->count;
    k->columns[k->count] = (tn_scan_values){.name = name, .type = TN_PART_TEXT};
    k->columns[k->count].values = tn_arena_array(cx, &k->arena, partitions, sizeof(tn_str));
    if (k->columns[k->count].values == NULL)
        return TARN_E_NOMEM;
    *out = k->count++;
    return TARN_OK;
}

static int collect(tarn_cx *cx, const tn_dir *dir, keys *k)
{
    int rc = TARN_OK;

    for (size_t p = 0; p < dir->partition_count; p++) {
        tn_partition_value *values = NULL;
        size_t count = 0;

        if (dir->partitions[p].file_count == 0)
            continue;
        TN_TRY(tn_partition_parse(cx, &k->arena, dir->partitions[p].path, &values, &count));
        for (size_t i = 0; i < count; i++) {
            size_t column;

            TN_TRY(add_column(cx, k, values[i].name, dir->partition_count, &column));
            k->columns[column].values[p] = values[i].value;
        }
    }
    for (size_t c = 0; c < k->count; c++)
        k->columns[c].type = tn_partition_infer(k->columns[c].values, dir->partition_count);
done:
    return rc;
}

static const struct {
    const char *name;
    enum tn_partition_type type;
} type_names[] = {{"int", TN_PART_INT64},   {"bigint", TN_PART_INT64},
                  {"long", TN_PART_INT64},  {"double", TN_PART_DOUBLE},
                  {"date", TN_PART_DATE},   {"timestamp", TN_PART_TIMESTAMP},
                  {"bool", TN_PART_BOOL},   {"boolean", TN_PART_BOOL},
                  {"string", TN_PART_TEXT}, {"text", TN_PART_TEXT}};

static tn_str trimmed(tn_str text)
{
    while (text.len > 0 && isspace((unsigned char)text.ptr[0]))
        text = tn_str_from(text, 1);
    while (text.len > 0 && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* One "column=type" of the list. */
static int apply_type(tarn_cx *cx, keys *k, tn_str item)
{
    size_t equals = tn_str_find(item, '='), type = 0;
    tn_str name = trimmed((tn_str){item.ptr, equals}),
           word = trimmed(tn_str_from(item, equals + 1));
    size_t *number = tn_map_find(&k->numbers, name);

    if (equals == item.len)
        return tn_fail(cx, TARN_E_INVALID,
                       "partition types: \"%.*s\" is not of the form column=type",
                       TN_STR_ARG(item));
    while (type < sizeof type_names / sizeof type_names[0] &&
           !tn_str_is(word, type_names[type].name))
        type++;
    if (type == sizeof type_names / sizeof type_names[0])
        return tn_fail(cx, TARN_E_INVALID,
                       "partition types: \"%.*s\" is not a type; there are int, double, date, "
                       "timestamp, bool and string",
                       TN_STR_ARG(word));
    if (number == NULL)
        return tn_fail(cx, TARN_E_INVALID,
                       "partition types: no directory has a partition column \"%.*s\"",
                       TN_STR_ARG(name));
    k->columns[*number].type = type_names[type].type;
    return TARN_OK;
}

static int apply_types(tarn_cx *cx, keys *k, tn_str types)
{
    int rc = TARN_OK;

    while (types.len > 0) {
        size_t end = tn_str_find(types, ',');
        tn_str item = trimmed((tn_str){types.ptr, end});

        if (item.len > 0)
            TN_TRY(apply_type(cx, k, item));
        types = tn_str_from(types, end + 1);
    }
done:
    return rc;
}

int tn_plan_scan_partitions(tarn_cx *cx, const tn_dir *dir, tn_str types,
                            struct ArrowSchema *schema, struct ArrowArray *values)
{
    tn_str *paths;
    keys k = {0};
    int rc = TARN_OK;

    assert(schema != NULL && values != NULL);
    TN_TRY(collect(cx, dir, &k));
    TN_TRY(apply_types(cx, &k, types));
    paths = tn_arena_array(cx, &k.arena, dir->partition_count, sizeof *paths);
    if (paths == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < dir->partition_count; i++)
        paths[i] = dir->partitions[i].path;
    TN_TRY(
        tn_scan_values_make(cx, k.columns, k.count, paths, dir->partition_count, schema, values));
done:
    tn_map_clear(&k.numbers);
    free(k.columns);
    tn_arena_clear(&k.arena);
    return rc;
}

void tn_plan_scan_drop(tn_dir *dir, const uint8_t *keep, int64_t *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < dir->partition_count; i++) {
        if (keep[i] == 0)
            continue;
        rows[n] = rows[i];
        dir->partitions[n++] = dir->partitions[i];
    }
    dir->partition_count = n;
}
