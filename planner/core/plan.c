/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/plan.h"

#include "planner/core/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Range of factors on a tier's times in which the required bandwidth is looked for. */
static const double SCALE_MIN = 1e-4, SCALE_MAX = 1e4;

const char *gl_tier_name(gl_tier_kind tier)
{
    return tier == GL_TIER_INTRA_NODE ? "intra_node" : "inter_node";
}

const char *gl_verdict_name(gl_verdict verdict)
{
    static const char *const names[] = {
        [GL_VERDICT_NOT_USED] = "not used", [GL_VERDICT_ENOUGH] = "enough",
        [GL_VERDICT_TIGHT] = "tight",       [GL_VERDICT_SHORT] = "short",
        [GL_VERDICT_UNKNOWN] = "unknown",
    };
    return names[verdict];
}

typedef struct planner {
    const gl_workload *workload;
    const gl_cluster *cluster;
    gl_arena *arena;
    gl_plan *plan;
    size_t warning_capacity;
    double tax_error_frac; /* one-sigma relative error of the overlap taxes */
    gl_layout over_sites;  /* of a cluster of several; otherwise all 0 */
} planner;

static void warn(planner *p, const char *text)
{
    gl_plan *plan = p->plan;
    plan->warnings = gl_arena_grow(p->arena, plan->warnings, &p->warning_capacity,
                                   plan->warning_count + 1, sizeof *plan->warnings);
    plan->warnings[plan->warning_count++] = text;
}

/* ---- what each stage moves, and how long one call takes ----------------------------------------
 */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * Median loss over what was measured on this transport. Where compute lasts longer, what the series
 * takes more than compute alone is what compute loses, per second of communication; where
 * communication lasts longer, what communication loses per second of compute. NaN: not measured.
 */
static double measured_loss(const gl_cluster *cluster, gl_transport transport, bool of_compute,
                            gl_arena *arena)
{
    double *losses = GL_ARENA_NEW(arena, double, cluster->overlap_count);
    size_t count = 0;
    for (size_t i = 0; i < cluster->overlap_count; i++) {
        const gl_overlap_rate *o = &cluster->overlap[i];
        double longer = fmax(o->compute_alone_s, o->communication_alone_s);
        double shorter = fmin(o->compute_alone_s, o->communication_alone_s);
        bool compute_longer = o->compute_alone_s >= o->communication_alone_s;
        if (o->transport == transport && compute_longer == of_compute && shorter > 0)
            losses[count++] = fmax(0, (o->together_s - longer) / shorter);
    }
    if (count == 0)
        return (double)NAN;
    qsort(losses, count, sizeof *losses, compare_doubles);
    return (losses[(count - 1) / 2] + losses[count / 2]) / 2;
}

static gl_figure catalogue_tax(const gl_cluster *cluster, gl_transport transport)
{
    const gl_overlap_taxes *taxes = cluster->overlap_taxes;
    return taxes != NULL ? taxes->by_transport[transport] : (gl_figure){0};
}

/* Measured beside plain GEMMs it is one value of a range just as wide: what else runs decides. */
static double overlap_tax(planner *p, gl_transport transport)
{
    gl_figure catalogue = catalogue_tax(p->cluster, transport);
    p->tax_error_frac = fmax(p->tax_error_frac, gl_figure_sigma(&catalogue));
    double measured = measured_loss(p->cluster, transport, true, p->arena);
    return isnan(measured) ? catalogue.value : measured;
}

/*
 * Share of its rate that communication loses while compute runs beside it. With x and s the shares
 * of their rates that compute and communication lose, the losses measured are tax = x/(1 − s) and
 * u = s/(1 − x): s = u·(1 − tax)/(1 − u·tax). 0 where nobody measured it.
 */
static double slowdown(planner *p, gl_transport transport, double tax)
{
    double u = measured_loss(p->cluster, transport, false, p->arena);
    return isnan(u) || tax >= 1 || u >= 1 ? 0 : u * (1 - tax) / (1 - u * tax);
}

/* Gradients and in-place reductions work in one buffer; gathers and exchanges between two. */
static bool trains_in_place(gl_collective collective)
{
    return collective == GL_ALL_REDUCE || collective == GL_BROADCAST;
}

