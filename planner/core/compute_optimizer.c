/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens once a step, all of it bytes over device memory. */
#include "planner/core/compute.h"

/* Times that a gradient is read or written before the optimizer's own kernel: for the norm and to
 * be scaled by it; to look for overflow and to undo the loss scale of FP16. */
static double gradient_sweeps(const gl_workload *w)
{
    return (w->optimizer.clipping ? 3 : 0) + (w->precision.compute == GL_FP16 ? 2 : 0);
}

/* Gradients that are kept between steps in buffers of their own are set to zero (Megatron);
 * PyTorch's are freed. */
static double zeroed_gradients(const gl_workload *w, double elements)
{
    const gl_parallel *p = &w->parallel;
    return p->zero < 3 && w->kernels.elementwise == GL_ELEMENTWISE_FUSED ? elements : 0;
}

double gl_compute_optimizer_s(const gl_workload *workload, const gl_parameters *parameters,
                              const gl_stage *stage, const gl_cluster *cluster)
{
    if (cluster->gpu == NULL)
        return 0;
    const gl_precision *p = &workload->precision;
    int64_t experts = 0;
    double dense = (double)(gl_stage_elements(parameters, stage, &experts) - experts);
    double copied = gl_copied_gradients(workload, dense, (double)experts);
    double elements = dense + (double)experts;
    const gl_parallel *q = &workload->parallel;
    if (q->zero > 0)
        elements = dense / gl_zero_ranks(q, false) + (double)experts / gl_zero_ranks(q, true);
    /* Two states, the weights that are updated and the gradient read; states and weights written,
     * and once more the weights in the compute type when the master is apart (Adam). */
    double weight = gl_dtype_bytes(p->master != GL_DTYPE_NONE ? p->master : p->compute);
    double copy = p->master != GL_DTYPE_NONE ? gl_dtype_bytes(p->compute) : 0;
    double bytes =
        4 * gl_dtype_bytes(p->optimizer) + 2 * weight + gl_dtype_bytes(p->gradients) + copy;
    bytes += gradient_sweeps(workload) * gl_dtype_bytes(p->gradients);
    const gl_gpu *g = cluster->gpu;
    double copy_bytes = 2 * gl_dtype_bytes(p->gradients); /* read and written */
    double zeroed = zeroed_gradients(workload, dense + (double)experts);
    return (elements * bytes + copied * copy_bytes + zeroed * gl_dtype_bytes(p->gradients)) /
           (g->memory_bw_bytes_per_s.value * g->memory_efficiency.value);
}
