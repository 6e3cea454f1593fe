/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Laws of the network model over random clusters, placements and sizes: one rank takes no time,
 * more bytes are never faster, a better link is never slower, a further algorithm never hurts.
 */
#include "planner/core/network.h"
#include "tests/property/random.h"
#include "tests/support.h"

enum { CASES = 3000 };

static gl_figure figure(double value)
{
    return (gl_figure){
        .value = value, .low = value, .high = value, .kind = GL_FIGURE_ASSUMED, .source = ""};
}

static gl_link random_link(uint64_t *seed, gl_transport transport)
{
    gl_link link = {.name = "link",
                    .title = "",
                    .transport = transport,
                    .bw_bytes_per_s = figure(1e9 * random_between(seed, 1, 900)),
                    .efficiency = figure(0.01 * random_between(seed, 20, 95)),
                    .base_latency_s = figure(1e-6 * random_between(seed, 0, 40)),
                    .step_latency_s = figure(1e-7 * random_between(seed, 0, 200)),
                    .half_size_bytes = figure(1e4 * random_between(seed, 0, 2000))};
    if (random_between(seed, 0, 1) == 1)
        link.switch_efficiency = figure(0.01 * random_between(seed, 30, 80));
    if (random_between(seed, 0, 1) == 1)
        link.level_latency_s = figure(1e-6 * random_between(seed, 0, 3));
    return link;
}

static gl_cluster random_cluster(uint64_t *seed, const gl_link *intra, const gl_link *inter)
{
    return (gl_cluster){.name = "random",
                        .nodes = 64,
                        .gpus_per_node = 8,
                        .bounded = true,
                        .intra.link = intra,
                        .inter.link = inter,
                        .nics_per_node = random_between(seed, 1, 16),
                        .fabric = (gl_fabric)random_between(seed, 0, 2),
                        .oversubscription = random_between(seed, 1, 4),
                        .core_oversubscription = random_between(seed, 1, 4),
                        .radix = random_between(seed, 0, 1) * random_between(seed, 16, 128),
                        .in_network_reduction = random_between(seed, 0, 1) == 1};
}

static gl_network_query random_query(uint64_t *seed)
{
    int nodes = random_between(seed, 1, 64), r = random_between(seed, 1, 8);
    if (nodes * r < 2)
        r = 2;
    return (gl_network_query){
        .collective = (gl_collective)random_between(seed, 0, GL_SENDRECV),
        .placement = {nodes * r, nodes, r, random_between(seed, 1, 8 / r)},
        .size_bytes = ldexp(1.0 + random_between(seed, 0, 99) / 100.0, random_between(seed, 0, 34)),
        .figures_only = true};
}

static double time_of(const gl_cluster *cluster, const gl_network_query *query, gl_arena *arena)
{
    const char *const *warnings;
    gl_network_time t;
    gl_error err;
    if (!gl_network_eval(gl_network_create(cluster, arena, &warnings), query, arena, &t, &err))
        fail_msg("%s", err.message);
    assert_true(isfinite(t.time_s) && t.time_s >= 0);
    assert_true(isfinite(t.error_frac) && t.error_frac >= 0);
    assert_true(t.tier_s[0] <= t.time_s && t.tier_s[1] <= t.time_s);
    return t.time_s;
}

