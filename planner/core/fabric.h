/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Switches and links of a network, counted: the rules of reference designs, which step with scale
 * instead of growing smoothly. docs/cost.md says where each rule comes from.
 */
#ifndef GL_CORE_FABRIC_H
#define GL_CORE_FABRIC_H

#include "common/error.h"
#include "planner/core/hardware.h"

#include <stdint.h>

typedef struct gl_fabric_request {
    gl_fabric kind;
    int64_t nodes;
    int ports_per_node;           /* NIC ports of a node in each plane */
    int planes;                   /* trees apart from each other, each with all nodes; ≥ 1 */
    int radix;                    /* ports of a switch at the speed of the link */
    double oversubscription;      /* ≥ 1: downlinks of a leaf over its uplinks */
    double core_oversubscription; /* ≥ 1: of a spine, when there are three tiers */
} gl_fabric_request;

/* What a cluster of so many nodes asks of switches with `radix` ports. */
gl_fabric_request gl_fabric_request_of(const gl_cluster *cluster, int64_t nodes, int radix);

/* Of all planes and rails together. Links are counted by tier, because publications differ in which
 * they count: between switches alone, those of nodes apart, or all. */
typedef struct gl_fabric_counts {
    int tiers;         /* of switches: 1 … 3; 0 when there is no network */
    int down, up;      /* ports of a leaf to nodes and to spines */
    int64_t trees;     /* networks that share no switch: planes, and rails where those are apart */
    int64_t endpoints; /* NIC ports */
    int64_t leaves, spines, cores;
    int64_t node_links, spine_links, core_links; /* node to leaf, leaf to spine, spine to core */
} gl_fabric_counts;

static inline int64_t gl_fabric_switches(const gl_fabric_counts *counts)
{
    return counts->leaves + counts->spines + counts->cores;
}

/* Of the ports of a switch those that lead down: ⌊ports·o/(1+o)⌋, with o times as many as lead up.
 */
int gl_fabric_down(int ports, double oversubscription);

/* Smallest divisor of `ports` that is at least `needed`: each leaf then has as many links to one
 * spine as to another. `ports` itself when `needed` is larger. */
int64_t gl_fabric_divisor(int64_t needed, int64_t ports);

/*
 * One tier where a switch has ports for all endpoints of a tree, two where a spine has a port for
 * each leaf, otherwise three. Rail-only: a tree for each rail. Since links are spread evenly, a
 * split of ports that is thinner can need more switches than a fuller one: of those that are no
 * thinner than asked the one with the fewest counts. Fails when three tiers are too few.
 */
bool gl_fabric_count(const gl_fabric_request *request, gl_fabric_counts *counts, gl_error *err);

#endif
