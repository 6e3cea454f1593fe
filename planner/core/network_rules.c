/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Algorithms over two tiers, for n ranks on N nodes with r ranks on each. Each is a latency and the
 * bytes that it moves over each tier; the slower tier decides (docs/models/network.md has the
 * table, the sources and the limits):
 *
 * - ring: 2(n−1) steps for all_reduce, n−1 for the others; S·f(n) over both tiers
 * - tree: 2·((r−1) + log2 N) steps; 2S inside, 2S(N−1)/N between, over 0.92 of the bandwidth
 * - nvls: S(r+1)/r over the switch (one node); nvls-tree: the same inside, a tree between nodes
 * - hierarchical: 2(r−1) + 2·log2 N steps; 2S(r−1)/r inside, then 2S(N−1)/N between
 * - in-network: S inside (r+1)/r or 2S(r−1)/r, S between: network switches add up
 * - pairwise: S(r−1)/n inside, S(n−r)/n·r between
 *
 * f is the bus factor. Bytes w take sqrt(w² + 3·half·w) / bw over a catalogue link: at w = half
 * half of bw, for w → ∞ all of it, for w → 0 nothing but latency is left; bytes that spread over k
 * NICs ramp k times as late. Over a measured curve they take what its own message of as many bus
 * bytes takes above its floor. The step counts and 0.92 are NCCL's own (src/graph/tuning.cc
 * of 2.30).
 */
#include "planner/core/network_rules.h"

#include "planner/core/fabric.h"

#include "common/units.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Sigma of the rules themselves where no measurement stands behind them (assumed). */
static const double RULE_ERROR_FRAC = 0.15;
/* … and of the switch's all-reduce over several nodes: published runs lie 30 % above to 12 % below
 * it (docs/models/network.md). */
static const double SWITCH_NODES_ERROR_FRAC = 0.25;
static const double TREE_BANDWIDTH = 0.92;
/* Of what the switch of one node reduces this much is reached when its sums also go up and down a
 * tree over nodes, and of a node's NICs when the network's switches add up: published runs on 2 to
 * 8 nodes of eight H100 and H200 (docs/models/network.md). */
static const double SWITCH_TREE_BANDWIDTH = 0.65, IN_NETWORK_BANDWIDTH = 0.6;
/* Of a measured floor this much is the call itself, the rest grows with the steps. */
static const double CALL_OF_FLOOR = 0.5;

typedef struct path {
    const gl_link *link;     /* NULL: the tier is not used; `measured` without a catalogue link */
    const gl_curve_fit *fit; /* measured: wins over the link's figures */
    double wire_per_size;    /* of the curve: bus bytes of one byte of its messages */
    double share;            /* bandwidth of the group over that of the curve's group */
    double bw_bytes_per_s;   /* of the link: reachable, for this kind of collective */
    double error_frac;
    double half_bytes; /* bus bytes at which half of it is reached */
    double base_s, step_s;
} path;

static const gl_link measured_link = {.name = "measured curve"};

typedef struct rule_case {
    const gl_network_query *query;
    const gl_cluster *cluster;
    path paths[2]; /* inside a node, between nodes; link NULL when the tier is not used */
} rule_case;

/* An algorithm's latency and bytes, and what each tier would take if the other moved its bytes in
 * no time. */
typedef struct candidate {
    const char *name;
    double latency_s, bytes[2], bandwidth_share[2];
    bool one_by_one; /* the tiers work after each other; otherwise the slower hides the faster */
    double moves_s[2], tier_s[2], time_s;
} candidate;

enum { CANDIDATES_MAX = 6 };

typedef struct choices {
    candidate all[CANDIDATES_MAX];
    int count, best;
} choices;

/* ---- paths ---- */

static const gl_figure *efficiency_for(const gl_link *link, gl_collective collective)
{
    const gl_figure *special = NULL;
    if (gl_is_pairwise(collective))
        special = &link->alltoall_efficiency;
    if (collective == GL_SENDRECV)
        special = &link->p2p_efficiency;
    return special != NULL && special->kind != GL_FIGURE_ABSENT ? special : &link->efficiency;
}

static double value_of(const gl_figure *figure)
{
    return figure->kind != GL_FIGURE_ABSENT ? figure->value : 0;
}

