#include "batch/record_key.h"

#include "unit/batch/table.h"
#include "unit/hex.h"

#define KEYS_MAX 3

/* Rows of three columns: k (text), n (int64) and p (text), and what is asked of them. */
typedef struct spelling_case {
    const char *name;
    enum tn_keygen kind;
    const char *keys[KEYS_MAX], *partitions[KEYS_MAX];
    bool hive, encode, slash, single_named;
    const char *k, *p; /* NULL: null */
    int64_t n;
    bool n_null;
    const char *key, *path; /* wanted; key NULL: INVALID with `path` in its text */
} spelling_case;

static const spelling_case spellings[] = {
    {"simple", TN_KEYGEN_SIMPLE, {"k"}, {"p"}, 0, 0, 0, 0, "a", "x", 1, 0, "a", "x"},
    {"number", TN_KEYGEN_SIMPLE, {"n"}, {"p"}, 1, 0, 0, 0, "a", "x", -7, 0, "-7", "p=x"},
    {"number as path", TN_KEYGEN_SIMPLE, {"k"}, {"n"}, 1, 1, 0, 0, "a", "x", 42, 0, "a", "n=42"},
    {"unicode",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     1,
     0,
     0,
     "\xee\x80\x80",
     "K\xc3\xb6ln",
     1,
     0,
     "\xee\x80\x80",
     "K\xc3\xb6ln"},
    {"commas and colons",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a:b,c:d",
     "x",
     1,
     0,
     "a:b,c:d",
     "x"},
    {"null path",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     1,
     0,
     0,
     0,
     "a",
     NULL,
     1,
     0,
     "a",
     "p=__HIVE_DEFAULT_PARTITION__"},
    {"empty path",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     1,
     0,
     0,
     "a",
     "",
     1,
     0,
     "a",
     "__HIVE_DEFAULT_PARTITION__"},
    {"escaped",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     1,
     1,
     0,
     0,
     "a",
     "x/y=%2F b}",
     1,
     0,
     "a",
     "p=x%2Fy%3D%252F b}"},
    {"nested levels",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a",
     "2024/08/29",
     1,
     0,
     "a",
     "2024/08/29"},
    {"slash dates",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     1,
     0,
     "a",
     "2026-01-05",
     1,
     0,
     "a",
     "2026/01/05"},
    {"colon",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a",
     "2007-09-26 13:14:35.981",
     1,
     0,
     "a",
     "2007-09-26 13:14:35.981"},
    {"complex",
     TN_KEYGEN_COMPLEX,
     {"n", "k"},
     {"p", "n"},
     1,
     0,
     0,
     0,
     "Alice",
     "x",
     1,
     0,
     "n:1,k:Alice",
     "p=x/n=1"},
    {"complex parts",
     TN_KEYGEN_COMPLEX,
     {"n", "k"},
     {"p"},
     0,
     0,
     0,
     0,
     "",
     "x",
     1,
     1,
     NULL,
     "all 2 record key fields"},
    {"complex null",
     TN_KEYGEN_COMPLEX,
     {"n", "k"},
     {"p"},
     0,
     0,
     0,
     0,
     "v",
     "x",
     1,
     1,
     "n:__null__,k:v",
     "x"},
    {"complex empty",
     TN_KEYGEN_COMPLEX,
     {"n", "k"},
     {"p"},
     0,
     0,
     0,
     0,
     "",
     "x",
     1,
     0,
     "n:1,k:__empty__",
     "x"},
    {"complex reserved",
     TN_KEYGEN_COMPLEX,
     {"n", "k"},
     {"p"},
     0,
     0,
     0,
     0,
     "__null__",
     "x",
     1,
     0,
     NULL,
     "stands for null"},
    {"complex one plain", TN_KEYGEN_COMPLEX, {"k"}, {"p"}, 0, 0, 0, 0, "v", "x", 1, 0, "v", "x"},
    {"complex one named", TN_KEYGEN_COMPLEX, {"k"}, {"p"}, 0, 0, 0, 1, "v", "x", 1, 0, "k:v", "x"},
    {"complex one null",
     TN_KEYGEN_COMPLEX,
     {"k"},
     {"p"},
     0,
     0,
     0,
     1,
     NULL,
     "x",
     1,
     0,
     NULL,
     "row 100: the record key field \"k\" is null"},
    {"reserved alone",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "__null__",
     "x",
     1,
     0,
     "__null__",
     "x"},
    {"none", TN_KEYGEN_NON_PARTITION, {"k"}, {NULL}, 1, 1, 0, 0, "v", "x", 1, 0, "v", ""},
    {"none of two",
     TN_KEYGEN_NON_PARTITION,
     {"k", "n"},
     {NULL},
     0,
     0,
     0,
     0,
     "v",
     "x",
     1,
     0,
     "k:v,n:1",
     ""},
    {"null key",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     NULL,
     "x",
     1,
     0,
     NULL,
     "row 100: the record key field \"k\""},
    {"empty key",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "",
     "x",
     1,
     0,
     NULL,
     "is null or empty"},
    {"null number", TN_KEYGEN_SIMPLE, {"n"}, {"p"}, 0, 0, 0, 0, "", "x", 1, 1, NULL, "\"n\""},
    {"slash at the end",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a",
     "x/",
     1,
     0,
     NULL,
     "urlencode"},
    {"slash at the start",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a",
     "/x",
     1,
     0,
     NULL,
     "empty level"},
    {"two slashes",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a",
     "x//y",
     1,
     0,
     NULL,
     "empty level"},
    {"up and away",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     1,
     0,
     0,
     "a",
     "..",
     1,
     0,
     NULL,
     "out of its place"},
    {"up within",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     1,
     0,
     0,
     0,
     "a",
     "x/../../y",
     1,
     0,
     NULL,
     "out of its place"},
    {"into .hoodie",
     TN_KEYGEN_SIMPLE,
     {"k"},
     {"p"},
     0,
     0,
     0,
     0,
     "a",
     ".hoodie/x",
     1,
     0,
     NULL,
     "own files"},
};

