/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/cli.h"
#include "common/inputs.h"
#include "common/program.h"
#include "common/store/store.h"
#include "gpulink_plan_build_info.h"
#include "gpulink_version.h"
#include "planner/cli/commands.h"
#include "planner/input/file_text.h"
#include "planner/report/xlsx.h"

#include <string.h>
#include <unistd.h>

static const gl_command *const commands[] = {&gl_cmd_plan,   &gl_cmd_compare, &gl_cmd_search,
                                             &gl_cmd_accept, &gl_cmd_explain, &gl_cmd_validate,
                                             &gl_cmd_schema, &gl_cmd_check};

static void print_version(gl_output *out)
{
    gl_output_printf(out, "gpulink-plan %s%s%s%s\n", GPULINK_VERSION,
                     GPULINK_BUILD_COMMIT[0] != '\0' ? " (" : "", GPULINK_BUILD_COMMIT,
                     GPULINK_BUILD_COMMIT[0] != '\0' ? ")" : "");
    gl_output_printf(out, "built as %s by %s with %s, %s\n", GPULINK_BUILD_TYPE,
                     GPULINK_BUILD_COMPILER, GPULINK_BUILD_LIBRARIES, gl_xlsx_version());
    gl_output_puts(out, "GPL-3.0-or-later; comes without any warranty\n");
}

static bool looks_like_file(const char *word)
{
    return word[0] == '-' || strpbrk(word, "./") != NULL || access(word, F_OK) == 0;
}

static bool has_option(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], name, length) == 0 &&
            (argv[i][length] == '\0' || argv[i][length] == '='))
            return true;
    return false;
}

/* `plan` is the default verb: everything that is not a verb is its arguments. A first word that is
 * not a file either is a slip in a verb, not a missing description. Who has nothing but an
 * architecture has no layout to plan, and gets the best one. */
static const gl_command *without_verb(int argc, char **argv)
{
    if (!looks_like_file(argv[1]))
        return NULL;
    return has_option(argc, argv, "--huggingface") ? &gl_cmd_search : &gl_cmd_plan;
}

static const gl_program program = {
    .name = "gpulink-plan",
    .purpose = "plans the GPU interconnect of a training cluster from measured curves",
    .examples = "gpulink-plan models/llama-1.1b-ddp.yaml --cluster h200-nvlink\n"
                "gpulink-plan --huggingface config.json --gpus 64 --cluster hgx-h100-16-ndr\n"
                "gpulink-plan compare models/llama3-8b.yaml -c hgx-h100-16-ndr -c pcie5-switch-16 "
                "--best-layout\n",
    .commands = commands,
    .command_count = sizeof commands / sizeof commands[0],
    .print_version = print_version,
    .wanted = "give a model description, or a configuration of Hugging Face, and a cluster:\n"
              "  gpulink-plan model.yaml --cluster hgx-h100-16-ndr\n"
              "  gpulink-plan --huggingface config.json --gpus 64 --cluster hgx-h100-16-ndr\n"
              "'gpulink-plan schema model' explains descriptions, 'gpulink-plan check' reads one",
    .other = without_verb,
    .default_command = &gl_cmd_plan,
    .complete = gl_cli_complete,
};

bool gl_cli_parse(const gl_command *command, int argc, char **argv, gl_arena *arena, void *options,
                  gl_texts *arguments, int *status)
{
    return gl_program_parse(&program, command, argc, argv, arena, options, arguments, status);
}

int gl_planner_main(int argc, char **argv)
{
    gl_file_keep_streams();
    gl_inputs_remember();
    gl_store_on_wait(gl_program_say_wait);
    int status = gl_program_run(&program, argc, argv);
    gl_inputs_forget();
    return status;
}
