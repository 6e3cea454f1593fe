/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/workload.h"

#include <stddef.h>

const char *const gl_schedule_names[] = {"gpipe", "1f1b", "interleaved", NULL};
const char *const gl_recompute_names[] = {"none", "selective", "full", NULL};
const char *const gl_cp_methods[] = {"ring", "allgather", "ulysses", NULL};
const char *const gl_axis_names[] = {"tp", "cp", "dp", "pp", NULL};

static const double mebibyte = 1024.0 * 1024.0;

static gl_model default_model(void)
{
    return (gl_model){
        .name = "model",
        .gated_mlp = true,
        .fused_weights = true,
        .biases = GL_BIASES_NONE,
        .norms = GL_NORMS_RMSNORM,
        .attention = {.kind = GL_ATTENTION_GQA},
        .moe = {.every = 1, .capacity = 1, .imbalance = 1},
    };
}

static gl_parallel default_parallel(void)
{
    return (gl_parallel){
        .dp = 1,
        .tp = 1,
        .pp = 1,
        .cp = 1,
        .ep = 1,
        .schedule = GL_SCHEDULE_1F1B,
        .virtual_stages = 1,
        .recompute = GL_RECOMPUTE_NONE,
        .sp_regather = true,
        .reshard = true,
        .reduce_scatter = true,
        .accumulate = true,
        .cp_method = GL_CP_RING,
        .cp_balanced = true,
        .vocab_parallel = true,
        .order = {GL_AXIS_TP, GL_AXIS_CP, GL_AXIS_DP, GL_AXIS_PP},
    };
}

gl_workload gl_workload_defaults(void)
{
    return (gl_workload){
        .model = default_model(),
        .parallel = default_parallel(),
        .batch = {.micro = 1},
        .precision = {.compute = GL_BF16,
                      .gradients = GL_FP32,
                      .optimizer = GL_FP32,
                      .master = GL_FP32},
        .buckets = {.gradient_bytes = 25 * mebibyte, .first_bytes = mebibyte, .compression = 1},
        .optimizer = {.clipping = true},
        .overlap = {.dp = true, .pp = true, .cp = true, .zero3_prefetch = true},
        .target_exposed_frac = 0.10,
    };
}

int64_t gl_workload_ranks(const gl_workload *workload)
{
    const gl_parallel *p = &workload->parallel;
    return (int64_t)p->tp * p->cp * p->dp * p->pp;
}

int64_t gl_workload_microbatches(const gl_workload *workload)
{
    int64_t replica_batch = (int64_t)workload->batch.micro * workload->parallel.dp;
    int64_t global = workload->batch.global != 0 ? workload->batch.global : replica_batch;
    if (replica_batch <= 0 || global % replica_batch != 0)
        return 0;
    return global / replica_batch;
}

gl_dtype gl_activation_type(const gl_precision *precision)
{
    if (precision->activations != GL_DTYPE_NONE)
        return precision->activations;
    return precision->compute == GL_FP8 ? GL_BF16 : precision->compute;
}

double gl_workload_step_sequences(const gl_workload *w)
{
    return (double)gl_workload_microbatches(w) * w->batch.micro * w->parallel.dp;
}

double gl_workload_step_tokens(const gl_workload *w)
{
    return gl_workload_step_sequences(w) * w->model.sequence;
}

double gl_zero_ranks(const gl_parallel *p, bool experts)
{
    double replicas = (double)p->dp * p->cp;
    if (experts && p->ep > 1)
        return replicas / p->ep;
    return p->zero > 0 && p->shard > 0 ? p->shard : replicas;
}

double gl_copied_gradients(const gl_workload *workload, double dense, double experts)
{
    const gl_parallel *p = &workload->parallel;
    const gl_precision *types = &workload->precision;
    int64_t replicas = (int64_t)p->dp * p->cp;
    if (p->zero > 0 || replicas == 1 || types->gradients != types->compute)
        return 0;
    return dense + (replicas > p->ep ? experts : 0);
}

bool gl_model_has_architecture(const gl_model *model)
{
    return model->layers > 0;
}
