/* A small lake in memory for the simulation of a merge: fake Parquet files whose bytes are row
 * numbers, a planner and an executor for them, readers that count rows, and rivals. */
#ifndef TN_TEST_MERGE_WORLD_H
#define TN_TEST_MERGE_WORLD_H

#include "unit/test.h"

#include <inttypes.h>

#include "commit/commit_dir.h"
#include "io/store.h"
#include "io/store_fault.h"
#include "io/store_memory.h"

#define ROWS_MAX 512
#define ROOT     "/lake/t"

enum way {
    WAY_EXCHANGE, /* beside, by exchange */
    WAY_REFUSED,  /* beside; planned as exchange, but the store has none */
    WAY_SUBDIR,   /* planned as exchange, but there is a sub-directory */
    WAY_INSIDE,   /* in the root, by renames */
    WAY_COUNT
};

struct world {
    tarn_cx *cx;
    tn_store *memory; /* what is really there: rivals and readers use it */
    tn_store *store;  /* what the run under test uses */
    tn_arena arena;
    enum way way;
    int64_t keep_old_ms;
    int runs;
    const char *partition; /* that is merged */
    int rows[ROWS_MAX];    /* the model: how often each row must be seen */
    int next_row;
    int64_t now_ms;
};

static inline int64_t world_now(void *arg)
{
    return ((struct world *)arg)->now_ms;
}

static inline tn_str world_path(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline tn_str world_path(struct world *w, const char *format, ...)
{
    char text[512], *kept;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kept = tn_arena_take(w->cx, &w->arena, strlen(text) + 1);
    if (kept == NULL)
        return TN_STR("");
    strcpy(kept, text);
    return tn_str_of(kept);
}

static inline void world_put(struct world *w, tn_str path, const char *text)
{
    assert_ok(w->cx, tn_store_put(w->cx, w->memory, path, tn_str_of(text)));
}

/* A file with new rows. */
static inline void world_put_rows(struct world *w, tn_str path, int count)
{
    char text[256] = "";

    for (int i = 0; i < count; i++) {
        assert_true(w->next_row < ROWS_MAX);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d\n", w->next_row);
        w->rows[w->next_row++]++;
    }
    world_put(w, path, text);
}

static inline void world_open_empty(struct world *w, enum way way, int64_t keep_old_ms)
{
    *w = (struct world){
        .way = way, .keep_old_ms = keep_old_ms, .partition = "dt=1", .now_ms = 1800000000000};
    w->cx =
        tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = world_now, .now_arg = w, .seed = 7});
    assert_non_null(w->cx);
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->memory));
    w->store = w->memory;
    if (way == WAY_REFUSED)
        w->memory->caps &= ~(unsigned)TN_STORE_EXCHANGE;
}

static inline void world_open(struct world *w, enum way way, int64_t keep_old_ms)
{
    world_open_empty(w, way, keep_old_ms);
    assert_ok(w->cx, tn_store_make_dirs(w->cx, w->memory, TN_STR(ROOT "/dt=1")));
    world_put_rows(w, TN_STR(ROOT "/dt=1/a.parquet"), 2);
    world_put_rows(w, TN_STR(ROOT "/dt=1/b.parquet"), 1);
    world_put_rows(w, TN_STR(ROOT "/dt=1/c.parquet"), 2);
    world_put_rows(w, TN_STR(ROOT "/dt=1/big.parquet"), 3);
    world_put(w, TN_STR(ROOT "/dt=1/_SUCCESS"), "");
    world_put(w, TN_STR(ROOT "/dt=1/_metadata"), "63\n");
    if (way == WAY_SUBDIR) {
        assert_ok(w->cx, tn_store_make_dirs(w->cx, w->memory, TN_STR(ROOT "/dt=1/hr=2")));
        world_put_rows(w, TN_STR(ROOT "/dt=1/hr=2/s.parquet"), 1);
    }
    assert_ok(w->cx, tn_store_sync_dir(w->cx, w->memory, TN_STR("/lake")));
}

