/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that every command with an answer has: format, file, table, colour, verbosity. */
#ifndef GL_PLANNER_CLI_OUTPUT_OPTIONS_H
#define GL_PLANNER_CLI_OUTPUT_OPTIONS_H

#include "common/options.h"
#include "common/render.h"
#include "common/terminal.h"

#include <stddef.h>

typedef struct gl_output_options {
    const char *format_name; /* as given */
    const char *output;      /* NULL = standard output */
    const char *table;       /* NULL = the default */
    gl_color_choice color;
    bool quiet, verbose;
    bool can_trace;   /* the command knows --format trace and xlsx, too */
    gl_format format; /* of format_name, set by gl_output_options_check */
    bool trace, xlsx; /* likewise; then `format` does not count */
} gl_output_options;

#define GL_REPORT_FORMATS "table, csv, json, markdown or html"

/* FORMATS: what the command can write, as its help says it. */
#define GL_OUTPUT_OPTIONS(TARGET, MEMBER, FORMATS)                                                 \
    {.name = "format",                                                                             \
     .letter = 'f',                                                                                \
     .type = GL_OPTION_TEXT,                                                                       \
     .value_name = "FORMAT",                                                                       \
     .help = FORMATS " (default table, or as FILE ends).",                                         \
     .offset = offsetof(TARGET, MEMBER.format_name)},                                              \
        {.name = "output",                                                                         \
         .letter = 'o',                                                                            \
         .type = GL_OPTION_TEXT,                                                                   \
         .value_name = "FILE",                                                                     \
         .help = "Write the answer to FILE instead of standard output.",                           \
         .offset = offsetof(TARGET, MEMBER.output)},                                               \
        {.name = "table",                                                                          \
         .letter = 't',                                                                            \
         .type = GL_OPTION_TEXT,                                                                   \
         .value_name = "NAME",                                                                     \
         .help = "Only this table; of a CSV, which one it holds.",                                 \
         .offset = offsetof(TARGET, MEMBER.table)},                                                \
        {.name = "color",                                                                          \
         .type = GL_OPTION_CHOICE,                                                                 \
         .value_name = "WHEN",                                                                     \
         .help = "auto: on a terminal without NO_COLOR.",                                          \
         .offset = offsetof(TARGET, MEMBER.color),                                                 \
         .choices = gl_color_choices},                                                             \
        {.name = "quiet",                                                                          \
         .letter = 'q',                                                                            \
         .type = GL_OPTION_FLAG,                                                                   \
         .help = "No warnings and no progress on standard error.",                                 \
         .offset = offsetof(TARGET, MEMBER.quiet)},                                                \
    {                                                                                              \
        .name = "verbose", .letter = 'v', .type = GL_OPTION_FLAG,                                  \
        .help = "Say on standard error what was read.", .offset = offsetof(TARGET, MEMBER.verbose) \
    }

/* Checks format and table name against `tables` (NULL-terminated) before anything is computed, and
 * sets `format`. */
bool gl_output_options_check(gl_output_options *options, const char *const *tables, gl_error *err);

/* Is the format one that people read? */
bool gl_output_for_people(const gl_output_options *options);

/* Renders to where the options say. `csv_table` is the CSV's default table. Warnings go to standard
 * error where the format has no room for them (CSV) and -q was not given. */
bool gl_output_report(const gl_output_options *options, const gl_report *report,
                      const char *csv_table, gl_error *err);

/* Warnings to standard error, unless -q was given. */
void gl_output_warnings(const gl_output_options *options, const gl_report *report);

#endif
