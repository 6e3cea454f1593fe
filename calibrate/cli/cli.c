/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/cli.h"

#include "calibrate/cli/commands.h"
#include "calibrate/measure/backend.h"
#include "common/store/store.h"
#include "common/text.h"
#include "gpulink_version.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const gl_command *const commands[] = {&gl_calibrate_run, &gl_calibrate_import,
                                             &gl_calibrate_show, &gl_calibrate_merge};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const char purpose[] = "measures curves of GPU interconnects, or takes them from logs of "
                              "nccl-tests, into a database that gpulink-plan reads";

int gl_calibrate_report(const gl_command *command, const gl_error *err)
{
    char text[1400];
    fprintf(stderr, "%s: %s\n", GL_CALIBRATE_PROGRAM, gl_error_text(err, text, sizeof text));
    if (err->status == GL_ERROR_USAGE)
        fprintf(stderr, "Try '%s%s%s --help'.\n", GL_CALIBRATE_PROGRAM, command != NULL ? " " : "",
                command != NULL ? command->name : "");
    return (int)err->status;
}

/* Writes what `print` puts out to standard output; a full disk is found out. */
static int print_all(void (*print)(const gl_command *command, gl_output *out),
                     const gl_command *command)
{
    gl_output *out;
    gl_error err;
    if (!gl_output_open(NULL, &out, &err))
        return gl_calibrate_report(NULL, &err);
    print(command, out);
    return gl_output_close(out, &err) ? GL_OK : gl_calibrate_report(NULL, &err);
}

static void print_command_help(const gl_command *command, gl_output *out)
{
    gl_options_help(GL_CALIBRATE_PROGRAM, command, out);
}

int gl_calibrate_help(const gl_command *command)
{
    return print_all(print_command_help, command);
}

static void print_program_help(const gl_command *command, gl_output *out)
{
    (void)command;
    gl_program_help(GL_CALIBRATE_PROGRAM, purpose, commands, COMMAND_COUNT, out);
}

static void print_version(const gl_command *command, gl_output *out)
{
    (void)command;
    gl_output_printf(out,
                     "%s %s\n"
                     "SQLite %s, jansson %s, database schema %d\n"
                     "%s\n%s\n",
                     GL_CALIBRATE_PROGRAM, GPULINK_VERSION, gl_store_sqlite_version(),
                     JANSSON_VERSION, GL_STORE_VERSION, gl_backend_nccl_version(),
                     gl_backend_mpi_version());
}

void gl_calibrate_now(char *text, size_t size)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t seconds = epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL || strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(text, size, "1970-01-01T00:00:00Z");
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    char shown[64];
    gl_error err;
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *near = gl_nearest(name, names, COMMAND_COUNT);
    gl_printable(name, shown, sizeof shown);
    if (near != NULL)
        gl_fail(&err, GL_ERROR_USAGE, "unknown command '%s'; did you mean '%s'?", shown, near);
    else
        gl_fail(&err, GL_ERROR_USAGE, "unknown command '%s'; there are run, import, show and merge",
                shown);
    return gl_calibrate_report(NULL, &err);
}

int gl_calibrate_main(int argc, char **argv)
{
    gl_error err;
    if (argc < 2) {
        gl_fail(&err, GL_ERROR_USAGE, "a command is missing: run, import, show or merge");
        return gl_calibrate_report(NULL, &err);
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        for (int i = 0; i < COMMAND_COUNT; i++)
            if (strcmp(argv[2], commands[i]->name) == 0)
                return gl_calibrate_help(commands[i]);
        return unknown_command(argv[2]);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print_all(print_program_help, NULL);
    if (strcmp(argv[1], "--version") == 0)
        return print_all(print_version, NULL);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}
