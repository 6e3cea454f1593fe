/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the charts are built with. Internal to planner/report. */
#ifndef GL_REPORT_CHART_BUILD_H
#define GL_REPORT_CHART_BUILD_H

#include "planner/report/charts.h"

#include <math.h>

/* A cell by the name of its column: NaN, NULL where the table has none such, or nothing in it. */
double gl_chart__number(const gl_table *table, size_t row, const char *column);
const char *gl_chart__text(const gl_table *table, size_t row, const char *column);

/* The table of that name with rows; NULL: the part has none. */
const gl_table *gl_chart__table(const gl_scenario *part, const char *name);

/* What makes a scenario's name differ from the others': "h200-nvlink". */
const char *gl_chart__short_name(const gl_report *report, const gl_scenario *part, gl_arena *arena);

gl_series *gl_chart__series(gl_chart *chart, gl_arena *arena, const char *name, gl_chart_mark mark,
                            int hue);
/* The series of that name, added when it is not there. */
gl_series *gl_chart__named(gl_chart *chart, gl_arena *arena, const char *name, gl_chart_mark mark,
                           int hue);
void gl_chart__add(gl_series *series, gl_arena *arena, gl_datum datum);
size_t gl_chart__category(gl_chart *chart, gl_arena *arena, const char *name);

/* What charts are hung on, one list for each part. */
typedef struct gl_chart_list {
    gl_chart *items;
    size_t count, capacity;
} gl_chart_list;

typedef struct gl_charting {
    const gl_report *report;
    gl_arena *arena;
    gl_chart_list *lists; /* by index of part */
} gl_charting;

/* Hangs a copy of the chart on a part. One without data is left out. */
void gl_chart__hang(gl_charting *c, size_t part, const gl_chart *chart);

/* Each looks through the report for what it draws. */
void gl_charts__step(gl_charting *c);
void gl_charts__bandwidth(gl_charting *c);
void gl_charts__curves(gl_charting *c);
void gl_charts__timeline(gl_charting *c);
void gl_charts__uncertainty(gl_charting *c);
void gl_charts__sensitivity(gl_charting *c);
void gl_charts__cost(gl_charting *c);
void gl_charts__staircase(gl_charting *c);

#endif
