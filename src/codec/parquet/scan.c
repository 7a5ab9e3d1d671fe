/* Rows of a Parquet file as Arrow batches.
 *
 *   scan ── segments: runs of consecutive rows within one row group, in file order
 *        ── lanes: one per leaf; a lane reads its chunk and appends to its columns
 *
 * A batch is made by filling all lanes in parallel, then taking the rows that every lane has. A
 * lane stops early when its bytes meet its cap; what the others have beyond stays in their columns
 * for the next batch (assemble.h).
 *
 * I1: between two calls every lane stands at `at` + its collected rows within the segment.
 * I2: a lane asks its reader for no more rows than the batch may hold, so no lane runs past the end
 *     of a segment.
 * I3: a tn_file is used by one thread at a time: lanes borrow handles from a stack. */
#include "codec/parquet/arrow.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/pool.h"
#include "batch/field.h"
#include "codec/parquet/arrow_field.h"
#include "codec/parquet/assemble.h"
#include "codec/parquet/leaf_read.h"

#define BATCH_ROWS       65536
#define BATCH_BYTES      (32ull << 20)
#define BATCH_SHARE      8 /* of the budget, at most */
#define LANE_BYTES_MIN   (32ull << 10)
#define TEXT_BYTES_LEAST 8 /* of a text: its offset, and a few bytes */
#define GROUP_READ_MAX                                                                             \
    (8ull << 20) /* selected chunks of a group within so many bytes: one read                      \
                  */
#define WINDOW_BYTES_MAX    (1ull << 20)
#define WINDOW_BYTES_MIN    (16ull << 10)
#define WINDOW_BYTES_SPARSE (128ull << 10) /* where pages are passed over */
#define PAGE_BYTES_EXPECTED (1ull << 20)

typedef struct lane {
    const tn_leaf *leaf;
    tn_assembly assembly;
    tn_source source;
    tn_leaf_reader *reader;
    tn_arena pages_arena; /* of `pages` */
    tn_offset_index pages;
    tn_leaf_batch held; /* what the reader gave last, from held_* on not yet appended */
    int64_t held_rows, held_entry, held_entries, held_value, held_values;
    int64_t skip;  /* rows to pass over before the next fill */
    uint64_t cap;  /* bytes of a batch */
    uint64_t cost; /* bytes of the chunk, to start the longest first */
} lane;

typedef struct segment {
    uint32_t group;
    int64_t first, rows;
} segment;

struct tn_parquet_scan {
    tarn_cx home; /* gives back what was charged, also at close, which has no context */
    tn_arena arena;
    const tn_parquet *file;
    tn_parquet_scan_options options;
    tn_arrow_field root;
    tn_column *columns;
    lane *lanes;
    size_t lane_count;
    uint32_t *order; /* lanes by falling cost */
    segment *segments;
    size_t segment_count, segment_at;
    int64_t at;           /* rows of the segment given out */
    int64_t *group_first; /* position of each row group's first row in the file */
    bool group_open;
    uint32_t group;     /* the open one */
    int64_t group_row;  /* where the lanes stand within the open group */
    int64_t target;     /* rows the next batch tries for */
    int64_t rows_max;   /* of a batch of the open group */
    tn_buf group_bytes; /* the chunks of the group, when read at once */
    uint64_t group_charge, batch_charge;
    pthread_mutex_t lock; /* of the handles */
    bool lock_made;
    tn_file *handles[TN_JOBS_MAX + 1];
    size_t handle_count;
};

int tn_arrow_schema_of(tarn_cx *cx, const tn_parquet *file, const uint32_t *columns,
                       size_t column_count, struct ArrowSchema *out)
{
    tn_arrow_field_options options = {.columns = columns, .column_count = column_count};
    tn_arrow_field root;
    tn_arena arena = {0};
    int rc;

    rc = tn_arrow_field_build(cx, file, &options, &arena, &root);
    if (rc == TARN_OK)
        rc = tn_arrow_field_export(cx, &root, out);
    tn_arena_clear(&arena);
    return rc;
}

