/* Parquet schema to Arrow fields.
 * I1: an annotation that does not fit its physical type is not an error: the leaf reads as the
 *     physical type.
 * I2: what ARROW:schema says is taken only where the values it asks for are the ones in the file; a
 *     malformed or foreign one changes nothing.
 * I3: an annotation that Arrow has no type for stands in the field's metadata (UUID and JSON as
 *     Arrow's extension types), so that a file made of the rows has it again. */
#include "codec/parquet/arrow.h"
#include "codec/parquet/arrow_field.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "batch/field.h"
#include "codec/parquet/arrow_ipc.h"

typedef struct builder {
    tarn_cx *cx;
    const tn_schema *schema;
    tn_arena *arena;
    const tn_arrow_field_options *options;
} builder;

static const struct {
    int32_t logical, unit, bit_width;
    bool is_signed, utc;
} converted_meaning[] = {
    [TN_UTF8] = {TN_LOGICAL_STRING, 0, 0, false, false},
    [TN_MAP] = {TN_LOGICAL_MAP, 0, 0, false, false},
    [TN_MAP_KEY_VALUE] = {TN_LOGICAL_NONE, 0, 0, false, false},
    [TN_LIST] = {TN_LOGICAL_LIST, 0, 0, false, false},
    [TN_ENUM] = {TN_LOGICAL_ENUM, 0, 0, false, false},
    [TN_DECIMAL] = {TN_LOGICAL_DECIMAL, 0, 0, false, false},
    [TN_DATE] = {TN_LOGICAL_DATE, 0, 0, false, false},
    [TN_TIME_MILLIS] = {TN_LOGICAL_TIME, TN_MILLIS, 0, false, true},
    [TN_TIME_MICROS] = {TN_LOGICAL_TIME, TN_MICROS, 0, false, true},
    [TN_TIMESTAMP_MILLIS] = {TN_LOGICAL_TIMESTAMP, TN_MILLIS, 0, false, true},
    [TN_TIMESTAMP_MICROS] = {TN_LOGICAL_TIMESTAMP, TN_MICROS, 0, false, true},
    [TN_UINT_8] = {TN_LOGICAL_INTEGER, 0, 8, false, false},
    [TN_UINT_16] = {TN_LOGICAL_INTEGER, 0, 16, false, false},
    [TN_UINT_32] = {TN_LOGICAL_INTEGER, 0, 32, false, false},
    [TN_UINT_64] = {TN_LOGICAL_INTEGER, 0, 64, false, false},
    [TN_INT_8] = {TN_LOGICAL_INTEGER, 0, 8, true, false},
    [TN_INT_16] = {TN_LOGICAL_INTEGER, 0, 16, true, false},
    [TN_INT_32] = {TN_LOGICAL_INTEGER, 0, 32, true, false},
    [TN_INT_64] = {TN_LOGICAL_INTEGER, 0, 64, true, false},
    [TN_JSON] = {TN_LOGICAL_JSON, 0, 0, false, false},
    [TN_BSON] = {TN_LOGICAL_BSON, 0, 0, false, false},
    [TN_INTERVAL] = {TN_LOGICAL_NONE, 0, 0, false, false},
};

tn_meaning tn_element_meaning(const tn_element *element)
{
    tn_meaning meaning = {.precision = element->precision, .scale = element->scale};
    int32_t converted = element->converted;

    if (element->logical != TN_LOGICAL_NONE) {
        meaning.logical = element->logical;
        meaning.unit = element->unit;
        meaning.adjusted_to_utc = element->adjusted_to_utc;
        meaning.bit_width = element->bit_width;
        meaning.is_signed = element->is_signed;
    } else if (converted >= TN_UTF8 && converted <= TN_INTERVAL) {
        meaning.logical = converted_meaning[converted].logical;
        meaning.unit = converted_meaning[converted].unit;
        meaning.adjusted_to_utc = converted_meaning[converted].utc;
        meaning.bit_width = converted_meaning[converted].bit_width;
        meaning.is_signed = converted_meaning[converted].is_signed;
        meaning.interval = converted == TN_INTERVAL;
    }
    return meaning;
}

/* The type of one leaf: a format and how values get there. */
typedef struct leaf_type {
    enum tn_convert convert;
    char text[32];
} leaf_type;

static leaf_type typed(enum tn_convert convert, const char *text)
{
    leaf_type type = {.convert = convert};

    snprintf(type.text, sizeof type.text, "%s", text);
    return type;
}

