/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts of a report, built from its tables by their names and the names of their columns: whatever
 * command made a table, the chart that goes with it is there.
 */
#ifndef GL_REPORT_CHARTS_H
#define GL_REPORT_CHARTS_H

#include "common/table.h"
#include "planner/core/plan.h"

/* The same report with charts, in the arena. Parts are shared with `report`. */
const gl_report *gl_charts_add(const gl_report *report, gl_arena *arena);

/* Tables that are there to be drawn: points of measured curves with what is predicted between them,
 * and the simulated step. `slices` limits the latter: short ones that follow each other become one.
 * Both keep nothing of the plan but static texts. */
gl_table *gl_curves_table(const gl_plan *plan, gl_arena *arena);
gl_table *gl_timeline_table(const gl_plan *plan, size_t slices, gl_arena *arena);

#endif
