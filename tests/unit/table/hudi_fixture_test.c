/* Every table that real Hudi wrote and that lies beside the repository loads: properties, timeline,
 * commits, slices, schema. Skipped where there are none: the tables belong to other projects. */
#include "table/hudi_slices.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/field.h"
#include "table/hudi_keys.h"
#include "table/hudi_schema.h"
#include "unit/temp_dir.h"
#include "unit/test.h"

typedef struct fixture {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    char temp[4096];
    tn_str root;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_slices slices;
} fixture;

static bool find_zip(const char *name, char *path, size_t size)
{
    const char *shared = getenv("TARN_SHARED");

    snprintf(path, size, "%s/fixtures/%s.zip",
             shared != NULL && shared[0] != '\0' ? shared : TARN_SOURCE_DIR "/../shared", name);
    return access(path, R_OK) == 0;
}

/* The one directory with a .hoodie in it. */
static tn_str find_root(fixture *f)
{
    DIR *dir = opendir(f->temp);
    struct dirent *entry;
    tn_str root = {0};

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[8192];
        struct stat stat_;

        snprintf(path, sizeof path, "%s/%s/.hoodie/hoodie.properties", f->temp, entry->d_name);
        if (entry->d_name[0] != '.' && stat(path, &stat_) == 0)
            assert_ok(f->cx,
                      tn_arena_print(f->cx, &f->arena, &root, "%s/%s", f->temp, entry->d_name));
    }
    closedir(dir);
    assert_true(root.len != 0);
    return root;
}

/* False: there are no fixtures here. */
static bool fixture_open(fixture *f, const char *name)
{
    char zip[4096], command[9000];

    *f = (fixture){0};
    if (!find_zip(name, zip, sizeof zip))
        return false;
    f->cx = tarn_cx_open(NULL);
    temp_dir_make(f->temp, sizeof f->temp);
    snprintf(command, sizeof command, "cd '%s' && unzip -qo '%s'", f->temp, zip);
    if (system(command) != 0)
        fail_msg("%s could not be unpacked", zip);
    assert_ok(f->cx, tn_store_local_open(f->cx, &f->store));
    f->root = find_root(f);
    assert_ok(f->cx, tn_hudi_config_load(f->cx, f->store, f->root, &f->arena, &f->config));
    assert_ok(f->cx,
              tn_timeline_load(f->cx, f->store, f->root, &f->config, &f->arena, &f->timeline));
    return true;
}

static void fixture_close(fixture *f)
{
    if (f->cx == NULL)
        return;
    temp_dir_remove(f->temp);
    tn_arena_clear(&f->arena);
    tn_store_close(f->store);
    tarn_cx_close(f->cx);
}

static void load_slices(fixture *f)
{
    tn_slices_options options = {.footers = true};

    assert_ok(f->cx, tn_slices_load(f->cx, f->store, f->root, &f->config, &f->timeline, &options,
                                    &f->arena, &f->slices));
}

/* What a commit says is printed in the form of its layout, and read back the same. */
static void check_commits(fixture *f)
{
    for (size_t i = 0; i < f->timeline.count; i++) {
        const tn_instant *instant = &f->timeline.instants[i];
        tn_commit_metadata commit, again;
        tn_avro_value value;
        tn_buf bytes = {0};
        bool empty;

        assert_ok(f->cx, tn_timeline_value(f->cx, f->store, &f->timeline, instant->name, &f->arena,
                                           &empty, &value));
        if (instant->state != TN_STATE_COMPLETED ||
            (instant->action != TN_ACTION_COMMIT && instant->action != TN_ACTION_DELTA &&
             instant->action != TN_ACTION_REPLACE))
            continue;
        assert_ok(f->cx,
                  tn_timeline_commit(f->cx, f->store, &f->timeline, instant, &f->arena, &commit));
        assert_int_equal(commit.replace, instant->action == TN_ACTION_REPLACE);
        assert_ok(f->cx, tn_commit_metadata_print(f->cx, &commit, f->timeline.layout, &bytes));
        assert_ok(f->cx, tn_commit_metadata_parse(f->cx, tn_buf_view(&bytes), TN_STR("again"),
                                                  &f->arena, &again));
        assert_int_equal(commit.stat_count, again.stat_count);
        assert_int_equal(commit.replaced_count, again.replaced_count);
        assert_int_equal(commit.extra_count, again.extra_count);
        assert_true(tn_str_equal(commit.operation, again.operation));
        for (size_t k = 0; k < commit.stat_count; k++) {
            const tn_write_stat *a = &commit.stats[k], *b = &again.stats[k];

            assert_true(tn_str_equal(a->path, b->path) && tn_str_equal(a->file_id, b->file_id) &&
                        tn_str_equal(a->prev_instant, b->prev_instant) &&
                        tn_str_equal(a->partition, b->partition));
            assert_true(a->writes == b->writes && a->inserts == b->inserts &&
                        a->updates == b->updates && a->deletes == b->deletes &&
                        a->bytes == b->bytes);
        }
        tn_buf_clear(&bytes);
    }
}

static void check_schema(fixture *f, int64_t columns)
{
    struct ArrowSchema schema = {0}, meta = {0};
    bool known;
    tn_str avro;

    assert_ok(f->cx, tn_hudi_schema_load(f->cx, f->store, &f->config, &f->timeline, &f->slices,
                                         (tn_str){0}, &f->arena, &known, &avro, &schema));
    assert_true(known && avro.len != 0);
    assert_int_equal(schema.n_children, columns);
    assert_ok(f->cx, tn_hudi_schema_meta(f->cx, &schema, &meta));
    assert_int_equal(meta.n_children, schema.n_children + 5);
    tn_field_release(&schema);
    tn_field_release(&meta);
}

