/* Columns and condition of a read, bound to the columns there are.
 *   all -> project -> result
 *      \-> needed: what the result and the condition touch; filter and project are bound to it
 * I1: the order of the result is that of the columns asked for; "a.b" gets that name. */
#include "op/read_columns.h"

#include <stdlib.h>
#include <string.h>

#include "batch/unify.h"

typedef struct binding {
    const struct ArrowSchema *all;
    const char *const *columns; /* NULL: all */
    size_t column_count;
    const tn_predicate *where; /* NULL: every row */
    tn_arena *arena;
    tn_read_columns out;
} binding;

void tn_read_columns_clear(tn_read_columns *columns)
{
    tn_field_release(&columns->needed);
    tn_field_release(&columns->result);
}

/* Finds "a.b": a top-level column of that whole name first, then a field of a struct. */
static int find_column(tarn_cx *cx, const struct ArrowSchema *all, tn_str name, tn_arena *arena,
                       uint32_t **path, size_t *count)
{
    const struct ArrowSchema *here = all;
    int64_t whole = tn_unify_child(all, name);
    tn_str rest = name;
    size_t parts = 1, n = 0;

    for (size_t i = 0; i < name.len; i++)
        parts += name.ptr[i] == '.';
    *path = tn_arena_array(cx, arena, parts, sizeof(uint32_t));
    if (*path == NULL)
        return TARN_E_NOMEM;
    if (whole >= 0) {
        (*path)[n++] = (uint32_t)whole;
        rest.len = 0;
    }
    while (rest.len > 0) {
        size_t end = tn_str_find(rest, '.');
        int64_t child = n > 0 && strcmp(here->format, "+s") != 0
                            ? -1
                            : tn_unify_child(here, (tn_str){rest.ptr, end});

        if (child < 0) {
            n = 0;
            break;
        }
        (*path)[n++] = (uint32_t)child;
        here = here->children[child];
        rest = tn_str_from(rest, end + 1);
    }
    *count = n;
    return TARN_OK;
}

static int no_column(tarn_cx *cx, const struct ArrowSchema *all, tn_str name)
{
    tn_buf list = {0};
    int rc;

    tn_field_print_hint(&list, all, name);
    rc = tn_fail(cx, TARN_E_INVALID, "there is no column \"%.*s\"; %.*s", TN_STR_ARG(name),
                 TN_STR_ARG(tn_buf_view(&list)));
    tn_buf_clear(&list);
    return rc;
}

/* Marks the top-level columns that the result and the condition need. */
static int mark_needed(tarn_cx *cx, binding *b, tn_scan_project *project, uint8_t *needed)
{
    tn_str *names = NULL;
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < b->out.project_count; i++)
        needed[project[i].path[0]] = 1;
    if (b->where == NULL)
        return TARN_OK;
    TN_TRY(tn_predicate_names(cx, b->where, b->arena, &names, &count));
    for (size_t i = 0; i < count; i++) {
        int64_t child = tn_unify_child(b->all, names[i]);

        /* "a.b" may be the name of a column, so every one that begins so is needed. */
        if (child >= 0)
            needed[child] = 1;
        for (int64_t c = 0; child < 0 && c < b->all->n_children; c++) {
            tn_str whole = tn_str_of(b->all->children[c]->name);

            if (tn_str_starts(whole, names[i]) && whole.len > names[i].len &&
                whole.ptr[names[i].len] == '.')
                needed[c] = 1;
        }
    }
done:
    return rc;
}

/* The columns asked for, as paths into `all`. */
static int choose_columns(tarn_cx *cx, binding *b, tn_scan_project **out)
{
    size_t asked = b->columns != NULL ? b->column_count : (size_t)b->all->n_children;
    tn_scan_project *project = tn_arena_array(cx, b->arena, asked + 1, sizeof *project);
    int rc = TARN_OK;

    if (project == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < asked; i++) {
        tn_str name = tn_str_of(b->columns != NULL ? b->columns[i] : b->all->children[i]->name);
        uint32_t *path;

        if (b->columns == NULL) {
            path = tn_arena_array(cx, b->arena, 1, sizeof *path);
            if (path == NULL)
                return TARN_E_NOMEM;
            path[0] = (uint32_t)i;
            project[i].path_count = 1;
        } else {
            TN_TRY(find_column(cx, b->all, name, b->arena, &path, &project[i].path_count));
            if (project[i].path_count == 0)
                TN_TRY(no_column(cx, b->all, name));
        }
        project[i].path = path;
    }
    b->out.project_count = asked;
    *out = project;
done:
    return rc;
}

