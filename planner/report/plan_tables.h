/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan as tables: the names and keys of JSON, CSV and `--table`, and what people read.
 *
 * The order of the tables is the order in which people read them; those whose columns are all for
 * machines (model, parallel, …) are echoes of the input.
 */
#ifndef GL_REPORT_PLAN_TABLES_H
#define GL_REPORT_PLAN_TABLES_H

#include "common/table.h"
#include "planner/core/plan.h"
#include "planner/input/model_file.h"

/* How a plan is shown, beside the plan itself. */
typedef struct gl_plan_view {
    const char *name; /* of the scenario */
    const gl_setting
        *swept; /* what differs between the scenarios of a sweep: columns of `summary` */
    size_t swept_count;
    const char *impossible;   /* of an absent plan: why there is none */
    const char *only;         /* build this table alone; NULL = all */
    size_t slices;            /* for charts: add the tables that are there to be drawn, the step in
                                 about so many slices; 0 = no charts */
    bool for_people;          /* leave out the tables that only machines read */
    const char *const *notes; /* warnings of the loaders, which come before those of the plan */
    size_t note_count;
} gl_plan_view;

/* "Llama 3 70B on h200, parallel.tp=4" */
const char *gl_plan_scenario_name(const gl_plan *plan, const gl_setting *swept, size_t swept_count,
                                  gl_arena *arena);

/* Builds the scenario in `arena`. It keeps nothing of the plan: the plan's arena may go before the
 * report is rendered. */
void gl_plan_scenario(const gl_plan *plan, const gl_plan_view *view, gl_arena *arena,
                      gl_scenario *out);

/* The same keys for what has no plan: what was asked for, and tables without a row. `has_layout`:
 * the workload's layout was meant. */
void gl_plan_absent_scenario(const gl_workload *workload, bool has_layout,
                             const gl_cluster *cluster, const gl_plan_view *view, gl_arena *arena,
                             gl_scenario *out);

/* Takes the `summary` rows out of all scenarios and puts them side by side in one of their own:
 * that is how people see them. Machines read a `summary` in each scenario. */
void gl_plan_take_summary(gl_report *report, gl_arena *arena, gl_scenario *out);

/* Names of all tables that a plan has, NULL-terminated. */
const char *const *gl_plan_table_names(void);

/* Share of the step that waits for communication; NaN when the step time is not known. */
double gl_plan_exposed_frac(const gl_plan *plan);

/* "8 ranks", "8 ranks on 2 nodes": a placement for people. */
const char *gl_placement_text(const gl_placement *placement, gl_arena *arena);

const char *gl_block_kind_name(gl_block_kind kind);

#endif
