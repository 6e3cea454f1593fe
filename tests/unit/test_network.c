/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/network.h"
#include "planner/core/network_rules.h"
#include "tests/support.h"

static gl_figure figure(double value)
{
    return (gl_figure){.value = value,
                       .low = value,
                       .high = value,
                       .kind = GL_FIGURE_ASSUMED,
                       .source = "test",
                       .date = ""};
}

static gl_link link_of(const char *name, gl_transport transport, double bw, double efficiency,
                       double base_s, double step_s)
{
    return (gl_link){.name = name,
                     .title = name,
                     .transport = transport,
                     .bw_bytes_per_s = figure(bw),
                     .efficiency = figure(efficiency),
                     .base_latency_s = figure(base_s),
                     .step_latency_s = figure(step_s)};
}

/* 16 nodes of 8 GPUs, NVLink inside, one 50 GB/s NIC a GPU. */
static gl_cluster two_tiers(const gl_link *intra, const gl_link *inter)
{
    return (gl_cluster){.name = "test",
                        .nodes = 16,
                        .gpus_per_node = 8,
                        .bounded = true,
                        .intra.link = intra,
                        .inter.link = inter,
                        .nics_per_node = 8,
                        .fabric = GL_FABRIC_FAT_TREE,
                        .oversubscription = 1,
                        .core_oversubscription = 1};
}

static gl_network_time time_of(gl_cluster *cluster, gl_collective collective,
                               gl_placement placement, double size, gl_arena *arena)
{
    const char *const *warnings;
    gl_network *network = gl_network_create(cluster, arena, &warnings);
    gl_network_query query = {.collective = collective, .placement = placement, .size_bytes = size};
    gl_network_time t;
    gl_error err;
    if (!gl_network_eval(network, &query, arena, &t, &err))
        fail_msg("%s", err.message);
    return t;
}

static const double GB = 1e9;

static void one_rank_takes_no_time(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 1e-5, 1e-6);
    gl_cluster cluster = two_tiers(&nv, NULL);
    gl_network_time t = time_of(&cluster, GL_ALL_REDUCE, (gl_placement){1, 1, 1, 8}, 1e9, *state);
    assert_true(t.time_s == 0);
    assert_int_equal(t.evidence, GL_EVIDENCE_NONE);
}

static void a_ring_over_nodes_runs_at_the_slower_tier(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = two_tiers(&nv, &ib);
    /* All eight GPUs of each node in one group: eight NICs work for it, 360 GB/s in both tiers. */
    gl_placement all = {128, 16, 8, 1};
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, all, 1e12, *state);
    assert_close(t.busbw_bytes_per_s, 360 * GB, 1e-9);
    assert_int_equal(t.evidence, GL_EVIDENCE_CATALOGUE);
    /* One GPU of each node, eight such groups at once: one NIC each. */
    gl_placement one = {16, 16, 1, 8};
    assert_close(time_of(&cluster, GL_ALL_GATHER, one, 1e12, *state).busbw_bytes_per_s, 45 * GB,
                 1e-9);
    /* Half of the NICs: half of the rate. */
    cluster.nics_per_node = 4;
    assert_close(time_of(&cluster, GL_ALL_GATHER, one, 1e12, *state).busbw_bytes_per_s, 22.5 * GB,
                 1e-9);
}

/* DGX-1: pairs in order are joined by one of six links, four GPUs by two rings in both directions.
 */
static void a_small_group_of_a_mesh_has_its_own_wires_only(void **state)
{
    gl_link mesh = link_of("mesh", GL_TRANSPORT_NVLINK, 150 * GB, 0.8, 0, 0);
    mesh.pair_bw_bytes_per_s = figure(25 * GB);
    mesh.quad_bw_bytes_per_s = figure(100 * GB);
    mesh.half_size_bytes = figure(1e6);
    gl_cluster cluster = two_tiers(&mesh, NULL);
    const struct {
        int ranks;
        double busbw;
    } cases[] = {{2, 20 * GB}, {3, 20 * GB}, {4, 80 * GB}, {7, 80 * GB}, {8, 120 * GB}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gl_placement group = {cases[i].ranks, 1, cases[i].ranks, 1};
        assert_close(time_of(&cluster, GL_ALL_REDUCE, group, 1e13, *state).busbw_bytes_per_s,
                     cases[i].busbw, 1e-5);
    }
    /* Half of it is reached at as much less. */
    assert_close(time_of(&cluster, GL_SENDRECV, (gl_placement){2, 1, 2, 1}, 1e6 / 6, *state)
                     .busbw_bytes_per_s,
                 10 * GB, 1e-9);
    /* All eight of each node in one group. */
    cluster = two_tiers(&mesh, &mesh);
    assert_close(time_of(&cluster, GL_ALL_GATHER, (gl_placement){16, 2, 8, 1}, 1e13, *state)
                     .busbw_bytes_per_s,
                 120 * GB, 1e-5);
}

/* Of a group over so many nodes side by side. */
static double thinning(const gl_cluster *cluster, gl_collective collective, int nodes)
{
    const gl_network_query query = {.collective = collective, .placement = {nodes, nodes, 1, 1}};
    return gl_rules_thinning(cluster, &query);
}

