/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Money: cost of tokens against step time (table `cost` beside `step`, or an `options` table with
 * cost), what is bought (`cost_structure`), and what the network costs as it grows (`staircase`).
 */
#include "planner/report/chart_build.h"

#include <string.h>

/* Colours of options: those that differ most first. */
static const int option_hues[] = {GL_HUE_COMPUTE, GL_HUE_DP,        GL_HUE_TP, GL_HUE_PP,
                                  GL_HUE_CP,      GL_HUE_OPTIMIZER, GL_HUE_EP, GL_HUE_BAD};
enum { OPTION_HUES = sizeof option_hues / sizeof option_hues[0] };

typedef struct offer {
    const char *name;
    double step_s, step_low_s, step_high_s;
    double cost, cost_low, cost_high;
} offer;

static bool from_scenario(const gl_scenario *part, offer *o)
{
    const gl_table *cost = gl_chart__table(part, "cost"), *step = gl_chart__table(part, "step");
    if (cost == NULL || step == NULL)
        return false;
    *o = (offer){.step_s = gl_chart__number(step, 0, "time_s"),
                 .step_low_s = gl_chart__number(step, 0, "time_p10_s"),
                 .step_high_s = gl_chart__number(step, 0, "time_p90_s"),
                 .cost = gl_chart__number(cost, 0, "per_million_tokens"),
                 .cost_low = gl_chart__number(cost, 0, "per_million_tokens_p10"),
                 .cost_high = gl_chart__number(cost, 0, "per_million_tokens_p90")};
    return o->step_s > 0 && o->cost > 0;
}

static bool from_option(const gl_table *options, size_t row, offer *o)
{
    *o = (offer){.name = gl_chart__text(options, row, "cluster"),
                 .step_s = gl_chart__number(options, row, "step_time_s"),
                 .step_low_s = gl_chart__number(options, row, "step_time_p10_s"),
                 .step_high_s = gl_chart__number(options, row, "step_time_p90_s"),
                 .cost = gl_chart__number(options, row, "per_million_tokens"),
                 .cost_low = gl_chart__number(options, row, "per_million_tokens_p10"),
                 .cost_high = gl_chart__number(options, row, "per_million_tokens_p90")};
    return o->name != NULL && o->step_s > 0 && o->cost > 0;
}

typedef struct offers {
    offer *items;
    size_t count, capacity, part; /* where the first was found */
    const char *table, *currency;
} offers;

static void add_offer(offers *all, gl_arena *arena, const offer *o, size_t part, const char *table)
{
    if (all->count == 0) {
        all->part = part;
        all->table = table;
    }
    all->items =
        gl_arena_grow(arena, all->items, &all->capacity, all->count + 1, sizeof *all->items);
    all->items[all->count++] = *o;
}

static void find_currency(offers *all, const gl_table *table)
{
    for (size_t row = 0; table != NULL && row < table->row_count && all->currency == NULL; row++)
        all->currency = gl_chart__text(table, row, "currency");
}

static void find_offers(gl_charting *c, offers *all)
{
    const gl_scenario *part;
    offer o;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *options = gl_chart__table(part, "options");
        const gl_table *cost = gl_chart__table(part, "cost");
        find_currency(all, cost);
        find_currency(all, options);
        for (size_t row = 0; options != NULL && row < options->row_count; row++)
            if (from_option(options, row, &o))
                add_offer(all, c->arena, &o, i, "options");
        if ((options == NULL || all->count == 0) && from_scenario(part, &o)) {
            o.name = gl_chart__short_name(c->report, part, c->arena);
            add_offer(all, c->arena, &o, i, "cost");
        }
    }
}

/* Is no other both faster and cheaper? */
static bool is_on_front(const offers *all, const offer *o)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].step_s < o->step_s && all->items[i].cost < o->cost)
            return false;
    return true;
}

static const char *pareto_words(const offers *all, gl_arena *arena)
{
    const char *words = "";
    for (size_t i = 0; i < all->count; i++)
        if (is_on_front(all, &all->items[i]))
            words = gl_arena_append(arena, words, ", ", all->items[i].name);
    return gl_arena_printf(arena,
                           "Down and to the left is better; whiskers are 80 %% intervals. No "
                           "other is both faster and cheaper than: %s.",
                           words);
}

