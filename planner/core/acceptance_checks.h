/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An acceptance's measurements as a whole. Internal to acceptance.c. */
#ifndef GL_CORE_ACCEPTANCE_CHECKS_H
#define GL_CORE_ACCEPTANCE_CHECKS_H

#include "planner/core/acceptance.h"

/* Fills in the checks, after the tests have been judged. */
void gl_acceptance__check(gl_acceptance *acceptance, gl_arena *arena);

#endif
