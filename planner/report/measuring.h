/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands that measure what a plan lacks: by gpulink-calibrate, and by nccl-tests. */
#ifndef GL_REPORT_MEASURING_H
#define GL_REPORT_MEASURING_H

#include "planner/core/plan.h"

/* One collective on one placement, over a range of sizes. */
typedef struct gl_measurement {
    gl_collective collective;
    gl_placement placement;
    gl_dtype dtype;               /* NONE: not said */
    gl_transport transport;       /* HOST: without GPUs */
    int64_t min_bytes, max_bytes; /* 0: not said */
    const char *db;               /* to measure into */
} gl_measurement;

/* Can --ranks name the placement: in a node, one rank on each node, whole nodes? If not, only a
 * list can (--acceptance). */
bool gl_measurement_is_plain(const gl_measurement *m);

/* "mpirun -n 16 -N 8 gpulink-calibrate run --db new.db --ops all_reduce --ranks 2 --concurrent". A
 * group within a node needs no hosts; one across nodes is started there by MPI. In the arena. */
const char *gl_measurement_command(const gl_measurement *m, gl_arena *arena);

/* What starts so many processes for the placement: "mpirun -n 16 -N 8 ", or "" in a node of GPUs.
 */
const char *gl_measurement_launcher(const gl_measurement *m, gl_arena *arena);

/* The same by hand: "all_reduce_perf -b 4 -e 256M -f 2 -g 8". NULL: nccl-tests cannot form these
 * groups. */
const char *gl_nccl_tests_command(const gl_measurement *m, gl_arena *arena);

/* A word of a command line as a shell takes it: in quotes where it must be. */
const char *gl_shell_word(const char *word, gl_arena *arena);

/* The command that would measure what a source of error rests on; in the arena. */
const char *gl_measuring_command(const gl_error_source *source, gl_arena *arena);

#endif
