/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every legal layout of a model on a cluster, timed: the fastest, those that trade time against
 * memory and GPUs, and why the others are out. Memory and divisibility come first, times after.
 * What is searched, in which order, and what is left out: docs/models/search.md.
 *
 * The answer does not depend on the number of jobs: layouts of equal time are ordered by memory,
 * then by their place in the enumeration.
 */
#ifndef GL_CORE_SEARCH_H
#define GL_CORE_SEARCH_H

#include "planner/core/evaluate.h"
#include "planner/core/plan.h"

/* What is varied: a key, and the part and the member of the workload that are also the path of its
 * field. */
#define GL_SEARCH_AXES(X)                                                                          \
    X(TP, parallel, tp)                                                                            \
    X(PP, parallel, pp)                                                                            \
    X(CP, parallel, cp)                                                                            \
    X(DP, parallel, dp)                                                                            \
    X(EP, parallel, ep)                                                                            \
    X(MICRO, batch, micro)                                                                         \
    X(SCHEDULE, parallel, schedule)                                                                \
    X(VIRTUAL_STAGES, parallel, virtual_stages)                                                    \
    X(SEQUENCE_PARALLEL, parallel, sequence_parallel)                                              \
    X(CP_METHOD, parallel, cp_method)                                                              \
    X(ZERO, parallel, zero)                                                                        \
    X(SHARD, parallel, shard)                                                                      \
    X(RECOMPUTE, parallel, recompute)

/* Of the fastest by closed forms at least so many are planned fully, and the front: closed forms
 * and the simulation order near equals differently. */
enum { GL_SEARCH_PLANNED = 16 };

/* Bits of gl_search_options.fixed: what keeps the value that the workload has. */
typedef enum gl_search_axis {
#define GL_AS_AXIS(key, part, member) GL_SEARCH_##key,
    GL_SEARCH_AXES(GL_AS_AXIS)
#undef GL_AS_AXIS
        GL_SEARCH_AXIS_COUNT
} gl_search_axis;

/* The field of the description: "parallel.tp". */
const char *gl_search_axis_path(gl_search_axis axis);

/* Its last part, in the order of the axes: "tp"; ends with NULL. */
extern const char *const gl_search_axis_names[GL_SEARCH_AXIS_COUNT + 1];

/* The value of one axis, from one workload to the other. */
void gl_search_axis_copy(gl_search_axis axis, const gl_workload *from, gl_workload *to);

/* " --set parallel.tp=2 --set batch.micro=4": what makes this layout of the workload; "": nothing.
 */
const char *gl_search_options_text(const gl_workload *workload, const gl_parallel *parallel,
                                   const gl_batch *batch, gl_arena *arena);

typedef struct gl_search_progress {
    int64_t done, total; /* layouts looked at, legal or not */
    double best_s;       /* fastest so far; INFINITY = none */
} gl_search_progress;

typedef struct gl_search_options {
    const int *gpus; /* numbers of GPUs to use, each all of them; NULL: the cluster's */
    size_t gpu_count;
    unsigned fixed;           /* 1 << gl_search_axis */
    int max_tp;               /* 0: as many as a node's link joins, and only what divides a node */
    int64_t min_microbatches; /* of a step and replica; 0 = 1 */
    bool no_recompute;
    bool memory_only; /* no times: only whether anything fits */
    bool allow_extrapolation;
    size_t top; /* how many of the fastest; 0 = 10 */
    int jobs;   /* threads; 0 = all cores */
    /* Called now and then, by one thread at a time; false stops the search. May be NULL. */
    bool (*watch)(void *context, const gl_search_progress *progress);
    void *context;
} gl_search_options;

typedef struct gl_found {
    gl_parallel parallel;
    gl_batch batch;
    int gpus;
    gl_schedule step;                    /* closed form; all 0 with memory_only */
    double memory_bytes, capacity_bytes; /* of a GPU of the fullest stage; NaN: not known */
    int64_t place;                       /* in the enumeration: the tie between equals */
} gl_found;

/* Layouts that are out for one reason. */
typedef struct gl_rejection {
    const char *rule; /* "tp", "batch", "schedule", "memory", "network", … */
    const char *reason;
    int64_t layouts;
    double miss_bytes;   /* rule "memory": the smallest that is lacking; otherwise NaN */
    gl_parallel nearest; /* … and the layout that lacks it */
    gl_batch nearest_batch;
    int nearest_gpus;
    int64_t place; /* of the first, or nearest, of them */
} gl_rejection;

typedef struct gl_search_result {
    gl_found *top; /* fastest first */
    size_t top_count;
    gl_found *front; /* no other is as good in time, memory and GPUs, and better in one; by time */
    size_t front_count;
    gl_rejection *rejections; /* most layouts first */
    size_t rejection_count;
    int64_t total;     /* layouts of the space, illegal ones included */
    int64_t looked_at; /* of them; fewer than `total` when the search was stopped */
    int64_t fitting;   /* legal, and fit: these were timed */
    bool given_known;  /* the workload's own layout is legal and has one of the GPU counts */
    bool given_fits;
    gl_found given;            /* its place: −1 where no layout that was timed is this one */
    int64_t faster_than_given; /* of those that fit on as many GPUs, by closed forms */
    bool stopped;
} gl_search_result;

/*
 * Searches. The workload's parallel and batch say what is fixed and what is not varied (order,
 * reshard, accumulate, …); its global batch is kept. Fails when step times are not known, or a GPU
 * count is above the cluster's. The result lives in `arena`. top_count 0: nothing fits.
 */
bool gl_search(const gl_workload *workload, const gl_cluster *cluster,
               const gl_search_options *options, gl_arena *arena, gl_search_result *out,
               gl_error *err);

/* When nothing fits: what would, in words, a line each: without a constraint, with the fewest GPUs
 * that are enough (or, where the number has no layout, the most of fewer that have one), with GPUs
 * of more memory. Each has been planned. "": nothing that was tried. Lives in `arena`. */
const char *gl_search_remedy(const gl_workload *workload, const gl_cluster *cluster,
                             const gl_search_options *options, const gl_search_result *result,
                             gl_arena *arena);

typedef struct gl_best_layout {
    const char *why_not; /* why there is none; NULL: one was found */
    const char *remedy;  /* what would fit, as gl_search_remedy says; NULL: not known */
    bool stopped;        /* found among fewer than all */
    int64_t looked_at, total;
} gl_best_layout;

/*
 * The best layout of a workload on all GPUs of a cluster: replaces its parallel degrees and
 * microbatch, and planned fully it is the fastest of GL_SEARCH_PLANNED and the front. Of `search`
 * count jobs, watch and context. False with an error when the search fails; where none is found
 * `workload` stays.
 */
bool gl_search_best(gl_workload *workload, const gl_cluster *cluster,
                    const gl_plan_options *options, const gl_search_options *search,
                    gl_arena *arena, gl_best_layout *out, gl_error *err);

#endif
