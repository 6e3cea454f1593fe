/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options against each other in words, before any table. */
#ifndef GL_REPORT_OPTION_WORDS_H
#define GL_REPORT_OPTION_WORDS_H

#include "planner/report/option_tables.h"

/* What each does, which is fastest and which cheapest, what the others would need. */
const char *gl_options_headline(const gl_comparison *comparison, const gl_option_note *notes,
                                const char *model, bool best_layouts, gl_arena *arena);

/* Whether the fastest pays for itself beside the cheapest; "" where one is both, or has no cost. */
const char *gl_option_cost_words(const gl_comparison *comparison, gl_arena *arena);

#endif
