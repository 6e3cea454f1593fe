/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/knob.h"

#include "common/collective.h"
#include "planner/core/network_rules.h"

#include <math.h>

static const double ROUNDING = 1e-9;

static const gl_knob_kind kinds[GL_KNOB_COUNT] = {
    [GL_KNOB_INTRA_BANDWIDTH] = {"intra_node.bandwidth", "bandwidth inside a node", GL_BYTES_PER_S,
                                 "B/s", false, GL_CHEAP_LESS, 0},
    [GL_KNOB_INTRA_LATENCY] = {"intra_node.latency", "latency inside a node", GL_SECONDS, "s",
                               false, GL_CHEAP_NONE, 0},
    [GL_KNOB_OUTSIDE_BANDWIDTH] = {"intra_node.outside_bandwidth",
                                   "bandwidth between domains of a node", GL_BYTES_PER_S, "B/s",
                                   false, GL_CHEAP_LESS, 0},
    [GL_KNOB_DOMAIN] = {"intra_node.domain", "GPUs that the link inside a node joins", GL_NUMBER,
                        "", true, GL_CHEAP_LESS, 1},
    [GL_KNOB_INTER_BANDWIDTH] = {"inter_node.bandwidth", "bandwidth of a NIC", GL_BYTES_PER_S,
                                 "B/s", false, GL_CHEAP_LESS, 0},
    [GL_KNOB_INTER_LATENCY] = {"inter_node.latency", "latency between nodes", GL_SECONDS, "s",
                               false, GL_CHEAP_NONE, 0},
    [GL_KNOB_NICS] = {"inter_node.nics_per_node", "NICs of a node", GL_NUMBER, "", true,
                      GL_CHEAP_LESS, 1},
    [GL_KNOB_OVERSUBSCRIPTION] = {"inter_node.oversubscription", "oversubscription", GL_NUMBER, "1",
                                  false, GL_CHEAP_MORE, 1},
    [GL_KNOB_CORE_OVERSUBSCRIPTION] = {"inter_node.core_oversubscription",
                                       "oversubscription of the spines", GL_NUMBER, "1", false,
                                       GL_CHEAP_MORE, 1},
    [GL_KNOB_OVERLAP_TAX] = {"overlap.tax", "compute lost to hidden communication", GL_NUMBER, "1",
                             false, GL_CHEAP_NONE, 0},
    [GL_KNOB_OVERLAP] = {"overlap", "what may hide", GL_NUMBER, "1", true, GL_CHEAP_NONE, 0},
    [GL_KNOB_COMPRESSION] = {"buckets.compression", "compression of gradients", GL_NUMBER, "1",
                             false, GL_CHEAP_LESS, 1},
    [GL_KNOB_MICRO] = {"batch.micro", "sequences of a microbatch", GL_NUMBER, "", true,
                       GL_CHEAP_LESS, 1},
    [GL_KNOB_BATCH] = {"batch.global", "sequences of a step", GL_NUMBER, "", true, GL_CHEAP_LESS,
                       1},
};

const gl_knob_kind *gl_knob_describe(gl_knob knob)
{
    return &kinds[knob];
}

/* ---- values as they are ---- */

/* Largest bus bandwidth that was measured: of a GPU, or between nodes of a NIC. */
static double largest_busbw(const gl_cluster *cluster, const gl_tier *tier)
{
    double largest = 0;
    for (size_t i = 0; i < tier->curve_count; i++) {
        const gl_curve *c = &tier->curves[i];
        double factor = gl_bus_factor(c->collective, c->placement.ranks);
        if (c->placement.nodes > 1)
            factor /= gl_rules_nics_share(cluster, &c->placement);
        for (size_t k = 0; k < c->sample_count; k++)
            largest =
                fmax(largest, c->samples[k].size_bytes * factor / c->samples[k].time_median_s);
    }
    return largest;
}

