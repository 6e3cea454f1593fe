/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formulas, symbols and what they were checked against: docs/models/compute.md. */
#include "planner/core/compute.h"
#include "planner/core/gemm.h"

#include <math.h>

/* Kernels of an eager framework write intermediates that a fused kernel would keep in registers:
 * element-wise bytes are counted this many times (assumed, from unfused PyTorch blocks). */
static const double EAGER_TRAFFIC = 1.5;
/* Attention kernels reach s/(s + this) of their rate for long sequences: blocks on the diagonal are
 * masked in part, and few rows do not fill the chip. After the curves of the FlashAttention-2 and
 * -3 papers between 1k and 16k tokens; the catalogue's shares are those at 4k. */
static const double ATTENTION_RAMP_TOKENS = 512, ATTENTION_CATALOGUE_TOKENS = 4096;
/* Flash attention's backward does 5 matrix products where forward does 2 (Dao 2022). */
static const double ATTENTION_BACKWARD = 2.5;
/* Sigma of the operator model beside the ranges of efficiencies (assumed). With rates that were
 * measured on the machine it errs to both sides alike; with those of the catalogue real runs are
 * more often slower: older libraries, hosts that do not keep up, stragglers. The published runs of
 * data/validation say how much more (their intervals are therefore not independent of them). */
static const double MODEL_ERROR_FRAC = 0.05, MODEL_SLOWER_FRAC = 0.14;
static const double STATED_ERROR_FRAC = 0.02;

enum { HEAD_ALIGNED_BYTES = 16 };

typedef struct builder {
    const gl_workload *workload;
    const gl_gpu *gpu;
    gl_gemm_rates rates; /* of the compute type, but for the LM head */
    gl_accumulation accumulation;
    gl_compute *out;
    gl_arena *arena;
    size_t capacity;
    gl_block_kind block;
    double tokens;      /* of one microbatch on one rank */
    double norm_tokens; /* where sequence parallelism splits the norms */
    double tp;
    double elementwise_traffic;    /* bytes moved per byte that must be */
    const gl_figure *attention[2]; /* efficiency forward and backward; NULL without a GPU */
    double attention_flop_per_s, attention_backward_flop_per_s;
} builder;

static gl_operator *add(builder *b, const char *name, const gl_figure *efficiency, int kernels)
{
    b->out->operators = gl_arena_grow(b->arena, b->out->operators, &b->capacity,
                                      b->out->operator_count + 1, sizeof(gl_operator));
    gl_operator *o = &b->out->operators[b->out->operator_count++];
    *o = (gl_operator){
        .block = b->block, .name = name, .efficiency = efficiency, .kernels = kernels};
    return o;
}

/* `count` equal GEMMs of [m,k]·[k,n]: backward has one for the input and one for the weight. */
static void add_gemm(builder *b, const char *name, double count, double m, double n, double k)
{
    gl_operator *o = add(b, name, b->rates.efficiency, (int)count);
    o->count = count;
    o->m = m;
    o->n = n;
    o->k = k;
    o->shape_share = gl_gemm_shape_share(b->gpu, m, n, k, b->rates.operand_bytes);
    o->forward_cast_s = count * gl_gemm_cast_s(&b->rates, m * k);
    o->forward_flop = count * 2 * m * n * k;
    o->backward_flop = 2 * o->forward_flop;
    o->forward_bytes =
        count * (m * n * b->rates.result_bytes + (m * k + n * k) * b->rates.operand_bytes);
    o->backward_bytes = 2 * o->forward_bytes + count * n * k * 2 * b->accumulation.in_product_bytes;
    o->forward_s = count * gl_gemm_s(&b->rates, m, n, k) + o->forward_cast_s;
    o->backward_s = count * (gl_gemm_s(&b->rates, m, k, n) +
                             gl_gemm_weight_gradient_s(&b->rates, &b->accumulation, n, k, m) +
                             gl_gemm_cast_s(&b->rates, m * n));
}

