/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "calibrate/measure/statistics.h"

/* As tables of the sign test give them. */
static void test_ranks_of_the_interval(void **state)
{
    static const struct {
        int count, rank;
    } cases[] = {{1, 1},  {2, 1},  {5, 1},   {6, 1},   {8, 1},    {9, 2},    {11, 2},
                 {12, 3}, {20, 6}, {30, 10}, {50, 18}, {100, 40}, {500, 228}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gl_statistics_median_rank(cases[i].count), cases[i].rank);
}

/* The exact rule and the approximation meet, and neither leaves the range. */
static void test_ranks_are_monotone(void **state)
{
    (void)state;
    int before = 1;
    for (int n = 1; n < 3000; n++) {
        int rank = gl_statistics_median_rank(n);
        assert_in_range(rank, before, (n + 1) / 2 > before ? (n + 1) / 2 : before);
        assert_true(rank - before <= 1);
        before = rank;
    }
}

static void test_known_values(void **state)
{
    double values[] = {5, 1, 4, 2, 3};
    (void)state;
    gl_statistics s = gl_statistics_of(values, 5);
    assert_close(s.median, 3, 0);
    assert_close(s.min, 1, 0);
    assert_close(s.p05, 1.2, 1e-15);
    assert_close(s.p95, 4.8, 1e-15);
    assert_close(s.low, 1, 0);
    assert_close(s.high, 5, 0);
    assert_close(gl_statistics_half_width(&s), 2.0 / 3, 1e-15);
}

static void test_one_value(void **state)
{
    double value = 7;
    (void)state;
    gl_statistics s = gl_statistics_of(&value, 1);
    assert_close(s.median, 7, 0);
    assert_close(s.p95, 7, 0);
    assert_close(gl_statistics_half_width(&s), 0, 0);
}

/* An outlier moves a mean, not these. */
static void test_outlier(void **state)
{
    double values[101];
    (void)state;
    for (int i = 0; i < 101; i++)
        values[i] = 10 + 0.001 * (i % 10);
    values[50] = 1e6;
    gl_statistics s = gl_statistics_of(values, 101);
    assert_close(s.median, 10.0045, 1e-3);
    assert_true(s.p95 < 10.01);
    assert_true(gl_statistics_half_width(&s) < 1e-3);
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* 95 % means 95 %: how often the interval holds the true median of a skewed distribution. */
static void test_coverage(void **state)
{
    uint64_t seed = 42;
    int held = 0, trials = 4000;
    double values[25];
    (void)state;
    for (int t = 0; t < trials; t++) {
        for (int i = 0; i < 25; i++)
            values[i] = -log(1 - uniform(&seed));
        gl_statistics s = gl_statistics_of(values, 25);
        held += s.low <= log(2) && log(2) <= s.high;
    }
    assert_in_range(held, (int)(0.945 * trials), (int)(0.975 * trials));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_of_the_interval),
        cmocka_unit_test(test_ranks_are_monotone),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_one_value),
        cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
