/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both programs do with their command line before a verb takes over. */
#ifndef GL_COMMON_PROGRAM_H
#define GL_COMMON_PROGRAM_H

#include "common/options.h"

typedef struct gl_program {
    const char *name, *purpose;
    const char *examples; /* of the whole program: whole lines, each a command that works */
    const gl_command *const *commands;
    size_t command_count;
    void (*print_version)(gl_output *out);
    const char *wanted; /* said when the command line is empty: "give a model description …" */
    /* The command that takes a command line which begins with no verb, all of it; NULL: the first
     * word is an unknown command. May be NULL itself. */
    const gl_command *(*other)(int argc, char **argv);
    const gl_command *default_command; /* what such a command line mostly means; NULL: nothing */
    /* Adds values, beside its choices, that an option takes, or that are arguments of the command
     * (option NULL), for completion. NULL: there are none but files. */
    void (*complete)(const gl_command *command, const gl_option *option, gl_arena *arena,
                     gl_texts *values);
} gl_program;

/*
 * Runs a verb, "help", "help VERB", "--help" or "--version". For what is installed beside the
 * program: "complete WORD ..." prints how the last word may go on, "help --man PART" a part of the
 * manual page. Returns the exit status.
 */
int gl_program_run(const gl_program *program, int argc, char **argv);

/* Parses what a command got into `target` and `arguments` (see gl_options_parse). False when there
 * is nothing left to do but to return *status: help was asked for, or something is wrong and was
 * said. */
bool gl_program_parse(const gl_program *program, const gl_command *command, int argc, char **argv,
                      gl_arena *arena, void *target, gl_texts *arguments, int *status);

/* The verb of this name, or NULL. */
const gl_command *gl_program_command(const gl_program *program, const char *name);

/* Prints, in mdoc, what the manual page says by the option tables: "synopsis", "shared" (options of
 * several verbs), or the options that only one verb has, by its name. False: there is no such part.
 */
bool gl_program_manual(const gl_program *program, const char *part, gl_output *out);

/* Prints the help of a command to standard output. Returns the exit status. */
int gl_program_command_help(const gl_program *program, const gl_command *command);

/* Prints "PROGRAM: file:line:column: path: message" to standard error, and for usage errors a hint
 * at the help of the verb (may be NULL). Returns the exit status. */
int gl_program_fail(const char *program, const char *verb, const gl_error *err);

/* Says, on standard error and unless the command is quiet, that it waits until another program has
 * written to the file. */
void gl_program_say_wait(const char *path);

#endif
