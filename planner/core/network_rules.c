/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plain rules, for n ranks on N nodes with r ranks on each (docs/models/network.md):
 *
 *   ring      t = base + Σ steps·step + ramp(S·f(n))
 *   tree      t = base + 2·((r−1)·step_intra + log2(N)·step_inter) + ramp(S·f(n)) / 0.92
 *   nvls      t = base + switch + 2·log2(N)·step_inter
 *                 + max(ramp_switch(S·(r+1)/r), ramp_inter(S·2(N−1)/N))
 *   pairwise  t = base + log2(n)·step + max(inside, outside),
 *             inside = ramp_intra(S·(r−1)/n), outside = ramp_inter(S·(n−r)/n · r)
 *
 * with f the bus factor and ramp(w) = sqrt(w² + 3·half·w) / bw of the slower tier: bw is the
 * smaller of the intra-node bandwidth and what the NICs of a node give to the group; at w = half it
 * gives half of bw, for w → ∞ all of it, for w → 0 nothing but latency is left. Bytes that spread
 * over k NICs ramp k times as late. The root follows measured curves (docs/data.md). The step
 * counts and the tree's 0.92 are NCCL's own (src/graph/tuning.cc of 2.30). nvls: the node's switch
 * adds up, so that a GPU sends its buffer once and receives 1/r of it to hand on and the whole of
 * the result; between nodes each of the r NICs moves its part of a tree or ring over N nodes.
 */
#include "planner/core/network_rules.h"

#include <math.h>
#include <string.h>

/* Sigma of the rules themselves where no measurement stands behind them (assumed). */
static const double RULE_ERROR_FRAC = 0.15;
/* … and of the switch's all-reduce over several nodes: published runs lie 30 % above to 12 % below
 * it (docs/models/network.md). */
static const double SWITCH_NODES_ERROR_FRAC = 0.25;
static const double TREE_BANDWIDTH = 0.92;

typedef struct path {
    const gl_link *link;
    double bw_bytes_per_s; /* reachable, for this kind of collective */
    double error_frac;
    double half_bytes; /* bus bytes at which half of it is reached */
    double base_s, step_s;
} path;

static const gl_figure *efficiency_for(const gl_link *link, gl_collective collective)
{
    const gl_figure *special = NULL;
    if (collective == GL_ALLTOALL || collective == GL_GATHER || collective == GL_SCATTER)
        special = &link->alltoall_efficiency;
    if (collective == GL_SENDRECV)
        special = &link->p2p_efficiency;
    return special != NULL && special->kind != GL_FIGURE_ABSENT ? special : &link->efficiency;
}

static path path_of(const gl_link *link, gl_collective collective)
{
    const gl_figure *efficiency = efficiency_for(link, collective);
    const gl_figure *half = &link->half_size_bytes;
    return (path){
        .link = link,
        .bw_bytes_per_s = link->bw_bytes_per_s.value * efficiency->value,
        .error_frac = gl_figure_sigma(efficiency),
        .half_bytes = half->kind != GL_FIGURE_ABSENT ? half->value : 0,
        .base_s = link->base_latency_s.value,
        .step_s = link->step_latency_s.value,
    };
}

/* Time of w bus bytes over a path. */
static double ramp_s(const path *p, double wire_bytes)
{
    return sqrt(wire_bytes * wire_bytes + 3 * p->half_bytes * wire_bytes) / p->bw_bytes_per_s;
}

double gl_rules_nics_share(const gl_cluster *cluster, const gl_placement *placement)
{
    double nics = cluster->nics_per_node > 0 ? cluster->nics_per_node : 1;
    double own = fmax(1.0, nics / (cluster->gpus_per_node > 0 ? cluster->gpus_per_node : 1));
    double reachable = fmin(nics, own * placement->ranks_per_node);
    int groups = placement->concurrent_groups > 0 ? placement->concurrent_groups : 1;
    return fmin(reachable, nics / groups);
}

bool gl_rules_crosses_leaf(const gl_cluster *cluster, int nodes)
{
    if (cluster->radix <= 0)
        return true;
    /* Downlinks of a leaf with o times as many downlinks as uplinks. */
    double o = cluster->oversubscription;
    double down = floor(cluster->radix * o / (1 + o));
    int ports_per_node = cluster->fabric == GL_FABRIC_FAT_TREE ? cluster->nics_per_node : 1;
    return nodes > down / (ports_per_node > 0 ? ports_per_node : 1);
}

/* Ring steps of one call over n ranks. */
static double ring_steps(gl_collective collective, int n)
{
    switch (collective) {
    case GL_ALL_REDUCE:
        return 2.0 * (n - 1);
    case GL_SENDRECV:
        return 1;
    default:
        return n - 1;
    }
}

typedef struct rule_case {
    const gl_network_query *query;
    path paths[2]; /* inside a node, between nodes; link NULL when the tier is not used */
    double wire_bytes;
} rule_case;

