/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of curves that show prints of a file and run at its end. */
#ifndef GL_CALIBRATE_CURVE_TABLE_H
#define GL_CALIBRATE_CURVE_TABLE_H

#include "common/calibration.h"
#include "common/table.h"

/* An empty table "curves". */
gl_table *gl_curve_table(gl_arena *arena);

/* The same for one curve, a line for each of its facts. */
gl_table *gl_curve_record(gl_arena *arena);

/* Adds a row. The samples of the curve must be loaded. */
void gl_curve_table_add(gl_table *table, const gl_curve *curve);

#endif
