/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options against each other, draw by draw; what would make one fit. */
#include "planner/core/comparison.h"
#include "planner/core/demand.h"
#include "planner/core/fitting.h"
#include "tests/bundled.h"

enum { OPTIONS = 3 };

typedef struct fixture {
    gl_arena *arena;
    gl_workload workload;
    gl_cluster clusters[OPTIONS];
    gl_plan plans[OPTIONS];
    gl_compared options[OPTIONS];
    gl_comparison comparison;
} fixture;

static const gl_plan_options plan_options = {.headroom = 1.25, .stage = -1, .draws = 200};

static void load_cluster(fixture *f, size_t index, const char *name)
{
    load_bundled_cluster(name, f->arena, &f->clusters[index]);
    f->options[index].setup = (gl_setup){&f->workload, &f->clusters[index]};
}

static void compare(fixture *f, const char *const *clusters, size_t count)
{
    gl_error err;
    for (size_t i = 0; i < count; i++) {
        load_cluster(f, i, clusters[i]);
        assert_true(gl_plan_build(&f->workload, &f->clusters[i], &plan_options, f->arena,
                                  &f->plans[i], &err));
        f->options[i].plan = &f->plans[i];
    }
    f->comparison =
        (gl_comparison){.options = f->options, .option_count = count, .tolerance_frac = 0.05};
    gl_comparison_build(&f->comparison, &plan_options, f->arena);
}

static void test_options_are_compared_draw_by_draw(void **state)
{
    (void)state;
    static const char *const clusters[] = {"pcie5-switch-16", "pcie5-pairs-16", "hgx-h100-16-ndr"};
    fixture f = {0};
    f.arena = gl_arena_create();
    load_bundled_model("llama3-8b", NULL, 0, f.arena, &f.workload);
    compare(&f, clusters, OPTIONS);
    assert_int_equal(f.comparison.fastest, 2);
    assert_int_equal(f.comparison.pair_count, 3);
    double sum = 0;
    for (size_t i = 0; i < OPTIONS; i++) {
        assert_true(f.options[i].slower_frac >= 0);
        sum += f.options[i].fastest_probability;
    }
    assert_close(sum, 1, 1e-9);
    /* The bridges help tp 2, surely: all else is shared, and so are its errors. */
    const gl_pair *pair = &f.comparison.pairs[0];
    assert_true(pair->probability < 0.01);
    assert_true(pair->ratio > 1.1 && pair->ratio_p10 < pair->ratio &&
                pair->ratio < pair->ratio_p90);
    gl_arena_destroy(f.arena);
}

static void test_equals_share(void **state)
{
    (void)state;
    static const char *const clusters[] = {"hgx-h100-16-ndr", "hgx-h100-16-ndr"};
    fixture f = {0};
    f.arena = gl_arena_create();
    load_bundled_model("llama3-8b", NULL, 0, f.arena, &f.workload);
    compare(&f, clusters, 2);
    assert_close(f.comparison.pairs[0].probability, 0.5, 1e-12);
    assert_close(f.options[0].fastest_probability, 0.5, 1e-9);
    assert_close(f.options[1].fastest_probability, 0.5, 1e-9);
    gl_arena_destroy(f.arena);
}

static void test_what_does_not_fit_is_compared_with_nothing(void **state)
{
    (void)state;
    static const char *const clusters[] = {"hgx-h100-16-ndr", "l40s-16-roce",
                                           "hgx-h100-16-ndr-4to1"};
    fixture f = {0};
    f.arena = gl_arena_create();
    load_bundled_model("llama3-70b", NULL, 0, f.arena, &f.workload);
    compare(&f, clusters, OPTIONS);
    assert_true(gl_compared_runs(&f.options[0]));
    assert_false(gl_compared_runs(&f.options[1]));
    assert_int_equal(f.comparison.fastest, 0);
    assert_true(isnan(f.options[1].sequence_s) && isnan(f.options[1].slower_frac));
    assert_true(isnan(f.options[1].fastest_probability));
    assert_int_equal(f.options[1].sensitivity_count, 0);
    assert_int_equal(f.options[1].break_even_count, 0);
    assert_close(f.options[0].fastest_probability + f.options[2].fastest_probability, 1, 1e-9);
    assert_int_equal(f.comparison.pair_count, 1);
    assert_int_equal(f.comparison.pairs[0].a, 0);
    assert_int_equal(f.comparison.pairs[0].b, 2);
    /* The advice holds. */
    const char *change = gl_fitting_change(&f.options[1].setup, false, f.arena);
    assert_string_equal(change, "parallel.zero=3");
    assert_true(gl_fullest_bytes(&f.options[1].setup) > f.clusters[1].gpu->memory_bytes.value);
    f.workload.parallel.zero = 3;
    assert_true(gl_fullest_bytes(&f.options[1].setup) <= f.clusters[1].gpu->memory_bytes.value);
    gl_arena_destroy(f.arena);
}

