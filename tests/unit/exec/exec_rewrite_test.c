#include "codec/parquet/file.h"
#include "exec/exec.h"
#include "io/store_fault.h"
#include "io/store_memory.h"
#include "plan/plan_merge.h"
#include "unit/test.h"

typedef struct job {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    tn_dir dir;
    tn_merge_plan plan;
} job;

static void put_golden(job *j, const char *name, const char *path)
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
    assert_ok(j->cx, tn_store_make_dirs(j->cx, j->store, tn_path_parent(tn_str_of(path))));
    assert_ok(j->cx, tn_store_put(j->cx, j->store, tn_str_of(path), tn_buf_view(&all)));
    tn_buf_clear(&all);
}

/* A plan over a directory that holds `name` twice. */
static job job_open_within(const char *name, const tn_sort_key *sort, uint64_t memory_bytes,
                           int64_t group_rows)
{
    tarn_cx_options options = {.jobs = 2, .memory_bytes = memory_bytes};
    tn_merge_options merge = {.id = TN_STR("1"),
                              .codec = TN_CODEC_KEEP,
                              .verify_content = true,
                              .sort = sort,
                              .sort_count = sort != NULL,
                              .group_rows = group_rows};
    job j = {.cx = tarn_cx_open(&options)};

    assert_ok(j.cx, tn_store_memory_open(j.cx, &j.store));
    put_golden(&j, name, "/t/a.parquet");
    put_golden(&j, name, "/t/b.parquet");
    assert_ok(j.cx, tn_dir_load(j.cx, j.store, TN_STR("/t"), NULL, &j.dir));
    assert_ok(j.cx, tn_plan_merge(j.cx, &j.dir, &merge, &j.arena, &j.plan));
    assert_int_equal(j.plan.task_count, 1);
    return j;
}

static job job_open(const char *name, const tn_sort_key *sort)
{
    return job_open_within(name, sort, 0, 0);
}

static void job_close(job *j)
{
    tn_dir_clear(&j->dir);
    tn_arena_clear(&j->arena);
    tn_store_close(j->store);
    tarn_cx_close(j->cx);
}

static void check_done(job *j, const tn_result *result)
{
    if (result->status != TARN_OK)
        fail_msg("%.*s", TN_STR_ARG(result->text));
    assert_int_equal(result->rows_in, j->plan.partitions[0].rows);
    assert_int_equal(result->rows_out, result->rows_in);
    assert_true(result->hashed);
    assert_true(result->hash_in == result->hash_out);
    assert_true(result->output_bytes > 0);
}

static void test_exec_rewrite__every_golden_file_doubles(void **state)
{
    static const char *const names[] = {"dictionary_fallback.parquet",
                                        "flat_codecs.parquet",
                                        "flat_delta_v2_zstd.parquet",
                                        "flat_dictionary_v1_snappy.parquet",
                                        "flat_split_v1.parquet",
                                        "flat_index_v1_groups.parquet",
                                        "int96.parquet",
                                        "nested_dictionary_v2_zstd.parquet",
                                        "nested_index_v2.parquet"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        job j = job_open(names[i], NULL);
        tn_result first, second;

        assert_ok(j.cx,
                  tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &first));
        check_done(&j, &first);
        assert_int_equal(first.rows_out, 2 * j.dir.partitions[0].files[0].rows);
        /* A second try replaces the first and comes to the same. */
        assert_ok(j.cx,
                  tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &second));
        check_done(&j, &second);
        assert_int_equal(first.output_bytes, second.output_bytes);
        assert_true(first.hash_out == second.hash_out);
        job_close(&j);
    }
}

static void sweep(const char *name)
{
    job j = job_open(name, NULL);
    uint64_t n = 1;
    bool failed = true;

    for (; failed; n++) {
        tn_fault_plan fault = {.fail_at = n};
        tn_arena arena = {0};
        tn_store *store;
        tn_result result;

        assert_ok(j.cx, tn_store_fault_open(j.cx, j.store, &fault, &store));
        assert_ok(j.cx, tn_exec_task(j.cx, store, &j.plan.tasks[0], NULL, NULL, &arena, &result));
        failed = tn_store_fault_calls(store) >= n;
        if (result.status != TARN_OK)
            assert_true(result.text.len > 0);
        else
            check_done(&j, &result);
        tn_store_close(store);
        tn_arena_clear(&arena);
    }
    assert_true(n > 8);
    {
        tn_result result;

        assert_ok(j.cx,
                  tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &result));
        check_done(&j, &result);
    }
    job_close(&j);
}

