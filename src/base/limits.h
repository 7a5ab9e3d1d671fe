/* Named limits. Every count, length and depth read from outside meets one of these, and the bytes
 * left, before use. */
#ifndef TN_BASE_LIMITS_H
#define TN_BASE_LIMITS_H

#define TN_ERROR_TEXT_MAX                2048
#define TN_PATH_BYTES_MAX                4096
#define TN_JOBS_MAX                      256
#define TN_MEMORY_DEFAULT_BYTES          (192ull << 20)

#define TN_PARQUET_FOOTER_BYTES_MAX      (512u << 20)
#define TN_PARQUET_PAGE_BYTES_MAX        (1u << 30)
#define TN_PARQUET_PAGE_HEADER_BYTES_MAX (16u << 20)
#define TN_PARQUET_LEAVES_MAX            100000
#define TN_PARQUET_DEPTH_MAX             64
#define TN_PARQUET_ROW_GROUPS_MAX        1000000
#define TN_PARQUET_NAME_BYTES_MAX        (256u << 20) /* of all dotted column names together */
#define TN_PARQUET_BLOOM_BYTES_MAX       (128u << 20)
#define TN_KEY_FILTER_TEXT_BYTES_MAX     (512u << 20)
#define TN_KEY_FILTER_HASHES_MAX         1024
#define TN_THRIFT_DEPTH_MAX              64

#define TN_TABLES_FOLDERS_MAX            100000       /* looked at for tables in them */
#define TN_TEXT_RECORD_BYTES_MAX         (256u << 20) /* of CSV and NDJSON */
#define TN_TEXT_COLUMNS_MAX              100000
#define TN_SPLIT_JSON_BYTES_MAX          (512u << 20)
#define TN_SPLIT_FILES_MAX               (4u << 20)
#define TN_SPLIT_POOLS_MAX               10000       /* and prefixes in all */
#define TN_SPLIT_CHUNKS_MAX              (4u << 20)  /* and splits */
#define TN_SPLIT_REPLICAS_MAX            (16u << 20) /* of chunks, in all */
#define TN_SPLIT_LOCATIONS_MAX           (16u << 20) /* of splits, those that share a list once */

#define TN_TASK_LINE_BYTES_MAX           (256u << 20)
#define TN_UPSERT_BUCKETS_MAX            1000000 /* of one write */
#define TN_DIR_DEPTH_MAX                 64
#define TN_DIR_ENTRIES_MAX               50000000
#define TN_PREDICATE_DEPTH_MAX           64
#define TN_PREDICATE_BYTES_MAX           (1 << 20)

#define TN_HUDI_INSTANT_BYTES_MAX        (512u << 20) /* of one file of the timeline */

#define TN_ARCHIVE_MANIFEST_BYTES_MAX    (64u << 20)
#define TN_ARCHIVE_FILES_MAX             1000000  /* of an archived timeline */
#define TN_ARCHIVE_INSTANTS_MAX          20000000 /* in all of them */

#define TN_ZSTD_WINDOW_LOG_MAX           27 /* of a zstd stream: 128 MiB */
#define TN_JSON_DEPTH_MAX                64

#define TN_HUDI_PARTITIONS_MAX           100         /* partition columns of a Hudi table */
#define TN_HUDI_MARKERS_BYTES_MAX        (64u << 20) /* of one file that lists markers */
#define TN_HUDI_MARKERS_MAX              10000000    /* of one instant */

#define TN_AVRO_SCHEMA_BYTES_MAX         (64u << 20)
#define TN_AVRO_NAME_BYTES_MAX           4096
#define TN_AVRO_DEPTH_MAX                64
#define TN_AVRO_TYPES_MAX                1000000 /* of a schema, seen as a tree */
#define TN_AVRO_FIXED_BYTES_MAX          (1u << 20)
#define TN_AVRO_ITEMS_MAX                (16u << 20) /* values of a file */
#define TN_AVRO_EMPTY_MAX                65536       /* items of an array that take no bytes */
#define TN_AVRO_HEADER_KEYS_MAX          1000
#define TN_AVRO_UNPACKED_BYTES_MAX       (256u << 20) /* of a file */

#define TN_LOG_BLOCKS_MAX                1000000 /* of one log file */
#define TN_LOG_TORN_MAX                  10000   /* of them */
#define TN_LOG_HEADER_KEYS_MAX           64
#define TN_LOG_HEADER_VALUE_BYTES_MAX    (64u << 20)
#define TN_LOG_HEADERS_BYTES_MAX         (256u << 20) /* of all blocks of a file */
#define TN_LOG_CONTENT_MAX               0x7fffffffu  /* of one block: Java counts in an int */
#define TN_LOG_DELETES_MAX               (16u << 20)  /* of one block */
#define TN_LOG_ORDER_ITEMS_MAX           1000         /* ordering fields of a table */

#define TN_HFILE_BLOCK_BYTES_MAX         (256u << 20) /* unpacked */
#define TN_HFILE_BLOCKS_MAX              (4u << 20)   /* of data, in a file */
#define TN_HFILE_LEVELS_MAX              8            /* of the index */
#define TN_HFILE_INFO_MAX                10000        /* pairs of the file info; meta blocks */

#define TN_PROPERTIES_MAX                100000
#define TN_PROPERTIES_BYTES_MAX          (64u << 20)

#endif
