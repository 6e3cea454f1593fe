/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options against each other as money, for people: what each costs, when what is dearer to buy pays
 * for itself, and what its network may cost. Machines find the same figures in `options`,
 * `probability` and each option's `cost`. */
#ifndef GL_REPORT_OPTION_COSTS_H
#define GL_REPORT_OPTION_COSTS_H

#include "common/table.h"
#include "planner/core/comparison.h"
#include "planner/core/cost.h"

/* Tables `costs`, `payback` and, of `drawn` reports, `staircases`; `tables` has room for
 * GL_OPTION_COST_TABLES. Returns how many there are: none when no option has a cost. */
enum { GL_OPTION_COST_TABLES = 3 };
size_t gl_option_cost_tables(const gl_comparison *comparison, bool drawn, gl_arena *arena,
                             gl_table **tables);

/* "never", "within its life", "beyond its life" of what is dearer to buy; NULL: not known, or none
 * is dearer. */
const char *gl_payback_verdict(const gl_cost_even *even);

#endif
