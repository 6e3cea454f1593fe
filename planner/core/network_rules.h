/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times from what is known of each tier, put together by algorithm. Internal to the core. */
#ifndef GL_CORE_NETWORK_RULES_H
#define GL_CORE_NETWORK_RULES_H

#include "planner/core/network.h"

/* What joins the ranks of a group inside a node: where they lie in several domains (pairs of
 * bridged cards) the link between these, which every ring and tree over them crosses. NULL: not
 * known. */
const gl_link *gl_rules_inside_link(const gl_cluster *cluster, const gl_network_query *query);

/* NICs (fractions allowed) that one group can use on its fullest node: its own ranks' NICs, and no
 * more than its share among the groups that work there at the same time. */
double gl_rules_nics_share(const gl_cluster *cluster, const gl_placement *placement);

/* Bytes of a rank's all-to-all that pass the inside of its node once more, to the GPU whose rail
 * leads to where they go (NCCL's PXN): none on a fat tree. */
double gl_rules_forwarded_bytes(const gl_cluster *cluster, const gl_network_query *query);

/* Nodes that one leaf switch joins (of each rail, where leaves join rails), and that spines join
 * without a core; of a cluster whose radix is known. Where one switch has a port for every NIC it
 * joins all nodes. */
int gl_rules_nodes_on_leaf(const gl_cluster *cluster);
int gl_rules_nodes_in_pod(const gl_cluster *cluster);

/* Levels of switches that a message between so many nodes side by side climbs: 1 = one leaf, 2 =
 * leaf and spine, 3 = a core above them. Without a radix: 1. */
int gl_rules_switch_levels(const gl_cluster *cluster, int nodes);

/* ≥ 1: times that the traffic of a group takes longer for thinned uplinks of leaves, and of spines
 * where it crosses cores. A ring or tree is taken to cross everywhere, which is cautious for ranks
 * that are ordered by leaf; of an all-to-all the share of nodes elsewhere does. Where switches are
 * not known all that moves between nodes crosses leaves. */
double gl_rules_thinning(const gl_cluster *cluster, const gl_network_query *query);

/* The same of a group that a curve was measured over: side by side. */
double gl_rules_curve_thinning(const gl_cluster *cluster, const gl_curve *curve);

/* Curves that stand for the links of a tier, NULL where the catalogue serves: one measured inside a
 * node, and one over several nodes with one rank on each. */
typedef struct gl_rules_curves {
    const gl_curve_fit *tier[2];
} gl_rules_curves;

/*
 * The fastest algorithm over the tiers that the placement uses. Returns false when nothing is known
 * of a tier that is needed.
 */
bool gl_rules_time(const gl_cluster *cluster, const gl_network_query *query,
                   const gl_rules_curves *curves, gl_arena *arena, gl_network_time *out);

/* What of a collective over several nodes the inside of a node takes, by its own evidence times
 * `bandwidth_factor`: 0 when nothing is known. `error_frac`, of one sigma, may be NULL. */
double gl_rules_intra_s(const gl_cluster *cluster, const gl_network_query *query,
                        const gl_rules_curves *curves, double bandwidth_factor, double *error_frac);

/* The same at the nominal bandwidth of the link there and without latency: no measurement over this
 * link can have taken less. 0 when no link is named. */
double gl_rules_intra_least_s(const gl_cluster *cluster, const gl_network_query *query);

/* What of a collective over several nodes their NICs and switches take by the catalogue, and at the
 * NICs' nominal bandwidth without latency or thinning, which no measurement through them can have
 * taken less than. 0 when no link is named between nodes. `error_frac`, of one sigma, may be NULL.
 */
double gl_rules_inter_s(const gl_cluster *cluster, const gl_network_query *query,
                        double *error_frac);
double gl_rules_inter_least_s(const gl_cluster *cluster, const gl_network_query *query);

#endif
