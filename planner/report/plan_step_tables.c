/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a step moves, takes and needs: traffic, step, required_bandwidth, demand, memory. */
#include "planner/core/demand.h"
#include "planner/report/plan_parts.h"

#include <math.h>

static double payload_bytes(const gl_traffic_row *traffic)
{
    return (double)traffic->size_bytes * (double)traffic->calls_per_step;
}

static double wire_bytes(const gl_traffic_row *traffic)
{
    return gl_traffic_wire_bytes(traffic) * (double)traffic->calls_per_step;
}

/* "opt": people have 100 columns. */
static const char *short_dimension(gl_traffic_dimension dimension)
{
    if (dimension == GL_TRAFFIC_EMBEDDING)
        return "emb";
    return dimension == GL_TRAFFIC_OPTIMIZER ? "opt" : gl_traffic_dimension_name(dimension);
}

static const char *short_evidence(gl_evidence evidence)
{
    switch (evidence) {
    case GL_EVIDENCE_EXTRAPOLATED_SIZE:
        return "extrap-size";
    case GL_EVIDENCE_EXTRAPOLATED_RANKS:
        return "extrap-ranks";
    default:
        return gl_evidence_name(evidence);
    }
}

/* "fwd" */
static const char *short_phase(gl_phase phase)
{
    static const char *const names[GL_PHASE_COUNT] = {"fwd", "bwd", "opt"};
    return names[phase];
}

/* "8" in a node, "16/2" on two nodes. */
const char *gl_plan_short_placement(const gl_placement *placement, gl_arena *arena)
{
    if (placement->nodes <= 1)
        return gl_arena_printf(arena, "%d", placement->ranks);
    return gl_arena_printf(arena, "%d/%d", placement->ranks, placement->nodes);
}

#define TRAFFIC(X)                                                                                 \
    X("line", "#", GL_NUMBER, GL_FOR_PEOPLE, gl_integer((int64_t)index + 1))                       \
    X("dimension", NULL, GL_NUMBER, GL_FOR_MACHINES,                                               \
      gl_text(gl_traffic_dimension_name(traffic->dimension)))                                      \
    X("for", "For", GL_NUMBER, GL_FOR_PEOPLE, gl_text(short_dimension(traffic->dimension)))        \
    X("operation", "Operation", GL_NUMBER, GL_FOR_ALL, gl_text(traffic->operation))                \
    X("phase", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_phase_name(traffic->phase)))           \
    X("when", "In", GL_NUMBER, GL_FOR_PEOPLE, gl_text(short_phase(traffic->phase)))                \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(traffic->collective)))                                            \
    X("group", "Ranks", GL_NUMBER, GL_FOR_PEOPLE,                                                  \
      gl_text(gl_plan_short_placement(placement, c->arena)))                                       \
    X("group_ranks", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(placement->ranks))               \
    X("nodes", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(placement->nodes))                     \
    X("ranks_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(placement->ranks_per_node))   \
    X("concurrent_groups", NULL, GL_NUMBER, GL_FOR_MACHINES,                                       \
      gl_integer(placement->concurrent_groups))                                                    \
    X("size_bytes", "Size", GL_BYTES, GL_FOR_ALL, gl_integer(traffic->size_bytes))                 \
    X("calls_per_step", "Calls", GL_NUMBER, GL_FOR_ALL, gl_integer(traffic->calls_per_step))       \
    X("payload_bytes_per_step", NULL, GL_BYTES, GL_FOR_MACHINES, gl_real(payload_bytes(traffic)))  \
    X("wire_bytes_per_rank_per_step", NULL, GL_BYTES, GL_FOR_MACHINES,                             \
      gl_real(wire_bytes(traffic)))                                                                \
    X("time_per_call_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(call->time_s))                 \
    X("time_s", "Time", GL_SECONDS, GL_FOR_ALL, gl_real(row->time_s))                              \
    X("exposed_s", "Exposed", GL_SECONDS, GL_FOR_ALL, gl_real(row->exposed_s))                     \
    X("busbw_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                                  \
      gl_real(call->busbw_bytes_per_s))                                                            \
    X("required_busbw_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                         \
      gl_real(row->required_busbw_bytes_per_s))                                                    \
    X("algorithm", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(call->algorithm))                     \
    X("transport", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_transport_name(call->transport)))  \
    X("evidence", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_evidence_name(call->evidence)))     \
    X("how_known", "Evidence", GL_NUMBER, GL_FOR_PEOPLE, gl_text(short_evidence(call->evidence)))

gl_table *gl_plan_traffic_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {TRAFFIC(AS_COLUMN)};
    gl_table *table = gl_table_create(c->arena, "traffic", "Traffic of one rank in one step",
                                      columns, COUNT(columns));
    for (size_t index = 0; index < c->plan->traffic.row_count; index++) {
        const gl_timed_row *row = &c->plan->rows[index];
        const gl_traffic_row *traffic = row->traffic;
        const gl_placement *placement = &traffic->placement;
        const gl_network_time *call = &row->per_call;
        gl_cell *cell = gl_table_add_row(table);
        TRAFFIC(AS_CELL)
    }
    return table;
}