static void test_exec_rewrite__fails_with_a_text_at_every_store_call(void **state)
{
    (void)state;
    sweep("nested_index_v2.parquet");
    sweep("flat_dictionary_v1_snappy.parquet");
    sweep("flat_plain_v1.parquet");
}

/* What was done to a leaf in all, chunk by chunk. */
static uint64_t chunks_of(const tn_leaf_done *done, int from)
{
    uint64_t sum = 0;

    for (int way = from; way < TN_WAY_COUNT; way++)
        sum += done->chunks[way];
    return sum;
}

/* The same rows whether chunks are joined or values encoded; and each chunk counts once. */
static void test_exec_rewrite__joined_rows_are_the_decoded_ones(void **state)
{
    static const char *const names[] = {"dictionary_fallback.parquet",
                                        "flat_codecs.parquet",
                                        "flat_delta_v2_zstd.parquet",
                                        "flat_dictionary_v1_snappy.parquet",
                                        "flat_plain_v1.parquet",
                                        "flat_split_v1.parquet",
                                        "flat_index_v1_groups.parquet",
                                        "int96.parquet",
                                        "nested_dictionary_v2_zstd.parquet",
                                        "nested_index_v2.parquet"};
    uint64_t joined = 0;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        job j = job_open(names[i], NULL);
        tn_task_rewrite *task = &j.plan.tasks[0].rewrite;
        uint64_t groups = 0;
        tn_result first, second;

        for (size_t g = 0; g < task->group_count; g++)
            groups += task->groups[g].segment_count;
        assert_ok(j.cx,
                  tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &first));
        check_done(&j, &first);
        assert_int_equal(first.leaf_count, task->leaf_count);
        for (size_t l = 0; l < task->leaf_count; l++) {
            assert_int_equal(task->intents[l].way, TN_WAY_COPY);
            assert_int_equal(chunks_of(&first.leaves[l], 0), groups);
            joined += groups - first.leaves[l].chunks[TN_WAY_ENCODE];
            task->intents[l].way = TN_WAY_ENCODE;
            task->intents[l].why = TN_STR("the test asks for it");
        }
        assert_ok(j.cx,
                  tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &second));
        check_done(&j, &second);
        assert_true(first.hash_out == second.hash_out);
        for (size_t l = 0; l < task->leaf_count; l++) {
            assert_int_equal(second.leaves[l].chunks[TN_WAY_ENCODE], groups);
            assert_int_equal(chunks_of(&second.leaves[l], 0), groups);
            assert_true(tn_str_is(second.leaves[l].why[TN_WAY_ENCODE], "the test asks for it"));
        }
        job_close(&j);
    }
    assert_true(joined > 0);
}

/* A plan that allows no copy gets none: exec goes towards encoding alone. */
static void test_exec_rewrite__no_way_cheaper_than_intended_is_taken(void **state)
{
    (void)state;
    for (int way = 0; way < TN_WAY_COUNT; way++) {
        job j = job_open("flat_plain_v1.parquet", NULL);
        tn_task_rewrite *task = &j.plan.tasks[0].rewrite;
        tn_result result;

        for (size_t l = 0; l < task->leaf_count; l++)
            task->intents[l].way = way;
        assert_ok(j.cx,
                  tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &result));
        check_done(&j, &result);
        for (size_t l = 0; l < task->leaf_count; l++)
            assert_int_equal(chunks_of(&result.leaves[l], way), chunks_of(&result.leaves[l], 0));
        job_close(&j);
    }
}

static void test_exec_rewrite__a_changed_input_is_a_conflict(void **state)
{
    job j = job_open("flat_plain_v1.parquet", NULL);
    tn_result result;

    (void)state;
    put_golden(&j, "int96.parquet", "/t/b.parquet");
    assert_ok(j.cx, tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &result));
    assert_int_equal(result.status, TARN_E_CONFLICT);
    assert_non_null(strstr(result.text.ptr, "/t/b.parquet"));
    job_close(&j);
}

