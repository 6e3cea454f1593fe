/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/curve.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* Median absolute error of a normal distribution over its sigma. */
static const double MEDIAN_OF_SIGMA = 0.6745;
/* Repeat noise where nothing tells: median 1.5 % over 3,650 public NVLink points
 * (docs/models/network.md). */
static const double ASSUMED_NOISE_FRAC = 0.015 / 0.6745;
/* Octaves at the end of a curve whose slope continues it. */
static const double TAIL_RATIO = 8.0;
/* A curve that starts no higher than this starts on its latency floor: smaller messages take the
 * same time, and that is no extrapolation worth the name. */
static const double FLOOR_SIZE_BYTES = 4096;

/* How far the last octaves carry (gl_curve_covers), and from which multiple of the floor on they
 * show a bandwidth at all. */
static const double BANDWIDTH_SEEN = 2, REACH_RATIO = 1024, REACH_RATIO_IN_FLOOR = 2;
/* Without a bandwidth each octave beyond may double the time or leave it. */
static const double UNSEEN_PER_OCTAVE = 0.5;
/* More points than this are thinned: closer than a 64th of an octave they tell nothing new.
 * Samples on each side of a gap whose errors choose its method. */
enum { DENSE_POINTS = 2048, METHOD_WINDOW = 2 };
/* Errors below this are noise, and do not tell methods apart. */
static const double SMALL_ERROR_FRAC = 0.01;
static const double THINNED_RATIO = 1.0109; /* 2^(1/64) */

static bool usable(const gl_sample *s)
{
    return s->size_bytes > 0 && s->time_median_s > 0 && isfinite(s->time_median_s) &&
           !(s->wrong > 0);
}

static double line_at(double x, double x0, double y0, double x1, double y1)
{
    return y0 + (x - x0) * (y1 - y0) / (x1 - x0);
}

/* Steffen's slope at node i (Astron. Astrophys. 239, 443, 1990): monotone, and made of the two gaps
 * beside the node, so that it can be kept instead of a spline object. */
static double steffen_slope(const double *x, const double *y, size_t n, size_t i)
{
    if (i == 0 || i + 1 == n) {
        size_t j = i == 0 ? 0 : i - 1;
        return (y[j + 1] - y[j]) / (x[j + 1] - x[j]);
    }
    double before = x[i] - x[i - 1], after = x[i + 1] - x[i];
    double s0 = (y[i] - y[i - 1]) / before, s1 = (y[i + 1] - y[i]) / after;
    double parabola = (s0 * after + s1 * before) / (before + after);
    double least = fmin(fmin(fabs(s0), fabs(s1)), fabs(parabola) / 2);
    return (copysign(1, s0) + copysign(1, s1)) * least;
}

/* The cubic through two nodes with given slopes. */
static double cubic_at(const double *x, const double *y, const double slope[2], double at)
{
    double h = x[1] - x[0], u = at - x[0], s = (y[1] - y[0]) / h;
    double a = (slope[0] + slope[1] - 2 * s) / (h * h);
    double b = (3 * s - 2 * slope[0] - slope[1]) / h;
    return ((a * u + b) * u + slope[0]) * u + y[0];
}

/* Time between samples i and i+1 by one method. */
static double inside(const gl_curve_fit *fit, gl_interpolation method, size_t i, double size)
{
    if (method == GL_INTERPOLATION_MONOTONE)
        return exp(cubic_at(fit->log_size + i, fit->log_time + i, fit->log_slope + i, log(size)));
    return line_at(size, fit->size_bytes[i], fit->time_s[i], fit->size_bytes[i + 1],
                   fit->time_s[i + 1]);
}

/* Predicts sample i from the others (its two neighbours on each side suffice). */
static double leave_one_out(const gl_curve_fit *fit, gl_interpolation method, size_t i)
{
    const double *x = fit->size_bytes, *y = fit->time_s;
    if (method == GL_INTERPOLATION_LINEAR)
        return line_at(x[i], x[i - 1], y[i - 1], x[i + 1], y[i + 1]);
    double lx[4], ly[4];
    size_t count = 0, n = fit->quality.points, gap = i >= 2 ? 1 : 0;
    size_t first = i >= 2 ? i - 2 : 0, last = i + 2 < n ? i + 2 : n - 1;
    for (size_t j = first; j <= last; j++) {
        if (j == i)
            continue;
        lx[count] = fit->log_size[j];
        ly[count++] = fit->log_time[j];
    }
    const double slope[2] = {steffen_slope(lx, ly, count, gap),
                             steffen_slope(lx, ly, count, gap + 1)};
    return exp(cubic_at(lx + gap, ly + gap, slope, fit->log_size[i]));
}