static size_t count_of(const char *const *names, tn_str *out)
{
    size_t n = 0;

    while (n < KEYS_MAX && names[n] != NULL) {
        out[n] = tn_str_of(names[n]);
        n++;
    }
    return n;
}

static void check_spelling(tarn_cx *cx, const spelling_case *c)
{
    tn_str keys[KEYS_MAX], partitions[KEYS_MAX];
    tn_record_key_options options = {.kind = c->kind,
                                     .keys = keys,
                                     .key_count = count_of(c->keys, keys),
                                     .partitions = partitions,
                                     .partition_count = count_of(c->partitions, partitions),
                                     .hive_style = c->hive,
                                     .url_encode = c->encode,
                                     .slash_dates = c->slash,
                                     .single_named = c->single_named};
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};

    table_init(cx, &table, 3, 1);
    table_text(cx, &table, 0, "k", "u", &c->k, c->k == NULL);
    table_fixed(cx, &table, 1, "n", "l", &c->n, 8, c->n_null);
    table_text(cx, &table, 2, "p", "u", &c->p, c->p == NULL);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    if (c->key == NULL) {
        int rc = tn_record_key_batch(cx, key, &table.array, 100, &out);

        if (rc != TARN_E_DATA || strstr(tarn_cx_error(cx), c->path) == NULL)
            fail_msg("%s: %s: %s", c->name, tarn_status_name(rc), tarn_cx_error(cx));
    } else {
        tn_str got, path;

        assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 100, &out));
        got = (tn_str){out.data + out.offsets[0], (size_t)(out.offsets[1] - out.offsets[0])};
        path = tn_record_key_path(key, out.partitions[0]);
        if (!tn_str_is(got, c->key) || !tn_str_is(path, c->path))
            fail_msg("%s: got \"%.*s\" in \"%.*s\"", c->name, TN_STR_ARG(got), TN_STR_ARG(path));
        assert_null(out.deletes);
    }
    tn_record_key_close(key);
    table_clear(&table);
}

static void test_record_key__is_spelled_as_hudi_does(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        check_spelling(cx, &spellings[i]);
    tarn_cx_close(cx);
}

