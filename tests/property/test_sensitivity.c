/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of sensitivities and break-evens, over random layouts on a two-tier cluster. */
#include "planner/core/check.h"
#include "planner/core/sensitivity.h"
#include "tests/property/random.h"
#include "tests/support.h"

enum { CASES = 60 };

static const gl_plan_options plan_options = {.headroom = 1.25, .stage = -1};

static gl_figure figure(double value)
{
    return (gl_figure){.value = value,
                       .low = value * 0.9,
                       .high = value * 1.1,
                       .kind = GL_FIGURE_ASSUMED,
                       .source = "test",
                       .date = ""};
}

static gl_link some_link(const char *name, gl_transport transport, double bw)
{
    return (gl_link){.name = name,
                     .title = name,
                     .transport = transport,
                     .bw_bytes_per_s = figure(bw),
                     .efficiency = figure(0.8),
                     .base_latency_s = figure(1e-5),
                     .step_latency_s = figure(1e-6),
                     .half_size_bytes = figure(1e6)};
}

typedef struct world {
    gl_gpu gpu;
    gl_link intra, inter;
    gl_overlap_taxes taxes;
    gl_cluster cluster;
    gl_workload workload;
    gl_setup setup;
} world;

static void make_workload(uint64_t *random, gl_workload *w)
{
    static const int degrees[] = {1, 2, 4};
    *w = gl_workload_defaults();
    w->model = (gl_model){.name = "small",
                          .layers = 16,
                          .hidden = 2048,
                          .heads = 16,
                          .kv_heads = 8,
                          .head_dim = 128,
                          .ffn = 8192,
                          .vocab = 32000,
                          .sequence = 2048,
                          .gated_mlp = true,
                          .fused_weights = true};
    w->parallel.tp = random_of(random, degrees, 3);
    w->parallel.pp = random_of(random, degrees, 3);
    w->parallel.dp = 4 * random_of(random, degrees, 3);
    w->parallel.zero = (int)random_between(random, 0, 1);
    w->batch.micro = 1;
    w->batch.global = w->parallel.dp * 8;
}

static void make_world(uint64_t *random, world *w)
{
    w->gpu = (gl_gpu){.name = "gpu",
                      .title = "gpu",
                      .memory_bytes = figure(80e9),
                      .memory_bw_bytes_per_s = figure(3e12),
                      .memory_efficiency = figure(0.8),
                      .bf16_flop_per_s = figure(900e12),
                      .fp16_flop_per_s = figure(900e12),
                      .fp32_flop_per_s = figure(60e12),
                      .gemm_efficiency = figure(0.7),
                      .attention_efficiency = figure(0.5),
                      .attention_backward_efficiency = figure(0.4),
                      .kernel_launch_s = figure(4e-6)};
    w->taxes = (gl_overlap_taxes){0};
    /* The same for both: hidden communication costs what the slower tier's kind costs, so a faster
     * network can cost more when NVLink is the slower one then. */
    w->taxes.by_transport[GL_TRANSPORT_NVLINK] = figure(0.3);
    w->taxes.by_transport[GL_TRANSPORT_NET_IB] = figure(0.3);
    w->intra = some_link("intra", GL_TRANSPORT_NVLINK, 1e9 * random_between(random, 10, 500));
    w->inter = some_link("inter", GL_TRANSPORT_NET_IB, 1e9 * random_between(random, 1, 50));
    w->cluster = (gl_cluster){.name = "world",
                              .gpu = &w->gpu,
                              .nodes = 32,
                              .gpus_per_node = 8,
                              .bounded = true,
                              .intra.link = &w->intra,
                              .inter.link = &w->inter,
                              .nics_per_node = 1 << random_between(random, 0, 3),
                              .oversubscription = (double)random_between(random, 1, 4),
                              .core_oversubscription = (double)random_between(random, 1, 4),
                              .overlap_taxes = &w->taxes};
    make_workload(random, &w->workload);
    w->setup = (gl_setup){&w->workload, &w->cluster};
}

