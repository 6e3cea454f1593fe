/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t signal_seen;

static void note_signal(int number)
{
    signal_seen = number;
}

void gl_interrupt_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before, action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    signal_seen = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

int gl_interrupt_seen(void)
{
    return signal_seen;
}
