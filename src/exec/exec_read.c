/* Reads one file as rows of the common schema.
 *   file columns -> cast ─┐
 *   partition values ─────┼-> batch of `needed` -> filter -> project -> batch of `result`
 *   missing: nulls ───────┘
 * Where a task has logs, too, slice_read.c merges them with the file, which it reads through here.
 *
 * I1: columns of the file are decoded only where the result or the filter needs them.
 * I2: pruning by a column that a partition value shadows, whose old dates are moved to today's
 *     calendar, or whose values become others in its type of today, is left out: its statistics
 *     speak of other values.
 * I3: where rows of certain record keys are asked for, these are found in the key column first, and
 *     of the other columns only their pages are read. */
#include "exec/exec_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/widen.h"
#include "codec/parquet/arrow.h"
#include "codec/parquet/prune.h"
#include "exec/read_calendar.h"
#include "exec/read_find.h"
#include "exec/read_keys.h"
#include "exec/read_names.h"
#include "exec/read_rows.h"
#include "exec/slice_read.h"
#include "task/data_name.h"

#define CONSTANT_ROWS 65536

/* Where a needed column comes from. */
typedef struct origin {
    int32_t partition; /* column of the partition values, or -1 */
    int32_t file;      /* child of the scan's batches, or -1 */
} origin;

struct tn_exec_read {
    const tn_scan_task *task;
    tn_slice_read *slice; /* NULL: the file alone, and all that follows is its */
    tn_arena arena;
    tn_parquet file;
    struct ArrowSchema schema; /* of the scan's batches */
    tn_parquet_scan *scan;     /* NULL when no column of the file is needed */
    origin *origins;           /* per needed column */
    uint32_t *columns;         /* of the file, per column of the scan */
    size_t column_count;
    tn_read_calendar calendar;
    int64_t rows_left; /* without a scan */
    tn_scan_counts counts;
};

/* All columns of a file, as its scans give them. */
static int schema_of(tarn_cx *cx, const tn_parquet *file, unsigned int96, struct ArrowSchema *out)
{
    tn_parquet_scan_options options = {.int96_micros = (int96 & TN_INT96_MICROS) != 0,
                                       .int96_utc = (int96 & TN_INT96_UTC) != 0};
    tn_parquet_scan *scan = NULL;
    int rc = TARN_OK;

    if (int96 == 0)
        return tn_arrow_schema_of(cx, file, NULL, 0, out);
    TN_TRY(tn_parquet_scan_open(cx, file, &options, &scan));
    TN_TRY(tn_parquet_scan_schema(cx, scan, out));
done:
    tn_parquet_scan_close(scan);
    return rc;
}

int tn_exec_read_schema(tarn_cx *cx, tn_store *store, tn_str path, unsigned int96,
                        struct ArrowSchema *out)
{
    tn_parquet file = {0};
    int rc = TARN_OK;

    TN_TRY(tn_parquet_open(cx, store, path, &file));
    TN_TRY(schema_of(cx, &file, int96, out));
done:
    tn_parquet_close(&file);
    return rc;
}

static int32_t partition_column(const tn_scan_task *task, const char *name)
{
    const struct ArrowSchema *schema = task->partition_schema;

    for (int64_t i = 0; schema != NULL && i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0)
            return (int32_t)i;
    return -1;
}

/* Decides each column's origin, and the file's columns to scan. */
static int find_origins(tarn_cx *cx, tn_exec_read *r, const struct ArrowSchema *file)
{
    const struct ArrowSchema *needed = r->task->needed;
    size_t n = 0;

    r->origins = tn_arena_array(cx, &r->arena, (size_t)needed->n_children + 1, sizeof(origin));
    r->columns = tn_arena_array(cx, &r->arena, (size_t)needed->n_children + 1, sizeof(uint32_t));
    if (r->origins == NULL || r->columns == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < needed->n_children; i++) {
        tn_str name = tn_str_of(needed->children[i]->name);
        int64_t child;

        r->origins[i] =
            (origin){.partition = partition_column(r->task, needed->children[i]->name), .file = -1};
        if (r->origins[i].partition >= 0)
            continue;
        child = tn_unify_match(r->task->all, tn_unify_child(r->task->all, name), file);
        if (child < 0)
            continue;
        r->origins[i].file = (int32_t)n;
        r->columns[n++] = (uint32_t)child;
    }
    r->column_count = n;
    return TARN_OK;
}

