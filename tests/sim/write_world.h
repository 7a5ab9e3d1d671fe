/* Writes into the small lake of merge_world.h: partitions of two levels, fake Parquet files whose
 * bytes are row numbers, and a model that knows which row is in which partition. */
#ifndef TN_TEST_WRITE_WORLD_H
#define TN_TEST_WRITE_WORLD_H

#include "sim/merge_world.h"

#include "commit/commit_write.h"

#define PARTITIONS 6
#define WORK       "/lake/.t.tarn"

static const char *const partition_names[PARTITIONS] = {"a=1/b=1", "a=1/b=2", "a=2/b=1",
                                                        "a=2/b=2", "a=3/b=1", "a=3/b=2"};

struct lake {
    struct world w; /* rows: how often each row is to be seen; kept equal to `alive` */
    bool alive[ROWS_MAX];
    int partition_of[ROWS_MAX];
};

/* What one write brings: how many files of how many rows for each partition. */
struct request {
    enum tn_write_mode mode;
    int files[PARTITIONS], rows;
};

struct outcome {
    int rc;
    tn_write_done done;
    bool before[ROWS_MAX], after[ROWS_MAX]; /* the two states that readers may see */
    uint64_t calls;
};

static inline void lake_model(struct lake *l, const bool *alive)
{
    memcpy(l->alive, alive, sizeof l->alive);
    for (int i = 0; i < ROWS_MAX; i++)
        l->w.rows[i] = alive[i];
}

static inline int lake_new_row(struct lake *l, int partition)
{
    assert_true(l->w.next_row < ROWS_MAX);
    l->partition_of[l->w.next_row] = partition;
    return l->w.next_row++;
}

/* A file with one new row, as another program writes it. */
static inline void lake_put(struct lake *l, int partition, const char *name)
{
    int row = lake_new_row(l, partition);
    char text[20];

    snprintf(text, sizeof text, "%d\n", row);
    world_put(&l->w, world_path(&l->w, ROOT "/%s/%s", partition_names[partition], name), text);
    l->alive[row] = true;
    l->w.rows[row] = 1;
}

/* Partitions 0 to 2 have rows, and names that are no data. */
static inline void lake_open(struct lake *l, enum way way, bool missing)
{
    memset(l, 0, sizeof *l);
    /* A missing root has its work beside it, and keeps it there. */
    world_open_empty(&l->w, missing && way == WAY_INSIDE ? WAY_EXCHANGE : way, 0);
    assert_ok(l->w.cx, tn_store_make_dirs(l->w.cx, l->w.memory, TN_STR("/lake")));
    for (int i = 0; i < 3 && !missing; i++) {
        assert_ok(l->w.cx, tn_store_make_dirs(l->w.cx, l->w.memory,
                                              world_path(&l->w, ROOT "/%s", partition_names[i])));
        lake_put(l, i, "x.parquet");
    }
    if (!missing) {
        lake_put(l, 0, "y.parquet");
        world_put(&l->w, TN_STR(ROOT "/a=1/b=1/_SUCCESS"), "");
        world_put(&l->w, TN_STR(ROOT "/a=1/b=1/notes.txt"), "no rows");
        world_put(&l->w, TN_STR(ROOT "/a=1/b=1/.x.parquet.crc"), "501\n");
        world_put(&l->w, TN_STR(ROOT "/a=2/b=1/_metadata"), "500\n");
        world_put(&l->w, TN_STR(ROOT "/_metadata"), "500\n");
    }
    if (way == WAY_SUBDIR && !missing)
        assert_ok(l->w.cx,
                  tn_store_make_dirs(l->w.cx, l->w.memory, TN_STR(ROOT "/a=1/b=1/.hidden/deep")));
    assert_ok(l->w.cx, tn_store_sync_dir(l->w.cx, l->w.memory, TN_STR("/lake")));
    assert_ok(l->w.cx, tn_store_sync_dir(l->w.cx, l->w.memory, TN_STR("/")));
}

static inline void lake_close(struct lake *l)
{
    world_close(&l->w);
}

