/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/output_options.h"

#include "common/text.h"

#include <string.h>

static bool check_trace(gl_output_options *options, gl_error *err)
{
    if (!options->can_trace)
        return gl_fail(err, GL_ERROR_USAGE,
                       "--format trace shows the simulated step of a plan: only plan has it");
    if (options->table != NULL)
        return gl_fail(err, GL_ERROR_USAGE, "a trace has no tables: --table does not go with it");
    options->trace = true;
    options->format = GL_FORMAT_JSON;
    return true;
}

static bool check_xlsx(gl_output_options *options, gl_error *err)
{
    if (!options->can_trace)
        return gl_fail(err, GL_ERROR_USAGE,
                       "--format xlsx is the bill of materials of plans: only plan has it");
    if (options->table != NULL)
        return gl_fail(err, GL_ERROR_USAGE,
                       "a workbook holds the bill and all that follows: --table does not go with "
                       "it");
    if (options->output == NULL)
        return gl_fail(err, GL_ERROR_USAGE, "a workbook is no text: add --output FILE.xlsx");
    options->xlsx = true;
    options->format = GL_FORMAT_JSON;
    return true;
}

static const char *others(const gl_output_options *options)
{
    return options->can_trace ? ", markdown, html, trace or xlsx" : ", markdown or html";
}

static bool check_format(gl_output_options *options, gl_error *err)
{
    if (options->format_name == NULL && options->output != NULL)
        options->format_name = gl_format_of_file(options->output);
    if (options->format_name == NULL) {
        options->format = GL_FORMAT_TABLE;
        return true;
    }
    if (strcmp(options->format_name, "trace") == 0)
        return check_trace(options, err);
    if (strcmp(options->format_name, "xlsx") == 0)
        return check_xlsx(options, err);
    if (gl_format_parse(options->format_name, &options->format))
        return true;
    size_t count = 0;
    while (gl_format_names[count] != NULL)
        count++;
    const char *near = gl_nearest(options->format_name, gl_format_names, count);
    char name[64];
    return gl_fail(err, GL_ERROR_USAGE, "--format '%s' is not known%s%s%s: use table, csv, json%s",
                   gl_printable(options->format_name, name, sizeof name),
                   near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?)" : "", others(options));
}

static bool check_table(const gl_output_options *options, const char *const *tables, gl_error *err)
{
    if (options->table == NULL || tables == NULL)
        return true;
    size_t count = 0;
    for (; tables[count] != NULL; count++)
        if (strcmp(tables[count], options->table) == 0)
            return true;
    char name[64], guess[128], list[400];
    return gl_fail(err, GL_ERROR_USAGE, "--table '%s' is not known%s there are: %s",
                   gl_printable(options->table, name, sizeof name),
                   gl_did_you_mean(options->table, tables, count, guess, sizeof guess),
                   gl_list_names(tables, count, list, sizeof list));
}

bool gl_output_options_check(gl_output_options *options, const char *const *tables, gl_error *err)
{
    return check_format(options, err) && check_table(options, tables, err);
}

const char *gl_output_ending_doubt(const gl_output_options *options, gl_arena *arena)
{
    char shown[64];
    const char *ending = options->format_name == NULL && options->output != NULL
                             ? gl_format_unknown_ending(options->output)
                             : NULL;
    if (ending == NULL)
        return NULL;
    return gl_arena_printf(arena,
                           "--output: the ending '%s' is no format that is written here: the file "
                           "holds tables as plain text; endings: %s, or say --format",
                           gl_printable(ending, shown, sizeof shown),
                           options->can_trace ? GL_FORMAT_ENDINGS : GL_FORMAT_ENDINGS_REPORT);
}

bool gl_output_for_people(const gl_output_options *options)
{
    return options->format != GL_FORMAT_CSV && options->format != GL_FORMAT_JSON;
}

bool gl_output_render(const gl_output_options *options, const gl_report *report,
                      const char *csv_table, gl_error *err)
{
    bool standard = gl_output_is_standard(options->output);
    const gl_render_options how = {
        .width = gl_terminal_width(standard),
        .color = gl_terminal_color(options->color, standard),
        .csv_table = options->table != NULL ? options->table : csv_table,
        .only_table = options->table,
    };
    return gl_render_to(options->output, report, options->format, &how, err);
}