/* Fewer replicas have fewer ranks for experts; what is advised runs, and one more does not. */
static void test_what_is_advised_runs(void **state)
{
    (void)state;
    fixture f = {0};
    f.arena = gl_arena_create();
    load_bundled_model("deepseek-v3", NULL, 0, f.arena, &f.workload);
    load_cluster(&f, 0, "nvl72-2");
    load_cluster(&f, 1, "hgx-h100-16-ndr");
    const gl_setup *large = &f.options[0].setup, *small = &f.options[1].setup;
    assert_false(gl_setup_runs(large, false));
    assert_string_equal(gl_larger_change(large, false, f.arena), "cluster.nodes=29");
    assert_string_equal(gl_smaller_change(large, false, f.arena), "parallel.dp=8, parallel.ep=8");
    assert_null(gl_smaller_change(small, false, f.arena)); /* does not fit 80 GB */
    assert_string_equal(gl_larger_change(small, false, f.arena), "cluster.nodes=256");
    f.clusters[1].nodes = 256;
    assert_true(gl_setup_runs(small, false));
    f.clusters[1].nodes = 255;
    assert_false(gl_setup_runs(small, false));
    f.workload.parallel.dp = 8;
    assert_false(gl_setup_runs(large, false));
    f.workload.parallel.ep = 8;
    assert_true(gl_setup_runs(large, false));
    gl_arena_destroy(f.arena);
}

/* Dimensions add up to the tier, and the tier to what the plan says. */
static void test_demand_adds_up(void **state)
{
    (void)state;
    static const char *const clusters[] = {"hgx-h100-16-ndr", "hgx-h100-16-ndr-4to1"};
    fixture f = {0};
    f.arena = gl_arena_create();
    load_bundled_model("llama3-70b", NULL, 0, f.arena, &f.workload);
    compare(&f, clusters, 2);
    const gl_plan *plan = &f.plans[0];
    for (int tier = 0; tier < GL_TIER_COUNT; tier++) {
        double bytes = 0, rate = 0;
        for (int i = 0; i < GL_TRAFFIC_DIMENSION_COUNT; i++) {
            gl_demand d = gl_demand_of(plan, (gl_tier_kind)tier, (gl_traffic_dimension)i, f.arena);
            bytes += d.bytes_per_step;
            rate += d.alone_bytes_per_s;
        }
        gl_demand all = gl_demand_of(plan, (gl_tier_kind)tier, GL_TRAFFIC_DIMENSION_COUNT, f.arena);
        assert_close(bytes, all.bytes_per_step, 1e-12);
        assert_close(bytes, plan->needs[tier].bytes_per_step_per_gpu, 1e-12);
        assert_close(rate, all.alone_bytes_per_s, 1e-12);
        assert_close(all.planned_bytes_per_s, 1.25 * bytes / plan->step.time_s, 1e-12);
        /* A lower bound of what the target needs, as far as that is more than nothing. */
        assert_true(all.planned_bytes_per_s <= all.alone_bytes_per_s);
    }
    assert_true(gl_step_alone_s(plan) < plan->step.time_s);
    gl_arena_destroy(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_are_compared_draw_by_draw),
        cmocka_unit_test(test_equals_share),
        cmocka_unit_test(test_what_does_not_fit_is_compared_with_nothing),
        cmocka_unit_test(test_what_is_advised_runs),
        cmocka_unit_test(test_demand_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
