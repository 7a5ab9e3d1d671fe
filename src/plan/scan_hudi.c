/* Partition columns of a Hudi table from the paths of its partitions.
 *
 * I1: paths only rule partitions out; the values of rows come from the files, where those have the
 *     column: a key generator may have formatted, cut or moved what stands in the path.
 * I2: a path with another number of levels than there are partition fields tells nothing. */
#include "plan/scan_hudi.h"

#include <assert.h>
#include <string.h>

#include "batch/array.h"
#include "batch/field.h"
#include "plan/scan_values.h"
#include "table/hudi_schema.h"

#define TN_DEFAULT_PARTITION     "__HIVE_DEFAULT_PARTITION__"
#define TN_OLD_DEFAULT_PARTITION "default"

typedef struct planning {
    const tn_hudi_config *config;
    const tn_slices *slices;
    const struct ArrowSchema *columns;
    bool dropped;
    tn_arena *arena;
    uint8_t *unsure;
} planning;

void tn_scan_hudi_clear(tn_scan_hudi *scan)
{
    tn_field_release(&scan->schema);
    tn_array_release(&scan->values);
    tn_field_release(&scan->given_schema);
    tn_array_release(&scan->given_values);
}

/* The level that is field `f`'s: of one field the whole path, whose value may hold a "/". */
static bool split_level(tn_str path, size_t f, size_t fields, tn_str *out)
{
    size_t levels = 1, at = 0;

    *out = path;
    if (fields == 1)
        return path.len != 0;
    for (size_t i = 0; i < path.len; i++)
        levels += path.ptr[i] == '/';
    if (levels != fields)
        return false;
    for (tn_str rest = path; at <= f; at++) {
        size_t end = tn_str_find(rest, '/');

        *out = (tn_str){rest.ptr, end};
        rest = tn_str_from(rest, end + 1);
    }
    return out->len != 0;
}

/* The text of field `f` in a path; false: the path is of another shape. */
static bool level_of(const planning *p, tn_str path, size_t f, tn_str *out)
{
    const tn_hudi_config *config = p->config;
    tn_str name = config->partitions[f], level;

    if (!split_level(path, f, config->partition_count, &level))
        return false;
    if (config->hive_style) {
        if (level.len <= name.len || !tn_str_starts(level, name) || level.ptr[name.len] != '=')
            return false;
        level = tn_str_from(level, name.len + 1);
    }
    *out = level;
    return true;
}

/* The type whose values have one spelling in paths; false: none. */
static bool told_type(const planning *p, tn_str name, enum tn_partition_type *out)
{
    for (int64_t i = 0; i < p->columns->n_children; i++) {
        const struct ArrowSchema *column = p->columns->children[i];

        if (!tn_str_is(name, column->name))
            continue;
        if (strcmp(column->format, "u") == 0)
            *out = TN_PART_TEXT;
        else if (strcmp(column->format, "i") == 0 || strcmp(column->format, "l") == 0)
            *out = TN_PART_INT64;
        else if (strcmp(column->format, "tdD") == 0)
            *out = TN_PART_DATE;
        else if (strcmp(column->format, "b") == 0)
            *out = TN_PART_BOOL;
        else
            return false;
        return true;
    }
    return false;
}

/* Tables of version 2 do not say how their paths are made. */
static bool says_how(const tn_hudi_config *config)
{
    return config->version > 2 ||
           tn_properties_get(&config->all, "hoodie.datasource.write.hive_style_partitioning").len !=
               0;
}

static bool as_it_is(const tn_hudi_config *config, size_t f)
{
    if (!says_how(config))
        return false;
    switch (config->keygen) {
    case TN_KEYGEN_SIMPLE:
    case TN_KEYGEN_COMPLEX:
        return !config->slash_dates;
    case TN_KEYGEN_CUSTOM:
        return !config->slash_dates && !config->partition_is_time[f];
    default:
        return false;
    }
}