/* ---- step, bandwidth, memory ---- */

#define STEP(X)                                                                                    \
    X("time_s", "Step time", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_s))                        \
    X("time_p10_s", "  P10", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_p10_s))                    \
    X("time_p50_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(step->time_p50_s))                  \
    X("time_p90_s", "  P90", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_p90_s))                    \
    X("compute_s", "Compute", GL_SECONDS, GL_FOR_ALL, gl_real(step->compute_s))                    \
    X("overlap_tax_s", "Slowed by hidden communication", GL_SECONDS, GL_FOR_ALL,                   \
      gl_real(step->overlap_tax_s))                                                                \
    X("communication_s", "Communication", GL_SECONDS, GL_FOR_ALL, gl_real(step->communication_s))  \
    X("exposed_communication_s", "  exposed in the step", GL_SECONDS, GL_FOR_ALL,                  \
      gl_real(step->exposed_communication_s))                                                      \
    X("communication_cost_frac", "  costs of the step", GL_FRACTION, GL_FOR_ALL,                   \
      gl_real(step->communication_cost_frac))                                                      \
    X("bubble_s", "Pipeline bubble", GL_SECONDS, GL_FOR_ALL, gl_real(step->bubble_s))              \
    X("optimizer_s", "Optimizer", GL_SECONDS, GL_FOR_ALL, gl_real(step->optimizer_s))              \
    X("mfu", "MFU", GL_FRACTION, GL_FOR_ALL, gl_real(step->mfu_frac))                              \
    X("tokens_per_s", "Tokens per second", GL_NUMBER, GL_FOR_ALL, gl_real(step->tokens_per_s))     \
    X("tokens_per_s_per_gpu", "Tokens per second and GPU", GL_NUMBER, GL_FOR_ALL,                  \
      gl_real(step->tokens_per_s_per_gpu))                                                         \
    X("network_evidence", "Evidence of the network", GL_NUMBER, GL_FOR_ALL,                        \
      gl_text(gl_evidence_name(step->network_evidence)))                                           \
    X("compute_evidence", "Evidence of the compute", GL_NUMBER, GL_FOR_ALL,                        \
      gl_text(gl_evidence_name(c->plan->compute.evidence)))                                        \
    X("evidence", "Evidence of the step", GL_NUMBER, GL_FOR_ALL,                                   \
      gl_text(gl_evidence_name(step->evidence)))

gl_table *gl_plan_step_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {STEP(AS_COLUMN)};
    const gl_step *step = &c->plan->step;
    gl_table *table = gl_table_create(c->arena, "step", "Step", columns, COUNT(columns));
    table->record = true;
    gl_cell *cell = gl_table_add_row(table);
    STEP(AS_CELL)
    return table;
}

#define BANDWIDTH(X)                                                                               \
    X("tier", "Tier", GL_NUMBER, GL_FOR_ALL, gl_text(gl_tier_name(need->tier)))                    \
    X("bytes_per_step_per_gpu", "Per step and GPU", GL_BYTES, GL_FOR_ALL,                          \
      gl_real(need->bytes_per_step_per_gpu))                                                       \
    X("required_bytes_per_s", "Required", GL_BYTES_PER_S, GL_FOR_ALL,                              \
      gl_real(need->required_bytes_per_s))                                                         \
    X("available_bytes_per_s", "Available", GL_BYTES_PER_S, GL_FOR_ALL,                            \
      gl_real(need->available_bytes_per_s))                                                        \
    X("demand_alone_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                           \
      gl_real(demand.alone_bytes_per_s))                                                           \
    X("demand_planned_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                         \
      gl_real(demand.planned_bytes_per_s))                                                         \
    X("headroom", "Headroom", GL_NUMBER, GL_FOR_ALL, gl_real(need->headroom))                      \
    X("verdict", "Verdict", GL_NUMBER, GL_FOR_ALL, gl_text(gl_verdict_name(need->verdict)))        \
    X("evidence", "Evidence", GL_NUMBER, GL_FOR_ALL, gl_text(gl_evidence_name(need->evidence)))

gl_table *gl_plan_required_bandwidth_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {BANDWIDTH(AS_COLUMN)};
    gl_table *table = gl_table_create(c->arena, "required_bandwidth",
                                      "Bandwidth per GPU and direction", columns, COUNT(columns));
    for (size_t tier = 0; tier < GL_TIER_COUNT; tier++) {
        const gl_bandwidth_need *need = &c->plan->needs[tier];
        const gl_demand demand =
            gl_demand_of(c->plan, (gl_tier_kind)tier, GL_TRAFFIC_DIMENSION_COUNT, c->arena);
        gl_cell *cell = gl_table_add_row(table);
        BANDWIDTH(AS_CELL)
    }
    return table;
}

