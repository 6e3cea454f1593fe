/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of a measurement: one, or those that mpirun or srun started. MPI only starts them,
 * hands the NCCL identifier round and gathers times; a build without it works with one process.
 */
#ifndef GL_MEASURE_NCCL_LAUNCH_H
#define GL_MEASURE_NCCL_LAUNCH_H

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct gl_launch {
    int process, processes; /* this one, and how many; the leader is 0 */
    bool finalize;          /* did this start MPI? */
} gl_launch;

bool gl_launch_start(gl_launch *launch, gl_error *err);
void gl_launch_end(gl_launch *launch);

/* Process 0's bytes, in all processes. */
void gl_launch_broadcast(const gl_launch *launch, void *data, size_t bytes);

/* `bytes` of each process, one after the other, in all processes. */
void gl_launch_all_gather(const gl_launch *launch, const void *mine, void *all, size_t bytes);

/* The largest of each value over all processes, in place. */
void gl_launch_max(const gl_launch *launch, double *values, size_t count);
void gl_launch_sum(const gl_launch *launch, double *values, size_t count);
void gl_launch_barrier(const gl_launch *launch);

/* All texts one after the other, in all processes; to be freed. */
char *gl_launch_join_texts(const gl_launch *launch, const char *text);

void gl_launch_abort(const gl_launch *launch, int status);

/* How many processes the environment of mpirun or srun tells; 1 when it tells none. */
int gl_launch_expected(void);

#endif
