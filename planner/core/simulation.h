/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step, event by event: each pipeline stage has a compute stream and communication streams, runs
 * its passes in the order of the schedule, and starts one when what it needs has arrived. Exact for
 * uneven stages, where the closed forms of schedule.h estimate. Deterministic; the work is in
 * proportion to the events. Rules and sources: docs/models/schedule.md.
 */
#ifndef GL_CORE_SIMULATION_H
#define GL_CORE_SIMULATION_H

#include "planner/core/schedule.h"

typedef enum gl_stream {
    GL_STREAM_COMPUTE,
    GL_STREAM_DP, /* gradients, parameters, and what all ranks exchange once a step */
    GL_STREAM_TP,
    GL_STREAM_CP,
    GL_STREAM_EP,
    GL_STREAM_SEND,      /* activations to the next stage */
    GL_STREAM_SEND_BACK, /* their gradients to the previous one */
    GL_STREAM_COUNT
} gl_stream;

typedef enum gl_event_kind {
    GL_EVENT_FORWARD,
    GL_EVENT_BACKWARD,
    GL_EVENT_OPTIMIZER
} gl_event_kind;

/* Something that a stream does without interruption. A pass that waits makes several. */
typedef struct gl_event {
    double start_s, end_s; /* from the start of the step */
    int stage;
    gl_stream stream;
    gl_event_kind kind; /* the pass that it belongs to */
    int chunk;          /* of the stage; −1: the event belongs to no pass */
    int64_t microbatch; /* from 0; −1 likewise */
    size_t row;         /* of communication: the stage's traffic row */
} gl_event;

/* Hears every event; those of one stream in order of time. */
typedef void gl_event_sink(void *context, const gl_event *event);

/* What a stage did in the step. */
typedef struct gl_stage_usage {
    double busy_s[GL_STREAM_COUNT]; /* sums of the streams' events */
    double tax_s;                   /* of compute's: lost to communication beside it */
    double stall_s;        /* passes waited for data parallel messages and inline communication */
    double backward_end_s; /* the last backward is computed */
    double *row_exposed_s; /* by traffic row: compute waited for it; NULL when not asked for. Rows
                              of sends are 0: see gl_simulate_step. */
} gl_stage_usage;

typedef struct gl_simulation {
    double time_s;
    double computed_s;      /* all backwards are computed */
    double ready_s;         /* all their messages are done: the gradient norm */
    gl_stage_usage *stages; /* pp of them */
    size_t event_count;     /* that the sink heard; 0 without one */
} gl_simulation;

/* Simulates. `sink` may be NULL. What is returned lives in the arena. */
gl_simulation gl_simulate(const gl_workload *workload, const gl_compute *compute,
                          const gl_stage_plan *stages, const gl_scales *scales, gl_event_sink *sink,
                          void *context, gl_arena *arena);

/* About how many events a simulation has: passes, what goes with each, messages. A double, since it
 * may be more than memory holds. */
double gl_simulation_events(const gl_workload *workload, const gl_stage_plan *stages);

/*
 * Parts of the simulated step, as gl_schedule_eval gives them in closed form. When row_exposed_s is
 * not NULL it receives, by traffic row of `report_stage`, what the row costs: compute of the stage
 * that waited for it; for sends, what the step would gain if all of them took no time. Of very many
 * microbatches only some are simulated: the middle of a step repeats itself.
 */
gl_schedule gl_simulate_step(const gl_workload *workload, const gl_compute *compute,
                             const gl_stage_plan *stages, const gl_scales *scales, int report_stage,
                             double *row_exposed_s, gl_arena *scratch);

/* "compute", "data parallel", "pipeline send" … */
const char *gl_stream_name(gl_stream stream);

#endif
