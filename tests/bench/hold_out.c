/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/hold_out.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* Rank counts with fewer curves below them than this tell no trend. */
enum { COUNTS_BELOW = 2 };

typedef struct checker {
    const gl_cluster *cluster;
    gl_arena *arena;
    gl_held_point *points;
    size_t count, capacity, refused;
} checker;

static bool usable(const gl_sample *s)
{
    return s->size_bytes > 0 && s->time_median_s > 0 && !(s->wrong > 0);
}

static void add(checker *c, const gl_curve *curve, const gl_sample *sample, double predicted_s,
                double error_frac, gl_evidence evidence)
{
    c->points = gl_arena_grow(c->arena, c->points, &c->capacity, c->count + 1, sizeof *c->points);
    c->points[c->count++] = (gl_held_point){.curve = curve,
                                            .size_bytes = sample->size_bytes,
                                            .measured_s = sample->time_median_s,
                                            .predicted_s = predicted_s,
                                            .error_frac = error_frac,
                                            .evidence = evidence};
}

static void predict_samples(checker *c, const gl_network *network, const gl_curve *curve)
{
    for (size_t i = 0; i < curve->sample_count; i++) {
        gl_network_time t;
        gl_network_query query = {.collective = curve->collective,
                                  .placement = curve->placement,
                                  .size_bytes = curve->samples[i].size_bytes,
                                  .in_place = curve->in_place,
                                  .figures_only = true};
        if (!usable(&curve->samples[i]))
            continue;
        if (gl_network_eval(network, &query, c->arena, &t, NULL))
            add(c, curve, &curve->samples[i], t.time_s, t.error_frac, t.evidence);
        else
            c->refused++;
    }
}

/* ---- sizes ---- */

static void hold_out_sizes(checker *c, const gl_curve *curve)
{
    gl_sample *left = GL_ARENA_NEW(c->arena, gl_sample, curve->sample_count);
    for (size_t i = 1; i + 1 < curve->sample_count; i++) {
        gl_curve rest = *curve;
        gl_curve_fit fit;
        if (!usable(&curve->samples[i]))
            continue;
        rest.samples = left;
        rest.sample_count = 0;
        for (size_t j = 0; j < curve->sample_count; j++)
            if (j != i)
                left[rest.sample_count++] = curve->samples[j];
        if (!gl_curve_fit_build(&rest, NULL, c->arena, &fit, NULL))
            continue;
        gl_curve_time t = gl_curve_eval(&fit, curve->samples[i].size_bytes);
        add(c, curve, &curve->samples[i], t.time_s, t.error_frac, t.evidence);
    }
}

/* ---- rank counts ---- */

static bool held_out(const gl_curve *curve, const gl_placement *p, gl_hold_out kind)
{
    bool same_shape = (curve->placement.nodes > 1) == (p->nodes > 1);
    return same_shape && (kind == GL_HOLD_OUT_LARGER ? curve->placement.ranks >= p->ranks
                                                     : curve->placement.ranks == p->ranks);
}

static gl_tier without(const gl_tier *tier, const gl_placement *p, gl_hold_out kind,
                       gl_arena *arena)
{
    gl_tier left = *tier;
    gl_curve *curves = GL_ARENA_NEW(arena, gl_curve, tier->curve_count);
    left.curves = curves;
    left.curve_count = 0;
    left.link = NULL;
    for (size_t i = 0; i < tier->curve_count; i++)
        if (!held_out(&tier->curves[i], p, kind))
            curves[left.curve_count++] = tier->curves[i];
    return left;
}

/* Different rank counts of curves like this one, below and above its own. */
static void count_around(const gl_tier *tier, const gl_curve *curve, int *below, int *above)
{
    *below = *above = 0;
    for (size_t i = 0; i < tier->curve_count; i++) {
        const gl_curve *other = &tier->curves[i];
        if (other->collective != curve->collective || other->in_place != curve->in_place ||
            other->dtype != curve->dtype || other->placement.ranks < 2 ||
            (curve->placement.nodes > 1 &&
             other->placement.ranks_per_node != curve->placement.ranks_per_node))
            continue;
        *below += other->placement.ranks < curve->placement.ranks;
        *above += other->placement.ranks > curve->placement.ranks;
    }
}

