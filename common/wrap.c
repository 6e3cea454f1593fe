/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/wrap.h"

#include "common/utf8.h"

#include <string.h>

/* A line that ends at byte `length`; what follows begins at `next`. */
static void take(const char **rest, gl_line *line, size_t length, size_t width, const char *next)
{
    *line = (gl_line){*rest, length, width};
    *rest = next;
}

bool gl_next_line(const char **rest, size_t width, gl_line *line)
{
    const char *start = *rest, *c = start;
    const char *blank = NULL; /* the last one at which the line may be broken */
    size_t columns = 0, columns_at_blank = 0;
    if (*c == '\0')
        return false;
    while (*c != '\0' && *c != '\n') {
        uint32_t character;
        size_t length = gl_utf8_next(c, &character, NULL);
        size_t more = (size_t)gl_utf8_char_width(character);
        if (*c == ' ') {
            blank = c;
            columns_at_blank = columns;
        }
        if (columns + more > width && c > start) {
            if (blank == NULL || blank == start) {
                take(rest, line, (size_t)(c - start), columns, c);
                return true;
            }
            size_t end = (size_t)(blank - start);
            for (; end > 1 && start[end - 1] == ' '; end--)
                columns_at_blank--;
            take(rest, line, end, columns_at_blank, blank + strspn(blank, " "));
            return true;
        }
        columns += more;
        c += length;
    }
    take(rest, line, (size_t)(c - start), columns, *c == '\n' ? c + 1 : c);
    return true;
}

size_t gl_longest_word(const char *text)
{
    size_t longest = 0, word = 0;
    while (*text != '\0') {
        uint32_t character;
        text += gl_utf8_next(text, &character, NULL);
        word = character == ' ' || character == '\n' ? 0
                                                     : word + (size_t)gl_utf8_char_width(character);
        if (word > longest)
            longest = word;
    }
    return longest;
}

void gl_put_blanks(gl_output *out, size_t count)
{
    while (count-- > 0)
        gl_output_write(out, " ", 1);
}

void gl_put_wrapped(gl_output *out, const char *text, size_t indent, size_t width)
{
    enum { NARROWEST = 20 };
    size_t room = width > indent + NARROWEST ? width - indent : NARROWEST;
    bool first = true;
    for (gl_line line; gl_next_line(&text, room, &line); first = false) {
        if (!first && line.length > 0)
            gl_put_blanks(out, indent);
        gl_output_write(out, line.text, line.length);
        gl_output_write(out, "\n", 1);
    }
    if (first)
        gl_output_write(out, "\n", 1);
}
