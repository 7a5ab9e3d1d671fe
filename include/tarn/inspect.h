/* Any one file, or a directory of files, as a value, for `tarn show`.
 *
 *     tarn_inspect *file;
 *     if (tarn_inspect_open(cx, "part-0.parquet", &file) == TARN_OK) {
 *         printf("%lld rows\n", (long long)file->rows);
 *         tarn_inspect_close(file);
 *     }
 *
 * What a value points to lives until it is closed. Values are read by any number of threads. */
#ifndef TARN_INSPECT_H
#define TARN_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A leaf column over all row groups, or in one of them (a chunk). */
typedef struct tarn_inspect_column {
    const char *name;     /* components joined by "." */
    const char *physical; /* "INT64", "FIXED_LEN_BYTE_ARRAY(16)" */
    const char *logical;  /* "DECIMAL(10,2)", "TIMESTAMP(us, UTC)"; "" without one */
    uint32_t max_definition, max_repetition;
    const char *encodings, *codecs; /* joined by " " */
    uint64_t compressed_bytes, uncompressed_bytes;
    int64_t values, nulls; /* entries, nulls among them; nulls -1: unknown */
    const char *min, *max; /* for people; NULL: unknown, or not to be trusted */
    uint64_t statistics, column_indexes, offset_indexes, blooms; /* chunks that have them */
} tarn_inspect_column;

typedef struct tarn_inspect_group {
    int64_t rows;
    uint64_t compressed_bytes, uncompressed_bytes, offset;
} tarn_inspect_group;

typedef struct tarn_inspect_key {
    const char *key, *value; /* value NULL: none */
    size_t value_bytes;
} tarn_inspect_key;

/* What Hudi keeps in the footer of a base file. */
typedef struct tarn_inspect_hudi {
    const char *filter;    /* of its keys: "SIMPLE", "DYNAMIC_V0"; NULL: it has none */
    uint64_t filter_bytes; /* of the filter's text */
    const char *min_key, *max_key;
} tarn_inspect_hudi;

typedef struct tarn_inspect {
    const char *path, *created_by, *schema; /* schema: the message text, a node a line */
    uint64_t file_bytes, footer_bytes, compressed_bytes, uncompressed_bytes;
    int32_t version;
    int64_t rows;
    const tarn_inspect_column *columns;
    size_t column_count;
    const tarn_inspect_group *groups;
    size_t group_count;
    const tarn_inspect_key *keys;
    size_t key_count;
    const tarn_inspect_hudi *hudi; /* NULL: no base file of a Hudi table */
} tarn_inspect;

/* A Parquet file. NOTFOUND, CORRUPT, UNSUPPORTED (encrypted) with text. */
TARN_API int tarn_inspect_open(tarn_cx *cx, const char *path, tarn_inspect **out);
TARN_API void tarn_inspect_close(tarn_inspect *inspect);

/* One chunk. Its texts live until the next call with the same `chunk`, which starts zeroed and ends
 * with tarn_inspect_chunk_clear. */
typedef struct tarn_inspect_chunk {
    tarn_inspect_column column;
    int64_t dictionary_offset, data_offset; /* -1: none */
    void *memory;
} tarn_inspect_chunk;
TARN_API int tarn_inspect_chunk_at(tarn_cx *cx, const tarn_inspect *inspect, size_t group,
                                   size_t column, tarn_inspect_chunk *chunk);
TARN_API void tarn_inspect_chunk_clear(tarn_inspect_chunk *chunk);

/* Other single files: an Avro file (of a timeline, or any), a commit of an older timeline (JSON),
 * or properties. */
enum tarn_inspect_kind {
    TARN_INSPECT_PARQUET, /* and whatever is none of the others: opening it says what is wrong */
    TARN_INSPECT_DIR,
    TARN_INSPECT_HUDI, /* a directory that is a Hudi table */
    TARN_INSPECT_AVRO,
    TARN_INSPECT_JSON,
    TARN_INSPECT_PROPERTIES,
    TARN_INSPECT_EMPTY, /* a file of no bytes */
    TARN_INSPECT_HFILE, /* a base file of a metadata table */
    TARN_INSPECT_LOG    /* a log of a Hudi table: of changes, of change data, or of old instants */
};
/* By the first bytes; properties by the name. */
TARN_API int tarn_inspect_kind_of(tarn_cx *cx, const char *path, enum tarn_inspect_kind *out);

