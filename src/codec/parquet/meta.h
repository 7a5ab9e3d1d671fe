/* The Thrift structures of a Parquet file as plain structs (specification: apache/parquet-format,
 * parquet.thrift 2.11). Enumerations keep the numbers of the format; unknown numbers survive
 * reading and are refused where they matter. All pointers live in the arena given to the decoder.
 * Counts and lengths have been checked against limits.h and the bytes they came from; offsets and
 * sizes have NOT been checked against the file: file.c does that. */
#ifndef TN_PARQUET_META_H
#define TN_PARQUET_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum tn_physical {
    TN_BOOLEAN = 0,
    TN_INT32 = 1,
    TN_INT64 = 2,
    TN_INT96 = 3,
    TN_FLOAT = 4,
    TN_DOUBLE = 5,
    TN_BYTE_ARRAY = 6,
    TN_FIXED = 7 /* FIXED_LEN_BYTE_ARRAY */
};

/* VECTOR (3) is refused by the schema. */
enum tn_repetition { TN_REQUIRED = 0, TN_OPTIONAL = 1, TN_REPEATED = 2 };

enum tn_encoding {
    TN_ENC_PLAIN = 0,
    TN_ENC_PLAIN_DICTIONARY = 2,
    TN_ENC_RLE = 3,
    TN_ENC_BIT_PACKED = 4,
    TN_ENC_DELTA_BINARY_PACKED = 5,
    TN_ENC_DELTA_LENGTH_BYTE_ARRAY = 6,
    TN_ENC_DELTA_BYTE_ARRAY = 7,
    TN_ENC_RLE_DICTIONARY = 8,
    TN_ENC_BYTE_STREAM_SPLIT = 9
};

enum tn_codec {
    TN_CODEC_NONE = 0,
    TN_CODEC_SNAPPY = 1,
    TN_CODEC_GZIP = 2,
    TN_CODEC_LZO = 3,
    TN_CODEC_BROTLI = 4,
    TN_CODEC_LZ4 = 5, /* deprecated: Hadoop's framing, or raw */
    TN_CODEC_ZSTD = 6,
    TN_CODEC_LZ4_RAW = 7
};

enum tn_page_type {
    TN_PAGE_DATA = 0,
    TN_PAGE_INDEX = 1,
    TN_PAGE_DICTIONARY = 2,
    TN_PAGE_DATA_V2 = 3
};

/* Converted types keep the format's numbers (UTF8 0 … INTERVAL 21); -1: absent. */
enum tn_converted {
    TN_CONVERTED_NONE = -1,
    TN_UTF8 = 0,
    TN_MAP = 1,
    TN_MAP_KEY_VALUE = 2,
    TN_LIST = 3,
    TN_ENUM = 4,
    TN_DECIMAL = 5,
    TN_DATE = 6,
    TN_TIME_MILLIS = 7,
    TN_TIME_MICROS = 8,
    TN_TIMESTAMP_MILLIS = 9,
    TN_TIMESTAMP_MICROS = 10,
    TN_UINT_8 = 11,
    TN_UINT_16 = 12,
    TN_UINT_32 = 13,
    TN_UINT_64 = 14,
    TN_INT_8 = 15,
    TN_INT_16 = 16,
    TN_INT_32 = 17,
    TN_INT_64 = 18,
    TN_JSON = 19,
    TN_BSON = 20,
    TN_INTERVAL = 21
};

/* LogicalType union: the field number of the member present; 0: absent; others than those below are
 * kept as they are. */
enum tn_logical {
    TN_LOGICAL_NONE = 0,
    TN_LOGICAL_STRING = 1,
    TN_LOGICAL_MAP = 2,
    TN_LOGICAL_LIST = 3,
    TN_LOGICAL_ENUM = 4,
    TN_LOGICAL_DECIMAL = 5,
    TN_LOGICAL_DATE = 6,
    TN_LOGICAL_TIME = 7,
    TN_LOGICAL_TIMESTAMP = 8,
    TN_LOGICAL_INTEGER = 10,
    TN_LOGICAL_UNKNOWN = 11, /* always null */
    TN_LOGICAL_JSON = 12,
    TN_LOGICAL_BSON = 13,
    TN_LOGICAL_UUID = 14,
    TN_LOGICAL_FLOAT16 = 15,
    TN_LOGICAL_VARIANT = 16,
    TN_LOGICAL_GEOMETRY = 17,
    TN_LOGICAL_GEOGRAPHY = 18
};

