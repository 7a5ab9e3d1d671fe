/* Decodes footers. The bytes: docs/format/parquet-footer.md.
 *
 * I1: what is missing though every reader needs it is CORRUPT by name; what old writers leave out
 *     (version, total_byte_size, file_offset, encodings, repetition) is not.
 * I2: an array is only made after its count met a limit and the bytes left, with the fewest bytes a
 *     valid element takes, so memory stays within a constant factor of the input.
 * I3: negative counts and sizes never leave a decoder. */
#include "codec/parquet/meta.h"
#include "codec/parquet/statistics.h"

/* The fewest bytes of valid elements. */
#define CHUNK_BYTES_MIN     5
#define GROUP_BYTES_MIN     5
#define ELEMENT_BYTES_MIN   3
#define KEY_VALUE_BYTES_MIN 3

static void take_key_values(tn_thrift *t, const tn_thrift_field *field, tn_key_value **out,
                            size_t *count)
{
    tn_key_value *list;
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, KEY_VALUE_BYTES_MIN, &n))
        return;
    list = tn_thrift_array(t, n, sizeof *list);
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++) {
        tn_thrift_field f = {0};
        bool has_key = false;

        while (tn_thrift_next(t, &f)) {
            if (f.id == 1)
                has_key = tn_thrift_take_binary(t, &f, &list[i].key);
            else if (f.id == 2)
                list[i].has_value = tn_thrift_take_binary(t, &f, &list[i].value);
            else
                tn_thrift_skip(t, &f);
        }
        tn_thrift_need(t, has_key, "a key-value pair without key");
    }
    *out = list;
    *count = n;
}

static void read_unit(tn_thrift *t, tn_element *element)
{
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        element->unit = f.id;
        tn_thrift_skip(t, &f);
    }
}

static void read_time(tn_thrift *t, tn_element *element)
{
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        if (f.id == 1)
            tn_thrift_take_bool(t, &f, &element->adjusted_to_utc);
        else if (f.id == 2 && tn_thrift_take_struct(t, &f))
            read_unit(t, element);
        else if (f.id != 2)
            tn_thrift_skip(t, &f);
    }
}

static void read_decimal(tn_thrift *t, tn_element *element)
{
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        if (f.id == 1)
            tn_thrift_take_i32(t, &f, &element->scale);
        else if (f.id == 2)
            tn_thrift_take_i32(t, &f, &element->precision);
        else
            tn_thrift_skip(t, &f);
    }
}

static void read_integer(tn_thrift *t, tn_element *element)
{
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        if (f.id == 1)
            tn_thrift_take_i8(t, &f, &element->bit_width);
        else if (f.id == 2)
            tn_thrift_take_bool(t, &f, &element->is_signed);
        else
            tn_thrift_skip(t, &f);
    }
}

/* True for members whose bytes the encoder can make again from the fields of tn_element. */
static bool interpreted(const tn_element *element)
{
    switch (element->logical) {
    case TN_LOGICAL_TIME:
    case TN_LOGICAL_TIMESTAMP:
        return element->unit >= TN_MILLIS && element->unit <= TN_NANOS;
    case TN_LOGICAL_VARIANT:
    case TN_LOGICAL_GEOMETRY:
    case TN_LOGICAL_GEOGRAPHY:
        return false;
    default:
        return element->logical >= TN_LOGICAL_STRING && element->logical <= TN_LOGICAL_FLOAT16 &&
               element->logical != 9;
    }
}

static void read_logical(tn_thrift *t, tn_element *element)
{
    size_t start = t->c.at;
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        if (element->logical == TN_LOGICAL_NONE)
            element->logical = f.id;
        if (f.type != TN_THRIFT_STRUCT || element->logical != f.id)
            tn_thrift_skip(t, &f);
        else if (f.id == TN_LOGICAL_DECIMAL)
            read_decimal(t, element);
        else if (f.id == TN_LOGICAL_TIME || f.id == TN_LOGICAL_TIMESTAMP)
            read_time(t, element);
        else if (f.id == TN_LOGICAL_INTEGER)
            read_integer(t, element);
        else
            tn_thrift_skip(t, &f);
    }
    if (!tn_thrift_failed(t) && element->logical != TN_LOGICAL_NONE && !interpreted(element))
        element->logical_raw = (tn_str){(const char *)t->c.data + start, t->c.at - start};
}

