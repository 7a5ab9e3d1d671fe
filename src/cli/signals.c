/* SIGINT and SIGTERM become a cancelled context.
 *
 * I1: the watcher is joined before the context goes. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static void watched(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

/* Ends the process as the signal would have done it. */
static void die_of(int number)
{
    sigset_t set;

    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void *watch(void *arg)
{
    struct signals *signals = arg;
    sigset_t set;
    int number;

    watched(&set);
    for (int met = 0; sigwait(&set, &number) == 0; met++) {
        if (atomic_load(&signals->over))
            break;
        if (met > 0)
            die_of(number);
        tarn_cx_cancel(signals->cx);
    }
    return NULL;
}

void signals_watch(struct signals *signals, tarn_cx *cx)
{
    struct sigaction now;
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f fails and is reported */
    signals->cx = cx;
    atomic_init(&signals->over, false);
    watched(&set);
    /* nohup and background jobs of a shell ignore SIGINT: that stays so */
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
        sigdelset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signals->watching = pthread_create(&signals->thread, NULL, watch, signals) == 0;
    if (!signals->watching)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void signals_forget(struct signals *signals)
{
    sigset_t set;

    if (!signals->watching)
        return;
    atomic_store(&signals->over, true);
    pthread_kill(signals->thread, SIGTERM);
    pthread_join(signals->thread, NULL);
    signals->watching = false;
    watched(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
