/* The same cases over every backend and wrapper: what store.h promises. */
#include "unit/test.h"

#include <unistd.h>

#include "io/store.h"
#include "unit/io/subjects.h"

#define FOR_EACH_SUBJECT(s)                                                                        \
    for (struct subject s = {0}; subject_next(&s);)                                                \
        for (bool once_ = true; once_; once_ = false)

static tn_str at(struct subject *s, const char *name)
{
    tn_str path;

    assert_ok(s->cx, tn_path_join(s->cx, &s->arena, s->base, tn_str_of(name), &path));
    return path;
}

static void put(struct subject *s, const char *name, const char *text)
{
    assert_ok(s->cx, tn_store_put(s->cx, s->store, at(s, name), tn_str_of(text)));
}

static void assert_holds(struct subject *s, const char *name, const char *text)
{
    tn_buf got = {0};

    assert_ok(s->cx, tn_store_get(s->cx, s->store, at(s, name), 1 << 20, &got));
    assert_int_equal(got.len, strlen(text));
    assert_memory_equal(got.data, text, got.len);
    tn_buf_clear(&got);
}

static void assert_missing(struct subject *s, const char *name)
{
    bool found = true;

    assert_ok(s->cx, tn_store_exists(s->cx, s->store, at(s, name), &found));
    assert_false(found);
}

static void test_store__puts_and_gets_whole_objects(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_buf got = {0};

        put(&s, "a", "one");
        assert_holds(&s, "a", "one");
        put(&s, "a", "");
        assert_holds(&s, "a", "");
        put(&s, "a", "twenty");
        assert_fails(s.cx, TARN_E_LIMIT, "6 bytes, more than the 3",
                     tn_store_get(s.cx, s.store, at(&s, "a"), 3, &got));
        assert_int_equal(got.len, 0);
        assert_fails(s.cx, TARN_E_NOTFOUND, "nothere",
                     tn_store_get(s.cx, s.store, at(&s, "nothere"), 3, &got));
        assert_fails(s.cx, TARN_E_NOTFOUND, NULL,
                     tn_store_put(s.cx, s.store, at(&s, "no/dir"), TN_STR("x")));
        tn_buf_clear(&got);
    }
}

static void test_store__put_absent_replaces_nothing(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        assert_ok(s.cx, tn_store_put_absent(s.cx, s.store, at(&s, "a"), TN_STR("first")));
        assert_fails(s.cx, TARN_E_EXISTS, "a",
                     tn_store_put_absent(s.cx, s.store, at(&s, "a"), TN_STR("second")));
        assert_holds(&s, "a", "first");
        assert_int_equal(subject_count(&s, s.base), 1);
    }
}

static void test_store__writes_in_order_and_reads_ranges(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_sink *sink;
        tn_file *file;
        char got[8] = "";

        assert_ok(s.cx, tn_store_create(s.cx, s.store, at(&s, "f"), &sink));
        assert_ok(s.cx, tn_store_write(s.cx, sink, "01234", 5));
        assert_ok(s.cx, tn_store_write(s.cx, sink, "56789", 5));
        assert_int_equal(sink->written_bytes, 10);
        assert_ok(s.cx, tn_store_finish(s.cx, sink));
        tn_store_close_sink(sink);
        assert_fails(s.cx, TARN_E_EXISTS, "f", tn_store_create(s.cx, s.store, at(&s, "f"), &sink));

        assert_ok(s.cx, tn_store_open_file(s.cx, s.store, at(&s, "f"), &file));
        assert_int_equal(file->stat.size_bytes, 10);
        assert_ok(s.cx, tn_store_read(s.cx, file, 3, got, 4));
        assert_string_equal(got, "3456");
        assert_ok(s.cx, tn_store_read(s.cx, file, 10, got, 0));
        assert_fails(s.cx, TARN_E_CORRUPT, "ends at byte 10", tn_store_read(s.cx, file, 8, got, 4));
        tn_store_close_file(file);
        assert_fails(s.cx, TARN_E_INVALID, NULL, tn_store_open_file(s.cx, s.store, s.base, &file));
    }
}