static leaf_type integer_type(const tn_meaning *meaning, int32_t bits)
{
    static const char letters[2][4] = {{'C', 'S', 'I', 'L'}, {'c', 's', 'i', 'l'}};
    int32_t width = meaning->bit_width;
    int place = width == 8 ? 0 : width == 16 ? 1 : width == 32 ? 2 : width == 64 ? 3 : -1;
    char text[2] = {0};

    if (place < 0 || width > bits || (bits == 64 && width != 64))
        return typed(TN_CONVERT_COPY, bits == 32 ? "i" : "l");
    text[0] = letters[meaning->is_signed][place];
    return typed(width < bits ? TN_CONVERT_NARROW : TN_CONVERT_COPY, text);
}

static leaf_type int32_type(const tn_meaning *meaning)
{
    switch (meaning->logical) {
    case TN_LOGICAL_DATE:
        return typed(TN_CONVERT_COPY, "tdD");
    case TN_LOGICAL_TIME:
        return typed(TN_CONVERT_COPY, meaning->unit == TN_MILLIS ? "ttm" : "i");
    case TN_LOGICAL_INTEGER:
        return integer_type(meaning, 32);
    default:
        return typed(TN_CONVERT_COPY, "i");
    }
}

static leaf_type int64_type(const tn_meaning *meaning)
{
    static const char letters[] = "?mun";
    leaf_type type = typed(TN_CONVERT_COPY, "l");

    if (meaning->logical == TN_LOGICAL_INTEGER)
        return integer_type(meaning, 64);
    if (meaning->unit < TN_MILLIS || meaning->unit > TN_NANOS)
        return type;
    if (meaning->logical == TN_LOGICAL_TIME && meaning->unit != TN_MILLIS)
        snprintf(type.text, sizeof type.text, "tt%c", letters[meaning->unit]);
    else if (meaning->logical == TN_LOGICAL_TIMESTAMP)
        snprintf(type.text, sizeof type.text, "ts%c:%s", letters[meaning->unit],
                 meaning->adjusted_to_utc ? "UTC" : "");
    return type;
}

static leaf_type fixed_type(const tn_meaning *meaning, uint32_t length)
{
    leaf_type type = typed(TN_CONVERT_COPY, "");

    if (meaning->logical == TN_LOGICAL_FLOAT16 && length == 2)
        return typed(TN_CONVERT_COPY, "e");
    snprintf(type.text, sizeof type.text, "w:%u", length);
    return type;
}

static leaf_type decimal_type(const tn_meaning *meaning, enum tn_physical physical)
{
    leaf_type type = {.convert = physical == TN_FIXED        ? TN_CONVERT_DECIMAL_BE
                                 : physical == TN_BYTE_ARRAY ? TN_CONVERT_DECIMAL_VIEW
                                                             : TN_CONVERT_DECIMAL_INT};

    snprintf(type.text, sizeof type.text, "d:%d,%d%s", meaning->precision, meaning->scale,
             meaning->precision > 38 ? ",256" : "");
    return type;
}

static bool is_decimal(const tn_meaning *meaning, enum tn_physical physical)
{
    return meaning->logical == TN_LOGICAL_DECIMAL &&
           (physical == TN_INT32 || physical == TN_INT64 || physical == TN_FIXED ||
            physical == TN_BYTE_ARRAY);
}

static leaf_type type_of_leaf(const builder *b, const tn_leaf *leaf)
{
    tn_meaning meaning = tn_element_meaning(leaf->node->element_meta);

    if (meaning.logical == TN_LOGICAL_UNKNOWN)
        return typed(TN_CONVERT_NULL, "n");
    if (is_decimal(&meaning, leaf->physical))
        return decimal_type(&meaning, leaf->physical);
    switch (leaf->physical) {
    case TN_BOOLEAN:
        return typed(TN_CONVERT_BOOL, "b");
    case TN_INT32:
        return int32_type(&meaning);
    case TN_INT64:
        return int64_type(&meaning);
    case TN_INT96:
        if (b->options->int96_utc)
            return typed(TN_CONVERT_INT96, b->options->int96_micros ? "tsu:UTC" : "tsn:UTC");
        return typed(TN_CONVERT_INT96, b->options->int96_micros ? "tsu:" : "tsn:");
    case TN_FLOAT:
        return typed(TN_CONVERT_COPY, "f");
    case TN_DOUBLE:
        return typed(TN_CONVERT_COPY, "g");
    case TN_BYTE_ARRAY:
        return typed(TN_CONVERT_BYTES, meaning.logical == TN_LOGICAL_STRING ||
                                               meaning.logical == TN_LOGICAL_ENUM ||
                                               meaning.logical == TN_LOGICAL_JSON
                                           ? "u"
                                           : "z");
    case TN_FIXED:
        return fixed_type(&meaning, leaf->type_length);
    }
    return typed(TN_CONVERT_COPY, "n");
}

