/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A build with MPI. MPI is started only under mpirun or srun: a plain start needs none of it. */
#include "calibrate/measure/nccl/launch.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static bool several(const gl_launch *launch)
{
    return launch->processes > 1;
}

static bool init_mpi(gl_launch *launch, gl_error *err)
{
    int initialized = 0, provided = 0;
    MPI_Initialized(&initialized);
    if (!initialized) {
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
            return gl_fail(err, GL_ERROR_DEVICE, "MPI cannot be started");
        launch->finalize = true;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &launch->process);
    MPI_Comm_size(MPI_COMM_WORLD, &launch->processes);
    return true;
}

bool gl_launch_start(gl_launch *launch, gl_error *err)
{
    int expected = gl_launch_expected(), initialized = 0;
    *launch = (gl_launch){.processes = 1};
    MPI_Initialized(&initialized);
    if (expected == 1 && !initialized)
        return true;
    if (!init_mpi(launch, err))
        return false;
    if (launch->processes == 1 && expected > 1)
        return gl_fail(err, GL_ERROR_DEVICE,
                       "started as %d processes, but MPI sees one: the launcher belongs to another "
                       "MPI (under Slurm: srun --mpi=pmix or --mpi=pmi2)",
                       expected);
    return true;
}

void gl_launch_end(gl_launch *launch)
{
    int finalized = 0;
    if (!launch->finalize)
        return;
    MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Finalize();
    launch->finalize = false;
}

void gl_launch_broadcast(const gl_launch *launch, void *data, size_t bytes)
{
    if (several(launch))
        MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void gl_launch_all_gather(const gl_launch *launch, const void *mine, void *all, size_t bytes)
{
    if (several(launch))
        MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        memmove(all, mine, bytes);
}

static void reduce(const gl_launch *launch, double *values, size_t count, MPI_Op op)
{
    if (several(launch))
        MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, op, MPI_COMM_WORLD);
}

void gl_launch_max(const gl_launch *launch, double *values, size_t count)
{
    reduce(launch, values, count, MPI_MAX);
}

void gl_launch_sum(const gl_launch *launch, double *values, size_t count)
{
    reduce(launch, values, count, MPI_SUM);
}

void gl_launch_barrier(const gl_launch *launch)
{
    if (several(launch))
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Texts of all processes are at most 1 GiB: MPI counts with int. */
static int part_of(const gl_launch *launch, const char *text)
{
    size_t length = strlen(text), most = (size_t)(1 << 30) / (size_t)launch->processes;
    return (int)(length < most ? length : most);
}

char *gl_launch_join_texts(const gl_launch *launch, const char *text)
{
    if (!several(launch))
        return strdup(text);
    size_t n = (size_t)launch->processes;
    int length = part_of(launch, text), total = 0;
    int *lengths = calloc(2 * n, sizeof *lengths);
    if (lengths == NULL)
        abort();
    int *starts = lengths + n;
    MPI_Allgather(&length, 1, MPI_INT, lengths, 1, MPI_INT, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; total += lengths[i], i++)
        starts[i] = total;
    char *all = calloc(1, (size_t)total + 1);
    if (all == NULL)
        abort();
    MPI_Allgatherv(text, length, MPI_CHAR, all, lengths, starts, MPI_CHAR, MPI_COMM_WORLD);
    free(lengths);
    return all;
}

void gl_launch_abort(const gl_launch *launch, int status)
{
    if (several(launch))
        MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}
