/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the groups of a parallel layout sit on nodes. */
#ifndef GL_CORE_LAYOUT_H
#define GL_CORE_LAYOUT_H

#include "planner/core/hardware.h"
#include "planner/core/workload.h"

typedef enum gl_group {
    GL_GROUP_TP,
    GL_GROUP_CP,
    GL_GROUP_DP,        /* data parallel replicas of dense weights: dp·cp ranks */
    GL_GROUP_EP,        /* ep consecutive ranks of dp·cp */
    GL_GROUP_EXPERT_DP, /* replicas of one expert: dp·cp/ep ranks */
    GL_GROUP_SHARD,     /* HSDP: `shard` consecutive ranks of dp·cp; all of them when not stated */
    GL_GROUP_REPLICATE, /* HSDP: the ranks that hold the same shard */
    GL_GROUP_PP,        /* two neighbouring stages: the worst (farthest) pair */
    GL_GROUP_EMBEDDING, /* first and last stage */
    GL_GROUP_WORLD,     /* all ranks */
    GL_GROUP_COUNT
} gl_group;

typedef struct gl_layout {
    gl_placement groups[GL_GROUP_COUNT]; /* one rank when the group is trivial */
    /* Domains of a fast link (pairs of cards) over which a group's ranks of one node spread; 0 or
     * 1: one. */
    int domains[GL_GROUP_COUNT];
    gl_reach reach[GL_GROUP_COUNT]; /* all 0 where switches are not known */
} gl_layout;

/*
 * Rank of (tp, cp, dp, pp) coordinates: mixed radix in parallel->order, first fastest; node =
 * rank / gpus_per_node. Replicas (dp·cp) are numbered in the same order. For each group kind the
 * placement of the group that spreads over most nodes; between equals, the one with fewest ranks on
 * its fullest node. concurrent_groups: how many groups of the kind share a node: of those that have
 * ranks on a node, at most (of pairs of stages gpus_per_node / ranks_per_node, at least 1, and
 * never more than there are groups).
 */
gl_layout gl_layout_build(const gl_parallel *parallel, int gpus_per_node);

/* Counts the domains of so many neighbouring GPUs, which divide a node, over which each group's
 * ranks of one node spread. */
void gl_layout_mark_domains(gl_layout *layout, const gl_parallel *parallel, int domain_gpus);

/* Counts the switches that each group touches: leaves of so many nodes, and pods of so many.
 * Strides count: two nodes that are a leaf apart lie under two leaves. */
void gl_layout_mark_switches(gl_layout *layout, const gl_parallel *parallel, int gpus_per_node,
                             int nodes_on_leaf, int nodes_in_pod);

/* The same over sites of so many GPUs: nodes are sites, ranks_per_node ranks on the fullest site,
 * concurrent_groups the groups of the kind that share a site's line. */
gl_layout gl_layout_over_sites(const gl_parallel *parallel, int gpus_per_site);

#endif