bool tn_logical_decode(tarn_cx *cx, tn_str raw, tn_element *element)
{
    tn_arena arena = {0};
    tn_thrift t = tn_thrift_over(cx, raw, &arena);
    tn_element read = *element;
    bool whole;

    read_logical(&t, &read);
    whole = !tn_thrift_failed(&t) && t.c.at == raw.len && read.logical != TN_LOGICAL_NONE;
    tn_arena_clear(&arena);
    if (!whole) {
        tn_cx_forget(cx);
        return false;
    }
    *element = read;
    return true;
}

static void read_element(tn_thrift *t, tn_element *element)
{
    tn_thrift_field f = {0};
    bool has_name = false;
    bool has_type = false;
    int32_t physical = 0;
    int32_t repetition = TN_REQUIRED;

    element->converted = TN_CONVERTED_NONE;
    while (tn_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            has_type = tn_thrift_take_i32(t, &f, &physical);
            break;
        case 2:
            tn_thrift_take_i32(t, &f, &element->type_length);
            break;
        case 3:
            tn_thrift_take_i32(t, &f, &repetition);
            break;
        case 4:
            has_name = tn_thrift_take_binary(t, &f, &element->name);
            break;
        case 5:
            element->children = tn_thrift_take_count(t, &f, "a negative number of children");
            break;
        case 6:
            tn_thrift_take_i32(t, &f, &element->converted);
            break;
        case 7:
            tn_thrift_take_i32(t, &f, &element->scale);
            break;
        case 8:
            tn_thrift_take_i32(t, &f, &element->precision);
            break;
        case 9:
            element->has_field_id = tn_thrift_take_i32(t, &f, &element->field_id);
            break;
        case 10:
            if (tn_thrift_take_struct(t, &f))
                read_logical(t, element);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    element->group = !has_type;
    element->physical = (enum tn_physical)physical;
    element->repetition = (enum tn_repetition)repetition;
    tn_thrift_need(t, has_name, "a schema element without name");
}

static void take_elements(tn_thrift *t, const tn_thrift_field *field, tn_footer *out)
{
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, ELEMENT_BYTES_MIN, &n))
        return;
    out->elements = tn_thrift_array(t, n, sizeof *out->elements);
    out->element_count = n;
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++)
        read_element(t, &out->elements[i]);
}

static void read_size_statistics(tn_thrift *t, tn_size_statistics *out)
{
    tn_thrift_field f = {0};

    out->present = true;
    while (tn_thrift_next(t, &f)) {
        if (f.id == 1)
            out->has_unencoded = tn_thrift_take_i64(t, &f, &out->unencoded_bytes);
        else if (f.id == 2)
            tn_thrift_take_i64s(t, &f, &out->rep_histogram, &out->rep_count);
        else if (f.id == 3)
            tn_thrift_take_i64s(t, &f, &out->def_histogram, &out->def_count);
        else
            tn_thrift_skip(t, &f);
    }
}

static void take_encoding_stats(tn_thrift *t, const tn_thrift_field *field, tn_chunk_meta *out)
{
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, 1, &n))
        return;
    out->encoding_stats = tn_thrift_array(t, n, sizeof *out->encoding_stats);
    out->encoding_stat_count = n;
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++) {
        tn_encoding_stat *stat = &out->encoding_stats[i];
        tn_thrift_field f = {0};

        while (tn_thrift_next(t, &f)) {
            if (f.id == 1)
                tn_thrift_take_i32(t, &f, &stat->page_type);
            else if (f.id == 2)
                tn_thrift_take_i32(t, &f, &stat->encoding);
            else if (f.id == 3)
                tn_thrift_take_i32(t, &f, &stat->count);
            else
                tn_thrift_skip(t, &f);
        }
    }
}

static void take_raw(tn_thrift *t, const tn_thrift_field *field, tn_str *out)
{
    size_t start = t->c.at;

    tn_thrift_skip(t, field);
    if (!tn_thrift_failed(t) && field->type == TN_THRIFT_STRUCT)
        *out = (tn_str){(const char *)t->c.data + start, t->c.at - start};
}

