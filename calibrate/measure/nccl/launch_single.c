/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A build without MPI: one process. */
#include "calibrate/measure/nccl/launch.h"

#include <stdlib.h>
#include <string.h>

bool gl_launch_start(gl_launch *launch, gl_error *err)
{
    *launch = (gl_launch){.processes = 1};
    int expected = gl_launch_expected();
    if (expected > 1)
        return gl_fail(
            err, GL_ERROR_DEVICE,
            "started as one of %d processes, but this build has no MPI: install Open MPI "
            "or MPICH and build again, or start one process",
            expected);
    return true;
}

void gl_launch_end(gl_launch *launch)
{
    (void)launch;
}

void gl_launch_broadcast(const gl_launch *launch, void *data, size_t bytes)
{
    (void)launch, (void)data, (void)bytes;
}

void gl_launch_all_gather(const gl_launch *launch, const void *mine, void *all, size_t bytes)
{
    (void)launch;
    memmove(all, mine, bytes);
}

void gl_launch_max(const gl_launch *launch, double *values, size_t count)
{
    (void)launch, (void)values, (void)count;
}

void gl_launch_sum(const gl_launch *launch, double *values, size_t count)
{
    (void)launch, (void)values, (void)count;
}

void gl_launch_barrier(const gl_launch *launch)
{
    (void)launch;
}

char *gl_launch_join_texts(const gl_launch *launch, const char *text)
{
    (void)launch;
    return strdup(text);
}

void gl_launch_abort(const gl_launch *launch, int status)
{
    (void)launch;
    exit(status);
}
