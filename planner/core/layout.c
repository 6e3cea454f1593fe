/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/layout.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* The mixed radix of rank numbers. */
typedef struct grid {
    int64_t size[GL_ORDER_MAX], stride[GL_ORDER_MAX]; /* by gl_axis */
    int64_t ranks;
    gl_axis fast, slow; /* CP and DP, the one with nearer neighbours first */
    int64_t replicas;   /* dp·cp */
} grid;

/*
 * All groups of one kind. Group i lies at base(i); its members are at increasing ranks.
 *  - an axis: `step` ranks apart along one axis, for every place on the other axes;
 *  - inside dp·cp: numbers start, start + step, … of the replicas, for every place on tp and pp.
 */
typedef struct family {
    const grid *grid;
    bool inside_replicas;
    gl_axis axis;    /* of an axis family */
    int64_t members; /* of one group */
    int64_t step;    /* between members, in places along the axis or in replica numbers */
    int64_t starts;  /* groups per place on the other axes */
    int64_t spacing; /* between the starts */
    int64_t groups;
    bool uniform; /* the groups are shifted copies of each other */
} family;

static grid make_grid(const gl_parallel *parallel)
{
    grid g = {.size = {[GL_AXIS_TP] = parallel->tp,
                       [GL_AXIS_CP] = parallel->cp,
                       [GL_AXIS_DP] = parallel->dp,
                       [GL_AXIS_PP] = parallel->pp},
              .ranks = 1,
              .replicas = (int64_t)parallel->dp * parallel->cp};
    bool fast_known = false;
    for (int i = 0; i < GL_ORDER_MAX; i++) {
        gl_axis axis = parallel->order[i];
        g.stride[axis] = g.ranks;
        g.ranks *= g.size[axis];
        if (!fast_known && (axis == GL_AXIS_CP || axis == GL_AXIS_DP)) {
            g.fast = axis;
            g.slow = axis == GL_AXIS_CP ? GL_AXIS_DP : GL_AXIS_CP;
            fast_known = true;
        }
    }
    return g;
}

static family along(const grid *g, gl_axis axis, int64_t members, int64_t step, int64_t starts)
{
    return (family){.grid = g,
                    .axis = axis,
                    .members = members,
                    .step = step,
                    .starts = starts,
                    .spacing = 1,
                    .groups = starts * (g->ranks / g->size[axis]),
                    .uniform = true};
}

/* Blocks of `block` replicas: `members` of them `step` apart, with starts `spacing` apart. Blocks
 * that straddle a row of the faster axis differ in shape. */
static family inside(const grid *g, int64_t block, int64_t members, int64_t step, int64_t spacing)
{
    int64_t starts = g->replicas / members, row = g->size[g->fast];
    return (family){.grid = g,
                    .inside_replicas = true,
                    .members = members,
                    .step = step,
                    .starts = starts,
                    .spacing = spacing,
                    .groups = starts * (g->ranks / g->replicas),
                    .uniform = row % block == 0 || block % row == 0};
}

/* Rank of place `place` on all axes but `axis`, where it is 0. */
static int64_t axis_base(const grid *g, gl_axis axis, int64_t place)
{
    int64_t stride = g->stride[axis];
    return place / stride * stride * g->size[axis] + place % stride;
}

static int64_t group_base(const family *f, int64_t group)
{
    const grid *g = f->grid;
    int64_t place = group / f->starts;
    if (!f->inside_replicas)
        return axis_base(g, f->axis, place);
    return place % g->size[GL_AXIS_TP] * g->stride[GL_AXIS_TP] +
           place / g->size[GL_AXIS_TP] * g->stride[GL_AXIS_PP];
}

static int64_t member_offset(const family *f, int64_t group, int64_t member)
{
    const grid *g = f->grid;
    int64_t i = group % f->starts * f->spacing + member * f->step;
    if (!f->inside_replicas)
        return i * g->stride[f->axis];
    return i % g->size[g->fast] * g->stride[g->fast] + i / g->size[g->fast] * g->stride[g->slow];
}

/* Nodes that one group touches and its ranks on the fullest. Ranks rise with the member number, so
 * the members on one node follow one another. */
static gl_placement place_group(const family *f, int64_t group, int64_t gpus_per_node)
{
    gl_placement placement = {.ranks = (int)f->members};
    int64_t base = group_base(f, group), node = -1;
    int on_node = 0;
    for (int64_t m = 0; m < f->members; m++) {
        int64_t here = (base + member_offset(f, group, m)) / gpus_per_node;
        if (here != node) {
            node = here;
            placement.nodes++;
            on_node = 0;
        }
        if (++on_node > placement.ranks_per_node)
            placement.ranks_per_node = on_node;
    }
    return placement;
}

