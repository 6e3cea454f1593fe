/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/stage_plans.h"

#include "common/quantile.h"
#include "planner/core/network_rules.h"

#include <math.h>
#include <string.h>

/* ---- overlap ---- */

/*
 * Median loss over what was measured on this transport. Where compute lasts longer, what the series
 * takes more than compute alone is what compute loses, per second of communication; where
 * communication lasts longer, what communication loses per second of compute. NaN: not measured.
 */
static double measured_loss(const gl_cluster *cluster, gl_transport transport, bool of_compute,
                            double *scratch)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->overlap_count; i++) {
        const gl_overlap_rate *o = &cluster->overlap[i];
        bool compute_longer = o->compute_alone_s >= o->communication_alone_s;
        double longer = compute_longer ? o->compute_alone_s : o->communication_alone_s;
        double shorter = compute_longer ? o->communication_alone_s : o->compute_alone_s;
        if (o->transport == transport && compute_longer == of_compute && shorter > 0)
            scratch[count++] = fmax(0, (o->together_s - longer) / shorter);
    }
    return gl_median(scratch, count);
}

/*
 * Share of its rate that communication loses while compute runs beside it. With x and s the shares
 * of their rates that compute and communication lose, the losses measured are tax = x/(1 − s) and
 * u = s/(1 − x): s = u·(1 − tax)/(1 − u·tax). 0 where nobody measured it.
 */
static double slowdown_of(double u, double tax)
{
    return isnan(u) || tax >= 1 || u >= 1 ? 0 : u * (1 - tax) / (1 - u * tax);
}

gl_overlap_losses gl_overlap_losses_of(const gl_cluster *cluster)
{
    gl_overlap_losses losses;
    gl_arena *arena = gl_arena_create();
    double *scratch = GL_ARENA_NEW(arena, double, cluster->overlap_count);
    for (int i = 0; i < GL_TRANSPORT_COUNT; i++) {
        const gl_figure none = {0};
        const gl_figure *catalogue =
            cluster->overlap_taxes != NULL ? &cluster->overlap_taxes->by_transport[i] : &none;
        double tax = measured_loss(cluster, (gl_transport)i, true, scratch);
        double u = measured_loss(cluster, (gl_transport)i, false, scratch);
        losses.by_transport[i].tax = isnan(tax) ? catalogue->value : tax;
        losses.by_transport[i].slowdown = slowdown_of(u, losses.by_transport[i].tax);
        /* Measured beside plain GEMMs a tax is one value of a range just as wide: what else runs
         * decides. */
        losses.by_transport[i].error_frac = gl_figure_sigma(catalogue);
    }
    gl_arena_destroy(arena);
    return losses;
}

static gl_transport transport_of(const gl_tier *tier, const gl_link *link)
{
    if (tier->curve_count > 0)
        return tier->curves[0].transport;
    return link != NULL ? link->transport : GL_TRANSPORT_UNKNOWN;
}

gl_transport gl_overlap_transport(const gl_cluster *cluster, const gl_overlap_losses *losses,
                                  const gl_network_time *time, double *tax)
{
    gl_transport tiers[] = {transport_of(&cluster->intra, cluster->intra.link),
                            transport_of(&cluster->inter, cluster->inter.link)};
    gl_transport costlier = time->transport;
    *tax = losses->by_transport[costlier].tax;
    if (!(time->tier_s[0] > 0 && time->tier_s[1] > 0))
        return costlier;
    tiers[gl_slower_tier(time)] = time->transport;
    *tax = 0;
    for (size_t i = 0; i < 2; i++) {
        double share = fmin(1, time->tier_s[i] / time->time_s);
        if (losses->by_transport[tiers[i]].tax * share >= *tax) {
            *tax = losses->by_transport[tiers[i]].tax * share;
            costlier = tiers[i];
        }
    }
    return costlier;
}

/* Where one leaf joins all nodes a group's switches need not be counted. */
static bool has_leaves(const gl_cluster *cluster)
{
    return cluster->radix > 0 && gl_rules_nodes_on_leaf(cluster) < cluster->nodes;
}