static void oversubscription_divides_what_crosses_a_leaf(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = two_tiers(NULL, &ib);
    gl_placement one = {16, 16, 1, 8};
    cluster.oversubscription = 4;
    assert_close(time_of(&cluster, GL_ALL_GATHER, one, 1e12, *state).busbw_bytes_per_s, 45 * GB / 4,
                 1e-9);
    /* Rail-optimised with 64 ports: 51 nodes hang on one leaf of each rail. */
    cluster.radix = 64;
    cluster.fabric = GL_FABRIC_RAIL_OPTIMISED;
    assert_int_equal(gl_rules_switch_levels(&cluster, 16), 1);
    assert_int_equal(gl_rules_switch_levels(&cluster, 52), 2);
    assert_close(time_of(&cluster, GL_ALL_GATHER, one, 1e12, *state).busbw_bytes_per_s, 45 * GB,
                 1e-9);
    cluster.fabric = GL_FABRIC_FAT_TREE;
    assert_int_equal(gl_rules_switch_levels(&cluster, 7),
                     2); /* 51 ports hold six nodes of eight NICs */
    assert_int_equal(gl_rules_switch_levels(&cluster, 6), 1);
    /* A pair of nodes on two leaves crosses as all do. */
    gl_network_query pair = {.collective = GL_SENDRECV, .placement = {2, 2, 1, 8}};
    assert_close(gl_rules_thinning(&cluster, &pair), 1, 0);
    pair.reach = (gl_reach){.leaves = 2, .nodes_on_leaf = 1, .pods = 1, .nodes_in_pod = 2};
    assert_close(gl_rules_thinning(&cluster, &pair), 4, 0);
    /* 64 ports join eight nodes of eight NICs, and there is no uplink. */
    cluster.nodes = 8;
    assert_int_equal(gl_rules_switch_levels(&cluster, 8), 1);
    assert_close(thinning(&cluster, GL_ALL_GATHER, 8), 1, 0);
}

/* Rail-optimised, eight NICs, 64 ports: 32 nodes on a leaf of each rail, 256 nodes without cores.
 */
static void thinned_spines_divide_what_crosses_a_core(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = two_tiers(NULL, &ib);
    cluster.fabric = GL_FABRIC_RAIL_OPTIMISED;
    cluster.radix = 64;
    cluster.nodes = 256;
    assert_int_equal(gl_rules_switch_levels(&cluster, 256), 2);
    cluster.nodes = 512; /* pods of 32 leaves, four of each rail */
    assert_int_equal(gl_rules_switch_levels(&cluster, 128), 2);
    assert_int_equal(gl_rules_switch_levels(&cluster, 129), 3);
    cluster.core_oversubscription = 7; /* pods of 56 leaves, seven of each rail */
    assert_int_equal(gl_rules_switch_levels(&cluster, 224), 2);
    assert_int_equal(gl_rules_switch_levels(&cluster, 225), 3);
    assert_close(thinning(&cluster, GL_ALL_GATHER, 224), 1, 0);
    assert_close(thinning(&cluster, GL_ALL_GATHER, 225), 7, 0);
    assert_close(thinning(&cluster, GL_ALLTOALL, 448), 7 * 224 / 447.0, 1e-12);
    gl_placement far = {225, 225, 1, 8};
    assert_close(time_of(&cluster, GL_ALL_GATHER, far, 1e12, *state).busbw_bytes_per_s, 45 * GB / 7,
                 1e-9);
    /* What leaves spines has already left leaves. */
    cluster.oversubscription = 1.5;
    assert_close(thinning(&cluster, GL_ALL_GATHER, 400), 10.5, 1e-12);
}

static void all_to_all_is_bound_by_what_leaves_the_node(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 1, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 1, 0, 0);
    gl_cluster cluster = two_tiers(&nv, &ib);
    gl_placement p = {16, 2, 8, 1};
    double size = 1e9;
    gl_network_time t = time_of(&cluster, GL_ALLTOALL, p, size, *state);
    assert_close(t.time_s, size * 8 / 16 / (50 * GB), 1e-9);
    assert_string_equal(t.algorithm, "pairwise");
    /* So busbw on two nodes is about twice the NIC (nccl-tests issues ask about it). */
    assert_close(t.busbw_bytes_per_s, 50 * GB * 15 / 8, 1e-9);
}

static void small_all_reduce_over_many_ranks_takes_the_tree(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 1e-5, 1e-6);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 1e-5, 5e-6);
    gl_cluster cluster = two_tiers(&nv, &ib);
    gl_placement all = {128, 16, 8, 1};
    assert_string_equal(time_of(&cluster, GL_ALL_REDUCE, all, 8, *state).algorithm, "tree");
    assert_string_equal(time_of(&cluster, GL_ALL_REDUCE, all, 1e11, *state).algorithm, "ring");
}

static void a_switch_that_reduces_moves_less(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    nv.switch_efficiency = figure(0.7);
    gl_cluster cluster = two_tiers(&nv, &ib);
    gl_placement node = {8, 1, 8, 1};
    gl_network_time t = time_of(&cluster, GL_ALL_REDUCE, node, 1e9, *state);
    assert_string_equal(t.algorithm, "nvls");
    assert_close(t.time_s, 1e9 * 9 / 8 / (315 * GB), 1e-12);
    /* Gathers and pairs gain nothing. */
    assert_string_equal(time_of(&cluster, GL_ALL_GATHER, node, 1e9, *state).algorithm, "ring");
    assert_string_equal(
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, 1e9, *state).algorithm,
        "ring");
    /* Two nodes: a tree over them moves half of a ring's bytes there, and busbw passes the NICs. */
    gl_placement two = {16, 2, 8, 1};
    ib.efficiency = figure(0.6);
    t = time_of(&cluster, GL_ALL_REDUCE, two, 1e9, *state);
    assert_string_equal(t.algorithm, "nvls-tree");
    assert_close(t.time_s, 1e9 * 9 / 8 / (0.65 * 315 * GB), 1e-12);
    assert_close(t.tier_s[1], 1e9 / (240 * GB), 1e-12);
    assert_true(t.busbw_bytes_per_s > 240 * GB);
    assert_close(t.error_frac, 0.25, 1e-12); /* published runs scatter */
    nv.switch_latency_s = figure(1);         /* too slow to start: the ring instead */
    assert_string_equal(time_of(&cluster, GL_ALL_REDUCE, node, 1e9, *state).algorithm, "ring");
}

/* ---- measured curves ---- */

