#include "table/dir.h"

#include "io/store_memory.h"
#include "unit/test.h"

typedef struct tree {
    tarn_cx *cx;
    tn_store *store;
    tn_buf parquet; /* the bytes of a good file */
} tree;

static tree tree_open(int64_t (*now_ms)(void *))
{
    tarn_cx_options options = {.jobs = 3, .now_ms = now_ms};
    tree t = {.cx = tarn_cx_open(&options)};
    FILE *file = fopen(TARN_SOURCE_DIR "/tests/golden/parquet/flat_plain_v1.parquet", "rb");
    uint8_t bytes[65536];
    size_t n;

    assert_non_null(file);
    while ((n = fread(bytes, 1, sizeof bytes, file)) != 0)
        tn_buf_add(&t.parquet, bytes, n);
    fclose(file);
    assert_ok(t.cx, tn_store_memory_open(t.cx, &t.store));
    return t;
}

static void tree_close(tree *t)
{
    tn_buf_clear(&t->parquet);
    tn_store_close(t->store);
    tarn_cx_close(t->cx);
}

static void put(tree *t, const char *path, tn_str bytes)
{
    assert_ok(t->cx, tn_store_make_dirs(t->cx, t->store, tn_path_parent(tn_str_of(path))));
    assert_ok(t->cx, tn_store_put(t->cx, t->store, tn_str_of(path), bytes));
}

static void put_good(tree *t, const char *path)
{
    put(t, path, tn_buf_view(&t->parquet));
}

static const tn_dir_partition *find(const tn_dir *dir, const char *path)
{
    for (size_t i = 0; i < dir->partition_count; i++)
        if (tn_str_is(dir->partitions[i].path, path))
            return &dir->partitions[i];
    return NULL;
}

static void test_dir__finds_files_by_magic(void **state)
{
    tree t = tree_open(NULL);
    tn_dir dir = {0};
    const tn_dir_partition *p;

    (void)state;
    put_good(&t, "/t/p=1/a.parquet");
    put_good(&t, "/t/p=1/000000_0");
    put_good(&t, "/t/p=1/x_00001.c000.snappy.parquet");
    put(&t, "/t/p=1/empty.parquet", TN_STR(""));
    put(&t, "/t/p=1/csv.parquet", TN_STR("a,b\n1,2\n3,4\n5,6\n"));
    put(&t, "/t/p=1/cut", (tn_str){(char *)t.parquet.data, 200});
    put(&t, "/t/p=1/notes.txt", TN_STR("a text that is long enough"));
    put(&t, "/t/p=1/secret", TN_STR("PARE and so on .... PARE"));
    put_good(&t, "/t/p=1/_hidden.parquet");
    put_good(&t, "/t/p=1/y.parquet._COPYING_");
    put(&t, "/t/p=1/.a.parquet.crc", TN_STR("x"));
    put_good(&t, "/t/_year=1/a.parquet");
    put_good(&t, "/t/_tmp/a.parquet");
    assert_ok(t.cx, tn_dir_load(t.cx, t.store, TN_STR("/t"), NULL, &dir));
    assert_int_equal(dir.schema_count, 1);
    assert_null(find(&dir, "_tmp"));
    assert_non_null(find(&dir, "_year=1"));
    p = find(&dir, "p=1");
    assert_non_null(p);
    {
        static const struct {
            const char *name;
            enum tn_file_state state;
        } want[] = {{"000000_0", TN_FILE_GOOD},
                    {"a.parquet", TN_FILE_GOOD},
                    {"csv.parquet", TN_FILE_DAMAGED},
                    {"cut", TN_FILE_DAMAGED},
                    {"empty.parquet", TN_FILE_DAMAGED},
                    {"secret", TN_FILE_ENCRYPTED},
                    {"x_00001.c000.snappy.parquet", TN_FILE_BUCKETED}};

        assert_int_equal(p->file_count, sizeof want / sizeof want[0]);
        for (size_t i = 0; i < p->file_count; i++) {
            assert_true(tn_str_is(p->files[i].name, want[i].name));
            assert_int_equal(p->files[i].state, want[i].state);
            assert_int_equal(p->files[i].problem.len != 0, want[i].state == TN_FILE_DAMAGED ||
                                                               want[i].state == TN_FILE_ENCRYPTED);
        }
    }
    assert_true(p->files[1].has_crc_file);
    assert_false(p->files[0].has_crc_file);
    assert_int_equal(p->other_count, 4);
    assert_true(p->files[1].rows > 0 && p->files[1].footer_seen);
    tn_dir_clear(&dir);
    tree_close(&t);
}

