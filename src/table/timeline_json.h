/* Files of a timeline as JSON text, for people. */
#ifndef TN_TABLE_TIMELINE_JSON_H
#define TN_TABLE_TIMELINE_JSON_H

#include "table/timeline.h"

/* What a file of the timeline says, of any state; {NULL, 0} where it is empty. Ends with a NUL that
 * is not counted; in the arena. A damaged one: as tn_timeline_value. */
int tn_timeline_json(tarn_cx *cx, tn_store *store, const tn_timeline *timeline, tn_str file_name,
                     tn_arena *arena, tn_str *out);

#endif