static bool time_rows(planner *p, gl_stage_plan *sp, gl_error *err)
{
    gl_network_time *times = GL_ARENA_NEW(p->arena, gl_network_time, sp->traffic.row_count);
    double *taxes = GL_ARENA_NEW(p->arena, double, sp->traffic.row_count);
    double *slowdowns = GL_ARENA_NEW(p->arena, double, sp->traffic.row_count);
    for (size_t i = 0; i < sp->traffic.row_count; i++) {
        const gl_traffic_row *r = &sp->traffic.rows[i];
        gl_network_query query = {.collective = r->collective,
                                  .placement = r->placement,
                                  .size_bytes = (double)r->size_bytes,
                                  .in_place = trains_in_place(r->collective),
                                  .allow_extrapolation = p->plan->options.allow_extrapolation,
                                  .over_sites = p->over_sites.groups[r->group]};
        if (!gl_network_eval(p->plan->network, &query, p->arena, &times[i], err))
            return false;
        taxes[i] = r->may_hide ? overlap_tax(p, times[i].transport) : 0;
        slowdowns[i] = r->may_hide ? slowdown(p, times[i].transport, taxes[i]) : 0;
    }
    sp->times = times;
    sp->overlap_tax = taxes;
    sp->slowdown = slowdowns;
    return true;
}

/* Stages with equal blocks between two neighbours move the same. */
static bool same_stage(const gl_stage *stages, int pp, int a, int b)
{
    bool ends_differ = (a == 0) != (b == 0) || (a == pp - 1) != (b == pp - 1);
    return !ends_differ && stages[a].dense_layers == stages[b].dense_layers &&
           stages[a].moe_layers == stages[b].moe_layers;
}

static bool build_stages(planner *p, gl_error *err)
{
    gl_plan *plan = p->plan;
    int pp = p->workload->parallel.pp;
    plan->stage_plans = GL_ARENA_NEW(p->arena, gl_stage_plan, (size_t)pp);
    for (int i = 0; i < pp; i++) {
        gl_stage_plan *sp = &plan->stage_plans[i];
        int same = -1;
        for (int j = 0; j < i && same < 0; j++)
            same = same_stage(plan->stages, pp, j, i) ? j : -1;
        if (same >= 0) {
            *sp = plan->stage_plans[same];
            sp->stage = &plan->stages[i];
            continue;
        }
        sp->stage = &plan->stages[i];
        gl_traffic_build(p->workload, &plan->parameters, sp->stage, &plan->layout, p->arena,
                         &sp->traffic);
        sp->optimizer_s =
            gl_compute_optimizer_s(p->workload, &plan->parameters, sp->stage, p->cluster);
        if (!time_rows(p, sp, err))
            return false;
    }
    return true;
}

/* ---- bytes by tier ------------------------------------------------------------------------------
 */

/*
 * Bytes of one call that a GPU puts on a tier. Inside a node a ring's bytes run from GPU to GPU;
 * between nodes they leave a node once for all the ranks it has there. Of an all-to-all each tier
 * carries the share of the ranks that it leads to.
 */
static double tier_bytes(const gl_traffic_row *r, int tier)
{
    const gl_placement *g = &r->placement;
    double peers = tier == 0 ? g->ranks_per_node - 1 : g->ranks - g->ranks_per_node;
    if (!(peers > 0))
        return 0;
    if (r->collective == GL_ALLTOALL)
        return (double)r->size_bytes * peers / g->ranks;
    return gl_traffic_wire_bytes(r) / (tier == 0 ? 1 : g->ranks_per_node);
}

static double stage_bytes(const gl_stage_plan *sp, int tier)
{
    double sum = 0;
    for (size_t i = 0; i < sp->traffic.row_count; i++)
        sum += tier_bytes(&sp->traffic.rows[i], tier) * (double)sp->traffic.rows[i].calls_per_step;
    return sum;
}

static int busiest_stage(const gl_plan *plan, int pp)
{
    int worst = 0;
    double most = -1;
    for (int i = 0; i < pp; i++) {
        double bytes =
            stage_bytes(&plan->stage_plans[i], 0) + stage_bytes(&plan->stage_plans[i], 1);
        if (bytes > most) {
            most = bytes;
            worst = i;
        }
    }
    return worst;
}

/* ---- step
 * ---------------------------------------------------------------------------------------- */

static const gl_scales as_predicted = {1, {1, 1}, 1};

/* In closed form: fast, for variations of the plan. */
static gl_schedule evaluate(const planner *p, gl_scales scales)
{
    gl_arena *scratch = gl_arena_create();
    gl_schedule s =
        gl_schedule_eval(p->workload, &p->plan->compute, p->plan->stage_plans, &scales, scratch);
    gl_arena_destroy(scratch);
    return s;
}

/* Event by event: what is reported. */
static gl_schedule simulate(const planner *p, double *row_exposed_s)
{
    gl_arena *scratch = gl_arena_create();
    gl_schedule s = gl_simulate_step(p->workload, &p->plan->compute, p->plan->stage_plans,
                                     &as_predicted, p->plan->stage, row_exposed_s, scratch);
    gl_arena_destroy(scratch);
    return s;
}

