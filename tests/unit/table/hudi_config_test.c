#include "table/hudi_config.h"

#include "io/store_memory.h"
#include "unit/test.h"

#define BASE                                                                                       \
    "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=9\n"               \
    "hoodie.timeline.layout.version=2\n"
#define BASE6 "hoodie.table.name=t\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\n"

static int parse(tarn_cx *cx, const char *text, tn_arena *arena, tn_hudi_config *out)
{
    return tn_hudi_config_parse(cx, tn_str_of(text), TN_STR("p"), arena, out);
}

static void test_hudi_config__reads_a_table_of_version_9(void **state)
{
    static const char text[] =
        "#Properties saved on 2026-03-07T22:24:43Z\n#Sat Mar 07 22:24:43 UTC 2026\n" BASE
        "hoodie.database.name=default\nhoodie.table.checksum=2985977913\n"
        "hoodie.table.name=v9_txns_cow_simple_meta\nhoodie.table.recordkey.fields=txn_id\n"
        "hoodie.table.partition.fields=region\nhoodie.table.ordering.fields=txn_ts\n"
        "hoodie.table.keygenerator.type=SIMPLE\nhoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
        "hoodie.datasource.write.hive_style_partitioning=true\nhoodie.table.format=native\n"
        "hoodie.table.metadata.partitions=files\nhoodie.timeline.path=timeline\n"
        "hoodie.table.create.schema={\"type\"\\:\"record\"}\n";
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_record_key_options options;
    tn_arena arena = {0};
    tn_hudi_config config;

    (void)state;
    assert_ok(cx, parse(cx, text, &arena, &config));
    assert_int_equal(config.version, 9);
    assert_int_equal(config.layout, 2);
    assert_false(config.mor);
    assert_int_equal(config.key_count, 1);
    assert_true(tn_str_is(config.keys[0], "txn_id"));
    assert_true(tn_str_is(config.partitions[0], "region"));
    assert_true(tn_str_is(config.ordering[0], "txn_ts"));
    assert_int_equal(config.keygen, TN_KEYGEN_SIMPLE);
    assert_true(config.keygen_known && config.hive_style && !config.url_encode);
    assert_true(config.meta_fields && config.metadata_table && !config.utc && !config.partial);
    assert_int_equal(config.merge_mode, TN_MERGE_EVENT_TIME);
    assert_true(tn_str_is(config.create_schema, "{\"type\":\"record\"}"));
    assert_true(tn_str_is(config.timeline_path, "timeline"));
    assert_ok(cx, tn_hudi_config_writable(cx, &config));
    tn_hudi_config_keys(&config, &options);
    assert_int_equal(options.kind, TN_KEYGEN_SIMPLE);
    assert_true(options.hive_style && options.key_count == 1 && options.partition_count == 1);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hudi_config__refuses_what_it_does_not_know(void **state)
{
    static const struct {
        const char *text;
        int status;
        const char *part;
    } cases[] = {
        {BASE6 "hoodie.table.version=7\n", TARN_E_UNSUPPORTED, "table version 7"},
        {BASE "hoodie.table.version=10\n", TARN_E_UNSUPPORTED, "table version 10"},
        {BASE6 "hoodie.table.version=1\n", TARN_E_UNSUPPORTED, "table version 1"},
        {"hoodie.table.name=t\n", TARN_E_CORRUPT, "hoodie.table.version is missing"},
        {"hoodie.table.version=6\n", TARN_E_CORRUPT, "hoodie.table.name is missing"},
        {"hoodie.table.version=9\nhoodie.table.name=t\n", TARN_E_CORRUPT, "layout"},
        {BASE6 "hoodie.timeline.layout.version=2\n", TARN_E_CORRUPT, "layout"},
        {BASE "hoodie.table.version=x\n", TARN_E_CORRUPT, "must be a number"},
        {BASE "hoodie.table.checksum=1\n", TARN_E_CORRUPT, "hoodie.table.checksum is 1"},
        {BASE "hoodie.table.type=WIDE\n", TARN_E_UNSUPPORTED, "WIDE"},
        {BASE "hoodie.table.format=iceberg\n", TARN_E_UNSUPPORTED, "iceberg"},
        {BASE "hoodie.record.merge.mode=LUCK\n", TARN_E_UNSUPPORTED, "LUCK"},
        {BASE "hoodie.populate.meta.fields=maybe\n", TARN_E_CORRUPT, "true or false"},
        {BASE "hoodie.timeline.path=../../other\n", TARN_E_CORRUPT, "below .hoodie"},
        {BASE "hoodie.timeline.path=/etc\n", TARN_E_CORRUPT, "below .hoodie"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hudi_config config;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_fails(cx, cases[i].status, cases[i].part, parse(cx, cases[i].text, &arena, &config));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hudi_config__key_generators(void **state)
{
    static const struct {
        const char *text;
        enum tn_keygen want; /* 0: not known */
    } cases[] = {
        {BASE, TN_KEYGEN_NON_PARTITION},
        {BASE "hoodie.table.partition.fields=a\nhoodie.table.recordkey.fields=k\n",
         TN_KEYGEN_SIMPLE},
        {BASE "hoodie.table.partition.fields=a\nhoodie.table.recordkey.fields=k,l\n",
         TN_KEYGEN_COMPLEX},
        {BASE "hoodie.table.partition.fields=a:SIMPLE , b:timestamp\n", TN_KEYGEN_CUSTOM},
        {BASE "hoodie.table.keygenerator.type=TIMESTAMP_AVRO\n", TN_KEYGEN_TIMESTAMP},
        {BASE "hoodie.table.keygenerator.type=GLOBAL_DELETE\n", 0},
        {BASE6 "hoodie.table.keygenerator.class=org.apache.hudi.keygen.ComplexKeyGenerator\n",
         TN_KEYGEN_COMPLEX},
        {BASE6 "hoodie.table.keygenerator.class=org.apache.hudi.keygen.CustomAvroKeyGenerator\n",
         TN_KEYGEN_CUSTOM},
        {BASE "hoodie.table.keygenerator.type=USER_PROVIDED\n"
              "hoodie.table.keygenerator.class=com.acme.MyKeys\n",
         0},
        {BASE6 "hoodie.table.keygenerator.class=com.acme.SimpleKeyGenerator\n", 0},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hudi_config config;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(cx, parse(cx, cases[i].text, &arena, &config));
        assert_int_equal(config.keygen, cases[i].want);
        assert_int_equal(config.keygen_known, cases[i].want != 0);
    }
    assert_ok(cx, parse(cx, cases[3].text, &arena, &config));
    assert_true(tn_str_is(config.partitions[0], "a") && tn_str_is(config.partitions[1], "b"));
    assert_true(!config.partition_is_time[0] && config.partition_is_time[1]);
    assert_ok(cx, parse(cx, cases[8].text, &arena, &config));
    assert_true(tn_str_is(config.keygen_class, "com.acme.MyKeys"));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hudi_config__time_patterns_have_two_names(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hudi_config config;

    (void)state;
    assert_ok(cx, parse(cx,
                        BASE "hoodie.keygen.timebased.timestamp.type=DATE_STRING\n"
                             "hoodie.keygen.timebased.input.dateformat=yyyy-MM-dd'T'HH\\:mm\n"
                             "hoodie.deltastreamer.keygen.timebased.output.dateformat=yyyy/MM\n",
                        &arena, &config));
    assert_int_equal(config.timebased.type, TN_KEYGEN_DATE_STRING);
    assert_true(tn_str_is(config.timebased.input_format, "yyyy-MM-dd'T'HH:mm"));
    assert_true(tn_str_is(config.timebased.output_format, "yyyy/MM"));
    assert_null(config.timebased.zone.ptr);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hudi_config__how_rows_merge(void **state)
{
    static const struct {
        const char *text;
        enum tn_merge_mode want;
        bool partial;
    } cases[] = {
        {BASE "hoodie.record.merge.mode=COMMIT_TIME_ORDERING\n", TN_MERGE_COMMIT_TIME, false},
        {BASE "hoodie.record.merge.mode=CUSTOM\n", TN_MERGE_CUSTOM, false},
        {BASE "hoodie.record.merge.mode=EVENT_TIME_ORDERING\n"
              "hoodie.table.partial.update.mode=IGNORE_DEFAULTS\n",
         TN_MERGE_EVENT_TIME, true},
        /* From 8 on the strategy wins over the payload, below the payload over the strategy. */
        {BASE "hoodie.record.merge.strategy.id=eeb8d96f-b1e4-49fd-bbf8-28ac514178e5\n"
              "hoodie.compaction.payload.class=a.OverwriteWithLatestAvroPayload\n",
         TN_MERGE_EVENT_TIME, false},
        {BASE6 "hoodie.compaction.record.merger.strategy=eeb8d96f-b1e4-49fd-bbf8-28ac514178e5\n"
               "hoodie.compaction.payload.class=a.OverwriteWithLatestAvroPayload\n",
         TN_MERGE_COMMIT_TIME, false},
        {BASE6 "hoodie.compaction.payload.class=x.y.DefaultHoodieRecordPayload\n",
         TN_MERGE_EVENT_TIME, false},
        {BASE6 "hoodie.compaction.payload.class=com.acme.Mine\n", TN_MERGE_CUSTOM, false},
        {BASE6 "hoodie.compaction.payload.class=x.PartialUpdateAvroPayload\n", TN_MERGE_CUSTOM,
         true},
        {BASE6 "hoodie.table.precombine.field=ts\n", TN_MERGE_COMMIT_TIME, false},
        {BASE "hoodie.table.precombine.field=ts\n", TN_MERGE_EVENT_TIME, false},
        {BASE, TN_MERGE_COMMIT_TIME, false},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hudi_config config;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ok(cx, parse(cx, cases[i].text, &arena, &config));
        if (config.merge_mode != cases[i].want || config.partial != cases[i].partial)
            fail_msg("case %zu: mode %d, partial %d", i, config.merge_mode, config.partial);
    }
    assert_ok(cx, parse(cx,
                        BASE "hoodie.record.merge.property.hoodie.payload.delete.field=Op\n"
                             "hoodie.record.merge.property.hoodie.payload.delete.marker=D\n",
                        &arena, &config));
    assert_true(tn_str_is(config.delete_field, "Op") && tn_str_is(config.delete_marker, "D"));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

static void test_hudi_config__tables_that_are_not_written(void **state)
{
    static const struct {
        const char *more, *part;
    } cases[] = {
        {"hoodie.table.type=MERGE_ON_READ\n", "merge-on-read"},
        {"hoodie.table.base.file.format=LANCE\n", "LANCE"},
        {"hoodie.table.base.file.format=ORC\n", "ORC"},
        {"hoodie.bootstrap.base.path=/old\n", "bootstrapped"},
        {"hoodie.table.cdc.enabled=true\n", "change data"},
        {"hoodie.table.keygenerator.type=GLOBAL_DELETE\n", "GLOBAL_DELETE"},
        {"hoodie.table.recordkey.fields=\n", "no record key"},
        {"hoodie.record.merge.mode=CUSTOM\nhoodie.compaction.payload.class=com.acme.Mine\n",
         "com.acme.Mine"},
        {"hoodie.table.partial.update.mode=FILL_UNAVAILABLE\n", "field by field"},
        {"hoodie.datasource.write.drop.partition.columns=true\n", "partition columns"},
        {"hoodie.partition.metafile.use.base.format=true\n", "partition metadata"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_hudi_config config;
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "%shoodie.table.recordkey.fields=k\n%s", BASE, cases[i].more);
        assert_ok(cx, parse(cx, text, &arena, &config));
        assert_fails(cx, TARN_E_UNSUPPORTED, cases[i].part, tn_hudi_config_writable(cx, &config));
        assert_non_null(strstr(tarn_cx_error(cx), "nothing was written"));
    }
    assert_ok(cx, parse(cx, "hoodie.table.name=t\nhoodie.table.version=5\n", &arena, &config));
    assert_int_equal(config.layout, 1);
    assert_fails(cx, TARN_E_UNSUPPORTED, "never written", tn_hudi_config_writable(cx, &config));
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

typedef struct place {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
} place;

static place place_open(void)
{
    place p = {.cx = tarn_cx_open(NULL)};

    assert_ok(p.cx, tn_store_memory_open(p.cx, &p.store));
    assert_ok(p.cx, tn_store_make_dirs(p.cx, p.store, TN_STR("/t/.hoodie")));
    return p;
}

static void place_close(place *p)
{
    tn_arena_clear(&p->arena);
    tn_store_close(p->store);
    tarn_cx_close(p->cx);
}

static void put(place *p, const char *path, const char *text)
{
    assert_ok(p->cx, tn_store_put(p->cx, p->store, tn_str_of(path), tn_str_of(text)));
}

static void test_hudi_config__the_backup_stands_in(void **state)
{
    static const char file[] = "/t/.hoodie/hoodie.properties";
    static const char backup[] = "/t/.hoodie/hoodie.properties.backup";
    place p = place_open();
    tn_hudi_config config;

    (void)state;
    /* A writer has taken the file away and is about to write it anew. */
    put(&p, backup, BASE "hoodie.database.name=kept\n");
    assert_ok(p.cx, tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    assert_true(tn_str_is(config.database, "kept"));
    /* It is half-written. */
    put(&p, file, "hoodie.table.name=t\nhoodie.table.ver");
    assert_ok(p.cx, tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    assert_true(tn_str_is(config.database, "kept"));
    /* A good file counts, whatever its backup says. */
    put(&p, file, BASE "hoodie.database.name=new\n");
    put(&p, backup, "rubbish");
    assert_ok(p.cx, tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    assert_true(tn_str_is(config.database, "new"));
    place_close(&p);
}

static void test_hudi_config__says_what_is_wrong_with_it(void **state)
{
    static const char file[] = "/t/.hoodie/hoodie.properties";
    place p = place_open();
    tn_hudi_config config;

    (void)state;
    assert_fails(p.cx, TARN_E_NOTFOUND, "no directory .hoodie",
                 tn_hudi_config_load(p.cx, p.store, TN_STR("/u"), &p.arena, &config));
    assert_fails(p.cx, TARN_E_NOTFOUND, "neither hoodie.properties nor its backup",
                 tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    put(&p, file, BASE "hoodie.table.checksum=7\n");
    assert_fails(p.cx, TARN_E_CORRUPT, "/t/.hoodie/hoodie.properties: hoodie.table.checksum is 7",
                 tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    put(&p, "/t/.hoodie/hoodie.properties.backup", "x");
    assert_fails(p.cx, TARN_E_CORRUPT, "its backup is damaged, too",
                 tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    /* An unknown version is no damage, and the backup is not asked. */
    put(&p, file, BASE "hoodie.table.version=12\n");
    put(&p, "/t/.hoodie/hoodie.properties.backup", BASE);
    assert_fails(p.cx, TARN_E_UNSUPPORTED, "table version 12",
                 tn_hudi_config_load(p.cx, p.store, TN_STR("/t"), &p.arena, &config));
    place_close(&p);
}
