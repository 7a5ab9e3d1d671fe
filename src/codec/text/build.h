/* Columns under construction from text: values are parsed by the type of their column, nested ones
 * are built child by child. What text readers (CSV, NDJSON) share. One thread; the top-level
 * columns of one root may be filled by a thread each. */
#ifndef TN_TEXT_BUILD_H
#define TN_TEXT_BUILD_H

#include "base/buf.h"
#include "base/str.h"
#include "batch/array.h"
#include "batch/field.h"

typedef struct tn_build tn_build;

/* For a struct schema, of which a copy is kept. Dictionaries become columns of their values, views
 * plain text, binary and lists. UNSUPPORTED names a type that text cannot give (intervals, unions,
 * run ends); LIMIT: nesting deeper than TN_PARQUET_DEPTH_MAX. */
int tn_build_open(tarn_cx *cx, const struct ArrowSchema *schema, tn_build **out);
void tn_build_close(tn_build *build);
/* The builder of child `i` of a struct, of a list's element (0), of a map's key (0) and value (1).
 * Borrowed. */
tn_build *tn_build_child(tn_build *build, size_t i);
/* What is built: of the root, the schema of tn_build_finish. */
const struct ArrowSchema *tn_build_schema(const tn_build *build);
/* Appends one value to a column (or child). Text is parsed by the type (docs/text-inputs.md):
 * integers within range, floats (NaN, Infinity), booleans true/false, dates and timestamps as
 * batch/moment.h reads them, decimals exactly, base64 for binary, UUIDs.
 * *why: NULL; or the reason why it does not fit, as in
 *     "12,50" is no number that double holds
 * (kept by the builder until the next call for this column), and nothing was appended. */
int tn_build_text(tarn_cx *cx, tn_build *column, tn_str text, const char **why);
/* Appends `count` values at once, a null for each text whose ptr is NULL. The place (uint32_t) of
 * each that does not fit is added to `bad`, and a null or zero is appended for it: the caller asks
 * tn_build_text for the reason and truncates. `ascii`: no text has a byte beyond ASCII. */
int tn_build_texts(tarn_cx *cx, tn_build *column, const tn_str *texts, size_t count, bool ascii,
                   tn_buf *bad);
int tn_build_bool(tarn_cx *cx, tn_build *column, bool value, const char **why);
/* A null. *why where the column is not nullable. */
int tn_build_null(tarn_cx *cx, tn_build *column, const char **why);
/* A struct whose children have each got their value (`count` is not used); a list or map of `count`
 * elements that its children have got. *why: a fixed-size list of another size. */
int tn_build_nested(tarn_cx *cx, tn_build *column, int64_t count, const char **why);
/* Of the root: `rows` more are complete, every column having got its values. */
void tn_build_rows_add(tn_build *build, int64_t rows);
/* Rows complete so far, and back to `rows` rows: a bad row is dropped with all it appended, also to
 * children whose parents are not complete. */
int64_t tn_build_rows(const tn_build *build);
int tn_build_truncate(tarn_cx *cx, tn_build *build, int64_t rows);
/* Bytes held by a column and all below it; walks them. */
uint64_t tn_build_bytes(const tn_build *build);
/* Of the root: hands out what was built as a struct array and starts anew; after a failure it can
 * only be closed. Every column has got a value for every row. */
int tn_build_finish(tarn_cx *cx, tn_build *build, struct ArrowArray *out);

#endif