static void test_hudi_fixture__all_load(void **state)
{
    static const struct {
        const char *name;
        int32_t version;
        bool mor;
        size_t partitions, slices;
        int64_t rows; /* of base files */
        size_t logs;
        int64_t columns;
    } cases[] = {
        {"cow_v6_complexkeygen_hivestyle", 6, false, 3, 3, 4, 0, 16},
        {"cow_v6_nonpartitioned", 6, false, 1, 1, 4, 0, 16},
        {"cow_v6_simplekeygen_hivestyle_no_metafields", 6, false, 3, 3, 4, 0, 16},
        {"cow_v6_simplekeygen_nonhivestyle", 6, false, 3, 3, 4, 0, 16},
        {"cow_v6_timebasedkeygen_nonhivestyle", 6, false, 4, 4, 4, 0, 17},
        {"cow_v8_complexkeygen_hivestyle", 8, false, 3, 3, 4, 0, 16},
        {"cow_v8_nonpartitioned", 8, false, 1, 1, 4, 0, 16},
        {"cow_v9_timebasedkeygen_nonhivestyle", 9, false, 5, 6, 5, 0, 13},
        {"cow_v9_txns_nonpart_nometa", 9, false, 1, 2, 14, 0, 12},
        {"cow_v9_txns_simple_meta", 9, false, 3, 5, 12, 0, 13},
        {"cow_v9_txns_simple_overwrite", 9, false, 3, 3, 3, 0, 13},
        {"mor_avro_v9_nonpartitioned_rollback", 9, true, 1, 2, 4, 0, 12},
        {"mor_avro_v9_timebasedkeygen_nonhivestyle", 9, true, 6, 7, 7, 2, 13},
        {"mor_avro_v9_txns_complex_nometa", 9, true, 3, 5, 12, 0, 13},
        {"mor_avro_v9_txns_nonpart_nometa", 9, true, 1, 2, 14, 0, 12},
        {"mor_avro_v9_txns_simple_meta", 9, true, 3, 5, 12, 0, 13},
        {"mor_parquet_v6_complexkeygen_hivestyle", 6, true, 3, 3, 4, 1, 16},
        {"mor_parquet_v6_nonpartitioned", 6, true, 1, 2, 4, 1, 16},
        {"mor_parquet_v6_nonpartitioned_rollback", 6, true, 1, 1, 3, 3, 16},
        {"mor_parquet_v6_simplekeygen_nonhivestyle", 6, true, 3, 3, 4, 1, 16},
        {"trips_mor_avro_v6_trips_8i1u", 6, true, 3, 3, 8, 1, 6},
        {"trips_mor_avro_v8_trips_8i3u1d", 8, true, 3, 3, 6, 1, 6},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t rows = 0;
        size_t logs = 0;
        fixture f;

        if (!fixture_open(&f, cases[i].name))
            skip();
        check_commits(&f);
        load_slices(&f);
        assert_int_equal(f.config.version, cases[i].version);
        assert_int_equal(f.config.mor, cases[i].mor);
        assert_int_equal(f.slices.partition_count, cases[i].partitions);
        assert_int_equal(f.slices.slice_count, cases[i].slices);
        assert_int_equal(f.slices.invisible, 0);
        assert_int_equal(f.timeline.strange_count, 0);
        for (size_t k = 0; k < f.slices.slice_count; k++) {
            rows += f.slices.slices[k].base.rows;
            logs += f.slices.slices[k].log_count;
        }
        assert_int_equal(rows, cases[i].rows);
        assert_int_equal(logs, cases[i].logs);
        check_schema(&f, cases[i].columns);
        fixture_close(&f);
    }
}

static void test_hudi_fixture__an_empty_table_has_a_schema(void **state)
{
    fixture f;

    (void)state;
    if (!fixture_open(&f, "cow_v8_empty"))
        skip();
    load_slices(&f);
    assert_int_equal(f.slices.slice_count, 0);
    check_schema(&f, 3);
    fixture_close(&f);
}

static void test_hudi_fixture__lance_is_refused_by_name(void **state)
{
    tn_slices_options options = {0};
    fixture f;

    (void)state;
    if (!fixture_open(&f, "cow_v9_lance_nonpartitioned"))
        skip();
    assert_fails(f.cx, TARN_E_UNSUPPORTED, "LANCE",
                 tn_slices_load(f.cx, f.store, f.root, &f.config, &f.timeline, &options, &f.arena,
                                &f.slices));
    fixture_close(&f);
}

static void test_hudi_fixture__earlier_instants(void **state)
{
    tn_slices_options options = {0};
    size_t seen = 0;
    fixture f;

    (void)state;
    if (!fixture_open(&f, "cow_v9_txns_simple_overwrite"))
        skip();
    for (size_t i = 0; i < f.timeline.count; i++) {
        tn_slices slices;

        if (f.timeline.instants[i].action != TN_ACTION_COMMIT &&
            f.timeline.instants[i].action != TN_ACTION_REPLACE)
            continue;
        options.as_of = f.timeline.instants[i].time;
        assert_ok(f.cx, tn_slices_load(f.cx, f.store, f.root, &f.config, &f.timeline, &options,
                                       &f.arena, &slices));
        for (size_t k = 0; k < slices.slice_count; k++)
            assert_true(tn_str_compare(slices.slices[k].base.instant, options.as_of) <= 0);
        seen += slices.slice_count != 0;
    }
    assert_true(seen > 1);
    fixture_close(&f);
}