/* Values of all types as keys, and what their path is. */
typedef struct type_case {
    const char *format;
    const void *values;
    size_t width;
    bool consistent;
    const char *zone;
    const char *want[3];
} type_case;

static void check_type(tarn_cx *cx, const type_case *c)
{
    tn_str name = TN_STR("v");
    tn_record_key_options options = {.kind = TN_KEYGEN_SIMPLE,
                                     .keys = &name,
                                     .key_count = 1,
                                     .partitions = &name,
                                     .partition_count = 1,
                                     .consistent_times = c->consistent,
                                     .zone = tn_str_of(c->zone)};
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};

    table_init(cx, &table, 1, 3);
    table_fixed(cx, &table, 0, "v", c->format, c->values, c->width, 0);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    for (int i = 0; i < 3; i++) {
        tn_str got = {out.data + out.offsets[i], (size_t)(out.offsets[i + 1] - out.offsets[i])};

        if (!tn_str_is(got, c->want[i]))
            fail_msg("%s: got %.*s, want %s", c->format, TN_STR_ARG(got), c->want[i]);
        assert_true(tn_str_is(tn_record_key_path(key, out.partitions[i]), c->want[i]));
    }
    tn_record_key_close(key);
    table_clear(&table);
}

static void test_record_key__has_javas_text_of_every_type(void **state)
{
    static const int8_t i8[] = {0, -128, 127};
    static const int16_t i16[] = {0, -32768, 32767};
    static const int32_t i32[] = {0, -2147483647 - 1, 5}, days[] = {0, -1, 19855};
    static const int64_t i64[] = {INT64_MIN, -1, INT64_MAX};
    static const int64_t micros[] = {1483005240000000, 1483005240120999, -1};
    static const int64_t millis[] = {1483005240000, 1483005240120, -1};
    static const int64_t nanos[] = {1483005240000000000, 999, -1};
    static const int64_t seconds[] = {1483005240, 0, -1};
    static const double doubles[] = {0.0, 1.5, 1e300};
    static const float floats[] = {-0.0f, 0.1f, 1e10f};
    static const __int128 decimals[] = {150, -5, 0};
    static const uint8_t bools[3] = {5};
    static const type_case cases[] = {
        {"c", i8, 1, false, "", {"0", "-128", "127"}},
        {"s", i16, 2, false, "", {"0", "-32768", "32767"}},
        {"i", i32, 4, false, "", {"0", "-2147483648", "5"}},
        {"l", i64, 8, false, "", {"-9223372036854775808", "-1", "9223372036854775807"}},
        {"tdD", days, 4, false, "", {"1970-01-01", "1969-12-31", "2024-05-12"}},
        {"g", doubles, 8, false, "", {"0.0", "1.5", "1.0E300"}},
        {"f", floats, 4, false, "", {"-0.0", "0.1", "1.0E10"}},
        {"d:10,2", decimals, 16, false, "", {"1.50", "-0.05", "0.00"}},
        {"d:12,8", decimals, 16, false, "", {"0.00000150", "-5E-8", "0E-8"}},
        {"b", bools, 1, false, "", {"true", "false", "true"}},
        {"tsu:UTC", micros, 8, false, "", {"1483005240000000", "1483005240120999", "-1"}},
        {"tsm:UTC", millis, 8, false, "", {"1483005240000", "1483005240120", "-1"}},
        {"tsn:UTC", nanos, 8, false, "", {"1483005240000000", "0", "-1"}},
        {"tss:UTC", seconds, 8, false, "", {"1483005240000000", "0", "-1000000"}},
        {"tsu:", micros, 8, true, "", {"1483005240000000", "1483005240120999", "-1"}},
        {"tsu:UTC",
         micros,
         8,
         true,
         "",
         {"2016-12-29 09:54:00.0", "2016-12-29 09:54:00.12", "1970-01-01 00:00:00.0"}},
        {"tsm:UTC",
         millis,
         8,
         true,
         "GMT+8",
         {"2016-12-29 17:54:00.0", "2016-12-29 17:54:00.12", "1970-01-01 07:59:59.999"}},
        {"tsu:UTC",
         micros,
         8,
         true,
         "Europe/Berlin",
         {"2016-12-29 10:54:00.0", "2016-12-29 10:54:00.12", "1970-01-01 01:00:00.0"}},
    };
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_type(cx, &cases[i]);
    tarn_cx_close(cx);
}