static void test_store__keeps_an_open_file_readable_after_its_removal(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_file *file;
        char got[4] = "";

        put(&s, "f", "abc");
        assert_ok(s.cx, tn_store_open_file(s.cx, s.store, at(&s, "f"), &file));
        assert_ok(s.cx, tn_store_remove(s.cx, s.store, at(&s, "f")));
        assert_missing(&s, "f");
        assert_ok(s.cx, tn_store_read(s.cx, file, 0, got, 3));
        assert_string_equal(got, "abc");
        tn_store_close_file(file);
        assert_fails(s.cx, TARN_E_NOTFOUND, "f", tn_store_remove(s.cx, s.store, at(&s, "f")));
    }
}

static void test_store__lists_any_name(void **state)
{
    static const char *const names[] = {" leading", "%41",  "-rf",       "a\nb",     "a'b",
                                        "a\"b",     ".dot", "\xff\xfe!", "ordinary", "\xc3\xa9"};
    const size_t n = sizeof names / sizeof *names;

    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_entry *entries;
        size_t count;

        for (size_t i = 0; i < n; i++)
            put(&s, names[i], names[i]);
        assert_ok(s.cx, tn_store_list(s.cx, s.store, s.base, &s.arena, &entries, &count));
        assert_int_equal(count, n);
        for (size_t i = 0; i < n; i++) {
            assert_true(i == 0 || tn_str_compare(entries[i - 1].name, entries[i].name) < 0);
            assert_int_equal(entries[i].stat.kind, TN_ENTRY_FILE);
            assert_int_equal(entries[i].stat.size_bytes, entries[i].name.len);
            assert_holds(&s, entries[i].name.ptr, entries[i].name.ptr);
        }
        assert_fails(s.cx, TARN_E_NOTFOUND, "none",
                     tn_store_list(s.cx, s.store, at(&s, "none"), &s.arena, &entries, &count));
    }
}

static void test_store__lists_in_pages(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_list *list;
        const tn_entry *page;
        size_t count, whole = 0;
        char name[16];

        for (int i = 0; i < 600; i++) {
            snprintf(name, sizeof name, "f%03d", i);
            assert_ok(s.cx, tn_store_make_dir(s.cx, s.store, at(&s, name)));
        }
        assert_ok(s.cx, tn_store_list_open(s.cx, s.store, s.base, &list));
        do {
            assert_ok(s.cx, tn_store_list_next(s.cx, list, &page, &count));
            for (size_t i = 0; i < count; i++)
                assert_int_equal(page[i].stat.kind, TN_ENTRY_DIR);
            whole += count;
        } while (count != 0);
        tn_store_list_close(list);
        assert_int_equal(whole, 600);
    }
}

static void test_store__makes_and_removes_directories(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_stat stat;

        assert_ok(s.cx, tn_store_make_dirs(s.cx, s.store, at(&s, "x/y/z")));
        assert_ok(s.cx, tn_store_make_dirs(s.cx, s.store, at(&s, "x/y/z")));
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, at(&s, "x/y"), &stat));
        assert_int_equal(stat.kind, TN_ENTRY_DIR);
        put(&s, "x/f", "1");
        assert_fails(s.cx, TARN_E_EXISTS, NULL, tn_store_make_dirs(s.cx, s.store, at(&s, "x/f")));
        assert_fails(s.cx, TARN_E_EXISTS, NULL, tn_store_make_dir(s.cx, s.store, at(&s, "x")));
        assert_fails(s.cx, TARN_E_CONFLICT, "x", tn_store_remove_dir(s.cx, s.store, at(&s, "x")));
        assert_ok(s.cx, tn_store_remove_tree(s.cx, s.store, at(&s, "x")));
        assert_ok(s.cx, tn_store_remove_tree(s.cx, s.store, at(&s, "x")));
        assert_missing(&s, "x");
        assert_fails(s.cx, TARN_E_NOTFOUND, "x", tn_store_remove_dir(s.cx, s.store, at(&s, "x")));
    }
}

