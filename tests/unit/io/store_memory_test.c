/* What a crash leaves of a store in memory. */
#include "unit/test.h"

#include "io/store.h"
#include "io/store_memory.h"

static void open_store(tarn_cx **cx, tn_store **store)
{
    *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    assert_ok(*cx, tn_store_memory_open(*cx, store));
}

static void close_store(tarn_cx *cx, tn_store *store)
{
    tn_store_close(store);
    tarn_cx_close(cx);
}

static bool has(tarn_cx *cx, tn_store *store, const char *path)
{
    bool found = false;

    assert_ok(cx, tn_store_exists(cx, store, tn_str_of(path), &found));
    return found;
}

static uint64_t size_of(tarn_cx *cx, tn_store *store, const char *path)
{
    tn_stat stat;

    assert_ok(cx, tn_store_stat(cx, store, tn_str_of(path), &stat));
    return stat.size_bytes;
}

static void test_memory__crash_keeps_what_was_synced(void **state)
{
    tarn_cx *cx;
    tn_store *store;

    (void)state;
    open_store(&cx, &store);
    assert_ok(cx, tn_store_make_dir(cx, store, TN_STR("/d")));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/d/put"), TN_STR("durable")));
    assert_ok(cx, tn_store_make_dir(cx, store, TN_STR("/synced")));
    assert_ok(cx, tn_store_sync_dir(cx, store, TN_STR("/")));
    assert_ok(cx, tn_store_make_dir(cx, store, TN_STR("/lost")));
    tn_store_memory_crash(store, 0);
    assert_true(has(cx, store, "/d/put"));
    assert_int_equal(size_of(cx, store, "/d/put"), 7);
    assert_true(has(cx, store, "/synced"));
    assert_false(has(cx, store, "/lost"));
    close_store(cx, store);
}

/* Each seed keeps a prefix of the changes: never a later one without an earlier one. */
static void test_memory__crash_keeps_a_prefix_of_the_rest(void **state)
{
    bool kept_none = false, kept_all = false, kept_some = false;

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        tarn_cx *cx;
        tn_store *store;
        int count = 0;
        char path[16];

        open_store(&cx, &store);
        for (int i = 0; i < 5; i++) {
            snprintf(path, sizeof path, "/d%d", i);
            assert_ok(cx, tn_store_make_dir(cx, store, tn_str_of(path)));
        }
        tn_store_memory_crash(store, seed);
        for (int i = 0; i < 5; i++) {
            snprintf(path, sizeof path, "/d%d", i);
            if (has(cx, store, path)) {
                assert_int_equal(count, i);
                count++;
            }
        }
        kept_none |= count == 0;
        kept_all |= count == 5;
        kept_some |= count > 0 && count < 5;
        close_store(cx, store);
    }
    assert_true(kept_none && kept_all && kept_some);
}

static void test_memory__crash_undoes_an_unsynced_exchange_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        tarn_cx *cx;
        tn_store *store;

        open_store(&cx, &store);
        assert_ok(cx, tn_store_make_dirs(cx, store, TN_STR("/a")));
        assert_ok(cx, tn_store_make_dirs(cx, store, TN_STR("/w/b")));
        assert_ok(cx, tn_store_put(cx, store, TN_STR("/a/old"), TN_STR("1")));
        assert_ok(cx, tn_store_put(cx, store, TN_STR("/w/b/new"), TN_STR("2")));
        assert_ok(cx, tn_store_exchange(cx, store, TN_STR("/a"), TN_STR("/w/b")));
        assert_true(has(cx, store, "/a/new"));
        tn_store_memory_crash(store, seed);
        assert_true(has(cx, store, seed == 0 ? "/a/old" : "/a/new"));
        assert_true(has(cx, store, seed == 0 ? "/w/b/new" : "/w/b/old"));
        close_store(cx, store);
    }
}

static void test_memory__crash_cuts_unfinished_files(void **state)
{
    bool shorter = false;

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        tarn_cx *cx;
        tn_store *store;
        tn_sink *finished, *unfinished;

        open_store(&cx, &store);
        assert_ok(cx, tn_store_create(cx, store, TN_STR("/f"), &finished));
        assert_ok(cx, tn_store_create(cx, store, TN_STR("/u"), &unfinished));
        assert_ok(cx, tn_store_write(cx, finished, "0123456789", 10));
        assert_ok(cx, tn_store_write(cx, unfinished, "0123456789", 10));
        assert_ok(cx, tn_store_finish(cx, finished));
        assert_ok(cx, tn_store_sync_dir(cx, store, TN_STR("/")));
        tn_store_close_sink(finished);
        tn_store_memory_crash(store, seed);
        tn_store_close_sink(unfinished);
        assert_int_equal(size_of(cx, store, "/f"), 10);
        shorter |= size_of(cx, store, "/u") < 10;
        close_store(cx, store);
    }
    assert_true(shorter);
}

static void test_memory__crash_releases_locks(void **state)
{
    tarn_cx *cx;
    tn_store *store;
    tn_lock *before, *now, *third;

    (void)state;
    open_store(&cx, &store);
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/lock"), TN_STR("")));
    assert_ok(cx, tn_store_lock(cx, store, TN_STR("/lock"), &before));
    tn_store_memory_crash(store, 0);
    assert_ok(cx, tn_store_lock(cx, store, TN_STR("/lock"), &now));
    tn_store_unlock(before); /* of a life that is over: means nothing */
    assert_fails(cx, TARN_E_CONFLICT, NULL, tn_store_lock(cx, store, TN_STR("/lock"), &third));
    tn_store_unlock(now);
    close_store(cx, store);
}
