/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options against each other as tables: which is fastest and how sure that is, what waits for what,
 * what each would need to keep up, and whether the faster link is needed at all.
 */
#ifndef GL_REPORT_OPTION_TABLES_H
#define GL_REPORT_OPTION_TABLES_H

#include "common/table.h"
#include "planner/core/comparison.h"

/* An option beside what was computed: why it has no answer, and what would change that. */
typedef struct gl_option_note {
    const char *why_not; /* NULL: it runs, and its step time is known */
    const char *remedy;  /* NULL: none is known */
    bool has_no_layout;  /* its own was looked for and not found, or what is described is none */
} gl_option_note;

/* A table of one row, so that each scenario holds its own and a CSV has a row per option. */
gl_table *gl_options_table(const gl_comparison *comparison, const gl_option_note *notes,
                           size_t index, gl_arena *arena);

/* What the step owes to each property of the cluster. */
gl_table *gl_sensitivity_table(const gl_sensitivity *rows, size_t count, double step_s,
                               gl_arena *arena);

/* One plan against itself: how little of each property keeps its step. */
gl_table *gl_spare_table(const gl_break_even *rows, size_t count, gl_arena *arena);

/* Across all options. */
gl_table *gl_break_even_table(const gl_comparison *comparison, gl_arena *arena);
gl_table *gl_probability_table(const gl_comparison *comparison, gl_arena *arena);

#endif
