/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is explained, table by table. Formulas repeat in words what planner/core computes; the unit
 * test puts the numbers in and compares. */
#include "planner/report/explain_figures.h"
#include "planner/core/demand.h"
#include "planner/report/headline.h"
#include "planner/report/plan_schema.h"
#include "planner/report/plan_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- shared ---- */

const char *gl_explain__quantity(const gl_explainer *e, double value, gl_dimension dimension)
{
    return gl_quantity_text(value, dimension, e->arena);
}

static const char *seconds(const gl_explainer *e, double value)
{
    return gl_explain__quantity(e, value, GL_SECONDS);
}

static const char *rate(const gl_explainer *e, double value)
{
    return gl_explain__quantity(e, value, GL_BYTES_PER_S);
}

static const char *bytes(const gl_explainer *e, double value)
{
    return gl_explain__quantity(e, value, GL_BYTES);
}

static const char *unit_of(gl_dimension dimension)
{
    static const char *const units[] = {
        [GL_BYTES] = "B",
        [GL_BYTES_PER_S] = "B/s",
        [GL_SECONDS] = "s",
        [GL_FRACTION] = "1",
        [GL_FLOP_PER_S] = "FLOP/s",
        [GL_WATTS] = "W",
        [GL_USD_PER_KWH] = "USD/kWh",
        [GL_METRES] = "m",
    };
    return units[dimension];
}

/* Amounts of memory are in GiB, messages in what they are multiples of. */
static const char *amount(const gl_explainer *e, double value)
{
    return strcmp(e->table, "memory") == 0 ? gl_gib_text(value, e->arena) : bytes(e, value);
}

/* The value for people. */
static const char *brief_text(const gl_explainer *e, gl_cell value, gl_dimension dimension)
{
    switch (value.type) {
    case GL_CELL_TEXT:
        return value.as.text;
    case GL_CELL_BOOL:
        return value.as.boolean ? "yes" : "no";
    case GL_CELL_INTEGER:
        if (dimension == GL_BYTES)
            return amount(e, (double)value.as.integer);
        return gl_arena_printf(e->arena, "%" PRId64, value.as.integer);
    case GL_CELL_REAL:
        if (isnan(value.as.real))
            return "not known";
        if (dimension == GL_BYTES)
            return amount(e, value.as.real);
        return gl_explain__quantity(e, value.as.real, dimension);
    default:
        return "not known";
    }
}

/* Bytes also exactly, since they are counted. */
static const char *result_text(const gl_explainer *e, gl_cell value, gl_dimension dimension,
                               const char *brief)
{
    double exact = value.type == GL_CELL_INTEGER ? (double)value.as.integer
                   : value.type == GL_CELL_REAL  ? value.as.real
                                                 : (double)NAN;
    if (value.type == GL_CELL_REAL && isnan(exact))
        return "not known (see the plan's warnings)";
    if (dimension != GL_BYTES || isnan(exact) || exact == 0)
        return brief;
    return gl_arena_printf(e->arena, "%.0f B (%s)", exact, brief);
}

void gl_explain__add(gl_explainer *e, const char *column, gl_cell value, gl_dimension dimension,
                     gl_figure_how how)
{
    gl_explanation *out = e->out;
    out->figures = gl_arena_grow(e->arena, out->figures, &out->capacity, out->figure_count + 1,
                                 sizeof *out->figures);
    const char *meaning = gl_plan_column_meaning(e->table, column);
    bool missing = value.type == GL_CELL_REAL && isnan(value.as.real);
    const char *brief = brief_text(e, value, dimension);
    out->figures[out->figure_count++] = (gl_figure_text){
        .line = out->line_count,
        .name = gl_arena_printf(e->arena, "%s.%s", e->prefix, column),
        .meaning = meaning != NULL ? meaning : column,
        .formula = how.formula,
        .numbers = missing ? NULL : how.numbers,
        .value = value,
        .unit = unit_of(dimension),
        .result = result_text(e, value, dimension, brief),
        .brief = brief,
        .evidence = how.evidence != NULL ? how.evidence : "counted",
        .source = how.source,
    };
}

