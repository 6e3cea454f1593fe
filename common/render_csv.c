/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RFC 4180: comma, CRLF, quotes doubled. */
#include "common/render_internal.h"
#include "common/texts.h"
#include "common/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Spreadsheets run a cell that starts with one of these as a formula. */
static bool is_formula(const char *text)
{
    return *text != '\0' && strchr("=+-@\t\r", *text) != NULL;
}

static void put_quoted(gl_output *out, const char *text, const char *guard)
{
    gl_output_puts(out, "\"");
    gl_output_puts(out, guard);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            gl_output_puts(out, "\"");
        gl_output_write(out, text, 1);
    }
    gl_output_puts(out, "\"");
}

/* The same text in valid UTF-8. */
static const char *repair(gl_arena *arena, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *valid_text = GL_ARENA_NEW(arena, char, 3 * strlen(text) + 1);
    size_t used = 0;
    while (*text != '\0') {
        uint32_t character;
        int valid;
        size_t length = gl_utf8_next(text, &character, &valid);
        size_t put = valid ? length : sizeof replacement - 1;
        memcpy(valid_text + used, valid ? text : replacement, put);
        used += put;
        text += length;
    }
    return valid_text;
}

static void put_text(gl_arena *arena, gl_output *out, const char *text)
{
    const char *guard = is_formula(text) ? "'" : "";
    text = repair(arena, text);
    if (strpbrk(text, ",\"\r\n") != NULL) {
        put_quoted(out, text, guard);
        return;
    }
    gl_output_puts(out, guard);
    gl_output_puts(out, text);
}

static void put_real(gl_output *out, double value)
{
    char text[40];
    if (isfinite(value))
        gl_output_puts(out, gl_format_double(value, text, sizeof text));
}

static void put_cell(gl_arena *arena, gl_output *out, const gl_cell *cell)
{
    switch (cell->type) {
    case GL_CELL_EMPTY:
        break;
    case GL_CELL_TEXT:
        put_text(arena, out, cell->as.text);
        break;
    case GL_CELL_INTEGER:
        gl_output_printf(out, "%" PRId64, cell->as.integer);
        break;
    case GL_CELL_REAL:
        put_real(out, cell->as.real);
        break;
    case GL_CELL_BOOL:
        gl_output_puts(out, cell->as.boolean ? "true" : "false");
        break;
    }
}

/* Scenarios may differ in the columns of a table: the file has all of them. */
static void add_columns(gl_arena *arena, gl_texts *names, const gl_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const gl_column *column = &table->columns[i];
        if (gl_render__shows(column, GL_FOR_MACHINES) && !gl_texts_have(names, column->name))
            gl_texts_add(names, arena, column->name);
    }
}

static const gl_cell *find_cell(const gl_table *table, size_t row, const char *name)
{
    static const gl_cell empty = {0};
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0 &&
            gl_render__shows(&table->columns[i], GL_FOR_MACHINES))
            return &table->cells[row * table->column_count + i];
    return &empty;
}

static void put_rows(gl_arena *arena, gl_output *out, const char *scenario, const gl_table *table,
                     const gl_texts *names)
{
    for (size_t row = 0; row < table->row_count; row++) {
        put_text(arena, out, scenario != NULL ? scenario : "");
        for (size_t i = 0; i < names->count; i++) {
            gl_output_puts(out, ",");
            put_cell(arena, out, find_cell(table, row, names->items[i]));
        }
        gl_output_puts(out, "\r\n");
    }
}

static const gl_table *find_table(const gl_scenario *scenario, const char *name)
{
    for (size_t i = 0; i < scenario->table_count; i++)
        if (strcmp(scenario->tables[i]->name, name) == 0)
            return scenario->tables[i];
    return NULL;
}

void gl_render__csv(const gl_report *report, const char *table, gl_output *out)
{
    gl_arena *arena = gl_arena_create();
    gl_texts names = {0};
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++) {
        const gl_table *found = find_table(part, table);
        if (found != NULL)
            add_columns(arena, &names, found);
    }
    gl_output_puts(out, "scenario");
    for (size_t i = 0; i < names.count; i++) {
        gl_output_puts(out, ",");
        put_text(arena, out, names.items[i]);
    }
    gl_output_puts(out, "\r\n");
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++) {
        const gl_table *found = find_table(part, table);
        if (found != NULL)
            put_rows(arena, out, part->name, found, &names);
    }
    gl_arena_destroy(arena);
}
