/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws that every plan keeps, over random layouts of a small model on a two-tier cluster. */
#include "planner/core/check.h"
#include "planner/core/plan.h"
#include "tests/property/random.h"
#include "tests/support.h"

enum { CASES = 300 };

static gl_figure figure(double value, double spread)
{
    return (gl_figure){.value = value,
                       .low = value * (1 - spread),
                       .high = value * (1 + spread),
                       .kind = GL_FIGURE_ASSUMED,
                       .source = "test",
                       .date = ""};
}

static gl_gpu some_gpu(void)
{
    return (gl_gpu){.name = "gpu",
                    .title = "gpu",
                    .memory_bytes = figure(80e9, 0),
                    .memory_bw_bytes_per_s = figure(3e12, 0),
                    .memory_efficiency = figure(0.8, 0.1),
                    .bf16_flop_per_s = figure(900e12, 0),
                    .fp16_flop_per_s = figure(900e12, 0),
                    .fp32_flop_per_s = figure(60e12, 0),
                    .gemm_efficiency = figure(0.7, 0.1),
                    .attention_efficiency = figure(0.5, 0.2),
                    .attention_backward_efficiency = figure(0.4, 0.2),
                    .kernel_launch_s = figure(4e-6, 0.5)};
}

static gl_link some_link(const char *name, gl_transport transport, double bw)
{
    return (gl_link){.name = name,
                     .title = name,
                     .transport = transport,
                     .bw_bytes_per_s = figure(bw, 0),
                     .efficiency = figure(0.8, 0.1),
                     .base_latency_s = figure(1e-5, 0),
                     .step_latency_s = figure(1e-6, 0),
                     .half_size_bytes = figure(1e6, 0)};
}

typedef struct world {
    gl_gpu gpu;
    gl_link intra, inter;
    gl_overlap_taxes taxes;
    gl_cluster cluster;
} world;

static void make_world(world *w, double intra_bw, double inter_bw)
{
    w->gpu = some_gpu();
    w->taxes.by_transport[GL_TRANSPORT_NVLINK] = figure(0.6, 0.5);
    w->taxes.by_transport[GL_TRANSPORT_NET_IB] = figure(0.3, 0.5);
    w->intra = some_link("intra", GL_TRANSPORT_NVLINK, intra_bw);
    w->inter = some_link("inter", GL_TRANSPORT_NET_IB, inter_bw);
    w->cluster = (gl_cluster){.name = "world",
                              .gpu = &w->gpu,
                              .nodes = 64,
                              .gpus_per_node = 8,
                              .bounded = true,
                              .intra.link = &w->intra,
                              .inter.link = &w->inter,
                              .nics_per_node = 8,
                              .oversubscription = 1,
                              .core_oversubscription = 1,
                              .overlap_taxes = &w->taxes};
}

static gl_workload random_workload(uint64_t *random)
{
    static const int small[] = {1, 1, 2, 4}, micro[] = {1, 2, 3}, counts[] = {1, 2, 5, 8};
    gl_workload w = gl_workload_defaults();
    w.model.layers = 8;
    w.model.hidden = 1024;
    w.model.heads = w.model.kv_heads = 16;
    w.model.head_dim = 64;
    w.model.ffn = 4096;
    w.model.vocab = 32000;
    w.model.sequence = 2048;
    gl_parallel *p = &w.parallel;
    p->tp = random_of(random, small, 4);
    p->pp = random_of(random, small, 4);
    p->dp = random_of(random, small, 4) * random_of(random, small, 4);
    p->cp = random_of(random, small, 3);
    p->zero = random_between(random, 0, 3);
    p->sequence_parallel = p->tp > 1 && random_between(random, 0, 1) == 1;
    p->recompute = (gl_recompute)random_between(random, 0, 2);
    p->scatter_gather = random_between(random, 0, 1) == 1;
    w.overlap.dp = random_between(random, 0, 3) > 0;
    w.overlap.tp = random_between(random, 0, 1) == 1;
    w.overlap.pp = random_between(random, 0, 1) == 1;
    if (random_between(random, 0, 3) == 0) {
        w.model.moe = (gl_moe){.experts = 8,
                               .top_k = 2,
                               .expert_ffn = 1024,
                               .every = 1,
                               .capacity = 1,
                               .imbalance = 1};
        int groups = p->dp * p->cp;
        p->ep = groups >= 2 ? 2 : 1;
    }
    w.batch.micro = random_of(random, micro, 3);
    w.batch.global = (int64_t)w.batch.micro * p->dp * random_of(random, counts, 4);
    return w;
}

