/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The training steps of tests/fixtures/train_known.jsonl as workloads. All ran on one node of two
 * GPUs with PyTorch: weights, gradients and optimizer in bf16 unless said otherwise below.
 */
#ifndef TESTS_UNIT_KNOWN_RUNS_H
#define TESTS_UNIT_KNOWN_RUNS_H

#include "tests/support.h"

#include "planner/core/workload.h"

#include <jansson.h>

static inline int known_int(const json_t *run, const char *key)
{
    return (int)json_integer_value(json_object_get(run, key));
}

static inline const char *known_text(const json_t *run, const char *key)
{
    const char *text = json_string_value(json_object_get(run, key));
    return text != NULL ? text : "";
}

static inline gl_model known_model(const json_t *run)
{
    gl_model m = gl_workload_defaults().model;
    m.name = known_text(run, "model");
    m.layers = known_int(run, "layers");
    m.hidden = known_int(run, "hidden");
    m.heads = known_int(run, "heads");
    m.kv_heads = known_int(run, "kv_heads");
    m.head_dim = m.hidden / m.heads;
    m.ffn = known_int(run, "ffn");
    m.vocab = known_int(run, "vocab");
    m.sequence = known_int(run, "sequence");
    m.moe.experts = known_int(run, "experts");
    m.moe.top_k = known_int(run, "topk");
    m.moe.expert_ffn = known_int(run, "ffn_expert");
    return m;
}

static inline void known_layout(const json_t *run, const char *kind, gl_workload *w)
{
    gl_parallel *p = &w->parallel;
    int gpus = known_int(run, "gpus");
    p->vocab_parallel = false;
    p->sp_regather = false;
    if (strcmp(kind, "tp") == 0 || strcmp(kind, "tp_sp") == 0) {
        p->tp = gpus;
        p->sequence_parallel = strcmp(kind, "tp_sp") == 0;
    } else if (strcmp(kind, "pp_1f1b") == 0) {
        p->pp = gpus;
    } else if (strcmp(kind, "cp_allgather") == 0) {
        p->cp = gpus;
        p->cp_method = GL_CP_ALLGATHER;
        p->cp_balanced = false; /* contiguous halves of the sequence */
    } else {
        p->dp = gpus;
    }
    if (strcmp(kind, "moe_ep") == 0)
        p->ep = gpus;
    if (strcmp(kind, "fsdp") == 0)
        p->zero = 3;
    if (strcmp(kind, "zero1") == 0)
        p->zero = 1;
    if (strcmp(known_text(run, "recompute"), "full") == 0) {
        p->recompute = GL_RECOMPUTE_FULL;
        p->recompute_early_stop = true;
    }
}

static inline gl_workload known_workload(const json_t *run)
{
    const char *kind = known_text(run, "kind");
    gl_workload w = gl_workload_defaults();
    w.model = known_model(run);
    known_layout(run, kind, &w);
    bool ddp = strcmp(kind, "ddp") == 0;
    bool fp32 = strcmp(kind, "fsdp") == 0 || strcmp(kind, "zero1") == 0;
    gl_dtype state = fp32 ? GL_FP32 : GL_BF16;
    w.precision = (gl_precision){.compute = GL_BF16,
                                 .gradients = state,
                                 .optimizer = state,
                                 .master = fp32 ? GL_FP32 : GL_DTYPE_NONE};
    w.buckets.gradient_bytes =
        ddp ? known_int(run, "bucket_mib") * 1024.0 * 1024.0 : (double)INFINITY;
    /* Only DDP and FSDP communicated beside compute. */
    w.overlap.dp = ddp || strcmp(kind, "fsdp") == 0;
    w.overlap.cp = false;
    w.optimizer.clipping = false;
    w.batch.micro = known_int(run, "microbatch");
    int microbatches = known_int(run, "accumulation_steps") + known_int(run, "microbatches");
    w.batch.global = (int64_t)w.batch.micro * w.parallel.dp * (microbatches > 0 ? microbatches : 1);
    return w;
}

/* Calls `visit` for every line of the fixture. */
static inline void known_runs(void (*visit)(const json_t *run, int line))
{
    FILE *file = fopen(TEST_SOURCE_DIR "/fixtures/train_known.jsonl", "r");
    assert_non_null(file);
    char line[8192];
    int number = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *run = json_loads(line, 0, NULL);
        assert_non_null(run);
        visit(run, ++number);
        json_decref(run);
    }
    fclose(file);
    assert_int_equal(number, 17);
}

#endif
