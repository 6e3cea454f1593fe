/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/plan.h"

#include "planner/core/network_rules.h"
#include "planner/core/simulation.h"
#include "planner/core/stage_plans.h"

#include <math.h>

/* Range of factors on a tier's times in which the required bandwidth is looked for. */
static const double SCALE_MIN = 1e-4, SCALE_MAX = 1e4;
/* Sums of the simulation differ from products by their last digits. */
static const double ROUNDING_FRAC = 1e-6;

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

/* ---- what each stage moves, and how long one call takes ---- */

static bool build_stages(planner *p, gl_error *err)
{
    gl_plan *plan = p->plan;
    const gl_overlap_losses losses = gl_overlap_losses_of(p->cluster);
    const gl_stage_planner stages = {.workload = p->workload,
                                     .over_sites =
                                         p->cluster->sites.count > 1 ? &p->over_sites : NULL,
                                     .cluster = p->cluster,
                                     .parameters = &plan->parameters,
                                     .layout = &plan->layout,
                                     .network = plan->network,
                                     .losses = &losses,
                                     .allow_extrapolation = plan->options.allow_extrapolation,
                                     .figures_only = plan->options.step_only,
                                     .arena = p->arena,
                                     .calls = gl_call_memo(p->cluster, p->arena),
                                     .texts = p->arena};
    if (!gl_stage_plans_build(&stages, plan->stages, &plan->stage_plans, err))
        return false;
    for (int i = 0; i < p->workload->parallel.pp; i++) {
        const gl_stage_plan *sp = &plan->stage_plans[i];
        for (size_t k = 0; k < sp->traffic.row_count; k++) {
            if (!sp->traffic.rows[k].may_hide)
                continue;
            double tax;
            gl_transport of = gl_overlap_transport(p->cluster, &losses, &sp->times[k], &tax);
            p->tax_error_frac = fmax(p->tax_error_frac, losses.by_transport[of].error_frac);
        }
    }
    return true;
}

/* ---- bytes by tier ---- */

static double stage_bytes(const gl_stage_plan *sp, int tier)
{
    double sum = 0;
    for (size_t i = 0; i < sp->traffic.row_count; i++)
        sum += gl_call_tier_bytes(&sp->traffic.rows[i], &sp->times[i], tier) *
               (double)sp->traffic.rows[i].calls_per_step;
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

/* ---- step ---- */

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
        if (row->exposed_s > row->time_s && row->exposed_s < row->time_s * (1 + ROUNDING_FRAC))
            row->exposed_s = row->time_s;
        row->required_busbw_bytes_per_s = (double)NAN;
    }
}

static void fill_step_times(planner *p, const gl_schedule *s)
{
    gl_step *step = &p->plan->step;
    const gl_workload *w = p->workload;
    double ranks = (double)gl_workload_ranks(w), tokens = gl_workload_step_tokens(w);
    step->time_s = s->time_s;
    if (!p->plan->options.step_only)
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

/* ---- required bandwidth ---- */

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
    double bytes = 0, time_s = 0;
    for (size_t i = 0; i < sp->traffic.row_count; i++) {
        const gl_traffic_row *r = &sp->traffic.rows[i];
        double call_bytes = gl_call_tier_bytes(r, &sp->times[i], tier);
        if (!(call_bytes > 0))
            continue;
        /* Bytes whose time is not known say nothing of the link. */
        bytes += sp->times[i].alone_s[tier] > 0 ? call_bytes * (double)r->calls_per_step : 0;
        time_s += sp->times[i].alone_s[tier] * (double)r->calls_per_step;
        need->evidence = gl_evidence_worst(need->evidence, sp->times[i].evidence);
    }
    if (!(bytes > 0) || !(time_s > 0))
        return;
    need->available_bytes_per_s = bytes / time_s;
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

/* ---- cost ---- */

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
    for (size_t i = 0; i < plan->cost.notes.count; i++)
        warn(p, plan->cost.notes.items[i]);
    if (plan->cost.missing != NULL)
        warn(p, gl_arena_printf(p->arena, "costs are not totalled: %s", plan->cost.missing));
}

