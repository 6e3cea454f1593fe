/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of a plan: one evaluation, its intervals, the site, an expansion. */
#include "planner/core/cost_parts.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/* ---- one evaluation ---- */

/* Pieces of a line, where the share of spares and the power of racks and servers have these
 * values. */
static double pieces_of(const gl_cost_builder *b, const gl_bom_line *line, const double *t)
{
    double servers = t[GL_TERM_SERVER_POWER] / b->terms[GL_TERM_SERVER_POWER].typical;
    if (line->group == GL_COST_OF_CABLING)
        return (double)gl_bom_racks(&b->out->bom, t[GL_TERM_RACK_POWER], t[GL_TERM_RACK_SWITCHES],
                                    servers);
    return (double)(line->count +
                    (line->has_spares ? gl_bom_spares(line->count, t[GL_TERM_SPARES]) : 0));
}

static double power_of(const gl_cost_builder *b, const gl_bom_line *line, const double *t)
{
    return line->by_server_power
               ? line->power_w * t[GL_TERM_SERVER_POWER] / b->terms[GL_TERM_SERVER_POWER].typical
               : line->power_w;
}

static void add_bill(const gl_cost_builder *b, gl_cost_state s, const double *t, gl_cost_figures *f)
{
    const gl_bom *bom = &b->out->bom;
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        double amount = pieces_of(b, line, t) * gl_cost__value(&b->prices[i], s);
        f->capex += amount;
        f->hardware += gl_cost_group_is_labour(line->group) ? 0 : amount;
        f->network += gl_cost_group_place(line->group) == GL_PLACE_BETWEEN ? amount : 0;
        f->power_w += (double)line->count * power_of(b, line, t);
    }
}

static void add_year(const gl_cost_builder *b, gl_cost_state s, const double *t, gl_cost_figures *f)
{
    double nodes = b->cluster->nodes;
    f->amortised_per_year =
        gl_cost_amortised(b->cluster->terms.amortisation, f->capex, t[GL_TERM_LIFE],
                          t[GL_TERM_RESIDUAL], t[GL_TERM_INTEREST], t[GL_TERM_DECAY]);
    f->rent_per_year = gl_cost__value(&b->rent, s) * (double)b->out->gpus * GL_HOURS_PER_YEAR;
    f->energy_per_year = gl_cost_energy(f->power_w, t[GL_TERM_DRAW], t[GL_TERM_PUE],
                                        GL_HOURS_PER_YEAR, gl_cost__value(&b->electricity, s));
    f->colocation_per_year =
        f->power_w / 1000 * gl_cost__value(&b->colocation, s) * GL_MONTHS_PER_YEAR;
    f->support_per_year = t[GL_TERM_SUPPORT] * f->hardware;
    f->staff_per_year = t[GL_TERM_STAFF] * nodes * gl_cost__value(&b->staff, s);
    f->lines_per_year = gl_cost__value(&b->lines, s);
    f->per_year = f->amortised_per_year + f->rent_per_year + f->energy_per_year +
                  f->colocation_per_year + f->support_per_year + f->staff_per_year +
                  f->lines_per_year;
    gl_checkpoints c = gl_cost_checkpoints(t[GL_TERM_FAILURES], b->out->job_gpus,
                                           t[GL_TERM_CHECKPOINT], t[GL_TERM_RESTART]);
    f->availability = t[GL_TERM_AVAILABILITY];
    f->mtbf_s = isfinite(c.mtbf_s) ? c.mtbf_s : (double)NAN;
    f->checkpoint_interval_s = isfinite(c.interval_s) ? c.interval_s : (double)NAN;
    f->goodput = c.goodput_frac;
}

