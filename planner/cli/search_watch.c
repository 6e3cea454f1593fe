/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/search_watch.h"

#include "common/units.h"

#include <math.h>
#include <signal.h>

static volatile sig_atomic_t signal_seen;

static void note_signal(int number)
{
    signal_seen = number;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction before, action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

gl_search_watch gl_search_watch_start(bool quiet)
{
    signal_seen = 0;
    catch_signals();
    return (gl_search_watch){.line = gl_status_line_start(quiet)};
}

bool gl_search_watch_look(void *watch, const gl_search_progress *progress)
{
    gl_search_watch *w = watch;
    char best[64] = "";
    if (!isinf(progress->best_s))
        gl_format_quantity(progress->best_s, GL_SECONDS, best, sizeof best);
    gl_status_line_say(&w->line, "%s%s%3.0f %% of %lld layouts%s%s", w->name != NULL ? w->name : "",
                       w->name != NULL ? ": " : "",
                       100 * (double)progress->done / (double)progress->total,
                       (long long)progress->total, best[0] != '\0' ? ", best so far " : "", best);
    return signal_seen == 0;
}

void gl_search_watch_clear(gl_search_watch *watch)
{
    gl_status_line_clear(&watch->line);
}
