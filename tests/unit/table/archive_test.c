/* Archived timelines made by hand in memory. */
#include "table/archive.h"

#include "codec/parquet/arrow.h"
#include "io/store_memory.h"
#include "table/archive_parts.h"
#include "unit/batch/table.h"

#define HISTORY "/t/.hoodie/timeline/history"
#define LOGS    "/t/.hoodie/archived"

typedef struct lake {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    tn_hudi_config config;
    tn_timeline archive;
} lake;

static lake lake_open(int32_t version)
{
    lake l = {.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2, .seed = 1})};
    char text[256];

    snprintf(text, sizeof text,
             "hoodie.table.name=t\nhoodie.table.version=%d\nhoodie.timeline.layout.version=%d\n",
             version, version < 8 ? 1 : 2);
    assert_ok(l.cx, tn_store_memory_open(l.cx, &l.store));
    assert_ok(l.cx, tn_hudi_config_parse(l.cx, tn_str_of(text), TN_STR("p"), &l.arena, &l.config));
    assert_ok(l.cx, tn_store_make_dirs(l.cx, l.store, TN_STR(HISTORY)));
    assert_ok(l.cx, tn_store_make_dirs(l.cx, l.store, TN_STR(LOGS)));
    return l;
}

static void lake_close(lake *l)
{
    tn_arena_clear(&l->arena);
    tn_store_close(l->store);
    tarn_cx_close(l->cx);
}

static tn_str path_of(lake *l, const char *directory, const char *name)
{
    tn_str path;

    assert_ok(l->cx, tn_arena_print(l->cx, &l->arena, &path, "%s/%s", directory, name));
    return path;
}

static void put(lake *l, const char *directory, const char *name, const char *text)
{
    assert_ok(l->cx, tn_store_put(l->cx, l->store, path_of(l, directory, name), tn_str_of(text)));
}

static int load(lake *l)
{
    return tn_archive_load(l->cx, l->store, TN_STR("/t"), &l->config, &l->arena, &l->archive);
}

/* "time action completion" of each instant, one a line. */
static void expect_archive(lake *l, const char *want)
{
    tn_buf got = {0};

    assert_ok(l->cx, load(l));
    for (size_t i = 0; i < l->archive.count; i++) {
        const tn_instant *instant = &l->archive.instants[i];

        assert_int_equal(instant->state, TN_STATE_COMPLETED);
        tn_buf_print(&got, "%.*s %.*s %.*s\n", TN_STR_ARG(instant->time), TN_STR_ARG(instant->word),
                     TN_STR_ARG(instant->completion));
    }
    if (!tn_str_is(tn_buf_view(&got), want))
        fail_msg("got\n%.*swant\n%s", TN_STR_ARG(tn_buf_view(&got)), want);
    tn_buf_clear(&got);
}

/* ---- layout 2 ---- */

typedef struct history_row {
    const char *time, *completion, *action;
    tn_str metadata, plan;
} history_row;

static void bytes_column(lake *l, test_table *table, int64_t c, const char *name,
                         const history_row *rows, size_t member)
{
    int64_t count = table->array.length;
    struct ArrowArray *array = table->array.children[c];
    size_t total = 0;
    int32_t *offsets;
    char *bytes;

    assert_ok(l->cx,
              tn_field_init(l->cx, table->schema.children[c], "z", tn_str_of(name), true, 0));
    assert_ok(l->cx, tn_array_init(l->cx, array, count, 3, 0));
    array->length = count;
    offsets = table_buffer(l->cx, array, 1, 4 * ((size_t)count + 1));
    for (int64_t i = 0; i < count; i++) {
        total += ((const tn_str *)(const void *)((const char *)&rows[i] + member))->len;
        offsets[i + 1] = (int32_t)total;
    }
    bytes = table_buffer(l->cx, array, 2, total);
    for (int64_t i = 0; i < count; i++) {
        tn_str text = *(const tn_str *)(const void *)((const char *)&rows[i] + member);

        if (text.len != 0)
            memcpy(bytes + offsets[i], text.ptr, text.len);
    }
}

