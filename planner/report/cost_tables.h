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

/* A line or two for the headline; "" without a price list. */
const char *gl_cost_headline(const gl_plan *plan, gl_arena *arena);

#endif
