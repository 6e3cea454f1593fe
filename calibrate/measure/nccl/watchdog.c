/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/watchdog.h"

#include "common/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Time for the polling thread to see that it is over and to abort by itself. */
static const double grace_s = 20, tick_s = 0.25;

struct gl_watchdog {
    pthread_t thread;
    pthread_mutex_t lock; /* for `what`, which a message may print */
    const char *what;
    atomic_bool stop, armed, expired;
    _Atomic double deadline_s, limit_s;
};

static void end_process(gl_watchdog *dog)
{
    pthread_mutex_lock(&dog->lock);
    fprintf(stderr,
            "gpulink-calibrate: %s: no answer within %.0f s, and the call does not return; "
            "a peer may be gone\n",
            dog->what, atomic_load(&dog->limit_s));
    fflush(stderr);
    _exit(GL_ERROR_DEVICE);
}

static void *watch(void *argument)
{
    gl_watchdog *dog = argument;
    const struct timespec tick = {.tv_nsec = (long)(tick_s * 1e9)};
    while (!atomic_load(&dog->stop)) {
        nanosleep(&tick, NULL);
        double late_s = gl_monotonic_s() - atomic_load(&dog->deadline_s);
        if (!atomic_load(&dog->armed) || late_s < 0)
            continue;
        atomic_store(&dog->expired, true);
        if (late_s > grace_s)
            end_process(dog);
    }
    return NULL;
}

gl_watchdog *gl_watchdog_start(void)
{
    gl_watchdog *dog = calloc(1, sizeof *dog);
    if (dog == NULL)
        return NULL;
    pthread_mutex_init(&dog->lock, NULL);
    dog->what = "";
    if (pthread_create(&dog->thread, NULL, watch, dog) == 0)
        return dog;
    free(dog);
    return NULL;
}

void gl_watchdog_stop(gl_watchdog *dog)
{
    if (dog == NULL)
        return;
    atomic_store(&dog->stop, true);
    pthread_join(dog->thread, NULL);
    pthread_mutex_destroy(&dog->lock);
    free(dog);
}

void gl_watchdog_arm(gl_watchdog *dog, const char *what, double limit_s)
{
    if (dog == NULL)
        return;
    pthread_mutex_lock(&dog->lock);
    dog->what = what;
    pthread_mutex_unlock(&dog->lock);
    atomic_store(&dog->expired, false);
    atomic_store(&dog->limit_s, limit_s);
    atomic_store(&dog->deadline_s, gl_monotonic_s() + limit_s);
    atomic_store(&dog->armed, true);
}

void gl_watchdog_kick(gl_watchdog *dog)
{
    if (dog != NULL)
        atomic_store(&dog->deadline_s, gl_monotonic_s() + atomic_load(&dog->limit_s));
}

void gl_watchdog_disarm(gl_watchdog *dog)
{
    if (dog != NULL)
        atomic_store(&dog->armed, false);
}

bool gl_watchdog_expired(gl_watchdog *dog)
{
    return dog != NULL && atomic_load(&dog->expired);
}
