/* Locations and their plan while each allocation in turn fails: a status with text, and no leak;
 * and the same plan as ever once none fails. */
#include "plan/plan_split.h"
#include "unit/alloc.h"
#include "unit/test.h"

/* Two racks, a host without one, a block without hosts, escapes, pools, and all three stages. */
static const char text[] =
    "{\"config\": {\"max\": 100, \"min_node\": 60, \"min_rack\": 70}, \"pools\": [[\"/p\"]],"
    " \"files\": ["
    "{\"path\": \"/a\", \"len\": 150, \"block_size\": 200, \"blocks\": [{\"offset\": 0, \"len\": "
    "150,"
    " \"hosts\": [\"h1\", \"h2\"], \"racks\": [\"/r1\", \"/r2\"]}]},"
    "{\"path\": \"/\\u00fc\", \"len\": 70, \"block_size\": 50, \"blocks\": ["
    "{\"offset\": 0, \"len\": 50, \"hosts\": [\"h2\"], \"racks\": [\"/r2\"]},"
    "{\"offset\": 50, \"len\": 20, \"hosts\": [\"h3\", \"h1\"], \"racks\": [\"/r1\", \"/r1\"]}]},"
    "{\"path\": \"/c\", \"len\": 9, \"blocks\": [{\"offset\": 0, \"len\": 9, \"hosts\": "
    "[\"h9\"]}]},"
    "{\"path\": \"/d\", \"len\": 8, \"blocks\": [{\"offset\": 0, \"len\": 8}]},"
    "{\"path\": \"/p/e\", \"len\": 75, \"blocks\": [{\"offset\": 0, \"len\": 75, \"hosts\": "
    "[\"h4\"],"
    " \"racks\": [\"/r3\"]}]}]}";

static int run(tarn_cx *cx, enum tarn_split_api api, uint64_t *bytes)
{
    tn_arena arena = {0};
    tn_split_input input;
    tarn_split_plan plan;
    int rc = TARN_OK;

    TN_TRY(tn_split_locations(cx, tn_str_of(text), "text", &arena, &input));
    input.api = api;
    if (api >= TARN_SPLIT_FILE_NEW) {
        input.pool_count = 0;
        input.files[3].dir = true; /* it has no hosts to tell */
        input.files[3].len = 0;
        input.config.ignore_subdirs = true;
        input.config.min = (tn_split_size){true, 60};
    }
    TN_TRY(tn_plan_split(cx, &input, &arena, &plan));
    *bytes = 0;
    for (size_t i = 0; i < plan.split_count; i++)
        *bytes += (uint64_t)plan.splits[i].len;
done:
    tn_arena_clear(&arena);
    return rc;
}

static void test_split_fault__every_allocation(void **state)
{
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (int api = TARN_SPLIT_COMBINE; api <= TARN_SPLIT_FILE_OLD; api++) {
        uint64_t whole, bytes;
        size_t total;

        alloc_watch(0);
        assert_ok(cx, run(cx, (enum tarn_split_api)api, &whole));
        total = alloc_unwatch();
        assert_true(total > 1);
        assert_int_equal(whole, api >= TARN_SPLIT_FILE_NEW ? 304 : 312);
        for (size_t n = 1; n <= total; n++) {
            int rc;

            alloc_watch(n);
            rc = run(cx, (enum tarn_split_api)api, &bytes);
            alloc_unwatch();
            assert_int_equal(rc, TARN_E_NOMEM);
            assert_true(tarn_cx_error(cx)[0] != '\0');
            tn_cx_forget(cx);
        }
        assert_ok(cx, run(cx, (enum tarn_split_api)api, &bytes));
        assert_int_equal(bytes, whole);
    }
    tarn_cx_close(cx);
}
