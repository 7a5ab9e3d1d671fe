/* What an instant's files hold: commits (HoodieCommitMetadata, HoodieReplaceCommitMetadata),
 * requested replacements, rollback plans and rollbacks. Both forms: JSON (layout 1) and Avro
 * (layout 2). docs/format/hudi-timeline.md has the schemas. */
#ifndef TN_TABLE_COMMIT_METADATA_H
#define TN_TABLE_COMMIT_METADATA_H

#include "codec/avro/avro_file.h"
#include "codec/properties/properties.h"
#include "task/upsert.h"

typedef struct tn_replaced {
    tn_str partition;
    tn_str *file_ids;
    size_t file_id_count;
} tn_replaced;

typedef struct tn_commit_metadata {
    tn_str operation; /* "UPSERT" */
    bool compacted, replace;
    tn_write_stat *stats; /* those of a partition are consecutive */
    size_t stat_count;
    tn_replaced *replaced;
    size_t replaced_count;
    tn_property *extra; /* "schema" and others */
    size_t extra_count;
} tn_commit_metadata;

int tn_commit_metadata_parse(tarn_cx *cx, tn_str bytes, tn_str path, tn_arena *arena,
                             tn_commit_metadata *out); /* the form is seen by the first bytes */
/* From the record of a commit among other things: an archived one. Texts are copied. */
int tn_commit_metadata_take(tarn_cx *cx, const tn_avro_value *record, tn_arena *arena,
                            tn_commit_metadata *out);
int tn_commit_metadata_print(tarn_cx *cx, const tn_commit_metadata *metadata, int32_t layout,
                             tn_buf *out);
tn_str tn_commit_metadata_extra(const tn_commit_metadata *metadata, const char *key);
/* HoodieRequestedReplaceMetadata with the operation (empty: null). */
int tn_requested_replace_print(tarn_cx *cx, tn_str operation, tn_buf *out);

typedef struct tn_rollback_request {
    tn_str partition, file_id;
    tn_str *files; /* absolute paths, without scheme */
    size_t file_count;
} tn_rollback_request;

typedef struct tn_rollback_plan {
    tn_str instant, action; /* that is rolled back: "commit" */
    tn_rollback_request *requests;
    size_t request_count;
} tn_rollback_plan;

int tn_rollback_plan_parse(tarn_cx *cx, tn_str bytes, tn_str path, tn_arena *arena,
                           tn_rollback_plan *out);
int tn_rollback_plan_print(tarn_cx *cx, const tn_rollback_plan *plan, tn_buf *out);
/* HoodieRollbackMetadata: all files of the plan count as deleted. */
int tn_rollback_metadata_print(tarn_cx *cx, tn_str rollback_time, int64_t took_ms,
                               const tn_rollback_plan *plan, tn_buf *out);

#endif
