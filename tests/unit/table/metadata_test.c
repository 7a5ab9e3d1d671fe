/* The metadata tables that real Hudi wrote: what they list is what is there, the record index finds
 * every row that Spark read, secondary indexes find their keys. Skipped where there are none. And
 * how keys are spelled, and versions are merged. */
#include "table/metadata_parts.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/temp_dir.h"
#include "unit/test.h"

/* ---- keys ---- */

static void test_metadata__key_hashes(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {{"currency", "/m6lxu4Dh5w="}, {"region=us", "431THTTwO5Q="}};
    tn_buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_buf_reset(&out);
        tn_metadata_key_hash(&out, tn_str_of(cases[i].text));
        assert_true(tn_str_is(tn_buf_view(&out), cases[i].want));
    }
    tn_buf_clear(&out);
    assert_true(tn_str_is(tn_metadata_key_partition(TN_STR("")), "."));
}

/* By Java: "s".hashCode(). */
static void test_metadata__key_groups(void **state)
{
    static const struct {
        const char *key;
        size_t groups, want;
    } cases[] = {
        {"", 10, 0},
        {"a", 10, 7}, /* 97 */
        {"TXN-001", 1, 0},
        {"polygenelubricants", 10, 8},   /* -2147483648: no absolute value */
        {"\xc3\xa9", 10, 3},             /* é: 233 */
        {"\xe2\x82\xac", 1000, 364},     /* €: 8364 */
        {"\xf0\x9f\x98\x80", 1000, 899}, /* U+1F600: 31 * 0xD83D + 0xDE00 = 1772899 */
        {"hello", 1000, 322},            /* 99162322 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (tn_metadata_key_group(tn_str_of(cases[i].key), cases[i].groups) != cases[i].want)
            fail_msg("%s: %zu", cases[i].key,
                     tn_metadata_key_group(tn_str_of(cases[i].key), cases[i].groups));
}

static void test_metadata__key_secondary(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_arena arena = {0};
    tn_buf out = {0};
    bool found;
    tn_str key;

    (void)state;
    tn_metadata_key_secondary(&out, (tn_str){"a$b\\c\0d", 7});
    assert_int_equal(out.len, 11);
    assert_memory_equal(out.data, "a\\$b\\\\c\\\0d$", 11);
    tn_buf_str(&out, TN_STR("TXN\\$1"));
    assert_ok(cx, tn_metadata_key_record(cx, tn_buf_view(&out), &arena, &found, &key));
    assert_true(found && tn_str_is(key, "TXN$1"));
    assert_ok(cx, tn_metadata_key_record(cx, TN_STR("abc\\$d"), &arena, &found, &key));
    assert_false(found);
    tn_buf_reset(&out);
    tn_metadata_key_secondary(&out, (tn_str){NULL, 0});
    assert_int_equal(out.len, 2);
    tn_buf_clear(&out);
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}

/* ---- merging ---- */

typedef struct tree {
    tarn_cx *cx;
    tn_arena arena;
    json_t *json[8];
    size_t count;
} tree;

/* A value out of JSON as a record of maps, long, boolean, string, null. */
static tn_avro_value value_of(tree *t, const json_t *json)
{
    tn_avro_value out = {.kind = TN_AVRO_NULL};
    const char *key;
    json_t *item;
    size_t n = 0, count = json_object_size(json);
    tn_str *names;
    bool map = json_object_get(json, "#map") != NULL;

    if (json_is_integer(json))
        return (tn_avro_value){.kind = TN_AVRO_LONG, .as.i = json_integer_value(json)};
    if (json_is_boolean(json))
        return (tn_avro_value){.kind = TN_AVRO_BOOLEAN, .as.truth = json_is_true(json)};
    if (json_is_real(json))
        return (tn_avro_value){.kind = TN_AVRO_DOUBLE, .as.d = json_real_value(json)};
    if (json_is_string(json))
        return (tn_avro_value){.kind = TN_AVRO_STRING,
                               .as.text = tn_str_of(json_string_value(json))};
    if (!json_is_object(json))
        return out;
    names = tn_arena_array(t->cx, &t->arena, count + 1, sizeof *names);
    out.as.many.items = tn_arena_array(t->cx, &t->arena, count + 1, sizeof out);
    json_object_foreach((json_t *)(uintptr_t)json, key, item)
    {
        if (strcmp(key, "#map") == 0)
            continue;
        names[n] = tn_str_of(key);
        out.as.many.items[n++] = value_of(t, item);
    }
    out.kind = map ? TN_AVRO_MAP : TN_AVRO_RECORD;
    out.as.many.names = names;
    out.as.many.count = n;
    return out;
}

static tn_metadata_record record_of(tree *t, const char *const *versions, size_t count)
{
    tn_metadata_record out = {.key = TN_STR("k"), .count = count};

    out.versions = tn_arena_array(t->cx, &t->arena, count, sizeof *out.versions);
    for (size_t i = 0; i < count; i++) {
        assert_ok(t->cx, tn_json_parse(t->cx, tn_str_of(versions[i]), "test", &t->json[t->count]));
        out.versions[i] = value_of(t, t->json[t->count++]);
    }
    return out;
}

static void tree_close(tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        json_decref(t->json[i]);
    tn_arena_clear(&t->arena);
    tarn_cx_close(t->cx);
}

#define FILES(text)      "{\"filesystemMetadata\": {\"#map\": 1" text "}}"
#define LIVE(name, size) ", \"" name "\": {\"size\": " size ", \"isDeleted\": false}"
#define GONE(name)       ", \"" name "\": {\"size\": 0, \"isDeleted\": true}"

static void test_metadata__names_are_merged(void **state)
{
    static const char *const versions[] = {
        FILES(LIVE("a", "5") LIVE("b", "7") LIVE("e", "1")),
        FILES(LIVE("a", "9") GONE("b") GONE("c")),
        FILES(LIVE("a", "3") LIVE("b", "4") LIVE("c", "6") GONE("d") GONE("e")),
    };
    tree t = {.cx = tarn_cx_open(NULL)};
    tn_metadata_record record = record_of(&t, versions, 3);
    tn_metadata_name *names;
    tn_buf told = {0};
    size_t count;

    (void)state;
    assert_ok(t.cx, tn_metadata_names(t.cx, &record, &t.arena, &names, &count));
    for (size_t i = 0; i < count; i++)
        tn_buf_print(&told, "%.*s%s%llu ", TN_STR_ARG(names[i].name), names[i].deleted ? "-" : "=",
                     (unsigned long long)names[i].size_bytes);
    if (!tn_str_is(tn_buf_view(&told), "a=9 b=4 c=6 d-0 "))
        fail_msg("%.*s", TN_STR_ARG(tn_buf_view(&told)));
    tn_buf_clear(&told);
    tree_close(&t);
}

#define STATS(min, max, values, nulls, tight, gone)                                                \
    "{\"ColumnStatsMetadata\": {\"minValue\": " min ", \"maxValue\": " max                         \
    ", \"valueCount\": " values ", \"nullCount\": " nulls ", \"isTightBound\": " tight             \
    ", \"isDeleted\": " gone "}}"
#define V(value) "{\"value\": " value "}"

static void test_metadata__stats_are_merged(void **state)
{
    static const struct {
        const char *versions[3];
        size_t count;
        const char *want;
    } cases[] = {
        {{STATS(V("3"), V("5"), "4", "1", "false", "false")}, 1, "3..5 4/1"},
        {{STATS(V("3"), V("5"), "4", "1", "false", "false"),
          STATS(V("1"), V("4"), "2", "0", "false", "false")},
         2,
         "1..5 6/1"},
        /* all nulls have no bounds, and say nothing of them */
        {{STATS("null", "null", "4", "4", "false", "false"),
          STATS(V("1"), V("4"), "2", "0", "false", "false")},
         2,
         "1..4 6/4"},
        {{STATS(V("1"), V("4"), "2", "0", "false", "false"),
          STATS("null", "null", "4", "4", "false", "false")},
         2,
         "1..4 6/4"},
        /* values without bounds: not known */
        {{STATS("null", "null", "4", "1", "false", "false"),
          STATS(V("1"), V("4"), "2", "0", "false", "false")},
         2,
         "?..? 6/1"},
        {{STATS(V("1"), V("4"), "2", "null", "false", "false"),
          STATS(V("2"), V("9"), "2", "0", "false", "false")},
         2,
         "1..9 4/-1"},
        {{STATS(V("1"), V("4"), "2", "0", "false", "false"),
          STATS(V("\"x\""), V("\"y\""), "2", "0", "false", "false")},
         2,
         "?..? 4/0"},
        {{STATS(V("1"), V("4"), "2", "0", "false", "false"),
          STATS(V("2"), V("3"), "1", "0", "true", "false")},
         2,
         "2..3 1/0"},
        {{STATS(V("1"), V("4"), "2", "0", "false", "false"),
          STATS("null", "null", "-1", "-1", "false", "true")},
         2,
         "gone"},
        {{STATS(V("1"), V("4"), "2", "0", "false", "false"),
          STATS("null", "null", "-1", "-1", "false", "true"),
          STATS(V("8"), V("9"), "3", "0", "false", "false")},
         3,
         "8..9 3/0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tree t = {.cx = tarn_cx_open(NULL)};
        tn_metadata_record record = record_of(&t, cases[i].versions, cases[i].count);
        const tn_avro_value *stats, *min, *max;
        tn_buf told = {0};
        bool live;

        assert_ok(t.cx, tn_metadata_stats_merge(t.cx, &record, &t.arena, &live, &stats));
        min = tn_avro_member(tn_avro_member(stats, "minValue"), "value");
        max = tn_avro_member(tn_avro_member(stats, "maxValue"), "value");
        if (!live)
            tn_buf_text(&told, "gone");
        else if (min == NULL || max == NULL)
            tn_buf_text(&told, "?..?");
        else
            tn_buf_print(&told, "%lld..%lld", (long long)min->as.i, (long long)max->as.i);
        if (live)
            tn_buf_print(&told, " %lld/%lld",
                         (long long)tn_avro_i64(tn_avro_member(stats, "valueCount"), -1),
                         (long long)tn_avro_i64(tn_avro_member(stats, "nullCount"), -1));
        if (!tn_str_is(tn_buf_view(&told), cases[i].want))
            fail_msg("case %zu: %.*s, not %s", i, TN_STR_ARG(tn_buf_view(&told)), cases[i].want);
        tn_buf_clear(&told);
        tree_close(&t);
    }
}

/* ---- tables of real Hudi ---- */

typedef struct fixture {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    char temp[4096];
    tn_str root;
    tn_hudi_config config;
    tn_timeline timeline;
    tn_metadata *metadata;
    json_t *answers;
} fixture;

static void shared_path(const char *name, const char *ending, char *path, size_t size)
{
    const char *shared = getenv("TARN_SHARED");

    snprintf(path, size, "%s/fixtures/%s.%s",
             shared != NULL && shared[0] != '\0' ? shared : TARN_SOURCE_DIR "/../shared", name,
             ending);
}

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
    char zip[4096], answers[4096], command[9000];

    *f = (fixture){0};
    shared_path(name, "zip", zip, sizeof zip);
    shared_path(name, "json", answers, sizeof answers);
    if (access(zip, R_OK) != 0)
        return false;
    f->cx = tarn_cx_open(NULL);
    temp_dir_make(f->temp, sizeof f->temp);
    snprintf(command, sizeof command, "cd '%s' && unzip -qo '%s'", f->temp, zip);
    if (system(command) != 0)
        fail_msg("%s could not be unpacked", zip);
    f->answers = json_load_file(answers, 0, NULL);
    assert_non_null(f->answers);
    assert_ok(f->cx, tn_store_local_open(f->cx, &f->store));
    f->root = find_root(f);
    assert_ok(f->cx, tn_hudi_config_load(f->cx, f->store, f->root, &f->arena, &f->config));
    assert_ok(f->cx,
              tn_timeline_load(f->cx, f->store, f->root, &f->config, &f->arena, &f->timeline));
    assert_ok(f->cx,
              tn_metadata_open(f->cx, f->store, f->root, &f->config, &f->timeline, &f->metadata));
    return true;
}

static void fixture_close(fixture *f)
{
    if (f->cx == NULL)
        return;
    tn_metadata_close(f->metadata);
    json_decref(f->answers);
    temp_dir_remove(f->temp);
    tn_arena_clear(&f->arena);
    tn_store_close(f->store);
    tarn_cx_close(f->cx);
}

/* The rows of a snapshot query. */
static json_t *rows_of(fixture *f)
{
    json_t *queries = json_object_get(f->answers, "queries"), *query;
    size_t i;

    json_array_foreach(queries, i,
                       query) if (strcmp(json_string_value(json_object_get(query, "q")),
                                         "snapshot") == 0) return json_object_get(query, "rows");
    fail_msg("no snapshot query");
    return NULL;
}

static tn_str text_of(const json_t *row, const char *name)
{
    return tn_str_of(json_string_value(json_object_get(row, name)));
}

/* Whether a row of that key is where the index says. (A key may be in several partitions where the
 * writer did not look for it beyond the row's own: the index knows the last one.) */
static bool has_row(json_t *rows, tn_str key, const tn_metadata_place *place)
{
    json_t *row;
    size_t i;

    json_array_foreach(
        rows, i,
        row) if (place->found && tn_str_equal(text_of(row, "_hoodie_record_key"), key) &&
                 tn_str_equal(text_of(row, "_hoodie_partition_path"), place->partition) &&
                 tn_str_starts(text_of(row, "_hoodie_file_name"), place->file_id)) return true;
    return false;
}

static void check_places(fixture *f, const char *name)
{
    json_t *rows = rows_of(f), *row;
    size_t i, count = json_array_size(rows);
    tn_str *keys = tn_arena_array(f->cx, &f->arena, count + 1, sizeof *keys);
    tn_metadata_place *places = tn_arena_array(f->cx, &f->arena, count + 1, sizeof *places);

    json_array_foreach(rows, i, row) keys[i] = text_of(row, "_hoodie_record_key");
    keys[count] = TN_STR("no such key");
    assert_ok(f->cx, tn_metadata_locate(f->cx, f->metadata, keys, count + 1, &f->arena, places));
    assert_false(places[count].found);
    for (i = 0; i < count; i++)
        if (!has_row(rows, keys[i], &places[i]))
            fail_msg("%s: key %.*s is not in %.*s in \"%.*s\"", name, TN_STR_ARG(keys[i]),
                     TN_STR_ARG(places[i].file_id), TN_STR_ARG(places[i].partition));
}

static void test_metadata__fixtures(void **state)
{
    static const struct {
        const char *name;
        bool record_index;
    } cases[] = {
        {"cow_v9_timebasedkeygen_nonhivestyle", true},
        {"cow_v9_txns_simple_meta", true},
        {"cow_v9_txns_simple_overwrite", true},
        {"mor_avro_v9_nonpartitioned_rollback", true},
        {"mor_avro_v9_timebasedkeygen_nonhivestyle", true},
        {"mor_avro_v9_txns_simple_meta", true},
        {"trips_mor_avro_v8_trips_8i3u1d", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_metadata_difference *differences;
        size_t count;
        fixture f;

        if (!fixture_open(&f, cases[i].name))
            skip();
        assert_non_null(f.metadata);
        assert_ok(f.cx, tn_metadata_check(f.cx, f.metadata, &f.arena, &differences, &count));
        if (count != 0)
            fail_msg("%s: %.*s/%.*s differs", cases[i].name, TN_STR_ARG(differences[0].partition),
                     TN_STR_ARG(differences[0].name));
        check_places(&f, cases[i].name);
        fixture_close(&f);
    }
}

static void test_metadata__a_table_without(void **state)
{
    fixture f;

    (void)state;
    if (!fixture_open(&f, "cow_v9_txns_nonpart_nometa"))
        skip();
    assert_null(f.metadata);
    fixture_close(&f);
}

static void test_metadata__secondary_keys(void **state)
{
    static const struct {
        const char *table, *column;
    } cases[] = {{"mor_avro_v9_txns_simple_meta", "merchant_name"},
                 {"cow_v9_txns_simple_meta", "merchant_name"},
                 {"trips_mor_avro_v8_trips_8i3u1d", "rider"}};

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        json_t *rows, *row, *other;
        size_t i, k, count;
        tn_str *keys;
        bool usable;
        fixture f;

        if (!fixture_open(&f, cases[n].table))
            skip();
        rows = rows_of(&f);
        json_array_foreach(rows, i, row)
        {
            tn_str value = text_of(row, cases[n].column);
            size_t want = 0, hits = 0;

            if (value.ptr == NULL)
                continue;
            assert_ok(f.cx, tn_metadata_secondary(f.cx, f.metadata, tn_str_of(cases[n].column),
                                                  value, &f.arena, &usable, &keys, &count));
            assert_true(usable);
            json_array_foreach(rows, k, other)
            {
                if (!tn_str_equal(value, text_of(other, cases[n].column)))
                    continue;
                want++;
                for (size_t j = 0; j < count; j++)
                    hits += tn_str_equal(keys[j], text_of(other, "_hoodie_record_key"));
            }
            assert_int_equal(count, want);
            assert_int_equal(hits, want);
        }
        assert_ok(f.cx, tn_metadata_secondary(f.cx, f.metadata, TN_STR("nothing"), TN_STR("x"),
                                              &f.arena, &usable, &keys, &count));
        assert_false(usable);
        fixture_close(&f);
    }
}

static void test_metadata__columns(void **state)
{
    tn_metadata_stats *stats;
    size_t count;
    bool usable;
    tn_str hash;
    fixture f;

    (void)state;
    if (!fixture_open(&f, "mor_avro_v9_txns_simple_meta"))
        skip();
    assert_ok(f.cx, tn_metadata_column(f.cx, f.metadata, false, TN_STR("amount"), &f.arena, &usable,
                                       &stats, &count));
    assert_true(usable);
    assert_int_equal(count, 19);
    for (size_t i = 0; i < count; i++) {
        assert_true(stats[i].file.len != 0 && stats[i].partition_hash.len == 12);
        assert_true(stats[i].type == 10 || stats[i].type == 1);
        assert_true(stats[i].type == 1 || tn_str_is(stats[i].type_info, "15,2"));
        assert_true(stats[i].min == NULL || stats[i].wrapper == TN_METADATA_BYTES);
    }
    assert_ok(f.cx, tn_metadata_column(f.cx, f.metadata, true, TN_STR("txn_date"), &f.arena,
                                       &usable, &stats, &count));
    assert_true(usable);
    assert_int_equal(count, 3);
    assert_ok(f.cx, tn_metadata_partition_hash(f.cx, stats[0].file, &f.arena, &hash));
    assert_true(tn_str_equal(hash, stats[0].partition_hash));
    assert_true(stats[0].type == 12 && stats[0].min->kind == TN_AVRO_INT);
    assert_ok(f.cx, tn_metadata_column(f.cx, f.metadata, false, TN_STR("none"), &f.arena, &usable,
                                       &stats, &count));
    assert_false(usable);
    fixture_close(&f);
}

static void test_metadata__one_record(void **state)
{
    tn_avro_value value;
    tn_buf text = {0};
    tn_json json = tn_json_to(&text);
    bool found;
    fixture f;

    (void)state;
    if (!fixture_open(&f, "mor_avro_v9_txns_simple_meta"))
        skip();
    assert_ok(f.cx, tn_metadata_value(f.cx, f.metadata, "files", TN_STR("region=us"), &f.arena,
                                      &found, &value));
    assert_true(found);
    tn_avro_to_json(&json, &value);
    tn_buf_u8(&text, 0);
    assert_non_null(strstr((char *)text.data, "\"key\":\"region=us\""));
    assert_non_null(strstr((char *)text.data, ".parquet\":{\"size\":"));
    assert_ok(f.cx, tn_metadata_value(f.cx, f.metadata, "record_index", TN_STR("TXN-001"), &f.arena,
                                      &found, &value));
    assert_true(found);
    assert_ok(f.cx, tn_metadata_value(f.cx, f.metadata, "record_index", TN_STR("TXN-"), &f.arena,
                                      &found, &value));
    assert_false(found);
    assert_fails(f.cx, TARN_E_NOTFOUND, "no partition bloom_filters",
                 tn_metadata_value(f.cx, f.metadata, "bloom_filters", TN_STR("x"), &f.arena, &found,
                                   &value));
    tn_buf_clear(&text);
    fixture_close(&f);
}

/* ---- slices out of it ---- */

static void load_slices(fixture *f, enum tn_slices_listing listing, tn_slices *out)
{
    tn_slices_options options = {.listing = listing};

    assert_ok(f->cx, tn_slices_load(f->cx, f->store, f->root, &f->config, &f->timeline, &options,
                                    &f->arena, out));
}

static void same_slices(const char *name, const tn_slices *a, const tn_slices *b)
{
    assert_int_equal(a->partition_count, b->partition_count);
    assert_int_equal(a->slice_count, b->slice_count);
    assert_int_equal(a->older, b->older);
    for (size_t i = 0; i < a->partition_count; i++)
        assert_true(tn_str_equal(a->partitions[i], b->partitions[i]));
    for (size_t i = 0; i < a->slice_count; i++) {
        const tn_slice *x = &a->slices[i], *y = &b->slices[i];

        if (!tn_str_equal(x->base.name, y->base.name) || x->base.size_bytes != y->base.size_bytes ||
            x->log_count != y->log_count)
            fail_msg("%s: %.*s, not %.*s", name, TN_STR_ARG(y->base.name),
                     TN_STR_ARG(x->base.name));
        for (size_t k = 0; k < x->log_count; k++)
            assert_true(tn_str_equal(x->logs[k].path, y->logs[k].path) &&
                        x->logs[k].size_bytes == y->logs[k].size_bytes);
    }
}

/* Cuts the newest file of the partition "files" in half. */
static void damage(fixture *f)
{
    tn_str directory, path, newest = {0};
    tn_entry *entries;
    tn_buf bytes = {0};
    size_t count;

    assert_ok(f->cx, tn_path_join(f->cx, &f->arena, f->root, TN_STR(".hoodie/metadata/files"),
                                  &directory));
    assert_ok(f->cx, tn_store_list(f->cx, f->store, directory, &f->arena, &entries, &count));
    for (size_t i = 0; i < count; i++)
        if (tn_str_ends(entries[i].name, TN_STR(".hfile")) &&
            tn_str_compare(entries[i].name, newest) > 0)
            newest = entries[i].name;
    assert_true(newest.len != 0);
    assert_ok(f->cx, tn_path_join(f->cx, &f->arena, directory, newest, &path));
    assert_ok(f->cx, tn_store_get(f->cx, f->store, path, 1 << 20, &bytes));
    bytes.len /= 2;
    assert_ok(f->cx, tn_store_put(f->cx, f->store, path, tn_buf_view(&bytes)));
    tn_buf_clear(&bytes);
}

static void test_metadata__slices(void **state)
{
    static const char *const names[] = {
        "cow_v9_timebasedkeygen_nonhivestyle",
        "cow_v9_txns_simple_meta",
        "cow_v9_txns_simple_overwrite",
        "mor_avro_v9_nonpartitioned_rollback",
        "mor_avro_v9_timebasedkeygen_nonhivestyle",
        "mor_avro_v9_txns_simple_meta",
        "trips_mor_avro_v8_trips_8i3u1d",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tn_slices walked, listed, again;
        tn_str warning;
        fixture f;

        if (!fixture_open(&f, names[i]))
            skip();
        load_slices(&f, TN_SLICES_DIRECTORIES, &walked);
        load_slices(&f, TN_SLICES_METADATA, &listed);
        assert_false(walked.listed);
        assert_true(listed.listed && listed.listing_problem.len == 0);
        same_slices(names[i], &walked, &listed);
        damage(&f);
        load_slices(&f, TN_SLICES_METADATA, &again);
        assert_false(again.listed);
        same_slices(names[i], &walked, &again);
        assert_ok(f.cx, tn_slices_warning(f.cx, &again, &f.arena, &warning));
        assert_true(tn_str_starts(warning, TN_STR("the metadata table cannot be used")));
        assert_true(tn_str_starts(again.listing_problem, f.root));
        assert_ok(f.cx, tn_slices_warning(f.cx, &walked, &f.arena, &warning));
        assert_int_equal(warning.len, 0);
        fixture_close(&f);
    }
}

/* The base file of the listing: without it older files would not be listed. */
static void test_metadata__a_lost_base_file(void **state)
{
    static const char *const names[] = {"trips_mor_avro_v8_trips_8i3u1d",
                                        "mor_avro_v9_timebasedkeygen_nonhivestyle"};

    (void)state;
    for (size_t n = 0; n < 2; n++) {
        tn_str directory, path, newest = {0};
        tn_slices walked, listed;
        tn_entry *entries;
        size_t count;
        fixture f;

        if (!fixture_open(&f, names[n]))
            skip();
        load_slices(&f, TN_SLICES_DIRECTORIES, &walked);
        assert_ok(f.cx, tn_path_join(f.cx, &f.arena, f.root, TN_STR(".hoodie/metadata/files"),
                                     &directory));
        assert_ok(f.cx, tn_store_list(f.cx, f.store, directory, &f.arena, &entries, &count));
        for (size_t i = 0; i < count; i++)
            if (tn_str_ends(entries[i].name, TN_STR(".hfile")) &&
                tn_str_compare(entries[i].name, newest) > 0)
                newest = entries[i].name;
        assert_ok(f.cx, tn_path_join(f.cx, &f.arena, directory, newest, &path));
        assert_ok(f.cx, tn_store_remove(f.cx, f.store, path));
        load_slices(&f, TN_SLICES_METADATA, &listed);
        assert_false(listed.listed);
        assert_non_null(strstr(listed.listing_problem.ptr, "is gone"));
        same_slices(names[n], &walked, &listed);
        fixture_close(&f);
    }
}

/* Every log of the partition "files", in turn: gone, empty, cut, and with the length of its first
 * block changed, so that the block is torn. Hudi passes over all of these; here no file vanishes.
 */
static void test_metadata__damaged_logs(void **state)
{
    enum { GONE, EMPTY, CUT, TORN, WAYS };
    tn_slices walked, listed;
    tn_str directory, path;
    tn_entry *entries;
    tn_buf bytes = {0};
    size_t count, logs = 0;
    fixture f;

    (void)state;
    if (!fixture_open(&f, "mor_avro_v9_timebasedkeygen_nonhivestyle"))
        skip();
    load_slices(&f, TN_SLICES_DIRECTORIES, &walked);
    assert_ok(f.cx,
              tn_path_join(f.cx, &f.arena, f.root, TN_STR(".hoodie/metadata/files"), &directory));
    assert_ok(f.cx, tn_store_list(f.cx, f.store, directory, &f.arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        if (tn_str_find(entries[i].name, '.') != 0 ||
            tn_str_starts(entries[i].name, TN_STR(".hoodie")))
            continue;
        logs++;
        assert_ok(f.cx, tn_path_join(f.cx, &f.arena, directory, entries[i].name, &path));
        assert_ok(f.cx, tn_store_get(f.cx, f.store, path, 1 << 20, &bytes));
        for (int way = GONE; way < WAYS; way++) {
            size_t whole = bytes.len;

            if (way == GONE)
                assert_ok(f.cx, tn_store_remove(f.cx, f.store, path));
            bytes.len = way == EMPTY ? 0 : way == CUT ? whole - 9 : whole;
            bytes.data[13] ^= way == TORN;
            if (way != GONE)
                assert_ok(f.cx, tn_store_put(f.cx, f.store, path, tn_buf_view(&bytes)));
            load_slices(&f, TN_SLICES_METADATA, &listed);
            same_slices("damaged", &walked, &listed);
            assert_true(way == GONE || listed.listing_problem.len != 0);
            bytes.data[13] ^= way == TORN;
            bytes.len = whole;
        }
        assert_ok(f.cx, tn_store_put(f.cx, f.store, path, tn_buf_view(&bytes)));
        tn_buf_reset(&bytes);
    }
    assert_true(logs > 3);
    load_slices(&f, TN_SLICES_METADATA, &listed);
    assert_true(listed.listed && listed.listing_problem.len == 0);
    tn_buf_clear(&bytes);
    fixture_close(&f);
}

/* A range whose file was cleaned is read from the newest snapshot, which is then listed by the
 * directories where the metadata table lost a log. */
static void test_metadata__lost_under_a_range(void **state)
{
    static const tn_str range[] = {{"20260307162434124", 17}};
    tn_slices_options options = {
        .listing = TN_SLICES_METADATA, .written_by = range, .written_by_count = 1};
    static const char *const lost[] = {
        "region=us/c7bbe63e-fa43-40ba-94a9-03158165edc6-0_1-27-53_20260307162434124.parquet",
        ".hoodie/metadata/files/.files-0000-0_20260307162456179.log.1_3-257-680"};
    tn_slices walked, listed;
    fixture f;

    (void)state;
    if (!fixture_open(&f, "cow_v9_txns_simple_meta"))
        skip();
    for (size_t i = 0; i < 2; i++) {
        tn_str path;

        assert_ok(f.cx, tn_path_join(f.cx, &f.arena, f.root, tn_str_of(lost[i]), &path));
        assert_ok(f.cx, tn_store_remove(f.cx, f.store, path));
    }
    load_slices(&f, TN_SLICES_DIRECTORIES, &walked);
    assert_ok(f.cx, tn_slices_load(f.cx, f.store, f.root, &f.config, &f.timeline, &options,
                                   &f.arena, &listed));
    assert_true(listed.whole && !listed.listed && listed.listing_problem.len != 0);
    same_slices("range", &walked, &listed);
    fixture_close(&f);
}

/* A task that was tried twice left a second base file, which the commit does not name. */
static void test_metadata__two_tries(void **state)
{
    static const char *const tokens[] = {"0-1-1", "9-999-999"};
    tn_slices walked, listed;
    fixture f;

    (void)state;
    if (!fixture_open(&f, "cow_v9_txns_simple_meta"))
        skip();
    load_slices(&f, TN_SLICES_DIRECTORIES, &walked);
    for (size_t i = 0; i < 2; i++) {
        tn_str name, path;

        assert_ok(f.cx, tn_arena_print(f.cx, &f.arena, &name,
                                       ".hoodie/metadata/files/files-0000-0_%s_20260307162449278"
                                       ".hfile",
                                       tokens[i]));
        assert_ok(f.cx, tn_path_join(f.cx, &f.arena, f.root, name, &path));
        assert_ok(f.cx, tn_store_put(f.cx, f.store, path, TN_STR("half of a file")));
        load_slices(&f, TN_SLICES_METADATA, &listed);
        assert_true(listed.listed && listed.listing_problem.len == 0);
        same_slices("two tries", &walked, &listed);
    }
    fixture_close(&f);
}