static double floor_s(const gl_curve *curve)
{
    double least = (double)INFINITY;
    for (size_t k = 0; k < curve->sample_count; k++)
        least = fmin(least, curve->samples[k].time_median_s);
    return least;
}

static double tier_bandwidth(const gl_cluster *cluster, const gl_tier *tier)
{
    if (tier->curve_count > 0)
        return largest_busbw(cluster, tier);
    return tier->link != NULL ? tier->link->bw_bytes_per_s.value : (double)NAN;
}

/* Of one call over two ranks: what a message waits for before its bytes count. */
static double tier_latency(const gl_tier *tier)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < tier->curve_count; i++)
        least = fmin(least, floor_s(&tier->curves[i]));
    if (isfinite(least))
        return least;
    return tier->link != NULL ? tier->link->base_latency_s.value + tier->link->step_latency_s.value
                              : (double)NAN;
}

/* Is a node made of several domains? */
static bool has_domains(const gl_cluster *cluster)
{
    return cluster->outside != NULL && gl_cluster_domain(cluster) < cluster->gpus_per_node;
}

bool gl_knob_is_of_the_work(gl_knob knob)
{
    return knob == GL_KNOB_COMPRESSION || knob == GL_KNOB_BATCH || knob == GL_KNOB_MICRO;
}

double gl_knob_value(gl_knob knob, const gl_setup *setup)
{
    const gl_cluster *c = setup->cluster;
    const gl_workload *w = setup->workload;
    bool inside = c->gpus_per_node > 1, between = c->nodes > 1;
    double nan = (double)NAN;
    switch (knob) {
    case GL_KNOB_INTRA_BANDWIDTH:
        return inside ? tier_bandwidth(c, &c->intra) : nan;
    case GL_KNOB_INTRA_LATENCY:
        return inside ? tier_latency(&c->intra) : nan;
    case GL_KNOB_OUTSIDE_BANDWIDTH:
        return has_domains(c) ? c->outside->bw_bytes_per_s.value : nan;
    case GL_KNOB_DOMAIN:
        return has_domains(c) || (inside && between) ? gl_cluster_domain(c) : nan;
    case GL_KNOB_INTER_BANDWIDTH:
        return between ? tier_bandwidth(c, &c->inter) : nan;
    case GL_KNOB_INTER_LATENCY:
        return between ? tier_latency(&c->inter) : nan;
    case GL_KNOB_NICS:
        return between && c->nics_per_node > 0 ? c->nics_per_node : nan;
    case GL_KNOB_OVERSUBSCRIPTION:
        return between ? c->oversubscription : nan;
    case GL_KNOB_CORE_OVERSUBSCRIPTION:
        return between && gl_rules_switch_levels(c, c->nodes) > 2 ? c->core_oversubscription : nan;
    case GL_KNOB_OVERLAP_TAX:
    case GL_KNOB_OVERLAP:
        return 1;
    case GL_KNOB_MICRO:
        return w->batch.micro;
    case GL_KNOB_COMPRESSION:
        return w->parallel.dp > 1 ? w->buckets.compression : nan;
    default:
        return gl_workload_step_sequences(w);
    }
}

double gl_knob_largest(gl_knob knob, const gl_setup *setup)
{
    if (knob != GL_KNOB_INTER_BANDWIDTH)
        return (double)INFINITY;
    return fmax(gl_knob_value(knob, setup), gl_cluster_slot_bandwidth(setup->cluster));
}

/* ---- other values ---- */

static void scale_figure(gl_figure *figure, double factor)
{
    figure->value *= factor;
    figure->low *= factor;
    figure->high *= factor;
}

/* A curve's times with its floor and what lies above it by factors of their own. */
static const gl_sample *scaled_samples(const gl_curve *curve, double floor_factor,
                                       double rest_factor, gl_arena *arena)
{
    gl_sample *samples = GL_ARENA_NEW(arena, gl_sample, curve->sample_count);
    double floor = floor_s(curve);
    for (size_t k = 0; k < curve->sample_count; k++) {
        gl_sample *s = &samples[k];
        *s = curve->samples[k];
        double time_s = floor * floor_factor + (s->time_median_s - floor) * rest_factor;
        double factor = time_s / s->time_median_s;
        s->time_median_s *= factor;
        s->time_p05_s *= factor;
        s->time_p95_s *= factor;
        s->time_min_s *= factor;
    }
    return samples;
}

