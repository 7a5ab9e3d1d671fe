/* Joins in which one allocation fails, at every place in turn: a status or a whole chunk, nothing
 * lost; and reads of the inputs through a window of a file, as of large ones. */
#include "unit/codec/parquet/joins.h"

#include "unit/alloc.h"

enum { PARTS = 3 };

typedef struct fault_case {
    joins_schema schema;
    joins_file files[PARTS];
    tn_chunk_options options;
} fault_case;

static void case_open(tarn_cx *cx, fault_case *c, enum joins_shape shape, const joins_maker *makers,
                      const tn_chunk_options *options)
{
    joins_schema_open(cx, &c->schema, shape, (tn_element){.physical = TN_BYTE_ARRAY});
    c->options = *options;
    for (int i = 0; i < PARTS; i++) {
        joins_column column = {0};

        for (int k = 0; k < 24; k++) {
            char text[16];
            int len = snprintf(text, sizeof text, "%d", (k * 5 + i) % (i == 1 ? 30 : 7));

            joins_level(&column, 0, k % 6 == 5 ? 0 : c->schema.leaf->max_def);
            if (k % 6 != 5)
                joins_value(&column, text, (uint32_t)len);
        }
        joins_make(cx, &c->schema, &column, &makers[i], &c->files[i]);
        joins_column_clear(&column);
    }
}

static void case_close(fault_case *c)
{
    for (int i = 0; i < PARTS; i++)
        joins_file_close(&c->files[i]);
    joins_schema_close(&c->schema);
}

static int run(tarn_cx *cx, const fault_case *c, tn_encoded_chunk *out)
{
    tn_join_counts counts = {0};
    tn_chunk_join *join = NULL;
    int rc = TARN_OK;

    TN_TRY(tn_chunk_join_open(cx, c->schema.leaf, &c->options, TN_JOIN_COPY, &join));
    for (int i = 0; i < PARTS; i++)
        TN_TRY(joins_add(cx, join, &c->files[i], NULL));
    TN_TRY(tn_chunk_join_finish(cx, join, out, &counts));
done:
    tn_chunk_join_close(join);
    return rc;
}

static void sweep(tarn_cx *cx, const fault_case *c)
{
    tn_encoded_chunk chunk = {0};
    size_t total;

    alloc_watch(0);
    assert_ok(cx, run(cx, c, &chunk));
    total = alloc_unwatch();
    tn_encoded_chunk_clear(&chunk);
    for (size_t n = 1; n <= total; n++) {
        int rc;

        alloc_watch(n);
        rc = run(cx, c, &chunk);
        alloc_unwatch();
        if (rc != TARN_OK)
            assert_true(test_text_has(tarn_cx_error(cx), NULL));
        assert_true(rc == TARN_OK || rc == TARN_E_NOMEM);
        tn_encoded_chunk_clear(&chunk);
        tn_cx_forget(cx);
    }
}

static void test_chunk_join_fault__an_allocation_that_fails_is_told(void **state)
{
    static const joins_maker sets[][PARTS] = {
        {{.codec = TN_CODEC_SNAPPY}, {.codec = TN_CODEC_SNAPPY, .v2 = true}, {.crc = true}},
        {{.dictionary = JOINS_SEEN},
         {.dictionary = JOINS_SEEN, .v2 = true},
         {.dictionary = JOINS_SEEN}},
        {{.dictionary = JOINS_EACH},
         {.dictionary = JOINS_EACH, .page_rows = 5},
         {.dictionary = JOINS_TURNED}},
        {{.encoding = TN_ENC_DELTA_BYTE_ARRAY},
         {.dictionary = JOINS_FIRST, .page_rows = 6},
         {.old_name = true, .v2 = true, .dictionary = JOINS_SEEN}},
    };
    static const enum joins_shape shapes[] = {JOINS_OPTIONAL, JOINS_LIST};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (size_t s = 0; s < 2; s++)
            for (int64_t rows = 4; rows < 50; rows += 45) {
                tn_chunk_options options = {.codec = TN_CODEC_SNAPPY, .page_rows = rows};
                fault_case c;

                case_open(cx, &c, shapes[s], sets[i], &options);
                sweep(cx, &c);
                case_close(&c);
            }
    tarn_cx_close(cx);
}

/* The source is a file that is read through a window smaller than a page. */
static void test_chunk_join_fault__parts_are_read_through_a_window(void **state)
{
    static const joins_maker makers[] = {{.page_rows = 1500},
                                         {.page_rows = 1500, .v2 = true},
                                         {.dictionary = JOINS_EACH, .page_rows = 1500},
                                         {.dictionary = JOINS_SEEN, .page_rows = 1500}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof makers / sizeof *makers); i++) {
        joins_schema schema;
        joins_column column = {0}, got = {0};
        joins_file file, joined;
        tn_chunk_join *join;
        tn_encoded_chunk chunk = {0};
        tn_join_counts counts = {0};
        tn_store *store;
        tn_file *open;
        tn_source source;
        tn_join_part part = {.source = &source};

        joins_schema_open(cx, &schema, i % 2 == 0 ? JOINS_OPTIONAL : JOINS_LIST,
                          (tn_element){.physical = TN_INT64});
        for (int64_t k = 0; k < 4500; k++) {
            joins_level(&column, 0, k % 9 == 0 ? 0 : schema.leaf->max_def);
            if (k % 9 != 0)
                joins_value(&column, &k, 8);
        }
        joins_make(cx, &schema, &column, &makers[i / 2], &file);
        assert_ok(cx, tn_store_memory_open(cx, &store));
        assert_ok(cx, tn_store_put(cx, store, TN_STR("/f"), tn_buf_view(&file.bytes)));
        assert_ok(cx, tn_store_open_file(cx, store, TN_STR("/f"), &open));
        source = tn_source_file(open, 100);
        part.file = &file.file;
        assert_ok(cx,
                  tn_chunk_join_open(cx, schema.leaf, &(tn_chunk_options){0}, TN_JOIN_COPY, &join));
        assert_ok(cx, tn_chunk_join_add(cx, join, &part));
        assert_ok(cx, tn_chunk_join_finish(cx, join, &chunk, &counts));
        assert_int_equal(counts.chunks[TN_JOIN_ENCODE], 0);
        tn_chunk_join_close(join);
        joins_file_open(cx, &schema.schema, &chunk, column.rows, &joined);
        assert_ok(cx, joins_read(cx, &joined.file, 0, 0, NULL, &got));
        assert_true(joins_same(&got, &column));
        tn_source_clear(&source);
        tn_store_close_file(open);
        tn_store_close(store);
        tn_encoded_chunk_clear(&chunk);
        joins_column_clear(&column);
        joins_column_clear(&got);
        joins_file_close(&file);
        joins_file_close(&joined);
        joins_schema_close(&schema);
    }
    tarn_cx_close(cx);
}
