/* A lake in memory for the simulation of writes with real rows: how a directory is made, which rows
 * are to be in it, and what the real reader finds. Which rows there are is the model; what each
 * holds follows from its id (unit/exec/rows.h). */
#ifndef TN_TEST_WRITE_ROWS_WORLD_H
#define TN_TEST_WRITE_ROWS_WORLD_H

#include "unit/exec/rows.h"

#include <errno.h>
#include <inttypes.h>

#include "io/store_fault.h"
#include "io/store_memory.h"
#include "op/op_read.h"
#include "op/write_op.h"

#define ROOT        "/lake/t"
#define IDS_MAX     8192
#define BATCHES_MAX 64
#define OLD_ROWS    60
#define FIRST_ID    1000 /* of what the write brings */
#define LAST_ID     8000 /* of what the next run brings */
#define TINY_MEMORY (128u << 10)

static const char *const hostile[] = {"2024-05-12", "K\xc3\xb6ln", "AC/DC", "50%",       NULL,
                                      "",           "..",          "a=b",   "new\nline", "{[^]}"};
static const char *const usual[] = {"a", NULL, "c"};

/* What is written, and what is done with it afterwards. */
typedef struct scene {
    enum tarn_write_mode mode;
    bool missing;                 /* there is no directory yet */
    bool renames;                 /* the store cannot exchange directories */
    bool dictionary;              /* rows come with dictionaries */
    uint64_t memory_bytes;        /* 0: enough */
    int64_t rows, batch_rows;     /* that are written */
    uint64_t files_per_partition; /* of a partition, by id */
    size_t levels;                /* of partitions: dt, hour */
    size_t names;                 /* hostile values of dt; 0: the usual ones */
    bool merge, hive;             /* after it; an append merges by itself */
} scene;

/* Batches made beforehand, so that the run under test alone allocates. */
typedef struct premade {
    tarn_cx *cx;
    struct ArrowSchema schema;
    struct ArrowArray batches[BATCHES_MAX];
    size_t count, at;
    struct ArrowArrayStream stream;
} premade;

typedef struct lake {
    const scene *of;
    tarn_cx *cx;      /* of the run under test */
    tarn_cx *look;    /* of what sets up and looks */
    tn_store *memory; /* what is really there */
    premade rows;
    bool before[IDS_MAX], after[IDS_MAX];
} lake;

#define CHECK(l, what, label)                                                                      \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            print_message("context: %s; look: %s\n", tarn_cx_error((l)->cx),                       \
                          tarn_cx_error((l)->look));                                               \
            show((l), TN_STR("/lake"));                                                            \
            fail_msg("%s: %s", (label), #what);                                                    \
        }                                                                                          \
    } while (0)

static inline void show(lake *l, tn_str directory)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path;

    if (tn_store_list(l->look, l->memory, directory, &arena, &entries, &count) != TARN_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        assert_ok(l->look, tn_path_join(l->look, &arena, directory, entries[i].name, &path));
        print_message("  %.*s %d\n", TN_STR_ARG(path), (int)entries[i].stat.size_bytes);
        if (entries[i].stat.kind == TN_ENTRY_DIR)
            show(l, path);
    }
    tn_arena_clear(&arena);
}

/* --- the rows that come --- */

static inline rows_shape shape_of(const scene *of)
{
    return of->names != 0 ? (rows_shape){hostile, of->names, 3, false, of->dictionary}
                          : (rows_shape){usual, 3, 2, false, of->dictionary};
}

static inline int premade_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    premade *p = self->private_data;

    memset(out, 0, sizeof *out);
    return tn_field_copy(p->cx, &p->schema, out) == TARN_OK ? 0 : ENOMEM;
}

static inline int premade_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    premade *p = self->private_data;

    memset(out, 0, sizeof *out);
    if (p->at < p->count)
        tn_array_move(&p->batches[p->at++], out);
    return 0;
}

static const char *premade_error(struct ArrowArrayStream *self)
{
    (void)self;
    return NULL;
}

static inline void premade_release(struct ArrowArrayStream *self)
{
    premade *p = self->private_data;

    for (; p->at < p->count; p->at++)
        tn_array_release(&p->batches[p->at]);
    tn_field_release(&p->schema);
    self->release = NULL;
}

/* Rows [first, first + rows). */
static inline void premade_open(premade *p, tarn_cx *cx, const rows_shape *shape, int64_t first,
                                int64_t rows, int64_t batch_rows, uint64_t seed)
{
    rows_source source = {cx, shape, first + rows, first, batch_rows, seed, {0}};

    *p = (premade){.cx = cx};
    rows_schema(cx, shape, &p->schema);
    rows_open(&source);
    for (;;) {
        assert_true(p->count < BATCHES_MAX);
        assert_int_equal(rows_get_next(&source.stream, &p->batches[p->count]), 0);
        if (p->batches[p->count].release == NULL)
            break;
        p->count++;
    }
    p->stream =
        (struct ArrowArrayStream){premade_schema, premade_next, premade_error, premade_release, p};
}