void gl_explain__note(gl_explainer *e, const char *note)
{
    e->out->figures[e->out->figure_count - 1].note = note;
}

void gl_explain__line(gl_explainer *e, bool named_by_column, const char *column, const char *what)
{
    gl_explanation *out = e->out;
    const char *meaning = gl_plan_column_meaning(e->table, column);
    out->lines = gl_arena_grow(e->arena, out->lines, &out->line_capacity, out->line_count + 1,
                               sizeof *out->lines);
    const char *shown = gl_arena_printf(e->arena, "%s.%s", e->prefix, column);
    out->lines[out->line_count++] =
        (gl_explained_line){named_by_column ? shown : e->prefix,
                            what != NULL ? what : (meaning != NULL ? meaning : column), shown};
}

/* ---- traffic ---- */

static const char *calls_text(const gl_explainer *e, const gl_traffic_row *traffic)
{
    int64_t microbatches = gl_workload_microbatches(e->plan->workload);
    if (microbatches > 1 && traffic->calls_per_step % microbatches == 0)
        return gl_arena_printf(e->arena, "%" PRId64 " microbatches · %" PRId64 " calls each",
                               microbatches, traffic->calls_per_step / microbatches);
    return NULL;
}

static const char *bus_factor_formula(gl_collective collective)
{
    switch (collective) {
    case GL_ALL_REDUCE:
        return "2·(n−1)/n";
    case GL_ALL_GATHER:
    case GL_REDUCE_SCATTER:
    case GL_ALLTOALL:
    case GL_GATHER:
    case GL_SCATTER:
        return "(n−1)/n";
    default:
        return "1";
    }
}

/* "parameters of a bucket" as a number: what the bucket's bytes were made of. */
static const char *size_text(const gl_explainer *e, const gl_traffic_row *traffic)
{
    const char *formula = traffic->formula, *numbers = gl_explain__put_numbers(e, formula);
    if (formula == NULL || numbers == NULL || strncmp(formula, "parameters of a ", 16) != 0)
        return numbers;
    const gl_workload *w = e->plan->workload;
    double elements = (double)traffic->size_bytes / gl_dtype_bytes(w->precision.compute);
    if (strstr(formula, "e_g") != NULL)
        elements = (double)traffic->size_bytes / gl_dtype_bytes(w->precision.gradients) *
                   w->buckets.compression;
    if (strstr(formula, "/ shard") != NULL)
        elements *= w->parallel.shard;
    size_t words = 16 + strcspn(numbers + 16, " ");
    return gl_arena_printf(e->arena, "%.0f%s", elements, numbers + words);
}

static void add_bytes_figures(gl_explainer *e, const gl_traffic_row *traffic)
{
    double size = (double)traffic->size_bytes, calls = (double)traffic->calls_per_step;
    double wire = gl_traffic_wire_bytes(traffic) * calls;
    const char *calls_numbers = calls_text(e, traffic);
    const char *named = traffic->formula != NULL ? strstr(traffic->formula, " = ") : NULL;
    gl_explain__add(e, "size_bytes", gl_integer(traffic->size_bytes), GL_BYTES,
                    (gl_figure_how){.formula = named != NULL ? named + 3 : traffic->formula,
                                    .numbers = size_text(e, traffic)});
    gl_explain__add(e, "calls_per_step", gl_integer(traffic->calls_per_step), GL_NUMBER,
                    (gl_figure_how){.formula = calls_numbers != NULL
                                                   ? "microbatches · calls of a microbatch"
                                                   : "counted over the step",
                                    .numbers = calls_numbers});
    gl_explain__add(
        e, "payload_bytes_per_step", gl_real(size * calls), GL_BYTES,
        (gl_figure_how){.formula = "size · calls",
                        .numbers = gl_arena_printf(e->arena, "%.0f B · %.0f", size, calls)});
    gl_explain__add(
        e, "wire_bytes_per_rank_per_step", gl_real(wire), GL_BYTES,
        (gl_figure_how){.formula =
                            gl_arena_printf(e->arena, "size · %s · calls, n = ranks of the group",
                                            bus_factor_formula(traffic->collective)),
                        .numbers = gl_arena_printf(e->arena, "%.0f B · %.6g · %.0f, n = %d", size,
                                                   size > 0 ? wire / size / calls : 0, calls,
                                                   traffic->placement.ranks)});
}

