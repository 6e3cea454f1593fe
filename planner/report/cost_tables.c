/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/cost_tables.h"
#include "planner/report/columns.h"

#include <math.h>
#include <string.h>

/* As in plan_tables.c: one list per table, expanded twice. */

/* An amount of money for all, or for machines alone. */
#define MONEY(X, name, heading, value)                                                             \
    X(name, heading, GL_NUMBER, GL_FOR_ALL | GL_AS_MONEY, gl_real(value))
#define MONEY_DETAIL(X, name, value)                                                               \
    X(name, NULL, GL_NUMBER, GL_FOR_MACHINES | GL_AS_MONEY, gl_real(value))

/* ---- cost ---- */

#define COST(X)                                                                                    \
    X("currency", "Currency", GL_NUMBER, GL_FOR_ALL, gl_text(cost->currency))                      \
    X("prices", "Price list", GL_NUMBER, GL_FOR_ALL, gl_text(cost->cluster->price_list->name))     \
    X("gpus", "GPUs paid for", GL_NUMBER, GL_FOR_ALL, gl_real(gpus))                               \
    X("idle_gpus", "  of them idle", GL_NUMBER, GL_FOR_ALL,                                        \
      gl_real((double)gl_cost_idle_gpus(cost)))                                                    \
    MONEY(X, "capex", "Purchase", f->capex)                                                        \
    MONEY(X, "capex_p10", "  P10", cost->capex.p10)                                                \
    MONEY(X, "capex_p90", "  P90", cost->capex.p90)                                                \
    MONEY(X, "capex_per_gpu", "  per GPU", f->capex / gpus)                                        \
    MONEY(X, "network_capex", "  of it between nodes", f->network)                                 \
    X("network_frac", "    share", GL_FRACTION, GL_FOR_ALL, gl_real(f->network / f->capex))        \
    MONEY(X, "network_per_gpu", "    per GPU", f->network / gpus)                                  \
    X("power_w", "Power of the machines", GL_WATTS, GL_FOR_ALL, gl_real(f->power_w))               \
    MONEY(X, "per_year", "A year", f->per_year)                                                    \
    X("amortisation", "  amortisation by", GL_NUMBER, GL_FOR_ALL,                                  \
      gl_text(gl_amortisations[cost->cluster->terms.amortisation]))                                \
    MONEY(X, "amortised_per_year", "  amortised", f->amortised_per_year)                           \
    MONEY(X, "rent_per_year", "  rent", f->rent_per_year)                                          \
    MONEY(X, "energy_per_year", "  energy", f->energy_per_year)                                    \
    MONEY(X, "colocation_per_year", "  colocation", f->colocation_per_year)                        \
    MONEY(X, "support_per_year", "  support", f->support_per_year)                                 \
    MONEY(X, "staff_per_year", "  staff", f->staff_per_year)                                       \
    MONEY(X, "lines_per_year", "  leased lines", f->lines_per_year)                                \
    X("availability_frac", "Available", GL_FRACTION, GL_FOR_ALL, gl_real(f->availability))         \
    X("mtbf_s", "Time between stops of the job", GL_SECONDS, GL_FOR_ALL, gl_real(f->mtbf_s))       \
    X("checkpoint_interval_s", "  checkpoint every", GL_SECONDS, GL_FOR_ALL,                       \
      gl_real(f->checkpoint_interval_s))                                                           \
    X("goodput_frac", "  time that counts", GL_FRACTION, GL_FOR_ALL, gl_real(f->goodput))          \
    MONEY(X, "per_gpu_hour", "A delivered GPU-hour", f->per_gpu_hour)                              \
    MONEY_DETAIL(X, "per_gpu_hour_p10", cost->per_gpu_hour.p10)                                    \
    MONEY_DETAIL(X, "per_gpu_hour_p90", cost->per_gpu_hour.p90)                                    \
    MONEY(X, "per_million_tokens", "A million tokens", f->per_million_tokens)                      \
    MONEY(X, "per_million_tokens_p10", "  P10", cost->per_million_tokens.p10)                      \
    MONEY_DETAIL(X, "per_million_tokens_p50", cost->per_million_tokens.p50)                        \
    MONEY(X, "per_million_tokens_p90", "  P90", cost->per_million_tokens.p90)                      \
    X("run_tokens", "Tokens of a run", GL_NUMBER, GL_FOR_ALL,                                      \
      gl_real(cost->run_tokens > 0 ? cost->run_tokens : (double)NAN))                              \
    X("run_time_s", "  time", GL_SECONDS, GL_FOR_ALL, gl_real(f->run_s))                           \
    MONEY(X, "per_run", "  cost", f->per_run)                                                      \
    MONEY(X, "per_run_p10", "    P10", cost->per_run.p10)                                          \
    MONEY_DETAIL(X, "per_run_p50", cost->per_run.p50)                                              \
    MONEY(X, "per_run_p90", "    P90", cost->per_run.p90)                                          \
    MONEY(X, "per_pflop_year", "A useful PFLOP/s over a year", f->per_pflop_year)                  \
    X("lead_time_months", "Site: months later", GL_NUMBER, GL_FOR_ALL,                             \
      gl_real(cost->site.lead_time_months))                                                        \
    MONEY(X, "delay_cost", "  work delayed", cost->site.delay)                                     \
    MONEY(X, "site_saving_per_year", "  power saved a year", cost->site.saving_per_year)           \
    MONEY(X, "site_saving", "  power saved over the life", cost->site.saving)                      \
    X("expansion_nodes", "Expansion to nodes", GL_NUMBER, GL_FOR_ALL,                              \
      gl_real(expands ? cost->expansion.nodes : (double)NAN))                                      \
    MONEY(X, "expansion_at_once", "  bought at once",                                              \
          expands ? cost->expansion.at_once : (double)NAN)                                         \
    MONEY(X, "expansion_staged", "  in two stages, at today's value",                              \
          expands ? cost->expansion.staged : (double)NAN)                                          \
    X("missing", "No total", GL_NUMBER, GL_FOR_ALL, gl_text(cost->missing))

