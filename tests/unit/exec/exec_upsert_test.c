#include "exec/exec_upsert.h"

#include "unit/exec/base_rows.h"

#define INSTANT "20260101000000001"
#define LATER   "20260101000000002"
#define UUID(d) "0000000" d "-0000-0000-0000-000000000000-0"

enum { PARTITIONS = 3 };

typedef struct world {
    tarn_cx *cx;
    tn_store *memory;
    tn_arena arena;
    struct ArrowSchema schema;
    tn_base_job job;
    tn_incoming *in;
    tn_upsert_partition partitions[PARTITIONS];
    tn_bucket buckets[8];
    uint32_t inserts[8];
    tn_upsert_plan plan;
    tn_upsert_made made;
} world;

static const char *const paths[PARTITIONS] = {"p=0", "p=1", "p=2"};

static int mark(tarn_cx *cx, void *arg, tn_str partition, tn_str name, bool merge)
{
    world *w = arg;
    char dir[64];

    (void)name;
    (void)merge;
    snprintf(dir, sizeof dir, "/t/%.*s", TN_STR_ARG(partition));
    return tn_store_make_dirs(cx, w->memory, tn_str_of(dir));
}

static void world_open(world *w, unsigned jobs)
{
    tn_incoming_options options = {.staging = TN_STR("/t/staging"), .key_column = 2};

    *w = (world){0};
    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = jobs});
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->memory));
    base_schema(w->cx, &w->schema);
    w->job = (tn_base_job){.store = w->memory,
                           .root = TN_STR("/t"),
                           .instant = TN_STR(INSTANT),
                           .schema = &w->schema,
                           .avro_schema = TN_STR("{}"),
                           .meta_fields = true,
                           .filter_kind = TN_KEY_FILTER_DYNAMIC,
                           .filter_fpp = 1e-9,
                           .filter_keys_max = 100000,
                           .codec = TN_CODEC_NONE,
                           .group_bytes = 64 << 10,
                           .merge_mode = TN_MERGE_COMMIT_TIME,
                           .mark = mark,
                           .mark_arg = w};
    w->plan = (tn_upsert_plan){.partitions = w->partitions,
                               .buckets = w->buckets,
                               .insert_buckets = w->inserts,
                               .record_bytes = 100};
    assert_ok(w->cx, tn_incoming_open(w->cx, w->memory, &w->schema, &options, &w->in));
}

static void world_close(world *w)
{
    tn_incoming_close(w->cx, w->in);
    tn_field_release(&w->schema);
    tn_arena_clear(&w->arena);
    tn_store_close(w->memory);
    tarn_cx_close(w->cx);
}

/* Rows [first, first + count) of a version into one partition. */
static void add(world *w, int64_t first, int64_t count, int64_t version, uint32_t partition,
                const uint8_t *deletes)
{
    base_row *rows = calloc((size_t)count, sizeof *rows);
    uint32_t *numbers = calloc((size_t)count, sizeof *numbers);
    struct ArrowArray batch = {0};

    for (int64_t i = 0; i < count; i++) {
        rows[i] = (base_row){first + i, version, 1, NULL};
        numbers[i] = partition;
    }
    base_batch(w->cx, rows, count, paths[partition], &batch);
    assert_ok(w->cx, tn_incoming_add(w->cx, w->in, &batch, numbers, deletes));
    free(rows);
    free(numbers);
}

/* The next partition, with these buckets, all of which take inserts unless the plan is exact and
 * they plan none. */
static void plan_partition(world *w, const tn_bucket *buckets, size_t count)
{
    size_t p = w->plan.partition_count++, first = w->plan.bucket_count;
    tn_upsert_partition *partition = &w->partitions[p];

    *partition = (tn_upsert_partition){.path = tn_str_of(paths[p]),
                                       .number = (uint32_t)p,
                                       .first_bucket = first,
                                       .bucket_count = count,
                                       .first_insert = first};
    for (size_t i = 0; i < count; i++) {
        w->buckets[first + i] = buckets[i];
        w->buckets[first + i].partition = (uint32_t)p;
        partition->inserts += buckets[i].inserts;
        w->inserts[first + i] = (uint32_t)(first + i);
    }
    partition->insert_bucket_count = count;
    w->plan.bucket_count += count;
}

static void run(world *w)
{
    tn_place_options place = {.plan = &w->plan};

    assert_ok(w->cx, tn_incoming_place(w->cx, w->in, &place));
    assert_ok(w->cx, tn_exec_upsert(w->cx, &w->job, &w->plan, w->in, &w->arena, &w->made));
}

