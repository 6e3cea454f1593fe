/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the cost model share. Internal to the core. */
#ifndef GL_CORE_COST_PARTS_H
#define GL_CORE_COST_PARTS_H

#include "planner/core/cost.h"

#define GL_HOURS_PER_YEAR   8760.0
#define GL_MONTHS_PER_YEAR  12.0
#define GL_SECONDS_PER_HOUR 3600.0

/* Something with a typical value and a range, and its draws. */
typedef struct gl_cost_variable {
    double low, typical, high;
    double minimum, maximum; /* what it can be at all */
    const double *z;         /* by draw; NULL: it has no range */
    int source;              /* in gl_cost.sources; −1 = none */
} gl_cost_variable;

typedef struct gl_cost_builder {
    const gl_cost_input *in;
    const gl_cluster *cluster;
    const gl_price_list *list;
    gl_arena *arena;
    gl_cost *out;
    size_t draws, source_capacity;
    gl_cost_variable *prices; /* by line of the bill */
    gl_cost_variable terms[GL_TERM_COUNT];
    gl_cost_variable electricity, colocation, staff, rent, lines; /* lines: a year of all of them */
} gl_cost_builder;

/* Which draw, or which source moved alone. */
typedef struct gl_cost_state {
    int draw;   /* −1 = typical */
    int source; /* −1 = none */
    double z;   /* of that source */
} gl_cost_state;

/* Its value in this state. */
double gl_cost__value(const gl_cost_variable *v, gl_cost_state s);

/*
 * Reads prices and terms into the builder's variables, and into `out` what it shows of them. What
 * is needed and has no price is out->missing; quotes that change nothing, or much, are notes.
 */
void gl_cost__read(gl_cost_builder *b);

void gl_cost__note(const gl_cost_builder *b, const char *text);

#endif
