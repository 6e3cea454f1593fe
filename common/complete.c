/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/complete.h"

#include "common/text.h"

#include <string.h>

typedef struct completion {
    const gl_program *program;
    const char *word;   /* to be completed */
    const char *before; /* of it, what is repeated in front of each candidate: "--format=" */
    gl_arena *arena;
    gl_output *out;
} completion;

/* Of a help text, the part that says what it is. */
static size_t first_part(const char *text)
{
    size_t length = strcspn(text, ";:(\n");
    const char *end = strstr(text, ". ");
    if (end != NULL && (size_t)(end - text) < length)
        length = (size_t)(end - text);
    while (length > 0 && strchr(" .", text[length - 1]) != NULL)
        length--;
    return length;
}

static void offer(const completion *c, const char *text, const char *about)
{
    if (!gl_starts_with(text, c->word))
        return;
    if (about == NULL)
        about = "";
    gl_output_printf(c->out, "%s%s\t%.*s\n", c->before, text, (int)first_part(about), about);
}

static void offer_verbs(const completion *c)
{
    for (size_t i = 0; i < c->program->command_count; i++)
        offer(c, c->program->commands[i]->name, c->program->commands[i]->summary);
}

static void offer_options(const completion *c, const gl_option *options)
{
    for (; options->name != NULL; options++)
        offer(c, gl_arena_printf(c->arena, "--%s", options->name), options->help);
    offer(c, "--help", "Print help.");
}

/* Values of an option; without one, the arguments of the command. */
static void offer_values(const completion *c, const gl_command *command, const gl_option *option)
{
    gl_texts values = {0};
    if (option != NULL && option->choices != NULL)
        for (size_t i = 0; option->choices[i] != NULL; i++)
            gl_texts_add(&values, c->arena, option->choices[i]);
    if (c->program->complete != NULL)
        c->program->complete(command, option, c->arena, &values);
    for (size_t i = 0; i < values.count; i++)
        offer(c, values.items[i], NULL);
}

/* The option whose value has to follow "--name" or "-x"; NULL when none has to. */
static const gl_option *waits_for_value(const gl_option *options, const char *word)
{
    size_t length = strlen(word);
    if (length < 2 || word[0] != '-')
        return NULL;
    for (; options->name != NULL; options++) {
        bool named = word[1] == '-' ? strcmp(options->name, word + 2) == 0
                                    : options->letter != 0 && options->letter == word[length - 1];
        if (named)
            return options->type != GL_OPTION_FLAG ? options : NULL;
    }
    return NULL;
}

/* "--name=…": the value is what is completed. */
static bool complete_joined(completion *c, const gl_command *command)
{
    const char *equals = strchr(c->word, '=');
    if (!gl_starts_with(c->word, "--") || equals == NULL)
        return false;
    const char *name = gl_arena_strndup(c->arena, c->word, (size_t)(equals - c->word));
    const gl_option *option = waits_for_value(command->options, name);
    c->before = gl_arena_printf(c->arena, "%s=", name);
    c->word = equals + 1;
    if (option != NULL)
        offer_values(c, command, option);
    return true;
}

/* words[0 … count−2] are there already. */
static void complete_argument(completion *c, const gl_command *command, int count, char **words)
{
    const gl_option *option = NULL;
    for (int i = 0; i + 1 < count; i++) {
        if (option == NULL && strcmp(words[i], "--") == 0)
            return;
        option = option == NULL ? waits_for_value(command->options, words[i]) : NULL;
    }
    if (option != NULL)
        offer_values(c, command, option);
    else if (complete_joined(c, command))
        return;
    else if (c->word[0] == '-')
        offer_options(c, command->options);
    else
        offer_values(c, command, NULL);
}

static void complete_words(completion *c, int count, char **words)
{
    const gl_command *command = gl_program_command(c->program, words[0]);
    if (count > 1 && strcmp(words[0], "help") == 0) {
        offer_verbs(c);
    } else if (count > 1 && command != NULL) {
        complete_argument(c, command, count - 1, words + 1);
    } else {
        if (count == 1) {
            offer_verbs(c);
            offer(c, "help", "Print the help of the program or of a command.");
            if (c->word[0] == '-')
                offer(c, "--version", "Print the version.");
        }
        if (c->program->default_command != NULL)
            complete_argument(c, c->program->default_command, count, words);
        else if (count == 1 && c->word[0] == '-')
            offer(c, "--help", "Print help.");
    }
}

void gl_complete(const gl_program *program, int count, char **words, gl_output *out)
{
    if (count < 1)
        return;
    gl_arena *arena = gl_arena_create();
    completion c = {program, words[count - 1], "", arena, out};
    complete_words(&c, count, words);
    gl_arena_destroy(arena);
}
