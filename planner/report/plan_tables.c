/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/plan_tables.h"
#include "common/text.h"
#include "planner/core/demand.h"
#include "planner/input/fields.h"
#include "planner/report/charts.h"
#include "planner/report/cost_tables.h"
#include "planner/report/headline.h"
#include "planner/report/measuring.h"
#include "planner/report/option_tables.h"

#include <math.h>
#include <string.h>

/*
 * One list per table: name for machines, heading for people, dimension, audience, and the cell. The
 * list is expanded twice, so that a column and its cell can not come apart.
 */
#define AS_COLUMN(name, heading, dimension, audience, value) {name, heading, dimension, audience},
#define AS_CELL(name, heading, dimension, audience, value)   *cell++ = (value);
#define COUNT(array)                                         (sizeof(array) / sizeof((array)[0]))

/* What is needed to fill a row. */
typedef struct context {
    const gl_plan *plan;
    const gl_plan_view *view;
    gl_arena *arena;
} context;

const char *gl_placement_text(const gl_placement *placement, gl_arena *arena)
{
    if (placement->nodes <= 1)
        return gl_arena_printf(arena, "%d ranks", placement->ranks);
    return gl_arena_printf(arena, "%d ranks on %d nodes", placement->ranks, placement->nodes);
}

const char *gl_block_kind_name(gl_block_kind kind)
{
    static const char *const names[GL_BLOCK_KIND_COUNT] = {
        [GL_BLOCK_EMBEDDING] = "embedding",
        [GL_BLOCK_DENSE] = "dense layer",
        [GL_BLOCK_MOE] = "MoE layer",
        [GL_BLOCK_HEAD] = "head",
    };
    return names[kind];
}

bool gl_plan_meets_target(const gl_plan *plan)
{
    return plan->step.communication_cost_frac <= plan->workload->target_exposed_frac;
}

double gl_plan_exposed_frac(const gl_plan *plan)
{
    return plan->step.exposed_communication_s / plan->step.time_s;
}

/* ── echoes of the input ─────────────────────────────────────────────────────────────────────── */

/* Keys end in their unit, as all names for machines do. */
static const char *unit_suffix(const gl_field *field)
{
    if (field->type != GL_FIELD_REAL)
        return "";
    switch (field->dimension) {
    case GL_BYTES:
        return "_bytes";
    case GL_BYTES_PER_S:
        return "_bytes_per_s";
    case GL_SECONDS:
        return "_s";
    case GL_FRACTION:
        return "_frac";
    default:
        return "";
    }
}

