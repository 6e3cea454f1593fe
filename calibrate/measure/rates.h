/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --compute and --overlap: what a GPU computes, and what compute and communication take from each
 * other. Only a build with CUDA can; the others refuse with the reason. */
#ifndef GL_MEASURE_RATES_H
#define GL_MEASURE_RATES_H

#include "calibrate/measure/backend.h"

/*
 * Where rates go, and which are there already (of this run, when it is continued): each is stored
 * at once. Only the leader has one, the others get NULL; what to measure next is the leader's to
 * agree.
 */
typedef struct gl_rates_sink {
    void *context;
    const gl_compute_rate *compute; /* known before this call */
    size_t compute_count;
    const gl_overlap_rate *overlap;
    size_t overlap_count;
    bool (*add_compute)(void *context, const gl_compute_rate *rate, gl_error *err);
    bool (*add_overlap)(void *context, const gl_overlap_rate *rate, gl_error *err);
    /* Has the user asked to stop? Then return true early. */
    bool (*stopped)(void *context);
} gl_rates_sink;

/* Can this build and backend do it? Asked before anything is measured; equal in all processes. */
bool gl_rates_available(gl_backend *backend, gl_error *err);

/* GEMMs, memory copies, kernel launches. Called in all processes, with no grouping joined. Takes
 * about `budget_s`. run_id of the rates is set by the sink. */
bool gl_rates_measure_compute(gl_backend *backend, double budget_s, const gl_rates_sink *sink,
                              gl_error *err);

/* GEMMs and collectives alone and together, over `grouping`. The same rules. */
bool gl_rates_measure_overlap(gl_backend *backend, const gl_grouping *grouping, double budget_s,
                              const gl_rates_sink *sink, gl_error *err);

#endif
