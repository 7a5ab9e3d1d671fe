/* Record keys and partition paths of Hudi tables, as its key generators spell them, and which rows
 * are deletes. (org.apache.hudi.keygen; the page docs/format/record-keys.md.) Pure but for
 * the system's time zones, which open reads where options name a region.
 */
#ifndef TN_BATCH_RECORD_KEY_H
#define TN_BATCH_RECORD_KEY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "tarn/batch.h"

enum tn_keygen { /* hoodie.table.keygenerator.type */
                 TN_KEYGEN_SIMPLE = 1,
                 TN_KEYGEN_COMPLEX,
                 TN_KEYGEN_NON_PARTITION,
                 TN_KEYGEN_TIMESTAMP,
                 TN_KEYGEN_CUSTOM
};

enum tn_keygen_time {
    TN_KEYGEN_UNIX_TIMESTAMP = 1,
    TN_KEYGEN_EPOCH_MILLIS,
    TN_KEYGEN_EPOCH_MICROS,
    TN_KEYGEN_SCALAR,
    TN_KEYGEN_DATE_STRING,
    TN_KEYGEN_MIXED
};

/* hoodie.keygen.timebased.*, texts as stored; empty: not set. */
typedef struct tn_keygen_timebased {
    enum tn_keygen_time type;
    tn_str scalar_unit; /* of java.util.concurrent.TimeUnit */
    tn_str input_format, input_delimiter, input_zone, output_format, output_zone, zone;
} tn_keygen_timebased;

typedef struct tn_record_key_options {
    enum tn_keygen kind;
    const tn_str *keys; /* fields, dotted for those of structs */
    size_t key_count;
    const tn_str *partitions;
    size_t partition_count;
    const bool *partition_is_time; /* of CUSTOM, per partition field; NULL: none */
    bool hive_style, url_encode, slash_dates;
    bool single_named; /* COMPLEX with one field: "field:value", not "value" */
    /* …write.keygenerator.consistent.logical.timestamp.enabled: times as text, not numbers */
    bool consistent_times;
    tn_keygen_timebased timebased;
    tn_str zone;                        /* of the process, for formats without one; empty: UTC */
    tn_str delete_field, delete_marker; /* hoodie.payload.delete.*; empty: none */
} tn_record_key_options;

typedef struct tn_record_key tn_record_key;

/* Binds to the columns of `schema` (a struct, no dictionaries). INVALID naming a field that is
 * missing, or a pattern or zone that is not understood; UNSUPPORTED naming a type without a
 * spelling. The options are borrowed until close. */
int tn_record_key_open(tarn_cx *cx, const tn_record_key_options *options,
                       const struct ArrowSchema *schema, tn_record_key **out);
void tn_record_key_close(tn_record_key *key);

/* What one batch has; valid until the next call, or close. Keys of one text column are that
 * column's own bytes: they also end with the batch. */
typedef struct tn_record_keys {
    const char *data; /* key i is data[offsets[i] .. offsets[i + 1]) */
    const int32_t *offsets;
    const uint32_t
        *partitions; /* per row: number of its path, by first appearance over all batches */
    const uint8_t
        *deletes; /* per row: 1 is a delete (_hoodie_is_deleted or the marker); NULL: none */
} tn_record_keys;

/* DATA naming row (`first_row` + i) and field: a key that is null or empty. Runs on the pool. */
int tn_record_key_batch(tarn_cx *cx, tn_record_key *key, const struct ArrowArray *batch,
                        int64_t first_row, tn_record_keys *out);
/* Why that failed: looks at one row of the batch. DATA, without a number, where it has no key or
 * no path; *field is then the one that is at fault (empty: no single one). */
int tn_record_key_row(tarn_cx *cx, const tn_record_key *key, int64_t row, tn_str *field);
/* Paths met so far. */
size_t tn_record_key_path_count(const tn_record_key *key);
tn_str tn_record_key_path(const tn_record_key *key, size_t number);
/* Number of a path, added when missing: those of a table that is there come first. */
int tn_record_key_path_add(tarn_cx *cx, tn_record_key *key, tn_str path, uint32_t *number);

/* Bucket index: (Java's List.hashCode of the values of `hash_fields` in the key text & 0x7fffffff)
 * % buckets. The key text is taken apart as Hudi does (format/table.md 4.2). */
uint32_t tn_record_key_bucket(tn_str key, const tn_str *keys, size_t key_count,
                              const tn_str *hash_fields, size_t hash_count, uint32_t buckets);
/* First 8 bytes of MD5(key), little-endian: where Hudi's upsert partitioner sends an insert. */
int64_t tn_record_key_md5(tn_str key);

#endif