/* ColumnMetaData; `seen` has a bit per required field. */
static void read_column_meta(tn_thrift *t, tn_chunk_meta *out)
{
    tn_thrift_field f = {0};
    uint32_t seen = 0;

    while (tn_thrift_next(t, &f)) {
        if (f.id > 0 && f.id < 32)
            seen |= 1u << f.id;
        switch (f.id) {
        case 1:
            tn_thrift_take_i32(t, &f, &out->physical);
            break;
        case 2:
            tn_thrift_take_i32s(t, &f, &out->encodings, &out->encoding_count);
            break;
        case 3:
            tn_thrift_take_binaries(t, &f, &out->path, &out->path_count);
            break;
        case 4:
            tn_thrift_take_i32(t, &f, &out->codec);
            break;
        case 5:
            out->values = tn_thrift_take_size(t, &f, "a negative number of values");
            break;
        case 6:
            out->uncompressed_bytes = tn_thrift_take_size(t, &f, "a negative uncompressed size");
            break;
        case 7:
            out->compressed_bytes = tn_thrift_take_size(t, &f, "a negative compressed size");
            break;
        case 8:
            take_key_values(t, &f, &out->key_values, &out->key_value_count);
            break;
        case 9:
            out->data_page_offset = tn_thrift_take_size(t, &f, "a negative data page offset");
            break;
        case 10:
            out->has_index_page_offset = tn_thrift_take_i64(t, &f, &out->index_page_offset);
            break;
        case 11:
            out->has_dictionary_page_offset =
                tn_thrift_take_i64(t, &f, &out->dictionary_page_offset);
            break;
        case 12:
            if ((out->has_statistics = tn_thrift_take_struct(t, &f)))
                tn_statistics_read(t, &out->statistics);
            break;
        case 13:
            take_encoding_stats(t, &f, out);
            break;
        case 14:
            out->has_bloom = tn_thrift_take_i64(t, &f, &out->bloom_offset);
            break;
        case 15:
            tn_thrift_take_i32(t, &f, &out->bloom_bytes);
            break;
        case 16:
            if (tn_thrift_take_struct(t, &f))
                read_size_statistics(t, &out->size_statistics);
            break;
        case 17:
            take_raw(t, &f, &out->geospatial_raw);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    tn_thrift_need(t, seen & 1u << 1, "column metadata without type");
    tn_thrift_need(t, seen & 1u << 4, "column metadata without codec");
    tn_thrift_need(t, seen & 1u << 5, "column metadata without number of values");
    tn_thrift_need(t, seen & 1u << 7, "column metadata without compressed size");
    tn_thrift_need(t, seen & 1u << 9, "column metadata without data page offset");
}

static void read_chunk(tn_thrift *t, tn_chunk_meta *out)
{
    tn_thrift_field f = {0};

    while (tn_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            tn_thrift_take_binary(t, &f, &out->file_path);
            break;
        case 2:
            tn_thrift_take_i64(t, &f, &out->file_offset);
            break;
        case 3:
            if ((out->has_meta = tn_thrift_take_struct(t, &f)))
                read_column_meta(t, out);
            break;
        case 4:
            tn_thrift_take_i64(t, &f, &out->offset_index_offset);
            break;
        case 5:
            tn_thrift_take_i32(t, &f, &out->offset_index_bytes);
            break;
        case 6:
            tn_thrift_take_i64(t, &f, &out->column_index_offset);
            break;
        case 7:
            tn_thrift_take_i32(t, &f, &out->column_index_bytes);
            break;
        case 8:
        case 9:
            out->encrypted = true;
            tn_thrift_skip(t, &f);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    tn_thrift_need(t, out->has_meta || out->encrypted, "a column chunk without metadata");
}

static void take_chunks(tn_thrift *t, const tn_thrift_field *field, tn_row_group_meta *out)
{
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, CHUNK_BYTES_MIN, &n))
        return;
    if (n > TN_PARQUET_LEAVES_MAX) {
        tn_thrift_fault(t, "a row group of more than 100000 columns");
        return;
    }
    out->columns = tn_thrift_array(t, n, sizeof *out->columns);
    out->column_count = n;
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++)
        read_chunk(t, &out->columns[i]);
}

