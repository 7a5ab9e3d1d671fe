/* Writing hoodie.properties. commit/ alone includes this. */
#ifndef TN_TABLE_CONFIG_WRITE_H
#define TN_TABLE_CONFIG_WRITE_H

#include "table/hudi_config.h"

/* What a new table is to be. */
typedef struct tn_hudi_new {
    int32_t version;
    tn_str name, database;
    const tn_str *keys, *partitions, *ordering;
    size_t key_count, partition_count, ordering_count;
    enum tn_keygen keygen; /* 0: as Hudi chooses by the fields */
    const bool *partition_is_time;
    bool hive_style, url_encode, no_meta_fields;
    tn_keygen_timebased timebased;
    enum tn_merge_mode merge_mode; /* 0: by whether there is an ordering column */
    tn_str payload;                /* a class; empty: by the mode */
    bool local_time;               /* the timeline in the zone of the process; else UTC */
    tn_str create_schema;          /* Avro JSON without meta columns; may be empty */
    const tn_property *more;       /* other table properties, put in as they are */
    size_t more_count;
} tn_hudi_new;

/* The properties that real Hudi of that version stores for such a table. INVALID for
 * contradictions. */
int tn_hudi_config_new(tarn_cx *cx, const tn_hudi_new *options, tn_arena *arena,
                       tn_properties *out);
/* The text of a new file. */
int tn_hudi_config_print(tarn_cx *cx, const tn_properties *properties, const char *label,
                         tn_buf *out);
/* Settles what a crashed update left, as Hudi does: a missing or damaged file comes back from its
 * backup; a backup beside a whole file goes. The caller holds the table's lock. */
int tn_hudi_config_settle(tarn_cx *cx, tn_store *store, tn_str root);
/* Replaces the file by Hudi's protocol: backup, write, check, delete the backup (and the .crc side
 * files before). First settles what a crashed one left. */
int tn_hudi_config_update(tarn_cx *cx, tn_store *store, tn_str root,
                          const tn_properties *properties);

/* Removes ".<name>.crc" beside `path`: Hadoop's local file system checks a file that comes back
 * under that name against it. A missing one is fine. */
int tn_hudi_config_drop_crc(tarn_cx *cx, tn_store *store, tn_str path);
/* The text of a partition's metadata file: `instant` made it, `partition` is its path. */
int tn_hudi_partition_print(tarn_cx *cx, tn_str instant, tn_str partition, tn_buf *out);

#endif
