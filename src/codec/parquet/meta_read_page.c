/* Decodes page headers. Their bytes come ahead of the page's and without a length of their own, so
 * the decoder says how many it used, or that more could help.
 *
 * I1: counts, sizes and lengths of a header are not negative. */
#include "codec/parquet/statistics.h"

static void read_data_page(tn_thrift *t, tn_page_header *out)
{
    tn_thrift_field f = {0};
    uint32_t seen = 0;

    while (tn_thrift_next(t, &f)) {
        if (f.id > 0 && f.id < 32)
            seen |= 1u << f.id;
        switch (f.id) {
        case 1:
            out->values = tn_thrift_take_count(t, &f, "a negative number of values");
            break;
        case 2:
            tn_thrift_take_i32(t, &f, &out->encoding);
            break;
        case 3:
            tn_thrift_take_i32(t, &f, &out->def_encoding);
            break;
        case 4:
            tn_thrift_take_i32(t, &f, &out->rep_encoding);
            break;
        case 5:
            if ((out->has_statistics = tn_thrift_take_struct(t, &f)))
                tn_statistics_read(t, &out->statistics);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    tn_thrift_need(t, (seen & 6) == 6, "a data page without number of values or encoding");
}

static void read_data_page_v2(tn_thrift *t, tn_page_header *out)
{
    tn_thrift_field f = {0};
    uint32_t seen = 0;

    out->def_encoding = TN_ENC_RLE;
    out->rep_encoding = TN_ENC_RLE;
    while (tn_thrift_next(t, &f)) {
        if (f.id > 0 && f.id < 32)
            seen |= 1u << f.id;
        switch (f.id) {
        case 1:
            out->values = tn_thrift_take_count(t, &f, "a negative number of values");
            break;
        case 2:
            out->nulls = tn_thrift_take_count(t, &f, "a negative number of nulls");
            break;
        case 3:
            out->rows = tn_thrift_take_count(t, &f, "a negative number of rows");
            break;
        case 4:
            tn_thrift_take_i32(t, &f, &out->encoding);
            break;
        case 5:
            out->def_bytes = tn_thrift_take_count(t, &f, "a negative length of definition levels");
            break;
        case 6:
            out->rep_bytes = tn_thrift_take_count(t, &f, "a negative length of repetition levels");
            break;
        case 7:
            tn_thrift_take_bool(t, &f, &out->compressed);
            break;
        case 8:
            if ((out->has_statistics = tn_thrift_take_struct(t, &f)))
                tn_statistics_read(t, &out->statistics);
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
    tn_thrift_need(t, (seen & 0x7E) == 0x7E,
                   "a data page (version 2) without one of its counts and lengths");
}

static void read_dictionary_page(tn_thrift *t, tn_page_header *out)
{
    tn_thrift_field f = {0};
    bool has_values = false;

    while (tn_thrift_next(t, &f)) {
        if (f.id == 1) {
            has_values = true;
            out->values = tn_thrift_take_count(t, &f, "a negative number of values");
        } else if (f.id == 2) {
            tn_thrift_take_i32(t, &f, &out->encoding);
        } else if (f.id == 3) {
            tn_thrift_take_bool(t, &f, &out->sorted);
        } else {
            tn_thrift_skip(t, &f);
        }
    }
    tn_thrift_need(t, has_values, "a dictionary page without number of values");
}

/* `kinds` has a bit per page type whose own header was met. */
static void read_page_header(tn_thrift *t, tn_page_header *out, uint32_t *seen, uint32_t *kinds)
{
    tn_thrift_field f = {0};
    int32_t crc;

    while (tn_thrift_next(t, &f)) {
        if (f.id > 0 && f.id < 32)
            *seen |= 1u << f.id;
        switch (f.id) {
        case 1:
            tn_thrift_take_i32(t, &f, &out->type);
            break;
        case 2:
            out->uncompressed_bytes = tn_thrift_take_count(t, &f, "a negative uncompressed size");
            break;
        case 3:
            out->compressed_bytes = tn_thrift_take_count(t, &f, "a negative compressed size");
            break;
        case 4:
            if ((out->has_crc = tn_thrift_take_i32(t, &f, &crc)))
                out->crc = (uint32_t)crc;
            break;
        case 5:
            if (out->type == TN_PAGE_DATA && tn_thrift_take_struct(t, &f)) {
                *kinds |= 1u << TN_PAGE_DATA;
                read_data_page(t, out);
            } else if (out->type != TN_PAGE_DATA) {
                tn_thrift_skip(t, &f);
            }
            break;
        case 7:
            if (out->type == TN_PAGE_DICTIONARY && tn_thrift_take_struct(t, &f)) {
                *kinds |= 1u << TN_PAGE_DICTIONARY;
                read_dictionary_page(t, out);
            } else if (out->type != TN_PAGE_DICTIONARY) {
                tn_thrift_skip(t, &f);
            }
            break;
        case 8:
            if (out->type == TN_PAGE_DATA_V2 && tn_thrift_take_struct(t, &f)) {
                *kinds |= 1u << TN_PAGE_DATA_V2;
                read_data_page_v2(t, out);
            } else if (out->type != TN_PAGE_DATA_V2) {
                tn_thrift_skip(t, &f);
            }
            break;
        default:
            tn_thrift_skip(t, &f);
        }
    }
}

int tn_page_header_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_page_header *out,
                          bool *short_input)
{
    tn_thrift t = tn_thrift_over(cx, bytes, arena);
    tn_page_header header = {.type = -1, .nulls = -1, .rows = -1, .compressed = true};
    uint32_t seen = 0;
    uint32_t kinds = 0;
    int rc;

    t.keep = true;
    read_page_header(&t, &header, &seen, &kinds);
    tn_thrift_need(&t, (seen & 0xE) == 0xE, "a page without type or sizes");
    if (header.type == TN_PAGE_DATA || header.type == TN_PAGE_DICTIONARY ||
        header.type == TN_PAGE_DATA_V2)
        tn_thrift_need(&t, kinds & 1u << header.type, "a page without the header of its type");
    *short_input = t.short_input;
    rc = tn_thrift_check(cx, &t, "page header");
    if (rc == TARN_OK) {
        header.header_bytes = t.c.at;
        *out = header;
    }
    return rc;
}