/* Tokens of a step over all replicas. */
static double step_tokens(const gl_workload *w)
{
    return (double)gl_workload_microbatches(w) * w->batch.micro * w->parallel.dp *
           w->model.sequence;
}

/* A time or an MFU that the user measured on one GPU replaces the operator model's: the blocks keep
 * their proportions. */
static void apply_stated_compute(planner *p)
{
    const gl_workload *w = p->workload;
    gl_compute *c = &p->plan->compute;
    double stated = w->compute.step_s;
    if (w->compute.mfu_frac > 0 && c->known) {
        double tokens_per_gpu = step_tokens(w) / (double)gl_workload_ranks(w);
        stated = c->model_flop_per_token * tokens_per_gpu /
                 (gl_peak_flop_per_s(p->cluster->gpu, w->precision.compute) * w->compute.mfu_frac);
    }
    if (!(stated > 0))
        return;
    gl_schedule s = evaluate(p, (gl_scales){1, {0, 0}, 1});
    /* The optimizer step is part of what was stated, as long as it leaves most of it to compute. */
    double rest = fmax(stated - s.optimizer_s, stated / 2);
    double factor = s.compute_s > 0 ? rest / s.compute_s : 1;
    for (int i = 0; i < GL_BLOCK_KIND_COUNT; i++) {
        c->forward_s[i] *= factor;
        c->backward_s[i] *= factor;
    }
    for (size_t i = 0; i < c->operator_count; i++) {
        c->operators[i].forward_s *= factor;
        c->operators[i].backward_s *= factor;
    }
    for (int i = 0; i < w->parallel.pp; i++)
        p->plan->stage_plans[i].optimizer_s = stated - rest;
}

enum { DEFAULT_DRAWS = 1000 };

static void fill_interval(planner *p, gl_step *step)
{
    gl_plan *plan = p->plan;
    gl_uncertainty_input input = {.workload = p->workload,
                                  .cluster = p->cluster,
                                  .compute = &plan->compute,
                                  .stages = plan->stage_plans,
                                  .time_s = step->time_s,
                                  .overlap_sigma = p->tax_error_frac,
                                  .seed = plan->options.seed,
                                  .draws = plan->options.draws > 0 ? plan->options.draws
                                                                   : DEFAULT_DRAWS};
    gl_uncertainty_build(&input, p->arena, &plan->uncertainty);
    step->time_p10_s = plan->uncertainty.p10_s;
    step->time_p50_s = plan->uncertainty.p50_s;
    step->time_p90_s = plan->uncertainty.p90_s;
}

static void fill_rows(planner *p, const double *exposed_s)
{
    gl_plan *plan = p->plan;
    const gl_stage_plan *sp = &plan->stage_plans[plan->stage];
    plan->traffic = sp->traffic;
    plan->rows = GL_ARENA_NEW(p->arena, gl_timed_row, sp->traffic.row_count);
    for (size_t i = 0; i < sp->traffic.row_count; i++) {
        const gl_traffic_row *r = &sp->traffic.rows[i];
        gl_timed_row *row = &plan->rows[i];
        row->traffic = r;
        row->per_call = sp->times[i];
        row->time_s = sp->times[i].time_s * r->load_factor * (double)r->calls_per_step;
        row->exposed_s = plan->compute.known ? exposed_s[i] : (double)NAN;
        row->required_busbw_bytes_per_s = (double)NAN;
    }
}

static void fill_step_times(planner *p, const gl_schedule *s)
{
    gl_step *step = &p->plan->step;
    const gl_workload *w = p->workload;
    double ranks = (double)gl_workload_ranks(w), tokens = step_tokens(w);
    step->time_s = s->time_s;
    fill_interval(p, step);
    step->compute_s = s->compute_s;
    step->overlap_tax_s = s->overlap_tax_s;
    step->exposed_communication_s = s->exposed_s;
    step->communication_cost_frac = (s->exposed_s + s->overlap_tax_s) / s->time_s;
    step->bubble_s = s->bubble_s;
    step->optimizer_s = s->optimizer_s;
    if (tokens > 0) {
        step->tokens_per_s = tokens / s->time_s;
        step->tokens_per_s_per_gpu = step->tokens_per_s / ranks;
        step->mfu_frac = p->plan->compute.model_flop_per_token * step->tokens_per_s_per_gpu /
                         gl_peak_flop_per_s(p->cluster->gpu, w->precision.compute);
    }
}

