/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/network.h"

#include "common/units.h"
#include "planner/core/family.h"
#include "planner/core/network_rules.h"

#include <math.h>

/* One node type's rank scaling does not fit another's (docs/models/network.md): beyond this ratio
 * of rank counts one curve is not used unless the user insists, and a family of several … */
static const double RANK_RATIO_MAX = 4.0, FAMILY_RATIO_MAX = 8.0;
/* … and within it one curve's error grows by this much per octave of ranks. */
static const double RANK_ERROR_PER_OCTAVE = 0.25;
/* Sigma of taking one collective's time from a related one's curve. */
static const double RELATED_ERROR = 0.10;
/* Sigma when groups share a node over something else than an NVLink switch, unmeasured. */
static const double SHARING_ERROR = 0.30;
/* One-way delays that a message over a long line takes before it flows: NCCL's rendezvous and the
 * opening window of TCP (docs/models/network.md). */
static const double LINE_DELAYS = 6.0;
static const double LINE_ERROR_FRAC = 0.25;

/* A prepared curve: its fit and, where other rank counts were measured, its family. */
typedef struct prepared {
    const gl_curve_fit *fit;
    const gl_family *family; /* NULL: alone */
    const char *source;      /* "curve 3 of lab" */
    bool other_link;         /* faster than the cluster's link inside a node can be */
    bool other_nics;         /* faster than its NICs can be */
} prepared;

/* The curves of one collective. */
typedef struct curve_set {
    prepared *items;
    size_t count;
} curve_set;

struct gl_network {
    const gl_cluster *cluster;
    gl_curve_fit *fits;
    size_t fit_count;
    curve_set shelves[GL_COLLECTIVE_COUNT];
};

static const char *curve_source(const gl_cluster *cluster, const gl_curve *curve, gl_arena *arena)
{
    const gl_tier *tier = curve->placement.nodes > 1 ? &cluster->inter : &cluster->intra;
    return gl_arena_printf(arena, "curve %lld of %s", (long long)curve->id,
                           tier->calibration != NULL ? tier->calibration : cluster->name);
}

static void put_on_shelves(gl_network *network, gl_arena *arena)
{
    for (int c = 0; c < GL_COLLECTIVE_COUNT; c++) {
        curve_set *shelf = &network->shelves[c];
        shelf->items = GL_ARENA_NEW(arena, prepared, network->fit_count);
        for (size_t i = 0; i < network->fit_count; i++) {
            const gl_curve_fit *fit = &network->fits[i];
            if (fit->curve->collective == (gl_collective)c)
                shelf->items[shelf->count++] = (prepared){
                    .fit = fit, .source = curve_source(network->cluster, fit->curve, arena)};
        }
    }
}

static bool has_count(const gl_curve_fit *const *members, size_t count, int ranks)
{
    for (size_t i = 0; i < count; i++)
        if (members[i]->curve->placement.ranks == ranks)
            return true;
    return false;
}

static void sort_by_ranks(const gl_curve_fit **members, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const gl_curve_fit *fit = members[i];
        size_t j = i;
        for (; j > 0 && members[j - 1]->curve->placement.ranks > fit->curve->placement.ranks; j--)
            members[j] = members[j - 1];
        members[j] = fit;
    }
}

/* The family of one prepared curve, shared by all its members. */
static void find_family(curve_set *shelf, size_t first, gl_arena *arena)
{
    const gl_curve_fit **members = GL_ARENA_NEW(arena, const gl_curve_fit *, shelf->count);
    const gl_curve *own = shelf->items[first].fit->curve;
    size_t count = 0;
    if (shelf->items[first].family != NULL || own->placement.ranks < 2)
        return;
    for (size_t i = first; i < shelf->count; i++) {
        const gl_curve *curve = shelf->items[i].fit->curve;
        if (gl_family_same(own, curve) && curve->placement.ranks > 1 &&
            !has_count(members, count, curve->placement.ranks))
            members[count++] = shelf->items[i].fit;
    }
    if (count < 2)
        return;
    sort_by_ranks(members, count);
    const gl_family *family = gl_family_build(members, count, arena);
    for (size_t i = first; i < shelf->count; i++)
        if (gl_family_same(own, shelf->items[i].fit->curve))
            shelf->items[i].family = family;
}

/* A curve was measured through the link inside nodes, which need not be the one that the cluster
 * has now. A tenth is left for the nominal figure and the measurement. */
