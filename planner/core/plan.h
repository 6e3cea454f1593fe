/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan: one workload on one cluster, every figure of it. The only entry that reports and the
 * command line need; everything it holds lives in the arena.
 */
#ifndef GL_CORE_PLAN_H
#define GL_CORE_PLAN_H

#include "planner/core/compute.h"
#include "planner/core/cost.h"
#include "planner/core/memory.h"
#include "planner/core/schedule.h"
#include "planner/core/uncertainty.h"

/* A traffic row with its times. */
typedef struct gl_timed_row {
    const gl_traffic_row *traffic;
    gl_network_time per_call;
    double time_s;    /* calls × time of one call × load factor */
    double exposed_s; /* of it, not hidden behind compute */
    double
        required_busbw_bytes_per_s; /* so that exposed communication meets the target; NaN: none */
} gl_timed_row;

typedef struct gl_step {
    double time_s, time_p10_s, time_p50_s, time_p90_s; /* NaN when compute is not known */
    double compute_s;       /* forward and backward of all microbatches, slowest stage */
    double overlap_tax_s;   /* compute lost to communication that hides behind it */
    double communication_s; /* sum over the rows */
    double exposed_communication_s;
    double communication_cost_frac; /* (exposed + overlap tax) / time: what the target limits */
    double bubble_s;
    double optimizer_s;
    double mfu_frac, tokens_per_s, tokens_per_s_per_gpu;
    gl_evidence evidence; /* worst of network and compute */
    gl_evidence network_evidence;
} gl_step;

typedef enum gl_tier_kind { GL_TIER_INTRA_NODE, GL_TIER_INTER_NODE, GL_TIER_COUNT } gl_tier_kind;

typedef enum gl_verdict {
    GL_VERDICT_NOT_USED,
    GL_VERDICT_ENOUGH,
    GL_VERDICT_TIGHT,
    GL_VERDICT_SHORT,
    GL_VERDICT_UNKNOWN
} gl_verdict;

/*
 * Bandwidth of a tier, per GPU and direction, as busbw averaged over this plan's messages: bytes
 * that cross the tier over the time in which the tier moves them with the other one free, so
 * nothing of the other tier's latency or bytes is in it. required: the smallest that keeps exposed
 * communication of this tier within the target share of the step, the other tier taken as free and
 * the compute lost to hidden communication left out (it belongs to a kind of link, not to the job),
 * times the headroom.
 */
typedef struct gl_bandwidth_need {
    gl_tier_kind tier;
    double bytes_per_step_per_gpu;
    double required_bytes_per_s;  /* with headroom; NaN when compute is not known */
    double available_bytes_per_s; /* what this plan's messages get, by the evidence at hand */
    double headroom;              /* factor */
    gl_evidence evidence;         /* worst of the rows that use the tier */
    gl_verdict verdict;           /* enough: available ≥ required; tight: only without headroom */
} gl_bandwidth_need;

/* Headroom for congestion, unless another is asked for, and what may be. */
#define GL_HEADROOM 1.25
enum { GL_HEADROOM_MIN = 1, GL_HEADROOM_MAX = 100 };

typedef struct gl_plan_options {
    double headroom; /* GL_HEADROOM_MIN to GL_HEADROOM_MAX */
    int stage;       /* to report; −1 = the one whose ranks move most */
    bool allow_extrapolation;
    unsigned long seed; /* of the draws for the interval */
    size_t draws;       /* how many; 0 = 1000 */
    bool step_only; /* the step without its interval, and nothing else: a hundred of them say what
                       a property matters */
} gl_plan_options;

typedef struct gl_plan {
    const gl_workload *workload;
    const gl_cluster *cluster;
    gl_plan_options options;
    gl_parameters parameters;
    gl_layout layout;
    gl_stage *stages; /* pp of them */
    int stage;        /* the one that `rows` and `memory` describe */
    gl_traffic traffic;
    gl_timed_row *rows; /* traffic.row_count of them */
    const gl_network *network;
    gl_compute compute;
    gl_stage_plan *stage_plans; /* pp of them */
    gl_step step;
    gl_uncertainty uncertainty;
    gl_bandwidth_need needs[GL_TIER_COUNT];
    gl_memory memory; /* of the fullest stage */
    int memory_stage;
    gl_cost cost; /* cost.cluster NULL: the cluster has no price list */
    const char **warnings;
    size_t warning_count;
} gl_plan;

/* Plans. The workload and cluster have passed check.h. Fails only when the network refuses. */
bool gl_plan_build(const gl_workload *workload, const gl_cluster *cluster,
                   const gl_plan_options *options, gl_arena *arena, gl_plan *out, gl_error *err);

/* Is what communication costs (exposed, and compute slowed by what is hidden) within the target? */
bool gl_plan_meets_target(const gl_plan *plan);

const char *gl_tier_name(gl_tier_kind tier);     /* "intra_node" */
const char *gl_verdict_name(gl_verdict verdict); /* "enough" */

#endif