/* Whether the filter asks for a partition column that the file has too. */
static bool is_shadowed(const tn_exec_read *r, const struct ArrowSchema *file)
{
    const tn_filter *filter = r->task->filter;

    for (size_t i = 0; i < filter->column_count; i++) {
        uint32_t top = filter->columns[i].index[0];

        if (r->origins[top].partition >= 0 && tn_unify_child(file, filter->columns[i].path[0]) >= 0)
            return true;
    }
    return false;
}

/* Whether the bounds of a column that the filter asks for are of another calendar than its rows. */
static bool is_moved(const tn_exec_read *r)
{
    const tn_filter *filter = r->task->filter;

    for (size_t i = 0; i < filter->column_count; i++) {
        int32_t column = r->origins[filter->columns[i].index[0]].file;

        if (column >= 0 && tn_read_calendar_moves(&r->calendar, r->columns[column]))
            return true;
    }
    return false;
}

/* Whether the filter asks for a column that the file keeps as a type whose values become others, or
 * none: text that is no date, a float that becomes the double of its text. */
static bool is_retyped(const tn_exec_read *r, const struct ArrowSchema *file)
{
    const tn_filter *filter = r->task->filter;

    for (size_t i = 0; r->task->evolves && i < filter->column_count; i++) {
        uint32_t top = filter->columns[i].index[0];
        int32_t column = r->origins[top].file;

        if (column >= 0 &&
            !tn_widen_keeps(file->children[r->columns[column]], r->task->needed->children[top]))
            return true;
    }
    return false;
}

static int open_scan(tarn_cx *cx, tn_exec_read *r, const tn_prune *prune)
{
    tn_parquet_scan_options options = {.columns = r->columns,
                                       .column_count = r->column_count,
                                       .skip_crc = r->task->skip_crc,
                                       .int96_micros = r->task->int96_micros,
                                       .int96_utc = r->task->int96_utc,
                                       .batch_rows = r->task->batch_rows};
    int rc = TARN_OK;

    if (prune != NULL) {
        options.groups = prune->groups;
        options.group_count = prune->group_count;
        options.ranges = prune->ranges;
        options.range_count = prune->range_count;
    }
    TN_TRY(tn_parquet_scan_open(cx, &r->file, &options, &r->scan));
    TN_TRY(tn_parquet_scan_schema(cx, r->scan, &r->schema));
done:
    return rc;
}

/* I3. The rows of `prune`, or all where it is not `pruned` yet, become those of the keys. */
static int find_keys(tarn_cx *cx, tn_exec_read *r, bool *pruned, tn_prune *prune)
{
    tn_row_range *rows;
    size_t count;
    bool found;
    int rc = TARN_OK;

    if (r->task->record_key_count == 0 || r->column_count == 0 ||
        (*pruned && prune->range_count == 0))
        return TARN_OK;
    TN_TRY(tn_read_find(cx, &r->file, r->task->skip_crc, r->task->record_keys,
                        r->task->record_key_count, *pruned ? prune->ranges : NULL,
                        prune->range_count, &r->arena, &found, &rows, &count));
    if (!found)
        goto done;
    prune->groups = tn_arena_array(cx, &r->arena, count + 1, sizeof *prune->groups);
    if (prune->groups == NULL)
        TN_TRY(TARN_E_NOMEM);
    prune->group_count = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || rows[i].group != rows[i - 1].group)
            prune->groups[prune->group_count++] = rows[i].group;
    prune->ranges = rows;
    prune->range_count = count;
    r->counts.groups_read = prune->group_count;
    *pruned = true;
done:
    return rc;
}

