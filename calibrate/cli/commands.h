/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs of gpulink-calibrate, and what they share. */
#ifndef GL_CALIBRATE_COMMANDS_H
#define GL_CALIBRATE_COMMANDS_H

#include "common/error.h"
#include "common/options.h"

#define GL_CALIBRATE_PROGRAM "gpulink-calibrate"

extern const gl_command gl_calibrate_run, gl_calibrate_import, gl_calibrate_show,
    gl_calibrate_doctor, gl_calibrate_merge;

/* Prints "gpulink-calibrate: …" to standard error, for a usage error with a hint at --help. Returns
 * the error's status. */
int gl_calibrate_report(const gl_command *command, const gl_error *err);

/* Prints each of `lines` to standard error, indented, behind `before`. */
void gl_calibrate_say_lines(const char *before, const char *lines);

/* The time of recording, ISO 8601 UTC; SOURCE_DATE_EPOCH makes a build of the same logs the same
 * database. */
void gl_calibrate_now(char *text, size_t size);

/* gl_program_parse for this program. */
bool gl_calibrate_parse(const gl_command *command, int argc, char **argv, gl_arena *arena,
                        void *options, gl_texts *arguments, int *status);

/* Prints the help of a command to standard output. Returns the exit status. */
int gl_calibrate_help(const gl_command *command);

#endif
