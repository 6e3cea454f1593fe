/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/curve.h"
#include "tests/support.h"

static gl_curve curve_of(gl_arena *arena, const double *sizes, const double *times, size_t n)
{
    gl_sample *samples = GL_ARENA_NEW(arena, gl_sample, n);
    for (size_t i = 0; i < n; i++)
        samples[i] = (gl_sample){.size_bytes = sizes[i],
                                 .time_median_s = times[i],
                                 .time_p05_s = (double)NAN,
                                 .time_p95_s = (double)NAN,
                                 .time_min_s = (double)NAN,
                                 .wrong = (double)NAN};
    return (gl_curve){.id = 1,
                      .collective = GL_ALL_REDUCE,
                      .placement = {2, 1, 2, 1},
                      .redop = "sum",
                      .algorithm = "",
                      .protocol = "",
                      .root = -1,
                      .samples = samples,
                      .sample_count = n};
}

/* A line with a floor: 10 us + 1 ns/B·…, octaves from 8 B to 1 GiB. */
enum { OCTAVES = 28 };
static gl_curve straight(gl_arena *arena)
{
    double sizes[OCTAVES], times[OCTAVES];
    for (int i = 0; i < OCTAVES; i++) {
        sizes[i] = ldexp(8, i);
        times[i] = 10e-6 + sizes[i] / 100e9;
    }
    return curve_of(arena, sizes, times, OCTAVES);
}

static void at_samples_it_is_what_was_measured(void **state)
{
    gl_arena *arena = *state;
    gl_curve curve = straight(arena);
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    for (size_t i = 0; i < curve.sample_count; i++) {
        gl_curve_time t = gl_curve_eval(&fit, curve.samples[i].size_bytes);
        assert_close(t.time_s, curve.samples[i].time_median_s, 1e-15);
        assert_int_equal(t.evidence, GL_EVIDENCE_MEASURED);
    }
}

static void a_line_is_interpolated_and_continued_exactly(void **state)
{
    gl_arena *arena = *state;
    gl_curve curve = straight(arena);
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    assert_int_equal(fit.quality.method, GL_INTERPOLATION_LINEAR);
    assert_true(fit.quality.loo_median_frac < 1e-9);
    gl_curve_time t = gl_curve_eval(&fit, 3e6);
    assert_close(t.time_s, 10e-6 + 3e6 / 100e9, 1e-12);
    assert_int_equal(t.evidence, GL_EVIDENCE_INTERPOLATED);
    t = gl_curve_eval(&fit, 8e9);
    assert_close(t.time_s, 10e-6 + 8e9 / 100e9, 1e-6);
    assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_SIZE);
    assert_true(t.error_frac > gl_curve_eval(&fit, 2e9).error_frac);
}

static void below_the_samples_is_the_floor_never_zero(void **state)
{
    gl_arena *arena = *state;
    gl_curve curve = straight(arena);
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    assert_close(gl_curve_eval(&fit, 0).time_s, curve.samples[0].time_median_s, 1e-15);
    assert_close(gl_curve_eval(&fit, 1).time_s, curve.samples[0].time_median_s, 1e-15);
    /* A curve that begins at a large size says so. */
    curve.samples += 20;
    curve.sample_count -= 20;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    gl_curve_time t = gl_curve_eval(&fit, 1024);
    assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_SIZE);
    assert_true(t.error_frac > 0.1);
}

static void a_switch_of_algorithm_is_kept(void **state)
{
    gl_arena *arena = *state;
    double sizes[] = {1e5, 2e5, 4e5, 8e5, 16e5, 32e5, 64e5};
    double times[] = {2e-5, 3e-5, 5e-5, 9e-5, 4e-5, 7e-5, 13e-5}; /* faster from 1.6 MB on */
    gl_curve curve = curve_of(arena, sizes, times, 7);
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    assert_int_equal(fit.quality.decreasing_steps, 1);
    assert_close(gl_curve_eval(&fit, 8e5).time_s, 9e-5, 1e-12);
    assert_close(gl_curve_eval(&fit, 16e5).time_s, 4e-5, 1e-12);
    /* Between them the time stays between them, and the error is larger than elsewhere. */
    gl_curve_time t = gl_curve_eval(&fit, 12e5);
    assert_true(t.time_s >= 4e-5 && t.time_s <= 9e-5);
    assert_true(t.error_frac > gl_curve_eval(&fit, 48e5).error_frac);
}