static gl_curve measured(gl_arena *arena, int64_t id, gl_collective collective,
                         gl_placement placement, double floor_s, double busbw,
                         gl_transport transport)
{
    gl_sample *samples = GL_ARENA_NEW(arena, gl_sample, 28);
    double f = gl_bus_factor(collective, placement.ranks);
    for (int i = 0; i < 28; i++)
        samples[i] = (gl_sample){.size_bytes = ldexp(8, i),
                                 .time_median_s = floor_s + ldexp(8, i) * f / busbw,
                                 .time_p05_s = (double)NAN,
                                 .time_p95_s = (double)NAN,
                                 .wrong = (double)NAN};
    return (gl_curve){.id = id,
                      .run_id = 1,
                      .collective = collective,
                      .placement = placement,
                      .transport = transport,
                      .redop = "sum",
                      .algorithm = "",
                      .protocol = "",
                      .root = -1,
                      .samples = samples,
                      .sample_count = 28};
}

/* Measured on one leaf, asked for beyond it. */
static void a_curve_on_one_leaf_is_thinned_beyond_it(void **state)
{
    gl_curve curve = measured(*state, 1, GL_ALL_GATHER, (gl_placement){4, 4, 1, 1}, 1e-6, 40 * GB,
                              GL_TRANSPORT_NET_IB);
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.inter = (gl_tier){.curves = &curve, .curve_count = 1};
    cluster.nics_per_node = 1;
    cluster.radix = 10;
    double close = time_of(&cluster, GL_ALL_GATHER, (gl_placement){4, 4, 1, 1}, 1e9, *state).time_s;
    cluster.oversubscription = 4; /* eight nodes on a leaf */
    assert_close(time_of(&cluster, GL_ALL_GATHER, (gl_placement){4, 4, 1, 1}, 1e9, *state).time_s,
                 close, 1e-9);
    double far = time_of(&cluster, GL_ALL_GATHER, (gl_placement){9, 9, 1, 1}, 1e9, *state).time_s;
    assert_close(far / close, 4 * (8.0 / 9) / (3.0 / 4), 0.02);
}

static void a_measured_placement_wins_over_the_catalogue(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 1e-5, 1e-6);
    gl_curve curve = measured(*state, 7, GL_ALL_REDUCE, (gl_placement){8, 1, 8, 1}, 2e-5, 200 * GB,
                              GL_TRANSPORT_NVLINK);
    gl_cluster cluster = two_tiers(&nv, NULL);
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    cluster.intra.calibration = "x.db";
    gl_network_time t =
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){8, 1, 8, 1}, 1 << 20, *state);
    assert_int_equal(t.evidence, GL_EVIDENCE_MEASURED);
    assert_close(t.time_s, 2e-5 + (1 << 20) * 1.75 / (200 * GB), 1e-12);
    assert_string_equal(t.source, "curve 7 of x.db");
}

static void other_rank_counts_are_marked_and_widened(void **state)
{
    gl_curve curve = measured(*state, 7, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, 1e-5, 300 * GB,
                              GL_TRANSPORT_NVLINK);
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    double size = 1 << 28;
    gl_network_time two =
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, size, *state);
    gl_network_time four =
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){4, 1, 4, 1}, size, *state);
    gl_network_time eight =
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){8, 1, 8, 1}, size, *state);
    assert_int_equal(four.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    assert_close(four.time_s, 1.5e-5 + size * 1.5 / (300 * GB), 1e-9);
    assert_true(two.error_frac < four.error_frac && four.error_frac < eight.error_frac);
}

static void too_far_is_refused_with_advice(void **state)
{
    gl_curve curve = measured(*state, 7, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, 1e-5, 300 * GB,
                              GL_TRANSPORT_NVLINK);
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    const char *const *warnings;
    gl_network *network = gl_network_create(&cluster, *state, &warnings);
    gl_network_query query = {
        .collective = GL_ALL_REDUCE, .placement = {16, 1, 16, 1}, .size_bytes = 1e6};
    gl_network_time t;
    gl_error err;
    assert_false(gl_network_eval(network, &query, *state, &t, &err));
    assert_int_equal(err.status, GL_ERROR_INPUT);
    assert_non_null(strstr(err.message, "measure all_reduce over 16 ranks on one node"));
    query.allow_extrapolation = true;
    assert_true(gl_network_eval(network, &query, *state, &t, &err));
    assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    /* Nothing at all about another tier: refused even when extrapolation is allowed. */
    query.placement = (gl_placement){2, 2, 1, 1};
    assert_false(gl_network_eval(network, &query, *state, &t, &err));
    assert_non_null(strstr(err.message, "between nodes"));
}

static void far_larger_messages_are_refused(void **state)
{
    gl_curve curve = measured(*state, 7, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, 1e-5, 300 * GB,
                              GL_TRANSPORT_NVLINK);
    curve.sample_count = 12; /* up to 16 KiB: nothing but latency */
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    const char *const *warnings;
    gl_network *network = gl_network_create(&cluster, *state, &warnings);
    gl_network_query query = {
        .collective = GL_ALL_REDUCE, .placement = {2, 1, 2, 1}, .size_bytes = 1e9};
    gl_network_time t;
    gl_error err;
    assert_false(gl_network_eval(network, &query, *state, &t, &err));
    assert_non_null(strstr(err.message, "ends at 16 KiB"));
    query.allow_extrapolation = true;
    assert_true(gl_network_eval(network, &query, *state, &t, &err));
    assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_SIZE);
}

static void a_ring_over_nodes_names_its_slower_tier(void **state)
{
    gl_link pcie = link_of("pcie", GL_TRANSPORT_PCIE_P2P, 12 * GB, 1, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 1, 0, 0);
    gl_cluster cluster = two_tiers(&pcie, &ib);
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, (gl_placement){16, 2, 8, 1}, 1e12, *state);
    assert_close(t.tier_s[0], 1e12 * 15 / 16 / (12 * GB), 1e-9);
    assert_close(t.tier_s[1], 1e12 * 15 / 16 / (400 * GB), 1e-9);
    assert_close(t.time_s, t.tier_s[0], 1e-12);
    assert_int_equal(t.transport, GL_TRANSPORT_PCIE_P2P);
    assert_non_null(strstr(t.formula, "over pcie"));
}

