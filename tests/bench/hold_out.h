/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How well the network model predicts measurements that it is not shown: samples of a cluster's own
 * curves, held out one by one or rank count by rank count, and predicted from what is left by the
 * same code that plans.
 */
#ifndef TESTS_BENCH_HOLD_OUT_H
#define TESTS_BENCH_HOLD_OUT_H

#include "planner/core/network.h"

typedef enum gl_hold_out {
    GL_HOLD_OUT_SIZES,   /* each inner sample, predicted from the rest of its curve */
    GL_HOLD_OUT_LARGER,  /* a rank count and all larger ones, predicted from the smaller */
    GL_HOLD_OUT_BETWEEN, /* a rank count with smaller and larger ones, which are left */
    GL_HOLD_OUT_COUNT
} gl_hold_out;

typedef struct gl_held_point {
    const gl_curve *curve;
    double size_bytes, measured_s, predicted_s, error_frac; /* error_frac: stated, one sigma */
    gl_evidence evidence;
} gl_held_point;

/* All points that can be held out so, in the order of the curves. What the model refuses to answer
 * is left out and counted in `refused`. */
const gl_held_point *gl_network_check(const gl_cluster *cluster, gl_hold_out kind, gl_arena *arena,
                                      size_t *count, size_t *refused);

/* Samples of another measurement of the same machine or its like, predicted from the cluster's
 * curves: how far a measurement repeats. Only samples of placements, types of link and collectives
 * that the model answers without extrapolation count; `refused` has the others. */
const gl_held_point *gl_network_check_again(const gl_cluster *cluster, const gl_cluster *again,
                                            gl_arena *arena, size_t *count, size_t *refused);

typedef struct gl_held_summary {
    size_t points;
    double median_frac, p90_frac; /* of the absolute error; NaN without points */
    double bias_frac;             /* median of the error with its sign */
    double held_frac;             /* share of points within the stated 80 % interval */
} gl_held_summary;

/* Is a measured time inside the 80 % interval: within P90 of the error, as a factor? */
bool gl_held_inside(const gl_held_point *point);

/* A measured collective of somebody else's, with the links of the catalogue that stand for theirs.
 */
typedef struct gl_comm_run {
    const char *id, *source, *gpu;
    gl_collective collective;
    gl_placement placement;
    int gpus_per_node, nics_per_node;
    const char *intra_name, *inter_name; /* of data/links; empty where the tier is not used */
    bool in_network_reduction;
    bool node_switch_reduction; /* false: known to have been a ring (NVLS off) */
    double size_bytes, time_s;
} gl_comm_run;

/* What the catalogue's rules say to such a run; false with a reason when they say nothing. */
bool gl_comm_predict(const gl_comm_run *run, const gl_link *intra, const gl_link *inter,
                     gl_arena *arena, gl_network_time *out, gl_error *err);

gl_held_summary gl_held_summarise(const gl_held_point *points, size_t count, gl_arena *arena);

#endif
