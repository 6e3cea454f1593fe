/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activations follow Korthikanti et al. (arXiv 2205.05198): every tensor that backward needs is
 * counted once, per token and per layer. Flash attention keeps no scores, so there their term
 * 5·a·s/h is absent and selective recomputation (of just these) changes nothing. No dropout masks
 * but those of unfused scores.
 */
#include "planner/core/memory.h"

#include <math.h>

/* Fragmentation of the allocator and what no model sees. */
static const double reserve_frac = 0.06;

/*
 * What the libraries hold outside of the framework's allocator; both are properties of software,
 * not of a GPU. A CUDA context with the kernels of a framework loaded takes about half a GiB. NCCL
 * has buffers of NCCL_BUFFSIZE = 4 MiB (its documented default) for sending and for receiving in
 * each of up to 32 channels.
 */
static const double context_bytes = 512.0 * 1024 * 1024;
static const double nccl_bytes = 2 * 32 * 4.0 * 1024 * 1024;

typedef struct estimate {
    const gl_workload *workload;
    const gl_parameters *parameters;
    const gl_stage *stage;
    double dense, experts; /* elements on one rank of the stage */
    double tokens;         /* s·b/c */
    double outside;        /* share of the tokens held where TP does not split: 1/t with SP */
    double element_bytes;  /* of an activation */
    int64_t microbatches;
} estimate;

/* ---- weights ---- */

/* Elements of a rank when they are sharded from a ZeRO stage on. */
static double held(const estimate *e, int from_zero_stage)
{
    const gl_parallel *p = &e->workload->parallel;
    if (p->zero < from_zero_stage)
        return e->dense + e->experts;
    return e->dense / gl_zero_ranks(p, false) + e->experts / gl_zero_ranks(p, true);
}

/* ZeRO-3 as FSDP does it: with master weights the shards are kept in the master's type only, and
 * cast when they are gathered. */
static double parameters_bytes(const estimate *e)
{
    const gl_precision *types = &e->workload->precision;
    bool master_only = e->workload->parallel.zero == 3 && types->master != GL_DTYPE_NONE;
    return held(e, 3) * gl_dtype_bytes(master_only ? types->master : types->compute);
}

/* ZeRO-2 keeps a shard only where each microbatch reduces its gradients: what is accumulated is
 * whole until the last one. */
static double gradients_bytes(const estimate *e)
{
    const gl_parallel *p = &e->workload->parallel;
    bool whole = p->zero == 2 && p->accumulate && e->microbatches > 1;
    return held(e, whole ? 3 : 2) * gl_dtype_bytes(e->workload->precision.gradients);
}

/* Adam: two moments, and the master weights. */
static double optimizer_bytes(const estimate *e)
{
    const gl_precision *types = &e->workload->precision;
    double master = e->workload->parallel.zero == 3 ? 0 : gl_dtype_bytes(types->master);
    return held(e, 1) * (2 * gl_dtype_bytes(types->optimizer) + master);
}

/* ---- activations ---- */

/* Bytes per token of an MLP: the first GEMM's output, then what the second one reads, and with a
 * gate also the activated gate. */
static double mlp_width(const gl_model *model, double ffn, int tp)
{
    return (model->gated_mlp ? 4 : 2) * ffn / tp;
}

/* Tokens as sent to their experts and as they come back, and the experts' inner tensors; of the
 * rank with the most tokens. The router's scores and probabilities are fp32. */
static double moe_bytes(const estimate *e)
{
    const gl_model *m = &e->workload->model;
    const gl_moe *moe = &m->moe;
    int tp = e->workload->parallel.tp;
    double copies = moe->top_k * moe->capacity * moe->imbalance;
    double routed = copies * (2.0 * m->hidden + mlp_width(m, moe->expert_ffn, tp));
    double shared = mlp_width(m, moe->shared_ffn, tp);
    return e->element_bytes * (routed + shared) + 2.0 * 4 * moe->experts;
}

/* Q, K and V twice, as projected and as the attention kernel reads them (rotated, by heads); with
 * learned positions once. */
static double attention_width(const estimate *e)
{
    const gl_model *m = &e->workload->model;
    const gl_parallel *p = &e->workload->parallel;
    gl_attention_widths given = gl_local_attention_widths(m, p->tp);
    gl_attention_widths w = gl_core_attention_widths(e->workload);
    double width = (double)(w.q + w.k + w.v + w.output);
    if (m->learned_positions == 0)
        width += (double)(given.q + given.k + given.v);
    if (m->attention.kind == GL_ATTENTION_MLA)
        width += m->attention.q_lora + 2.0 * m->attention.kv_lora + m->attention.qk_rope;
    if (p->cp_method == GL_CP_ALLGATHER)
        width += (p->cp - 1) * (double)(w.k + w.v);
    return width;
}

/* Per token of one layer, without a fused kernel: what softmax and dropout give and the mask. */
static double scores_bytes(const estimate *e)
{
    const gl_model *m = &e->workload->model;
    if (e->workload->kernels.attention != GL_ATTENTION_UNFUSED)
        return 0;
    return (double)m->heads / e->workload->parallel.tp * m->sequence * (2 * e->element_bytes + 1);
}

