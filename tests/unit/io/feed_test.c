/* Feeds: every byte in order, whatever the source gives at once. */
#include "unit/temp_dir.h"

#include <pthread.h>
#include <signal.h>

#include "io/feed.h"
#include "io/store_memory.h"

/* Reads to the end, twice: after it every call gives the end again. */
static int drain(tarn_cx *cx, tn_feed *feed, tn_buf *out, size_t *chunks)
{
    const uint8_t *bytes;
    size_t len;

    *chunks = 0;
    for (;;) {
        int rc = tn_feed_next(cx, feed, &bytes, &len);

        if (rc != TARN_OK)
            return rc;
        if (len == 0)
            break;
        tn_buf_add(out, bytes, len);
        ++*chunks;
    }
    assert_ok(cx, tn_feed_next(cx, feed, &bytes, &len));
    assert_int_equal(len, 0);
    return TARN_OK;
}

static void test_feed__memory_steps(void **state)
{
    static const struct {
        size_t len, step, want;
    } cases[] = {{0, 0, 0},  {0, 3, 0},   {10, 0, 1}, {10, 1, 10},
                 {10, 3, 4}, {10, 10, 1}, {10, 99, 1}};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_feed *feed = NULL;
        tn_buf out = {0};
        size_t chunks;

        assert_ok(cx, tn_feed_open_memory(cx, "0123456789", cases[i].len, cases[i].step,
                                          TN_STR("digits"), &feed));
        assert_true(tn_str_is(feed->name, "digits"));
        assert_ok(cx, drain(cx, feed, &out, &chunks));
        assert_int_equal(chunks, cases[i].want);
        assert_true(tn_str_equal(tn_buf_view(&out), (tn_str){"0123456789", cases[i].len}));
        tn_feed_close(feed);
        tn_buf_clear(&out);
    }
    tarn_cx_close(cx);
}

static void test_feed__file(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_store *store = NULL;
    tn_buf plain = {0};

    (void)state;
    assert_ok(cx, tn_store_memory_open(cx, &store));
    for (size_t i = 0; i < 700000; i++)
        tn_buf_u8(&plain, (uint8_t)(i * 2654435761u >> 24));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/big"), tn_buf_view(&plain)));
    assert_ok(cx, tn_store_put(cx, store, TN_STR("/empty"), TN_STR("")));
    for (int i = 0; i < 2; i++) {
        tn_str path = i == 0 ? TN_STR("/big") : TN_STR("/empty");
        tn_feed *feed = NULL;
        tn_buf out = {0};
        size_t chunks;

        assert_ok(cx, tn_feed_open_file(cx, store, path, &feed));
        assert_true(tn_str_equal(feed->name, path));
        assert_ok(cx, drain(cx, feed, &out, &chunks));
        assert_true(tn_str_equal(tn_buf_view(&out), i == 0 ? tn_buf_view(&plain) : TN_STR("")));
        tn_feed_close(feed);
        tn_buf_clear(&out);
    }
    {
        tn_feed *feed = NULL;

        assert_fails(cx, TARN_E_NOTFOUND, "/none",
                     tn_feed_open_file(cx, store, TN_STR("/none"), &feed));
        assert_null(feed);
    }
    tn_buf_clear(&plain);
    tn_store_close(store);
    tarn_cx_close(cx);
}

static void on_signal(int number)
{
    (void)number;
}

typedef struct dripping {
    int fd;
    pthread_t reader;
} dripping;

/* Writes byte by byte, and wakes the reader by signals in between. */
static void *drip(void *arg)
{
    const dripping *d = arg;

    for (int i = 0; i < 50; i++) {
        char c = (char)('a' + i % 26);

        usleep(500);
        pthread_kill(d->reader, SIGUSR1);
        if (write(d->fd, &c, 1) != 1)
            break;
    }
    close(d->fd);
    return NULL;
}

