/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/answer.h"

#include "common/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const gl_answer_colors[] = {"auto", "always", "never", NULL};

static bool wants_color(const gl_answer_options *o)
{
    const char *no_color = getenv("NO_COLOR");
    if (o->color != GL_COLOR_AUTO)
        return o->color == GL_COLOR_ALWAYS;
    return (o->output == NULL || strcmp(o->output, "-") == 0) && isatty(STDOUT_FILENO) &&
           (no_color == NULL || no_color[0] == '\0');
}

bool gl_answer_print(const gl_scenario *scenario, const gl_answer_options *o, const char *csv_table,
                     gl_error *err)
{
    const gl_report report = {.scenarios = (gl_scenario *)scenario, .scenario_count = 1};
    const gl_render_options how = {.width = gl_terminal_width(o->output == NULL),
                                   .color = wants_color(o),
                                   .csv_table = o->table != NULL ? o->table : csv_table,
                                   .only_table = o->table};
    gl_output *out;
    if (!gl_output_open(o->output, &out, err))
        return false;
    if (!gl_render(&report, o->format, &how, out, err)) {
        gl_output_discard(out);
        return false;
    }
    return gl_output_close(out, err);
}