/* Gives a field the name it was asked for by: "a.b". */
static int rename_field(tarn_cx *cx, struct ArrowSchema *field, tn_str name)
{
    struct ArrowSchema named = {0};
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &named, field->format, name, tn_field_nullable(field),
                         (size_t)field->n_children));
    if (field->dictionary != NULL) {
        TN_TRY(tn_field_make_dictionary(cx, &named));
        tn_field_move(field->dictionary, named.dictionary);
    }
    for (int64_t i = 0; i < field->n_children; i++)
        tn_field_move(field->children[i], named.children[i]);
    tn_field_release(field);
    tn_field_move(&named, field);
done:
    tn_field_release(&named);
    return rc;
}

static int make_result(tarn_cx *cx, binding *b, const tn_scan_project *project)
{
    int rc = TARN_OK;

    TN_TRY(tn_field_init(cx, &b->out.result, "+s", TN_STR(""), false, b->out.project_count));
    for (size_t i = 0; i < b->out.project_count; i++) {
        const struct ArrowSchema *field = b->all;
        struct ArrowSchema *made = b->out.result.children[i];
        bool nullable = false;

        for (size_t level = 0; level < project[i].path_count; level++) {
            field = field->children[project[i].path[level]];
            nullable = nullable || tn_field_nullable(field);
        }
        TN_TRY(tn_field_copy(cx, field, made));
        if (project[i].path_count > 1) {
            made->flags |= nullable ? ARROW_FLAG_NULLABLE : 0;
            TN_TRY(rename_field(cx, made, tn_str_of(b->columns[i])));
        }
    }
done:
    return rc;
}

/* `needed` out of `all`, and the paths of the project turned from the one to the other. */
static int make_needed(tarn_cx *cx, binding *b, tn_scan_project *project, const uint8_t *needed)
{
    size_t count = 0, n = 0;
    uint32_t *moved = tn_arena_array(cx, b->arena, (size_t)b->all->n_children + 1, sizeof *moved);
    int rc = TARN_OK;

    if (moved == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < b->all->n_children; i++)
        count += needed[i];
    TN_TRY(tn_field_init(cx, &b->out.needed, "+s", TN_STR(""), false, count));
    for (int64_t i = 0; i < b->all->n_children; i++) {
        if (needed[i] == 0)
            continue;
        TN_TRY(tn_field_copy(cx, b->all->children[i], b->out.needed.children[n]));
        moved[i] = (uint32_t)n++;
    }
    for (size_t i = 0; i < b->out.project_count; i++)
        ((uint32_t *)(uintptr_t)project[i].path)[0] = moved[project[i].path[0]];
done:
    return rc;
}

static int bind(tarn_cx *cx, binding *b)
{
    tn_scan_project *project = NULL;
    uint8_t *needed = NULL;
    tn_filter whole;
    int rc = TARN_OK;

    TN_TRY(choose_columns(cx, b, &project));
    /* Bound to all columns first, so that a failure can name them. */
    if (b->where != NULL)
        TN_TRY(tn_predicate_bind(cx, b->where, b->all, b->arena, &whole));
    needed = tn_calloc(cx, (size_t)b->all->n_children + 1, 1);
    if (needed == NULL)
        TN_TRY(TARN_E_NOMEM);
    TN_TRY(mark_needed(cx, b, project, needed));
    TN_TRY(make_result(cx, b, project));
    TN_TRY(make_needed(cx, b, project, needed));
    b->out.project = project;
    b->out.filtered = b->where != NULL;
    if (b->where != NULL)
        TN_TRY(tn_predicate_bind(cx, b->where, &b->out.needed, b->arena, &b->out.filter));
done:
    free(needed);
    return rc;
}

int tn_read_columns_bind(tarn_cx *cx, tn_arena *arena, const struct ArrowSchema *all,
                         const char *const *columns, size_t column_count, const tn_predicate *where,
                         tn_read_columns *out)
{
    binding b = {.all = all,
                 .columns = columns,
                 .column_count = column_count,
                 .where = where,
                 .arena = arena};
    int rc = TARN_OK;

    TN_TRY(bind(cx, &b));
    *out = b.out;
    b.out = (tn_read_columns){0};
done:
    tn_read_columns_clear(&b.out);
    return rc;
}
