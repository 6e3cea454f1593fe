/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/answer.h"

bool gl_answer_print(const gl_scenario *scenario, const gl_answer_options *o, const char *csv_table,
                     gl_error *err)
{
    const gl_report report = {.scenarios = (gl_scenario *)scenario, .scenario_count = 1};
    bool standard = gl_output_is_standard(o->output);
    const gl_render_options how = {.width = gl_terminal_width(standard),
                                   .color = gl_terminal_color(o->color, standard),
                                   .csv_table = o->table != NULL ? o->table : csv_table,
                                   .only_table = o->table};
    return gl_render_to(o->output, &report, o->format, &how, err);
}
