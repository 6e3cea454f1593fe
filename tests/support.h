/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every cmocka test of this project includes. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Doubles, equal within a tolerance relative to the larger. */
#define assert_close(actual, expected, tolerance)                                                  \
    assert_close_at((actual), (expected), (tolerance), __FILE__, __LINE__)

static inline void assert_close_at(double actual, double expected, double tolerance,
                                   const char *file, int line)
{
    double scale = fmax(fabs(actual), fabs(expected));
    if (fabs(actual - expected) <= tolerance * fmax(scale, 1e-300))
        return;
    fprintf(stderr, "%s:%d: %.17g is not %.17g within %g\n", file, line, actual, expected,
            tolerance);
    _fail(file, line);
}

#endif
