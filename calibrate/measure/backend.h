/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What measures: one small interface, behind it NCCL on GPUs or MPI between host buffers.
 *
 * A measurement runs in one or several processes, and every process makes the same calls in the
 * same order. Measured times are given to all processes, so all of them decide alike; what depends
 * on the clock is the leader's (agree). Only the leader writes to a store and to the terminal.
 *
 * Ranks are measuring ranks: GPUs under NCCL, processes under MPI.
 */
#ifndef GL_MEASURE_BACKEND_H
#define GL_MEASURE_BACKEND_H

#include "common/arena.h"
#include "common/calibration.h"
#include "common/error.h"

typedef struct gl_backend gl_backend;

/* Groups that work at the same time: the same collective in each. */
typedef struct gl_grouping {
    gl_placement placement;   /* of every group */
    const int *group_of_rank; /* by rank: which group, −1 = idle */
    int groups;
} gl_grouping;

/* What a machine says of itself, to be stored beside the run. */
typedef struct gl_machine_text {
    const char *kind; /* "nvidia-smi topo -m" */
    const char *text;
} gl_machine_text;

typedef struct gl_backend_vtable {
    const char *name; /* "mpi", "nccl": also run.backend */

    /* Fills what the backend knows of run: backend, gpu, driver, CUDA and NCCL versions, host; in
     * parameters what else belongs to the measurement ("Open MPI 4.1.4"). */
    void (*describe)(gl_backend *backend, gl_arena *arena, gl_run *run);

    /* The texts of the machine, called once on the leader; NULL = has none. */
    void (*texts)(gl_backend *backend, gl_arena *arena, const gl_machine_text **texts,
                  size_t *count);

    /* Largest message that can be sent: for memory, or for how many elements a call takes. */
    double (*max_size_bytes)(gl_backend *backend, gl_dtype dtype);

    /* Forms the groups and reserves buffers for messages up to `max_size_bytes`. One grouping at a
     * time: leave ends it. Not supported (a type, a collective): GL_ERROR_USAGE with the reason.
     * Fails in all processes or in none. */
    bool (*join)(gl_backend *backend, const gl_grouping *grouping, gl_collective collective,
                 gl_dtype dtype, double max_size_bytes, gl_error *err);
    void (*leave)(gl_backend *backend);

    /* Makes memory ready for messages of a size, before it is measured, in all processes: what only
     * larger messages need must not be paid for earlier. NULL = join did it all. */
    bool (*prepare)(gl_backend *backend, double size_bytes, gl_error *err);

    /*
     * Runs `warmup` + `iterations` calls. times_s[i] is what iteration i took on the slowest rank
     * of the slowest group; equal in all processes. What an iteration is, parameters of describe
     * tell: a call after a barrier (MPI), or the mean of calls back to back (NCCL). After a failure
     * here, in prepare and in verify only abort and close may follow.
     */
    bool (*measure)(gl_backend *backend, double size_bytes, bool in_place, int warmup,
                    int iterations, double *times_s, gl_error *err);

    /* One call with known data: the number of wrong elements over all ranks. */
    bool (*verify)(gl_backend *backend, double size_bytes, bool in_place, double *wrong,
                   gl_error *err);

    /* What carried the last grouping's messages: transport, NICs, algorithm and protocol at a size,
     * as far as known (fields as in gl_curve; texts in the arena). On the leader alone, so it waits
     * for nobody; about the size that was verified last, for that call is listened to. */
    void (*observe)(gl_backend *backend, double size_bytes, gl_arena *arena, gl_curve *curve);

    /* The leader's value, in all processes. */
    double (*agree)(gl_backend *backend, double value);

    /* Ends all processes of the measurement with a status: after a failure that others cannot see.
     */
    void (*abort)(gl_backend *backend, int status);

    void (*close)(gl_backend *backend);
} gl_backend_vtable;

/* Backends start with this. */
struct gl_backend {
    const gl_backend_vtable *vtable;
    int ranks;               /* measuring ranks in all */
    const int *node_of_rank; /* node of each, counted from 0 */
    bool leader;             /* does this process write? */
    const gl_dtype *dtypes;  /* that it can move, the default first; GL_DTYPE_NONE ends the list */
    const char *const *warnings; /* NULL-terminated: NVLink is there but not used, … */
};

/* Opens a backend. Each is NULL-safe to close. When it was not built in: GL_ERROR_DEVICE that says
 * what to install and build again. */
bool gl_backend_mpi_open(gl_backend **backend, gl_error *err);
bool gl_backend_nccl_open(gl_backend **backend, gl_error *err);

/* What this build has, for --version: "MPI: Open MPI 4.1.4" or "MPI: absent". */
const char *gl_backend_mpi_version(void);
const char *gl_backend_nccl_version(void);

#endif
