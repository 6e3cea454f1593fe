/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The real training steps of tests/fixtures/train_known.jsonl as workloads: what was trained there,
 * said in this project's terms. tests/fixtures/README.md says how they were measured.
 */
#ifndef TESTS_KNOWN_RUNS_H
#define TESTS_KNOWN_RUNS_H

#include "planner/core/workload.h"
#include "tests/support.h"

#include <jansson.h>

typedef struct known_run {
    json_t *row; /* owned by the caller of known_runs_load */
    const char *kind, *model, *link;
    double step_s;
    double peak_memory_bytes;
    gl_workload workload;
} known_run;

enum { KNOWN_RUNS_MAX = 64 };

static inline int known_int(const json_t *row, const char *key)
{
    return (int)json_integer_value(json_object_get(row, key));
}

static inline bool known_is(const known_run *run, const char *kind)
{
    return strcmp(run->kind, kind) == 0;
}

static inline void known_model(known_run *run)
{
    gl_model *m = &run->workload.model;
    const json_t *row = run->row;
    m->name = run->model;
    m->layers = known_int(row, "layers");
    m->hidden = known_int(row, "hidden");
    m->heads = known_int(row, "heads");
    m->kv_heads = known_int(row, "kv_heads");
    m->head_dim = m->hidden / m->heads;
    m->ffn = known_int(row, "ffn");
    m->vocab = known_int(row, "vocab");
    m->sequence = known_int(row, "sequence");
    m->gated_mlp = true;
    m->fused_weights = true;
    m->moe.experts = known_int(row, "experts");
    m->moe.top_k = known_int(row, "topk");
    m->moe.expert_ffn = known_int(row, "ffn_expert");
}

/* All weights, gradients and states in BF16, updated in place, unless the kind says otherwise. */
static inline void known_precision(known_run *run)
{
    gl_precision *p = &run->workload.precision;
    bool fp32 = known_is(run, "fsdp") || known_is(run, "zero1");
    p->compute = GL_BF16;
    p->gradients = fp32 ? GL_FP32 : GL_BF16;
    p->optimizer = fp32 ? GL_FP32 : GL_BF16;
    p->master = fp32 ? GL_FP32 : GL_DTYPE_NONE;
}

static inline void known_parallel(known_run *run)
{
    gl_workload *w = &run->workload;
    gl_parallel *p = &w->parallel;
    const char *recompute = json_string_value(json_object_get(run->row, "recompute"));
    p->vocab_parallel = false;
    p->sp_regather = false;
    if (recompute != NULL && strcmp(recompute, "full") == 0) {
        p->recompute = GL_RECOMPUTE_FULL;
        p->recompute_early_stop = true;
    }
    if (known_is(run, "tp") || known_is(run, "tp_sp")) {
        p->tp = 2;
        p->sequence_parallel = known_is(run, "tp_sp");
    } else if (known_is(run, "pp_1f1b")) {
        p->pp = 2;
    } else if (known_is(run, "cp_allgather")) {
        p->cp = 2;
        p->cp_method = GL_CP_ALLGATHER;
    } else if (!known_is(run, "single_gpu")) {
        p->dp = 2;
    }
    p->ep = known_is(run, "moe_ep") ? 2 : 1;
    p->zero = known_is(run, "fsdp") ? 3 : known_is(run, "zero1") ? 1 : 0;
    /* Only DDP and FSDP overlapped their gradients; the others sent them in one message. */
    if (!known_is(run, "ddp") && !known_is(run, "fsdp")) {
        w->overlap.dp = false;
        w->buckets.gradient_bytes = (double)INFINITY;
    } else if (known_is(run, "ddp")) {
        w->buckets.gradient_bytes = known_int(run->row, "bucket_mib") * 1048576.0;
        w->buckets.first_bytes = 1048576.0;
    }
}

static inline void known_batch(known_run *run)
{
    gl_workload *w = &run->workload;
    int accumulation = known_int(run->row, "accumulation_steps");
    int microbatches = known_int(run->row, "microbatches");
    int m = accumulation > 0 ? accumulation : microbatches > 0 ? microbatches : 1;
    w->batch.micro = known_int(run->row, "microbatch");
    w->batch.global = (int64_t)w->batch.micro * w->parallel.dp * m;
}

/* Reads all runs; returns their number. */
static inline int known_runs_load(known_run *runs)
{
    FILE *file = fopen(TEST_SOURCE_DIR "/fixtures/train_known.jsonl", "r");
    assert_non_null(file);
    char line[65536];
    int count = 0;
    while (count < KNOWN_RUNS_MAX && fgets(line, sizeof line, file) != NULL) {
        known_run *run = &runs[count++];
        memset(run, 0, sizeof *run);
        run->row = json_loads(line, 0, NULL);
        assert_non_null(run->row);
        run->kind = json_string_value(json_object_get(run->row, "kind"));
        run->model = json_string_value(json_object_get(run->row, "model"));
        run->link = json_string_value(json_object_get(run->row, "link"));
        run->step_s = json_number_value(json_object_get(run->row, "step_s"));
        run->peak_memory_bytes =
            json_number_value(json_object_get(run->row, "peak_memory_gib")) * 1073741824.0;
        run->workload = gl_workload_defaults();
        known_model(run);
        known_precision(run);
        known_parallel(run);
        known_batch(run);
    }
    fclose(file);
    return count;
}

static inline void known_runs_free(known_run *runs, int count)
{
    for (int i = 0; i < count; i++)
        json_decref(runs[i].row);
}

#endif
