/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support.h"

#include "calibrate/measure/placements.h"

static gl_arena *arena;
static gl_grouping *groupings;
static size_t count;
static gl_error err;

static int set_up(void **state)
{
    (void)state;
    arena = gl_arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gl_arena_destroy(arena);
    return 0;
}

/* Every grouping must be what its placement says. */
static void check_groupings(const int *node_of_rank, int ranks)
{
    for (size_t i = 0; i < count; i++) {
        const gl_grouping *g = &groupings[i];
        for (int group = 0; group < g->groups; group++) {
            int members = 0, on_node[64] = {0}, nodes = 0, fullest = 0;
            for (int r = 0; r < ranks; r++) {
                assert_in_range(g->group_of_rank[r] + 1, 0, g->groups);
                if (g->group_of_rank[r] != group)
                    continue;
                members++;
                nodes += on_node[node_of_rank[r]]++ == 0;
            }
            for (int n = 0; n < 64; n++)
                fullest = on_node[n] > fullest ? on_node[n] : fullest;
            assert_int_equal(members, g->placement.ranks);
            assert_int_equal(nodes, g->placement.nodes);
            assert_int_equal(fullest, g->placement.ranks_per_node);
        }
        if (i > 0)
            assert_true(groupings[i - 1].placement.ranks <= g->placement.ranks);
    }
}

static bool plan(const int *ranks_on, int nodes, const int *wanted, int wanted_count,
                 bool concurrent)
{
    static int node_of_rank[1024];
    int ranks = 0;
    for (int n = 0; n < nodes; n++)
        for (int k = 0; k < ranks_on[n]; k++)
            node_of_rank[ranks++] = n;
    const gl_placements_options options = {ranks, node_of_rank, wanted, wanted_count, concurrent};
    bool ok = gl_placements_plan(&options, arena, &groupings, &count, &err);
    if (ok)
        check_groupings(node_of_rank, ranks);
    return ok;
}

/* "2x1/2" = 2 ranks on 1 node, 2 on the fullest; "*3" = three groups at once. */
static void assert_plan(const char *expected)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        const gl_placement *p = &groupings[i].placement;
        text = gl_arena_printf(arena, "%s%s%dx%d/%d", text, i > 0 ? " " : "", p->ranks, p->nodes,
                               p->ranks_per_node);
        if (p->concurrent_groups > 1)
            text = gl_arena_printf(arena, "%s*%d", text, p->concurrent_groups);
    }
    assert_string_equal(text, expected);
}

static void test_one_node(void **state)
{
    (void)state;
    assert_true(plan((int[]){2}, 1, NULL, 0, false));
    assert_plan("2x1/2");
    assert_true(plan((int[]){8}, 1, NULL, 0, false));
    assert_plan("2x1/2 4x1/4 8x1/8");
    assert_true(plan((int[]){7}, 1, NULL, 0, false));
    assert_plan("2x1/2 4x1/4 7x1/7");
    assert_true(plan((int[]){3}, 1, NULL, 0, false));
    assert_plan("2x1/2 3x1/3");
}

static void test_several_nodes(void **state)
{
    (void)state;
    assert_true(plan((int[]){8, 8}, 2, NULL, 0, false));
    assert_plan("2x1/2 2x2/1 4x1/4 8x1/8 16x2/8");
    assert_true(plan((int[]){1, 1, 1, 1}, 4, NULL, 0, false));
    assert_plan("2x2/1 4x4/1");
    assert_true(plan((int[]){4, 4, 4, 4, 4}, 5, NULL, 0, false));
    assert_plan("2x1/2 2x2/1 4x1/4 4x4/1 5x5/1 8x2/4 16x4/4 20x5/4");
    assert_true(plan((int[]){2, 3}, 2, NULL, 0, false));
    assert_plan("2x1/2 2x2/1 3x1/3 5x2/3");
}

static void test_concurrent(void **state)
{
    (void)state;
    assert_true(plan((int[]){8}, 1, NULL, 0, true));
    assert_plan("2x1/2 2x1/2*4 4x1/4 4x1/4*2 8x1/8");
    assert_true(plan((int[]){4, 4}, 2, NULL, 0, true));
    assert_plan("2x1/2 2x2/1 2x1/2*2 2x2/1*4 4x1/4 8x2/4");
    assert_int_equal(groupings[2].groups, 4);
    assert_int_equal(groupings[3].groups, 4);
}

static void test_wanted(void **state)
{
    (void)state;
    assert_true(plan((int[]){8, 8}, 2, (int[]){6, 2, 16, 2}, 4, false));
    assert_plan("2x1/2 2x2/1 6x1/6 16x2/8");
    assert_false(plan((int[]){4}, 1, (int[]){2, 8}, 2, false));
    assert_int_equal(err.status, GL_ERROR_USAGE);
    assert_non_null(strstr(err.message, "8 ranks cannot be measured: there are 4 on 1 node"));
    assert_false(plan((int[]){4, 4}, 2, (int[]){6}, 1, false));
    assert_false(plan((int[]){4, 4}, 2, (int[]){1}, 1, false));
}

/* Nodes of many sizes: nothing may come out that is not what it says (see check_groupings). */
static void test_any_shape(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        int ranks_on[12], nodes = 1 + trial % 12, total = 0;
        for (int n = 0; n < nodes; n++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            ranks_on[n] = 1 + (int)(seed >> 60);
            total += ranks_on[n];
        }
        if (total < 2)
            continue;
        assert_true(plan(ranks_on, nodes, NULL, 0, trial % 2 == 0));
        assert_int_equal(groupings[count - 1].placement.ranks, total);
    }
}

/* One placement, as many groups of it as the machine holds. */
static void test_exact(void **state)
{
    static const struct {
        int ranks_on[4];
        gl_placement placement;
        int groups; /* 0: does not fit */
    } cases[] = {
        {{4, 4, 4, 4}, {4, 1, 4, 1}, 4},  /* in every node */
        {{4, 4, 4, 4}, {2, 1, 2, 2}, 8},  /* two at once in every node */
        {{4, 4, 4, 4}, {2, 2, 1, 4}, 8},  /* pairs of nodes, four groups on each */
        {{4, 4, 4, 4}, {4, 2, 2, 2}, 4},  /* two ranks on each of two nodes, twice */
        {{4, 4, 4, 4}, {6, 2, 4, 1}, 2},  /* the second node is not full */
        {{4, 4, 4, 4}, {16, 4, 4, 1}, 1}, /* all */
        {{4, 2, 4, 4}, {8, 2, 4, 1}, 1},  /* a node that is too small is left out */
        {{4, 4, 4, 4}, {2, 1, 2, 3}, 0},  {{4, 4, 4, 4}, {5, 5, 1, 1}, 0},
        {{4, 4, 4, 4}, {8, 1, 8, 1}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int node_of_rank[16], ranks = 0;
        gl_grouping grouping;
        for (int n = 0; n < 4; n++)
            for (int k = 0; k < cases[i].ranks_on[n]; k++)
                node_of_rank[ranks++] = n;
        const gl_placements_options options = {.ranks = ranks, .node_of_rank = node_of_rank};
        bool fits = gl_placements_exact(&options, &cases[i].placement, arena, &grouping);
        assert_int_equal(fits, cases[i].groups > 0);
        if (!fits)
            continue;
        assert_int_equal(grouping.groups, cases[i].groups);
        groupings = &grouping;
        count = 1;
        check_groupings(node_of_rank, ranks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node),   cmocka_unit_test(test_several_nodes),
        cmocka_unit_test(test_concurrent), cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_any_shape),  cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
