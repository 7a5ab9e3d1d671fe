/* The text of --where as a tree, and its binding to columns.
 *
 *     a = 1 AND (dt >= "2024-01-01" OR name LIKE 'x%') AND NOT city IN ('Köln', 'Ulm')
 *
 *   or      := and { OR and }              and  := not { AND not }        not := NOT not | test
 *   test    := "(" or ")" | operand [ tail ]
 *   tail    := ( = | == | <> | != | < | <= | > | >= ) operand | [NOT] IN "(" operand, … ")"
 *            | [NOT] BETWEEN operand AND operand | [NOT] LIKE text | IS [NOT] NULL
 *   operand := name { "." name } | number | 'text' | "word" | X'hex' | TRUE | FALSE | NULL
 *            | DATE 'text' | TIMESTAMP 'text'
 *
 * A name is bare (letters, digits, _, $, bytes above 0x7F) or in `backticks`; keywords are read
 * without regard to case. A "word" in double quotes is the column of that name, and text where
 * there is none. A bare boolean column is a test of its own. */
#ifndef TN_BATCH_PREDICATE_H
#define TN_BATCH_PREDICATE_H

#include "base/arena.h"
#include "batch/filter.h"

typedef struct tn_predicate tn_predicate;

/* INVALID with the position (in bytes, from 1) and what was expected; LIMIT when nested deeper than
 * TN_PREDICATE_DEPTH_MAX. *out lives in the arena, and so does the text it points to. */
int tn_predicate_parse(tarn_cx *cx, tn_str text, tn_arena *arena, const tn_predicate **out);
/* Resolves columns against a struct schema and turns literals into values of their types. The
 * failure names the column, and what it has instead. *out lives in the arena. */
int tn_predicate_bind(tarn_cx *cx, const tn_predicate *predicate, const struct ArrowSchema *schema,
                      tn_arena *arena, tn_filter *out);
/* The same against a schema that knows only some of the columns, by their exact names: tests of the
 * others count as true, so the filter is true wherever the predicate may be. */
int tn_predicate_bind_partial(tarn_cx *cx, const tn_predicate *predicate,
                              const struct ArrowSchema *schema, tn_arena *arena, tn_filter *out);
/* The top-level columns that the predicate may name: each first part once, in order. Words in
 * double quotes are among them. */
int tn_predicate_names(tarn_cx *cx, const tn_predicate *predicate, tn_arena *arena, tn_str **names,
                       size_t *count);

#endif
