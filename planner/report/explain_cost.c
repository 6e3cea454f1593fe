/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How money is counted. The formulas are those of planner/core/cost.c; docs/cost.md has their
 * sources. */
#include "planner/report/cost_tables.h"
#include "planner/report/explain_figures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef const char *numbers_function(const gl_explainer *e);

static const char *money(const gl_explainer *e, double amount)
{
    return gl_money_text(amount, e->arena);
}

static const gl_cost_figures *figures(const gl_explainer *e)
{
    return &e->plan->cost.typical;
}

static double term(const gl_explainer *e, gl_cost_term which)
{
    return gl_cost_term_value(e->plan->cost.cluster, which);
}

/* "16 · 296,644 + …": the first lines of a bill. */
static const char *lines_text(const gl_explainer *e, const gl_bom *bom, bool between)
{
    enum { SHOWN_MAX = 4 };
    const char *text = "";
    size_t shown = 0;
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        if (between && gl_cost_group_place(line->group) != GL_PLACE_BETWEEN)
            continue;
        if (shown++ == SHOWN_MAX)
            return gl_arena_printf(e->arena, "%s + …", text);
        text = gl_arena_printf(e->arena, "%s%s%.0f · %s (%s)", text, shown > 1 ? " + " : "",
                               gl_bom_pieces(line), money(e, line->typical), line->part);
    }
    return text;
}

static const char *bill_text(const gl_explainer *e, bool between)
{
    return lines_text(e, &e->plan->cost.bom, between);
}

static const char *power_numbers(const gl_explainer *e)
{
    const gl_bom *bom = &e->plan->cost.bom;
    const char *text = "";
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        if (line->power_w > 0)
            text = gl_arena_printf(e->arena, "%s%s%" PRId64 " · %s (%s)", text,
                                   text[0] != '\0' ? " + " : "", line->count,
                                   gl_explain__quantity(e, line->power_w, GL_WATTS), line->part);
    }
    return text;
}

static const char *cluster_gpus_numbers(const gl_explainer *e)
{
    const gl_cluster *cluster = e->plan->cost.cluster;
    return gl_arena_printf(e->arena, "%d · %d", cluster->nodes, cluster->gpus_per_node);
}

static const char *idle_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%" PRId64 " − %" PRId64, e->plan->cost.gpus,
                           e->plan->cost.job_gpus);
}

static const char *capex_numbers(const gl_explainer *e)
{
    return bill_text(e, false);
}

static const char *network_numbers(const gl_explainer *e)
{
    return bill_text(e, true);
}

static const char *per_gpu_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%s / %" PRId64, money(e, figures(e)->capex),
                           e->plan->cost.gpus);
}

static const char *network_share_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%s / %s", money(e, figures(e)->network),
                           money(e, figures(e)->capex));
}

static const char *network_per_gpu_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%s / %" PRId64, money(e, figures(e)->network),
                           e->plan->cost.gpus);
}

static const char *amortised_formula(const gl_explainer *e)
{
    static const char *const formulas[] = {
        "purchase · (1 − residual) / life",
        "purchase · r / (1 − (1+r)^−life) − purchase · residual · r / ((1+r)^life − 1)",
        "purchase · decades a year · ln 10"};
    return formulas[e->plan->cost.cluster->terms.amortisation];
}

static const char *amortised_numbers(const gl_explainer *e)
{
    const char *purchase = money(e, figures(e)->capex);
    double life = term(e, GL_TERM_LIFE), residual = term(e, GL_TERM_RESIDUAL);
    switch (e->plan->cost.cluster->terms.amortisation) {
    case GL_ANNUITY:
        return gl_arena_printf(e->arena, "%s, r = %.4g, life %.4g, residual %.4g", purchase,
                               term(e, GL_TERM_INTEREST), life, residual);
    case GL_DECAY:
        return gl_arena_printf(e->arena, "%s · %.4g · ln 10", purchase, term(e, GL_TERM_DECAY));
    case GL_STRAIGHT_LINE:
        break;
    }
    return gl_arena_printf(e->arena, "%s · (1 − %.4g) / %.4g", purchase, residual, life);
}

