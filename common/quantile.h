/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Medians and quantiles of a few figures. */
#ifndef GL_COMMON_QUANTILE_H
#define GL_COMMON_QUANTILE_H

#include <stddef.h>

/* Sorts the values. NaN when there are none. */
double gl_median(double *values, size_t count);

/* Of `count` > 0 ascending values, the share 0 ≤ `q` ≤ 1: linear between order statistics. */
double gl_quantile(const double *ascending, size_t count, double q);

#endif
