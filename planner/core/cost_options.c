/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs against each other, and one over the size of its cluster. */
#include "planner/core/cost.h"

#include <math.h>

/* ---- two options ---- */

double gl_cost_probability_cheaper(const gl_cost *a, const gl_cost *b)
{
    double cheaper = 0;
    size_t count = a->draw_count < b->draw_count ? a->draw_count : b->draw_count;
    if (a->token_draws == NULL || b->token_draws == NULL || count == 0)
        return (double)NAN;
    for (size_t i = 0; i < count; i++) {
        if (a->token_draws[i] < b->token_draws[i])
            cheaper += 1;
        else if (!(a->token_draws[i] > b->token_draws[i]))
            cheaper += 0.5;
    }
    return cheaper / (double)count;
}

static double break_even_months(const gl_cost_figures *cheap, const gl_cost_figures *dear)
{
    double price = dear->capex - cheap->capex;
    double gain = (dear->tokens_per_s / cheap->tokens_per_s - 1) * cheap->per_year;
    double opex =
        (dear->per_year - dear->amortised_per_year) - (cheap->per_year - cheap->amortised_per_year);
    double per_month = (gain - opex) / 12;
    if (isnan(price) || isnan(per_month))
        return (double)NAN;
    if (!(per_month > 0))
        return (double)INFINITY;
    return price / per_month;
}

gl_cost_even gl_cost_break_even(const gl_cost *a, const gl_cost *b)
{
    bool swapped = b->typical.capex < a->typical.capex;
    gl_cost_even e = {.cheap = swapped ? b : a, .dear = swapped ? a : b};
    const gl_cost_figures *cheap = &e.cheap->typical, *dear = &e.dear->typical;
    e.months = break_even_months(cheap, dear);
    e.network = dear->network;
    /* What a year may cost for the same price of a token, and the purchase that leaves: both
     * amortisation and support are proportional to it. */
    double year = cheap->per_year * dear->tokens_per_s / cheap->tokens_per_s;
    double share = (dear->amortised_per_year + dear->support_per_year) / dear->capex;
    e.network_at_even = dear->network + (year - dear->per_year) / share;
    return e;
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
