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
    path intra, inter;  /* link NULL when the tier is not used */
    const path *slower; /* tier, for ring and tree */
    double wire_bytes;
} rule_case;

static double ring_time(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double steps = ring_steps(c->query->collective, p->ranks);
    double inter_steps = c->inter.link != NULL ? ring_steps(c->query->collective, p->nodes) : 0;
    double base = fmax(c->intra.base_s, c->inter.base_s);
    return base + (steps - inter_steps) * c->intra.step_s + inter_steps * c->inter.step_s +
           ramp_s(c->slower, c->wire_bytes);
}

static double tree_time(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double base = fmax(c->intra.base_s, c->inter.base_s);
    double hops = (p->ranks_per_node - 1) * c->intra.step_s + log2(p->nodes) * c->inter.step_s;
    return base + 2 * hops + ramp_s(c->slower, c->wire_bytes) / TREE_BANDWIDTH;
}

/* The switch's own path: the same link with another share of its bandwidth. */
static double switch_time(const rule_case *c)
{
    const gl_link *link = c->intra.link;
    const gl_placement *p = &c->query->placement;
    if (link == NULL || link->switch_efficiency.kind == GL_FIGURE_ABSENT || p->ranks_per_node < 3)
        return (double)INFINITY;
    double size = c->query->size_bytes, r = p->ranks_per_node, nodes = p->nodes;
    path own = c->intra;
    own.bw_bytes_per_s = link->bw_bytes_per_s.value * link->switch_efficiency.value;
    double inside = ramp_s(&own, size * (r + 1) / r);
    double outside = nodes > 1 ? ramp_s(&c->inter, size * 2 * (nodes - 1) / nodes) : 0;
    double latency =
        link->switch_latency_s.kind != GL_FIGURE_ABSENT ? link->switch_latency_s.value : 0;
    return fmax(c->intra.base_s, c->inter.base_s) + latency + 2 * log2(nodes) * c->inter.step_s +
           fmax(inside, outside);
}

static double pairwise_time(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double size = c->query->size_bytes, n = p->ranks, r = p->ranks_per_node;
    double inside = c->intra.link != NULL ? ramp_s(&c->intra, size * (r - 1) / n) : 0;
    double outside = c->inter.link != NULL ? ramp_s(&c->inter, size * (n - r) / n * r) : 0;
    double base = fmax(c->intra.base_s, c->inter.base_s);
    double step = fmax(c->intra.step_s, c->inter.step_s);
    return base + ceil(log2(n)) * step + fmax(inside, outside);
}

static bool is_pairwise(gl_collective collective)
{
    return collective == GL_ALLTOALL || collective == GL_GATHER || collective == GL_SCATTER;
}

static void offer(const char *algorithm, double time_s, gl_network_time *out)
{
    if (time_s < out->time_s) {
        out->algorithm = algorithm;
        out->time_s = time_s;
    }
}

/* NCCL takes what it thinks is fastest. */
static void choose(const rule_case *c, gl_network_time *out)
{
    gl_collective collective = c->query->collective;
    out->time_s = (double)INFINITY;
    if (is_pairwise(collective)) {
        offer("pairwise", pairwise_time(c), out);
        return;
    }
    offer(collective == GL_SENDRECV ? "direct" : "ring", ring_time(c), out);
    if (collective == GL_ALL_REDUCE && c->query->placement.ranks > 2) {
        offer("tree", tree_time(c), out);
        offer("nvls", switch_time(c), out);
    }
}

/* Fills the tiers that the placement uses; false when one has no link. */
static bool find_paths(const gl_cluster *cluster, double intra_busbw, rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    gl_collective collective = c->query->collective;
    if (p->ranks_per_node > 1) {
        if (cluster->intra.link == NULL && !(intra_busbw > 0))
            return false;
        static const gl_link measured = {.name = "measured curve"};
        c->intra = cluster->intra.link != NULL ? path_of(cluster->intra.link, collective)
                                               : (path){.link = &measured};
        if (intra_busbw > 0) {
            c->intra.bw_bytes_per_s = intra_busbw;
            c->intra.error_frac = 0;
        }
    }
    if (p->nodes > 1) {
        if (cluster->inter.link == NULL)
            return false;
        c->inter = path_of(cluster->inter.link, collective);
        double nics = gl_rules_nics_share(cluster, p);
        c->inter.bw_bytes_per_s *= nics;
        c->inter.half_bytes *= nics;
        if (gl_rules_crosses_leaf(cluster, p->nodes))
            c->inter.bw_bytes_per_s /= cluster->oversubscription;
    }
    return true;
}

