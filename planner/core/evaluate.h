/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fast path: one model on one cluster in many layouts. Gives for each what the plan's closed
 * forms give (step time and its parts, memory), without what people read: texts, rows, intervals.
 * What layouts have in common is worked out once and kept; a layout whose parts were all seen takes
 * microseconds. Not for several threads at once.
 */
#ifndef GL_CORE_EVALUATE_H
#define GL_CORE_EVALUATE_H

#include "planner/core/memory.h"
#include "planner/core/schedule.h"

typedef struct gl_evaluator gl_evaluator;

/* `base`: the model and all of the description that layouts share; its parallel and batch do not
 * count. Both must outlive the evaluator. */
gl_evaluator *gl_evaluator_create(const gl_workload *base, const gl_cluster *cluster,
                                  bool allow_extrapolation);
void gl_evaluator_destroy(gl_evaluator *evaluator);

typedef struct gl_evaluation {
    bool known; /* compute is known; false: `step` is not filled in */
    gl_schedule step;
    gl_memory memory; /* of the fullest stage */
    int memory_stage;
} gl_evaluation;

/* The memory of a layout that has passed gl_check_workload, which is much faster than its time:
 * fills in the memory of `out` … */
void gl_evaluate_memory(gl_evaluator *evaluator, const gl_parallel *parallel, const gl_batch *batch,
                        gl_evaluation *out);

/* … and the rest, of the layout that gl_evaluate_memory was asked for last. Fails only when the
 * network refuses. */
bool gl_evaluate_time(gl_evaluator *evaluator, gl_evaluation *out, gl_error *err);

/* Both. */
bool gl_evaluate(gl_evaluator *evaluator, const gl_parallel *parallel, const gl_batch *batch,
                 gl_evaluation *out, gl_error *err);

#endif