/* A later session has another latency, and another bandwidth where processors move the data. */
static void another_session_would_differ(void **state)
{
    gl_placement pair = {2, 1, 2, 1};
    gl_curve curve = measured(*state, 1, GL_SENDRECV, pair, 1e-5, 100 * GB, GL_TRANSPORT_NVLINK);
    gl_cluster cluster = {.name = "pair", .nodes = 1, .gpus_per_node = 2};
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    cluster.intra.calibration = "x.db";
    gl_network_time small = time_of(&cluster, GL_SENDRECV, pair, 8, *state);
    gl_network_time large = time_of(&cluster, GL_SENDRECV, pair, 1e8, *state);
    assert_close(small.session_error_frac, 0.30, 1e-3);
    assert_close(large.session_error_frac, 0.30 * 1e-5 / large.time_s, 1e-3);
    assert_true(small.error_frac >= 0.30 && large.error_frac < 0.05);
    curve.transport = GL_TRANSPORT_NET_SOCKET;
    assert_true(time_of(&cluster, GL_SENDRECV, pair, 1e8, *state).error_frac > 0.16);
}

static void a_related_curve_beats_one_of_other_ranks(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 1e-5, 1e-6);
    gl_curve curves[] = {measured(*state, 1, GL_ALL_GATHER, (gl_placement){2, 1, 2, 1}, 1e-5,
                                  340 * GB, GL_TRANSPORT_NVLINK),
                         measured(*state, 2, GL_ALL_REDUCE, (gl_placement){8, 1, 8, 1}, 1e-5,
                                  300 * GB, GL_TRANSPORT_NVLINK),
                         measured(*state, 3, GL_REDUCE_SCATTER, (gl_placement){8, 1, 8, 1}, 2e-5,
                                  350 * GB, GL_TRANSPORT_NVLINK)};
    gl_cluster cluster = two_tiers(&nv, NULL);
    cluster.intra.curves = curves;
    cluster.intra.curve_count = 3;
    cluster.intra.calibration = "x.db";
    gl_placement node = {8, 1, 8, 1};
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, node, 1 << 20, *state);
    assert_string_equal(t.source, "curve 3 of x.db");
    /* Nothing related on this placement: the same collective, moved. */
    cluster.intra.curve_count = 1;
    assert_string_equal(time_of(&cluster, GL_ALL_GATHER, node, 1 << 20, *state).source,
                        "curve 1 of x.db");
}

static void a_missing_collective_comes_from_a_related_one(void **state)
{
    gl_curve curve = measured(*state, 7, GL_ALL_GATHER, (gl_placement){2, 1, 2, 1}, 1e-5, 300 * GB,
                              GL_TRANSPORT_NVLINK);
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    double size = 1 << 28;
    gl_network_time t =
        time_of(&cluster, GL_REDUCE_SCATTER, (gl_placement){2, 1, 2, 1}, size, *state);
    assert_close(t.time_s, 1e-5 + size * 0.5 / (300 * GB), 1e-9);
    assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    assert_non_null(strstr(t.formula, "reduce_scatter from all_gather"));
}

static void the_variant_that_training_uses_is_taken(void **state)
{
    gl_curve curves[2];
    for (int i = 0; i < 2; i++) {
        curves[i] = measured(*state, i, GL_ALL_GATHER, (gl_placement){2, 1, 2, 1}, 1e-5,
                             (i + 1) * 100 * GB, GL_TRANSPORT_NVLINK);
        curves[i].in_place = i == 1;
    }
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = curves;
    cluster.intra.curve_count = 2;
    const char *const *warnings;
    gl_network *network = gl_network_create(&cluster, *state, &warnings);
    for (int in_place = 0; in_place < 2; in_place++) {
        gl_network_query query = {.collective = GL_ALL_GATHER,
                                  .placement = {2, 1, 2, 4},
                                  .size_bytes = 1 << 28,
                                  .in_place = in_place == 1};
        gl_network_time t;
        assert_true(gl_network_eval(network, &query, *state, &t, NULL));
        assert_close(t.busbw_bytes_per_s, (in_place + 1) * 100 * GB, 0.02);
        /* Other pairs behind an NVLink switch do not disturb. */
        assert_int_equal(t.evidence, GL_EVIDENCE_MEASURED);
    }
}

/* ---- families ---- */

static gl_network *network_of(gl_cluster *cluster, gl_arena *arena)
{
    const char *const *warnings;
    return gl_network_create(cluster, arena, &warnings);
}

static void several_rank_counts_tell_of_another(void **state)
{
    /* A floor of 4 us and 1 us a step; 300 GB/s, and the rank's own share at 100 GB/s. */
    gl_curve curves[3];
    const int ranks[] = {2, 4, 8};
    for (int i = 0; i < 3; i++) {
        double n = ranks[i], per_byte = (n - 1) / n / 300e9 + 1 / n / 100e9;
        curves[i] = measured(*state, i, GL_ALL_GATHER, (gl_placement){ranks[i], 1, ranks[i], 1},
                             3e-6 + n * 1e-6, (n - 1) / n / per_byte, GL_TRANSPORT_NVLINK);
    }
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = curves;
    cluster.intra.curve_count = 2;
    gl_placement eight = {8, 1, 8, 1};
    for (double size = 8; size < 2e9; size *= 8) {
        gl_network_time t = time_of(&cluster, GL_ALL_GATHER, eight, size, *state);
        double truth = 11e-6 + size * (7.0 / 8 / 300e9 + 1.0 / 8 / 100e9);
        assert_close(t.time_s, truth, 0.01);
        assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    }
    /* Between measured counts it is interpolated, and surer. */
    gl_placement four = {4, 1, 4, 1};
    curves[1] = curves[2];
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, four, 1 << 28, *state);
    assert_int_equal(t.evidence, GL_EVIDENCE_INTERPOLATED);
    assert_close(t.time_s, 7e-6 + (1 << 28) * (3.0 / 4 / 300e9 + 1.0 / 4 / 100e9), 0.05);
    assert_non_null(strstr(t.formula, "by the trend over 2 measured counts"));
}

