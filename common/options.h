/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line: one table per command drives parsing, --help, the man page and completion.
 */
#ifndef GL_COMMON_OPTIONS_H
#define GL_COMMON_OPTIONS_H

#include "common/arena.h"
#include "common/error.h"
#include "common/output.h"
#include "common/texts.h"
#include "common/units.h"

typedef enum gl_option_type {
    GL_OPTION_FLAG,     /* bool */
    GL_OPTION_TEXT,     /* const char * (borrowed from argv) */
    GL_OPTION_LIST,     /* gl_texts: may be given several times */
    GL_OPTION_INTEGER,  /* long long within minimum … maximum */
    GL_OPTION_QUANTITY, /* double of `dimension` within minimum … maximum */
    GL_OPTION_CHOICE    /* int (or an enum): index into `choices` */
} gl_option_type;

typedef struct gl_option {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* short name or 0 */
    gl_option_type type;
    const char *value_name; /* "FILE"; NULL for flags */
    const char *help;       /* one sentence, says the default */
    size_t offset;          /* of the target in the command's options struct */
    gl_dimension dimension;
    double minimum, maximum; /* of integers and quantities; both 0 = no limits */
    /* NULL-terminated; of texts what completion offers, of lists what a value begins with: neither
     * is checked */
    const char *const *choices;
} gl_option;

/* A verb of a program. */
typedef struct gl_command {
    const char *name;     /* "plan" */
    const char *synopsis; /* "MODEL.yaml --cluster CLUSTER [options]" */
    const char *summary;  /* one line */
    const char *examples; /* whole lines, each a command that works */
    const gl_option *options;
    int minimum_arguments, maximum_arguments; /* positional; maximum −1 = any number */
    /* Runs the command. argv[0] is the verb; the arena lasts as long as the command. Returns the
     * exit status. */
    int (*run)(int argc, char **argv, gl_arena *arena);
} gl_command;

/*
 * Parses argv (argv[0] skipped) into `target`, a struct that the caller has filled with defaults.
 * Options and arguments may be mixed; "--" ends options; "--name=value" and "--name value" both
 * work; abbreviations are refused. Positional arguments go to `arguments`. A wrong option gives a
 * GL_ERROR_USAGE with "did you mean"; the error's path is the option. An option of one value that
 * is given twice is wrong, too: neither value overrules the other unseen. Flags may be repeated. A
 * separate value may start with '-' but not with "--". Letters may be joined ("-qv", "-oFILE").
 * *help is set, and nothing is checked further, when --help or -h was given.
 */
bool gl_options_parse(const gl_command *command, int argc, char **argv, gl_arena *arena,
                      void *target, gl_texts *arguments, bool *help, gl_error *err);

/* What the help says of an option: its sentence, and the choices there are. */
const char *gl_option_help(const gl_option *option, gl_arena *arena);

/* Help of one command, and of the whole program (all its commands). */
void gl_options_help(const char *program, const gl_command *command, gl_output *out);
void gl_program_help(const char *program, const char *purpose, const char *examples,
                     const gl_command *const *commands, size_t count, gl_output *out);

#endif
