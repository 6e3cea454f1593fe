/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report is built once, as tables; every format is a renderer of the same tables.
 *
 * A cell holds a full-precision SI value. Only the text and markdown renderers turn it into
 * something for people ("33.6 MB", "1.23 ms"); CSV and JSON get the value itself.
 */
#ifndef GL_COMMON_TABLE_H
#define GL_COMMON_TABLE_H

#include "common/arena.h"
#include "common/chart.h"
#include "common/units.h"

#include <stdint.h>

typedef enum gl_cell_type {
    GL_CELL_EMPTY,
    GL_CELL_TEXT,
    GL_CELL_INTEGER,
    GL_CELL_REAL,
    GL_CELL_BOOL
} gl_cell_type;

typedef struct gl_cell {
    gl_cell_type type;
    union {
        const char *text; /* borrowed: must live as long as the table */
        int64_t integer;
        double real; /* NaN and infinity render as empty or null */
        bool boolean;
    } as;
} gl_cell;

/* Who sees a column, and how people see it. */
enum {
    GL_FOR_PEOPLE = 1,   /* text, markdown */
    GL_FOR_MACHINES = 2, /* CSV, JSON */
    GL_FOR_ALL = 3,
    GL_AS_GIB = 4,  /* an amount of memory, "45.56 GiB" */
    GL_AS_MONEY = 8 /* "12,345,678" */
};

typedef struct gl_column {
    const char *name;       /* snake_case, ends in its unit: the CSV header and the JSON key */
    const char *heading;    /* for people; NULL = name */
    gl_dimension dimension; /* how people see a REAL or INTEGER cell */
    int audience;           /* GL_FOR_… | GL_AS_…; no GL_FOR_… = GL_FOR_ALL */
} gl_column;

typedef struct gl_table {
    const char *name;  /* snake_case: --table NAME and the JSON key */
    const char *title; /* for people */
    const gl_column *columns;
    size_t column_count;
    gl_cell *cells; /* row after row */
    size_t row_count, cell_capacity;
    bool record; /* exactly one row: a JSON object instead of an array, two columns of name and
                    value for people */
    gl_arena *arena;
} gl_table;

/* A new table without rows. `columns` is borrowed (usually static const); without any the table
 * stays empty: a key without a value. */
gl_table *gl_table_create(gl_arena *arena, const char *name, const char *title,
                          const gl_column *columns, size_t column_count);

/* Appends a row of empty cells and returns its first cell (valid until the next row is added). */
gl_cell *gl_table_add_row(gl_table *table);

static inline gl_cell gl_text(const char *text)
{
    return (gl_cell){.type = text != NULL ? GL_CELL_TEXT : GL_CELL_EMPTY, .as.text = text};
}
/* Empty also when the text is. */
static inline gl_cell gl_known_text(const char *text)
{
    return gl_text(text != NULL && text[0] != '\0' ? text : NULL);
}
static inline gl_cell gl_integer(int64_t value)
{
    return (gl_cell){.type = GL_CELL_INTEGER, .as.integer = value};
}
static inline gl_cell gl_real(double value)
{
    return (gl_cell){.type = GL_CELL_REAL, .as.real = value};
}
static inline gl_cell gl_boolean(bool value)
{
    return (gl_cell){.type = GL_CELL_BOOL, .as.boolean = value};
}

/* A report: scenarios, each with its tables and warnings. */
typedef struct gl_scenario {
    const char *name;
    gl_table **tables; /* in the order in which people read them */
    size_t table_count;
    const char **warnings;
    size_t warning_count;
    const char *headline;   /* a few lines for people that say the answer first; may be NULL */
    const gl_chart *charts; /* of the tables, for formats that draw */
    size_t chart_count;
} gl_scenario;

typedef struct gl_report {
    gl_scenario *scenarios;
    size_t scenario_count;
    /* Tables across all scenarios: the JSON key "comparison"; NULL when there are none. Its name
     * stands in the CSV's scenario column; its headline and warnings are for people only. */
    const gl_scenario *comparison;
    const char *title; /* of the whole, where a format has one; NULL: the scenarios' names */
} gl_report;

/* The scenarios and, after them, the comparison: NULL at the end. */
const gl_scenario *gl_report_part(const gl_report *report, size_t index);

typedef enum gl_format {
    GL_FORMAT_TABLE,
    GL_FORMAT_CSV,
    GL_FORMAT_JSON,
    GL_FORMAT_MARKDOWN,
    GL_FORMAT_HTML
} gl_format;

/* "table", "csv", "json", "markdown", "html", by gl_format; NULL-terminated. */
extern const char *const gl_format_names[];

/* False when the text is none of the names. */
bool gl_format_parse(const char *text, gl_format *format);

/* The name of the format that a file of this name holds by its ending (".html", ".csv", ".json",
 * ".md", ".xlsx"); NULL: its ending says nothing. */
const char *gl_format_of_file(const char *path);

/* The endings of gl_format_of_file for messages, of reports and of what holds a workbook, too. */
#define GL_FORMAT_ENDINGS_REPORT ".html, .csv, .json, .md"
#define GL_FORMAT_ENDINGS        GL_FORMAT_ENDINGS_REPORT ", .xlsx"

/* The ending of a file's name when it promises a format that is none of these (".pdf"): no ending,
 * one that begins with a digit (a version), and .txt, .log and .out promise text. NULL: none. */
const char *gl_format_unknown_ending(const char *path);

#endif
