/* Columns of a CSV file.
 * I1: a field of no quotes that is the null text is null; so is an empty field, quoted or not,
 * where the column is neither text nor binary. I2: names are unique; a column without one is called
 * by its place: column0, column1, … */
#include "codec/csv/csv_columns.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

void tn_csv_columns_clear(tn_csv_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        tn_buf_clear(&columns->list[i].doubled);
        tn_buf_clear(&columns->list[i].bad);
    }
    tn_build_close(columns->build);
    tn_arena_clear(&columns->arena);
    *columns = (tn_csv_columns){0};
}

/* ---- fields */

/* Doubled quotes become one. */
static tn_str take_back(const char *text, size_t len, tn_buf *room)
{
    tn_str out = {(char *)room->data + room->len, 0};
    char *to = (char *)room->data + room->len;

    assert(room->cap - room->len >= len);
    for (size_t i = 0; i < len; i++) {
        *to++ = text[i];
        i += text[i] == '"';
    }
    out.len = (size_t)(to - out.ptr);
    room->len += out.len;
    return out;
}

tn_str tn_csv_columns_text(const tn_csv_column *column, tn_str null, const uint8_t *text,
                           tn_csv_field field, tn_buf *room)
{
    tn_str value = {(const char *)text + field.start, tn_csv_length(field)};

    if ((field.size & TN_CSV_QUOTED) == 0 && tn_str_equal(value, null))
        return (tn_str){NULL, 0};
    if (value.len == 0 && !column->bytes)
        return (tn_str){NULL, 0};
    if ((field.size & TN_CSV_DOUBLED) != 0)
        return take_back(value.ptr, value.len, room);
    return value;
}

/* ---- names */

static int check_name(tarn_cx *cx, const tn_csv_columns *columns, size_t i, uint64_t line)
{
    tn_str name = columns->names[i];

    if (!tn_str_utf8(name) || tn_str_find(name, '\0') != name.len)
        return tn_fail(
            cx, TARN_E_DATA,
            "%.*s: line %llu: the name of column %zu is no UTF-8 text; convert the file, "
            "or read it without a header",
            TN_STR_ARG(columns->source), (unsigned long long)line, i + 1);
    return TARN_OK;
}

static int check_unique(tarn_cx *cx, tn_csv_columns *columns, uint64_t line)
{
    tn_map map = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < columns->field_count; i++) {
        bool added;
        size_t *place = tn_map_add(cx, &map, columns->names[i], &added);

        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added)
            TN_FAIL(TARN_E_DATA,
                    "%.*s: line %llu: columns %zu and %zu are both named \"%.*s\"; give them names "
                    "of their own",
                    TN_STR_ARG(columns->source), (unsigned long long)line, *place + 1, i + 1,
                    TN_STR_ARG(columns->names[i]));
        *place = i;
    }
done:
    tn_map_clear(&map);
    return rc;
}

static int name_by_header(tarn_cx *cx, tn_csv_columns *columns, const uint8_t *text,
                          const tn_csv_table *header, uint64_t line)
{
    tn_buf room = {0};
    int rc = TARN_OK;

    for (size_t i = 0; i < columns->field_count; i++) {
        tn_csv_field field = header->fields[i];
        tn_str name = {(const char *)text + field.start, tn_csv_length(field)};

        if ((field.size & TN_CSV_DOUBLED) != 0) {
            tn_buf_reset(&room);
            if (!tn_buf_reserve(&room, name.len))
                TN_TRY(tn_buf_check(cx, &room));
            name = take_back(name.ptr, name.len, &room);
        }
        columns->names[i] = name;
        if (name.len == 0)
            TN_TRY(tn_arena_print(cx, &columns->arena, &columns->names[i], "column%zu", i));
        else
            TN_TRY(tn_arena_keep(cx, &columns->arena, &columns->names[i]));
        TN_TRY(check_name(cx, columns, i, line));
    }
    TN_TRY(check_unique(cx, columns, line));
done:
    tn_buf_clear(&room);
    return rc;
}

