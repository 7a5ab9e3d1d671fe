/* hoodie.properties: what a new table gets, and how the file is replaced. */
#include "unit/test.h"

#include "io/store_fault.h"
#include "io/store_memory.h"
#include "table/config_write.h"

#define ROOT "/t"
#define PATH ROOT "/.hoodie/hoodie.properties"

struct world {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
};

static int64_t fixed_now(void *arg)
{
    (void)arg;
    return 1800000000123;
}

static void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1, .now_ms = fixed_now, .seed = 1});
    assert_ok(w->cx, tn_store_memory_open(w->cx, &w->store));
    assert_ok(w->cx, tn_store_make_dirs(w->cx, w->store, TN_STR(ROOT "/.hoodie")));
}

static void close_world(struct world *w)
{
    tn_store_close(w->store);
    tn_arena_clear(&w->arena);
    tarn_cx_close(w->cx);
}

static const tn_str one_key[] = {{"id", 2}}, two_keys[] = {{"id", 2}, {"n", 1}};
static const tn_str one_part[] = {{"dt", 2}}, two_parts[] = {{"dt", 2}, {"hr", 2}};
static const tn_str one_order[] = {{"ts", 2}}, two_orders[] = {{"ts", 2}, {"v", 1}};
static const bool times[] = {false, true};

static tn_hudi_new usual(int32_t version)
{
    return (tn_hudi_new){.version = version,
                         .name = TN_STR("t"),
                         .keys = one_key,
                         .key_count = 1,
                         .partitions = one_part,
                         .partition_count = 1,
                         .ordering = one_order,
                         .ordering_count = 1};
}

/* "key=value" lines of all properties, in order of the keys, as one text. */
static const char *text_of(struct world *w, const tn_properties *p)
{
    tn_buf out = {0};
    tn_str text;

    for (size_t round = 0; round < p->count; round++) {
        const tn_property *least = NULL;

        for (size_t i = 0; i < p->count; i++) {
            size_t before = 0;

            for (size_t k = 0; k < p->count; k++)
                before += tn_str_compare(p->items[k].key, p->items[i].key) < 0;
            if (before == round)
                least = &p->items[i];
        }
        assert_non_null(least);
        tn_buf_print(&out, "%.*s=%.*s\n", TN_STR_ARG(least->key), TN_STR_ARG(least->value));
    }
    assert_ok(w->cx,
              tn_arena_print(w->cx, &w->arena, &text, "%.*s", TN_STR_ARG(tn_buf_view(&out))));
    tn_buf_clear(&out);
    return text.ptr;
}

static const char *made(struct world *w, const tn_hudi_new *options)
{
    tn_properties properties;

    assert_ok(w->cx, tn_hudi_config_new(w->cx, options, &w->arena, &properties));
    return text_of(w, &properties);
}

/* What Hudi 0.15.0, 1.0.2 and 1.2.0 stored for such a table, but for the time zone, the payload on
 * 6 and the hint for Hive on 9. */