static void build(const gl_workload *w, const world *in, gl_arena *arena, gl_plan *plan)
{
    gl_error err;
    gl_plan_options options = {.headroom = 1, .stage = -1};
    if (!gl_plan_build(w, &in->cluster, &options, arena, plan, &err))
        fail_msg("%s", err.message);
}

static void check_sums(const gl_plan *plan)
{
    const gl_step *s = &plan->step;
    assert_close(s->time_s,
                 s->compute_s + s->overlap_tax_s + s->exposed_communication_s + s->bubble_s +
                     s->optimizer_s,
                 1e-9);
    assert_true(s->compute_s > 0 && s->overlap_tax_s >= 0 && s->bubble_s >= 0);
    /* Times are factors off: what may be lost is more than what may be gained, and not all. */
    assert_true(s->time_p10_s > 0 && s->time_p10_s <= s->time_s);
    assert_true(s->time_p90_s - s->time_s >= (s->time_s - s->time_p10_s) * (1 - 1e-9));
    assert_true(s->exposed_communication_s >= 0);
    assert_true(s->time_p10_s <= s->time_s && s->time_s <= s->time_p90_s);
    assert_true(s->mfu_frac > 0 && s->mfu_frac < 1);
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_timed_row *row = &plan->rows[i];
        assert_true(row->exposed_s >= 0 && row->exposed_s <= row->time_s * (1 + 1e-9));
        assert_true(row->per_call.busbw_bytes_per_s > 0);
        /* What schedules take is what is reported. */
        assert_close(fmax(row->per_call.tier_s[0], row->per_call.tier_s[1]), row->per_call.time_s,
                     1e-12);
        /* Nothing is faster than its link. */
        double limit = row->traffic->placement.nodes > 1
                           ? 8 * plan->cluster->inter.link->bw_bytes_per_s.value
                           : plan->cluster->intra.link->bw_bytes_per_s.value;
        assert_true(row->per_call.busbw_bytes_per_s <= limit);
    }
}

static void faster_links_are_never_slower(const gl_workload *w, const gl_plan *plan,
                                          gl_arena *arena)
{
    static const double better_bw[][2] = {{900e9, 100e9}, {900e9, 50e9}, {450e9, 100e9}};
    for (size_t i = 0; i < 3; i++) {
        world better;
        gl_plan other;
        make_world(&better, better_bw[i][0], better_bw[i][1]);
        build(w, &better, arena, &other);
        assert_true(other.step.time_s <= plan->step.time_s * (1 + 1e-9));
        assert_true(other.step.compute_s == plan->step.compute_s);
    }
}

/* A tier that has what is required keeps the target when it alone communicates. */
static void required_bandwidth_is_enough(const gl_workload *w, const gl_plan *plan)
{
    for (int tier = 0; tier < GL_TIER_COUNT; tier++) {
        const gl_bandwidth_need *need = &plan->needs[tier];
        if (need->verdict == GL_VERDICT_NOT_USED || need->verdict == GL_VERDICT_UNKNOWN)
            continue;
        gl_arena *scratch = gl_arena_create();
        gl_scales scales = {1, {0, 0}, 0};
        scales.tier[tier] = need->available_bytes_per_s / need->required_bytes_per_s;
        gl_schedule s = gl_schedule_eval(w, &plan->compute, plan->stage_plans, &scales, scratch);
        assert_true(s.exposed_s <= w->target_exposed_frac * s.time_s * (1 + 1e-6));
        gl_arena_destroy(scratch);
    }
}

static void laws_hold(void **state)
{
    (void)state;
    uint64_t random = random_seed();
    for (int i = 0; i < CASES; i++) {
        gl_arena *arena = gl_arena_create();
        gl_workload w = random_workload(&random);
        world here;
        gl_plan plan;
        make_world(&here, 450e9, 50e9);
        build(&w, &here, arena, &plan);
        check_sums(&plan);
        faster_links_are_never_slower(&w, &plan, arena);
        required_bandwidth_is_enough(&w, &plan);
        gl_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