/* Element-wise work: bytes over device memory, about twice as many in backward. */
static void add_bytes(builder *b, const char *name, double bytes, double backward_bytes,
                      int kernels)
{
    const gl_figure *efficiency = b->gpu != NULL ? &b->gpu->memory_efficiency : NULL;
    gl_operator *o = add(b, name, efficiency, kernels);
    o->forward_bytes = bytes * b->elementwise_traffic;
    o->backward_bytes = backward_bytes * b->elementwise_traffic;
    o->forward_s = o->forward_bytes / b->rates.memory_bytes_per_s + kernels * b->rates.launch_s;
    o->backward_s =
        o->backward_bytes / b->rates.memory_bytes_per_s + 2 * kernels * b->rates.launch_s;
}

/* Tokens that a token attends to, on average, under a causal mask (and a window). */
static double mean_context(const gl_model *m)
{
    double s = m->sequence, w = m->attention.window;
    return w > 0 && w < s ? w - w * w / (2 * s) : s / 2;
}

/* With contiguous parts of a sequence the last of c ranks attends to s·(2c−1)/2c tokens on average,
 * and the others wait for it. */
static double slowest_context(const gl_workload *w)
{
    double context = mean_context(&w->model), c = w->parallel.cp;
    return w->parallel.cp_balanced ? context : context * (2 * c - 1) / c;
}

static const gl_figure *first_known(const gl_figure *a, const gl_figure *b, const gl_figure *c)
{
    if (a->kind != GL_FIGURE_ABSENT)
        return a;
    return b->kind != GL_FIGURE_ABSENT ? b : c;
}

/* Forward and backward share of the peak with the kernel in use; an older one that the catalogue
 * does not tell apart is as good as the next. */
static void choose_attention(const gl_gpu *g, gl_attention_kernel kernel, const gl_figure *out[2])
{
    out[0] = &g->attention_efficiency;
    out[1] = &g->attention_backward_efficiency;
    if (kernel == GL_ATTENTION_FLASH_1) {
        out[0] = first_known(&g->flash1_efficiency, &g->flash2_efficiency, out[0]);
        out[1] =
            first_known(&g->flash1_backward_efficiency, &g->flash2_backward_efficiency, out[1]);
    } else if (kernel == GL_ATTENTION_FLASH_2) {
        out[0] = first_known(&g->flash2_efficiency, out[0], out[0]);
        out[1] = first_known(&g->flash2_backward_efficiency, out[1], out[1]);
    }
}

static double attention_ramp(double tokens)
{
    double ramp = tokens / (tokens + ATTENTION_RAMP_TOKENS);
    return ramp * (1 + ATTENTION_RAMP_TOKENS / ATTENTION_CATALOGUE_TOKENS);
}

/* One fused kernel: the scores stay on the chip, and what the mask hides is skipped. */
static void time_flash(const builder *b, double heads, double qk_dim, double v_dim, gl_operator *o)
{
    o->forward_flop = 2 * b->tokens * slowest_context(b->workload) * heads * (qk_dim + v_dim);
    o->backward_flop = ATTENTION_BACKWARD * o->forward_flop;
    o->backward_efficiency = b->attention[1];
    double ramp = o->attention_ramp = attention_ramp(b->tokens / b->workload->batch.micro);
    o->forward_s = o->forward_flop / (b->attention_flop_per_s * ramp) + b->rates.launch_s;
    o->backward_s =
        o->backward_flop / (b->attention_backward_flop_per_s * ramp) + 3 * b->rates.launch_s;
}

/* A product of the unfused core. The batched products of that time's cuBLAS (CUDA 11) leave the
 * tensor cores when heads do not start at 16 bytes, and multiply at the FP32 rate: of BLOOM's
 * sweeps over the number of heads those with 108 and 150 wide heads took a third longer. */
static double unfused_product_s(const builder *b, double m, double n, double k, double width)
{
    const gl_figure *fp32 = b->gpu != NULL ? &b->gpu->fp32_flop_per_s : NULL;
    if (fmod(width * b->rates.operand_bytes, HEAD_ALIGNED_BYTES) == 0 || fp32 == NULL ||
        fp32->kind == GL_FIGURE_ABSENT)
        return gl_gemm_s(&b->rates, m, n, k);
    return 2 * m * n * k / (fp32->value * b->rates.efficiency->value) + b->rates.launch_s;
}