static const double MEASURED_OVER_LEAST = 0.9;

static gl_network_query largest_call(const gl_curve_fit *fit)
{
    return (gl_network_query){.collective = fit->curve->collective,
                              .placement = fit->curve->placement,
                              .size_bytes = fit->size_bytes[fit->quality.points - 1],
                              .figures_only = true};
}

static bool is_over_other_link(const gl_cluster *cluster, const gl_curve_fit *fit)
{
    const gl_network_query query = largest_call(fit);
    /* Curves inside a node follow another bandwidth that is asked about by themselves. */
    bool across = query.placement.nodes > 1;
    double asked = cluster->intra.bandwidth_factor, factor = across && asked > 0 ? asked : 1;
    return fit->time_s[fit->quality.points - 1] <
           MEASURED_OVER_LEAST * factor * gl_rules_intra_least_s(cluster, &query);
}

/* A curve follows its NICs where another bandwidth of them is asked about. */
static bool is_over_other_nics(const gl_cluster *cluster, const gl_curve_fit *fit)
{
    const gl_network_query query = largest_call(fit);
    return fit->time_s[fit->quality.points - 1] <
           MEASURED_OVER_LEAST * gl_rules_inter_least_s(cluster, &query);
}

/* "curve 3 of lab (all_reduce over 32 ranks, 8 in a node) is faster than pcie5-x16 inside a node
 * can be …" */
static const char *other_text(const prepared *item, const char *what, const char *link,
                              gl_arena *arena)
{
    const gl_curve *curve = item->fit->curve;
    return gl_arena_printf(arena,
                           "%s (%s over %d ranks, %d in a node) is faster than %s can be: it was "
                           "measured over %s; %s decides where it is slower",
                           item->source, gl_collective_name(curve->collective),
                           curve->placement.ranks, curve->placement.ranks_per_node, what,
                           item->other_nics ? "other NICs" : "another link", link);
}

/* Adds a text for each tier that is not the one described. */
static size_t mark_other_link(const gl_cluster *cluster, prepared *item, const char **texts,
                              gl_arena *arena)
{
    size_t count = 0;
    item->other_link = is_over_other_link(cluster, item->fit);
    if (item->other_link) {
        const char *link = cluster->intra.link->name;
        texts[count++] =
            other_text(item, gl_arena_printf(arena, "%s inside a node", link), link, arena);
    }
    item->other_nics = is_over_other_nics(cluster, item->fit);
    if (item->other_nics) {
        const char *link = cluster->inter.link->name;
        int nics = cluster->nics_per_node > 0 ? cluster->nics_per_node : 1;
        const char *what =
            gl_arena_printf(arena, "%d NIC%s of %s", nics, nics == 1 ? "" : "s", link);
        texts[count++] = other_text(item, what, link, arena);
    }
    return count;
}

gl_network *gl_network_create(const gl_cluster *cluster, gl_arena *arena,
                              const char *const **warnings)
{
    gl_network *network = GL_ARENA_NEW(arena, gl_network, 1);
    const gl_tier *tiers[] = {&cluster->intra, &cluster->inter};
    size_t count = tiers[0]->curve_count + tiers[1]->curve_count, warned = 0;
    const char **texts = GL_ARENA_NEW(arena, const char *, 2 * count + 1);
    network->cluster = cluster;
    network->fits = GL_ARENA_NEW(arena, gl_curve_fit, count);
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < tiers[t]->curve_count; i++) {
            const gl_curve *curve = &tiers[t]->curves[i];
            gl_error err;
            if (gl_curve_fit_build(curve,
                                   gl_curve_twin(tiers[t]->curves, tiers[t]->curve_count, curve),
                                   arena, &network->fits[network->fit_count], &err))
                network->fit_count++;
            else
                texts[warned++] = gl_arena_printf(arena, "not used: %s", err.message);
        }
    }
    put_on_shelves(network, arena);
    for (int c = 0; c < GL_COLLECTIVE_COUNT; c++)
        for (size_t i = 0; i < network->shelves[c].count; i++) {
            prepared *item = &network->shelves[c].items[i];
            warned += mark_other_link(cluster, item, texts + warned, arena);
            find_family(&network->shelves[c], i, arena);
        }
    *warnings = texts;
    return network;
}

const gl_curve_fit *gl_network_fits(const gl_network *network, size_t *count)
{
    *count = network->fit_count;
    return network->fits;
}

