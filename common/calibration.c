/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/calibration.h"

#include "common/quantile.h"

#include <math.h>

double gl_curve_plateau(const gl_curve *curve)
{
    double largest[3];
    size_t count = curve->sample_count < 3 ? curve->sample_count : 3;
    for (size_t i = 0; i < count; i++)
        largest[i] = gl_curve_busbw(curve, &curve->samples[curve->sample_count - 1 - i]);
    return count == 2 ? fmax(largest[0], largest[1]) : gl_median(largest, count);
}
