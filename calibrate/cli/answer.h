/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the verbs that answer with tables print them. */
#ifndef GL_CALIBRATE_ANSWER_H
#define GL_CALIBRATE_ANSWER_H

#include "common/options.h"
#include "common/render.h"
#include "common/terminal.h"

#include <stddef.h>

typedef struct gl_answer_options {
    const char *table, *output; /* NULL: all tables; standard output */
    gl_format format;
    gl_color_choice color;
} gl_answer_options;

/* A table: its rows stay as they are written. */
/* clang-format off */
/* Rows of a command's table of options; TABLES says which tables --table chooses from. */
#define GL_ANSWER_OPTIONS(TARGET, MEMBER, TABLES)                                                 \
    {.name = "format", .letter = 'f', .type = GL_OPTION_CHOICE, .value_name = "F",                \
     .help = "Default: as FILE ends, or table.",                         \
     .offset = offsetof(TARGET, MEMBER.format), .choices = gl_format_names},                      \
    {.name = "table", .type = GL_OPTION_TEXT, .value_name = "NAME", .help = TABLES,               \
     .offset = offsetof(TARGET, MEMBER.table)},                                                   \
    {.name = "output", .letter = 'o', .type = GL_OPTION_TEXT, .value_name = "FILE",               \
     .help = "Write to this file (default: standard output).",                                    \
     .offset = offsetof(TARGET, MEMBER.output)},                                                  \
    {.name = "color", .type = GL_OPTION_CHOICE, .value_name = "WHEN",                             \
     .help = "auto: on a terminal without NO_COLOR.",                                          \
     .offset = offsetof(TARGET, MEMBER.color), .choices = gl_color_choices}
/* clang-format on */

/* Renders one scenario. `csv_table`: which table a CSV holds when the user names none. */
bool gl_answer_print(const gl_scenario *scenario, const gl_answer_options *options,
                     const char *csv_table, gl_error *err);

#endif
