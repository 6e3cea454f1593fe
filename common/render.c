/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/render.h"

#include "common/render_internal.h"
#include "common/text.h"
#include "common/texts.h"

#include <inttypes.h>
#include <string.h>

bool gl_render__selects(const gl_render_options *options, const gl_table *table)
{
    return options->only_table == NULL || strcmp(options->only_table, table->name) == 0;
}

bool gl_render__shows(const gl_column *column, int audience)
{
    return (column->audience & GL_FOR_ALL) == 0 || (column->audience & audience) != 0;
}

bool gl_render__is_number(const gl_table *table, size_t column)
{
    bool number = false;
    for (size_t row = 0; row < table->row_count; row++) {
        gl_cell_type type = table->cells[row * table->column_count + column].type;
        if (type == GL_CELL_TEXT || type == GL_CELL_BOOL)
            return false;
        number = number || type != GL_CELL_EMPTY;
    }
    return number;
}

const char *gl_render__heading(const gl_column *column)
{
    return column->heading != NULL ? column->heading : column->name;
}

const char *gl_render__clean(gl_arena *arena, const char *text)
{
    /* Each byte stays or becomes one '?', and there is room for an ellipsis that is not needed. */
    size_t size = strlen(text) + 4;
    char *clean = GL_ARENA_NEW(arena, char, size);
    size_t used = 0;
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        char *part = gl_arena_strndup(arena, text, line);
        gl_printable(part, clean + used, size - used);
        used += strlen(clean + used);
        text += line;
        if (*text == '\n') {
            clean[used++] = '\n';
            text++;
        }
    }
    clean[used] = '\0';
    return clean;
}

size_t gl_render__label(const char *line, size_t length)
{
    if (length == 0 || line[0] == ' ')
        return 0;
    for (size_t i = 1; i + 1 < length; i++)
        if (line[i] == ' ' && line[i + 1] == ' ')
            return i;
    return 0;
}

static const char *one_line(gl_arena *arena, const char *text)
{
    char *copy = gl_arena_strdup(arena, text);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r')
            *c = ' ';
    return gl_render__clean(arena, copy);
}

static const char *number_text(gl_arena *arena, const gl_column *column, double value)
{
    enum { ROOM = 64 };
    char *text = GL_ARENA_NEW(arena, char, ROOM);
    if ((column->audience & GL_AS_GIB) != 0)
        return gl_format_gib(value, text, ROOM);
    if ((column->audience & GL_AS_MONEY) != 0)
        return gl_format_money(value, text, ROOM);
    return gl_format_quantity(value, column->dimension, text, ROOM);
}

const char *gl_render__cell(gl_arena *arena, const gl_column *column, const gl_cell *cell)
{
    bool plain = column->dimension == GL_NUMBER && (column->audience & GL_AS_MONEY) == 0;
    switch (cell->type) {
    case GL_CELL_EMPTY:
        break;
    case GL_CELL_TEXT:
        return one_line(arena, cell->as.text);
    case GL_CELL_INTEGER:
        if (plain)
            return gl_arena_printf(arena, "%" PRId64, cell->as.integer);
        return number_text(arena, column, (double)cell->as.integer);
    case GL_CELL_REAL:
        return number_text(arena, column, cell->as.real);
    case GL_CELL_BOOL:
        return cell->as.boolean ? "yes" : "no";
    }
    return "";
}

/* All table names of a report, each once. */
static gl_texts list_tables(const gl_report *report, gl_arena *arena)
{
    gl_texts names = {0};
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++) {
        for (size_t t = 0; t < part->table_count; t++)
            if (!gl_texts_have(&names, part->tables[t]->name))
                gl_texts_add(&names, arena, part->tables[t]->name);
    }
    return names;
}

static bool fail_name(const gl_texts *names, const char *name, gl_arena *arena, gl_error *err)
{
    char shown[80], guess[128];
    const char *list = gl_arena_join(arena, names->items, names->count, ", ");
    gl_printable(name, shown, sizeof shown);
    if (names->count == 0)
        return gl_fail(err, GL_ERROR_USAGE, "no table '%s': the report has no tables", shown);
    return gl_fail(err, GL_ERROR_USAGE, "no table '%s'%s there are: %s", shown,
                   gl_did_you_mean(name, names->items, names->count, guess, sizeof guess), list);
}

/* The table that a CSV holds when none was asked for. */
static const char *default_table(const gl_report *report, const gl_texts *names)
{
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++)
        for (size_t t = 0; t < part->table_count; t++)
            if (part->tables[t]->row_count > 0)
                return part->tables[t]->name;
    return names->count > 0 ? names->items[0] : NULL;
}

static bool render_csv(const gl_report *report, const gl_render_options *options,
                       const gl_texts *names, gl_output *out, gl_error *err)
{
    const char *table = options->csv_table != NULL ? options->csv_table : options->only_table;
    if (table == NULL)
        table = default_table(report, names);
    if (table == NULL)
        return gl_fail(err, GL_ERROR_USAGE, "the report has no table that CSV could hold");
    gl_render__csv(report, table, out);
    return true;
}

static bool render_checked(const gl_report *report, gl_format format,
                           const gl_render_options *options, const gl_texts *names, gl_output *out,
                           gl_error *err)
{
    switch (format) {
    case GL_FORMAT_TABLE:
        gl_render__text(report, options, out);
        break;
    case GL_FORMAT_CSV:
        return render_csv(report, options, names, out, err);
    case GL_FORMAT_JSON:
        gl_render_json(report, options, out);
        break;
    case GL_FORMAT_MARKDOWN:
        gl_render__markdown(report, options, out);
        break;
    case GL_FORMAT_HTML:
        gl_render__html(report, options, out);
        break;
    }
    return true;
}

bool gl_render(const gl_report *report, gl_format format, const gl_render_options *options,
               gl_output *out, gl_error *err)
{
    static const gl_render_options defaults = {0};
    if (options == NULL)
        options = &defaults;
    gl_arena *arena = gl_arena_create();
    gl_texts names = list_tables(report, arena);
    const char *wanted = options->only_table;
    if (format == GL_FORMAT_CSV && options->csv_table != NULL)
        wanted = options->csv_table;
    bool done =
        wanted == NULL || gl_texts_have(&names, wanted) || fail_name(&names, wanted, arena, err);
    done = done && render_checked(report, format, options, &names, out, err);
    gl_arena_destroy(arena);
    return done;
}

bool gl_render_to(const char *path, const gl_report *report, gl_format format,
                  const gl_render_options *options, gl_error *err)
{
    gl_output *out = NULL;
    if (!gl_output_open(path, &out, err))
        return false;
    if (!gl_render(report, format, options, out, err)) {
        gl_output_discard(out);
        return false;
    }
    return gl_output_close(out, err);
}
