/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of one GPU by class. */
#ifndef GL_CORE_MEMORY_H
#define GL_CORE_MEMORY_H

#include "planner/core/hardware.h"
#include "planner/core/parameters.h"

typedef struct gl_memory {
    double parameters_bytes;
    double gradients_bytes;
    double optimizer_bytes;   /* states and master weights */
    double activations_bytes; /* of the microbatches in flight */
    double logits_bytes;      /* last stage */
    double buffers_bytes;     /* gathered parameters, buckets, collective library */
    double reserve_bytes;     /* fragmentation: a share of the capacity */
    double total_bytes;
    double capacity_bytes;    /* NaN when the GPU is not known */
    int in_flight;            /* microbatches (or chunks) whose activations are held */
    bool fits;                /* true when the capacity is not known */
} gl_memory;

/* Memory of a rank of `stage`. Without an architecture activations are NaN and not in the total. */
void gl_memory_estimate(const gl_workload *workload, const gl_parameters *parameters,
                        const gl_stage *stage, const gl_gpu *gpu, gl_memory *out);

#endif
