/* Interruption by the user: the first SIGINT or SIGTERM cancels the context, the second one kills.
 *
 * Signals are waited for by a thread of their own, so nothing is shared with a handler. A process
 * started meanwhile inherits blocked signals and an ignored SIGPIPE: whoever starts one sets them
 * back in it. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tarn/context.h"

struct signals {
    pthread_t thread;
    tarn_cx *cx;
    bool watching;
    atomic_bool over;
};

/* Before other threads are started. SIGPIPE is ignored from here on: writes give EPIPE. */
void signals_watch(struct signals *signals, tarn_cx *cx);
/* The context is no longer touched; from here on a signal ends the process. */
void signals_forget(struct signals *signals);

#endif