static void test_dir__takes_partitions_by_prefix(void **state)
{
    static const tn_str wanted[] = {{"dt=a", 4}, {"dt=b/h=2/", 9}, {"city=K\xc3\xb6ln", 10}};
    tn_dir_options options = {.partitions = wanted, .partition_count = 3};
    tree t = tree_open(NULL);
    tn_dir dir = {0};

    (void)state;
    put_good(&t, "/t/dt=a/h=1/f");
    put_good(&t, "/t/dt=a/h=2/f");
    put_good(&t, "/t/dt=ab/f");
    put_good(&t, "/t/dt=b/h=1/f");
    put_good(&t, "/t/dt=b/h=2/f");
    put_good(&t, "/t/city=K%C3%B6ln/f");
    put_good(&t, "/t/f");
    assert_ok(t.cx, tn_dir_load(t.cx, t.store, TN_STR("/t"), &options, &dir));
    assert_int_equal(dir.partition_count, 4);
    assert_true(tn_str_is(dir.partitions[0].path, "city=K%C3%B6ln"));
    assert_true(tn_str_is(dir.partitions[1].path, "dt=a/h=1"));
    assert_true(tn_str_is(dir.partitions[2].path, "dt=a/h=2"));
    assert_true(tn_str_is(dir.partitions[3].path, "dt=b/h=2"));
    tn_dir_clear(&dir);
    options.partitions = (tn_str[]){{"dt=a", 4}, {"dt=z", 4}};
    options.partition_count = 2;
    assert_fails(t.cx, TARN_E_NOTFOUND, "dt=z",
                 tn_dir_load(t.cx, t.store, TN_STR("/t"), &options, &dir));
    options.partitions = &(tn_str){"dt=z", 4};
    options.partition_count = 1;
    assert_fails(t.cx, TARN_E_NOTFOUND, "dt=z",
                 tn_dir_load(t.cx, t.store, TN_STR("/t"), &options, &dir));
    tree_close(&t);
}

static void test_dir__refuses_tables_of_other_kinds_for_writing(void **state)
{
    static const struct {
        const char *file, *root, *word; /* word NULL: not refused */
    } cases[] = {
        {"/t/_delta_log/0.json", "/t", "Delta"},
        {"/t/a/b/_delta_log/0.json", "/t", "Delta"},
        {"/t/_delta_log/0.json", "/t/p=1", "Delta"},
        {"/t/metadata/v1.metadata.json", "/t", "Iceberg"},
        {"/t/metadata/v1.metadata.json", "/t/p=1", "Iceberg"},
        {"/t/.hoodie/hoodie.properties", "/t", "Hudi"},
        {"/t/.hoodie/hoodie.properties", "/t/p=1", "Hudi"},
        {"/t/p=1/.hoodie_partition_metadata", "/t", "Hudi"},
        {"/t/p=1/base_0000001/f", "/t", "Hive"},
        {"/t/delta_0000001_0000002_0001/f", "/t", "Hive"},
        {"/t/delete_delta_0000001_0000002/f", "/t", "Hive"},
        {"/t/base_0000001_v0000002/f", "/t", "Hive"},
        {"/t/base_camp/f", "/t", NULL},
        {"/t/delta_blues/f", "/t", NULL},
        {"/t/delta_1/f", "/t", NULL},
        {"/t/metadata/notes", "/t", NULL},
    };
    tn_dir_options options = {.for_write = true};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tree t = tree_open(NULL);
        tn_dir dir = {0};

        put_good(&t, "/t/p=1/f");
        put(&t, cases[i].file, TN_STR("x"));
        if (cases[i].word != NULL)
            assert_fails(t.cx, TARN_E_UNSUPPORTED, cases[i].word,
                         tn_dir_load(t.cx, t.store, tn_str_of(cases[i].root), &options, &dir));
        else
            assert_ok(t.cx, tn_dir_load(t.cx, t.store, tn_str_of(cases[i].root), &options, &dir));
        tn_dir_clear(&dir);
        assert_ok(t.cx, tn_dir_load(t.cx, t.store, tn_str_of(cases[i].root), NULL, &dir));
        tn_dir_clear(&dir);
        tree_close(&t);
    }
}