static int start(tarn_cx *cx, tn_exec_read *r)
{
    struct ArrowSchema file = {0};
    tn_prune prune = {0};
    bool pruned = false, wanted = true;
    int rc = TARN_OK;

    TN_TRY(schema_of(cx, &r->file,
                     (r->task->int96_micros ? TN_INT96_MICROS : 0) |
                         (r->task->int96_utc ? TN_INT96_UTC : 0),
                     &file));
    TN_TRY(find_origins(cx, r, &file));
    TN_TRY(tn_read_calendar_init(cx, &r->file, &r->arena, &r->calendar));
    r->counts = (tn_scan_counts){.files = 1,
                                 .groups = r->file.footer.group_count,
                                 .groups_read = r->file.footer.group_count,
                                 .rows = (uint64_t)r->file.footer.rows};
    if (r->task->record_key_count != 0)
        TN_TRY(tn_read_keys_wanted(cx, &r->file, r->task->record_keys, r->task->record_key_count,
                                   &wanted));
    if (!wanted) {
        r->counts.groups_read = 0;
        goto done;
    }
    if (r->task->filter != NULL && r->column_count > 0 && !is_shadowed(r, &file) && !is_moved(r) &&
        !is_retyped(r, &file)) {
        TN_TRY(tn_prune_file(cx, &r->file, r->task->filter, NULL, &r->arena, &prune));
        pruned = true;
        r->counts.groups_read = prune.group_count;
        r->counts.pages_dropped = prune.pages_dropped;
    }
    TN_TRY(find_keys(cx, r, &pruned, &prune));
    if (r->column_count == 0)
        r->rows_left = r->file.footer.rows;
    else if (!pruned || prune.group_count > 0)
        TN_TRY(open_scan(cx, r, pruned ? &prune : NULL));
done:
    tn_field_release(&file);
    return rc;
}

/* What the file's columns were called when it was written. */
static const tn_scan_version *version_of(const tn_scan_task *task)
{
    tn_str instant = task->written;
    tn_data_name parts;

    if (task->names != NULL && instant.len == 0 &&
        tn_data_name_parse(tn_path_name(task->path), &parts))
        instant = parts.instant;
    return tn_scan_names_at(task->names, instant);
}

/* A file of the store, or of memory where there is none. */
static int open_file(tarn_cx *cx, tn_store *store, tn_str bytes, tn_exec_read *r)
{
    int rc = TARN_OK;

    if (store != NULL)
        TN_TRY(tn_parquet_open(cx, store, r->task->path, &r->file));
    else
        TN_TRY(tn_parquet_open_memory(cx, bytes.ptr, bytes.len, r->task->path, &r->file));
    TN_TRY(tn_read_names_parquet(cx, version_of(r->task), &r->file));
    TN_TRY(start(cx, r));
done:
    return rc;
}

static bool has_logs(const tn_scan_task *task)
{
    return task->slice != NULL && (task->slice->log_count > 0 || task->path.len == 0);
}

static int open_read(tarn_cx *cx, tn_store *store, tn_str bytes, const tn_scan_task *task,
                     tn_exec_read **out)
{
    tn_exec_read *r = tn_calloc(cx, 1, sizeof *r);
    int rc = TARN_OK;

    assert(task->all != NULL && task->needed != NULL && task->result != NULL);
    if (r == NULL)
        return TARN_E_NOMEM;
    r->task = task;
    if (has_logs(task))
        TN_TRY(tn_slice_read_open(cx, store, task, &r->slice));
    else
        TN_TRY(open_file(cx, store, bytes, r));
    *out = r;
    r = NULL;
done:
    tn_exec_read_close(r);
    return rc;
}

int tn_exec_read_open(tarn_cx *cx, tn_store *store, const tn_scan_task *task, tn_exec_read **out)
{
    assert(store != NULL);
    return open_read(cx, store, (tn_str){NULL, 0}, task, out);
}

int tn_exec_read_open_memory(tarn_cx *cx, tn_str bytes, const tn_scan_task *task,
                             tn_exec_read **out)
{
    assert(task->slice == NULL);
    return open_read(cx, NULL, bytes, task, out);
}

void tn_exec_read_close(tn_exec_read *r)
{
    if (r == NULL)
        return;
    tn_slice_read_close(r->slice);
    tn_parquet_scan_close(r->scan);
    tn_field_release(&r->schema);
    tn_parquet_close(&r->file);
    tn_arena_clear(&r->arena);
    free(r);
}

void tn_exec_read_counts(const tn_exec_read *r, tn_scan_counts *out)
{
    *out = r->counts;
    if (r->slice != NULL)
        tn_slice_read_counts(r->slice, out);
}

bool tn_exec_read_note(const tn_exec_read *r, char *text, size_t size)
{
    if (r->slice != NULL)
        return tn_slice_read_note(r->slice, text, size);
    return tn_read_calendar_note(&r->calendar, text, size);
}

/* The partition's value, `rows` times. */
static int repeat_value(tarn_cx *cx, const tn_scan_task *task, int32_t column, int64_t rows,
                        struct ArrowArray *out)
{
    const struct ArrowArray *values = task->partition_values->children[column];
    int64_t *take = tn_alloc(cx, (size_t)rows * sizeof *take);
    int rc = TARN_OK;

