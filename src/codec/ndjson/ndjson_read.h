/* Reads NDJSON: one JSON object a line; empty lines are passed over. An input whose first byte is
 * "[" is one array of objects, on any lines. Objects become structs (or maps, where a schema says
 * so), arrays lists; keys that a record lacks are null. In a column of text, texts are what they
 * say and all other values their JSON. docs/format/ndjson.md tells the types that a sample gives.
 *
 * A record is bad when it is no JSON, has a value that does not fit its column, a key twice in one
 * object, or one that first appears after the sample where no schema was given. */
#ifndef TN_NDJSON_READ_H
#define TN_NDJSON_READ_H

#include "codec/text/text_read.h"
#include "io/feed.h"

typedef struct tn_ndjson_read tn_ndjson_read;

/* The feed and the options are borrowed until close. */
int tn_ndjson_read_open(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                        tn_ndjson_read **out);
/* The columns that a sample of the feed shows, without reading on: for joining those of many
 * inputs. Columns without a value are of type null, of integers that 32 bits hold int32. *rows:
 * records seen. *out is the caller's. */
int tn_ndjson_read_sample(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                          struct ArrowSchema *out, uint64_t *rows);
/* The schema of its batches; *out is the caller's. */
int tn_ndjson_read_schema(tarn_cx *cx, const tn_ndjson_read *reader, struct ArrowSchema *out);
/* The next batch as a struct array, the caller's; length 0 at the end. */
int tn_ndjson_read_next(tarn_cx *cx, tn_ndjson_read *reader, struct ArrowArray *out);
/* The line that row `row` of the last batch begins in; 0: it is not known. */
uint64_t tn_ndjson_read_line(const tn_ndjson_read *reader, int64_t row);
void tn_ndjson_read_close(tn_ndjson_read *reader);

#endif
