/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages: bytes, calls, times. Formulas: docs/models/traffic.md, network.md. */
#include "planner/report/explain_figures.h"

#include <inttypes.h>
#include <string.h>

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
    gl_explain__add(e, "time_per_call_s", gl_real(call->time_s), GL_SECONDS,
                    (gl_figure_how){call->formula,
                                    gl_arena_printf(e->arena, "%s ± %.1f %% (one sigma)",
                                                    gl_explain__seconds(e, call->time_s),
                                                    100 * call->error_frac),
                                    evidence, call->source});
    gl_explain__add(e, "time_s", gl_real(row->time_s), GL_SECONDS,
                    (gl_figure_how){loaded ? "calls · time of a call · load of the hottest rank"
                                           : "calls · time of a call",
                                    loaded ? gl_arena_printf(e->arena, "%.0f · %s · %.4g", calls,
                                                             gl_explain__seconds(e, call->time_s),
                                                             traffic->load_factor)
                                           : gl_arena_printf(e->arena, "%.0f · %s", calls,
                                                             gl_explain__seconds(e, call->time_s)),
                                    evidence, call->source});
    gl_explain__add(
        e, "exposed_s", gl_real(row->exposed_s), GL_SECONDS,
        (gl_figure_how){exposed_reason(row),
                        gl_arena_printf(e->arena, "%s − %s", gl_explain__seconds(e, row->time_s),
                                        gl_explain__seconds(e, row->time_s - row->exposed_s)),
                        gl_evidence_name(e->plan->step.evidence), "the schedule of the step"});
}

const char *gl_explain__share_note(const gl_explainer *e, const gl_timed_row *row)
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
                               gl_explain__rate(e, share), g->ranks, g->ranks_per_node, g->ranks,
                               g->ranks - g->ranks_per_node, g->ranks);
    return gl_arena_printf(
        e->arena,
        "per GPU %s of it leave the node: %s / %d, as a ring enters and leaves a "
        "node once for all %d ranks there; required_bandwidth counts that",
        gl_explain__rate(e, share), gl_explain__rate(e, busbw), g->ranks_per_node,
        g->ranks_per_node);
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
                                        factor, gl_explain__seconds(e, call->time_s)),
                        gl_evidence_name(call->evidence), call->source});
    gl_explain__note(e, gl_explain__share_note(e, row));
    double slower = e->plan->options.headroom * call->busbw_bytes_per_s / required;
    gl_explain__add(
        e, "required_busbw_bytes_per_s", gl_real(required), GL_BYTES_PER_S,
        (gl_figure_how){"headroom · busbw / how much slower this tier may be "
                        "until exposed communication reaches the target",
                        gl_arena_printf(e->arena, "%.4g · %s / %.4g", e->plan->options.headroom,
                                        gl_explain__rate(e, call->busbw_bytes_per_s), slower),
                        gl_evidence_name(e->plan->step.evidence), "the schedule of the step"});
}

/* "dp gradients, backward: 21 × all_reduce of 42.0 MB" */
static const char *row_text(const gl_explainer *e, const gl_traffic_row *traffic)
{
    return gl_arena_printf(e->arena, "%s %s, %s: %" PRId64 " × %s of %s",
                           gl_traffic_dimension_name(traffic->dimension), traffic->operation,
                           gl_phase_name(traffic->phase), traffic->calls_per_step,
                           gl_collective_name(traffic->collective),
                           gl_explain__bytes(e, (double)traffic->size_bytes));
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