/* "model.attention.q_lora" → "attention_q_lora" when `section` is "model". */
static const char *field_key(const gl_field *field, size_t skip, gl_arena *arena)
{
    char *key = gl_arena_printf(arena, "%s%s", field->path + skip, unit_suffix(field));
    for (char *c = key; *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
    return key;
}

static bool in_section(const gl_field *field, const char *section)
{
    size_t length = strlen(section);
    return strncmp(field->path, section, length) == 0 && field->path[length] == '.' &&
           field->type != GL_FIELD_SPECIAL;
}

typedef struct echo {
    gl_column *columns;
    gl_cell *cells;
    size_t count, column_capacity, cell_capacity;
    gl_arena *arena;
} echo;

static void echo_add(echo *list, const char *name, gl_cell cell)
{
    list->columns = gl_arena_grow(list->arena, list->columns, &list->column_capacity,
                                  list->count + 1, sizeof *list->columns);
    list->cells = gl_arena_grow(list->arena, list->cells, &list->cell_capacity, list->count + 1,
                                sizeof *list->cells);
    list->columns[list->count] = (gl_column){name, NULL, GL_NUMBER, GL_FOR_MACHINES};
    list->cells[list->count++] = cell;
}

/* Adds the fields of a section; `prefixed` keeps the section's name in the keys. */
static void echo_section(echo *list, const gl_workload *workload, const char *section,
                         bool prefixed)
{
    for (const gl_field *field = gl_model_fields; field->path != NULL; field++)
        if (in_section(field, section))
            echo_add(list, field_key(field, prefixed ? 0 : strlen(section) + 1, list->arena),
                     gl_field_cell(field, workload, list->arena));
}

static gl_table *echo_table(const echo *list, const char *name, const char *title)
{
    gl_table *table = gl_table_create(list->arena, name, title, list->columns, list->count);
    table->record = true;
    memcpy(gl_table_add_row(table), list->cells, list->count * sizeof *list->cells);
    return table;
}

/* What was counted, beside what was said. */
static gl_table *model_table(const context *c)
{
    const gl_parameters *parameters = &c->plan->parameters;
    echo list = {.arena = c->arena};
    echo_section(&list, c->plan->workload, "model", false);
    echo_add(&list, "parameters_counted", gl_integer(parameters->total));
    echo_add(&list, "parameters_active", gl_integer(parameters->active));
    echo_add(&list, "parameters_exact", gl_boolean(parameters->exact));
    return echo_table(&list, "model", "Model");
}

static gl_table *parallel_table(const context *c)
{
    echo list = {.arena = c->arena};
    echo_section(&list, c->plan->workload, "parallel", false);
    echo_add(&list, "ranks", gl_integer(gl_workload_ranks(c->plan->workload)));
    return echo_table(&list, "parallel", "Parallel layout");
}

static gl_table *training_table(const context *c)
{
    static const char *const sections[] = {"batch",  "precision", "buckets", "overlap",
                                           "target", "compute",   "training"};
    echo list = {.arena = c->arena};
    for (size_t i = 0; i < COUNT(sections); i++)
        echo_section(&list, c->plan->workload, sections[i], true);
    echo_add(&list, "microbatches", gl_integer(gl_workload_microbatches(c->plan->workload)));
    return echo_table(&list, "training", "Training");
}

static const char *link_name(const gl_tier *tier)
{
    return tier->link != NULL ? tier->link->name : NULL;
}

static const char *fabric_name(gl_fabric fabric)
{
    static const char *const names[] = {"fat-tree", "rail-optimised", "rail-only"};
    return names[fabric];
}

#define CLUSTER(X)                                                                                 \
    X("name", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(cluster->name))                            \
    X("gpu", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gpu != NULL ? gpu->name : NULL))            \
    X("nodes", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->nodes))                       \
    X("gpus_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->gpus_per_node))       \
    X("gpus", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(gpus))                                  \
    X("intra_node_link", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(link_name(&cluster->intra)))    \
    X("intra_node_calibration", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      gl_text(cluster->intra.calibration))                                                         \
    X("domain_gpus", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(gl_cluster_domain(cluster)))     \
    X("outside_link", NULL, GL_NUMBER, GL_FOR_MACHINES,                                            \
      gl_text(cluster->outside != NULL ? cluster->outside->name : NULL))                           \
    X("inter_node_link", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(link_name(&cluster->inter)))    \
    X("inter_node_calibration", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      gl_text(cluster->inter.calibration))                                                         \
    X("nics_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->nics_per_node))       \
    X("fabric", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                  \
      gl_text(cluster->nodes > 1 ? fabric_name(cluster->fabric) : NULL))                           \
    X("oversubscription", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(cluster->oversubscription))    \
    X("radix", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                   \
      cluster->radix > 0 ? gl_integer(cluster->radix) : (gl_cell){.type = GL_CELL_EMPTY})          \
    X("in_network_reduction", NULL, GL_NUMBER, GL_FOR_MACHINES,                                    \
      gl_boolean(cluster->in_network_reduction))                                                   \
    X("sites", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(several ? sites->count : 1))           \
    X("site_bw_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                                \
      gl_real(several ? sites->bw_bytes_per_s : (double)NAN))                                      \
    X("site_latency_s", NULL, GL_SECONDS, GL_FOR_MACHINES,                                         \
      gl_real(several ? sites->latency_s : (double)NAN))

static gl_table *cluster_table(const context *c)
{
    static const gl_column columns[] = {CLUSTER(AS_COLUMN)};
    const gl_cluster *cluster = c->plan->cluster;
    const gl_gpu *gpu = cluster->gpu;
    const gl_sites *sites = &cluster->sites;
    bool several = sites->count > 1;
    int64_t gpus = (int64_t)cluster->nodes * cluster->gpus_per_node;
    gl_table *table = gl_table_create(c->arena, "cluster", "Cluster", columns, COUNT(columns));
    table->record = true;
    gl_cell *cell = gl_table_add_row(table);
    CLUSTER(AS_CELL)
    return table;
}

/* ── traffic ─────────────────────────────────────────────────────────────────────────────────── */

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
static const char *short_placement(const gl_placement *placement, gl_arena *arena)
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
    X("group", "Ranks", GL_NUMBER, GL_FOR_PEOPLE, gl_text(short_placement(placement, c->arena)))   \
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

static gl_table *traffic_table(const context *c)
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

/* ── step, bandwidth, memory ─────────────────────────────────────────────────────────────────── */

#define STEP(X)                                                                                    \
    X("time_s", "Step time", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_s))                        \
    X("time_p10_s", "  P10", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_p10_s))                    \
    X("time_p50_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(step->time_p50_s))                  \
    X("time_p90_s", "  P90", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_p90_s))                    \
    X("compute_s", "Compute", GL_SECONDS, GL_FOR_ALL, gl_real(step->compute_s))                    \
    X("overlap_tax_s", "Slowed by hidden communication", GL_SECONDS, GL_FOR_ALL,                   \
      gl_real(step->overlap_tax_s))                                                                \
    X("communication_s", "Communication", GL_SECONDS, GL_FOR_ALL, gl_real(step->communication_s))  \
    X("exposed_communication_s", "  of it exposed", GL_SECONDS, GL_FOR_ALL,                        \
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

static gl_table *step_table(const context *c)
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

static gl_table *required_bandwidth_table(const context *c)
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

static gl_table *demand_table(const context *c)
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

#define MEMORY_BYTES(X, name, heading, value)                                                      \
    X(name, heading, GL_BYTES, GL_FOR_ALL | GL_AS_GIB, gl_real(value))
#define MEMORY(X)                                                                                  \
    X("stage", "Pipeline stage", GL_NUMBER, GL_FOR_ALL, gl_integer(c->plan->memory_stage))         \
    MEMORY_BYTES(X, "per_gpu_bytes", "Needed", memory->total_bytes)                                \
    MEMORY_BYTES(X, "capacity_bytes", "Capacity", memory->capacity_bytes)                          \
    X("fits", "Fits", GL_NUMBER, GL_FOR_ALL, fits_cell(memory))                                    \
    MEMORY_BYTES(X, "parameters_bytes", "Parameters", memory->parameters_bytes)                    \
    MEMORY_BYTES(X, "gradients_bytes", "Gradients", memory->gradients_bytes)                       \
    MEMORY_BYTES(X, "optimizer_bytes", "Optimizer", memory->optimizer_bytes)                       \
    MEMORY_BYTES(X, "activations_bytes", "Activations", memory->activations_bytes)                 \
    X("in_flight", "  microbatches in flight", GL_NUMBER, GL_FOR_ALL,                              \
      gl_integer(memory->in_flight))                                                               \
    MEMORY_BYTES(X, "other_bytes", "Other", other_bytes(memory))                                   \
    MEMORY_BYTES(X, "logits_bytes", "  logits", logits_bytes(memory))                              \
    MEMORY_BYTES(X, "buffers_bytes", "  buffers", memory->buffers_bytes)                           \
    MEMORY_BYTES(X, "library_bytes", "    of them libraries", memory->library_bytes)               \
    MEMORY_BYTES(X, "reserve_bytes", "  reserve", memory->reserve_bytes)                           \
    MEMORY_BYTES(X, "not_together_bytes", "Not at the same time", memory->not_together_bytes)

/* Whether it fits is unknown, not true, when the capacity is, and when all that is known is a lower
 * bound below it. */
static gl_cell fits_cell(const gl_memory *memory)
{
    return memory->fits_known ? gl_boolean(memory->fits) : (gl_cell){.type = GL_CELL_EMPTY};
}

static gl_table *memory_table(const context *c)
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

/* ── evidence ────────────────────────────────────────────────────────────────────────────────── */

#define NETWORK(X)                                                                                 \
    X("curve", "Curve", GL_NUMBER, GL_FOR_ALL, gl_integer(curve->id))                              \
    X("collective", "Collective", GL_NUMBER, GL_FOR_ALL,                                           \
      gl_text(gl_collective_name(curve->collective)))                                              \
    X("group", "Ranks", GL_NUMBER, GL_FOR_PEOPLE,                                                  \
      gl_text(short_placement(&curve->placement, c->arena)))                                       \
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

static gl_table *network_table(const context *c)
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

static gl_table *links_table(const context *c)
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

static gl_table *compute_table(const context *c)
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

/* ── uncertainty ─────────────────────────────────────────────────────────────────────────────── */

/* The command that measures a source; "" when none would help. */
static const char *measuring_command(const context *c, const gl_error_source *source)
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

static gl_table *uncertainty_table(const context *c)
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

/* ── summary ─────────────────────────────────────────────────────────────────────────────────── */

#define SUMMARY(X)                                                                                 \
    X("cluster", "Cluster", GL_NUMBER, GL_FOR_ALL, gl_text(c->plan->cluster->name))                \
    X("gpus", "GPUs", GL_NUMBER, GL_FOR_ALL, gl_integer(gl_workload_ranks(c->plan->workload)))     \
    X("step_time_s", "Step", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_s))                        \
    X("half_width_frac", "80 % ±", GL_FRACTION, GL_FOR_PEOPLE,                                     \
      gl_real((step->time_p90_s - step->time_p10_s) / 2 / step->time_s))                           \
    X("step_time_p10_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(step->time_p10_s))             \
    X("step_time_p90_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(step->time_p90_s))             \
    X("exposed_frac", NULL, GL_FRACTION, GL_FOR_MACHINES, gl_real(gl_plan_exposed_frac(c->plan)))  \
    X("communication_cost_frac", "Costs", GL_FRACTION, GL_FOR_ALL,                                 \
      gl_real(c->plan->step.communication_cost_frac))                                              \
    X("mfu", "MFU", GL_FRACTION, GL_FOR_ALL, gl_real(step->mfu_frac))                              \
    X("tokens_per_s", "Tokens/s", GL_NUMBER, GL_FOR_ALL, gl_real(step->tokens_per_s))              \
    MEMORY_BYTES(X, "memory_per_gpu_bytes", "Memory", memory->total_bytes)                         \
    X("memory_fits", "Fits", GL_NUMBER, GL_FOR_ALL, fits_cell(memory))                             \
    X("intra_node_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      gl_text(gl_verdict_name(needs[GL_TIER_INTRA_NODE].verdict)))                                 \
    X("inter_node_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      gl_text(gl_verdict_name(needs[GL_TIER_INTER_NODE].verdict)))                                 \
    X("in_node", "In node", GL_NUMBER, GL_FOR_PEOPLE, short_verdict(&needs[GL_TIER_INTRA_NODE]))   \
    X("between", "Between", GL_NUMBER, GL_FOR_PEOPLE, short_verdict(&needs[GL_TIER_INTER_NODE]))   \
    X("capex", NULL, GL_NUMBER, GL_FOR_MACHINES | GL_AS_MONEY, gl_real(purchase))                  \
    X("per_million_tokens", NULL, GL_NUMBER, GL_FOR_MACHINES | GL_AS_MONEY, gl_real(tokens))       \
    X("evidence", "Evidence", GL_NUMBER, GL_FOR_ALL, gl_text(gl_evidence_name(step->evidence)))

