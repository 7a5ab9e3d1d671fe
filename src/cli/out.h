/* All printing of the command line. stdout carries data only; messages and progress go to stderr.
 * Write errors are remembered and reported once, by out_close. A reader that went away (EPIPE) is
 * no error: out_ended tells loops to stop. */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* NULL only when memory is short. */
struct out *out_open(void);
/* Flushes and frees; false when writing to stdout failed, which has been said on stderr. */
bool out_close(struct out *out);
void out_quiet(struct out *out, bool quiet);
/* True once nothing more can be written to stdout. */
bool out_ended(const struct out *out);

/* Data to stdout. */
void out_bytes(struct out *out, const void *bytes, size_t len);
void out_text(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A name of any bytes for people: control characters and what is not UTF-8 as %XX. */
void out_name(struct out *out, const char *bytes, size_t len);

/* Messages to stderr, one line, "tarn: " before it. Notes are dropped by --quiet, warnings and
 * errors never. Control characters in them (from file names) are shown as %XX. */
void out_note(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_warn(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_error(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A bar on stderr, only when that is a terminal and not --quiet; cheap to call often.
 * `total` 0: unknown. out_progress_end removes it; messages do so as well. */
void out_progress(struct out *out, const char *what, uint64_t done, uint64_t total);
void out_progress_end(struct out *out);

/* Numbers for people. Each gives its buffer: "1.5 GiB", "130,000", "2.4 s", "1 h 5 min". */
struct out_word {
    char text[96];
};
const char *out_size(struct out_word *word, uint64_t bytes);
const char *out_count(struct out_word *word, uint64_t count);
const char *out_duration(struct out_word *word, int64_t ms);
/* "1 file", "2 files": `many` may be NULL for a plain "s". */
const char *out_many(struct out_word *word, uint64_t count, const char *one, const char *many);

/* A table for people: cells row by row, printed aligned by out_table_close. */
struct out_column {
    const char *title;
    bool right; /* numbers */
};
struct out_table;
struct out_table *out_table_open(struct out *out, const struct out_column *columns, size_t count);
void out_cell(struct out_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void out_cell_name(struct out_table *table, const char *bytes, size_t len);
void out_cell_size(struct out_table *table, uint64_t bytes);
void out_cell_count(struct out_table *table, uint64_t count);
void out_table_close(struct out_table *table);

/* JSON documents, one per line, naming themselves: {"kind":"merge.report","version":1,…}.
 * Keys are those of the C structs. A NULL key writes an array element. */
struct out_json {
    struct out *out;
    bool comma;
};
struct out_json out_json_open(struct out *out, const char *kind, int version);
void out_json_close(struct out_json *json);
void out_json_object(struct out_json *json, const char *key);
void out_json_object_end(struct out_json *json);
void out_json_array(struct out_json *json, const char *key);
void out_json_array_end(struct out_json *json);
void out_json_i64(struct out_json *json, const char *key, int64_t value);
void out_json_u64(struct out_json *json, const char *key, uint64_t value);
void out_json_double(struct out_json *json, const char *key, double value);
void out_json_bool(struct out_json *json, const char *key, bool value);
void out_json_null(struct out_json *json, const char *key);
/* Text; broken UTF-8 becomes U+FFFD. NULL: null. */
void out_json_text(struct out_json *json, const char *key, const char *text);
/* JSON text, as it is. NULL: null. */
void out_json_raw(struct out_json *json, const char *key, const char *text);
/* JSON text for people: a member or item a line, indented; texts longer than `text_max` bytes are
 * cut (0: none is). */
void out_json_pretty(struct out *out, const char *text, size_t text_max);
/* A name of any bytes: "%" and what is not UTF-8 as %XX. */
void out_json_name(struct out_json *json, const char *key, const char *bytes, size_t len);

#endif