static void scale_curves(gl_tier *tier, double floor_factor, double rest_factor, gl_arena *arena)
{
    gl_curve *curves = GL_ARENA_NEW(arena, gl_curve, tier->curve_count);
    for (size_t i = 0; i < tier->curve_count; i++) {
        curves[i] = tier->curves[i];
        curves[i].samples = scaled_samples(&curves[i], floor_factor, rest_factor, arena);
    }
    tier->curves = curves;
}

/* A curve takes longer where its group crossed switches that are thinned anew. */
static void thin_curves(const gl_cluster *before, gl_cluster *cluster, gl_arena *arena)
{
    gl_curve *curves = GL_ARENA_NEW(arena, gl_curve, cluster->inter.curve_count);
    for (size_t i = 0; i < cluster->inter.curve_count; i++) {
        const gl_curve *c = &cluster->inter.curves[i];
        double factor = gl_rules_curve_thinning(cluster, c) / gl_rules_curve_thinning(before, c);
        curves[i] = *c;
        curves[i].samples = scaled_samples(c, 1, factor, arena);
    }
    cluster->inter.curves = curves;
}

static gl_link *own_link(gl_tier *tier, gl_arena *arena)
{
    gl_link *link = GL_ARENA_NEW(arena, gl_link, 1);
    *link = *tier->link;
    tier->link = link;
    return link;
}

static void scale_bandwidth(gl_tier *tier, double factor, gl_arena *arena)
{
    if (tier->link != NULL) {
        gl_link *link = own_link(tier, arena);
        scale_figure(&link->bw_bytes_per_s, factor);
    }
    scale_curves(tier, 1, 1 / factor, arena);
    tier->bandwidth_factor = factor * (tier->bandwidth_factor > 0 ? tier->bandwidth_factor : 1);
}

static void scale_outside(gl_cluster *cluster, double factor, gl_arena *arena)
{
    gl_tier outside = {.link = cluster->outside};
    scale_bandwidth(&outside, factor, arena);
    cluster->outside = outside.link;
}

static void scale_latency(gl_tier *tier, double factor, gl_arena *arena)
{
    if (tier->link != NULL) {
        gl_link *link = own_link(tier, arena);
        scale_figure(&link->base_latency_s, factor);
        scale_figure(&link->step_latency_s, factor);
        scale_figure(&link->level_latency_s, factor);
        scale_figure(&link->switch_latency_s, factor);
    }
    scale_curves(tier, factor, 1, arena);
}

static void scale_taxes(gl_cluster *cluster, double factor, gl_arena *arena)
{
    if (cluster->overlap_taxes != NULL) {
        gl_overlap_taxes *taxes = GL_ARENA_NEW(arena, gl_overlap_taxes, 1);
        *taxes = *cluster->overlap_taxes;
        for (int i = 0; i < GL_TRANSPORT_COUNT; i++)
            scale_figure(&taxes->by_transport[i], factor);
        cluster->overlap_taxes = taxes;
    }
    gl_overlap_rate *rates = GL_ARENA_NEW(arena, gl_overlap_rate, cluster->overlap_count);
    for (size_t i = 0; i < cluster->overlap_count; i++) {
        rates[i] = cluster->overlap[i];
        double longer = fmax(rates[i].compute_alone_s, rates[i].communication_alone_s);
        rates[i].together_s = longer + (rates[i].together_s - longer) * factor;
    }
    cluster->overlap = rates;
}

static void set_overlap(gl_workload *workload, bool may_hide)
{
    gl_overlap *o = &workload->overlap;
    o->dp = o->tp = o->pp = o->cp = o->ep = o->zero3_prefetch = may_hide;
}

