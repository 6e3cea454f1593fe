/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/bom.h"

#include "common/units.h"
#include "planner/core/arithmetic.h"

#include <math.h>
#include <string.h>

enum { HARDWARE, LABOUR };

static const struct {
    gl_cost_place place;
    bool labour;
    const char *name;
} groups[GL_COST_OF_COUNT] = {
#define AS_GROUP(key, where, kind, text)                                                           \
    [GL_COST_OF_##key] = {GL_PLACE_##where, (kind) == LABOUR, text},
    GL_COST_GROUPS(AS_GROUP)
#undef AS_GROUP
};

gl_cost_place gl_cost_group_place(gl_cost_group group)
{
    return groups[group].place;
}

bool gl_cost_group_is_labour(gl_cost_group group)
{
    return groups[group].labour;
}

const char *gl_cost_group_name(gl_cost_group group)
{
    return groups[group].name;
}

const char *gl_cost_place_name(gl_cost_place place)
{
    static const char *const names[GL_PLACE_COUNT] = {"inside nodes", "between nodes", "site"};
    return names[place];
}

double gl_cost_term_value(const gl_cluster *cluster, gl_cost_term term)
{
    if (!isnan(cluster->terms.stated[term]))
        return cluster->terms.stated[term];
    const gl_price *price = gl_price_find(cluster->price_list, "term", gl_cost_term_name(term));
    return price != NULL ? price->typical : (double)NAN;
}

typedef struct builder {
    const gl_cluster *cluster;
    const gl_price_list *list;
    int64_t nodes;
    gl_arena *arena;
    gl_bom *bom;
} builder;

/* ---- lines ---- */

static const char *part_name(const builder *b, const char *kind, const char *name)
{
    return name == NULL ? kind : gl_arena_printf(b->arena, "%s.%s", kind, name);
}

static void note(const builder *b, const char *text)
{
    gl_texts_add(&b->bom->notes, b->arena, text);
}

/* The first thing that is missing stops the total; the others would only lengthen the message. */
static void stop(const builder *b, const char *message)
{
    if (b->bom->missing == NULL)
        b->bom->missing = message;
}

static void check_price(const builder *b, const gl_bom_line *line, double rate)
{
    const gl_price *price = line->price;
    if (price == NULL || isnan(price->typical))
        stop(b, gl_arena_printf(
                    b->arena,
                    "no price for %s%s%s%s (%lld of them): state it in a price list of your own, "
                    "prices: {base: %s, parts: {%s: {typical: ...}}}",
                    line->part, price != NULL ? " (" : "", price != NULL ? price->title : "",
                    price != NULL ? ")" : "", (long long)line->count, b->list->name, line->part));
    else if (!(rate > 0))
        stop(b, gl_arena_printf(b->arena,
                                "%s is priced in %s and the list has no rate for it: state how "
                                "many %s one %s is, prices: {exchange: {%s: ...}}",
                                line->part, price->currency, b->list->currency, price->currency,
                                price->currency));
}

static gl_bom_line *add(const builder *b, gl_cost_group group, const char *kind, const char *name,
                        const char *role, int64_t count)
{
    gl_bom *bom = b->bom;
    if (count <= 0)
        return NULL;
    bom->lines =
        gl_arena_grow(b->arena, bom->lines, &bom->capacity, bom->count + 1, sizeof *bom->lines);
    gl_bom_line *line = &bom->lines[bom->count++];
    const gl_price *price = gl_price_find(b->list, kind, name);
    double rate = price != NULL ? gl_price_rate(b->list, price->currency) : 0;
    bool known = price != NULL && rate > 0;
    *line = (gl_bom_line){.part = part_name(b, kind, name),
                          .role = role,
                          .group = group,
                          .count = count,
                          .price = price,
                          .low = known ? price->low * rate : (double)NAN,
                          .typical = known ? price->typical * rate : (double)NAN,
                          .high = known ? price->high * rate : (double)NAN,
                          .power_w = price != NULL ? price->power_w : 0};
    check_price(b, line, rate);
    return line;
}

/* A line of the network, with spares. */
static gl_bom_line *add_network(const builder *b, gl_cost_group group, const char *kind,
                                const char *name, const char *role, int64_t count)
{
    gl_bom_line *line = add(b, group, kind, name, role, count);
    double share = gl_cost_term_value(b->cluster, GL_TERM_SPARES);
    if (line == NULL)
        return NULL;
    line->has_spares = true;
    line->spares = share > 0 ? gl_bom_spares(count, share) : 0;
    return line;
}

/* Pieces of which each serves `price->ports` of `count`. */
static int64_t pieces(const builder *b, const char *kind, const char *name, int64_t count)
{
    const gl_price *price = gl_price_find(b->list, kind, name);
    return price != NULL && price->ports > 1 ? gl_divide_up(count, price->ports) : count;
}

/* ---- inside the node ---- */

static const char *gpu_name(const builder *b)
{
    return b->cluster->gpu != NULL ? b->cluster->gpu->name : "unknown";
}

/* Machines of which each serves `price->gpus`: racks may hold several nodes, of servers each node
 * has its own. */
static int64_t machines(const builder *b, const gl_price *price)
{
    int64_t of_node = b->cluster->gpus_per_node;
    if (price == NULL || price->gpus <= 0)
        return b->nodes;
    return price->rack ? gl_divide_up(b->nodes * of_node, price->gpus)
                       : b->nodes * gl_divide_up(of_node, price->gpus);
}

/* A machine that the list has as a whole: a node, a part of one, or a rack of several. */
static const gl_price *whole_server(const builder *b)
{
    const gl_price *price = gl_price_find(b->list, "server", gpu_name(b));
    int64_t of_node = b->cluster->gpus_per_node;
    if (price == NULL || price->gpus <= 0 || price->rack)
        return price;
    return price->gpus >= of_node || of_node % price->gpus == 0 ? price : NULL;
}

/* What the GPUs and the rest draw, where the price list has no figure for the server. */
static double server_power_w(const builder *b)
{
    const gl_gpu *gpu = b->cluster->gpu;
    double factor = gl_cost_term_value(b->cluster, GL_TERM_SERVER_POWER);
    return gpu != NULL && gpu->power_w.value > 0 && factor > 0
               ? gpu->power_w.value * factor * b->cluster->gpus_per_node
               : 0;
}

static const char *intra_link(const builder *b)
{
    const gl_link *link = b->cluster->intra.link;
    return link != NULL && b->cluster->gpus_per_node > 1 ? link->name : NULL;
}

/* Bridges, boards with switch chips: what joins the GPUs of a node. A price without GPUs is for a
 * node. */
static void add_joining(const builder *b, gl_cost_group group, const char *kind)
{
    const char *name = intra_link(b);
    const gl_price *price = gl_price_find(b->list, kind, name);
    int64_t bundle = price != NULL && price->ports > 1 ? price->ports : 1;
    add(b, group, kind, name, "", machines(b, price) * bundle);
}

static bool starts_with(const char *text, const char *start)
{
    return text != NULL && strncmp(text, start, strlen(start)) == 0;
}

/* The PCIe link of a node, which the switches of the description are for; NULL: none is named. */
static const char *pcie_link(const builder *b)
{
    const gl_cluster *c = b->cluster;
    const gl_link *const links[] = {c->outside, c->intra.link, c->nic_slot};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (links[i] != NULL && starts_with(links[i]->name, "pcie"))
            return links[i]->name;
    return NULL;
}

/* As many switches as the description has, and enough for all GPUs; none where cards are plugged
 * straight into CPUs. */
static void add_pcie_switches(const builder *b)
{
    const char *name = pcie_link(b);
    int64_t described = b->nodes * b->cluster->pcie_switches;
    if (described == 0 || name == NULL)
        return;
    const gl_price *price = gl_price_find(b->list, "pcie-switch", name);
    int64_t needed = machines(b, price);
    add(b, GL_COST_OF_PCIE_SWITCHES, "pcie-switch", name, "",
        described > needed ? described : needed);
}

static void rate_power(const builder *b, gl_bom_line *line, double share)
{
    if (line == NULL || line->power_w > 0)
        return;
    line->power_w = server_power_w(b) * share;
    line->by_server_power = true;
}

static void add_parts_of_servers(const builder *b)
{
    add(b, GL_COST_OF_GPUS, "gpu", gpu_name(b), "", b->nodes * b->cluster->gpus_per_node);
    bool bridge = starts_with(intra_link(b), "nvlink-bridge");
    if (starts_with(intra_link(b), "nvlink") && !bridge)
        add_joining(b, GL_COST_OF_NVLINK, "board");
    add_pcie_switches(b);
    rate_power(b, add(b, GL_COST_OF_SERVER, "host", NULL, "", b->nodes), 1);
    add(b, GL_COST_OF_SERVER, "chassis", NULL, "", b->nodes);
    const gl_price *cooling = gl_price_find(b->list, "cooling", gpu_name(b));
    if (cooling != NULL)
        add(b, GL_COST_OF_COOLING, "cooling", gpu_name(b), "", machines(b, cooling));
}

static void note_empty_places(const builder *b, const gl_price *server)
{
    if (server->rack || server->gpus <= b->cluster->gpus_per_node)
        return;
    note(b, gl_arena_printf(
                b->arena,
                "%s is a machine of %d GPUs and a node here has %d: each node is billed "
                "as a whole one (the price of a smaller machine says gpus: %d, of a "
                "rack of several nodes rack: true)",
                server->part, server->gpus, b->cluster->gpus_per_node, b->cluster->gpus_per_node));
}

/* A machine is bought with its links: another one in its place has no price here. */
static void note_other_link(const builder *b, const gl_price *server)
{
    const char *link = intra_link(b);
    if (server->link != NULL && link != NULL && strcmp(server->link, link) != 0)
        note(b,
             gl_arena_printf(
                 b->arena,
                 "%s is the price of a machine with %s; with %s instead it is another one, whose "
                 "price is not known: state it (prices: {parts: {%s: {typical: ..., link: %s}}})",
                 server->part, server->link, link, server->part, link));
}

static void add_servers(const builder *b)
{
    const gl_price *server = whole_server(b);
    if (server != NULL) {
        int64_t count = machines(b, server);
        gl_bom_line *line = add(b, GL_COST_OF_SERVER, "server", gpu_name(b), "", count);
        rate_power(b, line, (double)b->nodes / (double)count);
        note_empty_places(b, server);
        note_other_link(b, server);
    } else {
        add_parts_of_servers(b);
    }
    if (starts_with(intra_link(b), "nvlink-bridge"))
        add_joining(b, GL_COST_OF_NVLINK, "bridge");
    double hours = b->cluster->terms.tuning_hours_per_node * (double)b->nodes;
    add(b, GL_COST_OF_TUNING, "labour", "tuning", "hours", (int64_t)ceil(hours));
}

/* ---- between nodes ---- */

static const char *const medium_kinds[GL_MEDIUM_COUNT] = {
    [GL_MEDIUM_DAC] = "dac",
    [GL_MEDIUM_AEC] = "aec",
    [GL_MEDIUM_AOC] = "aoc",
    [GL_MEDIUM_OPTICS] = "optic",
};

/* Distance decides first: the first medium of the list that spans it. */
static gl_medium choose_medium(const builder *b, const char *link, double reach_m)
{
    if (b->cluster->terms.medium != GL_MEDIUM_AUTO)
        return b->cluster->terms.medium;
    for (int i = GL_MEDIUM_DAC; i < GL_MEDIUM_OPTICS; i++) {
        const gl_price *price = gl_price_find(b->list, medium_kinds[i], link);
        if (price != NULL && price->reach_m >= reach_m)
            return (gl_medium)i;
    }
    return GL_MEDIUM_OPTICS;
}

/* Transceivers at both ends and a fibre. Cages of switches may hold modules for two links. */
static void add_optics(const builder *b, const char *link, const char *role, int64_t links,
                       bool from_nodes)
{
    bool twin = gl_price_find(b->list, "optic-switch", link) != NULL;
    const char *kind = twin ? "optic-switch" : "optic";
    if (from_nodes) {
        add_network(b, GL_COST_OF_LINKS, "optic", link, "node end",
                    pieces(b, "optic", link, links));
        add_network(b, GL_COST_OF_LINKS, kind, link, "leaf end", pieces(b, kind, link, links));
    } else {
        add_network(b, GL_COST_OF_LINKS, kind, link, role, pieces(b, kind, link, 2 * links));
    }
    add_network(b, GL_COST_OF_LINKS, "fibre", NULL, role, pieces(b, "fibre", NULL, links));
}

static void add_links(const builder *b, const char *link, const char *role, int64_t links,
                      bool from_nodes)
{
    const gl_cost_terms *terms = &b->cluster->terms;
    double reach_m = from_nodes ? terms->node_reach_m : terms->switch_reach_m;
    gl_medium medium = choose_medium(b, link, reach_m);
    if (medium == GL_MEDIUM_LINK)
        add_network(b, GL_COST_OF_LINKS, from_nodes ? "link-node" : "link-switch", link, role,
                    links);
    else if (medium == GL_MEDIUM_OPTICS)
        add_optics(b, link, role, links, from_nodes);
    else
        add_network(b, GL_COST_OF_LINKS, medium_kinds[medium], link, role,
                    pieces(b, medium_kinds[medium], link, links));
}

/* Ports of the switch that is priced, at the speed of a plane: one at the speed of the link splits
 * into one for each. 0: the list does not say. */
static int priced_ports(const builder *b, const gl_price *price)
{
    int planes = b->cluster->terms.planes > 1 ? b->cluster->terms.planes : 1;
    return price != NULL ? price->ports * planes : 0;
}

/* "128 ports (Spectrum-4 SN5600 class, 128 x 400G)" */
static const char *ports_text(const builder *b, const gl_price *price, int ports)
{
    bool titled = price->title != NULL && price->title[0] != '\0';
    return gl_arena_printf(b->arena, "%d ports%s%s%s", ports, titled ? " (" : "",
                           titled ? price->title : "", titled ? ")" : "");
}

/* A switch with more ports than the one that is priced is another one, without a price. */
static void refuse_price(const builder *b, const gl_price *price, int radix)
{
    int ports = priced_ports(b, price);
    stop(b,
         gl_arena_printf(
             b->arena,
             "the switches of the description have %d ports, %s is the price of one with %s: state "
             "cluster.inter_node.radix: %d, or what such a switch costs, prices: {base: %s, parts: "
             "{%s: {typical: ..., ports: %d}}}",
             radix, price->part, ports_text(b, price, ports), ports, b->list->name, price->part,
             (int)gl_divide_up(radix, ports / price->ports)));
    for (size_t i = 0; i < b->bom->count; i++) {
        gl_bom_line *line = &b->bom->lines[i];
        if (line->price != price)
            continue;
        line->price = NULL;
        line->low = line->typical = line->high = (double)NAN;
        line->power_w = 0;
    }
}

/* Of a switch with fewer ports than the one that is priced, the rest is paid for. */
static void note_idle_ports(const builder *b, const gl_price *price, int radix)
{
    gl_fabric_counts all;
    int ports = priced_ports(b, price);
    const gl_fabric_request request = gl_fabric_request_of(b->cluster, b->nodes, ports);
    if (gl_fabric_count(&request, &all, NULL) &&
        gl_fabric_switches(&all) < gl_fabric_switches(&b->bom->fabric))
        note(b,
             gl_arena_printf(
                 b->arena,
                 "%lld switches of %d ports are billed at the price of one with %s; with all its "
                 "ports (cluster.inter_node.radix: %d) %lld would do",
                 (long long)gl_fabric_switches(&b->bom->fabric), radix, ports_text(b, price, ports),
                 ports, (long long)gl_fabric_switches(&all)));
}

static void check_ports(const builder *b, const char *link)
{
    const gl_price *price = gl_price_find(b->list, "switch", link);
    int radix = b->cluster->radix, ports = priced_ports(b, price);
    if (radix > ports && ports > 0)
        refuse_price(b, price, radix);
    else if (0 < radix && radix < ports)
        note_idle_ports(b, price, radix);
}

/* Times are those of the fabric that is billed only when its switches are described. */
static void note_unknown_tiers(const builder *b, int radix)
{
    int tiers = b->bom->fabric.tiers;
    if (tiers > 1)
        note(b, gl_arena_printf(
                    b->arena,
                    "%d tiers of switches with %d ports are billed, as the priced switch has; "
                    "times know of no tiers without cluster.inter_node.radix: %d",
                    tiers, radix, radix));
    else if (tiers == 1 && b->cluster->oversubscription > 1)
        note(b,
             gl_arena_printf(
                 b->arena,
                 "one switch of %d ports that joins all nodes is billed, and thins nothing; times "
                 "take all between nodes to cross uplinks of %g:1 without "
                 "cluster.inter_node.radix: %d",
                 radix, b->cluster->oversubscription, radix));
}

static bool count_fabric(const builder *b, const char *link)
{
    gl_error err;
    const gl_price *price = gl_price_find(b->list, "switch", link);
    int radix = b->cluster->radix > 0 ? b->cluster->radix : priced_ports(b, price);
    const gl_fabric_request request = gl_fabric_request_of(b->cluster, b->nodes, radix);
    if (gl_fabric_count(&request, &b->bom->fabric, &err)) {
        if (b->cluster->radix == 0)
            note_unknown_tiers(b, radix);
        return true;
    }
    stop(b,
         gl_arena_printf(b->arena, "%s (cluster.inter_node.radix, switch.%s)", err.message, link));
    return false;
}

static const double LARGE_PROJECT_FRAC = 0.25; /* of what the network is made of */

/* A project has one price for every size: of a small network that is much of it. */
static void note_large_project(const builder *b, const gl_bom_line *project)
{
    double network = 0;
    for (size_t i = 0; i < b->bom->count; i++) {
        const gl_bom_line *line = &b->bom->lines[i];
        bool counts = line != project && gl_cost_group_place(line->group) == GL_PLACE_BETWEEN;
        network += counts ? gl_bom_pieces(line) * line->typical : 0;
    }
    if (project->price != NULL && !project->price->quoted &&
        project->typical > LARGE_PROJECT_FRAC * network)
        note(b, gl_arena_printf(
                    b->arena,
                    "%s is %s %s whatever the size, %.0f %% of the NICs, switches and links here "
                    "(%s; confidence %s): state your own, prices: {base: %s, parts: {%s: {typical: "
                    "...}}}",
                    project->part, gl_money_text(project->typical, b->arena), b->list->currency,
                    100 * project->typical / network, project->price->title,
                    gl_confidence_name(project->price->confidence), b->list->name, project->part));
}

/* Ethernet loses packets unless somebody configures it not to. */
static void add_lossless(const builder *b)
{
    if (b->cluster->inter.link->transport == GL_TRANSPORT_NET_ROCE)
        note_large_project(b, add(b, GL_COST_OF_LOSSLESS, "labour", "lossless", "project", 1));
}

static void add_network_of(const builder *b)
{
    const gl_link *inter = b->cluster->inter.link;
    if (inter == NULL) {
        stop(b, "the network between nodes has no name that a price list could price: state "
                "cluster.inter_node.link");
        return;
    }
    const char *link = inter->name;
    const gl_price *server = whole_server(b);
    if (server == NULL || !server->nics_included)
        add_network(b, GL_COST_OF_NICS, "nic", link, "", b->nodes * b->cluster->nics_per_node);
    if (!count_fabric(b, link))
        return;
    const gl_fabric_counts *f = &b->bom->fabric;
    add_network(b, GL_COST_OF_SWITCHES, "switch", link, "leaf", f->leaves);
    add_network(b, GL_COST_OF_SWITCHES, "switch", link, "spine", f->spines);
    add_network(b, GL_COST_OF_SWITCHES, "switch", link, "core", f->cores);
    check_ports(b, link);
    add_links(b, link, "node to leaf", f->node_links, true);
    add_links(b, link, "leaf to spine", f->spine_links, false);
    add_links(b, link, "spine to core", f->core_links, false);
    add_lossless(b);
}

/* ---- racks and management ---- */

/* Two in-band ports a node on a tree of their own; one out-of-band port a node and switch. */
static int64_t add_management(const builder *b)
{
    gl_error err;
    gl_fabric_counts in_band = {0};
    const gl_price *price = gl_price_find(b->list, "switch", "in-band");
    int64_t switches = gl_fabric_switches(&b->bom->fabric);
    const gl_fabric_request request = {.kind = GL_FABRIC_FAT_TREE,
                                       .nodes = b->nodes,
                                       .ports_per_node = 2,
                                       .planes = 1,
                                       .radix = price != NULL ? price->ports : 0,
                                       .oversubscription = 1,
                                       .core_oversubscription = 1};
    if (!gl_fabric_count(&request, &in_band, &err)) {
        in_band.leaves = 1;
        if (price != NULL && price->typical > 0)
            stop(b, gl_arena_printf(b->arena, "%s (the in-band network: switch.in-band, ports)",
                                    err.message));
    }
    int64_t count = gl_fabric_switches(&in_band);
    add_network(b, GL_COST_OF_MANAGEMENT, "switch", "in-band", "", count);
    int64_t ports = b->nodes + switches + count;
    int64_t out_of_band = pieces(b, "switch", "out-of-band", ports);
    if (gl_price_find(b->list, "switch", "out-of-band") == NULL)
        out_of_band = 1;
    add_network(b, GL_COST_OF_MANAGEMENT, "switch", "out-of-band", "", out_of_band);
    return switches + count + out_of_band;
}

int64_t gl_bom_spares(int64_t count, double share)
{
    return (int64_t)ceil((double)count * share - 1e-9);
}

/* As many servers as its power allows; switches in racks of their own. */
int64_t gl_bom_racks(const gl_bom *bom, double rack_w, double rack_switches,
                     double server_power_factor)
{
    double server_w = 0;
    int64_t servers = bom->nodes;
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        double power_w = line->power_w * (line->by_server_power ? server_power_factor : 1);
        if (line->group != GL_COST_OF_SERVER || !(power_w > server_w))
            continue;
        server_w = power_w;
        servers = line->count;
    }
    int64_t per_rack = server_w > 0 && rack_w > server_w ? (int64_t)floor(rack_w / server_w) : 1;
    return gl_divide_up(servers, per_rack) +
           (rack_switches >= 1 ? gl_divide_up(bom->switches, (int64_t)rack_switches)
                               : (bom->switches > 0));
}

void gl_bom_build(const gl_cluster *cluster, int64_t nodes, gl_arena *arena, gl_bom *out)
{
    *out = (gl_bom){.nodes = nodes};
    const builder b = {.cluster = cluster,
                       .list = cluster->price_list,
                       .nodes = nodes,
                       .arena = arena,
                       .bom = out};
    add_servers(&b);
    if (nodes > 1) {
        add_network_of(&b);
        out->switches = add_management(&b);
        out->racks = gl_bom_racks(out, gl_cost_term_value(cluster, GL_TERM_RACK_POWER),
                                  gl_cost_term_value(cluster, GL_TERM_RACK_SWITCHES), 1);
        add(&b, GL_COST_OF_CABLING, "rack", NULL, "", out->racks);
    }
    if (gl_price_find(b.list, "facility", NULL) != NULL)
        add(&b, GL_COST_OF_FACILITY, "facility", NULL, "", nodes);
}

double gl_bom_sum(const gl_bom *bom, gl_cost_group group)
{
    double sum = 0;
    for (size_t i = 0; i < bom->count; i++)
        if (group == GL_COST_OF_COUNT || bom->lines[i].group == group)
            sum += gl_bom_pieces(&bom->lines[i]) * bom->lines[i].typical;
    return sum;
}