static void wrong_and_zero_samples_are_not_used(void **state)
{
    gl_arena *arena = *state;
    double sizes[] = {0, 1e5, 2e5, 4e5}, times[] = {1e-6, 2e-5, 1.0, 5e-5};
    gl_curve curve = curve_of(arena, sizes, times, 4);
    ((gl_sample *)(uintptr_t)curve.samples)[2].wrong = 768;
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    assert_int_equal(fit.quality.points, 2);
    assert_true(gl_curve_eval(&fit, 2e5).time_s < 1e-4);
}

static void one_sample_is_refused(void **state)
{
    gl_arena *arena = *state;
    double sizes[] = {1e5}, times[] = {2e-5};
    gl_curve curve = curve_of(arena, sizes, times, 1);
    gl_curve_fit fit;
    gl_error err;
    assert_false(gl_curve_fit_build(&curve, NULL, arena, &fit, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "1 usable sample; two are needed"));
}

static void noise_comes_from_the_twin(void **state)
{
    gl_arena *arena = *state;
    gl_curve curve = straight(arena), twin = straight(arena);
    gl_sample *samples = (gl_sample *)(uintptr_t)twin.samples;
    for (size_t i = 0; i < twin.sample_count; i++)
        samples[i].time_median_s *= i % 2 == 0 ? 1.04 : 0.96;
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, &twin, arena, &fit, NULL));
    /* Both all-reduces are one measurement twice: averaged, with half of the variance. */
    assert_close(fit.quality.noise_frac, 0.04 / 0.6745 / 2, 1e-6);
    assert_close(fit.time_s[0], straight(arena).samples[0].time_median_s * 1.02, 1e-12);
    curve.collective = twin.collective = GL_ALL_GATHER;
    assert_true(gl_curve_fit_build(&curve, &twin, arena, &fit, NULL));
    assert_close(fit.quality.noise_frac, 0.04 / 0.6745 / sqrt(2), 1e-6);
    assert_close(fit.time_s[0], straight(arena).samples[0].time_median_s, 1e-12);
}

static void a_crowded_curve_is_thinned(void **state)
{
    gl_arena *arena = *state;
    enum { MANY = 100000 };
    double *sizes = GL_ARENA_NEW(arena, double, MANY), *times = GL_ARENA_NEW(arena, double, MANY);
    for (int i = 0; i < MANY; i++) {
        sizes[i] = 4000 + 2000.0 * i;
        times[i] = 1e-5 + sizes[i] / 100e9;
    }
    gl_curve curve = curve_of(arena, sizes, times, MANY);
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    assert_in_range(fit.quality.points, 500, 2048);
    assert_close(fit.size_bytes[fit.quality.points - 1], sizes[MANY - 1], 1e-15);
    assert_close(gl_curve_eval(&fit, 123456789).time_s, 1e-5 + 123456789 / 100e9, 1e-9);
}

static void plateau_and_half_size_are_found(void **state)
{
    gl_arena *arena = *state;
    gl_curve curve = straight(arena);
    gl_curve_fit fit;
    assert_true(gl_curve_fit_build(&curve, NULL, arena, &fit, NULL));
    assert_close(fit.quality.plateau_busbw_bytes_per_s, 100e9, 0.01);
    assert_close(fit.quality.half_size_bytes, 1048576, 1e-12);
    assert_close(fit.quality.floor_s, 10e-6, 1e-4);
}

static int make_arena(void **state)
{
    *state = gl_arena_create();
    return 0;
}

static int drop_arena(void **state)
{
    gl_arena_destroy(*state);
    return 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_arena, drop_arena)
    const struct CMUnitTest tests[] = {
        TEST(at_samples_it_is_what_was_measured),
        TEST(a_line_is_interpolated_and_continued_exactly),
        TEST(below_the_samples_is_the_floor_never_zero),
        TEST(a_switch_of_algorithm_is_kept),
        TEST(wrong_and_zero_samples_are_not_used),
        TEST(one_sample_is_refused),
        TEST(noise_comes_from_the_twin),
        TEST(a_crowded_curve_is_thinned),
        TEST(plateau_and_half_size_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
