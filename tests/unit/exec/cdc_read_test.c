/* Changes of a file group: two versions side by side, what was logged, and images of rows. */
#define _GNU_SOURCE /* memmem */
#include "unit/codec/log/block.h"

#include "batch/rows.h"
#include "codec/parquet/arrow.h"
#include "codec/text/build.h"
#include "exec/cdc_read.h"

/* Versions are texts "key:value@commit …"; a row has the meta columns, v, a date, a decimal and a
 * time that follow from the key. */
typedef struct place {
    tarn_cx *cx;
    tn_store *store;
    struct ArrowSchema columns;
    tn_scan_task scans[2];
    tn_cdc_task task;
    tn_buf got; /* "op before after", a line each */
} place;

static const char *const formats[][2] = {{"_hoodie_commit_time", "u"},
                                         {"_hoodie_commit_seqno", "u"},
                                         {"_hoodie_record_key", "u"},
                                         {"_hoodie_partition_path", "u"},
                                         {"_hoodie_file_name", "u"},
                                         {"v", "u"},
                                         {"d", "tdD"},
                                         {"n", "d:10,2"},
                                         {"t", "tsu:UTC"}};
#define COLUMNS (sizeof formats / sizeof formats[0])

static tn_scan_project project[COLUMNS];
static const uint32_t paths[COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

static place place_open(void)
{
    place p = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1})};

    assert_ok(p.cx, tn_store_memory_open(p.cx, &p.store));
    assert_ok(p.cx, tn_field_init(p.cx, &p.columns, "+s", TN_STR(""), false, COLUMNS));
    for (size_t i = 0; i < COLUMNS; i++)
        assert_ok(p.cx, tn_field_init(p.cx, p.columns.children[i], formats[i][1],
                                      tn_str_of(formats[i][0]), true, 0));
    return p;
}

static void place_close(place *p)
{
    tn_buf_clear(&p->got);
    tn_field_release(&p->columns);
    tn_store_close(p->store);
    tarn_cx_close(p->cx);
}

static void add_text(place *p, tn_build *build, size_t column, tn_str text)
{
    const char *why = NULL;

    assert_ok(p->cx, tn_build_text(p->cx, tn_build_child(build, column), text, &why));
    assert_null(why);
}

/* Writes a version as a Parquet file and makes the task's side `which` of it. */
static void put_version(place *p, int which, const char *rows)
{
    const char *path = which == 0 ? "/before.parquet" : "/after.parquet";
    tn_parquet_sink_options options = {0};
    struct ArrowArray batch = {0};
    tn_parquet_sink *writer;
    tn_build *build;
    tn_sink *sink;

    assert_ok(p->cx, tn_build_open(p->cx, &p->columns, &build));
    for (tn_str left = tn_str_of(rows); left.len > 0;) {
        size_t end = tn_str_find(left, ' '), colon, at;
        tn_str row = {left.ptr, end};

        left = tn_str_from(left, end + 1);
        colon = tn_str_find(row, ':');
        at = tn_str_find(row, '@');
        add_text(p, build, 0, tn_str_from(row, at + 1));
        add_text(p, build, 1, TN_STR("s"));
        add_text(p, build, 2, (tn_str){row.ptr, colon});
        add_text(p, build, 3, TN_STR("p"));
        add_text(p, build, 4, tn_str_of(path));
        add_text(p, build, 5, (tn_str){row.ptr + colon + 1, at - colon - 1});
        add_text(p, build, 6, TN_STR("1970-01-11"));
        add_text(p, build, 7, TN_STR("1.50"));
        add_text(p, build, 8, TN_STR("1970-01-01T00:00:00.000007Z"));
        tn_build_rows_add(build, 1);
    }
    assert_ok(p->cx, tn_build_finish(p->cx, build, &batch));
    assert_ok(p->cx, tn_store_create(p->cx, p->store, tn_str_of(path), &sink));
    assert_ok(p->cx, tn_parquet_sink_open(p->cx, sink, &p->columns, &options, &writer));
    if (batch.length > 0)
        assert_ok(p->cx, tn_parquet_sink_add(p->cx, writer, &batch));
    assert_ok(p->cx, tn_parquet_sink_finish(p->cx, writer));
    assert_ok(p->cx, tn_store_finish(p->cx, sink));
    tn_parquet_sink_close(writer);
    tn_store_close_sink(sink);
    tn_array_release(&batch);
    tn_build_close(build);
    for (size_t i = 0; i < COLUMNS; i++)
        project[i] = (tn_scan_project){&paths[i], 1};
    p->scans[which] = (tn_scan_task){.path = tn_str_of(path),
                                     .all = &p->columns,
                                     .needed = &p->columns,
                                     .result = &p->columns,
                                     .project = project,
                                     .project_count = COLUMNS,
                                     .partition = -1};
    *(which == 0 ? &p->task.before : &p->task.after) = &p->scans[which];
}

