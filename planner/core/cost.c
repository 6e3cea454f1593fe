/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/cost.h"

#include "common/units.h"

#include "planner/core/uncertainty.h"

#include <ctype.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double HOURS_PER_YEAR = 8760, MONTHS_PER_YEAR = 12, SECONDS_PER_HOUR = 3600;

/* ---- formulas ---- */

/* End-of-year payments that return the purchase with interest, less what the residual returns. */
static double annuity(double capex, double life, double residual, double r)
{
    if (!(r > 0))
        return capex * (1 - residual) / life;
    double growth = pow(1 + r, life);
    return capex * r / (1 - 1 / growth) - capex * residual * r / (growth - 1);
}

double gl_cost_amortised(gl_amortisation convention, double capex, double life_years,
                         double residual_frac, double interest_frac, double decay)
{
    switch (convention) {
    case GL_ANNUITY:
        return annuity(capex, life_years, residual_frac, interest_frac);
    case GL_DECAY:
        return capex * decay * log(10);
    case GL_STRAIGHT_LINE:
        break;
    }
    return capex * (1 - residual_frac) / life_years;
}

double gl_cost_energy(double power_w, double draw_frac, double pue, double hours,
                      double price_per_kwh)
{
    return power_w / 1000 * draw_frac * pue * hours * price_per_kwh;
}

/* Daly's equation for the best interval, whose series holds until a checkpoint takes twice the time
 * between stops. */
static double checkpoint_interval(double checkpoint_s, double mtbf_s)
{
    double part = checkpoint_s / (2 * mtbf_s);
    if (!(part < 1))
        return mtbf_s;
    return sqrt(2 * checkpoint_s * mtbf_s) * (1 + sqrt(part) / 3 + part / 9) - checkpoint_s;
}

/* Stops come at random: of the time for an interval's work, its checkpoint and what stops undo,
 * M · e^(R/M) · (e^((t+C)/M) − 1), the work is t. */
gl_checkpoints gl_cost_checkpoints(double failures_per_gpu_hour, int64_t gpus, double checkpoint_s,
                                   double restart_s)
{
    gl_checkpoints c = {
        .mtbf_s = (double)INFINITY, .interval_s = (double)INFINITY, .goodput_frac = 1};
    double rate = failures_per_gpu_hour * (double)gpus / SECONDS_PER_HOUR;
    if (!(rate > 0))
        return c;
    c.mtbf_s = 1 / rate;
    c.interval_s = checkpoint_interval(checkpoint_s, c.mtbf_s);
    double work = c.interval_s * rate;
    c.goodput_frac = exp(-restart_s * rate);
    /* Without a checkpoint's time the best interval is none. */
    if (work > 0)
        c.goodput_frac *= work / expm1(work + checkpoint_s * rate);
    return c;
}

/* ---- sources ---- */

/* Something with a typical value and a range, and its draws. */
typedef struct variable {
    double low, typical, high;
    double minimum, maximum; /* what it can be at all */
    const double *z;         /* by draw; NULL: it has no range */
    int source;              /* in gl_cost.sources; −1 = none */
} variable;

typedef struct builder {
    const gl_cost_input *in;
    const gl_cluster *cluster;
    const gl_price_list *list;
    gl_arena *arena;
    gl_cost *out;
    size_t draws, source_capacity;
    variable *prices; /* by line of the bill */
    variable terms[GL_TERM_COUNT];
    variable electricity, colocation, staff, rent, lines; /* lines: a year of all of them */
} builder;

static void note(const builder *b, const char *text)
{
    gl_cost *out = b->out;
    out->notes = gl_arena_grow(b->arena, out->notes, &out->note_capacity, out->note_count + 1,
                               sizeof *out->notes);
    out->notes[out->note_count++] = text;
}

