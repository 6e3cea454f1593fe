/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/clock.h"

#include <time.h>

double gl_monotonic_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