/* Per token of one layer: the inputs of both norms, their outputs (whole when SP does not gather
 * them again in backward), attention and MLP. */
static double layer_bytes(const estimate *e, gl_block_kind kind)
{
    const gl_model *m = &e->workload->model;
    const gl_parallel *p = &e->workload->parallel;
    double normed = p->sp_regather ? e->outside : 1;
    double width = 2 * m->hidden * (e->outside + normed) + attention_width(e);
    double scores = p->recompute == GL_RECOMPUTE_SELECTIVE ? 0 : scores_bytes(e);
    if (kind == GL_BLOCK_MOE)
        return e->element_bytes * width + scores + moe_bytes(e);
    return e->element_bytes * (width + mlp_width(m, m->ffn, p->tp)) + scores;
}

/* The largest layer of the stage: what recomputation brings back, what is left at the end. */
static double working_bytes(const estimate *e)
{
    double dense = e->stage->dense_layers > 0 ? layer_bytes(e, GL_BLOCK_DENSE) : 0;
    double moe = e->stage->moe_layers > 0 ? layer_bytes(e, GL_BLOCK_MOE) : 0;
    return e->tokens * fmax(dense, moe);
}

/* Of all layers of the stage, one microbatch. Full recomputation keeps the layers' inputs. */
static double stage_bytes(const estimate *e)
{
    const gl_workload *w = e->workload;
    if (w->parallel.recompute == GL_RECOMPUTE_FULL)
        return e->tokens * e->outside * e->element_bytes * w->model.hidden * e->stage->layers;
    double dense =
        e->stage->dense_layers > 0 ? e->stage->dense_layers * layer_bytes(e, GL_BLOCK_DENSE) : 0;
    double moe = e->stage->moe_layers > 0 ? e->stage->moe_layers * layer_bytes(e, GL_BLOCK_MOE) : 0;
    return e->tokens * (dense + moe);
}

/*
 * Microbatches, or chunks of them, that wait for their backward. 1F1B: as many as stages follow,
 * this one included. Interleaved (arXiv 2205.05198, section 4.2.3): the warm-up of Megatron's
 * schedule and one more, which makes p·(1 + (p−1)/(p·v)) microbatches on the first stage.
 */
static int in_flight(const estimate *e)
{
    const gl_parallel *p = &e->workload->parallel;
    int64_t v = gl_parallel_chunks(p), m = e->microbatches, after = p->pp - e->stage->index;
    int64_t most = m * v, wanted = after;
    if (p->schedule == GL_SCHEDULE_GPIPE || p->pp == 1)
        wanted = p->pp == 1 ? v : m;
    else if (v > 1)
        wanted = 2 * (after - 1) + (v - 1) * p->pp + 1;
    return (int)(wanted < most ? wanted : most);
}

static double activations_bytes(const estimate *e, int waiting)
{
    const gl_parallel *p = &e->workload->parallel;
    double bytes = stage_bytes(e) * waiting / gl_parallel_chunks(p);
    if (p->recompute == GL_RECOMPUTE_FULL)
        bytes += working_bytes(e);
    if (p->recompute == GL_RECOMPUTE_SELECTIVE && e->stage->layers > 0)
        bytes += e->tokens * scores_bytes(e); /* of the layer that is being recomputed */
    if (e->stage->has_head)                   /* in and out of the final norm */
        bytes += 2 * e->tokens * e->outside * e->element_bytes * e->workload->model.hidden;
    return bytes;
}

/*
 * Logits, their fp32 copy, and the log-probabilities that a framework's loss keeps. A vocabulary
 * split over TP has Megatron's own loss, which works in place on the copy; a vocabulary on every
 * rank serves just the rank's tokens.
 */
static double logits_bytes(const estimate *e)
{
    const gl_workload *w = e->workload;
    if (!e->stage->has_head)
        return 0;
    bool split = w->parallel.vocab_parallel && w->parallel.tp > 1;
    if (split)
        return e->tokens * w->model.vocab / w->parallel.tp * (e->element_bytes + 4);
    return e->tokens * e->outside * w->model.vocab * (e->element_bytes + 2 * 4);
}

/* ---- buffers ---- */

/* ZeRO-3: the root and two layers (one in use, one on its way), or all that is not put back. */
static double gathered_bytes(const estimate *e)
{
    const gl_parallel *p = &e->workload->parallel;
    double root = 0, layer = 0;
    if (p->zero < 3 || p->dp * p->cp == 1)
        return 0;
    for (int i = 0; i < e->stage->block_count; i++) {
        gl_block_kind kind = e->stage->sequence[i];
        double elements = (double)e->parameters->blocks[kind].local_elements;
        if (kind == GL_BLOCK_EMBEDDING || kind == GL_BLOCK_HEAD)
            root += elements;
        else
            layer = fmax(layer, elements);
    }
    double layers = p->reshard ? fmin(2, e->stage->layers) : e->stage->layers;
    if (!e->parameters->exact)
        layers = 1;
    return (root + layers * layer) * gl_dtype_bytes(e->workload->precision.compute);
}

