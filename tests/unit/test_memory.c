/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/known_runs.h"

#include "planner/core/memory.h"

static const double gib = 1024.0 * 1024 * 1024;

static gl_memory estimate(const gl_workload *w, int stage, const gl_gpu *gpu)
{
    gl_arena *arena = gl_arena_create();
    gl_parameters parameters;
    gl_stage *stages;
    gl_memory memory;
    gl_parameters_build(&w->model, &w->parallel, arena, &parameters);
    gl_stages_build(&w->model, &w->parallel, arena, &stages);
    gl_memory_estimate(w, &parameters, &stages[stage], gpu, &memory);
    gl_arena_destroy(arena);
    return memory;
}

/* What the framework's allocator sees: without CUDA context and NCCL. */
static double fullest_stage(const gl_workload *w)
{
    double fullest = 0;
    for (int stage = 0; stage < w->parallel.pp; stage++) {
        gl_memory m = estimate(w, stage, NULL);
        fullest = fmax(fullest, m.total_bytes - m.library_bytes);
    }
    return fullest;
}

static double error_sum, error_worst;

static void visit_run(const known_run *run)
{
    double measured = known_number(run, "peak_memory_gib");
    double predicted = fullest_stage(run->workload) / gib, error = predicted / measured - 1;
    printf("%-20s measured %6.2f GiB, predicted %6.2f GiB, %+5.1f %%\n", run->id, measured,
           predicted, 100 * error);
    error_sum += fabs(error);
    error_worst = fmax(error_worst, fabs(error));
}

static void test_known_peaks(void **state)
{
    (void)state;
    known_runs(visit_run);
    printf("mean %.1f %%, worst %.1f %%\n", 100 * error_sum / 17, 100 * error_worst);
    assert_true(error_worst < 0.10);
}

static gl_workload llama_8b(void)
{
    gl_workload w = gl_workload_defaults();
    gl_model *m = &w.model;
    m->layers = 32;
    m->hidden = 4096;
    m->heads = 32;
    m->kv_heads = 8;
    m->head_dim = 128;
    m->ffn = 14336;
    m->vocab = 128256;
    m->sequence = 8192;
    return w;
}

static const double n8 = 8030261248;

static void test_zero_stages(void **state)
{
    (void)state;
    gl_workload w = llama_8b();
    w.parallel.dp = 8;
    w.batch.global = 64;
    static const double parameters[] = {2, 2, 2, 4 / 8.0};
    static const double gradients[] = {4, 4, 4 / 8.0, 4 / 8.0};
    static const double optimizer[] = {12, 12 / 8.0, 12 / 8.0,
                                       1}; /* master: the shards themselves */
    for (int zero = 0; zero <= 3; zero++) {
        w.parallel.zero = zero;
        w.parallel.accumulate = zero != 2; /* shards alone, when each microbatch reduces */
        gl_memory m = estimate(&w, 0, NULL);
        assert_close(m.parameters_bytes, parameters[zero] * n8, 1e-12);
        assert_close(m.gradients_bytes, gradients[zero] * n8, 1e-12);
        assert_close(m.optimizer_bytes, optimizer[zero] * n8, 1e-12);
        assert_close(m.total_bytes + m.not_together_bytes,
                     m.parameters_bytes + m.gradients_bytes + m.optimizer_bytes +
                         m.activations_bytes + m.logits_bytes + m.buffers_bytes,
                     1e-12);
        assert_close(m.not_together_bytes + 1, 1, 1e-6); /* accumulated gradients stay */
    }
    w.parallel.zero = 2;
    w.parallel.accumulate = true;
    assert_close(estimate(&w, 0, NULL).gradients_bytes, 4 * n8, 1e-12);
}

/* GPT of 34·s·b·h per layer (arXiv 2205.05198, equation 2 without scores), of which two bytes are
 * dropout masks that are not modelled; all of it divided by t with SP (equation 4). */
