/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/compute.h"
#include "tests/support.h"

static gl_figure exactly(double value)
{
    return (gl_figure){
        .value = value, .low = value, .high = value, .kind = GL_FIGURE_ASSUMED, .source = "test"};
}

/* Rates that make the arithmetic easy; launches cost nothing. */
static gl_gpu plain_gpu(void)
{
    return (gl_gpu){.memory_bw_bytes_per_s = exactly(1e12),
                    .memory_efficiency = exactly(1),
                    .bf16_flop_per_s = exactly(1e14),
                    .fp16_flop_per_s = exactly(2e14),
                    .gemm_efficiency = exactly(1),
                    .attention_efficiency = exactly(0.5),
                    .attention_backward_efficiency = exactly(0.4),
                    .kernel_launch_s = exactly(0)};
}

static gl_workload gpt(void)
{
    gl_workload w = gl_workload_defaults();
    w.model.layers = 4;
    w.model.hidden = 1024;
    w.model.heads = w.model.kv_heads = 8;
    w.model.head_dim = 128;
    w.model.ffn = 4096;
    w.model.vocab = 32000;
    w.model.sequence = 2048;
    return w;
}

typedef struct result {
    gl_compute compute;
    gl_operator core;
} result;

static result build(const gl_workload *w, const gl_gpu *gpu)
{
    gl_arena *arena = gl_arena_create();
    gl_cluster cluster = {.gpu = gpu};
    gl_parameters parameters;
    result r;
    gl_parameters_build(&w->model, &w->parallel, arena, &parameters);
    gl_compute_build(w, &parameters, &cluster, arena, &r.compute);
    for (size_t i = 0; i < r.compute.operator_count; i++) {
        const gl_operator *o = &r.compute.operators[i];
        if (o->block == GL_BLOCK_DENSE && strcmp(o->name, "attention core") == 0)
            r.core = *o;
    }
    gl_arena_destroy(arena);
    return r;
}

static void flash_attention_skips_what_the_mask_hides(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    w.model.sequence = 4096; /* where the catalogue's efficiencies stand */
    result flash = build(&w, &gpu);
    double flop = 2 * 4096.0 * 2048 * (128 + 128) * 8;
    assert_close(flash.core.forward_flop, flop, 1e-12);
    assert_close(flash.core.forward_s, flop / 5e13, 1e-12);
    assert_close(flash.core.backward_s, 2.5 * flop / 4e13, 1e-12);
    w.kernels.attention = GL_ATTENTION_UNFUSED;
    result unfused = build(&w, &gpu);
    assert_close(unfused.core.forward_flop, 2 * flop, 1e-12);
    /* Scores: softmax 4 bytes, dropout 5, and the two GEMMs write and read them. */
    double scores = 8 * 4096.0 * 4096;
    assert_close(unfused.core.forward_bytes, 13 * scores, 1e-12);
    assert_true(unfused.core.forward_s > 9 * scores / 1e12 + 2 * flop / 1e14);
    assert_close(unfused.compute.model_flop_per_token, flash.compute.model_flop_per_token, 0);
}

static void recomputation_repeats_forward(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    for (int flash = 0; flash < 2; flash++) {
        w.kernels.attention = flash == 1 ? GL_ATTENTION_BEST : GL_ATTENTION_UNFUSED;
        w.parallel.recompute = GL_RECOMPUTE_NONE;
        result none = build(&w, &gpu);
        w.parallel.recompute = GL_RECOMPUTE_SELECTIVE;
        result selective = build(&w, &gpu);
        w.parallel.recompute = GL_RECOMPUTE_FULL;
        result full = build(&w, &gpu);
        double forward_s = none.compute.forward_s[GL_BLOCK_DENSE];
        double backward_s = none.compute.backward_s[GL_BLOCK_DENSE];
        assert_close(selective.compute.backward_s[GL_BLOCK_DENSE], backward_s + none.core.forward_s,
                     1e-12);
        assert_close(full.compute.backward_s[GL_BLOCK_DENSE], backward_s + forward_s, 1e-12);
    }
}