static const char *rent_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%s · %" PRId64 " · 8760",
                           money(e, e->plan->cost.rent_per_gpu_hour), e->plan->cost.gpus);
}

static const char *energy_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%.4g kW · %.4g · %.4g · 8760 h · %.4g (%s)",
                           figures(e)->power_w / 1000, term(e, GL_TERM_DRAW), e->plan->cost.pue,
                           e->plan->cost.electricity_per_kwh, e->plan->cost.electricity_source);
}

static const char *colocation_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%.4g kW · %.4g · 12", figures(e)->power_w / 1000,
                           e->plan->cost.colocation_per_kw_month);
}

static const char *support_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%.4g · %s", term(e, GL_TERM_SUPPORT),
                           money(e, figures(e)->hardware));
}

static const char *staff_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%.4g · %d · %s", term(e, GL_TERM_STAFF),
                           e->plan->cost.cluster->nodes,
                           money(e, e->plan->cost.staff_cost_per_year));
}

static const char *lines_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%s · 12", money(e, e->plan->cost.line_fee_per_month));
}

static const char *year_numbers(const gl_explainer *e)
{
    const gl_cost_figures *f = figures(e);
    return gl_arena_printf(
        e->arena, "%s + %s + %s + %s + %s + %s + %s", money(e, f->amortised_per_year),
        money(e, f->rent_per_year), money(e, f->energy_per_year), money(e, f->colocation_per_year),
        money(e, f->support_per_year), money(e, f->staff_per_year), money(e, f->lines_per_year));
}

static const char *mtbf_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "1 h / (%.4g · %" PRId64 ")", term(e, GL_TERM_FAILURES),
                           e->plan->cost.job_gpus);
}

static const char *interval_numbers(const gl_explainer *e)
{
    const char *c = gl_explain__quantity(e, term(e, GL_TERM_CHECKPOINT), GL_SECONDS);
    const char *m = gl_explain__quantity(e, figures(e)->mtbf_s, GL_SECONDS);
    double part = term(e, GL_TERM_CHECKPOINT) / (2 * figures(e)->mtbf_s);
    if (!(part < 1))
        return gl_arena_printf(e->arena, "%s, since C = %s is twice as long", m, c);
    return gl_arena_printf(e->arena, "√(2 · %s · %s) · (1 + %.4g/3 + %.4g/9) − %s", c, m,
                           sqrt(part), part, c);
}

static const char *goodput_numbers(const gl_explainer *e)
{
    double m = figures(e)->mtbf_s, t = figures(e)->checkpoint_interval_s;
    if (isnan(m))
        return NULL;
    return gl_arena_printf(e->arena, "%.4g / (e^%.4g · (e^(%.4g + %.4g) − 1))", t / m,
                           term(e, GL_TERM_RESTART) / m, t / m, term(e, GL_TERM_CHECKPOINT) / m);
}

static const char *gpu_hour_numbers(const gl_explainer *e)
{
    const gl_cost_figures *f = figures(e);
    return gl_arena_printf(e->arena, "%s / (%" PRId64 " · 8760 · %.4g · %.4g)",
                           money(e, f->per_year), e->plan->cost.gpus, f->availability, f->goodput);
}

static const char *tokens_numbers(const gl_explainer *e)
{
    const gl_cost_figures *f = figures(e);
    return gl_arena_printf(e->arena, "%s / (%.6g · %.4g · %.4g · 31.536e6 s) · 1e6",
                           money(e, f->per_year), e->plan->step.tokens_per_s, f->availability,
                           f->goodput);
}

static const char *run_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%.4g / 1e6 · %s", e->plan->cost.run_tokens,
                           money(e, figures(e)->per_million_tokens));
}

static const char *run_time_numbers(const gl_explainer *e)
{
    const gl_cost_figures *f = figures(e);
    return gl_arena_printf(e->arena, "%.4g / (%.6g · %.4g · %.4g)", e->plan->cost.run_tokens,
                           e->plan->step.tokens_per_s, f->availability, f->goodput);
}