static path path_of(const gl_link *link, gl_collective collective)
{
    const gl_figure *efficiency = efficiency_for(link, collective);
    return (path){
        .link = link,
        .bw_bytes_per_s = link->bw_bytes_per_s.value * efficiency->value,
        .error_frac = gl_figure_sigma(efficiency),
        .half_bytes = value_of(&link->half_size_bytes),
        .base_s = link->base_latency_s.value,
        .step_s = link->step_latency_s.value,
    };
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

/* A measured curve as a path: `share` is the group's bandwidth over that of the curve's group. */
static path path_of_curve(const gl_curve_fit *fit, const gl_link *link, double share)
{
    const gl_placement *p = &fit->curve->placement;
    gl_collective collective = fit->curve->collective;
    double steps =
        gl_is_pairwise(collective) ? ceil(log2(p->ranks)) : ring_steps(collective, p->ranks);
    return (path){
        .link = link != NULL ? link : &measured_link,
        .fit = fit,
        .wire_per_size = gl_bus_factor(collective, p->ranks),
        .share = share,
        .error_frac = fit->quality.noise_frac,
        .base_s = CALL_OF_FLOOR * fit->quality.floor_s,
        .step_s = (1 - CALL_OF_FLOOR) * fit->quality.floor_s / fmax(steps, 1),
    };
}

/* Time of w bus bytes over a path, latency not counted. */
static double bytes_s(const path *p, double wire_bytes)
{
    if (p->fit == NULL)
        return sqrt(wire_bytes * (wire_bytes + 3 * p->half_bytes)) / p->bw_bytes_per_s;
    double size = wire_bytes / p->wire_per_size / p->share;
    return fmax(0, gl_curve_eval(p->fit, size).time_s - p->fit->quality.floor_s);
}

double gl_rules_nics_share(const gl_cluster *cluster, const gl_placement *placement)
{
    double nics = cluster->nics_per_node > 0 ? cluster->nics_per_node : 1;
    double own = fmax(1.0, nics / (cluster->gpus_per_node > 0 ? cluster->gpus_per_node : 1));
    double reachable = fmin(nics, own * placement->ranks_per_node);
    int groups = placement->concurrent_groups > 0 ? placement->concurrent_groups : 1;
    return fmin(reachable, nics / groups);
}

static int ports_per_node(const gl_cluster *cluster)
{
    return cluster->nics_per_node > 0 ? cluster->nics_per_node : 1;
}

/* Switch ports for nodes: of a leaf; of a switch that joins everything, which needs no uplinks. The
 * leaf of a rail-only network has none either. */
int gl_rules_nodes_on_leaf(const gl_cluster *cluster)
{
    bool rail_only = cluster->fabric == GL_FABRIC_RAIL_ONLY;
    bool one_switch = (int64_t)cluster->nodes * ports_per_node(cluster) <= cluster->radix;
    if (!rail_only && one_switch && cluster->nodes > 0)
        return cluster->nodes;
    int down =
        rail_only ? cluster->radix : gl_fabric_down(cluster->radix, cluster->oversubscription);
    int nodes = cluster->fabric == GL_FABRIC_FAT_TREE ? down / ports_per_node(cluster) : down;
    return nodes > 1 ? nodes : 1; /* with more ports than a leaf has, some of them elsewhere */
}

/* Nodes under as many leaves as share their spines. */
static int nodes_below(const gl_cluster *cluster, int leaves)
{
    int rails = cluster->fabric == GL_FABRIC_RAIL_OPTIMISED ? ports_per_node(cluster) : 1;
    int64_t nodes =
        gl_rules_nodes_on_leaf(cluster) * (int64_t)(leaves > rails ? leaves / rails : 1);
    return nodes < GL_NODES_MAX ? (int)nodes : GL_NODES_MAX;
}

/* Every spine has a port for every leaf of the network or, where those are more than its ports, of
 * its pod. */
int gl_rules_nodes_in_pod(const gl_cluster *cluster)
{
    int two_tiers = nodes_below(cluster, cluster->radix);
    return cluster->nodes <= two_tiers
               ? two_tiers
               : nodes_below(cluster,
                             gl_fabric_down(cluster->radix, cluster->core_oversubscription));
}

/* What so many nodes side by side touch, from the first of a pod on; all 0 without a radix. */
static gl_reach reach_side_by_side(const gl_cluster *cluster, int nodes)
{
    if (cluster->radix <= 0 || nodes < 1)
        return (gl_reach){0};
    int leaf = gl_rules_nodes_on_leaf(cluster), pod = gl_rules_nodes_in_pod(cluster);
    return (gl_reach){.leaves = (int)gl_divide_up(nodes, leaf),
                      .nodes_on_leaf = nodes < leaf ? nodes : leaf,
                      .pods = (int)gl_divide_up(nodes, pod),
                      .nodes_in_pod = nodes < pod ? nodes : pod};
}

static int levels_of(const gl_reach *reach)
{
    return reach->leaves <= 1 ? 1 : reach->pods <= 1 ? 2 : 3;
}

int gl_rules_switch_levels(const gl_cluster *cluster, int nodes)
{
    const gl_reach reach = reach_side_by_side(cluster, nodes);
    return levels_of(&reach);
}

/* Of the traffic of a group over so many switches what leaves the nodes of one. */
static double crossing(gl_collective collective, int nodes, int switches, int here)
{
    if (switches <= 1)
        return 0;
    return gl_is_pairwise(collective) ? (nodes - here) / (nodes - 1.0) : 1;
}

static double thinning(const gl_cluster *cluster, gl_collective collective, int nodes,
                       const gl_reach *reach)
{
    double leaf = cluster->oversubscription, spine = leaf * cluster->core_oversubscription;
    if (reach->leaves == 0)
        return nodes > 1 ? fmax(1, leaf) : 1;
    return fmax(1, fmax(leaf * crossing(collective, nodes, reach->leaves, reach->nodes_on_leaf),
                        spine * crossing(collective, nodes, reach->pods, reach->nodes_in_pod)));
}

/* Of the group that is asked about, and of one that a curve was measured over. */
static gl_reach reach_of(const gl_cluster *cluster, const gl_network_query *query)
{
    return query->reach.leaves > 0 ? query->reach
                                   : reach_side_by_side(cluster, query->placement.nodes);
}

double gl_rules_thinning(const gl_cluster *cluster, const gl_network_query *query)
{
    const gl_reach reach = reach_of(cluster, query);
    return thinning(cluster, query->collective, query->placement.nodes, &reach);
}

double gl_rules_curve_thinning(const gl_cluster *cluster, const gl_curve *curve)
{
    const gl_reach reach = reach_side_by_side(cluster, curve->placement.nodes);
    return thinning(cluster, curve->collective, curve->placement.nodes, &reach);
}

const gl_link *gl_rules_inside_link(const gl_cluster *cluster, const gl_network_query *query)
{
    return query->domains > 1 ? cluster->outside : cluster->intra.link;
}

/* Of GPUs that are wired to each other a small group has only the wires between its members. */
static double group_share(const gl_link *link, int ranks)
{
    const gl_figure *part = ranks < 4 ? &link->pair_bw_bytes_per_s : &link->quad_bw_bytes_per_s;
    if (ranks >= 8 || part->kind == GL_FIGURE_ABSENT)
        return 1;
    return part->value / link->bw_bytes_per_s.value;
}

static path intra_path(const gl_cluster *cluster, const gl_network_query *query,
                       const gl_curve_fit *fit)
{
    const gl_link *link = gl_rules_inside_link(cluster, query);
    if (fit != NULL)
        return path_of_curve(fit, link, 1);
    path p = path_of(link, query->collective);
    double share = group_share(link, query->placement.ranks_per_node);
    p.bw_bytes_per_s *= share;
    p.half_bytes *= share;
    return p;
}

static path inter_path(const gl_cluster *cluster, const gl_network_query *query,
                       const gl_curve_fit *fit)
{
    const gl_placement *want = &query->placement;
    double nics = gl_rules_nics_share(cluster, want), slowdown = gl_rules_thinning(cluster, query);
    if (fit != NULL)
        return path_of_curve(fit, cluster->inter.link,
                             nics / gl_rules_nics_share(cluster, &fit->curve->placement) *
                                 gl_rules_curve_thinning(cluster, fit->curve) / slowdown);
    path p = path_of(cluster->inter.link, query->collective);
    const gl_reach reach = reach_of(cluster, query);
    p.bw_bytes_per_s *= nics / slowdown;
    p.half_bytes *= nics;
    p.step_s += value_of(&cluster->inter.link->level_latency_s) * (levels_of(&reach) - 1);
    return p;
}

/* Fills the tiers that the placement uses; false when nothing is known of one. */
static bool find_paths(const gl_rules_curves *curves, rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    const gl_cluster *cluster = c->cluster;
    bool intra_known = gl_rules_inside_link(cluster, c->query) != NULL || curves->tier[0] != NULL;
    bool inter_known = cluster->inter.link != NULL || curves->tier[1] != NULL;
    if ((p->ranks_per_node > 1 && !intra_known) || (p->nodes > 1 && !inter_known))
        return false;
    if (p->ranks_per_node > 1)
        c->paths[0] = intra_path(cluster, c->query, curves->tier[0]);
    if (p->nodes > 1)
        c->paths[1] = inter_path(cluster, c->query, curves->tier[1]);
    return true;
}

/* ---- algorithms ---- */

static double base_s(const rule_case *c)
{
    return fmax(c->paths[0].base_s, c->paths[1].base_s);
}

static double wire_bytes(const rule_case *c)
{
    return c->query->size_bytes * gl_bus_factor(c->query->collective, c->query->placement.ranks);
}

/* Bytes that enter and leave a node when each node's sum exists once: of an all-reduce of N nodes.
 */
static double tree_bytes(const rule_case *c)
{
    double nodes = c->query->placement.nodes;
    return 2 * c->query->size_bytes * (nodes - 1) / nodes;
}

static candidate ring(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double steps = ring_steps(c->query->collective, p->ranks);
    double between = p->nodes > 1 ? ring_steps(c->query->collective, p->nodes) : 0;
    double w = wire_bytes(c);
    return (candidate){.name = c->query->collective == GL_SENDRECV ? "direct" : "ring",
                       .latency_s =
                           (steps - between) * c->paths[0].step_s + between * c->paths[1].step_s,
                       .bytes = {w, w},
                       .bandwidth_share = {1, 1}};
}

static double tree_latency(const rule_case *c)
{
    return 2 * log2(c->query->placement.nodes) * c->paths[1].step_s;
}

/* NCCL's double tree: a chain through the GPUs of a node, up and down, and two binary trees over
 * the nodes that carry half of the message each. */
static candidate tree(const rule_case *c)
{
    double chain = c->query->placement.ranks_per_node - 1;
    return (candidate){.name = "tree",
                       .latency_s = 2 * chain * c->paths[0].step_s + tree_latency(c),
                       .bytes = {2 * c->query->size_bytes, tree_bytes(c)},
                       .bandwidth_share = {TREE_BANDWIDTH, TREE_BANDWIDTH}};
}

/* Scatter inside the nodes, reduce each part between them on its own rail, gather inside. */
static candidate hierarchical(const rule_case *c)
{
    double r = c->query->placement.ranks_per_node;
    return (candidate){.name = "hierarchical",
                       .latency_s =
                           2 * (r - 1) * c->paths[0].step_s + tree_latency(c) + c->paths[1].base_s,
                       .bytes = {2 * c->query->size_bytes * (r - 1) / r, tree_bytes(c)},
                       .bandwidth_share = {1, 1},
                       .one_by_one = true};
}

/* A switch inside the node that adds up; where a curve was measured it says itself whether. */
static bool node_switch_reduces(const rule_case *c)
{
    const path *p = &c->paths[0];
    if (p->link == NULL || c->query->placement.ranks_per_node < 3)
        return false;
    if (p->fit != NULL)
        return strcmp(p->fit->curve->algorithm, "nvls") == 0;
    return p->link->switch_efficiency.kind != GL_FIGURE_ABSENT;
}

/* The switch's own path over the same link: a GPU sends its buffer once, receives 1/r of the sums
 * to hand on, and the result. A measured curve has moved its size, whatever that took. */
static void use_switch(const rule_case *c, candidate *a)
{
    const path *p = &c->paths[0];
    double size = c->query->size_bytes, r = c->query->placement.ranks_per_node;
    if (p->fit != NULL) {
        a->bytes[0] = size * p->wire_per_size;
        return;
    }
    a->latency_s += value_of(&p->link->switch_latency_s);
    a->bytes[0] = size * (r + 1) / r;
    a->bandwidth_share[0] =
        p->link->bw_bytes_per_s.value * p->link->switch_efficiency.value / p->bw_bytes_per_s;
}

static candidate nvls(const rule_case *c)
{
    bool across = c->query->placement.nodes > 1;
    candidate a = {.name = across ? "nvls-tree" : "nvls",
                   .latency_s = tree_latency(c),
                   .bytes = {0, tree_bytes(c)},
                   .bandwidth_share = {1, 1}};
    use_switch(c, &a);
    a.bandwidth_share[0] *= across ? SWITCH_TREE_BANDWIDTH : 1;
    return a;
}

/* The network's switches add up: every node sends its data once and receives the result once.
 * Inside the node by its switch, or as a scatter and a gather beside it. */
static candidate in_network(const rule_case *c)
{
    double size = c->query->size_bytes, r = c->query->placement.ranks_per_node;
    const gl_reach reach = reach_of(c->cluster, c->query);
    double levels = levels_of(&reach);
    candidate a = {.name = "in-network",
                   .latency_s = 2 * levels * c->paths[1].step_s,
                   .bytes = {2 * size * (r - 1) / r, size},
                   .bandwidth_share = {1, IN_NETWORK_BANDWIDTH}};
    if (node_switch_reduces(c))
        use_switch(c, &a);
    else
        a.latency_s += 2 * (r - 1) * c->paths[0].step_s;
    return a;
}

/* Bytes of a rank that leave its node. */
static double leaving_bytes(const gl_network_query *query)
{
    double n = query->placement.ranks, r = query->placement.ranks_per_node;
    return query->size_bytes * (n - r) / n;
}

/* What leaves a node for another rail is handed to that rail's GPU first where rails are joined by
 * nothing else (or only above the leaves: NCCL's PXN). */
double gl_rules_forwarded_bytes(const gl_cluster *cluster, const gl_network_query *query)
{
    double r = query->placement.ranks_per_node;
    return gl_is_pairwise(query->collective) && cluster->fabric != GL_FABRIC_FAT_TREE
               ? leaving_bytes(query) * (r - 1) / r
               : 0;
}

static candidate pairwise(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    double size = c->query->size_bytes, n = p->ranks, r = p->ranks_per_node;
    double forwarded = gl_rules_forwarded_bytes(c->cluster, c->query);
    double step = fmax(c->paths[0].step_s, c->paths[1].step_s);
    /* The NICs' bandwidth is the group's on a node: its r ranks share it. */
    return (candidate){.name = "pairwise",
                       .latency_s = ceil(log2(n)) * step,
                       .bytes = {size * (r - 1) / n + forwarded, leaving_bytes(c->query) * r},
                       .bandwidth_share = {1, 1}};
}

static void offer(const rule_case *c, candidate a, choices *all)
{
    double moves[2] = {0, 0};
    a.latency_s += base_s(c);
    for (int tier = 0; tier < 2; tier++) {
        if (c->paths[tier].link == NULL)
            continue;
        moves[tier] = bytes_s(&c->paths[tier], a.bytes[tier]) / a.bandwidth_share[tier];
        a.moves_s[tier] = moves[tier];
        a.tier_s[tier] = a.latency_s + moves[tier];
    }
    a.time_s = a.latency_s + (a.one_by_one ? moves[0] + moves[1] : fmax(moves[0], moves[1]));
    /* A schedule takes the longer of both tiers: the slower one has what adds up. */
    if (a.one_by_one)
        a.tier_s[a.tier_s[1] >= a.tier_s[0]] = a.time_s;
    if (all->count == 0 || a.time_s < all->all[all->best].time_s)
        all->best = all->count;
    all->all[all->count++] = a;
}

/* NCCL takes what it thinks is fastest. */
static choices choose(const rule_case *c)
{
    const gl_placement *p = &c->query->placement;
    choices all = {.count = 0};
    if (gl_is_pairwise(c->query->collective)) {
        offer(c, pairwise(c), &all);
        return all;
    }
    offer(c, ring(c), &all);
    if (c->query->collective != GL_ALL_REDUCE || p->ranks < 3)
        return all;
    offer(c, tree(c), &all);
    if (node_switch_reduces(c))
        offer(c, nvls(c), &all);
    if (p->nodes > 1 && p->ranks_per_node > 1)
        offer(c, hierarchical(c), &all);
    if (p->nodes > 1 && c->cluster->in_network_reduction)
        offer(c, in_network(c), &all);
    return all;
}

/* What a tier would take with the other one free: of neither bytes nor steps. */
static double alone_s(const rule_case *c, int tier)
{
    rule_case one = *c;
    if (c->paths[tier].link == NULL)
        return 0;
    one.paths[!tier] = (path){.link = NULL};
    choices all = choose(&one);
    return all.all[all.best].time_s;
}

/* ---- answers ---- */

/* "data/links/nvlink4 + ib-ndr", "curve 3 of lab + data/links/ib-ndr" */
static const char *sources(const rule_case *c, gl_arena *arena)
{
    const char *text = "";
    const gl_tier *tiers[2] = {&c->cluster->intra, &c->cluster->inter};
    for (int tier = 0; tier < 2; tier++) {
        const path *p = &c->paths[tier];
        bool first = text[0] == '\0';
        if (p->link == NULL)
            continue;
        if (p->fit != NULL)
            text = gl_arena_printf(arena, "%s%scurve %lld of %s", text, first ? "" : " + ",
                                   (long long)p->fit->curve->id,
                                   tiers[tier]->calibration != NULL ? tiers[tier]->calibration
                                                                    : c->cluster->name);
        else
            text = gl_arena_printf(arena, "%s%s%s", text,
                                   first                     ? "data/links/"
                                   : c->paths[0].fit != NULL ? " + data/links/"
                                                             : " + ",
                                   p->link->name);
    }
    return text;
}

static const char *seconds(double time_s, gl_arena *arena)
{
    return gl_quantity_text(time_s, GL_SECONDS, arena);
}

/* "; inside 118 MB at 306 GB/s over nvlink4: 405 us" */
static const char *explain_tier(const rule_case *c, const candidate *a, int tier, gl_arena *arena)
{
    const path *p = &c->paths[tier];
    double moves = a->moves_s[tier];
    if (p->link == NULL)
        return "";
    const char *how =
        p->fit != NULL
            ? gl_arena_printf(arena, "as curve %lld moves them%s", (long long)p->fit->curve->id,
                              p->share != 1 ? gl_arena_printf(arena, " x %.4g", p->share) : "")
            : gl_arena_printf(arena, "at %.3g GB/s (half of it at %.3g MB) over %s",
                              p->bw_bytes_per_s * a->bandwidth_share[tier] / 1e9,
                              p->half_bytes / 1e6, p->link->name);
    return gl_arena_printf(arena, "; %s %.0f B %s: %s", tier == 0 ? "inside" : "between nodes",
                           a->bytes[tier], how, seconds(moves, arena));
}

static const char *explain(const rule_case *c, const choices *all, gl_arena *arena)
{
    const gl_placement *p = &c->query->placement;
    const candidate *a = &all->all[all->best];
    const char *others = "";
    for (int i = 0; i < all->count; i++)
        if (i != all->best)
            others = gl_arena_printf(arena, "%s%s %s %s", others,
                                     others[0] != '\0' ? "," : "; slower:", all->all[i].name,
                                     seconds(all->all[i].time_s, arena));
    return gl_arena_printf(arena, "%s over %d ranks on %d node%s: latency %s%s%s%s%s", a->name,
                           p->ranks, p->nodes, p->nodes == 1 ? "" : "s",
                           seconds(a->latency_s, arena), explain_tier(c, a, 0, arena),
                           explain_tier(c, a, 1, arena),
                           c->paths[0].link == NULL || c->paths[1].link == NULL ? ""
                           : a->one_by_one                                      ? "; one by one"
                                           : "; the slower decides",
                           others);
}

/* The figure behind the tier that decides, and the rule. */
static double error_of(const rule_case *c, const candidate *a, const path *slower)
{
    bool switched = strncmp(a->name, "nvls", 4) == 0 && c->paths[0].fit == NULL;
    if (!switched)
        return hypot(slower->error_frac, RULE_ERROR_FRAC);
    assert(c->paths[0].link != NULL); /* node_switch_reduces() has asked */
    double figures =
        fmax(gl_figure_sigma(&c->paths[0].link->switch_efficiency), c->paths[1].error_frac);
    return hypot(figures,
                 c->query->placement.nodes > 1 ? SWITCH_NODES_ERROR_FRAC : RULE_ERROR_FRAC);
}

bool gl_rules_time(const gl_cluster *cluster, const gl_network_query *query,
                   const gl_rules_curves *curves, gl_arena *arena, gl_network_time *out)
{
    rule_case c = {.query = query, .cluster = cluster};
    if (!find_paths(curves, &c))
        return false;
    choices all = choose(&c);
    const candidate *a = &all.all[all.best];
    const path *slower = &c.paths[a->tier_s[1] >= a->tier_s[0]];
    bool measured = (c.paths[0].link == NULL || c.paths[0].fit != NULL) &&
                    (c.paths[1].link == NULL || c.paths[1].fit != NULL);
    gl_network_time t = {
        .time_s = a->time_s,
        .tier_s = {a->tier_s[0], a->tier_s[1]},
        .error_frac = error_of(&c, a, slower),
        .evidence = measured ? GL_EVIDENCE_EXTRAPOLATED_RANKS : GL_EVIDENCE_CATALOGUE,
        .algorithm = a->name,
        .transport = slower->fit != NULL ? slower->fit->curve->transport : slower->link->transport,
        .busbw_bytes_per_s = wire_bytes(&c) / a->time_s,
        .source = "",
        .formula = ""};
    if (!query->figures_only) {
        t.source = sources(&c, arena);
        t.formula = explain(&c, &all, arena);
        for (int tier = 0; tier < 2; tier++)
            t.alone_s[tier] = alone_s(&c, tier);
    }
    *out = t;
    return true;
}

double gl_rules_intra_s(const gl_cluster *cluster, const gl_network_query *query,
                        const gl_rules_curves *curves, double bandwidth_factor, double *error_frac)
{
    bool known = gl_rules_inside_link(cluster, query) != NULL || curves->tier[0] != NULL;
    if (query->placement.ranks_per_node < 2 || !known)
        return 0;
    rule_case c = {.query = query, .cluster = cluster};
    path *inside = &c.paths[0];
    *inside = intra_path(cluster, query, curves->tier[0]);
    inside->bw_bytes_per_s *= bandwidth_factor;
    inside->half_bytes *= bandwidth_factor;
    inside->share *= bandwidth_factor;
    choices all = choose(&c);
    const candidate *a = &all.all[all.best];
    if (error_frac != NULL)
        *error_frac = error_of(&c, a, inside);
    return a->tier_s[0];
}

double gl_rules_intra_least_s(const gl_cluster *cluster, const gl_network_query *query)
{
    const gl_link *link = gl_rules_inside_link(cluster, query);
    if (query->placement.ranks_per_node < 2 || link == NULL)
        return 0;
    rule_case c = {.query = query, .cluster = cluster};
    const double share = group_share(link, query->placement.ranks_per_node);
    c.paths[0] =
        (path){.link = link, .bw_bytes_per_s = share * link->bw_bytes_per_s.value, .share = 1};
    choices all = choose(&c);
    return all.all[all.best].tier_s[0];
}

double gl_rules_inter_s(const gl_cluster *cluster, const gl_network_query *query,
                        double *error_frac)
{
    if (query->placement.nodes < 2 || cluster->inter.link == NULL)
        return 0;
    rule_case c = {.query = query, .cluster = cluster};
    c.paths[1] = inter_path(cluster, query, NULL);
    choices all = choose(&c);
    const candidate *a = &all.all[all.best];
    if (error_frac != NULL)
        *error_frac = error_of(&c, a, &c.paths[1]);
    return a->tier_s[1];
}

double gl_rules_inter_least_s(const gl_cluster *cluster, const gl_network_query *query)
{
    const gl_link *link = cluster->inter.link;
    if (query->placement.nodes < 2 || link == NULL)
        return 0;
    rule_case c = {.query = query, .cluster = cluster};
    double nics = gl_rules_nics_share(cluster, &query->placement);
    c.paths[1] =
        (path){.link = link, .bw_bytes_per_s = nics * link->bw_bytes_per_s.value, .share = 1};
    choices all = choose(&c);
    return all.all[all.best].tier_s[1];
}
