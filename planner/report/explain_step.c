/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step and its parts. Formulas: docs/models/schedule.md, uncertainty.md. */
#include "planner/report/explain_figures.h"
#include "planner/report/headline.h"
#include "planner/report/plan_tables.h"

#include <inttypes.h>
#include <math.h>

static void add_line(gl_explainer *e, const char *column, double value, gl_dimension dimension,
                     gl_figure_how how)
{
    gl_explain__line(e, true, column, NULL);
    gl_explain__add(e, column, gl_real(value), dimension, how);
}

/* Forward and backward of one microbatch on a stage. */
static double microbatch_s(const gl_plan *plan, const gl_stage *stage)
{
    double sum = 0;
    for (int i = 0; i < stage->block_count; i++)
        sum += plan->compute.forward_s[stage->sequence[i]] +
               plan->compute.backward_s[stage->sequence[i]];
    return sum;
}

/* The stage whose compute the step counts: the one that explains compute_s. */
static int compute_stage(const gl_plan *plan)
{
    double microbatches = (double)gl_workload_microbatches(plan->workload);
    int best = 0;
    double best_gap = (double)INFINITY;
    for (int i = 0; i < plan->workload->parallel.pp; i++) {
        double gap =
            fabs(microbatches * microbatch_s(plan, &plan->stages[i]) - plan->step.compute_s);
        if (gap < best_gap) {
            best_gap = gap;
            best = i;
        }
    }
    return best;
}

/* "16 dense layers · (3.1 ms + 6.2 ms) + …" */
static const char *blocks_text(const gl_explainer *e, const gl_stage *stage)
{
    const gl_compute *compute = &e->plan->compute;
    const char *text = "";
    for (int kind = 0; kind < GL_BLOCK_KIND_COUNT; kind++) {
        int count = 0;
        for (int i = 0; i < stage->block_count; i++)
            count += stage->sequence[i] == (gl_block_kind)kind;
        if (count > 0)
            text = gl_arena_printf(e->arena, "%s%s%d %s · (%s + %s)", text,
                                   text[0] != '\0' ? " + " : "", count,
                                   gl_block_kind_name((gl_block_kind)kind),
                                   gl_explain__seconds(e, compute->forward_s[kind]),
                                   gl_explain__seconds(e, compute->backward_s[kind]));
    }
    return text;
}

static void add_step_time(gl_explainer *e, const char *evidence)
{
    const gl_step *step = &e->plan->step;
    add_line(e, "time_s", step->time_s, GL_SECONDS,
             (gl_figure_how){"compute + overlap_tax + exposed_communication + bubble + optimizer",
                             gl_arena_printf(e->arena, "%s + %s + %s + %s + %s",
                                             gl_explain__seconds(e, step->compute_s),
                                             gl_explain__seconds(e, step->overlap_tax_s),
                                             gl_explain__seconds(e, step->exposed_communication_s),
                                             gl_explain__seconds(e, step->bubble_s),
                                             gl_explain__seconds(e, step->optimizer_s)),
                             evidence, "step.* below"});
    static const char *const source = "the errors of table uncertainty, each drawn as one factor";
    add_line(
        e, "time_p10_s", step->time_p10_s, GL_SECONDS,
        (gl_figure_how){"first decile of the draws: time − gain",
                        gl_arena_printf(e->arena, "%s − %s", gl_explain__seconds(e, step->time_s),
                                        gl_explain__seconds(e, step->time_s - step->time_p10_s)),
                        evidence, source});
    add_line(e, "time_p50_s", step->time_p50_s, GL_SECONDS,
             (gl_figure_how){"median of the draws", NULL, evidence, source});
    add_line(
        e, "time_p90_s", step->time_p90_s, GL_SECONDS,
        (gl_figure_how){"ninth decile of the draws: time + loss",
                        gl_arena_printf(e->arena, "%s + %s", gl_explain__seconds(e, step->time_s),
                                        gl_explain__seconds(e, step->time_p90_s - step->time_s)),
                        evidence, source});
}

static const char *compute_source(const gl_plan *plan, gl_arena *arena)
{
    if (plan->compute.evidence == GL_EVIDENCE_STATED)
        return "compute: of the description; the operators keep their proportions";
    if (plan->cluster->gpu == NULL)
        return NULL;
    return gl_arena_printf(arena, "the operators (--table compute) on data/gpus/%s",
                           plan->cluster->gpu->name);
}

