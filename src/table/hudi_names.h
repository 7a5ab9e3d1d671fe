/* The history of a table's columns, which its schema numbers (org.apache.hudi.internal.schema;
 * hoodie.schema.on.read.enable): which names files of older commits have for the columns of today.
 */
#ifndef TN_TABLE_HUDI_NAMES_H
#define TN_TABLE_HUDI_NAMES_H

#include "table/timeline.h"
#include "task/names.h"

/* `latest`: what the newest commit of the snapshot says its columns are ("latest_schema" of its
 * extra metadata, JSON). `as_of` empty: now. *out in the arena; no versions: files have the names
 * of today. CORRUPT naming the file for a history that cannot be read. */
int tn_hudi_names_load(tarn_cx *cx, tn_store *store, tn_str root, const tn_timeline *timeline,
                       tn_str latest, tn_str as_of, tn_arena *arena, tn_scan_names *out);
/* The same of texts: `history` is that of the file `where`. */
int tn_hudi_names_parse(tarn_cx *cx, tn_str latest, tn_str history, tn_str where, tn_arena *arena,
                        tn_scan_names *out);

#endif