/* Other domains in the same node, or nodes of `gpus` GPUs with as many NICs a GPU and as many GPUs
 * in all. */
static bool set_domain(gl_cluster *cluster, int gpus)
{
    if (has_domains(cluster)) {
        cluster->domain_gpus = gpus;
        return cluster->gpus_per_node % gpus == 0;
    }
    int64_t all = (int64_t)cluster->nodes * cluster->gpus_per_node;
    int64_t nics = (int64_t)cluster->nics_per_node * gpus;
    if (gpus < 1 || all % gpus != 0 || nics < cluster->gpus_per_node ||
        nics % cluster->gpus_per_node != 0)
        return false;
    cluster->nics_per_node = (int)(nics / cluster->gpus_per_node);
    cluster->gpus_per_node = gpus;
    cluster->nodes = (int)(all / gpus);
    if (cluster->nodes == 1)
        cluster->nics_per_node = 0;
    return true;
}

/* A batch that the replicas share evenly. */
static bool set_batch(gl_workload *workload, double sequences)
{
    double unit = (double)workload->batch.micro * workload->parallel.dp;
    if (!(sequences >= unit) || fmod(sequences, unit) != 0)
        return false;
    workload->batch.global = (int64_t)sequences;
    return true;
}

/* Larger microbatches of the same batch. */
static bool set_micro(gl_workload *workload, double sequences)
{
    double replica = sequences * workload->parallel.dp;
    if (workload->batch.global == 0)
        workload->batch.global = (int64_t)workload->batch.micro * workload->parallel.dp;
    workload->batch.micro = (int)sequences;
    return fmod((double)workload->batch.global, replica) == 0;
}

bool gl_knob_turn(gl_knob knob, double value, const gl_setup *setup, gl_arena *arena, gl_setup *out)
{
    gl_workload *w = GL_ARENA_NEW(arena, gl_workload, 1);
    gl_cluster *c = GL_ARENA_NEW(arena, gl_cluster, 1);
    double now = gl_knob_value(knob, setup), factor = value / now;
    *w = *setup->workload;
    *c = *setup->cluster;
    *out = (gl_setup){w, c};
    if (isnan(factor) || value < kinds[knob].smallest ||
        value > gl_knob_largest(knob, setup) * (1 + ROUNDING))
        return false;
    switch (knob) {
    case GL_KNOB_INTRA_BANDWIDTH:
        scale_bandwidth(&c->intra, factor, arena);
        return true;
    case GL_KNOB_INTRA_LATENCY:
        scale_latency(&c->intra, factor, arena);
        return true;
    case GL_KNOB_OUTSIDE_BANDWIDTH:
        scale_outside(c, factor, arena);
        return true;
    case GL_KNOB_DOMAIN:
        return set_domain(c, (int)value);
    case GL_KNOB_INTER_BANDWIDTH:
        scale_bandwidth(&c->inter, factor, arena);
        return true;
    case GL_KNOB_INTER_LATENCY:
        scale_latency(&c->inter, factor, arena);
        return true;
    case GL_KNOB_NICS:
        c->nics_per_node = (int)value;
        scale_curves(&c->inter, 1, 1 / factor, arena);
        return true;
    case GL_KNOB_OVERSUBSCRIPTION:
        c->oversubscription = value;
        thin_curves(setup->cluster, c, arena);
        return true;
    case GL_KNOB_CORE_OVERSUBSCRIPTION:
        c->core_oversubscription = value;
        thin_curves(setup->cluster, c, arena);
        return true;
    case GL_KNOB_OVERLAP_TAX:
        scale_taxes(c, factor, arena);
        return true;
    case GL_KNOB_OVERLAP:
        if (value != now)
            set_overlap(w, value > now);
        return true;
    case GL_KNOB_COMPRESSION:
        w->buckets.compression = value;
        return true;
    case GL_KNOB_MICRO:
        return set_micro(w, value);
    default:
        return set_batch(w, value);
    }
}
