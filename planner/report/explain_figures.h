/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of an explanation. Internal to planner/report. */
#ifndef GL_REPORT_EXPLAIN_FIGURES_H
#define GL_REPORT_EXPLAIN_FIGURES_H

#include "planner/report/explain.h"

typedef struct gl_explainer {
    const gl_plan *plan;
    gl_arena *arena;
    gl_explanation *out;
    const char *table;  /* whose columns are explained: "step" */
    const char *prefix; /* of their names: "step", "traffic.3" */
} gl_explainer;

/* What a table says about one of its columns. */
typedef struct gl_figure_how {
    const char *formula, *numbers, *evidence, *source;
} gl_figure_how;

/* Starts a line named as the prefix, or as a column of it, which stands for the line in lists.
 * `what` NULL: the column's meaning. */
void gl_explain__line(gl_explainer *e, bool named_by_column, const char *column, const char *what);

/* Adds a figure to the current line. `dimension` says how people see it; memory is in GiB. */
void gl_explain__add(gl_explainer *e, const char *column, gl_cell value, gl_dimension dimension,
                     gl_figure_how how);

/* Adds a sentence to the figure that was added last. */
void gl_explain__note(gl_explainer *e, const char *note);

/* A quantity for people, in the arena. */
const char *gl_explain__quantity(const gl_explainer *e, double value, gl_dimension dimension);
const char *gl_explain__seconds(const gl_explainer *e, double value);
const char *gl_explain__rate(const gl_explainer *e, double value);
const char *gl_explain__bytes(const gl_explainer *e, double value);

/* A formula with its symbols (those of docs/models/traffic.md: L, h, s, b, …) replaced by this
 * plan's numbers; words are left alone. */
const char *gl_explain__put_numbers(const gl_explainer *e, const char *formula);

/* Why a group's busbw is more than what each of its GPUs puts on the network; NULL when it is not.
 */
const char *gl_explain__share_note(const gl_explainer *e, const gl_timed_row *row);

void gl_explain__traffic(gl_explainer *e);
void gl_explain__step(gl_explainer *e);
void gl_explain__bandwidth(gl_explainer *e);
void gl_explain__memory(gl_explainer *e);
void gl_explain__compute(gl_explainer *e);
void gl_explain__cost(gl_explainer *e); /* nothing without a price list */

#endif
