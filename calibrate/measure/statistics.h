/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust statistics of the times of one point. */
#ifndef GL_MEASURE_STATISTICS_H
#define GL_MEASURE_STATISTICS_H

typedef struct gl_statistics {
    double median, p05, p95, min;
    double low, high; /* 95 % confidence interval of the median */
} gl_statistics;

/*
 * Sorts `values` (count ≥ 1) and describes them. Quantiles are interpolated between order
 * statistics (type 7 of Hyndman and Fan 1996). The interval of the median is that of the order
 * statistics, by the binomial distribution, and needs no assumption on the distribution of times;
 * with fewer than six values no such interval has 95 %: then it is the whole range.
 */
gl_statistics gl_statistics_of(double *values, int count);

/*
 * Ranks (from 1) of the order statistics that enclose the median with 95 %: *low and count + 1 −
 * *low. low = the largest l with P(Binomial(count, 1/2) < l) ≤ 2.5 %, at least 1.
 */
int gl_statistics_median_rank(int count);

/* Half the interval, as a part of the median. */
double gl_statistics_half_width(const gl_statistics *statistics);

#endif
