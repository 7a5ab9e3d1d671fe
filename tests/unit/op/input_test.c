/* Inputs of many kinds as one stream: globs, directories, joined schemas, filters, rejects. */
#include "unit/alloc.h"
#include "unit/temp_dir.h"

#include <sys/stat.h>

#include "batch/type.h"
#include "codec/ndjson/ndjson_write.h"
#include "op/input.h"
#include "op/write_op.h"
#include "op/input_find.h"
#include "tarn/read.h"

static char dir[2048];

static void put(const char *name, const char *text)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    for (char *at = path + strlen(dir) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
    file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, strlen(text), file);
    fclose(file);
}

/* Writes rows given as NDJSON into a Parquet file. */
static void put_parquet(tarn_cx *cx, const char *name, const char *rows)
{
    struct ArrowArrayStream stream = {0};
    tn_store *store = NULL;
    tn_arena arena = {0};
    char path[4096];
    tn_str found;

    snprintf(path, sizeof path, "%s.rows", name);
    put(path, rows);
    snprintf(path, sizeof path, "%s/%s.rows", dir, name);
    assert_ok(cx, tn_store_locate(cx, tn_str_of(path), &arena, &store, &found));
    assert_ok(cx, tn_exec_input_open(cx, store, found, TN_INPUT_NDJSON, NULL, &stream));
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(cx, tarn_read_save(cx, &stream, path, NULL, NULL));
    stream.release(&stream);
    tn_store_close(store);
    tn_arena_clear(&arena);
}

typedef struct reading {
    tn_buf schema, rows, said;
} reading;

static int note_bad(tarn_cx *cx, void *arg, const tn_text_bad *bad)
{
    reading *r = arg;

    tn_buf_print(&r->said, "%.*s:%llu|", TN_STR_ARG(tn_path_name(bad->source)),
                 (unsigned long long)bad->line);
    return tn_buf_check(cx, &r->said);
}

static int read_stream(tarn_cx *cx, struct ArrowArrayStream *stream, reading *r)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    tn_ndjson_writer *writer = NULL;
    int rc = TARN_OK;

    if (stream->get_schema(stream, &schema) != 0)
        TN_TRY(tarn_cx_status(cx));
    for (int64_t i = 0; i < schema.n_children; i++) {
        tn_buf_print(&r->schema, "%s%s ", i > 0 ? ", " : "", schema.children[i]->name);
        tn_type_print(&r->schema, schema.children[i]);
    }
    TN_TRY(tn_ndjson_writer_open(cx, &schema, &writer));
    for (;;) {
        if (stream->get_next(stream, &batch) != 0) {
            rc = tarn_cx_status(cx);
            assert_string_equal(stream->get_last_error(stream), tarn_cx_error(cx));
            assert_int_not_equal(stream->get_next(stream, &batch), 0);
            break;
        }
        if (batch.release == NULL)
            break;
        assert_true(batch.length > 0);
        TN_TRY(tn_array_check(cx, &schema, &batch));
        TN_TRY(tn_ndjson_writer_rows(cx, writer, &batch, 0, batch.length, &r->rows));
        tn_array_release(&batch);
    }
done:
    tn_array_release(&batch);
    tn_ndjson_writer_close(writer);
    tn_field_release(&schema);
    return rc;
}

/* `paths` are separated by spaces and lie below the directory, "-" apart. */
static int read_inputs(tarn_cx *cx, const char *paths, const tn_input_options *options, reading *r)
{
    char copy[1024], whole[8][4096], *save = NULL;
    const char *list[8];
    tn_input_options all = options != NULL ? *options : (tn_input_options){0};
    struct ArrowArrayStream stream = {0};
    int rc;

    *r = (reading){0};
    snprintf(copy, sizeof copy, "%s", paths);
    for (char *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        snprintf(whole[all.path_count], sizeof whole[0], strcmp(word, "-") == 0 ? "%s" : "%s/%s",
                 strcmp(word, "-") == 0 ? word : dir, word);
        list[all.path_count] = whole[all.path_count];
        all.path_count++;
    }
    all.paths = list;
    all.text.reject_arg = r;
    rc = tn_input_open(cx, &all, &stream);
    if (rc == TARN_OK) {
        rc = read_stream(cx, &stream, r);
        stream.release(&stream);
    }
    tn_buf_u8(&r->schema, 0);
    tn_buf_u8(&r->rows, 0);
    tn_buf_u8(&r->said, 0);
    return rc;
}