static const char *explain_switch(const rule_case *c, gl_arena *arena)
{
    const gl_placement *p = &c->query->placement;
    const gl_link *link = c->intra.link;
    return gl_arena_printf(
        arena, "nvls over %d ranks on %d node%s: the switch of %s adds up, %.0f B at %.3g GB/s%s",
        p->ranks, p->nodes, p->nodes == 1 ? "" : "s", link->name,
        c->query->size_bytes * (p->ranks_per_node + 1) / p->ranks_per_node,
        link->bw_bytes_per_s.value * link->switch_efficiency.value / 1e9,
        p->nodes > 1 ? gl_arena_printf(arena, "; between nodes %.0f B at %.3g GB/s over %s",
                                       c->query->size_bytes * 2 * (p->nodes - 1) / p->nodes,
                                       c->inter.bw_bytes_per_s / 1e9, c->inter.link->name)
                     : "");
}

static const char *explain(const rule_case *c, const gl_network_time *t, gl_arena *arena)
{
    const gl_placement *p = &c->query->placement;
    if (strcmp(t->algorithm, "nvls") == 0)
        return explain_switch(c, arena);
    return gl_arena_printf(
        arena,
        "%s over %d ranks on %d node%s: %.0f B on the wire at %.3g GB/s (%s%s%s; half of it at "
        "%.3g MB), base %.3g us, steps of %.3g us inside and %.3g us between nodes",
        t->algorithm, p->ranks, p->nodes, p->nodes == 1 ? "" : "s", c->wire_bytes,
        c->slower->bw_bytes_per_s / 1e9, c->intra.link != NULL ? c->intra.link->name : "",
        c->intra.link != NULL && c->inter.link != NULL ? ", " : "",
        c->inter.link != NULL ? c->inter.link->name : "", c->slower->half_bytes / 1e6,
        fmax(c->intra.base_s, c->inter.base_s) * 1e6, c->intra.step_s * 1e6, c->inter.step_s * 1e6);
}

bool gl_rules_time(const gl_cluster *cluster, const gl_network_query *query, double intra_busbw,
                   gl_arena *arena, gl_network_time *out)
{
    rule_case c = {.query = query};
    if (!find_paths(cluster, intra_busbw, &c))
        return false;
    bool inter_limits = c.intra.link == NULL ||
                        (c.inter.link != NULL && c.inter.bw_bytes_per_s < c.intra.bw_bytes_per_s);
    c.slower = inter_limits ? &c.inter : &c.intra;
    c.wire_bytes = query->size_bytes * gl_bus_factor(query->collective, query->placement.ranks);
    gl_network_time t = {
        .error_frac = hypot(c.slower->error_frac, RULE_ERROR_FRAC),
        .evidence = GL_EVIDENCE_CATALOGUE,
        .transport = query->placement.nodes > 1 ? c.inter.link->transport : c.intra.link->transport,
    };
    choose(&c, &t);
    if (strcmp(t.algorithm, "nvls") == 0) {
        double figures =
            fmax(gl_figure_sigma(&c.intra.link->switch_efficiency), c.inter.error_frac);
        t.error_frac =
            hypot(figures, query->placement.nodes > 1 ? SWITCH_NODES_ERROR_FRAC : RULE_ERROR_FRAC);
    }
    t.source = gl_arena_printf(
        arena, "data/links/%s%s%s", c.intra.link != NULL ? c.intra.link->name : c.inter.link->name,
        c.intra.link != NULL && c.inter.link != NULL ? " + " : "",
        c.intra.link != NULL && c.inter.link != NULL ? c.inter.link->name : "");
    t.formula = explain(&c, &t, arena);
    *out = t;
    return true;
}
