/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GEMMs are measured, with what data, and how they are laid beside collectives. Pure. */
#ifndef GL_MEASURE_NCCL_GEMM_GRID_H
#define GL_MEASURE_NCCL_GEMM_GRID_H

#include "common/collective.h"

#include <stddef.h>
#include <stdint.h>

/* C[m,n] = A[m,k] B[k,n]: m tokens, k inputs, n outputs of a linear layer. */
typedef struct gl_gemm_shape {
    gl_dtype dtype;
    int64_t m, n, k;
} gl_gemm_shape;

/* Shape `i` of the grid, in the order of measuring: should the time end early, what is there spans
 * the grid. False when there are no more. */
bool gl_gemm_grid(size_t i, gl_gemm_shape *shape);

/* Bytes of the weights, the inputs and the outputs (outputs are always bf16). */
typedef struct gl_gemm_bytes {
    size_t weights, inputs, outputs;
} gl_gemm_bytes;
void gl_gemm_bytes_of(const gl_gemm_shape *shape, gl_gemm_bytes *bytes);

/* Normally distributed numbers in a type (bf16, fp8 E4M3): a GPU's power, and with it its clock,
 * depends on the data, and zeros flatter it. `count` elements. */
void gl_gemm_data(gl_dtype dtype, size_t count, unsigned char *out);

/* A series of GEMMs and collectives that run at the same time. */
typedef struct gl_overlap_series {
    int gemms, collectives;
} gl_overlap_series;

/* So many that all communication, `share` of the compute, can hide. `gemm_s` and `collective_s` are
 * what one takes alone. */
gl_overlap_series gl_overlap_series_of(double gemm_s, double collective_s, double share);

/* How many collectives are issued before GEMM `i` of a series, all in all: evenly, the first at the
 * start. */
int gl_overlap_due(const gl_overlap_series *series, int i);

/* Case `i` of what is measured together; false when there are no more. */
typedef struct gl_overlap_case {
    gl_gemm_shape gemm;
    gl_collective collective;
    double size_bytes, share;
    size_t share_index;
} gl_overlap_case;
bool gl_overlap_grid(size_t i, gl_overlap_case *c);

/* Median and 95th percentile; sorts `times`. */
void gl_rates_summary(double *times, size_t count, double *median, double *p95);

#endif
