/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What each pipeline stage moves and how long a call of it takes: traffic, network and overlap put
 * together. A plan does it once; the evaluator for many layouts, with what it knows already.
 */
#ifndef GL_CORE_STAGE_PLANS_H
#define GL_CORE_STAGE_PLANS_H

#include "planner/core/memo.h"
#include "planner/core/schedule.h"

/* What compute and communication lose beside each other, by transport. */
typedef struct gl_overlap_losses {
    struct {
        double tax;        /* compute seconds lost per second of communication */
        double slowdown;   /* share of its rate that communication loses */
        double error_frac; /* one-sigma relative error of the tax */
    } by_transport[GL_TRANSPORT_COUNT];
} gl_overlap_losses;

/* From the cluster's measured series, or the catalogue. */
gl_overlap_losses gl_overlap_losses_of(const gl_cluster *cluster);

/* Compute seconds lost per second of a collective beside it, and the transport that decides it. A
 * collective over nodes keeps both tiers busy, each for its own time; what the costlier of the two
 * takes is lost. So a faster link never costs more. */
gl_transport gl_overlap_transport(const gl_cluster *cluster, const gl_overlap_losses *losses,
                                  const gl_network_time *time, double *tax);

/* The groups of a layout on a cluster, with the domains of its nodes and the switches between them.
 */
gl_layout gl_layout_on(const gl_parallel *parallel, const gl_cluster *cluster);

typedef struct gl_stage_planner {
    const gl_workload *workload;
    const gl_cluster *cluster;
    const gl_parameters *parameters;
    const gl_layout *layout;
    const gl_layout *over_sites; /* of a cluster of several sites; NULL = one */
    const gl_network *network;
    const gl_overlap_losses *losses;
    bool allow_extrapolation;
    bool figures_only; /* as of a gl_network_query */
    gl_arena *arena;   /* of the results */
    gl_memo *calls;    /* gl_network_time by call (gl_call_memo); */
    gl_arena *texts;   /* … whose texts live here */
    gl_memo *bases;    /* gl_traffic_base by stage and layout; NULL = none are kept */
    gl_arena *base_arena;
} gl_stage_planner;

/* Gradients and in-place reductions work in one buffer; gathers and exchanges between two. */
bool gl_trains_in_place(gl_collective collective);

/* For `calls` on a cluster. */
gl_memo *gl_call_memo(const gl_cluster *cluster, gl_arena *arena);
/* For `bases`: of one model, with its precision, buckets and overlap. */
gl_memo *gl_base_memo(gl_arena *arena);

/* pp entries, equal ones sharing what they can. Fails when the network refuses. */
bool gl_stage_plans_build(const gl_stage_planner *planner, const gl_stage *stages,
                          gl_stage_plan **out, gl_error *err);

#endif
