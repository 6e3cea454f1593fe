/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/parameters.h"

#include "planner/core/arithmetic.h"

/* Tensors of the largest block: MLA attention (9), norms (8), router (2), experts and shared MLP
 * (12), with a bias each. */
enum { TENSORS_MAX = 48 };

typedef struct builder {
    const gl_model *model;
    int tp, ep; /* what does not come out even is rounded up: the fullest rank is counted */
    bool vocab_parallel;
    bool head_copy; /* tied, and the last stage, which is not the first, has the table, too */
    gl_tensor tensors[TENSORS_MAX];
    size_t count;
} builder;

static void add_tensor(builder *b, const char *name, int64_t elements, int64_t local)
{
    b->tensors[b->count++] =
        (gl_tensor){.name = name, .elements = elements, .local_elements = local, .copies = 1};
}

/* A matrix and its bias (NULL: none). Column-parallel: TP splits the outputs, and the bias with
 * them. Row-parallel: TP splits the inputs; the bias is added after the reduction, on every rank.
 */
static void add_column(builder *b, const char *name, const char *bias, int64_t in, int64_t out,
                       int64_t local_out)
{
    add_tensor(b, name, in * out, in * local_out);
    if (bias != NULL)
        add_tensor(b, bias, out, local_out);
}

static void add_row(builder *b, const char *name, const char *bias, int64_t in, int64_t out)
{
    add_tensor(b, name, in * out, gl_divide_up(in, b->tp) * out);
    if (bias != NULL)
        add_tensor(b, bias, out, out);
}

static void add_norm(builder *b, const char *name, const char *bias, int64_t width)
{
    add_tensor(b, name, width, width);
    if (b->model->norms == GL_NORMS_LAYERNORM)
        add_tensor(b, bias, width, width);
}

static const char *if_all(const builder *b, const char *bias)
{
    return b->model->biases == GL_BIASES_ALL ? bias : NULL;
}

static const char *if_qkv(const builder *b, const char *bias)
{
    return b->model->biases != GL_BIASES_NONE ? bias : NULL;
}

/* K and V heads that one TP rank holds: kv_heads/tp, at least 1. */
static int local_kv_heads(const gl_model *model, int tp)
{
    return model->kv_heads > tp ? (int)gl_divide_up(model->kv_heads, tp) : 1;
}

gl_attention_widths gl_local_attention_widths(const gl_model *model, int tp)
{
    const gl_attention *a = &model->attention;
    int64_t heads = gl_divide_up(model->heads, tp);
    if (a->kind == GL_ATTENTION_MLA) {
        int64_t qk = heads * (a->qk_nope + a->qk_rope), v = heads * a->v_head;
        return (gl_attention_widths){qk, qk, v, v};
    }
    int64_t q = heads * model->head_dim;
    int64_t kv = (int64_t)local_kv_heads(model, tp) * model->head_dim;
    return (gl_attention_widths){q, kv, kv, q};
}

gl_attention_widths gl_core_attention_widths(const gl_workload *workload)
{
    gl_attention_widths w = gl_local_attention_widths(&workload->model, workload->parallel.tp);
    if (workload->kernels.repeat_kv && workload->model.attention.kind == GL_ATTENTION_GQA)
        w.k = w.v = w.q;
    return w;
}

static void add_gqa(builder *b)
{
    const gl_model *m = b->model;
    int64_t h = m->hidden, d = m->head_dim;
    int64_t q = m->heads * d, local_q = gl_divide_up(m->heads, b->tp) * d;
    int64_t kv = m->kv_heads * d, local_kv = local_kv_heads(m, b->tp) * d;
    if (m->fused_weights) {
        add_column(b, "qkv", if_qkv(b, "qkv.bias"), h, q + 2 * kv, local_q + 2 * local_kv);
    } else {
        add_column(b, "q", if_qkv(b, "q.bias"), h, q, local_q);
        add_column(b, "k", if_qkv(b, "k.bias"), h, kv, local_kv);
        add_column(b, "v", if_qkv(b, "v.bias"), h, kv, local_kv);
    }
    add_row(b, "o", if_all(b, "o.bias"), q, h);
    if (m->qk_norm) {
        add_norm(b, "q_norm", "q_norm.bias", d);
        add_norm(b, "k_norm", "k_norm.bias", d);
    }
}

/* Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). The down-projections
 * are small and every TP rank holds them; the up-projections are split by heads. */
static void add_mla(builder *b)
{
    const gl_model *m = b->model;
    const gl_attention *a = &m->attention;
    int64_t h = m->hidden, local_heads = gl_divide_up(m->heads, b->tp);
    int64_t qk = a->qk_nope + a->qk_rope, up = a->qk_nope + a->v_head;
    if (a->q_lora > 0) {
        int64_t compressed = (int64_t)a->q_lora;
        add_tensor(b, "q_a", h * compressed, h * compressed);
        add_tensor(b, "q_a_norm", compressed, compressed);
        add_column(b, "q_b", NULL, compressed, m->heads * qk, local_heads * qk);
    } else {
        add_column(b, "q", NULL, h, m->heads * qk, local_heads * qk);
    }
    int64_t kv_a = h * (a->kv_lora + a->qk_rope);
    add_tensor(b, "kv_a", kv_a, kv_a);
    add_tensor(b, "kv_a_norm", a->kv_lora, a->kv_lora);
    add_column(b, "kv_b", NULL, a->kv_lora, m->heads * up, local_heads * up);
    add_row(b, "o", if_all(b, "o.bias"), (int64_t)m->heads * a->v_head, h);
}

typedef struct mlp_names {
    const char *gate_up, *gate_up_bias, *gate, *gate_bias, *up, *up_bias, *down, *down_bias;
} mlp_names;

static const mlp_names dense_names = {"gate_up", "gate_up.bias", "gate", "gate.bias",
                                      "up",      "up.bias",      "down", "down.bias"};
static const mlp_names expert_names = {
    "experts.gate_up", "experts.gate_up.bias", "experts.gate", "experts.gate.bias",
    "experts.up",      "experts.up.bias",      "experts.down", "experts.down.bias"};
static const mlp_names shared_names = {"shared.gate_up",   "shared.gate_up.bias", "shared.gate",
                                       "shared.gate.bias", "shared.up",           "shared.up.bias",
                                       "shared.down",      "shared.down.bias"};

static void add_mlp(builder *b, const mlp_names *n, int64_t ffn)
{
    int64_t h = b->model->hidden, local = gl_divide_up(ffn, b->tp);
    if (b->model->gated_mlp && b->model->fused_weights) {
        add_column(b, n->gate_up, if_all(b, n->gate_up_bias), h, 2 * ffn, 2 * local);
    } else {
        if (b->model->gated_mlp)
            add_column(b, n->gate, if_all(b, n->gate_bias), h, ffn, local);
        add_column(b, n->up, if_all(b, n->up_bias), h, ffn, local);
    }
    add_row(b, n->down, if_all(b, n->down_bias), ffn, h);
}

static void add_moe(builder *b)
{
    const gl_moe *moe = &b->model->moe;
    int64_t router = (int64_t)b->model->hidden * moe->experts;
    add_tensor(b, "router", router, router);
    if (moe->router_bias)
        add_tensor(b, "router.bias", moe->experts, moe->experts);
    size_t first = b->count;
    add_mlp(b, &expert_names, moe->expert_ffn);
    for (size_t i = first; i < b->count; i++) {
        b->tensors[i].expert = true;
        b->tensors[i].copies = (int)gl_divide_up(moe->experts, b->ep);
    }
    if (moe->shared_ffn > 0)
        add_mlp(b, &shared_names, moe->shared_ffn);
}

static void add_layer(builder *b, bool moe)
{
    add_norm(b, "norm1", "norm1.bias", b->model->hidden);
    add_norm(b, "norm2", "norm2.bias", b->model->hidden);
    if (b->model->attention.kind == GL_ATTENTION_MLA)
        add_mla(b);
    else
        add_gqa(b);
    if (moe)
        add_moe(b);
    else
        add_mlp(b, &dense_names, b->model->ffn);
}

