/* Threads that share one counter.
 * I1: a batch is published and retired under the lock; workers take indices by an atomic counter.
 * I2: tn_parallel returns only after every worker has left the batch. */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct batch {
    tarn_cx *cx;
    tn_job fn;
    void *arg;
    size_t n;
    _Atomic size_t next;
    atomic_bool failed;
    pthread_mutex_t lock; /* of the failure below */
    size_t failed_at;
    int status;
    char text[TN_ERROR_TEXT_MAX];
} batch;

struct tn_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    batch *current;
    unsigned long turn; /* counts batches, so that a worker joins each once */
    unsigned inside;    /* workers in the current batch */
    bool stop;
    unsigned threads;
    pthread_t thread[];
};

static void batch_fail(batch *b, size_t i, const tarn_cx *child, int status)
{
    pthread_mutex_lock(&b->lock);
    if (b->status == TARN_OK || i < b->failed_at) {
        b->status = status;
        b->failed_at = i;
        memcpy(b->text, child->text, sizeof b->text);
    }
    atomic_store(&b->failed, true);
    pthread_mutex_unlock(&b->lock);
}

static void batch_work(batch *b)
{
    tarn_cx child;

    tn_cx_child(&child, b->cx);
    while (!atomic_load_explicit(&b->failed, memory_order_relaxed)) {
        size_t i = atomic_fetch_add(&b->next, 1);
        int rc;

        if (i >= b->n)
            break;
        rc = tn_cx_check(&child);
        if (rc == TARN_OK)
            rc = b->fn(&child, i, b->arg);
        if (rc != TARN_OK)
            batch_fail(b, i, &child, rc);
    }
    tn_cx_child_clear(&child);
}

static void *worker(void *arg)
{
    tn_pool *pool = arg;
    unsigned long seen = 0;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && (pool->current == NULL || pool->turn == seen))
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->turn;
        pool->inside++;
        {
            batch *b = pool->current;

            pthread_mutex_unlock(&pool->lock);
            batch_work(b);
            pthread_mutex_lock(&pool->lock);
        }
        if (--pool->inside == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

tn_pool *tn_pool_open(unsigned jobs)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    tn_pool *pool = calloc(1, sizeof *pool + (jobs - 1) * sizeof pool->thread[0]);
    sigset_t all, before;

    if (pool == NULL)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->idle, NULL);
    /* Signals are for the threads of the program: a worker that took one would end the process. */
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (pool->threads < jobs - 1 &&
           pthread_create(&pool->thread[pool->threads], NULL, worker, pool) == 0)
        pool->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pool->threads < jobs - 1) {
        tn_pool_close(pool);
        return NULL;
    }
    return pool;
}

void tn_pool_close(tn_pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned tn_pool_jobs(const tn_pool *pool)
{
    return pool->threads + 1;
}

static int run_inline(tarn_cx *cx, size_t n, tn_job fn, void *arg)
{
    for (size_t i = 0; i < n; i++) {
        int rc = tn_cx_check(cx);

        if (rc == TARN_OK)
            rc = fn(cx, i, arg);
        if (rc != TARN_OK)
            return rc;
    }
    return TARN_OK;
}

int tn_parallel(tarn_cx *cx, size_t n, tn_job fn, void *arg)
{
    tn_pool *pool = cx->pool;
    batch b = {.cx = cx, .fn = fn, .arg = arg, .n = n};

    if (pool == NULL || n < 2)
        return run_inline(cx, n, fn, arg);
    pthread_mutex_init(&b.lock, NULL);
    pthread_mutex_lock(&pool->lock);
    pool->current = &b;
    pool->turn++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    batch_work(&b);
    pthread_mutex_lock(&pool->lock);
    pool->current = NULL;
    while (pool->inside != 0)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_destroy(&b.lock);
    if (b.status != TARN_OK) {
        memcpy(cx->text, b.text, sizeof cx->text);
        cx->status = b.status;
    }
    return b.status;
}
