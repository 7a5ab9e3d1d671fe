/* How records lie on disk: a line of JSON, and a line with its checksum. docs/format/records.md */
#ifndef TN_COMMIT_RECORD_H
#define TN_COMMIT_RECORD_H

#include "base/buf.h"

/* Appends to a line of JSON what makes it a record. */
int tn_record_seal(tarn_cx *cx, tn_buf *text);
/* The line, without its end; false when the text is no record, or a damaged one. */
bool tn_record_unseal(tn_str text, tn_str *line);

#endif
