/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/options.h"

#include "common/text.h"

#include <string.h>

enum { SHOWN_BYTES = 64, NAME_BYTES = 80, GUESS_BYTES = 128, OPTIONS_MAX = 128 };

/* One walk over argv. */
typedef struct parser {
    const gl_command *command;
    int argc, next; /* argv[next] is the next to read */
    char **argv;
    gl_arena *arena;
    void *target;
    gl_texts *arguments;
    bool options_ended;
    bool given[OPTIONS_MAX]; /* by place in the command's table */
    bool *help;
    gl_error *err;
} parser;

/* The fields of `target` have the types that the table says. */
static void *field(const parser *p, const gl_option *option)
{
    return (char *)p->target + option->offset;
}

/* A usage error about one option, which is named as its path. */
static bool fail_option(const parser *p, const gl_option *option, const char *message)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "--%s", option->name);
    return gl_fail_at(p->err, GL_ERROR_USAGE, NULL, name, "%s", message);
}

static bool has_limits(const gl_option *option)
{
    return option->minimum < option->maximum || option->minimum > 0;
}

static bool check_limits(const parser *p, const gl_option *option, double value)
{
    if (!has_limits(option) || (value >= option->minimum && value <= option->maximum))
        return true;
    char found[40], least[40], most[40];
    gl_dimension dimension = option->type == GL_OPTION_QUANTITY ? option->dimension : GL_NUMBER;
    gl_format_quantity(value, dimension, found, sizeof found);
    gl_format_quantity(option->minimum, dimension, least, sizeof least);
    gl_format_quantity(option->maximum, dimension, most, sizeof most);
    char message[200];
    if (value < option->minimum)
        snprintf(message, sizeof message, "%s is too small; at least %s", found, least);
    else
        snprintf(message, sizeof message, "%s is too large; at most %s", found, most);
    return fail_option(p, option, message);
}

static bool store_number(const parser *p, const gl_option *option, const char *value)
{
    gl_error why = {0};
    double real = 0;
    long long whole = 0;
    bool parsed = option->type == GL_OPTION_INTEGER
                      ? gl_parse_integer(value, &whole, &why)
                      : gl_parse_quantity(value, option->dimension, &real, &why);
    if (!parsed)
        return fail_option(p, option, why.message);
    if (option->type == GL_OPTION_QUANTITY && option->dimension == GL_FRACTION && real > 1 &&
        strchr(value, '%') == NULL) {
        char message[200];
        snprintf(message, sizeof message, "%g would be %g %%; say which, as '%g%%' or '%g%%'", real,
                 real * 100, real, real * 100);
        return fail_option(p, option, message);
    }
    if (!check_limits(p, option, option->type == GL_OPTION_INTEGER ? (double)whole : real))
        return false;
    if (option->type == GL_OPTION_INTEGER)
        *(long long *)field(p, option) = whole;
    else
        *(double *)field(p, option) = real;
    return true;
}

static size_t count_texts(const char *const *texts)
{
    size_t count = 0;
    while (texts[count] != NULL)
        count++;
    return count;
}

static bool store_choice(const parser *p, const gl_option *option, const char *value)
{
    size_t count = count_texts(option->choices);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, option->choices[i]) == 0) {
            *(int *)field(p, option) = (int)i;
            return true;
        }
    }
    char shown[SHOWN_BYTES], guess[GUESS_BYTES];
    return fail_option(
        p, option,
        gl_arena_printf(p->arena, "'%s' is none of %s%s", gl_printable(value, shown, sizeof shown),
                        gl_arena_join(p->arena, option->choices, count, ", "),
                        gl_guess(value, option->choices, count, guess, sizeof guess)));
}

/* An option of one value is given once: the earlier value would go unseen. Lists grow, and a flag
 * that is set twice is set. */
static bool note_given(parser *p, const gl_option *option)
{
    bool *given = &p->given[option - p->command->options];
    if (*given && option->type != GL_OPTION_FLAG && option->type != GL_OPTION_LIST)
        return fail_option(p, option, "is given twice, and takes one value");
    *given = true;
    return true;
}

static bool store(parser *p, const gl_option *option, const char *value)
{
    if (!note_given(p, option))
        return false;
    switch (option->type) {
    case GL_OPTION_FLAG:
        *(bool *)field(p, option) = true;
        break;
    case GL_OPTION_TEXT:
        *(const char **)field(p, option) = value;
        break;
    case GL_OPTION_LIST:
        gl_texts_add(field(p, option), p->arena, value);
        break;
    case GL_OPTION_INTEGER:
    case GL_OPTION_QUANTITY:
        return store_number(p, option, value);
    case GL_OPTION_CHOICE:
        return store_choice(p, option, value);
    }
    return true;
}