static void reading_clear(reading *r)
{
    tn_buf_clear(&r->schema);
    tn_buf_clear(&r->rows);
    tn_buf_clear(&r->said);
}

static void test_input__match(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool want;
    } cases[] = {
        {"a", "a", true},
        {"a", "b", false},
        {"*", "", true},
        {"*", "abc", true},
        {"a*c", "abbc", true},
        {"a*c", "ac", true},
        {"a*c", "abcd", false},
        {"*.csv", "x.csv", true},
        {"*.csv", "x.csv.gz", false},
        {"*a*b*", "xxaxxbxx", true},
        {"*a*b*", "xxbxxaxx", false},
        {"?", "", false},
        {"?", "a", true},
        {"?", "\xC3\xB6", true},
        {"??", "\xC3\xB6", false},
        {"[abc]", "b", true},
        {"[abc]", "d", false},
        {"[a-c]x", "bx", true},
        {"[!a-c]", "d", true},
        {"[!a-c]", "b", false},
        {"[^a]", "b", true},
        {"[]]", "]", true},
        {"[a", "[a", true},
        {"[-a]", "-", true},
        {"a[0-9]*", "a7x", true},
        {"*[0-9]", "abc9", true},
        {"*[0-9]", "abc", false},
        {"**", "abc", true},
        {"a**b", "ab", true},
        {"", "", true},
        {"", "a", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tn_input_match(tn_str_of(cases[i].pattern), tn_str_of(cases[i].name)) != cases[i].want)
            fail_msg("%s against %s", cases[i].pattern, cases[i].name);
}

static void test_input__globs(void **state)
{
    static const struct {
        const char *paths, *rows;
    } cases[] = {
        {"a.ndjson", "1"},       {"b.ndjson a.ndjson", "21"},
        {"*.ndjson", "12"},      {"?.ndjson", "12"},
        {"[b-z].ndjson", "2"},   {"[b].csvx", "9"}, /* a name that exists is no glob */
        {"sub/*/c.ndjson", "3"}, {"**/*.ndjson", "1234"},
        {"sub/**", "34"},        {"sub/**/c.ndjson", "3"},
        {"sub", "34"},           {"sub/d*", "34"},
        {"_hidden.ndjson", "5"}, {"_*.ndjson", "5"},
        {".dot/*.ndjson", "6"},  {"sub/deep/../deep/c.ndjson", "3"},
    };
    static const struct {
        const char *paths;
        int status;
        const char *text;
    } wrong[] = {
        {"none.ndjson", TARN_E_NOTFOUND, "none.ndjson"},
        {"*.none", TARN_E_NOTFOUND, "*.none: no file or directory matches"},
        {"no/*.ndjson", TARN_E_NOTFOUND, "no/*.ndjson: no file or directory matches"},
        {"a.ndjson/*.ndjson", TARN_E_NOTFOUND, "not a directory"},
        {"- -", TARN_E_INVALID, "once"},
        {"", TARN_E_INVALID, "no input"},
    };
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_input_options options = {.format = TN_INPUT_NDJSON};

    (void)state;
    temp_dir_make(dir, sizeof dir);
    put("a.ndjson", "{\"a\":1}\n");
    put("b.ndjson", "{\"a\":2}\n");
    put("[b].csvx", "{\"a\":9}\n");
    put("sub/deep/c.ndjson", "{\"a\":3}\n");
    put("sub/deep/d.ndjson", "{\"a\":4}\n");
    put("sub/deep/_SUCCESS", "");
    put("_hidden.ndjson", "{\"a\":5}\n");
    put(".dot/e.ndjson", "{\"a\":6}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reading r;
        char rows[64] = "";

        if (read_inputs(cx, cases[i].paths, &options, &r) != TARN_OK)
            fail_msg("%s: %s", cases[i].paths, tarn_cx_error(cx));
        for (const char *at = (char *)r.rows.data; (at = strstr(at, ":")) != NULL; at++)
            snprintf(rows + strlen(rows), 2, "%c", at[1]);
        if (strcmp(rows, cases[i].rows) != 0)
            fail_msg("%s: %s, want %s", cases[i].paths, rows, cases[i].rows);
        reading_clear(&r);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        reading r;

        assert_fails(cx, wrong[i].status, wrong[i].text, read_inputs(cx, wrong[i].paths, NULL, &r));
        reading_clear(&r);
    }
    {
        char path[4096];
        reading r;

        snprintf(path, sizeof path, "%s/pipe", dir);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_fails(cx, TARN_E_INVALID, "give it as standard input",
                     read_inputs(cx, "pipe", NULL, &r));
        reading_clear(&r);
    }
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}

