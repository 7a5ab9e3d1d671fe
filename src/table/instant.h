/* Instants and the names of their files (org.apache.hudi.common.table.timeline; format/timeline.md
 * 1 and 2).
 */
#ifndef TN_TABLE_INSTANT_H
#define TN_TABLE_INSTANT_H

#include "base/arena.h"

enum tn_action { /* as compared: compaction is COMMIT, clustering is REPLACE, log compaction is
                    DELTA */
                 TN_ACTION_COMMIT = 1,
                 TN_ACTION_DELTA,
                 TN_ACTION_REPLACE,
                 TN_ACTION_CLEAN,
                 TN_ACTION_ROLLBACK,
                 TN_ACTION_RESTORE,
                 TN_ACTION_SAVEPOINT,
                 TN_ACTION_INDEXING,
                 TN_ACTION_SCHEMA
};

enum tn_state { TN_STATE_REQUESTED = 1, TN_STATE_INFLIGHT, TN_STATE_COMPLETED };

typedef struct tn_instant {
    tn_str time; /* requested */
    tn_str
        completion; /* of a completed one; v6, and files without it: from its modification time */
    enum tn_action action;
    tn_str word; /* the action as the name of the highest state's file says it ("clustering") */
    enum tn_state state;
    tn_str name;                          /* of the file of that state */
    tn_str requested_name, inflight_name; /* empty: there is no such file */
    uint64_t size_bytes;                  /* of the file of that state */
    int64_t mtime_ns;
    bool
        legacy; /* a completed file of layout 2 without completion time: its contents are as in 1 */
} tn_instant;

/* False for what is no instant's file. Parts point into `name`. */
bool tn_instant_parse(tn_str name, int32_t layout, tn_instant *out);
/* The action of a word; false where there is none. */
bool tn_instant_action(tn_str word, enum tn_action *out);
/* Whether its action brings data files, or takes them away from readers. */
static inline bool tn_instant_writes_data(const tn_instant *instant)
{
    return instant->action == TN_ACTION_COMMIT || instant->action == TN_ACTION_DELTA ||
           instant->action == TN_ACTION_REPLACE;
}
/* The file name of a state, in the arena; `word` is the action in its requested form ("commit",
 * "replacecommit", "rollback", …). */
int tn_instant_print(tarn_cx *cx, tn_arena *arena, int32_t layout, tn_str time, tn_str word,
                     enum tn_state state, tn_str completion, tn_str *out);
/* "yyyyMMddHHmmssSSS" of a time, in UTC or the zone of the process. */
int tn_instant_of_ms(tarn_cx *cx, tn_arena *arena, int64_t ms, bool utc, tn_str *out);
/* The other way round; false when it is no such text. 14 digits count as the last ms of the second.
 */
bool tn_instant_to_ms(tn_str time, bool utc, int64_t *ms);
/* The text one millisecond later. */
int tn_instant_next(tarn_cx *cx, tn_arena *arena, tn_str time, tn_str *out);

#endif