/* The text of a member of an image, or the image's absence. */
static void add_member(place *p, tn_str image, const char *name)
{
    char mark[64];
    const char *at;

    snprintf(mark, sizeof mark, "\"%s\":\"", name);
    at = image.len > 0 ? memmem(image.ptr, image.len, mark, strlen(mark)) : NULL;
    if (at == NULL)
        tn_buf_text(&p->got, "-");
    else
        tn_buf_add(&p->got, at + strlen(mark), strcspn(at + strlen(mark), "\""));
}

static tn_str text_at(const struct ArrowArray *column, int64_t row)
{
    const tn_type utf8 = {.kind = TN_TYPE_UTF8};

    return tn_rows_is_null(column, row) ? (tn_str){NULL, 0} : tn_rows_bytes(&utf8, column, row);
}

static void add_change(place *p, const struct ArrowArray *batch, int64_t row)
{
    tn_str before = text_at(batch->children[2], row), after = text_at(batch->children[3], row);

    assert_true(tn_str_is(text_at(batch->children[1], row), "20260101000000000"));
    if (p->got.len > 0)
        tn_buf_text(&p->got, ", ");
    tn_buf_str(&p->got, text_at(batch->children[0], row));
    tn_buf_text(&p->got, " ");
    add_member(p, before.len > 0 ? before : after, "_hoodie_record_key");
    tn_buf_text(&p->got, " ");
    add_member(p, before, "v");
    tn_buf_text(&p->got, ">");
    add_member(p, after, "v");
}

/* Reads the task: "u k1 a>b, d k2 c>-"; lives in the place. */
static const char *run(place *p)
{
    tn_cdc_read *reader = NULL;
    struct ArrowArray batch = {0};

    p->task.instant = TN_STR("20260101000000000");
    p->task.columns = &p->columns;
    tn_buf_reset(&p->got);
    assert_ok(p->cx, tn_cdc_read_open(p->cx, p->store, &p->task, &reader));
    do {
        tn_array_release(&batch);
        assert_ok(p->cx, tn_cdc_read_next(p->cx, reader, &batch));
        for (int64_t i = 0; i < batch.length; i++)
            add_change(p, &batch, i);
    } while (batch.length > 0);
    tn_array_release(&batch);
    tn_cdc_read_close(reader);
    tn_buf_u8(&p->got, 0);
    return (const char *)p->got.data;
}

