/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products against what an H200 measured (cuBLASLt 13, 2026-11-30). */
#include "planner/core/gemm.h"
#include "tests/support.h"

static gl_figure exactly(double value)
{
    return (gl_figure){
        .value = value, .low = value, .high = value, .kind = GL_FIGURE_ASSUMED, .source = "test"};
}

/* Rates as large products and copies had them in the same run. */
static gl_gpu h200(void)
{
    return (gl_gpu){.bf16_flop_per_s = exactly(989.4e12),
                    .fp8_flop_per_s = exactly(1978.9e12),
                    .gemm_efficiency = exactly(0.87),
                    .fp8_gemm_efficiency = exactly(0.86),
                    .sm_count = exactly(132),
                    .gemm_tile_m = exactly(128),
                    .gemm_tile_n = exactly(256)};
}

static gl_gemm_rates rates_of(const gl_gpu *gpu, gl_dtype dtype)
{
    gl_gemm_rates r = {.gpu = gpu, .memory_bytes_per_s = 4.2e12};
    gl_gemm_set_type(&r, dtype);
    return r;
}

typedef struct measured {
    double m, n, k, bf16_us, bf16_added_us, fp8_added_us;
} measured;

/* Products into BF16, and added to an FP32 output (what a weight gradient does). */
static const measured products[] = {
    {12288, 12288, 1024, 397.5, 682.0, 472.5},     {12288, 12288, 2048, 731.5, 971.2, 618.2},
    {12288, 12288, 4096, 1408.8, 1598.8, 908.2},   {12288, 12288, 8192, 2995.7, 3073.8, 1720.4},
    {12288, 12288, 16384, 5996.3, 5969.9, 3254.8}, {8192, 28672, 2048, 1117.8, 1473.3, 929.5},
    {8192, 28672, 8192, 4689.3, 4775.8, 2658.5},   {4096, 14336, 2048, 285.6, 358.2, 244.7},
    {4096, 14336, 4096, 543.9, 610.8, 368.6},
};

static void times_are_near_the_measured_ones(void **state)
{
    (void)state;
    gl_gpu gpu = h200();
    gl_gemm_rates bf16 = rates_of(&gpu, GL_BF16), fp8 = rates_of(&gpu, GL_FP8);
    gl_accumulation fp32 = {.in_product_bytes = 4};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        const measured *p = &products[i];
        double plain_s = gl_gemm_s(&bf16, p->m, p->n, p->k);
        double added_s = gl_gemm_weight_gradient_s(&bf16, &fp32, p->m, p->n, p->k);
        double fp8_s = gl_gemm_weight_gradient_s(&fp8, &fp32, p->m, p->n, p->k);
        print_message("%g x %g x %g: %+.1f %%, added %+.1f %%, FP8 added %+.1f %%\n", p->m, p->n,
                      p->k, 100 * (plain_s / p->bf16_us * 1e6 - 1),
                      100 * (added_s / p->bf16_added_us * 1e6 - 1),
                      100 * (fp8_s / p->fp8_added_us * 1e6 - 1));
        assert_close(plain_s, p->bf16_us * 1e-6, 0.10);
        assert_close(added_s, p->bf16_added_us * 1e-6, 0.15);
        assert_close(fp8_s, p->fp8_added_us * 1e-6, 0.15);
    }
}

static void rows_off_16_bytes_are_slow(void **state)
{
    (void)state;
    /* 50304, 50260 and 50257 columns: 928, 294 and 98 TFLOP/s. */
    double aligned = gl_gemm_shape_share(NULL, 2048, 50304, 8192, 2);
    assert_close(gl_gemm_shape_share(NULL, 2048, 50260, 8192, 2) / aligned, 294.0 / 928, 0.25);
    assert_close(gl_gemm_shape_share(NULL, 2048, 50257, 8192, 2) / aligned, 98.0 / 928, 0.25);
    /* In FP8 twice as many make 16 bytes. */
    assert_true(gl_gemm_shape_share(NULL, 2048, 24, 8192, 1) < 0.3);
}

static void limits_hold(void **state)
{
    (void)state;
    gl_gpu gpu = h200();
    gl_gemm_rates r = rates_of(&gpu, GL_BF16);
    gl_accumulation none = {0}, apart = {.apart_bytes = 10};
    assert_close(gl_gemm_s(&r, 0, 128, 128), 0, 0);
    assert_close(gl_gemm_weight_gradient_s(&r, &none, 128, 128, 0), 0, 0);
    /* Never faster than the peak's share or the memory. */
    for (double m = 16; m < 1e5; m *= 3) {
        double s = gl_gemm_s(&r, m, 4096, 4096);
        assert_true(s >= 2 * m * 4096 * 4096 / r.flop_per_s);
        assert_true(s >= 2 * (m * 8192 + 4096.0 * 4096) / r.memory_bytes_per_s);
    }
    double plain_s = gl_gemm_weight_gradient_s(&r, &none, 4096, 4096, 4096);
    double apart_s = gl_gemm_weight_gradient_s(&r, &apart, 4096, 4096, 4096);
    assert_close(apart_s - plain_s, 10 * 4096.0 * 4096 / r.memory_bytes_per_s, 1e-9);
    assert_close(gl_gemm_cast_s(&r, 1e6), 0, 0);
    gl_gemm_rates fp8 = rates_of(&gpu, GL_FP8);
    assert_close(gl_gemm_cast_s(&fp8, 1e6), 4e6 / fp8.memory_bytes_per_s, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_near_the_measured_ones),
        cmocka_unit_test(rows_off_16_bytes_are_slow),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