static void test_korthikanti(void **state)
{
    (void)state;
    gl_workload w = llama_8b();
    gl_model *m = &w.model;
    m->gated_mlp = false;
    m->kv_heads = m->heads;
    m->ffn = 4 * m->hidden;
    m->learned_positions = m->sequence;
    double sbh = 8192.0 * 4096, ends = 2 * 2 * sbh;
    gl_memory one = estimate(&w, 0, NULL);
    assert_close(one.activations_bytes, 32 * 32 * sbh + ends, 1e-12);
    w.parallel.tp = 8;
    gl_memory tp = estimate(&w, 0, NULL); /* 8 of 32 bytes are on every rank */
    assert_close(tp.activations_bytes, 32 * sbh * (8 + 24 / 8.0) + ends, 1e-12);
    w.parallel.sequence_parallel = true;
    gl_memory sp = estimate(&w, 0, NULL);
    assert_close(sp.activations_bytes, one.activations_bytes / 8, 1e-12);
    w.parallel.recompute = GL_RECOMPUTE_SELECTIVE;
    assert_close(estimate(&w, 0, NULL).activations_bytes, sp.activations_bytes, 0);
    w.parallel.recompute = GL_RECOMPUTE_FULL; /* 2·s·b·h a layer, and one whole layer */
    assert_close(estimate(&w, 0, NULL).activations_bytes, ((32 * 2 + 32) * sbh + ends) / 8, 1e-12);
}

/* Without flash attention the paper's 5·a·s/h, which selective recomputation brings down to one
 * layer's. */
static void test_unfused_scores(void **state)
{
    (void)state;
    gl_workload w = llama_8b();
    double flash = estimate(&w, 0, NULL).activations_bytes;
    double scores = 5.0 * 32 * 8192.0 * 8192;
    w.kernels.attention = GL_ATTENTION_UNFUSED;
    assert_close(estimate(&w, 0, NULL).activations_bytes, flash + 32 * scores, 1e-12);
    w.parallel.recompute = GL_RECOMPUTE_SELECTIVE;
    assert_close(estimate(&w, 0, NULL).activations_bytes, flash + scores, 1e-12);
}

/* Parameters, gradients and optimizer of the four models of arXiv 2205.05198 on one GPU, as
 * published: 18 bytes for each weight of the layers, so a stage without the token table. */
static void test_published_states(void **state)
{
    (void)state;
    const struct {
        int layers, hidden, heads, pp;
        double gib;
    } models[] = {{48, 6144, 64, 1, 45.56},
                  {96, 12288, 96, 8, 45.56},
                  {105, 20480, 128, 35, 31.64},
                  {128, 25600, 160, 64, 32.96}};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        gl_workload w = gl_workload_defaults();
        w.model.layers = models[i].layers;
        w.model.hidden = models[i].hidden;
        w.model.heads = w.model.kv_heads = models[i].heads;
        w.model.head_dim = models[i].hidden / models[i].heads;
        w.model.ffn = 4 * models[i].hidden;
        w.model.gated_mlp = false;
        w.model.vocab = models[i].pp > 1 ? 51200 : 8;
        w.model.sequence = w.model.learned_positions = 2048;
        w.model.tied_embeddings = true;
        w.model.biases = GL_BIASES_ALL;
        w.model.norms = GL_NORMS_LAYERNORM;
        w.parallel.tp = 8;
        w.parallel.pp = models[i].pp;
        gl_memory m = estimate(&w, models[i].pp > 1 ? 1 : 0, NULL);
        double states = m.parameters_bytes + m.gradients_bytes + m.optimizer_bytes;
        printf("%6.2f GiB published, %6.2f\n", models[i].gib, states / gib);
        assert_close(states / gib, models[i].gib, 0.006);
    }
}