static void test_exec_rewrite__a_task_that_does_not_fit_its_files_is_refused(void **state)
{
    job j = job_open("flat_plain_v1.parquet", NULL);
    tn_task task = j.plan.tasks[0];
    tn_leaf_source *mapping = task.rewrite.mappings[0];
    tn_result result;

    (void)state;
    mapping[0].cast = TN_CAST_INT32_INT64;
    mapping[1].cast = TN_CAST_FLOAT_DOUBLE;
    assert_ok(j.cx, tn_exec_task(j.cx, j.store, &task, NULL, NULL, &j.arena, &result));
    assert_int_not_equal(result.status, TARN_OK);
    mapping[0].cast = mapping[1].cast = TN_CAST_NONE;
    mapping[0].leaf = 5000;
    assert_ok(j.cx, tn_exec_task(j.cx, j.store, &task, NULL, NULL, &j.arena, &result));
    assert_int_equal(result.status, TARN_E_CONFLICT);
    mapping[0].leaf = 0;
    task.rewrite.groups[0].segments[0].rows += 1000;
    assert_ok(j.cx, tn_exec_task(j.cx, j.store, &task, NULL, NULL, &j.arena, &result));
    assert_int_equal(result.status, TARN_E_CONFLICT);
    task.rewrite.groups[0].segments[0].rows -= 1000;
    task.rewrite.output = TN_STR("/t/taken-for-data.parquet");
    assert_ok(j.cx, tn_exec_task(j.cx, j.store, &task, NULL, NULL, &j.arena, &result));
    assert_int_equal(result.status, TARN_E_CORRUPT);
    job_close(&j);
}

static void test_exec_rewrite__sorted_rows_hash_the_same_in_any_order(void **state)
{
    job plain = job_open("flat_plain_v1.parquet", NULL);
    tn_str column = plain.dir.schemas[0].elements[1].name;
    tn_sort_key up = {.column = column}, down = {.column = column, .descending = true};
    job a = job_open("flat_plain_v1.parquet", &up), b = job_open("flat_plain_v1.parquet", &down);
    tn_result first, second;

    (void)state;
    assert_ok(a.cx, tn_exec_task(a.cx, a.store, &a.plan.tasks[0], NULL, NULL, &a.arena, &first));
    check_done(&a, &first);
    assert_ok(b.cx, tn_exec_task(b.cx, b.store, &b.plan.tasks[0], NULL, NULL, &b.arena, &second));
    check_done(&b, &second);
    assert_true(first.hash_out == second.hash_out);
    for (size_t l = 0; l < first.leaf_count; l++) {
        assert_int_equal(first.leaves[l].chunks[TN_WAY_ENCODE], 2);
        assert_true(first.leaves[l].bytes[TN_WAY_ENCODE] > 0);
        assert_true(tn_str_is(first.leaves[l].why[TN_WAY_ENCODE], "rows are sorted"));
    }
    assert_true(first.leaf_count > 0);
    job_close(&a);
    job_close(&b);
    job_close(&plain);
}

/* A little memory makes it read more often, and come to the very same; and much of it, twice. */
static void test_exec_rewrite__sorting_within_any_memory_is_the_same(void **state)
{
    static const char *const names[] = {"flat_dictionary_v1_snappy.parquet",
                                        "nested_dictionary_v2_zstd.parquet"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        job plain = job_open(names[i], NULL);
        tn_sort_key key = {.column =
                               i == 0 ? plain.dir.schemas[0].elements[1].name : TN_STR("st.a"),
                           .descending = true};
        int64_t group_rows = plain.dir.partitions[0].files[0].rows / 3 + 1;
        tn_result first = {0};
        int done = 0, more = 0;

        for (uint64_t memory = 64u << 20; memory >= 16384; memory -= memory / 4) {
            job j = job_open_within(names[i], &key, memory, group_rows);
            tn_result result;

            assert_ok(j.cx,
                      tn_exec_task(j.cx, j.store, &j.plan.tasks[0], NULL, NULL, &j.arena, &result));
            if (result.status != TARN_E_LIMIT) {
                check_done(&j, &result);
                if (done++ == 0) {
                    first = result;
                    assert_true(result.row_groups > 1);
                    assert_true(result.read_bytes <= 2 * j.plan.partitions[0].bytes);
                }
                assert_true(result.hash_out == first.hash_out);
                assert_int_equal(result.output_bytes, first.output_bytes);
                more += result.read_bytes > first.read_bytes;
            }
            job_close(&j);
        }
        assert_true(done > 1);
        assert_true(more > 0);
        job_close(&plain);
    }
}
