/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same work on several clusters: which is fastest, how sure that is, what each would need to
 * keep up. Plans with the same seed share the errors of what they share, so they are compared draw
 * by draw.
 */
#ifndef GL_CORE_COMPARISON_H
#define GL_CORE_COMPARISON_H

#include "planner/core/sensitivity.h"

/* Only options that can run, and whose step time is known, are compared: of the others the figures
 * below are NaN, the lists empty, and no pair names them. */
typedef struct gl_compared {
    gl_setup setup;
    const gl_plan *plan; /* NULL: the layout is impossible on this cluster */
    /* What follows is filled in. */
    double sequence_s;          /* time for a sequence */
    double slower_frac;         /* than the fastest; 0 for itself */
    double fastest_probability; /* share of the draws in which it is the fastest */
    gl_sensitivity *sensitivities;
    size_t sensitivity_count;
    gl_break_even *break_evens;
    size_t break_even_count;
} gl_compared;

/* Of option `a` against option `b` > a. */
typedef struct gl_pair {
    size_t a, b;
    double probability;                 /* that a is faster */
    double ratio, ratio_p10, ratio_p90; /* time of a over time of b */
} gl_pair;

typedef struct gl_comparison {
    gl_compared *options;
    size_t option_count;
    size_t fastest; /* option_count: none is compared */
    double tolerance_frac;
    gl_pair *pairs;
    size_t pair_count;
} gl_comparison;

/* Can it run: planned, and not known to be too large for the memory? */
bool gl_compared_runs(const gl_compared *option);

/* Is it compared: it runs, and its step time is known. */
bool gl_is_compared(const gl_compared *option);

/* Fills in a comparison whose options have their setups and plans. */
void gl_comparison_build(gl_comparison *comparison, const gl_plan_options *options,
                         gl_arena *arena);

#endif