static void a_bandwidth_that_falls_goes_on_falling(void **state)
{
    /* Half of the bus bandwidth with each doubling, as over one shared path. */
    gl_curve curves[] = {measured(*state, 1, GL_ALL_REDUCE, (gl_placement){2, 1, 2, 1}, 1e-5,
                                  20 * GB, GL_TRANSPORT_PCIE_P2P),
                         measured(*state, 2, GL_ALL_REDUCE, (gl_placement){4, 1, 4, 1}, 1e-5,
                                  10 * GB, GL_TRANSPORT_PCIE_P2P)};
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.intra.curves = curves;
    cluster.intra.curve_count = 2;
    gl_network_time eight =
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){8, 1, 8, 1}, 1 << 29, *state);
    assert_close(eight.busbw_bytes_per_s, 5 * GB, 0.02);
    /* And is less sure the steeper and the farther. */
    gl_network_time sixteen =
        time_of(&cluster, GL_ALL_REDUCE, (gl_placement){16, 1, 16, 1}, 1 << 29, *state);
    assert_true(eight.error_frac > 0.25 && sixteen.error_frac > eight.error_frac);
}

static void a_family_carries_farther_than_one_curve(void **state)
{
    gl_curve curves[] = {measured(*state, 1, GL_ALL_REDUCE, (gl_placement){2, 2, 1, 1}, 2e-5,
                                  40 * GB, GL_TRANSPORT_NET_IB),
                         measured(*state, 2, GL_ALL_REDUCE, (gl_placement){4, 4, 1, 1}, 4e-5,
                                  40 * GB, GL_TRANSPORT_NET_IB)};
    gl_cluster cluster = two_tiers(NULL, NULL);
    cluster.inter.curves = curves;
    cluster.inter.curve_count = 2;
    gl_network_query query = {
        .collective = GL_ALL_REDUCE, .placement = {32, 32, 1, 1}, .size_bytes = 8};
    gl_network_time t;
    gl_error err;
    assert_true(gl_network_eval(network_of(&cluster, *state), &query, *state, &t, &err));
    assert_close(t.time_s, 10e-5, 0.01); /* a level of the tree each 20 us */
    query.placement = (gl_placement){64, 64, 1, 1};
    assert_false(gl_network_eval(network_of(&cluster, *state), &query, *state, &t, &err));
    assert_non_null(strstr(err.message, "measure all_reduce over 64 ranks on 64 nodes"));
    query.allow_extrapolation = true;
    assert_true(gl_network_eval(network_of(&cluster, *state), &query, *state, &t, &err));
}

/* ---- over several nodes, through the link inside them ---- */

static const gl_placement all_of_four_nodes = {32, 4, 8, 1};

/* 32 ranks on four nodes of eight, measured at 350 GB/s. */
static gl_cluster measured_over_nodes(const gl_link *inside, const gl_link *between,
                                      gl_collective collective, gl_arena *arena)
{
    gl_curve *curve = gl_arena_alloc(arena, 1, sizeof *curve);
    gl_cluster cluster = two_tiers(inside, between);
    *curve = measured(arena, 3, collective, all_of_four_nodes, 5e-5, 350 * GB, GL_TRANSPORT_NET_IB);
    cluster.inter.curves = curve;
    cluster.inter.curve_count = 1;
    cluster.inter.calibration = "lab";
    return cluster;
}

static void what_was_measured_over_nodes_stands(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.7, 0, 0); /* a cautious figure */
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = measured_over_nodes(&nv, &ib, GL_ALL_GATHER, *state);
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, all_of_four_nodes, 1 << 30, *state);
    assert_int_equal(t.evidence, GL_EVIDENCE_MEASURED);
    assert_close(t.busbw_bytes_per_s, 350 * GB, 0.02);
    assert_true(t.tier_s[0] == t.time_s && t.tier_s[1] == t.time_s);
    /* A quarter of the bandwidth inside takes four times as long, whatever the figure; more of it
     * changes nothing that is known. */
    double was = t.time_s;
    cluster.intra.bandwidth_factor = 0.25;
    nv.bw_bytes_per_s = figure(0.25 * 450 * GB);
    t = time_of(&cluster, GL_ALL_GATHER, all_of_four_nodes, 1 << 30, *state);
    assert_close(t.time_s, 4 * was, 0.01);
    assert_int_equal(t.evidence, GL_EVIDENCE_CATALOGUE);
    cluster.intra.bandwidth_factor = 4;
    nv.bw_bytes_per_s = figure(4 * 450 * GB);
    t = time_of(&cluster, GL_ALL_GATHER, all_of_four_nodes, 1 << 30, *state);
    assert_close(t.time_s, was, 1e-9);
    assert_close(t.tier_s[0], was / 4, 0.01);
}

static void a_curve_over_another_link_does_not_hide_this_one(void **state)
{
    gl_link pcie = link_of("pcie", GL_TRANSPORT_PCIE_P2P, 63 * GB, 0.8, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = measured_over_nodes(&pcie, &ib, GL_ALL_GATHER, *state);
    const char *const *warnings;
    gl_network_create(&cluster, *state, &warnings);
    assert_non_null(warnings[0]);
    assert_non_null(strstr(warnings[0], "curve 3 of lab (all_gather over 32 ranks, 8 in a node) is "
                                        "faster than pcie inside a node can be"));
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, all_of_four_nodes, 1 << 30, *state);
    assert_close(t.busbw_bytes_per_s, 0.8 * 63 * GB, 0.01);
    assert_int_equal(t.transport, GL_TRANSPORT_PCIE_P2P);
    assert_int_equal(t.evidence, GL_EVIDENCE_CATALOGUE);
    assert_non_null(strstr(t.formula, "inside a node pcie takes"));
    /* Over a link that can have been it, nothing is said. */
    pcie.bw_bytes_per_s = figure(400 * GB);
    gl_network_create(&cluster, *state, &warnings);
    assert_null(warnings[0]);
}

