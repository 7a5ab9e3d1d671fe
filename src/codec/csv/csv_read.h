/* Reads CSV (RFC 4180): quoted fields with line ends and doubled quotes inside, CRLF, LF or CR, a
 * byte order mark, a last line without an end. */
#ifndef TN_CSV_READ_H
#define TN_CSV_READ_H

#include "codec/text/text_read.h"
#include "io/feed.h"

typedef struct tn_csv_read tn_csv_read;

/* The feed and the options are borrowed until close. */
int tn_csv_read_open(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                     tn_csv_read **out);
/* The columns that a sample shows, without reading on: for joining those of many inputs. A feed of
 * at least sample_bytes may be cut anywhere: what is not whole at its end is no part of it. Columns
 * without a value are of type null, of integers that 32 bits hold int32. *rows (or NULL): records
 * seen. *out is the caller's. */
int tn_csv_read_sample(tarn_cx *cx, tn_feed *feed, const tn_text_read_options *options,
                       struct ArrowSchema *out, uint64_t *rows);
/* The schema of its batches; *out is the caller's. */
int tn_csv_read_schema(tarn_cx *cx, const tn_csv_read *reader, struct ArrowSchema *out);
/* The next batch as a struct array, the caller's; length 0 at the end. */
int tn_csv_read_next(tarn_cx *cx, tn_csv_read *reader, struct ArrowArray *out);
/* The line that row `row` of the last batch begins in; 0: it is not known. */
uint64_t tn_csv_read_line(const tn_csv_read *reader, int64_t row);
void tn_csv_read_close(tn_csv_read *reader);

#endif
