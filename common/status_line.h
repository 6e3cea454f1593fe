/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line on a terminal that says how far a long command is, written over the line before. Nothing
 * when standard error is no terminal, and nothing of what is done within a second.
 */
#ifndef GL_COMMON_STATUS_LINE_H
#define GL_COMMON_STATUS_LINE_H

#include <stdbool.h>

typedef struct gl_status_line {
    bool shows, shown;
    double next_s; /* when to show it next, by gl_monotonic_s */
} gl_status_line;

/* Shows when standard error is a terminal, unless `quiet`. */
gl_status_line gl_status_line_start(bool quiet);

/* Is it time to say something: a second after the start, then five times a second? */
bool gl_status_line_is_due(gl_status_line *line);

/* Says it if it is due, cut to the width of the terminal. */
void gl_status_line_say(gl_status_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says it now, terminal or not: for callers that know. */
void gl_status_line_put(const char *text);

/* Wipes the line, if there is one. Before anything else is written to standard error. */
void gl_status_line_clear(gl_status_line *line);

#endif