typedef struct tarn_inspect_text {
    const char *path;
    uint64_t file_bytes;
    const char *record, *schema; /* of Avro: its full name, and the schema as JSON; else NULL */
    const char *const *records;  /* of Avro and JSON: each as JSON text */
    size_t record_count;
    const tarn_inspect_key *keys; /* of properties */
    size_t key_count;
} tarn_inspect_text;
/* CORRUPT naming the place. */
TARN_API int tarn_inspect_text_open(tarn_cx *cx, const char *path, enum tarn_inspect_kind kind,
                                    tarn_inspect_text **out);
TARN_API void tarn_inspect_text_close(tarn_inspect_text *text);

/* A log file of a Hudi table. */
typedef struct tarn_inspect_block {
    const char *kind; /* "avro", "parquet", "hfile", "delete", "command", "cdc", "corrupt" */
    uint64_t offset, bytes, content_bytes;
    const char *instant, *target; /* that wrote it; that a rollback takes back; NULL: none */
    bool rollback, partial;       /* partial: it holds a part of the columns */
    const char *compacted;        /* instants that it stands for, "a,b,c"; NULL: none */
    int64_t records;              /* or deletes; -1: unknown */
    int64_t positions;            /* of rows in the base file of `base_instant`; -1: it has none */
    const char *base_instant;
    const char *const *fields; /* of its schema; one pointer for blocks of one schema */
    size_t field_count;
    const char *problem; /* why it cannot be read; NULL: it can */
} tarn_inspect_block;

typedef struct tarn_inspect_log {
    const char *path;
    uint64_t file_bytes;
    const tarn_inspect_block *blocks;
    size_t block_count;
} tarn_inspect_log;
/* CORRUPT or UNSUPPORTED naming the byte where the blocks themselves cannot be told apart; what is
 * wrong within one is its `problem`. */
TARN_API int tarn_inspect_log_open(tarn_cx *cx, const char *path, tarn_inspect_log **out);
TARN_API void tarn_inspect_log_close(tarn_inspect_log *log);

/* An HFile: a base file of a metadata table. */
typedef struct tarn_inspect_hfile {
    const char *path, *writer, *codec; /* writer: "HBase", "Hudi" */
    uint64_t file_bytes, entries, blocks, meta_blocks, levels;
    uint64_t filter_bytes;                /* of the key filter, as text; 0: it has none */
    const char *record, *schema;          /* full name, and JSON; NULL: none, or no schema */
    tarn_inspect_key first_key, last_key; /* `value` of value_bytes; NULL: the file is empty */
    const tarn_inspect_key *keys;         /* the file info, the schema apart */
    size_t key_count;
} tarn_inspect_hfile;
/* CORRUPT naming the byte; UNSUPPORTED for other codecs, versions, and encrypted ones. */
TARN_API int tarn_inspect_hfile_open(tarn_cx *cx, const char *path, tarn_inspect_hfile **out);
TARN_API void tarn_inspect_hfile_close(tarn_inspect_hfile *hfile);

/* A directory. */
typedef struct tarn_inspect_partition {
    const char *path; /* below the root; "" is the root itself */
    uint64_t files, bytes;
    int64_t rows; /* of the files whose footers can be read */
} tarn_inspect_partition;

typedef struct tarn_inspect_field {
    const char *name, *type; /* Arrow types: "int64", "timestamp[us, UTC]" */
    bool partition;
} tarn_inspect_field;

typedef struct tarn_inspect_dir {
    const char *path;
    uint64_t files, bytes, directories;
    uint64_t damaged, other; /* files that cannot be read; files that are no data */
    int64_t rows;
    size_t schema_count;              /* different schemas among the files */
    const char *schema_problem;       /* why they have no common one; NULL: they have */
    const tarn_inspect_field *fields; /* of the common schema */
    size_t field_count;
    const tarn_inspect_partition *partitions; /* by path */
    size_t partition_count;
} tarn_inspect_dir;

/* True when the path is a directory. NOTFOUND when there is nothing. */
TARN_API int tarn_inspect_is_dir(tarn_cx *cx, const char *path, bool *out);
TARN_API int tarn_inspect_dir_open(tarn_cx *cx, const char *path, tarn_inspect_dir **out);
TARN_API void tarn_inspect_dir_close(tarn_inspect_dir *inspect);

#ifdef __cplusplus
}
#endif
#endif