static inline void world_close(struct world *w)
{
    tn_store_close(w->memory);
    tn_arena_clear(&w->arena);
    tarn_cx_close(w->cx);
}

static inline void world_read_file(struct world *w, tn_str path, int *seen)
{
    tn_buf text = {0};
    char *at, *end;

    if (tn_store_get(w->cx, w->memory, path, 1 << 16, &text) != TARN_OK)
        abort();
    tn_buf_u8(&text, 0);
    for (at = (char *)text.data; *at != '\0'; at = end + 1) {
        long row = strtol(at, &end, 10);

        if (row < 0 || row >= ROWS_MAX || *end != '\n')
            abort();
        seen[row]++;
    }
    tn_buf_clear(&text);
}

/* What a reader sees that takes every "*.parquet" below the root, in hidden folders too. */
static inline void world_read(struct world *w, tn_str directory, int *seen)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path;

    if (tn_store_list(w->cx, w->memory, directory, &arena, &entries, &count) != TARN_OK)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (tn_path_join(w->cx, &arena, directory, entries[i].name, &path) != TARN_OK)
            abort();
        if (entries[i].stat.kind == TN_ENTRY_DIR)
            world_read(w, path, seen);
        else if (tn_str_ends(path, TN_STR(".parquet")))
            world_read_file(w, path, seen);
    }
    tn_arena_clear(&arena);
}

static inline bool world_rows_right(struct world *w)
{
    int seen[ROWS_MAX] = {0};

    world_read(w, TN_STR(ROOT), seen);
    return memcmp(seen, w->rows, sizeof seen) == 0;
}

static inline bool world_holds_rows(tn_str path)
{
    return tn_str_ends(path, TN_STR(".parquet")) || tn_str_ends(path, TN_STR(".old")) ||
           tn_str_ends(path, TN_STR(".staged"));
}

/* For a failing test: every name, and the rows of what has some. */
static inline void world_show(struct world *w, tn_str directory)
{
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count;
    tn_str path;

    if (tn_store_list(w->cx, w->memory, directory, &arena, &entries, &count) != TARN_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        int seen[ROWS_MAX] = {0};

        if (tn_path_join(w->cx, &arena, directory, entries[i].name, &path) != TARN_OK)
            abort();
        print_message("  %.*s:", TN_STR_ARG(path));
        if (entries[i].stat.kind == TN_ENTRY_FILE && world_holds_rows(path)) {
            world_read_file(w, path, seen);
            for (int row = 0; row < ROWS_MAX; row++)
                if (seen[row] != 0)
                    print_message(" %d", row);
        }
        print_message("\n");
        if (entries[i].stat.kind == TN_ENTRY_DIR)
            world_show(w, path);
    }
    tn_arena_clear(&arena);
}

static inline bool world_has(struct world *w, const char *path)
{
    tn_stat stat;

    return tn_store_stat(w->cx, w->memory, tn_str_of(path), &stat) == TARN_OK;
}

/* ---- plan and exec */

static inline bool world_is_small(const tn_entry *entry)
{
    return entry->stat.kind == TN_ENTRY_FILE && tn_str_ends(entry->name, TN_STR(".parquet")) &&
           !tn_str_starts(entry->name, TN_STR("big"));
}

static inline int64_t world_count_rows(tn_str text)
{
    int64_t rows = 0;

    for (size_t i = 0; i < text.len; i++)
        rows += text.ptr[i] == '\n';
    return rows;
}

struct world_plan {
    tn_merge_plan plan;
    tn_merge_partition partition;
    tn_merge_output output;
    tn_buf bytes; /* of the output */
};

