/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tables and words about options share; inside of planner/report. */
#ifndef GL_REPORT_OPTION_PARTS_H
#define GL_REPORT_OPTION_PARTS_H

#include "planner/core/comparison.h"
#include "planner/core/cost.h"

/* Options are called 1, 2, 3 in tables and texts. */
static inline long long gl_option_number(size_t index)
{
    return (long long)index + 1;
}

/* A knob's value for people; NULL: not known. */
const char *gl_knob_value_text(gl_knob knob, double value, gl_arena *arena);

/* Why the work of a plan has no cost; NULL: it has one. */
const char *gl_why_no_cost(const gl_plan *plan);

/* Does the option have an answer in money? */
bool gl_option_is_priced(const gl_compared *option);

/* Of two that have one. */
bool gl_options_share_currency(const gl_compared *a, const gl_compared *b);

/* What an option costs; NULL when that is not known, or the option is compared with nothing. */
const gl_cost *gl_option_cost(const gl_comparison *comparison, size_t index);

/* Is each of them there (see gl_option_cost), in one currency? */
bool gl_option_costs_compare(const gl_cost *a, const gl_cost *b);

/* "after 7.2 months", "never": when what is dearer to buy pays for itself; NULL: not known. */
const char *gl_payback_text(const gl_cost_even *even, gl_arena *arena);

#endif
