/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as the data that common/html/report.js draws. */
#include "common/html.h"
#include "common/json_writer.h"
#include "common/render_internal.h"

#include <math.h>
#include <stdlib.h>

/* More categories than this are drawn close together. */
enum { DENSE = 14 };

static const char *dimension_key(const gl_chart_axis *axis)
{
    static const char *const keys[] = {
        [GL_NUMBER] = "number", [GL_BYTES] = "bytes",       [GL_BYTES_PER_S] = "rate",
        [GL_SECONDS] = "time",  [GL_FRACTION] = "fraction", [GL_FLOP_PER_S] = "flops",
        [GL_WATTS] = "watts",   [GL_USD_PER_KWH] = "money"};
    return axis->money ? "money" : keys[axis->dimension];
}

static void put_text(gl_json *json, const char *key, const char *text)
{
    gl_json_key(json, key);
    gl_json_text(json, text);
}

static void put_flag(gl_json *json, const char *key, bool value)
{
    if (!value)
        return;
    gl_json_key(json, key);
    gl_json_bool(json, true);
}

/* No screen shows more than six digits. */
static void put_number(gl_json *json, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    gl_json_real(json, isfinite(value) ? strtod(text, NULL) : value);
}

static void put_axis(gl_json *json, const char *key, const gl_chart_axis *axis)
{
    gl_json_key(json, key);
    gl_json_object(json);
    put_text(json, "title", axis->title != NULL ? axis->title : "");
    put_text(json, "as", dimension_key(axis));
    put_flag(json, "log", axis->logarithmic);
    gl_json_end(json, '}');
}

/* The order of figures that report.js expects. */
static void put_datum(gl_json *json, const gl_chart *chart, const gl_series *series,
                      const gl_datum *d)
{
    bool bars = chart->category_count > 0, note = d->note != NULL;
    gl_json_array(json);
    if (bars)
        gl_json_integer(json, (int64_t)d->category);
    if (bars && series->mark == GL_MARK_BAR)
        put_number(json, d->x);
    if (bars && series->mark != GL_MARK_BAR) {
        put_number(json, d->low);
        put_number(json, d->high);
    }
    if (!bars) {
        put_number(json, d->x);
        put_number(json, d->y);
    }
    if (note || series->mark == GL_MARK_INTERVAL)
        gl_json_text(json, d->note);
    if (series->mark == GL_MARK_INTERVAL && bars)
        put_number(json, d->x);
    if (series->mark == GL_MARK_INTERVAL && !bars) {
        put_number(json, d->low);
        put_number(json, d->high);
        put_number(json, d->below);
        put_number(json, d->above);
    }
    gl_json_end(json, ']');
}

static void put_series(gl_json *json, const gl_chart *chart, const gl_series *series)
{
    char hue[16];
    gl_json_object(json);
    put_text(json, "name", series->name);
    gl_json_key(json, "mark");
    gl_json_integer(json, series->mark);
    snprintf(hue, sizeof hue, "--h%d", series->hue % GL_HUE_COUNT);
    put_text(json, "hue", hue);
    gl_json_key(json, "data");
    gl_json_array(json);
    for (size_t i = 0; i < series->count; i++)
        put_datum(json, chart, series, &series->data[i]);
    gl_json_end(json, ']');
    gl_json_end(json, '}');
}

static void put_categories(gl_json *json, gl_arena *arena, const gl_chart *chart)
{
    if (chart->category_count == 0)
        return;
    gl_json_key(json, "categories");
    gl_json_array(json);
    for (size_t i = 0; i < chart->category_count; i++)
        gl_json_text(json, gl_render__clean(arena, chart->categories[i]));
    gl_json_end(json, ']');
    put_flag(json, "stacked", chart->stacked);
    put_flag(json, "dense", chart->category_count > DENSE);
}

void gl_render__html_chart_data(gl_arena *arena, const gl_chart *chart, gl_output *out)
{
    gl_output *text = gl_output_memory();
    gl_json json;
    gl_json_begin(&json, text);
    json.one_line_from = 1;
    gl_json_object(&json);
    put_categories(&json, arena, chart);
    put_axis(&json, "x", &chart->x);
    put_axis(&json, "y", &chart->y);
    gl_json_key(&json, "series");
    gl_json_array(&json);
    for (size_t i = 0; i < chart->series_count; i++)
        put_series(&json, chart, &chart->series[i]);
    gl_json_end(&json, ']');
    gl_json_end(&json, '}');
    gl_html_json(out, gl_output_text(text));
    gl_output_discard(text);
}
