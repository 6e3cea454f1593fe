/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bill of materials of a cluster: which parts, how many, where they belong, what each costs. Counts
 * come from the cluster and core/fabric.h, prices from its price list.
 */
#ifndef GL_CORE_BOM_H
#define GL_CORE_BOM_H

#include "common/texts.h"
#include "planner/core/fabric.h"

/* The structure of a purchase as its buyer thinks of it: key, place, hardware or labour, name. */
#define GL_COST_GROUPS(X)                                                                          \
    X(GPUS, INSIDE, HARDWARE, "GPUs")                                                              \
    X(NVLINK, INSIDE, HARDWARE, "NVLink: board, switch chips, bridges, connectors")                \
    X(PCIE_SWITCHES, INSIDE, HARDWARE, "PCIe switch boards")                                       \
    X(COOLING, INSIDE, HARDWARE, "liquid cooling")                                                 \
    X(SERVER, INSIDE, HARDWARE, "server: CPUs, chassis, power, cooling, cabling")                  \
    X(TUNING, INSIDE, LABOUR, "BIOS, driver and NCCL tuning")                                      \
    X(NICS, BETWEEN, HARDWARE, "network interfaces")                                               \
    X(SWITCHES, BETWEEN, HARDWARE, "switches")                                                     \
    X(LINKS, BETWEEN, HARDWARE, "optics and cables")                                               \
    X(CABLING, BETWEEN, LABOUR, "racks and cabling work")                                          \
    X(LOSSLESS, BETWEEN, LABOUR, "congestion control and lossless configuration")                  \
    X(MANAGEMENT, BETWEEN, HARDWARE, "in-band and out-of-band network")                            \
    X(FACILITY, SITE, LABOUR, "facility")

typedef enum gl_cost_group {
#define GL_AS_GROUP(key, ...) GL_COST_OF_##key,
    GL_COST_GROUPS(GL_AS_GROUP)
#undef GL_AS_GROUP
        GL_COST_OF_COUNT
} gl_cost_group;

typedef enum gl_cost_place {
    GL_PLACE_INSIDE,  /* the nodes */
    GL_PLACE_BETWEEN, /* them */
    GL_PLACE_SITE,
    GL_PLACE_COUNT
} gl_cost_place;

gl_cost_place gl_cost_group_place(gl_cost_group group);
bool gl_cost_group_is_labour(gl_cost_group group);
const char *gl_cost_group_name(gl_cost_group group);
const char *gl_cost_place_name(gl_cost_place place); /* "inside nodes" */

typedef struct gl_bom_line {
    const char *part; /* as in the price list: "switch.ib-ndr" */
    const char *role; /* "leaf", "node to leaf"; "" = none */
    gl_cost_group group;
    int64_t count, spares;
    bool has_spares;           /* their number follows from the share: gl_bom_spares */
    const gl_price *price;     /* NULL: not in the list */
    double low, typical, high; /* of one, in the list's currency; NaN: not priced */
    double power_w;            /* of one */
    bool by_server_power;      /* that follows from term.server-power */
} gl_bom_line;

typedef struct gl_bom {
    gl_bom_line *lines;
    size_t count, capacity;
    gl_fabric_counts fabric;        /* tiers 0 without a network */
    const char *missing;            /* what stops a total, and how to set it; NULL: nothing */
    gl_texts notes;                 /* what a buyer should know about the counts */
    int64_t nodes, switches, racks; /* of all networks */
} gl_bom;

static inline double gl_bom_pieces(const gl_bom_line *line)
{
    return (double)(line->count + line->spares);
}

/* The value of a term: as stated, or as the price list has it; NaN when neither says. */
double gl_cost_term_value(const gl_cluster *cluster, gl_cost_term term);

/* The bill for `nodes` nodes such as the cluster's, which has a price list. */
void gl_bom_build(const gl_cluster *cluster, int64_t nodes, gl_arena *arena, gl_bom *out);

/* Spare pieces of `count`, at least this share of them. */
int64_t gl_bom_spares(int64_t count, double share);

/* Racks for the bill's servers and switches: `rack_w` of power each, or so many switches.
 * `server_power_factor` is on the power of servers that follows from term.server-power. */
int64_t gl_bom_racks(const gl_bom *bom, double rack_w, double rack_switches,
                     double server_power_factor);

/* Sum of a group at typical prices; of all with GL_COST_OF_COUNT. */
double gl_bom_sum(const gl_bom *bom, gl_cost_group group);

#endif
