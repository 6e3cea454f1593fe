/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CSV (RFC 4180): a header row, then rows of as many cells. Quotes, quotes in quotes, line breaks
 * in quotes, LF or CRLF, a byte order mark; lines without anything are skipped.
 *
 * Limits: 256 columns, 100,000 rows, 3,000,000 cells, cells of 64 KiB. Refused with position: a
 * quote inside a cell that does not begin with one, text behind a closing quote, a quote that is
 * never closed, a row that is longer or shorter than the header, empty or repeated column names,
 * bytes that are no UTF-8, control characters.
 */
#ifndef GL_COMMON_CSV_H
#define GL_COMMON_CSV_H

#include "common/arena.h"
#include "common/error.h"

typedef struct gl_csv_cell {
    const char *text; /* without quotes */
    int line, column; /* where it begins */
} gl_csv_cell;

typedef struct gl_csv_file {
    const char *name;   /* as in messages */
    gl_csv_cell *cells; /* row after row; row 0 is the header */
    size_t columns;
    size_t rows; /* without the header */
} gl_csv_file;

typedef enum gl_csv_comments {
    GL_CSV_PLAIN,   /* '#' is a character as others */
    GL_CSV_COMMENTS /* lines that begin with '#' are skipped */
} gl_csv_comments;

/* Reads all of a text; `name` stands for the file in messages. */
bool gl_csv_parse(const char *name, const char *text, size_t length, gl_csv_comments comments,
                  gl_arena *arena, gl_csv_file *csv, gl_error *err);

/* The column of this name; as many as there are columns when there is none. */
size_t gl_csv_column(const gl_csv_file *csv, const char *name);

/* A cell of row `row` (from 0, the header not counted). */
static inline const gl_csv_cell *gl_csv_cell_at(const gl_csv_file *csv, size_t row, size_t column)
{
    return &csv->cells[(row + 1) * csv->columns + column];
}

static inline gl_mark gl_csv_mark(const gl_csv_file *csv, const gl_csv_cell *cell)
{
    return (gl_mark){.file = csv->name, .line = cell->line, .column = cell->column};
}

#endif
