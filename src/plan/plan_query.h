/* Decides what a query on a Hudi table reads: pure, over a timeline and its archive
 * (IncrementalQueryAnalyzer, IncrementalRelation V1 and V2, HoodieCDCExtractor; services.md 7 to
 * 9). What is read then is a matter of tn_slices_options. */
#ifndef TN_PLAN_QUERY_H
#define TN_PLAN_QUERY_H

#include "table/hudi_slices.h"

enum tn_query_kind {
    TN_QUERY_SNAPSHOT = 1,
    TN_QUERY_OPTIMIZED,
    TN_QUERY_INCREMENTAL,
    TN_QUERY_CDC
};

/* Of an incremental or change query. The range is open at its begin and closed at its end. Times of
 * an incremental query are completion times in layout 2, requested times in layout 1; those of a
 * change query are requested times in both, as in Hudi 1.2.0.
 *
 *     empty:        no rows.
 *     from_start:   the slices of the whole snapshot; every row.
 *     archived:     the slices of the latest snapshot (no as_of); rows by their commit time.
 *     else:         slices of what the commits of the range wrote (tn_slices_options.written_by =
 *                   active, as_of = until); rows by their commit time. Where tn_slices.whole says
 *                   that files are gone, the latest snapshot was loaded in their place. */
typedef struct tn_query_range {
    bool from_start;        /* every row that is live at the end, whatever its commit */
    tn_str until;           /* the latest requested time of the range: the snapshot that is read */
    const tn_str *instants; /* requested times of the commits inside, sorted: archived ones, too */
    size_t instant_count;
    const tn_str *active; /* those on the active timeline */
    size_t active_count;
    bool archived; /* some of them left the active timeline: the whole snapshot is read, filtered */
    bool empty;    /* nothing was committed in it */
    /* Which rows: those whose commit time is one of `instants`; in layout 1 those with a commit
     * time after `rows_after` and up to `rows_until`. */
    bool by_bounds;
    tn_str rows_after, rows_until;
    /* What the user should know; empty: nothing. */
    tn_str note;
} tn_query_range;

/* An instant, or a time, as typed, made comparable: 17 digits; an instant of seconds stands for the
 * end of its second. Other digits are kept where they begin with 0 ("000"), or where `timeline`
 * (NULL: not asked) has them. INVALID for what is neither. */
int tn_query_instant(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                     const char *text, tn_arena *arena, tn_str *out);
/* Whether the archived timeline must be asked for such a range (table/archive.h). */
bool tn_query_range_needs(const tn_timeline *timeline, tn_str since, tn_str until);
/* `since`, `until`: empty: from the start, up to now. `archive`: completed instants that left the
 * active timeline, or NULL. In the arena; points into the timelines. INVALID when since is after
 * until, UNSUPPORTED for a table without meta columns, CONFLICT when a commit inside the range is
 * not completed yet (layout 1). */
int tn_query_range_find(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                        const tn_timeline *archive, tn_str since, tn_str until, tn_arena *arena,
                        tn_query_range *out);
/* The same for change data, which any table has: what was not logged follows from the files.
 * INVALID when the range begins before the active timeline. */
int tn_query_changes_find(tarn_cx *cx, const tn_hudi_config *config, const tn_timeline *timeline,
                          const tn_timeline *archive, tn_str since, tn_str until, tn_arena *arena,
                          tn_query_range *out);
/* Options that load the slices of a range; borrowed from it. */
void tn_query_range_slices(const tn_query_range *range, tn_slices_options *options);
/* Which blocks of logs count for those slices; `whole` as tn_slices says. */
int tn_query_range_instants(tarn_cx *cx, const tn_timeline *timeline, const tn_query_range *range,
                            bool whole, tn_arena *arena, tn_slice_instants *out);

#endif