/* Work that is delivered: hours that count, tokens, runs. */
static void add_work(const gl_cost_builder *b, gl_cost_state s, gl_cost_figures *f)
{
    const gl_cost_input *in = b->in;
    double step_s = s.draw >= 0 && in->draw_count > 0
                        ? in->step_draws_s[(size_t)s.draw % in->draw_count]
                        : in->step_s;
    double hours = GL_HOURS_PER_YEAR * f->availability * f->goodput;
    f->per_gpu_hour = f->per_year / (hours * (double)b->out->gpus);
    f->tokens_per_s = in->tokens_per_step > 0
                          ? in->tokens_per_step / step_s * f->availability * f->goodput
                          : (double)NAN;
    double tokens_per_year = f->tokens_per_s * GL_HOURS_PER_YEAR * GL_SECONDS_PER_HOUR;
    f->per_million_tokens = f->per_year / tokens_per_year * 1e6;
    f->run_s = in->run_tokens > 0 ? in->run_tokens / f->tokens_per_s : (double)NAN;
    f->per_run = in->run_tokens > 0 ? f->per_million_tokens * in->run_tokens / 1e6 : (double)NAN;
    f->per_pflop_year = f->per_year / (f->tokens_per_s * in->model_flop_per_token / 1e15);
}

static gl_cost_figures evaluate(const gl_cost_builder *b, gl_cost_state s)
{
    gl_cost_figures f = {0};
    double t[GL_TERM_COUNT];
    for (int i = 0; i < GL_TERM_COUNT; i++)
        t[i] = gl_cost__value(&b->terms[i], s);
    add_bill(b, s, t, &f);
    add_year(b, s, t, &f);
    add_work(b, s, &f);
    return f;
}

/* ---- intervals ---- */

/* Of draws without a value nothing is known, and of values without end neither. */
static gl_interval interval_of(const double *draws, size_t count, gl_arena *arena)
{
    double *sorted = GL_ARENA_NEW(arena, double, count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(sorted[i] = draws[i]))
            return (gl_interval){(double)NAN, (double)NAN, (double)NAN};
    gsl_sort(sorted, 1, count);
    return (gl_interval){gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.1),
                         gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.5),
                         gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.9)};
}

/* Where next to nothing is delivered for money, what it costs has no meaning or no value. */
static void note_no_work(gl_cost_builder *b, const double *hours)
{
    gl_cost *out = b->out;
    size_t without = 0;
    for (size_t i = 0; i < b->draws; i++)
        without += isfinite(hours[i]) ? 0 : 1;
    double lost_s = b->terms[GL_TERM_RESTART].typical + b->terms[GL_TERM_CHECKPOINT].typical;
    if (isnan(out->typical.mtbf_s))
        gl_cost__note(
            b, "the job is never stopped (cluster.cost.failures_per_gpu_hour is 0): there is no "
               "time between stops and no interval between checkpoints");
    if (out->typical.mtbf_s < lost_s || !isfinite(out->typical.per_gpu_hour))
        gl_cost__note(
            b, gl_arena_printf(b->arena,
                               "the job is stopped every %.3g s, a checkpoint and a restart take "
                               "%.3g s: %.2g %% of its time counts "
                               "(cluster.cost.failures_per_gpu_hour, restart)%s",
                               out->typical.mtbf_s, lost_s, 100 * out->typical.goodput,
                               isfinite(out->typical.per_gpu_hour)
                                   ? ""
                                   : ", and what it delivers has no cost"));
    if (without > 0 && isfinite(out->typical.per_gpu_hour))
        gl_cost__note(
            b, gl_arena_printf(b->arena,
                               "in %zu of %zu draws the job is stopped so often that it gets "
                               "nothing done: the cost of a GPU-hour, tokens and runs has no "
                               "interval",
                               without, b->draws));
}

static void forget_infinite(double *figure)
{
    if (!isfinite(*figure))
        *figure = (double)NAN;
}

