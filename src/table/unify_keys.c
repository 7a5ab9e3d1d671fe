/* Footer keys of a merged file.
 * I1: a key that describes the schema survives only if it describes the merged file, too.
 * I2: what Spark reads old dates by (version and legacy marks) is taken as one unit from one file.
 */
#include "base/map.h"
#include "table/unify.h"
#include "table/unify_leaf.h"

#define ORIGINAL_BY    "original.created.by"
#define TN_WRITERS_MAX 4096 /* bytes of original.created.by */

static const char *const describing[] = {"ARROW:schema",
                                         "org.apache.spark.sql.parquet.row.metadata",
                                         "pandas",
                                         "parquet.avro.schema",
                                         "avro.schema",
                                         "iceberg.schema",
                                         "parquet.proto.descriptor",
                                         "geo",
                                         NULL};
static const char *const spark_unit[] = {TN_CALENDAR_SPARK_VERSION, TN_CALENDAR_SPARK_DATES,
                                         TN_CALENDAR_SPARK_INT96, TN_CALENDAR_SPARK_ZONE, NULL};

static bool among(tn_str key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (tn_str_is(key, *names))
            return true;
    return false;
}

static const tn_key_value *find(const tn_dir_keys *keys, tn_str key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (tn_str_equal(keys->values[i].key, key))
            return &keys->values[i];
    return NULL;
}

tn_calendars tn_unify_calendars(const tn_dir_keys *keys, tn_str created_by)
{
    return tn_calendar_of(keys->values, keys->count, created_by);
}

static bool calendar_agrees(enum tn_calendar a, enum tn_calendar b, tn_str zone_a, tn_str zone_b)
{
    return a == b && (a != TN_CALENDAR_HYBRID || tn_str_equal(zone_a, zone_b));
}

bool tn_unify_calendars_agree(const tn_dir_schema *schema, const tn_calendars *a,
                              const tn_calendars *b)
{
    for (size_t i = 0; i < schema->element_count; i++) {
        const tn_element *e = &schema->elements[i];
        int32_t kind = tn_unify_meaning(e).kind;

        if (e->group)
            continue;
        if (e->physical == TN_INT96 && !calendar_agrees(a->int96, b->int96, a->zone, b->zone))
            return false;
        if ((kind == TN_LOGICAL_DATE || kind == TN_LOGICAL_TIMESTAMP) &&
            !calendar_agrees(a->dates, b->dates, a->zone, b->zone))
            return false;
    }
    return true;
}

typedef struct gather {
    tn_arena *arena;
    const tn_dir_keys *const *inputs;
    const tn_str *created_by;
    size_t count;
    const tn_unified *unified;
    size_t unit_from; /* the input whose Spark unit is kept; count: none */
    tn_unify_keys out;
} gather;

static int note(tarn_cx *cx, gather *g, tn_str key, const char *what)
{
    return tn_arena_print(cx, g->arena, &g->out.notes[g->out.note_count++],
                          "footer key \"%.*s\": %s", TN_STR_ARG(key), what);
}

/* Arrow's types for the merged file; false where they cannot be made. */
static int gather_arrow(tarn_cx *cx, gather *g, bool *made)
{
    tn_str *values = tn_arena_array(cx, g->arena, g->count, sizeof *values), value;
    int rc = TARN_OK;

    if (values == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < g->count; i++)
        values[i] = tn_unify_arrow_of(g->inputs[i]);
    TN_TRY(tn_unify_arrow(cx, g->arena, values, g->count, g->unified, &value));
    *made = value.len != 0;
    if (*made)
        g->out.values[g->out.count++] = (tn_key_value){TN_STR("ARROW:schema"), value, true};
done:
    return rc;
}

