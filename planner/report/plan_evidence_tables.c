/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the figures rest on: network, links, compute, uncertainty; sensitivity and break_even. */
#include "planner/report/measuring.h"
#include "planner/report/option_tables.h"
#include "planner/report/plan_parts.h"

#define NETWORK(X)                                                                                 \
    X("curve", "Curve", GL_NUMBER, GL_FOR_ALL, gl_integer(curve->id))                              \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(curve->collective)))                                              \
    X("group", "Ranks", GL_NUMBER, GL_FOR_PEOPLE,                                                  \
      gl_text(gl_plan_short_placement(&curve->placement, c->arena)))                               \
    X("ranks", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(curve->placement.ranks))               \
    X("nodes", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(curve->placement.nodes))               \
    X("ranks_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES,                                          \
      gl_integer(curve->placement.ranks_per_node))                                                 \
    X("concurrent_groups", NULL, GL_NUMBER, GL_FOR_MACHINES,                                       \
      gl_integer(curve->placement.concurrent_groups))                                              \
    X("transport", "Transport", GL_NUMBER, GL_FOR_ALL,                                             \
      gl_text(gl_transport_name(curve->transport)))                                                \
    X("place", "Place", GL_NUMBER, GL_FOR_PEOPLE, gl_text(curve->in_place ? "in" : "out"))         \
    X("in_place", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_boolean(curve->in_place))                   \
    X("points", "Points", GL_NUMBER, GL_FOR_ALL, gl_integer((int64_t)quality->points))             \
    X("smallest_size_bytes", "From", GL_BYTES, GL_FOR_ALL, gl_real(fit->size_bytes[0]))            \
    X("largest_size_bytes", "To", GL_BYTES, GL_FOR_ALL,                                            \
      gl_real(fit->size_bytes[quality->points - 1]))                                               \
    X("method", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_interpolation_name(quality->method))) \
    X("loo_median_frac", "Error", GL_FRACTION, GL_FOR_ALL, gl_real(quality->loo_median_frac))      \
    X("loo_p90_frac", "P90", GL_FRACTION, GL_FOR_ALL, gl_real(quality->loo_p90_frac))              \
    X("noise_frac", NULL, GL_FRACTION, GL_FOR_MACHINES, gl_real(quality->noise_frac))              \
    X("floor_s", "Floor", GL_SECONDS, GL_FOR_ALL, gl_real(quality->floor_s))                       \
    X("plateau_busbw_bytes_per_s", "Plateau", GL_BYTES_PER_S, GL_FOR_ALL,                          \
      gl_real(quality->plateau_busbw_bytes_per_s))                                                 \
    X("half_size_bytes", "Half at", GL_BYTES, GL_FOR_MACHINES, gl_real(quality->half_size_bytes))

/* Only curves of collectives that the plan uses: the others say nothing about it. */
static bool is_used(const gl_plan *plan, gl_collective collective)
{
    for (size_t i = 0; i < plan->traffic.row_count; i++)
        if (plan->rows[i].traffic->collective == collective)
            return true;
    return false;
}

gl_table *gl_plan_network_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {NETWORK(AS_COLUMN)};
    gl_table *table =
        gl_table_create(c->arena, "network", "Measured curves (error: each point left out in turn)",
                        columns, COUNT(columns));
    size_t count = 0;
    const gl_curve_fit *fits =
        c->plan->network != NULL ? gl_network_fits(c->plan->network, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        const gl_curve_fit *fit = &fits[i];
        const gl_curve *curve = fit->curve;
        const gl_curve_quality *quality = &fit->quality;
        if (!is_used(c->plan, curve->collective))
            continue;
        gl_cell *cell = gl_table_add_row(table);
        NETWORK(AS_CELL)
    }
    return table;
}

#define LINKS(X)                                                                                   \
    X("tier", "Tier", GL_NUMBER, GL_FOR_ALL, gl_text(gl_tier_name((gl_tier_kind)i)))               \
    X("link", "Link", GL_NUMBER, GL_FOR_ALL, gl_text(link->name))                                  \
    X("transport", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_transport_name(link->transport)))  \
    X("bw_bytes_per_s", "Nominal", GL_BYTES_PER_S, GL_FOR_ALL,                                     \
      gl_real(link->bw_bytes_per_s.value))                                                         \
    X("efficiency_low", "Reached: low", GL_FRACTION, GL_FOR_ALL, gl_real(link->efficiency.low))    \
    X("efficiency", "typical", GL_FRACTION, GL_FOR_ALL, gl_real(link->efficiency.value))           \
    X("efficiency_high", "high", GL_FRACTION, GL_FOR_ALL, gl_real(link->efficiency.high))          \
    X("base_latency_s", "Latency", GL_SECONDS, GL_FOR_ALL, gl_real(link->base_latency_s.value))    \
    X("calibration", "Measured by", GL_NUMBER, GL_FOR_ALL, gl_text(tier->calibration))             \
    X("source", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(link->efficiency.source))

gl_table *gl_plan_links_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {LINKS(AS_COLUMN)};
    const gl_tier *tiers[GL_TIER_COUNT] = {&c->plan->cluster->intra, &c->plan->cluster->inter};
    gl_table *table = gl_table_create(c->arena, "links", "Links as the catalogue has them", columns,
                                      COUNT(columns));
    for (size_t i = 0; i < GL_TIER_COUNT; i++) {
        const gl_tier *tier = tiers[i];
        const gl_link *all[] = {tier->link, i == 0 ? c->plan->cluster->outside : NULL};
        for (size_t k = 0; k < COUNT(all); k++) {
            const gl_link *link = all[k];
            if (link == NULL || c->plan->needs[i].verdict == GL_VERDICT_NOT_USED)
                continue;
            gl_cell *cell = gl_table_add_row(table);
            LINKS(AS_CELL)
        }
    }
    return table;
}