/* Keys of a file, in order; checks its rows. */
static int64_t *read_file(world *w, const tn_write_stat *stat, const char *commit, int64_t *count)
{
    tn_parquet_scan_options options = {0};
    struct ArrowArray batch;
    tn_parquet_scan *scan;
    tn_parquet file;
    char path[256];
    int64_t *keys, first, at = 0;

    snprintf(path, sizeof path, "/t/%.*s", TN_STR_ARG(stat->path));
    assert_ok(w->cx, tn_parquet_open(w->cx, w->memory, tn_str_of(path), &file));
    assert_int_equal(file.size_bytes, stat->bytes);
    assert_int_equal(file.footer.rows, stat->writes);
    keys = calloc((size_t)stat->writes + 1, sizeof *keys);
    assert_ok(w->cx, tn_parquet_scan_open(w->cx, &file, &options, &scan));
    for (;;) {
        assert_ok(w->cx, tn_parquet_scan_next(w->cx, scan, &batch, &first));
        if (batch.length == 0)
            break;
        for (int64_t i = 0; i < batch.length; i++) {
            keys[at++] = ((const int64_t *)batch.children[BASE_ID]->buffers[1])[i];
            if (commit != NULL)
                base_same_text(batch.children[0], i, commit);
        }
        tn_array_release(&batch);
    }
    tn_array_release(&batch);
    tn_parquet_scan_close(scan);
    tn_parquet_close(&file);
    *count = at;
    return keys;
}

/* The files of a partition hold exactly these keys, in order. */
static void check_keys(world *w, size_t partition, int64_t first, int64_t want)
{
    int64_t next = first, count;

    for (size_t i = 0; i < w->made.stat_count; i++) {
        int64_t *keys;

        if (!tn_str_is(w->made.stats[i].partition, paths[partition]))
            continue;
        keys = read_file(w, &w->made.stats[i], NULL, &count);
        for (int64_t k = 0; k < count; k++)
            assert_int_equal(keys[k], next++);
        free(keys);
    }
    assert_int_equal(next - first, want);
}

/* New files of real size, though rows get ten times wider, or narrower, half way. */
static void test_exec_upsert__files_meet_the_target(void **state)
{
    enum { TARGET = 256 << 10 };
    static const int64_t versions[][2] = {{1, BASE_WIDE}, {BASE_WIDE, 1}, {1, 1}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        tn_bucket bucket = {.file_id = TN_STR(UUID("1")), .inserts = 9000, .target_bytes = TARGET};
        world w;

        world_open(&w, 1);
        w.job.group_bytes = 32 << 10;
        for (int64_t at = 0; at < 9000; at += 3000)
            add(&w, at, 3000, versions[i][at >= 4500], 0, NULL);
        plan_partition(&w, &bucket, 1);
        run(&w);
        assert_true(w.made.stat_count >= 2);
        assert_int_equal(w.made.inserted, 9000);
        for (size_t f = 0; f < w.made.stat_count; f++) {
            char id[64];

            snprintf(id, sizeof id, "00000001-0000-0000-0000-000000000000-%zu", f);
            assert_true(tn_str_is(w.made.stats[f].file_id, id));
            assert_int_equal(w.made.stats[f].prev_instant.len, 0);
            if (f + 1 < w.made.stat_count)
                assert_in_range(w.made.stats[f].bytes, TARGET * 85 / 100, TARGET * 115 / 100);
            else
                assert_true(w.made.stats[f].bytes <= TARGET * 115 / 100);
        }
        check_keys(&w, 0, 0, 9000);
        world_close(&w);
    }
}

static tn_base_file base_of(world *w, const tn_write_stat *stat, uint32_t partition)
{
    tn_base_file file = {.partition = partition,
                         .partition_path = stat->partition,
                         .file_id = stat->file_id,
                         .instant = TN_STR(INSTANT),
                         .size_bytes = stat->bytes,
                         .rows = stat->writes};

    assert_ok(w->cx,
              tn_arena_print(w->cx, &w->arena, &file.path, "/t/%.*s", TN_STR_ARG(stat->path)));
    file.name = tn_path_name(file.path);
    return file;
}

/* Starts another write after the one that was made. */
static void again(world *w)
{
    tn_incoming_options options = {.staging = TN_STR("/t/staging"), .key_column = 2};

    tn_incoming_close(w->cx, w->in);
    w->in = NULL;
    w->job.instant = TN_STR(LATER);
    w->plan.partition_count = w->plan.bucket_count = 0;
    assert_ok(w->cx, tn_incoming_open(w->cx, w->memory, &w->schema, &options, &w->in));
}

/* Inserts fill a small file up to the target first, the rest becomes a new one. */
static void test_exec_upsert__small_files_are_filled(void **state)
{
    enum { TARGET = 256 << 10 };
    tn_bucket first = {.file_id = TN_STR(UUID("1")), .inserts = 500, .target_bytes = TARGET};
    tn_bucket both[] = {{.inserts = 1000, .target_bytes = TARGET},
                        {.file_id = TN_STR(UUID("2")), .inserts = 1, .target_bytes = TARGET}};
    tn_base_file base;
    world w;

    (void)state;
    world_open(&w, 1);
    add(&w, 0, 500, 1, 0, NULL);
    plan_partition(&w, &first, 1);
    run(&w);
    assert_int_equal(w.made.stat_count, 1);
    base = base_of(&w, &w.made.stats[0], 0);
    both[0].base = &base;
    again(&w);
    add(&w, 500, 6000, 1, 0, NULL);
    plan_partition(&w, both, 2);
    run(&w);
    assert_true(w.made.stat_count >= 2);
    assert_true(tn_str_is(w.made.stats[0].file_id, UUID("1")));
    assert_true(tn_str_is(w.made.stats[0].prev_instant, INSTANT));
    assert_true(tn_str_is(w.made.stats[1].file_id, UUID("2")));
    assert_in_range(w.made.stats[0].bytes, TARGET * 85 / 100, TARGET * 115 / 100);
    assert_int_equal(w.made.inserted, 6000);
    assert_int_equal(w.made.updated, 0);
    check_keys(&w, 0, 0, 6500);
    world_close(&w);
}

