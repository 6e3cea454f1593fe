/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/cli.h"
#include "common/text.h"
#include "gpulink_plan_build_info.h"
#include "gpulink_version.h"
#include "planner/cli/commands.h"
#include "planner/cli/messages.h"

#include <string.h>
#include <unistd.h>

static const gl_command *const commands[] = {&gl_cmd_plan, &gl_cmd_explain, &gl_cmd_schema,
                                             &gl_cmd_check};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const char purpose[] =
    "plans the GPU interconnect of a training cluster from measured curves";

/* Opens standard output, lets `print` write to it, and reports a write that failed. */
static int print_out(void (*print)(const void *what, gl_output *out), const void *what)
{
    gl_error err;
    gl_output *out = NULL;
    if (!gl_output_open(NULL, &out, &err))
        return gl_cli_fail(NULL, &err);
    print(what, out);
    return gl_output_close(out, &err) ? GL_OK : gl_cli_fail(NULL, &err);
}

static void print_command_help(const void *command, gl_output *out)
{
    gl_options_help("gpulink-plan", command, out);
}

int gl_cli_help(const gl_command *command)
{
    return print_out(print_command_help, command);
}

static void print_program_help(const void *unused, gl_output *out)
{
    (void)unused;
    gl_program_help("gpulink-plan", purpose, commands, COMMAND_COUNT, out);
}

static void print_version(const void *unused, gl_output *out)
{
    (void)unused;
    gl_output_printf(out, "gpulink-plan %s%s%s%s\n", GPULINK_VERSION,
                     GPULINK_BUILD_COMMIT[0] != '\0' ? " (" : "", GPULINK_BUILD_COMMIT,
                     GPULINK_BUILD_COMMIT[0] != '\0' ? ")" : "");
    gl_output_printf(out, "built as %s by %s with %s\n", GPULINK_BUILD_TYPE, GPULINK_BUILD_COMPILER,
                     GPULINK_BUILD_LIBRARIES);
    gl_output_puts(out, "GPL-3.0-or-later; comes without any warranty\n");
}

static const gl_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* A first word that is neither a verb nor a file is a slip in a verb, not a missing description. */
static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT];
    char shown[64];
    gl_error err;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *near = gl_nearest(word, names, COMMAND_COUNT);
    gl_fail(&err, GL_ERROR_USAGE, "'%s' is neither a command nor a file%s%s%s",
            gl_printable(word, shown, sizeof shown), near != NULL ? ": did you mean '" : "",
            near != NULL ? near : "", near != NULL ? "'?" : "");
    return gl_cli_fail(NULL, &err);
}

static bool looks_like_file(const char *word)
{
    return word[0] == '-' || strpbrk(word, "./") != NULL || access(word, F_OK) == 0;
}

/* `plan` is the default verb: everything that is not a verb is its arguments. */
static int run_default(int argc, char **argv)
{
    if (!looks_like_file(argv[1]))
        return unknown_command(argv[1]);
    return gl_cmd_plan.run(argc, argv);
}

int gl_planner_main(int argc, char **argv)
{
    if (argc < 2) {
        gl_error err;
        gl_fail(&err, GL_ERROR_USAGE,
                "give a model description, such as 'gpulink-plan model.yaml "
                "--cluster calibration.db'");
        return gl_cli_fail(NULL, &err);
    }
    if (strcmp(argv[1], "--version") == 0)
        return print_out(print_version, NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_out(print_program_help, NULL);
    const gl_command *command = find_command(argv[1]);
    return command != NULL ? command->run(argc - 1, argv + 1) : run_default(argc, argv);
}
