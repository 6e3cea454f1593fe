/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "calibrate/measure/sampler.h"

static gl_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = gl_arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gl_arena_destroy(arena);
    return 0;
}

/* ---- sizes ---- */

/* Latency and bandwidth, and above `switch_at` an algorithm that takes 1.4 times as long. */
typedef struct law {
    double latency_s, bytes_per_s, switch_at;
} law;

static double law_time(const law *l, double size)
{
    double t = l->latency_s + size / l->bytes_per_s;
    return size >= l->switch_at ? 1.4 * t : t;
}

static const law smooth = {1e-5, 1e10, 1e30};

/* Runs the sampler to its end; returns how many sizes it asked for. */
static int run(gl_sampler *s, const law *l, int maximum)
{
    int asked = 0;
    double size;
    while (gl_sampler_next_octave(s, INFINITY, 1, &size) ||
           gl_sampler_next_between(s, INFINITY, &size)) {
        for (size_t i = 0; i < s->count; i++)
            assert_true(fabs(s->points[i].size_bytes - size) >= 0.5);
        gl_sampler_add(s, size, law_time(l, size), 0);
        assert_true(++asked <= maximum);
    }
    return asked;
}

static void test_octaves(void **state)
{
    gl_sampler s;
    (void)state;
    gl_sampler_begin(&s, 8, 1024, 4, 4, 0.5, arena);
    assert_int_equal(gl_sampler_octaves_left(&s, INFINITY, 1), 8);
    assert_int_equal(run(&s, &smooth, 8), 8);
    for (int i = 0; i < 8; i++)
        assert_close(s.points[i].size_bytes, 8 * exp2(i), 0);
    assert_close(gl_sampler_largest(&s), 1024, 0);
    assert_int_equal(gl_sampler_octaves_left(&s, INFINITY, 1), 0);
}

/* Every second octave, and the largest. */
static void test_stride(void **state)
{
    static const double wanted[] = {8, 32, 128, 512, 1024};
    gl_sampler s;
    double size;
    (void)state;
    gl_sampler_begin(&s, 8, 1024, 4, 4, 0.5, arena);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(gl_sampler_octaves_left(&s, INFINITY, 2), 5 - i);
        assert_true(gl_sampler_next_octave(&s, INFINITY, 2, &size));
        assert_close(size, wanted[i], 0);
        gl_sampler_add(&s, size, 1, 0);
    }
    assert_false(gl_sampler_next_octave(&s, INFINITY, 2, &size));
    assert_int_equal(gl_sampler_octaves_left(&s, INFINITY, 1), 3);
}

