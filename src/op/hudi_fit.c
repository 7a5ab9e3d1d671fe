/* Rows of an input as rows of a Hudi table.
 * I1: columns are matched by name, exactly or else without regard to case where that is unique; the
 *     table's spelling stays. I2: the table's columns only grow, by what tn_hudi_schema_evolve
 *     allows. I3: meta columns of an input are left out: they are made anew. I4: no column is
 *     made that differs from another one by case alone. */
#include <stdlib.h>
#include <string.h>

#include "batch/gather.h"
#include "batch/narrow.h"
#include "op/hudi_op.h"
#include "table/hudi_stored.h"

#define MISSING_NAMED_MAX 8
#define MISSING_DEPTH_MAX 32
#define DELETED_FIELD     "_hoodie_is_deleted"

void tn_hudi_fit_clear(tn_hudi_fit *fit)
{
    tn_field_release(&fit->from);
    tn_field_release(&fit->plain);
    tn_field_release(&fit->to);
    free(fit->source);
    tn_buf_clear(&fit->missing);
    *fit = (tn_hudi_fit){0};
}

static bool is_meta(const char *name)
{
    for (size_t i = 0; i < 5; i++)
        if (strcmp(name, tn_hudi_meta_names[i]) == 0)
            return true;
    return false;
}

static bool is_wanted(const tn_hudi_fit_options *options, const char *name)
{
    for (size_t i = 0; i < options->wanted_count; i++)
        if (tn_str_is(options->wanted[i], name))
            return true;
    return false;
}

/* Whether the inputs themselves had the column, in whatever case. */
static bool was_seen(const tn_hudi_fit_options *options, const char *name)
{
    char lower[TN_HUDI_NAME_BYTES_MAX];
    size_t len = strlen(name);

    if (options->seen == NULL || len >= sizeof lower)
        return true;
    tn_hudi_lower(tn_str_of(name), lower);
    return tn_map_find(options->seen, (tn_str){lower, len}) != NULL;
}

void tn_hudi_lower(tn_str name, char *out)
{
    for (size_t i = 0; i < name.len; i++)
        out[i] = (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] + 32 : name.ptr[i]);
}

bool tn_hudi_fit_seen(const tn_map *seen, tn_str name)
{
    char text[TN_HUDI_NAME_BYTES_MAX];

    if (name.len >= sizeof text)
        return true;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    return was_seen(&(tn_hudi_fit_options){.seen = seen}, text);
}

/* Columns of `from` that count, with the names of `options->table`, as a schema of their own.
 * *source[i] is the child of `from`. */
static int choose(tarn_cx *cx, const struct ArrowSchema *plain, const tn_hudi_fit_options *options,
                  struct ArrowSchema *out, int64_t *source)
{
    const struct ArrowSchema *table = options->table;
    struct ArrowSchema made = {0};
    int64_t n = 0;
    int rc = TARN_OK;