/* One word, so that no row takes two lines. */
static const char UNUSED[] = "unused";

static gl_cell short_verdict(const gl_bandwidth_need *need)
{
    return gl_text(need->verdict == GL_VERDICT_NOT_USED ? UNUSED : gl_verdict_name(need->verdict));
}

static const gl_column summary_columns[] = {SUMMARY(AS_COLUMN)};

/* What people read above a swept column: "parallel.tp", and of several keys "tp", as long as that
 * tells them apart. They have 100 columns. */
static const char *swept_heading(const gl_plan_view *view, size_t index)
{
    const char *key = view->swept[index].key, *dot = strrchr(key, '.');
    if (view->swept_count < 2 || dot == NULL)
        return key;
    for (size_t i = 0; i < view->swept_count; i++) {
        const char *other = strrchr(view->swept[i].key, '.');
        if (i != index && other != NULL && strcmp(other, dot) == 0)
            return key;
    }
    return dot + 1;
}

/* A swept key as a column: "parallel.tp" is `parallel_tp`. */
static const gl_column *summary_columns_with(const gl_plan_view *view, gl_arena *arena)
{
    gl_column *columns = GL_ARENA_NEW(arena, gl_column, view->swept_count + COUNT(summary_columns));
    for (size_t i = 0; i < view->swept_count; i++) {
        char *name = gl_arena_strdup(arena, view->swept[i].key);
        for (char *letter = name; *letter != '\0'; letter++)
            if (*letter == '.')
                *letter = '_';
        columns[i] = (gl_column){name, gl_arena_strdup(arena, swept_heading(view, i)), GL_NUMBER,
                                 GL_FOR_ALL};
    }
    memcpy(columns + view->swept_count, summary_columns, sizeof summary_columns);
    return columns;
}

