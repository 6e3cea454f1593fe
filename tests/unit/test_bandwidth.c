/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tier gives is that tier's own, in bytes and in time; the least link that is named works.
 */
#include "planner/core/demand.h"
#include "planner/core/sensitivity.h"
#include "tests/bundled.h"

static const gl_plan_options plan_options = {.headroom = 1.25, .stage = -1, .draws = 1};

static void turn(gl_knob knob, double factor, gl_setup *setup, gl_arena *arena)
{
    gl_setup from = *setup;
    assert_true(gl_knob_turn(knob, factor * gl_knob_value(knob, &from), &from, arena, setup));
}

/* What the inside of a node gives when a property is `factor` times what it is. */
static gl_bandwidth_need inside_with(const gl_setup *setup, gl_knob knob, double factor)
{
    gl_arena *arena = gl_arena_create();
    gl_setup changed = *setup;
    gl_plan plan;
    turn(knob, factor, &changed, arena);
    build_plan(changed.workload, changed.cluster, &plan_options, arena, &plan);
    gl_bandwidth_need need = plan.needs[GL_TIER_INTRA_NODE];
    gl_arena_destroy(arena);
    return need;
}

/* Large groups of many small messages, where latency between nodes is most of a call. */
static void test_nvlink_gives_the_same_behind_any_nic(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    const gl_setting settings[] = {{"parallel.dp", "2048", "--set"},
                                   {"batch.global", "4096", "--set"}};
    gl_workload workload;
    gl_cluster cluster;
    load_bundled_model("llama3-8b", settings, 2, arena, &workload);
    load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
    cluster.nodes = 512;
    const gl_setup setup = {&workload, &cluster};
    const gl_bandwidth_need as_it_is = inside_with(&setup, GL_KNOB_INTER_LATENCY, 1);
    static const struct {
        gl_knob knob;
        double factor;
    } others[] = {{GL_KNOB_INTER_LATENCY, 1e-3},
                  {GL_KNOB_INTER_LATENCY, 10},
                  {GL_KNOB_INTER_BANDWIDTH, 0.1},
                  {GL_KNOB_INTER_BANDWIDTH, 10}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        gl_bandwidth_need need = inside_with(&setup, others[i].knob, others[i].factor);
        assert_close(need.available_bytes_per_s, as_it_is.available_bytes_per_s, 1e-9);
        assert_close(need.required_bytes_per_s, as_it_is.required_bytes_per_s, 1e-9);
        assert_int_equal(need.verdict, as_it_is.verdict);
    }
    double before = 0;
    for (double factor = 0.125; factor <= 8; factor *= 2) {
        double given = inside_with(&setup, GL_KNOB_INTRA_BANDWIDTH, factor).available_bytes_per_s;
        assert_true(given > before);
        before = given;
    }
    assert_true(inside_with(&setup, GL_KNOB_INTRA_LATENCY, 10).available_bytes_per_s <
                as_it_is.available_bytes_per_s);
    gl_arena_destroy(arena);
}

