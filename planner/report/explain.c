/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/report/explain.h"
#include "common/text.h"

#include <stdlib.h>
#include <string.h>

static bool is_prefix(const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    return strncmp(prefix, name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10;
}

static bool matches(const gl_figure_text *figure, const char *line)
{
    if (is_number(line))
        return figure->line == (size_t)strtoul(line, NULL, 10);
    return is_prefix(line, figure->name);
}

static bool fail_line(const gl_explanation *explanation, const char *line, gl_arena *arena,
                      gl_error *err)
{
    const char **names = GL_ARENA_NEW(arena, const char *, explanation->figure_count);
    char shown[64], guess[256];
    for (size_t i = 0; i < explanation->figure_count; i++)
        names[i] = explanation->figures[i].name;
    gl_printable(line, shown, sizeof shown);
    if (is_number(line))
        return gl_fail(err, GL_ERROR_USAGE, "there is no line %s: this plan has 1 to %zu", shown,
                       explanation->line_count);
    return gl_fail(err, GL_ERROR_USAGE, "there is no line '%s'%s without a line, all are listed",
                   shown,
                   gl_did_you_mean(line, names, explanation->figure_count, guess, sizeof guess));
}

bool gl_explain_select(gl_explanation *explanation, const char *line, gl_arena *arena,
                       gl_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < explanation->figure_count; i++)
        kept += matches(&explanation->figures[i], line);
    if (kept == 0)
        return fail_line(explanation, line, arena, err);
    size_t to = 0;
    for (size_t i = 0; i < explanation->figure_count; i++)
        if (matches(&explanation->figures[i], line))
            explanation->figures[to++] = explanation->figures[i];
    explanation->figure_count = to;
    return true;
}

static const gl_column list_columns[] = {
    {"line", "Line", GL_NUMBER, GL_FOR_PEOPLE},
    {"name", "Name", GL_NUMBER, GL_FOR_PEOPLE},
    {"what", "What", GL_NUMBER, GL_FOR_PEOPLE},
    {"result", "Result", GL_NUMBER, GL_FOR_PEOPLE},
    {"evidence", "Evidence", GL_NUMBER, GL_FOR_PEOPLE},
};

static const gl_figure_text *find_figure(const gl_explanation *explanation, const char *name)
{
    for (size_t i = 0; i < explanation->figure_count; i++)
        if (strcmp(explanation->figures[i].name, name) == 0)
            return &explanation->figures[i];
    return NULL;
}

void gl_explain_list(const gl_explanation *explanation, gl_arena *arena, gl_scenario *out)
{
    gl_table *table = gl_table_create(arena, "explain", "Lines that can be explained", list_columns,
                                      sizeof list_columns / sizeof list_columns[0]);
    for (size_t i = 0; i < explanation->line_count; i++) {
        const gl_explained_line *line = &explanation->lines[i];
        const gl_figure_text *shown = find_figure(explanation, line->shown);
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_integer((int64_t)i + 1);
        cell[1] = gl_text(line->name);
        cell[2] = gl_text(line->what);
        cell[3] = gl_text(shown != NULL ? shown->brief : NULL);
        cell[4] = gl_text(shown != NULL ? shown->evidence : NULL);
    }
    *out = (gl_scenario){.name = explanation->subject,
                         .tables = GL_ARENA_NEW(arena, gl_table *, 1),
                         .table_count = 1};
    out->tables[0] = table;
}

static const gl_column detail_columns[] = {
    {"line", NULL, GL_NUMBER, GL_FOR_MACHINES},     {"name", NULL, GL_NUMBER, GL_FOR_MACHINES},
    {"value", NULL, GL_NUMBER, GL_FOR_MACHINES},    {"unit", NULL, GL_NUMBER, GL_FOR_MACHINES},
    {"formula", NULL, GL_NUMBER, GL_FOR_MACHINES},  {"numbers", NULL, GL_NUMBER, GL_FOR_MACHINES},
    {"evidence", NULL, GL_NUMBER, GL_FOR_MACHINES}, {"source", NULL, GL_NUMBER, GL_FOR_MACHINES},
    {"meaning", NULL, GL_NUMBER, GL_FOR_MACHINES},  {"note", NULL, GL_NUMBER, GL_FOR_MACHINES},
};

static gl_table *detail_table(const gl_explanation *explanation, gl_arena *arena)
{
    gl_table *table = gl_table_create(arena, "explain", "Explanation", detail_columns,
                                      sizeof detail_columns / sizeof detail_columns[0]);
    for (size_t i = 0; i < explanation->figure_count; i++) {
        const gl_figure_text *figure = &explanation->figures[i];
        gl_cell *cell = gl_table_add_row(table);
        cell[0] = gl_integer((int64_t)figure->line);
        cell[1] = gl_text(figure->name);
        cell[2] = figure->value;
        cell[3] = gl_text(figure->unit);
        cell[4] = gl_text(figure->formula);
        cell[5] = gl_text(figure->numbers);
        cell[6] = gl_text(figure->evidence);
        cell[7] = gl_text(figure->source);
        cell[8] = gl_text(figure->meaning);
        cell[9] = gl_text(figure->note);
    }
    return table;
}

/* One figure as a block of lines. */
static const char *block(const gl_figure_text *figure, gl_arena *arena)
{
    const char *text = gl_arena_printf(arena, "%s: %s\n", figure->name, figure->meaning);
    if (figure->formula != NULL)
        text = gl_arena_printf(arena, "%s  = %s\n", text, figure->formula);
    if (figure->numbers != NULL)
        text = gl_arena_printf(arena, "%s  = %s\n", text, figure->numbers);
    text =
        gl_arena_printf(arena, "%s  = %s\n  evidence: %s", text, figure->result, figure->evidence);
    if (figure->source != NULL)
        text = gl_arena_printf(arena, "%s, from %s", text, figure->source);
    if (figure->note != NULL)
        text = gl_arena_printf(arena, "%s\n  note: %s", text, figure->note);
    return gl_arena_printf(arena, "%s\n", text);
}

void gl_explain_detail(const gl_explanation *explanation, gl_arena *arena, gl_scenario *out)
{
    const char *text = gl_arena_printf(arena, "%s\n", explanation->subject);
    for (size_t i = 0; i < explanation->figure_count; i++)
        text = gl_arena_printf(arena, "%s\n%s", text, block(&explanation->figures[i], arena));
    *out = (gl_scenario){.name = explanation->subject,
                         .headline = text,
                         .tables = GL_ARENA_NEW(arena, gl_table *, 1),
                         .table_count = 1};
    out->tables[0] = detail_table(explanation, arena);
}
