/* Encoders of Parquet's Thrift structures. Fields ascend and absent ones are left out, so equal
 * structs give equal bytes. */
#include "codec/parquet/meta.h"
#include "codec/parquet/statistics.h"

static void put_empty(tn_buf *out, int32_t *last, int32_t id)
{
    tn_thrift_put_struct(out, last, id);
    tn_thrift_end(out);
}

static void put_i64_list(tn_buf *out, int32_t *last, int32_t id, const int64_t *list, size_t count)
{
    tn_thrift_put_list(out, last, id, TN_THRIFT_I64, count);
    for (size_t i = 0; i < count; i++)
        tn_thrift_add_i64(out, list[i]);
}

static void put_binary_list(tn_buf *out, int32_t *last, int32_t id, const tn_str *list,
                            size_t count)
{
    tn_thrift_put_list(out, last, id, TN_THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++)
        tn_thrift_add_binary(out, list[i]);
}

static void put_key_values(tn_buf *out, int32_t *last, int32_t id, const tn_key_value *list,
                           size_t count)
{
    tn_thrift_put_list(out, last, id, TN_THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        int32_t at = 0;

        tn_thrift_put_binary(out, &at, 1, list[i].key);
        if (list[i].has_value)
            tn_thrift_put_binary(out, &at, 2, list[i].value);
        tn_thrift_end(out);
    }
}

static void put_time(tn_buf *out, const tn_element *element)
{
    int32_t last = 0;
    int32_t unit = 0;

    tn_thrift_put_bool(out, &last, 1, element->adjusted_to_utc);
    tn_thrift_put_struct(out, &last, 2);
    put_empty(out, &unit, element->unit);
    tn_thrift_end(out);
}

/* The LogicalType union, its stop byte included. */
static void put_logical(tn_buf *out, const tn_element *element)
{
    int32_t last = 0;
    int32_t inner = 0;

    if (element->logical_raw.len != 0) {
        tn_buf_str(out, element->logical_raw);
        return;
    }
    tn_thrift_put_struct(out, &last, element->logical);
    switch (element->logical) {
    case TN_LOGICAL_DECIMAL:
        tn_thrift_put_i32(out, &inner, 1, element->scale);
        tn_thrift_put_i32(out, &inner, 2, element->precision);
        break;
    case TN_LOGICAL_TIME:
    case TN_LOGICAL_TIMESTAMP:
        put_time(out, element);
        break;
    case TN_LOGICAL_INTEGER:
        tn_thrift_put_i8(out, &inner, 1, element->bit_width);
        tn_thrift_put_bool(out, &inner, 2, element->is_signed);
        break;
    default:
        break;
    }
    tn_thrift_end(out);
    tn_thrift_end(out);
}

static void put_element(tn_buf *out, const tn_element *element, bool root)
{
    bool decimal = element->converted == TN_DECIMAL || element->logical == TN_LOGICAL_DECIMAL;
    int32_t last = 0;

    if (!element->group) {
        tn_thrift_put_i32(out, &last, 1, element->physical);
        if (element->physical == TN_FIXED)
            tn_thrift_put_i32(out, &last, 2, element->type_length);
    }
    if (!root)
        tn_thrift_put_i32(out, &last, 3, element->repetition);
    tn_thrift_put_binary(out, &last, 4, element->name);
    if (element->group)
        tn_thrift_put_i32(out, &last, 5, element->children);
    if (element->converted != TN_CONVERTED_NONE)
        tn_thrift_put_i32(out, &last, 6, element->converted);
    if (decimal) {
        tn_thrift_put_i32(out, &last, 7, element->scale);
        tn_thrift_put_i32(out, &last, 8, element->precision);
    }
    if (element->has_field_id)
        tn_thrift_put_i32(out, &last, 9, element->field_id);
    if (element->logical != TN_LOGICAL_NONE) {
        tn_thrift_put_struct(out, &last, 10);
        put_logical(out, element);
    }
    tn_thrift_end(out);
}

