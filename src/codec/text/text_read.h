/* What the readers of text formats share: options, rejected records, and the types that a sample
 * shows. */
#ifndef TN_TEXT_READ_H
#define TN_TEXT_READ_H

#include "base/str.h"
#include "batch/field.h"

/* A record that does not fit its columns. `line` and `column_number` count from 1 (0: no one
 * column); `record` is its bytes as read. TARN_OK: go on without it; else the reading fails so. */
typedef struct tn_text_bad {
    tn_str source;
    uint64_t line;
    uint64_t column_number;
    tn_str column; /* name; empty: of no one column */
    tn_str record;
    uint64_t row;  /* where there are no lines: of the source, from 1 */
    tn_str values; /* where its bytes are gone: the row as a JSON object; else empty */
    const char *reason;
    uint64_t inferred_rows; /* the column's type is that of so many rows of a sample; 0: given */
} tn_text_bad;
typedef int (*tn_text_reject)(tarn_cx *cx, void *arg, const tn_text_bad *bad);

typedef struct tn_text_read_options {
    /* Columns wanted and their types, by name; NULL: those of the sample. A column of the schema
     * that the input lacks is null. Columns that the schema lacks are left out and reported once
     * through `warn` (NULL: silently). */
    const struct ArrowSchema *schema;
    /* Its types are not the user's but those of a sample of so many rows: bad values are told so.
     */
    uint64_t inferred_rows;
    /* With a schema: also columns that it lacks are read, with the types of the sample. */
    bool schema_open;
    /* The schema is what samples of all inputs showed together, but for its first `schema_given`
     * columns. Nothing may be left out then: a JSON key that it lacks makes its record bad. */
    bool schema_inferred;
    size_t schema_given;
    bool schema_deep;      /* the same goes for fields of structs of those columns */
    tn_text_reject reject; /* NULL: the first bad record is DATA, naming source, line, column */
    void *reject_arg;
    void (*warn)(void *arg, const char *text);
    void *warn_arg;
    uint64_t sample_bytes; /* that types are inferred from; 0: 4 MiB */
    int64_t batch_rows;    /* 0: 65,536 */
    /* CSV alone. */
    char delimiter; /* 0: "," */
    bool no_header; /* columns are then those of `schema` in order, else column0, column1 … */
    tn_str null;    /* text that means null where it is not quoted; default: the empty one */
} tn_text_read_options;

/* What every reader does with a bad record: options->reject, or DATA with a text such as
 *     orders.csv: line 42, column 3 "amount": "12,50" is no number that double holds; fix it, … */
int tn_text_bad_report(tarn_cx *cx, const tn_text_read_options *options, const tn_text_bad *bad);

/* The narrowest type that holds every value seen of one column; zeroed: nothing seen yet.
 * NULL < BOOL; INT64 < DOUBLE; DATE < TIMESTAMP; all < UTF8. Text stays what would not read back:
 * integers beyond int64, or of more than 15 digits among fractions; fractions of more than 17
 * digits; digits with leading zeros or "+"; "NaN" and "inf" alone; times with and without a zone
 * together. Spaces around a value are passed over, the empty text is a null. */
typedef struct tn_text_guess {
    uint32_t seen;         /* bit per kind of value */
    uint32_t digits_max;   /* of integers */
    uint32_t fraction_max; /* digits below the second */
} tn_text_guess;
void tn_text_guess_add(tn_text_guess *guess, tn_str text);
/* The Arrow format string ("l", "g", "b", "tdD", "tsu:", "tsu:UTC", "tsn:", "tsn:UTC", "u"; "n"
 * never: a column of nulls alone is text). */
const char *tn_text_guess_format(const tn_text_guess *guess);
/* Whether that is "l", and 32 bits would do. */
bool tn_text_guess_small(const tn_text_guess *guess);

#endif
