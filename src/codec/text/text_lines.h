/* Where the rows of a batch stand in their input: runs of records that take a line each. */
#ifndef TN_TEXT_LINES_H
#define TN_TEXT_LINES_H

#include "base/buf.h"

typedef struct tn_text_lines {
    tn_buf runs;
    int64_t rows;  /* those up to the last that was added */
    uint64_t next; /* the line that goes on the last run */
} tn_text_lines;

/* Rows [row, row + count), each in a line of its own, the first in `line`. Rows come in order. */
void tn_text_lines_add(tn_text_lines *lines, int64_t row, int64_t count, uint64_t line);
/* The line of a row; 0: it is not known. */
uint64_t tn_text_lines_at(const tn_text_lines *lines, int64_t row);
void tn_text_lines_reset(tn_text_lines *lines);
void tn_text_lines_clear(tn_text_lines *lines);

#endif
