/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for xlsx.c where libxlsxwriter was not found. */
#include "planner/report/xlsx.h"

const char *gl_xlsx_version(void)
{
    return "no libxlsxwriter";
}

bool gl_xlsx_begin(gl_xlsx **book, gl_error *err)
{
    *book = NULL;
    return gl_fail(err, GL_ERROR_USAGE,
                   "--format xlsx: this program was built without libxlsxwriter; install its "
                   "development package and build again, or use --format csv --table bom");
}

void gl_xlsx_add(gl_xlsx *book, const gl_plan *plan, const char *name)
{
    (void)book;
    (void)plan;
    (void)name;
}

void gl_xlsx_add_absent(gl_xlsx *book, const char *name, const char *reason)
{
    (void)book;
    (void)name;
    (void)reason;
}

bool gl_xlsx_end(gl_xlsx *book, gl_output *out, gl_error *err)
{
    (void)book;
    (void)out;
    return gl_fail(err, GL_ERROR_INTERNAL, "there is no workbook");
}

void gl_xlsx_discard(gl_xlsx *book)
{
    (void)book;
}
