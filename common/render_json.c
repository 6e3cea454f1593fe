/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/json_writer.h"
#include "common/render_internal.h"

enum { SCHEMA_VERSION = 1 };

static void put_cell(gl_json *json, const gl_cell *cell)
{
    switch (cell->type) {
    case GL_CELL_EMPTY:
        gl_json_null(json);
        break;
    case GL_CELL_TEXT:
        gl_json_text(json, cell->as.text);
        break;
    case GL_CELL_INTEGER:
        gl_json_integer(json, cell->as.integer);
        break;
    case GL_CELL_REAL:
        gl_json_real(json, cell->as.real);
        break;
    case GL_CELL_BOOL:
        gl_json_bool(json, cell->as.boolean);
        break;
    }
}

static void put_row(gl_json *json, const gl_table *table, size_t row)
{
    gl_json_object(json);
    for (size_t i = 0; i < table->column_count; i++) {
        if (!gl_render__shows(&table->columns[i], GL_FOR_MACHINES))
            continue;
        gl_json_key(json, table->columns[i].name);
        put_cell(json, &table->cells[row * table->column_count + i]);
    }
    gl_json_end(json, '}');
}

static void put_table(gl_json *json, const gl_table *table)
{
    gl_json_key(json, table->name);
    if (table->record && table->row_count == 0) {
        gl_json_null(json);
    } else if (table->record) {
        put_row(json, table, 0);
    } else {
        gl_json_array(json);
        for (size_t row = 0; row < table->row_count; row++)
            put_row(json, table, row);
        gl_json_end(json, ']');
    }
}

static void put_tables(gl_json *json, const gl_scenario *scenario, const gl_render_options *options)
{
    for (size_t i = 0; i < scenario->table_count; i++)
        if (gl_render__selects(options, scenario->tables[i]))
            put_table(json, scenario->tables[i]);
}

static void put_scenario(gl_json *json, const gl_scenario *scenario,
                         const gl_render_options *options)
{
    gl_json_object(json);
    gl_json_key(json, "name");
    gl_json_text(json, scenario->name);
    put_tables(json, scenario, options);
    gl_json_key(json, "warnings");
    gl_json_array(json);
    for (size_t i = 0; i < scenario->warning_count; i++)
        gl_json_text(json, scenario->warnings[i]);
    gl_json_end(json, ']');
    gl_json_end(json, '}');
}

void gl_render_json(const gl_report *report, const gl_render_options *options, gl_output *out)
{
    gl_json json;
    gl_json_begin(&json, out);
    gl_json_object(&json);
    gl_json_key(&json, "schema_version");
    gl_json_integer(&json, SCHEMA_VERSION);
    gl_json_key(&json, "scenarios");
    gl_json_array(&json);
    for (size_t i = 0; i < report->scenario_count; i++)
        put_scenario(&json, &report->scenarios[i], options);
    gl_json_end(&json, ']');
    if (report->comparison != NULL) {
        gl_json_key(&json, "comparison");
        gl_json_object(&json);
        put_tables(&json, report->comparison, options);
        gl_json_end(&json, '}');
    }
    gl_json_end(&json, '}');
}