static void chart_pareto(gl_charting *c)
{
    offers all = {0};
    find_offers(c, &all);
    const char *currency = all.currency != NULL ? all.currency : "money";
    gl_chart chart = {
        .table = all.table,
        .title = "Cost of tokens against step time",
        .x = {.title = "time of a step", .dimension = GL_SECONDS},
        .y = {.title = gl_arena_printf(c->arena, "%s a million tokens", currency), .money = true}};
    for (size_t i = 0; i < all.count; i++) {
        const offer *o = &all.items[i];
        gl_series *series = gl_chart__series(&chart, c->arena, o->name, GL_MARK_INTERVAL,
                                             option_hues[i % OPTION_HUES]);
        gl_chart__add(series, c->arena,
                      (gl_datum){.x = o->step_s,
                                 .y = o->cost,
                                 .low = o->step_low_s,
                                 .high = o->step_high_s,
                                 .below = o->cost_low,
                                 .above = o->cost_high});
    }
    /* One point says nothing against another. */
    if (all.count < 2)
        return;
    /* Options beside each other have a table of what each costs. */
    if (gl_chart__table(gl_report_part(c->report, all.part), "costs") != NULL)
        chart.table = "costs";
    chart.words = pareto_words(&all, c->arena);
    gl_chart__hang(c, all.part, &chart);
}

static void chart_structure(gl_charting *c)
{
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++) {
        const gl_table *table = gl_chart__table(part, "cost_structure");
        const gl_table *cost = gl_chart__table(part, "cost");
        const char *currency = cost != NULL ? gl_chart__text(cost, 0, "currency") : NULL;
        gl_chart chart = {.table = "cost_structure",
                          .title = "What is bought",
                          .words = "Purchase by what it is for.",
                          .x = {.title = "purchase", .money = true}};
        for (size_t row = 0; table != NULL && row < table->row_count; row++) {
            const char *item = gl_chart__text(table, row, "item");
            const char *place = gl_chart__text(table, row, "place");
            double amount = gl_chart__number(table, row, "amount");
            if (item == NULL || !(amount > 0))
                continue;
            size_t category = gl_chart__category(&chart, c->arena, item);
            chart.stacked = true; /* one bar a row, of the colour of its place */
            gl_series *series =
                gl_chart__named(&chart, c->arena, place != NULL ? place : "purchase", GL_MARK_BAR,
                                (int)(2 * chart.series_count % GL_HUE_COUNT));
            gl_chart__add(series, c->arena, (gl_datum){.category = category, .x = amount});
        }
        if (currency != NULL)
            chart.x.title = gl_arena_printf(c->arena, "purchase, %s", currency);
        gl_chart__hang(c, i, &chart);
    }
}

void gl_charts__cost(gl_charting *c)
{
    chart_pareto(c);
    chart_structure(c);
}

/* One row is a step of the series of its option, or of the only one there is. */
static void add_stair(gl_chart *chart, gl_arena *arena, const gl_table *table, size_t row)
{
    const char *name = gl_chart__text(table, row, "cluster");
    double tiers = gl_chart__number(table, row, "tiers");
    const gl_datum datum = {
        .x = gl_chart__number(table, row, "gpus"),
        .y = gl_chart__number(table, row, "network_per_gpu"),
        .note = isnan(tiers) ? NULL
                             : gl_arena_printf(arena, "%.0f tier%s", tiers, tiers == 1 ? "" : "s")};
    if (!(datum.x > 0) || isnan(datum.y))
        return;
    int hue =
        chart->series_count == 0 ? GL_HUE_COMPUTE : option_hues[chart->series_count % OPTION_HUES];
    gl_chart__add(
        gl_chart__named(chart, arena, name != NULL ? name : "network per GPU", GL_MARK_JOINED, hue),
        arena, datum);
}

void gl_charts__staircase(gl_charting *c)
{
    static const char *const names[] = {"staircase", "staircases"};
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(c->report, i)) != NULL; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            const gl_table *table = gl_chart__table(part, names[k]);
            gl_chart chart = {.table = names[k],
                              .title = "Network cost per GPU as the cluster grows",
                              .words = "Switches come whole: cost per GPU jumps where a switch or "
                                       "a tier is added, and falls as its ports fill.",
                              .x = {.title = "GPUs", .logarithmic = true},
                              .y = {.title = "network per GPU", .money = true}};
            for (size_t row = 0; table != NULL && row < table->row_count; row++)
                add_stair(&chart, c->arena, table, row);
            gl_chart__hang(c, i, &chart);
        }
}