/* The same inside a node: the curve stands where this link can have been it. */
static void a_curve_inside_over_another_link_does_not_hide_this_one(void **state)
{
    const gl_placement node = {8, 1, 8, 1};
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.7, 0, 0);
    gl_curve curve = measured(*state, 4, GL_ALL_GATHER, node, 5e-6, 350 * GB, GL_TRANSPORT_NVLINK);
    gl_cluster cluster = two_tiers(&nv, NULL);
    const char *const *warnings;
    cluster.intra.curves = &curve;
    cluster.intra.curve_count = 1;
    cluster.intra.calibration = "lab";
    gl_network_create(&cluster, *state, &warnings);
    assert_null(warnings[0]);
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, node, 1 << 30, *state);
    assert_int_equal(t.evidence, GL_EVIDENCE_MEASURED);
    assert_close(t.busbw_bytes_per_s, 350 * GB, 0.02);
    nv.bw_bytes_per_s = figure(200 * GB);
    gl_network_create(&cluster, *state, &warnings);
    assert_non_null(warnings[0]);
    assert_non_null(strstr(warnings[0], "curve 4 of lab (all_gather over 8 ranks, 8 in a node) is "
                                        "faster than nv inside a node can be: it was measured over "
                                        "another link"));
    t = time_of(&cluster, GL_ALL_GATHER, node, 1 << 30, *state);
    assert_close(t.busbw_bytes_per_s, 0.7 * 200 * GB, 0.01);
    assert_int_equal(t.evidence, GL_EVIDENCE_CATALOGUE);
    assert_true(t.tier_s[0] == t.time_s);
    assert_non_null(strstr(t.formula, "the described nv takes"));
}

/* 350 GB/s do not pass four NICs of 50 GB/s: measured over others, the catalogue decides. */
static void a_curve_over_other_nics_does_not_hide_these(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.9, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = measured_over_nodes(&nv, &ib, GL_ALL_GATHER, *state);
    cluster.nics_per_node = 4;
    const char *const *warnings;
    gl_network_create(&cluster, *state, &warnings);
    assert_non_null(warnings[0]);
    assert_non_null(strstr(warnings[0], "curve 3 of lab (all_gather over 32 ranks, 8 in a node) is "
                                        "faster than 4 NICs of ib can be: it was measured over "
                                        "other NICs"));
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, all_of_four_nodes, 1 << 30, *state);
    assert_close(t.busbw_bytes_per_s, 4 * 0.9 * 50 * GB, 0.01);
    assert_int_equal(t.evidence, GL_EVIDENCE_CATALOGUE);
    assert_true(t.tier_s[1] == t.time_s);
    assert_non_null(strstr(t.formula, "the described ib takes"));
    cluster.nics_per_node = 8; /* which can have been it */
    gl_network_create(&cluster, *state, &warnings);
    assert_null(warnings[0]);
}

/* One NIC of a group carries what one NIC can, whatever a larger or a related group got. */
static void what_was_measured_elsewhere_passes_the_nics(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = two_tiers(NULL, &ib);
    const gl_placement pair = {16, 2, 8, 1}, four = {8, 4, 2, 4};
    /* Two nodes exchange their sums as a tree: 375 GB/s of bus bandwidth pass eight NICs. */
    gl_curve curve = measured(*state, 3, GL_ALL_REDUCE, pair, 1e-6, 600 * GB, GL_TRANSPORT_NET_IB);
    cluster.inter.curves = &curve;
    cluster.inter.curve_count = 1;
    assert_close(time_of(&cluster, GL_ALL_REDUCE, pair, 1 << 30, *state).busbw_bytes_per_s,
                 600 * GB, 0.02);
    cluster.nics_per_node = 4;
    curve = measured(*state, 3, GL_ALL_REDUCE, pair, 1e-6, 300 * GB, GL_TRANSPORT_NET_IB);
    gl_network_time t = time_of(&cluster, GL_REDUCE_SCATTER, four, 1 << 30, *state);
    assert_true(t.busbw_bytes_per_s <= 50 * GB * 1.0001);
}

/* An all-reduce may be added up by switches; a gather over the same nodes is as fast as the link.
 */
static void a_related_curve_is_no_faster_than_the_inside(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.7, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = measured_over_nodes(&nv, &ib, GL_ALL_REDUCE, *state);
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, all_of_four_nodes, 1 << 30, *state);
    assert_close(t.busbw_bytes_per_s, 0.7 * 450 * GB, 0.01);
    /* Through several domains of a node it is the link between them, the only one that is named. */
    gl_link pcie = link_of("pcie", GL_TRANSPORT_PCIE_P2P, 63 * GB, 0.8, 0, 0);
    cluster.intra.link = NULL;
    cluster.outside = &pcie;
    cluster.domain_gpus = 2;
    const char *const *warnings;
    gl_network *network = gl_network_create(&cluster, *state, &warnings);
    gl_network_query query = {.collective = GL_ALL_GATHER,
                              .placement = all_of_four_nodes,
                              .size_bytes = 1 << 30,
                              .domains = 4};
    gl_error err;
    assert_true(gl_network_eval(network, &query, *state, &t, &err));
    assert_close(t.busbw_bytes_per_s, 0.8 * 63 * GB, 0.01);
    assert_int_equal(t.transport, GL_TRANSPORT_PCIE_P2P);
    assert_non_null(strstr(t.formula, "inside a node pcie takes"));
}

/* ---- evidence of two kinds ---- */

