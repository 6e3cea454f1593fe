/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that judge a run; nobody else includes this. */
#ifndef GL_CALIBRATE_EVALUATION_H
#define GL_CALIBRATE_EVALUATION_H

#include "calibrate/import/evaluate.h"

typedef struct gl_evaluation {
    const gl_parsed_run *parsed;
    const gl_import_options *options;
    const char *path;
    gl_arena *arena;
    gl_error *err;
    bool *use;         /* for each parsed row: may it become a sample? */
    double time_scale; /* 1000 for 1.x, which prints milliseconds where others print µs */
    gl_collective collective;
    gl_placement placement;
    gl_transport transport;
    int nics;
    char *warnings[100];
    size_t warning_count;
} gl_evaluation;

/* Refuses the run at a line of the file (0 = the run's). Returns false. */
bool gl_evaluation__refuse(gl_evaluation *e, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define gl_evaluation__refuse(...) gl_always_false(gl_evaluation__refuse(__VA_ARGS__))

/* Flags something. */
void gl_evaluation__warn(gl_evaluation *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Time of a row in seconds, whatever its layout prints. */
double gl_evaluation__time(const gl_evaluation *e, const gl_parsed_row *row);

/* Which collective, by name, shape of the rows, or the user. */
bool gl_evaluation__collective(gl_evaluation *e);

/* Ranks, nodes, ranks per node, concurrent groups. Drops rows whose busbw does not fit. */
bool gl_evaluation__placement(gl_evaluation *e);

bool gl_evaluation__transport(gl_evaluation *e);

/* Groups rows into curves. */
bool gl_evaluation__curves(gl_evaluation *e, gl_import_run *run);

#endif