static inline int world_plan_inputs(struct world *w, struct world_plan *p)
{
    tarn_cx *cx = w->cx;
    tn_merge_partition *partition = &p->partition;
    tn_entry *entries;
    size_t count;
    tn_str path;
    int rc;

    TN_TRY(tn_store_list(cx, w->memory, partition->directory, &w->arena, &entries, &count));
    partition->inputs = tn_arena_array(cx, &w->arena, count, sizeof *partition->inputs);
    partition->stale = tn_arena_array(cx, &w->arena, 1, sizeof *partition->stale);
    if (partition->inputs == NULL || partition->stale == NULL)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (tn_str_is(entries[i].name, "_metadata"))
            partition->stale[partition->stale_count++] = entries[i].name;
        if (!world_is_small(&entries[i]))
            continue;
        partition->inputs[partition->input_count++] =
            (tn_file_seen){entries[i].name, entries[i].stat.size_bytes, entries[i].stat.mtime_ns,
                           entries[i].stat.inode};
        TN_TRY(tn_path_join(cx, &w->arena, partition->directory, entries[i].name, &path));
        TN_TRY(tn_store_get(cx, w->memory, path, 1 << 16, &p->bytes));
        partition->bytes += entries[i].stat.size_bytes;
    }
done:
    return rc;
}

/* Plans one output for dt=1 from what is there now; *worth: there is something to merge. */
static inline int world_plan_make(struct world *w, struct world_plan *p, bool *worth)
{
    tarn_cx *cx = w->cx;
    tn_merge_partition *partition = &p->partition;
    tn_stat stat;
    int rc;

    w->runs++;
    p->plan.id = world_path(w, "run%d", w->runs);
    p->plan.root = TN_STR(ROOT);
    p->plan.work = w->way == WAY_INSIDE ? TN_STR(ROOT "/.tarn") : TN_STR("/lake/.t.tarn");
    p->plan.made_ms = w->now_ms;
    p->plan.options.keep_old_ms = w->keep_old_ms;
    p->plan.partitions = partition;
    partition->path = tn_str_of(w->partition);
    partition->directory = world_path(w, ROOT "/%s", w->partition);
    partition->staging =
        world_path(w, "%.*s/%.*s/0", TN_STR_ARG(p->plan.work), TN_STR_ARG(p->plan.id));
    partition->staging_inside = w->way == WAY_INSIDE;
    partition->swap = TN_SWAP_EXCHANGE;
    TN_TRY(tn_store_stat(cx, w->memory, partition->directory, &stat));
    partition->inode = stat.inode;
    partition->mount = stat.mount;
    partition->mtime_ns = stat.mtime_ns;
    TN_TRY(world_plan_inputs(w, p));
    *worth = partition->input_count > 1;
    p->plan.partition_count = *worth;
    partition->rows = world_count_rows(tn_buf_view(&p->bytes));
    p->output = (tn_merge_output){
        .name = world_path(w, "merged-%d.parquet", w->runs),
        .staged = world_path(w, "%.*s/out.staged", TN_STR_ARG(partition->staging)),
        .rows = partition->rows,
    };
    if (p->plan.id.len == 0 || p->output.name.len == 0 || p->output.staged.len == 0 ||
        partition->staging.len == 0)
        TN_FAIL(TARN_E_NOMEM, "out of memory");
    partition->outputs = &p->output;
    partition->output_count = 1;
done:
    return rc;
}

static inline int world_exec(struct world *w, const struct world_plan *p, tn_result *result)
{
    tarn_cx *cx = w->cx;
    tn_sink *sink = NULL;
    int rc;

    TN_TRY(tn_store_create(cx, w->store, p->output.staged, &sink));
    TN_TRY(tn_store_write(cx, sink, p->bytes.data, p->bytes.len));
    TN_TRY(tn_store_finish(cx, sink));
    *result = (tn_result){.plan_id = p->plan.id,
                          .output = p->output.staged,
                          .output_bytes = p->bytes.len,
                          .rows_in = p->output.rows,
                          .rows_out = p->output.rows};
done:
    tn_store_close_sink(sink);
    return rc;
}

