/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program of this machine says. */
#ifndef GL_IMPORT_COMMAND_H
#define GL_IMPORT_COMMAND_H

#include "common/arena.h"

/* Standard output of a command of the shell, its first MiB; `*length` is without the NUL behind it.
 * NULL when the command failed or said nothing. What it says to standard error is dropped. */
char *gl_command_output(gl_arena *arena, const char *command, size_t *length);

#endif
