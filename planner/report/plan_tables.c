/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/plan_tables.h"
#include "planner/report/charts.h"
#include "planner/report/cost_tables.h"
#include "planner/report/headline.h"
#include "planner/report/plan_parts.h"

#include <math.h>
#include <string.h>

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

double gl_plan_exposed_frac(const gl_plan *plan)
{
    return plan->step.exposed_communication_s / plan->step.time_s;
}

/* ---- cost ---- */

gl_table *gl_plan_cost_table(const gl_plan_context *c)
{
    return gl_cost_table(c->plan, c->arena);
}

gl_table *gl_plan_cost_structure_table(const gl_plan_context *c)
{
    return gl_cost_structure_table(c->plan, c->arena);
}

gl_table *gl_plan_bom_table(const gl_plan_context *c)
{
    return gl_bom_table(c->plan, c->arena);
}

gl_table *gl_plan_staircase_table(const gl_plan_context *c)
{
    return gl_staircase_table(c->plan, c->arena);
}

gl_table *gl_plan_cost_uncertainty_table(const gl_plan_context *c)
{
    return gl_cost_sources_table(c->plan, c->arena);
}

/* ---- the scenario ---- */

#define AS_NAME(name) #name,
#define AS_KIND(name) {#name, gl_plan_##name##_table},

typedef struct table_kind {
    const char *name;
    gl_table *(*build)(const gl_plan_context *c);
} table_kind;

static const table_kind kinds[] = {GL_PLAN_TABLES(AS_KIND)};
enum { DRAWN = 1 + GL_TIMELINE_TABLES }; /* those that are there to be drawn */

const char *const *gl_plan_table_names(void)
{
    static const char *const names[] = {GL_PLAN_TABLES(AS_NAME) NULL};
    return names;
}

/* Tables about money, empty without a price list; people get the long ones when they ask, or where
 * they are drawn. */
static bool is_of_cost(const char *name)
{
    static const char *const names[] = {"cost", "cost_structure", "bom", "staircase",
                                        "cost_uncertainty"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_left_out_for_people(const gl_table *table, bool drawn)
{
    bool is_short = strcmp(table->name, "cost") == 0 || strcmp(table->name, "cost_structure") == 0;
    return is_of_cost(table->name) && (table->row_count == 0 || !(is_short || drawn));
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

static void add_drawn(const gl_plan_context *c, gl_scenario *scenario)
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

/* People read it where the cost is. Warnings of several plans are told together: it says whose it
 * is. */
static const char *idle_note(const gl_plan_context *c)
{
    const gl_cost *cost = &c->plan->cost;
    long long idle = (long long)gl_cost_idle_gpus(cost);
    if (cost->cluster == NULL || idle == 0 || c->view->for_people)
        return NULL;
    const char *swept = "";
    for (size_t i = 0; i < c->view->swept_count; i++)
        swept = gl_arena_printf(c->arena, "%s, %s=%s", swept, c->view->swept[i].key,
                                c->view->swept[i].value);
    return gl_arena_printf(c->arena,
                           "%s%s: the cost is that of all %lld GPUs of the cluster, of which this "
                           "layout leaves %lld idle",
                           c->plan->cluster->name, swept, (long long)cost->gpus, idle);
}

static void collect_warnings(const gl_plan_context *c, gl_scenario *out)
{
    size_t capacity = collect_notes(c->view, c->arena, out);
    for (size_t i = 0; i < c->plan->warning_count; i++)
        add_warning(out, &capacity, c->arena, c->plan->warnings[i]);
    for (size_t i = 0; i < COUNT(gaps); i++)
        if (gaps[i].is_missing(c->plan))
            add_warning(out, &capacity, c->arena, gaps[i].reason);
    const char *idle = idle_note(c);
    if (idle != NULL)
        add_warning(out, &capacity, c->arena, idle);
}

void gl_plan_scenario(const gl_plan *plan, const gl_plan_view *view, gl_arena *arena,
                      gl_scenario *out)
{
    const gl_plan_context c = {plan, view, arena};
    gl_scenario scenario = {.name = gl_arena_strdup(arena, view->name),
                            .tables = GL_ARENA_NEW(arena, gl_table *, COUNT(kinds) + DRAWN)};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (view->only != NULL ? strcmp(view->only, kinds[i].name) != 0
                               : is_on_request(kinds[i].name))
            continue;
        gl_table *table = kinds[i].build(&c);
        if (view->for_people &&
            (!is_for_people(table) ||
             (view->only == NULL && is_left_out_for_people(table, view->slices > 0))))
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
    const gl_plan_context c = {plan, view, arena};
    *out = (gl_scenario){.name = gl_arena_strdup(arena, view->name),
                         .tables = GL_ARENA_NEW(arena, gl_table *, COUNT(kinds))};
    plan->workload = workload;
    plan->cluster = cluster;
    gl_parameters_build(&workload->model, &one_gpu, arena, &plan->parameters);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *name = kinds[i].name;
        if (view->only != NULL ? strcmp(view->only, name) != 0 : is_on_request(name))
            continue;
        gl_table *table = is_asked_for(name, has_layout) ? kinds[i].build(&c)
                          : view->impossible != NULL && strcmp(name, "summary") == 0
                              ? gl_plan_absent_summary(&c)
                              : absent_table(name, arena);
        keep_texts(table, arena);
        out->tables[out->table_count++] = table;
    }
    collect_notes(view, arena, out);
}

const char *gl_plan_scenario_name(const gl_plan *plan, const gl_setting *swept, size_t swept_count,
                                  gl_arena *arena)
{
    const char *name =
        gl_arena_printf(arena, "%s on %s", plan->workload->model.name, plan->cluster->name);
    for (size_t i = 0; i < swept_count; i++)
        name = gl_arena_printf(arena, "%s, %s=%s", name, swept[i].key, swept[i].value);
    return name;
}
