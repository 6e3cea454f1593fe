/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The purchase: of one group of parts, and of the same cluster with other numbers of nodes. */
#include "planner/core/cost.h"

#include <math.h>

/* What is in the price of whole servers, where the list says. */
typedef struct server_parts {
    double gpus, joining, cooling;
} server_parts;

/* GPUs that the machines of the bill have, used or not. */
static double gpus_of_servers(const gl_cost *cost)
{
    for (size_t i = 0; i < cost->bom.count; i++) {
        const gl_bom_line *line = &cost->bom.lines[i];
        if (line->group == GL_COST_OF_SERVER && line->price != NULL && line->price->gpus > 0)
            return (double)line->count * line->price->gpus;
    }
    return (double)cost->gpus;
}

/* So many pieces at the list's price; 0 when it says none. */
static double worth(const gl_cost *cost, const char *kind, const char *name, double pieces)
{
    const gl_price_list *list = cost->cluster->price_list;
    const gl_price *price = name != NULL ? gl_price_find(list, kind, name) : NULL;
    if (price == NULL || isnan(price->typical))
        return 0;
    if (price->gpus > 0)
        pieces = gpus_of_servers(cost) / price->gpus;
    return pieces * price->typical * gl_price_rate(list, price->currency);
}

/* A server's price less its GPUs, what joins and what cools them; whole where these are dearer. */
static server_parts split_server(const gl_cost *cost)
{
    const gl_cluster *c = cost->cluster;
    const char *gpu = c->gpu != NULL ? c->gpu->name : NULL;
    const char *link = c->intra.link != NULL ? c->intra.link->name : NULL;
    double server = gl_bom_sum(&cost->bom, GL_COST_OF_SERVER);
    server_parts parts = {0, 0, 0};
    if (gl_bom_sum(&cost->bom, GL_COST_OF_GPUS) > 0)
        return parts;
    parts.gpus = worth(cost, "gpu", gpu, gpus_of_servers(cost));
    parts.joining = parts.gpus > 0 ? worth(cost, "board", link, c->nodes) : 0;
    parts.cooling = worth(cost, "cooling", gpu, c->nodes);
    return parts.gpus + parts.joining + parts.cooling < server ? parts : (server_parts){0, 0, 0};
}

double gl_cost_group_sum(const gl_cost *cost, gl_cost_group group)
{
    if (cost->cluster == NULL)
        return (double)NAN;
    const server_parts parts = split_server(cost);
    double sum = gl_bom_sum(&cost->bom, group);
    switch (group) {
    case GL_COST_OF_GPUS:
        return sum + parts.gpus;
    case GL_COST_OF_NVLINK:
        return sum + parts.joining;
    case GL_COST_OF_COOLING:
        return sum + parts.cooling;
    case GL_COST_OF_SERVER:
        return sum - parts.gpus - parts.joining - parts.cooling;
    default:
        return sum;
    }
}

/* ---- scale ---- */

static const int64_t STAIRCASE_GPUS = 16384;

static gl_stair stair(const gl_cluster *cluster, int64_t nodes, gl_arena *arena)
{
    gl_bom bom;
    gl_bom_build(cluster, nodes, arena, &bom);
    gl_stair s = {.nodes = nodes,
                  .gpus = nodes * cluster->gpus_per_node,
                  .fabric = bom.fabric,
                  .fits = bom.fabric.tiers > 0 || nodes == 1};
    bool priced = bom.missing == NULL;
    for (int i = 0; i < GL_COST_OF_COUNT; i++)
        if (gl_cost_group_place((gl_cost_group)i) == GL_PLACE_BETWEEN)
            s.network += gl_bom_sum(&bom, (gl_cost_group)i);
    s.network = priced ? s.network : (double)NAN;
    s.network_per_gpu = s.network / (double)s.gpus;
    s.capex_per_gpu = priced ? gl_bom_sum(&bom, GL_COST_OF_COUNT) / (double)s.gpus : (double)NAN;
    return s;
}

size_t gl_cost_staircase(const gl_cluster *cluster, gl_arena *arena, gl_stair **out)
{
    enum { STAIRS_MAX = 64 };
    size_t count = 0;
    int64_t most = STAIRCASE_GPUS / cluster->gpus_per_node;
    if (cluster->nodes < 2 || cluster->price_list == NULL)
        return 0;
    if (most < (int64_t)cluster->nodes * 8)
        most = (int64_t)cluster->nodes * 8;
    *out = GL_ARENA_NEW(arena, gl_stair, STAIRS_MAX);
    for (int64_t nodes = 2; nodes <= most && count + 3 < STAIRS_MAX; nodes *= 2) {
        (*out)[count++] = stair(cluster, nodes, arena);
        if (2 * nodes <= most && nodes > 2)
            (*out)[count++] = stair(cluster, nodes + 1, arena);
        if (nodes + 1 < cluster->nodes && cluster->nodes < 2 * nodes)
            (*out)[count++] = stair(cluster, cluster->nodes, arena);
    }
    return count;
}
