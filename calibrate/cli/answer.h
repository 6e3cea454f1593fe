/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the verbs that answer with tables print them. */
#ifndef GL_CALIBRATE_ANSWER_H
#define GL_CALIBRATE_ANSWER_H

#include "common/options.h"
#include "common/render.h"

typedef enum gl_color_choice { GL_COLOR_AUTO, GL_COLOR_ALWAYS, GL_COLOR_NEVER } gl_color_choice;

extern const char *const gl_answer_colors[];

typedef struct gl_answer_options {
    const char *table, *output; /* NULL: all tables; standard output */
    gl_format format;
    gl_color_choice color;
} gl_answer_options;

/* Renders one scenario. `csv_table`: which table a CSV holds when the user names none. */
bool gl_answer_print(const gl_scenario *scenario, const gl_answer_options *options,
                     const char *csv_table, gl_error *err);

#endif
