/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When things happen in a step: what communication hides behind compute, what compute pays for it,
 * and what the pipeline loses. Closed forms, for searching; the event simulation (simulation.h)
 * gives the same where all stages are alike. Formulas and limits: docs/models/schedule.md.
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
    const double *overlap_tax;    /* by row: compute seconds lost per second of it that is hidden */
    const double *slowdown; /* by row: share of its rate that it loses beside compute; NULL = 0 */
    double optimizer_s;
} gl_stage_plan;

/* Factors on times, for sensitivities: 1 = as predicted. */
typedef struct gl_scales {
    double compute;
    double tier[2];     /* 0 intra, 1 inter; with a factor of 0 that tier is free, and the other one
                           takes what it takes alone (`alone_s` of a time) */
    double overlap_tax; /* on the compute lost to hidden communication */
} gl_scales;

/*
 * Parts of a step, as the slowest stage sees it. exposed: what its passes wait for, what sends add
 * to the step, and messages that nothing hides at its end. tax: what its compute loses to
 * communication beside it. bubble: what it waits for other stages otherwise; their communication
 * makes it longer.
 */
typedef struct gl_schedule {
    double time_s;    /* = compute + tax + exposed + bubble + optimizer */
    double compute_s; /* forward and backward of all microbatches on the slowest stage */
    double overlap_tax_s;
    double exposed_s;
    double bubble_s;
    double optimizer_s; /* of the stage whose optimizer takes longest */
    int slowest_stage;
} gl_schedule;

/* What is known of a step and of the stage that has most to do in it. */
typedef struct gl_step_facts {
    double time_s;
    double without_sends_s; /* time if sends took none */
    double tail_s;          /* messages after all compute, before the gradient norm */
    double update_s;        /* what follows: optimizer, and messages once a step */
    double optimizer_s;
    double compute_s, tax_s, stall_s; /* of the slowest stage; stall: waiting within its passes */
    int slowest_stage;
} gl_step_facts;

/* The parts of such a step, with which both models end. Internal to the core. */
gl_schedule gl_schedule__parts(const gl_step_facts *facts);

/* Times a step. `stages` has one entry per pipeline stage (entries may repeat). `scratch` is used
 * and may be released afterwards. */
gl_schedule gl_schedule_eval(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales,
                             gl_arena *scratch);

/* A time or an MFU that the user measured on one GPU replaces the operator model's: the blocks keep
 * their proportions. Changes `compute` and the stages' optimizer; nothing when nothing was stated.
 */
void gl_schedule_state_compute(const gl_workload *workload, const gl_cluster *cluster,
                               gl_compute *compute, gl_stage_plan *stages);

/* Bytes of one call that a GPU puts on a tier, those included that it hands on. */
static inline double gl_call_tier_bytes(const gl_traffic_row *row, const gl_network_time *time,
                                        int tier)
{
    return gl_traffic_tier_bytes(row, tier) + (tier == 0 ? time->forwarded_bytes : 0);
}

/* The tier that decides a time: 0 inside a node, 1 between nodes. */
static inline int gl_slower_tier(const gl_network_time *time)
{
    return time->tier_s[1] >= time->tier_s[0];
}

#endif
