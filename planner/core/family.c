/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/family.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* Sizes on each side over whose median a trend is smoothed. */
enum { TREND_WINDOW = 2 };
/* A bus bandwidth that falls goes on falling, at most as the square of the rank count: half for the
 * path that twice the ranks share, half for the hop that it crosses twice. */
static const double FALL_MAX = 2.0;
/* One that rises does so by less and less; this much of the step by bytes alone is never saved. */
static const double RISE_MAX = 0.7;
/* One sigma per octave of ranks away from what was measured, and per nepers of the trend that was
 * continued. */
static const double ERROR_PER_OCTAVE = 0.08, ERROR_OF_TREND = 0.45;
/* Between two measured counts both are smaller by this factor. */
static const double INSIDE = 0.6;
/* Share of the trend's error that a time made of latency alone has. */
static const double LATENCY_DOUBT = 0.5;

/* How the rest changes from one measured count to the next: rest/f grows as ranks^exponent. */
typedef struct trend {
    size_t points;
    double *log_size, *exponent;
    double steepest; /* largest exponent: where bandwidth falls, smaller messages may be next */
} trend;

struct gl_family {
    const gl_curve_fit *const *members;
    size_t count;
    double floor_slope_s; /* per unit of depth, ≥ 0 */
    trend *trends;        /* between members i and i+1 */
};

bool gl_family_same(const gl_curve *a, const gl_curve *b)
{
    const gl_placement *p = &a->placement, *q = &b->placement;
    bool integers = gl_dtype_is_integer(a->dtype) == gl_dtype_is_integer(b->dtype);
    bool shape = (p->nodes > 1) == (q->nodes > 1) &&
                 (p->nodes == 1 || p->ranks_per_node == q->ranks_per_node) &&
                 p->concurrent_groups == q->concurrent_groups;
    return integers && shape && a->collective == b->collective && a->transport == b->transport &&
           a->in_place == b->in_place && strcmp(a->redop, b->redop) == 0;
}

static const gl_placement *placement_of(const gl_family *family, size_t i)
{
    return &family->members[i]->curve->placement;
}

static double bus_factor(const gl_family *family, double ranks)
{
    return gl_bus_factor(family->members[0]->curve->collective, (int)ranks);
}

/* Depth of the algorithm that small messages take: a ring's steps inside a node and for gathers and
 * scatters; levels of a tree for what NCCL reduces between nodes; an all-to-all's messages overlap,
 * and its latency grows like levels, too. */
static double depth(const gl_family *family, double ranks)
{
    const gl_curve *curve = family->members[0]->curve;
    bool levels = curve->collective == GL_ALLTOALL ||
                  (curve->collective == GL_ALL_REDUCE && curve->placement.nodes > 1);
    return levels ? log2(ranks) : ranks - 1;
}

/* The floor over depth, by least squares through all counts; a floor that falls is noise. */
static double fit_floors(const gl_family *family, gl_arena *arena)
{
    double *x = GL_ARENA_NEW(arena, double, family->count);
    double *y = GL_ARENA_NEW(arena, double, family->count);
    double at_zero, slope, cov00, cov01, cov11, squares;
    for (size_t i = 0; i < family->count; i++) {
        x[i] = depth(family, placement_of(family, i)->ranks);
        y[i] = family->members[i]->quality.floor_s;
    }
    gsl_fit_linear(x, 1, y, 1, family->count, &at_zero, &slope, &cov00, &cov01, &cov11, &squares);
    return isfinite(slope) ? fmax(0, slope) : 0;
}

static double rest_of(const gl_curve_fit *fit, double time_s)
{
    return time_s - fmin(fit->quality.floor_s, time_s);
}

/* Exponent between two members at one size; NaN in the latency floor of either. */
static double exponent_at(const gl_family *family, size_t i, double size)
{
    const gl_curve_fit *a = family->members[i], *b = family->members[i + 1];
    double low = rest_of(a, gl_curve_eval(a, size).time_s);
    double high = rest_of(b, gl_curve_eval(b, size).time_s);
    if (!(low > 0) || !(high > 0))
        return (double)NAN;
    double na = a->curve->placement.ranks, nb = b->curve->placement.ranks;
    return log(high / bus_factor(family, nb) / (low / bus_factor(family, na))) / log(nb / na);
}

