/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a model description. Limits keep every product of sizes within 64 bits together
 * with the sums that core/check.c bounds. */
#include "planner/core/workload.h"
#include "planner/input/field_rows.h"

#define TARGET gl_workload

/* A table: its rows stay as they are written. */
/* clang-format off */
static const char *const attention_kinds[] = {"gqa", "mla", NULL};
static const char *const biases[] = {"false", "true", "qkv", NULL};
static const char *const norms[] = {"rmsnorm", "layernorm", NULL};
static const char *const attention_kernels[] = {"best", "flash2", "flash1", "unfused", NULL};
static const char *const elementwise[] = {"eager", "fused", NULL};
static const char *const compute_types[] = {"bf16", "fp16", "fp32", "fp8", NULL};
static const char *const gradient_types[] = {"fp32", "bf16", "fp16", NULL};
static const char *const optimizer_types[] = {"fp32", "bf16", "fp16", "fp8", "int8", "fp64", NULL};
static const char *const master_types[] = {"fp32", "bf16", "fp16", "fp64", "none", NULL};
static const char *const dispatch_types[] = {"bf16", "fp16", "fp32", "fp8", NULL};

const gl_field gl_model_fields[] = {
    TEXT_ROW("model.name", model.name, "the file's name", "Name of the model in reports."),
    REAL_ROW("model.parameters", model.parameters, GL_NUMBER, 1, 1e16, "",
             "Parameter count as published. Checked against the architecture (2 %); enough by itself to plan data parallelism."),
    SPECIAL_ROW("model.huggingface", false,
                "A Hugging Face config.json, relative to this file, that states the architecture; fields given beside it win, and model.sequence must be: the file says what is allowed, not what is trained."),
    INT_ROW("model.layers", model.layers, 1, 10000, "", "Transformer layers."),
    INT_ROW("model.hidden", model.hidden, 1, 1048576, "", "Width of the residual stream."),
    INT_ROW("model.heads", model.heads, 1, 65536, "", "Attention heads of a layer."),
    INT_ROW("model.kv_heads", model.kv_heads, 1, 65536, "heads", "Key and value heads of a layer; fewer than heads with grouped-query attention, 1 with multi-query."),
    INT_ROW("model.head_dim", model.head_dim, 1, 65536, "hidden / heads", "Width of one head."),
    INT_ROW("model.ffn", model.ffn, 1, 16777216, "", "Intermediate width of a dense MLP; not needed when every layer has experts."),
    INT_ROW("model.vocab", model.vocab, 1, 67108864, "", "Rows of the token table, padding included."),
    INT_ROW("model.sequence", model.sequence, 1, 100000000, "", "Tokens of one training sequence."),
    BOOL_ROW("model.gated_mlp", model.gated_mlp, "true", "The MLP has three matrices (SwiGLU) instead of two (GELU)."),
    BOOL_ROW("model.tied_embeddings", model.tied_embeddings, "false", "The LM head shares the token table."),
    BOOL_ROW("model.fused_weights", model.fused_weights, "true", "One QKV and one gate-up tensor (Megatron) instead of separate ones (Hugging Face); decides which gradients share a bucket."),
    CHOICE_ROW("model.biases", model.biases, biases, "false", "Biases of the linear layers: none, all, or only those of Q, K and V."),
    INT_ROW("model.learned_positions", model.learned_positions, 0, 100000000, "0", "Rows of a learned position table; 0: rotary, ALiBi or none."),
    CHOICE_ROW("model.norms", model.norms, norms, "rmsnorm", "Kind of normalisation; a layernorm has a bias."),
    BOOL_ROW("model.qk_norm", model.qk_norm, "false", "Q and K are normalised per head (Qwen 3)."),
    BOOL_ROW("model.embedding_norm", model.embedding_norm, "false", "A norm follows the embedding (BLOOM)."),

    CHOICE_ROW("model.attention.kind", model.attention.kind, attention_kinds, "gqa", "Grouped-query attention (multi-head and multi-query included) or multi-head latent attention (DeepSeek)."),
    INT_ROW("model.attention.q_lora", model.attention.q_lora, 0, 1048576, "0", "MLA: rank of the compressed query; 0: not compressed."),
    INT_ROW("model.attention.kv_lora", model.attention.kv_lora, 1, 1048576, "", "MLA: rank of the compressed keys and values."),
    INT_ROW("model.attention.qk_nope", model.attention.qk_nope, 1, 65536, "", "MLA: width of a query or key head without rotary positions."),
    INT_ROW("model.attention.qk_rope", model.attention.qk_rope, 1, 65536, "", "MLA: width of the rotary part of a query or key head."),
    INT_ROW("model.attention.v_head", model.attention.v_head, 1, 65536, "", "MLA: width of a value head."),
    INT_ROW("model.attention.window", model.attention.window, 0, 100000000, "0", "Tokens that sliding-window attention looks back; 0: all."),

    INT_ROW("model.moe.experts", model.moe.experts, 1, 65536, "", "Routed experts of a layer."),
    INT_ROW("model.moe.top_k", model.moe.top_k, 1, 65536, "", "Routed experts that each token visits."),
    INT_ROW("model.moe.expert_ffn", model.moe.expert_ffn, 1, 16777216, "", "Intermediate width of one routed expert."),
    INT_ROW("model.moe.shared_ffn", model.moe.shared_ffn, 0, 16777216, "0", "Intermediate width of all shared experts together; 0: none."),
    INT_ROW("model.moe.first_dense_layers", model.moe.first_dense_layers, 0, 10000, "0", "Leading layers that have a dense MLP instead of experts."),
    INT_ROW("model.moe.every", model.moe.every, 1, 10000, "1", "Of the layers after those, each every-th has experts."),
    BOOL_ROW("model.moe.router_bias", model.moe.router_bias, "false", "The router has one correction bias per expert (DeepSeek-V3)."),
    REAL_ROW("model.moe.capacity", model.moe.capacity, GL_NUMBER, 0.01, 1000, "1", "Capacity factor: tokens sent to experts over tokens routed."),
    REAL_ROW("model.moe.imbalance", model.moe.imbalance, GL_NUMBER, 1, 65536, "1", "Tokens of the hottest rank over the mean; it decides the time of an all-to-all."),

    INT_ROW("parallel.dp", parallel.dp, 1, 1000000, "1", "Data parallel replicas."),
    INT_ROW("parallel.tp", parallel.tp, 1, 10000, "1", "Tensor parallel ranks that share each layer."),
    INT_ROW("parallel.pp", parallel.pp, 1, 10000, "1", "Pipeline stages."),
    INT_ROW("parallel.cp", parallel.cp, 1, 10000, "1", "Context parallel ranks that share each sequence."),
    INT_ROW("parallel.ep", parallel.ep, 1, 65536, "1", "Expert parallel ranks, inside dp x cp."),
    BOOL_ROW("parallel.sequence_parallel", parallel.sequence_parallel, "false", "Norms and dropout are split over the TP ranks: all-gather and reduce-scatter instead of all-reduce."),
    INT_ROW("parallel.zero", parallel.zero, 0, 3, "0", "ZeRO stage: 0 all-reduces gradients (DDP), 1 shards the optimizer, 2 also gradients, 3 also parameters (FSDP)."),
    CHOICE_ROW("parallel.schedule", parallel.schedule, gl_schedule_names, "1f1b", "Pipeline schedule."),
    BOOL_ROW("parallel.scatter_gather", parallel.scatter_gather, "false", "Without sequence parallelism, each TP rank sends its part of an activation to the next stage, which gathers them (Megatron, DeepSpeed) instead of each sending the whole."),
    INT_ROW("parallel.virtual_stages", parallel.virtual_stages, 1, 1000, "1", "Chunks of layers that each stage holds under the interleaved schedule."),
    CHOICE_ROW("parallel.recompute", parallel.recompute, gl_recompute_names, "none", "Activations computed again in backward: none, the attention core (selective), or whole layers (full)."),
    BOOL_ROW("parallel.recompute_early_stop", parallel.recompute_early_stop, "false", "Full recomputation does not repeat the last collective of a block (PyTorch's checkpoint)."),
    BOOL_ROW("parallel.sp_regather", parallel.sp_regather, "true", "With sequence parallelism, backward gathers the input of column-parallel layers again (Megatron) instead of keeping it."),
    BOOL_ROW("parallel.reshard", parallel.reshard, "true", "ZeRO-3 frees parameters after forward and gathers them again in backward."),
    BOOL_ROW("parallel.reduce_scatter", parallel.reduce_scatter, "true", "ZeRO-1 and 2 reduce-scatter gradients; false: they all-reduce them and use their shard (DeepSpeed's BF16 optimizer, InternEvo)."),
    BOOL_ROW("parallel.rank_broadcast", parallel.rank_broadcast, "false", "After the step of ZeRO-1 and 2 each rank broadcasts its shard of the new parameters, one rank after the other (InternEvo), instead of an all-gather."),
    BOOL_ROW("parallel.accumulate", parallel.accumulate, "true", "Gradients move once a step; false: after every microbatch."),
    CHOICE_ROW("parallel.cp_method", parallel.cp_method, gl_cp_methods, "ring", "How context parallel ranks exchange keys and values."),
    BOOL_ROW("parallel.cp_balanced", parallel.cp_balanced, "true", "Each context parallel rank has the same share of causal attention (zigzag); false: contiguous parts of the sequence."),
    INT_ROW("parallel.shard", parallel.shard, 0, 1000000, "0", "ZeRO inside this many ranks, all-reduce of the shards across the rest (HSDP; ZeRO-1 inside a node); 0: over all of dp x cp."),
    BOOL_ROW("parallel.vocab_parallel", parallel.vocab_parallel, "true", "Embedding and LM head are split over the TP ranks; false: each holds them whole."),
    {.path = "parallel.order", .type = GL_FIELD_ORDER, .initial = "tp-cp-dp-pp", .offset = offsetof(TARGET, parallel.order),
     .doc = "Which ranks are neighbours: the first axis varies fastest. ep lives inside dp x cp."},

    {.path = "batch.global", .type = GL_FIELD_INT64, .minimum = 1, .maximum = 1e12, .initial = "dp x micro", .offset = offsetof(TARGET, batch.global),
     .doc = "Sequences of a step, over all replicas."},
    INT_ROW("batch.micro", batch.micro, 1, 65536, "1", "Sequences of a microbatch on one replica."),

    DTYPE_ROW("precision.compute", precision.compute, compute_types, "bf16", "Type of parameters and activations in compute and on the wire."),
    DTYPE_ROW("precision.gradients", precision.gradients, gradient_types, "fp32", "Type in which gradients are kept and reduced."),
    DTYPE_ROW("precision.optimizer", precision.optimizer, optimizer_types, "fp32", "Type of each of the optimizer's two moments."),
    DTYPE_ROW("precision.master", precision.master, master_types, "fp32", "Type of the master weights; none: weights are updated in place."),
    DTYPE_ROW("precision.activations", precision.activations, dispatch_types, "compute; bf16 with fp8", "Type in which activations and their gradients travel between TP, CP and PP ranks."),
    DTYPE_ROW("precision.dispatch", precision.dispatch, dispatch_types, "compute", "Type in which tokens travel to their experts."),
    DTYPE_ROW("precision.combine", precision.combine, dispatch_types, "compute", "Type in which tokens travel back from their experts."),

    BOOL_ROW("optimizer.clipping", optimizer.clipping, "true", "Gradients are clipped by their norm before the optimizer: read for the norm, then scaled."),

    {.path = "buckets.gradient", .type = GL_FIELD_REAL, .dimension = GL_BYTES, .minimum = 1, .maximum = 1e15, .initial = "25 MiB",
     .word = "all", .word_value = (double)INFINITY, .offset = offsetof(TARGET, buckets.gradient_bytes),
     .doc = "A bucket of gradients is sent when it reaches this size; all: one message."},
    {.path = "buckets.first", .type = GL_FIELD_REAL, .dimension = GL_BYTES, .minimum = 1, .maximum = 1e15, .initial = "1 MiB; all with gradient: all",
     .word = "all", .word_value = (double)INFINITY, .offset = offsetof(TARGET, buckets.first_bytes),
     .doc = "Size of the first bucket; small, so that communication starts early."},
    REAL_ROW("buckets.compression", buckets.compression, GL_NUMBER, 1, 10000, "1", "Gradient bytes are divided by this factor (gradient compression)."),

    CHOICE_ROW("kernels.attention", kernels.attention, attention_kernels, "best", "Kernel of the attention core: the best for the GPU (FlashAttention 2 or 3, cuDNN), a certain FlashAttention, or none (unfused: scores, softmax and dropout go through memory, as in Megatron-LM before 2023)."),
    CHOICE_ROW("kernels.elementwise", kernels.elementwise, elementwise, "eager", "Norms, activations and additions: each operation of its own (eager, PyTorch as it is), or fused (Megatron, Transformer Engine, torch.compile)."),
    BOOL_ROW("kernels.repeat_kv", kernels.repeat_kv, "false", "Keys and values are repeated to all query heads before the attention core (torchtitan), so they are exchanged between context parallel ranks and kept; false: the kernel takes fewer of them."),
    REAL_ROW("kernels.launch", kernels.launch_s, GL_SECONDS, 0, 0.1, "the GPU's", "Time that one more kernel adds; more than the GPU's own where the host does not keep up, or waits for each kernel (CUDA_LAUNCH_BLOCKING)."),

    BOOL_ROW("overlap.dp", overlap.dp, "true", "Gradient reduction and parameter gathering may hide behind compute."),
    BOOL_ROW("overlap.tp", overlap.tp, "false", "Tensor parallel collectives may hide behind compute. The gather of sp_regather does in any case."),
    BOOL_ROW("overlap.pp", overlap.pp, "true", "Sends between stages may hide behind compute."),
    BOOL_ROW("overlap.cp", overlap.cp, "true", "The exchange of keys and values may hide behind attention."),
    BOOL_ROW("overlap.ep", overlap.ep, "false", "Expert all-to-all may hide behind compute."),
    BOOL_ROW("overlap.zero3_prefetch", overlap.zero3_prefetch, "true", "ZeRO-3 gathers the next unit while this one computes."),

    REAL_ROW("target.exposed_communication", target_exposed_frac, GL_FRACTION, 0.0001, 1, "10 %", "Share of the step that communication may take; the required bandwidth is computed for it."),

    REAL_ROW("compute.step", compute.step_s, GL_SECONDS, GL_ABOVE_ZERO, 8.64e6, "", "A whole step of one GPU without communication and bubble, as measured; replaces the compute model."),
    REAL_ROW("compute.mfu", compute.mfu_frac, GL_FRACTION, GL_ABOVE_ZERO, 1, "", "Model FLOPs utilisation of one GPU without communication and bubble, as measured; replaces the compute model."),

    REAL_ROW("training.tokens", run_tokens, GL_NUMBER, 1, 1e18, "", "Tokens that a run trains on, such as 15e12: its time and cost are given."),
    {.path = NULL},
};
/* clang-format on */
