/* Which columns a CSV file has and what becomes of them: header, schema, sample. */
#ifndef TN_CSV_COLUMNS_H
#define TN_CSV_COLUMNS_H

#include "base/arena.h"
#include "codec/csv/csv_scan.h"
#include "codec/text/build.h"
#include "codec/text/text_read.h"

#define TN_CSV_NO_SOURCE SIZE_MAX

typedef struct tn_csv_column {
    size_t source; /* field of a record, or TN_CSV_NO_SOURCE: null */
    bool inferred; /* the type is that of the sample */
    bool bytes;    /* text or binary: an empty field in quotes is a value */
    tn_build *build;
    tn_buf doubled; /* fields whose doubled quotes were taken back */
    tn_buf bad;     /* see tn_build_texts */
} tn_csv_column;

typedef struct tn_csv_columns {
    tn_str source; /* name of the input, borrowed */
    tn_arena arena;
    tn_str *names; /* of the fields of a record */
    size_t field_count;
    const char *counted_by; /* "the header", …: what says how many fields there are */
    tn_text_guess *guesses; /* one a field; NULL: no sample is needed */
    uint64_t sample_rows;
    bool keep_nulls;     /* a column without a value is of type null, not text */
    tn_csv_column *list; /* what is read, in the order of the schema */
    size_t count;
    tn_build *build;
} tn_csv_columns;

/* From the first record: its names (a header), or its number of fields. DATA: two columns of one
 * name, a name that is no UTF-8 or holds a NUL. */
int tn_csv_columns_name(tarn_cx *cx, tn_csv_columns *columns, const tn_text_read_options *options,
                        const uint8_t *text, const tn_csv_table *header, uint64_t line);
/* Adds a scanned piece of the sample. */
void tn_csv_columns_sample(tn_csv_columns *columns, const tn_text_read_options *options,
                           const uint8_t *text, const tn_csv_table *table);
/* Settles `list` and `build` once the sample is complete. */
int tn_csv_columns_settle(tarn_cx *cx, tn_csv_columns *columns,
                          const tn_text_read_options *options);
void tn_csv_columns_clear(tn_csv_columns *columns);
/* The text of a field; ptr NULL: a null. `room` takes a text whose quotes are taken back and has
 * room for it. */
tn_str tn_csv_columns_text(const tn_csv_column *column, tn_str null, const uint8_t *text,
                           tn_csv_field field, tn_buf *room);

#endif
