/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One GPU with what computing on it needs: a stream, matrices, cuBLASLt, events. */
#ifndef GL_MEASURE_NCCL_LAB_H
#define GL_MEASURE_NCCL_LAB_H

#include "calibrate/measure/nccl/blas.h"
#include "calibrate/measure/nccl/gpu.h"
#include "calibrate/measure/rates.h"

enum { GL_LAB_EVENTS = 64 };

typedef struct gl_lab {
    gl_nccl *backend;
    gl_nccl_gpu *gpu;
    gl_blas *blas;
    cudaStream_t stream;
    unsigned char *weights, *inputs, *outputs;
    gl_gemm_bytes room; /* of the three */
    void *workspace;
    gl_dtype filled; /* type of the data that is in them */
    cudaEvent_t events[GL_LAB_EVENTS];
} gl_lab;

/* Gets room for matrices of up to `wanted`, less when the memory is not there. Zeroed before. */
bool gl_lab_open(gl_lab *lab, gl_nccl *backend, gl_nccl_gpu *gpu, const gl_gemm_bytes *wanted,
                 gl_error *err);
void gl_lab_close(gl_lab *lab);

bool gl_lab_fits(const gl_lab *lab, const gl_gemm_shape *shape);

/* Fills weights and inputs with data of a type. */
bool gl_lab_fill(gl_lab *lab, gl_dtype dtype, gl_error *err);

/* One GEMM, the `i`-th: calls walk through the matrices' room, so that weights come from memory and
 * not from the cache, as in training. */
bool gl_lab_gemm(gl_lab *lab, const gl_gemm *gemm, size_t i, gl_error *err);

/* Is the type there on this GPU? */
bool gl_lab_has(const gl_lab *lab, gl_dtype dtype);

/* compute.c: kinds of gl_compute_rate. */
bool gl_lab_measure_gemms(gl_lab *lab, double budget_s, const gl_rates_sink *sink, gl_error *err);
bool gl_lab_measure_memory(gl_lab *lab, const gl_rates_sink *sink, gl_error *err);
bool gl_lab_measure_launch(gl_lab *lab, const gl_rates_sink *sink, gl_error *err);

#endif