static bool is_worse(const gl_placement *a, const gl_placement *b)
{
    if (a->nodes != b->nodes)
        return a->nodes > b->nodes;
    return a->ranks_per_node < b->ranks_per_node;
}

enum { SEEN_MAX = 1024 };

/* Has a group whose first rank is at this place of a node been looked at? Shifted copies that start
 * at the same place of a node are placed alike, so only one of them need be. */
static bool seen_before(uint64_t *seen, int64_t place)
{
    uint64_t bit = (uint64_t)1 << (place % 64);
    bool before = (seen[place / 64] & bit) != 0;
    seen[place / 64] |= bit;
    return before;
}

/* `even`: every group has as many ranks on each of its nodes as the worst one has on its fullest.
 */
static gl_placement worst_group(const family *f, int64_t gpus_per_node, bool *even)
{
    uint64_t seen[SEEN_MAX / 64] = {0};
    bool skip = f->uniform && gpus_per_node <= SEEN_MAX;
    int64_t unseen = gpus_per_node;
    int least = INT_MAX, most = 0;
    gl_placement worst = {0};
    *even = true;
    for (int64_t group = 0; group < f->groups && (unseen > 0 || !skip); group++) {
        int64_t first = group_base(f, group) + member_offset(f, group, 0);
        if (skip && seen_before(seen, first % gpus_per_node))
            continue;
        unseen--;
        gl_placement placement = place_group(f, group, gpus_per_node);
        int on_node = placement.ranks_per_node;
        *even = *even && (int64_t)on_node * placement.nodes == f->members;
        least = on_node < least ? on_node : least;
        most = on_node > most ? on_node : most;
        if (worst.nodes == 0 || is_worse(&placement, &worst))
            worst = placement;
    }
    *even = *even && least == most;
    return worst;
}

/* The member before this rank in its group, of a family that has every rank in one group; -1: the
 * rank is the first. */
static int64_t member_before(const family *f, int64_t rank)
{
    const grid *g = f->grid;
    if (!f->inside_replicas) {
        int64_t stride = g->stride[f->axis];
        return rank / stride % g->size[f->axis] > 0 ? rank - stride : -1;
    }
    int64_t fast = rank / g->stride[g->fast] % g->size[g->fast];
    int64_t slow = rank / g->stride[g->slow] % g->size[g->slow];
    int64_t replica = slow * g->size[g->fast] + fast;
    if ((f->step == 1 ? replica % f->members : replica / f->step) == 0)
        return -1;
    int64_t before = replica - f->step;
    return rank + (before % g->size[g->fast] - fast) * g->stride[g->fast] +
           (before / g->size[g->fast] - slow) * g->stride[g->slow];
}

/* Ranks after which groups lie as before. */
static int64_t period_of(const family *f)
{
    const grid *g = f->grid;
    gl_axis last = f->inside_replicas ? g->slow : f->axis;
    return g->stride[last] * g->size[last];
}

/* Most groups of which one node has ranks, node by node: those whose first rank there it has. */
static int64_t most_on_a_node(const family *f, int64_t gpus_per_node)
{
    int64_t most = 0, ranks = f->grid->ranks, period = period_of(f);
    for (int64_t node = 0; node * gpus_per_node < ranks; node++) {
        int64_t first = node * gpus_per_node, touching = 0;
        if (node > 0 && first % period == 0)
            break;
        for (int64_t rank = first; rank < first + gpus_per_node && rank < ranks; rank++)
            touching += member_before(f, rank) < first;
        most = touching > most ? touching : most;
    }
    return most;
}

/* The most spread group; between equals the one that leaves most room for others on its nodes.
 * Pairs of stages, of which a rank is in two, are taken to leave with all GPUs of a node. */
static gl_placement place_family(const family *f, int64_t gpus_per_node)
{
    gl_placement worst = {.ranks = (int)f->members, .nodes = 1, .ranks_per_node = (int)f->members};
    bool even = true, partition = f->groups * f->members == f->grid->ranks;
    if (f->members > 1 && f->grid->ranks > gpus_per_node)
        worst = worst_group(f, gpus_per_node, &even);
    assert(worst.ranks_per_node > 0); /* a family has a group, and a group its ranks */
    int64_t concurrent = even || !partition ? gpus_per_node / worst.ranks_per_node
                                            : most_on_a_node(f, gpus_per_node);
    if (concurrent > f->groups)
        concurrent = f->groups;
    worst.concurrent_groups = concurrent > 1 ? (int)concurrent : 1;
    return worst;
}

/* One rank on one node: a group kind that the layout does not use. */
static const gl_placement trivial = {
    .ranks = 1, .nodes = 1, .ranks_per_node = 1, .concurrent_groups = 1};

