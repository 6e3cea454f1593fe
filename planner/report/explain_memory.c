/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory's part of an explanation. */
#include "planner/report/explain_figures.h"

#include <math.h>

void gl_explain__memory(gl_explainer *e)
{
    e->table = e->prefix = "memory";
}
