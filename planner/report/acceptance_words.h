/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict of an acceptance in a few plain lines, before any table. */
#ifndef GL_REPORT_ACCEPTANCE_WORDS_H
#define GL_REPORT_ACCEPTANCE_WORDS_H

#include "planner/report/acceptance_tables.h"

/* "ACCEPTED", "REJECTED", …: one word or a few. */
const char *gl_acceptance_decision(const gl_acceptance *acceptance);

const char *gl_acceptance_headline(const gl_acceptance *acceptance, const gl_acceptance_view *view,
                                   gl_arena *arena);

#endif