/* Values of field `f`; *told false: they are not what the column has. */
static int read_field(tarn_cx *cx, const planning *p, size_t f, tn_scan_values *out, bool *told)
{
    size_t count = p->slices->partition_count;
    enum tn_partition_type found;
    int rc = TARN_OK;

    out->name = p->config->partitions[f];
    *told = told_type(p, out->name, &out->type) && as_it_is(p->config, f);
    if (!*told && !p->dropped)
        return TARN_OK;
    out->values = tn_arena_array(cx, p->arena, count, sizeof *out->values);
    if (out->values == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        tn_str text;

        if (!level_of(p, p->slices->partitions[i], f, &text)) {
            if (p->dropped)
                TN_FAIL(TARN_E_UNSUPPORTED,
                        "partition \"%.*s\": its path does not tell the value of column "
                        "\"%.*s\", which the files lack",
                        TN_STR_ARG(p->slices->partitions[i]), TN_STR_ARG(out->name));
            p->unsure[i] = 1;
            continue;
        }
        /* Null and the empty text have one path, below version 6 another one. */
        if (tn_str_is(text, TN_DEFAULT_PARTITION) ||
            (p->config->version < 6 && tn_str_is(text, TN_OLD_DEFAULT_PARTITION))) {
            p->unsure[i] |= !p->dropped && out->type == TN_PART_TEXT;
            continue;
        }
        if (p->config->url_encode)
            TN_TRY(tn_partition_decode(cx, p->arena, text, &text));
        out->values[i] = text;
    }
    found = tn_partition_infer(out->values, count);
    if (!*told || (out->type != TN_PART_TEXT && out->type != found)) {
        out->type = found;
        *told = p->dropped;
    }
done:
    return rc;
}

/* Null meta columns, and behind them the partition columns `told`, if the files lack those. */
static int make_given(tarn_cx *cx, const planning *p, const tn_scan_values *told, size_t told_count,
                      tn_scan_hudi *out)
{
    size_t meta = p->config->meta_fields ? 0 : 5, own = p->dropped ? told_count : 0;
    size_t rows = p->slices->partition_count;
    tn_scan_values *given = tn_arena_array(cx, p->arena, meta + own, sizeof *given);

    if (given == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < meta; i++) {
        given[i] = (tn_scan_values){.name = tn_str_of(tn_hudi_meta_names[i]), .type = TN_PART_TEXT};
        given[i].values = tn_arena_array(cx, p->arena, rows, sizeof(tn_str));
        if (given[i].values == NULL)
            return TARN_E_NOMEM;
    }
    for (size_t i = 0; i < own; i++)
        given[meta + i] = told[i];
    return tn_scan_values_make(cx, given, meta + own, p->slices->partitions, rows,
                               &out->given_schema, &out->given_values);
}

int tn_scan_hudi_partitions(tarn_cx *cx, const tn_hudi_config *config, const tn_slices *slices,
                            const struct ArrowSchema *columns, tn_arena *arena, tn_scan_hudi *out)
{
    planning p = {config, slices, columns, config->drop_partition_columns, arena, NULL};
    tn_scan_values *values = tn_arena_array(cx, arena, config->partition_count, sizeof *values);
    tn_scan_hudi made = {0};
    size_t count = 0;
    int rc = TARN_OK;

    assert(out != NULL);
    p.unsure = made.unsure = tn_arena_take(cx, arena, slices->partition_count);
    if (values == NULL || made.unsure == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t f = 0; f < config->partition_count; f++) {
        bool told;

        TN_TRY(read_field(cx, &p, f, &values[count], &told));
        count += told;
    }
    TN_TRY(tn_scan_values_make(cx, values, count, slices->partitions, slices->partition_count,
                               &made.schema, &made.values));
    TN_TRY(make_given(cx, &p, values, count, &made));
    *out = made;
    made = (tn_scan_hudi){0};
done:
    tn_scan_hudi_clear(&made);
    return rc;
}