/* --- the model --- */

/* Rows of one partition have the same number; null and the empty text share one. */
static inline int64_t partition_of(const scene *of, int64_t id)
{
    const rows_shape shape = shape_of(of);
    const char *name = shape.names[rows_name(&shape, id)];
    int64_t number = 0;

    if (of->levels > 0 && name != NULL && name[0] != '\0')
        number = 1 + (int64_t)rows_name(&shape, id);
    if (of->levels > 1)
        number = number * 16 + rows_hour(&shape, id);
    return number;
}

static inline void expect(lake *l)
{
    const scene *of = l->of;
    bool touched[256] = {false};

    for (int64_t id = FIRST_ID; id < FIRST_ID + of->rows; id++) {
        l->after[id] = true;
        touched[partition_of(of, id)] = true;
    }
    for (int64_t id = 0; id < FIRST_ID; id++)
        if (of->mode == TARN_WRITE_APPEND ||
            (of->mode == TARN_WRITE_OVERWRITE_PARTITIONS && !touched[partition_of(of, id)]))
            l->after[id] = l->before[id];
}

/* --- what is there --- */

static inline void check_text(const struct ArrowArray *column, int64_t i, const char *want)
{
    const int32_t *offsets = (const int32_t *)column->buffers[1] + column->offset + i;

    if (tn_rows_is_null(column, column->offset + i) != (want == NULL))
        fail_msg("row %d: %s", (int)i, want != NULL ? want : "null is wanted");
    if (want == NULL)
        return;
    assert_int_equal(offsets[1] - offsets[0], strlen(want));
    assert_memory_equal((const char *)column->buffers[2] + offsets[0], want, strlen(want));
}

/* The columns that are, or may be, of the path. The empty text becomes null there. */
static inline void check_keys(const lake *l, const struct ArrowArray *batch, int64_t i, int64_t id)
{
    static const int dt_at[] = {1, 6, 5}, hour_at[] = {2, 1, 6};
    const rows_shape shape = shape_of(l->of);
    const struct ArrowArray *hour = batch->children[hour_at[l->of->levels]];
    const void *hours = hour->buffers[1]; /* those of a path are longer */
    const char *want = shape.names[rows_name(&shape, id)];

    if (l->of->levels > 0 && want != NULL && want[0] == '\0')
        want = NULL;
    check_text(batch->children[dt_at[l->of->levels]], i, want);
    assert_int_equal(l->of->levels > 1 ? ((const int64_t *)hours)[hour->offset + i]
                                       : ((const int32_t *)hours)[hour->offset + i],
                     rows_hour(&shape, id));
}

static inline void read_batches(lake *l, struct ArrowArrayStream *rows, int *seen)
{
    for (;;) {
        struct ArrowArray batch = {0};

        if (rows->get_next(rows, &batch) != 0)
            fail_msg("reading: %s", tarn_cx_error(l->look));
        if (batch.release == NULL)
            break;
        for (int64_t i = 0; i < batch.length; i++) {
            int64_t id = rows_check(&batch, i, 2 - (int64_t)l->of->levels);

            assert_true(id >= 0 && id < IDS_MAX);
            check_keys(l, &batch, i, id);
            seen[id]++;
        }
        tn_array_release(&batch);
    }
}

/* Whether the real reader gives each of these rows once, and no other. */
static inline bool reads(lake *l, const bool *want)
{
    static const char *const types[] = {NULL, "dt=string", "dt=string,hour=int"};
    const tarn_read_options options = {.partition_types = types[l->of->levels]};
    struct ArrowArrayStream rows = {0};
    int *seen = calloc(IDS_MAX, sizeof *seen), rc;
    tn_store *store;
    bool same = true;

    /* The reader closes what it was given. */
    assert_ok(l->look, tn_store_fault_open(l->look, l->memory, &(tn_fault_plan){0}, &store));
    rc = tn_read_open_in(l->look, store, TN_STR(ROOT), &options, &rows);
    if (rc == TARN_E_NOTFOUND) {
        tn_cx_forget(l->look); /* no file is no row */
    } else {
        assert_ok(l->look, rc);
        read_batches(l, &rows, seen);
        rows.release(&rows);
    }
    for (int id = 0; id < IDS_MAX; id++)
        same &= seen[id] == (want[id] ? 1 : 0);
    free(seen);
    return same;
}

/* Whether there is no file but those of rows, and, where a recovery may leave it, the lock; and no
 * directory but those of rows, or empty ones of the work directory. */
