/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activations and their gradients: tensor, pipeline, context and expert parallelism, and the few
 * messages around the optimizer.
 *
 * Sources: Megatron-LM (arXiv 1909.08053; sequence parallelism arXiv 2205.05198, section 4.2;
 * interleaving arXiv 2104.04473), ring attention (arXiv 2310.01889), Ulysses (arXiv 2309.14509),
 * GShard's expert parallelism (arXiv 2006.16668).
 */
#include "planner/core/traffic_builder.h"

#include <math.h>

/* What all rows of a dimension have in common. */
typedef struct family {
    gl_traffic_dimension dimension;
    gl_group group;
    bool may_hide;
    double load_factor;
} family;

/* One kind of message: `calls` per step. */
typedef struct entry {
    const char *operation;
    gl_phase phase;
    gl_collective collective;
    int64_t size_bytes, calls;
    const char *formula;
} entry;

static void add(gl_traffic_builder *b, const family *f, entry e)
{
    const gl_traffic_row kind = {
        .dimension = f->dimension,
        .operation = e.operation,
        .phase = e.phase,
        .collective = e.collective,
        .group = f->group,
        .load_factor = f->load_factor,
        .may_hide = f->may_hide,
        .formula = e.formula,
    };
    gl_traffic__add(b, &kind, e.size_bytes, e.calls);
}

/* Bytes of so many elements of activations on the wire. */
static int64_t wire_bytes(const gl_traffic_builder *b, int64_t elements)
{
    return gl_traffic__bytes(elements, gl_activation_type(&b->workload->precision));
}

/* A = s·b·h·e/c. */
static int64_t activation_bytes(const gl_traffic_builder *b)
{
    return wire_bytes(b, b->tokens * b->workload->model.hidden);
}

static const char activation_formula[] = "A = s·b·h·e/c";

/* Calls that a full recomputation repeats, of `per_layer` in a layer's forward. */
static int64_t repeated(const gl_traffic_builder *b, int64_t per_layer, bool ends_the_block)
{
    const gl_parallel *p = &b->workload->parallel;
    if (p->recompute != GL_RECOMPUTE_FULL)
        return 0;
    return per_layer - (p->recompute_early_stop && ends_the_block ? 1 : 0);
}

static void add_layers_without_sp(gl_traffic_builder *b, const family *f, int64_t layers)
{
    int64_t size = activation_bytes(b);
    add(b, f,
        (entry){"attention and MLP outputs", GL_PHASE_FORWARD, GL_ALL_REDUCE, size, 2 * layers,
                activation_formula});
    add(b, f,
        (entry){"attention and MLP input gradients", GL_PHASE_BACKWARD, GL_ALL_REDUCE, size,
                2 * layers, activation_formula});
    add(b, f,
        (entry){"recomputed outputs", GL_PHASE_BACKWARD, GL_ALL_REDUCE, size,
                repeated(b, 2, true) * layers, activation_formula});
}

