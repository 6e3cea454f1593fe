/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages to standard error: everything that is not the answer. */
#ifndef GL_PLANNER_CLI_MESSAGES_H
#define GL_PLANNER_CLI_MESSAGES_H

#include "common/error.h"
#include "common/options.h"

/* Prints "gpulink-plan: file:line:column: path: message", for usage errors with a hint at the
 * command's help (`verb` may be NULL). Returns the exit status. */
int gl_cli_fail(const char *verb, const gl_error *err);

/* Prints all collected problems, one a line. Returns the exit status. */
int gl_cli_fail_all(const gl_diagnostics *diagnostics);

/* "gpulink-plan: warning: …" */
void gl_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "gpulink-plan: …" */
void gl_cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
