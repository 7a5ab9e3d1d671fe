/* Names of the format's enumerations, for messages and `show`. "unknown" for numbers not in them.
 */
#include "codec/parquet/meta.h"

#define NAME_OF(names, number)                                                                     \
    ((number) >= 0 && (size_t)(number) < sizeof(names) / sizeof *(names) &&                        \
             (names)[number] != NULL                                                               \
         ? (names)[number]                                                                         \
         : "unknown")

const char *tn_codec_name(int32_t codec)
{
    static const char *const names[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                        "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};

    return NAME_OF(names, codec);
}

const char *tn_encoding_name(int32_t encoding)
{
    static const char *const names[] = {"PLAIN",
                                        NULL,
                                        "PLAIN_DICTIONARY",
                                        "RLE",
                                        "BIT_PACKED",
                                        "DELTA_BINARY_PACKED",
                                        "DELTA_LENGTH_BYTE_ARRAY",
                                        "DELTA_BYTE_ARRAY",
                                        "RLE_DICTIONARY",
                                        "BYTE_STREAM_SPLIT"};

    return NAME_OF(names, encoding);
}

const char *tn_physical_name(int32_t physical)
{
    static const char *const names[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};

    return NAME_OF(names, physical);
}

const char *tn_logical_name(int32_t logical)
{
    static const char *const names[] = {"NONE",    "STRING",  "MAP",      "LIST",      "ENUM",
                                        "DECIMAL", "DATE",    "TIME",     "TIMESTAMP", NULL,
                                        "INTEGER", "NULL",    "JSON",     "BSON",      "UUID",
                                        "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY", "VECTOR"};

    return NAME_OF(names, logical);
}

const char *tn_converted_name(int32_t converted)
{
    static const char *const names[] = {"UTF8",
                                        "MAP",
                                        "MAP_KEY_VALUE",
                                        "LIST",
                                        "ENUM",
                                        "DECIMAL",
                                        "DATE",
                                        "TIME_MILLIS",
                                        "TIME_MICROS",
                                        "TIMESTAMP_MILLIS",
                                        "TIMESTAMP_MICROS",
                                        "UINT_8",
                                        "UINT_16",
                                        "UINT_32",
                                        "UINT_64",
                                        "INT_8",
                                        "INT_16",
                                        "INT_32",
                                        "INT_64",
                                        "JSON",
                                        "BSON",
                                        "INTERVAL"};

    return converted == TN_CONVERTED_NONE ? "NONE" : NAME_OF(names, converted);
}
