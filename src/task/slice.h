/* Reading one file slice of a Hudi table merged: base file and logs as plain values. */
#ifndef TN_TASK_SLICE_H
#define TN_TASK_SLICE_H

#include "task/upsert.h"

/* Which blocks of logs count. */
typedef struct tn_slice_instants {
    /* Blocks of these instants count (sorted), and of those before `start` unless `exact`. Empty
     * texts set no bound. */
    const tn_str *instants;
    size_t count;
    tn_str start;
    tn_str until; /* later instants do not count */
    bool exact;   /* of `instants` alone: ranges */
    bool trusted; /* files were chosen by their instants (version 8 and later): every block up to
                     `until` counts */
} tn_slice_instants;

enum tn_partial_mode { /* hoodie.table.partial.update.mode, and payloads that mean one */
                       TN_PARTIAL_NONE = 0,
                       TN_PARTIAL_IGNORE_DEFAULTS,
                       TN_PARTIAL_FILL_UNAVAILABLE,
                       /* PartialUpdateAvroPayload below version 9: nulls stand for "as before", and
                          who comes last gives the commit and the file, however late its row is */
                       TN_PARTIAL_IGNORE_NULLS
};

/* How versions of a row become one: the same for all slices of a table. */
typedef struct tn_slice_rules {
    enum tn_merge_mode mode;
    const tn_str *ordering; /* columns; dotted for those of structs */
    size_t ordering_count;
    bool meta_fields;   /* record keys are stored; else they are made of `keys` */
    const tn_str *keys; /* columns */
    size_t key_count;
    tn_str delete_field, delete_marker; /* a column whose text says that the row is deleted */
    enum tn_partial_mode partial;
    tn_str unavailable;  /* of FILL_UNAVAILABLE: the text that stands for "as before" */
    bool deletes_always; /* whatever their ordering value, and a row after them among logs is new
                            (payload classes that run as such: below version 9) */
} tn_slice_rules;

typedef struct tn_slice_log {
    tn_str name;
    tn_str path; /* in the store */
    uint64_t size_bytes;
    tn_str instant; /* of its name */
} tn_slice_log;

/* The slice of one scan task. Everything is borrowed. */
typedef struct tn_slice_parts {
    tn_str base_instant;      /* of the base file, which is the scan's path; empty: none */
    const tn_slice_log *logs; /* in Hudi's order (log.md 5.2), without .cdc */
    size_t log_count;
    const tn_slice_instants *instants;
    const tn_slice_rules *rules;
    tn_str avro; /* the table's schema, for defaults; may be empty */
} tn_slice_parts;

#endif