/* A swept value as what it is: spreadsheets and JSON readers want 4 and not "4". */
static gl_cell swept_cell(const char *value)
{
    long long integer;
    double real;
    if (gl_parse_integer(value, &integer, NULL))
        return gl_integer(integer);
    if (gl_parse_quantity(value, GL_NUMBER, &real, NULL))
        return gl_real(real);
    return gl_text(value);
}

static gl_table *summary_table(const context *c)
{
    const gl_step *step = &c->plan->step;
    const gl_memory *memory = &c->plan->memory;
    const gl_bandwidth_need *needs = c->plan->needs;
    const gl_plan_view *view = c->view;
    const gl_cost *cost = &c->plan->cost;
    double purchase = cost->cluster != NULL ? cost->typical.capex : (double)NAN;
    double tokens = cost->cluster != NULL ? cost->typical.per_million_tokens : (double)NAN;
    gl_table *table =
        gl_table_create(c->arena, "summary", "Summary", summary_columns_with(view, c->arena),
                        view->swept_count + COUNT(summary_columns));
    gl_cell *cell = gl_table_add_row(table);
    for (size_t i = 0; i < view->swept_count; i++)
        *cell++ = swept_cell(view->swept[i].value);
    SUMMARY(AS_CELL)
    return table;
}

/* ── what else there could be: built only when asked for, as each row is a plan of its own ────────
 */

