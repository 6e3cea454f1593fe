/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A workload: the model, how it is split over GPUs, and how it is trained. This is what a model
 * description says, after defaults, in SI units. planner/input fills it from YAML through a field
 * table; the core only reads it. Enumerations are in the order of their names in the schema.
 */
#ifndef GL_CORE_WORKLOAD_H
#define GL_CORE_WORKLOAD_H

#include "common/collective.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum gl_attention_kind { GL_ATTENTION_GQA, GL_ATTENTION_MLA } gl_attention_kind;
typedef enum gl_biases { GL_BIASES_NONE, GL_BIASES_ALL, GL_BIASES_QKV } gl_biases;
typedef enum gl_norms { GL_NORMS_RMSNORM, GL_NORMS_LAYERNORM } gl_norms;
typedef enum gl_schedule_kind {
    GL_SCHEDULE_GPIPE,
    GL_SCHEDULE_1F1B,
    GL_SCHEDULE_INTERLEAVED
} gl_schedule_kind;
typedef enum gl_recompute {
    GL_RECOMPUTE_NONE,
    GL_RECOMPUTE_SELECTIVE,
    GL_RECOMPUTE_FULL
} gl_recompute;
typedef enum gl_cp_method { GL_CP_RING, GL_CP_ALLGATHER, GL_CP_ULYSSES } gl_cp_method;

/* As in descriptions, by value; NULL-terminated. */
extern const char *const gl_schedule_names[], *const gl_recompute_names[], *const gl_cp_methods[];

typedef struct gl_attention {
    gl_attention_kind kind;
    int q_lora;                   /* MLA: rank of the query's compression; 0 = none */
    int kv_lora;                  /* MLA: rank of the compressed K and V */
    int qk_nope, qk_rope, v_head; /* MLA: head sizes without and with rotary part, of V */
    int window;                   /* sliding window in tokens; 0 = full */
} gl_attention;

typedef struct gl_moe {
    int experts;            /* routed experts of a layer; 0 = dense model */
    int top_k;              /* routed experts per token */
    int expert_ffn;         /* intermediate size of one routed expert */
    int shared_ffn;         /* intermediate size of all shared experts together; 0 = none */
    int first_dense_layers; /* leading layers with a dense MLP */
    int every;              /* of the layers after these, each every-th is MoE */
    bool router_bias;       /* one correction bias per expert (DeepSeek-V3) */
    double capacity;        /* tokens sent to experts over tokens routed; 1 = as routed */
    double imbalance;       /* hottest rank's share against the mean, ≥ 1 */
} gl_moe;

typedef struct gl_model {
    const char *name;  /* never NULL */
    double parameters; /* as stated by the user; 0 = not stated */
    int layers;        /* 0: no architecture, only `parameters` */
    int hidden, heads, kv_heads, head_dim, ffn, vocab;
    int sequence;   /* tokens of a training sequence; 0 = not stated */
    bool gated_mlp; /* three matrices (SwiGLU) instead of two */
    bool tied_embeddings;
    bool fused_weights; /* one QKV and one gate-up tensor (Megatron) instead of separate ones */
    gl_biases biases;
    int learned_positions; /* rows of a learned position table; 0 = none */
    gl_norms norms;
    bool qk_norm;        /* a norm of head_dim on Q and on K (Qwen 3) */
    bool embedding_norm; /* a norm after the embedding (BLOOM) */
    gl_attention attention;
    gl_moe moe;
} gl_model;

enum { GL_ORDER_MAX = 4 };
typedef enum gl_axis { GL_AXIS_TP, GL_AXIS_CP, GL_AXIS_DP, GL_AXIS_PP } gl_axis;
extern const char *const gl_axis_names[]; /* as in descriptions, by value; NULL-terminated */

typedef struct gl_parallel {
    int dp, tp, pp, cp, ep; /* degrees ≥ 1; ranks = tp·cp·dp·pp, EP lives inside dp·cp */
    bool sequence_parallel;
    int zero; /* 0 … 3 */
    gl_schedule_kind schedule;
    int virtual_stages; /* chunks of a stage under the interleaved schedule */
    gl_recompute recompute;
    bool recompute_early_stop; /* PyTorch's checkpoint skips each block's last collective */
    bool sp_regather;          /* SP gathers the column-parallel input again in backward */
    bool reshard;              /* ZeRO-3: gather parameters again in backward */
    bool reduce_scatter;       /* ZeRO-1, 2: gradients are scattered; false: all-reduced */
    bool rank_broadcast;       /* ZeRO-1, 2: each rank broadcasts its shard of new parameters */
    bool accumulate;           /* gradients move once a step instead of every microbatch */
    gl_cp_method cp_method;
    bool cp_balanced;            /* causal attention spread evenly over CP ranks (zigzag) */
    int shard;                   /* ZeRO inside this many ranks (HSDP); 0 = over all */
    bool vocab_parallel;         /* embedding and LM head split over TP */
    bool scatter_gather;         /* PP sends 1/tp of an activation and joins it on arrival */
    gl_axis order[GL_ORDER_MAX]; /* neighbours first; each axis once */
} gl_parallel;

