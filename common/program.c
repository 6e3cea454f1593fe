/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/program.h"

#include "common/complete.h"
#include "common/status_line.h"
#include "common/text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COMMANDS_MAX = 32, GUESS_BYTES = 160 };

/* The command that runs, for what is said outside of it. */
static struct {
    const char *program;
    bool quiet;
} running;

/* Was an option --quiet of the command given? */
static bool is_quiet(const gl_command *command, const void *target)
{
    for (const gl_option *o = command->options; o->name != NULL; o++)
        if (strcmp(o->name, "quiet") == 0 && o->type == GL_OPTION_FLAG)
            return *(const bool *)((const char *)target + o->offset);
    return false;
}

void gl_program_say_wait(const char *path)
{
    char shown[600];
    gl_status_line line = {.shown = isatty(STDERR_FILENO) != 0};
    if (running.program == NULL || running.quiet)
        return;
    gl_status_line_clear(&line);
    fprintf(stderr, "%s: %s: another program is writing to it; waiting\n", running.program,
            gl_printable(path, shown, sizeof shown));
}

int gl_program_fail(const char *program, const char *verb, const gl_error *err)
{
    char text[2048];
    /* A reader that closed the pipe has seen enough, and there is nothing to tell. */
    if (err->message[0] != '\0')
        fprintf(stderr, "%s: %s\n", program, gl_error_text(err, text, sizeof text));
    if (err->status == GL_ERROR_USAGE)
        fprintf(stderr, "Try '%s%s%s --help'.\n", program, verb != NULL ? " " : "",
                verb != NULL ? verb : "");
    return (int)err->status;
}

static int close_output(const gl_program *program, gl_output *out)
{
    gl_error err;
    return gl_output_close(out, &err) ? GL_OK : gl_program_fail(program->name, NULL, &err);
}

int gl_program_command_help(const gl_program *program, const gl_command *command)
{
    gl_error err;
    gl_output *out = NULL;
    if (!gl_output_open(NULL, &out, &err))
        return gl_program_fail(program->name, NULL, &err);
    gl_options_help(program->name, command, out);
    return close_output(program, out);
}

static bool has_option(const gl_command *command, const char *name, size_t length)
{
    for (const gl_option *o = command->options; o->name != NULL; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return true;
    return false;
}

/* After a command line that a command does not understand: a word of it may be another's option, or
 * the name of another, which comes first. */
static void say_whose(const gl_program *program, const gl_command *command, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const gl_command *named = gl_program_command(program, argv[i]);
        bool option = strncmp(argv[i], "--", 2) == 0;
        size_t length = option ? strcspn(argv[i] + 2, "=") : 0;
        if (named != NULL && access(argv[i], F_OK) != 0)
            fprintf(stderr, "%s: '%s' is a command and comes first: %s %s %s\n", program->name,
                    named->name, program->name, named->name, named->synopsis);
        for (size_t k = 0; option && k < program->command_count; k++)
            if (!has_option(command, argv[i] + 2, length) &&
                has_option(program->commands[k], argv[i] + 2, length))
                fprintf(stderr, "%s: '%s %s' has --%.*s\n", program->name, program->name,
                        program->commands[k]->name, (int)length, argv[i] + 2);
    }
}

bool gl_program_parse(const gl_program *program, const gl_command *command, int argc, char **argv,
                      gl_arena *arena, void *target, gl_texts *arguments, int *status)
{
    gl_error err;
    bool help = false;
    if (!gl_options_parse(command, argc, argv, arena, target, arguments, &help, &err)) {
        *status = gl_program_fail(program->name, command->name, &err);
        say_whose(program, command, argc, argv);
    } else if (help)
        *status = gl_program_command_help(program, command);
    else {
        running.program = program->name;
        running.quiet = is_quiet(command, target);
        return true;
    }
    return false;
}

/* Of the program itself: its help, or its version. */
static int print_program(const gl_program *program, bool version)
{
    gl_error err;
    gl_output *out = NULL;
    if (!gl_output_open(NULL, &out, &err))
        return gl_program_fail(program->name, NULL, &err);
    if (version)
        program->print_version(out);
    else
        gl_program_help(program->name, program->purpose, program->examples, program->commands,
                        program->command_count, out);
    return close_output(program, out);
}

const gl_command *gl_program_command(const gl_program *program, const char *name)
{
    for (size_t i = 0; i < program->command_count; i++)
        if (strcmp(program->commands[i]->name, name) == 0)
            return program->commands[i];
    return NULL;
}

/* Says that the word is no command, with the likely one. */
static int unknown(const gl_program *program, const char *word)
{
    const char *names[COMMANDS_MAX];
    char shown[64], guess[GUESS_BYTES];
    size_t count = 0;
    gl_error err;
    for (; count < program->command_count && count < COMMANDS_MAX; count++)
        names[count] = program->commands[count]->name;
    gl_guess(word, names, count, guess, sizeof guess);
    gl_fail(&err, GL_ERROR_USAGE, "'%s' is %s%s", gl_printable(word, shown, sizeof shown),
            program->other != NULL ? "neither a command nor a file" : "no command", guess);
    return gl_program_fail(program->name, NULL, &err);
}

static int run_help(const gl_program *program, const char *verb)
{
    const gl_command *command = verb != NULL ? gl_program_command(program, verb) : NULL;
    if (verb == NULL)
        return print_program(program, false);
    return command != NULL ? gl_program_command_help(program, command) : unknown(program, verb);
}

static int print_manual(const gl_program *program, const char *part)
{
    gl_error err;
    gl_output *out = NULL;
    if (!gl_output_open(NULL, &out, &err))
        return gl_program_fail(program->name, NULL, &err);
    if (!gl_program_manual(program, part, out)) {
        gl_output_discard(out);
        return unknown(program, part);
    }
    return close_output(program, out);
}

static int print_completion(const gl_program *program, int count, char **words)
{
    gl_error err;
    gl_output *out = NULL;
    if (!gl_output_open(NULL, &out, &err))
        return gl_program_fail(program->name, NULL, &err);
    gl_complete(program, count, words, out);
    return close_output(program, out);
}

/* A reader that has seen enough ("| head"), or a limit on the size of files, must not kill the
 * program before it has cleaned up: the write fails, and that is told. */
static void survive_failed_writes(void)
{
    static const int signals[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            signal(signals[i], SIG_IGN);
    }
}

static int run_command(const gl_command *command, int argc, char **argv)
{
    gl_arena *arena = gl_arena_create();
    int status = command->run(argc, argv, arena);
    gl_arena_destroy(arena);
    return status;
}

int gl_program_run(const gl_program *program, int argc, char **argv)
{
    gl_error err;
    survive_failed_writes();
    if (argc < 2) {
        fprintf(stderr, "%s: %s\n", program->name, program->wanted); /* several lines */
        err = (gl_error){.status = GL_ERROR_USAGE};
        return gl_program_fail(program->name, NULL, &err);
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0)
        return print_program(program, true);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_program(program, false);
    if (strcmp(word, "complete") == 0)
        return print_completion(program, argc - 2, argv + 2);
    if (argc == 4 && strcmp(word, "help") == 0 && strcmp(argv[2], "--man") == 0)
        return print_manual(program, argv[3]);
    if (strcmp(word, "help") == 0)
        return run_help(program, argc > 2 ? argv[2] : NULL);
    const gl_command *command = gl_program_command(program, word);
    if (command != NULL)
        return run_command(command, argc - 1, argv + 1);
    command = program->other != NULL ? program->other(argc, argv) : NULL;
    return command != NULL ? run_command(command, argc, argv) : unknown(program, word);
}
