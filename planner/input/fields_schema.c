/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Field tables read the other way: values to cells, rows to a schema. */
#include "planner/input/fields.h"

#include "common/collective.h"
#include "planner/core/hardware.h"
#include "planner/core/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ---- */

static gl_cell choice_cell(const gl_field *field, const void *value)
{
    int index;
    memcpy(&index, value, sizeof index);
    const char *name = field->choices[index];
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        return gl_boolean(name[0] == 't');
    return gl_text(name);
}

static gl_cell real_cell(const gl_field *field, double value)
{
    /* Infinity has no JSON number; where a word means it, the word says it. */
    if (field->word != NULL && value == field->word_value)
        return gl_text(field->word);
    return gl_real(value);
}

static gl_cell order_cell(const gl_axis *order, gl_arena *arena)
{
    const char *text = "";
    for (int i = 0; i < GL_ORDER_MAX; i++)
        text = gl_arena_append(arena, text, "-", gl_axis_names[order[i]]);
    return gl_text(text);
}

static gl_cell texts_cell(const char *const *texts, gl_arena *arena)
{
    const char *joined = NULL;
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
        joined = joined == NULL ? texts[i] : gl_arena_printf(arena, "%s, %s", joined, texts[i]);
    return gl_text(joined);
}

static gl_cell dtype_cell(gl_dtype dtype)
{
    return gl_text(gl_dtype_name(dtype));
}

/* What nobody stated reads as null, not as the zero that stands for it inside: zero is out of the
 * field's range. */
static bool is_unset(const gl_field *field, const void *value)
{
    switch (field->type) {
    case GL_FIELD_INT:
        return field->minimum > 0 && *(const int *)value == 0;
    case GL_FIELD_INT64:
        return field->minimum > 0 && *(const int64_t *)value == 0;
    case GL_FIELD_REAL:
        return field->minimum > 0 && !(*(const double *)value > 0);
    default:
        return false;
    }
}

gl_cell gl_field_cell(const gl_field *field, const void *target, gl_arena *arena)
{
    const void *value = (const char *)target + field->offset;
    if (is_unset(field, value))
        return (gl_cell){.type = GL_CELL_EMPTY};
    switch (field->type) {
    case GL_FIELD_INT:
        return gl_integer(*(const int *)value);
    case GL_FIELD_INT64:
        return gl_integer(*(const int64_t *)value);
    case GL_FIELD_REAL:
        return real_cell(field, *(const double *)value);
    case GL_FIELD_BOOL:
        return gl_boolean(*(const bool *)value);
    case GL_FIELD_CHOICE:
        return choice_cell(field, value);
    case GL_FIELD_DTYPE:
        return dtype_cell(*(const gl_dtype *)value);
    case GL_FIELD_TEXT:
        return gl_text(*(const char *const *)value);
    case GL_FIELD_TEXTS:
        return texts_cell(*(const char *const *const *)value, arena);
    case GL_FIELD_ORDER:
        return order_cell(value, arena);
    case GL_FIELD_FIGURE:
        return gl_real(((const gl_figure *)value)->value);
    case GL_FIELD_SPECIAL:
    case GL_FIELD_TYPE_COUNT:
        break;
    }
    return gl_text(NULL);
}

/* ---- schema ---- */

static const char *const type_names[GL_FIELD_TYPE_COUNT] = {
    [GL_FIELD_INT] = "integer",   [GL_FIELD_INT64] = "integer", [GL_FIELD_REAL] = "quantity",
    [GL_FIELD_BOOL] = "boolean",  [GL_FIELD_CHOICE] = "choice", [GL_FIELD_DTYPE] = "data type",
    [GL_FIELD_TEXT] = "text",     [GL_FIELD_TEXTS] = "texts",   [GL_FIELD_ORDER] = "order",
    [GL_FIELD_FIGURE] = "figure", [GL_FIELD_SPECIAL] = "text",
};

static const char *const unit_names[] = {
    [GL_NUMBER] = NULL,    [GL_BYTES] = "bytes",         [GL_BYTES_PER_S] = "bytes/s",
    [GL_SECONDS] = "time", [GL_FRACTION] = "%",          [GL_FLOP_PER_S] = "FLOP/s",
    [GL_WATTS] = "W",      [GL_USD_PER_KWH] = "USD/kWh", [GL_METRES] = "m",
};

static const char *range_text(const gl_field *field, gl_arena *arena)
{
    char range[128];
    /* A value that is in no range makes the range appear. */
    if (gl_field_in_range(field, (double)NAN, range, sizeof range))
        return field->word;
    return field->word != NULL ? gl_arena_printf(arena, "%s, %s", range, field->word)
                               : gl_arena_strdup(arena, range);
}

static const char *names_text(const char *const *names, gl_arena *arena)
{
    return texts_cell(names, arena).as.text;
}

static const char *allowed_text(const gl_field *field, gl_arena *arena)
{
    switch (field->type) {
    case GL_FIELD_BOOL:
        return "true, false";
    case GL_FIELD_CHOICE:
    case GL_FIELD_DTYPE:
        return names_text(field->choices, arena);
    case GL_FIELD_ORDER:
        return "tp, cp, dp, pp, each once";
    case GL_FIELD_INT:
    case GL_FIELD_INT64:
    case GL_FIELD_REAL:
    case GL_FIELD_FIGURE:
        return range_text(field, arena);
    case GL_FIELD_TEXT:
    case GL_FIELD_TEXTS:
    case GL_FIELD_SPECIAL:
    case GL_FIELD_TYPE_COUNT:
        break;
    }
    return NULL;
}

static const char *default_text(const gl_field *field)
{
    if (field->required)
        return "required";
    return field->initial != NULL && field->initial[0] != '\0' ? field->initial : NULL;
}

gl_table *gl_fields_schema(const gl_field *fields, const char *name, gl_arena *arena)
{
    static const gl_column columns[] = {
        {.name = "field"},   {.name = "type"},    {.name = "unit"},
        {.name = "allowed"}, {.name = "default"}, {.name = "meaning"},
    };
    gl_table *table = gl_table_create(arena, name, gl_arena_printf(arena, "Fields of a %s", name),
                                      columns, sizeof columns / sizeof columns[0]);
    for (const gl_field *field = fields; field->path != NULL; field++) {
        gl_cell *row = gl_table_add_row(table);
        row[0] = gl_text(field->path);
        row[1] = gl_text(type_names[field->type]);
        row[2] = gl_text(unit_names[field->dimension]);
        row[3] = gl_text(allowed_text(field, arena));
        row[4] = gl_text(default_text(field));
        row[5] = gl_text(field->doc);
    }
    return table;
}