/* People need no lines for what does not occur. */
static void hide_absent(gl_table *table, gl_arena *arena)
{
    gl_column *columns = GL_ARENA_NEW(arena, gl_column, table->column_count);
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    for (size_t i = 0; i < table->column_count; i++) {
        const gl_cell *cell = &table->cells[i];
        bool absent = cell->type == GL_CELL_EMPTY ||
                      (cell->type == GL_CELL_REAL && !(fabs(cell->as.real) > 0));
        if (absent)
            columns[i].audience = (columns[i].audience & ~GL_FOR_PEOPLE) | GL_FOR_MACHINES;
    }
    table->columns = columns;
}

gl_table *gl_cost_table(const gl_plan *plan, gl_arena *arena)
{
    static const gl_column columns[] = {COST(AS_COLUMN)};
    const gl_cost *cost = &plan->cost;
    const gl_cost_figures *f = &cost->typical;
    bool expands = cost->expansion.nodes > 0;
    double gpus = (double)cost->gpus;
    gl_table *table = gl_table_create(arena, "cost", "Cost", columns, COUNT(columns));
    table->record = true;
    if (cost->cluster == NULL)
        return table;
    table->title = gl_arena_printf(arena, "Cost in %s", cost->currency);
    gl_cell *cell = gl_table_add_row(table);
    COST(AS_CELL)
    hide_absent(table, arena);
    return table;
}

/* ---- structure ---- */

#define STRUCTURE(X)                                                                               \
    X("place", "Where", GL_NUMBER, GL_FOR_ALL,                                                     \
      gl_text(gl_cost_place_name(gl_cost_group_place(group))))                                     \
    X("item", "What", GL_NUMBER, GL_FOR_ALL, gl_text(gl_cost_group_name(group)))                   \
    MONEY(X, "amount", "Purchase", sum)                                                            \
    X("share_frac", "Share", GL_FRACTION, GL_FOR_ALL, gl_real(sum / cost->typical.capex))          \
    MONEY(X, "per_gpu", "Per GPU", sum / (double)cost->gpus)

gl_table *gl_cost_structure_table(const gl_plan *plan, gl_arena *arena)
{
    static const gl_column columns[] = {STRUCTURE(AS_COLUMN)};
    const gl_cost *cost = &plan->cost;
    gl_table *table = gl_table_create(arena, "cost_structure", "What is bought, and where it is",
                                      columns, COUNT(columns));
    for (int i = 0; cost->cluster != NULL && i < GL_COST_OF_COUNT; i++) {
        gl_cost_group group = (gl_cost_group)i;
        double sum = gl_cost_group_sum(cost, group);
        if (sum == 0)
            continue;
        gl_cell *cell = gl_table_add_row(table);
        STRUCTURE(AS_CELL)
    }
    return table;
}

/* ---- bill of materials ---- */

static const char *text_of(const gl_price *price, const char *text)
{
    return price != NULL && text != NULL ? text : "";
}

