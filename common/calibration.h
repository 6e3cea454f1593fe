/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a calibration database holds, as plain values. The store reads and writes them; the planner
 * and the calibrator pass them on. SI units throughout.
 *
 * Message size means what nccl-tests prints: the buffer of one rank for all_reduce, broadcast,
 * reduce and sendrecv; the whole output for all_gather; the whole input for reduce_scatter; the
 * whole send buffer of one rank for alltoall.
 */
#ifndef GL_COMMON_CALIBRATION_H
#define GL_COMMON_CALIBRATION_H

#include "common/collective.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gl_run_state { GL_RUN_RUNNING, GL_RUN_COMPLETE, GL_RUN_INTERRUPTED } gl_run_state;

/* "running", "complete", "interrupted", as in the database; parse is false when it is none. */
const char *gl_run_state_name(gl_run_state state);
bool gl_run_state_parse(const char *text, gl_run_state *state);

/* One measuring or importing session. Texts are never NULL; unknown ones are empty. */
typedef struct gl_run {
    int64_t id;
    const char *started_at;   /* ISO 8601 UTC: when it was measured; empty when unknown */
    const char *recorded_at;  /* ISO 8601 UTC: when it entered this database */
    const char *tool;         /* "nccl-tests", "rccl-tests", "gpulink-calibrate" */
    const char *tool_version; /* "2.19.6" */
    const char *backend;      /* "nccl", "rccl", "mpi" */
    const char *host;         /* empty unless the user asked for it to be kept */
    const char *gpu;          /* "NVIDIA H200" */
    const char *driver_version, *cuda_version;
    const char *nccl_version; /* "2.28.9" */
    const char *environment;  /* NCCL_* settings, one NAME=value a line, sorted */
    const char *source;       /* file that was imported, without its folder */
    const char *label;        /* the user's name for it */
    const char *parameters;   /* how it was measured: "iters 20, warmup 1, averaged over ranks" */
    const char *warnings;     /* what was flagged, one a line; empty when clean */
    gl_run_state state;
} gl_run;

/* Texts that nobody set become empty. */
void gl_run_complete_texts(gl_run *run);

/* A warning that begins so: the benchmark itself says that results of the run are wrong. */
#define GL_VALIDATION_FAILED "validation FAILED"

/* That warning, its length in *length; NULL: the run has none. */
const char *gl_run_validation_failure(const gl_run *run, size_t *length);

/* When it was measured, as far as known: ISO 8601, which sorts as text. */
static inline const char *gl_run_taken_at(const gl_run *run)
{
    return run->started_at[0] != '\0' ? run->started_at : run->recorded_at;
}

/* The run with this id; NULL: none has it. */
static inline const gl_run *gl_run_find(const gl_run *runs, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].id == id)
            return &runs[i];
    return NULL;
}

typedef struct gl_sample {
    double size_bytes;
    double time_median_s; /* nccl-tests gives a mean: then the mean, and the spread is NaN */
    double time_p05_s, time_p95_s, time_min_s; /* NaN when not measured */
    int iterations;                            /* 0 when unknown */
    double wrong; /* wrong elements; NaN when results were not checked */
} gl_sample;

typedef struct gl_curve {
    int64_t id, run_id;
    gl_collective collective;
    gl_dtype dtype;
    const char *redop; /* "sum", "none", …; empty when it does not apply */
    gl_placement placement;
    gl_transport transport;
    int nics;              /* used by one node; 0 = unknown or none */
    const char *algorithm; /* "ring", "tree", "nvls", … ; "" unknown; "mixed" = by size */
    const char *protocol;  /* "simple", "ll", "ll128"; "" unknown; "mixed" = by size */
    bool in_place;
    int root;                 /* −1 when it does not apply */
    const gl_sample *samples; /* by ascending size, sizes distinct; NULL until loaded */
    size_t sample_count;      /* known also before the samples are loaded */
} gl_curve;

/* Bandwidths of a sample as nccl-tests prints them, in bytes/s. */
static inline double gl_curve_algbw(const gl_sample *sample)
{
    return sample->size_bytes / sample->time_median_s;
}
static inline double gl_curve_busbw(const gl_curve *curve, const gl_sample *sample)
{
    return gl_curve_algbw(sample) * gl_bus_factor(curve->collective, curve->placement.ranks);
}

/* Bus bandwidth that large messages reach: the median of the three largest sizes, of two samples
 * the larger. NaN without samples. */
double gl_curve_plateau(const gl_curve *curve);

/* What a GEMM, a memory copy or a kernel launch took. */
typedef struct gl_compute_rate {
    int64_t run_id;
    const char *kind; /* "gemm", "memory", "launch" */
    gl_dtype dtype;
    int64_t m, n, k; /* gemm: C[m,n] = A[m,k] B[k,n]; memory: m = bytes moved; launch: zeros */
    double time_s;   /* median of one call */
    double time_p95_s;
} gl_compute_rate;

/* Compute and communication alone, and both at once. */
typedef struct gl_overlap_rate {
    int64_t run_id;
    gl_transport transport;
    gl_collective collective;
    double size_bytes; /* of each message */
    int64_t m, n, k;   /* of the GEMMs beside it */
    double compute_alone_s, communication_alone_s, together_s;
} gl_overlap_rate;

/* A text of the machine, as its tool printed it. */
typedef struct gl_topology {
    int64_t run_id;
    const char *kind; /* "nvidia-smi topo -m" */
    const char *text;
} gl_topology;

#endif
