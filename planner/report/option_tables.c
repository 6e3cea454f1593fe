/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/option_tables.h"

#include "planner/core/layout_text.h"
#include "planner/report/columns.h"
#include "planner/report/option_costs.h"
#include "planner/report/option_parts.h"

#include <math.h>
#include <string.h>

/* ---- options ---- */

static double exposed_s(const gl_plan *plan, gl_traffic_dimension dimension)
{
    double sum_s = 0;
    for (size_t i = 0; i < plan->traffic.row_count; i++)
        if (plan->rows[i].traffic->dimension == dimension)
            sum_s += plan->rows[i].exposed_s;
    return sum_s;
}

static const char *link_name(const gl_tier *tier)
{
    return tier->link != NULL ? tier->link->name : tier->calibration;
}

static gl_cell verdict_cell(const gl_bandwidth_need *need)
{
    return gl_text(need->verdict == GL_VERDICT_NOT_USED ? "unused"
                                                        : gl_verdict_name(need->verdict));
}

static gl_cell fits_cell(const gl_plan *plan)
{
    const gl_memory *memory = &plan->memory;
    return memory->fits_known || !memory->fits ? gl_boolean(memory->fits) : (gl_cell){0};
}

const char *gl_why_no_cost(const gl_plan *plan)
{
    if (plan == NULL)
        return "no plan";
    if (plan->cost.cluster == NULL)
        return "its cluster names no price list (prices: standard)";
    if (plan->cost.missing == NULL && isnan(plan->cost.typical.per_gpu_hour))
        return "its job is stopped too often to get anything done";
    if (plan->cost.missing == NULL && isnan(plan->cost.typical.per_million_tokens))
        return "the tokens of its step are not known";
    return plan->cost.missing;
}