static int find_source(const gl_cost *cost, const char *name)
{
    for (size_t i = 0; i < cost->source_count; i++)
        if (strcmp(cost->sources[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* A variable of a price: parts that occur twice have one draw. */
static variable of_price(builder *b, const gl_price *price, double rate, const char *name)
{
    variable v = {.low = price->low * rate,
                  .typical = price->typical * rate,
                  .high = price->high * rate,
                  .minimum = price->minimum * rate,
                  .maximum = price->maximum * rate,
                  .source = -1};
    if (!(v.high > v.low))
        return v;
    gl_cost *out = b->out;
    v.source = find_source(out, name);
    if (v.source < 0) {
        out->sources = gl_arena_grow(b->arena, out->sources, &b->source_capacity,
                                     out->source_count + 1, sizeof *out->sources);
        v.source = (int)out->source_count++;
        out->sources[v.source] = (gl_cost_source){.name = name,
                                                  .low = v.low,
                                                  .typical = v.typical,
                                                  .high = v.high,
                                                  .origin = price->source,
                                                  .date = price->date};
    }
    v.z = gl_uncertainty_draws(name, b->in->seed, b->draws, b->arena);
    return v;
}

static variable constant(double value)
{
    return (variable){
        .low = value, .typical = value, .high = value, .maximum = (double)INFINITY, .source = -1};
}

/* So many of it. */
static variable scaled(variable v, double factor)
{
    v.low *= factor;
    v.typical *= factor;
    v.high *= factor;
    v.minimum *= factor;
    v.maximum *= factor;
    return v;
}

/* Low and high are P10 and P90: a factor e^(σ·z) where that can be, otherwise a sum. */
static double at_sigma(const variable *v, double z)
{
    double side = z < 0 ? v->low : v->high, value;
    if (v->typical > 0 && side > 0)
        value = v->typical * exp(fabs(z) / GL_P90_OF_SIGMA * log(side / v->typical));
    else
        value = v->typical + fabs(z) / GL_P90_OF_SIGMA * (side - v->typical);
    return fmin(v->maximum, fmax(v->minimum, value));
}

/* Which draw, or which source moved alone. */
typedef struct state {
    int draw;   /* −1 = typical */
    int source; /* −1 = none */
    double z;   /* of that source */
} state;

static double value_of(const variable *v, state s)
{
    if (s.source >= 0 && s.source == v->source)
        return at_sigma(v, s.z);
    return s.draw >= 0 && v->z != NULL ? at_sigma(v, v->z[s.draw]) : v->typical;
}

/* ---- what the list and the description say ---- */

static void stop(builder *b, const char *message)
{
    if (b->out->missing == NULL)
        b->out->missing = message;
}

static void read_terms(builder *b)
{
    for (int i = 0; i < GL_TERM_COUNT; i++) {
        gl_cost_term term = (gl_cost_term)i;
        const char *name = gl_cost_term_name(term);
        const gl_price *price = gl_price_find(b->list, "term", name);
        if (!isnan(b->cluster->terms.stated[i]))
            b->terms[i] = constant(b->cluster->terms.stated[i]);
        else if (price != NULL && !isnan(price->typical))
            b->terms[i] = of_price(b, price, 1, gl_arena_printf(b->arena, "term.%s", name));
        else
            stop(b, gl_arena_printf(b->arena,
                                    "the price list has no term.%s (%s): state it, prices: "
                                    "{parts: {term.%s: {typical: ...}}}",
                                    name, gl_cost_term_meaning(term), name));
    }
}

/* "US Texas" → "us-texas". */
static const char *slug(const char *text, gl_arena *arena)
{
    char *name = gl_arena_strdup(arena, text), *to = name;
    for (const char *c = text; *c != '\0'; c++) {
        if (isalnum((unsigned char)*c))
            *to++ = (char)tolower((unsigned char)*c);
        else if (to > name && to[-1] != '-')
            *to++ = '-';
    }
    while (to > name && to[-1] == '-')
        to--;
    *to = '\0';
    return name;
}

/* "us-texas, us-virginia": what the list has of a kind. */
static const char *names_of_kind(const builder *b, const char *kind)
{
    const char *names = "none";
    size_t length = strlen(kind), found = 0;
    for (size_t i = 0; i < b->list->count; i++) {
        const gl_price *price = &b->list->prices[i];
        if (strncmp(price->part, kind, length) == 0 && price->part[length] == '.' &&
            !isnan(price->typical) && strcmp(price->part + length, ".default") != 0)
            names = found++ == 0
                        ? price->part + length + 1
                        : gl_arena_printf(b->arena, "%s, %s", names, price->part + length + 1);
    }
    return names;
}

/* The list's price for the region, or its default with a note. */
static const gl_price *regional(builder *b, const char *kind)
{
    const char *region = b->cluster->region;
    const gl_price *price = NULL;
    if (region != NULL)
        price = gl_price_find(b->list, kind, slug(region, b->arena));
    if (price != NULL || strcmp(kind, "pue") == 0)
        return price;
    if (region != NULL)
        note(b,
             gl_arena_printf(b->arena,
                             "the price list has no %s.%s: its %s.default is taken for region "
                             "'%s'; it has %s",
                             kind, slug(region, b->arena), kind, region, names_of_kind(b, kind)));
    return gl_price_find(b->list, kind, "default");
}

/* A price that is needed and not a line of the bill. `part` names it where the list does not have
 * it. */
static variable needed(builder *b, const gl_price *price, const char *part, const char *how)
{
    double rate = price != NULL ? gl_price_rate(b->list, price->currency) : 0;
    if (price != NULL && !isnan(price->typical) && rate > 0)
        return of_price(b, price, rate, gl_arena_printf(b->arena, "price of %s", price->part));
    if (price != NULL && !isnan(price->typical))
        stop(b, gl_arena_printf(b->arena,
                                "%s is priced in %s and the list has no rate for it: state how "
                                "many %s one %s is, prices: {exchange: {%s: ...}}",
                                price->part, price->currency, b->list->currency, price->currency,
                                price->currency));
    else
        stop(b, gl_arena_printf(b->arena, "no price for %s: state %s",
                                price != NULL ? price->part : part, how));
    return constant((double)NAN);
}

static void read_electricity(builder *b)
{
    double stated = b->cluster->terms.electricity_usd_per_kwh;
    double rate = gl_price_rate(b->list, "USD");
    if (!isnan(stated) && rate > 0) {
        b->electricity = constant(stated * rate);
        b->out->electricity_source = "stated in the cluster description";
    } else if (!isnan(stated)) {
        b->electricity = constant((double)NAN);
        stop(b, gl_arena_printf(b->arena,
                                "electricity is stated in USD and the list has no rate for it: "
                                "state how many %s one USD is, prices: {exchange: {USD: ...}}",
                                b->list->currency));
    } else {
        const gl_price *price = regional(b, "electricity");
        b->electricity =
            needed(b, price, "electricity.default", "cluster.site.electricity: 0.08 USD/kWh");
        b->out->electricity_source = price != NULL ? price->source : "";
    }
    b->out->electricity_per_kwh = b->electricity.typical;
}

static void read_colocation(builder *b)
{
    double stated = b->cluster->terms.colocation_per_kw_month;
    b->colocation = !isnan(stated) ? constant(stated)
                                   : needed(b, regional(b, "colocation"), "colocation.default",
                                            "cluster.site.colocation_per_kw_month");
    b->out->colocation_per_kw_month = b->colocation.typical;
}

/* Energy or colocation, never both. */
static void read_power(builder *b)
{
    b->out->pue = b->terms[GL_TERM_PUE].typical;
    b->electricity = b->colocation = constant(0);
    b->out->electricity_per_kwh = b->out->colocation_per_kw_month = (double)NAN;
    if (b->cluster->terms.acquisition == GL_RENT)
        return;
    if (b->cluster->terms.power_by == GL_POWER_BY_COLOCATION)
        read_colocation(b);
    else
        read_electricity(b);
    const gl_price *pue = regional(b, "pue");
    if (pue != NULL && isnan(b->cluster->terms.stated[GL_TERM_PUE]))
        b->terms[GL_TERM_PUE] = of_price(b, pue, 1, pue->part);
    b->out->pue = b->terms[GL_TERM_PUE].typical;
}

/* One line joins two sites; of more, each has one. */
static void read_lines(builder *b)
{
    const gl_sites *sites = &b->cluster->sites;
    const gl_cost_terms *terms = &b->cluster->terms;
    if (sites->count < 2)
        return;
    variable fee = constant(terms->line_fee_per_month);
    double lines = sites->count == 2 ? 1 : sites->count;
    if (isnan(fee.typical)) {
        const char *route = terms->line_route != NULL ? slug(terms->line_route, b->arena) : "";
        const gl_price *price = gl_price_find(b->list, "leased-line", route);
        fee = needed(b, price, gl_arena_printf(b->arena, "leased-line.%s", route),
                     "cluster.sites.link.fee_per_month");
        lines *= sites->bw_bytes_per_s * 8 / 1e9;
    }
    b->out->line_fee_per_month = fee.typical * lines;
    b->lines = scaled(fee, lines * MONTHS_PER_YEAR);
}

static void read_rent(builder *b)
{
    const gl_gpu *gpu = b->cluster->gpu;
    const char *name = gpu != NULL ? gpu->name : "unknown";
    b->rent = constant(0);
    if (b->cluster->terms.acquisition == GL_RENT)
        b->rent = needed(b, gl_price_find(b->list, "rent", name),
                         gl_arena_printf(b->arena, "rent.%s", name),
                         "it in a price list, for each GPU and hour");
    b->out->rent_per_gpu_hour = b->rent.typical;
}

static void read_prices(builder *b)
{
    gl_bom *bom = &b->out->bom;
    if (b->cluster->terms.acquisition == GL_RENT)
        *bom = (gl_bom){.fabric = bom->fabric};
    if (bom->missing != NULL)
        stop(b, bom->missing);
    b->prices = GL_ARENA_NEW(b->arena, variable, bom->count);
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        double rate =
            line->price != NULL ? gl_price_rate(b->list, line->price->currency) : (double)NAN;
        b->prices[i] = line->price != NULL && !isnan(line->typical)
                           ? of_price(b, line->price, rate,
                                      gl_arena_printf(b->arena, "price of %s", line->part))
                           : constant((double)NAN);
    }
}

/* Who rents operates nothing. */
static void read_staff(builder *b)
{
    b->staff = constant(0);
    if (b->cluster->terms.acquisition != GL_RENT)
        b->staff = needed(b, gl_price_find(b->list, "labour", "staff"), "labour.staff",
                          "it in a price list, for a person and year");
    b->out->staff_cost_per_year = b->staff.typical;
}

/* ---- what is quoted in vain ---- */

static bool is_name(const gl_link *link, const char *name)
{
    return link != NULL && strcmp(link->name, name) == 0;
}

/* Is the part one of this cluster's GPU, of its links, or of any cluster? */
static bool concerns(const gl_cluster *cluster, const char *part)
{
    const char *dot = strchr(part, '.');
    if (dot == NULL)
        return true;
    const char *name = dot + 1;
    return (cluster->gpu != NULL && strcmp(cluster->gpu->name, name) == 0) ||
           is_name(cluster->intra.link, name) || is_name(cluster->outside, name) ||
           is_name(cluster->inter.link, name);
}

static bool is_taken(const builder *b, const char *part)
{
    const gl_bom *bom = &b->out->bom;
    for (size_t i = 0; i < bom->count; i++)
        if (strcmp(bom->lines[i].part, part) == 0)
            return true;
    return b->cluster->terms.acquisition == GL_RENT && strncmp(part, "rent.", 5) == 0;
}

static bool is_overruled(const builder *b, const char *part)
{
    for (int i = 0; i < GL_TERM_COUNT; i++)
        if (strncmp(part, "term.", 5) == 0 && !isnan(b->cluster->terms.stated[i]) &&
            strcmp(part + 5, gl_cost_term_name((gl_cost_term)i)) == 0)
            return true;
    return false;
}

static bool is_in_vain(const builder *b, const char *part)
{
    return is_overruled(b, part) || (concerns(b->cluster, part) && !is_taken(b, part));
}

/* Who asked for a quote wants to know when it changes nothing. */
static void note_unused(builder *b)
{
    const char *parts = NULL;
    for (size_t i = 0; i < b->list->count; i++) {
        const gl_price *price = &b->list->prices[i];
        if (!price->quoted || isnan(price->typical) || !is_in_vain(b, price->part))
            continue;
        parts =
            parts == NULL ? price->part : gl_arena_printf(b->arena, "%s, %s", parts, price->part);
    }
    if (parts != NULL)
        note(b, gl_arena_printf(b->arena,
                                "the price list states what the bill of this cluster does not "
                                "take: %s",
                                parts));
}

/* A quote this many times above or below the price that it replaces is mostly one in thousands, or
 * in cents. */
static const double FAR_FROM_BASE = 10;

static void note_far_quotes(builder *b)
{
    for (size_t i = 0; i < b->list->count; i++) {
        const gl_price *price = &b->list->prices[i];
        double ratio = price->typical / price->base_typical;
        if (!price->quoted || !(price->base_typical > 0) || is_in_vain(b, price->part) ||
            !(ratio > FAR_FROM_BASE || ratio < 1 / FAR_FROM_BASE))
            continue;
        note(b, gl_arena_printf(b->arena,
                                "%s is quoted at %s, where the list that it replaces has %s: is it "
                                "meant for a %s?",
                                price->part, gl_money_text(price->typical, b->arena),
                                gl_money_text(price->base_typical, b->arena),
                                price->unit[0] != '\0' ? price->unit : "piece"));
    }
}

/* ---- one evaluation ---- */

static bool is_labour(gl_cost_group group)
{
    return group == GL_COST_OF_TUNING || group == GL_COST_OF_LOSSLESS ||
           group == GL_COST_OF_CABLING || group == GL_COST_OF_FACILITY;
}

/* Pieces of a line, where the share of spares and the power of racks and servers have these
 * values. */
static double pieces_of(const builder *b, const gl_bom_line *line, const double *t)
{
    double servers = t[GL_TERM_SERVER_POWER] / b->terms[GL_TERM_SERVER_POWER].typical;
    if (line->group == GL_COST_OF_CABLING)
        return (double)gl_bom_racks(&b->out->bom, t[GL_TERM_RACK_POWER], t[GL_TERM_RACK_SWITCHES],
                                    servers);
    return (double)(line->count +
                    (line->has_spares ? gl_bom_spares(line->count, t[GL_TERM_SPARES]) : 0));
}

static double power_of(const builder *b, const gl_bom_line *line, const double *t)
{
    return line->by_server_power
               ? line->power_w * t[GL_TERM_SERVER_POWER] / b->terms[GL_TERM_SERVER_POWER].typical
               : line->power_w;
}

static void add_bill(const builder *b, state s, const double *t, gl_cost_figures *f)
{
    const gl_bom *bom = &b->out->bom;
    for (size_t i = 0; i < bom->count; i++) {
        const gl_bom_line *line = &bom->lines[i];
        double amount = pieces_of(b, line, t) * value_of(&b->prices[i], s);
        f->capex += amount;
        f->hardware += is_labour(line->group) ? 0 : amount;
        f->network += gl_cost_group_place(line->group) == GL_PLACE_BETWEEN ? amount : 0;
        f->power_w += (double)line->count * power_of(b, line, t);
    }
}

static void add_year(const builder *b, state s, const double *t, gl_cost_figures *f)
{
    double nodes = b->cluster->nodes;
    f->amortised_per_year =
        gl_cost_amortised(b->cluster->terms.amortisation, f->capex, t[GL_TERM_LIFE],
                          t[GL_TERM_RESIDUAL], t[GL_TERM_INTEREST], t[GL_TERM_DECAY]);
    f->rent_per_year = value_of(&b->rent, s) * (double)b->out->gpus * HOURS_PER_YEAR;
    f->energy_per_year = gl_cost_energy(f->power_w, t[GL_TERM_DRAW], t[GL_TERM_PUE], HOURS_PER_YEAR,
                                        value_of(&b->electricity, s));
    f->colocation_per_year = f->power_w / 1000 * value_of(&b->colocation, s) * MONTHS_PER_YEAR;
    f->support_per_year = t[GL_TERM_SUPPORT] * f->hardware;
    f->staff_per_year = t[GL_TERM_STAFF] * nodes * value_of(&b->staff, s);
    f->lines_per_year = value_of(&b->lines, s);
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
static void add_work(const builder *b, state s, gl_cost_figures *f)
{
    const gl_cost_input *in = b->in;
    double step_s = s.draw >= 0 && in->draw_count > 0
                        ? in->step_draws_s[(size_t)s.draw % in->draw_count]
                        : in->step_s;
    double hours = HOURS_PER_YEAR * f->availability * f->goodput;
    f->per_gpu_hour = f->per_year / (hours * (double)b->out->gpus);
    f->tokens_per_s = in->tokens_per_step > 0
                          ? in->tokens_per_step / step_s * f->availability * f->goodput
                          : (double)NAN;
    double tokens_per_year = f->tokens_per_s * HOURS_PER_YEAR * SECONDS_PER_HOUR;
    f->per_million_tokens = f->per_year / tokens_per_year * 1e6;
    f->run_s = in->run_tokens > 0 ? in->run_tokens / f->tokens_per_s : (double)NAN;
    f->per_run = in->run_tokens > 0 ? f->per_million_tokens * in->run_tokens / 1e6 : (double)NAN;
    f->per_pflop_year = f->per_year / (f->tokens_per_s * in->model_flop_per_token / 1e15);
}

static gl_cost_figures evaluate(const builder *b, state s)
{
    gl_cost_figures f = {0};
    double t[GL_TERM_COUNT];
    for (int i = 0; i < GL_TERM_COUNT; i++)
        t[i] = value_of(&b->terms[i], s);
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
static void note_no_work(builder *b, const double *hours)
{
    gl_cost *out = b->out;
    size_t without = 0;
    for (size_t i = 0; i < b->draws; i++)
        without += isfinite(hours[i]) ? 0 : 1;
    double lost_s = b->terms[GL_TERM_RESTART].typical + b->terms[GL_TERM_CHECKPOINT].typical;
    if (isnan(out->typical.mtbf_s))
        note(b, "the job is never stopped (cluster.cost.failures_per_gpu_hour is 0): there is no "
                "time between stops and no interval between checkpoints");
    if (out->typical.mtbf_s < lost_s || !isfinite(out->typical.per_gpu_hour))
        note(b, gl_arena_printf(b->arena,
                                "the job is stopped every %.3g s, a checkpoint and a restart take "
                                "%.3g s: %.2g %% of its time counts "
                                "(cluster.cost.failures_per_gpu_hour, restart)%s",
                                out->typical.mtbf_s, lost_s, 100 * out->typical.goodput,
                                isfinite(out->typical.per_gpu_hour)
                                    ? ""
                                    : ", and what it delivers has no cost"));
    if (without > 0 && isfinite(out->typical.per_gpu_hour))
        note(b, gl_arena_printf(b->arena,
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

static void draw(builder *b)
{
    size_t n = b->draws;
    double *capex = GL_ARENA_NEW(b->arena, double, n), *hours = GL_ARENA_NEW(b->arena, double, n);
    double *tokens = GL_ARENA_NEW(b->arena, double, n), *runs = GL_ARENA_NEW(b->arena, double, n);
    for (size_t i = 0; i < n; i++) {
        gl_cost_figures f = evaluate(b, (state){.draw = (int)i, .source = -1});
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
static void add_step(builder *b, double middle)
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
static void weigh_sources(builder *b)
{
    gl_cost *out = b->out;
    bool tokens = !isnan(out->typical.per_million_tokens);
    double middle = tokens ? out->typical.per_million_tokens : out->typical.per_year;
    for (size_t i = 0; i < out->source_count; i++) {
        double change[2];
        for (int side = 0; side < 2; side++) {
            state s = {-1, (int)i, side == 0 ? -GL_P90_OF_SIGMA : GL_P90_OF_SIGMA};
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

static void fill_site(builder *b)
{
    const gl_cost_figures *f = &b->out->typical;
    const gl_cost_terms *terms = &b->cluster->terms;
    const gl_price *price = gl_price_find(b->list, "electricity", "default");
    const gl_price *pue = gl_price_find(b->list, "term", "pue");
    gl_site_effect *site = &b->out->site;
    double value = isnan(terms->month_value) ? f->per_year / MONTHS_PER_YEAR : terms->month_value;
    *site = (gl_site_effect){.lead_time_months = terms->lead_time_months,
                             .delay = terms->lead_time_months * value,
                             .saving_per_year = (double)NAN,
                             .saving = (double)NAN};
    if (!states_site(b->cluster) || price == NULL || pue == NULL || terms->acquisition == GL_RENT)
        return;
    double elsewhere =
        gl_cost_energy(f->power_w, b->terms[GL_TERM_DRAW].typical, pue->typical, HOURS_PER_YEAR,
                       price->typical * gl_price_rate(b->list, price->currency));
    site->saving_per_year = elsewhere - f->energy_per_year - f->colocation_per_year;
    site->saving = site->saving_per_year * b->terms[GL_TERM_LIFE].typical;
}

/* What is to be known about the counts of a bill, and was not said of the cluster's own. */
static void note_bill(builder *b, const gl_bom *bill, const char *subject)
{
    const gl_bom *own = &b->out->bom;
    for (size_t i = 0; i < bill->note_count; i++) {
        bool said = false;
        for (size_t k = 0; bill != own && k < own->note_count; k++)
            said = said || strcmp(own->notes[k], bill->notes[i]) == 0;
        if (!said)
            note(b, gl_arena_printf(b->arena, "%s%s", subject, bill->notes[i]));
    }
}

/* Price-performance that hardware gains until then makes the rest cheaper, and money not yet spent
 * earns interest. What stands already is not bought again. */
static void fill_expansion(builder *b)
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
        note(b, gl_arena_printf(b->arena, "the expansion to %d nodes has no total: %s", e->nodes,
                                all.missing));
        return;
    }
    double years = terms->expansion_months / MONTHS_PER_YEAR;
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
    builder b = {.in = input,
                 .cluster = cluster,
                 .list = cluster->price_list,
                 .arena = arena,
                 .out = out,
                 .draws = input->draw_count > 0 ? input->draw_count : 1000};
    gl_bom_build(cluster, cluster->nodes, arena, &out->bom);
    read_terms(&b);
    read_prices(&b);
    read_power(&b);
    read_rent(&b);
    read_lines(&b);
    read_staff(&b);
    note_unused(&b);
    note_far_quotes(&b);
    note_bill(&b, &out->bom, "");
    if (out->missing != NULL) {
        forget_figures(out);
        return;
    }
    out->typical = evaluate(&b, (state){-1, -1, 0});
    draw(&b);
    weigh_sources(&b);
    fill_site(&b);
    fill_expansion(&b);
}

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
    double per_month = (gain - opex) / MONTHS_PER_YEAR;
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
    e.network_at_even = dear->network + (year - dear->per_year) / share;
    forget_infinite(&e.network_at_even);
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
