/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/statistics.h"
#include "common/order.h"
#include "common/quantile.h"

#include <math.h>
#include <stdlib.h>

#define TAIL            0.025
#define NORMAL_QUANTILE 1.959963984540054 /* of 1 − TAIL */

enum { EXACT_MAX = 500 }; /* 2^−count must be a double */

int gl_statistics_median_rank(int count)
{
    if (count > EXACT_MAX) {
        /* Normal approximation of the binomial, with its continuity correction. */
        return (int)floor((count + 1 - NORMAL_QUANTILE * sqrt(count)) / 2);
    }
    double term = pow(0.5, count), sum = term; /* P(X = 0), P(X ≤ 0) */
    int low = 0;
    while (sum <= TAIL && low < count / 2) {
        low++;
        term *= (double)(count - low + 1) / low;
        sum += term;
    }
    return low > 1 ? low : 1;
}

gl_statistics gl_statistics_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, gl_compare_doubles);
    int low = gl_statistics_median_rank(count);
    return (gl_statistics){.median = gl_quantile(values, (size_t)count, 0.5),
                           .p05 = gl_quantile(values, (size_t)count, 0.05),
                           .p95 = gl_quantile(values, (size_t)count, 0.95),
                           .min = values[0],
                           .low = values[low - 1],
                           .high = values[count - low]};
}

double gl_statistics_half_width(const gl_statistics *s)
{
    return (s->high - s->low) / 2 / s->median;
}