static double quantile(gl_arena *arena, const double *values, size_t n, double at)
{
    if (n == 0)
        return NAN;
    double *sorted = GL_ARENA_NEW(arena, double, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = values[i];
    gsl_sort(sorted, 1, n);
    return gsl_stats_quantile_from_sorted_data(sorted, 1, n, at);
}

/* Mean logarithm of the leave-one-out errors of one method over the inner samples near `from` …
 * `to`, that of sample `without` not counted: one switch of algorithm does not outweigh the rest.
 */
static double error_near(const gl_curve_fit *fit, const double *error, size_t from, size_t to,
                         size_t without)
{
    double sum = 0, count = 0;
    size_t n = fit->quality.points, first = from > METHOD_WINDOW ? from - METHOD_WINDOW : 1;
    for (size_t j = first > 0 ? first : 1; j + 1 < n && j <= to + METHOD_WINDOW; j++) {
        if (j == without)
            continue;
        sum += log(error[j] + SMALL_ERROR_FRAC);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

static gl_interpolation better_near(const gl_curve_fit *fit, double *const errors[], size_t from,
                                    size_t to, size_t without)
{
    double line = error_near(fit, errors[GL_INTERPOLATION_LINEAR], from, to, without);
    double cubic = error_near(fit, errors[GL_INTERPOLATION_MONOTONE], from, to, without);
    return cubic < line ? GL_INTERPOLATION_MONOTONE : GL_INTERPOLATION_LINEAR;
}

/* Each sample that has two neighbours is predicted from the others by both methods. For a gap the
 * method serves that errs less on the samples around it: time is a line in bytes where bandwidth
 * counts and bends in the logarithms where latency does. A sample's own error is that of the method
 * which its neighbours would have chosen. */
static void choose_methods(gl_curve_fit *fit, gl_arena *arena)
{
    size_t n = fit->quality.points;
    gl_curve_quality *q = &fit->quality;
    double *errors[GL_INTERPOLATION_COUNT];
    fit->loo_frac = GL_ARENA_NEW(arena, double, n);
    fit->method = GL_ARENA_NEW(arena, unsigned char, n);
    q->method = GL_INTERPOLATION_LINEAR;
    q->loo_median_frac = q->loo_p90_frac = NAN;
    for (int m = 0; m < GL_INTERPOLATION_COUNT; m++)
        q->loo_median_by_method[m] = NAN;
    if (n < 3)
        return;
    for (int m = 0; m < GL_INTERPOLATION_COUNT; m++) {
        errors[m] = GL_ARENA_NEW(arena, double, n);
        for (size_t i = 1; i + 1 < n; i++)
            errors[m][i] = fabs(leave_one_out(fit, (gl_interpolation)m, i) / fit->time_s[i] - 1);
        q->loo_median_by_method[m] = quantile(arena, errors[m] + 1, n - 2, 0.5);
    }
    size_t cubic = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        fit->method[i] = (unsigned char)better_near(fit, errors, i, i + 1, n);
        cubic += fit->method[i] == GL_INTERPOLATION_MONOTONE;
        if (i > 0)
            fit->loo_frac[i] = errors[better_near(fit, errors, i, i, i)][i];
    }
    fit->loo_frac[0] = fit->loo_frac[1];
    fit->loo_frac[n - 1] = fit->loo_frac[n - 2];
    q->method = 2 * cubic > n - 1 ? GL_INTERPOLATION_MONOTONE : GL_INTERPOLATION_LINEAR;
    q->loo_median_frac = quantile(arena, fit->loo_frac + 1, n - 2, 0.5);
    q->loo_p90_frac = quantile(arena, fit->loo_frac + 1, n - 2, 0.9);
}

static void find_slopes(gl_curve_fit *fit, gl_arena *arena)
{
    size_t n = fit->quality.points;
    fit->log_slope = GL_ARENA_NEW(arena, double, n);
    for (size_t i = 0; i < n; i++)
        fit->log_slope[i] = steffen_slope(fit->log_size, fit->log_time, n, i);
}

/* Slope of time against bytes over the samples [first, n), robust to an outlier (bisquare). */
static double tail_slope(const double *x, const double *y, size_t first, size_t n)
{
    size_t count = n - first;
    double simple = (y[n - 1] - y[first]) / (x[n - 1] - x[first]);
    if (count < 4)
        return simple;
    gsl_matrix *design = gl_memory_checked(gsl_matrix_alloc(count, 2));
    gsl_vector *values = gl_memory_checked(gsl_vector_alloc(count));
    gsl_vector *line = gl_memory_checked(gsl_vector_alloc(2));
    gsl_matrix *covariance = gl_memory_checked(gsl_matrix_alloc(2, 2));
    gsl_multifit_robust_workspace *work =
        gl_memory_checked(gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, count, 2));
    double slope = simple;
    for (size_t i = 0; i < count; i++) {
        gsl_matrix_set(design, i, 0, 1.0);
        gsl_matrix_set(design, i, 1, x[first + i] / x[n - 1]);
        gsl_vector_set(values, i, y[first + i]);
    }
    int status = gsl_multifit_robust(design, values, line, covariance, work);
    if (status == GSL_ENOMEM)
        gl_memory_checked(NULL);
    double fitted = gsl_vector_get(line, 1) / x[n - 1];
    if ((status == GSL_SUCCESS || status == GSL_EMAXITER) && isfinite(fitted) && fitted > 0)
        slope = fitted;
    gsl_multifit_robust_free(work);
    gsl_matrix_free(covariance);
    gsl_vector_free(line);
    gsl_vector_free(values);
    gsl_matrix_free(design);
    return slope > 0 ? slope : y[n - 1] / x[n - 1];
}

static size_t tail_start(const double *x, size_t n)
{
    size_t first = n - 2;
    while (first > 0 && x[first - 1] >= x[n - 1] / TAIL_RATIO)
        first--;
    return first;
}

static void describe(gl_curve_fit *fit)
{
    gl_curve_quality *q = &fit->quality;
    const gl_curve *curve = fit->curve;
    double factor = gl_bus_factor(curve->collective, curve->placement.ranks);
    q->floor_s = INFINITY;
    for (size_t i = 0; i < q->points; i++) {
        q->floor_s = fmin(q->floor_s, fit->time_s[i]);
        q->plateau_busbw_bytes_per_s =
            fmax(q->plateau_busbw_bytes_per_s, factor * fit->size_bytes[i] / fit->time_s[i]);
        q->decreasing_steps += i > 0 && fit->time_s[i] < fit->time_s[i - 1];
    }
    for (size_t i = q->points; i-- > 0;) {
        if (factor * fit->size_bytes[i] / fit->time_s[i] >= q->plateau_busbw_bytes_per_s / 2)
            q->half_size_bytes = fit->size_bytes[i];
    }
    size_t n = q->points;
    q->slope_s_per_byte =
        tail_slope(fit->size_bytes, fit->time_s, tail_start(fit->size_bytes, n), n);
    fit->hold_out_frac = 0.05;
    if (n >= 4) {
        size_t m = n - 1;
        double slope = tail_slope(fit->size_bytes, fit->time_s, tail_start(fit->size_bytes, m), m);
        double predicted =
            fit->time_s[m - 1] + slope * (fit->size_bytes[m] - fit->size_bytes[m - 1]);
        fit->hold_out_frac = fabs(predicted / fit->time_s[m] - 1);
    }
}

/* Two curves of the same thing differ by noise: sigma of one from the median difference. */
static double noise_from_twin(const gl_curve_fit *fit, const gl_curve *twin, gl_arena *arena)
{
    double *differences = GL_ARENA_NEW(arena, double, fit->quality.points);
    size_t count = 0;
    for (size_t i = 0, j = 0; i < fit->quality.points && j < twin->sample_count;) {
        const gl_sample *s = &twin->samples[j];
        if (s->size_bytes < fit->size_bytes[i]) {
            j++;
        } else if (s->size_bytes > fit->size_bytes[i]) {
            i++;
        } else {
            if (usable(s))
                differences[count++] = fabs(s->time_median_s / fit->time_s[i] - 1);
            i++;
            j++;
        }
    }
    return count >= 3 ? quantile(arena, differences, count, 0.5) / MEDIAN_OF_SIGMA / sqrt(2)
                      : (double)NAN;
}

/* From the spread of the iterations, as far as it tells: the interval of their median. */
static double noise_from_spread(const gl_curve *curve, gl_arena *arena)
{
    double *spreads = GL_ARENA_NEW(arena, double, curve->sample_count);
    size_t count = 0;
    for (size_t i = 0; i < curve->sample_count; i++) {
        const gl_sample *s = &curve->samples[i];
        if (usable(s) && s->time_p95_s > s->time_p05_s)
            spreads[count++] = (s->time_p95_s - s->time_p05_s) / (2 * 1.645) / s->time_median_s;
    }
    return quantile(arena, spreads, count, 0.5);
}

/* In place and out of place an all-reduce moves the same data, so two measurements of one thing are
 * averaged. A gather or scatter differs by the copy of the rank's own part and is left alone. */
static void average_with_twin(gl_curve_fit *fit, const gl_curve *twin)
{
    for (size_t i = 0, j = 0; i < fit->quality.points && j < twin->sample_count;) {
        const gl_sample *s = &twin->samples[j];
        if (s->size_bytes == fit->size_bytes[i] && usable(s)) {
            fit->time_s[i] = (fit->time_s[i] + s->time_median_s) / 2;
            fit->log_time[i] = log(fit->time_s[i]);
        }
        j += s->size_bytes <= fit->size_bytes[i];
        i += s->size_bytes > fit->size_bytes[i];
    }
}

const gl_curve *gl_curve_twin(const gl_curve *curves, size_t count, const gl_curve *curve)
{
    for (size_t i = 0; i < count; i++) {
        const gl_curve *c = &curves[i];
        if (c->run_id == curve->run_id && c->collective == curve->collective &&
            c->dtype == curve->dtype && c->in_place != curve->in_place && c->root == curve->root &&
            strcmp(c->redop, curve->redop) == 0 &&
            gl_placement_equal(&c->placement, &curve->placement))
            return c;
    }
    return NULL;
}

bool gl_curve_fit_build(const gl_curve *curve, const gl_curve *twin, gl_arena *arena,
                        gl_curve_fit *fit, gl_error *err)
{
    gsl_set_error_handler_off();
    gl_curve_fit f = {.curve = curve};
    f.size_bytes = GL_ARENA_NEW(arena, double, curve->sample_count);
    f.time_s = GL_ARENA_NEW(arena, double, curve->sample_count);
    f.log_size = GL_ARENA_NEW(arena, double, curve->sample_count);
    f.log_time = GL_ARENA_NEW(arena, double, curve->sample_count);
    double ratio = curve->sample_count > DENSE_POINTS ? THINNED_RATIO : 1;
    size_t n = 0;
    for (size_t i = 0; i < curve->sample_count; i++) {
        const gl_sample *s = &curve->samples[i];
        bool near = n > 0 && s->size_bytes <= f.size_bytes[n - 1] * ratio;
        bool last = i + 1 == curve->sample_count;
        if (!usable(s) || (near && !(last && s->size_bytes > f.size_bytes[n - 1])))
            continue;
        f.size_bytes[n] = s->size_bytes;
        f.time_s[n] = s->time_median_s;
        f.log_size[n] = log(s->size_bytes);
        f.log_time[n++] = log(s->time_median_s);
    }
    if (n < 2)
        return gl_fail(err, GL_ERROR_INPUT,
                       "curve %lld (%s, %d ranks) has %zu usable sample%s; two are needed",
                       (long long)curve->id, gl_collective_name(curve->collective),
                       curve->placement.ranks, n, n == 1 ? "" : "s");
    f.quality.points = n;
    double noise = twin != NULL ? noise_from_twin(&f, twin, arena) : (double)NAN;
    if (twin != NULL && curve->collective == GL_ALL_REDUCE) {
        average_with_twin(&f, twin);
        noise /= sqrt(2);
    }
    find_slopes(&f, arena);
    choose_methods(&f, arena);
    describe(&f);
    if (isnan(noise))
        noise = noise_from_spread(curve, arena);
    f.quality.noise_frac = isnan(noise) ? ASSUMED_NOISE_FRAC : noise;
    *fit = f;
    return true;
}

/* Does the curve leave its latency floor, so that its end has a bandwidth? */
static bool bandwidth_seen(const gl_curve_fit *fit)
{
    return fit->time_s[fit->quality.points - 1] >= BANDWIDTH_SEEN * fit->quality.floor_s;
}

static gl_curve_time above(const gl_curve_fit *fit, double size)
{
    size_t last = fit->quality.points - 1;
    double octaves = log2(size / fit->size_bytes[last]);
    double time =
        fit->time_s[last] + fit->quality.slope_s_per_byte * (size - fit->size_bytes[last]);
    /* The error of one octave was tried on the last sample; it adds up, and is never taken for
     * less than 1 % an octave. */
    double per_octave = bandwidth_seen(fit) ? fmax(fit->hold_out_frac, 0.01) : UNSEEN_PER_OCTAVE;
    double error = per_octave * octaves;
    return (gl_curve_time){time, hypot(fit->quality.noise_frac, error),
                           GL_EVIDENCE_EXTRAPOLATED_SIZE};
}

static gl_curve_time below(const gl_curve_fit *fit, double size)
{
    /* A latency floor: right for small samples; when sampling began at a large size the true time
     * is lower, which the error says: the missing octaves could each halve it at most, so their
     * share of the sampled slope is taken as unknown. */
    double first = fit->size_bytes[0];
    double slope_share = fit->quality.slope_s_per_byte * (first - size) / fit->time_s[0];
    double error = hypot(fit->quality.noise_frac, fmin(slope_share, 1.0) / 2);
    bool on_floor = first <= FLOOR_SIZE_BYTES;
    return (gl_curve_time){fit->time_s[0], error,
                           on_floor ? GL_EVIDENCE_INTERPOLATED : GL_EVIDENCE_EXTRAPOLATED_SIZE};
}

gl_curve_time gl_curve_eval(const gl_curve_fit *fit, double size_bytes)
{
    size_t n = fit->quality.points;
    if (size_bytes < fit->size_bytes[0])
        return below(fit, size_bytes);
    if (size_bytes > fit->size_bytes[n - 1])
        return above(fit, size_bytes);
    size_t i = gsl_interp_bsearch(fit->size_bytes, size_bytes, 0, n - 1);
    if (size_bytes == fit->size_bytes[i + 1])
        i++;
    if (size_bytes == fit->size_bytes[i])
        return (gl_curve_time){fit->time_s[i], fit->quality.noise_frac, GL_EVIDENCE_MEASURED};
    /* Leave-one-out spans a gap twice as wide (in octaves) as the one interpolated here, and its
     * error is nearly a median: both factors of about two cancel. What the two neighbours and half
     * of all samples err says how wrong the middle of the gap may be; its ends are measured. */
    double share =
        (size_bytes - fit->size_bytes[i]) / (fit->size_bytes[i + 1] - fit->size_bytes[i]);
    double low = fit->loo_frac[i], high = fit->loo_frac[i + 1], all = fit->quality.loo_median_frac;
    double near = sqrt((low * low + high * high + all * all) / 3);
    double gap = (n > 2 ? near : 0) * 4 * share * (1 - share);
    return (gl_curve_time){inside(fit, (gl_interpolation)fit->method[i], i, size_bytes),
                           hypot(fit->quality.noise_frac, gap), GL_EVIDENCE_INTERPOLATED};
}

bool gl_curve_covers(const gl_curve_fit *fit, double size_bytes)
{
    double reach = bandwidth_seen(fit) ? REACH_RATIO : REACH_RATIO_IN_FLOOR;
    return size_bytes <= fit->size_bytes[fit->quality.points - 1] * reach;
}

const char *gl_interpolation_name(gl_interpolation method)
{
    return method == GL_INTERPOLATION_LINEAR ? "linear time against bytes"
                                             : "monotone cubic, log-log";
}

gl_interpolation gl_curve_method_at(const gl_curve_fit *fit, double size_bytes)
{
    size_t n = fit->quality.points;
    return (gl_interpolation)fit->method[gsl_interp_bsearch(fit->size_bytes, size_bytes, 0, n - 1)];
}
