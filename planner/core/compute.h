/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compute time by operator: GEMMs with their shapes after TP, attention, everything else by bytes
 * over memory bandwidth. Formulas with sources in docs/models/compute.md.
 */
#ifndef GL_CORE_COMPUTE_H
#define GL_CORE_COMPUTE_H

#include "planner/core/evidence.h"
#include "planner/core/gemm.h"
#include "planner/core/hardware.h"
#include "planner/core/parameters.h"

typedef struct gl_operator {
    gl_block_kind block;
    const char *name;                     /* "qkv", "attention core", "norms and residuals" */
    double forward_flop, backward_flop;   /* of one microbatch on one rank */
    double forward_bytes, backward_bytes; /* over device memory */
    double forward_s, backward_s;
    int kernels;           /* launched in forward */
    double count, m, n, k; /* GEMMs in forward, [m,k]·[k,n] each; 0: no GEMM */
    double shape_share;    /* of the rate of large GEMMs that this shape keeps, forward */
    double forward_cast_s; /* of forward_s, casts to FP8 */
    double attention_ramp; /* flash attention: share of the rate at 4k tokens */
    const gl_figure *backward_efficiency; /* of flash attention; NULL otherwise */
    const gl_figure *efficiency; /* that its time stands and falls with; NULL: no catalogue */
} gl_operator;

typedef struct gl_compute {
    gl_operator *operators;
    size_t operator_count;
    double forward_s[GL_BLOCK_KIND_COUNT];  /* one block, one microbatch */
    double backward_s[GL_BLOCK_KIND_COUNT]; /* recomputation included */
    double model_flop_per_token; /* 6·N + attention, no recomputation: what MFU counts */
    double error_frac;           /* one-sigma relative error of compute by the efficiencies' */
    double model_faster_frac, model_slower_frac; /* … and by what the model leaves out */
    gl_evidence evidence; /* catalogue, measured (rates in the file), or stated */
    bool known;           /* false: nothing to compute from; times are NaN */
} gl_compute;

/*
 * The cluster's GPU with what its calibration measured in place of the catalogue's figures: the
 * efficiency of large GEMMs (BF16, FP8) and of large copies, as median, P10 and P90 over the
 * shapes. Launch times stay the catalogue's: what a framework adds between kernels is more than the
 * launch itself, which is what was measured. The catalogue's own GPU when nothing was.
 */
const gl_gpu *gl_compute_measured_gpu(const gl_cluster *cluster, gl_arena *arena);

/* What one more kernel adds: as stated, else as the catalogue says. */
static inline double gl_kernel_launch_s(const gl_workload *workload, const gl_gpu *gpu)
{
    return workload->kernels.launch_s > 0 ? workload->kernels.launch_s : gpu->kernel_launch_s.value;
}

/* The operators of one microbatch on one rank of the cluster's GPU. They live in the arena; without
 * a GPU, or a sequence to compute on, times are NaN and `known` is false. */
void gl_compute_build(const gl_workload *workload, const gl_parameters *parameters,
                      const gl_cluster *cluster, gl_arena *arena, gl_compute *out);

/* Time of what a stage does once a step: bytes of states, weights and gradients over memory, and of
 * gradients that are copied into their messages. */
double gl_compute_optimizer_s(const gl_workload *workload, const gl_parameters *parameters,
                              const gl_stage *stage, const gl_cluster *cluster);

#endif