static const double KEEPS_STEP_FRAC = 0.05;

static gl_table *sensitivity_table(const context *c)
{
    const gl_plan *plan = c->plan;
    const gl_setup setup = {plan->workload, plan->cluster};
    gl_sensitivity *rows = GL_ARENA_NEW(c->arena, gl_sensitivity, GL_KNOB_COUNT);
    size_t count = plan->compute.known
                       ? gl_sensitivity_build(&setup, plan->step.time_s, &plan->options, rows)
                       : 0;
    return gl_sensitivity_table(rows, count, plan->step.time_s, c->arena);
}

static gl_table *break_even_table(const context *c)
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

/* ── cost ────────────────────────────────────────────────────────────────────────────────────── */

static gl_table *cost_table(const context *c)
{
    return gl_cost_table(c->plan, c->arena);
}

static gl_table *cost_structure_table(const context *c)
{
    return gl_cost_structure_table(c->plan, c->arena);
}

static gl_table *bom_table(const context *c)
{
    return gl_bom_table(c->plan, c->arena);
}

static gl_table *staircase_table(const context *c)
{
    return gl_staircase_table(c->plan, c->arena);
}

static gl_table *cost_uncertainty_table(const context *c)
{
    return gl_cost_sources_table(c->plan, c->arena);
}

/* ── the scenario ────────────────────────────────────────────────────────────────────────────── */