static void fill_step(planner *p)
{
    gl_plan *plan = p->plan;
    gl_step *step = &plan->step;
    double nan = (double)NAN;
    *step = (gl_step){.time_s = nan,
                      .time_p10_s = nan,
                      .time_p50_s = nan,
                      .time_p90_s = nan,
                      .compute_s = nan,
                      .overlap_tax_s = nan,
                      .exposed_communication_s = nan,
                      .communication_cost_frac = nan,
                      .bubble_s = nan,
                      .optimizer_s = nan,
                      .mfu_frac = nan,
                      .tokens_per_s = nan,
                      .tokens_per_s_per_gpu = nan};
    const gl_stage_plan *sp = &plan->stage_plans[plan->stage];
    double *exposed_s = GL_ARENA_NEW(p->arena, double, sp->traffic.row_count);
    if (plan->compute.known) {
        gl_schedule s = simulate(p, exposed_s);
        fill_step_times(p, &s);
    }
    fill_rows(p, exposed_s);
    for (size_t i = 0; i < sp->traffic.row_count; i++) {
        step->communication_s += plan->rows[i].time_s;
        step->network_evidence =
            gl_evidence_worst(step->network_evidence, plan->rows[i].per_call.evidence);
    }
    step->evidence = plan->compute.known
                         ? gl_evidence_worst(step->network_evidence, plan->compute.evidence)
                         : GL_EVIDENCE_NONE;
}

/* ---- required bandwidth
 * -------------------------------------------------------------------------- */

/* The overlap tax is left out: it belongs to a kind of link, the required bandwidth to the job. */
static double exposed_share(const planner *p, int tier, double scale)
{
    gl_scales scales = {1, {0, 0}, 0};
    scales.tier[tier] = scale;
    gl_schedule s = evaluate(p, scales);
    return s.exposed_s / s.time_s;
}

/* Largest factor on the tier's times that meets the target share: bisection, as the share grows
 * with the factor. NaN when even the fastest link misses it. */
static double largest_scale(const planner *p, int tier)
{
    double target = p->workload->target_exposed_frac;
    double low = log(SCALE_MIN), high = log(SCALE_MAX);
    if (exposed_share(p, tier, SCALE_MIN) > target)
        return (double)NAN;
    if (exposed_share(p, tier, SCALE_MAX) <= target)
        return SCALE_MAX;
    while (high - low > 1e-4) {
        double middle = (low + high) / 2;
        if (exposed_share(p, tier, exp(middle)) <= target)
            low = middle;
        else
            high = middle;
    }
    return exp(low);
}

static gl_verdict judge(const gl_bandwidth_need *need)
{
    /* Bisection and printing round: a millionth is no shortage. */
    double available = need->available_bytes_per_s * (1 + 1e-6);
    if (isnan(need->required_bytes_per_s))
        return GL_VERDICT_UNKNOWN;
    if (available >= need->required_bytes_per_s)
        return GL_VERDICT_ENOUGH;
    return available >= need->required_bytes_per_s / need->headroom ? GL_VERDICT_TIGHT
                                                                    : GL_VERDICT_SHORT;
}

static void fill_need(planner *p, int tier)
{
    gl_plan *plan = p->plan;
    const gl_stage_plan *sp = &plan->stage_plans[plan->stage];
    gl_bandwidth_need *need = &plan->needs[tier];
    *need = (gl_bandwidth_need){.tier = (gl_tier_kind)tier,
                                .headroom = plan->options.headroom,
                                .bytes_per_step_per_gpu = stage_bytes(sp, tier),
                                .required_bytes_per_s = (double)NAN,
                                .available_bytes_per_s = (double)NAN};
    double time_s = 0;
    for (size_t i = 0; i < sp->traffic.row_count; i++) {
        const gl_traffic_row *r = &sp->traffic.rows[i];
        if (!(tier_bytes(r, tier) > 0))
            continue;
        time_s += sp->times[i].tier_s[tier] * r->load_factor * (double)r->calls_per_step;
        need->evidence = gl_evidence_worst(need->evidence, sp->times[i].evidence);
    }
    if (!(need->bytes_per_step_per_gpu > 0) || !(time_s > 0))
        return;
    need->available_bytes_per_s = need->bytes_per_step_per_gpu / time_s;
    need->verdict = GL_VERDICT_UNKNOWN;
    if (!plan->compute.known)
        return;
    double scale = largest_scale(p, tier);
    need->required_bytes_per_s = need->headroom * need->available_bytes_per_s / scale;
    need->verdict = judge(need);
    for (size_t i = 0; i < sp->traffic.row_count; i++) {
        gl_timed_row *row = &plan->rows[i];
        if (row->traffic->placement.ranks > 1 && gl_slower_tier(&row->per_call) == tier)
            row->required_busbw_bytes_per_s =
                need->headroom * row->per_call.busbw_bytes_per_s / scale;
    }
}

