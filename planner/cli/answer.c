/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/answer.h"

#include "common/texts.h"
#include "planner/cli/messages.h"
#include "planner/report/charts.h"

/* The same warning of many scenarios is said once. */
void gl_output_warnings(const gl_output_options *options, const gl_report *report)
{
    gl_arena *arena = gl_arena_create();
    gl_texts said = {0};
    for (size_t i = 0; i < report->scenario_count && !options->quiet; i++) {
        const gl_scenario *scenario = &report->scenarios[i];
        for (size_t k = 0; k < scenario->warning_count; k++) {
            if (gl_texts_have(&said, scenario->warnings[k]))
                continue;
            gl_texts_add(&said, arena, scenario->warnings[k]);
            gl_cli_warn("%s", scenario->warnings[k]);
        }
    }
    gl_arena_destroy(arena);
}

/* Echoes of the input have no column for people. */
static bool check_audience(const gl_output_options *options, const gl_report *report, gl_error *err)
{
    for (size_t i = 0; i < report->scenario_count; i++)
        if (report->scenarios[i].table_count > 0)
            return true;
    if (options->table == NULL || !gl_output_for_people(options))
        return true;
    return gl_fail(
        err, GL_ERROR_USAGE,
        "--table %s holds the input as it was understood, for machines: add --format csv "
        "or --format json",
        options->table);
}

bool gl_output_report(const gl_output_options *options, const gl_report *report,
                      const char *csv_table, gl_error *err)
{
    if (!check_audience(options, report, err))
        return false;
    gl_arena *arena = gl_arena_create();
    const char *doubt = gl_output_ending_doubt(options, arena);
    if (doubt != NULL && !options->quiet)
        gl_cli_warn("%s", doubt);
    if (options->format == GL_FORMAT_HTML)
        report = gl_charts_add(report, arena);
    bool done = gl_output_render(options, report, csv_table, err);
    if (done && options->format == GL_FORMAT_CSV)
        gl_output_warnings(options, report);
    gl_arena_destroy(arena);
    return done;
}
