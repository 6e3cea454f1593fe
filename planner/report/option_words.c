/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/option_words.h"

#include "planner/core/layout_text.h"
#include "planner/report/cost_tables.h"
#include "planner/report/headline.h"
#include "planner/report/option_parts.h"

#include <math.h>

/* ---- in time ---- */

/* "inside a node needs 96 GB/s per GPU, pcie5-x16 gives 21 GB/s: TOO SLOW, 22 % of it" */
static const char *tier_text(const gl_plan *plan, gl_tier_kind tier, gl_arena *arena)
{
    const gl_bandwidth_need *need = &plan->needs[tier];
    const char *place = tier == GL_TIER_INTRA_NODE ? "in a node" : "between nodes";
    if (need->verdict == GL_VERDICT_NOT_USED)
        return "";
    const char *has = gl_quantity_text(need->available_bytes_per_s, GL_BYTES_PER_S, arena);
    const char *link = gl_headline_link(plan, tier);
    if (isnan(need->required_bytes_per_s))
        return gl_arena_printf(arena, "   %s: %s gives %s; %s\n", place, link, has,
                               plan->compute.known ? "no bandwidth meets the target"
                                                   : "what it needs is not known");
    return gl_arena_printf(arena, "   %s: needs %s per GPU, %s gives %s: %s\n", place,
                           gl_quantity_text(need->required_bytes_per_s, GL_BYTES_PER_S, arena),
                           link, has, gl_headline_verdict(need, arena));
}

static const char *waits_text(const gl_plan *plan, gl_arena *arena)
{
    const gl_step *step = &plan->step;
    const char *parts = gl_headline_exposed(plan, arena);
    if (!(step->exposed_communication_s > 1e-3 * step->time_s))
        return "   waits for communication: hardly\n";
    return gl_arena_printf(arena, "   waits for communication: %s of the step%s%s\n",
                           gl_percent_text(step->exposed_communication_s / step->time_s, arena),
                           parts[0] != '\0' ? ": " : "", parts);
}

static const char *place_text(const gl_comparison *comparison, size_t index, gl_arena *arena)
{
    const gl_compared *option = &comparison->options[index];
    if (index == comparison->fastest)
        return "fastest";
    if (fabs(option->slower_frac) < 5e-4)
        return "as fast";
    return gl_arena_printf(arena, "%s slower", gl_percent_text(option->slower_frac, arena));
}

/* "16 x 8 GPUs", "64 of 2 x 72 GPUs" */
static const char *gpus_text(const gl_setup *setup, const gl_option_note *note, gl_arena *arena)
{
    const gl_cluster *c = setup->cluster;
    long long used = (long long)gl_workload_ranks(setup->workload);
    const char *all = gl_arena_printf(arena, "%d x %d GPUs", c->nodes, c->gpus_per_node);
    return !note->has_no_layout && used < (long long)c->nodes * c->gpus_per_node
               ? gl_arena_printf(arena, "%lld of %s", used, all)
               : all;
}

static const char *no_answer(const gl_compared *option)
{
    if (option->plan == NULL)
        return "IMPOSSIBLE";
    return gl_compared_runs(option) ? "NOT KNOWN" : "DOES NOT FIT";
}

static const char *meant_layout(const gl_compared *option, const gl_option_note *note,
                                gl_arena *arena)
{
    const gl_workload *w = option->setup.workload;
    return note->has_no_layout
               ? ""
               : gl_arena_printf(arena, "; %s", gl_layout_text(&w->parallel, &w->batch, arena));
}

/* ", 5000 tokens/s a GPU"; "" where the tokens of a sequence are not known. */
static const char *tokens_text(const gl_step *step, gl_arena *arena)
{
    return isnan(step->tokens_per_s_per_gpu)
               ? ""
               : gl_arena_printf(arena, ", %.0f tokens/s a GPU", step->tokens_per_s_per_gpu);
}

