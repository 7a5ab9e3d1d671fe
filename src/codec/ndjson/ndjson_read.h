/* Reads NDJSON: one JSON object a line; empty lines are passed over. Objects become structs (or
 * maps, where a schema says so), arrays lists; keys that a record lacks are null. */
#ifndef TN_NDJSON_READ_H
#define TN_NDJSON_READ_H

#include "codec/text/text_read.h"
#include "io/feed.h"

typedef struct tn_ndjson_read tn_ndjson_read;

/* The feed and the options are borrowed until close. */
int tn_ndjson_read_open(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                        tn_ndjson_read **out);
/* The schema of its batches; *out is the caller's. */
int tn_ndjson_read_schema(tarn_cx *cx, const tn_ndjson_read *reader, struct ArrowSchema *out);
/* The next batch as a struct array, the caller's; length 0 at the end. */
int tn_ndjson_read_next(tarn_cx *cx, tn_ndjson_read *reader, struct ArrowArray *out);
void tn_ndjson_read_close(tn_ndjson_read *reader);

#endif