/* ---- memory
 * --------------------------------------------------------------------------------------- */

static void fill_memory(planner *p)
{
    gl_plan *plan = p->plan;
    for (int i = 0; i < p->workload->parallel.pp; i++) {
        gl_memory memory;
        gl_memory_estimate(p->workload, &plan->parameters, &plan->stages[i], p->cluster->gpu,
                           &memory);
        if (i == 0 || memory.total_bytes > plan->memory.total_bytes) {
            plan->memory = memory;
            plan->memory_stage = i;
        }
    }
}

/* ---- cost
 * --------------------------------------------------------------------------------------- */

static void fill_cost(planner *p)
{
    gl_plan *plan = p->plan;
    const gl_cost_input input = {
        .cluster = p->cluster,
        .step_s = plan->step.time_s,
        .step_draws_s = plan->uncertainty.draws_s,
        .draw_count = plan->uncertainty.draw_count,
        .tokens_per_step =
            plan->step.tokens_per_s > 0 ? plan->step.tokens_per_s * plan->step.time_s : 0,
        .model_flop_per_token = plan->compute.model_flop_per_token,
        .job_gpus = gl_workload_ranks(p->workload),
        .run_tokens = p->workload->run_tokens,
        .seed = plan->options.seed};
    gl_cost_build(&input, p->arena, &plan->cost);
    for (size_t i = 0; i < plan->cost.note_count; i++)
        warn(p, plan->cost.notes[i]);
    if (plan->cost.missing != NULL)
        warn(p, gl_arena_printf(p->arena, "costs are not totalled: %s", plan->cost.missing));
}

/* ---- all of it
 * ------------------------------------------------------------------------------------ */

static void warn_of_gaps(planner *p)
{
    const gl_workload *w = p->workload;
    const gl_compute *c = &p->plan->compute;
    if (p->cluster->gpu == NULL)
        warn(p, "the GPU is not in the catalogue (data/gpus): memory capacity and MFU are unknown");
    if (!c->known)
        warn(p,
             "compute time is unknown (no model.sequence with a known GPU, and no compute.step): "
             "step time, exposed communication and required bandwidth are not given");
    else if (c->evidence == GL_EVIDENCE_STATED)
        warn(p, "compute time is as stated in the description; only communication is modelled");
    if (w->buckets.compression > 1)
        warn(p, gl_arena_printf(p->arena, "gradient bytes are divided by %g (buckets.compression)",
                                w->buckets.compression));
    if (c->known && !(w->model.sequence > 0))
        warn(p, "model.sequence is not stated: tokens/s and MFU are not given");
}

bool gl_plan_build(const gl_workload *workload, const gl_cluster *cluster,
                   const gl_plan_options *options, gl_arena *arena, gl_plan *out, gl_error *err)
{
    gl_cluster *measured = GL_ARENA_NEW(arena, gl_cluster, 1);
    *measured = *cluster;
    measured->gpu = gl_compute_measured_gpu(cluster, arena);
    cluster = measured;
    *out = (gl_plan){.workload = workload, .cluster = cluster, .options = *options};
    planner p = {.workload = workload, .cluster = cluster, .arena = arena, .plan = out};
    const char *const *network_warnings;
    out->network = gl_network_create(cluster, arena, &network_warnings);
    for (; *network_warnings != NULL; network_warnings++)
        warn(&p, *network_warnings);
    gl_parameters_build(&workload->model, &workload->parallel, arena, &out->parameters);
    gl_stages_build(&workload->model, &workload->parallel, arena, &out->stages);
    out->layout = gl_layout_build(&workload->parallel, cluster->gpus_per_node);
    if (cluster->sites.count > 1)
        p.over_sites = gl_layout_over_sites(&workload->parallel, gl_cluster_gpus_per_site(cluster));
    if (!build_stages(&p, err))
        return false;
    gl_compute_build(workload, &out->parameters, cluster, arena, &out->compute);
    if (out->compute.known)
        apply_stated_compute(&p);
    out->stage = options->stage >= 0 && options->stage < workload->parallel.pp
                     ? options->stage
                     : busiest_stage(out, workload->parallel.pp);
    fill_step(&p);
    for (int tier = 0; tier < GL_TIER_COUNT; tier++)
        fill_need(&p, tier);
    fill_memory(&p);
    fill_cost(&p);
    warn_of_gaps(&p);
    return true;
}