/* A vocab × hidden table. No padding of the vocabulary. */
static void add_table(builder *b, const char *name)
{
    int64_t h = b->model->hidden, vocab = b->model->vocab;
    int64_t local = b->vocab_parallel ? gl_divide_up(vocab, b->tp) : vocab;
    add_tensor(b, name, vocab * h, local * h);
}

static void add_embedding(builder *b)
{
    const gl_model *m = b->model;
    add_table(b, "embedding");
    if (m->learned_positions > 0) {
        int64_t positions = (int64_t)m->learned_positions * m->hidden;
        add_tensor(b, "positions", positions, positions);
    }
    if (m->embedding_norm)
        add_norm(b, "embedding_norm", "embedding_norm.bias", m->hidden);
}

static void add_head(builder *b)
{
    add_norm(b, "final_norm", "final_norm.bias", b->model->hidden);
    if (!b->model->tied_embeddings || b->head_copy)
        add_table(b, "head");
}

static void add_block(builder *b, gl_block_kind kind)
{
    switch (kind) {
    case GL_BLOCK_EMBEDDING:
        add_embedding(b);
        break;
    case GL_BLOCK_HEAD:
        add_head(b);
        break;
    case GL_BLOCK_DENSE:
    case GL_BLOCK_MOE:
        add_layer(b, kind == GL_BLOCK_MOE);
        break;
    case GL_BLOCK_KIND_COUNT:
        break;
    }
}

/* Moves the builder's tensors into a block and sums them up. */
static void finish_block(builder *b, gl_arena *arena, gl_block *block)
{
    *block =
        (gl_block){.tensors = GL_ARENA_NEW(arena, gl_tensor, b->count), .tensor_count = b->count};
    for (size_t i = 0; i < b->count; i++) {
        const gl_tensor *t = &b->tensors[i];
        block->tensors[i] = *t;
        block->elements += t->expert ? t->elements * b->model->moe.experts : t->elements;
        block->active_elements += t->expert ? t->elements * b->model->moe.top_k : t->elements;
        block->local_elements += t->local_elements * t->copies;
        if (t->expert)
            block->local_expert_elements += t->local_elements * t->copies;
    }
    b->count = 0;
}

static void build_stated(const gl_model *model, gl_arena *arena, gl_parameters *out)
{
    int64_t elements = (int64_t)model->parameters;
    builder b = {.model = model, .tp = 1, .ep = 1};
    add_tensor(&b, "parameters", elements, elements);
    finish_block(&b, arena, &out->blocks[GL_BLOCK_DENSE]);
    out->total = out->active = elements;
}

static bool block_is_used(const gl_model *model, gl_block_kind kind)
{
    if (kind != GL_BLOCK_DENSE && kind != GL_BLOCK_MOE)
        return true;
    for (int layer = 0; layer < model->layers; layer++)
        if (gl_layer_kind(model, layer) == kind)
            return true;
    return false;
}

void gl_parameters_build(const gl_model *model, const gl_parallel *parallel, gl_arena *arena,
                         gl_parameters *out)
{
    *out = (gl_parameters){.exact = gl_model_has_architecture(model)};
    if (!out->exact) {
        build_stated(model, arena, out);
        return;
    }
    builder b = {.model = model,
                 .tp = parallel->tp,
                 .ep = parallel->ep,
                 .vocab_parallel = parallel->vocab_parallel,
                 .head_copy = model->tied_embeddings && parallel->pp > 1};
    for (int kind = 0; kind < GL_BLOCK_KIND_COUNT; kind++) {
        if (!block_is_used(model, (gl_block_kind)kind))
            continue;
        add_block(&b, (gl_block_kind)kind);
        finish_block(&b, arena, &out->blocks[kind]);
    }
    const gl_block *embedding = &out->blocks[GL_BLOCK_EMBEDDING];
    const gl_block *head = &out->blocks[GL_BLOCK_HEAD];
    out->total = embedding->elements + head->elements;
    out->active = embedding->active_elements + head->active_elements;
    for (int layer = 0; layer < model->layers; layer++) {
        const gl_block *block = &out->blocks[gl_layer_kind(model, layer)];
        out->total += block->elements;
        out->active += block->active_elements;
    }
    if (b.head_copy) {
        out->total -= (int64_t)model->vocab * model->hidden;
        out->active -= (int64_t)model->vocab * model->hidden;
    }
}

