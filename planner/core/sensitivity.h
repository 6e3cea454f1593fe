/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a step owes to each property of its cluster, and how little of each is enough. Every figure
 * is a plan of its own with that property changed, so it agrees with what a user gets who changes
 * the description.
 */
#ifndef GL_CORE_SENSITIVITY_H
#define GL_CORE_SENSITIVITY_H

#include "planner/core/knob.h"
#include "planner/core/plan.h"

/* Step time of a setup; NaN when it cannot be planned. */
double gl_step_of(const gl_setup *setup, const gl_plan_options *options);

typedef struct gl_sensitivity {
    gl_knob knob;
    double value;
    double low_value, low_s;   /* half of it, or nothing hidden; NaN: there is no such value */
    double high_value, high_s; /* twice of it */
    double elasticity;         /* d ln step / d ln value, over the values there are */
} gl_sensitivity;

/* The step with half and twice of every property that the setup has. `rows` has room for
 * GL_KNOB_COUNT; returns how many are filled in. Compression and batches are of the work and are
 * left out. */
size_t gl_sensitivity_build(const gl_setup *setup, double step_s, const gl_plan_options *options,
                            gl_sensitivity *rows);

/*
 * The cheapest value of a property with which, and with every value between it and what there is
 * that can be had, work takes at most (1 + tolerance) of what it takes on the reference: the
 * smallest bandwidth, NIC count, domain, compression or batch, the largest oversubscription. All
 * else stays.
 */
typedef enum gl_break_even_kind {
    GL_BREAK_EVEN_ANY,   /* the cheapest value that was tried is enough: not needed for this work */
    GL_BREAK_EVEN_SPARE, /* less than what there is would do */
    GL_BREAK_EVEN_JUST,  /* what there is is the least */
    GL_BREAK_EVEN_NEEDED, /* more than what there is would do */
    GL_BREAK_EVEN_NEVER   /* no value that was tried is enough */
} gl_break_even_kind;

typedef struct gl_break_even {
    gl_knob knob;
    gl_break_even_kind kind;
    double value;  /* as it is */
    double limit;  /* NaN when NEVER; the cheapest that was tried when ANY */
    double step_s; /* with it */
} gl_break_even;

/* Of one property; false where the setup has none such, or none that is bought. `reference` is what
 * it is measured against: the fastest option, or the setup itself. */
bool gl_break_even_find(gl_knob knob, const gl_setup *setup, const gl_setup *reference,
                        double tolerance_frac, const gl_plan_options *options, gl_break_even *out);

/*
 * What the slowest link gives (as gl_bandwidth_need.available_bytes_per_s counts it) with which the
 * plan still meets its target, in the place of the one whose bandwidth `knob` is: the overlap tax
 * and the other tier as they are, no headroom. Found by planning, to half a percent. NaN when the
 * plan as it is misses the target, or has no such link. `nominal` (may be NULL; untouched when
 * NaN is returned): the value of the knob with which it gives that, as data sheets have it.
 */
double gl_least_bandwidth(gl_knob knob, const gl_plan *plan, double *nominal);

const char *gl_break_even_name(gl_break_even_kind kind); /* "spare" */

#endif