static int set_format(builder *b, tn_arrow_field *field, const char *text)
{
    tn_format format;
    int rc;

    field->text = tn_str_of(text);
    rc = tn_arena_keep(b->cx, b->arena, &field->text);
    if (rc == TARN_OK)
        rc = tn_format_parse(b->cx, field->text.ptr, &format);
    if (rc == TARN_OK)
        field->format = format;
    return rc;
}

static int build(builder *b, const tn_node *node, bool as_item, const tn_arrow_field *outer,
                 tn_arrow_field *field);

static int make_children(builder *b, tn_arrow_field *field, size_t count)
{
    field->children = tn_arena_array(b->cx, b->arena, count, sizeof field->children[0]);
    field->child_count = count;
    return field->children != NULL ? TARN_OK : TARN_E_NOMEM;
}

static int build_leaf(builder *b, const tn_node *node, tn_arrow_field *field)
{
    const tn_leaf *leaf = &b->schema->leaves[node->first_leaf];
    leaf_type type = type_of_leaf(b, leaf);
    tn_meaning meaning = tn_element_meaning(node->element_meta);
    int rc;

    field->convert = type.convert;
    rc = set_format(b, field, type.text);
    if (rc == TARN_E_INVALID)
        return tn_fail(b->cx, TARN_E_UNSUPPORTED,
                       "column \"%.*s\" is a decimal(%d, %d), beyond the 76 digits tarn reads",
                       TN_STR_ARG(leaf->dotted), meaning.precision, meaning.scale);
    return rc;
}

static int build_struct(builder *b, const tn_node *node, tn_arrow_field *field)
{
    uint32_t at = node->first_child;
    int rc = set_format(b, field, "+s");

    if (rc == TARN_OK && node->child_count == 0)
        return tn_fail(b->cx, TARN_E_UNSUPPORTED, "group \"%.*s\" has no fields",
                       TN_STR_ARG(node->name));
    if (rc == TARN_OK)
        rc = make_children(b, field, node->child_count);
    for (uint32_t i = 0; rc == TARN_OK && i < node->child_count; i++) {
        rc = build(b, &b->schema->nodes[at], false, field, &field->children[i]);
        at = b->schema->nodes[at].next_sibling;
    }
    return rc;
}

static int build_list(builder *b, const tn_node *node, tn_arrow_field *field)
{
    const tn_node *repeated = &b->schema->nodes[node->repeated];
    const tn_node *element = &b->schema->nodes[node->element];
    int rc = set_format(b, field, "+l");

    field->item_def = repeated->def_level;
    field->item_rep = repeated->rep_level;
    if (rc == TARN_OK)
        rc = make_children(b, field, 1);
    if (rc == TARN_OK)
        rc = build(b, element, element == repeated, field, &field->children[0]);
    return rc;
}

/* A map without values is a list of its keys, as Arrow reads it. */
static int build_map(builder *b, const tn_node *node, tn_arrow_field *field)
{
    const tn_node *repeated = &b->schema->nodes[node->repeated];
    const tn_node *key = &b->schema->nodes[node->key];
    tn_arrow_field *entries;
    int rc = set_format(b, field, node->value != 0 ? "+m" : "+l");

    field->item_def = repeated->def_level;
    field->item_rep = repeated->rep_level;
    if (rc == TARN_OK)
        rc = make_children(b, field, 1);
    if (rc != TARN_OK)
        return rc;
    if (node->value == 0)
        return build(b, key, false, field, &field->children[0]);
    entries = &field->children[0];
    *entries = (tn_arrow_field){.node = repeated,
                                .name = repeated->name,
                                .slot_def = field->item_def,
                                .slot_rep = field->item_rep,
                                .valid_def = field->item_def,
                                .leaf = repeated->first_leaf};
    rc = set_format(b, entries, "+s");
    if (rc == TARN_OK)
        rc = make_children(b, entries, 2);
    if (rc == TARN_OK)
        rc = build(b, key, false, entries, &entries->children[0]);
    if (rc == TARN_OK)
        rc = build(b, &b->schema->nodes[node->value], false, entries, &entries->children[1]);
    if (rc == TARN_OK) {
        entries->children[0].key = entries->children[0].nullable;
        entries->children[0].nullable = false;
    }
    return rc;
}