static void add_layers_with_sp(gl_traffic_builder *b, const family *f, int64_t layers)
{
    int64_t size = activation_bytes(b);
    int64_t again = b->workload->parallel.sp_regather ? 2 * layers : 0;
    const entry entries[] = {
        {"attention and MLP inputs", GL_PHASE_FORWARD, GL_ALL_GATHER, size, 2 * layers,
         activation_formula},
        {"attention and MLP outputs", GL_PHASE_FORWARD, GL_REDUCE_SCATTER, size, 2 * layers,
         activation_formula},
        {"output gradients", GL_PHASE_BACKWARD, GL_ALL_GATHER, size, 2 * layers,
         activation_formula},
        {"input gradients", GL_PHASE_BACKWARD, GL_REDUCE_SCATTER, size, 2 * layers,
         activation_formula},
        {"recomputed inputs", GL_PHASE_BACKWARD, GL_ALL_GATHER, size,
         repeated(b, 2, false) * layers, activation_formula},
        {"recomputed outputs", GL_PHASE_BACKWARD, GL_REDUCE_SCATTER, size,
         repeated(b, 2, true) * layers, activation_formula},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        add(b, f, entries[i]);
    /* Megatron runs this one beside the GEMM of the input gradient, whatever else may overlap
     * (arXiv 2205.05198, section 4.2.2). */
    family beside = *f;
    beside.may_hide = true;
    add(b, &beside,
        (entry){"inputs again for weight gradients", GL_PHASE_BACKWARD, GL_ALL_GATHER, size, again,
                activation_formula});
}

/* Embedding, LM head and loss, where the vocabulary is split. */
static void add_ends(gl_traffic_builder *b, const family *f)
{
    bool sp = b->workload->parallel.sequence_parallel;
    int64_t size = activation_bytes(b), m = b->microbatches;
    int64_t first = b->stage->has_embedding ? m : 0, last = b->stage->has_head ? m : 0;
    add(b, f,
        (entry){"embedding output", GL_PHASE_FORWARD, sp ? GL_REDUCE_SCATTER : GL_ALL_REDUCE, size,
                first, activation_formula});
    add(b, f,
        (entry){"LM head input", GL_PHASE_FORWARD, GL_ALL_GATHER, size, sp ? last : 0,
                activation_formula});
    add(b, f,
        (entry){"LM head input gradient", GL_PHASE_BACKWARD, sp ? GL_REDUCE_SCATTER : GL_ALL_REDUCE,
                size, last, activation_formula});
    add(b, f,
        (entry){"loss: maximum, target logit, sum", GL_PHASE_FORWARD, GL_ALL_REDUCE,
                gl_traffic__bytes(b->tokens, GL_FP32), 3 * last, "s·b/c · 4 B"});
}

void gl_traffic__tensor_parallel(gl_traffic_builder *b)
{
    const gl_parallel *p = &b->workload->parallel;
    const family f = {GL_TRAFFIC_TP, GL_GROUP_TP, b->workload->overlap.tp, 1};
    int64_t layers = b->stage->layers * b->microbatches;
    if (p->sequence_parallel)
        add_layers_with_sp(b, &f, layers);
    else
        add_layers_without_sp(b, &f, layers);
    if (p->vocab_parallel)
        add_ends(b, &f);
}

/* What was sent in parts is joined over the TP ranks of the stage where it arrives (arXiv
 * 2104.04473, section 4.1). */
static void add_joining(gl_traffic_builder *b, int64_t calls)
{
    const family f = {GL_TRAFFIC_PP, GL_GROUP_TP, b->workload->overlap.pp, 1};
    int64_t size = activation_bytes(b), m = b->microbatches;
    int64_t first = b->stage->has_embedding ? m : 0, last = b->stage->has_head ? m : 0;
    add(b, &f,
        (entry){"joined activations", GL_PHASE_FORWARD, GL_ALL_GATHER, size, calls - first,
                activation_formula});
    add(b, &f,
        (entry){"joined activation gradients", GL_PHASE_BACKWARD, GL_ALL_GATHER, size, calls - last,
                activation_formula});
}

/*
 * A stage sends and receives v activations per microbatch in forward, one less of either at the
 * ends of the model, and as many gradients in backward. Both directions of a link work at once, so
 * the larger of the two counts.
 */
void gl_traffic__pipeline(gl_traffic_builder *b)
{
    const gl_parallel *p = &b->workload->parallel;
    const family f = {GL_TRAFFIC_PP, GL_GROUP_PP, b->workload->overlap.pp, 1};
    bool split = (p->sequence_parallel || p->scatter_gather) && p->tp > 1;
    int64_t size = split ? activation_bytes(b) / p->tp : activation_bytes(b);
    int64_t calls = gl_parallel_chunks(p) * b->microbatches;
    const char *formula = split ? "A/t = s·b·h·e/(c·t)" : activation_formula;
    add(b, &f, (entry){"activations", GL_PHASE_FORWARD, GL_SENDRECV, size, calls, formula});
    add(b, &f,
        (entry){"activation gradients", GL_PHASE_BACKWARD, GL_SENDRECV, size, calls, formula});
    if (split && !p->sequence_parallel && p->pp > 1)
        add_joining(b, calls);
}

/* The exchanges of context parallelism are part of the attention core (Transformer Engine runs them
 * inside of it), which selective recomputation repeats, too. */
static int64_t core_repeated(const gl_traffic_builder *b, int64_t calls)
{
    return b->workload->parallel.recompute != GL_RECOMPUTE_NONE ? calls : 0;
}

/* Blocks of K and V go round the ring; in backward so do their gradients. */
static void add_ring(gl_traffic_builder *b, const family *f, const gl_attention_widths *w,
                     int64_t layers)
{
    static const char formula[] = "2·s·b·g·d_h·e/(c·t)";
    int64_t size = wire_bytes(b, b->tokens * (w->k + w->v));
    int64_t hops = layers * (b->workload->parallel.cp - 1);
    add(b, f, (entry){"keys and values", GL_PHASE_FORWARD, GL_SENDRECV, size, hops, formula});
    add(b, f,
        (entry){"keys and values, and their gradients", GL_PHASE_BACKWARD, GL_SENDRECV, size,
                2 * hops, formula});
    add(b, f,
        (entry){"recomputed keys and values", GL_PHASE_BACKWARD, GL_SENDRECV, size,
                core_repeated(b, hops), formula});
}

/* K and V apart, each gathered over the whole sequence. */
static void add_gathered(gl_traffic_builder *b, const family *f, int64_t width, int64_t layers)
{
    static const char formula[] = "s·b·g·d_h·e/t";
    int64_t tokens = b->tokens * b->workload->parallel.cp;
    int64_t size = wire_bytes(b, tokens * width);
    add(b, f, (entry){"keys and values", GL_PHASE_FORWARD, GL_ALL_GATHER, size, layers, formula});
    add(b, f,
        (entry){"key and value gradients", GL_PHASE_BACKWARD, GL_REDUCE_SCATTER, size, layers,
                formula});
    add(b, f,
        (entry){"recomputed keys and values", GL_PHASE_BACKWARD, GL_ALL_GATHER, size,
                core_repeated(b, layers), formula});
}

/* From a part of the sequence with all heads to the whole sequence with a part of them, or back. */
static void add_exchanged(gl_traffic_builder *b, const family *f, int64_t width, int64_t layers)
{
    static const char formula[] = "s·b·(a or g)·d_h·e/(c·t)";
    int64_t size = wire_bytes(b, b->tokens * width);
    add(b, f,
        (entry){"queries, keys, values, output", GL_PHASE_FORWARD, GL_ALLTOALL, size, layers,
                formula});
    add(b, f,
        (entry){"gradients of queries, keys, values, output", GL_PHASE_BACKWARD, GL_ALLTOALL, size,
                layers, formula});
    add(b, f,
        (entry){"recomputed queries, keys, values, output", GL_PHASE_BACKWARD, GL_ALLTOALL, size,
                core_repeated(b, layers), formula});
}

/* Each of c ranks gets whole heads: with fewer K and V heads than ranks they are sent repeatedly.
 */
static int64_t exchanged_width(const gl_model *model, int cp, int64_t width)
{
    bool few = model->attention.kind == GL_ATTENTION_GQA && width / model->head_dim < cp;
    return few ? (int64_t)model->head_dim * cp : width;
}

void gl_traffic__context_parallel(gl_traffic_builder *b)
{
    const gl_parallel *p = &b->workload->parallel;
    const family f = {GL_TRAFFIC_CP, GL_GROUP_CP, b->workload->overlap.cp, 1};
    const gl_attention_widths w = gl_core_attention_widths(b->workload);
    int64_t layers = b->stage->layers * b->microbatches;
    switch (p->cp_method) {
    case GL_CP_RING:
        add_ring(b, &f, &w, layers);
        break;
    case GL_CP_ALLGATHER:
        add_gathered(b, &f, w.k, layers);
        add_gathered(b, &f, w.v, layers);
        break;
    case GL_CP_ULYSSES:
        add_exchanged(b, &f, w.q, layers);
        add_exchanged(b, &f, exchanged_width(&b->workload->model, p->cp, w.k), layers);
        add_exchanged(b, &f, exchanged_width(&b->workload->model, p->cp, w.v), layers);
        add_exchanged(b, &f, w.output, layers);
        break;
    }
}

/*
 * Tokens go to their experts and come back. In backward the gradients of the results go out as the
 * tokens did (dispatch type) and the gradients of the tokens come back (combine type). Every TP
 * rank of a replica routes all of the replica's tokens: its part of each expert needs them.
 */
void gl_traffic__expert_parallel(gl_traffic_builder *b)
{
    const gl_workload *w = b->workload;
    const gl_moe *moe = &w->model.moe;
    const family f = {GL_TRAFFIC_EP, GL_GROUP_EP, w->overlap.ep, moe->imbalance};
    gl_dtype compute = w->precision.compute;
    gl_dtype out = w->precision.dispatch != GL_DTYPE_NONE ? w->precision.dispatch : compute;
    gl_dtype back = w->precision.combine != GL_DTYPE_NONE ? w->precision.combine : compute;
    double elements = ceil((double)b->tokens * moe->top_k * w->model.hidden * moe->capacity);
    int64_t there = gl_traffic__bytes((int64_t)elements, out);
    int64_t home = gl_traffic__bytes((int64_t)elements, back);
    int64_t layers = b->stage->moe_layers * b->microbatches;
    /* With TP the block ends with TP's reduction, not with the combine. */
    bool ends = w->parallel.tp == 1;
    static const char dispatch[] = "s·b/c·top_k·h·capacity · bytes of the dispatch type";
    static const char combine[] = "s·b/c·top_k·h·capacity · bytes of the combine type";
    const entry entries[] = {
        {"dispatch", GL_PHASE_FORWARD, GL_ALLTOALL, there, layers, dispatch},
        {"combine", GL_PHASE_FORWARD, GL_ALLTOALL, home, layers, combine},
        {"combine gradients", GL_PHASE_BACKWARD, GL_ALLTOALL, there, layers, dispatch},
        {"dispatch gradients", GL_PHASE_BACKWARD, GL_ALLTOALL, home, layers, combine},
        {"recomputed dispatch", GL_PHASE_BACKWARD, GL_ALLTOALL, there,
         repeated(b, 1, false) * layers, dispatch},
        {"recomputed combine", GL_PHASE_BACKWARD, GL_ALLTOALL, home, repeated(b, 1, ends) * layers,
         combine},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        add(b, &f, entries[i]);
}

/* A tied table is on the first and on the last stage; both add up its gradients once a step. */
void gl_traffic__embedding(gl_traffic_builder *b)
{
    const gl_workload *w = b->workload;
    const gl_parallel *p = &w->parallel;
    if (!w->model.tied_embeddings || !(b->stage->has_embedding || b->stage->has_head))
        return;
    const family f = {GL_TRAFFIC_EMBEDDING, GL_GROUP_EMBEDDING, false, 1};
    int64_t rows = p->vocab_parallel ? gl_divide_up(w->model.vocab, p->tp) : w->model.vocab;
    int64_t size = gl_traffic__bytes(rows * w->model.hidden, w->precision.gradients);
    add(b, &f,
        (entry){"tied embedding gradients", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, size, 1,
                p->vocab_parallel ? "V·h/t · e_g" : "V·h · e_g"});
}

/* Latency only, but counted: one float each. */
void gl_traffic__optimizer(gl_traffic_builder *b)
{
    const family world = {GL_TRAFFIC_OPTIMIZER, GL_GROUP_WORLD, false, 1};
    const family replicas = {GL_TRAFFIC_OPTIMIZER, GL_GROUP_DP, false, 1};
    static const char formula[] = "one float";
    int64_t size = gl_traffic__bytes(1, GL_FP32);
    bool scaled = b->workload->precision.compute == GL_FP16;
    add(b, &world, (entry){"gradient norm", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, size, 1, formula});
    add(b, &world,
        (entry){"overflow flag", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, size, scaled ? 1 : 0, formula});
    add(b, &replicas,
        (entry){"loss", GL_PHASE_OPTIMIZER, GL_ALL_REDUCE, size,
                b->stage->has_head || !b->parameters->exact ? 1 : 0, formula});
}
