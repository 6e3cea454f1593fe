/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/table.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

gl_table *gl_table_create(gl_arena *arena, const char *name, const char *title,
                          const gl_column *columns, size_t column_count)
{
    assert(name != NULL);
    gl_table *table = GL_ARENA_NEW(arena, gl_table, 1);
    table->name = name;
    table->title = title != NULL ? title : name;
    table->columns = columns;
    table->column_count = column_count;
    table->arena = arena;
    return table;
}

gl_cell *gl_table_add_row(gl_table *table)
{
    size_t used = table->row_count * table->column_count;
    table->cells = gl_arena_grow(table->arena, table->cells, &table->cell_capacity,
                                 used + table->column_count, sizeof *table->cells);
    table->row_count++;
    return table->cells + used;
}

const char *const gl_format_names[] = {
    [GL_FORMAT_TABLE] = "table",       [GL_FORMAT_CSV] = "csv",   [GL_FORMAT_JSON] = "json",
    [GL_FORMAT_MARKDOWN] = "markdown", [GL_FORMAT_HTML] = "html", NULL};

bool gl_format_parse(const char *text, gl_format *format)
{
    for (size_t i = 0; gl_format_names[i] != NULL; i++) {
        if (strcmp(text, gl_format_names[i]) == 0) {
            *format = (gl_format)i;
            return true;
        }
    }
    return false;
}

const char *gl_format_unknown_ending(const char *path)
{
    static const char *const plain[] = {".txt", ".log", ".out"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *ending = strrchr(name, '.');
    if (ending == NULL || ending == name || gl_format_of_file(path) != NULL ||
        !isalpha((unsigned char)ending[1]))
        return NULL;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(ending, plain[i]) == 0)
            return NULL;
    return ending;
}

const char *gl_format_of_file(const char *path)
{
    /* As GL_FORMAT_ENDINGS says. */
    static const struct {
        const char *ending, *format;
    } endings[] = {{".html", "html"}, {".htm", "html"},    {".csv", "csv"},
                   {".json", "json"}, {".md", "markdown"}, {".xlsx", "xlsx"}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(ending, endings[i].ending) == 0)
            return endings[i].format;
    return NULL;
}

const gl_scenario *gl_report_part(const gl_report *report, size_t index)
{
    if (index < report->scenario_count)
        return &report->scenarios[index];
    return index == report->scenario_count ? report->comparison : NULL;
}
