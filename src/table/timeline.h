/* The active timeline of a table, seen once. */
#ifndef TN_TABLE_TIMELINE_H
#define TN_TABLE_TIMELINE_H

#include "io/store.h"
#include "table/commit_metadata.h"
#include "table/hudi_config.h"
#include "table/instant.h"

typedef struct tn_timeline {
    tn_str directory; /* in the store */
    int32_t layout;
    bool utc;
    tn_instant *instants; /* by requested time, then action */
    size_t count;
    tn_str start;    /* the first commit that carries no savepoint: what is older, is committed */
    tn_str *strange; /* names that are no instants' files, temporary ones and .crc apart */
    size_t strange_count;
} tn_timeline;

/* 5,000 instants in well under 0.1 s: names alone are looked at, no file is opened. In the arena.
 */
int tn_timeline_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                     tn_arena *arena, tn_timeline *out);
/* Whether data files of this instant are visible: completed, or older than the first of the
 * timeline that carries no savepoint. */
bool tn_timeline_shows(const tn_timeline *timeline, tn_str time);
/* NOTFOUND naming the first commit where none that brings data is as old as `as_of` (empty: any
 * time will do). For a table of which no file is that old either: what is archived is not on the
 * timeline. */
int tn_timeline_reaches(tarn_cx *cx, const tn_timeline *timeline, tn_str root, tn_str as_of);
const tn_instant *tn_timeline_find(const tn_timeline *timeline, tn_str time, enum tn_action action);
/* The one that writes data at that time, in any state; and only when it is completed. NULL: none.
 */
const tn_instant *tn_timeline_find_data(const tn_timeline *timeline, tn_str time);
const tn_instant *tn_timeline_find_commit(const tn_timeline *timeline, tn_str time);
/* Where the first instant of that time or of a later one stands. */
size_t tn_timeline_from(const tn_timeline *timeline, tn_str time);
/* When the instant of that time was completed, whatever its action, commits first; {NULL, 0}: it is
 * not completed, or not on the active timeline. */
tn_str tn_timeline_completion(const tn_timeline *timeline, tn_str time);
/* The requested time of the last completed commit, deltacommit or replacecommit; {NULL, 0}: none.
 */
tn_str tn_timeline_last_commit(const tn_timeline *timeline);
/* The greatest requested or completion time that is there; {NULL, 0}: none. */
tn_str tn_timeline_latest(const tn_timeline *timeline);
/* The bytes of a file that the timeline has. CONFLICT when it is there no longer: somebody changed
 * the table meanwhile. */
int tn_timeline_get(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str file_name,
                    tn_arena *arena, tn_str *path, tn_buf *bytes);
/* Reads what a completed commit, deltacommit or replacecommit says. CORRUPT naming the
 * file and the way out for an empty or damaged one. */
int tn_timeline_commit(tarn_cx *cx, tn_store *store, const tn_timeline *timeline,
                       const tn_instant *instant, tn_arena *arena, tn_commit_metadata *out);
/* The file of any state as a tree, for people; NULL items where it is empty. */
int tn_timeline_value(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str file_name,
                      tn_arena *arena, bool *empty, tn_avro_value *out);

#endif