#define BOM(X)                                                                                     \
    X("place", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                   \
      gl_text(gl_cost_place_name(gl_cost_group_place(line->group))))                               \
    X("item", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_cost_group_name(line->group)))          \
    X("part", "Part", GL_NUMBER, GL_FOR_ALL, gl_text(line->part))                                  \
    X("role", "For", GL_NUMBER, GL_FOR_ALL, gl_text(line->role))                                   \
    X("title", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                   \
      gl_text(text_of(price, price != NULL ? price->title : NULL)))                                \
    X("unit", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                    \
      gl_text(text_of(price, price != NULL ? price->unit : NULL)))                                 \
    X("count", "Count", GL_NUMBER, GL_FOR_ALL, gl_integer(line->count))                            \
    X("spares", "Spares", GL_NUMBER, GL_FOR_ALL, gl_integer(line->spares))                         \
    MONEY(X, "price_low", "Price: low", line->low)                                                 \
    MONEY(X, "price", "typical", line->typical)                                                    \
    MONEY(X, "price_high", "high", line->high)                                                     \
    MONEY(X, "amount", "Amount", gl_bom_pieces(line) * line->typical)                              \
    X("currency", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(cost->currency))                       \
    X("power_w", NULL, GL_WATTS, GL_FOR_MACHINES, gl_real(line->power_w))                          \
    X("confidence", "Known", GL_NUMBER, GL_FOR_ALL,                                                \
      gl_text(price == NULL || isnan(line->typical) ? "no price"                                   \
                                                    : gl_confidence_name(price->confidence)))      \
    X("date", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                    \
      gl_text(text_of(price, price != NULL ? price->date : NULL)))                                 \
    X("source", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                  \
      gl_text(text_of(price, price != NULL ? price->source : NULL)))

gl_table *gl_bom_table(const gl_plan *plan, gl_arena *arena)
{
    static const gl_column columns[] = {BOM(AS_COLUMN)};
    const gl_cost *cost = &plan->cost;
    gl_table *table = gl_table_create(arena, "bom", "Bill of materials", columns, COUNT(columns));
    for (size_t i = 0; cost->cluster != NULL && i < cost->bom.count; i++) {
        const gl_bom_line *line = &cost->bom.lines[i];
        const gl_price *price = line->price;
        gl_cell *cell = gl_table_add_row(table);
        BOM(AS_CELL)
    }
    return table;
}

/* ---- scale ---- */

#define STAIRCASE(X)                                                                               \
    X("nodes", "Nodes", GL_NUMBER, GL_FOR_ALL, gl_integer(s->nodes))                               \
    X("gpus", "GPUs", GL_NUMBER, GL_FOR_ALL, gl_integer(s->gpus))                                  \
    X("tiers", "Tiers", GL_NUMBER, GL_FOR_ALL, gl_integer(s->fabric.tiers))                        \
    X("leaves", "Leaf", GL_NUMBER, GL_FOR_ALL, gl_integer(s->fabric.leaves))                       \
    X("spines", "Spine", GL_NUMBER, GL_FOR_ALL, gl_integer(s->fabric.spines))                      \
    X("cores", "Core", GL_NUMBER, GL_FOR_ALL, gl_integer(s->fabric.cores))                         \
    X("node_links", "Node links", GL_NUMBER, GL_FOR_ALL, gl_integer(s->fabric.node_links))         \
    X("switch_links", "Switch links", GL_NUMBER, GL_FOR_ALL,                                       \
      gl_integer(s->fabric.spine_links + s->fabric.core_links))                                    \
    MONEY(X, "network_capex", "Network", s->network)                                               \
    MONEY(X, "network_per_gpu", "Per GPU", s->network_per_gpu)                                     \
    MONEY(X, "capex_per_gpu", "All per GPU", s->capex_per_gpu)

gl_table *gl_staircase_table(const gl_plan *plan, gl_arena *arena)
{
    static const gl_column columns[] = {STAIRCASE(AS_COLUMN)};
    gl_table *table =
        gl_table_create(arena, "staircase", "Purchase of the network with the number of nodes",
                        columns, COUNT(columns));
    gl_stair *stairs = NULL;
    size_t count =
        plan->cost.cluster != NULL ? gl_cost_staircase(plan->cost.cluster, arena, &stairs) : 0;
    for (size_t i = 0; i < count; i++) {
        const gl_stair *s = &stairs[i];
        if (!s->fits)
            continue;
        gl_cell *cell = gl_table_add_row(table);
        STAIRCASE(AS_CELL)
    }
    return table;
}