int tn_parquet_scan_schema(tarn_cx *cx, const tn_parquet_scan *scan, struct ArrowSchema *out)
{
    return tn_arrow_field_export(cx, &scan->root, out);
}

/* --- segments --- */

static int add_segment(tarn_cx *cx, tn_parquet_scan *scan, uint32_t group, int64_t first,
                       int64_t rows)
{
    int64_t all;

    if (group >= scan->file->footer.group_count)
        return tn_fail(cx, TARN_E_INVALID, "%.*s: there is no row group %u among %zu",
                       TN_STR_ARG(scan->file->path), group, scan->file->footer.group_count);
    all = scan->file->footer.groups[group].rows;
    if (first < 0 || rows < 0 || first > all || rows > all - first)
        return tn_fail(cx, TARN_E_INVALID,
                       "%.*s: rows %" PRId64 " to %" PRId64 " lie outside of row group %u",
                       TN_STR_ARG(scan->file->path), first, first + rows, group);
    if (rows != 0)
        scan->segments[scan->segment_count++] = (segment){group, first, rows};
    return TARN_OK;
}

static bool group_chosen(const tn_parquet_scan_options *options, uint32_t group)
{
    if (options->groups == NULL)
        return true;
    for (size_t i = 0; i < options->group_count; i++)
        if (options->groups[i] == group)
            return true;
    return false;
}

static int make_segments(tarn_cx *cx, tn_parquet_scan *scan, const tn_parquet_scan_options *options)
{
    const tn_footer *footer = &scan->file->footer;
    size_t groups = options->groups != NULL ? options->group_count : footer->group_count;
    size_t count = options->ranges != NULL ? options->range_count : groups;
    int rc = TARN_OK;

    scan->segments = tn_arena_array(cx, &scan->arena, count, sizeof scan->segments[0]);
    scan->group_first =
        tn_arena_array(cx, &scan->arena, footer->group_count + 1, sizeof scan->group_first[0]);
    if (scan->segments == NULL || scan->group_first == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; i < footer->group_count; i++)
        scan->group_first[i + 1] = scan->group_first[i] + footer->groups[i].rows;
    for (size_t i = 0; rc == TARN_OK && i < count; i++) {
        if (options->ranges == NULL) {
            uint32_t group = options->groups != NULL ? options->groups[i] : (uint32_t)i;

            rc = add_segment(cx, scan, group, 0,
                             group < footer->group_count ? footer->groups[group].rows : 0);
        } else if (group_chosen(options, options->ranges[i].group)) {
            rc = add_segment(cx, scan, options->ranges[i].group, options->ranges[i].first,
                             options->ranges[i].rows);
        }
    }
    return rc;
}

/* --- opening --- */

static int make_lanes(tarn_cx *cx, tn_parquet_scan *scan)
{
    size_t count = 0;
    int rc = TARN_OK;

    for (size_t i = 0; i < scan->root.child_count; i++)
        count += scan->root.children[i].node->leaf_count;
    scan->columns =
        tn_arena_array(cx, &scan->arena, scan->root.child_count, sizeof scan->columns[0]);
    scan->lanes = tn_arena_array(cx, &scan->arena, count, sizeof scan->lanes[0]);
    scan->order = tn_arena_array(cx, &scan->arena, count, sizeof scan->order[0]);
    if (scan->columns == NULL || scan->lanes == NULL || scan->order == NULL)
        return TARN_E_NOMEM;
    for (size_t i = 0; rc == TARN_OK && i < scan->root.child_count; i++) {
        const tn_node *node = scan->root.children[i].node;

        rc = tn_column_build(cx, &scan->root.children[i], &scan->arena, &scan->columns[i]);
        for (uint32_t j = 0; rc == TARN_OK && j < node->leaf_count; j++) {
            lane *l = &scan->lanes[scan->lane_count];

            l->leaf = &scan->file->schema.leaves[node->first_leaf + j];
            rc = tn_assembly_init(cx, scan->file, l->leaf, &scan->columns[i], &scan->arena,
                                  &l->assembly);
            scan->order[scan->lane_count] = (uint32_t)scan->lane_count;
            scan->lane_count++;
        }
    }
    return rc;
}

