/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the terminal is like, for those who print to it. */
#ifndef GL_COMMON_TERMINAL_H
#define GL_COMMON_TERMINAL_H

#include <stdbool.h>

enum { GL_WIDTH_MIN = 40, GL_WIDTH_DEFAULT = 100, GL_WIDTH_MAX = 200 };

/* Columns to fill: COLUMNS where it is a number, else those of the terminal when standard output is
 * one, else 100; within 40 to 200. `standard_output` false: the answer goes to a file. */
int gl_terminal_width(bool standard_output);

#endif
