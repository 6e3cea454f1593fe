/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures that sum up a measured curve for people. The planner fits models of its own. */
#ifndef GL_CALIBRATE_CURVE_STATS_H
#define GL_CALIBRATE_CURVE_STATS_H

#include "common/calibration.h"

typedef struct gl_curve_stats {
    double latency_floor_s;           /* shortest time of any size */
    double plateau_busbw_bytes_per_s; /* gl_curve_plateau */
    double peak_busbw_bytes_per_s;
    double half_bandwidth_size_bytes; /* where busbw first passes half of the plateau; NaN when
                                         the smallest size is above it */
    double loo_median;                /* median relative error of each inner sample's time, read
                                         off the line (log-log) between its neighbours; NaN
                                         with fewer than three samples */
    size_t dips;                      /* see gl_curve_is_dip */
    double wrong;                     /* wrong elements of all sizes; NaN when not checked */
} gl_curve_stats;

/* The samples must be loaded. */
gl_curve_stats gl_curve_stats_of(const gl_curve *curve);

/* Does busbw fall by more than 15 % from the next smaller size to this one? Where protocols or
 * algorithms change, and on disturbed networks. */
bool gl_curve_is_dip(const gl_curve *curve, size_t index);

#endif