/* On rails experts' tokens pass the inside of a node once more: more bytes, not a slower link. */
static void test_forwarded_bytes_are_counted(void **state)
{
    (void)state;
    static const gl_fabric fabrics[] = {GL_FABRIC_RAIL_OPTIMISED, GL_FABRIC_FAT_TREE};
    gl_arena *arena = gl_arena_create();
    gl_workload workload;
    gl_cluster cluster;
    gl_plan plans[2];
    double ep_bytes[2];
    load_bundled_model("qwen3-30b-a3b", NULL, 0, arena, &workload);
    load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
    gl_cluster clusters[2] = {cluster, cluster};
    for (size_t i = 0; i < 2; i++) {
        clusters[i].fabric = fabrics[i];
        build_plan(&workload, &clusters[i], &plan_options, arena, &plans[i]);
        ep_bytes[i] =
            gl_demand_of(&plans[i], GL_TIER_INTRA_NODE, GL_TRAFFIC_EP, arena).bytes_per_step;
        gl_demand all =
            gl_demand_of(&plans[i], GL_TIER_INTRA_NODE, GL_TRAFFIC_DIMENSION_COUNT, arena);
        assert_close(all.bytes_per_step, plans[i].needs[0].bytes_per_step_per_gpu, 1e-12);
    }
    /* ep 64 over 8 nodes: of 63 peers 7 are here; of the others' bytes 7/8 are handed on. */
    const gl_placement *ep = &plans[0].layout.groups[GL_GROUP_EP];
    double n = ep->ranks, r = ep->ranks_per_node, handed_on = (n - r) * (r - 1) / r;
    assert_true(ep->nodes > 1 && r > 1);
    assert_close(ep_bytes[0] / ep_bytes[1], 1 + handed_on / (r - 1), 1e-12);
    const gl_bandwidth_need *rails = &plans[0].needs[0], *tree = &plans[1].needs[0];
    assert_true(rails->available_bytes_per_s >= tree->available_bytes_per_s);
    assert_true(rails->available_bytes_per_s <= cluster.intra.link->bw_bytes_per_s.value);
    assert_true(rails->required_bytes_per_s > tree->required_bytes_per_s);
    /* Between nodes nothing is different, but for the levels of switches. */
    assert_close(plans[0].needs[1].available_bytes_per_s, plans[1].needs[1].available_bytes_per_s,
                 0.01);
    assert_close(plans[0].needs[1].required_bytes_per_s, plans[1].needs[1].required_bytes_per_s,
                 0.01);
    gl_arena_destroy(arena);
}

/* A link that gives `bytes_per_s`, looked for by halves. */
static double target_share_with(gl_knob knob, double bytes_per_s, const gl_setup *setup)
{
    double low = 1e-4, high = 1, share = 1;
    gl_tier_kind tier = knob == GL_KNOB_INTER_BANDWIDTH ? GL_TIER_INTER_NODE : GL_TIER_INTRA_NODE;
    while (high / low > 1.0001) {
        gl_arena *arena = gl_arena_create();
        gl_setup changed = *setup;
        gl_plan plan;
        double middle = sqrt(low * high);
        turn(knob, middle, &changed, arena);
        build_plan(changed.workload, changed.cluster, &plan_options, arena, &plan);
        bool faster = plan.needs[tier].available_bytes_per_s >= bytes_per_s;
        *(faster ? &high : &low) = middle;
        if (faster)
            share = plan.step.communication_cost_frac;
        gl_arena_destroy(arena);
    }
    return share;
}

static void test_the_least_link_meets_the_target(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        gl_setting settings[2];
        size_t count;
        gl_knob knob;
    } cases[] = {
        {"llama-1.1b-ddp", {{NULL, NULL, NULL}}, 0, GL_KNOB_INTRA_BANDWIDTH},
        {"llama3-8b",
         {{"parallel.dp", "64", "--set"}, {"batch.global", "1024", "--set"}},
         2,
         GL_KNOB_INTRA_BANDWIDTH},
        {"llama3-8b",
         {{"parallel.dp", "64", "--set"}, {"batch.global", "1024", "--set"}},
         2,
         GL_KNOB_INTER_BANDWIDTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gl_arena *arena = gl_arena_create();
        gl_workload workload;
        gl_cluster cluster;
        gl_plan plan;
        load_bundled_model(cases[i].model, cases[i].settings, cases[i].count, arena, &workload);
        load_bundled_cluster("hgx-h100-16-ndr", arena, &cluster);
        const gl_setup setup = {&workload, &cluster};
        build_plan(&workload, &cluster, &plan_options, arena, &plan);
        assert_true(gl_plan_meets_target(&plan));
        double nominal, least = gl_least_bandwidth(cases[i].knob, &plan, &nominal);
        gl_setup slower = setup;
        gl_plan with_nominal;
        turn(cases[i].knob, nominal / gl_knob_value(cases[i].knob, &setup), &slower, arena);
        build_plan(slower.workload, slower.cluster, &plan_options, arena, &with_nominal);
        assert_true(gl_plan_meets_target(&with_nominal));
        assert_true(target_share_with(cases[i].knob, least * 1.001, &setup) <=
                    workload.target_exposed_frac);
        assert_true(target_share_with(cases[i].knob, least * 0.98, &setup) >
                    workload.target_exposed_frac);
        gl_arena_destroy(arena);
    }
}

