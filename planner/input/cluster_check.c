/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules between the fields of a cluster description. */
#include "planner/core/bom.h"
#include "planner/core/fabric.h"
#include "planner/core/network_rules.h"
#include "planner/input/cluster_parts.h"
#include "planner/input/notes.h"

#include <math.h>

typedef gl_cluster_loader loader;

static void need(const loader *l, bool present, const char *path, const char *why)
{
    if (present)
        return;
    gl_mark mark = gl_fields_mark(&l->tree, path);
    gl_diagnose(l->diagnostics, &mark, path, "missing; %s", why);
}

static void check_description(const loader *l)
{
    gl_cluster *c = l->cluster;
    bool intra =
        gl_yaml_find(&l->tree, "cluster.intra_node.link") != NULL || c->intra.curves != NULL;
    bool inter =
        gl_yaml_find(&l->tree, "cluster.inter_node.link") != NULL || c->inter.curves != NULL;
    if (c->gpus_per_node > 1)
        need(l, intra, "cluster.intra_node.link",
             "the GPUs of a node need a link or a calibration");
    /* A node that others will join has what joins them. */
    if (c->nodes == 1 && c->terms.expansion_nodes <= 1) {
        c->nics_per_node = 0;
        return;
    }
    need(l, inter, "cluster.inter_node.link", "several nodes need a link or a calibration");
    need(l, c->nics_per_node > 0, "cluster.inter_node.nics_per_node", "several nodes need it");
}

/* Diagnoses a field that contradicts another. */
static void contradict(const loader *l, const char *path, const char *text)
{
    gl_mark mark = gl_fields_mark(&l->tree, path);
    gl_diagnose(l->diagnostics, &mark, path, "%s", text);
}

/* Domains of the link divide a node, are no larger than the link joins, and are joined by another.
 */
static void check_domain(const loader *l)
{
    const gl_cluster *c = l->cluster;
    const gl_link *link = c->intra.link;
    const char *path = "cluster.intra_node.domain";
    int domain = c->domain_gpus;
    if (domain == 0 || domain >= c->gpus_per_node)
        return;
    if (c->gpus_per_node % domain != 0)
        contradict(l, path,
                   gl_arena_printf(l->arena, "domains of %d GPUs do not divide a node of %d",
                                   domain, c->gpus_per_node));
    if (link != NULL && link->domain_gpus.kind != GL_FIGURE_ABSENT &&
        domain > link->domain_gpus.value)
        contradict(l, path,
                   gl_arena_printf(l->arena, "%s joins at most %.0f GPUs, not %d", link->name,
                                   link->domain_gpus.value, domain));
    need(l, c->outside != NULL, "cluster.intra_node.outside_link",
         "domains smaller than the node need the link between them");
}

enum { LANES_OF_CARD = 16 };

/* Every card has 16 lanes, to a CPU or to a switch, which has 16 of its own to a CPU. */
static void check_lanes(const loader *l)
{
    const gl_cluster *c = l->cluster;
    bool to_switch = c->nic_attachment == GL_ATTACHED_TO_SWITCH;
    if (c->pcie_lanes == 0)
        return;
    if (c->pcie_switches == 0 && c->nics_per_node > 0 && to_switch)
        contradict(l, "cluster.inter_node.attachment",
                   "without PCIe switches (cluster.pcie.switches) NICs hang off a CPU: say cpu, or "
                   "cross-numa, and name the slot");
    int cards = c->pcie_switches > 0 ? c->pcie_switches + (to_switch ? 0 : c->nics_per_node)
                                     : c->gpus_per_node + c->nics_per_node;
    if (cards * LANES_OF_CARD <= c->pcie_lanes)
        return;
    const char *at_cpus = c->pcie_switches > 0
                              ? gl_arena_printf(l->arena, "%d PCIe switches", c->pcie_switches)
                              : gl_arena_printf(l->arena, "%d GPUs", c->gpus_per_node);
    if (cards > c->pcie_switches && c->nics_per_node > 0)
        at_cpus = gl_arena_printf(l->arena, "%s and %d NICs", at_cpus, c->nics_per_node);
    contradict(l, "cluster.pcie.lanes",
               gl_arena_printf(l->arena,
                               "%s at the CPUs of a node need %d PCIe lanes, the CPUs have %d: %s",
                               at_cpus, cards * LANES_OF_CARD, c->pcie_lanes,
                               c->pcie_switches > 0
                                   ? "fewer cards there"
                                   : "take PCIe switches (cluster.pcie.switches), or fewer NICs"));
}