static void put_size_statistics(tn_buf *out, const tn_size_statistics *s)
{
    int32_t last = 0;

    if (s->has_unencoded)
        tn_thrift_put_i64(out, &last, 1, s->unencoded_bytes);
    if (s->rep_histogram != NULL)
        put_i64_list(out, &last, 2, s->rep_histogram, s->rep_count);
    if (s->def_histogram != NULL)
        put_i64_list(out, &last, 3, s->def_histogram, s->def_count);
    tn_thrift_end(out);
}

static void put_encoding_stats(tn_buf *out, int32_t *last, const tn_chunk_meta *chunk)
{
    tn_thrift_put_list(out, last, 13, TN_THRIFT_STRUCT, chunk->encoding_stat_count);
    for (size_t i = 0; i < chunk->encoding_stat_count; i++) {
        int32_t at = 0;

        tn_thrift_put_i32(out, &at, 1, chunk->encoding_stats[i].page_type);
        tn_thrift_put_i32(out, &at, 2, chunk->encoding_stats[i].encoding);
        tn_thrift_put_i32(out, &at, 3, chunk->encoding_stats[i].count);
        tn_thrift_end(out);
    }
}

static void put_column_meta(tn_buf *out, const tn_chunk_meta *chunk)
{
    int32_t last = 0;

    tn_thrift_put_i32(out, &last, 1, chunk->physical);
    tn_thrift_put_list(out, &last, 2, TN_THRIFT_I32, chunk->encoding_count);
    for (size_t i = 0; i < chunk->encoding_count; i++)
        tn_thrift_add_i64(out, chunk->encodings[i]);
    put_binary_list(out, &last, 3, chunk->path, chunk->path_count);
    tn_thrift_put_i32(out, &last, 4, chunk->codec);
    tn_thrift_put_i64(out, &last, 5, chunk->values);
    tn_thrift_put_i64(out, &last, 6, chunk->uncompressed_bytes);
    tn_thrift_put_i64(out, &last, 7, chunk->compressed_bytes);
    if (chunk->key_value_count != 0)
        put_key_values(out, &last, 8, chunk->key_values, chunk->key_value_count);
    tn_thrift_put_i64(out, &last, 9, chunk->data_page_offset);
    if (chunk->has_index_page_offset)
        tn_thrift_put_i64(out, &last, 10, chunk->index_page_offset);
    if (chunk->has_dictionary_page_offset)
        tn_thrift_put_i64(out, &last, 11, chunk->dictionary_page_offset);
    if (chunk->has_statistics) {
        tn_thrift_put_struct(out, &last, 12);
        tn_statistics_put(out, &chunk->statistics);
    }
    if (chunk->encoding_stat_count != 0)
        put_encoding_stats(out, &last, chunk);
    if (chunk->has_bloom)
        tn_thrift_put_i64(out, &last, 14, chunk->bloom_offset);
    if (chunk->has_bloom && chunk->bloom_bytes != 0)
        tn_thrift_put_i32(out, &last, 15, chunk->bloom_bytes);
    if (chunk->size_statistics.present) {
        tn_thrift_put_struct(out, &last, 16);
        put_size_statistics(out, &chunk->size_statistics);
    }
    if (chunk->geospatial_raw.len != 0) {
        tn_thrift_put_struct(out, &last, 17);
        tn_buf_str(out, chunk->geospatial_raw);
    }
    tn_thrift_end(out);
}

static void put_chunk(tn_buf *out, const tn_chunk_meta *chunk)
{
    int32_t last = 0;

    if (chunk->file_path.len != 0)
        tn_thrift_put_binary(out, &last, 1, chunk->file_path);
    tn_thrift_put_i64(out, &last, 2, chunk->file_offset);
    if (chunk->has_meta) {
        tn_thrift_put_struct(out, &last, 3);
        put_column_meta(out, chunk);
    }
    if (chunk->offset_index_offset != 0) {
        tn_thrift_put_i64(out, &last, 4, chunk->offset_index_offset);
        tn_thrift_put_i32(out, &last, 5, chunk->offset_index_bytes);
    }
    if (chunk->column_index_offset != 0) {
        tn_thrift_put_i64(out, &last, 6, chunk->column_index_offset);
        tn_thrift_put_i32(out, &last, 7, chunk->column_index_bytes);
    }
    tn_thrift_end(out);
}

