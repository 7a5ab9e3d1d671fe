/* What only real files show: links, pipes, permissions, and the paths that users type. */
#include "unit/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/store.h"
#include "unit/temp_dir.h"

struct place {
    tarn_cx *cx;
    tn_store *store;
    tn_arena arena;
    char directory[256], before[4096];
};

static void place_open(struct place *p)
{
    *p = (struct place){0};
    p->cx = tarn_cx_open(&(tarn_cx_options){.jobs = 1});
    temp_dir_make(p->directory, sizeof p->directory);
    assert_non_null(getcwd(p->before, sizeof p->before));
    assert_int_equal(chdir(p->directory), 0);
    assert_ok(p->cx, tn_store_local_open(p->cx, &p->store));
}

static void place_close(struct place *p)
{
    tn_store_close(p->store);
    tn_arena_clear(&p->arena);
    tarn_cx_close(p->cx);
    assert_int_equal(chdir(p->before), 0);
    temp_dir_remove(p->directory);
}

static tn_str in(struct place *p, const char *name)
{
    tn_str path;

    assert_ok(p->cx,
              tn_path_join(p->cx, &p->arena, tn_str_of(p->directory), tn_str_of(name), &path));
    return path;
}

static void test_local__sees_what_a_link_leads_to(void **state)
{
    struct place p;
    tn_stat stat, target;

    (void)state;
    place_open(&p);
    assert_ok(p.cx, tn_store_put(p.cx, p.store, in(&p, "f"), TN_STR("12345")));
    assert_int_equal(symlink("f", "to_file"), 0);
    assert_int_equal(symlink(".", "to_dir"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(symlink("circle", "circle"), 0);
    assert_ok(p.cx, tn_store_stat(p.cx, p.store, in(&p, "f"), &target));
    assert_false(target.link);
    assert_ok(p.cx, tn_store_stat(p.cx, p.store, in(&p, "to_file"), &stat));
    assert_true(stat.link && stat.kind == TN_ENTRY_FILE && stat.size_bytes == 5);
    assert_int_equal(stat.inode, target.inode);
    assert_ok(p.cx, tn_store_stat(p.cx, p.store, in(&p, "to_dir"), &stat));
    assert_true(stat.link && stat.kind == TN_ENTRY_DIR);
    assert_ok(p.cx, tn_store_stat(p.cx, p.store, in(&p, "dangling"), &stat));
    assert_true(stat.link && stat.kind == TN_ENTRY_OTHER);
    assert_ok(p.cx, tn_store_stat(p.cx, p.store, in(&p, "circle"), &stat));
    assert_true(stat.link && stat.kind == TN_ENTRY_OTHER);
    place_close(&p);
}

static void test_local__removes_and_links_the_link_itself(void **state)
{
    struct place p;
    char text[32] = "";

    (void)state;
    place_open(&p);
    assert_int_equal(mkdir("data", 0777), 0);
    assert_ok(p.cx, tn_store_put(p.cx, p.store, in(&p, "data/f"), TN_STR("1")));
    assert_int_equal(mkdir("gone", 0777), 0);
    assert_int_equal(symlink("../data", "gone/to_dir"), 0);
    assert_int_equal(symlink("../data/f", "gone/to_file"), 0);
    assert_ok(p.cx, tn_store_link(p.cx, p.store, in(&p, "gone/to_file"), in(&p, "data/copy")));
    assert_int_equal(readlink("data/copy", text, sizeof text - 1), 9);
    assert_string_equal(text, "../data/f");
    assert_ok(p.cx, tn_store_remove_tree(p.cx, p.store, in(&p, "gone")));
    assert_int_equal(access("gone", F_OK), -1);
    assert_int_equal(access("data/f", F_OK), 0);
    place_close(&p);
}

static void test_local__refuses_a_pipe_without_waiting(void **state)
{
    struct place p;
    tn_file *file;

    (void)state;
    place_open(&p);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_fails(p.cx, TARN_E_INVALID, "not a regular file",
                 tn_store_open_file(p.cx, p.store, in(&p, "pipe"), &file));
    place_close(&p);
}

static void test_local__names_path_reason_and_way_out(void **state)
{
    struct place p;
    tn_stat stat;
    char name[300];

    (void)state;
    place_open(&p);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_fails(p.cx, TARN_E_LIMIT, "use a shorter name",
                 tn_store_stat(p.cx, p.store, in(&p, name), &stat));
    assert_ok(p.cx, tn_store_put(p.cx, p.store, in(&p, "f"), TN_STR("1")));
    assert_fails(p.cx, TARN_E_NOTFOUND, "f/g: cannot look at it: a part of the path",
                 tn_store_stat(p.cx, p.store, in(&p, "f/g"), &stat));
    place_close(&p);
}

/* As another user: root ignores modes. */
static void test_local__says_permission_denied(void **state)
{
    struct place p;
    int status = 0;
    pid_t child;

    (void)state;
    if (getuid() != 0)
        skip();
    place_open(&p);
    assert_int_equal(mkdir("closed", 0700), 0);
    assert_int_equal(chmod(".", 0755), 0);
    child = fork();
    if (child == 0) {
        tn_sink *sink;
        tn_list *list;
        bool good = setgid(65534) == 0 && setuid(65534) == 0;

        good = good && tn_store_create(p.cx, p.store, in(&p, "new"), &sink) == TARN_E_IO &&
               strstr(tarn_cx_error(p.cx), "permission denied; run as the owner") != NULL;
        good = good && tn_store_list_open(p.cx, p.store, in(&p, "closed"), &list) == TARN_E_IO &&
               strstr(tarn_cx_error(p.cx), "closed: cannot list it: permission denied") != NULL;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    place_close(&p);
}

/* The lock of a killed process is free. */
static void test_local__lock_dies_with_its_owner(void **state)
{
    struct place p;
    tn_lock *lock = NULL;
    int ready[2], status;
    pid_t child;
    char byte;

    (void)state;
    place_open(&p);
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        if (tn_store_lock(p.cx, p.store, in(&p, "lock"), &lock) != TARN_OK ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_fails(p.cx, TARN_E_CONFLICT, "locked by another tarn (process ",
                 tn_store_lock(p.cx, p.store, in(&p, "lock"), &lock));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_ok(p.cx, tn_store_lock(p.cx, p.store, in(&p, "lock"), &lock));
    tn_store_unlock(lock);
    close(ready[0]);
    close(ready[1]);
    place_close(&p);
}

static void test_local__locates_what_users_type(void **state)
{
    struct {
        const char *text, *want; /* below the directory; NULL: refused */
        int status;
    } cases[] = {
        {".", "", TARN_OK},
        {"./t", "/t", TARN_OK},
        {"t/", "/t", TARN_OK},
        {"t/../t//", "/t", TARN_OK},
        {"link", "/t", TARN_OK},
        {"link/new", "/t/new", TARN_OK},
        {"new", "/new", TARN_OK},
        {"new/deeper/", "/new/deeper", TARN_OK},
        {"a:b", "/a:b", TARN_OK},
        {"new/../t", NULL, TARN_E_NOTFOUND},
        {"circle", NULL, TARN_E_INVALID},
        {"", NULL, TARN_E_INVALID},
        {"s3://bucket/t", NULL, TARN_E_UNSUPPORTED},
        {"file://host/t", NULL, TARN_E_UNSUPPORTED},
    };
    struct place p;
    char real[4096], url[4200];

    (void)state;
    place_open(&p);
    assert_int_equal(mkdir("t", 0777), 0);
    assert_int_equal(mkdir("a b", 0777), 0);
    assert_int_equal(mkdir("50%25", 0777), 0);
    assert_int_equal(symlink("t", "link"), 0);
    assert_int_equal(symlink("circle", "circle"), 0);
    assert_non_null(getcwd(real, sizeof real));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_store *store = NULL;
        tn_str path = {0};
        int rc = tn_store_locate(p.cx, tn_str_of(cases[i].text), &p.arena, &store, &path);

        if (rc != cases[i].status)
            fail_msg("\"%s\": %d %s", cases[i].text, rc, tarn_cx_error(p.cx));
        if (rc == TARN_OK) {
            assert_int_equal(strncmp(path.ptr, real, strlen(real)), 0);
            assert_true(tn_str_is(tn_str_from(path, strlen(real)), cases[i].want));
        }
        tn_store_close(store);
    }
    for (int i = 0; i < 4; i++) {
        static const char *const format[] = {"file://%s/a%%20b", "file:%s/a b",
                                             "file://localhost%s/t/", "file://%s/50%%25"};
        static const char *const want[] = {"/a b", "/a b", "/t", "/50%25"};
        tn_store *store = NULL;
        tn_str path;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(url, sizeof url, format[i], real);
#pragma GCC diagnostic pop
        assert_ok(p.cx, tn_store_locate(p.cx, tn_str_of(url), &p.arena, &store, &path));
        assert_true(tn_str_is(tn_str_from(path, strlen(real)), want[i]));
        tn_store_close(store);
    }
    place_close(&p);
}
