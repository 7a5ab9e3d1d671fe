/* The metadata table of a Hudi table, read (org.apache.hudi.metadata;
 * docs/format/metadata-table.md): base HFiles and log blocks merged, by key or by prefix. */
#ifndef TN_TABLE_METADATA_H
#define TN_TABLE_METADATA_H

#include "codec/avro/avro_value.h"
#include "table/timeline.h"

typedef struct tn_metadata tn_metadata;

/* `config`, `timeline`: of the data table, borrowed until close. *out NULL: the table has none that
 * may be used (its properties do not list it). */
int tn_metadata_open(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                     const tn_timeline *timeline, tn_metadata **out);
void tn_metadata_close(tn_metadata *metadata);
/* Whether a partition ("files", "column_stats", "record_index", …) is listed as usable. */
bool tn_metadata_has(const tn_metadata *metadata, const char *partition);

/* CORRUPT naming the first commit of the data table that the metadata table has missed: what it
 * lists is not all that is there. */
int tn_metadata_current(tarn_cx *cx, const tn_metadata *metadata);
/* Whether it knows of commits that came after the data table's timeline was loaded. */
bool tn_metadata_ahead(const tn_metadata *metadata);

/* ---- listing ---- */

typedef struct tn_metadata_file {
    tn_str name;
    uint64_t size_bytes;
} tn_metadata_file;
/* Paths of partitions, sorted; "" for a table without. In the arena. */
int tn_metadata_partitions(tarn_cx *cx, tn_metadata *metadata, tn_arena *arena, tn_str **paths,
                           size_t *count);
/* Live files of a partition, in no order. */
int tn_metadata_files(tarn_cx *cx, tn_metadata *metadata, tn_str partition, tn_arena *arena,
                      tn_metadata_file **files, size_t *count);

/* Where the listing and the file system differ, which they never should. */
enum tn_metadata_fault {
    TN_METADATA_MISSING = 1, /* listed, and not there */
    TN_METADATA_UNLISTED, /* there, of a completed instant, and not listed: its rows are not seen */
    TN_METADATA_SIZE      /* of another size than listed */
};
typedef struct tn_metadata_difference {
    enum tn_metadata_fault fault;
    tn_str partition, name;
    uint64_t listed_bytes, stored_bytes;
} tn_metadata_difference;
/* Lists the whole table. By partition and name; in the arena. */
int tn_metadata_check(tarn_cx *cx, tn_metadata *metadata, tn_arena *arena,
                      tn_metadata_difference **out, size_t *count);

/* ---- the record index ---- */

typedef struct tn_metadata_place tn_metadata_place;
struct tn_metadata_place {
    bool found;
    tn_str partition, file_id;
    int64_t instant_ms;            /* of the commit that brought the key */
    const tn_metadata_place *next; /* the same key in another partition of the data, where the index
                                      is kept for each by itself; NULL: none */
};
/* Where the rows of keys are: places[i] of keys[i]. UNSUPPORTED where there is no record index. */
int tn_metadata_locate(tarn_cx *cx, tn_metadata *metadata, const tn_str *keys, size_t count,
                       tn_arena *arena, tn_metadata_place *places);
/* Record keys whose secondary key is `value` (the column's text as Java prints it; {NULL, 0}:
 * null), of an index over `column`; *usable false: there is none. */
int tn_metadata_secondary(tarn_cx *cx, tn_metadata *metadata, tn_str column, tn_str value,
                          tn_arena *arena, bool *usable, tn_str **keys, size_t *count);

/* ---- statistics ---- */

/* The branches of the union that min and max are of. */
enum tn_metadata_wrapper {
    TN_METADATA_NOTHING = 0,
    TN_METADATA_BOOLEAN,
    TN_METADATA_INT,
    TN_METADATA_LONG,
    TN_METADATA_FLOAT,
    TN_METADATA_DOUBLE,
    TN_METADATA_BYTES,
    TN_METADATA_STRING,
    TN_METADATA_DATE,
    TN_METADATA_DECIMAL, /* bytes, at scale 15 */
    TN_METADATA_TIME_MICROS,
    TN_METADATA_TIMESTAMP_MICROS,
    TN_METADATA_LOCAL_DATE,
    TN_METADATA_ARRAY
};

typedef struct tn_metadata_stats {
    tn_str file;                      /* name; of partition_stats the partition's path */
    tn_str partition_hash;            /* as tn_metadata_partition_hash has it */
    const tn_avro_value *min, *max;   /* what the wrappers hold; NULL: null, or not known */
    int64_t values, nulls;            /* values counts nulls, too; below 0: not known */
    int32_t type;                     /* ordinal of ValueType; 0: by the wrapper's own type */
    enum tn_metadata_wrapper wrapper; /* of min and max */
    tn_str type_info;                 /* "15,2" of a decimal */
    bool tight;                       /* min and max are values that are there, not only bounds */
} tn_metadata_stats;
/* Of one column over all files (partition_stats: over all partitions); *usable false: no index, or
 * it does not cover the column. A file without an entry is to be read. */
int tn_metadata_column(tarn_cx *cx, tn_metadata *metadata, bool partitions, tn_str column,
                       tn_arena *arena, bool *usable, tn_metadata_stats **stats, size_t *count);
/* What stands for a partition of the data in keys of statistics; in the arena. */
int tn_metadata_partition_hash(tarn_cx *cx, tn_str partition, tn_arena *arena, tn_str *out);

/* One record as a tree, for people: `partition` is a directory's name. *found false: no such key.
 */
int tn_metadata_value(tarn_cx *cx, tn_metadata *metadata, const char *partition, tn_str key,
                      tn_arena *arena, bool *found, tn_avro_value *out);

#endif