static void draw(gl_cost_builder *b)
{
    size_t n = b->draws;
    double *capex = GL_ARENA_NEW(b->arena, double, n), *hours = GL_ARENA_NEW(b->arena, double, n);
    double *tokens = GL_ARENA_NEW(b->arena, double, n), *runs = GL_ARENA_NEW(b->arena, double, n);
    for (size_t i = 0; i < n; i++) {
        gl_cost_figures f = evaluate(b, (gl_cost_state){.draw = (int)i, .source = -1});
        capex[i] = f.capex;
        hours[i] = f.per_gpu_hour;
        tokens[i] = f.per_million_tokens;
        runs[i] = f.per_run;
    }
    gl_cost *out = b->out;
    out->capex = interval_of(capex, n, b->arena);
    out->per_gpu_hour = interval_of(hours, n, b->arena);
    out->per_million_tokens = interval_of(tokens, n, b->arena);
    out->per_run = interval_of(runs, n, b->arena);
    note_no_work(b, hours);
    forget_infinite(&out->typical.per_gpu_hour);
    forget_infinite(&out->typical.per_million_tokens);
    forget_infinite(&out->typical.per_pflop_year);
    forget_infinite(&out->typical.per_run);
    forget_infinite(&out->typical.run_s);
    out->token_draws = isnan(out->typical.per_million_tokens) ? NULL : tokens;
    out->draw_count = n;
}

static double effect_of(const gl_cost_source *source)
{
    double effect = fabs(source->p90_change - source->p10_change);
    return isnan(effect) ? (double)INFINITY : effect;
}

static int compare_sources(const void *a, const void *b)
{
    double p = effect_of(a), q = effect_of(b);
    return (p < q) - (p > q);
}

/* The step is one, too: a token costs in proportion to its time. */
static void add_step(gl_cost_builder *b, double middle)
{
    gl_cost *out = b->out;
    gl_interval step = interval_of(b->in->step_draws_s, b->in->draw_count, b->arena);
    out->sources = gl_arena_grow(b->arena, out->sources, &b->source_capacity, out->source_count + 1,
                                 sizeof *out->sources);
    out->sources[out->source_count++] =
        (gl_cost_source){.name = "step time in s",
                         .low = step.p10,
                         .typical = b->in->step_s,
                         .high = step.p90,
                         .origin = "the plan, see table uncertainty",
                         .date = "",
                         .p10_change = middle * (step.p10 / b->in->step_s - 1),
                         .p90_change = middle * (step.p90 / b->in->step_s - 1)};
}

/* Each source alone at its P10 and P90. */
static void weigh_sources(gl_cost_builder *b)
{
    gl_cost *out = b->out;
    bool tokens = !isnan(out->typical.per_million_tokens);
    double middle = tokens ? out->typical.per_million_tokens : out->typical.per_year;
    for (size_t i = 0; i < out->source_count; i++) {
        double change[2];
        for (int side = 0; side < 2; side++) {
            gl_cost_state s = {-1, (int)i, side == 0 ? -GL_P90_OF_SIGMA : GL_P90_OF_SIGMA};
            gl_cost_figures f = evaluate(b, s);
            change[side] = (tokens ? f.per_million_tokens : f.per_year) - middle;
            forget_infinite(&change[side]);
        }
        out->sources[i].p10_change = change[0];
        out->sources[i].p90_change = change[1];
    }
    if (tokens && b->in->draw_count > 0)
        add_step(b, middle);
    if (out->source_count > 0)
        qsort(out->sources, out->source_count, sizeof *out->sources, compare_sources);
}

/* ---- site and expansion ---- */

static bool states_site(const gl_cluster *cluster)
{
    const gl_cost_terms *t = &cluster->terms;
    return cluster->region != NULL || !isnan(t->electricity_usd_per_kwh) ||
           !isnan(t->stated[GL_TERM_PUE]) || t->power_by == GL_POWER_BY_COLOCATION;
}

static void fill_site(gl_cost_builder *b)
{
    const gl_cost_figures *f = &b->out->typical;
    const gl_cost_terms *terms = &b->cluster->terms;
    const gl_price *price = gl_price_find(b->list, "electricity", "default");
    const gl_price *pue = gl_price_find(b->list, "term", "pue");
    gl_site_effect *site = &b->out->site;
    double value =
        isnan(terms->month_value) ? f->per_year / GL_MONTHS_PER_YEAR : terms->month_value;
    *site = (gl_site_effect){.lead_time_months = terms->lead_time_months,
                             .delay = terms->lead_time_months * value,
                             .saving_per_year = (double)NAN,
                             .saving = (double)NAN};
    if (!states_site(b->cluster) || price == NULL || pue == NULL || terms->acquisition == GL_RENT)
        return;
    double elsewhere =
        gl_cost_energy(f->power_w, b->terms[GL_TERM_DRAW].typical, pue->typical, GL_HOURS_PER_YEAR,
                       price->typical * gl_price_rate(b->list, price->currency));
    site->saving_per_year = elsewhere - f->energy_per_year - f->colocation_per_year;
    site->saving = site->saving_per_year * b->terms[GL_TERM_LIFE].typical;
}