#define COMPUTE(X)                                                                                 \
    X("block", "Block", GL_NUMBER, GL_FOR_ALL, gl_text(gl_block_kind_name(op->block)))             \
    X("operator", "Operator", GL_NUMBER, GL_FOR_ALL, gl_text(op->name))                            \
    X("forward_flop", "FLOP fwd", GL_NUMBER, GL_FOR_ALL, gl_real(op->forward_flop))                \
    X("backward_flop", "bwd", GL_NUMBER, GL_FOR_ALL, gl_real(op->backward_flop))                   \
    X("forward_bytes", NULL, GL_BYTES, GL_FOR_MACHINES, gl_real(op->forward_bytes))                \
    X("backward_bytes", NULL, GL_BYTES, GL_FOR_MACHINES, gl_real(op->backward_bytes))              \
    X("forward_s", "Time fwd", GL_SECONDS, GL_FOR_ALL, gl_real(op->forward_s))                     \
    X("backward_s", "bwd", GL_SECONDS, GL_FOR_ALL, gl_real(op->backward_s))                        \
    X("kernels", "Kernels", GL_NUMBER, GL_FOR_ALL, gl_integer(op->kernels))

gl_table *gl_plan_compute_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {COMPUTE(AS_COLUMN)};
    gl_table *table =
        gl_table_create(c->arena, "compute", "Compute of one block and microbatch on one rank",
                        columns, COUNT(columns));
    for (size_t i = 0; i < c->plan->compute.operator_count; i++) {
        const gl_operator *op = &c->plan->compute.operators[i];
        gl_cell *cell = gl_table_add_row(table);
        COMPUTE(AS_CELL)
    }
    return table;
}

/* ---- uncertainty ---- */

/* The command that measures a source; "" when none would help. */
static const char *measuring_command(const gl_plan_context *c, const gl_error_source *source)
{
    return source->measurable ? gl_measuring_command(source, c->arena) : "";
}

#define UNCERTAINTY(X)                                                                             \
    X("rank", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer((int64_t)i + 1))                        \
    X("kind", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_error_kind_name(source->kind)))         \
    X("source", "Source of error", GL_NUMBER, GL_FOR_ALL, gl_text(source->name))                   \
    X("evidence", "Evidence", GL_NUMBER, GL_FOR_ALL, gl_text(gl_evidence_name(source->evidence)))  \
    X("faster_sigma_frac", NULL, GL_FRACTION, GL_FOR_MACHINES, gl_real(source->faster_sigma))      \
    X("slower_sigma_frac", "Sigma", GL_FRACTION, GL_FOR_ALL, gl_real(source->slower_sigma))        \
    X("p10_change_s", "Step at P10", GL_SECONDS, GL_FOR_ALL, gl_real(source->p10_change_s))        \
    X("p90_change_s", "At P90", GL_SECONDS, GL_FOR_ALL, gl_real(source->p90_change_s))             \
    X("variance_share_frac", "Share", GL_FRACTION, GL_FOR_ALL, gl_real(source->variance_share))    \
    X("measure", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(measuring_command(c, source)))

gl_table *gl_plan_uncertainty_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {UNCERTAINTY(AS_COLUMN)};
    const gl_uncertainty *u = &c->plan->uncertainty;
    gl_table *table = gl_table_create(c->arena, "uncertainty",
                                      "Uncertainty: what the interval of the step comes from",
                                      columns, COUNT(columns));
    for (size_t i = 0; i < u->source_count; i++) {
        const gl_error_source *source = &u->sources[i];
        gl_cell *cell = gl_table_add_row(table);
        UNCERTAINTY(AS_CELL)
    }
    return table;
}

/* ---- what else there could be ---- */

static const double KEEPS_STEP_FRAC = 0.05;

/* Like the break-evens, built only when asked for: each row is a plan of its own. */
gl_table *gl_plan_sensitivity_table(const gl_plan_context *c)
{
    const gl_plan *plan = c->plan;
    const gl_setup setup = {plan->workload, plan->cluster};
    gl_sensitivity *rows = GL_ARENA_NEW(c->arena, gl_sensitivity, GL_KNOB_COUNT);
    size_t count = plan->compute.known
                       ? gl_sensitivity_build(&setup, plan->step.time_s, &plan->options, rows)
                       : 0;
    return gl_sensitivity_table(rows, count, plan->step.time_s, c->arena);
}

gl_table *gl_plan_break_even_table(const gl_plan_context *c)
{
    const gl_plan *plan = c->plan;
    const gl_setup setup = {plan->workload, plan->cluster};
    gl_break_even *rows = GL_ARENA_NEW(c->arena, gl_break_even, GL_KNOB_COUNT);
    size_t count = 0;
    for (int k = 0; k < GL_KNOB_COMPRESSION && plan->compute.known; k++)
        count += gl_break_even_find((gl_knob)k, &setup, &setup, KEEPS_STEP_FRAC, &plan->options,
                                    &rows[count]);
    return gl_spare_table(rows, count, c->arena);
}
