/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/json_writer.h"

#include "common/units.h"
#include "common/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void gl_json_begin(gl_json *json, gl_output *out)
{
    memset(json, 0, sizeof *json);
    json->out = out;
}

static bool is_on_one_line(const gl_json *json, int depth)
{
    return json->one_line_from > 0 && depth >= json->one_line_from;
}

static void new_line(gl_json *json, int depth)
{
    if (is_on_one_line(json, depth))
        return;
    gl_output_puts(json->out, "\n");
    for (int i = 0; i < json->depth; i++)
        gl_output_puts(json->out, "  ");
}

/* What stands between the value before and the next one. */
static void separate(gl_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_items[json->depth])
        gl_output_puts(json->out, is_on_one_line(json, json->depth) ? ", " : ",");
    json->has_items[json->depth] = true;
    if (json->depth > 0)
        new_line(json, json->depth);
}

static void open_bracket(gl_json *json, const char *bracket)
{
    separate(json);
    assert(json->depth + 1 < GL_JSON_DEPTH_MAX);
    gl_output_puts(json->out, bracket);
    json->has_items[++json->depth] = false;
}

void gl_json_object(gl_json *json)
{
    open_bracket(json, "{");
}

void gl_json_array(gl_json *json)
{
    open_bracket(json, "[");
}

void gl_json_end(gl_json *json, char bracket)
{
    assert(json->depth > 0 && !json->after_key && (bracket == '}' || bracket == ']'));
    bool filled = json->has_items[json->depth--];
    if (filled)
        new_line(json, json->depth + 1);
    gl_output_write(json->out, &bracket, 1);
    if (json->depth == 0)
        gl_output_puts(json->out, "\n");
}

/* The two-character escape of a character, or 0. */
static char short_escape(uint32_t character)
{
    switch (character) {
    case '"':
    case '\\':
        return (char)character;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static void write_string(gl_output *out, const char *text)
{
    gl_output_puts(out, "\"");
    while (*text != '\0') {
        uint32_t character;
        int valid;
        size_t length = gl_utf8_next(text, &character, &valid);
        char escape = short_escape(character);
        if (!valid)
            gl_output_puts(out, "\xEF\xBF\xBD");
        else if (escape != 0)
            gl_output_printf(out, "\\%c", escape);
        else if (character < 0x20 || character == 0x7F)
            gl_output_printf(out, "\\u%04x", (unsigned)character);
        else
            gl_output_write(out, text, length);
        text += length;
    }
    gl_output_puts(out, "\"");
}

void gl_json_key(gl_json *json, const char *key)
{
    assert(json->depth > 0 && !json->after_key);
    separate(json);
    write_string(json->out, key);
    gl_output_puts(json->out, ": ");
    json->after_key = true;
}

void gl_json_text(gl_json *json, const char *text)
{
    if (text == NULL) {
        gl_json_null(json);
        return;
    }
    separate(json);
    write_string(json->out, text);
}

void gl_json_integer(gl_json *json, int64_t value)
{
    separate(json);
    gl_output_printf(json->out, "%" PRId64, value);
}

void gl_json_real(gl_json *json, double value)
{
    char text[40];
    if (!isfinite(value)) {
        gl_json_null(json);
        return;
    }
    separate(json);
    gl_output_puts(json->out, gl_format_double(value, text, sizeof text));
}

void gl_json_bool(gl_json *json, bool value)
{
    separate(json);
    gl_output_puts(json->out, value ? "true" : "false");
}

void gl_json_null(gl_json *json)
{
    separate(json);
    gl_output_puts(json->out, "null");
}
