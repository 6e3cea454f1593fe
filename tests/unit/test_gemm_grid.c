/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/gemm_grid.h"
#include "tests/support.h"

#include <stdlib.h>

static bool has(gl_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    gl_gemm_shape s;
    for (size_t i = 0; gl_gemm_grid(i, &s); i++)
        if (s.dtype == dtype && s.m == m && s.n == n && s.k == k)
            return true;
    return false;
}

static void the_grid_holds_what_models_have(void **state)
{
    (void)state;
    assert_true(has(GL_BF16, 8192, 8192, 8192));
    assert_true(has(GL_BF16, 16384, 28672, 8192));
    assert_true(has(GL_BF16, 128, 4096, 14336));
    assert_true(has(GL_FP8, 2048, 128256, 8192));
    assert_true(has(GL_BF16, 512, 32000, 4096));
    assert_true(has(GL_BF16, 4096, 14400, 3600));
}

/* FP8 kernels want multiples of 16; a repeated shape would be measured twice for nothing. */
static void shapes_are_distinct_and_aligned(void **state)
{
    (void)state;
    gl_gemm_shape a, b;
    size_t count = 0;
    for (; gl_gemm_grid(count, &a); count++) {
        assert_int_equal(a.m % 16 + a.n % 16 + a.k % 16, 0);
        for (size_t i = 0; i < count; i++) {
            gl_gemm_grid(i, &b);
            assert_false(a.dtype == b.dtype && a.m == b.m && a.n == b.n && a.k == b.k);
        }
    }
    assert_true(count > 300 && count < 1000);
}

static void bytes(void **state)
{
    (void)state;
    const gl_gemm_shape shape = {GL_FP8, 128256, 16384, 100000};
    gl_gemm_bytes b;
    gl_gemm_bytes_of(&shape, &b);
    assert_int_equal(b.weights, UINT64_C(16384) * 100000);
    assert_int_equal(b.inputs, UINT64_C(128256) * 100000);
    assert_int_equal(b.outputs, UINT64_C(128256) * 16384 * 2);
}

/* Mean 0 and variance 1, as bits of the types say; no NaN in FP8 (0x7f, 0xff). */
static void data_is_normal(void **state)
{
    (void)state;
    enum { N = 20000 };
    unsigned char *data = malloc(2 * N);
    double sum = 0, squares = 0;
    assert_non_null(data);
    gl_gemm_data(GL_BF16, N, data);
    for (int i = 0; i < N; i++) {
        uint32_t bits = (uint32_t)(data[2 * i] | data[2 * i + 1] << 8) << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        sum += (double)value;
        squares += (double)value * (double)value;
    }
    assert_true(fabs(sum / N) < 0.03);
    assert_true(fabs(squares / N - 1) < 0.05);
    gl_gemm_data(GL_FP8, N, data);
    int zeros = 0;
    for (int i = 0; i < N; i++) {
        assert_true((data[i] & 0x7f) != 0x7f);
        zeros += (data[i] & 0x7f) == 0;
    }
    assert_true(zeros < N / 20);
    free(data);
}

static void series_hide_their_communication(void **state)
{
    (void)state;
    gl_overlap_series s = gl_overlap_series_of(1.5e-3, 0.26e-3, 0.5);
    assert_int_equal(s.gemms, 14);
    assert_int_equal(s.collectives, 40);
    s = gl_overlap_series_of(1.5e-3, 60e-3, 0.2); /* slow: compute is as long as it needs */
    assert_int_equal(s.gemms, 200);
    assert_int_equal(s.collectives, 1);
    s = gl_overlap_series_of(1e-3, 1e-9, 0.5);
    assert_true(s.collectives > 0 && s.collectives <= 2000);
}

static void collectives_are_spread(void **state)
{
    (void)state;
    const gl_overlap_series few = {10, 3}, many = {3, 10};
    assert_int_equal(gl_overlap_due(&few, 0), 1);
    assert_int_equal(gl_overlap_due(&few, 9), 3);
    assert_int_equal(gl_overlap_due(&many, 0), 4);
    assert_int_equal(gl_overlap_due(&many, 2), 10);
}

static void overlap_cases(void **state)
{
    (void)state;
    gl_overlap_case c;
    size_t count = 0;
    assert_true(gl_overlap_grid(0, &c));
    assert_int_equal(c.collective, GL_ALL_REDUCE);
    while (gl_overlap_grid(count, &c))
        count++;
    assert_int_equal(count, 5 * 4 * 3 * 2);
}

static void summaries(void **state)
{
    (void)state;
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, median, p95;
    gl_rates_summary(odd, 3, &median, &p95);
    assert_close(median, 2.0, 1e-12);
    assert_close(p95, 2.9, 1e-12); /* as gl_statistics_of: between order statistics */
    gl_rates_summary(even, 4, &median, &p95);
    assert_close(median, 2.5, 1e-12);
    assert_close(p95, 3.85, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_holds_what_models_have),
        cmocka_unit_test(shapes_are_distinct_and_aligned),
        cmocka_unit_test(bytes),
        cmocka_unit_test(data_is_normal),
        cmocka_unit_test(series_hide_their_communication),
        cmocka_unit_test(collectives_are_spread),
        cmocka_unit_test(overlap_cases),
        cmocka_unit_test(summaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
