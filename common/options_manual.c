/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a manual page that the option tables know, in mdoc. */
#include "common/program.h"

#include <string.h>

enum { LINE_WIDTH = 72 };

/* A word of running text: what begins a request at the start of a line, what is an escape, and what
 * would print as a hyphen though it is typed. */
static void put_word(gl_output *out, const char *word, size_t length, bool starts_line)
{
    if (starts_line && (word[0] == '.' || word[0] == '\''))
        gl_output_puts(out, "\\&");
    for (size_t i = 0; i < length; i++) {
        bool typed = word[i] == '-' && (i == 0 || word[i - 1] == '-');
        gl_output_puts(out, word[i] == '\\' ? "\\e" : typed ? "\\-" : "");
        if (word[i] != '\\' && !typed)
            gl_output_write(out, word + i, 1);
    }
}

/* Lines of a moderate width, and a new one for each sentence, as mdoc wants it. */
static void put_text(gl_output *out, const char *text)
{
    size_t column = 0;
    bool sentence_ends = false;
    while (*(text += strspn(text, " \n")) != '\0') {
        size_t length = strcspn(text, " \n");
        bool breaks = column > 0 && (sentence_ends || column + 1 + length > LINE_WIDTH);
        if (column > 0)
            gl_output_puts(out, breaks ? "\n" : " ");
        column = breaks || column == 0 ? length : column + 1 + length;
        put_word(out, text, length, column == length);
        sentence_ends = strchr(".!?", text[length - 1]) != NULL;
        text += length;
    }
    gl_output_puts(out, "\n");
}

/* "MODEL.yaml --cluster CLUSTER [LINE]": what is typed is bold, what stands for something slanted.
 */
static void put_usage(const gl_command *command, gl_output *out)
{
    size_t column = 0;
    gl_output_printf(out, ".Nm\n.Cm %s\n", command->name);
    for (const char *text = command->synopsis; *(text += strspn(text, " ")) != '\0';) {
        size_t length = strcspn(text, " "), open = strspn(text, "["), word;
        word = strcspn(text + open, " ]");
        bool breaks = column + length > LINE_WIDTH / 2; /* fonts take room */
        if (column > 0)
            gl_output_puts(out, breaks ? "\n" : " ");
        column = (breaks ? 0 : column + 1) + length;
        gl_output_printf(out, "%.*s%s", (int)open, text, text[open] == '-' ? "\\fB" : "\\fI");
        put_word(out, text + open, word, false);
        gl_output_printf(out, "\\fR%.*s", (int)(length - open - word), text + open + word);
        text += length;
    }
    gl_output_puts(out, "\n");
}

static bool same_option(const gl_option *a, const gl_option *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->help, b->help) == 0;
}

static const gl_option *find_same(const gl_command *command, const gl_option *option)
{
    for (const gl_option *other = command->options; other->name != NULL; other++)
        if (same_option(other, option))
            return other;
    return NULL;
}

static size_t count_owners(const gl_program *program, const gl_option *option)
{
    size_t owners = 0;
    for (size_t i = 0; i < program->command_count; i++)
        owners += find_same(program->commands[i], option) != NULL;
    return owners;
}

/* "Of plan, search." or, where that is shorter, "Of all but check." */
static void put_owners(const gl_program *program, const gl_option *option, gl_output *out)
{
    size_t owners = count_owners(program, option), count = program->command_count;
    if (owners == count)
        return;
    bool most = owners * 2 > count;
    gl_output_puts(out, most ? "Of all but\n.Cm" : "Of\n.Cm");
    const char *separator = " ";
    for (size_t i = 0; i < count; i++) {
        if ((find_same(program->commands[i], option) != NULL) == most)
            continue;
        gl_output_printf(out, "%s%s", separator, program->commands[i]->name);
        separator = " , ";
    }
    gl_output_puts(out, " .\n");
}

static void put_option(const gl_program *program, const gl_option *option, bool shared,
                       gl_output *out)
{
    gl_arena *arena = gl_arena_create();
    gl_output_puts(out, ".It ");
    if (option->letter != 0)
        gl_output_printf(out, "Fl %c , ", option->letter);
    gl_output_printf(out, "Fl \\-%s", option->name);
    if (option->type != GL_OPTION_FLAG)
        gl_output_printf(out, " Ar %s", option->value_name != NULL ? option->value_name : "VALUE");
    gl_output_puts(out, "\n");
    put_text(out, gl_option_help(option, arena));
    if (shared)
        put_owners(program, option, out);
    gl_arena_destroy(arena);
}

/* Options that only `command` has, or those of several. */
static void put_options(const gl_program *program, const gl_command *command, bool shared,
                        bool *listed, gl_output *out)
{
    for (const gl_option *option = command->options; option->name != NULL; option++) {
        bool earlier = false;
        for (size_t i = 0; program->commands[i] != command; i++)
            earlier |= find_same(program->commands[i], option) != NULL;
        if (earlier || (count_owners(program, option) > 1) != shared)
            continue;
        if (!*listed)
            gl_output_puts(out, ".Bl -tag -width Ds\n");
        *listed = true;
        put_option(program, option, shared, out);
    }
}

bool gl_program_manual(const gl_program *program, const char *part, gl_output *out)
{
    const gl_command *command = gl_program_command(program, part);
    bool shared = strcmp(part, "shared") == 0, listed = false;
    if (strcmp(part, "synopsis") == 0) {
        for (size_t i = 0; i < program->command_count; i++)
            put_usage(program->commands[i], out);
        gl_output_puts(out, ".Nm\n.Cm help\n.Op Ar command\n.Nm\n.Fl \\-version\n");
    } else if (shared) {
        for (size_t i = 0; i < program->command_count; i++)
            put_options(program, program->commands[i], true, &listed, out);
    } else if (command != NULL) {
        put_options(program, command, false, &listed, out);
        if (!listed)
            gl_output_puts(out, ".\\\" No options of its own.\n");
    } else {
        return false;
    }
    if (listed)
        gl_output_puts(out, ".El\n");
    return true;
}