static bool same_tier(const gl_placement *a, const gl_placement *b)
{
    return (a->nodes > 1) == (b->nodes > 1);
}

static double octaves(int have, int want)
{
    return have == want ? 0 : fabs(log2((double)have / want));
}

/* Distance of a curve's placement from the query's: 0 = the same ranks on the same nodes; otherwise
 * octaves of ranks plus penalties for another shape. INFINITY: not comparable. */
static double distance(const gl_placement *have, const gl_placement *want)
{
    if (!same_tier(have, want) || have->ranks < 2)
        return (double)INFINITY;
    double d = octaves(have->ranks, want->ranks);
    if (want->nodes > 1) {
        bool single_have = have->ranks_per_node == 1, single_want = want->ranks_per_node == 1;
        if (single_have != single_want)
            return (double)INFINITY;
        d +=
            octaves(have->nodes, want->nodes) + octaves(have->ranks_per_node, want->ranks_per_node);
        d += 0.25 * (have->concurrent_groups != want->concurrent_groups);
    }
    return d;
}

static bool carries(const gl_curve_fit *fit, const gl_network_query *query)
{
    return query->allow_extrapolation || gl_curve_covers(fit, query->size_bytes);
}

/* Measured within a domain of fast links (pairs of bridged cards) and asked for across them, or the
 * reverse: another link. */
static bool is_other_link(const gl_cluster *cluster, const gl_curve *curve,
                          const gl_network_query *query)
{
    int domain = gl_cluster_domain(cluster);
    return domain < cluster->gpus_per_node &&
           (curve->placement.ranks_per_node > domain) != (query->domains > 1);
}

/* The fitted curve of a collective nearest to the placement; the wanted variant (in place or not)
 * wins among equals. */
static const prepared *nearest(const gl_network *network, gl_collective collective,
                               const gl_network_query *query, double *found)
{
    const curve_set *shelf = &network->shelves[collective];
    const prepared *best = NULL;
    double best_distance = INFINITY;
    for (size_t i = 0; i < shelf->count; i++) {
        const gl_curve *curve = shelf->items[i].fit->curve;
        double d = distance(&curve->placement, &query->placement);
        d += curve->in_place != query->in_place ? 1e-6 : 0;
        if (d < best_distance && carries(shelf->items[i].fit, query) &&
            !is_other_link(network->cluster, curve, query)) {
            best_distance = d;
            best = &shelf->items[i];
        }
    }
    *found = best_distance < 1e-3 ? 0 : best_distance;
    return best;
}

/* Groups side by side on a node: free behind an NVLink switch or when measured so. */
static bool shares_unmeasured(const gl_curve *curve, const gl_placement *want)
{
    return want->nodes == 1 && want->concurrent_groups != curve->placement.concurrent_groups &&
           curve->transport != GL_TRANSPORT_NVLINK;
}

/* Bandwidth that the curve's group had over that of the wanted: its share of NICs, and of uplinks
 * that are thinned. A trend between counts that were measured has the latter in it. */
static double share_ratio(const gl_cluster *cluster, const gl_curve *curve,
                          const gl_network_query *query, bool thinned)
{
    const gl_placement *want = &query->placement;
    if (want->nodes <= 1)
        return 1;
    double nics =
        gl_rules_nics_share(cluster, &curve->placement) / gl_rules_nics_share(cluster, want);
    return thinned
               ? nics * gl_rules_thinning(cluster, query) / gl_rules_curve_thinning(cluster, curve)
               : nics;
}

/*
 * A curve's time moved to another placement. With t(S) the curve, t0 its floor:
 *     t' = t0·(1 + log2 n' / log2 n)/2 + (t(S) − t0)·f(n')/f(n)·share/share'
 * Half of the floor is taken as the call itself and half as growing with the depth of a tree, which
 * is what NCCL uses for small messages; the rest moves the ring's bytes. share: of NICs and
 * uplinks.
 */
static double moved_time(const gl_cluster *cluster, const gl_curve_fit *fit, double time_s,
                         const gl_network_query *query)
{
    const gl_placement *have = &fit->curve->placement, *want = &query->placement;
    gl_collective collective = fit->curve->collective;
    double floor_s = fmin(fit->quality.floor_s, time_s);
    double depth = log2(want->ranks) / log2(have->ranks);
    double bytes = gl_bus_factor(collective, want->ranks) / gl_bus_factor(collective, have->ranks);
    double share = share_ratio(cluster, fit->curve, query, true);
    return floor_s * (1 + depth) / 2 + (time_s - floor_s) * bytes * share;
}