static void test_input__joined_samples(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    reading r;

    (void)state;
    temp_dir_make(dir, sizeof dir);
    put("1.ndjson", "{\"n\":1,\"x\":null,\"t\":\"2024-01-01\",\"s\":{\"a\":1},\"m\":1}\n");
    put("2.ndjson", "{\"x\":[1],\"n\":2.5,\"t\":\"2024-01-01T10:00:00Z\",\"s\":{\"b\":null},"
                    "\"m\":\"word\",\"N2\":null}\n");
    assert_ok(cx, read_inputs(cx, "*.ndjson", NULL, &r));
    assert_string_equal((char *)r.schema.data,
                        "n double, x list<int64>, t timestamp[us, UTC], s struct<a: int64, b: "
                        "string>, m string, N2 string");
    assert_string_equal(
        (char *)r.rows.data,
        "{\"n\":1.0,\"x\":null,\"t\":\"2024-01-01T00:00:00.000000Z\",\"s\":{\"a\":1,"
        "\"b\":null},\"m\":\"1\",\"N2\":null}\n"
        "{\"n\":2.5,\"x\":[1],\"t\":\"2024-01-01T10:00:00.000000Z\",\"s\":{\"a\":"
        "null,\"b\":null},\"m\":\"word\",\"N2\":null}\n");
    reading_clear(&r);
    /* A key after the sample of its file, unless another file's sample shows it. */
    put("3.ndjson", "{\"n\":1}\n{\"late\":1}\n");
    assert_fails(cx, TARN_E_DATA, "3.ndjson: line 2, column \"late\"",
                 read_inputs(cx, "3.ndjson", &(tn_input_options){.text = {.sample_bytes = 5}}, &r));
    reading_clear(&r);
    put("4.ndjson", "{\"late\":7}\n");
    assert_ok(cx, read_inputs(cx, "3.ndjson 4.ndjson",
                              &(tn_input_options){.text = {.sample_bytes = 5}}, &r));
    assert_string_equal((char *)r.rows.data, "{\"n\":1,\"late\":null}\n{\"n\":null,\"late\":1}\n"
                                             "{\"n\":null,\"late\":7}\n");
    reading_clear(&r);
    /* What had no value in one file has the type of another. */
    put("5.csv", "n,late\n,8\n");
    assert_ok(cx, read_inputs(cx, "5.csv 4.ndjson 1.ndjson",
                              &(tn_input_options){.columns = (const char *const[]){"late", "n"},
                                                  .column_count = 2},
                              &r));
    assert_string_equal((char *)r.schema.data, "late int64, n int64");
    assert_string_equal((char *)r.rows.data, "{\"late\":8,\"n\":null}\n{\"late\":7,\"n\":null}\n"
                                             "{\"late\":null,\"n\":1}\n");
    reading_clear(&r);
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}

