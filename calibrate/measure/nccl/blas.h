/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GEMMs by cuBLASLt, which is loaded when it is first needed: it is half a gigabyte. */
#ifndef GL_MEASURE_NCCL_BLAS_H
#define GL_MEASURE_NCCL_BLAS_H

#include "calibrate/measure/nccl/gemm_grid.h"
#include "common/error.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

enum { GL_BLAS_WORKSPACE = 32 << 20 }; /* what PyTorch gives cuBLAS on these GPUs */

typedef struct gl_blas gl_blas;

/* Loads the library and opens it for the current device. */
bool gl_blas_open(gl_blas **blas, gl_error *err);
void gl_blas_close(gl_blas *blas);

typedef struct gl_gemm {
    gl_gemm_shape shape;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t weights, inputs, outputs;
    cublasLtMatmulAlgo_t algorithm;
} gl_gemm;

/* As torch.nn.functional.linear: weights [n,k], inputs [m,k], outputs [m,n], all row by row. False
 * without an error (status GL_OK) when the library has no kernel for it. */
bool gl_gemm_prepare(gl_blas *blas, const gl_gemm_shape *shape, gl_gemm *gemm, gl_error *err);
void gl_gemm_release(gl_blas *blas, gl_gemm *gemm);

bool gl_gemm_run(gl_blas *blas, const gl_gemm *gemm, const void *weights, const void *inputs,
                 void *outputs, void *workspace, cudaStream_t stream, gl_error *err);

#endif