gl_layout gl_layout_on(const gl_parallel *parallel, const gl_cluster *cluster)
{
    gl_layout layout = gl_layout_build(parallel, cluster->gpus_per_node);
    int domain = gl_cluster_domain(cluster);
    if (domain < cluster->gpus_per_node)
        gl_layout_mark_domains(&layout, parallel, domain);
    if (has_leaves(cluster))
        gl_layout_mark_switches(&layout, parallel, cluster->gpus_per_node,
                                gl_rules_nodes_on_leaf(cluster), gl_rules_nodes_in_pod(cluster));
    return layout;
}

/* ---- calls ---- */

/* Parts of a key of call_key: without switches and sites the rest is 0. */
gl_memo *gl_call_memo(const gl_cluster *cluster, gl_arena *arena)
{
    bool wide = has_leaves(cluster) || cluster->sites.count > 1;
    return gl_memo_create(arena, wide ? GL_MEMO_KEY_MAX : 4, sizeof(gl_network_time));
}

static gl_memo_key call_key(const gl_network_query *q)
{
    const gl_placement *g = &q->placement, *s = &q->over_sites;
    return (gl_memo_key){{(int64_t)q->size_bytes, gl_memo_pair(g->ranks, g->nodes),
                          gl_memo_pair(g->ranks_per_node, g->concurrent_groups),
                          gl_memo_pair(q->domains, (int)q->collective),
                          gl_memo_pair(q->reach.leaves, q->reach.nodes_on_leaf),
                          gl_memo_pair(q->reach.pods, q->reach.nodes_in_pod),
                          gl_memo_pair(s->nodes, s->ranks_per_node), s->concurrent_groups}};
}

bool gl_trains_in_place(gl_collective collective)
{
    return collective == GL_ALL_REDUCE || collective == GL_BROADCAST;
}

static bool time_call(const gl_stage_planner *p, const gl_traffic_row *row,
                      const gl_network_time **out, gl_error *err)
{
    const gl_network_query query = {.collective = row->collective,
                                    .placement = row->placement,
                                    .size_bytes = (double)row->size_bytes,
                                    .in_place = gl_trains_in_place(row->collective),
                                    .allow_extrapolation = p->allow_extrapolation,
                                    .figures_only = p->figures_only,
                                    .reach = p->layout->reach[row->group],
                                    .domains = p->layout->domains[row->group],
                                    .over_sites = p->over_sites != NULL
                                                      ? p->over_sites->groups[row->group]
                                                      : (gl_placement){0}};
    const gl_memo_key key = call_key(&query);
    bool found;
    gl_network_time *time = gl_memo_get(p->calls, &key, &found);
    *out = time;
    if (found)
        return true;
    if (gl_network_eval(p->network, &query, p->texts, time, err))
        return true;
    gl_memo_forget_last(p->calls);
    return false;
}

static bool time_rows(const gl_stage_planner *p, gl_stage_plan *sp, gl_error *err)
{
    size_t rows = sp->traffic.row_count;
    gl_network_time *times = gl_arena_alloc_raw(p->arena, rows, sizeof *times);
    double *taxes = GL_ARENA_NEW(p->arena, double, 2 * rows), *slowdowns = taxes + rows;
    for (size_t i = 0; i < rows; i++) {
        const gl_traffic_row *r = &sp->traffic.rows[i];
        const gl_network_time *time;
        if (!time_call(p, r, &time, err))
            return false;
        times[i] = *time;
        if (!r->may_hide)
            continue;
        gl_overlap_transport(p->cluster, p->losses, time, &taxes[i]);
        slowdowns[i] = p->losses->by_transport[time->transport].slowdown;
    }
    sp->times = times;
    sp->overlap_tax = taxes;
    sp->slowdown = slowdowns;
    return true;
}

/* ---- stages ---- */

gl_memo *gl_base_memo(gl_arena *arena)
{
    return gl_memo_create(arena, 4, sizeof(gl_traffic_base));
}

