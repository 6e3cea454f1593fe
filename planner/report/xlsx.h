/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Costs as a workbook: a sheet for each plan with its bill of materials and what follows from it as
 * formulas, and a summary. Prices and terms are cells to change; what a run costs follows.
 *
 * Written by libxlsxwriter where that was found at build time; xlsx_absent.c otherwise.
 */
#ifndef GL_REPORT_XLSX_H
#define GL_REPORT_XLSX_H

#include "common/output.h"
#include "planner/core/plan.h"

typedef struct gl_xlsx gl_xlsx;

/* "libxlsxwriter 1.1.4", or "no libxlsxwriter": for --version. */
const char *gl_xlsx_version(void);

/* Starts a workbook. A GL_ERROR_USAGE when the program was built without libxlsxwriter. */
bool gl_xlsx_begin(gl_xlsx **book, gl_error *err);

/* Adds a plan, which may go afterwards. */
void gl_xlsx_add(gl_xlsx *book, const gl_plan *plan, const char *name);

/* Names a plan in the summary that is not there, with the reason: "IMPOSSIBLE; parallel.tp: …". */
void gl_xlsx_add_absent(gl_xlsx *book, const char *name, const char *reason);

/* Writes the workbook and frees it. */
bool gl_xlsx_end(gl_xlsx *book, gl_output *out, gl_error *err);

void gl_xlsx_discard(gl_xlsx *book);

#endif
