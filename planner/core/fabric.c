/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/fabric.h"

#include "planner/core/arithmetic.h"

#include <math.h>

const char *const gl_fabric_names[] = {"fat-tree", "rail-optimised", "rail-only", NULL};

int64_t gl_fabric_divisor(int64_t needed, int64_t ports)
{
    if (needed < 1)
        needed = 1;
    while (needed < ports && ports % needed != 0)
        needed++;
    return needed;
}

int gl_fabric_down(int ports, double oversubscription)
{
    return (int)floor(ports * oversubscription / (1 + oversubscription) + 1e-9);
}

/* One tree: `nodes` with `ports` each; `rails` of them have leaves of their own. */
typedef struct tree {
    int64_t nodes, ports, rails;
    int radix, down, up;
    int spine_down, spine_up; /* when there are cores */
} tree;

static int64_t leaves_of(const tree *t)
{
    return t->rails > 1 ? t->rails * gl_divide_up(t->nodes, t->down)
                        : gl_divide_up(t->nodes * t->ports, t->down);
}

/* Every spine has a port for every leaf; capacity says how many, the divisor rule raises it. */
static void count_two_tiers(const tree *t, int64_t leaves, gl_fabric_counts *out)
{
    out->tiers = 2;
    out->leaves = leaves;
    out->spines = gl_fabric_divisor(gl_divide_up(leaves * t->up, t->radix), t->up);
    out->spine_links = leaves * t->up;
}

/*
 * Pods of as many leaves as a spine has ports down (half of them, when it is not oversubscribed),
 * under as many spines as a leaf has uplinks; a spine's other ports lead to cores. The i-th spines
 * of all pods share a group of cores.
 */
static bool count_three_tiers(const tree *t, int64_t leaves, gl_fabric_counts *out)
{
    int64_t down = t->spine_down, up = t->spine_up;
    if (down < 1 || up < 1 || gl_divide_up(leaves, down) > t->radix)
        return false;
    int64_t pods = gl_divide_up(leaves, down), last = leaves - (pods - 1) * down;
    out->tiers = 3;
    out->leaves = leaves;
    out->spines = (pods - 1) * t->up + gl_fabric_divisor(gl_divide_up(last * t->up, down), t->up);
    out->cores = t->up * gl_fabric_divisor(gl_divide_up(pods * up, t->radix), up);
    out->spine_links = leaves * t->up;
    out->core_links = out->spines * up;
    return true;
}

static bool count_tree(const tree *t, gl_fabric_counts *out)
{
    out->down = t->down;
    out->up = t->up;
    out->node_links = t->nodes * t->ports;
    if (out->node_links <= t->radix) {
        out->tiers = 1;
        out->leaves = 1;
        return true;
    }
    if (t->up < 1)
        return false;
    int64_t leaves = leaves_of(t);
    if (leaves > t->radix)
        return count_three_tiers(t, leaves, out);
    count_two_tiers(t, leaves, out);
    return true;
}

static void multiply(gl_fabric_counts *counts, int64_t trees)
{
    counts->trees = trees;
    counts->leaves *= trees;
    counts->spines *= trees;
    counts->cores *= trees;
    counts->node_links *= trees;
    counts->spine_links *= trees;
    counts->core_links *= trees;
    counts->endpoints = counts->node_links;
}

gl_fabric_request gl_fabric_request_of(const gl_cluster *cluster, int64_t nodes, int radix)
{
    return (gl_fabric_request){.kind = cluster->fabric,
                               .nodes = nodes,
                               .ports_per_node = cluster->nics_per_node,
                               .planes = cluster->terms.planes > 1 ? cluster->terms.planes : 1,
                               .radix = radix,
                               .oversubscription = cluster->oversubscription,
                               .core_oversubscription = cluster->core_oversubscription};
}

static int64_t links_of(const gl_fabric_counts *counts)
{
    return counts->spine_links + counts->core_links;
}

static bool is_smaller(const gl_fabric_counts *a, const gl_fabric_counts *b)
{
    int64_t more = gl_fabric_switches(a) - gl_fabric_switches(b);
    return more < 0 || (more == 0 && links_of(a) < links_of(b));
}

/* The fewest switches of the splits of a spine's ports that are no thinner than the tree's. */
static bool count_least(tree t, gl_fabric_counts *least)
{
    bool found = false;
    for (t.up = t.radix - t.down; t.spine_down >= gl_fabric_down(t.radix, 1); t.spine_down--) {
        gl_fabric_counts counts = {0};
        t.spine_up = t.radix - t.spine_down;
        if (!count_tree(&t, &counts))
            continue;
        if (!found || is_smaller(&counts, least))
            *least = counts;
        found = true;
        if (counts.tiers < 3)
            break; /* without cores */
    }
    return found;
}

bool gl_fabric_count(const gl_fabric_request *request, gl_fabric_counts *counts, gl_error *err)
{
    int radix = request->radix;
    bool found = false, apart = request->kind == GL_FABRIC_RAIL_ONLY;
    tree t = {.nodes = request->nodes,
              .ports = apart ? 1 : request->ports_per_node,
              .rails = request->kind == GL_FABRIC_RAIL_OPTIMISED ? request->ports_per_node : 1,
              .radix = radix,
              .down = gl_fabric_down(radix, request->oversubscription),
              .spine_down = gl_fabric_down(radix, request->core_oversubscription)};
    *counts = (gl_fabric_counts){0};
    if (radix < 2)
        return gl_fail(err, GL_ERROR_INPUT, "the ports of a switch are not known");
    for (; t.down >= gl_fabric_down(radix, 1); t.down--) {
        gl_fabric_counts other = {0};
        if (!count_least(t, &other))
            continue;
        if (!found || is_smaller(&other, counts))
            *counts = other;
        found = true;
    }
    if (!found)
        return gl_fail(err, GL_ERROR_INPUT,
                       "%lld nodes are more than three tiers of switches with %d ports join",
                       (long long)request->nodes, radix);
    multiply(counts, (int64_t)request->planes * (apart ? request->ports_per_node : 1));
    return true;
}
