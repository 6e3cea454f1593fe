/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plain rules, for n ranks on N nodes with r ranks on each (docs/models/network.md):
 *
 *   ring      t = base + Σ steps·step + ramp(S·f(n))
 *   tree      t = base + 2·((r−1)·step_intra + log2(N)·step_inter) + ramp(S·f(n)) / 0.92
 *   pairwise  t = base + log2(n)·step + max(inside, outside),
 *             inside = ramp_intra(S·(r−1)/n), outside = ramp_inter(S·(n−r)/n · r)
 *
 * with f the bus factor and ramp(w) = sqrt(w² + 3·half·w) / bw of the slower tier: bw is the
 * smaller of the intra-node bandwidth and what the NICs of a node give to the group; at w = half it
 * gives half of bw, for w → ∞ all of it, for w → 0 nothing but latency is left. Bytes that spread
 * over k NICs ramp k times as late. The root follows measured curves (docs/data.md). The step
 * counts and the tree's 0.92 are NCCL's own (src/graph/tuning.cc of 2.30).
 */
#include "planner/core/network_rules.h"

#include <math.h>

/* Sigma of the rules themselves where no measurement stands behind them (assumed). */
static const double RULE_ERROR_FRAC = 0.15;
static const double TREE_BANDWIDTH = 0.92;
static const double P90_OF_SIGMA = 1.2816;

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
    double spread = (efficiency->high - efficiency->low) / 2 / P90_OF_SIGMA;
    const gl_figure *half = &link->half_size_bytes;
    return (path){
        .link = link,
        .bw_bytes_per_s = link->bw_bytes_per_s.value * efficiency->value,
        .error_frac = efficiency->value > 0 ? spread / efficiency->value : 0,
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

static void choose(const rule_case *c, gl_network_time *out)
{
    if (is_pairwise(c->query->collective)) {
        out->algorithm = "pairwise";
        out->time_s = pairwise_time(c);
        return;
    }
    out->algorithm = c->query->collective == GL_SENDRECV ? "direct" : "ring";
    out->time_s = ring_time(c);
    double tree = c->query->collective == GL_ALL_REDUCE && c->query->placement.ranks > 2
                      ? tree_time(c)
                      : (double)INFINITY;
    if (tree < out->time_s) {
        out->algorithm = "tree";
        out->time_s = tree;
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

static const char *explain(const rule_case *c, const gl_network_time *t, gl_arena *arena)
{
    const gl_placement *p = &c->query->placement;
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

/* Large-message busbw of the placement. */
static double reachable_busbw(const rule_case *c)
{
    if (!is_pairwise(c->query->collective))
        return c->slower->bw_bytes_per_s;
    rule_case large = *c;
    gl_network_query query = *c->query;
    query.size_bytes = 1e12;
    large.query = &query;
    return query.size_bytes * gl_bus_factor(query.collective, query.placement.ranks) /
           pairwise_time(&large);
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
    t.busbw_bytes_per_s = c.wire_bytes / t.time_s;
    t.available_bytes_per_s = reachable_busbw(&c);
    t.source = gl_arena_printf(
        arena, "data/links/%s%s%s", c.intra.link != NULL ? c.intra.link->name : c.inter.link->name,
        c.intra.link != NULL && c.inter.link != NULL ? " + " : "",
        c.intra.link != NULL && c.inter.link != NULL ? c.inter.link->name : "");
    t.formula = explain(&c, &t, arena);
    *out = t;
    return true;
}
