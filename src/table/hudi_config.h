/* hoodie.properties as a value (org.apache.hudi.common.table.HoodieTableConfig;
 * docs/format/hudi-table.md). Reading is lenient in what cannot harm, and refuses by name what tarn
 * does not understand. */
#ifndef TN_TABLE_HUDI_CONFIG_H
#define TN_TABLE_HUDI_CONFIG_H

#include "batch/record_key.h"
#include "codec/properties/properties.h"
#include "io/store.h"
#include "task/upsert.h"

#define TN_HUDI_PROPERTIES_BYTES_MAX (16u << 20)

typedef struct tn_hudi_config {
    tn_properties all; /* everything that stands there, kept when the file is changed */
    int32_t version;   /* of the table: 6, 8, 9; 2 to 5 are read only */
    int32_t layout;    /* of the timeline: 1, 2 */
    bool mor;
    tn_str name, database;
    tn_str *keys;
    size_t key_count;   /* 0: keys are made by Hudi itself */
    tn_str *partitions; /* without ":type" */
    size_t partition_count;
    bool *partition_is_time; /* of a custom key generator */
    tn_str *ordering;
    size_t ordering_count;
    enum tn_keygen keygen;
    bool keygen_known; /* false: a class of the user's own; `keygen_class` names it */
    tn_str keygen_class;
    bool hive_style, url_encode, slash_dates, drop_partition_columns, meta_fields;
    tn_keygen_timebased timebased;
    bool utc; /* hoodie.table.timeline.timezone; false: LOCAL */
    enum tn_merge_mode merge_mode;
    tn_str payload; /* class that the mode follows from; may be empty */
    bool partial; /* partial update mode, or a payload that means one: merging is not understood */
    tn_str delete_field, delete_marker;
    bool metadata_table; /* hoodie.table.metadata.partitions (or .inflight) names some */
    tn_str base_format;  /* "PARQUET" */
    tn_str timeline_path,
        history_path; /* below .hoodie: "timeline", "history"; v6: "", "archived" */
    bool metafile_in_base_format;
    tn_str create_schema; /* Avro JSON; may be empty */
    bool cdc;
} tn_hudi_config;

/* From text; `path` for messages. CORRUPT for a wrong checksum or value, UNSUPPORTED by name for a
 * version that is unknown (7, or above 9), or a table format that is not native. In the arena. */
int tn_hudi_config_parse(tarn_cx *cx, tn_str text, tn_str path, tn_arena *arena,
                         tn_hudi_config *out);
/* Reads "<root>/.hoodie/hoodie.properties", or its backup while a writer changes it; tries a few
 * times, as Hudi does. NOTFOUND: no Hudi table there. */
int tn_hudi_config_load(tarn_cx *cx, tn_store *store, tn_str root, tn_arena *arena,
                        tn_hudi_config *out);
/* The mode that a payload class means; CUSTOM where it is none of Hudi's own two. */
enum tn_merge_mode tn_hudi_config_payload_mode(tn_str payload);
/* UNSUPPORTED, by name, when tarn must not write to such a table; *metadata_table is not looked at.
 */
int tn_hudi_config_writable(tarn_cx *cx, const tn_hudi_config *config);
/* CRC-32 of "<database>.<name>", in decimal, as hoodie.table.checksum has it. */
uint32_t tn_hudi_config_checksum(const tn_hudi_config *config);
/* Options of tn_record_key that follow from it; `single_named` is left to the caller (see
 * table/hudi_keys.h). Borrowed. */
void tn_hudi_config_keys(const tn_hudi_config *config, tn_record_key_options *out);

#endif