static void test_in_flight(void **state)
{
    (void)state;
    gl_workload w = llama_8b();
    w.parallel.pp = 4;
    w.batch.global = 16;
    assert_int_equal(estimate(&w, 0, NULL).in_flight, 4);
    assert_int_equal(estimate(&w, 3, NULL).in_flight, 1);
    w.parallel.schedule = GL_SCHEDULE_GPIPE;
    assert_int_equal(estimate(&w, 3, NULL).in_flight, 16);
    w.parallel.schedule = GL_SCHEDULE_INTERLEAVED;
    w.parallel.virtual_stages = 2;
    gl_memory first = estimate(&w, 0, NULL); /* p·v + p − 1 chunks of 1/v each */
    assert_int_equal(first.in_flight, 11);
    assert_int_equal(estimate(&w, 3, NULL).in_flight, 5);
    w.parallel.schedule = GL_SCHEDULE_1F1B;
    w.parallel.virtual_stages = 1;
    assert_close(first.activations_bytes / estimate(&w, 0, NULL).activations_bytes, 1 + 3 / 8.0,
                 1e-12);
    w.batch.global = 2;
    assert_int_equal(estimate(&w, 0, NULL).in_flight, 2);
}

static void test_fits(void **state)
{
    (void)state;
    gl_gpu gpu = {.name = "gpu", .memory_bytes = {.value = 80e9, .kind = GL_FIGURE_SPECIFICATION}};
    gl_workload w = llama_8b();
    gl_memory m = estimate(&w, 0, &gpu);
    assert_false(m.fits);
    assert_close(m.reserve_bytes, 4.8e9, 1e-12);
    w.parallel.dp = 64;
    w.parallel.zero = 3;
    w.parallel.recompute = GL_RECOMPUTE_FULL;
    assert_true(estimate(&w, 0, &gpu).fits);
    gpu.memory_bytes.kind = GL_FIGURE_ABSENT;
    m = estimate(&w, 0, &gpu);
    assert_true(m.fits && isnan(m.capacity_bytes));
}

static void test_stated_count(void **state)
{
    (void)state;
    gl_workload w = gl_workload_defaults();
    w.model.parameters = 70e9;
    w.parallel.dp = 8;
    w.parallel.zero = 1;
    gl_memory m = estimate(&w, 0, NULL);
    assert_true(isnan(m.activations_bytes));
    assert_close(m.total_bytes - m.library_bytes, 70e9 * (2 + 4 + 12 / 8.0), 1e-12);
}

static void test_experts_are_sharded_apart(void **state)
{
    (void)state;
    gl_workload w = llama_8b();
    w.model.moe.experts = 8;
    w.model.moe.top_k = 2;
    w.model.moe.expert_ffn = 14336;
    w.parallel.dp = 8;
    w.parallel.ep = 8; /* one expert a rank, one replica: nothing of it to shard */
    w.parallel.zero = 1;
    gl_memory m = estimate(&w, 0, NULL);
    double expert = 32 * 3.0 * 4096 * 14336, dense = m.parameters_bytes / 2 - expert;
    assert_close(m.optimizer_bytes, 12 * (expert + dense / 8), 1e-12);
}

/* 32 heads instead of 8 of K and of V, as the core takes them, in 32 layers. */
static void test_repeated_keys_and_values(void **state)
{
    (void)state;
    gl_workload w = llama_8b();
    double before = estimate(&w, 0, NULL).activations_bytes;
    w.kernels.repeat_kv = true;
    double tokens = w.batch.micro * (double)w.model.sequence;
    assert_close(estimate(&w, 0, NULL).activations_bytes - before,
                 32 * tokens * 2 * (32 - 8) * 128 * 2, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_peaks),
        cmocka_unit_test(test_zero_stages),
        cmocka_unit_test(test_korthikanti),
        cmocka_unit_test(test_unfused_scores),
        cmocka_unit_test(test_published_states),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_stated_count),
        cmocka_unit_test(test_experts_are_sharded_apart),
        cmocka_unit_test(test_repeated_keys_and_values),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