int tn_parquet_scan_open(tarn_cx *cx, const tn_parquet *file,
                         const tn_parquet_scan_options *options, tn_parquet_scan **out)
{
    static const tn_parquet_scan_options defaults = {0};
    tn_parquet_scan *scan = tn_calloc(cx, 1, sizeof *scan);
    tn_arrow_field_options fields = {0};
    int rc = TARN_OK;

    if (scan == NULL)
        return TARN_E_NOMEM;
    options = options != NULL ? options : &defaults;
    tn_cx_child(&scan->home, cx);
    scan->file = file;
    scan->options.skip_crc = options->skip_crc;
    scan->options.batch_rows = options->batch_rows > 0 ? options->batch_rows : BATCH_ROWS;
    scan->lock_made = pthread_mutex_init(&scan->lock, NULL) == 0;
    if (!scan->lock_made)
        TN_TRY(tn_fail_memory(cx));
    fields.columns = options->columns;
    fields.column_count = options->column_count;
    fields.int96_micros = options->int96_micros;
    fields.int96_utc = options->int96_utc;
    TN_TRY(tn_arrow_field_build(cx, file, &fields, &scan->arena, &scan->root));
    TN_TRY(make_segments(cx, scan, options));
    TN_TRY(make_lanes(cx, scan));
    scan->target = scan->options.batch_rows;
    *out = scan;
    scan = NULL;
done:
    tn_parquet_scan_close(scan);
    return rc;
}

/* --- handles --- */

static int handle_take(tarn_cx *cx, tn_parquet_scan *scan, tn_file **out)
{
    tn_file *file = NULL;

    pthread_mutex_lock(&scan->lock);
    if (scan->handle_count > 0)
        file = scan->handles[--scan->handle_count];
    pthread_mutex_unlock(&scan->lock);
    if (file != NULL) {
        *out = file;
        return TARN_OK;
    }
    return tn_store_open_file(cx, scan->file->store, scan->file->path, out);
}

static void handle_give(tn_parquet_scan *scan, tn_file *file)
{
    pthread_mutex_lock(&scan->lock);
    if (scan->handle_count < sizeof scan->handles / sizeof scan->handles[0]) {
        scan->handles[scan->handle_count++] = file;
        file = NULL;
    }
    pthread_mutex_unlock(&scan->lock);
    tn_store_close_file(file);
}

/* --- row groups --- */

static void close_group(tn_parquet_scan *scan)
{
    for (size_t i = 0; i < scan->lane_count; i++) {
        lane *l = &scan->lanes[i];

        tn_leaf_reader_close(l->reader);
        l->reader = NULL;
        tn_source_clear(&l->source);
        tn_arena_clear(&l->pages_arena);
        l->pages = (tn_offset_index){0};
        l->held_rows = 0;
    }
    tn_buf_clear(&scan->group_bytes);
    tn_budget_give(&scan->home, scan->group_charge);
    scan->group_charge = 0;
    scan->group_open = false;
}

static const uint64_t *lane_cost(const tn_parquet_scan *scan, uint32_t i)
{
    return &scan->lanes[i].cost;
}

/* Insertion sort: the order hardly changes from group to group. */
static void order_lanes(tn_parquet_scan *scan)
{
    for (size_t i = 1; i < scan->lane_count; i++) {
        uint32_t moved = scan->order[i];
        size_t j = i;

        for (; j > 0 && *lane_cost(scan, scan->order[j - 1]) < *lane_cost(scan, moved); j--)
            scan->order[j] = scan->order[j - 1];
        scan->order[j] = moved;
    }
}

/* What the lane's values of the group take at least: a dictionary in the file is none here. */
static uint64_t least_bytes(const lane *l, const tn_row_group_meta *group)
{
    const tn_chunk_meta *chunk = &group->columns[l->leaf->index];
    size_t width = tn_leaf_width(l->leaf);
    uint64_t values = chunk->values > 0 ? (uint64_t)chunk->values : 0;
    uint64_t bytes = values * (width != 0 ? width : TEXT_BYTES_LEAST);

    return bytes > l->cost ? bytes : l->cost;
}

