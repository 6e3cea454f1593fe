/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/html.h"

#include "common/utf8.h"

#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD";

/* C0 but for tab and line ends, DEL, C1, and the marks that turn the direction of writing: they can
 * make a text look like another one. */
static bool is_unfit(uint32_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x200E ||
           c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
           c == 0xFFFE || c == 0xFFFF;
}

static const char *entity(uint32_t character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void gl_html_text_part(gl_output *out, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end && *text != '\0') {
        uint32_t character;
        int valid;
        size_t bytes = gl_utf8_next(text, &character, &valid);
        const char *escaped = entity(character);
        if (escaped != NULL)
            gl_output_puts(out, escaped);
        else if (!valid || is_unfit(character))
            gl_output_puts(out, replacement);
        else
            gl_output_write(out, text, bytes);
        text += bytes;
    }
}

void gl_html_text(gl_output *out, const char *text)
{
    gl_html_text_part(out, text, strlen(text));
}

void gl_html_json(gl_output *out, const char *json)
{
    while (*json != '\0') {
        uint32_t character;
        size_t bytes = gl_utf8_next(json, &character, NULL);
        bool special = character == '<' || character == '>' || character == '&' ||
                       character == 0x2028 || character == 0x2029 ||
                       (character > 0x20 && is_unfit(character));
        if (special)
            gl_output_printf(out, "\\u%04x", (unsigned)character);
        else
            gl_output_write(out, json, bytes);
        json += bytes;
    }
}