static void test_dir__names(void **state)
{
    static const struct {
        const char *name;
        bool hidden, bucketed, busy;
    } cases[] = {
        {"part-0.parquet", false, false, false},
        {"_SUCCESS", true, false, false},
        {"_year=2020", false, false, false},
        {".part.crc", true, false, false},
        {".x=1", true, false, false},
        {"x.parquet._COPYING_", true, false, true},
        {"_temporary", true, false, true},
        {".hive-staging_hive_1", true, false, true},
        {".spark-staging-1", true, false, true},
        {"part-00000-u_00003.c000.snappy.parquet", false, true, false},
        {"part_00003.c00.parquet", false, false, false},
        {"data_1.parquet", false, false, false},
        {"000000_0", false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_str name = tn_str_of(cases[i].name);

        assert_int_equal(tn_dir_hidden_name(name), cases[i].hidden);
        assert_int_equal(tn_dir_bucketed_name(name), cases[i].bucketed);
        assert_int_equal(tn_dir_busy_name(name), cases[i].busy);
    }
}

static void test_dir__clear_statuses_for_what_is_no_directory(void **state)
{
    tree t = tree_open(NULL);
    tn_dir dir = {0};

    (void)state;
    put_good(&t, "/t/f");
    assert_fails(t.cx, TARN_E_NOTFOUND, "/none",
                 tn_dir_load(t.cx, t.store, TN_STR("/none"), NULL, &dir));
    assert_fails(t.cx, TARN_E_INVALID, "not a directory",
                 tn_dir_load(t.cx, t.store, TN_STR("/t/f"), NULL, &dir));
    assert_null(dir.partitions);
    tree_close(&t);
}

static void test_dir__a_probe_leaves_nothing(void **state)
{
    tn_dir_options options = {.for_write = true, .probe = true};
    tree t = tree_open(NULL);
    tn_arena arena = {0};
    tn_dir dir = {0};
    tn_entry *entries;
    size_t count;

    (void)state;
    put_good(&t, "/a/t/f");
    assert_ok(t.cx, tn_dir_load(t.cx, t.store, TN_STR("/a/t"), &options, &dir));
    assert_true(tn_str_is(dir.work, "/a/.t.tarn"));
    assert_false(dir.work_inside);
    assert_true(dir.exchange);
    assert_ok(t.cx, tn_store_list(t.cx, t.store, TN_STR("/a"), &arena, &entries, &count));
    assert_int_equal(count, 1);
    tn_dir_clear(&dir);
    tn_arena_clear(&arena);
    tree_close(&t);
}

static void test_dir__counts_what_is_hidden_when_asked(void **state)
{
    tree t = tree_open(NULL);
    tn_dir_options options = {.count_hidden = true};
    tn_dir dir = {0};

    (void)state;
    put_good(&t, "/t/dt=1/a.parquet");
    put(&t, "/t/dt=1/_SUCCESS", TN_STR(""));
    put(&t, "/t/dt=1/_tmp/x", TN_STR("12345"));
    put(&t, "/t/dt=1/_tmp/deep/.y", TN_STR("123"));
    put(&t, "/t/dt=1/.tarn/staging", TN_STR("not Hive's"));
    put_good(&t, "/t/dt=2/a.parquet");
    assert_ok(t.cx, tn_dir_load(t.cx, t.store, TN_STR("/t"), &options, &dir));
    assert_int_equal(find(&dir, "dt=1")->hidden_files, 2);
    assert_int_equal(find(&dir, "dt=1")->hidden_bytes, 8);
    assert_false(find(&dir, "dt=1")->hidden_unknown);
    assert_int_equal(find(&dir, "dt=2")->hidden_files, 0);
    tn_dir_clear(&dir);
    options.count_hidden = false;
    assert_ok(t.cx, tn_dir_load(t.cx, t.store, TN_STR("/t"), &options, &dir));
    assert_int_equal(find(&dir, "dt=1")->hidden_files, 0);
    tn_dir_clear(&dir);
    tree_close(&t);
}
