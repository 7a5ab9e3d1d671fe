/* Merges of real files by joining chunks, under failures, crashes and short memory: readers see the
 * old or the new files, and in both the same values in the same order. TARN_FULL=1 sweeps every
 * call; otherwise some. */
#include "unit/test.h"

#include "codec/parquet/leaf_read.h"
#include "commit/commit_dir.h"
#include "exec/exec.h"
#include "exec/rewrite_hash.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "plan/plan_merge.h"
#include "table/dir.h"
#include "unit/alloc.h"

#define ROOT "/lake/t"

typedef struct lake {
    tarn_cx *cx;
    tn_store *memory; /* what is really there */
    tn_store *store;  /* what the run under test uses */
    uint64_t before;  /* hash of all rows in their order */
    const char *id;
    uint64_t joined; /* input chunks that a run did not encode */
} lake;

static bool full(void)
{
    const char *text = getenv("TARN_FULL");

    return text != NULL && *text != '\0' && *text != '0';
}

static void put_golden(lake *l, const char *name, const char *path)
{
    char source[512];
    uint8_t bytes[65536];
    tn_buf all = {0};
    FILE *file;
    size_t n;

    snprintf(source, sizeof source, TARN_SOURCE_DIR "/tests/golden/parquet/%s", name);
    file = fopen(source, "rb");
    assert_non_null(file);
    while ((n = fread(bytes, 1, sizeof bytes, file)) != 0)
        tn_buf_add(&all, bytes, n);
    fclose(file);
    assert_ok(l->cx, tn_store_put(l->cx, l->memory, tn_str_of(path), tn_buf_view(&all)));
    tn_buf_clear(&all);
}

static void hash_chunk(lake *l, const tn_parquet *file, size_t group, size_t leaf,
                       tn_leaf_hash *hash)
{
    const tn_leaf_read_options options = {0};
    tn_file *bytes;
    tn_source source;
    tn_leaf_reader *reader = NULL;
    tn_leaf_batch batch;

    assert_ok(l->cx, tn_store_open_file(l->cx, l->memory, file->path, &bytes));
    source = tn_source_file(bytes, 1u << 20);
    assert_ok(l->cx, tn_leaf_reader_open(l->cx, file, group, leaf, &source, &options, &reader));
    do {
        assert_ok(l->cx, tn_leaf_reader_next(l->cx, reader, INT32_MAX, &batch));
        if (batch.rows != 0)
            assert_ok(l->cx, tn_leaf_hash_add(l->cx, hash, &file->schema.leaves[leaf], &batch));
    } while (batch.rows != 0);
    tn_leaf_reader_close(reader);
    tn_source_clear(&source);
    tn_store_close_file(bytes);
}

