/* Partition paths made of times: Hudi's timestamp-based key generator. */
#ifndef TN_BATCH_PATH_TIME_H
#define TN_BATCH_PATH_TIME_H

#include "batch/record_key.h"

typedef struct tn_path_time tn_path_time;

/* INVALID for a pattern or a zone that is not understood, or settings that lack one. The texts are
 * borrowed until close. */
int tn_path_time_open(tarn_cx *cx, const tn_keygen_timebased *options, tn_str process_zone,
                      tn_path_time **out);
void tn_path_time_close(tn_path_time *time);
/* Whether the type takes texts (and then no numbers). */
bool tn_path_time_takes_text(const tn_path_time *time);
/* Appends the text of a number in the unit of the settings. */
void tn_path_time_number(const tn_path_time *time, int64_t value, tn_buf *out);
/* The same of an instant in milliseconds. */
void tn_path_time_millis(const tn_path_time *time, int64_t millis, tn_buf *out);
/* The same of a text; false when no pattern takes all of it, or the clock skips that time. */
bool tn_path_time_text(const tn_path_time *time, tn_str text, tn_buf *out);
/* The same where the value is null. */
void tn_path_time_null(const tn_path_time *time, tn_buf *out);

#endif
