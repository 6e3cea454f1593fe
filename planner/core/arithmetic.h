/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small arithmetic of the core. */
#ifndef GL_CORE_ARITHMETIC_H
#define GL_CORE_ARITHMETIC_H

#include <stdint.h>

/* The quotient of two positive numbers, rounded up. */
static inline int64_t gl_divide_up(int64_t dividend, int64_t divisor)
{
    return (dividend + divisor - 1) / divisor;
}

/* fmin and fmax are calls, for the sake of NaN, of which there is none where these are used. */
static inline double gl_smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double gl_larger(double a, double b)
{
    return a > b ? a : b;
}

#endif