/* What an option does, what it waits for, what its links need. */
static const char *option_text(const gl_comparison *comparison, const gl_option_note *note,
                               size_t index, gl_arena *arena)
{
    const gl_compared *option = &comparison->options[index];
    const gl_plan *plan = option->plan;
    const char *text =
        gl_arena_printf(arena, "%lld  %s (%s): ", gl_option_number(index),
                        option->setup.cluster->name, gpus_text(&option->setup, note, arena));
    const char *remedy =
        note->remedy != NULL ? gl_arena_printf(arena, "   %s\n", note->remedy) : "";
    if (note->why_not != NULL)
        return gl_arena_printf(arena, "%s%s%s\n   %s\n%s", text, no_answer(option),
                               meant_layout(option, note, arena), note->why_not, remedy);
    return gl_arena_printf(
        arena, "%s%s, %s (%s to %s)%s; %s\n%s%s%s", text, place_text(comparison, index, arena),
        gl_quantity_text(plan->step.time_s, GL_SECONDS, arena),
        gl_quantity_text(plan->step.time_p10_s, GL_SECONDS, arena),
        gl_quantity_text(plan->step.time_p90_s, GL_SECONDS, arena), tokens_text(&plan->step, arena),
        gl_layout_text(&option->setup.workload->parallel, &option->setup.workload->batch, arena),
        waits_text(plan, arena), tier_text(plan, GL_TIER_INTRA_NODE, arena),
        tier_text(plan, GL_TIER_INTER_NODE, arena));
}

/* "23.4 GB/s of bandwidth inside a node (has 5.3 GB/s)" */
static const char *need_text(const gl_break_even *row, gl_arena *arena)
{
    return gl_arena_printf(arena, "%s %s (now %s)", gl_knob_describe(row->knob)->words,
                           gl_knob_value_text(row->knob, row->limit, arena),
                           gl_knob_value_text(row->knob, row->value, arena));
}

/* What alone would bring a slower option close. */
static const char *catching_up(const gl_compared *option, gl_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < option->break_even_count; i++)
        if (option->break_evens[i].kind == GL_BREAK_EVEN_NEEDED)
            text = gl_arena_append(arena, text, "; or ", need_text(&option->break_evens[i], arena));
    return text;
}

/* What the fastest could do without. */
static const char *thinning(const gl_compared *option, gl_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < option->break_even_count; i++) {
        const gl_break_even *row = &option->break_evens[i];
        const char *words = gl_knob_describe(row->knob)->words;
        if (row->kind == GL_BREAK_EVEN_ANY)
            text = gl_arena_append(arena, text, "; or ", gl_arena_printf(arena, "any %s", words));
        if (row->kind == GL_BREAK_EVEN_SPARE)
            text = gl_arena_append(arena, text, "; or ", need_text(row, arena));
    }
    return text;
}

static double beats_fastest(const gl_comparison *comparison, size_t index)
{
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const gl_pair *pair = &comparison->pairs[i];
        if (pair->a == index && pair->b == comparison->fastest)
            return pair->probability;
        if (pair->b == index && pair->a == comparison->fastest)
            return 1 - pair->probability;
    }
    return (double)NAN;
}

/* What is left of a step when nothing waits for a link. */
static double without_communication_s(const gl_plan *plan)
{
    const gl_step *step = &plan->step;
    return step->time_s - step->exposed_communication_s - step->overlap_tax_s;
}

/* What the fastest takes for the work of an option's step. */
static double fastest_s(const gl_comparison *comparison, const gl_compared *option)
{
    return option->plan->step.time_s / option->sequence_s *
           comparison->options[comparison->fastest].sequence_s;
}

/* Of a million tokens; NaN: not known. */
static double token_cost(const gl_comparison *comparison, size_t index)
{
    const gl_cost *cost = gl_option_cost(comparison, index);
    return cost != NULL ? cost->typical.per_million_tokens : (double)NAN;
}

/* Faster and cheaper: then more is bought than needed, and well. */
static bool is_cheaper(const gl_comparison *comparison, size_t index, size_t than)
{
    return gl_option_costs_compare(gl_option_cost(comparison, index),
                                   gl_option_cost(comparison, than)) &&
           token_cost(comparison, index) * (1 + 5e-4) < token_cost(comparison, than);
}

static const char *slower_text(const gl_comparison *comparison, size_t index, gl_arena *arena)
{
    const gl_compared *option = &comparison->options[index];
    const char *within = gl_percent_text(comparison->tolerance_frac, arena);
    long long number = gl_option_number(index), fastest = gl_option_number(comparison->fastest);
    if (fabs(option->slower_frac) < 5e-4)
        return gl_arena_printf(arena,
                               "%lld is as fast as %lld: for this work what either has more is not "
                               "needed\n",
                               number, fastest);
    if (option->slower_frac <= comparison->tolerance_frac)
        return gl_arena_printf(
            arena, "%lld is within %s of %lld%s (P(%lld beats it) = %s)\n", number, within, fastest,
            is_cheaper(comparison, comparison->fastest, index)
                ? ", whose tokens cost less, too"
                : gl_arena_printf(arena, ": for this work what %lld has more is not needed",
                                  fastest),
            number, gl_percent_text(beats_fastest(comparison, index), arena));
    const char *needs = catching_up(option, arena);
    double alone_s = without_communication_s(option->plan);
    if (needs[0] == '\0' &&
        alone_s > (1 + comparison->tolerance_frac) * fastest_s(comparison, option))
        return gl_arena_printf(arena,
                               "%lld comes within %s of %lld by no link: its GPUs take %s without "
                               "any communication\n",
                               number, within, fastest,
                               gl_quantity_text(alone_s, GL_SECONDS, arena));
    if (needs[0] == '\0')
        return gl_arena_printf(arena,
                               "%lld comes within %s of %lld by no single change of a link\n",
                               number, within, fastest);
    return gl_arena_printf(arena, "%lld comes within %s of %lld with %s\n", number, within, fastest,
                           needs);
}

