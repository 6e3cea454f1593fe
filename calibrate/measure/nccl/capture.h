/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NCCL's own debug output of this run, taken from a file in memory.
 *
 * While times are measured only what NCCL prints once (start, graph, channels) is on. The line for
 * each call (TUNING) would cost a small message a tenth of its time, so it is switched on for a
 * single call outside of the measurement, through NCCL's ncclResetDebugInit where the library has
 * it; otherwise algorithm and protocol stay unknown.
 *
 * What the user set of NCCL_DEBUG, NCCL_DEBUG_SUBSYS or NCCL_DEBUG_FILE is left alone: a file that
 * is named is read, anything else is not captured.
 */
#ifndef GL_MEASURE_NCCL_CAPTURE_H
#define GL_MEASURE_NCCL_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gl_capture gl_capture;

/* Sets the environment; before the first call of NCCL. `reset` is ncclResetDebugInit or NULL. */
gl_capture *gl_capture_begin(void (*reset)(void));
void gl_capture_end(gl_capture *capture); /* NULL-safe */

/* Does any output come here? */
bool gl_capture_works(const gl_capture *capture);

/* Forgets what came so far. */
void gl_capture_mark(gl_capture *capture);

/* All since the mark, terminated; valid until the next call. */
const char *gl_capture_text(gl_capture *capture);

/* Switches the line for each call. */
void gl_capture_calls(gl_capture *capture, bool on);

#endif
