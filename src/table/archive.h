/* The archived timeline of a table: instants that left the active one. Below version 8 log files of
 * Avro records, from 8 on Parquet files that a manifest lists (HoodieArchivedTimeline, LSMTimeline;
 * format/timeline.md 4). It is read only where a question needs it: see tn_query_range_needs. */
#ifndef TN_TABLE_ARCHIVE_H
#define TN_TABLE_ARCHIVE_H

#include "table/timeline.h"

/* All completed instants, by time, each once: those of layout 1 without a completion time have
 * their own. `name` is that of the file they stand in. No archive at all: none. In the arena.
 * CORRUPT naming the file, LIMIT beyond TN_ARCHIVE_INSTANTS_MAX. */
int tn_archive_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                    tn_arena *arena, tn_timeline *out);

/* What the archive has of one instant. */
typedef struct tn_archive_contents {
    tn_str metadata, plan; /* as JSON text; empty: none */
    bool is_commit;        /* `commit` is what it did */
    tn_commit_metadata commit;
} tn_archive_contents;
/* `instant`: one of tn_archive_load. In the arena. */
int tn_archive_read(tarn_cx *cx, tn_store *store, tn_str root, const tn_hudi_config *config,
                    const tn_instant *instant, tn_arena *arena, tn_archive_contents *out);

#endif