/* How many rows of the group make a batch, and how many bytes of it each lane may hold. */
static void plan_batches(const tarn_cx *cx, tn_parquet_scan *scan, const tn_row_group_meta *group)
{
    uint64_t share = tn_budget_bytes(cx) / BATCH_SHARE;
    uint64_t most = share < BATCH_BYTES ? share : BATCH_BYTES;
    uint64_t all = 0, floor = most / (scan->lane_count != 0 ? scan->lane_count : 1);
    int64_t rows = scan->options.batch_rows;

    floor = floor < LANE_BYTES_MIN ? LANE_BYTES_MIN : floor;
    for (size_t i = 0; i < scan->lane_count; i++)
        all += least_bytes(&scan->lanes[i], group);
    for (size_t i = 0; i < scan->lane_count; i++) {
        double part = all != 0 ? (double)least_bytes(&scan->lanes[i], group) / (double)all : 0;
        uint64_t cap = (uint64_t)(part * (double)most);

        scan->lanes[i].cap = cap < floor ? floor : cap;
    }
    if (group->rows > 0 && all / (uint64_t)group->rows > 0) {
        uint64_t fit = most / (all / (uint64_t)group->rows);

        rows = fit < (uint64_t)rows ? (int64_t)(fit != 0 ? fit : 1) : rows;
    }
    scan->rows_max = rows;
    scan->target = rows;
}

typedef struct group_span {
    uint64_t first, end, pages;
} group_span;

static int measure_group(tarn_cx *cx, tn_parquet_scan *scan, uint32_t group, group_span *out)
{
    group_span span = {UINT64_MAX, 0, 0};
    const tn_row_group_meta *meta = &scan->file->footer.groups[group];

    for (size_t i = 0; i < scan->lane_count; i++) {
        lane *l = &scan->lanes[i];
        const tn_chunk_meta *chunk = &meta->columns[l->leaf->index];
        uint64_t offset, bytes;
        int rc = tn_parquet_chunk_span(cx, scan->file, group, l->leaf->index, &offset, &bytes);

        if (rc != TARN_OK)
            return rc;
        l->cost = chunk->uncompressed_bytes > 0 ? (uint64_t)chunk->uncompressed_bytes : 0;
        span.first = offset < span.first ? offset : span.first;
        span.end = offset + bytes > span.end ? offset + bytes : span.end;
        span.pages += l->cost < PAGE_BYTES_EXPECTED ? l->cost : PAGE_BYTES_EXPECTED;
    }
    *out = span;
    return TARN_OK;
}

/* Where the bytes of the group come from: memory, one read, or a window per lane. */
static int make_sources(tarn_cx *cx, tn_parquet_scan *scan, const group_span *span, bool whole)
{
    const tn_parquet *file = scan->file;
    uint64_t bytes = span->end - span->first, window;
    tn_file *handle = NULL;
    int rc = TARN_OK;

    scan->group_charge = 0;
    if (file->memory != NULL) {
        for (size_t i = 0; i < scan->lane_count; i++)
            scan->lanes[i].source = tn_source_memory(file->memory, file->size_bytes, 0);
    } else if (bytes <= (whole ? GROUP_READ_MAX : WINDOW_BYTES_MAX) && tn_budget_try(cx, bytes)) {
        scan->group_charge = bytes;
        if (tn_buf_extend(&scan->group_bytes, (size_t)bytes) == NULL)
            TN_TRY(tn_fail_memory(cx));
        TN_TRY(handle_take(cx, scan, &handle));
        TN_TRY(tn_store_read(cx, handle, span->first, scan->group_bytes.data, (size_t)bytes));
        for (size_t i = 0; i < scan->lane_count; i++)
            scan->lanes[i].source = tn_source_memory(scan->group_bytes.data, bytes, span->first);
    } else {
        window = tn_budget_bytes(cx) / 8 / scan->lane_count;
        window = window < WINDOW_BYTES_MIN   ? WINDOW_BYTES_MIN
                 : window > WINDOW_BYTES_MAX ? WINDOW_BYTES_MAX
                                             : window;
        if (!whole && window > WINDOW_BYTES_SPARSE)
            window = WINDOW_BYTES_SPARSE;
        TN_TRY(tn_budget_take(cx, window * scan->lane_count, "reading a row group"));
        scan->group_charge = window * scan->lane_count;
        for (size_t i = 0; i < scan->lane_count; i++)
            scan->lanes[i].source = tn_source_file(NULL, (size_t)window);
    }
done:
    if (handle != NULL)
        handle_give(scan, handle);
    return rc;
}