static void test_feed__pipe_with_signals(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    tarn_cx *cx = tarn_cx_open(NULL);
    dripping d = {.reader = pthread_self()};
    tn_feed *feed = NULL;
    tn_buf out = {0};
    pthread_t writer;
    size_t chunks;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    d.fd = ends[1];
    assert_ok(cx, tn_feed_open_fd(cx, ends[0], TN_STR("standard input"), &feed));
    assert_int_equal(pthread_create(&writer, NULL, drip, &d), 0);
    assert_ok(cx, drain(cx, feed, &out, &chunks));
    pthread_join(writer, NULL);
    sigaction(SIGUSR1, &before, NULL);
    assert_int_equal(out.len, 50);
    for (size_t i = 0; i < out.len; i++)
        assert_int_equal(out.data[i], 'a' + i % 26);
    tn_feed_close(feed);
    close(ends[0]);
    tn_buf_clear(&out);
    tarn_cx_close(cx);
}

static void *cancel_soon(void *arg)
{
    usleep(50000);
    tarn_cx_cancel(arg);
    return NULL;
}

/* A pipe whose writer says nothing does not keep a caller who wants to stop. */
static void test_feed__silent_pipe(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    tn_feed *feed = NULL;
    const uint8_t *bytes;
    pthread_t other;
    int ends[2];
    size_t len;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_ok(cx, tn_feed_open_fd(cx, ends[0], TN_STR("standard input"), &feed));
    assert_int_equal(pthread_create(&other, NULL, cancel_soon, cx), 0);
    assert_fails(cx, TARN_E_CANCELLED, NULL, tn_feed_next(cx, feed, &bytes, &len));
    pthread_join(other, NULL);
    tn_feed_close(feed);
    close(ends[0]);
    close(ends[1]);
    tarn_cx_close(cx);
}

static void test_feed__bad_descriptor(void **state)
{
    tarn_cx *cx = tarn_cx_open(NULL);
    const uint8_t *bytes;
    tn_feed *feed = NULL;
    size_t len;

    (void)state;
    assert_ok(cx, tn_feed_open_fd(cx, 999999, TN_STR("standard input"), &feed));
    assert_fails(cx, TARN_E_IO, "standard input", tn_feed_next(cx, feed, &bytes, &len));
    tn_feed_close(feed);
    tarn_cx_cancel(cx);
    assert_ok(cx, tn_feed_open_memory(cx, "x", 1, 0, TN_STR("m"), &feed));
    assert_fails(cx, TARN_E_CANCELLED, NULL, tn_feed_next(cx, feed, &bytes, &len));
    tn_feed_close(feed);
    tn_feed_close(NULL);
    tarn_cx_close(cx);
}

static void test_feed__peek(void **state)
{
    static const size_t wants[] = {0, 1, 4, 10, 99};
    tarn_cx *cx = tarn_cx_open(NULL);

    (void)state;
    for (size_t w = 0; w < sizeof wants / sizeof *wants; w++) {
        for (size_t step = 0; step < 4; step++) {
            tn_feed *memory = NULL, *feed = NULL, *again = NULL;
            tn_buf out = {0};
            size_t chunks;
            tn_str first;

            assert_ok(cx, tn_feed_open_memory(cx, "0123456789", 10, step, TN_STR("m"), &memory));
            assert_ok(cx, tn_feed_open_peek(cx, memory, wants[w], &feed, &first));
            assert_true(first.len >= (wants[w] < 10 ? wants[w] : 10));
            assert_true(tn_str_starts(TN_STR("0123456789"), first));
            /* A look at what was looked at. */
            assert_ok(cx, tn_feed_open_peek(cx, feed, wants[w], &again, &first));
            assert_true(tn_str_is(again->name, "m"));
            assert_ok(cx, drain(cx, again, &out, &chunks));
            assert_true(tn_str_is(tn_buf_view(&out), "0123456789"));
            tn_feed_close(again);
            tn_buf_clear(&out);
        }
    }
    tarn_cx_close(cx);
}