static void test_store__renames(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        put(&s, "a", "A");
        put(&s, "b", "B");
        assert_fails(s.cx, TARN_E_EXISTS, "b",
                     tn_store_rename(s.cx, s.store, at(&s, "a"), at(&s, "b"), false));
        assert_holds(&s, "b", "B");
        assert_ok(s.cx, tn_store_rename(s.cx, s.store, at(&s, "a"), at(&s, "c"), false));
        assert_missing(&s, "a");
        assert_ok(s.cx, tn_store_rename(s.cx, s.store, at(&s, "c"), at(&s, "b"), true));
        assert_holds(&s, "b", "A");
        assert_fails(s.cx, TARN_E_NOTFOUND, NULL,
                     tn_store_rename(s.cx, s.store, at(&s, "a"), at(&s, "d"), true));

        assert_ok(s.cx, tn_store_make_dirs(s.cx, s.store, at(&s, "d1/in")));
        put(&s, "d1/in/f", "F");
        assert_ok(s.cx, tn_store_rename(s.cx, s.store, at(&s, "d1"), at(&s, "d2"), false));
        assert_holds(&s, "d2/in/f", "F");
        assert_missing(&s, "d1");
        assert_ok(s.cx, tn_store_make_dir(s.cx, s.store, at(&s, "d3")));
        assert_fails(s.cx, TARN_E_CONFLICT, NULL,
                     tn_store_rename(s.cx, s.store, at(&s, "d3"), at(&s, "d2"), true));
        assert_fails(s.cx, TARN_E_EXISTS, NULL,
                     tn_store_rename(s.cx, s.store, at(&s, "d2"), at(&s, "d3"), false));
        assert_ok(s.cx, tn_store_rename(s.cx, s.store, at(&s, "d2"), at(&s, "d3"), true));
        assert_holds(&s, "d3/in/f", "F");
    }
}

static void test_store__exchanges_directories(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_stat before, after;

        assert_ok(s.cx, tn_store_make_dirs(s.cx, s.store, at(&s, "p/a")));
        assert_ok(s.cx, tn_store_make_dirs(s.cx, s.store, at(&s, "b")));
        put(&s, "p/a/f", "in a");
        put(&s, "b/g", "in b");
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, at(&s, "p/a"), &before));
        assert_ok(s.cx, tn_store_exchange(s.cx, s.store, at(&s, "p/a"), at(&s, "b")));
        assert_holds(&s, "p/a/g", "in b");
        assert_holds(&s, "b/f", "in a");
        assert_missing(&s, "p/a/f");
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, at(&s, "b"), &after));
        assert_int_equal(before.inode, after.inode);
        assert_fails(s.cx, TARN_E_NOTFOUND, NULL,
                     tn_store_exchange(s.cx, s.store, at(&s, "b"), at(&s, "none")));
        assert_holds(&s, "b/f", "in a");
    }
}

static void test_store__links_files(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_stat a, b;

        put(&s, "a", "text");
        assert_ok(s.cx, tn_store_link(s.cx, s.store, at(&s, "a"), at(&s, "b")));
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, at(&s, "a"), &a));
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, at(&s, "b"), &b));
        assert_true(a.inode == b.inode && a.device == b.device && a.inode != 0);
        assert_int_equal(a.links, 2);
        assert_fails(s.cx, TARN_E_EXISTS, "b",
                     tn_store_link(s.cx, s.store, at(&s, "a"), at(&s, "b")));
        assert_fails(s.cx, TARN_E_NOTFOUND, NULL,
                     tn_store_link(s.cx, s.store, at(&s, "none"), at(&s, "c")));
        assert_ok(s.cx, tn_store_remove(s.cx, s.store, at(&s, "a")));
        assert_holds(&s, "b", "text");
    }
}

