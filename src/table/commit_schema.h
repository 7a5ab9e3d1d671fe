/* Avro schemas of what instants' files hold (org.apache.hudi.avro.model), as text; shared by
 * table/commit_metadata*.c alone. */
#ifndef TN_TABLE_COMMIT_SCHEMA_H
#define TN_TABLE_COMMIT_SCHEMA_H

extern const char tn_commit_schema_commit[];
extern const char tn_commit_schema_replace[];
extern const char tn_commit_schema_requested_replace[];
extern const char tn_commit_schema_rollback_plan[];
extern const char tn_commit_schema_rollback[];

#endif