static void smooth(double *values, size_t n, gl_arena *arena)
{
    double *raw = GL_ARENA_NEW(arena, double, n), near[2 * TREND_WINDOW + 1];
    memcpy(raw, values, n * sizeof *raw);
    for (size_t i = 0; i < n; i++) {
        size_t first = i > TREND_WINDOW ? i - TREND_WINDOW : 0, count = 0;
        for (size_t j = first; j < n && j <= i + TREND_WINDOW; j++)
            near[count++] = raw[j];
        gsl_sort(near, 1, count);
        values[i] = gsl_stats_median_from_sorted_data(near, 1, count);
    }
}

/* At the sizes of the larger member that the smaller one was measured around. */
static trend find_trend(const gl_family *family, size_t i, gl_arena *arena)
{
    const gl_curve_fit *a = family->members[i], *b = family->members[i + 1];
    size_t n = b->quality.points;
    trend t = {.log_size = GL_ARENA_NEW(arena, double, n),
               .exponent = GL_ARENA_NEW(arena, double, n)};
    for (size_t k = 0; k < n; k++) {
        double size = b->size_bytes[k];
        if (size < a->size_bytes[0] || size > a->size_bytes[a->quality.points - 1])
            continue;
        double exponent = exponent_at(family, i, size);
        if (isnan(exponent))
            continue;
        t.log_size[t.points] = b->log_size[k];
        t.exponent[t.points++] = exponent;
    }
    smooth(t.exponent, t.points, arena);
    for (size_t k = 0; k < t.points; k++)
        t.steepest = fmax(t.steepest, t.exponent[k]);
    return t;
}

gl_family *gl_family_build(const gl_curve_fit *const *members, size_t count, gl_arena *arena)
{
    gl_family *family = GL_ARENA_NEW(arena, gl_family, 1);
    *family = (gl_family){.members = members, .count = count};
    family->floor_slope_s = fit_floors(family, arena);
    family->trends = GL_ARENA_NEW(arena, trend, count);
    for (size_t i = 0; i + 1 < count; i++)
        family->trends[i] = find_trend(family, i, arena);
    return family;
}

/* 0 where the pair shares no size: bytes alone decide. */
static double trend_at(const trend *t, double size)
{
    if (t->points == 0)
        return 0;
    double at = log(size);
    if (at <= t->log_size[0] || t->points == 1)
        return t->exponent[0];
    if (at >= t->log_size[t->points - 1])
        return t->exponent[t->points - 1];
    size_t low = 0, high = t->points - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(t->log_size[middle] <= at ? &low : &high) = middle;
    }
    double share = (at - t->log_size[low]) / (t->log_size[high] - t->log_size[low]);
    return t->exponent[low] + share * (t->exponent[high] - t->exponent[low]);
}

/* Index of the first member with at least this many ranks; count when there is none. */
static size_t first_from(const gl_family *family, int ranks)
{
    size_t i = 0;
    while (i < family->count && placement_of(family, i)->ranks < ranks)
        i++;
    return i;
}

bool gl_family_between(const gl_family *family, int ranks)
{
    size_t i = first_from(family, ranks);
    return i > 0 && i < family->count;
}

size_t gl_family_count(const gl_family *family)
{
    return family->count;
}

/* The rest over `ranks` from that of an anchor and the trend of its pair. A bandwidth that falls
 * falls on by the same power. One that rises does so because a part of the work is not moved over
 * the link (a rank's own share): time is then a line in the bus factor. */
static double continue_rest(const gl_family *family, size_t pair, double anchor, double ranks,
                            double rest_s, double exponent)
{
    double na = placement_of(family, pair)->ranks, nb = placement_of(family, pair + 1)->ranks;
    double f = bus_factor(family, ranks) / bus_factor(family, anchor);
    double by_bytes = rest_s * f;
    if (exponent > 0)
        return by_bytes * pow(ranks / anchor, fmin(exponent, FALL_MAX));
    double fa = bus_factor(family, na), fb = bus_factor(family, nb);
    if (!(fb > fa))
        return by_bytes;
    /* Rest of one member of the pair over the other's, and from it the line. */
    double ratio = pow(nb / na, exponent) * fb / fa;
    bool upper = anchor == nb;
    double other = upper ? rest_s / ratio : rest_s * ratio;
    double slope = upper ? (rest_s - other) / (fb - fa) : (other - rest_s) / (fb - fa);
    double line = rest_s + slope * (bus_factor(family, ranks) - bus_factor(family, anchor));
    return fmin(fmax(line, by_bytes * RISE_MAX), by_bytes / RISE_MAX);
}