static bool any_runs(const gl_comparison *comparison)
{
    for (size_t i = 0; i < comparison->option_count; i++)
        if (gl_compared_runs(&comparison->options[i]))
            return true;
    return false;
}

static const char *verdict_lines(const gl_comparison *comparison, gl_arena *arena)
{
    const char *text = "";
    if (comparison->fastest == comparison->option_count)
        return any_runs(comparison)
                   ? "Step times are not known: nothing says which option is faster\n"
                   : "No option runs this work as it is described\n";
    for (size_t i = 0; i < comparison->option_count; i++)
        if (i != comparison->fastest && gl_is_compared(&comparison->options[i]))
            text = gl_arena_append(arena, text, "", slower_text(comparison, i, arena));
    const char *less = thinning(&comparison->options[comparison->fastest], arena);
    if (less[0] != '\0')
        text = gl_arena_printf(arena, "%s%lld loses at most %s with %s\n", text,
                               gl_option_number(comparison->fastest),
                               gl_percent_text(comparison->tolerance_frac, arena), less);
    return text;
}

/* ---- in money ---- */

/* The option whose tokens cost least of those that have a cost in the currency of the first that
 * has one; option_count: none has. `against_another` says whether there was more than that one. */
static size_t cheapest_option(const gl_comparison *comparison, bool *against_another)
{
    size_t best = comparison->option_count, in_currency = 0;
    for (size_t i = 0; i < comparison->option_count; i++) {
        double cost = token_cost(comparison, i);
        if (isnan(cost) || (best < comparison->option_count &&
                            !gl_option_costs_compare(gl_option_cost(comparison, i),
                                                     gl_option_cost(comparison, best))))
            continue;
        in_currency++;
        if (best == comparison->option_count || cost < token_cost(comparison, best))
            best = i;
    }
    *against_another = in_currency > 1;
    return best;
}

static double token_price(const gl_compared *option)
{
    return option->plan->cost.typical.per_million_tokens;
}

/* "0.52 USD a million tokens (0.41 to 0.70), 7,800,000 USD a run (6,150,000 to 10,500,000)" */
static const char *price_text(const gl_compared *option, gl_arena *arena)
{
    const gl_cost *cost = &option->plan->cost;
    const char *run =
        isnan(cost->typical.per_run)
            ? ""
            : gl_arena_printf(arena, ", %s %s a run%s", gl_money_text(cost->typical.per_run, arena),
                              cost->currency, gl_cost_interval_text(&cost->per_run, "", arena));
    long long idle = (long long)gl_cost_idle_gpus(cost);
    return gl_arena_printf(arena, "%s %s a million tokens%s%s%s",
                           gl_money_text(token_price(option), arena), cost->currency,
                           gl_cost_interval_text(&cost->per_million_tokens, "", arena), run,
                           idle > 0 ? gl_arena_printf(arena, ", with %lld idle GPU%s paid for",
                                                      idle, idle == 1 ? "" : "s")
                                    : "");
}

/* What an option costs more than the cheapest, and why that is not known where it is not. */
static const char *dearer_text(const gl_comparison *comparison, size_t index, size_t cheapest,
                               gl_arena *arena)
{
    const gl_compared *option = &comparison->options[index], *best = &comparison->options[cheapest];
    long long number = gl_option_number(index);
    if (!gl_option_is_priced(option))
        return gl_arena_printf(arena, "%lld has no price: %s\n", number,
                               option->plan->cost.missing != NULL
                                   ? "a part of it has none, see the warnings"
                                   : gl_why_no_cost(option->plan));
    if (!gl_options_share_currency(option, best))
        return gl_arena_printf(arena, "%lld costs %s, in another currency\n", number,
                               price_text(option, arena));
    double more = token_price(option) / token_price(best) - 1;
    if (more < 5e-4)
        return gl_arena_printf(arena, "%lld costs as much: %s\n", number,
                               price_text(option, arena));
    return gl_arena_printf(
        arena, "%lld costs %s more: %s; P(%lld is cheaper) = %s\n", number,
        gl_percent_text(more, arena), price_text(option, arena), number,
        gl_percent_text(gl_cost_probability_cheaper(&option->plan->cost, &best->plan->cost),
                        arena));
}