#define OPTIONS(X)                                                                                 \
    X("option", "#", GL_NUMBER, GL_FOR_ALL, gl_integer(gl_option_number(index)))                   \
    X("cluster", "Cluster", GL_NUMBER, GL_FOR_ALL, gl_text(cluster->name))                         \
    X("intra_node_link", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(link_name(&cluster->intra)))    \
    X("inter_node_link", NULL, GL_NUMBER, GL_FOR_MACHINES,                                         \
      gl_text(cluster->nodes > 1 ? link_name(&cluster->inter) : NULL))                             \
    X("nics_per_node", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_integer(cluster->nics_per_node))       \
    X("gpus", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                    \
      IF_LAYOUT(gl_integer(gl_workload_ranks(workload))))                                          \
    X("layout", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                  \
      IF_LAYOUT(gl_text(gl_layout_text(&workload->parallel, &workload->batch, arena))))            \
    X("possible", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_boolean(plan != NULL))                      \
    X("fits", "Fits", GL_NUMBER, GL_FOR_ALL, IF_PLANNED(fits_cell(plan)))                          \
    X("step_time_s", "Step", GL_SECONDS, GL_FOR_ALL, STEP(time_s))                                 \
    X("half_width_frac", "80 % ±", GL_FRACTION, GL_FOR_PEOPLE,                                     \
      IF_RUNS(gl_real((plan->step.time_p90_s - plan->step.time_p10_s) / 2 / plan->step.time_s)))   \
    X("step_time_p10_s", NULL, GL_SECONDS, GL_FOR_MACHINES, STEP(time_p10_s))                      \
    X("step_time_p90_s", NULL, GL_SECONDS, GL_FOR_MACHINES, STEP(time_p90_s))                      \
    X("sequences_per_step", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      IF_LAYOUT(gl_real(gl_workload_step_sequences(workload))))                                    \
    X("slower_frac", "Slower by", GL_FRACTION, GL_FOR_ALL, gl_real(option->slower_frac))           \
    X("fastest_probability_frac", "P(fastest)", GL_FRACTION, GL_FOR_ALL,                           \
      gl_real(option->fastest_probability))                                                        \
    X("tokens_per_s", NULL, GL_NUMBER, GL_FOR_MACHINES, STEP(tokens_per_s))                        \
    X("tokens_per_s_per_gpu", "Tokens/s GPU", GL_NUMBER, GL_FOR_ALL, STEP(tokens_per_s_per_gpu))   \
    X("mfu", NULL, GL_FRACTION, GL_FOR_MACHINES, STEP(mfu_frac))                                   \
    X("communication_cost_frac", NULL, GL_FRACTION, GL_FOR_MACHINES,                               \
      STEP(communication_cost_frac))                                                               \
    X("communication_s", NULL, GL_SECONDS, GL_FOR_MACHINES, STEP(communication_s))                 \
    X("exposed_communication_s", NULL, GL_SECONDS, GL_FOR_MACHINES, STEP(exposed_communication_s)) \
    X("exposed_dp_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_DP))                   \
    X("exposed_tp_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_TP))                   \
    X("exposed_pp_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_PP))                   \
    X("exposed_cp_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_CP))                   \
    X("exposed_ep_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_EP))                   \
    X("exposed_embedding_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_EMBEDDING))     \
    X("exposed_optimizer_s", NULL, GL_SECONDS, GL_FOR_MACHINES, EXPOSED(GL_TRAFFIC_OPTIMIZER))     \
    X("overlap_tax_s", NULL, GL_SECONDS, GL_FOR_MACHINES, STEP(overlap_tax_s))                     \
    X("bubble_s", NULL, GL_SECONDS, GL_FOR_MACHINES, STEP(bubble_s))                               \
    X("intra_node_required_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                    \
      NEED(INTRA, required_bytes_per_s))                                                           \
    X("intra_node_available_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                   \
      NEED(INTRA, available_bytes_per_s))                                                          \
    X("intra_node_verdict", "In node", GL_NUMBER, GL_FOR_ALL,                                      \
      IF_RUNS(verdict_cell(&plan->needs[GL_TIER_INTRA_NODE])))                                     \
    X("inter_node_required_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                    \
      NEED(INTER, required_bytes_per_s))                                                           \
    X("inter_node_available_bytes_per_s", NULL, GL_BYTES_PER_S, GL_FOR_MACHINES,                   \
      NEED(INTER, available_bytes_per_s))                                                          \
    X("inter_node_verdict", "Between", GL_NUMBER, GL_FOR_ALL,                                      \
      IF_RUNS(verdict_cell(&plan->needs[GL_TIER_INTER_NODE])))                                     \
    X("memory_per_gpu_bytes", NULL, GL_BYTES, GL_FOR_MACHINES,                                     \
      IF_PLANNED(gl_real(plan->memory.total_bytes)))                                               \
    X("memory_capacity_bytes", NULL, GL_BYTES, GL_FOR_MACHINES,                                    \
      IF_PLANNED(gl_real(plan->memory.capacity_bytes)))                                            \
    X("evidence", NULL, GL_NUMBER, GL_FOR_MACHINES,                                                \
      IF_RUNS(gl_text(gl_evidence_name(plan->step.evidence))))                                     \
    X("currency", NULL, GL_NUMBER, GL_FOR_MACHINES, IF_PRICED(gl_text(plan->cost.currency)))       \
    X("idle_gpus", NULL, GL_NUMBER, GL_FOR_MACHINES,                                               \
      IF_PRICED(gl_integer(gl_cost_idle_gpus(&plan->cost))))                                       \
    X("capex", NULL, GL_NUMBER, GL_FOR_MACHINES, COST(typical.capex))                              \
    X("per_gpu_hour", NULL, GL_NUMBER, GL_FOR_MACHINES, COST(typical.per_gpu_hour))                \
    X("per_million_tokens", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      WORK_COST(typical.per_million_tokens))                                                       \
    X("per_million_tokens_p10", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      WORK_COST(per_million_tokens.p10))                                                           \
    X("per_million_tokens_p90", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      WORK_COST(per_million_tokens.p90))                                                           \
    X("per_run", NULL, GL_NUMBER, GL_FOR_MACHINES, WORK_COST(typical.per_run))                     \
    X("per_run_p10", NULL, GL_NUMBER, GL_FOR_MACHINES, WORK_COST(per_run.p10))                     \
    X("per_run_p90", NULL, GL_NUMBER, GL_FOR_MACHINES, WORK_COST(per_run.p90))                     \
    X("cost_missing", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(gl_why_no_cost(plan)))             \
    X("note", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(note->why_not))                            \
    X("remedy", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(note->remedy))

#define IF_LAYOUT(cell)    (!note->has_no_layout ? (cell) : (gl_cell){0})
#define IF_PLANNED(cell)   (plan != NULL ? (cell) : (gl_cell){0})
#define IF_RUNS(cell)      (gl_compared_runs(option) ? (cell) : (gl_cell){0})
#define STEP(member)       IF_RUNS(gl_real(plan->step.member))
#define EXPOSED(dimension) IF_RUNS(gl_real(exposed_s(plan, dimension)))
#define IF_PRICED(cell)    (plan != NULL && plan->cost.cluster != NULL ? (cell) : (gl_cell){0})
#define COST(member)       IF_PRICED(gl_real(plan->cost.member))
#define WORK_COST(member)  IF_RUNS(COST(member))
#define NEED(tier, member) IF_RUNS(gl_real(plan->needs[GL_TIER_##tier##_NODE].member))

gl_table *gl_options_table(const gl_comparison *comparison, const gl_option_note *notes,
                           size_t index, gl_arena *arena)
{
    static const gl_column columns[] = {OPTIONS(AS_COLUMN)};
    const gl_compared *option = &comparison->options[index];
    const gl_option_note *note = &notes[index];
    const gl_workload *workload = option->setup.workload;
    const gl_cluster *cluster = option->setup.cluster;
    const gl_plan *plan = option->plan;
    gl_table *table = gl_table_create(arena, "options", "Options", columns, COUNT(columns));
    gl_cell *cell = gl_table_add_row(table);
    OPTIONS(AS_CELL)
    return table;
}

/* ---- sensitivity ---- */

static const char *what_hides(double value)
{
    return value < 1 ? "nothing hides" : value > 1 ? "all may hide" : "as described";
}

const char *gl_knob_value_text(gl_knob knob, double value, gl_arena *arena)
{
    const gl_knob_kind *kind = gl_knob_describe(knob);
    if (isnan(value))
        return NULL;
    if (knob == GL_KNOB_OVERLAP)
        return what_hides(value);
    if (kind->whole)
        return gl_arena_printf(arena, "%.0f", value);
    if (kind->dimension == GL_NUMBER)
        return gl_arena_printf(arena, "%.3g", value);
    return gl_quantity_text(value, kind->dimension, arena);
}

/* "+3.2 %" */
static const char *change_text(double step_s, double base_s, gl_arena *arena)
{
    if (isnan(step_s) || !(base_s > 0))
        return NULL;
    double change = step_s / base_s - 1;
    return fabs(change) < 0.0005 ? "0 %" : gl_arena_printf(arena, "%+.1f %%", 100 * change);
}

#define SENSITIVITY(X)                                                                             \
    X("property", "Property", GL_NUMBER, GL_FOR_ALL, gl_text(kind->name))                          \
    X("unit", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(kind->unit))                               \
    X("value", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(row->value))                              \
    X("is", "Is", GL_NUMBER, GL_FOR_PEOPLE,                                                        \
      gl_text(gl_knob_value_text(row->knob, row->value, arena)))                                   \
    X("low_value", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(row->low_value))                      \
    X("low", "Lower", GL_NUMBER, GL_FOR_PEOPLE,                                                    \
      gl_text(gl_knob_value_text(row->knob, row->low_value, arena)))                               \
    X("low_step_time_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(row->low_s))                   \
    X("low_change", "Step", GL_NUMBER, GL_FOR_PEOPLE,                                              \
      gl_text(change_text(row->low_s, step_s, arena)))                                             \
    X("low_change_frac", NULL, GL_FRACTION, GL_FOR_MACHINES, gl_real(row->low_s / step_s - 1))     \
    X("high_value", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(row->high_value))                    \
    X("high", "Higher", GL_NUMBER, GL_FOR_PEOPLE,                                                  \
      gl_text(gl_knob_value_text(row->knob, row->high_value, arena)))                              \
    X("high_step_time_s", NULL, GL_SECONDS, GL_FOR_MACHINES, gl_real(row->high_s))                 \
    X("high_change", "Step", GL_NUMBER, GL_FOR_PEOPLE,                                             \
      gl_text(change_text(row->high_s, step_s, arena)))                                            \
    X("high_change_frac", NULL, GL_FRACTION, GL_FOR_MACHINES, gl_real(row->high_s / step_s - 1))   \
    X("elasticity", "Elasticity", GL_NUMBER, GL_FOR_ALL, gl_real(row->elasticity))

gl_table *gl_sensitivity_table(const gl_sensitivity *rows, size_t count, double step_s,
                               gl_arena *arena)
{
    static const gl_column columns[] = {SENSITIVITY(AS_COLUMN)};
    gl_table *table = gl_table_create(
        arena, "sensitivity",
        "Sensitivity: the step with half and twice of each property, all else equal", columns,
        COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const gl_sensitivity *row = &rows[i];
        const gl_knob_kind *kind = gl_knob_describe(row->knob);
        gl_cell *cell = gl_table_add_row(table);
        SENSITIVITY(AS_CELL)
    }
    return table;
}

/* ---- break-even ---- */

/* "≥ 12.5 GB/s" */
static const char *limit_text(const gl_break_even *row, gl_arena *arena)
{
    if (row->kind == GL_BREAK_EVEN_ANY)
        return "any";
    if (row->kind == GL_BREAK_EVEN_NEVER)
        return "none is enough";
    return gl_arena_printf(arena, "%s %s",
                           gl_knob_describe(row->knob)->cheap == GL_CHEAP_MORE ? "up to" : "from",
                           gl_knob_value_text(row->knob, row->limit, arena));
}

/* The cheapest value that was tried is not one that was found. */
static double found_limit(const gl_break_even *row)
{
    return row->kind == GL_BREAK_EVEN_ANY ? (double)NAN : row->limit;
}

#define BREAK_EVEN(X)                                                                              \
    X("property", "Property", GL_NUMBER, GL_FOR_ALL, gl_text(kind->name))                          \
    X("unit", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(kind->unit))                               \
    X("value", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(row->value))                              \
    X("is", "Is", GL_NUMBER, GL_FOR_PEOPLE,                                                        \
      gl_text(gl_knob_value_text(row->knob, row->value, arena)))                                   \
    X("limit", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(found_limit(row)))                        \
    X("enough", "Enough", GL_NUMBER, GL_FOR_PEOPLE, gl_text(limit_text(row, arena)))               \
    X("step_time_s", "Step then", GL_SECONDS, GL_FOR_ALL, gl_real(row->step_s))                    \
    X("verdict", "Verdict", GL_NUMBER, GL_FOR_ALL, gl_text(gl_break_even_name(row->kind)))

#define COMPARED_BREAK_EVEN(X)                                                                     \
    X("option", "#", GL_NUMBER, GL_FOR_ALL, gl_integer(gl_option_number(index)))                   \
    X("cluster", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(option->setup.cluster->name))           \
    BREAK_EVEN(X)

gl_table *gl_spare_table(const gl_break_even *rows, size_t count, gl_arena *arena)
{
    static const gl_column columns[] = {BREAK_EVEN(AS_COLUMN)};
    gl_table *table = gl_table_create(arena, "break_even",
                                      "Break-even: how little of each keeps the step, all else "
                                      "equal",
                                      columns, COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const gl_break_even *row = &rows[i];
        const gl_knob_kind *kind = gl_knob_describe(row->knob);
        gl_cell *cell = gl_table_add_row(table);
        BREAK_EVEN(AS_CELL)
    }
    return table;
}

gl_table *gl_break_even_table(const gl_comparison *comparison, gl_arena *arena)
{
    static const gl_column columns[] = {COMPARED_BREAK_EVEN(AS_COLUMN)};
    const char *title =
        gl_arena_printf(arena, "Break-even: what keeps each within %s of the fastest",
                        gl_percent_text(comparison->tolerance_frac, arena));
    gl_table *table = gl_table_create(arena, "break_even", title, columns, COUNT(columns));
    for (size_t index = 0; index < comparison->option_count; index++) {
        const gl_compared *option = &comparison->options[index];
        for (size_t i = 0; i < option->break_even_count; i++) {
            const gl_break_even *row = &option->break_evens[i];
            const gl_knob_kind *kind = gl_knob_describe(row->knob);
            gl_cell *cell = gl_table_add_row(table);
            COMPARED_BREAK_EVEN(AS_CELL)
        }
    }
    return table;
}

/* ---- probability ---- */

#define PROBABILITY(X)                                                                             \
    X("option_a", "A", GL_NUMBER, GL_FOR_ALL, gl_integer(gl_option_number(pair->a)))               \
    X("cluster_a", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(a->name))                             \
    X("option_b", "B", GL_NUMBER, GL_FOR_ALL, gl_integer(gl_option_number(pair->b)))               \
    X("cluster_b", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(b->name))                             \
    X("probability_a_faster_frac", "P(A beats B)", GL_FRACTION, GL_FOR_ALL,                        \
      gl_real(pair->probability))                                                                  \
    X("ratio", "Time of A over B", GL_NUMBER, GL_FOR_ALL, gl_real(pair->ratio))                    \
    X("ratio_p10", "P10", GL_NUMBER, GL_FOR_ALL, gl_real(pair->ratio_p10))                         \
    X("ratio_p90", "P90", GL_NUMBER, GL_FOR_ALL, gl_real(pair->ratio_p90))                         \
    X("probability_a_cheaper_frac", "P(A cheaper)", GL_FRACTION, GL_FOR_ALL,                       \
      gl_real(money.probability_cheaper))                                                          \
    X("payback", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(money.payback))                         \
    X("payback_months", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(money.even.months))              \
    X("dearer_network", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_real(money.even.network))             \
    X("dearer_network_at_even", NULL, GL_NUMBER, GL_FOR_MACHINES,                                  \
      gl_real(money.even.network_at_even))

bool gl_option_is_priced(const gl_compared *option)
{
    return gl_is_compared(option) && gl_why_no_cost(option->plan) == NULL;
}

bool gl_options_share_currency(const gl_compared *a, const gl_compared *b)
{
    return strcmp(a->plan->cost.currency, b->plan->cost.currency) == 0;
}

/* Two options as money; NaN where one of them has no price, or one in another currency. */
typedef struct money_of_pair {
    double probability_cheaper;
    gl_cost_even even;
    const char *payback;
} money_of_pair;

static money_of_pair money_of(const gl_compared *a, const gl_compared *b)
{
    const double nan = (double)NAN;
    money_of_pair money = {nan, {.months = nan, .network = nan, .network_at_even = nan}, NULL};
    if (!gl_option_is_priced(a) || !gl_option_is_priced(b) || !gl_options_share_currency(a, b))
        return money;
    money.probability_cheaper = gl_cost_probability_cheaper(&a->plan->cost, &b->plan->cost);
    money.even = gl_cost_break_even(&a->plan->cost, &b->plan->cost);
    money.payback = gl_payback_verdict(&money.even);
    if (isinf(money.even.months))
        money.even.months = nan; /* never */
    return money;
}

gl_table *gl_probability_table(const gl_comparison *comparison, gl_arena *arena)
{
    static const gl_column columns[] = {PROBABILITY(AS_COLUMN)};
    gl_table *table = gl_table_create(arena, "probability", "Which is faster, draw by draw",
                                      columns, COUNT(columns));
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const gl_pair *pair = &comparison->pairs[i];
        const gl_cluster *a = comparison->options[pair->a].setup.cluster;
        const gl_cluster *b = comparison->options[pair->b].setup.cluster;
        money_of_pair money =
            money_of(&comparison->options[pair->a], &comparison->options[pair->b]);
        gl_cell *cell = gl_table_add_row(table);
        PROBABILITY(AS_CELL)
    }
    return table;
}