    for (int64_t i = 0; i < plain->n_children; i++) {
        const struct ArrowSchema *column = plain->children[i];
        int64_t at = table != NULL ? tn_unify_match(plain, i, table) : -1;
        const char *name = at >= 0 ? table->children[at]->name : column->name;

        if (!is_meta(column->name) && (!options->deletes || is_wanted(options, name)))
            source[n++] = i;
    }
    TN_TRY(tn_field_init(cx, &made, "+s", TN_STR(""), false, (size_t)n));
    for (int64_t k = 0; k < n; k++) {
        const struct ArrowSchema *column = plain->children[source[k]];
        int64_t at = table != NULL ? tn_unify_match(plain, source[k], table) : -1;
        const char *name = at >= 0 ? table->children[at]->name : column->name;
        struct ArrowSchema *to = made.children[k];

        TN_TRY(tn_field_init(cx, to, column->format, tn_str_of(name), tn_field_nullable(column),
                             (size_t)column->n_children));
        for (int64_t c = 0; c < column->n_children; c++)
            TN_TRY(tn_field_copy(cx, column->children[c], to->children[c]));
    }
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

/* Two columns of one name, or none at all, make no table. */
static int check_names(tarn_cx *cx, const struct ArrowSchema *chosen)
{
    tn_map names = {0};
    int rc = TARN_OK;

    if (chosen->n_children == 0)
        TN_FAIL(TARN_E_DATA, "the rows have no columns that count");
    for (int64_t i = 0; i < chosen->n_children; i++) {
        bool added;

        if (tn_map_add(cx, &names, tn_str_of(chosen->children[i]->name), &added) == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added)
            TN_FAIL(TARN_E_DATA,
                    "the rows have two columns \"%s\"; name each once, with --columns for example",
                    chosen->children[i]->name);
    }
done:
    tn_map_clear(&names);
    return rc;
}

static const struct ArrowSchema *child_exactly(const struct ArrowSchema *table, const char *name)
{
    for (int64_t i = 0; table != NULL && i < table->n_children; i++)
        if (strcmp(table->children[i]->name, name) == 0)
            return table->children[i];
    return NULL;
}

static int refuse_twin(tarn_cx *cx, const char *name, const char *other, const char *within)
{
    return tn_fail(
        cx, TARN_E_DATA,
        "%s \"%s\"%s%s%s differs from \"%s\" by case alone, and readers of Hudi tables do "
        "not tell them apart; rename it, or leave it out with --columns",
        within != NULL ? "field" : "column", name, within != NULL ? " of \"" : "",
        within != NULL ? within : "", within != NULL ? "\"" : "", other);
}

/* Engines that read Hudi tables do not tell names apart by case: Spark and Hive refuse a table with
 * two that differ by nothing else. Such a column is not made, nor such a field of a struct at any
 * depth; what the table (NULL: none) has stays. `within` NULL: these are columns. */
static int check_twins(tarn_cx *cx, const struct ArrowSchema *columns,
                       const struct ArrowSchema *table, const char *within)
{
    int64_t meta = within == NULL ? 5 : 0;
    bool named = strcmp(columns->format, "+s") == 0;
    tn_arena arena = {0};
    tn_map names = {0};
    int rc = TARN_OK;

    for (int64_t i = 0; named && i < meta + columns->n_children; i++) {
        const char *name = i < meta ? tn_hudi_meta_names[i] : columns->children[i - meta]->name;
        tn_str lower = {tn_arena_take(cx, &arena, strlen(name) + 1), strlen(name)};
        size_t *place;
        bool added;

        if (lower.ptr == NULL)
            TN_TRY(TARN_E_NOMEM);
        tn_hudi_lower(tn_str_of(name), (char *)lower.ptr);
        place = tn_map_add(cx, &names, lower, &added);
        if (place == NULL)
            TN_TRY(TARN_E_NOMEM);
        if (!added && child_exactly(table, name) == NULL)
            TN_TRY(refuse_twin(cx, name,
                               (int64_t)*place < meta
                                   ? tn_hudi_meta_names[*place]
                                   : columns->children[(int64_t)*place - meta]->name,
                               within));
        if (added)
            *place = (size_t)i;
    }
    for (int64_t i = 0; i < columns->n_children; i++) {
        const struct ArrowSchema *below = columns->children[i];

        TN_TRY(check_twins(cx, below,
                           named || table == NULL  ? child_exactly(table, below->name)
                           : i < table->n_children ? table->children[i]
                                                   : NULL,
                           within == NULL || named ? below->name : within));
    }
done:
    tn_map_clear(&names);
    tn_arena_clear(&arena);
    return rc;
}

/* Names what the input lacks, the first few of them. */
static void note(tn_hudi_fit *fit, size_t *count, const tn_str *path, size_t depth)
{
    if ((*count)++ >= MISSING_NAMED_MAX)
        return;
    tn_buf_text(&fit->missing, *count > 1 ? ", " : "");
    for (size_t i = 0; i < depth; i++) {
        tn_buf_text(&fit->missing, i != 0 ? "." : "");
        tn_buf_str(&fit->missing, path[i]);
    }
}

/* Whether some input had the field of this path, where one had the struct that it lies in. */
static bool was_seen_below(const tn_hudi_fit_options *options, const tn_str *path, size_t depth)
{
    char lower[TN_HUDI_NAME_BYTES_MAX];
    size_t len = 0, end = 0;

    if (options->seen == NULL)
        return true;
    for (size_t i = 0; i < depth; i++) {
        if (path[i].len + 1 >= sizeof lower - len)
            return true;
        end = len;
        tn_hudi_lower(path[i], lower + len);
        len += path[i].len;
        lower[len++] = '.';
    }
    return tn_map_find(options->seen, (tn_str){lower, end}) == NULL ||
           tn_map_find(options->seen, (tn_str){lower, len - 1}) != NULL;
}

/* Fields of a struct of the table that the input's lacks, at every depth. */
static void note_fields(tn_hudi_fit *fit, const struct ArrowSchema *table,
                        const struct ArrowSchema *rows, const tn_hudi_fit_options *options,
                        size_t *count, tn_str *path, size_t depth)
{
    if (strcmp(table->format, "+s") != 0 || strcmp(rows->format, "+s") != 0 ||
        depth >= MISSING_DEPTH_MAX)
        return;
    for (int64_t i = 0; i < table->n_children; i++) {
        int64_t at = tn_unify_match(table, i, rows);

        path[depth] = tn_str_of(table->children[i]->name);
        if (at < 0 || !was_seen_below(options, path, depth + 1))
            note(fit, count, path, depth + 1);
        else
            note_fields(fit, table->children[i], rows->children[at], options, count, path,
                        depth + 1);
    }
}

/* Columns of the table that the input does not have, for people. Rows without the mark of deletes
 * are no deletes: nothing stored is lost by them. */
static void note_missing(tn_hudi_fit *fit, const struct ArrowSchema *chosen,
                         const tn_hudi_fit_options *options)
{
    tn_str path[MISSING_DEPTH_MAX];
    size_t count = 0;

    if (options->table == NULL || options->deletes)
        return;
    for (int64_t i = 0; i < options->table->n_children; i++) {
        const struct ArrowSchema *column = options->table->children[i];
        int64_t at = tn_unify_match(options->table, i, chosen);

        path[0] = tn_str_of(column->name);
        if (strcmp(column->name, DELETED_FIELD) == 0)
            continue;
        if (at < 0 || !was_seen(options, column->name))
            note(fit, &count, path, 1);
        else
            note_fields(fit, column, chosen->children[at], options, &count, path, 1);
    }
    if (count > MISSING_NAMED_MAX)
        tn_buf_print(&fit->missing, " and %zu more", count - MISSING_NAMED_MAX);
    fit->partial = count != 0;
}

/* Numbers that files have are not made text: files that keep them could not be read as one. */
static int check_text(tarn_cx *cx, const tn_hudi_fit *fit, const tn_hudi_fit_options *options)
{
    tn_buf was = {0};
    int rc = TARN_OK;

    for (int64_t i = 0; i < options->table->n_children && i < fit->to.n_children; i++) {
        const struct ArrowSchema *from = options->table->children[i], *to = fit->to.children[i];

        if (strcmp(to->format, "u") != 0 || strcmp(from->format, "u") == 0)
            continue;
        tn_type_print(&was, from);
        rc = tn_fail(cx, TARN_E_UNSUPPORTED,
                     "column \"%s\" is %.*s in the table and string in the input; nothing was "
                     "written: leave it out with --columns, or cast it in the input",
                     to->name, TN_STR_ARG(tn_buf_view(&was)));
        break;
    }
    tn_buf_clear(&was);
    return rc;
}

/* A type that no table stores, where the table has the column: all nulls take its type, and
 * integers of 64 bits without sign are those with one, each value looked at. */
static int settle(tarn_cx *cx, const struct ArrowSchema *column, const struct ArrowSchema *table,
                  struct ArrowSchema *out)
{
    bool group = strcmp(column->format, "+s") == 0 && strcmp(table->format, "+s") == 0;
    bool same = column->n_children == table->n_children;
    const char *format = strcmp(column->format, "L") == 0 ? "l" : column->format;
    int rc = TARN_OK;

