/* What the files of the metadata table's reader share. */
#ifndef TN_TABLE_METADATA_PARTS_H
#define TN_TABLE_METADATA_PARTS_H

#include "base/map.h"
#include "codec/hfile/hfile.h"
#include "codec/log/log.h"
#include "table/metadata.h"
#include "table/slices_parts.h"

/* A base file, or a block of a log: entries of a schema, or keys that are deleted. */
typedef struct tn_metadata_source {
    tn_hfile *file; /* NULL: a delete block */
    tn_hfile_cursor *cursor;
    const tn_avro_type *type;
    tn_map deleted;
    tn_str *deleted_keys;
    size_t deleted_count;
} tn_metadata_source;

/* A file group of a partition, in its latest slice. */
typedef struct tn_metadata_group {
    tn_str file_id;
    size_t set;       /* of groups that share keys by hash */
    tn_str base_path; /* empty: none */
    uint64_t base_bytes;
    tn_str *logs;
    size_t log_count;
    bool opened;
    tn_metadata_source *sources; /* oldest first */
    size_t source_count, source_cap;
} tn_metadata_group;

/* Groups that one hash is over: all of a partition, or those of one partition of the data. */
typedef struct tn_metadata_set {
    tn_str prefix; /* of the file ids: "record-index", "record-index-<partition>" */
    size_t first, count;
} tn_metadata_set;

typedef struct tn_metadata_partition {
    tn_str name, directory;
    bool loaded;
    tn_metadata_group *groups; /* by file id */
    size_t group_count;
    tn_metadata_set *sets;
    size_t set_count;
} tn_metadata_partition;

typedef struct tn_metadata_schema {
    tn_str text;
    tn_avro_schema schema;
} tn_metadata_schema;

/* A definition of .hoodie/.index_defs/index.json. */
typedef struct tn_metadata_index {
    tn_str name, type;
    tn_str *fields;
    size_t field_count;
    bool v2;
} tn_metadata_index;

struct tn_metadata {
    tn_store *store;
    tn_arena arena;
    const tn_hudi_config *data_config;
    const tn_timeline *data_timeline;
    tn_str data_root, root;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_slices_facts facts;
    tn_str *listed; /* partitions that may be used */
    size_t listed_count;
    tn_str *valid; /* instants whose blocks count, sorted */
    size_t valid_count;
    tn_metadata_partition *partitions; /* one for each of `listed` */
    tn_metadata_schema *schemas;
    size_t schema_count, schema_cap;
    bool indexes_loaded, indexes_known;
    tn_metadata_index *indexes;
    size_t index_count;
};

/* All versions of a key that count, oldest first; none: it is not there. In the arena of the call.
 */
typedef struct tn_metadata_record {
    tn_str key;
    tn_avro_value *versions;
    size_t count;
} tn_metadata_record;

/* ---- metadata.c */
/* NULL: it is not listed as usable. */
tn_metadata_partition *tn_metadata_partition_find(tn_metadata *metadata, const char *name);
/* Whether blocks that this instant wrote count. */
bool tn_metadata_counts(const tn_metadata *metadata, tn_str instant);
/* A parsed schema, kept by its text. */
int tn_metadata_type(tarn_cx *cx, tn_metadata *metadata, tn_str text, tn_str where,
                     const tn_avro_type **out);
/* The definitions of indexes; *known false: the table has no such file. */
int tn_metadata_indexes(tarn_cx *cx, tn_metadata *metadata, bool *known);

/* ---- metadata_group.c */
int tn_metadata_partition_load(tarn_cx *cx, tn_metadata *metadata, tn_metadata_partition *part);
int tn_metadata_group_open(tarn_cx *cx, tn_metadata *metadata, tn_metadata_group *group);
void tn_metadata_group_close(tn_metadata_group *group);

/* ---- metadata_record.c */
/* Records of keys in one group: found[i] is that of keys[order[i]]; `order` sorts them. */
int tn_metadata_record_get(tarn_cx *cx, tn_metadata *metadata, tn_metadata_group *group,
                           const tn_str *keys, const size_t *order, size_t count, tn_arena *arena,
                           tn_metadata_record *found);
/* All records of a group whose keys begin so, by key; those that were deleted are left out. */
int tn_metadata_record_scan(tarn_cx *cx, tn_metadata *metadata, tn_metadata_group *group,
                            tn_str prefix, tn_arena *arena, tn_metadata_record **out,
                            size_t *count);
/* The record of one key among the groups of a set, by the key's hash. */
int tn_metadata_record_one(tarn_cx *cx, tn_metadata *metadata, tn_metadata_partition *part,
                           tn_str key, tn_arena *arena, tn_metadata_record *out);

/* ---- metadata_key.c */
/* Java's String.hashCode of UTF-8 text, made the number of one of `count` groups. */
size_t tn_metadata_key_group(tn_str key, size_t count);
/* Appends base64 of the 64-bit hash that names of columns and partitions are spelled by. */
void tn_metadata_key_hash(tn_buf *out, tn_str text);
/* A partition of the data as keys have it: "." where the table has none. */
tn_str tn_metadata_key_partition(tn_str partition);
/* Appends a secondary key with its escapes, and the "$" behind it. */
void tn_metadata_key_secondary(tn_buf *out, tn_str value);
/* What stands behind the "$" of a secondary index's key, unescaped, in the arena; false: there is
 * none. */
int tn_metadata_key_record(tarn_cx *cx, tn_str key, tn_arena *arena, bool *found, tn_str *out);

/* ---- metadata_files.c */
typedef struct tn_metadata_name {
    tn_str name;
    uint64_t size_bytes;
    bool deleted;
} tn_metadata_name;
/* The names of a record of "files", versions merged; deleted ones are those that nothing was said
 * of before. */
int tn_metadata_names(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                      tn_metadata_name **names, size_t *count);

/* ---- metadata_stats.c */
/* The statistics that all versions come to, as a record; *live false: taken back. */
int tn_metadata_stats_merge(tarn_cx *cx, const tn_metadata_record *record, tn_arena *arena,
                            bool *live, const tn_avro_value **out);

#endif
