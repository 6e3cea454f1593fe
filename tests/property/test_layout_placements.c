/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placements against brute force: every group listed rank by rank, every node counted. */
#include "tests/property/random.h"
#include "tests/support.h"

#include "planner/core/layout.h"

enum { RANKS_MAX = 256, RUNS = 1500 };

typedef struct coordinates {
    int at[GL_ORDER_MAX]; /* by axis */
    int replica;          /* number inside dp·cp */
} coordinates;

static coordinates locate(const gl_parallel *p, int rank)
{
    const int size[] = {
        [GL_AXIS_TP] = p->tp, [GL_AXIS_CP] = p->cp, [GL_AXIS_DP] = p->dp, [GL_AXIS_PP] = p->pp};
    coordinates c = {0};
    int weight = 1;
    for (int i = 0; i < GL_ORDER_MAX; i++) {
        gl_axis axis = p->order[i];
        c.at[axis] = rank % size[axis];
        rank /= size[axis];
        if (axis == GL_AXIS_CP || axis == GL_AXIS_DP) {
            c.replica += c.at[axis] * weight;
            weight *= size[axis];
        }
    }
    return c;
}

/* Are two ranks in the same group of this kind? */
static bool together(const gl_parallel *p, gl_group group, int a, int b)
{
    coordinates x = locate(p, a), y = locate(p, b);
    bool tp = x.at[GL_AXIS_TP] == y.at[GL_AXIS_TP], pp = x.at[GL_AXIS_PP] == y.at[GL_AXIS_PP];
    bool cp = x.at[GL_AXIS_CP] == y.at[GL_AXIS_CP], dp = x.at[GL_AXIS_DP] == y.at[GL_AXIS_DP];
    int shard = p->shard > 0 ? p->shard : p->dp * p->cp;
    switch (group) {
    case GL_GROUP_TP:
        return cp && dp && pp;
    case GL_GROUP_CP:
        return tp && dp && pp;
    case GL_GROUP_DP:
        return tp && pp;
    case GL_GROUP_EP:
        return tp && pp && x.replica / p->ep == y.replica / p->ep;
    case GL_GROUP_EXPERT_DP:
        return tp && pp && x.replica % p->ep == y.replica % p->ep;
    case GL_GROUP_SHARD:
        return tp && pp && x.replica / shard == y.replica / shard;
    case GL_GROUP_REPLICATE:
        return tp && pp && x.replica % shard == y.replica % shard;
    case GL_GROUP_WORLD:
        return true;
    default:
        return false;
    }
}

/* Placement of the group of `rank`; 0 ranks when `rank` is not its first member. */
static gl_placement brute_group(const gl_parallel *p, gl_group group, int rank, int gpus)
{
    gl_placement placement = {0};
    int ranks = (int)(p->tp * p->cp * p->dp * p->pp), on_node[RANKS_MAX] = {0};
    for (int other = 0; other < ranks; other++) {
        if (!together(p, group, rank, other))
            continue;
        if (other < rank)
            return (gl_placement){0};
        placement.ranks++;
        int n = ++on_node[other / gpus];
        placement.nodes += n == 1;
        if (n > placement.ranks_per_node)
            placement.ranks_per_node = n;
    }
    return placement;
}

/* Most groups of which one node has ranks. */
static int brute_concurrent(const gl_parallel *p, gl_group group, int gpus)
{
    int ranks = p->tp * p->cp * p->dp * p->pp, most = 0;
    for (int node = 0; node * gpus < ranks; node++) {
        int touching = 0;
        for (int rank = node * gpus; rank < (node + 1) * gpus && rank < ranks; rank++) {
            bool first = true;
            for (int other = node * gpus; other < rank; other++)
                first = first && !together(p, group, rank, other);
            touching += first;
        }
        most = touching > most ? touching : most;
    }
    return most;
}

static void check_group(const gl_parallel *p, gl_group group, int gpus, const gl_placement *got)
{
    gl_placement worst = {0};
    for (int rank = 0; rank < p->tp * p->cp * p->dp * p->pp; rank++) {
        gl_placement placement = brute_group(p, group, rank, gpus);
        if (placement.nodes > worst.nodes ||
            (placement.nodes == worst.nodes && placement.ranks_per_node < worst.ranks_per_node))
            worst = placement;
    }
    assert_int_equal(got->ranks, worst.ranks);
    assert_int_equal(got->nodes, worst.nodes);
    assert_int_equal(got->ranks_per_node, worst.ranks_per_node);
    assert_int_equal(got->concurrent_groups, brute_concurrent(p, group, gpus));
}