/* Without a header: the names of the schema, then numbers. */
static int name_by_place(tarn_cx *cx, tn_csv_columns *columns, const struct ArrowSchema *schema)
{
    size_t known = schema != NULL ? (size_t)schema->n_children : 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < columns->field_count; i++) {
        if (i < known)
            columns->names[i] = tn_str_of(schema->children[i]->name);
        else
            TN_TRY(tn_arena_print(cx, &columns->arena, &columns->names[i], "column%zu", i));
    }
    TN_TRY(check_unique(cx, columns, 1));
done:
    return rc;
}

/* One column whose name has another usual delimiter in it was cut by the wrong one. */
static void hint_delimiter(const tn_csv_columns *columns, const tn_text_read_options *options)
{
    static const char others[] = ";\t|,";
    char text[256];
    tn_str name;

    if (columns->field_count != 1 || options->warn == NULL || options->schema_inferred)
        return;
    name = columns->names[0];
    for (const char *at = others; *at != '\0'; at++) {
        if (*at == options->delimiter || tn_str_find(name, *at) == name.len)
            continue;
        snprintf(text, sizeof text,
                 "%.*s: its header is one column with %s in it; if that separates the columns, "
                 "give --delimiter '%s'",
                 (int)(columns->source.len < 120 ? columns->source.len : 120), columns->source.ptr,
                 *at == '\t'  ? "tabs"
                 : *at == ';' ? "\";\""
                 : *at == '|' ? "\"|\""
                              : "\",\"",
                 *at == '\t'  ? "\\t"
                 : *at == ';' ? ";"
                 : *at == '|' ? "|"
                              : ",");
        options->warn(options->warn_arg, text);
        return;
    }
}

int tn_csv_columns_name(tarn_cx *cx, tn_csv_columns *columns, const tn_text_read_options *options,
                        const uint8_t *text, const tn_csv_table *header, uint64_t line)
{
    const struct ArrowSchema *schema = options->schema;
    size_t count = header->record_fields;
    int rc = TARN_OK;

    columns->counted_by = options->no_header ? "the first record" : "the header";
    if (options->no_header && schema != NULL &&
        (!options->schema_open || count < (size_t)schema->n_children)) {
        count = (size_t)schema->n_children;
        columns->counted_by = "the schema";
    }
    columns->field_count = count;
    columns->names = tn_arena_array(cx, &columns->arena, count, sizeof *columns->names);
    if (columns->names == NULL)
        TN_TRY(TARN_E_NOMEM);
    if (options->no_header)
        TN_TRY(name_by_place(cx, columns, schema));
    else
        TN_TRY(name_by_header(cx, columns, text, header, line));
    if (!options->no_header)
        hint_delimiter(columns, options);
    if (schema == NULL || options->schema_open) {
        columns->guesses = tn_arena_array(cx, &columns->arena, count, sizeof *columns->guesses);
        if (columns->guesses == NULL)
            TN_TRY(TARN_E_NOMEM);
    }
done:
    return rc;
}

/* ---- types */

void tn_csv_columns_sample(tn_csv_columns *columns, const tn_text_read_options *options,
                           const uint8_t *text, const tn_csv_table *table)
{
    static const tn_csv_column any = {0};

    for (size_t i = 0; i < columns->field_count; i++) {
        const tn_csv_field *field = table->fields + i;

        for (size_t row = 0; row < table->rows; row++, field += table->columns) {
            tn_csv_field plain = *field;
            tn_str value;

            /* Doubled quotes stay: what holds a quote is text in any case. */
            plain.size &= ~TN_CSV_DOUBLED;
            value = tn_csv_columns_text(&any, options->null, text, plain, NULL);
            if (value.ptr != NULL)
                tn_text_guess_add(&columns->guesses[i], value);
        }
    }
    columns->sample_rows += table->rows;
}