static void write_table(lake *l, const char *name, const test_table *table)
{
    tn_parquet_sink_options options = {0};
    tn_parquet_sink *sink;
    tn_sink *bytes;

    assert_ok(l->cx, tn_store_create(l->cx, l->store, path_of(l, HISTORY, name), &bytes));
    assert_ok(l->cx, tn_parquet_sink_open(l->cx, bytes, &table->schema, &options, &sink));
    assert_ok(l->cx, tn_parquet_sink_add(l->cx, sink, &table->array));
    assert_ok(l->cx, tn_parquet_sink_finish(l->cx, sink));
    tn_parquet_sink_close(sink);
    assert_ok(l->cx, tn_store_finish(l->cx, bytes));
    tn_store_close_sink(bytes);
}

static void history(lake *l, const char *name, const history_row *rows, size_t count)
{
    const char *times[16], *completions[16], *actions[16];
    test_table table = {0};

    for (size_t i = 0; i < count; i++) {
        times[i] = rows[i].time;
        completions[i] = rows[i].completion;
        actions[i] = rows[i].action;
    }
    table_init(l->cx, &table, 5, (int64_t)count);
    table_text(l->cx, &table, 0, "instantTime", "u", times, 0);
    table_text(l->cx, &table, 1, "completionTime", "u", completions, 0);
    table_text(l->cx, &table, 2, "action", "u", actions, 0);
    bytes_column(l, &table, 3, "metadata", rows, offsetof(history_row, metadata));
    bytes_column(l, &table, 4, "plan", rows, offsetof(history_row, plan));
    write_table(l, name, &table);
    table_clear(&table);
}

static const history_row first_rows[] = {{.time = "003", .completion = "0031", .action = "commit"},
                                         {.time = "001", .completion = "0035", .action = "commit"}};
static const history_row second_rows[] = {
    {.time = "002", .completion = "0021", .action = "clean"},
    {.time = "003", .completion = "0031", .action = "commit"},
    {.time = "004", .completion = "0041", .action = "replacecommit"}};

static void test_archive__files_of_the_newest_manifest(void **state)
{
    lake l = lake_open(9);

    (void)state;
    /* Not sorted, overlapping, the first time of a name greater than the second. */
    history(&l, "003_001_0.parquet", first_rows, 2);
    history(&l, "002_004_0.parquet", second_rows, 3);
    history(&l, "005_005_0.parquet", &(history_row){"005", "0051", "commit", {0}, {0}}, 1);
    put(&l, HISTORY, "manifest_1", "{\"files\":[{\"fileName\":\"003_001_0.parquet\"}]}");
    put(&l, HISTORY, "manifest_2",
        "{\"files\":[{\"fileName\":\"003_001_0.parquet\",\"fileLen\":1},"
        "{\"fileName\":\"002_004_0.parquet\",\"fileLen\":1}]}");
    put(&l, HISTORY, "_version_", "2");
    expect_archive(&l,
                   "001 commit 0035\n002 clean 0021\n003 commit 0031\n004 replacecommit 0041\n");
    assert_true(tn_str_is(tn_timeline_completion(&l.archive, TN_STR("001")), "0035"));
    put(&l, HISTORY, "_version_", "1");
    expect_archive(&l, "001 commit 0035\n003 commit 0031\n");
    lake_close(&l);
}