/* All that a reader sees of the directory, in the order of names. */
static uint64_t read_all(lake *l, size_t *file_count)
{
    tn_leaf_hash hashes[64] = {0};
    tn_arena arena = {0};
    tn_entry *entries;
    size_t count, leaves = 0;
    uint64_t all = 0;

    *file_count = 0;
    assert_ok(l->cx, tn_store_list(l->cx, l->memory, TN_STR(ROOT), &arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        tn_parquet file = {0};
        tn_str path;

        if (!tn_str_ends(entries[i].name, TN_STR(".parquet")))
            continue;
        assert_ok(l->cx, tn_path_join(l->cx, &arena, TN_STR(ROOT), entries[i].name, &path));
        assert_ok(l->cx, tn_parquet_open(l->cx, l->memory, path, &file));
        assert_true(file.schema.leaf_count < 64);
        for (size_t leaf = 0; leaf < file.schema.leaf_count; leaf++) {
            if (*file_count == 0)
                assert_ok(l->cx, tn_leaf_hash_init(l->cx, &hashes[leaf]));
            for (size_t g = 0; g < file.footer.group_count; g++)
                hash_chunk(l, &file, g, leaf, &hashes[leaf]);
        }
        leaves = file.schema.leaf_count;
        (*file_count)++;
        tn_parquet_close(&file);
    }
    for (size_t leaf = 0; leaf < leaves; leaf++) {
        all = tn_leaf_hash_fold(all, leaf, tn_leaf_hash_value(&hashes[leaf]));
        tn_leaf_hash_clear(&hashes[leaf]);
    }
    tn_arena_clear(&arena);
    return all;
}

static int64_t clock_of(void *arg)
{
    (void)arg;
    return 1800000000000;
}

static void lake_open(lake *l, const char *const *names)
{
    size_t files;

    *l = (lake){.id = "1"};
    l->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = clock_of, .seed = 7});
    assert_ok(l->cx, tn_store_memory_open(l->cx, &l->memory));
    l->store = l->memory;
    assert_ok(l->cx, tn_store_make_dirs(l->cx, l->memory, TN_STR(ROOT)));
    for (int i = 0; names[i] != NULL; i++) {
        char path[64];

        snprintf(path, sizeof path, ROOT "/%c.parquet", 'a' + i);
        put_golden(l, names[i], path);
    }
    assert_ok(l->cx, tn_store_sync_dir(l->cx, l->memory, TN_STR("/lake")));
    l->before = read_all(l, &files);
    assert_true(files > 1);
}

static void lake_close(lake *l)
{
    tn_store_close(l->memory);
    tarn_cx_close(l->cx);
}

static int merge_planned(lake *l, const tn_merge_plan *plan, tn_arena *arena)
{
    tarn_cx *cx = l->cx;
    tn_dir_commit *commit = NULL;
    tn_partition_report report;
    int rc;

    TN_TRY(tn_dir_commit_open(cx, l->store, plan, &commit));
    for (size_t p = 0; p < plan->partition_count; p++) {
        tn_result result;

        assert_int_equal(plan->partitions[p].output_count, 1);
        TN_TRY(tn_exec_task(cx, l->store, &plan->tasks[p], NULL, NULL, arena, &result));
        for (size_t leaf = 0; leaf < result.leaf_count; leaf++)
            for (int way = 0; way < TN_WAY_ENCODE; way++)
                l->joined += result.leaves[leaf].chunks[way];
        TN_TRY(tn_dir_commit_partition(cx, commit, p, &result, 1, arena, &report));
    }
    TN_TRY(tn_dir_commit_finish(cx, commit));
done:
    tn_dir_commit_close(commit);
    return rc;
}

/* Snapshot, plan, exec and commit, as the engine does it. Faults begin with exec: a file that
 * cannot be read for the plan is left out of the merge, and then stands before its rows. */
static int merge(lake *l)
{
    tarn_cx *cx = l->cx;
    tn_merge_options options = {.id = tn_str_of(l->id),
                                .now_ms = 1800000000000,
                                .codec = TN_CODEC_KEEP,
                                .verify_content = true};
    tn_arena arena = {0};
    tn_dir dir = {0};
    tn_merge_plan plan;
    int rc;

    TN_TRY(tn_dir_load(cx, l->memory, TN_STR(ROOT), NULL, &dir));
    TN_TRY(tn_plan_merge(cx, &dir, &options, &arena, &plan));
    if (plan.partition_count != 0)
        TN_TRY(merge_planned(l, &plan, &arena));
done:
    tn_dir_clear(&dir);
    tn_arena_clear(&arena);
    return rc;
}

/* What readers see after a run that may have failed; then a recovery, and a run that does it. */
static void check(lake *l, const char *label)
{
    tn_recovery recovery;
    size_t files;

    if (read_all(l, &files) != l->before)
        fail_msg("%s: a third state, in %zu files", label, files);
    assert_ok(l->cx, tn_dir_recover(l->cx, l->memory, TN_STR(ROOT), &recovery));
    tn_recovery_clear(&recovery);
    l->store = l->memory;
    l->id = "2";
    if (merge(l) != TARN_OK)
        fail_msg("%s: the next run: %s", label, tarn_cx_error(l->cx));
    if (read_all(l, &files) != l->before || files != 1)
        fail_msg("%s: after the next run, in %zu files", label, files);
}