static void check_reach(const loader *l)
{
    const gl_cluster *c = l->cluster;
    const gl_link *link = c->inter.link;
    double longest_m = fmax(c->terms.node_reach_m, c->terms.switch_reach_m);
    if (link != NULL && link->reach_m.kind != GL_FIGURE_ABSENT && longest_m > link->reach_m.value)
        contradict(l, "cluster.inter_node.reach",
                   gl_arena_printf(l->arena,
                                   "%s reaches %.0f m, not %.0f: nodes that far apart are sites of "
                                   "their own (cluster.sites)",
                                   link->name, link->reach_m.value, longest_m));
}

/* Links of one kind and length in a bill of materials. */
typedef struct link_kind {
    const char *what, *path; /* "links from nodes to leaf switches", the field of their length */
    double length_m;
} link_kind;

/* In the order of gl_medium; NULL: not a part that has a reach. */
static const char *const cables[GL_MEDIUM_COUNT] = {
    [GL_MEDIUM_DAC] = "dac",
    [GL_MEDIUM_AEC] = "aec",
    [GL_MEDIUM_AOC] = "aoc",
    [GL_MEDIUM_OPTICS] = "optic",
};

/* What a link of this medium has that is shortest: a cable, or the transceiver at one of its ends.
 */
static const gl_price *shortest_part(const gl_cluster *c, gl_medium medium)
{
    const char *link = c->inter.link->name;
    const gl_price *part = gl_price_find(c->price_list, cables[medium], link);
    const gl_price *end =
        medium == GL_MEDIUM_OPTICS ? gl_price_find(c->price_list, "optic-switch", link) : NULL;
    bool shorter = end != NULL && end->reach_m > 0 &&
                   (part == NULL || part->reach_m == 0 || end->reach_m < part->reach_m);
    return shorter ? end : part;
}

/* "optics", "aoc or optics": what of the price list spans such links; NULL: nothing. */
static const char *media_that_span(const loader *l, double length_m)
{
    const char *text = NULL;
    for (int i = 0; i < GL_MEDIUM_COUNT; i++) {
        const gl_price *part = cables[i] != NULL ? shortest_part(l->cluster, (gl_medium)i) : NULL;
        bool spans = part != NULL &&
                     (part->reach_m >= length_m || (part->reach_m == 0 && i == GL_MEDIUM_OPTICS));
        if (spans)
            text = gl_arena_printf(l->arena, "%s%s%s", text != NULL ? text : "",
                                   text != NULL ? " or " : "",
                                   i == GL_MEDIUM_OPTICS ? "optics" : cables[i]);
    }
    return text;
}

/* A bill takes no cable that is too short. What was chosen is at fault; where distance chooses
 * (auto), it ends at transceivers, and the distance is. */
