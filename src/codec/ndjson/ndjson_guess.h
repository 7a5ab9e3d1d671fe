/* The columns and types that a sample of JSON records shows. */
#ifndef TN_NDJSON_GUESS_H
#define TN_NDJSON_GUESS_H

#include "codec/text/text_read.h"

typedef struct tn_ndjson_guess tn_ndjson_guess;

int tn_ndjson_guess_open(tarn_cx *cx, tn_ndjson_guess **out);
void tn_ndjson_guess_close(tn_ndjson_guess *guess);
/* One more record; one that is no JSON object is passed over. LIMIT for more than
 * TN_PARQUET_LEAVES_MAX keys. */
int tn_ndjson_guess_add(tarn_cx *cx, tn_ndjson_guess *guess, tn_str record);
/* A struct schema, columns in order of first appearance. What had no value but null is of type null
 * where `nulls`, else text. *out is the caller's. */
int tn_ndjson_guess_schema(tarn_cx *cx, const tn_ndjson_guess *guess, bool nulls,
                           struct ArrowSchema *out);

#endif
