/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/option_costs.h"

#include "planner/report/columns.h"
#include "planner/report/option_parts.h"

#include <math.h>
#include <string.h>

#define MONEY(X, name, heading, value)                                                             \
    X(name, heading, GL_NUMBER, GL_FOR_PEOPLE | GL_AS_MONEY, gl_real(value))

const gl_cost *gl_option_cost(const gl_comparison *comparison, size_t index)
{
    const gl_compared *option = &comparison->options[index];
    if (!gl_is_compared(option))
        return NULL;
    const gl_cost *cost = &option->plan->cost;
    return cost->cluster != NULL && cost->missing == NULL ? cost : NULL;
}

/* The first of them; NULL: none. */
static const gl_cost *any_cost(const gl_comparison *comparison)
{
    for (size_t i = 0; i < comparison->option_count; i++)
        if (gl_option_cost(comparison, i) != NULL)
            return gl_option_cost(comparison, i);
    return NULL;
}

bool gl_option_costs_compare(const gl_cost *a, const gl_cost *b)
{
    return a != NULL && b != NULL && strcmp(a->currency, b->currency) == 0;
}

/* The currency that all costs are in; NULL: several, or no cost. */
static const char *one_currency(const gl_comparison *comparison)
{
    const char *currency = NULL;
    for (size_t i = 0; i < comparison->option_count; i++) {
        const gl_cost *cost = gl_option_cost(comparison, i);
        if (cost != NULL && currency != NULL && strcmp(cost->currency, currency) != 0)
            return NULL;
        currency = cost != NULL ? cost->currency : currency;
    }
    return currency;
}

/* The title of a table, with the currency where all have one; otherwise its rows say it. */
static const char *with_currency(const char *title, const gl_comparison *comparison,
                                 gl_arena *arena)
{
    const char *currency = one_currency(comparison);
    return currency != NULL ? gl_arena_printf(arena, "%s, in %s", title, currency) : title;
}

/* ---- what each costs ---- */

/* Empty where all are used, so that the column shows only where some are not. */
static gl_cell idle_cell(const gl_cost *cost)
{
    int64_t idle = gl_cost_idle_gpus(cost);
    return idle > 0 ? gl_integer(idle) : (gl_cell){0};
}

#define COSTS(X)                                                                                   \
    X("option", "#", GL_NUMBER, GL_FOR_PEOPLE, gl_integer(gl_option_number(i)))                    \
    X("currency", "Currency", GL_NUMBER, GL_FOR_PEOPLE, gl_text(one ? NULL : cost->currency))      \
    X("idle_gpus", "Idle GPUs", GL_NUMBER, GL_FOR_PEOPLE, idle_cell(cost))                         \
    MONEY(X, "capex", "Purchase", f->capex)                                                        \
    MONEY(X, "network_capex", "Network", f->network)                                               \
    MONEY(X, "per_year", "A year", f->per_year)                                                    \
    MONEY(X, "per_gpu_hour", "GPU-hour", f->per_gpu_hour)                                          \
    MONEY(X, "per_million_tokens", "Million tokens", f->per_million_tokens)                        \
    MONEY(X, "per_million_tokens_p10", "P10", cost->per_million_tokens.p10)                        \
    MONEY(X, "per_million_tokens_p90", "P90", cost->per_million_tokens.p90)                        \
    MONEY(X, "per_run", "Run", f->per_run)                                                         \
    MONEY(X, "per_run_p10", "P10", cost->per_run.p10)                                              \
    MONEY(X, "per_run_p50", "P50", cost->per_run.p50)                                              \
    MONEY(X, "per_run_p90", "P90", cost->per_run.p90)                                              \
    X("run_time_s", "Takes", GL_SECONDS, GL_FOR_PEOPLE, gl_real(f->run_s))                         \
    X("lead_time_months", "Later by months", GL_NUMBER, GL_FOR_PEOPLE,                             \
      gl_real(cost->site.lead_time_months))                                                        \
    MONEY(X, "delay_cost", "Work delayed", cost->site.delay)                                       \
    MONEY(X, "site_saving", "Power saved", cost->site.saving)

/* A column that says nothing of any option is not shown. */
static void hide_absent(gl_table *table, gl_arena *arena)
{
    gl_column *columns = GL_ARENA_NEW(arena, gl_column, table->column_count);
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    for (size_t i = 0; i < table->column_count; i++) {
        bool said = false;
        for (size_t row = 0; row < table->row_count; row++) {
            const gl_cell *cell = &table->cells[row * table->column_count + i];
            said = said || cell->type == GL_CELL_INTEGER || cell->type == GL_CELL_TEXT ||
                   (cell->type == GL_CELL_REAL && fabs(cell->as.real) > 0);
        }
        if (!said)
            columns[i].audience = GL_FOR_MACHINES;
    }
    table->columns = columns;
}

static gl_table *costs_table(const gl_comparison *comparison, gl_arena *arena)
{
    static const gl_column columns[] = {COSTS(AS_COLUMN)};
    bool one = one_currency(comparison) != NULL;
    gl_table *table =
        gl_table_create(arena, "costs", with_currency("What each costs", comparison, arena),
                        columns, COUNT(columns));
    for (size_t i = 0; i < comparison->option_count; i++) {
        const gl_cost *cost = gl_option_cost(comparison, i);
        if (cost == NULL)
            continue;
        const gl_cost_figures *f = &cost->typical;
        gl_cell *cell = gl_table_add_row(table);
        COSTS(AS_CELL)
    }
    hide_absent(table, arena);
    return table;
}

/* ---- what pays ---- */

static double life_months(const gl_cost_even *even)
{
    return 12 * gl_cost_term_value(even->dear->cluster, GL_TERM_LIFE);
}