static void test_archive__without_a_version_the_greatest_manifest_counts(void **state)
{
    static const char *const versions[] = {"", "x", "7", "12345678901234567890"};
    lake l = lake_open(8);

    (void)state;
    history(&l, "003_001_0.parquet", first_rows, 2);
    put(&l, HISTORY, "manifest_9", "{\"files\":[]}");
    put(&l, HISTORY, "manifest_10", "{\"files\":[{\"fileName\":\"003_001_0.parquet\"}]}");
    put(&l, HISTORY, "manifest_11.tmp", "{");
    put(&l, HISTORY, "manifest_", "{");
    expect_archive(&l, "001 commit 0035\n003 commit 0031\n");
    /* A version whose manifest is gone was cleaned since. */
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        put(&l, HISTORY, "_version_", versions[i]);
        expect_archive(&l, "001 commit 0035\n003 commit 0031\n");
    }
    put(&l, HISTORY, "_version_", "9");
    expect_archive(&l, "");
    lake_close(&l);
}

static void test_archive__none_is_empty(void **state)
{
    (void)state;
    for (int32_t version = 6; version <= 9; version += 3) {
        lake l = lake_open(version);

        expect_archive(&l, "");
        assert_ok(l.cx, tn_store_remove_tree(l.cx, l.store, TN_STR("/t/.hoodie")));
        expect_archive(&l, "");
        lake_close(&l);
    }
}

static void test_archive__damaged_history_names_the_file(void **state)
{
    static const struct {
        const char *manifest, *want;
    } cases[] = {{"{", "manifest_1"},
                 {"[]", "not a manifest"},
                 {"{\"files\":{}}", "not a manifest"},
                 {"{\"files\":[{}]}", "has no name"},
                 {"{\"files\":[{\"fileName\":\"../x\"}]}", "has no name"},
                 {"{\"files\":[{\"fileName\":\"a/b\"}]}", "has no name"},
                 {"{\"files\":[{\"fileName\":\"bad.parquet\"}]}", "bad.parquet"},
                 {"{\"files\":[{\"fileName\":\"other.parquet\"}]}", "completionTime"},
                 {"{\"files\":[{\"fileName\":\"gone.parquet\"}]}", "gone.parquet"}};
    const char *times[] = {"001"};
    test_table table = {0};
    lake l = lake_open(9);

    (void)state;
    put(&l, HISTORY, "bad.parquet", "PAR1 no more");
    table_init(l.cx, &table, 1, 1);
    table_text(l.cx, &table, 0, "instantTime", "u", times, 0);
    write_table(&l, "other.parquet", &table);
    table_clear(&table);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int rc;

        put(&l, HISTORY, "manifest_1", cases[i].manifest);
        rc = load(&l);
        if (rc == TARN_OK || strstr(tarn_cx_error(l.cx), cases[i].want) == NULL)
            fail_msg("%s: status %d, \"%s\"", cases[i].manifest, rc, tarn_cx_error(l.cx));
        tn_cx_forget(l.cx);
    }
    lake_close(&l);
}

static tn_str commit_bytes(lake *l)
{
    tn_write_stat stat = {.partition = TN_STR("p"),
                          .file_id = TN_STR("f"),
                          .path = TN_STR("p/f_0-0-1_001.parquet"),
                          .writes = 3};
    tn_commit_metadata commit = {.operation = TN_STR("UPSERT"), .stats = &stat, .stat_count = 1};
    tn_buf bytes = {0};
    tn_str kept;

    assert_ok(l->cx, tn_commit_metadata_print(l->cx, &commit, 2, &bytes));
    kept = tn_buf_view(&bytes);
    assert_ok(l->cx, tn_arena_keep(l->cx, &l->arena, &kept));
    tn_buf_clear(&bytes);
    return kept;
}