/* "0.583 · 8.26 ms", or the range of the taxes when rows differ; NULL: nothing hides. */
static const char *tax_text(const gl_explainer *e, const gl_stage_plan *stage)
{
    double low = INFINITY, high = 0, tax_s = e->plan->step.overlap_tax_s;
    for (size_t i = 0; stage != NULL && i < stage->traffic.row_count; i++) {
        if (stage->overlap_tax[i] > 0) {
            low = fmin(low, stage->overlap_tax[i]);
            high = fmax(high, stage->overlap_tax[i]);
        }
    }
    if (!(high > 0))
        return NULL;
    if (low == high)
        return gl_arena_printf(e->arena, "%.3g · %s", high, gl_explain__seconds(e, tax_s / high));
    return gl_arena_printf(e->arena, "%.3g to %.3g, by transport", low, high);
}

static void add_compute(gl_explainer *e)
{
    const gl_plan *plan = e->plan;
    const char *evidence = gl_evidence_name(plan->compute.evidence);
    int stage = compute_stage(plan);
    const gl_stage_plan *stage_plan = plan->stage_plans != NULL ? &plan->stage_plans[stage] : NULL;
    add_line(e, "compute_s", plan->step.compute_s, GL_SECONDS,
             (gl_figure_how){"microbatches · Σ blocks of the slowest stage (forward + backward)",
                             gl_arena_printf(e->arena, "%" PRId64 " · (%s), stage %d",
                                             gl_workload_microbatches(plan->workload),
                                             blocks_text(e, &plan->stages[stage]), stage),
                             evidence, compute_source(plan, e->arena)});
    add_line(e, "overlap_tax_s", plan->step.overlap_tax_s, GL_SECONDS,
             (gl_figure_how){"tax · seconds of communication that run beside compute",
                             tax_text(e, stage_plan), gl_evidence_name(plan->step.evidence),
                             plan->cluster->overlap_count > 0
                                 ? "overlap rates of the calibration, where this transport has one"
                                 : "data/transports/overlap.yaml"});
}

/* "12 ms (1) + 3 ms (4)": the rows that have a part in a sum, largest number of them six. */
static const char *rows_text(const gl_explainer *e, bool exposed)
{
    enum { SHOWN_MAX = 6 };
    const char *text = "";
    size_t shown = 0;
    for (size_t i = 0; i < e->plan->traffic.row_count; i++) {
        const gl_timed_row *row = &e->plan->rows[i];
        double value = exposed ? row->exposed_s : row->time_s;
        if (!(value > 0))
            continue;
        if (shown++ == SHOWN_MAX)
            return gl_arena_printf(e->arena, "%s + …", text);
        text = gl_arena_printf(e->arena, "%s%s%s (traffic.%zu)", text, shown > 1 ? " + " : "",
                               gl_explain__seconds(e, value), i + 1);
    }
    return text[0] != '\0' ? text : NULL;
}

/* Exposed time as its rows, and what other stages make of it. */
static const char *exposed_text(const gl_explainer *e)
{
    const char *rows = rows_text(e, true);
    if (rows == NULL || gl_rows_make_exposed(e->plan))
        return rows;
    double other_s = e->plan->step.exposed_communication_s;
    for (size_t i = 0; i < e->plan->traffic.row_count; i++)
        other_s -= fmax(0, e->plan->rows[i].exposed_s);
    return other_s > 0 ? gl_arena_printf(e->arena, "%s + %s on other stages", rows,
                                         gl_explain__seconds(e, other_s))
                       : gl_arena_printf(e->arena, "%s - %s while other stages work longer", rows,
                                         gl_explain__seconds(e, -other_s));
}

static void add_communication(gl_explainer *e)
{
    const gl_step *step = &e->plan->step;
    const char *evidence = gl_evidence_name(step->network_evidence);
    add_line(e, "communication_s", step->communication_s, GL_SECONDS,
             (gl_figure_how){"Σ time of the rows of traffic", rows_text(e, false), evidence,
                             "traffic.*"});
    add_line(e, "exposed_communication_s", step->exposed_communication_s, GL_SECONDS,
             (gl_figure_how){
                 gl_arena_printf(e->arena, "what the slowest stage waits for; rows of stage %d",
                                 e->plan->stage),
                 exposed_text(e), gl_evidence_name(step->evidence), "the schedule of the step"});
    add_line(e, "communication_cost_frac", step->communication_cost_frac, GL_FRACTION,
             (gl_figure_how){"(exposed + compute lost to what is hidden) / step",
                             gl_arena_printf(e->arena, "(%s + %s) / %s",
                                             gl_explain__seconds(e, step->exposed_communication_s),
                                             gl_explain__seconds(e, step->overlap_tax_s),
                                             gl_explain__seconds(e, step->time_s)),
                             gl_evidence_name(step->evidence), "the schedule of the step"});
}

