/* A plan of each kind while each allocation in turn fails: a status with text, and no leak; and the
 * same plan as ever once none fails. */
#include "plan/plan_upsert.h"
#include "unit/alloc.h"
#include "unit/test.h"

static const tn_base_file small = {.file_id = TN_STR("00000000-a"), .size_bytes = 900, .rows = 9};
static const tn_base_file large = {
    .file_id = TN_STR("00000001-b"), .size_bytes = 200000000, .rows = 2000000};
static const tn_base_file *const files[] = {&large, &small};
static const int64_t updates[] = {3, 4};
static const tn_write_stat stat = {.bytes = 200000000, .writes = 2000000};
static const tn_commit_size commit = {.instant = TN_STR("7"), .stats = &stat, .stat_count = 1};

static int run(tarn_cx *cx, bool exact, uint32_t index_buckets, size_t *buckets)
{
    tn_upsert_in in[] = {{.path = TN_STR("dt=1"),
                          .inserts = 3000000,
                          .updated = files,
                          .update_counts = updates,
                          .updated_count = 2,
                          .files = files,
                          .file_count = 2},
                         {.path = TN_STR("dt=2"), .inserts = 5}};
    tn_upsert_options options = {.has_commit = true, .index_buckets = index_buckets};
    tn_arena arena = {0};
    tn_upsert_plan plan;
    int rc = TARN_OK;

    tn_sizing_defaults(&options.sizing);
    options.sizing.exact = exact;
    TN_TRY(tn_plan_record_bytes(cx, &options.sizing, 9, &commit, 1, files, 2, 0, &arena,
                                &options.record_bytes, &options.record_bytes_why));
    TN_TRY(tn_plan_upsert(cx, &options, in, 2, &arena, &plan));
    *buckets = plan.bucket_count;
done:
    tn_arena_clear(&arena);
    return rc;
}

static void test_upsert_fault__every_allocation(void **state)
{
    static const struct {
        bool exact;
        uint32_t index_buckets;
        size_t want;
    } kinds[] = {{true, 0, 5}, {false, 0, 4}, {false, 4, 8}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t total, buckets = 0;

        alloc_watch(0);
        assert_ok(cx, run(cx, kinds[k].exact, kinds[k].index_buckets, &buckets));
        total = alloc_unwatch();
        assert_true(total > 1);
        assert_int_equal(buckets, kinds[k].want);
        for (size_t n = 1; n <= total; n++) {
            int rc;

            alloc_watch(n);
            rc = run(cx, kinds[k].exact, kinds[k].index_buckets, &buckets);
            alloc_unwatch();
            assert_int_equal(rc, TARN_E_NOMEM);
            assert_true(tarn_cx_error(cx)[0] != '\0');
            tn_cx_forget(cx);
        }
    }
    tarn_cx_close(cx);
}
