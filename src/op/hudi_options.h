/* Options under Hudi's names: known ones act, ones that cannot matter here are accepted with one
 * warning, all others are refused by name. */
#ifndef TN_OP_HUDI_OPTIONS_H
#define TN_OP_HUDI_OPTIONS_H

#include "commit/commit_hudi.h"
#include "exec/base_file.h"
#include "plan/plan_upsert.h"
#include "tarn/table.h"

enum tn_hudi_index {
    TN_INDEX_SIMPLE = 0,
    TN_INDEX_BLOOM,
    TN_INDEX_GLOBAL_SIMPLE,
    TN_INDEX_GLOBAL_BLOOM,
    TN_INDEX_BUCKET
};

enum tn_hudi_sort { TN_SORT_NONE = 0, TN_SORT_GLOBAL, TN_SORT_PARTITION };

enum tn_hudi_clean { TN_CLEAN_EAGER = 0, TN_CLEAN_LAZY };

typedef struct tn_hudi_list {
    tn_str *items;
    size_t count;
} tn_hudi_list;

/* Flags that may not have been given are -1 then, texts and lists empty, numbers 0. */
typedef struct tn_hudi_options {
    /* Of the table. */
    tn_str name, database, type, keygen, payload, merge_mode, timezone;
    tn_hudi_list keys, partitions, ordering; /* partitions may have ":type" */
    int64_t version;
    int32_t hive_style, url_encode, slash_dates, meta_fields;
    tn_str time_type;
    tn_keygen_timebased timebased;
    tn_str delete_field, delete_marker;

    /* Of a write. */
    int32_t operation; /* enum tarn_operation */
    tn_hudi_list partitions_to_delete;
    tn_sizing sizing;
    uint64_t group_bytes;
    tn_str codec;
    int32_t combine_upsert, combine_insert, combine_delete;
    int32_t duplicate_inserts; /* inserts into small files do not look for their keys */
    int32_t index;             /* enum tn_hudi_index */
    int32_t global_bloom_moves, global_simple_moves;
    int64_t buckets;
    tn_hudi_list hash_fields;
    int32_t bloom_ranges;
    int32_t filter_kind; /* enum tn_key_filter_kind - 1 */
    double filter_fpp;
    uint64_t filter_keys, filter_keys_max;
    int32_t sort; /* enum tn_hudi_sort */
    int32_t null_missing, reconcile;
    int32_t clean; /* enum tn_hudi_clean */
    int64_t heartbeat_ms, lock_wait_ms;
    uint64_t heartbeat_misses;
    int32_t named_keys;       /* …complex.keygen.new.encoding: bare values */
    int32_t consistent_times; /* times in keys and paths as text */
} tn_hudi_options;

/* From the file and the list, which counts more. What it points to lives in the arena. INVALID for
 * a value that is none, UNSUPPORTED naming an option that is not known, or a value that tarn does
 * not do. One warning names those that have no effect. */
int tn_hudi_options_read(tarn_cx *cx, const tarn_table_options *options, tn_arena *arena,
                         void (*warn)(void *arg, const char *text), void *arg,
                         tn_hudi_options *out);
/* One "key=value" taken apart; INVALID where there is no "=". */
int tn_hudi_options_pair(tarn_cx *cx, const char *text, tn_property *out);

#endif
