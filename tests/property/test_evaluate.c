/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The evaluator gives what a plan gives in closed form, whatever it has evaluated before. */
#include "planner/core/evaluate.h"

#include "tests/bundled.h"
#include "tests/property/layouts.h"

enum { LAYOUTS = 250 };

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * fabs(scale);
}

static void compare(const gl_workload *w, const gl_cluster *cluster, const gl_evaluation *e)
{
    static const gl_scales as_predicted = {1, {1, 1}, 1};
    gl_arena *arena = gl_arena_create();
    gl_plan plan;
    gl_error err;
    const gl_plan_options options = {.headroom = 1, .stage = -1, .allow_extrapolation = true};
    assert_true(gl_plan_build(w, cluster, &options, arena, &plan, &err));
    gl_schedule s = gl_schedule_eval(w, &plan.compute, plan.stage_plans, &as_predicted, arena);
    if (!e->known || !near(e->step.time_s, s.time_s, s.time_s) ||
        !near(e->step.exposed_s, s.exposed_s, s.time_s) ||
        !near(e->step.bubble_s, s.bubble_s, s.time_s) ||
        !near(e->step.compute_s, s.compute_s, s.time_s) ||
        !near(e->step.overlap_tax_s, s.overlap_tax_s, s.time_s))
        fail_msg("dp %d tp %d pp %d cp %d ep %d zero %d schedule %d v %d: %.12g s, plan %.12g s",
                 w->parallel.dp, w->parallel.tp, w->parallel.pp, w->parallel.cp, w->parallel.ep,
                 w->parallel.zero, (int)w->parallel.schedule, w->parallel.virtual_stages,
                 e->step.time_s, s.time_s);
    assert_close(e->memory.total_bytes, plan.memory.total_bytes, 1e-12);
    assert_int_equal(e->memory_stage, plan.memory_stage);
    assert_int_equal(e->memory.fits, plan.memory.fits);
    for (int i = 0; i < w->parallel.pp; i++) {
        gl_memory memory; /* of every stage by itself: the plan, too, leaves some out */
        gl_memory_estimate(w, &plan.parameters, &plan.stages[i], cluster->gpu, &memory);
        assert_true(memory.total_bytes <= plan.memory.total_bytes);
        if (i == plan.memory_stage)
            assert_true(memory.total_bytes >= plan.memory.total_bytes);
    }
    gl_arena_destroy(arena);
}

static void evaluate_layouts(const char *model, const char *cluster_name)
{
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    uint64_t random = random_seed();
    load_bundled_model(model, NULL, 0, arena, &w);
    load_bundled_cluster(cluster_name, arena, &cluster);
    gl_cluster_extend(&cluster, 1 << 15); /* of what is bare of a description: one large node */
    gl_evaluator *evaluator = gl_evaluator_create(&w, &cluster, true);
    for (int i = 0; i < LAYOUTS; i++) {
        gl_evaluation e;
        random_layout(&w, &random);
        assert_true(gl_evaluate(evaluator, &w.parallel, &w.batch, &e, &err));
        compare(&w, &cluster, &e);
    }
    gl_evaluator_destroy(evaluator);
    gl_arena_destroy(arena);
}

static void large_dense_model(void **state)
{
    (void)state;
    evaluate_layouts("llama3-405b", "hgx-h100-16-ndr");
}

static void buckets_and_shards(void **state)
{
    (void)state;
    evaluate_layouts("llama3-70b", "hgx-h100-16-ndr");
}

static void experts(void **state)
{
    (void)state;
    evaluate_layouts("mixtral-8x7b", "hgx-h100-16-ndr-4to1");
}

static void measured_curves(void **state)
{
    (void)state;
    evaluate_layouts("llama3-8b", "h200-nvlink");
}

/* A refusal is one each time, and what comes after is as good as ever. */
static void refusals_are_not_remembered(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload w;
    gl_cluster cluster;
    gl_error err;
    gl_evaluation e;
    load_bundled_model("llama3-8b", NULL, 0, arena, &w);
    load_bundled_cluster("h200-nvlink", arena, &cluster);
    gl_evaluator *evaluator = gl_evaluator_create(&w, &cluster, false);
    w.parallel = gl_workload_defaults().parallel;
    w.batch = (gl_batch){.global = 64, .micro = 1};
    for (int i = 0; i < 2; i++) {
        w.parallel.dp = 64; /* measured: two */
        assert_false(gl_evaluate(evaluator, &w.parallel, &w.batch, &e, &err));
        assert_non_null(strstr(err.message, "no evidence"));
        w.parallel.dp = 2;
        assert_true(gl_evaluate(evaluator, &w.parallel, &w.batch, &e, &err));
        compare(&w, &cluster, &e);
    }
    gl_evaluator_destroy(evaluator);
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_dense_model),
        cmocka_unit_test(buckets_and_shards),
        cmocka_unit_test(experts),
        cmocka_unit_test(measured_curves),
        cmocka_unit_test(refusals_are_not_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