static void test_config_new__has_what_each_version_stores(void **state)
{
    struct world w;
    tn_hudi_new options;

    (void)state;
    open_world(&w);
    options = usual(6);
    assert_string_equal(made(&w, &options),
                        "hoodie.archivelog.folder=archived\n"
                        "hoodie.compaction.payload.class="
                        "org.apache.hudi.common.model.DefaultHoodieRecordPayload\n"
                        "hoodie.datasource.write.drop.partition.columns=false\n"
                        "hoodie.datasource.write.hive_style_partitioning=false\n"
                        "hoodie.datasource.write.partitionpath.urlencode=false\n"
                        "hoodie.partition.metafile.use.base.format=false\n"
                        "hoodie.populate.meta.fields=true\n"
                        "hoodie.table.base.file.format=PARQUET\n"
                        "hoodie.table.cdc.enabled=false\n"
                        "hoodie.table.checksum=498511606\n"
                        "hoodie.table.keygenerator.class="
                        "org.apache.hudi.keygen.SimpleKeyGenerator\n"
                        "hoodie.table.name=t\n"
                        "hoodie.table.partition.fields=dt\n"
                        "hoodie.table.precombine.field=ts\n"
                        "hoodie.table.recordkey.fields=id\n"
                        "hoodie.table.timeline.timezone=UTC\n"
                        "hoodie.table.type=COPY_ON_WRITE\n"
                        "hoodie.table.version=6\n"
                        "hoodie.timeline.layout.version=1\n");
    options = usual(8);
    assert_string_equal(made(&w, &options),
                        "hoodie.archivelog.folder=history\n"
                        "hoodie.compaction.payload.class="
                        "org.apache.hudi.common.model.DefaultHoodieRecordPayload\n"
                        "hoodie.datasource.write.drop.partition.columns=false\n"
                        "hoodie.datasource.write.hive_style_partitioning=false\n"
                        "hoodie.datasource.write.partitionpath.urlencode=false\n"
                        "hoodie.partition.metafile.use.base.format=false\n"
                        "hoodie.populate.meta.fields=true\n"
                        "hoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
                        "hoodie.record.merge.strategy.id=eeb8d96f-b1e4-49fd-bbf8-28ac514178e5\n"
                        "hoodie.table.base.file.format=PARQUET\n"
                        "hoodie.table.cdc.enabled=false\n"
                        "hoodie.table.checksum=498511606\n"
                        "hoodie.table.initial.version=8\n"
                        "hoodie.table.keygenerator.type=SIMPLE\n"
                        "hoodie.table.multiple.base.file.formats.enable=false\n"
                        "hoodie.table.name=t\n"
                        "hoodie.table.partition.fields=dt\n"
                        "hoodie.table.precombine.field=ts\n"
                        "hoodie.table.recordkey.fields=id\n"
                        "hoodie.table.timeline.timezone=UTC\n"
                        "hoodie.table.type=COPY_ON_WRITE\n"
                        "hoodie.table.version=8\n"
                        "hoodie.timeline.history.path=history\n"
                        "hoodie.timeline.layout.version=2\n"
                        "hoodie.timeline.path=timeline\n");
    options = usual(9);
    assert_string_equal(made(&w, &options),
                        "hoodie.archivelog.folder=history\n"
                        "hoodie.datasource.write.drop.partition.columns=false\n"
                        "hoodie.datasource.write.hive_style_partitioning=false\n"
                        "hoodie.datasource.write.partitionpath.urlencode=false\n"
                        "hoodie.partition.metafile.use.base.format=false\n"
                        "hoodie.populate.meta.fields=true\n"
                        "hoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
                        "hoodie.table.base.file.format=PARQUET\n"
                        "hoodie.table.cdc.enabled=false\n"
                        "hoodie.table.checksum=498511606\n"
                        "hoodie.table.format=native\n"
                        "hoodie.table.initial.version=9\n"
                        "hoodie.table.keygenerator.type=SIMPLE\n"
                        "hoodie.table.multiple.base.file.formats.enable=false\n"
                        "hoodie.table.name=t\n"
                        "hoodie.table.ordering.fields=ts\n"
                        "hoodie.table.partition.fields=dt\n"
                        "hoodie.table.recordkey.fields=id\n"
                        "hoodie.table.timeline.timezone=UTC\n"
                        "hoodie.table.type=COPY_ON_WRITE\n"
                        "hoodie.table.version=9\n"
                        "hoodie.timeline.history.path=history\n"
                        "hoodie.timeline.layout.version=2\n"
                        "hoodie.timeline.path=timeline\n");
    close_world(&w);
}

