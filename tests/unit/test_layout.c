/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "planner/core/layout.h"

static gl_parallel degrees(int tp, int cp, int dp, int pp)
{
    gl_parallel p = gl_workload_defaults().parallel;
    p.tp = tp;
    p.cp = cp;
    p.dp = dp;
    p.pp = pp;
    return p;
}

static void expect(const gl_layout *layout, gl_group group, int ranks, int nodes, int per_node,
                   int concurrent)
{
    const gl_placement *p = &layout->groups[group];
    assert_int_equal(p->ranks, ranks);
    assert_int_equal(p->nodes, nodes);
    assert_int_equal(p->ranks_per_node, per_node);
    assert_int_equal(p->concurrent_groups, concurrent);
}

static void test_tensor_parallel_in_the_node(void **state)
{
    (void)state;
    gl_parallel p = degrees(8, 1, 16, 4);
    gl_layout l = gl_layout_build(&p, 8);
    expect(&l, GL_GROUP_TP, 8, 1, 8, 1);
    expect(&l, GL_GROUP_CP, 1, 1, 1, 8);
    expect(&l, GL_GROUP_DP, 16, 16, 1, 8);
    expect(&l, GL_GROUP_PP, 2, 2, 1, 8);
    expect(&l, GL_GROUP_EMBEDDING, 2, 2, 1, 8);
    expect(&l, GL_GROUP_WORLD, 512, 64, 8, 1);
}

static void test_small_groups_share_a_node(void **state)
{
    (void)state;
    gl_parallel p = degrees(2, 1, 16, 1);
    gl_layout l = gl_layout_build(&p, 8);
    expect(&l, GL_GROUP_TP, 2, 1, 2, 4);
    expect(&l, GL_GROUP_DP, 16, 4, 4, 2);
    expect(&l, GL_GROUP_PP, 1, 1, 1, 1);
}

static void test_one_node_and_one_rank(void **state)
{
    (void)state;
    gl_parallel p = degrees(1, 1, 2, 1);
    gl_layout l = gl_layout_build(&p, 8);
    expect(&l, GL_GROUP_DP, 2, 1, 2, 1);
    p = degrees(1, 1, 1, 1);
    l = gl_layout_build(&p, 1);
    for (int group = 0; group < GL_GROUP_COUNT; group++)
        expect(&l, (gl_group)group, 1, 1, 1, 1);
}

static void test_order_decides_who_is_near(void **state)
{
    (void)state;
    gl_parallel p = degrees(4, 1, 8, 2);
    const gl_axis dp_first[] = {GL_AXIS_DP, GL_AXIS_PP, GL_AXIS_TP, GL_AXIS_CP};
    memcpy(p.order, dp_first, sizeof dp_first);
    gl_layout l = gl_layout_build(&p, 8);
    expect(&l, GL_GROUP_DP, 8, 1, 8, 1);
    expect(&l, GL_GROUP_TP, 4, 4, 1, 8);
    expect(&l, GL_GROUP_PP, 2, 2, 1, 8);
}

static void test_experts_and_shards(void **state)
{
    (void)state;
    gl_parallel p = degrees(1, 2, 16, 1);
    p.ep = 16;
    p.shard = 8;
    gl_layout l = gl_layout_build(&p, 8);
    expect(&l, GL_GROUP_EP, 16, 2, 8, 1);
    expect(&l, GL_GROUP_EXPERT_DP, 2, 2, 1, 8);
    expect(&l, GL_GROUP_SHARD, 8, 1, 8, 1);
    expect(&l, GL_GROUP_REPLICATE, 4, 4, 1, 8);
}

