/* Values of Arrow arrays as text, the same in NDJSON and CSV:
 *   times       ISO 8601 with all digits of the unit; "Z" where adjusted to UTC, no mark elsewhere
 *   dates       2024-05-12; years beyond 0000 to 9999 with a sign
 *   durations, intervals   ISO 8601: PT3723.001S, P1M2DT0.5S
 *   decimals    all digits of their scale: 1.50
 *   floats      the fewest digits that read back equal; NaN, Infinity, -Infinity
 *   binary      base64; UUIDs as f81d4fae-7dec-11d0-a765-00a0c91e6bf6 */
#ifndef TN_BATCH_TEXT_H
#define TN_BATCH_TEXT_H

#include "batch/rows.h"

/* Text and binary apart, no value is longer. */
#define TN_TEXT_BYTES_MAX 128

enum tn_text_form {
    TN_TEXT_BARE,  /* a JSON number, true or false */
    TN_TEXT_WORDS, /* ASCII without anything to escape: a JSON string once quoted */
    TN_TEXT_BYTES  /* text or binary values: not written here, see tn_rows_bytes */
};

typedef struct tn_text_type {
    tn_type type;
    bool uuid; /* 16 bytes printed as one */
} tn_text_type;

int tn_text_type_of(tarn_cx *cx, const struct ArrowSchema *schema, tn_text_type *out);
/* Writes value `at`, which is not null, of a type that is neither nested nor a dictionary, at most
 * TN_TEXT_BYTES_MAX bytes; *form says how JSON shows it. 0 bytes for TN_TEXT_BYTES. */
size_t tn_text_write(const tn_text_type *type, const struct ArrowArray *array, int64_t at,
                     char *out, enum tn_text_form *form);
bool tn_text_is_utf8(enum tn_type_kind kind);

#endif
