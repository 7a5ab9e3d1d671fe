/* Predicates: any text is parsed, bound to a schema of many types, and evaluated on rows. What a
 * partial binding rules out, the whole one must rule out too. */
#include <stdlib.h>
#include <string.h>

#include "batch/predicate.h"
#include "batch/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static __attribute__((noinline)) void fail(void)
{
    abort();
}

static const struct {
    const char *name, *format;
} columns[] = {{"i", "i"},     {"u", "L"},    {"f", "f"}, {"d", "g"},        {"s", "u"},
               {"z", "z"},     {"x", "w:16"}, {"b", "b"}, {"dt", "tdD"},     {"ts", "tsu:UTC"},
               {"tn", "tsn:"}, {"t", "ttu"},  {"n", "n"}, {"dec", "d:20,3"}, {"big", "d:60,3,256"},
               {"a.b", "c"},   {"du", "tDm"}, {"h", "e"}};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void make_schema(tarn_cx *cx, size_t count, struct ArrowSchema *out)
{
    if (tn_field_init(cx, out, "+s", TN_STR(""), false, count) != TARN_OK)
        abort();
    for (size_t i = 0; i < count; i++)
        if (tn_field_init(cx, out->children[i], columns[i].format, tn_str_of(columns[i].name), true,
                          0) != TARN_OK)
            abort();
}

static int evaluate(tarn_cx *cx, const tn_filter *filter, const struct ArrowSchema *schema,
                    const struct ArrowArray *rows, uint8_t keep[4])
{
    int64_t kept;

    (void)schema;
    return tn_filter_eval(cx, filter, rows, keep, &kept);
}

/* Two rows: nulls, then zeros that are not null. */
static void make_rows(tarn_cx *cx, const struct ArrowSchema *schema, struct ArrowArray *out)
{
    if (tn_rows_nulls(cx, schema, 2, out) != TARN_OK)
        abort();
    for (int64_t i = 0; i < out->n_children; i++)
        if (out->children[i]->n_buffers > 0)
            *(uint8_t *)(uintptr_t)out->children[i]->buffers[0] = 2;
    if (out->n_buffers > 0)
        *(uint8_t *)(uintptr_t)out->buffers[0] = 3;
}

static void run(tarn_cx *cx, const tn_predicate *predicate, tn_arena *arena)
{
    struct ArrowSchema all = {0}, part = {0};
    struct ArrowArray rows = {0}, some = {0};
    tn_filter whole, partial;
    uint8_t keep[4] = {0}, may[4] = {0};

    make_schema(cx, COLUMNS, &all);
    make_schema(cx, COLUMNS / 2, &part);
    make_rows(cx, &all, &rows);
    make_rows(cx, &part, &some);
    if (tn_predicate_bind(cx, predicate, &all, arena, &whole) == TARN_OK &&
        tn_predicate_bind_partial(cx, predicate, &part, arena, &partial) == TARN_OK) {
        if (evaluate(cx, &whole, &all, &rows, keep) != TARN_OK ||
            evaluate(cx, &partial, &part, &some, may) != TARN_OK)
            fail();
        for (int i = 0; i < 2; i++)
            if (keep[i] > may[i])
                fail();
    }
    tn_array_release(&rows);
    tn_array_release(&some);
    tn_field_release(&all);
    tn_field_release(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    const tn_predicate *predicate;
    tn_arena arena = {0};
    tn_str *names;
    size_t count;

    if (cx == NULL)
        return 0;
    if (tn_predicate_parse(cx, (tn_str){(const char *)data, size}, &arena, &predicate) == TARN_OK) {
        tn_predicate_names(cx, predicate, &arena, &names, &count);
        run(cx, predicate, &arena);
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
    return 0;
}