    if (strcmp(column->format, "n") == 0) {
        TN_TRY(tn_field_copy(cx, table, out));
        out->flags |= ARROW_FLAG_NULLABLE;
        goto done;
    }
    if (strcmp(table->format, "u") == 0 || column->dictionary != NULL)
        return tn_field_copy(cx, column, out);
    if (column->n_children == 0 && format == column->format)
        return tn_field_copy(cx, column, out);
    TN_TRY(tn_field_init(cx, out, format, tn_str_of(column->name), tn_field_nullable(column),
                         (size_t)column->n_children));
    out->flags |= column->flags & ARROW_FLAG_MAP_KEYS_SORTED;
    for (int64_t i = 0; i < column->n_children; i++) {
        int64_t at = group ? tn_unify_match(column, i, table) : same ? i : -1;

        TN_TRY(at >= 0 ? settle(cx, column->children[i], table->children[at], out->children[i])
                       : tn_field_copy(cx, column->children[i], out->children[i]));
    }
done:
    return rc;
}

static int settle_all(tarn_cx *cx, const struct ArrowSchema *chosen,
                      const struct ArrowSchema *table, struct ArrowSchema *out)
{
    struct ArrowSchema made = {0};
    int rc = TARN_OK;

    TN_TRY(table != NULL ? settle(cx, chosen, table, &made) : tn_field_copy(cx, chosen, &made));
    tn_field_move(&made, out);
done:
    tn_field_release(&made);
    return rc;
}

/* What the table has once these rows are in it. */
static int decide(tarn_cx *cx, tn_hudi_fit *fit, const struct ArrowSchema *chosen,
                  const tn_hudi_fit_options *options)
{
    struct ArrowSchema stored = {0}, settled = {0};
    int rc = TARN_OK;

    if (options->deletes) {
        /* What a delete lacks is never written, so a column without nulls may lack it. */
        TN_TRY(tn_field_copy(cx, options->table, &fit->to));
        goto done;
    }
    TN_TRY(settle_all(cx, chosen, options->table, &settled));
    TN_TRY(tn_hudi_stored_schema(cx, &settled, &stored));
    if (options->table != NULL) {
        TN_TRY(tn_hudi_schema_evolve(cx, options->table, &stored, &fit->changed, &fit->to));
        TN_TRY(check_text(cx, fit, options));
    } else {
        tn_field_move(&stored, &fit->to);
        fit->changed = true;
    }
done:
    tn_field_release(&stored);
    tn_field_release(&settled);
    return rc;
}

int tn_hudi_fit_open(tarn_cx *cx, const struct ArrowSchema *from,
                     const tn_hudi_fit_options *options, tn_hudi_fit *out)
{
    tn_hudi_fit fit = {0};
    struct ArrowSchema chosen = {0};
    int64_t *source = tn_calloc(cx, (size_t)from->n_children + 1, sizeof *source);
    bool had = false;
    int rc = TARN_OK;

    if (source == NULL)
        return TARN_E_NOMEM;
    TN_TRY(tn_field_copy(cx, from, &fit.from));
    TN_TRY(tn_gather_plain(cx, from, &fit.plain, &had));
    TN_TRY(choose(cx, &fit.plain, options, &chosen, source));
    TN_TRY(check_names(cx, &chosen));
    TN_TRY(decide(cx, &fit, &chosen, options));
    TN_TRY(check_twins(cx, &fit.to, options->table, NULL));
    note_missing(&fit, &chosen, options);
    TN_TRY(tn_buf_check(cx, &fit.missing));
    fit.source = tn_calloc(cx, (size_t)fit.to.n_children + 1, sizeof *fit.source);
    if (fit.source == NULL)
        TN_TRY(TARN_E_NOMEM);
    for (int64_t i = 0; i < fit.to.n_children; i++) {
        int64_t at = tn_unify_match(&fit.to, i, &chosen);

        fit.source[i] = at >= 0 ? source[at] : -1;
    }
    *out = fit;
    fit = (tn_hudi_fit){0};
done:
    tn_field_release(&chosen);
    free(source);
    tn_hudi_fit_clear(&fit);
    return rc;
}

/* Rows that begin elsewhere than at 0 are made anew: what follows counts from 0. */
static int at_zero(tarn_cx *cx, const tn_hudi_fit *fit, struct ArrowArray *batch)
{
    tn_gather_part part = {.array = batch, .first = batch->offset, .count = batch->length};
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    TN_TRY(tn_unify_cast(cx, &fit->from, &fit->plain, batch));
    TN_TRY(tn_gather(cx, &fit->plain, &part, 1, &made));
    tn_array_release(batch);
    tn_array_move(&made, batch);
done:
    tn_array_release(&made);
    return rc;
}

/* A column may be longer than its batch. */
static void cut(int64_t rows, struct ArrowArray *column)
{
    if (column->length <= rows)
        return;
    column->length = rows;
    if (column->null_count > 0)
        column->null_count = -1;
}

int tn_hudi_fit_batch(tarn_cx *cx, tn_hudi_fit *fit, struct ArrowArray *batch)
{
    const struct ArrowSchema *from = &fit->from;
    struct ArrowArray made = {0};
    int64_t rows = batch->length;
    int rc = TARN_OK;

    if (batch->offset != 0) {
        TN_TRY(at_zero(cx, fit, batch));
        from = &fit->plain;
    }
    TN_TRY(tn_array_init(cx, &made, rows, 1, (size_t)fit->to.n_children));
    for (int64_t i = 0; i < fit->to.n_children; i++) {
        const struct ArrowSchema *to = fit->to.children[i];
        int64_t at = fit->source[i];

        if (at < 0) {
            TN_TRY(tn_rows_nulls(cx, to, rows, made.children[i]));
            continue;
        }
        cut(rows, batch->children[at]);
        TN_TRY(tn_narrow_cast(cx, from->children[at], to, fit->rows, batch->children[at]));
        tn_array_move(batch->children[at], made.children[i]);
    }
    fit->rows += rows;
    tn_array_release(batch);
    tn_array_move(&made, batch);
done:
    tn_array_release(&made);
    return rc;
}
