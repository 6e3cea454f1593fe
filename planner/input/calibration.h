/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a calibration database to the curves that a cluster uses: one per key. */
#ifndef GL_INPUT_CALIBRATION_H
#define GL_INPUT_CALIBRATION_H

#include "common/error.h"
#include "common/texts.h"
#include "planner/core/hardware.h"

typedef enum gl_calibration_tier {
    GL_INSIDE_NODES,
    GL_ACROSS_NODES,
    GL_BOTH_TIERS
} gl_calibration_tier;

typedef struct gl_calibration_request {
    const char *file;         /* path of the database, "#LABEL" taken off */
    const char *label;        /* only runs with this label; NULL = all */
    gl_calibration_tier tier; /* which curves are wanted */
    gl_transport transport;   /* of the tier's link; UNKNOWN: the only one that there is */
} gl_calibration_request;

typedef struct gl_calibration {
    const char *name;          /* gl_calibration_name */
    const char *gpu;           /* as the driver prints it; "" when no run says it */
    gl_curve *inside, *across; /* with samples */
    size_t inside_count, across_count;
    const gl_compute_rate *compute;
    size_t compute_count;
    const gl_overlap_rate *overlap;
    size_t overlap_count;
} gl_calibration;

/* Reads the wanted curves of a database. Fails when there are none, when one tier has curves over
 * several known transports and the request names none of them, or when the runs are of different
 * GPUs. */
bool gl_calibration_load(const gl_calibration_request *request, gl_arena *arena,
                         gl_calibration *out, gl_texts *warnings, gl_error *err);

/* How a database is called: its file's name without folder and .db, with "#LABEL" where one was
 * given (not NULL). In the arena. */
const char *gl_calibration_name(const char *file, const char *label, gl_arena *arena);

/* Splits "FILE#LABEL" unless a file of the whole name exists; finds FILE beside `base` (NULL = the
 * working folder) or among the bundled calibrations. NULL when there is no such file. */
const char *gl_calibration_find(const char *name, const char *base, gl_arena *arena,
                                const char **label);

#endif