/* More is never slower, less never faster; of latency, oversubscription and tax the reverse. */
static void test_more_is_never_slower(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    for (int i = 0; i < CASES; i++) {
        world w;
        gl_sensitivity rows[GL_KNOB_COUNT];
        make_world(&random, &w);
        double step_s = gl_step_of(&w.setup, &plan_options);
        size_t count = gl_sensitivity_build(&w.setup, step_s, &plan_options, rows);
        assert_true(count >= 7);
        for (size_t k = 0; k < count; k++) {
            const gl_sensitivity *r = &rows[k];
            gl_knob knob = r->knob;
            bool costs = knob == GL_KNOB_INTRA_LATENCY || knob == GL_KNOB_INTER_LATENCY ||
                         knob == GL_KNOB_OVERSUBSCRIPTION ||
                         knob == GL_KNOB_CORE_OVERSUBSCRIPTION || knob == GL_KNOB_OVERLAP_TAX;
            double better = costs ? r->low_s : r->high_s, worse = costs ? r->high_s : r->low_s;
            if (knob == GL_KNOB_DOMAIN || knob == GL_KNOB_OVERLAP)
                continue; /* another layout on nodes; hiding may cost more than it saves */
            if (better > step_s * (1 + 1e-6) || worse < step_s * (1 - 1e-6))
                fail_msg("%s: %.9g gives %.9g, %.9g %.9g, %.9g %.9g; tp %d pp %d dp %d nics %d",
                         gl_knob_describe(knob)->name, r->value, step_s, r->low_value, r->low_s,
                         r->high_value, r->high_s, w.workload.parallel.tp, w.workload.parallel.pp,
                         w.workload.parallel.dp, w.cluster.nics_per_node);
        }
    }
}

/* A limit holds when it is planned, and a little less of it does not. */
static void test_break_even_agrees_with_a_plan(void **state)
{
    (void)state;
    static const gl_knob knobs[] = {GL_KNOB_INTRA_BANDWIDTH, GL_KNOB_INTER_BANDWIDTH,
                                    GL_KNOB_OVERSUBSCRIPTION, GL_KNOB_COMPRESSION};
    uint64_t random = random_seed();
    int found = 0;
    for (int i = 0; i < CASES; i++) {
        world w, other;
        make_world(&random, &w);
        other = w;
        other.intra.bw_bytes_per_s = figure(600e9);
        other.inter.bw_bytes_per_s = figure(60e9);
        other.cluster.intra.link = &other.intra;
        other.cluster.inter.link = &other.inter;
        const gl_setup reference = {&w.workload, &other.cluster};
        double allowed_s = 1.05 * gl_step_of(&reference, &plan_options);
        for (size_t k = 0; k < sizeof knobs / sizeof knobs[0]; k++) {
            gl_break_even at;
            gl_setup changed;
            gl_arena *arena = gl_arena_create();
            assert_true(
                gl_break_even_find(knobs[k], &w.setup, &reference, 0.05, &plan_options, &at));
            if (at.kind == GL_BREAK_EVEN_SPARE || at.kind == GL_BREAK_EVEN_NEEDED) {
                bool more_is_cheap = gl_knob_describe(at.knob)->cheap == GL_CHEAP_MORE;
                double less = at.limit * (more_is_cheap ? 1.02 : 1 / 1.02);
                found++;
                assert_true(gl_knob_turn(at.knob, at.limit, &w.setup, arena, &changed));
                double step_s = gl_step_of(&changed, &plan_options);
                assert_close(step_s, at.step_s, 1e-9);
                assert_true(step_s <= allowed_s * (1 + 1e-5));
                if (gl_knob_turn(at.knob, less, &w.setup, arena, &changed))
                    assert_true(gl_step_of(&changed, &plan_options) > allowed_s * (1 - 1e-6));
                bool enough = gl_step_of(&w.setup, &plan_options) <= allowed_s;
                assert_int_equal(at.kind == GL_BREAK_EVEN_SPARE, enough);
            }
            gl_arena_destroy(arena);
        }
    }
    assert_true(found > CASES / 2);
}

static bool holds(gl_knob knob, double value, const world *w, double allowed_s)
{
    gl_arena *arena = gl_arena_create();
    gl_setup changed;
    bool good = gl_knob_turn(knob, value, &w->setup, arena, &changed) &&
                gl_step_of(&changed, &plan_options) <= allowed_s * (1 + 1e-5);
    gl_arena_destroy(arena);
    return good;
}

/* Thinner switches have larger leaves, so steps need not get longer with each step of thinning: up
 * to a limit all ratios hold, and just above it one does not. */
