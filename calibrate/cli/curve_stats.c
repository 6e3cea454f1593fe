/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/curve_stats.h"

#include "common/arena.h"
#include "common/quantile.h"

#include <math.h>
#include <stdlib.h>

#define DIP 0.85

bool gl_curve_is_dip(const gl_curve *curve, size_t index)
{
    return index > 0 && gl_curve_algbw(&curve->samples[index]) <
                            DIP * gl_curve_algbw(&curve->samples[index - 1]);
}

/* Interpolated between the sizes below and above, in the logarithms. */
static double half_bandwidth_size(const gl_curve *curve, double half)
{
    for (size_t i = 1; i < curve->sample_count; i++) {
        const gl_sample *low = &curve->samples[i - 1], *high = &curve->samples[i];
        double below = gl_curve_busbw(curve, low), above = gl_curve_busbw(curve, high);
        if (below < half && above >= half)
            return low->size_bytes *
                   pow(high->size_bytes / low->size_bytes, log(half / below) / log(above / below));
    }
    return NAN;
}

static double leave_one_out(const gl_curve *curve)
{
    if (curve->sample_count < 3)
        return NAN;
    double *errors = gl_memory_checked(malloc((curve->sample_count - 2) * sizeof *errors));
    for (size_t i = 1; i + 1 < curve->sample_count; i++) {
        const gl_sample *s = &curve->samples[i];
        double part =
            log(s->size_bytes / s[-1].size_bytes) / log(s[1].size_bytes / s[-1].size_bytes);
        double guess = s[-1].time_median_s * pow(s[1].time_median_s / s[-1].time_median_s, part);
        errors[i - 1] = fabs(guess / s->time_median_s - 1);
    }
    double result = gl_median(errors, curve->sample_count - 2);
    free(errors);
    return result;
}

gl_curve_stats gl_curve_stats_of(const gl_curve *curve)
{
    gl_curve_stats stats = {.latency_floor_s = NAN,
                            .plateau_busbw_bytes_per_s = gl_curve_plateau(curve),
                            .peak_busbw_bytes_per_s = NAN,
                            .wrong = NAN,
                            .loo_median = leave_one_out(curve)};
    for (size_t i = 0; i < curve->sample_count; i++) {
        const gl_sample *sample = &curve->samples[i];
        stats.latency_floor_s = fmin(stats.latency_floor_s, sample->time_median_s);
        stats.peak_busbw_bytes_per_s =
            fmax(stats.peak_busbw_bytes_per_s, gl_curve_busbw(curve, sample));
        stats.dips += gl_curve_is_dip(curve, i);
        if (!isnan(sample->wrong))
            stats.wrong = isnan(stats.wrong) ? sample->wrong : stats.wrong + sample->wrong;
    }
    stats.half_bandwidth_size_bytes =
        half_bandwidth_size(curve, stats.plateau_busbw_bytes_per_s / 2);
    return stats;
}