/* Can this curve's family answer for the placement? Its counts tell of others of the same shape. */
static bool family_fits(const prepared *item, const gl_placement *want)
{
    const gl_placement *have = &item->fit->curve->placement;
    return item->family != NULL &&
           (want->nodes == 1 || have->ranks_per_node == want->ranks_per_node);
}

/* ", moved to 8 ranks on 1 node by the trend over 2 measured counts" */
static const char *moved_words(const prepared *item, const gl_network_query *query, double d,
                               gl_arena *arena)
{
    const gl_placement *want = &query->placement;
    if (d == 0)
        return "";
    const char *to = gl_arena_printf(arena, "%d ranks on %d node%s", want->ranks, want->nodes,
                                     want->nodes == 1 ? "" : "s");
    if (!family_fits(item, want) || item->fit->curve->placement.ranks == want->ranks)
        return gl_arena_printf(arena, ", moved to %s", to);
    return gl_arena_printf(arena, ", %s to %s by the trend over %zu measured counts",
                           gl_family_between(item->family, want->ranks) ? "interpolated" : "moved",
                           to, gl_family_count(item->family));
}

static const char *curve_formula(const prepared *item, const gl_network_query *query, double d,
                                 double size_bytes, gl_arena *arena)
{
    const gl_curve_fit *fit = item->fit;
    const gl_curve *c = fit->curve;
    gl_collective asked = query->collective;
    const char *method = size_bytes > fit->size_bytes[fit->quality.points - 1]
                             ? "slope of its last octaves"
                         : size_bytes < fit->size_bytes[0]
                             ? "its latency floor"
                             : gl_interpolation_name(gl_curve_method_at(fit, size_bytes));
    return gl_arena_printf(
        arena, "%s%s%s measured over %d ranks on %d node%s at %zu sizes; %s at %.0f B%s",
        asked != c->collective ? gl_collective_name(asked) : "",
        asked != c->collective ? " from " : "", gl_collective_name(c->collective),
        c->placement.ranks, c->placement.nodes, c->placement.nodes == 1 ? "" : "s",
        fit->quality.points, method, size_bytes, moved_words(item, query, d, arena));
}

