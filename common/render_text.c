/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aligned tables for a terminal. */
#include "common/render_internal.h"
#include "common/utf8.h"
#include "common/wrap.h"

enum {
    DEFAULT_WIDTH = 100,
    GAP = 2,
    NARROWEST_TEXT = 10 /* on the narrowest page: words are broken below this alone */
};

typedef struct text_column {
    const gl_column *column;
    size_t index; /* in the table */
    bool right;   /* numbers */
    bool text;    /* may be wrapped */
    size_t cells; /* width of the widest cell */
    size_t word;  /* width of the longest word in them */
    size_t width;
} text_column;

typedef struct layout {
    gl_arena *arena;
    gl_output *out;
    const gl_render_options *options;
    size_t page;
    const gl_table *table;
    text_column *columns;
    size_t count;
    const char **texts; /* row_count × count */
} layout;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void put_style(const layout *l, const char *code)
{
    if (l->options->color)
        gl_output_puts(l->out, code);
}

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

/* A title: bold where there is colour, underlined elsewhere. */
static void put_title(const layout *l, const char *text, char underline)
{
    text = gl_render__clean(l->arena, text);
    put_style(l, BOLD);
    gl_output_puts(l->out, text);
    put_style(l, PLAIN);
    gl_output_puts(l->out, "\n");
    if (l->options->color)
        return;
    for (size_t i = gl_utf8_width(text); i > 0; i--)
        gl_output_write(l->out, &underline, 1);
    gl_output_puts(l->out, "\n");
}

static void measure_cell(layout *l, text_column *column, size_t row, size_t position)
{
    const gl_cell *cell = &l->table->cells[row * l->table->column_count + column->index];
    const char *text = gl_render__cell(l->arena, column->column, cell);
    l->texts[row * l->count + position] = text;
    column->cells = larger(column->cells, gl_utf8_width(text));
    column->word = larger(column->word, gl_longest_word(text));
    if (cell->type == GL_CELL_TEXT || cell->type == GL_CELL_BOOL)
        column->text = true;
    else if (cell->type != GL_CELL_EMPTY)
        column->right = true;
}

static void measure(layout *l, const gl_table *table)
{
    l->table = table;
    l->columns = GL_ARENA_NEW(l->arena, text_column, table->column_count);
    l->count = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (gl_render__shows(&table->columns[i], GL_FOR_PEOPLE))
            l->columns[l->count++] = (text_column){.column = &table->columns[i], .index = i};
    l->texts = GL_ARENA_NEW(l->arena, const char *, table->row_count * l->count);
    for (size_t i = 0; i < l->count; i++) {
        text_column *column = &l->columns[i];
        for (size_t row = 0; row < table->row_count; row++)
            measure_cell(l, column, row, i);
        column->right = column->right && !column->text;
        column->width = larger(column->cells, gl_utf8_width(gl_render__heading(column->column)));
    }
}

static size_t total_width(const layout *l)
{
    size_t total = GAP * (l->count - 1);
    for (size_t i = 0; i < l->count; i++)
        total += l->columns[i].width;
    return total;
}

/* How far a column can shrink: headings first, at no loss; then texts between words; only where
 * that is not enough for the page, also inside of words. */
typedef enum squeeze { WRAP_HEADINGS, WRAP_TEXTS, BREAK_WORDS } squeeze;

static size_t least_width(const text_column *column, squeeze how)
{
    size_t heading = gl_longest_word(gl_render__heading(column->column));
    size_t cells = column->cells;
    if (how >= WRAP_TEXTS && column->text)
        cells = column->word;
    if (how == BREAK_WORDS && column->text && cells > NARROWEST_TEXT)
        cells = NARROWEST_TEXT;
    return larger(heading, cells);
}

/* Takes columns from the widest one that can give, until the table fits or none can. */
static void shrink(layout *l, squeeze how)
{
    for (size_t total = total_width(l); total > l->page; total--) {
        text_column *widest = NULL;
        for (size_t i = 0; i < l->count; i++) {
            text_column *column = &l->columns[i];
            if (column->width > least_width(column, how) &&
                (widest == NULL || column->width > widest->width))
                widest = column;
        }
        if (widest == NULL)
            return;
        widest->width--;
    }
}

