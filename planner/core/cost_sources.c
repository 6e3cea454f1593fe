/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cost rests on: prices and terms, from the list or the description, as variables with
 * draws. */
#include "planner/core/cost_parts.h"

#include "common/units.h"
#include "planner/core/uncertainty.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void gl_cost__note(const gl_cost_builder *b, const char *text)
{
    gl_texts_add(&b->out->notes, b->arena, text);
}

static int find_source(const gl_cost *cost, const char *name)
{
    for (size_t i = 0; i < cost->source_count; i++)
        if (strcmp(cost->sources[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* A variable of a price: parts that occur twice have one draw. */
static gl_cost_variable of_price(gl_cost_builder *b, const gl_price *price, double rate,
                                 const char *name)
{
    gl_cost_variable v = {.low = price->low * rate,
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

static gl_cost_variable constant(double value)
{
    return (gl_cost_variable){
        .low = value, .typical = value, .high = value, .maximum = (double)INFINITY, .source = -1};
}

/* So many of it. */
static gl_cost_variable scaled(gl_cost_variable v, double factor)
{
    v.low *= factor;
    v.typical *= factor;
    v.high *= factor;
    v.minimum *= factor;
    v.maximum *= factor;
    return v;
}

/* Low and high are P10 and P90: a factor e^(σ·z) where that can be, otherwise a sum. */
static double at_sigma(const gl_cost_variable *v, double z)
{
    double side = z < 0 ? v->low : v->high, value;
    if (v->typical > 0 && side > 0)
        value = v->typical * exp(fabs(z) / GL_P90_OF_SIGMA * log(side / v->typical));
    else
        value = v->typical + fabs(z) / GL_P90_OF_SIGMA * (side - v->typical);
    return fmin(v->maximum, fmax(v->minimum, value));
}

double gl_cost__value(const gl_cost_variable *v, gl_cost_state s)
{
    if (s.source >= 0 && s.source == v->source)
        return at_sigma(v, s.z);
    return s.draw >= 0 && v->z != NULL ? at_sigma(v, v->z[s.draw]) : v->typical;
}

/* ---- what the list and the description say ---- */

static void stop(gl_cost_builder *b, const char *message)
{
    if (b->out->missing == NULL)
        b->out->missing = message;
}

static void read_terms(gl_cost_builder *b)
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
static const char *names_of_kind(const gl_cost_builder *b, const char *kind)
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
static const gl_price *regional(gl_cost_builder *b, const char *kind)
{
    const char *region = b->cluster->region;
    const gl_price *price = NULL;
    if (region != NULL)
        price = gl_price_find(b->list, kind, slug(region, b->arena));
    if (price != NULL || strcmp(kind, "pue") == 0)
        return price;
    if (region != NULL)
        gl_cost__note(
            b, gl_arena_printf(b->arena,
                               "the price list has no %s.%s: its %s.default is taken for region "
                               "'%s'; it has %s",
                               kind, slug(region, b->arena), kind, region, names_of_kind(b, kind)));
    return gl_price_find(b->list, kind, "default");
}

/* A price that is needed and not a line of the bill. `part` names it where the list does not have
 * it. */
static gl_cost_variable needed(gl_cost_builder *b, const gl_price *price, const char *part,
                               const char *how)
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

static void read_electricity(gl_cost_builder *b)
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

static void read_colocation(gl_cost_builder *b)
{
    double stated = b->cluster->terms.colocation_per_kw_month;
    b->colocation = !isnan(stated) ? constant(stated)
                                   : needed(b, regional(b, "colocation"), "colocation.default",
                                            "cluster.site.colocation_per_kw_month");
    b->out->colocation_per_kw_month = b->colocation.typical;
}

/* Energy or colocation, never both. */
static void read_power(gl_cost_builder *b)
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
static void read_lines(gl_cost_builder *b)
{
    const gl_sites *sites = &b->cluster->sites;
    const gl_cost_terms *terms = &b->cluster->terms;
    if (sites->count < 2)
        return;
    gl_cost_variable fee = constant(terms->line_fee_per_month);
    double lines = sites->count == 2 ? 1 : sites->count;
    if (isnan(fee.typical)) {
        const char *route = terms->line_route != NULL ? slug(terms->line_route, b->arena) : NULL;
        const gl_price *price = route != NULL ? gl_price_find(b->list, "leased-line", route) : NULL;
        fee = route != NULL
                  ? needed(b, price, gl_arena_printf(b->arena, "leased-line.%s", route),
                           "cluster.sites.link.fee_per_month")
                  : needed(b, NULL, "the line between the sites",
                           "cluster.sites.link.fee_per_month, or with cluster.sites.link.route "
                           "which line of the price list it is");
        lines *= sites->bw_bytes_per_s * 8 / 1e9;
    }
    b->out->line_fee_per_month = fee.typical * lines;
    b->lines = scaled(fee, lines * GL_MONTHS_PER_YEAR);
}

static void read_rent(gl_cost_builder *b)
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

static void read_prices(gl_cost_builder *b)
{
    gl_bom *bom = &b->out->bom;
    if (b->cluster->terms.acquisition == GL_RENT)
        *bom = (gl_bom){.fabric = bom->fabric};
    if (bom->missing != NULL)
        stop(b, bom->missing);
    b->prices = GL_ARENA_NEW(b->arena, gl_cost_variable, bom->count);
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
static void read_staff(gl_cost_builder *b)
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

static bool is_taken(const gl_cost_builder *b, const char *part)
{
    const gl_bom *bom = &b->out->bom;
    for (size_t i = 0; i < bom->count; i++)
        if (strcmp(bom->lines[i].part, part) == 0)
            return true;
    return b->cluster->terms.acquisition == GL_RENT && strncmp(part, "rent.", 5) == 0;
}

static bool is_overruled(const gl_cost_builder *b, const char *part)
{
    for (int i = 0; i < GL_TERM_COUNT; i++)
        if (strncmp(part, "term.", 5) == 0 && !isnan(b->cluster->terms.stated[i]) &&
            strcmp(part + 5, gl_cost_term_name((gl_cost_term)i)) == 0)
            return true;
    return false;
}

static bool is_in_vain(const gl_cost_builder *b, const char *part)
{
    return is_overruled(b, part) || (concerns(b->cluster, part) && !is_taken(b, part));
}

/* Who asked for a quote wants to know when it changes nothing. */
static void note_unused(gl_cost_builder *b)
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
        gl_cost__note(
            b, gl_arena_printf(b->arena,
                               "the price list states what the bill of this cluster does not "
                               "take: %s",
                               parts));
}

static void note_far_quotes(gl_cost_builder *b)
{
    for (size_t i = 0; i < b->list->count; i++) {
        const gl_price *price = &b->list->prices[i];
        const char *doubt = gl_price_doubt(price, b->arena);
        if (doubt != NULL && !is_in_vain(b, price->part))
            gl_cost__note(b, doubt);
    }
}

void gl_cost__read(gl_cost_builder *b)
{
    read_terms(b);
    read_prices(b);
    read_power(b);
    read_rent(b);
    read_lines(b);
    read_staff(b);
    note_unused(b);
    note_far_quotes(b);
}
