/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The --help half of options.h. */
#include "common/options.h"
#include "common/utf8.h"
#include "common/wrap.h"

#include <string.h>

enum { HELP_WIDTH = 100, HELP_INDENT = 30 };

/* Prints `text` in a left column, and what stands beside it from column HELP_INDENT on. */
static void put_pair(gl_output *out, const char *text, const char *beside)
{
    size_t used = gl_utf8_width(text);
    gl_output_puts(out, text);
    if (used + 2 > HELP_INDENT) {
        gl_output_puts(out, "\n");
        used = 0;
    }
    gl_put_blanks(out, HELP_INDENT - used);
    gl_put_wrapped(out, beside, HELP_INDENT, HELP_WIDTH);
}

const char *gl_option_help(const gl_option *option, gl_arena *arena)
{
    const char *help = option->help != NULL ? option->help : "";
    if (option->choices == NULL)
        return help;
    help = gl_arena_printf(arena, "%s One of:", help);
    for (size_t i = 0; option->choices[i] != NULL; i++)
        help = gl_arena_printf(arena, "%s%s %s", help, i > 0 ? "," : "", option->choices[i]);
    return gl_arena_printf(arena, "%s.", help);
}

static void put_option(gl_arena *arena, gl_output *out, const gl_option *option)
{
    const char *value = option->value_name != NULL ? option->value_name : "VALUE";
    bool flag = option->type == GL_OPTION_FLAG;
    const char *letter =
        option->letter != 0 ? gl_arena_printf(arena, "-%c, ", option->letter) : "    ";
    put_pair(out,
             gl_arena_printf(arena, "  %s--%s%s%s", letter, option->name, flag ? "" : " ",
                             flag ? "" : value),
             gl_option_help(option, arena));
}

static bool has_option(const gl_option *options, const char *name)
{
    for (; options->name != NULL; options++)
        if (strcmp(options->name, name) == 0)
            return true;
    return false;
}

/* Examples are whole lines, each a command: they stand first, because they teach most. */
static void put_examples(gl_output *out, const char *examples)
{
    gl_output_puts(out, "\nExamples:\n");
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");
        gl_output_puts(out, "  ");
        gl_output_write(out, examples, length);
        gl_output_puts(out, "\n");
        examples += length + (examples[length] == '\n');
    }
}

void gl_options_help(const char *program, const gl_command *command, gl_output *out)
{
    static const gl_option help = {
        .name = "help", .letter = 'h', .type = GL_OPTION_FLAG, .help = "Print this help and exit."};
    gl_arena *arena = gl_arena_create();
    gl_output_printf(out, "Usage: %s %s %s\n\n", program, command->name, command->synopsis);
    gl_put_wrapped(out, command->summary, 0, HELP_WIDTH);
    if (command->examples != NULL)
        put_examples(out, command->examples);
    gl_output_puts(out, "\nOptions:\n");
    for (const gl_option *option = command->options; option->name != NULL; option++)
        put_option(arena, out, option);
    if (!has_option(command->options, "help"))
        put_option(arena, out, &help);
    gl_arena_destroy(arena);
}

void gl_program_help(const char *program, const char *purpose, const char *examples,
                     const gl_command *const *commands, size_t count, gl_output *out)
{
    gl_arena *arena = gl_arena_create();
    gl_output_printf(out, "Usage: %s COMMAND [options] [arguments]\n\n", program);
    gl_put_wrapped(out, purpose, 0, HELP_WIDTH);
    put_examples(out, examples);
    gl_output_puts(out, "\nCommands:\n");
    for (size_t i = 0; i < count; i++)
        put_pair(out, gl_arena_printf(arena, "  %s", commands[i]->name), commands[i]->summary);
    gl_output_printf(out,
                     "\nOptions:\n"
                     "  -h, --help                  Print this help and exit.\n"
                     "      --version               Print the version and exit.\n"
                     "\n'%s help COMMAND' explains a command and its options.\n",
                     program);
    gl_arena_destroy(arena);
}
