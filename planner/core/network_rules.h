/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times from catalogue links: one tier, and two tiers put together. Internal to the core. */
#ifndef GL_CORE_NETWORK_RULES_H
#define GL_CORE_NETWORK_RULES_H

#include "planner/core/network.h"

/* NICs (fractions allowed) that one group can use on its fullest node: its own ranks' NICs, and no
 * more than its share among the groups that work there at the same time. */
double gl_rules_nics_share(const gl_cluster *cluster, const gl_placement *placement);

/* Does traffic between the nodes of the group cross a leaf switch? Without a stated radix: yes. */
bool gl_rules_crosses_leaf(const gl_cluster *cluster, int nodes);

/*
 * Time over the catalogue links of the tiers that the placement uses. `intra_busbw` > 0 replaces
 * the intra-node link by a measured large-message busbw. Returns false when a link that is needed
 * is not in the cluster.
 */
bool gl_rules_time(const gl_cluster *cluster, const gl_network_query *query, double intra_busbw,
                   gl_arena *arena, gl_network_time *out);

#endif