static void add_annotation(tn_buf *metadata, const tn_element *element)
{
    tn_buf text = {0};

    if (element->logical != TN_LOGICAL_GEOMETRY && element->logical != TN_LOGICAL_GEOGRAPHY)
        return;
    tn_base64_encode(&text, element->logical_raw);
    metadata->failed |= text.failed;
    tn_metadata_add(metadata, TN_STR(TN_ARROW_ANNOTATION_KEY), tn_buf_view(&text));
    tn_buf_clear(&text);
}

/* I3: the extension type or the word that brings an annotation back. */
static void add_meaning(tn_buf *metadata, const tn_arrow_field *field)
{
    const tn_element *element = field->node->element_meta;
    tn_meaning meaning = tn_element_meaning(element);
    bool bytes = element->physical == TN_BYTE_ARRAY;
    const char *extension = NULL, *word = NULL;

    if (meaning.logical == TN_LOGICAL_UUID && strcmp(field->text.ptr, "w:16") == 0)
        extension = "arrow.uuid";
    else if (meaning.logical == TN_LOGICAL_JSON && bytes)
        extension = "arrow.json";
    else if (meaning.logical == TN_LOGICAL_ENUM && bytes)
        word = TN_ARROW_MEANING_ENUM;
    else if (meaning.logical == TN_LOGICAL_BSON && bytes)
        word = TN_ARROW_MEANING_BSON;
    else if (meaning.interval && strcmp(field->text.ptr, "w:12") == 0)
        word = TN_ARROW_MEANING_INTERVAL;
    else if ((field->format.kind == TN_FORMAT_TIME32 || field->format.kind == TN_FORMAT_TIME64) &&
             meaning.adjusted_to_utc)
        word = TN_ARROW_MEANING_TIME_UTC;
    if (extension != NULL) {
        tn_metadata_add(metadata, TN_STR("ARROW:extension:name"), tn_str_of(extension));
        tn_metadata_add(metadata, TN_STR("ARROW:extension:metadata"), TN_STR(""));
    }
    if (word != NULL)
        tn_metadata_add(metadata, TN_STR(TN_ARROW_MEANING_KEY), tn_str_of(word));
}

/* Metadata of the field: what ARROW:schema gave it, and of the element what Arrow has no place
 * for. */
static int keep_metadata(builder *b, tn_arrow_field *field, const char *origin, bool same)
{
    const tn_element *element = field->node->element_meta;
    tn_buf metadata = {0};
    bool extended = false;
    tn_str key, value;
    char id[16];
    int rc;

    for (int32_t i = 0; tn_metadata_at(origin, i, &key, &value); i++) {
        bool extension = tn_str_starts(key, TN_STR("ARROW:extension:"));

        if (tn_str_is(key, "PARQUET:field_id") || tn_str_is(key, TN_ARROW_ANNOTATION_KEY) ||
            tn_str_is(key, TN_ARROW_MEANING_KEY) || (extension && !same))
            continue;
        tn_metadata_add(&metadata, key, value);
        extended = extended || extension;
    }
    if (element->has_field_id) {
        snprintf(id, sizeof id, "%d", element->field_id);
        tn_metadata_add(&metadata, TN_STR("PARQUET:field_id"), tn_str_of(id));
    }
    if (!element->group)
        add_annotation(&metadata, element);
    if (!element->group && !extended)
        add_meaning(&metadata, field);
    field->metadata = tn_buf_view(&metadata);
    rc = tn_buf_check(b->cx, &metadata);
    if (rc == TARN_OK)
        rc = tn_arena_keep(b->cx, b->arena, &field->metadata);
    tn_buf_clear(&metadata);
    return rc;
}

/* `as_item`: the node is the repeated one of the list around it, so its own repetition has been
 * counted there. */
