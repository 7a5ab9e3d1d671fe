/* Lines of rows.
 * I1: runs are in the order of rows, and one that goes on the last is part of it: an input of plain
 *     lines has one run, however long it is. */
#include "codec/text/text_lines.h"

#include <assert.h>

typedef struct run {
    int64_t row;
    uint64_t line;
} run;

void tn_text_lines_add(tn_text_lines *lines, int64_t row, int64_t count, uint64_t line)
{
    run made = {row, line};

    assert(row >= lines->rows);
    if (lines->runs.len == 0 || row != lines->rows || line != lines->next)
        tn_buf_add(&lines->runs, &made, sizeof made);
    lines->rows = row + count;
    lines->next = line + (uint64_t)count;
}

uint64_t tn_text_lines_at(const tn_text_lines *lines, int64_t row)
{
    const run *runs = (const run *)(const void *)lines->runs.data;
    size_t low = 0, high = lines->runs.len / sizeof *runs;

    if (row >= lines->rows || high == 0 || lines->runs.failed || row < runs[0].row)
        return 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        *(runs[middle].row <= row ? &low : &high) = middle;
    }
    return runs[low].line + (uint64_t)(row - runs[low].row);
}

void tn_text_lines_reset(tn_text_lines *lines)
{
    tn_buf_reset(&lines->runs);
    lines->rows = 0;
    lines->next = 0;
}

void tn_text_lines_clear(tn_text_lines *lines)
{
    tn_buf_clear(&lines->runs);
    *lines = (tn_text_lines){0};
}