static const char *pflop_numbers(const gl_explainer *e)
{
    const gl_cost_figures *f = figures(e);
    double pflops = f->per_year / f->per_pflop_year;
    return gl_arena_printf(e->arena, "%s / (%.6g tokens/s · %.4g FLOP / 1e15)",
                           money(e, f->per_year), f->tokens_per_s, pflops * 1e15 / f->tokens_per_s);
}

static const char *delay_numbers(const gl_explainer *e)
{
    double months = e->plan->cost.site.lead_time_months;
    return gl_arena_printf(e->arena, "%.4g · %s", months,
                           money(e, e->plan->cost.site.delay / months));
}

static const char *saving_per_year_numbers(const gl_explainer *e)
{
    const gl_cost_figures *f = figures(e);
    double here = f->energy_per_year + f->colocation_per_year;
    return gl_arena_printf(e->arena, "%s − %s", money(e, e->plan->cost.site.saving_per_year + here),
                           money(e, here));
}

static const char *saving_numbers(const gl_explainer *e)
{
    return gl_arena_printf(e->arena, "%s · %.4g", money(e, e->plan->cost.site.saving_per_year),
                           term(e, GL_TERM_LIFE));
}

static const char *at_once_numbers(const gl_explainer *e)
{
    return lines_text(e, &e->plan->cost.expansion.bill, false);
}

static const char *staged_numbers(const gl_explainer *e)
{
    const gl_expansion *x = &e->plan->cost.expansion;
    return gl_arena_printf(e->arena, "%s + %s · 10^(−%.3g · %.4g/12) / (1 + %.3g)^(%.4g/12)",
                           money(e, x->first), money(e, x->rest), term(e, GL_TERM_DECAY), x->months,
                           term(e, GL_TERM_INTEREST), x->months);
}

static const char DRAWN[] = "of the draws of prices, terms and step time; see cost_uncertainty";
static const char STATED[] = "stated";

static const struct {
    const char *column, *formula;
    numbers_function *numbers;
} hows[] = {
    {"currency", "that of the price list", NULL},
    {"prices", STATED, NULL},
    {"gpus", "nodes · GPUs of a node", cluster_gpus_numbers},
    {"idle_gpus", "GPUs of the cluster − GPUs that the layout uses", idle_numbers},
    {"capex", "Σ lines of the bill: (count + spares) · price", capex_numbers},
    {"capex_p10", DRAWN, NULL},
    {"capex_p90", DRAWN, NULL},
    {"capex_per_gpu", "purchase / GPUs", per_gpu_numbers},
    {"network_capex", "Σ lines of the bill that stand between nodes", network_numbers},
    {"network_frac", "purchase between nodes / purchase", network_share_numbers},
    {"network_per_gpu", "purchase between nodes / GPUs", network_per_gpu_numbers},
    {"power_w", "Σ lines of the bill: count · power of one", power_numbers},
    {"per_year", "amortised + rent + energy + colocation + support + staff + leased lines",
     year_numbers},
    {"amortisation", STATED, NULL},
    {"amortised_per_year", NULL, amortised_numbers},
    {"rent_per_year", "rent of a GPU and hour · GPUs · 8760", rent_numbers},
    {"energy_per_year", "power · draw · PUE · hours · price of a kWh", energy_numbers},
    {"colocation_per_year", "power · price of a kW and month · 12", colocation_numbers},
    {"support_per_year", "share a year · hardware", support_numbers},
    {"staff_per_year", "persons a node · nodes · cost of a person", staff_numbers},
    {"lines_per_year", "fee of all lines a month · 12", lines_numbers},
    {"availability_frac", "stated, or term.availability of the price list", NULL},
    {"mtbf_s", "1 / (failures of a GPU and hour · GPUs of the job)", mtbf_numbers},
    {"checkpoint_interval_s",
     "√(2 · C · M) · (1 + √(C/2M)/3 + (C/2M)/9) − C; C: time of a checkpoint, M: time between "
     "stops",
     interval_numbers},
    {"goodput_frac",
     "t/M / (e^(R/M) · (e^(t/M + C/M) − 1)); t: interval, R: restart, C: checkpoint, M: time "
     "between stops",
     goodput_numbers},
    {"per_gpu_hour", "cost of a year / (GPUs · hours · availability · time that counts)",
     gpu_hour_numbers},
    {"per_gpu_hour_p10", DRAWN, NULL},
    {"per_gpu_hour_p90", DRAWN, NULL},
    {"per_million_tokens",
     "cost of a year / (tokens/s · availability · time that counts · seconds) · 1e6",
     tokens_numbers},
    {"per_million_tokens_p10", DRAWN, NULL},
    {"per_million_tokens_p50", DRAWN, NULL},
    {"per_million_tokens_p90", DRAWN, NULL},
    {"run_tokens", STATED, NULL},
    {"run_time_s", "tokens / (tokens/s · availability · time that counts)", run_time_numbers},
    {"per_run", "tokens / 1e6 · cost of a million", run_numbers},
    {"per_run_p10", DRAWN, NULL},
    {"per_run_p50", DRAWN, NULL},
    {"per_run_p90", DRAWN, NULL},
    {"per_pflop_year", "cost of a year / (tokens/s, stops taken off · FLOP of a token / 1e15)",
     pflop_numbers},
    {"lead_time_months", STATED, NULL},
    {"delay_cost", "months · value of a month (what it costs, unless stated)", delay_numbers},
    {"site_saving_per_year", "power at the list's electricity.default and term.pue − power here",
     saving_per_year_numbers},
    {"site_saving", "saving a year · life", saving_numbers},
    {"expansion_nodes", STATED, NULL},
    {"expansion_at_once", "Σ lines of the bill for all nodes", at_once_numbers},
    {"expansion_staged", "purchase now + rest · what prices fall until then / interest",
     staged_numbers},
    {"missing", "the first part of the bill without a price", NULL},
};

