/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the renderers share; for render*.c only. */
#ifndef GL_COMMON_RENDER_INTERNAL_H
#define GL_COMMON_RENDER_INTERNAL_H

#include "common/render.h"

void gl_render__text(const gl_report *report, const gl_render_options *options, gl_output *out);
void gl_render__markdown(const gl_report *report, const gl_render_options *options, gl_output *out);
void gl_render__html(const gl_report *report, const gl_render_options *options, gl_output *out);
void gl_render__html_chart_data(gl_arena *arena, const gl_chart *chart, gl_output *out);
/* `table` names one that the report has. */
void gl_render__csv(const gl_report *report, const char *table, gl_output *out);

/* Whether the options let this table through, and whether a column has this audience. */
bool gl_render__selects(const gl_render_options *options, const gl_table *table);
bool gl_render__shows(const gl_column *column, int audience);

/* Does the column hold numbers alone? They stand at the right. */
bool gl_render__is_number(const gl_table *table, size_t column);

const char *gl_render__heading(const gl_column *column);

/* What people read in a cell: one line, no control characters, in the arena. */
const char *gl_render__cell(gl_arena *arena, const gl_column *column, const gl_cell *cell);

/* How long the label of a headline's line is, which two blanks end: "Step" of "Step    240 ms". 0:
 * it has none. */
size_t gl_render__label(const char *line, size_t length);

/* A text of several lines without other control characters, in the arena. */
const char *gl_render__clean(gl_arena *arena, const char *text);

#endif
