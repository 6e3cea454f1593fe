/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/quantile.h"

#include "common/order.h"

#include <math.h>
#include <stdlib.h>

double gl_median(double *values, size_t count)
{
    if (count == 0)
        return (double)NAN;
    qsort(values, count, sizeof *values, gl_compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double gl_quantile(const double *ascending, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t low = (size_t)at;
    double part = at - (double)low;
    return low + 1 < count ? ascending[low] + part * (ascending[low + 1] - ascending[low])
                           : ascending[low];
}