typedef struct time_case {
    const char *name;
    enum tn_keygen_time type;
    const char *unit, *input, *input_zone, *output, *output_zone, *zone;
    const char *text; /* of a text column; else `number` of an int64 one */
    int64_t number;
    const char *want; /* "!…": INVALID with this in its text */
} time_case;

static const time_case times[] = {
    {"fixture", TN_KEYGEN_EPOCH_MILLIS, "", "", "", "yyyy/MM/dd/HH", "", "", NULL, 1704099600000,
     "2024/01/01/09"},
    {"seconds", TN_KEYGEN_UNIX_TIMESTAMP, "", "", "", "yyyy-MM-dd", "GMT", "", NULL, 1728036672,
     "2024-10-04"},
    {"report R072", TN_KEYGEN_EPOCH_MILLIS, "", "", "", "yyyyMMdd-HH", "", "", NULL, 1728036672000,
     "20241004-10"},
    {"summer time, first", TN_KEYGEN_EPOCH_MILLIS, "", "", "", "yyyy-MM-dd-HH", "Europe/Berlin", "",
     NULL, 1729989000000, "2024-10-27-02"},
    {"summer time, again", TN_KEYGEN_EPOCH_MILLIS, "", "", "", "yyyy-MM-dd-HH", "Europe/Berlin", "",
     NULL, 1729992600000, "2024-10-27-02"},
    {"winter", TN_KEYGEN_EPOCH_MILLIS, "", "", "", "HH:mm Z ZZ", "Europe/Berlin", "", NULL,
     1729996200000, "03:30 +0100 +01:00"},
    {"beyond the file", TN_KEYGEN_UNIX_TIMESTAMP, "", "", "", "yyyy-MM-dd'T'HH:mm", "Europe/Berlin",
     "", NULL, 4112424000, "2100-04-26T14:00"},
    {"micros truncate", TN_KEYGEN_EPOCH_MICROS, "", "", "", "yyyy-MM-dd HH:mm:ss.SSS", "UTC", "",
     NULL, -1999, "1969-12-31 23:59:59.999"},
    {"days", TN_KEYGEN_SCALAR, "days", "", "", "yyyy/MM/dd", "UTC", "", NULL, 19855, "2024/05/12"},
    {"one zone for all", TN_KEYGEN_SCALAR, "HOURS", "", "", "yyyyMMddHH", "UTC", "GMT+8:00", NULL,
     0, "1970010108"},
    {"text", TN_KEYGEN_DATE_STRING, "", "yyyy-MM-dd HH:mm:ss", "", "yyyy/MM/dd", "", "",
     "2024-05-12 10:00:01", 0, "2024/05/12"},
    {"text, second pattern", TN_KEYGEN_DATE_STRING, "",
     "yyyy-MM-dd'T'HH:mm:ssZ, yyyy-MM-dd'T'HH:mm:ss.SSSZ", "", "yyyyMMddHH", "GMT", "",
     "2020-04-01T13:01:33.428Z", 0, "2020040113"},
    {"offset kept", TN_KEYGEN_DATE_STRING, "", "yyyy-MM-dd'T'HH:mm:ssZ", "", "yyyyMMddHH", "", "",
     "2020-04-01T13:01:33-05:00", 0, "2020040113"},
    {"offset to zone", TN_KEYGEN_DATE_STRING, "", "yyyy-MM-dd'T'HH:mm:ssZ", "", "yyyyMMddHH", "UTC",
     "", "2020-04-01T13:01:33-05:00", 0, "2020040118"},
    {"zone to zone", TN_KEYGEN_MIXED, "", "yyyyMMddHH", "America/New_York", "yyyyMMddHH", "UTC", "",
     "2020070113", 0, "2020070117"},
    {"skipped hour", TN_KEYGEN_DATE_STRING, "", "yyyy-MM-dd HH", "Europe/Berlin", "yyyyMMddHH", "",
     "", "2024-03-31 02", 0, "!which no pattern"},
    {"no such day", TN_KEYGEN_DATE_STRING, "", "yyyy-MM-dd", "", "yyyy", "", "", "2023-02-29", 0,
     "!\"2023-02-29\""},
    {"more text", TN_KEYGEN_DATE_STRING, "", "yyyy-MM-dd", "", "yyyy", "", "", "2023-02-28 1", 0,
     "!row 5"},
    {"no year", TN_KEYGEN_DATE_STRING, "", "MM/dd", "", "yyyy-MM-dd", "", "", "2/29", 0,
     "2000-02-29"},
    {"quotes", TN_KEYGEN_EPOCH_MILLIS, "", "", "", "'y'''yyyy''", "", "", NULL, 0, "y'1970'"},
};

