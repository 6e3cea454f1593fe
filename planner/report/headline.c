/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/headline.h"

#include "common/units.h"
#include "planner/core/layout_text.h"
#include "planner/core/sensitivity.h"
#include "planner/report/cost_tables.h"
#include "planner/report/measuring.h"
#include "planner/report/plan_tables.h"

#include <math.h>
#include <string.h>

/* A link counts as not needed when it has this many times what the job needs, headroom included:
 * two link generations. Below that a slower link might do, but these numbers do not show it. */
static const double NOT_NEEDED_FACTOR = 4.0;
/* Rows that come as near as this to a sum make it. */
static const double ROWS_MAKE_FRAC = 0.02;
/* Norms and losses: so few bytes of a step need no bandwidth. */
static const double FEW_BYTES = 64 << 10;
/* A measurement is advised when it settles this share of the variance. */
static const double NOTICEABLE_SHARE = 0.1;

static const char *seconds(double value, gl_arena *arena)
{
    return gl_quantity_text(value, GL_SECONDS, arena);
}

/* "70.6 billion", "345 million". */
static const char *big_number(double value, gl_arena *arena)
{
    static const struct {
        double scale;
        const char *name;
    } scales[] = {{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
        if (value >= scales[i].scale)
            return gl_arena_printf(arena, "%.3g%s", value / scales[i].scale, scales[i].name);
    return gl_arena_printf(arena, "%.4g", value);
}

static int64_t idle_gpus(const gl_plan *plan)
{
    const gl_cluster *cluster = plan->cluster;
    return (int64_t)cluster->nodes * cluster->gpus_per_node - gl_workload_ranks(plan->workload);
}

static const char *subject_line(const gl_plan *plan, gl_arena *arena)
{
    const gl_workload *workload = plan->workload;
    const gl_cluster *cluster = plan->cluster;
    long long ranks = (long long)gl_workload_ranks(workload);
    long long idle = (long long)idle_gpus(plan);
    const char *degrees = gl_degrees_text(&workload->parallel, arena);
    return gl_arena_printf(
        arena,
        "%s, %s parameters, on %lld GPU%s: %s; %lld x %lld tokens a step\n"
        "%s (%d x %d GPUs%s)\n\n",
        workload->model.name, big_number((double)plan->parameters.total, arena), ranks,
        ranks == 1 ? "" : "s", degrees[0] != '\0' ? degrees : "no parallelism",
        (long long)gl_workload_step_sequences(workload), (long long)workload->model.sequence,
        cluster->name, cluster->nodes, cluster->gpus_per_node,
        idle > 0 ? gl_arena_printf(arena, ", %lld of them idle", idle) : "");
}

static const char *step_line(const gl_plan *plan, gl_arena *arena)
{
    const gl_step *step = &plan->step;
    if (isnan(step->time_s))
        return "Step           not known: nothing says how fast this GPU computes this model\n";
    const char *text = gl_arena_printf(
        arena, "Step           %s (80 %% interval %s to %s)", seconds(step->time_s, arena),
        seconds(step->time_p10_s, arena), seconds(step->time_p90_s, arena));
    if (!isnan(step->mfu_frac))
        text = gl_arena_printf(arena, "%s, MFU %s", text, gl_percent_text(step->mfu_frac, arena));
    if (!isnan(step->tokens_per_s))
        text = gl_arena_printf(arena, "%s, %.0f tokens/s", text, step->tokens_per_s);
    return gl_arena_printf(arena, "%s\n               evidence: compute %s, network %s\n", text,
                           gl_evidence_name(plan->compute.evidence),
                           gl_evidence_name(step->network_evidence));
}

bool gl_rows_make_exposed(const gl_plan *plan)
{
    double sum_s = 0;
    for (size_t i = 0; i < plan->traffic.row_count; i++)
        sum_s += fmax(0, plan->rows[i].exposed_s);
    return fabs(sum_s - plan->step.exposed_communication_s) <=
           ROWS_MAKE_FRAC * plan->step.exposed_communication_s;
}

const char *gl_headline_exposed(const gl_plan *plan, gl_arena *arena)
{
    double exposed_s[GL_TRAFFIC_DIMENSION_COUNT] = {0};
    for (size_t i = 0; i < plan->traffic.row_count; i++)
        if (plan->rows[i].exposed_s > 0)
            exposed_s[plan->rows[i].traffic->dimension] += plan->rows[i].exposed_s;
    const char *text = "";
    const char *before =
        gl_rows_make_exposed(plan) ? "" : gl_arena_printf(arena, "on stage %d ", plan->stage);
    for (size_t shown = 0; shown < GL_TRAFFIC_DIMENSION_COUNT; shown++) {
        size_t largest = 0;
        for (size_t i = 1; i < GL_TRAFFIC_DIMENSION_COUNT; i++)
            if (exposed_s[i] > exposed_s[largest])
                largest = i;
        /* What is below a thousandth of the whole explains nothing. */
        if (exposed_s[largest] <= 1e-3 * plan->step.exposed_communication_s)
            break;
        text = gl_arena_printf(arena, "%s%s%s %s", text, text[0] != '\0' ? ", " : before,
                               gl_traffic_dimension_name((gl_traffic_dimension)largest),
                               seconds(exposed_s[largest], arena));
        exposed_s[largest] = 0;
    }
    return text;
}

static const char *waits_line(const gl_plan *plan, gl_arena *arena)
{
    const gl_step *step = &plan->step;
    if (plan->traffic.row_count == 0)
        return "Communication  none\n";
    const char *all = seconds(step->communication_s, arena);
    if (isnan(step->exposed_communication_s) || isnan(step->time_s))
        return gl_arena_printf(
            arena, "Communication  %s a step; how much of it hides is not known\n", all);
    const char *parts = gl_headline_exposed(plan, arena);
    const char *slowed = step->overlap_tax_s > 1e-3 * step->time_s
                             ? gl_arena_printf(arena, "the rest slows compute by %s; ",
                                               seconds(step->overlap_tax_s, arena))
                             : "";
    /* What a message is late on its way through other stages is waited for as well. */
    bool others = step->exposed_communication_s > step->communication_s;
    return gl_arena_printf(arena,
                           "Communication  %s%s is exposed%s%s%s\n"
                           "               %sin all %s of the step (target %s: %s)\n",
                           seconds(step->exposed_communication_s, arena),
                           others ? "" : gl_arena_printf(arena, " of %s", all),
                           parts[0] != '\0' ? ": " : "", parts,
                           others ? gl_arena_printf(arena,
                                                    ", the rest on other stages (this one "
                                                    "communicates for %s)",
                                                    all)
                                  : "",
                           slowed, gl_percent_text(step->communication_cost_frac, arena),
                           gl_percent_text(plan->workload->target_exposed_frac, arena),
                           gl_plan_meets_target(plan) ? "met" : "MISSED");
}

static const gl_tier *tier_of(const gl_plan *plan, gl_tier_kind tier)
{
    return tier == GL_TIER_INTRA_NODE ? &plan->cluster->intra : &plan->cluster->inter;
}

/* Do groups that span domains take most of the time inside nodes? */
static bool decides_outside(const gl_plan *plan)
{
    double within_s = 0, outside_s = 0;
    for (size_t i = 0; i < plan->traffic.row_count && plan->cluster->outside != NULL; i++) {
        const gl_timed_row *row = &plan->rows[i];
        double time_s = row->per_call.alone_s[0] * (double)row->traffic->calls_per_step;
        *(plan->layout.domains[row->traffic->group] > 1 ? &outside_s : &within_s) += time_s;
    }
    return outside_s > within_s;
}

const char *gl_headline_link(const gl_plan *plan, gl_tier_kind tier)
{
    const gl_link *link = tier_of(plan, tier)->link;
    if (tier == GL_TIER_INTER_NODE && plan->cluster->sites.count > 1)
        return "the network with the line between sites";
    if (tier == GL_TIER_INTRA_NODE && decides_outside(plan))
        return plan->cluster->outside->name;
    if (link != NULL)
        return link->name;
    for (size_t i = 0; i < plan->traffic.row_count; i++)
        if (plan->rows[i].per_call.tier_s[tier] > 0)
            return gl_transport_name(plan->rows[i].per_call.transport);
    return "the link";
}

const char *gl_headline_verdict(const gl_bandwidth_need *need, gl_arena *arena)
{
    double ratio = need->available_bytes_per_s / need->required_bytes_per_s;
    switch (need->verdict) {
    case GL_VERDICT_ENOUGH:
        return need->required_bytes_per_s > 0
                   ? gl_arena_printf(arena,
                                     ratio < 1000 ? "enough, %.3g times over"
                                                  : "enough, %.0f times over",
                                     ratio)
                   : "enough";
    case GL_VERDICT_TIGHT:
        return gl_arena_printf(arena, "TIGHT, enough only without headroom (%.3g)", need->headroom);
    case GL_VERDICT_SHORT:
        return gl_arena_printf(arena, "TOO SLOW, %s of it", gl_percent_text(ratio, arena));
    default:
        return gl_verdict_name(need->verdict);
    }
}

static gl_knob bandwidth_knob(const gl_plan *plan, gl_tier_kind tier)
{
    if (tier == GL_TIER_INTER_NODE)
        return GL_KNOB_INTER_BANDWIDTH;
    return decides_outside(plan) ? GL_KNOB_OUTSIDE_BANDWIDTH : GL_KNOB_INTRA_BANDWIDTH;
}

/* A fast link that the job does not need is money: say so, but only when the numbers carry it, and
 * plans with a slower link. */
static const char *not_needed_text(const gl_plan *plan, const gl_bandwidth_need *need,
                                   gl_arena *arena)
{
    if (need->verdict != GL_VERDICT_ENOUGH ||
        need->available_bytes_per_s < NOT_NEEDED_FACTOR * need->required_bytes_per_s)
        return "";
    const gl_setup setup = {plan->workload, plan->cluster};
    const gl_knob knob = bandwidth_knob(plan, need->tier);
    double nominal = (double)NAN, least = gl_least_bandwidth(knob, plan, &nominal);
    double enough = fmax(need->required_bytes_per_s, need->headroom * least);
    if (isnan(least) || need->available_bytes_per_s < NOT_NEEDED_FACTOR * enough)
        return "";
    return gl_arena_printf(arena,
                           "               %s is not needed with this layout, all else as it is: "
                           "%s per GPU still meet "
                           "the target of %s (%s of %s nominal; now %s)\n",
                           gl_headline_link(plan, need->tier),
                           gl_quantity_text(enough, GL_BYTES_PER_S, arena),
                           gl_percent_text(plan->workload->target_exposed_frac, arena),
                           need->tier == GL_TIER_INTER_NODE ? "NICs" : "a link",
                           gl_quantity_text(nominal * enough / least, GL_BYTES_PER_S, arena),
                           gl_quantity_text(gl_knob_value(knob, &setup), GL_BYTES_PER_S, arena));
}

/* No link helps what compute waits for in every layer: where that is most of a tier's exposed time,
 * say which dimension it is and what changes it. */
static const char *stall_text(const gl_plan *plan, gl_tier_kind tier, gl_arena *arena)
{
    const gl_overlap *overlap = &plan->workload->overlap;
    const struct {
        gl_traffic_dimension dimension;
        bool may_hide;
    } dimensions[] = {
        {GL_TRAFFIC_TP, overlap->tp}, {GL_TRAFFIC_EP, overlap->ep}, {GL_TRAFFIC_CP, overlap->cp}};
    double exposed_s = 0, stalls_s[GL_TRAFFIC_DIMENSION_COUNT] = {0};
    size_t worst = 0;
    for (size_t i = 0; i < plan->traffic.row_count; i++) {
        const gl_timed_row *row = &plan->rows[i];
        if (!(row->exposed_s > 0) || gl_slower_tier(&row->per_call) != (int)tier)
            continue;
        exposed_s += row->exposed_s;
        if (!row->traffic->may_hide)
            stalls_s[row->traffic->dimension] += row->exposed_s;
    }
    for (size_t i = 1; i < sizeof dimensions / sizeof dimensions[0]; i++)
        if (stalls_s[dimensions[i].dimension] > stalls_s[dimensions[worst].dimension])
            worst = i;
    double stall_s = stalls_s[dimensions[worst].dimension];
    const char *name = gl_traffic_dimension_name(dimensions[worst].dimension);
    if (!(stall_s > exposed_s / 2))
        return "";
    return gl_arena_printf(
        arena, "               %s stalls compute for %s: lower parallel.%s%s\n", name,
        seconds(stall_s, arena), name,
        dimensions[worst].may_hide
            ? ""
            : gl_arena_printf(arena, ", or let it hide (overlap.%s: true)", name));
}

static const char *tier_line(const gl_plan *plan, const gl_bandwidth_need *need, gl_arena *arena)
{
    const char *place = need->tier == GL_TIER_INTRA_NODE ? "In a node     " : "Between nodes ";
    if (need->verdict == GL_VERDICT_NOT_USED)
        return "";
    const char *has = gl_quantity_text(need->available_bytes_per_s, GL_BYTES_PER_S, arena);
    const char *link = gl_headline_link(plan, need->tier);
    if (isnan(need->required_bytes_per_s))
        return gl_arena_printf(arena, "%s %s moves %s a step and GPU at %s; %s\n%s", place, link,
                               gl_quantity_text(need->bytes_per_step_per_gpu, GL_BYTES, arena), has,
                               plan->compute.known ? "NO bandwidth meets the target"
                                                   : "what it needs is not known",
                               stall_text(plan, need->tier, arena));
    if (need->verdict == GL_VERDICT_ENOUGH && need->bytes_per_step_per_gpu < FEW_BYTES)
        return gl_arena_printf(arena, "%s %s moves %s a step and GPU: any link is enough\n", place,
                               link,
                               gl_quantity_text(need->bytes_per_step_per_gpu, GL_BYTES, arena));
    return gl_arena_printf(
        arena, "%s needs %s per GPU, %s gives %s: %s\n%s%s", place,
        gl_quantity_text(need->required_bytes_per_s, GL_BYTES_PER_S, arena), link, has,
        gl_headline_verdict(need, arena), not_needed_text(plan, need, arena),
        need->verdict == GL_VERDICT_SHORT ? stall_text(plan, need->tier, arena) : "");
}

static const char *memory_line(const gl_plan *plan, gl_arena *arena)
{
    const gl_memory *memory = &plan->memory;
    const char *bound = isnan(memory->activations_bytes) ? "at least " : "";
    const char *total = gl_gib_text(memory->total_bytes, arena);
    if (isnan(memory->capacity_bytes))
        return gl_arena_printf(
            arena, "Memory         %s%s per GPU; the GPU's capacity is not known\n", bound, total);
    double left_bytes = memory->capacity_bytes - memory->total_bytes;
    if (!memory->fits)
        return gl_arena_printf(
            arena, "Memory         %s%s of %s per GPU: DOES NOT FIT, %s too much\n%s", bound, total,
            gl_gib_text(memory->capacity_bytes, arena), gl_gib_text(-left_bytes, arena),
            plan->cluster->bounded && idle_gpus(plan) > 0
                ? "               GPUs are idle: gpulink-plan search looks for the best layout on "
                  "all of them\n"
                : "");
    return gl_arena_printf(arena, "Memory         %s%s of %s per GPU: fits%s\n", bound, total,
                           gl_gib_text(memory->capacity_bytes, arena),
                           bound[0] != '\0'
                               ? " unless the activations, which are not known, are larger "
                                 "than the rest"
                               : "");
}

/* Each tier is judged alone; together they can miss a target that each of them meets. */
static const char *together_line(const gl_plan *plan)
{
    for (size_t i = 0; i < GL_TIER_COUNT; i++) {
        gl_verdict verdict = plan->needs[i].verdict;
        if (verdict != GL_VERDICT_ENOUGH && verdict != GL_VERDICT_TIGHT)
            return "";
    }
    return gl_plan_meets_target(plan)
               ? ""
               : "               each as if the other were free; together they miss the target\n";
}

/* The one measurement that would narrow the interval most, when it would do so noticeably. */
static const char *narrowing_line(const gl_plan *plan, gl_arena *arena)
{
    const gl_uncertainty *u = &plan->uncertainty;
    if (u->narrowing == NULL || u->settled_share < NOTICEABLE_SHARE)
        return "";
    return gl_arena_printf(arena,
                           "To narrow it   measure %s: 80 %% interval about %s to %s\n"
                           "               %s\n",
                           u->narrowing->name, seconds(u->narrowed_p10_s, arena),
                           seconds(u->narrowed_p90_s, arena),
                           gl_measuring_command(u->narrowing, arena));
}

const char *gl_plan_headline(const gl_plan *plan, gl_arena *arena)
{
    const char *tiers = "";
    for (size_t i = 0; i < GL_TIER_COUNT; i++)
        tiers = gl_arena_printf(arena, "%s%s", tiers, tier_line(plan, &plan->needs[i], arena));
    return gl_arena_printf(arena, "%s%s%s%s%s%s%s%s", subject_line(plan, arena),
                           step_line(plan, arena), waits_line(plan, arena), tiers,
                           together_line(plan), memory_line(plan, arena),
                           gl_cost_headline(plan, arena), narrowing_line(plan, arena));
}