/* In the order in which people read them. */
#define TABLES(X)                                                                                  \
    X(model)                                                                                       \
    X(parallel)                                                                                    \
    X(training)                                                                                    \
    X(cluster)                                                                                     \
    X(summary)                                                                                     \
    X(traffic)                                                                                     \
    X(step)                                                                                        \
    X(required_bandwidth)                                                                          \
    X(demand)                                                                                      \
    X(memory)                                                                                      \
    X(network)                                                                                     \
    X(links)                                                                                       \
    X(uncertainty)                                                                                 \
    X(cost)                                                                                        \
    X(cost_structure)                                                                              \
    X(bom)                                                                                         \
    X(staircase)                                                                                   \
    X(cost_uncertainty)                                                                            \
    X(compute)                                                                                     \
    X(sensitivity)                                                                                 \
    X(break_even)
#define AS_NAME(name) #name,
#define AS_KIND(name) {#name, name##_table},

typedef struct table_kind {
    const char *name;
    gl_table *(*build)(const context *c);
} table_kind;

static const table_kind kinds[] = {TABLES(AS_KIND)};
enum { DRAWN = 1 + GL_TIMELINE_TABLES }; /* those that are there to be drawn */

const char *const *gl_plan_table_names(void)
{
    static const char *const names[] = {TABLES(AS_NAME) NULL};
    return names;
}