static void test_odd_limits(void **state)
{
    static const struct {
        double min, max, unit, first, last;
        int octaves;
    } cases[] = {
        {8, 8, 4, 8, 8, 1},       {8, 9, 4, 8, 8, 1},         {8, 1000, 4, 8, 1000, 8},
        {8, 1100, 4, 8, 1100, 8}, {1, 1024, 12, 12, 1020, 8}, {8, 64, 12, 12, 60, 4},
        {100, 30, 4, 28, 28, 1},  {8, 2, 4, 4, 4, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gl_sampler s;
        gl_sampler_begin(&s, cases[i].min, cases[i].max, cases[i].unit, cases[i].unit, 0.5, arena);
        int asked = run(&s, &smooth, 40);
        if (asked != cases[i].octaves)
            fail_msg("case %zu: %d octaves", i, asked);
        assert_close(s.points[0].size_bytes, cases[i].first, 0);
        assert_close(s.points[s.count - 1].size_bytes, cases[i].last, 0);
        for (size_t k = 0; k < s.count; k++)
            assert_close(fmod(s.points[k].size_bytes, cases[i].unit), 0, 0);
    }
}

/* Three ranks: large sizes keep every rank's block on 16 elements. */
static void test_alignment(void **state)
{
    gl_sampler s;
    (void)state;
    gl_sampler_begin(&s, 8, 1 << 24, 12, 12, 0.5, arena);
    run(&s, &smooth, 100);
    for (size_t k = 0; k < s.count; k++)
        if (s.points[k].size_bytes > 12 * 16 * 32)
            assert_close(fmod(s.points[k].size_bytes, 12 * 16), 0, 0);
}

static void test_affordable(void **state)
{
    gl_sampler s;
    double size;
    (void)state;
    gl_sampler_begin(&s, 8, 1 << 20, 4, 4, 0.02, arena);
    assert_true(isinf(gl_sampler_affordable(&s, 1e-9)));
    assert_true(isnan(gl_sampler_expect(&s, 8)));
    gl_sampler_add(&s, 8, 1e-5, 0);
    gl_sampler_add(&s, 128, 2e-5, 0);
    assert_close(gl_sampler_expect(&s, 256), 4e-5, 1e-12);
    assert_close(gl_sampler_expect(&s, 32), sqrt(2e-10), 1e-12);
    assert_close(gl_sampler_affordable(&s, 4e-5), 256, 1e-12);
    assert_close(gl_sampler_affordable(&s, 1.5e-5), 8, 0);
    assert_close(gl_sampler_affordable(&s, 1e-6), 0, 0);
    assert_true(gl_sampler_next_octave(&s, 256, 1, &size));
    assert_close(size, 16, 0);
    assert_false(gl_sampler_next_octave(&s, 8, 1, &size));
    assert_int_equal(gl_sampler_octaves_left(&s, 256, 1), 4);
}

/* A smooth curve needs sizes in between at its knee alone. */
static void test_smooth_curve(void **state)
{
    gl_sampler s;
    (void)state;
    gl_sampler_begin(&s, 8, 1 << 28, 4, 4, 0.02, arena);
    int asked = run(&s, &smooth, 60);
    assert_in_range(asked, 26, 40);
    for (size_t i = 0; i + 1 < s.count; i++)
        if (s.points[i + 1].size_bytes / s.points[i].size_bytes < 1.9)
            assert_true(s.points[i].size_bytes > 8e3 && s.points[i].size_bytes < 3e6);
}

/* A jump is closed in on, to a sixth of an octave or so, and then left alone. */
static void test_jump(void **state)
{
    gl_sampler s;
    const law jumping = {1e-5, 1e10, 50e6};
    double below = 0, above = 1e30;
    (void)state;
    gl_sampler_begin(&s, 8, 1 << 28, 4, 4, 0.02, arena);
    run(&s, &jumping, 80);
    for (size_t i = 0; i < s.count; i++) {
        double size = s.points[i].size_bytes;
        if (size < 50e6)
            below = fmax(below, size);
        else
            above = fmin(above, size);
    }
    assert_true(above / below < 1.33);
}

/* What the medians are uncertain by is no reason to look closer. */
static void test_noise_is_no_structure(void **state)
{
    gl_sampler s;
    double size;
    (void)state;
    gl_sampler_begin(&s, 8, 1 << 20, 4, 4, 0.02, arena);
    for (int i = 0; i <= 17; i++)
        gl_sampler_add(&s, 8 * exp2(i), 1e-5 * (i % 2 ? 1.1 : 0.9), 0.15);
    assert_false(gl_sampler_next_between(&s, INFINITY, &size));
    for (int i = 0; i <= 17; i++)
        gl_sampler_add(&s, 8 * exp2(i), 1e-5 * (i % 2 ? 1.1 : 0.9), 0.01);
    assert_int_equal(s.count, 18);
    assert_true(gl_sampler_next_between(&s, INFINITY, &size));
    assert_true(gl_sampler_next_between(&s, 64, &size) && size <= 64);
}

/* ---- iterations ---- */

static double times[GL_PACER_MAX];

/* Runs a pacer on a clock of its own: a call takes call_s ± spread, a barrier `barrier_s` more. */
static gl_pacer pace(double call_s, double spread, double barrier_s, double budget_s,
                     double least_s, double expected_s, int *batches)
{
    gl_pacer p;
    int warmup, n;
    *batches = 0;
    gl_pacer_begin(&p, times, 0.02, budget_s, least_s, expected_s);
    while ((n = gl_pacer_next(&p, &warmup)) > 0) {
        assert_true(p.count + n <= GL_PACER_MAX);
        assert_in_range(warmup, 0, 3);
        for (int i = 0; i < n; i++)
            times[p.count + i] = call_s * (1 + spread * (double)((p.count + i) * 7 % 11 - 5) / 5);
        gl_pacer_add(&p, warmup, n, (warmup + n) * (call_s + barrier_s));
        assert_true(++*batches < 100);
    }
    return p;
}

static void test_precise_at_once(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(1e-5, 0.01, 1e-6, 1, 0, NAN, &batches);
    assert_int_equal(p.count, 10);
    assert_int_equal(batches, 1);
    assert_close(p.median_s, 1e-5, 0.01);
}

static void test_noise_needs_more(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(1e-5, 0.3, 1e-6, 1, 0, 1e-5, &batches);
    assert_true(p.count > 100);
    assert_true(p.half_width <= 0.02);
    assert_true(p.spent_s < 0.1);
}

/* The budget ends what cannot get precise. */
static void test_budget(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(1e-3, 0.9, 0, 0.05, 0, 1e-3, &batches);
    assert_true(p.half_width > 0.02);
    assert_true(p.spent_s <= 0.05 + 1e-3);
    assert_true(p.count >= 40);
}

static void test_least_time(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(1e-5, 0.001, 0, 1, 0.05, 1e-5, &batches);
    assert_true(p.spent_s >= 0.05);
    assert_true(p.spent_s < 0.2);
}

/* Long messages: three iterations and one to warm up, even past the budget. */
static void test_long_messages(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(3.0, 0.01, 0, 1, 0, 3.0, &batches);
    assert_int_equal(p.count, 3);
    assert_int_equal(p.calls, 4);
}

/* A barrier that takes long (processes that share cores) counts against the budget. */
static void test_slow_barrier(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(1e-6, 0.5, 1e-2, 0.5, 0, 1e-2, &batches);
    assert_true(p.spent_s <= 0.6);
    assert_in_range(p.count, 20, 60);
}

static void test_most_iterations(void **state)
{
    int batches;
    (void)state;
    gl_pacer p = pace(1e-9, 0.9, 0, 1000, 1000, 1e-9, &batches);
    assert_int_equal(p.count, GL_PACER_MAX);
}

/* Sizes of a list: whole units, each once, largest as memory allows; nothing in between. */
static void test_fixed_sizes(void **state)
{
    static const double sizes[] = {4, 5, 1001, 1003, 5e6, 1e9};
    static const double expected[] = {8, 1000, 5e6};
    double size;
    gl_sampler s;
    (void)state;
    gl_sampler_begin(&s, 1, 1e8, 8, 64, 0.02, arena);
    gl_sampler_fix(&s, sizes, 6);
    assert_int_equal(gl_sampler_octaves_left(&s, INFINITY, 1), 3);
    assert_close(gl_sampler_largest(&s), 5e6, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_true(gl_sampler_next_octave(&s, INFINITY, 1, &size));
        assert_close(size, expected[i], 0);
        gl_sampler_add(&s, size, size, 0.001);
    }
    assert_false(gl_sampler_next_octave(&s, INFINITY, 1, &size));
    assert_false(gl_sampler_next_between(&s, INFINITY, &size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_octaves),
        cmocka_unit_test(test_stride),
        cmocka_unit_test(test_odd_limits),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_affordable),
        cmocka_unit_test(test_smooth_curve),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_noise_is_no_structure),
        cmocka_unit_test(test_precise_at_once),
        cmocka_unit_test(test_noise_needs_more),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_least_time),
        cmocka_unit_test(test_long_messages),
        cmocka_unit_test(test_slow_barrier),
        cmocka_unit_test(test_most_iterations),
        cmocka_unit_test(test_fixed_sizes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
