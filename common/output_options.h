/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of every command that answers with tables: format, file, table, colour. */
#ifndef GL_COMMON_OUTPUT_OPTIONS_H
#define GL_COMMON_OUTPUT_OPTIONS_H

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

/* Rows of a command's table of options. FORMATS: what the command can write, as its help says it;
 * LETTER and TABLES: short name and help of --table. */
#define GL_OUTPUT_OPTIONS(TARGET, MEMBER, FORMATS, LETTER, TABLES)                                 \
    {.name = "format",                                                                             \
     .letter = 'f',                                                                                \
     .type = GL_OPTION_TEXT,                                                                       \
     .value_name = "FORMAT",                                                                       \
     .help = FORMATS " (default table, or as FILE ends).",                                         \
     .offset = offsetof(TARGET, MEMBER.format_name),                                               \
     .choices = gl_format_names},                                                                  \
        {.name = "output",                                                                         \
         .letter = 'o',                                                                            \
         .type = GL_OPTION_TEXT,                                                                   \
         .value_name = "FILE",                                                                     \
         .help = "Write the answer to FILE instead of standard output.",                           \
         .offset = offsetof(TARGET, MEMBER.output)},                                               \
        {.name = "table",                                                                          \
         .letter = LETTER,                                                                         \
         .type = GL_OPTION_TEXT,                                                                   \
         .value_name = "NAME",                                                                     \
         .help = TABLES,                                                                           \
         .offset = offsetof(TARGET, MEMBER.table)},                                                \
    {                                                                                              \
        .name = "color", .type = GL_OPTION_CHOICE, .value_name = "WHEN",                           \
        .help = "auto: on a terminal without NO_COLOR.", .offset = offsetof(TARGET, MEMBER.color), \
        .choices = gl_color_choices                                                                \
    }

/* Sets `format`: as given, else as the file ends, else a table. A format that the command cannot
 * write is a usage error, and so is a table that is not among `tables` (NULL-terminated; NULL: only
 * the answer shows which there are, and gl_render refuses others). */
bool gl_output_options_check(gl_output_options *options, const char *const *tables, gl_error *err);

/* What to warn of, in the arena, when a table is written only because FILE ends in no format
 * ("plan.pdf"); NULL: nothing. */
const char *gl_output_ending_doubt(const gl_output_options *options, gl_arena *arena);

/* Is the format one that people read? */
bool gl_output_for_people(const gl_output_options *options);

/* Renders to where the options say, as they and the terminal say. `csv_table`: which table a CSV
 * holds when the user names none. */
bool gl_output_render(const gl_output_options *options, const gl_report *report,
                      const char *csv_table, gl_error *err);

#endif
