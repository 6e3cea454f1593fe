/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The database of a measuring session, on the leader. Every point is a transaction of its own: what
 * was measured stays measured, whatever happens next. A run that was cut off and that the same
 * command started is continued.
 */
#ifndef GL_MEASURE_RECORDER_H
#define GL_MEASURE_RECORDER_H

#include "calibrate/measure/backend.h"
#include "common/store/store.h"

typedef struct gl_recorder {
    gl_store *store;
    int lock;
    gl_arena *arena;
    int64_t run_id;
    bool resumed;
    gl_catalog before; /* what the file held; curves of this run have their samples loaded */
} gl_recorder;

/*
 * Opens or creates the database for `run` (texts set, state is ignored). Runs that still say
 * "running" are marked interrupted: their writer is gone, for we hold the lock. The latest
 * interrupted run with equal facts, label and parameters goes on; otherwise a new one is added
 * with `texts`.
 */
bool gl_recorder_open(gl_recorder *recorder, const char *path, const gl_run *run,
                      const gl_machine_text *texts, size_t text_count, gl_arena *arena,
                      gl_error *err);

/* Looks for the curve in the run that goes on (by collective, type, placement, in place): then id,
 * samples and path are taken from it; else id is 0. */
void gl_recorder_find(const gl_recorder *recorder, gl_curve *curve);

/* Commits one point; a curve without id is added first, one whose path changed is updated. */
bool gl_recorder_add(gl_recorder *recorder, gl_curve *curve, bool path_changed,
                     const gl_sample *sample, gl_error *err);

bool gl_recorder_add_compute(gl_recorder *recorder, const gl_compute_rate *rate, gl_error *err);
bool gl_recorder_add_overlap(gl_recorder *recorder, const gl_overlap_rate *rate, gl_error *err);

/* The last word on the run. */
bool gl_recorder_finish(gl_recorder *recorder, gl_run_state state, const char *warnings,
                        gl_error *err);

/* Closes; without a finish the run stays "running" and is known to be dead by its lock. */
void gl_recorder_close(gl_recorder *recorder);

#endif