/* All ranks: they fill node after node. */
static gl_placement place_world(const grid *g, int64_t gpus_per_node)
{
    int64_t on_node = g->ranks < gpus_per_node ? g->ranks : gpus_per_node;
    return (gl_placement){.ranks = (int)g->ranks,
                          .nodes = (int)gl_divide_up(g->ranks, gpus_per_node),
                          .ranks_per_node = (int)on_node,
                          .concurrent_groups = 1};
}

/* Under the interleaved schedule the last stage sends to the first, too; when these two sit on
 * different nodes, then so do some neighbours, so the worst pair of neighbours stands for both. */
static void place_pipeline(const grid *g, int64_t gpus_per_node, gl_layout *layout)
{
    int64_t pp = g->size[GL_AXIS_PP];
    layout->groups[GL_GROUP_PP] = layout->groups[GL_GROUP_EMBEDDING] = trivial;
    if (pp == 1)
        return;
    family neighbours = along(g, GL_AXIS_PP, 2, 1, pp - 1);
    family ends = along(g, GL_AXIS_PP, 2, pp - 1, 1);
    layout->groups[GL_GROUP_PP] = place_family(&neighbours, gpus_per_node);
    layout->groups[GL_GROUP_EMBEDDING] = place_family(&ends, gpus_per_node);
}

gl_layout gl_layout_build(const gl_parallel *parallel, int gpus_per_node)
{
    grid g = make_grid(parallel);
    int64_t ep = parallel->ep, all = g.replicas;
    int64_t shard = parallel->shard > 0 ? parallel->shard : all;
    int64_t gpus = gpus_per_node > 0 ? gpus_per_node : 1;
    const struct {
        gl_group group;
        family family;
    } kinds[] = {
        {GL_GROUP_TP, along(&g, GL_AXIS_TP, parallel->tp, 1, 1)},
        {GL_GROUP_CP, along(&g, GL_AXIS_CP, parallel->cp, 1, 1)},
        {GL_GROUP_DP, inside(&g, all, all, 1, 0)},
        {GL_GROUP_EP, inside(&g, ep, ep, 1, ep)},
        {GL_GROUP_EXPERT_DP, inside(&g, ep, all / ep, ep, 1)},
        {GL_GROUP_SHARD, inside(&g, shard, shard, 1, shard)},
        {GL_GROUP_REPLICATE, inside(&g, shard, all / shard, shard, 1)},
    };
    gl_layout layout = {.domains = {0}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        layout.groups[kinds[i].group] = place_family(&kinds[i].family, gpus);
    place_pipeline(&g, gpus, &layout);
    layout.groups[GL_GROUP_WORLD] = place_world(&g, gpus);
    return layout;
}

void gl_layout_mark_domains(gl_layout *layout, const gl_parallel *parallel, int domain_gpus)
{
    gl_layout over = gl_layout_build(parallel, domain_gpus);
    for (int i = 0; i < GL_GROUP_COUNT; i++) {
        int nodes = layout->groups[i].nodes;
        layout->domains[i] = (int)gl_divide_up(over.groups[i].nodes, nodes);
    }
}

void gl_layout_mark_switches(gl_layout *layout, const gl_parallel *parallel, int gpus_per_node,
                             int nodes_on_leaf, int nodes_in_pod)
{
    gl_layout leaves = gl_layout_build(parallel, nodes_on_leaf * gpus_per_node);
    gl_layout pods = gl_layout_build(parallel, nodes_in_pod * gpus_per_node);
    for (int i = 0; i < GL_GROUP_COUNT; i++) {
        int on_node = layout->groups[i].ranks_per_node;
        layout->reach[i] =
            (gl_reach){.leaves = leaves.groups[i].nodes,
                       .nodes_on_leaf = (int)gl_divide_up(leaves.groups[i].ranks_per_node, on_node),
                       .pods = pods.groups[i].nodes,
                       .nodes_in_pod = (int)gl_divide_up(pods.groups[i].ranks_per_node, on_node)};
    }
}

/* Pairs of stages are many on a site, but only the one between its last and the next site's first
 * stage uses the line. */
gl_layout gl_layout_over_sites(const gl_parallel *parallel, int gpus_per_site)
{
    gl_layout layout = gl_layout_build(parallel, gpus_per_site);
    int64_t stage = make_grid(parallel).ranks / parallel->pp;
    const gl_group pairs[] = {GL_GROUP_PP, GL_GROUP_EMBEDDING};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        gl_placement *p = &layout.groups[pairs[i]];
        if (p->concurrent_groups > stage)
            p->concurrent_groups = (int)stage;
    }
    return layout;
}
