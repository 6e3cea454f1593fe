/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes whose fast link joins fewer GPUs than they have (bridged pairs), and what a node's PCIe
 * allows. */
#include "input_support.h"

#include "planner/core/layout.h"
#include "planner/core/network.h"

typedef struct loaded {
    outcome o;
    gl_cluster cluster;
} loaded;

static loaded load(const char *name, const gl_setting *settings, size_t count)
{
    loaded l = {.o = {.arena = gl_arena_create()}};
    l.o.ok = gl_cluster_load(name, settings, count, l.o.arena, &l.cluster, &l.o.warnings,
                             &l.o.diagnostics);
    return l;
}

static gl_layout layout_in_pairs(int tp, int dp, int pp)
{
    gl_parallel p = gl_workload_defaults().parallel;
    p.tp = tp;
    p.dp = dp;
    p.pp = pp;
    gl_layout l = gl_layout_build(&p, 8);
    gl_layout_mark_domains(&l, &p, 2);
    return l;
}

static void test_groups_know_their_domains(void **state)
{
    (void)state;
    gl_layout l = layout_in_pairs(2, 4, 1); /* a pair each; replicas in four pairs of one node */
    assert_int_equal(l.domains[GL_GROUP_TP], 1);
    assert_int_equal(l.domains[GL_GROUP_DP], 4);
    l = layout_in_pairs(4, 4, 2);
    assert_int_equal(l.domains[GL_GROUP_TP], 2);
    l = layout_in_pairs(8, 4, 2); /* one rank of a DP group on each node */
    assert_int_equal(l.domains[GL_GROUP_TP], 4);
    assert_int_equal(l.domains[GL_GROUP_DP], 1);
    assert_int_equal(l.domains[GL_GROUP_PP], 1);
    l = layout_in_pairs(1, 2, 1);
    assert_int_equal(l.domains[GL_GROUP_DP], 1);
}

static gl_network_time time_of(const gl_cluster *cluster, gl_placement placement, int domains,
                               gl_arena *arena)
{
    const char *const *warnings;
    gl_error err;
    gl_network_time t;
    const gl_network *network = gl_network_create(cluster, arena, &warnings);
    const gl_network_query query = {
        .collective = GL_ALL_REDUCE, .placement = placement, .domains = domains, .size_bytes = 1e8};
    if (!gl_network_eval(network, &query, arena, &t, &err))
        fail_msg("%s", err.message);
    return t;
}

/* Within a pair the bridge, across pairs PCIe, between nodes the slower of all. */
static void test_pairs_use_the_bridge_and_others_do_not(void **state)
{
    (void)state;
    loaded pairs = load("pcie5-pairs-16", NULL, 0), flat = load("pcie5-switch-16", NULL, 0);
    const gl_placement pair = {2, 1, 2, 4}, across = {4, 1, 4, 2}, nodes = {16, 2, 8, 1};
    assert_true(pairs.o.ok && flat.o.ok);
    assert_int_equal(gl_cluster_domain(&pairs.cluster), 2);
    assert_int_equal(gl_cluster_domain(&flat.cluster), 8);
    gl_arena *a = pairs.o.arena;
    gl_network_time bridged = time_of(&pairs.cluster, pair, 1, a);
    assert_string_equal(bridged.source, "data/links/nvlink-bridge-h100");
    assert_true(bridged.time_s < time_of(&flat.cluster, pair, 1, a).time_s / 3);
    assert_close(time_of(&pairs.cluster, across, 2, a).time_s,
                 time_of(&flat.cluster, across, 1, a).time_s, 1e-12);
    /* Two ranks of different pairs, such as replicas with tp 2 inside the pairs. */
    assert_close(time_of(&pairs.cluster, pair, 2, a).time_s,
                 time_of(&flat.cluster, pair, 1, a).time_s, 1e-12);
    assert_close(time_of(&pairs.cluster, nodes, 4, a).time_s,
                 time_of(&flat.cluster, nodes, 1, a).time_s, 1e-12);
    outcome_free(&pairs.o);
    outcome_free(&flat.o);
}

