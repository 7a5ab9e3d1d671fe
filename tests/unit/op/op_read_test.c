/* Reading: pruning never changes the answer, and does skip; order does not follow the threads. */
#include "tarn/read.h"

#include <math.h>
#include <unistd.h>

#include "batch/predicate.h"
#include "unit/batch/table.h"

enum { ROWS = 60, FILES = 6 };

typedef struct rows_fixture {
    tarn_cx *cx;
    char root[64];
} rows_fixture;

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return *seed >> 33;
}

/* A stream of one batch, for tarn_read_save. */
static int one_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    test_table *t = self->private_data;
    tarn_cx *cx = tarn_cx_open(NULL);

    assert_ok(cx, tn_field_copy(cx, &t->schema, out));
    tarn_cx_close(cx);
    return 0;
}

static int one_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    test_table *t = self->private_data;

    tn_array_move(&t->array, out);
    return 0;
}

static void save(tarn_cx *cx, test_table *t, const char *path)
{
    struct ArrowArrayStream stream = {
        .get_schema = one_schema, .get_next = one_next, .private_data = t};

    assert_ok(cx, tarn_read_save(cx, &stream, path, NULL, NULL));
}

/* File f of a partition holds integers around 10 f, so statistics tell files apart. */
static void make_file(tarn_cx *cx, const char *path, int f, uint64_t *seed)
{
    static const char *const words[] = {"a", "bb", "m", "zz", "\xC3\xB6"};
    int64_t i[ROWS];
    double d[ROWS];
    const char *s[ROWS];
    test_table t = {0};
    uint64_t nulls = draw(seed) & draw(seed) & (((uint64_t)1 << ROWS) - 1);

    for (int r = 0; r < ROWS; r++) {
        i[r] = 10 * f + (int64_t)(draw(seed) % 12);
        d[r] = draw(seed) % 16 == 0 ? (double)NAN : (double)i[r] / 2;
        s[r] = words[(f + (int)(draw(seed) % 2)) % 5];
    }
    table_init(cx, &t, 3, ROWS);
    table_fixed(cx, &t, 0, "i", "l", i, 8, nulls);
    table_fixed(cx, &t, 1, "d", "g", d, 8, 0);
    table_text(cx, &t, 2, "s", "u", s, 0);
    save(cx, &t, path);
    table_clear(&t);
}

static int setup(rows_fixture *f)
{
    uint64_t seed = 7;
    char path[160];

    f->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 2});
    strcpy(f->root, "/tmp/tarn-read-XXXXXX");
    assert_non_null(mkdtemp(f->root));
    for (int p = 0; p < 2; p++) {
        snprintf(path, sizeof path, "mkdir %s/p=%d", f->root, p);
        assert_int_equal(system(path), 0);
        for (int k = 0; k < FILES; k++) {
            snprintf(path, sizeof path, "%s/p=%d/%d.parquet", f->root, p, k);
            make_file(f->cx, path, k, &seed);
        }
    }
    return 0;
}

static void teardown(rows_fixture *f)
{
    char command[160];

    snprintf(command, sizeof command, "rm -rf %s", f->root);
    assert_int_equal(system(command), 0);
    tarn_cx_close(f->cx);
}

static int append(void *arg, const void *bytes, size_t len)
{
    tn_buf_add(arg, bytes, len);
    return 0;
}

static void read_text(tarn_cx *cx, const char *root, const char *where, tn_buf *out,
                      tarn_read_counts *counts)
{
    tarn_read_options options = {.where = where, .counts = counts};
    struct ArrowArrayStream rows;

    assert_ok(cx, tarn_read_open(cx, root, &options, &rows));
    assert_ok(cx, tarn_read_print(cx, &rows, TARN_ROWS_NDJSON, append, out));
    rows.release(&rows);
}

/* Rows that the condition holds for, by evaluating it on every row of an unfiltered read. */
static void filter_all(tarn_cx *cx, const char *root, const char *where, int64_t *rows_out)
{
    tn_arena arena = {0};
    struct ArrowArrayStream rows;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    const tn_predicate *predicate;
    tn_filter filter;
    uint8_t keep[ROWS];

    *rows_out = 0;
    assert_ok(cx, tarn_read_open(cx, root, NULL, &rows));
    assert_int_equal(rows.get_schema(&rows, &schema), 0);
    assert_ok(cx, tn_predicate_parse(cx, tn_str_of(where), &arena, &predicate));
    assert_ok(cx, tn_predicate_bind(cx, predicate, &schema, &arena, &filter));
    for (;;) {
        int64_t kept;

        assert_int_equal(rows.get_next(&rows, &batch), 0);
        if (batch.release == NULL)
            break;
        assert_true(batch.length <= ROWS);
        assert_ok(cx, tn_filter_eval(cx, &filter, &batch, keep, &kept));
        *rows_out += kept;
        tn_array_release(&batch);
    }
    tn_field_release(&schema);
    rows.release(&rows);
    tn_arena_clear(&arena);
}