static void test_nodes_that_do_not_divide(void **state)
{
    (void)state;
    gl_parallel p = degrees(4, 1, 3, 1);
    gl_layout l = gl_layout_build(&p, 6); /* ranks 4 … 7 lie on both nodes, two and two */
    expect(&l, GL_GROUP_TP, 4, 2, 2, 2);
    expect(&l, GL_GROUP_DP, 3, 2, 2, 4); /* ranks 0 … 5 are of all four groups */
    p = degrees(1, 1, 4, 4);
    const gl_axis order[] = {GL_AXIS_TP, GL_AXIS_PP, GL_AXIS_DP, GL_AXIS_CP};
    memcpy(p.order, order, sizeof order);
    l = gl_layout_build(&p, 6);
    expect(&l, GL_GROUP_DP, 4, 3, 2, 4);
}

static void test_pipeline_neighbours(void **state)
{
    (void)state;
    gl_parallel p = degrees(4, 1, 1, 3); /* all on one node */
    const gl_axis order[] = {GL_AXIS_TP, GL_AXIS_PP, GL_AXIS_DP, GL_AXIS_CP};
    memcpy(p.order, order, sizeof order);
    gl_layout l = gl_layout_build(&p, 12);
    expect(&l, GL_GROUP_PP, 2, 1, 2, 6);
    p.pp = 4;
    l = gl_layout_build(&p, 15); /* only the last is elsewhere, for one of four TP ranks */
    expect(&l, GL_GROUP_PP, 2, 2, 1, 12);
}

static void test_sites(void **state)
{
    (void)state;
    gl_parallel p = degrees(8, 1, 4, 4); /* stages of four nodes; two sites of eight */
    gl_layout l = gl_layout_over_sites(&p, 64);
    expect(&l, GL_GROUP_TP, 8, 1, 8, 8);
    expect(&l, GL_GROUP_DP, 4, 1, 4, 16);
    expect(&l, GL_GROUP_PP, 2, 2, 1, 32); /* one boundary between sites */
    const gl_axis order[] = {GL_AXIS_TP, GL_AXIS_PP, GL_AXIS_DP, GL_AXIS_CP};
    memcpy(p.order, order, sizeof order);
    l = gl_layout_over_sites(&p, 64);
    expect(&l, GL_GROUP_DP, 4, 2, 2, 32); /* every DP group spans both */
    expect(&l, GL_GROUP_PP, 2, 1, 2, 32);
}

static void expect_reach(const gl_layout *layout, gl_group group, gl_reach want)
{
    const gl_reach *reach = &layout->reach[group];
    assert_int_equal(reach->leaves, want.leaves);
    assert_int_equal(reach->nodes_on_leaf, want.nodes_on_leaf);
    assert_int_equal(reach->pods, want.pods);
    assert_int_equal(reach->nodes_in_pod, want.nodes_in_pod);
}

/* Sixteen nodes, two stages of eight; leaves of six nodes, pods of twelve. */
static void test_switches(void **state)
{
    (void)state;
    gl_parallel p = degrees(8, 1, 8, 2);
    gl_layout l = gl_layout_build(&p, 8);
    gl_layout_mark_switches(&l, &p, 8, 6, 12);
    expect_reach(&l, GL_GROUP_TP, (gl_reach){1, 1, 1, 1});
    /* The second stage is on nodes 8 to 15: 4, then 4 of them on a leaf; 4 in the first pod. */
    expect_reach(&l, GL_GROUP_DP, (gl_reach){2, 4, 2, 4});
    /* Node 0 sends to node 8, node 4 to node 12. */
    expect_reach(&l, GL_GROUP_PP, (gl_reach){2, 1, 2, 1});
    gl_layout_mark_switches(&l, &p, 8, 16, 16);
    expect_reach(&l, GL_GROUP_PP, (gl_reach){1, 2, 1, 2});
    expect_reach(&l, GL_GROUP_WORLD, (gl_reach){1, 16, 1, 16});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor_parallel_in_the_node),
        cmocka_unit_test(test_small_groups_share_a_node),
        cmocka_unit_test(test_one_node_and_one_rank),
        cmocka_unit_test(test_order_decides_who_is_near),
        cmocka_unit_test(test_experts_and_shards),
        cmocka_unit_test(test_nodes_that_do_not_divide),
        cmocka_unit_test(test_pipeline_neighbours),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