/* What is to be known about the counts of a bill, and was not said of the cluster's own. */
static void note_bill(gl_cost_builder *b, const gl_bom *bill, const char *subject)
{
    const gl_bom *own = &b->out->bom;
    for (size_t i = 0; i < bill->notes.count; i++)
        if (bill == own || !gl_texts_have(&own->notes, bill->notes.items[i]))
            gl_cost__note(b, gl_arena_printf(b->arena, "%s%s", subject, bill->notes.items[i]));
}

/* Price-performance that hardware gains until then makes the rest cheaper, and money not yet spent
 * earns interest. What stands already is not bought again. */
static void fill_expansion(gl_cost_builder *b)
{
    gl_expansion *e = &b->out->expansion;
    const gl_cost_terms *terms = &b->cluster->terms;
    gl_bom all;
    if (terms->expansion_nodes <= b->cluster->nodes || terms->acquisition == GL_RENT)
        return;
    gl_bom_build(b->cluster, terms->expansion_nodes, b->arena, &all);
    *e = (gl_expansion){.nodes = terms->expansion_nodes,
                        .months = terms->expansion_months,
                        .at_once = (double)NAN,
                        .first = b->out->typical.capex,
                        .rest = (double)NAN,
                        .staged = (double)NAN};
    note_bill(b, &all, gl_arena_printf(b->arena, "expansion to %d nodes: ", e->nodes));
    if (all.missing != NULL) {
        gl_cost__note(b, gl_arena_printf(b->arena, "the expansion to %d nodes has no total: %s",
                                         e->nodes, all.missing));
        return;
    }
    double years = terms->expansion_months / GL_MONTHS_PER_YEAR;
    double factor = pow(10, -b->terms[GL_TERM_DECAY].typical * years) *
                    pow(1 + b->terms[GL_TERM_INTEREST].typical, -years);
    e->bill = all;
    e->at_once = gl_bom_sum(&all, GL_COST_OF_COUNT);
    e->rest = fmax(0, e->at_once - e->first);
    e->staged = e->first + e->rest * factor;
}

/* ---- all of it ---- */

static void forget_figures(gl_cost *cost)
{
    const double unknown = (double)NAN;
    double *figures = (double *)&cost->typical;
    for (size_t i = 0; i < sizeof cost->typical / sizeof *figures; i++)
        figures[i] = unknown;
    cost->capex = cost->per_gpu_hour = cost->per_million_tokens = cost->per_run =
        (gl_interval){unknown, unknown, unknown};
    cost->site = (gl_site_effect){unknown, unknown, unknown, unknown};
    cost->source_count = 0;
}

void gl_cost_build(const gl_cost_input *input, gl_arena *arena, gl_cost *out)
{
    const gl_cluster *cluster = input->cluster;
    *out = (gl_cost){.gpus = (int64_t)cluster->nodes * cluster->gpus_per_node,
                     .job_gpus = input->job_gpus,
                     .run_tokens = input->run_tokens};
    if (cluster->price_list == NULL)
        return;
    out->cluster = cluster;
    out->currency = cluster->price_list->currency;
    gl_cost_builder b = {.in = input,
                         .cluster = cluster,
                         .list = cluster->price_list,
                         .arena = arena,
                         .out = out,
                         .draws = input->draw_count > 0 ? input->draw_count : 1000};
    gl_bom_build(cluster, cluster->nodes, arena, &out->bom);
    gl_cost__read(&b);
    note_bill(&b, &out->bom, "");
    if (out->missing != NULL) {
        forget_figures(out);
        return;
    }
    out->typical = evaluate(&b, (gl_cost_state){-1, -1, 0});
    draw(&b);
    weigh_sources(&b);
    fill_site(&b);
    fill_expansion(&b);
}