    if (take == NULL)
        return TARN_E_NOMEM;
    for (int64_t i = 0; i < rows; i++)
        take[i] = values->offset + task->partition;
    TN_TRY(tn_rows_take(cx, task->partition_schema->children[column], values, take, rows, out));
done:
    free(take);
    return rc;
}

static int make_column(tarn_cx *cx, tn_exec_read *r, struct ArrowArray *batch, int64_t column,
                       int64_t rows, struct ArrowArray *out)
{
    const struct ArrowSchema *field = r->task->needed->children[column];
    origin from = r->origins[column];
    struct ArrowArray *child;
    int rc = TARN_OK;

    if (from.partition >= 0)
        return repeat_value(cx, r->task, from.partition, rows, out);
    if (from.file < 0)
        return tn_rows_nulls(cx, field, rows, out);
    child = batch->children[from.file];
    TN_TRY(tn_read_calendar_apply(cx, &r->calendar, r->columns[from.file],
                                  r->schema.children[from.file], child));
    if (r->task->evolves)
        TN_TRY(tn_widen_cast(cx, r->schema.children[from.file], field, child));
    else
        TN_TRY(tn_unify_cast(cx, r->schema.children[from.file], field, child));
    tn_array_move(child, out);
done:
    return rc;
}

/* A batch of `needed` from one of the scan (NULL: from none), whose columns it takes. */
static int make_needed(tarn_cx *cx, tn_exec_read *r, struct ArrowArray *batch, int64_t rows,
                       struct ArrowArray *out)
{
    struct ArrowArray made = {0};
    int rc = TARN_OK;

    assert(batch == NULL || batch->offset == 0);
    TN_TRY(tn_array_init(cx, &made, rows, 1, (size_t)r->task->needed->n_children));
    for (int64_t i = 0; i < made.n_children; i++)
        TN_TRY(make_column(cx, r, batch, i, rows, made.children[i]));
    tn_array_move(&made, out);
done:
    tn_array_release(&made);
    return rc;
}

/* Filters and projects a batch of `needed`, which it consumes. */
static int refine(tarn_cx *cx, tn_exec_read *r, struct ArrowArray *needed, struct ArrowArray *out)
{
    int rc = TARN_OK;

    r->counts.rows_read += (uint64_t)needed->length;
    TN_TRY(tn_read_rows_refine(cx, r->task, needed, out, NULL));
    r->counts.rows_out += (uint64_t)out->length;
done:
    return rc;
}

/* The next batch of the file, or constants alone; *rows 0 at the end. */
static int next_needed(tarn_cx *cx, tn_exec_read *r, struct ArrowArray *out, int64_t *rows)
{
    struct ArrowArray batch = {0};
    int64_t first;
    int rc = TARN_OK;

    if (r->scan == NULL) {
        *rows = r->rows_left < CONSTANT_ROWS ? r->rows_left : CONSTANT_ROWS;
        r->rows_left -= *rows;
    } else {
        TN_TRY(tn_parquet_scan_next(cx, r->scan, &batch, &first));
        *rows = batch.length;
    }
    if (*rows > 0)
        TN_TRY(make_needed(cx, r, r->scan != NULL ? &batch : NULL, *rows, out));
done:
    tn_array_release(&batch);
    return rc;
}

int tn_exec_read_next(tarn_cx *cx, tn_exec_read *r, struct ArrowArray *out)
{
    struct ArrowArray needed = {0}, made = {0};
    int64_t rows = 1;
    int rc = TARN_OK;

    if (r->slice != NULL)
        return tn_slice_read_next(cx, r->slice, out);
    while (rows > 0 && made.length == 0) {
        TN_TRY(tn_cx_check(cx));
        TN_TRY(next_needed(cx, r, &needed, &rows));
        if (rows > 0)
            TN_TRY(refine(cx, r, &needed, &made));
        tn_array_release(&needed);
    }
    tn_array_move(&made, out);
done:
    /* The codec names the file; casts, which know only columns, do not. */
    if (rc == TARN_E_UNSUPPORTED && strstr(tarn_cx_error(cx), "column") == tarn_cx_error(cx))
        tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(r->task->path));
    tn_array_release(&needed);
    tn_array_release(&made);
    return rc;
}
