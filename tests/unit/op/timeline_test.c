/* Hudi tables looked at: options of the timeline, instants, short of memory. */
#include "unit/alloc.h"
#include "unit/temp_dir.h"

#include <sys/stat.h>

#include "tarn/table.h"
#include "tarn/timeline.h"

static void put(const char *root, const char *name, const char *text)
{
    char path[4096];
    FILE *out;

    snprintf(path, sizeof path, "%s/.hoodie/%s", root, name);
    out = fopen(path, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* A table of version 6 without data: an empty insert, a clean, a commit under way. */
static void make_table(char *root, size_t size)
{
    char path[4096];

    temp_dir_make(root, size);
    snprintf(path, sizeof path, "%s/.hoodie", root);
    assert_int_equal(mkdir(path, 0777), 0);
    put(root, "hoodie.properties",
        "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
        "hoodie.timeline.layout.version=1\nhoodie.table.recordkey.fields=id\n"
        "hoodie.table.timeline.timezone=UTC\n");
    put(root, "20240101000000001.commit",
        "{\"partitionToWriteStats\":{\"\":[{\"fileId\":\"f-0\",\"path\":\"f-0_0-1-2_1.parquet\","
        "\"prevCommit\":\"null\",\"numWrites\":3,\"numInserts\":3,\"partitionPath\":\"\","
        "\"fileSizeInBytes\":7}]},\"operationType\":\"INSERT\",\"extraMetadata\":{\"k\":\"v\"}}");
    put(root, "20240101000000001.commit.requested", "");
    put(root, "20240101000000002.clean.requested", "");
    put(root, "20240101000000003.commit.requested", "");
    put(root, "20240101000000003.inflight", "");
}

static void test_timeline__options(void **state)
{
    static const char *const commits[] = {"commit"}, *const both[] = {"clean", "commit"},
                             *const rollbacks[] = {"rollback"};
    static const struct {
        tarn_timeline_options options;
        const char *want; /* last digits of the instants */
    } cases[] = {
        {{0}, "123"},
        {{.descending = true}, "321"},
        {{.pending = true}, "23"},
        {{.limit = 2}, "23"},
        {{.limit = 2, .descending = true}, "32"},
        {{.limit = 9}, "123"},
        {{.actions = commits, .action_count = 1}, "13"},
        {{.actions = both, .action_count = 2, .limit = 1}, "3"},
        {{.actions = rollbacks, .action_count = 1}, ""},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    char root[64], got[8];

    (void)state;
    make_table(root, sizeof root);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tarn_timeline *timeline = NULL;

        assert_ok(cx, tarn_timeline_open(cx, root, &cases[i].options, &timeline));
        assert_int_equal(timeline->active, 3);
        assert_int_equal(timeline->pending, 2);
        for (size_t k = 0; k < timeline->instant_count; k++) {
            got[k] = timeline->instants[k].time[16];
            assert_null(timeline->instants[k].counts);
        }
        got[timeline->instant_count] = '\0';
        assert_string_equal(got, cases[i].want);
        tarn_timeline_close(timeline);
    }
    temp_dir_remove(root);
    tarn_cx_close(cx);
}

static void test_timeline__instant(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_instant_detail *detail = NULL;
    char root[64];

    (void)state;
    make_table(root, sizeof root);
    assert_ok(cx, tarn_instant_open(cx, root, "20240101000000001", NULL, &detail));
    assert_int_equal(detail->stat_count, 1);
    assert_string_equal(detail->stats[0].file_id, "f-0");
    assert_null(detail->stats[0].previous);
    assert_int_equal(detail->stats[0].bytes, 7);
    assert_int_equal(detail->instant.counts->files_added, 1);
    assert_int_equal(detail->file_count, 2);
    assert_null(detail->files[0].contents);
    assert_non_null(detail->files[1].contents);
    assert_string_equal(detail->extra[0].value, "v");
    tarn_instant_close(detail);
    assert_fails(cx, TARN_E_NOTFOUND, "the newest is 20240101000000003",
                 tarn_instant_open(cx, root, "20240101000000009", NULL, &detail));
    assert_fails(cx, TARN_E_INVALID, "several instants begin so",
                 tarn_instant_open(cx, root, "2024", NULL, &detail));
    assert_ok(cx, tarn_instant_open(cx, root, "2024", "clean", &detail));
    tarn_instant_close(detail);
    temp_dir_remove(root);
    tarn_cx_close(cx);
}

/* The same with a data file: a golden one under a name of Hudi's. */
static void add_data(const char *root)
{
    static const char golden[] =
        TARN_SOURCE_DIR "/tests/golden/parquet/flat_index_v1_groups.parquet";
    char path[4096], bytes[16384];
    FILE *in = fopen(golden, "rb"), *out;
    size_t n;

    assert_non_null(in);
    n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    assert_true(n > 0 && n < sizeof bytes);
    snprintf(path, sizeof path, "%s/f-0_0-1-2_20240101000000001.parquet", root);
    out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    put(root, "../.hoodie_partition_metadata", "commitTime=20240101000000001\npartitionDepth=0\n");
    put(root, "20240101000000001.commit",
        "{\"partitionToWriteStats\":{\"\":[{\"fileId\":\"f-0\",\"path\":"
        "\"f-0_0-1-2_20240101000000001.parquet\",\"prevCommit\":\"null\",\"numWrites\":900,"
        "\"numInserts\":900,\"partitionPath\":\"\",\"fileSizeInBytes\":7}]},"
        "\"operationType\":\"INSERT\",\"extraMetadata\":{\"schema\":"
        "\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"r\\\",\\\"fields\\\":["
        "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\"}}");
}

static void test_timeline__table(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tarn_overview *overview = NULL;
    tarn_columns *columns = NULL;
    tarn_files *files = NULL;
    char root[64];

    (void)state;
    make_table(root, sizeof root);
    add_data(root);
    assert_ok(cx, tarn_files_open(cx, root, NULL, &files));
    assert_true(files->hudi);
    assert_int_equal(files->file_count, 1);
    assert_int_equal(files->files[0].rows, 900);
    assert_true(files->files[0].small);
    assert_string_equal(files->files[0].partition, "");
    assert_string_equal(files->files[0].action, "commit");
    assert_ok(cx, tarn_columns_open(cx, root, NULL, &columns));
    assert_int_equal(columns->column_count, 1);
    assert_true(columns->columns[0].key);
    assert_string_equal(columns->columns[0].type, "int64");
    assert_ok(cx, tarn_overview_open(cx, root, &overview));
    assert_int_equal(overview->rows, 900);
    assert_int_equal(overview->pending, 2);
    assert_int_equal(overview->last_count, 1);
    assert_int_equal(overview->finding_count, 2);
    assert_string_equal(overview->findings[0].kind, "pending-writes");
    assert_string_equal(overview->findings[1].kind, "pending-actions");
    tarn_files_close(files);
    tarn_columns_close(columns);
    tarn_overview_close(overview);
    assert_fails(cx, TARN_E_NOTFOUND, "no such file",
                 tarn_overview_open(cx, "/nowhere/at/all", &overview));
    temp_dir_remove(root);
    tarn_cx_close(cx);
}

static int look(tarn_cx *cx, const char *root)
{
    tarn_timeline *timeline = NULL;
    tarn_instant_detail *detail = NULL;
    tarn_overview *overview = NULL;
    tarn_columns *columns = NULL;
    tarn_files *files = NULL;
    tarn_tables *tables = NULL;
    int rc = tarn_timeline_open(cx, root, &(tarn_timeline_options){.counts = true}, &timeline);

    if (rc == TARN_OK)
        rc = tarn_instant_open(cx, root, "20240101000000001", NULL, &detail);
    if (rc == TARN_OK)
        rc = tarn_files_open(cx, root, &(tarn_files_options){.all = true}, &files);
    if (rc == TARN_OK)
        rc = tarn_columns_open(cx, root, NULL, &columns);
    if (rc == TARN_OK)
        rc = tarn_overview_diagnose(cx, root, &overview);
    if (rc == TARN_OK)
        rc = tarn_tables_open(cx, root, &tables);
    tarn_tables_close(tables);
    tarn_timeline_close(timeline);
    tarn_instant_close(detail);
    tarn_files_close(files);
    tarn_columns_close(columns);
    tarn_overview_close(overview);
    return rc;
}

/* The n-th allocation fails, for every n: a status with text, and nothing is lost. */
static void test_timeline__short_of_memory(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    size_t total;
    char root[64];

    (void)state;
    make_table(root, sizeof root);
    add_data(root);
    alloc_watch(0);
    assert_ok(cx, look(cx, root));
    total = alloc_unwatch();
    for (size_t n = 1; n <= total; n++) {
        int rc;

        alloc_watch(n);
        rc = look(cx, root);
        alloc_unwatch();
        if (rc != TARN_OK)
            assert_true(tarn_cx_error(cx)[0] != '\0');
    }
    temp_dir_remove(root);
    tarn_cx_close(cx);
}
