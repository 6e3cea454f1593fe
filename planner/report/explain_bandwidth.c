/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each tier has to give. */
#include "planner/core/demand.h"
#include "planner/report/explain_figures.h"
#include "planner/report/plan_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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
        double each = gl_call_tier_bytes(r, &e->plan->rows[i].per_call, (int)tier) *
                      (ring ? g->ranks_per_node : 1);
        if (!(each > 0))
            continue;
        if (shown++ == SHOWN_MAX)
            return gl_arena_printf(e->arena, "%s + …", text);
        text = gl_arena_printf(
            e->arena, "%s%s%s · %" PRId64 "%s (traffic.%zu)", text, shown > 1 ? " + " : "",
            gl_explain__bytes(e, each), r->calls_per_step,
            ring && g->ranks_per_node > 1 ? gl_arena_printf(e->arena, " / %d", g->ranks_per_node)
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
        double row_bytes = gl_call_tier_bytes(r, &e->plan->rows[i].per_call, (int)tier) *
                           (double)r->calls_per_step;
        if (row_bytes > most_bytes) {
            most_bytes = row_bytes;
            most = i;
        }
    }
    if (!(most_bytes > 0))
        return NULL;
    const gl_timed_row *row = &e->plan->rows[most];
    const char *busbw = gl_explain__rate(e, row->per_call.busbw_bytes_per_s);
    if (tier == GL_TIER_INTRA_NODE)
        return gl_arena_printf(e->arena,
                               "inside a node a GPU's bandwidth is the busbw of its groups; "
                               "traffic.%zu has %s",
                               most + 1, busbw);
    const char *share = gl_explain__share_note(e, row);
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
        if (!(gl_call_tier_bytes(r, &e->plan->rows[i].per_call, (int)tier) > 0))
            continue;
        const char *group =
            gl_arena_printf(e->arena, "%s over %s", gl_traffic_dimension_name(r->dimension),
                            gl_placement_text(&r->placement, e->arena));
        if (strstr(text, group) == NULL)
            text = gl_arena_append(e->arena, text, "; ", group);
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
                                   gl_explain__bytes(e, d.bytes_per_step), d.tensors);
    }
    return text;
}

/* "3 rate: 1.2 TB a step x 0.5 steps/s = … 4 headroom: …" */
static const char *rate_text(const gl_explainer *e, const gl_demand *d, double alone_s)
{
    const char *bytes = gl_explain__bytes(e, d->bytes_per_step);
    if (isnan(alone_s))
        return gl_arena_printf(e->arena, "3 rate: %s a step, whose time is not known", bytes);
    return gl_arena_printf(e->arena,
                           "3 rate: %s a step x %.4g steps/s = %s. 4 headroom: x %.4g = %s", bytes,
                           1 / alone_s, gl_explain__rate(e, d->bytes_per_step / alone_s),
                           e->plan->options.headroom, gl_explain__rate(e, d->alone_bytes_per_s));
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
                                        gl_explain__bytes(e, d.bytes_per_step),
                                        gl_explain__seconds(e, alone_s)),
                        evidence, "traffic.*"});
    if (d.bytes_per_step > 0)
        gl_explain__note(e, gl_arena_printf(e->arena, "1 layout: %s. 2 tensors: %s. %s",
                                            groups_text(e, tier), tensors_text(e, tier),
                                            rate_text(e, &d, alone_s)));
    gl_explain__add(
        e, "demand_planned_bytes_per_s", gl_real(d.planned_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){"headroom · bytes of a step / step.time_s",
                        gl_arena_printf(e->arena, "%.4g · %s / %s", plan->options.headroom,
                                        gl_explain__bytes(e, d.bytes_per_step),
                                        gl_explain__seconds(e, plan->step.time_s)),
                        gl_evidence_name(plan->step.evidence), "traffic.*"});
}

static void add_tier(gl_explainer *e, const gl_bandwidth_need *need, const char *evidence)
{
    double seconds_of_tier = need->bytes_per_step_per_gpu / need->available_bytes_per_s;
    double slower = need->headroom * need->available_bytes_per_s / need->required_bytes_per_s;
    const char *required = gl_explain__rate(e, need->required_bytes_per_s);
    const char *available = gl_explain__rate(e, need->available_bytes_per_s);
    gl_explain__add(
        e, "bytes_per_step_per_gpu", gl_real(need->bytes_per_step_per_gpu), GL_BYTES,
        (gl_figure_how){need->tier == GL_TIER_INTRA_NODE
                            ? "Σ rows: bytes on the wire of a rank · calls (all-to-all: to the "
                              "ranks on its node, and what is handed to other rails' GPUs)"
                            : "Σ rows that leave the node: bytes on the wire of a rank · calls / "
                              "ranks of the group on a node (all-to-all: to the ranks elsewhere)",
                        tier_rows_text(e, need->tier), NULL, "traffic.*"});
    gl_explain__add(
        e, "available_bytes_per_s", gl_real(need->available_bytes_per_s), GL_BYTES_PER_S,
        (gl_figure_how){"bytes of a step / time of this tier alone, the other "
                        "one free",
                        gl_arena_printf(e->arena, "%s / %s",
                                        gl_explain__bytes(e, need->bytes_per_step_per_gpu),
                                        gl_explain__seconds(e, seconds_of_tier)),
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