static bool is_bytes(const struct ArrowSchema *schema)
{
    const char *format = schema->dictionary != NULL ? schema->dictionary->format : schema->format;

    return strcmp(format, "u") == 0 || strcmp(format, "U") == 0 || strcmp(format, "z") == 0 ||
           strcmp(format, "Z") == 0 || strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0;
}

static int add_given(tarn_cx *cx, tn_csv_columns *columns, const struct ArrowSchema *field,
                     size_t source, struct ArrowSchema *out)
{
    tn_csv_column *column = &columns->list[columns->count];
    const char *format = field->dictionary != NULL ? field->dictionary->format : field->format;
    int rc = TARN_OK;

    column->source = source;
    column->bytes = is_bytes(field);
    if (source == TN_CSV_NO_SOURCE && !tn_field_nullable(field))
        TN_FAIL(TARN_E_DATA, "%.*s: has no column \"%s\", and the schema lets it hold no nulls",
                TN_STR_ARG(columns->source), field->name);
    if (source != TN_CSV_NO_SOURCE && format[0] == '+')
        TN_FAIL(TARN_E_UNSUPPORTED,
                "%.*s: column \"%s\" is nested in the schema, which CSV cannot give; write it as "
                "NDJSON, or leave it out",
                TN_STR_ARG(columns->source), field->name);
    TN_TRY(tn_field_copy(cx, field, out));
    columns->count++;
done:
    return rc;
}

static int add_guessed(tarn_cx *cx, tn_csv_columns *columns, size_t source, struct ArrowSchema *out)
{
    tn_csv_column *column = &columns->list[columns->count];
    const char *format = tn_text_guess_format(&columns->guesses[source]);
    int rc = TARN_OK;

    if (columns->keep_nulls && columns->guesses[source].seen == 0)
        format = "n";
    else if (columns->keep_nulls && tn_text_guess_small(&columns->guesses[source]))
        format = "i";
    column->source = source;
    column->inferred = true;
    column->bytes = strcmp(format, "u") == 0;
    TN_TRY(tn_field_init(cx, out, format, columns->names[source], true, 0));
    columns->count++;
done:
    return rc;
}

/* One line for all the columns that the schema lacks. */
static int warn_left_out(tarn_cx *cx, const tn_csv_columns *columns,
                         const tn_text_read_options *options, const bool *used)
{
    tn_buf text = {0};
    size_t left = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < columns->field_count; i++) {
        if (used[i])
            continue;
        tn_buf_print(&text, "%s\"%.*s\"", left > 0 ? ", " : "", TN_STR_ARG(columns->names[i]));
        left++;
    }
    if (left > 0 && options->warn != NULL) {
        tn_buf whole = {0};

        tn_buf_u8(&text, '\0');
        tn_buf_print(&whole, "%.*s: left out, as the schema lacks %s: %s",
                     TN_STR_ARG(columns->source), left > 1 ? "the columns" : "the column",
                     text.failed ? "" : (const char *)text.data);
        tn_buf_u8(&whole, '\0');
        rc = tn_buf_check(cx, &whole);
        if (rc == TARN_OK)
            options->warn(options->warn_arg, (const char *)whole.data);
        tn_buf_clear(&whole);
    }
    tn_buf_clear(&text);
    return rc;
}

/* The name in small letters, of ASCII. */
static int fold(tarn_cx *cx, tn_arena *arena, tn_str name, tn_str *out)
{
    char *text = tn_arena_take(cx, arena, name.len + 1);

    if (text == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < name.len; i++)
        text[i] =
            (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] | 0x20 : name.ptr[i]);
    *out = (tn_str){text, name.len};
    return TARN_OK;
}

/* Fields by name; folded names that several share lead nowhere. */
static int map_names(tarn_cx *cx, tn_csv_columns *columns, bool folded, tn_map *out)
{
    int rc = TARN_OK;

    for (size_t i = 0; i < columns->field_count; i++) {
        tn_str name = columns->names[i];
        bool added;
        size_t *place;

        if (folded)
            TN_TRY(fold(cx, &columns->arena, name, &name));
        place = tn_map_add(cx, out, name, &added);
        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
        *place = added ? i : TN_CSV_NO_SOURCE;
    }
done:
    return rc;
}

