/* An Arrow schema as a Parquet schema, and the way from a batch to each leaf.
 * I1: lists have three levels (list, element) and maps three (key_value, key and value), with the
 *     names that the format asks for.
 * I2: both the logical type and, where it says the same, the converted type are written, so that
 * old readers understand. A timestamp without zone has no converted type: the old one means UTC. */
#include "codec/parquet/shred.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/limits.h"
#include "batch/field.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/arrow_field.h"

typedef struct planner {
    tarn_cx *cx;
    tn_arena *arena;
    tn_element *elements;
    size_t element_count, element_cap;
    tn_shred_path *paths;
    size_t path_count, path_cap;
    tn_shred_step way[2 * TN_PARQUET_DEPTH_MAX + 4];
    size_t way_count;
} planner;

static int refuse(planner *p, const struct ArrowSchema *schema, const char *why)
{
    return tn_fail(p->cx, TARN_E_UNSUPPORTED, "field \"%.200s\" (Arrow format \"%.64s\"): %s",
                   schema->name != NULL ? schema->name : "", schema->format, why);
}

/* Elements and leaves that a field takes at most. */
static int count_nodes(planner *p, const struct ArrowSchema *schema, int depth)
{
    if (depth > TN_PARQUET_DEPTH_MAX)
        return tn_fail(p->cx, TARN_E_LIMIT, "the Arrow schema is deeper than %d levels",
                       TN_PARQUET_DEPTH_MAX);
    p->element_cap += 2;
    p->path_cap++;
    if (p->element_cap > 4ull * TN_PARQUET_LEAVES_MAX)
        return tn_fail(p->cx, TARN_E_LIMIT, "the Arrow schema has more than %d columns",
                       TN_PARQUET_LEAVES_MAX);
    for (int64_t i = 0; i < schema->n_children; i++) {
        int rc = count_nodes(p, schema->children[i], depth + 1);

        if (rc != TARN_OK)
            return rc;
    }
    return TARN_OK;
}

static tn_element *add_element(planner *p, tn_str name, enum tn_repetition repetition)
{
    tn_element *element = &p->elements[p->element_count++];

    *element = (tn_element){.name = name, .repetition = repetition, .converted = TN_CONVERTED_NONE};
    if (tn_arena_keep(p->cx, p->arena, &element->name) != TARN_OK)
        return NULL;
    return element;
}

static void annotate(tn_element *element, int32_t logical, int32_t converted)
{
    element->logical = logical;
    element->converted = converted;
}

static void annotate_integer(tn_element *element, int32_t bits, bool is_signed)
{
    int32_t step = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;

    annotate(element, TN_LOGICAL_INTEGER, (is_signed ? TN_INT_8 : TN_UINT_8) + step);
    element->bit_width = bits;
    element->is_signed = is_signed;
}

static void annotate_timestamp(tn_element *element, const tn_format *format)
{
    bool utc = format->zone.len != 0;

    element->unit = format->unit == 'n' ? TN_NANOS : format->unit == 'u' ? TN_MICROS : TN_MILLIS;
    element->adjusted_to_utc = utc;
    annotate(element, TN_LOGICAL_TIMESTAMP,
             !utc || element->unit == TN_NANOS ? TN_CONVERTED_NONE
             : element->unit == TN_MICROS      ? TN_TIMESTAMP_MICROS
                                               : TN_TIMESTAMP_MILLIS);
}

static void annotate_time(tn_element *element, const tn_format *format)
{
    element->unit = format->unit == 'n' ? TN_NANOS : format->unit == 'u' ? TN_MICROS : TN_MILLIS;
    annotate(element, TN_LOGICAL_TIME, TN_CONVERTED_NONE);
}