/*
 * Batched GEMMs over all of the square, and between them kernels that stream the scores
 * (Korthikanti et al., arXiv 2205.05198, figure 3): softmax reads and writes them, dropout too and
 * makes a mask of a byte; backward reads the mask and what softmax gave. The GEMMs of all heads run
 * as one.
 */
static void time_unfused(const builder *b, double heads, double qk_dim, double v_dim,
                         gl_operator *o)
{
    double rows = b->tokens * heads, s = b->workload->model.sequence, e = b->rates.result_bytes;
    double up = unfused_product_s(b, rows, s, qk_dim, qk_dim);
    double down = unfused_product_s(b, rows, v_dim, s, v_dim);
    o->forward_flop = 2 * rows * s * (qk_dim + v_dim);
    o->backward_flop = 2 * o->forward_flop;
    o->forward_bytes = rows * s * (6 * e + 1);
    o->backward_bytes = rows * s * (9 * e + 1);
    o->forward_s =
        up + down + rows * s * (4 * e + 1) / b->rates.memory_bytes_per_s + 2 * b->rates.launch_s;
    o->backward_s = unfused_product_s(b, rows, s, v_dim, v_dim) + down +
                    2 * unfused_product_s(b, rows, qk_dim, s, qk_dim) +
                    rows * s * (5 * e + 1) / b->rates.memory_bytes_per_s + 2 * b->rates.launch_s;
}

/* Heads of this rank; widths of one. */
static void add_attention_core(builder *b, double heads, double qk_dim, double v_dim)
{
    bool flash = b->workload->kernels.attention != GL_ATTENTION_UNFUSED;
    const gl_figure *efficiency = NULL;
    if (b->gpu != NULL)
        efficiency = flash ? b->attention[0] : &b->gpu->memory_efficiency;
    gl_operator *o = add(b, "attention core", efficiency, 1);
    if (flash)
        time_flash(b, heads, qk_dim, v_dim, o);
    else
        time_unfused(b, heads, qk_dim, v_dim, o);
    if (b->workload->parallel.recompute == GL_RECOMPUTE_SELECTIVE)
        o->backward_s += o->forward_s;
}

static void add_gqa(builder *b, double heads, double kv_heads)
{
    const gl_model *m = &b->workload->model;
    double q = heads * m->head_dim, kv = kv_heads * m->head_dim, t = b->tokens;
    add_gemm(b, "qkv", 1, t, q + 2 * kv, m->hidden);
    if (m->learned_positions == 0)
        add_bytes(b, "rotary positions", 2 * t * (q + kv) * b->rates.result_bytes,
                  4 * t * (q + kv) * b->rates.result_bytes, 2);
    add_attention_core(b, heads, m->head_dim, m->head_dim);
    add_gemm(b, "attention output", 1, t, m->hidden, q);
}

static void add_mla(builder *b, double heads)
{
    const gl_model *m = &b->workload->model;
    const gl_attention *a = &m->attention;
    double t = b->tokens, qk = a->qk_nope + a->qk_rope;
    if (a->q_lora > 0) {
        add_gemm(b, "q down", 1, t, a->q_lora, m->hidden);
        add_gemm(b, "q up", 1, t, heads * qk, a->q_lora);
    } else {
        add_gemm(b, "q", 1, t, heads * qk, m->hidden);
    }
    add_gemm(b, "kv down", 1, t, a->kv_lora + a->qk_rope, m->hidden);
    add_gemm(b, "kv up", 1, t, heads * (a->qk_nope + a->v_head), a->kv_lora);
    double bytes = t * (2 * heads * a->qk_rope + 2 * heads * qk) * b->rates.result_bytes;
    add_bytes(b, "rotary positions and joining", bytes, 2 * bytes, 4);
    add_attention_core(b, heads, qk, a->v_head);
    add_gemm(b, "attention output", 1, t, m->hidden, heads * a->v_head);
}