static void test_input__parquet_and_text(void **state)
{
    static const char *const asked[] = {"s.a", "id"};
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_input_options options = {.where = "id >= 2 and (v is null or v <> 'x')"};
    reading r;

    (void)state;
    temp_dir_make(dir, sizeof dir);
    put_parquet(cx, "p/dt=1/a.parquet", "{\"id\":1,\"v\":\"x\"}\n{\"id\":2,\"v\":\"y\"}\n");
    put_parquet(cx, "p/dt=2/b.parquet", "{\"id\":3,\"v\":\"x\"}\n{\"id\":4}\n");
    put("t.json", "[{\"id\":5,\"s\":{\"a\":1}},\n{\"id\":1.0,\"v\":null}]");
    put("c.csv", "ID,v\n6,z\n7,x\n");
    assert_ok(cx, read_inputs(cx, "p t.json c.csv", &options, &r));
    assert_string_equal((char *)r.schema.data, "id int64, v string, dt int64, s struct<a: int64>");
    assert_string_equal((char *)r.rows.data, "{\"id\":2,\"v\":\"y\",\"dt\":1,\"s\":null}\n"
                                             "{\"id\":4,\"v\":null,\"dt\":2,\"s\":null}\n"
                                             "{\"id\":5,\"v\":null,\"dt\":null,\"s\":{\"a\":1}}\n"
                                             "{\"id\":6,\"v\":\"z\",\"dt\":null,\"s\":null}\n");
    reading_clear(&r);
    options.columns = asked;
    options.column_count = 2;
    assert_ok(cx, read_inputs(cx, "c.csv t.json p/**/*.parquet", &options, &r));
    assert_string_equal((char *)r.schema.data, "s.a int64, id int64");
    assert_string_equal((char *)r.rows.data, "{\"s.a\":null,\"id\":6}\n{\"s.a\":1,\"id\":5}\n"
                                             "{\"s.a\":null,\"id\":2}\n{\"s.a\":null,\"id\":4}\n");
    reading_clear(&r);
    /* A condition on a column that some inputs lack. */
    options = (tn_input_options){.where = "s.a = 1 or \"dt\" = 2"};
    assert_ok(cx, read_inputs(cx, "p t.json", &options, &r));
    assert_string_equal((char *)r.rows.data, "{\"id\":3,\"v\":\"x\",\"dt\":2,\"s\":null}\n"
                                             "{\"id\":4,\"v\":null,\"dt\":2,\"s\":null}\n"
                                             "{\"id\":5,\"v\":null,\"dt\":null,\"s\":{\"a\":1}}\n");
    reading_clear(&r);
    options = (tn_input_options){.where = "nope = 1"};
    assert_fails(cx, TARN_E_INVALID, "nope", read_inputs(cx, "p t.json", &options, &r));
    reading_clear(&r);
    put("p/x.csv", "a\n1\n");
    assert_fails(cx, TARN_E_INVALID, "holds Parquet files and text files",
                 read_inputs(cx, "p", NULL, &r));
    reading_clear(&r);
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}

static void test_input__given_schema_and_rejects(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema schema = {0};
    tn_input_options options = {.text = {.reject = note_bad}};
    reading r;

    (void)state;
    temp_dir_make(dir, sizeof dir);
    put("1.ndjson", "{\"id\":1,\"x\":1}\n{\"id\":\"b\"}\n{\n{\"id\":3}\n");
    put("2.csv", "id,x\n4,5\nz,6\n");
    assert_ok(cx, tn_field_init(cx, &schema, "+s", TN_STR(""), false, 1));
    assert_ok(cx, tn_field_init(cx, schema.children[0], "s", TN_STR("id"), false, 0));
    options.text.schema = &schema;
    assert_ok(cx, read_inputs(cx, "*", &options, &r));
    assert_string_equal((char *)r.schema.data, "id int16");
    assert_string_equal((char *)r.rows.data, "{\"id\":1}\n{\"id\":3}\n{\"id\":4}\n");
    assert_string_equal((char *)r.said.data, "1.ndjson:2|1.ndjson:3|2.csv:3|");
    reading_clear(&r);
    options.text.schema_open = true;
    assert_ok(cx, read_inputs(cx, "*", &options, &r));
    assert_string_equal((char *)r.schema.data, "id int16, x int64");
    assert_string_equal((char *)r.rows.data,
                        "{\"id\":1,\"x\":1}\n{\"id\":3,\"x\":null}\n{\"id\":4,\"x\":5}\n");
    reading_clear(&r);
    tn_field_release(&schema);
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}