/* Why so much of a row is exposed. */
static const char *exposed_reason(const gl_timed_row *row)
{
    if (!row->traffic->may_hide)
        return "all of it: this communication is waited for";
    return "time − what the schedule hides behind compute";
}

static void add_time_figures(gl_explainer *e, const gl_timed_row *row)
{
    const gl_traffic_row *traffic = row->traffic;
    const gl_network_time *call = &row->per_call;
    const char *evidence = gl_evidence_name(call->evidence);
    double calls = (double)traffic->calls_per_step;
    bool loaded = traffic->load_factor > 1;
    gl_explain__add(
        e, "time_per_call_s", gl_real(call->time_s), GL_SECONDS,
        (gl_figure_how){call->formula,
                        gl_arena_printf(e->arena, "%s ± %.1f %% (one sigma)",
                                        seconds(e, call->time_s), 100 * call->error_frac),
                        evidence, call->source});
    gl_explain__add(
        e, "time_s", gl_real(row->time_s), GL_SECONDS,
        (gl_figure_how){
            loaded ? "calls · time of a call · load of the hottest rank" : "calls · time of a call",
            loaded ? gl_arena_printf(e->arena, "%.0f · %s · %.4g", calls, seconds(e, call->time_s),
                                     traffic->load_factor)
                   : gl_arena_printf(e->arena, "%.0f · %s", calls, seconds(e, call->time_s)),
            evidence, call->source});
    gl_explain__add(e, "exposed_s", gl_real(row->exposed_s), GL_SECONDS,
                    (gl_figure_how){exposed_reason(row),
                                    gl_arena_printf(e->arena, "%s − %s", seconds(e, row->time_s),
                                                    seconds(e, row->time_s - row->exposed_s)),
                                    gl_evidence_name(e->plan->step.evidence),
                                    "the schedule of the step"});
}

/* Why a group's busbw is more than what each of its GPUs puts on the network; NULL when it is not.
 */
static const char *share_note(const gl_explainer *e, const gl_timed_row *row)
{
    const gl_placement *g = &row->traffic->placement;
    double busbw = row->per_call.busbw_bytes_per_s, wire = gl_traffic_wire_bytes(row->traffic);
    double share =
        wire > 0 ? busbw * gl_traffic_tier_bytes(row->traffic, GL_TIER_INTER_NODE) / wire : 0;
    if (g->nodes <= 1 || g->ranks_per_node <= 1)
        return NULL;
    if (row->traffic->collective == GL_ALLTOALL)
        return gl_arena_printf(e->arena,
                               "per GPU %s of it leave the node: busbw · (%d − %d) / (%d − 1), as "
                               "%d of the %d ranks are on other nodes; required_bandwidth counts "
                               "that",
                               rate(e, share), g->ranks, g->ranks_per_node, g->ranks,
                               g->ranks - g->ranks_per_node, g->ranks);
    return gl_arena_printf(
        e->arena,
        "per GPU %s of it leave the node: %s / %d, as a ring enters and leaves a "
        "node once for all %d ranks there; required_bandwidth counts that",
        rate(e, share), rate(e, busbw), g->ranks_per_node, g->ranks_per_node);
}