const char *gl_payback_verdict(const gl_cost_even *even)
{
    if (isnan(even->months))
        return NULL;
    if (isinf(even->months))
        return "never";
    return even->months > life_months(even) ? "beyond its life" : "within its life";
}

/* What pays after the end of its life does not pay. */
const char *gl_payback_text(const gl_cost_even *even, gl_arena *arena)
{
    double life = life_months(even);
    if (isnan(even->months) || isinf(even->months))
        return gl_payback_verdict(even);
    if (even->months > life)
        return gl_arena_printf(arena, "after %.3g months, beyond its life of %.3g", even->months,
                               life);
    return gl_arena_printf(arena, "after %.3g months", even->months);
}

/* A network whose price at break-even is below nothing can not be cheap enough. */
static const char *may_cost_text(double amount, gl_arena *arena)
{
    return isnan(amount) ? NULL
           : amount > 0  ? gl_money_text(amount, arena)
                         : "no price is low enough";
}

#define PAYBACK(X)                                                                                 \
    X("dearer", "Dearer to buy", GL_NUMBER, GL_FOR_PEOPLE, gl_integer(gl_option_number(dear)))     \
    X("cheaper", "than", GL_NUMBER, GL_FOR_PEOPLE, gl_integer(gl_option_number(cheap)))            \
    X("currency", "Currency", GL_NUMBER, GL_FOR_PEOPLE,                                            \
      gl_text(one_currency(comparison) != NULL ? NULL : even.dear->currency))                      \
    MONEY(X, "difference", "by", even.dear->typical.capex - even.cheap->typical.capex)             \
    X("payback", "Pays for itself", GL_NUMBER, GL_FOR_PEOPLE,                                      \
      gl_text(gl_payback_text(&even, arena)))                                                      \
    MONEY(X, "network", "Its network costs", even.network)                                         \
    X("network_at_even", "May cost", GL_NUMBER, GL_FOR_PEOPLE,                                     \
      gl_text(may_cost_text(even.network_at_even, arena)))                                         \
    X("probability", "P(its tokens cost less)", GL_FRACTION, GL_FOR_PEOPLE,                        \
      gl_real(gl_cost_probability_cheaper(even.dear, even.cheap)))

static gl_table *payback_table(const gl_comparison *comparison, gl_arena *arena)
{
    static const gl_column columns[] = {PAYBACK(AS_COLUMN)};
    gl_table *table = gl_table_create(
        arena, "payback",
        with_currency("When what is dearer to buy pays for itself by what it does more", comparison,
                      arena),
        columns, COUNT(columns));
    for (size_t i = 0; i < comparison->option_count; i++)
        for (size_t k = i + 1; k < comparison->option_count; k++) {
            const gl_cost *a = gl_option_cost(comparison, i), *b = gl_option_cost(comparison, k);
            if (!gl_option_costs_compare(a, b))
                continue;
            gl_cost_even even = gl_cost_break_even(a, b);
            if (isnan(even.network))
                continue; /* both are rented */
            size_t dear = even.dear == a ? i : k, cheap = even.dear == a ? k : i;
            gl_cell *cell = gl_table_add_row(table);
            PAYBACK(AS_CELL)
        }
    hide_absent(table, arena);
    return table;
}

/* ---- as they grow ---- */

#define STAIRCASES(X)                                                                              \
    X("option", "#", GL_NUMBER, GL_FOR_PEOPLE, gl_integer(gl_option_number(i)))                    \
    X("cluster", "Cluster", GL_NUMBER, GL_FOR_PEOPLE,                                              \
      gl_text(comparison->options[i].setup.cluster->name))                                         \
    X("currency", "Currency", GL_NUMBER, GL_FOR_PEOPLE, gl_text(cost->currency))                   \
    X("gpus", "GPUs", GL_NUMBER, GL_FOR_PEOPLE, gl_integer(s->gpus))                               \
    X("tiers", "Tiers", GL_NUMBER, GL_FOR_PEOPLE, gl_integer(s->fabric.tiers))                     \
    MONEY(X, "network_capex", "Network", s->network)                                               \
    MONEY(X, "network_per_gpu", "Per GPU", s->network_per_gpu)                                     \
    MONEY(X, "capex_per_gpu", "All per GPU", s->capex_per_gpu)

static gl_table *staircases_table(const gl_comparison *comparison, gl_arena *arena)
{
    static const gl_column columns[] = {STAIRCASES(AS_COLUMN)};
    gl_table *table =
        gl_table_create(arena, "staircases", "Purchase of each option's network as it grows",
                        columns, COUNT(columns));
    for (size_t i = 0; i < comparison->option_count; i++) {
        gl_stair *stairs = NULL;
        const gl_cost *cost = gl_option_cost(comparison, i);
        size_t count = cost != NULL ? gl_cost_staircase(cost->cluster, arena, &stairs) : 0;
        for (size_t k = 0; k < count; k++) {
            const gl_stair *s = &stairs[k];
            if (!s->fits)
                continue;
            gl_cell *cell = gl_table_add_row(table);
            STAIRCASES(AS_CELL)
        }
    }
    return table;
}

typedef gl_table *table_builder(const gl_comparison *comparison, gl_arena *arena);

size_t gl_option_cost_tables(const gl_comparison *comparison, bool drawn, gl_arena *arena,
                             gl_table **tables)
{
    static table_builder *const builders[GL_OPTION_COST_TABLES] = {costs_table, payback_table,
                                                                   staircases_table};
    size_t count = 0;
    if (any_cost(comparison) == NULL)
        return 0;
    for (size_t i = 0; i < (drawn ? COUNT(builders) : COUNT(builders) - 1); i++) {
        gl_table *table = builders[i](comparison, arena);
        if (table->row_count > 0)
            tables[count++] = table;
    }
    return count;
}
