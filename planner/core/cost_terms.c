/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/core/cost_terms.h"

#include <math.h>

const char *const gl_amortisations[] = {"straight", "annuity", "decay", NULL};

typedef struct term_text {
    const char *name, *meaning;
} term_text;

static const term_text terms[GL_TERM_COUNT] = {
#define AS_TEXT(key, name, unit, meaning) [GL_TERM_##key] = {name, meaning},
    GL_COST_TERMS(AS_TEXT)
#undef AS_TEXT
};

/* Links inside a row of racks: what no passive cable spans. */
static const double DEFAULT_REACH_M = 50;

gl_cost_terms gl_cost_terms_defaults(void)
{
    gl_cost_terms defaults = {.electricity_usd_per_kwh = (double)NAN,
                              .colocation_per_kw_month = (double)NAN,
                              .month_value = (double)NAN,
                              .node_reach_m = DEFAULT_REACH_M,
                              .switch_reach_m = DEFAULT_REACH_M,
                              .planes = 1,
                              .line_fee_per_month = (double)NAN};
    for (size_t i = 0; i < GL_TERM_COUNT; i++)
        defaults.stated[i] = (double)NAN;
    return defaults;
}

const char *gl_cost_term_name(gl_cost_term term)
{
    return terms[term].name;
}

const char *gl_cost_term_meaning(gl_cost_term term)
{
    return terms[term].meaning;
}