/* What the write makes of the rows: */
static inline void lake_expect(const struct lake *l, const struct request *request,
                               struct outcome *out)
{
    memcpy(out->before, l->alive, sizeof out->before);
    memcpy(out->after, l->alive, sizeof out->after);
    for (int i = 0; i < ROWS_MAX; i++)
        if (request->mode == TN_WRITE_OVERWRITE ||
            (request->mode == TN_WRITE_OVERWRITE_PARTITIONS &&
             request->files[l->partition_of[i]] != 0))
            out->after[i] = false;
}

static inline int lake_stage(struct lake *l, tn_str path, int partition, int rows, bool *after,
                             tn_write_file *file)
{
    tarn_cx *cx = l->w.cx;
    tn_sink *sink = NULL;
    char text[256] = "";
    int rc;

    for (int i = 0; i < rows; i++) {
        int row = lake_new_row(l, partition);

        after[row] = true;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d\n", row);
    }
    *file = (tn_write_file){.partition = tn_str_of(partition_names[partition]),
                            .staged = path,
                            .bytes = strlen(text),
                            .rows = rows};
    TN_TRY(tn_store_create(cx, l->w.store, path, &sink));
    TN_TRY(tn_store_write(cx, sink, text, strlen(text)));
    TN_TRY(tn_store_finish(cx, sink));
done:
    tn_store_close_sink(sink);
    return rc;
}

static inline int lake_stage_all(struct lake *l, const tn_write_plan *plan,
                                 const struct request *request, bool *after, tn_write_file *files,
                                 size_t *count)
{
    int rc = TARN_OK;

    for (int p = 0; p < PARTITIONS; p++)
        for (int i = 0; i < request->files[p]; i++) {
            tn_str path = world_path(&l->w, "%.*s/f%zu.staged", TN_STR_ARG(plan->staging), *count);

            TN_TRY(lake_stage(l, path, p, request->rows, after, &files[*count]));
            files[*count].name =
                world_path(&l->w, "part-%zu-%.*s.parquet", *count, TN_STR_ARG(plan->id));
            ++*count;
        }
done:
    return rc;
}

static inline int lake_plan(struct lake *l, const struct request *request, tn_write_plan *plan)
{
    bool inside = l->w.way == WAY_INSIDE, missing = !world_has(&l->w, ROOT);

    assert_true(!inside || !missing);
    *plan = (tn_write_plan){.id = world_path(&l->w, "w%d", ++l->w.runs),
                            .root = TN_STR(ROOT),
                            .work = inside ? TN_STR(ROOT "/.tarn") : TN_STR(WORK),
                            .work_inside = inside,
                            .root_missing = missing,
                            .mode = request->mode};
    return tn_write_commit_staging(l->w.cx, &l->w.arena, plan->work, plan->id, &plan->staging);
}

/* Plan, stage, commit; `out->after` is filled as far as the rows got. */
static inline int lake_write(struct lake *l, const struct request *request, struct outcome *out)
{
    tarn_cx *cx = l->w.cx;
    tn_write_commit *commit = NULL;
    tn_write_file files[64] = {{{0}, {0}, {0}, 0, 0}};
    tn_write_plan plan;
    size_t count = 0;
    int rc;

    TN_TRY(lake_plan(l, request, &plan));
    TN_TRY(tn_write_commit_open(cx, l->w.store, &plan, &commit));
    TN_TRY(lake_stage_all(l, &plan, request, out->after, files, &count));
    TN_TRY(tn_write_commit_finish(cx, commit, files, count, &out->done));
    out->done.problem = (tn_str){0}; /* they die with the commit */
    out->done.notes = NULL;
done:
    tn_write_commit_close(cx, commit);
    return rc;
}

static inline void lake_read(struct lake *l, int *seen)
{
    memset(seen, 0, ROWS_MAX * sizeof *seen);
    if (world_has(&l->w, ROOT))
        world_read(&l->w, TN_STR(ROOT), seen);
}

static inline bool lake_sees(struct lake *l, const bool *rows)
{
    int seen[ROWS_MAX];

    lake_read(l, seen);
    for (int i = 0; i < ROWS_MAX; i++)
        if (seen[i] != rows[i])
            return false;
    return true;
}

#endif