/* A lane's source reads through a handle of the thread that works on it. */
static int source_attach(tarn_cx *cx, tn_parquet_scan *scan, lane *l)
{
    if (l->source.memory != NULL)
        return TARN_OK;
    return handle_take(cx, scan, &l->source.file);
}

static void source_detach(tn_parquet_scan *scan, lane *l)
{
    if (l->source.memory == NULL && l->source.file != NULL) {
        handle_give(scan, l->source.file);
        l->source.file = NULL;
    }
}

typedef struct group_job {
    tn_parquet_scan *scan;
    uint32_t group;
    bool whole; /* every row of the group is wanted */
} group_job;

static int open_lane(tarn_cx *cx, size_t i, void *arg)
{
    group_job *job = arg;
    tn_parquet_scan *scan = job->scan;
    lane *l = &scan->lanes[scan->order[i]];
    tn_leaf_read_options options = {.skip_crc = scan->options.skip_crc, .keep_dictionary = true};
    bool present = false;
    int rc = TARN_OK;

    TN_TRY(source_attach(cx, scan, l));
    if (!job->whole)
        TN_TRY(tn_parquet_offset_index(cx, scan->file, job->group, l->leaf->index, &l->pages_arena,
                                       &present, &l->pages));
    options.pages = present ? &l->pages : NULL;
    TN_TRY(tn_leaf_reader_open(cx, scan->file, job->group, l->leaf->index, &l->source, &options,
                               &l->reader));
done:
    source_detach(scan, l);
    return rc;
}

static int open_group(tarn_cx *cx, tn_parquet_scan *scan, uint32_t group)
{
    const tn_row_group_meta *meta = &scan->file->footer.groups[group];
    const segment *s = &scan->segments[scan->segment_at];
    group_job job = {scan, group, s->first == 0 && s->rows == meta->rows};
    group_span span;
    int rc = TARN_OK;

    close_group(scan);
    scan->group_open = true;
    scan->group = group;
    scan->group_row = 0;
    scan->rows_max = scan->target = scan->options.batch_rows;
    if (scan->lane_count == 0)
        return TARN_OK;
    TN_TRY(measure_group(cx, scan, group, &span));
    TN_TRY(make_sources(cx, scan, &span, job.whole));
    order_lanes(scan);
    plan_batches(cx, scan, meta);
    TN_TRY(tn_parallel(cx, scan->lane_count, open_lane, &job));
done:
    return rc;
}

/* --- filling --- */

/* Entries and values of the first `rows` rows that the lane holds. */
static void measure_rows(const lane *l, int64_t rows, int64_t *entries, int64_t *values)
{
    const tn_leaf_batch *b = &l->held;
    int64_t at = l->held_entry, end = l->held_entry + l->held_entries, present = 0, seen = 0;

    if (rows == l->held_rows) {
        *entries = l->held_entries;
        *values = l->held_values;
        return;
    }
    for (; at < end; at++) {
        if (b->rep == NULL || b->rep[at] == 0) {
            if (seen == rows)
                break;
            seen++;
        }
        present += b->def == NULL || b->def[at] == l->leaf->max_def;
    }
    *entries = at - l->held_entry;
    *values = present;
}

