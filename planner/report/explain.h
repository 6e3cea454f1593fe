/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a figure of a plan comes from: its formula in symbols, the same with the numbers put in,
 * the result, how it is known and by what source.
 *
 * A line is a row of traffic ("traffic.3"), a tier ("required_bandwidth.intra_node"), an operator
 * ("compute.2"), or one figure of the step or the memory ("step.time_s"). Lines are numbered from
 * 1, the rows of traffic first, so that line 3 is row 3 of the traffic table. A line holds one or
 * several figures.
 */
#ifndef GL_REPORT_EXPLAIN_H
#define GL_REPORT_EXPLAIN_H

#include "common/table.h"
#include "planner/core/plan.h"

typedef struct gl_figure_text {
    size_t line;
    const char *name; /* "traffic.3.size_bytes" */
    const char *meaning;
    const char *formula; /* in symbols; NULL when it is an input or a verdict */
    const char *numbers; /* the same with numbers; NULL when there is nothing to put in */
    gl_cell value;
    const char *unit;     /* "s", "B", …: of `value` */
    const char *result;   /* `value` for people, bytes also exactly */
    const char *brief;    /* the same in few characters */
    const char *evidence; /* "counted", "measured", …; never NULL */
    const char *source;   /* NULL when the formula says it all */
    const char *note;     /* what else to know; NULL: nothing */
} gl_figure_text;

/* A line as a list shows it. */
typedef struct gl_explained_line {
    const char *name; /* "traffic.3" */
    const char *what;
    const char *shown; /* name of the figure whose result stands for the line */
} gl_explained_line;

typedef struct gl_explanation {
    gl_figure_text *figures;
    size_t figure_count, capacity;
    gl_explained_line *lines;
    size_t line_count, line_capacity;
    const char *subject; /* what was planned */
} gl_explanation;

/* Explains every figure of a plan. Keeps the plan. */
void gl_explain(const gl_plan *plan, gl_arena *arena, gl_explanation *out);

/* Keeps the figures of one line: a number, a name, or the beginning of names up to a dot. An
 * unknown line is a usage error with "did you mean". */
bool gl_explain_select(gl_explanation *explanation, const char *line, gl_arena *arena,
                       gl_error *err);

/* All lines with their results, for people to choose one. */
void gl_explain_list(const gl_explanation *explanation, gl_arena *arena, gl_scenario *out);

/* The figures in full: text for people, a table `explain` for machines. */
void gl_explain_detail(const gl_explanation *explanation, gl_arena *arena, gl_scenario *out);

#endif
