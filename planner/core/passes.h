/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The passes of a stage: forward or backward of one microbatch through one chunk of its blocks,
 * with the communication that goes with it. What the closed forms (schedule.c) and the event
 * simulation (simulation.c) share; internal to the core. Formulas: docs/models/schedule.md.
 */
#ifndef GL_CORE_PASSES_H
#define GL_CORE_PASSES_H

#include "planner/core/arithmetic.h"
#include "planner/core/schedule.h"

/* A message of a row of the traffic. */
typedef struct gl_row_time {
    size_t row;
    double time_s;   /* alone */
    double tax;      /* share of compute's rate that it takes */
    double slowdown; /* share of its own rate that it loses beside compute */
    /* All of it beside compute: how long that takes, what compute does and what it loses. */
    double beside_s, computed_s, taxed_s;
} gl_row_time;

/* A data parallel message of a pass. */
typedef struct gl_queued {
    double release; /* place on the pass's compute timeline from which it may run */
    const gl_row_time *of;
    int gate; /* segment that must wait for it; −1 = none */
} gl_queued;

/* The messages of a pass in the order in which they are issued. */
typedef struct gl_pass_queue {
    gl_queued *items;
    size_t count;
    size_t barrier; /* the pass ends when so many of them are done; the others may run on */
    int *gate_last; /* by segment: 1 + index of the last message that it waits for; NULL = none */
} gl_pass_queue;

typedef struct gl_pass {
    double *end; /* place at which each segment (a block) ends, inline communication included */
    int segments;
    int forward_segments; /* of them; a stage without neighbours runs forward and backward in one */
    gl_pass_queue each;   /* of every microbatch but the last */
    gl_pass_queue last;   /* of the last one */
} gl_pass;

/* The place at which it ends. */
static inline double gl_pass_end(const gl_pass *pass)
{
    return pass->segments > 0 ? pass->end[pass->segments - 1] : 0;
}

/* Communication that is tied to a phase's compute (TP, CP, EP): one row of it, one microbatch. */
typedef struct gl_inline_row {
    size_t row;
    double exposed_s;
    double hidden_s; /* how long the part beside compute takes there */
} gl_inline_row;

/* One phase of a stage: all its chunks, one microbatch. */
typedef struct gl_phase_share {
    double compute_s; /* nothing beside it */
    double exposed_s; /* inline communication that stalls it */
    double tax_s;     /* what hidden inline communication costs it */
    gl_inline_row *rows;
    size_t row_count;
} gl_phase_share;

/* Time that a phase takes when no data parallel message is beside it. */
static inline double gl_phase_s(const gl_phase_share *share)
{
    return share->compute_s + share->exposed_s + share->tax_s;
}

/* What happens once a step after the backward, in this order. */
typedef enum gl_once_kind {
    GL_ONCE_EMBEDDING, /* tied embedding gradients: first and last stage together */
    GL_ONCE_NORM,      /* gradient norm and the like, before the optimizer */
    GL_ONCE_GATHER,    /* updated parameters, after it */
    GL_ONCE_KIND_COUNT
} gl_once_kind;

typedef struct gl_once {
    gl_once_kind kind;
    size_t row;
    double time_s; /* of a call */
    int64_t calls;
} gl_once;

typedef struct gl_stage_work {
    const gl_stage_plan *plan;
    gl_phase_share phase[2]; /* forward, backward */
    int chunks;
    gl_pass *pass[2];   /* forward, backward; by chunk */
    double send_s[2];   /* one activation to the next, one gradient to the previous stage */
    double way_s[2];    /* of it, on the wire: the link is free for the next */
    size_t send_row[2]; /* what is sent; where parts are joined behind it, send_s has that, too */
    gl_once *once;
    size_t once_count;
    double once_s[GL_ONCE_KIND_COUNT]; /* sums */
    double optimizer_s;
} gl_stage_work;

/* Prepares all stages (pp of them); equal ones are prepared once. Without pipeline neighbours a
 * microbatch is one pass: forward[0] holds it and backward[0] is empty. */
gl_stage_work *gl_stage_works(const gl_workload *workload, const gl_compute *compute,
                              const gl_stage_plan *stages, const gl_scales *scales,
                              gl_arena *arena);

/* Chunks of a stage that the schedule tells apart: 1 without pipeline neighbours. */
int gl_pass_chunks(const gl_parallel *parallel);

/* Microbatches that the interleaved schedule sends through a chunk before it turns to the next one:
 * p, as Megatron does, and in the last group what is left over, too. */
static inline int64_t gl_last_group(int64_t microbatches, int64_t pp)
{
    return microbatches < 2 * pp ? microbatches : pp + microbatches % pp;
}

#endif
