/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a cluster description. Names of catalogue entries and files are SPECIAL: the loader
 * looks them up. */
#include "planner/core/hardware.h"
#include "planner/input/field_rows.h"

#define TARGET gl_cluster

/* A table: its rows stay as they are written. */
/* clang-format off */
/* In the order of gl_attachment. */
static const char *const attachments[] = {"gpu-switch", "cpu", "cross-numa", NULL};
static const char *const media[] = {"auto", "dac", "aec", "aoc", "optics", "link", NULL};
static const char *const power_by[] = {"energy", "colocation", NULL};
static const char *const acquisitions[] = {"buy", "rent", NULL};
#define TERM_ROW(name, term, unit, low, high, sentence) \
    REAL_ROW(name, terms.stated[GL_TERM_##term], unit, low, high, "as in the price list", sentence)

const gl_field gl_cluster_fields[] = {
    TEXT_ROW("cluster.name", name, "the file's name", "Name of the cluster in reports."),
    SPECIAL_ROW("cluster.gpu", true, "The GPU: a name of data/gpus, such as h200-sxm."),
    {.path = "cluster.nodes", .type = GL_FIELD_INT, .minimum = 1, .maximum = GL_NODES_MAX, .required = true, .offset = offsetof(TARGET, nodes),
     .doc = "Nodes."},
    {.path = "cluster.gpus_per_node", .type = GL_FIELD_INT, .minimum = 1, .maximum = 1024, .required = true, .offset = offsetof(TARGET, gpus_per_node),
     .doc = "GPUs of a node."},
    SPECIAL_ROW("cluster.intra_node.link", false, "The link between GPUs of a node: a name of data/links, such as nvlink4. Needed with more than one GPU a node unless there is a calibration."),
    SPECIAL_ROW("cluster.intra_node.calibration", false, "Measured curves inside a node, which win over the link's figures: a calibration database relative to this file, or a name of data/calibrations; FILE#LABEL takes the runs with one label."),
    INT_ROW("cluster.intra_node.domain", domain_gpus, 1, 1024, "those that the link joins", "GPUs of a node that the link joins, neighbours first: 2 for pairs of bridged cards. It divides gpus_per_node; the domains are joined by outside_link."),
    SPECIAL_ROW("cluster.intra_node.outside_link", false, "The link between GPUs of a node in different domains: pcie5-x16 between bridged pairs. Groups that span domains run at its speed."),
    INT_ROW("cluster.pcie.lanes", pcie_lanes, 16, 4096, "", "PCIe lanes that the CPUs of a node have for GPUs and NICs. Stated, it is checked that they are enough: 16 for each GPU and NIC, or for each PCIe switch."),
    INT_ROW("cluster.pcie.switches", pcie_switches, 0, 64, "0", "PCIe switches of a node, which GPUs and NICs are plugged into."),
    SPECIAL_ROW("cluster.inter_node.link", false, "The link of one NIC: a name of data/links, such as ib-ndr. Needed with more than one node unless there is a calibration."),
    SPECIAL_ROW("cluster.inter_node.calibration", false, "Measured curves across nodes, which win over the link's figures; given like that inside a node."),
    INT_ROW("cluster.inter_node.nics_per_node", nics_per_node, 1, 1024, "", "NICs of a node; required with more than one node."),
    REAL_ROW("cluster.inter_node.bandwidth", nic_bw_bytes_per_s, GL_BYTES_PER_S, 1, 1e15, "that of the link", "Bandwidth of one NIC and direction, where it is not the link's: a rented or throttled line. Its efficiencies stay."),
    REAL_ROW("cluster.inter_node.latency", network_latency_s, GL_SECONDS, 0, 100, "0 s", "Time that a message travels one way beside what the link counts: distance, or delay that was put in. Each step of a collective waits for it."),
    SPECIAL_ROW("cluster.inter_node.slot", false, "What a NIC is plugged into: a name of data/links, such as pcie5-x16. A NIC gets no more than it carries."),
    CHOICE_ROW("cluster.inter_node.attachment", nic_attachment, attachments, "gpu-switch", "Where the NICs hang: at the PCIe switch of their GPUs, at the CPU, or at another CPU than that of their GPUs; the last two need the slot and take what the path through CPUs carries."),
    CHOICE_ROW("cluster.inter_node.fabric", fabric, gl_fabric_names, "fat-tree", "How the network is built: a tree, a tree whose leaves each join one rail of NICs, or rails alone."),
    REAL_ROW("cluster.inter_node.oversubscription", oversubscription, GL_NUMBER, 1, 1000, "1", "Bandwidth of a leaf's downlinks over that of its uplinks."),
    REAL_ROW("cluster.inter_node.core_oversubscription", core_oversubscription, GL_NUMBER, 1, 1000, "1", "Bandwidth of a spine's downlinks over that of its uplinks to cores: what pods have between them, where there are three tiers of switches. Needs radix."),
    INT_ROW("cluster.inter_node.radix", radix, 2, 4096, "", "Ports of a switch."),
    BOOL_ROW("cluster.inter_node.in_network_reduction", in_network_reduction, "false", "The network's switches add up all-reduces (SHARP)."),
    INT_ROW("cluster.sites.count", sites.count, 1, 1000, "1", "Places over which the nodes are split evenly, in order, joined by leased lines."),
    REAL_ROW("cluster.sites.link.bandwidth", sites.bw_bytes_per_s, GL_BYTES_PER_S, 1e3, 1e14, "", "Bandwidth of the line of one site, per direction; all groups that span sites share it. Required with more than one site."),
    REAL_ROW("cluster.sites.link.latency", sites.latency_s, GL_SECONDS, 0, 10, "", "One-way delay of that line: about 5 us a kilometre of fibre. Required with more than one site."),
    REAL_ROW("cluster.sites.link.fee_per_month", terms.line_fee_per_month, GL_NUMBER, 0, 1e12, "by its route", "Fee of one leased line and month, in the currency of the price list."),
    TEXT_ROW("cluster.sites.link.route", terms.line_route, "", "Which line it is, to find its price for each Gbit/s and month (leased-line.ROUTE)."),
    INT_ROW("cluster.inter_node.planes", terms.planes, 1, 64, "1", "Networks over which each NIC is split, such as 2 with twin-plane Ethernet; nics_per_node counts NICs, radix the ports of one network. For the bill of materials; in times NICs are taken to spray evenly."),
    CHOICE_ROW("cluster.inter_node.medium", terms.medium, media, "auto", "What links are made of: by reach (auto), copper (dac), active copper (aec), active optical cables (aoc), transceivers and fibres (optics), or whole links priced with their ends (link). One that by its price list does not reach as far as its links is refused."),
    REAL_ROW("cluster.inter_node.reach.leaf", terms.node_reach_m, GL_METRES, 0, 1e6, "50 m", "Length of links from nodes to leaf switches."),
    REAL_ROW("cluster.inter_node.reach.spine", terms.switch_reach_m, GL_METRES, 0, 1e6, "50 m", "Length of links between switches."),
    TEXT_ROW("cluster.site.region", region, "", "Where the cluster stands, to find electricity, colocation and PUE in the price list (electricity.REGION)."),
    REAL_ROW("cluster.site.electricity", terms.electricity_usd_per_kwh, GL_USD_PER_KWH, 0, 100, "by region", "Price of electricity."),
    TERM_ROW("cluster.site.pue", PUE, GL_NUMBER, 1, 10, "Power of the site over power of the machines."),
    CHOICE_ROW("cluster.site.power_by", terms.power_by, power_by, "energy", "How power is paid: what is drawn (energy, with PUE), or what is reserved (colocation, all in). Never both."),
    REAL_ROW("cluster.site.colocation_per_kw_month", terms.colocation_per_kw_month, GL_NUMBER, 0, 1e9, "by region", "Price of a reserved kW and month, in the currency of the price list."),
    REAL_ROW("cluster.site.lead_time_months", terms.lead_time_months, GL_NUMBER, 0, 1200, "0", "Months that the site takes work later than elsewhere."),
    TERM_ROW("cluster.site.rack_power", RACK_POWER, GL_WATTS, 100, 1e7, "Power of a rack: how many servers it holds."),
    TERM_ROW("cluster.site.rack_switches", RACK_SWITCHES, GL_NUMBER, 1, 1000, "Switches of a rack."),
    TERM_ROW("cluster.site.server_power", SERVER_POWER, GL_NUMBER, 1, 10, "Power of a server over that of its GPUs, where the price list has no power of the server."),
    CHOICE_ROW("cluster.cost.acquisition", terms.acquisition, acquisitions, "buy", "Bought, or rented by the GPU and hour (rent.GPU in the price list)."),
    CHOICE_ROW("cluster.cost.amortisation", terms.amortisation, gl_amortisations, "straight", "What a year takes of the purchase: an even share (straight), payments with interest (annuity), or what price-performance takes off (decay, Epoch AI)."),
    TERM_ROW("cluster.cost.life_years", LIFE, GL_NUMBER, 0.1, 50, "Years over which what was bought is used."),
    TERM_ROW("cluster.cost.residual", RESIDUAL, GL_FRACTION, 0, 1, "Share of the purchase that it is worth at the end."),
    TERM_ROW("cluster.cost.interest", INTEREST, GL_FRACTION, 0, 1, "Price of money a year."),
    TERM_ROW("cluster.cost.support", SUPPORT, GL_FRACTION, 0, 1, "Support and replacement a year, share of the hardware."),
    TERM_ROW("cluster.cost.staff_per_node", STAFF, GL_NUMBER, 0, 100, "Persons that operate one node."),
    TERM_ROW("cluster.cost.spares", SPARES, GL_FRACTION, 0, 1, "Spare network parts, share of those in use, rounded up."),
    TERM_ROW("cluster.cost.availability", AVAILABILITY, GL_FRACTION, 0.01, 1, "Share of the hours in which the cluster takes work."),
    TERM_ROW("cluster.cost.draw", DRAW, GL_FRACTION, 0, 1, "Power drawn in training, share of what the machines may draw."),
    TERM_ROW("cluster.cost.failures_per_gpu_hour", FAILURES, GL_NUMBER, 0, 1, "Unplanned stops of a job for each GPU and hour."),
    TERM_ROW("cluster.cost.checkpoint", CHECKPOINT, GL_SECONDS, 0, 1e5, "Time in which a checkpoint stops training."),
    TERM_ROW("cluster.cost.restart", RESTART, GL_SECONDS, 0, 1e6, "Time from a stop until training goes on."),
    TERM_ROW("cluster.cost.decay", DECAY, GL_NUMBER, 0, 2, "Powers of ten that price-performance gains a year."),
    REAL_ROW("cluster.cost.month_value", terms.month_value, GL_NUMBER, 0, 1e15, "what a month costs", "Value of a month of the cluster's work, in the currency of the price list: what a late site loses."),
    REAL_ROW("cluster.cost.tuning_hours_per_node", terms.tuning_hours_per_node, GL_NUMBER, 0, 1e5, "0", "Hours for BIOS, drivers and NCCL of a node, at labour.tuning of the price list."),
    INT_ROW("cluster.expansion.nodes", terms.expansion_nodes, 1, GL_NODES_MAX, "", "Nodes in the end: bought at once is compared with bought in two stages."),
    REAL_ROW("cluster.expansion.after_months", terms.expansion_months, GL_NUMBER, 0, 600, "0", "Months until the rest is bought."),
    SPECIAL_ROW("prices", false, "Price list: a name of data/prices, a file of one's own, or its fields here; see gpulink-plan schema prices. Without it no cost is planned."),
    {.path = NULL},
};
/* clang-format on */