static void add_busbw_figures(gl_explainer *e, const gl_timed_row *row)
{
    const gl_traffic_row *traffic = row->traffic;
    const gl_network_time *call = &row->per_call;
    double factor = gl_bus_factor(traffic->collective, traffic->placement.ranks);
    double required = row->required_busbw_bytes_per_s;
    gl_explain__add(
        e, "busbw_bytes_per_s", gl_real(call->busbw_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){gl_arena_printf(e->arena, "size · %s / time of a call",
                                        bus_factor_formula(traffic->collective)),
                        gl_arena_printf(e->arena, "%.0f B · %.6g / %s", (double)traffic->size_bytes,
                                        factor, seconds(e, call->time_s)),
                        gl_evidence_name(call->evidence), call->source});
    gl_explain__note(e, share_note(e, row));
    double slower = e->plan->options.headroom * call->busbw_bytes_per_s / required;
    gl_explain__add(
        e, "required_busbw_bytes_per_s", gl_real(required), GL_BYTES_PER_S,
        (gl_figure_how){"headroom · busbw / how much slower this tier may be "
                        "until exposed communication reaches the target",
                        gl_arena_printf(e->arena, "%.4g · %s / %.4g", e->plan->options.headroom,
                                        rate(e, call->busbw_bytes_per_s), slower),
                        gl_evidence_name(e->plan->step.evidence), "the schedule of the step"});
}

/* "dp gradients, backward: 21 × all_reduce of 42.0 MB" */
static const char *row_text(const gl_explainer *e, const gl_traffic_row *traffic)
{
    return gl_arena_printf(e->arena, "%s %s, %s: %" PRId64 " × %s of %s",
                           gl_traffic_dimension_name(traffic->dimension), traffic->operation,
                           gl_phase_name(traffic->phase), traffic->calls_per_step,
                           gl_collective_name(traffic->collective),
                           bytes(e, (double)traffic->size_bytes));
}

void gl_explain__traffic(gl_explainer *e)
{
    e->table = "traffic";
    for (size_t i = 0; i < e->plan->traffic.row_count; i++) {
        e->prefix = gl_arena_printf(e->arena, "traffic.%zu", i + 1);
        gl_explain__line(e, false, "time_s", row_text(e, e->plan->rows[i].traffic));
        add_bytes_figures(e, e->plan->rows[i].traffic);
        add_time_figures(e, &e->plan->rows[i]);
        add_busbw_figures(e, &e->plan->rows[i]);
    }
}

/* ---- step ---- */

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
            text = gl_arena_printf(
                e->arena, "%s%s%d %s · (%s + %s)", text, text[0] != '\0' ? " + " : "", count,
                gl_block_kind_name((gl_block_kind)kind), seconds(e, compute->forward_s[kind]),
                seconds(e, compute->backward_s[kind]));
    }
    return text;
}