/* Tables about money, empty without a price list; people get the long ones when they ask. */
static bool is_of_cost(const char *name)
{
    static const char *const names[] = {"cost", "cost_structure", "bom", "staircase",
                                        "cost_uncertainty"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_left_out_for_people(const gl_table *table)
{
    return is_of_cost(table->name) &&
           (table->row_count == 0 || (strncmp(table->name, "cost", 4) != 0) ||
            strcmp(table->name, "cost_uncertainty") == 0);
}

static bool is_for_people(const gl_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if ((table->columns[i].audience & GL_FOR_PEOPLE) != 0)
            return true;
    return false;
}

static bool is_on_request(const char *name)
{
    return strcmp(name, "sensitivity") == 0 || strcmp(name, "break_even") == 0;
}

static void add_drawn(const context *c, gl_scenario *scenario)
{
    gl_table *drawn[DRAWN] = {gl_curves_table(c->plan, c->arena)};
    gl_timeline_tables(c->plan, c->view->slices, c->arena, drawn + 1);
    for (size_t i = 0; i < DRAWN; i++)
        scenario->tables[scenario->table_count++] = drawn[i];
}

/* The tables outlive the plan, so the texts of their cells must, too. */
static void keep_texts(gl_table *table, gl_arena *arena)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        if (table->cells[i].type == GL_CELL_TEXT)
            table->cells[i].as.text = gl_arena_strdup(arena, table->cells[i].as.text);
}

static void add_warning(gl_scenario *scenario, size_t *capacity, gl_arena *arena, const char *text)
{
    scenario->warnings = gl_arena_grow(arena, scenario->warnings, capacity,
                                       scenario->warning_count + 1, sizeof *scenario->warnings);
    scenario->warnings[scenario->warning_count++] = gl_arena_strdup(arena, text);
}

/* Figures that are missing on purpose, and why: nothing shows "-" without a reason. */
typedef struct gap {
    bool (*is_missing)(const gl_plan *plan);
    const char *reason;
} gap;

static bool misses_mfu(const gl_plan *plan)
{
    return !isnan(plan->step.tokens_per_s) && isnan(plan->step.mfu_frac) &&
           plan->cluster->gpu != NULL;
}

static bool misses_activations(const gl_plan *plan)
{
    return isnan(plan->memory.activations_bytes);
}

static bool misses_fit(const gl_plan *plan)
{
    return misses_activations(plan) && plan->memory.fits && !isnan(plan->memory.capacity_bytes);
}

static bool misses_capacity(const gl_plan *plan)
{
    return plan->cluster->gpu != NULL && isnan(plan->memory.capacity_bytes);
}

/* Compute is known, and yet no bandwidth meets the target: what is left is latency. */
static bool misses_target(const gl_plan *plan, gl_tier_kind tier)
{
    return plan->compute.known && plan->needs[tier].verdict == GL_VERDICT_UNKNOWN;
}

static bool misses_intra(const gl_plan *plan)
{
    return misses_target(plan, GL_TIER_INTRA_NODE);
}

static bool misses_inter(const gl_plan *plan)
{
    return misses_target(plan, GL_TIER_INTER_NODE);
}

static bool misses_run(const gl_plan *plan)
{
    return plan->cost.cluster != NULL && plan->cost.missing == NULL && !(plan->cost.run_tokens > 0);
}

static const gap gaps[] = {
    {misses_run, "what a run costs is not given: its tokens are not stated (training: {tokens: "
                 "15e12})"},
    {misses_mfu, "MFU is not given: the catalogue has no peak of this GPU for the compute type"},
    {misses_activations, "activations and logits are not known without an architecture: they are "
                         "not in the memory total, which is a lower bound"},
    {misses_fit, "whether it fits is not known: the lower bound does, but activations come on top"},
    {misses_capacity, "whether it fits is not known: the catalogue has no memory size of this GPU"},
    {misses_intra, "no bandwidth inside the node meets target.exposed_communication: a required "
                   "one is not given"},
    {misses_inter, "no bandwidth between nodes meets target.exposed_communication: a required one "
                   "is not given"},
};

static size_t collect_notes(const gl_plan_view *view, gl_arena *arena, gl_scenario *out)
{
    size_t capacity = 0;
    for (size_t i = 0; i < view->note_count; i++)
        add_warning(out, &capacity, arena, view->notes[i]);
    return capacity;
}

static void collect_warnings(const context *c, gl_scenario *out)
{
    size_t capacity = collect_notes(c->view, c->arena, out);
    for (size_t i = 0; i < c->plan->warning_count; i++)
        add_warning(out, &capacity, c->arena, c->plan->warnings[i]);
    for (size_t i = 0; i < COUNT(gaps); i++)
        if (gaps[i].is_missing(c->plan))
            add_warning(out, &capacity, c->arena, gaps[i].reason);
}

void gl_plan_scenario(const gl_plan *plan, const gl_plan_view *view, gl_arena *arena,
                      gl_scenario *out)
{
    const context c = {plan, view, arena};
    gl_scenario scenario = {.name = gl_arena_strdup(arena, view->name),
                            .tables = GL_ARENA_NEW(arena, gl_table *, COUNT(kinds) + DRAWN)};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (view->only != NULL ? strcmp(view->only, kinds[i].name) != 0
                               : is_on_request(kinds[i].name))
            continue;
        gl_table *table = kinds[i].build(&c);
        if (view->for_people &&
            (!is_for_people(table) || (view->only == NULL && is_left_out_for_people(table))))
            continue;
        keep_texts(table, arena);
        scenario.tables[scenario.table_count++] = table;
    }
    if (view->slices > 0 && view->only == NULL)
        add_drawn(&c, &scenario);
    if (view->only == NULL)
        scenario.headline = gl_plan_headline(plan, arena);
    collect_warnings(&c, &scenario);
    if (view->only != NULL && is_of_cost(view->only) && plan->cost.cluster == NULL) {
        size_t capacity = scenario.warning_count;
        add_warning(&scenario, &capacity, arena,
                    "no cost is planned: the cluster names no price list (prices: standard in its "
                    "description)");
    }
    *out = scenario;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Does a table only repeat what was asked for? */
static bool is_asked_for(const char *name, bool has_layout)
{
    static const char *const names[] = {"model", "cluster", "parallel", "training"};
    return is_one_of(name, names, has_layout ? COUNT(names) : COUNT(names) - 2);
}

static gl_table *absent_table(const char *name, gl_arena *arena)
{
    static const char *const records[] = {"parallel", "training", "step", "memory", "cost"};
    gl_table *table = gl_table_create(arena, name, name, NULL, 0);
    table->record = is_one_of(name, records, COUNT(records));
    return table;
}

void gl_plan_absent_scenario(const gl_workload *workload, bool has_layout,
                             const gl_cluster *cluster, const gl_plan_view *view, gl_arena *arena,
                             gl_scenario *out)
{
    const gl_parallel one_gpu = gl_workload_defaults().parallel;
    gl_plan *plan = GL_ARENA_NEW(arena, gl_plan, 1);
    const context c = {plan, view, arena};
    *out = (gl_scenario){.name = gl_arena_strdup(arena, view->name),
                         .tables = GL_ARENA_NEW(arena, gl_table *, COUNT(kinds))};
    plan->workload = workload;
    plan->cluster = cluster;
    gl_parameters_build(&workload->model, &one_gpu, arena, &plan->parameters);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *name = kinds[i].name;
        if (view->only != NULL ? strcmp(view->only, name) != 0 : is_on_request(name))
            continue;
        out->tables[out->table_count++] =
            is_asked_for(name, has_layout) ? kinds[i].build(&c) : absent_table(name, arena);
    }
    collect_notes(view, arena, out);
}

