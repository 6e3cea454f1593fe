/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes to seconds: the best evidence that a cluster offers for one collective on one group.
 *
 * In this order: a curve measured for exactly this placement; the family of curves over other rank
 * counts, or one such curve, scaled; algorithms over two tiers from per-tier curves or catalogue
 * links. The rules are in docs/models/network.md.
 */
#ifndef GL_CORE_NETWORK_H
#define GL_CORE_NETWORK_H

#include "planner/core/curve.h"
#include "planner/core/hardware.h"

typedef struct gl_network gl_network;

/* Prepares the cluster's curves for queries (fits them). Curves that cannot be fitted are left out
 * and named in `warnings` (NULL-terminated array in the arena; never NULL). */
gl_network *gl_network_create(const gl_cluster *cluster, gl_arena *arena,
                              const char *const **warnings);

/* All fitted curves, for reports. */
const gl_curve_fit *gl_network_fits(const gl_network *network, size_t *count);

typedef struct gl_network_query {
    gl_collective collective;
    gl_placement placement;
    double size_bytes;
    bool in_place;            /* which variant training uses; the other serves when absent */
    bool allow_extrapolation; /* answer even beyond the rank counts that the evidence carries */
    bool figures_only;        /* leave `source`, `formula` and `alone_s` empty: fast, and
                                 allocates nothing */
    gl_reach reach;           /* switches that the group touches (gl_layout); all 0: as many as its
                                 nodes, side by side, need */
    int domains;              /* of a fast link over which the group's ranks of one node spread
                                 (gl_layout); 0 or 1: one */
    gl_placement over_sites;  /* where the cluster has several sites: sites that the group touches
                                 (as nodes), its ranks on the fullest, groups that share its line;
                                 all 0 = one site */
} gl_network_query;

typedef struct gl_network_time {
    double time_s;     /* of one call; 0 for one rank */
    double tier_s[2];  /* of the inside of a node and of what lies between nodes, the call's latency
                          in both: the slower decides; 0 = not used, or inside not known */
    double alone_s[2]; /* what each would take if the other were free, latency and bytes; not
                          filled in with `figures_only`. A curve over nodes cannot be taken apart:
                          between nodes all of it */
    double forwarded_bytes; /* of a rank that pass the inside of a node once more, on their way to
                               another rail */
    double way_s;           /* of a send's time_s, its way over the wire: the link carries the next
                               message meanwhile; 0 for what is not a send */
    double error_frac;      /* one-sigma relative */
    double session_error_frac; /* of it: what another session would have measured */
    double busbw_bytes_per_s;  /* size × bus factor / time */
    gl_evidence evidence;
    const char *algorithm; /* "ring", "pairwise", … or the curve's own; never NULL */
    gl_transport transport;
    const char *source;  /* "curve 3 of h200-nvlink" or "data/links/ib-ndr"; never NULL */
    const char *formula; /* with the numbers put in, for `explain`; in the arena */
} gl_network_time;

/* Refuses (GL_ERROR_INPUT, with what to measure) when the evidence does not carry the answer. */
bool gl_network_eval(const gl_network *network, const gl_network_query *query, gl_arena *arena,
                     gl_network_time *out, gl_error *err);

#endif