/* Neighbouring stages: do any two cross a node boundary? */
static int neighbour_nodes(const gl_parallel *p, int gpus, int distance)
{
    int ranks = p->tp * p->cp * p->dp * p->pp;
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < ranks; b++) {
            coordinates x = locate(p, a), y = locate(p, b);
            if (x.at[GL_AXIS_TP] == y.at[GL_AXIS_TP] && x.replica == y.replica &&
                y.at[GL_AXIS_PP] - x.at[GL_AXIS_PP] == distance && a / gpus != b / gpus)
                return 2;
        }
    return 1;
}

static void shuffle(gl_axis *order, uint64_t *state)
{
    for (int i = GL_ORDER_MAX - 1; i > 0; i--) {
        int j = random_between(state, 0, i);
        gl_axis swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static int random_divisor(uint64_t *state, int of)
{
    int d;
    do
        d = random_between(state, 1, of);
    while (of % d != 0);
    return d;
}

static gl_parallel random_parallel(uint64_t *state)
{
    gl_parallel p = gl_workload_defaults().parallel;
    do {
        p.tp = random_between(state, 1, 8);
        p.cp = random_between(state, 1, 4);
        p.dp = random_between(state, 1, 8);
        p.pp = random_between(state, 1, 5);
    } while (p.tp * p.cp * p.dp * p.pp > RANKS_MAX);
    p.ep = random_divisor(state, p.dp * p.cp);
    p.shard = random_between(state, 0, 1) ? random_divisor(state, p.dp * p.cp) : 0;
    shuffle(p.order, state);
    return p;
}

static void test_against_brute_force(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    static const gl_group groups[] = {GL_GROUP_TP,    GL_GROUP_CP,        GL_GROUP_DP,
                                      GL_GROUP_EP,    GL_GROUP_EXPERT_DP, GL_GROUP_SHARD,
                                      GL_GROUP_WORLD, GL_GROUP_REPLICATE};
    for (int run = 0; run < RUNS; run++) {
        gl_parallel p = random_parallel(&state);
        int gpus = random_between(&state, 1, 20);
        gl_layout layout = gl_layout_build(&p, gpus);
        int ranks = p.tp * p.cp * p.dp * p.pp;
        for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
            if (ranks > gpus || groups[i] == GL_GROUP_DP)
                check_group(&p, groups[i], gpus, &layout.groups[groups[i]]);
        if (p.pp > 1 && run % 10 == 0) {
            assert_int_equal(layout.groups[GL_GROUP_PP].nodes, neighbour_nodes(&p, gpus, 1));
            assert_int_equal(layout.groups[GL_GROUP_EMBEDDING].nodes,
                             neighbour_nodes(&p, gpus, p.pp - 1));
        }
    }
}

/* Axes of degree 1 do not matter: moving them about in the order changes nothing. */
static void test_trivial_axes_may_move(void **unused)
{
    (void)unused;
    uint64_t state = random_seed();
    for (int run = 0; run < RUNS; run++) {
        gl_parallel p = random_parallel(&state), q;
        p.cp = 1;
        p.ep = random_divisor(&state, p.dp);
        p.shard = 0;
        q = p;
        int to = random_between(&state, 0, GL_ORDER_MAX - 1), n = 0;
        for (int i = 0; i < GL_ORDER_MAX; i++) {
            if (n == to)
                q.order[n++] = GL_AXIS_CP;
            if (p.order[i] != GL_AXIS_CP)
                q.order[n++] = p.order[i];
        }
        if (n < GL_ORDER_MAX)
            q.order[n] = GL_AXIS_CP;
        int gpus = random_between(&state, 1, 20);
        gl_layout a = gl_layout_build(&p, gpus), b = gl_layout_build(&q, gpus);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_trivial_axes_may_move),
    };
    return cmocka_run_group_tests_name("layout placements", tests, NULL, NULL);
}
