/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running a pass: its compute with the data parallel messages beside it, which slow each other
 * down. Internal to the core. Formulas: docs/models/schedule.md.
 */
#ifndef GL_CORE_PASS_RUN_H
#define GL_CORE_PASS_RUN_H

#include "planner/core/passes.h"

/* Hears what happens in a pass; any member may be NULL. Places are on the pass's timeline. */
typedef struct gl_pass_listener {
    void (*computed)(void *context, double start_s, double end_s, double from, double to);
    void (*sent)(void *context, const gl_queued *message, double start_s, double end_s);
    void *context;
} gl_pass_listener;

/* The data parallel stream of a stage: messages that were issued and are not done. */
typedef struct gl_pass_stream {
    const gl_queued *items; /* a pass's queue, or `own` */
    size_t first, count;
    gl_queued *own; /* where queues are joined */
    size_t capacity;
    double left_s;    /* of items[first] */
    double started_s; /* … when it began; NaN: not yet */
    double now_s;     /* up to here the stream has been followed */
    gl_arena *arena;
    const gl_pass_listener *listener; /* NULL = nobody */
    double *row_exposed_s;            /* by row; NULL = not wanted */
    double stall_s, tax_s; /* sums: compute that waited; compute lost to messages beside it */
} gl_pass_stream;

/* Runs a pass from start_s on and returns when it ends: computed, and the messages before its
 * barrier done. The stream must have been followed up to start_s. */
double gl_pass_run(const gl_pass *pass, const gl_pass_queue *queue, double start_s,
                   gl_pass_stream *stream);

/* Follows the stream up to `until` (INFINITY: until it is empty) while nothing is computed. Returns
 * when its last message was done, or now_s when there was none. */
double gl_pass_stream_follow(gl_pass_stream *stream, double until);

#endif