/* ---- all of it ---- */

static int switches_of(const gl_layout *layout, gl_group group, bool pods)
{
    return pods ? layout->reach[group].pods : layout->reach[group].leaves;
}

/* Of the groups that the plan's stage moves data in the largest that lies on one switch (or in one
 * pod) and on several of a full network; NULL: there is none. Single numbers of the optimizer do
 * not count. */
static const gl_traffic_row *largest_owing(const gl_plan *plan, const gl_layout *full, bool pods)
{
    const gl_traffic *traffic = &plan->stage_plans[plan->stage].traffic;
    const gl_traffic_row *largest = NULL;
    for (size_t i = 0; i < traffic->row_count; i++) {
        const gl_traffic_row *r = &traffic->rows[i];
        if (r->dimension != GL_TRAFFIC_OPTIMIZER &&
            switches_of(&plan->layout, r->group, pods) <= 1 &&
            switches_of(full, r->group, pods) > 1 &&
            (largest == NULL || r->placement.nodes > largest->placement.nodes))
            largest = r;
    }
    return largest;
}

/* A thinned switch has more ports down, so that leaves and pods join more nodes: a group that fits
 * only for that crosses nothing thinned, where with a little thinning it would. */
static void note_thinning(planner *p)
{
    const gl_cluster *c = p->cluster;
    for (int pods = 0; pods < 2; pods++) {
        gl_cluster full = *c;
        *(pods ? &full.core_oversubscription : &full.oversubscription) = 1;
        const gl_layout layout = gl_layout_on(&p->workload->parallel, &full);
        const gl_traffic_row *row = largest_owing(p->plan, &layout, pods);
        if (row != NULL)
            warn(p,
                 gl_arena_printf(
                     p->arena,
                     "%s groups of %d nodes lie %s only because cluster.inter_node.%s of %g makes "
                     "room for %d nodes there: with 1 there is room for %d, and in between they "
                     "can cross thinned %s and be slower",
                     gl_traffic_dimension_name(row->dimension), row->placement.nodes,
                     pods ? "in one pod" : "on one leaf",
                     pods ? "core_oversubscription" : "oversubscription",
                     pods ? c->core_oversubscription : c->oversubscription,
                     pods ? gl_rules_nodes_in_pod(c) : gl_rules_nodes_on_leaf(c),
                     pods ? gl_rules_nodes_in_pod(&full) : gl_rules_nodes_on_leaf(&full),
                     pods ? "cores" : "spines"));
    }
}

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
    if (c->evidence == GL_EVIDENCE_STATED && p->plan->step.mfu_frac > 1)
        warn(p,
             gl_arena_printf(p->arena,
                             "compute as stated makes an MFU of %.3g %%, which no GPU can do: is "
                             "it the step of one GPU with this batch?",
                             100 * p->plan->step.mfu_frac));
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
    out->layout = gl_layout_on(&workload->parallel, cluster);
    if (cluster->sites.count > 1)
        p.over_sites = gl_layout_over_sites(&workload->parallel, gl_cluster_gpus_per_site(cluster));
    if (!build_stages(&p, err))
        return false;
    gl_compute_build(workload, &out->parameters, cluster, arena, &out->compute);
    gl_schedule_state_compute(workload, cluster, &out->compute, out->stage_plans);
    out->stage = options->stage >= 0 && options->stage < workload->parallel.pp
                     ? options->stage
                     : busiest_stage(out, workload->parallel.pp);
    fill_step(&p);
    if (options->step_only)
        return true;
    for (int tier = 0; tier < GL_TIER_COUNT; tier++)
        fill_need(&p, tier);
    out->memory_stage =
        gl_memory_fullest(workload, &out->parameters, out->stages, cluster->gpu, &out->memory);
    fill_cost(&p);
    note_thinning(&p);
    warn_of_gaps(&p);
    return true;
}

bool gl_plan_meets_target(const gl_plan *plan)
{
    return plan->step.communication_cost_frac <= plan->workload->target_exposed_frac;
}
