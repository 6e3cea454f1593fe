/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far a step time may be off: Monte Carlo over the errors of everything that it rests on, and
 * which single measurement would narrow it most.
 *
 * Errors come from sources. All that rests on one source errs by one factor: every message that is
 * timed by a curve, by a catalogue link and rule; all compute on a kind of GPU; what hidden
 * communication costs. The factor is drawn as e^(σ·z), with z of a normal distribution and its own
 * σ to each side, so that a time is never negative. A source has the same z in every plan with the
 * same seed and number of draws, so plans are compared draw by draw.
 */
#ifndef GL_CORE_UNCERTAINTY_H
#define GL_CORE_UNCERTAINTY_H

#include "planner/core/schedule.h"

typedef enum gl_error_kind {
    GL_ERROR_OF_COMPUTE, /* rates of the GPU */
    GL_ERROR_OF_MODEL,   /* what no model of compute sees: host, stragglers, the framework */
    GL_ERROR_OF_NETWORK, /* a curve, or a rule over links */
    GL_ERROR_OF_OVERLAP, /* compute lost to hidden communication */
    GL_ERROR_KIND_COUNT
} gl_error_kind;

typedef struct gl_error_source {
    gl_error_kind kind;
    const char *name; /* what it is known by: the same in all plans that share it; never NULL */
    gl_evidence evidence;
    double faster_sigma, slower_sigma; /* relative, of the time that it is a source of */
    double p10_change_s, p90_change_s; /* of the step, when this one lies at its P10 (faster) or P90
                                          (slower) and all others in the middle */
    double variance_share;             /* of the sum of all sources' squares, 0 … 1 */
    /* Network: the most time-consuming row that rests on it. */
    const gl_traffic_row *row; /* NULL: not of a row */
    bool measurable;           /* would a measurement narrow it? Not when it is measured already */
} gl_error_source;

typedef struct gl_uncertainty {
    double p10_s, p50_s, p90_s; /* of the step; NaN when it is not known */
    const double *draws_s; /* by draw, not sorted: comparable with the same draw of another plan */
    size_t draw_count;
    gl_error_source *sources; /* largest share first */
    size_t source_count;
    const gl_error_source *narrowing;      /* the measurement that narrows most; NULL: none would */
    double settled_share;                  /* of the variance, by that measurement */
    double narrowed_p10_s, narrowed_p90_s; /* about what it would leave */
} gl_uncertainty;

typedef struct gl_uncertainty_input {
    const gl_workload *workload;
    const gl_cluster *cluster;
    const gl_compute *compute;
    const gl_stage_plan *stages; /* pp of them */
    double time_s;               /* of the step as reported: what the draws are scaled to */
    double overlap_sigma;        /* relative error of the overlap taxes */
    unsigned long seed;
    size_t draws; /* ≥ 1 */
} gl_uncertainty_input;

/* Draws the step. What `out` points to lives in the arena; times are NaN, and there are no draws or
 * sources, when compute is not known. */
void gl_uncertainty_build(const gl_uncertainty_input *input, gl_arena *arena, gl_uncertainty *out);

/* Standard normal draws of the source of that name: the same wherever it occurs, with the same seed
 * and count. */
const double *gl_uncertainty_draws(const char *name, unsigned long seed, size_t count,
                                   gl_arena *arena);

const char *gl_error_kind_name(gl_error_kind kind); /* "compute rates" */

#endif
