/* Decodes column indexes, offset indexes and the headers of bloom filters.
 *
 * I1: all lists of an index have one entry per page. */
#include "codec/parquet/meta.h"
#include "codec/parquet/thrift.h"

#define LOCATION_BYTES_MIN 7 /* the fewest of a valid one */

int tn_column_index_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_column_index *out)
{
    size_t min_count = 0;
    size_t max_count = 0;
    size_t null_count = 0;
    size_t nan_count = 0;
    tn_column_index index = {0};
    tn_thrift_field f = {0};
    tn_thrift t;
    int rc = TARN_OK;

    TN_TRY(tn_arena_keep(cx, arena, &bytes));
    t = tn_thrift_over(cx, bytes, arena);
    while (tn_thrift_next(&t, &f)) {
        switch (f.id) {
        case 1:
            tn_thrift_take_bools(&t, &f, &index.null_pages, &index.pages);
            break;
        case 2:
            tn_thrift_take_binaries(&t, &f, &index.min, &min_count);
            break;
        case 3:
            tn_thrift_take_binaries(&t, &f, &index.max, &max_count);
            break;
        case 4:
            tn_thrift_take_i32(&t, &f, &index.boundary_order);
            break;
        case 5:
            tn_thrift_take_i64s(&t, &f, &index.null_counts, &null_count);
            break;
        case 6:
            tn_thrift_take_i64s(&t, &f, &index.rep_histograms, &index.rep_histogram_count);
            break;
        case 7:
            tn_thrift_take_i64s(&t, &f, &index.def_histograms, &index.def_histogram_count);
            break;
        case 8:
            tn_thrift_take_i64s(&t, &f, &index.nan_counts, &nan_count);
            break;
        default:
            tn_thrift_skip(&t, &f);
        }
    }
    tn_thrift_need(&t, min_count == index.pages && max_count == index.pages,
                   "lists of different length, where each page has an entry in all");
    tn_thrift_need(&t, index.null_counts == NULL || null_count == index.pages,
                   "null counts that are not one per page");
    tn_thrift_need(&t, index.nan_counts == NULL || nan_count == index.pages,
                   "NaN counts that are not one per page");
    TN_TRY(tn_thrift_check(cx, &t, "column index"));
    *out = index;
done:
    return rc;
}

static void read_location(tn_thrift *t, tn_page_location *out)
{
    tn_thrift_field f = {0};
    uint32_t seen = 0;

    while (tn_thrift_next(t, &f)) {
        if (f.id > 0 && f.id < 32)
            seen |= 1u << f.id;
        if (f.id == 1)
            out->offset = tn_thrift_take_size(t, &f, "a negative page offset");
        else if (f.id == 2)
            out->bytes = tn_thrift_take_count(t, &f, "a negative page size");
        else if (f.id == 3)
            out->first_row = tn_thrift_take_size(t, &f, "a negative first row");
        else
            tn_thrift_skip(t, &f);
    }
    tn_thrift_need(t, (seen & 0xE) == 0xE, "a page location without offset, size or first row");
}

int tn_offset_index_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_offset_index *out)
{
    tn_thrift t = tn_thrift_over(cx, bytes, arena);
    tn_offset_index index = {0};
    tn_thrift_field f = {0};
    size_t unencoded_count = 0;
    size_t n;
    int rc;

    while (tn_thrift_next(&t, &f)) {
        if (f.id == 1 && tn_thrift_take_list(&t, &f, TN_THRIFT_STRUCT, LOCATION_BYTES_MIN, &n)) {
            index.locations = tn_thrift_array(&t, n, sizeof *index.locations);
            index.pages = n;
            for (size_t i = 0; i < n && !tn_thrift_failed(&t); i++)
                read_location(&t, &index.locations[i]);
        } else if (f.id == 2) {
            tn_thrift_take_i64s(&t, &f, &index.unencoded_bytes, &unencoded_count);
        } else if (f.id != 1) {
            tn_thrift_skip(&t, &f);
        }
    }
    /* A list of another length says nothing about any page. */
    if (unencoded_count != index.pages)
        index.unencoded_bytes = NULL;
    rc = tn_thrift_check(cx, &t, "offset index");
    if (rc == TARN_OK)
        *out = index;
    return rc;
}

/* The member's number of a union of empty structs. */
static int32_t take_union(tn_thrift *t, const tn_thrift_field *field)
{
    tn_thrift_field f = {0};
    int32_t member = 0;

    if (!tn_thrift_take_struct(t, field))
        return 0;
    while (tn_thrift_next(t, &f)) {
        member = f.id;
        tn_thrift_skip(t, &f);
    }
    return member;
}

int tn_bloom_header_decode(tarn_cx *cx, tn_str bytes, size_t *header_bytes, int32_t *filter_bytes)
{
    tn_thrift t = tn_thrift_over(cx, bytes, NULL);
    tn_thrift_field f = {0};
    int32_t member[3] = {0}; /* algorithm, hash, compression */
    int32_t size = -1;
    int rc = TARN_OK;

    while (tn_thrift_next(&t, &f)) {
        if (f.id == 1)
            size = tn_thrift_take_count(&t, &f, "a negative size");
        else if (f.id >= 2 && f.id <= 4)
            member[f.id - 2] = take_union(&t, &f);
        else
            tn_thrift_skip(&t, &f);
    }
    tn_thrift_need(&t, size >= 0, "no size");
    TN_TRY(tn_thrift_check(cx, &t, "bloom filter header"));
    if (member[0] != 1 || member[1] != 1 || member[2] != 1)
        TN_FAIL(TARN_E_UNSUPPORTED,
                "bloom filter header: algorithm %d, hash %d, compression %d are not the split "
                "blocks, XXH64 and no compression that tarn knows",
                member[0], member[1], member[2]);
    *header_bytes = t.c.at;
    *filter_bytes = size;
done:
    return rc;
}