/* All that decides the data parallel messages of a stage beside the model: how its weights are
 * split, which blocks it has, what ZeRO does, which groups there are at all. */
static gl_memo_key base_key(const gl_stage_planner *p, const gl_stage *stage)
{
    const gl_parallel *q = &p->workload->parallel;
    const gl_placement *g = p->layout->groups;
    int64_t many = (g[GL_GROUP_DP].ranks > 1) + 2 * (g[GL_GROUP_EXPERT_DP].ranks > 1) +
                   4 * (g[GL_GROUP_SHARD].ranks > 1) + 8 * (g[GL_GROUP_REPLICATE].ranks > 1);
    int flags = q->zero + 4 * q->vocab_parallel + 8 * q->accumulate + 16 * q->reshard +
                32 * (int)many + 512 * q->reduce_scatter;
    int replicas = q->rank_broadcast ? q->dp * q->cp : 0; /* a shard's size depends on them */
    return (gl_memo_key){{gl_memo_pair(q->tp, q->ep), gl_memo_pair(q->pp, stage->index),
                          gl_memo_pair(gl_parallel_chunks(q), flags),
                          gl_memo_pair(q->shard, replicas)}};
}

static void *keep(gl_arena *arena, const void *items, size_t count, size_t size)
{
    void *kept = gl_arena_alloc_raw(arena, count, size);
    if (count > 0)
        memcpy(kept, items, count * size);
    return kept;
}

/* Without the room that was left for more. */
static void keep_base(const gl_traffic_base *base, gl_arena *arena, gl_traffic_base *out)
{
    const gl_traffic *t = &base->traffic;
    *out = *base;
    out->traffic.rows = keep(arena, t->rows, t->row_count, sizeof *t->rows);
    out->traffic.messages = keep(arena, t->messages, t->message_count, sizeof *t->messages);
    out->every = keep(arena, base->every, t->row_count, sizeof *base->every);
}

static void build_traffic(const gl_stage_planner *p, const gl_stage *stage, gl_traffic *out)
{
    gl_traffic_base own, *base = &own, *kept = NULL;
    bool found = false;
    if (p->bases != NULL) {
        const gl_memo_key key = base_key(p, stage);
        kept = gl_memo_get(p->bases, &key, &found);
    }
    if (found)
        base = kept;
    else
        gl_traffic_prepare(p->workload, p->parameters, stage, p->layout, p->arena, &own);
    if (!found && kept != NULL) {
        keep_base(&own, p->base_arena, kept);
        base = kept;
    }
    gl_traffic_complete(base, p->workload, p->parameters, stage, p->layout, p->arena, out);
}

/* Stages with equal blocks between two neighbours move the same. */
static bool same_stage(const gl_stage *stages, int pp, int a, int b)
{
    bool ends_differ = (a == 0) != (b == 0) || (a == pp - 1) != (b == pp - 1);
    return !ends_differ && stages[a].dense_layers == stages[b].dense_layers &&
           stages[a].moe_layers == stages[b].moe_layers;
}

bool gl_stage_plans_build(const gl_stage_planner *p, const gl_stage *stages, gl_stage_plan **out,
                          gl_error *err)
{
    int pp = p->workload->parallel.pp;
    gl_stage_plan *plans = GL_ARENA_NEW(p->arena, gl_stage_plan, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        int same = -1;
        for (int j = 0; j < i && same < 0; j++)
            same = same_stage(stages, pp, j, i) ? j : -1;
        if (same >= 0) {
            plans[i] = plans[same];
            plans[i].stage = &stages[i];
            continue;
        }
        plans[i].stage = &stages[i];
        build_traffic(p, &stages[i], &plans[i].traffic);
        plans[i].optimizer_s =
            gl_compute_optimizer_s(p->workload, p->parameters, &stages[i], p->cluster);
        if (!time_rows(p, &plans[i], err))
            return false;
    }
    *out = plans;
    return true;
}
