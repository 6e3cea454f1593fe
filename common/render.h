/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renderers: a report to text for people, CSV, JSON, markdown or HTML. */
#ifndef GL_COMMON_RENDER_H
#define GL_COMMON_RENDER_H

#include "common/output.h"
#include "common/table.h"

typedef struct gl_render_options {
    int width;              /* columns of the terminal; 0 = 100 */
    bool color;             /* ANSI emphasis in the text format */
    const char *csv_table;  /* which table the CSV holds; NULL = the scenario's first with rows */
    const char *only_table; /* all but CSV: only this table; NULL = all */
} gl_render_options;

/*
 * Renders the report. Text and markdown: headline, then each table with its title. CSV (RFC 4180):
 * one table, a `scenario` column first, LF or CRLF per the RFC (CRLF), text cells that a
 * spreadsheet would run (=, +, -, @, tab, CR first) get a leading apostrophe. JSON:
 * {"schema_version": 1, "scenarios": [{"name", <table name>: rows or record, …, "warnings":
 * [..]}]}; NaN and infinity are null. HTML: one page with all it needs inside, the headlines first,
 * then charts beside their tables. A table name that no scenario has is a usage error which lists
 * the names there are.
 */
bool gl_render(const gl_report *report, gl_format format, const gl_render_options *options,
               gl_output *out, gl_error *err);

/* The same to a file, or to standard output (gl_output_open). */
bool gl_render_to(const char *path, const gl_report *report, gl_format format,
                  const gl_render_options *options, gl_error *err);

/* JSON alone, which can not fail: for who needs no other format, and so no page to draw on. */
void gl_render_json(const gl_report *report, const gl_render_options *options, gl_output *out);

#endif