static void random_leaf(char *out, size_t size, uint64_t *seed)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    static const char *const words[] = {"a", "bb", "m", "zz", "c"};
    const char *op = ops[draw(seed) % 6];

    switch (draw(seed) % 6) {
    case 0:
        snprintf(out, size, "i %s %d", op, (int)(draw(seed) % 70));
        break;
    case 1:
        snprintf(out, size, "d %s %d.5", op, (int)(draw(seed) % 35));
        break;
    case 2:
        snprintf(out, size, "s %s '%s'", op, words[draw(seed) % 5]);
        break;
    case 3:
        snprintf(out, size, "p %s %d", op, (int)(draw(seed) % 3));
        break;
    case 4:
        snprintf(out, size, "i IS %sNULL", draw(seed) % 2 == 0 ? "NOT " : "");
        break;
    default:
        snprintf(out, size, "i %sIN (%d, %d)", draw(seed) % 2 == 0 ? "NOT " : "",
                 (int)(draw(seed) % 70), (int)(draw(seed) % 70));
    }
}

static void test_read__pruning_never_changes_the_answer(void **state)
{
    uint64_t seed = 99, groups = 0, read = 0;
    rows_fixture f;

    (void)state;
    setup(&f);
    for (int round = 0; round < 40; round++) {
        char a[64], b[64], where[200];
        tarn_read_counts counts;
        tn_buf text = {0};
        int64_t want, got = 0;

        random_leaf(a, sizeof a, &seed);
        random_leaf(b, sizeof b, &seed);
        snprintf(where, sizeof where, "%s(%s %s %s)", draw(&seed) % 3 == 0 ? "NOT " : "", a,
                 draw(&seed) % 2 == 0 ? "AND" : "OR", b);
        read_text(f.cx, f.root, where, &text, &counts);
        filter_all(f.cx, f.root, where, &want);
        for (size_t i = 0; i < text.len; i++)
            got += text.data[i] == '\n';
        if (got != want || (int64_t)counts.rows_out != want)
            fail_msg("%s: %lld rows, want %lld", where, (long long)got, (long long)want);
        groups += counts.groups;
        read += counts.groups_read;
        tn_buf_clear(&text);
    }
    assert_true(read < groups);
    teardown(&f);
}

static void test_read__skips_partitions_and_groups(void **state)
{
    tarn_read_counts counts;
    tn_buf text = {0};
    rows_fixture f;

    (void)state;
    setup(&f);
    read_text(f.cx, f.root, "p = 1 AND i >= 52", &text, &counts);
    assert_int_equal(counts.partitions, 2);
    assert_int_equal(counts.partitions_read, 1);
    assert_int_equal(counts.files, FILES);
    assert_int_equal(counts.groups, FILES);
    assert_int_equal(counts.groups_read, 1); /* of file 5 alone: file 4 ends at 51 */
    assert_true(counts.rows_out > 0);
    tn_buf_reset(&text);
    read_text(f.cx, f.root, "p = 7", &text, &counts);
    assert_int_equal(text.len, 0);
    assert_int_equal(counts.partitions_read, 0);
    tn_buf_clear(&text);
    teardown(&f);
}

static void test_read__order_does_not_follow_the_threads(void **state)
{
    tarn_cx *alone = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tarn_read_counts counts;
    tn_buf one = {0}, many = {0};
    rows_fixture f;

    (void)state;
    setup(&f);
    read_text(alone, f.root, "d > 3", &one, &counts);
    read_text(f.cx, f.root, "d > 3", &many, &counts);
    assert_true(one.len > 0 && tn_str_equal(tn_buf_view(&one), tn_buf_view(&many)));
    tn_buf_clear(&one);
    tn_buf_clear(&many);
    teardown(&f);
    tarn_cx_close(alone);
}

/* A file there would be one that the table does not know, or the end of one that it does. */
static void test_read__nothing_is_saved_into_a_table(void **state)
{
    int64_t numbers[] = {1};
    test_table t = {0};
    rows_fixture f;
    char path[240];

    (void)state;
    setup(&f);
    snprintf(path, sizeof path, "mkdir -p %s/t/.hoodie/metadata/.hoodie %s/t/p", f.root, f.root);
    assert_int_equal(system(path), 0);
    table_init(f.cx, &t, 1, 1);
    table_fixed(f.cx, &t, 0, "i", "l", numbers, 8, 0);
    for (int i = 0; i < 3; i++) {
        static const char *const places[] = {"t", "t/p", "t/.hoodie"};
        struct ArrowArrayStream stream = {
            .get_schema = one_schema, .get_next = one_next, .private_data = &t};

        snprintf(path, sizeof path, "%s/%s/x.parquet", f.root, places[i]);
        assert_fails(f.cx, TARN_E_UNSUPPORTED, "t, whose own metadata",
                     tarn_read_save(f.cx, &stream, path, NULL, NULL));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    snprintf(path, sizeof path, "%s/x.parquet", f.root);
    save(f.cx, &t, path);
    table_clear(&t);
    teardown(&f);
}
