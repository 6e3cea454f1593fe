/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion of command lines in shells, by the tables that also drive parsing and --help. */
#ifndef GL_COMMON_COMPLETE_H
#define GL_COMMON_COMPLETE_H

#include "common/program.h"

/*
 * Prints what may stand in place of the last of the words that follow the program's name (it may be
 * empty), one a line: the text, a tab, what it is. Verbs, options, choices, and what the program's
 * `complete` adds. Nothing: a file, or a word of one's own.
 */
void gl_complete(const gl_program *program, int count, char **words, gl_output *out);

#endif