static void test_archive__what_an_instant_did(void **state)
{
    lake l = lake_open(9);
    history_row rows[] = {{.time = "001", .completion = "0011", .action = "commit"},
                          {.time = "002", .completion = "0021", .action = "clean"}};
    tn_archive_contents contents;

    (void)state;
    rows[0].metadata = rows[1].plan = commit_bytes(&l);
    history(&l, "001_002_0.parquet", rows, 2);
    put(&l, HISTORY, "manifest_1", "{\"files\":[{\"fileName\":\"001_002_0.parquet\"}]}");
    assert_ok(l.cx, load(&l));
    assert_ok(l.cx, tn_archive_read(l.cx, l.store, TN_STR("/t"), &l.config, &l.archive.instants[0],
                                    &l.arena, &contents));
    assert_true(contents.is_commit && contents.plan.len == 0);
    assert_true(tn_str_is(contents.commit.operation, "UPSERT"));
    assert_int_equal(contents.commit.stat_count, 1);
    assert_int_equal(contents.commit.stats[0].writes, 3);
    assert_non_null(strstr(contents.metadata.ptr, "p/f_0-0-1_001.parquet"));
    assert_ok(l.cx, tn_archive_read(l.cx, l.store, TN_STR("/t"), &l.config, &l.archive.instants[1],
                                    &l.arena, &contents));
    assert_false(contents.is_commit);
    assert_non_null(strstr(contents.plan.ptr, "UPSERT"));
    lake_close(&l);
}

/* ---- layout 1 ---- */

static const char entry_schema[] =
    "{\"type\":\"record\",\"name\":\"HoodieArchivedMetaEntry\",\"fields\":["
    "{\"name\":\"hoodieCommitMetadata\",\"type\":[\"null\",{\"type\":\"record\",\"name\":"
    "\"HoodieCommitMetadata\",\"fields\":[{\"name\":\"operationType\",\"type\":[\"null\","
    "\"string\"]}]}]},"
    "{\"name\":\"commitTime\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"actionType\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"actionState\",\"type\":[\"null\",\"string\"]},"
    "{\"name\":\"stateTransitionTime\",\"type\":[\"null\",\"string\"]}]}";

static void be32(tn_buf *out, uint32_t value)
{
    for (int i = 3; i >= 0; i--)
        tn_buf_u8(out, (uint8_t)(value >> (8 * i)));
}

static void be64(tn_buf *out, uint64_t value)
{
    be32(out, (uint32_t)(value >> 32));
    be32(out, (uint32_t)value);
}

static void avro_some(tn_buf *out, const char *text)
{
    if (text == NULL) {
        tn_buf_u8(out, 0);
        return;
    }
    tn_buf_u8(out, 2);
    tn_buf_u8(out, (uint8_t)(strlen(text) * 2));
    tn_buf_text(out, text);
}

typedef struct log_entry {
    const char *operation, *time, *action, *state, *transition;
} log_entry;

/* A log of one Avro block. */
static void archive_log(lake *l, const char *name, const log_entry *entries, size_t count)
{
    tn_buf content = {0}, body = {0}, file = {0};

    be32(&content, 3);
    be32(&content, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        tn_buf datum = {0};

        tn_buf_u8(&datum, entries[i].operation != NULL ? 2 : 0);
        if (entries[i].operation != NULL)
            avro_some(&datum, entries[i].operation);
        avro_some(&datum, entries[i].time);
        avro_some(&datum, entries[i].action);
        avro_some(&datum, entries[i].state);
        avro_some(&datum, entries[i].transition);
        be32(&content, (uint32_t)datum.len);
        tn_buf_str(&content, tn_buf_view(&datum));
        tn_buf_clear(&datum);
    }
    be32(&body, 1); /* format */
    be32(&body, 3); /* AVRO_DATA */
    be32(&body, 2); /* headers */
    be32(&body, 0);
    be32(&body, 3);
    tn_buf_text(&body, "001");
    be32(&body, 2);
    be32(&body, sizeof entry_schema - 1);
    tn_buf_text(&body, entry_schema);
    be64(&body, content.len);
    tn_buf_str(&body, tn_buf_view(&content));
    be32(&body, 0); /* footer */
    tn_buf_text(&file, "#HUDI#");
    be64(&file, body.len + 8);
    tn_buf_str(&file, tn_buf_view(&body));
    be64(&file, body.len + 14);
    assert_ok(l->cx, tn_buf_check(l->cx, &file));
    assert_ok(l->cx, tn_store_put(l->cx, l->store, path_of(l, LOGS, name), tn_buf_view(&file)));
    tn_buf_clear(&content);
    tn_buf_clear(&body);
    tn_buf_clear(&file);
}