/* The value of an option that needs one: the next argument. */
static const char *next_value(parser *p, const gl_option *option)
{
    const char *wanted = option->value_name != NULL ? option->value_name : "VALUE";
    if (p->next == p->argc) {
        fail_option(p, option, gl_arena_printf(p->arena, "needs a value: %s", wanted));
        return NULL;
    }
    const char *value = p->argv[p->next];
    if (gl_starts_with(value, "--")) {
        /* "--output --format json" forgets a value far more often than it means a file "--format".
         */
        char shown[SHOWN_BYTES];
        fail_option(p, option,
                    gl_arena_printf(p->arena, "needs a value, %s, but '%s' follows", wanted,
                                    gl_printable(value, shown, sizeof shown)));
        return NULL;
    }
    p->next++;
    return value;
}

/* The option that an unknown name probably means: a near one, or the only longer one. */
static const char *suggest(const gl_option *options, const char *name)
{
    const char *names[OPTIONS_MAX], *longer = NULL;
    size_t count = 0, longer_count = 0;
    for (; options->name != NULL && count + 1 < OPTIONS_MAX; options++)
        names[count++] = options->name;
    names[count++] = "help";
    for (size_t i = 0; i < count; i++) {
        if (*name != '\0' && gl_starts_with(names[i], name)) {
            longer = names[i];
            longer_count++;
        }
    }
    const char *nearest = gl_nearest(name, names, count);
    return longer_count == 1 ? longer : nearest;
}

static bool fail_unknown(const parser *p, const char *name)
{
    char shown[SHOWN_BYTES];
    gl_printable(name, shown, sizeof shown);
    const char *likely = suggest(p->command->options, name);
    if (likely != NULL)
        return gl_fail(p->err, GL_ERROR_USAGE, "unknown option '--%s'; did you mean '--%s'?", shown,
                       likely);
    return gl_fail(p->err, GL_ERROR_USAGE, "unknown option '--%s'", shown);
}

/* "--name", "--name=value". */
static bool parse_long(parser *p, const char *text)
{
    size_t length = strcspn(text, "=");
    const char *name = gl_arena_strndup(p->arena, text, length);
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    if (strcmp(name, "help") == 0 && value == NULL) {
        *p->help = true;
        return true;
    }
    const gl_option *option = p->command->options;
    while (option->name != NULL && strcmp(option->name, name) != 0)
        option++;
    if (option->name == NULL)
        return fail_unknown(p, name);
    if (option->type == GL_OPTION_FLAG && value != NULL)
        return fail_option(p, option, "takes no value");
    if (option->type != GL_OPTION_FLAG && value == NULL && (value = next_value(p, option)) == NULL)
        return false;
    return store(p, option, value);
}

static const gl_option *find_letter(const gl_option *options, char letter)
{
    for (; options->name != NULL; options++)
        if (options->letter == letter)
            return options;
    return NULL;
}

/* "-q", "-qv", "-oFILE", "-o FILE"; `letters` begins after the dash. */
static bool parse_letters(parser *p, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const gl_option *option = find_letter(p->command->options, *letters);
        if (option == NULL && *letters == 'h') {
            *p->help = true;
            return true;
        }
        if (option == NULL) {
            char all[SHOWN_BYTES];
            return gl_fail(p->err, GL_ERROR_USAGE, "unknown option '-%s'",
                           gl_printable(letters, all, sizeof all));
        }
        if (option->type != GL_OPTION_FLAG) {
            const char *value = letters[1] != '\0' ? letters + 1 : next_value(p, option);
            return value != NULL && store(p, option, value);
        }
        store(p, option, NULL);
    }
    return true;
}

static bool parse_next(parser *p)
{
    const char *text = p->argv[p->next++];
    if (p->options_ended || text[0] != '-' || text[1] == '\0') {
        gl_texts_add(p->arguments, p->arena, text);
        return true;
    }
    if (strcmp(text, "--") == 0) {
        p->options_ended = true;
        return true;
    }
    return text[1] == '-' ? parse_long(p, text + 2) : parse_letters(p, text + 1);
}

static bool check_arguments(const parser *p)
{
    const gl_command *command = p->command;
    size_t count = p->arguments->count;
    if (count < (size_t)command->minimum_arguments)
        return gl_fail(p->err, GL_ERROR_USAGE, "%s; usage: %s %s",
                       count == 0 ? "an argument is missing" : "more arguments are needed",
                       command->name, command->synopsis);
    if (command->maximum_arguments >= 0 && count > (size_t)command->maximum_arguments) {
        char shown[SHOWN_BYTES];
        const char *extra = p->arguments->items[command->maximum_arguments];
        return gl_fail(p->err, GL_ERROR_USAGE, "unexpected argument '%s'; usage: %s %s",
                       gl_printable(extra, shown, sizeof shown), command->name, command->synopsis);
    }
    return true;
}

bool gl_options_parse(const gl_command *command, int argc, char **argv, gl_arena *arena,
                      void *target, gl_texts *arguments, bool *help, gl_error *err)
{
    parser p = {.command = command,
                .argc = argc,
                .next = 1,
                .argv = argv,
                .arena = arena,
                .target = target,
                .arguments = arguments,
                .help = help,
                .err = err};
    *help = false;
    while (p.next < argc) {
        if (!parse_next(&p))
            return false;
        if (*help)
            return true;
    }
    return check_arguments(&p);
}
