/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows and column headers of nccl-tests' table. */
#ifndef GL_CALIBRATE_NCCL_ROW_H
#define GL_CALIBRATE_NCCL_ROW_H

#include "calibrate/import/parsed.h"
#include "calibrate/import/prefix.h"

/* What a column of one placement holds. */
typedef enum gl_column_kind {
    GL_COL_TIME,
    GL_COL_ALGBW,
    GL_COL_BUSBW,
    GL_COL_WRONG,     /* wrong elements */
    GL_COL_DEVIATION, /* before 2.13: greatest deviation, no count */
    GL_COL_MIN,
    GL_COL_OTHER /* i_max, i_p99, i_cv% */
} gl_column_kind;

enum { GL_LAYOUT_MAX = 12 };

/* The columns of one placement; both placements have the same. */
typedef struct gl_layout {
    gl_column_kind columns[GL_LAYOUT_MAX];
    size_t count;
    bool has_redop, has_root, is_old, cpu_time; /* is_old: of 1.x, times in ms */
} gl_layout;

void gl_layout_default(gl_layout *layout);

/* Reads the layout from the words of a header line; false when the line is no header. */
bool gl_layout_read(const gl_words *words, gl_layout *layout);

/* A number of the table. False when the word is none. "N/A" gives NaN; half of the last digit
 * printed is the error. */
bool gl_printed_read(const char *text, size_t length, gl_printed *printed);

/* A row that may still lack values: rows are flushed in pieces (preamble, out of place, in place).
 */
typedef struct gl_row_pieces {
    gl_parsed_row row; /* size, count, type, redop, root, line */
    gl_printed values[2 * GL_LAYOUT_MAX];
    size_t value_count;
    bool joined;
} gl_row_pieces;

/* Finds a row (size count type [redop] [root] and 0, 1 or 2 placements of values) in the words.
 * False when there is none; a row of a wrong number of values has value_count 0. A layout with
 * per-iteration columns is taken when the number of values says so and no header did. */
bool gl_row_read(const gl_words *words, gl_arena *arena, gl_layout *layout, gl_row_pieces *row,
                 const char **timestamp);

/* Adds a line that holds nothing but the values of one or two placements (and perhaps a prefix and
 * a time stamp); false when the words are none or the row needs less. */
bool gl_row_add_values(const gl_words *words, const gl_layout *layout, gl_row_pieces *row);

/* The row of one placement (0 out of place, 1 in place); false when it has no time ("N/A"). */
bool gl_row_placement(const gl_row_pieces *pieces, const gl_layout *layout, int placement,
                      gl_parsed_row *row);

#endif