static void put_sorting(tn_buf *out, int32_t *last, const tn_row_group_meta *group)
{
    tn_thrift_put_list(out, last, 4, TN_THRIFT_STRUCT, group->sorting_count);
    for (size_t i = 0; i < group->sorting_count; i++) {
        int32_t at = 0;

        tn_thrift_put_i32(out, &at, 1, group->sorting[i].column);
        tn_thrift_put_bool(out, &at, 2, group->sorting[i].descending);
        tn_thrift_put_bool(out, &at, 3, group->sorting[i].nulls_first);
        tn_thrift_end(out);
    }
}

static void put_group(tn_buf *out, const tn_row_group_meta *group)
{
    int32_t last = 0;

    tn_thrift_put_list(out, &last, 1, TN_THRIFT_STRUCT, group->column_count);
    for (size_t i = 0; i < group->column_count; i++)
        put_chunk(out, &group->columns[i]);
    tn_thrift_put_i64(out, &last, 2, group->total_bytes);
    tn_thrift_put_i64(out, &last, 3, group->rows);
    if (group->sorting_count != 0)
        put_sorting(out, &last, group);
    if (group->file_offset != 0)
        tn_thrift_put_i64(out, &last, 5, group->file_offset);
    if (group->compressed_bytes != 0)
        tn_thrift_put_i64(out, &last, 6, group->compressed_bytes);
    /* The field has 16 bits; a file with more groups goes without, as other writers do. */
    if (group->ordinal >= 0 && group->ordinal <= INT16_MAX)
        tn_thrift_put_i16(out, &last, 7, group->ordinal);
    tn_thrift_end(out);
}

void tn_footer_encode(tn_buf *out, const tn_footer *footer)
{
    int32_t last = 0;

    tn_thrift_put_i32(out, &last, 1, footer->version);
    tn_thrift_put_list(out, &last, 2, TN_THRIFT_STRUCT, footer->element_count);
    for (size_t i = 0; i < footer->element_count; i++)
        put_element(out, &footer->elements[i], i == 0);
    tn_thrift_put_i64(out, &last, 3, footer->rows);
    tn_thrift_put_list(out, &last, 4, TN_THRIFT_STRUCT, footer->group_count);
    for (size_t i = 0; i < footer->group_count; i++)
        put_group(out, &footer->groups[i]);
    if (footer->key_value_count != 0)
        put_key_values(out, &last, 5, footer->key_values, footer->key_value_count);
    if (footer->created_by.len != 0)
        tn_thrift_put_binary(out, &last, 6, footer->created_by);
    if (footer->column_order_count != 0) {
        tn_thrift_put_list(out, &last, 7, TN_THRIFT_STRUCT, footer->column_order_count);
        for (size_t i = 0; i < footer->column_order_count; i++) {
            int32_t at = 0;

            if (footer->column_orders[i] != 0)
                put_empty(out, &at, footer->column_orders[i]);
            tn_thrift_end(out);
        }
    }
    tn_thrift_end(out);
}

static void put_page_v1(tn_buf *out, int32_t *last, const tn_page_header *header)
{
    int32_t at = 0;

    tn_thrift_put_struct(out, last, 5);
    tn_thrift_put_i32(out, &at, 1, header->values);
    tn_thrift_put_i32(out, &at, 2, header->encoding);
    tn_thrift_put_i32(out, &at, 3, header->def_encoding);
    tn_thrift_put_i32(out, &at, 4, header->rep_encoding);
    if (header->has_statistics) {
        tn_thrift_put_struct(out, &at, 5);
        tn_statistics_put(out, &header->statistics);
    }
    tn_thrift_end(out);
}

