/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/cli.h"

#include "calibrate/cli/commands.h"
#include "calibrate/measure/backend.h"
#include "common/inputs.h"
#include "common/program.h"
#include "common/store/store.h"
#include "gpulink_version.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const gl_command *const commands[] = {&gl_calibrate_run, &gl_calibrate_import,
                                             &gl_calibrate_show, &gl_calibrate_doctor,
                                             &gl_calibrate_merge};

static void print_version(gl_output *out)
{
    gl_output_printf(out,
                     "%s %s\n"
                     "SQLite %s, jansson %s, database schema %d\n"
                     "%s\n%s\n",
                     GL_CALIBRATE_PROGRAM, GPULINK_VERSION, gl_store_sqlite_version(),
                     JANSSON_VERSION, GL_STORE_VERSION, gl_backend_nccl_version(),
                     gl_backend_mpi_version());
}

static const gl_program program = {
    .name = GL_CALIBRATE_PROGRAM,
    .purpose = "measures curves of GPU interconnects, or takes them from logs of nccl-tests, into "
               "a database that gpulink-plan reads",
    .examples = "gpulink-calibrate run --db lab.db --label \"8 x H200\" --compute --overlap\n"
                "gpulink-calibrate import node_*.txt --db lab.db --transport nvlink\n"
                "gpulink-calibrate doctor\n",
    .commands = commands,
    .command_count = sizeof commands / sizeof *commands,
    .print_version = print_version,
    .wanted = "a command is missing: run, import, show, doctor or merge",
};

int gl_calibrate_report(const gl_command *command, const gl_error *err)
{
    return gl_program_fail(GL_CALIBRATE_PROGRAM, command != NULL ? command->name : NULL, err);
}

void gl_calibrate_say_lines(const char *before, const char *lines)
{
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        fprintf(stderr, "  %s%.*s\n", before, (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

bool gl_calibrate_parse(const gl_command *command, int argc, char **argv, gl_arena *arena,
                        void *options, gl_texts *arguments, int *status)
{
    return gl_program_parse(&program, command, argc, argv, arena, options, arguments, status);
}

int gl_calibrate_help(const gl_command *command)
{
    return gl_program_command_help(&program, command);
}

void gl_calibrate_now(char *text, size_t size)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t seconds = epoch != NULL ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL || strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(text, size, "1970-01-01T00:00:00Z");
}

int gl_calibrate_main(int argc, char **argv)
{
    gl_inputs_remember();
    gl_store_on_wait(gl_program_say_wait);
    int status = gl_program_run(&program, argc, argv);
    gl_inputs_forget();
    return status;
}