static const log_entry entries[] = {{NULL, "001", "commit", "REQUESTED", NULL},
                                    {"INSERT", "001", "commit", "INFLIGHT", NULL},
                                    {"INSERT", "001", "commit", "COMPLETED", NULL},
                                    {NULL, "002", "compaction", "REQUESTED", "0020"},
                                    {"COMPACT", "002", "commit", "COMPLETED", "0029"},
                                    {NULL, "003", "rollback", "INFLIGHT", NULL}};

static void test_archive__logs_of_version_6(void **state)
{
    static const log_entry later = {"UPSERT", "0005", "deltacommit", NULL, NULL};
    tn_archive_contents contents;
    lake l = lake_open(6);

    (void)state;
    archive_log(&l, ".commits_.archive.2_1-0-1", entries, sizeof entries / sizeof entries[0]);
    archive_log(&l, ".commits_.archive.10_1-0-1", &later, 1);
    archive_log(&l, ".commits_.archive.11_1-0-1", entries, 3); /* merged: once more */
    put(&l, LOGS, "..commits_.archive.2_1-0-1.crc", "x");
    put(&l, LOGS, ".commits_.archive.2_1-0-1.crc", "x");
    expect_archive(&l, "0005 deltacommit 0005\n001 commit 001\n002 commit 0029\n");
    assert_ok(l.cx, tn_archive_read(l.cx, l.store, TN_STR("/t"), &l.config, &l.archive.instants[2],
                                    &l.arena, &contents));
    assert_true(contents.is_commit);
    assert_true(tn_str_is(contents.commit.operation, "COMPACT"));
    lake_close(&l);
}

static void test_archive__a_merge_under_way_is_left_out(void **state)
{
    static const char schema[] = "{\"type\":\"record\",\"name\":\"P\",\"fields\":[{\"name\":"
                                 "\"mergedArchiveFileName\",\"type\":\"string\"}]}";
    tn_str name = TN_STR("mergedArchiveFileName");
    tn_avro_value file = {.kind = TN_AVRO_STRING,
                          .as.text = TN_STR("/t/.commits_.archive.3_1-0-1")};
    tn_avro_value plan = {.kind = TN_AVRO_RECORD};
    tn_avro_schema parsed;
    tn_buf bytes = {0};
    lake l = lake_open(6);

    (void)state;
    plan.as.many.names = &name;
    plan.as.many.items = &file;
    plan.as.many.count = 1;
    archive_log(&l, ".commits_.archive.2_1-0-1", entries, 3);
    put(&l, LOGS, ".commits_.archive.3_1-0-1", "#HUDI");
    put(&l, LOGS, ".commits_.archive.4_1-0-1", "no log at all");
    assert_fails(l.cx, TARN_E_CORRUPT, ".commits_.archive.4_1-0-1", load(&l));
    assert_ok(l.cx, tn_avro_schema_parse(l.cx, TN_STR(schema), "s", &parsed));
    assert_ok(l.cx, tn_avro_file_write(l.cx, TN_STR(schema), parsed.root, &plan, &bytes));
    assert_ok(l.cx,
              tn_store_put(l.cx, l.store, TN_STR(LOGS "/mergeArchivePlan"), tn_buf_view(&bytes)));
    assert_fails(l.cx, TARN_E_CORRUPT, ".commits_.archive.4_1-0-1", load(&l));
    assert_ok(l.cx, tn_store_remove(l.cx, l.store, TN_STR(LOGS "/.commits_.archive.4_1-0-1")));
    put(&l, LOGS, ".commits_.archive.3_1-0-1", "half of a log");
    expect_archive(&l, "001 commit 001\n");
    tn_buf_clear(&bytes);
    tn_avro_schema_clear(&parsed);
    lake_close(&l);
}