static void test_config_new__knows_the_key_generators(void **state)
{
    tn_keygen_timebased by_day = {.type = TN_KEYGEN_DATE_STRING,
                                  .input_format = TN_STR("yyyy-MM-dd"),
                                  .output_format = TN_STR("yyyy/MM/dd")};
    const struct {
        int32_t version;
        enum tn_keygen keygen;
        size_t keys, parts;
        bool times;
        const char *want;
    } cases[] = {
        {9, 0, 1, 0, false, "keygenerator.type=NON_PARTITION\n"},
        {9, 0, 1, 0, false, "hoodie.table.partition.fields=\n"},
        {6, 0, 1, 0, false,
         "keygenerator.class=org.apache.hudi.keygen.NonpartitionedKeyGenerator\n"},
        {9, 0, 2, 1, false, "keygenerator.type=COMPLEX\n"},
        {6, 0, 2, 2, false, "keygenerator.class=org.apache.hudi.keygen.ComplexKeyGenerator\n"},
        {9, TN_KEYGEN_COMPLEX, 1, 1, false, "keygenerator.type=COMPLEX\n"},
        {9, 0, 1, 2, true, "hoodie.table.partition.fields=dt:SIMPLE,hr:TIMESTAMP\n"},
        {9, TN_KEYGEN_CUSTOM, 1, 2, false, "hoodie.table.partition.fields=dt:SIMPLE,hr:SIMPLE\n"},
        {6, TN_KEYGEN_CUSTOM, 1, 2, false, "hoodie.table.partition.fields=dt,hr\n"},
        {9, TN_KEYGEN_TIMESTAMP, 1, 1, true, "keygenerator.type=TIMESTAMP\n"},
        {6, TN_KEYGEN_TIMESTAMP, 1, 1, true,
         "keygenerator.class=org.apache.hudi.keygen.TimestampBasedKeyGenerator\n"},
        {9, TN_KEYGEN_TIMESTAMP, 1, 1, true, "timebased.output.dateformat=yyyy/MM/dd\n"},
        {9, TN_KEYGEN_TIMESTAMP, 1, 1, true, "timebased.timestamp.type=DATE_STRING\n"},
    };
    struct world w;

    (void)state;
    open_world(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_hudi_new options = usual(cases[i].version);
        const char *text;

        options.keygen = cases[i].keygen;
        options.keys = two_keys;
        options.key_count = cases[i].keys;
        options.partitions = two_parts;
        options.partition_count = cases[i].parts;
        if (cases[i].times) {
            options.timebased = by_day;
            if (cases[i].parts == 2)
                options.partition_is_time = times;
        }
        text = made(&w, &options);
        if (strstr(text, cases[i].want) == NULL)
            fail_msg("case %zu: \"%s\" is not in:\n%s", i, cases[i].want, text);
    }
    close_world(&w);
}

static void test_config_new__says_who_wins(void **state)
{
    const struct {
        int32_t version;
        size_t orders;
        enum tn_merge_mode mode;
        const char *payload, *want;
    } cases[] = {
        {6, 0, 0, "",
         "payload.class=org.apache.hudi.common.model.OverwriteWithLatestAvroPayload\n"},
        {8, 0, 0, "", "hoodie.record.merge.strategy.id=ce9acb64-bde0-424c-9b91-f6ebba25356d\n"},
        {9, 0, 0, "", "hoodie.record.merge.mode=COMMIT_TIME_ORDERING\n"},
        {9, 2, 0, "", "hoodie.table.ordering.fields=ts,v\n"},
        {9, 1, TN_MERGE_COMMIT_TIME, "", "hoodie.record.merge.mode=COMMIT_TIME_ORDERING\n"},
        {6, 1, TN_MERGE_COMMIT_TIME, "",
         "payload.class=org.apache.hudi.common.model.OverwriteWithLatestAvroPayload\n"},
        {9, 1, 0, "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
         "hoodie.record.merge.mode=COMMIT_TIME_ORDERING\n"},
        {9, 1, 0, "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
         "hoodie.table.legacy.payload.class="
         "org.apache.hudi.common.model.DefaultHoodieRecordPayload\n"},
    };
    struct world w;

    (void)state;
    open_world(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_hudi_new options = usual(cases[i].version);
        const char *text;

        options.ordering = two_orders;
        options.ordering_count = cases[i].orders;
        options.merge_mode = cases[i].mode;
        options.payload = tn_str_of(cases[i].payload);
        text = made(&w, &options);
        if (strstr(text, cases[i].want) == NULL)
            fail_msg("case %zu: \"%s\" is not in:\n%s", i, cases[i].want, text);
    }
    close_world(&w);
}

