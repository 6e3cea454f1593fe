/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "common/quantile.h"

#include <math.h>

static void test_median(void **state)
{
    (void)state;
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(gl_median(odd, 3) == 2);
    assert_true(odd[0] == 1 && odd[1] == 2 && odd[2] == 3);
    assert_true(gl_median(even, 4) == 2.5);
    assert_true(gl_median(one, 1) == 7);
    assert_true(isnan(gl_median(one, 0)));
}

static void test_quantile(void **state)
{
    (void)state;
    const double values[] = {10, 20, 30, 40, 50};
    assert_true(gl_quantile(values, 5, 0) == 10);
    assert_true(gl_quantile(values, 5, 1) == 50);
    assert_true(gl_quantile(values, 5, 0.5) == 30);
    assert_close(gl_quantile(values, 5, 0.05), 12, 1e-12);
    assert_close(gl_quantile(values, 5, 0.95), 48, 1e-12);
    assert_true(gl_quantile(values, 1, 0.95) == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