/* How many rows of what the lane holds fit into `room` bytes; at least one when `must`. */
static int64_t rows_fitting(const lane *l, uint64_t room, bool must)
{
    int64_t low = must ? 1 : 0, high = l->held_rows;

    if (tn_assembly_cost(&l->assembly, &l->held, l->held_value, l->held_values, l->held_entries) <=
        room)
        return l->held_rows;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2, entries, values;

        measure_rows(l, middle, &entries, &values);
        if (tn_assembly_cost(&l->assembly, &l->held, l->held_value, values, entries) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int hold_next(tarn_cx *cx, tn_parquet_scan *scan, lane *l, int64_t rows_max)
{
    int rc;

    rc = tn_leaf_reader_next(cx, l->reader, rows_max, &l->held);
    if (rc != TARN_OK)
        return rc;
    if (l->held.rows <= 0)
        return tn_fail(cx, TARN_E_CORRUPT,
                       "%.*s: column \"%.*s\" has fewer rows than row group %u says",
                       TN_STR_ARG(scan->file->path), TN_STR_ARG(l->leaf->dotted),
                       scan->segments[scan->segment_at].group);
    assert(l->held.rows <= rows_max);
    l->held_rows = l->held.rows;
    l->held_entry = l->held_value = 0;
    l->held_entries = l->held.entries;
    l->held_values = l->held.values.count;
    return TARN_OK;
}

/* Appends as many of the held rows as fit; *full when some did not. */
static int append_held(tarn_cx *cx, tn_parquet_scan *scan, lane *l, bool *full)
{
    const segment *s = &scan->segments[scan->segment_at];
    uint64_t have = tn_assembly_bytes(&l->assembly);
    int64_t rows = rows_fitting(l, have < l->cap ? l->cap - have : 0, l->assembly.rows == 0);
    tn_slice slice = {.batch = &l->held,
                      .entry = l->held_entry,
                      .value = l->held_value,
                      .rows = rows,
                      .rows_hint = scan->target};
    int rc;

    *full = rows < l->held_rows;
    if (rows == 0)
        return TARN_OK;
    measure_rows(l, rows, &slice.entries, &slice.values);
    slice.position = scan->group_first[s->group] + s->first + scan->at + l->assembly.rows;
    rc = tn_assembly_append(cx, &l->assembly, &slice);
    if (rc != TARN_OK)
        return rc;
    l->held_rows -= rows;
    l->held_entry += slice.entries;
    l->held_entries -= slice.entries;
    l->held_value += slice.values;
    l->held_values -= slice.values;
    return TARN_OK;
}

static int fill_lane(tarn_cx *cx, size_t i, void *arg)
{
    tn_parquet_scan *scan = arg;
    lane *l = &scan->lanes[scan->order[i]];
    bool full = false;
    int rc = TARN_OK;

    TN_TRY(source_attach(cx, scan, l));
    if (l->skip != 0) {
        TN_TRY(tn_leaf_reader_skip(cx, l->reader, l->skip));
        l->skip = 0;
    }
    while (!full && l->assembly.rows < scan->target) {
        if (l->held_rows == 0)
            TN_TRY(hold_next(cx, scan, l, scan->target - l->assembly.rows));
        TN_TRY(append_held(cx, scan, l, &full));
    }
done:
    source_detach(scan, l);
    return rc;
}

/* --- batches --- */

/* Makes the next segment with rows the current one, its row group open; *ended when there is none.
 */
static int next_segment(tarn_cx *cx, tn_parquet_scan *scan, bool *ended)
{
    uint32_t before = scan->group;
    const segment *s;
    int rc;

    if (scan->segment_at < scan->segment_count &&
        scan->at == scan->segments[scan->segment_at].rows) {
        scan->segment_at++;
        scan->at = 0;
    }
    *ended = scan->segment_at == scan->segment_count;
    if (*ended) {
        close_group(scan);
        return TARN_OK;
    }
    if (scan->at != 0)
        return TARN_OK;
    s = &scan->segments[scan->segment_at];
    if (!scan->group_open || s->group != before || s->first < scan->group_row) {
        rc = open_group(cx, scan, s->group);
        if (rc != TARN_OK)
            return rc;
    }
    for (size_t i = 0; i < scan->lane_count; i++)
        scan->lanes[i].skip = s->first - scan->group_row;
    scan->group_row = s->first;
    return TARN_OK;
}

static int take_batch(tarn_cx *cx, tn_parquet_scan *scan, int64_t rows, struct ArrowArray *out)
{
    struct ArrowArray array = {0};
    int rc = TARN_OK;

    TN_TRY(tn_array_init(cx, &array, rows, 1, scan->root.child_count));
    for (size_t i = 0; i < scan->root.child_count; i++) {
        rc = tn_column_take(cx, &scan->columns[i], rows, rows, array.children[i]);
        if (rc == TARN_E_CORRUPT)
            tn_fail_within(cx, rc, "%.*s", TN_STR_ARG(scan->file->path));
        TN_TRY(rc);
    }
    for (size_t i = 0; i < scan->lane_count; i++)
        scan->lanes[i].assembly.rows -= rows;
    tn_array_move(&array, out);
done:
    tn_array_release(&array);
    return rc;
}

/* The batch given out is the caller's; what is charged is about what it takes until the next call.
 */
static int charge_batch(tarn_cx *cx, tn_parquet_scan *scan)
{
    uint64_t bytes = 0;
    int rc;

    for (size_t i = 0; i < scan->lane_count; i++)
        bytes += tn_assembly_bytes(&scan->lanes[i].assembly);
    tn_budget_give(cx, scan->batch_charge);
    scan->batch_charge = 0;
    rc = tn_budget_take(cx, bytes, "a batch of rows");
    if (rc == TARN_OK)
        scan->batch_charge = bytes;
    return rc;
}

int tn_parquet_scan_next(tarn_cx *cx, tn_parquet_scan *scan, struct ArrowArray *out,
                         int64_t *first_row)
{
    bool ended;
    const segment *s;
    int64_t rows;
    int rc = TARN_OK;

    TN_TRY(tn_cx_check(cx));
    TN_TRY(next_segment(cx, scan, &ended));
    if (ended) {
        tn_budget_give(cx, scan->batch_charge);
        scan->batch_charge = 0;
        TN_TRY(tn_array_init(cx, out, 0, 1, 0));
        *first_row = scan->group_first[scan->file->footer.group_count];
        goto done;
    }
    s = &scan->segments[scan->segment_at];
    if (scan->target > s->rows - scan->at)
        scan->target = s->rows - scan->at;
    TN_TRY(tn_parallel(cx, scan->lane_count, fill_lane, scan));
    TN_TRY(charge_batch(cx, scan));
    rows = scan->target;
    for (size_t i = 0; i < scan->lane_count; i++)
        rows = scan->lanes[i].assembly.rows < rows ? scan->lanes[i].assembly.rows : rows;
    assert(rows > 0);
    TN_TRY(take_batch(cx, scan, rows, out));
    *first_row = scan->group_first[s->group] + s->first + scan->at;
    scan->at += rows;
    scan->group_row += rows;
    /* A lane that met its cap shortens the next batches; they grow again by doubling. */
    scan->target = 2 * rows < scan->rows_max ? 2 * rows : scan->rows_max;
done:
    return rc;
}

void tn_parquet_scan_close(tn_parquet_scan *scan)
{
    if (scan == NULL)
        return;
    close_group(scan);
    tn_budget_give(&scan->home, scan->batch_charge);
    for (size_t i = 0; i < scan->lane_count; i++)
        tn_assembly_clear(&scan->lanes[i].assembly);
    for (size_t i = 0; i < scan->root.child_count && scan->columns != NULL; i++)
        if (scan->columns[i].field != NULL)
            tn_column_clear(&scan->columns[i]);
    for (size_t i = 0; i < scan->handle_count; i++)
        tn_store_close_file(scan->handles[i]);
    if (scan->lock_made)
        pthread_mutex_destroy(&scan->lock);
    tn_arena_clear(&scan->arena);
    free(scan);
}
