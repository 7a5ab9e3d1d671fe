/* Records and fields of CSV text: where they begin and end. */
#ifndef TN_CSV_SCAN_H
#define TN_CSV_SCAN_H

#include "base/buf.h"
#include "base/context.h"

/* Bytes that may be read behind the text that is scanned; their content does not matter. */
#define TN_CSV_PAD     64

#define TN_CSV_QUOTED  (1u << 31)
#define TN_CSV_DOUBLED (1u << 30) /* quotes inside stand twice */

/* Without its quotes. */
typedef struct tn_csv_field {
    uint32_t start, size; /* size: the length and the flags above */
} tn_csv_field;

static inline uint32_t tn_csv_length(tn_csv_field field)
{
    return field.size & (TN_CSV_DOUBLED - 1);
}

/* A record of another number of fields than asked for, or with text behind a closing quote. */
typedef struct tn_csv_odd {
    uint32_t start, end;
    uint32_t row;    /* it stands before this row of the table */
    uint32_t fields; /* how many it has */
    uint32_t broken; /* counted from 1: the field that goes on after its quote; 0: none */
} tn_csv_odd;

typedef struct tn_csv_table {
    /* Given: room, and fields per record; 0: any, then only one record is read. */
    tn_csv_field *fields;
    uint32_t *starts; /* of records; room for rows_max */
    size_t columns, fields_max, rows_max;
    /* Found: `rows` records of `columns` fields each. */
    size_t rows;
    size_t record_fields; /* of the one record */
    tn_buf odd;           /* tn_csv_odd each; the caller clears it */
    size_t consumed;      /* bytes, whole records and empty lines */
    uint64_t lines;       /* ended in them */
    bool doubled;         /* some field has the flag */
    bool ascii;           /* no byte that was looked at is beyond ASCII */
    bool quote_open;      /* the text ended within quotes; */
    size_t quote_start;   /* those that began here */
} tn_csv_table;

/* Scans text of less than 1 GiB. `last`: nothing follows it, so its last record may lack a line
 * end; else that record is left, as is a CR at the end. Lines end in LF, CR LF or CR; an empty line
 * is a record only where there is one column. LIMIT: the one record has more than fields_max
 * fields. */
int tn_csv_scan(tarn_cx *cx, char delimiter, const uint8_t *text, size_t len, bool last,
                tn_csv_table *table);
/* Line ends in a text; a CR LF counts once. */
uint64_t tn_csv_lines(const uint8_t *text, size_t len);

#endif
