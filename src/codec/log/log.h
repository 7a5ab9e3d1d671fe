/* Hudi log files (org.apache.hudi.common.table.log.HoodieLogFormat; docs/format/hudi-log.md): a
 * row of framed blocks. Opening reads frames and headers, never contents. */
#ifndef TN_CODEC_LOG_H
#define TN_CODEC_LOG_H

#include "base/arena.h"
#include "io/store.h"

enum tn_log_kind { /* the ordinals of HoodieLogBlockType */
                   TN_LOG_COMMAND = 0,
                   TN_LOG_DELETE,
                   TN_LOG_CORRUPT, /* what lies where a block is torn, up to the next magic */
                   TN_LOG_AVRO,
                   TN_LOG_HFILE,
                   TN_LOG_PARQUET,
                   TN_LOG_CDC
};

typedef struct tn_log_block {
    enum tn_log_kind kind;
    uint64_t offset, bytes; /* of the whole frame in the file */
    uint64_t content_offset, content_bytes;
    /* Of the header; empty where it lacks them. */
    tn_str instant, target; /* that wrote it; that a rollback takes back */
    tn_str schema;          /* Avro JSON of the writer, meta columns included */
    tn_str compacted;       /* instants, "a,b,c", whose blocks this one stands for */
    tn_str positions;       /* base64 of a 64-bit roaring bitmap */
    tn_str base_instant;    /* of the base file that `positions` speak of */
    bool rollback;          /* a command that takes `target` back; other commands: false */
    bool partial;           /* its schema holds a part of the columns */
} tn_log_block;

typedef struct tn_log {
    tn_str path;
    tn_file *file;
    tn_arena arena;
    tn_log_block *blocks;
    size_t block_count;
} tn_log;

/* Torn blocks become TN_LOG_CORRUPT (log.md 4). CORRUPT naming path and byte where no block begins
 * at all, UNSUPPORTED for a format version or block type that is unknown, LIMIT beyond the counts
 * and lengths of base/limits.h. *out is the caller's to close, also after failures. */
int tn_log_open(tarn_cx *cx, tn_store *store, tn_str path, tn_log *out);
void tn_log_close(tn_log *log);
/* The content of a block; `into` is emptied first. LIMIT beyond TN_LOG_CONTENT_MAX. */
int tn_log_content(tarn_cx *cx, const tn_log *log, const tn_log_block *block, tn_buf *into);

/* The data of an AVRO or CDC block: record after record, raw Avro by the block's schema. */
typedef struct tn_log_records {
    tn_str bytes; /* what is left */
    uint32_t count, done;
    tn_str where;
} tn_log_records;
/* `where` for messages ("path at byte n"), borrowed like the content. */
int tn_log_records_open(tarn_cx *cx, tn_str content, tn_str where, tn_log_records *out);
/* The next record; *more false at the end. CORRUPT where lengths do not add up. */
int tn_log_records_next(tarn_cx *cx, tn_log_records *records, bool *more, tn_str *datum);

/* An ordering value as a delete block has it. */
enum tn_log_order_kind { /* branches of HoodieDeleteRecord.orderingVal */
                         TN_LOG_ORDER_NULL = 0,
                         TN_LOG_ORDER_BOOLEAN,
                         TN_LOG_ORDER_INT,
                         TN_LOG_ORDER_LONG,
                         TN_LOG_ORDER_FLOAT,
                         TN_LOG_ORDER_DOUBLE,
                         TN_LOG_ORDER_BYTES,
                         TN_LOG_ORDER_STRING,
                         TN_LOG_ORDER_DATE,
                         TN_LOG_ORDER_DECIMAL, /* unscaled big-endian bytes, scale 15 */
                         TN_LOG_ORDER_TIME,    /* microseconds */
                         TN_LOG_ORDER_TIMESTAMP,
                         TN_LOG_ORDER_LIST, /* of several ordering fields */
                         TN_LOG_ORDER_LOCAL_DATE
};
typedef struct tn_log_order {
    enum tn_log_order_kind kind;
    int64_t i; /* BOOLEAN, INT, LONG, DATE, TIME, TIMESTAMP */
    double d;  /* FLOAT, DOUBLE */
    tn_str bytes;
    const struct tn_log_order *items; /* LIST */
    size_t item_count;
} tn_log_order;
/* True for what Hudi takes for "deleted whatever the ordering says": the Integer 0, or none. */
bool tn_log_order_always(const tn_log_order *order);

typedef struct tn_log_deletes {
    tn_str *keys, *partitions;
    tn_log_order *orders;
    size_t count;
} tn_log_deletes;
/* Of a DELETE block's content, which must outlive it. UNSUPPORTED for versions 1 and 2 (Java's own
 * serialization), with the way out. In the arena. */
int tn_log_deletes_parse(tarn_cx *cx, tn_str content, tn_str where, tn_arena *arena,
                         tn_log_deletes *out);
/* Row positions of a header (LogReaderUtils): ascending, none twice. CORRUPT naming `where`; LIMIT
 * when more than `max`. In the arena. */
int tn_log_positions_parse(tarn_cx *cx, tn_str text, tn_str where, uint64_t max, tn_arena *arena,
                           int64_t **positions, size_t *count);

#endif