static int build(builder *b, const tn_node *node, bool as_item, const tn_arrow_field *outer,
                 tn_arrow_field *field)
{
    bool list = outer->item_rep > outer->slot_rep;
    bool bare = node->shape == TN_SHAPE_LIST && node->repeated == node->index;
    int rc;

    *field = (tn_arrow_field){.node = node,
                              .name = node->name,
                              .slot_def = list ? outer->item_def : outer->slot_def,
                              .slot_rep = list ? outer->item_rep : outer->slot_rep,
                              .valid_def = node->def_level,
                              .leaf = node->first_leaf};
    field->nullable = node->element_meta->repetition == TN_OPTIONAL;
    if (bare && as_item)
        rc = node->element_meta->group ? build_struct(b, node, field) : build_leaf(b, node, field);
    else if (node->shape == TN_SHAPE_LIST)
        rc = build_list(b, node, field);
    else if (node->shape == TN_SHAPE_MAP)
        rc = build_map(b, node, field);
    else if (node->element_meta->group)
        rc = build_struct(b, node, field);
    else
        rc = build_leaf(b, node, field);
    if (rc == TARN_OK && !(bare && as_item))
        rc = keep_metadata(b, field, NULL, true);
    return rc;
}

/* A leaf's type as ARROW:schema wants it, where that changes no value; NULL: as it is. */
static const char *refined(const tn_arrow_field *field, const char *wish, char *text, size_t cap)
{
    const char *have = field->text.ptr;

    if (strcmp(have, "u") == 0 && strcmp(wish, "U") == 0)
        return wish;
    if (strcmp(have, "z") == 0 && strcmp(wish, "Z") == 0)
        return wish;
    if (strcmp(have, "+l") == 0 && strcmp(wish, "+L") == 0)
        return wish;
    if (strcmp(have, "l") == 0 && strncmp(wish, "tD", 2) == 0)
        return wish;
    if (field->format.kind == TN_FORMAT_TIMESTAMP && field->format.zone.len != 0 &&
        strncmp(wish, "ts", 2) == 0 && strlen(wish) > 4) {
        snprintf(text, cap, "ts%c:%s", field->format.unit, wish + 4);
        return text;
    }
    if (field->format.kind == TN_FORMAT_DECIMAL && field->format.bit_width == 128) {
        snprintf(text, cap, "d:%d,%d,256", field->format.precision, field->format.scale);
        if (strcmp(text, wish) == 0)
            return text;
    }
    return NULL;
}

static const struct ArrowSchema *child_named(const struct ArrowSchema *schema, tn_str name,
                                             size_t at)
{
    if (at < (size_t)schema->n_children && tn_str_is(name, schema->children[at]->name))
        return schema->children[at];
    for (int64_t i = 0; i < schema->n_children; i++)
        if (tn_str_is(name, schema->children[i]->name))
            return schema->children[i];
    return NULL;
}

/* Whether the origin is nested in the way of the field, so that its children speak of ours. */
static bool nested_alike(const tn_arrow_field *field, const struct ArrowSchema *origin)
{
    switch (field->format.kind) {
    case TN_FORMAT_STRUCT:
        return strcmp(origin->format, "+s") == 0;
    case TN_FORMAT_LIST:
    case TN_FORMAT_LARGE_LIST:
        return origin->n_children == 1 &&
               (origin->format[0] == '+' && strchr("lLwv", origin->format[1]) != NULL);
    case TN_FORMAT_MAP:
        return strcmp(origin->format, "+m") == 0 && origin->n_children == 1;
    default:
        return false;
    }
}