/* Prints one row, of several lines where texts are wrapped. No blanks at the end of a line. */
static void put_row(const layout *l, const char **texts)
{
    for (bool more = true; more;) {
        size_t blanks = 0;
        more = false;
        for (size_t i = 0; i < l->count; i++) {
            const text_column *column = &l->columns[i];
            gl_line line = {"", 0, 0};
            gl_next_line(&texts[i], column->width, &line);
            size_t padding =
                column->width - (line.width < column->width ? line.width : column->width);
            blanks += column->right ? padding : 0;
            if (line.length > 0) {
                gl_put_blanks(l->out, blanks);
                gl_output_write(l->out, line.text, line.length);
                blanks = 0;
            }
            blanks += (column->right ? 0 : padding) + GAP;
            more = more || *texts[i] != '\0';
        }
        gl_output_puts(l->out, "\n");
    }
}

/* Headings stand on the line above the first row, whatever their height. */
static void put_headings(const layout *l)
{
    const char **texts = GL_ARENA_NEW(l->arena, const char *, l->count);
    for (size_t i = 0; i < l->count; i++)
        texts[i] = gl_render__heading(l->columns[i].column);
    put_style(l, DIM);
    put_row(l, texts);
    put_style(l, PLAIN);
}

static void put_rows(layout *l)
{
    shrink(l, WRAP_HEADINGS);
    shrink(l, WRAP_TEXTS);
    shrink(l, BREAK_WORDS);
    put_headings(l);
    for (size_t row = 0; row < l->table->row_count; row++)
        put_row(l, l->texts + row * l->count);
}

/* Names and values; what is empty is left out. */
static void put_record(const layout *l)
{
    size_t names = 0;
    for (size_t i = 0; i < l->count; i++)
        names = larger(names, gl_utf8_width(gl_render__heading(l->columns[i].column)));
    for (size_t i = 0; i < l->count; i++) {
        const char *name = gl_render__heading(l->columns[i].column);
        if (l->texts[i][0] == '\0')
            continue;
        gl_output_puts(l->out, name);
        gl_put_blanks(l->out, names - gl_utf8_width(name) + GAP);
        gl_put_wrapped(l->out, l->texts[i], names + GAP, l->page);
    }
}

static void put_table(layout *l, const gl_table *table)
{
    measure(l, table);
    put_title(l, table->title, '-');
    if (table->row_count == 0)
        gl_output_puts(l->out, "(no rows)\n");
    else if (table->record)
        put_record(l);
    else if (l->count > 0)
        put_rows(l);
}

static void put_warnings(const layout *l, const gl_scenario *scenario)
{
    put_title(l, "Warnings", '-');
    for (size_t i = 0; i < scenario->warning_count; i++) {
        gl_output_puts(l->out, "- ");
        gl_put_wrapped(l->out, gl_render__clean(l->arena, scenario->warnings[i]), 2, l->page);
    }
}

/* An empty line before everything but the first block. */
static void separate(const layout *l, bool *first)
{
    if (!*first)
        gl_output_puts(l->out, "\n");
    *first = false;
}

static void put_scenario(layout *l, const gl_scenario *scenario, bool titled, bool *first)
{
    if (titled && scenario->name != NULL) {
        separate(l, first);
        put_title(l, scenario->name, '=');
    }
    if (scenario->headline != NULL) {
        separate(l, first);
        gl_put_hanging(l->out, gl_render__clean(l->arena, scenario->headline), l->page);
    }
    for (size_t i = 0; i < scenario->table_count; i++) {
        const gl_table *table = scenario->tables[i];
        if (!gl_render__selects(l->options, table) ||
            (table->row_count == 0 && l->options->only_table == NULL))
            continue;
        separate(l, first);
        put_table(l, table);
    }
    if (scenario->warning_count > 0) {
        separate(l, first);
        put_warnings(l, scenario);
    }
}

void gl_render__text(const gl_report *report, const gl_render_options *options, gl_output *out)
{
    layout l = {.arena = gl_arena_create(), .out = out, .options = options};
    l.page = options->width > 0 ? (size_t)options->width : DEFAULT_WIDTH;
    bool first = true, several = gl_report_part(report, 1) != NULL;
    const gl_scenario *part;
    for (size_t i = 0; (part = gl_report_part(report, i)) != NULL; i++)
        put_scenario(&l, part, several, &first);
    gl_arena_destroy(l.arena);
}
