/* Decides what a query on a Hudi table reads: pure, over a timeline and its commits
 * (IncrementalQueryAnalyzer, HoodieCDCExtractor; services.md 7 to 9). */
#ifndef TN_PLAN_QUERY_H
#define TN_PLAN_QUERY_H

#include "table/hudi_slices.h"

enum tn_query_kind {
    TN_QUERY_SNAPSHOT = 1,
    TN_QUERY_OPTIMIZED,
    TN_QUERY_INCREMENTAL,
    TN_QUERY_CDC
};

/* Of an incremental or change query. Times are completion times in layout 2, requested times in
 * layout 1; the range is open at its begin and closed at its end. */
typedef struct tn_query_range {
    bool from_start;        /* every row that is live at the end, whatever its commit */
    tn_str until;           /* the latest requested time of the range: the snapshot that is read */
    const tn_str *instants; /* requested times of the commits inside, sorted */
    size_t instant_count;
    bool archived; /* some of them left the active timeline: the whole snapshot is read, filtered */
    bool empty;    /* nothing was committed in it */
} tn_query_range;

/* `since`, `until`: instants as typed, made 17 digits; empty: from the start, up to now.
 * `archive`: completed instants that left the active timeline, or NULL. In the arena. */
int tn_query_range_find(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                        const tn_timeline *archive, tn_str since, tn_str until, tn_arena *arena,
                        tn_query_range *out);

#endif
