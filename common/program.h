/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both programs do with their command line before a verb takes over. */
#ifndef GL_COMMON_PROGRAM_H
#define GL_COMMON_PROGRAM_H

#include "common/options.h"

typedef struct gl_program {
    const char *name, *purpose;
    const gl_command *const *commands;
    size_t command_count;
    void (*print_version)(gl_output *out);
    const char *wanted; /* said when the command line is empty: "give a model description …" */
    /* Runs what is no verb, argv as the program got it; NULL: it is an unknown command. */
    int (*run_other)(int argc, char **argv);
} gl_program;

/* Runs a verb, "help", "help VERB", "--help" or "--version". Returns the exit status. */
int gl_program_run(const gl_program *program, int argc, char **argv);

/* Says that the word is no command, with the likely one. Returns the exit status. */
int gl_program_unknown(const gl_program *program, const char *word);

/* Prints the help of a command to standard output. Returns the exit status. */
int gl_program_command_help(const gl_program *program, const gl_command *command);

/* Prints "PROGRAM: file:line:column: path: message" to standard error, and for usage errors a hint
 * at the help of the verb (may be NULL). Returns the exit status. */
int gl_program_fail(const char *program, const char *verb, const gl_error *err);

#endif