static void test_config_new__refuses_contradictions(void **state)
{
    static const tn_str comma[] = {{"a,b", 3}}, twice[] = {{"id", 2}, {"id", 2}};
    struct world w;
    tn_properties p = {0};
    tn_hudi_new bad;

    (void)state;
    open_world(&w);
    bad = usual(7);
    assert_fails(w.cx, TARN_E_INVALID, "version 7", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.name = TN_STR("");
    assert_fails(w.cx, TARN_E_INVALID, "name", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.key_count = 0;
    assert_fails(w.cx, TARN_E_INVALID, "--key", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.keys = comma;
    assert_fails(w.cx, TARN_E_INVALID, "a,b", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad.keys = twice;
    bad.key_count = 2;
    assert_fails(w.cx, TARN_E_INVALID, "twice", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.keygen = TN_KEYGEN_SIMPLE;
    bad.keys = two_keys;
    bad.key_count = 2;
    assert_fails(w.cx, TARN_E_INVALID, "SIMPLE", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.keygen = TN_KEYGEN_NON_PARTITION;
    assert_fails(w.cx, TARN_E_INVALID, "no partition",
                 tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.keygen = TN_KEYGEN_TIMESTAMP;
    assert_fails(w.cx, TARN_E_INVALID, "timestamp.type",
                 tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(6);
    bad.partitions = two_parts;
    bad.partition_count = 2;
    bad.partition_is_time = times;
    assert_fails(w.cx, TARN_E_INVALID, "--table-version 8",
                 tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(8);
    bad.ordering = two_orders;
    bad.ordering_count = 2;
    assert_fails(w.cx, TARN_E_INVALID, "one ordering",
                 tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.ordering_count = 0;
    bad.merge_mode = TN_MERGE_EVENT_TIME;
    assert_fails(w.cx, TARN_E_INVALID, "--ordering", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    bad = usual(9);
    bad.payload = TN_STR("org.apache.hudi.common.model.AWSDmsAvroPayload");
    assert_fails(w.cx, TARN_E_UNSUPPORTED, "AWSDms", tn_hudi_config_new(w.cx, &bad, &w.arena, &p));
    assert_null(p.items);
    close_world(&w);
}

/* ---- replacing the file */

static void put(struct world *w, const char *path, tn_str text)
{
    assert_ok(w->cx, tn_store_put(w->cx, w->store, tn_str_of(path), text));
}

static bool has(struct world *w, const char *path)
{
    bool there;

    assert_ok(w->cx, tn_store_exists(w->cx, w->store, tn_str_of(path), &there));
    return there;
}

static void start(struct world *w, tn_properties *properties)
{
    tn_hudi_new options = usual(9);
    tn_buf text = {0};

    assert_ok(w->cx, tn_hudi_config_new(w->cx, &options, &w->arena, properties));
    assert_ok(w->cx, tn_hudi_config_print(w->cx, properties, "Properties saved on", &text));
    put(w, PATH, tn_buf_view(&text));
    tn_buf_clear(&text);
    assert_ok(w->cx, tn_store_sync_all(w->cx, w->store, TN_STR("/")));
}

static tn_str value(struct world *w, const char *key)
{
    tn_hudi_config config;

    assert_ok(w->cx, tn_hudi_config_load(w->cx, w->store, TN_STR(ROOT), &w->arena, &config));
    return tn_properties_get(&config.all, key);
}

static void test_config_update__replaces_the_file(void **state)
{
    tn_properties properties;
    tn_buf text = {0};
    struct world w;

    (void)state;
    open_world(&w);
    start(&w, &properties);
    put(&w, ROOT "/.hoodie/.hoodie.properties.crc", TN_STR("old"));
    put(&w, ROOT "/.hoodie/.hoodie.properties.backup.crc", TN_STR("old"));
    assert_ok(w.cx, tn_properties_set(w.cx, &w.arena, &properties, TN_STR("a"), TN_STR("b")));
    assert_ok(w.cx, tn_hudi_config_update(w.cx, w.store, TN_STR(ROOT), &properties));
    assert_true(tn_str_is(value(&w, "a"), "b"));
    assert_false(has(&w, ROOT "/.hoodie/.hoodie.properties.crc"));
    assert_false(has(&w, ROOT "/.hoodie/.hoodie.properties.backup.crc"));
    assert_false(has(&w, PATH ".backup"));
    assert_ok(w.cx, tn_store_get(w.cx, w.store, TN_STR(PATH), 1 << 16, &text));
    assert_true(tn_str_starts(tn_buf_view(&text), TN_STR("#Updated at 2027-01-15T08:00:00.123Z\n"
                                                         "#Fri Jan 15 08:00:00 UTC 2027\n")));
    tn_buf_clear(&text);
    /* What would not be read is not written. */
    assert_ok(w.cx, tn_properties_set(w.cx, &w.arena, &properties, TN_STR("hoodie.table.checksum"),
                                      TN_STR("1")));
    assert_fails(w.cx, TARN_E_CORRUPT, "checksum",
                 tn_hudi_config_update(w.cx, w.store, TN_STR(ROOT), &properties));
    assert_true(tn_str_is(value(&w, "a"), "b"));
    close_world(&w);
}

static void test_config_update__settles_what_a_crash_left(void **state)
{
    static const struct {
        const char *main, *backup; /* NULL: missing; "": whole */
        bool main_after;
    } cases[] = {
        {NULL, "", true}, {"hoodie.table.na", "", true}, {"", "", true}, {"", "hoodie.tab", true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_properties properties;
        tn_buf text = {0};
        struct world w;

        open_world(&w);
        start(&w, &properties);
        assert_ok(w.cx, tn_store_get(w.cx, w.store, TN_STR(PATH), 1 << 16, &text));
        put(&w, PATH ".backup",
            cases[i].backup[0] == '\0' ? tn_buf_view(&text) : tn_str_of(cases[i].backup));
        if (cases[i].main == NULL)
            assert_ok(w.cx, tn_store_remove(w.cx, w.store, TN_STR(PATH)));
        else if (cases[i].main[0] != '\0')
            put(&w, PATH, tn_str_of(cases[i].main));
        assert_ok(w.cx, tn_hudi_config_settle(w.cx, w.store, TN_STR(ROOT)));
        assert_true(tn_str_is(value(&w, "hoodie.table.name"), "t"));
        assert_false(has(&w, PATH ".backup"));
        tn_buf_clear(&text);
        close_world(&w);
    }
}

/* At every call the file is there, old or new, before and after the next one settles it. */
static void test_config_update__survives_a_crash_at_each_call(void **state)
{
    bool done = false;

    (void)state;
    for (uint64_t n = 1; !done; n++)
        for (int after = 0; after < 2; after++) {
            tn_properties properties;
            tn_store *fault;
            struct world w;
            tn_str seen;
            int rc;

            open_world(&w);
            start(&w, &properties);
            assert_ok(w.cx,
                      tn_properties_set(w.cx, &w.arena, &properties, TN_STR("a"), TN_STR("b")));
            assert_ok(w.cx,
                      tn_store_fault_open(
                          w.cx, w.store, &(tn_fault_plan){.crash_at = n, .crash_after = after != 0},
                          &fault));
            rc = tn_hudi_config_update(w.cx, fault, TN_STR(ROOT), &properties);
            done = n > tn_store_fault_calls(fault);
            tn_store_close(fault);
            tn_store_memory_crash(w.store, n);
            seen = value(&w, "a");
            assert_true(rc == TARN_OK ? tn_str_is(seen, "b")
                                      : seen.len == 0 || tn_str_is(seen, "b"));
            assert_ok(w.cx, tn_hudi_config_settle(w.cx, w.store, TN_STR(ROOT)));
            assert_true(tn_str_equal(value(&w, "a"), seen));
            assert_false(has(&w, PATH ".backup"));
            close_world(&w);
        }
}
