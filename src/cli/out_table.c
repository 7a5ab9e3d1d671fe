/* A table for people: cells are kept until the widths are known.
 *
 * I1: a missing cell prints as empty; memory that is short ends the table early, never the command.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "out_bytes.h"

#define COLUMNS_MAX 16

struct out_table {
    struct out *out;
    const struct out_column *columns;
    size_t column_count;
    char **cells;
    size_t count, room;
};

struct out_table *out_table_open(struct out *out, const struct out_column *columns, size_t count)
{
    struct out_table *table = count > 0 && count <= COLUMNS_MAX ? calloc(1, sizeof *table) : NULL;

    if (table == NULL)
        return NULL;
    table->out = out;
    table->columns = columns;
    table->column_count = count;
    return table;
}

static void keep(struct out_table *table, const char *bytes, size_t len)
{
    char *copy;

    if (table->count == table->room) {
        size_t room = table->room == 0 ? 64 : table->room * 2;
        char **cells = realloc(table->cells, room * sizeof *cells);

        if (cells == NULL)
            return;
        table->cells = cells;
        table->room = room;
    }
    copy = strndup(bytes, len);
    if (copy != NULL)
        table->cells[table->count++] = copy;
}

void out_cell(struct out_table *table, const char *format, ...)
{
    char text[1024];
    va_list args;
    int len;

    if (table == NULL)
        return;
    va_start(args, format);
    len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= 0)
        keep(table, text, strlen(text));
}

void out_cell_name(struct out_table *table, const char *bytes, size_t len)
{
    char text[4096];
    size_t at = 0, to = 0;

    if (table == NULL)
        return;
    while (at < len && to + OUT_BYTES_PIECE < sizeof text)
        to += out_bytes_name(bytes, len, &at, text + to);
    keep(table, text, to);
}

void out_cell_size(struct out_table *table, uint64_t bytes)
{
    struct out_word word;

    out_cell(table, "%s", out_size(&word, bytes));
}

void out_cell_count(struct out_table *table, uint64_t count)
{
    struct out_word word;

    out_cell(table, "%s", out_count(&word, count));
}

/* Characters, not bytes; cells are well-formed or ASCII. */
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_row(const struct out_table *table, const size_t *widths, const char *const *row,
                      size_t present)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const char *text = c < present ? row[c] : "";
        int pad = (int)(widths[c] - width_of(text));
        bool last = c + 1 == table->column_count;

        if (table->columns[c].right)
            out_text(table->out, "%*s%s", pad, "", text);
        else
            out_text(table->out, "%s%*s", text, last ? 0 : pad, "");
        if (!last)
            out_text(table->out, "  ");
    }
    out_text(table->out, "\n");
}

void out_table_close(struct out_table *table)
{
    const char *titles[COLUMNS_MAX];
    size_t widths[COLUMNS_MAX];
    bool titled = false;

    if (table == NULL)
        return;
    for (size_t c = 0; c < table->column_count; c++) {
        titles[c] = table->columns[c].title != NULL ? table->columns[c].title : "";
        titled = titled || titles[c][0] != '\0';
        widths[c] = width_of(titles[c]);
    }
    for (size_t i = 0; i < table->count; i++) {
        size_t width = width_of(table->cells[i]);
        size_t c = i % table->column_count;

        if (width > widths[c])
            widths[c] = width;
    }
    if (titled)
        print_row(table, widths, titles, table->column_count);
    for (size_t i = 0; i < table->count; i += table->column_count)
        print_row(table, widths, (const char *const *)table->cells + i, table->count - i);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}