static void measured_tiers_are_put_together(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 1e-5, 5e-6);
    gl_curve inside = measured(*state, 1, GL_ALL_GATHER, (gl_placement){8, 1, 8, 1}, 2e-5, 300 * GB,
                               GL_TRANSPORT_NVLINK);
    gl_curve across = measured(*state, 2, GL_ALL_GATHER, (gl_placement){2, 2, 1, 1}, 3e-5, 40 * GB,
                               GL_TRANSPORT_NET_IB);
    gl_cluster cluster = two_tiers(NULL, &ib);
    cluster.intra.curves = &inside;
    cluster.intra.curve_count = 1;
    cluster.intra.calibration = "lab";
    gl_placement two = {16, 2, 8, 1};
    double size = 1 << 30, wire = size * 15 / 16;
    /* Inside as measured, between from the catalogue. */
    gl_network_time t = time_of(&cluster, GL_ALL_GATHER, two, size, *state);
    assert_int_equal(t.evidence, GL_EVIDENCE_CATALOGUE);
    assert_string_equal(t.source, "curve 1 of lab + data/links/ib");
    assert_close(t.time_s, wire / (300 * GB), 0.05);
    /* One rank a node measured 40 GB/s over one NIC: eight ranks have eight. */
    cluster.inter = (gl_tier){.curves = &across, .curve_count = 1, .calibration = "nodes"};
    t = time_of(&cluster, GL_ALL_GATHER, two, size, *state);
    assert_int_equal(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    assert_string_equal(t.source, "curve 1 of lab + curve 2 of nodes");
    assert_close(t.tier_s[1], wire / (320 * GB), 0.05);
    /* Half of the NICs: the network decides. */
    cluster.nics_per_node = 4;
    t = time_of(&cluster, GL_ALL_GATHER, two, size, *state);
    assert_close(t.time_s, wire / (160 * GB), 0.05);
    assert_int_equal(t.transport, GL_TRANSPORT_NET_IB);
}

static void several_pairs_share_a_nic(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 0);
    gl_cluster cluster = two_tiers(&nv, &ib);
    double one = time_of(&cluster, GL_SENDRECV, (gl_placement){2, 2, 1, 1}, 1e9, *state).time_s;
    assert_close(one, 1e9 / (45 * GB), 1e-9);
    double eight = time_of(&cluster, GL_SENDRECV, (gl_placement){2, 2, 1, 8}, 1e9, *state).time_s;
    assert_close(eight, one, 1e-9); /* a NIC each */
    cluster.nics_per_node = 2;
    eight = time_of(&cluster, GL_SENDRECV, (gl_placement){2, 2, 1, 8}, 1e9, *state).time_s;
    assert_close(eight, 4 * one, 1e-9);
    assert_close(time_of(&cluster, GL_SENDRECV, (gl_placement){2, 1, 2, 1}, 1e9, *state).time_s,
                 1e9 / (360 * GB), 1e-9);
}

static void network_switches_that_reduce_are_a_choice(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 1e-6);
    gl_cluster cluster = two_tiers(NULL, &ib);
    gl_placement nodes = {16, 16, 1, 8};
    gl_network_time plain = time_of(&cluster, GL_ALL_REDUCE, nodes, 1e9, *state);
    cluster.in_network_reduction = true;
    gl_network_time reduced = time_of(&cluster, GL_ALL_REDUCE, nodes, 1e9, *state);
    assert_string_equal(reduced.algorithm, "in-network");
    assert_true(reduced.time_s < plain.time_s);
    assert_non_null(strstr(reduced.formula, "slower: ring"));
    /* Gathers have nothing to add up. */
    assert_string_equal(time_of(&cluster, GL_ALL_GATHER, nodes, 1e9, *state).algorithm, "ring");
}

static void rails_forward_what_belongs_to_others(void **state)
{
    gl_link pcie = link_of("pcie", GL_TRANSPORT_PCIE_P2P, 20 * GB, 1, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 1, 0, 0);
    gl_cluster cluster = two_tiers(&pcie, &ib);
    gl_placement p = {16, 2, 8, 1};
    double tree = time_of(&cluster, GL_ALLTOALL, p, 1e9, *state).tier_s[0];
    assert_close(tree, 1e9 * 7 / 16 / (20 * GB), 1e-9);
    cluster.fabric = GL_FABRIC_RAIL_ONLY;
    double rails = time_of(&cluster, GL_ALLTOALL, p, 1e9, *state).tier_s[0];
    assert_close(rails, 1e9 * (7 + 8 * 7.0 / 8) / 16 / (20 * GB), 1e-9);
}

static void a_radix_tells_the_levels_of_switches(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 1e-6);
    ib.level_latency_s = figure(1e-6);
    gl_cluster cluster = two_tiers(NULL, &ib);
    cluster.fabric = GL_FABRIC_RAIL_OPTIMISED;
    cluster.nics_per_node = 1;
    cluster.radix = 8;
    assert_int_equal(gl_rules_switch_levels(&cluster, 4), 1);
    assert_int_equal(gl_rules_switch_levels(&cluster, 32), 2);
    assert_int_equal(gl_rules_switch_levels(&cluster, 33), 3);
    /* Three steps of a ring over four nodes, and 31 over 32 that climb one level. */
    assert_close(time_of(&cluster, GL_ALL_GATHER, (gl_placement){4, 4, 1, 1}, 1, *state).time_s,
                 3e-6, 1e-3);
    assert_close(time_of(&cluster, GL_ALL_GATHER, (gl_placement){32, 32, 1, 1}, 1, *state).time_s,
                 62e-6, 1e-3);
    /* Rails alone have no uplinks. */
    cluster.fabric = GL_FABRIC_RAIL_ONLY;
    assert_int_equal(gl_rules_switch_levels(&cluster, 8), 1);
    /* An all-to-all crosses a leaf only for the nodes of others. */
    cluster.fabric = GL_FABRIC_RAIL_OPTIMISED;
    cluster.oversubscription = 3; /* six nodes a leaf */
    double eight = time_of(&cluster, GL_ALLTOALL, (gl_placement){8, 8, 1, 1}, 1e12, *state).time_s;
    assert_close(eight, 1e12 * 7 / 8 / (45 * GB), 1e-3); /* 3 · 2/7 of it: no bottleneck */
}

