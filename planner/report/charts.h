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

/* A table `curves`: points of measured curves, what the planner takes between them, and the plan's
 * messages. */
gl_table *gl_curves_table(const gl_plan *plan, gl_arena *arena);

/* The simulated step: `timeline` (slices to draw; short ones that follow each other are drawn as
 * one, so that there are about `slices`), `timeline_start` (its beginning, where the whole is too
 * long to see a pass; else empty) and `stages` (sums for people). */
enum { GL_TIMELINE_TABLES = 3 };
void gl_timeline_tables(const gl_plan *plan, size_t slices, gl_arena *arena, gl_table **tables);

#endif