static void put_page_v2(tn_buf *out, int32_t *last, const tn_page_header *header)
{
    int32_t at = 0;

    tn_thrift_put_struct(out, last, 8);
    tn_thrift_put_i32(out, &at, 1, header->values);
    tn_thrift_put_i32(out, &at, 2, header->nulls);
    tn_thrift_put_i32(out, &at, 3, header->rows);
    tn_thrift_put_i32(out, &at, 4, header->encoding);
    tn_thrift_put_i32(out, &at, 5, header->def_bytes);
    tn_thrift_put_i32(out, &at, 6, header->rep_bytes);
    tn_thrift_put_bool(out, &at, 7, header->compressed);
    if (header->has_statistics) {
        tn_thrift_put_struct(out, &at, 8);
        tn_statistics_put(out, &header->statistics);
    }
    tn_thrift_end(out);
}

void tn_page_header_encode(tn_buf *out, const tn_page_header *header)
{
    int32_t last = 0;
    int32_t at = 0;

    tn_thrift_put_i32(out, &last, 1, header->type);
    tn_thrift_put_i32(out, &last, 2, header->uncompressed_bytes);
    tn_thrift_put_i32(out, &last, 3, header->compressed_bytes);
    if (header->has_crc)
        tn_thrift_put_i32(out, &last, 4, (int32_t)header->crc);
    if (header->type == TN_PAGE_DATA) {
        put_page_v1(out, &last, header);
    } else if (header->type == TN_PAGE_DICTIONARY) {
        tn_thrift_put_struct(out, &last, 7);
        tn_thrift_put_i32(out, &at, 1, header->values);
        tn_thrift_put_i32(out, &at, 2, header->encoding);
        if (header->sorted)
            tn_thrift_put_bool(out, &at, 3, true);
        tn_thrift_end(out);
    } else if (header->type == TN_PAGE_DATA_V2) {
        put_page_v2(out, &last, header);
    }
    tn_thrift_end(out);
}

void tn_column_index_encode(tn_buf *out, const tn_column_index *index)
{
    int32_t last = 0;

    tn_thrift_put_list(out, &last, 1, TN_THRIFT_TRUE, index->pages);
    for (size_t i = 0; i < index->pages; i++)
        tn_thrift_add_bool(out, index->null_pages[i]);
    put_binary_list(out, &last, 2, index->min, index->pages);
    put_binary_list(out, &last, 3, index->max, index->pages);
    tn_thrift_put_i32(out, &last, 4, index->boundary_order);
    if (index->null_counts != NULL)
        put_i64_list(out, &last, 5, index->null_counts, index->pages);
    if (index->rep_histograms != NULL)
        put_i64_list(out, &last, 6, index->rep_histograms, index->rep_histogram_count);
    if (index->def_histograms != NULL)
        put_i64_list(out, &last, 7, index->def_histograms, index->def_histogram_count);
    if (index->nan_counts != NULL)
        put_i64_list(out, &last, 8, index->nan_counts, index->pages);
    tn_thrift_end(out);
}

void tn_offset_index_encode(tn_buf *out, const tn_offset_index *index)
{
    int32_t last = 0;

    tn_thrift_put_list(out, &last, 1, TN_THRIFT_STRUCT, index->pages);
    for (size_t i = 0; i < index->pages; i++) {
        int32_t at = 0;

        tn_thrift_put_i64(out, &at, 1, index->locations[i].offset);
        tn_thrift_put_i32(out, &at, 2, index->locations[i].bytes);
        tn_thrift_put_i64(out, &at, 3, index->locations[i].first_row);
        tn_thrift_end(out);
    }
    if (index->unencoded_bytes != NULL)
        put_i64_list(out, &last, 2, index->unencoded_bytes, index->pages);
    tn_thrift_end(out);
}

void tn_bloom_header_encode(tn_buf *out, int32_t bytes)
{
    int32_t last = 0;

    tn_thrift_put_i32(out, &last, 1, bytes);
    for (int32_t id = 2; id <= 4; id++) {
        int32_t at = 0;

        tn_thrift_put_struct(out, &last, id);
        put_empty(out, &at, 1);
        tn_thrift_end(out);
    }
    tn_thrift_end(out);
}
