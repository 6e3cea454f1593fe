/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of the NCCL backend. Needs the headers of CUDA and NCCL. */
#ifndef GL_MEASURE_NCCL_GPU_H
#define GL_MEASURE_NCCL_GPU_H

#include "calibrate/import/nccl_log.h"
#include "calibrate/measure/backend.h"
#include "calibrate/measure/nccl/capture.h"
#include "calibrate/measure/nccl/launch.h"
#include "calibrate/measure/nccl/layout.h"
#include "calibrate/measure/nccl/places.h"
#include "calibrate/measure/nccl/watchdog.h"

#include <cuda_runtime.h>
#include <nccl.h>

enum { GL_GPU_WARNINGS_MAX = 16 };

typedef struct gl_nccl_gpu {
    int device, rank;        /* CUDA's number, measuring rank */
    cudaStream_t stream;     /* of the collectives */
    ncclComm_t world, group; /* of all ranks; of its group, NULL when idle */
    int group_rank, group_ranks;
    unsigned char *send, *recv; /* buffers of gl_nccl.buffer_bytes */
    cudaEvent_t *events;
    size_t event_count;
} gl_nccl_gpu;

typedef struct gl_nccl {
    gl_backend base;
    gl_arena *arena;
    gl_launch launch;
    gl_watchdog *dog;
    gl_capture *capture;
    gl_nccl_gpu gpus[GL_PLACES_GPUS_MAX]; /* of this process */
    int gpu_count;
    const char *environment; /* NCCL_* as the user set it */
    const char *warnings[GL_GPU_WARNINGS_MAX + 1];
    size_t warning_count;
    bool nvlink;  /* NVML sees active links */
    bool aborted; /* communicators are gone after an error */

    int *group_of_rank; /* of the present communicators; NULL when there are none */
    gl_placement placement;
    gl_collective collective;
    gl_dtype dtype;
    size_t buffer_bytes; /* of each buffer that is allocated */
    size_t walk_bytes;   /* of them, what this curve walks through */

    /* What NCCL said: of the present communicators, and of the last verified size. */
    gl_arena *log_arena;
    gl_nccl_log *log;
    const char *algorithm, *protocol;
} gl_nccl;

/*
 * What every call of CUDA and NCCL goes through: on an error fills err with the call, its place,
 * the process and the library's message, aborts the communicators and returns false from the
 * function.
 */
#define GL_CUDA(self, call)                                                                        \
    do {                                                                                           \
        cudaError_t status_of_call = (call);                                                       \
        if (status_of_call != cudaSuccess)                                                         \
            return gl_gpu_cuda_failed((self), status_of_call, #call, __FILE__, __LINE__, err);     \
    } while (0)

#define GL_NCCL(self, call)                                                                        \
    do {                                                                                           \
        ncclResult_t status_of_call = (call);                                                      \
        if (status_of_call != ncclSuccess)                                                         \
            return gl_gpu_nccl_failed((self), status_of_call, #call, __FILE__, __LINE__, err);     \
    } while (0)

/* All return false. */
bool gl_gpu_cuda_failed(gl_nccl *self, cudaError_t status, const char *call, const char *file,
                        int line, gl_error *err);
#define gl_gpu_cuda_failed(...) gl_always_false(gl_gpu_cuda_failed(__VA_ARGS__))
bool gl_gpu_nccl_failed(gl_nccl *self, ncclResult_t status, const char *call, const char *file,
                        int line, gl_error *err);
#define gl_gpu_nccl_failed(...) gl_always_false(gl_gpu_nccl_failed(__VA_ARGS__))
bool gl_gpu_timed_out(gl_nccl *self, const char *what, gl_error *err);
#define gl_gpu_timed_out(...) gl_always_false(gl_gpu_timed_out(__VA_ARGS__))

void gl_gpu_abort_communicators(gl_nccl *self);
void gl_gpu_warn(gl_nccl *self, const char *text); /* each text once */

/* True when every process says so; a process that failed keeps its own err. */
bool gl_gpu_all_agree(gl_nccl *self, bool mine, const char *what, gl_error *err);

/* comm.c */
bool gl_gpu_form_world(gl_nccl *self, gl_error *err);
bool gl_gpu_form_groups(gl_nccl *self, const gl_grouping *grouping, gl_error *err);
void gl_gpu_destroy_communicators(gl_nccl *self);

/* buffers.c */
double gl_gpu_max_size(gl_backend *backend, gl_dtype dtype);
bool gl_gpu_get_buffers(gl_nccl *self, size_t bytes, gl_error *err);
void gl_gpu_release_buffers(gl_nccl *self);
bool gl_gpu_fill(gl_nccl *self, gl_nccl_gpu *gpu, unsigned char *buffer, size_t bytes,
                 gl_error *err);

/* issue.c */
bool gl_gpu_dtype(gl_dtype dtype, ncclDataType_t *type); /* false: this NCCL has no such type */
bool gl_gpu_issue(gl_nccl *self, const gl_gpu_layout *layout, size_t shift, bool in_place,
                  gl_error *err);

/* timing.c */
bool gl_gpu_call_once(gl_nccl *self, double size_bytes, bool in_place, gl_error *err);
bool gl_gpu_measure(gl_backend *backend, double size_bytes, bool in_place, int warmup,
                    int iterations, double *times_s, gl_error *err);

bool gl_gpu_wait_event(gl_nccl *self, const gl_nccl_gpu *gpu, cudaEvent_t event, gl_error *err);

/* verify.c, observe.c */
bool gl_gpu_verify(gl_backend *backend, double size_bytes, bool in_place, double *wrong,
                   gl_error *err);
/* One call with NCCL's line for each call switched on, which all processes then know. Observing
 * itself waits for nobody: only the leader may ask. */
bool gl_gpu_call_and_listen(gl_nccl *self, double size_bytes, bool in_place, gl_error *err);
void gl_gpu_forget_log(gl_nccl *self); /* at new communicators */
void gl_gpu_observe(gl_backend *backend, double size_bytes, gl_arena *arena, gl_curve *curve);

/* Limit on waiting for one call of this size: a minute, more for messages that a slow network
 * needs longer for. */
double gl_gpu_limit_s(double size_bytes);

#endif