static void hold_out_ranks(checker *c, const gl_tier *tier, const gl_curve *curve, gl_hold_out kind)
{
    int below, above;
    count_around(tier, curve, &below, &above);
    if (kind == GL_HOLD_OUT_LARGER ? below < COUNTS_BELOW : below < 1 || above < 1)
        return;
    gl_cluster rest = *c->cluster;
    rest.intra = without(&c->cluster->intra, &curve->placement, kind, c->arena);
    rest.inter = without(&c->cluster->inter, &curve->placement, kind, c->arena);
    const char *const *warnings;
    predict_samples(c, gl_network_create(&rest, c->arena, &warnings), curve);
}

const gl_held_point *gl_network_check(const gl_cluster *cluster, gl_hold_out kind, gl_arena *arena,
                                      size_t *count, size_t *refused)
{
    checker c = {.cluster = cluster, .arena = arena};
    const gl_tier *tiers[] = {&cluster->intra, &cluster->inter};
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < tiers[t]->curve_count; i++) {
            if (kind == GL_HOLD_OUT_SIZES)
                hold_out_sizes(&c, &tiers[t]->curves[i]);
            else
                hold_out_ranks(&c, tiers[t], &tiers[t]->curves[i], kind);
        }
    }
    *count = c.count;
    *refused = c.refused;
    return c.points;
}

/* ---- others' runs ---- */

bool gl_comm_predict(const gl_comm_run *run, const gl_link *intra, const gl_link *inter,
                     gl_arena *arena, gl_network_time *out, gl_error *err)
{
    const char *const *warnings;
    gl_link inside = intra != NULL ? *intra : (gl_link){0};
    if (!run->node_switch_reduction)
        inside.switch_efficiency = (gl_figure){.kind = GL_FIGURE_ABSENT};
    gl_cluster cluster = {.name = run->id,
                          .nodes = run->placement.nodes,
                          .gpus_per_node = run->gpus_per_node,
                          .intra.link = intra != NULL ? &inside : NULL,
                          .inter.link = inter,
                          .nics_per_node = run->nics_per_node,
                          .oversubscription = 1,
                          .core_oversubscription = 1,
                          .in_network_reduction = run->in_network_reduction};
    gl_network_query query = {
        .collective = run->collective, .placement = run->placement, .size_bytes = run->size_bytes};
    return gl_network_eval(gl_network_create(&cluster, arena, &warnings), &query, arena, out, err);
}

/* ---- summaries ---- */

bool gl_held_inside(const gl_held_point *point)
{
    double factor = 1 + GL_P90_OF_SIGMA * point->error_frac;
    return point->measured_s <= point->predicted_s * factor &&
           point->measured_s >= point->predicted_s / factor;
}

gl_held_summary gl_held_summarise(const gl_held_point *points, size_t count, gl_arena *arena)
{
    gl_held_summary s = {.points = count,
                         .median_frac = (double)NAN,
                         .p90_frac = (double)NAN,
                         .bias_frac = (double)NAN,
                         .held_frac = (double)NAN};
    double *absolute = GL_ARENA_NEW(arena, double, count),
           *sign = GL_ARENA_NEW(arena, double, count);
    size_t inside = 0;
    if (count == 0)
        return s;
    for (size_t i = 0; i < count; i++) {
        sign[i] = points[i].predicted_s / points[i].measured_s - 1;
        absolute[i] = fabs(sign[i]);
        inside += gl_held_inside(&points[i]);
    }
    gsl_sort(absolute, 1, count);
    gsl_sort(sign, 1, count);
    s.median_frac = gsl_stats_median_from_sorted_data(absolute, 1, count);
    s.p90_frac = gsl_stats_quantile_from_sorted_data(absolute, 1, count, 0.9);
    s.bias_frac = gsl_stats_median_from_sorted_data(sign, 1, count);
    s.held_frac = (double)inside / (double)count;
    return s;
}

const gl_held_point *gl_network_check_again(const gl_cluster *cluster, const gl_cluster *again,
                                            gl_arena *arena, size_t *count, size_t *refused)
{
    checker c = {.cluster = cluster, .arena = arena};
    const char *const *warnings;
    const gl_network *network = gl_network_create(cluster, arena, &warnings);
    const gl_tier *tiers[] = {&again->intra, &again->inter};
    for (size_t t = 0; t < 2; t++)
        for (size_t i = 0; i < tiers[t]->curve_count; i++)
            predict_samples(&c, network, &tiers[t]->curves[i]);
    *count = c.count;
    *refused = c.refused;
    return c.points;
}
