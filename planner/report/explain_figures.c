/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an explanation is put together from; explain_*.c explain a table each. Formulas repeat in
 * words what planner/core computes; the unit test puts the numbers in and compares. */
#include "planner/report/explain_figures.h"
#include "planner/report/plan_schema.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *gl_explain__quantity(const gl_explainer *e, double value, gl_dimension dimension)
{
    return gl_quantity_text(value, dimension, e->arena);
}

const char *gl_explain__seconds(const gl_explainer *e, double value)
{
    return gl_explain__quantity(e, value, GL_SECONDS);
}

const char *gl_explain__rate(const gl_explainer *e, double value)
{
    return gl_explain__quantity(e, value, GL_BYTES_PER_S);
}

const char *gl_explain__bytes(const gl_explainer *e, double value)
{
    return gl_explain__quantity(e, value, GL_BYTES);
}

static const char *unit_of(gl_dimension dimension)
{
    static const char *const units[] = {
        [GL_BYTES] = "B",
        [GL_BYTES_PER_S] = "B/s",
        [GL_SECONDS] = "s",
        [GL_FRACTION] = "1",
        [GL_FLOP_PER_S] = "FLOP/s",
        [GL_WATTS] = "W",
        [GL_USD_PER_KWH] = "USD/kWh",
        [GL_METRES] = "m",
    };
    return units[dimension];
}

/* Amounts of memory are in GiB, messages in what they are multiples of. */
static const char *amount(const gl_explainer *e, double value)
{
    return strcmp(e->table, "memory") == 0 ? gl_gib_text(value, e->arena)
                                           : gl_explain__bytes(e, value);
}

/* The value for people. */
static const char *brief_text(const gl_explainer *e, gl_cell value, gl_dimension dimension)
{
    switch (value.type) {
    case GL_CELL_TEXT:
        return value.as.text;
    case GL_CELL_BOOL:
        return value.as.boolean ? "yes" : "no";
    case GL_CELL_INTEGER:
        if (dimension == GL_BYTES)
            return amount(e, (double)value.as.integer);
        return gl_arena_printf(e->arena, "%" PRId64, value.as.integer);
    case GL_CELL_REAL:
        if (isnan(value.as.real))
            return "not known";
        if (dimension == GL_BYTES)
            return amount(e, value.as.real);
        return gl_explain__quantity(e, value.as.real, dimension);
    default:
        return "not known";
    }
}

/* Bytes also exactly, since they are counted. */
static const char *result_text(const gl_explainer *e, gl_cell value, gl_dimension dimension,
                               const char *brief)
{
    double exact = value.type == GL_CELL_INTEGER ? (double)value.as.integer
                   : value.type == GL_CELL_REAL  ? value.as.real
                                                 : (double)NAN;
    if (value.type == GL_CELL_REAL && isnan(exact))
        return "not known (see the plan's warnings)";
    if (dimension != GL_BYTES || isnan(exact) || exact == 0)
        return brief;
    return gl_arena_printf(e->arena, "%.0f B (%s)", exact, brief);
}

void gl_explain__add(gl_explainer *e, const char *column, gl_cell value, gl_dimension dimension,
                     gl_figure_how how)
{
    gl_explanation *out = e->out;
    out->figures = gl_arena_grow(e->arena, out->figures, &out->capacity, out->figure_count + 1,
                                 sizeof *out->figures);
    const char *meaning = gl_plan_column_meaning(e->table, column);
    bool missing = value.type == GL_CELL_REAL && isnan(value.as.real);
    const char *brief = brief_text(e, value, dimension);
    out->figures[out->figure_count++] = (gl_figure_text){
        .line = out->line_count,
        .name = gl_arena_printf(e->arena, "%s.%s", e->prefix, column),
        .meaning = meaning != NULL ? meaning : column,
        .formula = how.formula,
        .numbers = missing ? NULL : how.numbers,
        .value = value,
        .unit = unit_of(dimension),
        .result = result_text(e, value, dimension, brief),
        .brief = brief,
        .evidence = how.evidence != NULL ? how.evidence : "counted",
        .source = how.source,
    };
}

void gl_explain__note(gl_explainer *e, const char *note)
{
    e->out->figures[e->out->figure_count - 1].note = note;
}

void gl_explain__line(gl_explainer *e, bool named_by_column, const char *column, const char *what)
{
    gl_explanation *out = e->out;
    const char *meaning = gl_plan_column_meaning(e->table, column);
    out->lines = gl_arena_grow(e->arena, out->lines, &out->line_capacity, out->line_count + 1,
                               sizeof *out->lines);
    const char *shown = gl_arena_printf(e->arena, "%s.%s", e->prefix, column);
    out->lines[out->line_count++] =
        (gl_explained_line){named_by_column ? shown : e->prefix,
                            what != NULL ? what : (meaning != NULL ? meaning : column), shown};
}

void gl_explain(const gl_plan *plan, gl_arena *arena, gl_explanation *out)
{
    *out =
        (gl_explanation){.subject = gl_arena_printf(arena, "%s on %s", plan->workload->model.name,
                                                    plan->cluster->name)};
    gl_explainer e = {.plan = plan, .arena = arena, .out = out};
    gl_explain__traffic(&e);
    gl_explain__step(&e);
    gl_explain__bandwidth(&e);
    gl_explain__memory(&e);
    gl_explain__compute(&e);
    gl_explain__cost(&e);
}
