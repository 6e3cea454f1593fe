/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of two options against each other. */
#include "planner/core/cost_parts.h"

#include <math.h>

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
    double per_month = (gain - opex) / GL_MONTHS_PER_YEAR;
    if (!(price > 0) || !isfinite(per_month))
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
    e.network = e.network_at_even = (double)NAN;
    if (!(dear->capex > 0))
        return e;
    e.network = dear->network;
    /* What a year may cost for the same price of a token, and the purchase that leaves: both
     * amortisation and support are proportional to it. */
    double year = cheap->per_year * dear->tokens_per_s / cheap->tokens_per_s;
    double share = (dear->amortised_per_year + dear->support_per_year) / dear->capex;
    double at_even = dear->network + (year - dear->per_year) / share;
    e.network_at_even = isfinite(at_even) ? at_even : (double)NAN;
    return e;
}