typedef struct gl_optimizer {
    bool clipping; /* gradients are clipped by their norm */
} gl_optimizer;

typedef struct gl_batch {
    int64_t global; /* sequences per step over all replicas; 0 = dp·micro */
    int micro;      /* sequences per microbatch and replica */
} gl_batch;

typedef struct gl_precision {
    gl_dtype compute, gradients, optimizer;
    gl_dtype master;            /* GL_DTYPE_NONE: weights are updated in place */
    gl_dtype activations;       /* on the wire; GL_DTYPE_NONE = as gl_activation_type says */
    gl_dtype dispatch, combine; /* MoE all-to-all; GL_DTYPE_NONE = compute */
} gl_precision;

typedef struct gl_buckets {
    double gradient_bytes; /* cap; INFINITY = "all": one message */
    double first_bytes;    /* cap of the first bucket */
    double compression;    /* gradient bytes are divided by this, ≥ 1 */
} gl_buckets;

/* What runs a model on the GPU: properties of the framework. */
typedef enum gl_attention_kernel {
    GL_ATTENTION_BEST,    /* the best that there is for the GPU: FlashAttention 2 or 3, cuDNN */
    GL_ATTENTION_FLASH_2, /* FlashAttention 2, also where a later one exists */
    GL_ATTENTION_FLASH_1, /* the first FlashAttention, or its Triton version */
    GL_ATTENTION_UNFUSED  /* scores, softmax and dropout go through memory */
} gl_attention_kernel;

typedef enum gl_elementwise {
    GL_ELEMENTWISE_EAGER, /* each operation of its own kernel: PyTorch as it is */
    GL_ELEMENTWISE_FUSED  /* norms, activations, additions fused: Megatron, a compiler */
} gl_elementwise;

typedef struct gl_kernels {
    gl_attention_kernel attention;
    gl_elementwise elementwise;
    bool repeat_kv;  /* K and V are repeated to the query heads before the attention core */
    double launch_s; /* what one more kernel adds; 0 = as the GPU's catalogue entry says */
} gl_kernels;

typedef struct gl_overlap {
    bool dp, tp, pp, cp, ep, zero3_prefetch; /* may this communication hide behind compute? */
} gl_overlap;

/* What the user measured instead of the operator model. All 0 = nothing stated. */
typedef struct gl_compute_given {
    double step_s;   /* a whole step of one GPU without communication and bubble */
    double mfu_frac; /* model FLOPs utilisation of one GPU without communication and bubble */
} gl_compute_given;

typedef struct gl_workload {
    gl_model model;
    gl_parallel parallel;
    gl_batch batch;
    gl_precision precision;
    gl_buckets buckets;
    gl_optimizer optimizer;
    gl_kernels kernels;
    gl_overlap overlap;
    double target_exposed_frac; /* exposed communication over step time to design for */
    gl_compute_given compute;
    double run_tokens; /* tokens that a run trains on; 0 = not stated */
} gl_workload;

/* A workload with every default in place: loaders overwrite what the user said. */
gl_workload gl_workload_defaults(void);

/* Ranks that the layout needs: tp·cp·dp·pp. */
int64_t gl_workload_ranks(const gl_workload *workload);

/* Microbatches per step and replica, m = B/(b·dp); 0 when it does not come out even. */
int64_t gl_workload_microbatches(const gl_workload *workload);

/* Type in which activations travel (TP, PP, CP): as stated; otherwise the compute type, or BF16
 * where that is FP8, which is a type of matrix products. */
gl_dtype gl_activation_type(const gl_precision *precision);

/* Sequences of a step over all replicas, m·b·dp; 0 when m does not come out even. */
double gl_workload_step_sequences(const gl_workload *workload);

/* Tokens of a step over all replicas; 0 when the sequence is not stated. */
double gl_workload_step_tokens(const gl_workload *workload);

/* Ranks over which ZeRO spreads dense weights, or those of experts. */
double gl_zero_ranks(const gl_parallel *parallel, bool experts);

/* Of a rank's elements those whose gradients are copied into messages (PyTorch's DDP). Gradients of
 * another type than the weights' are accumulated in the message buffers themselves (Megatron), and
 * so they are with ZeRO. */
double gl_copied_gradients(const gl_workload *workload, double dense, double experts);

/* Has the description an architecture (layers > 0), or only a parameter count? */
bool gl_model_has_architecture(const gl_model *model);

#endif
