/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measured curve: time of a collective against message size.
 *
 * Between samples: of piecewise linear in time against bytes and a monotone cubic through log time
 * against log bytes the one with the smaller leave-one-out error near that size. Outside: below
 * the smallest sample its time is the floor; above the largest, the slope of the last octaves.
 * NCCL switches algorithms, so nothing is smoothed and time need not grow with size.
 */
#ifndef GL_CORE_CURVE_H
#define GL_CORE_CURVE_H

#include "common/arena.h"
#include "common/calibration.h"
#include "common/error.h"
#include "planner/core/evidence.h"

typedef enum gl_interpolation {
    GL_INTERPOLATION_LINEAR,   /* time linear in bytes, piecewise */
    GL_INTERPOLATION_MONOTONE, /* Steffen (1990) monotone cubic, log–log */
    GL_INTERPOLATION_COUNT
} gl_interpolation;

typedef struct gl_curve_quality {
    size_t points;                        /* usable samples (size > 0, time > 0) */
    double loo_median_frac, loo_p90_frac; /* leave-one-out error */
    double noise_frac;       /* one-sigma repeat noise: in against out of place when both were
                                measured, else the samples' own spread, else assumed */
    gl_interpolation method; /* that serves most gaps */
    double loo_median_by_method[GL_INTERPOLATION_COUNT];
    double floor_s;                   /* latency floor: smallest time */
    double plateau_busbw_bytes_per_s; /* largest busbw */
    double half_size_bytes;           /* smallest sampled size that reaches half of the plateau */
    double slope_s_per_byte;          /* of the last octaves, robust */
    int decreasing_steps;             /* where time falls although size grows */
} gl_curve_quality;

typedef struct gl_curve_fit {
    const gl_curve *curve;
    double *size_bytes, *time_s;             /* usable samples, ascending */
    double *log_size, *log_time, *log_slope; /* slope: of the monotone cubic */
    unsigned char *method;                   /* gl_interpolation of the gap behind each sample */
    double *loo_frac;     /* leave-one-out error at each sample; ends: their neighbour's */
    double hold_out_frac; /* error of extrapolating to the last sample from those before */
    gl_curve_quality quality;
} gl_curve_fit;

/* Among `curves` the same calls of the same run in the other place, in or out; NULL: none. */
const gl_curve *gl_curve_twin(const gl_curve *curves, size_t count, const gl_curve *curve);

/* Prepares a curve. `twin` is the same curve measured in the other place (in or out), or NULL: it
 * tells the noise, and an all-reduce's times are the mean of both. Needs two usable samples at
 * distinct sizes, else an input error. Samples with wrong results are not usable. */
bool gl_curve_fit_build(const gl_curve *curve, const gl_curve *twin, gl_arena *arena,
                        gl_curve_fit *fit, gl_error *err);

typedef struct gl_curve_time {
    double time_s;
    double error_frac; /* one-sigma relative error of time_s */
    gl_evidence evidence;
} gl_curve_time;

/* Time of one call of `size_bytes` (≥ 0). */
gl_curve_time gl_curve_eval(const gl_curve_fit *fit, double size_bytes);

/* Does the curve carry an answer for this size? Not far beyond its last sample: twice when that is
 * still in the latency floor (its bandwidth was never seen), a thousand times otherwise. */
bool gl_curve_covers(const gl_curve_fit *fit, double size_bytes);

/* The method of the gap that a size lies in. */
gl_interpolation gl_curve_method_at(const gl_curve_fit *fit, double size_bytes);

const char *gl_interpolation_name(gl_interpolation method);

#endif