/* Bytes that hold every value of so many digits, with sign. */
static int32_t decimal_bytes(int32_t precision)
{
    static const uint8_t digits[] = {0,  2,  4,  6,  9,  11, 14, 16, 18, 21, 23,
                                     26, 28, 31, 33, 35, 38, 40, 43, 45, 47, 50,
                                     52, 55, 57, 59, 62, 64, 67, 69, 71, 74, 76};
    int32_t bytes = 1;

    while (digits[bytes] < precision)
        bytes++;
    return bytes;
}

static enum tn_shred_form set_physical(tn_element *element, enum tn_physical physical,
                                       enum tn_shred_form form)
{
    element->physical = physical;
    return form;
}

static enum tn_shred_form set_fixed(tn_element *element, int32_t length, enum tn_shred_form form)
{
    element->type_length = length;
    return set_physical(element, TN_FIXED, form);
}

/* Physical type and annotation of a leaf. */
static int leaf_element(planner *p, const struct ArrowSchema *schema, const tn_format *format,
                        const char *metadata, tn_element *element, enum tn_shred_form *form)
{
    tn_str extension = tn_metadata_get(metadata, "ARROW:extension:name");

    switch (format->kind) {
    case TN_FORMAT_NULL:
        annotate(element, TN_LOGICAL_UNKNOWN, TN_CONVERTED_NONE);
        *form = set_physical(element, TN_INT32, TN_SHRED_NULL);
        return TARN_OK;
    case TN_FORMAT_BOOL:
        *form = set_physical(element, TN_BOOLEAN, TN_SHRED_BOOL);
        return TARN_OK;
    case TN_FORMAT_INT8:
    case TN_FORMAT_INT16:
    case TN_FORMAT_UINT8:
    case TN_FORMAT_UINT16:
        annotate_integer(element, (int32_t)format->width * 8,
                         format->kind == TN_FORMAT_INT8 || format->kind == TN_FORMAT_INT16);
        *form = set_physical(element, TN_INT32, TN_SHRED_WIDEN);
        return TARN_OK;
    case TN_FORMAT_UINT32:
        annotate_integer(element, 32, false);
        *form = set_physical(element, TN_INT32, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_UINT64:
        annotate_integer(element, 64, false);
        *form = set_physical(element, TN_INT64, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_INT32:
        *form = set_physical(element, TN_INT32, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_INT64:
    case TN_FORMAT_DURATION:
        *form = set_physical(element, TN_INT64, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_HALF:
        annotate(element, TN_LOGICAL_FLOAT16, TN_CONVERTED_NONE);
        *form = set_fixed(element, 2, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_FLOAT:
        *form = set_physical(element, TN_FLOAT, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_DOUBLE:
        *form = set_physical(element, TN_DOUBLE, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_DECIMAL:
        if (format->scale < 0 || format->scale > format->precision)
            return refuse(p, schema, "Parquet has no decimals of that scale; cast it first");
        annotate(element, TN_LOGICAL_DECIMAL, TN_DECIMAL);
        element->precision = format->precision;
        element->scale = format->scale;
        *form = set_fixed(element, decimal_bytes(format->precision), TN_SHRED_DECIMAL);
        return TARN_OK;
    case TN_FORMAT_BINARY:
    case TN_FORMAT_LARGE_BINARY:
    case TN_FORMAT_BINARY_VIEW:
        *form = set_physical(element, TN_BYTE_ARRAY, TN_SHRED_BYTES);
        return TARN_OK;
    case TN_FORMAT_UTF8:
    case TN_FORMAT_LARGE_UTF8:
    case TN_FORMAT_UTF8_VIEW:
        if (tn_str_is(extension, "arrow.json"))
            annotate(element, TN_LOGICAL_JSON, TN_JSON);
        else
            annotate(element, TN_LOGICAL_STRING, TN_UTF8);
        *form = set_physical(element, TN_BYTE_ARRAY, TN_SHRED_BYTES);
        return TARN_OK;
    case TN_FORMAT_FIXED_BINARY:
        if (format->size == 0)
            return refuse(p, schema, "Parquet has no values of fixed length 0; cast it to binary");
        if (format->size == 16 && tn_str_is(extension, "arrow.uuid"))
            annotate(element, TN_LOGICAL_UUID, TN_CONVERTED_NONE);
        *form = set_fixed(element, format->size, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_DATE32:
        annotate(element, TN_LOGICAL_DATE, TN_DATE);
        *form = set_physical(element, TN_INT32, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_DATE64:
        annotate(element, TN_LOGICAL_DATE, TN_DATE);
        *form = set_physical(element, TN_INT32, TN_SHRED_DATE64);
        return TARN_OK;
    case TN_FORMAT_TIME32:
        annotate_time(element, format);
        *form =
            set_physical(element, TN_INT32, format->unit == 's' ? TN_SHRED_SECONDS : TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_TIME64:
        annotate_time(element, format);
        *form = set_physical(element, TN_INT64, TN_SHRED_COPY);
        return TARN_OK;
    case TN_FORMAT_TIMESTAMP:
        annotate_timestamp(element, format);
        *form =
            set_physical(element, TN_INT64, format->unit == 's' ? TN_SHRED_SECONDS : TN_SHRED_COPY);
        return TARN_OK;
    default:
        return refuse(p, schema, "this type has no place in Parquet; cast it first");
    }
}

static int plan_field(planner *p, const struct ArrowSchema *schema, tn_str name, bool required,
                      uint32_t child);

/* The annotation that came along in the metadata; what is not one that belongs on bare bytes says
 * nothing. */
static int keep_annotation(planner *p, const struct ArrowSchema *schema, tn_element *element)
{
    tn_str text = tn_metadata_get(schema->metadata, TN_ARROW_ANNOTATION_KEY), raw;
    tn_element annotated = *element;
    tn_buf bytes = {0};
    int rc = TARN_OK;

    if (text.len == 0 || element->physical != TN_BYTE_ARRAY ||
        element->logical != TN_LOGICAL_NONE || element->converted != TN_CONVERTED_NONE)
        goto done;
    if (!tn_base64_decode(&bytes, text)) {
        rc = tn_buf_check(p->cx, &bytes);
        goto done;
    }
    raw = tn_buf_view(&bytes);
    TN_TRY(tn_arena_keep(p->cx, p->arena, &raw));
    if (tn_logical_decode(p->cx, raw, &annotated) &&
        (annotated.logical == TN_LOGICAL_GEOMETRY || annotated.logical == TN_LOGICAL_GEOGRAPHY))
        *element = annotated;
done:
    tn_buf_clear(&bytes);
    return rc;
}

/* The same of what Arrow reads as text, bytes or a time; a word that does not belong here says
 * nothing. */
static void keep_meaning(const struct ArrowSchema *schema, tn_element *element)
{
    tn_str word = tn_metadata_get(schema->metadata, TN_ARROW_MEANING_KEY);
    bool bytes = element->physical == TN_BYTE_ARRAY;
    bool bare = element->logical == TN_LOGICAL_NONE && element->converted == TN_CONVERTED_NONE;

    if (tn_str_is(word, TN_ARROW_MEANING_ENUM) && bytes && element->logical == TN_LOGICAL_STRING) {
        annotate(element, TN_LOGICAL_ENUM, TN_ENUM);
    } else if (tn_str_is(word, TN_ARROW_MEANING_BSON) && bytes && bare) {
        annotate(element, TN_LOGICAL_BSON, TN_BSON);
    } else if (tn_str_is(word, TN_ARROW_MEANING_INTERVAL) && element->physical == TN_FIXED &&
               element->type_length == 12 && bare) {
        element->converted = TN_INTERVAL;
    } else if (tn_str_is(word, TN_ARROW_MEANING_TIME_UTC) && element->logical == TN_LOGICAL_TIME) {
        element->adjusted_to_utc = true;
        element->converted = element->unit == TN_MILLIS   ? TN_TIME_MILLIS
                             : element->unit == TN_MICROS ? TN_TIME_MICROS
                                                          : TN_CONVERTED_NONE;
    }
}

static int plan_leaf(planner *p, const struct ArrowSchema *schema, tn_shred_step *step,
                     tn_element *element)
{
    tn_shred_path *path = &p->paths[p->path_count++];
    int rc = leaf_element(p, schema, &step->format, schema->metadata, element, &path->form);

    if (rc == TARN_OK)
        rc = keep_annotation(p, schema, element);
    if (rc != TARN_OK)
        return rc;
    keep_meaning(schema, element);
    path->count = p->way_count;
    path->steps = tn_arena_array(p->cx, p->arena, path->count, sizeof path->steps[0]);
    if (path->steps == NULL)
        return TARN_E_NOMEM;
    memcpy(path->steps, p->way, path->count * sizeof path->steps[0]);
    return TARN_OK;
}

static int plan_struct(planner *p, const struct ArrowSchema *schema, tn_element *element)
{
    int rc = TARN_OK;

    if (schema->n_children == 0)
        return refuse(p, schema, "Parquet has no structs without fields");
    element->group = true;
    element->children = (int32_t)schema->n_children;
    for (int64_t i = 0; rc == TARN_OK && i < schema->n_children; i++)
        rc = plan_field(p, schema->children[i], tn_str_of(schema->children[i]->name), false,
                        (uint32_t)i);
    return rc;
}

static int plan_list(planner *p, const struct ArrowSchema *schema, tn_element *element)
{
    tn_element *repeated;

    if (schema->n_children != 1)
        return refuse(p, schema, "a list has one child");
    element->group = true;
    element->children = 1;
    annotate(element, TN_LOGICAL_LIST, TN_LIST);
    repeated = add_element(p, TN_STR("list"), TN_REPEATED);
    if (repeated == NULL)
        return TARN_E_NOMEM;
    repeated->group = true;
    repeated->children = 1;
    return plan_field(p, schema->children[0], TN_STR("element"), false, 0);
}

static int plan_map(planner *p, const struct ArrowSchema *schema, tn_element *element)
{
    const struct ArrowSchema *entries = schema->n_children == 1 ? schema->children[0] : NULL;
    tn_element *repeated;
    tn_shred_step *step;
    int rc;

    if (entries == NULL || entries->n_children != 2 || strcmp(entries->format, "+s") != 0)
        return refuse(p, schema, "a map has entries of a key and a value");
    element->group = true;
    element->children = 1;
    annotate(element, TN_LOGICAL_MAP, TN_MAP);
    repeated = add_element(p, TN_STR("key_value"), TN_REPEATED);
    if (repeated == NULL)
        return TARN_E_NOMEM;
    repeated->group = true;
    repeated->children = 2;
    step = &p->way[p->way_count++];
    *step = (tn_shred_step){.nullable = false, .child = 0};
    rc = tn_format_parse(p->cx, "+s", &step->format);
    if (rc == TARN_OK)
        rc = plan_field(p, entries->children[0], TN_STR("key"), true, 0);
    if (rc == TARN_OK)
        rc = plan_field(p, entries->children[1], TN_STR("value"), false, 1);
    p->way_count--;
    return rc;
}

static void keep_field_id(const struct ArrowSchema *schema, tn_element *element)
{
    tn_str id = tn_metadata_get(schema->metadata, "PARQUET:field_id");
    int64_t value = 0;
    bool negative = id.len > 1 && id.ptr[0] == '-';

    if (id.len == 0 || id.len > 11)
        return;
    for (size_t i = negative; i < id.len; i++) {
        if (id.ptr[i] < '0' || id.ptr[i] > '9')
            return;
        value = value * 10 + (id.ptr[i] - '0');
    }
    value = negative ? -value : value;
    if (value < INT32_MIN || value > INT32_MAX)
        return;
    element->has_field_id = true;
    element->field_id = (int32_t)value;
}

static int plan_nested(planner *p, const struct ArrowSchema *schema, tn_shred_step *step,
                       tn_element *element)
{
    switch (step->format.kind) {
    case TN_FORMAT_STRUCT:
        return plan_struct(p, schema, element);
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
    case TN_FORMAT_LIST_VIEW:
    case TN_FORMAT_LARGE_LIST_VIEW:
    case TN_FORMAT_FIXED_LIST:
        return plan_list(p, schema, element);
    case TN_FORMAT_MAP:
        return plan_map(p, schema, element);
    case TN_FORMAT_UNION:
        return refuse(p, schema, "Parquet has no unions");
    case TN_FORMAT_RUN_END:
        return refuse(p, schema, "run-end encoded arrays are not taken; cast it first");
    default:
        return plan_leaf(p, schema, step, element);
    }
}

/* `required`: whatever the field says (a map's key). */
static int plan_field(planner *p, const struct ArrowSchema *schema, tn_str name, bool required,
                      uint32_t child)
{
    bool nullable = tn_field_nullable(schema) && !required;
    tn_shred_step *step = &p->way[p->way_count++];
    tn_element *element;
    int rc = TARN_OK;

    *step = (tn_shred_step){.nullable = nullable, .child = child};
    TN_TRY(tn_format_parse(p->cx, schema->format, &step->format));
    if (schema->dictionary != NULL) {
        step->dictionary = true;
        step->index = step->format;
        TN_TRY(tn_format_parse(p->cx, schema->dictionary->format, &step->format));
        if (schema->dictionary->n_children != 0 || schema->dictionary->dictionary != NULL)
            TN_TRY(refuse(p, schema, "dictionaries of nested values are not taken; cast it first"));
    }
    element = add_element(p, name, nullable ? TN_OPTIONAL : TN_REQUIRED);
    if (element == NULL)
        TN_TRY(TARN_E_NOMEM);
    keep_field_id(schema, element);
    TN_TRY(plan_nested(p, schema, step, element));
done:
    p->way_count--;
    return rc;
}

int tn_shred_plan(tarn_cx *cx, const struct ArrowSchema *schema, tn_arena *arena, tn_schema *out,
                  tn_shred_path **paths)
{
    planner *p = tn_calloc(cx, 1, sizeof *p);
    tn_element *root;
    int rc = TARN_OK;

    if (p == NULL)
        return TARN_E_NOMEM;
    p->cx = cx;
    p->arena = arena;
    if (strcmp(schema->format, "+s") != 0)
        TN_FAIL(TARN_E_INVALID, "the Arrow schema of a file is a struct, not \"%.64s\"",
                schema->format);
    TN_TRY(count_nodes(p, schema, 0));
    p->elements = tn_arena_array(cx, arena, p->element_cap, sizeof p->elements[0]);
    p->paths = tn_arena_array(cx, arena, p->path_cap, sizeof p->paths[0]);
    if (p->elements == NULL || p->paths == NULL)
        TN_TRY(TARN_E_NOMEM);
    root = add_element(p, TN_STR("schema"), TN_REQUIRED);
    if (root == NULL)
        TN_TRY(TARN_E_NOMEM);
    root->group = true;
    root->children = (int32_t)schema->n_children;
    for (int64_t i = 0; i < schema->n_children; i++)
        TN_TRY(plan_field(p, schema->children[i], tn_str_of(schema->children[i]->name), false,
                          (uint32_t)i));
    TN_TRY(tn_schema_build(cx, p->elements, p->element_count, arena, out));
    if (paths != NULL)
        *paths = p->paths;
done:
    free(p);
    return rc;
}

int tn_parquet_schema_of(tarn_cx *cx, const struct ArrowSchema *schema, tn_arena *arena,
                         tn_schema *out)
{
    return tn_shred_plan(cx, schema, arena, out, NULL);
}