static void add_attention(builder *b)
{
    const gl_model *m = &b->workload->model;
    double heads = m->heads / b->tp, kv = fmax(1, m->kv_heads / b->tp);
    if (m->attention.kind == GL_ATTENTION_MLA)
        add_mla(b, heads);
    else
        add_gqa(b, heads, kv);
    double norm = b->norm_tokens * m->hidden * b->rates.result_bytes;
    /* Two norms (read, write) and two residual additions (read two, write one). */
    add_bytes(b, "norms and residuals", 10 * norm, 20 * norm, 6);
}

/* One feed-forward of `ffn` columns over `tokens` rows, `count` times (experts). */
static void add_ffn(builder *b, const char *up, const char *down, const char *activation,
                    double count, double tokens, double ffn)
{
    const gl_model *m = &b->workload->model;
    double columns = m->gated_mlp ? 2 * ffn : ffn;
    add_gemm(b, up, count, tokens, columns, m->hidden);
    add_gemm(b, down, count, tokens, m->hidden, ffn);
    /* Gated: activation (read, write), product (read two, write one); plain: read, write. */
    double bytes = count * tokens * ffn * (m->gated_mlp ? 5 : 2) * b->rates.result_bytes;
    add_bytes(b, activation, bytes, 2 * bytes, m->gated_mlp ? 2 : 1);
}

static void add_dense_layer(builder *b)
{
    add_attention(b);
    add_ffn(b, "MLP up", "MLP down", "MLP activation", 1, b->tokens,
            b->workload->model.ffn / b->tp);
}

static void add_moe_layer(builder *b)
{
    const gl_model *m = &b->workload->model;
    const gl_moe *moe = &m->moe;
    add_attention(b);
    add_gemm(b, "router", 1, b->tokens, moe->experts, m->hidden);
    /* The hottest rank decides: imbalance multiplies what it computes. */
    double routed = b->tokens * moe->top_k * moe->capacity * moe->imbalance;
    double local_experts = (double)moe->experts / b->workload->parallel.ep;
    double bytes = 6 * routed * m->hidden * b->rates.result_bytes;
    add_bytes(b, "token permutation", bytes, bytes, 12);
    add_ffn(b, "experts up", "experts down", "experts activation", local_experts,
            routed / local_experts, moe->expert_ffn / b->tp);
    if (moe->shared_ffn > 0)
        add_ffn(b, "shared expert up", "shared expert down", "shared expert activation", 1,
                b->tokens, moe->shared_ffn / b->tp);
}

static void add_embedding(builder *b)
{
    double bytes = b->tokens * b->workload->model.hidden * b->rates.result_bytes;
    add_bytes(b, "embedding", 2 * bytes, 4 * bytes, 1);
}

static void add_head(builder *b)
{
    const gl_model *m = &b->workload->model;
    double columns = b->workload->parallel.vocab_parallel ? m->vocab / b->tp : m->vocab;
    double norm = b->norm_tokens * m->hidden * b->rates.result_bytes;
    add_bytes(b, "final norm", 2 * norm, 4 * norm, 1);
    gl_dtype dtype = b->workload->precision.compute;
    gl_gemm_set_type(&b->rates,
                     dtype == GL_FP8 ? GL_BF16 : dtype); /* FP8 training leaves the head out */
    add_gemm(b, "LM head", 1, b->tokens, columns, m->hidden);
    gl_gemm_set_type(&b->rates, dtype);
    /* Loss: logits read, written as FP32, softmax read and written; the same way back. In one
     * kernel: logits read; back, read and replaced by their gradients. */
    bool fused = b->workload->kernels.elementwise == GL_ELEMENTWISE_FUSED;
    double logits = b->tokens * columns, e = b->rates.result_bytes;
    double loss = logits * (fused ? e : e + 3 * 4);
    add_bytes(b, "loss", loss, fused ? 2 * loss : loss, fused ? 1 : 5);
}

