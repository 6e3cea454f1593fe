/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans. */
#include "lib/internal.h"

#include "common/render.h"
#include "planner/report/plan_tables.h"

struct gpulink_plan {
    gpulink_model *model;
    gpulink_cluster *cluster;
    gl_arena *arena;
    gl_planned planned;
    gl_scenario scenario; /* what the program shows of it */
    gl_output *json;      /* NULL: not asked for yet */
};

_Static_assert(GPULINK_EVIDENCE_NONE == (int)GL_EVIDENCE_NONE &&
                   GPULINK_EVIDENCE_STATED == (int)GL_EVIDENCE_STATED &&
                   GPULINK_EVIDENCE_MEASURED == (int)GL_EVIDENCE_MEASURED &&
                   GPULINK_EVIDENCE_INTERPOLATED == (int)GL_EVIDENCE_INTERPOLATED &&
                   GPULINK_EVIDENCE_EXTRAPOLATED_SIZE == (int)GL_EVIDENCE_EXTRAPOLATED_SIZE &&
                   GPULINK_EVIDENCE_EXTRAPOLATED_RANKS == (int)GL_EVIDENCE_EXTRAPOLATED_RANKS &&
                   GPULINK_EVIDENCE_CATALOGUE == (int)GL_EVIDENCE_CATALOGUE,
               "evidence is given as it is");
_Static_assert(GPULINK_DP == (int)GL_TRAFFIC_DP && GPULINK_TP == (int)GL_TRAFFIC_TP &&
                   GPULINK_PP == (int)GL_TRAFFIC_PP && GPULINK_CP == (int)GL_TRAFFIC_CP &&
                   GPULINK_EP == (int)GL_TRAFFIC_EP &&
                   GPULINK_EMBEDDING == (int)GL_TRAFFIC_EMBEDDING &&
                   GPULINK_OPTIMIZER == (int)GL_TRAFFIC_OPTIMIZER &&
                   GPULINK_DIMENSIONS == (int)GL_TRAFFIC_DIMENSION_COUNT,
               "so are dimensions");
_Static_assert(GPULINK_INTRA_NODE == (int)GL_TIER_INTRA_NODE &&
                   GPULINK_INTER_NODE == (int)GL_TIER_INTER_NODE &&
                   GPULINK_TIERS == (int)GL_TIER_COUNT,
               "and tiers");
_Static_assert(GPULINK_VERDICT_NOT_USED == (int)GL_VERDICT_NOT_USED &&
                   GPULINK_VERDICT_ENOUGH == (int)GL_VERDICT_ENOUGH &&
                   GPULINK_VERDICT_TIGHT == (int)GL_VERDICT_TIGHT &&
                   GPULINK_VERDICT_SHORT == (int)GL_VERDICT_SHORT &&
                   GPULINK_VERDICT_UNKNOWN == (int)GL_VERDICT_UNKNOWN,
               "and verdicts");

const char *gpulink_evidence_name(int32_t evidence)
{
    if (evidence < GPULINK_EVIDENCE_NONE || evidence > GPULINK_EVIDENCE_CATALOGUE)
        return NULL;
    return gl_evidence_name((gl_evidence)evidence);
}

/* ---- making one ---- */

/* The lists of handles are shared between threads: they are copied, never added to. */
static void add_notes(gl_texts *notes, const gl_texts *more, gl_arena *arena)
{
    for (size_t i = 0; i < more->count; i++)
        gl_texts_add(notes, arena, more->items[i]);
}

static void build_scenario(gpulink_plan *plan)
{
    gl_texts notes = {0};
    add_notes(&notes, &plan->planned.notes, plan->arena);
    add_notes(&notes, &plan->cluster->notes, plan->arena);
    const gl_plan_view view = {.name =
                                   gl_plan_scenario_name(&plan->planned.plan, NULL, 0, plan->arena),
                               .notes = notes.items,
                               .note_count = notes.count};
    gl_plan_scenario(&plan->planned.plan, &view, plan->arena, &plan->scenario);
}

static bool build(gpulink_plan *plan, const gpulink_options *options, gpulink_error *error)
{
    gl_diagnostics diagnostics = {.count = 0};
    gpulink_options o;
    if (!gl_lib__options(options, &o, error))
        return false;
    const gl_plan_options how = {.headroom = o.headroom,
                                 .stage = -1,
                                 .allow_extrapolation = o.allow_extrapolation != 0,
                                 .seed = o.seed};
    plan->planned.workload = plan->model->workload;
    add_notes(&plan->planned.notes, &plan->model->notes, plan->arena);
    if (!gl_planned_build(&plan->model->tree, &plan->cluster->cluster, &how, plan->arena,
                          &plan->planned, &diagnostics))
        return gl_lib__fail_all(error, &diagnostics);
    build_scenario(plan);
    return true;
}

gpulink_plan *gpulink_plan_create(gpulink_model *model, gpulink_cluster *cluster,
                                  const gpulink_options *options, gpulink_error *error)
{
    gl_lib_call call;
    if (!gl_lib__has_both(model, cluster, error) || !gl_lib__begin(&call, 1, error))
        return NULL;
    gl_arena *arena = gl_arena_create();
    gpulink_plan *plan = GL_ARENA_NEW(arena, gpulink_plan, 1);
    *plan = (gpulink_plan){
        .model = gl_lib__use_model(model), .cluster = gl_lib__use_cluster(cluster), .arena = arena};
    if (!build(plan, options, error)) {
        gpulink_plan_close(plan);
        plan = NULL;
    }
    gl_lib__end(&call);
    return plan;
}

