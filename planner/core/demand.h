/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bandwidth that a job asks for, counted: from the layout to the tensors that move, their bytes
 * times the rate of steps, and headroom. An average over a step, below what messages need that
 * compute waits for (gl_bandwidth_need has that), but all of it is counted and nothing is timed.
 */
#ifndef GL_CORE_DEMAND_H
#define GL_CORE_DEMAND_H

#include "planner/core/plan.h"

typedef struct gl_demand {
    gl_tier_kind tier;
    gl_traffic_dimension dimension; /* COUNT: all of the tier */
    const char *tensors;            /* "gradients, parameters": what moves, as in the rows */
    double bytes_per_step;          /* that a GPU of the reported stage puts on the tier */
    /* Headroom included; NaN when compute is not known. */
    double alone_bytes_per_s;   /* at the rate of steps that compute alone allows */
    double planned_bytes_per_s; /* at the planned rate */
    double time_s, exposed_s;   /* of the messages for which this tier decides */
} gl_demand;

/* The step without any communication, in closed form; NaN when compute is not known. */
double gl_step_alone_s(const gl_plan *plan);

/* Of one tier and dimension, or all of the tier. */
gl_demand gl_demand_of(const gl_plan *plan, gl_tier_kind tier, gl_traffic_dimension dimension,
                       gl_arena *arena);

#endif