static size_t find_how(const char *column)
{
    size_t i = 0;
    while (i < sizeof hows / sizeof hows[0] && strcmp(hows[i].column, column) != 0)
        i++;
    return i;
}

static bool is_known(const gl_cell *cell)
{
    return cell->type != GL_CELL_REAL || (!isnan(cell->as.real) && cell->as.real != 0);
}

/* Amounts are read in whole units, with their currency. */
static void show_money(gl_explainer *e, double amount)
{
    gl_figure_text *figure = &e->out->figures[e->out->figure_count - 1];
    figure->brief = figure->result =
        gl_arena_printf(e->arena, "%s %s", money(e, amount), e->plan->cost.currency);
    figure->unit = e->plan->cost.currency;
}

void gl_explain__cost(gl_explainer *e)
{
    const gl_table *table = gl_cost_table(e->plan, e->arena);
    e->table = e->prefix = "cost";
    for (size_t i = 0; table->row_count > 0 && i < table->column_count; i++) {
        const gl_column *column = &table->columns[i];
        size_t k = find_how(column->name);
        if (k == sizeof hows / sizeof hows[0])
            continue;
        bool amortised = strcmp(column->name, "amortised_per_year") == 0;
        bool stated = hows[k].formula == STATED;
        gl_explain__line(e, true, column->name, NULL);
        gl_explain__add(
            e, column->name, table->cells[i], column->dimension,
            (gl_figure_how){.formula = stated      ? NULL
                                       : amortised ? amortised_formula(e)
                                                   : hows[k].formula,
                            .numbers = hows[k].numbers != NULL && is_known(&table->cells[i])
                                           ? hows[k].numbers(e)
                                           : NULL,
                            .evidence = stated ? "stated" : "priced",
                            .source = gl_arena_printf(e->arena, "price list %s",
                                                      e->plan->cost.cluster->price_list->name)});
        if ((column->audience & GL_AS_MONEY) != 0 && is_known(&table->cells[i]))
            show_money(e, table->cells[i].as.real);
    }
}