static void check_time(tarn_cx *cx, const time_case *c)
{
    static const tn_str names[] = {{"k", 1}, {"t", 1}};
    const char *k = "a";
    tn_record_key_options options = {.kind = TN_KEYGEN_TIMESTAMP,
                                     .keys = names,
                                     .key_count = 1,
                                     .partitions = names + 1,
                                     .partition_count = 1,
                                     .timebased = {.type = c->type,
                                                   .scalar_unit = tn_str_of(c->unit),
                                                   .input_format = tn_str_of(c->input),
                                                   .input_zone = tn_str_of(c->input_zone),
                                                   .output_format = tn_str_of(c->output),
                                                   .output_zone = tn_str_of(c->output_zone),
                                                   .zone = tn_str_of(c->zone)}};
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};
    int rc;

    table_init(cx, &table, 2, 1);
    table_text(cx, &table, 0, "k", "u", &k, 0);
    if (c->text != NULL)
        table_text(cx, &table, 1, "t", "u", &c->text, 0);
    else
        table_fixed(cx, &table, 1, "t", "l", &c->number, 8, 0);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    rc = tn_record_key_batch(cx, key, &table.array, 5, &out);
    if (c->want[0] == '!') {
        if (rc != TARN_E_DATA || strstr(tarn_cx_error(cx), c->want + 1) == NULL)
            fail_msg("%s: %s: %s", c->name, tarn_status_name(rc), tarn_cx_error(cx));
    } else if (rc != TARN_OK) {
        fail_msg("%s: %s", c->name, tarn_cx_error(cx));
    } else if (!tn_str_is(tn_record_key_path(key, out.partitions[0]), c->want)) {
        fail_msg("%s: got %.*s", c->name, TN_STR_ARG(tn_record_key_path(key, out.partitions[0])));
    }
    tn_record_key_close(key);
    table_clear(&table);
}

static void test_record_key__makes_paths_of_times(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        check_time(cx, &times[i]);
    tarn_cx_close(cx);
}

/* A date is the number of its days to Hudi, whatever the unit: 2024-01-07 by milliseconds is in
 * 1970. */
static void test_record_key__takes_dates_for_their_days(void **state)
{
    static const tn_str names[] = {{"k", 1}, {"t", 1}};
    static const char *k[] = {"a", "b"};
    static const int32_t days[] = {19729, 19730};
    tn_record_key_options options = {.kind = TN_KEYGEN_TIMESTAMP,
                                     .keys = names,
                                     .key_count = 1,
                                     .partitions = names + 1,
                                     .partition_count = 1,
                                     .timebased = {.type = TN_KEYGEN_EPOCH_MILLIS,
                                                   .output_format = TN_STR("yyyy-MM-dd"),
                                                   .zone = TN_STR("UTC")}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 2, 2);
    table_text(cx, &table, 0, "k", "u", k, 0);
    table_fixed(cx, &table, 1, "t", "tdD", days, 4, 0);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    for (int i = 0; i < 2; i++)
        assert_true(tn_str_is(tn_record_key_path(key, out.partitions[i]), "1970-01-01"));
    tn_record_key_close(key);
    table_clear(&table);
    tarn_cx_close(cx);
}