#define DEMAND(X)                                                                                  \
    X("tier", "Tier", GL_NUMBER, GL_FOR_ALL, gl_text(gl_tier_name(d.tier)))                        \
    X("dimension", "For", GL_NUMBER, GL_FOR_ALL, gl_text(gl_traffic_dimension_name(d.dimension)))  \
    X("tensors", "What moves", GL_NUMBER, GL_FOR_ALL, gl_text(d.tensors))                          \
    X("bytes_per_step_per_gpu", "Per step and GPU", GL_BYTES, GL_FOR_ALL,                          \
      gl_real(d.bytes_per_step))                                                                   \
    X("alone_bytes_per_s", "If nothing waits", GL_BYTES_PER_S, GL_FOR_ALL,                         \
      gl_real(d.alone_bytes_per_s))                                                                \
    X("planned_bytes_per_s", "As planned", GL_BYTES_PER_S, GL_FOR_ALL,                             \
      gl_real(d.planned_bytes_per_s))                                                              \
    X("time_s", "Time", GL_SECONDS, GL_FOR_ALL, gl_real(d.time_s))                                 \
    X("exposed_s", "Exposed", GL_SECONDS, GL_FOR_ALL, gl_real(d.exposed_s))

gl_table *gl_plan_demand_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {DEMAND(AS_COLUMN)};
    gl_table *table = gl_table_create(
        c->arena, "demand", "What the job asks of each tier: bytes x step rate, with headroom",
        columns, COUNT(columns));
    for (int tier = 0; tier < GL_TIER_COUNT; tier++)
        for (int i = 0; i < GL_TRAFFIC_DIMENSION_COUNT; i++) {
            const gl_demand d =
                gl_demand_of(c->plan, (gl_tier_kind)tier, (gl_traffic_dimension)i, c->arena);
            if (!(d.bytes_per_step > 0))
                continue;
            gl_cell *cell = gl_table_add_row(table);
            DEMAND(AS_CELL)
        }
    return table;
}

/* Without an architecture neither is known. */
static double logits_bytes(const gl_memory *memory)
{
    return isnan(memory->activations_bytes) ? (double)NAN : memory->logits_bytes;
}

static double other_bytes(const gl_memory *memory)
{
    return memory->logits_bytes + memory->buffers_bytes + memory->reserve_bytes;
}

#define MEMORY(X)                                                                                  \
    X("stage", "Pipeline stage", GL_NUMBER, GL_FOR_ALL, gl_integer(c->plan->memory_stage))         \
    GIB_COLUMN(X, "per_gpu_bytes", "Needed", memory->total_bytes)                                  \
    GIB_COLUMN(X, "capacity_bytes", "Capacity", memory->capacity_bytes)                            \
    X("fits", "Fits", GL_NUMBER, GL_FOR_ALL, gl_plan_fits_cell(memory))                            \
    GIB_COLUMN(X, "parameters_bytes", "Parameters", memory->parameters_bytes)                      \
    GIB_COLUMN(X, "gradients_bytes", "Gradients", memory->gradients_bytes)                         \
    GIB_COLUMN(X, "optimizer_bytes", "Optimizer", memory->optimizer_bytes)                         \
    GIB_COLUMN(X, "activations_bytes", "Activations", memory->activations_bytes)                   \
    X("in_flight", "  microbatches in flight", GL_NUMBER, GL_FOR_ALL,                              \
      gl_integer(memory->in_flight))                                                               \
    GIB_COLUMN(X, "other_bytes", "Other", other_bytes(memory))                                     \
    GIB_COLUMN(X, "logits_bytes", "  logits", logits_bytes(memory))                                \
    GIB_COLUMN(X, "buffers_bytes", "  buffers", memory->buffers_bytes)                             \
    GIB_COLUMN(X, "library_bytes", "    of them libraries", memory->library_bytes)                 \
    GIB_COLUMN(X, "reserve_bytes", "  reserve", memory->reserve_bytes)                             \
    GIB_COLUMN(X, "not_together_bytes", "Not at the same time", memory->not_together_bytes)

/* Whether it fits is unknown, not true, when the capacity is, and when all that is known is a lower
 * bound below it. */
gl_cell gl_plan_fits_cell(const gl_memory *memory)
{
    return memory->fits_known ? gl_boolean(memory->fits) : (gl_cell){.type = GL_CELL_EMPTY};
}

gl_table *gl_plan_memory_table(const gl_plan_context *c)
{
    static const gl_column columns[] = {MEMORY(AS_COLUMN)};
    const gl_memory *memory = &c->plan->memory;
    gl_table *table = gl_table_create(c->arena, "memory", "Memory of one GPU of the fullest stage",
                                      columns, COUNT(columns));
    table->record = true;
    gl_cell *cell = gl_table_add_row(table);
    MEMORY(AS_CELL)
    return table;
}
