/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a limited width, for tables, help texts and warnings. */
#ifndef GL_COMMON_WRAP_H
#define GL_COMMON_WRAP_H

#include "common/output.h"

typedef struct gl_line {
    const char *text; /* not terminated */
    size_t length;    /* bytes */
    size_t width;     /* columns */
} gl_line;

/* Takes the next line of at most `width` columns from *rest: up to a line end, else broken at a
 * blank, else inside a word. Blanks at a break are dropped. False when nothing is left. */
bool gl_next_line(const char **rest, size_t width, gl_line *line);

/* Columns of the longest word. */
size_t gl_longest_word(const char *text);

/* Prints `text` as lines of at most `width` columns, each ended. The first line starts where the
 * cursor is, supposed to be column `indent`; the others are indented to there. */
void gl_put_wrapped(gl_output *out, const char *text, size_t indent, size_t width);

/* Prints lines of a text, each of them wrapped and indented to where its own text starts: behind
 * leading blanks, a sign ("  = "), or a label that two blanks end ("Memory    "). */
void gl_put_hanging(gl_output *out, const char *text, size_t width);

void gl_put_blanks(gl_output *out, size_t count);

#endif