/* A range of one efficiency counts as far as compute depends on it. */
static void the_error_follows_the_shares(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    assert_close(build(&w, &gpu).compute.error_frac, 0, 0);
    gpu.attention_efficiency.low = 0.25;
    gpu.attention_efficiency.high = 0.75;
    double short_error = build(&w, &gpu).compute.error_frac;
    w.model.sequence = 65536;
    double long_error = build(&w, &gpu).compute.error_frac;
    assert_true(short_error > 0 && short_error < long_error);
    assert_true(long_error < 0.5 / 1.2816);
}

/* PyTorch's DDP copies gradients into its buckets; Megatron's fp32 gradients lie in them. */
static void copied_gradients_cost_memory_traffic(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    w.precision = (gl_precision){
        .compute = GL_BF16, .gradients = GL_BF16, .optimizer = GL_BF16, .master = GL_DTYPE_NONE};
    gl_arena *arena = gl_arena_create();
    gl_cluster cluster = {.gpu = &gpu};
    gl_parameters parameters;
    gl_stage *stages;
    gl_parameters_build(&w.model, &w.parallel, arena, &parameters);
    gl_stages_build(&w.model, &w.parallel, arena, &stages);
    double alone_s = gl_compute_optimizer_s(&w, &parameters, stages, &cluster);
    w.parallel.dp = 2;
    double copied_s = gl_compute_optimizer_s(&w, &parameters, stages, &cluster);
    assert_close(copied_s - alone_s, (double)parameters.total * 4 / 1e12, 1e-9);
    /* Clipping reads gradients for the norm, and reads and writes them; the optimizer reads them.
     */
    w.precision.gradients = GL_FP32;
    double total = (double)parameters.total, fp32_s = alone_s + total * 4 * 2 / 1e12;
    assert_close(gl_compute_optimizer_s(&w, &parameters, stages, &cluster), fp32_s, 1e-9);
    w.optimizer.clipping = false;
    fp32_s -= total * 3 * 4 / 1e12;
    assert_close(gl_compute_optimizer_s(&w, &parameters, stages, &cluster), fp32_s, 1e-9);
    w.kernels.elementwise = GL_ELEMENTWISE_FUSED; /* Megatron's buffers are set to zero */
    fp32_s += total * 4 / 1e12;
    assert_close(gl_compute_optimizer_s(&w, &parameters, stages, &cluster), fp32_s, 1e-9);
    w.precision.compute = GL_FP16; /* overflow looked for, loss scale undone */
    fp32_s += total * 2 * 4 / 1e12;
    assert_close(gl_compute_optimizer_s(&w, &parameters, stages, &cluster), fp32_s, 1e-9);
    gl_arena_destroy(arena);
}

/* Long sequences fill the kernel better, up to 1 + 512/4096 of the catalogue's rate. */
static void attention_is_slower_on_short_sequences(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    double rate = 0;
    for (int sequence = 256; sequence <= 1 << 20; sequence *= 4) {
        w.model.sequence = sequence;
        result r = build(&w, &gpu);
        double now = r.core.forward_flop / r.core.forward_s;
        assert_true(now > rate && now < 5e13 * 1.125);
        rate = now;
    }
    assert_close(rate, 5e13 * 1.125, 1e-3);
}

static void an_older_attention_kernel_has_its_own_rate(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    double best_s = build(&w, &gpu).core.forward_s;
    w.kernels.attention = GL_ATTENTION_FLASH_1;
    assert_close(build(&w, &gpu).core.forward_s, best_s, 1e-12); /* not told apart */
    gpu.flash2_efficiency = exactly(0.25);
    assert_close(build(&w, &gpu).core.forward_s, 2 * best_s, 1e-12);
    gpu.flash1_efficiency = exactly(0.125);
    assert_close(build(&w, &gpu).core.forward_s, 4 * best_s, 1e-12);
    w.kernels.attention = GL_ATTENTION_FLASH_2;
    assert_close(build(&w, &gpu).core.forward_s, 2 * best_s, 1e-12);
}