static gl_curve_time move_time(const gl_network *network, const prepared *item, double d,
                               const gl_network_query *query, double size_bytes)
{
    const gl_cluster *cluster = network->cluster;
    const gl_placement *have = &item->fit->curve->placement, *want = &query->placement;
    if (d == 0)
        return gl_curve_eval(item->fit, size_bytes);
    if (family_fits(item, want) && have->ranks != want->ranks)
        return gl_family_eval(item->family, want->ranks,
                              share_ratio(cluster, item->fit->curve, query,
                                          !gl_family_between(item->family, want->ranks)),
                              size_bytes);
    gl_curve_time t = gl_curve_eval(item->fit, size_bytes);
    t.time_s = moved_time(cluster, item->fit, t.time_s, query);
    t.error_frac = hypot(t.error_frac, RANK_ERROR_PER_OCTAVE * d);
    t.evidence = gl_evidence_worst(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    return t;
}

/* A curve is one session's. Another session on the same kind of machine finds another latency,
 * since the host's processors launch the call, and another bandwidth where they move the data:
 * sigmas of sessions of one day against each other (docs/models/network.md, "Measured again"). */
static const double SESSION_FLOOR_ERROR = 0.30, SESSION_PROCESSOR_ERROR = 0.16;

static double session_error(const gl_curve_fit *fit, double time_s)
{
    gl_transport t = fit->curve->transport;
    bool processors = t == GL_TRANSPORT_NET_SOCKET || t == GL_TRANSPORT_HOST;
    return hypot(SESSION_FLOOR_ERROR * fmin(1, fit->quality.floor_s / time_s),
                 processors ? SESSION_PROCESSOR_ERROR : 0);
}

static gl_network_time time_from_curve(const gl_network *network, const prepared *item, double d,
                                       const gl_network_query *query, double size_bytes,
                                       gl_arena *arena)
{
    const gl_curve *curve = item->fit->curve;
    gl_curve_time ct = move_time(network, item, d, query, size_bytes);
    gl_network_time t = {.time_s = ct.time_s,
                         .error_frac = ct.error_frac,
                         .session_error_frac = session_error(item->fit, ct.time_s),
                         .evidence = ct.evidence,
                         .algorithm =
                             curve->algorithm[0] != '\0' ? curve->algorithm : "as measured",
                         .transport = curve->transport,
                         .source = "",
                         .formula = ""};
    if (shares_unmeasured(curve, &query->placement)) {
        t.error_frac = hypot(t.error_frac, SHARING_ERROR);
        t.evidence = gl_evidence_worst(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    }
    if (!query->figures_only) {
        t.source = item->source;
        t.formula = curve_formula(item, query, d, size_bytes, arena);
    }
    return t;
}

/* What a collective without a curve of its own can be made of. */
typedef struct relation {
    gl_collective wanted, first, second; /* second = GL_COLLECTIVE_COUNT: none */
    double size_factor;                  /* message of the first for one byte of the wanted */
} relation;

static const relation relations[] = {
    /* The two halves of a ring all-reduce. */
    {GL_ALL_REDUCE, GL_REDUCE_SCATTER, GL_ALL_GATHER, 1},
    {GL_REDUCE_SCATTER, GL_ALL_GATHER, GL_COLLECTIVE_COUNT, 1},
    {GL_ALL_GATHER, GL_REDUCE_SCATTER, GL_COLLECTIVE_COUNT, 1},
    /* Half of the all-reduce of the same buffer has the same wire bytes as the whole gather. */
    {GL_REDUCE_SCATTER, GL_ALL_REDUCE, GL_COLLECTIVE_COUNT, 0.5},
    {GL_ALL_GATHER, GL_ALL_REDUCE, GL_COLLECTIVE_COUNT, 0.5},
    /* A send to a neighbour while receiving from another: what broadcast's ring does. */
    {GL_SENDRECV, GL_BROADCAST, GL_COLLECTIVE_COUNT, 1},
    /* Over two ranks half of an all-to-all buffer goes to the peer. */
    {GL_SENDRECV, GL_ALLTOALL, GL_COLLECTIVE_COUNT, 2},
    {GL_SENDRECV, GL_ALL_GATHER, GL_COLLECTIVE_COUNT, 2},
};

/* Rank scaling is trusted within a factor. */
static bool near_enough(const prepared *item, const gl_network_query *query)
{
    double ratio = (double)query->placement.ranks / item->fit->curve->placement.ranks;
    double most = family_fits(item, &query->placement) ? FAMILY_RATIO_MAX : RANK_RATIO_MAX;
    return query->allow_extrapolation || (ratio <= most && ratio >= 1 / most);
}

/* The relation with the smallest error, of those whose curves are nearer than `limit`. */
static bool from_related(const gl_network *network, const gl_network_query *query, double limit,
                         gl_arena *arena, gl_network_time *out)
{
    bool found = false;
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++) {
        const relation *r = &relations[i];
        if (r->wanted != query->collective)
            continue;
        double d, d2 = 0;
        const prepared *first = nearest(network, r->first, query, &d), *second = NULL;
        if (first == NULL || !near_enough(first, query) || d >= limit)
            continue;
        if (r->second != GL_COLLECTIVE_COUNT) {
            second = nearest(network, r->second, query, &d2);
            if (second == NULL || !near_enough(second, query) || d2 >= limit)
                continue;
        }
        double size = query->size_bytes * r->size_factor;
        gl_network_time t = time_from_curve(network, first, d, query, size, arena);
        if (second != NULL) {
            gl_network_time u = time_from_curve(network, second, d2, query, size, arena);
            t.time_s += u.time_s;
            t.error_frac = fmax(t.error_frac, u.error_frac);
        }
        t.error_frac = hypot(t.error_frac, RELATED_ERROR);
        t.evidence = gl_evidence_worst(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
        if (!found || t.error_frac < out->error_frac)
            *out = t;
        found = true;
    }
    return found;
}

/* A curve of the collective over the ranks that a node has of the group, or near that. */
static const gl_curve_fit *inside_curve(const gl_network *network, const gl_network_query *query)
{
    if (query->placement.ranks_per_node < 2)
        return NULL;
    gl_network_query inside = *query;
    inside.placement.nodes = 1;
    inside.placement.ranks = query->placement.ranks_per_node;
    double d;
    const prepared *item = nearest(network, query->collective, &inside, &d);
    return item != NULL && near_enough(item, &inside) && !item->other_link ? item->fit : NULL;
}

/* A curve of the collective over nodes with one rank on each: what their network does. */
static const gl_curve_fit *between_curve(const gl_network *network, const gl_network_query *query)
{
    if (query->placement.nodes < 2)
        return NULL;
    gl_network_query between = *query;
    between.placement.ranks = query->placement.nodes;
    between.placement.ranks_per_node = between.domains = 1;
    double d;
    const prepared *item = nearest(network, query->collective, &between, &d);
    return item != NULL && near_enough(item, &between) && !item->other_nics ? item->fit : NULL;
}

static gl_rules_curves tier_curves(const gl_network *network, const gl_network_query *query)
{
    return (gl_rules_curves){{inside_curve(network, query), between_curve(network, query)}};
}

/* "2 ranks on 2 nodes, 1 on each" */
static const char *placement_words(const gl_placement *p, gl_arena *arena)
{
    if (p->nodes == 1)
        return gl_arena_printf(arena, "%d ranks on one node", p->ranks);
    return gl_arena_printf(arena, "%d ranks on %d nodes, %d on each", p->ranks, p->nodes,
                           p->ranks_per_node);
}

/* The curve that comes nearest although it does not carry the answer: to say why. */
static const gl_curve_fit *best_effort(const gl_network *network, const gl_network_query *query)
{
    const gl_curve_fit *best = NULL;
    for (size_t i = 0; i < network->fit_count; i++) {
        const gl_curve_fit *fit = &network->fits[i];
        bool better = best == NULL || (fit->curve->collective == query->collective &&
                                       best->curve->collective != query->collective);
        if (same_tier(&fit->curve->placement, &query->placement) && better)
            best = fit;
    }
    return best;
}

static bool refuse(const gl_network *network, const gl_network_query *query, gl_arena *arena,
                   gl_error *err)
{
    const gl_placement *p = &query->placement;
    const char *name = gl_collective_name(query->collective), *where = placement_words(p, arena);
    const char *tier = p->nodes > 1 ? "between nodes" : "inside a node";
    const gl_curve_fit *fit = best_effort(network, query);
    if (fit == NULL)
        return gl_fail(err, GL_ERROR_INPUT,
                       "no evidence for %s over %s: \"%s\" has neither a measured curve nor a "
                       "catalogue link %s; measure %s there, or name a link in a cluster "
                       "description",
                       name, where, network->cluster->name, tier, name);
    const gl_curve *curve = fit->curve;
    if (curve->collective == query->collective && distance(&curve->placement, p) < 1e-3) {
        char last[32], wanted[32];
        gl_format_quantity(fit->size_bytes[fit->quality.points - 1], GL_BYTES, last, sizeof last);
        gl_format_quantity(query->size_bytes, GL_BYTES, wanted, sizeof wanted);
        return gl_fail(err, GL_ERROR_INPUT,
                       "no evidence for %s of %s over %s: curve %lld of \"%s\" ends at %s, too far "
                       "below; measure larger messages, or insist with --allow-extrapolation",
                       name, wanted, where, (long long)curve->id, network->cluster->name, last);
    }
    return gl_fail(err, GL_ERROR_INPUT,
                   "no evidence for %s over %s: what \"%s\" has %s is %s over %s; measure %s over "
                   "%s, name a link in a cluster description, or insist with --allow-extrapolation",
                   name, where, network->cluster->name, tier, gl_collective_name(curve->collective),
                   placement_words(&curve->placement, arena), name, where);
}

/*
 * What of a measured time over several nodes the inside of a node takes, by its own evidence. A
 * curve holds the inside as it was measured: of the same collective, so much as fits into its time.
 * It binds where it has become slower than that: by a smaller bandwidth that is asked about, by a
 * curve that was measured over another link, or where the curve is a related collective's.
 */
static void add_inside(const gl_network *network, const gl_network_query *query, bool foreign,
                       gl_arena *arena, gl_network_time *t)
{
    bool across = query->placement.nodes > 1;
    const gl_cluster *cluster = network->cluster;
    double factor = cluster->intra.bandwidth_factor, error_frac = 0;
    const gl_rules_curves curves = {{across ? inside_curve(network, query) : NULL, NULL}};
    double inside_s = across ? gl_rules_intra_s(cluster, query, &curves, 1, &error_frac) : 0;
    t->tier_s[across] = t->time_s;
    if (!foreign && inside_s > 0) {
        double described_s =
            factor > 0 ? gl_rules_intra_s(cluster, query, &curves, 1 / factor, NULL) : inside_s;
        inside_s *= fmin(1, t->time_s / described_s);
    }
    /* Rounding does not decide which tier is the slower. */
    if (inside_s <= t->time_s * (1 + 1e-9)) {
        t->tier_s[!across] = fmin(inside_s, t->time_s);
        return;
    }
    const gl_link *link = gl_rules_inside_link(cluster, query);
    t->tier_s[!across] = inside_s;
    t->time_s = inside_s;
    t->error_frac = fmax(t->error_frac, error_frac);
    t->transport = curves.tier[0] != NULL ? curves.tier[0]->curve->transport : link->transport;
    if (curves.tier[0] == NULL)
        t->evidence = gl_evidence_worst(t->evidence, GL_EVIDENCE_CATALOGUE);
    if (!query->figures_only)
        t->formula = gl_arena_printf(arena, "%s: %s; inside a node %s takes %s, which decides",
                                     t->formula, gl_quantity_text(t->tier_s[1], GL_SECONDS, arena),
                                     curves.tier[0] != NULL ? "its curve" : link->name,
                                     gl_quantity_text(inside_s, GL_SECONDS, arena));
}

/* The described link of a tier takes so long; what was measured is no faster. */
static void take_no_less(const gl_network_query *query, int tier, const gl_link *link,
                         double least_s, double error_frac, gl_arena *arena, gl_network_time *t)
{
    if (least_s <= t->time_s * (1 + 1e-9))
        return;
    if (!query->figures_only)
        t->formula = gl_arena_printf(arena, "%s: %s; the described %s takes %s, which decides",
                                     t->formula, gl_quantity_text(t->time_s, GL_SECONDS, arena),
                                     link->name, gl_quantity_text(least_s, GL_SECONDS, arena));
    t->tier_s[tier] = t->time_s = least_s;
    t->error_frac = fmax(t->error_frac, error_frac);
    t->transport = link->transport;
    t->evidence = gl_evidence_worst(t->evidence, GL_EVIDENCE_CATALOGUE);
}

/*
 * What was measured elsewhere, over other groups or of a related collective, takes no less than
 * what is described must: the NICs of a group over nodes, otherwise the link inside. What was
 * measured over others (`foreign`) takes no less than the catalogue says.
 */
static void bind_to_described(const gl_network *network, const gl_network_query *query,
                              bool elsewhere, bool foreign, gl_arena *arena, gl_network_time *t)
{
    static const gl_rules_curves none;
    const gl_cluster *cluster = network->cluster;
    bool across = query->placement.nodes > 1;
    double error_frac = 0, least_s = 0;
    if (foreign)
        least_s = across ? gl_rules_inter_s(cluster, query, &error_frac)
                         : gl_rules_intra_s(cluster, query, &none, 1, &error_frac);
    else if (elsewhere)
        least_s = across ? gl_rules_inter_least_s(cluster, query)
                         : gl_rules_intra_least_s(cluster, query);
    take_no_less(query, across, across ? cluster->inter.link : gl_rules_inside_link(cluster, query),
                 least_s, error_frac, arena, t);
}

static bool find_time(const gl_network *network, const gl_network_query *query, gl_arena *arena,
                      gl_network_time *out)
{
    double d;
    const prepared *item = nearest(network, query->collective, query, &d);
    bool own = item != NULL && (d == 0 || near_enough(item, query));
    if (own)
        *out = time_from_curve(network, item, d, query, query->size_bytes, arena);
    /* A related collective on this placement tells more than the same one on another. */
    gl_network_time related;
    bool other = !(own && d == 0) &&
                 from_related(network, query, own ? d : (double)INFINITY, arena, &related);
    bool takes_related = other && (!own || related.error_frac < out->error_frac);
    if (takes_related)
        *out = related;
    if (!own && !other) {
        gl_rules_curves curves = tier_curves(network, query);
        return gl_rules_time(network->cluster, query, &curves, arena, out);
    }
    /* Not earlier: every curve of a session has this error, so it chooses none. */
    out->error_frac = hypot(out->error_frac, out->session_error_frac);
    bool across = query->placement.nodes > 1;
    add_inside(network, query, takes_related || item->other_link, arena, out);
    bind_to_described(network, query, takes_related || d > 0,
                      !takes_related && (across ? item->other_nics : item->other_link), arena, out);
    for (int tier = 0; tier < 2; tier++)
        out->alone_s[tier] = query->figures_only ? 0 : out->tier_s[tier];
    return true;
}

/* ---- lines between sites ---- */

/* Bytes that one group sends over the line of a site, one way. A ring in order of the sites leaves
 * each of them once; of an all-to-all the ranks of a site send what belongs to other sites. */
static double line_bytes(const gl_network_query *query)
{
    const gl_placement *p = &query->placement, *s = &query->over_sites;
    double n = p->ranks, here = s->ranks_per_node;
    if (gl_is_pairwise(query->collective))
        return query->size_bytes * here * (n - here) / n;
    return query->size_bytes * gl_bus_factor(query->collective, p->ranks);
}

/* Times that a message waits for the line: steps of a ring over the sites. */
static double line_crossings(const gl_network_query *query)
{
    int sites = query->over_sites.nodes;
    if (query->collective == GL_ALL_REDUCE)
        return 2.0 * (sites - 1);
    return query->collective == GL_SENDRECV || query->collective == GL_ALLTOALL ? 1.0 : sites - 1;
}

/* A group that spans sites pays their line on top: each crossing's latency, and the bytes, which
 * flow while the faster tiers work. */
static void add_line(const gl_network *network, const gl_network_query *query, gl_arena *arena,
                     gl_network_time *t)
{
    const gl_sites *sites = &network->cluster->sites;
    int groups = query->over_sites.concurrent_groups;
    double share = sites->bw_bytes_per_s / (groups > 1 ? groups : 1);
    double delays = LINE_DELAYS + line_crossings(query) - 1, latency = delays * sites->latency_s;
    double bytes = line_bytes(query), flow = bytes / share, before = t->time_s;
    bool decides = flow + latency > before;
    t->time_s = latency + fmax(before, flow);
    t->tier_s[1] = t->time_s;
    t->evidence = gl_evidence_worst(t->evidence, GL_EVIDENCE_CATALOGUE);
    if (decides) {
        t->error_frac = LINE_ERROR_FRAC;
        t->transport = GL_TRANSPORT_NET_SOCKET;
    }
    if (query->figures_only)
        return;
    t->alone_s[1] = latency + fmax(t->alone_s[1], flow);
    t->formula = gl_arena_printf(
        arena,
        "%s; over the line between %d sites %.0f B at %.3g GB/s (1/%d of it): %s, and %.0f "
        "delays of %s",
        t->formula, query->over_sites.nodes, bytes, share / 1e9, groups > 1 ? groups : 1,
        gl_quantity_text(flow, GL_SECONDS, arena), delays,
        gl_quantity_text(sites->latency_s, GL_SECONDS, arena));
    t->source = gl_arena_printf(arena, "%s + cluster.sites", t->source);
}

/* The wire's share of a send: the latency of its links, and of a line between sites. */
static double way_s(const gl_network *network, const gl_network_query *query, double time_s)
{
    if (query->collective != GL_SENDRECV)
        return 0;
    const gl_cluster *c = network->cluster;
    const gl_link *link = query->placement.nodes > 1 ? c->inter.link : c->intra.link;
    double way = link != NULL ? link->step_latency_s.value : 0;
    if (query->over_sites.nodes > 1 && c->sites.count > 1)
        way += c->sites.latency_s;
    return fmin(way, time_s);
}

bool gl_network_eval(const gl_network *network, const gl_network_query *query, gl_arena *arena,
                     gl_network_time *out, gl_error *err)
{
    if (query->placement.ranks <= 1) {
        *out = (gl_network_time){.algorithm = "none", .source = "one rank", .formula = "one rank"};
        return true;
    }
    gl_network_time t;
    if (!find_time(network, query, arena, &t))
        return refuse(network, query, arena, err);
    if (query->over_sites.nodes > 1 && network->cluster->sites.count > 1)
        add_line(network, query, arena, &t);
    t.forwarded_bytes = gl_rules_forwarded_bytes(network->cluster, query);
    t.way_s = way_s(network, query, t.time_s);
    t.busbw_bytes_per_s =
        query->size_bytes * gl_bus_factor(query->collective, query->placement.ranks) / t.time_s;
    *out = t;
    return true;
}