/* Batches of many rows on threads are as they are without, and paths are numbered as they come. */
static void test_record_key__is_the_same_on_a_pool(void **state)
{
    enum { ROWS = 60000 };
    static const tn_str names[] = {{"id", 2}, {"p", 1}};
    tn_record_key_options options = {.kind = TN_KEYGEN_SIMPLE,
                                     .keys = names,
                                     .key_count = 1,
                                     .partitions = names + 1,
                                     .partition_count = 1};
    int64_t *ids = calloc(ROWS, 8);
    int32_t *parts = calloc(ROWS, 4);
    tarn_cx *cxs[2] = {tarn_cx_open(&(tarn_cx_options){.jobs = 1}),
                       tarn_cx_open(&(tarn_cx_options){.jobs = 3})};
    tn_record_keys out[2];
    tn_record_key *key[2] = {NULL, NULL};
    test_table table = {0};
    uint32_t number;

    (void)state;
    for (int i = 0; i < ROWS; i++) {
        ids[i] = (int64_t)i * i - 1000;
        parts[i] = i / 9000 + (i % 7 == 0) * 3;
    }
    table_init(cxs[0], &table, 2, ROWS);
    table_fixed(cxs[0], &table, 0, "id", "l", ids, 8, 0);
    table_fixed(cxs[0], &table, 1, "p", "i", parts, 4, 0);
    for (int c = 0; c < 2; c++) {
        assert_ok(cxs[c], tn_record_key_open(cxs[c], &options, &table.schema, &key[c]));
        assert_ok(cxs[c], tn_record_key_path_add(cxs[c], key[c], TN_STR("5"), &number));
        assert_int_equal(number, 0);
        for (int turn = 0; turn < 2; turn++)
            assert_ok(cxs[c], tn_record_key_batch(cxs[c], key[c], &table.array, 0, &out[c]));
    }
    assert_memory_equal(out[0].offsets, out[1].offsets, (ROWS + 1) * 4);
    assert_memory_equal(out[0].data, out[1].data, (size_t)out[0].offsets[ROWS]);
    assert_memory_equal(out[0].partitions, out[1].partitions, ROWS * 4);
    assert_int_equal(tn_record_key_path_count(key[0]), 10);
    assert_int_equal(tn_record_key_path_count(key[1]), 10);
    assert_int_equal(out[0].partitions[0], 1);
    for (int i = 0; i < ROWS; i++) {
        char want[24];

        snprintf(want, sizeof want, "%d", parts[i]);
        if (!tn_str_is(tn_record_key_path(key[0], out[0].partitions[i]), want))
            fail_msg("row %d", i);
    }
    for (int c = 0; c < 2; c++) {
        tn_record_key_close(key[c]);
    }
    table_clear(&table);
    tarn_cx_close(cxs[0]);
    tarn_cx_close(cxs[1]);
    free(ids);
    free(parts);
}

static void test_record_key__knows_deletes(void **state)
{
    static const tn_str names[] = {{"k", 1}};
    static const char *const keys[] = {"a", "b", "c", "d"}, *const ops[] = {"D", "I", "D", NULL};
    tn_record_key_options options = {.kind = TN_KEYGEN_NON_PARTITION,
                                     .keys = names,
                                     .key_count = 1,
                                     .delete_field = TN_STR("op"),
                                     .delete_marker = TN_STR("D")};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 3, 4);
    table_text(cx, &table, 0, "k", "u", keys, 0);
    table_bool(cx, &table, 1, "_hoodie_is_deleted", 0x6, 0x4);
    table_text(cx, &table, 2, "op", "u", ops, 0x8);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    assert_memory_equal(out.deletes, "\1\1\1\0", 4);
    tn_record_key_close(key);
    options.delete_field = TN_STR("gone");
    assert_fails(cx, TARN_E_INVALID, "delete marker field \"gone\"",
                 tn_record_key_open(cx, &options, &table.schema, &key));
    options.delete_field = TN_STR("");
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    assert_memory_equal(out.deletes, "\0\1\0\0", 4);
    tn_record_key_close(key);
    table_clear(&table);
    tarn_cx_close(cx);
}

