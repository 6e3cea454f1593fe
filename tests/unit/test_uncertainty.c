/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bundled.h"

typedef struct planned {
    gl_arena *arena;
    gl_workload workload;
    gl_cluster cluster;
    gl_plan plan;
    size_t draws; /* 0: as many as by default */
} planned;

static void prepare(planned *p, const char *model, const char *cluster)
{
    p->arena = gl_arena_create();
    load_bundled_model(model, NULL, 0, p->arena, &p->workload);
    load_bundled_cluster(cluster, p->arena, &p->cluster);
}

static void build(planned *p, unsigned long seed)
{
    const gl_plan_options options = {
        .headroom = 1.25, .stage = -1, .seed = seed, .draws = p->draws};
    build_plan(&p->workload, &p->cluster, &options, p->arena, &p->plan);
}

static void plan(planned *p, const char *model, const char *cluster, unsigned long seed)
{
    prepare(p, model, cluster);
    build(p, seed);
}

static double correlation(const gl_uncertainty *a, const gl_uncertainty *b)
{
    double sum[2] = {0}, square[2] = {0}, product = 0, n = (double)a->draw_count;
    for (size_t i = 0; i < a->draw_count; i++) {
        double x = a->draws_s[i], y = b->draws_s[i];
        sum[0] += x;
        sum[1] += y;
        square[0] += x * x;
        square[1] += y * y;
        product += x * y;
    }
    double covariance = product / n - sum[0] * sum[1] / (n * n);
    return covariance /
           sqrt((square[0] / n - pow(sum[0] / n, 2)) * (square[1] / n - pow(sum[1] / n, 2)));
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    planned a = {0}, b = {0}, c = {0};
    plan(&a, "llama3-70b", "hgx-h100-16-ndr", 7);
    plan(&b, "llama3-70b", "hgx-h100-16-ndr", 7);
    plan(&c, "llama3-70b", "hgx-h100-16-ndr", 8);
    assert_close(a.plan.step.time_p10_s, b.plan.step.time_p10_s, 0);
    assert_close(a.plan.step.time_p90_s, b.plan.step.time_p90_s, 0);
    assert_true(a.plan.step.time_p90_s != c.plan.step.time_p90_s);
    assert_close(a.plan.step.time_p90_s, c.plan.step.time_p90_s, 0.05);
    assert_true(a.plan.step.time_p10_s < a.plan.step.time_p50_s);
    assert_true(a.plan.step.time_p50_s < a.plan.step.time_p90_s);
    gl_arena_destroy(a.arena);
    gl_arena_destroy(b.arena);
    gl_arena_destroy(c.arena);
}

/* One GPU: only compute errs. Its two sources make a log-normal factor of known quantiles. */
static void deciles_are_those_of_the_distribution(void **state)
{
    (void)state;
    planned p = {0};
    prepare(&p, "llama3-8b", "h200-nvlink");
    p.workload.parallel.dp = p.workload.parallel.tp = 1;
    p.workload.batch.global = p.workload.batch.micro;
    p.workload.compute.step_s = 1;
    build(&p, 1);
    const gl_step *step = &p.plan.step;
    double compute_s = step->compute_s, rest_s = step->time_s - compute_s;
    double sigma = p.plan.compute.error_frac;
    assert_close(step->time_p90_s, rest_s + compute_s * exp(GL_P90_OF_SIGMA * sigma), 0.003);
    assert_close(step->time_p10_s, rest_s + compute_s * exp(-GL_P90_OF_SIGMA * sigma), 0.003);
    assert_close(step->time_p50_s, step->time_s, 0.003);
    assert_null(p.plan.uncertainty.narrowing); /* stated: nothing to measure */
    gl_arena_destroy(p.arena);
}

/* Two clusters of one kind of GPU share the errors of its rates: the difference is surer than
 * either. */
static void shared_sources_draw_alike(void **state)
{
    (void)state;
    planned a = {0}, b = {0}, c = {0};
    plan(&a, "llama3-70b", "hgx-h100-16-ndr", 0);
    plan(&b, "llama3-70b", "hgx-h100-16-ndr-4to1", 0);
    plan(&c, "llama3-70b", "hgx-h800-256-ndr", 0);
    assert_true(correlation(&a.plan.uncertainty, &b.plan.uncertainty) > 0.95);
    assert_true(correlation(&a.plan.uncertainty, &c.plan.uncertainty) <
                correlation(&a.plan.uncertainty, &b.plan.uncertainty));
    gl_arena_destroy(a.arena);
    gl_arena_destroy(b.arena);
    gl_arena_destroy(c.arena);
}

static void sources_are_ranked_and_the_best_measurement_named(void **state)
{
    (void)state;
    planned p = {0};
    plan(&p, "llama3-405b", "hgx-h100-16-ndr", 0);
    const gl_uncertainty *u = &p.plan.uncertainty;
    double sum = 0;
    for (size_t i = 0; i < u->source_count; i++) {
        assert_true(i == 0 || u->sources[i - 1].variance_share >= u->sources[i].variance_share);
        assert_true(u->sources[i].p10_change_s <= 0 && u->sources[i].p90_change_s >= 0);
        sum += u->sources[i].variance_share;
    }
    assert_close(sum, 1, 1e-9);
    assert_non_null(u->narrowing);
    assert_true(u->narrowing->measurable);
    assert_true(u->settled_share >= u->narrowing->variance_share && u->settled_share <= 1);
    assert_true(u->narrowed_p10_s > u->p10_s && u->narrowed_p10_s < p.plan.step.time_s);
    assert_true(u->narrowed_p90_s < u->p90_s && u->narrowed_p90_s > p.plan.step.time_s);
    gl_arena_destroy(p.arena);
}

/* What is measured already is not advised. */
static void measured_links_are_not_to_be_measured(void **state)
{
    (void)state;
    planned p = {0};
    plan(&p, "llama-8b-16l-tp", "h200-nvlink-bf16", 0);
    for (size_t i = 0; i < p.plan.uncertainty.source_count; i++) {
        const gl_error_source *s = &p.plan.uncertainty.sources[i];
        bool measured =
            s->evidence == GL_EVIDENCE_MEASURED || s->evidence == GL_EVIDENCE_INTERPOLATED;
        if (s->kind == GL_ERROR_OF_NETWORK)
            assert_int_equal(s->measurable, !measured);
        else
            assert_false(s->measurable);
    }
    gl_arena_destroy(p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(deciles_are_those_of_the_distribution),
        cmocka_unit_test(shared_sources_draw_alike),
        cmocka_unit_test(sources_are_ranked_and_the_best_measurement_named),
        cmocka_unit_test(measured_links_are_not_to_be_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
