/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs, one cmd_<verb>.c each. */
#ifndef GL_PLANNER_CLI_COMMANDS_H
#define GL_PLANNER_CLI_COMMANDS_H

#include "common/options.h"

/* Beside the errors of gl_status: answered, and the answer is no. */
enum { GL_EXIT_NO = 1 };

extern const gl_command gl_cmd_plan;
extern const gl_command gl_cmd_compare;
extern const gl_command gl_cmd_accept;
extern const gl_command gl_cmd_explain;
extern const gl_command gl_cmd_search;
extern const gl_command gl_cmd_schema;
extern const gl_command gl_cmd_check;
extern const gl_command gl_cmd_validate;

/* What schema takes, NULL-terminated. */
extern const char *const gl_schema_names[];

/* What --table of compare takes, NULL-terminated, in the arena. */
const char *const *gl_compare_table_names(gl_arena *arena);

/* For completion: values that an option takes, or arguments of the command (option NULL). */
void gl_cli_complete(const gl_command *command, const gl_option *option, gl_arena *arena,
                     gl_texts *values);

/* gl_program_parse for this program. */
bool gl_cli_parse(const gl_command *command, int argc, char **argv, gl_arena *arena, void *options,
                  gl_texts *arguments, int *status);

#endif