static int gather_key(tarn_cx *cx, gather *g, const tn_key_value *first)
{
    bool differs = false, missing = false;
    bool describes = among(first->key, describing), made = false;
    int rc = TARN_OK;

    for (size_t i = 0; i < g->count; i++) {
        const tn_key_value *other = find(g->inputs[i], first->key);

        if (other == NULL)
            missing = true;
        else if (other->has_value != first->has_value || !tn_str_equal(other->value, first->value))
            differs = true;
    }
    if (describes && (differs || missing || !g->unified->same_shape)) {
        if (tn_str_is(first->key, "ARROW:schema"))
            TN_TRY(gather_arrow(cx, g, &made));
        if (!made)
            rc = note(cx, g, first->key, "dropped, the inputs differ in it or in their columns");
        goto done;
    }
    g->out.values[g->out.count++] = *first;
    if (differs)
        rc = note(cx, g, first->key, "the inputs differ, the first one's value is kept");
done:
    return rc;
}

static bool add_writer(tn_buf *text, tn_str writer)
{
    tn_str rest = tn_buf_view(text);

    if (writer.len == 0)
        return true;
    while (rest.len != 0) {
        size_t end = tn_str_find(rest, '\n');

        if (tn_str_equal((tn_str){rest.ptr, end}, writer))
            return true;
        rest = tn_str_from(rest, end + 1);
    }
    if (text->len + writer.len > TN_WRITERS_MAX)
        return false;
    if (text->len != 0)
        tn_buf_u8(text, '\n');
    tn_buf_str(text, writer);
    return true;
}

/* Who wrote the originals: readers work around writers' faults by name, and people ask. */
static int gather_writers(tarn_cx *cx, gather *g)
{
    tn_key_value *out = &g->out.values[g->out.count];
    tn_buf text = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < g->count; i++) {
        const tn_key_value *earlier = find(g->inputs[i], TN_STR(ORIGINAL_BY));
        tn_str rest = earlier != NULL ? earlier->value : (tn_str){0};

        /* A file of an earlier merge counts by who wrote its originals. */
        if (earlier == NULL || find(g->inputs[i], TN_STR(TN_UNIFY_MERGE_KEY)) == NULL)
            add_writer(&text, g->created_by[i]);
        while (rest.len != 0) {
            size_t end = tn_str_find(rest, '\n');

            add_writer(&text, (tn_str){rest.ptr, end});
            rest = tn_str_from(rest, end + 1);
        }
    }
    TN_TRY(tn_buf_check(cx, &text));
    if (text.len != 0) {
        *out = (tn_key_value){TN_STR(ORIGINAL_BY), tn_buf_view(&text), true};
        TN_TRY(tn_arena_keep(cx, g->arena, &out->value));
        g->out.count++;
    }
done:
    tn_buf_clear(&text);
    return rc;
}

int tn_unify_footer_keys(tarn_cx *cx, tn_arena *arena, const tn_dir_keys *const *inputs,
                         const tn_str *created_by, size_t count, const tn_unified *unified,
                         tn_unify_keys *out)
{
    gather g = {.arena = arena,
                .inputs = inputs,
                .created_by = created_by,
                .count = count,
                .unified = unified,
                .unit_from = count};
    tn_map seen = {0};
    size_t total = 1;
    int rc = TARN_OK;

    for (size_t i = 0; i < count; i++) {
        total += inputs[i]->count;
        if (g.unit_from == count && find(inputs[i], TN_STR(TN_CALENDAR_SPARK_VERSION)) != NULL)
            g.unit_from = i;
    }
    g.out.values = tn_arena_array(cx, arena, total, sizeof *g.out.values);
    g.out.notes = tn_arena_array(cx, arena, total, sizeof *g.out.notes);
    if (g.out.values == NULL || g.out.notes == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < inputs[i]->count; k++) {
            const tn_key_value *value = &inputs[i]->values[k];
            bool added;

            if (tn_str_is(value->key, ORIGINAL_BY) || tn_str_is(value->key, TN_UNIFY_MERGE_KEY))
                continue;
            if (among(value->key, spark_unit)) {
                if (i == g.unit_from)
                    g.out.values[g.out.count++] = *value;
                continue;
            }
            if (tn_map_add(cx, &seen, value->key.ptr != NULL ? value->key : TN_STR(""), &added) ==
                NULL)
                TN_TRY(TARN_E_NOMEM);
            if (added)
                TN_TRY(gather_key(cx, &g, value));
        }
    }
    TN_TRY(gather_writers(cx, &g));
    *out = g.out;
done:
    tn_map_clear(&seen);
    return rc;
}