/* Which is cheaper, by how much and how surely; "" where no two options are compared or none has a
 * price. */
static const char *money_lines(const gl_comparison *comparison, gl_arena *arena)
{
    bool against_another;
    size_t cheapest = cheapest_option(comparison, &against_another);
    const char *text = "";
    if (cheapest == comparison->option_count || comparison->pair_count == 0)
        return "";
    for (size_t i = 0; i < comparison->option_count; i++)
        if (i != cheapest && gl_is_compared(&comparison->options[i]))
            text = gl_arena_append(arena, text, "", dearer_text(comparison, i, cheapest, arena));
    return gl_arena_printf(arena, "%lld %s %s\n%s", gl_option_number(cheapest),
                           against_another ? "is cheapest:" : "costs",
                           price_text(&comparison->options[cheapest], arena), text);
}

const char *gl_options_headline(const gl_comparison *comparison, const gl_option_note *notes,
                                const char *model, bool best_layouts, gl_arena *arena)
{
    const char *text =
        gl_arena_printf(arena, "%s: %zu option%s with %s\n\n", model, comparison->option_count,
                        comparison->option_count == 1 ? "" : "s, each",
                        best_layouts ? "its best layout" : "the layout given");
    for (size_t i = 0; i < comparison->option_count; i++)
        text = gl_arena_printf(arena, "%s%s", text, option_text(comparison, &notes[i], i, arena));
    return gl_arena_printf(arena, "%s\n%s%s", text, verdict_lines(comparison, arena),
                           money_lines(comparison, arena));
}

/* ---- what pays ---- */

static const char *amount_text(double amount, const char *currency, gl_arena *arena)
{
    return gl_arena_printf(arena, "%s %s", gl_money_text(amount, arena), currency);
}

/* "; its network, 1,248,800 USD, may cost 604,425 USD for the same" */
static const char *network_text(const gl_cost_even *even, gl_arena *arena)
{
    const char *currency = even->dear->currency;
    if (isnan(even->network_at_even))
        return "";
    if (!(even->network_at_even > 0))
        return "; no price of its network is low enough for the same";
    return gl_arena_printf(arena, "; its network, %s, may cost %s for the same",
                           amount_text(even->network, currency, arena),
                           amount_text(even->network_at_even, currency, arena));
}

/* Is what one costs more to buy worth it? "" where none is dearer, nothing is bought, or they
 * cannot be compared. */
static const char *payback_text(const gl_comparison *comparison, size_t fastest, size_t cheapest,
                                gl_arena *arena)
{
    const gl_cost *a = gl_option_cost(comparison, fastest);
    const gl_cost *b = gl_option_cost(comparison, cheapest);
    if (!gl_option_costs_compare(a, b))
        return "";
    gl_cost_even even = gl_cost_break_even(a, b);
    size_t dear = even.dear == a ? fastest : cheapest;
    size_t cheap = dear == fastest ? cheapest : fastest;
    if (isnan(even.months))
        return "";
    const char *more = amount_text(even.dear->typical.capex - even.cheap->typical.capex,
                                   even.dear->currency, arena);
    const char *bought =
        even.cheap->typical.capex > 0
            ? gl_arena_printf(arena, "%lld is %s dearer to buy than %lld", gl_option_number(dear),
                              more, gl_option_number(cheap))
            : gl_arena_printf(arena, "%lld costs %s to buy, where %lld is rented,",
                              gl_option_number(dear), more, gl_option_number(cheap));
    return gl_arena_printf(arena, "%s and pays for itself %s%s\n", bought,
                           gl_payback_text(&even, arena), network_text(&even, arena));
}

const char *gl_option_cost_words(const gl_comparison *comparison, gl_arena *arena)
{
    bool against_another;
    size_t cheapest = cheapest_option(comparison, &against_another);
    size_t fastest = comparison->fastest;
    if (!against_another || fastest == comparison->option_count || cheapest == fastest)
        return "";
    return payback_text(comparison, fastest, cheapest, arena);
}