enum tn_time_unit { TN_MILLIS = 1, TN_MICROS = 2, TN_NANOS = 3 };

/* One SchemaElement. */
typedef struct tn_element {
    tn_str name;
    bool group; /* no physical type */
    enum tn_physical physical;
    int32_t type_length;
    enum tn_repetition repetition; /* TN_REQUIRED where absent (the root) */
    int32_t children;
    int32_t converted; /* enum tn_converted */
    int32_t scale, precision;
    bool has_field_id;
    int32_t field_id;
    int32_t logical;      /* enum tn_logical */
    bool adjusted_to_utc; /* TIME, TIMESTAMP */
    int32_t unit;         /* enum tn_time_unit */
    int32_t bit_width;    /* INTEGER */
    bool is_signed;       /* INTEGER */
    tn_str logical_raw;   /* the union's Thrift bytes as read, for members tarn does not interpret
                             (VARIANT, GEOMETRY,   GEOGRAPHY, unknown ones); written back unchanged.
                             Empty otherwise. */
} tn_element;

typedef struct tn_statistics {
    bool has_min, has_max; /* the deprecated fields: 2 and 1 */
    bool has_null_count, has_distinct_count;
    bool has_min_value, has_max_value; /* fields 6 and 5 */
    bool has_min_exact, has_max_exact;
    bool min_exact, max_exact;
    bool has_nan_count;
    int64_t null_count, distinct_count, nan_count;
    tn_str min, max, min_value, max_value;
} tn_statistics;

typedef struct tn_size_statistics {
    bool present;
    bool has_unencoded;
    int64_t unencoded_bytes; /* of BYTE_ARRAY data */
    int64_t *rep_histogram, *def_histogram;
    size_t rep_count, def_count;
} tn_size_statistics;

typedef struct tn_key_value {
    tn_str key, value;
    bool has_value;
} tn_key_value;

typedef struct tn_encoding_stat {
    int32_t page_type, encoding, count;
} tn_encoding_stat;

typedef struct tn_chunk_meta {
    bool has_meta; /* false: the chunk's metadata is elsewhere or encrypted */
    bool encrypted;
    tn_str file_path; /* must be empty for tarn */
    int64_t file_offset;
    int32_t physical;
    int32_t *encodings;
    size_t encoding_count;
    tn_str *path; /* path_in_schema */
    size_t path_count;
    int32_t codec;
    int64_t values; /* num_values: entries, nulls included */
    int64_t uncompressed_bytes, compressed_bytes;
    tn_key_value *key_values;
    size_t key_value_count;
    int64_t data_page_offset;
    bool has_index_page_offset, has_dictionary_page_offset;
    int64_t index_page_offset, dictionary_page_offset;
    bool has_statistics;
    tn_statistics statistics;
    tn_encoding_stat *encoding_stats;
    size_t encoding_stat_count;
    bool has_bloom;
    int64_t bloom_offset;
    int32_t bloom_bytes; /* 0: not stated */
    tn_size_statistics size_statistics;
    tn_str geospatial_raw;                            /* GeospatialStatistics as read */
    int64_t offset_index_offset, column_index_offset; /* 0: absent */
    int32_t offset_index_bytes, column_index_bytes;
} tn_chunk_meta;

typedef struct tn_sorting_column {
    int32_t column;
    bool descending, nulls_first;
} tn_sorting_column;

typedef struct tn_row_group_meta {
    tn_chunk_meta *columns;
    size_t column_count;
    int64_t total_bytes; /* uncompressed */
    int64_t rows;
    tn_sorting_column *sorting;
    size_t sorting_count;
    int64_t file_offset, compressed_bytes;
    int32_t ordinal; /* -1: absent */
} tn_row_group_meta;

