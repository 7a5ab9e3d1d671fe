/* docs/format/records.md: the records of the page are read, say what the page says, and are written
 * again to the same bytes; with any byte changed they are refused. */
#include "unit/test.h"

#include <stdio.h>

#include "commit/record.h"
#include "commit/write_run.h"
#include "io/store_memory.h"

#define RECORD_BYTES 4096

/* The record of the page that begins with this, both lines of it. */
static tn_str record_of_page(const char *begins, char out[RECORD_BYTES])
{
    FILE *in = fopen(TARN_SOURCE_DIR "/docs/format/records.md", "r");
    size_t len = 0;

    assert_non_null(in);
    while (len == 0 && fgets(out, RECORD_BYTES, in) != NULL)
        if (strncmp(out, begins, strlen(begins)) == 0)
            len = strlen(out);
    assert_true(len != 0 && len < RECORD_BYTES - 20);
    assert_non_null(fgets(out + len, (int)(RECORD_BYTES - len), in));
    fclose(in);
    return tn_str_of(out);
}

struct place {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    tn_buf text;
};

static void place_open(struct place *p)
{
    *p = (struct place){.cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1})};
    assert_int_equal(tn_store_memory_open(p->cx, &p->store), TARN_OK);
    assert_int_equal(tn_store_make_dirs(p->cx, p->store, TN_STR("/lake/.t.tarn/changes")), TARN_OK);
}

static void place_close(struct place *p)
{
    tn_buf_clear(&p->text);
    tn_arena_clear(&p->arena);
    tn_store_close(p->store);
    tarn_cx_close(p->cx);
}

static void assert_same(struct place *p, tn_str path, tn_str want)
{
    tn_buf_clear(&p->text);
    assert_int_equal(tn_store_get(p->cx, p->store, path, RECORD_BYTES, &p->text), TARN_OK);
    if (!tn_str_equal(tn_buf_view(&p->text), want))
        fail_msg("written again: %.*s", (int)p->text.len, (const char *)p->text.data);
}

static void test_records_page__a_write(void **state)
{
    const tn_str path = TN_STR("/lake/.t.tarn/changes/w1.write.json");
    tn_write_record record;
    char text[RECORD_BYTES];
    tn_str page = record_of_page("{\"kind\":\"tarn.write\"", text);
    struct place p;

    (void)state;
    place_open(&p);
    assert_int_equal(tn_store_put(p.cx, p.store, path, page), TARN_OK);
    assert_int_equal(tn_write_record_load(p.cx, p.store, path, TN_STR("/lake/t"),
                                          TN_STR("/lake/.t.tarn"), &p.arena, &record),
                     TARN_OK);
    assert_int_equal(record.state, TN_CHANGE_BEGUN);
    assert_int_equal(record.step_count, 2);
    assert_int_equal(record.steps[0].way, TN_WRITE_TREE);
    assert_true(tn_str_is(record.steps[0].entering[0].name, "city=Ulm/n.parquet"));
    assert_true(tn_str_is(record.steps[0].entering[0].path, "/lake/.t.tarn/w1/write/00000.new"));
    assert_int_equal(record.steps[1].way, TN_WRITE_RENAME);
    assert_true(tn_str_is(record.steps[1].directory, "/lake/t/dt=2"));
    assert_int_equal(record.steps[1].leaving_count, 2);
    assert_true(record.steps[1].leaving[1].side && !record.steps[1].leaving[1].link);
    assert_int_equal(tn_write_record_put(p.cx, p.store, &record, false), TARN_OK);
    assert_same(&p, path, page);
    place_close(&p);
}

static void test_records_page__a_change(void **state)
{
    const tn_str path = TN_STR("/lake/.t.tarn/changes/m1.json");
    tn_change change;
    char text[RECORD_BYTES];
    tn_str page = record_of_page("{\"kind\":\"tarn.change\"", text);
    struct place p;

    (void)state;
    place_open(&p);
    assert_int_equal(tn_store_put(p.cx, p.store, path, page), TARN_OK);
    assert_int_equal(tn_change_record_load(p.cx, p.store, path, &p.arena, &change), TARN_OK);
    assert_int_equal(change.state, TN_CHANGE_DONE);
    assert_int_equal(change.swap, TN_SWAP_EXCHANGE);
    assert_int_equal(change.leaving_count, 1);
    assert_true(tn_str_is(change.leaving[0].name, "a.parquet"));
    assert_int_equal(change.kept_count, 1);
    assert_int_equal(tn_change_record_put(p.cx, p.store, &change, path), TARN_OK);
    assert_same(&p, path, page);
    place_close(&p);
}

static void test_records_page__any_other_byte_is_damage(void **state)
{
    char text[RECORD_BYTES];
    tn_str page = record_of_page("{\"kind\":\"tarn.write\"", text), line;

    (void)state;
    assert_true(tn_record_unseal(page, &line));
    assert_int_equal(line.len, page.len - 18);
    for (size_t i = 0; i < page.len; i++) {
        text[i] ^= 1;
        assert_false(tn_record_unseal(page, &line));
        text[i] ^= 1;
        assert_false(tn_record_unseal((tn_str){text, i}, &line));
    }
}
