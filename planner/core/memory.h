/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of one GPU by class. */
#ifndef GL_CORE_MEMORY_H
#define GL_CORE_MEMORY_H

#include "planner/core/hardware.h"
#include "planner/core/parameters.h"

typedef struct gl_memory {
    double parameters_bytes;
    double gradients_bytes;
    double optimizer_bytes;    /* states and master weights */
    double activations_bytes;  /* of the microbatches in flight */
    double logits_bytes;       /* last stage */
    double buffers_bytes;      /* gathered parameters, buckets, library */
    double library_bytes;      /* of the buffers: CUDA context and NCCL */
    double reserve_bytes;      /* fragmentation: a share of the capacity */
    double not_together_bytes; /* in the lines above, but not there at the peak: gradients that come
                                  as activations go */
    double total_bytes;        /* all lines above but the one before, which is subtracted */
    double capacity_bytes;     /* NaN when the GPU is not known */
    int in_flight;             /* microbatches (or chunks) whose activations are held */
    bool fits;                 /* true when the capacity is not known */
    bool fits_known; /* false without a capacity, and when a lower bound is all there is and
                        that would fit */
} gl_memory;

/*
 * Memory of a rank of `stage` at the peak of a step. Without an architecture activations are NaN
 * and not in the total; without a GPU (NULL) or its memory there is no reserve.
 *
 * Gradients are there all the time when they are accumulated over microbatches or live in buffers
 * of their own (another type than the weights', DDP's buckets, ZeRO-1 and 2). Otherwise a framework
 * frees them after each step, and they grow in backward while activations shrink: the peak has the
 * one or the other. Formulas: docs/models/memory.md.
 */
void gl_memory_estimate(const gl_workload *workload, const gl_parameters *parameters,
                        const gl_stage *stage, const gl_gpu *gpu, gl_memory *out);

/* The same of the fullest of the workload's stages (pp of them). Returns which it is: the first of
 * several. */
int gl_memory_fullest(const gl_workload *workload, const gl_parameters *parameters,
                      const gl_stage *stages, const gl_gpu *gpu, gl_memory *out);

#endif