typedef struct tn_footer {
    int32_t version;
    tn_element *elements; /* depth first, the root at 0 */
    size_t element_count;
    int64_t rows;
    tn_row_group_meta *groups;
    size_t group_count;
    tn_key_value *key_values;
    size_t key_value_count;
    tn_str created_by;
    int32_t
        *column_orders; /* per leaf: 1 TYPE_ORDER, 2 IEEE_754_TOTAL_ORDER, other numbers as read */
    size_t column_order_count; /* 0: absent */
    bool encrypted;            /* an encryption algorithm is named: some columns may be encrypted */
} tn_footer;

typedef struct tn_page_header {
    int32_t type; /* enum tn_page_type */
    int32_t uncompressed_bytes, compressed_bytes;
    bool has_crc;
    uint32_t crc;
    /* data pages */
    int32_t values, nulls, rows; /* nulls and rows: version 2, else -1 */
    int32_t encoding, def_encoding, rep_encoding;
    int32_t def_bytes, rep_bytes; /* version 2 */
    bool compressed;              /* version 2; true elsewhere */
    bool sorted;                  /* dictionary page */
    bool has_statistics;
    tn_statistics statistics;
    size_t header_bytes;
} tn_page_header;

enum tn_boundary_order { TN_UNORDERED = 0, TN_ASCENDING = 1, TN_DESCENDING = 2 };

typedef struct tn_column_index {
    size_t pages;
    bool *null_pages;
    tn_str *min, *max;
    int32_t boundary_order;
    int64_t *null_counts;                     /* NULL: absent */
    int64_t *rep_histograms, *def_histograms; /* pages * (max level + 1) each; NULL: absent */
    size_t rep_histogram_count, def_histogram_count;
    int64_t *nan_counts; /* per page; NULL: absent */
} tn_column_index;

typedef struct tn_page_location {
    int64_t offset;
    int32_t bytes; /* header included */
    int64_t first_row;
} tn_page_location;

typedef struct tn_offset_index {
    size_t pages;
    tn_page_location *locations;
    int64_t *unencoded_bytes; /* per page; NULL: absent */
} tn_offset_index;

/* Decoders take the exact bytes (page header: at least those; more after the end is passed over); a
 * failure is TARN_E_CORRUPT with the offset within. */
int tn_footer_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_footer *out);
/* The same, for bytes that live as long as what is made of them: strings then point into them. */
int tn_footer_decode_kept(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_footer *out);
/* The LogicalType union that `raw` is, into *element, which then borrows from `raw`; false, and
 * *element is as before, where the bytes are none. */
bool tn_logical_decode(tarn_cx *cx, tn_str raw, tn_element *element);
/* header_bytes tells how much was used. After a failure *short_input is true when more bytes could
 * help. */
int tn_page_header_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_page_header *out,
                          bool *short_input);
int tn_column_index_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_column_index *out);
int tn_offset_index_decode(tarn_cx *cx, tn_str bytes, tn_arena *arena, tn_offset_index *out);

/* Encoders append; sticky through the buffer. */
void tn_footer_encode(tn_buf *out, const tn_footer *footer);
void tn_page_header_encode(tn_buf *out, const tn_page_header *header);
void tn_column_index_encode(tn_buf *out, const tn_column_index *index);
void tn_offset_index_encode(tn_buf *out, const tn_offset_index *index);
/* BloomFilterHeader: num_bytes with BLOCK / XXHASH / UNCOMPRESSED. */
void tn_bloom_header_encode(tn_buf *out, int32_t bytes);
/* *header_bytes and *bytes out; UNSUPPORTED for other algorithms. */
int tn_bloom_header_decode(tarn_cx *cx, tn_str bytes, size_t *header_bytes, int32_t *filter_bytes);

const char *tn_codec_name(int32_t codec); /* "SNAPPY"; "codec 99" forms are the caller's */
const char *tn_encoding_name(int32_t encoding);
const char *tn_physical_name(int32_t physical);
const char *tn_logical_name(int32_t logical);
const char *tn_converted_name(int32_t converted);

#endif