static void groups_over_sites_pay_the_line(void **state)
{
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 50 * GB, 0.9, 0, 1e-6);
    gl_cluster cluster = two_tiers(NULL, &ib);
    cluster.sites = (gl_sites){.count = 2, .bw_bytes_per_s = 1.25 * GB, .latency_s = 20e-3};
    gl_network *network = network_of(&cluster, *state);
    gl_network_query query = {
        .collective = GL_ALL_REDUCE, .placement = {16, 16, 1, 8}, .size_bytes = 1e9};
    gl_network_time here, line;
    assert_true(gl_network_eval(network, &query, *state, &here, NULL));
    query.over_sites = (gl_placement){16, 2, 8, 8};
    assert_true(gl_network_eval(network, &query, *state, &line, NULL));
    /* The line's eighth, and seven delays: six of the opening, one more crossing back. */
    assert_close(line.time_s, 1e9 * 15 / 8 / (1.25 * GB / 8) + 7 * 20e-3, 1e-9);
    assert_true(line.time_s > 100 * here.time_s);
    assert_non_null(strstr(line.formula, "over the line between 2 sites"));
    /* Nothing moves: the delays are left. */
    query.size_bytes = 0;
    assert_true(gl_network_eval(network, &query, *state, &line, NULL));
    assert_close(line.time_s, 7 * 20e-3, 0.01);
    /* A line without delay is no division by zero. */
    cluster.sites.latency_s = 0;
    assert_true(gl_network_eval(network_of(&cluster, *state), &query, *state, &here, NULL));
    assert_non_null(strstr(here.formula, "and 7 delays of 0 s"));
}

/* A schedule takes the longer of the tiers: that must be all of the time, also where they work one
 * after the other. */
static void the_slower_tier_has_the_whole_time(void **state)
{
    gl_link slow = link_of("slow", GL_TRANSPORT_SHM, 2 * GB, 1, 0, 0);
    gl_link ib = link_of("ib", GL_TRANSPORT_NET_IB, 10 * GB, 1, 0, 0);
    gl_cluster cluster = two_tiers(&slow, &ib);
    gl_network_time t = time_of(&cluster, GL_ALL_REDUCE, (gl_placement){32, 16, 2, 1}, 1e9, *state);
    assert_string_equal(t.algorithm, "hierarchical");
    /* S inside, then 2S·15/16 over two NICs. */
    assert_close(t.time_s, 1e9 / (2 * GB) + 1.875e9 / (20 * GB), 1e-9);
    assert_close(t.tier_s[0], t.time_s, 1e-12);
    assert_close(t.tier_s[1], 1.875e9 / (20 * GB), 1e-9);
    assert_non_null(strstr(t.formula, "over slow: 500 ms"));
}

static void figures_alone_need_no_text(void **state)
{
    gl_link nv = link_of("nv", GL_TRANSPORT_NVLINK, 450 * GB, 0.8, 1e-5, 1e-6);
    gl_cluster cluster = two_tiers(&nv, NULL);
    gl_network *network = network_of(&cluster, *state);
    gl_network_query query = {.collective = GL_ALL_REDUCE,
                              .placement = {8, 1, 8, 1},
                              .size_bytes = 1e6,
                              .figures_only = true};
    gl_network_time t, full;
    assert_true(gl_network_eval(network, &query, NULL, &t, NULL));
    assert_string_equal(t.formula, "");
    query.figures_only = false;
    assert_true(gl_network_eval(network, &query, *state, &full, NULL));
    assert_close(t.time_s, full.time_s, 0);
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
        TEST(one_rank_takes_no_time),
        TEST(a_ring_over_nodes_runs_at_the_slower_tier),
        TEST(a_small_group_of_a_mesh_has_its_own_wires_only),
        TEST(oversubscription_divides_what_crosses_a_leaf),
        TEST(thinned_spines_divide_what_crosses_a_core),
        TEST(a_curve_on_one_leaf_is_thinned_beyond_it),
        TEST(all_to_all_is_bound_by_what_leaves_the_node),
        TEST(small_all_reduce_over_many_ranks_takes_the_tree),
        TEST(a_switch_that_reduces_moves_less),
        TEST(a_measured_placement_wins_over_the_catalogue),
        TEST(other_rank_counts_are_marked_and_widened),
        TEST(too_far_is_refused_with_advice),
        TEST(far_larger_messages_are_refused),
        TEST(a_ring_over_nodes_names_its_slower_tier),
        TEST(a_missing_collective_comes_from_a_related_one),
        TEST(another_session_would_differ),
        TEST(a_related_curve_beats_one_of_other_ranks),
        TEST(the_variant_that_training_uses_is_taken),
        TEST(several_rank_counts_tell_of_another),
        TEST(a_bandwidth_that_falls_goes_on_falling),
        TEST(a_family_carries_farther_than_one_curve),
        TEST(what_was_measured_over_nodes_stands),
        TEST(a_curve_over_another_link_does_not_hide_this_one),
        TEST(a_curve_over_other_nics_does_not_hide_these),
        TEST(a_curve_inside_over_another_link_does_not_hide_this_one),
        TEST(what_was_measured_elsewhere_passes_the_nics),
        TEST(a_related_curve_is_no_faster_than_the_inside),
        TEST(measured_tiers_are_put_together),
        TEST(several_pairs_share_a_nic),
        TEST(network_switches_that_reduce_are_a_choice),
        TEST(rails_forward_what_belongs_to_others),
        TEST(a_radix_tells_the_levels_of_switches),
        TEST(the_slower_tier_has_the_whole_time),
        TEST(groups_over_sites_pay_the_line),
        TEST(figures_alone_need_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
