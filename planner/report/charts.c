/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/chart_build.h"

#include <string.h>

static const gl_cell *find_cell(const gl_table *table, size_t row, const char *column)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, column) == 0)
            return &table->cells[row * table->column_count + i];
    return NULL;
}

double gl_chart__number(const gl_table *table, size_t row, const char *column)
{
    const gl_cell *cell = find_cell(table, row, column);
    if (cell != NULL && cell->type == GL_CELL_REAL)
        return cell->as.real;
    return cell != NULL && cell->type == GL_CELL_INTEGER ? (double)cell->as.integer : (double)NAN;
}

const char *gl_chart__text(const gl_table *table, size_t row, const char *column)
{
    const gl_cell *cell = find_cell(table, row, column);
    return cell != NULL && cell->type == GL_CELL_TEXT ? cell->as.text : NULL;
}

const gl_table *gl_chart__table(const gl_scenario *part, const char *name)
{
    for (size_t i = 0; i < part->table_count; i++)
        if (part->tables[i]->row_count > 0 && strcmp(part->tables[i]->name, name) == 0)
            return part->tables[i];
    return NULL;
}

/* How many bytes all names begin with, up to behind a blank. */
static size_t common_start(const gl_report *report, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < report->scenario_count; i++) {
        const char *other = report->scenarios[i].name;
        size_t same = 0;
        if (other == NULL || strcmp(other, name) == 0)
            continue;
        while (same < length && name[same] == other[same])
            same++;
        length = same;
    }
    while (length > 0 && name[length - 1] != ' ')
        length--;
    return length;
}

const char *gl_chart__short_name(const gl_report *report, const gl_scenario *part, gl_arena *arena)
{
    const char *name = part->name != NULL ? part->name : "";
    /* One alone has nothing to differ from. */
    const char *rest = report->scenario_count > 1 ? name + common_start(report, name) : name;
    return gl_arena_strdup(arena, rest[0] != '\0' ? rest : name);
}

gl_series *gl_chart__series(gl_chart *chart, gl_arena *arena, const char *name, gl_chart_mark mark,
                            int hue)
{
    chart->series = gl_arena_grow(arena, chart->series, &chart->series_capacity,
                                  chart->series_count + 1, sizeof *chart->series);
    chart->series[chart->series_count] = (gl_series){.name = name, .mark = mark, .hue = hue};
    return &chart->series[chart->series_count++];
}

gl_series *gl_chart__named(gl_chart *chart, gl_arena *arena, const char *name, gl_chart_mark mark,
                           int hue)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (chart->series[i].mark == mark && strcmp(chart->series[i].name, name) == 0)
            return &chart->series[i];
    return gl_chart__series(chart, arena, name, mark, hue);
}

void gl_chart__add(gl_series *series, gl_arena *arena, gl_datum datum)
{
    series->data = gl_arena_grow(arena, series->data, &series->capacity, series->count + 1,
                                 sizeof *series->data);
    series->data[series->count++] = datum;
}

size_t gl_chart__category(gl_chart *chart, gl_arena *arena, const char *name)
{
    const char **names = GL_ARENA_NEW(arena, const char *, chart->category_count + 1);
    if (chart->category_count > 0)
        memcpy(names, chart->categories, chart->category_count * sizeof *names);
    names[chart->category_count] = name;
    chart->categories = names;
    return chart->category_count++;
}

void gl_chart__hang(gl_charting *c, size_t part, const gl_chart *chart)
{
    gl_chart_list *list = &c->lists[part];
    size_t data = 0;
    for (size_t i = 0; i < chart->series_count; i++)
        data += chart->series[i].count;
    if (data == 0)
        return;
    list->items =
        gl_arena_grow(c->arena, list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = *chart;
}

const gl_report *gl_charts_add(const gl_report *report, gl_arena *arena)
{
    /* In the order in which people see them. */
    static void (*const builders[])(gl_charting *) = {
        gl_charts__step,        gl_charts__cost,     gl_charts__bandwidth, gl_charts__uncertainty,
        gl_charts__sensitivity, gl_charts__timeline, gl_charts__curves,    gl_charts__staircase};
    size_t parts = report->scenario_count + 1;
    gl_charting c = {
        .report = report, .arena = arena, .lists = GL_ARENA_NEW(arena, gl_chart_list, parts)};
    gl_scenario *copies = GL_ARENA_NEW(arena, gl_scenario, parts);
    gl_report *out = GL_ARENA_NEW(arena, gl_report, 1);
    for (size_t i = 0; i < sizeof builders / sizeof builders[0]; i++)
        builders[i](&c);
    for (size_t i = 0; gl_report_part(report, i) != NULL; i++) {
        copies[i] = *gl_report_part(report, i);
        copies[i].charts = c.lists[i].items;
        copies[i].chart_count = c.lists[i].count;
    }
    *out = *report;
    out->scenarios = copies;
    if (report->comparison != NULL)
        out->comparison = &copies[report->scenario_count];
    return out;
}