/* Everything in one: 2 FLOPs per parameter and token forward, twice that backward. */
static void add_counted(builder *b, double parameters)
{
    gl_operator *o =
        add(b, "all matrix products (from the parameter count)", b->rates.efficiency, 1);
    o->forward_flop = 2 * parameters * b->tokens;
    o->backward_flop = 2 * o->forward_flop;
    o->forward_s = o->forward_flop / b->rates.flop_per_s;
    o->backward_s = o->backward_flop / b->rates.flop_per_s;
}

/* What adding up the gradients of microbatches costs: in the product's own kernel, or in another
 * one that reads what the product gave. FSDP adds up shards, which is nothing. */
static void set_accumulation(builder *b)
{
    const gl_workload *w = b->workload;
    const gl_precision *p = &w->precision;
    bool other_type = p->gradients != (p->compute == GL_FP8 ? GL_BF16 : p->compute);
    if (w->parallel.zero == 3 || (!other_type && gl_workload_microbatches(w) <= 1))
        return;
    double gradient = gl_dtype_bytes(p->gradients);
    if (other_type && w->kernels.elementwise == GL_ELEMENTWISE_FUSED)
        b->accumulation.in_product_bytes = gradient;
    else
        b->accumulation.apart_bytes = b->rates.result_bytes + 2 * gradient;
}

static void set_rates(builder *b)
{
    const gl_gpu *g = b->gpu;
    const gl_kernels *kernels = &b->workload->kernels;
    gl_dtype dtype = b->workload->precision.compute;
    b->elementwise_traffic = kernels->elementwise == GL_ELEMENTWISE_EAGER ? EAGER_TRAFFIC : 1;
    b->rates.gpu = g;
    gl_gemm_set_type(&b->rates, dtype);
    set_accumulation(b);
    if (g == NULL) {
        /* Only the proportions count: the user stated the time. */
        b->rates.flop_per_s = b->attention_flop_per_s = b->attention_backward_flop_per_s = 1e15;
        b->rates.memory_bytes_per_s = (double)INFINITY;
        return;
    }
    choose_attention(g, kernels->attention, b->attention);
    double attention_peak = gl_peak_flop_per_s(g, dtype == GL_FP8 ? GL_BF16 : dtype);
    b->attention_flop_per_s = attention_peak * b->attention[0]->value;
    b->attention_backward_flop_per_s = attention_peak * b->attention[1]->value;
    b->rates.memory_bytes_per_s = g->memory_bw_bytes_per_s.value * g->memory_efficiency.value;
    b->rates.launch_s = gl_kernel_launch_s(b->workload, g);
}

static void sum_blocks(const gl_workload *w, gl_compute *out)
{
    for (size_t i = 0; i < out->operator_count; i++) {
        gl_operator *o = &out->operators[i];
        bool layer = o->block == GL_BLOCK_DENSE || o->block == GL_BLOCK_MOE;
        if (w->parallel.recompute == GL_RECOMPUTE_FULL && layer)
            o->backward_s += o->forward_s;
        out->forward_s[o->block] += o->forward_s;
        out->backward_s[o->block] += o->backward_s;
    }
}

static void build_operators(builder *b, const gl_parameters *parameters)
{
    if (!gl_model_has_architecture(&b->workload->model)) {
        b->block = GL_BLOCK_DENSE;
        add_counted(b, (double)parameters->total);
        return;
    }
    static void (*const builders[GL_BLOCK_KIND_COUNT])(builder *) = {
        [GL_BLOCK_EMBEDDING] = add_embedding,
        [GL_BLOCK_DENSE] = add_dense_layer,
        [GL_BLOCK_MOE] = add_moe_layer,
        [GL_BLOCK_HEAD] = add_head,
    };
    for (int kind = 0; kind < GL_BLOCK_KIND_COUNT; kind++) {
        b->block = (gl_block_kind)kind;
        if (kind != GL_BLOCK_MOE || b->workload->model.moe.experts > 0)
            builders[kind](b);
    }
}

