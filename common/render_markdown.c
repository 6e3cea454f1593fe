/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GitHub-flavoured markdown. */
#include "common/render_internal.h"

#include <string.h>

/* Text that markdown must not take for markup; '_' inside words is none there. */
static void put_escaped(gl_output *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\|<>*`[]&", *text) != NULL)
            gl_output_puts(out, "\\");
        gl_output_write(out, text, 1);
    }
}

static void put_heading(gl_arena *arena, gl_output *out, int level, const char *text)
{
    gl_output_puts(out, level == 2 ? "## " : "### ");
    put_escaped(out, gl_render__clean(arena, text));
    gl_output_puts(out, "\n\n");
}

/* A label is bold; blanks that line texts up on a terminal would be lost anyway. */
static void put_line(gl_arena *arena, gl_output *out, const char *line, size_t length)
{
    size_t label = gl_render__label(line, length), from = label;
    while (from < length && line[from] == ' ')
        from++;
    if (label > 0) {
        gl_output_puts(out, "**");
        put_escaped(out, gl_arena_strndup(arena, line, label));
        gl_output_puts(out, "** ");
    }
    put_escaped(out, gl_arena_strndup(arena, line + from, length - from));
}

/* Lines stay lines: two blanks at the end force a break. */
static void put_paragraph(gl_arena *arena, gl_output *out, const char *text)
{
    for (const char *rest = gl_render__clean(arena, text); *rest != '\0';) {
        size_t length = strcspn(rest, "\n");
        put_line(arena, out, rest, length);
        rest += length;
        if (*rest == '\n')
            rest++;
        gl_output_puts(out, *rest != '\0' && *rest != '\n' && length > 0 ? "  \n" : "\n");
    }
    gl_output_puts(out, "\n");
}

static void put_header(gl_output *out, const gl_table *table)
{
    gl_output_puts(out, "|");
    for (size_t i = 0; i < table->column_count; i++) {
        if (!gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
            continue;
        gl_output_puts(out, " ");
        put_escaped(out, gl_render__heading(&table->columns[i]));
        gl_output_puts(out, " |");
    }
    gl_output_puts(out, "\n|");
    for (size_t i = 0; i < table->column_count; i++)
        if (gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
            gl_output_puts(out, gl_render__is_number(table, i) ? " ---: |" : " --- |");
    gl_output_puts(out, "\n");
}

static void put_cell(gl_arena *arena, gl_output *out, const gl_table *table, size_t row,
                     size_t column)
{
    const gl_cell *cell = &table->cells[row * table->column_count + column];
    gl_output_puts(out, " ");
    put_escaped(out, gl_render__cell(arena, &table->columns[column], cell));
    gl_output_puts(out, " |");
}

static void put_rows(gl_arena *arena, gl_output *out, const gl_table *table)
{
    put_header(out, table);
    for (size_t row = 0; row < table->row_count; row++) {
        gl_output_puts(out, "|");
        for (size_t i = 0; i < table->column_count; i++)
            if (gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
                put_cell(arena, out, table, row, i);
        gl_output_puts(out, "\n");
    }
}

/* Blanks before a name say whose part it is. */
static void put_name(gl_output *out, const char *name)
{
    for (; strncmp(name, "  ", 2) == 0; name += 2)
        gl_output_puts(out, "&emsp;");
    put_escaped(out, name);
}

static void put_record(gl_arena *arena, gl_output *out, const gl_table *table)
{
    gl_output_puts(out, "| quantity | value |\n| --- | --- |\n");
    for (size_t i = 0; i < table->column_count; i++) {
        if (!gl_render__shows(&table->columns[i], GL_FOR_PEOPLE) ||
            table->cells[i].type == GL_CELL_EMPTY)
            continue;
        gl_output_puts(out, "| ");
        put_name(out, gl_render__heading(&table->columns[i]));
        gl_output_puts(out, " |");
        put_cell(arena, out, table, 0, i);
        gl_output_puts(out, "\n");
    }
}

static void put_table(gl_arena *arena, gl_output *out, const gl_table *table, int level)
{
    put_heading(arena, out, level, table->title);
    if (table->row_count == 0)
        gl_output_puts(out, "No rows.\n");
    else if (table->record)
        put_record(arena, out, table);
    else
        put_rows(arena, out, table);
    gl_output_puts(out, "\n");
}

static void put_warnings(gl_arena *arena, gl_output *out, const gl_scenario *scenario, int level)
{
    put_heading(arena, out, level, "Warnings");
    for (size_t i = 0; i < scenario->warning_count; i++) {
        gl_output_puts(out, "- ");
        for (const char *c = gl_render__clean(arena, scenario->warnings[i]); *c != '\0';) {
            size_t length = strcspn(c, "\n");
            put_escaped(out, gl_arena_strndup(arena, c, length));
            c += length;
            if (*c == '\n')
                c++;
            gl_output_puts(out, *c != '\0' ? "\n  " : "");
        }
        gl_output_puts(out, "\n");
    }
    gl_output_puts(out, "\n");
}

void gl_render__markdown(const gl_report *report, const gl_render_options *options, gl_output *out)
{
    gl_arena *arena = gl_arena_create();
    const gl_scenario *part;
    bool several = gl_report_part(report, 1) != NULL;
    int level = several ? 3 : 2;
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++) {
        if (several && part->name != NULL)
            put_heading(arena, out, 2, part->name);
        if (part->headline != NULL)
            put_paragraph(arena, out, part->headline);
        for (size_t t = 0; t < part->table_count; t++)
            if (gl_render__selects(options, part->tables[t]) &&
                (part->tables[t]->row_count > 0 || options->only_table != NULL))
                put_table(arena, out, part->tables[t], part->name != NULL ? level : 2);
        if (part->warning_count > 0)
            put_warnings(arena, out, part, level);
    }
    gl_arena_destroy(arena);
}