static double bucket_bytes(const estimate *e)
{
    return gl_copied_gradients(e->workload, e->dense, e->experts) *
           gl_dtype_bytes(e->workload->precision.gradients);
}

/* Are gradients freed after each step and made anew in backward? */
static bool gradients_are_transient(const estimate *e)
{
    const gl_workload *w = e->workload;
    if (e->microbatches > 1)
        return false;
    if (w->parallel.zero == 3)
        return true;
    bool own_type = w->precision.gradients != w->precision.compute;
    bool ddp = w->parallel.dp * w->parallel.cp > 1 && !isinf(w->buckets.gradient_bytes);
    return w->parallel.zero == 0 && !own_type && !ddp;
}

/* ---- the whole ---- */

/* What of gradients, activations, logits and one message with all gradients is there at once. */
static double varying_bytes(const estimate *e, const gl_memory *m, double buckets)
{
    double activations = (e->parameters->exact ? m->activations_bytes : 0) + m->logits_bytes;
    bool after_backward = isinf(e->workload->buckets.gradient_bytes);
    double late = after_backward ? buckets : 0, always = after_backward ? 0 : buckets;
    if (!gradients_are_transient(e))
        return m->gradients_bytes + always + fmax(activations, late);
    double last_layer = e->parameters->exact ? working_bytes(e) : 0;
    return always + fmax(activations, m->gradients_bytes + fmax(late, last_layer));
}

static estimate start(const gl_workload *workload, const gl_parameters *parameters,
                      const gl_stage *stage)
{
    const gl_parallel *p = &workload->parallel;
    int64_t experts;
    int64_t elements = gl_stage_elements(parameters, stage, &experts);
    return (estimate){
        .workload = workload,
        .parameters = parameters,
        .stage = stage,
        .dense = (double)(elements - experts),
        .experts = (double)experts,
        .tokens = (double)workload->model.sequence * workload->batch.micro / p->cp,
        .outside = p->sequence_parallel ? 1.0 / p->tp : 1,
        /* FP8 GEMMs cast their inputs; what is kept is mostly 16 bits wide. */
        .element_bytes = fmax(2, gl_dtype_bytes(workload->precision.compute)),
        .microbatches = gl_workload_microbatches(workload),
    };
}

void gl_memory_estimate(const gl_workload *workload, const gl_parameters *parameters,
                        const gl_stage *stage, const gl_gpu *gpu, gl_memory *out)
{
    estimate e = start(workload, parameters, stage);
    bool known = gpu != NULL && gpu->memory_bytes.kind != GL_FIGURE_ABSENT;
    double buckets = bucket_bytes(&e), gathered = gathered_bytes(&e);
    gl_memory m = {
        .parameters_bytes = parameters_bytes(&e),
        .gradients_bytes = gradients_bytes(&e),
        .optimizer_bytes = optimizer_bytes(&e),
        .activations_bytes = (double)NAN,
        .library_bytes = context_bytes + (gl_workload_ranks(workload) > 1 ? nccl_bytes : 0),
        .capacity_bytes = known ? gpu->memory_bytes.value : (double)NAN,
        .reserve_bytes = known ? reserve_frac * gpu->memory_bytes.value : 0,
        .in_flight = in_flight(&e),
    };
    if (parameters->exact) {
        m.activations_bytes = activations_bytes(&e, m.in_flight);
        m.logits_bytes = logits_bytes(&e);
    }
    m.buffers_bytes = gathered + buckets + m.library_bytes;
    double fixed = m.parameters_bytes + m.optimizer_bytes + gathered + m.library_bytes;
    double all = fixed + buckets + m.gradients_bytes + m.logits_bytes +
                 (parameters->exact ? m.activations_bytes : 0);
    double peak = fixed + varying_bytes(&e, &m, buckets);
    m.not_together_bytes = fmax(0, all - peak); /* rounding */
    m.total_bytes = peak + m.reserve_bytes;
    m.fits = !known || m.total_bytes <= m.capacity_bytes;
    m.fits_known = known && (parameters->exact || !m.fits);
    *out = m;
}

static bool same_weights(const gl_stage *a, const gl_stage *b)
{
    return a->has_embedding == b->has_embedding && a->has_head == b->has_head &&
           a->dense_layers == b->dense_layers && a->moe_layers == b->moe_layers &&
           a->block_count == b->block_count;
}

int gl_memory_fullest(const gl_workload *workload, const gl_parameters *parameters,
                      const gl_stage *stages, const gl_gpu *gpu, gl_memory *out)
{
    int fullest = 0;
    gl_memory_estimate(workload, parameters, &stages[0], gpu, out);
    for (int i = 1; i < workload->parallel.pp; i++) {
        gl_memory memory;
        /* Of equal stages the first holds most: no fewer microbatches wait there. */
        if (same_weights(&stages[i], &stages[i - 1]))
            continue;
        gl_memory_estimate(workload, parameters, &stages[i], gpu, &memory);
        if (memory.total_bytes > out->total_bytes) {
            *out = memory;
            fullest = i;
        }
    }
    return fullest;
}
