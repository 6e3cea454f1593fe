/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How every command with an answer takes and prints it. */
#ifndef GL_PLANNER_CLI_ANSWER_H
#define GL_PLANNER_CLI_ANSWER_H

#include "common/output_options.h"

/* Rows of a command's table of options. FORMATS: what the command can write, as its help says it.
 */
#define GL_ANSWER_OPTIONS(TARGET, MEMBER, FORMATS)                                                 \
    GL_OUTPUT_OPTIONS(TARGET, MEMBER, FORMATS, 't',                                                \
                      "Only this table; of a CSV, which one it holds."),                           \
        {.name = "quiet",                                                                          \
         .letter = 'q',                                                                            \
         .type = GL_OPTION_FLAG,                                                                   \
         .help = "No warnings and no progress on standard error.",                                 \
         .offset = offsetof(TARGET, MEMBER.quiet)},                                                \
    {                                                                                              \
        .name = "verbose", .letter = 'v', .type = GL_OPTION_FLAG,                                  \
        .help = "Say on standard error what was read.", .offset = offsetof(TARGET, MEMBER.verbose) \
    }

/* Renders to where the options say, with charts in a page. `csv_table` is the CSV's default table.
 * Warnings go to standard error where the format has no room for them (CSV) and -q was not given.
 */
bool gl_output_report(const gl_output_options *options, const gl_report *report,
                      const char *csv_table, gl_error *err);

/* Warnings to standard error, unless -q was given. */
void gl_output_warnings(const gl_output_options *options, const gl_report *report);

#endif