/* Takes a table out of a scenario; NULL when it has none of that name. */
static const gl_table *take_table(gl_scenario *scenario, const char *name)
{
    for (size_t i = 0; i < scenario->table_count; i++) {
        const gl_table *table = scenario->tables[i];
        if (strcmp(table->name, name) != 0)
            continue;
        scenario->table_count--;
        memmove(scenario->tables + i, scenario->tables + i + 1,
                (scenario->table_count - i) * sizeof(gl_table *));
        return table;
    }
    return NULL;
}

static bool same_cell(const gl_cell *a, const gl_cell *b)
{
    if (a->type != b->type)
        return false;
    return a->type == GL_CELL_TEXT ? strcmp(a->as.text, b->as.text) == 0
                                   : a->as.integer == b->as.integer;
}

/* Is the column the same in all rows? Then people need not read it in every one. */
static bool is_constant(const gl_table *table, size_t column)
{
    for (size_t row = 1; row < table->row_count; row++)
        if (!same_cell(&table->cells[row * table->column_count + column], &table->cells[column]))
            return false;
    return true;
}

/* What goes into the title when all rows have the same of it; NULL: the column stays. */
static const char *constant_text(const char *name, const gl_cell *cell, gl_arena *arena)
{
    if (strcmp(name, "cluster") == 0)
        return gl_arena_printf(arena, ", on %s", cell->as.text);
    if (strcmp(name, "gpus") == 0)
        return gl_arena_printf(arena, ", %lld GPUs", (long long)cell->as.integer);
    if (strcmp(name, "evidence") == 0)
        return gl_arena_printf(arena, ", evidence %s", cell->as.text);
    return NULL;
}

/* A tier that no row uses. */
static bool is_unused(const char *name, const gl_cell *cell)
{
    bool verdict = strcmp(name, "in_node") == 0 || strcmp(name, "between") == 0;
    return verdict && strcmp(cell->as.text, UNUSED) == 0;
}

/* People need not read in every row what does not differ. */
static void hide_constants(gl_table *table, gl_arena *arena)
{
    gl_column *columns = GL_ARENA_NEW(arena, gl_column, table->column_count);
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    table->columns = columns;
    for (size_t i = 0; i < table->column_count; i++) {
        const gl_cell *cell = &table->cells[i];
        const char *text = constant_text(columns[i].name, cell, arena);
        bool unused = is_unused(columns[i].name, cell);
        if ((text == NULL && !unused) || !is_constant(table, i))
            continue;
        columns[i].audience = GL_FOR_MACHINES;
        if (text != NULL)
            table->title = gl_arena_printf(arena, "%s%s", table->title, text);
    }
}

void gl_plan_take_summary(gl_report *report, gl_arena *arena, gl_scenario *out)
{
    gl_table *all = NULL;
    for (size_t i = 0; i < report->scenario_count; i++) {
        const gl_table *one = take_table(&report->scenarios[i], "summary");
        if (one == NULL)
            continue;
        if (all == NULL)
            all =
                gl_table_create(arena, "summary", "Side by side", one->columns, one->column_count);
        memcpy(gl_table_add_row(all), one->cells, one->column_count * sizeof *one->cells);
    }
    *out = (gl_scenario){.name = NULL};
    if (all == NULL)
        return;
    hide_constants(all, arena);
    out->tables = GL_ARENA_NEW(arena, gl_table *, 1);
    out->tables[0] = all;
    out->table_count = 1;
}
