/* A Hudi table that is being opened for reading: what read_hudi.c knows and the files beside it
 * need. Everything pointed to lives in the arena of the read. */
#ifndef TN_OP_READ_HUDI_H
#define TN_OP_READ_HUDI_H

#include "op/op_read.h"
#include "plan/plan_cdc.h"
#include "plan/plan_query.h"
#include "plan/scan_hudi.h"

typedef struct tn_reading {
    tn_read *read;
    const tarn_read_options *options;
    enum tn_query_kind kind;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_slices slices;
    tn_str as_of, since, until; /* as instants; empty: none was given */
    enum tn_v6_slices v6_slices;
    tn_query_range range;   /* of incremental and change queries */
    tn_cdc_change *changes; /* of a change query, in order */
    size_t change_count;
    tn_str in_range; /* the condition on commit times that range makes; may be empty */
    tn_slice_rules rules;
    tn_slice_instants instants;
    struct ArrowSchema columns; /* without meta columns */
    tn_str avro;                /* the text that `columns` came from; may be empty */
    tn_scan_names names;        /* that older files have for them */
    tn_scan_hudi scan;
} tn_reading;

/* read_hudi_key.c: --key as files may have it, one or two texts in the arena. Releases of Hudi
 * differ in how a complex generator spells keys of one field, and who asks need not know which one
 * wrote the table. */
int tn_reading_spellings(tarn_cx *cx, const tn_reading *reading, tn_arena *arena, tn_str out[2],
                         size_t *count);

/* read_hudi_rules.c: how rows are merged, from the table's properties. UNSUPPORTED by name for a
 * merger that is a program of the user's, unless that is to be ignored. */
int tn_reading_rules(tarn_cx *cx, tn_reading *reading);

/* read_hudi_range.c: timeline, `range`, the slices that its commits wrote, which blocks of them
 * count, and `in_range`. */
int tn_reading_range(tarn_cx *cx, tn_reading *reading);

/* read_hudi_skip.c: keep[i] of each slice becomes 0 where the record index (of a key asked for) or
 * the statistics of the metadata table rule it out. `all`: what `where` is bound to; NULL: every
 * row. */
int tn_reading_skip(tarn_cx *cx, tn_reading *reading, const tn_predicate *where,
                    const struct ArrowSchema *all, uint8_t *keep);

/* Says what the reader of the rows should know. */
void tn_reading_say(const tn_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