void gpulink_plan_close(gpulink_plan *plan)
{
    if (plan == NULL)
        return;
    gpulink_model_close(plan->model);
    gpulink_cluster_close(plan->cluster);
    gl_output_discard(plan->json);
    gl_arena_destroy(plan->arena);
}

/* ---- looking at one ---- */

void gpulink_plan_step(const gpulink_plan *plan, gpulink_step *step, size_t size)
{
    const gl_step *s = &plan->planned.plan.step;
    const gpulink_step known = {.time_s = s->time_s,
                                .time_p10_s = s->time_p10_s,
                                .time_p50_s = s->time_p50_s,
                                .time_p90_s = s->time_p90_s,
                                .compute_s = s->compute_s,
                                .overlap_tax_s = s->overlap_tax_s,
                                .communication_s = s->communication_s,
                                .exposed_communication_s = s->exposed_communication_s,
                                .bubble_s = s->bubble_s,
                                .optimizer_s = s->optimizer_s,
                                .mfu_frac = s->mfu_frac,
                                .tokens_per_s = s->tokens_per_s,
                                .tokens_per_s_per_gpu = s->tokens_per_s_per_gpu,
                                .evidence = (int32_t)s->evidence,
                                .network_evidence = (int32_t)s->network_evidence};
    gl_lib__give(step, size, &known, sizeof known);
}

int32_t gpulink_plan_stages(const gpulink_plan *plan)
{
    return plan->planned.workload.parallel.pp;
}

bool gpulink_plan_memory(const gpulink_plan *plan, int32_t stage, gpulink_memory *memory,
                         size_t size)
{
    const gl_plan *p = &plan->planned.plan;
    gl_memory m;
    if (stage < 0 || stage >= gpulink_plan_stages(plan))
        return false;
    gl_memory_estimate(p->workload, &p->parameters, &p->stages[stage], p->cluster->gpu, &m);
    const gpulink_memory known = {.total_bytes = m.total_bytes,
                                  .capacity_bytes = m.capacity_bytes,
                                  .parameters_bytes = m.parameters_bytes,
                                  .gradients_bytes = m.gradients_bytes,
                                  .optimizer_bytes = m.optimizer_bytes,
                                  .activations_bytes = m.activations_bytes,
                                  .logits_bytes = m.logits_bytes,
                                  .buffers_bytes = m.buffers_bytes,
                                  .reserve_bytes = m.reserve_bytes,
                                  .not_together_bytes = m.not_together_bytes,
                                  .fits = m.fits_known ? m.fits : -1,
                                  .in_flight = m.in_flight};
    gl_lib__give(memory, size, &known, sizeof known);
    return true;
}

bool gpulink_plan_traffic(const gpulink_plan *plan, int32_t dimension, gpulink_traffic *traffic,
                          size_t size)
{
    const gl_plan *p = &plan->planned.plan;
    gpulink_traffic known = {0};
    gl_evidence worst = GL_EVIDENCE_NONE;
    if (dimension < 0 || dimension >= GPULINK_DIMENSIONS)
        return false;
    for (size_t i = 0; i < p->traffic.row_count; i++) {
        const gl_traffic_row *row = p->rows[i].traffic;
        if ((int32_t)row->dimension != dimension)
            continue;
        known.payload_bytes += (double)row->size_bytes * (double)row->calls_per_step;
        known.wire_bytes += gl_traffic_wire_bytes(row) * (double)row->calls_per_step;
        known.calls += row->calls_per_step;
        known.time_s += p->rows[i].time_s;
        known.exposed_s += p->rows[i].exposed_s;
        worst = gl_evidence_worst(worst, p->rows[i].per_call.evidence);
    }
    known.evidence = (int32_t)worst;
    gl_lib__give(traffic, size, &known, sizeof known);
    return true;
}

bool gpulink_plan_tier(const gpulink_plan *plan, int32_t tier, gpulink_tier *out, size_t size)
{
    if (tier < 0 || tier >= GPULINK_TIERS)
        return false;
    const gl_bandwidth_need *need = &plan->planned.plan.needs[tier];
    const gpulink_tier known = {.bytes_per_step_per_gpu = need->bytes_per_step_per_gpu,
                                .required_bytes_per_s = need->required_bytes_per_s,
                                .available_bytes_per_s = need->available_bytes_per_s,
                                .verdict = (int32_t)need->verdict,
                                .evidence = (int32_t)need->evidence};
    gl_lib__give(out, size, &known, sizeof known);
    return true;
}

const char *gpulink_plan_warning(const gpulink_plan *plan, size_t index)
{
    return index < plan->scenario.warning_count ? plan->scenario.warnings[index] : NULL;
}

const char *gpulink_plan_json(gpulink_plan *plan, gpulink_error *error)
{
    static const gl_render_options all = {0};
    const gl_report report = {.scenarios = &plan->scenario, .scenario_count = 1};
    gl_lib_call call;
    if (plan->json != NULL)
        return gl_output_text(plan->json);
    if (!gl_lib__begin(&call, 1, error))
        return NULL;
    plan->json = gl_output_memory();
    gl_render_json(&report, &all, plan->json);
    gl_lib__end(&call);
    return gl_output_text(plan->json);
}