/* ---- uncertainty ---- */

#define SOURCES(X)                                                                                 \
    X("source", "Source of error", GL_NUMBER, GL_FOR_ALL, gl_text(s->name))                        \
    MONEY(X, "low", "Low", s->low)                                                                 \
    MONEY(X, "typical", "Typical", s->typical)                                                     \
    MONEY(X, "high", "High", s->high)                                                              \
    MONEY(X, "p10_change", "Cost at P10", s->p10_change)                                           \
    MONEY(X, "p90_change", "At P90", s->p90_change)                                                \
    X("date", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(s->date))                                  \
    X("origin", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(s->origin))

gl_table *gl_cost_sources_table(const gl_plan *plan, gl_arena *arena)
{
    static const gl_column columns[] = {SOURCES(AS_COLUMN)};
    const gl_cost *cost = &plan->cost;
    gl_table *table = gl_table_create(
        arena, "cost_uncertainty",
        isnan(cost->typical.per_million_tokens)
            ? "What the interval of the cost comes from: changes of a year's cost"
            : "What the interval of the cost comes from: changes of a million tokens' cost",
        columns, COUNT(columns));
    for (size_t i = 0; i < cost->source_count; i++) {
        const gl_cost_source *s = &cost->sources[i];
        if (s->p10_change == 0 && s->p90_change == 0)
            continue;
        gl_cell *cell = gl_table_add_row(table);
        SOURCES(AS_CELL)
    }
    return table;
}

/* ---- headline ---- */

const char *gl_cost_interval_text(const gl_interval *interval, const char *of, gl_arena *arena)
{
    if (isnan(interval->p10) || isnan(interval->p90))
        return "";
    return gl_arena_printf(arena, " (%s%s to %s)", of, gl_money_text(interval->p10, arena),
                           gl_money_text(interval->p90, arena));
}

static const char *run_line(const gl_cost *cost, gl_arena *arena)
{
    if (isnan(cost->typical.per_run))
        return "";
    return gl_arena_printf(arena, "               a run of %s tokens takes %s and costs %s%s\n",
                           gl_quantity_text(cost->run_tokens, GL_NUMBER, arena),
                           gl_quantity_text(cost->typical.run_s, GL_SECONDS, arena),
                           gl_money_text(cost->typical.per_run, arena),
                           gl_cost_interval_text(&cost->per_run, "80 %: ", arena));
}

/* What work costs. */
static const char *work_line(const gl_cost *cost, gl_arena *arena)
{
    const gl_cost_figures *f = &cost->typical;
    if (isnan(f->per_gpu_hour))
        return "               what work costs is not known, see the warnings\n";
    const char *tokens =
        isnan(f->per_million_tokens)
            ? ""
            : gl_arena_printf(arena, ", %s a million tokens%s",
                              gl_money_text(f->per_million_tokens, arena),
                              gl_cost_interval_text(&cost->per_million_tokens, "80 %: ", arena));
    return gl_arena_printf(arena, "               %s a delivered GPU-hour%s\n",
                           gl_money_text(f->per_gpu_hour, arena), tokens);
}

/* Whoever reads what a token costs must know that it pays for GPUs which do nothing. */
static const char *idle_line(const gl_cost *cost, gl_arena *arena)
{
    long long idle = (long long)gl_cost_idle_gpus(cost);
    return idle == 0 ? ""
                     : gl_arena_printf(arena,
                                       "               all of it pays for %lld GPUs, of which %lld "
                                       "%s idle\n",
                                       (long long)cost->gpus, idle, idle == 1 ? "is" : "are");
}

const char *gl_cost_headline(const gl_plan *plan, gl_arena *arena)
{
    const gl_cost *cost = &plan->cost;
    const gl_cost_figures *f = &cost->typical;
    if (cost->cluster == NULL)
        return "";
    if (cost->missing != NULL)
        return "Cost           not totalled: a part has no price, see the warnings\n";
    const char *purchase =
        f->capex > 0
            ? gl_arena_printf(arena, "%s to buy, %.0f %% of it between nodes",
                              gl_money_text(f->capex, arena), 100 * f->network / f->capex)
            : gl_arena_printf(arena, "%s rent a year", gl_money_text(f->rent_per_year, arena));
    return gl_arena_printf(arena, "Cost (%s)     %s\n%s%s%s", cost->currency, purchase,
                           work_line(cost, arena), run_line(cost, arena), idle_line(cost, arena));
}