/* Rows that no bucket of the plan has room for get a file of their own. */
static void test_exec_upsert__no_row_is_left(void **state)
{
    enum { TARGET = 128 << 10 };
    tn_bucket bucket = {.file_id = TN_STR(UUID("1")), .inserts = 500, .target_bytes = TARGET};
    tn_base_file base;
    world w;

    (void)state;
    world_open(&w, 1);
    add(&w, 0, 500, 1, 0, NULL);
    plan_partition(&w, &bucket, 1);
    run(&w);
    base = base_of(&w, &w.made.stats[0], 0);
    bucket.base = &base;
    again(&w);
    add(&w, 500, 4000, 1, 0, NULL);
    plan_partition(&w, &bucket, 1);
    run(&w);
    assert_true(w.made.stat_count >= 2);
    check_keys(&w, 0, 0, 4500);
    world_close(&w);
}

/* Changes and deletes find their rows; three partitions, by one thread and by two: the same. */
static void test_exec_upsert__changes_in_many_partitions(void **state)
{
    uint64_t bytes[2] = {0};

    (void)state;
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        tn_base_file bases[PARTITIONS];
        const tn_base_file *files[PARTITIONS];
        tn_tag_options tag = {.files = files, .file_count = PARTITIONS, .use_filters = true};
        tn_tag_counts tagged;
        uint8_t deletes[100] = {0};
        world w;

        world_open(&w, jobs);
        for (size_t p = 0; p < PARTITIONS; p++) {
            tn_bucket bucket = {.file_id = p == 0   ? TN_STR(UUID("1"))
                                           : p == 1 ? TN_STR(UUID("2"))
                                                    : TN_STR(UUID("3")),
                                .inserts = 1000,
                                .target_bytes = 8 << 20};

            add(&w, (int64_t)p * 1000, 1000, 1, (uint32_t)p, NULL);
            plan_partition(&w, &bucket, 1);
        }
        run(&w);
        assert_int_equal(w.made.stat_count, PARTITIONS);
        for (size_t p = 0; p < PARTITIONS; p++) {
            bases[p] = base_of(&w, &w.made.stats[p], (uint32_t)p);
            files[p] = &bases[p];
        }
        again(&w);
        for (size_t i = 0; i < 100; i++)
            deletes[i] = i % 4 == 0;
        for (size_t p = 0; p < PARTITIONS; p++) {
            tn_bucket bucket = {.base = &bases[p], .updates = 100, .target_bytes = 8 << 20};

            add(&w, (int64_t)p * 1000 + 300, 100, 2, (uint32_t)p, deletes);
            add(&w, 10000 + (int64_t)p * 1000, 50, 2, (uint32_t)p, NULL);
            plan_partition(&w, &bucket, 1);
        }
        assert_ok(w.cx, tn_incoming_tag(w.cx, w.in, &tag, &tagged));
        assert_int_equal(tagged.found, 300);
        run(&w);
        assert_int_equal(w.made.stat_count, PARTITIONS);
        assert_int_equal(w.made.updated, 225);
        assert_int_equal(w.made.deleted, 75);
        assert_int_equal(w.made.inserted, 150);
        for (size_t p = 0; p < PARTITIONS; p++) {
            const tn_write_stat *stat = &w.made.stats[p];

            assert_true(tn_str_is(stat->partition, paths[p]));
            assert_int_equal(stat->writes, 1025);
            assert_int_equal(stat->updates, 75);
            assert_int_equal(stat->deletes, 25);
            assert_int_equal(stat->inserts, 50);
            bytes[jobs - 1] += stat->bytes;
        }
        world_close(&w);
    }
    assert_int_equal(bytes[0], bytes[1]);
}

/* A bucket gets what it is given, however large; one without a row makes no file. */
static void test_exec_upsert__exact_sizing(void **state)
{
    tn_bucket buckets[] = {{.file_id = TN_STR(UUID("1")), .inserts = 750, .until = 0.75},
                           {.file_id = TN_STR(UUID("2")), .inserts = 250, .until = 1}};
    world w;

    (void)state;
    world_open(&w, 2);
    add(&w, 0, 1000, 1, 0, NULL);
    w.plan.exact = true;
    plan_partition(&w, buckets, 2);
    plan_partition(&w, &(tn_bucket){.file_id = TN_STR(UUID("3")), .until = 1}, 1);
    run(&w);
    assert_int_equal(w.made.stat_count, 2);
    assert_int_equal(w.made.stats[0].writes + w.made.stats[1].writes, 1000);
    assert_in_range(w.made.stats[0].writes, 650, 850);
    world_close(&w);
}
