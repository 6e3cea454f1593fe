/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a session share. Internal to calibrate/measure. */
#ifndef GL_MEASURE_SESSION_PARTS_H
#define GL_MEASURE_SESSION_PARTS_H

#include "calibrate/measure/recorder.h"
#include "calibrate/measure/sampler.h"
#include "calibrate/measure/session.h"

/* What points cost beside their calls: checking, which grows with size, storing, agreeing. */
typedef struct gl_around {
    double points, bytes, time_s; /* so far, sums */
    double least_check_s;
    double largest_bytes;    /* that was checked, latest: */
    double check_s_per_byte; /* what its check took longer than the least */
} gl_around;

typedef struct gl_session {
    gl_backend *backend;
    const gl_session_options *options;
    gl_arena *arena;
    gl_session_result *result;
    gl_error *err;
    gl_recorder recorder; /* on the leader */
    gl_dtype dtype;
    gl_grouping *groupings;
    size_t grouping_count;
    const gl_acceptance_item **items; /* of a list: what is measured on each grouping; else NULL */
    const gl_acceptance_item *item;   /* the one at work */
    double *times_s;
    double start_s, end_s;     /* of the collectives */
    gl_around around;          /* what points cost beside their calls */
    double ready_bytes;        /* memory is ready for messages up to this */
    double prepare_s;          /* spent on that */
    double prepare_s_per_byte; /* by the last time; 0 = not known */
    double extra_s;            /* see visit: the latest, for the first point of the next curve */
    int visits_left;           /* curves still to come, this one included */
    int visits;
} gl_session;

/* By the session's clock, in s. */
static inline double gl_session__now(const gl_session *s)
{
    return s->options->clock_s();
}

/* Is this the process that decides and stores? */
static inline bool gl_session__leads(const gl_session *s)
{
    return s->backend->leader;
}

/* The leader's value, in every process: all must call it. */
static inline double gl_session__agree(const gl_session *s, double value)
{
    return s->backend->vtable->agree(s->backend, value);
}

/* Has the user asked to end? */
static inline bool gl_session__stopped(const gl_session *s)
{
    return s->options->stopped != NULL && s->options->stopped();
}

/* Adds a line to the warnings of the run. */
void gl_session__warn(gl_session *s, const char *line);

/* Something was asked for that was not measured: of a list, all of it counts. */
void gl_session__warn_unmet(gl_session *s, const char *line);

/* After a failure of the leader: in the others it has no message, for the leader tells. False. */
bool gl_session__stop_with(gl_session *s, gl_status status);

/* A backend that failed may have left others in a call. False. */
bool gl_session__backend_failed(gl_session *s);

/* How many curves a collective has: out of place and in place. Alltoall and send-receive have one
 * way only. */
int gl_session__variants_of(gl_collective collective);

/* Measures the curves of a collective on a grouping, in what the budget leaves for them. */
bool gl_session__measure_collective(gl_session *s, const gl_grouping *grouping,
                                    gl_collective collective);

#endif