static void test_store__locks_once(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_lock *first = NULL, *second = NULL;

        assert_ok(s.cx, tn_store_lock(s.cx, s.store, at(&s, "lock"), &first));
        assert_fails(s.cx, TARN_E_CONFLICT, "process",
                     tn_store_lock(s.cx, s.store, at(&s, "lock"), &second));
        tn_store_unlock(first);
        assert_ok(s.cx, tn_store_lock(s.cx, s.store, at(&s, "lock"), &second));
        tn_store_unlock(second);
        assert_fails(s.cx, TARN_E_NOTFOUND, NULL,
                     tn_store_lock(s.cx, s.store, at(&s, "no/lock"), &second));
    }
}

static void test_store__lock_held_asks_only(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_str path = at(&s, "lock"), holder;
        tn_lock *lock = NULL;
        bool held = true;

        assert_ok(s.cx, tn_store_lock_held(s.cx, s.store, path, &s.arena, &held, &holder));
        assert_false(held);
        assert_ok(s.cx, tn_store_lock(s.cx, s.store, path, &lock));
        assert_ok(s.cx, tn_store_lock_held(s.cx, s.store, path, &s.arena, &held, &holder));
        assert_true(held);
        assert_true(holder.len > 0);
        tn_store_unlock(lock);
        assert_ok(s.cx, tn_store_lock_held(s.cx, s.store, path, &s.arena, &held, &holder));
        assert_false(held);
    }
}

/* The owner removes the file and lets go afterwards; a new file at the path is a new lock. */
static void test_store__locks_the_file_at_the_path(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_lock *first = NULL, *second = NULL, *third = NULL;

        assert_ok(s.cx, tn_store_lock(s.cx, s.store, at(&s, "lock"), &first));
        assert_ok(s.cx, tn_store_remove(s.cx, s.store, at(&s, "lock")));
        assert_ok(s.cx, tn_store_lock(s.cx, s.store, at(&s, "lock"), &second));
        tn_store_unlock(first);
        assert_fails(s.cx, TARN_E_CONFLICT, NULL,
                     tn_store_lock(s.cx, s.store, at(&s, "lock"), &third));
        tn_store_unlock(second);
    }
}

static void test_store__keeps_attributes(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_attr extended[] = {{TN_STR("user.colour"), TN_STR("blue\0green")}};
        tn_attrs want = {.mode = 0640,
                         .uid = (uint32_t)getuid(),
                         .gid = (uint32_t)getgid(),
                         .atime_ns = 1234567890123456789,
                         .mtime_ns = -1500000000,
                         .extended = extended,
                         .extended_count = 1};
        tn_attrs got;
        tn_stat stat;

        put(&s, "f", "x");
        assert_ok(s.cx, tn_store_attrs_set(s.cx, s.store, at(&s, "f"), &want, TN_ATTRS_ALL));
        assert_ok(s.cx, tn_store_attrs_get(s.cx, s.store, at(&s, "f"), &s.arena, &got));
        assert_int_equal(got.mode, 0640);
        assert_true(got.atime_ns == want.atime_ns && got.mtime_ns == want.mtime_ns);
        assert_int_equal(got.extended_count, 1);
        assert_true(tn_str_equal(got.extended[0].name, extended[0].name));
        assert_true(tn_str_equal(got.extended[0].value, extended[0].value));
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, at(&s, "f"), &stat));
        assert_true(stat.mtime_ns == want.mtime_ns && stat.mode == 0640);

        want.extended_count = 0;
        assert_ok(s.cx, tn_store_attrs_set(s.cx, s.store, at(&s, "f"), &want, TN_ATTRS_EXTENDED));
        assert_ok(s.cx, tn_store_attrs_get(s.cx, s.store, at(&s, "f"), &s.arena, &got));
        assert_int_equal(got.extended_count, 0);
        assert_fails(s.cx, TARN_E_NOTFOUND, NULL,
                     tn_store_attrs_get(s.cx, s.store, at(&s, "none"), &s.arena, &got));
    }
}