static void add_step_time(gl_explainer *e, const char *evidence)
{
    const gl_step *step = &e->plan->step;
    add_line(e, "time_s", step->time_s, GL_SECONDS,
             (gl_figure_how){
                 "compute + overlap_tax + exposed_communication + bubble + optimizer",
                 gl_arena_printf(e->arena, "%s + %s + %s + %s + %s", seconds(e, step->compute_s),
                                 seconds(e, step->overlap_tax_s),
                                 seconds(e, step->exposed_communication_s),
                                 seconds(e, step->bubble_s), seconds(e, step->optimizer_s)),
                 evidence, "step.* below"});
    static const char *const source = "the errors of table uncertainty, each drawn as one factor";
    add_line(e, "time_p10_s", step->time_p10_s, GL_SECONDS,
             (gl_figure_how){"first decile of the draws: time − gain",
                             gl_arena_printf(e->arena, "%s − %s", seconds(e, step->time_s),
                                             seconds(e, step->time_s - step->time_p10_s)),
                             evidence, source});
    add_line(e, "time_p50_s", step->time_p50_s, GL_SECONDS,
             (gl_figure_how){"median of the draws", NULL, evidence, source});
    add_line(e, "time_p90_s", step->time_p90_s, GL_SECONDS,
             (gl_figure_how){"ninth decile of the draws: time + loss",
                             gl_arena_printf(e->arena, "%s + %s", seconds(e, step->time_s),
                                             seconds(e, step->time_p90_s - step->time_s)),
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
        return gl_arena_printf(e->arena, "%.3g · %s", high, seconds(e, tax_s / high));
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
                               seconds(e, value), i + 1);
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
    return other_s > 0
               ? gl_arena_printf(e->arena, "%s + %s on other stages", rows, seconds(e, other_s))
               : gl_arena_printf(e->arena, "%s - %s while other stages work longer", rows,
                                 seconds(e, -other_s));
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
    add_line(
        e, "communication_cost_frac", step->communication_cost_frac, GL_FRACTION,
        (gl_figure_how){"(exposed + compute lost to what is hidden) / step",
                        gl_arena_printf(e->arena, "(%s + %s) / %s",
                                        seconds(e, step->exposed_communication_s),
                                        seconds(e, step->overlap_tax_s), seconds(e, step->time_s)),
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
                 parallel->pp == 1 ? "no pipeline"
                                   : gl_arena_printf(e->arena, "%d · %s / %d (mean)",
                                                     parallel->pp - 1, seconds(e, each), chunks),
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
                 gpu == NULL ? NULL
                             : gl_arena_printf(e->arena, "%s / %s",
                                               bytes(e, plan->step.optimizer_s * memory_rate),
                                               rate(e, memory_rate)),
                 gl_evidence_name(plan->compute.evidence), compute_source(plan, e->arena)});
}

static void add_throughput(gl_explainer *e)
{
    const gl_plan *plan = e->plan;
    const gl_step *step = &plan->step;
    const gl_workload *w = plan->workload;
    const char *evidence = gl_evidence_name(step->evidence);
    long long sequences = (long long)gl_workload_microbatches(w) * w->batch.micro * w->parallel.dp;
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
    add_line(e, "tokens_per_s", step->tokens_per_s, GL_NUMBER,
             (gl_figure_how){"sequences of a step · tokens of a sequence / step time",
                             gl_arena_printf(e->arena, "%lld · %d / %s", sequences,
                                             w->model.sequence, seconds(e, step->time_s)),
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

/* ---- required bandwidth ---- */

/* "1.70 GB · 126 / 8 (traffic.3) + …": the rows that put most on the tier. */
static const char *tier_rows_text(const gl_explainer *e, gl_tier_kind tier)
{
    enum { SHOWN_MAX = 6 };
    const char *text = "";
    size_t shown = 0;
    for (size_t i = 0; i < e->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &e->plan->traffic.rows[i];
        const gl_placement *g = &r->placement;
        bool ring = r->collective != GL_ALLTOALL && tier == GL_TIER_INTER_NODE;
        double each = gl_traffic_tier_bytes(r, (int)tier) * (ring ? g->ranks_per_node : 1);
        if (!(each > 0))
            continue;
        if (shown++ == SHOWN_MAX)
            return gl_arena_printf(e->arena, "%s + …", text);
        text = gl_arena_printf(e->arena, "%s%s%s · %" PRId64 "%s (traffic.%zu)", text,
                               shown > 1 ? " + " : "", bytes(e, each), r->calls_per_step,
                               ring && g->ranks_per_node > 1
                                   ? gl_arena_printf(e->arena, " / %d", g->ranks_per_node)
                                   : "",
                               i + 1);
    }
    return text[0] != '\0' ? text : NULL;
}

/* How the tier's figure and the busbw of a row go together, by the row that puts most on it. */
static const char *tier_note(const gl_explainer *e, gl_tier_kind tier)
{
    size_t most = 0;
    double most_bytes = 0;
    for (size_t i = 0; i < e->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &e->plan->traffic.rows[i];
        double row_bytes = gl_traffic_tier_bytes(r, (int)tier) * (double)r->calls_per_step;
        if (row_bytes > most_bytes) {
            most_bytes = row_bytes;
            most = i;
        }
    }
    if (!(most_bytes > 0))
        return NULL;
    const gl_timed_row *row = &e->plan->rows[most];
    const char *busbw = rate(e, row->per_call.busbw_bytes_per_s);
    if (tier == GL_TIER_INTRA_NODE)
        return gl_arena_printf(e->arena,
                               "inside a node a GPU's bandwidth is the busbw of its groups; "
                               "traffic.%zu has %s",
                               most + 1, busbw);
    const char *share = share_note(e, row);
    return gl_arena_printf(e->arena,
                           "between nodes a GPU's bandwidth is the busbw of a group shared by its "
                           "ranks on a node; traffic.%zu has a busbw of %s%s%s",
                           most + 1, busbw, share != NULL ? ": " : ", with one rank a node",
                           share != NULL ? share : "");
}

/* "tp over 8 ranks; dp over 4 ranks on 4 nodes": the groups that use a tier. */
static const char *groups_text(const gl_explainer *e, gl_tier_kind tier)
{
    const char *text = "";
    for (size_t i = 0; i < e->plan->traffic.row_count; i++) {
        const gl_traffic_row *r = &e->plan->traffic.rows[i];
        if (!(gl_traffic_tier_bytes(r, (int)tier) > 0))
            continue;
        const char *group =
            gl_arena_printf(e->arena, "%s over %s", gl_traffic_dimension_name(r->dimension),
                            gl_placement_text(&r->placement, e->arena));
        if (strstr(text, group) == NULL)
            text = gl_arena_printf(e->arena, "%s%s%s", text, text[0] != '\0' ? "; " : "", group);
    }
    return text;
}

/* "tp 1.2 TB (all_gather, reduce_scatter); dp 4.1 GB (gradients)" */
static const char *tensors_text(const gl_explainer *e, gl_tier_kind tier)
{
    const char *text = "";
    for (int i = 0; i < GL_TRAFFIC_DIMENSION_COUNT; i++) {
        gl_demand d = gl_demand_of(e->plan, tier, (gl_traffic_dimension)i, e->arena);
        if (d.bytes_per_step > 0)
            text = gl_arena_printf(e->arena, "%s%s%s %s (%s)", text, text[0] != '\0' ? "; " : "",
                                   gl_traffic_dimension_name(d.dimension),
                                   bytes(e, d.bytes_per_step), d.tensors);
    }
    return text;
}

/* What is counted, in four steps. */
static void add_demand(gl_explainer *e, gl_tier_kind tier)
{
    const gl_plan *plan = e->plan;
    gl_demand d = gl_demand_of(plan, tier, GL_TRAFFIC_DIMENSION_COUNT, e->arena);
    double alone_s = gl_step_alone_s(plan);
    const char *evidence = gl_evidence_name(plan->compute.evidence);
    gl_explain__add(
        e, "demand_alone_bytes_per_s", gl_real(d.alone_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){"headroom · bytes of a step / step without communication",
                        gl_arena_printf(e->arena, "%.4g · %s / %s", plan->options.headroom,
                                        bytes(e, d.bytes_per_step), seconds(e, alone_s)),
                        evidence, "traffic.*"});
    if (d.bytes_per_step > 0)
        gl_explain__note(
            e,
            gl_arena_printf(e->arena,
                            "1 layout: %s. 2 tensors: %s. 3 rate: %s a step x %.4g steps/s = %s. "
                            "4 headroom: x %.4g = %s",
                            groups_text(e, tier), tensors_text(e, tier), bytes(e, d.bytes_per_step),
                            1 / alone_s, rate(e, d.bytes_per_step / alone_s),
                            plan->options.headroom, rate(e, d.alone_bytes_per_s)));
    gl_explain__add(
        e, "demand_planned_bytes_per_s", gl_real(d.planned_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){"headroom · bytes of a step / step.time_s",
                        gl_arena_printf(e->arena, "%.4g · %s / %s", plan->options.headroom,
                                        bytes(e, d.bytes_per_step), seconds(e, plan->step.time_s)),
                        gl_evidence_name(plan->step.evidence), "traffic.*"});
}

static void add_tier(gl_explainer *e, const gl_bandwidth_need *need, const char *evidence)
{
    double seconds_of_tier = need->bytes_per_step_per_gpu / need->available_bytes_per_s;
    double slower = need->headroom * need->available_bytes_per_s / need->required_bytes_per_s;
    const char *required = rate(e, need->required_bytes_per_s);
    const char *available = rate(e, need->available_bytes_per_s);
    gl_explain__add(
        e, "bytes_per_step_per_gpu", gl_real(need->bytes_per_step_per_gpu), GL_BYTES,
        (gl_figure_how){need->tier == GL_TIER_INTRA_NODE
                            ? "Σ rows: bytes on the wire of a rank · calls (all-to-all: to the "
                              "ranks on its node)"
                            : "Σ rows that leave the node: bytes on the wire of a rank · calls / "
                              "ranks of the group on a node (all-to-all: to the ranks elsewhere)",
                        tier_rows_text(e, need->tier), NULL, "traffic.*"});
    gl_explain__add(
        e, "available_bytes_per_s", gl_real(need->available_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){"bytes of a step / communication time of this tier",
                        gl_arena_printf(e->arena, "%s / %s", bytes(e, need->bytes_per_step_per_gpu),
                                        seconds(e, seconds_of_tier)),
                        evidence, "traffic.*"});
    gl_explain__note(e, tier_note(e, need->tier));
    gl_explain__add(
        e, "required_bytes_per_s", gl_real(need->required_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){
            gl_arena_printf(e->arena,
                            "headroom · available / how many times slower this tier may "
                            "be until it exposes the target's %.3g %% of the step, the "
                            "other tier taken as free",
                            100 * e->plan->workload->target_exposed_frac),
            gl_arena_printf(e->arena, "%.4g · %s / %.4g", need->headroom, available, slower),
            gl_evidence_name(e->plan->step.evidence), "the schedule of the step"});
    add_demand(e, need->tier);
    gl_explain__add(e, "headroom", gl_real(need->headroom), GL_NUMBER,
                    (gl_figure_how){.evidence = "stated", .source = "--headroom"});
    gl_explain__add(
        e, "verdict", gl_text(gl_verdict_name(need->verdict)), GL_NUMBER,
        (gl_figure_how){"enough: available ≥ required; tight: ≥ required / headroom; "
                        "else short",
                        isnan(need->required_bytes_per_s)
                            ? NULL
                            : gl_arena_printf(e->arena, "%s against %s", available, required),
                        evidence, NULL});
}

void gl_explain__bandwidth(gl_explainer *e)
{
    e->table = "required_bandwidth";
    for (int tier = 0; tier < GL_TIER_COUNT; tier++) {
        e->prefix =
            gl_arena_printf(e->arena, "required_bandwidth.%s", gl_tier_name((gl_tier_kind)tier));
        gl_explain__line(e, false, "verdict", "required against available bandwidth of the tier");
        add_tier(e, &e->plan->needs[tier], gl_evidence_name(e->plan->needs[tier].evidence));
    }
}

/* ---- all ---- */

void gl_explain(const gl_plan *plan, gl_arena *arena, gl_explanation *out)
{
    *out =
        (gl_explanation){.subject = gl_arena_printf(arena, "%s on %s", plan->workload->model.name,
                                                    plan->cluster->name)};
    gl_explainer e = {.plan = plan, .arena = arena, .out = out};
    gl_explain__traffic(&e);
    gl_explain__step(&e);
    gl_explain__bandwidth(&e);
    gl_explain__memory(&e);
    gl_explain__compute(&e);
    gl_explain__cost(&e);
}
