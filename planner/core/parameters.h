/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model's weights, tensor by tensor, in the order in which a framework registers them: that
 * order decides gradient buckets, the counts decide memory, and both are exact.
 */
#ifndef GL_CORE_PARAMETERS_H
#define GL_CORE_PARAMETERS_H

#include "common/arena.h"
#include "common/error.h"
#include "planner/core/workload.h"

typedef struct gl_tensor {
    const char *name;       /* "qkv", "experts.gate_up" */
    int64_t elements;       /* in the whole model */
    int64_t local_elements; /* on one TP rank */
    int copies;             /* consecutive equal tensors (the experts of one EP rank); elements and
                               local_elements are of one copy */
    bool expert;            /* reduced over the expert-data-parallel group */
} gl_tensor;

typedef enum gl_block_kind {
    GL_BLOCK_EMBEDDING, /* token table, positions, embedding norm */
    GL_BLOCK_DENSE,     /* a layer with a dense MLP */
    GL_BLOCK_MOE,       /* a layer with experts */
    GL_BLOCK_HEAD,      /* final norm and LM head; when tied, the norm only, and with pipeline
                           stages also the last stage's copy of the token table */
    GL_BLOCK_KIND_COUNT
} gl_block_kind;

/* All blocks of one kind are equal. Tensors in registration order. */
typedef struct gl_block {
    gl_tensor *tensors;
    size_t tensor_count;
    int64_t elements;              /* one block, whole model (all experts) */
    int64_t local_elements;        /* on one rank, experts included */
    int64_t local_expert_elements; /* of these, experts */
    int64_t active_elements;       /* whole model, with only top_k of the routed experts */
} gl_block;

typedef struct gl_parameters {
    gl_block blocks[GL_BLOCK_KIND_COUNT];
    int64_t total;  /* whole model; tied tables counted once */
    int64_t active; /* per token */
    bool exact;     /* false: only a stated count, everything in one block (GL_BLOCK_DENSE) */
} gl_parameters;

/*
 * Counts the model as split by `parallel` (tp, pp, ep, vocab_parallel). The workload is valid (see
 * check.h). Without an architecture the stated count is one tensor of one block.
 *
 * Order inside a layer: norms, attention, MLP; a bias follows its weight. TP splits attention by
 * heads and MLPs (experts too) by their intermediate size; norms, routers, the down-projections of
 * MLA, learned positions and the biases of row-parallel matrices are on every rank. With fewer KV
 * heads than TP ranks, each rank holds one head. The vocabulary is not padded. `router_bias` is a
 * parameter of the count: the 671,026,419,200 of DeepSeek-V3 hold 58 × 256 of them.
 */
void gl_parameters_build(const gl_model *model, const gl_parallel *parallel, gl_arena *arena,
                         gl_parameters *out);

/* Elements per token of what the projections give, and of the attention core's output, on one TP
 * rank. MLA: of its heads after the up-projections. */
typedef struct gl_attention_widths {
    int64_t q, k, v, output;
} gl_attention_widths;

gl_attention_widths gl_local_attention_widths(const gl_model *model, int tp);

/* The same of what the attention core takes: all heads, where K and V are repeated for it. */
gl_attention_widths gl_core_attention_widths(const gl_workload *workload);

/* Which blocks a pipeline stage holds. */
typedef struct gl_stage {
    int index;
    bool has_embedding, has_head;
    int layers; /* dense + moe */
    int dense_layers, moe_layers;
    gl_block_kind *sequence; /* the stage's blocks in forward order, embedding and head included */
    int block_count;
    int *chunk_end; /* by chunk: where its blocks end in `sequence`; NULL = one chunk */
} gl_stage;

/* Chunks per stage: virtual_stages under the interleaved schedule, otherwise 1. */
int gl_parallel_chunks(const gl_parallel *parallel);

/*
 * Splits the layers over pp stages. An uneven number gives the extra layers to middle stages first
 * (the later ones before the earlier, which hold more microbatches), then to the first, since the
 * first and last also hold the embedding and the LM head. `stages` has pp entries.
 * With virtual stages each stage holds v chunks; remainders are spread in the same way.
 * Without an architecture the first stage holds the one block and no stage has layers.
 */
void gl_stages_build(const gl_model *model, const gl_parallel *parallel, gl_arena *arena,
                     gl_stage **stages);

/* Kind of layer `layer` (from 0): dense or MoE. After the leading dense layers the every-th, the
 * 2·every-th, … are MoE. */
gl_block_kind gl_layer_kind(const gl_model *model, int layer);

/* Local parameters of a stage (elements on one rank), and of these the expert ones. */
int64_t gl_stage_elements(const gl_parameters *parameters, const gl_stage *stage,
                          int64_t *expert_elements);

#endif