/* Where the columns of the schema come from, and which fields of a record are used so: by name,
 * exactly, then without regard to case. */
static int find_sources(tarn_cx *cx, tn_csv_columns *columns, const struct ArrowSchema *schema,
                        size_t *sources, bool *used)
{
    size_t count = schema != NULL ? (size_t)schema->n_children : 0;
    tn_map exact = {0}, folded = {0};
    int rc = TARN_OK;

    TN_TRY(map_names(cx, columns, false, &exact));
    TN_TRY(map_names(cx, columns, true, &folded));
    for (size_t i = 0; i < count; i++) {
        size_t *place = tn_map_find(&exact, tn_str_of(schema->children[i]->name));

        sources[i] = place != NULL ? *place : TN_CSV_NO_SOURCE;
        if (place != NULL)
            used[*place] = true;
    }
    for (size_t i = 0; i < count; i++) {
        size_t *place;
        tn_str name;

        if (sources[i] != TN_CSV_NO_SOURCE)
            continue;
        TN_TRY(fold(cx, &columns->arena, tn_str_of(schema->children[i]->name), &name));
        place = tn_map_find(&folded, name);
        if (place == NULL || *place == TN_CSV_NO_SOURCE || used[*place])
            continue;
        sources[i] = *place;
        used[*place] = true;
    }
done:
    tn_map_clear(&exact);
    tn_map_clear(&folded);
    return rc;
}

/* The metadata of the schema given, and room for `count` columns. */
static int start_schema(tarn_cx *cx, const struct ArrowSchema *given, size_t count,
                        struct ArrowSchema *out)
{
    tn_buf metadata = {0};
    tn_str key, value;
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, out, "+s", TN_STR(""), false, count));
    for (int32_t i = 0; given != NULL && tn_metadata_at(given->metadata, i, &key, &value); i++)
        tn_metadata_add(&metadata, key, value);
    TN_TRY(tn_field_set_metadata(cx, out, &metadata));
done:
    tn_buf_clear(&metadata);
    return rc;
}

int tn_csv_columns_settle(tarn_cx *cx, tn_csv_columns *columns, const tn_text_read_options *options)
{
    size_t given = options->schema != NULL ? (size_t)options->schema->n_children : 0;
    size_t count = given, fields = columns->field_count;
    bool *used = tn_arena_array(cx, &columns->arena, fields, sizeof *used);
    size_t *sources = tn_arena_array(cx, &columns->arena, given, sizeof *sources);
    struct ArrowSchema schema = {0};
    int rc = TARN_OK;

    if (used == NULL || sources == NULL)
        return TARN_E_NOMEM;
    TN_TRY(find_sources(cx, columns, options->schema, sources, used));
    for (size_t i = 0; columns->guesses != NULL && i < fields; i++)
        count += !used[i];
    columns->list = tn_arena_array(cx, &columns->arena, count, sizeof *columns->list);
    if (columns->list == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(start_schema(cx, options->schema, count, &schema));
    for (size_t i = 0; i < given; i++)
        TN_TRY(
            add_given(cx, columns, options->schema->children[i], sources[i], schema.children[i]));
    for (size_t i = 0; columns->guesses != NULL && i < fields; i++)
        if (!used[i])
            TN_TRY(add_guessed(cx, columns, i, schema.children[columns->count]));
    if (columns->guesses == NULL)
        TN_TRY(warn_left_out(cx, columns, options, used));
    TN_TRY(tn_build_open(cx, &schema, &columns->build));
    for (size_t i = 0; i < count; i++)
        columns->list[i].build = tn_build_child(columns->build, i);
done:
    tn_field_release(&schema);
    return rc;
}
