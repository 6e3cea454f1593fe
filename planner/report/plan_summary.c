/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row of each plan, side by side. */
#include "planner/report/plan_parts.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

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
    GIB_COLUMN(X, "memory_per_gpu_bytes", "Memory", memory->total_bytes)                           \
    X("memory_fits", "Fits", GL_NUMBER, GL_FOR_ALL, gl_plan_fits_cell(memory))                     \
    X("intra_node_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      gl_text(gl_verdict_name(needs[GL_TIER_INTRA_NODE].verdict)))                                 \
    X("inter_node_verdict", NULL, GL_NUMBER, GL_FOR_MACHINES,                                      \
      gl_text(gl_verdict_name(needs[GL_TIER_INTER_NODE].verdict)))                                 \
    X("in_node", "In node", GL_NUMBER, GL_FOR_PEOPLE, short_verdict(&needs[GL_TIER_INTRA_NODE]))   \
    X("between", "Between", GL_NUMBER, GL_FOR_PEOPLE, short_verdict(&needs[GL_TIER_INTER_NODE]))   \
    X("capex", NULL, GL_NUMBER, GL_FOR_MACHINES | GL_AS_MONEY, gl_real(purchase))                  \
    X("per_million_tokens", NULL, GL_NUMBER, GL_FOR_MACHINES | GL_AS_MONEY, gl_real(tokens))       \
    X("evidence", "Evidence", GL_NUMBER, GL_FOR_ALL, gl_text(gl_evidence_name(step->evidence)))    \
    X("impossible", NULL, GL_NUMBER, GL_FOR_MACHINES, gl_text(c->view->impossible))

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

/* A swept key as a column: "prices.parts.nic.ib-ndr.typical" is `prices_parts_nic_ib_ndr_typical`.
 */
static const gl_column *summary_columns_with(const gl_plan_view *view, gl_arena *arena)
{
    gl_column *columns = GL_ARENA_NEW(arena, gl_column, view->swept_count + COUNT(summary_columns));
    for (size_t i = 0; i < view->swept_count; i++) {
        char *name = gl_arena_strdup(arena, view->swept[i].key);
        for (char *letter = name; *letter != '\0'; letter++)
            *letter =
                (char)(isalnum((unsigned char)*letter) ? tolower((unsigned char)*letter) : '_');
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

/* The table with the swept values in its row; `cell` is the one behind them. */
static gl_table *begin_summary(const gl_plan_context *c, gl_cell **cell)
{
    const gl_plan_view *view = c->view;
    gl_table *table =
        gl_table_create(c->arena, "summary", "Summary", summary_columns_with(view, c->arena),
                        view->swept_count + COUNT(summary_columns));
    *cell = gl_table_add_row(table);
    for (size_t i = 0; i < view->swept_count; i++)
        *(*cell)++ = swept_cell(view->swept[i].value);
    return table;
}

gl_table *gl_plan_absent_summary(const gl_plan_context *c)
{
    gl_cell *cell;
    gl_table *table = begin_summary(c, &cell);
    for (size_t i = 0; i < COUNT(summary_columns); i++, cell++) {
        const char *name = summary_columns[i].name;
        *cell = strcmp(name, "cluster") == 0      ? gl_text(c->plan->cluster->name)
                : strcmp(name, "impossible") == 0 ? gl_text(c->view->impossible)
                                                  : (gl_cell){.type = GL_CELL_EMPTY};
    }
    return table;
}

gl_table *gl_plan_summary_table(const gl_plan_context *c)
{
    const gl_step *step = &c->plan->step;
    const gl_memory *memory = &c->plan->memory;
    const gl_bandwidth_need *needs = c->plan->needs;
    const gl_cost *cost = &c->plan->cost;
    double purchase = cost->cluster != NULL ? cost->typical.capex : (double)NAN;
    double tokens = cost->cluster != NULL ? cost->typical.per_million_tokens : (double)NAN;
    gl_cell *cell;
    gl_table *table = begin_summary(c, &cell);
    SUMMARY(AS_CELL)
    return table;
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

/* What a column has in all rows, but for those of what cannot be planned: then people need not read
 * it in every one. NULL: it differs, or is empty. */
static const gl_cell *constant_cell(const gl_table *table, size_t column)
{
    const gl_cell *first = NULL;
    for (size_t row = 0; row < table->row_count; row++) {
        const gl_cell *cell = &table->cells[row * table->column_count + column];
        if (cell->type == GL_CELL_EMPTY)
            continue;
        if (first != NULL && !same_cell(cell, first))
            return NULL;
        first = cell;
    }
    return first;
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
        const gl_cell *cell = constant_cell(table, i);
        if (cell == NULL)
            continue;
        const char *text = constant_text(columns[i].name, cell, arena);
        if (text == NULL && !is_unused(columns[i].name, cell))
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
