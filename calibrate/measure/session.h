/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A measuring session: walks through groupings, collectives and sizes within a budget, checks every
 * point, stores it at once. The leader decides and stores, the other processes follow: each step
 * begins with a number that all agree on.
 */
#ifndef GL_MEASURE_SESSION_H
#define GL_MEASURE_SESSION_H

#include "calibrate/measure/acceptance_list.h"
#include "calibrate/measure/backend.h"

/* What is going on, for a progress line. */
typedef struct gl_session_progress {
    const gl_curve *curve;
    double size_bytes;
    double busbw_bytes_per_s; /* of the last point of this curve; NaN before the first */
    double left_s;            /* of the budget */
    int curves_done, curves;
} gl_session_progress;

typedef struct gl_session_options {
    const char *db, *label;
    const char *started_at;  /* now, ISO 8601 UTC */
    const char *environment; /* to be stored: see facts.h */
    const char *locality;    /* text of the machine; may be NULL */
    const gl_collective *collectives;
    int collective_count;
    gl_dtype dtype; /* GL_DTYPE_NONE: the backend's default */
    double min_bytes, max_bytes;
    double budget_s, precision;
    const int *ranks; /* sizes of groups; NULL = all that make sense */
    int rank_count;
    const gl_acceptance_list *acceptance; /* exactly this, instead of collectives, sizes and ranks;
                                             NULL: none */
    bool concurrent, compute, overlap, keep_host;
    double (*clock_s)(void); /* monotonic */
    bool (*stopped)(void);   /* has the user asked to stop? Heard between batches */
    void (*progress)(void *context, const gl_session_progress *progress); /* leader; may be NULL */
    void *progress_context;
} gl_session_options;

typedef struct gl_session_result {
    int64_t run_id; /* leader only, as all below */
    bool resumed;
    bool stopped;       /* the user's wish: the run is marked interrupted */
    int curves, points; /* with those of earlier sessions of the run */
    int new_points;
    int wrong_points;
    int short_curves; /* that end below the largest size */
    double wall_s, measuring_s;
    const char *warnings; /* one a line, as stored */
    const char *unmet;    /* those of them that say what of a list was not measured */
    bool backend_failed;  /* others may hang in a call: end them by abort */
} gl_session_result;

/*
 * Runs it. False: *err says why; what was measured is stored and the run is marked interrupted, if
 * the disk allows. In processes that only follow, an error of the leader has an empty message.
 */
bool gl_session_run(gl_backend *backend, const gl_session_options *options, gl_arena *arena,
                    gl_session_result *result, gl_error *err);

#endif