static void refused(const char *cluster, const char *key, const char *value, const char *text)
{
    const gl_setting setting = {key, value, "--set"};
    char found[1400] = "";
    loaded l = load(cluster, &setting, 1);
    assert_false(l.o.ok);
    for (size_t i = 0; i < l.o.diagnostics.count; i++)
        if (strstr(gl_error_text(&l.o.diagnostics.items[i], found, sizeof found), text) != NULL)
            break;
    if (strstr(found, text) == NULL)
        fail_msg("no '%s': %s", text, found);
    outcome_free(&l.o);
}

static void test_impossible_nodes_are_refused(void **state)
{
    (void)state;
    refused("pcie5-direct-16", "cluster.inter_node.nics_per_node", "8",
            "8 GPUs and 8 NICs at the CPUs of a node need 256 PCIe lanes, the CPUs have 160: take "
            "PCIe switches");
    refused("pcie5-direct-16", "cluster.inter_node.attachment", "gpu-switch",
            "NICs hang off a CPU");
    refused("pcie5-switch-16", "cluster.pcie.switches", "12", "12 PCIe switches at the CPUs");
    refused("hgx-h100-16-ndr", "cluster.inter_node.reach.leaf", "3000 m",
            "ib-ndr reaches 2000 m, not 3000");
    refused("pcie5-pairs-16", "cluster.intra_node.domain", "4", "joins at most 2 GPUs, not 4");
    refused("pcie5-pairs-16", "cluster.gpus_per_node", "7", "do not divide a node of 7");
    refused("hgx-h100-16-ndr", "cluster.intra_node.domain", "4", "the link between them");
    refused("hgx-h100-16-ndr", "cluster.inter_node.attachment", "cpu", "depends on it");
    refused("pcie5-direct-16", "cluster.inter_node.slot", "nvlink4",
            "nvlink4 is no PCIe link, which a NIC is plugged into: take one of pcie3-x16, "
            "pcie4-x16, ");
    refused("pcie5-switch-16", "cluster.inter_node.slot", "ib-ndr", "no PCIe link");
}

/* Where nobody knows what passes CPUs, a NIC of 200 Gbit/s has what the slot carries. */
static void test_slots_limit_nics_behind_cpus(void **state)
{
    (void)state;
    static const char *const attachments[] = {"cpu", "cross-numa"};
    for (size_t i = 0; i < sizeof attachments / sizeof attachments[0]; i++) {
        const gl_setting settings[] = {{"cluster.inter_node.slot", "pcie3-x16", "--set"},
                                       {"cluster.inter_node.attachment", attachments[i], "--set"}};
        loaded slow = load("pcie5-direct-16", settings, 2);
        assert_close(slow.cluster.inter.link->bw_bytes_per_s.value,
                     slow.cluster.nic_slot->bw_bytes_per_s.value, 1e-12);
        assert_non_null(strstr(slow.o.warnings.items[0], "the slot carries no more"));
        outcome_free(&slow.o);
    }
}

/* A NIC of 400 Gbit/s in a slot of PCIe Gen4, or behind CPUs. */
static void test_slots_limit_nics(void **state)
{
    (void)state;
    const gl_setting faster = {"cluster.inter_node.link", "roce-400", "--set"};
    const gl_setting gen4 = {"cluster.inter_node.slot", "pcie4-x16", "--set"};
    loaded fast = load("pcie5-switch-16", NULL, 0), slow = load("pcie5-switch-16", &gen4, 1),
           far = load("pcie5-direct-16", &faster, 1);
    assert_close(fast.cluster.inter.link->bw_bytes_per_s.value, 50e9, 1e-12);
    assert_close(slow.cluster.inter.link->bw_bytes_per_s.value, 31.5e9, 1e-12);
    assert_int_equal(fast.o.warnings.count, 0);
    assert_non_null(strstr(slow.o.warnings.items[0], "the slot carries no more"));
    const gl_link *link = far.cluster.inter.link;
    assert_close(link->bw_bytes_per_s.value * link->efficiency.value,
                 far.cluster.nic_slot->bw_bytes_per_s.value *
                     far.cluster.nic_slot->via_cpu_efficiency.value,
                 1e-12);
    outcome_free(&fast.o);
    outcome_free(&slow.o);
    outcome_free(&far.o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_know_their_domains),
        cmocka_unit_test(test_pairs_use_the_bridge_and_others_do_not),
        cmocka_unit_test(test_impossible_nodes_are_refused),
        cmocka_unit_test(test_slots_limit_nics),
        cmocka_unit_test(test_slots_limit_nics_behind_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