static void check_medium(const loader *l, const link_kind *links)
{
    const gl_cluster *c = l->cluster;
    gl_medium medium = c->terms.medium;
    if (medium == GL_MEDIUM_LINK)
        return;
    const char *spanning = media_that_span(l, links->length_m);
    if (medium == GL_MEDIUM_AUTO && spanning != NULL)
        return;
    const gl_price *part = shortest_part(c, medium == GL_MEDIUM_AUTO ? GL_MEDIUM_OPTICS : medium);
    const char *path = medium == GL_MEDIUM_AUTO ? links->path : "cluster.inter_node.medium";
    if (part == NULL || part->reach_m >= links->length_m)
        return;
    if (part->reach_m > 0) {
        bool stated = gl_yaml_find(&l->tree, links->path) != NULL;
        contradict(
            l, path,
            gl_arena_printf(
                l->arena, "%s reaches %g m, and %s are %g m long (%s%s): %s", part->part,
                part->reach_m, links->what, links->length_m, links->path,
                stated ? "" : ", by default",
                spanning != NULL
                    ? gl_arena_printf(l->arena, "take %s, or auto, or state shorter links",
                                      spanning)
                    : "the price list has nothing that reaches so far: add a part with its reach"));
    } else if (medium != GL_MEDIUM_OPTICS) {
        gl_mark mark = gl_fields_mark(&l->tree, path);
        gl_warn(l->warnings, l->arena, &mark, path,
                "the price list states no reach of %s: whether it spans %s of %g m is not checked",
                part->part, links->what, links->length_m);
    }
}

/* Links between switches are there where one switch is not enough. */
static void check_media(const loader *l)
{
    const gl_cluster *c = l->cluster;
    const gl_cost_terms *terms = &c->terms;
    if (c->price_list == NULL || c->inter.link == NULL || c->nodes < 2)
        return;
    gl_bom bom;
    int most = terms->expansion_nodes > c->nodes ? terms->expansion_nodes : c->nodes;
    gl_bom_build(c, most, l->arena, &bom);
    if (bom.fabric.node_links > 0)
        check_medium(l, &(link_kind){"links from nodes to leaf switches",
                                     "cluster.inter_node.reach.leaf", terms->node_reach_m});
    if (bom.fabric.spine_links > 0)
        check_medium(l, &(link_kind){"links between switches", "cluster.inter_node.reach.spine",
                                     terms->switch_reach_m});
}

static void check_node(const loader *l)
{
    const gl_cluster *c = l->cluster;
    check_reach(l);
    check_media(l);
    check_domain(l);
    check_lanes(l);
    if (c->nic_attachment != GL_ATTACHED_TO_SWITCH && c->nics_per_node > 0)
        need(l, c->nic_slot != NULL, "cluster.inter_node.slot",
             "what passes from a GPU through CPUs depends on it");
}

/* One port of a switch at least leads up. */
static void check_ratio(const loader *l, const char *path, double oversubscription)
{
    int radix = l->cluster->radix;
    if (radix > 1 && oversubscription > radix - 1)
        contradict(l, path,
                   gl_arena_printf(l->arena, "a switch of %d ports is at most %d:1, not %g:1",
                                   radix, radix - 1, oversubscription));
}

/* What is timed can be built. */
static void check_fabric(const loader *l)
{
    gl_error err;
    gl_fabric_counts counts;
    const gl_cluster *c = l->cluster;
    check_ratio(l, "cluster.inter_node.oversubscription", c->oversubscription);
    check_ratio(l, "cluster.inter_node.core_oversubscription", c->core_oversubscription);
    const gl_fabric_request request = gl_fabric_request_of(c, c->nodes, c->radix);
    if (c->nodes > 1 && c->radix > 0 && c->nics_per_node > 0 &&
        !gl_fabric_count(&request, &counts, &err))
        contradict(l, "cluster.inter_node.radix", err.message);
}

/* Which groups cross cores is known by the radix; without a core nothing is thinned. */
static void check_cores(const loader *l)
{
    const gl_cluster *c = l->cluster;
    const char *path = "cluster.inter_node.core_oversubscription";
    gl_mark mark = gl_fields_mark(&l->tree, path);
    if (c->core_oversubscription <= 1)
        return;
    need(l, c->radix > 0, "cluster.inter_node.radix", "which groups cross a core depends on it");
    if (c->radix > 0 && gl_rules_switch_levels(c, c->nodes) < 3)
        gl_warn(l->warnings, l->arena, &mark, path,
                "%d nodes need no core above spines of %d ports: nothing is oversubscribed there",
                c->nodes, c->radix);
}

