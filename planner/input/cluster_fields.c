/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a cluster description. Names of catalogue entries and files are SPECIAL: the loader
 * looks them up. */
#include "planner/core/hardware.h"
#include "planner/input/field_rows.h"

#define TARGET gl_cluster

/* clang-format off */
/* In the order of gl_attachment. */
static const char *const attachments[] = {"gpu-switch", "cpu", "cross-numa", NULL};
static const char *const fabrics[] = {"fat-tree", "rail-optimised", "rail-only", NULL};

const gl_field gl_cluster_fields[] = {
    TEXT_ROW("cluster.name", name, "the file's name", "Name of the cluster in reports."),
    SPECIAL_ROW("cluster.gpu", true, "The GPU: a name of data/gpus, such as h200-sxm."),
    {.path = "cluster.nodes", .type = GL_FIELD_INT, .minimum = 1, .maximum = 100000, .required = true, .offset = offsetof(TARGET, nodes),
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
    REAL_ROW("cluster.inter_node.longest_cable_m", longest_cable_m, GL_NUMBER, 0, 1e7, "", "Longest cable between nodes and switches, in metres. Stated, it is checked that the link reaches as far."),
    INT_ROW("cluster.inter_node.planes", planes, 1, 16, "1", "Separate networks over which each NIC splits its bandwidth (twin-plane: 2); radix counts ports of one plane. NICs are taken to spray evenly."),
    CHOICE_ROW("cluster.inter_node.fabric", fabric, fabrics, "fat-tree", "How the network is built: a tree, a tree whose leaves each join one rail of NICs, or rails alone."),
    REAL_ROW("cluster.inter_node.oversubscription", oversubscription, GL_NUMBER, 1, 1000, "1", "Bandwidth of a leaf's downlinks over that of its uplinks."),
    INT_ROW("cluster.inter_node.radix", radix, 2, 4096, "", "Ports of a switch."),
    BOOL_ROW("cluster.inter_node.in_network_reduction", in_network_reduction, "false", "The network's switches add up all-reduces (SHARP)."),
    INT_ROW("cluster.sites.count", sites.count, 1, 1000, "1", "Places over which the nodes are split evenly, in order, joined by leased lines."),
    REAL_ROW("cluster.sites.link.bandwidth", sites.bw_bytes_per_s, GL_BYTES_PER_S, 1e3, 1e14, "", "Bandwidth of the line of one site, per direction; all groups that span sites share it. Required with more than one site."),
    REAL_ROW("cluster.sites.link.latency", sites.latency_s, GL_SECONDS, 0, 10, "", "One-way delay of that line: about 5 us a kilometre of fibre. Required with more than one site."),
    TEXT_ROW("cluster.site.region", region, "", "Where the cluster stands. The site is not used yet: no cost is planned."),
    REAL_ROW("cluster.site.electricity", electricity_usd_per_kwh, GL_USD_PER_KWH, 0, 100, "", "Price of electricity; not used yet."),
    REAL_ROW("cluster.site.pue", pue, GL_NUMBER, 1, 10, "", "Power of the site over power of the machines; not used yet."),
    TEXT_ROW("prices", prices, "", "Price list: a file, or a name of data/prices, which has none yet. Not used yet: no cost is planned."),
    {.path = NULL},
};
/* clang-format on */