/* Lets ARROW:schema speak of a field; *same tells whether the types became equal. */
static int refine(builder *b, tn_arrow_field *field, const struct ArrowSchema *origin, bool *same)
{
    const struct ArrowSchema *value = origin->dictionary != NULL ? origin->dictionary : origin;
    char text[256];
    const char *wish = refined(field, value->format, text, sizeof text);
    int rc = TARN_OK;

    if (wish != NULL)
        TN_TRY(set_format(b, field, wish));
    *same = origin->dictionary == NULL && strcmp(field->text.ptr, value->format) == 0;
    if (nested_alike(field, value)) {
        bool by_name = field->format.kind == TN_FORMAT_STRUCT;

        for (size_t i = 0; i < field->child_count; i++) {
            const struct ArrowSchema *child =
                by_name ? child_named(value, field->children[i].name, i) : value->children[0];
            bool child_same = false;

            if (child != NULL)
                TN_TRY(refine(b, &field->children[i], child, &child_same));
            *same = *same && child_same;
        }
        field->keys_sorted =
            field->format.kind == TN_FORMAT_MAP && (value->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0;
    }
    TN_TRY(keep_metadata(b, field, origin->metadata, *same));
done:
    return rc;
}

/* I2: a message that does not parse is none; only a lack of memory is a failure. */
static int read_origin(tarn_cx *cx, tn_str stored, struct ArrowSchema *out)
{
    tn_buf message = {0};
    int rc = TARN_OK;

    if (stored.ptr != NULL && tn_base64_decode(&message, stored)) {
        rc = tn_arrow_ipc_read(cx, tn_buf_view(&message), out);
        if (rc != TARN_OK && rc != TARN_E_NOMEM) {
            tn_cx_forget(cx);
            rc = TARN_OK;
        }
    }
    tn_buf_clear(&message);
    return rc;
}

static bool holds_dictionary(const struct ArrowSchema *field)
{
    bool found = field->dictionary != NULL;

    for (int64_t i = 0; !found && i < field->n_children; i++)
        found = holds_dictionary(field->children[i]);
    return found;
}

int tn_arrow_dictionary_leaves(tarn_cx *cx, tn_str stored, const tn_schema *schema, bool *leaves)
{
    struct ArrowSchema origin = {0};
    int rc = TARN_OK;

    TN_TRY(read_origin(cx, stored, &origin));
    for (int64_t i = 0; origin.release != NULL && i < origin.n_children; i++) {
        const struct ArrowSchema *field = origin.children[i];
        const tn_node *column = tn_schema_column(schema, tn_str_of(field->name));

        for (uint32_t l = 0; column != NULL && holds_dictionary(field) && l < column->leaf_count;
             l++)
            leaves[column->first_leaf + l] = true;
    }
done:
    tn_field_release(&origin);
    return rc;
}

static int apply_origin(builder *b, const tn_parquet *file, tn_arrow_field *root)
{
    struct ArrowSchema origin = {0};
    int rc = TARN_OK;

    TN_TRY(read_origin(b->cx, tn_parquet_key_value(file, "ARROW:schema"), &origin));
    if (origin.release == NULL)
        goto done;
    for (size_t i = 0; i < root->child_count; i++) {
        const struct ArrowSchema *child = child_named(&origin, root->children[i].name, i);
        bool same = false;

        if (child != NULL)
            TN_TRY(refine(b, &root->children[i], child, &same));
    }
done:
    tn_field_release(&origin);
    return rc;
}

static int build_column(builder *b, uint32_t column, tn_arrow_field *root, tn_arrow_field *out)
{
    const tn_node *top = &b->schema->nodes[0];
    uint32_t at = top->first_child;

    if (column >= top->child_count)
        return tn_fail(b->cx, TARN_E_INVALID, "there is no column %u among %u", column,
                       top->child_count);
    for (uint32_t i = 0; i < column; i++)
        at = b->schema->nodes[at].next_sibling;
    return build(b, &b->schema->nodes[at], false, root, out);
}

int tn_arrow_field_build(tarn_cx *cx, const tn_parquet *file, const tn_arrow_field_options *options,
                         tn_arena *arena, tn_arrow_field *out)
{
    builder b = {cx, &file->schema, arena, options};
    const tn_node *top = &file->schema.nodes[0];
    size_t count = options->columns != NULL ? options->column_count : top->child_count;
    tn_arrow_field root = {.node = top};
    int rc = TARN_OK;

    TN_TRY(set_format(&b, &root, "+s"));
    TN_TRY(make_children(&b, &root, count));
    if (options->columns != NULL) {
        for (size_t i = 0; i < count; i++)
            TN_TRY(build_column(&b, options->columns[i], &root, &root.children[i]));
    } else {
        uint32_t at = top->first_child;

        for (size_t i = 0; i < count; i++, at = file->schema.nodes[at].next_sibling)
            TN_TRY(build(&b, &file->schema.nodes[at], false, &root, &root.children[i]));
    }
    TN_TRY(apply_origin(&b, file, &root));
    *out = root;
done:
    if (rc != TARN_OK && rc != TARN_E_NOMEM)
        tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(file->path));
    return rc;
}

int tn_arrow_field_export(tarn_cx *cx, const tn_arrow_field *field, struct ArrowSchema *out)
{
    struct ArrowSchema schema = {0};
    tn_buf metadata = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &schema, field->text.ptr, field->name, field->nullable,
                         field->child_count));
    if (field->keys_sorted)
        schema.flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    tn_buf_str(&metadata, field->metadata);
    TN_TRY(tn_field_set_metadata(cx, &schema, &metadata));
    for (size_t i = 0; i < field->child_count; i++)
        TN_TRY(tn_arrow_field_export(cx, &field->children[i], schema.children[i]));
    tn_field_move(&schema, out);
done:
    tn_field_release(&schema);
    tn_buf_clear(&metadata);
    return rc;
}
