/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/csv.h"

#include "common/text.h"
#include "common/utf8.h"

#include <string.h>

enum {
    COLUMNS_MAX = 256,
    ROWS_MAX = 100000,
    CELLS_MAX = 3000000,
    CELL_MAX = 64 * 1024,
    NAME_SHOWN = 60
};

typedef struct reader {
    const char *next, *end;
    int line, column; /* of `next`, columns in characters */
    gl_arena *arena;
    gl_csv_file *csv;
    bool comments; /* lines that begin with '#' are */
    size_t cells, capacity;
    char *cell; /* the one being read */
    size_t used, room;
    gl_error *err;
} reader;

static bool fail_here(const reader *r, int line, int column, const char *message)
{
    gl_mark mark = {.file = r->csv->name, .line = line, .column = column};
    return gl_fail_at(r->err, GL_ERROR_INPUT, &mark, NULL, "%s", message);
}

static bool at_end(const reader *r)
{
    return r->next == r->end;
}

static bool at_line_end(const reader *r)
{
    return at_end(r) || *r->next == '\n' ||
           (*r->next == '\r' && r->next + 1 < r->end && r->next[1] == '\n');
}

/* Goes past one character, which is valid. */
static bool advance(reader *r, size_t *length)
{
    uint32_t character;
    int valid;
    *length = gl_utf8_next(r->next, &character, &valid);
    if (!valid)
        return fail_here(r, r->line, r->column, "holds bytes that are no UTF-8");
    bool control = character < 0x20 && character != '\t' && character != '\n' && character != '\r';
    if (control || character == 0x7f)
        return fail_here(r, r->line, r->column,
                         "holds a control character; a CSV file is expected");
    r->next += *length;
    r->column++;
    if (character == '\n') {
        r->line++;
        r->column = 1;
    }
    return true;
}

static void skip_line_end(reader *r)
{
    if (!at_end(r) && *r->next == '\r')
        r->next++;
    if (!at_end(r))
        r->next++;
    r->line++;
    r->column = 1;
}

/* Goes past a line that holds nothing, or a comment; false when it holds cells. */
static bool skip_line(reader *r)
{
    if (r->comments && !at_end(r) && *r->next == '#')
        r->next += strcspn(r->next, "\n");
    else if (!at_line_end(r))
        return false;
    skip_line_end(r);
    return true;
}

static bool take(reader *r)
{
    size_t length;
    const char *from = r->next;
    if (!advance(r, &length))
        return false;
    if (r->used + length > CELL_MAX)
        return fail_here(r, r->line, r->column, "a cell is longer than 64 KiB");
    r->cell = gl_arena_grow(r->arena, r->cell, &r->room, r->used + length, 1);
    memcpy(r->cell + r->used, from, length);
    r->used += length;
    return true;
}

static bool read_plain(reader *r)
{
    while (!at_line_end(r) && *r->next != ',') {
        if (*r->next == '"')
            return fail_here(
                r, r->line, r->column,
                "a quote inside a cell: put the cell in quotes and write \"\" for one");
        if (*r->next == '\r')
            return fail_here(r, r->line, r->column, "a carriage return inside a cell");
        if (!take(r))
            return false;
    }
    return true;
}

static bool read_quoted(reader *r)
{
    int line = r->line, column = r->column;
    r->next++;
    r->column++;
    for (;;) {
        if (at_end(r))
            return fail_here(r, line, column, "a quote is never closed");
        if (*r->next == '"') {
            r->next++;
            r->column++;
            if (at_end(r) || *r->next != '"')
                break;
        }
        if (!take(r))
            return false;
    }
    if (!at_line_end(r) && *r->next != ',')
        return fail_here(r, r->line, r->column,
                         "text behind a closing quote; expected: a comma or the end of the line");
    return true;
}

static bool read_cell(reader *r)
{
    gl_csv_cell cell = {.line = r->line, .column = r->column};
    r->used = 0;
    if (r->cells == CELLS_MAX)
        return fail_here(r, r->line, r->column, "more than 3000000 cells");
    if (!(!at_end(r) && *r->next == '"' ? read_quoted(r) : read_plain(r)))
        return false;
    cell.text = gl_arena_strndup(r->arena, r->cell != NULL ? r->cell : "", r->used);
    r->csv->cells = gl_arena_grow(r->arena, r->csv->cells, &r->capacity, r->cells + 1, sizeof cell);
    r->csv->cells[r->cells++] = cell;
    return true;
}

static bool read_row(reader *r, size_t *count)
{
    for (*count = 1;; ++*count) {
        if (*count > COLUMNS_MAX)
            return fail_here(r, r->line, r->column, "more than 256 columns");
        if (!read_cell(r))
            return false;
        if (at_line_end(r))
            break;
        r->next++;
        r->column++;
    }
    skip_line_end(r);
    return true;
}

static bool check_header(const reader *r)
{
    const gl_csv_file *csv = r->csv;
    for (size_t i = 0; i < csv->columns; i++) {
        const gl_csv_cell *cell = &csv->cells[i];
        gl_mark mark = gl_csv_mark(csv, cell);
        if (cell->text[0] == '\0')
            return gl_fail_at(r->err, GL_ERROR_INPUT, &mark, NULL, "column %zu has no name", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(csv->cells[k].text, cell->text) == 0)
                return gl_fail_at(r->err, GL_ERROR_INPUT, &mark, NULL,
                                  "the column '%.*s' appears twice", NAME_SHOWN, cell->text);
    }
    return true;
}

static bool read_header(reader *r)
{
    while (!at_end(r) && skip_line(r))
        ;
    if (at_end(r))
        return fail_here(r, 1, 1, "is empty; a CSV file with a header row is expected");
    return read_row(r, &r->csv->columns) && check_header(r);
}

static bool read_rows(reader *r)
{
    gl_csv_file *csv = r->csv;
    while (!at_end(r)) {
        int line = r->line;
        size_t count;
        if (skip_line(r))
            continue;
        if (csv->rows == ROWS_MAX)
            return fail_here(r, line, 1, "more than 100000 rows");
        if (!read_row(r, &count))
            return false;
        if (count != csv->columns) {
            gl_mark mark = {.file = csv->name, .line = line, .column = 1};
            return gl_fail_at(r->err, GL_ERROR_INPUT, &mark, NULL,
                              "the row has %zu cells where the header has %zu", count,
                              csv->columns);
        }
        csv->rows++;
    }
    return true;
}

bool gl_csv_parse(const char *name, const char *text, size_t length, gl_csv_comments comments,
                  gl_arena *arena, gl_csv_file *csv, gl_error *err)
{
    size_t skipped = gl_mark_length(text, length);
    text += skipped;
    length -= skipped;
    gl_csv_file read = {.name = gl_arena_strdup(arena, name)};
    /* A copy with its end marked: characters are looked at as C strings. */
    text = gl_arena_strndup(arena, text, length);
    reader r = {.next = text,
                .end = text + strlen(text),
                .line = 1,
                .column = 1,
                .arena = arena,
                .csv = &read,
                .comments = comments == GL_CSV_COMMENTS,
                .err = err};
    if (strlen(text) < length)
        return fail_here(&r, 0, 0, "is a binary file (NUL byte); a CSV file is expected");
    if (!read_header(&r) || !read_rows(&r))
        return false;
    *csv = read;
    return true;
}

size_t gl_csv_column(const gl_csv_file *csv, const char *name)
{
    size_t i = 0;
    while (i < csv->columns && strcmp(csv->cells[i].text, name) != 0)
        i++;
    return i;
}
