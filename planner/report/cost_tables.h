/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of what a plan costs. Without a price list they have no rows. */
#ifndef GL_REPORT_COST_TABLES_H
#define GL_REPORT_COST_TABLES_H

#include "common/table.h"
#include "planner/core/plan.h"

gl_table *gl_cost_table(const gl_plan *plan, gl_arena *arena);           /* cost */
gl_table *gl_cost_structure_table(const gl_plan *plan, gl_arena *arena); /* cost_structure */
gl_table *gl_bom_table(const gl_plan *plan, gl_arena *arena);            /* bom */
gl_table *gl_staircase_table(const gl_plan *plan, gl_arena *arena);      /* staircase */
gl_table *gl_cost_sources_table(const gl_plan *plan, gl_arena *arena);   /* cost_uncertainty */

/* " (0.39 to 0.87)", with `of` such as "80 %: " before the figures; "" where it is not known. */
const char *gl_cost_interval_text(const gl_interval *interval, const char *of, gl_arena *arena);

/* A line or two for the headline; "" without a price list. */
const char *gl_cost_headline(const gl_plan *plan, gl_arena *arena);

#endif