gl_block_kind gl_layer_kind(const gl_model *model, int layer)
{
    const gl_moe *moe = &model->moe;
    if (moe->experts <= 0 || layer < moe->first_dense_layers)
        return GL_BLOCK_DENSE;
    int every = moe->every > 1 ? moe->every : 1;
    return (layer - moe->first_dense_layers + 1) % every == 0 ? GL_BLOCK_MOE : GL_BLOCK_DENSE;
}

/*
 * Layers of chunk `chunk` of `chunks`. Of r layers left over, the first go to the chunks between
 * the ends, the later ones first: early stages hold the activations of more microbatches. The
 * last chunk, with the LM head, would be the last to get one, and never does, since r < chunks.
 */
static int chunk_layers(int layers, int chunks, int chunk)
{
    int base = layers / chunks, extra = layers % chunks;
    int middle = chunks > 2 ? chunks - 2 : 0;
    int rank; /* in the queue for extra layers */
    if (chunk == chunks - 1)
        rank = chunks - 1;
    else if (chunk == 0)
        rank = middle;
    else
        rank = middle - chunk;
    return base + (rank < extra ? 1 : 0);
}

static void put(gl_stage *stage, gl_block_kind kind)
{
    stage->sequence[stage->block_count++] = kind;
}

static void add_chunk(gl_stage *stage, const gl_model *model, int first_layer, int layers)
{
    for (int layer = first_layer; layer < first_layer + layers; layer++) {
        gl_block_kind kind = gl_layer_kind(model, layer);
        put(stage, kind);
        stage->layers++;
        if (kind == GL_BLOCK_MOE)
            stage->moe_layers++;
        else
            stage->dense_layers++;
    }
}

int gl_parallel_chunks(const gl_parallel *parallel)
{
    bool interleaved = parallel->schedule == GL_SCHEDULE_INTERLEAVED;
    return interleaved && parallel->virtual_stages > 1 ? parallel->virtual_stages : 1;
}

void gl_stages_build(const gl_model *model, const gl_parallel *parallel, gl_arena *arena,
                     gl_stage **stages)
{
    int pp = parallel->pp, own = gl_parallel_chunks(parallel), chunks = pp * own;
    gl_stage *out = GL_ARENA_NEW(arena, gl_stage, (size_t)pp);
    bool known = gl_model_has_architecture(model);
    size_t blocks = (size_t)(model->layers / chunks + 1) * (size_t)own + 2;
    for (int s = 0; s < pp; s++) {
        out[s].index = s;
        out[s].has_embedding = known && s == 0;
        out[s].has_head = known && s == pp - 1;
        out[s].sequence = GL_ARENA_NEW(arena, gl_block_kind, blocks);
        out[s].chunk_end = GL_ARENA_NEW(arena, int, (size_t)own);
    }
    if (!known)
        put(&out[0], GL_BLOCK_DENSE);
    else
        put(&out[0], GL_BLOCK_EMBEDDING);
    int layer = 0;
    for (int chunk = 0; known && chunk < chunks; chunk++) {
        int layers = chunk_layers(model->layers, chunks, chunk);
        gl_stage *stage = &out[chunk % pp];
        add_chunk(stage, model, layer, layers);
        stage->chunk_end[chunk / pp] = stage->block_count;
        layer += layers;
    }
    if (known)
        put(&out[pp - 1], GL_BLOCK_HEAD);
    for (int s = 0; s < pp; s++)
        out[s].chunk_end[own - 1] = out[s].block_count;
    *stages = out;
}

int64_t gl_stage_elements(const gl_parameters *parameters, const gl_stage *stage,
                          int64_t *expert_elements)
{
    int64_t elements = 0, experts = 0;
    for (int i = 0; i < stage->block_count; i++) {
        const gl_block *block = &parameters->blocks[stage->sequence[i]];
        elements += block->local_elements;
        experts += block->local_expert_elements;
    }
    if (expert_elements != NULL)
        *expert_elements = experts;
    return elements;
}