/* The nodes of a site are whole, and what joins sites has a bandwidth and a latency. */
static void check_sites(const loader *l)
{
    const gl_cluster *c = l->cluster;
    const char *path = "cluster.sites.count";
    if (c->sites.count < 2)
        return;
    if (c->sites.count > c->nodes) {
        gl_mark mark = gl_fields_mark(&l->tree, path);
        gl_diagnose(l->diagnostics, &mark, path, "%d sites need as many nodes; there are %d",
                    c->sites.count, c->nodes);
    }
    need(l, gl_yaml_find(&l->tree, "cluster.sites.link.bandwidth") != NULL,
         "cluster.sites.link.bandwidth", "several sites need it");
    need(l, gl_yaml_find(&l->tree, "cluster.sites.link.latency") != NULL,
         "cluster.sites.link.latency", "several sites need it");
}

void gl_cluster__check(const gl_cluster_loader *l)
{
    static void (*const rules[])(const loader *) = {check_description, check_node, check_fabric,
                                                    check_cores, check_sites};
    size_t before = gl_diagnostics_found(l->diagnostics);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (gl_diagnostics_found(l->diagnostics) == before)
            rules[i](l);
}

/* ---- costs ---- */

/* Power is paid by what is drawn or by what is reserved. */
static void check_power(const loader *l)
{
    const char *path = "cluster.site.colocation_per_kw_month";
    const gl_yaml_node *colocation = gl_yaml_find(&l->tree, path);
    const gl_yaml_node *energy = gl_yaml_find(&l->tree, "cluster.site.electricity");
    bool by_energy = l->cluster->terms.power_by == GL_POWER_BY_ENERGY;
    if (by_energy && colocation != NULL)
        gl_diagnose(l->diagnostics, &colocation->mark, path,
                    "power is paid by energy here: state cluster.site.power_by: colocation, or "
                    "leave this out; never both");
    else if (!by_energy && energy != NULL)
        gl_diagnose(l->diagnostics, &energy->mark, "cluster.site.electricity",
                    "power is in the colocation here (cluster.site.power_by): leave this out; "
                    "never both");
}

/* Without prices a site says nothing. */
static void warn_of_site(const loader *l)
{
    const gl_yaml_node *site = gl_yaml_find(&l->tree, "cluster.site");
    if (site != NULL && gl_yaml_find(&l->tree, "prices") == NULL)
        gl_warn(l->warnings, l->arena, &site->key_mark, "cluster.site",
                "is not used without a price list: add prices: standard");
}

/* An expansion is bought after the nodes that there are, and ends with more of them. */
static void warn_of_expansion(const loader *l)
{
    const gl_cluster *c = l->cluster;
    const char *path = "cluster.expansion.nodes";
    const gl_yaml_node *node = gl_yaml_find(&l->tree, path);
    if (node == NULL)
        return;
    if (c->terms.expansion_nodes <= c->nodes)
        gl_warn(l->warnings, l->arena, &node->mark, path,
                "is not used: %d nodes in the end are no more than the %d of the cluster",
                c->terms.expansion_nodes, c->nodes);
    else if (gl_yaml_find(&l->tree, "prices") == NULL)
        gl_warn(l->warnings, l->arena, &node->mark, path,
                "is not used without a price list: add prices: standard");
    else if (c->terms.acquisition == GL_RENT)
        gl_warn(l->warnings, l->arena, &node->mark, path,
                "is not used: what is rented is not bought in stages");
}

void gl_cluster__check_costs(const gl_cluster_loader *l)
{
    check_power(l);
    warn_of_site(l);
    warn_of_expansion(l);
}