/* Standard input is looked at for its sample and then read whole. */
static void test_input__standard_input(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    int ends[2], before = dup(STDIN_FILENO);
    reading r;

    (void)state;
    temp_dir_make(dir, sizeof dir);
    put("a.csv", "x,y\n1,2\n");
    assert_int_equal(pipe(ends), 0);
    assert_true(write(ends[1], "{\"y\":\"b\"}\n{\"x\":3}\n", 18) == 18);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_ok(cx, read_inputs(cx, "a.csv -", NULL, &r));
    dup2(before, STDIN_FILENO);
    close(before);
    assert_string_equal((char *)r.schema.data, "x int64, y string");
    assert_string_equal((char *)r.rows.data,
                        "{\"x\":1,\"y\":\"2\"}\n{\"x\":null,\"y\":\"b\"}\n{\"x\":3,\"y\":null}\n");
    reading_clear(&r);
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}

static void test_input__allocations_fail(void **state)
{
    /* Only the calling thread is watched. */
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_input_options options = {.where = "id > 0"};
    size_t total = 0, step;

    (void)state;
    temp_dir_make(dir, sizeof dir);
    put("1.ndjson", "{\"id\":1,\"s\":{\"a\":\"x\"}}\n{\"id\":0}\n");
    put("2.csv", "id,v\n4,5\n");
    put_parquet(cx, "3.parquet", "{\"id\":6}\n");
    for (size_t n = 0; n <= total; n += n == 0 ? 1 : step) {
        reading r;
        int rc;

        alloc_watch(n);
        rc = read_inputs(cx, "*", &options, &r);
        step = alloc_unwatch();
        total = n == 0 ? step : total;
        step = 1 + total / 400;
        assert_true(rc == TARN_OK || (n != 0 && rc == TARN_E_NOMEM));
        reading_clear(&r);
    }
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}

/* What samples show goes into the columns asked for. */
static void test_input__deep(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    struct ArrowSchema given = {0};
    tn_input_options options = {.text = {.schema = &given, .schema_open = true}};
    reading r;

    (void)state;
    temp_dir_make(dir, sizeof dir);
    assert_ok(cx, tn_write_schema_parse(
                      cx, TN_STR("a int, b int, c bigint, s struct<x int, l array<struct<k int>>>"),
                      &given));
    put("1.ndjson",
        "{\"a\":1,\"b\":3000000000,\"c\":1.5,\"s\":{\"X\":1,\"y\":2,\"l\":[{\"m\":1}]}}\n");
    assert_fails(cx, TARN_E_DATA, "int32", read_inputs(cx, "1.ndjson", &options, &r));
    reading_clear(&r);
    options.deep = true;
    assert_ok(cx, read_inputs(cx, "1.ndjson", &options, &r));
    assert_string_equal((char *)r.schema.data,
                        "a int32, b int64, c double, s struct<x: int32, l: list<struct<k: int32, "
                        "m: int64>>, y: int64>");
    assert_string_equal((char *)r.rows.data,
                        "{\"a\":1,\"b\":3000000000,\"c\":1.5,\"s\":{\"x\":1,\"l\":[{\"k\":null,"
                        "\"m\":1}],\"y\":2}}\n");
    reading_clear(&r);
    tn_field_release(&given);
    temp_dir_remove(dir);
    tarn_cx_close(cx);
}