static void test_cdc_read__versions(void **state)
{
    static const struct {
        const char *before, *after, *want;
    } cases[] = {
        {"a:1@1 b:1@1 c:1@1", "a:1@1 b:1@1 c:1@1", ""},
        {"a:1@1 b:1@1 c:1@1", "a:1@1 b:2@2 c:1@1", "u b 1>2"},
        /* the same values, written again */
        {"a:1@1 b:1@1", "a:1@1 b:1@2", "u b 1>1"},
        {"a:1@1 b:1@1 c:1@1", "a:1@1 c:1@1", "d b 1>-"},
        {"a:1@1 b:1@1 c:1@1", "b:1@1 c:2@2 d:1@2", "u c 1>2, i d ->1, d a 1>-"},
        {"a:1@1 b:1@1", "a:1@1 b:1@1 c:1@2 d:1@2", "i c ->1, i d ->1"},
        {"a:1@1 b:1@1 c:1@1 d:1@1", "c:1@1 d:1@1 e:1@2", "i e ->1, d a 1>-, d b 1>-"},
        /* other orders: every row meets its like */
        {"a:1@1 b:1@1 c:1@1", "c:1@1 b:2@2 a:1@1", "u b 1>2"},
        {"a:1@1 b:1@1 c:1@1", "b:1@1 c:1@1 a:3@2", "u a 1>3"},
        {"a:1@1", "b:1@2", "d a 1>-, i b ->1"},
        {"", "a:1@2 b:1@2", "i a ->1, i b ->1"},
        {"a:1@2 b:1@2", "", "d a 1>-, d b 1>-"},
        /* a key twice, as a bulk insert may leave it */
        {"a:1@1 a:2@1 b:1@1", "a:1@1 a:2@1 b:2@2", "u b 1>2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        place p = place_open();

        put_version(&p, 0, cases[i].before);
        put_version(&p, 1, cases[i].after);
        if (strcmp(run(&p), cases[i].want) != 0)
            fail_msg("case %zu: got \"%s\", want \"%s\"", i, (char *)p.got.data, cases[i].want);
        place_close(&p);
    }
}

static void test_cdc_read__one_version(void **state)
{
    place p = place_open();

    (void)state;
    put_version(&p, 1, "a:1@1 b:2@1");
    assert_string_equal(run(&p), "i a ->1, i b ->2");
    p.task.before = p.task.after;
    p.task.after = NULL;
    assert_string_equal(run(&p), "d a 1>-, d b 2>-");
    place_close(&p);
}

/* Keys of a column of the table, where none are stored. */
static void test_cdc_read__keys_of_columns(void **state)
{
    place p = place_open();
    tn_str keys[] = {TN_STR("v")};

    (void)state;
    p.task.keys = keys;
    p.task.key_count = 1;
    put_version(&p, 0, "x:k1@1 x:k2@1");
    put_version(&p, 1, "x:k2@2 x:k3@2");
    assert_string_equal(run(&p), "u x k2>k2, i x ->k3, d x k1>-");
    place_close(&p);
}

/* More rows than a batch has, and thousands that wait. */
static void test_cdc_read__many(void **state)
{
    place p = place_open();
    tn_buf before = {0}, after = {0};
    size_t changes = 0;

    (void)state;
    for (int i = 0; i < 9000; i++) {
        tn_buf_print(&before, "%sk%d:1@1", i > 0 ? " " : "", i);
        if (i >= 5000)
            tn_buf_print(&after, "%sk%d:%d@%d", i > 5000 ? " " : "", i, i % 2, i % 2 + 1);
    }
    tn_buf_u8(&before, 0);
    tn_buf_u8(&after, 0);
    put_version(&p, 0, (char *)before.data);
    put_version(&p, 1, (char *)after.data);
    for (const char *at = run(&p); (at = strstr(at, " k")) != NULL; at++)
        changes++;
    assert_int_equal(changes, 9000);
    tn_buf_clear(&before);
    tn_buf_clear(&after);
    place_close(&p);
}

static void test_cdc_read__images(void **state)
{
    place p = place_open();
    tn_cdc_read *reader = NULL;
    struct ArrowArray batch = {0};
    struct ArrowSchema schema = {0};

    (void)state;
    put_version(&p, 0, "a:1@1");
    put_version(&p, 1, "a:\"\xc3\xa9@2");
    p.task.columns = &p.columns;
    p.task.bare_before = true;
    assert_ok(p.cx, tn_cdc_read_schema(p.cx, &schema));
    assert_int_equal(schema.n_children, 4);
    assert_string_equal(schema.children[1]->name, "ts_ms");
    assert_ok(p.cx, tn_cdc_read_open(p.cx, p.store, &p.task, &reader));
    assert_ok(p.cx, tn_cdc_read_next(p.cx, reader, &batch));
    assert_int_equal(batch.length, 1);
    assert_true(
        tn_str_is(text_at(batch.children[2], 0), "{\"v\":\"1\",\"d\":10,\"n\":1.50,\"t\":7}"));
    assert_true(tn_str_is(
        text_at(batch.children[3], 0),
        "{\"_hoodie_commit_time\":\"2\",\"_hoodie_commit_seqno\":\"s\",\"_hoodie_record_key\":"
        "\"a\",\"_hoodie_partition_path\":\"p\",\"_hoodie_file_name\":\"/after.parquet\",\"v\":"
        "\"\\\"\xc3\xa9\",\"d\":10,\"n\":1.50,\"t\":7}"));
    tn_array_release(&batch);
    tn_field_release(&schema);
    tn_cdc_read_close(reader);
    place_close(&p);
}

/* ---- logged */

static const char logged_schema[] =
    "{\"type\":\"record\",\"name\":\"CDC\",\"fields\":[{\"name\":\"op\",\"type\":[\"null\","
    "\"string\"]},{\"name\":\"ts_ms\",\"type\":[\"null\",\"string\"]},{\"name\":\"before\","
    "\"type\":[\"null\",{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"v\",\"type\":"
    "[\"null\",\"string\"]},{\"name\":\"gone\",\"type\":\"long\"}]}]},{\"name\":\"after\",\"type\":"
    "[\"null\",\"t\"]}]}";

/* Of the other modes. */
static const char lean_schema[] =
    "{\"type\":\"record\",\"name\":\"CDC\",\"fields\":[{\"name\":\"op\",\"type\":[\"null\","
    "\"string\"]},{\"name\":\"record_key\",\"type\":[\"null\",\"string\"]}]}";

static void put_log(place *p, const char *path, const char *const *records, size_t count,
                    uint32_t kind, const char *schema)
{
    const block_header headers[] = {{0, "1"}, {2, schema}, {0, NULL}};
    tn_buf content = {0}, file = {0};

    block_u32(&content, 3);
    block_u32(&content, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        block_u32(&content, (uint32_t)(unsigned char)records[i][0]);
        tn_buf_add(&content, records[i] + 1, (size_t)(unsigned char)records[i][0]);
    }
    block_add(&file, kind, headers, tn_buf_view(&content));
    tn_buf_text(&file, "#HUDI#torn");
    assert_ok(p->cx, tn_store_put(p->cx, p->store, tn_str_of(path), tn_buf_view(&file)));
    tn_buf_clear(&content);
    tn_buf_clear(&file);
}

static void test_cdc_read__logged(void **state)
{
    /* length, op, ts_ms, before, after */
    static const char first_bytes[] = "\x0c\x02\x02i\x02\x02"
                                      "1\x00\x02\x02\x02"
                                      "a\x02";
    static const char second_bytes[] = "\x10\x02\x02u\x02\x02"
                                       "1\x02\x02\x02"
                                       "a\x02\x02\x02\x02"
                                       "b\x02";
    static const char third_bytes[] = "\x0c\x02\x02"
                                      "d\x02\x02"
                                      "1\x02\x02\x02"
                                      "b\x02\x00";
    const char *one[] = {first_bytes}, *two[] = {second_bytes, third_bytes};
    tn_str files[] = {TN_STR("/1.cdc"), TN_STR("/2.cdc"), TN_STR("/3.cdc")};
    place p = place_open();

    (void)state;
    put_log(&p, "/1.cdc", one, 1, TN_LOG_CDC, logged_schema);
    put_log(&p, "/2.cdc", NULL, 0, TN_LOG_CDC, logged_schema);
    put_log(&p, "/3.cdc", two, 2, TN_LOG_CDC, logged_schema);
    p.task.logged = files;
    p.task.logged_count = 3;
    assert_string_equal(run(&p), "i - ->a, u - a>b, d - b>-");
    place_close(&p);
}

static void test_cdc_read__damaged(void **state)
{
    static const char bad_op[] = "\x07\x02\x04ix\x00\x00\x00";
    static const char other_op[] = "\x06\x02\x02x\x00\x00\x00";
    static const char short_record[] = "\x02\x02\x02";
    static const struct {
        const char *record;
        uint32_t kind;
        const char *schema, *text;
    } cases[] = {{bad_op, TN_LOG_CDC, logged_schema, "not i, u or d"},
                 {other_op, TN_LOG_CDC, logged_schema, "not i, u or d"},
                 {short_record, TN_LOG_CDC, logged_schema, "/1.cdc"},
                 {bad_op, TN_LOG_AVRO, logged_schema, "it holds no change data"},
                 {bad_op, TN_LOG_CDC, lean_schema, "without images"},
                 {bad_op, TN_LOG_CDC, "\"string\"", "without images"},
                 {bad_op, TN_LOG_CDC, "{", "schema cannot be read"}};
    tn_str files[] = {TN_STR("/1.cdc")};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        place p = place_open();
        tn_cdc_read *reader = NULL;
        struct ArrowArray batch = {0};

        put_log(&p, "/1.cdc", &cases[i].record, 1, cases[i].kind, cases[i].schema);
        p.task.logged = files;
        p.task.logged_count = 1;
        p.task.columns = &p.columns;
        assert_ok(p.cx, tn_cdc_read_open(p.cx, p.store, &p.task, &reader));
        assert_fails(p.cx, TARN_E_CORRUPT, cases[i].text, tn_cdc_read_next(p.cx, reader, &batch));
        assert_non_null(strstr(tarn_cx_error(p.cx), "/1.cdc"));
        tn_cdc_read_close(reader);
        place_close(&p);
    }
}