/* Offsets of the batch and of its columns count. */
static void test_record_key__slices_are_rows_of_their_own(void **state)
{
    static const tn_str names[] = {{"k", 1}, {"p", 1}};
    static const char *const keys[] = {"a", "bb", "ccc", "dddd"}, *const parts[] = {"w", "x", "y",
                                                                                    "z"};
    tn_record_key_options options = {.kind = TN_KEYGEN_SIMPLE,
                                     .keys = names,
                                     .key_count = 1,
                                     .partitions = names + 1,
                                     .partition_count = 1};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 2, 4);
    table_text(cx, &table, 0, "k", "u", keys, 0);
    table_text(cx, &table, 1, "p", "u", parts, 0);
    table.array.offset = 1;
    table.array.length = 2;
    table.array.children[1]->offset = 1;
    table.array.children[1]->length = 3;
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    assert_int_equal(out.offsets[1] - out.offsets[0], 2);
    assert_memory_equal(out.data + out.offsets[0], "bb", 2);
    assert_true(tn_str_is(tn_record_key_path(key, out.partitions[0]), "y"));
    assert_true(tn_str_is(tn_record_key_path(key, out.partitions[1]), "z"));
    tn_record_key_close(key);
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_record_key__walks_into_structs(void **state)
{
    static const tn_str names[] = {{"s.a", 3}, {"s.b", 3}};
    static const char *const a[] = {"x", "y"};
    static const int32_t b[] = {7, 8};
    tn_record_key_options options = {.kind = TN_KEYGEN_COMPLEX,
                                     .keys = names,
                                     .key_count = 2,
                                     .partitions = names + 1,
                                     .partition_count = 1,
                                     .hive_style = true};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    test_table inner = {0}, table = {0};
    tn_record_key *key = NULL;
    tn_record_keys out;

    (void)state;
    table_init(cx, &inner, 2, 2);
    table_text(cx, &inner, 0, "a", "u", a, 0);
    table_fixed(cx, &inner, 1, "b", "i", b, 4, 2);
    table_init(cx, &table, 1, 2);
    tn_field_move(&inner.schema, table.schema.children[0]);
    free((char *)(uintptr_t)table.schema.children[0]->name);
    table.schema.children[0]->name = strdup("s");
    tn_array_move(&inner.array, table.array.children[0]);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    assert_memory_equal(out.data, "s.a:x,s.b:7s.a:y,s.b:__null__", 29);
    assert_true(tn_str_is(tn_record_key_path(key, out.partitions[0]), "s.b=7"));
    assert_true(
        tn_str_is(tn_record_key_path(key, out.partitions[1]), "s.b=__HIVE_DEFAULT_PARTITION__"));
    tn_record_key_close(key);
    table_clear(&table);
    tarn_cx_close(cx);
}

static void test_record_key__refuses_what_it_cannot_spell(void **state)
{
    static const struct {
        const char *format, *key, *part;
        int status;
    } cases[] = {
        {"z", "v", "no spelling", TARN_E_UNSUPPORTED},
        {"w:4", "v", "no spelling", TARN_E_UNSUPPORTED},
        {"l", "w", "field \"w\"", TARN_E_INVALID},
        {"l", "v.x", "field \"v.x\"", TARN_E_INVALID},
        {"tDu", "v", "no spelling", TARN_E_UNSUPPORTED},
        {"l", NULL, "make up", TARN_E_UNSUPPORTED},
    };
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ArrowSchema schema = {0};
        tn_str name = tn_str_of(cases[i].key);
        tn_record_key_options options = {
            .kind = TN_KEYGEN_NON_PARTITION, .keys = &name, .key_count = cases[i].key != NULL};
        tn_record_key *key = NULL;

        assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
        assert_ok(cx, tn_field_init(cx, schema.children[0], cases[i].format, TN_STR("v"), true, 0));
        assert_fails(cx, cases[i].status, cases[i].part,
                     tn_record_key_open(cx, &options, &schema, &key));
        tn_field_release(&schema);
    }
    tarn_cx_close(cx);
}