/* What each tier would take if the other moved its bytes in no time: the slower decides. */
typedef struct tier_times {
    double s[2];
} tier_times;

static double slower_of(const tier_times *t)
{
    return fmax(t->s[0], t->s[1]);
}

static double base_s(const rule_case *c)
{
    return fmax(c->paths[0].base_s, c->paths[1].base_s);
}

/* Latency, the same for both tiers, and the bytes of each. */
static tier_times with_bytes(const rule_case *c, double latency_s, const double bytes[2],
                             double bandwidth_share)
{
    tier_times t = {{0, 0}};
    for (int tier = 0; tier < 2; tier++) {
        if (c->paths[tier].link != NULL)
            t.s[tier] = latency_s + ramp_s(&c->paths[tier], bytes[tier]) / bandwidth_share;
    }
    return t;
}

static tier_times ring_times(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double steps = ring_steps(c->query->collective, p->ranks);
    double between = c->paths[1].link != NULL ? ring_steps(c->query->collective, p->nodes) : 0;
    double latency = (steps - between) * c->paths[0].step_s + between * c->paths[1].step_s;
    const double bytes[2] = {c->wire_bytes, c->wire_bytes};
    return with_bytes(c, base_s(c) + latency, bytes, 1);
}

static tier_times tree_times(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double hops =
        (p->ranks_per_node - 1) * c->paths[0].step_s + log2(p->nodes) * c->paths[1].step_s;
    const double bytes[2] = {c->wire_bytes, c->wire_bytes};
    return with_bytes(c, base_s(c) + 2 * hops, bytes, TREE_BANDWIDTH);
}

/*
 * In-network reduction inside the node: the switch's own path, the same link with another share of
 * its bandwidth; between nodes a ring or tree over one copy of the data per node.
 */
static tier_times switch_times(const rule_case *c)
{
    const gl_link *link = c->paths[0].link;
    const gl_placement *p = &c->query->placement;
    if (link == NULL || link->switch_efficiency.kind == GL_FIGURE_ABSENT || p->ranks_per_node < 3)
        return (tier_times){{(double)INFINITY, 0}};
    rule_case own = *c;
    own.paths[0].bw_bytes_per_s = link->bw_bytes_per_s.value * link->switch_efficiency.value;
    own.paths[0].error_frac = gl_figure_sigma(&link->switch_efficiency);
    double size = c->query->size_bytes, r = p->ranks_per_node, nodes = p->nodes;
    double latency =
        link->switch_latency_s.kind != GL_FIGURE_ABSENT ? link->switch_latency_s.value : 0;
    const double bytes[2] = {size * (r + 1) / r, size * 2 * (nodes - 1) / nodes};
    return with_bytes(&own, base_s(c) + latency + 2 * log2(nodes) * c->paths[1].step_s, bytes, 1);
}

static tier_times pairwise_times(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double size = c->query->size_bytes, n = p->ranks, r = p->ranks_per_node;
    double step = fmax(c->paths[0].step_s, c->paths[1].step_s);
    /* The NICs' bandwidth is the group's on a node: its r ranks share it. */
    const double bytes[2] = {size * (r - 1) / n, size * (n - r) / n * r};
    return with_bytes(c, base_s(c) + ceil(log2(n)) * step, bytes, 1);
}

static bool is_pairwise(gl_collective collective)
{
    return collective == GL_ALLTOALL || collective == GL_GATHER || collective == GL_SCATTER;
}

static void offer(const char *name, tier_times times, const char **algorithm, tier_times *best)
{
    if (slower_of(&times) < slower_of(best)) {
        *algorithm = name;
        *best = times;
    }
}

/* NCCL takes what it thinks is fastest. */
static tier_times choose(const rule_case *c, const char **algorithm)
{
    gl_collective collective = c->query->collective;
    tier_times best = {{(double)INFINITY, 0}};
    if (is_pairwise(collective)) {
        offer("pairwise", pairwise_times(c), algorithm, &best);
        return best;
    }
    offer(collective == GL_SENDRECV ? "direct" : "ring", ring_times(c), algorithm, &best);
    if (collective == GL_ALL_REDUCE && c->query->placement.ranks > 2) {
        offer("tree", tree_times(c), algorithm, &best);
        offer("nvls", switch_times(c), algorithm, &best);
    }
    return best;
}

static path intra_path(const gl_cluster *cluster, gl_collective collective, double busbw)
{
    static const gl_link measured = {.name = "measured curve"};
    path p = cluster->intra.link != NULL ? path_of(cluster->intra.link, collective)
                                         : (path){.link = &measured};
    if (busbw > 0) {
        p.bw_bytes_per_s = busbw;
        p.error_frac = 0;
    }
    return p;
}

static path inter_path(const gl_cluster *cluster, gl_collective collective,
                       const gl_placement *placement)
{
    path p = path_of(cluster->inter.link, collective);
    double nics = gl_rules_nics_share(cluster, placement);
    p.bw_bytes_per_s *= nics;
    p.half_bytes *= nics;
    if (gl_rules_crosses_leaf(cluster, placement->nodes))
        p.bw_bytes_per_s /= cluster->oversubscription;
    return p;
}

