/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the terminal is like, for those who print to it. */
#ifndef GL_COMMON_TERMINAL_H
#define GL_COMMON_TERMINAL_H

#include <stdbool.h>

enum { GL_WIDTH_MIN = 40, GL_WIDTH_DEFAULT = 100, GL_WIDTH_MAX = 200 };

/* Columns to fill: COLUMNS where it is a number, else those of the terminal when standard output is
 * one, else 100; within 40 to 200. `standard_output` false: the answer goes to a file. */
int gl_terminal_width(bool standard_output);

/* What --color says. */
typedef enum gl_color_choice { GL_COLOR_AUTO, GL_COLOR_ALWAYS, GL_COLOR_NEVER } gl_color_choice;

extern const char *const gl_color_choices[]; /* by gl_color_choice; NULL-terminated */

/* Is the answer to be emphasised? AUTO: on a terminal that is not dumb, unless NO_COLOR is set and
 * not empty (https://no-color.org). */
bool gl_terminal_color(gl_color_choice choice, bool standard_output);

#endif
