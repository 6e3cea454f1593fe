/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the columns of a plan's tables mean: for `gpulink-plan schema csv` and the documentation. */
#ifndef GL_REPORT_PLAN_SCHEMA_H
#define GL_REPORT_PLAN_SCHEMA_H

#include "common/table.h"

/* The meaning of a column; NULL when it is not described. */
const char *gl_plan_column_meaning(const char *table, const char *column);

/* A table `csv` of all columns: table, column, unit, meaning. Echoed fields of the description are
 * in the schema of the model instead. */
gl_table *gl_plan_schema(gl_arena *arena);

#endif