static void fused_kernels_move_fewer_bytes(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    w.batch = (gl_batch){.micro = 1, .global = 1};
    w.precision.gradients = w.precision.compute; /* nothing to add up */
    result eager = build(&w, &gpu);
    w.kernels.elementwise = GL_ELEMENTWISE_FUSED;
    result fused = build(&w, &gpu);
    for (size_t i = 0; i < 2; i++)
        assert_true(fused.compute.forward_s[i] < eager.compute.forward_s[i]);
    assert_close(eager.compute.forward_s[GL_BLOCK_EMBEDDING],
                 1.5 * fused.compute.forward_s[GL_BLOCK_EMBEDDING], 1e-12);
}

/* Head sizes between multiples of 8 (BLOOM's first shapes) cost unfused attention dearly. */
static void unaligned_heads_are_slow(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    gl_workload w = gpt();
    w.kernels.attention = GL_ATTENTION_UNFUSED;
    w.model.head_dim = 112;
    double aligned_s = build(&w, &gpu).core.forward_s;
    w.model.head_dim = 108;
    double unaligned_s = build(&w, &gpu).core.forward_s;
    assert_true(unaligned_s > 1.5 * aligned_s);
}

static void peaks_by_type(void **state)
{
    (void)state;
    gl_gpu gpu = plain_gpu();
    assert_close(gl_peak_flop_per_s(&gpu, GL_FP16), 2e14, 0);
    assert_close(gl_peak_flop_per_s(&gpu, GL_FP8), 1e14, 0); /* no FP8 units */
    gpu.bf16_flop_per_s.kind = GL_FIGURE_ABSENT;
    assert_close(gl_peak_flop_per_s(&gpu, GL_BF16), 2e14, 0);
    assert_true(isnan(gl_peak_flop_per_s(NULL, GL_BF16)));
}

/* Rates of the calibration replace the catalogue's; small GEMMs and launches do not. */
static void measured_rates_win_over_the_catalogue(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_figure half = {.value = 0.5, .low = 0.4, .high = 0.6, .kind = GL_FIGURE_ASSUMED};
    gl_gpu gpu = {.name = "gpu",
                  .bf16_flop_per_s = {.value = 1e15, .kind = GL_FIGURE_SPECIFICATION},
                  .memory_bw_bytes_per_s = {.value = 4e12, .kind = GL_FIGURE_SPECIFICATION},
                  .gemm_efficiency = half,
                  .memory_efficiency = half};
    gl_compute_rate rates[] = {
        {.kind = "gemm", .dtype = GL_BF16, .m = 8192, .n = 8192, .k = 8192, .time_s = 1.5e-3},
        {.kind = "gemm", .dtype = GL_BF16, .m = 64, .n = 64, .k = 64, .time_s = 1e-5},
        {.kind = "memory", .m = 1000000000, .time_s = 1e9 / 3.6e12},
        {.kind = "launch", .time_s = 2e-6},
    };
    gl_cluster cluster = {.name = "c", .gpu = &gpu, .compute = rates, .compute_count = 4};
    const gl_gpu *measured = gl_compute_measured_gpu(&cluster, arena);
    double flop = 2.0 * 8192 * 8192 * 8192;
    assert_close(measured->gemm_efficiency.value, flop / 1.5e-3 / 1e15 * (8192 + 100) / 8192,
                 1e-12);
    assert_int_equal(measured->gemm_efficiency.kind, GL_FIGURE_MEASURED);
    assert_close(measured->memory_efficiency.value, 0.9, 1e-9);
    cluster.compute_count = 0;
    assert_ptr_equal(gl_compute_measured_gpu(&cluster, arena), &gpu);
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_rates_win_over_the_catalogue),
        cmocka_unit_test(flash_attention_skips_what_the_mask_hides),
        cmocka_unit_test(recomputation_repeats_forward),
        cmocka_unit_test(the_error_follows_the_shares),
        cmocka_unit_test(copied_gradients_cost_memory_traffic),
        cmocka_unit_test(attention_is_slower_on_short_sequences),
        cmocka_unit_test(an_older_attention_kernel_has_its_own_rate),
        cmocka_unit_test(fused_kernels_move_fewer_bytes),
        cmocka_unit_test(unaligned_heads_are_slow),
        cmocka_unit_test(peaks_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
