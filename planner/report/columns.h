/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table is one list: name for machines, heading for people, dimension, audience, and the cell.
 *
 *     #define STEP(X) X("time_s", "Time", GL_SECONDS, GL_FOR_ALL, gl_real(step->time_s)) …
 *     static const gl_column columns[] = {STEP(AS_COLUMN)};
 *     gl_cell *cell = gl_table_add_row(table);
 *     STEP(AS_CELL)
 *
 * The list is expanded twice, so that a column and its cell can not come apart.
 */
#ifndef GL_REPORT_COLUMNS_H
#define GL_REPORT_COLUMNS_H

#include "common/table.h"

#define AS_COLUMN(name, heading, dimension, audience, value) {name, heading, dimension, audience},
#define AS_CELL(name, heading, dimension, audience, value)   *cell++ = (value);
#define COUNT(array)                                         (sizeof(array) / sizeof((array)[0]))

#endif
