/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated step as Chrome trace events, for Perfetto and chrome://tracing: a process for each
 * pipeline stage, a thread for each of its streams, a slice for each event, an arrow for each send.
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
#ifndef GL_REPORT_TRACE_H
#define GL_REPORT_TRACE_H

#include "common/error.h"
#include "common/json_writer.h"
#include "planner/core/plan.h"

/* A trace under way: scenarios are written one after the other, side by side in time. */
typedef struct gl_trace {
    gl_json json;
    int next_process;
    int64_t next_arrow;
    bool several; /* more than one scenario: their names stand beside the stages */
} gl_trace;

/* About how many entries the plan's trace has. */
double gl_trace_size(const gl_plan *plan);

/* Can these plans be traced? False: compute is not known, or `size` entries in all are too many. */
bool gl_trace_check(const gl_plan *plan, double size, gl_error *err);

void gl_trace_begin(gl_trace *trace, gl_output *out, bool several);

/* Simulates the plan's step and writes it; entries in order of time. `scratch` holds the events. */
void gl_trace_add(gl_trace *trace, const gl_plan *plan, const char *scenario, gl_arena *scratch);

void gl_trace_end(gl_trace *trace);

#endif