/* Plan, exec and commit, as the engine does it. */
static inline int world_merge(struct world *w, tn_partition_report *report)
{
    tarn_cx *cx = w->cx;
    tn_dir_commit *commit = NULL;
    struct world_plan p = {0};
    tn_result result = {0};
    bool worth = false;
    int rc;

    TN_TRY(world_plan_make(w, &p, &worth));
    TN_TRY(tn_dir_commit_open(cx, w->store, &p.plan, &commit));
    if (worth) {
        TN_TRY(world_exec(w, &p, &result));
        TN_TRY(tn_dir_commit_partition(cx, commit, 0, &result, 1, &w->arena, report));
    }
    TN_TRY(tn_dir_commit_finish(cx, commit));
done:
    tn_dir_commit_close(commit);
    tn_buf_clear(&p.bytes);
    return rc;
}

static inline int world_undo(struct world *w, tn_partition_report *report)
{
    tn_partition_report *reports;
    tn_recovery recovery = {0};
    tn_str *paths;
    size_t count = 0;
    int rc =
        tn_dir_undo(w->cx, w->store, TN_STR(ROOT), &w->arena, &reports, &paths, &count, &recovery);

    tn_recovery_clear(&recovery);
    if (rc == TARN_OK && count == 1)
        *report = reports[0];
    return rc;
}

/* ---- rivals */

enum rival {
    RIVAL_ADDS,          /* a new file */
    RIVAL_TAKES_NAME,    /* a new file under the name of the output */
    RIVAL_CHANGES_INPUT, /* replaces it by one with other rows */
    RIVAL_REMOVES_INPUT,
    RIVAL_CHANGES_OTHER,
    RIVAL_REMOVES_OTHER,
    RIVAL_ADDS_DIRECTORY,
    RIVAL_BOTH, /* changes an input and then, each time it sees the new directory, another file */
    RIVAL_COUNT
};

static inline void world_unmodel(struct world *w, const char *path)
{
    int seen[ROWS_MAX] = {0};

    world_read_file(w, tn_str_of(path), seen);
    for (int row = 0; row < ROWS_MAX; row++)
        w->rows[row] -= seen[row];
}

static inline void world_rival_removes(struct world *w, const char *path)
{
    if (!world_has(w, path))
        return;
    world_unmodel(w, path);
    if (tn_store_remove(w->cx, w->memory, tn_str_of(path)) != TARN_OK ||
        tn_store_sync_dir(w->cx, w->memory, TN_STR(ROOT "/dt=1")) != TARN_OK)
        abort();
}

static inline void world_rival_changes(struct world *w, const char *path)
{
    if (!world_has(w, path))
        return;
    world_unmodel(w, path);
    world_put_rows(w, tn_str_of(path), 1);
}

static inline void world_rival(struct world *w, enum rival rival)
{
    switch (rival) {
    case RIVAL_ADDS:
        world_put_rows(w, TN_STR(ROOT "/dt=1/newcomer.parquet"), 1);
        break;
    case RIVAL_TAKES_NAME:
        if (!world_has(w, ROOT "/dt=1/merged-1.parquet"))
            world_put_rows(w, TN_STR(ROOT "/dt=1/merged-1.parquet"), 1);
        break;
    case RIVAL_CHANGES_INPUT:
        world_rival_changes(w, ROOT "/dt=1/b.parquet");
        break;
    case RIVAL_REMOVES_INPUT:
        world_rival_removes(w, ROOT "/dt=1/b.parquet");
        break;
    case RIVAL_CHANGES_OTHER:
        world_rival_changes(w, ROOT "/dt=1/big.parquet");
        break;
    case RIVAL_REMOVES_OTHER:
        world_rival_removes(w, ROOT "/dt=1/big.parquet");
        break;
    case RIVAL_ADDS_DIRECTORY:
        if (tn_store_make_dirs(w->cx, w->memory, TN_STR(ROOT "/dt=1/late=1")) != TARN_OK)
            abort();
        world_put_rows(w, TN_STR(ROOT "/dt=1/late=1/x.parquet"), 1);
        if (tn_store_sync_dir(w->cx, w->memory, TN_STR(ROOT "/dt=1")) != TARN_OK)
            abort();
        break;
    case RIVAL_BOTH:
        world_rival_changes(w, ROOT "/dt=1/b.parquet");
        break;
    case RIVAL_COUNT:
        break;
    }
}

#endif