static inline bool is_clean(lake *l, tn_str directory, bool recovered)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path;
    bool clean = true;

    assert_ok(l->look, tn_store_list(l->look, l->memory, directory, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_str name = entries[i].name;

        assert_ok(l->look, tn_path_join(l->look, &arena, directory, name, &path));
        if (entries[i].stat.kind == TN_ENTRY_DIR)
            clean &= (recovered || name.ptr[0] != '.') && is_clean(l, path, recovered);
        else if (tn_str_ends(path, TN_STR(".parquet")))
            clean &= tn_str_starts(path, TN_STR(ROOT "/"));
        else
            clean &= recovered && tn_str_is(path, "/lake/.t.tarn/lock");
    }
    tn_arena_clear(&arena);
    return clean;
}

/* --- setting up --- */

static inline int64_t clock_of(void *arg)
{
    (void)arg;
    return 1800000000000;
}

static inline int write_rows(lake *l, tarn_cx *cx, tn_store *store, premade *rows,
                             const tarn_write_options *plain, tarn_write_report **report)
{
    static const char *const columns[] = {"dt", "hour"}, *const by[] = {"id"};
    tarn_write_options options = *plain;

    options.partition_by = columns;
    options.partition_by_count = l->of->levels;
    options.distribute_by = options.files_per_partition != 0 ? by : NULL;
    options.distribute_by_count = options.files_per_partition != 0 ? 1 : 0;
    return tn_write_rows_into(cx, store, TN_STR(ROOT), &rows->stream, &options, report);
}

/* Rows as two writes leave them that do not merge. */
static inline void write_before(lake *l, tn_store *store)
{
    rows_shape shape = shape_of(l->of);

    shape.dictionary = false;
    for (int64_t first = 0; first < OLD_ROWS; first += OLD_ROWS / 2) {
        tarn_write_report *report = NULL;
        premade rows;

        premade_open(&rows, l->look, &shape, first, OLD_ROWS / 2, OLD_ROWS, 1);
        assert_ok(l->look, write_rows(l, l->look, store, &rows,
                                      &(tarn_write_options){.no_merge = true}, &report));
        tarn_write_report_close(report);
        rows.stream.release(&rows.stream);
    }
}

static inline void copy_tree(tarn_cx *cx, tn_store *from, tn_store *to, tn_str directory)
{
    tn_arena arena = {0};
    tn_buf bytes = {0};
    tn_entry *entries;
    size_t count;
    tn_str path;

    assert_ok(cx, tn_store_make_dirs(cx, to, directory));
    assert_ok(cx, tn_store_list(cx, from, directory, &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        assert_ok(cx, tn_path_join(cx, &arena, directory, entries[i].name, &path));
        if (entries[i].stat.kind == TN_ENTRY_DIR) {
            copy_tree(cx, from, to, path);
            continue;
        }
        tn_buf_reset(&bytes);
        assert_ok(cx, tn_store_get(cx, from, path, 1 << 20, &bytes));
        assert_ok(cx, tn_store_put(cx, to, path, tn_buf_view(&bytes)));
    }
    assert_ok(cx, tn_store_sync_all(cx, to, directory));
    tn_buf_clear(&bytes);
    tn_arena_clear(&arena);
}

/* A copy of `from`, or, where that is NULL, a new one. */
static inline void lake_open(lake *l, const scene *of, tn_store *from, uint64_t seed)
{
    const rows_shape shape = shape_of(of);

    *l = (lake){.of = of};
    l->cx = tarn_cx_open(&(tarn_cx_options){
        .jobs = 1, .now_ms = clock_of, .seed = 7, .memory_bytes = of->memory_bytes});
    /* Runs are named by the seed: each needs its own. */
    l->look = tarn_cx_open(
        &(tarn_cx_options){.jobs = 1, .now_ms = clock_of, .seed = from != NULL ? 8 : 9});
    assert_non_null(l->cx);
    assert_non_null(l->look);
    assert_ok(l->look, tn_store_memory_open(l->look, &l->memory));
    assert_ok(l->look, tn_store_make_dirs(l->look, l->memory, TN_STR("/lake")));
    if (from != NULL)
        copy_tree(l->look, from, l->memory, TN_STR("/lake"));
    else if (!of->missing)
        write_before(l, l->memory);
    assert_ok(l->look, tn_store_sync_all(l->look, l->memory, TN_STR("/lake")));
    if (of->renames)
        l->memory->caps &= ~(unsigned)TN_STORE_EXCHANGE;
    for (int64_t id = 0; id < OLD_ROWS && !of->missing; id++)
        l->before[id] = true;
    expect(l);
    premade_open(&l->rows, l->cx, &shape, FIRST_ID, of->rows, of->batch_rows, seed);
}

static inline void lake_close(lake *l)
{
    l->rows.stream.release(&l->rows.stream);
    tn_store_close(l->memory);
    tarn_cx_close(l->look);
    tarn_cx_close(l->cx);
}

#endif