static rule_case start(const gl_network_query *query)
{
    return (rule_case){.query = query,
                       .wire_bytes = query->size_bytes *
                                     gl_bus_factor(query->collective, query->placement.ranks)};
}

/* Fills the tiers that the placement uses; false when one has no link. */
static bool find_paths(const gl_cluster *cluster, double intra_busbw, rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    bool intra_known = cluster->intra.link != NULL || intra_busbw > 0;
    if ((p->ranks_per_node > 1 && !intra_known) || (p->nodes > 1 && cluster->inter.link == NULL))
        return false;
    if (p->ranks_per_node > 1)
        c->paths[0] = intra_path(cluster, c->query->collective, intra_busbw);
    if (p->nodes > 1)
        c->paths[1] = inter_path(cluster, c->query->collective, p);
    return true;
}

static const char *link_names(const rule_case *c, const char *between, gl_arena *arena)
{
    const gl_link *intra = c->paths[0].link, *inter = c->paths[1].link;
    if (intra == NULL || inter == NULL)
        return intra != NULL ? intra->name : inter->name;
    return gl_arena_printf(arena, "%s%s%s", intra->name, between, inter->name);
}

static const char *explain_switch(const rule_case *c, gl_arena *arena)
{
    const gl_placement *p = &c->query->placement;
    const gl_link *link = c->paths[0].link;
    return gl_arena_printf(
        arena, "nvls over %d ranks on %d node%s: the switch of %s adds up, %.0f B at %.3g GB/s%s",
        p->ranks, p->nodes, p->nodes == 1 ? "" : "s", link->name,
        c->query->size_bytes * (p->ranks_per_node + 1) / p->ranks_per_node,
        link->bw_bytes_per_s.value * link->switch_efficiency.value / 1e9,
        p->nodes > 1 ? gl_arena_printf(arena, "; between nodes %.0f B at %.3g GB/s over %s",
                                       c->query->size_bytes * 2 * (p->nodes - 1) / p->nodes,
                                       c->paths[1].bw_bytes_per_s / 1e9, c->paths[1].link->name)
                     : "");
}

static const char *explain(const rule_case *c, const gl_network_time *t, const path *slower,
                           gl_arena *arena)
{
    const gl_placement *p = &c->query->placement;
    if (strcmp(t->algorithm, "nvls") == 0)
        return explain_switch(c, arena);
    return gl_arena_printf(
        arena,
        "%s over %d ranks on %d node%s (%s): %.0f B on the wire, slower at %s, %.3g GB/s (half of "
        "it at %.3g MB); base %.3g us, steps of %.3g us inside and %.3g us between nodes",
        t->algorithm, p->ranks, p->nodes, p->nodes == 1 ? "" : "s", link_names(c, ", ", arena),
        c->wire_bytes, slower->link->name, slower->bw_bytes_per_s / 1e9, slower->half_bytes / 1e6,
        base_s(c) * 1e6, c->paths[0].step_s * 1e6, c->paths[1].step_s * 1e6);
}

bool gl_rules_time(const gl_cluster *cluster, const gl_network_query *query, double intra_busbw,
                   gl_arena *arena, gl_network_time *out)
{
    rule_case c = start(query);
    if (!find_paths(cluster, intra_busbw, &c))
        return false;
    gl_network_time t = {.evidence = GL_EVIDENCE_CATALOGUE};
    tier_times tiers = choose(&c, &t.algorithm);
    const path *slower = &c.paths[tiers.s[1] >= tiers.s[0]];
    t.time_s = slower_of(&tiers);
    t.tier_s[0] = tiers.s[0];
    t.tier_s[1] = tiers.s[1];
    t.error_frac = hypot(slower->error_frac, RULE_ERROR_FRAC);
    if (strcmp(t.algorithm, "nvls") == 0) {
        double figures =
            fmax(gl_figure_sigma(&c.paths[0].link->switch_efficiency), c.paths[1].error_frac);
        t.error_frac =
            hypot(figures, query->placement.nodes > 1 ? SWITCH_NODES_ERROR_FRAC : RULE_ERROR_FRAC);
    }
    t.transport = slower->link->transport;
    t.busbw_bytes_per_s = c.wire_bytes / t.time_s;
    t.source = gl_arena_printf(arena, "data/links/%s", link_names(&c, " + ", arena));
    t.formula = explain(&c, &t, slower, arena);
    *out = t;
    return true;
}

double gl_rules_intra_s(const gl_cluster *cluster, const gl_network_query *query,
                        double intra_busbw)
{
    bool known = cluster->intra.link != NULL || intra_busbw > 0;
    if (query->placement.ranks_per_node < 2 || !known)
        return 0;
    rule_case c = start(query);
    c.paths[0] = intra_path(cluster, query->collective, intra_busbw);
    const char *unused;
    return choose(&c, &unused).s[0];
}
