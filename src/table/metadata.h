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

/* ---- the record index ---- */

typedef struct tn_metadata_place {
    bool found;
    tn_str partition, file_id, instant;
} tn_metadata_place;
/* Where the rows of keys are: places[i] of keys[i]. UNSUPPORTED where there is no record index. */
int tn_metadata_locate(tarn_cx *cx, tn_metadata *metadata, const tn_str *keys, size_t count,
                       tn_arena *arena, tn_metadata_place *places);
/* Record keys whose secondary key is `value`, of the index over `column`; *usable false: none. */
int tn_metadata_secondary(tarn_cx *cx, tn_metadata *metadata, tn_str column, tn_str value,
                          tn_arena *arena, bool *usable, tn_str **keys, size_t *count);

/* ---- statistics ---- */

typedef struct tn_metadata_stats {
    tn_str file;                    /* name; of partition_stats the partition's path */
    tn_str partition_hash;          /* of its key */
    const tn_avro_value *min, *max; /* values of the wrappers; NULL: null */
    int64_t values, nulls;          /* values counts nulls, too */
    int32_t type;                   /* ordinal of ValueType; 0: by the wrapper's own type */
    tn_str type_info;               /* "15,2" of a decimal */
} tn_metadata_stats;
/* Of one column over all files (partition_stats: over all partitions); *usable false: no index, or
 * it does not cover the column. A file without an entry is to be read. */
int tn_metadata_column(tarn_cx *cx, tn_metadata *metadata, bool partitions, tn_str column,
                       tn_arena *arena, bool *usable, tn_metadata_stats **stats, size_t *count);

/* One record as a tree, for people: `partition` is a directory's name. *found false: no such key.
 */
int tn_metadata_value(tarn_cx *cx, tn_metadata *metadata, const char *partition, tn_str key,
                      tn_arena *arena, bool *found, tn_avro_value *out);

#endif