static void test_all_ratios_hold_up_to_the_limit(void **state)
{
    (void)state;
    static const gl_knob knobs[] = {GL_KNOB_OVERSUBSCRIPTION, GL_KNOB_CORE_OVERSUBSCRIPTION};
    static const int radices[] = {8, 16, 32, 40, 64};
    uint64_t random = random_seed();
    enum { GRID = 50, ABOVE = 24 };
    int limits = 0, any = 0;
    for (int i = 0; i < CASES; i++) {
        world w;
        make_world(&random, &w);
        w.cluster.radix = random_of(&random, radices, 5);
        w.cluster.fabric = (gl_fabric)random_between(&random, 0, 1);
        double frac = 0.01 * random_between(&random, 1, 30);
        double allowed_s = (1 + frac) * gl_step_of(&w.setup, &plan_options);
        for (size_t k = 0; k < sizeof knobs / sizeof knobs[0]; k++) {
            gl_break_even at;
            if (!gl_break_even_find(knobs[k], &w.setup, &w.setup, frac, &plan_options, &at))
                continue;
            assert_true(at.limit >= at.value);
            assert_true(at.kind != GL_BREAK_EVEN_ANY || at.limit >= w.cluster.radix - 1);
            for (int g = 0; g <= GRID; g++)
                assert_true(
                    holds(at.knob, at.value + (at.limit - at.value) * g / GRID, &w, allowed_s));
            bool fails = false;
            for (int g = 1; g <= ABOVE && !fails; g++)
                fails = !holds(at.knob, at.limit * (1 + 0.012 * g / ABOVE), &w, allowed_s);
            assert_true(fails || at.kind == GL_BREAK_EVEN_ANY);
            limits += at.kind != GL_BREAK_EVEN_ANY;
            any += at.kind == GL_BREAK_EVEN_ANY;
        }
    }
    assert_true(limits > 10 && any > 10);
}

/* A NIC gets no more than its slot carries, whatever its bandwidth. */
static void test_slots_cap_the_bandwidth_of_nics(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    world w;
    make_world(&random, &w);
    const gl_link slot =
        some_link("slot", GL_TRANSPORT_PCIE_P2P, 1.5 * w.inter.bw_bytes_per_s.value);
    gl_sensitivity rows[GL_KNOB_COUNT];
    gl_break_even at;
    world faster = w;
    faster.gpu.bf16_flop_per_s = figure(1e18);
    faster.intra.bw_bytes_per_s = faster.inter.bw_bytes_per_s = figure(1e13);
    faster.cluster.intra.link = &faster.intra;
    faster.cluster.inter.link = &faster.inter;
    faster.setup.cluster = &faster.cluster;
    faster.cluster.gpu = &faster.gpu;
    w.cluster.nic_slot = &slot;
    double most = slot.bw_bytes_per_s.value;
    assert_close(gl_knob_largest(GL_KNOB_INTER_BANDWIDTH, &w.setup), most, 1e-12);
    assert_true(holds(GL_KNOB_INTER_BANDWIDTH, most, &w, (double)INFINITY));
    assert_false(holds(GL_KNOB_INTER_BANDWIDTH, 1.01 * most, &w, (double)INFINITY));
    double step_s = gl_step_of(&w.setup, &plan_options);
    size_t count = gl_sensitivity_build(&w.setup, step_s, &plan_options, rows);
    for (size_t i = 0; i < count; i++)
        if (rows[i].knob == GL_KNOB_INTER_BANDWIDTH)
            assert_close(rows[i].high_value, most, 1e-12);
    assert_true(gl_break_even_find(GL_KNOB_INTER_BANDWIDTH, &w.setup, &faster.setup, 0.05,
                                   &plan_options, &at));
    assert_int_equal(at.kind, GL_BREAK_EVEN_NEVER);
}

/* What a knob is turned to is what it then has; all else stays. */
static void test_knobs_turn_what_they_name(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    for (int i = 0; i < CASES; i++) {
        world w;
        gl_arena *arena = gl_arena_create();
        make_world(&random, &w);
        w.cluster.nics_per_node = 8;
        for (int k = 0; k < GL_KNOB_COUNT; k++) {
            gl_setup changed;
            double value = gl_knob_value((gl_knob)k, &w.setup);
            if (k == GL_KNOB_OVERLAP || k == GL_KNOB_OVERLAP_TAX || isnan(value))
                continue;
            if (k == GL_KNOB_MICRO)
                w.workload.batch.global *= 2;
            assert_true(gl_knob_turn((gl_knob)k, 2 * value, &w.setup, arena, &changed));
            assert_close(gl_knob_value((gl_knob)k, &changed), 2 * value, 1e-12);
            for (int other = 0; other < GL_KNOB_COUNT; other++)
                if (other != k && k != GL_KNOB_DOMAIN && other != GL_KNOB_OUTSIDE_BANDWIDTH &&
                    other != GL_KNOB_CORE_OVERSUBSCRIPTION) /* cores come and go with ports */
                    assert_close(gl_knob_value((gl_knob)other, &changed),
                                 gl_knob_value((gl_knob)other, &w.setup), 1e-12);
            assert_int_equal(changed.cluster->nodes * changed.cluster->gpus_per_node,
                             w.cluster.nodes * w.cluster.gpus_per_node);
        }
        gl_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_is_never_slower),
        cmocka_unit_test(test_break_even_agrees_with_a_plan),
        cmocka_unit_test(test_all_ratios_hold_up_to_the_limit),
        cmocka_unit_test(test_slots_cap_the_bandwidth_of_nics),
        cmocka_unit_test(test_knobs_turn_what_they_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