static void take_sorting(tn_thrift *t, const tn_thrift_field *field, tn_row_group_meta *out)
{
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, 1, &n))
        return;
    out->sorting = tn_thrift_array(t, n, sizeof *out->sorting);
    out->sorting_count = n;
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++) {
        tn_sorting_column *column = &out->sorting[i];
        tn_thrift_field f = {0};

        while (tn_thrift_next(t, &f)) {
            if (f.id == 1)
                column->column = tn_thrift_take_count(t, &f, "a negative sorting column");
            else if (f.id == 2)
                tn_thrift_take_bool(t, &f, &column->descending);
            else if (f.id == 3)
                tn_thrift_take_bool(t, &f, &column->nulls_first);
            else
                tn_thrift_skip(t, &f);
        }
    }
}

static void read_group(tn_thrift *t, tn_row_group_meta *out)
{
    tn_thrift_field f = {0};
    bool has_columns = false;
    bool has_rows = false;

    out->ordinal = -1;
    while (tn_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            has_columns = true;
            take_chunks(t, &f, out);
            break;
        case 2:
            tn_thrift_take_i64(t, &f, &out->total_bytes);
            break;
        case 3:
            has_rows = true;
            out->rows = tn_thrift_take_size(t, &f, "a negative number of rows");
            break;
        case 4:
            take_sorting(t, &f, out);
            break;
        case 5:
            tn_thrift_take_i64(t, &f, &out->file_offset);
            break;
        case 6:
            tn_thrift_take_i64(t, &f, &out->compressed_bytes);
            break;
        case 7:
            tn_thrift_take_i32(t, &f, &out->ordinal);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    tn_thrift_need(t, has_columns, "a row group without columns");
    tn_thrift_need(t, has_rows, "a row group without number of rows");
}

static void take_groups(tn_thrift *t, const tn_thrift_field *field, tn_footer *out)
{
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, GROUP_BYTES_MIN, &n))
        return;
    if (n > TN_PARQUET_ROW_GROUPS_MAX) {
        tn_thrift_fault(t, "more than 1000000 row groups");
        return;
    }
    out->groups = tn_thrift_array(t, n, sizeof *out->groups);
    out->group_count = n;
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++)
        read_group(t, &out->groups[i]);
}

static void take_column_orders(tn_thrift *t, const tn_thrift_field *field, tn_footer *out)
{
    size_t n;

    if (!tn_thrift_take_list(t, field, TN_THRIFT_STRUCT, 1, &n))
        return;
    out->column_orders = tn_thrift_array(t, n, sizeof *out->column_orders);
    out->column_order_count = n;
    for (size_t i = 0; i < n && !tn_thrift_failed(t); i++) {
        tn_thrift_field f = {0};

        while (tn_thrift_next(t, &f)) {
            out->column_orders[i] = f.id;
            tn_thrift_skip(t, &f);
        }
    }
}

int tn_footer_decode_kept(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_footer *out)
{
    tn_thrift t = tn_thrift_over(cx, bytes, arena);
    tn_thrift_field f = {0};
    tn_footer footer = {0};
    bool has_schema = false;
    bool has_rows = false;
    bool has_groups = false;
    int rc;

    while (tn_thrift_next(&t, &f)) {
        switch (f.id) {
        case 1:
            tn_thrift_take_i32(&t, &f, &footer.version);
            break;
        case 2:
            has_schema = true;
            take_elements(&t, &f, &footer);
            break;
        case 3:
            has_rows = true;
            footer.rows = tn_thrift_take_size(&t, &f, "a negative number of rows");
            break;
        case 4:
            has_groups = true;
            take_groups(&t, &f, &footer);
            break;
        case 5:
            take_key_values(&t, &f, &footer.key_values, &footer.key_value_count);
            break;
        case 6:
            tn_thrift_take_binary(&t, &f, &footer.created_by);
            break;
        case 7:
            take_column_orders(&t, &f, &footer);
            break;
        case 8:
            footer.encrypted = true;
            tn_thrift_skip(&t, &f);
            break;
        default:
            tn_thrift_skip(&t, &f);
        }
    }
    tn_thrift_need(&t, has_schema, "no schema");
    tn_thrift_need(&t, has_rows, "no number of rows");
    tn_thrift_need(&t, has_groups, "no list of row groups");
    rc = tn_thrift_check(cx, &t, "footer");
    if (rc == TARN_OK)
        *out = footer;
    return rc;
}

int tn_footer_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_footer *out)
{
    int rc = tn_arena_keep(cx, arena, &bytes);

    return rc == TARN_OK ? tn_footer_decode_kept(cx, bytes, arena, out) : rc;
}
