/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts of a report, for formats that can draw. A chart says again what a table says: it names the
 * table that it is drawn from, and stands beside it.
 *
 * Either a chart has categories (rows of horizontal bars; only `x` is an axis), or it has two axes.
 */
#ifndef GL_COMMON_CHART_H
#define GL_COMMON_CHART_H

#include "common/units.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum gl_chart_mark {
    GL_MARK_BAR,      /* categories: from 0, or from the bar before it where bars are stacked */
    GL_MARK_SPAN,     /* categories: from low to high */
    GL_MARK_INTERVAL, /* categories: whiskers from low to high, with the datum's note at their end;
                         two axes: error bars of x and y about a point */
    GL_MARK_LINE,
    GL_MARK_DASHES,
    GL_MARK_JOINED, /* points and a line through them */
    GL_MARK_POINTS,
    GL_MARK_DIAMONDS,
    GL_MARK_COUNT
} gl_chart_mark;

/* What a colour stands for, the same in all charts of a report. */
typedef enum gl_hue {
    GL_HUE_COMPUTE,
    GL_HUE_TAX,
    GL_HUE_DP,
    GL_HUE_TP,
    GL_HUE_PP,
    GL_HUE_CP,
    GL_HUE_EP,
    GL_HUE_OPTIMIZER,
    GL_HUE_IDLE,
    GL_HUE_GOOD,
    GL_HUE_BAD,
    GL_HUE_MIXED,
    GL_HUE_COUNT,
    GL_HUE_SERIES = 0 /* + n: the n-th of series that have no such meaning */
} gl_hue;

typedef struct gl_datum {
    size_t category;     /* of its chart, where it has some */
    double x, y;         /* a bar is x long; of two axes a datum without y breaks the line */
    double low, high;    /* of spans and intervals, along x; NaN: not drawn */
    double below, above; /* of intervals between two axes, along y */
    const char *note;    /* what else to say of it; NULL: nothing */
} gl_datum;

typedef struct gl_series {
    const char *name;
    gl_chart_mark mark;
    int hue; /* gl_hue */
    gl_datum *data;
    size_t count, capacity;
} gl_series;

typedef struct gl_chart_axis {
    const char *title;
    gl_dimension dimension;
    bool logarithmic, money;
} gl_chart_axis;

typedef struct gl_chart {
    const char *table; /* name of its table … */
    size_t which;      /* … and which of those with this name; 0 = the first */
    const char *title;
    const char *words; /* what is to be seen, for those who cannot see it */
    const char *note;  /* beneath; NULL: nothing */
    const char **categories;
    size_t category_count;
    bool stacked;
    bool wide; /* over the whole page */
    gl_chart_axis x, y;
    gl_series *series;
    size_t series_count, series_capacity;
} gl_chart;

#endif