static void test_store__changes_times_of_a_directory_with_its_entries(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        tn_attrs old = {.mtime_ns = 1000, .atime_ns = 1000};
        tn_stat stat;

        assert_ok(s.cx, tn_store_attrs_set(s.cx, s.store, s.base, &old, TN_ATTRS_TIMES));
        put(&s, "f", "x");
        assert_ok(s.cx, tn_store_stat(s.cx, s.store, s.base, &stat));
        assert_true(stat.mtime_ns > 1000);
        assert_ok(s.cx, tn_store_sync_dir(s.cx, s.store, s.base));
    }
}

static void test_store__refuses_paths_outside_the_contract(void **state)
{
    static const char *const wrong[] = {"", "a", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a/../b"};

    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        static char longer[5000];
        tn_stat stat;

        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
            assert_fails(s.cx, TARN_E_INVALID, "not an absolute path",
                         tn_store_stat(s.cx, s.store, tn_str_of(wrong[i]), &stat));
        assert_fails(s.cx, TARN_E_INVALID, NULL,
                     tn_store_stat(s.cx, s.store, TN_STR("/a\0b"), &stat));
        memset(longer, 'a', sizeof longer);
        longer[0] = '/';
        assert_fails(s.cx, TARN_E_LIMIT, "5000 bytes",
                     tn_store_stat(s.cx, s.store, (tn_str){longer, sizeof longer}, &stat));
    }
}

static void test_store__knows_free_space(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        uint64_t bytes = 0;

        assert_ok(s.cx, tn_store_free_bytes(s.cx, s.store, s.base, &bytes));
        assert_true(bytes > 0);
    }
}

static void test_store__syncs_all(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        assert_ok(s.cx, tn_store_sync_all(s.cx, s.store, s.base));
        assert_fails(s.cx, TARN_E_NOTFOUND, "no such file",
                     tn_store_sync_all(s.cx, s.store, TN_STR("/no/such/place")));
    }
}

static void test_store__knows_where_it_may_write(void **state)
{
    (void)state;
    FOR_EACH_SUBJECT(s)
    {
        bool may = false;

        assert_ok(s.cx, tn_store_may_write(s.cx, s.store, s.base, &may));
        assert_true(may);
        assert_fails(s.cx, TARN_E_NOTFOUND, "no such file",
                     tn_store_may_write(s.cx, s.store, TN_STR("/no/such/place"), &may));
    }
}

static void test_path__parts(void **state)
{
    (void)state;
    assert_true(tn_str_is(tn_path_parent(TN_STR("/a/b")), "/a"));
    assert_true(tn_str_is(tn_path_parent(TN_STR("/a")), "/"));
    assert_true(tn_str_is(tn_path_parent(TN_STR("/")), "/"));
    assert_true(tn_str_is(tn_path_name(TN_STR("/a/b")), "b"));
    assert_true(tn_str_is(tn_path_name(TN_STR("b")), "b"));
    assert_int_equal(tn_path_name(TN_STR("/")).len, 0);
}

static void test_path__joins(void **state)
{
    static const char *const cases[][3] = {
        {"/", "a", "/a"}, {"/a", "b/c", "/a/b/c"}, {"/a", "", "/a"}, {"/", "", "/"}};
    tarn_cx *cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    tn_arena arena = {0};
    tn_str got;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(cx,
                  tn_path_join(cx, &arena, tn_str_of(cases[i][0]), tn_str_of(cases[i][1]), &got));
        assert_true(tn_str_is(got, cases[i][2]));
    }
    tn_arena_clear(&arena);
    tarn_cx_close(cx);
}