static const struct bucket_case {
    const char *key, *keys[2], *hash[2];
    uint32_t buckets, want;
} bucket_cases[] = {
    {"1", {"id"}, {NULL}, 256, 80},
    {"id:1,name:Alice", {"id", "name"}, {NULL}, 256, 16},
    {"TXN-001", {"txn"}, {NULL}, 256, 77},
    {"key-1", {"k"}, {NULL}, 256, 98},
    {"tiq_1:htmtalent", {"uid"}, {NULL}, 4, 0},
    {"tiq_2:htmtalent", {"uid"}, {NULL}, 4, 1},
    {"tiq_3:htmtalent", {"uid"}, {NULL}, 4, 2},
    {"id:1,name:Alice", {"id", "name"}, {"id"}, 256, 80},
    {"name:Alice,id:1", {"name", "id"}, {"id"}, 256, 80},
    {"t:10:00:01,id:1", {"t", "id"}, {"id"}, 256, 80},
    {"id:__null__,b:__empty__", {"id", "b"}, {NULL}, 256, 193}, /* 31 * 31 */
};

static void test_record_key__buckets_are_hudis(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bucket_cases / sizeof bucket_cases[0]; i++) {
        const struct bucket_case *c = &bucket_cases[i];
        tn_str keys[] = {tn_str_of(c->keys[0]), tn_str_of(c->keys[1])};
        tn_str hash[] = {tn_str_of(c->hash[0]), tn_str_of(c->hash[1])};
        uint32_t got =
            tn_record_key_bucket(tn_str_of(c->key), keys, 1 + (c->keys[1] != NULL), hash,
                                 (size_t)(c->hash[0] != NULL) + (c->hash[1] != NULL), c->buckets);

        if (got != c->want)
            fail_msg("%s: bucket %u", c->key, got);
    }
}

static void test_record_key__md5_is_the_first_long(void **state)
{
    (void)state;
    /* MD5("") is d41d8cd98f00b204..., MD5("abc") 900150983cd24fb0... */
    assert_int_equal(tn_record_key_md5(TN_STR("")), (int64_t)0x04b2008fd98c1dd4);
    assert_int_equal(tn_record_key_md5(TN_STR("abc")), (int64_t)0xb04fd23c98500190);
}

/* The examples of the page are what is made of their rows. */
static void test_record_key__page_is_true(void **state)
{
    static const tn_str names[] = {{"id", 2}, {"name", 4}, {"note", 4}, {"p", 1}};
    static const int64_t id = 1;
    tn_record_key_options options = {.kind = TN_KEYGEN_COMPLEX,
                                     .keys = names,
                                     .key_count = 3,
                                     .partitions = names + 3,
                                     .partition_count = 1,
                                     .hive_style = true,
                                     .url_encode = true};
    tn_buf want_key = hex_of_page("record-keys.md", "key");
    tn_buf want_path = hex_of_page("record-keys.md", "path");
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_record_key *key = NULL;
    tn_record_keys out;
    test_table table = {0};

    (void)state;
    table_init(cx, &table, 4, 1);
    table_fixed(cx, &table, 0, "id", "l", &id, 8, 0);
    table_text(cx, &table, 1, "name", "u", (const char *const[]){NULL}, 1);
    table_text(cx, &table, 2, "note", "u", (const char *const[]){""}, 0);
    table_text(cx, &table, 3, "p", "u", (const char *const[]){"a/b=c"}, 0);
    assert_ok(cx, tn_record_key_open(cx, &options, &table.schema, &key));
    assert_ok(cx, tn_record_key_batch(cx, key, &table.array, 0, &out));
    assert_int_equal(out.offsets[1], want_key.len);
    assert_memory_equal(out.data, want_key.data, want_key.len);
    assert_true(tn_str_equal(tn_record_key_path(key, out.partitions[0]), tn_buf_view(&want_path)));
    tn_record_key_close(key);
    tn_buf_clear(&want_key);
    tn_buf_clear(&want_path);
    table_clear(&table);
    tarn_cx_close(cx);
}
