/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer in a few plain lines, before any table. */
#ifndef GL_REPORT_HEADLINE_H
#define GL_REPORT_HEADLINE_H

#include "planner/core/plan.h"

/*
 * Lines for people: what was planned, step time with its interval, what waits for what, needed and
 * available bandwidth of each tier, memory. Says that a link is not needed only when the numbers
 * carry it. Lives in `arena` and keeps nothing of the plan.
 */
const char *gl_plan_headline(const gl_plan *plan, gl_arena *arena);

/* Do the rows of the stage that is shown make the exposed time of the step? Where stages differ,
 * another one may hold the step. */
bool gl_rows_make_exposed(const gl_plan *plan);

/* "dp 12 ms, tp 3 ms": exposed time by dimension, what matters first; "on stage 3 dp 12 ms, …"
 * where the rows of that stage do not make the whole. */
const char *gl_headline_exposed(const gl_plan *plan, gl_arena *arena);

/* What the link is called: its name in the catalogue, else the transport of the rows that use it.
 */
const char *gl_headline_link(const gl_plan *plan, gl_tier_kind tier);

/* The verdict in words, with how much is left or missing. */
const char *gl_headline_verdict(const gl_bandwidth_need *need, gl_arena *arena);

#endif