/*
 * Model FLOPs of one token, forward and backward, without recomputation: 6 for each active
 * parameter that multiplies (input embedding excluded, LM head included also when tied) and 3 times
 * the causal half of the attention products. Printed MFU follows this count.
 */
static double model_flop_per_token(const gl_model *m, const gl_parameters *parameters)
{
    if (!gl_model_has_architecture(m))
        return 6 * (double)parameters->total;
    double table = (double)m->vocab * m->hidden;
    double multiplying = (double)parameters->active -
                         (double)parameters->blocks[GL_BLOCK_EMBEDDING].elements +
                         (m->tied_embeddings ? table : 0);
    double width =
        m->attention.kind == GL_ATTENTION_MLA
            ? (double)m->heads * (m->attention.qk_nope + m->attention.qk_rope + m->attention.v_head)
            : 2.0 * m->heads * m->head_dim;
    return 6 * multiplying + 3 * 2 * m->layers * width * mean_context(m);
}

static int blocks_of_kind(const gl_model *m, gl_block_kind kind)
{
    int count = kind == GL_BLOCK_EMBEDDING || kind == GL_BLOCK_HEAD;
    for (int layer = 0; layer < m->layers; layer++)
        count += gl_layer_kind(m, layer) == kind;
    return m->layers > 0 ? count : 1;
}

/* Each efficiency errs alone, on the share of all compute that stands and falls with it. */
static double catalogue_error(const builder *b)
{
    const gl_figure *figures[] = {b->rates.efficiency, b->attention[0], &b->gpu->memory_efficiency};
    enum { FIGURES = sizeof figures / sizeof figures[0] };
    double part_s[FIGURES] = {0}, sum_s = 0, error = 0;
    int blocks[GL_BLOCK_KIND_COUNT];
    for (int kind = 0; kind < GL_BLOCK_KIND_COUNT; kind++)
        blocks[kind] = blocks_of_kind(&b->workload->model, (gl_block_kind)kind);
    for (size_t i = 0; i < b->out->operator_count; i++) {
        const gl_operator *o = &b->out->operators[i];
        double s = blocks[o->block] * (o->forward_s + o->backward_s);
        sum_s += s;
        for (int f = 0; f < FIGURES; f++)
            part_s[f] += o->efficiency == figures[f] ? s : 0;
    }
    for (int f = 0; f < FIGURES && sum_s > 0; f++) {
        error = hypot(error, part_s[f] / sum_s * gl_figure_sigma(figures[f]));
    }
    return error;
}

void gl_compute_build(const gl_workload *workload, const gl_parameters *parameters,
                      const gl_cluster *cluster, gl_arena *arena, gl_compute *out)
{
    const gl_model *m = &workload->model;
    const gl_parallel *p = &workload->parallel;
    bool stated = workload->compute.step_s > 0 || workload->compute.mfu_frac > 0;
    *out = (gl_compute){.model_flop_per_token = model_flop_per_token(m, parameters)};
    builder b = {.workload = workload, .gpu = cluster->gpu, .out = out, .arena = arena};
    b.tp = p->tp;
    /* Without a sequence length only proportions can be told, and only a stated time used. */
    double sequence = m->sequence > 0 ? m->sequence : 1;
    b.tokens = (double)workload->batch.micro * sequence / p->cp;
    b.norm_tokens = p->sequence_parallel ? b.tokens / b.tp : b.tokens;
    out->known = workload->compute.step_s > 0 || (m->sequence > 0 && cluster->gpu != NULL);
    if (!out->known)
        return;
    set_rates(&b);
    build_operators(&b, parameters);
    sum_blocks(workload, out);
    out->evidence = stated ? GL_EVIDENCE_STATED : GL_EVIDENCE_CATALOGUE;
    out->error_frac = stated ? STATED_ERROR_FRAC : catalogue_error(&b);
    out->model_faster_frac = stated ? 0 : MODEL_ERROR_FRAC;
    out->model_slower_frac = cluster->compute_count > 0 ? out->model_faster_frac
                             : stated                   ? 0
                                                        : MODEL_SLOWER_FRAC;
}
