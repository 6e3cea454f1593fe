/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When things happen in a step: what communication hides behind compute, what compute pays for it,
 * and what the pipeline loses. Formulas: docs/models/schedule.md.
 */
#ifndef GL_CORE_SCHEDULE_H
#define GL_CORE_SCHEDULE_H

#include "planner/core/compute.h"
#include "planner/core/network.h"
#include "planner/core/traffic.h"

/* What one pipeline stage computes and sends. */
typedef struct gl_stage_plan {
    const gl_stage *stage;
    gl_traffic traffic;
    const gl_network_time *times; /* of one call, by traffic row */
    double optimizer_s;
    double overlap_tax; /* compute seconds lost per second of hidden communication */
} gl_stage_plan;

/* Factors on times, for sensitivities: 1 = as predicted. Index of `tier`: 0 intra, 1 inter. */
typedef struct gl_scales {
    double compute;
    double tier[2];
} gl_scales;

typedef struct gl_schedule {
    double time_s;    /* = compute + tax + exposed + bubble + optimizer */
    double compute_s; /* forward and backward of all microbatches on the slowest stage */
    double overlap_tax_s;
    double exposed_s;
    double bubble_s;
    double optimizer_s;
    int slowest_stage;
} gl_schedule;

/*
 * Times a step. `stages` has one entry per pipeline stage (entries may repeat). When
 * `row_exposed_s` is not NULL it receives, for stage `report_stage`, the exposed time of each
 * traffic row. `scratch` is used and may be released afterwards.
 */
gl_schedule gl_schedule_eval(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales, int report_stage,
                             double *row_exposed_s, gl_arena *scratch);

/* 0 for a row inside a node, 1 for one between nodes. */
static inline int gl_row_tier(const gl_traffic_row *row)
{
    return row->placement.nodes > 1;
}

#endif