static const char *const lakes[][5] = {
    {"flat_dictionary_v1_snappy.parquet", "flat_plain_v1.parquet", "flat_delta_v2_zstd.parquet",
     "flat_dictionary_v1_snappy.parquet", NULL},
    {"nested_dictionary_v2_zstd.parquet", "nested_dictionary_v2_zstd.parquet",
     "nested_dictionary_v2_zstd.parquet", NULL}};

#define LAKES (sizeof lakes / sizeof lakes[0])

static uint64_t count_calls(size_t which)
{
    lake l;
    tn_store *fault;
    size_t files;
    uint64_t calls;

    lake_open(&l, lakes[which]);
    assert_ok(l.cx, tn_store_fault_open(l.cx, l.memory, &(tn_fault_plan){0}, &fault));
    l.store = fault;
    assert_ok(l.cx, merge(&l));
    calls = tn_store_fault_calls(fault);
    tn_store_close(fault);
    assert_true(read_all(&l, &files) == l.before);
    assert_int_equal(files, 1);
    assert_true(l.joined > 0);
    lake_close(&l);
    return calls;
}

static void fault_once(size_t which, const tn_fault_plan *plan, uint64_t seed)
{
    lake l;
    tn_store *fault;
    char label[100];
    int rc;

    snprintf(label, sizeof label, "lake %zu, fail %d, crash %d%s, seed %d", which,
             (int)plan->fail_at, (int)plan->crash_at, plan->crash_after ? " after" : "", (int)seed);
    lake_open(&l, lakes[which]);
    assert_ok(l.cx, tn_store_fault_open(l.cx, l.memory, plan, &fault));
    l.store = fault;
    rc = merge(&l);
    if (rc != TARN_OK)
        assert_true(tarn_cx_error(l.cx)[0] != '\0');
    tn_store_close(fault);
    if (plan->crash_at != 0)
        tn_store_memory_crash(l.memory, seed);
    check(&l, label);
    lake_close(&l);
}

static void test_join__each_failing_call_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (size_t which = 0; which < LAKES; which++) {
        uint64_t total = count_calls(which), step = full() ? 1 : 5;

        for (uint64_t n = 1 + which; n <= total; n += step)
            fault_once(which, &(tn_fault_plan){.fail_at = n}, 0);
    }
}

static void test_join__a_crash_at_any_call_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    for (size_t which = 0; which < LAKES; which++) {
        uint64_t total = count_calls(which), step = full() ? 1 : 7;

        for (uint64_t n = 1 + which; n <= total; n += step)
            fault_once(which, &(tn_fault_plan){.crash_at = n, .crash_after = n % 2 == 0}, n);
    }
}

static void test_join__each_failing_allocation_has_a_status(void **state)
{
    (void)state;
    for (size_t which = 0; which < LAKES; which++) {
        size_t total = 0, step = 1;

        for (size_t n = 0; n <= total; n += n == 0 ? 1 : step) {
            lake l;
            char label[60];
            int rc;

            lake_open(&l, lakes[which]);
            alloc_watch(n);
            rc = merge(&l);
            if (n == 0) {
                total = alloc_unwatch();
                step = full() ? total / 400 + 1 : total / 25 + 1;
                assert_ok(l.cx, rc);
            } else {
                alloc_unwatch();
            }
            if (rc != TARN_OK)
                assert_true(tarn_cx_error(l.cx)[0] != '\0');
            snprintf(label, sizeof label, "lake %zu, allocation %zu", which, n);
            check(&l, label);
            lake_close(&l);
        }
    }
}
