/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of an acceptance beside those of its plan. */
#ifndef GL_REPORT_EXPLAIN_ACCEPTANCE_H
#define GL_REPORT_EXPLAIN_ACCEPTANCE_H

#include "planner/core/acceptance.h"
#include "planner/report/explain.h"

/* Adds a line for each test, "acceptance.3", behind the lines of gl_explain for the same plan. */
void gl_explain_acceptance(const gl_acceptance *acceptance, gl_arena *arena, gl_explanation *out);

#endif