/* What is said of whole values holds for each of them: 7 NICs can be worse than 4. */
static void check_whole(const gl_setup *setup, gl_knob knob)
{
    const double tolerance_frac = 0.05;
    double limit_s = (1 + tolerance_frac) * gl_step_of(setup, &plan_options);
    double value = gl_knob_value(knob, setup), below_s = 0;
    gl_break_even found;
    assert_true(gl_break_even_find(knob, setup, setup, tolerance_frac, &plan_options, &found));
    assert_true(found.kind == GL_BREAK_EVEN_ANY || found.kind == GL_BREAK_EVEN_SPARE ||
                found.kind == GL_BREAK_EVEN_JUST);
    for (double v = 1; v <= value; v++) {
        gl_arena *arena = gl_arena_create();
        gl_setup changed;
        bool can_be = gl_knob_turn(knob, v, setup, arena, &changed);
        double step_s = can_be ? gl_step_of(&changed, &plan_options) : (double)NAN;
        gl_arena_destroy(arena);
        if (isnan(step_s))
            continue;
        if (v >= found.limit || found.kind == GL_BREAK_EVEN_ANY)
            assert_true(step_s <= limit_s * (1 + 1e-5));
        else
            below_s = step_s;
    }
    assert_true(below_s == 0 || below_s > limit_s);
}

static void test_whole_break_evens_hold_for_each_value(void **state)
{
    (void)state;
    static const struct {
        const char *model, *cluster;
        int nodes;
    } cases[] = {{"llama3-8b", "hgx-h100-16-ndr-4to1", 64},
                 {"llama3-8b", "hgx-h100-16-ndr", 16},
                 {"llama3-8b", "hgx-h100-16-ndr", 256},
                 {"llama3-70b", "hgx-h100-16-ndr", 16},
                 {"qwen3-30b-a3b", "hgx-h100-16-ndr", 16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gl_arena *arena = gl_arena_create();
        gl_workload workload;
        gl_cluster cluster;
        load_bundled_model(cases[i].model, NULL, 0, arena, &workload);
        load_bundled_cluster(cases[i].cluster, arena, &cluster);
        cluster.nodes = cases[i].nodes;
        const gl_setup setup = {&workload, &cluster};
        check_whole(&setup, GL_KNOB_NICS);
        check_whole(&setup, GL_KNOB_DOMAIN);
        gl_arena_destroy(arena);
    }
}

/* Two and three NICs keep the limit, four and five do not, so it begins with six. */
static void test_a_lucky_value_is_no_limit(void **state)
{
    (void)state;
    gl_arena *arena = gl_arena_create();
    gl_workload workload;
    gl_cluster cluster;
    gl_break_even found;
    load_bundled_model("llama3-8b", NULL, 0, arena, &workload);
    load_bundled_cluster("hgx-h100-16-ndr-4to1", arena, &cluster);
    cluster.nodes = 64;
    const gl_setup setup = {&workload, &cluster};
    assert_true(gl_break_even_find(GL_KNOB_NICS, &setup, &setup, 0.05, &plan_options, &found));
    assert_int_equal(found.kind, GL_BREAK_EVEN_SPARE);
    assert_true(found.limit == 6);
    gl_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvlink_gives_the_same_behind_any_nic),
        cmocka_unit_test(test_forwarded_bytes_are_counted),
        cmocka_unit_test(test_the_least_link_meets_the_target),
        cmocka_unit_test(test_whole_break_evens_hold_for_each_value),
        cmocka_unit_test(test_a_lucky_value_is_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
