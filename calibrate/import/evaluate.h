/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judges a parsed run: is it a measurement of communication, of how many ranks on how many nodes,
 * over which transport, and do its numbers agree with each other? A run that contradicts itself is
 * refused with both numbers; what is merely doubtful is flagged in the run's warnings.
 */
#ifndef GL_CALIBRATE_EVALUATE_H
#define GL_CALIBRATE_EVALUATE_H

#include "calibrate/import/parsed.h"
#include "common/calibration.h"

/* What the user says about a file. It completes what the file says and never overrules it, but for
 * the name of the GPU. */
typedef struct gl_import_options {
    const char *label, *gpu;          /* NULL = not said */
    const char *algorithm, *protocol; /* NULL = not said */
    int nodes, ranks;                 /* 0 = not said */
    bool has_transport, has_collective;
    gl_transport transport;
    gl_collective collective;
    bool keep_host;
    const char *recorded_at; /* ISO 8601 UTC */
} gl_import_options;

/* A run with its curves, ready for the store (ids unset). */
typedef struct gl_import_run {
    gl_run run;
    gl_curve *curves;
    size_t curve_count;
    gl_compute_rate *compute;
    size_t compute_count;
    gl_overlap_rate *overlap;
    size_t overlap_count;
    /* Set by writing: the run of the store that measured the very same, and where it came from; 0:
     * it is stored. */
    int64_t same_as;
    const char *same_source;
    bool named; /* that run's transport was not known, and is now */
} gl_import_run;

/* `path` is the file's name for messages and, without folder, for the run. */
bool gl_evaluate_run(const gl_parsed_run *parsed, const char *path,
                     const gl_import_options *options, gl_arena *arena, gl_import_run *run,
                     gl_error *err);

/* A copy of a name (NULL: "") that is printable and not longer than a store takes. */
const char *gl_evaluate_name(gl_arena *arena, const char *text);

/* The file name without its folder. */
const char *gl_evaluate_source(const char *path);

#endif