static void catalogue_times_obey(void **unused)
{
    (void)unused;
    uint64_t seed = random_seed();
    for (int i = 0; i < CASES; i++) {
        gl_arena *arena = gl_arena_create();
        gl_link intra = random_link(&seed, GL_TRANSPORT_NVLINK);
        gl_link inter = random_link(&seed, GL_TRANSPORT_NET_IB);
        gl_cluster cluster = random_cluster(&seed, &intra, &inter), better = cluster;
        gl_network_query query = random_query(&seed), other = query;
        double t = time_of(&cluster, &query, arena);
        other.size_bytes *= 1.5;
        assert_true(time_of(&cluster, &other, arena) >= t);
        other.placement = (gl_placement){1, 1, 1, 1};
        assert_true(time_of(&cluster, &other, arena) == 0);
        better.in_network_reduction = true;
        assert_true(time_of(&better, &query, arena) <= t);
        better = cluster;
        better.nics_per_node *= 2;
        better.oversubscription = better.core_oversubscription = 1;
        better.radix = 0; /* more ports a node fill a leaf sooner: compared without */
        cluster.radix = 0;
        assert_true(time_of(&better, &query, arena) <=
                    time_of(&cluster, &query, arena) * (1 + 1e-12));
        gl_link faster[2] = {intra, inter};
        double before = time_of(&cluster, &query, arena);
        faster[0].bw_bytes_per_s.value *= 1.7;
        faster[1].bw_bytes_per_s.value *= 1.3;
        faster[1].step_latency_s.value *= 0.5;
        cluster.intra.link = &faster[0];
        cluster.inter.link = &faster[1];
        assert_true(time_of(&cluster, &query, arena) <= before * (1 + 1e-12));
        gl_arena_destroy(arena);
    }
}

static gl_curve random_curve(uint64_t *seed, int64_t id, int ranks, double busbw, gl_arena *arena)
{
    gl_sample *samples = GL_ARENA_NEW(arena, gl_sample, 24);
    double f = gl_bus_factor(GL_ALL_REDUCE, ranks), floor_s = 1e-6 * (5 + ranks);
    for (int i = 0; i < 24; i++)
        samples[i] = (gl_sample){.size_bytes = ldexp(64, i),
                                 .time_median_s = (floor_s + ldexp(64, i) * f / busbw) *
                                                  (1 + random_between(seed, -50, 50) / 1000.0),
                                 .time_p05_s = (double)NAN,
                                 .time_p95_s = (double)NAN,
                                 .wrong = (double)NAN};
    return (gl_curve){.id = id,
                      .run_id = 1,
                      .collective = GL_ALL_REDUCE,
                      .placement = {ranks, 1, ranks, 1},
                      .transport = GL_TRANSPORT_NVLINK,
                      .redop = "sum",
                      .algorithm = "",
                      .protocol = "",
                      .root = -1,
                      .samples = samples,
                      .sample_count = 24};
}

/* Families of noisy curves: every count gets a finite time not below half of the fastest measured
 * and not above what a bandwidth that falls with the square of the ranks would take. */
static void families_stay_in_bounds(void **unused)
{
    (void)unused;
    uint64_t seed = random_seed();
    for (int i = 0; i < CASES / 10; i++) {
        gl_arena *arena = gl_arena_create();
        gl_curve curves[3];
        double busbw = 1e9 * random_between(&seed, 1, 400);
        for (int c = 0; c < 3; c++) {
            curves[c] = random_curve(&seed, c, 2 << c, busbw, arena);
            busbw *= 0.3 + random_between(&seed, 0, 12) / 10.0;
        }
        gl_cluster cluster = {.name = "random",
                              .nodes = 1,
                              .gpus_per_node = 64,
                              .oversubscription = 1,
                              .core_oversubscription = 1,
                              .intra = {.curves = curves, .curve_count = 3}};
        for (int ranks = 3; ranks <= 64; ranks++) {
            gl_network_query query = {.collective = GL_ALL_REDUCE,
                                      .placement = {ranks, 1, ranks, 1},
                                      .size_bytes =
                                          ldexp(1.0 + random_between(&seed, 0, 99) / 100.0,
                                                random_between(&seed, 3, 31))};
            double t = time_of(&cluster, &query, arena), least = INFINITY, most = 0;
            for (int c = 0; c < 3; c++) {
                gl_network_query at = query;
                at.placement = curves[c].placement;
                double measured = time_of(&cluster, &at, arena);
                double octaves = fmax(1, (double)ranks / at.placement.ranks);
                least = fmin(least, measured);
                most = fmax(most, measured * 2 * fmax(octaves * octaves, 1 + octaves));
            }
            assert_true(t >= least / 4 && t <= most);
        }
        gl_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalogue_times_obey),
        cmocka_unit_test(families_stay_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