static void add_bubble(gl_explainer *e)
{
    const gl_plan *plan = e->plan;
    const gl_parallel *parallel = &plan->workload->parallel;
    int chunks = gl_parallel_chunks(parallel);
    double each = plan->step.bubble_s * chunks / (parallel->pp - 1);
    add_line(e, "bubble_s", plan->step.bubble_s, GL_SECONDS,
             (gl_figure_how){
                 "Σ other stages: a microbatch, stalls included, / virtual stages",
                 parallel->pp == 1
                     ? "no pipeline"
                     : gl_arena_printf(e->arena, "%d · %s / %d (mean)", parallel->pp - 1,
                                       gl_explain__seconds(e, each), chunks),
                 gl_evidence_name(plan->step.evidence), "filling and draining the pipeline"});
}

static void add_optimizer(gl_explainer *e)
{
    const gl_plan *plan = e->plan;
    const gl_gpu *gpu = plan->cluster->gpu;
    double memory_rate =
        gpu != NULL ? gpu->memory_bw_bytes_per_s.value * gpu->memory_efficiency.value : (double)NAN;
    add_line(e, "optimizer_s", plan->step.optimizer_s, GL_SECONDS,
             (gl_figure_how){
                 "bytes of states, weights and gradients / memory bandwidth reached",
                 gpu == NULL
                     ? NULL
                     : gl_arena_printf(e->arena, "%s / %s",
                                       gl_explain__bytes(e, plan->step.optimizer_s * memory_rate),
                                       gl_explain__rate(e, memory_rate)),
                 gl_evidence_name(plan->compute.evidence), compute_source(plan, e->arena)});
}

static void add_throughput(gl_explainer *e)
{
    const gl_plan *plan = e->plan;
    const gl_step *step = &plan->step;
    const gl_workload *w = plan->workload;
    const char *evidence = gl_evidence_name(step->evidence);
    long long sequences = (long long)gl_workload_step_sequences(w);
    long long ranks = (long long)gl_workload_ranks(w);
    double flop = plan->compute.model_flop_per_token * step->tokens_per_s_per_gpu;
    add_line(e, "mfu", step->mfu_frac, GL_FRACTION,
             (gl_figure_how){
                 "FLOP of a token (forward and backward, no recomputation) · tokens/s of "
                 "a GPU / peak",
                 gl_arena_printf(e->arena, "%.4g · %.5g / %s", plan->compute.model_flop_per_token,
                                 step->tokens_per_s_per_gpu,
                                 gl_explain__quantity(e, flop / step->mfu_frac, GL_FLOP_PER_S)),
                 evidence, "the architecture and the GPU's dense peak"});
    add_line(
        e, "tokens_per_s", step->tokens_per_s, GL_NUMBER,
        (gl_figure_how){"sequences of a step · tokens of a sequence / step time",
                        gl_arena_printf(e->arena, "%lld · %d / %s", sequences, w->model.sequence,
                                        gl_explain__seconds(e, step->time_s)),
                        evidence, NULL});
    add_line(e, "tokens_per_s_per_gpu", step->tokens_per_s_per_gpu, GL_NUMBER,
             (gl_figure_how){"tokens/s / GPUs",
                             gl_arena_printf(e->arena, "%.5g / %lld", step->tokens_per_s, ranks),
                             evidence, NULL});
}

static void add_text_line(gl_explainer *e, const char *column, const char *value,
                          const char *formula)
{
    gl_explain__line(e, true, column, NULL);
    gl_explain__add(e, column, gl_text(value), GL_NUMBER, (gl_figure_how){.formula = formula});
}

static void add_evidence(gl_explainer *e)
{
    const gl_step *step = &e->plan->step;
    add_text_line(e, "network_evidence", gl_evidence_name(step->network_evidence),
                  "the worst of the rows of traffic");
    add_text_line(e, "compute_evidence", gl_evidence_name(e->plan->compute.evidence), NULL);
    add_text_line(e, "evidence", gl_evidence_name(step->evidence),
                  "the worse of network_evidence and compute_evidence");
}

void gl_explain__step(gl_explainer *e)
{
    e->table = e->prefix = "step";
    add_step_time(e, gl_evidence_name(e->plan->step.evidence));
    add_compute(e);
    add_communication(e);
    add_bubble(e);
    add_optimizer(e);
    add_throughput(e);
    add_evidence(e);
}