static gl_curve_time beyond(const gl_family *family, size_t pair, size_t anchor, int ranks,
                            double share, double size)
{
    const gl_curve_fit *fit = family->members[anchor];
    double have = fit->curve->placement.ranks;
    gl_curve_time t = gl_curve_eval(fit, size);
    const trend *pair_trend = &family->trends[pair];
    double exponent = trend_at(pair_trend, size), rest = rest_of(fit, t.time_s);
    double floor_s = t.time_s - rest, octaves = fabs(log2(ranks / have));
    double moved = floor_s + family->floor_slope_s * (depth(family, ranks) - depth(family, have));
    double moved_rest = continue_rest(family, pair, have, ranks, rest, exponent) * share;
    t.time_s = fmax(moved, floor_s / 2) + moved_rest;
    double doubt = fmax(fabs(exponent), pair_trend->steepest);
    double trend_error = ERROR_OF_TREND * fmin(doubt, FALL_MAX) * octaves * M_LN2;
    t.error_frac = hypot(hypot(t.error_frac, ERROR_PER_OCTAVE * octaves),
                         trend_error * fmax(moved_rest / t.time_s, LATENCY_DOUBT));
    t.evidence = gl_evidence_worst(t.evidence, GL_EVIDENCE_EXTRAPOLATED_RANKS);
    return t;
}

/* Rests between two measured counts: on a line in the bus factor where bandwidth rises, as beyond
 * them, else by a power of the ranks. `part`: place between them in octaves. */
static double rest_between(const gl_family *family, size_t i, int ranks, double part,
                           const double rest[2])
{
    double fa = bus_factor(family, placement_of(family, i)->ranks);
    double fb = bus_factor(family, placement_of(family, i + 1)->ranks);
    double f = bus_factor(family, ranks);
    if (!(rest[0] > 0) || !(rest[1] > 0))
        return rest[0] * (1 - part) + rest[1] * part;
    if (fb > fa && rest[1] / fb <= rest[0] / fa)
        return rest[0] + (rest[1] - rest[0]) * (f - fa) / (fb - fa);
    return f * pow(rest[0] / fa, 1 - part) * pow(rest[1] / fb, part);
}

/* Between two measured counts; floors lie on a line in depth. */
static gl_curve_time between(const gl_family *family, size_t i, int ranks, double share,
                             double size)
{
    const gl_curve_fit *a = family->members[i], *b = family->members[i + 1];
    double na = a->curve->placement.ranks, nb = b->curve->placement.ranks;
    gl_curve_time t = gl_curve_eval(a, size), u = gl_curve_eval(b, size);
    const double rest[2] = {rest_of(a, t.time_s), rest_of(b, u.time_s)};
    double deep =
        (depth(family, ranks) - depth(family, na)) / (depth(family, nb) - depth(family, na));
    double floor_s = (t.time_s - rest[0]) * (1 - deep) + (u.time_s - rest[1]) * deep;
    double part = log(ranks / na) / log(nb / na), octaves = fmin(part, 1 - part) * log2(nb / na);
    double change = rest[0] > 0 && rest[1] > 0
                        ? log(rest[1] / bus_factor(family, nb) / (rest[0] / bus_factor(family, na)))
                        : 0;
    double trend_error = ERROR_OF_TREND * fabs(change) * fmin(part, 1 - part);
    t.time_s = floor_s + rest_between(family, i, ranks, part, rest) * share;
    t.error_frac = hypot(fmax(t.error_frac, u.error_frac),
                         hypot(ERROR_PER_OCTAVE * octaves, trend_error) * INSIDE);
    t.evidence =
        gl_evidence_worst(gl_evidence_worst(t.evidence, u.evidence), GL_EVIDENCE_INTERPOLATED);
    return t;
}

gl_curve_time gl_family_eval(const gl_family *family, int ranks, double bandwidth_share,
                             double size_bytes)
{
    size_t i = first_from(family, ranks), last = family->count - 1;
    if (i == 0)
        return beyond(family, 0, 0, ranks, bandwidth_share, size_bytes);
    if (i > last)
        return beyond(family, last - 1, last, ranks, bandwidth_share, size_bytes);
    return between(family, i - 1, ranks, bandwidth_share, size_bytes);
}
